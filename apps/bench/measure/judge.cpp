// The judge of streams.
// SPDX-License-Identifier: MIT
#include "apps/bench/measure/judge.hpp"

#include <utility>

#include "apps/bench/measure/reference.hpp"
#include "codec/base/try.hpp"

namespace zerorun::app::bench {

Status Judge::open(const ConstFrameView& like, int threads) {
  if (!libjpeg_version().empty() && libjpeg_takes(like.format)) return Status::ok();
  DecodeParams params = decode_params(Backend::cpu);
  params.strict = true;
  params.threads = threads;
  auto decoder = Decoder::create(params);
  if (!decoder) return decoder.status();
  own_ = *std::move(decoder);
  return Status::ok();
}

Status Judge::add(std::span<const std::byte> jpeg, const ConstFrameView& source) {
  ZR_TRY(decoded_.reshape(source.format, source.width, source.height));
  if (!own_) {
    ZR_TRY(libjpeg_.decode(jpeg, decoded_.view()));
  } else if (auto report = own_->decode(jpeg, decoded_.view()); !report) {
    return report.status();
  }
  error_.add(squared_error(source, std::as_const(decoded_).view()));
  return Status::ok();
}

}  // namespace zerorun::app::bench
