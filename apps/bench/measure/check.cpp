// The reference of a case, and the checks: streams are decoded and compared with their sources,
// zerorun's output byte by byte.
// SPDX-License-Identifier: MIT
#include "apps/bench/measure/measure.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <limits>

#include "apps/common/process.hpp"
#include "codec/base/choices.hpp"
#include "codec/base/thread_pool.hpp"

namespace zerorun::app::bench {
namespace {

Status check_psnr(double psnr, const Reference& reference) {
  if (psnr >= reference.least_psnr) return Status::ok();
  return Status(
      Errc::verify_mismatch,
      fmt::format("{:.2f} dB, where at least {:.2f} dB are expected", psnr, reference.least_psnr));
}

/// Checks the frames that one runner takes.
class PictureCheck {
 public:
  PictureCheck(Runner& runner, bool ours, const FrameSet& frames, const Reference& reference)
      : runner_(runner), ours_(ours), frames_(frames), reference_(reference) {}

  /// Takes `together` frames at a time until `next` has passed the last one.
  Status run(std::atomic<std::size_t>& next, std::size_t together) {
    Status status = runner_.attach();
    while (status) {
      const std::size_t begin = next.fetch_add(together);
      if (begin >= frames_.size()) return status;
      status = check(begin, std::min(begin + together, frames_.size()));
    }
    next = frames_.size();  // stops the other runners
    return status;
  }

  const SquaredError& error() const noexcept { return error_; }

 private:
  Status check(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) ZR_TRY(runner_.start(i));
    ZR_TRY(runner_.finish());
    for (std::size_t i = begin; i < end; ++i) ZR_TRY(check_picture(i, i - begin));
    return Status::ok();
  }

  Status check_picture(std::size_t index, std::size_t place) {
    const ConstFrameView source = frames_.view(index);
    ZR_TRY(picture_.reshape(source.format, source.width, source.height));
    ZR_TRY(runner_.picture(place, picture_.view()));
    const ConstFrameView decoded = std::as_const(picture_).view();
    if (!ours_) {
      error_.add(squared_error(source, decoded));
    } else if (!same_samples(reference_picture(frames_, reference_, index), decoded)) {
      return differs_from_cpu(index);
    }
    return Status::ok();
  }

  Runner& runner_;
  bool ours_;
  const FrameSet& frames_;
  const Reference& reference_;
  PaddedFrame picture_;
  SquaredError error_;
};

/// Decodes streams and adds up how much they differ from their sources. Decodes by libjpeg-turbo,
/// which is independent of zerorun, where it was found and takes the format; else by zerorun's CPU
/// decoder.
class StreamCheck {
 public:
  /// `threads`: of zerorun's decoder on one frame, 0 for one a core.
  Status open(const ConstFrameView& like, int threads) {
    if (have_libjpeg() && is_planar_or_rgb(like.format)) {
      libjpeg_ = make_libjpeg_decoder();
      return Status::ok();
    }
    DecodeParams params = decode_params(Backend::cpu);
    params.strict = true;
    params.threads = threads;
    return store(Decoder::create(params), own_);
  }
  Status add(std::span<const std::byte> jpeg, const ConstFrameView& source) {
    ZR_TRY(decoded_.reshape(source.format, source.width, source.height));
    ZR_TRY(own_ ? own_->decode(jpeg, decoded_.view()).status()
                : libjpeg_->decode(jpeg, decoded_.view()));
    error_.add(squared_error(source, std::as_const(decoded_).view()));
    return Status::ok();
  }

  const SquaredError& error() const noexcept { return error_; }
  const char* decoder_name() const { return own_ ? "zerorun" : "libjpeg-turbo"; }

