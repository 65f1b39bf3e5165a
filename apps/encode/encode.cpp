// `zerorun encode`: frames to Motion JPEG or JPEG files.
// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/commands.hpp"
#include "apps/common/content.hpp"
#include "apps/common/figures.hpp"
#include "apps/common/frame_command.hpp"
#include "apps/common/input_output.hpp"
#include "apps/common/options.hpp"
#include "apps/common/process.hpp"
#include "apps/encode/encode_options.hpp"
#include "apps/shards/hash.hpp"
#include "apps/shards/shard_run.hpp"
#include "codec/api/device_set.hpp"
#include "codec/base/choices.hpp"
#include "codec/base/try.hpp"
#include "zerorun/convert.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"
#include "zerorun/io.hpp"
#include "zerorun/zerorun.hpp"

namespace zerorun::app {
namespace {

/// A frame in the pipeline.
struct EncodeJob {
  io::FrameWork in;
  std::vector<std::byte> jpeg;
  io::Outgoing out;
  double microseconds = 0.0;         ///< coding alone
  double device_microseconds = 0.0;  ///< of the kernels alone; 0 on the CPU
  std::optional<SquaredError> error;
  SizeGoal size;        ///< of this frame
  EncodeReport report;  ///< of its coding

  int width = 0, height = 0;      ///< of the frame that was coded
  std::uint64_t source_hash = 0;  ///< XXH3 of its samples, for a shard's manifest

  const std::string& name() const noexcept { return in.name; }
  const Frame& frame() const noexcept { return in.item; }
};

/// What a lane owns.
struct EncodeWorker {
  Encoder encoder;
  std::optional<Encoder> cpu_twin;  ///< for --verify of a GPU
  std::optional<Decoder> decoder;   ///< for --psnr
  std::vector<std::byte> twin_jpeg;
  Frame decoded;

  /// Errors: those of Encoder::create().
  static Result<EncodeWorker> create(const EncodeParams& params, bool with_psnr, bool with_verify) {
    ZR_LET(encoder, Encoder::create(params));
    EncodeWorker worker{std::move(encoder), {}, {}, {}, {}};
    if (with_verify && worker.encoder.backend() == Backend::cuda) {
      EncodeParams twin_params = params;
      twin_params.backend = Backend::cpu;
      ZR_LET(twin, Encoder::create(twin_params));
      worker.cpu_twin = std::move(twin);
    }
    if (with_psnr) {
      DecodeParams decode;
      decode.backend = Backend::cpu;
      decode.limits = StreamLimits::any_size();
      decode.threads = params.threads;
      ZR_LET(decoder, Decoder::create(decode));
      worker.decoder = std::move(decoder);
    }
    return worker;
  }

  /// Whether it takes frames where a hardware decoder left them: comparisons need the samples on
  /// the host.
  bool takes_surfaces() const noexcept {
    return encoder.backend() == Backend::cuda && !cpu_twin && !decoder &&
           !encoder.params().size.is_of_quality() &&
           !(encoder.params().progressive && encoder.params().size.any());
  }

  Status code(EncodeJob& job) {
    const std::shared_ptr<const DeviceSurface> surface = job.in.surface;
    const ConstFrameView frame = job.frame().view();
    job.width = surface ? surface->width : frame.width;
    job.height = surface ? surface->height : frame.height;
    ZR_TRY(encoder.set_size(job.size));
    const Stopwatch watch;
    auto report = surface ? encoder.encode(*surface, job.jpeg) : encoder.encode(frame, job.jpeg);
    job.microseconds = watch.microseconds();
    // The video decoder needs its memory again. Another device may still need the frame, or another
    // size.
    const bool may_come_again =
        is_of_device(report.status()) || report.status().code() == Errc::size_not_reached;
    if (report || !may_come_again) job.in.drop();
    if (!report) return report.status();
    job.device_microseconds = report->device_microseconds;
    job.report = *report;
    if (cpu_twin) {
      ZR_TRY(cpu_twin->set_size(job.size));
      if (auto twin = cpu_twin->encode(frame, twin_jpeg); !twin) return twin.status();
      if (twin_jpeg != job.jpeg)
        return Status(Errc::verify_mismatch,
                      "the CPU codes other bytes for this frame than the device");
    }
    if (!decoder) return Status::ok();
    auto back = decoder->decode(job.jpeg, frame.format, decoded);
    if (!back) return back.status();
    job.error = squared_error(frame, std::as_const(decoded).view());
    return Status::ok();
  }
};

/// The input. Shared with the reader thread, which may outlive the command in a blocked read.
struct FrameFeed {
  std::unique_ptr<io::FrameSource> source;
  HostMemory memory = HostMemory::pageable;  ///< of the frames
  io::FrameWork first;  ///< loaded ahead, because the output is opened for its size and format
  bool first_taken = false;
  std::int64_t step = 1;  ///< every step-th frame of the source

