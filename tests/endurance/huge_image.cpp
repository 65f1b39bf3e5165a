// Encodes one image of 20000x15000 pixels by Encoder, AsyncEncoder and the C interface, and decodes
// it: huge_image cpu|cuda. Exit status 77: skipped, there is no GPU.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>

#include "tests/support/capi.hpp"
#include "tests/support/gpu_required.hpp"
#include "zerorun/async.hpp"
#include "zerorun/decoder.hpp"

namespace {

using namespace zerorun;

constexpr int kWidth = 20000, kHeight = 15000;

void need(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "huge_image: %s\n", what);
  std::exit(1);
}

/// Gradients with a grain, so that blocks have several coefficients each.
void draw(const FrameView& view) {
  for (int p = 0; p < plane_count(view.format); ++p) {
    const auto plane = static_cast<std::size_t>(p);
    const auto row_bytes = static_cast<int>(plane_row_bytes(view.format, p, view.width));
    for (int y = 0; y < plane_rows(view.format, p, view.height); ++y)
      for (int x = 0; x < row_bytes; ++x)
        view.data[plane][y * view.stride_bytes[plane] + x] =
            static_cast<std::uint8_t>(x / 80 + y / 60 + ((x * 7 ^ y * 13) & 15));
  }
}

/// Largest difference of two samples.
int largest_difference(const ConstFrameView& a, const ConstFrameView& b) {
  int largest = 0;
  for (std::size_t p = 0; p < 3; ++p)
    for (int y = 0; y < plane_rows(a.format, static_cast<int>(p), a.height); ++y) {
      const std::uint8_t* const row_a = a.data[p] + y * a.stride_bytes[p];
      const std::uint8_t* const row_b = b.data[p] + y * b.stride_bytes[p];
      const std::size_t bytes = plane_row_bytes(a.format, static_cast<int>(p), a.width);
      for (std::size_t x = 0; x < bytes; ++x)
        largest = std::max(largest, std::abs(row_a[x] - row_b[x]));
    }
  return largest;
}

bool same_by_c(const FrameView& view, Backend backend, std::span<const std::byte> expected) {
  auto params = test::sized<zerorun_encode_params>();
  params.backend = backend == Backend::cpu ? ZERORUN_BACKEND_CPU : ZERORUN_BACKEND_CUDA;
  const zerorun_frame frame = test::to_c(view);
  zerorun_encoder* encoder = nullptr;
  const std::uint8_t* jpeg = nullptr;
  std::size_t size = 0;
  need(zerorun_encoder_create(&params, &encoder, nullptr) == ZERORUN_OK, "create by C");
  need(zerorun_encoder_encode(encoder, &frame, &jpeg, &size) == ZERORUN_OK, "encode by C");
  const bool same = std::ranges::equal(std::as_bytes(std::span(jpeg, size)), expected);
  zerorun_encoder_destroy(encoder);
  return same;
}

}  // namespace

int main(int argc, char** argv) {
  const Backend backend = argc > 1 && std::string(argv[1]) == "cuda" ? Backend::cuda : Backend::cpu;
  if (const auto usable = resolve_backend(backend); !usable) {
    std::fprintf(stderr, "needs a GPU: %s\n", usable.status().message().c_str());
    return test::gpu_required() ? 1 : 77;
  }
  EncodeParams encode;
  encode.backend = backend;
  auto frame = Frame::create(PixelFormat::yuv420p, kWidth, kHeight);
  need(frame.is_ok(), "memory for the frame");
  draw(frame->view());
  HostBuffer jpeg;
  {
    auto encoder = Encoder::create(encode);
    need(encoder.is_ok() && encoder->encode(frame->view(), jpeg).is_ok(), "encode");
  }
  std::printf("%zu bytes\n", jpeg.size());
  need(same_by_c(frame->view(), backend, jpeg.bytes()), "the C interface gives other bytes");
  {
    AsyncEncodeParams params;
    params.encode = encode;
    params.lanes = 1;
    auto encoder = AsyncEncoder::create(params);
    EncodedFrame out;
    need(encoder.is_ok() && encoder->submit(frame->view()).is_ok() &&
             encoder->receive(out, true) == Received::frame && out.status.is_ok(),
         "encode in flight");
    need(std::ranges::equal(out.jpeg.bytes(), jpeg.bytes()), "AsyncEncoder gives other bytes");
  }
  DecodeParams params;
  params.backend = backend;
  params.limits.max_pixels = std::int64_t{kWidth} * kHeight;
  auto decoder = Decoder::create(params);
  Frame back;
  need(decoder.is_ok() && decoder->decode(jpeg.bytes(), PixelFormat::yuv420p, back).is_ok(),
       "decode");
  const int difference = largest_difference(frame->view(), back.view());
  std::printf("largest difference %d\n", difference);
  // Quality 90 changes such a picture by far less.
  need(difference < 64, "the picture is another one");
}
