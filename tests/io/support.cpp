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

ReadFrames read_all(io::FrameSource& source) {
  ReadFrames all;
  Frame frame;
  for (;;) {
    io::FrameTime time;
    Result<bool> more = source.read(frame, time);
    EXPECT_TRUE(more) << more.status().message();
    if (!more || !*more) return all;
    all.samples.push_back(packed(frame));
    all.times.push_back(time);
  }
}

ReadPackets read_packets(const std::string& name, const io::SourceOptions& options,
                         io::SourceInfo* info) {
  auto source = io::open_packets({name, "", {}}, options);
  EXPECT_TRUE(source) << name << ": " << why(source);
  if (source && info != nullptr) *info = (*source)->info();
  return source ? read_all(**source) : ReadPackets();
}

ReadFrames read_frames(const std::string& name, const io::SourceOptions& options,
                       io::SourceInfo* info) {
  auto source = io::open_frames({name, "", {}}, options);
  EXPECT_TRUE(source) << name << ": " << why(source);
  if (source && info != nullptr) *info = (*source)->info();
  return source ? read_all(**source) : ReadFrames();
}

void write_packets(const std::string& path, const std::vector<Packet>& packets,
                   const io::SinkOptions& options, const std::vector<io::FrameTime>& times) {
  auto sink = io::open_packet_sink({path, "", {}}, options);
  ASSERT_TRUE(sink) << path << ": " << why(sink);
  for (std::size_t i = 0; i < packets.size(); ++i) {
    const io::FrameTime next{static_cast<std::int64_t>(i), 1};
    const Status status = (*sink)->write(packets[i], times.empty() ? next : times[i]);
    ASSERT_TRUE(status) << status.message();
  }
  const Status status = (*sink)->finish();
  ASSERT_TRUE(status) << status.message();
  if (path.find('%') == std::string::npos) {
    EXPECT_EQ((*sink)->bytes_written(),
              static_cast<std::int64_t>(std::filesystem::file_size(path)));
  }
}

void write_with_rate(const std::string& path, const std::vector<Packet>& packets, bool variable) {
  io::SinkOptions options = sink_options();
  options.variable_frame_rate = variable;
  std::vector<io::FrameTime> times{{0, 1}};
  while (times.size() < packets.size())
    times.push_back({times.back().pts + (variable ? 1 + (std::ssize(times) - 1) % 3 : 1), 1});
  write_packets(path, packets, options, times);
}

}  // namespace zerorun::test
