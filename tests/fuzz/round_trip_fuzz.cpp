// Encodes arbitrary pictures with arbitrary parameters: the stream fits its bound, decodes clean,
// and is the same on any number of threads.
// SPDX-License-Identifier: MIT
#include <vector>

#include "tests/fuzz/fuzz_check.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::fuzz {
namespace {

/// Reads parameters, then samples, from the input; zeros when it is used up.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  int below(int bound) { return (next() << 8 | next()) % bound; }
  int next() { return at_ < size_ ? data_[at_++] : 0; }

  /// Samples repeat the rest of the input, so that short inputs make whole pictures.
  void fill(std::vector<std::uint8_t>& out) {
    const std::size_t rest = at_ < size_ ? size_ - at_ : 0;
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = rest == 0 ? std::uint8_t{128} : data_[at_ + i % rest];
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_, at_ = 0;
};

EncodeParams read_params(Input& input) {
  EncodeParams params;
  params.backend = Backend::cpu;
  params.threads = 1;
  params.quality = 1 + input.below(100);
  const int sampling = input.below(7);
  if (sampling < 6) params.subsampling = static_cast<Subsampling>(sampling);
  params.huffman = input.below(2) == 0 ? HuffmanTables::standard : HuffmanTables::optimal;
  switch (input.below(4)) {
    case 0:
      params.restart = RestartPolicy::none();
      break;
    case 1:
      params.restart = RestartPolicy::mcus(1 + input.below(9));
      break;
    case 2:
      params.restart = RestartPolicy::mcu_rows(1 + input.below(3));
      break;
    default:
      params.restart = RestartPolicy::automatic();
      break;
  }
  if (input.below(4) == 0) {
    QuantTable table;
    for (std::uint16_t& entry : table) entry = static_cast<std::uint16_t>(1 + input.below(255));
    params.luma_table = table;
  }
  params.progressive = input.below(4) == 1;
  return params;
}

std::vector<std::byte> encode(EncodeParams params, const ConstFrameView& frame, int threads) {
  params.threads = threads;
  auto encoder = Encoder::create(params);
  check(encoder.is_ok(), "the parameters are accepted");
  std::vector<std::byte> out;
  const auto report = encoder->encode(frame, out);
  if (!report.is_ok()) {
    check(group(report.status().code()) == ErrorGroup::argument, "or refused as an argument");
    return {};
  }
  return out;
}

}  // namespace
}  // namespace zerorun::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace zerorun;
  fuzz::Input input(data, size);
  const EncodeParams params = fuzz::read_params(input);
  const auto format = static_cast<PixelFormat>(input.below(kPixelFormatCount));
  const int width = 1 + input.below(100), height = 1 + input.below(100);
  ConstFrameView frame{format, width, height, {}, {}};
  std::vector<std::uint8_t> planes[3];
  for (int p = 0; p < plane_count(format); ++p) {
    const auto index = static_cast<std::size_t>(p);
    const std::size_t row = plane_row_bytes(format, p, width);
    planes[p].resize(row * static_cast<std::size_t>(plane_rows(format, p, height)));
    input.fill(planes[p]);
    frame.data[index] = planes[p].data();
    frame.stride_bytes[index] = static_cast<std::ptrdiff_t>(row);
  }
  const std::vector<std::byte> jpeg = fuzz::encode(params, frame, 1);
  if (jpeg.empty()) return 0;
  const auto bound = max_encoded_bytes(params, format, width, height);
  fuzz::check(bound.is_ok() && jpeg.size() <= *bound, "the stream is within its bound");
  for (const InstructionSet set : instruction_sets()) {
    auto other = params;
    other.instruction_set = set;
    fuzz::check(fuzz::encode(other, frame, 1) == jpeg, "the instruction set changes no byte");
  }
  if (size % 16 == 0)  // starting threads is slow
    fuzz::check(fuzz::encode(params, frame, 3) == jpeg, "threads do not change the bytes");
  static Decoder decoder = *Decoder::create(fuzz::quick_params(1));
  Frame out;
  const auto report = decoder.decode(jpeg, format, out);
  fuzz::check(report.is_ok(), "the stream decodes");
  fuzz::check(report->first_problem.is_ok(), "the stream is clean");
  fuzz::check(report->bytes_consumed == jpeg.size(), "the stream is all there is");
  return 0;
}
