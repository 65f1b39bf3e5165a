// Sources and sinks in two halves: the parallel half on any thread and in any order.
// SPDX-License-Identifier: MIT
#include <sys/stat.h>

#include <atomic>
#include <set>
#include <thread>

#include "tests/io/support.hpp"
#include "tests/support/test_frame.hpp"

namespace zerorun::test {
namespace {

constexpr int kFrames = 9, kWidth = 22, kHeight = 14;

TestFrame picture(PixelFormat format, int number, int width = kWidth) {
  TestFrame frame(format, width, kHeight);
  frame.fill(Content::noise, static_cast<std::uint64_t>(number) + 1);
  return frame;
}

/// Calls `visit(i)` for 0 to count - 1 on four threads, the last ones first.
template <typename Visit>
void from_the_end(int count, const Visit& visit) {
  std::atomic<int> left = count;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int at; (at = --left) >= 0;) visit(at);
    });
  for (std::thread& thread : threads) thread.join();
}

template <typename Work, typename Source>
std::vector<Work> all_of(Source& source) {
  std::vector<Work> works;
  for (;;) {
    Work work;
    const Result<bool> more = source.next(work);
    EXPECT_TRUE(more) << why(more);
    if (!more || !*more) return works;
    works.push_back(std::move(work));
  }
}

/// Writes frames 0 to kFrames - 1 by write().
void write_frames(const std::string& path, PixelFormat format) {
  io::SinkOptions options = sink_options(kWidth, kHeight);
  options.overwrite = true;
  auto sink = opened(io::open_frame_sink({path, "", {}}, options));
  for (int i = 0; i < kFrames; ++i) ASSERT_TRUE(sink->write(picture(format, i).view(), {i, 1}));
  ASSERT_TRUE(sink->finish());
}

std::string raw_mjpeg() {
  std::string all;
  for (const Packet& packet : make_packets(kFrames))
    all.append(reinterpret_cast<const char*>(packet.data()), packet.size());
  return all;
}

void expect_same_frames(const std::string& name, const io::SourceOptions& options = {}) {
  const ReadFrames expected = read_frames(name, options);
  ASSERT_GE(expected.samples.size(), 2u) << name;
  auto source = opened(io::open_frames({name, "", {}}, options));
  auto works = all_of<io::FrameWork>(*source);
  ASSERT_EQ(works.size(), expected.samples.size()) << name;
  from_the_end(static_cast<int>(works.size()), [&](int i) {
    io::FrameWork& work = works[static_cast<std::size_t>(i)];
    EXPECT_TRUE(work.load()) << name << i;
  });
  std::set<std::string> names;
  for (std::size_t i = 0; i < works.size(); ++i) {
    EXPECT_EQ(packed(works[i].item), expected.samples[i]) << name << i;
    EXPECT_EQ(works[i].time.pts, expected.times[i].pts) << name << i;
    names.insert(works[i].name);
  }
  EXPECT_EQ(names.size(), works.size()) << name;
}

TEST(Halves, FramesAreLoadedInAnyOrder) {
  const ScratchFolder scratch;
  write_frames(scratch.path("a.y4m"), PixelFormat::yuv420p);
  write_frames(scratch.path("a%d.ppm"), PixelFormat::rgb24);
  std::string stream;
  for (int i = 1; i <= kFrames; ++i)
    stream += text_of(scratch.path("a" + std::to_string(i) + ".ppm"));
  scratch.write("b.pnm", stream);
  scratch.write("c.y4m", std::string("YUV4MPEG2 W4 H2 F25:1 Cmono12\n") +  // converted
                             "FRAME\n0123456789abcdef" + "FRAME\nfedcba9876543210");
  scratch.write("d.pgm", std::string("P5 3 2 15\nabcdef") + "P5 3 2 65535\nabcdefghijkl" +
                             "P2 2 1 9 4 5\n");  // expanded, and text
  scratch.write("e.mjpeg", raw_mjpeg());
  io::SourceOptions rgb;
  rgb.pixel_format = PixelFormat::rgb24;
  for (const char* name : {"a.y4m", "a%d.ppm", "b.pnm", "c.y4m", "d.pgm", "e.mjpeg"}) {
    expect_same_frames(scratch.path(name));
    expect_same_frames(scratch.path(name), rgb);
  }
}

