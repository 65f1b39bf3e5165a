// Outputs for measuring and testing: nothing, or the MD5 of each packet or frame.
// SPDX-License-Identifier: MIT
#include <cinttypes>
#include <cstdio>
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

}  // namespace zerorun::io