  /// The serial half alone.
  Result<bool> read(EncodeJob& job) {
    if (!std::exchange(first_taken, true)) {
      job.in = std::move(first);
      return true;
    }
    io::FrameWork left_out;
    for (std::int64_t i = 1; i < step; ++i) {
      ZR_LET(more, source->next(left_out));
      if (!more) return false;
    }
    if (job.in.item.memory() != memory) job.in.item = Frame(memory);
    return source->next(job.in);
  }
};

/// Each picture has its own EXIF, so the segments go in when the stream is coded. Thread-safe.
class EncodeContent {
 public:
  EncodeContent(const EncodeOptions& options, const io::SourceInfo& info,
                const io::Location& output)
      : options_(options),
        output_is_container_(is_container(output)),
        output_is_pictures_(is_images(output)) {
    const bool is_picture = info.container.find("image") != std::string::npos;
    orientation_ = io::orientation_of(info.rotation_degrees, info.mirrored);
    is_said_by_container_ = !is_picture && orientation_ != 1;
    output_turns_ = has_display_matrix(output);
  }

  /// Inserts the segments of the frame's picture into job.jpeg.
  void add_to(EncodeJob& job) {
    std::string too_long;
    const io::PictureContent content = chosen(job);
    const auto segments = io::jpeg_segments(content, &too_long);
    if (!segments.empty()) io::insert_segments(segments, job.jpeg);
    io::set_jfif_density(content.density, job.jpeg);
    if (too_long.empty()) return;
    const std::lock_guard lock(mutex_);
    left_out_ = too_long;
  }

  /// Bytes that add_to() adds.
  std::size_t bytes_of(const EncodeJob& job) const {
    std::string too_long;
    std::size_t bytes = 0;
    for (const MarkerSegment& segment : io::jpeg_segments(chosen(job), &too_long))
      bytes += 4 + segment.payload.size();  // marker and length
    return bytes;
  }

  /// Names the metadata that was too long for a segment; empty if there was none.
  std::string left_out() const {
    const std::lock_guard lock(mutex_);
    return left_out_;
  }

 private:
  /// The content for the stream of a picture. Options and the container override the picture's own.
  io::PictureContent chosen(const EncodeJob& job) const {
    io::PictureContent kept = job.in.content ? *job.in.content : io::PictureContent();
    if (!options_.content.copy_metadata) {
      kept.exif.clear();
      kept.xmp.clear();
      kept.notes.clear();
      kept.texts.clear();
      kept.density = {};
    }
    // A video says by the same numbers how wide its pixels are.
    if (!output_is_pictures_ && kept.density.x != kept.density.y) kept.density = {};
    if (options_.content.icc != IccMode::keep || !options_.content.copy_metadata ||
        io::is_ink_profile(kept.icc))
      kept.icc.clear();
    if (is_said_by_container_ && !output_is_container_) kept.orientation = orientation_;
    // MOV and MP4 say it themselves: once is enough.
    if (output_turns_ && kept.orientation == orientation_) kept.orientation = 1;
    if (!options_.exif.empty()) {
      kept.exif.clear();
      kept.orientation = 1;
    }
    return kept;
  }

