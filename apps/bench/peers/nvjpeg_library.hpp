// nvJPEG, loaded when it is asked for: the program runs where it is not installed.
// SPDX-License-Identifier: MIT
#pragma once

#include <nvjpeg.h>

#include <memory>
#include <string>

#include "zerorun/frame.hpp"

namespace zerorun::app::bench {

/// The functions that the benchmark calls, by their names in nvjpeg.h.
struct NvjpegLibrary {
  decltype(&::nvjpegGetProperty) GetProperty;
  decltype(&::nvjpegCreateEx) CreateEx;
  decltype(&::nvjpegDestroy) Destroy;
  decltype(&::nvjpegEncoderStateCreate) EncoderStateCreate;
  decltype(&::nvjpegEncoderStateDestroy) EncoderStateDestroy;
  decltype(&::nvjpegEncoderParamsCreate) EncoderParamsCreate;
  decltype(&::nvjpegEncoderParamsDestroy) EncoderParamsDestroy;
  decltype(&::nvjpegEncoderParamsSetQuality) EncoderParamsSetQuality;
  decltype(&::nvjpegEncoderParamsSetOptimizedHuffman) EncoderParamsSetOptimizedHuffman;
  decltype(&::nvjpegEncoderParamsSetSamplingFactors) EncoderParamsSetSamplingFactors;
  decltype(&::nvjpegEncodeYUV) EncodeYUV;
  decltype(&::nvjpegEncodeImage) EncodeImage;
  decltype(&::nvjpegEncodeRetrieveBitstream) EncodeRetrieveBitstream;
  decltype(&::nvjpegJpegStateCreate) JpegStateCreate;
  decltype(&::nvjpegJpegStateDestroy) JpegStateDestroy;
  decltype(&::nvjpegDecode) Decode;
  decltype(&::nvjpegDecodeBatchedInitialize) DecodeBatchedInitialize;
  decltype(&::nvjpegDecodeBatched) DecodeBatched;

  std::string version() const;  ///< "nvJPEG 13.0.1"
};

/// Errors: not_built, when no libnvjpeg.so of this toolkit's major version is found.
Result<const NvjpegLibrary*> nvjpeg_library();

/// A library handle of the current device; shared by lanes.
class NvjpegHandle {
 public:
  static Result<std::shared_ptr<NvjpegHandle>> create(nvjpegBackend_t backend);
  explicit NvjpegHandle(const NvjpegLibrary& library) : api(library) {}
  ~NvjpegHandle() {
    if (handle != nullptr) api.Destroy(handle);
  }
  NvjpegHandle(const NvjpegHandle&) = delete;
  NvjpegHandle& operator=(const NvjpegHandle&) = delete;

  const NvjpegLibrary& api;
  nvjpegHandle_t handle = nullptr;
};

/// A frame in device memory as nvJPEG wants it.
nvjpegImage_t nvjpeg_image(const FrameView& frame) noexcept;

/// Planar YCbCr, rgb24 and bgr24.
bool nvjpeg_takes(PixelFormat format) noexcept;

/// device_failure, naming the call.
Status nvjpeg_failure(nvjpegStatus_t status, const char* call);

}  // namespace zerorun::app::bench

/// Returns from the function with a Status if the nvJPEG call fails.
#define ZR_NVJPEG_TRY(call)                                           \
  do {                                                                \
    if (const nvjpegStatus_t zr_status = (call); zr_status != 0)      \
      return ::zerorun::app::bench::nvjpeg_failure(zr_status, #call); \
  } while (false)
