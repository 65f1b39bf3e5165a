// From quantised blocks to bits in one pass, or by way of tokens for optimal tables.
// SPDX-License-Identifier: MIT

#if defined(ZERORUN_FAST_CODE_RUN_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ZERORUN_FAST_CODE_RUN_INL_HPP
#undef ZERORUN_FAST_CODE_RUN_INL_HPP
#else
#define ZERORUN_FAST_CODE_RUN_INL_HPP
#endif

#include <bit>
#include <cstring>

#include "codec/arith/symbol.hpp"
#include "codec/fast/encode_kernels.hpp"
#include "codec/fast/simd-inl.hpp"

#if ZR_FAST_TARGET
HWY_BEFORE_NAMESPACE();
namespace zerorun::fast::HWY_NAMESPACE {

/// A BitState in registers.
struct BitPutter {
  std::uint8_t* out;
  std::uint64_t pending;
  int free;

  HWY_INLINE explicit BitPutter(const BitState& s) : out(s.out), pending(s.pending), free(s.free) {}
  HWY_INLINE void save(BitState& s) const {
    s.out = out;
    s.pending = pending;
    s.free = free;
  }
  /// 1..54 bits.
  HWY_INLINE void put(std::uint64_t bits, int length) {
    free -= length;
    if (HWY_LIKELY(free > 0)) {
      pending = pending << length | bits;
      return;
    }
    // The word lacks room for -free bits. free is -53..0 here, so at least one bit is stored.
    const std::uint64_t word = __builtin_bswap64(pending << (length + free) | bits >> -free);
    std::memcpy(out, &word, sizeof word);
    out += sizeof word;
    pending = bits;  // its bits above the last -free ones are shifted out before they are stored
    free += 64;
  }
  HWY_INLINE void put_entry(std::uint32_t entry) {
    put(entry >> kLengthBits, static_cast<int>(entry % 64));
  }
  HWY_INLINE void put_entries(std::uint32_t first, std::uint32_t second) {
    put(std::uint64_t{first >> kLengthBits} << second % 64 | second >> kLengthBits,
        static_cast<int>((first + second) % 64));
  }
  HWY_INLINE void put_long(std::uint32_t entry, std::uint32_t token, std::uint32_t appended) {
    put((entry >> kLengthBits) << token % 16 | appended, static_cast<int>(entry % 64));
  }
};

/// Category and appended bits of a value.
struct Appended {
  std::uint32_t ssss, bits;
};
HWY_INLINE Appended appended_bits(std::int32_t value) {
  const std::int32_t sign = value >> 31;
  const auto magnitude = static_cast<std::uint32_t>((value ^ sign) - sign);
  const auto ssss = static_cast<std::uint32_t>(std::bit_width(magnitude));
  return {ssss, static_cast<std::uint32_t>(value + sign) & ((1u << ssss) - 1)};
}

/// Whether more than 15 zeros stand before a coefficient. Bit 0 of `rest` counts as set.
HWY_INLINE bool has_long_run(std::uint64_t rest) {
  rest |= 1;
  std::uint64_t near = rest;  // the 15 places behind each
  for (int step = 1; step < 16; step *= 2) near |= near << step;
  const std::uint64_t first_far = ~near & (near + 1);
  return first_far - 1 < rest;  // never if there is none
}

/// What makes values tokens: as if each stood behind a run from index 0.
struct TokenPlaces {
  alignas(64) std::uint16_t at[2][kBlockSize];  ///< by AC table
  alignas(64) std::uint16_t not_direct[kBlockSize];
  constexpr TokenPlaces() : at{}, not_direct{} {
    for (int k = 0; k < kBlockSize; ++k) {
      for (int t = 0; t < 2; ++t)
        at[t][k] = static_cast<std::uint16_t>(t * kTokensPerTable + kDirectOffset +
                                              (k - 1) * kDirectValues);
      not_direct[k] = k == 0 ? 0 : static_cast<std::uint16_t>(~(kDirectValues - 1));
    }
  }
};

/// False: not all AC coefficients have tokens of their own.
HWY_INLINE bool place_values(const std::int16_t* zz, const TokenPlaces& places,
                             std::uint32_t ac_table, std::uint16_t* out) {
  const DU16 d;
  VU16 all = hn::Zero(d);
  for (std::size_t i = 0; i < kBlockSize; i += HWY_LANES(std::uint16_t)) {
    const VU16 value = hn::BitCast(d, hn::Load(D16(), zz + i));
    const VU16 from_0 = hn::Add(value, hn::Set(d, kDirectOffset));
    all = hn::Or(all, hn::And(from_0, hn::Load(d, places.not_direct + i)));
    hn::Store(hn::Add(value, hn::Load(d, places.at[ac_table] + i)), d, out + i);
  }
  return hn::AllTrue(d, hn::Eq(all, hn::Zero(d)));
}

/// The AC coefficients at the set bits of `rest`, of any values and runs.
template <typename Sink>
HWY_NOINLINE void send_any_coefficients(const std::int16_t* zz, std::uint64_t rest,
                                        std::uint32_t ac_table, Sink& sink) {
  const std::uint32_t base = ac_table * kTokensPerTable;
  int after = 1;  // behind the last coded coefficient
  for (; rest != 0; rest &= rest - 1) {
    const int k = std::countr_zero(rest);
    auto run = static_cast<std::uint32_t>(k - after);
    after = k + 1;
    for (; run > 15; run -= 16) sink.add(base + kTokenSymbol + kZrl);
    const std::int32_t value = zz[k];
    const auto at = static_cast<std::uint32_t>(value + kDirectOffset);
    if (at < kDirectValues) {
      sink.add(base + run * kDirectValues + at);
    } else {
      const Appended coded = appended_bits(value);
      sink.add(kTokenLong + (2 + ac_table) * 256 + (run << 4 | coded.ssss), coded.bits);
    }
  }
}

/// Gives the tokens of a block to sink.add(token) and sink.add(token, appended bits).
template <typename Sink>
HWY_INLINE void send_tokens(const std::int16_t* zz, std::uint64_t nonzero, std::int32_t diff,
                            std::uint32_t dc_table, std::uint32_t ac_table, Sink& sink) {
  static constexpr TokenPlaces kPlaces;
  const auto at = static_cast<std::uint32_t>(diff + kDirectDiffOffset);
  if (HWY_LIKELY(at < kDirectDiffs)) {
    sink.add(kTokenDc + dc_table * kDirectDiffs + at);
  } else {
    const Appended first = appended_bits(diff);
    sink.add(kTokenLong + dc_table * 256 + first.ssss, first.bits);
  }
  std::uint64_t rest = nonzero & ~std::uint64_t{1};
  if (rest != 0) {
    alignas(64) std::uint16_t placed[kBlockSize];
    if (HWY_LIKELY(place_values(zz, kPlaces, ac_table, placed) && !has_long_run(rest))) {
      std::uint64_t before = 0;  // index of the last coded coefficient
      do {
        const auto k = static_cast<std::uint64_t>(std::countr_zero(rest));
        rest &= rest - 1;
        sink.add(placed[k] - before * kDirectValues);
        before = k;
      } while (rest != 0);
    } else {
      send_any_coefficients(zz, rest, ac_table, sink);
    }
  }
  if (nonzero >> (kBlockSize - 1) == 0) sink.add(ac_table * kTokensPerTable + kTokenSymbol + kEob);
}

template <typename Sink>
HWY_INLINE void send_run(const ScanLayout& layout, const BlockRun& run, int mcus,
                         Predictions& predictions, Sink& sink) {
  int index = 0;
  for (int m = 0; m < mcus; ++m)
    for (int i = 0; i < layout.blocks_per_mcu; ++i, ++index) {
      const int c = layout.block_component[i];
      const auto& component = layout.component[c];
      const std::int16_t* zz = run.zz[index];
      const std::int32_t diff = zz[0] - predictions.dc[c];
      predictions.dc[c] = zz[0];
      send_tokens(zz, run.nonzero[index], diff, component.dc_table, component.ac_table, sink);
    }
}

struct CodeSink {
  const CodeTables& tables;
  BitPutter bits;
  HWY_INLINE void add(std::uint64_t token) { bits.put_entry(tables.entry[token]); }
  HWY_INLINE void add(std::uint64_t token, std::uint32_t appended) {
    bits.put_long(tables.entry[token], static_cast<std::uint32_t>(token), appended);
  }
};

inline void code_run(const ScanLayout& layout, const BlockRun& run, int mcus,
                     const CodeTables& tables, Predictions& predictions, BitState& state) {
  CodeSink sink{tables, BitPutter(state)};
  send_run(layout, run, mcus, predictions, sink);
  sink.bits.save(state);
}

struct TokenSink {
  std::uint16_t* out;
  std::uint32_t* count;
  HWY_INLINE void add(std::uint64_t token) {
    ++count[token];
    *out++ = static_cast<std::uint16_t>(token);
  }
  HWY_INLINE void add(std::uint64_t token, std::uint32_t appended) {
    add(token);
    *out++ = static_cast<std::uint16_t>(appended);
  }
};

inline std::uint16_t* tokens_of_run(const ScanLayout& layout, const BlockRun& run, int mcus,
                                    Predictions& predictions, std::uint16_t* out,
                                    TokenCounts& counts) {
  TokenSink sink{out, counts.count};
  send_run(layout, run, mcus, predictions, sink);
  return sink.out;
}

HWY_INLINE void code_token(const std::uint16_t*& next, const CodeTables& tables, BitPutter& bits) {
  const std::uint32_t token = *next++, entry = tables.entry[token];
  if ((token & kTokenLong) != 0)
    bits.put_long(entry, token, *next++);
  else
    bits.put_entry(entry);
}

inline void code_tokens(const std::uint16_t* begin, const std::uint16_t* end,
                        const CodeTables& tables, BitState& state) {
  BitPutter bits(state);
  while (end - begin >= 4) {
    std::uint64_t four;
    std::memcpy(&four, begin, sizeof four);
    if (HWY_LIKELY((four & kTokenLong * 0x0001'0001'0001'0001u) == 0)) {
      bits.put_entries(tables.entry[begin[0]], tables.entry[begin[1]]);
      bits.put_entries(tables.entry[begin[2]], tables.entry[begin[3]]);
      begin += 4;
    } else {
      code_token(begin, tables, bits);
    }
  }
  while (begin < end) code_token(begin, tables, bits);
  bits.save(state);
}

inline std::uint8_t* stuff(const std::uint8_t* begin, const std::uint8_t* end, std::uint8_t* out) {
  const D8 d;
  constexpr std::ptrdiff_t kStep = HWY_LANES(std::uint8_t);
  const V8 ff = hn::Set(d, 0xFF);
  while (end - begin >= kStep) {
    const V8 bytes = hn::LoadU(d, begin);
    hn::StoreU(bytes, d, out);
    const std::ptrdiff_t at = hn::FindFirstTrue(d, hn::Eq(bytes, ff));
    if (HWY_LIKELY(at < 0)) {
      begin += kStep;
      out += kStep;
      continue;
    }
    begin += at + 1;
    out += at + 1;
    *out++ = 0;
  }
  while (begin < end) {
    *out++ = *begin;
    if (*begin++ == 0xFF) *out++ = 0;
  }
  return out;
}

}  // namespace zerorun::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // ZR_FAST_TARGET

#endif  // per-target include guard
