// Inspection of streams, and the public decoder: headers, scans in order, output.
// SPDX-License-Identifier: MIT
#include "zerorun/decoder.hpp"

#include <algorithm>
#include <utility>

#include "codec/api/pipelines.hpp"
#include "codec/base/try.hpp"
#include "codec/pipeline/coefficient_coder.hpp"
#include "codec/pipeline/decode_walk.hpp"
#include "codec/syntax/header_parser.hpp"
#include "codec/syntax/tables.hpp"

namespace zerorun {
namespace {

std::optional<Subsampling> name_subsampling(const std::vector<ComponentInfo>& c) {
  if (c.size() == 1) return Subsampling::gray;
  if (c.size() == 4 && (c[3].h != c[0].h || c[3].v != c[0].v)) return std::nullopt;
  for (const Subsampling sampling : {Subsampling::s444, Subsampling::s422, Subsampling::s420,
                                     Subsampling::s440, Subsampling::s411})
    if (has_sampling(c, luma_factors(sampling))) return sampling;
  return std::nullopt;
}

bool uses_standard_tables(const ScanHeader& scan) {
  for (int t = 0; t < 8; ++t) {  // by destination, DC before AC
    const auto& spec = (t % 2 == 0 ? scan.dc : scan.ac)[static_cast<std::size_t>(t / 2)];
    if (spec && (t > 3 || !(*spec == standard_huffman_spec(t % 2 * 2 + t / 2)))) return false;
  }
  return true;
}

/// The inks of CMYK have one table, as libjpeg writes them.
std::optional<int> quality_of(const ScanHeader& scan, ColorModel color) {
  const auto tables = std::span(scan.quant).first(scan.components.size());
  if (color == ColorModel::cmyk || color == ColorModel::inverted_cmyk)
    return std::ranges::count(tables, tables[0]) == std::ssize(tables)
               ? estimate_quality(tables[0], nullptr)
               : std::nullopt;
  return estimate_quality(tables[0], tables.size() > 1 ? &tables[1] : nullptr);
}

}  // namespace

Result<StreamInfo> inspect(std::span<const std::byte> jpeg, const StreamLimits& limits) {
  return guarded([&]() -> Result<StreamInfo> {
    HeaderParser parser(jpeg, limits);
    parser.keep_segments();
    ZR_TRY(parser.start());
    ZR_TRY(parser.next_scan().status());
    const FrameHeader& frame = parser.frame();
    const ScanHeader& scan = parser.scan();
    StreamInfo info;
    info.width = frame.width;
    info.height = frame.height;
    info.extended = frame.extended;
    info.progressive = frame.progressive;
    info.color = parser.color_model();
    for (const auto& c : frame.components)
      info.components.push_back({c.id, c.h, c.v, c.quant_table, c.width, c.height});
    info.subsampling = name_subsampling(info.components);
    info.restart_interval_mcus = scan.layout.restart_interval;
    info.has_jfif = parser.has_jfif();
    info.standard_huffman_tables = !frame.progressive && uses_standard_tables(scan);
    if (scan.components[0] == 0) info.quality = quality_of(scan, info.color);
    info.pixel_aspect_x = parser.pixel_aspect_x();
    info.pixel_aspect_y = parser.pixel_aspect_y();
    info.exif_orientation = parser.exif_orientation();
    info.segments = parser.segments();
    info.header_bytes = scan.data_offset;
    return info;
  });
}

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
      ZR_LET(pipelines, make_pipelines<DecodePipeline>(backend, params));
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
          impl_->stored.clear(parser.frame());
          return impl_->pipelines.active().begin_coefficients(impl_->stored);
        },
        [&](const HeaderParser& parser) {
          ZR_TRY(impl_->pipelines.active().finish_coefficients());
          impl_->stored.copy(parser.frame().components.size(), out);
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
