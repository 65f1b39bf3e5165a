// Opening the INPUT of a command, and what all commands say about it.
// SPDX-License-Identifier: MIT
#include "apps/common/inputs.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "apps/common/console.hpp"
#include "apps/common/failure.hpp"
#include "apps/common/outputs.hpp"
#include "codec/base/interruptions.hpp"

namespace zerorun::app {
namespace {

using TwoBytes = std::array<unsigned char, 2>;

/// tee(2) copies the content of a pipe into another pipe without consuming it. It returns as soon
/// as there is one byte, so the second may need another call.
bool peek_pipe(TwoBytes& bytes) {
  for (int single_looks = 0;;) {
    int copy[2];
    if (pipe(copy) != 0) return false;
    ssize_t count = 0;
    Interruptions interruptions;
    do {
      count = tee(STDIN_FILENO, copy[1], bytes.size(), 0);
    } while (count < 0 && interruptions.again());
    const bool whole = count == 2 && read(copy[0], bytes.data(), 2) == 2;
    close(copy[0]);
    close(copy[1]);
    if (whole || count <= 0) return whole;
    if (count == 1 && ++single_looks == 1000) return false;  // a pipe that ended after one byte
    usleep(1000);
  }
}

/// True if the next two bytes of stdin are SOI, as in a JPEG stream. Waits for them on a pipe.
/// False on a terminal, where bytes cannot be seen without consuming them, and at the end.
bool stdin_begins_with_jpeg() {
  struct stat info {};
  if (fstat(STDIN_FILENO, &info) != 0) return false;
  TwoBytes bytes{};
  bool seen = false;
  if (S_ISFIFO(info.st_mode)) {
    seen = peek_pipe(bytes);
  } else if (S_ISSOCK(info.st_mode)) {
    seen = recv(STDIN_FILENO, bytes.data(), bytes.size(), MSG_PEEK | MSG_WAITALL) == 2;
  } else if (S_ISREG(info.st_mode)) {
    seen = pread(STDIN_FILENO, bytes.data(), bytes.size(), lseek(STDIN_FILENO, 0, SEEK_CUR)) == 2;
  }
  return seen && bytes[0] == 0xFF && bytes[1] == 0xD8;
}

}  // namespace

std::unique_ptr<io::PacketSource> open_jpeg_packets(const InputOptions& input,
                                                    const io::SourceOptions& options) {
  const bool may_be_jpeg = input.name != "-" || options.opened != nullptr ||
                           input.format == "mjpeg" ||
                           (input.format.empty() && stdin_begins_with_jpeg());
  if (!may_be_jpeg) return nullptr;
  auto packets = io::open_packets(input_location(input), options);
  if (packets) return *std::move(packets);
  if (packets.status().code() == Errc::unknown_format) return nullptr;
  fail(Exit::input, input.name, packets.status());
}

bool is_read_once(const InputOptions& input) {
  struct stat info {};
  return input.name == "-" || (::stat(input.name.c_str(), &info) == 0 && !S_ISREG(info.st_mode) &&
                               !S_ISDIR(info.st_mode));
}

bool is_field(const StreamInfo& stream, const io::SourceInfo& info) noexcept {
  return stream.height < info.height * 3 / 4;  // FFmpeg has the same rule
}

PixelFormat stored_format(const StreamInfo& stream) noexcept {
  if (stream.color == ColorModel::rgb) return PixelFormat::rgb24;
  if (stream.color == ColorModel::gray) return PixelFormat::gray8;
  return planar_format(stream.subsampling.value_or(Subsampling::s444));
}

void fail_without_frames(const InputOptions& input) {
  fail(Exit::input, input.name + ": there are no frames" +
                        (input.range.first > 0 ? " in the range of --frames" : ""));
}

std::string cut_sentence(const std::string& name, const io::SourceInfo& info) {
  return fmt::format(
      "{} is cut short: {} missing at its end", name,
      info.missing_bytes == 1 ? "1 byte is" : with_commas(info.missing_bytes) + " bytes are");
}

void note_cut_input(const std::string& name, const io::SourceInfo& info) {
  if (info.missing_bytes > 0) console::note(cut_sentence(name, info) + "; the rest is used");
}

}  // namespace zerorun::app
