// Frames of other YCbCr codings (limited range, BT.709, ...) to what JPEG means by its samples.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "io/ycc_to_jfif.hpp"
#include "zerorun/frame.hpp"
#include "zerorun/status.hpp"

namespace zerorun::gst {

/// Exact to the nearest value (YccToJfif). One thread at a time.
class JfifConverter {
 public:
  void set_coding(const io::YccCoding& coding) { tables_.emplace(coding); }
  bool is_needed() const noexcept { return tables_ && !tables_->is_identity(); }

  /// `out` becomes the planar frame of the same sampling. Errors: out_of_memory.
  Status convert(const ConstFrameView& in, Frame& out);

 private:
  std::optional<io::YccToJfif> tables_;
  Frame planes_;  // of packed and semi-planar input
};

}  // namespace zerorun::gst
