// Whole streams: the CUDA backend gives the CPU backend's coefficients, planes, pixels and reports.
// Which scans the GPU decodes: those of usual encoders, and not damaged ones and extreme values,
// which go to the CPU.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "codec/base/step_times.hpp"
#include "cuda/base/memory.hpp"
#include "cuda/decode/cuda_decode_pipeline.hpp"
#include "cuda/decode/scan_kernels.hpp"
#include "cuda/decode/tuning.hpp"
#include "tests/cuda/decode/decoder_pair.hpp"
#include "tests/cuda/decode/host_subsequences.hpp"
#include "tests/cuda/device_memory.hpp"
#include "tests/cuda/test_kernels.hpp"
#include "tests/support/encode_params.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/jpeg_segments.hpp"
#include "tests/support/test_data.hpp"
#include "zerorun/cuda.hpp"

namespace zerorun::test {
namespace {

/// In place of a number of scans: where only the samples count.
constexpr int kAnyNumber = -1;

/// None, unless the exhaustive strategy decodes all scans: those with too many states go to the
/// CPU.
int none_unless_exhaustive() { return default_decode_choices().exhaustive_only ? kAnyNumber : 0; }

/// Whether the CPU decoded `expected` scans, or more for want of shared memory.
testing::AssertionResult is_number(std::int64_t cpu_scans, std::int64_t expected) {
  if (expected == kAnyNumber) return testing::AssertionSuccess();
  if (cpu_scans == expected || (cpu_scans > expected && has_little_shared_memory()))
    return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << "the CPU decoded " << cpu_scans << " scans, not " << expected;
}

/// Both public decoders of the CUDA backend, used for image after image.
class DecodePathParity : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    pair_ = std::make_unique<DecoderPair>();
    ASSERT_TRUE(pair_->ready());
    auto device = DeviceDecoder::create();
    ASSERT_TRUE(device) << device.status().message();
    device_ = std::make_unique<DeviceDecoder>(*std::move(device));
    ASSERT_TRUE(stream_.create());
  }

  /// Expects the CPU's samples and reports from every call, and that the CPU decoded `on_cpu`
  /// scans.
  void expect(const Jpeg& jpeg, int on_cpu) {
    const Compared planes = pair_->planes(jpeg);
    ASSERT_EQ(planes.difference, "");
    ASSERT_TRUE(planes.report);
    EXPECT_TRUE(is_number(planes.report->cpu_scans, on_cpu)) << "decode_planes()";
    const Compared frame = pair_->frame(jpeg, PixelFormat::rgb24);
    ASSERT_EQ(frame.difference, "");
    EXPECT_TRUE(is_number(frame.report->cpu_scans, on_cpu)) << "decode()";
    expect_on_device(jpeg, on_cpu);
  }

  void expect_on_device(const Jpeg& jpeg, int on_cpu, PixelFormat format = PixelFormat::rgb24) {
    const auto info = inspect(jpeg);
    ASSERT_TRUE(info);
    TestFrame expected(format, info->width, info->height, Layout::padded);
    const auto report = pair_->cpu().decode(jpeg, expected.view());
    ASSERT_TRUE(report);
    EXPECT_EQ(report->cpu_scans, 0) << "on the CPU";
    Jpeg behind_one(1);  // no alignment is asked for
    behind_one.insert(behind_one.end(), jpeg.begin(), jpeg.end());
    const DeviceArray<std::byte> on_device(behind_one);
    for (const bool from_device : {false, true}) {
      SCOPED_TRACE(from_device ? "decode_device()" : "DeviceDecoder::decode()");
      TestFrame found(format, info->width, info->height, Layout::padded);
      DeviceTwin twin(found);
      const auto result = from_device
                              ? device_->decode_device(on_device.data() + 1, jpeg.size(),
                                                       twin.view(), stream_.get())
                              : device_->decode(pair_->placed(jpeg), twin.view(), stream_.get());
      ASSERT_EQ(difference(report, result), "");
      EXPECT_TRUE(is_number(result->cpu_scans, on_cpu));
      twin.download();
      EXPECT_TRUE(found == expected) << "other samples";
    }
  }

  /// Decodes on the device while another stream is copied, and returns how often that was done.
  int decode_meanwhile(const Jpeg& jpeg) {
    const TestFrame expected = decoded_by_cpu(jpeg);
    TestFrame found = empty_frame(jpeg);
    DeviceTwin twin(found);
    int calls = 0;
    Jpeg other;
    const auto report = device_->decode(jpeg, twin.view(), stream_.get(), [&] {
      ++calls;
      other = jpeg;
    });
    EXPECT_TRUE(report) << report.status().message();
    twin.download();
    EXPECT_TRUE(found == expected) << "other samples";
    EXPECT_TRUE(calls == 0 || other == jpeg);
    return calls;
  }

