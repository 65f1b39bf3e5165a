// Refuses parameters of the encoder that no frame can be coded with.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <optional>
#include <string>

#include "codec/base/thread_pool.hpp"
#include "codec/base/try.hpp"
#include "codec/pipeline/cpu_choice.hpp"
#include "codec/pipeline/encode_setup.hpp"
#include "codec/syntax/marker.hpp"

namespace zerorun {
namespace {

Status check_table(const std::optional<QuantTable>& table, const char* name) {
  if (!table) return Status::ok();
  const bool fits =
      std::all_of(table->begin(), table->end(), [](std::uint16_t q) { return q >= 1 && q <= 255; });
  return fits ? Status::ok()
              : Status(
                    Errc::invalid_argument,
                    std::string(name) + " has an entry outside 1..255, which baseline cannot hold");
}

}  // namespace

Status validate_quality(int quality) {
  if (quality >= 1 && quality <= 100) return Status::ok();
  return Status(Errc::invalid_argument, "quality " + std::to_string(quality) + " is not in 1..100");
}

static Status validate_targets(const SizeGoal& goal) {
  const auto refused = [](const char* why) { return Status(Errc::invalid_argument, why); };
  // NaN is in no range.
  if (goal.target_psnr != 0 && !(goal.target_psnr > 0 && goal.target_psnr <= 200))
    return refused("a target PSNR is above 0 and at most 200 dB");
  if (goal.target_ssim != 0 && !(goal.target_ssim > 0 && goal.target_ssim <= 1))
    return refused("a target SSIM is above 0 and at most 1");
  if (goal.target_psnr != 0 && goal.target_ssim != 0)
    return refused("a picture is coded to a PSNR or to an SSIM, not to both");
  if (goal.is_of_quality() && (goal.target_bytes != 0 || goal.max_bytes != 0))
    return refused("a picture is coded to a size or to a quality, not to both");
  return Status::ok();
}

Status validate_size(const EncodeParams& params) {
  ZR_TRY(validate_targets(params.size));
  if (!params.size.any() || (!params.luma_table && !params.chroma_table)) return Status::ok();
  return Status(Errc::invalid_argument,
                "a size does not go with own quantisation tables, because it is reached by scaling "
                "named ones");
}

Status validate_params(const EncodeParams& params) {
  ZR_TRY(validate_quality(params.quality));
  ZR_TRY(validate_size(params));
  ZR_TRY(validate_tuning(params));
  if (params.huffman > HuffmanTables::trained)
    return Status(Errc::invalid_argument, "huffman has no such value");
  ZR_TRY(check_table(params.luma_table, "the luma table"));
  ZR_TRY(check_table(params.chroma_table, "the chroma table"));
  const bool counted = params.restart.kind == RestartPolicy::Kind::mcus ||
                       params.restart.kind == RestartPolicy::Kind::mcu_rows;
  if (counted && (params.restart.count < 1 || params.restart.count > 65535))
    return Status(
        Errc::invalid_argument,
        "a restart interval of " + std::to_string(params.restart.count) + " is not in 1..65535");
  if (params.pixel_aspect_x < 1 || params.pixel_aspect_y < 1 || params.pixel_aspect_x > 65535 ||
      params.pixel_aspect_y > 65535)
    return Status(Errc::invalid_argument, "the pixel aspect ratio has a number outside 1..65535");
  for (const MarkerSegment& segment : params.segments) {
    if (!marker::is_app(segment.marker) && segment.marker != marker::kCom)
      return Status(Errc::invalid_argument, "a marker segment is neither APPn nor COM");
    if (segment.payload.size() > 65533)
      return Status(Errc::invalid_argument, "a marker segment has " +
                                                std::to_string(segment.payload.size()) +
                                                " bytes, and 65533 is the most");
  }
  ZR_TRY(validate_threads(params.threads));
  return validate_instruction_set(params.instruction_set);
}

}  // namespace zerorun
