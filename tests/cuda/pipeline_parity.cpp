// Whole frames: the CUDA backend writes the CPU backend's bytes.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "codec/arith/zigzag.hpp"
#include "codec/pipeline/encode_pipeline.hpp"
#include "cuda/encode/frame_encoder.hpp"
#include "cuda/encode/frame_upload.hpp"
#include "cuda/stages/staged_encoder.hpp"
#include "tests/cuda/device_memory.hpp"
#include "tests/support/coder.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/jpeg_segments.hpp"
#include "tests/support/random.hpp"
#include "tests/support/test_data.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/cuda.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::test {
namespace {

const RestartPolicy kRestarts[] = {RestartPolicy::none(),      RestartPolicy::mcus(1),
                                   RestartPolicy::mcus(7),     RestartPolicy::mcu_rows(1),
                                   RestartPolicy::mcu_rows(2), RestartPolicy::automatic()};
constexpr HuffmanTables kTables[] = {HuffmanTables::standard, HuffmanTables::optimal,
                                     HuffmanTables::trained};

std::string describe(const EncodeParams& params, const ConstFrameView& frame) {
  return std::string(name(frame.format)) + " " + std::to_string(frame.width) + "x" +
         std::to_string(frame.height) + ", quality " + std::to_string(params.quality) +
         ", tables " + std::to_string(static_cast<int>(params.huffman)) + ", restart kind " +
         std::to_string(static_cast<int>(params.restart.kind)) + " " +
         std::to_string(params.restart.count);
}

/// The staged encoder's scan of a frame.
Result<std::vector<std::byte>> staged_scan(const EncodeParams& params,
                                           const ConstFrameView& frame) {
  ZR_LET(setup, make_encode_setup(params, frame.format, frame.width, frame.height));
  Stream stream;
  FrameUpload upload;
  StagedEncoder encoder;
  ConstFrameView on_device;
  std::uint64_t bytes = 0;
  ZR_TRY(stream.create());
  ZR_TRY(upload.enqueue(frame, setup.layout.components, stream.get(), on_device));
  ZR_TRY(encoder.enqueue(setup, on_device, stream.get()));
  ZR_CUDA_TRY(cudaStreamSynchronize(stream.get()));
  ZR_CUDA_TRY(cudaMemcpy(&bytes, encoder.arrays().scan_bytes, sizeof bytes, cudaMemcpyDefault));
  std::vector<std::byte> scan(bytes);
  ZR_CUDA_TRY(cudaMemcpy(scan.data(), encoder.arrays().scan, bytes, cudaMemcpyDefault));
  return scan;
}

/// Two encoders of the same parameters; frame after frame goes through the same pair, so that
/// memory kept from another size is part of the test.
class Pair {
 public:
  explicit Pair(EncodeParams params) : params_(std::move(params)) {
    params_.threads = 1;
    params_.backend = Backend::cpu;
    cpu_ = make_coder<Encoder>(params_);
    params_.backend = Backend::cuda;
    cuda_ = make_coder<Encoder>(params_);
  }

  void expect_same(const ConstFrameView& frame) {
    ASSERT_TRUE(cpu_ && cuda_);
    std::vector<std::byte> expected, found;
    const auto cpu = cpu_->encode(frame, expected);
    const auto cuda = cuda_->encode(frame, found);
    ASSERT_TRUE(cpu) << cpu.status().message();
    ASSERT_TRUE(cuda) << cuda.status().message();
    ASSERT_EQ(cuda_->backend(), Backend::cuda);
    EXPECT_EQ(cuda->restart_interval_mcus, cpu->restart_interval_mcus);
    ASSERT_TRUE(found == expected) << describe(params_, frame) << ": " << expected.size()
                                   << " bytes by the CPU, " << found.size() << " by CUDA";
  }

