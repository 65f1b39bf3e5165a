// Batches of device frames give the streams that the frames give one by one.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "cuda/base/memory.hpp"
#include "tests/cuda/encode/device_job.hpp"
#include "tests/support/coder.hpp"
#include "tests/support/gpu.hpp"
#include "zerorun/cuda.hpp"

namespace zerorun::test {
namespace {

constexpr HuffmanTables kTables[] = {HuffmanTables::standard, HuffmanTables::optimal};

class BatchParity : public JobsTest {
 protected:
  /// Adds `count` different frames; some are flat, some are noise.
  void add_frames(int count, PixelFormat format, int width, int height) {
    for (int i = 0; i < count; ++i) add(frame_number(jobs_.size(), format, width, height));
  }

  static TestFrame frame_number(std::size_t number, PixelFormat format, int width, int height) {
    constexpr Content kTurns[] = {Content::photo, Content::noise, Content::flat};
    return make_frame(kTurns[number % 3], format, width, height, number);
  }
};

/// More frames than one launch takes.
TEST_F(BatchParity, FramesOfOneShape) {
  for (const HuffmanTables tables : kTables)
    for (const PixelFormat format : {PixelFormat::yuv420p, PixelFormat::yuv444p, PixelFormat::gray8,
                                     PixelFormat::nv12, PixelFormat::rgb24})
      for (const auto& [width, height] : {std::pair{1, 1}, {61, 37}, {333, 222}}) {
        SCOPED_TRACE(testing::Message() << name(format) << ' ' << width << 'x' << height
                                        << (tables == HuffmanTables::optimal ? " optimal" : ""));
        EncodeParams params;
        params.huffman = tables;
        ASSERT_NO_FATAL_FAILURE(open(params));
        add_frames(40, format, width, height);
        ASSERT_NO_FATAL_FAILURE(expect_all());
      }
}

/// A launch takes 5 of them, and a chunk needs several rounds in assemble().
TEST_F(BatchParity, LargeFrames) {
  for (const HuffmanTables tables : kTables)
    for (const RestartPolicy& restart : {RestartPolicy::none(), RestartPolicy::automatic()}) {
      EncodeParams params;
      params.huffman = tables;
      params.restart = restart;
      params.quality = 98;
      ASSERT_NO_FATAL_FAILURE(open(params));
      add_frames(8, PixelFormat::yuv420p, 1921, 1081);
      ASSERT_NO_FATAL_FAILURE(expect_all());
    }
}

TEST_F(BatchParity, ShapesInAnyOrder) {
  for (const HuffmanTables tables : kTables) {
    EncodeParams params;
    params.huffman = tables;
    ASSERT_NO_FATAL_FAILURE(open(params));
    add_frames(3, PixelFormat::yuv420p, 100, 50);
    add_frames(1, PixelFormat::yuv420p, 50, 100);
    add_frames(2, PixelFormat::rgb24, 50, 100);
    add_frames(4, PixelFormat::yuv420p, 100, 50);
    ASSERT_NO_FATAL_FAILURE(expect_all());
  }
}

TEST_F(BatchParity, BatchesOfAnySizeAfterEachOther) {
  for (const HuffmanTables tables : kTables) {
    EncodeParams params;
    params.huffman = tables;
    ASSERT_NO_FATAL_FAILURE(open(params));
    add_frames(32, PixelFormat::yuv420p, 200, 120);
    expect_parts_of({3, 1, 7, 2, 2, 7, 32, 1, 1, 32, 32, 5, 32});
  }
}

TEST_F(BatchParity, PaddedAndUnalignedPlanes) {
  constexpr std::size_t kWidth = 72, kHeight = 40;
  ASSERT_NO_FATAL_FAILURE(open({}));
  add_frames(6, PixelFormat::gray8, kWidth, kHeight);
  std::vector<DeviceEncodeJob> jobs;
  std::vector<std::unique_ptr<DeviceArray<std::uint8_t>>> memory;
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    const TestFrame frame = frame_number(i, PixelFormat::gray8, kWidth, kHeight);
    const std::vector<std::uint8_t> tight = frame.packed();
    const std::size_t stride = kWidth + 3 * i, lead = i;
    std::vector<std::uint8_t> bytes(lead + stride * kHeight);
    for (std::size_t y = 0; y < kHeight; ++y)
      std::copy_n(tight.data() + y * kWidth, kWidth, bytes.data() + lead + y * stride);
    memory.push_back(std::make_unique<DeviceArray<std::uint8_t>>(bytes));
    DeviceEncodeJob job = jobs_[i]->job();
    job.frame.data[0] = memory.back()->data() + lead;
    job.frame.stride_bytes[0] = static_cast<std::ptrdiff_t>(stride);
    jobs.push_back(job);
  }
  ASSERT_TRUE(device_->encode_batch(jobs, nullptr));
  for (const auto& job : jobs_) job->expect_done();
}

TEST_F(BatchParity, OneOutputIsTooSmall) {
  ASSERT_NO_FATAL_FAILURE(open({}));
  add_frames(5, PixelFormat::yuv420p, 160, 90);
  expect_all_but_one();
}

TEST_F(BatchParity, OneBadJobAndNothingIsDone) {
  ASSERT_NO_FATAL_FAILURE(open({}));
  add_frames(2, PixelFormat::yuv420p, 64, 64);
  std::vector<DeviceEncodeJob> jobs{jobs_[0]->job(), jobs_[1]->job()};
  DeviceArray<std::size_t> size(std::vector<std::size_t>{7});
  jobs[0].size = size.data();
  jobs[1].out = nullptr;
  EXPECT_EQ(device_->encode_batch(jobs, nullptr).code(), Errc::invalid_argument);
  EXPECT_EQ(size.to_host()[0], 7u);
  EXPECT_TRUE(device_->encode_batch({}, nullptr));
}

/// A bad shape is also found before the first job: 20 rows of the second frame have more MCUs than
/// DRI can hold.
TEST_F(BatchParity, OneBadShapeAndNothingIsDone) {
  EncodeParams params;
  params.restart = RestartPolicy::mcu_rows(20);
  ASSERT_NO_FATAL_FAILURE(open(params));
  add_frames(1, PixelFormat::yuv420p, 64, 64);
  DeviceEncodeJob bad = jobs_[0]->job();
  bad.frame.width = 65535;
  bad.frame.stride_bytes = {65536, 32768, 32768};
  DeviceArray<std::size_t> size(std::vector<std::size_t>{7});
  std::vector<DeviceEncodeJob> jobs{jobs_[0]->job(), bad};
  jobs[0].size = size.data();
  EXPECT_EQ(device_->encode_batch(jobs, nullptr).code(), Errc::invalid_argument);
  EXPECT_EQ(size.to_host()[0], 7u);
}

TEST_F(BatchParity, AStreamThatIsCapturedIsRefused) {
  ASSERT_NO_FATAL_FAILURE(open({}));
  add_frames(1, PixelFormat::yuv420p, 64, 64);
  Stream stream;
  ASSERT_TRUE(stream.create());
  const DeviceEncodeJob job = jobs_[0]->job();  // allocates, which no capture takes
  ASSERT_EQ(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal), cudaSuccess);
  const Status status = device_->encode_batch({&job, 1}, stream.get());
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream.get(), &graph), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(status.code(), Errc::invalid_argument) << status.message();
  ASSERT_TRUE(encode(0, 1));
  jobs_[0]->expect_done();
}

