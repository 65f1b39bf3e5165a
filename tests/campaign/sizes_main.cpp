// Encodes every size from 1x1 to 64x64 in five samplings, with and without restart intervals (R17):
// libjpeg-turbo takes the stream without a warning and finds the coefficients that zerorun finds.
// usage: campaign_sizes STATE MINUTES FOLDER [WIDTHS]
// FOLDER gets WIDTH.mjpeg with the streams of one width, for FFmpeg. The last line says what was
// reached. Exit code 0: all is done and right; 1: something is wrong; 3: the next call goes on.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/campaign/numbered_work.hpp"
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

  /// What is wrong with the stream of a frame; empty: nothing.
  std::string check(Encoder& encoder, const TestFrame& frame, Bytes& jpeg) {
    if (!encoder.encode(frame.view(), jpeg).is_ok()) return "cannot be encoded";
    const auto report = decoder.decode_coefficients(jpeg, ours);
    if (!report.is_ok() || !report->first_problem.is_ok()) return "zerorun's decoder complains";
    const LibjpegVerdict verdict = libjpeg_coefficients(jpeg, theirs);
    if (!verdict.clean()) return verdict.text;
    for (std::size_t c = 0; c < ours.size(); ++c)
      if (ours.size() != theirs.size() || ours[c].values != theirs[c].values)
        return "libjpeg-turbo finds other coefficients";
    return "";
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

int run(const std::string& state, double minutes, const std::string& folder, int widths) {
  NumberedWork work({widths, state, "", minutes, 1, 1});
  Checker checker = make_checker();
  const int result = work.run([&]() -> NumberedWork::Step {
    return [&](std::int64_t step, Counts& counts) {
      const int width = static_cast<int>(step) + 1;
      std::ofstream out(folder + "/" + std::to_string(width) + ".mjpeg", std::ios::binary);
      for (int height = 1; height <= kEdge; ++height)
        for (const PixelFormat format : kSizeFormats)
          for (const bool restarts : {false, true}) {
            const TestFrame frame = make_frame(Content::noise, format, width, height,
                                               static_cast<std::uint64_t>(height));
            Bytes jpeg;
            const std::string text =
                checker.check(restarts ? checker.restarting : checker.plain, frame, jpeg);
            ++(text.empty() ? counts.clean : counts.different);
            if (text.empty())
              out.write(reinterpret_cast<const char*>(jpeg.data()),
                        static_cast<std::streamsize>(jpeg.size()));
            else
              work.tell(std::to_string(width) + "x" + std::to_string(height) + " " +
                            std::string(name(format)) + (restarts ? " with restarts: " : ": ") +
                            text,
                        jpeg);
          }
    };
  });
  std::printf("%s\n", work.text().c_str());
  return result;
}

}  // namespace
}  // namespace zerorun::test

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: campaign_sizes STATE MINUTES FOLDER [WIDTHS]\n");
    return 2;
  }
  return zerorun::test::run(argv[1], std::atof(argv[2]), argv[3],
                            argc > 4 ? std::atoi(argv[4]) : zerorun::test::kEdge);
}