  /// How often a decoder synchronises the scan. Expects the CPU's samples.
  std::ptrdiff_t synchronisations(StepDecoder& decoder, const Jpeg& jpeg) {
    const TestFrame expected = decoded_by_cpu(jpeg);
    TestFrame found = empty_frame(jpeg);
    DeviceTwin twin(found);
    std::vector<StepTime> steps;
    const Status status = decoder.decode(jpeg, twin.view(), steps);
    EXPECT_TRUE(status.is_ok()) << status.message();
    twin.download();
    EXPECT_TRUE(found == expected) << "other samples";
    return std::ranges::count(steps, std::string("sync_subsequences"), &StepTime::step);
  }

  static TestFrame empty_frame(const Jpeg& jpeg) {
    const auto info = inspect(jpeg);
    EXPECT_TRUE(info);
    return TestFrame(PixelFormat::rgb24, info->width, info->height, Layout::padded);
  }
  TestFrame decoded_by_cpu(const Jpeg& jpeg) {
    TestFrame frame = empty_frame(jpeg);
    EXPECT_TRUE(pair_->cpu().decode(jpeg, frame.view()));
    return frame;
  }

  std::unique_ptr<DecoderPair> pair_;
  std::unique_ptr<DeviceDecoder> device_;
  zerorun::Stream stream_;
};

TEST_F(DecodePathParity, OurStreamsOfAllKindsTakeIt) {
  for_all_params({1, 90, 100}, [this](const EncodeParams& params) {
    expect(encode(Content::photo, 203, 117, params), 0);
  });
}

TEST_F(DecodePathParity, EveryFormatInDeviceMemory) {
  const Jpeg jpeg = encode(Content::photo, 151, 99, params_of(90, RestartPolicy::automatic()));
  for (const PixelFormat format : kAllFormats) {
    SCOPED_TRACE(name(format));
    expect_on_device(jpeg, 0, format);
  }
  TestFrame wrong(PixelFormat::rgb24, 150, 99, Layout::padded);
  DeviceTwin twin(wrong);
  EXPECT_EQ(device_->decode(jpeg, twin.view(), stream_.get()).status().code(), Errc::invalid_frame);
}

/// A decoder keeps the tables of the image before; these differ in some of them each.
TEST_F(DecodePathParity, ImagesWithTablesOfTheirOwn) {
  const auto jpeg_of = [](Subsampling sampling, HuffmanTables huffman, int quality) {
    return encode(Content::photo, 203, 117,
                  params_of(quality, RestartPolicy::automatic(), huffman, sampling));
  };
  constexpr auto kColour = Subsampling::s420, kGrey = Subsampling::gray;
  constexpr auto kStandard = HuffmanTables::standard, kOptimal = HuffmanTables::optimal;
  const Jpeg images[] = {jpeg_of(kColour, kStandard, 90), jpeg_of(kGrey, kStandard, 70),
                         jpeg_of(kColour, kStandard, 90), jpeg_of(kColour, kStandard, 50),
                         jpeg_of(kColour, kOptimal, 50),  jpeg_of(kGrey, kOptimal, 90),
                         jpeg_of(kColour, kOptimal, 50),  jpeg_of(kColour, kOptimal, 90),
                         jpeg_of(kGrey, kStandard, 90)};
  for (const Jpeg& jpeg : images) {
    SCOPED_TRACE(testing::Message() << "image " << &jpeg - images);
    expect(jpeg, 0);
    if (HasFailure()) return;
  }
}

TEST_F(DecodePathParity, TheCallerGetsTheTimeOnce) {
  if (has_little_shared_memory()) GTEST_SKIP() << "the CPU gets the scans";
  EXPECT_EQ(decode_meanwhile(encode(Content::photo, 203, 117, EncodeParams{})), 1);
  // The CPU decodes what the GPU left.
  Jpeg damaged = encode(Content::photo, 400, 300, EncodeParams{});
  damaged.resize(damaged.size() / 2);
  EXPECT_EQ(decode_meanwhile(damaged), 1);
  // Nothing is under way before the header is known to be sound, nor afterwards is it called late.
  int calls = 0;
  TestFrame frame(PixelFormat::rgb24, 8, 8, Layout::padded);
  DeviceTwin twin(frame);
  EXPECT_FALSE(device_->decode(Jpeg(100), twin.view(), stream_.get(), [&] { ++calls; }));
  EXPECT_TRUE(device_->decode(encode(Content::photo, 8, 8, {}), twin.view(), stream_.get()));
  EXPECT_EQ(calls, 0);
}

/// Large pictures of noise at quality 100 without restart markers, whose blocks hardly ever end in
/// EOB, may have more states than the exhaustive strategy keeps.
TEST_F(DecodePathParity, EveryContentAndSizeTakesIt) {
  for (const Content content : kContents)
    for (const int size : {1, 8, 9, 17, 64, 1000}) {
      const bool hardly_synchronises =
          content == Content::noise || content == Content::extreme || content == Content::checker;
      SCOPED_TRACE(testing::Message() << name(content) << " " << size);
      expect(encode(content, size, size + 5, params_of(100)),
             size == 1000 && hardly_synchronises ? kAnyNumber : none_unless_exhaustive());
      if (HasFailure()) return;
    }
}

