// Owners of FFmpeg's C types, FFmpeg's errors as Status, and what differs from FFmpeg 5.1 to 8.
// Only io/ffmpeg includes this file.
// SPDX-License-Identifier: MIT
#pragma once

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavcodec/bsf.h>
#include <libavformat/avformat.h>
#include <libavutil/display.h>
#include <libavutil/pixdesc.h>
#include <libavutil/stereo3d.h>
#include <libswscale/swscale.h>
}
#include <dlfcn.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "codec/base/interruptions.hpp"
#include "zerorun/content.hpp"

namespace zerorun::io::av {

struct Release {
  void operator()(AVPacket* p) const noexcept { av_packet_free(&p); }
  void operator()(AVFrame* p) const noexcept { av_frame_free(&p); }
  void operator()(AVCodecContext* p) const noexcept { avcodec_free_context(&p); }
  void operator()(AVFormatContext* p) const noexcept { avformat_close_input(&p); }
  void operator()(AVBSFContext* p) const noexcept { av_bsf_free(&p); }
  void operator()(SwsContext* p) const noexcept { sws_freeContext(p); }
  void operator()(AVStereo3D* p) const noexcept { av_free(p); }
};
using PacketPtr = std::unique_ptr<AVPacket, Release>;
using FramePtr = std::unique_ptr<AVFrame, Release>;
using CodecPtr = std::unique_ptr<AVCodecContext, Release>;
using InputPtr = std::unique_ptr<AVFormatContext, Release>;
using FilterPtr = std::unique_ptr<AVBSFContext, Release>;
using ScalerPtr = std::unique_ptr<SwsContext, Release>;

/// AVDictionary that frees itself.
class Dictionary {
 public:
  Dictionary() = default;
  Dictionary(const Dictionary&) = delete;
  Dictionary& operator=(const Dictionary&) = delete;
  Dictionary(Dictionary&& other) noexcept : entries_(std::exchange(other.entries_, nullptr)) {}
  ~Dictionary() { av_dict_free(&entries_); }
  void set(const char* key, const char* value) { av_dict_set(&entries_, key, value, 0); }
  AVDictionary** out() noexcept { return &entries_; }

 private:
  AVDictionary* entries_ = nullptr;
};

// Since FFmpeg 6.1 the side data of a stream belongs to its codec parameters.
#if LIBAVFORMAT_VERSION_INT >= AV_VERSION_INT(60, 15, 100)
/// nullptr if there is none.
inline const std::uint8_t* side_data(const AVStream& stream, AVPacketSideDataType type,
                                     std::size_t& bytes) noexcept {
  const AVCodecParameters& codec = *stream.codecpar;
  const AVPacketSideData* data =
      av_packet_side_data_get(codec.coded_side_data, codec.nb_coded_side_data, type);
  bytes = data == nullptr ? 0 : data->size;
  return data == nullptr ? nullptr : data->data;
}
/// nullptr if there is no memory.
inline std::uint8_t* add_side_data(AVStream& stream, AVPacketSideDataType type,
                                   std::size_t bytes) noexcept {
  AVCodecParameters& codec = *stream.codecpar;
  const AVPacketSideData* data =
      av_packet_side_data_new(&codec.coded_side_data, &codec.nb_coded_side_data, type, bytes, 0);
  return data == nullptr ? nullptr : data->data;
}
#else
inline const std::uint8_t* side_data(const AVStream& stream, AVPacketSideDataType type,
                                     std::size_t& bytes) noexcept {
  return av_stream_get_side_data(&stream, type, &bytes);
}
inline std::uint8_t* add_side_data(AVStream& stream, AVPacketSideDataType type,
                                   std::size_t bytes) noexcept {
  return av_stream_new_side_data(&stream, type, bytes);
}
#endif

/// With its defaults; nullptr if there is no memory. Since FFmpeg 7.1 the library alone knows the
/// size of this type.
inline AVStereo3D* allocate_stereo(std::size_t& bytes) noexcept {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(59, 39, 100)
  return av_stereo3d_alloc_size(&bytes);
#else
  bytes = sizeof(AVStereo3D);
  return av_stereo3d_alloc();
#endif
}

/// Since FFmpeg 6.1.
inline bool matroska_holds_rotation() noexcept {
  return avformat_version() >= AV_VERSION_INT(60, 16, 100);
}

/// Since FFmpeg 7 a filter graph's source is told of colours.
constexpr bool kGraphsHaveColours = LIBAVUTIL_VERSION_MAJOR >= 59;

/// The write callback of AVIOContext gets a pointer to it.
#if LIBAVFORMAT_VERSION_MAJOR >= 61
using WrittenByte = const std::uint8_t;
#else
using WrittenByte = std::uint8_t;
#endif

/// Opens FFmpeg's libraries. Every way into io/ffmpeg begins with it. Errors: not_built.
Status load();

/// FFmpeg's words for an error, for example "Invalid data found when processing input".
std::string reason(int error);

/// Errc::out_of_memory for AVERROR(ENOMEM), else `code`; "'name': reason".
Status failure(Errc code, const std::string& name, int error);

/// Sets the options that every input is opened with: files alone, and limits for probing.
void set_input_limits(Dictionary& options);

/// FFmpeg repeats a read that EINTR ends, without limit. Before each read it calls this callback,
/// which can end the repetition.
class InterruptedReads {
 public:
  AVIOInterruptCB callback() noexcept { return {&InterruptedReads::ends, this}; }
  /// Ends what is read so long after now, too.
  void end_within(double seconds);
  bool is_late() const noexcept { return is_late_; }

 private:
  static int ends(void* self);
  Interruptions interruptions_;
  std::optional<std::chrono::steady_clock::time_point> end_;
  bool is_late_ = false;
};

/// A library beside those that io/ffmpeg is linked with, opened at the first call: "avdevice",
/// "avfilter", "cuda". Null if it is not installed. It stays open.
void* open_library(const std::string& name, unsigned version);
/// Sets `function` to that of a library. False if there is no such function, or no library.
template <typename Function>
bool find_function(void* library, const char* name, Function*& function) noexcept {
  function = reinterpret_cast<Function*>(library == nullptr ? nullptr : ::dlsym(library, name));
  return function != nullptr;
}

/// Errors: too_many_pixels, for a picture of more than StreamLimits allows. Motion JPEG has limits
/// of its own.
Status check_pixels(const AVCodecParameters& stream, const std::string& name);

/// avformat_find_stream_info() within limits: of streams, because each gets a decoder, and of the
/// pixels of a picture. Errors: bad_input, and those of failure() and check_pixels().
Status find_streams(AVFormatContext& context, const std::string& name);

/// Opens a file, and finds its streams. Errors: open_failed, and those of find_streams().
Result<InputPtr> open_file(const std::string& path, InterruptedReads& reads);

/// FLV declares its streams by packets alone, and FFmpeg would probe them by decoders without
/// limits. Reads a file up to the first packet of video, and goes back to where it was. Does
/// nothing with other formats, and with a pipe. Errors: those of failure().
Status show_flv_streams(AVFormatContext& context, const std::string& name);

/// Switches off FFmpeg's log to stderr, unless the host has chosen a log level: the library never
/// prints.
void keep_quiet();

Rational from_av(AVRational r) noexcept;       ///< 0/1 if it is not a positive fraction
AVRational to_av(const Rational& r) noexcept;  ///< reduced to 32 bits

}  // namespace zerorun::io::av
