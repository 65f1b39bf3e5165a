// Codes JPEG files again whose index names further pictures (CIPA DC-007, Multi-Picture Format).
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <string>

#include "codec/base/try.hpp"
#include "io/metadata/metadata.hpp"
#include "io/metadata/tiff_directory.hpp"
#include "zerorun/content.hpp"
#include "zerorun/zerorun.hpp"

namespace zerorun::io {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::size_t kListedBytes = 16;  // a picture in the index

/// The index, without pictures if it cannot be read, and where its offsets count from.
struct Index {
  JpegSegment segment;
  MpfTable table;

  std::uint64_t header_at() const { return segment.at + 4 + kMpfId.size(); }
  std::uint64_t entry_at(std::size_t i) const {
    return segment.at + 4 + table.at + i * kListedBytes;
  }
};

/// Place and size of a picture.
struct Part {
  std::uint64_t at = 0, bytes = 0;
};

std::optional<Index> find_index(ByteSpan file) {
  for (const JpegSegment& segment : segments_to_scan(file))
    if (segment.is(kApp2, kMpfId))
      return Index{segment, mpf_table(segment.payload).value_or(MpfTable())};
  return std::nullopt;
}

/// The further pictures; none unless one follows after the other behind `end`.
std::vector<Part> further_parts(ByteSpan file, const Index& index, std::uint64_t end) {
  std::vector<Part> parts;
  const bool little = index.table.little;
  for (std::size_t i = 1; i < index.table.pictures; ++i) {
    const std::uint64_t bytes = number(file, index.entry_at(i) + 4, 4, little).value_or(0);
    const std::uint64_t at =
        index.header_at() + number(file, index.entry_at(i) + 8, 4, little).value_or(0);
    if (at < end || !starts_with(part(file, at, bytes), "\xFF\xD8")) return {};
    parts.push_back({at, bytes});
    end = at + bytes;
  }
  return parts;
}

void append(std::span<const std::byte> bytes, Bytes& out) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

void replace(const JpegSegment& segment, const Bytes& bytes, Bytes& file) {
  const auto begin = file.begin() + static_cast<std::ptrdiff_t>(segment.at);
  const auto rest = file.erase(begin, begin + static_cast<std::ptrdiff_t>(segment.bytes()));
  file.insert(rest, bytes.begin(), bytes.end());
}

/// Ultra HDR's XMP has the sizes of the pictures, too.
void set_sizes_in_xmp(const std::vector<Part>& old, const std::vector<Bytes>& pictures,
                      Bytes& file) {
  constexpr std::string_view kDigits = "0123456789";
  for (const JpegSegment& segment : segments_to_scan(as_u8(file))) {
    if (!segment.is(kApp1, kXmpId)) continue;
    std::string text(segment.payload.begin(), segment.payload.end());
    for (std::size_t at = 0; (at = text.find("Item:Length", at)) != std::string::npos;) {
      at = std::min(text.find_first_of(kDigits, at), text.size());
      const std::string digits = text.substr(at, text.find_first_not_of(kDigits, at) - at);
      const auto is_size = [&](const Part& part) { return digits == std::to_string(part.bytes); };
      const auto found = std::ranges::find_if(old, is_size) - old.begin();
      if (found < std::ssize(old))
        text.replace(at, digits.size(),
                     std::to_string(pictures[static_cast<std::size_t>(found)].size()));
    }
    if (text.size() <= 65533) replace(segment, bytes_of({kApp1, {text.begin(), text.end()}}), file);
    return;
  }
}

void write_index(std::uint64_t first_bytes, const std::vector<Part>& parts, Bytes& file) {
  const auto index = find_index(as_u8(file));
  if (!index) return;
  const std::span<std::uint8_t> bytes(reinterpret_cast<std::uint8_t*>(file.data()), file.size());
  const auto put = [&](std::size_t i, std::size_t field, std::uint64_t value) {
    put_number(bytes.subspan(index->entry_at(i) + field, 4), static_cast<std::uint32_t>(value),
               index->table.little);
  };
  put(0, 4, first_bytes);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    put(i + 1, 4, parts[i].bytes);
    put(i + 1, 8, parts[i].at - index->header_at());
  }
}

}  // namespace

std::optional<MpfTable> mpf_table(ByteSpan payload) {
  constexpr std::uint16_t kEntries = 0xB002;
  if (!starts_with(payload, kMpfId)) return std::nullopt;
  const ByteSpan index = payload.subspan(kMpfId.size());
  const auto header = tiff::read_header(index);
  if (!header) return std::nullopt;
  for (const auto& entry : tiff::read_directory(index, header->little, header->first_directory))
    if (entry.tag == kEntries && entry.value.size() >= kListedBytes)
      return MpfTable{kMpfId.size() + entry.value_at, entry.value.size() / kListedBytes,
                      header->little};
  return std::nullopt;
}

Result<TranscodedFile> transcode_file(Transcoder& transcoder, std::span<const std::byte> file,
                                      std::vector<std::byte>& out) {
  const auto index = find_index(as_u8(file));
  if (!index) {
    ZR_LET(report, transcoder.transcode(file, out));
    append(file.subspan(report.bytes_consumed), out);
    return TranscodedFile{report};
  }
  TranscodeParams params = transcoder.params();
  LosslessTransform& transform = params.transform;
  const bool is_upright = transform.rotate == Rotation::upright;
  // Gain maps have no EXIF of their own.
  if (is_upright && transform.orientation == 0)
    transform.orientation = picture_content(file).orientation;
  const bool moves = transform.flip != Flip::none ||
                     (is_upright ? transform.orientation != 1 : transform.rotate != Rotation::none);
  // Pictures of other sizes lose or keep other edges.
  transform.edges = Edges::refuse;
  ZR_LET(exact, Transcoder::create(params));
  Result<TranscodeReport> first = exact.transcode(file, out);
  bool fits = first.is_ok() && transform.crop == Region();
  if (!first) first = transcoder.transcode(file, out);
  ZR_TRY(first.status());

  std::uint64_t end = first->bytes_consumed;
  const std::vector<Part> parts = further_parts(as_u8(file), *index, end);
  fits = fits && parts.size() + 1 == index->table.pictures;
  std::vector<Bytes> pictures(parts.size());
  for (std::size_t i = 0; i < parts.size() && fits; ++i) {
    const auto picture = file.subspan(parts[i].at, parts[i].bytes);
    const auto report = exact.transcode(picture, pictures[i]);
    fits = report.is_ok() || !moves;
    append(picture.subspan(report ? report->bytes_consumed : 0), pictures[i]);  // or it stays
  }

  TranscodedFile done{*first};
  if (fits) {
    set_sizes_in_xmp(parts, pictures, out);
  } else if (!parts.empty() || !first->is_unchanged) {
    if (const auto old = find_index(as_u8(out))) replace(old->segment, {}, out);
    // Behind an index that cannot be read there is at least one.
    done.left_out = static_cast<int>(index->table.pictures == 0 ? 1 : index->table.pictures - 1);
  }
  const std::uint64_t first_bytes = out.size();
  std::vector<Part> placed;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    append(file.subspan(end, parts[i].at - end), out);
    placed.push_back({out.size(), pictures[i].size()});
    if (fits) append(pictures[i], out);
    end = parts[i].at + parts[i].bytes;
  }
  append(file.subspan(end), out);
  if (fits) write_index(first_bytes, placed, out);
  return done;
}

}  // namespace zerorun::io
