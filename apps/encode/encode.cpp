// `zerorun encode`: frames in, Motion JPEG or JPEG files out.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "apps/commands.hpp"
#include "apps/common/console.hpp"
#include "apps/common/cut_input.hpp"
#include "apps/common/frame_pipeline.hpp"
#include "apps/common/metadata.hpp"
#include "apps/common/outputs.hpp"
#include "apps/common/pixel_limit.hpp"
#include "apps/common/progress.hpp"
#include "apps/common/signals.hpp"
#include "apps/common/stats.hpp"
#include "apps/common/summary.hpp"
#include "apps/common/verify.hpp"
#include "apps/encode/encode_options.hpp"
#include "apps/encode/encode_worker.hpp"
#include "codec/base/try.hpp"
#include "zerorun/zerorun.hpp"

namespace zerorun::app {
namespace {

class EncodeRun {
 public:
  explicit EncodeRun(const EncodeOptions& options)
      : options_(options), output_(output_location(options.input, options.output)) {}

  Exit run() {
    check_usage();
    params_ = encode_params(options_);
    backend_ = choose_backend(options_.device);
    open_input();
    make_workers();
    const signals::Graceful graceful;
    open_output();
    tell_fallback(options_.device, backend_);
    progress_.emplace(options_.report, feed_->source->info().frame_count, rate());
    try {
      code_all();
    } catch (const Failure&) {
      progress_->finish(summary_.counts(), "failed", {});
      throw;
    }
    report_end();
    return Exit::done;
  }

 private:
  void check_usage() {
    if (options_.verify && output_.name == "-")
      fail(Exit::usage, "--verify reads OUTPUT back, so it cannot be '-'");
    if (!io::is_packet_output(output_))
      fail(Exit::usage, output_.name +
                            ": encode writes .mov, .mkv, .avi, .mp4, .mjpeg and .jpg; "
                            "`zerorun decode` writes other pictures");
    refuse_terminal(output_);
    stats_ =
        StatsFile::open(options_.report.stats, options_.output.overwrite, "encode", options_.psnr);
  }

  io::Rational rate() const { return sink_options_.frame_rate; }

  void open_input() {
    const std::string& name = options_.input.name;
    feed_ = std::make_shared<FrameFeed>();
    feed_->source = open_frames(options_.input, source_options(options_.input, options_.device));
    const bool is_jpeg = feed_->source->info().is_jpeg;
    check_max_pixels(options_.input.name, options_.input.max_pixels, is_jpeg);
    EncodeJob& first = feed_->first;
    const auto more = feed_->source->read(first.frame, first.time);
    if (!more) fail_input(name, more.status(), is_jpeg);
    if (!*more)
      fail(Exit::input, name + ": there are no frames" +
                            (options_.input.range.first > 0 ? " in the range of --frames" : ""));
    first.name = feed_->source->last_name();
  }

  /// JFIF holds the pixel aspect ratio in two 16-bit numbers.
  void set_pixel_aspect(io::Rational aspect) {
    if (!aspect.known()) return;
    const std::int64_t common = std::gcd(aspect.num, aspect.den);
    if (aspect.num / common > 65535 || aspect.den / common > 65535) return;
    params_.pixel_aspect_x = static_cast<int>(aspect.num / common);
    params_.pixel_aspect_y = static_cast<int>(aspect.den / common);
  }

  void make_workers() {
    const io::SourceInfo& info = feed_->source->info();
    set_pixel_aspect(info.sample_aspect);
    // Containers have a place of their own for the turn of the picture.
    if (info.rotation_degrees % 360 != 0 && !is_container(output_) && options_.exif.empty())
      params_.segments.insert(params_.segments.begin(), orientation_segment(info.rotation_degrees));
    params_.backend = backend_;
    // Frames side by side keep the cores busiest; a single one is spread over them.
    const bool is_single = info.frame_count == 1;
    const int count = is_single ? 1 : worker_count(options_.device, backend_);
    params_.threads = is_single ? options_.device.threads : 1;
    for (int i = 0; i < count; ++i)
      workers_.push_back(EncodeWorker::create(params_, options_.psnr, options_.verify));
  }

