// Which instruction set the CPU backend uses, and its pipelines for it.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/cpu_choice.hpp"

#include <cstdlib>

#include "codec/pipeline/stage_table.hpp"

namespace zerorun {

CpuTarget chosen_cpu_target() {
  const std::vector<CpuTarget>& targets = cpu_targets();
  const char* wanted = std::getenv("ZERORUN_CPU");
  const auto most = cpu_target_from_name(wanted == nullptr ? "" : wanted);
  if (!most) return targets.back();
  CpuTarget chosen = CpuTarget::scalar;
  for (const CpuTarget target : targets)
    if (target <= *most) chosen = target;
  return chosen;
}

std::unique_ptr<EncodePipeline> make_chosen_encode_pipeline(int threads) {
#ifdef ZERORUN_HAVE_HIGHWAY
  const CpuTarget target = chosen_cpu_target();
  if (target != CpuTarget::scalar) return make_fast_encode_pipeline(threads, target);
#endif
  return make_cpu_encode_pipeline(threads, cpu_stages());
}

std::unique_ptr<DecodePipeline> make_chosen_decode_pipeline(int threads) {
#ifdef ZERORUN_HAVE_HIGHWAY
  const CpuTarget target = chosen_cpu_target();
  if (target != CpuTarget::scalar) return make_fast_decode_pipeline(threads, target);
#endif
  return make_cpu_decode_pipeline(threads, cpu_stages());
}

}  // namespace zerorun
