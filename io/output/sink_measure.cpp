// Outputs for measuring and testing: nothing, or the MD5 of each packet or frame.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include "io/mjpeg/jpeg_splitter.hpp"
#include "io/output/sinks.hpp"
#include "io/base/frame_parts.hpp"
#include "io/output/md5.hpp"

namespace zerorun::io {
namespace {

std::int64_t size_of(OutputFile::Parts parts) noexcept {
  std::size_t bytes = 0;
  for (const std::span<const std::byte> part : parts) bytes += part.size();
  return static_cast<std::int64_t>(bytes);
}

struct PacketParts : HalvedPacketSink {
  static constexpr const char* kCodec = "mjpeg";

  static Status set_parts(std::span<const std::byte> jpeg, Outgoing& out) {
    if (!is_jpeg(jpeg)) return Status(Errc::invalid_argument, "the packet is not a JPEG stream");
    out.parts.assign(1, jpeg);
    return Status::ok();
  }
};

struct FrameParts : HalvedFrameSink {
  static constexpr const char* kCodec = "rawvideo";

  PixelFormat wanted_format(PixelFormat native) const final { return native; }
  static Status set_parts(const ConstFrameView& frame, Outgoing& out) {
    ZR_TRY(validate(frame));
    out.parts.clear();
    add_frame(frame, out.parts);
    return Status::ok();
  }
};

/// The text of FFmpeg's framemd5, version 2, without the line of its software. Without a file it
/// counts bytes. `Sink` is PacketParts or FrameParts.
template <typename Sink, typename Item>
class MeasuringSink final : public Sink {
 public:
  MeasuringSink(std::unique_ptr<OutputFile> file, const SinkOptions& options)
      : file_(std::move(file)), options_(options) {}

  /// The sum is made by the thread that has the frame.
  Status prepare(Item item, Outgoing& out) override {
    ZR_TRY(Sink::set_parts(item, out));
    if (!file_) return Status::ok();
    Md5 md5;
    for (const std::span<const std::byte> part : out.parts) md5.add(part);
    const std::string sum = md5.finish();
    const auto bytes = std::as_bytes(std::span(sum));
    out.bytes.assign(bytes.begin(), bytes.end());
    return Status::ok();
  }
  Status finish() override { return file_ ? file_->commit() : Status::ok(); }
  std::int64_t bytes_written() const override { return file_ ? file_->size() : bytes_; }

 private:
  Status place(Outgoing& out) override {
    bytes_ += size_of(out.parts);
    if (!file_) return Status::ok();
    if (this->committed() == 0) {
      first_pts_ = out.time.pts;
      ZR_TRY(write_text(header()));
    }
    const bool varies = options_.variable_frame_rate;
    const std::int64_t pts = varies ? out.time.pts - first_pts_ : this->committed();
    const std::int64_t duration = varies ? out.time.duration : 1;
    char line[128];
    std::snprintf(line, sizeof line,
                  "0, %10" PRId64 ", %10" PRId64 ", %8" PRId64 ", %8" PRId64 ", ", pts, pts,
                  duration, size_of(out.parts));
    return write_text(
        line + std::string(reinterpret_cast<const char*>(out.bytes.data()), out.bytes.size()) +
        "\n");
  }

  Status write_text(const std::string& text) {
    return file_->write(std::as_bytes(std::span(text)));
  }

  std::string header() const {
    const Rational rate = options_.frame_rate;
    const Rational base = options_.variable_frame_rate ? options_.time_base
                          : rate.known()               ? Rational{rate.den, rate.num}
                                                       : Rational{1, 25};
    const auto fraction = [](const Rational& r, char mark) {
      return std::to_string(r.num) + mark + std::to_string(r.den) + "\n";
    };
    std::string text = "#format: frame checksums\n#version: 2\n#hash: MD5\n";
    text += "#tb 0: " + fraction(base, '/') + "#media_type 0: video\n";
    text += std::string("#codec_id 0: ") + Sink::kCodec + "\n";
    text += "#dimensions 0: " + fraction({options_.width, options_.height}, 'x');
    text += "#sar 0: " + fraction(options_.sample_aspect, '/');
    return text + "#stream#, dts,        pts, duration,     size, hash\n";
  }

