// FFmpeg's mjpeg coder from file to file: the program `ffmpeg` with its own number of threads.
// SPDX-License-Identifier: MIT
#include "apps/bench/files/files.hpp"

#include <fmt/core.h>

#include <cmath>
#include <fstream>

#include "apps/common/process.hpp"
#include "zerorun/backend.hpp"

namespace zerorun::app::bench {
namespace {

using Words = std::vector<std::string>;

/// "5.1.6-0+deb12u1"; empty if the program is not there.
std::string ffmpeg_version(const FilesSetting& setting) {
  const std::string out = setting.folder.path("version");
  const auto run = run_child({"ffmpeg", "-version"}, out, setting.folder.path("log"));
  if (!run || run->exit_code != 0) return {};
  std::ifstream file(out);
  std::string word, version;
  file >> word >> word >> version;  // "ffmpeg version 5.1.6-0+deb12u1 Copyright ..."
  return version;
}

Words ffmpeg_words(const Words& input, const Words& options, const std::string& output) {
  Words words = {"ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "error", "-y"};
  words.insert(words.end(), input.begin(), input.end());
  words.push_back("-an");
  words.insert(words.end(), options.begin(), options.end());
  words.push_back(output);
  return words;
}

Words coding(const Case& what, int q) {
  Words words = {"-c:v",
                 "mjpeg",
                 "-q:v",
                 std::to_string(q),
                 "-pix_fmt",
                 what.sampling == Subsampling::s444   ? "yuvj444p"
                 : what.sampling == Subsampling::s422 ? "yuvj422p"
                                                      : "yuvj420p"};
  if (what.huffman == HuffmanTables::optimal) words.insert(words.end(), {"-huffman", "optimal"});
  if (what.huffman == HuffmanTables::standard) words.insert(words.end(), {"-huffman", "default"});
  return words;
}

/// The bytes of a few frames with a quality; 0 if it does not work.
double trial_bytes(const Case& what, const FilesSetting& setting, int q, int frames) {
  Words options = coding(what, q);
  options.insert(options.end(), {"-frames:v", std::to_string(frames), "-f", "mjpeg"});
  const std::string out = setting.folder.path("trial");
  const auto run =
      run_child(ffmpeg_words(setting.files.ffmpeg, options, out), "", setting.folder.path("log"));
  if (signals::received() != 0) fail_interrupted();
  return run && run->exit_code == 0 ? static_cast<double>(input_files(out).bytes) : 0.0;
}

/// The -q:v, 1 to 31, whose frames come closest to `frame_bytes`; 0 if none works.
int closest_quality(const Case& what, const FilesSetting& setting, double frame_bytes) {
  constexpr int kFramesOfSetting = 4;
  const int frames = static_cast<int>(std::min<std::int64_t>(kFramesOfSetting, setting.frames));
  int best = 0;
  double distance = 0;
  for (int low = 1, high = 31; low <= high;) {  // bytes fall as -q:v grows
    const int q = (low + high) / 2;
    const double bytes = trial_bytes(what, setting, q, frames) / frames;
    if (bytes <= 0) return 0;
    if (best == 0 || std::abs(bytes - frame_bytes) < distance) {
      best = q;
      distance = std::abs(bytes - frame_bytes);
    }
    if (bytes > frame_bytes)
      low = q + 1;
    else
      high = q - 1;
  }
  return best;
}

Way way_of(const std::string& coder, std::string path, Words words, std::string output,
           Layout layout) {
  Way way;
  way.coder = coder;
  way.path = std::move(path);
  way.threads = usable_processors();
  way.layout = layout;
  way.words = std::move(words);
  way.output = std::move(output);
  way.makes_folder = layout == Layout::file_for_each;
  return way;
}

std::vector<Way> decode_ways(const std::string& coder, const FilesSetting& setting) {
  const Words input = {"-i", setting.folder.path("stream.mjpeg")};
  const std::string raw = setting.folder.path("peer.yuv");
  const std::string images = setting.folder.path("peer/%05d.png");
  return {
      way_of(coder, "mjpeg>null", ffmpeg_words(input, {"-f", "null"}, "-"), "", Layout::none),
      way_of(coder, "mjpeg>yuv", ffmpeg_words(input, {"-f", "rawvideo"}, raw), "peer.yuv",
             Layout::placed),
      way_of(coder, "mjpeg>png", ffmpeg_words(input, {}, images), "peer", Layout::file_for_each)};
}

}  // namespace

std::vector<Way> ffmpeg_ways(const Case& what, const FilesSetting& setting, double bytes,
                             CaseResult& result) {
  const auto without = [&result](const std::string& why) {
    result.notes.push_back("FFmpeg: " + why);
    return std::vector<Way>{};
  };
  const std::string version = ffmpeg_version(setting);
  if (version.empty()) return without("the program ffmpeg is not installed");
  const std::string coder = "FFmpeg " + version;
  if (!what.encodes()) return decode_ways(coder, setting);
  if (setting.files.ffmpeg.empty()) return without("it does not read this kind of input");
  const int q = closest_quality(what, setting, bytes / static_cast<double>(setting.frames));
  if (q == 0) return without("it does not code this input");
  const std::string named = fmt::format("{} -q:v {}", coder, q);
  std::vector<Way> ways;
  for (const auto& [kind, format] :
       {std::pair("null", "null"), {"mjpeg", "mjpeg"}, {"mov", "mov"}}) {
    Words options = coding(what, q);
    options.insert(options.end(), {"-f", format});
    const bool writes = std::string(kind) != "null";
    const std::string file = writes ? std::string("peer.") + kind : "";
    ways.push_back(way_of(
        named, setting.kind + ">" + kind,
        ffmpeg_words(setting.files.ffmpeg, options, writes ? setting.folder.path(file) : "-"), file,
        writes ? Layout::appended : Layout::none));
  }
  return ways;
}

}  // namespace zerorun::app::bench
