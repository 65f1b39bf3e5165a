// Reads and writes frames and JPEG packets: files, sequences, containers and pipes.
// SPDX-License-Identifier: MIT
#pragma once

#include "zerorun/location.hpp"
#include "zerorun/sink.hpp"
#include "zerorun/source.hpp"
#include "zerorun/status.hpp"

namespace zerorun::io {

/// Which optional parts this build has.
struct Features {
  bool ffmpeg = false;
  bool opencv = false;
};
ZERORUN_API Features features() noexcept;

}  // namespace zerorun::io
