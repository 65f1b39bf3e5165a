// `zerorun decode`: JPEG and Motion JPEG to pictures or YUV4MPEG2.
// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/commands.hpp"
#include "apps/common/content.hpp"
#include "apps/common/frame_command.hpp"
#include "apps/common/input_output.hpp"
#include "apps/common/option_kinds.hpp"
#include "apps/common/options.hpp"
#include "apps/common/process.hpp"
#include "apps/shards/hash.hpp"
#include "apps/shards/shard_run.hpp"
#include "codec/base/try.hpp"
#include "zerorun/convert.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/io.hpp"
#include "zerorun/zerorun.hpp"

namespace zerorun::app {
namespace {

struct DecodeOptions : FrameOptions {
  ChromaUpsampling upsampling = ChromaUpsampling::fancy;
  bool strict = false;
  int scale = 1;
  Region region = {};      ///< --crop
  std::string raw_format;  ///< --pix-fmt
  ContentOptions content;
  SampleOptions samples;
};

/// A frame in the pipeline.
struct DecodeJob {
  io::PacketWork packet;  ///< empty if the input is not JPEG
  io::FrameWork picture;  ///< its frame is decoded from the packet, or loaded
  io::Outgoing out;
  Frame turned;  ///< the picture as it is shown, if that is not as it is stored
  DecodeReport report;
  double microseconds = 0.0;      ///< decoding alone
  std::uint64_t source_hash = 0;  ///< XXH3 of the packet or the samples, for a shard's manifest

  const std::string& name() const noexcept { return picture.name; }
  const std::vector<std::byte>& jpeg() const noexcept { return packet.item; }
  Frame& frame() noexcept { return picture.item; }
};

/// The input: JPEG packets for zerorun's decoder, or frames of other formats. Shared with the
/// reader thread, which may outlive the command in a blocked read. The main thread calls the
/// members other than read() before the reader starts; they end the command on errors.
class DecodeInput {
 public:
  /// Opens JPEG as packets and everything else as frames, so that decode can convert it. Reads the
  /// first frame ahead, because the output is opened for its size and format.
  /// `device` decodes the JPEG images of a source of frames.
  DecodeInput(const DecodeOptions& options, const DeviceOptions& device, bool for_images)
      : input_(options.input),
        rules_(options.samples.rules()),
        device_(device),
        strict_(options.strict),
        is_fancy_(options.upsampling == ChromaUpsampling::fancy),
        scale_(options.scale),
        region_(options.region),
        for_images_(for_images),
        step_(options.shard_run ? options.shard_run->step() : 1) {
    // Pictures that stand in for broken ones come from the source of frames.
    if (input_.broken == io::BrokenFrames::stop)
      packets_ = open_jpeg_packets(input_, all_options());
    // A pipe cannot be opened again for another format, so that of pictures is asked for at once.
    const bool wants_rgb = is_read_once(input_) && for_images;
    if (!packets_) open_frames(wants_rgb ? std::optional(PixelFormat::rgb24) : std::nullopt);
    read_first();
    read_shape();
    if (!options.shard_run || for_images ||
        input_.range.first == options.shard_run->whole_input().range.first)
      return;
    DecodeOptions whole = options;  // its first frame says what a stream is
    whole.input = options.shard_run->whole_input();
    const DecodeInput first(whole, device, for_images);
    width_ = first.width_;
    height_ = first.height_;
    native_ = first.native_;
  }

  /// Frames after the first one get memory of this kind.
  void use_memory(HostMemory memory) noexcept { memory_ = memory; }

  const io::SourceInfo& info() const { return packets_ ? packets_->info() : frames_->info(); }
  std::string notice() const { return packets_ ? packets_->notice() : frames_->notice(); }
  bool has_packets() const noexcept { return packets_ != nullptr; }
  int width() const noexcept { return width_; }
  int height() const noexcept { return height_; }
  PixelFormat native_format() const noexcept { return native_; }
  /// Of frames; the decoder reports on each packet.
  std::int64_t concealed_frames() const { return frames_ ? frames_->concealed_frames() : 0; }

  /// Makes frames come in this format. Packets get it from their decoder. For pictures each frame
  /// is grey or RGB as it is stored. Files of a sequence may have other formats than the first one.
  void want_format(PixelFormat format) {
    wanted_ = format;
    const bool may_change = !for_images_ && !is_read_once(input_) &&
                            info().container.find("image") != std::string::npos;
    if (packets_ || (format == native_ && !may_change)) return;
    if (is_read_once(input_)) {
      if (for_images_) return;  // grey or RGB already, which the sink converts if it has to
      fail(Exit::input,
           fmt::format("{}: {} pictures from {} cannot be converted to {}", input_.name,
                       name(native_), input_.name == "-" ? "stdin" : "a pipe", name(format)));
    }
    open_frames(format);
    read_first();
  }

