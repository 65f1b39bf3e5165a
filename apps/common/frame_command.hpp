// What `zerorun encode` and `zerorun decode` have in common: frames go from INPUT through the
// pipeline to OUTPUT, and reports say how it went.
// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/core.h>

#include <cctype>
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

/// Finds all devices and applies --format, before the command runs.
inline void apply_common_options(FrameOptions& options, bool output_is_jpeg) {
  // A shard does not know what the frames before its own became.
  const io::BrokenFrames broken = options.input.broken;
  if (options.shard.any() && (broken == io::BrokenFrames::skip || broken == io::BrokenFrames::hold))
    fail(
        Exit::usage,
        "--on-error skip and hold do not go with --shard, --range and --resume; black and stop do");
  if (options.shard.any() && (options.input.most_seconds > 0 || io::is_address(options.input.name)))
    fail(Exit::usage,
         "--duration and addresses do not go with --shard, --range and --resume; --frames does");
  find_all_devices(options.device);
  options.input.opened = io::opened_file();
  console::hide_lines_of_libraries();
  apply_format_option(options.format, output_is_jpeg, options.input, options.output);
}

class FrameCommand {
 protected:
  FrameCommand(const char* verb, const FrameOptions& options)
      : output_(options.output), options_(options) {
    summary_.verb = verb;
  }

  const std::string& input_name() const noexcept { return options_.input.name; }
  /// Of the frame that is written next, in the input.
  std::int64_t frame_index() const noexcept { return options_.input.range.first + summary_.frames; }

  /// Ends the command unless stdout can take binary data. Opens the file of --stats.
  void open_reports(bool with_psnr) {
    refuse_terminal(output_);
    const std::string& stats = options_.report.stats;
    if (!stats.empty()) stats_.emplace(stats, options_.output.overwrite, summary_.verb, with_psnr);
  }

  /// Chooses the device and starts it in the background: call it before the input is opened. Then
  /// device_->finish() gives the backend.
  void start_device(Work work) {
    device_.emplace(
        options_.device, pixels_of(options_.input, options_.output), work,
        DeviceProbe{cuda_presence, [work](int device) { return start_coder(work, device); }});
  }

  /// The lanes and the devices that coders work on, after device_->finish(). `params` become those
  /// of a lane's coder. Several frames at a time keep all cores busy; a single frame is spread over
  /// them.
  template <typename Params>
  void choose_lanes(const io::SourceInfo& info, bool only_copies, Params& params) {
    device_set_.emplace(coder_devices(backend_, options_.device));
    params.backend = device_set_->count() > 1 ? backend_ : device_->for_coders();
    params.device = options_.device.index;
    const bool is_single = info.frame_count == 1 || is_single_image(output_);
    lanes_ = is_single ? 1 : lane_count(options_.device, backend_, only_copies);
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
                const nlohmann::ordered_json& header) {
    if (!options_.shard_run) register_part(output_);
    summary_.output = output_.name;
    summary_.device = device_text(backend_, options_.device);
    summary_.rate = rate;
    summary_.width = width;
    summary_.height = height;
    console::detail(fmt::format("{}: {}, {}, {}x{} {}, {} fps{}", input_name(), info.container,
                                info.codec, width, height, name(first_format),
                                rational_text(info.frame_rate),
                                info.variable_frame_rate ? " on average" : ""));
    if (!info.decoder.empty())
      console::detail(fmt::format("{}: the video is decoded by {}", input_name(), info.decoder));
    console::detail(output_.name + ": " + output_details);
    if (info.missing_files > 0 && options_.input.missing != io::MissingFrames::hold)
      console::note(fmt::format(
          "{}: {} missing between the numbers of the names, first '{}'; what is "
          "there is used (--missing hold repeats the frame before)",
          input_name(),
          info.missing_files == 1 ? "1 file is" : with_commas(info.missing_files) + " files are",
          info.first_missing_file));
    device_->tell();
    if (!stats_) return;
    nlohmann::ordered_json all = {{"input", input_name()},
                                  {"output", output_.name},
                                  {"width", width},
                                  {"height", height},
                                  {"time_base", rational_text(info.time_base)},
                                  {"frame_rate", rational_text(rate)},
                                  {"device", summary_.device}};
    all.update(header);
    stats_->begin(all);
  }

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
  void count_frame(std::size_t jpeg_bytes, std::int64_t pixels) {
    summary_.coded_bytes += static_cast<std::int64_t>(jpeg_bytes);
    summary_.pixels += pixels;
    ++summary_.frames;
    tell_lost_devices();
    progress_->update(summary_.counts());
  }

