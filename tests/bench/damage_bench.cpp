// Times the decoder on damaged frames, beside the same frames undamaged: on the CPU, and on a GPU
// where there is one.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/support/random.hpp"
#include "tests/support/resources.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::test {
namespace {

using Bytes = std::vector<std::byte>;

constexpr int kWidth = 3840, kHeight = 2160, kPlaces = 8;

template <typename T>
T value_or_exit(Result<T> result, const char* what) {
  if (result) return *std::move(result);
  std::fprintf(stderr, "%s: %s\n", what, result.status().message().c_str());
  std::exit(1);
}

/// What happens to a frame at a place behind its headers. A frame gets kPlaces of one kind.
struct Damage {
  const char* name;
  void (*apply)(Bytes& jpeg, std::size_t at, Random& random);
};

/// The first restart marker behind `at`, or `at` where there is none.
std::size_t marker_behind(const Bytes& jpeg, std::size_t at) {
  for (std::size_t i = at; i + 1 < jpeg.size(); ++i)
    if (jpeg[i] == std::byte{0xFF} && (jpeg[i + 1] & std::byte{0xF8}) == std::byte{0xD0}) return i;
  return at;
}

const Damage kDamage[] = {
    {"one bit", [](Bytes& jpeg, std::size_t at,
                   Random& random) { jpeg[at] ^= static_cast<std::byte>(1 << random.below(8)); }},
    {"64 bytes",
     [](Bytes& jpeg, std::size_t at, Random& random) {
       for (std::size_t i = at; i < at + 64; ++i)
         jpeg[i] = static_cast<std::byte>(random.below(255));
     }},
    {"1460 lost",
     [](Bytes& jpeg, std::size_t at, Random&) {
       const auto place = jpeg.begin() + static_cast<std::ptrdiff_t>(at);
       jpeg.erase(place, place + std::min<std::ptrdiff_t>(1460, jpeg.end() - 2 - place));
     }},
    {"marker lost",
     [](Bytes& jpeg, std::size_t at, Random&) {
       const auto place = static_cast<std::ptrdiff_t>(marker_behind(jpeg, at));
       jpeg.erase(jpeg.begin() + place, jpeg.begin() + place + 2);
     }},
};

Bytes damaged(const Bytes& jpeg, const Damage& damage, std::uint64_t seed) {
  Random random(seed);
  Bytes out = jpeg;
  const std::size_t header = value_or_exit(inspect(jpeg), "inspect").header_bytes;
  // From the end on, so that places do not move.
  const std::size_t part = (jpeg.size() - header) / kPlaces;
  for (int place = kPlaces - 1; place >= 0; --place) {
    const std::size_t first = header + static_cast<std::size_t>(place) * part;
    const auto room = static_cast<int>(part) - 2000;
    damage.apply(out, first + static_cast<std::size_t>(random.below(std::max(room, 1))), random);
  }
  return out;
}

/// Milliseconds of one call: of the wall clock, and of all threads on processors.
struct Times {
  std::vector<double> wall, processor;
};
double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

DecodeReport decode(Decoder& decoder, const Bytes& jpeg, const FrameView& out, Times& times) {
  const double processor = process_seconds();
  const auto start = std::chrono::steady_clock::now();
  const DecodeReport report = value_or_exit(decoder.decode(jpeg, out), "decode");
  const std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - start;
  times.wall.push_back(wall.count());
  times.processor.push_back((process_seconds() - processor) * 1e3);
  return report;
}

/// Sound and damaged frames in turn, so that both meet the same load.
void measure(const Bytes& sound, const Damage& damage, const char* restart,
             const DecodeParams& params, int rounds, int seeds) {
  Decoder decoder = value_or_exit(Decoder::create(params), "decoder");
  TestFrame frame(PixelFormat::yuv420p, kWidth, kHeight);
  Times good, bad;
  double worst = 0;
  std::int64_t concealed = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    const Bytes broken = damaged(sound, damage, static_cast<std::uint64_t>(seed));
    Times good_here, bad_here;
    for (int round = 0; round < rounds; ++round) {
      (void)decode(decoder, sound, frame.view(), good_here);
      const DecodeReport report = decode(decoder, broken, frame.view(), bad_here);
      if (round == 0) concealed += report.concealed_intervals;
    }
    worst = std::max(worst, median(bad_here.processor) / median(good_here.processor));
    for (const auto& [from, to] : {std::pair{&good_here, &good}, std::pair{&bad_here, &bad}}) {
      to->wall.insert(to->wall.end(), from->wall.begin(), from->wall.end());
      to->processor.insert(to->processor.end(), from->processor.begin(), from->processor.end());
    }
  }
  std::printf("%-8s %-4s %2d  %-12s %7.2f %7.2f %6.2f   %7.2f %7.2f %6.2f %6.2f  %6.1f\n", restart,
              params.backend == Backend::cuda ? "cuda" : "cpu", params.threads, damage.name,
              median(good.wall), median(bad.wall), median(bad.wall) / median(good.wall),
              median(good.processor), median(bad.processor),
              median(bad.processor) / median(good.processor), worst,
              static_cast<double>(concealed) / seeds);
  std::fflush(stdout);
}

