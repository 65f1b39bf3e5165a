// Frames in flight: a ring of slots between submit() and receive(), and lanes that encode them.
// SPDX-License-Identifier: MIT
#include "zerorun/async_encoder.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <new>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "codec/core/encode_setup.hpp"

namespace zerorun {
namespace {

/// One uploads, one is encoded, one downloads, and one more hides the host's part between them. As
/// many Encoders in threads of their own, 4K q90 from pinned memory on an H200, us a frame: 333
/// with 1, 236 with 3, 238 with 4, 240 with 8; the upload alone takes 228.
constexpr int kCudaLanes = 4;
constexpr int kMaxLanes = 256;
constexpr int kMaxDepth = 4096;

struct Slot {
  enum class State : std::uint8_t { free, queued, running, finished };
  State state = State::free;
  ConstFrameView view;
  int quality = 0;
  EncodedFrame result;
};

}  // namespace

/// Frame n is in slot n modulo depth; received_ <= begun_ <= submitted_.
struct AsyncEncoder::Impl {
  AsyncEncodeParams params;
  std::vector<Encoder> encoders;  // one a lane
  std::vector<std::thread> threads;

  mutable std::mutex mutex;
  std::condition_variable work;      // for lanes: a frame was queued, or stopping
  std::condition_variable finished;  // for receivers: a frame was finished, or the end is there
  std::condition_variable space;     // for submitters: a frame was received
  std::vector<Slot> slots;
  std::int64_t submitted = 0;
  std::int64_t begun = 0;
  std::int64_t received = 0;
  int quality = 0;
  bool ended = false;
  bool stopping = false;

  ~Impl() {
    {
      const std::lock_guard lock(mutex);
      stopping = true;
    }
    work.notify_all();
    for (std::thread& thread : threads) thread.join();
  }

  Slot& slot(std::int64_t number) {
    return slots[static_cast<std::size_t>(number % static_cast<std::int64_t>(slots.size()))];
  }
  bool full() const { return submitted - received == static_cast<std::int64_t>(slots.size()); }

  Status start(const EncodeParams& encode, int lanes);
  void run_lane(Encoder& encoder);
  void encode(Encoder& encoder, Slot& slot) const;

