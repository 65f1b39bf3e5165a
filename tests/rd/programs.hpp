// Other programs that judge pictures and encode them: butteraugli_main, cjpegli, mozjpeg's cjpeg.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tests/rd/metrics.hpp"

namespace zerorun::rd {

/// A folder for files that programs exchange, removed at the end.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

/// What the shell's command prints; nothing if it fails.
std::optional<std::string> output_of(const std::string& command);

void write_ppm(const std::string& path, const Image& image);

/// The last line `3-norm: X` of butteraugli_main's output.
std::optional<double> three_norm(const std::string& output);

struct JudgeOptions {
  std::string butteraugli;  ///< the program butteraugli_main; empty: that metric is not known
  std::string cache;        ///< a folder that keeps scores by content; empty: none are kept
};

/// A Meter that asks butteraugli_main too, and keeps what it measured.
class Judge : public Meter {
 public:
  Judge(const Image& original, const JudgeOptions& options);
  Scores measure(const Image& distorted) const override;

 private:
  JudgeOptions options_;
  ScratchFolder folder_;
  std::uint64_t original_;  ///< hash
};

/// An encoder beside zerorun: cjpegli or mozjpeg's cjpeg, with more arguments for it.
struct Peer {
  bool is_jpegli = false;
  std::string program, arguments;
};
/// `sampling`: 420, 422 or 444. Empty if the program fails.
std::vector<std::byte> encode_by(const Peer& peer, const std::string& sampling, int quality,
                                 const Image& image);
/// A JPEG stream that a command makes from another one, as in `command <in >out`.
std::vector<std::byte> recode_by(const std::string& command, const std::vector<std::byte>& jpeg);

}  // namespace zerorun::rd