Bytes read(const char* file) {
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

/// 3840x2160 of the picture in a JPEG file, or a picture of our own.
TestFrame make_picture(const char* file) {
  if (file == nullptr) return make_frame(Content::photo, PixelFormat::yuv420p, kWidth, kHeight, 1);
  Frame whole;
  DecodeParams params;
  params.backend = Backend::cpu;
  Decoder decoder = value_or_exit(Decoder::create(params), "decoder");
  (void)value_or_exit(decoder.decode(read(file), PixelFormat::yuv420p, whole), file);
  const FrameView from = whole.view();
  if (from.width < kWidth || from.height < kHeight) {
    std::fprintf(stderr, "%s has fewer than %dx%d pixels\n", file, kWidth, kHeight);
    std::exit(1);
  }
  TestFrame out(PixelFormat::yuv420p, kWidth, kHeight);
  for (int plane = 0; plane < 3; ++plane) {
    const auto p = static_cast<std::size_t>(plane);
    for (int y = 0; y < out.rows(plane); ++y)
      std::memcpy(out.row(plane, y), from.data[p] + y * from.stride_bytes[p], out.row_bytes(plane));
  }
  return out;
}

Bytes encode(const TestFrame& picture, RestartPolicy restart) {
  EncodeParams params;
  params.backend = Backend::cpu;
  params.quality = 90;
  params.subsampling = Subsampling::s420;
  params.restart = restart;
  Encoder encoder = value_or_exit(Encoder::create(params), "encoder");
  Bytes out;
  (void)value_or_exit(encoder.encode(picture.view(), out), "encode");
  return out;
}

}  // namespace
}  // namespace zerorun::test

int main(int argc, char** argv) {
  using namespace zerorun;
  using namespace zerorun::test;
  const char* const file = argc > 1 ? argv[1] : nullptr;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
  const int seeds = argc > 3 ? std::atoi(argv[3]) : 8;
  if (argc > 4 || rounds < 1 || seeds < 1) {
    std::fprintf(stderr, "usage: damage_bench [JPEG [ROUNDS [SEEDS]]]\n");
    return 2;
  }
  const TestFrame picture = make_picture(file);
  std::printf("a frame of %dx%d, q90, 4:2:0, with %d damaged places; ms, medians\n", kWidth,
              kHeight, kPlaces);
  std::printf(
      "                                        wall clock              processors      worst\n");
  std::printf(
      "restart  decoder, threads            sound damaged  ratio     sound damaged  ratio   seed "
      "concealed\n");
  const struct {
    const char* name;
    RestartPolicy policy;
  } restarts[] = {{"none", RestartPolicy::none()},
                  {"1 row", RestartPolicy::mcu_rows(1)},
                  {"8 MCUs", RestartPolicy::mcus(8)}};
  std::vector<DecodeParams> decoders(2);
  for (int threads = 1; threads <= 2; ++threads) {
    decoders[static_cast<std::size_t>(threads) - 1].backend = Backend::cpu;
    decoders[static_cast<std::size_t>(threads) - 1].threads = threads;
  }
  if (!usable_cuda_devices().empty()) {
    decoders.emplace_back().backend = Backend::cuda;
    decoders.back().threads = usable_processors();
  }
  for (const auto& restart : restarts) {
    const Bytes sound = encode(picture, restart.policy);
    for (const DecodeParams& params : decoders)
      for (const Damage& damage : kDamage) {
        const bool has_markers = restart.policy.kind != RestartPolicy::Kind::none;
        if (!has_markers && std::string(damage.name) == "marker lost") continue;
        measure(sound, damage, restart.name, params, rounds, seeds);
      }
  }
  return 0;
}
