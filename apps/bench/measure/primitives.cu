// The entropy coding primitives on a GPU, beside CUB, one CPU core and a device copy.
// SPDX-License-Identifier: MIT
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/bench/measure/device.hpp"
#include "apps/bench/measure/measure.hpp"
#include "apps/common/figures.hpp"
#include "apps/common/process.hpp"
#include "zerorun/cuda_entropy.hpp"

namespace zerorun::app::bench {
namespace {

namespace device = zerorun::cuda_entropy;
namespace serial = zerorun::entropy;

inline void check(const Status& status) {
  if (!status) fail(Exit::failed, status.message());
}

inline void check(cudaError_t error) {
  if (error != cudaSuccess) fail(Exit::failed, cudaGetErrorString(error));
}

inline void require(bool condition, const char* what) {
  if (!condition) fail(Exit::mismatch, std::string("wrong result: ") + what);
}

template <typename T>
class DeviceArray : CudaArray<T> {
 public:
  explicit DeviceArray(std::uint64_t size) {
    check(this->allocate(std::max<std::uint64_t>(1, size), CudaMemory::device));
  }
  T* get() const { return this->data(); }
  std::vector<T> first(std::uint64_t count) const {
    std::vector<T> values(count);
    check(cudaMemcpy(values.data(), get(), count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }
  T value() const { return first(1)[0]; }
};

/// "mean run 8, 2^28": sizes are powers of two.
inline std::string sized(const std::string& what, std::uint64_t size) {
  int power = 0;
  while ((std::uint64_t{1} << power) < size) ++power;
  return what + (what.empty() ? "2^" : ", 2^") + std::to_string(power);
}

using PrimitiveRows = std::vector<PrimitiveRow>;

/// Times of launches in microseconds, by events around each.
template <typename Launch>
std::vector<double> launch_times(const Launch& launch) {
  cudaEvent_t events[2];
  for (cudaEvent_t& event : events) check(cudaEventCreate(&event));
  const EventOwner begin(events[0]), end(events[1]);
  const auto once = [&] {
    check(cudaEventRecord(begin.get()));
    launch();
    check(cudaEventRecord(end.get()));
    check(cudaEventSynchronize(end.get()));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin.get(), end.get()));
    return static_cast<double>(ms) * 1e3;
  };
  once();
  const double estimate = std::max(1.0, once());
  const int repeats = static_cast<int>(std::clamp(60e3 / estimate, 7.0, 101.0));
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) times.push_back(once());
  return times;
}

/// Three runs on the host.
template <typename Work>
std::vector<double> host_times(const Work& work) {
  std::vector<double> times;
  for (int i = 0; i < 3; ++i) {
    const Stopwatch watch;
    work();
    times.push_back(watch.microseconds());
  }
  return times;
}

/// A primitive's call with its scratch allocated once, for repeated launches.
template <typename Call>
class Prepared {
 public:
  explicit Prepared(Call call) : call_(call) {
    check(call_(nullptr, bytes_));
    check(scratch_.allocate(std::max<std::size_t>(1, bytes_), CudaMemory::device));
  }
  void operator()() const {
    std::size_t bytes = bytes_;
    check(call_(scratch_.data(), bytes));
  }

