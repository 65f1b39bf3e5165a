// `zerorun bench --curves`: encodes pictures at several qualities, decodes and measures them.
// SPDX-License-Identifier: MIT
#include "apps/bench/quality/quality.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include <fmt/core.h>

#include "apps/bench/files/files.hpp"
#include "apps/bench/peers/libjpeg.hpp"
#include "apps/bench/quality/encoders.hpp"
#include "apps/bench/quality/frames.hpp"
#include "apps/common/failure.hpp"
#include "codec/base/thread_pool.hpp"
#include "zerorun/backend.hpp"

namespace zerorun::app::bench {
namespace {

/// The names of files where there is one for each picture.
std::vector<std::string> names_of(const std::string& input, std::size_t count) {
  const auto stem = [](const std::string& path) {
    return std::filesystem::path(path).stem().string();
  };
  std::vector<std::string> names;
  if (!is_synthetic(input) && input != "-")
    for (const std::string& file : input_files(input).files) names.push_back(stem(file));
  if (names.size() == count) return names;
  names.clear();
  const std::string first = is_synthetic(input) ? input.substr(input.find(':') + 1) : stem(input);
  for (std::size_t i = 0; i < count; ++i)
    names.push_back(count == 1 ? first : fmt::format("{} {}", first, i));
  return names;
}

rd::Image image_of(const ConstFrameView& view) {
  rd::Image image{view.width, view.height, {}};
  const std::size_t row_bytes = 3 * static_cast<std::size_t>(view.width);
  image.rgb.reserve(row_bytes * static_cast<std::size_t>(view.height));
  for (int y = 0; y < view.height; ++y) {
    const std::uint8_t* row = view.data[0] + y * view.stride_bytes[0];
    image.rgb.insert(image.rgb.end(), row, row + row_bytes);
  }
  return image;
}

/// Decodes by libjpeg-turbo, which is independent of zerorun, where it was found.
Result<rd::Image> decode(const std::vector<std::byte>& jpeg, int width, int height) {
  PaddedFrame out;
  ZR_TRY(out.reshape(PixelFormat::rgb24, width, height));
  if (have_libjpeg()) {
    ZR_TRY(make_libjpeg_decoder()->decode(jpeg, out.view()));
  } else {
    std::optional<Decoder> decoder;
    ZR_TRY(store(Decoder::create(decode_params(Backend::cpu)), decoder));
    ZR_TRY(decoder->decode(jpeg, out.view()).status());
  }
  return image_of(std::as_const(out).view());
}

class QualityRun {
 public:
  QualityRun(const Options& options, const Selection& selection)
      : options_(options), meters_(choose_meters(options, selection), real_cuda_meter()) {
    report_.qualities = options.qualities;
    std::sort(report_.qualities.begin(), report_.qualities.end());
    encoders_ = curve_encoders(!options.selection.no_peers, report_.notes);
  }

  QualityReport run() {
    for (const std::string& input : options_.inputs) add_input(input);
    report_.meters = meters_.times();
    if (!meters_.note().empty()) report_.notes.push_back(meters_.note());
    return std::move(report_);
  }

 private:
  using Layouts = std::map<PixelFormat, FrameSet>;  ///< of one picture

  /// A point that is made: the encoder, its quality and its stream.
  struct Made {
    std::size_t encoder;
    std::vector<std::byte> jpeg;
    std::optional<rd::Point> point;
  };

  void add_input(const std::string& input) {
    const std::vector<Case> cases = cases_of(options_, input);
    std::vector<FrameSet> pictures = load_pictures(options_, input);
    const auto names = names_of(input, pictures.size());
    for (std::size_t i = 0; i < pictures.size(); ++i) {
      const ConstFrameView view = pictures[i].view(0);
      report_.pictures.push_back({names[i], view.width, view.height});
      note_small(report_.pictures.back());
      meters_.set_original(image_of(view));
      Layouts layouts;
      layouts[PixelFormat::rgb24] = std::move(pictures[i]);
      for (const Subsampling sampling : samplings_of(cases)) add_curves(cases, sampling, layouts);
    }
  }

  void note_small(const QualityPicture& picture) {
    if (std::min(picture.width, picture.height) < rd::kSsimulacra2Side)
      report_.notes.push_back(fmt::format(
          "{}: a side is shorter than {}, where SSIMULACRA2 has fewer scales and means something "
          "else",
          picture.name, rd::kSsimulacra2Side));
  }

