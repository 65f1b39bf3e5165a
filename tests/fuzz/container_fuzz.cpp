// Opens arbitrary bytes as every kind of input of `io`: raw MJPEG, YUV4MPEG2, PNM, MOV, AVI,
// Matroska, lists. The first bytes tell the kind, or a byte in the middle names another one.
// SPDX-License-Identifier: MIT
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/fuzz_check.hpp"
#include "zerorun/io.hpp"

namespace zerorun::fuzz {
namespace {

constexpr int kMostFrames = 20;
constexpr const char* kKinds[] = {"mjpeg", "y4m", "pnm", "mov", "avi", "matroska", "mp4"};

/// A file in memory with a name.
class MemoryFile {
 public:
  explicit MemoryFile(std::span<const std::byte> bytes)
      : file_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    check(file_ >= 0 &&
              ::write(file_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
          "the input is in a file");
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(file_); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

/// The kind whose signature the input has; mjpeg if it has none.
std::size_t kind_of(std::string_view text) {
  const auto begins = [&](std::string_view with, std::size_t at = 0) {
    return text.size() >= at + with.size() && text.substr(at, with.size()) == with;
  };
  if (begins("YUV4MPEG2")) return 1;
  if (begins("P5") || begins("P6")) return 2;
  if (begins("ftyp", 4)) return 3;
  if (begins("RIFF")) return 4;
  if (begins("\x1A\x45\xDF\xA3")) return 5;
  return 0;
}

void check_status(const Status& status) {
  check(status.is_ok() || !status.message().empty(), "an error has a sentence");
}

void read_packets(const io::Location& input) {
  auto source = io::open_packets(input, {});
  if (!source) return check_status(source.status());
  std::vector<std::byte> packet;
  io::FrameTime time;
  for (int i = 0; i < kMostFrames; ++i) {
    const Result<bool> more = (*source)->read(packet, time);
    if (!more) return check_status(more.status());
    if (!*more) return;
    check(!packet.empty(), "a packet has bytes");
  }
}

void read_frames(const io::Location& input) {
  io::SourceOptions options;
  options.limits = quick_params(1).limits;
  auto source = io::open_frames(input, options);
  if (!source) return check_status(source.status());
  Frame frame;
  io::FrameTime time;
  for (int i = 0; i < kMostFrames; ++i) {
    const Result<bool> more = (*source)->read(frame, time);
    if (!more) return check_status(more.status());
    if (!*more) return;
    check(frame.view().width > 0, "a frame has samples");
  }
}

}  // namespace
}  // namespace zerorun::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace zerorun;
  if (size < 2) return 0;
  const fuzz::MemoryFile file(fuzz::stream(data, size));
  const int choice = data[size / 2];
  const std::size_t kind =
      choice % 8 != 0 ? fuzz::kind_of({reinterpret_cast<const char*>(data), size})
                      : static_cast<std::size_t>(choice / 8) % (std::size(fuzz::kKinds) + 1);
  const io::Location input = kind < std::size(fuzz::kKinds)
                                 ? io::Location{file.path(), fuzz::kKinds[kind], {}}
                                 : io::Location{std::string("@").append(file.path()), "", {}};
  fuzz::read_packets(input);
  if (kind < 3)
    fuzz::read_frames(input);  // others are FFmpeg's decoders, which are fuzzed elsewhere
  return 0;
}
