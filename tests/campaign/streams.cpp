// The undamaged streams that the campaign damages.
// SPDX-License-Identifier: MIT
#include "tests/campaign/streams.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <utility>

#include "tests/support/test_data.hpp"
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

/// A step for each byte of the streams.
template <typename Each>
Damage of_places(std::vector<NamedStream> streams, const Each& each) {
  std::vector<std::pair<std::size_t, std::size_t>> places;  // stream, byte
  for (std::size_t i = 0; i < streams.size(); ++i)
    for (std::size_t at = 0; at < streams[i].jpeg.size(); ++at) places.emplace_back(i, at);
  const std::int64_t count = std::ssize(places);
  return {count, [streams = std::move(streams), places = std::move(places), each](
                     std::int64_t step, const Check& check) {
            const auto& [stream, at] = places[static_cast<std::size_t>(step)];
            each(streams[stream], at, check);
          }};
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

Damage changed_bytes() {
  return of_places(tiny_streams(), [](const NamedStream& stream, std::size_t at,
                                      const Check& check) {
    Bytes jpeg = stream.jpeg;
    for (int add = 1; add < 256; ++add) {
      jpeg[at] = static_cast<std::byte>(std::to_integer<int>(stream.jpeg[at]) + add);
      check(stream.name + ", byte " + std::to_string(at) + " plus " + std::to_string(add), jpeg);
    }
  });
}

Damage prefixes() {
  return of_places(
      forty_streams(), [](const NamedStream& stream, std::size_t at, const Check& check) {
        check(stream.name + ", first " + std::to_string(at) + " bytes",
              Bytes(stream.jpeg.begin(), stream.jpeg.begin() + static_cast<std::ptrdiff_t>(at)));
      });
}

Damage files_in(const std::vector<std::filesystem::path>& folders) {
  std::vector<std::filesystem::path> files;
  for (const auto& folder : folders)
    std::ranges::copy(files_below(folder), std::back_inserter(files));
  const std::int64_t count = std::ssize(files);
  return {count, [files = std::move(files)](std::int64_t step, const Check& check) {
            const auto& file = files[static_cast<std::size_t>(step)];
            check(file.string(), read_file(file));
          }};
}

}  // namespace zerorun::test
