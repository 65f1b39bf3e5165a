// Ours on the CPU: one frame on several threads for the latency, frames side by side for the
// throughput.
// SPDX-License-Identifier: MIT
#include <utility>

#include "apps/bench/measure/host_lanes.hpp"

namespace zerorun::app::bench {
namespace {

void add_encoders(const Setting& setting, const SharedHostData& data, Contenders& out) {
  EncodeParams params = encode_params(setting.what);
  params.backend = Backend::cpu;
  for (const int threads : setting.selection.threads) {
    Contender one_frame = our_contender("cpu", "host>host");
    one_frame.latency_threads = params.threads = threads;
    one_frame.open = [params, data](int) { return open_host_encoder(params, data); };
    out.push_back(std::move(one_frame));
  }
  Contender side_by_side = our_contender("cpu", "host>host");
  side_by_side.measure_latency = false;
  side_by_side.parallel = setting.selection.threads;
  side_by_side.joint = true;
  params.threads = 1;
  side_by_side.open = [params, data](int lanes) { return open_async_encoder(params, lanes, data); };
  out.push_back(std::move(side_by_side));
}

void add_decoders(const Setting& setting, const SharedHostData& data, Contenders& out) {
  const auto open_with = [&data](int threads) {
    DecodeParams params = decode_params(Backend::cpu);
    params.threads = threads;
    return [params, data](int) { return open_host_decoder(params, data); };
  };
  for (const int threads : setting.selection.threads) {
    Contender one_frame = our_contender("cpu", "host>host");
    one_frame.latency_threads = threads;
    one_frame.open = open_with(threads);
    out.push_back(std::move(one_frame));
  }
  Contender side_by_side = our_contender("cpu", "host>host");
  side_by_side.measure_latency = false;
  side_by_side.parallel = setting.selection.threads;
  side_by_side.open = open_with(1);
  Contender async = side_by_side;
  async.coder = kAsyncCoder;
  async.joint = true;
  async.open = [data](int lanes) {
    return open_async_decoder(decode_params(Backend::cpu), lanes, data);
  };
  out.push_back(std::move(side_by_side));
  out.push_back(std::move(async));
}

}  // namespace

Contender our_contender(std::string device, const char* path) {
  Contender c;
  c.coder = "zerorun";
  c.device = std::move(device);
  c.path = path;
  c.ours = true;
  return c;
}

void add_cpu_coders(const Setting& setting, Contenders& out) {
  if (!setting.selection.cpu) return;
  const auto data = HostData::make(setting, HostMemory::pageable);
  if (!data) {
    setting.notes.push_back("zerorun cpu: " + data.status().message());
  } else if (setting.what.operation == Operation::encode) {
    add_encoders(setting, *data, out);
  } else {
    add_decoders(setting, *data, out);
  }
}

}  // namespace zerorun::app::bench