  static std::vector<Subsampling> samplings_of(const std::vector<Case>& cases) {
    std::vector<Subsampling> out;
    for (const Case& what : cases)
      if (std::find(out.begin(), out.end(), what.sampling) == out.end())
        out.push_back(what.sampling);
    return out;
  }

  QualityPart& part_of(Subsampling sampling) {
    for (QualityPart& part : report_.parts)
      if (part.sampling == sampling) return part;
    QualityPart& part = report_.parts.emplace_back();
    part.sampling = sampling;
    // With trained tables an encoder takes one pass, as with standard ones.
    for (const CurveEncoder& encoder : encoders_)
      part.encoders.push_back(
          {encoder.name, encoder.huffman, {}, encoder.huffman == "optimal" ? 1U : 0U});
    return part;
  }

  /// The picture as an encoder takes it, made when it is first needed.
  static const FrameSet& frames_of(const CurveEncoder& encoder, const Case& what,
                                   Layouts& layouts) {
    const PixelFormat format = encoder.planar ? planar_format(what.sampling) : encoder.pixels;
    FrameSet& frames = layouts[format];
    if (frames.frames.empty()) frames = converted(layouts[PixelFormat::rgb24], format);
    return frames;
  }

  void add_curves(const std::vector<Case>& cases, Subsampling sampling, Layouts& layouts) {
    QualityPart& part = part_of(sampling);
    const QualityPicture& shown = report_.pictures.back();
    tell(fmt::format("{} {}", shown.name, zerorun::name(sampling)));
    std::vector<Made> made;
    for (std::size_t e = 0; e < encoders_.size(); ++e)
      for (const int quality : report_.qualities)
        for (const Case& what : cases)
          if (what.sampling == sampling && what.quality == quality &&
              !encode(e, what, frames_of(encoders_[e], what, layouts), made))
            break;
    measure(made, shown);
    for (EncoderCurves& row : part.encoders) row.curves.emplace_back();
    for (const Made& one : made) {
      rd::Curve& curve = part.encoders[one.encoder].curves.back();
      // A scale with fewer steps than there are qualities gives the same stream twice.
      if (one.point && (curve.empty() || curve.back().bytes != one.point->bytes))
        curve.push_back(*one.point);
    }
  }

  /// False where the encoder cannot; a note says why.
  bool encode(std::size_t encoder, const Case& what, const FrameSet& frames,
              std::vector<Made>& made) {
    auto jpeg = encoders_[encoder].encode(what, frames);
    if (jpeg) {
      made.push_back({encoder, *std::move(jpeg), std::nullopt});
      return true;
    }
    if (encoder < 2) fail(Exit::failed, encoders_[encoder].name, jpeg.status());
    std::string note =
        jpeg.status().detail().empty() ? jpeg.status().message() : jpeg.status().detail();
    if (std::find(report_.notes.begin(), report_.notes.end(), note) == report_.notes.end())
      report_.notes.push_back(std::move(note));
    return false;
  }

  /// SSIMULACRA2 needs 150 bytes a pixel and thread, so large pictures take fewer threads.
  static int threads_for(const QualityPicture& picture, const Selection& selection) {
    constexpr double kBytesOfPixel = 150, kMostBytes = 4e9;
    const double bytes = kBytesOfPixel * picture.width * picture.height;
    const int most = std::max(1, static_cast<int>(std::min(1024.0, kMostBytes / bytes)));
    const int wanted = selection.threads.empty() ? 0 : selection.threads.back();
    const int all = wanted > 0 ? wanted : usable_processors();
    return std::clamp(all, 1, most);
  }

  void measure(std::vector<Made>& made, const QualityPicture& picture) {
    ThreadPool pool(threads_for(picture, options_.selection));
    pool.run(static_cast<std::int64_t>(made.size()), [&](std::int64_t i, int) {
      Made& one = made[static_cast<std::size_t>(i)];
      const auto image = decode(one.jpeg, picture.width, picture.height);
      if (!image)
        fail(Exit::mismatch, encoders_[one.encoder].name + ": its stream", image.status());
      one.point = rd::Point{rd::scan_bytes(one.jpeg), meters_.measure(*image)};
      one.jpeg = {};
    });
  }

  Options options_;
  Meters meters_;
  std::vector<CurveEncoder> encoders_;
  QualityReport report_;
};

}  // namespace

QualityReport measure_quality(const Options& options, const Selection& selection) {
  return QualityRun(options, selection).run();
}

}  // namespace zerorun::app::bench