  const EncodeOptions& options_;
  int orientation_ = 1;  // of the video or the first picture
  bool is_said_by_container_ = false;
  bool output_turns_ = false, output_is_container_ = false, output_is_pictures_ = false;
  mutable std::mutex mutex_;
  std::string left_out_;
};

class EncodeRun : FrameCommand {
 public:
  explicit EncodeRun(const EncodeOptions& options)
      : FrameCommand("encode", options), options_(options) {}

  Exit run() {
    check_usage();
    params_ = encode_params(options_);
    start_device(Work::encode);
    open_input();
    backend_ = device_->finish();
    if (options_.for_rtp) {
      const Frame& frame = feed_->first.item;
      fit_to_rtp(params_, input_name(), frame.width(), frame.height(),
                 is_rgb(frame.format()) ? Subsampling::s420 : native_subsampling(frame.format()));
    }
    feed_->memory = preferred_memory(backend_);  // of the frames after the first one
    make_workers();
    const signals::Graceful graceful;
    open_output();
    code_all();
    report_end();
    return Exit::done;
  }

 private:
  void check_usage() {
    if (options_.verify && (output_.name == "-" || io::is_measuring_output(output_)))
      fail(Exit::usage, "--verify reads OUTPUT back, so it cannot be '" + output_.name + "'");
    if (!io::is_packet_output(output_))
      fail(Exit::usage, output_.name +
                            ": encode writes .mov, .mkv, .avi, .mp4, .mjpeg and .jpg; "
                            "`zerorun decode` writes other pictures");
    if (options_.verify && options_.shard_run)
      fail(Exit::usage,
           "--verify does not go with shards and --resume; `zerorun verify` does that");
    if (!options_.qtables.empty() && options_.size.any())
      fail(Exit::usage,
           "--qtables says what each coefficient is divided by, so a size or a target of quality "
           "has nothing to choose; --tables names tables that it can scale");
    if (options_.size.bitrate != 0 && options_.shard_run)
      fail(Exit::usage,
           "--bitrate does not go with shards and --resume, because a frame's share depends on the "
           "frames before it; --target-size and --max-frame-size do");
    open_reports(options_.psnr);
  }

  const io::SourceInfo& info() const { return feed_->source->info(); }
  io::Rational rate() const { return sink_options_.frame_rate; }

  void open_input() {
    feed_ = std::make_shared<FrameFeed>();
    const DeviceOptions device = device_->for_source();
    io::SourceOptions source = source_options(options_.input, device);
    // Pictures of the video decoder stay on its device, where no other one can read them.
    source.hardware_video = device.backend != Backend::cpu && options_.device.list.empty() &&
                            !options_.deinterlace &&
                            !options_.size.any();  // a size takes the frame to the host
    source.samples = options_.samples.rules();
    source.repeats_dropped = !keeps_times(output_) && !options_.input.frame_rate.known();
    if (options_.content.icc == IccMode::convert) {
      source.uses_ink_profiles = true;
      source.pixel_format = PixelFormat::rgb24;
      source.accepted_formats = {PixelFormat::gray8};
    }
    feed_->source = open_frames(options_.input, source);
    if (options_.shard_run) feed_->step = options_.shard_run->step();
    check_max_pixels(input_name(), options_.input.max_pixels, has_pixel_limit(info()));
    io::FrameWork& first = feed_->first;
    const auto more = feed_->source->next(first);
    const Status status = more && *more ? first.load(0) : more.status();
    if (!status) fail_input(input_name(), status, info().is_jpeg);
    if (!*more) fail_without_frames(options_.input);
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
    set_pixel_aspect(info().sample_aspect);
    content_.emplace(options_, info(), output_);
    choose_lanes(info(), info().container == "y4m", params_);
    open_coders<EncodeWorker>(
        [this](int device) {
          return EncodeWorker::create(on_device(params_, device), options_.psnr, options_.verify);
        },
        workers_);
    takes_surfaces_ = workers_->own(0)->takes_surfaces();
  }

