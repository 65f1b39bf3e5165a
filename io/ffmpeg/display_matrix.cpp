// The display matrix of a stream.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>

#include "io/ffmpeg/container_content.hpp"
#include "zerorun/ffmpeg.hpp"

namespace zerorun::io::av {
namespace {

using Matrix = std::array<std::int32_t, 9>;

/// A file in memory.
struct Memory {
  std::uint8_t* bytes = nullptr;
  int size = 0, at = 0;

  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { av_free(bytes); }

  static int read(void* self, std::uint8_t* to, int count) {
    Memory& memory = *static_cast<Memory*>(self);
    count = std::min(count, memory.size - memory.at);
    if (count <= 0) return AVERROR_EOF;
    std::memcpy(to, memory.bytes + memory.at, static_cast<std::size_t>(count));
    memory.at += count;
    return count;
  }
};

/// Writes a file of one frame: Matroska's demuxer reads no file without. Leaves `file` empty on
/// errors.
void write_turned_file(const SinkOptions& options, const std::string& muxer, Memory& file) {
  constexpr int kSize = 16;
  static std::array<std::uint8_t, 4> jpeg{0xFF, 0xD8, 0xFF, 0xD9};
  AVFormatContext* out = nullptr;
  if (avformat_alloc_output_context2(&out, nullptr, muxer.c_str(), nullptr) < 0) return;
  AVStream* const stream = avformat_new_stream(out, nullptr);
  const PacketPtr packet(av_packet_alloc());
  Dictionary header;
  header.set("movflags", "empty_moov");
  if (stream != nullptr && packet && set_display_matrix(options, *stream) &&
      avio_open_dyn_buf(&out->pb) >= 0) {
    ffmpeg::describe_stream(*stream->codecpar, kSize, kSize);
    stream->time_base = {1, 25};
    packet->data = jpeg.data();
    packet->size = static_cast<int>(jpeg.size());
    packet->pts = packet->dts = 0;
    packet->flags = AV_PKT_FLAG_KEY;
    if (avformat_write_header(out, header.out()) >= 0 && av_write_frame(out, packet.get()) >= 0)
      av_write_trailer(out);
    file.size = avio_close_dyn_buf(out->pb, &file.bytes);
  }
  avformat_free_context(out);
}

/// Describes the first stream; not turned if the file cannot be read.
SourceInfo read_turned_file(const std::string& muxer, Memory& file) {
  constexpr int kBufferBytes = 4096;
  SourceInfo info;
  auto* buffer = static_cast<std::uint8_t*>(av_malloc(kBufferBytes));
  AVIOContext* io =
      avio_alloc_context(buffer, kBufferBytes, 0, &file, &Memory::read, nullptr, nullptr);
  AVFormatContext* in = avformat_alloc_context();
  if (buffer != nullptr && io != nullptr && in != nullptr) {
    in->pb = io;
    // Frees the context if it fails.
    const AVInputFormat* format = av_find_input_format(muxer.c_str());
    if (avformat_open_input(&in, nullptr, format, nullptr) >= 0 && in->nb_streams > 0)
      read_display_matrix(*in->streams[0], info);
  }
  avformat_close_input(&in);
  if (io != nullptr) buffer = io->buffer;  // it may have got another one
  av_free(buffer);
  avio_context_free(&io);
  return info;
}

}  // namespace

void read_display_matrix(const AVStream& stream, SourceInfo& info) {
  std::size_t bytes = 0;
  const std::uint8_t* data = side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, bytes);
  Matrix matrix{};
  if (data == nullptr || bytes < sizeof(matrix)) return;
  std::memcpy(matrix.data(), data, sizeof(matrix));
  // x' = m[0] x + m[3] y, y' = m[1] x + m[4] y: a negative determinant mirrors. To mirror before
  // turning negates what is multiplied by x.
  const bool mirrored = std::int64_t{matrix[0]} * matrix[4] < std::int64_t{matrix[1]} * matrix[3];
  if (mirrored)
    for (const std::size_t i : {0U, 1U})
      matrix[i] = static_cast<std::int32_t>(-std::int64_t{matrix[i]});
  const double counter_clockwise = av_display_rotation_get(matrix.data());
  if (std::isnan(counter_clockwise)) return;
  const long quarters = std::lround(-counter_clockwise / 90.0);
  info.rotation_degrees = static_cast<int>(((quarters % 4) + 4) % 4) * 90;
  info.mirrored = mirrored;
}

Status set_display_matrix(const SinkOptions& options, AVStream& stream) {
  auto* matrix = reinterpret_cast<std::int32_t*>(
      add_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, sizeof(Matrix)));
  if (matrix == nullptr) return Status(Errc::out_of_memory);
  av_display_rotation_set(matrix, options.rotation_degrees);
  // Negates the factors of x, which mirrors the picture before it is turned.
  if (options.mirrored)
    for (const int i : {0, 1}) matrix[i] = -matrix[i];
  return Status::ok();
}

bool holds_display_matrix(const SinkOptions& options, const std::string& muxer) {
  keep_quiet();
  Memory file;
  write_turned_file(options, muxer, file);
  const SourceInfo read = read_turned_file(muxer, file);
  const int degrees = (options.rotation_degrees % 360 + 360) % 360;
  return read.rotation_degrees == degrees && read.mirrored == options.mirrored;
}

}  // namespace zerorun::io::av
