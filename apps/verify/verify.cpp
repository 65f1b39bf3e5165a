// `zerorun verify`: tells whether files are whole.
// SPDX-License-Identifier: MIT
#include <filesystem>
#include <memory>
#include <system_error>

#include "apps/commands.hpp"
#include "apps/common/console.hpp"
#include "apps/verify/verify_files.hpp"

#include <CLI/CLI.hpp>

namespace zerorun::app {
namespace {

Exit run(const VerifyOptions& options) {
  console::set_verbosity(options.quiet, options.verbose);
  if (!options.manifest.empty() && options.inputs.size() > 1)
    fail(Exit::usage, "--manifest is that of one file");
  for (const std::string& name : options.inputs) {
    std::error_code ignored;
    const bool is_shards =
        std::filesystem::is_directory(name, ignored) && name.find(".shards") != std::string::npos;
    is_shards ? verify_shards(name) : verify_file(name, options);
  }
  return Exit::done;
}

}  // namespace

Command add_verify(CLI::App& program) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App* command = program.add_subcommand(
      "verify", "Check that files and shards are whole: every frame, every hash");
  command->footer(
      "Exit codes for a scheduler: 3 the file is damaged (do not retry), 6 other bytes than the\n"
      "manifest's, 1 a run-time failure (retry)\n"
      "\n"
      "Examples:\n"
      "  zerorun verify shot.mov other.avi\n"
      "  zerorun verify shot.mov --manifest shot.json\n"
      "  zerorun verify shot.mov.shards");
  command->option_defaults()->group("Input");
  command
      ->add_option("FILE", options->inputs,
                   "Motion JPEG files, JPEG files or sequences of them, or folders of shards")
      ->required()
      ->type_name("FILE");
  command
      ->add_option(
          "--manifest", options->manifest,
          "Compare the size and the XXH3 of every frame with this manifest, which `zerorun "
          "concat --manifest` writes; exit 6 if one differs")
      ->type_name("FILE");
  command->add_flag("--parse", options->parse,
                    "Parse the headers of every frame instead of decoding it: faster, and finds "
                    "less");
  command->option_defaults()->group("Device");
  command->add_option("--threads", options->threads, "CPU threads; 0 is one per core")
      ->type_name("N")
      ->check(CLI::Range(0, 1024).description(""))
      ->default_str("0");
  command->option_defaults()->group("Reports");
  add_console_options(*command, options->quiet, options->verbose, "Say what is read");
  return [options] { return run(*options); };
}

}  // namespace zerorun::app
