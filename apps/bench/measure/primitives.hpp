// The entropy coding primitives on a GPU beside CUB, their serial twins and a device copy.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace zerorun::app::bench {

struct PrimitiveRow {
  std::string primitive, form, data;
  double input_bytes = 0;
  double traffic_bytes = 0;  ///< what must be read and written at least
  std::vector<double> microseconds;

  std::string id() const { return primitive + "/" + form + "/" + data; }
};

/// Every result is checked before it is timed. `quick`: the large sizes alone, without the base
/// lines. Ends the command where something is wrong (exit 6) or the device fails (exit 1).
std::vector<PrimitiveRow> measure_primitives(int device, bool quick);

}  // namespace zerorun::app::bench
