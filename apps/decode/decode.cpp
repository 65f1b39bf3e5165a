// `zerorun decode`: JPEG and Motion JPEG to pictures or YUV4MPEG2.
// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/commands.hpp"
#include "apps/common/console.hpp"
#include "apps/common/content.hpp"
#include "apps/common/frame_command.hpp"
#include "apps/common/help.hpp"
#include "apps/common/inputs.hpp"
#include "apps/common/ledger.hpp"
#include "apps/common/option_kinds.hpp"
#include "apps/common/outputs.hpp"
#include "apps/common/signals.hpp"
#include "apps/decode/decode_input.hpp"
#include "apps/shards/hash.hpp"
#include "apps/shards/shard_run.hpp"
#include "codec/base/try.hpp"
#include "zerorun/convert.hpp"
#include "zerorun/zerorun.hpp"

namespace zerorun::app {
namespace {

/// For pictures alone: planes and YUV4MPEG2 are written as they are stored. Thread-safe.
class PictureFinish {
 public:
  PictureFinish(const ContentOptions& options, const io::SourceInfo& info)
      : options_(options), info_(info) {}

  /// Converts the job's frame to sRGB where --icc asks for it. Errors: bad_input (the profile).
  Status convert_colours(DecodeJob& job) {
    if (options_.icc != IccMode::convert) return Status::ok();
    return to_srgb_.convert(content_of(job), job.frame().view());
  }

  /// Sets the content of job.out; returns what has to be written: the job's frame, or job.turned.
  Result<ConstFrameView> finish(DecodeJob& job) {
    io::PictureContent content = content_of(job);
    content.orientation = orientation(content);
    if (options_.icc != IccMode::keep || !options_.copy_metadata) content.icc.clear();
    if (!options_.copy_metadata) {
      content.exif.clear();
      content.xmp.clear();
    }
    if (!content.empty()) had_content_ = true;
    ConstFrameView view = std::as_const(job.frame()).view();
    if (options_.autorotate && content.orientation != 1) {
      ZR_TRY(io::orient(view, content.orientation, job.turned));
      view = std::as_const(job.turned).view();
      content.orientation = 1;
    }
    content.exif = io::oriented_exif(content);
    job.out.content = std::make_shared<io::PictureContent>(std::move(content));
    return view;
  }

  /// True if a picture had EXIF, XMP or a profile to be kept.
  bool had_content() const noexcept { return had_content_; }

 private:
  static io::PictureContent content_of(DecodeJob& job) {
    if (job.picture.content) return *job.picture.content;
    if (job.jpeg().empty()) return {};
    return io::picture_content(std::span<const std::byte>(job.jpeg()));
  }

  /// A container says it for all frames; otherwise each picture says it for itself.
  int orientation(const io::PictureContent& content) const {
    const bool is_picture = info_.container.find("image") != std::string::npos;
    const int by_container = io::orientation_of(info_.rotation_degrees, info_.mirrored);
    if (!is_picture && by_container != 1) return by_container;
    return content.orientation;
  }

