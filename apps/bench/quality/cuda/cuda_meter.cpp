// The order of the kernels that measure a picture, and their memory. One stream; a picture is
// uploaded once, and all sums come back in one copy.
// SPDX-License-Identifier: MIT
#include "apps/bench/quality/cuda/cuda_meter.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "apps/bench/measure/cuda_memory.hpp"
#include "apps/bench/quality/cuda/kernels.hpp"

namespace zerorun::rd {
namespace {

using app::bench::CudaArray;
using app::bench::CudaMemory;
using app::bench::make_stream;
using app::bench::StreamOwner;

constexpr std::size_t kSums = sizeof(ScoreSums) / sizeof(double);
static_assert(sizeof(ScoreSums) ==
              sizeof(double) * (2 + 2 * kMsSsimScales + 18 * kSsimulacra2Scales));

std::int64_t pixels_of(const std::vector<Size>& sizes) {
  std::int64_t sum = 0;
  for (const Size& size : sizes) sum += static_cast<std::int64_t>(size.pixels());
  return sum;
}

/// All scales of a picture, one behind another.
struct Scales {
  CudaArray<float> luma, xyb;  ///< xyb: [3][height][width] of each scale
};

class KernelMeter final : public CudaMeter {
 public:
  explicit KernelMeter(int device) : device_(device) {}

  Status open() {
    ZR_CUDA_TRY(cudaSetDevice(device_));
    ZR_TRY(make_stream(stream_));
    ZR_TRY(linear_table_.allocate(1, CudaMemory::device));
    ZR_TRY(hvs_tables_.allocate(1, CudaMemory::device));
    ZR_TRY(sums_.allocate(kSums, CudaMemory::device));
    ZR_TRY(result_.allocate(1, CudaMemory::pinned));
    const LinearTable linear = linear_table();
    const HvsTables hvs = hvs_tables();
    ZR_CUDA_TRY(cudaMemcpyAsync(linear_table_.data(), &linear, sizeof linear,
                                cudaMemcpyHostToDevice, stream_.get()));
    ZR_CUDA_TRY(cudaMemcpyAsync(hvs_tables_.data(), &hvs, sizeof hvs, cudaMemcpyHostToDevice,
                                stream_.get()));
    ZR_CUDA_TRY(cudaStreamSynchronize(stream_.get()));
    return Status::ok();
  }

  Status set_original(const Image& original) override {
    ZR_CUDA_TRY(cudaSetDevice(device_));
    size_ = {};  // until everything is there
    const Size size{original.width, original.height};
    luma_sizes_ = ms_ssim_scales(size);
    xyb_sizes_ = ssimulacra2_scales(size);
    ZR_TRY(reserve(size));
    ZR_TRY(upload(original, size, original_));
    ZR_CUDA_TRY(cudaStreamSynchronize(stream_.get()));
    size_ = size;
    return Status::ok();
  }

  Result<ScoreSums> sums(const Image& distorted) override {
    if (Size{distorted.width, distorted.height} != size_)
      return Status(Errc::invalid_argument, "the picture has not the size of its original");
    ZR_CUDA_TRY(cudaSetDevice(device_));
    ZR_TRY(upload(distorted, size_, distorted_));
    ZR_CUDA_TRY(cudaMemsetAsync(sums_.data(), 0, sizeof(ScoreSums), stream_.get()));
    ZR_TRY(add_luma());
    ZR_TRY(add_xyb());
    ZR_CUDA_TRY(cudaMemcpyAsync(result_.data(), sums_.data(), sizeof(ScoreSums),
                                cudaMemcpyDeviceToHost, stream_.get()));
    ZR_CUDA_TRY(cudaStreamSynchronize(stream_.get()));
    return *result_.data();
  }

 private:
  /// 61 bytes a pixel: planes of both pictures 43, linear light 15, RGB 3, partial sums 0.3.
  Status reserve(Size size) {
    const auto reserve_at = [](auto& array, std::int64_t count) {
      return array.reserve(static_cast<std::size_t>(count), CudaMemory::device);
    };
    const auto pixels = static_cast<std::int64_t>(size.pixels());
    // Pixels become XYB at full size, even where SSIMULACRA2 has no scale.
    const std::int64_t xyb = 3 * std::max(pixels, pixels_of(xyb_sizes_));
    for (Scales* scales : {&original_, &distorted_}) {
      ZR_TRY(reserve_at(scales->luma, pixels_of(luma_sizes_)));
      ZR_TRY(reserve_at(scales->xyb, xyb));
    }
    ZR_TRY(reserve_at(rgb_, 3 * pixels));
    ZR_TRY(reserve_at(linear_[0], 3 * pixels));
    if (xyb_sizes_.size() > 1)
      ZR_TRY(reserve_at(linear_[1], 3 * static_cast<std::int64_t>(xyb_sizes_[1].pixels())));
    return reserve_at(partial_, partial_sums(size));
  }

