// Calls of the C interface in an order, with arguments and on objects that the input chooses.
// SPDX-License-Identifier: MIT
#include <cstring>
#include <utility>
#include <vector>

#include "tests/fuzz/fuzz_check.hpp"
#include "tests/support/capi.hpp"

namespace zerorun::fuzz {
namespace {

/// The bytes of the input, one after another; zeros behind the end.
class Script {
 public:
  Script(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}
  bool is_done() const { return at_ == end_; }
  int byte() { return is_done() ? 0 : *at_++; }
  /// Mostly one of 0..bound-1, sometimes a number that no interface expects.
  int choice(int bound) {
    const int value = byte();
    return value >= 250 ? (value - 253) * 1000003 : value % bound;
  }
  std::vector<std::uint8_t> bytes(int count) {
    std::vector<std::uint8_t> out;
    while (count-- > 0 && !is_done()) out.push_back(static_cast<std::uint8_t>(byte()));
    return out;
  }

 private:
  const std::uint8_t *at_, *end_;
};

constexpr int kMostEdge = 40;

class Session {
 public:
  explicit Session(Script& script) : script_(script), samples_(4 * kMostEdge * kMostEdge, 0x5A) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    zerorun_encoder_destroy(encoder_);
    zerorun_decoder_destroy(decoder_);
    zerorun_async_encoder_destroy(async_);
  }

  void step() {
    switch (script_.byte() % 12) {
      case 0:
        return make_encoder();
      case 1:
        return make_decoder();
      case 2:
        return make_async();
      case 3:
        return encode();
      case 4:
        return encode_to();
      case 5:
        return decode();
      case 6:
        return decode_to();
      case 7:
        return submit();
      case 8:
        return receive();
      case 9:
        return inspect_stream();
      case 10:
        return change();
      default:
        stream_ = script_.bytes(script_.byte());
    }
  }

 private:
  void make_encoder() {
    const zerorun_encode_params params = encode_params();
    zerorun_encoder_destroy(std::exchange(encoder_, nullptr));
    const zerorun_status status = zerorun_encoder_create(&params, &encoder_, &error_);
    expect(status, encoder_ != nullptr);
  }
  void make_decoder() {
    auto params = test::sized<zerorun_decode_params>();
    params.backend = ZERORUN_BACKEND_CPU;
    params.threads = script_.choice(3);
    params.strict = script_.choice(2);
    params.nearest_upsampling = script_.choice(2);
    params.max_pixels = 1 << 16;
    zerorun_decoder_destroy(std::exchange(decoder_, nullptr));
    const zerorun_status status = zerorun_decoder_create(&params, &decoder_, &error_);
    expect(status, decoder_ != nullptr);
  }
  void make_async() {
    const zerorun_encode_params params = encode_params();
    auto async = test::sized<zerorun_async_params>();
    async.lanes = script_.choice(3);
    async.depth = script_.choice(4);
    zerorun_async_encoder_destroy(std::exchange(async_, nullptr));
    const zerorun_status status = zerorun_async_encoder_create(&params, &async, &async_, &error_);
    expect(status, async_ != nullptr);
  }
  void encode() {
    if (encoder_ == nullptr) return;
    const zerorun_frame frame = picture();
    const std::uint8_t* jpeg = nullptr;
    std::size_t size = 0;
    if (zerorun_encoder_encode(encoder_, &frame, &jpeg, &size) != ZERORUN_OK)
      return said(encoder_error());
    check(size > 4 && jpeg[0] == 0xFF && jpeg[1] == 0xD8, "a stream begins with SOI");
    stream_.assign(jpeg, jpeg + size);
  }
  void encode_to() {
    if (encoder_ == nullptr) return;
    const zerorun_frame frame = picture();
    std::vector<std::uint8_t> out(static_cast<std::size_t>(script_.byte()) * 16);
    std::size_t size = 0;
    if (zerorun_encoder_encode_to(encoder_, &frame, out.data(), out.size(), &size) != ZERORUN_OK)
      return said(encoder_error());
    check(size <= out.size(), "the stream fits");
  }
  void decode() {
    if (decoder_ == nullptr) return;
    auto frame = test::sized<zerorun_frame>();
    auto report = test::sized<zerorun_decode_report>();
    if (zerorun_decoder_decode(decoder_, stream_.data(), stream_.size(), script_.choice(17), &frame,
                               &report) != ZERORUN_OK)
      return said(zerorun_decoder_error(decoder_));
    check(report.bytes_consumed <= stream_.size() && frame.data[0] != nullptr, "a picture");
  }
  void decode_to() {
    if (decoder_ == nullptr) return;
    const zerorun_frame frame = picture();
    auto report = test::sized<zerorun_decode_report>();
    (void)zerorun_decoder_decode_to(decoder_, stream_.data(), stream_.size(), &frame, &report);
  }
  void submit() {
    if (async_ == nullptr) return;
    const zerorun_frame frame = picture();
    (void)zerorun_async_encoder_submit(async_, &frame, nullptr, &error_);
  }
  /// Waits only if a frame is in flight.
  void receive() {
    if (async_ == nullptr) return;
    auto out = test::sized<zerorun_encoded>();
    (void)zerorun_async_encoder_receive(async_, zerorun_async_encoder_in_flight(async_) > 0, &out);
  }
  void inspect_stream() {
    auto info = test::sized<zerorun_info>();
    if (zerorun_inspect(stream_.data(), stream_.size(), &info, &error_) != ZERORUN_OK)
      return said(&error_);
    check(info.width > 0 && info.height > 0 && info.header_bytes <= stream_.size(), "a header");
  }
  void change() {
    if (encoder_ != nullptr) (void)zerorun_encoder_set_quality(encoder_, script_.choice(101));
    if (async_ == nullptr) return;
    if (script_.byte() % 2 == 0) (void)zerorun_async_encoder_discard(async_);
    (void)zerorun_async_encoder_set_quality(async_, script_.choice(101));
  }

