// What a run of `zerorun play` did.
// SPDX-License-Identifier: MIT
#include "apps/play/play_report.hpp"

#include <fmt/core.h>

#include "apps/common/console.hpp"
#include "apps/common/json_text.hpp"
#include "apps/common/text.hpp"

namespace zerorun::app {
namespace {

/// ", 3 dropped"; empty if there are none.
std::string also(const char* word, std::int64_t count) {
  return count > 0 ? fmt::format(", {} {}", count, word) : std::string();
}

}  // namespace

void PlayReport::add_error(const SquaredError& of_pair, PixelFormat format) {
  if (!error) error.emplace();
  error->add(of_pair);
  ++compared;
  compared_format = format;
}

std::string PlayReport::text() const {
  const auto decoded = static_cast<double>(counts.decoded);
  std::string text;
  if (times) {
    text = fmt::format("{}: {} frames, {}x{}, {:.2f} s, {:.1f} fps", input, counts.decoded, width,
                       height, seconds, ratio(decoded, seconds));
  } else {
    text = fmt::format("{}: {} frames shown in {:.2f} s, {} decoded", input, shown, seconds,
                       counts.decoded);
  }
  text += also("dropped", counts.dropped) + also("too late", late) +
          also("concealed", counts.concealed) + also("on the CPU", counts.on_cpu) +
          also("broken", counts.broken);
  if (counts.bytes > 0)
    text += fmt::format("\n  JPEG     {} bytes, {:.1f} MB/s", with_commas(counts.bytes),
                        ratio(static_cast<double>(counts.bytes) * 1e-6, seconds));
  if (times && times->count() > 0) {
    text += fmt::format("\n  decode   ms per frame: {}", times_text(*times));
  } else if (counts.total_ms > 0) {
    text += fmt::format("\n  decode   ms per frame: mean {:.2f}, max {:.2f}",
                        ratio(counts.total_ms, decoded), counts.max_ms);
  }
  text += "\n  device   " + device;
  for (const LostDevice& lost : lost_devices)
    text += fmt::format("\n           cuda:{} failed, the others went on: {}", lost.device,
                        lost.why.message());
  if (error)
    text += fmt::format("\n  PSNR     {:.3f} dB over {} frame{} ({})", error->psnr(), compared,
                        compared == 1 ? "" : "s", psnr_components_text(*error));
  if (ssim_pairs > 0)
    text += fmt::format("\n  SSIM     {:.6f} over {} frame{} (Y)",
                        ratio(ssim_sum, static_cast<double>(ssim_pairs)), ssim_pairs,
                        ssim_pairs == 1 ? "" : "s");
  return text;
}

nlohmann::json PlayReport::json() const {
  const auto decoded = static_cast<double>(counts.decoded);
  nlohmann::json out = {
      {"input", input},
      {"device", device},
      {"width", width},
      {"height", height},
      {"seconds", seconds},
      {"shown", shown},
      {"decoded", counts.decoded},
      {"dropped", counts.dropped},
      {"late", late},
      {"concealed_frames", counts.concealed},
      {"cpu_frames", counts.on_cpu},
      {"broken_frames", counts.broken},
      {"bytes", counts.bytes},
      {"fps", ratio(decoded, seconds)},
      {"decode_ms", {{"mean", ratio(counts.total_ms, decoded)}, {"max", counts.max_ms}}}};
  for (const LostDevice& lost : lost_devices)
    out["lost_devices"].push_back(
        {{"device", fmt::format("cuda:{}", lost.device)}, {"reason", lost.why.message()}});
  if (times && times->count() > 0) out["decode_ms"] = times_json(*times);
  if (sound)
    out["sound"] = {
        {"driver", sound->driver}, {"seconds", sound->seconds}, {"drift_ms", sound->drift_ms}};
  if (error) {
    out["compared"] = compared;
    out["psnr_of"] = psnr_components(compared_format);
    add_psnr(out, *error);
    if (ssim_pairs > 0) out["ssim"] = ratio(ssim_sum, static_cast<double>(ssim_pairs));
  }
  return out;
}

const char* psnr_components(PixelFormat format) noexcept {
  if (format == PixelFormat::gray8) return "Y";
  return is_rgb(format) ? "RGB" : "Y Cb Cr";
}

void print_report(const PlayReport& report, bool as_json) {
  if (as_json) {
    fmt::print("{}\n", json_text(report.json(), 2));
  } else {
    console::plain(report.text());
  }
}

}  // namespace zerorun::app
