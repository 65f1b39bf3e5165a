// What zerorun reads from the bytes of an input itself, because libavformat does not tell it.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/base/byte_reader.hpp"
#include "zerorun/status.hpp"

struct AVFormatContext;
struct AVStream;

namespace zerorun::io {

/// How many first bytes announced_bytes() needs.
inline constexpr std::size_t kAnnouncingBytes = 256;

/// The least size of a whole file that begins with `head`, by its own header: the Segment of
/// Matroska and WebM (RFC 8794, RFC 9559), or the first RIFF chunk of AVI. nullopt for other files
/// and if the writer did not know the size (a live stream). FFmpeg reads a cut file up to the cut
/// without an error.
std::optional<std::int64_t> announced_bytes(std::span<const std::byte> head);

/// The same for MOV and MP4 (ISO/IEC 14496-12, 4.2): where a box with samples or their index ends
/// that goes beyond the end of the file.
std::optional<std::int64_t> announced_bytes(const ByteReader& movie);

/// Why libavformat did not recognise an input that begins with `head`.
Status unknown_input(const std::string& name, std::span<const std::byte> head);

/// True if the demuxer is one that finds a picture in any bytes.
bool is_guess(const AVFormatContext& context) noexcept;

namespace av {

/// True if FFmpeg would lose packets, or seek to wrong ones, by following the index of an AVI
/// file: an entry lies outside of the file or inside another chunk, points at something else, or
/// chunks are there that no entry names. FFmpeg 5.1 gives 1 frame of 24 where 5 entries lie outside
/// of the file, and all 24 if it cannot seek. `stream` is the video stream of an AVI demuxer with
/// the index loaded, `file` the same file. One in 64 entries is compared with the file; all chunk
/// headers are read if the header of the file promises more frames than the index has.
bool avi_index_lies(AVStream& stream, const ByteReader& file);

/// The times of all frames of a Matroska file, in ticks of TimestampScale, as written, in rising
/// order: by a walk from header to header, which reads some 32 bytes a frame. nullopt for what it
/// does not follow: damage, lacing, no or several video tracks, times that are equal or fall.
/// FFmpeg knows Matroska's cues alone. They do not say whether they list all frames, and a file
/// that was not finished has none. Without the walk frame 3,500 of a file of 1.5 GB comes after
/// 0.70 s and not 0.20 (3.2 s and not 0.9 from a cold disk), every process of a sharded run reads
/// all that lies before its range, and after a seek in video of variable rate the frame's number is
/// a guess.
std::optional<std::vector<std::int64_t>> mkv_frame_times(const ByteReader& file);

}  // namespace av
}  // namespace zerorun::io
