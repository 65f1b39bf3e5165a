// The scans of a frame: coefficients -> symbols that are counted, or bytes.
// SPDX-License-Identifier: MIT
#include "codec/encode/progressive_scan.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <vector>

#include "codec/arith/host_device.hpp"
#include "codec/arith/symbol.hpp"
#include "codec/base/marker.hpp"
#include "codec/encode/bit_state.hpp"

namespace zerorun {
namespace {

/// libjpeg's bounds of a run of EOBs: its length, and correction bits in front of another block.
constexpr std::uint32_t kMostEobs = 0x7FFF;
constexpr std::uint32_t kMostCorrections = 1000 - 64 + 1;

constexpr std::uint64_t bits_below(int k) { return (std::uint64_t{1} << k) - 1; }
constexpr std::uint64_t band_of(const ScanSpec& spec) {
  return ~std::uint64_t{0} >> (63 - spec.se) & ~std::uint64_t{0} << spec.ss;
}

/// Counts what a BitSink writes.
class CountSink {
 public:
  explicit CountSink(ScanCounts& counts) : counts_(counts) {}
  void symbol(int table, std::uint32_t symbol, std::uint32_t, int extra) {
    ++counts_.count[table][symbol];
    extra_ += static_cast<std::uint64_t>(extra);
  }
  void bits(std::uint64_t, int count) { extra_ += static_cast<std::uint64_t>(count); }
  void end_interval(bool) {}
  void finish() { counts_.extra_bits += extra_; }

  static constexpr bool kWrites = false;

 private:
  ScanCounts& counts_;
  std::uint64_t extra_ = 0;
};

/// Writes stuffed bytes.
class BitSink {
 public:
  BitSink(const HuffmanEncodeTables& tables, std::uint8_t* out) : tables_(tables), state_{out} {}

  /// A codeword and its `extra` bits, 15 at most.
  void symbol(int table, std::uint32_t symbol, std::uint32_t appended, int extra) {
    put(std::uint64_t{tables_.code[table][symbol]} << extra | appended,
        tables_.bits[table][symbol] + extra);
  }
  /// 0..64 bits.
  void bits(std::uint64_t value, int count) {
    if (count > 32) {
      put(value >> 32, count - 32);
      value &= 0xFFFFFFFF;
      count = 32;
    }
    if (count > 0) put(value, count);
  }
  /// Fills the last byte with 1-bits.
  void end_interval(bool is_last) {
    for (; state_.free <= 56; state_.free += 8)
      state_.out =
          put_byte(static_cast<std::uint8_t>(state_.pending << state_.free >> 56), state_.out);
    if (const int fill = state_.free - 56; fill < 8)
      state_.out = put_byte(static_cast<std::uint8_t>(state_.pending << fill | bits_below(fill)),
                            state_.out);
    state_.free = 64;
    if (is_last) return;
    *state_.out++ = 0xFF;
    *state_.out++ = static_cast<std::uint8_t>(marker::kRst0 + interval_++ % 8);
  }
  void finish() {}
  const std::uint8_t* end() const { return state_.out; }

  static constexpr bool kWrites = true;

 private:
  void put(std::uint64_t value, int count) { state_.put(value, count, put_word); }
  static std::uint8_t* put_word(std::uint64_t word, std::uint8_t* out) {
    constexpr std::uint64_t kOnes = 0x0101010101010101;
    const bool has_ff = ((~word - kOnes) & word & kOnes << 7) != 0;
    if (has_ff) {
      for (int shift = 56; shift >= 0; shift -= 8)
        out = put_byte(static_cast<std::uint8_t>(word >> shift), out);
      return out;
    }
    store_big_endian(word, out);
    return out + sizeof word;
  }
  static std::uint8_t* put_byte(std::uint8_t byte, std::uint8_t* out) {
    *out++ = byte;
    if (byte == 0xFF) *out++ = 0;
    return out;
  }

