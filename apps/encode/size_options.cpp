// Options of `zerorun encode` that say how large the result shall be.
// SPDX-License-Identifier: MIT
#include "apps/encode/size_options.hpp"

#include <fmt/core.h>

#include "apps/common/failure.hpp"
#include "apps/common/options.hpp"
#include "apps/common/text.hpp"

namespace zerorun::app {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 50;
constexpr const char* kExpected = "a number from 1 on, also with k, M or G (200000, 200k, 1.5M)";

std::int64_t unit_of(char letter) {
  switch (letter) {
    case 'k':
      return 1000;
    case 'M':
      return 1000000;
    case 'G':
      return 1000000000;
    default:
      return 0;
  }
}

}  // namespace

std::optional<std::int64_t> parse_amount(const std::string& text) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  std::int64_t unit = unit_of(text.back());
  const std::string number = unit == 0 ? text : text.substr(0, text.size() - 1);
  if (unit == 0) unit = 1;
  const std::size_t point = number.find('.');
  const auto whole = parse_integer(number.substr(0, point));
  if (!whole || *whole < 0 || *whole > kMost / unit) return std::nullopt;
  std::int64_t amount = *whole * unit;
  if (point != std::string::npos) {
    if (point + 1 == number.size()) return std::nullopt;
    for (const char digit : number.substr(point + 1)) {
      if (digit < '0' || digit > '9' || unit % 10 != 0) return std::nullopt;
      unit /= 10;
      amount += (digit - '0') * unit;
    }
  }
  if (amount < 1 || amount > kMost) return std::nullopt;
  return amount;
}

void add_size_options(CLI::App& command, SizeOptions& options) {
  command.option_defaults()->group("Size");
  CLI::Option* target = add_parsed(
      command, "--target-size", options.target, parse_amount, "BYTES", kExpected,
      "Find the quality with which each frame has this size: never more bytes, and at most 0.5 % "
      "fewer if the picture can fill them. --quality does not count");
  add_parsed(command, "--max-frame-size", options.max_frame, parse_amount, "BYTES", kExpected,
             "Code with --quality, and frames that would be larger so that they fill these bytes");
  CLI::Option* bitrate =
      add_parsed(command, "--bitrate", options.bitrate, parse_amount, "BITS", kExpected,
                 "Bits a second, by a leaky bucket that begins half full: frames get equal shares, "
                 "and more after frames that did not fill theirs. Needs the frame rate (--fps)")
          ->excludes(target);
  add_parsed(command, "--bucket", options.bucket, parse_amount, "BYTES", kExpected,
             "With --bitrate: what the receiver's buffer holds")
      ->needs(bitrate)
      ->default_str("a second");
  command.add_flag("--note-setting", options.note_setting,
                   "Put a COM segment into every frame that tells the quality it was coded with");
}

SizeGoal size_goal(const SizeOptions& options) {
  return {static_cast<std::size_t>(options.target), static_cast<std::size_t>(options.max_frame)};
}

RateControl make_rate_control(const SizeOptions& options, const std::string& input,
                              io::Rational rate) {
  if (!rate.known())
    fail(Exit::usage, input + ": --bitrate needs the frame rate, and the input tells none (--fps)");
  auto made = RateControl::create({options.bitrate, rate.num, rate.den,
                                   static_cast<std::size_t>(options.bucket),
                                   static_cast<std::size_t>(options.max_frame)});
  if (!made) fail(Exit::usage, "--bitrate", made.status());
  return *std::move(made);
}

std::string size_text(const SizeOptions& options, int quality) {
  if (options.bitrate != 0) return with_commas(options.bitrate) + " bits/s";
  if (options.target != 0) return with_commas(options.target) + " bytes a frame";
  const std::string cap = options.max_frame == 0 ? ""
                                                 : fmt::format(", at most {} bytes a frame",
                                                               with_commas(options.max_frame));
  return fmt::format("quality {}{}", quality, cap);
}

std::string size_parameters(const SizeOptions& options) {
  return fmt::format("target {} max {} note {}", options.target, options.max_frame,
                     options.note_setting);
}

}  // namespace zerorun::app
