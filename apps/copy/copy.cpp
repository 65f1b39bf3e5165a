// `zerorun copy`: JPEG streams from one file to another, as they are or coded again without loss.
// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/commands.hpp"
#include "apps/common/content.hpp"
#include "apps/common/device_choice.hpp"
#include "apps/common/frame_pipeline.hpp"
#include "apps/common/input_output.hpp"
#include "apps/common/option_kinds.hpp"
#include "apps/common/options.hpp"
#include "apps/common/process.hpp"
#include "apps/common/reports.hpp"
#include "apps/copy/recode.hpp"
#include "codec/base/try.hpp"
#include "zerorun/convert.hpp"

namespace zerorun::app {
namespace {

struct CopyOptions {
  InputOptions input;
  OutputOptions output;
  ReportOptions report;
  RecodeOptions recode;
  std::string format;  ///< of "-"
  bool copy_audio = true;
  bool copy_metadata = true;
  bool copy_streams = true;
  bool stops_at_losses = false;
};

void add_copy_options(CLI::App& command, CopyOptions& options) {
  add_input_options(command, options.input);
  command.add_option("--format", options.format, "What - is: mjpeg")
      ->type_name("mjpeg")
      ->check(CLI::IsMember({"mjpeg"}).description(""));
  add_output_options(command, options.output,
                     "video.mov, .mkv, .avi, .mp4, raw .mjpeg, picture.jpg, a pattern "
                     "'dir/%05d.jpg', - for raw MJPEG on stdout, null: for nothing, or md5:FILE");
  command.option_defaults()->group("Content");
  add_choice<bool>(command, "--audio", options.copy_audio, {{"copy", true}, {"none", false}},
                   "Copy the sound of the input into MOV, MP4, MKV and AVI, or leave it out");
  add_stream_options(command, options.copy_streams, options.stops_at_losses);
  add_choice<bool>(
      command, "--metadata", options.copy_metadata, {{"copy", true}, {"none", false}},
      "Keep the tags, the chapters, the time code and the field order of a container, or "
      "leave them out. What the JPEG streams say themselves stays in any case");
  add_recode_options(command, options.recode);
  command.option_defaults()->group("Reports");
  add_progress_option(command, options.report.progress);
  add_console_options(command, "Say what is read and what was unusual");
}

struct CopyJob {
  io::PacketWork in;
  io::Outgoing out;
  std::size_t source_bytes = 0;  ///< before it was coded again
  std::string left_out;          ///< why; empty if it is not
  int lost_pictures = 0;         ///< further ones of its file, by coding it again
  const std::string& name() const noexcept { return in.name; }
};

class CopyRun {
 public:
  explicit CopyRun(const CopyOptions& options) : options_(options), output_(options.output) {}

  Exit run() {
    refuse_terminal(output_);
    if (!io::is_packet_output(output_))
      fail(Exit::usage, output_.name +
                            ": copy writes .mov, .mkv, .avi, .mp4, .mjpeg and .jpg; "
                            "`zerorun decode` writes other pictures");
    if (options_.recode.any()) start_device();
    open_input();
    read_first();
    const signals::Graceful graceful;
    open_output();
    copy_all();
    report();
    return Exit::done;
  }

 private:
  const std::string& name() const { return options_.input.name; }
  const io::SourceInfo& info() const { return source_->info(); }

  void start_device() {
    DeviceOptions device = options_.recode.device;
    if (device.backend == Backend::automatic && !options_.recode.optimizes_alone())
      device.backend = Backend::cpu;
    device_.emplace(
        device, pixels_of(options_.input, options_.output), Work::recode,
        DeviceProbe{cuda_presence, [](int index) { return start_coder(Work::recode, index); }});
  }

  void open_input() {
    io::SourceOptions source = source_options(options_.input, {});
    source.repeats_dropped = !keeps_times(output_) && !options_.input.frame_rate.known();
    source_ = open_jpeg_packets(options_.input, source);
    if (!source_) fail_without_jpeg(source);
    note_cut_input(name(), info());
  }

