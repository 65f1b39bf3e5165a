// The size that the window had when it was closed last.
// SPDX-License-Identifier: MIT
#include "apps/play/window_state.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace zerorun::app {
namespace {

namespace fs = std::filesystem;

/// The XDG specification says that a relative path is to be ignored.
fs::path absolute_variable(const char* name) {
  const char* value = std::getenv(name);
  const fs::path path(value == nullptr ? "" : value);
  return path.is_absolute() ? path : fs::path();
}

bool is_sensible(const WindowSize& size) {
  constexpr int kLeast = 64, kMost = 32767;  // X11 has no larger windows
  return size.width >= kLeast && size.height >= kLeast && size.width <= kMost &&
         size.height <= kMost;
}

/// "zerorun/window" in the folder for state of the XDG base directories; empty if there is none.
std::string window_state_file() {
  fs::path folder = absolute_variable("XDG_STATE_HOME");
  if (folder.empty()) {
    folder = absolute_variable("HOME");
    if (folder.empty()) return {};
    folder = folder / ".local" / "state";
  }
  return folder / "zerorun" / "window";
}

}  // namespace

std::optional<WindowSize> remembered_window_size() {
  std::ifstream file(window_state_file());
  WindowSize size;
  if (!(file >> size.width >> size.height) || !is_sensible(size)) return std::nullopt;
  return size;
}

void remember_window_size(const WindowSize& size) {
  const fs::path path = window_state_file();
  if (path.empty() || !is_sensible(size)) return;
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  // A name of its own: two players may close at the same time.
  const fs::path part = path.string() + "." + std::to_string(getpid());
  {
    std::ofstream file(part);
    if (!(file << size.width << ' ' << size.height << '\n' << std::flush)) {
      file.close();
      fs::remove(part, error);
      return;
    }
  }
  fs::rename(part, path, error);
  if (error) fs::remove(part, error);
}

}  // namespace zerorun::app
