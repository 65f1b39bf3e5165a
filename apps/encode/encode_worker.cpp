// What a lane of `zerorun encode` does: loads a frame, codes it, measures it.
// SPDX-License-Identifier: MIT
#include "apps/encode/encode_worker.hpp"

#include <utility>

#include "apps/common/timing.hpp"
#include "codec/api/device_set.hpp"
#include "codec/base/try.hpp"

namespace zerorun::app {

Result<EncodeWorker> EncodeWorker::create(const EncodeParams& params, bool with_psnr,
                                          bool with_verify) {
  ZR_LET(encoder, Encoder::create(params));
  EncodeWorker worker{std::move(encoder), {}, {}, {}, {}};
  if (with_verify && worker.encoder.backend() == Backend::cuda) {
    EncodeParams twin_params = params;
    twin_params.backend = Backend::cpu;
    ZR_LET(twin, Encoder::create(twin_params));
    worker.cpu_twin = std::move(twin);
  }
  if (with_psnr) {
    DecodeParams decode;
    decode.backend = Backend::cpu;
    decode.limits = StreamLimits::any_size();
    decode.threads = params.threads;
    ZR_LET(decoder, Decoder::create(decode));
    worker.decoder = std::move(decoder);
  }
  return worker;
}

bool EncodeWorker::takes_surfaces() const noexcept {
  return encoder.backend() == Backend::cuda && !cpu_twin && !decoder &&
         !encoder.params().size.is_of_quality();
}

Status EncodeWorker::code(EncodeJob& job) {
  const std::shared_ptr<const DeviceSurface> surface = job.in.surface;
  const ConstFrameView frame = job.frame().view();
  job.width = surface ? surface->width : frame.width;
  job.height = surface ? surface->height : frame.height;
  ZR_TRY(encoder.set_size(job.size));
  const Stopwatch watch;
  auto report = surface ? encoder.encode(*surface, job.jpeg) : encoder.encode(frame, job.jpeg);
  job.microseconds = watch.microseconds();
  // The video decoder needs its memory again. Another device may still need the frame, or another
  // size.
  const bool may_come_again =
      is_of_device(report.status()) || report.status().code() == Errc::size_not_reached;
  if (report || !may_come_again) job.in.drop();
  if (!report) return report.status();
  job.device_microseconds = report->device_microseconds;
  job.report = *report;
  if (cpu_twin) {
    ZR_TRY(cpu_twin->set_size(job.size));
    if (auto twin = cpu_twin->encode(frame, twin_jpeg); !twin) return twin.status();
    if (twin_jpeg != job.jpeg)
      return Status(Errc::verify_mismatch,
                    "the CPU codes other bytes for this frame than the device");
  }
  if (!decoder) return Status::ok();
  auto back = decoder->decode(job.jpeg, frame.format, decoded);
  if (!back) return back.status();
  job.error = squared_error(frame, std::as_const(decoded).view());
  return Status::ok();
}

Result<bool> FrameFeed::read(EncodeJob& job) {
  if (!std::exchange(first_taken, true)) {
    job.in = std::move(first);
    return true;
  }
  io::FrameWork left_out;
  for (std::int64_t i = 1; i < step; ++i) {
    ZR_LET(more, source->next(left_out));
    if (!more) return false;
  }
  if (job.in.item.memory() != memory) job.in.item = Frame(memory);
  return source->next(job.in);
}

}  // namespace zerorun::app
