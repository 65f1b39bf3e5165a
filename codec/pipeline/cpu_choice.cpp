// Which instruction set the CPU backend uses, and its pipelines for it.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/cpu_choice.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "codec/base/choices.hpp"

namespace zerorun {
namespace {

std::string wanted_by_environment() {
  const char* value = std::getenv("ZERORUN_CPU");
  return value == nullptr ? "best" : value;
}

/// `subject` is what the caller named the instruction set with.
Status not_there(const std::string& subject, std::string_view wanted) {
  std::string names = "best";
  for (const CpuTarget there : cpu_targets()) names += ", " + std::string(name(there));
  return Status(Errc::invalid_argument,
                subject + " is \"" + std::string(wanted) + "\", but this machine has " + names);
}

}  // namespace

std::vector<InstructionSet> instruction_sets() { return cpu_targets(); }

Result<InstructionSet> resolve_instruction_set(InstructionSet wanted) {
  if (wanted != InstructionSet::best) {
    if (std::ranges::count(cpu_targets(), wanted) > 0) return wanted;
    return not_there("the instruction set", name(wanted));
  }
  const std::string named = wanted_by_environment();
  const CpuTarget used = chosen_cpu_target(wanted);
  if (named == "best" || named == name(used)) return used;
  return not_there("ZERORUN_CPU", named);
}

Status validate_instruction_set(InstructionSet wanted) {
  if (wanted == InstructionSet::best) return Status::ok();
  return resolve_instruction_set(wanted).status();
}

CpuTarget chosen_cpu_target(InstructionSet wanted) {
  if (wanted != InstructionSet::best) return wanted;
  const std::vector<CpuTarget>& targets = cpu_targets();
  const auto most = parse_choice<CpuTarget>(wanted_by_environment());
  if (!most || most == CpuTarget::best) return targets.back();
  CpuTarget chosen = CpuTarget::scalar;
  for (const CpuTarget target : targets)
    if (target <= *most) chosen = target;
  return chosen;
}

std::unique_ptr<EncodePipeline> make_chosen_encode_pipeline(
    int threads, [[maybe_unused]] InstructionSet wanted) {
#ifdef ZERORUN_HAVE_HIGHWAY
  const CpuTarget target = chosen_cpu_target(wanted);
  if (target != CpuTarget::scalar) return make_fast_encode_pipeline(threads, target);
#endif
  return make_cpu_encode_pipeline(threads, cpu_stages());
}

std::unique_ptr<DecodePipeline> make_chosen_decode_pipeline(
    int threads, [[maybe_unused]] InstructionSet wanted) {
#ifdef ZERORUN_HAVE_HIGHWAY
  const CpuTarget target = chosen_cpu_target(wanted);
  if (target != CpuTarget::scalar) return make_fast_decode_pipeline(threads, target);
#endif
  return make_cpu_decode_pipeline(threads, cpu_stages());
}

}  // namespace zerorun
