// Codes many small pictures to 20 sizes each, with both kinds of Huffman tables, and counts what is
// above its size, and what is within 0.5 % below it.
// usage: zerorun_exact_size [--cuda] [--part I/N] STATE MINUTES TILES INPUT...
// --cuda codes on the GPU, compares the bytes with those of the CPU, and also counts what differs.
// --part takes every Nth piece, for N runs side by side, each with a STATE of its own.
// INPUT is a picture or a video, of which up to TILES pieces of 256x192 are taken, spread over it;
// "made" are pictures that need no file. STATE keeps what is done: the next call goes on. The last
// line says what was reached. Exit code 0: all is done and nothing is above; 1: something is;
// 2: usage, or an input cannot be read; 3: the next call goes on.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "codec/base/try.hpp"
#include "tests/support/pictures.hpp"
#include "zerorun/encoder.hpp"
#include "zerorun/io.hpp"

namespace zerorun::rd {
namespace {

constexpr int kWidth = 256, kHeight = 192, kMostFrames = 64;

/// Which pieces are coded, and where.
struct Options {
  bool cuda = false;
  std::size_t part = 0, parts = 1;
};

/// Two passes and tuned decisions take turns with the plain ones.
EncodeParams params_of(std::size_t number, HuffmanTables huffman, Backend backend) {
  EncodeParams params;
  params.backend = backend;
  params.threads = 1;
  params.huffman = huffman;
  params.tune = number % 2 == 0 ? Tune::exact : Tune::photo;
  params.effort = number % 4 < 2 ? Effort::fast : Effort::best;
  return params;
}

struct SizeTally {
  long streams = 0, above = 0, within = 0, codings = 0, most_codings = 0;
  /// Of the streams' bytes, in their order; it differs between runs of the program.
  std::size_t hash = 0;

