// `zerorun decode`: JPEG and Motion JPEG in, pictures or YUV4MPEG2 out.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/commands.hpp"
#include "apps/common/console.hpp"
#include "apps/common/frame_pipeline.hpp"
#include "apps/common/outputs.hpp"
#include "apps/common/pixel_limit.hpp"
#include "apps/common/progress.hpp"
#include "apps/common/signals.hpp"
#include "apps/common/stats.hpp"
#include "apps/common/summary.hpp"
#include "apps/decode/decode_input.hpp"
#include "codec/base/try.hpp"
#include "zerorun/zerorun.hpp"

namespace zerorun::app {
namespace {

class DecodeRun {
 public:
  explicit DecodeRun(const DecodeOptions& options)
      : options_(options), output_(output_location(options.input, options.output)) {}

  Exit run() {
    check_usage();
    backend_ = choose_backend(options_.device);
    feed_ = std::make_shared<DecodeInput>(options_, is_images(output_));
    const signals::Graceful graceful;
    open_output();
    tell_fallback(options_.device, backend_);
    make_decoders();
    progress_.emplace(options_.report, feed_->info().frame_count, summary_.rate);
    try {
      decode_all();
    } catch (const Failure&) {
      progress_->finish(summary_.counts(), "failed", {});
      throw;
    }
    report_end();
    return Exit::done;
  }

 private:
  void check_usage() {
    if (output_.name == "-" && output_.format.empty()) output_.format = "y4m";
    if (io::is_packet_output(output_))
      fail(Exit::usage, output_.name +
                            ": decode writes .y4m, .pnm, .png, .tiff, .bmp and .webp; "
                            "`zerorun encode` writes JPEG and video");
    refuse_terminal(output_);
    stats_ = StatsFile::open(options_.report.stats, options_.output.overwrite, "decode", false);
  }

  void open_output() {
    io::SinkOptions sink =
        sink_options(feed_->info(), options_.output, feed_->width(), feed_->height());
    sink.coded_format = feed_->native_format();
    if (is_images(output_)) sink.variable_frame_rate = false;
    sink_ = value_or_fail(io::open_frame_sink(output_, sink), Exit::output, output_.name);
    register_part(output_);
    wanted_ = sink_->wanted_format(feed_->native_format());
    feed_->want_format(wanted_);
    summary_.verb = "decode";
    summary_.output = output_.name;
    summary_.device = device_text(backend_, options_.device);
    summary_.rate = sink.frame_rate;
    summary_.width = feed_->width();
    summary_.height = feed_->height();
    describe(feed_->info());
  }

  void make_decoders() {
    const bool is_single = feed_->info().frame_count == 1;
    const int count =
        !feed_->has_packets() || is_single ? 1 : worker_count(options_.device, backend_);
    DecodeParams params;
    params.upsampling = options_.upsampling;
    params.strict = options_.strict;
    params.limits = stream_limits(options_.input.max_pixels);
    params.backend = backend_;
    params.device = options_.device.index;
    params.threads = is_single ? options_.device.threads : 1;
    for (int i = 0; i < count; ++i)
      decoders_.push_back(value_or_fail(Decoder::create(params), Exit::usage, ""));
  }

  void describe(const io::SourceInfo& info) {
    console::detail(fmt::format("{}: {}, {}, {}x{} {}, {} fps{}", options_.input.name,
                                info.container, info.codec, summary_.width, summary_.height,
                                name(feed_->native_format()), rational_text(info.frame_rate),
                                info.variable_frame_rate ? " on average" : ""));
    console::detail(fmt::format("{}: {}", output_.name, name(wanted_)));
    if (!stats_) return;
    stats_->begin({{"input", options_.input.name},
                   {"output", output_.name},
                   {"width", summary_.width},
                   {"height", summary_.height},
                   {"time_base", rational_text(info.time_base)},
                   {"frame_rate", rational_text(summary_.rate)},
                   {"device", summary_.device},
                   {"pixel_format", std::string(name(wanted_))}});
  }

  Status decode(DecodeJob& job, int worker) {
    if (!feed_->has_packets()) return Status::ok();
    const Stopwatch watch;
    auto report = decoders_[static_cast<std::size_t>(worker)].decode(job.jpeg, wanted_, job.frame);
    job.microseconds = watch.microseconds();
    if (!report) return report.status();
    job.report = *std::move(report);
    return Status::ok();
  }

