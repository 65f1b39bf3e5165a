// Scratch folders, programs and synthetic packets for the I/O tests.
// SPDX-License-Identifier: MIT
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/test_frame.hpp"
#include "zerorun/io.hpp"

namespace zerorun::test {

/// A temporary folder; the destructor removes it.
class ScratchFolder {
 public:
  ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& content) const;
  std::string write(const std::string& name, const std::vector<std::byte>& content) const;
  bool has(const std::string& name) const;
  std::vector<std::string> names() const;  ///< sorted

 private:
  std::filesystem::path folder_;
};

std::string text_of(const std::string& path);

/// Standard output of a shell command; *status gets its exit status.
std::string run(const std::string& command, int* status = nullptr);
bool has_program(const std::string& name);

/// ffprobe's key=value lines about the first video stream, with frames counted.
std::map<std::string, std::string> probe_video(const std::string& path);

using Packet = std::vector<std::byte>;
/// `count` different JPEG streams.
std::vector<Packet> make_packets(int count, int width = 64, int height = 48,
                                 Subsampling sampling = Subsampling::s420);

/// Sink options for make_packets().
io::SinkOptions sink_options(int width = 64, int height = 48);

/// Everything that a source gives; fails the test on an error.
struct ReadPackets {
  std::vector<Packet> packets;
  std::vector<io::FrameTime> times;
};
ReadPackets read_all(io::PacketSource& source);
struct ReadFrames {
  std::vector<std::vector<std::uint8_t>> samples;  ///< planes without padding
  std::vector<io::FrameTime> times;
};
ReadFrames read_all(io::FrameSource& source);
/// The same of an input, which has to open. `info` gets what it says of itself.
ReadPackets read_packets(const std::string& name, const io::SourceOptions& options = {},
                         io::SourceInfo* info = nullptr);
ReadFrames read_frames(const std::string& name, const io::SourceOptions& options = {},
                       io::SourceInfo* info = nullptr);

/// Writes packets with these times, or one after the other. Fails the test on an error.
void write_packets(const std::string& path, const std::vector<Packet>& packets,
                   const io::SinkOptions& options = sink_options(),
                   const std::vector<io::FrameTime>& times = {});
/// With `variable`, the packets last 1, 2, 3, 1, 2, ... frames.
void write_with_rate(const std::string& path, const std::vector<Packet>& packets, bool variable);

template <typename Opened>
std::string why(const Opened& opened) {
  return opened.status().message();
}

/// What has to open: the test ends with the reason where it does not.
template <typename T>
T opened(Result<T> result) {
  if (!result) throw std::runtime_error(why(result));
  return *std::move(result);
}

}  // namespace zerorun::test
