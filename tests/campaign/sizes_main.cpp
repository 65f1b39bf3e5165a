// Encodes every size from 1x1 to 64x64 in five samplings, with and without restart intervals (R17):
// libjpeg-turbo takes the stream without a warning and finds the coefficients that zerorun finds.
// usage: campaign_sizes STATE MINUTES FOLDER [WIDTHS]
// FOLDER gets WIDTH.mjpeg with the streams of one width, for FFmpeg. The last line says what was
// reached. Exit code 0: all is done and right; 1: something is wrong; 3: the next call goes on.
// SPDX-License-Identifier: MIT
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/campaign/streams.hpp"
#include "tests/support/jpeg_segments.hpp"
#include "tests/support/libjpeg_decode.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::test {
namespace {

struct Checker {
  Encoder plain, restarting;
  Decoder decoder;
  std::vector<ComponentCoefficients> ours, theirs;
  long streams = 0, wrong = 0;

  void check(Encoder& encoder, const TestFrame& frame, const std::string& name,
             std::ofstream& out) {
    Bytes jpeg;
    ++streams;
    if (!encoder.encode(frame.view(), jpeg).is_ok()) return complain(name, "cannot be encoded");
    const auto report = decoder.decode_coefficients(jpeg, ours);
    if (!report.is_ok() || !report->first_problem.is_ok())
      return complain(name, "zerorun's decoder complains");
    const LibjpegVerdict verdict = libjpeg_coefficients(jpeg, theirs);
    if (!verdict.clean()) return complain(name, verdict.text);
    for (std::size_t c = 0; c < ours.size(); ++c)
      if (ours.size() != theirs.size() || ours[c].values != theirs[c].values)
        return complain(name, "libjpeg-turbo finds other coefficients");
    out.write(reinterpret_cast<const char*>(jpeg.data()),
              static_cast<std::streamsize>(jpeg.size()));
  }

  void complain(const std::string& name, const std::string& what) {
    ++wrong;
    std::printf("wrong: %s: %s\n", name.c_str(), what.c_str());
  }
};

Encoder make_encoder(const RestartPolicy& restart) {
  EncodeParams params;
  params.backend = Backend::cpu;
  params.threads = 1;
  params.restart = restart;
  return *Encoder::create(params);
}

Checker make_checker() {
  DecodeParams params;
  params.backend = Backend::cpu;
  params.threads = 1;
  return {make_encoder(RestartPolicy::none()),
          make_encoder(RestartPolicy::mcus(3)),
          *Decoder::create(params),
          {},
          {}};
}

void check_width(Checker& checker, int width, const std::string& folder) {
  std::ofstream out(folder + "/" + std::to_string(width) + ".mjpeg", std::ios::binary);
  for (int height = 1; height <= kEdge; ++height)
    for (const PixelFormat format : kSizeFormats) {
      const TestFrame frame =
          make_frame(Content::noise, format, width, height, static_cast<std::uint64_t>(height));
      const std::string name = std::to_string(width) + "x" + std::to_string(height) + " " +
                               std::string(zerorun::name(format));
      checker.check(checker.plain, frame, name, out);
      checker.check(checker.restarting, frame, name + " with restarts", out);
    }
}

int run(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: campaign_sizes STATE MINUTES FOLDER [WIDTHS]\n");
    return 2;
  }
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::duration<double>(60 * std::atof(argv[2]));
  const int widths = argc > 4 ? std::atoi(argv[4]) : kEdge;
  Checker checker = make_checker();
  int width = 0;
  std::ifstream(argv[1]) >> width >> checker.streams >> checker.wrong;
  while (width < widths && std::chrono::steady_clock::now() < end) {
    check_width(checker, ++width, argv[3]);
    std::ofstream(argv[1]) << width << ' ' << checker.streams << ' ' << checker.wrong << '\n';
  }
  std::printf("%ld streams of %d widths, %ld wrong\n", checker.streams, width, checker.wrong);
  return checker.wrong > 0 ? 1 : width < widths ? 3 : 0;
}

}  // namespace
}  // namespace zerorun::test

int main(int argc, char** argv) { return zerorun::test::run(argc, argv); }
