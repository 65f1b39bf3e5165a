// From the words of the command line to devices, threads and batches.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <string>
#include <utility>

#include "apps/bench/named_value.hpp"
#include "apps/bench/options.hpp"
#include "apps/common/failure.hpp"
#include "codec/api/device_crew.hpp"
#include "codec/base/device_name.hpp"
#include "zerorun/backend.hpp"

namespace zerorun::app::bench {
namespace {

/// Commas part the words, and a comma also parts the numbers of a list: 0 and 2 of cuda:0,2 belong
/// together.
Words join_lists(const Words& words) {
  Words joined;
  for (const std::string& word : words) {
    const bool is_number = !word.empty() && word.find_first_not_of("0123456789") == word.npos;
    if (is_number && !joined.empty() && joined.back().starts_with("cuda:"))
      joined.back() += "," + word;
    else
      joined.push_back(word);
  }
  return joined;
}

void add_device(const std::string& word, Selection& selection) {
  if (word == "cpu") {
    selection.cpu = true;
    return;
  }
  auto device = parse_device_names(word);
  if (!device || device->backend != Backend::cuda)
    fail(Exit::usage,
         "--device: '" + word + "' is not cpu, cuda or cuda:N, nor a list as cuda:N,M or cuda:all");
  if (const Status status = find_all_devices(*device); !status)
    fail(Exit::device, status.message());
  if (const auto plan = plan_devices(Backend::cuda, device->index, device->list); !plan)
    fail(Exit::device, plan.status().message());
  if (device->list.empty())
    selection.cuda.push_back(device->index);
  else
    selection.teams.push_back(device->list);
}

/// The instruction sets of the rows that are not those of the chosen one.
std::vector<InstructionSet> cpus_of(const Options& options) {
  const std::vector<InstructionSet> there = instruction_sets();
  std::vector<InstructionSet> all = there;
  all.push_back(InstructionSet::best);
  std::vector<InstructionSet> wanted = options.cpus.empty() ? there : std::vector<InstructionSet>{};
  for (const std::string& word : options.cpus) wanted.push_back(value_of("--cpu", word, all));
  std::erase(wanted, InstructionSet::best);
  std::erase(wanted, *resolve_instruction_set());
  return wanted;
}

void check_counts(const char* option, std::vector<int>& counts, std::vector<int> if_not_given) {
  if (counts.empty()) counts = std::move(if_not_given);
  for (const int n : counts)
    if (n < 1 || n > 1024) fail(Exit::usage, fmt::format("{}: {} is not 1 to 1024", option, n));
}

}  // namespace

Selection selection(const Options& options) {
  Selection selection = options.selection;
  selection.cpu = options.devices.empty();
  for (const std::string& word : join_lists(options.devices)) add_device(word, selection);
  if (options.devices.empty() && resolve_backend(Backend::cuda)) selection.cuda.push_back(0);
  selection.cpus = cpus_of(options);
  std::vector<int> threads = {1};
  if (usable_processors() > 1) threads.push_back(usable_processors());
  check_counts("--threads", selection.threads, threads);
  check_counts("--in-flight", selection.in_flight, {1, 2, 4, 8});
  check_counts("--batch", selection.batches, {16});
  check_counts("--peer-threads", selection.peer_threads, {1, 2, 4, 8, 16});
  check_counts("--peer-batch", selection.peer_batches, {64});
  return selection;
}

}  // namespace zerorun::app::bench
