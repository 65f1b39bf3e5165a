// cv::Mat and cv::cuda::GpuMat as frames, without a copy. Header-only: needs OpenCV's core only.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <vector>

#include <opencv2/core.hpp>
#include <opencv2/core/cuda.hpp>

#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"
#include "zerorun/frame.hpp"
#include "zerorun/status.hpp"

namespace zerorun::opencv {

namespace detail {

inline std::string type_name(int type) {
  constexpr const char* kDepths[] = {"8U", "8S", "16U", "16S", "32S", "32F", "64F", "16F"};
  return std::string("CV_") + kDepths[CV_MAT_DEPTH(type)] + "C" + std::to_string(CV_MAT_CN(type));
}

/// Channels of a matrix in this format; 1 for formats with planes.
inline int channels(PixelFormat format) noexcept {
  if (format == PixelFormat::yuyv || format == PixelFormat::uyvy) return 2;
  if (!is_rgb(format)) return 1;
  return format == PixelFormat::rgb24 || format == PixelFormat::bgr24 ? 3 : 4;
}

/// OpenCV's usual meaning of a matrix type: grey, BGR, BGRA.
inline Result<PixelFormat> usual_format(int type) {
  if (type == CV_8UC1) return PixelFormat::gray8;
  if (type == CV_8UC3) return PixelFormat::bgr24;
  if (type == CV_8UC4) return PixelFormat::bgrx32;
  return Status(Errc::invalid_frame, "a matrix of type " + type_name(type) +
                                         " cannot be coded as JPEG; convert it to CV_8UC1, CV_8UC3 "
                                         "or CV_8UC4 (Mat::convertTo)");
}

/// The chroma rows lie below the luma rows, as from cv::COLOR_BGR2YUV_I420 and cameras.
template <typename Byte, typename Matrix>
Result<BasicFrameView<Byte>> stacked_view(const Matrix& m, PixelFormat format) {
  if (m.rows % 3 != 0 || m.cols % 2 != 0)
    return Status(Errc::invalid_frame,
                  "a 4:2:0 matrix has an even width and 3/2 rows for each of an even height");
  BasicFrameView<Byte> view{format, m.cols, m.rows / 3 * 2, {}, {}};
  const auto step = static_cast<std::ptrdiff_t>(m.step);
  view.data[0] = m.data;
  view.data[1] = m.data + step * view.height;
  view.stride_bytes = {step, step, 0};
  if (format == PixelFormat::yuv420p) {  // two chroma rows share a row of the matrix
    if (step != m.cols)
      return Status(Errc::invalid_frame, "an I420 matrix has to be continuous (Mat::clone)");
    view.stride_bytes = {step, step / 2, step / 2};
    view.data[2] = view.data[1] + step / 2 * (view.height / 2);
  }
  return view;
}

template <typename Byte, typename Matrix>
Result<BasicFrameView<Byte>> view_as(const Matrix& m, PixelFormat format) {
  if (m.data == nullptr || m.rows < 1 || m.cols < 1)
    return Status(Errc::invalid_frame, "the matrix is empty or has more than two dimensions");
  if (m.type() != CV_MAKETYPE(CV_8U, channels(format)))
    return Status(Errc::invalid_frame, std::string(name(format)) + " needs a matrix of type " +
                                           type_name(CV_MAKETYPE(CV_8U, channels(format))) +
                                           ", this one is " + type_name(m.type()));
  if (format == PixelFormat::yuv420p || format == PixelFormat::nv12 || format == PixelFormat::nv21)
    return stacked_view<Byte>(m, format);
  if (plane_count(format) > 1)
    return Status(Errc::invalid_frame, std::string(name(format)) +
                                           " has no layout as one matrix; fill a ConstFrameView");
  if (channels(format) == 2 && m.cols % 2 != 0)
    return Status(Errc::invalid_frame, "a 4:2:2 matrix has an even width");
  const auto step = static_cast<std::ptrdiff_t>(m.step);
  BasicFrameView<Byte> view{format, m.cols, m.rows, {m.data, nullptr, nullptr}, {step, 0, 0}};
  if (Status status = validate(view); !status) return status;
  return view;
}

template <typename Byte, typename Matrix>
Result<BasicFrameView<Byte>> view_as(const Matrix& m) {
  const Result<PixelFormat> format = usual_format(m.type());
  if (!format) return format.status();
  return view_as<Byte>(m, *format);
}

}  // namespace detail

/// A matrix of any step as a frame. `format` says what its channels are: gray8, RGB or BGR, yuyv or
/// uyvy (CV_8UC2), or in the layout of OpenCV's converters yuv420p (I420), nv12 or nv21 (CV_8UC1,
/// 3/2 as many rows). YCbCr has to be full range: do not use cv::cvtColor's *_YUV_* conversions,
/// which are limited range, or COLOR_*2YCrCb, which has another order; pass BGR instead.
/// The view is valid as long as the matrix keeps its memory. Errors: invalid_frame.
inline Result<ConstFrameView> frame_view(const cv::Mat& picture, PixelFormat format) {
  return detail::view_as<const std::uint8_t>(picture, format);
}

/// The same with OpenCV's usual meaning of the type: CV_8UC1 is grey, CV_8UC3 BGR, CV_8UC4 BGRA.
/// Alpha is ignored.
inline Result<ConstFrameView> frame_view(const cv::Mat& picture) {
  return detail::view_as<const std::uint8_t>(picture);
}

/// A matrix to decode into.
inline Result<FrameView> writable_view(cv::Mat& picture, PixelFormat format) {
  return detail::view_as<std::uint8_t>(picture, format);
}
inline Result<FrameView> writable_view(cv::Mat& picture) {
  return detail::view_as<std::uint8_t>(picture);
}

/// Device memory, for DeviceEncoder::encode() and DeviceDecoder::decode().
inline Result<FrameView> device_view(const cv::cuda::GpuMat& picture, PixelFormat format) {
  return detail::view_as<std::uint8_t>(picture, format);
}
inline Result<FrameView> device_view(const cv::cuda::GpuMat& picture) {
  return detail::view_as<std::uint8_t>(picture);
}

/// Does what cv::imencode(".jpg", picture, buffer) does: encodes grey, BGR or BGRA.
/// Errors: invalid_frame, and those of Encoder::encode().
inline Result<EncodeReport> encode_to_buffer(Encoder& encoder, const cv::Mat& picture,
                                             std::vector<uchar>& buffer) {
  const Result<ConstFrameView> view = frame_view(picture);
  if (!view) return view.status();
  std::vector<std::byte> jpeg;
  const Result<EncodeReport> report = encoder.encode(*view, jpeg);
  if (!report) return report;
  try {
    const auto* bytes = reinterpret_cast<const uchar*>(jpeg.data());
    buffer.assign(bytes, bytes + jpeg.size());
  } catch (const std::bad_alloc&) {
    return Status(Errc::out_of_memory, "a buffer for the stream");
  }
  return report;
}

/// Does what cv::imdecode() does: `picture` gets the size of the image (its memory is kept if it
/// fits) and the type CV_8UC1 (grey), CV_8UC3 (BGR) or CV_8UC4 (BGR and 255). EXIF orientation is
/// not applied; StreamInfo tells it. Errors: invalid_argument, out_of_memory, those of inspect()
/// and Decoder::decode().
inline Result<DecodeReport> decode_to_mat(Decoder& decoder, std::span<const std::byte> jpeg,
                                          cv::Mat& picture, int type = CV_8UC3) {
  if (type != CV_8UC1 && type != CV_8UC3 && type != CV_8UC4)
    return Status(Errc::invalid_argument, "JPEG is decoded to CV_8UC1, CV_8UC3 or CV_8UC4");
  const Result<StreamInfo> info = inspect(jpeg, decoder.params().limits);
  if (!info) return info.status();
  try {
    picture.create(info->height, info->width, type);
  } catch (const std::exception&) {
    return Status(Errc::out_of_memory, "a matrix for the image");
  }
  const Result<FrameView> view = writable_view(picture);
  if (!view) return view.status();
  return decoder.decode(jpeg, *view);
}

}  // namespace zerorun::opencv
