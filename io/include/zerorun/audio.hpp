// The sound of a file as samples, for a player.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "zerorun/status.hpp"

namespace zerorun::io {

/// What read() gives, whatever the file holds. 1 to 8 channels, 1000 to 384000 samples a second.
struct AudioFormat {
  int sample_rate = 48000;
  int channels = 2;
};

/// The first sound track of a file. One thread at a time calls members.
class ZERORUN_API AudioSource {
 public:
  virtual ~AudioSource() = default;
  /// Fills `samples`: floats in [-1, 1], interleaved by channel. Returns how many of them were
  /// filled, always whole frames of all channels; 0 is the end. Gaps in time are silence; damaged
  /// packets are left out. Errors: read_failed, out_of_memory.
  virtual Result<std::size_t> read(std::span<float> samples) = 0;
  /// The next read() begins at this time after the start of the container, from which
  /// SourceInfo::first_pts is counted, too. Errors: read_failed.
  virtual Status seek(double seconds) = 0;
};

/// Errors: not_built (no FFmpeg), open_failed, bad_input (no sound, or of an unknown kind).
ZERORUN_API Result<std::unique_ptr<AudioSource>> open_audio(const std::string& path,
                                                            const AudioFormat& format);

}  // namespace zerorun::io
