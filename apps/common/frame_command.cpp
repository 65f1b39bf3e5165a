// SPDX-License-Identifier: MIT
#include "apps/common/frame_command.hpp"

#include <fmt/core.h>

#include <cctype>

#include "apps/common/input_output.hpp"
#include "apps/common/process.hpp"

namespace zerorun::app {

FrameCommand::FrameCommand(const char* verb, const FrameOptions& options)
    : output_(output_location(options.input, options.output)), options_(options) {
  summary_.verb = verb;
}

void FrameCommand::open_reports(bool with_psnr) {
  refuse_terminal(output_);
  stats_ =
      StatsFile::open(options_.report.stats, options_.output.overwrite, summary_.verb, with_psnr);
}

void FrameCommand::start_device(Work work) {
  device_.emplace(options_.device, pixels_of(options_.input, options_.output), work,
                  real_devices(work));
}

void FrameCommand::describe(const io::SourceInfo& info, int width, int height,
                            PixelFormat first_format, io::Rational rate,
                            const std::string& output_details,
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

/// Packets reach zerorun's decoder as they are, and raw samples are only read.
bool FrameCommand::decodes_input(const io::SourceInfo& info) const {
  if (info.codec == "rawvideo" || info.container == "y4m" || info.codec == "pnm") return false;
  return summary_.verb == "encode" || !info.is_jpeg;
}

bool FrameCommand::compresses_output() const {
  if (io::is_measuring_output(output_)) return false;
  const std::string kind = output_kind(output_);
  return kind == "png" || kind == "tif" || kind == "tiff" || kind == "webp";
}

StepWords FrameCommand::step_words(const io::SourceInfo& info) const {
  const auto upper = [](std::string word) {
    for (char& c : word) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return word;
  };
  StepWords words;
  const bool is_files = info.container.find("image") != std::string::npos;
  words.input = is_files ? upper(info.codec) + " files" : info.codec + " video";
  const bool is_video = decodes_input(info) && !is_files && !info.is_jpeg;
  if (is_video) words.reading = "Reading and decoding the " + words.input;
  if (compresses_output()) words.output = upper(output_kind(output_)) + " files";
  words.coding = summary_.verb == "encode" ? "Coding the frames" : "Decoding the JPEG streams";
  if (backend_ == Backend::cuda) words.coding += " on the GPU";
  return words;
}

void FrameCommand::check_end(const PipelineEnd& end, bool is_jpeg) {
  interrupted_ = end.interrupted;
  tell_lost_devices();
  if (signals::must_stop_now()) fail(Exit::failed, "stopped");
  switch (end.step) {
    case PipelineEnd::Step::none:
      break;
    case PipelineEnd::Step::read:
      fail_input(input_name(), end.status, is_jpeg);
    case PipelineEnd::Step::code:
      if (end.status.code() == Errc::size_not_reached ||
          end.status.code() == Errc::quality_not_reached)
        fail(Exit::output, fmt::format("{}: frame {}", end.name, frame_index()), end.status);
      fail_input(fmt::format("{}: frame {}", end.name, frame_index()), end.status, is_jpeg);
    case PipelineEnd::Step::write:
      fail(write_side_, output_.name, end.status);
  }
}

void FrameCommand::tell_lost_devices() {
  summary_.lost_devices = device_set_->lost();
  for (; told_losses_ < summary_.lost_devices.size(); ++told_losses_) {
    const LostDevice& lost = summary_.lost_devices[told_losses_];
    console::note(
        fmt::format("cuda:{} failed and is not used any more, the other devices code its frames "
                    "again: {}",
                    lost.device, lost.why.message()));
  }
}

void FrameCommand::count_frame(std::size_t jpeg_bytes, std::int64_t pixels) {
  summary_.coded_bytes += static_cast<std::int64_t>(jpeg_bytes);
  summary_.pixels += pixels;
  ++summary_.frames;
  tell_lost_devices();
  progress_->update(summary_.counts());
}

void FrameCommand::finish_reports(const std::vector<std::string>& notes) {
  const nlohmann::json summary = summary_.json();
  if (stats_) stats_->finish(summary);
  nlohmann::json last = summary;
  last["ledger"] = ledger_;
  progress_->finish(summary_.counts(), interrupted_ ? "interrupted" : "done", last);
  for (const std::string& note : notes) console::note(note);
  if (summary_.frames == 0) {
    console::note(output_.name + ": interrupted before the first frame, nothing was written");
  } else if (!progress_->is_json()) {
    console::plain(summary_.text());
  }
}

void apply_common_options(FrameOptions& options, bool output_is_jpeg) {
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
  console::set_verbosity(options.report.quiet, options.report.verbose);
  console::hide_lines_of_libraries();
  apply_format_option(options.format, output_is_jpeg, options.input, options.output);
}

}  // namespace zerorun::app
