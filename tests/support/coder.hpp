// Makes the coders of a test, and streams.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::test {

/// Nothing if the coder cannot be made; the test has then failed.
template <typename Coder, typename Params>
std::optional<Coder> make_coder(const Params& params) {
  auto coder = Coder::create(params);
  EXPECT_TRUE(coder) << coder.status().message();
  if (!coder) return std::nullopt;
  return *std::move(coder);
}

/// Coders on the CPU. Where one cannot be made the test fails, and ends.
inline Encoder cpu_encoder(EncodeParams params = {}) {
  params.backend = Backend::cpu;
  return make_coder<Encoder>(params).value();
}
inline Decoder cpu_decoder(DecodeParams params = {}) {
  params.backend = Backend::cpu;
  return make_coder<Decoder>(params).value();
}

inline std::vector<std::byte> encoded_by(Encoder& encoder, const ConstFrameView& frame,
                                         EncodeReport* report = nullptr) {
  std::vector<std::byte> out;
  const auto made = encoder.encode(frame, out);
  EXPECT_TRUE(made) << made.status().message();
  EXPECT_TRUE(!made || made->bytes == out.size());
  if (made && report != nullptr) *report = *made;
  return made ? out : std::vector<std::byte>();
}

/// The stream of an encoder that is made for it, on the CPU.
inline std::vector<std::byte> encoded_on_cpu(const ConstFrameView& frame, EncodeParams params = {},
                                             EncodeReport* report = nullptr) {
  params.backend = Backend::cpu;
  auto encoder = make_coder<Encoder>(params);
  return encoder ? encoded_by(*encoder, frame, report) : std::vector<std::byte>();
}

}  // namespace zerorun::test
