// What the player draws, and when.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include "apps/play/compare.hpp"
#include "apps/play/keys.hpp"
#include "apps/play/player.hpp"
#include "codec/base/luma_ssim.hpp"

namespace zerorun::app {
namespace {

/// How long a message stays on the picture, the interval of updating numbers while playing, and of
/// measuring the similarity of a pair, which takes about as long as decoding it.
constexpr double kMessageSeconds = 2.5, kOsdSeconds = 0.1, kSsimSeconds = 0.5;

std::string help_text() {
  std::string text;
  for (const KeyHelp& key : key_help()) text += fmt::format("{:<14}{}\n", key.keys, key.text);
  text.pop_back();
  return text;
}

}  // namespace

/// Frames that were shown for the first time, for the graph.
void Player::take_new_picture() {
  if (playback_.shown_count() == graphed_frame_ || playback_.shown() == nullptr) return;
  graphed_frame_ = playback_.shown_count();
  graph_.add(playback_.shown()->decode_ms, since_picture_ ? since_picture_->seconds() * 1e3 : 0);
  since_picture_.reset();
  if (!is_still()) since_picture_.emplace();
}

/// Measures the PSNR of each pair once.
void Player::measure() {
  if (!session_.other || !playback_.is_pair()) {
    error_.reset();
    return;
  }
  if (playback_.shown_count() == compared_frame_) return;
  compared_frame_ = playback_.shown_count();
  error_ = compare_error(playback_.shown()->frame.view(), playback_.other_shown()->frame.view());
  if (error_) report_.add_error(*error_, playback_.shown()->frame.format());
}

void Player::measure_ssim() {
  if (!error_) {
    ssim_.reset();
    return;
  }
  const bool is_due = is_still() || !ssim_ || since_ssim_.seconds() > kSsimSeconds;
  if (ssim_frame_ == compared_frame_ || !is_due) return;
  ssim_frame_ = compared_frame_;
  since_ssim_ = Stopwatch();
  ssim_ = luma_ssim(playback_.shown()->frame.view(), playback_.other_shown()->frame.view());
  report_.add_ssim(*ssim_);
}

/// Texts that change although the picture does not.
void Player::update_overlay() {
  if (std::string told = playback_.take_message(); !told.empty()) say(std::move(told));
  if (!message_.empty() && since_message_.seconds() > kMessageSeconds) {
    message_.clear();
    needs_draw_ = true;
  }
  if (with_osd_ && since_osd_.seconds() > 5 * kOsdSeconds) needs_draw_ = true;
  if (shows_bar() != drew_bar_) needs_draw_ = true;
}

std::string Player::metrics_text() const {
  if (!session_.other) return {};
  if (!error_) return "no pair";
  std::string text = psnr_text(*error_, playback_.shown()->frame.format());
  if (ssim_) text += fmt::format("  SSIM {:.5f}", *ssim_);
  return text;
}

std::string Player::bottom_text() {
  if (!message_.empty() || !screen_.zoom().is_zoomed()) return message_;
  return screen_.probe(playback_);
}

void Player::draw() {
  if (with_osd_ && (osd_text_.empty() || is_still() || since_osd_.seconds() > kOsdSeconds)) {
    osd_text_ = osd_.text(session_, playback_, error_);
    since_osd_ = Stopwatch();
  }
  measure_ssim();
  OverlayContent content;
  if (with_osd_ && !with_help_) content.osd = osd_text_;  // there is room for only one
  if (with_help_) content.help = help_text();
  content.message = bottom_text();
  content.metrics = metrics_text();
  if (with_graph_ && !with_help_) content.graph = &graph_;
  drew_bar_ = shows_bar();
  if (drew_bar_)
    content.bar = {drag_target_.value_or(playback_.position()), session_.input->duration_seconds(),
                   playback_.decoded_until(), playback_.a(), playback_.b()};
  screen_.draw(std::move(content));
  needs_draw_ = false;
}

}  // namespace zerorun::app