  /// The same of the staged encoder, whose scan stands before EOI.
  void expect_same_scan(const ConstFrameView& frame) {
    std::vector<std::byte> jpeg;
    ASSERT_TRUE(cpu_ && cpu_->encode(frame, jpeg));
    const auto scan = staged_scan(params_, frame);
    ASSERT_TRUE(scan) << scan.status().message();
    const auto scan_and_eoi = std::span(jpeg).subspan(parse_headers(jpeg).data_offset);
    EXPECT_TRUE(std::ranges::equal(scan_and_eoi.first(scan_and_eoi.size() - 2), *scan))
        << describe(params_, frame);
  }

 private:
  EncodeParams params_;
  std::optional<Encoder> cpu_, cuda_;
};

class PipelineParity : public GpuTest {};

TEST_F(PipelineParity, EveryFormatSamplingAndOddSize) {
  constexpr int kSizes[][2] = {{1, 1}, {64, 64}, {2, 1}, {1, 9}, {17, 33}, {67, 41}, {8, 8}};
  for (const HuffmanTables tables : kTables)
    for (int s = -1; s < static_cast<int>(std::size(kAllSubsamplings)); ++s) {
      EncodeParams params;
      params.huffman = tables;
      if (s >= 0) params.subsampling = kAllSubsamplings[s];
      Pair pair(params);
      for (const PixelFormat format : kAllFormats)
        for (const auto& [width, height] : kSizes)
          ASSERT_NO_FATAL_FAILURE(
              pair.expect_same(make_frame(Content::photo, format, width, height, 3).view()));
    }
}

TEST_F(PipelineParity, EveryQualityTableAndRestart) {
  for (const int quality : {1, 50, 90, 100})
    for (const HuffmanTables tables : kTables)
      for (const RestartPolicy& restart : kRestarts)
        for (const Subsampling sampling :
             {Subsampling::s420, Subsampling::s444, Subsampling::gray}) {
          EncodeParams params;
          params.quality = quality;
          params.huffman = tables;
          params.restart = restart;
          params.subsampling = sampling;
          Pair pair(params);
          for (const Content content : kContents)
            ASSERT_NO_FATAL_FAILURE(
                pair.expect_same(make_frame(content, PixelFormat::rgb24, 203, 117, 5).view()));
        }
}

/// The fused kernels: sparse, dense and padded tiles; and the stages.
TEST_F(PipelineParity, EveryTune) {
  for (const Tune tune : kAllTunes)
    for (const Effort effort : kAllEfforts)
      for (const HuffmanTables tables : kTables)
        for (const Subsampling sampling :
             {Subsampling::s420, Subsampling::s422, Subsampling::s444, Subsampling::gray})
          for (const int quality : {1, 50, 90, 100}) {
            EncodeParams params;
            params.tune = tune;
            params.effort = effort;
            params.huffman = tables;
            params.subsampling = sampling;
            params.quality = quality;
            Pair pair(params);
            for (const Content content : kContents) {
              const TestFrame frame = make_frame(content, PixelFormat::rgb24, 203, 117, 5);
              ASSERT_NO_FATAL_FAILURE(pair.expect_same(frame.view()))
                  << name(tune) << " " << name(effort);
              ASSERT_NO_FATAL_FAILURE(pair.expect_same_scan(frame.view())) << name(content);
            }
          }
}

/// Samples that are moved beyond the range, whose DC is predicted over the edges of tiles and CTAs.
TEST_F(PipelineParity, ClippedBlocksOfText) {
  for (const Effort effort : kAllEfforts)
    for (const HuffmanTables tables : kTables)
      for (const Subsampling sampling :
           {Subsampling::s420, Subsampling::s422, Subsampling::s444, Subsampling::gray})
        for (const int quality : {1, 25, 50, 75, 95, 100}) {
          EncodeParams params;
          params.tune = Tune::text;
          params.effort = effort;
          params.huffman = tables;
          params.subsampling = sampling;
          params.quality = quality;
          Pair pair(params);
          const PixelFormat format = planar_format(sampling);
          for (const auto& [width, height] : {std::pair{203, 117}, std::pair{1303, 751}}) {
            const TestFrame frame = make_clipped_frame(format, width, height, 6);
            ASSERT_NO_FATAL_FAILURE(pair.expect_same(frame.view())) << name(effort);
            if (width == 203) {
              ASSERT_NO_FATAL_FAILURE(pair.expect_same_scan(frame.view()));
            }
          }
        }
}

TEST_F(PipelineParity, LongThinFrames) {
  Pair pair(EncodeParams{});
  ASSERT_NO_FATAL_FAILURE(
      pair.expect_same(make_frame(Content::noise, PixelFormat::rgb24, 65535, 3, 1).view()));
  ASSERT_NO_FATAL_FAILURE(
      pair.expect_same(make_frame(Content::noise, PixelFormat::nv12, 3, 65535, 1).view()));
}

/// Photographs of 4K size, and every fifth of the valid streams: all kinds of cameras and programs.
std::vector<std::filesystem::path> photo_paths() {
  std::vector<std::filesystem::path> paths;
  const std::filesystem::path large = *test_data() / "photos4k";
  if (std::filesystem::is_directory(large))
    for (const auto& entry : std::filesystem::directory_iterator(large))
      if (entry.path().extension() == ".jpg") paths.push_back(entry.path());
  int valid = 0;
  for (const Row& row : read_tsv(*test_data() / "MANIFEST.tsv"))
    if (row.at("class") == "valid" && valid++ % 5 == 0)
      paths.push_back(*test_data() / row.at("path"));
  return paths;
}

TEST_F(PipelineParity, Photos) {
  if (!test_data()) GTEST_SKIP() << kNoTestData;
  Decoder decoder = cpu_decoder();
  std::size_t photos = 0;
  for (const std::filesystem::path& path : photo_paths()) {
    Frame frame;
    if (!decoder.decode(read_file(path), PixelFormat::yuv420p, frame)) continue;
    SCOPED_TRACE(path);
    ++photos;
    for (const HuffmanTables tables : kTables) {
      EncodeParams params;
      params.huffman = tables;
      params.restart = kRestarts[photos % std::size(kRestarts)];
      params.quality = std::array{50, 90, 100}[photos % 3];
      Pair pair(params);
      ASSERT_NO_FATAL_FAILURE(pair.expect_same(std::as_const(frame).view()));
    }
  }
  EXPECT_GT(photos, 0u);
}

/// Tiles with few symbols, with so many bits that a lane cannot keep them, and with too many
/// symbols: noise, of which `kept` coefficients a block are divided by 1 and the others by 255.
TEST_F(PipelineParity, LongAndDenseTiles) {
  for (const HuffmanTables tables : kTables)
    for (const Tune tune : {Tune::exact, Tune::photo, Tune::text, Tune::psnr})
      for (const int kept :
           {1, 8, 20, 28, 29, 30, 31, 32, 34, 40, 50, 53, 54, 55, 56, 57, 58, 63, 64}) {
        QuantTable table;
        table.fill(255);
        for (int k = 0; k < kept; ++k) table[kNaturalOfZigzag[static_cast<std::size_t>(k)]] = 1;
        EncodeParams params;
        params.huffman = tables;
        params.tune = tune;
        params.effort = Effort::best;
        params.luma_table = params.chroma_table = table;
        Pair pair(params);
        for (const PixelFormat format : {PixelFormat::yuv420p, PixelFormat::gray8})
          for (const Content content : {Content::noise, Content::photo})
            ASSERT_NO_FATAL_FAILURE(
                pair.expect_same(make_frame(content, format, 300, 150, 4).view()))
                << kept << " " << name(tune);
      }
}

/// Large enough to keep the rounding of samples far from any half.
constexpr std::int16_t kTileQuantiser = 16;
/// A picture of one block row for each number of items from 64 to 64 + 32 * `most`. A row is a tile
/// of 32 blocks of `most` or fewer coefficients of 1 or -1 beside DC, and each has two items more.
TestFrame tiles_of_every_number_of_items(int most) {
  std::vector<std::array<double, kBlockSize>> waves(kBlockSize);
  for (std::size_t k = 0; k < kBlockSize; ++k)
    for (std::size_t at = 0; at < kBlockSize; ++at) {
      const auto along = [](std::size_t frequency, std::size_t place) {
        const double scale = frequency == 0 ? std::numbers::sqrt2 / 4 : 0.5;
        return scale *
               std::cos(static_cast<double>((2 * place + 1) * frequency) * std::numbers::pi / 16);
      };
      waves[k][at] = kTileQuantiser * along(k % 8, at % 8) * along(k / 8, at / 8);
    }
  TestFrame frame(PixelFormat::gray8, 256, 8 * (32 * most + 1));
  Random random(1);
  std::array<std::size_t, kBlockSize - 1> order;
  std::iota(order.begin(), order.end(), std::size_t{1});
  for (int row = 0; row <= 32 * most; ++row)
    for (int block = 0; block < 32; ++block) {
      const int count = row / 32 + (block < row % 32 ? 1 : 0);
      std::array<double, kBlockSize> samples;
      samples.fill(128);
      for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
        std::swap(order[i],
                  order[i + static_cast<std::size_t>(random.below(static_cast<int>(63 - i)))]);
        const double sign = random.below(2) == 0 ? 1 : -1;
        for (std::size_t at = 0; at < kBlockSize; ++at) samples[at] += sign * waves[order[i]][at];
      }
      for (int at = 0; at < 64; ++at)
        frame.row(0, 8 * row + at / 8)[8 * block + at % 8] = static_cast<std::uint8_t>(
            std::clamp(std::lround(samples[static_cast<std::size_t>(at)]), 0L, 255L));
    }
  return frame;
}

