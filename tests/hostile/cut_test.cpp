// Every prefix of a stream is an error if it ends in the headers, and else a picture with a report.
// SPDX-License-Identifier: MIT
#include "tests/hostile/small_streams.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/support/page_end_buffer.hpp"
#include "tests/support/resources.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun::test {
namespace {

TEST(Cut, EveryPrefixIsAnErrorOrReported) {
  for (const NamedStream& stream : small_streams()) {
    SCOPED_TRACE(stream.name);
    DecodeParams params;
    params.backend = Backend::cpu;
    params.threads = 1;
    auto decoder = Decoder::create(params);
    ASSERT_TRUE(decoder.is_ok());
    const std::size_t data = parse_headers(stream.jpeg).data_offset;
    std::vector<ComponentCoefficients> whole, cut;
    ASSERT_TRUE(decoder->decode_coefficients(stream.jpeg, whole).is_ok());
    const std::size_t step = kSanitized ? 3 : 1;
    for (std::size_t size = 0; size < stream.jpeg.size(); size += step) {
      const PageEndBuffer input{std::span(stream.jpeg).first(size)};
      const auto report = decoder->decode_coefficients(input.bytes(), cut);
      if (size < data) {
        ASSERT_FALSE(report.is_ok()) << "prefix of " << size << " bytes";
        ASSERT_EQ(group(report.status().code()), ErrorGroup::corrupt) << report.status().message();
        continue;
      }
      if (!report.is_ok()) {  // between scans, in another header
        ASSERT_EQ(group(report.status().code()), ErrorGroup::corrupt) << report.status().message();
        continue;
      }
      ASSERT_FALSE(report->first_problem.is_ok()) << "prefix of " << size << " bytes";
      ASSERT_LE(report->bytes_consumed, size);
      ASSERT_EQ(cut.size(), whole.size());
      for (std::size_t c = 0; c < cut.size(); ++c)
        ASSERT_EQ(cut[c].values.size(), whole[c].values.size());
      if (report->is_concealed()) continue;
      // Not concealed: each component is whole, or its scan is missing.
      for (std::size_t c = 0; c < cut.size(); ++c) {
        const auto& values = cut[c].values;
        const bool absent = std::ranges::all_of(values, [](int value) { return value == 0; });
        ASSERT_TRUE(absent || values == whole[c].values)
            << "prefix of " << size << " bytes, component " << c;
      }
    }
  }
}

}  // namespace
}  // namespace zerorun::test
