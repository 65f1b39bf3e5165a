// Makes many encode and decode calls with changing sizes, formats and options, and prints the
// memory in use and resident. Encoders and decoders keep memory for the largest frame that they
// have seen, and must release all of it when they are destroyed. glibc counts memory in its thread
// caches as in use, so run: GLIBC_TUNABLES=glibc.malloc.tcache_count=0 flat_memory [CALLS].
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

void run(int calls, bool tell) {
  Load load(zerorun::Backend::cpu, kMaxEdge);
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
  run(100, false);          // allocates what stays, such as output buffers
  std::printf("%ld KiB resident\n", resident_kib());
  const long before = in_use_kib();
  run(argc > 1 ? std::atoi(argv[1]) : 100000, true);
  const long left = in_use_kib() - before;
  std::printf("%ld KiB left behind\n", left);
  return left > kAllowedLeftKib ? 1 : 0;
}
