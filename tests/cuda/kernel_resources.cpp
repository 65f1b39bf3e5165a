// Whether every kernel fits the architectures that it was compiled for. Reads what nvcc left
// behind: ptxas's reports (FILE.log, from -Xptxas=-v) and readable PTX (FILE.fatbin, from
// --no-compress), which has the threads of a CTA. tests/check_kernels.sh makes both.
// usage: kernel_resources FILE.log FILE.fatbin [...]
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/base/device_limits.hpp"
#include "cuda/decode/scan_plan.hpp"
#include "cuda/encode/tuning.hpp"

namespace zerorun {
namespace {

/// ptxas's report about a kernel on one architecture.
struct Report {
  std::string kernel;  ///< mangled
  int capability = 0;
  std::uint32_t registers = 0;
  std::size_t shared_bytes = 0;
  int spilled_bytes = 0;
};

/// Kernels may spill only by name, and for a reason.
struct Spill {
  std::string_view part;  ///< of the kernel's name
  const char* reason;
};
constexpr Spill kSpills[] = {
    {"3cub", "CUB bounds the registers of its scans itself"},
};

/// A kernel that asks for shared memory at its launch, or for several CTAs of a processor.
struct Promise {
  std::string_view part;  ///< of the kernel's name
  std::uint32_t ctas;     ///< of a processor of Hopper; 1: none is promised
  std::size_t (*dynamic_bytes)(const DeviceLimits& limits);  ///< the most that it may ask for
};

/// The most shared memory that a walk asks for, over all scans.
template <typename Bytes>
std::size_t most_of_scans(const Bytes& bytes) {
  std::size_t most = 0;
  for (std::uint32_t pairs = 1; pairs <= kMaxTablePairs; ++pairs)
    for (std::uint32_t period = 1; period <= kMaxBlocksPerMcu; ++period)
      for (const std::uint32_t chunks : {1u, 1000u})
        for (const std::uint32_t size : {1u << 12, 1u << 22, 1u << 28}) {
          const ScanNeeds needs{size, size / 12, chunks * kChunkSubsequences, pairs, period};
          most = std::max(most, bytes(needs));
        }
  return most;
}

std::size_t none(const DeviceLimits&) { return 0; }
std::size_t sync_bytes(const DeviceLimits& limits) {
  return most_of_scans([&](const ScanNeeds& n) {
    return std::max(plan_scan(limits, n, Strategy::map).sync_bytes,
                    plan_scan(limits, n, Strategy::exhaustive).sync_bytes);
  });
}
std::size_t decode_bytes(const DeviceLimits& limits) {
  return most_of_scans(
      [&](const ScanNeeds& n) { return plan_scan(limits, n, Strategy::map).decode_bytes; });
}

constexpr Promise kPromises[] = {
    {"sync_subsequences_kernel", kSyncCtas, sync_bytes},
    {"decode_subsequences_kernel", 1, decode_bytes},
    {"transform_blocks_kernel", kTransformCtas, none},
    {"code_tiles_kernelILb1E", kTunedCtas10, none},
    {"code_tiles_kernel", kCodeTilesCtas, none},
    {"collect_tiles_kernel", kCodeTilesCtas, none},
    {"code_collected_tiles_kernelILb1E", kTunedCtas10, none},
    {"code_collected_tiles_kernel", kCodeTilesCtas, none},
    {"assemble_kernel", kAssembleCtas, none},
    {"store_blocks_kernel", kStoreBlocksCtas, none},
    {"count_scans_kernel", kCountScansCtas, none},
    {"code_scans_kernel", kCodeScansCtas, none},
    {"assemble_scans_kernel", kAssembleScansCtas, none},
};

template <typename List>
auto find_part(const List& list, std::string_view kernel) {
  return std::find_if(std::begin(list), std::end(list), [&](const auto& entry) {
    return kernel.find(entry.part) != std::string_view::npos;
  });
}

std::vector<Report> read_log(const std::string& path) {
  static const std::regex begins(R"(Compiling entry function '(\w+)' for 'sm_(\d+)\w?')");
  static const std::regex spills(R"((\d+) bytes spill stores)"), used(R"(Used (\d+) registers)");
  static const std::regex shared(R"((\d+) bytes smem)");
  std::vector<Report> reports;
  std::ifstream file(path);
  std::smatch found;
  for (std::string line; std::getline(file, line);) {
    if (std::regex_search(line, found, begins)) reports.push_back({found[1], std::stoi(found[2])});
    if (reports.empty()) continue;
    if (std::regex_search(line, found, spills)) reports.back().spilled_bytes = std::stoi(found[1]);
    if (std::regex_search(line, found, used))
      reports.back().registers = static_cast<std::uint32_t>(std::stoul(found[1]));
    if (std::regex_search(line, found, shared)) reports.back().shared_bytes = std::stoul(found[1]);
  }
  return reports;
}

/// Adds the threads of a CTA of each kernel in the PTX.
void read_threads(const std::string& path, std::map<std::string, std::uint32_t>& threads) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  constexpr std::string_view kEntry = ".entry ", kThreads = ".maxntid ", kBody = "\n{";
  for (std::size_t at = text.find(kEntry); at != std::string::npos; at = text.find(kEntry, at)) {
    at += kEntry.size();
    const std::string name = text.substr(at, text.find_first_of("( \n", at) - at);
    const std::size_t body = text.find(kBody, at), bound = text.find(kThreads, at);
    if (bound < body)
      threads[name] = static_cast<std::uint32_t>(std::stoul(text.substr(bound + kThreads.size())));
  }
}

class Checker {
 public:
  explicit Checker(std::map<std::string, std::uint32_t> threads) : threads_(std::move(threads)) {}

