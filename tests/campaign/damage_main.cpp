// Judges damaged streams, in pieces: bytes (R7), cuts (R8), flips, and the files of a folder (R4).
// usage: campaign_damage bytes|cuts|flips|files STATE MINUTES [FOLDER | COUNT]
// The last line says what was reached. Exit code 0: all is done and nothing is wrong; 1: something
// is wrong; 3: more is to do, and the next call with the same STATE goes on.
// SPDX-License-Identifier: MIT
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "tests/campaign/judge.hpp"
#include "tests/campaign/streams.hpp"
#include "tests/support/random.hpp"
#include "tests/support/test_data.hpp"

namespace zerorun::test {
namespace {

/// The steps of a campaign that are done, kept in a file.
struct Progress {
  std::string path;
  std::int64_t done = 0;
  Tally tally;

  void load() {
    std::ifstream in(path);
    in >> done >> tally.refused >> tally.damaged >> tally.exact >> tally.wrong;
    if (!in) *this = {path, 0, {}};
  }
  void save() const {
    std::ofstream out(path);
    out << done << ' ' << tally.refused << ' ' << tally.damaged << ' ' << tally.exact << ' '
        << tally.wrong << '\n';
  }
};

/// Each number becomes N.
std::string without_numbers(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit || !out.ends_with('N')) out += is_digit ? 'N' : c;
  }
  return out;
}

/// Streams that libjpeg-turbo delivers without a warning, and zerorun refuses or calls damaged: a
/// line each in a file, which later runs go on with.
class OnlyLibjpeg {
 public:
  explicit OnlyLibjpeg(std::string path) : path_(std::move(path)) {}

  void add(const std::string& name, const std::string& reason) const {
    std::ofstream(path_, std::ios::app) << name << '\t' << reason << '\n';
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
  }

 private:
  std::string path_;
};

class Campaign {
 public:
  Campaign(const std::string& state, double minutes, std::int64_t max_pixels)
      : progress_{state, 0, {}},
        only_libjpeg_(state + ".only_libjpeg.tsv"),
        judge_(max_pixels),
        end_(std::chrono::steady_clock::now() +
             std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                 std::chrono::duration<double>(60 * minutes))) {
    progress_.load();
  }

  Verdict judge(const std::string& name, std::span<const std::byte> jpeg) {
    const Verdict verdict = judge_.judge(jpeg);
    progress_.tally.add(verdict);
    if (verdict != Verdict::wrong) return verdict;
    std::printf("wrong: %s: %s\n", name.c_str(), judge_.reason().c_str());
    std::ofstream(progress_.path + ".finding.jpg", std::ios::binary)
        .write(reinterpret_cast<const char*>(jpeg.data()),
               static_cast<std::streamsize>(jpeg.size()));
    return verdict;
  }

  /// As judge(), of a stream whose end is missing: to call it good is wrong.
  void judge_prefix(const std::string& name, std::span<const std::byte> jpeg) {
    if (judge(name, jpeg) != Verdict::exact) return;
    progress_.tally.add(Verdict::wrong);
    std::printf("wrong: %s: nothing is named as missing\n", name.c_str());
  }
  /// As judge(), and asks libjpeg-turbo about what is refused or damaged.
  void judge_file(const std::string& name, std::span<const std::byte> jpeg) {
    const Verdict verdict = judge(name, jpeg);
    if (judge_.seconds() > slowest_.first) slowest_ = {judge_.seconds(), name};
    const bool refused = verdict == Verdict::refused;
    if ((refused || verdict == Verdict::damaged) && judge_.libjpeg_is_content(jpeg))
      only_libjpeg_.add(name, (refused                 ? "refused: "
                               : judge_.same_samples() ? "damaged, with the same samples: "
                                                       : "damaged: ") +
                                  judge_.reason());
  }

  void print_files() const {
    only_libjpeg_.print();
    std::printf("most processor time in this run: %.2f s: %s\n", slowest_.first,
                slowest_.second.c_str());
  }

  /// Calls step(i) for those of 0..count-1 that no earlier run did, while there is time.
  int run(std::int64_t count, const std::function<void(std::int64_t)>& step) {
    run_steps(count, step);
    return finish(count);
  }

  void run_steps(std::int64_t count, const std::function<void(std::int64_t)>& step) {
    for (; progress_.done < count && std::chrono::steady_clock::now() < end_; ++progress_.done) {
      step(progress_.done);
      if (progress_.done % 64 == 0) progress_.save();
    }
    progress_.save();
  }

  int finish(std::int64_t count) const {
    std::printf("%lld of %lld steps, %lld streams: %s\n", static_cast<long long>(progress_.done),
                static_cast<long long>(count), static_cast<long long>(progress_.tally.all()),
                progress_.tally.text().c_str());
    return progress_.tally.wrong > 0 ? 1 : progress_.done < count ? 3 : 0;
  }

 private:
  Progress progress_;
  OnlyLibjpeg only_libjpeg_;
  std::pair<double, std::string> slowest_;  ///< seconds and name
  Judge judge_;
  std::chrono::steady_clock::time_point end_;
};

