// The public encoder: checks, header, output.
// SPDX-License-Identifier: MIT
#include "zerorun/encoder.hpp"

#include <cstring>
#include <string>

#include "codec/arith/symbol.hpp"
#include "codec/base/try.hpp"
#include "codec/encode/bit_pack.hpp"
#include "codec/encode/byte_stuff.hpp"
#include "codec/pipeline/encode_setup.hpp"
#include "codec/pipeline/backend_choice.hpp"
#include "codec/pipeline/pipelines.hpp"
#include "codec/syntax/header_writer.hpp"
#include "codec/syntax/marker.hpp"

namespace zerorun {

struct Encoder::Impl {
  EncodeParams params;
  Backend backend;
  PipelineAndSpare<EncodePipeline> pipelines;
  std::optional<EncodeSetup> setup = {};  // of the last frame's shape
  std::vector<std::uint8_t> header = {};

  Status prepare(PixelFormat format, int width, int height) {
    if (setup && setup->format == format && setup->width == width && setup->height == height)
      return Status::ok();
    ZR_LET(fresh, make_encode_setup(params, format, width, height));
    setup = fresh;
    return Status::ok();
  }

  /// Codes the frame and delivers it by `deliver(total_bytes())`. A device may fail in both.
  template <typename Deliver>
  Result<EncodeReport> code(const ConstFrameView& frame, const Deliver& deliver) {
    ZR_TRY(validate(frame));
    ZR_TRY(prepare(frame.format, frame.width, frame.height));
    return pipelines.run([&]() -> Result<EncodeReport> {
      std::array<HuffmanSpec, 4> specs;
      ZR_TRY(pipelines.active().encode_scan(*setup, frame, specs));
      ZR_TRY(make_header(specs));
      return deliver(total_bytes());
    });
  }

  template <typename Deliver>
  Result<EncodeReport> code(const DeviceSurface& surface, const Deliver& deliver) {
    ZR_TRY(validate(surface));
    ZR_TRY(prepare(PixelFormat::yuv420p, surface.width, surface.height));
    std::array<HuffmanSpec, 4> specs;
    ZR_TRY(pipelines.first().encode_surface(*setup, surface, specs));
    ZR_TRY(make_header(specs));
    return deliver(total_bytes());
  }

  static Status validate(const ConstFrameView& frame) { return zerorun::validate(frame); }
  static Status validate(const DeviceSurface& surface) {
    // As a frame: NV12 has the rows of 8-bit samples, P010 twice as many bytes.
    const int sample_bytes = surface.conversion.depth_bits > 8 ? 2 : 1;
    const int depth_bits = surface.conversion.depth_bits;
    if (depth_bits < 8 || depth_bits > 16)
      return Status(Errc::invalid_frame,
                    std::to_string(depth_bits) + " bits a sample are not in 8..16");
    return zerorun::validate(ConstFrameView{
        PixelFormat::nv12,
        surface.width,
        surface.height,
        {surface.luma, surface.chroma, nullptr},
        {surface.luma_stride_bytes / sample_bytes, surface.chroma_stride_bytes / sample_bytes, 0}});
  }

  Status make_header(const std::array<HuffmanSpec, 4>& specs) {
    const HeaderPlaces places = write_header(make_stream_header(params, *setup, specs), header);
    if (places.index) fill_index(*places.index, pipelines.active().index(), header);
    return Status::ok();
  }

  template <typename Picture>
  Result<EncodeReport> encode(const Picture& picture, std::vector<std::byte>& out) {
    return code(picture, [&](std::size_t bytes) {
      out.resize(bytes);
      return deliver(out.data());
    });
  }

  template <typename Picture>
  Result<EncodeReport> encode(const Picture& picture, HostBuffer& out) {
    return code(picture, [&](std::size_t bytes) -> Result<EncodeReport> {
      // Streams differ in size, and pinned memory is slow to allocate: grow by more than is needed.
      if (bytes > out.capacity()) ZR_TRY(out.reserve(bytes + bytes / 4));
      ZR_TRY(out.resize(bytes));
      return deliver(out.data());
    });
  }

