// The encoder: frames -> baseline JPEG (ITU-T T.81 SOF0), one interleaved scan; or progressive.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "zerorun/backend.hpp"
#include "zerorun/frame.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

enum class HuffmanTables : std::uint8_t {
  standard,  ///< T.81 Annex K.3, the same in every frame
  optimal,   ///< built for each frame by T.81 K.2; smaller, one more pass
  trained,   ///< from the statistics of photos, for each tune; smaller than standard, in one pass
};

/// How many MCUs lie between two RSTm markers (T.81 E.1.4).
struct RestartPolicy {
  enum class Kind : std::uint8_t { none, mcus, mcu_rows, automatic };
  Kind kind = Kind::automatic;
  int count = 0;  ///< for mcus 1..65535; for mcu_rows such that the MCUs fit in 65535

  static RestartPolicy none() { return {Kind::none, 0}; }
  static RestartPolicy mcus(int n) { return {Kind::mcus, n}; }
  static RestartPolicy mcu_rows(int n) { return {Kind::mcu_rows, n}; }
  /// Short intervals for parallel coding that add at most 1.5 % to any stream.
  static RestartPolicy automatic() { return {}; }
  friend bool operator==(const RestartPolicy&, const RestartPolicy&) = default;
};

/// What the coefficients are decided for. All but `exact` make smaller files than libjpeg-turbo at
/// equal quality; none changes what decoders have to know.
enum class Tune : std::uint8_t {
  exact,  ///< every coefficient is rounded: the bytes are libjpeg-turbo's
  photo,  ///< what the eye sees: less for errors in texture; RGB becomes YCbCr with noise
          ///< shaping; where RGB or 4:4:4 becomes 4:2:0, chroma that makes up for the blur of
          ///< decoders' up-sampling
  text,   ///< as photo, for text and drawings: sharp edges keep their coefficients,
          ///< and ring beyond black and white, where decoders limit samples
  psnr,   ///< the least squared error
};

/// How coefficients are decided where `tune` is not exact.
enum class Effort : std::uint8_t {
  fast,  ///< by a dead zone that follows the texture of the block
  best,  ///< by the bits that each one saves, and where the block ends: smaller, slower
};

/// Named quantisation tables, each scaled by quality.
enum class QuantTables : std::uint8_t {
  automatic,  ///< annex_k for Tune::exact, tuned for photo and text, flat for psnr
  annex_k,    ///< T.81 K.1 and K.2, as libjpeg
  flat,       ///< all entries of a table are equal
  ffmpeg,     ///< the matrix of ISO/IEC 11172-2 (MPEG-1), as FFmpeg's mjpeg
  tuned,      ///< trained on photos, one pair for 4:2:0 and one for other samplings
};

/// As on the command line: "photo", "best", "annex-k", ...; "unknown" for other values.
ZERORUN_API std::string_view name(Tune tune) noexcept;
ZERORUN_API std::string_view name(Effort effort) noexcept;
ZERORUN_API std::string_view name(QuantTables tables) noexcept;

inline constexpr Tune kAllTunes[] = {Tune::exact, Tune::photo, Tune::text, Tune::psnr};
inline constexpr Effort kAllEfforts[] = {Effort::fast, Effort::best};
inline constexpr QuantTables kAllQuantTables[] = {QuantTables::automatic, QuantTables::annex_k,
                                                  QuantTables::flat, QuantTables::ffmpeg,
                                                  QuantTables::tuned};

/// Quantisation table in natural (row-major) order, entries 1..255.
using QuantTable = std::array<std::uint16_t, 64>;

/// A marker segment copied into every stream: 0xE0..0xEF (APPn) or 0xFE (COM).
struct MarkerSegment {
  std::uint8_t marker = 0;
  std::vector<std::uint8_t> payload;  ///< without the length field; at most 65533 bytes
  friend bool operator==(const MarkerSegment&, const MarkerSegment&) = default;
};