  const ContentOptions options_;
  const io::SourceInfo info_;
  ToSrgb to_srgb_;
  std::atomic<bool> had_content_ = false;
};

void add_decode_options(CLI::App& command, DecodeOptions& options) {
  add_input_options(command, options.input);
  add_output_options(
      command, options.output,
      "video.y4m, raw video .yuv, picture .png, .tiff, .bmp, .webp, .ppm or .pgm, a pattern "
      "'dir/%05d.png', - for stdout (YUV4MPEG2, or PNM by --format pnm), null: for "
      "nothing, or md5:FILE for the MD5 of each frame's samples, as FFmpeg's framemd5");
  add_shard_options(command, options.shard, options.samples.range);
  command.option_defaults()->group("Output");
  add_value(command, "--format", options.format, "y4m|pnm|raw|mjpeg",
            "What - is: y4m, pnm or raw for OUTPUT (default y4m), mjpeg for INPUT")
      ->check(CLI::IsMember({"y4m", "pnm", "raw", "mjpeg"}).description(""));
  command
      .add_option(
          "--pix-fmt", options.raw_format,
          "Samples of a raw OUTPUT (.yuv, .raw, .rgb, or --format raw) by FFmpeg's words: "
          "yuv420p, nv12, uyvy422, rgb24, yuv422p10le ...; they have full range, as JPEG has "
          "(default: those of INPUT)")
      ->type_name("NAME");
  add_sample_options(command, options.samples);
  command.option_defaults()->group("Decoding");
  add_choice<ChromaUpsampling>(
      command, "--upsampling", options.upsampling,
      {{"fancy", ChromaUpsampling::fancy}, {"nearest", ChromaUpsampling::nearest}},
      "How chroma is enlarged to the size of luma if OUTPUT is RGB: with libjpeg's triangle "
      "filter, or by repetition");
  command.add_flag("--strict", options.strict,
                   "Stop at the first damage (exit 3). Without it damaged parts are concealed and "
                   "counted, a note at the end gives their number, and the exit code is 0");
  command.add_flag("!--no-autorotate", options.content.autorotate,
                   "Write pictures as they are stored. Without it they are turned upright, as EXIF "
                   "or the container say; YUV4MPEG2 stays as stored");
  add_content_choices(command, options.content, false);
  add_device_options(command, options.device);
  add_report_options(command, options.report,
                     "index, pts, bytes, decode_us, concealed_intervals, and cpu_scans: "
                     "damaged or unusual scans, which the CPU decoded beside a GPU");
}

class DecodeRun : FrameCommand {
 public:
  explicit DecodeRun(const DecodeOptions& options)
      : FrameCommand("decode", options), options_(options) {}

  Exit run() {
    check_usage();
    start_device(Work::decode);
    feed_ = std::make_shared<DecodeInput>(options_, device_->for_source(), is_images(output_));
    backend_ = device_->finish();
    feed_->use_memory(preferred_memory(backend_));
    const signals::Graceful graceful;
    open_output();
    make_decoders();
    decode_all();
    report_end();
    return Exit::done;
  }

 private:
  void check_usage() {
    if (output_.name == "-" && output_.format.empty()) output_.format = "y4m";
    if (io::is_packet_output(output_) && !io::is_measuring_output(output_))
      fail(Exit::usage, output_.name +
                            ": decode writes .y4m, .pnm, .png, .tiff, .bmp and .webp; "
                            "`zerorun copy` writes JPEG and video without decoding, "
                            "`zerorun encode` codes them anew");
    open_reports(false);
  }

  Result<std::unique_ptr<io::FrameSink>> open_sink(const io::SinkOptions& sink) const {
    if (options_.shard_run) return options_.shard_run->open_frames(sink, feed_->native_format());
    return io::open_frame_sink(output_, sink);
  }

  void open_output() {
    io::SinkOptions sink =
        sink_options(feed_->info(), options_.output, feed_->width(), feed_->height());
    sink.coded_format = feed_->native_format();
    sink.frame_format = feed_->native_format();
    sink.content.field_order = feed_->info().content.field_order;
    if (is_images(output_)) sink.variable_frame_rate = false;
    if (!feed_->has_packets()) note_losses(input_name(), feed_->info(), options_.samples);
    ledger_ = tell_ledger(input_name(), feed_->info(), output_,
                          {.metadata = options_.content.copy_metadata, .has_options = false});
    sink.raw_format = options_.raw_format;
    sink_ = value_or_fail(open_sink(sink), Exit::output, output_.name);
    const int degrees = feed_->info().rotation_degrees;
    int width = feed_->width(), height = feed_->height();
    if (is_images(output_)) {
      finish_.emplace(options_.content, feed_->info());
      if (options_.content.autorotate && degrees % 180 != 0) std::swap(width, height);
    } else if (degrees != 0 || feed_->info().mirrored) {
      console::detail(
          fmt::format("{}: the frames are written as they are stored; players {}turn them "
                      "by {} degrees",
                      output_.name, feed_->info().mirrored ? "mirror them and " : "", degrees));
    }
    wanted_ = sink_->wanted_format(feed_->native_format());
    is_measuring_ = io::is_measuring_output(output_);
    follows_kind_ = is_images(output_);
    const std::string kind = output_kind(output_);
    if (!io::is_measuring_output(output_) && (kind == "yuv" || kind == "raw" || kind == "rgb"))
      note_raw_range(output_.name, options_.raw_format, wanted_);
    feed_->want_format(wanted_);
    const std::string wanted(name(wanted_));
    describe(feed_->info(), width, height, feed_->native_format(), sink.frame_rate, wanted,
             {{"pixel_format", wanted}});
  }