  std::unique_ptr<OutputFile> file_;
  const SinkOptions options_;
  std::int64_t first_pts_ = 0, bytes_ = 0;
};

constexpr std::string_view kNull = "null:", kMd5 = "md5:";

static_assert(std::endian::native == std::endian::little);

/// Table T of section 3.4.
const std::array<std::uint32_t, 64> kSines = [] {
  std::array<std::uint32_t, 64> sines{};
  for (std::size_t i = 0; i < sines.size(); ++i)
    sines[i] = static_cast<std::uint32_t>(4294967296.0 * std::abs(std::sin(double(i + 1))));
  return sines;
}();
/// Rotations of the four rounds.
constexpr int kTurns[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

/// One of the four rounds of 16 steps.
template <int kRound>
void run_round(std::array<std::uint32_t, 4>& s, const std::uint32_t* words) noexcept {
  for (std::size_t i = 0; i < 16; ++i) {
    const std::uint32_t b = s[1], c = s[2], d = s[3];
    const std::uint32_t mixed = kRound == 0   ? (b & c) | (~b & d)
                                : kRound == 1 ? (b & d) | (c & ~d)
                                : kRound == 2 ? b ^ c ^ d
                                              : c ^ (b | ~d);
    constexpr std::size_t kFirst[] = {0, 1, 5, 0}, kStep[] = {1, 5, 3, 7};
    const std::uint32_t word = words[(kFirst[kRound] + kStep[kRound] * i) % 16];
    const std::uint32_t sum = s[0] + mixed + word + kSines[16 * kRound + i];
    s = {d, b + std::rotl(sum, kTurns[kRound][i % 4]), b, c};
  }
}

}  // namespace

bool is_measuring_output(const Location& output) {
  return output.name == kNull || output.name.starts_with(kMd5);
}

template <typename Base>
Result<std::unique_ptr<Base>> open_measuring_sink(const Location& output,
                                                  const SinkOptions& options) {
  using Packets = MeasuringSink<PacketParts, std::span<const std::byte>>;
  using Frames = MeasuringSink<FrameParts, const ConstFrameView&>;
  using Made = std::conditional_t<std::is_same_v<Base, PacketSink>, Packets, Frames>;
  std::unique_ptr<OutputFile> file;
  if (output.name == kMd5) {
    file = OutputFile::standard_output();
  } else if (output.name != kNull) {
    ZR_LET(made, OutputFile::create(output.name.substr(kMd5.size()), options.overwrite));
    file = std::move(made);
  }
  return std::unique_ptr<Base>(std::make_unique<Made>(std::move(file), options));
}
template Result<PacketSinkPtr> open_measuring_sink(const Location&, const SinkOptions&);
template Result<FrameSinkPtr> open_measuring_sink(const Location&, const SinkOptions&);

void Md5::take_block(const std::byte* block) noexcept {
  std::uint32_t words[16];
  std::memcpy(words, block, sizeof words);
  std::array<std::uint32_t, 4> s = state_;
  run_round<0>(s, words);
  run_round<1>(s, words);
  run_round<2>(s, words);
  run_round<3>(s, words);
  for (std::size_t i = 0; i < 4; ++i) state_[i] += s[i];
}

void Md5::add(std::span<const std::byte> data) noexcept {
  const std::size_t used = bytes_ % kBlockBytes;
  bytes_ += data.size();
  if (used > 0) {
    const std::size_t part = std::min(kBlockBytes - used, data.size());
    if (part > 0) std::memcpy(rest_.data() + used, data.data(), part);
    data = data.subspan(part);
    if (used + part < kBlockBytes) return;
    take_block(rest_.data());
  }
  for (; data.size() >= kBlockBytes; data = data.subspan(kBlockBytes)) take_block(data.data());
  if (!data.empty()) std::memcpy(rest_.data(), data.data(), data.size());
}

std::string Md5::finish() {
  const std::uint64_t bits = bytes_ * 8;
  constexpr std::byte kEnd[kBlockBytes] = {std::byte{0x80}};
  // One bit, and zeros up to 8 bytes before the end of a block.
  add({kEnd, 1 + (2 * kBlockBytes - 8 - 1 - bytes_ % kBlockBytes) % kBlockBytes});
  add(std::as_bytes(std::span(&bits, 1)));
  std::string text;
  for (const std::uint32_t word : state_)
    for (int shift = 0; shift < 32; shift += 8) {
      text += "0123456789abcdef"[word >> (shift + 4) & 15];
      text += "0123456789abcdef"[word >> shift & 15];
    }
  return text;
}

}  // namespace zerorun::io
