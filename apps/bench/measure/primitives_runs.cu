// Run-length coding, compaction and scan, with CUB beside them.
// SPDX-License-Identifier: MIT
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

#include <utility>

#include "apps/bench/measure/primitives_support.cuh"

namespace zerorun::app::bench {
namespace {

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

}  // namespace

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

}  // namespace zerorun::app::bench
