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
  // 8 frames of 1920x1080 take 48 us each with it, and 65 with 8 MiB (H200).
  constexpr std::size_t kLeast = std::size_t{4} << 20;
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

Status changed_frame() {
  return Status(Errc::invalid_frame, "a frame was written to while it was coded");
}

}  // namespace

Status BatchToHost::run(std::span<const ConstFrameView> frames, const StreamMemory& memory,
                        const Encode& encode, cudaStream_t stream) {
  ZR_TRY(prepare());
  if (frames.size() == 1) return deliver_one(frames[0], memory, encode, stream);
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
  const Batch batch{frames, memory, encode};
  std::vector<Item> items;
  items.reserve(frames.size());
  for (std::size_t i = 0; i < frames.size(); ++i) items.push_back({i, likely_room(frames[i])});
  too_large_.clear();
  ZR_TRY(deliver(batch, items));
  items.swap(too_large_);
  too_large_.clear();
  ZR_TRY(deliver(batch, items));
  if (!too_large_.empty()) return changed_frame();
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

/// A single stream is not packed; it is copied while it crosses the bus.
Status BatchToHost::deliver_one(const ConstFrameView& frame, const StreamMemory& memory,
                                const Encode& encode, cudaStream_t stream) {
  Coder& coder = coders_[0];
  const volatile std::uint64_t& size = *groups_[0].sizes.data();
  std::size_t room = likely_room(frame);
  for (bool again = false;; again = true) {
    ZR_TRY(reserve_in_steps(coder.rooms, room));
    const DeviceEncodeJob job{frame, reinterpret_cast<std::byte*>(coder.rooms.data()), room,
                              reinterpret_cast<std::size_t*>(groups_[0].sizes.data())};
    const Status status = encode({&job, 1}, 0, stream);
    ZR_CUDA_TRY(cudaStreamSynchronize(stream));  // after an error too
    ZR_TRY(status);
    if (size <= room) break;
    if (again) return changed_frame();
    room = round_up(std::size_t{size}, PackStreamsArgs::kStep);
  }
  EncodedStream one{0, size, nullptr};
  ZR_TRY(memory({&one, 1}));
  if (one.out == nullptr || one.bytes == 0) return Status::ok();
  constexpr std::size_t kRow = std::size_t{1} << 16;
  const std::size_t rows = one.bytes / kRow, rest = one.bytes % kRow;
  std::vector<PlaneCopy> parts;
  const auto add = [&](std::size_t at, std::size_t row_bytes, std::size_t count) {
    if (row_bytes * count != 0)
      parts.push_back({coder.rooms.data() + at, row_bytes,
                       reinterpret_cast<std::uint8_t*>(one.out) + at,
                       static_cast<std::ptrdiff_t>(row_bytes), row_bytes, count});
  };
  add(0, kRow, rows);
  add(rows * kRow, rest, 1);
  return download_.run(parts, stream);
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
  const int helpers = helpers_for(threads_, bytes, kPiece);
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
