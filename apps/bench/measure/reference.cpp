// Makes the reference of a case: streams are made, checked and decoded, one frame a thread.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <utility>

#include "apps/bench/measure/check.hpp"
#include "apps/common/failure.hpp"
#include "apps/encode/encode_options.hpp"
#include "codec/base/thread_pool.hpp"

namespace zerorun::app::bench {
namespace {

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

EncodeParams encode_params(const Case& what, Backend backend, int device) {
  EncodeParams params;
  params.backend = backend;
  params.device = device;
  params.quality = what.quality;
  params.subsampling = what.sampling;
  params.huffman = what.huffman;
  params.tune = what.tune;
  params.effort = what.effort;
  params.restart = parse_restart(what.restart).value_or(RestartPolicy::automatic());
  params.index = what.index;
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
