// Scratch folders, programs and synthetic packets for the I/O tests.
// SPDX-License-Identifier: MIT
#include "tests/io/support.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

#include "tests/support/libjpeg_encode.hpp"

namespace zerorun::test {

namespace fs = std::filesystem;

ScratchFolder::ScratchFolder() {
  std::string name = (fs::temp_directory_path() / "zerorun_io_XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) std::abort();
  folder_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::string ScratchFolder::write(const std::string& name, const std::string& content) const {
  std::ofstream(path(name), std::ios::binary) << content;
  return path(name);
}

std::string ScratchFolder::write(const std::string& name,
                                 const std::vector<std::byte>& content) const {
  return write(name, std::string(reinterpret_cast<const char*>(content.data()), content.size()));
}

bool ScratchFolder::has(const std::string& name) const { return fs::exists(folder_ / name); }

std::vector<std::string> ScratchFolder::names() const {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string run(const std::string& command, int* status) {
  std::string out;
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return out;
  char part[4096];
  for (std::size_t got; (got = std::fread(part, 1, sizeof part, pipe)) > 0;) out.append(part, got);
  const int ended = ::pclose(pipe);
  if (status != nullptr) *status = WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
  return out;
}

bool has_program(const std::string& name) {
  int status = 1;
  run("command -v " + name + " >/dev/null 2>&1", &status);
  return status == 0;
}

std::map<std::string, std::string> probe_video(const std::string& path) {
  std::istringstream lines(
      run("ffprobe -v error -count_frames -select_streams v:0 -show_entries stream:side_data -of "
          "default=nw=1 '" +
          path + "' 2>&1"));
  std::map<std::string, std::string> values;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find('=');
    if (equals != std::string::npos) values[line.substr(0, equals)] = line.substr(equals + 1);
  }
  return values;
}

std::vector<Packet> make_packets(int count, int width, int height, Subsampling sampling) {
  std::vector<Packet> packets;
  for (int i = 0; i < count; ++i)
    packets.push_back(
        libjpeg_sample(width, height, sampling, {}, static_cast<std::uint64_t>(i) + 1));
  return packets;
}

io::SinkOptions sink_options(int width, int height) {
  io::SinkOptions options;
  options.width = width;
  options.height = height;
  options.frame_rate = {30000, 1001};
  options.time_base = {1001, 30000};
  return options;
}

ReadPackets read_all(io::PacketSource& source) {
  ReadPackets all;
  for (;;) {
    Packet packet;
    io::FrameTime time;
    Result<bool> more = source.read(packet, time);
    EXPECT_TRUE(more) << more.status().message();
    if (!more || !*more) return all;
    all.packets.push_back(std::move(packet));
    all.times.push_back(time);
  }
}

std::vector<std::uint8_t> packed(const ConstFrameView& frame) {
  std::vector<std::uint8_t> out;
  for (int p = 0; p < plane_count(frame.format); ++p) {
    const auto plane = static_cast<std::size_t>(p);
    for (int row = 0; row < plane_rows(frame.format, p, frame.height); ++row) {
      const std::uint8_t* from = frame.data[plane] + row * frame.stride_bytes[plane];
      out.insert(out.end(), from, from + plane_row_bytes(frame.format, p, frame.width));
    }
  }
  return out;
}

ReadFrames read_all(io::FrameSource& source) {
  ReadFrames all;
  Frame frame;
  for (;;) {
    io::FrameTime time;
    Result<bool> more = source.read(frame, time);
    EXPECT_TRUE(more) << more.status().message();
    if (!more || !*more) return all;
    all.samples.push_back(packed(std::as_const(frame).view()));
    all.times.push_back(time);
  }
}

}  // namespace zerorun::test
