// Encodes a camera (a number) or a video through OpenCV to raw Motion JPEG, several frames at a
// time: opencv_camera CAMERA|VIDEO OUTPUT.mjpeg [FRAMES].
// SPDX-License-Identifier: MIT
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

#include <opencv2/videoio.hpp>

#include <zerorun/async.hpp>
#include <zerorun/opencv.hpp>

static int fail(const zerorun::Status& status) {
  std::fprintf(stderr, "opencv_camera: %s\n", status.message().c_str());
  return 1;
}

int main(int argc, char** argv) {
  if (argc < 3)
    return std::fprintf(stderr, "usage: opencv_camera CAMERA|VIDEO OUTPUT.mjpeg [FRAMES]\n"), 2;
  cv::VideoCapture capture;
  const bool camera = std::isdigit(argv[1][0]) && argv[1][1] == '\0';
  if (!(camera ? capture.open(argv[1][0] - '0') : capture.open(argv[1])))
    return std::fprintf(stderr, "opencv_camera: cannot open %s\n", argv[1]), 1;
  const long limit = argc > 3 ? std::atol(argv[3]) : -1;

  // A matrix must not change until its frame is received: there is one for each frame in flight.
  std::vector<cv::Mat> pictures;  // outlives the encoder, which reads them
  zerorun::AsyncEncodeParams params;
  params.encode.quality = 85;
  auto encoder = zerorun::AsyncEncoder::create(params);
  if (!encoder) return fail(encoder.status());
  std::ofstream output(argv[2], std::ios::binary);

  pictures.resize(static_cast<std::size_t>(encoder->depth()));
  zerorun::EncodedFrame encoded;
  std::size_t submitted = 0;
  const auto receive = [&](bool wait) {
    if (encoder->receive(encoded, wait) != zerorun::Received::frame) return false;
    if (!encoded.status) std::exit(fail(encoded.status));
    output.write(reinterpret_cast<const char*>(encoded.jpeg.data()),
                 static_cast<std::streamsize>(encoded.jpeg.size()));
    return true;
  };
  while (limit < 0 || static_cast<long>(submitted) < limit) {
    if (encoder->in_flight() == encoder->depth()) receive(true);
    cv::Mat& picture = pictures[submitted % pictures.size()];
    if (!capture.read(picture)) break;
    const auto view = zerorun::opencv::frame_view(picture);
    if (!view) return fail(view.status());
    if (const auto status = encoder->submit(*view); !status) return fail(status);
    ++submitted;
  }
  encoder->finish();
  while (receive(true)) {
  }
  if (!output.flush()) return fail(zerorun::Status(zerorun::Errc::write_failed, argv[2]));
  std::printf("%zu frames\n", submitted);
}
