// SPDX-License-Identifier: MIT
#include "apps/bench/frames.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>

#include "apps/bench/measure/measure.hpp"
#include "apps/common/input_output.hpp"
#include "apps/common/process.hpp"
#include "codec/arith/host_device.hpp"
#include "codec/base/thread_pool.hpp"
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

struct Size {
  int width, height;
};

/// Width over height, as cameras and croppers make them.
constexpr std::array<double, 6> kShapes = {4.0 / 3, 3.0 / 4, 3.0 / 2, 16.0 / 9, 2.0 / 3, 1.0};

/// A permutation of 0 .. count - 1 in which neighbours are far from each other.
std::size_t scattered(std::size_t i, std::size_t count) {
  auto step = static_cast<std::size_t>(0.618 * static_cast<double>(count));
  while (std::gcd(step, count) != 1) ++step;
  return i * step % count;
}

Size size_of_piece(const Megapixels& sizes, std::size_t i, std::size_t count) {
  const double rank =
      count == 1 ? 1.0 : static_cast<double>(scattered(i, count)) / static_cast<double>(count - 1);
  const double pixels = 1e6 * sizes.least * std::pow(sizes.most / sizes.least, rank);
  const auto fit = [](double extent) {
    return static_cast<int>(std::clamp(std::round(extent), 1.0, double{kMaxDimension} - 64));
  };
  const int width = fit(std::sqrt(pixels * kShapes[i % kShapes.size()]));
  return {width, fit(pixels / width)};
}

/// Position `at` of an endless row that repeats 0 .. count - 1 forwards and backwards.
int mirrored(int at, int count) noexcept {
  const int place = at % (2 * count);
  return place < count ? place : 2 * count - 1 - place;
}

/// A unit is what a plane holds for one pixel, or for one pair or group of pixels.
void cut_plane(const ConstFrameView& from, int p, int left, int top, const FrameView& to) {
  const auto plane = static_cast<std::size_t>(p);
  const std::size_t unit = plane_row_bytes(from.format, p, 1);
  const auto units = [&](int width) {
    return static_cast<int>(plane_row_bytes(from.format, p, width) / unit);
  };
  const int rows = plane_rows(from.format, p, from.height), wide = units(from.width);
  const int first_row = plane_rows(from.format, p, top), first_unit = units(left);
  const int wanted = units(to.width), straight = std::clamp(wide - first_unit, 0, wanted);
  std::vector<std::size_t> source;  // where the units after the straight run come from
  for (int x = straight; x < wanted; ++x)
    source.push_back(unit * static_cast<std::size_t>(mirrored(first_unit + x, wide)));
  for (int y = 0; y < plane_rows(to.format, p, to.height); ++y) {
    const std::uint8_t* row =
        from.data[plane] + mirrored(first_row + y, rows) * from.stride_bytes[plane];
    std::uint8_t* out = to.data[plane] + y * to.stride_bytes[plane];
    const std::size_t run = unit * static_cast<std::size_t>(straight);
    std::memcpy(out, row + unit * static_cast<std::size_t>(first_unit), run);
    out += run;
    for (const std::size_t place : source) {
      std::memcpy(out, row + place, unit);
      out += unit;
    }
  }
}

Result<PaddedFrame> cut_piece(const ConstFrameView& from, std::size_t i, Size size) {
  auto piece = PaddedFrame::create(from.format, size.width, size.height);
  if (!piece) return piece;
  // Multiples of 4, so that luma and chroma of every sampling are cut at the same place.
  const auto place = [i](int extent, std::size_t prime) {
    return static_cast<int>(i * prime % static_cast<std::size_t>(extent)) / 4 * 4;
  };
  const int left = place(from.width, 7919), top = place(from.height, 6271);
  for (int p = 0; p < plane_count(from.format); ++p) cut_plane(from, p, left, top, piece->view());
  piece->repeat_edges();
  return piece;
}

/// The planar format that holds the stream's own samples.
Result<PixelFormat> stored_format(const StreamInfo& info) {
  if (info.color == ColorModel::gray) return PixelFormat::gray8;
  if (info.color == ColorModel::ycbcr && info.subsampling) return planar_format(*info.subsampling);
  return Status(Errc::pixel_format,
                "no planar layout holds its components; --pixels rgb24 or bgr24 takes it");
}

/// Damaged streams are left out: decoders conceal damage in different ways.
Status check_by_libjpeg(std::span<const std::byte> jpeg, const ConstFrameView& like) {
  if (!have_libjpeg() || !is_planar_or_rgb(like.format)) return Status::ok();
  auto picture = PaddedFrame::create(like.format, like.width, like.height);
  if (!picture) return picture.status();
  Status status = make_libjpeg_decoder()->decode(jpeg, picture->view());
  return status ? status : Status(status.code(), "libjpeg-turbo: " + status.message());
}

