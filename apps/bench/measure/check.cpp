// Streams are decoded and compared with their sources, and zerorun's output byte by byte.
// SPDX-License-Identifier: MIT
#include "apps/bench/measure/check.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

#include "apps/bench/measure/measure.hpp"
#include "codec/base/try.hpp"

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

}  // namespace

bool same_samples(const ConstFrameView& a, const ConstFrameView& b) {
  return squared_error(a, b).psnr() == std::numeric_limits<double>::infinity();
}

Status differs_from_cpu(std::size_t index) {
  return Status(Errc::verify_mismatch,
                fmt::format("frame {} differs from the output of the CPU", index));
}

double psnr_of(const SquaredError& error) { return std::min(error.psnr(), 99.99); }

Status StreamCheck::open(const ConstFrameView& like, int threads) {
  if (have_libjpeg() && is_planar_or_rgb(like.format)) {
    libjpeg_ = make_libjpeg_decoder();
    return Status::ok();
  }
  DecodeParams params = decode_params(Backend::cpu);
  params.strict = true;
  params.threads = threads;
  return store(Decoder::create(params), own_);
}

Status StreamCheck::add(std::span<const std::byte> jpeg, const ConstFrameView& source) {
  ZR_TRY(decoded_.reshape(source.format, source.width, source.height));
  ZR_TRY(own_ ? own_->decode(jpeg, decoded_.view()).status()
              : libjpeg_->decode(jpeg, decoded_.view()));
  error_.add(squared_error(source, std::as_const(decoded_).view()));
  return Status::ok();
}

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

}  // namespace zerorun::app::bench
