// Keyword arguments of the package as parameters of the library.
// SPDX-License-Identifier: MIT
#include "apps/python/binding/options.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "apps/python/binding/failure.hpp"

namespace zerorun::python {
namespace {

std::int64_t parse_int64(nb::handle number, const char* name) {
  PyObject* index = PyBool_Check(number.ptr()) ? nullptr : PyNumber_Index(number.ptr());
  if (index == nullptr) {
    PyErr_Clear();
    fail_type(std::string(name) + " is " + type_of(number) + ", but must be an integer");
  }
  const nb::object owner = nb::steal(index);
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(index, &overflow);
  if (overflow != 0) fail(Errc::invalid_argument, std::string(name) + " has more than 64 bits");
  return value;
}

std::string parse_text(nb::handle text, const char* name) {
  if (!nb::isinstance<nb::str>(text))
    fail_type(std::string(name) + " is " + type_of(text) + ", but must be a str");
  return utf8_of(text);
}

[[noreturn]] void fail_choice(const char* name, const std::string& got, const char* choices) {
  fail(Errc::invalid_argument, std::string(name) + " is '" + got + "', but must be " + choices);
}

QuantTable parse_table(nb::handle table, const char* name) {
  QuantTable entries{};
  std::size_t count = 0;
  const nb::object flat = nb::hasattr(table, "ravel") ? table.attr("ravel")() : nb::borrow(table);
  for (nb::handle entry : flat) {
    const std::int64_t value = parse_int64(entry, name);
    if (count == 64 || value < 1 || value > 255) break;
    entries[count++] = static_cast<std::uint16_t>(value);
  }
  if (count != 64 || nb::len(flat) != 64)
    fail(Errc::invalid_argument,
         std::string(name) + " must have 64 entries from 1 to 255 in row order");
  return entries;
}

std::optional<Subsampling> parse_subsampling(nb::handle value) {
  if (value.is_none()) return {};
  const std::string text = utf8_of(nb::str(value));
  if (text == "auto") return {};
  constexpr Subsampling kAll[] = {Subsampling::s444, Subsampling::s422, Subsampling::s420,
                                  Subsampling::s440, Subsampling::s411, Subsampling::gray};
  for (const Subsampling sampling : kAll)
    if (name(sampling) == text) return sampling;
  fail_choice("subsampling", text, "auto, 420, 422, 444, 440, 411 or gray");
}

HuffmanTables parse_huffman(nb::handle value) {
  const std::string text = parse_text(value, "huffman");
  if (text == "standard") return HuffmanTables::standard;
  if (text == "optimal") return HuffmanTables::optimal;
  if (text == "trained") return HuffmanTables::trained;
  fail_choice("huffman", text, "standard, optimal or trained");
}

/// One of the values of an enumeration, by its name.
template <typename T, std::size_t N>
T parse_name(nb::handle value, const char* key, const T (&all)[N], const char* choices) {
  const std::string text = parse_text(value, key);
  for (const T one : all)
    if (name(one) == text) return one;
  fail_choice(key, text, choices);
}

/// The words of the program's --restart; a number may also be an int, and None means none.
RestartPolicy parse_restart(nb::handle value) {
  if (value.is_none()) return RestartPolicy::none();
  const std::string text = utf8_of(nb::str(value));
  if (text == "auto") return RestartPolicy::automatic();
  if (text == "none") return RestartPolicy::none();
  const std::size_t digits = text.find_first_not_of("0123456789");
  const std::string unit = digits == std::string::npos ? "" : text.substr(digits);
  const std::string number = text.substr(0, digits);
  if (!number.empty() && number.size() <= 5 && (unit.empty() || unit == "rows")) {
    const int count = std::stoi(number);
    if (count >= 1 && count <= 65535)
      return unit.empty() ? RestartPolicy::mcus(count) : RestartPolicy::mcu_rows(count);
  }
  fail_choice("restart", text, "auto, none, a number of MCUs from 1 to 65535, or '1rows'");
}

std::vector<MarkerSegment> parse_segments(nb::handle value) {
  std::vector<MarkerSegment> segments;
  for (nb::handle item : value) {
    if (!nb::isinstance<nb::tuple>(item) || nb::len(item) != 2 ||
        !nb::isinstance<nb::bytes>(item[1]))
      fail_type("segments must be a list of (marker, bytes)");
    const int marker = parse_int(item[0], "the marker of a segment");
    const nb::bytes payload = nb::cast<nb::bytes>(item[1]);
    const bool is_known = (marker >= 0xE0 && marker <= 0xEF) || marker == 0xFE;
    if (!is_known)
      fail(Errc::invalid_argument, "the marker of a segment must be 0xE0 to 0xEF or 0xFE");
    const auto* bytes = static_cast<const std::uint8_t*>(payload.data());
    segments.push_back({static_cast<std::uint8_t>(marker), {bytes, bytes + payload.size()}});
  }
  return segments;
}

std::pair<int, int> parse_aspect(nb::handle value) {
  if (!nb::isinstance<nb::tuple>(value) || nb::len(value) != 2)
    fail_type("pixel_aspect must be a tuple (x, y)");
  return {parse_int(value[0], "pixel_aspect"), parse_int(value[1], "pixel_aspect")};
}

ChromaUpsampling parse_upsampling(nb::handle value) {
  const std::string text = parse_text(value, "upsampling");
  if (text == "fancy") return ChromaUpsampling::fancy;
  if (text == "nearest") return ChromaUpsampling::nearest;
  fail_choice("upsampling", text, "fancy or nearest");
}

InstructionSet parse_instruction_set(nb::handle value) {
  const std::string text = parse_text(value, "instruction_set");
  for (const InstructionSet set :
       {InstructionSet::best, InstructionSet::scalar, InstructionSet::sse4, InstructionSet::avx2,
        InstructionSet::avx512, InstructionSet::neon})
    if (name(set) == text) return set;
  fail_choice("instruction_set", text, "best, or one of instruction_sets()");
}

template <typename Params>
bool set_common(Params& params, const std::string& key, nb::handle value) {
  if (key == "device") {
    const DeviceChoice device = parse_device(value);
    params.backend = device.backend;
    params.device = device.index;
  } else if (key == "threads") {
    params.threads = parse_int(value, "threads");
  } else if (key == "instruction_set") {
    params.instruction_set = parse_instruction_set(value);
  } else {
    return false;
  }
  return true;
}

bool set_coding(EncodeParams& params, const std::string& key, nb::handle value) {
  if (key == "quality")
    params.quality = parse_int(value, "quality");
  else if (key == "subsampling")
    params.subsampling = parse_subsampling(value);
  else if (key == "huffman")
    params.huffman = parse_huffman(value);
  else if (key == "restart")
    params.restart = parse_restart(value);
  else if (key == "index")
    params.index = parse_bool(value, "index");
  else
    return false;
  return true;
}

/// Bytes; None: no such size.
std::size_t parse_size(nb::handle value, const char* name) {
  if (value.is_none()) return 0;
  const std::int64_t bytes = parse_int64(value, name);
  if (bytes < 1) fail(Errc::invalid_argument, std::string(name) + " is not a number of bytes");
  return static_cast<std::size_t>(bytes);
}

/// None: no such target.
double parse_target(nb::handle value, const char* name) {
  if (value.is_none()) return 0;
  if (PyBool_Check(value.ptr()) || PyNumber_Check(value.ptr()) == 0)
    fail_type(std::string(name) + " is " + type_of(value) + ", but must be a number");
  const double number = PyFloat_AsDouble(value.ptr());
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    fail_type(std::string(name) + " is " + type_of(value) + ", but must be a number");
  }
  if (number == 0) fail(Errc::invalid_argument, std::string(name) + " is 0, but must be above");
  return number;
}

bool set_tuning(EncodeParams& params, const std::string& key, nb::handle value) {
  if (key == "tune")
    params.tune = parse_name(value, "tune", kAllTunes, "exact, photo, text or psnr");
  else if (key == "effort")
    params.effort = parse_name(value, "effort", kAllEfforts, "fast or best");
  else if (key == "tables")
    params.tables =
        parse_name(value, "tables", kAllQuantTables, "auto, annex-k, flat, ffmpeg or tuned");
  else if (key == "target_size")
    params.size.target_bytes = parse_size(value, "target_size");
  else if (key == "max_size")
    params.size.max_bytes = parse_size(value, "max_size");
  else if (key == "target_psnr")
    params.size.target_psnr = parse_target(value, "target_psnr");
  else if (key == "target_ssim")
    params.size.target_ssim = parse_target(value, "target_ssim");
  else
    return false;
  return true;
}

bool set_content(EncodeParams& params, const std::string& key, nb::handle value) {
  if (key == "luma_table") {
    if (!value.is_none()) params.luma_table = parse_table(value, "luma_table");
  } else if (key == "chroma_table") {
    if (!value.is_none()) params.chroma_table = parse_table(value, "chroma_table");
  } else if (key == "jfif_header") {
    params.jfif_header = parse_bool(value, "jfif_header");
  } else if (key == "pixel_aspect") {
    std::tie(params.pixel_aspect_x, params.pixel_aspect_y) = parse_aspect(value);
  } else if (key == "segments") {
    params.segments = parse_segments(value);
  } else {
    return false;
  }
  return true;
}

bool set_decoding(DecodeParams& params, const std::string& key, nb::handle value) {
  if (key == "upsampling")
    params.upsampling = parse_upsampling(value);
  else if (key == "strict")
    params.strict = parse_bool(value, "strict");
  else if (key == "max_pixels")
    params.limits.max_pixels = parse_int64(value, "max_pixels");
  else if (key == "max_scans")
    params.limits.max_scans = parse_int(value, "max_scans");
  else if (key == "max_header_bytes")
    params.limits.max_header_bytes = parse_int64(value, "max_header_bytes");
  else
    return false;
  return true;
}

[[noreturn]] void fail_keyword(const std::string& key) {
  fail_type("'" + key + "' is no keyword of this call; help() lists the options");
}

}  // namespace

