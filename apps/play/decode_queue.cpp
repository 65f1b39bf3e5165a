// What the threads of DecodeAhead share.
// SPDX-License-Identifier: MIT
#include "apps/play/decode_queue.hpp"

#include <algorithm>
#include <utility>

namespace zerorun::app {
namespace {

/// Enough for a second of anything that plays at all, and little beside the pictures.
constexpr std::size_t kMaxQueued = 128;
constexpr std::int64_t kMaxQueuedBytes = std::int64_t{64} << 20;

/// Of decoded pictures. Eight-thousand-line video still has room for a few.
constexpr std::int64_t kPictureBytes = std::int64_t{512} << 20;

/// However late everything is, a frame is shown this often.
constexpr std::chrono::milliseconds kLongestStill{400};

int frames_that_fit(const PlayInput& input, int workers) {
  const std::int64_t pixels = std::int64_t{input.width()} * input.height();
  const std::int64_t each = std::max<std::int64_t>(pixels * 4, 1);
  return static_cast<int>(std::clamp<std::int64_t>(kPictureBytes / each, 3, 2 * workers + 4));
}

}  // namespace

DecodeAhead::State::State(std::shared_ptr<PlayInput> in, const Decoding& how,
                          const MediaClock* when)
    : input(std::move(in)),
      clock(when),
      max_frames(frames_that_fit(*input, worker_count(how.device, Backend::cpu))),
      decoding(how) {}

bool DecodeAhead::State::may_decode_more() const noexcept { return held_frames < max_frames; }

bool DecodeAhead::State::may_read_more() const noexcept {
  if (!input->has_packets()) return may_decode_more();  // reading decodes
  return queue.size() < kMaxQueued && queued_bytes < kMaxQueuedBytes;
}

DecodeAhead::State::SlotPtr DecodeAhead::State::next_to_decode() {
  for (const SlotPtr& slot : queue)
    if (slot->step == DecodeSlot::Step::waiting) return slot;
  return nullptr;
}

bool DecodeAhead::State::is_too_late(const DecodeSlot& slot) const {
  if (clock == nullptr || slot.is_first) return false;
  const PlayFrame& frame = *slot.frame;
  if (!clock->is_too_late(frame.at + frame.duration, counts.recent_ms * 1e-3)) return false;
  return working > 0 || Clock::now() - last_done < kLongestStill;
}

void DecodeAhead::State::pass_dropped() {
  bool passed = false;
  while (!queue.empty() && queue.front()->step == DecodeSlot::Step::dropped) {
    recycle(std::move(queue.front()->frame));
    queue.pop_front();
    passed = true;
  }
  if (passed) changed.notify_all();
}

std::unique_ptr<PlayFrame> DecodeAhead::State::spare_frame() {
  if (spare.empty()) return std::make_unique<PlayFrame>();
  std::unique_ptr<PlayFrame> frame = std::move(spare.back());
  spare.pop_back();
  return frame;
}

void DecodeAhead::State::lend_picture(PlayFrame& frame) {
  if (spare_pictures.empty()) return;
  frame.frame = std::move(spare_pictures.back());
  spare_pictures.pop_back();
}

void DecodeAhead::State::recycle(std::unique_ptr<PlayFrame> frame) {
  if (!frame) return;
  if (frame->frame.width() > 0 && spare_pictures.size() < static_cast<std::size_t>(max_frames))
    spare_pictures.push_back(std::move(frame->frame));
  frame->frame = Frame();
  if (spare.size() < kMaxQueued) spare.push_back(std::move(frame));
}

void DecodeAhead::State::count(const PlayFrame& frame) {
  last_done = Clock::now();
  if (!frame.problem) {
    ++counts.broken;
    return;
  }
  ++counts.decoded;
  if (frame.report.is_concealed()) ++counts.concealed;
  if (frame.report.staged_scans > 0) ++counts.staged;
  counts.bytes += static_cast<std::int64_t>(frame.jpeg.size());
  if (!input->has_packets()) return;
  counts.total_ms += frame.decode_ms;
  counts.max_ms = std::max(counts.max_ms, frame.decode_ms);
  constexpr double kWeight = 0.1;  // of the last frame among those of late
  counts.recent_ms = counts.recent_ms == 0
                         ? frame.decode_ms
                         : counts.recent_ms + kWeight * (frame.decode_ms - counts.recent_ms);
}

}  // namespace zerorun::app
