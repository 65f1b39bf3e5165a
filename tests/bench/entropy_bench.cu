// Speed of the entropy coding primitives on the GPU, with CUB, the serial twins and a device copy
// of the same run beside them. Every result is checked before it is timed.
// SPDX-License-Identifier: MIT
#include <cuda_runtime.h>

#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_select.cuh>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "zerorun/cuda_entropy.hpp"

namespace {

namespace device = zerorun::cuda_entropy;
namespace serial = zerorun::entropy;

[[noreturn]] void stop(const std::string& why) {
  std::fprintf(stderr, "entropy_bench: %s\n", why.c_str());
  std::exit(1);
}

void check(cudaError_t error) {
  if (error != cudaSuccess) stop(cudaGetErrorString(error));
}

void check(const zerorun::Status& status) {
  if (!status) stop(std::string(name(status.code())) + ": " + status.detail());
}

void require(bool condition, const char* what) {
  if (!condition) stop(std::string("wrong result: ") + what);
}

template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(std::uint64_t size) {
    check(cudaMalloc(&data_, std::max<std::size_t>(1, size * sizeof(T))));
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  T* get() const { return data_; }
  T at(std::uint64_t i) const {
    T value;
    check(cudaMemcpy(&value, data_ + i, sizeof(T), cudaMemcpyDeviceToHost));
    return value;
  }
  std::vector<T> first(std::uint64_t count) const {
    std::vector<T> values(count);
    check(cudaMemcpy(values.data(), data_, count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  T* data_ = nullptr;
};

/// One line of the report. Traffic is what must be read and written at least.
struct Row {
  std::string primitive, form, data;
  double input_bytes, traffic_bytes, seconds;
};

class Report {
 public:
  void set_copy(double bytes_per_second) { copy_ = bytes_per_second; }

  void add(Row row) {
    std::printf("%-18s %-12s %-26s %11.3f %10.4f %10.1f %9.1f%%\n", row.primitive.c_str(),
                row.form.c_str(), row.data.c_str(), row.input_bytes / 1e6, row.seconds * 1e3,
                row.input_bytes / row.seconds / 1e9, percent(row));
    std::fflush(stdout);
    rows_.push_back(std::move(row));
  }

  static void heading() {
    std::printf("%-18s %-12s %-26s %11s %10s %10s %10s\n", "primitive", "form", "data", "input MB",
                "ms", "input GB/s", "of copy");
  }

  void write_json(const std::string& path, const std::string& gpu) const {
    std::FILE* const file = std::fopen(path.c_str(), "w");
    if (file == nullptr) stop("cannot write " + path);
    std::fprintf(file, "{\"device\": \"%s\", \"copy_gb_per_s\": %.1f, \"rows\": [", gpu.c_str(),
                 copy_ / 1e9);
    const char* separator = "\n";
    for (const Row& row : rows_) {
      std::fprintf(file,
                   "%s  {\"primitive\": \"%s\", \"form\": \"%s\", \"data\": \"%s\", "
                   "\"input_bytes\": %.0f, \"traffic_bytes\": %.0f, \"median_ms\": %.5f, "
                   "\"input_gb_per_s\": %.2f, \"percent_of_copy\": %.2f}",
                   separator, row.primitive.c_str(), row.form.c_str(), row.data.c_str(),
                   row.input_bytes, row.traffic_bytes, row.seconds * 1e3,
                   row.input_bytes / row.seconds / 1e9, percent(row));
      separator = ",\n";
    }
    std::fprintf(file, "\n]}\n");
    if (std::fclose(file) != 0) stop("cannot write " + path);
  }

 private:
  double percent(const Row& row) const { return 100 * row.traffic_bytes / row.seconds / copy_; }
  double copy_ = 0;
  std::vector<Row> rows_;
};

/// Median time of a launch, by events around each.
template <typename Launch>
double median_seconds(const Launch& launch) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  const auto once = [&] {
    check(cudaEventRecord(begin));
    launch();
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end));
    return static_cast<double>(ms) / 1e3;
  };
  once();
  const double estimate = std::max(1e-6, once());
  const int repeats = static_cast<int>(std::clamp(0.06 / estimate, 7.0, 101.0));
  std::vector<double> seconds;
  for (int i = 0; i < repeats; ++i) seconds.push_back(once());
  std::nth_element(seconds.begin(), seconds.begin() + repeats / 2, seconds.end());
  check(cudaEventDestroy(begin));
  check(cudaEventDestroy(end));
  return seconds[static_cast<std::size_t>(repeats / 2)];
}

/// Best of three runs on the host.
template <typename Work>
double host_seconds(const Work& work) {
  double best = 1e9;
  for (int i = 0; i < 3; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

/// A primitive's call with its scratch allocated once, for repeated launches.
template <typename Call>
class Prepared {
 public:
  explicit Prepared(Call call) : call_(call) {
    check(call_(nullptr, bytes_));
    check(cudaMalloc(&scratch_, std::max<std::size_t>(1, bytes_)));
  }
  ~Prepared() { cudaFree(scratch_); }
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;
  void operator()() const {
    std::size_t bytes = bytes_;
    check(call_(scratch_, bytes));
  }

 private:
  Call call_;
  std::size_t bytes_ = 0;
  void* scratch_ = nullptr;
};

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

/// Symbols by a table of 65536 entries, in which each stands as often as it is likely.
__global__ void symbols_kernel(std::uint8_t* out, std::uint64_t size, const std::uint8_t* table) {
  for (std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; i < size;
       i += std::uint64_t{gridDim.x} * blockDim.x)
    out[i] = table[hash(i) >> 48];
}

template <typename T>
__global__ void differences_kernel(const T* a, const T* b, std::uint64_t size,
                                   unsigned long long* count) {
  for (std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; i < size;
       i += std::uint64_t{gridDim.x} * blockDim.x)
    if (a[i] != b[i]) atomicAdd(count, 1ull);
}

constexpr unsigned kGrid = 2048, kBlock = 256;

template <typename T>
bool same(const T* a, const T* b, std::uint64_t size) {
  DeviceArray<unsigned long long> count(1);
  check(cudaMemset(count.get(), 0, sizeof(unsigned long long)));
  differences_kernel<<<kGrid, kBlock>>>(a, b, size, count.get());
  check(cudaGetLastError());
  return count.at(0) == 0;
}

void measure_copy(Report& report) {
  const std::uint64_t bytes = std::uint64_t{1} << 30;
  DeviceArray<std::uint8_t> from(bytes), to(bytes);
  check(cudaMemset(from.get(), 1, bytes));
  const double seconds = median_seconds(
      [&] { check(cudaMemcpyAsync(to.get(), from.get(), bytes, cudaMemcpyDeviceToDevice)); });
  report.set_copy(2.0 * static_cast<double>(bytes) / seconds);
  report.add({"copy", "device", "1 GiB", static_cast<double>(bytes),
              2.0 * static_cast<double>(bytes), seconds});
}

std::string run_label(unsigned mean_run) { return "mean run " + std::to_string(mean_run); }

void measure_runs(Report& report, std::uint64_t size, unsigned mean_run) {
  DeviceArray<std::int32_t> in(size), values(size), decoded(size);
  DeviceArray<std::uint32_t> lengths(size);
  DeviceArray<device::Outcome> outcome(1);
  {
    auto* const words = reinterpret_cast<std::uint32_t*>(decoded.get());
    changes_kernel<<<kGrid, kBlock>>>(words, size, mean_run);
    check(cudaGetLastError());
    Prepared scan([&](void* scratch, std::size_t& bytes) {
      return device::inclusive_scan(scratch, bytes, words, size,
                                    reinterpret_cast<std::uint32_t*>(in.get()), nullptr);
    });
    scan();
  }
  const double input = static_cast<double>(size) * 4;
  const std::string data = run_label(mean_run);
  const auto run_encode = [&](auto form, const char* label) {
    Prepared encode([&, form](void* scratch, std::size_t& bytes) {
      return form(scratch, bytes, in.get(), size, values.get(), lengths.get(), size, outcome.get(),
                  nullptr);
    });
    encode();
    const device::Outcome found = outcome.at(0);
    check(device::to_status(found));
    Prepared decode([&](void* scratch, std::size_t& bytes) {
      return device::run_length_decode(scratch, bytes, values.get(), lengths.get(), found.count,
                                       decoded.get(), size, outcome.get(), nullptr);
    });
    decode();
    check(device::to_status(outcome.at(0)));
    require(outcome.at(0).count == size && same(in.get(), decoded.get(), size),
            "run-length round trip");
    const double traffic = input + static_cast<double>(found.count) * 8;
    report.add({"run_length_encode", label, data, input, traffic, median_seconds(encode)});
    if (std::strcmp(label, "single pass") == 0)
      report.add({"run_length_decode", "device", data, input, traffic, median_seconds(decode)});
    return found.count;
  };
  const std::uint64_t runs = run_encode(device::run_length_encode, "single pass");
  if (size >= 1 << 24) run_encode(device::run_length_encode_parle, "four kernels");
  DeviceArray<std::int64_t> cub_runs(1);
  Prepared peer([&](void* scratch, std::size_t& bytes) {
    return cub::DeviceRunLengthEncode::Encode(scratch, bytes, in.get(), decoded.get(),
                                              lengths.get(), cub_runs.get(),
                                              static_cast<std::int64_t>(size));
  });
  peer();
  require(
      static_cast<std::uint64_t>(cub_runs.at(0)) == runs && same(values.get(), decoded.get(), runs),
      "runs as CUB finds them");
  report.add({"run_length_encode", "CUB", data, input, input + static_cast<double>(runs) * 8,
              median_seconds(peer)});
  if (size != 1 << 24) return;
  const std::vector<std::int32_t> host = in.first(size);
  std::vector<std::int32_t> host_values(size);
  std::vector<std::uint32_t> host_lengths(size);
  const double seconds = host_seconds([&] {
    require(*serial::run_length_encode(host, host_values, host_lengths) == runs, "serial runs");
  });
  report.add({"run_length_encode", "one core", data, input, input + static_cast<double>(runs) * 8,
              seconds});
}

void measure_compact(Report& report, std::uint64_t size, unsigned one_in) {
  DeviceArray<std::uint32_t> words(size);
  DeviceArray<std::uint8_t> flags(size), table(65536);
  DeviceArray<std::int32_t> out(size), cub_out(size);
  DeviceArray<std::uint64_t> kept(1), cub_kept(1);
  std::vector<std::uint8_t> host_table(65536);
  for (std::size_t i = 0; i < host_table.size(); ++i) host_table[i] = i % one_in == 0;
  check(cudaMemcpy(table.get(), host_table.data(), host_table.size(), cudaMemcpyHostToDevice));
  changes_kernel<<<kGrid, kBlock>>>(words.get(), size, 7);
  symbols_kernel<<<kGrid, kBlock>>>(flags.get(), size, table.get());
  check(cudaGetLastError());
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
  require(kept.at(0) == cub_kept.at(0) && same(out.get(), cub_out.get(), kept.at(0)), "compaction");
  const double input = static_cast<double>(size) * 5;
  const double traffic = input + static_cast<double>(kept.at(0)) * 4;
  const std::string data = "1 in " + std::to_string(one_in) + " kept";
  report.add({"compact", "device", data, input, traffic, median_seconds(ours)});
  report.add({"compact", "CUB", data, input, traffic, median_seconds(peer)});
}

/// 65536 symbols with an entropy of about `bits`: geometric frequencies over scattered symbols.
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

void measure_codes(Report& report, std::uint64_t size, double bits, bool all_forms) {
  constexpr std::uint32_t kChunk = 1024;
  DeviceArray<std::uint8_t> in(size), decoded(size), table(65536);
  DeviceArray<std::uint64_t> counts(256), offsets(size / kChunk + 2);
  DeviceArray<device::Codebook> book(1);
  DeviceArray<device::Outcome> outcome(1);
  check(cudaMemcpy(table.get(), symbol_table(bits).data(), 65536, cudaMemcpyHostToDevice));
  symbols_kernel<<<kGrid, kBlock>>>(in.get(), size, table.get());
  check(cudaGetLastError());
  check(device::histogram(in.get(), size, counts.get(), nullptr));
  check(device::build_codebook(counts.get(), 32, book.get(), outcome.get(), nullptr));
  check(device::to_status(outcome.at(0)));
  const device::Codebook host_book = book.at(0);
  const auto host_counts = counts.first(256);
  std::uint64_t code_bits = 0;
  for (std::size_t s = 0; s < 256; ++s) code_bits += host_counts[s] * host_book.bits[s];
  const std::uint64_t capacity = (code_bits + 31) / 32;
  DeviceArray<std::uint32_t> out(capacity);

  char label[40];
  std::snprintf(label, sizeof label, "%.1f bits (codes to %d)", bits,
                *std::max_element(host_book.bits.begin(), host_book.bits.end()));
  const double input = static_cast<double>(size), output = static_cast<double>(code_bits) / 8;
  const auto verify = [&](const char* what) {
    const device::Outcome found = outcome.at(0);
    check(device::to_status(found));
    require(found.count == code_bits, what);
  };
  Prepared encode([&](void* scratch, std::size_t& bytes) {
    return device::encode(scratch, bytes, in.get(), size, book.get(), out.get(), capacity, kChunk,
                          offsets.get(), outcome.get(), nullptr);
  });
  Prepared decode_chunks([&](void* scratch, std::size_t& bytes) {
    return device::decode_chunks(scratch, bytes, out.get(), code_bits, book.get(), kChunk,
                                 offsets.get(), decoded.get(), size, outcome.get(), nullptr);
  });
  encode();
  verify("bits of the code");
  decode_chunks();
  check(device::to_status(outcome.at(0)));
  require(same(in.get(), decoded.get(), size), "decode by the index");
  report.add({"encode", "look-back", label, input, input + output, median_seconds(encode)});
  report.add(
      {"decode", "chunk index", label, input, input + output, median_seconds(decode_chunks)});
  if (!all_forms) return;
  report.add({"histogram", "device", label, input, input, median_seconds([&] {
                check(device::histogram(in.get(), size, counts.get(), nullptr));
              })});
  report.add({"build_codebook", "device", label, 256 * 8.0, 256 * 8.0, median_seconds([&] {
                check(device::build_codebook(counts.get(), 32, book.get(), outcome.get(), nullptr));
              })});
  Prepared decode([&](void* scratch, std::size_t& bytes) {
    return device::decode(scratch, bytes, out.get(), code_bits, book.get(), decoded.get(), size,
                          outcome.get(), nullptr);
  });
  check(cudaMemset(decoded.get(), 0xC5, size));
  decode();
  check(device::to_status(outcome.at(0)));
  require(same(in.get(), decoded.get(), size), "decode without an index");
  report.add({"decode", "self-sync", label, input, input + output, median_seconds(decode)});
  DeviceArray<std::uint32_t> chained_out(capacity);
  Prepared chained([&](void* scratch, std::size_t& bytes) {
    return device::encode_chained(scratch, bytes, in.get(), size, book.get(), chained_out.get(),
                                  capacity, outcome.get(), nullptr);
  });
  chained();
  verify("bits of the chained code");
  require(same(out.get(), chained_out.get(), capacity), "chained code");
  report.add({"encode", "chained", label, input, input + output, median_seconds(chained)});
  const std::uint64_t part = std::min<std::uint64_t>(size, 1 << 24);
  const std::vector<std::uint8_t> host = in.first(part);
  std::vector<std::uint32_t> words(part);
  std::uint64_t part_bits = 0;
  const double host_encode =
      host_seconds([&] { part_bits = *serial::encode(host, host_book, words); });
  const double part_size = static_cast<double>(part),
               part_output = static_cast<double>(part_bits) / 8;
  report.add({"encode", "one core", label, part_size, part_size + part_output, host_encode});
  std::vector<std::uint8_t> back(part);
  report.add({"decode", "one core", label, part_size, part_size + part_output,
              host_seconds([&] { check(serial::decode(words, part_bits, host_book, back)); })});
  require(back == host, "serial round trip");
}

}  // namespace

int main(int argc, char** argv) {
  std::string json;
  bool quick = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
      json = argv[++i];
    } else if (std::strcmp(argv[i], "--quick") == 0) {
      quick = true;
    } else {
      std::fprintf(stderr,
                   "usage: entropy_bench [--json FILE] [--quick]\n"
                   "  --quick  the large sizes only, without the base lines\n");
      return 2;
    }
  }
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0));
  std::printf("%s, %d multiprocessors, L2 %d MB; medians of 7 and more launches\n", properties.name,
              properties.multiProcessorCount, properties.l2CacheSize >> 20);
  Report report;
  Report::heading();
  measure_copy(report);
  for (const unsigned mean_run : {1u, 8u, 1000u})
    for (std::uint64_t size = quick ? 1 << 28 : 1 << 10; size <= 1 << 28; size *= 4)
      measure_runs(report, size, mean_run);
  for (const unsigned one_in : {2u, 16u}) measure_compact(report, 1 << 28, one_in);
  for (const double bits : {0.0, 1.0, 2.0, 4.0, 6.0, 7.5, 8.0}) {
    if (!quick)
      for (const std::uint64_t size : {std::uint64_t{1} << 18, std::uint64_t{1} << 20,
                                       std::uint64_t{1} << 24, std::uint64_t{1} << 26})
        measure_codes(report, size, bits, false);
    measure_codes(report, std::uint64_t{1} << 28, bits, !quick);
    measure_codes(report, std::uint64_t{1} << 30, bits, false);
  }
  if (!json.empty()) report.write_json(json, properties.name);
  return 0;
}