 private:
  PaddedFrame decoded_;
  std::unique_ptr<LibjpegDecoder> libjpeg_;
  std::optional<Decoder> own_;
  SquaredError error_;
};

/// A peer may round differently, but its pictures may be worse than zerorun's by this at most.
constexpr double kPsnrTolerance = 1.0;
/// Rounding decides about a higher PSNR: a frame that was JPEG before comes back almost unchanged.
constexpr double kBestPsnr = 50.0;
/// Where the source of a stream is not known, a peer is compared with the CPU's picture. Planes
/// differ only by the rounding of the inverse DCT, RGB also by the upsampling of chroma.
constexpr double kLeastPlanarPsnr = 40.0, kLeastPackedPsnr = 25.0;

/// Makes the reference of the frames that one thread takes. Ends the command where that fails.
class ReferenceMaker {
 public:
  ReferenceMaker(const Case& what, const FrameSet& frames) : what_(what), frames_(frames) {
    if (Status status = check_.open(frames.view(0), 1); !status)
      fail(Exit::failed, what.input, status);
    if (what.streams == Streams::libjpeg) libjpeg_ = make_libjpeg_encoder(what, frames);
    if (what.streams == Streams::zerorun) {
      EncodeParams params = encode_params(what, Backend::cpu);
      params.threads = 1;
      encoder_ = value_or_fail(Encoder::create(params), Exit::failed, what.input);
    }
    if (!wants_pictures()) return;
    DecodeParams params = decode_params(Backend::cpu);
    params.threads = 1;
    decoder_ = value_or_fail(Decoder::create(params), Exit::failed, what.input);
  }

  bool wants_pictures() const noexcept {
    return !what_.encodes() && what_.streams != Streams::input;
  }

  void make(std::size_t i, Reference& reference) {
    std::vector<std::byte>& jpeg = reference.streams[i];
    make_stream(i, jpeg);
    const ConstFrameView source = frames_.view(i);
    if (Status status = check_.add(jpeg, source); !status)
      fail(Exit::mismatch, what_.input + ": the reference stream", status);
    if (!wants_pictures()) return;
    PaddedFrame& picture = reference.pictures[i];
    if (Status status = picture.reshape(source.format, source.width, source.height); !status)
      fail(Exit::failed, what_.input, status);
    (void)value_or_fail(decoder_->decode(jpeg, picture.view()), Exit::failed, what_.input);
    pictures_error_.add(squared_error(source, std::as_const(picture).view()));
  }

  const SquaredError& streams_error() const noexcept { return check_.error(); }
  const SquaredError& pictures_error() const noexcept { return pictures_error_; }

 private:
  void make_stream(std::size_t i, std::vector<std::byte>& jpeg) {
    if (libjpeg_) {
      Status status = libjpeg_->start(i);
      if (status) status = libjpeg_->stream(jpeg);
      if (!status) fail(Exit::failed, "--streams libjpeg", status);
    } else if (encoder_) {
      if (const auto report = encoder_->encode(frames_.view(i), jpeg); !report)
        fail_frame(i, report.status());
    } else {
      jpeg = frames_.streams[i];
    }
  }

  /// The exit code of a frame that cannot be so small is that of `encode`.
  [[noreturn]] void fail_frame(std::size_t i, const Status& status) const {
    const bool is_too_large = status.code() == Errc::size_not_reached;
    fail(is_too_large ? Exit::output : Exit::failed, fmt::format("{}: frame {}", what_.input, i),
         status);
  }

  const Case& what_;
  const FrameSet& frames_;
  StreamCheck check_;
  std::unique_ptr<Runner> libjpeg_;
  std::optional<Encoder> encoder_;
  std::optional<Decoder> decoder_;
  SquaredError pictures_error_;
};

}  // namespace

bool same_samples(const ConstFrameView& a, const ConstFrameView& b) {
  return squared_error(a, b).psnr() == std::numeric_limits<double>::infinity();
}

Status differs_from_cpu(std::size_t index) {
  return Status(Errc::verify_mismatch,
                fmt::format("frame {} differs from the output of the CPU", index));
}

double psnr_of(const SquaredError& error) { return std::min(error.psnr(), 99.99); }

