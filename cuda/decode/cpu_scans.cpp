// Scans that the GPU did not prove sound, decoded by the CPU pipeline.
// SPDX-License-Identifier: MIT
#include "cuda/decode/cpu_scans.hpp"

#include <algorithm>

#include "codec/base/try.hpp"
#include "codec/pipeline/cpu_choice.hpp"

namespace zerorun {

void CpuScans::begin_planes(const FrameHeader& frame, bool luma_only) {
  frame_ = frame;
  luma_only_ = luma_only;
  is_open_ = false;
  is_cpus_.fill(false);
}

void CpuScans::make_pipeline() {
  if (!pipeline_) pipeline_ = make_chosen_decode_pipeline(threads_, InstructionSet::best);
}

Status CpuScans::begin_coefficients(std::vector<ComponentCoefficients>& out) {
  make_pipeline();
  is_open_ = true;
  is_cpus_.fill(false);
  return pipeline_->begin_coefficients(out);
}

Status CpuScans::open_planes() {
  make_pipeline();
  host_ = {};
  const std::size_t wanted = luma_only_ ? 1 : frame_.components.size();
  for (std::size_t c = 0; c < wanted; ++c) {
    const auto& component = frame_.components[c];
    ZR_TRY(memory_[c].reserve(std::int64_t{component.width} * component.height));
    host_.data[c] = memory_[c].data();
    host_.stride_bytes[c] = component.width;
  }
  ZR_TRY(pipeline_->begin_planes(frame_, &host_, luma_only_));
  is_open_ = true;
  return Status::ok();
}

Status CpuScans::decode_scan(const ScanHeader& scan, std::span<const std::uint8_t> data,
                             ScanOutcome& outcome) {
  if (!is_open_) ZR_TRY(open_planes());
  outcome = {};
  ZR_TRY(pipeline_->decode_scan(scan, data, outcome));
  outcome.on_cpu = true;
  for (const int component : scan.components) is_cpus_[static_cast<std::size_t>(component)] = true;
  return Status::ok();
}

Status CpuScans::decode_progressive(const FrameHeader& frame, std::span<const FrameScan> scans,
                                    std::span<ScanOutcome> outcomes) {
  if (!is_open_) ZR_TRY(open_planes());
  ZR_TRY(pipeline_->decode_progressive(frame, scans, outcomes));
  for (ScanOutcome& outcome : outcomes) outcome.on_cpu = true;
  const std::size_t wanted = luma_only_ ? 1 : frame.components.size();
  std::fill_n(is_cpus_.begin(), wanted, true);
  return Status::ok();
}

void CpuScans::device_decoded(const ScanHeader& scan) {
  for (const int component : scan.components) is_cpus_[static_cast<std::size_t>(component)] = false;
}

bool CpuScans::has_planes() const { return std::ranges::find(is_cpus_, true) != is_cpus_.end(); }

Status CpuScans::finish_planes(ColorModel model, ChromaUpsampling upsampling) {
  return pipeline_->finish_frame(model, upsampling, host_);
}

PlaneView CpuScans::plane(std::size_t component) const {
  const auto& of_frame = frame_.components[component];
  std::uint8_t* const data = is_cpus_[component] ? host_.data[component] : nullptr;
  return {data, host_.stride_bytes[component], of_frame.width, of_frame.height};
}

}  // namespace zerorun
