// `zerorun verify`: tells whether files are whole.
// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/commands.hpp"
#include "apps/common/figures.hpp"
#include "apps/common/frame_pipeline.hpp"
#include "apps/common/options.hpp"
#include "apps/common/process.hpp"
#include "apps/shards/hash.hpp"
#include "apps/shards/manifest.hpp"
#include "apps/shards/shard_set.hpp"
#include "apps/shards/shard_state.hpp"
#include "codec/base/try.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun::app {
namespace {

struct VerifyOptions {
  std::vector<std::string> inputs;
  std::string manifest;
  bool parse = false;
  int threads = 0;
};

struct VerifyJob {
  io::PacketWork packet;
  io::Outgoing out;
  std::vector<ComponentPlane> planes;
  const std::string& name() const { return packet.name; }
};

/// Ends the command with exit 3 at a file that cannot be read or a frame that is damaged, and with
/// exit 6 where bytes are not those of the manifest.
class Verify {
 public:
  Verify(const std::string& name, const VerifyOptions& options)
      : name_(name),
        options_(options),
        lanes_(worker_count({{}, false, options.threads}, Backend::cpu)),
        decoders_(static_cast<std::size_t>(lanes_)) {
    if (!options.manifest.empty()) read_manifest();
    source_ = value_or_fail(io::open_packets({name, "", {}}, {}), Exit::input, name);
    const io::SourceInfo& info = source_->info();
    if (info.missing_bytes > 0)
      fail(Exit::input, fmt::format("{} is cut short: {} bytes are missing at its end", name,
                                    with_commas(info.missing_bytes)));
  }

  void run() {
    const PipelineSteps<VerifyJob> steps = {
        .read = [source = source_](VerifyJob& job) { return source->next(job.packet); },
        .load = [](VerifyJob& job, int) { return job.packet.load(); },
        .code = [this](VerifyJob& job, int lane) { return check(job, lane); },
        .write =
            [this](VerifyJob& job) {
              bytes_ += static_cast<std::int64_t>(job.packet.item.size());
              return Status::ok();
            }};
    const PipelineEnd end = run_pipeline<VerifyJob>(lanes_, steps);
    if (!end.status) fail(Exit::input, fmt::format("{}: frame {}", name_, end.frames), end.status);
    if (source_->skipped_bytes() > 0)
      fail(Exit::input, fmt::format("{}: {} bytes lie between its images", name_,
                                    with_commas(source_->skipped_bytes())));
    compare_count(end.frames);
    console::plain(fmt::format("{}: {} frames, {} bytes, {}{}", name_, with_commas(end.frames),
                               with_commas(bytes_), options_.parse ? "parsed" : "decoded",
                               wanted_ ? ", as the manifest says" : ""));
  }

 private:
  void read_manifest() {
    const std::string text = value_or_fail(read_text(options_.manifest, kMostManifestBytes),
                                           Exit::input, options_.manifest);
    wanted_ = value_or_fail(parse_manifest(text), Exit::input, options_.manifest);
    if (wanted_->head.kind != ShardKind::packets)
      fail(Exit::input, options_.manifest + ": it is not a manifest of Motion JPEG");
  }

  void compare_count(std::int64_t frames) const {
    if (!wanted_ || static_cast<std::int64_t>(wanted_->frames.size()) == frames) return;
    fail(Exit::mismatch, fmt::format("{}: it has {} frames, and the manifest {}", name_, frames,
                                     wanted_->frames.size()));
  }

  Status check(VerifyJob& job, int lane) {
    ZR_TRY(compare(job));
    if (options_.parse) return inspect(job.packet.item, StreamLimits::any_size()).status();
    std::optional<Decoder>& decoder = decoders_[static_cast<std::size_t>(lane)];
    if (!decoder) {
      DecodeParams params;
      params.backend = Backend::cpu;
      params.strict = true;
      params.threads = 1;
      params.limits = StreamLimits::any_size();
      ZR_LET(made, Decoder::create(params));
      decoder = std::move(made);
    }
    return decoder->decode_planes(job.packet.item, job.planes).status();
  }

