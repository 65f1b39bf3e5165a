// Which instruction set the CPU backend uses, and its pipelines for it.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/cpu_choice.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "codec/base/choices.hpp"

#if defined(ZERORUN_HAVE_HIGHWAY) && defined(__x86_64__)
#include <cpuid.h>
#endif

namespace zerorun {
namespace {

#if defined(ZERORUN_HAVE_HIGHWAY) && defined(__x86_64__)
/// Clang 14's __builtin_cpu_supports() does not know the word.
bool has_f16c() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}
#endif

std::vector<InstructionSet> find_targets() {
  std::vector<InstructionSet> found{InstructionSet::scalar};
#if defined(ZERORUN_HAVE_HIGHWAY) && defined(__aarch64__)
  found.push_back(InstructionSet::neon);  // every AArch64 processor has it
#elif defined(ZERORUN_HAVE_HIGHWAY) && defined(__x86_64__)
  // Everything that Highway's attributes of a target let the compiler use
  // (hwy/ops/set_macros-inl.h).
  const auto has = [](auto... present) { return (... && (present != 0)); };
  __builtin_cpu_init();
  if (!has(__builtin_cpu_supports("ssse3"), __builtin_cpu_supports("sse4.1"),
           __builtin_cpu_supports("sse4.2")))
    return found;
  found.push_back(InstructionSet::sse4);
  if (!has(__builtin_cpu_supports("avx2"), __builtin_cpu_supports("bmi"),
           __builtin_cpu_supports("bmi2"), __builtin_cpu_supports("fma"), has_f16c()))
    return found;
  found.push_back(InstructionSet::avx2);
  if (has(__builtin_cpu_supports("avx512f"), __builtin_cpu_supports("avx512vl"),
          __builtin_cpu_supports("avx512dq"), __builtin_cpu_supports("avx512bw")))
    found.push_back(InstructionSet::avx512);
#endif
  return found;
}

std::string wanted_by_environment() {
  const char* value = std::getenv("ZERORUN_CPU");
  return value == nullptr ? "best" : value;
}

/// `subject` is what the caller named the instruction set with.
Status not_there(const std::string& subject, std::string_view wanted) {
  std::string names = "best";
  for (const InstructionSet there : instruction_sets()) names += ", " + std::string(name(there));
  return Status(Errc::invalid_argument,
                subject + " is \"" + std::string(wanted) + "\", but this machine has " + names);
}

}  // namespace

std::string_view name(InstructionSet set) noexcept { return word_of(set); }

std::vector<InstructionSet> instruction_sets() {
  static const std::vector<InstructionSet> kSets = find_targets();
  return kSets;
}

Result<InstructionSet> resolve_instruction_set(InstructionSet wanted) {
  if (wanted != InstructionSet::best) {
    if (std::ranges::count(instruction_sets(), wanted) > 0) return wanted;
    return not_there("the instruction set", name(wanted));
  }
  const std::string named = wanted_by_environment();
  const InstructionSet used = chosen_cpu_target(wanted);
  if (named == "best" || named == name(used)) return used;
  return not_there("ZERORUN_CPU", named);
}

Status validate_instruction_set(InstructionSet wanted) {
  if (wanted == InstructionSet::best) return Status::ok();
  return resolve_instruction_set(wanted).status();
}

InstructionSet chosen_cpu_target(InstructionSet wanted) {
  if (wanted != InstructionSet::best) return wanted;
  const std::vector<InstructionSet> targets = instruction_sets();
  const auto most = parse_choice<InstructionSet>(wanted_by_environment());
  if (!most || most == InstructionSet::best) return targets.back();
  InstructionSet chosen = InstructionSet::scalar;
  for (const InstructionSet target : targets)
    if (target <= *most) chosen = target;
  return chosen;
}

std::unique_ptr<EncodePipeline> make_chosen_encode_pipeline(
    int threads, [[maybe_unused]] InstructionSet wanted) {
#ifdef ZERORUN_HAVE_HIGHWAY
  const InstructionSet target = chosen_cpu_target(wanted);
  if (target != InstructionSet::scalar) return make_fast_encode_pipeline(threads, target);
#endif
  return make_cpu_encode_pipeline(threads, cpu_stages());
}

std::unique_ptr<DecodePipeline> make_chosen_decode_pipeline(
    int threads, [[maybe_unused]] InstructionSet wanted) {
#ifdef ZERORUN_HAVE_HIGHWAY
  const InstructionSet target = chosen_cpu_target(wanted);
  if (target != InstructionSet::scalar) return make_fast_decode_pipeline(threads, target);
#endif
  return make_cpu_decode_pipeline(threads, cpu_stages());
}

}  // namespace zerorun
