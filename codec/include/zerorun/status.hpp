// What every header needs: version, export macro, Status and Result. Nothing here throws.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

/// Marks what the shared library exports; everything else in it is hidden.
#if defined(__GNUC__)
#define ZERORUN_API [[gnu::visibility("default")]]
#else
#define ZERORUN_API
#endif

/// The version; CMake reads it from here.
#define ZERORUN_VERSION_MAJOR 0
#define ZERORUN_VERSION_MINOR 1
#define ZERORUN_VERSION_PATCH 0

/// The number in the name of the shared libraries (libzerorun.so.0). It goes up when programs that
/// were linked with the older library would no longer work.
#define ZERORUN_ABI 0

namespace zerorun {

/// "MAJOR.MINOR.PATCH" of the linked library; the macros are those of the headers.
ZERORUN_API const char* version() noexcept;

/// Codes are part of the ABI: a number never changes its meaning. Hundreds are groups.
enum class Errc : std::uint16_t {
  ok = 0,

  // 1xx: the caller's arguments
  invalid_argument = 100,  ///< a parameter is outside its documented range
  invalid_frame = 101,     ///< null plane, stride too small, size 0 or over 65535
  already_finished = 102,  ///< the object was finished and accepts nothing more

  // 2xx: the stream breaks ITU-T T.81
  not_jpeg = 200,              ///< no SOI at the start
  truncated = 201,             ///< the data ends before the stream does
  bad_marker = 202,            ///< a marker is reserved or in the wrong place
  bad_segment_length = 203,    ///< a segment length is too small, too large or untrue
  bad_frame_header = 204,      ///< SOF with impossible sizes, components or sampling factors
  bad_scan_header = 205,       ///< SOS that names unknown components, tables or a wrong band
  bad_quant_table = 206,       ///< DQT with an impossible precision or destination
  bad_huffman_table = 207,     ///< DHT that is no prefix code, or has an impossible symbol
  missing_table = 208,         ///< a scan uses a table that was never sent
  missing_image = 209,         ///< no SOF or no SOS before the data ends
  duplicate_frame = 210,       ///< a second SOF or SOI inside one image
  bad_huffman_code = 211,      ///< the bits are no codeword of the table
  run_past_block_end = 212,    ///< a zero run leaves the 64 coefficients of a block
  restart_out_of_order = 213,  ///< RSTm missing, repeated or not expected
  extraneous_data = 214,       ///< bytes where none belong (tolerated unless strict)

  // 3xx: legal, but not decoded by zerorun
  progressive = 300,  ///< by a pipeline of stages alone; Decoder and DeviceDecoder decode it
  arithmetic = 301,
  lossless = 302,
  hierarchical = 303,
  sample_precision = 304,  ///< not 8 bits per sample
  component_count = 305,   ///< 2, or 5 and more components
  jpeg_ls = 306,
  deferred_height = 307,  ///< height 0, sent later by a DNL segment
  pixel_format = 308,     ///< this stream cannot be decoded into the requested pixel format

  // 4xx: limits and memory
  output_too_small = 400,
  out_of_memory = 401,
  too_many_pixels = 402,
  too_many_scans = 403,
  too_much_header = 404,
  queue_full = 405,        ///< as many frames as allowed are in flight; receive one first
  size_not_reached = 406,  ///< even the smallest stream of the picture is above the size asked for
  quality_not_reached = 407,  ///< quality 100 is not as near to the picture as was asked for

  // 5xx: devices
  no_device = 500,          ///< CUDA was requested and there is no usable device
  device_unsuitable = 501,  ///< the device exists but cannot run this build
  device_failure = 502,     ///< a CUDA call failed; the message names it
  cuda_not_built = 503,     ///< this build has no CUDA backend

  // 6xx: input and output
  open_failed = 600,
  read_failed = 601,
  write_failed = 602,
  output_exists = 603,
  unknown_format = 604,
  bad_input = 605,           ///< the input is not what its name or header says
  missing_frame = 606,       ///< a gap in a numbered sequence
  unsupported_output = 607,  ///< the output format cannot hold what was asked for
  not_built = 608,           ///< the format needs OpenCV or FFmpeg and this build has neither
  verify_mismatch = 609,
};

/// Group of a code: its hundreds. Most callers act on this alone.
enum class ErrorGroup { none, argument, corrupt, unsupported, capacity, device, io };
ZERORUN_API ErrorGroup group(Errc code) noexcept;

/// Stable lower-case name of a code, for example "bad_huffman_code".
ZERORUN_API std::string_view name(Errc code) noexcept;

/// The outcome of a call: a code, where it happened, and what to do about it.
class [[nodiscard]] ZERORUN_API Status {
 public:
  Status() noexcept = default;  ///< success
  explicit Status(Errc code, std::string detail = {}) noexcept
      : code_(code), detail_(std::move(detail)) {}

  static Status ok() noexcept { return {}; }

  bool is_ok() const noexcept { return code_ == Errc::ok; }
  explicit operator bool() const noexcept { return is_ok(); }

  Errc code() const noexcept { return code_; }

  /// Bytes from the start of the data passed to the call; -1 if unknown.
  std::int64_t byte_offset() const noexcept { return byte_offset_; }
  /// Restart interval of the scan, counted from 0; -1 if unknown.
  std::int64_t restart_interval() const noexcept { return restart_interval_; }
  /// More about it, for example the table or the system's reason; may be empty.
  const std::string& detail() const noexcept { return detail_; }

  Status&& at_byte(std::int64_t offset) && noexcept {
    byte_offset_ = offset;
    return std::move(*this);
  }
  Status&& in_interval(std::int64_t interval) && noexcept {
    restart_interval_ = interval;
    return std::move(*this);
  }

  /// One sentence: what happened, where, and what to do.
  std::string message() const;

  friend bool operator==(const Status&, const Status&) = default;

 private:
  Errc code_ = Errc::ok;
  std::int64_t byte_offset_ = -1;
  std::int64_t restart_interval_ = -1;
  std::string detail_;
};

/// A value, or the Status that says why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}                   // NOLINT: implicit by design
  Result(Status status) noexcept : status_(std::move(status)) {}  // NOLINT: implicit by design

  bool is_ok() const noexcept { return value_.has_value(); }
  explicit operator bool() const noexcept { return is_ok(); }
  const Status& status() const noexcept { return status_; }

  /// Precondition: is_ok().
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

enum class Received : std::uint8_t {
  frame,
  not_yet,  ///< the oldest frame is not finished, or none is in flight
  end,      ///< finish() was called and every frame has been received
};

}  // namespace zerorun
