// What the threads of `zerorun encode` do: read a frame, code it, measure it.
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
  std::string name;  ///< of the input file
  Frame frame;
  io::FrameTime time;
  std::vector<std::byte> jpeg;
  double microseconds = 0.0;         ///< coding alone
  double device_microseconds = 0.0;  ///< of the kernels alone; 0 on the CPU
  std::optional<SquaredError> error;
};

/// What a lane owns.
struct EncodeWorker {
  Encoder encoder;
  std::optional<Encoder> cpu_twin;  ///< for --verify of a GPU
  std::optional<Decoder> decoder;   ///< for --psnr
  std::vector<std::byte> twin_jpeg;
  Frame decoded;

  /// Ends the command if the parameters or the device are not usable.
  static EncodeWorker create(const EncodeParams& params, bool with_psnr, bool with_verify);
  Status code(EncodeJob& job);
};

/// The input. Shared with the reader thread, which may outlive the command in a blocked read.
struct FrameFeed {
  std::unique_ptr<io::FrameSource> source;
  EncodeJob first;  ///< read ahead, because the output is opened for its size and format
  bool first_taken = false;

  Result<bool> read(EncodeJob& job);
};

}  // namespace zerorun::app
