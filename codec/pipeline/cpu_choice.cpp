// Which instruction set the CPU backend uses, and its pipelines for it.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/cpu_choice.hpp"

#include <cstdlib>
#include <string>

#include "codec/pipeline/stage_table.hpp"
#include "zerorun/backend.hpp"

namespace zerorun {
namespace {

std::string wanted_cpu() {
  const char* value = std::getenv("ZERORUN_CPU");
  return value == nullptr ? "best" : value;
}

}  // namespace

std::vector<std::string_view> cpu_instruction_sets() {
  std::vector<std::string_view> names;
  for (const CpuTarget target : cpu_targets()) names.push_back(name(target));
  return names;
}

Result<std::string_view> cpu_instruction_set() {
  const std::string wanted = wanted_cpu();
  const std::string_view used = name(chosen_cpu_target());
  if (wanted == "best" || wanted == used) return used;
  std::string names = "best";
  for (const std::string_view there : cpu_instruction_sets()) names += ", " + std::string(there);
  return Status(Errc::invalid_argument,
                "ZERORUN_CPU is \"" + wanted + "\", but this machine has " + names);
}

CpuTarget chosen_cpu_target() {
  const std::vector<CpuTarget>& targets = cpu_targets();
  const auto most = cpu_target_from_name(wanted_cpu());
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
