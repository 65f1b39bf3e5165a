// The directories (IFDs) of TIFF files and of EXIF data, which has the same structure.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "io/metadata/metadata.hpp"
#include "zerorun/content.hpp"

namespace zerorun::io::tiff {

enum Tag : std::uint16_t {
  kNewSubfileType = 254,
  kBitsPerSample = 258,
  kPhotometric = 262,
  kOrientation = 274,
  kXResolution = 282,
  kYResolution = 283,
  kResolutionUnit = 296,
  kSubDirectories = 330,
  kExtraSamples = 338,
  kXmp = 700,
  kIcc = 34675,
  kExifDirectory = 34665,
  kGpsDirectory = 34853,
  kInteroperability = 40965,
  kDngVersion = 50706,
};

struct Entry {
  std::uint16_t tag = 0, type = 0;
  std::uint32_t count = 0;
  std::uint64_t value_at = 0;  ///< of the value itself, inside the file
  ByteSpan value;              ///< empty if it lies outside of the file
  bool is_little = true;       ///< the byte order of the file

  /// A number of a SHORT or LONG entry.
  std::optional<std::uint32_t> integer(bool little, std::uint32_t index = 0) const noexcept;
};

struct Header {
  bool little = true;
  std::uint32_t first_directory = 0;
};

/// "II*\0" or "MM\0*".
std::optional<Header> read_header(ByteSpan file) noexcept;
/// The entries of the directory at `at`; none if it is damaged.
std::vector<Entry> read_directory(ByteSpan file, bool little, std::uint32_t at);

/// Where the directories of pictures are: of pages, without thumbnails and masks. It ends at loops
/// and at damage; the first directory is always one.
std::vector<std::uint32_t> picture_directories(ByteSpan file);
/// DNG, NEF, ARW: a sensor's samples lie in the first directory, or in one of 16 below it.
bool is_camera_raw(ByteSpan file);
/// Makes the directory at `at` the first one of the file, and the last.
void choose_directory(std::uint32_t at, std::span<std::uint8_t> file);

/// EXIF data made from a TIFF file: what describes the picture, with its EXIF and GPS directories,
/// without pixels and without ICC and XMP, which have segments of their own in a JPEG.
std::vector<std::uint8_t> exif_of(ByteSpan file);

/// Gives a TIFF file another first directory, at its end, with ICC, XMP and what EXIF says too.
void add_content(const PictureContent& content, std::vector<std::uint8_t>& file);

}  // namespace zerorun::io::tiff

namespace zerorun::io {
/// Takes an entry that tells of the density.
void take_density(const tiff::Entry& entry, Density& density) noexcept;
}  // namespace zerorun::io
