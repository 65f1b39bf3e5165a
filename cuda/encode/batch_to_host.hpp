// The streams of a batch of device frames -> host memory that the caller gives when the size of a
// stream is known. Groups of frames are coded, copied to pinned memory, and copied to the caller's
// memory, all at the same time.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cuda/base/transfers.hpp"
#include "cuda/encode/copies.hpp"
#include "zerorun/cuda.hpp"

namespace zerorun {

/// Keeps its memory between batches: 6 times the rooms of a group on the device, and 4 times the
/// streams of a group in pinned memory. A frame has a room of 3/4 byte a pixel and 64 KiB, and a
/// group rooms of about 16 MiB at most, or a single frame.
class BatchToHost {
 public:
  /// `threads` as EncodeParams::threads.
  explicit BatchToHost(int threads) : threads_(threads), download_(threads) {}

  /// Encoders that take turns, each on a stream of its own, so that the last CTAs of one group run
  /// beside the first of the next.
  static constexpr std::size_t kCoders = 2;
  /// Enqueues the coding of frames by one of them, as DeviceEncoder::encode_batch().
  using Encode =
      std::function<Status(std::span<const DeviceEncodeJob>, std::size_t coder, cudaStream_t)>;

  /// DeviceEncoder::encode_to_host().
  Status run(std::span<const ConstFrameView> frames, const StreamMemory& memory,
             const Encode& encode, cudaStream_t stream);

 private:
  struct Item {
    std::size_t frame, room;
  };
  struct Batch {
    std::span<const ConstFrameView> frames;
    const StreamMemory& memory;
    const Encode& encode;
  };
  /// What the groups of an encoder use one behind the other.
  struct Coder {
    cudaStream_t stream;
    DeviceBuffer<std::uint8_t> rooms;
    DeviceBuffer<std::uint64_t> sizes;
  };
  struct Group {
    std::span<const Item> items;
    DeviceBuffer<std::uint8_t> packed;
    PinnedBuffer<std::uint8_t> streams;
    PinnedBuffer<std::uint64_t> sizes;
    Event coded, copied;
    std::vector<CopyPiece> pieces;
    std::optional<SharedCopy> copy;  ///< from `streams` to the caller's memory, under way
  };

  Status prepare();
  Status deliver_one(const ConstFrameView& frame, const StreamMemory& memory, const Encode& encode,
                     cudaStream_t stream);
  Status deliver(const Batch& batch, std::span<const Item> items);
  Status code(const Batch& batch, std::size_t number, std::span<const Item> items);
  Status fetch(Group& group);
  Status hand_over(const Batch& batch, Group& group);
  Status wait_for(const Event& event);
  static void finish(Group& group);
  void settle() noexcept;

  /// While each encoder has one, one crosses the bus, and one is copied by the CPU.
  static constexpr std::size_t kGroups = kCoders + 2;
  const int threads_;
  std::array<Group, kGroups> groups_;
  std::array<Coder, kCoders> coders_;
  Event begun_;  ///< behind what the caller's stream has to do before the batch
  Stream second_, copy_stream_;
  std::shared_ptr<CopyThreads> copy_threads_;
  FrameDownload download_;       ///< of a single stream
  std::vector<Item> too_large_;  ///< for their rooms, with the sizes that they have
};

}  // namespace zerorun