  /// The slot for the next frame, with `lock` held; null after an error.
  Slot* claim(const SubmitOptions& options, std::unique_lock<std::mutex>& lock, Status& status);
  void queue(Slot& slot, const SubmitOptions& options);
};

Status AsyncEncoder::Impl::start(const EncodeParams& encode, int lanes) {
  encoders.reserve(static_cast<std::size_t>(lanes));
  for (int lane = 0; lane < lanes; ++lane) {
    auto encoder = Encoder::create(encode);
    if (!encoder) return encoder.status();
    encoders.push_back(*std::move(encoder));
  }
  threads.reserve(encoders.size());
  try {
    for (Encoder& encoder : encoders) threads.emplace_back([this, &encoder] { run_lane(encoder); });
  } catch (const std::system_error& error) {
    // Fewer lanes than asked for do the same work.
    if (threads.empty())
      return Status(Errc::out_of_memory, std::string("threads: ") + error.what());
  }
  return Status::ok();
}

void AsyncEncoder::Impl::run_lane(Encoder& encoder) {
  std::unique_lock lock(mutex);
  for (;;) {
    work.wait(lock, [this] { return stopping || begun < submitted; });
    if (stopping) return;
    Slot& mine = slot(begun++);
    mine.state = Slot::State::running;
    lock.unlock();
    encode(encoder, mine);
    lock.lock();
    mine.state = Slot::State::finished;
    finished.notify_all();
  }
}

void AsyncEncoder::Impl::encode(Encoder& encoder, Slot& slot) const {
  EncodedFrame& result = slot.result;
  result.status = encoder.set_quality(slot.quality);
  if (!result.status) return;
  const HostMemory memory = preferred_memory(encoder.backend());
  if (result.jpeg.memory() != memory) result.jpeg = HostBuffer(memory);
  auto report = encoder.encode(slot.view, result.jpeg);
  result.status = report.status();
  if (report) result.report = *report;
}

Slot* AsyncEncoder::Impl::claim(const SubmitOptions& options, std::unique_lock<std::mutex>& lock,
                                Status& status) {
  if (options.quality) {
    status = validate_quality(*options.quality);
    if (!status) return nullptr;
  }
  if (options.wait) space.wait(lock, [this] { return ended || !full(); });
  if (ended) {
    status = Status(Errc::already_finished);
  } else if (full()) {
    status = Status(Errc::queue_full, std::to_string(slots.size()) + " frames are in flight");
  } else {
    return &slot(submitted);
  }
  return nullptr;
}

void AsyncEncoder::Impl::queue(Slot& slot, const SubmitOptions& options) {
  slot.state = Slot::State::queued;
  slot.quality = options.quality.value_or(quality);
  slot.result.number = submitted;
  slot.result.tag = options.tag;
  ++submitted;
  work.notify_one();
}

Result<AsyncEncoder> AsyncEncoder::create(const AsyncEncodeParams& params) try {
  if (params.lanes < 0 || params.lanes > kMaxLanes)
    return Status(Errc::invalid_argument, "lanes " + std::to_string(params.lanes) +
                                              " is not in 0.." + std::to_string(kMaxLanes));
  if (params.depth < 0 || params.depth > kMaxDepth)
    return Status(Errc::invalid_argument, "depth " + std::to_string(params.depth) +
                                              " is not in 0.." + std::to_string(kMaxDepth));
  EncodeParams encode = params.encode;
  if (encode.threads == 0) encode.threads = 1;
  const auto backend = resolve_backend(encode.backend, encode.device);
  if (!backend) return backend.status();
  encode.backend = *backend;
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const int automatic = *backend == Backend::cuda ? kCudaLanes : std::min(cores, kMaxLanes);
  const int lanes = params.lanes > 0 ? params.lanes : automatic;
  auto impl = std::make_unique<Impl>();
  impl->params = params;
  impl->quality = encode.quality;
  impl->slots.resize(static_cast<std::size_t>(params.depth > 0 ? params.depth : 2 * lanes));
  if (Status status = impl->start(encode, lanes); !status) return status;
  return AsyncEncoder(std::move(impl));
} catch (const std::bad_alloc&) {
  return Status(Errc::out_of_memory);
}

Status AsyncEncoder::submit(const ConstFrameView& frame, const SubmitOptions& options) try {
  std::unique_lock lock(impl_->mutex);
  Status status;
  Slot* const slot = impl_->claim(options, lock, status);
  if (slot == nullptr) return status;
  slot->view = frame;
  impl_->queue(*slot, options);
  return status;
} catch (const std::bad_alloc&) {
  return Status(Errc::out_of_memory);
}

Status AsyncEncoder::submit(Frame&& frame, const SubmitOptions& options) try {
  std::unique_lock lock(impl_->mutex);
  Status status;
  Slot* const slot = impl_->claim(options, lock, status);
  if (slot == nullptr) return status;
  slot->result.frame = std::move(frame);
  slot->view = std::as_const(slot->result.frame).view();
  impl_->queue(*slot, options);
  return status;
} catch (const std::bad_alloc&) {
  return Status(Errc::out_of_memory);
}

Received AsyncEncoder::receive(EncodedFrame& out, bool wait) {
  Impl& impl = *impl_;
  Frame left;  // outlives the lock: releasing pinned memory takes long
  std::unique_lock lock(impl.mutex);
  const auto ready = [&impl] {
    return impl.received < impl.submitted ? impl.slot(impl.received).state == Slot::State::finished
                                          : impl.ended;
  };
  if (wait) impl.finished.wait(lock, ready);
  if (!ready()) return Received::not_yet;
  if (impl.received == impl.submitted) return Received::end;
  Slot& slot = impl.slot(impl.received++);
  left = std::move(out.frame);
  out.frame = Frame();
  std::swap(out, slot.result);
  slot.state = Slot::State::free;
  impl.space.notify_one();
  impl.finished.notify_all();  // other receivers wait for other frames, or for the end
  return Received::frame;
}

void AsyncEncoder::finish() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->ended = true;
  }
  impl_->space.notify_all();
  impl_->finished.notify_all();
}

void AsyncEncoder::discard() {
  Impl& impl = *impl_;
  std::unique_lock lock(impl.mutex);
  impl.begun = impl.submitted;  // no lane begins another of these
  const std::int64_t last = impl.submitted;
  impl.finished.wait(lock, [&impl, last] {
    for (std::int64_t n = impl.received; n < last; ++n)
      if (impl.slot(n).state == Slot::State::running) return false;
    return true;
  });
  for (std::int64_t n = impl.received; n < last; ++n) {
    impl.slot(n).state = Slot::State::free;
    impl.slot(n).result.frame = Frame();
  }
  impl.received = std::max(impl.received, last);
  impl.ended = false;
  impl.space.notify_all();
}

Status AsyncEncoder::set_quality(int quality) try {
  if (Status status = validate_quality(quality); !status) return status;
  const std::lock_guard lock(impl_->mutex);
  impl_->quality = quality;
  return Status::ok();
} catch (const std::bad_alloc&) {
  return Status(Errc::out_of_memory);
}

int AsyncEncoder::in_flight() const noexcept {
  const std::lock_guard lock(impl_->mutex);
  return static_cast<int>(impl_->submitted - impl_->received);
}

int AsyncEncoder::depth() const noexcept { return static_cast<int>(impl_->slots.size()); }
int AsyncEncoder::lanes() const noexcept { return static_cast<int>(impl_->threads.size()); }
Backend AsyncEncoder::backend() const noexcept { return impl_->encoders.front().backend(); }
const AsyncEncodeParams& AsyncEncoder::params() const noexcept { return impl_->params; }

AsyncEncoder::AsyncEncoder(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
AsyncEncoder::AsyncEncoder(AsyncEncoder&&) noexcept = default;
AsyncEncoder& AsyncEncoder::operator=(AsyncEncoder&&) noexcept = default;
AsyncEncoder::~AsyncEncoder() = default;

}  // namespace zerorun
