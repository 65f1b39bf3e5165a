// Other programs that judge pictures and encode them: butteraugli_main, cjpegli, mozjpeg's cjpeg.
// SPDX-License-Identifier: MIT
#include "tests/rd/programs.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>
#include <sstream>

namespace zerorun::rd {
namespace {

std::string quoted(const std::string& text) { return "'" + text + "'"; }

/// FNV-1a.
std::uint64_t hash_of(const Image& image) {
  std::uint64_t hash = 14695981039346656037u;
  const auto add = [&hash](std::uint64_t value) { hash = (hash ^ value) * 1099511628211u; };
  add(static_cast<std::uint64_t>(image.width));
  for (const std::uint8_t sample : image.rgb) add(sample);
  return hash;
}

std::vector<std::byte> file_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// The first `count` metrics are in the file.
std::optional<Scores> kept_scores(const std::string& path, std::size_t count) {
  std::ifstream in(path);
  Scores scores = no_scores();
  for (std::size_t m = 0; m < count; ++m) in >> scores[m];
  return in ? std::optional(scores) : std::nullopt;
}

/// Under another name first: programs that stop leave no half of a line.
void keep_scores(const std::string& path, std::size_t count, const Scores& scores) {
  std::ofstream out(path + ".new");
  out.precision(10);
  for (std::size_t m = 0; m < count; ++m) out << scores[m] << '\n';
  out.close();
  std::error_code error;
  std::filesystem::rename(path + ".new", path, error);
}

}  // namespace

ScratchFolder::ScratchFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "zerorun_rd.XXXXXX").string();
  if (mkdtemp(name.data()) != nullptr) path_ = name;
}
ScratchFolder::~ScratchFolder() {
  std::error_code error;
  if (!path_.empty()) std::filesystem::remove_all(path_, error);
}

std::optional<std::string> output_of(const std::string& command) {
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return std::nullopt;
  std::string text;
  char part[256];
  while (std::fgets(part, sizeof part, pipe) != nullptr) text += part;
  return pclose(pipe) == 0 ? std::optional(text) : std::nullopt;
}

void write_ppm(const std::string& path, const Image& image) {
  std::ofstream out(path, std::ios::binary);
  out << "P6\n" << image.width << ' ' << image.height << "\n255\n";
  for (const std::uint8_t sample : image.rgb) out.put(static_cast<char>(sample));
}

std::optional<double> three_norm(const std::string& output) {
  const std::size_t at = output.rfind("3-norm:");
  if (at == std::string::npos) return std::nullopt;
  std::istringstream number(output.substr(at + 7));
  double norm = 0;
  return number >> norm ? std::optional(norm) : std::nullopt;
}

Judge::Judge(const Image& original, const JudgeOptions& options)
    : Meter(original), options_(options), original_(hash_of(original)) {
  write_ppm(folder_.file("original.ppm"), original);
}

Scores Judge::measure(const Image& distorted) const {
  const std::size_t count = options_.butteraugli.empty() ? kOwnMetrics : kMetrics;
  std::ostringstream name;
  name << std::hex << original_ << '-' << hash_of(distorted) << '-' << std::dec << count;
  const std::string kept = options_.cache + "/" + name.str();
  if (!options_.cache.empty())
    if (const auto scores = kept_scores(kept, count)) return *scores;
  Scores scores = Meter::measure(distorted);
  if (!options_.butteraugli.empty()) {
    const std::string picture = folder_.file(name.str() + ".ppm");
    write_ppm(picture, distorted);
    const auto output =
        output_of(quoted(options_.butteraugli) + ' ' + quoted(folder_.file("original.ppm")) + ' ' +
                  quoted(picture) + " 2>/dev/null");
    std::filesystem::remove(picture);
    if (const auto norm = three_norm(output.value_or(""))) scores[butteraugli] = -*norm;
  }
  if (!options_.cache.empty() && !std::isnan(scores[count - 1])) keep_scores(kept, count, scores);
  return scores;
}

std::vector<std::byte> encode_by(const Peer& peer, const std::string& sampling, int quality,
                                 const Image& image) {
  const ScratchFolder folder;
  const std::string in = folder.file("in.ppm"), out = folder.file("out.jpg");
  write_ppm(in, image);
  const std::string q = std::to_string(quality), files = ' ' + quoted(in) + ' ' + quoted(out);
  const std::string factors = sampling == "444" ? "1x1" : sampling == "422" ? "2x1" : "2x2";
  const std::string command =
      peer.is_jpegli
          ? " -q " + q + " --chroma_subsampling=" + sampling + ' ' + peer.arguments + files
          : " -quality " + q + " -sample " + factors + ' ' + peer.arguments + " -outfile " +
                quoted(out) + ' ' + quoted(in);
  if (!output_of(quoted(peer.program) + command + " 2>/dev/null")) return {};
  return file_bytes(out);
}

std::vector<std::byte> recode_by(const std::string& command, const std::vector<std::byte>& jpeg) {
  const ScratchFolder folder;
  const std::string in = folder.file("in.jpg"), out = folder.file("out.jpg");
  std::ofstream file(in, std::ios::binary);
  for (const std::byte byte : jpeg) file.put(static_cast<char>(byte));
  file.close();
  if (!output_of(command + " <" + quoted(in) + " >" + quoted(out))) return {};
  return file_bytes(out);
}

}  // namespace zerorun::rd