  PixelFormat coded_format() const {
    const PixelFormat format = feed_->first.frame.format();
    return planar_format(params_.subsampling.value_or(is_rgb(format) ? Subsampling::s420
                                                                     : native_subsampling(format)));
  }

  void choose_audio(const io::SourceInfo& info) {
    if (!info.has_audio || !options_.copy_audio || options_.input.name == "-") return;
    if (!is_container(output_)) {
      console::note(output_.name + ": this format holds no sound, it is left out");
      return;
    }
    if (options_.input.fps.known())
      console::note("--fps changes the speed of the pictures; the sound keeps its own");
    sink_options_.audio_from = options_.input.name;
    const double start = static_cast<double>(info.first_pts) * info.time_base.value();
    sink_options_.audio_start_seconds = start;
    const FrameRange& range = options_.input.range;
    if (range.last >= 0 && rate().known())
      sink_options_.audio_end_seconds =
          start + static_cast<double>(range.last - range.first) / rate().value();
  }

  void open_output() {
    const io::SourceInfo& info = feed_->source->info();
    note_cut_input(options_.input.name, info);
    const Frame& frame = feed_->first.frame;
    sink_options_ = sink_options(info, options_.output, frame.width(), frame.height());
    sink_options_.coded_format = coded_format();
    if (is_images(output_)) sink_options_.variable_frame_rate = false;
    choose_audio(info);
    sink_ = value_or_fail(io::open_packet_sink(output_, sink_options_), Exit::output, output_.name);
    register_part(output_);
    summary_.verb = "encode";
    summary_.output = output_.name;
    summary_.device = device_text(backend_, options_.device);
    summary_.rate = rate();
    summary_.width = frame.width();
    summary_.height = frame.height();
    describe(info);
  }

  void describe(const io::SourceInfo& info) {
    const std::string sampling(name(native_subsampling(coded_format())));
    console::detail(fmt::format("{}: {}, {}, {}x{} {}, {} fps{}", options_.input.name,
                                info.container, info.codec, summary_.width, summary_.height,
                                name(feed_->first.frame.format()), rational_text(info.frame_rate),
                                info.variable_frame_rate ? " on average" : ""));
    console::detail(fmt::format(
        "{}: {} {}, sampling {}, {} Huffman tables, {}", output_.name,
        options_.qtables.empty() ? "quality" : "tables of",
        options_.qtables.empty() ? std::to_string(options_.quality) : options_.qtables, sampling,
        options_.huffman == HuffmanTables::optimal ? "optimal" : "standard", summary_.device));
    if (!stats_) return;
    stats_->begin({{"input", options_.input.name},
                   {"output", output_.name},
                   {"width", summary_.width},
                   {"height", summary_.height},
                   {"time_base", rational_text(info.time_base)},
                   {"frame_rate", rational_text(rate())},
                   {"device", summary_.device},
                   {"quality",
                    options_.qtables.empty() ? nlohmann::json(options_.quality) : nlohmann::json()},
                   {"subsampling", sampling},
                   {"huffman", options_.huffman == HuffmanTables::optimal ? "optimal" : "standard"},
                   {"components", is_rgb(feed_->first.frame.format()) ? "RGB" : "YCbCr"}});
  }

  void code_all() {
    const auto feed = feed_;
    const PipelineEnd end =
        run_pipeline<EncodeJob>(static_cast<int>(workers_.size()),
                                {[feed](EncodeJob& job) { return feed->read(job); },
                                 [this](EncodeJob& job, int worker) {
                                   return workers_[static_cast<std::size_t>(worker)].code(job);
                                 },
                                 [this](EncodeJob& job) { return write(job); }});
    interrupted_ = end.interrupted;
    if (signals::must_stop_now()) fail(Exit::failed, "stopped");
    switch (end.step) {
      case PipelineEnd::Step::none:
        break;
      case PipelineEnd::Step::read:
        fail_input(options_.input.name, end.status, feed_->source->info().is_jpeg);
      case PipelineEnd::Step::work:
        fail(Exit::input, end.name, end.status);
      case PipelineEnd::Step::write:
        fail(write_side_, output_.name, end.status);
    }
    if (end.frames == 0) return;  // interrupted before the first frame: nothing to keep
    if (Status status = sink_->finish(); !status) fail(Exit::output, output_.name, status);
    signals::forget_removals();
  }

