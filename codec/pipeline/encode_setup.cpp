// Parameters and the shape of a frame -> everything that is fixed before coding.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/encode_setup.hpp"

#include <string>
#include <string_view>

#include "codec/base/try.hpp"
#include "codec/pipeline/tune_rules.hpp"
#include "codec/syntax/header_bytes.hpp"
#include "codec/syntax/marker.hpp"
#include "codec/syntax/quant_table.hpp"
#include "codec/syntax/trained_codes.hpp"

namespace zerorun {
namespace {

Subsampling choose_subsampling(const EncodeParams& params, PixelFormat format) {
  if (params.subsampling) return *params.subsampling;
  return is_rgb(format) ? Subsampling::s420 : native_subsampling(format);
}

Result<int> restart_interval(const EncodeParams& params, const ScanLayout& layout) {
  const RestartPolicy& policy = params.restart;
  switch (policy.kind) {
    case RestartPolicy::Kind::none:
      return 0;
    case RestartPolicy::Kind::mcus:
      return policy.count;
    case RestartPolicy::Kind::mcu_rows: {
      const std::int64_t mcus = std::int64_t{policy.count} * layout.mcus_wide;
      if (mcus > 65535)
        return Status(Errc::invalid_argument,
                      "a restart interval of " + std::to_string(policy.count) + " rows has " +
                          std::to_string(mcus) + " MCUs, and DRI holds 65535 at most");
      return static_cast<int>(mcus);
    }
    case RestartPolicy::Kind::automatic:
      if (params.progressive) return 0;
      break;
  }
  return automatic_restart_interval(layout, params.huffman);
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

Status EncodePipeline::encode_surface(const EncodeSetup& /*setup*/,
                                      const DeviceSurface& /*surface*/,
                                      std::array<HuffmanSpec, 4>& /*specs*/) {
  return Status(Errc::invalid_argument, "the CPU backend cannot code pictures in device memory");
}

Result<SizedCoding> EncodePipeline::encode_to_size(const EncodeParams& /*params*/,
                                                   const EncodeSetup& /*setup*/,
                                                   const ConstFrameView& /*frame*/) {
  return Status(Errc::invalid_argument,
                "the CPU backend does not bring a picture to a size by itself");
}

Result<SizedCoding> EncodePipeline::encode_to_size(const EncodeParams& /*params*/,
                                                   const EncodeSetup& /*setup*/,
                                                   const DeviceSurface& /*surface*/) {
  return Status(Errc::invalid_argument, "the CPU backend cannot code pictures in device memory");
}

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

Result<EncodeSetup> make_encode_setup(const EncodeParams& params, PixelFormat format, int width,
                                      int height) {
  if (width < 1 || height < 1 || width > kMaxDimension || height > kMaxDimension)
    return Status(Errc::invalid_frame, "the size is " + std::to_string(width) + "x" +
                                           std::to_string(height) +
                                           ", but JPEG holds 1x1 to 65535x65535");
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

}  // namespace zerorun
