// AVI without FFmpeg: what is written is read back; indices that lie, cut and damaged files, pipes.
// SPDX-License-Identifier: MIT
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

#include "io/avi/riff.hpp"
#include "io/readers.hpp"
#include "io/sinks.hpp"
#include "tests/io/support.hpp"

namespace zerorun::test {
namespace {

using io::riff::Builder;

io::FrameTime at(std::int64_t number) { return {number, 1}; }

/// As io::open_packets() where there is no FFmpeg.
Result<std::unique_ptr<io::PacketSource>> open(const std::string& path) {
  auto bytes = io::ByteReader::open(path);
  if (!bytes) return bytes.status();
  auto reader = io::open_avi(*std::move(bytes));
  if (!reader) return reader.status();
  return io::select_packets(*std::move(reader), {});
}

void write_frames(const std::string& path, const std::vector<Packet>& packets,
                  const io::SinkOptions& options, std::int64_t most_riff_bytes = 1 << 30,
                  const std::vector<std::int64_t>& times = {}) {
  auto file = io::OutputFile::create(path, true);
  ASSERT_TRUE(file) << why(file);
  auto sink = io::make_avi_sink(*std::move(file), options, most_riff_bytes);
  ASSERT_TRUE(sink) << why(sink);
  for (std::size_t i = 0; i < packets.size(); ++i)
    ASSERT_TRUE((*sink)->write(packets[i], at(times.empty() ? std::int64_t(i) : times[i])));
  const Status status = (*sink)->finish();
  ASSERT_TRUE(status) << status.message();
}

Packet file_bytes(const std::string& path) {
  const std::string text = text_of(path);
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::size_t find(const Packet& file, std::string_view id, std::size_t from = 0) {
  const auto bytes = std::as_bytes(std::span(id));
  const auto found = std::search(file.begin() + static_cast<std::ptrdiff_t>(from), file.end(),
                                 bytes.begin(), bytes.end());
  return static_cast<std::size_t>(found - file.begin());
}

void put_u32(Packet& file, std::size_t at, std::uint32_t value) {
  for (std::size_t i = 0; i < 4; ++i) file[at + i] = static_cast<std::byte>(value >> (8 * i));
}

/// Packets of odd and even sizes.
std::vector<Packet> odd_and_even(int count) {
  std::vector<Packet> packets = make_packets(count);
  for (std::size_t i = 0; i < packets.size(); i += 2)
    if (packets[i].size() % 2 == packets[i + 1 < packets.size() ? i + 1 : 0].size() % 2)
      packets[i].push_back(std::byte{0});
  return packets;
}

TEST(Avi, GivesThePacketsBack) {
  const ScratchFolder scratch;
  const std::vector<Packet> packets = odd_and_even(11);
  io::SinkOptions options = sink_options();
  options.frame_rate = {30000, 1001};
  options.time_base = {1001, 30000};
  options.sample_aspect = {16, 11};
  options.content.tags = {{"title", "Ein Lied"}, {"artist", "odd"}, {"no place", "for this"}};
  options.content.timecode = "01:02:03:04";
  write_frames(scratch.path("a.avi"), packets, options);
  auto source = open(scratch.path("a.avi"));
  ASSERT_TRUE(source) << why(source);
  const io::SourceInfo& info = (*source)->info();
  EXPECT_EQ(info.container, "avi");
  EXPECT_EQ(info.codec, "mjpeg");
  EXPECT_EQ(info.width, 64);
  EXPECT_EQ(info.height, 48);
  EXPECT_EQ(info.frame_rate, (io::Rational{30000, 1001}));
  EXPECT_EQ(info.sample_aspect, (io::Rational{16, 11}));
  EXPECT_EQ(info.frame_count, 11);
  EXPECT_NEAR(info.duration_seconds, 11 * 1001 / 30000.0, 1e-9);
  EXPECT_EQ(info.missing_bytes, 0);
  EXPECT_FALSE(info.variable_frame_rate);
  EXPECT_EQ(info.content.tags, (std::vector<std::pair<std::string, std::string>>{
                                   {"title", "Ein Lied"}, {"artist", "odd"}}));
  EXPECT_EQ(info.content.timecode, "01:02:03:04");
  const ReadPackets read = read_all(**source);
  EXPECT_EQ(read.packets, packets);
  for (std::size_t i = 0; i < read.times.size(); ++i)
    EXPECT_EQ(read.times[i].pts, static_cast<std::int64_t>(i));
  EXPECT_EQ((*source)->skipped_bytes(), 0);
}

TEST(Avi, SeeksAnyFrame) {
  const ScratchFolder scratch;
  const std::vector<Packet> packets = make_packets(9);
  write_frames(scratch.path("a.avi"), packets, sink_options());
  auto source = open(scratch.path("a.avi"));
  ASSERT_TRUE(source) << why(source);
  ASSERT_TRUE((*source)->can_seek());
  Packet packet;
  io::FrameTime time;
  for (const int frame : {8, 0, 5, 99, -3, 1}) {
    const int wanted = std::clamp(frame, 0, 8);
    auto found = (*source)->seek(frame);
    ASSERT_TRUE(found) << why(found);
    EXPECT_EQ(*found, wanted);
    ASSERT_TRUE(*(*source)->read(packet, time));
    EXPECT_EQ(packet, packets[static_cast<std::size_t>(wanted)]);
    EXPECT_EQ(time.pts, wanted);
  }
}

/// With several RIFF lists, as from 1 GB on, an index of OpenDML finds all of them.
TEST(Avi, HasAnyNumberOfLists) {
  const ScratchFolder scratch;
  const std::vector<Packet> packets = odd_and_even(40);
  const auto most = static_cast<std::int64_t>(6 * packets[1].size() + 8000);
  write_frames(scratch.path("a.avi"), packets, sink_options(), most);
  Packet file = file_bytes(scratch.path("a.avi"));
  EXPECT_LT(find(file, "AVIX"), file.size());
  auto source = open(scratch.path("a.avi"));
  ASSERT_TRUE(source) << why(source);
  EXPECT_EQ((*source)->info().frame_count, 40);
  EXPECT_EQ(read_all(**source).packets, packets);
  // Without any index, and with that of the first list alone.
  for (const char* gone : {"indx", "idx1"}) {
    std::memcpy(file.data() + find(file, gone), "JUNK", 4);
    auto walked = open(scratch.write("b.avi", file));
    ASSERT_TRUE(walked) << why(walked);
    EXPECT_EQ(read_all(**walked).packets, packets) << gone;
  }
}

/// Players believe the indices; our own reader would find the pictures without them.
TEST(Avi, IndicesSayWhereThePicturesAre) {
  const ScratchFolder scratch;
  const std::vector<Packet> packets = odd_and_even(20);
  const auto most = static_cast<std::int64_t>(6 * packets[1].size() + 8000);
  write_frames(scratch.path("a.avi"), packets, sink_options(), most);
  const Packet file = file_bytes(scratch.path("a.avi"));
  const auto u32 = [&](std::size_t at) {
    return std::size_t{io::riff::number_at<std::uint32_t>(file, at)};
  };
  std::size_t listed = 0;
  const auto expect_picture = [&](std::size_t header) {
    ASSERT_EQ(find(file, "00dc", std::min(header, file.size())), header);
    EXPECT_EQ(Packet(file.begin() + std::ptrdiff_t(header + 8),
                     file.begin() + std::ptrdiff_t(header + 8 + u32(header + 4))),
              packets[listed++]);
  };
  const std::size_t super = find(file, "indx");
  const std::size_t lists = u32(super + 12);
  ASSERT_GT(lists, 1u);
  for (std::size_t list = 0; list < lists; ++list) {
    const std::size_t place = super + 8 + 24 + 16 * list;
    const std::size_t part = u32(place);
    ASSERT_EQ(find(file, "ix00", part), part);
    EXPECT_EQ(u32(place + 8), u32(part + 4) + 8);
    EXPECT_EQ(u32(place + 12), u32(part + 12));
    const std::size_t base = u32(part + 8 + 12);
    for (std::size_t i = 0; i < u32(part + 12); ++i)
      expect_picture(base + u32(part + 32 + 8 * i) - 8);
  }
  EXPECT_EQ(listed, packets.size());
  listed = 0;  // idx1 has those of the first list
  const std::size_t old = find(file, "idx1"), movi = find(file, "movi");
  for (std::size_t i = 0; i < u32(old + 4) / 16; ++i) expect_picture(movi + u32(old + 16 + 16 * i));
  EXPECT_EQ(listed, u32(super + 8 + 24 + 12));
}

TEST(Avi, ChunksWithoutDataRepeatAPicture) {
  const ScratchFolder scratch;
  const std::vector<Packet> packets = make_packets(4);
  write_frames(scratch.path("a.avi"), packets, sink_options(), 1 << 30, {0, 3, 4, 9});
  auto source = open(scratch.path("a.avi"));
  ASSERT_TRUE(source) << why(source);
  EXPECT_TRUE((*source)->info().variable_frame_rate);
  EXPECT_EQ((*source)->info().frame_count, 4);
  const ReadPackets read = read_all(**source);
  EXPECT_EQ(read.packets, packets);
  std::vector<std::int64_t> times, durations;
  for (const io::FrameTime& time : read.times) {
    times.push_back(time.pts);
    durations.push_back(time.duration);
  }
  EXPECT_EQ(times, (std::vector<std::int64_t>{0, 3, 4, 9}));
  EXPECT_EQ(durations, (std::vector<std::int64_t>{3, 1, 5, 1}));

  // Every second chunk empty: half the rate, and constant.
  write_frames(scratch.path("b.avi"), packets, sink_options(), 1 << 30, {0, 2, 4, 6});
  auto even = open(scratch.path("b.avi"));
  ASSERT_TRUE(even) << why(even);
  EXPECT_FALSE((*even)->info().variable_frame_rate);
  EXPECT_EQ((*even)->info().frame_rate, (io::Rational{15000, 1001}));
}

TEST(Avi, AnIndexThatLiesIsNotBelieved) {
  const ScratchFolder scratch;
  const std::vector<Packet> packets = make_packets(12);
  write_frames(scratch.path("a.avi"), packets, sink_options());
  const Packet good = file_bytes(scratch.path("a.avi"));
  const std::size_t parts = find(good, "ix00", find(good, "movi")), old = find(good, "idx1");
  const auto check = [&](const Packet& file, const std::string& what) {
    auto source = open(scratch.write("b.avi", file));
    ASSERT_TRUE(source) << what << why(source);
    EXPECT_EQ(read_all(**source).packets, packets) << what;
  };
  const auto both = [&](std::size_t in_parts, std::size_t in_old, std::uint32_t value) {
    Packet file = good;
    put_u32(file, parts + in_parts, value);
    put_u32(file, old + in_old, value);
    check(file, "index with " + std::to_string(value) + " at " + std::to_string(in_old));
  };
  constexpr std::size_t kPart = 8 + 24, kOld = 8;  // the first entries
  for (const std::uint32_t value : {0u, 1u, 77u, 0x7FFFFFFFu, 0xFFFFFFFFu}) {
    both(kPart, kOld + 8, value);           // an offset
    both(kPart + 8, kOld + 16 + 8, value);  // another one
    both(kPart + 4, kOld + 12, value);      // a size
    both(kPart + 11 * 8 + 4, kOld + 11 * 16 + 12, value);
    both(8 + 4, 4, value);  // how many there are
  }
  Packet fewer = good;  // the count of the headers
  put_u32(fewer, find(good, "dmlh") + 8, 11);
  put_u32(fewer, find(good, "strh") + 8 + 32, 11);
  check(fewer, "header");
}

/// The places of the index of indices that a small file does not need.
bool is_unused(const Packet& file, std::size_t at) {
  const std::size_t super = find(file, "indx");
  return at > super + 64 && at < super + 4000;
}

/// Every cut gives whole pictures from the start, or an error.
TEST(Avi, EveryCut) {
  const ScratchFolder scratch;
  const std::vector<Packet> packets = make_packets(3, 16, 16);
  write_frames(scratch.path("a.avi"), packets, sink_options());
  const Packet good = file_bytes(scratch.path("a.avi"));
  std::size_t most = 0;
  for (std::size_t size = 0; size < good.size(); ++size) {
    if (is_unused(good, size)) continue;
    auto source =
        open(scratch.write("b.avi", Packet(good.begin(), good.begin() + std::ptrdiff_t(size))));
    if (!source) continue;
    const ReadPackets read = read_all(**source);
    ASSERT_LE(read.packets.size(), packets.size()) << size;
    for (std::size_t i = 0; i < read.packets.size(); ++i)
      ASSERT_EQ(read.packets[i], packets[i]) << size;
    ASSERT_GE(read.packets.size(), most) << size;  // a longer file holds no fewer
    most = std::max(most, read.packets.size());
    ASSERT_GT((*source)->info().missing_bytes, size + 8 < good.size() ? 0 : -1) << size;
  }
  EXPECT_EQ(most, packets.size());
}

/// Every byte of headers and indices with other values: no crash, no hang, no huge memory.
TEST(Avi, EveryByte) {
  const ScratchFolder scratch;
  const std::vector<Packet> packets = make_packets(3, 16, 16);
  write_frames(scratch.path("a.avi"), packets, sink_options());
  const Packet good = file_bytes(scratch.path("a.avi"));
  const std::size_t pictures = find(good, "00dc", find(good, "movi"));
  int whole = 0;
  for (std::size_t i = 0; i < good.size(); ++i) {
    if (is_unused(good, i)) continue;
    if (i > pictures + 64 && i < find(good, "ix00", pictures)) continue;
    for (const int value : {0, 0x7F, 0xFF}) {
      Packet file = good;
      file[i] = static_cast<std::byte>(value);
      auto source = open(scratch.write("b.avi", file));
      if (source) whole += read_all(**source).packets == packets;
    }
  }
  EXPECT_GT(whole, 500);
}

TEST(Avi, GoesOnBehindDamage) {
  const ScratchFolder scratch;
  const std::vector<Packet> packets = make_packets(5);
  write_frames(scratch.path("a.avi"), packets, sink_options());
  Packet file = file_bytes(scratch.path("a.avi"));
  file.resize(find(file, "ix00", find(file, "movi")));  // no index
  std::size_t third = find(file, "movi");
  for (int i = 0; i < 3; ++i) third = find(file, "00dc", third + 1);
  put_u32(file, third + 4, 0x7FFFFFFF);  // a chunk that ends nowhere
  auto source = open(scratch.write("b.avi", file));
  ASSERT_TRUE(source) << why(source);
  EXPECT_EQ(read_all(**source).packets,
            (std::vector<Packet>{packets[0], packets[1], packets[3], packets[4]}));
  EXPECT_EQ((*source)->skipped_bytes(),
            static_cast<std::int64_t>(8 + packets[2].size() + packets[2].size() % 2));
}

/// As a killed process leaves it: sizes unknown, no index.
TEST(Avi, AnUnfinishedFileHasItsFrames) {
  const ScratchFolder scratch;
  const std::vector<Packet> packets = make_packets(6);
  auto file = io::OutputFile::create(scratch.path("a.avi"), false);
  ASSERT_TRUE(file) << why(file);
  auto sink = io::make_avi_sink(*std::move(file), sink_options());
  ASSERT_TRUE(sink) << why(sink);
  for (std::size_t i = 0; i < packets.size(); ++i)
    ASSERT_TRUE((*sink)->write(packets[i], at(static_cast<std::int64_t>(i))));
  auto source = open(scratch.path("a.avi.part"));
  ASSERT_TRUE(source) << why(source);
  EXPECT_EQ((*source)->info().missing_bytes, 0);
  EXPECT_EQ(read_all(**source).packets, packets);
}

/// Through a pipe in both directions.
TEST(Avi, FlowsThroughAPipe) {
  const ScratchFolder scratch;
  const std::string pipe = scratch.path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::vector<Packet> packets = odd_and_even(7);
  std::thread writer([&] {
    write_frames(pipe, packets, sink_options(), 1 << 30, {0, 1, 2, 5, 6, 7, 8});
  });
  auto source = open(pipe);
  if (source) {
    EXPECT_FALSE((*source)->can_seek());
    const ReadPackets read = read_all(**source);
    EXPECT_EQ(read.packets, packets);
    EXPECT_EQ(read.times[3].pts, 5);
  }
  writer.join();
  EXPECT_TRUE(source) << why(source);
}

/// A stream of another kind, and sound, as cameras write them: lists of chunks that belong
/// together.
TEST(Avi, FindsTheVideoAmongOtherStreams) {
  const ScratchFolder scratch;
  const std::vector<Packet> packets = make_packets(2);
  const auto stream = [](Builder& out, std::string_view type, std::string_view codec) {
    const auto list = out.open_list("LIST", "strl");
    const auto header = out.open("strh");
    out.text(type);
    out.text(codec);
    for (int i = 0; i < 3; ++i) out.u32(0);
    out.u32(1);
    out.u32(10);
    for (int i = 0; i < 7; ++i) out.u32(0);
    out.close(header);
    const auto format = out.open("strf");
    out.u32(40);
    out.u32(64);
    out.u32(static_cast<std::uint32_t>(-48));
    out.u32(0);
    out.text(codec);
    out.close(format);
    out.close(list);
  };
  Builder out;
  const auto riff = out.open_list("RIFF", "AVI ");
  const auto headers = out.open_list("LIST", "hdrl");
  stream(out, "auds", "\1\0\0\0");
  stream(out, "vids", "mjpg");
  out.close(headers);
  const auto junk = out.open("JUNK");
  out.text("00dc is not meant, 01dc neither");
  out.close(junk);
  const auto movi = out.open_list("LIST", "movi");
  for (const Packet& packet : packets) {
    const auto record = out.open_list("LIST", "rec ");
    const auto sound = out.open("00wb");
    out.text("sound");
    out.close(sound);
    const auto picture = out.open("01dc");
    for (const std::byte byte : packet) out.number(std::to_integer<std::uint64_t>(byte), 1);
    out.close(picture);
    out.close(record);
  }
  out.close(movi);
  out.close(riff);
  auto source = open(scratch.write("a.avi", out.bytes()));
  ASSERT_TRUE(source) << why(source);
  EXPECT_TRUE((*source)->info().has_audio);
  EXPECT_EQ((*source)->info().frame_rate, (io::Rational{10, 1}));
  EXPECT_EQ((*source)->info().height, 48);
  EXPECT_EQ(read_all(**source).packets, packets);
}

TEST(Avi, RefusesWhatItCannotRead) {
  const ScratchFolder scratch;
  const std::vector<Packet> packets = make_packets(1);
  write_frames(scratch.path("a.avi"), packets, sink_options());
  Packet other = file_bytes(scratch.path("a.avi"));
  const std::size_t data = find(other, "00dc", find(other, "movi")) + 8;
  other[data] = std::byte{0};
  std::memcpy(other.data() + find(other, "MJPG", find(other, "strf")), "H264", 4);
  EXPECT_EQ(open(scratch.write("b.avi", other)).status().code(), Errc::unknown_format);
  EXPECT_EQ(open(scratch.write("c.avi", std::string("RIFF"))).status().code(), Errc::bad_input);
  Packet no_picture = file_bytes(scratch.path("a.avi"));
  no_picture.resize(find(no_picture, "00dc", find(no_picture, "movi")));
  EXPECT_EQ(open(scratch.write("d.avi", no_picture)).status().code(), Errc::unknown_format);
}

TEST(Avi, RefusesWhatItCannotWrite) {
  const ScratchFolder scratch;
  const auto make = [&](const io::SinkOptions& options) {
    auto file = io::OutputFile::create(scratch.path("a.avi"), true);
    return io::make_avi_sink(*std::move(file), options).status().code();
  };
  io::SinkOptions options = sink_options();
  options.frame_rate = {};
  EXPECT_EQ(make(options), Errc::invalid_argument);
  options.frame_rate = {INT64_MAX, 2};
  EXPECT_EQ(make(options), Errc::invalid_argument);
  options = sink_options();
  options.width = 65536;
  EXPECT_EQ(make(options), Errc::invalid_argument);

  options = sink_options();
  options.rotation_degrees = 90;
  options.audio_from = "some.wav";
  options.content.timecode = "01:00:00:00";
  options.first_frame = 5;
  auto sink = io::make_avi_sink(*io::OutputFile::create(scratch.path("a.avi"), true), options);
  ASSERT_TRUE(sink) << why(sink);
  EXPECT_THAT((*sink)->notice(), testing::HasSubstr("audio"));
  EXPECT_THAT((*sink)->notice(), testing::HasSubstr("time code"));
  EXPECT_THAT((*sink)->notice(), testing::HasSubstr("90 degrees"));
  const Packet text(100, std::byte{'a'});
  EXPECT_EQ((*sink)->write(text, at(0)).code(), Errc::invalid_argument);
  EXPECT_EQ((*sink)->finish().code(), Errc::unsupported_output);  // no frame
  const std::vector<Packet> packets = make_packets(2);
  ASSERT_TRUE((*sink)->write(packets[0], at(0)));
  EXPECT_EQ((*sink)->write(packets[1], at(100'000)).code(), Errc::unsupported_output);
}

}  // namespace
}  // namespace zerorun::test