  Status write(EncodeJob& job) {
    const bool changed =
        job.frame.width() != summary_.width || job.frame.height() != summary_.height;
    if (changed && is_container(output_)) {
      write_side_ = Exit::input;
      return Status(
          Errc::unsupported_output,
          fmt::format("'{}' has {}x{} pixels, but the video began with {}x{}", job.name,
                      job.frame.width(), job.frame.height(), summary_.width, summary_.height));
    }
    ZR_TRY(sink_->write(job.jpeg, job.time));
    if (stats_)
      stats_->add({options_.input.range.first + summary_.frames,
                   job.time.pts,
                   job.jpeg.size(),
                   job.microseconds,
                   job.error,
                   {},
                   job.device_microseconds});
    if (options_.verify) verifier_.add(job.jpeg);
    if (job.error) {
      if (!summary_.error) summary_.error.emplace();
      summary_.error->add(*job.error);
    }
    summary_.times.add(job.microseconds);
    summary_.coded_bytes += static_cast<std::int64_t>(job.jpeg.size());
    summary_.pixels += std::int64_t{job.frame.width()} * job.frame.height();
    ++summary_.frames;
    progress_->update(summary_.counts());
    return Status::ok();
  }

  void report_end() {
    summary_.seconds = progress_->seconds();
    summary_.output_bytes = sink_->bytes_written();
    if (options_.verify && summary_.frames > 0) {
      verifier_.check(output_);
      console::detail(output_.name + ": read back and found as it was coded");
    }
    if (stats_) stats_->finish(summary_.json());
    progress_->finish(summary_.counts(), interrupted_ ? "interrupted" : "done", summary_.json());
    if (const std::string notice = sink_->notice(); !notice.empty())
      console::note(output_.name + ": " + notice);
    if (const std::int64_t damaged = feed_->source->concealed_frames(); damaged > 0)
      console::note(fmt::format("{}: {} damaged frame{} concealed", options_.input.name, damaged,
                                damaged == 1 ? " was" : "s were"));
    if (summary_.frames == 0) {
      console::note(output_.name + ": interrupted before the first frame, nothing was written");
    } else if (!progress_->is_json()) {
      console::plain(summary_.text());
    }
  }

  const EncodeOptions& options_;
  io::Location output_;
  EncodeParams params_;
  Backend backend_ = Backend::cpu;
  std::shared_ptr<FrameFeed> feed_;
  std::vector<EncodeWorker> workers_;
  io::SinkOptions sink_options_;
  std::unique_ptr<StatsFile> stats_;
  std::unique_ptr<io::PacketSink> sink_;
  std::optional<Progress> progress_;
  RunSummary summary_;
  Verifier verifier_;
  Exit write_side_ = Exit::output;
  bool interrupted_ = false;
};

}  // namespace

Command add_encode(CLI::App& program) {
  auto options = std::make_shared<EncodeOptions>();
  CLI::App* command = program.add_subcommand(
      "encode", "Encode images, sequences, video or a pipe to JPEG or Motion JPEG");
  command->footer(
      "Examples:\n"
      "  zerorun encode 'frames/%05d.png' -o shot.mov --fps 25 -q 90\n"
      "  zerorun encode in.mp4 -o out.mkv --subsampling 422 --huffman optimal\n"
      "  ffmpeg -i in.mp4 -f yuv4mpegpipe - | zerorun encode - -o out.avi");
  add_encode_options(*command, *options);
  return [options] {
    console::set_quiet(options->report.quiet);
    console::set_verbose(options->report.verbose);
    apply_format_option(options->format, true, options->input, options->output);
    return EncodeRun(*options).run();
  };
}

}  // namespace zerorun::app
