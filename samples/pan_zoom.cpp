// Makes an image sequence from photos: the camera moves slowly over each and zooms in.
// pan_zoom PATTERN WIDTHxHEIGHT FRAMES PHOTO...   (FRAMES are shared by the photos)
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <string>
#include <vector>

#include <zerorun/io.hpp>

namespace {

using zerorun::Frame;
using zerorun::PixelFormat;

[[noreturn]] void fail(const std::string& what, const zerorun::Status& status) {
  std::fprintf(stderr, "pan_zoom: %s: %s\n", what.c_str(), status.message().c_str());
  std::exit(1);
}

/// The part of the photo that a frame shows, in photo pixels.
struct Window {
  double x, y, width, height;
};

/// One output sample: `weights` over the input samples from `first` on; they add up to 1.
struct Tap {
  int first = 0;
  std::vector<float> weights;
};

/// Lanczos' windowed sinc with three lobes.
double lanczos3(double x) {
  if (x == 0) return 1;
  if (std::abs(x) >= 3) return 0;
  const double a = std::numbers::pi * x;
  return 3 * std::sin(a) * std::sin(a / 3) / (a * a);
}

/// Resampling from [start, start + extent) of `in` samples to `out` samples. To make n times fewer
/// samples the filter is n times wider, so that nothing aliases. Edge samples are repeated.
std::vector<Tap> make_taps(int in, int out, double start, double extent) {
  const double scale = extent / out;
  const double stretch = std::max(1.0, scale);
  std::vector<Tap> taps(static_cast<std::size_t>(out));
  for (int o = 0; o < out; ++o) {
    const double center = start + (o + 0.5) * scale - 0.5;
    const int from = static_cast<int>(std::ceil(center - 3 * stretch));
    const int to = static_cast<int>(std::floor(center + 3 * stretch));
    Tap& tap = taps[static_cast<std::size_t>(o)];
    tap.first = std::clamp(from, 0, in - 1);
    tap.weights.assign(static_cast<std::size_t>(std::clamp(to, 0, in - 1) - tap.first + 1), 0.0f);
    double sum = 0;
    for (int i = from; i <= to; ++i) sum += lanczos3((i - center) / stretch);
    for (int i = from; i <= to; ++i)
      tap.weights[static_cast<std::size_t>(std::clamp(i, 0, in - 1) - tap.first)] +=
          static_cast<float>(lanczos3((i - center) / stretch) / sum);
  }
  return taps;
}

/// rgb24 to rgb24: first along the rows, then along the columns.
void resample(const zerorun::ConstFrameView& photo, const Window& window,
              const zerorun::FrameView& out) {
  const auto across = make_taps(photo.width, out.width, window.x, window.width);
  const auto down = make_taps(photo.height, out.height, window.y, window.height);
  const auto row_floats = static_cast<std::size_t>(out.width) * 3;
  std::vector<float> rows(row_floats * static_cast<std::size_t>(photo.height));
  for (int y = 0; y < photo.height; ++y) {
    const std::uint8_t* in = photo.data[0] + y * photo.stride_bytes[0];
    float* row = rows.data() + static_cast<std::size_t>(y) * row_floats;
    for (const Tap& tap : across) {
      float sum[3] = {};
      const std::uint8_t* pixel = in + std::ptrdiff_t{3} * tap.first;
      for (const float weight : tap.weights)
        for (float& channel : sum) channel += weight * static_cast<float>(*pixel++);
      row = std::copy(sum, sum + 3, row);
    }
  }
  std::vector<float> sums(row_floats);
  for (int y = 0; y < out.height; ++y) {
    const Tap& tap = down[static_cast<std::size_t>(y)];
    std::fill(sums.begin(), sums.end(), 0.0f);
    const float* row = rows.data() + static_cast<std::size_t>(tap.first) * row_floats;
    for (const float weight : tap.weights)
      for (float& sum : sums) sum += weight * *row++;
    std::uint8_t* target = out.data[0] + y * out.stride_bytes[0];
    for (const float sum : sums)
      *target++ = static_cast<std::uint8_t>(std::clamp(std::lround(sum), 0L, 255L));
  }
}

/// Moves from the largest window of the right shape at one corner to one of 60 % at the other, and
/// starts and stops gently. Photos alternate between zooming in and out.
Window window_at(const zerorun::ConstFrameView& photo, double aspect, double t, bool backwards) {
  const double eased = t * t * (3 - 2 * t);
  const double s = backwards ? 1 - eased : eased;
  const double full_width = std::min<double>(photo.width, photo.height * aspect);
  const double width = full_width * (1 - 0.4 * s), height = width / aspect;
  return {(photo.width - width) * (0.2 + 0.6 * s), (photo.height - height) * (0.3 + 0.4 * s), width,
          height};
}

Frame read_photo(const std::string& path) {
  zerorun::io::SourceOptions options;
  options.pixel_format = PixelFormat::rgb24;
  auto source = zerorun::io::open_frames({path, "", {}}, options);
  if (!source) fail(path, source.status());
  Frame photo;
  zerorun::io::FrameTime time;
  auto more = (*source)->read(photo, time);
  if (!more || !*more) fail(path, more ? zerorun::Status(zerorun::Errc::bad_input) : more.status());
  return photo;
}

}  // namespace

int main(int argc, char** argv) {
  int width = 0, height = 0;
  char rest = 0;
  const int frames = argc > 4 ? std::atoi(argv[3]) : 0;
  if (argc < 5 || std::sscanf(argv[2], "%dx%d%c", &width, &height, &rest) != 2 || frames < 1) {
    std::fprintf(stderr, "usage: pan_zoom PATTERN WIDTHxHEIGHT FRAMES PHOTO...\n");
    return 2;
  }
  zerorun::io::SinkOptions options;
  options.overwrite = true;
  options.width = width;
  options.height = height;
  auto sink = zerorun::io::open_frame_sink({argv[1], "", {}}, options);
  if (!sink) fail(argv[1], sink.status());
  auto frame = Frame::create(PixelFormat::rgb24, width, height);
  if (!frame) fail(argv[2], frame.status());

  const int photos = argc - 4;
  int written = 0;
  for (int p = 0; p < photos; ++p) {
    const Frame photo = read_photo(argv[4 + p]);
    const int end = frames * (p + 1) / photos, count = end - written;
    for (int i = 0; i < count; ++i, ++written) {
      const double t = count > 1 ? double(i) / (count - 1) : 0.0;
      resample(photo.view(), window_at(photo.view(), double(width) / height, t, p % 2 == 1),
               frame->view());
      if (auto status = (*sink)->write(frame->view(), {written, 1}); !status) fail(argv[1], status);
    }
  }
  if (auto status = (*sink)->finish(); !status) fail(argv[1], status);
  return 0;
}
