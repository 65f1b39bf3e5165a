// The CPU pipelines on one thread with a stage table that looks at the clock around each call.
// SPDX-License-Identifier: MIT
#include <array>
#include <utility>

#include "apps/bench/measure/stages.hpp"
#include "apps/common/timing.hpp"
#include "codec/pipeline/decode_walk.hpp"
#include "codec/pipeline/encode_setup.hpp"
#include "codec/pipeline/stage_table.hpp"

namespace zerorun::app::bench {
namespace {

/// Stages are plain functions, so what they add up lies outside of any object. One thread.
struct Passed {
  const char* stage;
  double microseconds = 0;
  bool ran = false;
};
std::array<Passed, 16> passed = {{{"color_subsample"},
                                  {"fdct_quant"},
                                  {"dc_diff"},
                                  {"zero_run"},
                                  {"symbol_histogram"},
                                  {"huffman_encode"},
                                  {"group_index"},
                                  {"bit_pack"},
                                  {"byte_stuff"},
                                  {"byte_unstuff"},
                                  {"huffman_sync"},
                                  {"huffman_decode"},
                                  {"zero_run_expand"},
                                  {"dc_predict"},
                                  {"dequant_idct"},
                                  {"color_upsample"}}};

template <auto Member, std::size_t Index, typename Args>
Status timed(const Args& args, Exec& exec) {
  const Stopwatch watch;
  Status status = (cpu_stages().*Member)(args, exec);
  passed[Index].microseconds += watch.microseconds();
  passed[Index].ran = true;
  return status;
}

const StageTable& timed_stages() {
  static constexpr StageTable kTable{
      .color_subsample = timed<&StageTable::color_subsample, 0>,
      .fdct_quant = timed<&StageTable::fdct_quant, 1>,
      .dc_diff = timed<&StageTable::dc_diff, 2>,
      .zero_run = timed<&StageTable::zero_run, 3>,
      .symbol_histogram = timed<&StageTable::symbol_histogram, 4>,
      .huffman_encode = timed<&StageTable::huffman_encode, 5>,
      .group_index = timed<&StageTable::group_index, 6>,
      .bit_pack = timed<&StageTable::bit_pack, 7>,
      .byte_stuff = timed<&StageTable::byte_stuff, 8>,
      .byte_unstuff = timed<&StageTable::byte_unstuff, 9>,
      .huffman_sync = timed<&StageTable::huffman_sync, 10>,
      .huffman_decode = timed<&StageTable::huffman_decode, 11>,
      .zero_run_expand = timed<&StageTable::zero_run_expand, 12>,
      .dc_predict = timed<&StageTable::dc_predict, 13>,
      .dequant_idct = timed<&StageTable::dequant_idct, 14>,
      .color_upsample = timed<&StageTable::color_upsample, 15>,
  };
  return kTable;
}

/// Hands over what the stages took; what is left of the frame lies between them.
void collect(double whole_microseconds, StageClock& clock) {
  double sum = 0;
  for (Passed& p : passed) {
    sum += p.microseconds;
    if (std::exchange(p.ran, false)) clock.add(p.stage, p.microseconds);
    p.microseconds = 0;
  }
  clock.add("between stages", whole_microseconds - sum);
}

Result<StagedContender::Run> open_encoder(const Setting& setting) {
  const ConstFrameView like = setting.frames.view(0);
  auto setup = make_encode_setup(encode_params(setting.what), like.format, like.width, like.height);
  if (!setup) return setup.status();
  std::shared_ptr<EncodePipeline> pipeline = make_cpu_encode_pipeline(1, timed_stages());
  auto out = std::make_shared<std::vector<std::byte>>(setting.reference.largest);
  return StagedContender::Run(
      [&setting, setup = *setup, pipeline, out](std::size_t index, StageClock& clock) {
        std::array<HuffmanSpec, 4> specs;
        const Stopwatch watch;
        Status status = pipeline->encode_scan(setup, setting.frames.view(index), specs);
        if (status) status = pipeline->copy_scan(out->data());
        collect(watch.microseconds(), clock);
        return status;
      });
}

Result<StagedContender::Run> open_decoder(const Setting& setting) {
  const ConstFrameView like = setting.frames.view(0);
  auto frame = Frame::create(like.format, like.width, like.height);
  if (!frame) return frame.status();
  std::shared_ptr<DecodePipeline> pipeline = make_cpu_decode_pipeline(1, timed_stages());
  auto out = std::make_shared<Frame>(*std::move(frame));
  return StagedContender::Run([&setting, pipeline, out](std::size_t index, StageClock& clock) {
    const Stopwatch watch;
    const auto report = walk_frame(
        *pipeline, decode_params(Backend::cpu), setting.reference.streams[index],
        [&](int, int, FrameView& target) {
          target = out->view();
          return Status::ok();
        },
        [&](ColorModel model, ChromaUpsampling upsampling, const FrameView& target) {
          return pipeline->finish_frame(model, upsampling, target);
        });
    collect(watch.microseconds(), clock);
    return report.status();
  });
}

}  // namespace

void add_cpu_stages(const Setting& setting, std::vector<StagedContender>& out) {
  if (!setting.selection.cpu) return;
  const bool encode = setting.what.operation == Operation::encode;
  out.push_back({"zerorun", "cpu", "host>host", [&setting, encode] {
                   return encode ? open_encoder(setting) : open_decoder(setting);
                 }});
}

}  // namespace zerorun::app::bench
