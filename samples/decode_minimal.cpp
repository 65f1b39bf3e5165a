// Decodes a JPEG file to a PPM picture: decode_minimal INPUT.jpg OUTPUT.ppm.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <fstream>
#include <iterator>
#include <span>
#include <string>

#include <zerorun/decoder.hpp>

static int fail(const zerorun::Status& status) {
  std::fprintf(stderr, "decode_minimal: %s\n", status.message().c_str());
  return 1;
}

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: decode_minimal INPUT.jpg OUTPUT.ppm\n"), 2;

  std::ifstream input(argv[1], std::ios::binary);
  const std::string jpeg{std::istreambuf_iterator<char>(input), {}};

  auto decoder = zerorun::Decoder::create();
  if (!decoder) return fail(decoder.status());
  zerorun::Frame frame;
  auto report = decoder->decode(std::as_bytes(std::span(jpeg)), zerorun::PixelFormat::rgb24, frame);
  if (!report) return fail(report.status());
  if (report->is_concealed())
    std::fprintf(stderr, "decode_minimal: damaged: %s\n", report->first_problem.message().c_str());

  const zerorun::FrameView view = frame.view();
  std::ofstream output(argv[2], std::ios::binary);
  output << "P6\n" << view.width << ' ' << view.height << "\n255\n";
  for (int y = 0; y < view.height; ++y)
    output.write(reinterpret_cast<const char*>(view.data[0] + y * view.stride_bytes[0]),
                 std::streamsize{3} * view.width);
  return output.flush() ? 0 : fail(zerorun::Status(zerorun::Errc::write_failed));
}
