// The C interface: what has no handle, what every function for device memory says in a build
// without CUDA, and the proof that its choices are those of C++. The test
// CApi.EveryCodeHasTheNumberOfItsName proves it for the error codes.
// SPDX-License-Identifier: MIT
#include "codec/base/cuda_device.hpp"
#include "codec/base/try.hpp"
#include "codec/capi/convert.hpp"

using namespace zerorun;
using namespace zerorun::capi;

namespace {

template <typename Enum>
constexpr bool same(int c, Enum cpp) {
  return c == static_cast<int>(cpp);
}
/// 0 is "as the frame".
constexpr bool same(int c, Subsampling cpp) { return c - 1 == static_cast<int>(cpp); }
static_assert(
    same(ZERORUN_GRAY8, PixelFormat::gray8) && same(ZERORUN_YUV420P, PixelFormat::yuv420p) &&
    same(ZERORUN_YUV422P, PixelFormat::yuv422p) && same(ZERORUN_YUV444P, PixelFormat::yuv444p) &&
    same(ZERORUN_YUV440P, PixelFormat::yuv440p) && same(ZERORUN_YUV411P, PixelFormat::yuv411p) &&
    same(ZERORUN_NV12, PixelFormat::nv12) && same(ZERORUN_NV21, PixelFormat::nv21) &&
    same(ZERORUN_YUYV, PixelFormat::yuyv) && same(ZERORUN_UYVY, PixelFormat::uyvy) &&
    same(ZERORUN_RGB24, PixelFormat::rgb24) && same(ZERORUN_BGR24, PixelFormat::bgr24) &&
    same(ZERORUN_RGBX32, PixelFormat::rgbx32) && same(ZERORUN_BGRX32, PixelFormat::bgrx32) &&
    same(ZERORUN_XRGB32, PixelFormat::xrgb32) && same(ZERORUN_XBGR32, PixelFormat::xbgr32) &&
    same(ZERORUN_CMYK32, PixelFormat::cmyk32) && kPixelFormatCount == 16);

static_assert(same(ZERORUN_SUBSAMPLING_444, Subsampling::s444) &&
              same(ZERORUN_SUBSAMPLING_422, Subsampling::s422) &&
              same(ZERORUN_SUBSAMPLING_420, Subsampling::s420) &&
              same(ZERORUN_SUBSAMPLING_440, Subsampling::s440) &&
              same(ZERORUN_SUBSAMPLING_411, Subsampling::s411) &&
              same(ZERORUN_SUBSAMPLING_GRAY, Subsampling::gray));
static_assert(same(ZERORUN_COLOR_GRAY, ColorModel::gray) &&
              same(ZERORUN_COLOR_YCBCR, ColorModel::ycbcr) &&
              same(ZERORUN_COLOR_RGB, ColorModel::rgb) &&
              same(ZERORUN_COLOR_CMYK, ColorModel::cmyk) &&
              same(ZERORUN_COLOR_INVERTED_CMYK, ColorModel::inverted_cmyk) &&
              same(ZERORUN_COLOR_YCCK, ColorModel::ycck));
static_assert(same(ZERORUN_BACKEND_AUTOMATIC, Backend::automatic) &&
              same(ZERORUN_BACKEND_CPU, Backend::cpu) && same(ZERORUN_BACKEND_CUDA, Backend::cuda));
static_assert(same(ZERORUN_HUFFMAN_STANDARD, HuffmanTables::standard) &&
              same(ZERORUN_HUFFMAN_OPTIMAL, HuffmanTables::optimal) &&
              same(ZERORUN_HUFFMAN_TRAINED, HuffmanTables::trained));
static_assert(same(ZERORUN_TUNE_EXACT, Tune::exact) && same(ZERORUN_TUNE_PHOTO, Tune::photo) &&
              same(ZERORUN_TUNE_TEXT, Tune::text) && same(ZERORUN_TUNE_PSNR, Tune::psnr));
static_assert(same(ZERORUN_EFFORT_FAST, Effort::fast) && same(ZERORUN_EFFORT_BEST, Effort::best));
static_assert(same(ZERORUN_TABLES_AUTOMATIC, QuantTables::automatic) &&
              same(ZERORUN_TABLES_ANNEX_K, QuantTables::annex_k) &&
              same(ZERORUN_TABLES_FLAT, QuantTables::flat) &&
              same(ZERORUN_TABLES_FFMPEG, QuantTables::ffmpeg) &&
              same(ZERORUN_TABLES_TUNED, QuantTables::tuned));

}  // namespace

const char* zerorun_version(void) { return version(); }

const char* zerorun_status_name(zerorun_status code) {
  if (code == ZERORUN_NOT_YET) return "not_yet";
  if (code == ZERORUN_END) return "end";
  if (code < 0 || code > 0xFFFF) return "unknown";
  const auto text = name(static_cast<Errc>(code));  // of a literal, so it ends with 0
  return code != 0 && text == name(Errc::ok) ? "unknown" : text.data();
}