/// Walks over dense blocks, and over those of optimal tables, hardly meet.
TEST_F(DecodePathParity, DenseScansTakeIt) {
  for (const HuffmanTables huffman : {HuffmanTables::standard, HuffmanTables::optimal})
    for (const int quality : {90, 97, 100})
      for (const Content content : {Content::photo, Content::noise})
        for (const auto& restart : {RestartPolicy::none(), RestartPolicy::mcu_rows(1)}) {
          SCOPED_TRACE(testing::Message() << name(content) << " q" << quality);
          expect(encode(content, 1920, 1080, params_of(quality, restart, huffman)),
                 content == Content::noise ? kAnyNumber : none_unless_exhaustive());
          if (HasFailure()) return;
        }
}

/// The right walk comes to ends that found no room, or, in checkers, to some that no guess met.
TEST_F(DecodePathParity, SerialWalksGiveTheSame) {
  const auto give = [this](Content content, int quality, HuffmanTables huffman) {
    for (const Subsampling sampling : {Subsampling::s420, Subsampling::s444}) {
      SCOPED_TRACE(testing::Message() << name(content) << " q" << quality << " " << name(sampling));
      expect(
          encode(content, 1920, 1080, params_of(quality, RestartPolicy::none(), huffman, sampling)),
          0);
    }
  };
  give(Content::photo, 95, HuffmanTables::standard);
  give(Content::photo, 97, HuffmanTables::optimal);
  give(Content::checker, 95, HuffmanTables::optimal);
  give(Content::checker, 97, HuffmanTables::optimal);
}

/// Lines of small random letters, as a terminal has them.
TestFrame small_letters(std::uint64_t seed) {
  TestFrame frame(PixelFormat::yuv420p, 1920, 1080, Layout::tight, 128);
  Random random(seed);
  bool dots[64][12][8];
  for (auto& letter : dots)
    for (auto& line : letter)
      for (bool& dot : line) dot = random.below(5) < 2;
  for (int y = 0; y < 1080; y += 12) {
    const int end = random.below(1920);
    for (int x = 0; x < 1920; x += 8) {
      const int letter = x < end ? random.below(64) : -1;
      for (int i = 0; i < 12; ++i)
        for (int j = 0; j < 8; ++j)
          frame.row(0, y + i)[x + j] = letter >= 0 && dots[letter][i][j] ? 200 : 30;
    }
  }
  return frame;
}

/// Grey, and at `x`, `y` of the luma what draw(x, y) gives.
template <typename Draw>
TestFrame drawn(int width, int height, const Draw& draw) {
  TestFrame frame(PixelFormat::yuv420p, width, height, Layout::tight, 128);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) frame.row(0, y)[x] = static_cast<std::uint8_t>(draw(x, y));
  return frame;
}

/// Black and white blocks at random, whose DC differences need more than ten bits; with stripes
/// inside, AC levels do, too. Plain, such a scan is sparse; with grain it is dense.
TEST_F(DecodePathParity, WideLevelsGiveTheSame) {
  for (const bool stripes : {false, true})
    for (const int grain : {1, 40})
      for (const int width : {160, 1920}) {
        SCOPED_TRACE(testing::Message()
                     << "stripes " << stripes << ", grain " << grain << ", " << width << " wide");
        Random random(3);
        std::vector<int> white(240 * 135);
        for (int& block : white) block = random.below(2);
        const auto draw = [&](int x, int y) {
          const bool is_white = white[static_cast<std::size_t>(y / 8 * 240 + x / 8)] != 0;
          const int value = is_white != (stripes && x % 8 < 4) ? 255 : 0;
          return is_white ? value - random.below(grain) * (value != 0)
                          : value + random.below(grain) * (value == 0);
        };
        expect(encode(drawn(width, width * 9 / 16, draw), params_of(100)),
               grain == 1 ? none_unless_exhaustive() : kAnyNumber);
        if (HasFailure()) return;
      }
}

/// Noise whose blocks have few bits, but so many pairs for them that a chunk's find no room in
/// shared memory.
TEST_F(DecodePathParity, MorePairsThanThereIsRoomFor) {
  for (const int quality : {4, 8}) {
    SCOPED_TRACE(testing::Message() << "q" << quality);
    expect(encode(Content::noise, 4096, 4096,
                  params_of(quality, RestartPolicy::none(), HuffmanTables::optimal)),
           0);
  }
}

/// Scans that are divided into medium chunks, and whose walks meet late or not at all: thin lines,
/// one colour beside noise. Each decoder gets them twice: it remembers the first one.
TEST_F(DecodePathParity, MediumChunksGiveTheSame) {
  const auto lines = [](int x, int y) {
    return x * 7 % 97 == y * 5 % 89 || y % 31 == 0 ? 20 : 235;
  };
  Random random(5);
  const auto halves = [&random](int x, int y) {
    return y % 256 < 128 ? 96 : x % 5 * 40 + random.below(30);
  };
  for (const HuffmanTables huffman : {HuffmanTables::standard, HuffmanTables::optimal})
    for (const int quality : {50, 90, 97})
      for (const auto& restart : {RestartPolicy::none(), RestartPolicy::automatic()})
        for (const int width : {320, 640, 1280, 1920}) {
          SCOPED_TRACE(testing::Message() << "q" << quality << ", " << width << " wide");
          const EncodeParams params = params_of(quality, restart, huffman);
          const int height = width * 9 / 16;
          for (const TestFrame& frame :
               {drawn(width, height, lines), drawn(width, height, halves)}) {
            const Jpeg jpeg = encode(frame, params);
            for (int turn = 0; turn < 2; ++turn) expect(jpeg, 0);
          }
          if (HasFailure()) return;
        }
}

