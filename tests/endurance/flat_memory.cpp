// Makes many encode and decode calls with changing sizes, formats and options, and prints the
// memory in use and resident. Encoders and decoders keep memory for the largest frame that they
// have seen, and must release all of it when they are destroyed. glibc counts memory in its thread
// caches as in use, so run: GLIBC_TUNABLES=glibc.malloc.tcache_count=0 flat_memory [CALLS [SEED]].
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <malloc.h>

#include "tests/endurance/load.hpp"

namespace {

using namespace zerorun::endurance;

constexpr int kMaxEdge = 200;
constexpr long kAllowedLeftKib = 16;  // less than a byte a call over 20,000 calls

void run(int calls, unsigned seed, bool tell) {
  Load load(zerorun::Backend::cpu, kMaxEdge, seed);
  const int step = std::max(1, calls / 20);
  long most = 0;
  for (int number = 1; number <= calls; ++number) {
    load.step(number);
    most = std::max(most, in_use_kib());
    if (!tell || number % step != 0) continue;
    std::printf("%7d calls  %6ld KiB in use at most  %6ld KiB resident\n", number, most,
                resident_kib());
    most = 0;
  }
}

}  // namespace

int main(int argc, char** argv) {
  mallopt(M_ARENA_MAX, 1);  // mallinfo2() knows the main arena only
  const int calls = argc > 1 ? std::atoi(argv[1]) : 100000;
  const auto seed = static_cast<unsigned>(argc > 2 ? std::atoi(argv[2]) : 1);
  run(std::min(calls, 1000), seed, false);  // allocates what stays, such as output buffers
  const long resident = resident_kib(), before = in_use_kib();
  const long files = open_files(), tasks = threads();
  std::printf("%ld KiB resident\n", resident);
  run(calls, seed, true);
  const long left = in_use_kib() - before;
  const long more_files = open_files() - files, more_tasks = threads() - tasks;
  std::printf(
      "%d calls: %ld KiB left behind, %ld KiB resident, %ld descriptors, %ld threads more\n", calls,
      left, resident_kib() - resident, more_files, more_tasks);
  return left > kAllowedLeftKib || more_files > 0 || more_tasks > 0 ? 1 : 0;
}
