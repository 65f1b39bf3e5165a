// Compares streams and decoded pixels with golden.csv; README.md says how to renew the table.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/gpu_required.hpp"
#include "tests/support/jpeg_segments.hpp"
#include "tests/support/libjpeg_encode.hpp"
#include "tests/support/sha256.hpp"
#include "tests/support/test_data.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::test {
namespace {

/// The columns in order; three columns of results follow.
enum Column { content, format, width, height, seed, quality, sampling, huffman, restart, kInputs };
constexpr std::size_t kColumns = kInputs + 3;

using Line = std::vector<std::string>;

std::filesystem::path table_path(const char* name) { return project_tests() / "golden" / name; }

std::vector<Line> read_table(const char* name, std::size_t columns) {
  std::vector<Line> out;
  std::ifstream in(table_path(name));
  for (std::string text; std::getline(in, text);) {
    Line line;
    std::istringstream fields(text);
    for (std::string field; std::getline(fields, field, ',');) line.push_back(field);
    line.resize(columns);
    out.push_back(line);
  }
  return out;
}

std::string join(const Line& line) {
  std::string text;
  for (const std::string& field : line) {
    if (!text.empty()) text += ',';
    text += field;
  }
  return text;
}

PixelFormat parse_format(const std::string& text) {
  for (const PixelFormat candidate : kAllFormats)
    if (name(candidate) == text) return candidate;
  if (name(PixelFormat::cmyk32) == text) return PixelFormat::cmyk32;
  ADD_FAILURE() << "no pixel format " << text;
  return PixelFormat::gray8;
}

std::optional<Subsampling> parse_sampling(const std::string& text) {
  for (const Subsampling candidate : kAllSubsamplings)
    if (name(candidate) == text) return candidate;
  EXPECT_EQ(text, "frame");  // the sampling of the frame
  return std::nullopt;
}

/// "none", "auto", "7" MCUs, "2rows".
RestartPolicy parse_restart(const std::string& text) {
  if (text == "none") return RestartPolicy::none();
  if (text == "auto") return RestartPolicy::automatic();
  const int count = std::atoi(text.c_str());
  return text.ends_with("rows") ? RestartPolicy::mcu_rows(count) : RestartPolicy::mcus(count);
}

/// bytes, SHA-256 of the stream, SHA-256 of the RGB24 pixels.
Line results(const Line& line) {
  EncodeParams params;
  params.backend = Backend::cpu;
  params.quality = std::stoi(line[quality]);
  params.subsampling = parse_sampling(line[sampling]);
  params.progressive = line[huffman] == "progressive";
  params.huffman = line[huffman] == "optimal" ? HuffmanTables::optimal : HuffmanTables::standard;
  params.restart = parse_restart(line[restart]);
  const auto picture = content_from_name(line[content]);
  EXPECT_TRUE(picture.has_value()) << line[content];
  const TestFrame frame =
      make_frame(picture.value_or(Content::flat), parse_format(line[format]),
                 std::stoi(line[width]), std::stoi(line[height]), std::stoull(line[seed]));
  auto encoder = Encoder::create(params);
  auto decoder = Decoder::create({});
  Bytes jpeg;
  TestFrame pixels(PixelFormat::rgb24, std::stoi(line[width]), std::stoi(line[height]));
  if (!encoder.is_ok() || !decoder.is_ok() || !encoder->encode(frame.view(), jpeg).is_ok() ||
      !decoder->decode(jpeg, pixels.view()).is_ok()) {
    ADD_FAILURE() << join(line);
    return {"", "", ""};
  }
  const std::vector<std::uint8_t> rgb = pixels.packed();
  return {std::to_string(jpeg.size()), sha256(jpeg), sha256(std::as_bytes(std::span(rgb)))};
}

/// The columns of decoded.csv; its last one is the SHA-256 of the samples.
enum Decoded { source, output, scale, region, kDecodedInputs };

/// A file of tests/hostile, or words: a picture from libjpeg, whose samples are in the table only
/// through its coefficients.
Bytes stream_of(const std::string& text) {
  if (text.ends_with(".jpg")) return read_file(project_tests() / "hostile" / text);
  const auto has = [&](const char* word) { return text.find(word) != std::string::npos; };
  LibjpegOptions options;
  options.progressive = has("progressive");
  options.restart_mcus = has("restart") ? 3 : 0;
  options.ycck_stream = has("ycck");
  options.cmyk_stream = has("cmyk") || has("ycck");
  const Subsampling of =
      options.cmyk_stream ? Subsampling::s444 : *parse_sampling(text.substr(0, text.find(' ')));
  return libjpeg_sample(93, 61, of, options);
}

std::string decoded(const Line& line, Backend backend) {
  DecodeParams params;
  params.backend = backend;
  params.scale = std::stoi(line[scale]);
  Region& part = params.region;
  if (line[region] != "all" && std::sscanf(line[region].c_str(), "%dx%d+%d+%d", &part.width,
                                           &part.height, &part.x, &part.y) != 4)
    return "no region";
  auto decoder = Decoder::create(params);
  if (!decoder) return decoder.status().message();
  Frame out;
  const auto report = decoder->decode(stream_of(line[source]), parse_format(line[output]), out);
  if (!report) return report.status().message();
  const std::vector<std::uint8_t> samples = packed(out);
  return sha256(std::as_bytes(std::span(samples)));
}

/// `results` gives the last columns of a row from those before.
template <typename Results>
void reproduce(const char* name, std::size_t inputs, std::size_t columns, Results&& results_of) {
  std::vector<Line> table = read_table(name, columns);
  ASSERT_GT(table.size(), 20u) << table_path(name);
  const bool update = std::getenv("ZERORUN_UPDATE_GOLDEN") != nullptr;
  for (std::size_t row = 1; row < table.size(); ++row) {
    const Line actual = results_of(table[row]);
    const auto from = table[row].begin() + static_cast<std::ptrdiff_t>(inputs);
    const Line expected(from, table[row].end());
    if (!update) {
      EXPECT_EQ(actual, expected) << table_path(name).string() << ":" << row + 1 << ": "
                                  << join(table[row]);
    }
    std::copy(actual.begin(), actual.end(), from);
  }
  if (!update || testing::Test::HasFailure()) return;
  std::ofstream out(table_path(name));
  for (const Line& line : table) out << join(line) << "\n";
}

TEST(Golden, TableIsReproduced) { reproduce("golden.csv", kInputs, kColumns, results); }

TEST(Golden, DecodedSamplesAreReproducedOnTheCpu) {
  reproduce("decoded.csv", kDecodedInputs, kDecodedInputs + 1,
            [](const Line& line) { return Line{decoded(line, Backend::cpu)}; });
}

TEST(Golden, DecodedSamplesAreReproducedOnTheGpu) {
  if (const auto usable = resolve_backend(Backend::cuda); !usable) {
    if (gpu_required()) FAIL() << usable.status().message();
    GTEST_SKIP() << usable.status().message();
  }
  if (std::getenv("ZERORUN_UPDATE_GOLDEN") != nullptr) GTEST_SKIP() << "the CPU renews the table";
  reproduce("decoded.csv", kDecodedInputs, kDecodedInputs + 1,
            [](const Line& line) { return Line{decoded(line, Backend::cuda)}; });
}

}  // namespace
}  // namespace zerorun::test