  Status code(EncodeJob& job, int lane) {
    ZR_TRY(choose_size(job));
    Status status = code_once(job, lane);
    if (rate_ && status.code() == Errc::size_not_reached) {
      ZR_LET(room, rate_->room(job.out.index));
      job.size.overrun_bytes = without_others(job, room);
      const double before = job.microseconds;
      status = code_once(job, lane);
      job.microseconds += before;
    }
    return with_rate(job, about_size(job, std::move(status)));
  }

  Status code_once(EncodeJob& job, int lane) {
    return workers_->run(lane, [&job](EncodeWorker& worker, int) { return worker.code(job); });
  }

  /// Adds what the encoder does not know: the rate and the metadata.
  Status about_size(const EncodeJob& job, Status status) const {
    if (status.code() != Errc::size_not_reached) return status;
    std::string detail = status.detail();
    if (rate_)
      detail += fmt::format("; --bitrate {} and its bucket leave no more for this frame",
                            options_.size.bitrate);
    if (const std::size_t others = content_->bytes_of(job); others != 0)
      detail += fmt::format("; {} bytes of metadata, which --metadata none leaves out, count, too",
                            with_commas(static_cast<std::int64_t>(others)));
    return Status(status.code(), detail);
  }

  /// Leaves room for the metadata, which are added after the encoder.
  Status choose_size(EncodeJob& job) {
    job.size = size_goal(options_.size);
    if (rate_) {
      ZR_LET(budget, rate_->budget(job.out.index));
      job.size.target_bytes = budget;
    }
    if (!job.size.any()) return Status::ok();
    for (std::size_t* bytes : {&job.size.target_bytes, &job.size.max_bytes})
      if (*bytes != 0) *bytes = without_others(job, *bytes);
    return Status::ok();
  }

  std::size_t without_others(const EncodeJob& job, std::size_t bytes) const {
    const std::size_t others = content_->bytes_of(job);
    return bytes > others ? bytes - others : 1;
  }

  /// Tells the rate control the size of the frame, or that it has none: other lanes may wait for
  /// it.
  Status with_rate(const EncodeJob& job, Status status) {
    if (!rate_) return status;
    if (status)
      rate_->coded(job.out.index, job.jpeg.size() + content_->bytes_of(job));
    else
      rate_->fail(job.out.index, status);
    return status;
  }

  PixelFormat coded_format() const {
    const PixelFormat format = feed_->first.item.format();
    return planar_format(params_.subsampling.value_or(is_rgb(format) ? Subsampling::s420
                                                                     : native_subsampling(format)));
  }

  Result<std::unique_ptr<io::PacketSink>> open_sink() const {
    if (options_.shard_run) return options_.shard_run->open_packets(sink_options_);
    return io::open_packet_sink(output_, sink_options_);
  }

  /// What lies beside the samples. Shards hold pictures alone; `join` adds the sound.
  void keep_what_fits() {
    const io::LedgerChoices choices{.sound = options_.copy_audio,
                                    .streams = options_.copy_streams && !options_.shard_run,
                                    .metadata = options_.content.copy_metadata,
                                    .is_readable = is_reopened(options_.input),
                                    .by_profile = options_.content.icc == IccMode::convert};
    keep_colour(info().content, sink_options_);
    sink_options_.content.matrix = "bt470bg";  // BT.601, as JFIF wants it
    sink_options_.content.range = "pc";
    choose_streams(options_.input, info(), output_, choices, sink_options_);
    ledger_ = tell_ledger(input_name(), info(), output_, choices, options_.stops_at_losses);
  }

