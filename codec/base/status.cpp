// Names and sentences of the error codes.
// SPDX-License-Identifier: MIT
#include "zerorun/status.hpp"

#include <array>

namespace zerorun {
namespace {

struct Entry {
  Errc code;
  std::string_view name;
  std::string_view sentence;  // what
  std::string_view advice;    // what to do; may be empty
};

constexpr const char* kDamaged = "the file is damaged";
constexpr const char* kReadByTurbo3 = "djpeg of libjpeg-turbo 3 reads it";
constexpr const char* kToNextMarker =
    "the picture is damaged from here on to the next restart marker";

#define ZR_ENTRY(code, sentence, advice) \
  Entry { Errc::code, #code, sentence, advice }
constexpr std::array kEntries{
    ZR_ENTRY(ok, "no error", ""),
    ZR_ENTRY(invalid_argument, "a parameter is out of range", ""),
    ZR_ENTRY(invalid_frame, "the frame cannot be used", ""),
    ZR_ENTRY(already_finished, "the object was finished before", ""),
    ZR_ENTRY(not_jpeg, "this is not a JPEG stream", "it has to start with FF D8"),
    ZR_ENTRY(truncated, "the stream ends too early", "the file is incomplete"),
    ZR_ENTRY(bad_marker, "a marker is reserved or out of place", kDamaged),
    ZR_ENTRY(bad_segment_length, "a marker segment has a wrong length", kDamaged),
    ZR_ENTRY(bad_frame_header, "the frame header (SOF) is impossible", kDamaged),
    ZR_ENTRY(bad_scan_header, "the scan header (SOS) is impossible", kDamaged),
    ZR_ENTRY(bad_quant_table, "a quantisation table (DQT) is impossible", kDamaged),
    ZR_ENTRY(bad_huffman_table, "a Huffman table (DHT) is no prefix code", kDamaged),
    ZR_ENTRY(missing_table, "a table that the scan uses was never sent", "the file is incomplete"),
    ZR_ENTRY(missing_image, "the stream holds no image", ""),
    ZR_ENTRY(duplicate_frame, "a second image starts inside the first", kDamaged),
    ZR_ENTRY(bad_huffman_code, "the bits are no codeword of the table", kToNextMarker),
    ZR_ENTRY(run_past_block_end, "a zero run leaves its block", kToNextMarker),
    ZR_ENTRY(restart_out_of_order, "a restart marker is missing, repeated or unexpected",
             "parts of the picture are lost"),
    ZR_ENTRY(extraneous_data, "there are stray bytes", "they were skipped"),
    ZR_ENTRY(progressive, "unsupported here: progressive JPEG", "use the CPU backend"),
    ZR_ENTRY(arithmetic, "unsupported: arithmetic coding",
             "\"jpegtran IN > OUT\" makes it Huffman-coded without loss"),
    ZR_ENTRY(lossless, "unsupported: lossless JPEG", kReadByTurbo3),
    ZR_ENTRY(hierarchical, "unsupported: hierarchical JPEG",
             "the reference software of ISO/IEC 10918 reads it"),
    ZR_ENTRY(sample_precision, "unsupported: sample precision is not 8 bits", kReadByTurbo3),
    ZR_ENTRY(component_count, "unsupported: number of components is not 1, 3 or 4",
             "djpeg, ffmpeg and Pillow refuse it too"),
    ZR_ENTRY(jpeg_ls, "unsupported: JPEG-LS", "ffmpeg reads it"),
    ZR_ENTRY(deferred_height, "unsupported: height sent after the scan (DNL)",
             "rewrite the file with its height in the frame header"),
    ZR_ENTRY(pixel_format, "the stream does not fit the pixel format", ""),
    ZR_ENTRY(output_too_small, "the output buffer is too small", ""),
    ZR_ENTRY(out_of_memory, "there is not enough memory", ""),
    ZR_ENTRY(too_many_pixels, "the image has more pixels than the limit",
             "raise max_pixels if you trust the file"),
    ZR_ENTRY(too_many_scans, "the image has more scans than the limit",
             "raise max_scans if you trust the file"),
    ZR_ENTRY(too_much_header, "the marker segments are longer than the limit",
             "raise max_header_bytes if you trust the file"),
    ZR_ENTRY(queue_full, "no more frames can be in flight", "receive one, or raise the depth"),
    ZR_ENTRY(size_not_reached, "the picture cannot be made that small", ""),
    ZR_ENTRY(quality_not_reached, "the picture cannot be coded that well", ""),
    ZR_ENTRY(no_device, "no usable CUDA device", "use the CPU backend"),
    ZR_ENTRY(device_unsuitable, "the CUDA device cannot run this build",
             "use the CPU backend, or build for this device"),
    ZR_ENTRY(device_failure, "a CUDA call failed", ""),
    ZR_ENTRY(cuda_not_built, "this build has no CUDA backend",
             "use the CPU backend, or build with nvcc on PATH"),
    ZR_ENTRY(open_failed, "cannot open", ""),
    ZR_ENTRY(read_failed, "cannot read", ""),
    ZR_ENTRY(write_failed, "cannot write", ""),
    ZR_ENTRY(output_exists, "the output exists already", "use -y to overwrite it"),
    ZR_ENTRY(unknown_format, "the format is not known", ""),
    ZR_ENTRY(bad_input, "the input is damaged or not what it says it is", ""),
    ZR_ENTRY(missing_frame, "a frame of the sequence is missing",
             "use --missing skip or hold to go on without it"),
    ZR_ENTRY(unsupported_output, "the output format cannot hold this", ""),
    ZR_ENTRY(not_built, "this build cannot read or write that format",
             "build with OpenCV and FFmpeg (ZERORUN_IO=ON)"),
    ZR_ENTRY(verify_mismatch, "what was read back differs", ""),
};
#undef ZR_ENTRY

const Entry& entry(Errc code) noexcept {
  for (const Entry& candidate : kEntries)
    if (candidate.code == code) return candidate;
  return kEntries[0];
}

}  // namespace

ErrorGroup group(Errc code) noexcept {
  const int hundreds = static_cast<int>(code) / 100;
  return hundreds <= static_cast<int>(ErrorGroup::io) ? static_cast<ErrorGroup>(hundreds)
                                                      : ErrorGroup::none;
}

std::string_view name(Errc code) noexcept { return entry(code).name; }

std::string Status::message() const {
  const Entry& e = entry(code_);
  std::string text(e.sentence);
  if (!detail_.empty()) text += ": " + detail_;
  if (byte_offset_ >= 0) text += ", at byte " + std::to_string(byte_offset_);
  if (restart_interval_ >= 0) text += ", restart interval " + std::to_string(restart_interval_);
  if (!e.advice.empty()) text += "; " + std::string(e.advice);
  return text;
}

const char* version() noexcept { return ZERORUN_VERSION_STRING; }

}  // namespace zerorun