  Status compare(const VerifyJob& job) const {
    if (!wanted_) return Status::ok();
    const auto index = static_cast<std::size_t>(job.out.index);
    if (index >= wanted_->frames.size()) return Status::ok();  // compare_count() reports it
    const ShardFrame& frame = wanted_->frames[index];
    const auto bytes = static_cast<std::int64_t>(job.packet.item.size());
    if (bytes == frame.bytes && xxh3(job.packet.item) == frame.hash) return Status::ok();
    return Status(Errc::verify_mismatch,
                  fmt::format("its {} bytes are not the {} of the manifest", bytes, frame.bytes));
  }

  const std::string& name_;
  const VerifyOptions& options_;
  int lanes_;
  std::vector<std::optional<Decoder>> decoders_;
  std::optional<ShardManifest> wanted_;
  std::shared_ptr<io::PacketSource> source_;  // the reader thread may outlive the command
  std::int64_t bytes_ = 0;
};

/// All shards in a folder: manifests, completeness and the hash of every frame.
void verify_shards(const std::string& folder) {
  const ShardSet set = ShardSet::load(folder, false);
  const std::string output = output_of_shards(folder);
  std::vector<std::byte> bytes;
  std::int64_t total = 0;
  for (const ShardEntry& entry : set.entries()) {
    const ShardPart& part = set.part_of(entry);
    if (part.has_data()) {
      if (const Status status = set.read(entry, bytes); !status)
        fail(Exit::mismatch, folder + ": " + status.detail());
    } else if (const std::string path = picture_path(part.manifest.head, output, entry.frame);
               !is_good_picture(path, set.frame_of(entry))) {
      fail(Exit::mismatch, fmt::format("{}: it is not there or has other bytes than {} gave it",
                                       path, ShardSet::words(part)));
    }
    total += set.frame_of(entry).bytes;
  }
  console::plain(fmt::format(
      "{}: {} shards, {} frames, {} bytes, all as their manifests say", folder, set.parts().size(),
      with_commas(static_cast<std::int64_t>(set.entries().size())), with_commas(total)));
}

Exit run(const VerifyOptions& options) {
  if (!options.manifest.empty() && options.inputs.size() > 1)
    fail(Exit::usage, "--manifest is that of one file");
  for (const std::string& name : options.inputs) {
    std::error_code ignored;
    const bool is_shards =
        std::filesystem::is_directory(name, ignored) && name.find(".shards") != std::string::npos;
    is_shards ? verify_shards(name) : Verify(name, options).run();
  }
  return Exit::done;
}

}  // namespace

Command add_verify(CLI::App& program) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App* command = program.add_subcommand(
      "verify", "Check that files and shards are whole: every frame, every hash");
  command->footer(
      "Exit codes for a scheduler: 3 the file is damaged (do not retry), 6 other bytes than the\n"
      "manifest's, 1 a run-time failure (retry)\n"
      "\n"
      "Examples:\n"
      "  zerorun verify shot.mov other.avi\n"
      "  zerorun verify shot.mov --manifest shot.json\n"
      "  zerorun verify shot.mov.shards");
  command->option_defaults()->group("Input");
  command
      ->add_option("FILE", options->inputs,
                   "Motion JPEG files, JPEG files or sequences of them, or folders of shards")
      ->required()
      ->type_name("FILE");
  command
      ->add_option(
          "--manifest", options->manifest,
          "Compare the size and the XXH3 of every frame with this manifest, which `zerorun "
          "concat --manifest` writes; exit 6 if one differs")
      ->type_name("FILE");
  command->add_flag("--parse", options->parse,
                    "Parse the headers of every frame instead of decoding it: faster, and finds "
                    "less");
  command->option_defaults()->group("Device");
  add_threads_option(*command, options->threads);
  command->option_defaults()->group("Reports");
  add_console_options(*command, "Say what is read");
  return [options] { return run(*options); };
}

}  // namespace zerorun::app
