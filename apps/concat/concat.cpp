// `zerorun concat`: joins shards, or Motion JPEG files of one size, without decoding.
// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "apps/commands.hpp"
#include "apps/common/figures.hpp"
#include "apps/common/frame_pipeline.hpp"
#include "apps/common/input_output.hpp"
#include "apps/common/option_kinds.hpp"
#include "apps/common/options.hpp"
#include "apps/common/process.hpp"
#include "apps/shards/manifest.hpp"
#include "apps/shards/shard_set.hpp"
#include "codec/base/try.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun::app {
namespace {

struct ConcatOptions {
  std::vector<std::string> inputs;
  OutputOptions output;
  io::Rational fps;
  std::string audio, manifest;
  bool allow_missing = false, delete_shards = false;
};

void add_concat_options(CLI::App& command, ConcatOptions& options) {
  command.option_defaults()->group("Input");
  command
      .add_option(
          "INPUT", options.inputs,
          "An output whose shards are in OUTPUT.shards, or that folder; with -o also Motion "
          "JPEG files of one size, which are joined in this order")
      ->required()
      ->type_name("INPUT");
  add_parsed(
      command, "--fps", options.fps, parse_rational, "RATE",
      "a frame rate such as 25, 30000/1001 or 23.976",
      "Frame rate of files, for those without one (raw Motion JPEG: 25) or instead of theirs");
  command.add_flag("--allow-missing", options.allow_missing,
                   "Where a shard is missing, hold the frame before, and say how many");
  command.option_defaults()->group("Output");
  add_value(command, "-o,--output", options.output.name, "OUTPUT",
            "video.mov, .mkv, .avi, .mp4 or raw .mjpeg (default: the name that the shards "
            "belong to)");
  add_value(command, "--output-format", options.output.format, "NAME",
            "What OUTPUT becomes, if its name does not say");
  command.add_flag("-y,--overwrite", options.output.overwrite, "Replace a file that exists");
  add_value(command, "--audio", options.audio, "FILE|none",
            "The INPUT of the run, whose sound is copied as one run does, or none. It has to "
            "be named, because no path in a manifest is followed");
  add_value(command, "--manifest", options.manifest, "FILE",
            "Write the size, time and XXH3 of every frame, for `zerorun verify --manifest`");
  command.add_flag("--delete-shards", options.delete_shards,
                   "Remove the folder of the shards when OUTPUT is on the disk");
  command.option_defaults()->group("Reports");
  add_console_options(command, "Say what is read and written");
}

/// Reading the packets on two threads keeps ahead of writing.
constexpr int kFileLanes = 2;

struct FileJob {
  io::PacketWork packet;
  io::Outgoing out;
  const std::string& name() const { return packet.name; }
};

std::unique_ptr<io::PacketSource> open_packets(const std::string& name,
                                               const ConcatOptions& options) {
  io::SourceOptions source;
  source.frame_rate = options.fps;
  return value_or_fail(io::open_packets({name, "", {}}, source), Exit::input, name);
}

/// The streams of all inputs one after another, each from where the one before ends. All have one
/// size. If all have one constant rate, so has the output; else it keeps the time of every frame.
/// Shared with the reader thread, which may outlive the command in a blocked read.
class Concat : public std::enable_shared_from_this<Concat> {
 public:
  explicit Concat(const ConcatOptions& options)
      : options_(options), output_{options.output.name, options.output.format, {}} {
    for (const std::string& name : options.inputs) sources_.push_back(open_packets(name, options));
  }

  JoinResult run() {
    describe();
    register_part(output_);
    auto sink = value_or_fail(io::open_packet_sink(output_, sink_), Exit::output, output_.name);
    const PipelineSteps<FileJob> steps = {
        .read = [self = shared_from_this()](FileJob& job) { return self->read(job); },
        .load = [this](FileJob& job, int) { return load(job); },
        .pack = [&](FileJob& job) { return sink->prepare(job.packet.item, job.out); },
        .write =
            [&](FileJob& job) {
              job.out.time = job.packet.time;
              return sink->commit(job.out);
            }};
    const PipelineEnd end = run_pipeline<FileJob>(kFileLanes, steps);
    const bool is_output = end.step == PipelineEnd::Step::write;
    if (!end.status)
      fail(is_output ? Exit::output : Exit::input, is_output ? output_.name : end.name, end.status);
    if (end.interrupted) fail_interrupted();
    end_output(output_, sink->finish());
    note_output(output_, *sink);
    return {end.frames, sink->bytes_written(), 0};
  }

 private:
  void describe() {
    const io::SourceInfo& first = sources_.front()->info();
    bool has_audio = false;
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      const io::SourceInfo& info = sources_[i]->info();
      if (info.width != first.width || info.height != first.height)
        fail(Exit::input,
             fmt::format("{}: it has {}x{} pixels, but {} has {}x{}", options_.inputs[i],
                         info.width, info.height, options_.inputs[0], first.width, first.height));
      is_constant_ &= !info.variable_frame_rate && rate(info) == rate(first);
      has_audio |= info.has_audio;
    }
    sink_ = sink_options(first, options_.output, first.width, first.height);
    sink_.coded_format = planar_format(native_subsampling(first.format));
    sink_.variable_frame_rate = !is_constant_;
    if (is_constant_) sink_.time_base = {sink_.frame_rate.den, sink_.frame_rate.num};
    if (has_audio && is_container(output_) && options_.audio != "none") {
      if (options_.audio.empty()) {
        console::note(output_.name +
                      ": the sound of the files is left out (--audio FILE copies that "
                      "of one file)");
      } else {
        sink_.audio_from = options_.audio;
      }
    }
  }

  static io::Rational rate(const io::SourceInfo& info) {
    return info.frame_rate.known() ? info.frame_rate : io::Rational{25, 1};
  }

