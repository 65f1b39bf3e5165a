// Error codes keep their numbers, names and groups; a message says what, where and what to do.
// SPDX-License-Identifier: MIT
#include "zerorun/status.hpp"

#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "zerorun/backend.hpp"

namespace zerorun {
namespace {

using testing::HasSubstr;

struct Pinned {
  Errc code;
  int number;
  const char* name;
  ErrorGroup group;
};

// Part of the ABI: a new code is a new line here, an old line never changes.
constexpr Pinned kPinned[] = {
    {Errc::ok, 0, "ok", ErrorGroup::none},
    {Errc::invalid_argument, 100, "invalid_argument", ErrorGroup::argument},
    {Errc::invalid_frame, 101, "invalid_frame", ErrorGroup::argument},
    {Errc::already_finished, 102, "already_finished", ErrorGroup::argument},
    {Errc::not_jpeg, 200, "not_jpeg", ErrorGroup::corrupt},
    {Errc::truncated, 201, "truncated", ErrorGroup::corrupt},
    {Errc::bad_marker, 202, "bad_marker", ErrorGroup::corrupt},
    {Errc::bad_segment_length, 203, "bad_segment_length", ErrorGroup::corrupt},
    {Errc::bad_frame_header, 204, "bad_frame_header", ErrorGroup::corrupt},
    {Errc::bad_scan_header, 205, "bad_scan_header", ErrorGroup::corrupt},
    {Errc::bad_quant_table, 206, "bad_quant_table", ErrorGroup::corrupt},
    {Errc::bad_huffman_table, 207, "bad_huffman_table", ErrorGroup::corrupt},
    {Errc::missing_table, 208, "missing_table", ErrorGroup::corrupt},
    {Errc::missing_image, 209, "missing_image", ErrorGroup::corrupt},
    {Errc::duplicate_frame, 210, "duplicate_frame", ErrorGroup::corrupt},
    {Errc::bad_huffman_code, 211, "bad_huffman_code", ErrorGroup::corrupt},
    {Errc::run_past_block_end, 212, "run_past_block_end", ErrorGroup::corrupt},
    {Errc::restart_out_of_order, 213, "restart_out_of_order", ErrorGroup::corrupt},
    {Errc::extraneous_data, 214, "extraneous_data", ErrorGroup::corrupt},
    {Errc::progressive, 300, "progressive", ErrorGroup::unsupported},
    {Errc::arithmetic, 301, "arithmetic", ErrorGroup::unsupported},
    {Errc::lossless, 302, "lossless", ErrorGroup::unsupported},
    {Errc::hierarchical, 303, "hierarchical", ErrorGroup::unsupported},
    {Errc::sample_precision, 304, "sample_precision", ErrorGroup::unsupported},
    {Errc::component_count, 305, "component_count", ErrorGroup::unsupported},
    {Errc::jpeg_ls, 306, "jpeg_ls", ErrorGroup::unsupported},
    {Errc::deferred_height, 307, "deferred_height", ErrorGroup::unsupported},
    {Errc::pixel_format, 308, "pixel_format", ErrorGroup::unsupported},
    {Errc::output_too_small, 400, "output_too_small", ErrorGroup::capacity},
    {Errc::out_of_memory, 401, "out_of_memory", ErrorGroup::capacity},
    {Errc::too_many_pixels, 402, "too_many_pixels", ErrorGroup::capacity},
    {Errc::too_many_scans, 403, "too_many_scans", ErrorGroup::capacity},
    {Errc::too_much_header, 404, "too_much_header", ErrorGroup::capacity},
    {Errc::queue_full, 405, "queue_full", ErrorGroup::capacity},
    {Errc::size_not_reached, 406, "size_not_reached", ErrorGroup::capacity},
    {Errc::quality_not_reached, 407, "quality_not_reached", ErrorGroup::capacity},
    {Errc::no_device, 500, "no_device", ErrorGroup::device},
    {Errc::device_unsuitable, 501, "device_unsuitable", ErrorGroup::device},
    {Errc::device_failure, 502, "device_failure", ErrorGroup::device},
    {Errc::cuda_not_built, 503, "cuda_not_built", ErrorGroup::device},
    {Errc::open_failed, 600, "open_failed", ErrorGroup::io},
    {Errc::read_failed, 601, "read_failed", ErrorGroup::io},
    {Errc::write_failed, 602, "write_failed", ErrorGroup::io},
    {Errc::output_exists, 603, "output_exists", ErrorGroup::io},
    {Errc::unknown_format, 604, "unknown_format", ErrorGroup::io},
    {Errc::bad_input, 605, "bad_input", ErrorGroup::io},
    {Errc::missing_frame, 606, "missing_frame", ErrorGroup::io},
    {Errc::unsupported_output, 607, "unsupported_output", ErrorGroup::io},
    {Errc::not_built, 608, "not_built", ErrorGroup::io},
    {Errc::verify_mismatch, 609, "verify_mismatch", ErrorGroup::io},
};

TEST(Status, CodesArePinned) {
  std::set<std::string> sentences;
  for (const Pinned& pinned : kPinned) {
    SCOPED_TRACE(pinned.name);
    EXPECT_EQ(static_cast<int>(pinned.code), pinned.number);
    EXPECT_EQ(name(pinned.code), pinned.name);
    EXPECT_EQ(group(pinned.code), pinned.group);
    const std::string sentence = Status(pinned.code).message();
    EXPECT_FALSE(sentence.empty());
    EXPECT_TRUE(sentences.insert(sentence).second) << "said twice: " << sentence;
    EXPECT_THAT(sentence, testing::Not(HasSubstr("\n")));
  }
}

TEST(Status, MessageHoldsDetailAndPlace) {
  const Status status = Status(Errc::bad_huffman_code, "AC table 1").at_byte(4711).in_interval(12);
  EXPECT_FALSE(status.is_ok());
  EXPECT_EQ(status.byte_offset(), 4711);
  EXPECT_EQ(status.restart_interval(), 12);
  EXPECT_EQ(status.detail(), "AC table 1");
  EXPECT_THAT(status.message(), HasSubstr("AC table 1"));
  EXPECT_THAT(status.message(), HasSubstr("byte 4711"));
  EXPECT_THAT(status.message(), HasSubstr("restart interval 12"));
  EXPECT_THAT(Status(Errc::progressive).message(), HasSubstr("progressive"));
  EXPECT_THAT(Status(Errc::truncated).message(), testing::Not(HasSubstr("byte")));
  EXPECT_EQ(Status(), Status::ok());
}

TEST(Version, IsThatOfTheHeaders) {
  EXPECT_EQ(std::string(version()), std::to_string(ZERORUN_VERSION_MAJOR) + "." +
                                        std::to_string(ZERORUN_VERSION_MINOR) + "." +
                                        std::to_string(ZERORUN_VERSION_PATCH));
}

}  // namespace
}  // namespace zerorun
