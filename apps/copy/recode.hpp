// Codes the packets of `zerorun copy` again without loss: the options, and the coders of the lanes.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/common/options.hpp"
#include "zerorun/transcoder.hpp"

namespace zerorun::app {

struct RecodeOptions {
  TranscodeParams params;
  bool baseline = false, progressive = false;
  int threads = 0;

  /// Whether streams are coded again.
  bool any() const;
  bool transforms() const { return !(params.transform == LosslessTransform()); }
};

void add_recode_options(CLI::App& command, RecodeOptions& options);

/// Ends the command with exit 2 where options ask for nothing or do not go together.
void check_recode_options(RecodeOptions& options);

/// One transcoder a lane, made when it is needed.
class Recoder {
 public:
  /// Several lanes have a thread each; a single one has them all. `holds_fields`: a packet has both
  /// fields of a picture.
  Recoder(const RecodeOptions& options, const StreamLimits& limits, bool holds_fields, int lanes);

  int lanes() const { return static_cast<int>(coders_.size()); }
  /// Codes a packet again in its place. What follows the image stays there. Lanes are independent.
  /// Returns how many further pictures it has lost (io::transcode_file()).
  Result<int> recode(int lane, std::vector<std::byte>& packet);
  /// Packets so far that stayed as they were.
  std::int64_t unchanged() const { return unchanged_; }

 private:
  struct Coder {
    std::optional<Transcoder> transcoder;
    std::vector<std::byte> image, packet;
  };

  TranscodeParams params_;
  bool holds_fields_;
  std::vector<Coder> coders_;
  std::atomic<std::int64_t> unchanged_ = 0;
};

}  // namespace zerorun::app
