// The coder of coefficients: with libjpeg-turbo's script its bytes are libjpeg's, and with a
// searched one libjpeg reads the same coefficients.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "codec/base/marker.hpp"
#include "codec/encode/progressive_scan.hpp"
#include "codec/pipeline/coefficient_coder.hpp"
#include "tests/oracle/compare.hpp"
#include "tests/support/libjpeg_decode.hpp"
#include "tests/support/random.hpp"
#include "tests/support/resources.hpp"
#include "tests/support/test_frame.hpp"

namespace zerorun::test {
namespace {

using Scans = CoefficientCoding::Scans;

bool has_scan(HeaderParser& parser) {
  const auto found = parser.next_scan();
  return found && *found;
}

/// Moves the parser behind the data of its scan.
bool skip_data(const Bytes& jpeg, HeaderParser& parser) {
  for (std::size_t at = parser.scan().data_offset; at + 1 < jpeg.size(); ++at) {
    const auto code = static_cast<std::uint8_t>(jpeg[at + 1]);
    if (jpeg[at] != std::byte{0xFF} || code == 0 || (code >= 0xD0 && code <= 0xD7)) continue;
    parser.resume_at(at);
    return true;
  }
  return false;
}

zerorun::ScanScript script_of(const Bytes& jpeg) {
  HeaderParser parser(jpeg, StreamLimits::any_size());
  EXPECT_TRUE(parser.start());
  zerorun::ScanScript script;
  while (has_scan(parser)) {
    const ScanHeader& scan = parser.scan();
    ScanSpec& spec = script.emplace_back();
    for (const int c : scan.components)
      spec.component[spec.components++] = static_cast<std::uint8_t>(c);
    spec.ss = static_cast<std::uint8_t>(scan.ss);
    spec.se = static_cast<std::uint8_t>(scan.se);
    spec.ah = static_cast<std::uint8_t>(scan.ah);
    spec.al = static_cast<std::uint8_t>(scan.al);
    if (!skip_data(jpeg, parser)) break;
  }
  return script;
}

/// The coefficients of a stream, as libjpeg reads them, and the segments in front of DQT.
class Coefficients {
 public:
  explicit Coefficients(const Bytes& jpeg) : parser_(jpeg, StreamLimits::any_size()) {
    EXPECT_TRUE(libjpeg_coefficients(jpeg, components_).delivered);
    EXPECT_TRUE(parser_.start());
    EXPECT_TRUE(has_scan(parser_));
    header_ = parser_.frame();
    frame_.frame = &header_;
    frame_.color = parser_.color_model();
    std::vector<QuantTable> quant(4);
    do {
      const ScanHeader& scan = parser_.scan();
      for (std::size_t i = 0; i < scan.components.size(); ++i)
        frame_.quant[scan.components[i]] = scan.quant[i];
      parser_.resume_at(scan.data_offset);
    } while (skip_data(jpeg, parser_) && has_scan(parser_));
    for (std::size_t c = 0; c < components_.size(); ++c) store(c);
    for (std::size_t at = 2; at + 3 < jpeg.size() && jpeg[at + 1] != std::byte{marker::kDqt};)
      at += 2 +
            (static_cast<std::size_t>(jpeg[at + 2]) << 8 | static_cast<std::size_t>(jpeg[at + 3])),
          lead_ = at;
    before_dqt_.assign(jpeg.begin(), jpeg.begin() + static_cast<std::ptrdiff_t>(lead_));
  }

  Bytes code(const CoefficientCoding& coding) const {
    std::vector<std::uint8_t> out;
    for (const std::byte byte : before_dqt_) out.push_back(static_cast<std::uint8_t>(byte));
    const Status status = CoefficientCoder().code(frame_, coding, nullptr, out);
    EXPECT_TRUE(status) << status.message();
    Bytes bytes;
    for (const std::uint8_t byte : out) bytes.push_back(std::byte{byte});
    return bytes;
  }

  const std::vector<ComponentCoefficients>& components() const { return components_; }
  CoefficientFrame& frame() { return frame_; }

 private:
  struct Memory {
    std::vector<std::int16_t> dc, ac;
    std::vector<std::uint64_t> nonzero;
  };

  void store(std::size_t c) {
    const ComponentCoefficients& from = components_[c];
    Memory& memory = memory_[c];
    const auto blocks = static_cast<std::size_t>(from.blocks_wide * from.blocks_high);
    memory.ac = from.values;
    for (std::size_t b = 0; b < blocks; ++b) {
      std::int16_t* const ac = memory.ac.data() + b * kBlockSize;
      memory.dc.push_back(std::exchange(ac[0], std::int16_t{0}));
      std::uint64_t nonzero = 0;
      for (std::size_t k = 1; k < kBlockSize; ++k)
        nonzero |= std::uint64_t{ac[kNaturalOfZigzag[k]] != 0} << k;
      memory.nonzero.push_back(nonzero);
    }
    frame_.blocks[c] = {from.blocks_wide, from.blocks_high, memory.dc.data(), memory.nonzero.data(),
                        memory.ac.data()};
  }

