// How far a restart interval is decoded.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/syntax/scan_layout.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// The decoder's state before an MCU.
struct McuStart {
  std::uint64_t bit = 0;  ///< of the scan's clean bytes
  std::int64_t mcu = 0;
  std::int16_t dc[kMaxDecodedComponents] = {};  ///< the last DC of each component

  friend bool operator==(const McuStart&, const McuStart&) = default;
};

/// A restart interval while it is decoded. Behind a fault no block has data: all are as the DC
/// prediction leaves them.
struct IntervalState {
  McuStart at;  ///< the next MCU to decode. With a fault: `at.bit` is where the faulty block starts
  std::int64_t end_mcu = 0;
  std::uint64_t end_bit = 0;  ///< of its segment
  Errc fault = Errc::ok;
  bool is_lost = false;  ///< it has no segment
  bool is_cut = false;   ///< MCUs behind end_mcu are not wanted

  bool has_data() const { return !is_lost && fault == Errc::ok && at.mcu < end_mcu; }
};

}  // namespace zerorun