  /// Prints the summary and the notes, and finishes the stats file.
  void finish_reports(const std::vector<std::string>& notes) {
    nlohmann::json summary = summary_.json();
    if (stats_) stats_->finish(summary);
    summary["ledger"] = ledger_;
    progress_->finish(summary_.counts(), interrupted_ ? "interrupted" : "done", summary);
    for (const std::string& note : notes) console::note(note);
    if (summary_.frames == 0) {
      console::note(output_.name + ": interrupted before the first frame, nothing was written");
    } else if (!progress_->is_json()) {
      console::plain(summary_.text());
    }
  }

  bool compresses_output() const {
    const std::string kind = io::format_of(output_);
    return !io::is_measuring_output(output_) &&
           (kind == "png" || kind == "tif" || kind == "tiff" || kind == "webp");
  }

  io::Location output_;
  std::optional<DeviceStart> device_;
  Backend backend_ = Backend::cpu;
  std::optional<DeviceSet> device_set_;
  int lanes_ = 1;
  std::optional<StatsFile> stats_;
  RunSummary summary_;
  nlohmann::ordered_json ledger_;  // of the last event
  Exit write_side_ = Exit::output;

 private:
  /// Prints which devices failed since the last call.
  void tell_lost_devices() {
    summary_.lost_devices = device_set_->lost();
    app::tell_lost_devices(summary_.lost_devices, told_losses_);
    told_losses_ = summary_.lost_devices.size();
  }
  /// Packets reach zerorun's decoder as they are, and raw samples are only read.
  bool decodes_input(const io::SourceInfo& info) const {
    if (info.codec == "rawvideo" || info.container == "y4m" || info.codec == "pnm") return false;
    return summary_.verb == "encode" || !info.is_jpeg;
  }
  StepWords step_words(const io::SourceInfo& info) const {
    const auto upper = [](std::string word) {
      for (char& c : word) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      return word;
    };
    StepWords words;
    const bool is_files = info.container.find("image") != std::string::npos;
    words.input = is_files ? upper(info.codec) + " files" : info.codec + " video";
    const bool is_video = decodes_input(info) && !is_files && !info.is_jpeg;
    if (is_video) words.reading = "Reading and decoding the " + words.input;
    if (compresses_output()) words.output = upper(io::format_of(output_)) + " files";
    words.coding = summary_.verb == "encode" ? "Coding the frames" : "Decoding the JPEG streams";
    if (backend_ == Backend::cuda) words.coding += " on the GPU";
    return words;
  }
  void check_end(const PipelineEnd& end, bool is_jpeg) {
    interrupted_ = end.interrupted;
    tell_lost_devices();
    if (signals::must_stop_now()) fail(Exit::failed, "stopped");
    switch (end.step) {
      case PipelineEnd::Step::none:
        break;
      case PipelineEnd::Step::read:
        fail_input(input_name(), end.status, is_jpeg);
      case PipelineEnd::Step::code: {
        const std::string frame = fmt::format("{}: frame {}", end.name, frame_index());
        if (end.status.code() == Errc::size_not_reached ||
            end.status.code() == Errc::quality_not_reached)
          fail(Exit::output, frame, end.status);
        fail_input(frame, end.status, is_jpeg);
      }
      case PipelineEnd::Step::write:
        fail(write_side_, output_.name, end.status);
    }
  }

  const FrameOptions& options_;
  const Stopwatch since_start_;
  std::shared_ptr<StepMeter> meter_ = std::make_shared<StepMeter>();
  std::optional<Progress> progress_;
  std::size_t told_losses_ = 0;
  bool interrupted_ = false;
};

}  // namespace zerorun::app