  const HuffmanEncodeTables& tables_;
  BitState state_;
  int interval_ = 0;
};

/// Category and appended bits of a value whose magnitude loses `al` bits.
struct Coded {
  int ssss;
  std::uint32_t bits;
};
inline Coded coded(std::int32_t value, int al) {
  const std::int32_t sign = value >> 31;
  const auto magnitude = static_cast<std::uint32_t>((value ^ sign) - sign) >> al;
  const int ssss = static_cast<int>(std::bit_width(magnitude));
  return {ssss, (magnitude ^ static_cast<std::uint32_t>(sign)) & ((1u << ssss) - 1)};
}

template <typename Sink>
[[gnu::always_inline]] inline void send_dc(std::int32_t dc, std::int32_t& last, int table,
                                           Sink& sink) {
  const Coded diff = coded(dc - last, 0);
  last = dc;
  sink.symbol(table, static_cast<std::uint32_t>(diff.ssss), diff.bits, diff.ssss);
}

/// The coefficients at `which`, behind index `after` - 1. Returns the index behind the last one.
template <typename Sink>
[[gnu::always_inline]] inline int send_ac(const PackedBlocks& blocks, std::int64_t block,
                                          std::uint64_t which, int after, int al, int table,
                                          Sink& sink) {
  const std::int16_t* const value = blocks.value + blocks.first[block];
  const std::uint64_t nonzero = blocks.at_least[0][block];
  while (which != 0) {
    const int k = std::countr_zero(which);
    which &= which - 1;
    int run = k - after;
    after = k + 1;
    for (; run > 15; run -= 16) sink.symbol(table, kZrl, 0, 0);
    const Coded ac = coded(value[std::popcount(nonzero & bits_below(k))], al);
    sink.symbol(table, static_cast<std::uint32_t>(run << 4 | ac.ssss), ac.bits, ac.ssss);
  }
  return after;
}

/// Scans with DC, and sequential ones: MCU by MCU.
template <typename Sink>
[[gnu::always_inline]] inline void send_mcus(const ScanCoding& scan, Sink& sink) {
  const ScanLayout& layout = scan.layout;
  const bool is_sequential = scan.is_sequential(), is_refinement = scan.spec.is_refinement();
  const std::int64_t mcus = layout.mcus(), interval = layout.interval_mcus();
  std::int32_t last[kMaxDecodedComponents] = {};
  for (std::int64_t mcu = 0, to_go = interval; mcu < mcus;) {
    std::int32_t previous = 0;  // DC of the block before, which padding repeats
    for (std::int32_t b = 0; b < layout.blocks_per_mcu; ++b) {
      const BlockPlace place = place_block(layout, mcu, b);
      const ScanLayout::Component& shape = layout.component[place.component];
      const PackedBlocks& blocks = *scan.component[place.component];
      const std::int64_t block = std::int64_t{place.y} * blocks.blocks_wide + place.x;
      if (place.inside) previous = blocks.dc[block];
      const std::int32_t dc = previous >> scan.spec.al;
      if (is_refinement)
        sink.bits(static_cast<std::uint64_t>(dc & 1), 1);
      else
        send_dc(dc, last[place.component], shape.dc_table, sink);
      if (!is_sequential) continue;
      const int table = 2 + shape.ac_table;
      const std::uint64_t which = place.inside ? blocks.at_least[0][block] : 0;
      if (send_ac(blocks, place.inside ? block : 0, which, 1, 0, table, sink) < kBlockSize)
        sink.symbol(table, kEob, 0, 0);
    }
    ++mcu;
    if (--to_go > 0 && mcu < mcus) continue;
    sink.end_interval(mcu == mcus);
    std::fill(last, last + kMaxDecodedComponents, 0);
    to_go = interval;
  }
}

template <typename Sink>
[[gnu::always_inline]] inline void send_symbols(const ScanCoding& scan, Sink& sink) {
  const Symbol* next = scan.symbols;
  const std::int64_t intervals = scan.layout.intervals();
  for (std::int64_t i = 0; i < intervals; ++i) {
    for (const Symbol* const end = scan.symbols + scan.interval_end[i]; next < end; ++next)
      sink.symbol(next->table, next->rrrrssss, next->appended, next->rrrrssss & 15);
    sink.end_interval(i + 1 == intervals);
  }
}

/// EOBn.
template <typename Sink>
[[gnu::always_inline]] inline void send_eobs(std::uint32_t& eobs, int table, Sink& sink) {
  if (eobs == 0) return;
  const int n = static_cast<int>(std::bit_width(eobs)) - 1;
  sink.symbol(table, static_cast<std::uint32_t>(n) << 4, eobs & ((1u << n) - 1), n);
  eobs = 0;
}

/// T.81 G.1.2.2.
template <typename Sink>
[[gnu::always_inline]] inline void send_ac_first(const ScanCoding& scan, Sink& sink) {
  const PackedBlocks& blocks = *scan.component[0];
  const int al = scan.spec.al, table = 2 + scan.layout.component[0].ac_table;
  const std::uint64_t* const at_least = blocks.at_least[al];
  const std::uint64_t band = band_of(scan.spec);
  const std::int64_t count = scan.layout.mcus(), interval = scan.layout.interval_mcus();
  for (std::int64_t block = 0; block < count;) {
    const std::int64_t stop = std::min(count, block + interval);
    std::uint32_t eobs = 0;
    for (; block < stop; ++block) {
      const std::uint64_t which = at_least[block] & band;
      if (which != 0) {
        send_eobs(eobs, table, sink);
        if (send_ac(blocks, block, which, scan.spec.ss, al, table, sink) > scan.spec.se) continue;
      }
      if (++eobs == kMostEobs) send_eobs(eobs, table, sink);
    }
    send_eobs(eobs, table, sink);
    sink.end_interval(block == count);
  }
}

/// T.81 G.1.2.3. Correction bits wait until the symbol that they belong to is known.
template <typename Sink>
class Refinement {
 public:
  Refinement(const ScanCoding& scan, Sink& sink)
      : blocks_(*scan.component[0]),
        al_(scan.spec.al),
        table_(2 + scan.layout.component[0].ac_table),
        band_(band_of(scan.spec)),
        sink_(sink) {}

