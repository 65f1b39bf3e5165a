// The public decoder: headers, scans in order, output.
// SPDX-License-Identifier: MIT
#include "zerorun/decoder.hpp"

#include <new>
#include <string>
#include <utility>

#include "codec/core/pipelines.hpp"
#include "codec/syntax/header_parser.hpp"

namespace zerorun {
namespace {

/// The frame's planes are the stream's components, sample for sample.
bool planes_match(const FrameHeader& frame, ColorModel model, PixelFormat format) {
  if (!is_planar_yuv(format)) return false;
  if (model == ColorModel::gray) return format == PixelFormat::gray8;
  if (model == ColorModel::rgb || format == PixelFormat::gray8) return false;
  const auto& c = frame.components;
  if (c[1].h != 1 || c[1].v != 1 || c[2].h != 1 || c[2].v != 1) return false;
  switch (native_subsampling(format)) {
    case Subsampling::s444:
      return c[0].h == 1 && c[0].v == 1;
    case Subsampling::s422:
      return c[0].h == 2 && c[0].v == 1;
    case Subsampling::s420:
      return c[0].h == 2 && c[0].v == 2;
    case Subsampling::s440:
      return c[0].h == 1 && c[0].v == 2;
    case Subsampling::s411:
      return c[0].h == 4 && c[0].v == 1;
    case Subsampling::gray:
      break;
  }
  return false;
}

}  // namespace

struct Decoder::Impl {
  DecodeParams params;
  Backend backend = Backend::cpu;
  std::unique_ptr<DecodePipeline> pipeline;

  /// Reads headers and scans; `begin` is called once the frame header is known and before the
  /// first scan, `finish` behind the last one.
  template <typename Begin, typename Finish>
  Result<DecodeReport> run(std::span<const std::byte> jpeg, const Begin& begin,
                           const Finish& finish) {
    HeaderParser parser(jpeg, params.limits);
    if (Status status = parser.start(); !status) return status;
    DecodeReport report;
    bool begun = false;
    for (;;) {
      const auto more = parser.next_scan();
      if (!more) return more.status();
      if (!*more) break;
      if (!begun) {
        if (Status status = begin(parser); !status) return status;
        begun = true;
      }
      if (Status status = decode_scan(jpeg, parser, report); !status) return status;
    }
    report.bytes_consumed = parser.position();
    report.first_problem = parser.problem();
    if (params.strict && !report.first_problem) return report.first_problem;
    if (Status status = finish(parser); !status) return status;
    return report;
  }

  Status decode_scan(std::span<const std::byte> jpeg, HeaderParser& parser, DecodeReport& report) {
    const std::size_t start = parser.scan().data_offset;
    const std::span data(reinterpret_cast<const std::uint8_t*>(jpeg.data()) + start,
                         jpeg.size() - start);
    ScanOutcome outcome;
    if (Status status = pipeline->decode_scan(parser.scan(), data, outcome); !status) return status;
    parser.resume_at(start + outcome.consumed_bytes);
    report.intervals += outcome.intervals;
    report.concealed_intervals += outcome.concealed_intervals;
    if (!outcome.problem) {
      const auto offset = static_cast<std::int64_t>(start) + outcome.problem.byte_offset();
      parser.note_problem(Status(outcome.problem.code(), outcome.problem.detail())
                              .at_byte(offset)
                              .in_interval(outcome.problem.restart_interval()));
    }
    return Status::ok();
  }

