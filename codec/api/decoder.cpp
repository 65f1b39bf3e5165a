// The public decoder: headers, scans in order, output.
// SPDX-License-Identifier: MIT
#include "zerorun/decoder.hpp"

#include <algorithm>
#include <utility>

#include "codec/api/pipelines.hpp"
#include "codec/base/try.hpp"
#include "codec/pipeline/decode_walk.hpp"

namespace zerorun {

struct Decoder::Impl {
  DecodeParams params;
  Backend backend;
  PipelineAndSpare<DecodePipeline> pipelines;
  HostWindow window = {};
  StoredFrame stored = {};

  /// `begin` and `finish` as for walk_image().
  template <typename Begin, typename Finish>
  Result<DecodeReport> run(std::span<const std::byte> jpeg, const Begin& begin,
                           const Finish& finish) {
    return pipelines.run(
        [&] { return walk_image(pipelines.active(), params, jpeg, begin, finish); });
  }
  /// `target` as for walk_frame().
  template <typename Target>
  Result<DecodeReport> decode_frame(std::span<const std::byte> jpeg, const Target& target) {
    const auto finish = [&](ColorModel model, ChromaUpsampling upsampling, const FrameView& out) {
      return pipelines.active().finish_frame(model, upsampling, out);
    };
    return pipelines.run(
        [&] { return walk_frame(pipelines.active(), params, jpeg, target, finish, window); });
  }
};

Status Decoder::select(int scale, const Region& region) {
  return guarded([&] {
    ZR_TRY(validate_part(scale, region));
    impl_->params.scale = scale;
    impl_->params.region = region;
    return Status::ok();
  });
}

Result<Decoder> Decoder::create(const DecodeParams& params) {
  return guarded([&]() -> Result<Decoder> {
    ZR_TRY(validate_params(params));
    ZR_LET(resolved, resolve_backend(params.backend, params.device));
    return make_with_backend(params.backend, resolved, [&](Backend backend) -> Result<Decoder> {
      ZR_LET(pipelines, make_decode_pipelines(backend, params));
      return Decoder(std::make_unique<Impl>(Impl{params, backend, std::move(pipelines)}));
    });
  });
}

Result<DecodeReport> Decoder::decode(std::span<const std::byte> jpeg, const FrameView& out) {
  return guarded([&]() -> Result<DecodeReport> {
    ZR_TRY(validate(out));
    return impl_->decode_frame(jpeg, [&](int width, int height, FrameView& target) -> Status {
      ZR_TRY(check_frame_size(out, width, height));
      target = out;
      return Status::ok();
    });
  });
}

Result<DecodeReport> Decoder::decode(std::span<const std::byte> jpeg, PixelFormat format,
                                     Frame& out) {
  return guarded([&]() -> Result<DecodeReport> {
    return impl_->decode_frame(jpeg, [&](int width, int height, FrameView& target) -> Status {
      ZR_TRY(out.reshape(format, width, height));
      target = out.view();
      return Status::ok();
    });
  });
}

Result<DecodeReport> Decoder::decode_planes(std::span<const std::byte> jpeg,
                                            std::vector<ComponentPlane>& out) {
  return guarded([&]() -> Result<DecodeReport> {
    if (!(impl_->params.region == Region()))
      return Status(Errc::invalid_argument, "component planes are decoded without a region");
    return impl_->run(
        jpeg,
        [&](const HeaderParser& parser) -> Status {
          DecodePipeline& pipeline = impl_->pipelines.active();
          if (!wants_part(impl_->params))
            return pipeline.begin_planes(parser.frame(), nullptr, false);
          ZR_LET(part, image_part(parser.frame(), impl_->params.scale, {}));
          return pipeline.begin_planes(part.window, nullptr, false);
        },
        [&](const HeaderParser&) { return impl_->pipelines.active().finish_planes(out); });
  });
}

Result<DecodeReport> Decoder::decode_coefficients(std::span<const std::byte> jpeg,
                                                  std::vector<ComponentCoefficients>& out) {
  return guarded([&]() -> Result<DecodeReport> {
    return impl_->run(
        jpeg,
        [&](const HeaderParser& parser) {
          const FrameHeader& frame = parser.frame();
          out.resize(frame.components.size());
          for (std::size_t i = 0; i < out.size(); ++i) {
            const auto& c = frame.components[i];
            out[i].blocks_wide = c.blocks_wide;
            out[i].blocks_high = c.blocks_high;
            out[i].values.resize(static_cast<std::size_t>(out[i].blocks_wide) *
                                 static_cast<std::size_t>(out[i].blocks_high) * kBlockSize);
          }
          impl_->stored.clear(frame);
          return impl_->pipelines.active().begin_coefficients(impl_->stored);
        },
        [&](const HeaderParser&) {
          ZR_TRY(impl_->pipelines.active().finish_coefficients());
          impl_->stored.copy(out);
          return Status::ok();
        });
  });
}

Decoder::Decoder(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;
Decoder::~Decoder() = default;
Backend Decoder::backend() const noexcept { return impl_->backend; }
const DecodeParams& Decoder::params() const noexcept { return impl_->params; }

}  // namespace zerorun
