// `zerorun bench --files`: what a user gets, from file to file, as child processes; and what the
// machine alone needs to move the bytes of a run.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/bench/options.hpp"
#include "apps/bench/result.hpp"
#include "zerorun/status.hpp"

namespace zerorun::app::bench {

struct ChildRun {
  int exit_code = 0;       ///< 128 + number after a signal
  double seconds = 0;      ///< from its start to its end
  double cpu_seconds = 0;  ///< of all its threads, user and system
};

/// Runs `words`, whose first is the program: looked up in PATH unless it has a slash. Stdout goes
/// to /dev/null, or is the file `out` if it is not empty; stderr is the file `log`. If this process
/// gets a signal, the child gets SIGTERM and the call waits for its end. Errors: open_failed.
Result<ChildRun> run_child(const std::vector<std::string>& words, const std::string& out,
                           const std::string& log);

/// A new folder, removed with everything in it: by the destructor, or when a second signal ends the
/// process.
class TemporaryFolder {
 public:
  /// In `parent`; if that is empty, in $TMPDIR or /tmp. Ends the command with exit 4 on failure.
  explicit TemporaryFolder(const std::string& parent);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  /// Removes a file or folder in it and makes an empty folder of that name if asked for.
  void clear(const std::string& name, bool make_folder = false) const;

 private:
  std::string folder_;
};

// What the machine alone needs to move the bytes of a run: no way from file to file is faster.

/// Threads that move bytes side by side. On 16 cores, 8 read 4K frames into pinned memory and on to
/// an H200 at 2,742 frames/s and 16 at 3,276; new pages of one file in tmpfs get no faster with
/// more.
inline constexpr int kFloorThreads = 8;
int floor_threads() noexcept;

/// Files that are read in pieces by several threads, from the page cache after the first time.
struct ReadWork {
  std::vector<std::string> files;
  std::size_t piece_bytes = 0;  ///< about a frame; a smaller file is one piece
};

/// How an output lies on the disk.
enum class Layout {
  none,           ///< nothing is written
  appended,       ///< one file, written from begin to end by one thread
  placed,         ///< one file, pieces written to their places by several threads
  file_for_each,  ///< a file for each frame, by several threads
};

/// Seconds to read everything into memory.
Result<double> time_reading(const ReadWork& work);

/// Seconds to write `frames` pieces of `bytes` bytes to new files of the folder; the caller removes
/// them.
Result<double> time_writing(const std::string& folder, Layout layout, std::int64_t frames,
                            std::size_t bytes);

// Null in a build without CUDA.
/// Seconds to read everything into pinned memory and copy it to the device.
[[gnu::weak]] Result<double> time_reading_to_device(const ReadWork& work, int device);
/// Seconds to copy `frames` pieces of `bytes` bytes from the device to pinned memory.
[[gnu::weak]] Result<double> time_download(int device, std::int64_t frames, std::size_t bytes);

/// What every process on a GPU waits for: CUDA, a stream, 100 MB of pinned and of device memory.
[[gnu::weak]] Status start_alone(int device);

/// The pieces of ReadWork, shared out to threads.
struct Piece {
  int file = -1;  ///< descriptor
  std::int64_t at = 0;
  std::size_t bytes = 0;
};

class OpenPieces {
 public:
  OpenPieces() = default;
  ~OpenPieces();
  OpenPieces(const OpenPieces&) = delete;
  OpenPieces& operator=(const OpenPieces&) = delete;

  Status open(const ReadWork& work);
  const std::vector<Piece>& pieces() const noexcept { return pieces_; }
  std::size_t largest() const noexcept { return largest_; }

 private:
  std::vector<int> files_;
  std::vector<Piece> pieces_;
  std::size_t largest_ = 0;
};

/// Fills `to` with the bytes of a piece.
Status read_piece(const Piece& piece, std::byte* to);

/// The files of an input, as far as bench and FFmpeg can name them.
struct InputFiles {
  std::vector<std::string> files;
  std::vector<std::string> ffmpeg;  ///< FFmpeg's options for the input; empty: it has none
  std::int64_t bytes = 0;
};
InputFiles input_files(const std::string& input);

/// An input that is measured, and where results go.
struct FilesSetting {
  std::string input;  ///< of the program: the user's, or generated frames
  std::string kind;   ///< "png", "y4m", "mov"
  InputFiles files;
  std::int64_t frames = 0;
  int width = 0, height = 0;
  const TemporaryFolder& folder;
  const Selection& selection;
  int repetitions = 5;
};

/// Fills in a setting; generated frames become a file of the folder. Ends the command with exit 3
/// if the input cannot be read.
FilesSetting prepare_files(const Options& options, const Selection& selection, const Case& what,
                           const TemporaryFolder& folder);

/// One way from an input to an output.
struct Way {
  std::string coder = "zerorun", device = "cpu";
  std::string path;  ///< "png>mov"
  int threads = 1;
  Layout layout = Layout::none;    ///< of the output
  std::vector<std::string> words;  ///< the command; the last one is the output
  std::string output;              ///< name in the folder, removed before each run; empty: none
  bool makes_folder = false;       ///< the output is a file for each frame
};

/// FFmpeg's mjpeg coder on the same ways, with its own number of threads; a note says why not.
/// `bytes` of all frames of zerorun's stream: FFmpeg gets the -q:v that comes closest to it.
std::vector<Way> ffmpeg_ways(const Case& what, const FilesSetting& setting, double bytes,
                             CaseResult& result);

/// Measures a case from file to file.
CaseResult run_files(const Case& what, const FilesSetting& setting, const std::string& command);

/// The table of such a case.
std::string files_table_text(const CaseResult& result);

}  // namespace zerorun::app::bench
