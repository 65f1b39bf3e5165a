// Rate and distortion of an encoder's modes, and what they save.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/rd/programs.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::rd {

/// The bytes of a stream's scans, and of the whole, and the scores of its decoded picture.
struct Point {
  double bytes = 0, file_bytes = 0;
  Scores scores{};
};

using Curve = std::vector<Point>;  ///< of rising quality

/// A part of a curve: from one score of SSIMULACRA2 to another.
struct Band {
  double low = -1e9, high = 1e9;
};

/// Percent of the bytes of `base` that `other` saves at equal score: the mean over the scores that
/// both curves reach, of the logarithm of the bytes, linear between points. A band is that of
/// `base`: by another metric, from the score that belongs to its low end. Nothing where the curves
/// have no scores in common.
std::optional<double> saved_percent(const Curve& base, const Curve& other, Metric metric,
                                    const Band& band = {});

/// How a picture is encoded. Text: `turbo` (libjpeg-turbo), `zerorun`, `jpegli` or `mozjpeg`, then
/// options such as "zerorun:tune=photo,effort=best,huffman=optimal,tables=tuned" or
/// "turbo:progressive".
struct Mode {
  std::string text, encoder;
  EncodeParams params;  ///< without quality and sampling
  Peer peer;            ///< program=PATH and args=TEXT: of jpegli and mozjpeg
  std::string recode;   ///< recode=COMMAND: what makes the stream that counts
  /// file=PATH: tables by sampling and quality, a line each: "420 85" and 128 numbers.
  std::map<std::pair<std::string, int>, std::array<QuantTable, 2>> tables;
};
/// The error is a sentence.
std::optional<Mode> parse_mode(const std::string& text, std::string& error);

/// Bytes between the first SOS and EOI, and the scores of the decoded picture. libjpeg-turbo
/// decodes, with the accurate transform and fancy up-sampling.
std::optional<Point> measure(const Mode& mode, Subsampling sampling, int quality,
                             const Image& image, const Meter& meter);

/// A picture file, as RGB.
std::optional<Image> read_image(const std::string& path);
Image crop(const Image& image, int x, int y, int width, int height);

}  // namespace zerorun::rd
