// The loader's search first, then the toolkit that the program was built with.
// SPDX-License-Identifier: MIT
#include "apps/bench/peers/nvjpeg_library.hpp"

#include <dlfcn.h>

#include <fmt/core.h>

namespace zerorun::app::bench {
namespace {

void* open_library() {
  const std::string file = fmt::format("libnvjpeg.so.{}", NVJPEG_VER_MAJOR);
  for (const std::string& path : {file, std::string(ZERORUN_CUDA_LIBRARY_DIR) + "/" + file})
    if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
  return nullptr;
}

template <typename Function>
bool find(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  return function != nullptr;
}

bool load(void* handle, NvjpegLibrary& nv) {
  return find(handle, "nvjpegGetProperty", nv.GetProperty) &&
         find(handle, "nvjpegCreateEx", nv.CreateEx) && find(handle, "nvjpegDestroy", nv.Destroy) &&
         find(handle, "nvjpegEncoderStateCreate", nv.EncoderStateCreate) &&
         find(handle, "nvjpegEncoderStateDestroy", nv.EncoderStateDestroy) &&
         find(handle, "nvjpegEncoderParamsCreate", nv.EncoderParamsCreate) &&
         find(handle, "nvjpegEncoderParamsDestroy", nv.EncoderParamsDestroy) &&
         find(handle, "nvjpegEncoderParamsSetQuality", nv.EncoderParamsSetQuality) &&
         find(handle, "nvjpegEncoderParamsSetOptimizedHuffman",
              nv.EncoderParamsSetOptimizedHuffman) &&
         find(handle, "nvjpegEncoderParamsSetSamplingFactors",
              nv.EncoderParamsSetSamplingFactors) &&
         find(handle, "nvjpegEncodeYUV", nv.EncodeYUV) &&
         find(handle, "nvjpegEncodeImage", nv.EncodeImage) &&
         find(handle, "nvjpegEncodeRetrieveBitstream", nv.EncodeRetrieveBitstream) &&
         find(handle, "nvjpegJpegStateCreate", nv.JpegStateCreate) &&
         find(handle, "nvjpegJpegStateDestroy", nv.JpegStateDestroy) &&
         find(handle, "nvjpegDecode", nv.Decode) &&
         find(handle, "nvjpegDecodeBatchedInitialize", nv.DecodeBatchedInitialize) &&
         find(handle, "nvjpegDecodeBatched", nv.DecodeBatched);
}

}  // namespace

std::string NvjpegLibrary::version() const {
  int major = 0, minor = 0, patch = 0;
  GetProperty(MAJOR_VERSION, &major);
  GetProperty(MINOR_VERSION, &minor);
  GetProperty(PATCH_LEVEL, &patch);
  return fmt::format("nvJPEG {}.{}.{}", major, minor, patch);
}

Result<const NvjpegLibrary*> nvjpeg_library() {
  static const NvjpegLibrary* const library = []() -> const NvjpegLibrary* {
    static NvjpegLibrary functions{};
    void* const handle = open_library();  // kept to the end of the process
    return handle != nullptr && load(handle, functions) ? &functions : nullptr;
  }();
  if (library == nullptr)
    return Status(Errc::not_built, fmt::format("libnvjpeg.so.{} was not found", NVJPEG_VER_MAJOR));
  return library;
}

Result<std::shared_ptr<NvjpegHandle>> NvjpegHandle::create(nvjpegBackend_t backend) {
  const auto library = nvjpeg_library();
  if (!library) return library.status();
  auto made = std::make_shared<NvjpegHandle>(**library);
  ZR_NVJPEG_TRY(made->api.CreateEx(backend, nullptr, nullptr, 0, &made->handle));
  return made;
}

nvjpegImage_t nvjpeg_image(const FrameView& frame) noexcept {
  nvjpegImage_t image{};
  for (int p = 0; p < plane_count(frame.format); ++p) {
    const auto plane = static_cast<std::size_t>(p);
    image.channel[p] = frame.data[plane];
    image.pitch[p] = static_cast<std::size_t>(frame.stride_bytes[plane]);
  }
  return image;
}

bool nvjpeg_takes(PixelFormat format) noexcept {
  return is_planar_yuv(format) || format == PixelFormat::rgb24 || format == PixelFormat::bgr24;
}

Status nvjpeg_failure(nvjpegStatus_t status, const char* call) {
  return Status(Errc::device_failure,
                fmt::format("{} returned {}", call, static_cast<int>(status)));
}

}  // namespace zerorun::app::bench