  zerorun_encode_params encode_params() {
    auto params = test::sized<zerorun_encode_params>();
    params.backend = ZERORUN_BACKEND_CPU;
    params.quality = script_.choice(101);
    params.subsampling = script_.choice(7);
    params.huffman = script_.choice(2);
    params.restart = script_.choice(4);
    params.restart_count = script_.choice(8);
    params.threads = script_.choice(3);
    params.tune = script_.choice(4);
    params.effort = script_.choice(2);
    params.tables = script_.choice(5);
    return params;
  }
  /// Memory that every format of these sizes fits in; the struct may lie about nothing else.
  zerorun_frame picture() {
    auto frame = test::sized<zerorun_frame>();
    frame.format = script_.choice(17);
    frame.width = script_.byte() % (kMostEdge + 1);
    frame.height = script_.byte() % (kMostEdge + 1);
    for (int p = 0; p < 3; ++p) {
      frame.data[p] = samples_.data();
      frame.stride_bytes[p] = 4 * kMostEdge;
    }
    return frame;
  }
  const zerorun_error* encoder_error() const { return zerorun_encoder_error(encoder_); }
  void said(const zerorun_error* error) const {
    check(error != nullptr && error->code != ZERORUN_OK && std::strlen(error->message) > 0,
          "an error has a sentence");
  }
  void expect(zerorun_status status, bool has_object) const {
    check((status == ZERORUN_OK) == has_object, "an object, or an error");
    if (status != ZERORUN_OK) said(&error_);
  }

  Script& script_;
  std::vector<std::uint8_t> samples_, stream_;
  zerorun_error error_ = test::sized<zerorun_error>();
  zerorun_encoder* encoder_ = nullptr;
  zerorun_decoder* decoder_ = nullptr;
  zerorun_async_encoder* async_ = nullptr;
};

}  // namespace
}  // namespace zerorun::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  zerorun::fuzz::Script script(data, size);
  zerorun::fuzz::Session session(script);
  for (int calls = 0; calls < 40 && !script.is_done(); ++calls) session.step();
  return 0;
}
