// Draws frames on the GPU and encodes them there: device_encode OUTPUT.mjpeg. The kernels that draw
// and those of the encoder run one after another on one stream, and the host does not wait.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <vector>

#include <cuda_runtime.h>

#include <zerorun/cuda.hpp>

static constexpr int kWidth = 640, kHeight = 360, kFrames = 25;
static constexpr std::size_t kStride = 3 * kWidth;

__global__ void draw(unsigned char* rgb, int frame) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= kWidth) return;
  unsigned char* const pixel = rgb + y * kStride + 3 * x;
  pixel[0] = static_cast<unsigned char>(x + 10 * frame);
  pixel[1] = static_cast<unsigned char>(y);
  pixel[2] = static_cast<unsigned char>(x * y / 256);
}

static void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "device_encode: %s\n", cudaGetErrorString(error));
  std::exit(1);
}
static void check(const zerorun::Status& status) {
  if (status) return;
  std::fprintf(stderr, "device_encode: %s\n", status.message().c_str());
  std::exit(status.code() == zerorun::Errc::no_device ? 77 : 1);  // 77: skipped
}

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: device_encode OUTPUT.mjpeg\n"), 2;
  zerorun::EncodeParams params;
  auto encoder = zerorun::DeviceEncoder::create(params);
  check(encoder.status());
  const auto room =
      zerorun::max_encoded_bytes(params, zerorun::PixelFormat::rgb24, kWidth, kHeight);
  check(room.status());

  cudaStream_t stream;
  unsigned char* pixels;
  std::byte* jpegs;  // one place for each stream
  std::size_t* sizes;
  check(cudaStreamCreate(&stream));
  check(cudaMalloc(&pixels, kStride * kHeight));
  check(cudaMalloc(&jpegs, *room * kFrames));
  check(cudaMalloc(&sizes, sizeof(std::size_t) * kFrames));
  const zerorun::ConstFrameView frame{
      zerorun::PixelFormat::rgb24, kWidth, kHeight, {pixels}, {kStride}};
  for (int i = 0; i < kFrames; ++i) {
    draw<<<dim3((kWidth + 255) / 256, kHeight), 256, 0, stream>>>(pixels, i);
    check(cudaGetLastError());
    check(encoder->encode(frame, jpegs + i * *room, *room, sizes + i, stream));
  }
  check(cudaStreamSynchronize(stream));

  std::vector<std::size_t> bytes(kFrames);
  check(cudaMemcpy(bytes.data(), sizes, sizeof(std::size_t) * kFrames, cudaMemcpyDeviceToHost));
  std::FILE* const file = std::fopen(argv[1], "wb");
  if (file == nullptr) return std::perror(argv[1]), 1;
  for (int i = 0; i < kFrames; ++i) {
    std::vector<char> jpeg(bytes[i]);
    check(cudaMemcpy(jpeg.data(), jpegs + i * *room, bytes[i], cudaMemcpyDeviceToHost));
    std::fwrite(jpeg.data(), 1, jpeg.size(), file);
  }
  return std::fclose(file) == 0 ? 0 : 1;
}