  /// Up to the first packet that is not left out: it tells what the output has to hold.
  void read_first() {
    Status status;
    do {
      CopyJob& job = first_.emplace_back();
      const auto more = source_->next(job.in);
      if (!more) fail_input(name(), more.status(), true);
      if (!*more && !status) fail_input(first_.front().name(), status, true);
      if (!*more) fail_without_frames(options_.input);
      status = load(job, true);
      if (status) start_recoding();
      if (status && recoder_) status = recode_packet(job, 0);
      if (const Status fatal = or_left_out(job, status); !fatal)
        fail_input(job.name(), fatal, true);
    } while (!status);
  }

  static Status load(CopyJob& job, bool needs_header) {
    ZR_TRY(job.in.load());
    return !needs_header || io::jpeg_kind(job.in.item)
               ? Status::ok()
               : Status(Errc::bad_input, "there is no frame header (SOF)");
  }

  bool skips() const { return options_.input.broken == io::BrokenFrames::skip; }
  /// With --on-error skip a picture is left out where it is the picture's fault.
  Status or_left_out(CopyJob& job, const Status& status) const {
    if (status || !skips() || group(status.code()) == ErrorGroup::capacity) return status;
    job.left_out = sentence_about(job.name(), status);
    return Status::ok();
  }
  const CopyJob& first() const { return first_.back(); }

  /// What `encode` cannot read either is called what it is.
  [[noreturn]] void fail_without_jpeg(const io::SourceOptions& source) const {
    if (!is_read_once(options_.input))
      (void)value_or_fail(io::probe(options_.input, source), Exit::input, name());
    fail(Exit::input, name() + " is not JPEG, so it cannot be copied; `zerorun encode` codes it");
  }

  void start_recoding() {
    const auto stream = inspect(first().in.item, StreamLimits::any_size());
    is_field_ = stream && is_field(*stream, info());
    if (!options_.recode.any()) return;
    RecodeOptions recode = options_.recode;
    LosslessTransform& transform = recode.params.transform;
    if (is_field_ && recode.transforms())
      fail(Exit::input, name() +
                            " is interlaced: its fields cannot be turned or cut apart; "
                            "`zerorun decode` weaves them");
    if (transform.rotate == Rotation::upright) transform.orientation = by_container();
    const bool is_single = info().frame_count == 1 || is_single_image(output_);
    const Backend backend = device_->finish();
    device_->tell();
    // 2,400 streams of 4K at q75 into one file in tmpfs take 1.83 s with 8 lanes and 2.2 with 12
    // and 16 (H200, 16 cores): the lanes and the thread that writes share the memory's time.
    DeviceOptions lanes = recode.device;
    if (backend == Backend::cuda && lanes.threads == 0)
      lanes.threads = std::max(4, usable_processors() / 2) * lanes.device_count();
    recoder_.emplace(recode, stream_limits(options_.input.max_pixels), is_field_,
                     is_single ? 1 : lane_count(lanes, backend, false), device_->for_coders(),
                     coder_devices(backend, recode.device));
    swaps_sides_ = transform.rotate == Rotation::by_90 || transform.rotate == Rotation::by_270 ||
                   (transform.rotate == Rotation::upright &&
                    (transform.orientation != 0 ? transform.orientation : by_exif()) > 4);
    const bool is_upright = transform.rotate == Rotation::upright && by_exif() == 1 &&
                            transform.flip == Flip::none && transform.crop == Region();
    if (recode.transforms() && !is_upright && has_thumbnail())
      console::note(first().name() + ": the thumbnail in its EXIF data stays as it was");
    if (recode.progressive && is_container(output_))
      console::note(output_.name + ": some players and editors do not show progressive frames");
  }

  Status recode_packet(CopyJob& job, int lane) {
    job.source_bytes = job.in.item.size();
    ZR_LET(lost, recoder_->recode(lane, job.in.item));
    job.lost_pictures = lost;
    return lost == 0 || !options_.stops_at_losses || job.out.index == 0
               ? Status::ok()
               : Status(Errc::unsupported_output, "its further pictures would not fit it any more");
  }

