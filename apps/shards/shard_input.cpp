// What has to be known of an input before it is split.
// SPDX-License-Identifier: MIT
#include "apps/shards/shard_input.hpp"

#include <fmt/core.h>
#include <sys/stat.h>

#include <memory>
#include <optional>
#include <string>

#include "apps/common/failure.hpp"
#include "apps/common/outputs.hpp"
#include "apps/common/inputs.hpp"
#include "apps/shards/hash.hpp"
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
  const io::SourceOptions options = source_options(input, {.backend = Backend::cpu});
  AnySource source;
  auto packets = io::open_packets(input_location(input), options);
  if (packets) {
    source.packets = *std::move(packets);
    return source;
  }
  if (packets.status().code() != Errc::unknown_format)
    fail(Exit::input, input.name, packets.status());
  source.frames =
      value_or_fail(io::open_frames(input_location(input), options), Exit::input, input.name);
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

}  // namespace

FrameCount count_frames(const InputOptions& input) {
  AnySource source = open_any(input);
  if (source.info().frame_count >= 0) return {source.info().frame_count, false};
  if (source.packets) {
    const auto listed = io::count_listed_frames(input_location(input),
                                                source_options(input, {.backend = Backend::cpu}));
    if (listed && *listed >= 0) return {*listed, true};
  }
  for (std::int64_t count = 0;; ++count) {
    const auto more = source.next();
    if (!more) fail_input(input.name, more.status(), source.info().is_jpeg);
    if (!*more) return {count, true};
  }
}

bool has_frames(const InputOptions& input) {
  const auto more = open_any(input).next();
  return more && *more;
}

nlohmann::ordered_json input_identity(const InputOptions& input, const FrameSpan& span) {
  struct stat info {};
  const bool is_file =
      input.name[0] != '@' && ::stat(input.name.c_str(), &info) == 0 && S_ISREG(info.st_mode);
  if (!is_file) return files_identity(input, span);
  return {{"path", input.name}, {"size", info.st_size}, {"time", stamp(info)}};
}

}  // namespace zerorun::app
