// What each reader of frames or packets offers to open_input.cpp, and what readers share.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "codec/base/try.hpp"
#include "io/base/byte_reader.hpp"
#include "io/base/sequence.hpp"
#include "io/base/opening.hpp"
#include "zerorun/source.hpp"

namespace zerorun::io {

using Packet = std::vector<std::byte>;

inline Status cannot_seek() {
  return Status(Errc::invalid_argument, "this input can only be read from front to back");
}

/// Gives the frames or packets of an input one after another. selected_source.cpp adds the range,
/// rate and pixel format that the caller asked for.
template <typename Item>
class Reader {
 public:
  using Work = Incoming<Item>;
  virtual ~Reader() = default;
  const SourceInfo& info() const noexcept { return info_; }
  /// As FrameSource::next(). Without a loader the item is there already. After an error about one
  /// frame the next call gives the next frame.
  virtual Result<bool> next(Work& work) = 0;
  /// Skips one item; cheaper than next() where possible.
  virtual Result<bool> skip() {
    Work unused;
    return next(unused);
  }
  virtual std::string last_name() const = 0;
  virtual std::string notice() const { return {}; }  ///< Source::notice()
  virtual bool can_seek() const { return false; }
  /// The next call of next() gives frame `index`, or the last one if there are fewer. Returns its
  /// index.
  virtual Result<std::int64_t> seek_index(std::int64_t) { return cannot_seek(); }
  /// True if seek_index() finds every index exactly and reads little of what lies before it.
  virtual bool finds_index() { return false; }
  /// The number of frames if it is not in info() and can be had without reading them; -1 otherwise.
  virtual std::int64_t listed_frames() { return -1; }
  /// The next call of next() gives the last frame whose time is not after `pts`, or the first one.
  /// Returns its index. This default is for readers whose times are indices.
  virtual Result<std::int64_t> seek_time(std::int64_t pts) {
    return seek_index(std::max<std::int64_t>(pts, 0));
  }

 protected:
  SourceInfo info_;
  std::int64_t index_ = 0;  ///< of the item that next() gives next
};

class FrameReader : public Reader<Frame> {
 public:
  virtual std::int64_t concealed_frames() const { return 0; }
};

class PacketReader : public Reader<Packet> {
 public:
  virtual std::int64_t skipped_bytes() const { return 0; }
  /// Lines of a whole picture by the container; a field has about half of them.
  virtual int picture_height() const { return info().height; }
  /// True if the first field of an interlaced packet holds the bottom lines, by the container.
  virtual bool is_bottom_field_first() const { return false; }
};

/// Moves what `from` holds to `to`. The frame of `to` keeps its kind of memory.
inline Status hand_over(Packet& from, Packet& to) {
  std::swap(from, to);
  return Status::ok();
}
Status hand_over(Frame& from, Frame& to);

template <typename Item>
Status hand_over(Incoming<Item>& from, Incoming<Item>& to) {
  to.time = from.time;
  to.name = std::move(from.name);
  to.concealed = from.concealed;
  to.content = std::move(from.content);
  to.loader = std::exchange(from.loader, nullptr);
  to.surface = std::move(from.surface);
  std::swap(to.bytes, from.bytes);
  return hand_over(from.item, to.item);  // there is one already if next() had to read it
}

/// A reader that reads one item ahead to describe the input. `Base` is FrameReader or PacketReader.
template <typename Base, typename Item>
class AheadReader : public Base {
 public:
  using Work = Incoming<Item>;

  Result<bool> next(Work& work) final {
    if (has_ahead_) {
      has_ahead_ = false;
      ZR_TRY(hand_over(ahead_, work));
      ahead_ = Work();
    } else {
      ZR_LET(more, begin(work));
      if (!more) return false;
    }
    ++this->index_;
    work.name = this->last_name();
    return true;
  }

 protected:
  /// The serial half for the next item of the input: sets the loader, also if it is null.
  /// `work.time` comes in as {index_, 1}. At the end it leaves `work` as it is.
  virtual Result<bool> next_item(Work& work) = 0;
  /// Keeps the next item of the input for next(). Load it to see what is in it.
  Result<bool> look_ahead() {
    has_ahead_ = false;
    Result<bool> more = begin(ahead_);
    has_ahead_ = more && *more;
    return more;
  }

  Work ahead_;
  bool has_ahead_ = false;

 private:
  Result<bool> begin(Work& work) {
    work.time = {this->index_, 1};
    work.concealed = 0;
    return next_item(work);
  }
};

using FrameReaderPtr = std::unique_ptr<FrameReader>;
using PacketReaderPtr = std::unique_ptr<PacketReader>;

// Readers. A ByteReader stands at the first byte of the stream. `threads` are those of one frame
// that may use all (SourceOptions::threads).
/// Reads one PNM image (P1 to P6) to gray8 or rgb24 and leaves the reader after it. `bytes` is
/// memory for it. Errors: bad_input, too_many_pixels, read_failed, out_of_memory.
Status read_pnm(ByteReader& reader, const SampleRules& rules, Frame& frame,
                std::vector<std::byte>& bytes);
Result<FrameReaderPtr> open_y4m(ByteReader reader, const SampleRules& rules, int threads);
Result<FrameReaderPtr> open_pnm_stream(ByteReader reader, const SampleRules& rules, int threads);
/// Errors: invalid_argument (size or format), bad_input (a file that is not whole frames).
Result<FrameReaderPtr> open_raw_video(ByteReader reader, const RawVideo& video,
                                      const SampleRules& rules, int threads);
/// `options.opened` is not null.
Result<FrameReaderPtr> open_image_frames(FileSequence sequence, const SourceOptions& options);
/// Null if the file is no TIFF file of several pages.
Result<FrameReaderPtr> open_tiff_pages(ByteReader& file, const SourceOptions& options);
Result<PacketReaderPtr> open_raw_mjpeg(ByteReader reader);
Result<PacketReaderPtr> open_jpeg_files(FileSequence sequence, const SourceOptions& options);
/// Decodes JPEG packets by zerorun's own decoder.
FrameReaderPtr decode_packets(PacketReaderPtr packets, const SourceOptions& options);

// Sources: a reader, and what the caller asked for.
/// The format that the caller wants for frames that are stored as `native`.
PixelFormat asked_format(const SourceOptions& options, PixelFormat native) noexcept;
Result<std::unique_ptr<FrameSource>> select_frames(FrameReaderPtr reader,
                                                   const SourceOptions& options);
Result<std::unique_ptr<PacketSource>> select_packets(PacketReaderPtr reader,
                                                     const SourceOptions& options);

/// What libavformat found in an input: one of the two is set.
struct MediaInput {
  PacketReaderPtr packets;  ///< Motion JPEG
  FrameReaderPtr frames;    ///< everything else that libavcodec decodes
};
/// `format` names a demuxer or is empty. With `wants_packets` other video than Motion JPEG is
/// unknown_format, and SourceOptions::opened keeps its demuxer for resume_media().
/// Errors: unknown_format, read_failed, bad_input.
Result<MediaInput> open_media(ByteReader reader, const std::string& format, bool wants_packets,
                              const SourceOptions& options);
/// The same for an address. Errors: open_failed, too.
Result<MediaInput> open_address(const std::string& address, bool wants_packets,
                                const SourceOptions& options);
/// Goes on with a demuxer from OpenedFile::take_media().
Result<MediaInput> resume_media(std::shared_ptr<void> demuxer, const SourceOptions& options);

}  // namespace zerorun::io