/// Lanes get equal parts of a tile's items, which are filled up to that; more than 1728 do not fit.
TEST_F(PipelineParity, TilesOfEveryNumberOfItems) {
  const TestFrame frame = tiles_of_every_number_of_items(56);
  for (const HuffmanTables tables : kTables) {
    EncodeParams params;
    params.restart = RestartPolicy::none();
    params.huffman = tables;
    params.luma_table.emplace().fill(kTileQuantiser);
    params.chroma_table = params.luma_table;
    Pair pair(params);
    ASSERT_NO_FATAL_FAILURE(pair.expect_same(frame.view()));
  }
}

/// Intervals of 2049, 2059 (the last one has a single tile) and 2070 chunks, whose bits every CTA
/// adds up.
TEST_F(PipelineParity, LongIntervals) {
  EncodeParams params;
  params.restart = RestartPolicy::none();
  params.quality = 30;
  Pair pair(params);
  for (const int height : {15424, 15496, 15584})
    ASSERT_NO_FATAL_FAILURE(
        pair.expect_same(make_frame(Content::photo, PixelFormat::gray8, 4352, height, 8).view()));
}

TEST_F(PipelineParity, DeviceFramesAndStreams) {
  Stream streams[2];
  for (Stream& stream : streams) ASSERT_TRUE(stream.create());
  for (const HuffmanTables tables : kTables) {
    EncodeParams params;
    params.huffman = tables;
    params.segments = {{0xFE, {'h', 'i'}}};
    auto device_encoder = make_coder<DeviceEncoder>(params);
    ASSERT_TRUE(device_encoder);
    Encoder encoder = cpu_encoder(params);
    int turn = 0;
    for (const PixelFormat format : kAllFormats)
      for (const int width : {1, 37, 320}) {
        SCOPED_TRACE(testing::Message() << name(format) << ", width " << width);
        const TestFrame frame = make_frame(Content::photo, format, width, 61, 2);
        const std::vector<std::byte> expected = encoded_by(encoder, frame.view());
        DeviceFrame on_device(frame);
        const std::size_t capacities[] = {0, 2, 100, expected.size() - 1};
        const std::size_t capacity = capacities[turn % 4];
        DeviceArray<std::byte> out(expected.size()), too_small(capacity);
        DeviceArray<std::size_t> size(2);
        const cudaStream_t stream = streams[turn++ % 2].get();
        ASSERT_TRUE(device_encoder->encode(on_device.view, out.data(), expected.size(), size.data(),
                                           stream));
        ASSERT_TRUE(device_encoder->encode(on_device.view, too_small.data(), capacity,
                                           size.data() + 1, stream));
        const std::vector<std::size_t> both{expected.size(), expected.size()};
        ASSERT_EQ(size.to_host(), both);
        ASSERT_TRUE(out.to_host() == expected);
      }
  }
}

