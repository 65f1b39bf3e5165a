// What a run did, for people and for programs.
// SPDX-License-Identifier: MIT
#include "apps/common/summary.hpp"

#include <fmt/core.h>

#include "apps/common/text.hpp"

namespace zerorun::app {
double RunSummary::stream_seconds() const noexcept {
  return static_cast<double>(frames) / (rate.known() ? rate.value() : 25.0);
}

std::string RunSummary::text() const {
  const double bits = 8.0 * static_cast<double>(coded_bytes);
  const double fps = ratio(static_cast<double>(frames), seconds);
  std::string text = fmt::format("{}: {} frame{}, {}x{}, {:.2f} s\n", output, frames,
                                 frames == 1 ? "" : "s", width, height, stream_seconds());
  if (coded_bytes > 0)
    text += fmt::format("  JPEG     {} bytes, {:.2f} Mb/s, {:.3f} bits per pixel\n",
                        with_commas(coded_bytes), ratio(bits, stream_seconds()) * 1e-6,
                        ratio(bits, static_cast<double>(pixels)));
  text += fmt::format("  output   {} bytes\n", with_commas(output_bytes));
  if (times.count() > 0) text += fmt::format("  {}   ms per frame: {}\n", verb, times_text(times));
  text +=
      fmt::format("  all      {:.2f} s with input and output, {:.1f} fps, {:.2f}x real time; {}",
                  seconds, fps, ratio(stream_seconds(), seconds), device);
  if (!steps.steps.empty())
    text +=
        fmt::format("\n  steps    {} of the time; {:.2f} s to start", steps.text(), start_seconds);
  if (!steps.sentence.empty()) text += "\n  slowest  " + steps.sentence;
  if (cpu_frames > 0)
    text += fmt::format("\n  on CPU   {} damaged or unusual frame{} decoded by the CPU", cpu_frames,
                        cpu_frames == 1 ? "" : "s");
  if (error)
    text += fmt::format("\n  PSNR     {:.3f} dB ({})", error->psnr(), psnr_components_text(*error));
  return text;
}

nlohmann::json RunSummary::json() const {
  const double bits = 8.0 * static_cast<double>(coded_bytes);
  nlohmann::json summary = {{"output", output},
                            {"device", device},
                            {"frames", frames},
                            {"width", width},
                            {"height", height},
                            {"stream_seconds", stream_seconds()},
                            {"bytes", coded_bytes},
                            {"output_bytes", output_bytes},
                            {"bits_per_pixel", ratio(bits, static_cast<double>(pixels))},
                            {"start_seconds", start_seconds},
                            {"seconds", seconds},
                            {"steps", steps.json()},
                            {"fps", ratio(static_cast<double>(frames), seconds)},
                            {verb + "_ms", times_json(times)}};
  if (!lost_devices.empty()) {
    nlohmann::json& list = summary["lost_devices"] = nlohmann::json::array();
    for (const LostDevice& lost : lost_devices)
      list.push_back(
          {{"device", "cuda:" + std::to_string(lost.device)}, {"reason", lost.why.message()}});
  }
  if (verb == "decode") {
    summary["concealed_frames"] = concealed_frames;
    summary["cpu_frames"] = cpu_frames;
  }
  if (error) add_psnr(summary, *error);
  return summary;
}

}  // namespace zerorun::app
