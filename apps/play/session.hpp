// The inputs of the player and their decoders.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "apps/common/failure.hpp"
#include "apps/play/decode_ahead.hpp"
#include "apps/play/play_options.hpp"
#include "apps/play/play_report.hpp"

namespace zerorun::app {

/// Opens the inputs of the command line. `other` is null without --compare.
struct PlaySession {
  explicit PlaySession(const PlayOptions& options);

  /// Starts the decoders; see DecodeAhead for the clock.
  void start(const MediaClock* clock);
  void stop() {
    frames.reset();
    other_frames.reset();
  }
  /// Frames that no thread has begun to decode are decoded there.
  void set_backend(Backend backend, int device);
  /// Fills in the facts on inputs and decoders.
  void describe(PlayReport& report) const;

  std::shared_ptr<PlayInput> input, other;
  std::unique_ptr<DecodeAhead> frames, other_frames;
  DecodeAhead::Decoding decoding;

 private:
  void go_to_start(PlayInput& which) const;

  double start_seconds_;
};

/// --no-window: decodes all frames and drops none. With --compare it measures the PSNR of each
/// pair.
Exit play_headless(const PlayOptions& options, PlaySession& session);
Exit play_in_window(const PlayOptions& options);

}  // namespace zerorun::app
