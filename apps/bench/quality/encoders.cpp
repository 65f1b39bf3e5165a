// The encoders whose curves are measured: modes of zerorun, and libraries beside it.
// SPDX-License-Identifier: MIT
#include "apps/bench/quality/encoders.hpp"

#include <algorithm>
#include <optional>

#include "apps/bench/peers/libjpeg.hpp"

namespace zerorun::app::bench {
namespace {

using Stream = std::vector<std::byte>;

struct OurMode {
  const char* options;
  Tune tune;
  Effort effort;
  QuantTables tables;
  HuffmanTables huffman;
};
constexpr OurMode kOurModes[] = {
    {"--tables tuned", Tune::exact, Effort::fast, QuantTables::tuned, HuffmanTables::standard},
    {"--tune photo", Tune::photo, Effort::fast, QuantTables::automatic, HuffmanTables::standard},
    {"--tune photo", Tune::photo, Effort::fast, QuantTables::automatic, HuffmanTables::trained},
    {"--tune photo --effort best", Tune::photo, Effort::best, QuantTables::automatic,
     HuffmanTables::optimal},
    {"--tune text --effort best", Tune::text, Effort::best, QuantTables::automatic,
     HuffmanTables::optimal},
    {"--tune psnr --effort best", Tune::psnr, Effort::best, QuantTables::automatic,
     HuffmanTables::optimal},
};

Result<Stream> encode_ours(const OurMode& mode, const Case& what, const FrameSet& frames) {
  EncodeParams params = encode_params(what, Backend::cpu);
  params.tune = mode.tune;
  params.effort = mode.effort;
  params.tables = mode.tables;
  params.huffman = mode.huffman;
  params.restart = RestartPolicy::none();
  std::optional<Encoder> encoder;
  ZR_TRY(store(Encoder::create(params), encoder));
  Stream jpeg;
  ZR_TRY(encoder->encode(frames.view(0), jpeg).status());
  return jpeg;
}

CurveEncoder our_encoder(const OurMode& mode) {
  CurveEncoder encoder;
  encoder.name = std::string("zerorun ") + mode.options;
  encoder.huffman = name(mode.huffman);
  encoder.encode = [mode](const Case& what, const FrameSet& frames) {
    return encode_ours(mode, what, frames);
  };
  return encoder;
}

Result<Stream> stream_of(Runner& runner) {
  Stream jpeg;
  ZR_TRY(runner.attach());
  ZR_TRY(runner.start(0));
  ZR_TRY(runner.finish());
  ZR_TRY(runner.stream(jpeg));
  return jpeg;
}

CurveEncoder base_encoder(HuffmanTables huffman) {
  if (!have_libjpeg())
    return our_encoder({"--tune exact", Tune::exact, Effort::fast, QuantTables::annex_k, huffman});
  CurveEncoder encoder;
  encoder.name = libjpeg_version();
  encoder.huffman = name(huffman);
  encoder.encode = [huffman](Case what, const FrameSet& frames) -> Result<Stream> {
    what.huffman = huffman;
    const auto runner = make_libjpeg_encoder(what, frames);
    ZR_TRY(runner->open());
    return stream_of(*runner);
  };
  return encoder;
}

/// The encoder of a library that `bench` measures, by the coder that it adds for the case.
Result<Stream> encode_peer(const CoderSource& source, const Case& what, const FrameSet& frames) {
  Selection selection;
  selection.threads = {1};
  const Reference reference = make_reference(what, frames);
  std::vector<std::string> notes;
  const Setting setting{what, frames, reference, selection, notes};
  Coders coders;
  ZR_TRY(source.add(setting, coders));
  if (coders.empty())
    return Status(Errc::not_built, notes.empty() ? std::string(source.name) : notes.back());
  std::unique_ptr<Runner> runner;
  ZR_TRY(store(coders[0].open(1), runner));
  return stream_of(*runner);
}

void add_peer(const char* library, bool planar, std::vector<CurveEncoder>& encoders,
              std::vector<std::string>& notes) {
  for (const CoderSource& source : coder_sources()) {
    if (std::string_view(source.name) != library) continue;
    if (source.add == nullptr) {
      notes.push_back(std::string(library) + ": this build has no support for it");
      continue;
    }
    for (const HuffmanTables huffman : {HuffmanTables::standard, HuffmanTables::optimal}) {
      CurveEncoder& encoder = encoders.emplace_back();
      encoder.name = library;
      encoder.huffman = name(huffman);
      encoder.pixels = PixelFormat::bgr24;
      encoder.planar = planar;
      encoder.encode = [&source, huffman](Case what, const FrameSet& frames) {
        what.huffman = huffman;
        what.pixels = frames.view(0).format;
        return encode_peer(source, what, frames);
      };
    }
  }
}

}  // namespace

std::vector<CurveEncoder> curve_encoders(bool peers, std::vector<std::string>& notes) {
  std::vector<CurveEncoder> encoders = {base_encoder(HuffmanTables::standard),
                                        base_encoder(HuffmanTables::optimal)};
  if (!have_libjpeg())
    notes.push_back(
        "libjpeg-turbo: this build has no support for it; zerorun's exact mode, which "
        "has its bytes, takes its place");
  for (const OurMode& mode : kOurModes) encoders.push_back(our_encoder(mode));
  if (!peers) return encoders;
  add_peer("FFmpeg", true, encoders, notes);
  add_peer("OpenCV", false, encoders, notes);
  return encoders;
}

}  // namespace zerorun::app::bench