  [[gnu::always_inline]] void send(std::int64_t block) {
    const std::uint64_t history = blocks_.at_least[al_ + 1][block] & band_;
    std::uint64_t fresh = blocks_.at_least[al_][block] & band_ & ~history;
    std::uint64_t left = band_;  // what lies behind the last symbol
    if (fresh != 0) send_eobs_and_corrections();
    while (fresh != 0) {
      const std::uint64_t bit = fresh & (0 - fresh);
      fresh ^= bit;
      std::uint32_t zeros = zeros_of(left, history, bit);
      for (; zeros > 15; zeros -= 16) {
        const std::uint64_t last = zero_16(left & ~history);
        sink_.symbol(table_, kZrl, 0, 0);
        correct(block, left & history & (last - 1));
        left &= ~(last | (last - 1));
      }
      const std::uint32_t is_positive = value(block, bit - 1) > 0 ? 1 : 0;
      sink_.symbol(table_, zeros << 4 | 1, is_positive, 1);
      correct(block, left & history & (bit - 1));
      left &= ~(bit | (bit - 1));
    }
    if (left == 0) return;
    ++eobs_;
    hold(block, left & history);
    if (eobs_ == kMostEobs || corrections_ > kMostCorrections) send_eobs_and_corrections();
  }

  [[gnu::always_inline]] void send_eobs_and_corrections() {
    send_eobs(eobs_, table_, sink_);
    for (std::uint32_t word = 0; 64 * word < corrections_; ++word)
      sink_.bits(held_[word], static_cast<int>(std::min(64u, corrections_ - 64 * word)));
    corrections_ = 0;
  }

 private:
  static std::uint32_t zeros_of(std::uint64_t left, std::uint64_t history, std::uint64_t bit) {
    return static_cast<std::uint32_t>(std::popcount(left & ~history & (bit - 1)));
  }
  static std::uint64_t zero_16(std::uint64_t zeros) {
    for (int i = 0; i < 15; ++i) zeros &= zeros - 1;
    return zeros & (0 - zeros);
  }
  std::int32_t value(std::int64_t block, std::uint64_t below) const {
    const int before = std::popcount(blocks_.at_least[0][block] & below);
    return blocks_.value[blocks_.first[block] + static_cast<std::uint32_t>(before)];
  }
  /// Bit al of each magnitude, the first one highest.
  std::uint64_t correction_bits(std::int64_t block, std::uint64_t which) const {
    std::uint64_t bits = 0;
    for (; which != 0; which &= which - 1) {
      const std::int32_t v = value(block, (which & (0 - which)) - 1);
      bits = bits << 1 | (static_cast<std::uint32_t>(v < 0 ? -v : v) >> al_ & 1);
    }
    return bits;
  }
  [[gnu::always_inline]] void correct(std::int64_t block, std::uint64_t which) {
    const int count = std::popcount(which);
    if (count > 0) sink_.bits(Sink::kWrites ? correction_bits(block, which) : 0, count);
  }
  [[gnu::always_inline]] void hold(std::int64_t block, std::uint64_t which) {
    const auto count = static_cast<std::uint32_t>(std::popcount(which));
    if (Sink::kWrites && count > 0) {
      const std::uint64_t bits = correction_bits(block, which);
      std::uint64_t& word = held_[corrections_ / 64];
      const std::uint32_t used = corrections_ % 64,
                          over = used + count > 64 ? used + count - 64 : 0;
      word = used == 0 ? bits : word << (count - over) | bits >> over;
      if (over > 0) (&word)[1] = bits & bits_below(static_cast<int>(over));
    }
    corrections_ += count;
  }