/// Walks from guesses and the right walk pass the same two bits again and again, one bit apart. The
/// right one goes through whole chunks by itself; a spot and the ends of intervals stop it.
TEST_F(DecodePathParity, OneColourThatRepeatsBesideTheGuesses) {
  for (const RestartPolicy restart : {RestartPolicy::none(), RestartPolicy::mcu_rows(96)})
    for (const int spot_rows : {0, 2}) {
      SCOPED_TRACE(testing::Message() << "rows of a spot: " << spot_rows);
      TestFrame frame(PixelFormat::yuv420p, 4096, 4096, Layout::tight, 128);
      for (int y = 0; y < 4096; ++y) std::fill_n(frame.row(0, y), 4096, std::uint8_t{96});
      for (int y = 0; y < spot_rows; ++y) std::fill_n(frame.row(0, 2000 + y) + 999, 3, 255);
      expect(encode(frame, params_of(75, restart, HuffmanTables::optimal)), 0);
    }
}

/// Few bits a block, in intervals that are all short, all but one, or long.
TEST_F(DecodePathParity, SparseBlocks) {
  Random random(7);
  const auto one_colour = [](int, int) { return 96; };
  const auto gradient = [](int x, int y) { return (x + 2 * y) / 16 % 256; };
  const auto row_of_noise = [&random](int x, int y) {
    return y / 16 == 32 && x < 640 ? random.below(256) : 250;
  };
  for (const int quality : {50, 75, 90})
    for (const RestartPolicy restart :
         {RestartPolicy::none(), RestartPolicy::mcu_rows(1), RestartPolicy::mcu_rows(4)}) {
      const EncodeParams params = params_of(quality, restart, HuffmanTables::optimal);
      for (const TestFrame& frame : {drawn(1920, 1080, one_colour), drawn(1920, 1080, gradient),
                                     drawn(1920, 1080, row_of_noise)}) {
        SCOPED_TRACE(testing::Message() << "q" << quality);
        const Jpeg jpeg = encode(frame, params);
        for (int turn = 0; turn < 2; ++turn) expect(jpeg, 0);
        if (HasFailure()) return;
      }
    }
}

/// All walks before some chunks meet in a state that is not the right one, and stay apart from it
/// up to the chunk's end.
TEST_F(DecodePathParity, WalksThatMeetInAWrongStateAreFoundOut) {
  for (const std::uint64_t seed : {1, 3})
    for (const int quality : {97, 99}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", q" << quality);
      expect(encode(small_letters(seed),
                    params_of(quality, RestartPolicy::none(), HuffmanTables::optimal)),
             0);
    }
}

/// The same blocks again and again: walks from guesses go on beside the right one and never meet
/// it, those from every bit include it.
TEST_F(DecodePathParity, PatternsThatRepeat) {
  Random random(2);
  bool tile[16][16];
  for (auto& row : tile)
    for (bool& dot : row) dot = random.below(2) == 0;
  const auto black_if = [](bool black) { return black ? 0 : 255; };
  const std::function<int(int, int)> patterns[] = {
      [&](int x, int y) { return black_if((x + y) % 2 == 0); },
      [&](int x, int y) { return black_if((x / 8 + y / 8) % 2 == 0); },
      [&](int x, int y) { return black_if((x + y) / 8 % 2 == 0); },
      [&](int x, int y) { return black_if(std::hypot(x % 16 - 8, y % 16 - 8) < 5); },
      [&](int x, int y) { return black_if(tile[y % 16][x % 16]); },
      [&](int x, int y) { return y < 540 ? black_if((x + y) % 2 == 0) : (x * y / 64) % 256; },
      [](int, int) { return 37; }};
  for (const HuffmanTables huffman : {HuffmanTables::standard, HuffmanTables::optimal})
    for (const Subsampling sampling : {Subsampling::gray, Subsampling::s420, Subsampling::s444})
      for (const int quality : {50, 90, 97})
        for (const auto& pattern : patterns) {
          SCOPED_TRACE(testing::Message()
                       << "pattern " << &pattern - patterns << ", q" << quality << ", "
                       << name(sampling) << ", optimal " << (huffman == HuffmanTables::optimal));
          const Jpeg jpeg = encode(drawn(1920, 1080, pattern),
                                   params_of(quality, RestartPolicy::none(), huffman, sampling));
          for (int turn = 0; turn < 2; ++turn) expect_on_device(jpeg, 0);
          if (HasFailure()) return;
        }
}

