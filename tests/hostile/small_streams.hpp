// Undamaged streams of a few hundred bytes, one of each kind, for tests that damage them.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "tests/support/jpeg_segments.hpp"
#include "tests/support/libjpeg_encode.hpp"

namespace zerorun::test {

struct NamedStream {
  std::string name;
  Bytes jpeg;
};

inline std::vector<NamedStream> small_streams() {
  std::vector<NamedStream> out;
  LibjpegOptions options;
  options.optimal = true;  // short tables, so that the headers are not longer than the data
  options.quality = 60;
  out.push_back({"4:2:0", libjpeg_sample(33, 27, Subsampling::s420, options)});
  out.push_back({"grey", libjpeg_sample(40, 24, Subsampling::gray, options)});
  options.restart_mcus = 2;
  out.push_back({"4:4:4 with restarts", libjpeg_sample(34, 18, Subsampling::s444, options)});
  options.restart_mcus = 3;
  options.scans = {{0}, {1, 2}};
  out.push_back({"two scans", libjpeg_sample(33, 27, Subsampling::s422, options)});
  options = {};
  options.quality = 4;
  options.force_baseline = false;
  out.push_back({"16-bit tables", libjpeg_sample(24, 24, Subsampling::s420, options)});
  out.push_back({"no DHT", without_segments(libjpeg_sample(25, 17, Subsampling::s420), 0xC4)});
  options = {};
  options.progressive = true;
  out.push_back({"progressive", libjpeg_sample(33, 27, Subsampling::s420, options)});
  options.restart_rows = 1;
  out.push_back({"progressive with restarts", libjpeg_sample(40, 40, Subsampling::gray, options)});
  options = {};
  options.rgb_stream = true;
  options.optimal = true;
  out.push_back({"RGB", libjpeg_sample(17, 17, Subsampling::s444, options)});
  options = {};
  options.cmyk_stream = options.optimal = true;
  options.restart_mcus = 3;
  out.push_back({"CMYK with restarts", libjpeg_sample(33, 17, Subsampling::s444, options)});
  options.ycck_stream = options.progressive = true;
  options.factors[0] = options.black = {2, 1};
  out.push_back({"progressive YCCK", libjpeg_sample(33, 17, Subsampling::s444, options)});
  return out;
}

}  // namespace zerorun::test
