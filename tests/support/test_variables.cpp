// What a test program may be told by its environment. The library reads none of it: this file does,
// before main(), and is linked into test programs alone.
//
// ZERORUN_TEST_DEVICES=3: the CPU pretends to be three CUDA devices, and there are no others.
// ZERORUN_TEST_FAILING_DEVICE=1@20: device 1, a real one too, codes 20 frames and then fails.
// ZERORUN_TEST_DECODES=followed: scans in pinned memory are decoded as they come over the bus;
// =exhaustive: all scans by the exhaustive strategy.
// Anything else than such a value ends the program.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "codec/base/cuda_device.hpp"
#ifdef ZERORUN_HAVE_CUDA
#include "cuda/decode/scan_plan.hpp"
#endif

namespace zerorun::test {
namespace {

std::string_view variable(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? std::string_view() : std::string_view(text);
}

int number_of(std::string_view text) {
  int number = -1;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && stop == text.data() + text.size() && number >= 0) return number;
  std::fprintf(stderr, "a variable for tests has no number: '%s'\n", text.data());
  std::_Exit(2);
}

/// The numbers before and behind a sign.
struct Two {
  int first, second;
};
Two two_of(std::string_view text, char sign) {
  const std::size_t at = std::min(text.find(sign), text.size());
  return {number_of(text.substr(0, at)), number_of(text.substr(std::min(at + 1, text.size())))};
}

[[maybe_unused]] const bool is_told = [] {
  TestDevices devices;
  if (const auto text = variable("ZERORUN_TEST_DEVICES"); !text.empty())
    devices.count = number_of(text);
  if (const auto text = variable("ZERORUN_TEST_FAILING_DEVICE"); !text.empty()) {
    const Two told = two_of(text, '@');
    devices.failing = told.first;
    devices.frames = told.second;
  }
  set_test_devices(devices);
#ifdef ZERORUN_HAVE_CUDA
  if (const auto text = variable("ZERORUN_TEST_DECODES"); !text.empty()) {
    DecodeChoices& choices = default_decode_choices();
    choices.always_follows_bus = text == "followed";
    choices.exhaustive_only = text == "exhaustive";
    if (!choices.always_follows_bus && !choices.exhaustive_only) (void)number_of(text);
  }
#endif
  return true;
}();

}  // namespace
}  // namespace zerorun::test