/// The map strategy fails for checkers: the exhaustive strategy decodes them, and the next picture
/// of their shape at once. A damaged picture is not remembered.
TEST_F(DecodePathParity, OnlySoundScansAreRemembered) {
  if (has_little_shared_memory()) GTEST_SKIP() << "the CPU gets the scans";
  const auto checkers = [](int x, int y) { return (x + y) % 2 == 0 ? 0 : 255; };
  const Jpeg sound = encode(drawn(1920, 1080, checkers), params_of(97));
  Jpeg damaged = sound;
  damaged.resize(damaged.size() - damaged.size() / 16);
  const auto decoder = make_cuda_step_decoder({}, false);
  ASSERT_TRUE(decoder);
  EXPECT_EQ(synchronisations(**decoder, damaged), 2) << "another picture is needed";
  EXPECT_EQ(synchronisations(**decoder, sound), 2) << "a damaged scan was remembered";
  EXPECT_EQ(synchronisations(**decoder, sound), 1) << "a sound one was not";
}

/// It decodes sound scans as the CPU does and refuses others: what huffman_decode leaves behind a
/// fault is undefined, and no later stage may read it.
TEST_F(DecodePathParity, TheStagedDecoderRefusesDamage) {
  for (const bool restarts : {false, true}) {
    const RestartPolicy restart = restarts ? RestartPolicy::mcu_rows(1) : RestartPolicy::none();
    const Jpeg sound = encode(Content::photo, 640, 480, params_of(90, restart));
    const TestFrame expected = decoded_by_cpu(sound);
    TestFrame found = empty_frame(sound);
    const auto decoder = make_cuda_step_decoder({}, true);
    ASSERT_TRUE(decoder) << decoder.status().message();
    // The end of the scan, or of its second interval, is missing.
    Jpeg damaged = sound;
    const std::byte marker[] = {std::byte{0xFF}, restarts ? std::byte{0xD1} : std::byte{0xD9}};
    const auto end = std::ranges::search(damaged, marker);
    ASSERT_FALSE(end.empty());
    damaged.erase(end.begin() - 64, end.begin());
    std::vector<StepTime> steps;
    for (int turn = 0; turn < 2; ++turn) {
      const Status refused = (*decoder)->decode(damaged, found.view(), steps);
      EXPECT_EQ(refused.code(), Errc::invalid_argument) << refused.message();
      const Status status = (*decoder)->decode(sound, found.view(), steps);
      ASSERT_TRUE(status.is_ok()) << status.message();
      EXPECT_TRUE(found == expected) << "other samples";
    }
  }
}

TEST_F(DecodePathParity, LargeFramesTakeIt) {
  for (const auto& restart : {RestartPolicy::none(), RestartPolicy::automatic()})
    for (const Content content : {Content::photo, Content::noise, Content::flat}) {
      SCOPED_TRACE(name(content));
      expect(encode(content, 3840, 2160, params_of(90, restart)), 0);
    }
  // More chunks than run at once, in many intervals.
  const Jpeg jpeg = encode(Content::photo, 7680, 4320, params_of(80, RestartPolicy::mcu_rows(1)));
  ASSERT_GT(jpeg.size(), kMostFollowedRestartBytes / 2);
  ASSERT_LE(jpeg.size(), kMostFollowedRestartBytes);
  expect(jpeg, 0);
}

/// Kernels are launched by graphs then, which are kept for some kinds of scans.
TEST_F(DecodePathParity, ScansBesideOthersTakeIt) {
  const ScanInFlight other(0);
  const EncodeParams dense = params_of(97, RestartPolicy::automatic(), HuffmanTables::optimal);
  for (int turn = 0; turn < 4; ++turn)
    for (const int width : {1920, 640, 200}) {
      expect(encode(Content::photo, width, 480 + turn, {}), 0);
      expect(encode(Content::noise, width, 480 + turn, dense), 0);
      expect(encode(Content::flat, width, 480 + turn, {}), 0);
    }
}

/// An application's kernel may take nearly all of the GPU and wait for the frame, which hung where
/// kernels followed the bus. The first image allocates what the second needs: allocating waits for
/// all kernels.
TEST_F(DecodePathParity, OneProcessorIsEnough) {
  const Jpeg jpeg = encode(Content::photo, 1920, 1080, EncodeParams());
  expect(jpeg, 0);
  const BusyDevice busy;
  ASSERT_TRUE(busy.is_busy());
  const Compared planes = pair_->planes(jpeg);
  EXPECT_EQ(planes.difference, "");
  ASSERT_TRUE(planes.report);
  EXPECT_TRUE(is_number(planes.report->cpu_scans, 0));
  EXPECT_TRUE(busy.is_busy()) << "the frame came when the other kernel had ended";
}

