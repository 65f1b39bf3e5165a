// What a build without CUDA has instead of coders for GPUs: nothing.
// SPDX-License-Identifier: MIT
#include "apps/bench/measure/contenders.hpp"
#include "apps/bench/report/machine.hpp"
#include "apps/bench/measure/primitives.hpp"
#include "apps/bench/measure/stages.hpp"

namespace zerorun::app::bench {

void add_cuda_coders(const Setting&, Contenders&) {}
void add_staged_cuda(const Setting&, std::vector<StagedContender>&) {}
void add_fused_cuda(const Setting&, std::vector<StagedContender>&) {}
std::vector<PrimitiveRow> measure_primitives(int, bool) { return {}; }
void add_cuda_facts(const std::vector<int>&, Facts&) {}
void add_clocks(const std::vector<int>&, Facts&) {}

}  // namespace zerorun::app::bench
