// Keyword arguments of the package as parameters of the library.
// SPDX-License-Identifier: MIT
#include "apps/python/binding/options.hpp"

#include <string>
#include <tuple>

#include "apps/python/binding/failure.hpp"

namespace zerorun::python {
namespace {

template <typename Params>
bool set_common(Params& params, const std::string& key, nb::handle value) {
  if (key == "device") {
    const DeviceChoice device = parse_device(value);
    params.backend = device.backend;
    params.device = device.index;
  } else if (key == "threads") {
    params.threads = parse_int(value, "threads");
  } else if (key == "instruction_set") {
    params.instruction_set = parse_instruction_set(value);
  } else {
    return false;
  }
  return true;
}

bool set_coding(EncodeParams& params, const std::string& key, nb::handle value) {
  if (key == "quality")
    params.quality = parse_int(value, "quality");
  else if (key == "subsampling")
    params.subsampling = parse_subsampling(value);
  else if (key == "huffman")
    params.huffman = parse_huffman(value);
  else if (key == "restart")
    params.restart = parse_restart(value);
  else
    return false;
  return true;
}

bool set_tuning(EncodeParams& params, const std::string& key, nb::handle value) {
  if (key == "tune")
    params.tune = parse_name(value, "tune", kAllTunes, "exact, photo, text or psnr");
  else if (key == "effort")
    params.effort = parse_name(value, "effort", kAllEfforts, "fast or best");
  else if (key == "tables")
    params.tables =
        parse_name(value, "tables", kAllQuantTables, "auto, annex-k, flat, ffmpeg or tuned");
  else if (key == "target_size")
    params.size.target_bytes = parse_size(value, "target_size");
  else if (key == "max_size")
    params.size.max_bytes = parse_size(value, "max_size");
  else if (key == "target_psnr")
    params.size.target_psnr = parse_target(value, "target_psnr");
  else if (key == "target_ssim")
    params.size.target_ssim = parse_target(value, "target_ssim");
  else
    return false;
  return true;
}

bool set_content(EncodeParams& params, const std::string& key, nb::handle value) {
  if (key == "luma_table") {
    if (!value.is_none()) params.luma_table = parse_table(value, "luma_table");
  } else if (key == "chroma_table") {
    if (!value.is_none()) params.chroma_table = parse_table(value, "chroma_table");
  } else if (key == "jfif_header") {
    params.jfif_header = parse_bool(value, "jfif_header");
  } else if (key == "pixel_aspect") {
    std::tie(params.pixel_aspect_x, params.pixel_aspect_y) = parse_aspect(value);
  } else if (key == "segments") {
    params.segments = parse_segments(value);
  } else {
    return false;
  }
  return true;
}

bool set_decoding(DecodeParams& params, const std::string& key, nb::handle value) {
  if (key == "upsampling")
    params.upsampling = parse_upsampling(value);
  else if (key == "strict")
    params.strict = parse_bool(value, "strict");
  else if (key == "max_pixels")
    params.limits.max_pixels = parse_int64(value, "max_pixels");
  else if (key == "max_scans")
    params.limits.max_scans = parse_int(value, "max_scans");
  else if (key == "max_header_bytes")
    params.limits.max_header_bytes = parse_int64(value, "max_header_bytes");
  else
    return false;
  return true;
}

[[noreturn]] void fail_keyword(const std::string& key) {
  fail_type("'" + key + "' is not an option of this call; help() lists the options");
}

}  // namespace

EncodeParams encode_params(const nb::kwargs& options) {
  EncodeParams params;
  for (const auto& [name, value] : options) {
    const std::string key = utf8_of(name);
    if (!set_common(params, key, value) && !set_coding(params, key, value) &&
        !set_tuning(params, key, value) && !set_content(params, key, value))
      fail_keyword(key);
  }
  return params;
}

DecodeParams decode_params(const nb::kwargs& options) {
  DecodeParams params;
  for (const auto& [name, value] : options) {
    const std::string key = utf8_of(name);
    if (!set_common(params, key, value) && !set_decoding(params, key, value)) fail_keyword(key);
  }
  return params;
}

}  // namespace zerorun::python
