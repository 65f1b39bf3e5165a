// Damaged streams and files on both backends (R1, R3, R4, R6, R7, R8).
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <memory>
#include <utility>

#include "tests/campaign/device_campaign.hpp"
#include "tests/campaign/streams.hpp"
#include "tests/cuda/decode/mutations.hpp"

namespace zerorun::test {
namespace {

using Decode = std::function<void(DecoderPair&, std::int64_t, Counts&)>;

/// Each thread has a pair of decoders for all its steps.
int with_decoders(NumberedWork& work, std::int64_t max_pixels, const Decode& decode) {
  const int result = work.run([&]() -> NumberedWork::Step {
    const auto pair = std::make_shared<DecoderPair>(ChromaUpsampling::fancy, max_pixels);
    if (!pair->ready()) return {};
    return [&decode, pair](std::int64_t step, Counts& counts) { decode(*pair, step, counts); };
  });
  std::printf("%s\n", work.text().c_str());
  return result;
}

void check(NumberedWork& work, const std::string& name, const Bytes& jpeg, const Compared& both,
           Counts& counts) {
  const std::string text = counted(both, counts);
  if (!text.empty()) work.tell(name + ": " + text, jpeg);
}

/// Streams of both encoders: of zerorun's up to 160x120, and the small ones of all kinds.
std::vector<MutationSource> all_sources() {
  std::vector<MutationSource> out = mutation_sources();
  for (NamedStream& stream : forty_streams()) out.emplace_back(std::move(stream.jpeg));
  return out;
}

int planes_of(const DeviceRun& run, const Damage& damage, int group) {
  NumberedWork work(run.plan(damage.steps, group));
  return with_decoders(work, kMaxCampaignPixels, [&](DecoderPair& pair, auto step, Counts& counts) {
    damage.each(step, [&](const std::string& name, const Bytes& jpeg) {
      check(work, name, jpeg, pair.planes(jpeg), counts);
    });
  });
}

}  // namespace

int mutated_streams(const DeviceRun& run, std::int64_t count, std::int64_t first) {
  const std::vector<MutationSource> sources = all_sources();
  NumberedWork work(run.plan(count, 64));
  return with_decoders(work, kMaxCampaignPixels, [&](DecoderPair& pair, auto step, Counts& counts) {
    const std::int64_t number = first + step;
    const Bytes jpeg = mutation(sources, number);
    const auto turn = number / static_cast<std::int64_t>(sources.size());
    check(work, "mutation " + std::to_string(number), jpeg, compared_in_turn(pair, jpeg, turn),
          counts);
  });
}

int changed_bytes(const DeviceRun& run) { return planes_of(run, changed_bytes(), 1); }

int cut_streams(const DeviceRun& run) { return planes_of(run, prefixes(), 64); }

int files_of(const DeviceRun& run, const Folders& folders) {
  const Damage files = files_in(folders);
  NumberedWork work(run.plan(files.steps));
  return with_decoders(work, StreamLimits{}.max_pixels,
                       [&](DecoderPair& pair, auto step, Counts& counts) {
                         files.each(step, [&](const std::string& name, const Bytes& jpeg) {
                           Compared both = pair.planes(jpeg);
                           both.difference += pair.coefficients(jpeg).difference;
                           both.difference += pair.frame(jpeg, PixelFormat::rgb24).difference;
                           both.difference += pair.frame(jpeg, PixelFormat::yuv420p).difference;
                           check(work, name, jpeg, both, counts);
                         });
                       });
}

}  // namespace zerorun::test
