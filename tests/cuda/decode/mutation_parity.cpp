// Damaged streams: both backends decode, conceal or refuse alike. ZERORUN_MUTATIONS: how many.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/cuda/decode/decoder_pair.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/jpeg_segments.hpp"
#include "tests/support/random.hpp"

namespace zerorun::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kDefaultMutations = 4000;
constexpr int kMostThreads = 16;
constexpr std::int64_t kMaxPixels = 1 << 18;  // a changed size must not take long
constexpr auto kHangs = std::chrono::seconds(60);

std::int64_t wanted_mutations() {
  const char* text = std::getenv("ZERORUN_MUTATIONS");
  if (text == nullptr || *text == '\0') return kDefaultMutations;
  char* end = nullptr;
  const long long count = std::strtoll(text, &end, 10);
  if (*end == '\0' && count > 0) return count;
  ADD_FAILURE() << "ZERORUN_MUTATIONS is '" << text << "', not a number of mutations";
  return 0;
}

struct Source {
  Jpeg jpeg;
  std::size_t scan;  ///< offset of the first entropy-coded byte
};

std::vector<Source> make_sources() {
  struct Kind {
    Subsampling sampling;
    HuffmanTables huffman;
    int restart;  ///< MCUs; 0: none
    int width, height, quality;
    Content content;
  };
  using enum HuffmanTables;
  constexpr Kind kKinds[] = {
      {Subsampling::s420, standard, 0, 160, 120, 90, Content::photo},
      {Subsampling::s420, optimal, 3, 100, 75, 75, Content::photo},
      {Subsampling::s422, standard, 1, 64, 48, 85, Content::photo},
      {Subsampling::s422, optimal, 0, 97, 61, 95, Content::noise},
      {Subsampling::s444, standard, 5, 48, 40, 90, Content::photo},
      {Subsampling::s444, optimal, 0, 33, 70, 50, Content::gradient},
      {Subsampling::s440, standard, 0, 80, 64, 95, Content::photo},
      {Subsampling::s411, optimal, 2, 130, 50, 90, Content::photo},
      {Subsampling::gray, standard, 4, 120, 90, 100, Content::checker},
      {Subsampling::gray, optimal, 0, 16, 16, 100, Content::extreme},
  };
  std::vector<Source> out;
  for (const Kind& kind : kKinds) {
    EncodeParams params;
    params.subsampling = kind.sampling;
    params.huffman = kind.huffman;
    params.restart = kind.restart == 0 ? RestartPolicy::none() : RestartPolicy::mcus(kind.restart);
    params.quality = kind.quality;
    Jpeg jpeg = encode(kind.content, kind.width, kind.height, params);
    const std::size_t scan = parse_headers(jpeg).data_offset;
    out.push_back({std::move(jpeg), scan});
  }
  return out;
}

/// Offsets of the RSTm codes behind the headers.
std::vector<std::size_t> restart_codes(const Jpeg& jpeg, std::size_t scan) {
  std::vector<std::size_t> out;
  for (std::size_t i = scan; i + 1 < jpeg.size(); ++i)
    if (jpeg[i] == std::byte{0xFF} && (jpeg[i + 1] & std::byte{0xF8}) == std::byte{0xD0})
      out.push_back(i + 1);
  return out;
}

std::ptrdiff_t offset(std::size_t at) { return static_cast<std::ptrdiff_t>(at); }

