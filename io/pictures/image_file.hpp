// Reads one image file of any kind to a frame. OpenCV reads and writes some kinds.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/base/byte_reader.hpp"
#include "io/mjpeg/frame_jpeg.hpp"
#include "zerorun/source.hpp"

namespace zerorun::io {

enum class ContentKind : std::uint8_t { unknown, y4m, pnm, jpeg, png, tiff, bmp, webp };

/// The kind of a file by its first bytes (kSniffBytes are enough), never by its name.
ContentKind sniff(std::span<const std::byte> first_bytes) noexcept;
inline constexpr std::size_t kSniffBytes = 12;

/// 2^27 pixels of 16-bit RGBA, uncompressed.
inline constexpr std::uint64_t kMaxImageFileBytes = std::uint64_t{1} << 30;

/// Sets what `info` says of a picture beside its samples.
void describe_picture(std::shared_ptr<const PictureContent> content, SourceInfo& info);

/// Thread-safe.
class ImageFileReader {
 public:
  explicit ImageFileReader(const SourceOptions& options) : options_(options), jpeg_(options) {}

  /// `file` stands at its first byte; it is left open if zerorun reads the picture itself. 16-bit
  /// samples become 8-bit, alpha is dropped, grey stays grey. Sets codec, is_jpeg, rotation and
  /// pixel aspect of `facts`. `threads` is that of Incoming::load().
  /// Errors: read_failed, bad_input, unknown_format, not_built, those of Decoder.
  Status read(ByteReader& file, FrameWork& work, SourceInfo& facts, int threads);
  std::int64_t concealed() const noexcept { return jpeg_.concealed(); }

 private:
  Status read_kind(ByteReader& file, ContentKind kind, FrameWork& work, SourceInfo& facts,
                   int threads);
  Status read_jpeg(ByteReader& file, FrameWork& work, SourceInfo& facts, int threads);
  Status read_by_media(ByteReader file, FrameWork& work, SourceInfo& facts, int threads);

  const SourceOptions options_;
  JpegDecoders jpeg_;
};

/// As the two below, for PNG.
Status decode_png(const std::string& name, const SampleRules& rules,
                  std::span<const std::byte> data, Frame& out);
Status encode_png(const ConstFrameView& frame, std::vector<std::byte>& out);

/// Decodes PNG, TIFF, BMP, WebP, and the JPEG kinds that zerorun refuses, to gray8 or rgb24.
/// `data` is the file of this name, and gets bytes appended if OpenCV needs them. Errors:
/// bad_input, too_many_pixels, not_built. Thread-safe, as the next one.
Status decode_by_opencv(const std::string& name, ContentKind kind, const SampleRules& rules,
                        std::vector<std::byte>& data, Frame& out);

/// What PNG, TIFF and WebP files say of their size, before a library allocates for it. Errors:
/// too_many_pixels, for a picture, or a tile of a TIFF file, that has more than
/// StreamLimits allows. ok for other kinds, and for a file that does not tell: its decoder refuses
/// it.
Status check_stored_size(const std::string& name, ContentKind kind, std::int64_t max_pixels,
                         std::span<const std::byte> data);

/// Makes the bytes of an image file. `frame` is gray8 or rgb24. Errors: unsupported_output,
/// out_of_memory, not_built.
Status encode_by_opencv(const ConstFrameView& frame, const std::string& extension,
                        std::vector<std::byte>& out);

}  // namespace zerorun::io