  std::size_t total_bytes() const { return header.size() + pipelines.active().scan_bytes() + 2; }

  Result<EncodeReport> deliver(std::byte* out) {
    std::memcpy(out, header.data(), header.size());
    out += header.size();
    ZR_TRY(pipelines.active().copy_scan(out));
    out += pipelines.active().scan_bytes();
    out[0] = std::byte{0xFF};
    out[1] = std::byte{marker::kEoi};
    return EncodeReport{total_bytes(), setup->layout.restart_interval,
                        pipelines.active().device_microseconds()};
  }
};

Result<std::size_t> max_encoded_bytes(const EncodeParams& params, PixelFormat format, int width,
                                      int height) {
  return guarded([&]() -> Result<std::size_t> {
    ZR_TRY(validate_params(params));
    ZR_LET(setup, make_encode_setup(params, format, width, height));
    std::array<HuffmanSpec, 4> longest;
    // No table has more symbols than the standard ones: 12 DC or 162 AC.
    for (int t = 0; t < kEncodeTables; ++t)
      longest[static_cast<std::size_t>(t)] = standard_huffman_spec(t);
    std::vector<std::uint8_t> header;
    write_header(make_stream_header(params, setup, longest), header);
    const std::int64_t intervals = setup.layout.intervals();
    const std::int64_t scan =
        max_stuffed_bytes(max_packed_bytes(setup.layout.blocks(), intervals), intervals);
    return header.size() + static_cast<std::size_t>(scan) + 2;
  });
}

Result<Encoder> Encoder::create(const EncodeParams& params) {
  return guarded([&]() -> Result<Encoder> {
    ZR_TRY(validate_params(params));
    ZR_LET(resolved, resolve_backend(params.backend, params.device));
    return make_with_backend(params.backend, resolved, [&](Backend backend) -> Result<Encoder> {
      ZR_LET(pipelines, make_encode_pipelines(backend, params));
      return Encoder(std::make_unique<Impl>(Impl{params, backend, std::move(pipelines)}));
    });
  });
}

Result<EncodeReport> Encoder::encode(const ConstFrameView& frame, std::span<std::byte> out) {
  return guarded([&]() -> Result<EncodeReport> {
    return impl_->code(frame, [&](std::size_t bytes) -> Result<EncodeReport> {
      if (bytes > out.size())
        return Status(
            Errc::output_too_small,
            std::to_string(bytes) + " bytes are needed, there are " + std::to_string(out.size()));
      return impl_->deliver(out.data());
    });
  });
}

Result<EncodeReport> Encoder::encode(const ConstFrameView& frame, std::vector<std::byte>& out) {
  return guarded([&] { return impl_->encode(frame, out); });
}

Result<EncodeReport> Encoder::encode(const ConstFrameView& frame, HostBuffer& out) {
  return guarded([&] { return impl_->encode(frame, out); });
}

Result<EncodeReport> Encoder::encode(const DeviceSurface& surface, std::vector<std::byte>& out) {
  return guarded([&] { return impl_->encode(surface, out); });
}

Result<EncodeReport> Encoder::encode(const DeviceSurface& surface, HostBuffer& out) {
  return guarded([&] { return impl_->encode(surface, out); });
}

Status Encoder::set_quality(int quality) {
  return guarded([&]() -> Status {
    ZR_TRY(validate_quality(quality));
    if (quality != impl_->params.quality) impl_->setup.reset();
    impl_->params.quality = quality;
    return Status::ok();
  });
}

Encoder::Encoder(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Encoder::Encoder(Encoder&&) noexcept = default;
Encoder& Encoder::operator=(Encoder&&) noexcept = default;
Encoder::~Encoder() = default;
Backend Encoder::backend() const noexcept { return impl_->backend; }
const EncodeParams& Encoder::params() const noexcept { return impl_->params; }

}  // namespace zerorun
