// All of the component io: reads and writes frames and JPEG packets, in files, sequences,
// containers and pipes.
// SPDX-License-Identifier: MIT
#pragma once

#include "zerorun/content.hpp"
#include "zerorun/ledger.hpp"
#include "zerorun/convert.hpp"
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
