// nvJPEG, loaded when it is asked for: the program runs where it is not installed.
// SPDX-License-Identifier: MIT
#pragma once

#include <nvjpeg.h>

#include <string>

#include "apps/bench/measure/device.hpp"

namespace zerorun::app::bench {

/// The functions that the benchmark calls, without the prefix nvjpeg.
#define ZR_NVJPEG_FUNCTIONS(X)         \
  X(GetProperty);                      \
  X(CreateEx);                         \
  X(EncoderStateCreate);               \
  X(EncoderStateDestroy);              \
  X(EncoderParamsCreate);              \
  X(EncoderParamsDestroy);             \
  X(EncoderParamsSetQuality);          \
  X(EncoderParamsSetOptimizedHuffman); \
  X(EncoderParamsSetSamplingFactors);  \
  X(EncodeYUV);                        \
  X(EncodeImage);                      \
  X(EncodeRetrieveBitstream);          \
  X(JpegStateCreate);                  \
  X(JpegStateDestroy);                 \
  X(Decode);                           \
  X(DecodeBatchedInitialize);          \
  X(DecodeBatched)

struct NvjpegLibrary {
#define ZR_NVJPEG_MEMBER(name) decltype(&::nvjpeg##name) name
  ZR_NVJPEG_FUNCTIONS(ZR_NVJPEG_MEMBER);
#undef ZR_NVJPEG_MEMBER

  std::string version() const;  ///< "nvJPEG 13.0.1"
};

struct NvjpegHandle {
  const NvjpegLibrary& api;
  nvjpegHandle_t handle;
  nvjpegStatus_t status;

  /// The library's handle of a backend for a device. The first call makes it and keeps it until the
  /// process ends, for all cases: a row of one frame took 1.7 s when each made those of all
  /// backends anew, and takes 0.6 (H200). Not thread-safe. Errors: not_built, when no libnvjpeg.so
  /// of this toolkit's major version is found.
  static Result<const NvjpegHandle*> of(int device, nvjpegBackend_t backend);
};

/// A frame in device memory as nvJPEG wants it.
nvjpegImage_t nvjpeg_image(const FrameView& frame) noexcept;

Status add_nvjpeg_encoder(const Setting& setting, int device, Coders& coders);
Status add_nvjpeg_decoders(const Setting& setting, int device, Coders& coders);

/// device_failure, naming the call.
Status nvjpeg_failure(nvjpegStatus_t status, const char* call);

}  // namespace zerorun::app::bench

/// Returns from the function with a Status if the nvJPEG call fails.
#define ZR_NVJPEG_TRY(call)                                           \
  do {                                                                \
    if (const nvjpegStatus_t zr_status = (call); zr_status != 0)      \
      return ::zerorun::app::bench::nvjpeg_failure(zr_status, #call); \
  } while (false)
