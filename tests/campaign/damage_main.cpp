// Judges damaged streams, in pieces: bytes (R7), cuts (R8), flips, and the files of a folder (R4).
// usage: campaign_damage bytes|cuts|flips|files STATE MINUTES [FOLDER | COUNT]
// The last line says what was reached. Exit code 0: all is done and nothing is wrong; 1: something
// is wrong; 3: more is to do, and the next call with the same STATE goes on.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "tests/campaign/judge.hpp"
#include "tests/campaign/streams.hpp"
#include "tests/support/random.hpp"
#include "tests/support/test_data.hpp"

namespace zerorun::test {
namespace {

/// Each number becomes N.
std::string without_numbers(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit || !out.ends_with('N')) out += is_digit ? 'N' : c;
  }
  return out;
}

/// Files that libjpeg-turbo delivers without a warning, and zerorun refuses or calls damaged: a
/// line each in a file, which later runs go on with. And the file that took most time.
class Survey {
 public:
  explicit Survey(std::string path) : path_(std::move(path)) {}

  void add(const std::string& name, const Bytes& jpeg, Verdict verdict, Judge& judge) {
    if (judge.seconds() > slowest_.first) slowest_ = {judge.seconds(), name};
    const bool refused = verdict == Verdict::refused;
    if ((!refused && verdict != Verdict::damaged) || !judge.libjpeg_is_content(jpeg)) return;
    std::ofstream(path_, std::ios::app)
        << name << '\t'
        << (refused                ? "refused: "
            : judge.same_samples() ? "damaged, with the same samples: "
                                   : "damaged: ")
        << judge.reason() << '\n';
  }

  /// How many have each reason, if its numbers are left out.
  void print() const {
    // A run that was killed may have added a name twice.
    std::map<std::string, std::string> reasons;
    std::ifstream lines(path_);
    for (std::string name, reason; std::getline(lines, name, '\t') && std::getline(lines, reason);)
      reasons[name] = without_numbers(reason);
    std::map<std::string, int> counts;
    for (const auto& [name, reason] : reasons) ++counts[reason];
    std::printf("libjpeg-turbo alone is content with %zu files:\n", reasons.size());
    for (const auto& [reason, count] : counts) std::printf("%8d  %s\n", count, reason.c_str());
    std::printf("most processor time in this run: %.2f s: %s\n", slowest_.first,
                slowest_.second.c_str());
  }

 private:
  std::string path_;
  std::pair<double, std::string> slowest_;  ///< seconds and name
};

/// One bit of a stream flips: of the tiny ones, the hostile ones, and the corpus's small files.
Damage bit_flips(std::int64_t count) {
  auto streams = std::make_shared<std::vector<NamedStream>>(forty_streams());
  const auto add = [&](const std::filesystem::path& folder) {
    for (const auto& file : files_below(folder))
      if (std::filesystem::file_size(file) <= 20000)
        streams->push_back({file.string(), read_file(file)});
  };
  add(project_tests() / "hostile");
  if (const auto data = test_data()) add(*data / "valid_derived");
  std::erase_if(*streams, [](const NamedStream& stream) { return stream.jpeg.empty(); });
  return {count, [streams](std::int64_t step, const Check& check) {
            Random random(static_cast<std::uint64_t>(step));
            const int which = random.below(static_cast<int>(streams->size()));
            const NamedStream& stream = (*streams)[static_cast<std::size_t>(which)];
            Bytes jpeg = stream.jpeg;
            const int at = random.below(static_cast<int>(jpeg.size()));
            jpeg[static_cast<std::size_t>(at)] ^= static_cast<std::byte>(1 << random.below(8));
            check(stream.name + ", flip " + std::to_string(step), jpeg);
          }};
}

int run(const std::string& mode, const std::string& state, double minutes, const char* more) {
  const bool is_survey = mode == "files", is_cut = mode == "cuts";
  const Damage damage = mode == "bytes" ? changed_bytes()
                        : is_cut        ? prefixes()
                        : is_survey     ? files_in({more})
                                        : bit_flips(std::atoll(more));
  // One thread: the time of a file is that of the process.
  NumberedWork work({damage.steps, state, state + ".finding", minutes, 1, 1});
  Judge judge(std::int64_t{1} << (is_survey ? 27 : 18));
  Survey survey(state + ".only_libjpeg.tsv");
  const int result = work.run([&]() -> NumberedWork::Step {
    return [&](std::int64_t step, Counts& counts) {
      damage.each(step, [&](const std::string& name, const Bytes& jpeg) {
        const Verdict verdict = judge.judge(jpeg, counts, is_cut);
        if (verdict == Verdict::wrong) work.tell(name + ": " + judge.reason(), jpeg);
        if (is_survey) survey.add(name, jpeg, verdict, judge);
      });
    };
  });
  if (is_survey) survey.print();
  std::printf("%s\n", work.text().c_str());
  return result;
}

}  // namespace
}  // namespace zerorun::test

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const bool takes_more = mode == "flips" || mode == "files";
  if (argc == (takes_more ? 5 : 4) && (takes_more || mode == "bytes" || mode == "cuts"))
    return zerorun::test::run(mode, argv[2], std::atof(argv[3]), argv[argc - 1]);
  std::fprintf(stderr,
               "usage: campaign_damage bytes|cuts|flips|files STATE MINUTES [FOLDER | COUNT]\n");
  return 2;
}
