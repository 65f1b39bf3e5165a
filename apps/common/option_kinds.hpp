// Options that take a value, a number, one of a few words, or text of a certain kind.
// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "codec/base/choices.hpp"

namespace zerorun::app {

/// The option takes what `target` can hold; --help shows `type` after its name.
template <typename T>
CLI::Option* add_value(CLI::App& app, const std::string& option, T& target, const std::string& type,
                       const std::string& help) {
  return app.add_option(option, target, help)->type_name(type);
}

/// The option takes a whole number from `least` to `most`.
template <typename T>
CLI::Option* add_number(CLI::App& app, const std::string& option, T& target, std::int64_t least,
                        std::int64_t most, const std::string& help) {
  return add_value(app, option, target, "N", help)->check(CLI::Range(least, most).description(""));
}

/// The option takes one of a few words.
template <typename T>
CLI::Option* add_choice(CLI::App& app, const std::string& option, T& target,
                        const std::vector<std::pair<std::string, T>>& choices,
                        const std::string& help) {
  std::string words, chosen;
  for (const auto& [word, value] : choices) {
    words += (words.empty() ? "" : "|") + word;
    if (value == target) chosen = word;
  }
  const auto read = [&target, choices, words, option](const std::string& text) {
    const auto found = std::ranges::find(choices, text, &std::pair<std::string, T>::first);
    if (found == choices.end())
      throw CLI::ValidationError(option, "'" + text + "' is not one of " + words);
    target = found->second;
  };
  return app.add_option_function<std::string>(option, read, help)
      ->type_name(words)
      ->default_str(chosen);
}

/// The words of a choice of the codec. `T` is the enumeration or an optional of it.
template <typename Enum, typename T = Enum>
std::vector<std::pair<std::string, T>> words_of_choice() {
  std::vector<std::pair<std::string, T>> words;
  for (const auto& choice : kChoices<Enum>) words.emplace_back(choice.word, choice.value);
  return words;
}

/// The option takes text that `parse` understands; `expected` says what that is.
template <typename T, typename Parse>
CLI::Option* add_parsed(CLI::App& app, const std::string& option, T& target, Parse parse,
                        const std::string& type, const std::string& expected,
                        const std::string& help) {
  const auto read = [&target, parse, expected, option](const std::string& text) {
    auto value = parse(text);
    if (!value) throw CLI::ValidationError(option, "'" + text + "' is not " + expected);
    target = *value;
  };
  return app.add_option_function<std::string>(option, read, help)->type_name(type);
}

}  // namespace zerorun::app