  void open_output() {
    note_cut_input(input_name(), info());
    const Frame& frame = feed_->first.item;
    kinds_.begins_grey = frame.format() == PixelFormat::gray8;
    sink_options_ = sink_options(info(), options_.output, frame.width(), frame.height());
    sink_options_.coded_format = coded_format();
    sink_options_.first_frame = options_.input.range.first;
    if (options_.content.copy_metadata) sink_options_.content = info().content;
    sink_options_.content.field_order =
        options_.deinterlace ? io::FieldOrder::progressive : info().content.field_order;
    note_losses(input_name(), info(), options_.samples);
    if (is_images(output_)) sink_options_.variable_frame_rate = false;
    keep_what_fits();
    if (options_.progressive && is_container(output_))
      console::note(output_.name + ": some players and editors do not show progressive frames");
    sink_ = value_or_fail(open_sink(), Exit::output, output_.name);
    const std::string sampling(name(native_subsampling(coded_format())));
    const std::string huffman = std::string(word_of(params_.huffman));
    const bool has_quality = options_.qtables.empty();
    if (options_.size.bitrate != 0)
      rate_.emplace(make_rate_control(options_.size, input_name(), rate()));
    describe(info(), frame.width(), frame.height(), frame.format(), rate(),
             fmt::format("{}{}, sampling {}, {}{} Huffman tables, {}",
                         has_quality ? size_text(options_.size, options_.quality)
                                     : "tables of " + options_.qtables,
                         tuning_text(options_.tuning), sampling,
                         options_.progressive ? "progressive, " : "", huffman,
                         device_text(backend_, options_.device)),
             {{"quality", has_quality && !options_.size.has_own_quality()
                              ? nlohmann::json(options_.quality)
                              : nlohmann::json()},
              {"subsampling", sampling},
              {"huffman", huffman},
              {"progressive", options_.progressive},
              {"tune", name(options_.tuning.tune)},
              {"effort", name(options_.tuning.effort)},
              {"tables", options_.tuning.tables},
              {"components", is_rgb(frame.format()) ? "RGB" : "YCbCr"}});
  }

  void code_all() {
    const auto feed = feed_;
    const PipelineSteps<EncodeJob> steps = {
        .read = [feed](EncodeJob& job) { return feed->read(job); },
        .load = [this](EncodeJob& job, int) { return loaded(job, load(job)); },
        .code = [this](EncodeJob& job, int lane) { return code(job, lane); },
        .pack =
            [this](EncodeJob& job) {
              content_->add_to(job);
              job.out.name = job.name();
              return sink_->prepare(job.jpeg, job.out);
            },
        .write = [this](EncodeJob& job) { return write(job); },
        .over =
            [this] {
              if (rate_) rate_->fail(-1, Status(Errc::already_finished));
            }};
    run_frames(steps, info(), *sink_);
  }

  Status loaded(const EncodeJob& job, Status status) {
    return status ? status : with_rate(job, std::move(status));
  }

  Status load(EncodeJob& job) {
    if (!job.in.surface || !takes_surfaces_) ZR_TRY(job.in.load());
    if (options_.deinterlace)
      io::deinterlace(job.in.item.view(),
                      info().content.field_order != io::FieldOrder::bottom_first);
    if (options_.content.icc == IccMode::convert && job.in.content)
      ZR_TRY(to_srgb_.convert(*job.in.content, job.in.item.view()));
    const bool is_on_host = !job.in.surface;
    job.source_hash = 0;
    if (options_.shard_run && is_on_host)
      job.source_hash = xxh3(rows_of(std::as_const(job.in.item).view()));
    return Status::ok();
  }

  Status write(EncodeJob& job) {
    const bool changed = job.width != summary_.width || job.height != summary_.height;
    if (changed && is_container(output_)) {
      write_side_ = Exit::input;
      return other_size_.meet(options_.input.broken, job.name(), job.width, job.height,
                              summary_.width, summary_.height);
    }
    job.out.time = job.in.time;
    other_size_.close_gap(job.out);
    if (options_.shard_run)
      options_.shard_run->describe_next(job.width, job.height, job.source_hash);
    ZR_TRY(sink_->commit(job.out));
    if (job.frame().width() != 0) kinds_.add(job.frame().format() == PixelFormat::gray8);
    if (stats_)
      stats_->add({.index = frame_index(),
                   .pts = job.in.time.pts,
                   .bytes = job.jpeg.size(),
                   .microseconds = job.microseconds,
                   .error = job.error,
                   .gpu_microseconds = job.device_microseconds,
                   .coding = coding_of(job.report)});
    if (options_.size.any()) settings_.add(job.report);
    if (options_.verify) verifier_.add(job.jpeg);
    if (job.error) {
      if (!summary_.error) summary_.error.emplace();
      summary_.error->add(*job.error);
    }
    summary_.times.add(job.microseconds);
    count_frame(job.jpeg.size(), std::int64_t{job.width} * job.height);
    return Status::ok();
  }

