// Encode and decode of one 1080p 4:2:0 picture at quality 90, libjpeg-turbo beside it in one run.
// SPDX-License-Identifier: MIT
//
// The picture is the middle 1920x1080 pixels of photos4k/street.jpg where the test data lies
// (ZERORUN_TEST_DATA), otherwise the synthetic "photo" of tests/support/pictures.hpp; the names of
// the benchmarks say which. Before anything is timed, our streams are compared with libjpeg-turbo's
// and the decoded planes and pixels too; a difference ends the program.
#include <cstdio>
#include <cstdlib>
#include <string>

#include <benchmark/benchmark.h>

#include "tests/bench/libjpeg_peer.hpp"
#include "tests/support/jpeg_segments.hpp"
#include "tests/support/libjpeg_decode.hpp"
#include "tests/support/pictures.hpp"
#include "tests/support/test_data.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::bench {
namespace {

constexpr int kWidth = 1920, kHeight = 1080, kQuality = 90;
constexpr int kPaddedHeight = 1088;  // whole MCUs, which jpeg_write_raw_data reads

[[noreturn]] void stop(const std::string& why) {
  std::fprintf(stderr, "codec_bench: %s\n", why.c_str());
  std::exit(1);
}

template <typename T>
T take(Result<T> result) {
  if (!result.is_ok()) stop(result.status().message());
  return *std::move(result);
}

/// The frame's memory has the rows of whole MCUs; its view shows 1080.
struct Source {
  std::string label;
  Frame rgb;
  Frame yuv;
  ConstFrameView yuv_view;
};

void load_rgb(Source& source) {
  source.rgb = take(Frame::create(PixelFormat::rgb24, kWidth, kHeight));
  test::Pixels photo;
  int left = 0, top = 0;
  const auto folder = test::test_data();
  if (folder && std::filesystem::exists(*folder / "photos4k/street.jpg")) {
    const auto jpeg = test::read_file(*folder / "photos4k/street.jpg");
    if (!test::libjpeg_pixels(jpeg, test::PixelOutput::rgb, true, photo).clean())
      stop("cannot decode photos4k/street.jpg");
    source.label = "street";
    left = (photo.width - kWidth) / 2;
    top = (photo.height - kHeight) / 2;
  } else {
    source.label = "synthetic";
    photo = {kWidth, kHeight, test::make_picture(test::Content::photo, kWidth, kHeight, 3, 1)};
  }
  const FrameView view = source.rgb.view();
  for (int y = 0; y < kHeight; ++y)
    std::copy_n(
        photo.samples.begin() + (static_cast<std::ptrdiff_t>(top + y) * photo.width + left) * 3,
        kWidth * 3, view.data[0] + y * view.stride_bytes[0]);
}

/// The 4:2:0 planes of the picture: those of its own coding at quality 100.
void load_planes(Source& source) {
  EncodeParams params;
  params.backend = Backend::cpu;
  params.quality = 100;
  auto encoder = take(Encoder::create(params));
  std::vector<std::byte> jpeg;
  take(encoder.encode(source.rgb.view(), jpeg));
  source.yuv = take(Frame::create(PixelFormat::yuv420p, kWidth, kPaddedHeight));
  FrameView view = source.yuv.view();
  view.height = kHeight;
  auto decoder = take(Decoder::create({}));
  take(decoder.decode(jpeg, view));
  for (std::size_t p = 0; p < 3; ++p) {  // the rows below repeat the last
    const int rows = plane_rows(view.format, static_cast<int>(p), kHeight);
    const int all = plane_rows(view.format, static_cast<int>(p), kPaddedHeight);
    const std::uint8_t* last = view.data[p] + (rows - 1) * view.stride_bytes[p];
    for (int y = rows; y < all; ++y)
      std::copy_n(last, view.stride_bytes[p], view.data[p] + y * view.stride_bytes[p]);
  }
  source.yuv_view = view;
}

const Source& source() {
  static const Source loaded = [] {
    Source made;
    load_rgb(made);
    load_planes(made);
    return made;
  }();
  return loaded;
}

ConstFrameView input(PixelFormat format) {
  return format == PixelFormat::rgb24 ? source().rgb.view() : source().yuv_view;
}

EncodeParams params_of(int threads, HuffmanTables tables, RestartPolicy restart) {
  EncodeParams params;
  params.backend = Backend::cpu;
  params.quality = kQuality;
  params.threads = threads;
  params.huffman = tables;
  params.restart = restart;
  return params;
}

std::vector<std::byte> stream(PixelFormat format, HuffmanTables tables, RestartPolicy restart) {
  auto encoder = take(Encoder::create(params_of(2, tables, restart)));
  std::vector<std::byte> out;
  take(encoder.encode(input(format), out));
  return out;
}

void set_counters(benchmark::State& state, std::size_t stream_bytes) {
  state.counters["stream_bytes"] = static_cast<double>(stream_bytes);
  state.counters["Mpixel/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * kWidth * kHeight / 1e6,
                         benchmark::Counter::kIsRate);
}

void encode(benchmark::State& state, PixelFormat format, int threads, HuffmanTables tables,
            RestartPolicy restart) {
  const EncodeParams params = params_of(threads, tables, restart);
  auto encoder = take(Encoder::create(params));
  std::vector<std::byte> out(take(max_encoded_bytes(params, format, kWidth, kHeight)));
  std::size_t bytes = 0;
  for (auto iteration : state) {
    (void)iteration;
    bytes = take(encoder.encode(input(format), std::span(out))).bytes;
  }
  set_counters(state, bytes);
}

void libjpeg_encode(benchmark::State& state, PixelFormat format, HuffmanTables tables) {
  LibjpegEncoder encoder({kQuality, tables == HuffmanTables::optimal, 0});
  std::size_t bytes = 0;
  for (auto iteration : state) {
    (void)iteration;
    bytes = encoder.encode(input(format)).size();
  }
  set_counters(state, bytes);
}

void decode(benchmark::State& state, PixelFormat format, int threads, RestartPolicy restart) {
  const auto jpeg = stream(PixelFormat::yuv420p, HuffmanTables::standard, restart);
  DecodeParams params;
  params.backend = Backend::cpu;
  params.threads = threads;
  auto decoder = take(Decoder::create(params));
  Frame out = take(Frame::create(format, kWidth, kHeight));
  for (auto iteration : state) {
    (void)iteration;
    take(decoder.decode(jpeg, out.view()));
  }
  set_counters(state, jpeg.size());
}

void libjpeg_decode(benchmark::State& state, PixelFormat format, RestartPolicy restart) {
  const auto jpeg = stream(PixelFormat::yuv420p, HuffmanTables::standard, restart);
  LibjpegDecoder decoder;
  Frame out = take(Frame::create(format, kWidth, kPaddedHeight));
  for (auto iteration : state) {
    (void)iteration;
    if (!decoder.decode(jpeg, out.view())) stop("libjpeg cannot decode our stream");
  }
  set_counters(state, jpeg.size());
}

/// The same bytes and the same samples, or no benchmark.
void verify() {
  for (const PixelFormat format : {PixelFormat::yuv420p, PixelFormat::rgb24}) {
    for (const auto tables : {HuffmanTables::standard, HuffmanTables::optimal}) {
      LibjpegEncoder peer({kQuality, tables == HuffmanTables::optimal, 0});
      const auto theirs = peer.encode(input(format));
      const auto ours = stream(format, tables, RestartPolicy::none());
      if (theirs.empty() || !std::ranges::equal(test::from_sos(ours), test::from_sos(theirs)))
        stop("our stream is not libjpeg's");
    }
  }
  const auto jpeg =
      stream(PixelFormat::yuv420p, HuffmanTables::standard, RestartPolicy::automatic());
  auto decoder = take(Decoder::create({}));
  LibjpegDecoder peer;
  for (const PixelFormat format : {PixelFormat::yuv420p, PixelFormat::rgb24}) {
    Frame ours = take(Frame::create(format, kWidth, kHeight));
    Frame theirs = take(Frame::create(format, kWidth, kPaddedHeight));
    take(decoder.decode(jpeg, ours.view()));
    if (!peer.decode(jpeg, theirs.view())) stop("libjpeg cannot decode our stream");
    for (int p = 0; p < plane_count(format); ++p) {
      const auto plane = static_cast<std::size_t>(p);
      for (int y = 0; y < plane_rows(format, p, kHeight); ++y)
        if (!std::equal(ours.view().data[plane] + y * ours.view().stride_bytes[plane],
                        ours.view().data[plane] + y * ours.view().stride_bytes[plane] +
                            plane_row_bytes(format, p, kWidth),
                        theirs.view().data[plane] + y * theirs.view().stride_bytes[plane]))
          stop("our samples are not libjpeg's");
    }
  }
}

template <typename Function, typename... Args>
void add(const std::string& name, Function function, Args... args) {
  benchmark::RegisterBenchmark((name + "/" + source().label).c_str(),
                               [=](benchmark::State& state) { function(state, args...); })
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime()
      ->MeasureProcessCPUTime();  // the CPU column holds all threads, whatever else runs
}

void add_all() {
  const auto none = RestartPolicy::none(), automatic = RestartPolicy::automatic();
  const auto standard = HuffmanTables::standard, optimal = HuffmanTables::optimal;
  for (const PixelFormat format : {PixelFormat::yuv420p, PixelFormat::rgb24}) {
    const std::string from = std::string("encode/") + std::string(name(format));
    add(from + "/libjpeg-turbo", libjpeg_encode, format, standard);
    add(from + "/zerorun/1_thread", encode, format, 1, standard, none);
    add(from + "/zerorun/2_threads", encode, format, 2, standard, none);
    add(from + "/zerorun/1_thread/restart_auto", encode, format, 1, standard, automatic);
    add(from + "/zerorun/2_threads/restart_auto", encode, format, 2, standard, automatic);
    add(from + "/libjpeg-turbo/optimal", libjpeg_encode, format, optimal);
    add(from + "/zerorun/1_thread/optimal", encode, format, 1, optimal, none);
    add(from + "/zerorun/2_threads/optimal", encode, format, 2, optimal, none);
  }
  for (const PixelFormat format : {PixelFormat::yuv420p, PixelFormat::rgb24}) {
    const std::string to = std::string("decode/") + std::string(name(format));
    add(to + "/libjpeg-turbo", libjpeg_decode, format, none);
    add(to + "/zerorun/1_thread", decode, format, 1, none);
    add(to + "/zerorun/2_threads", decode, format, 2, none);
    add(to + "/libjpeg-turbo/restart_auto", libjpeg_decode, format, automatic);
    add(to + "/zerorun/1_thread/restart_auto", decode, format, 1, automatic);
    add(to + "/zerorun/2_threads/restart_auto", decode, format, 2, automatic);
  }
}

}  // namespace
}  // namespace zerorun::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  zerorun::bench::verify();
  zerorun::bench::add_all();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
