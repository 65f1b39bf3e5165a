// FFmpeg's errors as Status, and its log switched off.
// SPDX-License-Identifier: MIT
#include "io/ffmpeg/av.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <mutex>
#include <string_view>
#include <vector>

#include "codec/base/try.hpp"
#include "zerorun/decoder.hpp"

extern "C" const char* zerorun_load_ffmpeg();  // .cmake/load_at_run_time.cmake

namespace zerorun::io::av {

Status load() {
  const char* const error = zerorun_load_ffmpeg();
  if (error == nullptr) return Status::ok();
  return Status(Errc::not_built, std::string("FFmpeg is not installed: ") + error);
}

std::string reason(int error) {
  if (error == AVERROR_EXIT) error = AVERROR(EINTR);  // InterruptedReads ended it
  std::array<char, AV_ERROR_MAX_STRING_SIZE> text{};
  av_strerror(error, text.data(), text.size());
  return text.data();
}

Status failure(Errc code, const std::string& name, int error) {
  if (error == AVERROR(ENOMEM)) return Status(Errc::out_of_memory, "'" + name + "'");
  return Status(code, "'" + name + "': " + reason(error));
}

void set_input_limits(Dictionary& options) {
  // A playlist under another name must not reach the network.
  options.set("protocol_whitelist", "file");
  options.set("probesize", "5000000");
  options.set("formatprobesize", "1048576");
  options.set("max_streams", "4096");  // more than find_streams() takes, so that it can say so
}

void InterruptedReads::end_within(double seconds) {
  using Clock = std::chrono::steady_clock;
  end_ = Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  is_late_ = false;
}

void* open_library(const std::string& name, unsigned version) {
  return ::dlopen(("lib" + name + ".so." + std::to_string(version)).c_str(), RTLD_NOW);
}

int InterruptedReads::ends(void* self) {
  auto& reads = *static_cast<InterruptedReads*>(self);
  if (reads.end_ && std::chrono::steady_clock::now() > *reads.end_) reads.is_late_ = true;
  if (reads.is_late_) return 1;
  if (errno != EINTR) return 0;
  const bool again = static_cast<InterruptedReads*>(self)->interruptions_.again();
  errno = 0;  // so that it counts once
  return again ? 0 : 1;
}

Status check_pixels(const AVCodecParameters& stream, const std::string& name) {
  constexpr std::int64_t kMaxPixels = StreamLimits{}.max_pixels;
  if (stream.codec_type != AVMEDIA_TYPE_VIDEO || stream.codec_id == AV_CODEC_ID_MJPEG ||
      std::int64_t{stream.width} * stream.height <= kMaxPixels)
    return Status::ok();
  return Status(Errc::too_many_pixels, "'" + name + "': " + std::to_string(stream.width) + "x" +
                                           std::to_string(stream.height) + ", limit " +
                                           std::to_string(kMaxPixels));
}

Status find_streams(AVFormatContext& context, const std::string& name) {
  constexpr unsigned kMostStreams = 256;  // films have attachments, such as fonts
  const auto check_count = [&] {
    if (context.nb_streams <= kMostStreams) return Status::ok();
    return Status(Errc::bad_input, "'" + name + "' has " + std::to_string(context.nb_streams) +
                                       " streams, limit " + std::to_string(kMostStreams));
  };
  ZR_TRY(check_count());
  // Before probing: a decoder that refuses the size forgets it.
  for (unsigned i = 0; i < context.nb_streams; ++i)
    ZR_TRY(check_pixels(*context.streams[i]->codecpar, name));
  std::vector<Dictionary> limits(context.nb_streams);
  std::vector<AVDictionary*> options;
  for (Dictionary& limit : limits) {
    limit.set("max_pixels", std::to_string(StreamLimits{}.max_pixels).c_str());
    options.push_back(*limit.out());
  }
  const int error = avformat_find_stream_info(&context, options.data());
  // The call removes from a dictionary the options that the decoder knows.
  for (std::size_t i = 0; i < limits.size(); ++i) *limits[i].out() = options[i];
  if (error < 0) return failure(Errc::bad_input, name, error);
  return check_count();
}

Result<InputPtr> open_file(const std::string& path, InterruptedReads& reads) {
  keep_quiet();
  Dictionary options;
  set_input_limits(options);
  AVFormatContext* context = avformat_alloc_context();
  if (context == nullptr) return Status(Errc::out_of_memory);
  context->interrupt_callback = reads.callback();
  const std::string url = "file:" + path;
  const int error = avformat_open_input(&context, url.c_str(), nullptr, options.out());
  if (error < 0) return failure(Errc::open_failed, path, error);
  InputPtr input(context);
  ZR_TRY(find_streams(*context, path));
  return input;
}

Status show_flv_streams(AVFormatContext& context, const std::string& name) {
  constexpr int kMostPackets = 256, kMostBytes = 5'000'000;
  const std::string_view format = context.iformat->name;
  if ((format != "flv" && format != "live_flv" && format != "kux") || !context.pb->seekable)
    return Status::ok();
  const auto has_video = [&] {
    return std::any_of(
        context.streams, context.streams + context.nb_streams,
        [](const AVStream* s) { return s->codecpar->codec_type == AVMEDIA_TYPE_VIDEO; });
  };
  const PacketPtr packet(av_packet_alloc());
  if (!packet) return Status(Errc::out_of_memory);
  const std::int64_t begin = avio_tell(context.pb);
  for (int i = 0, bytes = 0; !has_video() && i < kMostPackets && bytes < kMostBytes; ++i) {
    const int error = av_read_frame(&context, packet.get());
    if (error == AVERROR(ENOMEM)) return failure(Errc::read_failed, name, error);
    if (error < 0) break;  // the next read reports it
    bytes += packet->size;
    av_packet_unref(packet.get());
  }
  int error = avformat_flush(&context);
  if (const std::int64_t at = avio_seek(context.pb, begin, SEEK_SET); error >= 0 && at < 0)
    error = static_cast<int>(at);
  return error < 0 ? failure(Errc::read_failed, name, error) : Status::ok();
}

void keep_quiet() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (av_log_get_level() == AV_LOG_INFO) av_log_set_level(AV_LOG_QUIET);
  });
}

Rational from_av(AVRational r) noexcept {
  if (r.num <= 0 || r.den <= 0) return {};
  return {r.num, r.den};
}

AVRational to_av(const Rational& r) noexcept {
  AVRational out{0, 1};
  if (r.known()) av_reduce(&out.num, &out.den, r.num, r.den, INT_MAX);
  return out;
}

}  // namespace zerorun::io::av
