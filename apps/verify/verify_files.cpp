// `zerorun verify`: reads files, decodes or parses every frame and compares hashes.
// SPDX-License-Identifier: MIT
#include "apps/verify/verify_files.hpp"

#include <fmt/core.h>

#include <memory>
#include <optional>
#include <utility>

#include "apps/common/console.hpp"
#include "apps/common/failure.hpp"
#include "apps/common/frame_pipeline.hpp"
#include "apps/common/text.hpp"
#include "apps/shards/hash.hpp"
#include "apps/shards/shard_paths.hpp"
#include "apps/shards/shard_set.hpp"
#include "apps/shards/shard_state.hpp"
#include "codec/base/try.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun::app {
namespace {

struct VerifyJob {
  io::PacketWork packet;
  io::Outgoing out;
  std::vector<ComponentPlane> planes;
  const std::string& name() const { return packet.name; }
};

class Verify {
 public:
  Verify(const std::string& name, const VerifyOptions& options)
      : name_(name),
        options_(options),
        lanes_(worker_count({.threads = options.threads}, Backend::cpu)),
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

}  // namespace

void verify_file(const std::string& name, const VerifyOptions& options) {
  Verify(name, options).run();
}

void verify_shards(const std::string& folder) {
  const ShardSet set = ShardSet::load(folder, false);
  constexpr std::string_view kSuffix = ".shards";
  std::string output = folder;
  while (output.ends_with('/')) output.pop_back();
  if (output.ends_with(kSuffix)) output.resize(output.size() - kSuffix.size());
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

}  // namespace zerorun::app
