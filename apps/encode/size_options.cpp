// Options of `zerorun encode` that say how large the result shall be.
// SPDX-License-Identifier: MIT
#include "apps/encode/size_options.hpp"

#include <fmt/core.h>

#include <charconv>
#include <system_error>

#include "apps/common/failure.hpp"
#include "apps/common/option_kinds.hpp"
#include "apps/common/options.hpp"
#include "apps/common/text.hpp"

namespace zerorun::app {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;
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

/// A number above 0, up to `most`.
std::optional<double> parse_target(const std::string& text, double most) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || last != end || !(number > 0 && number <= most)) return std::nullopt;
  return number;
}

/// Thousands; nullopt if it is not a whole number from 1 to 2^50.
std::optional<std::int64_t> parse_amount(const std::string& text) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  std::int64_t unit = unit_of(text.back());
  const std::string number = unit == 0 ? text : text.substr(0, text.size() - 1);
  if (unit == 0) unit = 1;
  const std::size_t point = number.find('.');
  const auto whole = parse_integer(number.substr(0, point));
  if (!whole || *whole < 0 || *whole > kMostBytes / unit) return std::nullopt;
  std::int64_t amount = *whole * unit;
  if (point != std::string::npos) {
    if (point + 1 == number.size()) return std::nullopt;
    for (const char digit : number.substr(point + 1)) {
      if (digit < '0' || digit > '9' || unit % 10 != 0) return std::nullopt;
      unit /= 10;
      amount += (digit - '0') * unit;
    }
  }
  if (amount < 1 || amount > kMostBytes) return std::nullopt;
  return amount;
}

/// One of these and no size.
void add_quality_targets(CLI::App& command, SizeOptions& options) {
  CLI::Option* psnr = add_parsed(
      command, "--target-psnr", options.psnr,
      [](const std::string& text) { return parse_target(text, 200); }, "DB",
      "a number of dB above 0, up to 200 (42.5)",
      "Find the lowest quality, in 16ths, with which each frame has this PSNR, as --psnr measures "
      "it. --quality does not count");
  CLI::Option* ssim = add_parsed(
      command, "--target-ssim", options.ssim,
      [](const std::string& text) { return parse_target(text, 1); }, "VALUE",
      "a number above 0, up to 1 (0.985)",
      "The same for the SSIM of luma, as FFmpeg's ssim filter measures it");
  psnr->excludes(ssim);
  for (const char* size : {"--target-size", "--max-frame-size", "--bitrate"})
    for (CLI::Option* target : {psnr, ssim}) target->excludes(command.get_option(size));
}

}  // namespace

CLI::Option* add_amount(CLI::App& command, const std::string& option, std::int64_t& target,
                        const std::string& type, const std::string& help) {
  return add_parsed(command, option, target, parse_amount, type, kExpected, help);
}

void add_size_options(CLI::App& command, SizeOptions& options) {
  command.option_defaults()->group("Size");
  CLI::Option* target = add_amount(
      command, "--target-size", options.target, "BYTES",
      "Find the quality with which each frame has this size: never more bytes, mostly at most "
      "0.5 % fewer. --quality does not count");
  add_amount(command, "--max-frame-size", options.max_frame, "BYTES",
             "Code with --quality, and frames that would be larger so that they fill these bytes");
  CLI::Option* bitrate =
      add_amount(
          command, "--bitrate", options.bitrate, "BITS",
          "Bits a second, by a leaky bucket that begins half full: frames get equal shares, "
          "and more after frames that did not fill theirs. Pictures have 25 a second without --fps")
          ->excludes(target);
  add_amount(command, "--bucket", options.bucket, "BYTES",
             "With --bitrate: what the receiver's buffer holds")
      ->needs(bitrate)
      ->default_str("a second, or four frames if those are more");
  add_quality_targets(command, options);
  command.add_flag(
      "--note-setting", options.note_setting,
      "Put a COM segment into every frame that tells the quality it was coded with, or "
      "that its tables are those of --qtables");
}

SizeGoal size_goal(const SizeOptions& options) {
  return {static_cast<std::size_t>(options.target), static_cast<std::size_t>(options.max_frame),
          options.psnr, options.ssim};
}

RateControl make_rate_control(const SizeOptions& options, const std::string& input,
                              io::Rational rate) {
  if (!rate.known())
    fail(Exit::usage, input + ": --bitrate needs the frame rate, and the input tells none (--fps)");
  auto made = RateControl::create({options.bitrate, rate.num, rate.den,
                                   static_cast<std::size_t>(options.bucket),
                                   static_cast<std::size_t>(options.max_frame)});
  if (!made)
    fail(Exit::usage, options.bucket != 0 ? "--bitrate and --bucket" : "--bitrate", made.status());
  return *std::move(made);
}

std::string size_text(const SizeOptions& options, int quality) {
  if (options.bitrate != 0) return with_commas(options.bitrate) + " bits/s";
  if (options.target != 0) return with_commas(options.target) + " bytes a frame";
  if (options.psnr != 0) return fmt::format("{} dB a frame", options.psnr);
  if (options.ssim != 0) return fmt::format("SSIM {} a frame", options.ssim);
  const std::string cap = options.max_frame == 0 ? ""
                                                 : fmt::format(", at most {} bytes a frame",
                                                               with_commas(options.max_frame));
  return fmt::format("quality {}{}", quality, cap);
}

std::string size_parameters(const SizeOptions& options) {
  std::string text = fmt::format("target {} max {} note {}", options.target, options.max_frame,
                                 options.note_setting);
  if (options.is_of_quality()) text += fmt::format(" psnr {} ssim {}", options.psnr, options.ssim);
  return text;
}

}  // namespace zerorun::app
