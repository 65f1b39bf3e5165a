// What a build without libjpeg-turbo has in its place; nothing asks it to code.
// SPDX-License-Identifier: MIT
#include "apps/bench/peers/libjpeg_coder.hpp"

namespace zerorun::app::bench {

static Status absent() {
  return Status(Errc::not_built, "this build was made without libjpeg-turbo");
}

std::string libjpeg_version() { return {}; }
bool libjpeg_takes(PixelFormat) noexcept { return false; }

struct LibjpegEncoder::Impl {};
LibjpegEncoder::LibjpegEncoder(const Case&) {}
LibjpegEncoder::~LibjpegEncoder() = default;
Status LibjpegEncoder::encode(const ConstFrameView&, std::span<const std::byte>&) {
  return absent();
}

struct LibjpegDecoder::Impl {};
LibjpegDecoder::LibjpegDecoder() = default;
LibjpegDecoder::~LibjpegDecoder() = default;
Status LibjpegDecoder::decode(std::span<const std::byte>, const FrameView&) { return absent(); }

}  // namespace zerorun::app::bench
