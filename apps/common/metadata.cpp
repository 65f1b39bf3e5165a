// The files of --qtables, --exif and --icc, and the text of --comment.
// SPDX-License-Identifier: MIT
#include "apps/common/metadata.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <system_error>

#include "apps/common/failure.hpp"
#include "apps/common/text.hpp"
#include "zerorun/content.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun::app {
namespace {

constexpr std::size_t kMaxPayload = 65533;  // T.81 B.1.1.4: the length field counts itself
constexpr std::size_t kMaxFile = std::size_t{16} << 20;
constexpr std::uint8_t kCom = 0xFE, kApp1 = 0xE1, kApp2 = 0xE2;
constexpr std::string_view kExifId{"Exif\0\0", 6};
constexpr std::string_view kIccId{"ICC_PROFILE\0", 12};

std::vector<std::uint8_t> read_whole(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in)
    fail(Exit::input, path, Status(Errc::open_failed, std::generic_category().message(errno)));
  std::vector<std::uint8_t> data;
  for (std::istreambuf_iterator<char> at(in), end; at != end; ++at) {
    if (data.size() == kMaxFile) fail(Exit::input, path + ": the file is over 16 MiB");
    data.push_back(static_cast<std::uint8_t>(*at));
  }
  if (data.empty()) fail(Exit::input, path + ": the file is empty or cannot be read");
  return data;
}

bool starts_with(const std::vector<std::uint8_t>& data, std::string_view start) {
  return data.size() >= start.size() && std::memcmp(data.data(), start.data(), start.size()) == 0;
}

bool is_jpeg(const std::vector<std::uint8_t>& data) { return starts_with(data, "\xFF\xD8"); }

/// The segments of one marker and identifier in a JPEG file.
std::vector<MarkerSegment> segments_of(const std::string& path,
                                       const std::vector<std::uint8_t>& data, std::uint8_t marker,
                                       std::string_view id) {
  const StreamInfo info = value_or_fail(
      inspect(std::as_bytes(std::span(data)), StreamLimits::any_size()), Exit::input, path);
  std::vector<MarkerSegment> found;
  for (const MarkerSegment& segment : info.segments)
    if (segment.marker == marker && starts_with(segment.payload, id)) found.push_back(segment);
  if (found.empty())
    fail(Exit::input, fmt::format("{}: this JPEG file has no {}", path,
                                  marker == kApp1 ? "EXIF" : "ICC profile"));
  return found;
}

/// The numbers of a text file; # starts a comment.
std::vector<int> read_numbers(const std::string& path) {
  const std::vector<std::uint8_t> data = read_whole(path);
  std::istringstream lines(std::string(data.begin(), data.end()));
  std::vector<int> numbers;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    for (std::string word; words >> word;) {
      const auto number = parse_integer(word);
      if (!number || *number < 1 || *number > 255)
        fail(Exit::input, fmt::format("{}: '{}' is not a table entry from 1 to 255", path, word));
      numbers.push_back(static_cast<int>(*number));
      if (numbers.size() > 128) fail(Exit::input, path + ": there are more than two tables");
    }
  }
  return numbers;
}

}  // namespace

std::pair<QuantTable, QuantTable> read_quant_tables(const std::string& path) {
  const std::vector<int> numbers = read_numbers(path);
  if (numbers.size() != 64 && numbers.size() != 128)
    fail(Exit::input,
         fmt::format("{}: {} numbers; one table has 64, two have 128", path, numbers.size()));
  QuantTable luma{}, chroma{};
  const std::size_t second = numbers.size() - 64;
  for (std::size_t i = 0; i < 64; ++i) {
    luma[i] = static_cast<std::uint16_t>(numbers[i]);
    chroma[i] = static_cast<std::uint16_t>(numbers[second + i]);
  }
  return {luma, chroma};
}

MarkerSegment comment_segment(const std::string& text) {
  if (text.size() > kMaxPayload)
    fail(Exit::usage,
         fmt::format("--comment: {} bytes; a comment holds at most {}", text.size(), kMaxPayload));
  return {kCom, {text.begin(), text.end()}};
}

MarkerSegment exif_segment(const std::string& path) {
  std::vector<std::uint8_t> data = read_whole(path);
  if (is_jpeg(data)) return segments_of(path, data, kApp1, kExifId).front();
  const bool is_tiff = starts_with(data, {"II*\0", 4}) || starts_with(data, {"MM\0*", 4});
  if (!is_tiff && !starts_with(data, kExifId))
    fail(Exit::input, path + ": neither EXIF data nor a JPEG file with EXIF");
  if (is_tiff) data.insert(data.begin(), kExifId.begin(), kExifId.end());
  if (data.size() > kMaxPayload)
    fail(Exit::input, fmt::format("{}: {} bytes of EXIF; a segment holds at most {}", path,
                                  data.size(), kMaxPayload));
  return {kApp1, std::move(data)};
}

std::vector<MarkerSegment> icc_segments(const std::string& path) {
  const std::vector<std::uint8_t> data = read_whole(path);
  if (is_jpeg(data)) return segments_of(path, data, kApp2, kIccId);
  // ICC.1 7.2: the header is 128 bytes with 'acsp' at offset 36.
  if (data.size() < 128 || std::memcmp(data.data() + 36, "acsp", 4) != 0)
    fail(Exit::input, path + ": neither an ICC profile nor a JPEG file with one");
  io::PictureContent content;
  content.icc = data;
  std::string too_long;
  std::vector<MarkerSegment> segments = io::jpeg_segments(content, &too_long);
  if (!too_long.empty()) fail(Exit::input, path + ": the profile is too long for 255 segments");
  return segments;
}

}  // namespace zerorun::app
