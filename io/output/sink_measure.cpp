// Outputs for measuring and testing: nothing, or the MD5 of each packet or frame.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <bit>
#include <cinttypes>
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

/// Gives a sink of packets or frames the bytes of each.
template <typename Base>
class PartsSink;

template <>
class PartsSink<PacketSink> : public HalvedPacketSink {
 public:
  Status prepare(std::span<const std::byte> jpeg, Outgoing& out) final {
    if (!is_jpeg(jpeg)) return Status(Errc::invalid_argument, "the packet is not a JPEG stream");
    out.parts.assign(1, jpeg);
    return take(out);
  }

 protected:
  virtual Status take(Outgoing& out) = 0;
  static constexpr const char* kCodec = "mjpeg";
};

template <>
class PartsSink<FrameSink> : public HalvedFrameSink {
 public:
  PixelFormat wanted_format(PixelFormat native) const final { return native; }

  Status prepare(const ConstFrameView& frame, Outgoing& out) final {
    ZR_TRY(validate(frame));
    out.parts.clear();
    add_frame(frame, out.parts);
    return take(out);
  }

 protected:
  virtual Status take(Outgoing& out) = 0;
  static constexpr const char* kCodec = "rawvideo";
};

template <typename Base>
class NullSink final : public PartsSink<Base> {
 public:
  Status finish() override { return Status::ok(); }
  std::int64_t bytes_written() const override { return bytes_; }

 private:
  Status take(Outgoing&) override { return Status::ok(); }
  Status place(Outgoing& out) override {
    bytes_ += size_of(out.parts);
    return Status::ok();
  }

  std::int64_t bytes_ = 0;
};

/// The text of FFmpeg's framemd5, version 2, without the line of its software.
template <typename Base>
class Md5Sink final : public PartsSink<Base> {
 public:
  Md5Sink(std::unique_ptr<OutputFile> file, const SinkOptions& options)
      : file_(std::move(file)), options_(options) {}

  Status finish() override { return file_->commit(); }
  std::int64_t bytes_written() const override { return file_->size(); }

 private:
  /// The sum is made by the thread that has the frame.
  Status take(Outgoing& out) override {
    Md5 md5;
    for (const std::span<const std::byte> part : out.parts) md5.add(part);
    const std::string sum = md5.finish();
    const auto bytes = std::as_bytes(std::span(sum));
    out.bytes.assign(bytes.begin(), bytes.end());
    return Status::ok();
  }

  Status place(Outgoing& out) override {
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
    text += std::string("#codec_id 0: ") + this->kCodec + "\n";
    text += "#dimensions 0: " + fraction({options_.width, options_.height}, 'x');
    text += "#sar 0: " + fraction(options_.sample_aspect, '/');
    return text + "#stream#, dts,        pts, duration,     size, hash\n";
  }

  std::unique_ptr<OutputFile> file_;
  const SinkOptions options_;
  std::int64_t first_pts_ = 0;
};

constexpr std::string_view kNull = "null:", kMd5 = "md5:";

static_assert(std::endian::native == std::endian::little);

/// Table T of section 3.4: 2^32 |sin(i + 1)|.
constexpr std::array<std::uint32_t, 64> kSines{
    0xd76aa478u, 0xe8c7b756u, 0x242070dbu, 0xc1bdceeeu, 0xf57c0fafu, 0x4787c62au, 0xa8304613u,
    0xfd469501u, 0x698098d8u, 0x8b44f7afu, 0xffff5bb1u, 0x895cd7beu, 0x6b901122u, 0xfd987193u,
    0xa679438eu, 0x49b40821u, 0xf61e2562u, 0xc040b340u, 0x265e5a51u, 0xe9b6c7aau, 0xd62f105du,
    0x02441453u, 0xd8a1e681u, 0xe7d3fbc8u, 0x21e1cde6u, 0xc33707d6u, 0xf4d50d87u, 0x455a14edu,
    0xa9e3e905u, 0xfcefa3f8u, 0x676f02d9u, 0x8d2a4c8au, 0xfffa3942u, 0x8771f681u, 0x6d9d6122u,
    0xfde5380cu, 0xa4beea44u, 0x4bdecfa9u, 0xf6bb4b60u, 0xbebfbc70u, 0x289b7ec6u, 0xeaa127fau,
    0xd4ef3085u, 0x04881d05u, 0xd9d4d039u, 0xe6db99e5u, 0x1fa27cf8u, 0xc4ac5665u, 0xf4292244u,
    0x432aff97u, 0xab9423a7u, 0xfc93a039u, 0x655b59c3u, 0x8f0ccc92u, 0xffeff47du, 0x85845dd1u,
    0x6fa87e4fu, 0xfe2ce6e0u, 0xa3014314u, 0x4e0811a1u, 0xf7537e82u, 0xbd3af235u, 0x2ad7d2bbu,
    0xeb86d391u,
};
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
  if (output.name == kNull) return std::unique_ptr<Base>(std::make_unique<NullSink<Base>>());
  const std::string path = output.name.substr(kMd5.size());
  std::unique_ptr<OutputFile> file = OutputFile::standard_output();
  if (!path.empty()) {
    ZR_LET(made, OutputFile::create(path, options.overwrite));
    file = std::move(made);
  }
  return std::unique_ptr<Base>(std::make_unique<Md5Sink<Base>>(std::move(file), options));
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
