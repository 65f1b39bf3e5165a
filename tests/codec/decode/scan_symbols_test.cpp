// The symbols of a scan, coded again, are the bytes that its coefficients give: streams with all
// that an encoder would not send, by the reference stages and the fast ones.
// SPDX-License-Identifier: MIT
#include "codec/decode/scan_symbols.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "codec/base/marker.hpp"
#include "codec/pipeline/coefficient_coder.hpp"
#include "codec/pipeline/cpu_choice.hpp"
#include "codec/pipeline/decode_walk.hpp"
#include "codec/syntax/header_writer.hpp"
#include "tests/support/bit_writer.hpp"
#include "tests/support/random.hpp"

namespace zerorun::test {
namespace {

using Stream = std::vector<std::uint8_t>;

/// The rest of a stream is random.
struct Shape {
  int width, height;
  std::vector<SofComponent> components;
  int restart_interval = 0;
  bool is_skewed = false;  ///< codewords have 1 to 16 bits, and not about as many each
};

/// Table 0 of DC and table 2 of AC, with codewords for all symbols.
std::array<zerorun::HuffmanSpec, 3> make_specs(bool is_skewed) {
  std::array<std::uint32_t, 256> dc{}, ac;
  for (std::uint32_t s = 0; s < 16; ++s) dc[s] = is_skewed ? 1u << s : 1;
  for (std::uint32_t s = 0; s < 256; ++s) ac[s] = is_skewed ? 1 + 90000 / (s + 1) : 1;
  return {optimal_huffman_spec(dc), {}, optimal_huffman_spec(ac)};
}

/// Writes the codewords of an interval, with stuffed bytes.
struct IntervalWriter : BitWriter {
  IntervalWriter(const std::array<zerorun::HuffmanSpec, 3>& specs, Stream& out)
      : BitWriter(out, true) {
    for (const int t : {0, 2}) fill_encode_table(specs[static_cast<std::size_t>(t)], t, tables);
  }
  void put(const Symbol& symbol) {
    codeword(tables, symbol.table, symbol.rrrrssss);
    bits(symbol.appended, symbol.rrrrssss & 15);
  }
  HuffmanEncodeTables tables;
};

/// All sizes, ZRLs before EOB and up to the end of the block, EOBs of other numbers.
void put_ac(Random& random, IntervalWriter& out) {
  int k = 1;
  const auto put_zrls = [&](int count) {
    for (; count > 0 && k + 16 <= kBlockSize; --count, k += 16) out.put({kZrl, 2, 0});
  };
  for (int left = random.below(4) == 0 ? 0 : random.below(20); left > 0; --left) {
    const int run = random.below(4) == 0 ? random.below(16) : random.below(3);
    if (k + run >= kBlockSize) break;
    const int most = random.below(9) == 0 ? 32767 : random.below(3) == 0 ? 60 : 2;
    out.put(make_symbol(run, random.between(1, most) * (random.below(2) == 0 ? 1 : -1), 2));
    k += run + 1;
    if (random.below(9) == 0 && k + 16 < kBlockSize) put_zrls(1);
  }
  if (random.below(3) == 0) put_zrls(random.below(4));
  const int reserved = random.below(8) == 0 ? random.below(15) << 4 : kEob;
  if (k < kBlockSize) out.put({static_cast<std::uint8_t>(reserved), 2, 0});
}

/// One scan; blocks of padding have coefficients of their own. The tables of the components are
/// different destinations with the same codes.
Stream odd_stream(const Shape& shape, std::uint64_t seed, int most_dc = 9000) {
  Random random(seed);
  const auto specs = make_specs(shape.is_skewed);
  Stream out{0xFF, marker::kSoi};
  QuantTable quant;
  quant.fill(3);
  put_dqt(0, quant, out);
  put_sof(marker::kSof1, shape.width, shape.height, shape.components, out);
  std::vector<SosComponent> scan;
  std::vector<ComponentSpec> factors;
  std::vector<int> all;
  for (const SofComponent& c : shape.components) {
    const int number = static_cast<int>(all.size());
    scan.push_back({c.id, 3 - number, number == 0 ? 2 : 1});
    factors.push_back({c.h, c.v, 0, 0});
    all.push_back(number);
  }
  for (int d = 0; d < 4; ++d)
    for (const int table_class : {0, 1})
      put_dht({table_class, d}, specs[static_cast<std::size_t>(2 * table_class)], out);
  if (shape.restart_interval > 0) put_dri(shape.restart_interval, out);
  put_sos(scan, 0, 63, 0, 0, out);
  const int count = static_cast<int>(all.size());
  const ScanLayout layout = make_scan_layout(shape.width, shape.height, factors.data(), count,
                                             all.data(), count, shape.restart_interval);
  for (std::int64_t i = 0; i < layout.intervals(); ++i) {
    IntervalWriter writer(specs, out);
    int last[kMaxDecodedComponents] = {};
    const std::int64_t end = std::min((i + 1) * layout.interval_mcus(), layout.mcus());
    for (std::int64_t mcu = i * layout.interval_mcus(); mcu < end; ++mcu)
      for (int b = 0; b < layout.blocks_per_mcu; ++b) {
        int& dc = last[layout.block_component[b]];
        const int diff = random.below(3) == 0 ? 0 : random.between(-most_dc, most_dc) - dc;
        dc += diff;
        writer.put(make_symbol(0, diff, 0));
        put_ac(random, writer);
      }
    writer.align();
    out.push_back(0xFF);
    out.push_back(i + 1 < layout.intervals() ? static_cast<std::uint8_t>(marker::kRst0 + i % 8)
                                             : std::uint8_t{marker::kEoi});
  }
  return out;
}

struct Parsed {
  explicit Parsed(const Stream& stream)
      : bytes(std::as_bytes(std::span(stream))), parser(bytes, StreamLimits::any_size()) {
    EXPECT_TRUE(parser.start());
    for (auto more = parser.next_scan(); more && *more; more = parser.next_scan())
      put_off_scan(bytes, parser, scans);
  }
  std::span<const std::byte> bytes;
  HeaderParser parser;
  std::vector<FrameScan> scans;
};

/// The stream that is coded from the symbols, or from the blocks, of the frame that was parsed.
Stream coded(CoefficientFrame frame, const Parsed& parsed) {
  frame.frame = &parsed.parser.frame();
  frame.color = parsed.parser.color_model();
  CoefficientCoding coding;
  coding.restart_interval = parsed.scans[0].header.layout.restart_interval;
  Stream out;
  EXPECT_TRUE(CoefficientCoder().code(frame, coding, nullptr, out));
  return out;
}

/// Nothing if the symbols are refused.
std::optional<Stream> by_symbols(const Stream& stream, InstructionSet set) {
  Parsed parsed(stream);
  const auto pipeline = make_chosen_decode_pipeline(1, set);
  const auto symbols = std::make_unique<ScanSymbols>();
  if (!pipeline->read_symbols(parsed.parser.frame(), parsed.scans, parsed.parser.color_model(),
                              *symbols))
    return std::nullopt;
  CoefficientFrame frame;
  frame.symbols = symbols.get();
  std::copy(parsed.scans[0].header.quant.begin(), parsed.scans[0].header.quant.end(), frame.quant);
  return coded(frame, parsed);
}

/// Nothing if there is a problem.
std::optional<Stream> by_coefficients(const Stream& stream) {
  Parsed parsed(stream);
  const auto pipeline = make_chosen_decode_pipeline(1, InstructionSet::scalar);
  StoredFrame stored;
  stored.clear(parsed.parser.frame());
  DecodeReport report;
  EXPECT_TRUE(pipeline->begin_coefficients(stored));
  EXPECT_TRUE(decode_put_off(*pipeline, parsed.parser.frame(), parsed.scans, report));
  EXPECT_TRUE(pipeline->finish_coefficients());
  if (!report.first_problem) return std::nullopt;
  CoefficientFrame frame;
  for (std::size_t c = 0; c < parsed.parser.frame().components.size(); ++c) {
    frame.blocks[c] = stored.blocks(c);
    frame.quant[c] = stored.quant(c);
  }
  return coded(frame, parsed);
}

const std::vector<SofComponent> kGray{{1, 2, 2, 0}}, k420{{1, 2, 2, 0}, {2, 1, 1, 0}, {3, 1, 1, 0}},
    k411{{1, 4, 1, 0}, {2, 1, 1, 0}, {3, 2, 1, 0}},
    kInks{{1, 2, 1, 0}, {2, 1, 1, 0}, {3, 1, 1, 0}, {4, 2, 1, 0}};

TEST(ScanSymbols, GiveTheBytesOfTheCoefficients) {
  std::uint64_t seed = 1;
  for (const auto& components : {kGray, k420, k411, kInks})
    for (const auto& [width, height] : {std::pair(9, 7), std::pair(64, 32), std::pair(83, 50)})
      for (const int interval : {0, 1, 3})
        for (const bool is_skewed : {false, true}) {
          SCOPED_TRACE(std::to_string(seed));
          const Stream stream =
              odd_stream({width, height, components, interval, is_skewed}, ++seed);
          const auto wanted = by_coefficients(stream);
          ASSERT_TRUE(wanted);
          for (const InstructionSet set : {InstructionSet::scalar, InstructionSet::best}) {
            const auto made = by_symbols(stream, set);
            ASSERT_TRUE(made);
            ASSERT_EQ(*made, *wanted);
          }
        }
}

TEST(ScanSymbols, RefuseWhatIsNotSound) {
  const Shape shape{83, 50, k420, 3, true};
  const Stream good = odd_stream(shape, 5);
  const auto first_restart = std::adjacent_find(
      good.begin(), good.end(),
      [](std::uint8_t a, std::uint8_t b) { return a == 0xFF && b == marker::kRst0; });
  ASSERT_NE(first_restart, good.end());
  const auto at = first_restart - good.begin();
  const auto changed = [&](const auto& change) {
    Stream stream = good;
    change(stream, stream.begin() + at);
    return by_symbols(stream, InstructionSet::best);
  };
  using At = Stream::iterator;
  EXPECT_TRUE(changed([](Stream&, At) {}));
  EXPECT_FALSE(changed([](Stream&, At rst) { rst[1] ^= 1; })) << "the order of markers";
  EXPECT_FALSE(changed([](Stream& s, At rst) { s.erase(rst, rst + 2); })) << "a marker is missing";
  EXPECT_FALSE(changed([](Stream& s, At rst) { s.insert(rst, {0x55, 0x55}); })) << "stray bytes";
  EXPECT_FALSE(changed([](Stream& s, At rst) { s.erase(rst - 40, rst); })) << "bytes are missing";
  EXPECT_FALSE(changed([](Stream& s, At rst) {
    s.resize(s.size() - static_cast<std::size_t>(s.end() - rst) / 2);
  })) << "the end is missing";
  int refused = 0, taken = 0;
  for (std::size_t back = 3; back < 200; ++back) {
    Stream stream = good;
    stream[stream.size() - back] ^= 4;
    const auto made = by_symbols(stream, InstructionSet::best);
    ++(made ? taken : refused);
    if (made) {
      EXPECT_EQ(made, by_coefficients(stream)) << back;
    }
  }
  EXPECT_GT(refused, 20);
  EXPECT_GT(taken, 20);
  // Differences of 16 bits, which come where sums wrap.
  EXPECT_FALSE(by_symbols(odd_stream(shape, 6, 32767), InstructionSet::best));
}

TEST(ScanSymbols, LeaveFlatPicturesToTheOtherWay) {
  // All blocks are DC 0 and EOB, of one bit each: more symbols than one in two bits.
  std::array<std::uint32_t, 256> counts{};
  counts[0] = 1;
  Stream flat{0xFF, marker::kSoi};
  QuantTable quant;
  quant.fill(3);
  put_dqt(0, quant, flat);
  put_sof(marker::kSof0, 640, 480, kGray, flat);
  put_dht({0, 0}, optimal_huffman_spec(counts), flat);
  put_dht({1, 0}, optimal_huffman_spec(counts), flat);
  put_sos(std::array{SosComponent{1, 0, 0}}, 0, 63, 0, 0, flat);
  flat.insert(flat.end(), 80 * 60 * 2 / 8, std::uint8_t{0});
  flat.insert(flat.end(), {0xFF, marker::kEoi});
  EXPECT_FALSE(by_symbols(flat, InstructionSet::best));
  EXPECT_TRUE(by_coefficients(flat));
}

}  // namespace
}  // namespace zerorun::test