/// How large a stream shall be, SOI to EOI, or how near to its frame. Quality, and in small steps
/// the decisions about coefficients, are found for each picture from nothing but the picture and
/// the parameters, so the bytes are the same on every backend. For a size, the symbols of a sample
/// that has a 32nd of the picture's pixels are counted with one setting after another, and the
/// picture is coded about twice; of pictures below 2^19 pixels all symbols are counted.
struct SizeGoal {
  /// 0: none. A stream is never larger, and at most 0.5 % smaller if the picture can fill it at
  /// quality 100; `quality` does not count. Below some 10,000 bytes single coefficients may take
  /// more than 0.5 %; the stream is then the largest that was found.
  std::size_t target_bytes = 0;
  /// 0: none. A stream of `quality` that is larger is coded so that it fills these bytes.
  std::size_t max_bytes = 0;
  /// 0: none. Above 0, up to 200 dB: the lowest quality, in steps of a 16th, whose decoded samples
  /// have this PSNR, while those of the next lower step have not; `quality` does not count. The
  /// PSNR is that of the mean squared error over all samples of all components, in the frame's own
  /// format and size, and infinite where they are equal; Decoder decodes, by its default
  /// parameters. Quality 1 to 100 are tried: what 100 does not reach is quality_not_reached. PSNR
  /// need not rise with each step, so lower ones that reach it, too, may be left out. A picture is
  /// coded and decoded (on the CPU) kMostQualityCodings times at most, large ones about three
  /// times, and small ones six times.
  double target_psnr = 0;
  /// 0: none. The same for SSIM, above 0 and up to 1: the mean over windows of 8x8 samples of luma,
  /// four samples apart, as FFmpeg's ssim filter computes it; luma of RGB is JFIF's.
  double target_ssim = 0;
  /// 0: none. With target_bytes: a picture whose smallest stream is above these is that stream, if
  /// it has no more than overrun_bytes. For RateControl::room().
  std::size_t overrun_bytes = 0;

  static constexpr int kMostQualityCodings = 23;

  bool any() const noexcept { return target_bytes != 0 || max_bytes != 0 || is_of_quality(); }
  /// Does not go with target_bytes and max_bytes; and of the two there is one.
  bool is_of_quality() const noexcept { return target_psnr != 0 || target_ssim != 0; }
  friend bool operator==(const SizeGoal&, const SizeGoal&) = default;
};

struct EncodeParams {
  int quality = 90;  ///< 1..100, libjpeg's scale over the tables of T.81 K.1 and K.2
  Tune tune = Tune::exact;
  Effort effort = Effort::fast;
  QuantTables tables = QuantTables::automatic;
  std::optional<QuantTable> luma_table;    ///< instead of the luma table of `tables`
  std::optional<QuantTable> chroma_table;  ///< instead of the chroma table of `tables`
  /// Unset: that of the frame; 4:2:0 for RGB.
  std::optional<Subsampling> subsampling;
  HuffmanTables huffman = HuffmanTables::standard;
  RestartPolicy restart;
  /// Writes a progressive stream (SOF2, T.81 Annex G) of the same coefficients. Of some hundred
  /// ways to divide them into scans, the one with the fewest bits is taken: the stream is smaller
  /// than a baseline one with optimal tables, by 1 to 8 % of all but tiny ones, and slower to code
  /// and to decode. Every scan has optimal tables of its own, whatever `huffman` is. RestartPolicy
  /// counts the MCUs of each scan, which are single blocks where it has one component; automatic
  /// means none.
  bool progressive = false;
  bool jfif_header = true;
  /// Pixel aspect ratio for the JFIF header (1:1 square).
  int pixel_aspect_x = 1;
  int pixel_aspect_y = 1;
  std::vector<MarkerSegment> segments;  ///< written after JFIF, in this order
  Backend backend = Backend::automatic;
  int device = 0;   ///< CUDA device index
  int threads = 0;  ///< CPU threads for one frame; 0 = usable cores; CUDA: to copy it, 0 = a few
  InstructionSet instruction_set = InstructionSet::best;  ///< of the CPU backend
  /// Does not go with luma_table and chroma_table. encode() fails with size_not_reached where no
  /// stream is small enough, and with quality_not_reached where none is good enough.
  SizeGoal size;
  /// Writes a COM segment "zerorun: quality 087.2500 thrift 0012" behind `segments`: what the
  /// picture was coded with (see EncodeReport); with luma_table and chroma_table, which no quality
  /// scales, "zerorun: own tables", and with one of them "zerorun: own luma table, quality ...".
  bool note_setting = false;
  friend bool operator==(const EncodeParams&, const EncodeParams&) = default;
};

