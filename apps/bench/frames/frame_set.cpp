// Frames from files or from the generator, padded to whole MCUs.
// SPDX-License-Identifier: MIT
#include "apps/bench/frames/frame_set.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "apps/common/console.hpp"
#include "apps/common/failure.hpp"
#include "apps/common/pixel_limit.hpp"
#include "codec/arith/integer.hpp"
#include "codec/base/try.hpp"

namespace zerorun::app::bench {
namespace {

/// The largest MCU is 32 x 8 (4:1:1) or 16 x 16.
constexpr int kPadWidth = 32, kPadHeight = 16;

/// Pieces of a mixed batch are cut from at most this many frames.
constexpr std::size_t kMostCutFrames = 16;

FrameSet read_frames(const FrameRequest& request, std::size_t count) {
  const std::string& input = request.input;
  InputOptions named;
  named.name = input;
  named.max_pixels = request.max_pixels;
  io::SourceOptions options = source_options(named, {});
  options.pixel_format = request.format;
  const auto source = open_frames(named, options);
  const bool is_jpeg = source->info().is_jpeg;
  check_max_pixels(input, request.max_pixels, is_jpeg);
  FrameSet set{input, {}, {}, request.mixed};
  Frame frame;
  io::FrameTime time;
  int others = 0;
  while (set.size() < count) {
    const auto more = source->read(frame, time);
    if (!more) fail_input(input, more.status(), is_jpeg);
    if (!*more) break;
    if (!request.mixed && set.size() > 0 &&
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

FrameSet make_frames(const FrameRequest& request, std::size_t count) {
  FrameSet set{request.input, {}, {}, request.mixed};
  for (std::size_t i = 0; i < count; ++i) {
    const Frame made = value_or_fail(make_synthetic(request.input, *request.format, i),
                                     Exit::failed, request.input);
    set.frames.push_back(
        value_or_fail(PaddedFrame::copy_of(made.view()), Exit::failed, request.input));
  }
  return set;
}

}  // namespace

Result<PaddedFrame> PaddedFrame::create(PixelFormat format, int width, int height) {
  PaddedFrame padded;
  ZR_TRY(padded.reshape(format, width, height));
  return padded;
}

Status PaddedFrame::reshape(PixelFormat format, int width, int height) {
  const int padded_width = round_up(width, kPadWidth), padded_height = round_up(height, kPadHeight);
  if (std::max(padded_width, padded_height) > kMaxDimension)
    return Status(Errc::invalid_frame, "the benchmark takes frames up to 65504x65520");
  ZR_TRY(memory_.reshape(format, padded_width, padded_height));
  view_ = memory_.view();
  view_.width = width;
  view_.height = height;
  return Status::ok();
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
  double sum = 0;
  for (const PaddedFrame& frame : frames) {
    const ConstFrameView view = frame.view();
    sum += static_cast<double>(frame_bytes(view.format, view.width, view.height));
  }
  return sum / static_cast<double>(size());
}

std::size_t FrameSet::largest() const {
  const auto pixels = [](const PaddedFrame& frame) {
    return std::int64_t{frame.view().width} * frame.view().height;
  };
  const auto most = std::max_element(
      frames.begin(), frames.end(),
      [&](const PaddedFrame& a, const PaddedFrame& b) { return pixels(a) < pixels(b); });
  return static_cast<std::size_t>(most - frames.begin());
}

static void describe_streams(const FrameSet& set, Case& what) {
  const auto info = inspect(set.streams[0], StreamLimits::any_size());
  if (!info) return;  // cannot happen: it was decoded
  what.quality = info->quality.value_or(0);
  what.huffman = info->standard_huffman_tables ? HuffmanTables::standard : HuffmanTables::optimal;
  what.restart = info->restart_interval_mcus > 0 ? std::to_string(info->restart_interval_mcus)
                                                 : std::string("none");
  what.sampling = info->subsampling.value_or(native_subsampling(set.view(0).format));
}

void describe(const FrameSet& set, Case& what) {
  what.frames = set.size();
  what.pixels = set.view(0).format;
  if (!set.streams.empty()) describe_streams(set, what);
  if (!set.mixed) {
    what.width = set.view(0).width;
    what.height = set.view(0).height;
    return;
  }
  for (const PaddedFrame& frame : set.frames) {
    const double megapixels = 1e-6 * frame.view().width * frame.view().height;
    if (what.least_megapixels == 0 || megapixels < what.least_megapixels)
      what.least_megapixels = megapixels;
    what.most_megapixels = std::max(what.most_megapixels, megapixels);
  }
}

FrameSet load_frames(const FrameRequest& request) {
  if (request.own_streams) return load_streams(request);
  const std::size_t count = request.cut ? std::min(request.count, kMostCutFrames) : request.count;
  FrameSet set =
      is_synthetic(request.input) ? make_frames(request, count) : read_frames(request, count);
  if (request.cut) return cut_pieces(set, *request.cut, request.count);
  return set;
}

}  // namespace zerorun::app::bench
