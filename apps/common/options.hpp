// The options that several commands share, and how they are read.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/common/figures.hpp"
#include "codec/api/device_set.hpp"
#include "codec/base/cuda_device.hpp"
#include "zerorun/backend.hpp"
#include "zerorun/io.hpp"

namespace CLI {  // its own header takes seconds to compile
class App;
class Option;
}  // namespace CLI

namespace zerorun::app {

/// Of cuda:all, until find_all_devices(), no index is known.
struct DeviceOptions : DeviceName {
  bool is_index_named = false;  ///< by cuda:N
  int threads = 0;              ///< 0 = one per core

  /// The CUDA devices; one or more.
  std::vector<int> indices() const { return list.empty() ? std::vector{index} : list; }
  int device_count() const noexcept { return list.empty() ? 1 : static_cast<int>(list.size()); }
};

void add_device_options(CLI::App& app, DeviceOptions& device);
void add_threads_option(CLI::App& app, int& threads);

/// Frames that are coded at a time for the player: one on each GPU; on the CPU one per thread.
int worker_count(const DeviceOptions& device, Backend backend) noexcept;

/// Lanes of encode and decode: each loads, codes and packs one frame at a time. One per thread; on
/// each GPU enough that loading, the bus and the kernels overlap, which takes fewer where lanes
/// only copy (`only_copies`).
int lane_count(const DeviceOptions& device, Backend backend, bool only_copies) noexcept;

/// Turns cuda:all into the list of devices. Ends the command with exit 5 if there is none.
void find_all_devices(DeviceOptions& device);

/// Hides all GPUs but the first from CUDA where `device` means no other: with two H200s CUDA then
/// starts in 0.23 s instead of 0.46. Works before the first call of CUDA alone.
void hide_unused_devices(const DeviceOptions& device);

/// Where coders work, after `backend` was chosen: CUDA indices, or kCpuDevice alone.
inline std::vector<int> coder_devices(Backend backend, const DeviceOptions& device) {
  return backend == Backend::cuda ? device.indices() : std::vector{kCpuDevice};
}

/// The backend that --device means. Ends the command with exit 5 if it is not usable.
Backend choose_backend(const DeviceOptions& device);

/// "cpu, 2 threads", "cuda:0 NVIDIA ..." or "cuda:0,1 NVIDIA ..., NVIDIA ...".
std::string device_text(Backend backend, const DeviceOptions& device);

enum class ProgressMode { automatic, none, plain, json };

/// What options set of io's own, whose members source_options() gives to io, and the rest. Several
/// `names` are INPUTs, as a shell's unquoted *.png gives them.
struct InputOptions : io::Location, io::SourceOptions {
  FrameRange range;
  std::int64_t page = 0;  ///< --page, which is the range; 0 without it
  std::optional<std::int64_t> max_pixels;
  bool first_page_only = false;  ///< for an OUTPUT of one picture
};

struct OutputOptions : io::Location {
  bool overwrite = false;
  bool keep_tree = false;
};

struct ReportOptions {
  ProgressMode progress = ProgressMode::automatic;
  std::string stats;
};

CLI::Option* add_max_pixels(CLI::App& app, std::optional<std::int64_t>& max_pixels);
void add_input_options(CLI::App& app, InputOptions& input);
/// --size and --pix-fmt of raw video.
void add_raw_input_options(CLI::App& app, InputOptions& input);
void add_output_options(CLI::App& app, OutputOptions& output, const std::string& kinds);
void add_report_options(CLI::App& app, ReportOptions& report, const std::string& stats_columns);
/// --progress, in the group that was used last; and --quiet and --verbose, which the console obeys.
void add_progress_option(CLI::App& app, ProgressMode& progress);
void add_console_options(CLI::App& app, const std::string& details);

/// The layout of --help and --help-all, from which the manual pages and the completions are made:
/// gives `command`, and the commands that are added to it later, a --help that wraps at 100
/// columns, lists INPUT beside its options, and leaves out CLI11's texts on checks and exclusions.
/// --help-all has all options in their groups, the whole footer and the exit codes. If some options
/// are `common`, --help has these, which must have been added, in this order, then `note`, and the
/// footer from its examples on. A name is that on the command line: "--output", or "INPUT".
void show_common_options(CLI::App& command, std::vector<std::string> common = {},
                         std::string note = "");

/// WxH+X+Y, as ImageMagick and jpegtran write it.
Region parse_crop(const std::string& text);

io::SourceOptions source_options(const InputOptions& input, const DeviceOptions& device);

}  // namespace zerorun::app
