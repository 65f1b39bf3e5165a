// Names of inputs and outputs: what they are, number patterns, and the words that name formats.
// SPDX-License-Identifier: MIT
#include "io/base/location.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <unordered_map>

#include "codec/base/try.hpp"
#include "zerorun/io.hpp"

namespace zerorun::io {

namespace {

/// More digits than FFmpeg and file systems use; keeps a width like %0999999999d harmless.
constexpr int kMaxPatternWidth = 18;

constexpr std::string_view kNameWord = "{name}", kNumberWord = "{number}";

struct Conversion {
  std::size_t begin = 0, end = 0;  // of "%05d" in the name
  int width = 0;
};

Status bad_pattern(const std::string& name, const std::string& why) {
  return Status(Errc::invalid_argument, "the pattern '" + name + "' " + why);
}

/// Reads the conversion at name[at] == '%'.
Result<Conversion> read_conversion(const std::string& name, std::size_t at) {
  std::size_t i = at + 1;
  const std::size_t digits = i;
  while (i < name.size() && name[i] >= '0' && name[i] <= '9') ++i;
  const std::string_view width(name.data() + digits, i - digits);
  if (i == name.size() || (name[i] != 'd' && name[i] != 'i' && name[i] != 'u'))
    return bad_pattern(name,
                       "has a '%' that starts no number; write %d or %05d, and %% for a "
                       "percent sign");
  if (!width.empty() && width[0] != '0')
    return bad_pattern(name, "pads with blanks; write %0" + std::string(width) + "d");
  Conversion found{at, i + 1, 0};
  if (!width.empty()) {
    const auto [end, error] =
        std::from_chars(width.data(), width.data() + width.size(), found.width);
    if (error != std::errc() || end != width.data() + width.size() ||
        found.width > kMaxPatternWidth)
      return bad_pattern(name, "has more than " + std::to_string(kMaxPatternWidth) + " digits");
  }
  return found;
}

/// True if name[at] begins what looks like printf's conversion, right or wrong: "100%.png" and
/// "50% off.png" have none.
bool is_conversion(const std::string& name, std::size_t at) noexcept {
  if (name[at] != '%' || at + 1 == name.size()) return false;
  if (name[at + 1] == '0') return true;
  const std::size_t letter = name.find_first_not_of("-+*.$0123456789l", at + 1);
  return letter != std::string::npos &&
         std::string_view("diuxsn").find(name[letter]) != std::string_view::npos;
}

/// "####" at name[at] is "%04d". A single # is a character as any other.
std::optional<Conversion> read_hashes(const std::string& name, std::size_t at) noexcept {
  const std::size_t found = name.find_first_not_of('#', at);
  const std::size_t end = found == std::string::npos ? name.size() : found;
  if (end - at < 2 || end - at > static_cast<std::size_t>(kMaxPatternWidth)) return std::nullopt;
  return Conversion{at, end, static_cast<int>(end - at)};
}

std::string unescape_percent(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    if (text[i] == '%' && i + 1 < text.size() && text[i + 1] == '%') ++i;
  }
  return out;
}

namespace fs = std::filesystem;

/// The file name without its extension.
std::string stem_of(const std::string& input) {
  const std::string stem = fs::path(input).stem().string();
  return input == "-" || stem.empty() ? "stream" : stem;
}

Status check_name(const Location& location) {
  if (location.name.empty()) return Status(Errc::invalid_argument, "the file name is empty");
  if (location.name.find('\0') != std::string::npos)
    return Status(Errc::invalid_argument, "the file name has a zero byte in it");
  return Status::ok();
}

/// Sets the pattern if the name is one.
Status set_pattern(ParsedLocation& parsed) {
  ZR_LET(pattern, NumberPattern::parse(parsed.path));
  if (!pattern) return Status::ok();
  parsed.kind = LocationKind::pattern;
  parsed.pattern = std::move(pattern);
  return Status::ok();
}

struct Container {
  std::string_view format;  // the extension, or the word of --format
  std::string_view muxer;   // libavformat's name
};
constexpr std::array kContainers{
    Container{"mov", "mov"},           Container{"qt", "mov"},  Container{"mkv", "matroska"},
    Container{"matroska", "matroska"}, Container{"avi", "avi"}, Container{"mp4", "mp4"},
    Container{"m4v", "mp4"},
};

/// A format by its first bytes, and the program that converts it.
struct Foreign {
  std::size_t at;
  std::string_view magic;
  const char* what;
  const char* before;  // the name of the file stands between the two
  const char* after;
};
using namespace std::string_view_literals;
constexpr Foreign kCameraRaw{0, "IIRO"sv, "camera RAW", "dcraw_emu -T ", ""};
constexpr std::array kForeign{
    Foreign{4, "ftyphei"sv, "HEIC", "heif-convert ", " picture.png"},
    Foreign{4, "ftyphev"sv, "HEIC", "heif-convert ", " picture.png"},
    Foreign{4, "ftypmif1"sv, "HEIF", "heif-convert ", " picture.png"},
    Foreign{4, "ftypmsf1"sv, "HEIF", "heif-convert ", " picture.png"},
    Foreign{4, "ftypcrx "sv, "camera RAW", "dcraw_emu -T ", ""},
    Foreign{0, "II+\0"sv, "BigTIFF", "tiffcp ", " picture.tif"},
    Foreign{0, "MM\0+"sv, "BigTIFF", "tiffcp ", " picture.tif"},
    Foreign{0, "\xFF\x0A"sv, "JPEG XL", "djxl ", " picture.png"},
    Foreign{4, "JXL \r\n"sv, "JPEG XL", "djxl ", " picture.png"},
    Foreign{4, "jP  \r\n"sv, "JPEG 2000", "opj_decompress -i ", " -o picture.png"},
    Foreign{0, "\xFF\x4F\xFF\x51"sv, "JPEG 2000", "opj_decompress -i ", " -o picture.png"},
    Foreign{8, "CR\2"sv, "camera RAW", "dcraw_emu -T ", ""},
    kCameraRaw,
    Foreign{0, "IIRS"sv, "camera RAW", "dcraw_emu -T ", ""},
    Foreign{0, "MMOR"sv, "camera RAW", "dcraw_emu -T ", ""},
    Foreign{0, "IIU\0"sv, "camera RAW", "dcraw_emu -T ", ""},
    Foreign{0, "FUJIFILMCCD-RAW"sv, "camera RAW", "dcraw_emu -T ", ""},
};

/// A word for a shell.
std::string quoted(std::string name) {
  if (name.find_first_of(" \t\n\"#$&'()*;<>?[\\]`{|}~!") == std::string::npos) return name;
  for (std::size_t at = 0; (at = name.find('\'', at)) != std::string::npos; at += 4)
    name.replace(at, 1, "'\\''");
  return "'" + name + "'";
}

std::string sentence_about(const Foreign& format, const std::string& name,
                           const char* does = "` converts it") {
  return "it is " + std::string(format.what) + ", which is not supported; `" + format.before +
         quoted(name) + format.after + does;
}

}  // namespace

