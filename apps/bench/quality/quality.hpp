// `zerorun bench --curves`: what encoders make of pictures at several qualities, and the bytes that
// they save at equal quality.
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/bench/options.hpp"
#include "apps/bench/quality/curve.hpp"
#include "apps/bench/quality/meters.hpp"
#include "apps/bench/report/report.hpp"

namespace zerorun::app::bench {

/// The curves of one encoder, one for each picture; an empty one where it could not.
struct EncoderCurves {
  std::string encoder;  ///< "zerorun --tune photo"
  std::string huffman;  ///< kind of tables: "standard", "trained" or "optimal"
  std::vector<rd::Curve> curves;
  std::size_t base = 0;  ///< of the part's encoders: what this one is compared with
};

/// All encoders at one sampling.
struct QualityPart {
  Subsampling sampling = Subsampling::s420;
  std::vector<EncoderCurves> encoders;
};

struct QualityPicture {
  std::string name;
  int width = 0, height = 0;
};

struct QualityReport {
  std::string command;
  Facts machine;
  std::vector<int> qualities;
  std::vector<QualityPicture> pictures;
  std::vector<QualityPart> parts;
  std::vector<MeterTime> meters;   ///< what the metrics took
  std::vector<std::string> notes;  ///< encoders that were left out, and why
};

/// Percent saved by each metric; NaN where curves have no scores in common.
struct Savings {
  std::vector<rd::Scores> pictures;
  rd::Scores mean{};  ///< of the pictures that have a number
  double least = 0;   ///< by SSIMULACRA2, of all pictures
};
Savings savings_of(const QualityPart& part, const EncoderCurves& encoder);

/// Whether --curves is given, or --quality without a number.
bool wants_curves(const CLI::App& command, const Options& options);
/// What --curves measures, as far as the command line says nothing else.
void choose_curves(const CLI::App& command, Options& options);

/// Encodes, decodes and measures everything, with the metrics where choose_meters() puts them. Ends
/// the command when an input cannot be read.
QualityReport measure_quality(const Options& options, const Selection& selection);

/// Tables of 100 columns, and more where names are long; `every_row`: a row for each picture too.
std::string quality_text(const QualityReport& report, bool every_row);
nlohmann::ordered_json quality_json(const QualityReport& report);
std::string quality_csv(const QualityReport& report);
std::string quality_html(const QualityReport& report);

/// page.html as it was when the program was built.
extern const char* const kQualityPage;

}  // namespace zerorun::app::bench
