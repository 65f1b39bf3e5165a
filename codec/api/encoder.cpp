// The public encoder: checks, header, output.
// SPDX-License-Identifier: MIT
#include "zerorun/encoder.hpp"

#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "codec/api/pipelines.hpp"
#include "codec/api/quality_encoder.hpp"
#include "codec/arith/symbol.hpp"
#include "codec/base/choices.hpp"
#include "codec/base/marker.hpp"
#include "codec/base/try.hpp"
#include "codec/encode/bit_pack.hpp"
#include "codec/encode/byte_stuff.hpp"
#include "codec/encode/progressive_scan.hpp"
#include "codec/pipeline/encode_pipeline.hpp"
#include "codec/pipeline/size_control.hpp"
#include "codec/syntax/header_writer.hpp"

namespace zerorun {

struct Encoder::Impl {
  EncodeParams params;
  Backend backend;
  PipelineAndSpare<EncodePipeline> pipelines;
  std::optional<EncodeSetup> setup = {};  // of the last frame's shape
  std::vector<std::uint8_t> header = {};
  int codings = 1;        // of the last frame
  bool is_whole = false;  // the pipeline has the last frame's stream, and not the scan alone
  QualityEncoder to_quality = {};
  // Where a size or quality is to be reached: a sample of the frame, and what codes it.
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
      is_whole = false;
      ZR_TRY(is_to_quality()     ? code_to_quality(frame)
             : params.size.any() ? code_to_size(frame)
                                 : code_once(frame));
      return deliver(total_bytes());
    });
  }

  template <typename Picture>
  Status code_once(const Picture& picture) {
    codings = 1;
    std::array<HuffmanSpec, 4> specs;
    if constexpr (std::is_same_v<Picture, DeviceSurface>)
      ZR_TRY(pipelines.active().encode_surface(*setup, picture, specs));
    else
      ZR_TRY(pipelines.active().encode_scan(*setup, picture, specs));
    make_header(specs);
    return Status::ok();
  }

  Status code_to_size(const ConstFrameView& frame) {
    EncodePipeline& pipeline = pipelines.active();
    return pipeline.reaches_sizes(*setup) ? take(pipeline.encode_to_size(params, *setup, frame))
                                          : search_size(frame);
  }

  /// Takes over a stream that the pipeline has brought to a size by itself.
  Status take(const Result<SizedCoding>& coded) {
    ZR_TRY(coded.status());
    if (coded->is_reached == 0)
      return size_not_reached(make_size_task(params, *setup, setup->layout), coded->bytes);
    change_setting(params, coded->setting, *setup);
    codings = coded->codings;
    is_whole = true;
    return Status::ok();
  }

  Status search_size(const ConstFrameView& frame) {
    ZR_LET(has_sample, sample_tiles(frame, sample));
    std::optional<EncodeSetup> sample_setup;
    if (has_sample) ZR_TRY(prepare_sample(params_of_sample(), sample_setup));
    const EncodePipeline *loaded = nullptr, *sample_loaded = nullptr;  // have the picture
    const auto count_at = [&](const SizeSetting& setting) -> Result<CountedSize> {
      change_setting(params, setting, has_sample ? *sample_setup : *setup);
      if (has_sample)
        return sample_pipelines->run([&] {
          return count(sample_pipelines->active(), *sample_setup, std::as_const(sample).view(),
                       sample_loaded);
        });
      return count(pipelines.active(), *setup, frame, loaded);
    };
    const auto code_at = [&](const SizeSetting& setting) -> Result<std::uint64_t> {
      change_setting(params, setting, *setup);
      std::array<HuffmanSpec, 4> specs;
      ZR_TRY(code_frame(pipelines.active(), *setup, frame, loaded, specs));
      make_header(specs);
      return total_bytes();
    };
    const SizeTask task =
        make_size_task(params, *setup, has_sample ? sample_setup->layout : setup->layout);
    ZR_LET(tries, reach_size(task, count_at, code_at));
    codings = tries;
    return Status::ok();
  }

  /// `loaded`: the pipeline that has the frame already; becomes this one.
  static Status code_frame(EncodePipeline& pipeline, const EncodeSetup& setup,
                           const ConstFrameView& frame, const EncodePipeline*& loaded,
                           std::array<HuffmanSpec, 4>& specs) {
    const bool is_again = std::exchange(loaded, &pipeline) == &pipeline;
    return is_again ? pipeline.encode_again(setup, frame, specs)
                    : pipeline.encode_scan(setup, frame, specs);
  }

  /// As code_frame().
  static Result<CountedSize> count(EncodePipeline& pipeline, const EncodeSetup& setup,
                                   const ConstFrameView& frame, const EncodePipeline*& loaded) {
    const bool is_again = std::exchange(loaded, &pipeline) == &pipeline;
    SymbolCounts counts;
    ZR_TRY(pipeline.count_symbols(setup, frame, is_again, counts));
    return size_of_counts(counts, setup);
  }

  EncodeParams params_of_sample() const {
    EncodeParams of_sample = params;
    of_sample.threads = 1;
    of_sample.segments.clear();
    return of_sample;
  }

  /// Makes what codes the sample.
  Status prepare_sample(const EncodeParams& of_sample, std::optional<EncodeSetup>& sample_setup) {
    if (!sample_pipelines) {
      ZR_LET(made, make_pipelines<EncodePipeline>(backend, of_sample));
      sample_pipelines = std::move(made);
    }
    ZR_LET(fresh, make_encode_setup(of_sample, sample.format(), sample.width(), sample.height()));
    sample_setup = fresh;
    return Status::ok();
  }

  Status code_to_quality(const ConstFrameView& frame) {
    const EncodePipeline* loaded = nullptr;
    const QualityEncoder::Picture picture{
        frame, [&](int quality, std::vector<std::byte>& jpeg) {
          return code_stream(params, *setup, frame, pipelines.active(), loaded, quality, jpeg);
        }};
    const EncodeParams of_sample = params_of_sample();
    std::optional<EncodeSetup> sample_setup;
    std::optional<QualityEncoder::Picture> sampled;
    ZR_LET(has_sample, sample_tiles(frame, sample));
    if (has_sample) {
      ZR_TRY(prepare_sample(of_sample, sample_setup));
      const ConstFrameView tiles = std::as_const(sample).view();
      sampled = {tiles, [&, tiles](int quality, std::vector<std::byte>& jpeg) {
                   return sample_pipelines->run([&] {
                     const EncodePipeline* none = nullptr;
                     return code_stream(of_sample, *sample_setup, tiles, sample_pipelines->active(),
                                        none, quality, jpeg);
                   });
                 }};
    }
    ZR_LET(outcome, to_quality.encode(params.size, params.threads, picture, sampled));
    change_setting(params, {outcome.quality_16ths, 0}, *setup);
    codings = outcome.codings;
    return Status::ok();
  }

  /// A whole stream of a quality in 16ths. `loaded`: as for code_frame().
  static Status code_stream(const EncodeParams& params, EncodeSetup& setup,
                            const ConstFrameView& frame, EncodePipeline& pipeline,
                            const EncodePipeline*& loaded, int quality,
                            std::vector<std::byte>& jpeg) {
    change_setting(params, {quality, 0}, setup);
    std::array<HuffmanSpec, 4> specs;
    ZR_TRY(code_frame(pipeline, setup, frame, loaded, specs));
    std::vector<std::uint8_t> head;
    write_header(make_stream_header(params, setup, specs), head);
    jpeg.resize(head.size() + pipeline.scan_bytes() + 2);
    return join(head, pipeline, jpeg.data());
  }

  /// Header, scan and EOI.
  static Status join(const std::vector<std::uint8_t>& header, EncodePipeline& pipeline,
                     std::byte* out) {
    std::memcpy(out, header.data(), header.size());
    out += header.size();
    ZR_TRY(pipeline.copy_scan(out));
    out += pipeline.scan_bytes();
    out[0] = std::byte{0xFF};
    out[1] = std::byte{marker::kEoi};
    return Status::ok();
  }

  template <typename Deliver>
  Result<EncodeReport> code(const DeviceSurface& surface, const Deliver& deliver) {
    ZR_TRY(validate(surface));
    if (is_to_quality())
      return Status(
          Errc::invalid_argument,
          "pictures in device memory are coded to sizes, but to no PSNR and SSIM, because "
          "these are found on the host; bring the frame to host memory");
    ZR_TRY(prepare(PixelFormat::yuv420p, surface.width, surface.height));
    return pipelines.run_first([&]() -> Result<EncodeReport> {
      is_whole = false;
      ZR_TRY(params.size.any() ? take(pipelines.active().encode_to_size(params, *setup, surface))
                               : code_once(surface));
      return deliver(total_bytes());
    });
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

  void make_header(const std::array<HuffmanSpec, 4>& specs) {
    (void)write_header(make_stream_header(params, *setup, specs), header);
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

  /// Whether the stream lies in `to_quality` and not in the pipeline.
  bool is_to_quality() const { return params.size.is_of_quality(); }

  std::size_t total_bytes() const {
    if (is_to_quality()) return to_quality.jpeg().size();
    const std::size_t bytes = pipelines.active().scan_bytes();
    return is_whole ? bytes : header.size() + bytes + 2;
  }

  Result<EncodeReport> deliver(std::byte* out) {
    if (is_to_quality())
      std::memcpy(out, to_quality.jpeg().data(), to_quality.jpeg().size());
    else
      ZR_TRY(is_whole ? pipelines.active().copy_scan(out) : join(header, pipelines.active(), out));
    return EncodeReport{total_bytes(),
                        setup->layout.restart_interval,
                        pipelines.active().device_microseconds(),
                        static_cast<double>(setup->setting.quality_16ths) / kQualityUnit,
                        setup->setting.thrift,
                        codings,
                        is_to_quality() ? to_quality.value() : 0.0};
  }
};

/// With as many scans as a component can have: DC, two of AC, and refinements.
static std::int64_t max_progressive_bytes(const EncodeSetup& setup) {
  const ScanLayout& layout = setup.layout;
  const std::int64_t blocks = layout.blocks(), scans = layout.components * (3 + kMaxLowBits);
  // An interval has at least one MCU, or a row.
  const std::int64_t intervals =
      setup.restart_rows > 0        ? ceil_div(blocks, std::int64_t{layout.mcus_wide})
      : layout.restart_interval > 0 ? ceil_div(blocks, std::int64_t{layout.restart_interval})
                                    : 1;
  constexpr std::int64_t kMostHeaders = 2 * (kDhtLeadBytes + 256) + 6 + 8 + 2 * kMaxComponents;
  const std::int64_t packed = (blocks * kMaxProgressiveBlockBits + 7) / 8 + scans * intervals;
  return max_stuffed_bytes(packed, scans * (intervals + 1)) + scans * kMostHeaders;
}

std::string_view name(Tune tune) noexcept { return word_of(tune); }
std::string_view name(Effort effort) noexcept { return word_of(effort); }
std::string_view name(QuantTables tables) noexcept { return word_of(tables); }

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
    const std::int64_t scan = params.progressive ? max_progressive_bytes(setup) : [&] {
      const std::int64_t intervals = setup.layout.intervals();
      return max_stuffed_bytes(max_packed_bytes(setup.layout.blocks(), intervals), intervals);
    }();
    return header.size() + static_cast<std::size_t>(scan) + 2;
  });
}

Result<Encoder> Encoder::create(const EncodeParams& params) {
  return guarded([&]() -> Result<Encoder> {
    ZR_TRY(validate_params(params));
    ZR_LET(resolved, resolve_backend(params.backend, params.device));
    return make_with_backend(params.backend, resolved, [&](Backend backend) -> Result<Encoder> {
      ZR_LET(pipelines, make_pipelines<EncodePipeline>(backend, params));
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