class HostBatchParity : public BatchParity {
 protected:
  /// Each stream is asked for once, gets the memory of its size, and has the bytes of the CPU.
  void expect_streams(cudaStream_t stream = nullptr) {
    std::vector<ConstFrameView> frames;
    for (const auto& job : jobs_) frames.push_back(job->frame());
    std::vector<std::vector<std::byte>> found(jobs_.size());
    const StreamMemory memory = [&](std::span<EncodedStream> streams) {
      for (EncodedStream& one : streams) {
        EXPECT_TRUE(found.at(one.frame).empty()) << one.frame;
        found[one.frame].resize(one.bytes);
        one.out = found[one.frame].data();
      }
      return Status::ok();
    };
    const Status status = device_->encode_to_host(frames, memory, stream);
    ASSERT_TRUE(status) << status.message();
    for (std::size_t i = 0; i < jobs_.size(); ++i)
      EXPECT_TRUE(found[i] == jobs_[i]->expected()) << "frame " << i;
  }

  /// 3/4 byte a pixel and 64 KiB are too small for every third frame, which is noise.
  static EncodeParams of_large_streams() {
    EncodeParams params;
    params.quality = 100;
    params.subsampling = Subsampling::s444;
    return params;
  }
};

TEST_F(HostBatchParity, ManyGroupsOfMixedShapes) {
  for (const HuffmanTables tables : kTables) {
    EncodeParams params;
    params.huffman = tables;
    ASSERT_NO_FATAL_FAILURE(open(params));
    add_frames(40, PixelFormat::rgb24, 333, 222);
    add_frames(12, PixelFormat::yuv420p, 1920, 1080);
    add_frames(3, PixelFormat::nv12, 3840, 2160);
    add_frames(2, PixelFormat::gray8, 1, 1);
    for (int turn = 0; turn < 3; ++turn) ASSERT_NO_FATAL_FAILURE(expect_streams());
  }
}

TEST_F(HostBatchParity, StreamsThatOverflowTheirRoomsAreCodedAgain) {
  ASSERT_NO_FATAL_FAILURE(open(of_large_streams()));
  add_frames(14, PixelFormat::rgb24, 700, 500);
  ASSERT_GT(jobs_[1]->expected().size(), std::size_t{700 * 500 / 4 * 3 + (64 << 10)});
  Stream stream;
  ASSERT_TRUE(stream.create());
  for (int turn = 0; turn < 2; ++turn) ASSERT_NO_FATAL_FAILURE(expect_streams(stream.get()));
}