  bool turns_upright() const {
    return options_.recode.params.transform.rotate == Rotation::upright;
  }
  /// 0 for pictures, each of which has its own.
  int by_container() const {
    const bool is_picture = info().container.find("image") != std::string::npos;
    const int orientation = io::orientation_of(info().rotation_degrees, info().mirrored);
    return is_picture || orientation == 1 ? 0 : orientation;
  }
  /// Not by inspect(), which refuses streams that copy takes.
  int by_exif() const {
    return io::picture_content(std::span<const std::byte>(first().in.item)).orientation;
  }

  bool has_thumbnail() const {
    const auto exif = io::picture_content(std::span<const std::byte>(first().in.item)).exif;
    constexpr std::array<std::uint8_t, 3> kImage{0xFF, 0xD8, 0xFF};  // SOI and another marker
    return std::search(exif.begin(), exif.end(), kImage.begin(), kImage.end()) != exif.end();
  }

  /// Of the packets that are written.
  io::SourceInfo written_info() const {
    io::SourceInfo written = info();
    if (turns_upright()) {
      written.rotation_degrees = 0;
      written.mirrored = false;
    }
    if (swaps_sides_ && written.sample_aspect.known())
      std::swap(written.sample_aspect.num, written.sample_aspect.den);
    if (first().lost_pictures > 0) {
      io::PictureContent lost;
      lost.pages += first().lost_pictures;
      written.picture = std::make_shared<io::PictureContent>(std::move(lost));
    }
    return written;
  }

  /// The headers of the first stream; of kinds that zerorun does not decode, only the size.
  void describe_first(io::SinkOptions& sink) {
    const std::vector<std::byte>& jpeg = first().in.item;
    const auto kind = io::jpeg_kind(jpeg);
    kinds_.begins_grey = kind->components == 1;
    width_ = sink.width = kind->width;
    height_ = sink.height = kind->height;
    const auto stream = inspect(jpeg, StreamLimits::any_size());
    if (stream.status().code() == Errc::out_of_memory)
      fail(Exit::input, first().name(), stream.status());
    if (!stream) {
      console::note(fmt::format("{}: {} JPEG, {} bits, {}: copied, but not every player shows it",
                                first().name(), kind->process, kind->bits, kind->color));
      return;
    }
    sink.coded_format = stored_format(*stream);
    if (is_rgb(sink.coded_format)) sink.coded_format = PixelFormat::yuv444p;
    if (!is_field_) return;
    if (!is_container(output_))
      fail(Exit::output, fmt::format("{}: a packet of {} holds the two fields of a picture; "
                                     "write .mov, .mkv, .avi or .mp4, or use `zerorun encode`",
                                     output_.name, name()));
    sink.height = info().height;
  }

  /// A container says the orientation for all its frames; the JPEG streams say it by EXIF. EXIF
  /// stays in the streams; MOV and MP4 say it too, for the many readers that look there alone.
  void choose_orientation(io::SinkOptions& sink) {
    const int container = turns_upright() || by_container() == 0 ? 1 : by_container();
    const int shown = container != 1 || !has_display_matrix(output_) ? container : by_exif();
    sink.rotation_degrees = io::rotation_of(shown);
    sink.mirrored = io::is_mirrored(shown);
    if (shown == 1 || is_container(output_) || io::is_measuring_output(output_)) return;
    if (is_images(output_))
      orientation_ = shown;
    else
      console::note(
          fmt::format("{}: raw Motion JPEG cannot say how {} is turned for display; "
                      ".mov, .mp4 and .jpg can",
                      output_.name, name()));
  }

  void open_output() {
    register_part(output_);
    const io::SourceInfo written = written_info();
    io::SinkOptions sink = sink_options(written, options_.output, 0, 0);
    describe_first(sink);
    if (is_images(output_)) sink.variable_frame_rate = false;
    choose_orientation(sink);
    sink.first_frame = options_.input.range.first;
    if (options_.copy_metadata) sink.content = info().content;
    keep_colour(info().content, sink);
    choose_streams(options_.input, info(), output_, choices(), sink);
    ledger_ = tell_ledger(name(), written, output_, choices(), options_.stops_at_losses);
    rate_ = sink.frame_rate;
    sink_ = value_or_fail(io::open_packet_sink(output_, sink), Exit::output, output_.name);
    console::detail(fmt::format("{}: {}, {}x{}, {} fps", name(), info().container, sink.width,
                                sink.height, rational_text(rate_)));
  }