  void add(const SizeTally& other) {
    streams += other.streams;
    above += other.above;
    within += other.within;
    codings += other.codings;
    most_codings = std::max(most_codings, other.most_codings);
    hash = 31 * hash + other.hash;
  }
};

std::size_t hash_of(const std::vector<std::byte>& bytes) {
  return std::hash<std::string_view>()({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

Result<std::size_t> plain_size(Encoder& encoder, const ConstFrameView& frame, int quality) {
  std::vector<std::byte> out;
  ZR_TRY(encoder.set_quality(quality));
  ZR_TRY(encoder.encode(frame, out).status());
  return out.size();
}

Result<SizeTally> try_size(Encoder& encoder, const ConstFrameView& frame, std::size_t target) {
  SizeTally tally{.streams = 1};
  std::vector<std::byte> out;
  ZR_TRY(encoder.set_size({target, 0}));
  const auto report = encoder.encode(frame, out);
  if (!report && report.status().code() != Errc::size_not_reached) return report.status();
  if (!report) return tally;
  tally.codings = tally.most_codings = report->codings;
  tally.hash = hash_of(out);
  tally.above = out.size() > target ? 1 : 0;
  tally.within = out.size() <= target && out.size() >= target - target / 200 ? 1 : 0;
  return tally;
}

/// Codes a frame to 20 sizes in equal ratios, from that of quality 20 to that of 97, and counts the
/// streams above their size and those that have at most 0.5 % less. A picture that cannot be so
/// small counts as neither.
Result<SizeTally> try_sizes(const EncodeParams& params, const ConstFrameView& frame) {
  constexpr int kSizes = 20;
  ZR_LET(encoder, Encoder::create(params));
  ZR_LET(least, plain_size(encoder, frame, 20));
  ZR_LET(most, plain_size(encoder, frame, 97));
  const auto low = static_cast<double>(least), high = static_cast<double>(most);
  SizeTally sum;
  for (int n = 0; n < kSizes; ++n) {
    const double size = low * std::pow(high / low, (n + 0.5) / kSizes);
    ZR_LET(tally, try_size(encoder, frame, static_cast<std::size_t>(size)));
    sum.add(tally);
  }
  return sum;
}

SizeTally try_targets(const ConstFrameView& frame, const EncodeParams& params) {
  const auto tally = try_sizes(params, frame);
  if (tally) return *tally;
  std::fprintf(stderr, "zerorun_exact_size: %s\n", tally.status().message().c_str());
  std::exit(2);
}

/// What is done, a line for each piece.
class State {
 public:
  explicit State(const std::string& path) {
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) {
      std::istringstream words(line);
      std::string name;
      SizeTally tally;
      if (words >> tally.streams >> tally.above >> tally.within >> tally.codings >>
          tally.most_codings >> name)
        count(name, tally);
    }
    out_.open(path, std::ios::app);
  }

  bool has(const std::string& name) const { return done_.contains(name); }
  void add(const std::string& name, const SizeTally& tally) {
    count(name, tally);
    out_ << tally.streams << ' ' << tally.above << ' ' << tally.within << ' ' << tally.codings
         << ' ' << tally.most_codings << ' ' << name << std::endl;
    if (tally.above > 0 || tally.within < tally.streams)
      std::printf("%s: %ld above, %ld of %ld within 0.5 %%\n", name.c_str(), tally.above,
                  tally.within, tally.streams);
  }

  const SizeTally& all() const { return all_; }
  std::size_t pieces() const { return done_.size(); }

 private:
  void count(const std::string& name, const SizeTally& tally) {
    if (done_.insert(name).second) all_.add(tally);
  }

  std::set<std::string> done_;
  std::ofstream out_;
  SizeTally all_;
};

class Campaign {
 public:
  Campaign(const std::string& state, double minutes, const Options& options)
      : state_(state),
        options_(options),
        end_(std::chrono::steady_clock::now() +
             std::chrono::duration_cast<std::chrono::milliseconds>(
                 std::chrono::duration<double>(60 * minutes))) {}

  bool is_over() const { return is_cut_; }
  long differing() const { return differing_; }
  const State& state() const { return state_; }

  void try_piece(const std::string& name, const ConstFrameView& piece) {
    if (number_++ % options_.parts != options_.part || state_.has(name)) return;
    is_cut_ = is_cut_ || std::chrono::steady_clock::now() >= end_;
    if (is_cut_) return;
    SizeTally tally;
    for (const auto huffman : {HuffmanTables::standard, HuffmanTables::optimal}) {
      const SizeTally cpu = try_targets(piece, params_of(number_, huffman, Backend::cpu));
      if (options_.cuda) compare(name, piece, huffman, cpu);
      tally.add(cpu);
    }
    state_.add(name, tally);
  }

 private:
  void compare(const std::string& name, const ConstFrameView& piece, HuffmanTables huffman,
               const SizeTally& cpu) {
    const SizeTally cuda = try_targets(piece, params_of(number_, huffman, Backend::cuda));
    if (cuda.hash == cpu.hash && cuda.codings == cpu.codings && cuda.streams == cpu.streams) return;
    ++differing_;
    std::printf("%s: CUDA writes other bytes than the CPU\n", name.c_str());
  }

  State state_;
  Options options_;
  long differing_ = 0;
  std::chrono::steady_clock::time_point end_;
  std::size_t number_ = 0;
  bool is_cut_ = false;
};

void try_made(Campaign& campaign, int count) {
  using test::Content;
  for (int n = 0; n < count; ++n)
    for (const Content content :
         {Content::noise, Content::checker, Content::extreme, Content::photo, Content::gradient}) {
      const auto rgb =
          test::make_picture(content, kWidth, kHeight, 3, static_cast<std::uint64_t>(n));
      const ConstFrameView view{
          PixelFormat::rgb24, kWidth, kHeight, {rgb.data(), nullptr, nullptr}, {3 * kWidth, 0, 0}};
      campaign.try_piece("made-" + std::string(test::name(content)) + "-" + std::to_string(n),
                         view);
    }
}

/// Up to `count` pieces, spread over the frame.
void try_pieces(Campaign& campaign, const std::string& name, const ConstFrameView& frame,
                int count) {
  const int across = frame.width / kWidth, all = across * (frame.height / kHeight);
  count = std::min(count, all);
  for (int n = 0; n < count && !campaign.is_over(); ++n) {
    const int at = static_cast<int>(static_cast<std::int64_t>(n) * all / count);
    const int x = at % across * kWidth, y = at / across * kHeight;
    const ConstFrameView piece{
        PixelFormat::rgb24,
        kWidth,
        kHeight,
        {frame.data[0] + y * frame.stride_bytes[0] + 3 * x, nullptr, nullptr},
        frame.stride_bytes};
    campaign.try_piece(name + "-" + std::to_string(at), piece);
  }
}

/// Every frame of a video gives one piece at least, up to kMostFrames of them.
Status try_input(Campaign& campaign, const std::string& path, int count) {
  io::SourceOptions options;
  options.pixel_format = PixelFormat::rgb24;
  auto source = io::open_frames({path, "", {}}, options);
  if (!source) return source.status();
  const std::int64_t frames =
      std::clamp<std::int64_t>((*source)->info().frame_count, 1, kMostFrames);
  Frame frame;
  io::FrameTime time;
  for (int n = 0; n < frames && !campaign.is_over(); ++n) {
    auto more = (*source)->read(frame, time);
    if (!more) return more.status();
    if (!*more) break;
    const int share = std::max(1, static_cast<int>(count / frames));
    try_pieces(campaign, path.substr(path.rfind('/') + 1) + "-" + std::to_string(n),
               std::as_const(frame).view(), share);
  }
  return Status::ok();
}

/// Takes the options off the arguments.
bool parse(int& argc, char**& argv, Options& options) {
  for (; argc > 1 && argv[1][0] == '-'; --argc, ++argv) {
    const std::string_view option = argv[1];
    if (option == "--cuda") {
      options.cuda = true;
    } else if (option == "--part" && argc > 2) {
      --argc, ++argv;
      if (std::sscanf(argv[1], "%zu/%zu", &options.part, &options.parts) != 2 ||
          options.part >= options.parts)
        return false;
    } else {
      return false;
    }
  }
  return argc >= 5;
}

int run(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fprintf(stderr,
                 "usage: zerorun_exact_size [--cuda] [--part I/N] STATE MINUTES TILES INPUT...\n");
    return 2;
  }
  Campaign campaign(argv[1], std::atof(argv[2]), options);
  const int count = std::atoi(argv[3]);
  for (int i = 4; i < argc && !campaign.is_over(); ++i) {
    const std::string input = argv[i];
    if (input == "made") {
      try_made(campaign, count / 5);
    } else if (const Status status = try_input(campaign, input, count); !status) {
      std::fprintf(stderr, "zerorun_exact_size: %s: %s\n", argv[i], status.message().c_str());
      return 2;
    }
  }
  const SizeTally& all = campaign.state().all();
  const auto streams = static_cast<double>(std::max(1L, all.streams));
  std::printf(
      "%zu frames, %ld streams: %ld above, %.2f %% within 0.5 %% below, %.2f codings each, "
      "%ld at most\n",
      campaign.state().pieces(), all.streams, all.above,
      100.0 * static_cast<double>(all.within) / streams, static_cast<double>(all.codings) / streams,
      all.most_codings);
  if (options.cuda) std::printf("%ld pieces differ on CUDA\n", campaign.differing());
  return all.above + campaign.differing() > 0 ? 1 : campaign.is_over() ? 3 : 0;
}

}  // namespace
}  // namespace zerorun::rd

int main(int argc, char** argv) { return zerorun::rd::run(argc, argv); }
