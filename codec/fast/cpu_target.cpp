// The instruction sets that the fast CPU stages are compiled for.
// SPDX-License-Identifier: MIT
#include "codec/fast/cpu_target.hpp"

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

std::vector<CpuTarget> find_targets() {
  std::vector<CpuTarget> found{CpuTarget::scalar};
#if defined(ZERORUN_HAVE_HIGHWAY) && defined(__aarch64__)
  found.push_back(CpuTarget::neon);  // every AArch64 processor has it
#elif defined(ZERORUN_HAVE_HIGHWAY) && defined(__x86_64__)
  // Everything that Highway's attributes of a target let the compiler use
  // (hwy/ops/set_macros-inl.h).
  const auto has = [](auto... present) { return (... && (present != 0)); };
  __builtin_cpu_init();
  if (!has(__builtin_cpu_supports("ssse3"), __builtin_cpu_supports("sse4.1"),
           __builtin_cpu_supports("sse4.2")))
    return found;
  found.push_back(CpuTarget::sse4);
  if (!has(__builtin_cpu_supports("avx2"), __builtin_cpu_supports("bmi"),
           __builtin_cpu_supports("bmi2"), __builtin_cpu_supports("fma"), has_f16c()))
    return found;
  found.push_back(CpuTarget::avx2);
  if (has(__builtin_cpu_supports("avx512f"), __builtin_cpu_supports("avx512vl"),
          __builtin_cpu_supports("avx512dq"), __builtin_cpu_supports("avx512bw")))
    found.push_back(CpuTarget::avx512);
#endif
  return found;
}

}  // namespace

std::string_view name(CpuTarget target) noexcept { return word_of(target); }

const std::vector<CpuTarget>& cpu_targets() {
  static const std::vector<CpuTarget> kTargets = find_targets();
  return kTargets;
}

}  // namespace zerorun
