// Makes the coders of a test.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <utility>

namespace zerorun::test {

/// Nothing if the coder cannot be made; the test has then failed.
template <typename Coder, typename Params>
std::optional<Coder> make_coder(const Params& params) {
  auto coder = Coder::create(params);
  EXPECT_TRUE(coder) << coder.status().message();
  if (!coder) return std::nullopt;
  return *std::move(coder);
}

}  // namespace zerorun::test
