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

constexpr std::array kEntries{
    Entry{Errc::ok, "ok", "no error", ""},
    Entry{Errc::invalid_argument, "invalid_argument", "a parameter is out of range", ""},
    Entry{Errc::invalid_frame, "invalid_frame", "the frame cannot be used", ""},
    Entry{Errc::already_finished, "already_finished", "the object was finished before", ""},
    Entry{Errc::not_jpeg, "not_jpeg", "this is not a JPEG stream", "it has to start with FF D8"},
    Entry{Errc::truncated, "truncated", "the stream ends too early", "the file is incomplete"},
    Entry{Errc::bad_marker, "bad_marker", "a marker is reserved or out of place",
          "the file is damaged"},
    Entry{Errc::bad_segment_length, "bad_segment_length", "a marker segment has a wrong length",
          "the file is damaged"},
    Entry{Errc::bad_frame_header, "bad_frame_header", "the frame header (SOF) is impossible",
          "the file is damaged"},
    Entry{Errc::bad_scan_header, "bad_scan_header", "the scan header (SOS) is impossible",
          "the file is damaged"},
    Entry{Errc::bad_quant_table, "bad_quant_table", "a quantisation table (DQT) is impossible",
          "the file is damaged"},
    Entry{Errc::bad_huffman_table, "bad_huffman_table", "a Huffman table (DHT) is no prefix code",
          "the file is damaged"},
    Entry{Errc::missing_table, "missing_table", "a table that the scan uses was never sent",
          "the file is incomplete"},
    Entry{Errc::missing_image, "missing_image", "the stream holds no image", ""},
    Entry{Errc::duplicate_frame, "duplicate_frame", "a second image starts inside the first",
          "the file is damaged"},
    Entry{Errc::bad_huffman_code, "bad_huffman_code", "the bits are no codeword of the table",
          "the picture is damaged from here on to the next restart marker"},
    Entry{Errc::run_past_block_end, "run_past_block_end", "a zero run leaves its block",
          "the picture is damaged from here on to the next restart marker"},
    Entry{Errc::restart_out_of_order, "restart_out_of_order",
          "a restart marker is missing, repeated or unexpected", "parts of the picture are lost"},
    Entry{Errc::extraneous_data, "extraneous_data", "there are stray bytes", "they were skipped"},
    Entry{Errc::progressive, "progressive", "unsupported: progressive JPEG",
          "convert it to baseline"},
    Entry{Errc::arithmetic, "arithmetic", "unsupported: arithmetic coding",
          "convert it to baseline"},
    Entry{Errc::lossless, "lossless", "unsupported: lossless JPEG", "convert it to baseline"},
    Entry{Errc::hierarchical, "hierarchical", "unsupported: hierarchical JPEG",
          "convert it to baseline"},
    Entry{Errc::sample_precision, "sample_precision", "unsupported: sample precision is not 8 bits",
          "convert it to 8 bits"},
    Entry{Errc::component_count, "component_count",
          "unsupported: number of components is not 1 or 3 (CMYK has 4)",
          "convert it to YCbCr or grey"},
    Entry{Errc::jpeg_ls, "jpeg_ls", "unsupported: JPEG-LS", "convert it to baseline"},
    Entry{Errc::deferred_height, "deferred_height", "unsupported: height sent after the scan (DNL)",
          "rewrite the file with its height in the frame header"},
    Entry{Errc::pixel_format, "pixel_format", "the stream does not fit the pixel format", ""},
    Entry{Errc::output_too_small, "output_too_small", "the output buffer is too small", ""},
    Entry{Errc::out_of_memory, "out_of_memory", "there is not enough memory", ""},
    Entry{Errc::too_many_pixels, "too_many_pixels", "the image has more pixels than the limit",
          "raise max_pixels if you trust the file"},
    Entry{Errc::too_many_scans, "too_many_scans", "the image has more scans than the limit",
          "raise max_scans if you trust the file"},
    Entry{Errc::too_much_header, "too_much_header", "the marker segments are longer than the limit",
          "raise max_header_bytes if you trust the file"},
    Entry{Errc::queue_full, "queue_full", "no more frames can be in flight",
          "receive one, or raise the depth"},
    Entry{Errc::no_device, "no_device", "no usable CUDA device", "use the CPU backend"},
    Entry{Errc::device_unsuitable, "device_unsuitable", "the CUDA device cannot run this build",
          "use the CPU backend, or build for this device"},
    Entry{Errc::device_failure, "device_failure", "a CUDA call failed", ""},
    Entry{Errc::cuda_not_built, "cuda_not_built", "this build has no CUDA backend",
          "use the CPU backend, or build with nvcc on PATH"},
    Entry{Errc::open_failed, "open_failed", "cannot open", ""},
    Entry{Errc::read_failed, "read_failed", "cannot read", ""},
    Entry{Errc::write_failed, "write_failed", "cannot write", ""},
    Entry{Errc::output_exists, "output_exists", "the output exists already",
          "use -y to overwrite it"},
    Entry{Errc::unknown_format, "unknown_format", "the format is not known", ""},
    Entry{Errc::bad_input, "bad_input", "the input is damaged or not what it says it is", ""},
    Entry{Errc::missing_frame, "missing_frame", "a frame of the sequence is missing",
          "use --missing skip or hold to go on without it"},
    Entry{Errc::unsupported_output, "unsupported_output", "the output format cannot hold this", ""},
    Entry{Errc::not_built, "not_built", "this build cannot read or write that format",
          "build with OpenCV and FFmpeg (ZERORUN_IO=ON)"},
    Entry{Errc::verify_mismatch, "verify_mismatch", "what was read back differs", ""},
};

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