/// Exchanges two markers, or moves one next to another.
void move_markers(Jpeg& jpeg, std::size_t scan, Random& random) {
  const auto codes = restart_codes(jpeg, scan);
  if (codes.size() < 2) return;
  const auto one = static_cast<std::size_t>(random.below(static_cast<int>(codes.size()) - 1));
  const std::size_t other =
      random.below(2) == 0 ? one + 1
                           : static_cast<std::size_t>(random.below(static_cast<int>(codes.size())));
  if (random.below(2) == 0) return std::swap(jpeg[codes[one]], jpeg[codes[other]]);
  // Before the other one, and away from its own place.
  const std::byte marker[] = {std::byte{0xFF}, jpeg[codes[one]]};
  const auto remove = [&](std::size_t code) {
    jpeg.erase(jpeg.begin() + offset(code) - 1, jpeg.begin() + offset(code) + 1);
  };
  const auto insert = [&](std::size_t code) {
    jpeg.insert(jpeg.begin() + offset(code) - 1, std::begin(marker), std::end(marker));
  };
  if (one < other) {
    insert(codes[other]);
    remove(codes[one]);
  } else {
    remove(codes[one]);
    insert(codes[other]);
  }
}

void damage(Jpeg& jpeg, std::size_t scan, Random& random) {
  if (jpeg.size() < 4) return;
  const int last = static_cast<int>(jpeg.size()) - 1;
  // Mostly after the headers: damage in headers is mostly refused at once.
  const int from = random.below(8) == 0 ? 2 : std::min(static_cast<int>(scan), last);
  const auto at = static_cast<std::size_t>(random.between(from, last));
  const auto few = random.between(1, 8);
  switch (random.below(9)) {
    case 0:
    case 1:
      jpeg[at] ^= static_cast<std::byte>(1 << random.below(8));
      break;
    case 2:
      jpeg[at] = static_cast<std::byte>(random.byte());
      break;
    case 3:
      jpeg[at] = std::byte{0xFF};
      break;
    case 4:
      jpeg.resize(at);
      break;
    case 5:
      for (int i = 0; i < few; ++i)
        jpeg.insert(jpeg.begin() + offset(at), static_cast<std::byte>(random.byte()));
      break;
    case 6:
      jpeg.erase(jpeg.begin() + offset(at),
                 jpeg.begin() + std::min(offset(at) + few, offset(jpeg.size())));
      break;
    case 7: {
      const std::byte marker[] = {std::byte{0xFF}, static_cast<std::byte>(0xD0 + random.below(10))};
      jpeg.insert(jpeg.begin() + offset(at), std::begin(marker), std::end(marker));
      break;
    }
    default:
      move_markers(jpeg, scan, random);
  }
}

/// The same mutation for the same number, whatever thread makes it.
Jpeg mutation(const std::vector<Source>& sources, std::int64_t number) {
  const Source& source = sources[static_cast<std::size_t>(number) % sources.size()];
  Random random(static_cast<std::uint64_t>(number) + 1);
  Jpeg jpeg = source.jpeg;
  for (int n = random.between(1, 3); n > 0; --n) damage(jpeg, source.scan, random);
  return jpeg;
}

struct Totals {
  std::int64_t decoded = 0, concealed = 0, refused = 0, careful = 0;

  void count(const Result<DecodeReport>& report) {
    (!report ? refused : report->is_concealed() ? concealed : decoded) += 1;
    if (report && report->slow_scans > 0) ++careful;
  }
  void add(const Totals& other) {
    decoded += other.decoded;
    concealed += other.concealed;
    refused += other.refused;
    careful += other.careful;
  }
};

/// Takes numbers from a common counter until there are none left or something differs.
class Campaign {
 public:
  Campaign(const std::vector<Source>& sources, std::int64_t mutations)
      : sources_(sources), mutations_(mutations) {}

