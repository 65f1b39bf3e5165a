// Whole streams: the CUDA backend gives the CPU backend's coefficients, planes, pixels and reports,
// for valid streams and for damaged ones. decode_path_parity.cpp compares streams of all samplings,
// tables, contents and sizes, and frames in device memory.
// SPDX-License-Identifier: MIT
#include <filesystem>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/cuda/decode/decoder_pair.hpp"
#include "tests/support/encode_params.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/jpeg_segments.hpp"
#include "tests/support/test_data.hpp"

namespace zerorun::test {
namespace {

class DecodeParity : public GpuTest {};

TEST_F(DecodeParity, EveryPixelFormatAndFilter) {
  for (const auto upsampling : {ChromaUpsampling::fancy, ChromaUpsampling::nearest}) {
    DecoderPair pair(upsampling);
    ASSERT_TRUE(pair.ready());
    for (const Subsampling sampling : kAllSubsamplings) {
      EncodeParams params;
      params.subsampling = sampling;
      const Jpeg jpeg = encode(Content::photo, 131, 77, params);
      for (const PixelFormat format : kAllFormats) pair.expect_same_frame(jpeg, format);
      if (HasFatalFailure()) return;
    }
  }
}

/// The frame's format is made right behind a scan with every component; nothing that follows that
/// scan changes its samples, or their colour model.
TEST_F(DecodeParity, WhatFollowsTheLastComponent) {
  EncodeParams params;
  const Jpeg first = encode(Content::photo, 131, 77, params);
  const Jpeg second = encode(Content::gradient, 131, 77, params);
  const auto scan = from_sos(second);
  Jpeg again(first.begin(), first.end() - 2);  // without EOI
  again.insert(again.end(), scan.begin(), scan.end());
  // Beside JFIF, Adobe's segment would not count.
  const Jpeg plain = without_segments(first, 0xE0);
  const Jpeg rgb =
      with_inserted(plain, plain.size() - 2,
                    make_segment(0xEE, {'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, 0}));
  for (const auto upsampling : {ChromaUpsampling::fancy, ChromaUpsampling::nearest}) {
    DecoderPair pair(upsampling);
    ASSERT_TRUE(pair.ready());
    for (const PixelFormat format : kAllFormats) {
      pair.expect_same_frame(again, format);
      pair.expect_same_frame(rgb, format);
      pair.expect_same_frame(first, format);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(DecodeParity, HostileStreams) {
  DecoderPair pair;
  ASSERT_TRUE(pair.ready());
  for (const auto& entry : std::filesystem::directory_iterator(project_tests() / "hostile")) {
    if (entry.path().extension() != ".jpg") continue;
    SCOPED_TRACE(entry.path().filename());
    pair.expect_same(read_file(entry.path()));
    if (HasFatalFailure()) return;
  }
}

TEST_F(DecodeParity, Corpus) {
  const auto data = test_data();
  if (!data) GTEST_SKIP() << kNoTestData;
  DecoderPair pair;
  ASSERT_TRUE(pair.ready());
  for (const Row& row : read_tsv(*data / "MANIFEST.tsv")) {
    const std::string& kind = row.at("class");
    if (kind == "container" || kind.starts_with("source")) continue;
    SCOPED_TRACE(row.at("path"));
    pair.expect_same(read_file(*data / row.at("path")));
    if (HasFatalFailure()) return;
  }
}

TEST_F(DecodeParity, DecodersOnManyThreads) {
  EncodeParams params;
  params.restart = RestartPolicy::none();
  const Jpeg jpeg = encode(Content::photo, 640, 480, params);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      DecoderPair pair;
      ASSERT_TRUE(pair.ready());
      for (int i = 0; i < 5; ++i) pair.expect_same(jpeg);
    });
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace zerorun::test