  io::LedgerChoices choices() const {
    return {.sound = options_.copy_audio,
            .streams = options_.copy_streams,
            .metadata = options_.copy_metadata,
            .is_coded = false,
            .is_readable = is_reopened(options_.input)};
  }

  Status code(CopyJob& job, int lane) {
    const bool is_done = job.source_bytes != 0 || !job.left_out.empty();
    return !recoder_ || is_done ? Status::ok() : or_left_out(job, recode_packet(job, lane));
  }

  Status pack(CopyJob& job) {
    if (!job.left_out.empty()) return Status::ok();
    if (is_images(output_)) job.in.item = io::with_huffman_tables(job.in.item);
    if (orientation_ != 1 && !io::set_jpeg_orientation(job.in.item, orientation_))
      has_untold_orientation_ = true;
    job.out.name = job.name();
    return sink_->prepare(job.in.item, job.out);
  }

  Status write(CopyJob& job) {
    if (!job.left_out.empty()) {
      other_size_.leave_out(job.left_out);
      return Status::ok();
    }
    const auto kind = io::jpeg_kind(job.in.item);
    if (is_container(output_) && kind && (kind->width != width_ || kind->height != height_)) {
      write_side_ = Exit::input;  // as encode and concat
      return other_size_.meet(options_.input.broken, job.name(), kind->width, kind->height, width_,
                              height_);
    }
    job.out.time = job.in.time;
    other_size_.close_gap(job.out);
    ZR_TRY(sink_->commit(job.out));
    if (kind) kinds_.add(kind->components == 1);
    ++counts_.frames;
    counts_.coded_bytes += static_cast<std::int64_t>(job.in.item.size());
    source_bytes_ += static_cast<std::int64_t>(job.source_bytes);
    if (!io::has_end_of_image(job.in.item)) ++without_end_;
    further_losses_ += job.lost_pictures > 0 && counts_.frames > 1 ? 1 : 0;
    progress_->update(counts_);
    return Status::ok();
  }

  void copy_all() {
    progress_.emplace(options_.report, info().frame_count, rate_);
    const auto source = source_;
    const auto first = std::make_shared<std::deque<CopyJob>>(std::exchange(first_, {}));
    const PipelineSteps<CopyJob> steps = {
        .read = [source, first](CopyJob& job) -> Result<bool> {
          job.source_bytes = 0;
          job.left_out.clear();
          if (first->empty()) return source->next(job.in);
          job = std::move(first->front());
          first->pop_front();
          return true;
        },
        .load =
            [this](CopyJob& job, int) {
              return job.left_out.empty() ? or_left_out(job, load(job, skips())) : Status::ok();
            },
        .code = [this](CopyJob& job, int lane) { return code(job, lane); },
        .pack = [this](CopyJob& job) { return pack(job); },
        .write = [this](CopyJob& job) { return write(job); }};
    // Copying waits for files more than for the processor.
    constexpr int kLanes = 4;
    const PipelineEnd end = run_pipeline<CopyJob>(recoder_ ? recoder_->lanes() : kLanes, steps);
    if (!end.status || signals::must_stop_now()) {
      progress_->finish(counts_, "failed", {});
      if (signals::must_stop_now()) fail(Exit::failed, "stopped");
      if (end.step == PipelineEnd::Step::read) fail_input(name(), end.status, true);
      if (end.step == PipelineEnd::Step::code) fail_input(end.name, end.status, true);
      fail(write_side_, output_.name, end.status);
    }
    interrupted_ = end.interrupted;
    if (counts_.frames == 0) return;
    end_output(output_, sink_->finish());
  }