TEST(Halves, FramesOfAPipeAreConvertedInAnyOrder) {
  const ScratchFolder scratch;
  write_frames(scratch.path("a.y4m"), PixelFormat::yuv420p);
  write_frames(scratch.path("a.pnm"), PixelFormat::rgb24);
  scratch.write("b.y4m", std::string("YUV4MPEG2 W4 H2 F25:1 Cmono12\n") +
                             "FRAME\n0123456789abcdef" + "FRAME\nfedcba9876543210");
  const std::string pipe = scratch.path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const char* name : {"a.y4m", "a.pnm", "b.y4m"})
    for (const PixelFormat format : {PixelFormat::rgb24, PixelFormat::yuv420p}) {
      io::SourceOptions options;
      options.pixel_format = format;
      const ReadFrames expected = read_frames(scratch.path(name), options);
      std::thread writer([&] { run("cat '" + scratch.path(name) + "' > '" + pipe + "'"); });
      auto source = io::open_frames({pipe, name[2] == 'y' ? "y4m" : "pnm", {}}, options);
      std::vector<io::FrameWork> works;
      if (source) works = all_of<io::FrameWork>(**source);
      writer.join();
      ASSERT_EQ(works.size(), expected.samples.size()) << name;
      for (std::size_t i = works.size(); i-- > 0;) {
        ASSERT_TRUE(works[i].load()) << name;
        EXPECT_EQ(packed(works[i].item), expected.samples[i]) << name << i;
      }
    }
}

TEST(Halves, ImagesAndContainersAreLoadedInAnyOrder) {
  const ScratchFolder scratch;
  if (!io::features().opencv) GTEST_SKIP() << "this build has no OpenCV";
  write_frames(scratch.path("a%d.png"), PixelFormat::rgb24);
  write_frames(scratch.path("b%d.tiff"), PixelFormat::gray8);
  for (const char* name : {"a%d.png", "b%d.tiff"}) expect_same_frames(scratch.path(name));
}

TEST(Halves, PacketsAreLoadedInAnyOrder) {
  const ScratchFolder scratch;
  const std::vector<Packet> packets = make_packets(kFrames);
  std::vector<std::string> names{"a.mjpeg", "a%d.jpg"};
  if (io::features().ffmpeg) names.insert(names.end(), {"a.mov", "a.mkv"});
  for (const std::string& name : names) {
    write_packets(scratch.path(name), packets);
    auto source = opened(io::open_packets({scratch.path(name), "", {}}, {}));
    auto works = all_of<io::PacketWork>(*source);
    ASSERT_EQ(works.size(), packets.size()) << name;
    from_the_end(kFrames, [&](int i) { EXPECT_TRUE(works[static_cast<std::size_t>(i)].load()); });
    for (std::size_t i = 0; i < packets.size(); ++i)
      EXPECT_EQ(works[i].item, packets[i]) << name << i;
  }
}

TEST(Halves, OneBadFrameIsTheErrorOfItsLoad) {
  const ScratchFolder scratch;
  write_frames(scratch.path("a%d.ppm"), PixelFormat::rgb24);
  scratch.write("a4.ppm", std::string("P6 22 14 255\ncut"));
  auto source = opened(io::open_frames({scratch.path("a%d.ppm"), "", {}}, {}));
  auto works = all_of<io::FrameWork>(*source);
  ASSERT_EQ(works.size(), static_cast<std::size_t>(kFrames));
  for (std::size_t i = works.size(); i-- > 0;) {
    const Status status = works[i].load();
    EXPECT_EQ(status.is_ok(), i != 3) << i;
    if (i == 3) {
      EXPECT_THAT(status.detail(), testing::HasSubstr("a4.ppm"));
    }
  }
}

TEST(Halves, AHeldFrameIsLoadedAgain) {
  const ScratchFolder scratch;
  write_frames(scratch.path("a%d.ppm"), PixelFormat::rgb24);
  std::filesystem::remove(scratch.path("a4.ppm"));
  io::SourceOptions hold;
  hold.missing = io::MissingFrames::hold;
  auto source = opened(io::open_frames({scratch.path("a%d.ppm"), "", {}}, hold));
  auto works = all_of<io::FrameWork>(*source);
  ASSERT_EQ(works.size(), static_cast<std::size_t>(kFrames));
  for (const std::size_t i : {3u, 2u}) {
    ASSERT_TRUE(works[i].load());
    EXPECT_EQ(packed(works[i].item), picture(PixelFormat::rgb24, 2).packed());
  }
}

TEST(Halves, AFileWithOnePictureSaysSo) {
  const ScratchFolder scratch;
  const Packet jpeg = make_packets(1)[0];
  const std::string one(reinterpret_cast<const char*>(jpeg.data()), jpeg.size());
  const std::pair<const char*, std::string> files[] = {
      {"a.ppm", "P6 1 1 255\nabc"}, {"a.pgm", "P2 1 1 255 7\n"}, {"a.mjpeg", one}};
  for (const auto& [name, content] : files) {
    auto single = opened(io::open_frames({scratch.write(name, content), "", {}}, {}));
    EXPECT_EQ(single->info().frame_count, 1) << name;
    auto two = opened(io::open_frames({scratch.write(name, content + content), "", {}}, {}));
    EXPECT_EQ(two->info().frame_count, -1) << name;
  }
}