  void decode_all() {
    const auto feed = feed_;
    const PipelineEnd end =
        run_pipeline<DecodeJob>(static_cast<int>(decoders_.size()),
                                {[feed](DecodeJob& job) { return feed->read(job); },
                                 [this](DecodeJob& job, int worker) { return decode(job, worker); },
                                 [this](DecodeJob& job) { return write(job); }});
    interrupted_ = end.interrupted;
    if (signals::must_stop_now()) fail(Exit::failed, "stopped");
    switch (end.step) {
      case PipelineEnd::Step::none:
        break;
      case PipelineEnd::Step::read:
        fail_input(options_.input.name, end.status, feed_->info().is_jpeg);
      case PipelineEnd::Step::work:
        fail_input(fmt::format("{}: frame {}", end.name, frame_index()), end.status, true);
      case PipelineEnd::Step::write:
        fail(Exit::output, output_.name, end.status);
    }
    if (end.frames == 0) return;  // interrupted before the first frame: nothing to keep
    if (Status status = sink_->finish(); !status) fail(Exit::output, output_.name, status);
    signals::forget_removals();
  }

  /// Of the frame that is written next.
  std::int64_t frame_index() const { return options_.input.range.first + summary_.frames; }

  Status write(DecodeJob& job) {
    ZR_TRY(sink_->write(std::as_const(job.frame).view(), job.time));
    if (feed_->has_packets()) {
      summary_.times.add(job.microseconds);
      if (!job.report.first_problem)
        console::detail(fmt::format("{}: frame {}: {}", job.name, frame_index(),
                                    job.report.first_problem.message()));
    }
    if (job.report.is_concealed()) ++summary_.concealed_frames;
    if (job.report.slow_scans > 0) ++summary_.staged_frames;
    if (stats_)
      stats_->add({frame_index(),
                   job.time.pts,
                   job.jpeg.size(),
                   job.microseconds,
                   {},
                   job.report.concealed_intervals,
                   {},
                   job.report.slow_scans});
    summary_.coded_bytes += static_cast<std::int64_t>(job.jpeg.size());
    summary_.pixels += std::int64_t{job.frame.width()} * job.frame.height();
    ++summary_.frames;
    progress_->update(summary_.counts());
    return Status::ok();
  }

  void report_end() {
    summary_.seconds = progress_->seconds();
    summary_.output_bytes = sink_->bytes_written();
    summary_.concealed_frames += feed_->concealed_frames();
    if (stats_) stats_->finish(summary_.json());
    progress_->finish(summary_.counts(), interrupted_ ? "interrupted" : "done", summary_.json());
    if (summary_.concealed_frames > 0)
      console::note(
          fmt::format("{}: {} of {} frames {} damaged and concealed (--strict stops there)",
                      options_.input.name, summary_.concealed_frames, summary_.frames,
                      summary_.concealed_frames == 1 ? "is" : "are"));
    if (summary_.frames == 0) {
      console::note(output_.name + ": interrupted before the first frame, nothing was written");
    } else if (!progress_->is_json()) {
      console::plain(summary_.text());
    }
  }

  const DecodeOptions& options_;
  io::Location output_;
  Backend backend_ = Backend::cpu;
  std::shared_ptr<DecodeInput> feed_;
  std::vector<Decoder> decoders_;
  PixelFormat wanted_ = PixelFormat::yuv420p;
  std::unique_ptr<StatsFile> stats_;
  std::unique_ptr<io::FrameSink> sink_;
  std::optional<Progress> progress_;
  RunSummary summary_;
  bool interrupted_ = false;
};

}  // namespace

Command add_decode(CLI::App& program) {
  auto options = std::make_shared<DecodeOptions>();
  CLI::App* command = program.add_subcommand(
      "decode", "Decode JPEG and Motion JPEG; converts other pictures and video too");
  command->footer(
      "Examples:\n"
      "  zerorun decode shot.mov -o 'frames/%05d.png'\n"
      "  zerorun decode shot.avi -o shot.y4m --frames 100:200\n"
      "  zerorun decode shot.mkv -o - | ffplay -");
  add_decode_options(*command, *options);
  return [options] {
    console::set_quiet(options->report.quiet);
    console::set_verbose(options->report.verbose);
    apply_format_option(options->format, false, options->input, options->output);
    return DecodeRun(*options).run();
  };
}

}  // namespace zerorun::app
