// The judge decodes, PSNR tells what is lost, and our own streams are compared byte by byte.
// SPDX-License-Identifier: MIT
#include "apps/bench/measure/verify.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "apps/bench/measure/judge.hpp"
#include "apps/bench/measure/side_by_side.hpp"
#include "codec/base/try.hpp"

namespace zerorun::app::bench {
namespace {

Status differs(std::size_t index) {
  return Status(Errc::verify_mismatch, fmt::format("frame {} differs from the CPU's", index));
}

Status check_psnr(double psnr, const Reference& reference) {
  if (psnr >= reference.least_psnr) return Status::ok();
  return Status(
      Errc::verify_mismatch,
      fmt::format("{:.2f} dB, where at least {:.2f} dB are expected", psnr, reference.least_psnr));
}

/// What one lane makes of the frames that it takes.
class PictureCheck {
 public:
  PictureCheck(DecodeLane& lane, bool ours, const FrameSet& frames, const Reference& reference)
      : lane_(lane), ours_(ours), frames_(frames), reference_(reference) {}

  /// Takes `together` frames at a time until `next` has passed the last one.
  Status run(std::atomic<std::size_t>& next, std::size_t together) {
    Status status = lane_.attach();
    while (status) {
      const std::size_t begin = next.fetch_add(together);
      if (begin >= frames_.size()) return status;
      status = check(begin, std::min(begin + together, frames_.size()));
    }
    next = frames_.size();  // the other lanes need not go on
    return status;
  }

  const SquaredError& error() const noexcept { return error_; }

 private:
  Status check(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) ZR_TRY(lane_.start(i));
    ZR_TRY(lane_.finish());
    for (std::size_t i = begin; i < end; ++i) ZR_TRY(look_at(i, i - begin));
    return Status::ok();
  }

  Status look_at(std::size_t index, std::size_t place) {
    const ConstFrameView source = frames_.view(index);
    ZR_TRY(picture_.reshape(source.format, source.width, source.height));
    ZR_TRY(lane_.picture(place, picture_.view()));
    const ConstFrameView decoded = std::as_const(picture_).view();
    if (!ours_) {
      error_.add(squared_error(source, decoded));
    } else if (!same_samples(reference_picture(frames_, reference_, index), decoded)) {
      return differs(index);
    }
    return Status::ok();
  }

  DecodeLane& lane_;
  bool ours_;
  const FrameSet& frames_;
  const Reference& reference_;
  PaddedFrame picture_;
  SquaredError error_;
};

}  // namespace

Result<Verdict> check_encoder(EncodeLane& lane, bool ours, const FrameSet& frames,
                              const Reference& reference) {
  ZR_TRY(lane.attach());
  Judge judge;
  ZR_TRY(judge.open(frames.view(0), 0));
  Verdict verdict;
  std::vector<std::byte> jpeg;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    ZR_TRY(lane.start(i));
    ZR_TRY(lane.finish());
    ZR_TRY(lane.stream(jpeg));
    if (ours && jpeg != reference.streams[i]) return differs(i);
    ZR_TRY(judge.add(jpeg, frames.view(i)));
    verdict.stream_bytes += static_cast<double>(jpeg.size()) / static_cast<double>(frames.size());
  }
  verdict.psnr = std::min(judge.error().psnr(), kMostPsnr);
  ZR_TRY(check_psnr(verdict.psnr, reference));
  verdict.text = ours ? "same bytes as the CPU, decoded by " : "decoded by ";
  verdict.text += judge.name();
  return verdict;
}

Result<Verdict> check_decoder(const std::vector<std::unique_ptr<Lane>>& lanes, std::size_t together,
                              bool ours, const FrameSet& frames, const Reference& reference) {
  std::vector<PictureCheck> parts;
  for (const auto& lane : lanes)
    parts.emplace_back(dynamic_cast<DecodeLane&>(*lane), ours, frames, reference);
  std::atomic<std::size_t> next{0};
  const Status found =
      side_by_side(parts.size(), [&](std::size_t i) { return parts[i].run(next, together); });
  if (!found) return found;
  SquaredError error;
  for (const PictureCheck& part : parts) error.add(part.error());
  Verdict verdict;
  verdict.stream_bytes = reference.stream_bytes;
  verdict.psnr = ours ? reference.pictures_psnr : std::min(error.psnr(), kMostPsnr);
  ZR_TRY(check_psnr(verdict.psnr, reference));
  verdict.text = ours                         ? "same samples as the CPU"
                 : reference.pictures.empty() ? "compared with the CPU's picture"
                                              : "compared with the source";
  return verdict;
}

}  // namespace zerorun::app::bench
