// The reader, the decoders, and what the player sees of them.
// SPDX-License-Identifier: MIT
#include "apps/play/decode_ahead.hpp"

#include <algorithm>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "apps/common/signals.hpp"
#include "apps/common/timing.hpp"
#include "apps/play/decode_queue.hpp"
#include "codec/base/try.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun::app {
namespace {

/// A source that gives nothing but errors has ended.
constexpr int kMaxFailuresInARow = 100;

/// Turns an exhausted heap into a status.
template <typename R, typename Call>
R guarded(Call&& call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return Status(Errc::out_of_memory);
  }
}

bool ends_reading(const Status& status) noexcept {
  return status.code() == Errc::read_failed || status.code() == Errc::out_of_memory;
}

/// What one decoder thread keeps from frame to frame.
class Worker {
 public:
  Status decode(PlayFrame& frame, const DecodeAhead::Decoding& how, int generation, bool is_alone) {
    if (!decoder_ || generation != generation_) {
      decoder_.reset();
      DecodeParams params;
      params.backend = how.backend;
      params.limits = how.limits;
      params.device = how.device.index;
      params.threads = is_alone ? how.device.threads : 1;
      auto made = Decoder::create(params);
      if (!made) return made.status();
      decoder_ = *std::move(made);
      generation_ = generation;
    }
    const Stopwatch watch;
    const auto stream = inspect(frame.jpeg, how.limits);
    if (!stream) return stream.status();
    auto report = decoder_->decode(frame.jpeg, wanted_format(stored_format(*stream), how.pixels),
                                   frame.frame);
    frame.decode_ms = watch.seconds() * 1e3;
    if (!report) return report.status();
    frame.report = *std::move(report);
    return Status::ok();
  }

 private:
  std::optional<Decoder> decoder_;
  int generation_ = -1;
};

}  // namespace

struct DecodeAhead::Threads {
  std::thread reader;
  std::vector<std::thread> workers;
};

DecodeAhead::DecodeAhead(std::shared_ptr<PlayInput> input, const Decoding& decoding,
                         const MediaClock* clock)
    : state_(std::make_shared<State>(std::move(input), decoding, clock)),
      threads_(std::make_unique<Threads>()) {
  const bool is_single = state_->input->info().frame_count == 1;
  const int workers = is_single ? 1 : worker_count(decoding.device, Backend::cpu);
  threads_->reader = std::thread(read_all, state_);
  if (!state_->input->has_packets()) return;
  try {
    for (int i = 0; i < workers; ++i) threads_->workers.emplace_back(work_all, state_, i);
  } catch (const std::system_error&) {
    if (!threads_->workers.empty()) return;  // fewer threads do the same work
    stop();
    throw;
  }
}

DecodeAhead::~DecodeAhead() { stop(); }

void DecodeAhead::stop() {
  State& s = *state_;
  std::unique_lock lock(s.mutex);
  s.stopping = true;
  s.changed.notify_all();
  lock.unlock();
  for (std::thread& worker : threads_->workers) worker.join();
  lock.lock();
  // A read from a file returns soon; one from a pipe that nobody fills may never.
  const bool is_back =
      s.changed.wait_for(lock, std::chrono::milliseconds(300), [&s] { return s.reader_done; });
  lock.unlock();
  if (is_back) {
    threads_->reader.join();
  } else {
    threads_->reader.detach();
    signals::set_thread_left_behind();
  }
}

void DecodeAhead::read_all(std::shared_ptr<State> state) {
  State& s = *state;
  std::unique_lock lock(s.mutex);
  for (;;) {
    s.changed.wait(lock,
                   [&s] { return s.stopping || s.seek_to || (!s.ended && s.may_read_more()); });
    if (s.stopping) break;
    const std::optional<std::int64_t> target = std::exchange(s.seek_to, std::nullopt);
    auto slot = std::make_shared<DecodeSlot>();
    slot->frame = s.spare_frame();
    if (!s.input->has_packets()) s.lend_picture(*slot->frame);
    s.reading = true;
    lock.unlock();
    Result<bool> more = guarded<Result<bool>>([&]() -> Result<bool> {
      if (target) ZR_TRY(s.input->seek(*target));
      return s.input->read(*slot->frame);
    });
    lock.lock();
    s.reading = false;
    if (s.stopping) break;
    if (s.seek_to) continue;  // a newer one came meanwhile
    if (!more) {
      const bool is_last =
          ends_reading(more.status()) || ++s.failures_in_a_row >= kMaxFailuresInARow;
      slot->frame->problem = more.status();
      if (is_last) s.read_problem = more.status();
      s.ended = is_last;
    } else {
      s.failures_in_a_row = 0;
      s.ended = !*more;
    }
    const bool is_frame = !more || *more;
    if (is_frame) {
      slot->is_first = std::exchange(s.next_is_first, false);
      const bool is_ready = !more || !s.input->has_packets();
      slot->step = is_ready ? DecodeSlot::Step::done : DecodeSlot::Step::waiting;
      if (is_ready) {
        ++s.held_frames;
        s.count(*slot->frame);
      }
      s.queued_bytes += static_cast<std::int64_t>(slot->frame->jpeg.size());
      s.queue.push_back(std::move(slot));
    }
    s.changed.notify_all();
  }
  s.reader_done = true;
  s.changed.notify_all();
}

