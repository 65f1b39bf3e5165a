// Raw Motion JPEG: cut at the right bytes, junk counted, truncation, frames through the decoder.
// SPDX-License-Identifier: MIT
#include "io/mjpeg/jpeg_splitter.hpp"

#include <utility>

#include "tests/io/support.hpp"
#include "tests/support/libjpeg_encode.hpp"
#include "tests/support/resources.hpp"
#include "tests/support/test_data.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun::test {
namespace {

Result<std::unique_ptr<io::PacketSource>> open_mjpeg(const std::string& path,
                                                     const io::SourceOptions& options = {}) {
  return io::open_packets({path, "", {}}, options);
}

Packet bytes(std::initializer_list<int> values) {
  Packet out;
  for (const int value : values) out.push_back(static_cast<std::byte>(value));
  return out;
}

Packet join(const std::vector<Packet>& parts) {
  Packet all;
  for (const Packet& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

/// `jpeg` with an APP1 that holds a whole JPEG, as EXIF thumbnails do.
Packet with_thumbnail(const Packet& jpeg, const Packet& thumbnail) {
  const std::size_t length = thumbnail.size() + 2;
  Packet out = bytes(
      {0xFF, 0xD8, 0xFF, 0xE1, static_cast<int>(length >> 8), static_cast<int>(length & 255)});
  out.insert(out.end(), thumbnail.begin(), thumbnail.end());
  out.insert(out.end(), jpeg.begin() + 2, jpeg.end());
  return out;
}

TEST(RawMjpeg, WritesAndReadsBack) {
  const ScratchFolder scratch;
  std::vector<Packet> packets = make_packets(5);
  packets.push_back(make_packets(1, 200, 100)[0]);  // another size
  auto sink = opened(io::open_packet_sink({scratch.path("a.mjpeg"), "", {}}, sink_options()));
  for (const Packet& packet : packets) ASSERT_TRUE(sink->write(packet, {}));
  EXPECT_EQ(sink->write(bytes({1, 2, 3}), {}).code(), Errc::invalid_argument);
  ASSERT_TRUE(sink->finish());
  auto source = opened(open_mjpeg(scratch.path("a.mjpeg")));
  EXPECT_EQ(source->info().width, 64);
  EXPECT_EQ(source->info().codec, "mjpeg");
  EXPECT_EQ(source->info().container, "mjpeg");
  EXPECT_TRUE(source->info().is_jpeg);
  EXPECT_FALSE(source->info().frame_rate.known());
  EXPECT_EQ(read_all(*source).packets, packets);
  EXPECT_EQ(source->skipped_bytes(), 0);
}

TEST(RawMjpeg, ThumbnailsDoNotSplitAFrame) {
  const ScratchFolder scratch;
  const std::vector<Packet> plain = make_packets(3);
  const std::vector<Packet> packets{with_thumbnail(plain[0], plain[1]), plain[2],
                                    with_thumbnail(plain[1], plain[2])};
  EXPECT_EQ(read_packets(scratch.write("a.mjpeg", join(packets))).packets, packets);
}

TEST(RawMjpeg, JunkIsSkippedAndCounted) {
  const ScratchFolder scratch;
  const std::vector<Packet> packets = make_packets(2);
  const Packet junk = bytes({0, 0xFF, 0xD8, 0x12, 0xFF, 0xFF, 0xFF, 0});
  auto source = opened(open_mjpeg(scratch.write(
      "a.mjpeg", join({junk, packets[0], junk, junk, packets[1], bytes({0xFF, 0xD8})}))));
  EXPECT_EQ(read_all(*source).packets, packets);
  EXPECT_EQ(source->skipped_bytes(), 3 * 8 + 2);
}

TEST(RawMjpeg, AMissingEndDoesNotSwallowTheNextImage) {
  const ScratchFolder scratch;
  std::vector<Packet> packets = make_packets(3);
  packets[0].resize(packets[0].size() - 2);
  packets[2].resize(packets[2].size() / 2);
  EXPECT_EQ(read_packets(scratch.write("a.mjpeg", join(packets))).packets, packets);
}

TEST(RawMjpeg, EveryCutOfTheFileEndsInTime) {
  const ScratchFolder scratch;
  const Packet whole = join(make_packets(2, 16, 16));
  const std::size_t first = make_packets(1, 16, 16)[0].size();
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    const std::string path = scratch.write(
        "a.mjpeg", Packet(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)));
    auto source = open_mjpeg(path);
    if (length < 3) {
      ASSERT_FALSE(source);
      EXPECT_EQ(source.status().code(), Errc::bad_input);
      continue;
    }
    ASSERT_TRUE(source) << length << why(source);
    const ReadPackets read = read_all(**source);
    ASSERT_EQ(read.packets.size(), length >= first + 3 ? 2u : 1u) << length;
    std::size_t total = static_cast<std::size_t>((*source)->skipped_bytes());
    for (const Packet& packet : read.packets) total += packet.size();
    EXPECT_EQ(total, length);
  }
}

/// An empty scan header, and `length` coded bytes with stuffed ones and restart markers.
Packet coded(std::size_t length, std::size_t seed) {
  Packet out = bytes({0xFF, 0xDA, 0, 2});
  while (length > 0) {
    const std::size_t kind = (length + seed) % 97;
    const bool is_pair = length > 1 && kind % 32 == 0;
    if (is_pair) out.push_back(std::byte{0xFF});
    const std::size_t value = kind == 0 ? 0 : is_pair ? 0xD0 + length % 8 : kind;
    out.push_back(static_cast<std::byte>(value));
    length -= is_pair ? 2 : 1;
  }
  return out;
}

TEST(RawMjpeg, MarkersAreFoundWhereverTheyLie) {
  // The search takes many bytes at a time: here scans begin and end at each of them.
  const ScratchFolder scratch;
  const Packet soi = bytes({0xFF, 0xD8}), eoi = bytes({0xFF, 0xD9});
  const Packet comment = join({bytes({0xFF, 0xFE, 0, 6}), soi, eoi});  // its ends do not count
  std::vector<Packet> packets;
  for (std::size_t length = 0; length < 700; ++length)
    packets.push_back(join({soi, coded(length, 0), comment, coded(699 - length, length), eoi}));
  auto reader = io::ByteReader::open(scratch.write("a.mjpeg", join(packets)));
  ASSERT_TRUE(reader) << why(reader);
  io::JpegSplitter splitter(*std::move(reader));
  Packet found;
  for (const Packet& packet : packets) {
    const auto more = splitter.next(found);
    ASSERT_TRUE(more && *more);
    ASSERT_EQ(found, packet);
  }
  EXPECT_EQ(splitter.skipped_bytes(), 0);
}

TEST(RawMjpeg, NoisePassesInBoundedMemory) {
  const ScratchFolder scratch;
  Packet noise(std::size_t{64} << 20, std::byte{0x55});
  for (std::size_t i = 0; i < noise.size(); i += 3) noise[i] = std::byte{0xFF};
  const std::string path = scratch.write("a.mjpeg", noise);
  const PeakMemory peak;
  auto source = open_mjpeg(path);
  ASSERT_FALSE(source);
  EXPECT_EQ(source.status().code(), Errc::bad_input);
  // Where there are many cores, a few blocks of a megabyte are read ahead.
  EXPECT_LT(peak.growth_bytes(), std::size_t{16} << 20);
}

TEST(RawMjpeg, RefusesAVariableRate) {
  const ScratchFolder scratch;
  io::SinkOptions options = sink_options();
  options.variable_frame_rate = true;
  EXPECT_EQ(io::open_packet_sink({scratch.path("a.mjpeg"), "", {}}, options).status().code(),
            Errc::unsupported_output);
  EXPECT_TRUE(scratch.names().empty());
}

TEST(JpegFiles, OneFileAndASequence) {
  const ScratchFolder scratch;
  const std::vector<Packet> packets = make_packets(3);
  auto sink = io::open_packet_sink({scratch.path("f%03d.jpg"), "", 8}, sink_options());
  ASSERT_TRUE(sink) << why(sink);
  for (const Packet& packet : packets) ASSERT_TRUE((*sink)->write(packet, {}));
  ASSERT_TRUE((*sink)->finish());
  EXPECT_THAT(scratch.names(), testing::ElementsAre("f008.jpg", "f009.jpg", "f010.jpg"));
  auto source = open_mjpeg(scratch.path("f%03d.jpg"));
  ASSERT_TRUE(source) << why(source);
  EXPECT_EQ((*source)->info().frame_count, 3);
  EXPECT_EQ((*source)->info().container, "image sequence");
  EXPECT_EQ(read_all(**source).packets, packets);

  sink = io::open_packet_sink({scratch.path("one.jpg"), "", {}}, sink_options());
  ASSERT_TRUE(sink);
  ASSERT_TRUE((*sink)->write(packets[0], {}));
  EXPECT_EQ((*sink)->write(packets[1], {}).code(), Errc::unsupported_output);
  ASSERT_TRUE((*sink)->finish());
  source = open_mjpeg(scratch.path("one.jpg"));
  ASSERT_TRUE(source);
  EXPECT_EQ((*source)->info().container, "image");
  EXPECT_THAT(read_all(**source).packets, testing::ElementsAre(packets[0]));
}

TEST(JpegFiles, OtherInputsAreNotPackets) {
  const ScratchFolder scratch;
  EXPECT_EQ(open_mjpeg(scratch.write("a.y4m", "YUV4MPEG2 W1 H1 Cmono\nFRAME\nx")).status().code(),
            Errc::unknown_format);
  EXPECT_EQ(open_mjpeg(scratch.write("a.ppm", "P5 1 1 255\nx")).status().code(),
            Errc::unknown_format);
}

TEST(JpegFrames, AreDecodedByTheProject) {
  const ScratchFolder scratch;
  for (const Subsampling sampling : {Subsampling::s420, Subsampling::s422, Subsampling::s444,
                                     Subsampling::s440, Subsampling::s411, Subsampling::gray}) {
    const std::vector<Packet> packets = make_packets(2, 50, 30, sampling);
    io::SourceInfo info;
    const ReadFrames read = read_frames(scratch.write("a.mjpeg", join(packets)), {}, &info);
    EXPECT_EQ(info.format, planar_format(sampling));
    ASSERT_EQ(read.samples.size(), 2u);
    auto decoder = Decoder::create();
    ASSERT_TRUE(decoder);
    Frame frame;
    ASSERT_TRUE(decoder->decode(packets[1], planar_format(sampling), frame));
    EXPECT_EQ(read.samples[1], packed(frame));
  }
}

TEST(JpegFrames, ADamagedFrameIsAnErrorAndTheNextOneComes) {
  const ScratchFolder scratch;
  std::vector<Packet> packets = make_packets(3);
  packets[1] = bytes({0xFF, 0xD8, 0xFF, 0xD9});  // no image inside
  auto source = opened(io::open_frames({scratch.write("a.mjpeg", join(packets)), "", {}}, {}));
  Frame frame;
  io::FrameTime time;
  ASSERT_TRUE(source->read(frame, time));
  auto bad = source->read(frame, time);
  ASSERT_FALSE(bad);
  EXPECT_EQ(group(bad.status().code()), ErrorGroup::corrupt);
  EXPECT_THAT(bad.status().detail(), testing::HasSubstr("frame 1"));
  auto third = source->read(frame, time);
  ASSERT_TRUE(third && *third);
  EXPECT_EQ(time.pts, 2);
}

TEST(JpegFrames, ConcealedOnesAreCounted) {
  const ScratchFolder scratch;
  std::vector<Packet> packets = make_packets(2, 160, 160);
  packets[0].resize(packets[0].size() / 2);
  auto source = opened(io::open_frames({scratch.write("a.mjpeg", join(packets)), "", {}}, {}));
  EXPECT_EQ(read_all(*source).samples.size(), 2u);
  EXPECT_EQ(source->concealed_frames(), 1);
}

TEST(RawMjpeg, TheCorpusHasTheFramesThatFfmpegFinds) {
  const auto data = test_data();
  if (!data) GTEST_SKIP() << kNoTestData;
  for (const char* file : {"raw_420.mjpeg", "raw_resolution_change.mjpeg"}) {
    const std::filesystem::path path = *data / "containers" / file;
    const std::vector<Row> rows = read_tsv(path.string() + ".frames.tsv");
    const ReadPackets read = read_packets(path.string());
    ASSERT_EQ(read.packets.size(), rows.size()) << file;
    for (std::size_t i = 0; i < rows.size(); ++i)
      EXPECT_EQ(std::to_string(read.packets[i].size()), rows[i].at("bytes")) << file << i;
  }
}

}  // namespace
}  // namespace zerorun::test
