// Compares the CUDA backend with the CPU's, in pieces: the GPU's part of R1, R3, R4, R6, R7, R8,
// R14 and R17. ZERORUN_TEST_DEVICES=1 lets the CPU pretend to be the GPU. usage:
// campaign_device MODE STATE MINUTES [COUNT | FOLDER...] The last line says what was reached. Exit
// code 0: all is done and nothing differs; 1: something differs; 3: more is to do, and the next
// call with the same STATE goes on; 77: no GPU.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "tests/campaign/device_campaign.hpp"
#include "tests/support/gpu_required.hpp"
#include "zerorun/backend.hpp"

namespace zerorun::test {
namespace {

constexpr const char* kUsage =
    "usage: campaign_device MODE STATE MINUTES [COUNT [FIRST] | FOLDER...]\n"
    "  mutations | shapes STATE MINUTES COUNT [FIRST]\n"
    "  bytes | cuts | sizes STATE MINUTES\n"
    "  files STATE MINUTES FOLDER...\n";

int run(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const bool has_more = argc > 4;
  const DeviceRun run{argc > 2 ? argv[2] : "", argc > 3 ? std::atof(argv[3]) : 0};
  const Folders folders(argv + std::min(argc, 4), argv + argc);
  if (const bool shapes = mode == "shapes"; (shapes || mode == "mutations") && has_more && argc < 7)
    return (shapes ? every_shape : mutated_streams)(run, std::atoll(argv[4]),
                                                    argc == 6 ? std::atoll(argv[5]) : 0);
  if (mode == "bytes" && argc == 4) return changed_bytes(run);
  if (mode == "cuts" && argc == 4) return cut_streams(run);
  if (mode == "sizes" && argc == 4) return every_size(run);
  if (mode == "files" && has_more) return files_of(run, folders);
  std::fputs(kUsage, stderr);
  return 2;
}

}  // namespace
}  // namespace zerorun::test

int main(int argc, char** argv) {
  if (const auto cuda = zerorun::resolve_backend(zerorun::Backend::cuda); !cuda) {
    std::printf("needs a GPU: %s\n", cuda.status().message().c_str());
    return zerorun::test::gpu_required() ? 1 : 77;
  }
  return zerorun::test::run(argc, argv);
}
