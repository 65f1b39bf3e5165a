// A stranger's first program with zerorun: draws a picture and encodes it to a file.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <vector>

#include <zerorun/zerorun.hpp>

int main(int argc, char** argv) {
  auto frame = zerorun::Frame::create(zerorun::PixelFormat::rgb24, 320, 200);
  auto encoder = zerorun::Encoder::create({});
  if (argc != 2 || !frame || !encoder) return 2;
  for (int y = 0; y < 200; ++y)
    for (int x = 0; x < 3 * 320; ++x)
      frame->view().data[0][y * frame->view().stride_bytes[0] + x] =
          static_cast<unsigned char>(x % 3 == 0 ? x / 4 : y);
  std::vector<std::byte> jpeg;
  const auto report = encoder->encode(frame->view(), jpeg);
  if (!report) return std::fprintf(stderr, "%s\n", report.status().message().c_str()), 1;
  std::FILE* const file = std::fopen(argv[1], "wb");
  if (file == nullptr) return 1;
  const bool written = std::fwrite(jpeg.data(), 1, jpeg.size(), file) == jpeg.size();
  return std::fclose(file) == 0 && written ? 0 : 1;
}
