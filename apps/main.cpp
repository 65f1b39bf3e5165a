// The program `zerorun`: command line in, exit code out.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/commands.hpp"
#include "apps/common/options.hpp"
#include "apps/common/process.hpp"
#include "apps/common/reports.hpp"
#include "apps/sandbox/sandbox.hpp"
#include "zerorun/io.hpp"
#include "zerorun/status.hpp"

namespace zerorun::app {
namespace {

std::string version_text() {
  const io::Features with = io::features();
  std::string text = fmt::format("zerorun {}", version());
  text += with.ffmpeg ? " +ffmpeg" : " -ffmpeg";
  text += with.opencv ? " +opencv" : " -opencv";
  text += cuda_presence().code() != Errc::cuda_not_built ? " +cuda" : " -cuda";
  text += sandbox::is_built() ? " +sandbox" : " -sandbox";
  return text;
}

/// Flushes stdout, because a full disk or a closed pipe behind it is an error.
Exit flush_stdout(Exit code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  console::error("stdout: " + Status(Errc::write_failed).message());
  return code == Exit::done ? Exit::output : code;
}

/// Whether a mistyped word becomes `name` by one change, or begins it.
bool is_near(const std::string& word, const std::string& name) {
  const auto front = std::ranges::mismatch(word, name).in1 - word.begin();
  const auto back =
      std::mismatch(word.rbegin(), word.rend(), name.rbegin(), name.rend()).first - word.rbegin();
  const std::size_t same = static_cast<std::size_t>(front + back) + (word.size() == name.size());
  return name.starts_with(word) || same + 1 >= std::max({word.size(), name.size(), 4ul});
}

/// CLI11 takes a word behind a mistyped option for INPUT; the option is the better hint.
void look_for_mistyped(const CLI::App& command, std::string& sentence) {
  std::string found;
  for (const std::string& word : command.remaining()) {
    if (word.size() < 2 || word[0] != '-') continue;
    const std::string name = word.substr(0, word.find('='));
    found += fmt::format("; there is no option '{}'", name);
    for (const CLI::Option* option : command.get_options())
      for (const std::string& known : option->get_lnames())
        if (is_near(name, "--" + known)) found += fmt::format(" (did you mean --{}?)", known);
  }
  const bool is_about_words = sentence.starts_with("INPUT:") || sentence.starts_with("The foll");
  if (!found.empty()) sentence = found.substr(2) + (is_about_words ? "" : "; " + sentence);
}

[[noreturn]] void usage_error(const CLI::App& program, const CLI::ParseError& error) {
  std::string asked = "zerorun";
  std::string sentence = error.what();
  look_for_mistyped(program, sentence);
  for (const CLI::App* command : program.get_subcommands()) {
    asked += " " + command->get_name();
    if (sentence == "--input is required") sentence = "INPUT is required";
    look_for_mistyped(*command, sentence);
  }
  fail(Exit::usage, fmt::format("{} (see {} --help)", sentence, asked));
}

/// `zerorun` and `zerorun help` are `zerorun --help`; a COMMAND may follow `help`.
std::vector<const char*> without_help_command(int argc, const char* const* argv) {
  std::vector<const char*> words(argv, argv + argc);
  const bool is_help = words.size() > 1 && std::string_view(words[1]) == "help";
  if (is_help) words.erase(words.begin() + 1);
  if (is_help || words.size() < 2) words.push_back("--help");
  return words;
}

/// Threads have the rights of the thread that made them, so the one for signals comes after.
void enter_sandbox(const CLI::App& command) {
  sandbox::drop_rights(command);
  signals::install();
}

int run(int argc, const char* const* argv) {
  CLI::App program("JPEG and Motion JPEG for images and video, on the CPU and on NVIDIA GPUs",
                   "zerorun");
  program.set_version_flag("--version", version_text(),
                           "Print the version and what it is built with");
  program.set_help_flag("-h,--help", "Print the commands; after a command, its common options");
  program.set_help_all_flag("--help-all",
                            "After a command, print all of its options and the exit codes");
  program.require_subcommand(1);
  show_common_options(program, {});  // all of them; the commands inherit it
  const std::vector<std::pair<const char*, Command>> commands = {
      {"encode", add_encode(program)},  {"decode", add_decode(program)},
      {"copy", add_copy(program)},      {"concat", add_concat(program)},
      {"verify", add_verify(program)},  {"play", add_play(program)},
      {"info", add_info(program)},      {"bench", add_bench(program)},
      {"devices", add_devices(program)}};
  sandbox::add_options(program);
  const std::vector<const char*> words = without_help_command(argc, argv);
  argc = static_cast<int>(words.size());
  argv = words.data();
  const auto is_asked = [&](const CLI::App* command) { return command->get_name() == argv[1]; };
  if (argc > 1 && argv[1][0] != '-' && program.get_subcommands(is_asked).empty()) {
    std::string hint;
    for (const auto& [name, command] : commands)
      if (is_near(argv[1], name)) hint = fmt::format("; did you mean {}?", name);
    fail(Exit::usage,
         fmt::format("there is no command '{}'{} (see zerorun --help)", argv[1], hint));
  }
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& wanted) {  // --help, --version
    program.exit(wanted);
    const bool is_shown = std::fflush(stdout) == 0 || errno == EPIPE;  // `zerorun --help | head`
    return static_cast<int>(is_shown ? Exit::done : flush_stdout(Exit::done));
  } catch (const CLI::ParseError& error) {
    usage_error(program, error);
  }
  if (const auto cpu = resolve_instruction_set(); !cpu) fail(Exit::usage, cpu.status().message());
  for (const auto& [name, command] : commands)
    if (program.got_subcommand(name)) {
      const CLI::App& chosen = *program.get_subcommand(name);
      sandbox::check_asked(chosen);
      if (sandbox::is_child()) enter_sandbox(chosen);
      return static_cast<int>(flush_stdout(command()));
    }
  return static_cast<int>(Exit::usage);
}

int handled_run(int argc, char** argv) {
  const auto end = [&](Exit code, const std::string& sentence, bool is_told = true) {
    if (is_told) console::error(sentence);
    Progress::print_failed_event(argc, argv, code, sentence);
    return static_cast<int>(code);
  };
  try {
    return run(argc, argv);
  } catch (const Failure& failure) {
    return end(failure.code(), failure.what(), !signals::must_stop_now());
  } catch (const std::bad_alloc&) {
    return end(Exit::failed, Status(Errc::out_of_memory).message());
  } catch (const std::system_error& error) {
    return end(Exit::failed, fmt::format("a thread cannot be started: {}", error.code().message()));
  }
}

volatile std::sig_atomic_t g_memory_ran_out = 0;

/// Libraries end the process where memory is missing. The user then gets the sentence and the exit
/// code of other commands that run out of memory.
void say_when_memory_runs_out() {
  std::set_new_handler([] {
    g_memory_ran_out = 1;
    throw std::bad_alloc();
  });
  std::signal(SIGABRT, [](int number) {
    if (g_memory_ran_out == 0) {
      std::signal(number, SIG_DFL);
      return;  // abort() goes on
    }
    console::no_memory();
    std::_Exit(static_cast<int>(Exit::failed));
  });
}

/// The sentences about an error take memory, too.
int guarded_run(int argc, char** argv) {
  try {
    say_when_memory_runs_out();
    if (!sandbox::is_child()) signals::install();
    return handled_run(argc, argv);
  } catch (const std::bad_alloc&) {
    console::no_memory();
  } catch (const std::system_error&) {
    console::no_memory();  // no thread can be started
  }
  return static_cast<int>(Exit::failed);
}

}  // namespace
}  // namespace zerorun::app

int main(int argc, char** argv) {
  namespace signals = zerorun::app::signals;
  if (const auto ended = zerorun::app::sandbox::start(argc, argv)) return *ended;
  int code = zerorun::app::guarded_run(argc, argv);
  // After an interruption that was handled; a failure on the way keeps its own code.
  if (signals::received() != 0 && (code == 0 || signals::must_stop_now()))
    code = signals::exit_code();
  if (!signals::is_thread_left_behind()) return code;
  std::fflush(nullptr);
  std::_Exit(code);
}