/// Streams of cameras, phones and programs: the same of all, and the GPU decodes those that have no
/// oddity, however many scans they have.
TEST_F(DecodePathParity, Corpus) {
  const auto data = test_data();
  if (!data) GTEST_SKIP() << kNoTestData;
  int sound = 0;
  for (const Row& row : read_tsv(*data / "MANIFEST.tsv")) {
    const std::string& kind = row.at("class");
    if (kind == "container" || kind.starts_with("source")) continue;
    SCOPED_TRACE(row.at("path"));
    const Jpeg jpeg = read_file(*data / row.at("path"));
    pair_->expect_same(jpeg);
    if (HasFatalFailure()) return;
    if (kind != "valid") continue;
    const auto report = pair_->planes(jpeg).report;
    ASSERT_TRUE(report);
    if (!report->first_problem.is_ok()) continue;
    EXPECT_TRUE(is_number(report->cpu_scans, 0));
    ++sound;
  }
  EXPECT_GT(sound, 250);
}

TEST_F(DecodePathParity, CoefficientsAreDecodedByTheCpu) {
  const Jpeg jpeg = encode(Content::photo, 100, 60, {});
  for (int turn = 0; turn < 2; ++turn) {
    const Compared coefficients = pair_->coefficients(jpeg);
    EXPECT_EQ(coefficients.difference, "");
    ASSERT_TRUE(coefficients.report);
    EXPECT_EQ(coefficients.report->cpu_scans, 1);
    expect(jpeg, 0);
  }
}

TEST_F(DecodePathParity, ExtremeValuesAreDecodedByTheCpu) {
  for (const char* file : {"extreme_coefs.jpg", "dc_accumulate_pos.jpg", "dc_accumulate_neg.jpg"}) {
    SCOPED_TRACE(file);
    const Jpeg jpeg = read_file(project_tests() / "hostile" / file);
    expect(jpeg, 1);
    const auto report = pair_->planes(jpeg).report;
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->first_problem.is_ok()) << report->first_problem.message();
  }
}

/// Undamaged, but large AC levels meet the largest table entries.
TEST_F(DecodePathParity, ExtremeAcValuesAreDecodedByTheCpu) {
  EncodeParams params;
  params.quality = 100;
  Jpeg jpeg = encode(Content::checker, 200, 120, params);
  const Headers headers = parse_headers(jpeg);
  for (const Segment& segment : headers.segments)
    for (std::size_t i = 0; segment.marker == 0xDB && i < segment.payload.size(); ++i)
      if (i % 65 != 0) jpeg[segment.offset + 4 + i] = std::byte{255};
  std::vector<ComponentCoefficients> coefficients;
  ASSERT_TRUE(pair_->cpu().decode_coefficients(jpeg, coefficients));
  const auto& luma = coefficients[0].values;
  bool extreme = false;
  for (std::size_t i = 0; i < luma.size(); ++i)
    extreme = extreme || (i % 64 != 0 && std::abs(luma[i]) * 255 > 32767);
  ASSERT_TRUE(extreme);
  expect(jpeg, 1);
}

/// Bits of T.81's standard codes for luma, as bytes with stuffed zeros.
std::vector<std::byte> bytes_of(const std::string& bits) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < bits.size(); i += 8) {
    bytes.push_back(static_cast<std::byte>(std::stoi(bits.substr(i, 8), nullptr, 2)));
    if (bytes.back() == std::byte{0xFF}) bytes.push_back(std::byte{0});
  }
  return bytes;
}

/// A codeword runs past the end of each interval, whose last subsequence has one byte. So this one
/// seems to begin behind the next interval's first; half of the chunks begin with such a
/// subsequence, a quarter of these in the next word.
TEST_F(DecodePathParity, CodewordsPastTheEndsOfIntervalsAreDecodedByTheCpu) {
  TestFrame frame(PixelFormat::gray8, 1280, 720, Layout::tight, 128);
  EncodeParams params;
  params.restart = RestartPolicy::mcus(1);
  const Jpeg sound = encode(frame, params);
  // DC 0; ten AC levels of ten bits, seven of one, one of two; nine bits of the next codeword.
  std::string bits = "00";
  for (int i = 0; i < 10; ++i)
    bits +=
        "1111111110000011"
        "0111111110";
  for (int i = 0; i < 7; ++i)
    bits +=
        "00"
        "1";
  bits +=
      "01"
      "10";
  ASSERT_EQ(bits.size() + 1, kSubsequenceBits);
  bits += "111111111";
  const std::vector<std::byte> interval = bytes_of(bits);
  const std::size_t headers = parse_headers(sound).data_offset;
  Jpeg jpeg(sound.begin(), sound.begin() + static_cast<std::ptrdiff_t>(headers));
  constexpr int kIntervals = 1280 / 8 * 720 / 8;
  for (int i = 0; i < kIntervals; ++i) {
    jpeg.insert(jpeg.end(), interval.begin(), interval.end());
    jpeg.push_back(std::byte{0xFF});
    jpeg.push_back(static_cast<std::byte>(i + 1 < kIntervals ? 0xD0 + i % 8 : 0xD9));
  }
  expect(jpeg, 1);
}