TEST_F(PipelineParity, DeviceFramesIntoPinnedHostMemory) {
  auto device_encoder = DeviceEncoder::create({});
  ASSERT_TRUE(device_encoder);
  PinnedBuffer<std::byte> out;
  PinnedBuffer<std::size_t> size;
  ASSERT_TRUE(size.reserve(1));
  for (const Content content : kContents) {
    const TestFrame frame = make_frame(content, PixelFormat::yuv420p, 333, 222, 6);
    const std::vector<std::byte> expected = encoded_on_cpu(frame.view());
    ASSERT_TRUE(out.reserve(static_cast<std::int64_t>(expected.size() + 1)));
    for (const std::size_t skew : {0u, 1u}) {
      DeviceFrame on_device(frame);
      ASSERT_TRUE(device_encoder->encode(on_device.view, out.data() + skew, expected.size(),
                                         size.data(), nullptr));
      ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
      ASSERT_EQ(*size.data(), expected.size());
      ASSERT_TRUE(std::equal(expected.begin(), expected.end(), out.data() + skew));
    }
  }
}

/// A FrameEncoder and memory for its output.
class Coder {
 public:
  explicit Coder(const EncodeSetup& setup) : setup_(setup), out_(1 << 20), size_(1) {}

  Status enqueue(const DeviceFrame& frame, const StepProbe& probe) {
    return encoder_.enqueue(setup_, frame.view, {out_.data(), 1 << 20, size_.data()}, nullptr,
                            probe);
  }

