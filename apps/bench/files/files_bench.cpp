// Prepares an input of `zerorun bench --files`: its folder, its files, its frames.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <thread>

#include "apps/bench/files/files.hpp"
#include "apps/common/failure.hpp"
#include "codec/base/try.hpp"
#include "zerorun/io.hpp"

namespace zerorun::app::bench {
namespace {

constexpr int kSyntheticFrames = 48;
constexpr const char* kFrames = "frames.y4m";

/// Writes the frames in turn, until there are `count`.
Status write_y4m(const FrameSet& frames, const std::string& path, int count) {
  const ConstFrameView first = frames.view(0);
  io::SinkOptions options;
  options.width = first.width;
  options.height = first.height;
  options.frame_rate = {25, 1};
  ZR_LET(sink, io::open_frame_sink({path, "y4m", {}}, options));
  for (int i = 0; i < count; ++i)
    ZR_TRY(sink->write(frames.view(static_cast<std::size_t>(i) % frames.size()), {i, 1}));
  return sink->finish();
}

/// "png" of a sequence of PNG files, "y4m", "mov", ...
std::string kind_of(const io::SourceInfo& info) {
  std::string kind =
      info.container.find("image") != std::string::npos ? info.codec : info.container;
  kind = kind.substr(0, kind.find(','));  // FFmpeg has "mov,mp4,m4a,..."
  std::replace(kind.begin(), kind.end(), ' ', '-');
  return kind.empty() ? "input" : kind;
}

std::int64_t count_frames(const std::string& input, const io::SourceInfo& info) {
  if (info.frame_count > 0) return info.frame_count;
  io::SourceOptions options;
  options.backend = Backend::cpu;
  auto source = value_or_fail(io::open_frames({input, "", {}}, options), Exit::input, input);
  Frame frame;
  io::FrameTime time;
  std::int64_t count = 0;
  while (value_or_fail(source->read(frame, time), Exit::input, input)) ++count;
  return count;
}

}  // namespace

FilesSetting prepare_files(const Options& options, const Selection& selection, const Case& what,
                           const TemporaryFolder& folder) {
  FilesSetting setting{what.input, "", {}, 0, 0, 0, folder, selection, options.limits.repetitions};
  if (what.input == "-")
    fail(Exit::usage, "--files: INPUT is read several times, so it cannot be '-'");
  if (is_synthetic(what.input)) {
    setting.input = folder.path(kFrames);
    const int count = options.limits.frames > 0 ? options.limits.frames : kSyntheticFrames;
    if (Status status = write_y4m(load_frames(frame_request(options, what)), setting.input, count);
        !status)
      fail(Exit::output, setting.input, status);
  }
  io::SourceOptions source;
  source.backend = Backend::cpu;
  const io::SourceInfo info =
      value_or_fail(io::probe({setting.input, "", {}}, source), Exit::input, what.input);
  setting.kind = kind_of(info);
  setting.files = input_files(setting.input);
  setting.frames = count_frames(setting.input, info);
  setting.width = info.width;
  setting.height = info.height;
  if (setting.frames < 1) fail(Exit::input, what.input + ": there are no frames");
  return setting;
}

}  // namespace zerorun::app::bench
