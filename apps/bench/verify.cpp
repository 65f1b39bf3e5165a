// The judge decodes, PSNR tells what is lost, and our own streams are compared byte by byte.
// SPDX-License-Identifier: MIT
#include "apps/bench/verify.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "apps/bench/libjpeg_coder.hpp"
#include "apps/common/failure.hpp"
#include "apps/common/psnr.hpp"
#include "apps/encode_options.hpp"

namespace zerorun::app::bench {
namespace {

/// A peer may round differently, but not code a worse picture than its quality promises.
constexpr double kPsnrTolerance = 1.0;
/// What stands for infinity, so that files can hold it.
constexpr double kMostPsnr = 99.99;
/// Where the source of a stream is not known, a peer is compared with the CPU's picture. Samples as
/// stored differ by the rounding of the inverse DCT alone, pixels by how chroma is enlarged too.
constexpr double kLeastPlanarPsnr = 40.0, kLeastPackedPsnr = 25.0;

/// Decodes one stream after another and adds up what differs from the source.
class Judge {
 public:
  Status open(const ConstFrameView& like) {
    if (is_libjpeg(like.format)) return Status::ok();
    DecodeParams params = decode_params(Backend::cpu);
    params.strict = true;
    auto decoder = Decoder::create(params);
    if (!decoder) return decoder.status();
    own_.emplace_back(*std::move(decoder));
    return Status::ok();
  }

  Status add(std::span<const std::byte> jpeg, const ConstFrameView& source) {
    if (Status status = decoded_.reshape(source.format, source.width, source.height); !status)
      return status;
    if (own_.empty()) {
      if (Status status = libjpeg_.decode(jpeg, decoded_.view()); !status) return status;
    } else if (auto report = own_[0].decode(jpeg, decoded_.view()); !report) {
      return report.status();
    }
    error_.add(squared_error(source, std::as_const(decoded_).view()));
    return Status::ok();
  }

  double psnr() const { return std::min(error_.psnr(), kMostPsnr); }
  std::string name() const { return own_.empty() ? "libjpeg-turbo" : "zerorun"; }

 private:
  static bool is_libjpeg(PixelFormat format) {
    return !libjpeg_version().empty() && libjpeg_takes(format);
  }

  PaddedFrame decoded_;
  LibjpegDecoder libjpeg_;
  std::vector<Decoder> own_;
  SquaredError error_;
};

}  // namespace

EncodeParams encode_params(const Case& what) {
  EncodeParams params;
  params.quality = what.quality;
  params.subsampling = what.sampling;
  params.huffman = what.huffman;
  params.restart = parse_restart(what.restart).value_or(RestartPolicy::automatic());
  return params;
}

DecodeParams decode_params(Backend backend, int device) {
  DecodeParams params;
  params.backend = backend;
  params.device = device;
  params.limits = StreamLimits::any_size();
  return params;
}

namespace {

void decode_reference(const FrameSet& frames, Reference& reference) {
  auto decoder =
      value_or_fail(Decoder::create(decode_params(Backend::cpu)), Exit::failed, frames.input);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const ConstFrameView like = frames.view(i);
    reference.pictures.push_back(value_or_fail(
        PaddedFrame::create(like.format, like.width, like.height), Exit::failed, frames.input));
    (void)value_or_fail(decoder.decode(reference.streams[i], reference.pictures.back().view()),
                        Exit::failed, frames.input);
  }
}

std::vector<std::vector<std::byte>> streams_of_libjpeg(const Case& what, const FrameSet& frames) {
  LibjpegEncoder encoder(what);
  std::vector<std::vector<std::byte>> streams;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    std::span<const std::byte> jpeg;
    if (Status status = encoder.encode(frames.view(i), jpeg); !status)
      fail(Exit::failed, "--streams libjpeg", status);
    streams.emplace_back(jpeg.begin(), jpeg.end());
  }
  return streams;
}

std::vector<std::vector<std::byte>> streams_of_ours(const Case& what, const FrameSet& frames) {
  EncodeParams params = encode_params(what);
  params.backend = Backend::cpu;
  auto encoder = value_or_fail(Encoder::create(params), Exit::failed, what.input);
  std::vector<std::vector<std::byte>> streams(frames.size());
  for (std::size_t i = 0; i < frames.size(); ++i)
    if (const auto report = encoder.encode(frames.view(i), streams[i]); !report)
      fail(Exit::failed, what.input, report.status());
  return streams;
}

}  // namespace

