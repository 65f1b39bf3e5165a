// What a lane of `zerorun encode` does: loads a frame, codes it, measures it; and where frames come
// from.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/common/psnr.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"
#include "zerorun/io.hpp"

namespace zerorun::app {

/// A frame in the pipeline.
struct EncodeJob {
  io::FrameWork in;
  std::vector<std::byte> jpeg;
  io::Outgoing out;
  double microseconds = 0.0;         ///< coding alone
  double device_microseconds = 0.0;  ///< of the kernels alone; 0 on the CPU
  std::optional<SquaredError> error;
  SizeGoal size;        ///< of this frame
  EncodeReport report;  ///< of its coding

  int width = 0, height = 0;      ///< of the frame that was coded
  std::uint64_t source_hash = 0;  ///< XXH3 of its samples, for a shard's manifest

  const std::string& name() const noexcept { return in.name; }
  const Frame& frame() const noexcept { return in.item; }
};

/// What a lane owns.
struct EncodeWorker {
  Encoder encoder;
  std::optional<Encoder> cpu_twin;  ///< for --verify of a GPU
  std::optional<Decoder> decoder;   ///< for --psnr
  std::vector<std::byte> twin_jpeg;
  Frame decoded;

  /// Errors: those of Encoder::create().
  static Result<EncodeWorker> create(const EncodeParams& params, bool with_psnr, bool with_verify);
  /// Whether it takes frames where a hardware decoder left them: comparisons need the samples on
  /// the host.
  bool takes_surfaces() const noexcept;
  Status code(EncodeJob& job);
};

/// The input. Shared with the reader thread, which may outlive the command in a blocked read.
struct FrameFeed {
  std::unique_ptr<io::FrameSource> source;
  HostMemory memory = HostMemory::pageable;  ///< of the frames
  io::FrameWork first;  ///< loaded ahead, because the output is opened for its size and format
  bool first_taken = false;
  std::int64_t step = 1;  ///< every step-th frame of the source

  /// The serial half alone.
  Result<bool> read(EncodeJob& job);
};

}  // namespace zerorun::app