  void report() {
    progress_->finish(counts_, interrupted_ ? "interrupted" : "done",
                      {{"output", output_.name},
                       {"frames", counts_.frames},
                       {"bytes", counts_.coded_bytes},
                       {"output_bytes", sink_->bytes_written()},
                       {"seconds", progress_->seconds()},
                       {"ledger", ledger_},
                       {"recoding", recoding_json()}});
    if (const std::string notice = source_->notice(); !notice.empty()) console::note(notice);
    if (info().missing_bytes == 0 && without_end_ > 0)
      console::note(fmt::format("{}: {} image{} no end (EOI) and may be cut short", name(),
                                without_end_, without_end_ == 1 ? " has" : "s have"));
    if (recoder_) tell_lost_devices(recoder_->lost());
    note_output(output_, *sink_);
    kinds_.tell(output_, "; each stays as it is");
    if (further_losses_ > 0)
      console::note(
          fmt::format("{}: {} more lost their further pictures (gain maps, previews), "
                      "which would not fit them any more",
                      output_.name, further_losses_));
    if (const std::int64_t skipped = source_->skipped_bytes(); skipped > 0)
      console::note(fmt::format("{}: {} bytes between the images were left out", name(), skipped));
    if (has_untold_orientation_)
      console::note(output_.name +
                    ": EXIF without an orientation was left as it is, so viewers will "
                    "not turn the pictures as players turn " +
                    name());
    if (counts_.frames == 0)
      console::note(output_.name + ": interrupted before the first frame, nothing was written");
    else if (!progress_->is_json())
      console::plain(fmt::format("{}: {} frame{} copied, {} bytes{}, {:.2f} s", output_.name,
                                 counts_.frames, counts_.frames == 1 ? "" : "s",
                                 with_commas(sink_->bytes_written()), recoding_text(),
                                 progress_->seconds()));
  }

  /// What coding again has done to the streams.
  std::string recoding_text() const {
    if (!recoder_) return {};
    const double change = 100.0 * static_cast<double>(counts_.coded_bytes - source_bytes_) /
                          static_cast<double>(source_bytes_);
    return fmt::format(", the streams {:+.1f} %{}", change,
                       options_.recode.params.verify ? ", coefficients verified" : "");
  }
  nlohmann::ordered_json recoding_json() const {
    if (!recoder_) return nullptr;
    return {{"source_bytes", source_bytes_},
            {"unchanged_frames", recoder_->unchanged()},
            {"verified", options_.recode.params.verify}};
  }

  const CopyOptions& options_;
  const io::Location output_;
  std::shared_ptr<io::PacketSource> source_;
  std::int64_t without_end_ = 0;
  std::deque<CopyJob> first_;  // the last of them is the first that is not left out
  std::unique_ptr<io::PacketSink> sink_;
  std::optional<Progress> progress_;
  ProgressCounts counts_;
  io::Rational rate_;
  nlohmann::ordered_json ledger_;
  int width_ = 0, height_ = 0;
  Exit write_side_ = Exit::output;  // which side an error of write() is about
  int orientation_ = 1;  // of the pictures that are written, where it is not theirs already
  OtherSizes other_size_;
  OtherKinds kinds_;
  std::optional<DeviceStart> device_;  // where streams are coded again
  std::optional<Recoder> recoder_;     // null: streams are copied as they are
  std::int64_t source_bytes_ = 0, further_losses_ = 0;
  bool is_field_ = false, swaps_sides_ = false;
  std::atomic<bool> has_untold_orientation_{false};
  bool interrupted_ = false;
};

}  // namespace

Command add_copy(CLI::App& program) {
  auto options = std::make_shared<CopyOptions>();
  CLI::App* command = program.add_subcommand(
      "copy",
      "Copy JPEG streams as they are, or code them again without loss: smaller, turned, cut");
  command->footer(
      "Examples:\n"
      "  zerorun copy shot.mov -o 'frames/%05d.jpg'\n"
      "  zerorun copy 'frames/%05d.jpg' -o shot.mkv --fps 25\n"
      "  zerorun copy shot.avi -o part.mov --frames 100:200\n"
      "  zerorun copy photos/ -o upright/ --rotate auto --optimize");
  add_copy_options(*command, *options);
  show_common_options(
      *command, {"INPUT", "--output", "--overwrite", "--fps", "--frames", "--on-error", "--audio",
                 "--optimize", "--progressive", "--rotate", "--crop", "--verify"});
  return [options] {
    options->input.opened = io::opened_file();
    check_recode_options(options->recode);
    apply_format_option(options->format, true, options->input, options->output);
    return CopyRun(*options).run();
  };
}

}  // namespace zerorun::app
