// Coding a JPEG stream again without loss: the coefficients stay what they are, or are those of the
// turned, mirrored or cut picture. No sample is computed.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "zerorun/backend.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// Which scans a stream has that is coded again.
enum class ScanChoice : std::uint8_t {
  keep,         ///< sequential stays sequential, and progressive progressive
  baseline,     ///< one scan, where the sampling factors allow that
  progressive,  ///< the scans that take the fewest bytes of those tried
};

/// Clockwise.
enum class Rotation : std::uint8_t {
  none,
  by_90,
  by_180,
  by_270,
  upright,  ///< as EXIF's orientation tells, which becomes 1
};

/// After the rotation. Left and right change places where it is horizontal.
enum class Flip : std::uint8_t { none, horizontal, vertical };

/// Blocks at the right and lower edge that are no whole MCU cannot move to the other side.
enum class Edges : std::uint8_t {
  keep,    ///< they stay at their edge
  trim,    ///< they are left out
  refuse,  ///< the picture is refused
};

/// The coefficients are those of `jpegtran -rotate`, -flip, -transpose, -transverse, -crop and
/// -grayscale; test: oracle.Transform.
struct LosslessTransform {
  Rotation rotate = Rotation::none;
  int orientation = 0;  ///< 1 to 8: what `upright` follows in the place of EXIF; 0: EXIF
  Flip flip = Flip::none;
  /// Of the turned and mirrored picture. Where it does not begin with an MCU it begins with the one
  /// before, and is larger by that.
  Region crop = {};
  bool gray = false;  ///< luma alone. Errors: pixel_format (neither YCbCr nor grey)
  Edges edges = Edges::keep;
  friend bool operator==(const LosslessTransform&, const LosslessTransform&) = default;
};

struct TranscodeParams {
  ScanChoice scans = ScanChoice::keep;
  /// Codes also those streams again of which nothing else is asked, with tables of their own. All
  /// that is coded again has them.
  bool optimize = false;
  /// MCUs between two RSTm of every scan, up to 65535; 0: no markers. Unset: as in the stream.
  std::optional<int> restart_interval;
  LosslessTransform transform;
  /// Decodes the new stream, too, and compares its coefficients with those of the old one, turned
  /// as they are. Errors: verify_mismatch.
  bool verify = false;
  /// A missing EOI and stray bytes are errors. Damage always is.
  bool strict = false;
  StreamLimits limits;
  /// A GPU codes baseline streams of which only `optimize` is asked; the CPU does everything else.
  Backend backend = Backend::automatic;
  int device = 0;   ///< CUDA device index
  int threads = 0;  ///< CPU threads for one image; 0 = usable cores
  InstructionSet instruction_set = InstructionSet::best;
};

struct TranscodeReport {
  std::size_t bytes_consumed = 0;  ///< to the end of EOI; the next image starts here or later
  /// The stream is what it was: nothing had to change, and coded again it would not be smaller.
  bool is_unchanged = false;
  int width = 0, height = 0;  ///< of the new stream
  Status first_problem;       ///< an oddity that is no damage; ok if there was none
  bool is_of_gpu = false;     ///< a GPU coded the scan
};

/// Codes image after image again, and keeps its memory. Move-only. One thread at a time
/// per object; objects are independent.
///
/// All APPn and COM segments are kept in their order, in front of the tables. Of a picture that
/// changes its size, EXIF's pixel dimensions follow; thumbnails stay as they are. A grey picture
/// loses Adobe's segment and the ICC profile of the colours. Missing scans of a progressive stream
/// are no damage.
class ZERORUN_API Transcoder {
 public:
  /// Errors: invalid_argument, and those of resolve_backend().
  static Result<Transcoder> create(const TranscodeParams& params = {});

  Transcoder(Transcoder&&) noexcept;
  Transcoder& operator=(Transcoder&&) noexcept;
  ~Transcoder();

  /// Codes the first image in `jpeg` again into `out`, which it replaces. The bytes do not depend
  /// on backend, threads and instruction set. Errors: 2xx (also for damaged scans, of which a
  /// decoder would conceal parts: their samples could not be equal), 3xx, 4xx, invalid_argument (a
  /// crop that leaves the picture; Edges::refuse). `out` is undefined then.
  Result<TranscodeReport> transcode(std::span<const std::byte> jpeg, std::vector<std::byte>& out);

  const TranscodeParams& params() const noexcept;

 private:
  struct Impl;
  explicit Transcoder(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace zerorun
