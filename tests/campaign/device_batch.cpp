// Frames of the host, coded by DeviceEncoder as one batch in device memory.
// SPDX-License-Identifier: MIT
#include "tests/campaign/device_batch.hpp"

#include "codec/base/cuda_device.hpp"

namespace zerorun::test {
namespace {

std::string text_of(cudaError_t error, const char* what) {
  return error == cudaSuccess ? "" : std::string(what) + ": " + cudaGetErrorString(error);
}

template <typename T, typename Owner>
cudaError_t make(Owner& owner, std::size_t count) {
  void* memory = nullptr;
  owner.reset();
  const cudaError_t error = cudaMalloc(&memory, count * sizeof(T));
  if (error == cudaSuccess) owner.reset(static_cast<T*>(memory));
  return error;
}

}  // namespace

bool has_device_memory() { return test_device_count() == 0; }

DeviceBatch::DeviceBatch(const EncodeParams& params)
    : params_(params), encoder_(DeviceEncoder::create(params)) {}

DeviceBatch::~DeviceBatch() {
  if (stream_ != nullptr) (void)cudaStreamDestroy(stream_);
}

std::string DeviceBatch::encode(std::span<const TestFrame* const> frames, std::vector<Bytes>& out) {
  if (!encoder_) return encoder_.status().message();
  if (std::string error = upload(frames); !error.empty()) return error;
  if (const Status status = encoder_->encode_batch(jobs_, stream_); !status)
    return status.message();
  return download(out);
}

std::string DeviceBatch::reserve(std::size_t frame_bytes, std::size_t out_bytes,
                                 std::size_t count) {
  cudaError_t error = cudaSuccess;
  if (stream_ == nullptr) error = cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
  if (error == cudaSuccess && frame_bytes > frame_bytes_)
    error = make<std::uint8_t>(frames_, frame_bytes_ = frame_bytes);
  if (error == cudaSuccess && out_bytes > out_bytes_)
    error = make<std::byte>(out_, out_bytes_ = out_bytes);
  if (error == cudaSuccess && count > count_) error = make<std::size_t>(sizes_, count_ = count);
  return text_of(error, "memory of a batch");
}

/// Frames lie one behind the other without a gap, so that rows begin at any address.
std::string DeviceBatch::upload(std::span<const TestFrame* const> frames) {
  std::vector<std::uint8_t> packed;
  std::size_t out_bytes = 0;
  jobs_.clear();
  std::vector<std::size_t> offsets;
  for (const TestFrame* frame : frames) {
    const ConstFrameView view = frame->view();
    const auto most = max_encoded_bytes(params_, view.format, view.width, view.height);
    if (!most) return most.status().message();
    offsets.insert(offsets.end(), {packed.size(), out_bytes});
    jobs_.push_back({{view.format, view.width, view.height, {}, {}}, nullptr, *most, nullptr});
    const auto samples = frame->packed();
    packed.insert(packed.end(), samples.begin(), samples.end());
    out_bytes += *most;
  }
  if (std::string error = reserve(packed.size(), out_bytes, jobs_.size()); !error.empty())
    return error;
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    DeviceEncodeJob& job = jobs_[i];
    const std::uint8_t* next = frames_.get() + offsets[2 * i];
    for (int p = 0; p < plane_count(job.frame.format); ++p) {
      const auto plane = static_cast<std::size_t>(p);
      job.frame.data[plane] = next;
      job.frame.stride_bytes[plane] = static_cast<std::ptrdiff_t>(frames[i]->row_bytes(p));
      next += frames[i]->row_bytes(p) * static_cast<std::size_t>(frames[i]->rows(p));
    }
    job.out = out_.get() + offsets[2 * i + 1];
    job.size = sizes_.get() + i;
  }
  // The copy has read `packed` when it returns: pageable memory is staged.
  return text_of(
      cudaMemcpyAsync(frames_.get(), packed.data(), packed.size(), cudaMemcpyHostToDevice, stream_),
      "upload of a batch");
}

std::string DeviceBatch::download(std::vector<Bytes>& out) {
  std::vector<std::size_t> sizes(jobs_.size());
  cudaError_t error = cudaMemcpyAsync(sizes.data(), sizes_.get(), sizes.size() * sizeof sizes[0],
                                      cudaMemcpyDeviceToHost, stream_);
  if (error == cudaSuccess) error = cudaStreamSynchronize(stream_);
  out.assign(jobs_.size(), {});
  for (std::size_t i = 0; i < jobs_.size() && error == cudaSuccess; ++i) {
    if (sizes[i] > jobs_[i].capacity) return "a stream is larger than it can be";
    out[i].resize(sizes[i]);
    error = cudaMemcpyAsync(out[i].data(), jobs_[i].out, sizes[i], cudaMemcpyDeviceToHost, stream_);
  }
  if (error == cudaSuccess) error = cudaStreamSynchronize(stream_);
  return text_of(error, "download of a batch");
}

}  // namespace zerorun::test
