// The streams of a batch of device frames -> memory of the host.
// SPDX-License-Identifier: MIT
#include "cuda/encode/batch_to_host.hpp"

#include <algorithm>
#include <bit>

namespace zerorun {
namespace {

/// A photo of 3840x2160 at quality 90 has 0.1 byte a pixel. A stream that needs more room is coded
/// again.
std::size_t likely_room(const ConstFrameView& frame) {
  const std::size_t pixels = std::size_t(frame.width) * std::size_t(frame.height);
  return round_up(pixels / 4 * 3 + (std::size_t{64} << 10), PackStreamsArgs::kStep);
}

/// The most rooms of a group: 10 frames of 1920x1080, two launches, or 2 of 3840x2160.
constexpr std::size_t kMostRoom = std::size_t{16} << 20;

/// Groups of a batch, so that the steps overlap: four, unless their rooms are small or large.
std::size_t count_groups(std::size_t batch_room) {
  constexpr std::size_t kLeast = std::size_t{8} << 20;
  return ceil_div(batch_room, std::clamp(batch_room / 4, kLeast, kMostRoom));
}

/// Memory that grows makes all wait for milliseconds, so it takes large steps.
template <typename Buffer>
Status reserve_in_steps(Buffer& buffer, std::size_t bytes) {
  constexpr std::size_t kLeast = std::size_t{1} << 20;
  if (bytes <= kMostRoom) bytes = std::bit_ceil(std::max(bytes, kLeast));
  return buffer.reserve(static_cast<std::int64_t>(bytes));
}

/// Bytes that a thread copies at a time, in about the 20 us that another one takes to wake up.
constexpr std::size_t kPiece = std::size_t{1} << 18;

void cut(const std::uint8_t* from, std::byte* to, std::size_t bytes, std::vector<CopyPiece>& out) {
  for (std::size_t at = 0; at < bytes; at += kPiece) {
    const std::size_t count = std::min(kPiece, bytes - at);
    const auto stride = static_cast<std::ptrdiff_t>(count);
    out.push_back({from + at, stride, reinterpret_cast<std::uint8_t*>(to) + at, stride, count, 1});
  }
}

/// Threads that help the caller: one for each piece behind the first. The streams of a group are
/// fewer bytes than the frames of helpers_of(), and several groups are under way.
int helpers_for(int threads, std::size_t bytes) {
  constexpr std::size_t kMostHelpers = 7;
  const std::size_t most = threads == 0 ? kMostHelpers : static_cast<std::size_t>(threads - 1);
  return static_cast<int>(std::min(most, bytes / kPiece));
}

}  // namespace

Status BatchToHost::run(std::span<const ConstFrameView> frames, const StreamMemory& memory,
                        const Encode& encode, int threads, cudaStream_t stream) {
  ZR_TRY(prepare());
  struct SettleUnlessDone {
    BatchToHost& batch;
    bool done = false;
    ~SettleUnlessDone() {
      if (!done) batch.settle();
    }
  } settled{*this};
  coders_[0].stream = stream;
  coders_[1].stream = second_.get();
  if (frames.size() > 1) {
    ZR_CUDA_TRY(cudaEventRecord(begun_.get(), stream));
    ZR_CUDA_TRY(cudaStreamWaitEvent(second_.get(), begun_.get()));
  }
  const Batch batch{frames, memory, encode, threads};
  std::vector<Item> items;
  items.reserve(frames.size());
  for (std::size_t i = 0; i < frames.size(); ++i) items.push_back({i, likely_room(frames[i])});
  too_large_.clear();
  ZR_TRY(deliver(batch, items));
  items.swap(too_large_);
  too_large_.clear();
  ZR_TRY(deliver(batch, items));
  if (!too_large_.empty())
    return Status(Errc::invalid_frame, "a frame was written to while it was coded");
  settled.done = true;
  return Status::ok();
}

Status BatchToHost::prepare() {
  if (copy_stream_.get() != nullptr) return Status::ok();
  for (Coder& coder : coders_) ZR_TRY(coder.sizes.reserve(kMaxFrames));
  ZR_TRY(begun_.create(cudaEventDisableTiming));
  ZR_TRY(second_.create());
  for (Group& group : groups_) {
    ZR_TRY(group.sizes.reserve(kMaxFrames));
    ZR_TRY(group.coded.create(cudaEventDisableTiming));
    ZR_TRY(group.copied.create(cudaEventDisableTiming));
  }
  copy_threads_ = CopyThreads::shared();
  return copy_stream_.create();  // the last: what fails is prepared again
}

/// While two groups are coded, the one before them crosses the bus, and the one before that is
/// handed over.
Status BatchToHost::deliver(const Batch& batch, std::span<const Item> items) {
  std::size_t all = 0;
  for (const Item& item : items) all += item.room;
  const std::size_t share = all / std::max<std::size_t>(count_groups(all), 1) + 1;
  std::size_t begun = 0, fetched = 0, done = 0, taken = 0;
  while (!items.empty() || done < begun) {
    if (!items.empty()) {
      std::size_t count = 0, room = 0;
      while (count < std::min(items.size(), std::size_t{kMaxFrames}) &&
             (count == 0 || (room + items[count].room <= kMostRoom &&
                             taken + room + items[count].room / 2 <= share * (begun + 1))))
        room += items[count++].room;
      taken += room;
      ZR_TRY(code(batch, begun++, items.first(count)));
      items = items.subspan(count);
    }
    if (!items.empty() && begun - fetched < kCoders) continue;
    const std::size_t next = fetched;
    if (fetched < begun) ZR_TRY(fetch(groups_[fetched++ % kGroups]));
    if (done < next) ZR_TRY(hand_over(batch, groups_[done++ % kGroups]));
  }
  for (Group& group : groups_) finish(group);
  return Status::ok();
}

Status BatchToHost::code(const Batch& batch, std::size_t number, std::span<const Item> items) {
  Group& group = groups_[number % kGroups];
  Coder& coder = coders_[number % kCoders];
  group.items = items;
  PackStreamsArgs args{};
  std::size_t room = 0;
  for (const Item& item : items) {
    args.room[args.streams++] = item.room;
    room += item.room;
  }
  ZR_TRY(reserve_in_steps(coder.rooms, room));
  ZR_TRY(reserve_in_steps(group.packed, room));
  std::vector<DeviceEncodeJob> jobs;
  std::uint8_t* at = coder.rooms.data();
  for (const Item& item : items) {
    static_assert(sizeof(std::size_t) == sizeof(std::uint64_t));
    jobs.push_back({batch.frames[item.frame], reinterpret_cast<std::byte*>(at), item.room,
                    reinterpret_cast<std::size_t*>(coder.sizes.data() + jobs.size())});
    at += item.room;
  }
  ZR_TRY(batch.encode(jobs, number % kCoders, coder.stream));
  args.rooms = coder.rooms.data();
  args.packed = group.packed.data();
  args.sizes = coder.sizes.data();
  args.sizes_on_host = group.sizes.data();
  ZR_TRY(pack_streams(args, coder.stream));
  return ZR_CUDA_STATUS(cudaEventRecord(group.coded.get(), coder.stream));
}

/// Enqueues the copy of all streams of the group to pinned memory.
Status BatchToHost::fetch(Group& group) {
  ZR_TRY(wait_for(group.coded));
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < group.items.size(); ++i) {
    const Item& item = group.items[i];
    const std::uint64_t size = group.sizes.data()[i];
    bytes += PackStreamsArgs::packed_bytes(size, item.room);
    if (size > item.room)
      too_large_.push_back({item.frame, round_up(std::size_t{size}, PackStreamsArgs::kStep)});
  }
  finish(group);
  ZR_TRY(reserve_in_steps(group.streams, bytes));
  if (bytes > 0)
    ZR_CUDA_TRY(cudaMemcpyAsync(group.streams.data(), group.packed.data(), bytes,
                                cudaMemcpyDeviceToHost, copy_stream_.get()));
  return ZR_CUDA_STATUS(cudaEventRecord(group.copied.get(), copy_stream_.get()));
}

