// What `zerorun encode` and `zerorun decode` have in common: frames go from INPUT through the
// pipeline to OUTPUT, and reports say how it went.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/common/device_choice.hpp"
#include "apps/common/frame_pipeline.hpp"
#include "apps/common/input_output.hpp"
#include "apps/common/process.hpp"
#include "apps/common/reports.hpp"
#include "apps/common/step_meter.hpp"
#include "apps/shards/split.hpp"
#include "zerorun/convert.hpp"
#include "zerorun/io.hpp"

namespace zerorun::app {

class ShardRun;

/// The options of both commands.
struct FrameOptions {
  InputOptions input;
  OutputOptions output;
  DeviceOptions device;
  ReportOptions report;
  std::string format;  ///< of "-"
  ShardOptions shard;
  std::shared_ptr<ShardRun> shard_run;  ///< set when the command runs with one of them
};

class FrameCommand {
 protected:
  FrameCommand(const char* verb, const FrameOptions& options);

  const std::string& input_name() const noexcept { return options_.input.name; }
  /// Of the frame that is written next, in the input.
  std::int64_t frame_index() const noexcept { return options_.input.range.first + summary_.frames; }

  /// Ends the command unless stdout can take binary data. Opens the file of --stats.
  void open_reports(bool with_psnr);

  /// Chooses the device and starts it in the background: call it before the input is opened. Then
  /// device_->finish() gives the backend.
  void start_device(Work work);

  /// The lanes and the devices that coders work on, after device_->finish(). `params` become those
  /// of a lane's coder. Several frames at a time keep all cores busy; a single frame is spread over
  /// them.
  template <typename Params>
  void choose_lanes(const io::SourceInfo& info, bool reads_planes, Params& params) {
    device_set_.emplace(coder_devices(backend_, options_.device));
    params.backend = device_set_->count() > 1 ? backend_ : device_->for_coders();
    params.device = options_.device.index;
    const bool is_single = info.frame_count == 1 || is_single_image(output_);
    lanes_ = is_single ? 1 : lane_count(options_.device, backend_, reads_planes);
    params.threads = is_single ? options_.device.threads : 1;
  }

  /// Coders that make(device) gives. A lane makes its own when it has a frame: on a GPU the first
  /// frames need not wait for all. The first lane's is made here; ends the command if that fails.
  template <typename Coder>
  void open_coders(typename DeviceLanes<Coder>::Make make,
                   std::optional<DeviceLanes<Coder>>& coders) {
    coders.emplace(*device_set_, lanes_, std::move(make));
    if (const Status status = coders->open(0); !status) fail(Exit::usage, "", status);
  }

  /// The same parameters for another device of the set.
  template <typename Params>
  Params on_device(Params params, int device) const {
    if (device != kCpuDevice) params.device = device;
    return params;
  }

  /// Fills in the summary; `first_format` is that of the first frame. With -v it prints what is
  /// read and `output_details`. `header` goes into the stats file.
  void describe(const io::SourceInfo& info, int width, int height, PixelFormat first_format,
                io::Rational rate, const std::string& output_details,
                const nlohmann::ordered_json& header);

  /// Runs the pipeline and finishes the sink. A failure of the write step counts as one of
  /// `write_side_`.
  template <typename Job, typename Sink>
  void run_frames(PipelineSteps<Job> steps, const io::SourceInfo& info, Sink& sink) {
    meter_->set_threads(StepPool::lanes, lanes_);
    for (const StepPool pool : {StepPool::to_gpu, StepPool::gpu, StepPool::from_gpu})
      meter_->set_threads(pool, device_set_->count());
    steps.meter = meter_;
    steps.loading = decodes_input(info) ? Step::decode_input : Step::load;
    steps.packing = compresses_output() ? Step::compress : Step::store;
    steps.load = [this, load = std::move(steps.load)](Job& job, int lane) {
      // Pinned frames come from the device that is going to read or write them.
      const NearDevice near(device_set_->device_for(lane, {}).value_or(kCpuDevice));
      return load(job, lane);
    };
    summary_.start_seconds = since_start_.seconds();
    progress_.emplace(options_.report, info.frame_count, summary_.rate);
    try {
      check_end(run_pipeline<Job>(lanes_, steps), info.is_jpeg);
      if (summary_.frames > 0) end_output(output_, sink.finish());
    } catch (const Failure&) {
      progress_->finish(summary_.counts(), "failed", {});
      throw;
    }
    summary_.seconds = progress_->seconds();
    summary_.steps = meter_->report(summary_.seconds, summary_.frames, step_words(info));
    summary_.output_bytes = sink.bytes_written();
  }

  /// A frame was written.
  void count_frame(std::size_t jpeg_bytes, std::int64_t pixels);

  /// Prints the summary and the notes, and finishes the stats file.
  void finish_reports(const std::vector<std::string>& notes);

  io::Location output_;
  std::optional<DeviceStart> device_;
  Backend backend_ = Backend::cpu;
  std::optional<DeviceSet> device_set_;
  int lanes_ = 1;
  std::unique_ptr<StatsFile> stats_;
  RunSummary summary_;
  nlohmann::ordered_json ledger_;  // of the last event
  Exit write_side_ = Exit::output;

 private:
  /// Prints which devices failed since the last call.
  void tell_lost_devices();
  bool decodes_input(const io::SourceInfo& info) const;
  bool compresses_output() const;
  StepWords step_words(const io::SourceInfo& info) const;
  void check_end(const PipelineEnd& end, bool is_jpeg);

  const FrameOptions& options_;
  const Stopwatch since_start_;
  std::shared_ptr<StepMeter> meter_ = std::make_shared<StepMeter>();
  std::optional<Progress> progress_;
  std::size_t told_losses_ = 0;
  bool interrupted_ = false;
};

/// Sets --quiet and --verbose, finds all devices and applies --format, before the command runs.
void apply_common_options(FrameOptions& options, bool output_is_jpeg);

}  // namespace zerorun::app