zerorun_status zerorun_inspect(const void* jpeg, std::size_t size, zerorun_info* info,
                               zerorun_error* error) {
  return reported(error, [&]() -> Status {
    if (info == nullptr || (jpeg == nullptr && size > 0)) return null_argument("jpeg or info");
    ZR_TRY(check_size(*info, "zerorun_info"));
    ZR_LET(found, inspect({static_cast<const std::byte*>(jpeg), size}));
    zerorun_info out{};
    out.width = found.width;
    out.height = found.height;
    out.components = static_cast<std::int32_t>(found.components.size());
    if (found.subsampling) out.subsampling = static_cast<std::int32_t>(*found.subsampling) + 1;
    out.rgb = found.color == ColorModel::rgb;
    out.extended = found.extended;
    out.progressive = found.progressive;
    out.color = static_cast<std::int32_t>(found.color);
    out.restart_interval_mcus = found.restart_interval_mcus;
    out.quality = found.quality.value_or(0);
    out.exif_orientation = found.exif_orientation;
    out.pixel_aspect_x = found.pixel_aspect_x;
    out.pixel_aspect_y = found.pixel_aspect_y;
    out.header_bytes = found.header_bytes;
    write_struct(out, info);
    return Status::ok();
  });
}

zerorun_status zerorun_check_device(std::int32_t device, zerorun_error* error) {
  return reported(error, [&] { return resolve_backend(Backend::cuda, device).status(); });
}

zerorun_status zerorun_allocate_pinned(std::size_t size, void** memory, zerorun_error* error) {
  if (memory != nullptr) *memory = nullptr;
  return reported(error, [&]() -> Status {
    if (memory == nullptr) return null_argument("memory");
    ZR_LET(allocated, allocate_pinned(size > 0 ? size : 1));
    *memory = allocated;
    return Status::ok();
  });
}

void zerorun_free_pinned(void* memory) {
  if (memory != nullptr) release_pinned(static_cast<std::byte*>(memory));
}

#ifndef ZERORUN_HAVE_CUDA  // else cuda/{encode,decode}/device_*.cpp

namespace {

template <typename Handle>
zerorun_status refuse(Handle** out, zerorun_error* error) {
  if (out != nullptr) *out = nullptr;
  return reported(error, [] { return Status(Errc::cuda_not_built); });
}

}  // namespace

zerorun_status zerorun_device_encoder_create(const zerorun_encode_params*,
                                             zerorun_device_encoder** out, zerorun_error* error) {
  return refuse(out, error);
}
void zerorun_device_encoder_destroy(zerorun_device_encoder*) {}
zerorun_status zerorun_device_encoder_encode(zerorun_device_encoder*, const zerorun_frame*,
                                             std::uint8_t*, std::size_t, std::size_t*, void*) {
  return ZERORUN_CUDA_NOT_BUILT;
}
zerorun_status zerorun_device_encoder_encode_batch(zerorun_device_encoder*, std::size_t,
                                                   const zerorun_frame* const*,
                                                   std::uint8_t* const*, const std::size_t*,
                                                   std::size_t* const*, void*) {
  return ZERORUN_CUDA_NOT_BUILT;
}
zerorun_status zerorun_device_encoder_encode_to_host(zerorun_device_encoder*, std::size_t,
                                                     const zerorun_frame* const*,
                                                     zerorun_stream_memory, void*, void*) {
  return ZERORUN_CUDA_NOT_BUILT;
}
const zerorun_error* zerorun_device_encoder_error(const zerorun_device_encoder*) { return nullptr; }

zerorun_status zerorun_device_decoder_select(zerorun_device_decoder*, int32_t,
                                             const zerorun_region*) {
  return ZERORUN_CUDA_NOT_BUILT;
}
zerorun_status zerorun_device_decoder_create(const zerorun_decode_params*,
                                             zerorun_device_decoder** out, zerorun_error* error) {
  return refuse(out, error);
}
void zerorun_device_decoder_destroy(zerorun_device_decoder*) {}
zerorun_status zerorun_device_decoder_decode(zerorun_device_decoder*, const void*, std::size_t,
                                             const zerorun_frame*, void*, zerorun_decode_report*) {
  return ZERORUN_CUDA_NOT_BUILT;
}
zerorun_status zerorun_device_decoder_decode_device(zerorun_device_decoder*, const void*,
                                                    std::size_t, const zerorun_frame*, void*,
                                                    zerorun_decode_report*) {
  return ZERORUN_CUDA_NOT_BUILT;
}
const zerorun_error* zerorun_device_decoder_error(const zerorun_device_decoder*) { return nullptr; }

#endif  // ZERORUN_HAVE_CUDA