int parse_int(nb::handle number, const char* name) {
  const std::int64_t value = parse_int64(number, name);
  if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max())
    fail(Errc::invalid_argument, std::string(name) + " has more than 32 bits");
  return static_cast<int>(value);
}

bool parse_bool(nb::handle flag, const char* name) {
  if (!PyBool_Check(flag.ptr()))
    fail_type(std::string(name) + " is " + type_of(flag) + ", but must be True or False");
  return flag.ptr() == Py_True;
}

PixelFormat parse_format(nb::handle format) {
  const std::string text = parse_text(format, "format");
  for (int i = 0; i < kPixelFormatCount; ++i)
    if (name(static_cast<PixelFormat>(i)) == text) return static_cast<PixelFormat>(i);
  constexpr std::pair<std::string_view, PixelFormat> kUsual[] = {
      {"gray", PixelFormat::gray8},  {"rgb", PixelFormat::rgb24},   {"bgr", PixelFormat::bgr24},
      {"rgba", PixelFormat::rgbx32}, {"bgra", PixelFormat::bgrx32}, {"yuyv", PixelFormat::yuyv},
      {"uyvy", PixelFormat::uyvy}};
  for (const auto& [usual, meant] : kUsual)
    if (usual == text) return meant;
  std::string all;
  for (int i = 0; i < kPixelFormatCount; ++i)
    all += (i == 0                       ? ""
            : i + 1 == kPixelFormatCount ? " or "
                                         : ", ") +
           std::string(name(static_cast<PixelFormat>(i)));
  fail_choice("format", text, all.c_str());
}