Result<std::optional<NumberPattern>> NumberPattern::parse(const std::string& name) {
  std::optional<Conversion> found;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '%' && i + 1 < name.size() && name[i + 1] == '%') {
      ++i;
      continue;
    }
    Conversion next;
    if (std::string_view(name).substr(i).starts_with(kNumberWord)) {
      next = {i, i + kNumberWord.size(), 0};
    } else if (is_conversion(name, i)) {
      ZR_LET(read, read_conversion(name, i));
      next = read;
    } else if (const auto hashes = name[i] == '#' ? read_hashes(name, i) : std::nullopt) {
      next = *hashes;
    } else {
      continue;
    }
    if (found) return bad_pattern(name, "has more than one number; only one can count");
    found = next;
    i = next.end - 1;
  }
  if (!found) return std::optional<NumberPattern>();

  const std::size_t file_at = name.rfind('/') + 1;  // 0 if there is no directory
  if (found->begin < file_at)
    return bad_pattern(name, "has its number in a directory; it has to be in the file name");
  NumberPattern pattern;
  const std::string_view view(name);
  pattern.path_prefix_ = unescape_percent(view.substr(0, file_at));
  pattern.before_ = unescape_percent(view.substr(file_at, found->begin - file_at));
  pattern.after_ = unescape_percent(view.substr(found->end));
  pattern.width_ = found->width;
  return std::optional<NumberPattern>(std::move(pattern));
}

std::string NumberPattern::file_name(std::int64_t number) const {
  std::string digits = std::to_string(number);
  const auto width = static_cast<std::size_t>(width_);
  const std::size_t sign = number < 0 ? 1 : 0;  // printf's %03d makes "-01" of -1
  if (digits.size() < width) digits.insert(sign, width - digits.size(), '0');
  return before_ + digits + after_;
}

std::string NumberPattern::path(std::int64_t number) const {
  return path_prefix_ + file_name(number);
}

/// What stands in a file name where this pattern has its number; else empty.
std::string_view NumberPattern::number_in(std::string_view name) const {
  if (name.size() <= before_.size() + after_.size() || !name.starts_with(before_) ||
      !name.ends_with(after_))
    return {};
  return name.substr(before_.size(), name.size() - before_.size() - after_.size());
}