TEST(Halves, SeekingDropsWhatWasLookedAt) {
  const ScratchFolder scratch;
  scratch.write("a.mjpeg", raw_mjpeg());
  auto source = opened(io::open_packets({scratch.path("a.mjpeg"), "", {}}, {}));
  ASSERT_TRUE(source->seek(6));
  io::PacketWork work;
  ASSERT_TRUE(source->next(work));
  ASSERT_TRUE(work.load());
  EXPECT_EQ(work.item, make_packets(kFrames)[6]);
  EXPECT_EQ(work.time.pts, 6);
}

/// Prepares all frames from the last to the first on four threads and commits them in order.
void write_in_halves(io::FrameSink& sink, PixelFormat format, int committed) {
  std::vector<TestFrame> frames;
  for (int i = 0; i < kFrames; ++i) frames.push_back(picture(format, i));
  std::vector<io::Outgoing> out(kFrames);
  from_the_end(kFrames, [&](int i) {
    const auto at = static_cast<std::size_t>(i);
    out[at].index = i;
    out[at].time = {i, 1};
    EXPECT_TRUE(sink.prepare(std::as_const(frames[at]).view(), out[at])) << i;
  });
  for (int i = 0; i < committed; ++i) {
    const Status status = sink.commit(out[static_cast<std::size_t>(i)]);
    EXPECT_TRUE(status) << status.message();
  }
}

TEST(Halves, FramesArePreparedInAnyOrder) {
  const ScratchFolder scratch;
  const std::pair<const char*, PixelFormat> kinds[] = {{"y4m", PixelFormat::yuv422p},
                                                       {"y4m", PixelFormat::rgb24},
                                                       {"pnm", PixelFormat::rgb24},
                                                       {"ppm", PixelFormat::yuv420p}};
  for (const bool is_told : {false, true})
    for (const auto& [format, pixels] : kinds) {
      const std::string expected = scratch.path("expected"), got = scratch.path("got");
      io::SinkOptions options = sink_options(kWidth, kHeight);
      options.overwrite = true;
      if (is_told) options.frame_format = pixels;
      auto whole = io::open_frame_sink({expected, format, {}}, options);
      auto halves = io::open_frame_sink({got, format, {}}, options);
      ASSERT_TRUE(whole && halves);
      for (int i = 0; i < kFrames; ++i)
        ASSERT_TRUE((*whole)->write(picture(pixels, i).view(), {i, 1}));
      write_in_halves(**halves, pixels, kFrames);
      ASSERT_TRUE((*whole)->finish());
      ASSERT_TRUE((*halves)->finish());
      EXPECT_TRUE(text_of(got) == text_of(expected)) << format;
      EXPECT_EQ((*halves)->bytes_written(), (*whole)->bytes_written()) << format;
    }
}

TEST(Halves, AYuv4mpegFileEndsWithTheLastCommittedFrame) {
  const ScratchFolder scratch;
  io::SinkOptions options = sink_options(kWidth, kHeight);
  options.frame_format = PixelFormat::yuv420p;
  auto sink = opened(io::open_frame_sink({scratch.path("a.y4m"), "", {}}, options));
  write_in_halves(*sink, PixelFormat::yuv420p, 4);
  ASSERT_TRUE(sink->finish());
  const ReadFrames frames = read_frames(scratch.path("a.y4m"));
  ASSERT_EQ(frames.samples.size(), 4u);
  EXPECT_EQ(frames.samples[3], picture(PixelFormat::yuv420p, 3).packed());
}

TEST(Halves, AFrameOfAnotherSizeIsItsOwnError) {
  const ScratchFolder scratch;
  auto sink = opened(io::open_frame_sink({scratch.path("a.y4m"), "", {}}, sink_options()));
  const TestFrame first = picture(PixelFormat::yuv420p, 0);
  const TestFrame second = picture(PixelFormat::yuv420p, 1, kWidth + 2);
  io::Outgoing out[2];
  out[1].index = 1;
  // Nothing is known of the first frame yet.
  ASSERT_TRUE(sink->prepare(second.view(), out[1]));
  ASSERT_TRUE(sink->prepare(first.view(), out[0]));
  ASSERT_TRUE(sink->commit(out[0]));
  EXPECT_EQ(sink->commit(out[1]).code(), Errc::unsupported_output);
}

TEST(Halves, CommitsComeInOrder) {
  auto sink = opened(io::open_packet_sink({"null:", "", {}}, sink_options()));
  const Packet packet = make_packets(1)[0];
  io::Outgoing out;
  out.index = 1;
  ASSERT_TRUE(sink->prepare(packet, out));
  EXPECT_EQ(sink->commit(out).code(), Errc::invalid_argument);
}

}  // namespace
}  // namespace zerorun::test
