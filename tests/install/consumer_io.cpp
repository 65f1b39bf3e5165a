// Counts the frames of an input: the component io from outside.
// SPDX-License-Identifier: MIT
#include <cstdio>

#include <zerorun/io.hpp>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto source = zerorun::io::open_frames({argv[1], "", {}}, {});
  if (!source) return std::fprintf(stderr, "%s\n", source.status().message().c_str()), 1;
  zerorun::Frame frame;
  zerorun::io::FrameTime time;
  int frames = 0;
  for (;; ++frames) {
    const auto more = (*source)->read(frame, time);
    if (!more) return std::fprintf(stderr, "%s\n", more.status().message().c_str()), 1;
    if (!*more) break;
  }
  std::printf("%d frames of %dx%d\n", frames, frame.width(), frame.height());
}
