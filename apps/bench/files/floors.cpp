// What the machine alone needs to move the bytes of a run, and child processes.
// SPDX-License-Identifier: MIT
#include "apps/bench/files/files.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <system_error>

#include "apps/bench/measure/measure.hpp"
#include "apps/common/figures.hpp"
#include "apps/common/process.hpp"
#include "codec/base/try.hpp"
#include "zerorun/backend.hpp"

namespace zerorun::app::bench {
namespace {

Status system_error(Errc code, const std::string& name) {
  return Status(code, "'" + name + "': " + std::generic_category().message(errno));
}

Status write_all(int file, const std::vector<std::byte>& bytes, std::int64_t at) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t count = pwrite(file, bytes.data() + done, bytes.size() - done,
                                 static_cast<off_t>(at) + static_cast<off_t>(done));
    if (count <= 0) return system_error(Errc::write_failed, "a file of the benchmark");
    done += static_cast<std::size_t>(count);
  }
  return Status::ok();
}

/// A new file, closed and removed at the end.
class NewFile {
 public:
  explicit NewFile(std::string path)
      : path_(std::move(path)),
        file_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) {}
  ~NewFile() { close(); }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void close() {
    if (file_ >= 0) ::close(file_);
    file_ = -1;
  }
  int file() const noexcept { return file_; }

 private:
  std::string path_;
  int file_;
};

/// Calls `work(index)` for 0 .. count - 1 on `threads` threads.
template <typename Body>
Status share_out(int threads, std::int64_t count, const Body& work) {
  std::atomic<std::int64_t> next{0};
  return in_threads(static_cast<std::size_t>(threads), [&](std::size_t) -> Status {
    for (std::int64_t i = next++; i < count; i = next++) ZR_TRY(work(i));
    return Status::ok();
  });
}

Status write_one_file(const std::string& path, int threads, std::int64_t frames,
                      const std::vector<std::byte>& bytes) {
  const NewFile out(path);
  if (out.file() < 0) return system_error(Errc::write_failed, path);
  return share_out(threads, frames, [&](std::int64_t i) {
    return write_all(out.file(), bytes, i * static_cast<std::int64_t>(bytes.size()));
  });
}

Status write_files(const std::string& folder, std::int64_t frames,
                   const std::vector<std::byte>& bytes) {
  return share_out(floor_threads(), frames, [&](std::int64_t i) -> Status {
    const std::string path = folder + "/" + std::to_string(i);
    const NewFile out(path);
    if (out.file() < 0) return system_error(Errc::write_failed, path);
    return write_all(out.file(), bytes, 0);
  });
}

/// The settings of posix_spawn(), freed at the end.
class SpawnSettings {
 public:
  SpawnSettings(const std::string& out, const std::string& log) {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    constexpr int kWrite = O_WRONLY | O_CREAT | O_TRUNC;
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO,
                                     out.empty() ? "/dev/null" : out.c_str(), kWrite, 0600);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log.c_str(), kWrite, 0600);
    // This program blocks some signals and ignores SIGPIPE; a child would inherit both.
    sigset_t none, pipe;
    sigemptyset(&none);
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &pipe);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

/// Blocks until the child has ended.
ChildRun wait_for(pid_t child, const Stopwatch& watch) {
  int state = 0;
  rusage used{};
  while (wait4(child, &state, 0, &used) < 0 && errno == EINTR) {
  }
  const double seconds = watch.seconds();
  const int code = WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
  return {code, seconds, seconds_of(used.ru_utime) + seconds_of(used.ru_stime)};
}

}  // namespace

int floor_threads() noexcept { return std::min(usable_processors(), kFloorThreads); }

OpenPieces::~OpenPieces() {
  for (const int file : files_) close(file);
}

Status OpenPieces::open(const ReadWork& work) {
  for (const std::string& name : work.files) {
    const int file = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return system_error(Errc::open_failed, name);
    files_.push_back(file);
    struct stat facts {};
    if (fstat(file, &facts) != 0) return system_error(Errc::read_failed, name);
    const auto most = static_cast<std::int64_t>(std::max<std::size_t>(work.piece_bytes, 4096));
    for (std::int64_t at = 0; at < facts.st_size; at += most) {
      const auto bytes = static_cast<std::size_t>(std::min<std::int64_t>(most, facts.st_size - at));
      pieces_.push_back({file, at, bytes});
      largest_ = std::max(largest_, bytes);
    }
  }
  return Status::ok();
}

Status read_piece(const Piece& piece, std::byte* to) {
  for (std::size_t done = 0; done < piece.bytes;) {
    const ssize_t count = pread(piece.file, to + done, piece.bytes - done,
                                static_cast<off_t>(piece.at) + static_cast<off_t>(done));
    if (count <= 0) return system_error(Errc::read_failed, "a file of the benchmark");
    done += static_cast<std::size_t>(count);
  }
  return Status::ok();
}

Result<double> time_reading(const ReadWork& work) {
  const Stopwatch watch;
  OpenPieces open;
  ZR_TRY(open.open(work));
  std::atomic<std::size_t> next{0};
  const auto read_some = [&](std::size_t) -> Status {
    std::vector<std::byte> memory(open.largest());
    for (std::size_t i = next++; i < open.pieces().size(); i = next++)
      ZR_TRY(read_piece(open.pieces()[i], memory.data()));
    return Status::ok();
  };
  ZR_TRY(in_threads(static_cast<std::size_t>(floor_threads()), read_some));
  return watch.seconds();
}

Result<double> time_writing(const std::string& folder, Layout layout, std::int64_t frames,
                            std::size_t bytes) {
  const std::vector<std::byte> memory(bytes, std::byte{0x5A});
  const Stopwatch watch;
  if (layout == Layout::file_for_each) {
    ZR_TRY(write_files(folder, frames, memory));
  } else if (layout != Layout::none) {
    const int threads = layout == Layout::placed ? floor_threads() : 1;
    ZR_TRY(write_one_file(folder + "/all", threads, frames, memory));
  }
  return watch.seconds();
}

Result<ChildRun> run_child(const std::vector<std::string>& words, const std::string& out,
                           const std::string& log) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const SpawnSettings settings(out, log);
  pid_t child = 0;
  const Stopwatch watch;
  const int error =
      posix_spawnp(&child, argv[0], &settings.actions, &settings.attributes, argv.data(), environ);
  if (error != 0)
    return Status(Errc::open_failed, words[0] + ": " + std::generic_category().message(error));
  // A thread waits, so that this one can see signals; its clock stops with the child's end.
  auto ended = std::async(std::launch::async, wait_for, child, watch);
  bool told = false;
  while (ended.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready) {
    if (signals::received() == 0 || told) continue;
    told = true;
    kill(child, SIGTERM);
  }
  return ended.get();
}

TemporaryFolder::TemporaryFolder(const std::string& parent) {
  const char* const tmpdir = std::getenv("TMPDIR");
  const std::string usual = tmpdir != nullptr && *tmpdir != '\0' ? tmpdir : "/tmp";
  folder_ = (parent.empty() ? usual : parent) + "/zerorun-bench-XXXXXX";
  if (mkdtemp(folder_.data()) == nullptr)
    fail(Exit::output, (parent.empty() ? usual : parent) + ": no folder can be made there: " +
                           std::generic_category().message(errno));
  signals::remove_when_killed(folder_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
  signals::forget_removals();
}

void TemporaryFolder::clear(const std::string& name, bool make_folder) const {
  std::error_code ignored;
  std::filesystem::remove_all(path(name), ignored);
  if (make_folder) std::filesystem::create_directory(path(name), ignored);
}

}  // namespace zerorun::app::bench
