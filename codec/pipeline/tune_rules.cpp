// Parameters -> the rules by which coefficients are decided.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/tune_rules.hpp"

#include "codec/syntax/huffman_spec.hpp"

namespace zerorun {
namespace {

template <std::size_t N, typename T>
std::string_view name_in(const std::string_view (&names)[N], T value) {
  const auto i = static_cast<std::size_t>(value);
  return i < N ? names[i] : "unknown";
}

/// What a squared error of one step is worth, in 256ths of a bit. Photos: 14, 19 and 25 saved 17.0,
/// 17.3 and 17.1 % at equal SSIMULACRA2 (six parts of photos, 4:2:0, best). Text: 19, 25 and 35
/// saved 14.2, 14.3 and 13.9 %, and 6.6, 8.2 and 9.2 % at equal PSNR. At high rates 8.7 is the
/// slope of rate and squared error.
constexpr std::uint32_t kPhotoWeight = 19 * 256, kTextWeight = 26 * 256, kPsnrWeight = 9 * 256;

std::uint32_t weight_of(Tune tune) {
  return tune == Tune::psnr ? kPsnrWeight : tune == Tune::text ? kTextWeight : kPhotoWeight;
}

/// Bits of AC symbols with their appended bits, by the codes of T.81 K.3. They serve for optimal
/// tables too: those are known only after the decisions.
void fill_bits(int table, std::uint8_t (&bits)[256]) {
  const HuffmanSpec& spec = standard_huffman_spec(2 + table);
  for (int symbol = 0; symbol < 256; ++symbol)
    bits[symbol] = static_cast<std::uint8_t>(kMaxCodeBits + (symbol & 15));
  std::size_t next = 0;
  for (std::size_t length = 1; length <= kMaxCodeBits; ++length)
    for (int i = 0; i < spec.bits[length]; ++i) {
      const std::uint8_t symbol = spec.values[next++];
      bits[symbol] = static_cast<std::uint8_t>(length + (symbol & 15));
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

TuneRules make_tune_rules(const EncodeParams& params, const std::array<QuantTable, 2>& quant) {
  TuneRules rules{};
  if (params.tune == Tune::exact) return rules;
  rules.weight = weight_of(params.tune);
  rules.masked = params.tune != Tune::psnr;
  rules.by_rate = params.effort == Effort::best;
  for (std::size_t t = 0; t < 2; ++t) {
    for (std::size_t k = 0; k < kBlockSize; ++k) {
      const std::uint16_t q = quant[t][kNaturalOfZigzag[k]];
      rules.table[t].reciprocal[k] = fine_reciprocal(q);
      rules.table[t].step[k] = q;
      rules.table[t].least[k] = static_cast<std::uint16_t>(least_magnitude(q));
    }
    fill_bits(static_cast<int>(t), rules.table[t].bits);
  }
  return rules;
}

}  // namespace zerorun