std::optional<std::int64_t> NumberPattern::match(std::string_view name) const {
  const std::string_view digits = number_in(name);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  if (file_name(number) != name) return std::nullopt;  // other padding
  return number;
}

std::string_view NumberPattern::other_digits(std::string_view name) const {
  const std::string_view digits = number_in(name);
  return digits.find_first_not_of("0123456789") == std::string_view::npos ? digits
                                                                          : std::string_view();
}

Result<ParsedLocation> parse_input(const Location& input) {
  if (!input.names.empty()) return ParsedLocation{LocationKind::names, input.name, {}, input.names};
  ZR_TRY(check_name(input));
  const std::string& name = input.name;
  const auto is = [](LocationKind kind, const std::string& path) {
    return ParsedLocation{kind, path, {}, {}};
  };
  if (name == "-") return is(LocationKind::stream, name);
  std::error_code ignored;
  const fs::file_status found = fs::status(name, ignored);
  if (fs::is_directory(found)) return is(LocationKind::directory, name);
  if (is_address(name)) return is(LocationKind::address, name);
  ParsedLocation parsed = is(LocationKind::file, name);
  if (fs::exists(found)) return parsed;  // a file may be called "100%d[1].png"
  if (name[0] == '@') return is(LocationKind::list, name.substr(1));
  const Status status = set_pattern(parsed);
  const bool has_wildcard = name.find_first_of("*?[") != std::string::npos;
  if (has_wildcard && !parsed.pattern)
    parsed.kind = LocationKind::glob;
  else
    ZR_TRY(status);
  return parsed;
}

Result<ParsedLocation> parse_output(const Location& output) {
  ZR_TRY(check_name(output));
  if (!output.names.empty())
    return ParsedLocation{LocationKind::file, output.names.front(), {}, {}};
  const std::string& name = output.name;
  if (name == "-") return ParsedLocation{LocationKind::stream, name, {}, {}};
  std::error_code ignored;
  if (name.back() == '/' || fs::is_directory(name, ignored))
    return Status(Errc::invalid_argument, "the output '" + name +
                                              "' is a directory; name a pattern in it, for "
                                              "example %05d.jpg or {name}.jpg");
  ParsedLocation parsed{LocationKind::file, name, {}, {}};
  ZR_TRY(set_pattern(parsed));
  return parsed;
}

Result<NamePattern> NamePattern::parse(const std::string& name) {
  NamePattern pattern;
  const std::size_t file_at = name.rfind('/') + 1;  // 0 if there is no directory
  pattern.path_prefix_ = name.substr(0, file_at);
  pattern.file_name_ = name.substr(file_at);
  ZR_LET(numbers, NumberPattern::parse(name));
  pattern.numbers_ = std::move(numbers);
  if (pattern.numbers_) pattern.path_prefix_ = pattern.numbers_->path_prefix();
  const std::size_t word = name.find(kNameWord);
  if (word < file_at || name.rfind(kNameWord) != word)
    return bad_pattern(name, "has {name} twice or in a directory; it stands once in the file name");
  return pattern;
}

std::string NamePattern::path(const std::string& input, const std::string& folder,
                              std::int64_t number) const {
  std::string name = numbers_ ? numbers_->file_name(number) : file_name_;
  name.replace(name.find(kNameWord), kNameWord.size(), stem_of(input));
  const bool is_below = !folder.empty() && input.starts_with(folder);
  const std::string below = is_below ? input.substr(folder.size()) : std::string();
  return path_prefix_ + below.substr(0, below.rfind('/') + 1) + name;
}

bool is_address(const std::string& name) noexcept {
  constexpr std::array<std::string_view, 5> kSchemes{"http://", "https://", "rtsp://", "udp://",
                                                     "v4l2:/"};
  return std::any_of(kSchemes.begin(), kSchemes.end(),
                     [&](std::string_view scheme) { return name.starts_with(scheme); });
}

bool has_name_word(const Location& output) noexcept {
  return output.names.empty() && output.name.find(kNameWord) != std::string::npos;
}

