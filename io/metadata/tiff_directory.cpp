// The directories (IFDs) of TIFF files and of EXIF data.
// SPDX-License-Identifier: MIT
#include "io/metadata/tiff_directory.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <unordered_set>

namespace zerorun::io::tiff {
namespace {

constexpr std::uint64_t kEntryBytes = 12, kInlineBytes = 4;
constexpr std::size_t kMaxValueBytes = 65536;  // more does not fit an EXIF segment anyway
constexpr std::size_t kMaxDirectoryBytes = std::size_t{1} << 20;

/// Bytes of a value of each type, TIFF 6.0 section 2; 13 is the offset of a directory.
constexpr std::array<std::uint64_t, 14> kTypeBytes{0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4};
/// Bytes of the numbers that a value consists of: a rational is two of them.
constexpr std::array<std::size_t, 14> kNumberBytes{0, 1, 1, 2, 4, 4, 1, 1, 2, 4, 4, 4, 8, 4};

/// Tags of a TIFF file that describe what is shown and not how it is stored.
bool is_descriptive(const Entry& entry) noexcept {
  constexpr std::uint16_t kTags[] = {270, 271, 272, 274,   282,   283,  296,
                                     305, 306, 315, 33432, 34665, 34853};
  return std::ranges::find(kTags, entry.tag) != std::end(kTags);
}

/// A directory that is written: entries, and the values that do not fit them.
struct Writer {
  bool little;
  std::vector<std::uint8_t> bytes;

  void add(std::uint32_t value, std::size_t count) {
    bytes.resize(bytes.size() + count);
    put_number(std::span(bytes).last(count), value, little);
  }
  void set(std::size_t at, std::uint32_t value) {
    put_number(std::span(bytes).subspan(at, 4), value, little);
  }
  std::uint32_t end() const { return static_cast<std::uint32_t>(bytes.size()); }
};

/// The value in the byte order of the output.
std::vector<std::uint8_t> value_of(const Entry& entry, bool little) {
  std::vector<std::uint8_t> value(entry.value.begin(), entry.value.end());
  if (entry.is_little == little) return value;
  const auto step = static_cast<std::ptrdiff_t>(kNumberBytes[entry.type]);
  for (auto at = value.begin(); at != value.end(); at += step) std::reverse(at, at + step);
  return value;
}

bool is_pointer(std::uint16_t tag) { return tag == kExifDirectory || tag == kGpsDirectory; }

/// Sorted by tag, the first entry of each, and no more values than a megabyte: a directory may list
/// the same bytes 65535 times.
std::vector<Entry> within_reason(std::vector<Entry> entries) {
  std::ranges::stable_sort(entries, {}, &Entry::tag);
  const auto same = [](const Entry& a, const Entry& b) { return a.tag == b.tag; };
  entries.erase(std::unique(entries.begin(), entries.end(), same), entries.end());
  std::size_t room = kMaxDirectoryBytes;
  std::erase_if(entries, [&room](const Entry& entry) {
    const bool fits = entry.value.size() <= std::min(kMaxValueBytes, room);
    if (fits) room -= entry.value.size();
    return !fits;
  });
  return entries;
}

/// Appends a directory with all its values. `depth` ends loops of directories.
void write_directory(ByteSpan file, const std::vector<Entry>& entries, int depth, Writer& out) {
  out.add(static_cast<std::uint32_t>(entries.size()), 2);
  const std::size_t first = out.bytes.size();
  for (const Entry& entry : entries) {
    out.add(entry.tag, 2);
    out.add(entry.type, 2);
    out.add(entry.count, 4);
    out.add(0, 4);
  }
  out.add(0, 4);  // no further directory
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Entry& entry = entries[i];
    const std::size_t field = first + i * kEntryBytes + 8;
    if (is_pointer(entry.tag) && depth > 0) {
      const auto at = entry.integer(entry.is_little);
      auto inner = at ? read_directory(file, entry.is_little, *at) : std::vector<Entry>();
      std::erase_if(inner, [](const Entry& e) {
        return e.tag == kInteroperability || is_pointer(e.tag);  // no deeper than this
      });
      out.set(field, out.end());
      write_directory(file, within_reason(std::move(inner)), depth - 1, out);
      continue;
    }
    const std::vector<std::uint8_t> value = value_of(entry, out.little);
    if (value.size() <= kInlineBytes) {
      std::copy(value.begin(), value.end(), out.bytes.begin() + static_cast<std::ptrdiff_t>(field));
    } else {
      out.set(field, out.end());
      out.bytes.insert(out.bytes.end(), value.begin(), value.end());
      if (out.bytes.size() % 2 != 0) out.bytes.push_back(0);
    }
  }
}

}  // namespace