  const PackedBlocks& blocks_;
  const int al_, table_;
  const std::uint64_t band_;
  Sink& sink_;
  std::uint32_t eobs_ = 0, corrections_ = 0;
  std::uint64_t
      held_[(kMostCorrections + 63) / 64 + 1];  // correction bits, a full word after another
};

template <typename Sink>
[[gnu::always_inline]] inline void send_ac_refinement(const ScanCoding& scan, Sink& sink) {
  const std::int64_t count = scan.layout.mcus(), interval = scan.layout.interval_mcus();
  Refinement<Sink> refinement(scan, sink);
  for (std::int64_t block = 0; block < count;) {
    const std::int64_t stop = std::min(count, block + interval);
    for (; block < stop; ++block) refinement.send(block);
    refinement.send_eobs_and_corrections();
    sink.end_interval(block == count);
  }
}

template <typename Sink>
[[gnu::always_inline]] inline void send_scan(const ScanCoding& scan, Sink& sink) {
  if (scan.symbols != nullptr)
    send_symbols(scan, sink);
  else if (scan.spec.is_dc())
    send_mcus(scan, sink);
  else if (scan.spec.is_refinement())
    send_ac_refinement(scan, sink);
  else
    send_ac_first(scan, sink);
  sink.finish();
}

/// The blocks without an EOB of their own in a scan of AC: the run begins with block `first`.
struct EobRun {
  std::uint64_t band;
  int se;
  std::int64_t first = 0;
  std::uint32_t* count;  // of the scan's symbols

