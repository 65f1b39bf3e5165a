// Parameters -> the rules by which coefficients are decided.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/tune_rules.hpp"

#include <algorithm>

#include "codec/syntax/huffman_spec.hpp"

namespace zerorun {
namespace {

template <std::size_t N, typename T>
std::string_view name_in(const std::string_view (&names)[N], T value) {
  const auto i = static_cast<std::size_t>(value);
  return i < N ? names[i] : "unknown";
}

/// What decisions weigh: a squared error of one step, in 256ths of a bit, and the bits of chroma,
/// in 16ths. Fewer bits keep more of chroma, where colours meet.
struct Weights {
  std::uint32_t error, chroma_bits;
};

/// For all samplings but 4:2:0, and for 4:2:0. Photos: 14, 19 and 25 bits saved 17.0, 17.3 and 17.1
/// % at equal SSIMULACRA2 (six parts of photos, 4:2:0, best); 11 and 16 16ths of chroma's bits
/// saved 16.9 and 16.7 % at quality 90 (ten parts, 4:2:0), and 13.7 and 13.2 % at 95 in 4:4:4.
/// Text: 19, 25 and 35 saved 14.2, 14.3 and 13.9 %, and 6.6, 8.2 and 9.2 % at equal PSNR. At high
/// rates 8.7 bits is the slope of rate and squared error.
///
/// GPU encoders keep rules as long as weight, flags and tables are the same (same_tables() of
/// cuda/encode/frame_encoder.cpp), so where chroma's bits differ the weights do too.
constexpr Weights kPhoto[2] = {{20 * 256, 12}, {19 * 256, 13}};
constexpr Weights kText[2] = {{27 * 256, 12}, {26 * 256, 13}};
constexpr Weights kPsnr{9 * 256, 16};
/// For Tune::exact with thrift: magnitudes just above one half become 0 instead of 1, and each step
/// of thrift adds larger ones.
constexpr ThriftWeights kExactWeights{{1u << 20, 8000, 4000, 2000, 1000}};

Weights weights_of(Tune tune, bool is_420) {
  return tune == Tune::psnr ? kPsnr : tune == Tune::text ? kText[is_420] : kPhoto[is_420];
}

/// Bits of AC symbols with their appended bits, by the codes of T.81 K.3, times `scale` 16ths. They
/// serve for optimal tables too: those are known only after the decisions.
void fill_bits(int table, std::uint32_t scale, std::uint8_t (&bits)[256]) {
  const HuffmanSpec& spec = standard_huffman_spec(2 + table);
  const auto scaled = [scale](std::uint32_t n) {
    return static_cast<std::uint8_t>((n * scale + 8) / 16);
  };
  for (std::uint32_t symbol = 0; symbol < 256; ++symbol)
    bits[symbol] = scaled(kMaxCodeBits + (symbol & 15));
  std::size_t next = 0;
  for (std::uint32_t length = 1; length <= kMaxCodeBits; ++length)
    for (int i = 0; i < spec.bits[length]; ++i) {
      const std::uint8_t symbol = spec.values[next++];
      bits[symbol] = scaled(length + (symbol & 15));
    }
}

}  // namespace

std::string_view name(Tune tune) noexcept {
  static constexpr std::string_view kNames[] = {"exact", "photo", "text", "psnr"};
  return name_in(kNames, tune);
}
std::string_view name(Effort effort) noexcept {
  static constexpr std::string_view kNames[] = {"fast", "best"};
  return name_in(kNames, effort);
}
std::string_view name(QuantTables tables) noexcept {
  static constexpr std::string_view kNames[] = {"auto", "annex-k", "flat", "ffmpeg", "tuned"};
  return name_in(kNames, tables);
}

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

ThriftWeights thrift_weights(Tune tune, bool is_420) {
  if (tune == Tune::exact) return kExactWeights;
  ThriftWeights weights;
  for (int step = 0; step <= kThriftSteps; ++step)
    weights.at[step] = weights_of(tune, is_420).error >> step;
  return weights;
}

TuneRules make_tune_rules(const EncodeParams& params, bool is_420,
                          const std::array<QuantTable, 2>& quant, int thrift) {
  TuneRules rules{};
  const bool is_exact = params.tune == Tune::exact;
  if (is_exact && thrift == 0) return rules;
  thrift_weights(params.tune, is_420).set(thrift, rules);
  rules.masked = params.tune == Tune::photo || params.tune == Tune::text;
  rules.by_rate = !is_exact && params.effort == Effort::best;
  rules.overshoots = params.tune == Tune::text;
  for (std::size_t t = 0; t < 2; ++t) {
    for (int k = 0; k < kBlockSize; ++k)
      set_step(rules.table[t], k, quant[t][kNaturalOfZigzag[static_cast<std::size_t>(k)]]);
    fill_bits(static_cast<int>(t), t == 0 ? 16 : weights_of(params.tune, is_420).chroma_bits,
              rules.table[t].bits);
    set_least_step(rules.table[t], rules.overshoots,
                   *std::min_element(quant[t].begin(), quant[t].end()));
  }
  return rules;
}

}  // namespace zerorun