/// What one call did.
struct EncodeReport {
  std::size_t bytes = 0;
  int restart_interval_mcus = 0;  ///< as written in DRI; 0 = none
  /// CUDA: from the start of the frame's first kernel to the end of its last, by the device's
  /// clock; the copies of frame and stream do not count. CPU: 0.
  double device_microseconds = 0.0;
  /// What the picture was coded with: EncodeParams::quality, or what reaches the size. Between two
  /// qualities some entries of the tables are those of the higher one.
  double quality = 0.0;
  int thrift = 0;   ///< 0 without a size; up to 1024: so much rather are coefficients dropped
  int codings = 1;  ///< of the whole picture, until it had its size or quality
  /// With SizeGoal::target_psnr or target_ssim: the dB or the SSIM that the stream has.
  double reached = 0.0;
};

/// A size that no stream of such a frame exceeds, whatever its samples are: every block has a code
/// of 27 bits and 63 of 26, or what these take in several scans, and every byte is stuffed. Errors:
/// invalid_argument, invalid_frame.
ZERORUN_API Result<std::size_t> max_encoded_bytes(const EncodeParams& params, PixelFormat format,
                                                  int width, int height);

/// Encodes frame after frame and keeps its memory: the second frame of a size allocates nothing, or
/// lists of scans where the stream is progressive.
/// Move-only. One thread at a time per object; objects are independent.
class ZERORUN_API Encoder {
 public:
  /// Errors: invalid_argument, and those of resolve_backend().
  static Result<Encoder> create(const EncodeParams& params);

  Encoder(Encoder&&) noexcept;
  Encoder& operator=(Encoder&&) noexcept;
  ~Encoder();

  /// Writes one whole JPEG stream, SOI to EOI, into `out` (host memory, as the frame).
  /// The bytes depend on the frame and the parameters, not on backend, threads or device.
  /// Errors: invalid_frame, output_too_small (`out` then holds no stream), out_of_memory, device_*.
  Result<EncodeReport> encode(const ConstFrameView& frame, std::span<std::byte> out);

  /// The same into a vector or a buffer, which is resized to the stream.
  Result<EncodeReport> encode(const ConstFrameView& frame, std::vector<std::byte>& out);
  Result<EncodeReport> encode(const ConstFrameView& frame, HostBuffer& out);

  /// The same for a video decoder's picture in the memory of the encoder's device, which is read
  /// until the call returns. The bytes are those of the yuv420p frame that `surface.conversion`
  /// makes of it. Errors: also invalid_argument (the backend is the CPU's; there is a PSNR or SSIM
  /// to reach, for which the frame has to lie in host memory).
  Result<EncodeReport> encode(const DeviceSurface& surface, std::vector<std::byte>& out);
  Result<EncodeReport> encode(const DeviceSurface& surface, HostBuffer& out);

  /// Quality of all later frames, 1..100. Errors: invalid_argument.
  Status set_quality(int quality);

  /// Size or quality of all later frames. Errors: invalid_argument (there are own tables; what is
  /// asked for is out of range or does not go together).
  Status set_size(const SizeGoal& size);

  /// cpu or cuda: what `automatic` became.
  Backend backend() const noexcept;
  const EncodeParams& params() const noexcept;

 private:
  struct Impl;
  explicit Encoder(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace zerorun
