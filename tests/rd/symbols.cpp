// Counts the symbols of baseline JPEG in pictures: what train_codes.py trains Huffman tables on.
// usage: zerorun_symbols SAMPLING,... QUALITY,... MODE,... PICTURE...
// A mode is exact, photo, text or psnr, with effort fast. Prints a line for each picture, mode,
// sampling, quality and table (in the order of standard_huffman_spec()): these five, and 256
// counts. Rows of the picture "annex-k" have the code lengths of the standard tables instead.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "codec/pipeline/encode_pipeline.hpp"
#include "codec/pipeline/stage_table.hpp"
#include "tests/rd/curves.hpp"

namespace zerorun::rd {
namespace {

/// Stages are plain functions, so the place for their counts is no member.
SymbolCounts seen;

Status count_and_see(const SymbolHistogramArgs& args, Exec& exec) {
  SymbolHistogramArgs again = args;
  again.counts = &seen;
  const Status status = cpu_stages().symbol_histogram(again, exec);
  return status ? cpu_stages().symbol_histogram(args, exec) : status;
}

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words;
  std::istringstream in(list);
  for (std::string word; std::getline(in, word, ',');) words.push_back(word);
  return words;
}

void print_counts(const std::string& name, const std::string& mode, const std::string& sampling,
                  const std::string& quality) {
  for (int t = 0; t < kEncodeTables; ++t) {
    std::printf("%s\t%s\t%s\t%s\t%d", name.c_str(), mode.c_str(), sampling.c_str(), quality.c_str(),
                t);
    for (const std::uint32_t count : seen.count[t]) std::printf("\t%u", count);
    std::printf("\n");
  }
}

void print_standard_lengths() {
  HuffmanEncodeTables tables;
  for (int t = 0; t < kEncodeTables; ++t) {
    fill_encode_table(standard_huffman_spec(t), t, tables);
    std::printf("annex-k\texact\t420\t0\t%d", t);
    for (const std::uint8_t bits : tables.bits[t]) std::printf("\t%d", bits);
    std::printf("\n");
  }
}

bool count_picture(const Image& image, const EncodeParams& params) {
  StageTable stages = cpu_stages();
  stages.symbol_histogram = count_and_see;
  const auto pipeline = make_cpu_encode_pipeline(1, stages);
  const ConstFrameView frame{PixelFormat::rgb24,
                             image.width,
                             image.height,
                             {image.rgb.data(), nullptr, nullptr},
                             {3 * image.width, 0, 0}};
  auto setup = make_encode_setup(params, frame.format, frame.width, frame.height);
  std::array<HuffmanSpec, 4> specs;
  seen = {};
  return setup && pipeline->encode_scan(*setup, frame, specs);
}

bool count_all(const std::string& path, char** lists) {
  const auto image = read_image(path);
  if (!image) return false;
  for (const std::string& mode : words_of(lists[2]))
    for (const std::string& sampling : words_of(lists[0]))
      for (const std::string& quality : words_of(lists[1])) {
        std::string error;
        const auto parsed = parse_mode("zerorun:huffman=optimal,tune=" + mode, error);
        if (!parsed) return false;
        EncodeParams params = parsed->params;
        params.subsampling = sampling == "420" ? Subsampling::s420 : Subsampling::s444;
        params.quality = std::atoi(quality.c_str());
        params.backend = Backend::cpu;
        if (!count_picture(*image, params)) return false;
        print_counts(path, mode, sampling, quality);
      }
  return true;
}

int run(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: zerorun_symbols SAMPLING,... QUALITY,... MODE,... PICTURE...\n");
    return 2;
  }
  print_standard_lengths();
  for (int i = 4; i < argc; ++i)
    if (!count_all(argv[i], argv + 1)) {
      std::fprintf(stderr, "zerorun_symbols: %s or an option cannot be read\n", argv[i]);
      return 1;
    }
  return 0;
}

}  // namespace
}  // namespace zerorun::rd

int main(int argc, char** argv) { return zerorun::rd::run(argc, argv); }