DeviceChoice parse_device(nb::handle device) {
  if (device.is_none()) return {};
  const std::string text = utf8_of(nb::str(device));
  if (text == "auto") return {};
  if (text == "cpu") return {Backend::cpu, 0};
  if (text == "cuda") return {Backend::cuda, 0};
  const std::string number = text.starts_with("cuda:") ? text.substr(5) : "";
  if (number.empty() || number.size() > 4 ||
      number.find_first_not_of("0123456789") != std::string::npos)
    fail_choice("device", text, "None, 'cpu', 'cuda' or 'cuda:N'");
  return {Backend::cuda, std::stoi(number)};
}

namespace {

/// The indices after "cuda:" in "cuda:0,2".
std::vector<int> parse_indices(const std::string& text) {
  std::vector<int> list;
  for (std::size_t at = sizeof("cuda:") - 1; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    list.push_back(parse_device(nb::str(("cuda:" + text.substr(at, comma - at)).c_str())).index);
    at = comma + 1;
  }
  return list;
}

std::vector<int> indices_of(nb::handle devices) {
  std::vector<int> list;
  for (const nb::handle each : nb::borrow<nb::sequence>(devices)) {
    const DeviceChoice choice = parse_device(each);
    if (choice.backend != Backend::cuda)
      fail_choice("device", utf8_of(nb::str(each)), "a GPU; a list is of GPUs alone");
    list.push_back(choice.index);
  }
  return list;
}

}  // namespace

std::vector<int> take_device_list(nb::kwargs& options) {
  if (!options.contains("device")) return {};
  const nb::object device = options["device"];
  std::vector<int> list;
  if (nb::isinstance<nb::list>(device) || nb::isinstance<nb::tuple>(device)) {
    list = indices_of(device);
    if (list.empty()) fail_choice("device", "[]", "a list of at least one GPU");
  } else {
    const std::string text = utf8_of(nb::str(device));
    if (text == "cuda:all") {
      list = usable_cuda_devices();
      if (list.empty()) fail(Errc::no_device, "there is no usable CUDA device");
    } else if (text.starts_with("cuda:") && text.find(',') != text.npos) {
      list = parse_indices(text);
    } else {
      return {};
    }
  }
  nb::kwargs one = nb::steal<nb::kwargs>(PyDict_Copy(options.ptr()));  // the caller keeps its own
  one["device"] = nb::str(("cuda:" + std::to_string(list[0])).c_str());
  options = one;
  return list;
}

EncodeParams encode_params(const nb::kwargs& options) {
  EncodeParams params;
  for (const auto& [name, value] : options) {
    const std::string key = utf8_of(name);
    if (!set_common(params, key, value) && !set_coding(params, key, value) &&
        !set_tuning(params, key, value) && !set_content(params, key, value))
      fail_keyword(key);
  }
  return params;
}

DecodeParams decode_params(const nb::kwargs& options) {
  DecodeParams params;
  for (const auto& [name, value] : options) {
    const std::string key = utf8_of(name);
    if (!set_common(params, key, value) && !set_decoding(params, key, value)) fail_keyword(key);
  }
  return params;
}

}  // namespace zerorun::python
