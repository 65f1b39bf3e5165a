// Decodes a JPEG file to planes in device memory and prints the mean of each: device_decode FILE.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

#include <cuda_runtime.h>

#include <zerorun/cuda.hpp>

__global__ void add_up(const unsigned char* plane, std::size_t samples, unsigned long long* sum) {
  unsigned long long mine = 0;
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < samples;
       i += std::size_t{gridDim.x} * blockDim.x)
    mine += plane[i];
  atomicAdd(sum, mine);
}

static void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "device_decode: %s\n", cudaGetErrorString(error));
  std::exit(1);
}
static void check(const zerorun::Status& status) {
  if (status) return;
  std::fprintf(stderr, "device_decode: %s\n", status.message().c_str());
  std::exit(status.code() == zerorun::Errc::no_device ? 77 : 1);  // 77: skipped
}

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: device_decode FILE\n"), 2;
  auto decoder = zerorun::DeviceDecoder::create();
  check(decoder.status());
  std::ifstream file(argv[1], std::ios::binary);
  const std::vector<char> jpeg{std::istreambuf_iterator<char>(file), {}};
  const auto bytes = std::as_bytes(std::span(jpeg));
  const auto info = zerorun::inspect(bytes);
  check(info.status());

  // The planes of the stream, if there is a format for its sampling; otherwise RGB.
  const auto format =
      info->subsampling ? zerorun::planar_format(*info->subsampling) : zerorun::PixelFormat::rgb24;
  zerorun::FrameView frame{format, info->width, info->height, {}, {}};
  for (int p = 0; p < zerorun::plane_count(format); ++p) {
    const std::size_t row = zerorun::plane_row_bytes(format, p, info->width);
    check(cudaMalloc(&frame.data[p], row * zerorun::plane_rows(format, p, info->height)));
    frame.stride_bytes[p] = static_cast<std::ptrdiff_t>(row);
  }
  unsigned long long* sums;
  cudaStream_t stream;
  check(cudaMallocManaged(&sums, 3 * sizeof *sums));
  check(cudaStreamCreate(&stream));

  const auto report = decoder->decode(bytes, frame, stream);
  check(report.status());
  for (int p = 0; p < zerorun::plane_count(format); ++p) {
    const auto samples = static_cast<std::size_t>(frame.stride_bytes[p]) *
                         zerorun::plane_rows(format, p, info->height);
    sums[p] = 0;
    add_up<<<256, 256, 0, stream>>>(frame.data[p], samples, sums + p);
    check(cudaStreamSynchronize(stream));
    std::printf("plane %d: mean %.2f\n", p,
                static_cast<double>(sums[p]) / static_cast<double>(samples));
  }
}
