// Device memory that Python has dropped: it is used again, or freed by a thread that there is for
// this.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace zerorun::python {

struct DroppedBlock {
  void* data;
  std::size_t bytes;
  int device;
  std::uintptr_t stream;
};

/// In the order of the block's stream.
void free_block(const DroppedBlock& block);

/// Keeps it for reuse_block() until it was of no use for a second. CUDA takes 2 us to free an
/// array, for which a thread of Python that drops a batch would wait, and 20 to 100 us to allocate
/// one, where several threads do. For blocks of the default stream; who made another one may
/// destroy it once the arrays are gone. Needs no GIL.
void drop_block(const DroppedBlock& block);

/// A dropped block that is hardly larger than wanted, and with which the default stream is done; so
/// it is good for every stream. Needs no GIL.
std::optional<DroppedBlock> reuse_block(std::size_t bytes, int device);

/// Returns when all blocks that were dropped are freed. Needs no GIL.
void free_dropped_blocks();

}  // namespace zerorun::python
