// Options that take one of a few words, or text of a certain kind.
// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace zerorun::app {

/// The option takes what `target` can hold; `type` stands behind it in --help.
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
    for (const auto& [word, value] : choices) {
      if (word != text) continue;
      target = value;
      return;
    }
    throw CLI::ValidationError(option, "'" + text + "' is not one of " + words);
  };
  return app.add_option_function<std::string>(option, read, help)
      ->type_name(words)
      ->default_str(chosen);
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
