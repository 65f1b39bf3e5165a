// Rate and distortion of an encoder's modes, and what they save.
// SPDX-License-Identifier: MIT
#include "tests/rd/curves.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <span>
#include <sstream>

#include "tests/support/libjpeg_decode.hpp"
#include "tests/support/libjpeg_encode.hpp"
#include "zerorun/io.hpp"

namespace zerorun::rd {
namespace {

template <typename T>
bool choose(const std::map<std::string, T>& names, const std::string& text, T& out) {
  const auto found = names.find(text);
  if (found == names.end()) return false;
  out = found->second;
  return true;
}

bool set_option(const std::string& key, const std::string& value, EncodeParams& params) {
  if (key == "progressive") return params.progressive = value.empty();
  if (key == "tune")
    return choose<Tune>({{"exact", Tune::exact},
                         {"photo", Tune::photo},
                         {"text", Tune::text},
                         {"psnr", Tune::psnr}},
                        value, params.tune);
  if (key == "effort")
    return choose<Effort>({{"fast", Effort::fast}, {"best", Effort::best}}, value, params.effort);
  if (key == "huffman")
    return choose<HuffmanTables>({{"standard", HuffmanTables::standard},
                                  {"optimal", HuffmanTables::optimal},
                                  {"trained", HuffmanTables::trained}},
                                 value, params.huffman);
  if (key == "tables")
    return choose<QuantTables>({{"annex-k", QuantTables::annex_k},
                                {"flat", QuantTables::flat},
                                {"ffmpeg", QuantTables::ffmpeg},
                                {"tuned", QuantTables::tuned}},
                               value, params.tables);
  return false;
}

bool read_tables(const std::string& path, Mode& mode) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::pair<std::string, int> key;
    std::array<QuantTable, 2> tables;
    words >> key.first >> key.second;
    for (QuantTable& table : tables)
      for (std::uint16_t& entry : table) words >> entry;
    if (!words) return false;
    mode.tables[key] = tables;
  }
  return !mode.tables.empty();
}

bool set_mode(const std::string& key, const std::string& value, Mode& mode) {
  if (key == "file") return read_tables(value, mode);
  std::string* const text = key == "program"  ? &mode.peer.program
                            : key == "args"   ? &mode.peer.arguments
                            : key == "recode" ? &mode.recode
                                              : nullptr;
  if (text == nullptr) return set_option(key, value, mode.params);
  *text = value;
  return true;
}

std::string name_of(Subsampling sampling) {
  return sampling == Subsampling::s444 ? "444" : sampling == Subsampling::s422 ? "422" : "420";
}

std::vector<std::byte> encode_turbo(const Mode& mode, Subsampling sampling, int quality,
                                    const Image& image) {
  test::LibjpegOptions options;
  options.quality = quality;
  options.factors = test::factors_of(sampling);
  options.optimal = mode.params.huffman == HuffmanTables::optimal;
  options.progressive = mode.params.progressive;
  return test::libjpeg_encode_pixels(image.width, image.height, test::PixelInput::rgb,
                                     image.rgb.data(), 3 * std::ptrdiff_t{image.width}, options);
}

std::vector<std::byte> encode_zerorun(const Mode& mode, Subsampling sampling, int quality,
                                      const Image& image) {
  EncodeParams params = mode.params;
  params.quality = quality;
  const auto tables = mode.tables.find({sampling == Subsampling::s420 ? "420" : "444", quality});
  if (tables != mode.tables.end()) {
    params.luma_table = tables->second[0];
    params.chroma_table = tables->second[1];
  }
  params.subsampling = sampling;
  params.backend = Backend::cpu;
  params.threads = 1;
  params.restart = RestartPolicy::none();
  std::vector<std::byte> jpeg;
  const ConstFrameView frame{PixelFormat::rgb24,
                             image.width,
                             image.height,
                             {image.rgb.data(), nullptr, nullptr},
                             {3 * std::ptrdiff_t{image.width}, 0, 0}};
  auto encoder = Encoder::create(params);
  if (!encoder || !encoder->encode(frame, jpeg)) jpeg.clear();
  return jpeg;
}

/// Bytes of the scans of a JPEG stream: behind the first SOS segment, before EOI. 0: there is none.
double scan_bytes(std::span<const std::byte> jpeg) {
  const auto at = [&](std::size_t i) { return std::to_integer<std::size_t>(jpeg[i]); };
  for (std::size_t i = 2; i + 4 < jpeg.size();) {
    const std::size_t length = at(i + 2) << 8 | at(i + 3);
    if (at(i) != 0xFF || length < 2) return 0;
    const std::size_t behind = i + 2 + length;
    if (at(i + 1) == 0xDA)
      return behind + 2 <= jpeg.size() ? static_cast<double>(jpeg.size() - 2 - behind) : 0;
    i = behind;
  }
  return 0;
}

/// Logarithm of the bytes at a score.
double log_bytes_at(const Curve& curve, Metric metric, double score) {
  std::size_t upper = 1;
  while (upper + 1 < curve.size() && curve[upper].scores[metric] < score) ++upper;
  const Point &a = curve[upper - 1], &b = curve[upper];
  const double span = b.scores[metric] - a.scores[metric];
  const double part = span > 1e-12 ? (score - a.scores[metric]) / span : 0.0;
  return std::log(a.bytes) + part * (std::log(b.bytes) - std::log(a.bytes));
}

