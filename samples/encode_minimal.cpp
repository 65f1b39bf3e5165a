// Encodes the pictures of an input, each to a JPEG file: encode_minimal INPUT PREFIX.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include <zerorun/encoder.hpp>
#include <zerorun/io.hpp>

static int fail(const zerorun::Status& status) {
  return std::fprintf(stderr, "encode_minimal: %s\n", status.message().c_str()), 1;
}

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: encode_minimal INPUT PREFIX\n"), 2;
  auto source = zerorun::io::open_frames({argv[1], "", {}}, {});
  if (!source) return fail(source.status());
  zerorun::EncodeParams params;
  params.quality = 85;
  auto encoder = zerorun::Encoder::create(params);
  if (!encoder) return fail(encoder.status());
  zerorun::Frame frame;  // both keep their memory from frame to frame
  std::vector<std::byte> jpeg;
  zerorun::io::FrameTime time;
  for (int number = 1;; ++number) {
    auto more = (*source)->read(frame, time);
    if (!more) return fail(more.status());
    if (!*more) return 0;
    auto report = encoder->encode(frame.view(), jpeg);
    if (!report) return fail(report.status());
    std::ofstream file(argv[2] + std::to_string(number) + ".jpg", std::ios::binary);
    const auto size = static_cast<std::streamsize>(jpeg.size());
    if (!file.write(reinterpret_cast<const char*>(jpeg.data()), size).flush())
      return fail(zerorun::Status(zerorun::Errc::write_failed));
  }
}
