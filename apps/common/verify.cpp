// encode --verify: reads the output back and compares it with what was coded.
// SPDX-License-Identifier: MIT
#include "apps/common/verify.hpp"

#include <fmt/core.h>

#include "apps/common/failure.hpp"
#include "apps/common/signals.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/source.hpp"

namespace zerorun::app {

/// FNV-1a with 64 bits. The bytes are our own, so nobody makes collisions on purpose.
Verifier::Fingerprint Verifier::fingerprint(std::span<const std::byte> jpeg) noexcept {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (const std::byte byte : jpeg)
    hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001B3u;
  return {hash, static_cast<std::uint32_t>(jpeg.size())};
}

void Verifier::add(std::span<const std::byte> jpeg) { frames_.push_back(fingerprint(jpeg)); }

void Verifier::check(const io::Location& output) const {
  auto source = value_or_fail(io::open_packets(output, {}), Exit::mismatch, output.name);
  DecodeParams params;
  params.backend = Backend::cpu;
  params.strict = true;
  params.limits = StreamLimits::any_size();
  Decoder decoder = value_or_fail(Decoder::create(params), Exit::failed, output.name);
  std::vector<std::byte> jpeg;
  std::vector<ComponentPlane> planes;
  io::FrameTime time;
  for (std::size_t i = 0;; ++i) {
    if (signals::must_stop_now()) return;
    if (!value_or_fail(source->read(jpeg, time), Exit::mismatch, output.name)) {
      if (i == frames_.size()) return;
      fail(Exit::mismatch,
           fmt::format("{}: verification failed: {} frames were coded, but the file holds {}",
                       output.name, frames_.size(), i));
    }
    if (i >= frames_.size())
      fail(Exit::mismatch, fmt::format("{}: verification failed: it holds more than the {} frames "
                                       "that were coded",
                                       output.name, frames_.size()));
    if (fingerprint(jpeg) != frames_[i])
      fail(Exit::mismatch, fmt::format("{}: verification failed: frame {} has {} bytes that differ "
                                       "from the {} that were coded",
                                       output.name, i, jpeg.size(), frames_[i].bytes));
    if (auto report = decoder.decode_planes(jpeg, planes); !report)
      fail(Exit::mismatch, fmt::format("{}: verification failed: frame {} does not decode: {}",
                                       output.name, i, report.status().message()));
  }
}

}  // namespace zerorun::app