/// The score that goes with one of SSIMULACRA2; at the ends of the curve that of the end.
double score_at(const Curve& curve, Metric metric, double of_ssimulacra2) {
  std::size_t upper = 1;
  while (upper + 1 < curve.size() && curve[upper].scores[ssimulacra2] < of_ssimulacra2) ++upper;
  const Scores &a = curve[upper - 1].scores, &b = curve[upper].scores;
  const double span = b[ssimulacra2] - a[ssimulacra2];
  const double part = span > 1e-12 ? (of_ssimulacra2 - a[ssimulacra2]) / span : 0.0;
  return a[metric] + std::clamp(part, 0.0, 1.0) * (b[metric] - a[metric]);
}

std::vector<std::byte> encode(const Mode& mode, Subsampling sampling, int quality,
                              const Image& image) {
  std::vector<std::byte> jpeg =
      mode.encoder == "turbo"     ? encode_turbo(mode, sampling, quality, image)
      : mode.encoder == "zerorun" ? encode_zerorun(mode, sampling, quality, image)
                                  : encode_by(mode.peer, name_of(sampling), quality, image);
  return mode.recode.empty() || jpeg.empty() ? jpeg : recode_by(mode.recode, jpeg);
}

}  // namespace

std::optional<Mode> parse_mode(const std::string& text, std::string& error) {
  Mode mode;
  mode.text = text;
  const std::size_t colon = text.find(':');
  mode.encoder = text.substr(0, colon);
  mode.peer = {mode.encoder == "jpegli", mode.encoder == "jpegli" ? "cjpegli" : "cjpeg", ""};
  if (mode.encoder != "turbo" && mode.encoder != "zerorun" && mode.encoder != "jpegli" &&
      mode.encoder != "mozjpeg") {
    error = "'" + text + "' begins with none of turbo, zerorun, jpegli and mozjpeg";
    return std::nullopt;
  }
  std::istringstream options(colon == std::string::npos ? "" : text.substr(colon + 1));
  for (std::string option; std::getline(options, option, ',');) {
    const std::size_t equal = option.find('=');
    const std::string key = option.substr(0, equal);
    const std::string value = equal == std::string::npos ? "" : option.substr(equal + 1);
    if (!set_mode(key, value, mode)) {
      error = "'" + option + "' is no option of a mode";
      return std::nullopt;
    }
  }
  return mode;
}

std::optional<double> saved_percent(const Curve& base, const Curve& other, Metric metric,
                                    const Band& band) {
  if (base.size() < 2 || other.size() < 2) return std::nullopt;
  const double low = std::max(other.front().scores[metric], score_at(base, metric, band.low));
  const double high = std::min(other.back().scores[metric], score_at(base, metric, band.high));
  if (!(high >= low)) return std::nullopt;  // NaN: the metric is not known
  constexpr int kSteps = 200;
  double sum = 0;
  for (int i = 0; i <= kSteps; ++i) {
    const double score = low + (high - low) * i / kSteps;
    sum += log_bytes_at(other, metric, score) - log_bytes_at(base, metric, score);
  }
  return 100 * (1 - std::exp(sum / (kSteps + 1)));
}

std::optional<Point> measure(const Mode& mode, Subsampling sampling, int quality,
                             const Image& image, const Meter& meter) {
  const std::vector<std::byte> jpeg = encode(mode, sampling, quality, image);
  test::Pixels pixels;
  if (jpeg.empty() || !test::libjpeg_pixels(jpeg, test::PixelOutput::rgb, true, pixels).clean())
    return std::nullopt;
  return Point{scan_bytes(jpeg), static_cast<double>(jpeg.size()),
               meter.measure({pixels.width, pixels.height, std::move(pixels.samples)})};
}

std::optional<Image> read_image(const std::string& path) {
  io::SourceOptions options;
  options.pixel_format = PixelFormat::rgb24;
  auto source = io::open_frames({path, "", {}}, options);
  if (!source) return std::nullopt;
  Frame frame;
  io::FrameTime time;
  const auto read = (*source)->read(frame, time);
  if (!read || !*read) return std::nullopt;
  const ConstFrameView view = frame.view();
  Image image{view.width, view.height, {}};
  const std::size_t row_bytes = 3 * static_cast<std::size_t>(view.width);
  for (int y = 0; y < view.height; ++y) {
    const std::uint8_t* row = view.data[0] + y * view.stride_bytes[0];
    image.rgb.insert(image.rgb.end(), row, row + row_bytes);
  }
  return image;
}

Image crop(const Image& image, int x, int y, int width, int height) {
  Image out{std::min(width, image.width - x), std::min(height, image.height - y), {}};
  for (int row = y; row < y + out.height; ++row) {
    const auto first = image.rgb.begin() + 3 * (std::ptrdiff_t{row} * image.width + x);
    out.rgb.insert(out.rgb.end(), first, first + 3 * std::ptrdiff_t{out.width});
  }
  return out;
}

}  // namespace zerorun::rd