Reference make_reference(const Case& what, const FrameSet& frames) {
  Reference reference;
  reference.streams = what.streams == Streams::input     ? frames.streams
                      : what.streams == Streams::libjpeg ? streams_of_libjpeg(what, frames)
                                                         : streams_of_ours(what, frames);
  Judge judge;
  if (Status status = judge.open(frames.view(0)); !status) fail(Exit::failed, what.input, status);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const std::vector<std::byte>& jpeg = reference.streams[i];
    if (Status status = judge.add(jpeg, frames.view(i)); !status)
      fail(Exit::mismatch, what.input + ": the reference stream", status);
    reference.stream_bytes += static_cast<double>(jpeg.size()) / static_cast<double>(frames.size());
    reference.largest = std::max(reference.largest, jpeg.size());
  }
  reference.psnr = judge.psnr();
  reference.least_psnr = what.streams != Streams::input ? reference.psnr - kPsnrTolerance
                         : is_planar_yuv(what.pixels)   ? kLeastPlanarPsnr
                                                        : kLeastPackedPsnr;
  if (what.operation == Operation::decode && what.streams != Streams::input)
    decode_reference(frames, reference);
  return reference;
}

ConstFrameView reference_picture(const FrameSet& frames, const Reference& reference,
                                 std::size_t index) {
  return reference.pictures.empty() ? frames.view(index)
                                    : std::as_const(reference.pictures[index]).view();
}

bool same_samples(const ConstFrameView& a, const ConstFrameView& b) {
  return squared_error(a, b).psnr() == std::numeric_limits<double>::infinity();
}

/// start() and finish() of frame `index` alone.
static Status code_one(Lane& lane, std::size_t index) {
  if (Status status = lane.start(index); !status) return status;
  return lane.finish();
}

static Status check_psnr(double psnr, const Reference& reference) {
  if (psnr >= reference.least_psnr) return Status::ok();
  return Status(
      Errc::verify_mismatch,
      fmt::format("{:.2f} dB, where at least {:.2f} dB are expected", psnr, reference.least_psnr));
}

Result<Verdict> check_encoder(EncodeLane& lane, bool ours, const FrameSet& frames,
                              const Reference& reference) {
  if (Status status = lane.attach(); !status) return status;
  Judge judge;
  if (Status status = judge.open(frames.view(0)); !status) return status;
  Verdict verdict;
  std::vector<std::byte> jpeg;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (Status status = code_one(lane, i); !status) return status;
    if (Status status = lane.stream(jpeg); !status) return status;
    if (ours && jpeg != reference.streams[i])
      return Status(Errc::verify_mismatch, fmt::format("frame {} differs from the CPU's", i));
    if (Status status = judge.add(jpeg, frames.view(i)); !status) return status;
    verdict.stream_bytes += static_cast<double>(jpeg.size()) / static_cast<double>(frames.size());
  }
  verdict.psnr = judge.psnr();
  if (Status status = check_psnr(verdict.psnr, reference); !status) return status;
  verdict.text = ours ? "same bytes as the CPU, decoded by " : "decoded by ";
  verdict.text += judge.name();
  return verdict;
}

Result<Verdict> check_decoder(DecodeLane& lane, bool ours, const FrameSet& frames,
                              const Reference& reference) {
  if (Status status = lane.attach(); !status) return status;
  PaddedFrame picture;
  SquaredError error;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const ConstFrameView source = frames.view(i);
    if (Status status = picture.reshape(source.format, source.width, source.height); !status)
      return status;
    if (Status status = code_one(lane, i); !status) return status;
    if (Status status = lane.picture(0, picture.view()); !status) return status;
    const ConstFrameView decoded = std::as_const(picture).view();
    if (ours && !same_samples(reference_picture(frames, reference, i), decoded))
      return Status(Errc::verify_mismatch, fmt::format("frame {} differs from the CPU's", i));
    error.add(squared_error(source, decoded));
  }
  Verdict verdict;
  verdict.stream_bytes = reference.stream_bytes;
  verdict.psnr = std::min(error.psnr(), kMostPsnr);
  if (Status status = check_psnr(verdict.psnr, reference); !status) return status;
  verdict.text = ours                         ? "same samples as the CPU"
                 : reference.pictures.empty() ? "compared with the CPU's picture"
                                              : "compared with the source";
  return verdict;
}

}  // namespace zerorun::app::bench