std::optional<std::uint32_t> Entry::integer(bool little, std::uint32_t index) const noexcept {
  const int bytes = type == 3 ? 2 : type == 4 || type == 13 ? 4 : 0;
  if (bytes == 0 || index >= count) return std::nullopt;
  return number(value, std::uint64_t{index} * static_cast<std::uint64_t>(bytes), bytes, little);
}

std::optional<Header> read_header(ByteSpan file) noexcept {
  Header header;
  header.little = starts_with(file, {"II*\0", 4});
  if (!header.little && !starts_with(file, {"MM\0*", 4})) return std::nullopt;
  const auto at = number(file, 4, 4, header.little);
  if (!at) return std::nullopt;
  header.first_directory = *at;
  return header;
}

std::vector<Entry> read_directory(ByteSpan file, bool little, std::uint32_t at) {
  std::vector<Entry> entries;
  const auto count = number(file, at, 2, little);
  for (std::uint64_t i = 0; count && i < *count; ++i) {
    const std::uint64_t place = at + 2 + i * kEntryBytes;
    const auto tag = number(file, place, 2, little), type = number(file, place + 2, 2, little);
    const auto values = number(file, place + 4, 4, little);
    const auto offset = number(file, place + 8, 4, little);
    if (!offset) break;
    Entry entry;
    entry.tag = static_cast<std::uint16_t>(*tag);
    entry.type = static_cast<std::uint16_t>(*type);
    entry.count = *values;
    entry.is_little = little;
    const std::uint64_t bytes =
        std::uint64_t{*values} * (*type < kTypeBytes.size() ? kTypeBytes[*type] : 0);
    entry.value_at = bytes <= kInlineBytes ? place + 8 : *offset;
    entry.value = part(file, entry.value_at, bytes);
    if (!entry.value.empty()) entries.push_back(entry);
  }
  return entries;
}

std::vector<std::uint32_t> picture_directories(ByteSpan file) {
  constexpr std::size_t kMost = 65536;
  constexpr std::uint32_t kReduced = 1, kMask = 4;
  const auto header = read_header(file);
  std::vector<std::uint32_t> found;
  std::unordered_set<std::uint32_t> seen;
  std::optional<std::uint32_t> at = header ? std::optional(header->first_directory) : std::nullopt;
  while (at && *at != 0 && seen.size() < kMost && seen.insert(*at).second) {
    const auto count = number(file, *at, 2, header->little);
    if (!count) break;
    std::uint32_t kind = 0;
    for (const Entry& entry : read_directory(file, header->little, *at))
      if (entry.tag == kNewSubfileType) kind = entry.integer(header->little).value_or(0);
    if (found.empty() || (kind & (kReduced | kMask)) == 0) found.push_back(*at);
    at = number(file, std::uint64_t{*at} + 2 + *count * kEntryBytes, 4, header->little);
  }
  return found;
}

