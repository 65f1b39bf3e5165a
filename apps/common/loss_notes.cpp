// One line for what JPEG cannot hold or the input does not tell.
// SPDX-License-Identifier: MIT
#include "apps/common/loss_notes.hpp"

#include <fmt/core.h>

#include "apps/common/console.hpp"
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
                "What becomes of transparent pixels of pictures: the colours that are stored, or "
                "those seen over black (premultiply is the same) or white")
      ->default_str("ignore");
  using D = std::optional<bool>;
  add_choice<D>(
      app, "--dither", options.dither, {{"none", false}, {"ordered", true}},
      "How 16 bits of pictures become 8: rounded, or with an ordered pattern, which hides "
      "the steps of smooth gradients")
      ->default_str("none");
  add_choice<std::string>(
      app, "--matrix", options.matrix,
      {{"auto", ""}, {"601", "smpte170m"}, {"709", "bt709"}, {"2020", "bt2020nc"}},
      "Colour matrix of video; auto takes what the file says, and BT.709 for high definition where "
      "it does not say");
}

void note_losses(const std::string& name, const io::SourceInfo& info,
                 const SampleOptions& options) {
  const bool is_picture = info.picture != nullptr;
  const bool has_alpha = is_picture ? info.picture->has_alpha : info.content.has_alpha;
  const int bits = is_picture ? info.picture->bits : info.content.bits;
  if (has_alpha && !options.alpha)
    console::note(name + ": the alpha channel is left out" +
                  (is_picture ? " (--alpha black, white or ignore)" : ""));
  if (bits > 8 && !options.dither)
    console::note(fmt::format("{}: {} bits a sample become 8{}", name, bits,
                              is_picture ? " (--dither ordered or none)" : ", rounded"));
  const bool is_ycc = !info.is_jpeg && !info.content.pixel_format.empty() && !info.content.is_rgb &&
                      info.format != PixelFormat::gray8;
  const bool guesses_matrix = is_ycc && info.content.matrix.empty() && options.matrix.empty();
  const bool guesses_range = is_ycc && info.content.range.empty() && options.range.empty() &&
                             !info.content.pixel_format.starts_with("yuvj");
  if (!guesses_matrix && !guesses_range) return;
  const bool is_hd = info.width >= 1280 || info.height > 576;
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

nlohmann::ordered_json sample_parameters(const SampleOptions& options) {
  const io::SampleRules rules = options.rules();
  return {static_cast<int>(rules.alpha), rules.dither, rules.matrix, rules.range};
}

}  // namespace zerorun::app
