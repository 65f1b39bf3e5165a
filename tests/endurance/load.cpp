// Sends frames of changing sizes, formats and options through every interface.
// SPDX-License-Identifier: MIT
#include "tests/endurance/load.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <utility>

#include <malloc.h>
#include <unistd.h>

#include "tests/support/capi.hpp"

namespace zerorun::endurance {

void need(const Status& status, const char* what) {
  if (status) return;
  std::fprintf(stderr, "%s: %s\n", what, status.message().c_str());
  std::exit(1);
}

long resident_kib() {
  long pages = 0, resident = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%ld %ld", &pages, &resident) != 2) std::exit(1);
  std::fclose(file);
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

namespace {

long entries(const char* folder) {
  const std::filesystem::directory_iterator all(folder);
  return static_cast<long>(std::distance(begin(all), end(all)));
}

}  // namespace

long open_files() { return entries("/proc/self/fd"); }
long threads() { return entries("/proc/self/task"); }

long in_use_kib() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<long>((info.uordblks + info.hblkhd) / 1024);
}

Load::Load(Backend backend, int max_edge, unsigned seed)
    : backend_(backend), max_edge_(max_edge), random_(seed) {
  samples_.resize(static_cast<std::size_t>(max_edge) * static_cast<std::size_t>(max_edge) * 4 * 3);
  for (auto& sample : samples_) sample = static_cast<std::uint8_t>(random_());
  need(decoder_.status(), "decoder");
}

void Load::step(int number) {
  view_ = random_view();
  switch (number % 4) {
    case 0:
      encode_by(make_encoder());
      break;
    case 1:
      encode_by(kept_);
      break;
    case 2:
      encode_in_flight();
      break;
    default:
      encode_by_c();
  }
  if (is_damaged(number)) jpeg_.resize(jpeg_.size() / 2);
  const Status status = decode(number);
  if (!is_damaged(number)) need(status, "decode");
  if (number % 5 == 0) compare_decoders();
}

/// One image at a time and in flight.
void Load::compare_decoders() {
  const Status status = decoder_->decode(jpeg_, view_.format, frame_).status();
  if (decode_in_flight().code() != status.code()) {
    std::fprintf(stderr, "decoders differ: %s\n", status.message().c_str());
    std::exit(1);
  }
  const FrameView a = frame_.view(), b = decoded_.frame.view();
  for (int p = 0; status && p < plane_count(a.format); ++p) {
    const auto i = static_cast<std::size_t>(p);
    for (int y = 0; y < plane_rows(a.format, p, a.height); ++y)
      if (std::memcmp(a.data[i] + y * a.stride_bytes[i], b.data[i] + y * b.stride_bytes[i],
                      plane_row_bytes(a.format, p, a.width)) != 0) {
        std::fprintf(stderr, "decoders differ in plane %d, row %d\n", p, y);
        std::exit(1);
      }
  }
}

Status Load::decode(int number) {
  if (number % 3 == 0) return decode_in_flight();
  return decoder_->decode(jpeg_, view_.format, frame_).status();
}

int Load::pick(int low, int high) {
  return low + static_cast<int>(random_() % static_cast<unsigned>(high - low + 1));
}

EncodeParams Load::random_params() {
  EncodeParams params;
  params.backend = backend_;
  params.threads = pick(1, 2);
  params.quality = pick(1, 100);
  params.huffman = pick(0, 1) == 0 ? HuffmanTables::standard : HuffmanTables::optimal;
  params.restart = pick(0, 1) == 0 ? RestartPolicy::automatic() : RestartPolicy::mcus(pick(1, 9));
  if (pick(0, 2) == 0) params.segments = {{0xFE, std::vector<std::uint8_t>(100, 65)}};
  return params;
}

Result<Decoder> Load::make_decoder() const {
  DecodeParams params;
  params.backend = backend_;
  params.threads = 2;
  return Decoder::create(params);
}

ConstFrameView Load::random_view() {
  const auto format = static_cast<PixelFormat>(pick(0, kPixelFormatCount - 1));
  const int width = pick(1, max_edge_), height = pick(1, max_edge_);
  ConstFrameView view{format, width, height, {}, {}};
  for (int p = 0; p < plane_count(format); ++p) {
    const auto plane = static_cast<std::size_t>(p);
    view.data[plane] = samples_.data() + plane * samples_.size() / 3;
    view.stride_bytes[plane] =
        static_cast<std::ptrdiff_t>(plane_row_bytes(format, p, width)) + pick(0, 3);
  }
  return view;
}

void Load::encode_by(Result<Encoder>& encoder) {
  need(encoder.status(), "encoder");
  need(encoder->set_quality(pick(1, 100)), "quality");
  need(encoder->encode(view_, jpeg_).status(), "encode");
}

void Load::encode_in_flight() {
  if (!in_flight_ || pick(0, 50) == 0) {  // sometimes with frames in flight
    in_flight_.reset();
    auto fresh = AsyncEncoder::create({random_params(), 2, 4});
    need(fresh.status(), "async encoder");
    in_flight_.emplace(*std::move(fresh));
  }
  need(in_flight_->submit(view_), "submit");
  need(in_flight_->submit(view_), "submit");
  if (in_flight_->receive(out_, true) != Received::frame) std::exit(1);
  need(out_.status, "in flight");
  jpeg_.assign(out_.jpeg.bytes().begin(), out_.jpeg.bytes().end());
  if (pick(0, 1) == 0) in_flight_->discard();
  while (in_flight_->in_flight() > 0) (void)in_flight_->receive(out_, true);
}

Status Load::decode_in_flight() {
  if (!decoder_in_flight_ || pick(0, 50) == 0) {
    decoder_in_flight_.reset();
    AsyncDecodeParams params;
    params.decode.backend = backend_;
    params.lanes = 2;
    auto fresh = AsyncDecoder::create(params);
    need(fresh.status(), "async decoder");
    decoder_in_flight_.emplace(*std::move(fresh));
  }
  HostBuffer owned;
  need(owned.resize(jpeg_.size()), "memory");
  std::copy(jpeg_.begin(), jpeg_.end(), owned.data());
  need(decoder_in_flight_->submit(jpeg_, {.format = view_.format}), "submit a stream");
  need(decoder_in_flight_->submit(std::move(owned), {.format = view_.format}), "submit a stream");
  if (decoder_in_flight_->receive(decoded_, true) != Received::frame) std::exit(1);
  if (pick(0, 1) == 0) decoder_in_flight_->discard();
  Status status = decoded_.status;
  while (decoder_in_flight_->in_flight() > 0) (void)decoder_in_flight_->receive(decoded_, true);
  return status;
}

void Load::encode_by_c() {
  auto params = test::sized<zerorun_encode_params>();
  params.backend = backend_ == Backend::cpu ? ZERORUN_BACKEND_CPU : ZERORUN_BACKEND_CUDA;
  params.threads = 1;
  params.quality = pick(1, 100);
  const zerorun_frame frame = test::to_c(view_);
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

}  // namespace zerorun::endurance
