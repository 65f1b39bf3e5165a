// SPDX-License-Identifier: MIT
#include "apps/common/failure.hpp"

#include <fmt/core.h>

#include "apps/common/signals.hpp"

namespace zerorun::app {

std::string exit_codes_text() {
  constexpr std::pair<Exit, const char*> kMeanings[] = {
      {Exit::done, "done"},
      {Exit::failed, "a run-time failure (memory); bench --compare found a slower row"},
      {Exit::usage, "bad command line"},
      {Exit::input, "input unreadable, corrupt or not supported"},
      {Exit::output, "output exists, cannot be written, or its format cannot hold this"},
      {Exit::device, "the device or display is not usable, or the device failed"},
      {Exit::mismatch, "--verify or `verify` found bytes that differ from those that were coded"},
      {Exit::resume, "ended by a signal; what is done is on the disk, and --resume goes on"},
  };
  std::string text = "Exit codes:\n";
  for (const auto& [code, meaning] : kMeanings)
    text += fmt::format("  {:<9} {}\n", static_cast<int>(code), meaning);
  return text +
         "  130, 143  interrupted by SIGINT, SIGTERM; the end of the file was written first\n";
}

Exit exit_for(const Status& status, Exit side) noexcept {
  switch (status.code()) {
    case Errc::ok:
      return Exit::done;
    case Errc::no_device:
    case Errc::device_unsuitable:
    case Errc::cuda_not_built:
    case Errc::device_failure:  // a scheduler tries another device
      return Exit::device;
    case Errc::out_of_memory:
      return Exit::failed;
    case Errc::verify_mismatch:
      return Exit::mismatch;
    default:
      return side;
  }
}

void fail(Exit code, std::string sentence) { throw Failure(code, std::move(sentence)); }

void fail_interrupted() {
  throw Interrupted(static_cast<Exit>(128 + signals::received()), "interrupted");
}

/// Removes the quoted path from the library's message if it repeats the name in front of it.
static std::string without_name(std::string message, const std::string& name) {
  const std::string quoted = "'" + name + "'";
  const auto at = message.find(quoted);
  if (at == std::string::npos) return message;
  const std::string rest = message.substr(at + quoted.size());
  if (rest.starts_with(": ")) return message.erase(at, quoted.size() + 2);
  if (at < 2 || message.compare(at - 2, 2, ": ") != 0) return message;
  const bool is_subject = rest.size() > 1 && rest[0] == ' ' && rest[1] != '(';
  if (is_subject) return message.replace(at, quoted.size(), "it");
  return message.erase(at - 2, quoted.size() + 2);
}

std::string sentence_about(const std::string& name, const Status& status) {
  return name + ": " + without_name(status.message(), name);
}

void fail(Exit side, const std::string& name, const Status& status, const char* hint) {
  fail(exit_for(status, side),
       (name.empty() ? status.message() : sentence_about(name, status)) + hint);
}

}  // namespace zerorun::app
