// Compares streams and decoded pixels with golden.csv; README.md says how to renew the table.
// SPDX-License-Identifier: MIT
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/jpeg_segments.hpp"
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

std::filesystem::path table_path() { return project_tests() / "golden/golden.csv"; }

std::vector<Line> read_table() {
  std::vector<Line> out;
  std::ifstream in(table_path());
  for (std::string text; std::getline(in, text);) {
    Line line;
    std::istringstream fields(text);
    for (std::string field; std::getline(fields, field, ',');) line.push_back(field);
    line.resize(kColumns);
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

TEST(Golden, TableIsReproduced) {
  std::vector<Line> table = read_table();
  ASSERT_GT(table.size(), 30u) << table_path();
  const bool update = std::getenv("ZERORUN_UPDATE_GOLDEN") != nullptr;
  for (std::size_t row = 1; row < table.size(); ++row) {
    const Line actual = results(table[row]);
    const Line expected(table[row].begin() + kInputs, table[row].end());
    if (!update) {
      EXPECT_EQ(actual, expected) << table_path().string() << ":" << row + 1 << ": "
                                  << join(table[row]);
    }
    std::copy(actual.begin(), actual.end(), table[row].begin() + kInputs);
  }
  if (!update || HasFailure()) return;
  std::ofstream out(table_path());
  for (const Line& line : table) out << join(line) << "\n";
}

}  // namespace
}  // namespace zerorun::test