  /// The two halves of reading. Any number of threads may load jobs at a time.
  Result<bool> read(DecodeJob& job) {
    if (!first_) {
      for (std::int64_t i = 1; i < step_; ++i) {
        DecodeJob left_out;
        ZR_LET(more, read_next(left_out));
        if (!more) return false;
      }
      return read_next(job);
    }
    job = std::move(*first_);
    first_.reset();
    return true;
  }

  Status load(DecodeJob& job, int threads = 1) const {
    if (packets_) {
      job.picture.content = nullptr;
      const Status status = job.packet.load(threads);
      if (status.code() != Errc::unknown_format || !info().files) return status;
      return load_other_kind(job);
    }
    ZR_TRY(job.picture.load(threads));
    if (strict_ && job.picture.concealed > 0)
      return Status(Errc::bad_input, "the picture '" + job.name() + "' is damaged");
    return Status::ok();
  }

 private:
  /// A picture among JPEG files that is none, whatever it is called.
  Status load_other_kind(DecodeJob& job) const {
    io::SourceOptions options;
    options.samples = rules_;
    options.limits = stream_limits(input_.max_pixels);
    options.pixel_format = wanted_;
    if (for_images_) options.accepted_formats = {PixelFormat::gray8};
    ZR_LET(source, io::open_frames({job.name(), {}, {}}, options));
    job.packet.item.clear();
    job.report = {};
    io::FrameTime time;
    ZR_LET(more, source->read(job.frame(), time));
    job.picture.content = source->info().picture;
    return more ? Status::ok() : Status(Errc::bad_input, "'" + job.name() + "' holds no picture");
  }

  /// No output of decode has times of its own.
  io::SourceOptions all_options() const {
    io::SourceOptions options = source_options(input_, device_);
    options.repeats_dropped = !input_.frame_rate.known();
    return options;
  }

  void open_frames(std::optional<PixelFormat> format) {
    io::SourceOptions source = all_options();
    source.pixel_format = format;
    if (for_images_ && format == PixelFormat::rgb24) source.accepted_formats = {PixelFormat::gray8};
    source.samples = rules_;
    packets_.reset();
    frames_ = app::open_frames(input_, source);
    check_max_pixels(input_.name, input_.max_pixels, has_pixel_limit(frames_->info()));
  }

  void read_first() {
    DecodeJob first;
    const auto more = read_next(first);
    const Status status = more && *more ? load(first, 0) : more.status();
    if (!status) fail_input(input_.name, status, info().is_jpeg);
    if (!*more) fail_without_frames(input_);
    first_ = std::move(first);
  }

  /// Takes size and format of the first frame, from its own headers if it is JPEG.
  void read_shape() {
    if (packets_) {
      const StreamInfo stream = value_or_fail(inspect(first_->jpeg(), StreamLimits::any_size()),
                                              Exit::input, first_->name());
      if (!is_field(stream, info())) {
        const ImageSize size =
            value_or_fail(decoded_size(stream.width, stream.height, scale_, region_), Exit::usage,
                          first_->name());
        width_ = size.width;
        height_ = size.height;
        native_ = stored_format(stream);
        return;
      }
      if (!is_fancy_)
        fail(Exit::usage, input_.name + ": --upsampling does not work with interlaced video");
      if (wants_part())
        fail(Exit::usage, input_.name + ": --scale and --crop do not work with interlaced video");
      open_frames(std::nullopt);
      read_first();
    }
    if (wants_part())
      fail(Exit::usage, input_.name + ": --scale and --crop are for JPEG and Motion JPEG alone");
    width_ = first_->frame().width();
    height_ = first_->frame().height();
    native_ = first_->frame().format();
  }

  bool wants_part() const { return scale_ != 1 || !(region_ == Region()); }

  Result<bool> read_next(DecodeJob& job) {
    if (job.frame().memory() != memory_) job.frame() = Frame(memory_);
    auto more = packets_ ? packets_->next(job.packet) : frames_->next(job.picture);
    if (packets_) {
      job.picture.name = job.packet.name;
      job.picture.time = job.packet.time;
    }
    const bool at_end = more && !*more && input_.range.last < 0;
    if (at_end && strict_ && info().missing_bytes > 0)
      return Status(Errc::bad_input, cut_sentence(input_.name, info()));
    return more;
  }

