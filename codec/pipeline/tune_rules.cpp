// Parameters -> the rules by which coefficients are decided.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/encode_setup.hpp"

#include <algorithm>

#include "codec/syntax/huffman_code.hpp"

namespace zerorun {
namespace {

/// What decisions weigh: a squared error of one step, in 256ths of a bit, and the bits of chroma,
/// in 16ths. Fewer bits keep more of chroma, where colours meet.
struct Weights {
  std::uint32_t error, chroma_bits;
  Masking masking;
};

/// Half the worth at 2^16.5.
constexpr Masking kWideMasking{92682, 0};

// For all samplings but 4:2:0, and for 4:2:0. GPU encoders keep rules as long as weight, flags and
// tables are the same (same_tables() of cuda/encode/frame_encoder.cpp), so where chroma's bits
// differ the weights do too.

/// 19, 25 and 35 bits save 14.2, 14.3 and 13.9 % of text at equal SSIMULACRA2.
constexpr Weights kText[2] = {{27 * 256, 12, kWideMasking}, {26 * 256, 13, kWideMasking}};
/// At high rates 8.7 bits is the slope of rate and squared error.
constexpr Weights kPsnr{9 * 256, 16, {}};
/// Photos in one pass, by a dead zone that is narrower among other coefficients: 15.3, 9.8, 4.4 and
/// -1.0 % saved at equal SSIMULACRA2, PSNR, MS-SSIM and PSNR-HVS-M (14 parts of photos, 4:2:0,
/// quality 50, 80 and 92). One zone up to one step, with kWideMasking: 14.3, 9.2, 2.9 and -2.9.
constexpr Masking kOnePassMasking{1 << 13, 7};
constexpr Weights kPhoto[2] = {{19 * 256, 12, kOnePassMasking}, {18 * 256, 13, kOnePassMasking}};
/// Photos by rate: texture hides errors from a lower energy on, and up to a limit; chroma is kept
/// more, which metrics of luma alone count as a loss. 17.2, 13.9, 5.7 and -0.8 % saved by the same
/// metrics (the 11 photos of tests/rd/README.md); with kWideMasking 16.0, 16.1, 4.9 and -2.3.
constexpr Masking kLimitedMasking{1 << 13, 5};
constexpr Weights kBestPhoto[2] = {{24 * 256, 10, kLimitedMasking}, {25 * 256, 9, kLimitedMasking}};
/// For Tune::exact with thrift: magnitudes just above one half become 0 instead of 1, and each step
/// of thrift adds larger ones.
constexpr ThriftWeights kExactWeights{{1u << 20, 8000, 4000, 2000, 1000}};

Weights weights_of(Tune tune, Effort effort, bool is_420) {
  if (tune == Tune::psnr) return kPsnr;
  if (tune == Tune::text) return kText[is_420];
  return effort == Effort::best ? kBestPhoto[is_420] : kPhoto[is_420];
}

/// Bits of AC symbols with their appended bits, by the codes of T.81 K.3, times `scale` 16ths. They
/// serve for optimal tables too: those are known only after the decisions.
void fill_bits(int table, std::uint32_t scale, std::uint8_t (&bits)[256]) {
  HuffmanEncodeTables codes;
  fill_encode_table(standard_huffman_spec(2 + table), table, codes);
  for (std::uint32_t symbol = 0; symbol < 256; ++symbol) {
    const std::uint32_t length = codes.bits[table][symbol];
    const std::uint32_t all = (length == 0 ? kMaxCodeBits : length) + (symbol & 15);
    bits[symbol] = static_cast<std::uint8_t>((all * scale + 8) / 16);
  }
}

}  // namespace

Status validate_tuning(const EncodeParams& params) {
  if (params.tune > Tune::psnr) return Status(Errc::invalid_argument, "tune has no such value");
  if (params.effort > Effort::best)
    return Status(Errc::invalid_argument, "effort has no such value");
  if (params.tables > QuantTables::tuned)
    return Status(Errc::invalid_argument, "tables has no such value");
  return Status::ok();
}

QuantTables resolve_tables(const EncodeParams& params) {
  if (params.tables != QuantTables::automatic) return params.tables;
  switch (params.tune) {
    case Tune::photo:
    case Tune::text:
      return QuantTables::tuned;
    case Tune::psnr:
      return QuantTables::flat;
    case Tune::exact:
      break;
  }
  return QuantTables::annex_k;
}

ThriftWeights thrift_weights(Tune tune, Effort effort, bool is_420) {
  if (tune == Tune::exact) return kExactWeights;
  ThriftWeights weights;
  for (int step = 0; step <= kThriftSteps; ++step)
    weights.at[step] = weights_of(tune, effort, is_420).error >> step;
  return weights;
}

TuneRules make_tune_rules(const EncodeParams& params, bool is_420,
                          const std::array<QuantTable, 2>& quant, int thrift) {
  TuneRules rules{};
  const bool is_exact = params.tune == Tune::exact;
  if (is_exact && thrift == 0) return rules;
  const Weights weights = weights_of(params.tune, params.effort, is_420);
  thrift_weights(params.tune, params.effort, is_420).set(thrift, rules);
  rules.masking = weights.masking;
  rules.masked = params.tune == Tune::photo || params.tune == Tune::text;
  rules.by_rate = !is_exact && params.effort == Effort::best;
  rules.overshoots = params.tune == Tune::text;
  rules.gathers = params.tune == Tune::photo && !rules.by_rate;
  for (std::size_t t = 0; t < 2; ++t) {
    for (int k = 0; k < kBlockSize; ++k)
      set_step(rules.table[t], k, quant[t][kNaturalOfZigzag[static_cast<std::size_t>(k)]]);
    fill_bits(static_cast<int>(t), t == 0 ? 16 : weights.chroma_bits, rules.table[t].bits);
    set_least_step(rules.table[t], rules.overshoots,
                   *std::min_element(quant[t].begin(), quant[t].end()));
  }
  return rules;
}

}  // namespace zerorun
