// The layout of --help and --help-all.
// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "apps/common/failure.hpp"
#include "apps/common/options.hpp"

namespace zerorun::app {
namespace {

constexpr std::size_t kTextColumn = 34, kLineEnd = 100;

/// `left` and, beside it, `text` wrapped between words. A long `left` gets a line of its own.
std::string two_columns(const std::string& left, const std::string& text) {
  std::string out = "  " + left;
  std::size_t column = out.size();
  if (column + 2 > kTextColumn) {
    out += "\n";
    column = 0;
  }
  out.append(kTextColumn - column, ' ');
  column = kTextColumn;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (column != kTextColumn && column + 1 + word.size() > kLineEnd) {
      out += "\n" + std::string(kTextColumn, ' ');
      column = kTextColumn;
    }
    if (column != kTextColumn) {
      out += " ";
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out + "\n";
}

/// "INPUT, -i, --input" or "-q, --quality N".
std::string option_names(const CLI::Option* option) {
  std::string names;
  const auto add = [&names](const std::string& name) {
    names += (names.empty() ? "" : ", ") + name;
  };
  if (option->get_positional()) add(option->get_name(true, false));
  for (const std::string& name : option->get_snames()) add("-" + name);
  for (const std::string& name : option->get_lnames()) add("--" + name);
  if (!option->get_positional() && option->get_type_size() != 0)
    names += " " + option->get_type_name();
  return names;
}

/// Those without a group are hidden.
std::vector<const CLI::Option*> visible_options(const CLI::App* app) {
  return app->get_options([](const CLI::Option* option) { return !option->get_group().empty(); });
}

class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter(std::vector<std::string> common, std::string note)
      : common_(std::move(common)), note_(std::move(note)) {}

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    const bool is_program = app->get_parent() == nullptr;
    const bool is_short = !common_.empty() && mode != CLI::AppFormatMode::All;
    const std::string command = name.empty() ? app->get_name() : name;
    std::string out = app->get_description() + "\n\n" + make_usage(app, std::move(name));
    out += is_short ? common_options(app) : all_options(app);
    if (is_program) out += commands(app);
    std::string footer = app->get_footer();
    if (is_short) {
      out += fmt::format("\n{}All {} options and the exit codes: {} --help-all\n",
                         note_.empty() ? "" : note_ + "\n", visible_options(app).size(), command);
      footer.erase(0, std::min(footer.find("Examples:"), footer.size()));
    }
    if (!footer.empty()) out += "\n" + footer + "\n";
    if (is_program || mode == CLI::AppFormatMode::All) out += "\n" + exit_codes_text();
    return out;
  }

  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string usage = "Usage: " + (name.empty() ? app->get_name() : name);
    if (!app->get_subcommands({}).empty()) return usage + " COMMAND [OPTIONS]\n";
    for (const CLI::Option* option : app->get_options()) {
      if (!option->get_required()) continue;
      usage += " ";
      if (option->get_positional()) {
        usage += option->get_name(true, false);
      } else {
        usage += "-" + option->get_snames().front() + " " + option->get_type_name();
      }
    }
    return usage + " [OPTIONS]\n";
  }

  std::string make_option(const CLI::Option* option, bool) const override {
    std::string text = option->get_description();
    if (!option->get_default_str().empty()) text += " (default: " + option->get_default_str() + ")";
    return two_columns(option_names(option), text);
  }

  std::string make_subcommand(const CLI::App* command) const override {
    return two_columns(command->get_name(), command->get_description());
  }

 private:
  std::string common_options(const CLI::App* app) const {
    std::string lines = "\nCommon options:\n";
    for (const std::string& name : common_) lines += make_option(app->get_option(name), false);
    return lines;
  }

  std::string all_options(const CLI::App* app) const {
    std::string out;
    for (const std::string& group : app->get_groups()) {
      std::string lines;
      for (const CLI::Option* option : visible_options(app))
        if (option->get_group() == group) lines += make_option(option, false);
      // CLI11 2.5 and later write the group of --help in capitals.
      if (!lines.empty()) out += "\n" + (group == "OPTIONS" ? "Options" : group) + ":\n" + lines;
    }
    return out;
  }

  std::string commands(const CLI::App* app) const {
    std::string out = "\nSubcommands:\n";
    for (const CLI::App* command : app->get_subcommands({}))
      if (!command->get_group().empty()) out += make_subcommand(command);
    return out;
  }

  std::vector<std::string> common_;
  std::string note_;
};

}  // namespace

void show_common_options(CLI::App& command, std::vector<std::string> common, std::string note) {
  for (const std::string& name : common)
    (void)command.get_option(name);  // throws if it is not there
  command.formatter(std::make_shared<HelpFormatter>(std::move(common), std::move(note)));
}

}  // namespace zerorun::app
