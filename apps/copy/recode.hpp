// Codes the packets of `zerorun copy` again without loss: the options, and the coders of the lanes.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "apps/common/options.hpp"
#include "codec/api/device_set.hpp"
#include "zerorun/transcoder.hpp"

namespace zerorun::app {

struct RecodeOptions {
  TranscodeParams params;
  bool baseline = false, progressive = false;
  DeviceOptions device;

  /// Whether streams are coded again.
  bool any() const;
  bool transforms() const { return !(params.transform == LosslessTransform()); }
  /// What a GPU does.
  bool optimizes_alone() const {
    return params.optimize && !baseline && !progressive && !params.restart_interval &&
           !transforms();
  }
};

void add_recode_options(CLI::App& command, RecodeOptions& options);

/// Finds all devices. Ends the command with exit 2 where options ask for nothing or do not go
/// together.
void check_recode_options(RecodeOptions& options);

/// One transcoder a lane, made when it is needed.
class Recoder {
 public:
  /// Several lanes have a thread each; a single one has them all. `holds_fields`: a packet has both
  /// fields of a picture. `devices`: as coder_devices(); `backend`: what transcoders are made with.
  Recoder(const RecodeOptions& options, const StreamLimits& limits, bool holds_fields, int lanes,
          Backend backend, std::vector<int> devices);

  int lanes() const { return static_cast<int>(memory_.size()); }
  /// Codes a packet again in its place. What follows the image stays there. Lanes are independent.
  /// Returns how many further pictures it has lost (io::transcode_file()).
  Result<int> recode(int lane, std::vector<std::byte>& packet);
  /// Packets so far that stayed as they were.
  std::int64_t unchanged() const { return unchanged_; }
  /// Devices that failed, whose packets others have coded.
  std::vector<LostDevice> lost() const { return devices_.lost(); }

 private:
  struct Memory {
    std::vector<std::byte> image, packet;
  };

  /// Sets m.packet.
  Result<int> code(Transcoder& coder, std::span<const std::byte> packet, Memory& m);

  TranscodeParams params_;
  bool holds_fields_;
  std::vector<Memory> memory_;
  DeviceSet devices_;
  DeviceLanes<Transcoder> coders_;
  std::atomic<std::int64_t> unchanged_ = 0;
};

}  // namespace zerorun::app