/// A stream with a restart marker after every four MCUs, where its data begin and where its markers
/// are.
struct Marked {
  Jpeg jpeg;
  std::size_t scan = 0;
  std::vector<std::ptrdiff_t> markers;  ///< offsets of their FF
};

Marked make_marked() {
  Marked out{encode(Content::photo, 200, 120, params_of(90, RestartPolicy::mcus(4))), 0, {}};
  out.scan = parse_headers(out.jpeg).data_offset;
  for (std::size_t i = out.scan; i + 1 < out.jpeg.size(); ++i)
    if (out.jpeg[i] == std::byte{0xFF} && (out.jpeg[i + 1] & std::byte{0xF8}) == std::byte{0xD0})
      out.markers.push_back(static_cast<std::ptrdiff_t>(i));
  return out;
}

TEST_F(DecodePathParity, DamagedScansAreDecodedByTheCpuAndTheNextOneIsNot) {
  const Marked marked = make_marked();
  ASSERT_GT(marked.markers.size(), 8u);
  const auto at = [](Jpeg& jpeg, std::ptrdiff_t offset) { return jpeg.begin() + offset; };
  std::deque<std::pair<const char*, Jpeg>> damaged;
  const auto make = [&](const char* what) -> Jpeg& {
    return damaged.emplace_back(what, marked.jpeg).second;
  };
  const auto& markers = marked.markers;
  const auto code_of = [&](Jpeg& jpeg, std::size_t marker) -> std::byte& {
    return jpeg[static_cast<std::size_t>(markers[marker] + 1)];
  };
  make("cut in half").resize((marked.scan + marked.jpeg.size()) / 2);
  Jpeg& exchanged = make("two markers exchanged");
  std::swap(code_of(exchanged, 2), code_of(exchanged, 3));
  Jpeg& missing = make("a marker missing");
  missing.erase(at(missing, markers[4]), at(missing, markers[4] + 2));
  Jpeg& twice = make("a marker twice");
  const std::byte again[] = {std::byte{0xFF}, code_of(twice, 4)};
  twice.insert(at(twice, markers[4]), std::begin(again), std::end(again));
  Jpeg& empty = make("an interval without bytes");
  empty.erase(at(empty, markers[1] + 2), at(empty, markers[2]));
  Jpeg& long_one = make("bytes too many in an interval");
  long_one.insert(at(long_one, markers[3]), 2, std::byte{0x55});
  Jpeg& ones = make("ones instead of an interval");
  for (std::ptrdiff_t i = markers[5] + 2; i < markers[6]; ++i)
    ones[static_cast<std::size_t>(i)] = i % 2 == 0 ? std::byte{0xFE} : std::byte{0xFD};
  for (const auto& [what, jpeg] : damaged) {
    SCOPED_TRACE(what);
    expect(jpeg, 1);
    const auto report = pair_->planes(jpeg).report;
    ASSERT_TRUE(report);
    EXPECT_FALSE(report->first_problem.is_ok());
    expect(marked.jpeg, 0);
  }
}

/// An interval with the blocks of two, then two markers in order: after them the number of blocks
/// is right again.
TEST_F(DecodePathParity, AnEmptyIntervalBehindADoubleOneIsDamage) {
  const Marked marked = make_marked();
  const auto begin = marked.jpeg.begin();
  auto from = begin + static_cast<std::ptrdiff_t>(marked.scan);
  std::uint8_t number = 0;
  Jpeg jpeg(begin, from);
  const auto put_interval = [&](Jpeg::const_iterator end, int with_markers) {
    jpeg.insert(jpeg.end(), from, end);
    for (; with_markers > 0; --with_markers, ++number) {
      jpeg.push_back(std::byte{0xFF});
      jpeg.push_back(static_cast<std::byte>(0xD0 + number % 8));
    }
  };
  for (const std::ptrdiff_t marker : marked.markers) {
    put_interval(begin + marker, 2);
    from = begin + marker + 2;
  }
  const auto eoi = marked.jpeg.end() - 2;
  put_interval(eoi, 1);
  jpeg.insert(jpeg.end(), eoi, marked.jpeg.end());
  // As many intervals as an image needs if its DRI says two MCUs instead of four.
  const Headers headers = parse_headers(jpeg);
  const Segment* const dri = headers.find(0xDD);
  ASSERT_NE(dri, nullptr);
  jpeg[dri->offset + 5] = std::byte{2};
  const auto report = pair_->planes(jpeg);
  EXPECT_EQ(report.difference, "");
  ASSERT_TRUE(report.report);
  EXPECT_GT(report.report->concealed_intervals, 10);
  EXPECT_EQ(report.report->cpu_scans, 1);
}