  void make_decoders() {
    choose_lanes(feed_->info(), false, params_);
    if (!feed_->has_packets()) return;
    params_.upsampling = options_.upsampling;
    params_.strict = options_.strict;
    params_.limits = stream_limits(options_.input.max_pixels);
    open_coders<Decoder>([this](int device) { return Decoder::create(on_device(params_, device)); },
                         decoders_);
  }

  Status decode(DecodeJob& job, int lane) {
    if (feed_->has_packets()) ZR_TRY(decode_packet(job, lane));
    return finish_ ? finish_->convert_colours(job) : Status::ok();
  }

  /// Pictures are grey or RGB each by itself, if the format of OUTPUT holds both.
  PixelFormat format_of(const DecodeJob& job) const {
    if (!follows_kind_) return wanted_;
    const auto kind = io::jpeg_kind(job.jpeg());
    return sink_->wanted_format(kind && kind->components == 1 ? PixelFormat::gray8
                                                              : PixelFormat::rgb24);
  }

  /// Counts frames that are converted to the kind of the first one.
  void count_other_kind(const DecodeJob& job) {
    if (follows_kind_ || is_measuring_) return;
    const auto kind = feed_->has_packets() ? io::jpeg_kind(job.jpeg()) : std::nullopt;
    if (!first_components_) first_components_ = kind ? kind->components : 0;
    if (kind && kind->components != *first_components_) ++of_other_kind_;
  }

  Status decode_packet(DecodeJob& job, int lane) {
    return decoders_->run(lane, [&](Decoder& decoder, int) {
      const Stopwatch watch;
      auto report = decoder.decode(job.jpeg(), format_of(job), job.frame());
      job.microseconds = watch.microseconds();
      if (report) job.report = *std::move(report);
      return report.status();
    });
  }

  void decode_all() {
    const auto feed = feed_;
    const PipelineSteps<DecodeJob> steps = {
        .read = [feed](DecodeJob& job) { return feed->read(job); },
        .load = [this](DecodeJob& job, int) { return load(job); },
        .code = [this](DecodeJob& job, int lane) { return decode(job, lane); },
        .pack = [this](DecodeJob& job) { return pack(job); },
        .write = [this](DecodeJob& job) { return write(job); }};
    run_frames(steps, feed_->info(), *sink_);
  }

  Status load(DecodeJob& job) const {
    ZR_TRY(feed_->load(job));
    if (options_.shard_run)
      job.source_hash = feed_->has_packets() ? xxh3(job.jpeg())
                                             : xxh3(rows_of(std::as_const(job.frame()).view()));
    return Status::ok();
  }

  Status pack(DecodeJob& job) {
    if (!finish_) return sink_->prepare(std::as_const(job.frame()).view(), job.out);
    ZR_LET(view, finish_->finish(job));
    return sink_->prepare(view, job.out);
  }

