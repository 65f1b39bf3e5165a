// Sends frames of changing sizes, formats and options through every interface; memory in use.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "zerorun/async.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun::endurance {

/// Ends the program with a message if `status` is an error.
void need(const Status& status, const char* what);

long resident_kib();
/// Open descriptors and threads of the process.
long open_files();
long threads();
/// Memory of the main arena, which mallopt(M_ARENA_MAX, 1) makes the only one.
long in_use_kib();

class Load {
 public:
  /// Frames of up to `max_edge` pixels in each direction; another `seed`, other frames and options.
  Load(Backend backend, int max_edge, unsigned seed = 1);

  /// Encodes one frame with random options through one of the interfaces, and decodes it. Every
  /// seventh stream is damaged before: errors must not leak memory either. Ends the program if the
  /// interfaces for decoding differ in status or samples.
  void step(int number);

  /// Frame and stream of the last step.
  const ConstFrameView& view() const noexcept { return view_; }
  const std::vector<std::byte>& jpeg() const noexcept { return jpeg_; }
  static bool is_damaged(int number) noexcept { return number % 7 == 0; }

 private:
  int pick(int low, int high);
  EncodeParams random_params();
  Result<Encoder> make_encoder() { return Encoder::create(random_params()); }
  Result<Decoder> make_decoder() const;
  ConstFrameView random_view();
  void encode_by(Result<Encoder>&& encoder) { encode_by(encoder); }
  void encode_by(Result<Encoder>& encoder);
  void encode_in_flight();
  void encode_by_c();
  Status decode(int number);
  Status decode_in_flight();
  void compare_decoders();

  Backend backend_;
  int max_edge_;
  std::mt19937 random_;
  std::vector<std::uint8_t> samples_;
  ConstFrameView view_;
  std::vector<std::byte> jpeg_;
  Frame frame_;
  EncodedFrame out_;
  DecodedFrame decoded_;
  Result<Encoder> kept_ = make_encoder();
  std::optional<AsyncEncoder> in_flight_;
  Result<Decoder> decoder_ = make_decoder();
  std::optional<AsyncDecoder> decoder_in_flight_;
};

}  // namespace zerorun::endurance
