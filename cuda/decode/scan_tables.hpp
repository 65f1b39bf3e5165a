// The fast decoder's tables: what its kernels look up, from what the headers of a scan say.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include "cuda/decode/transform_blocks.hpp"
#include "cuda/decode/walk_tables.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// What the tables are made of.
struct ScanTablesSource {
  WalkCodes codes;
  ScanSteps steps;
};
static_assert(sizeof(ScanTablesSource) + 2 * sizeof(void*) <= 4096, "parameters of a kernel");

/// Fills the first `pairs` pairs of `tables`, perhaps none, and `steps`, both in device memory,
/// behind all that was enqueued before. `from` is copied by the call.
Status make_scan_tables(const ScanTablesSource& from, int pairs, WalkTables* tables,
                        ScanSteps* steps, cudaStream_t stream);

}  // namespace zerorun