  InputOptions input_;
  io::SampleRules rules_;
  DeviceOptions device_;
  bool strict_;  // for frames; the decoder of packets knows it, too
  bool is_fancy_;
  int scale_;
  Region region_;
  bool for_images_;
  HostMemory memory_ = HostMemory::pageable;
  std::unique_ptr<io::PacketSource> packets_;
  std::unique_ptr<io::FrameSource> frames_;
  std::optional<DecodeJob> first_;
  std::int64_t step_;
  int width_ = 0, height_ = 0;
  PixelFormat native_ = PixelFormat::yuv420p, wanted_ = native_;
};

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
    if (options_.icc == IccMode::convert && !content.icc.empty())
      content.png_chunks.clear();  // with gAMA and cHRM, which are not true any more
    if (options_.icc != IccMode::keep || !options_.copy_metadata || io::is_ink_profile(content.icc))
      content.icc.clear();
    if (!options_.copy_metadata) {
      content.exif.clear();
      content.xmp.clear();
      content.png_chunks.clear();
      content.density = {};
    }
    if (!content.empty()) had_content_ = true;
    if (!content.notes.empty() && options_.copy_metadata) had_notes_ = true;
    ConstFrameView view = std::as_const(job.frame()).view();
    if (options_.autorotate && content.orientation != 1) {
      ZR_TRY(io::orient(view, content.orientation, job.turned));
      view = std::as_const(job.turned).view();
      if (content.orientation > 4) std::swap(content.density.x, content.density.y);
      content.orientation = 1;
    }
    content.exif = io::oriented_exif(content);
    job.out.content = std::make_shared<io::PictureContent>(std::move(content));
    return view;
  }

