// Sinks that hand what they get to a shard.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "apps/shards/shard_run.hpp"
#include "zerorun/sink.hpp"

namespace zerorun::app {

/// JPEG streams, one after another in the shard's data.
std::unique_ptr<io::PacketSink> make_shard_packets(ShardRun& run);
/// Frames of one size as samples in `format`.
std::unique_ptr<io::FrameSink> make_shard_frames(ShardRun& run, PixelFormat format, int width,
                                                 int height);

/// Numbered pictures. `real` writes them, with the numbers that the whole output has: the k-th
/// frame after `done` others is picture first + step * (done + k).
struct PictureNumbers {
  std::int64_t first = 0, step = 1, done = 0;
};
std::unique_ptr<io::PacketSink> make_shard_pictures(ShardRun& run, const PictureNumbers& numbers,
                                                    std::unique_ptr<io::PacketSink> real);
std::unique_ptr<io::FrameSink> make_shard_pictures(ShardRun& run, const PictureNumbers& numbers,
                                                   std::unique_ptr<io::FrameSink> real);

}  // namespace zerorun::app
