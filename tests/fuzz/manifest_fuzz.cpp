// Manifests and journals of shards, which another machine may have written: an error with a
// sentence, or what was parsed is written and parsed again unchanged.
// SPDX-License-Identifier: MIT
#include "apps/shards/manifest.hpp"

#include <string>
#include <string_view>

#include "apps/shards/hash.hpp"
#include "tests/fuzz/fuzz_check.hpp"

namespace zerorun::fuzz {
namespace {

/// Not by their JSON, which would lose the same.
bool is_same_head(const app::ShardHead& a, const app::ShardHead& b) {
  return a.program == b.program && a.command == b.command && a.kind == b.kind &&
         a.output == b.output && a.output_format == b.output_format &&
         a.parameters == b.parameters && a.shard == b.shard && a.span == b.span &&
         a.total == b.total && a.has_audio == b.has_audio && a.pixel_format == b.pixel_format &&
         a.start_number == b.start_number;
}

void parse_whole(std::string_view text) {
  const auto manifest = app::parse_manifest(text);
  if (!manifest) return check(!manifest.status().message().empty(), "an error has a sentence");
  const std::string written = app::manifest_text(*manifest);
  const auto again = app::parse_manifest(written);
  check(again.is_ok(), "a manifest that was parsed can be written");
  check(again->frames == manifest->frames, "its frames are the same");
  check(app::manifest_text(*again) == written, "its text is the same");
  check(is_same_head(again->head, manifest->head), "its head is the same");
  std::string difference;
  check(app::is_same_work(manifest->head, again->head, difference), "its work is the same");
}

/// As it is, and with a check that is right: without one every change of a line is only torn.
void parse_line(std::string_view line) {
  (void)app::parse_journal_line(line);
  std::string checked(line);
  checked.append(" ").append(app::hash_text(app::xxh3(line)));
  const auto frame = app::parse_journal_line(checked);
  if (!frame) return;
  const std::string written = app::journal_line(*frame);
  const auto again =
      app::parse_journal_line(std::string_view(written).substr(0, written.size() - 1));
  check(again && *again == *frame, "a frame that was parsed can be written");
}

}  // namespace
}  // namespace zerorun::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace zerorun;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  fuzz::parse_whole(text);
  fuzz::parse_line(text.substr(0, text.find('\n')));
  return 0;
}
