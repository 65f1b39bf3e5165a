// Video decoded by NVDEC: the frames, times and streams of the CPU's decoder, or the reason why
// not.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/gpu.hpp"
#include "tests/support/test_data.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/encoder.hpp"
#include "zerorun/io.hpp"

namespace zerorun::test {
namespace {

namespace fs = std::filesystem;

constexpr int kFrames = 40;

std::vector<fs::path> videos() {
  std::vector<fs::path> found;
  const auto data = test_data();
  if (!data || !fs::is_directory(*data / "video")) return found;
  for (const auto& entry : fs::directory_iterator(*data / "video"))
    if (entry.path().extension() == ".mp4" || entry.path().extension() == ".mkv")
      found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

std::unique_ptr<io::FrameSource> open(const fs::path& path, bool hardware) {
  io::SourceOptions options;
  options.hardware_video = hardware;
  auto source = io::open_frames({path.string(), "", {}}, options);
  EXPECT_TRUE(source) << source.status().message();
  return source ? *std::move(source) : nullptr;
}

bool same_samples(const Frame& a, const Frame& b) {
  return a.format() == b.format() && a.width() == b.width() && packed(a) == packed(b);
}

/// Without a GPU a request for NVDEC gives the same frames from the CPU, and the reason.
TEST(HardwareVideo, FramesAndTimesAreTheCpus) {
  if (videos().empty()) GTEST_SKIP() << kNoTestData;
  for (const fs::path& path : videos()) {
    SCOPED_TRACE(path.filename());
    const auto cpu = open(path, false), asked = open(path, true);
    ASSERT_TRUE(cpu && asked);
    EXPECT_EQ(cpu->info().decoder, "");
    const std::string& decoder = asked->info().decoder;
    EXPECT_TRUE(decoder == "NVDEC" || decoder.starts_with("the CPU (")) << decoder;
    std::cout << path.filename().string() << ": " << decoder << std::endl;
    Frame expected, found;
    io::FrameTime expected_time, found_time;
    for (int i = 0; i < kFrames; ++i) {
      const auto one = cpu->read(expected, expected_time), other = asked->read(found, found_time);
      ASSERT_TRUE(one && other) << other.status().message();
      ASSERT_EQ(*one, *other) << i;
      if (!*one) break;
      ASSERT_TRUE(same_samples(expected, found)) << i;
      ASSERT_EQ(expected_time.pts, found_time.pts) << i;
      ASSERT_EQ(expected_time.duration, found_time.duration) << i;
    }
  }
}

class NvdecParity : public GpuTest {};

TEST_F(NvdecParity, StreamsOfSurfacesAreTheCpus) {
  if (videos().empty()) GTEST_SKIP() << kNoTestData;
  EncodeParams params;
  params.backend = Backend::cpu;
  auto on_cpu = Encoder::create(params);
  params.backend = Backend::cuda;
  auto on_cuda = Encoder::create(params);
  ASSERT_TRUE(on_cpu && on_cuda);
  int surfaces = 0;
  for (const fs::path& path : videos()) {
    SCOPED_TRACE(path.filename());
    const auto cpu = open(path, false), nvdec = open(path, true);
    ASSERT_TRUE(cpu && nvdec);
    if (nvdec->info().decoder != "NVDEC") continue;
    Frame frame;
    io::FrameTime time;
    io::FrameWork work;
    std::vector<std::byte> expected, found;
    for (int i = 0; i < kFrames; ++i) {
      const auto one = cpu->read(frame, time), other = nvdec->next(work);
      ASSERT_TRUE(one && other);
      ASSERT_EQ(*one, *other);
      if (!*one) break;
      ASSERT_NE(work.surface, nullptr) << i;
      ++surfaces;
      ASSERT_TRUE(on_cpu->encode(std::as_const(frame).view(), expected));
      const auto coded = on_cuda->encode(*work.surface, found);
      ASSERT_TRUE(coded) << coded.status().message();
      work.drop();
      ASSERT_TRUE(expected == found) << i;
    }
  }
  std::cout << surfaces << " surfaces" << std::endl;
}

/// Who keeps all frames gets the later ones in host memory; the decoder never waits for surfaces.
TEST_F(NvdecParity, FramesKeptByTheCaller) {
  if (videos().empty()) GTEST_SKIP() << kNoTestData;
  for (const fs::path& path : videos()) {
    SCOPED_TRACE(path.filename());
    const auto cpu = open(path, false), nvdec = open(path, true);
    ASSERT_TRUE(cpu && nvdec);
    std::vector<io::FrameWork> kept(kFrames);
    std::size_t count = 0;
    for (; count < kept.size(); ++count) {
      const auto more = nvdec->next(kept[count]);
      ASSERT_TRUE(more) << more.status().message();
      if (!*more) break;
    }
    for (std::size_t i = 0; i < count; ++i) {
      Frame frame;
      io::FrameTime time;
      ASSERT_TRUE(cpu->read(frame, time));
      const Status loaded = kept[i].load();
      ASSERT_TRUE(loaded) << loaded.message();
      ASSERT_TRUE(same_samples(frame, kept[i].item)) << i;
      EXPECT_EQ(kept[i].surface, nullptr);
    }
  }
}

TEST_F(NvdecParity, SeeksAsTheCpuDoes) {
  if (videos().empty()) GTEST_SKIP() << kNoTestData;
  for (const fs::path& path : videos()) {
    SCOPED_TRACE(path.filename());
    const auto cpu = open(path, false), nvdec = open(path, true);
    ASSERT_TRUE(cpu && nvdec);
    if (!cpu->can_seek()) continue;
    const double seconds = cpu->info().duration_seconds;
    for (const double part : {0.7, 0.1, 0.95, 0.0}) {
      const auto pts = static_cast<std::int64_t>(part * seconds / cpu->info().time_base.value());
      const auto one = cpu->seek(pts), other = nvdec->seek(pts);
      ASSERT_TRUE(one && other);
      EXPECT_EQ(*one, *other);
      Frame expected, found;
      io::FrameTime time;
      const auto first = cpu->read(expected, time), second = nvdec->read(found, time);
      ASSERT_TRUE(first && second);
      ASSERT_EQ(*first, *second);
      EXPECT_TRUE(!*first || same_samples(expected, found)) << part;
    }
  }
}

}  // namespace
}  // namespace zerorun::test