  void run() {
    const int threads =
        std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMostThreads);
    places_ = std::vector<Place>(static_cast<std::size_t>(threads));
    std::thread watchdog([this] { watch(); });
    std::vector<std::thread> workers;
    for (Place& place : places_) workers.emplace_back([this, &place] { work(place); });
    for (std::thread& worker : workers) worker.join();
    over_ = true;
    watchdog.join();
  }

  const std::string& failure() const { return failure_; }
  const Totals& totals() const { return totals_; }

 private:
  /// What a worker is doing, for the watchdog.
  struct Place {
    std::atomic<std::int64_t> number{-1};
    std::atomic<Clock::rep> since{0};
  };

  void work(Place& place) {
    DecoderPair pair(ChromaUpsampling::fancy, kMaxPixels);
    if (!pair.ready()) return fail("a decoder could not be made");
    Totals own;
    for (std::int64_t n = next_++; n < mutations_ && !failed_; n = next_++) {
      place.since = Clock::now().time_since_epoch().count();
      place.number = n;
      const Jpeg jpeg = mutation(sources_, n);
      std::string text = compare(pair, jpeg, n, own);
      if (!text.empty()) fail("mutation " + std::to_string(n) + ": " + text + keep(jpeg, n));
    }
    place.number = -1;
    const std::lock_guard lock(mutex_);
    totals_.add(own);
  }

  static std::string compare(DecoderPair& pair, const Jpeg& jpeg, std::int64_t n, Totals& totals) {
    const Compared planes = pair.planes(jpeg);
    totals.count(planes.report);
    if (!planes.difference.empty()) return "planes: " + planes.difference;
    // The other outputs differ less from stream to stream.
    if (n / 10 % 4 == 1) {
      const auto frame = pair.frame(jpeg, PixelFormat::rgb24);
      if (!frame.difference.empty()) return "frame: " + frame.difference;
    }
    if (n / 10 % 8 == 2) {
      const auto coefficients = pair.coefficients(jpeg);
      if (!coefficients.difference.empty()) return "coefficients: " + coefficients.difference;
    }
    return {};
  }

  static std::string keep(const Jpeg& jpeg, std::int64_t n) {
    const std::string path = testing::TempDir() + "mutation-" + std::to_string(n) + ".jpg";
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(jpeg.data()),
               static_cast<std::streamsize>(jpeg.size()));
    return file.flush() ? " (kept as " + path + ")" : "";
  }

  void fail(std::string text) {
    const std::lock_guard lock(mutex_);
    if (!failed_) failure_ = std::move(text);
    failed_ = true;
  }

  /// A kernel that does not end cannot be stopped from here, but the process can be, with a
  /// message.
  void watch() const {
    while (!over_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      for (const Place& place : places_) {
        const std::int64_t number = place.number;
        const Clock::duration taken =
            Clock::now().time_since_epoch() - Clock::duration(place.since);
        if (number < 0 || taken < kHangs) continue;
        std::fprintf(stderr, "mutation %lld hangs\n", static_cast<long long>(number));
        std::abort();
      }
    }
  }

  const std::vector<Source>& sources_;
  const std::int64_t mutations_;
  std::vector<Place> places_;
  std::atomic<std::int64_t> next_{0};
  std::atomic<bool> failed_{false}, over_{false};
  std::mutex mutex_;
  std::string failure_;
  Totals totals_;
};

class MutationParity : public GpuTest {};

TEST_F(MutationParity, DamagedStreamsDecodeOrFailAlike) {
  const std::int64_t mutations = wanted_mutations();
  const auto sources = make_sources();
  const auto begin = Clock::now();
  Campaign campaign(sources, mutations);
  campaign.run();
  ASSERT_EQ(campaign.failure(), "");
  const Totals& totals = campaign.totals();
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  std::printf(
      "%lld mutations in %.1f s: %lld decoded, %lld concealed, %lld refused; %lld carefully\n",
      static_cast<long long>(mutations), seconds, static_cast<long long>(totals.decoded),
      static_cast<long long>(totals.concealed), static_cast<long long>(totals.refused),
      static_cast<long long>(totals.careful));
  EXPECT_EQ(totals.decoded + totals.concealed + totals.refused, mutations);
  if (mutations < 1000) return;
  EXPECT_GT(totals.decoded, mutations / 50);
  EXPECT_GT(totals.concealed, mutations / 50);
  EXPECT_GT(totals.refused, mutations / 100);
  EXPECT_GE(totals.careful, totals.concealed);
  EXPECT_LT(totals.careful, totals.decoded + totals.concealed);  // the fast decoder took some
}

}  // namespace
}  // namespace zerorun::test
