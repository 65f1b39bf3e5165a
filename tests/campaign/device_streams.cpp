// Damaged streams and files on both backends (R1, R3, R4, R6, R7, R8).
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>
#include <utility>

#include "tests/campaign/device_campaign.hpp"
#include "tests/campaign/streams.hpp"
#include "tests/cuda/decode/mutations.hpp"
#include "tests/support/test_data.hpp"

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

struct Place {
  const NamedStream* stream;
  std::size_t at;
};

std::vector<Place> places_in(const std::vector<NamedStream>& streams) {
  std::vector<Place> places;
  for (const NamedStream& stream : streams)
    for (std::size_t at = 0; at < stream.jpeg.size(); ++at) places.push_back({&stream, at});
  return places;
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

int changed_bytes(const DeviceRun& run) {
  const std::vector<NamedStream> streams = tiny_streams();
  const std::vector<Place> places = places_in(streams);
  NumberedWork work(run.plan(std::ssize(places)));
  return with_decoders(work, kMaxCampaignPixels, [&](DecoderPair& pair, auto step, Counts& counts) {
    const Place& place = places[static_cast<std::size_t>(step)];
    Bytes jpeg = place.stream->jpeg;
    for (int add = 1; add < 256; ++add) {
      jpeg[place.at] =
          static_cast<std::byte>(std::to_integer<int>(place.stream->jpeg[place.at]) + add);
      check(work,
            place.stream->name + ", byte " + std::to_string(place.at) + " plus " +
                std::to_string(add),
            jpeg, pair.planes(jpeg), counts);
    }
  });
}

int cut_streams(const DeviceRun& run) {
  const std::vector<NamedStream> streams = forty_streams();
  const std::vector<Place> places = places_in(streams);
  NumberedWork work(run.plan(std::ssize(places), 64));
  return with_decoders(work, kMaxCampaignPixels, [&](DecoderPair& pair, auto step, Counts& counts) {
    const auto& [stream, size] = places[static_cast<std::size_t>(step)];
    const Bytes jpeg(stream->jpeg.begin(),
                     stream->jpeg.begin() + static_cast<std::ptrdiff_t>(size));
    check(work, stream->name + ", first " + std::to_string(size) + " bytes", jpeg,
          pair.planes(jpeg), counts);
  });
}

int files_of(const DeviceRun& run, const Folders& folders) {
  std::vector<std::filesystem::path> files;
  for (const auto& folder : folders)
    std::ranges::copy(files_below(folder), std::back_inserter(files));
  NumberedWork work(run.plan(std::ssize(files)));
  return with_decoders(work, StreamLimits{}.max_pixels,
                       [&](DecoderPair& pair, auto step, Counts& counts) {
                         const auto& file = files[static_cast<std::size_t>(step)];
                         const Bytes jpeg = read_file(file);
                         Compared both = pair.planes(jpeg);
                         both.difference += pair.coefficients(jpeg).difference;
                         both.difference += pair.frame(jpeg, PixelFormat::rgb24).difference;
                         both.difference += pair.frame(jpeg, PixelFormat::yuv420p).difference;
                         check(work, file.string(), jpeg, both, counts);
                       });
}

}  // namespace zerorun::test
