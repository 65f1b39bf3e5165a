// What a killed process leaves in NAME.part plays to its last complete frame.
// SPDX-License-Identifier: MIT
#include <sys/wait.h>
#include <unistd.h>

#include "tests/io/support.hpp"

namespace zerorun::test {
namespace {

class Killed : public testing::TestWithParam<const char*> {};

/// Writes in a child process that dies after `frames` whole frames; true if it wrote them.
bool write_and_die(const std::string& path, int frames) {
  const std::vector<Packet> packets = make_packets(frames);
  const pid_t child = ::fork();
  if (child == 0) {
    auto sink = io::open_packet_sink({path, "", {}}, sink_options());
    if (!sink) ::_exit(1);
    for (int i = 0; i < frames; ++i)
      if (!(*sink)->write(packets[static_cast<std::size_t>(i)], {i, 1})) ::_exit(1);
    ::_exit(0);  // no destructor: as after SIGKILL
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_P(Killed, EveryFrameIsThere) {
  const ScratchFolder scratch;
  for (const int frames : {1, 2, 7, 40}) {
    const std::string name = std::to_string(frames) + "." + GetParam();
    ASSERT_TRUE(write_and_die(scratch.path(name), frames));
    EXPECT_FALSE(scratch.has(name));
    const std::string part = scratch.path(name + ".part");
    auto source = io::open_packets({part, GetParam(), {}}, {});
    ASSERT_TRUE(source) << why(source);
    EXPECT_EQ(read_all(**source).packets, make_packets(frames));
    if (!has_program("ffprobe")) continue;
    auto video = probe_video(part);
    EXPECT_EQ(video["nb_read_frames"], std::to_string(frames)) << name;
    if (std::string(GetParam()) != "mjpeg" && frames > 2) {
      EXPECT_EQ(video["r_frame_rate"], "30000/1001");
    }
  }
}

TEST_P(Killed, InTheMiddleOfAWriteOneFrameIsLost) {
  const ScratchFolder scratch;
  const std::string name = std::string("a.") + GetParam();
  ASSERT_TRUE(write_and_die(scratch.path(name), 10));
  const std::string part = scratch.path(name + ".part");
  // Cut into the last frame, as a kill inside write(2) does.
  std::filesystem::resize_file(part, std::filesystem::file_size(part) - 100);
  auto source = io::open_packets({part, GetParam(), {}}, {});
  ASSERT_TRUE(source) << why(source);
  const std::vector<Packet> packets = make_packets(10);
  const std::vector<Packet> read = read_all(**source).packets;
  ASSERT_GE(read.size(), 9u);
  for (std::size_t i = 0; i < 9; ++i) EXPECT_EQ(read[i], packets[i]) << i;
}

INSTANTIATE_TEST_SUITE_P(Kinds, Killed, testing::Values("mov", "mp4", "matroska", "avi", "mjpeg"),
                         [](const auto& param) { return std::string(param.param); });

}  // namespace
}  // namespace zerorun::test