void DecodeAhead::work_all(std::shared_ptr<State> state, int worker) {
  State& s = *state;
  Worker own;
  std::unique_lock lock(s.mutex);
  for (;;) {
    State::SlotPtr slot;
    s.changed.wait(lock, [&] {
      if (s.stopping) return true;
      const bool is_asked = worker < worker_count(s.decoding.device, s.decoding.backend);
      slot = is_asked && s.may_decode_more() ? s.next_to_decode() : nullptr;
      return slot != nullptr;
    });
    if (s.stopping) return;
    if (s.is_too_late(*slot)) {
      slot->step = DecodeSlot::Step::dropped;
      ++s.counts.dropped;
      s.queued_bytes -= static_cast<std::int64_t>(slot->frame->jpeg.size());
      s.changed.notify_all();
      continue;
    }
    slot->step = DecodeSlot::Step::working;
    ++s.held_frames;
    ++s.working;
    s.lend_picture(*slot->frame);
    const Decoding how = s.decoding;
    const int generation = s.generation;
    const bool is_alone = s.input->info().frame_count == 1;
    lock.unlock();
    Status status =
        guarded<Status>([&] { return own.decode(*slot->frame, how, generation, is_alone); });
    lock.lock();
    slot->frame->problem = std::move(status);
    slot->step = DecodeSlot::Step::done;
    --s.working;
    s.count(*slot->frame);
    s.changed.notify_all();
  }
}

void DecodeAhead::seek(std::int64_t pts) {
  State& s = *state_;
  const std::lock_guard lock(s.mutex);
  // A frame that is being decoded goes with its decoder's hold on it.
  for (State::SlotPtr& slot : s.queue)
    if (slot->step != DecodeSlot::Step::working) s.recycle(std::move(slot->frame));
  s.queue.clear();
  s.queued_bytes = 0;
  s.held_frames = 0;
  s.seek_to = pts;
  s.next_is_first = true;
  s.failures_in_a_row = 0;
  s.ended = false;
  s.read_problem = Status::ok();
  s.changed.notify_all();
}

void DecodeAhead::set_decoding(const Decoding& decoding) {
  State& s = *state_;
  const std::lock_guard lock(s.mutex);
  s.decoding = decoding;
  s.counts.recent_ms = 0;
  ++s.generation;
  s.changed.notify_all();
}

const PlayFrame* DecodeAhead::peek() {
  const std::lock_guard lock(state_->mutex);
  state_->pass_dropped();
  const auto& queue = state_->queue;
  const bool is_done = !queue.empty() && queue.front()->step == DecodeSlot::Step::done;
  return is_done ? queue.front()->frame.get() : nullptr;
}

double DecodeAhead::next_time() {
  const std::lock_guard lock(state_->mutex);
  state_->pass_dropped();
  return state_->queue.empty() ? -1.0 : state_->queue.front()->frame->at;
}

std::unique_ptr<PlayFrame> DecodeAhead::take() {
  State& s = *state_;
  const std::lock_guard lock(s.mutex);
  std::unique_ptr<PlayFrame> frame = std::move(s.queue.front()->frame);
  s.queue.pop_front();
  --s.held_frames;
  s.queued_bytes -= static_cast<std::int64_t>(frame->jpeg.size());
  s.changed.notify_all();
  return frame;
}

void DecodeAhead::recycle(std::unique_ptr<PlayFrame> frame) {
  const std::lock_guard lock(state_->mutex);
  state_->recycle(std::move(frame));
}

void DecodeAhead::wait(double seconds) {
  State& s = *state_;
  std::unique_lock lock(s.mutex);
  s.changed.wait_for(lock, std::chrono::duration<double>(seconds), [&s] {
    s.pass_dropped();
    if (s.queue.empty()) return s.ended && !s.seek_to && !s.reading;
    return s.queue.front()->step == DecodeSlot::Step::done;
  });
}

bool DecodeAhead::is_over() {
  const std::lock_guard lock(state_->mutex);
  state_->pass_dropped();
  return state_->ended && !state_->seek_to && state_->queue.empty();
}

bool DecodeAhead::is_starved() {
  const std::lock_guard lock(state_->mutex);
  state_->pass_dropped();
  return state_->queue.empty() && !state_->ended;
}

int DecodeAhead::waiting() {
  const std::lock_guard lock(state_->mutex);
  return std::max(state_->held_frames - state_->working, 0);
}

DecodeCounts DecodeAhead::counts() {
  const std::lock_guard lock(state_->mutex);
  return state_->counts;
}

Status DecodeAhead::read_problem() {
  const std::lock_guard lock(state_->mutex);
  return state_->read_problem;
}

}  // namespace zerorun::app
