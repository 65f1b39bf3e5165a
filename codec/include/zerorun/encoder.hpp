// The encoder: frames -> baseline JPEG (ITU-T T.81 SOF0), one interleaved scan.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "zerorun/backend.hpp"
#include "zerorun/frame.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

enum class HuffmanTables : std::uint8_t {
  standard,  ///< T.81 Annex K.3, the same in every frame
  optimal,   ///< built for each frame by T.81 K.2; smaller, one more pass
};

/// How many MCUs lie between two RSTm markers (T.81 E.1.4).
struct RestartPolicy {
  enum class Kind : std::uint8_t { none, mcus, mcu_rows, automatic };
  Kind kind = Kind::automatic;
  int count = 0;  ///< for mcus 1..65535; for mcu_rows such that the MCUs fit in 65535

  static RestartPolicy none() { return {Kind::none, 0}; }
  static RestartPolicy mcus(int n) { return {Kind::mcus, n}; }
  static RestartPolicy mcu_rows(int n) { return {Kind::mcu_rows, n}; }
  /// As short as is useful for parallel coding while it costs at most 1.5 % of any stream.
  static RestartPolicy automatic() { return {}; }
};

/// Quantisation table in natural (row-major) order, entries 1..255.
using QuantTable = std::array<std::uint16_t, 64>;

/// A marker segment copied into every stream: 0xE0..0xEF (APPn) or 0xFE (COM).
struct MarkerSegment {
  std::uint8_t marker = 0;
  std::vector<std::uint8_t> payload;  ///< without the length field; at most 65533 bytes
};

struct EncodeParams {
  int quality = 90;  ///< 1..100, libjpeg's scale over the tables of T.81 K.1 and K.2
  std::optional<QuantTable> luma_table;    ///< instead of K.1 scaled by quality
  std::optional<QuantTable> chroma_table;  ///< instead of K.2 scaled by quality
  /// Unset: as the frame has it; 4:2:0 for RGB.
  std::optional<Subsampling> subsampling;
  HuffmanTables huffman = HuffmanTables::standard;
  RestartPolicy restart;
  /// An index of the scan in APP9 segments, with which zerorun's CUDA decoder starts everywhere at
  /// once; other decoders skip it. Costs 3 to 5 % of a photo's bytes at quality 90.
  bool index = false;
  bool jfif_header = true;
  /// Pixel aspect ratio for the JFIF header (1:1 square).
  int pixel_aspect_x = 1;
  int pixel_aspect_y = 1;
  std::vector<MarkerSegment> segments;  ///< written after JFIF, in this order
  Backend backend = Backend::automatic;
  int device = 0;   ///< CUDA device index
  int threads = 0;  ///< CPU threads for one frame; 0 = one per core
};

/// What one call did.
struct EncodeReport {
  std::size_t bytes = 0;
  int restart_interval_mcus = 0;  ///< as written in DRI; 0 = none
  /// CUDA: from the first kernel of the frame to the end of the last, by the device's own clock,
  /// without moving frame and stream. 0 on the CPU.
  double device_microseconds = 0.0;
};

/// A size that no stream of such a frame exceeds, whatever it shows (8x8 blocks of 63 codes of
/// 26 bits and one of 27, every byte stuffed). Errors: invalid_argument, invalid_frame.
ZERORUN_API Result<std::size_t> max_encoded_bytes(const EncodeParams& params, PixelFormat format,
                                                  int width, int height);

/// Encodes frame after frame and keeps its memory between them: the second frame of a size
/// allocates nothing. Move-only. One thread at a time per object; objects are independent.
class ZERORUN_API Encoder {
 public:
  /// Errors: invalid_argument, and those of resolve_backend().
  static Result<Encoder> create(const EncodeParams& params);

  Encoder(Encoder&&) noexcept;
  Encoder& operator=(Encoder&&) noexcept;
  ~Encoder();

  /// Writes one whole JPEG stream, SOI to EOI, into `out` (host memory, as the frame).
  /// The bytes depend on frame and parameters alone, never on backend, threads or device.
  /// Errors: invalid_frame, output_too_small (nothing useful in `out`), out_of_memory, device_*.
  Result<EncodeReport> encode(const ConstFrameView& frame, std::span<std::byte> out);

  /// The same into a vector, which is resized to the stream.
  Result<EncodeReport> encode(const ConstFrameView& frame, std::vector<std::byte>& out);

  /// The same into a buffer of either kind of memory, which is resized to the stream.
  Result<EncodeReport> encode(const ConstFrameView& frame, HostBuffer& out);

  /// Quality of the frames from here on, 1..100. Errors: invalid_argument.
  Status set_quality(int quality);

  /// cpu or cuda: what `automatic` became.
  Backend backend() const noexcept;
  const EncodeParams& params() const noexcept;

 private:
  struct Impl;
  explicit Encoder(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace zerorun
