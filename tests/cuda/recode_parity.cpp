// Coding again with other tables: the GPU writes the bytes that the CPU writes, of valid streams
// and of damaged ones, and leaves no stream to the CPU that it can code.
// SPDX-License-Identifier: MIT
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/cuda/decode/mutations.hpp"
#include "tests/support/coder.hpp"
#include "tests/support/encode_params.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/jpeg_segments.hpp"
#include "tests/support/test_data.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/encoder.hpp"
#include "zerorun/transcoder.hpp"

namespace zerorun::test {
namespace {

Bytes stream_of(Content content, int width, int height, const EncodeParams& params) {
  return encoded_on_cpu(make_frame(content, PixelFormat::rgb24, width, height, 7).view(), params);
}

/// The stream says that the picture is smaller than it was coded, so that its last blocks become
/// padding, which here is no copy of the blocks before.
Bytes with_size(Bytes jpeg, int width, int height) {
  const Headers headers = parse_headers(jpeg);
  const Segment* const sof = headers.find(0xC0);
  EXPECT_NE(sof, nullptr);
  const int numbers[] = {height >> 8, height & 255, width >> 8, width & 255};
  for (std::size_t i = 0; i < 4; ++i)
    jpeg[sof->offset + 5 + i] = static_cast<std::byte>(numbers[i]);
  return jpeg;
}

class RecodeParity : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    TranscodeParams params;
    params.optimize = true;
    params.threads = 1;
    for (const Backend backend : {Backend::cpu, Backend::cuda}) {
      params.backend = backend;
      auto made = Transcoder::create(params);
      ASSERT_TRUE(made) << made.status().message();
      coder_.push_back(*std::move(made));
    }
  }

  /// Returns whether the GPU has coded it.
  bool expect_same(const Bytes& jpeg) {
    Bytes wanted, made;
    const auto cpu = coder_[0].transcode(jpeg, wanted), gpu = coder_[1].transcode(jpeg, made);
    EXPECT_EQ(gpu.status().message(), cpu.status().message());
    if (!cpu || !gpu) return false;
    EXPECT_FALSE(cpu->is_of_gpu);
    EXPECT_EQ(gpu->is_unchanged, cpu->is_unchanged);
    EXPECT_EQ(gpu->bytes_consumed, cpu->bytes_consumed);
    EXPECT_TRUE(made == wanted);
    return gpu->is_of_gpu;
  }

  std::vector<Transcoder> coder_;
};

TEST_F(RecodeParity, AllSamplingsTablesIntervalsAndContents) {
  for_all_params({75, 97}, [&](const EncodeParams& params) {
    for (const Content content : kContents) {
      const bool is_of_gpu = expect_same(stream_of(content, 131, 77, params));
      EXPECT_EQ(is_of_gpu, params.subsampling != Subsampling::s411) << name(content);
    }
  });
}

TEST_F(RecodeParity, DenseTilesAndLargePictures) {
  EncodeParams params;
  params.quality = 100;
  for (const Subsampling sampling : {Subsampling::s420, Subsampling::s444, Subsampling::gray}) {
    params.subsampling = sampling;
    EXPECT_TRUE(expect_same(stream_of(Content::extreme, 700, 500, params)));
    params.quality = 90;
    EXPECT_TRUE(expect_same(stream_of(Content::photo, 1931, 1083, params)));
  }
}

TEST_F(RecodeParity, PaddingThatIsNoCopy) {
  struct Case {
    Subsampling sampling;
    std::vector<int> widths, heights;  // with the MCUs of 96x64
  };
  for (const Case& c :
       {Case{Subsampling::s420, {81, 88, 95}, {49, 56, 63}},
        Case{Subsampling::s422, {81, 88}, {64}}, Case{Subsampling::s440, {96}, {49, 56}}})
    for (const auto& restart : {RestartPolicy::none(), RestartPolicy::mcus(3)}) {
      EncodeParams params;
      params.subsampling = c.sampling;
      params.restart = restart;
      const Bytes jpeg = stream_of(Content::noise, 96, 64, params);
      for (const int width : c.widths)
        for (const int height : c.heights)
          EXPECT_TRUE(expect_same(with_size(jpeg, width, height))) << width << "x" << height;
    }
}

/// One object codes pictures of other shapes, and those that a picture before has left behind.
TEST_F(RecodeParity, DamagedStreamsAndThoseBehindThem) {
  const std::vector<MutationSource> sources = mutation_sources();
  int of_gpu = 0;
  constexpr int kMutations = 1500;
  for (int number = 0; number < kMutations; ++number) {
    SCOPED_TRACE(number);
    of_gpu += expect_same(mutation(sources, number)) ? 1 : 0;
    const auto at = static_cast<std::size_t>(number) % sources.size();
    if (number % 8 == 0) expect_same(sources[at].jpeg);
    if (HasFailure()) return;
  }
  EXPECT_GT(of_gpu, kMutations / 50);
}

TEST_F(RecodeParity, HostileStreams) {
  for (const auto& entry : std::filesystem::directory_iterator(project_tests() / "hostile")) {
    if (entry.path().extension() != ".jpg") continue;
    SCOPED_TRACE(entry.path().filename());
    expect_same(read_file(entry.path()));
  }
}

TEST_F(RecodeParity, Corpus) {
  const auto data = test_data();
  if (!data) GTEST_SKIP() << kNoTestData;
  int of_gpu = 0;
  for (const Row& row : read_tsv(*data / "MANIFEST.tsv")) {
    const std::string& path = row.at("path");
    if (!path.ends_with(".jpg")) continue;
    SCOPED_TRACE(path);
    of_gpu += expect_same(read_file(*data / path)) ? 1 : 0;
  }
  EXPECT_GT(of_gpu, 20);
}

}  // namespace
}  // namespace zerorun::test