Result<CheckResult> check_encoder(Runner& runner, bool ours, const FrameSet& frames,
                                  const Reference& reference) {
  ZR_TRY(runner.attach());
  StreamCheck check;
  ZR_TRY(check.open(frames.view(0), 0));
  CheckResult result;
  std::vector<std::byte> jpeg;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    ZR_TRY(runner.start(i));
    ZR_TRY(runner.finish());
    ZR_TRY(runner.stream(jpeg));
    if (ours && jpeg != reference.streams[i]) return differs_from_cpu(i);
    ZR_TRY(check.add(jpeg, frames.view(i)));
    result.stream_bytes += static_cast<double>(jpeg.size()) / static_cast<double>(frames.size());
  }
  result.psnr = psnr_of(check.error());
  ZR_TRY(check_psnr(result.psnr, reference));
  result.text = ours ? "same bytes as the CPU, decoded by " : "decoded by ";
  result.text += check.decoder_name();
  return result;
}

Result<CheckResult> check_decoder(const std::vector<std::unique_ptr<Runner>>& runners,
                                  std::size_t together, bool ours, const FrameSet& frames,
                                  const Reference& reference) {
  std::vector<PictureCheck> parts;
  for (const auto& runner : runners) parts.emplace_back(*runner, ours, frames, reference);
  std::atomic<std::size_t> next{0};
  ZR_TRY(in_threads(parts.size(), [&](std::size_t i) { return parts[i].run(next, together); }));
  SquaredError error;
  for (const PictureCheck& part : parts) error.add(part.error());
  CheckResult result;
  result.stream_bytes = reference.stream_bytes;
  result.psnr = ours ? reference.pictures_psnr : psnr_of(error);
  ZR_TRY(check_psnr(result.psnr, reference));
  result.text = ours                         ? "same samples as the CPU"
                : reference.pictures.empty() ? "compared with the CPU's picture"
                                             : "compared with the source";
  return result;
}

EncodeParams encode_params(const Case& what, Backend backend, int device) {
  EncodeParams params;
  params.backend = backend;
  params.device = device;
  params.quality = what.quality;
  params.subsampling = what.sampling;
  params.huffman = what.huffman;
  params.progressive = what.progressive;
  params.tune = what.tune;
  params.effort = what.effort;
  params.restart = parse_restart(what.restart).value_or(RestartPolicy::automatic());
  params.size.target_bytes = static_cast<std::size_t>(what.target_size);
  return params;
}

DecodeParams decode_params(Backend backend, int device) {
  DecodeParams params;
  params.backend = backend;
  params.device = device;
  params.limits = StreamLimits::any_size();
  return params;
}

Reference make_reference(const Case& what, const FrameSet& frames) {
  Reference reference;
  ThreadPool pool(0);
  std::deque<ReferenceMaker> makers;
  for (int i = 0; i < pool.workers(); ++i) makers.emplace_back(what, frames);
  reference.streams.resize(frames.size());
  if (makers[0].wants_pictures()) reference.pictures.resize(frames.size());
  pool.run(static_cast<std::int64_t>(frames.size()), [&](std::int64_t i, int worker) {
    makers[static_cast<std::size_t>(worker)].make(static_cast<std::size_t>(i), reference);
  });
  SquaredError streams_error, pictures_error;
  for (const ReferenceMaker& maker : makers) {
    streams_error.add(maker.streams_error());
    pictures_error.add(maker.pictures_error());
  }
  for (const auto& jpeg : reference.streams) {
    reference.stream_bytes += static_cast<double>(jpeg.size()) / static_cast<double>(frames.size());
    reference.largest = std::max(reference.largest, jpeg.size());
  }
  reference.psnr = psnr_of(streams_error);
  reference.pictures_psnr = psnr_of(pictures_error);
  reference.least_psnr = what.streams != Streams::input
                             ? std::min(reference.psnr, kBestPsnr) - kPsnrTolerance
                         : is_planar_yuv(what.pixels) ? kLeastPlanarPsnr
                                                      : kLeastPackedPsnr;
  return reference;
}

ConstFrameView reference_picture(const FrameSet& frames, const Reference& reference,
                                 std::size_t index) {
  return reference.pictures.empty() ? frames.view(index)
                                    : std::as_const(reference.pictures[index]).view();
}

}  // namespace zerorun::app::bench