Result<PaddedFrame> decode(Decoder& decoder, std::span<const std::byte> jpeg,
                           const std::optional<PixelFormat>& wanted) {
  const auto info = inspect(jpeg, decoder.params().limits);
  if (!info) return info.status();
  const auto format = wanted ? Result<PixelFormat>(*wanted) : stored_format(*info);
  if (!format) return format.status();
  auto frame = Frame::create(*format, info->width, info->height);
  if (!frame) return frame.status();
  if (const auto report = decoder.decode(jpeg, frame->view()); !report) return report.status();
  ZR_TRY(check_by_libjpeg(jpeg, frame->view()));
  return PaddedFrame::copy_of(std::as_const(*frame).view());
}

bool same_shape(const ConstFrameView& a, const ConstFrameView& b) noexcept {
  return a.format == b.format && a.width == b.width && a.height == b.height;
}

/// One image of the input, decoded or refused.
struct Taken {
  std::string name;
  std::vector<std::byte> jpeg;
  Result<PaddedFrame> frame = Status(Errc::bad_input);
};

/// Reads images, and decodes those that were read together on all cores.
class StreamLoader {
 public:
  explicit StreamLoader(const FrameRequest& request)
      : request_(request), set_{request.input, {}, {}, request.mixed} {
    auto opened = io::open_packets({request.input, "", {}}, {});
    if (!opened && opened.status().code() == Errc::unknown_format)
      fail(Exit::input, "--streams input: '" + request.input + "' is neither JPEG nor Motion JPEG");
    source_ = value_or_fail(std::move(opened), Exit::input, request.input);
    DecodeParams params;
    params.backend = Backend::cpu;
    params.strict = true;  // peers conceal damage in other ways
    params.threads = 1;
    params.limits = stream_limits(request.max_pixels);
    for (int i = 0; i < pool_.workers(); ++i)
      decoders_.push_back(value_or_fail(Decoder::create(params), Exit::failed, request.input));
  }

  FrameSet load() {
    while (set_.size() < request_.count) {
      std::vector<Taken> images = read(request_.count - set_.size());
      if (images.empty()) break;
      pool_.run(static_cast<std::int64_t>(images.size()), [&](std::int64_t i, int worker) {
        Taken& image = images[static_cast<std::size_t>(i)];
        image.frame =
            decode(decoders_[static_cast<std::size_t>(worker)], image.jpeg, request_.format);
      });
      for (Taken& image : images) take(image);
    }
    tell();
    return std::move(set_);
  }

 private:
  std::vector<Taken> read(std::size_t most) {
    std::vector<Taken> images;
    io::FrameTime time;
    while (images.size() < most) {
      Taken image;
      if (!value_or_fail(source_->read(image.jpeg, time), Exit::input, request_.input)) break;
      image.name = source_->last_name();
      images.push_back(std::move(image));
    }
    return images;
  }

  void take(Taken& image) {
    if (!image.frame) {
      if (refused_++ > 0) return;
      why_ = image.frame.status();
      whose_ = image.name;
    } else if (!request_.mixed && set_.size() > 0 &&
               !same_shape(std::as_const(*image.frame).view(), set_.view(0))) {
      ++others_;
    } else {
      set_.frames.push_back(*std::move(image.frame));
      set_.streams.push_back(std::move(image.jpeg));
    }
  }

  void tell() const {
    if (refused_ > 0 && set_.frames.empty()) fail_input(whose_, why_, true);
    if (refused_ > 0)
      console::note(fmt::format("{} image{} left out; {}: {}{}", refused_,
                                refused_ == 1 ? " is" : "s are", whose_, why_.message(),
                                max_pixels_hint(why_)));
    if (others_ > 0)
      console::note(
          fmt::format("{}: {} image{} of another size or sampling than the first and left "
                      "out; --mixed takes all",
                      request_.input, others_, others_ == 1 ? " is" : "s are"));
    if (set_.frames.empty()) fail(Exit::input, request_.input + ": there are no images");
  }

  const FrameRequest& request_;
  ThreadPool pool_{0};
  std::unique_ptr<io::PacketSource> source_;
  std::vector<Decoder> decoders_;
  FrameSet set_;
  int others_ = 0, refused_ = 0;
  Status why_;
  std::string whose_;
};

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

// Cuts a batch of images of many sizes out of larger ones.

FrameSet cut_pieces(const FrameSet& set, const Megapixels& sizes, std::size_t count) {
  FrameSet pieces{set.input, std::vector<PaddedFrame>(count), {}, true};
  ThreadPool pool(0);
  pool.run(static_cast<std::int64_t>(count), [&](std::int64_t number, int) {
    const auto i = static_cast<std::size_t>(number);
    pieces.frames[i] =
        value_or_fail(cut_piece(set.view(i % set.size()), i, size_of_piece(sizes, i, count)),
                      Exit::failed, set.input);
  });
  return pieces;
}

// Loads the streams of a JPEG input as they are, and decodes them on the CPU.

FrameSet load_streams(const FrameRequest& request) { return StreamLoader(request).load(); }

}  // namespace zerorun::app::bench