  /// Enqueues the upload and the planes of all scales.
  Status upload(const Image& image, Size size, const Scales& scales) {
    const std::size_t bytes = 3 * size.pixels();
    ZR_CUDA_TRY(cudaMemcpyAsync(rgb_.data(), image.rgb.data(), bytes, cudaMemcpyHostToDevice,
                                stream_.get()));
    const FirstPlanes first{rgb_.data(),
                            linear_table_.data(),
                            root_,
                            static_cast<std::int64_t>(size.pixels()),
                            scales.luma.data(),
                            linear_[0].data(),
                            scales.xyb.data()};
    ZR_TRY(make_first_planes(first, stream_.get()));
    ZR_TRY(halve_luma(scales.luma.data()));
    return halve_xyb(scales.xyb.data());
  }

  Status halve_luma(float* plane) {
    for (std::size_t scale = 1; scale < luma_sizes_.size(); ++scale) {
      const Size size = luma_sizes_[scale - 1];
      float* const next = plane + size.pixels();
      ZR_TRY(halve(plane, size, next, luma_sizes_[scale], stream_.get()));
      plane = next;
    }
    return Status::ok();
  }

  /// Linear light goes to and fro between two buffers; the second holds every other scale.
  Status halve_xyb(float* xyb) {
    for (std::size_t scale = 1; scale < xyb_sizes_.size(); ++scale) {
      xyb += 3 * xyb_sizes_[scale - 1].pixels();
      ZR_TRY(halve_linear({linear_[(scale - 1) % 2].data(), xyb_sizes_[scale - 1],
                           xyb_sizes_[scale], linear_[scale % 2].data(), xyb, root_},
                          stream_.get()));
    }
    return Status::ok();
  }

  Status add_luma() {
    const PartialSums partial{partial_.data(), stream_.get()};
    PlanePair luma{original_.luma.data(), distorted_.luma.data(), size_.width, size_.height};
    double* const sums = sums_.data();
    ZR_TRY(add_squares(luma, partial, sums + offsetof(ScoreSums, squares) / sizeof(double)));
    ZR_TRY(add_masked(luma, hvs_tables_.data(), partial,
                      sums + offsetof(ScoreSums, masked) / sizeof(double)));
    double* out = sums + offsetof(ScoreSums, ssim) / sizeof(double);
    for (const Size size : luma_sizes_) {
      luma.width = size.width, luma.height = size.height;
      ZR_TRY(add_similarities(luma, partial, out));
      luma.a += size.pixels();
      luma.b += size.pixels();
      out += sizeof(SsimSums) / sizeof(double);
    }
    return Status::ok();
  }

  Status add_xyb() {
    const PartialSums partial{partial_.data(), stream_.get()};
    PlanePair xyb{original_.xyb.data(), distorted_.xyb.data(), 0, 0};
    double* out = sums_.data() + offsetof(ScoreSums, features) / sizeof(double);
    for (const Size size : xyb_sizes_) {
      xyb.width = size.width, xyb.height = size.height;
      ZR_TRY(add_feature_errors(xyb, partial, out));
      xyb.a += 3 * size.pixels();
      xyb.b += 3 * size.pixels();
      out += 3 * sizeof(FeatureSums) / sizeof(double);
    }
    return Status::ok();
  }

  const int device_;
  const float root_ = xyb_root();
  StreamOwner stream_;
  Size size_;  ///< of the original
  std::vector<Size> luma_sizes_, xyb_sizes_;
  CudaArray<LinearTable> linear_table_;
  CudaArray<HvsTables> hvs_tables_;
  CudaArray<std::uint8_t> rgb_;
  CudaArray<float> linear_[2];  ///< [3][height][width]
  Scales original_, distorted_;
  CudaArray<double> partial_, sums_;
  CudaArray<ScoreSums> result_;  ///< in pinned memory
};

}  // namespace

Result<std::unique_ptr<CudaMeter>> make_cuda_meter(int device) {
  auto meter = std::make_unique<KernelMeter>(device);
  ZR_TRY(meter->open());
  return std::unique_ptr<CudaMeter>(std::move(meter));
}

}  // namespace zerorun::rd
