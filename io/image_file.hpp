// One image file of any kind to a frame.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "io/frame_jpeg.hpp"
#include "zerorun/io.hpp"

namespace zerorun::io {

enum class ContentKind { unknown, y4m, pnm, jpeg, png, tiff, bmp, webp };

/// By the first bytes (12 are enough), never by the name.
ContentKind sniff(std::span<const std::byte> first_bytes) noexcept;

struct ImageFacts {
  std::string codec;  ///< "png", "mjpeg", ...
  bool is_jpeg = false;
  int rotation_degrees = 0;
  Rational sample_aspect{1, 1};
};

class ImageFileReader {
 public:
  explicit ImageFileReader(const SourceOptions& options) : options_(options), jpeg_(options) {}

  /// 16-bit samples become 8-bit, alpha is dropped, grey stays grey.
  /// Errors: open_failed, read_failed, bad_input, unknown_format, not_built, those of Decoder.
  Status read(const std::string& path, Frame& frame, ImageFacts& facts);
  std::int64_t concealed() const noexcept { return jpeg_.concealed(); }

 private:
  Status read_jpeg(const std::string& path, Frame& frame, ImageFacts& facts);

  SourceOptions options_;
  JpegFrameDecoder jpeg_;
};

}  // namespace zerorun::io
