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
  HWY_INLINE void put_entry(std::uint32_t entry) { put(entry >> 5, static_cast<int>(entry & 31)); }
  HWY_INLINE void put_entries(std::uint32_t first, std::uint32_t second) {
    const std::uint32_t length = second & 31;
    put(std::uint64_t{first >> 5} << length | second >> 5, static_cast<int>((first & 31) + length));
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

/// Where index k of the zig-zag order stands, so that a run is a row of CodeTables::direct.
HWY_INLINE std::uint32_t place_of(int k) { return static_cast<std::uint32_t>(k) * kDirectValues; }
/// A run of 16 zeros.
inline constexpr std::uint32_t kLongRun = 16 * kDirectValues;

HWY_INLINE void code_block(const std::int16_t* zz, std::uint64_t nonzero, std::int32_t diff,
                           const std::uint32_t* dc, const std::uint32_t* ac,
                           const std::uint32_t* direct, BitPutter& bits) {
  const Appended first = appended_bits(diff);
  bits.put_entry(dc[first.ssss] | first.bits << 5);
  std::uint32_t after = kDirectValues;  // behind the last coded coefficient; see place_of()
  for (std::uint64_t rest = nonzero & ~std::uint64_t{1}; rest != 0; rest &= rest - 1) {
    const int k = std::countr_zero(rest);
    std::uint32_t run = place_of(k) - after;
    after = place_of(k + 1);
    for (; HWY_UNLIKELY(run >= kLongRun); run -= kLongRun) bits.put_entry(ac[kZrl]);
    const std::int32_t value = zz[k];
    const auto at = static_cast<std::uint32_t>(value + kDirectOffset);
    if (HWY_LIKELY(at < kDirectValues)) {
      bits.put_entry(direct[run + at]);
    } else {
      const Appended coded = appended_bits(value);
      bits.put_entry(ac[run / kDirectValues << 4 | coded.ssss] | coded.bits << 5);
    }
  }
  if (after < place_of(kBlockSize)) bits.put_entry(ac[kEob]);
}

inline void code_run(const ScanLayout& layout, const BlockRun& run, int first_mcu, int mcus,
                     const CodeTables& tables, Predictions& predictions, BitState& state) {
  BitPutter bits(state);
  int index = first_mcu * layout.blocks_per_mcu;
  for (int m = 0; m < mcus; ++m)
    for (int i = 0; i < layout.blocks_per_mcu; ++i, ++index) {
      const int c = layout.block_component[i];
      const auto& component = layout.component[c];
      const std::int16_t* zz = run.zz[index];
      const std::int32_t diff = zz[0] - predictions.dc[c];
      predictions.dc[c] = zz[0];
      code_block(zz, run.nonzero[index], diff, tables.symbol[component.dc_table],
                 tables.symbol[2 + component.ac_table], tables.direct[component.ac_table], bits);
    }
  bits.save(state);
}

HWY_INLINE std::uint16_t* tokens_of_block(const std::int16_t* zz, std::uint64_t nonzero,
                                          std::int32_t diff, std::uint32_t dc_table,
                                          std::uint32_t ac_table, std::uint16_t* out,
                                          TokenCounts& counts) {
  const auto add = [&](std::uint32_t token) HWY_ATTR {
    ++counts.count[token];
    *out++ = static_cast<std::uint16_t>(token);
  };
  const Appended first = appended_bits(diff);
  add(kTokenLong + dc_table * 256 + first.ssss);
  *out++ = static_cast<std::uint16_t>(first.bits);
  const std::uint32_t base = ac_table * kTokensPerTable;
  std::uint32_t after = kDirectValues;
  for (std::uint64_t rest = nonzero & ~std::uint64_t{1}; rest != 0; rest &= rest - 1) {
    const int k = std::countr_zero(rest);
    std::uint32_t run = place_of(k) - after;
    after = place_of(k + 1);
    for (; HWY_UNLIKELY(run >= kLongRun); run -= kLongRun) add(base + kTokenSymbol + kZrl);
    const std::int32_t value = zz[k];
    const auto at = static_cast<std::uint32_t>(value + kDirectOffset);
    if (HWY_LIKELY(at < kDirectValues)) {
      add(base + run + at);
    } else {
      const Appended coded = appended_bits(value);
      add(kTokenLong + (2 + ac_table) * 256 + (run / kDirectValues << 4 | coded.ssss));
      *out++ = static_cast<std::uint16_t>(coded.bits);
    }
  }
  if (after < place_of(kBlockSize)) add(base + kTokenSymbol + kEob);
  return out;
}

inline std::uint16_t* tokens_of_run(const ScanLayout& layout, const BlockRun& run, int first_mcu,
                                    int mcus, Predictions& predictions, std::uint16_t* out,
                                    TokenCounts& counts) {
  int index = first_mcu * layout.blocks_per_mcu;
  for (int m = 0; m < mcus; ++m)
    for (int i = 0; i < layout.blocks_per_mcu; ++i, ++index) {
      const int c = layout.block_component[i];
      const auto& component = layout.component[c];
      const std::int16_t* zz = run.zz[index];
      const std::int32_t diff = zz[0] - predictions.dc[c];
      predictions.dc[c] = zz[0];
      out = tokens_of_block(zz, run.nonzero[index], diff, component.dc_table, component.ac_table,
                            out, counts);
    }
  return out;
}

HWY_INLINE void code_token(const std::uint16_t*& next, const TokenCodes& codes, BitPutter& bits) {
  const std::uint32_t token = *next++;
  std::uint32_t entry = codes.entry[token];
  if ((token & kTokenLong) != 0) entry |= std::uint32_t{*next++} << 5;
  bits.put_entry(entry);
}

inline void code_tokens(const std::uint16_t* begin, const std::uint16_t* end,
                        const TokenCodes& codes, BitState& state) {
  BitPutter bits(state);
  while (end - begin >= 4) {
    std::uint64_t four;
    std::memcpy(&four, begin, sizeof four);
    if (HWY_LIKELY((four & kTokenLong * 0x0001'0001'0001'0001u) == 0)) {
      bits.put_entries(codes.entry[begin[0]], codes.entry[begin[1]]);
      bits.put_entries(codes.entry[begin[2]], codes.entry[begin[3]]);
      begin += 4;
    } else {
      code_token(begin, codes, bits);
    }
  }
  while (begin < end) code_token(begin, codes, bits);
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
