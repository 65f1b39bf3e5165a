// Turns a fragmented MOV or MP4 into a plain one without moving a byte of its media.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "io/ffmpeg/muxer.hpp"
#include "io/output_file.hpp"

namespace zerorun::io::av {

/// While fragments are written, which survive a kill, a second muxer of the same kind writes a
/// plain file into nothing: before each packet it is put at the place where the packet's bytes lie
/// in the real file, so that its sample tables are true for that file. At the end its movie box is
/// appended, and one box header in front declares all fragments media data ("mdat").
class MovIndex {
 public:
  static Result<std::unique_ptr<MovIndex>> create(
      const std::string& muxer, OutputFile& file,
      const std::function<Status(AVFormatContext&)>& add_streams);

  /// The packet's bytes begin at `position` of the file.
  Status add(const AVPacket& packet, AVRational time_base, std::int64_t position);

  /// `file` ends with its last fragment. Errors: write_failed.
  Status finish();

 private:
  /// Drops everything but what lies behind `keep_from`.
  class Target final : public ByteTarget {
   public:
    explicit Target(OutputFile& file) noexcept : file_(file) {}
    bool write(std::span<const std::byte> data) override;
    bool seek(std::int64_t position) override;
    std::int64_t position() const override { return position_; }
    std::int64_t size() const override { return size_; }
    bool is_seekable() const override { return true; }
    Status error() const override { return file_.error(); }
    void keep_from(std::int64_t position) noexcept { keep_from_ = position; }

   private:
    OutputFile& file_;
    std::int64_t position_ = 0, size_ = 0;
    std::int64_t keep_from_ = INT64_MAX;
  };

  explicit MovIndex(OutputFile& file) noexcept : file_(file), target_(file) {}

  OutputFile& file_;
  Target target_;
  std::unique_ptr<Muxer> muxer_;
};

/// Header of an ISO base media box (ISO/IEC 14496-12, 4.2).
struct BoxHeader {
  std::int64_t position = 0;
  std::int64_t size = 0;  ///< with the header
  int header_bytes = 8;
  std::uint32_t type = 0;  ///< big-endian four characters
};
constexpr std::uint32_t box_type(const char (&name)[5]) noexcept {
  return static_cast<std::uint32_t>(static_cast<unsigned char>(name[0])) << 24 |
         static_cast<std::uint32_t>(static_cast<unsigned char>(name[1])) << 16 |
         static_cast<std::uint32_t>(static_cast<unsigned char>(name[2])) << 8 |
         static_cast<std::uint32_t>(static_cast<unsigned char>(name[3]));
}
/// Errors: read errors of the file, bad_input where there is no whole box.
Result<BoxHeader> read_box(OutputFile& file, std::int64_t position);

}  // namespace zerorun::io::av