  /// `target` gives the frame for an image of the parser's size, or an error.
  template <typename Target>
  Result<DecodeReport> decode_frame(std::span<const std::byte> jpeg, const Target& target) {
    FrameView out;
    return run(
        jpeg,
        [&](const HeaderParser& parser) -> Status {
          const FrameHeader& frame = parser.frame();
          if (Status status = target(frame.width, frame.height, out); !status) return status;
          const ColorModel model = parser.color_model();
          const bool direct = planes_match(frame, model, out.format);
          const bool luma_only = out.format == PixelFormat::gray8 && model != ColorModel::rgb;
          return pipeline->begin_planes(frame, direct ? &out : nullptr, luma_only);
        },
        [&](const HeaderParser& parser) {
          return pipeline->finish_frame(parser.color_model(), params.upsampling, out);
        });
  }
};

Result<Decoder> Decoder::create(const DecodeParams& params) try {
  if (params.threads < 0)
    return Status(Errc::invalid_argument, "the number of threads is negative");
  if (params.limits.max_pixels < 1 || params.limits.max_scans < 1 ||
      params.limits.max_header_bytes < 1)
    return Status(Errc::invalid_argument, "a limit is below 1");
  const auto backend = resolve_backend(params.backend, params.device);
  if (!backend) return backend.status();
  auto impl = std::make_unique<Impl>();
  impl->params = params;
  impl->backend = *backend;
  auto pipeline = make_decode_pipeline(*backend, params.device, params.threads);
  if (!pipeline) return pipeline.status();
  impl->pipeline = *std::move(pipeline);
  return Decoder(std::move(impl));
} catch (const std::bad_alloc&) {
  return Status(Errc::out_of_memory);
}

Result<DecodeReport> Decoder::decode(std::span<const std::byte> jpeg, const FrameView& out) try {
  if (Status status = validate(out); !status) return status;
  return impl_->decode_frame(jpeg, [&](int width, int height, FrameView& target) -> Status {
    if (out.width != width || out.height != height)
      return Status(Errc::invalid_frame, "the image is " + std::to_string(width) + "x" +
                                             std::to_string(height) + ", the frame is " +
                                             std::to_string(out.width) + "x" +
                                             std::to_string(out.height));
    target = out;
    return Status::ok();
  });
} catch (const std::bad_alloc&) {
  return Status(Errc::out_of_memory);
}

Result<DecodeReport> Decoder::decode(std::span<const std::byte> jpeg, PixelFormat format,
                                     Frame& out) try {
  return impl_->decode_frame(jpeg, [&](int width, int height, FrameView& target) -> Status {
    if (Status status = out.reshape(format, width, height); !status) return status;
    target = out.view();
    return Status::ok();
  });
} catch (const std::bad_alloc&) {
  return Status(Errc::out_of_memory);
}

Result<DecodeReport> Decoder::decode_planes(std::span<const std::byte> jpeg,
                                            std::vector<ComponentPlane>& out) try {
  return impl_->run(
      jpeg,
      [&](const HeaderParser& parser) {
        return impl_->pipeline->begin_planes(parser.frame(), nullptr, false);
      },
      [&](const HeaderParser&) { return impl_->pipeline->finish_planes(out); });
} catch (const std::bad_alloc&) {
  return Status(Errc::out_of_memory);
}

Result<DecodeReport> Decoder::decode_coefficients(std::span<const std::byte> jpeg,
                                                  std::vector<ComponentCoefficients>& out) try {
  return impl_->run(
      jpeg,
      [&](const HeaderParser& parser) {
        const FrameHeader& frame = parser.frame();
        int h_max = 1, v_max = 1;
        for (const auto& c : frame.components) {
          h_max = std::max(h_max, c.h);
          v_max = std::max(v_max, c.v);
        }
        out.resize(frame.components.size());
        for (std::size_t i = 0; i < out.size(); ++i) {
          const auto& c = frame.components[i];
          out[i].blocks_wide = ceil_div(component_extent(frame.width, c.h, h_max), 8);
          out[i].blocks_high = ceil_div(component_extent(frame.height, c.v, v_max), 8);
          out[i].values.assign(static_cast<std::size_t>(out[i].blocks_wide) *
                                   static_cast<std::size_t>(out[i].blocks_high) * kBlockSize,
                               0);
        }
        return impl_->pipeline->begin_coefficients(out);
      },
      [&](const HeaderParser&) { return impl_->pipeline->finish_coefficients(); });
} catch (const std::bad_alloc&) {
  return Status(Errc::out_of_memory);
}

Decoder::Decoder(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;
Decoder::~Decoder() = default;
Backend Decoder::backend() const noexcept { return impl_->backend; }
const DecodeParams& Decoder::params() const noexcept { return impl_->params; }

}  // namespace zerorun
