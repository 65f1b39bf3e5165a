// SPDX-License-Identifier: MIT
#include "apps/common/cut_input.hpp"

#include <fmt/core.h>

#include "apps/common/console.hpp"
#include "apps/common/text.hpp"

namespace zerorun::app {

std::string cut_sentence(const std::string& name, const io::SourceInfo& info) {
  return fmt::format("{} is cut short: {} bytes are missing at its end", name,
                     with_commas(info.missing_bytes));
}

void note_cut_input(const std::string& name, const io::SourceInfo& info) {
  if (info.missing_bytes > 0) console::note(cut_sentence(name, info) + "; what is there is taken");
}

}  // namespace zerorun::app
