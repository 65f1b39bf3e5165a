// Runs files, folders and random changes of them through a fuzz target without libFuzzer.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz_check.hpp"
#include "tests/support/damage.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::fuzz {
namespace {

using Bytes = std::vector<std::byte>;

struct Options {
  std::vector<std::filesystem::path> files;
  long long mutations = 0, seed = 1;
  std::string finding = "finding.jpg";
};

Bytes read(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    std::fprintf(stderr, "cannot read %s\n", file.c_str());
    std::exit(1);
  }
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

void run(const Bytes& input) {
  // Exactly as long as the input, so that ASan sees one byte too many.
  const auto* begin = reinterpret_cast<const std::uint8_t*>(input.data());
  const std::vector<std::uint8_t> bytes(begin, begin + input.size());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

/// Small streams of every sampling, with all kinds of tables and restart intervals.
std::vector<Bytes> own_streams(test::Random& random) {
  std::vector<Bytes> out;
  for (int i = 0; i < 48; ++i) {
    EncodeParams params;
    params.backend = Backend::cpu;
    params.threads = 1;
    params.quality = random.between(1, 100);
    params.subsampling = static_cast<Subsampling>(i % 6);
    params.huffman = i / 6 % 2 == 0 ? HuffmanTables::standard : HuffmanTables::optimal;
    if (i % 3 == 0) params.restart = RestartPolicy::none();
    if (i % 3 == 1) params.restart = RestartPolicy::mcus(random.between(1, 4));
    Frame frame;
    (void)frame.reshape(PixelFormat::rgb24, random.between(1, 64), random.between(1, 40));
    const FrameView view = frame.view();
    const int roughness = random.between(0, 255);
    for (int y = 0; y < view.height; ++y)
      for (int x = 0; x < 3 * view.width; ++x)
        view.data[0][y * view.stride_bytes[0] + x] =
            static_cast<std::uint8_t>(2 * x + 3 * y + random.between(0, roughness));
    Bytes jpeg;
    if (Encoder::create(params)->encode(view, jpeg).is_ok()) out.push_back(std::move(jpeg));
  }
  return out;
}

/// Changes of the files and of own streams; the input at work is in `finding` when a check aborts.
void mutate(const Options& options) {
  test::Random random(static_cast<std::uint64_t>(options.seed));
  std::vector<Bytes> seeds = own_streams(random);
  for (const auto& file : options.files)
    if (Bytes bytes = read(file); !bytes.empty() && bytes.size() <= 4096)
      seeds.push_back(std::move(bytes));
  static Bytes at_work;
  static std::string finding;
  finding = options.finding;
  on_failure = [] {
    std::ofstream(finding, std::ios::binary)
        .write(reinterpret_cast<const char*>(at_work.data()),
               static_cast<std::streamsize>(at_work.size()));
    std::fprintf(stderr, "fuzz: the input is in %s\n", finding.c_str());
  };
  const auto start = std::chrono::steady_clock::now();
  auto told = start;  // who is stopped has told nearly all, of a slow target too
  for (long long i = 1; i <= options.mutations; ++i) {
    at_work = seeds[static_cast<std::size_t>(random.below(static_cast<int>(seeds.size())))];
    // Mostly behind the headers, whose parser all decoders share.
    const auto info = inspect(at_work);
    const bool anywhere = !info || random.below(4) == 0 || info->header_bytes + 4 > at_work.size();
    test::damage(at_work, random, anywhere ? 2 : info->header_bytes);
    run(at_work);
    if (i % 1000 != 0 && i != options.mutations) continue;
    const auto now = std::chrono::steady_clock::now();
    if (now - told < std::chrono::seconds(5) && i != options.mutations) continue;
    told = now;
    const std::chrono::duration<double> seconds = now - start;
    std::printf("%lld executions, %.0f a second, seed %lld\n", i,
                static_cast<double>(i) / seconds.count(), options.seed);
    std::fflush(stdout);
  }
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&](const char* name) {
      return word.rfind(name, 0) == 0 ? word.c_str() + std::strlen(name) : nullptr;
    };
    if (const char* text = value("-mutations=")) {
      options.mutations = std::atoll(text);
    } else if (const char* number = value("-seed=")) {
      options.seed = std::atoll(number);
    } else if (const char* path = value("-finding=")) {
      options.finding = path;
    } else if (std::filesystem::is_directory(word)) {
      for (const auto& entry : std::filesystem::directory_iterator(word))
        if (entry.is_regular_file()) options.files.push_back(entry.path());
    } else {
      options.files.push_back(word);
    }
  }
  std::sort(options.files.begin(), options.files.end());
  return options;
}

}  // namespace
}  // namespace zerorun::fuzz

int main(int argc, char** argv) {
  using namespace zerorun::fuzz;
  const Options options = parse(argc, argv);
  if (options.files.empty() && options.mutations == 0) {
    std::fprintf(stderr, "usage: %s [-mutations=N] [-seed=N] [-finding=FILE] FILE-OR-FOLDER...\n",
                 argv[0]);
    return 2;
  }
  if (options.mutations > 0) {
    mutate(options);
    return 0;
  }
  for (const auto& file : options.files) {
    std::printf("%s\n", file.filename().c_str());
    std::fflush(stdout);  // the last name printed is the one that failed
    run(read(file));
  }
  std::printf("%zu files\n", options.files.size());
  return 0;
}
