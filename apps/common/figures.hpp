// Numbers as text and JSON, among them times per frame and PSNR; and words of the command line as
// numbers.
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "codec/base/pixel_rows.hpp"
#include "zerorun/backend.hpp"
#include "zerorun/content.hpp"

namespace zerorun::app {

std::string with_commas(std::int64_t value);  ///< 24,123,456
/// 0:04, 1:02:03; 0:04.250 with `decimals`.
std::string clock_text(double seconds, bool decimals = false);
std::string rational_text(io::Rational rate);  ///< "25", "30000/1001", "unknown"

/// "25", "30000/1001", "23.976" (24000/1001), "12.5" (25/2); nullopt if it is not a positive
/// number.
std::optional<io::Rational> parse_rational(std::string_view text);

/// A number and nothing else; nullopt also on overflow.
template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}
inline std::optional<std::int64_t> parse_integer(std::string_view text) {
  return parse_number<std::int64_t>(text);
}

/// "A:B", "A:" or ":B" with numbers from 0 on; an end that is left out keeps its value. False on
/// anything else.
bool parse_ends(std::string_view text, std::int64_t& first, std::int64_t& last);

struct FrameRange {
  std::int64_t first = 0;
  std::int64_t last = -1;  ///< not included; -1 = to the end
};
/// "A:B", "A:", ":B", half open; "N" is "0:N"; nullopt if it is malformed or empty.
inline std::optional<FrameRange> parse_range(std::string_view text) {
  FrameRange range;
  if (const auto count = parse_integer(text))
    range.last = *count;
  else if (!parse_ends(text, range.first, range.last))
    return std::nullopt;
  const bool is_open = range.last < 0 && text.ends_with(':');
  return is_open || range.last > range.first ? std::optional(range) : std::nullopt;
}

/// 0 if `by` is not positive.
inline double ratio(double value, double by) { return by > 0 ? value / by : 0.0; }

/// Percentiles are nearest-rank: the least value that p % of the values do not exceed.
struct Distribution {
  double min = 0, mean = 0, median = 0, p95 = 0, p99 = 0, max = 0;
};

/// `sorted` has at least one value.
Distribution distribution_of(const std::vector<double>& sorted);

/// Takes four bytes per frame.
class FrameTimes {
 public:
  void add(double microseconds) {
    microseconds_.push_back(static_cast<float>(microseconds));
    sum_ += microseconds;
  }
  std::size_t count() const noexcept { return microseconds_.size(); }
  double first_ms() const noexcept {
    return microseconds_.empty() ? 0.0 : static_cast<double>(microseconds_.front()) * 1e-3;
  }
  /// Of all frames so far.
  double mean_ms() const noexcept { return ratio(sum_ * 1e-3, static_cast<double>(count())); }

  /// In milliseconds. Of the frames after the first, which allocates memory and builds tables; of
  /// the first if it is the only one.
  Distribution distribution() const;

 private:
  std::vector<float> microseconds_;
  double sum_ = 0;
};

class Stopwatch {
 public:
  double microseconds() const noexcept {
    return std::chrono::duration<double, std::micro>(Clock::now() - start_).count();
  }
  double seconds() const noexcept { return microseconds() * 1e-6; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

/// "min 1.2, mean 1.3, median 1.3, p95 1.5, p99 1.8, max 2.0; first 3.4"
std::string times_text(const FrameTimes& times);
inline nlohmann::json times_json(const FrameTimes& times) {
  if (times.count() == 1) return {{"first", times.first_ms()}};  // one value has no distribution
  const Distribution d = times.distribution();
  return {{"first", times.first_ms()},
          {"min", d.min},
          {"mean", d.mean},
          {"median", d.median},
          {"p95", d.p95},
          {"p99", d.p99},
          {"max", d.max}};
}

/// "Y 43.210, Cb 45.000, Cr 44.100": the components.
std::string psnr_components_text(const SquaredError& error);

/// Decibels as JSON: null if nothing differs, because JSON has no infinity.
inline nlohmann::json psnr_json(double decibels) {
  return std::isinf(decibels) ? nlohmann::json()
                              : nlohmann::json(std::round(decibels * 1000.0) / 1000.0);
}
/// Adds "psnr" and "psnr_components".
template <typename Json>
void add_psnr(Json& to, const SquaredError& error) {
  to["psnr"] = psnr_json(error.psnr());
  to["psnr_components"] = Json::array();
  for (int c = 0; c < error.components; ++c)
    to["psnr_components"].emplace_back(psnr_json(error.psnr(c)));
}

/// "lost_devices", if there are any: devices that failed while others went on.
void add_lost_devices(nlohmann::json& to, const std::vector<LostDevice>& lost);

/// File names, tags and EXIF come from outside and need not be UTF-8, as JSON is: other bytes
/// become U+FFFD. dump() alone would throw.
template <typename Json>
std::string json_text(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace zerorun::app
