// One line a sample, for spreadsheets and plotting tools.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include "apps/bench/report/report.hpp"
#include "apps/bench/measure/statistics.hpp"

namespace zerorun::app::bench {
namespace {

/// RFC 4180.
std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

}  // namespace

std::string report_csv(const Report& report) {
  std::string text =
      "operation,input,width,height,pixels,subsampling,quality,huffman,restart,index,streams,coder,"
      "device,path,"
      "mode,at_once,min_us,median_us,p95_us,p99_us,max_us,jitter_us,frames_per_second,"
      "input_gb_per_second,stream_bytes,psnr_db,sample,sample_us\n";
  for (const CaseResult& result : report.cases) {
    const Case& c = result.what;
    const std::string front =
        fmt::format("{},{},{},{},{},{},{},{},{},{},{}", name(c.operation), quoted(c.input), c.width,
                    c.height, zerorun::name(c.pixels), zerorun::name(c.sampling), c.quality,
                    name(c.huffman), c.restart, c.index ? "yes" : "no", name(c.streams));
    for (const Row& row : result.rows) {
      const Summary s = summarise(row.microseconds);
      const std::string of_row = fmt::format(
          "{},{},{},{},{},{},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},{:.4f},{:.1f},{}",
          front, quoted(row.coder), row.device, row.path, name(row.mode), row.parallel, s.min,
          s.median, s.p95, s.p99, s.max, s.jitter, 1e6 / s.median, row.input_bytes / s.median / 1e3,
          row.stream_bytes, row.psnr > 0 ? fmt::format("{:.3f}", row.psnr) : "");
      for (std::size_t i = 0; i < row.microseconds.size(); ++i)
        text += fmt::format("{},{},{:.3f}\n", of_row, i, row.microseconds[i]);
    }
  }
  return text;
}

}  // namespace zerorun::app::bench
