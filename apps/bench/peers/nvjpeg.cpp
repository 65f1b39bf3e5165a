// Loads nvJPEG: by the loader's search path, else from the toolkit that the program was built with.
// SPDX-License-Identifier: MIT
#include "apps/bench/peers/nvjpeg.hpp"

#include <dlfcn.h>

#include <fmt/core.h>

#include <map>
#include <type_traits>
#include <utility>

namespace zerorun::app::bench {
namespace {

void* open_library() {
  const std::string file = fmt::format("libnvjpeg.so.{}", NVJPEG_VER_MAJOR);
  for (const std::string& path : {file, std::string(ZERORUN_CUDA_LIBRARY_DIR) + "/" + file})
    if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
  return nullptr;
}

bool load(void* handle, NvjpegLibrary& library) {
  const auto find = [handle](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
    return function != nullptr;
  };
  bool complete = true;
#define ZR_NVJPEG_FIND(name) complete &= find("nvjpeg" #name, library.name)
  ZR_NVJPEG_FUNCTIONS(ZR_NVJPEG_FIND);
#undef ZR_NVJPEG_FIND
  return complete;
}

}  // namespace

std::string NvjpegLibrary::version() const {
  int major = 0, minor = 0, patch = 0;
  GetProperty(MAJOR_VERSION, &major);
  GetProperty(MINOR_VERSION, &minor);
  GetProperty(PATCH_LEVEL, &patch);
  return fmt::format("nvJPEG {}.{}.{}", major, minor, patch);
}

Result<const NvjpegHandle*> NvjpegHandle::of(int device, nvjpegBackend_t backend) {
  static const NvjpegLibrary* const library = []() -> const NvjpegLibrary* {
    static NvjpegLibrary functions{};
    void* const opened = open_library();  // kept to the end of the process
    return opened != nullptr && load(opened, functions) ? &functions : nullptr;
  }();
  if (library == nullptr)
    return Status(Errc::not_built, fmt::format("libnvjpeg.so.{} was not found", NVJPEG_VER_MAJOR));
  static std::map<std::pair<int, nvjpegBackend_t>, NvjpegHandle> made;
  ZR_CUDA_TRY(cudaSetDevice(device));
  const auto [place, is_new] =
      made.try_emplace({device, backend}, *library, nullptr, NVJPEG_STATUS_SUCCESS);
  NvjpegHandle& kept = place->second;
  if (is_new) kept.status = library->CreateEx(backend, nullptr, nullptr, 0, &kept.handle);
  if (kept.status != NVJPEG_STATUS_SUCCESS) return nvjpeg_failure(kept.status, "nvjpegCreateEx");
  return &kept;
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

Status nvjpeg_failure(nvjpegStatus_t status, const char* call) {
  return Status(Errc::device_failure,
                fmt::format("{} returned {}", call, static_cast<int>(status)));
}

Status add_nvjpeg(const Setting& setting, Coders& coders) {
  if (!is_planar_or_rgb(setting.what.pixels))
    return leave_out(setting, "nvJPEG: it does not take this pixel format");
  for (const int device : setting.selection.cuda)
    ZR_TRY(setting.what.encodes() ? add_nvjpeg_encoder(setting, device, coders)
                                  : add_nvjpeg_decoders(setting, device, coders));
  return Status::ok();
}

}  // namespace zerorun::app::bench
