// Options of `zerorun encode` that trade bytes for quality.
// SPDX-License-Identifier: MIT
#include "apps/encode/tune_options.hpp"

#include "apps/common/content.hpp"
#include "apps/common/option_kinds.hpp"
#include "apps/common/options.hpp"

namespace zerorun::app {
namespace {

std::optional<QuantTables> named_tables(const std::string& text) {
  for (const QuantTables tables : kAllQuantTables)
    if (name(tables) == text) return tables;
  return std::nullopt;
}

}  // namespace

void add_tune_options(CLI::App& command, TuneOptions& options) {
  command.option_defaults()->group("Coding");
  using H = std::optional<HuffmanTables>;
  add_choice<H>(command, "--huffman", options.huffman,
                {{"standard", HuffmanTables::standard},
                 {"optimal", HuffmanTables::optimal},
                 {"trained", HuffmanTables::trained}},
                "Tables of T.81 Annex K, tables made for each frame (smaller, slower), or tables "
                "that were trained on pictures (smaller, as fast as Annex K's)")
      ->default_str("standard; trained with --tune, optimal with --effort best too");
  add_choice<Tune>(
      command, "--tune", options.tune,
      {{"exact", Tune::exact}, {"photo", Tune::photo}, {"text", Tune::text}, {"psnr", Tune::psnr}},
      "Which coefficients are kept: all, with the bytes of libjpeg-turbo (exact), or those worth "
      "their bits to the eye in photos or in text and drawings, or by squared error");
  add_choice<Effort>(command, "--effort", options.effort,
                     {{"fast", Effort::fast}, {"best", Effort::best}},
                     "With --tune: decide by a dead zone, or by the bits that each coefficient "
                     "saves (smaller, slower)");
  command
      .add_option(
          "--tables", options.tables,
          "Quantisation tables, scaled by --quality: annex-k (libjpeg's), flat, ffmpeg (the "
          "matrix of FFmpeg's mjpeg), tuned (trained on photos), auto (as suits --tune), or "
          "a file as for --qtables, which is not scaled")
      ->type_name("NAME|FILE")
      ->default_str("auto");
}

/// The code tables that were asked for, or that suit the effort.
static HuffmanTables huffman_of(const TuneOptions& options) {
  if (options.huffman) return *options.huffman;
  if (options.tune == Tune::exact) return HuffmanTables::standard;
  return options.effort == Effort::best ? HuffmanTables::optimal : HuffmanTables::trained;
}

const char* huffman_text(HuffmanTables tables) {
  return tables == HuffmanTables::optimal   ? "optimal"
         : tables == HuffmanTables::trained ? "trained"
                                            : "standard";
}

void set_tuning(const TuneOptions& options, EncodeParams& params) {
  params.tune = options.tune;
  params.effort = options.effort;
  params.huffman = huffman_of(options);
  if (const auto tables = named_tables(options.tables)) {
    params.tables = *tables;
    return;
  }
  const auto [luma, chroma] = read_quant_tables(options.tables);
  params.luma_table = luma;
  params.chroma_table = chroma;
}

std::string tuning_text(const TuneOptions& options) {
  std::string text;
  if (options.tune != Tune::exact)
    text += ", tune " + std::string(name(options.tune)) + " " + std::string(name(options.effort));
  if (options.tables != "auto") text += ", tables " + options.tables;
  return text;
}

}  // namespace zerorun::app