  /// Scan of the frame; empty after an error.
  std::vector<std::uint8_t> scan_of(const DeviceFrame& frame, const StepProbe& probe = {}) {
    const Status status = enqueue(frame, probe);
    EXPECT_TRUE(status) << status.message();
    if (!status) return {};
    auto bytes = out_.to_host();
    bytes.resize(size_.to_host()[0]);
    return bytes;
  }

 private:
  const EncodeSetup setup_;
  FrameEncoder encoder_;
  DeviceArray<std::uint8_t> out_;
  DeviceArray<std::uint64_t> size_;
};

/// A frame that fails half-way while it is enqueued does not change the next one.
TEST_F(PipelineParity, AfterHalfAFrameTheNextIsAsEver) {
  constexpr PixelFormat kFormat = PixelFormat::rgb24;
  constexpr int kWidth = 320, kHeight = 200;
  for (const HuffmanTables tables : {HuffmanTables::standard, HuffmanTables::optimal}) {
    EncodeParams params;
    params.huffman = tables;
    const auto setup = make_encode_setup(params, kFormat, kWidth, kHeight);
    ASSERT_TRUE(setup) << setup.status().message();
    const DeviceFrame photo(make_frame(Content::photo, kFormat, kWidth, kHeight, 1));
    const DeviceFrame noise(make_frame(Content::noise, kFormat, kWidth, kHeight, 2));
    Coder coder(*setup);
    std::vector<std::string> steps;
    const auto expected = coder.scan_of(photo, [&](const char* step) {
      steps.emplace_back(step);
      return Status::ok();
    });
    ASSERT_FALSE(expected.empty());
    ASSERT_GE(steps.size(), 4u);
    for (const std::string& failing : steps) {
      SCOPED_TRACE("failure before \"" + failing + "\"");
      const Status status = coder.enqueue(noise, [&](const char* step) {
        return step == failing ? Status(Errc::device_failure) : Status::ok();
      });
      ASSERT_EQ(status.code(), Errc::device_failure);
      ASSERT_TRUE(coder.scan_of(photo) == expected);
      ASSERT_TRUE(coder.scan_of(photo) == expected);
    }
  }
}

}  // namespace
}  // namespace zerorun::test
