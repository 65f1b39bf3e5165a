// How a run ends: its shard becomes whole, and the frames of a run without shards its output.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/common/console.hpp"
#include "apps/common/outputs.hpp"
#include "apps/common/signals.hpp"
#include "apps/shards/join.hpp"
#include "apps/shards/shard_run.hpp"

namespace zerorun::app {
namespace {

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
      open_shard_again();
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

void ShardRun::open_shard_again() {
  writer_ = std::make_unique<ShardWriter>(paths_, open_.head, std::move(open_.frames),
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
    options.output = output_location({}, options_.output);
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