 private:
  Call call_;
  std::size_t bytes_ = 0;
  CudaArray<std::byte> scratch_;
};

constexpr unsigned kGrid = 2048, kBlock = 256;

template <typename T>
__global__ void differences_kernel(const T* a, const T* b, std::uint64_t size,
                                   unsigned long long* count) {
  for (std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; i < size;
       i += std::uint64_t{gridDim.x} * blockDim.x)
    if (a[i] != b[i]) atomicAdd(count, 1ull);
}

/// Whether two device arrays are equal.
template <typename T>
bool same(const T* a, const T* b, std::uint64_t size) {
  DeviceArray<unsigned long long> count(1);
  check(cudaMemset(count.get(), 0, sizeof(unsigned long long)));
  differences_kernel<<<kGrid, kBlock>>>(a, b, size, count.get());
  check(cudaGetLastError());
  return count.value() == 0;
}

__device__ std::uint64_t hash(std::uint64_t i) {  // SplitMix64
  std::uint64_t z = (i + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

__global__ void changes_kernel(std::uint32_t* out, std::uint64_t size, unsigned mean_run) {
  for (std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; i < size;
       i += std::uint64_t{gridDim.x} * blockDim.x)
    out[i] = hash(i) % mean_run == 0;
}

__global__ void symbols_kernel(std::uint8_t* out, std::uint64_t size, const std::uint8_t* table) {
  for (std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; i < size;
       i += std::uint64_t{gridDim.x} * blockDim.x)
    out[i] = table[hash(i) >> 48];
}

/// Writes 1 where a run begins and 0 elsewhere; runs have the mean length `mean_run`.
void make_changes(std::uint32_t* out, std::uint64_t size, unsigned mean_run) {
  changes_kernel<<<kGrid, kBlock>>>(out, size, mean_run);
  check(cudaGetLastError());
}

/// Writes symbols of a table of 65536 entries; each stands in it as often as it is likely.
void make_symbols(std::uint8_t* out, std::uint64_t size, const std::uint8_t* table) {
  symbols_kernel<<<kGrid, kBlock>>>(out, size, table);
  check(cudaGetLastError());
}

// Run-length coding, compaction and scan, with CUB beside them.

/// One array of runs, encoded in several forms.
class RunBench {
 public:
  RunBench(PrimitiveRows& rows, std::uint64_t size, unsigned mean_run)
      : rows_(rows),
        size_(size),
        data_(sized("mean run " + std::to_string(mean_run), size)),
        in_(size),
        values_(size),
        decoded_(size),
        lengths_(size) {
    auto* const changes = reinterpret_cast<std::uint32_t*>(decoded_.get());
    make_changes(changes, size, mean_run);
    Prepared scan([&](void* scratch, std::size_t& bytes) {
      return device::inclusive_scan(scratch, bytes, changes, size,
                                    reinterpret_cast<std::uint32_t*>(in_.get()), nullptr);
    });
    scan();
  }

  /// `form` is run_length_encode() or run_length_encode_parle().
  template <typename Form>
  void measure_encode(Form form, const char* name, bool also_decode) {
    Prepared encode([&](void* scratch, std::size_t& bytes) {
      return form(scratch, bytes, in_.get(), size_, values_.get(), lengths_.get(), size_,
                  outcome_.get(), nullptr);
    });
    encode();
    check(device::to_status(outcome_.value()));
    runs_ = outcome_.value().count;
    Prepared decode([&](void* scratch, std::size_t& bytes) {
      return device::run_length_decode(scratch, bytes, values_.get(), lengths_.get(), runs_,
                                       decoded_.get(), size_, outcome_.get(), nullptr);
    });
    decode();
    check(device::to_status(outcome_.value()));
    require(outcome_.value().count == size_ && same(in_.get(), decoded_.get(), size_),
            "run-length round trip");
    add("run_length_encode", name, launch_times(encode));
    if (also_decode) add("run_length_decode", "device", launch_times(decode));
  }

  /// After measure_encode().
  void measure_cub() {
    DeviceArray<std::int64_t> cub_runs(1);
    Prepared peer([&](void* scratch, std::size_t& bytes) {
      return cub::DeviceRunLengthEncode::Encode(scratch, bytes, in_.get(), decoded_.get(),
                                                lengths_.get(), cub_runs.get(),
                                                static_cast<std::int64_t>(size_));
    });
    peer();
    require(static_cast<std::uint64_t>(cub_runs.value()) == runs_ &&
                same(values_.get(), decoded_.get(), runs_),
            "runs as CUB finds them");
    add("run_length_encode", "CUB", launch_times(peer));
  }

  void measure_one_core() {
    const std::vector<std::int32_t> host = in_.first(size_);
    std::vector<std::int32_t> host_values(size_);
    std::vector<std::uint32_t> host_lengths(size_);
    add("run_length_encode", "one core", host_times([&] {
          require(*serial::run_length_encode(host, host_values, host_lengths) == runs_,
                  "serial runs");
        }));
  }

 private:
  void add(const char* primitive, const char* form, std::vector<double> times) {
    const double input = static_cast<double>(size_) * 4;
    rows_.push_back(
        {primitive, form, data_, input, input + static_cast<double>(runs_) * 8, std::move(times)});
  }

  PrimitiveRows& rows_;
  std::uint64_t size_, runs_ = 0;
  std::string data_;
  DeviceArray<std::int32_t> in_, values_, decoded_;
  DeviceArray<std::uint32_t> lengths_;
  DeviceArray<device::Outcome> outcome_{1};
};

void measure_runs(PrimitiveRows& rows, std::uint64_t size, unsigned mean_run) {
  RunBench bench(rows, size, mean_run);
  bench.measure_encode(device::run_length_encode, "single pass", true);
  if (size >= 1 << 24) bench.measure_encode(device::run_length_encode_parle, "four kernels", false);
  bench.measure_cub();
  if (size == 1 << 24) bench.measure_one_core();
}

void measure_compact(PrimitiveRows& rows, std::uint64_t size, unsigned one_in) {
  DeviceArray<std::uint32_t> words(size);
  DeviceArray<std::uint8_t> flags(size), table(65536);
  DeviceArray<std::int32_t> out(size), cub_out(size);
  DeviceArray<std::uint64_t> kept(1), cub_kept(1);
  std::vector<std::uint8_t> host_table(65536);
  for (std::size_t i = 0; i < host_table.size(); ++i) host_table[i] = i % one_in == 0;
  check(cudaMemcpy(table.get(), host_table.data(), host_table.size(), cudaMemcpyHostToDevice));
  make_changes(words.get(), size, 7);
  make_symbols(flags.get(), size, table.get());
  const auto* const in = reinterpret_cast<const std::int32_t*>(words.get());
  Prepared ours([&](void* scratch, std::size_t& bytes) {
    return device::compact(scratch, bytes, in, flags.get(), size, out.get(), kept.get(), nullptr);
  });
  Prepared peer([&](void* scratch, std::size_t& bytes) {
    return cub::DeviceSelect::Flagged(scratch, bytes, in, flags.get(), cub_out.get(),
                                      cub_kept.get(), static_cast<std::int64_t>(size));
  });
  ours();
  peer();
  require(kept.value() == cub_kept.value() && same(out.get(), cub_out.get(), kept.value()),
          "compaction");
  const double input = static_cast<double>(size) * 5;
  const double traffic = input + static_cast<double>(kept.value()) * 4;
  const std::string data = sized("1 in " + std::to_string(one_in) + " kept", size);
  rows.push_back({"compact", "device", data, input, traffic, launch_times(ours)});
  rows.push_back({"compact", "CUB", data, input, traffic, launch_times(peer)});
}

void measure_scan(PrimitiveRows& rows, std::uint64_t size) {
  DeviceArray<std::uint32_t> in(size), out(size), cub_out(size);
  make_changes(in.get(), size, 3);
  Prepared ours([&](void* scratch, std::size_t& bytes) {
    return device::exclusive_scan(scratch, bytes, in.get(), size, out.get(), nullptr);
  });
  Prepared peer([&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(scratch, bytes, in.get(), cub_out.get(),
                                         static_cast<std::int64_t>(size));
  });
  ours();
  peer();
  require(same(out.get(), cub_out.get(), size), "scan");
  const double input = static_cast<double>(size) * 4;
  rows.push_back(
      {"exclusive_scan", "device", sized("", size), input, 2 * input, launch_times(ours)});
  rows.push_back({"exclusive_scan", "CUB", sized("", size), input, 2 * input, launch_times(peer)});
  const std::uint64_t part = std::min<std::uint64_t>(size, 1 << 24);
  const std::vector<std::uint32_t> host = in.first(part);
  std::vector<std::uint32_t> host_out(part);
  const auto times = host_times([&] { check(serial::exclusive_scan(host, host_out)); });
  require(host_out == out.first(part), "serial scan");
  const double part_input = static_cast<double>(part) * 4;
  rows.push_back(
      {"exclusive_scan", "one core", sized("", part), part_input, 2 * part_input, times});
}

// Histogram, code construction, variable-length encoding and decoding.

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

void measure_codes(PrimitiveRows& rows, std::uint64_t size, double bits, bool all_forms) {
  CodeBench bench(rows, size, bits);
  bench.measure();
  if (all_forms) bench.measure_base_lines();
}

void measure_copy(PrimitiveRows& rows) {
  const std::uint64_t bytes = std::uint64_t{1} << 30;
  DeviceArray<std::uint8_t> from(bytes), to(bytes);
  check(cudaMemset(from.get(), 1, bytes));
  const auto input = static_cast<double>(bytes);
  rows.push_back({"copy", "device", "1 GiB", input, 2 * input, launch_times([&] {
                    check(cudaMemcpyAsync(to.get(), from.get(), bytes, cudaMemcpyDeviceToDevice));
                  })});
}

}  // namespace

std::vector<PrimitiveRow> measure_primitives(int device_number, bool quick) {
  check(cudaSetDevice(device_number));
  constexpr std::uint64_t kLarge = std::uint64_t{1} << 28;
  PrimitiveRows rows;
  measure_copy(rows);
  for (const unsigned mean_run : {1u, 8u, 1000u})
    for (std::uint64_t size = quick ? kLarge : 1 << 10; size <= kLarge; size *= 4)
      measure_runs(rows, size, mean_run);
  for (const unsigned one_in : {2u, 16u}) measure_compact(rows, kLarge, one_in);
  measure_scan(rows, kLarge);
  for (const double bits : {0.0, 1.0, 2.0, 4.0, 6.0, 7.5, 8.0}) {
    for (std::uint64_t size = quick ? kLarge : 1 << 18; size < kLarge; size *= 16)
      measure_codes(rows, size, bits, false);
    measure_codes(rows, kLarge, bits, !quick);
    measure_codes(rows, 4 * kLarge, bits, false);
  }
  return rows;
}

}  // namespace zerorun::app::bench