/// Asks for memory and begins to copy the streams into it.
Status BatchToHost::hand_over(const Batch& batch, Group& group) {
  std::vector<EncodedStream> streams;
  for (std::size_t i = 0; i < group.items.size(); ++i)
    if (group.sizes.data()[i] <= group.items[i].room)
      streams.push_back({group.items[i].frame, group.sizes.data()[i], nullptr});
  if (streams.empty()) return Status::ok();
  ZR_TRY(batch.memory(streams));
  ZR_TRY(wait_for(group.copied));
  group.pieces.clear();
  const std::uint8_t* from = group.streams.data();
  std::size_t bytes = 0;
  for (const EncodedStream& stream : streams) {
    if (stream.out != nullptr) {
      cut(from, stream.out, stream.bytes, group.pieces);
      bytes += stream.bytes;
    }
    from += round_up(stream.bytes, PackStreamsArgs::kStep);
  }
  const int helpers = helpers_for(batch.threads, bytes);
  group.copy.emplace(copy_threads_.get(), helpers, group.pieces, true);
  group.copy->release(group.pieces.size());
  if (helpers == 0) finish(group);
  return Status::ok();
}

/// Copies pieces until the device has come to the event.
Status BatchToHost::wait_for(const Event& event) {
  for (;;) {
    const cudaError_t state = cudaEventQuery(event.get());
    if (state == cudaSuccess) return Status::ok();
    if (state != cudaErrorNotReady) return cuda_failure(state, "cudaEventQuery");
    (void)cudaGetLastError();  // not ready, which is no failure
    const bool copies = std::ranges::any_of(
        groups_, [](Group& group) { return group.copy && group.copy->copy_one(); });
    if (copies) continue;
    return ZR_CUDA_STATUS(cudaEventSynchronize(event.get()));
  }
}

/// Returns when the streams are in the caller's memory.
void BatchToHost::finish(Group& group) {
  if (!group.copy) return;
  while (group.copy->copy_one()) {
  }
  for (std::size_t i = 0; i < group.pieces.size(); ++i) group.copy->wait_for(i);
  group.copy.reset();
}

/// After an error: nothing touches the memory of the caller or of the groups any more.
void BatchToHost::settle() noexcept {
  for (Group& group : groups_) group.copy.reset();
  for (const Coder& coder : coders_) ignore_failure(cudaStreamSynchronize(coder.stream));
  if (copy_stream_.get() != nullptr) ignore_failure(cudaStreamSynchronize(copy_stream_.get()));
}

}  // namespace zerorun
