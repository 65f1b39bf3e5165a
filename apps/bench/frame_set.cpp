// Frames from files or from the generator, padded to whole MCUs.
// SPDX-License-Identifier: MIT
#include "apps/bench/frame_set.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "apps/bench/synthetic.hpp"
#include "apps/common/console.hpp"
#include "apps/common/failure.hpp"

namespace zerorun::app::bench {
namespace {

/// The largest MCU is 32 x 8 (4:1:1) or 16 x 16.
constexpr int kPadWidth = 32, kPadHeight = 16;

int round_up(int value, int step) { return (value + step - 1) / step * step; }

FrameSet read_frames(const std::string& input, PixelFormat format, std::size_t count) {
  io::SourceOptions options;
  options.pixel_format = format;
  auto source = value_or_fail(io::open_frames({input, "", {}}, options), Exit::input, input);
  FrameSet set{input, {}};
  Frame frame;
  io::FrameTime time;
  int others = 0;
  while (set.size() < count && value_or_fail(source->read(frame, time), Exit::input, input)) {
    if (set.size() > 0 &&
        (frame.width() != set.view(0).width || frame.height() != set.view(0).height)) {
      ++others;
      continue;
    }
    set.frames.push_back(
        value_or_fail(PaddedFrame::copy_of(std::as_const(frame).view()), Exit::input, input));
  }
  if (others > 0)
    console::note(fmt::format("{}: {} frame{} of another size than the first and left out", input,
                              others, others == 1 ? " is" : "s are"));
  if (set.frames.empty()) fail(Exit::input, input + ": there are no frames");
  return set;
}

}  // namespace

Result<PaddedFrame> PaddedFrame::create(PixelFormat format, int width, int height) {
  const int padded_width = round_up(width, kPadWidth), padded_height = round_up(height, kPadHeight);
  if (std::max(padded_width, padded_height) > kMaxDimension)
    return Status(Errc::invalid_frame, "the benchmark takes frames up to 65504x65520");
  auto memory = Frame::create(format, padded_width, padded_height);
  if (!memory) return memory.status();
  PaddedFrame padded;
  padded.memory_ = *std::move(memory);
  padded.view_ = padded.memory_.view();
  padded.view_.width = width;
  padded.view_.height = height;
  return padded;
}

Result<PaddedFrame> PaddedFrame::copy_of(const ConstFrameView& frame) {
  auto padded = create(frame.format, frame.width, frame.height);
  if (!padded) return padded;
  copy_samples(frame, padded->view_);
  padded->repeat_edges();
  return padded;
}

void PaddedFrame::repeat_edges() noexcept {
  for (int p = 0; p < plane_count(view_.format); ++p) {
    const auto plane = static_cast<std::size_t>(p);
    const std::size_t row = plane_row_bytes(view_.format, p, view_.width);
    const std::size_t all = plane_row_bytes(view_.format, p, memory_.width());
    const int rows = plane_rows(view_.format, p, view_.height);
    std::uint8_t* line = view_.data[plane];
    if (is_planar_yuv(view_.format))
      for (int y = 0; y < rows; ++y, line += view_.stride_bytes[plane])
        std::memset(line + row, line[row - 1], all - row);
    const std::uint8_t* last = view_.data[plane] + (rows - 1) * view_.stride_bytes[plane];
    for (int y = rows; y < plane_rows(view_.format, p, memory_.height()); ++y)
      std::memcpy(view_.data[plane] + y * view_.stride_bytes[plane], last, all);
  }
}

void copy_samples(const ConstFrameView& from, const FrameView& to) noexcept {
  for (int p = 0; p < plane_count(from.format); ++p) {
    const auto plane = static_cast<std::size_t>(p);
    for (int y = 0; y < plane_rows(from.format, p, from.height); ++y)
      std::memcpy(to.data[plane] + y * to.stride_bytes[plane],
                  from.data[plane] + y * from.stride_bytes[plane],
                  plane_row_bytes(from.format, p, from.width));
  }
}

std::size_t frame_bytes(PixelFormat format, int width, int height) noexcept {
  std::size_t bytes = 0;
  for (int p = 0; p < plane_count(format); ++p)
    bytes +=
        plane_row_bytes(format, p, width) * static_cast<std::size_t>(plane_rows(format, p, height));
  return bytes;
}

double FrameSet::raw_bytes() const {
  return static_cast<double>(frame_bytes(view(0).format, view(0).width, view(0).height));
}

FrameSet load_frames(const std::string& input, PixelFormat format, std::size_t count) {
  if (!is_synthetic(input)) return read_frames(input, format, count);
  const SyntheticSpec spec = parse_synthetic(input);
  FrameSet set{input, {}};
  for (std::size_t i = 0; i < count; ++i) {
    auto frame = make_synthetic(spec, format, i);
    const Frame& made = value_or_fail(std::move(frame), Exit::failed, input);
    set.frames.push_back(value_or_fail(PaddedFrame::copy_of(made.view()), Exit::failed, input));
  }
  return set;
}

}  // namespace zerorun::app::bench
