// Pictures of a hardware video decoder: device memory, and how their samples become JPEG's.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace zerorun {

/// A straight line over samples s of up to 16 bits. `slope` and `offset` count 2^-16, `slope1` and
/// `offset1` 2^-32, `slope2` and `offset2` 2^-48, and the latter four have 16 bits. The value at s
/// is the greatest multiple of 2^-16 that is not above the line.
struct SampleTerm {
  std::int32_t slope = 0, offset = 0;
  std::uint32_t slope1 = 0, offset1 = 0, slope2 = 0, offset2 = 0;
  friend bool operator==(const SampleTerm&, const SampleTerm&) = default;
};

/// From YCbCr of any range, matrix and depth to full range BT.601 with 8 bits, as JPEG has it. A
/// sample is the sum of its terms, rounded to the nearest integer, in 0..255: `y_cb` is what Cb
/// adds to Y. At a luma sample chroma is the sample that covers the pixel.
struct SampleConversion {
  int depth_bits = 8;  ///< of the input's samples, 8 to 16
  SampleTerm y_y, y_cb, y_cr, cb_cb, cb_cr, cr_cb, cr_cr;
  friend bool operator==(const SampleConversion&, const SampleConversion&) = default;
};

/// A 4:2:0 picture in device memory with interleaved chroma: NV12, or P010 and P012, which are the
/// same with 16-bit words whose highest bits are the sample. What is enqueued on the device's
/// default stream by the time of the call belongs to the picture.
struct DeviceSurface {
  int width = 0, height = 0;
  const std::uint8_t* luma = nullptr;    ///< aligned to the size of a sample
  const std::uint8_t* chroma = nullptr;  ///< rows of Cb, Cr pairs
  std::ptrdiff_t luma_stride_bytes = 0, chroma_stride_bytes = 0;
  SampleConversion conversion;
};

}  // namespace zerorun
