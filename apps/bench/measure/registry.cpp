// The libraries that can be measured. Functions of libraries that CMake did not find are null:
// their files are not linked, and the declarations here are weak.
// SPDX-License-Identifier: MIT
#include "apps/bench/measure/coder.hpp"

namespace zerorun::app::bench {

[[gnu::weak]] Status add_cuda_coders(const Setting& setting, Coders& coders);
[[gnu::weak]] Status add_cuda_teams(const Setting& setting, Coders& coders);
[[gnu::weak]] Status add_nvjpeg(const Setting& setting, Coders& coders);
Status add_cpu_coders(const Setting& setting, Coders& coders);
[[gnu::weak]] Status add_libjpeg(const Setting& setting, Coders& coders);
[[gnu::weak]] Status add_ffmpeg(const Setting& setting, Coders& coders);
[[gnu::weak]] Status add_opencv(const Setting& setting, Coders& coders);
[[gnu::weak]] Status add_fused_steps(const Setting& setting, Coders& coders);
Status add_steps(const Setting& setting, Coders& coders);

std::span<const CoderSource> coder_sources() {
  using S = const Setting&;
  constexpr auto always = [](S) { return true; };
  constexpr auto on_cpu = [](S s) { return s.selection.cpu; };
  constexpr auto on_gpu = [](S s) { return !s.selection.cuda.empty(); };
  constexpr auto on_gpus = [](S s) { return !s.selection.teams.empty(); };
  constexpr auto for_bgr = [](S s) { return s.what.pixels == PixelFormat::bgr24; };
  constexpr auto fused = [](S s) { return !s.selection.cuda.empty() && !s.frames.mixed; };
  constexpr auto one_size = [](S s) { return !s.frames.mixed; };
  static const CoderSource kSources[] = {
      {"zerorun", false, true, on_gpu, add_cuda_coders},
      {"zerorun", false, true, on_gpus, add_cuda_teams},
      {"nvJPEG", true, false, on_gpu, add_nvjpeg},
      {"zerorun cpu", false, true, on_cpu, add_cpu_coders},
      {"libjpeg-turbo", true, false, always, add_libjpeg},
      {"FFmpeg", true, false, always, add_ffmpeg},
      {"OpenCV", true, false, for_bgr, add_opencv},
      {"zerorun-fused", false, false, fused, add_fused_steps},
      {"stages", false, false, one_size, add_steps},
  };
  return kSources;
}

}  // namespace zerorun::app::bench
