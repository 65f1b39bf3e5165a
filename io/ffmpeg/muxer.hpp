// One libavformat muxer that writes through our own I/O, so that every error has its reason.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "io/ffmpeg/av.hpp"

namespace zerorun::io::av {

/// Where a muxer's bytes go.
class ByteTarget {
 public:
  virtual ~ByteTarget() = default;
  virtual bool write(std::span<const std::byte> data) = 0;
  virtual bool seek(std::int64_t position) = 0;
  virtual std::int64_t position() const = 0;
  virtual std::int64_t size() const = 0;
  virtual bool is_seekable() const = 0;
  /// Why write() or seek() said false.
  virtual Status error() const = 0;
};

class Muxer {
 public:
  /// `add_streams` fills the new context. Errors: those of add_streams, unsupported_output.
  static Result<std::unique_ptr<Muxer>> create(
      const std::string& name, ByteTarget& target, Dictionary& options,
      const std::function<Status(AVFormatContext&)>& add_streams);

  Muxer(const Muxer&) = delete;
  Muxer& operator=(const Muxer&) = delete;
  ~Muxer();

  /// Time stamps are in `time_base`. The packet is left as it was.
  Status write(const AVPacket& packet, AVRational time_base);
  /// Ends the cluster or fragment and hands every buffered byte to the target.
  Status flush();
  /// Hands over what is buffered, without ending a cluster.
  Status drain();
  Status finish();
  /// Moves the muxer's own idea of its position.
  Status seek(std::int64_t position);

  AVFormatContext& context() noexcept { return *context_; }

 private:
  explicit Muxer(ByteTarget& target) noexcept : target_(target) {}
  Status check(int error);
  Status open_io();

  ByteTarget& target_;
  AVFormatContext* context_ = nullptr;
  AVIOContext* io_ = nullptr;
  PacketPtr scratch_;
};

}  // namespace zerorun::io::av
