// The CPU pipelines on one thread, with a stage table that reads the clock around each call.
// SPDX-License-Identifier: MIT
#include "codec/base/step_times.hpp"

#include <array>
#include <chrono>
#include <utility>

#include "codec/pipeline/decode_walk.hpp"
#include "codec/pipeline/encode_pipeline.hpp"
#include "codec/pipeline/stage_table.hpp"

namespace zerorun {
namespace {

using Clock = std::chrono::steady_clock;

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

/// Where timed stages append their times. Stages are plain functions, so this cannot be a member. A
/// pool of one worker calls them on the thread that runs the frame.
thread_local std::vector<StepTime>* current_steps = nullptr;

/// Appends the time of its life.
struct Timer {
  const char* name;
  Clock::time_point start = Clock::now();
  ~Timer() { current_steps->push_back({name, microseconds_since(start)}); }
};

const StageTable& timed_stages() {
#define ZR_TIMED(stage, Args)                 \
  .stage = [](const Args& args, Exec& exec) { \
    const Timer timer{#stage};                \
    return stage##_cpu(args, exec);           \
  },
  static constexpr StageTable kTable{ZR_STAGES(ZR_TIMED)};
#undef ZR_TIMED
  return kTable;
}

/// Runs a frame and appends the times of its stages and of what lies between them.
template <typename Run>
Status measure(std::vector<StepTime>& steps, const Run& run) {
  const std::size_t first = steps.size();
  current_steps = &steps;
  const auto start = Clock::now();
  Status status = run();
  double rest = microseconds_since(start);
  for (std::size_t i = first; i < steps.size(); ++i) rest -= steps[i].microseconds;
  steps.push_back({"between stages", rest});
  return status;
}

class CpuStepEncoder final : public StepEncoder {
 public:
  explicit CpuStepEncoder(EncodeSetup setup) : setup_(std::move(setup)) {}

  Result<std::uint64_t> encode(const ConstFrameView& frame, std::span<std::byte> out,
                               std::vector<StepTime>& steps) override {
    const Status status = measure(steps, [&]() -> Status {
      std::array<HuffmanSpec, 4> specs;
      ZR_TRY(pipeline_->encode_scan(setup_, frame, specs));
      if (pipeline_->scan_bytes() > out.size()) return Status(Errc::output_too_small);
      return pipeline_->copy_scan(out.data());
    });
    if (!status) return status;
    return pipeline_->scan_bytes();
  }

 private:
  EncodeSetup setup_;
  std::unique_ptr<EncodePipeline> pipeline_ = make_cpu_encode_pipeline(1, timed_stages());
};

class CpuStepDecoder final : public StepDecoder {
 public:
  explicit CpuStepDecoder(const DecodeParams& params) : params_(params) {}

  Status decode(std::span<const std::byte> jpeg, const FrameView& out,
                std::vector<StepTime>& steps) override {
    return measure(steps, [&] {
      return walk_frame(
                 *pipeline_, params_, jpeg,
                 [&](int width, int height, FrameView& target) {
                   target = out;
                   return check_frame_size(out, width, height);
                 },
                 [&](ColorModel model, ChromaUpsampling upsampling, const FrameView& target) {
                   return pipeline_->finish_frame(model, upsampling, target);
                 },
                 window_)
          .status();
    });
  }

 private:
  DecodeParams params_;
  HostWindow window_;
  std::unique_ptr<DecodePipeline> pipeline_ = make_cpu_decode_pipeline(1, timed_stages());
};

}  // namespace

Result<std::unique_ptr<StepEncoder>> make_step_encoder(StepWay way, const EncodeParams& params,
                                                       const ConstFrameView& like) {
#ifdef ZERORUN_HAVE_CUDA
  if (way != StepWay::cpu) return make_cuda_step_encoder(params, like, way == StepWay::cuda_staged);
#endif
  if (way != StepWay::cpu) return Status(Errc::cuda_not_built);
  auto setup = make_encode_setup(params, like.format, like.width, like.height);
  if (!setup) return setup.status();
  return std::unique_ptr<StepEncoder>(std::make_unique<CpuStepEncoder>(*std::move(setup)));
}

Result<std::unique_ptr<StepDecoder>> make_step_decoder(StepWay way, const DecodeParams& params) {
#ifdef ZERORUN_HAVE_CUDA
  if (way != StepWay::cpu) return make_cuda_step_decoder(params, way == StepWay::cuda_staged);
#endif
  if (way != StepWay::cpu) return Status(Errc::cuda_not_built);
  return std::unique_ptr<StepDecoder>(std::make_unique<CpuStepDecoder>(params));
}

}  // namespace zerorun
