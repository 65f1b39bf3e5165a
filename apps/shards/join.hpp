// Joins the shards of an output to the file that one run would have written.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "zerorun/content.hpp"

namespace zerorun::app {

struct JoinOptions {
  std::string folder;
  io::Location output;
  /// If not empty, the file is written under this name, which has the extension of `output`;
  /// messages name `output`.
  std::string written_as;
  bool overwrite = false;
  bool allow_missing = false;
  /// The file whose sound belongs into the output, if the shards say that one does; "none" leaves
  /// it out. Empty is an error then: paths in manifests are not followed.
  std::string audio;
  std::string manifest;  ///< if not empty, a manifest of all frames is written to this file
};

struct JoinResult {
  std::int64_t frames = 0, bytes = 0, held = 0;
};

/// Streams are copied; every frame is compared with its hash. For numbered pictures, which have
/// their names already, it only compares. The file is on the disk when it returns. Ends the command
/// on errors; a shard that is at fault is named.
JoinResult join_shards(const JoinOptions& options);

}  // namespace zerorun::app
