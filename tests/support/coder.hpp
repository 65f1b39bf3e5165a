// Makes the coders of a test, and streams.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

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

/// The stream of an encoder that is made for it, on the CPU.
inline std::vector<std::byte> encoded_on_cpu(const ConstFrameView& frame, EncodeParams params = {},
                                             EncodeReport* report = nullptr) {
  std::vector<std::byte> out;
  params.backend = Backend::cpu;
  auto encoder = make_coder<Encoder>(params);
  if (!encoder) return out;
  const auto made = encoder->encode(frame, out);
  EXPECT_TRUE(made) << made.status().message();
  EXPECT_TRUE(!made || made->bytes == out.size());
  if (made && report != nullptr) *report = *made;
  return made ? out : std::vector<std::byte>();
}

}  // namespace zerorun::test
