// Parameters and the shape of a frame -> everything that is fixed before coding, with the rules by
// which coefficients are decided.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/encode_pipeline.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "codec/base/marker.hpp"
#include "codec/base/pixel_rows.hpp"
#include "codec/base/thread_pool.hpp"
#include "codec/base/try.hpp"
#include "codec/pipeline/cpu_choice.hpp"
#include "codec/syntax/header_bytes.hpp"
#include "codec/syntax/huffman_code.hpp"
#include "codec/syntax/tables.hpp"

namespace zerorun {
namespace {

Subsampling choose_subsampling(const EncodeParams& params, PixelFormat format) {
  if (params.subsampling) return *params.subsampling;
  return is_rgb(format) ? Subsampling::s420 : native_subsampling(format);
}

/// MCUs of RestartPolicy::automatic; 0 if the image would have a single interval.
int automatic_restart_interval(const ScanLayout& layout, HuffmanTables huffman) {
  // A restart adds a marker (16 bits), fill bits (up to 7), and for each component a full DC
  // instead of a difference of 0: up to 11 appended bits and a longer codeword (standard tables: 9
  // or 11 bits instead of 2; optimal ones: 16 instead of 1). An MCU takes at least a DC of category
  // 0 and EOB for each block. So with this interval even a flat picture grows by at most 1.5 %.
  const bool optimal = huffman == HuffmanTables::optimal;
  int restart_bits = 16 + 7, mcu_bits = 0;
  for (int c = 0; c < layout.components; ++c) {
    const bool luma = c == 0;
    const int blocks = layout.component[c].h * layout.component[c].v;
    restart_bits += 11 + (optimal ? 16 - 1 : luma ? 9 - 2 : 11 - 2);
    mcu_bits += blocks * (optimal ? 1 + 1 : luma ? 2 + 4 : 2 + 2);
  }
  const int mcus = ceil_div(restart_bits * 1000, mcu_bits * 15);
  return layout.mcus() > mcus ? mcus : 0;
}

Result<int> restart_interval(const EncodeParams& params, const ScanLayout& layout) {
  using Kind = RestartPolicy::Kind;
  const auto [kind, count] = params.restart;
  if (kind == Kind::none) return 0;
  if (kind == Kind::mcus) return count;
  if (kind == Kind::mcu_rows) {
    const std::int64_t mcus = std::int64_t{count} * layout.mcus_wide;
    if (mcus <= 65535) return static_cast<int>(mcus);
    return Status(Errc::invalid_argument, "a restart interval of " + std::to_string(count) +
                                              " rows has " + std::to_string(mcus) +
                                              " MCUs, and DRI holds 65535 at most");
  }
  return params.progressive ? 0 : automatic_restart_interval(layout, params.huffman);
}

/// The text has one length for all settings of named tables, so that the size of a stream does not
/// depend on it.
std::string text_of(const EncodeParams& params, const EncodeSetup& setup) {
  const SizeSetting& setting = setup.setting;
  const bool has_chroma = setup.layout.components > 1;
  if (params.luma_table && (params.chroma_table || !has_chroma)) return "zerorun: own tables";
  const char* own = params.luma_table                   ? "own luma table, "
                    : params.chroma_table && has_chroma ? "own chroma table, "
                                                        : "";
  std::string text = kSettingText;
  put_setting(reinterpret_cast<std::uint8_t*>(text.data()), setting.quality_16ths, setting.thrift);
  return text.insert(std::string_view("zerorun: ").size(), own);
}

}  // namespace

Result<EncodeSetup> make_encode_setup(const EncodeParams& params, PixelFormat format, int width,
                                      int height) {
  ZR_TRY(check_dimensions(width, height));
  if (format == PixelFormat::cmyk32)
    return Status(Errc::invalid_frame, "cmyk32 frames cannot be encoded; decode the stream to RGB");
  const Subsampling sampling = choose_subsampling(params, format);
  const LumaFactors luma = luma_factors(sampling);
  const int components = sampling == Subsampling::gray ? 1 : 3;
  EncodeSetup setup{};
  setup.format = format;
  setup.width = width;
  setup.height = height;
  setup.h_max = luma.h;
  setup.v_max = luma.v;
  setup.progressive = params.progressive;
  setup.huffman = params.progressive ? HuffmanTables::optimal : params.huffman;
  if (params.progressive && params.restart.kind == RestartPolicy::Kind::mcu_rows)
    setup.restart_rows = params.restart.count;
  const ComponentSpec specs[kMaxComponents] = {{luma.h, luma.v, 0, 0}, {1, 1, 1, 1}, {1, 1, 1, 1}};
  const int all[kMaxComponents] = {0, 1, 2};
  setup.layout = make_scan_layout(width, height, specs, components, all, components, 0);
  ZR_LET(restart, restart_interval(params, setup.layout));
  setup.layout.restart_interval = restart;
  change_setting(params, {params.quality * kQualityUnit, 0}, setup);
  // Any planar frame has grey in its first plane.
  setup.planes_are_components =
      is_planar_yuv(format) && (sampling == Subsampling::gray || planar_format(sampling) == format);
  setup.fits_chroma = params.tune == Tune::photo && sampling == Subsampling::s420 &&
                      (is_rgb(format) || format == PixelFormat::yuv444p);
  setup.shapes_noise = params.tune == Tune::photo;
  return setup;
}

void change_setting(const EncodeParams& params, const SizeSetting& setting, EncodeSetup& setup) {
  const Subsampling sampling = choose_subsampling(params, setup.format);
  const auto tables = quant_tables_between(resolve_tables(params), sampling, setting.quality_16ths);
  setup.setting = setting;
  setup.quant[0] = params.luma_table.value_or(tables[0]);
  setup.quant[1] = params.chroma_table.value_or(tables[1]);
  setup.fixed_specs = params.huffman == HuffmanTables::trained
                          ? &trained_huffman_specs(params.tune, sampling == Subsampling::s420,
                                                   setting.quality_16ths)
                          : &standard_huffman_specs();
  setup.tune = make_tune_rules(params, sampling == Subsampling::s420, setup.quant, setting.thrift);
  for (std::size_t t = 0; t < 2; ++t)
    for (std::size_t i = 0; i < kBlockSize; ++i)
      setup.divisors.table[t][i] = make_divisor(setup.quant[t][i]);
}

StreamHeader make_stream_header(const EncodeParams& params, const EncodeSetup& setup,
                                const std::array<HuffmanSpec, 4>& specs) {
  return {setup.width,
          setup.height,
          setup.layout.components,
          setup.h_max,
          setup.v_max,
          &params,
          setup.quant,
          specs,
          setup.layout.restart_interval,
          params.note_setting ? text_of(params, setup) : std::string()};
}

namespace {

/// What decisions weigh: a squared error of one step, in 256ths of a bit, and the bits of chroma,
/// in 16ths. Fewer bits keep more of chroma, where colours meet.
struct Weights {
  std::uint32_t error, chroma_bits;
  Masking masking;
};

/// Half the worth at 2^16.5.
constexpr Masking kWideMasking{92682, 0};

// For all samplings but 4:2:0, and for 4:2:0.

/// 19, 25 and 35 bits save 14.2, 14.3 and 13.9 % of text at equal SSIMULACRA2.
constexpr Weights kText[2] = {{27 * 256, 12, kWideMasking}, {26 * 256, 13, kWideMasking}};
/// At high rates 8.7 bits is the slope of rate and squared error.
constexpr Weights kPsnr{9 * 256, 16, {}};
/// Photos in one pass, by a dead zone that is narrower among other coefficients: 15.3, 9.8, 4.4 and
/// -1.0 % saved at equal SSIMULACRA2, PSNR, MS-SSIM and PSNR-HVS-M (14 parts of photos, 4:2:0,
/// quality 50, 80 and 92). One zone up to one step, with kWideMasking: 14.3, 9.2, 2.9 and -2.9.
constexpr Masking kOnePassMasking{1 << 13, 7};
constexpr Weights kPhoto[2] = {{19 * 256, 12, kOnePassMasking}, {18 * 256, 13, kOnePassMasking}};
/// Photos by rate: texture hides errors from a lower energy on, and up to a limit. Bits of
/// chroma count less, as far as both judges gain by it (tests/rd/README.md).
constexpr Masking kLimitedMasking{1 << 13, 5};
constexpr Weights kBestPhoto[2] = {{26 * 256, 15, kLimitedMasking},
                                   {27 * 256, 11, kLimitedMasking}};
/// For Tune::exact with thrift: magnitudes just above one half become 0 instead of 1, and each step
/// of thrift adds larger ones.
constexpr ThriftWeights kExactWeights{{1u << 20, 8000, 4000, 2000, 1000}};

Weights weights_of(Tune tune, Effort effort, bool is_420) {
  if (tune == Tune::psnr) return kPsnr;
  if (tune == Tune::text) return kText[is_420];
  return effort == Effort::best ? kBestPhoto[is_420] : kPhoto[is_420];
}

/// Bits of AC symbols with their appended bits, times `scale` 16ths. Those of one trained code
/// serve for all (tests/rd/README.md): optimal codes are known only after the decisions.
void fill_bits(const HuffmanSpec& spec, int table, std::uint32_t scale, std::uint8_t (&bits)[256]) {
  HuffmanEncodeTables codes;
  fill_encode_table(spec, table, codes);
  for (std::uint32_t symbol = 0; symbol < 256; ++symbol) {
    const std::uint32_t length = codes.bits[table][symbol];
    const std::uint32_t all = (length == 0 ? kMaxCodeBits : length) + (symbol & 15);
    bits[symbol] = static_cast<std::uint8_t>((all * scale + 8) / 16);
  }
}

}  // namespace

QuantTables resolve_tables(const EncodeParams& params) {
  if (params.tables != QuantTables::automatic) return params.tables;
  if (params.tune == Tune::exact) return QuantTables::annex_k;
  return params.tune == Tune::psnr ? QuantTables::flat : QuantTables::tuned;
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
  const auto& codes = trained_huffman_specs(params.tune, is_420,
                                            (params.tune == Tune::text ? 90 : 50) * kQualityUnit);
  for (std::size_t t = 0; t < 2; ++t) {
    for (int k = 0; k < kBlockSize; ++k)
      set_step(rules.table[t], k, quant[t][kNaturalOfZigzag[static_cast<std::size_t>(k)]]);
    fill_bits(codes[2 + t], static_cast<int>(t), t == 0 ? 16 : weights.chroma_bits,
              rules.table[t].bits);
    set_least_step(rules.table[t], rules.overshoots,
                   *std::min_element(quant[t].begin(), quant[t].end()));
  }
  return rules;
}

Status validate_quality(int quality) {
  if (quality >= 1 && quality <= 100) return Status::ok();
  return Status(Errc::invalid_argument, "quality " + std::to_string(quality) + " is not in 1..100");
}

static Status check_table(const std::optional<QuantTable>& table, const char* name) {
  if (!table) return Status::ok();
  const bool fits =
      std::all_of(table->begin(), table->end(), [](std::uint16_t q) { return q >= 1 && q <= 255; });
  return fits ? Status::ok()
              : Status(
                    Errc::invalid_argument,
                    std::string(name) + " has an entry outside 1..255, which baseline cannot hold");
}

static Status validate_targets(const SizeGoal& goal) {
  const auto refused = [](const char* why) { return Status(Errc::invalid_argument, why); };
  // NaN is in no range.
  if (goal.target_psnr != 0 && !(goal.target_psnr > 0 && goal.target_psnr <= 200))
    return refused("a target PSNR is above 0 and at most 200 dB");
  if (goal.target_ssim != 0 && !(goal.target_ssim > 0 && goal.target_ssim <= 1))
    return refused("a target SSIM is above 0 and at most 1");
  if (goal.target_psnr != 0 && goal.target_ssim != 0)
    return refused("a picture is coded to a PSNR or to an SSIM, not to both");
  if (goal.is_of_quality() && (goal.target_bytes != 0 || goal.max_bytes != 0))
    return refused("a picture is coded to a size or to a quality, not to both");
  return Status::ok();
}

Status validate_size(const EncodeParams& params) {
  ZR_TRY(validate_targets(params.size));
  if (!params.size.any() || (!params.luma_table && !params.chroma_table)) return Status::ok();
  return Status(Errc::invalid_argument,
                "a size does not go with own quantisation tables, because it is reached by scaling "
                "named ones");
}

Status validate_params(const EncodeParams& params) {
  ZR_TRY(validate_quality(params.quality));
  ZR_TRY(validate_size(params));
  const char* const unknown = params.tune > Tune::psnr                  ? "tune"
                              : params.effort > Effort::best            ? "effort"
                              : params.tables > QuantTables::tuned      ? "tables"
                              : params.huffman > HuffmanTables::trained ? "huffman"
                                                                        : nullptr;
  if (unknown != nullptr)
    return Status(Errc::invalid_argument, std::string(unknown) + " has no such value");
  ZR_TRY(check_table(params.luma_table, "the luma table"));
  ZR_TRY(check_table(params.chroma_table, "the chroma table"));
  const bool counted = params.restart.kind == RestartPolicy::Kind::mcus ||
                       params.restart.kind == RestartPolicy::Kind::mcu_rows;
  if (counted && (params.restart.count < 1 || params.restart.count > 65535))
    return Status(
        Errc::invalid_argument,
        "a restart interval of " + std::to_string(params.restart.count) + " is not in 1..65535");
  if (params.pixel_aspect_x < 1 || params.pixel_aspect_y < 1 || params.pixel_aspect_x > 65535 ||
      params.pixel_aspect_y > 65535)
    return Status(Errc::invalid_argument, "the pixel aspect ratio has a number outside 1..65535");
  for (const MarkerSegment& segment : params.segments) {
    if (!marker::is_app(segment.marker) && segment.marker != marker::kCom)
      return Status(Errc::invalid_argument, "a marker segment is neither APPn nor COM");
    if (segment.payload.size() > 65533)
      return Status(Errc::invalid_argument, "a marker segment has " +
                                                std::to_string(segment.payload.size()) +
                                                " bytes, and 65533 is the most");
  }
  ZR_TRY(validate_threads(params.threads));
  return validate_instruction_set(params.instruction_set);
}

}  // namespace zerorun
