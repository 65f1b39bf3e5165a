// Device memory that Python has dropped, and the thread that frees it.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace zerorun::python {

struct DroppedBlock {
  void* data;
  int device;
  std::uintptr_t stream;
};

/// In the order of the block's stream.
void free_block(const DroppedBlock& block);

/// Has it freed soon by a thread that there is for this: to free an array takes CUDA 2 us, and a
/// thread of Python that drops a batch of them would make the next batch wait. For blocks of the
/// default stream; who made another one may destroy it once the arrays are gone. Needs no GIL.
void free_block_soon(const DroppedBlock& block);

/// Returns when all blocks that were dropped are freed. Needs no GIL.
void wait_for_dropped_blocks();

}  // namespace zerorun::python