bool is_camera_raw(ByteSpan file) {
  constexpr std::uint32_t kColourFilters = 32803, kMost = 16;  // TIFF/EP; directories below
  const auto header = read_header(file);
  if (!header) return false;
  const auto entries = read_directory(file, header->little, header->first_directory);
  const auto has_filters = [&](const Entry& entry) {
    return entry.tag == kPhotometric && entry.integer(header->little) == kColourFilters;
  };
  if (std::ranges::any_of(entries, has_filters)) return true;
  if (std::ranges::find(entries, kDngVersion, &Entry::tag) != entries.end()) return true;
  const auto below = std::ranges::find(entries, kSubDirectories, &Entry::tag);
  for (std::uint32_t i = 0; below != entries.end() && i < std::min(below->count, kMost); ++i)
    if (const auto at = below->integer(header->little, i);
        at && std::ranges::any_of(read_directory(file, header->little, *at), has_filters))
      return true;
  return false;
}

void choose_directory(std::uint32_t at, std::span<std::uint8_t> file) {
  const auto header = read_header(file);
  const auto count = header ? number(file, at, 2, header->little) : std::nullopt;
  if (!count) return;
  put_number(file.subspan(4, 4), at, header->little);
  const std::uint64_t next = std::uint64_t{at} + 2 + *count * kEntryBytes;
  if (next + 4 <= file.size()) put_number(file.subspan(next, 4), 0, header->little);
}

std::vector<std::uint8_t> exif_of(ByteSpan file) {
  const auto header = read_header(file);
  if (!header) return {};
  std::vector<Entry> entries = read_directory(file, header->little, header->first_directory);
  std::erase_if(entries, [](const Entry& entry) { return !is_descriptive(entry); });
  entries = within_reason(std::move(entries));
  // Resolution alone, which every TIFF has, is not worth a segment.
  const bool tells = std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) {
    const bool is_resolution = entry.tag == 282 || entry.tag == 283 || entry.tag == 296;
    const bool is_upright = entry.tag == kOrientation && entry.integer(header->little) == 1u;
    return !is_resolution && !is_upright;
  });
  if (!tells) return {};
  Writer out{header->little, {}};
  out.bytes.assign(file.begin(), file.begin() + 4);
  out.add(8, 4);
  write_directory(file, entries, 1, out);
  return out.bytes;
}

void add_content(const PictureContent& content, std::vector<std::uint8_t>& file) {
  const auto header = read_header(file);
  if (!header) return;
  const std::vector<std::uint8_t> before = file;  // the entries point into it
  std::vector<Entry> entries = read_directory(before, header->little, header->first_directory);
  const auto add = [&entries](const Entry& entry) {
    std::erase_if(entries, [&](const Entry& other) { return other.tag == entry.tag; });
    entries.push_back(entry);
  };
  const auto add_bytes = [&](std::uint16_t tag, std::uint16_t type, ByteSpan bytes) {
    if (!bytes.empty())
      add({tag, type, static_cast<std::uint32_t>(bytes.size()), 0, bytes, header->little});
  };
  add_bytes(kIcc, 7, content.icc);
  add_bytes(kXmp, 1, as_u8(content.xmp));
  const auto x = tiff_density(content.density.x, header->little);
  const auto y = tiff_density(content.density.y, header->little);
  std::array<std::uint8_t, 2> unit{};
  put_number(unit, content.density.unit == Density::Unit::cm ? 3 : 2, header->little);
  if (content.density.known()) {  // EXIF's own goes before
    add({kXResolution, 5, 1, 0, x, header->little});
    add({kYResolution, 5, 1, 0, y, header->little});
    add({kResolutionUnit, 3, 1, 0, unit, header->little});
  }
  const auto exif = read_header(content.exif);
  if (exif)
    for (const Entry& entry :
         within_reason(read_directory(content.exif, exif->little, exif->first_directory)))
      if (is_descriptive(entry)) add(entry);
  std::ranges::sort(entries, {}, &Entry::tag);
  if (file.size() % 2 != 0) file.push_back(0);
  Writer out{header->little, std::move(file)};
  out.set(4, out.end());
  write_directory(content.exif, entries, 1, out);
  file = std::move(out.bytes);
}

}  // namespace zerorun::io::tiff
