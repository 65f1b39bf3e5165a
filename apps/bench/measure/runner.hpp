// One instance of a coder, of zerorun or of a peer: what measurements drive.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

#include "zerorun/frame.hpp"

namespace zerorun::app::bench {

/// Works on one frame after another. One thread at a time.
class Runner {
 public:
  virtual ~Runner() = default;

  /// Called once, before all others: makes coders and memory.
  virtual Status open() { return Status::ok(); }
  /// Called by a thread before it uses the runner; other threads may have used it before.
  virtual Status attach() { return Status::ok(); }
  /// Starts frame `index` of the set. It and earlier ones may still be in flight on return.
  virtual Status start(std::size_t index) = 0;
  /// Returns when everything that was started is done.
  virtual Status finish() { return Status::ok(); }

  /// Of an encoder, after finish(): the stream made last, copied to the host.
  virtual Status stream(std::vector<std::byte>& /*out*/) { return Status(Errc::invalid_argument); }
  /// Of a decoder, after finish(): a frame copied to the host. `place` counts those that were
  /// started since the finish() before; a runner that is not joint has only the last one.
  virtual Status picture(std::size_t /*place*/, const FrameView& /*out*/) {
    return Status(Errc::invalid_argument);
  }
};

}  // namespace zerorun::app::bench