/// A step for each byte: all its 255 other values.
int every_byte(Campaign& campaign) {
  struct Place {
    const NamedStream* stream;
    std::size_t at;
  };
  const std::vector<NamedStream> streams = tiny_streams();
  std::vector<Place> places;
  for (const NamedStream& stream : streams)
    for (std::size_t at = 0; at < stream.jpeg.size(); ++at) places.push_back({&stream, at});
  return campaign.run(static_cast<std::int64_t>(places.size()), [&](std::int64_t step) {
    const Place& place = places[static_cast<std::size_t>(step)];
    Bytes jpeg = place.stream->jpeg;
    for (int add = 1; add < 256; ++add) {
      jpeg[place.at] =
          static_cast<std::byte>(std::to_integer<int>(place.stream->jpeg[place.at]) + add);
      campaign.judge(place.stream->name + ", byte " + std::to_string(place.at) + " plus " +
                         std::to_string(add),
                     jpeg);
    }
  });
}

/// A step for each stream: all its prefixes. None may be exact: the end of the image is missing.
int every_cut(Campaign& campaign) {
  const std::vector<NamedStream> streams = forty_streams();
  return campaign.run(static_cast<std::int64_t>(streams.size()), [&](std::int64_t step) {
    const NamedStream& stream = streams[static_cast<std::size_t>(step)];
    for (std::size_t size = 0; size < stream.jpeg.size(); ++size)
      campaign.judge_prefix(stream.name + ", first " + std::to_string(size) + " bytes",
                            std::span(stream.jpeg).first(size));
  });
}

int every_file(Campaign& campaign, const std::filesystem::path& folder) {
  const std::vector<std::filesystem::path> files = files_below(folder);
  const auto count = static_cast<std::int64_t>(files.size());
  campaign.run_steps(count, [&](std::int64_t step) {
    const auto& file = files[static_cast<std::size_t>(step)];
    campaign.judge_file(file.string(), read_file(file));
  });
  campaign.print_files();
  return campaign.finish(count);
}

/// One bit of a stream flips: of the tiny ones, the hostile ones, and the corpus's small files.
int bit_flips(Campaign& campaign, std::int64_t count) {
  std::vector<NamedStream> streams = forty_streams();
  const auto add = [&](const std::filesystem::path& folder) {
    for (const auto& file : files_below(folder))
      if (std::filesystem::file_size(file) <= 20000)
        streams.push_back({file.string(), read_file(file)});
  };
  add(project_tests() / "hostile");
  if (const auto data = test_data()) add(*data / "valid_derived");
  std::erase_if(streams, [](const NamedStream& stream) { return stream.jpeg.empty(); });
  return campaign.run(count, [&](std::int64_t step) {
    Random random(static_cast<std::uint64_t>(step));
    const NamedStream& stream =
        streams[static_cast<std::size_t>(random.below(static_cast<int>(streams.size())))];
    Bytes jpeg = stream.jpeg;
    const auto at = static_cast<std::size_t>(random.below(static_cast<int>(jpeg.size())));
    jpeg[at] ^= static_cast<std::byte>(1 << random.below(8));
    campaign.judge(stream.name + ", flip " + std::to_string(step), jpeg);
  });
}

int run(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const bool takes_more = mode == "flips" || mode == "files";
  if (argc != (takes_more ? 5 : 4)) {
    std::fprintf(stderr,
                 "usage: campaign_damage bytes|cuts|flips|files STATE MINUTES [FOLDER | COUNT]\n");
    return 2;
  }
  Campaign campaign(argv[2], std::atof(argv[3]),
                    mode == "files" ? std::int64_t{1} << 27 : std::int64_t{1} << 18);
  if (mode == "bytes") return every_byte(campaign);
  if (mode == "cuts") return every_cut(campaign);
  if (mode == "flips") return bit_flips(campaign, std::atoll(argv[4]));
  return every_file(campaign, argv[4]);
}

}  // namespace
}  // namespace zerorun::test

int main(int argc, char** argv) { return zerorun::test::run(argc, argv); }
