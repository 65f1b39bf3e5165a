// A text file that gets its name when it is complete.
// SPDX-License-Identifier: MIT
#include "apps/common/safe_file.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "apps/common/failure.hpp"

namespace zerorun::app {

SafeFile::SafeFile(std::string path, bool overwrite)
    : path_(std::move(path)), part_(path_ + ".part"), overwrite_(overwrite) {
  std::error_code ignored;
  if (!overwrite_ && std::filesystem::exists(path_, ignored))
    fail(Exit::output, path_, Status(Errc::output_exists));
  // An existing NAME.part is removed and not opened: it may be a link.
  std::remove(part_.c_str());
  file_ = std::fopen(part_.c_str(), "wbx");
  if (file_ == nullptr) fail_now();
}

SafeFile::~SafeFile() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  std::remove(part_.c_str());
}

void SafeFile::fail_now() const {
  fail(Exit::output, path_, Status(Errc::write_failed, std::generic_category().message(errno)));
}

void SafeFile::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail_now();
}

void SafeFile::finish() {
  std::FILE* const file = std::exchange(file_, nullptr);
  const bool closed = std::fclose(file) == 0;
  if (closed && std::rename(part_.c_str(), path_.c_str()) == 0) return;
  const int reason = errno;
  std::remove(part_.c_str());
  errno = reason;
  fail_now();
}

}  // namespace zerorun::app
