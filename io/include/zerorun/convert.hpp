// Passes over samples: they turn pictures upright, convert their colours to sRGB and make whole
// pictures of interlaced ones.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "zerorun/decoder.hpp"
#include "zerorun/frame.hpp"
#include "zerorun/status.hpp"

namespace zerorun::io {

/// Makes the picture that a viewer shows for EXIF's `orientation` (1 to 8): turned by quarters,
/// mirrored for 2, 4, 5 and 7. `in` is gray8 or a packed RGB format. `out` is reshaped.
/// Errors: invalid_argument (another format or orientation), out_of_memory.
ZERORUN_API Status orient(const ConstFrameView& in, int orientation, Frame& out);

/// The orientation that turns clockwise by 0, 90, 180 or 270 degrees, after it has mirrored the
/// picture left to right if `mirrored`.
ZERORUN_API int orientation_of(int rotation_degrees, bool mirrored = false) noexcept;
/// True if an orientation mirrors: 2, 4, 5, 7.
ZERORUN_API bool is_mirrored(int orientation) noexcept;
/// The clockwise degrees of an orientation: 0, 90, 180 or 270. If is_mirrored(), they come after
/// the picture was mirrored left to right.
ZERORUN_API int rotation_of(int orientation) noexcept;

/// True for an ICC profile of CMYK.
ZERORUN_API bool is_ink_profile(std::span<const std::uint8_t> icc) noexcept;

/// Converts samples from the space of an ICC profile to sRGB, by lcms2 with relative colorimetric
/// intent and black point compensation. Thread-safe.
class ZERORUN_API ProfileConverter {
 public:
  /// `format` is rgb24 or gray8; a grey profile needs gray8.
  /// Errors: bad_input (no profile for such samples), not_built.
  static Result<ProfileConverter> create(std::span<const std::uint8_t> icc, PixelFormat format);
  void convert(const FrameView& frame) const;

  /// For a profile of CMYK. `is_inverted`: 255 is no ink. The same errors.
  static Result<ProfileConverter> create_for_inks(std::span<const std::uint8_t> icc,
                                                  bool is_inverted);
  /// From cmyk32 to rgb24 of the same size.
  void convert(const ConstFrameView& inks, const FrameView& rgb) const;

 private:
  std::shared_ptr<void> transform_;
};

/// Decodes CMYK and YCCK to sRGB by the CMYK profiles that they embed. Keeps the converter of the
/// profile used last. Thread-safe.
class ZERORUN_API InkDecoder {
 public:
  /// Whether decode() is for this stream.
  static bool takes(const StreamInfo& stream);
  /// `out` becomes rgb24. Errors: those of Decoder and ProfileConverter::create().
  Result<DecodeReport> decode(Decoder& decoder, std::span<const std::byte> jpeg,
                              const StreamInfo& stream, Frame& out);

 private:
  Result<ProfileConverter> converter(const StreamInfo& stream);

  std::mutex mutex_;
  std::vector<std::uint8_t> icc_;
  bool is_inverted_ = false;
  std::optional<ProfileConverter> converter_;
};

/// Keeps the lines of the first field and interpolates the others between them, by the filter (-1,
/// 9, 9, -1) / 16. The picture has no combs, and half the detail of fast edges. Works in place, on
/// all formats whose planes have a row of bytes for each line.
ZERORUN_API void deinterlace(const FrameView& frame, bool top_first) noexcept;

/// The time that this thread has spent since its last call on passes that only convert samples: to
/// another range, depth, matrix, order, format, profile or orientation, or from fields. Sources
/// convert in Incoming::load(), sinks in prepare(). Conversions that a coder does as it goes do not
/// count.
ZERORUN_API std::chrono::nanoseconds take_convert_time() noexcept;

}  // namespace zerorun::io
