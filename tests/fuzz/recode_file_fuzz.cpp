// Codes arbitrary files again whose index may name further pictures: each keeps its coefficients,
// is where the index of the new file says, and what else is in the file stays.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/fuzz_check.hpp"
#include "zerorun/content.hpp"
#include "zerorun/transcoder.hpp"

namespace zerorun::fuzz {
namespace {

using Bytes = std::vector<std::byte>;
using Span = std::span<const std::byte>;

std::string_view text(Span bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string number(std::uint64_t value, int bytes, bool is_little) {
  std::string out;
  for (int b = 0; b < bytes; ++b)
    out += static_cast<char>(value >> 8 * (is_little ? b : bytes - 1 - b));
  return out;
}
std::optional<std::uint64_t> number_at(Span file, std::uint64_t at, int bytes, bool is_little) {
  if (at > file.size() || file.size() - at < static_cast<std::uint64_t>(bytes)) return std::nullopt;
  std::uint64_t value = 0;
  for (int b = 0; b < bytes; ++b)
    value = value << 8 | std::to_integer<std::uint64_t>(
                             file[at + static_cast<std::uint64_t>(is_little ? bytes - 1 - b : b)]);
  return value;
}

/// The stream twice, with an index of both, and XMP with the size of the second one (Ultra HDR).
std::string with_index(std::string_view jpeg, bool is_little) {
  using namespace std::string_literals;
  const std::string xmp =
      "http://ns.adobe.com/xap/1.0/\0<x Item:Semantic=\"GainMap\" Item:Length=\""s +
      std::to_string(jpeg.size()) + "\"/>";
  std::string file(jpeg.substr(0, 2));
  file += "\xFF\xE1" + number(xmp.size() + 2, 2, false) + xmp;
  const auto n = [&](std::uint64_t value, int bytes) { return number(value, bytes, is_little); };
  // Header, a directory of one entry, and the entries of two pictures.
  std::string index = is_little ? "II" : "MM";
  index += n(42, 2) + n(8, 4) + n(1, 2) + n(0xB002, 2) + n(7, 2) + n(32, 4) + n(26, 4) + n(0, 4);
  const std::uint64_t header = file.size() + 8;
  const std::uint64_t first = header + index.size() + 32 + jpeg.size() - 2;
  index += n(0x030000, 4) + n(first, 4) + n(0, 8);
  index += n(0, 4) + n(jpeg.size(), 4) + n(first - header, 4) + n(0, 4);
  file += "\xFF\xE2" + number(index.size() + 6, 2, false) + "MPF\0"s + index;
  file += jpeg.substr(2);
  file += jpeg;
  return file + "a trailer";
}

/// The further pictures by the index of a file, which is its first MPF segment; nothing if it is
/// wrong.
std::optional<std::vector<Span>> further_pictures(Span file) {
  std::vector<Span> pictures;
  const auto info = inspect(file, StreamLimits::any_size());
  check(info.is_ok(), "the new file begins with a picture");
  const std::string_view head = text(file).substr(0, info->header_bytes);
  const auto is_index = [](const MarkerSegment& segment) {
    return segment.marker == 0xE2 && segment.payload.size() >= 4 &&
           std::equal(segment.payload.begin(), segment.payload.begin() + 4, "MPF");
  };
  const auto segment = std::ranges::find_if(info->segments, is_index);
  if (segment == info->segments.end()) return pictures;
  const std::uint64_t header =
      head.find("\xFF\xE2" + number(segment->payload.size() + 2, 2, false) + "MPF") + 8;
  const bool is_little = head.substr(header, 1) == "I";
  const auto get = [&](std::uint64_t at, int bytes) {
    return number_at(file, header + at, bytes, is_little);
  };
  const std::uint64_t directory = get(4, 4).value_or(0);
  const std::uint64_t entries = get(directory, 2).value_or(0);
  for (std::uint64_t e = 0; e < entries; ++e) {
    const std::uint64_t at = directory + 2 + 12 * e;
    if (get(at, 2) != 0xB002) continue;
    const std::uint64_t bytes = get(at + 4, 4).value_or(0), list = get(at + 8, 4).value_or(0);
    for (std::uint64_t i = 1; i < bytes / 16; ++i) {
      const std::uint64_t size = get(list + 16 * i + 4, 4).value_or(0);
      const std::uint64_t place = header + get(list + 16 * i + 8, 4).value_or(0);
      if (place > file.size() || size > file.size() - place) return std::nullopt;
      pictures.push_back(file.subspan(place, size));
      if (!text(pictures.back()).starts_with("\xFF\xD8")) return std::nullopt;
    }
    break;
  }
  return pictures;
}

void check_file(Span file, const TranscodeParams& params) {
  auto transcoder = *Transcoder::create(params);
  Bytes made, again, first;
  const auto done = io::transcode_file(transcoder, file, made);
  const auto alone = transcoder.transcode(file, first);
  check(done.is_ok() == alone.is_ok(), "a file is taken if its first picture is");
  if (!done) {
    check(done.status().code() != Errc::verify_mismatch, "the new streams are equal");
    return check(!done.status().message().empty(), "an error has a sentence");
  }
  check(io::transcode_file(transcoder, file, again).is_ok() && made == again,
        "the same file gives the same bytes");
  check(are_equal(coefficients(made), coefficients(first)), "the first picture");
  check(done->first.width == alone->width && done->first.height == alone->height, "its size");
  const bool is_moved = !(params.transform == LosslessTransform());
  if (!is_moved) check(are_equal(coefficients(made), coefficients(file)), "its coefficients");
  if (params.optimize && params.scans == ScanChoice::keep && !is_moved && !params.restart_interval)
    check(made.size() <= file.size(), "the file is not larger");
  const auto before = further_pictures(file), now = further_pictures(made);
  if (!before || done->left_out > 0) return;
  check(now && now->size() == before->size(), "further pictures are where the index says");
  for (std::size_t i = 0; i < now->size(); ++i) {
    const auto old = coefficients((*before)[i]);
    if (!is_moved)
      check(are_equal(coefficients((*now)[i]), old), "a further picture");
    else if (params.transform.rotate != Rotation::upright && old)
      check(transcoder.transcode((*before)[i], first).is_ok() &&
                are_equal(coefficients((*now)[i]), coefficients(first)),
            "a further picture is moved as the first one");
  }
}

}  // namespace
}  // namespace zerorun::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace zerorun;
  const auto input = fuzz::stream(data, size);
  TranscodeParams params;
  params.threads = 1;
  params.limits = fuzz::quick_params(1).limits;
  params.optimize = true;
  params.verify = size % 3 == 0;
  switch (size % 7) {
    case 1:
      params.scans = ScanChoice::progressive;
      break;
    case 2:
      params.restart_interval = static_cast<int>(size / 7 % 3);
      break;
    case 3:
      params.transform.rotate = static_cast<Rotation>(1 + size / 7 % 4);
      params.transform.edges = static_cast<Edges>(size / 28 % 3);
      break;
    case 4:
      params.transform.flip = size / 7 % 2 == 0 ? Flip::horizontal : Flip::vertical;
      params.transform.edges = Edges::trim;
      break;
    case 5:
      params.transform.crop = {0, 0, 8, 8};
      break;
    default:
      break;
  }
  fuzz::check_file(input, params);
  if (size < 2) return 0;
  const std::string file = fuzz::with_index(fuzz::text(input), size % 2 == 0);
  fuzz::check_file(std::as_bytes(std::span(file)), params);
  return 0;
}
