// `zerorun verify`: reads files, decodes or parses every frame and compares hashes.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "apps/common/options.hpp"

namespace zerorun::app {

struct VerifyOptions {
  std::vector<std::string> inputs;
  std::string manifest;
  bool parse = false;
  int threads = 0;
  bool quiet = false, verbose = false;
};

/// Ends the command with exit 3 at a file that cannot be read or a frame that is damaged, and with
/// exit 6 where bytes are not those of the manifest.
void verify_file(const std::string& name, const VerifyOptions& options);
/// All shards in a folder: manifests, completeness and the hash of every frame.
void verify_shards(const std::string& folder);

}  // namespace zerorun::app