  /// One file after another. On the reader's thread.
  Result<bool> read(FileJob& job) {
    while (at_ < sources_.size()) {
      ZR_LET(more, sources_[at_]->next(job.packet));
      if (more) {
        place(sources_[at_]->info(), job.packet.time);
        return true;
      }
      begins_ = ends_;
      ++at_;
    }
    return false;
  }

  /// Times in the output's time base, which is that of the first file or one frame.
  void place(const io::SourceInfo& info, io::FrameTime& time) {
    if (is_constant_) {
      time = {ends_++, 1};
      return;
    }
    const double ticks = info.time_base.value() / sink_.time_base.value();
    const bool is_same = info.time_base == sink_.time_base;
    const auto convert = [&](std::int64_t value) {
      return is_same ? value : std::llround(static_cast<double>(value) * ticks);
    };
    const std::int64_t duration =
        time.duration > 0 ? convert(time.duration)
                          : std::llround(1.0 / (rate(info).value() * sink_.time_base.value()));
    time = {begins_ + convert(time.pts - info.first_pts), std::max<std::int64_t>(duration, 1)};
    ends_ = time.pts + time.duration;
  }

  Status load(FileJob& job) const {
    ZR_TRY(job.packet.load());
    const auto info = inspect(job.packet.item, StreamLimits::any_size());
    if (!info) return info.status();
    const bool is_field =
        2 * info->height >= sink_.height - 1 && 2 * info->height <= sink_.height + 1;
    if (info->width == sink_.width && (info->height == sink_.height || is_field))
      return Status::ok();
    return Status(Errc::unsupported_output,
                  fmt::format("it has {}x{} pixels, but the video began with {}x{}", info->width,
                              info->height, sink_.width, sink_.height));
  }

  const ConcatOptions& options_;
  io::Location output_;
  std::vector<std::unique_ptr<io::PacketSource>> sources_;
  io::SinkOptions sink_;
  bool is_constant_ = true;
  std::size_t at_ = 0;
  std::int64_t begins_ = 0, ends_ = 0;
};

bool is_shard_folder(const std::string& name) {
  std::error_code ignored;
  return name.ends_with(".shards") && std::filesystem::is_directory(name, ignored);
}

/// The shards of the OUTPUT that was named, or of the folder and the OUTPUT of -o.
JoinOptions shards_of(const ConcatOptions& options) {
  JoinOptions join;
  const std::string& first = options.inputs.front();
  const bool names_folder = is_shard_folder(first);
  join.folder = names_folder ? first : shard_folder(first);
  join.output = {options.output.name, options.output.format, {}};
  if (join.output.name.empty()) join.output.name = names_folder ? output_of_shards(first) : first;
  join.overwrite = options.output.overwrite;
  join.allow_missing = options.allow_missing;
  join.audio = options.audio;
  join.manifest = options.manifest;
  return join;
}

void tell(const std::string& output, const JoinResult& result, double seconds) {
  console::plain(fmt::format("{}: {} frames, {} bytes, {:.0f} MB/s", output,
                             with_commas(result.frames), with_commas(result.bytes),
                             seconds > 0 ? static_cast<double>(result.bytes) / seconds * 1e-6 : 0));
  if (result.held > 0)
    console::note(fmt::format("{}: {} missing frame{} filled by holding the one before", output,
                              result.held, result.held == 1 ? " was" : "s were"));
}

/// Takes the name away first: a folder that a kill left half empty must not look like shards that
/// are missing, since OUTPUT is whole.
void delete_shards(const std::string& folder) {
  std::string name = folder;
  while (name.ends_with('/')) name.pop_back();
  const std::string joined = name + ".joined";
  std::error_code error;
  std::filesystem::remove_all(joined, error);  // of a run that was killed
  if (!error) std::filesystem::rename(name, joined, error);
  if (!error) std::filesystem::remove_all(joined, error);
  if (error) fail(Exit::output, folder, Status(Errc::write_failed, error.message()));
}

Exit run(const ConcatOptions& options) {
  const Stopwatch watch;
  const bool has_output = !options.output.name.empty();
  if (options.inputs.size() > 1 && !has_output)
    fail(Exit::usage,
         "several files need an OUTPUT (-o); a single name is that of an output whose "
         "shards are joined");
  std::error_code ignored;
  const std::string& first = options.inputs.front();
  const bool names_shards = is_shard_folder(first) || (!std::filesystem::exists(first, ignored) &&
                                                       is_shard_folder(shard_folder(first)));
  const bool is_files = has_output && !names_shards;
  if (is_files) {
    const JoinResult result = std::make_shared<Concat>(options)->run();
    tell(options.output.name, result, watch.seconds());
    return Exit::done;
  }
  if (options.inputs.size() > 1) fail(Exit::usage, "the shards of one output are joined at a time");
  const JoinOptions join = shards_of(options);
  const JoinResult result = join_shards(join);
  tell(join.output.name, result, watch.seconds());
  if (options.delete_shards) delete_shards(join.folder);
  return Exit::done;
}

}  // namespace

Command add_concat(CLI::App& program) {
  auto options = std::make_shared<ConcatOptions>();
  CLI::App* command = program.add_subcommand(
      "concat", "Join the shards of an output, or Motion JPEG files, without decoding");
  command->footer(
      "Examples:\n"
      "  zerorun concat shot.mov                      # the shards in shot.mov.shards\n"
      "  zerorun concat shot.mov --audio in.mp4 -y --delete-shards\n"
      "  zerorun concat a.mov b.avi c.mjpeg -o all.mkv");
  add_concat_options(*command, *options);
  return [options] { return run(*options); };
}

}  // namespace zerorun::app