  HeaderParser parser_;
  FrameHeader header_;
  std::vector<ComponentCoefficients> components_;
  Memory memory_[kMaxDecodedComponents];
  CoefficientFrame frame_;
  std::size_t lead_ = 2;
  Bytes before_dqt_;
};

void expect_libjpegs_bytes(Size size, Subsampling sampling, const LibjpegOptions& options,
                           std::uint64_t seed = 1) {
  LibjpegOptions plain = options;
  plain.progressive = plain.optimal = false;
  const Coefficients coefficients(libjpeg_sample(size.width, size.height, sampling, plain, seed));
  const Bytes wanted = libjpeg_sample(size.width, size.height, sampling, options, seed);
  CoefficientCoding coding;
  if (options.progressive) {
    coding.scans = Scans::given;
    coding.script = script_of(wanted);
    ASSERT_GT(coding.script.size(), 5u);
  }
  coding.restart_interval = options.restart_mcus;
  coding.restart_rows = options.restart_rows;
  const Bytes coded = coefficients.code(coding);
  ASSERT_EQ(coded.size(), wanted.size());
  EXPECT_TRUE(coded == wanted);
}

LibjpegOptions kind_of(bool is_progressive) {
  LibjpegOptions options;
  options.progressive = is_progressive;
  options.optimal = true;
  return options;
}

TEST(CoefficientCoder, BytesAreLibjpegsInAllSamplingsAndSizes) {
  for (const bool is_progressive : {false, true})
    for (const Subsampling sampling : kAllSubsamplings)
      for (const Size size : {Size{1, 1}, Size{8, 8}, Size{17, 9}, Size{53, 41}, Size{330, 260}})
        for (const int quality : {20, 90, 100}) {
          if (kSanitized && quality == 90) continue;
          SCOPED_TRACE(std::string(name(sampling)) + " " + to_string(size) + " " +
                       std::to_string(quality) + (is_progressive ? " progressive" : ""));
          LibjpegOptions options = kind_of(is_progressive);
          options.quality = quality;
          expect_libjpegs_bytes(size, sampling, options);
          if (HasFailure()) return;
        }
}

TEST(CoefficientCoder, BytesAreLibjpegsWithRestartIntervals) {
  Random random(5);
  for (int round = 0; round < 40; ++round) {
    LibjpegOptions options = kind_of(round % 2 == 0);
    options.quality = random.between(10, 100);
    (round % 4 < 2 ? options.restart_mcus : options.restart_rows) = random.between(1, 9);
    const Size size{random.between(1, 150), random.between(1, 120)};
    SCOPED_TRACE("round " + std::to_string(round) + " " + to_string(size));
    expect_libjpegs_bytes(size, kAllSubsamplings[random.below(6)], options,
                          static_cast<std::uint64_t>(round));
    if (HasFailure()) return;
  }
}

TEST(CoefficientCoder, BytesAreLibjpegsForFourComponents) {
  for (const bool is_progressive : {false, true})
    for (const bool is_ycck : {false, true})
      for (const int luma : {0x11, 0x21, 0x22}) {
        LibjpegOptions options = kind_of(is_progressive);
        options.cmyk_stream = true;
        options.ycck_stream = is_ycck;
        options.factors[0] = {luma >> 4, luma & 15};
        if (luma != 0x22 || is_ycck) options.black = options.factors[0];
        SCOPED_TRACE(std::to_string(luma) + (is_ycck ? " YCCK" : " CMYK"));
        expect_libjpegs_bytes({83, 61}, Subsampling::s444, options);
      }
}

/// Runs of 32767 EOBs.
TEST(CoefficientCoder, LongRunsAreCutAsLibjpegCutsThem) {
  for (const int low : {1, 255}) {
    LibjpegOptions options = kind_of(true);
    options.luma_table.emplace();
    options.luma_table->fill(255);
    (*options.luma_table)[1] = static_cast<std::uint16_t>(low);
    expect_libjpegs_bytes({2400, 1000}, Subsampling::gray, options);
  }
}

/// Blocks of a few large coefficients: their correction bits wait for the end of the run of EOBs,
/// and libjpeg gathers about 937 of them.
TEST(CoefficientCoder, CorrectionBitsAreGatheredAsLibjpegGathersThem) {
  for (const int waves : {1, 2, 5, 7}) {
    constexpr int kSide = 400;
    std::vector<std::uint8_t> samples(kSide * kSide);
    for (int y = 0; y < kSide; ++y)
      for (int x = 0; x < kSide; ++x) {
        double value = 128;
        for (int w = 1; w <= waves; ++w)
          value += 14 * std::cos((2 * (x % 8) + 1) * w * std::numbers::pi / 16) *
                   std::cos((2 * (y % 8) + 1) * (w % 3) * std::numbers::pi / 16);
        samples[static_cast<std::size_t>(y * kSide + x)] = static_cast<std::uint8_t>(value);
      }
    const ComponentSource source{kSide, kSide, samples.data(), kSide};
    LibjpegOptions options = kind_of(true);
    options.quality = 80;
    const Bytes wanted = libjpeg_encode_planes(kSide, kSide, {&source, 1}, options);
    options.progressive = false;
    const Coefficients coefficients(libjpeg_encode_planes(kSide, kSide, {&source, 1}, options));
    EXPECT_TRUE(coefficients.code({.scans = Scans::given, .script = script_of(wanted)}) == wanted)
        << waves;
  }
}

/// T.81 B.2.3 allows ten blocks in an MCU: components whose blocks are more do not share a scan.
TEST(CoefficientCoder, MoreThanTenBlocksInAnMcuAreSplit) {
  LibjpegOptions options;
  options.cmyk_stream = true;
  options.factors = {SamplingFactors{2, 2}, {2, 2}, {2, 2}};
  options.scans = {{0}, {1}, {2}, {3}};
  const Coefficients coefficients(libjpeg_sample(70, 50, Subsampling::s444, options));
  for (const Scans scans : {Scans::sequential, Scans::searched}) {
    std::vector<ComponentCoefficients> read;
    EXPECT_TRUE(libjpeg_coefficients(coefficients.code({scans}), read).clean());
    ASSERT_EQ(read.size(), 4u);
    for (std::size_t c = 0; c < 4; ++c)
      EXPECT_TRUE(read[c].values == coefficients.components()[c].values);
  }
}

TEST(CoefficientCoder, CountsBandsTogetherAsAlone) {
  Random random(9);
  for (int round = 0; round < 12; ++round) {
    LibjpegOptions options;
    options.quality = random.between(10, 100);
    Coefficients coefficients(libjpeg_sample(random.between(1, 300), random.between(1, 200),
                                             Subsampling::gray, options,
                                             static_cast<std::uint64_t>(round)));
    const StoredBlocks& blocks = coefficients.frame().blocks[0];
    if (round == 1) std::fill_n(blocks.nonzero, blocks.blocks_wide, std::uint64_t{0});
    BlockPacker packer;
    ASSERT_TRUE(packer.pack(blocks, kNaturalOfZigzag.data()));
    const ComponentSpec shape;
    const int first = 0;
    ScanCoding scan{{},
                    make_scan_layout(8 * blocks.blocks_wide, 8 * blocks.blocks_high, &shape, 1,
                                     &first, 1, round % 3 == 0 ? random.between(1, 50) : 0),
                    {&packer.packed()}};
    for (int al = 0; al <= kMaxLowBits; ++al) {
      std::vector<ScanCoding> scans;
      for (const ScanSpec& spec : candidate_scans(1, true)) {
        if (spec.is_dc() || spec.is_refinement() || spec.al != al) continue;
        scan.spec = spec;
        scans.push_back(scan);
      }
      ASSERT_GT(scans.size(), 5u);
      std::vector<ScanCounts> together(scans.size());
      count_first_scans(scans, together.data());
      for (std::size_t i = 0; i < scans.size(); ++i) {
        ScanCounts alone;
        count_scan(scans[i], alone);
        ASSERT_EQ(std::memcmp(&alone, &together[i], sizeof alone), 0)
            << "round " << round << " Al " << al << " scan " << i;
      }
    }
  }
}

TEST(CoefficientCoder, RefusesWhatNoSymbolHolds) {
  Coefficients coefficients(libjpeg_sample(40, 40, Subsampling::gray));
  StoredBlocks& blocks = coefficients.frame().blocks[0];
  CoefficientCoder coder;
  std::vector<std::uint8_t> out;
  const auto code = [&](const CoefficientCoding& coding) {
    return coder.code(coefficients.frame(), coding, nullptr, out).code();
  };
  EXPECT_EQ(code({}), Errc::ok);
  EXPECT_EQ(code({Scans::searched, 0, 20000}), Errc::invalid_argument);
  blocks.dc[2] = blocks.dc[4] = 0;
  blocks.dc[3] = 32767;
  EXPECT_EQ(code({}), Errc::ok);
  blocks.dc[4] = -32768;
  EXPECT_EQ(code({}), Errc::invalid_argument);
  EXPECT_EQ(code({Scans::searched}), Errc::invalid_argument);
  blocks.dc[3] = blocks.dc[4] = 0;
  blocks.nonzero[2] |= 2;
  blocks.ac[2 * kBlockSize + 1] = -32768;
  EXPECT_EQ(code({Scans::searched}), Errc::invalid_argument);
  blocks.ac[2 * kBlockSize + 1] = -32767;
  EXPECT_EQ(code({Scans::searched}), Errc::ok);
}

}  // namespace
}  // namespace zerorun::test
