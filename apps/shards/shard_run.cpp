// SPDX-License-Identifier: MIT
#include "apps/shards/shard_run.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/common/figures.hpp"
#include "apps/common/input_output.hpp"
#include "apps/common/process.hpp"
#include "apps/shards/hash.hpp"
#include "apps/shards/shard_set.hpp"
#include "codec/base/folder_names.hpp"
#include "codec/base/try.hpp"
#include "zerorun/source.hpp"

namespace zerorun::app {
namespace {

/// One of the two is set.
struct AnySource {
  std::unique_ptr<io::PacketSource> packets;
  std::unique_ptr<io::FrameSource> frames;
  io::PacketWork packet;
  io::FrameWork frame;

  const io::SourceInfo& info() const { return packets ? packets->info() : frames->info(); }
  Result<bool> next() { return packets ? packets->next(packet) : frames->next(frame); }
  const std::string& name() const { return packets ? packet.name : frame.name; }
};

AnySource open_any(const InputOptions& input) {
  const io::SourceOptions options = source_options(input, {{.backend = Backend::cpu}});
  AnySource source;
  source.packets = open_jpeg_packets(input, options);
  if (!source.packets)
    source.frames = value_or_fail(io::open_frames(input, options), Exit::input, input.name);
  return source;
}

std::string stamp(const struct stat& info) {
  return fmt::format("{} {}.{:09}", info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

/// Names, sizes and times of the files of a sequence, frame by frame; held frames count again.
nlohmann::ordered_json files_identity(const InputOptions& input, const FrameSpan& span) {
  InputOptions part = input;
  part.range = {input.range.first + span.first, input.range.first + span.last};
  Xxh3 hash;
  std::int64_t files = 0;
  if (span.count() > 0) {
    AnySource source = open_any(part);
    for (std::int64_t i = 0; i < span.last - span.first; ++i) {
      const auto more = source.next();
      if (!more || !*more) break;  // the run itself reports a gap
      if (i % span.step != 0) continue;
      struct stat info {};
      hash.add(source.name());
      if (::stat(source.name().c_str(), &info) == 0) hash.add(stamp(info));
      ++files;
    }
  }
  return {{"path", input.name}, {"files", files}, {"stamps", hash_text(hash.value())}};
}

constexpr std::pair<std::string_view, const char*> kSampleRanges[] = {
    {"auto", ""}, {"limited", "tv"}, {"full", "pc"}};

ShardKind kind_of(const FrameOptions& options, const std::string& command) {
  const io::Location& output = options.output;
  const auto refuse = [&](const char* what) {
    fail(Exit::usage, output.name + ": --shard, --range and --resume " + what);
  };
  if (options.input.name == "-") refuse("need an INPUT that can be entered anywhere, not a pipe");
  if (output.name == "-" || io::is_measuring_output(output)) refuse("write files alone");
  if (is_images(output)) {
    if (!is_pattern(output)) refuse("need a pattern such as 'dir/%05d.png' for pictures");
    return ShardKind::pictures;
  }
  const bool is_known =
      command == "encode" ? io::is_packet_output(output) : io::format_of(output) == "y4m";
  if (!is_known) refuse("write video, .y4m and numbered pictures");
  return command == "encode" ? ShardKind::packets : ShardKind::frames;
}

ShardId chosen_shard(const ShardOptions& options) {
  if (options.shard) return *options.shard;
  if (!options.automatic) return {};
  std::string error;
  const auto shard = shard_from([](const char* name) { return std::getenv(name); }, error);
  if (!shard) fail(Exit::usage, "--shard auto: " + error);
  return *shard;
}

FrameSpan clipped(FrameSpan range, std::int64_t total) {
  if (range.first >= total)
    fail(Exit::usage,
         fmt::format("--range begins at frame {}, but there are {}", range.first, total));
  range.last = std::min(range.last, total);
  return range;
}

nlohmann::ordered_json with_input_options(nlohmann::ordered_json parameters,
                                          const InputOptions& input) {
  parameters["input-format"] = input.format;
  parameters["fps"] = rational_text(input.frame_rate);
  parameters["frames"] = fmt::format("{}:{}", input.range.first, input.range.last);
  parameters["start-number"] = input.start_number ? std::to_string(*input.start_number) : "";
  parameters["missing"] = static_cast<int>(input.missing);
  if (input.file_numbers)
    parameters["file-numbers"] = {input.file_numbers->first, input.file_numbers->last};
  parameters["on-error"] = static_cast<int>(input.broken);
  parameters["raw"] = {input.raw.width, input.raw.height, input.raw.pixel_format};
  return parameters;
}

/// Workers of one node share out its GPUs.
void choose_gpu(DeviceOptions& device) {
  if (device.backend != Backend::cuda || device.is_index_named) return;
  const auto rank = local_rank([](const char* name) { return std::getenv(name); });
  const std::size_t count = rank ? cuda_devices().size() : 0;
  if (count > 0) device.index = static_cast<int>(static_cast<std::size_t>(*rank) % count);
}

void make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directory(folder, error);
  if (error || !std::filesystem::is_directory(folder, error))
    fail(Exit::output, folder,
         Status(Errc::open_failed, error ? error.message() : "it is not a directory"));
  if (const Status status = sync_folder(folder_of(folder)); !status)
    fail(Exit::output, folder, status);
}

bool same_bytes(const std::string& one, const std::string& other) {
  std::ifstream a(one, std::ios::binary), b(other, std::ios::binary);
  std::vector<char> from_a(std::size_t{1} << 20), from_b(from_a.size());
  while (a && b) {
    a.read(from_a.data(), static_cast<std::streamsize>(from_a.size()));
    b.read(from_b.data(), static_cast<std::streamsize>(from_b.size()));
    const auto count = static_cast<std::ptrdiff_t>(a.gcount());
    if (a.gcount() != b.gcount() ||
        !std::equal(from_a.begin(), from_a.begin() + count, from_b.begin()))
      return false;
  }
  return a.eof() && b.eof();
}

}  // namespace

FrameCount count_frames(const InputOptions& input) {
  AnySource source = open_any(input);
  if (source.info().frame_count >= 0) return {source.info().frame_count, false};
  if (source.packets) {
    const auto listed =
        io::count_listed_frames(input, source_options(input, {{.backend = Backend::cpu}}));
    if (listed && *listed >= 0) return {*listed, true};
  }
  for (std::int64_t count = 0;; ++count) {
    const auto more = source.next();
    if (!more) fail_input(input.name, more.status(), source.info().is_jpeg);
    if (!*more) return {count, true};
  }
}

nlohmann::ordered_json input_identity(const InputOptions& input, const FrameSpan& span) {
  struct stat info {};
  const bool is_file =
      input.name[0] != '@' && ::stat(input.name.c_str(), &info) == 0 && S_ISREG(info.st_mode);
  if (!is_file) return files_identity(input, span);
  return {{"path", input.name}, {"size", info.st_size}, {"time", stamp(info)}};
}

void add_shard_options(CLI::App& app, ShardOptions& options, std::string& sample_range) {
  app.option_defaults()->group("Shards");
  const auto read_shard = [&options](const std::string& text) {
    options.automatic = text == "auto";
    options.shard = parse_shard(text);
    if (!options.automatic && !options.shard)
      throw CLI::ValidationError("--shard",
                                 "'" + text + "' is not I/N with I from 0 to N-1, or auto");
  };
  app.add_option_function<std::string>("--shard", read_shard,
                                       "Make part I of N of OUTPUT, in the folder "
                                       "OUTPUT.shards, on this machine or any other; "
                                       "then `zerorun concat OUTPUT` joins them to the bytes "
                                       "of one run. auto: as Slurm's job "
                                       "array or srun, mpirun or PMIx number their tasks")
      ->type_name("I/N|auto");
  const auto read_range = [&options, &sample_range](const std::string& text) {
    for (const auto& [word, name] : kSampleRanges)
      if (text == word) return void(sample_range = name);
    options.range = parse_frame_span(text);
    if (!options.range)
      throw CLI::ValidationError(
          "--range",
          "'" + text +
              "' is neither frames (A:B or A:B:STEP with A < B) nor the range of samples "
              "(auto, limited, full)");
  };
  app.add_option_function<std::string>(
         "--range", read_range,
         "Two different things. auto, limited or full: the range of the samples of video; auto "
         "takes "
         "what the file says, and limited where it does not say. A:B or A:B:STEP: a shard of the "
         "frames A, A+STEP, ... below B of all frames, counted from 0, as a render manager hands "
         "them out (--frames A:B selects frames of a run without shards). Both may be given")
      ->type_name("auto|limited|full|A:B[:STEP]")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->trigger_on_parse();
  app.add_flag("--resume", options.resume,
               "Go on where an earlier run with the same input and options was ended; keep a shard "
               "that is whole. Without a shard it works for OUTPUT if every run has it; the frames "
               "wait in OUTPUT.shards then and take their room twice while they are joined");
}

std::shared_ptr<ShardRun> ShardRun::plan(FrameOptions& options, const char* command,
                                         const nlohmann::ordered_json& parameters) {
  const ShardOptions& asked = options.shard;
  if (!asked.any()) return nullptr;
  if (asked.range && (asked.shard || asked.automatic))
    fail(Exit::usage, "--range A:B is a shard already, so --shard does not go with it");
  ShardHead head;
  head.program = program_text();
  head.command = command;
  head.kind = kind_of(options, command);
  head.output = as_written(std::filesystem::path(options.output.name).filename().string());
  head.output_format = options.output.format;
  head.parameters = as_written(with_input_options(parameters, options.input));
  head.start_number = options.input.start_number.value_or(1);
  if (!asked.range) head.shard = chosen_shard(asked);
  choose_gpu(options.device);
  const FrameCount count = count_frames(options.input);
  head.total = count.frames;
  if (head.total == 0) fail_without_frames(options.input);
  head.span = asked.range ? clipped(*asked.range, head.total) : split(head.total, *head.shard);
  head.input = as_written(input_identity(options.input, head.span));
  const std::shared_ptr<ShardRun> run(new ShardRun(options, std::move(head)));
  run->is_exact_count_ = count.is_exact;
  run->is_whole_output_ = !asked.shard && !asked.automatic && !asked.range;
  run->take();
  run->set_range();
  return run;
}

void ShardRun::take() {
  if (is_whole_output_ && !options_.output.overwrite && wanted_.kind != ShardKind::pictures &&
      is_there(output_name_) && !is_there(paths_.manifest))
    fail(Exit::output, output_name_, Status(Errc::output_exists));
  make_folder(paths_.folder);
  if (is_whole_output_) {
    refuse_other_shards();
    refuse_other_file_system();
  }
  open_.journal = value_or_fail(lock_journal(paths_), Exit::output, paths_.folder);
  if (!open_.journal)  // a scheduler that took the other for dead has to come again
    fail(Exit::failed, words() + " is being made by another process; try again when it has ended");
  if (!options_.shard.resume && !options_.output.overwrite) refuse_leftovers();
  Reasons reasons;
  if (options_.shard.resume && keep_whole(reasons)) return;
  if (!options_.shard.resume || !reasons.empty())
    if (const Status status = clear(paths_, *open_.journal); !status)
      fail(Exit::output, paths_.folder, status);
  const bool is_redone = !reasons.empty() || options_.output.overwrite;
  open_ = value_or_fail(reopen(paths_, std::move(open_.journal), wanted_, output_name_, reasons),
                        Exit::output, paths_.folder);
  for (const std::string& reason : reasons)
    console::note(fmt::format("{} is made again: {}", words(), reason));
  if (!open_.frames.empty())
    console::note(fmt::format("{}: {} of {} frames are there already", words(), open_.frames.size(),
                              wanted_.span.count()));
  if (!is_redone && reasons.empty()) refuse_pictures();
}

/// Refuses a folder with other shards: they would be joined with this one, or removed with the
/// folder.
void ShardRun::refuse_other_shards() const {
  std::error_code error;
  const std::string stem = shard_stem(wanted_.shard, wanted_.span);
  for (const std::string& name : folder_names(paths_.folder, error))
    if (!name.starts_with(stem))
      fail(Exit::output, fmt::format("{} holds other shards of {} ({}); join them by `zerorun "
                                     "concat`, or remove the folder",
                                     paths_.folder, output_name_, name));
}

/// Refuses a folder on another file system (a link or a mount): at the end the joined file is
/// renamed to OUTPUT, which must not fail then.
void ShardRun::refuse_other_file_system() const {
  if (wanted_.kind == ShardKind::pictures) return;
  const std::string parent = folder_of(output_name_);
  struct stat here {
  }, there{};
  if (::stat(parent.c_str(), &here) != 0 || ::stat(paths_.folder.c_str(), &there) != 0) return;
  if (here.st_dev != there.st_dev)
    fail(Exit::output,
         fmt::format("{} is on another file system than {}, so --resume cannot move the "
                     "whole there; make shards (--shard) and join them by `zerorun concat`",
                     paths_.folder, output_name_));
}

bool ShardRun::keep_whole(Reasons& reasons) {
  const auto whole = find_whole(paths_, wanted_, output_name_, reasons);
  if (!whole) return false;
  ::unlink(paths_.journal.c_str());
  has_all_ = is_complete_ = true;
  if (!is_whole_output_)
    console::note(fmt::format("{} is there and whole; nothing is left to do", words()));
  return true;
}

void ShardRun::refuse_leftovers() const {
  const bool is_free =
      open_.journal->size() == 0 && !is_there(paths_.manifest) &&
      (paths_.data.empty() || (!is_there(paths_.data) && !is_there(paths_.data_part)));
  if (!is_free)
    fail(Exit::output, words() +
                           " was begun or made before; --resume goes on with it, and -y makes "
                           "it again");
}

/// Refuses pictures that were there before. A run that was killed may have named up to kMostFrames
/// pictures, and one that was next, whose lines are not in its journal.
void ShardRun::refuse_pictures() const {
  if (wanted_.kind != ShardKind::pictures) return;
  std::int64_t first = static_cast<std::int64_t>(open_.frames.size());
  if (open_.was_begun) first += ShardWriter::kMostFrames + 1;
  for (std::int64_t k = first; k < wanted_.span.count(); ++k) {
    const std::string path = picture_path(wanted_, output_name_, static_cast<std::size_t>(k));
    if (is_there(path)) fail(Exit::output, path, Status(Errc::output_exists));
  }
}

ShardRun::ShardRun(FrameOptions& options, ShardHead wanted)
    : options_(options),
      wanted_(std::move(wanted)),
      output_name_(options.output.name),
      input_(options.input) {
  const std::string folder = shard_folder(output_name_);
  paths_ = shard_paths(folder, shard_stem(wanted_.shard, wanted_.span), wanted_.kind);
}

/// Leaves no empty files of a run that ended before its first frame.
ShardRun::~ShardRun() {
  if (writer_ || !open_.journal || open_.journal->size() > 0) return;
  if (!paths_.data_part.empty() && open_.data && open_.data->size() == 0)
    ::unlink(paths_.data_part.c_str());
  ::unlink(paths_.journal.c_str());
  ::rmdir(paths_.folder.c_str());  // fails if there is anything in it
}

bool ShardRun::reaches_end() const noexcept {
  return !is_exact_count_ && wanted_.span.last == wanted_.total && wanted_.span.step == 1 &&
         input_.range.last < 0;
}

void ShardRun::set_range() {
  if (is_complete_) return;
  const auto done = static_cast<std::int64_t>(open_.frames.size());
  options_.input.range.first = input_.range.first + wanted_.span.first + done * step();
  options_.input.range.last = reaches_end() ? -1 : input_.range.first + wanted_.span.last;
  const std::int64_t count = wanted_.span.count();
  has_all_ = count == 0 || (done >= count && !(reaches_end() && has_rest()));
}

/// True if the input has more frames than its headers say. The last shard gets them.
bool ShardRun::has_rest() const {
  InputOptions rest = options_.input;
  rest.range = {input_.range.first + wanted_.span.first +
                    (writer_ ? writer_->frames() : static_cast<std::int64_t>(open_.frames.size())),
                -1};
  const auto more = open_any(rest).next();
  return more && *more;
}

Status ShardRun::begin(const io::SinkOptions& options, const std::string& format) {
  ShardHead head = open_.head;
  if (open_.frames.empty()) {
    head = wanted_;
    head.sink = options;
    // Of the whole output: the range of the input is now that of the shard.
    const bool ends = input_.range.last >= 0 && options.frame_rate.known();
    head.sink.audio_end_seconds =
        ends ? options.audio_start_seconds +
                   static_cast<double>(input_.range.last - input_.range.first) /
                       options.frame_rate.value()
             : -1.0;
    head.has_audio = !options.audio_from.empty();
    head.pixel_format = format;
    ZR_TRY(write_head(head));
  } else if (wanted_.kind != ShardKind::pictures &&
             (head.sink.width != options.width || head.sink.height != options.height ||
              head.pixel_format != format) &&
             (wanted_.kind == ShardKind::frames || is_container(options_.output))) {
    return Status(Errc::unsupported_output,
                  fmt::format("the next frame has {}x{} pixels, but the video began with {}x{}",
                              options.width, options.height, head.sink.width, head.sink.height));
  }
  open_writer(std::move(head));
  return Status::ok();
}

/// Pictures get their final names at once, so the journal has to say before whose they are.
Status ShardRun::write_head(const ShardHead& head) {
  const std::string text = json_text(to_json(head)) + "\n";
  if (open_.was_begun && json_text(to_json(open_.head)) + "\n" == text) return Status::ok();
  ZR_TRY(open_.journal->cut(0));
  ZR_TRY(open_.journal->write(text));
  return wanted_.kind == ShardKind::pictures ? open_.journal->sync() : Status::ok();
}

void ShardRun::describe_next(int width, int height, std::uint64_t source) noexcept {
  next_.width = width;
  next_.height = height;
  next_.source = source;
}

void ShardRun::fill_next(const io::FrameTime& time, std::uint64_t hash,
                         std::int64_t bytes) noexcept {
  next_.time = time;
  next_.hash = hash;
  next_.bytes = bytes;
}

Status ShardRun::add(const io::FrameTime& time, std::uint64_t hash,
                     std::span<const std::span<const std::byte>> parts) {
  std::int64_t bytes = 0;
  for (const auto part : parts) bytes += static_cast<std::int64_t>(part.size());
  fill_next(time, hash, bytes);
  return writer_->add(next_, parts);
}

Status ShardRun::add_picture(const io::FrameTime& time, std::uint64_t hash, std::int64_t bytes) {
  fill_next(time, hash, bytes);
  const auto k = static_cast<std::size_t>(writer_->frames());
  return writer_->add_picture(next_, picture_path(wanted_, output_name_, k));
}

Status ShardRun::end_input() {
  ZR_TRY(writer_->sync());
  const bool has_all = writer_->frames() >= wanted_.span.count();
  const bool is_cut = signals::received() != 0 && !(has_all && !(reaches_end() && has_rest()));
  if (is_cut) return Status::ok();
  is_input_changed_ = as_written(input_identity(input_, wanted_.span)) != wanted_.input;
  if (is_input_changed_) return Status::ok();
  ZR_TRY(writer_->complete());
  is_complete_ = true;
  return Status::ok();
}

std::string ShardRun::words() const {
  if (is_whole_output_) return output_name_;
  return "shard " + shard_stem(wanted_.shard, wanted_.span) + " of " + output_name_;
}

Exit ShardRun::finish() {
  if (is_input_changed_)
    fail(Exit::input, input_.name + " was changed while it was read, so " + words() +
                          " is not finished; the same command makes it again");
  if (!is_complete_ && has_all_) {
    if (open_.frames.empty()) {  // more shards than frames
      io::SinkOptions none;
      none.width = none.height = 1;
      if (const Status status = begin(none, ""); !status) fail(Exit::output, words(), status);
    } else {
      open_writer(open_.head);
    }
    if (const Status status = writer_->complete(); !status) fail(Exit::output, words(), status);
    is_complete_ = true;
  }
  if (!is_complete_) return tell_interrupted();
  const signals::Graceful graceful;
  try {
    if (is_whole_output_) join();
  } catch (const Interrupted&) {
    return tell_interrupted();
  }
  signals::set_all_done();
  return Exit::done;
}

void ShardRun::open_writer(ShardHead head) {
  writer_ = std::make_unique<ShardWriter>(paths_, std::move(head), std::move(open_.frames),
                                          std::move(open_.journal), std::move(open_.data));
}

Exit ShardRun::tell_interrupted() const {
  const std::int64_t done = writer_        ? writer_->frames()
                            : is_complete_ ? wanted_.span.count()
                                           : static_cast<std::int64_t>(open_.frames.size());
  console::note(
      fmt::format("{}: {} of {} frames are on the disk; the same command with --resume "
                  "goes on there",
                  words(), done, wanted_.span.count()));
  return Exit::resume;
}

/// Joins to a file in the folder, which belongs to this run. OUTPUT.part may be that of another
/// run.
void ShardRun::join() const {
  if (wanted_.kind != ShardKind::pictures) {
    JoinOptions options;
    options.folder = paths_.folder;
    options.output = options_.output;
    options.written_as = paths_.folder + "/" + shard_stem(wanted_.shard, wanted_.span) + "-joined" +
                         std::filesystem::path(output_name_).extension().string();
    options.overwrite = true;
    options.audio = options_.input.name;
    join_shards(options);
    name_joined(options.written_as);
  }
  std::error_code ignored;
  std::filesystem::remove_all(paths_.folder, ignored);
}

/// A run that was killed when it had made OUTPUT leaves the same bytes there. Any other file stays.
void ShardRun::name_joined(const std::string& joined) const {
  const Status status = options_.output.overwrite ? rename_durably(joined, output_name_)
                                                  : rename_to_new(joined, output_name_);
  if (status) return;
  if (status.code() != Errc::output_exists || !same_bytes(joined, output_name_)) {
    ::unlink(joined.c_str());
    fail(Exit::output, output_name_, status);
  }
  ::unlink(joined.c_str());
}

}  // namespace zerorun::app