  Status write(DecodeJob& job) {
    job.out.time = job.picture.time;
    if (options_.shard_run)
      options_.shard_run->describe_next(job.frame().width(), job.frame().height(), job.source_hash);
    ZR_TRY(sink_->commit(job.out));
    count_other_kind(job);
    if (feed_->has_packets()) {
      summary_.times.add(job.microseconds);
      if (!job.report.first_problem)
        console::detail(fmt::format("{}: frame {}: {}", job.name(), frame_index(),
                                    job.report.first_problem.message()));
    }
    if (job.report.is_concealed()) ++summary_.concealed_frames;
    if (job.report.cpu_scans > 0) ++summary_.cpu_frames;
    if (stats_)
      stats_->add({.index = frame_index(),
                   .pts = job.picture.time.pts,
                   .bytes = job.jpeg().size(),
                   .microseconds = job.microseconds,
                   .concealed_intervals = job.report.concealed_intervals,
                   .cpu_scans = job.report.cpu_scans});
    count_frame(job.jpeg().size(), std::int64_t{job.frame().width()} * job.frame().height());
    return Status::ok();
  }

  void report_end() {
    summary_.concealed_frames += feed_->concealed_frames();
    std::vector<std::string> notes;
    if (summary_.concealed_frames > 0)
      notes.push_back(fmt::format(
          "{}: {} of {} frame{} {} damaged and concealed (--strict stops there)", input_name(),
          summary_.concealed_frames, summary_.frames, summary_.frames == 1 ? "" : "s",
          summary_.concealed_frames == 1 ? "is" : "are"));
    if (of_other_kind_ > 0)
      notes.push_back(
          fmt::format("{}: {} of {} frames of {} are {} and were converted to the kind of "
                      "the first one; pictures keep each as it is",
                      output_.name, of_other_kind_, summary_.frames, input_name(),
                      *first_components_ == 1 ? "in colour" : "grey"));
    if (finish_ && finish_->had_content() && !io::can_embed(output_kind(output_)))
      notes.push_back(
          fmt::format("{}: this format cannot hold the metadata of {}; .png, .tiff and "
                      ".webp keep it (--metadata none leaves it out)",
                      output_.name, input_name()));
    finish_reports(notes);
  }

  const DecodeOptions& options_;
  std::shared_ptr<DecodeInput> feed_;
  DecodeParams params_;
  std::optional<DeviceLanes<Decoder>> decoders_;  // nothing if the input is not JPEG
  PixelFormat wanted_ = PixelFormat::yuv420p;
  std::unique_ptr<io::FrameSink> sink_;
  std::optional<PictureFinish> finish_;  // of pictures
  bool follows_kind_ = false, is_measuring_ = false;
  std::optional<int> first_components_;
  std::int64_t of_other_kind_ = 0;
};

}  // namespace

/// All that samples follow from beside the input, for the manifest of a shard.
static nlohmann::ordered_json decoding_parameters(const DecodeOptions& options) {
  return {{"upsampling", static_cast<int>(options.upsampling)},
          {"strict", options.strict},
          {"raw_format", options.raw_format},
          {"content", content_parameters(options.content)},
          {"samples", sample_parameters(options.samples)}};
}

Command add_decode(CLI::App& program) {
  auto options = std::make_shared<DecodeOptions>();
  CLI::App* command = program.add_subcommand(
      "decode", "Decode JPEG and Motion JPEG; convert other pictures and video");
  command->footer(
      "Examples:\n"
      "  zerorun decode shot.mov -o 'frames/%05d.png'\n"
      "  zerorun decode shot.avi -o shot.y4m --frames 100:200\n"
      "  zerorun decode shot.mkv -o - | ffplay -");
  add_decode_options(*command, *options);
  show_common_options(
      *command, {"INPUT", "--output", "--overwrite", "--format", "--pix-fmt", "--frames",
                 "--on-error", "--strict", "--icc", "--no-autorotate", "--device", "--quiet"});
  return [options] {
    apply_common_options(*options, false);
    return run_shard(
        *options, "decode", [&] { return decoding_parameters(*options); },
        [&] { return DecodeRun(*options).run(); });
  };
}

}  // namespace zerorun::app
