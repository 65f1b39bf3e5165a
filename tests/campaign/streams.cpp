// The undamaged streams that the campaign damages.
// SPDX-License-Identifier: MIT
#include "tests/campaign/streams.hpp"

#include <algorithm>
#include <cctype>
#include <string>

#include "tests/support/test_frame.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::test {
namespace {

LibjpegOptions short_tables() {
  LibjpegOptions options;
  options.optimal = true;
  options.quality = 50;
  return options;
}

/// The smallest that there is, grey in one scan, and three scans.
void add_odd_ones(std::vector<NamedStream>& out) {
  LibjpegOptions options = short_tables();
  out.push_back({"1x1", libjpeg_sample(1, 1, Subsampling::s420, options)});
  out.push_back({"4:1:1", libjpeg_sample(33, 9, Subsampling::s411, options)});
  out.push_back({"4:4:0", libjpeg_sample(9, 33, Subsampling::s440, options)});
  options.restart_mcus = 1;
  options.scans = {{0}, {1}, {2}};
  out.push_back({"three scans with restarts", libjpeg_sample(25, 17, Subsampling::s420, options)});
}

}  // namespace

std::vector<NamedStream> tiny_streams() {
  std::vector<NamedStream> out = small_streams();
  add_odd_ones(out);
  return out;
}

std::vector<NamedStream> forty_streams() {
  std::vector<NamedStream> out = tiny_streams();
  const Subsampling samplings[] = {Subsampling::s420, Subsampling::s422, Subsampling::s444,
                                   Subsampling::s440, Subsampling::s411, Subsampling::gray};
  for (int i = 0; out.size() < 40; ++i) {
    LibjpegOptions options;
    options.optimal = i % 2 == 0;
    options.quality = 20 + 37 * i % 80;
    options.restart_mcus = i % 3 == 0 ? 1 + i % 5 : 0;
    out.push_back({"stream " + std::to_string(i),
                   libjpeg_sample(8 + 7 * i % 60, 8 + 11 * i % 60, samplings[i % 6], options)});
  }
  return out;
}

std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    std::string type = entry.path().extension().string();
    std::ranges::transform(type, type.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (entry.is_regular_file() &&
        (type == ".jpg" || type == ".jpeg" || type == ".jfif" || type == ".jpe"))
      files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace zerorun::test