TEST_F(DecodePathParity, TablesAreThoseOfTheHost) {
  const auto sample = sample_tables();
  const auto bytes_of = [](const auto& array) { return std::as_bytes(std::span(&array, 1)); };
  for (std::size_t first = 0; first + kMaxTablePairs <= sample.size(); ++first) {
    SCOPED_TRACE(testing::Message() << "tables " << first << " and behind");
    const auto expected = make_host_tables({&sample[first], kMaxTablePairs});
    ScanTablesSource source{};
    for (std::size_t p = 0; p < kMaxTablePairs; ++p) {
      source.codes.of[kDcSide][p] = sample[first + p].dc;
      source.codes.of[kAcSide][p] = sample[first + p].ac;
    }
    for (auto& component : source.steps.step)
      std::ranges::fill(component, static_cast<std::uint32_t>(first + 1));
    auto found = std::make_unique<WalkTables>();
    DeviceBuffer<WalkTables> tables;
    ASSERT_TRUE(tables.reserve(1));
    DeviceBuffer<ScanSteps> steps;
    ASSERT_TRUE(steps.reserve(1));
    ASSERT_EQ(cudaMemset(tables.data(), 0xC5, sizeof *found), cudaSuccess);
    ASSERT_TRUE(
        make_scan_tables(source, kMaxTablePairs, tables.data(), steps.data(), stream_.get()));
    ASSERT_EQ(cudaStreamSynchronize(stream_.get()), cudaSuccess);
    ASSERT_EQ(cudaMemcpy(found.get(), tables.data(), sizeof *found, cudaMemcpyDeviceToHost),
              cudaSuccess);
    EXPECT_TRUE(std::ranges::equal(bytes_of(expected->skip), bytes_of(found->skip)));
    EXPECT_TRUE(std::ranges::equal(bytes_of(expected->symbol), bytes_of(found->symbol)));
    EXPECT_TRUE(std::ranges::equal(bytes_of(expected->long_symbol), bytes_of(found->long_symbol)));
    EXPECT_TRUE(std::ranges::equal(bytes_of(expected->source), bytes_of(found->source)));
    // The steps alone leave the tables as they are.
    for (const int more : {0, 1}) {
      source.steps.lowest_usual += static_cast<std::uint32_t>(more);
      if (more == 1) {
        ASSERT_TRUE(make_scan_tables(source, 0, tables.data(), steps.data(), stream_.get()));
      }
      ScanSteps found_steps{};
      ASSERT_EQ(cudaStreamSynchronize(stream_.get()), cudaSuccess);
      ASSERT_EQ(cudaMemcpy(&found_steps, steps.data(), sizeof found_steps, cudaMemcpyDeviceToHost),
                cudaSuccess);
      EXPECT_TRUE(std::ranges::equal(bytes_of(source.steps.step), bytes_of(found_steps.step)));
      EXPECT_EQ(source.steps.lowest_usual, found_steps.lowest_usual);
      auto again = std::make_unique<WalkTables>();
      ASSERT_EQ(cudaMemcpy(again.get(), tables.data(), sizeof *again, cudaMemcpyDeviceToHost),
                cudaSuccess);
      EXPECT_TRUE(std::ranges::equal(bytes_of(*found), bytes_of(*again)));
    }
  }
}

// The samples alone, whoever decodes them.

class DecodeParity : public GpuTest {};

TEST_F(DecodeParity, EveryPixelFormatAndFilter) {
  for (const auto upsampling : {ChromaUpsampling::fancy, ChromaUpsampling::nearest}) {
    DecoderPair pair(upsampling);
    ASSERT_TRUE(pair.ready());
    for (const Subsampling sampling : kAllSubsamplings) {
      EncodeParams params;
      params.subsampling = sampling;
      const Jpeg jpeg = encode(Content::photo, 131, 77, params);
      for (const PixelFormat format : kAllFormats) pair.expect_same_frame(jpeg, format);
      if (HasFatalFailure()) return;
    }
  }
}

/// The frame's format is made right behind a scan with every component; nothing that follows that
/// scan changes its samples, or their colour model.
TEST_F(DecodeParity, WhatFollowsTheLastComponent) {
  EncodeParams params;
  const Jpeg first = encode(Content::photo, 131, 77, params);
  const Jpeg second = encode(Content::gradient, 131, 77, params);
  const auto scan = from_sos(second);
  Jpeg again(first.begin(), first.end() - 2);  // without EOI
  again.insert(again.end(), scan.begin(), scan.end());
  // Beside JFIF, Adobe's segment would not count.
  const Jpeg plain = without_segments(first, 0xE0);
  const Jpeg rgb =
      with_inserted(plain, plain.size() - 2,
                    make_segment(0xEE, {'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, 0}));
  for (const auto upsampling : {ChromaUpsampling::fancy, ChromaUpsampling::nearest}) {
    DecoderPair pair(upsampling);
    ASSERT_TRUE(pair.ready());
    for (const PixelFormat format : kAllFormats) {
      pair.expect_same_frame(again, format);
      pair.expect_same_frame(rgb, format);
      pair.expect_same_frame(first, format);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(DecodeParity, HostileStreams) {
  DecoderPair pair;
  ASSERT_TRUE(pair.ready());
  for (const auto& entry : std::filesystem::directory_iterator(project_tests() / "hostile")) {
    if (entry.path().extension() != ".jpg") continue;
    SCOPED_TRACE(entry.path().filename());
    pair.expect_same(read_file(entry.path()));
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace zerorun::test
