// The public encoder: checks, header, output.
// SPDX-License-Identifier: MIT
#include "zerorun/encoder.hpp"

#include <cstring>
#include <string>
#include <utility>

#include "codec/arith/symbol.hpp"
#include "codec/base/try.hpp"
#include "codec/encode/bit_pack.hpp"
#include "codec/encode/byte_stuff.hpp"
#include "codec/pipeline/encode_setup.hpp"
#include "codec/pipeline/backend_choice.hpp"
#include "codec/pipeline/pipelines.hpp"
#include "codec/pipeline/sample_tiles.hpp"
#include "codec/pipeline/size_control.hpp"
#include "codec/syntax/header_writer.hpp"
#include "codec/syntax/marker.hpp"

namespace zerorun {

struct Encoder::Impl {
  EncodeParams params;
  Backend backend;
  PipelineAndSpare<EncodePipeline> pipelines;
  std::optional<EncodeSetup> setup = {};  // of the last frame's shape
  std::vector<std::uint8_t> header = {};
  int codings = 1;  // of the last frame
  // Where a size is to be reached: a sample of the frame, and what codes it.
  Frame sample = {};
  std::optional<PipelineAndSpare<EncodePipeline>> sample_pipelines = {};

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
      ZR_TRY(params.size.any() ? code_to_size(frame) : code_once(frame));
      return deliver(total_bytes());
    });
  }

  Status code_once(const ConstFrameView& frame) {
    codings = 1;
    std::array<HuffmanSpec, 4> specs;
    ZR_TRY(pipelines.active().encode_scan(*setup, frame, specs));
    return make_header(specs);
  }

  Status code_to_size(const ConstFrameView& frame) {
    SizedCoders coders;
    bool is_first = true;
    coders.whole = [&](const SizeSetting& setting) -> Result<CodedSize> {
      change_setting(params, setting, *setup);
      std::array<HuffmanSpec, 4> specs;
      EncodePipeline& pipeline = pipelines.active();
      ZR_TRY(is_first ? pipeline.encode_scan(*setup, frame, specs)
                      : pipeline.encode_again(*setup, frame, specs));
      is_first = false;
      ZR_TRY(make_header(specs));
      return CodedSize{pipeline.scan_bytes(), total_bytes()};
    };
    ZR_LET(sampled, sample_tiles(frame, sample));
    std::optional<EncodeSetup> sample_setup;
    if (sampled) ZR_TRY(add_sample(sample_setup, coders));
    // Without thrift `exact` knows no decisions: from 1 on sizes do not jump.
    const SizeSetting most{params.quality * kQualityUnit, params.tune == Tune::exact ? 1 : 0};
    ZR_LET(outcome, reach_size(params.size, most, coders));
    codings = outcome.codings;
    return Status::ok();
  }

  Status add_sample(std::optional<EncodeSetup>& sample_setup, SizedCoders& coders) {
    EncodeParams of_sample = params;
    of_sample.threads = 1;
    of_sample.index = false;
    if (!sample_pipelines) {
      ZR_LET(made, make_encode_pipelines(backend, of_sample));
      sample_pipelines = std::move(made);
    }
    ZR_LET(fresh, make_encode_setup(of_sample, sample.format(), sample.width(), sample.height()));
    sample_setup = fresh;
    coders.whole_blocks = static_cast<std::uint64_t>(setup->layout.blocks());
    coders.sample_blocks = static_cast<std::uint64_t>(fresh.layout.blocks());
    coders.sample = [this, &sample_setup](const SizeSetting& setting) {
      change_setting(params, setting, *sample_setup);
      return sample_pipelines->run([&]() -> Result<std::uint64_t> {
        std::array<HuffmanSpec, 4> specs;
        EncodePipeline& pipeline = sample_pipelines->active();
        ZR_TRY(pipeline.encode_scan(*sample_setup, std::as_const(sample).view(), specs));
        return pipeline.scan_bytes();
      });
    };
    return Status::ok();
  }

  template <typename Deliver>
  Result<EncodeReport> code(const DeviceSurface& surface, const Deliver& deliver) {
    ZR_TRY(validate(surface));
    if (params.size.any())
      return Status(Errc::invalid_argument,
                    "pictures in device memory are not coded to a size; bring the frame to host "
                    "memory");
    codings = 1;
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
    return EncodeReport{total_bytes(),
                        setup->layout.restart_interval,
                        pipelines.active().device_microseconds(),
                        static_cast<double>(setup->setting.quality_16ths) / kQualityUnit,
                        setup->setting.thrift,
                        codings};
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

Status Encoder::set_size(const SizeGoal& size) {
  return guarded([&]() -> Status {
    EncodeParams& params = impl_->params;
    const SizeGoal before = std::exchange(params.size, size);
    if (Status status = validate_size(params); !status) {
      params.size = before;
      return status;
    }
    if (size != before) impl_->setup.reset();
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
