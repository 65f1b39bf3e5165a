// Many encode and decode calls of changing sizes, formats and options, with the memory in use and
// resident along the way. Encoders and decoders keep memory for the largest frame that they have
// seen; all of it has to be back when they are gone. glibc counts what its thread cache holds as in
// use, so: GLIBC_TUNABLES=glibc.malloc.tcache_count=0 flat_memory [CALLS].
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <malloc.h>
#include <unistd.h>

#include "zerorun/async_encoder.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/zerorun.h"

namespace {

using namespace zerorun;

constexpr int kMaxEdge = 200;
constexpr long kAllowedLeftKib = 16;  // less than a byte a call over 20,000 calls

long resident_kib() {
  long pages = 0, resident = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%ld %ld", &pages, &resident) != 2) std::exit(1);
  std::fclose(file);
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

long in_use_kib() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<long>((info.uordblks + info.hblkhd) / 1024);
}

void need(const Status& status, const char* what) {
  if (status) return;
  std::fprintf(stderr, "flat_memory: %s: %s\n", what, status.message().c_str());
  std::exit(1);
}

class Load {
 public:
  Load() {
    samples_.resize(std::size_t{kMaxEdge} * kMaxEdge * 4 * 3);
    for (auto& sample : samples_) sample = static_cast<std::uint8_t>(random_());
    need(decoder_.status(), "decoder");
  }

  /// One frame through an encoder of random options, by one of the doors, and back.
  void step(int number) {
    const auto format = static_cast<PixelFormat>(pick(0, kPixelFormatCount - 1));
    const ConstFrameView view = random_view(format);
    switch (number % 4) {
      case 0:
        encode_by(make_encoder(), view);
        break;
      case 1:
        encode_by(kept_, view);
        break;
      case 2:
        encode_in_flight(view);
        break;
      default:
        encode_by_c(view);
    }
    if (number % 7 == 0) jpeg_.resize(jpeg_.size() / 2);  // damaged: errors must not leak either
    const auto report = decoder_->decode(jpeg_, format, frame_);
    if (number % 7 != 0) need(report.status(), "decode");
  }

 private:
  int pick(int low, int high) {
    return low + static_cast<int>(random_() % static_cast<unsigned>(high - low + 1));
  }

  EncodeParams random_params() {
    EncodeParams params;
    params.backend = Backend::cpu;
    params.threads = pick(1, 2);
    params.quality = pick(1, 100);
    params.huffman = pick(0, 1) == 0 ? HuffmanTables::standard : HuffmanTables::optimal;
    params.restart = pick(0, 1) == 0 ? RestartPolicy::automatic() : RestartPolicy::mcus(pick(1, 9));
    if (pick(0, 2) == 0) params.segments = {{0xFE, std::vector<std::uint8_t>(100, 65)}};
    return params;
  }

  static Result<Decoder> make_decoder() {
    DecodeParams params;
    params.backend = Backend::cpu;
    params.threads = 2;
    return Decoder::create(params);
  }

  Result<Encoder> make_encoder() { return Encoder::create(random_params()); }

  ConstFrameView random_view(PixelFormat format) {
    ConstFrameView view{format, pick(1, kMaxEdge), pick(1, kMaxEdge), {}, {}};
    for (int p = 0; p < plane_count(format); ++p) {
      const auto plane = static_cast<std::size_t>(p);
      view.data[plane] = samples_.data() + plane * samples_.size() / 3;
      view.stride_bytes[plane] =
          static_cast<std::ptrdiff_t>(plane_row_bytes(format, p, view.width)) + pick(0, 3);
    }
    return view;
  }

  void encode_by(Result<Encoder>&& encoder, const ConstFrameView& view) {
    encode_by(encoder, view);
  }
  void encode_by(Result<Encoder>& encoder, const ConstFrameView& view) {
    need(encoder.status(), "encoder");
    need(encoder->set_quality(pick(1, 100)), "quality");
    need(encoder->encode(view, jpeg_).status(), "encode");
  }

  void encode_in_flight(const ConstFrameView& view) {
    if (!in_flight_ || pick(0, 50) == 0) {  // now and then with frames in flight
      in_flight_.reset();
      auto fresh = AsyncEncoder::create({random_params(), 2, 4});
      need(fresh.status(), "async encoder");
      in_flight_.emplace(*std::move(fresh));
    }
    need(in_flight_->submit(view), "submit");
    need(in_flight_->submit(view), "submit");
    if (in_flight_->receive(out_, true) != Received::frame) std::exit(1);
    need(out_.status, "in flight");
    jpeg_.assign(out_.jpeg.bytes().begin(), out_.jpeg.bytes().end());
    if (pick(0, 1) == 0) in_flight_->discard();
    while (in_flight_->in_flight() > 0) (void)in_flight_->receive(out_, true);
  }

  void encode_by_c(const ConstFrameView& view) {
    zerorun_encode_params params{};
    params.struct_size = sizeof params;
    params.backend = ZERORUN_BACKEND_CPU;
    params.threads = 1;
    params.quality = pick(1, 100);
    zerorun_frame frame{};
    frame.struct_size = sizeof frame;
    frame.format = static_cast<std::int32_t>(view.format);
    frame.width = view.width;
    frame.height = view.height;
    for (std::size_t p = 0; p < 3; ++p) {
      frame.data[p] = const_cast<std::uint8_t*>(view.data[p]);  // only read
      frame.stride_bytes[p] = view.stride_bytes[p];
    }
    zerorun_encoder* encoder = nullptr;
    const std::uint8_t* jpeg = nullptr;
    std::size_t size = 0;
    if (zerorun_encoder_create(&params, &encoder, nullptr) != ZERORUN_OK ||
        zerorun_encoder_encode(encoder, &frame, &jpeg, &size) != ZERORUN_OK)
      std::exit(1);
    const auto* const bytes = reinterpret_cast<const std::byte*>(jpeg);
    jpeg_.assign(bytes, bytes + size);
    zerorun_encoder_destroy(encoder);
  }

  std::mt19937 random_{1};
  std::vector<std::uint8_t> samples_;
  std::vector<std::byte> jpeg_;
  Frame frame_;
  EncodedFrame out_;
  Result<Encoder> kept_ = make_encoder();
  std::optional<AsyncEncoder> in_flight_;
  Result<Decoder> decoder_ = make_decoder();
};

void run(int calls, bool tell) {
  Load load;
  const int step = std::max(1, calls / 20);
  long most = 0;
  for (int number = 1; number <= calls; ++number) {
    load.step(number);
    most = std::max(most, in_use_kib());
    if (!tell || number % step != 0) continue;
    std::printf("%7d calls  %6ld KiB in use at most  %6ld KiB resident\n", number, most,
                resident_kib());
    most = 0;
  }
}

}  // namespace

int main(int argc, char** argv) {
  mallopt(M_ARENA_MAX, 1);  // mallinfo2() tells of the main arena alone
  run(100, false);          // what is allocated once for all, such as output buffers
  std::printf("%ld KiB resident\n", resident_kib());
  const long before = in_use_kib();
  run(argc > 1 ? std::atoi(argv[1]) : 100000, true);
  const long left = in_use_kib() - before;
  std::printf("%ld KiB left behind\n", left);
  return left > kAllowedLeftKib ? 1 : 0;
}
