// How a decoder is created. Tests have scans decoded as otherwise only some are; nothing else
// changes these values.
// SPDX-License-Identifier: MIT
#pragma once

namespace zerorun {

struct DecodeChoices {
  /// The exhaustive strategy alone, if the device has the memory for it.
  bool exhaustive_only = false;
  /// Scans in pinned memory are decoded as they come over the bus, however short they are and
  /// whatever else the process decodes on the device.
  bool always_follows_bus = false;
  /// The CPU pipeline decodes all scans.
  bool cpu_only = false;
};

/// What decoders are created with from now on. Not thread-safe.
inline DecodeChoices& default_decode_choices() {
  static DecodeChoices choices;
  return choices;
}

}  // namespace zerorun