  /// True if a picture had EXIF, XMP or a profile to be kept.
  bool had_content() const noexcept { return had_content_; }
  bool had_notes() const noexcept { return had_notes_; }  ///< comments or IPTC data

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
  std::atomic<bool> had_content_ = false, had_notes_ = false;
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
          "yuv420p, nv12, uyvy422, rgb24, yuv422p10le ..., or cmyk32, the inks of a CMYK JPEG; "
          "they have full range, as JPEG has "
          "(default: those of INPUT)")
      ->type_name("NAME");
  add_sample_options(command, options.samples);
  command.option_defaults()->group("Decoding");
  add_choice<ChromaUpsampling>(
      command, "--upsampling", options.upsampling, words_of_choice<ChromaUpsampling>(),
      "How chroma is enlarged to the size of luma if OUTPUT is RGB: with libjpeg's triangle "
      "filter, or by repetition");
  add_choice<int>(command, "--scale", options.scale, {{"1", 1}, {"1/2", 2}, {"1/4", 4}, {"1/8", 8}},
                  "Decode JPEG at this size, as djpeg -scale does; it takes less time than the "
                  "whole picture");
  command
      .add_option_function<std::string>(
          "--crop", [&options](const std::string& text) { options.region = parse_crop(text); },
          "Decode this region of JPEG alone: width, height, and the first column and row, in "
          "pixels of the scaled picture")
      ->type_name("WxH+X+Y");
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
    if (!options_.strict) note_cut_input(input_name(), feed_->info());
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
    const std::string what =
        output_.name + ": decode writes .y4m, .pnm, .png, .tiff, .bmp, .webp, .yuv and .rgb";
    if (io::is_packet_output(output_) && !io::is_measuring_output(output_))
      fail(Exit::usage, what +
                            "; `zerorun copy` writes JPEG and video without decoding, "
                            "`zerorun encode` codes them anew");
    if (!io::is_measuring_output(output_) && !is_frame_output(output_)) fail(Exit::usage, what);
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
    io::SourceInfo told = feed_->info();
    if (options_.raw_format == name(PixelFormat::cmyk32)) told.inks.clear();
    if (io::format_of(output_) == "png" && told.picture)  // cICP goes from PNG to PNG
      told.content.primaries = told.content.transfer = told.content.matrix = {};
    const bool by_profile = is_images(output_) && options_.content.icc == IccMode::convert;
    ledger_ = tell_ledger(input_name(), told, output_,
                          {.metadata = options_.content.copy_metadata,
                           .has_options = false,
                           .by_profile = by_profile});
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
    kinds_.begins_grey = feed_->native_format() == PixelFormat::gray8;
    const std::string kind = io::format_of(output_);
    if (!io::is_measuring_output(output_) && (kind == "yuv" || kind == "raw" || kind == "rgb"))
      note_raw_range(output_.name, options_.raw_format, wanted_);
    feed_->want_format(wanted_);
    const std::string wanted(name(wanted_));
    describe(feed_->info(), width, height, feed_->native_format(), sink.frame_rate, wanted,
             {{"pixel_format", wanted}});
  }

  void make_decoders() {
    choose_lanes(feed_->info(), !compresses_output(), params_);
    if (!feed_->has_packets()) return;
    params_.upsampling = options_.upsampling;
    params_.strict = options_.strict;
    params_.scale = options_.scale;
    params_.region = options_.region;
    params_.limits = stream_limits(options_.input.max_pixels);
    open_coders<Decoder>([this](int device) { return Decoder::create(on_device(params_, device)); },
                         decoders_);
  }

  Status decode(DecodeJob& job, int lane) {
    if (!job.jpeg().empty()) ZR_TRY(decode_packet(job, lane));
    return finish_ ? finish_->convert_colours(job) : Status::ok();
  }

  /// Pictures are grey or RGB each by itself, if the format of OUTPUT holds both.
  PixelFormat format_of(const DecodeJob& job) const {
    if (!finish_) return wanted_;
    const auto kind = io::jpeg_kind(job.jpeg());
    return sink_->wanted_format(kind && kind->components == 1 ? PixelFormat::gray8
                                                              : PixelFormat::rgb24);
  }

  Result<DecodeReport> decode_stream(Decoder& decoder, DecodeJob& job) {
    const PixelFormat format = format_of(job);
    if (options_.content.icc == IccMode::convert && finish_ && format == PixelFormat::rgb24)
      if (const auto stream = inspect(job.jpeg(), params_.limits);
          stream && io::InkDecoder::takes(*stream))
        return inks_.decode(decoder, job.jpeg(), *stream, job.frame());
    return decoder.decode(job.jpeg(), format, job.frame());
  }

  Status decode_packet(DecodeJob& job, int lane) {
    return decoders_->run(lane, [&](Decoder& decoder, int) {
      const Stopwatch watch;
      auto report = decode_stream(decoder, job);
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
      job.source_hash =
          !job.jpeg().empty() ? xxh3(job.jpeg()) : xxh3(rows_of(std::as_const(job.frame()).view()));
    return Status::ok();
  }

  Status pack(DecodeJob& job) {
    job.out.name = job.name();
    if (!finish_) return sink_->prepare(std::as_const(job.frame()).view(), job.out);
    ZR_LET(view, finish_->finish(job));
    return sink_->prepare(view, job.out);
  }

  Status write(DecodeJob& job) {
    job.out.time = job.picture.time;
    if (options_.shard_run)
      options_.shard_run->describe_next(job.frame().width(), job.frame().height(), job.source_hash);
    ZR_TRY(sink_->commit(job.out));
    if (feed_->has_packets()) {
      if (const auto kind = io::jpeg_kind(job.jpeg())) kinds_.add(kind->components == 1);
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
    if (const std::string notice = feed_->notice(); !notice.empty()) notes.push_back(notice);
    kinds_.tell(output_, ", and are converted to its kind; pictures keep each as it is");
    if (finish_ && finish_->had_content() && !io::can_embed(io::format_of(output_)))
      notes.push_back(
          fmt::format("{}: this format cannot hold the metadata of {}; .png, .tiff and "
                      ".webp keep it (--metadata none leaves it out)",
                      output_.name, input_name()));
    if (finish_ && finish_->had_notes())
      notes.push_back(output_.name + ": there is no place for the comments and IPTC data of " +
                      input_name() + ", left out here (`zerorun encode` to .jpg keeps them)");
    finish_reports(notes);
  }

  const DecodeOptions& options_;
  std::shared_ptr<DecodeInput> feed_;
  DecodeParams params_;
  std::optional<DeviceLanes<Decoder>> decoders_;  // nothing if the input is not JPEG
  PixelFormat wanted_ = PixelFormat::yuv420p;
  std::unique_ptr<io::FrameSink> sink_;
  std::optional<PictureFinish> finish_;  // of pictures
  io::InkDecoder inks_;
  OtherKinds kinds_;  // of JPEG
};

}  // namespace

/// All that samples follow from beside the input, for the manifest of a shard.
static nlohmann::ordered_json decoding_parameters(const DecodeOptions& options) {
  return {
      {"upsampling", static_cast<int>(options.upsampling)},
      {"strict", options.strict},
      {"scale", options.scale},
      {"region", {options.region.x, options.region.y, options.region.width, options.region.height}},
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
