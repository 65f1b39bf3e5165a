// Histogram, code construction, variable-length encoding and decoding.
// SPDX-License-Identifier: MIT
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>

#include "apps/bench/measure/primitives_support.cuh"

namespace zerorun::app::bench {
namespace {

/// 65536 symbols with an entropy of about `bits`. Frequencies fall geometrically; neighbours in
/// frequency are no neighbours in value.
std::vector<std::uint8_t> symbol_table(double bits) {
  const auto entropy_of = [](double ratio) {
    double sum = 0, weighted = 0, weight = 1;
    for (int i = 0; i < 256 && weight > 0; ++i, weight *= ratio) {
      sum += weight;
      weighted -= weight * std::log2(weight);
    }
    return std::log2(sum) + weighted / sum;
  };
  double low = 0, high = 1;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (entropy_of(middle) < bits ? low : high) = middle;
  }
  double sum = 0, weight = 1;
  for (int i = 0; i < 256; ++i, weight *= high) sum += weight;
  std::vector<std::uint8_t> table(65536);
  double upto = weight = 1;
  int symbol = 0;
  for (std::size_t i = 0; i < table.size(); ++i) {
    while (symbol < 255 && static_cast<double>(i) / 65536 * sum >= upto) {
      ++symbol;
      upto += weight *= high;
    }
    table[i] = static_cast<std::uint8_t>(symbol * 167 + 13);
  }
  return table;
}

/// One array of symbols, its code, and the measurements of coding it.
class CodeBench {
 public:
  CodeBench(PrimitiveRows& rows, std::uint64_t size, double bits)
      : rows_(rows),
        size_(size),
        in_(size),
        decoded_(size),
        counts_(256),
        offsets_(size / kChunk + 2) {
    const DeviceArray<std::uint8_t> table(65536);
    check(cudaMemcpy(table.get(), symbol_table(bits).data(), 65536, cudaMemcpyHostToDevice));
    make_symbols(in_.get(), size_, table.get());
    check(device::histogram(in_.get(), size_, counts_.get(), nullptr));
    check(device::build_codebook(counts_.get(), 32, book_.get(), outcome_.get(), nullptr));
    check(device::to_status(outcome_.value()));
    host_book_ = book_.value();
    const auto host_counts = counts_.first(256);
    for (std::size_t s = 0; s < 256; ++s) code_bits_ += host_counts[s] * host_book_.bits[s];
    char text[40];
    std::snprintf(text, sizeof text, "%.1f bits (codes to %d)", bits,
                  *std::max_element(host_book_.bits.begin(), host_book_.bits.end()));
    code_ = text;
  }

  /// The main forms: encode with a chunk index, decode by it and without it.
  void measure() {
    out_.emplace(words());
    Prepared encode([&](void* scratch, std::size_t& bytes) {
      return device::encode(scratch, bytes, in_.get(), size_, book_.get(), out_->get(), words(),
                            kChunk, offsets_.get(), outcome_.get(), nullptr);
    });
    Prepared decode([&](void* scratch, std::size_t& bytes) {
      return device::decode_chunks(scratch, bytes, out_->get(), code_bits_, book_.get(), kChunk,
                                   offsets_.get(), decoded_.get(), size_, outcome_.get(), nullptr);
    });
    encode();
    require_code("bits of the code");
    decode();
    require_symbols("decode by the index");
    add("encode", "look-back", launch_times(encode));
    add("decode", "chunk index", launch_times(decode));
    measure_self_sync();
  }

  /// The other forms, after measure().
  void measure_base_lines() {
    measure_book();
    measure_chained();
    measure_one_core();
  }

 private:
  static constexpr std::uint32_t kChunk = 1024;

  std::uint64_t words() const { return (code_bits_ + 31) / 32; }
  double coded_bytes() const { return static_cast<double>(code_bits_) / 8; }

  void add(const char* primitive, const char* form, std::vector<double> times) {
    const auto input = static_cast<double>(size_);
    rows_.push_back(
        {primitive, form, sized(code_, size_), input, input + coded_bytes(), std::move(times)});
  }
  void require_code(const char* what) const {
    const device::Outcome found = outcome_.value();
    check(device::to_status(found));
    require(found.count == code_bits_, what);
  }
  void require_symbols(const char* what) const {
    check(device::to_status(outcome_.value()));
    require(same(in_.get(), decoded_.get(), size_), what);
  }

  void measure_book() {
    const auto input = static_cast<double>(size_);
    const std::string data = sized(code_, size_);
    rows_.push_back({"histogram", "device", data, input, input, launch_times([&] {
                       check(device::histogram(in_.get(), size_, counts_.get(), nullptr));
                     })});
    rows_.push_back(
        {"build_codebook", "device", data, 256 * 8.0, 256 * 8.0, launch_times([&] {
           check(device::build_codebook(counts_.get(), 32, book_.get(), outcome_.get(), nullptr));
         })});
  }

  void measure_self_sync() {
    Prepared decode([&](void* scratch, std::size_t& bytes) {
      return device::decode(scratch, bytes, out_->get(), code_bits_, book_.get(), decoded_.get(),
                            size_, outcome_.get(), nullptr);
    });
    check(cudaMemset(decoded_.get(), 0xC5, size_));
    decode();
    require_symbols("decode without an index");
    add("decode", "self-sync", launch_times(decode));
  }

  void measure_chained() {
    const DeviceArray<std::uint32_t> chained_out(words());
    Prepared chained([&](void* scratch, std::size_t& bytes) {
      return device::encode_chained(scratch, bytes, in_.get(), size_, book_.get(),
                                    chained_out.get(), words(), outcome_.get(), nullptr);
    });
    chained();
    require_code("bits of the chained code");
    require(same(out_->get(), chained_out.get(), words()), "chained code");
    add("encode", "chained", launch_times(chained));
  }

  void measure_one_core() {
    const std::uint64_t part = std::min<std::uint64_t>(size_, 1 << 24);
    const std::vector<std::uint8_t> host = in_.first(part);
    std::vector<std::uint32_t> coded(part);
    std::vector<std::uint8_t> back(part);
    std::uint64_t bits = 0;
    const auto encode = host_times([&] { bits = *serial::encode(host, host_book_, coded); });
    const auto decode = host_times([&] { check(serial::decode(coded, bits, host_book_, back)); });
    require(back == host, "serial round trip");
    const auto input = static_cast<double>(part);
    const double traffic = input + static_cast<double>(bits) / 8;
    rows_.push_back({"encode", "one core", sized(code_, part), input, traffic, encode});
    rows_.push_back({"decode", "one core", sized(code_, part), input, traffic, decode});
  }

  PrimitiveRows& rows_;
  std::uint64_t size_, code_bits_ = 0;
  DeviceArray<std::uint8_t> in_, decoded_;
  DeviceArray<std::uint64_t> counts_, offsets_;
  DeviceArray<device::Codebook> book_{1};
  DeviceArray<device::Outcome> outcome_{1};
  std::optional<DeviceArray<std::uint32_t>> out_;
  device::Codebook host_book_{};
  std::string code_;
};

}  // namespace

void measure_codes(PrimitiveRows& rows, std::uint64_t size, double bits, bool all_forms) {
  CodeBench bench(rows, size, bits);
  bench.measure();
  if (all_forms) bench.measure_base_lines();
}

}  // namespace zerorun::app::bench
