// SPDX-License-Identifier: MIT
#include "apps/common/ledger.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <system_error>
#include <vector>

#include "apps/common/console.hpp"
#include "apps/common/failure.hpp"

namespace zerorun::app {

bool is_reopened(const InputOptions& input) {
  std::error_code ignored;
  return input.name != "-" && std::filesystem::is_regular_file(input.name, ignored);
}

nlohmann::ordered_json tell_ledger(const std::string& input, const io::SourceInfo& info,
                                   const io::Location& output, const io::LedgerChoices& choices,
                                   bool stops) {
  const std::vector<io::LedgerEntry> ledger = compare(io::facts_of(info), output, choices);
  const std::string losses = losses_text(ledger, input, choices);
  if (!losses.empty() && stops) fail(Exit::output, output.name + ": " + losses);
  if (!losses.empty()) console::note(output.name + ": " + losses);
  if (choices.is_coded && !info.inks.empty())
    console::note(fmt::format("{}: {} becomes RGB{}", input, info.inks,
                              !info.has_ink_profile ? ""
                              : choices.by_profile
                                  ? " by its colour profile"
                                  : " without its colour profile (--icc convert uses it)"));
  const std::string& transfer = info.content.transfer;
  if (choices.is_coded && (transfer == "smpte2084" || transfer == "arib-std-b67"))
    console::note(
        fmt::format("{}: high dynamic range ({}) stays as it is, and what shows 8 bits "
                    "without its transfer shows pale colours (--tonemap hable makes SDR of it)",
                    input, transfer == "smpte2084" ? "PQ" : "HLG"));
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const io::LedgerEntry& entry : ledger) {
    console::detail(fmt::format("{}: {}: {}{}", output.name, entry.fact.what, name(entry.fate),
                                entry.is_meant ? " (" + entry.option + ")" : ""));
    json.push_back({{"fact", name(entry.fact.fact)},
                    {"what", entry.fact.what},
                    {"fate", name(entry.fate)},
                    {"option", entry.option},
                    {"meant", entry.is_meant}});
  }
  return json;
}

nlohmann::ordered_json facts_json(const io::SourceInfo& info) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const io::SourceFact& fact : io::facts_of(info))
    json.push_back({{"fact", name(fact.fact)}, {"what", fact.what}, {"value", fact.value}});
  return json;
}

}  // namespace zerorun::app
