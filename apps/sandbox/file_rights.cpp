// Which files a command may open in the sandbox.
// SPDX-License-Identifier: MIT
#include "apps/sandbox/file_rights.hpp"

#include <CLI/CLI.hpp>

#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

namespace zerorun::app::sandbox {
namespace {

namespace fs = std::filesystem;
using Paths = std::vector<std::string>;

void add(Paths& paths, const std::string& path) {
  if (std::ranges::find(paths, path) == paths.end()) paths.push_back(path);
}

std::string folder_of(const fs::path& path) {
  const fs::path folder = path.parent_path();
  return folder.empty() ? "." : folder.string();
}

/// The folder of a pattern or glob: what stands before the first part with a wildcard.
std::string fixed_folder(const fs::path& pattern) {
  fs::path fixed;
  for (const fs::path& part : pattern.parent_path()) {
    if (part.string().find_first_of("%#*?[") != std::string::npos) break;
    fixed /= part;
  }
  return fixed.empty() ? "." : fixed.string();
}

/// The folders of the files that a list names: the user hands them over with it.
void add_listed(Paths& paths, const std::string& list) {
  add(paths, folder_of(list));
  std::ifstream in(list);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!line.empty()) add(paths, fixed_folder(fs::path(list).parent_path() / line));
  }
}

void add_input(Paths& paths, const std::string& word) {
  std::error_code ignored;
  if (word.empty() || word == "-") return;
  if (fs::exists(word, ignored))
    add(paths, word);
  else if (word[0] == '@')
    add_listed(paths, word.substr(1));
  else
    add(paths, fixed_folder(word));
}

/// A file is written beside its name and renamed. A device or a pipe is opened as it is.
void add_output(Paths& paths, std::string word) {
  std::error_code ignored;
  if (word.starts_with("md5:")) word.erase(0, 4);
  if (word.empty() || word == "-" || word == "null:") return;
  const fs::file_status status = fs::status(word, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status)) return add(paths, word);
  add(paths, fixed_folder(word));
}

/// Libraries are opened when they are needed, so their folders stay readable.
void add_libraries(Paths& paths) {
  for (const char* const path : {"/usr/lib", "/usr/lib64", "/usr/local/lib", "/lib", "/lib64",
                                 "/etc/ld.so.cache", "/usr/share/zoneinfo"})
    add(paths, path);
  const auto visit = [](dl_phdr_info* info, std::size_t, void* out) {
    if (info->dlpi_name != nullptr && info->dlpi_name[0] == '/')
      add(*static_cast<Paths*>(out), folder_of(info->dlpi_name));
    return 0;
  };
  dl_iterate_phdr(visit, &paths);
  const char* const more = std::getenv("LD_LIBRARY_PATH");
  std::string_view folders = more == nullptr ? "" : more;
  while (!folders.empty()) {
    const std::size_t end = std::min(folders.find(':'), folders.size());
    if (end > 0) add(paths, std::string(folders.substr(0, end)));
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
}

/// Facts about the processors and the process itself.
void add_machine(FileRights& rights) {
  for (const char* const path :
       {"/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/sys/devices/system",
        "/sys/fs/cgroup", "/dev/urandom", "/dev/random", "/dev/zero"})
    add(rights.readable, path);
  add(rights.writable, "/dev/null");
}

void add_gpu(FileRights& rights) {
  rights.with_gpu = true;
  for (const char* const path : {"/proc", "/sys", "/usr", "/etc"}) add(rights.readable, path);
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/dev", ignored))
    if (entry.path().filename().string().starts_with("nvidia"))
      add(rights.writable, entry.path().string());
  add(rights.writable, "/dev/shm");
}

bool names_file(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.find("FILE") != std::string::npos;
}

}  // namespace

FileRights file_rights(const CLI::App& command) {
  FileRights rights;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& word : option->results()) {
      const std::string name = option->get_name();
      if (name == "--output" || name == "--stats") {
        add_output(rights.writable, word);
      } else if (name == "--device" && word.starts_with("cuda")) {
        add_gpu(rights);
      } else if (option->get_type_name() == "INPUT") {
        add_input(rights.readable, word);
      } else if (std::error_code ignored; names_file(*option) && fs::exists(word, ignored)) {
        add(rights.readable, word);  // some take a word instead of a file
      }
    }
  add_libraries(rights.readable);
  add_machine(rights);
  return rights;
}

}  // namespace zerorun::app::sandbox
