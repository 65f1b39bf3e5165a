// --stats: a table of the frames as JSON or CSV, written while they are coded.
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "apps/common/psnr.hpp"
#include "apps/common/safe_file.hpp"

namespace zerorun::app {

/// Increase it when a column is removed or changes its meaning; add new columns at the end.
inline constexpr int kStatsVersion = 2;

/// What a frame was coded with.
struct FrameCoding {
  std::optional<double> quality;  ///< nothing with own tables
  int thrift, codings;
  std::optional<double> reached;  ///< the PSNR or SSIM that was asked for, as it came out
};

struct FrameRecord {
  std::int64_t index = 0;
  std::int64_t pts = 0;                                  ///< in the time base of the header
  std::size_t bytes = 0;                                 ///< of the JPEG stream
  double microseconds = 0.0;                             ///< coding it
  std::optional<SquaredError> error = {};                ///< encode --psnr
  std::optional<std::int64_t> concealed_intervals = {};  ///< decode
  std::optional<double> gpu_microseconds = {};           ///< encode: of the kernels; 0 on the CPU
  std::optional<int> cpu_scans = {};                     ///< decode, as in DecodeReport
  std::optional<FrameCoding> coding = {};                ///< encode
};

/// A JSON file is one object: the header's members, "frames" and "summary". A CSV file has the
/// table alone, with a line of column names, as tools for tables read it; the other members lie in
/// NAME.csv.json.
class StatsFile {
 public:
  /// Null if `path` is empty. Ends the command if the name is neither .json nor .csv (exit 2) or
  /// cannot be written (exit 4).
  static std::unique_ptr<StatsFile> open(const std::string& path, bool overwrite,
                                         const std::string& command, bool with_psnr);

  void begin(nlohmann::ordered_json header);  ///< before the first add()
  void add(const FrameRecord& record);
  void finish(const nlohmann::json& summary);

 private:
  StatsFile(const std::string& path, bool overwrite, std::string command, bool is_json,
            bool with_psnr);
  void add_json(const FrameRecord& record);
  void add_csv(const FrameRecord& record);

  SafeFile file_;
  std::optional<SafeFile> facts_;  // NAME.csv.json
  nlohmann::ordered_json head_;    // of a CSV file, until its end
  std::string command_;
  bool is_json_;
  bool with_psnr_;
  bool first_ = true;
};

}  // namespace zerorun::app