Location complete_output(const Location& output, const Location& input,
                         const std::string& extension) {
  Location complete = output;
  std::error_code ignored;
  if (output.name.empty() || is_measuring_output(output)) return complete;
  if (output.name.back() == '/' || fs::is_directory(output.name, ignored)) {
    complete.name += output.name.back() == '/' ? "" : "/";
    complete.name += std::string(kNameWord) + "." +
                     (output.format.empty() ? extension : lower_case(output.format));
  }
  if (!has_name_word(complete)) return complete;
  const auto parsed = parse_input(input);
  const bool is_one =
      parsed && (parsed->kind == LocationKind::file || parsed->kind == LocationKind::address ||
                 parsed->kind == LocationKind::stream);
  const auto pattern = NamePattern::parse(complete.name);
  if (!is_one || !pattern) return complete;
  if (!pattern->has_number()) {
    complete.names = {pattern->path(input.name, {}, 0)};
    complete.name = complete.names.front();
    return complete;
  }
  std::string escaped;
  for (const char c : stem_of(input.name)) escaped += c == '%' ? "%%" : std::string(1, c);
  complete.name.replace(complete.name.find(kNameWord), kNameWord.size(), escaped);
  return complete;
}

Result<std::vector<std::string>> named_paths(const Location& output, const PictureFiles& files,
                                             bool keeps_tree) {
  ZR_LET(pattern, NamePattern::parse(output.name));
  std::unordered_map<std::string, std::size_t> inputs, taken;
  const auto normal = [](const std::string& path) {
    return fs::path(path).lexically_normal().string();
  };
  for (std::size_t i = 0; i < files.paths.size(); ++i) inputs.emplace(normal(files.paths[i]), i);
  std::vector<std::string> paths;
  std::int64_t number = output.start_number.value_or(1);
  for (std::size_t i = 0; i < files.paths.size(); ++i) {
    const std::string& input = files.paths[i];
    paths.push_back(pattern.path(input, keeps_tree ? files.folder : std::string(), number++));
    const auto [before, is_new] = taken.emplace(normal(paths.back()), i);
    if (!is_new)
      return Status(Errc::output_exists, "'" + files.paths[before->second] + "' and '" + input +
                                             "' would both become '" + paths.back() +
                                             "'; write {name}_{number}, or keep sub-folders "
                                             "apart (--keep-tree)");
    const auto other = inputs.find(before->first);
    if (other != inputs.end() && other->second != i)
      return Status(Errc::output_exists,
                    "'" + input + "' would replace '" + paths.back() + "', another input");
  }
  return paths;
}

std::string part_path(const std::string& path) {
  constexpr std::string_view kPart = ".part";
  constexpr std::size_t kMostBytes = 255;  // of a name in Linux's file systems
  const std::size_t file_at = path.rfind('/') + 1;
  if (path.size() - file_at + kPart.size() <= kMostBytes) return path + std::string(kPart);
  // Names that begin alike differ.
  const std::string digits = std::to_string(std::hash<std::string>()(path.substr(file_at)));
  const std::size_t kept = kMostBytes - kPart.size() - digits.size();
  return path.substr(0, file_at + kept) + digits + std::string(kPart);
}

std::string lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

std::string extension_of(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);  // none if there is no directory
  const std::size_t dot = path.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return {};
  return lower_case(std::string(path.substr(dot + 1)));
}

std::string format_of(const Location& location) {
  return location.format.empty() ? extension_of(location.name) : lower_case(location.format);
}

std::string foreign_format(std::string_view head, const std::string& name) {
  for (const Foreign& format : kForeign)
    if (head.size() > format.at && head.substr(format.at).starts_with(format.magic))
      return sentence_about(format, name);
  constexpr char kAnimation = 0x02;  // WebP container specification, VP8X
  if (head.size() > 20 && head.starts_with("RIFF") && head.substr(8).starts_with("WEBPVP8X") &&
      (head[20] & kAnimation) != 0)
    return sentence_about({0, {}, "an animated WebP", "webpmux -get frame 1 ", " -o picture.webp"},
                          name, "` takes its first picture out");
  return {};
}

std::string camera_raw(const std::string& name) { return sentence_about(kCameraRaw, name); }

bool is_raw_mjpeg(const std::string& format) {
  return format == "mjpeg" || format == "mjpg" || format == "mjpe";
}

bool is_jpeg_file(const std::string& format) {
  return format == "jpg" || format == "jpeg" || format == "jpe" || format == "jfif";
}

std::string container_muxer(const std::string& format) {
  for (const Container& container : kContainers)
    if (container.format == format) return std::string(container.muxer);
  return {};
}

std::string container_of(const Location& output) {
  const bool is_file = output.name != "-" && !is_measuring_output(output);
  return is_file ? container_muxer(format_of(output)) : std::string();
}

Features features() noexcept {
  Features have;
#ifdef ZERORUN_HAVE_FFMPEG
  have.ffmpeg = true;
#endif
#ifdef ZERORUN_HAVE_OPENCV
  have.opencv = true;
#endif
  return have;
}

}  // namespace zerorun::io