  void check(const Report& report) {
    ++checked_;
    kernels_.insert(report.kernel);
    capabilities_.insert(report.capability);
    constexpr std::size_t kMostStatic = 48 * 1024;
    if (report.shared_bytes > kMostStatic)
      complain(report, std::to_string(report.shared_bytes) + " bytes of static shared memory");
    constexpr int kMostSpilled = 64;  // by a kernel that may
    if (report.spilled_bytes > kMostSpilled ||
        (report.spilled_bytes > 0 && find_part(kSpills, report.kernel) == std::end(kSpills)))
      complain(report, std::to_string(report.spilled_bytes) + " bytes of registers are spilled");
    check_residence(report);
  }

  /// Returns the program's exit status.
  int finish() const {
    std::printf("%d reports: %zu kernels on %zu architectures, %d complaints\n", checked_,
                kernels_.size(), capabilities_.size(), complaints_);
    for (const Promise& promise : kPromises)
      if (std::none_of(kernels_.begin(), kernels_.end(), [&](const std::string& kernel) {
            return kernel.find(promise.part) != std::string::npos;
          })) {
        std::printf("there is no kernel %s\n", std::string(promise.part).c_str());
        return 1;
      }
    return complaints_ == 0 && checked_ > 0 ? 0 : 1;
  }

 private:
  /// A kernel without __launch_bounds__ may be launched with as many threads as there can be.
  std::uint32_t threads_of(const std::string& kernel) const {
    const auto bound = threads_.find(kernel);
    return bound != threads_.end() ? bound->second : 1024;
  }

  void check_residence(const Report& report) {
    const DeviceLimits limits = limits_of_capability(report.capability);
    const std::uint32_t threads = threads_of(report.kernel);
    const auto promise = find_part(kPromises, report.kernel);
    const bool promises = promise != std::end(kPromises);
    const CtaNeeds needs{threads, report.registers,
                         report.shared_bytes + (promises ? promise->dynamic_bytes(limits) : 0)};
    const std::uint32_t held = resident_ctas(limits, needs);
    if (held == 0)
      complain(report, "a CTA of " + std::to_string(threads) + " threads with " +
                           std::to_string(needs.registers) + " registers and " +
                           std::to_string(needs.shared_bytes) + " bytes of shared memory");
    if (!promises || promise->ctas == 1) return;
    CtaNeeds usual = needs;
    // Scans of which one processor holds several CTAs ask for less.
    if (promise->dynamic_bytes == sync_bytes)
      usual.shared_bytes = report.shared_bytes + sync_shared_bytes(2, kSparseEnds);
    const std::uint32_t wanted =
        bounded_ctas(promise->ctas, threads, usual.shared_bytes, report.capability);
    if (std::max(resident_ctas(limits, usual), 1u) < wanted)
      complain(report, "a processor does not hold " + std::to_string(wanted) + " CTAs");
  }

  void complain(const Report& report, const std::string& what) {
    ++complaints_;
    std::printf("%d.%d %s: %s\n", report.capability / 10, report.capability % 10,
                report.kernel.c_str(), what.c_str());
  }

  std::map<std::string, std::uint32_t> threads_;
  std::set<std::string> kernels_;
  std::set<int> capabilities_;
  int checked_ = 0, complaints_ = 0;
};

}  // namespace
}  // namespace zerorun

int main(int count, char** arguments) {
  using namespace zerorun;
  std::vector<Report> reports;
  std::map<std::string, std::uint32_t> threads;
  for (int i = 1; i < count; ++i) {
    const std::string path = arguments[i];
    if (path.ends_with(".fatbin")) {
      read_threads(path, threads);
    } else {
      const auto more = read_log(path);
      reports.insert(reports.end(), more.begin(), more.end());
    }
  }
  Checker checker(std::move(threads));
  for (const Report& report : reports) checker.check(report);
  return checker.finish();
}