/// A frame that is alone: less than a row of its copy, several pieces, and a stream that overflows.
TEST_F(HostBatchParity, OneFrame) {
  struct Case {
    Content content;
    int width, height, quality;
  };
  for (const Case& c : {Case{Content::flat, 1, 1, 90},
                        {Content::photo, 333, 222, 90},
                        {Content::noise, 700, 500, 100},
                        {Content::photo, 3840, 2160, 97},
                        {Content::noise, 1920, 1080, 100}}) {
    SCOPED_TRACE(testing::Message() << c.width << 'x' << c.height);
    EncodeParams params = of_large_streams();
    params.quality = c.quality;
    ASSERT_NO_FATAL_FAILURE(open(params));
    add(make_frame(c.content, PixelFormat::rgb24, c.width, c.height, 3));
    for (int turn = 0; turn < 2; ++turn) ASSERT_NO_FATAL_FAILURE(expect_streams());
    const std::vector<ConstFrameView> one{jobs_[0]->frame()};
    const auto end = [](std::span<EncodedStream>) { return Status(Errc::already_finished, "end"); };
    EXPECT_EQ(device_->encode_to_host(one, end, nullptr).code(), Errc::already_finished);
    std::size_t bytes = 0;
    const auto unwanted = [&](std::span<EncodedStream> streams) {
      bytes += streams[0].bytes;
      return Status::ok();
    };
    EXPECT_TRUE(device_->encode_to_host(one, unwanted, nullptr));
    EXPECT_EQ(bytes, jobs_[0]->expected().size());
  }
}

/// The encoder is good for the next batch after an error, and where streams are not wanted.
TEST_F(HostBatchParity, TheCallerEndsABatchOrWantsNoStream) {
  ASSERT_NO_FATAL_FAILURE(open(of_large_streams()));
  add_frames(12, PixelFormat::yuv444p, 1920, 1080);
  std::vector<ConstFrameView> frames;
  for (const auto& job : jobs_) frames.push_back(job->frame());
  for (int end = 1; end < 4; ++end) {
    int calls = 0;
    std::vector<std::vector<std::byte>> found(jobs_.size());
    const StreamMemory memory = [&](std::span<EncodedStream> streams) {
      if (++calls == end) return Status(Errc::already_finished, "enough");
      for (EncodedStream& one : streams) {
        found[one.frame].resize(one.bytes);
        one.out = found[one.frame].data();
      }
      return Status::ok();
    };
    EXPECT_EQ(device_->encode_to_host(frames, memory, nullptr).code(), Errc::already_finished);
    EXPECT_EQ(calls, end);
  }
  std::size_t asked = 0;
  const StreamMemory none = [&](std::span<EncodedStream> streams) {
    asked += streams.size();
    return Status::ok();
  };
  EXPECT_TRUE(device_->encode_to_host(frames, none, nullptr));
  EXPECT_EQ(asked, jobs_.size());
  EXPECT_TRUE(device_->encode_to_host({}, none, nullptr));
  EXPECT_EQ(device_->encode_to_host(frames, {}, nullptr).code(), Errc::invalid_argument);
  frames[7].height = 0;
  asked = 0;
  EXPECT_EQ(device_->encode_to_host(frames, none, nullptr).code(), Errc::invalid_frame);
  EXPECT_EQ(asked, 0u);
  ASSERT_NO_FATAL_FAILURE(expect_streams());
}

TEST_F(HostBatchParity, ASizeThatIsNotReached) {
  EncodeParams params;
  params.size.target_bytes = 1500;
  device_ = make_coder<DeviceEncoder>(params);
  ASSERT_TRUE(device_);
  const DeviceFrame flat(make_frame(Content::flat, PixelFormat::yuv420p, 64, 48, 1));
  const DeviceFrame noise(make_frame(Content::noise, PixelFormat::yuv420p, 320, 240, 2));
  std::vector<std::size_t> sizes(2, 7);
  std::vector<std::byte> room(1500);
  const StreamMemory memory = [&](std::span<EncodedStream> streams) {
    for (EncodedStream& one : streams) {
      sizes[one.frame] = one.bytes;
      if (one.frame == 0) one.out = room.data();
    }
    return Status::ok();
  };
  const std::vector<ConstFrameView> frames{flat.view, noise.view};
  ASSERT_TRUE(device_->encode_to_host(frames, memory, nullptr));
  EXPECT_GT(sizes[0], 100u);
  EXPECT_EQ(sizes[1], 0u);
  sizes[0] = 7;
  ASSERT_TRUE(device_->encode_to_host({&frames[1], 1}, memory, nullptr));
  EXPECT_EQ(sizes[0], 0u);
}

}  // namespace
}  // namespace zerorun::test
