// Encoders whose device and pinned memory is full of 0xAA or of 0x55, or has held another picture.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "tests/campaign/numbered_work.hpp"
#include "tests/faults/wrapped_cudart.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::test {

inline constexpr int kFills[] = {0xAA, 0x55};

/// Their bytes are the CPU's. A picture of another format and size for each number.
class EncoderPoisoner {
 public:
  std::string check(std::int64_t number, Counts& counts) {
    const auto format = kAllFormats[number % std::int64_t{kPixelFormatCount}];
    const int edge = 1 + static_cast<int>(number);
    const TestFrame frame = make_frame(Content::photo, format, edge, 2 * edge, 1);
    Bytes expected, found;
    std::string text = coded(cpu_, frame, expected);
    for (const int fill : kFills) {
      wrapped::fill_new_memory(fill);
      auto fresh = Encoder::create(encode_params(Backend::cuda));
      text += coded(fresh, frame, found);
      if (found != expected) text += "other bytes over " + std::to_string(fill);
    }
    wrapped::fill_new_memory(-1);
    text += coded(kept_, secret_, found);
    text += coded(kept_, frame, found);
    if (found != expected) text += "other bytes after the secret picture";
    ++(text.empty() ? counts.clean : counts.different);
    return text;
  }

 private:
  static EncodeParams encode_params(Backend backend) {
    EncodeParams params;
    params.backend = backend;
    params.threads = 1;
    params.huffman = HuffmanTables::optimal;
    return params;
  }
  static std::string coded(Result<Encoder>& encoder, const TestFrame& frame, Bytes& out) {
    out.clear();
    const Status status = encoder ? encoder->encode(frame.view(), out).status() : encoder.status();
    return status ? "" : status.message();
  }

  TestFrame secret_ = make_frame(Content::noise, PixelFormat::rgb24, 640, 480, 9);
  Result<Encoder> cpu_ = Encoder::create(encode_params(Backend::cpu)),
                  kept_ = Encoder::create(encode_params(Backend::cuda));
};

}  // namespace zerorun::test
