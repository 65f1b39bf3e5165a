// Figures of reports as text and JSON: times per frame, and PSNR.
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "codec/base/frame_distance.hpp"
#include "zerorun/backend.hpp"

namespace zerorun::app {

/// Percentiles are nearest-rank: the least value that p % of the values do not exceed.
struct Distribution {
  double min = 0, mean = 0, median = 0, p95 = 0, p99 = 0, max = 0;
};

/// `sorted` has at least one value.
Distribution distribution_of(const std::vector<double>& sorted);

/// Takes four bytes per frame.
class FrameTimes {
 public:
  void add(double microseconds);
  std::size_t count() const noexcept { return microseconds_.size(); }
  double first_ms() const noexcept;
  double mean_ms() const noexcept;  ///< of all frames so far

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
nlohmann::json times_json(const FrameTimes& times);

/// 0 if `by` is not positive.
inline double ratio(double value, double by) { return by > 0 ? value / by : 0.0; }

/// "Y 43.210, Cb 45.000, Cr 44.100": the components.
std::string psnr_components_text(const SquaredError& error);

/// Decibels as JSON: null if nothing differs, because JSON has no infinity.
nlohmann::json psnr_json(double decibels);
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