  FrameCoding coding_of(const EncodeReport& report) const {
    const bool is_scaled = options_.qtables.empty();
    return {is_scaled ? std::optional(report.quality) : std::nullopt, report.thrift, report.codings,
            options_.size.is_of_quality() ? std::optional(report.reached) : std::nullopt};
  }

  void report_end() {
    if (settings_.frames > 0)
      console::detail(fmt::format(
          "{}: the {} took quality {:.1f} to {:.1f}, and {:.1f} codings a frame", output_.name,
          options_.size.is_of_quality() ? "targets" : "sizes", settings_.least, settings_.most,
          static_cast<double>(settings_.codings) / static_cast<double>(settings_.frames)));
    if (options_.verify && summary_.frames > 0) {
      io::Location written = output_;
      if (io::has_name_word(output_))
        written.names = value_or_fail(
            io::named_paths(output_, *info().files, options_.output.keep_tree), Exit::mismatch, "");
      verifier_.check(written);
      console::detail(output_.name +
                      ": every frame was read back and has the bytes that were coded");
    }
    std::vector<std::string> notes;
    kinds_.tell(output_, "; each stays as it is");
    if (const std::string what = content_->left_out(); !what.empty())
      notes.push_back(fmt::format("{}: {} of {} is too long for JPEG and is left out", output_.name,
                                  what, input_name()));
    if (const std::string notice = feed_->source->notice(); !notice.empty())
      notes.push_back(notice);
    if (const std::string notice = sink_->notice(); !notice.empty())
      notes.push_back(output_.name + ": " + notice);
    if (const std::int64_t damaged = feed_->source->concealed_frames(); damaged > 0)
      notes.push_back(fmt::format("{}: {} damaged frame{} concealed", input_name(), damaged,
                                  damaged == 1 ? " was" : "s were"));
    finish_reports(notes);
  }

  const EncodeOptions& options_;
  EncodeParams params_;
  std::shared_ptr<FrameFeed> feed_;
  std::optional<DeviceLanes<EncodeWorker>> workers_;
  bool takes_surfaces_ = false;  // the workers do
  io::SinkOptions sink_options_;
  std::unique_ptr<io::PacketSink> sink_;
  Verifier verifier_;
  OtherSizes other_size_;
  OtherKinds kinds_;
  std::optional<EncodeContent> content_;
  ToSrgb to_srgb_;
  std::optional<RateControl> rate_;  // with --bitrate
  struct {
    double least = 101.0, most = 0.0;  // quality
    std::int64_t frames = 0, codings = 0;
    void add(const EncodeReport& report) {
      least = std::min(least, report.quality);
      most = std::max(most, report.quality);
      ++frames;
      codings += report.codings;
    }
  } settings_;  // with a size or a target of quality
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
      "  ffmpeg -i in.mp4 -f yuv4mpegpipe - | zerorun encode - -o out.avi\n"
      "  zerorun encode in.nv12 --size 1920x1080 --pix-fmt nv12 --fps 25 -o out.mov");
  add_encode_options(*command, *options);
  show_common_options(*command,
                      {"INPUT", "--output", "--overwrite", "--quality", "--subsampling", "--tune",
                       "--target-size", "--bitrate", "--fps", "--frames", "--device", "--verify"});
  return [options] {
    apply_common_options(*options, true);
    return run_shard(
        *options, "encode", [&] { return coding_parameters(*options); },
        [&] { return EncodeRun(*options).run(); });
  };
}

}  // namespace zerorun::app
