// Between the structs of zerorun.h and those of C++.
// SPDX-License-Identifier: MIT
#include "codec/capi/convert.hpp"

#include <algorithm>
#include <iterator>

#include "codec/base/choices.hpp"
#include "codec/base/try.hpp"

namespace zerorun::capi {
namespace {

// Only zerorun_decode_params has grown since the first version: `least` is the sizeof of the
// others.

/// An enumerator of C as one of C++; both count from 0 without gaps.
template <typename Enum>
Status choose(std::int64_t value, const char* name, Enum& out,
              std::size_t count = std::size(kChoices<Enum>)) {
  if (value < 0 || static_cast<std::uint64_t>(value) >= count)
    return Status(Errc::invalid_argument,
                  std::string(name) + " " + std::to_string(value) + " is not known");
  out = static_cast<Enum>(value);
  return Status::ok();
}

Result<RestartPolicy> to_restart(std::int32_t kind, std::int32_t count) {
  using Kind = RestartPolicy::Kind;
  constexpr Kind kKinds[] = {Kind::automatic, Kind::none, Kind::mcus, Kind::mcu_rows};
  static_assert(ZERORUN_RESTART_AUTOMATIC == 0 && ZERORUN_RESTART_NONE == 1 &&
                ZERORUN_RESTART_MCUS == 2 && ZERORUN_RESTART_MCU_ROWS == 3);
  if (kind >= 0 && kind < std::ssize(kKinds))
    return RestartPolicy{kKinds[kind], kind >= ZERORUN_RESTART_MCUS ? count : 0};
  return Status(Errc::invalid_argument, "restart " + std::to_string(kind) + " is not known");
}

std::optional<QuantTable> to_table(const std::uint16_t* table) {
  if (table == nullptr) return std::nullopt;
  QuantTable out;
  std::copy_n(table, out.size(), out.begin());
  return out;
}

Status to_segments(const zerorun_encode_params& params, std::vector<MarkerSegment>& out) {
  if (params.segment_count > 0 && params.segments == nullptr) return null_argument("segments");
  for (std::size_t i = 0; i < params.segment_count; ++i) {
    const zerorun_segment& segment = params.segments[i];
    if (segment.marker < 0 || segment.marker > 0xFF)
      return Status(Errc::invalid_argument,
                    "the marker of segment " + std::to_string(i) + " is not a byte");
    if (segment.payload_size > 0 && segment.payload == nullptr)
      return null_argument("the payload of a segment");
    if (segment.payload_size > 65533)
      return Status(Errc::invalid_argument,
                    "segment " + std::to_string(i) + " is longer than 65533 bytes");
    const auto* const bytes = static_cast<const std::uint8_t*>(segment.payload);
    out.push_back(
        {static_cast<std::uint8_t>(segment.marker), {bytes, bytes + segment.payload_size}});
  }
  return Status::ok();
}

/// What decoders and transcoders have in common.
template <typename Given, typename Params>
Status read_common(const Given& params, Params& out) {
  out.strict = params.strict != 0;
  ZR_TRY(choose(params.backend, "backend", out.backend));
  out.device = params.device;
  out.threads = params.threads;
  ZR_TRY(choose(params.instruction_set, "instruction set", out.instruction_set));
  if (params.max_scans != 0) out.limits.max_scans = params.max_scans;
  if (params.max_pixels != 0) out.limits.max_pixels = params.max_pixels;
  if (params.max_header_bytes != 0) out.limits.max_header_bytes = params.max_header_bytes;
  return Status::ok();
}

}  // namespace

zerorun_error make_error(const Status& status) noexcept {
  zerorun_error out{};
  out.struct_size = sizeof out;
  out.code = static_cast<zerorun_status>(status.code());
  out.byte_offset = status.byte_offset();
  out.restart_interval = status.restart_interval();
  if (status.is_ok()) return out;
  try {
    const std::string message = status.message();
    message.copy(out.message, sizeof out.message - 1);
  } catch (...) {
    name(status.code()).copy(out.message, sizeof out.message - 1);
  }
  return out;
}

Result<EncodeParams> to_params(const zerorun_encode_params* given) {
  ZR_LET(params,
         read_struct(given, offsetof(zerorun_encode_params, tune), "zerorun_encode_params"));
  EncodeParams out;
  if (params.quality != 0) out.quality = params.quality;
  Subsampling sampling{};
  if (params.subsampling != ZERORUN_SUBSAMPLING_AS_FRAME) {
    ZR_TRY(choose(std::int64_t{params.subsampling} - 1, "subsampling", sampling));
    out.subsampling = sampling;
  }
  ZR_TRY(choose(params.huffman, "huffman", out.huffman));
  ZR_LET(restart, to_restart(params.restart, params.restart_count));
  out.restart = restart;
  ZR_TRY(choose(params.backend, "backend", out.backend));
  out.device = params.device;
  out.threads = params.threads;
  out.jfif_header = params.no_jfif_header == 0;
  ZR_TRY(choose(params.tune, "tune", out.tune));
  ZR_TRY(choose(params.effort, "effort", out.effort));
  ZR_TRY(choose(params.tables, "tables", out.tables));
  ZR_TRY(choose(params.instruction_set, "instruction set", out.instruction_set));
  if (params.pixel_aspect_x != 0 || params.pixel_aspect_y != 0) {
    out.pixel_aspect_x = params.pixel_aspect_x;
    out.pixel_aspect_y = params.pixel_aspect_y;
  }
  out.luma_table = to_table(params.luma_table);
  out.chroma_table = to_table(params.chroma_table);
  out.size = {params.target_bytes, params.max_bytes, params.target_psnr, params.target_ssim};
  out.note_setting = params.note_setting != 0;
  out.progressive = params.progressive != 0;
  ZR_TRY(to_segments(params, out.segments));
  return out;
}

Result<DecodeParams> to_params(const zerorun_decode_params* given) {
  ZR_LET(params, read_struct(given, offsetof(zerorun_decode_params, instruction_set),
                             "zerorun_decode_params"));
  DecodeParams out;
  if (params.nearest_upsampling != 0) out.upsampling = ChromaUpsampling::nearest;
  ZR_TRY(read_common(params, out));
  if (params.scale != 0) out.scale = params.scale;
  out.region = to_region(&params.region);
  return out;
}

Result<TranscodeParams> to_params(const zerorun_transcode_params* given) {
  ZR_LET(params, read_struct(given, offsetof(zerorun_transcode_params, backend),
                             "zerorun_transcode_params"));
  TranscodeParams out;
  LosslessTransform& transform = out.transform;
  ZR_TRY(choose(params.scans, "scans", out.scans));
  ZR_TRY(choose(params.rotate, "rotation", transform.rotate));
  ZR_TRY(choose(params.flip, "flip", transform.flip));
  ZR_TRY(choose(params.edges, "edges", transform.edges));
  ZR_TRY(read_common(params, out));
  out.optimize = params.optimize != 0;
  if (params.restart_interval != 0) out.restart_interval = std::max(0, params.restart_interval);
  transform.crop = to_region(&params.crop);
  transform.gray = params.gray != 0;
  out.verify = params.verify != 0;
  return out;
}

Region to_region(const zerorun_region* region) noexcept {
  return region == nullptr ? Region() : Region{region->x, region->y, region->width, region->height};
}

Result<PixelFormat> to_format(std::int32_t format) {
  PixelFormat out{};
  if (Status status = choose(format, "pixel format", out, kPixelFormatCount + 1); !status)
    return Status(Errc::invalid_frame, status.detail());
  return out;
}

Result<FrameView> to_view(const zerorun_frame* given) {
  if (given == nullptr) return null_argument("the frame");
  ZR_LET(frame, read_struct(given, sizeof *given, "zerorun_frame"));
  ZR_LET(format, to_format(frame.format));
  FrameView view{format, frame.width, frame.height, {}, {}};
  std::copy_n(frame.data, 3, view.data.begin());
  std::copy_n(frame.stride_bytes, 3, view.stride_bytes.begin());
  return view;
}

zerorun_frame from_view(const FrameView& view) noexcept {
  zerorun_frame out{};
  out.struct_size = sizeof out;
  out.format = static_cast<std::int32_t>(view.format);
  out.width = view.width;
  out.height = view.height;
  std::copy_n(view.data.begin(), 3, out.data);
  std::copy_n(view.stride_bytes.begin(), 3, out.stride_bytes);
  return out;
}

zerorun_decode_report from_report(const DecodeReport& report) noexcept {
  zerorun_decode_report out{};
  out.struct_size = sizeof out;
  out.bytes_consumed = report.bytes_consumed;
  out.intervals = report.intervals;
  out.concealed_intervals = report.concealed_intervals;
  out.first_problem = static_cast<zerorun_status>(report.first_problem.code());
  out.cpu_scans = report.cpu_scans;
  return out;
}

}  // namespace zerorun::capi