  void end(std::int64_t block) {
    for (std::int64_t length = block - first; length > 0; length -= kMostEobs) {
      const auto eobs = static_cast<std::uint32_t>(std::min<std::int64_t>(length, kMostEobs));
      ++count[(std::bit_width(eobs) - 1) << 4];
    }
    first = block;
  }
};

/// How often a coefficient has this index, zeros in front of it, and category.
using RunCounts = std::uint32_t[kBlockSize][kBlockSize][16];

/// The symbols of coefficients in a band, where runs begin with it.
void add_runs(const RunCounts& runs, const ScanSpec& spec, std::uint32_t* count) {
  for (int k = spec.ss; k <= spec.se; ++k)
    for (int before = 0; before < k; ++before)
      for (int ssss = 1; ssss < 16; ++ssss) {
        const std::uint32_t times = runs[k][before][ssss];
        if (times == 0) continue;
        const int run = std::min(before, k - spec.ss);
        count[kZrl] += times * static_cast<std::uint32_t>(run / 16);
        count[run % 16 << 4 | ssss] += times;
      }
}

/// SSSS bits a coefficient, and n of EOBn.
std::uint64_t extra_bits_of(const std::uint32_t* count) {
  std::uint64_t bits = 0;
  for (std::uint32_t symbol = 0; symbol < 256; ++symbol)
    if (symbol != kZrl)
      bits += std::uint64_t{count[symbol]} * (symbol % 16 != 0 ? symbol % 16 : symbol / 16);
  return bits;
}

}  // namespace

ZR_MULTIVERSION static void count_runs(const ScanCoding& scan, std::span<EobRun> eobs,
                                       RunCounts& runs) {
  const PackedBlocks& blocks = *scan.component[0];
  const std::uint64_t* const at_least = blocks.at_least[scan.spec.al];
  const std::int64_t count = scan.layout.mcus(), interval = scan.layout.interval_mcus();
  for (std::int64_t block = 0; block < count;) {
    for (const std::int64_t stop = std::min(count, block + interval); block < stop; ++block) {
      const std::uint64_t which = at_least[block];
      if (which == 0) continue;
      const std::int16_t* const value = blocks.value + blocks.first[block];
      const std::uint64_t nonzero = blocks.at_least[0][block];
      int after = 1;
      for (std::uint64_t rest = which; rest != 0; rest &= rest - 1) {
        const int k = std::countr_zero(rest);
        const std::int16_t v = value[std::popcount(nonzero & bits_below(k))];
        ++runs[k][k - after][coded(v, scan.spec.al).ssss];
        after = k + 1;
      }
      for (EobRun& run : eobs) {
        if ((which & run.band) == 0) continue;
        run.end(block);
        run.first += static_cast<std::int64_t>(which >> run.se & 1);
      }
    }
    for (EobRun& run : eobs) run.end(block);
  }
}

void count_first_scans(std::span<const ScanCoding> scans, ScanCounts* counts) {
  const auto runs = std::make_unique<RunCounts[]>(1);
  std::vector<EobRun> eobs;
  const int table = 2 + scans[0].layout.component[0].ac_table;
  for (std::size_t i = 0; i < scans.size(); ++i) {
    counts[i] = {};
    eobs.push_back({band_of(scans[i].spec), scans[i].spec.se, 0, counts[i].count[table]});
  }
  count_runs(scans[0], eobs, runs[0]);
  for (std::size_t i = 0; i < scans.size(); ++i) {
    add_runs(runs[0], scans[i].spec, eobs[i].count);
    counts[i].extra_bits = extra_bits_of(eobs[i].count);
  }
}

ZR_MULTIVERSION static void count_symbols(const ScanCoding& scan, ScanCounts& counts) {
  CountSink sink(counts);
  send_scan(scan, sink);
}

ZR_MULTIVERSION static const std::uint8_t* write_symbols(const ScanCoding& scan,
                                                         const HuffmanEncodeTables& tables,
                                                         std::uint8_t* out) {
  BitSink sink(tables, out);
  send_scan(scan, sink);
  return sink.end();
}

/// Returns false if a magnitude has 16 bits.
ZR_MULTIVERSION static bool pack_values(const StoredBlocks& blocks, const std::uint8_t* order,
                                        std::uint64_t* const* at_least, std::int16_t* value) {
  const std::int64_t count = std::int64_t{blocks.blocks_wide} * blocks.blocks_high;
  std::uint32_t largest = 0;
  for (std::int64_t block = 0; block < count; ++block) {
    const std::int16_t* const ac = blocks.ac + block * kBlockSize;
    std::uint64_t two = 0, four = 0, eight = 0;
    for (std::uint64_t rest = blocks.nonzero[block]; rest != 0; rest &= rest - 1) {
      const int k = std::countr_zero(rest);
      const std::int16_t v = ac[order[k]];
      *value++ = v;
      const auto magnitude = static_cast<std::uint32_t>(v < 0 ? -v : v);
      largest |= magnitude;
      two |= std::uint64_t{magnitude >= 2} << k;
      four |= std::uint64_t{magnitude >= 4} << k;
      eight |= std::uint64_t{magnitude >= 8} << k;
    }
    at_least[0][block] = two;
    at_least[1][block] = four;
    at_least[2][block] = eight;
  }
  return largest < 0x8000;
}

ZR_MULTIVERSION static std::uint32_t index_values(const std::uint64_t* nonzero, std::int64_t count,
                                                  std::uint32_t* first) {
  std::uint32_t values = 0;
  for (std::int64_t block = 0; block < count; ++block) {
    first[block] = values;
    values += static_cast<std::uint32_t>(std::popcount(nonzero[block]));
  }
  return values;
}

bool BlockPacker::pack(const StoredBlocks& blocks, const std::uint8_t* order) {
  const std::int64_t count = std::int64_t{blocks.blocks_wide} * blocks.blocks_high;
  packed_.blocks_wide = blocks.blocks_wide;
  packed_.blocks_high = blocks.blocks_high;
  packed_.dc = blocks.dc;
  packed_.at_least[0] = blocks.nonzero;
  std::uint32_t* const first = first_.reserve(count);
  std::int16_t* const value = value_.reserve(index_values(blocks.nonzero, count, first));
  std::uint64_t* at_least[kMaxLowBits];
  for (int al = 0; al < kMaxLowBits; ++al)
    packed_.at_least[al + 1] = at_least[al] = at_least_[al].reserve(count);
  packed_.first = first;
  packed_.value = value;
  return pack_values(blocks, order, at_least, value);
}

void count_scan(const ScanCoding& scan, ScanCounts& counts) {
  counts = {};
  count_symbols(scan, counts);
}

std::uint64_t code_scan(const ScanCoding& scan, const HuffmanEncodeTables& tables,
                        std::uint64_t bits, Buffer<std::uint8_t>& out) {
  // Every byte may be stuffed; an interval has a last byte that is not full, and a marker.
  const auto intervals = static_cast<std::uint64_t>(scan.layout.intervals());
  const std::uint64_t most = 2 * (bits / 8 + 1 + intervals) + 2 * intervals + 16;
  std::uint8_t* const begin = out.reserve(static_cast<std::int64_t>(most));
  return static_cast<std::uint64_t>(write_symbols(scan, tables, begin) - begin);
}

}  // namespace zerorun
