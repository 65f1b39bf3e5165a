// One line for what JPEG cannot hold or the input does not tell.
// SPDX-License-Identifier: MIT
#include "apps/common/loss_notes.hpp"

#include <fmt/core.h>

#include "apps/common/console.hpp"
#include "apps/common/option_kinds.hpp"
#include "apps/common/options.hpp"

namespace zerorun::app {

io::SampleRules SampleOptions::rules() const {
  io::SampleRules rules;
  rules.alpha = alpha.value_or(io::Alpha::ignore);
  rules.dither = dither.value_or(false);
  rules.matrix = matrix;
  rules.range = range;
  return rules;
}

void add_sample_options(CLI::App& app, SampleOptions& options) {
  app.option_defaults()->group("Input");
  using A = std::optional<io::Alpha>;
  add_choice<A>(app, "--alpha", options.alpha,
                {{"ignore", io::Alpha::ignore},
                 {"black", io::Alpha::black},
                 {"premultiply", io::Alpha::black},
                 {"white", io::Alpha::white}},
                "What becomes of transparent pixels: the colours that are stored, or those seen "
                "over black (premultiply is the same) or white")
      ->default_str("ignore");
  using D = std::optional<bool>;
  add_choice<D>(
      app, "--dither", options.dither, {{"none", false}, {"ordered", true}},
      "How samples of more than 8 bits become 8: rounded, or with an ordered pattern, which hides "
      "the steps of smooth gradients")
      ->default_str("none");
  add_choice<std::string>(
      app, "--matrix", options.matrix,
      {{"auto", ""}, {"601", "smpte170m"}, {"709", "bt709"}, {"2020", "bt2020nc"}},
      "Colour matrix of video; auto takes what the file says, and BT.709 for high definition where "
      "it does not say (raw video and YUV4MPEG2: BT.601). --range has the range of its samples");
}

void note_losses(const std::string& name, const io::SourceInfo& info,
                 const SampleOptions& options) {
  const bool is_picture = info.picture != nullptr;
  const bool has_alpha = is_picture ? info.picture->has_alpha : info.content.has_alpha;
  const int bits = is_picture ? info.picture->bits : info.content.bits;
  if (has_alpha && !options.alpha)
    console::note(name + ": the alpha channel is left out (--alpha black, white or ignore)");
  if (bits > 8 && !options.dither)
    console::note(
        fmt::format("{}: {} bits a sample become 8 (--dither ordered or none)", name, bits));
  const bool is_ycc = !info.is_jpeg && !info.content.pixel_format.empty() && !info.content.is_rgb &&
                      info.format != PixelFormat::gray8;
  const bool is_jpeg_like = info.content.pixel_format.starts_with("yuvj");
  const bool is_raw = info.container == "raw video";
  const bool guesses_matrix =
      is_ycc && info.content.matrix.empty() && options.matrix.empty() && !(is_raw && is_jpeg_like);
  const bool guesses_range =
      is_ycc && info.content.range.empty() && options.range.empty() && !is_jpeg_like;
  if (!guesses_matrix && !guesses_range) return;
  const bool is_hd = !is_raw && (info.width >= 1280 || info.height > 576);
  std::string what, option;
  if (guesses_matrix)
    what = std::string("colour matrix, taken as ") + (is_hd ? "BT.709" : "BT.601");
  if (guesses_range)
    what += std::string(what.empty() ? "" : ", and no ") + "range, taken as limited";
  option = guesses_matrix && guesses_range ? "--matrix, --range"
           : guesses_matrix                ? "--matrix"
                                           : "--range";
  console::note(fmt::format("{}: the file names no {} ({})", name, what, option));
}

void note_raw_range(const std::string& output, const std::string& raw_format, PixelFormat format) {
  const bool names_full_range = raw_format.starts_with("yuvj") || raw_format.starts_with("gray");
  if (is_rgb(format) || format == PixelFormat::gray8 || names_full_range) return;
  console::note(fmt::format(
      "{}: the samples have full range, which the name {} does not tell; read them with `--range "
      "full` (FFmpeg: -color_range pc before -i)",
      output, raw_format.empty() ? std::string(name(format)) : raw_format));
}

nlohmann::ordered_json sample_parameters(const SampleOptions& options) {
  const io::SampleRules rules = options.rules();
  return {static_cast<int>(rules.alpha), rules.dither, rules.matrix, rules.range};
}

}  // namespace zerorun::app
