// Keyword arguments of the package as parameters of the library.
// SPDX-License-Identifier: MIT
#include "apps/python/binding/options.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <tuple>

namespace zerorun::python {
namespace {

[[noreturn]] void fail_kind(const char* name, nb::handle got, const char* wanted) {
  fail_type(std::string(name) + " is " + type_of(got) + ", but must be " + wanted);
}

[[noreturn]] void fail_choice(const char* name, const std::string& got,
                              const std::string& choices) {
  fail_argument(std::string(name) + " is '" + got + "', but must be " + choices);
}

std::int64_t parse_int64(nb::handle number, const char* name) {
  PyObject* index = PyBool_Check(number.ptr()) ? nullptr : PyNumber_Index(number.ptr());
  if (index == nullptr) {
    PyErr_Clear();
    fail_kind(name, number, "an integer");
  }
  const nb::object owner = nb::steal(index);
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(index, &overflow);
  if (overflow != 0) fail_argument(std::string(name) + " has more than 64 bits");
  return value;
}

bool parse_bool(nb::handle flag, const char* name) {
  if (!PyBool_Check(flag.ptr())) fail_kind(name, flag, "True or False");
  return flag.ptr() == Py_True;
}

std::string parse_text(nb::handle text, const char* name) {
  if (!nb::isinstance<nb::str>(text)) fail_kind(name, text, "a str");
  return utf8_of(text);
}

std::string text_of(nb::handle value) { return utf8_of(nb::str(value)); }

/// One of the values of an enumeration, by its name.
template <typename T, typename Values>
T find_name(const std::string& text, const char* key, const Values& all, const char* choices) {
  for (const T one : all)
    if (name(one) == text) return one;
  fail_choice(key, text, choices);
}

/// One of a few words, in the order of the values 0, 1, ...
template <typename T>
T parse_word(nb::handle value, const char* key, std::initializer_list<const char*> words,
             const char* choices) {
  const std::string text = parse_text(value, key);
  const auto found = std::find(words.begin(), words.end(), text);
  if (found == words.end()) fail_choice(key, text, choices);
  return static_cast<T>(found - words.begin());
}

/// Bytes; None: no such size.
std::size_t parse_size(nb::handle value, const char* name) {
  if (value.is_none()) return 0;
  const std::int64_t bytes = parse_int64(value, name);
  if (bytes < 1) fail_argument(std::string(name) + " is not a number of bytes");
  return static_cast<std::size_t>(bytes);
}

/// None: no such target.
double parse_target(nb::handle value, const char* name) {
  if (value.is_none()) return 0;
  if (PyBool_Check(value.ptr()) || PyNumber_Check(value.ptr()) == 0)
    fail_kind(name, value, "a number");
  const double number = PyFloat_AsDouble(value.ptr());
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    fail_kind(name, value, "a number");
  }
  if (number == 0) fail_argument(std::string(name) + " is 0, but must be above 0");
  return number;
}

std::optional<QuantTable> parse_table(nb::handle table, const char* name) {
  if (table.is_none()) return {};
  QuantTable entries{};
  std::size_t count = 0;
  const nb::object flat = nb::hasattr(table, "ravel") ? table.attr("ravel")() : nb::borrow(table);
  for (nb::handle entry : flat) {
    const std::int64_t value = parse_int64(entry, name);
    if (count == 64 || value < 1 || value > 255) break;
    entries[count++] = static_cast<std::uint16_t>(value);
  }
  if (count != 64 || nb::len(flat) != 64)
    fail_argument(std::string(name) + " must have 64 entries from 1 to 255 in row order");
  return entries;
}

std::optional<Subsampling> parse_subsampling(nb::handle value, const char* key) {
  const std::string text = value.is_none() ? "auto" : text_of(value);
  if (text == "auto") return {};
  constexpr Subsampling kAll[] = {Subsampling::s444, Subsampling::s422, Subsampling::s420,
                                  Subsampling::s440, Subsampling::s411, Subsampling::gray};
  return find_name<Subsampling>(text, key, kAll, "auto, 420, 422, 444, 440, 411 or gray");
}

/// The words of the program's --restart; a number may also be an int, and None means none.
RestartPolicy parse_restart(nb::handle value, const char* key) {
  const std::string text = value.is_none() ? "none" : text_of(value);
  if (text == "auto") return RestartPolicy::automatic();
  if (text == "none") return RestartPolicy::none();
  const std::string number = text.substr(0, text.find_first_not_of("0123456789"));
  const std::string unit = text.substr(number.size());
  if (!number.empty() && number.size() <= 5 && (unit.empty() || unit == "rows")) {
    const int count = std::stoi(number);
    if (count >= 1 && count <= 65535)
      return unit.empty() ? RestartPolicy::mcus(count) : RestartPolicy::mcu_rows(count);
  }
  fail_choice(key, text, "auto, none, a number of MCUs from 1 to 65535, or '1rows'");
}

std::vector<MarkerSegment> parse_segments(nb::handle value) {
  std::vector<MarkerSegment> segments;
  for (nb::handle item : value) {
    if (!nb::isinstance<nb::tuple>(item) || nb::len(item) != 2 ||
        !nb::isinstance<nb::bytes>(item[1]))
      fail_type("segments must be a list of (marker, bytes)");
    const int marker = parse_int(item[0], "the marker of a segment");
    const nb::bytes payload = nb::cast<nb::bytes>(item[1]);
    if ((marker < 0xE0 || marker > 0xEF) && marker != 0xFE)
      fail_argument("the marker of a segment must be 0xE0 to 0xEF or 0xFE");
    const auto* bytes = static_cast<const std::uint8_t*>(payload.data());
    segments.push_back({static_cast<std::uint8_t>(marker), {bytes, bytes + payload.size()}});
  }
  return segments;
}

std::pair<int, int> parse_aspect(nb::handle value, const char* key) {
  if (!nb::isinstance<nb::tuple>(value) || nb::len(value) != 2)
    fail_type("pixel_aspect must be a tuple (x, y)");
  return {parse_int(value[0], key), parse_int(value[1], key)};
}

InstructionSet parse_instruction_set(nb::handle value, const char* key) {
  constexpr InstructionSet kAll[] = {InstructionSet::best,   InstructionSet::scalar,
                                     InstructionSet::sse4,   InstructionSet::avx2,
                                     InstructionSet::avx512, InstructionSet::neon};
  return find_name<InstructionSet>(parse_text(value, key), key, kAll,
                                   "best, or one of instruction_sets()");
}

struct DeviceChoice {
  Backend backend = Backend::automatic;
  int index = 0;
};

/// None or "auto", "cpu", "cuda", "cuda:1"; anything whose str() is one of these.
DeviceChoice parse_device(nb::handle device) {
  const std::string text = device.is_none() ? "auto" : text_of(device);
  if (text == "auto") return {};
  if (text == "cpu") return {Backend::cpu, 0};
  if (text == "cuda") return {Backend::cuda, 0};
  const std::string number = text.starts_with("cuda:") ? text.substr(5) : "";
  if (number.empty() || number.size() > 4 ||
      number.find_first_not_of("0123456789") != std::string::npos)
    fail_choice("device", text, "None, 'cpu', 'cuda' or 'cuda:N'");
  return {Backend::cuda, std::stoi(number)};
}

/// An option of a call: its keyword, and how its value gets into the parameters.
template <typename Params>
struct Option {
  std::string_view key;
  void (*set)(Params& params, nb::handle value, const char* key);
};

template <typename Params>
bool set_common(Params& params, const std::string& key, nb::handle value) {
  if (key == "device") {
    const DeviceChoice device = parse_device(value);
    params.backend = device.backend;
    params.device = device.index;
  } else if (key == "threads") {
    params.threads = parse_int(value, "threads");
  } else if (key == "instruction_set") {
    params.instruction_set = parse_instruction_set(value, "instruction_set");
  } else {
    return false;
  }
  return true;
}

using E = EncodeParams;
constexpr Option<E> kEncodeOptions[] = {
    {"quality", [](E& p, nb::handle v, const char* k) { p.quality = parse_int(v, k); }},
    {"subsampling",
     [](E& p, nb::handle v, const char* k) { p.subsampling = parse_subsampling(v, k); }},
    {"huffman",
     [](E& p, nb::handle v, const char* k) {
       p.huffman = parse_word<HuffmanTables>(v, k, {"standard", "optimal", "trained"},
                                             "standard, optimal or trained");
     }},
    {"restart", [](E& p, nb::handle v, const char* k) { p.restart = parse_restart(v, k); }},
    {"tune",
     [](E& p, nb::handle v, const char* k) {
       p.tune = find_name<Tune>(parse_text(v, k), k, kAllTunes, "exact, photo, text or psnr");
     }},
    {"effort",
     [](E& p, nb::handle v, const char* k) {
       p.effort = find_name<Effort>(parse_text(v, k), k, kAllEfforts, "fast or best");
     }},
    {"tables",
     [](E& p, nb::handle v, const char* k) {
       p.tables = find_name<QuantTables>(parse_text(v, k), k, kAllQuantTables,
                                         "auto, annex-k, flat, ffmpeg or tuned");
     }},
    {"target_size",
     [](E& p, nb::handle v, const char* k) { p.size.target_bytes = parse_size(v, k); }},
    {"max_size", [](E& p, nb::handle v, const char* k) { p.size.max_bytes = parse_size(v, k); }},
    {"target_psnr",
     [](E& p, nb::handle v, const char* k) { p.size.target_psnr = parse_target(v, k); }},
    {"target_ssim",
     [](E& p, nb::handle v, const char* k) { p.size.target_ssim = parse_target(v, k); }},
    {"luma_table", [](E& p, nb::handle v, const char* k) { p.luma_table = parse_table(v, k); }},
    {"chroma_table", [](E& p, nb::handle v, const char* k) { p.chroma_table = parse_table(v, k); }},
    {"jfif_header", [](E& p, nb::handle v, const char* k) { p.jfif_header = parse_bool(v, k); }},
    {"pixel_aspect",
     [](E& p, nb::handle v, const char* k) {
       std::tie(p.pixel_aspect_x, p.pixel_aspect_y) = parse_aspect(v, k);
     }},
    {"segments", [](E& p, nb::handle v, const char*) { p.segments = parse_segments(v); }},
};

using D = DecodeParams;
constexpr Option<D> kDecodeOptions[] = {
    {"upsampling",
     [](D& p, nb::handle v, const char* k) {
       p.upsampling = parse_word<ChromaUpsampling>(v, k, {"fancy", "nearest"}, "fancy or nearest");
     }},
    {"strict", [](D& p, nb::handle v, const char* k) { p.strict = parse_bool(v, k); }},
    {"max_pixels",
     [](D& p, nb::handle v, const char* k) { p.limits.max_pixels = parse_int64(v, k); }},
    {"max_scans", [](D& p, nb::handle v, const char* k) { p.limits.max_scans = parse_int(v, k); }},
    {"max_header_bytes",
     [](D& p, nb::handle v, const char* k) { p.limits.max_header_bytes = parse_int64(v, k); }},
};

template <typename Params, std::size_t N>
Params params_of(const nb::kwargs& options, const Option<Params> (&all)[N]) {
  Params params;
  for (const auto& [name, value] : options) {
    const std::string key = utf8_of(name);
    if (set_common(params, key, value)) continue;
    const auto* const found =
        std::find_if(std::begin(all), std::end(all), [&](const auto& o) { return o.key == key; });
    if (found == std::end(all))
      fail_type("'" + key + "' is not an option of this call; help() lists the options");
    found->set(params, value, found->key.data());
  }
  return params;
}

std::vector<int> indices_of(nb::handle devices) {
  std::vector<int> list;
  for (const nb::handle each : nb::borrow<nb::sequence>(devices)) {
    const DeviceChoice choice = parse_device(each);
    if (choice.backend != Backend::cuda)
      fail_choice("device", text_of(each), "a GPU; a list is of GPUs alone");
    list.push_back(choice.index);
  }
  return list;
}

}  // namespace

EncodeParams encode_params(const nb::kwargs& options) { return params_of(options, kEncodeOptions); }
DecodeParams decode_params(const nb::kwargs& options) { return params_of(options, kDecodeOptions); }

int parse_int(nb::handle number, const char* name) {
  const std::int64_t value = parse_int64(number, name);
  if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max())
    fail_argument(std::string(name) + " has more than 32 bits");
  return static_cast<int>(value);
}

PixelFormat parse_format(nb::handle format) {
  const std::string text = parse_text(format, "format");
  constexpr std::pair<std::string_view, PixelFormat> kUsual[] = {
      {"gray", PixelFormat::gray8},  {"rgb", PixelFormat::rgb24},   {"bgr", PixelFormat::bgr24},
      {"rgba", PixelFormat::rgbx32}, {"bgra", PixelFormat::bgrx32}, {"yuyv", PixelFormat::yuyv},
      {"uyvy", PixelFormat::uyvy}};
  for (const auto& [usual, meant] : kUsual)
    if (usual == text) return meant;
  std::string all;
  for (int i = 0; i < kPixelFormatCount; ++i) {
    const std::string_view one = name(static_cast<PixelFormat>(i));
    if (one == text) return static_cast<PixelFormat>(i);
    if (i > 0) all += i + 1 == kPixelFormatCount ? " or " : ", ";
    all += one;
  }
  fail_choice("format", text, all);
}

std::vector<int> take_device_list(nb::kwargs& options) {
  if (!options.contains("device")) return {};
  const nb::object device = options["device"];
  const bool is_list = nb::isinstance<nb::list>(device) || nb::isinstance<nb::tuple>(device);
  const std::string text = is_list ? "" : text_of(device);
  std::vector<int> list;
  if (is_list) {
    list = indices_of(device);
    if (list.empty()) fail_choice("device", "[]", "a list of at least one GPU");
  } else if (text == "cuda:all") {
    list = usable_cuda_devices();
    if (list.empty()) fail(Errc::no_device, "there is no usable CUDA device");
  } else if (text.starts_with("cuda:") && text.find(',') != text.npos) {
    for (nb::handle index : nb::str(text.c_str() + 5).attr("split")(","))
      list.push_back(parse_device(nb::str("cuda:") + nb::borrow(index)).index);
  } else {
    return {};
  }
  nb::kwargs one = nb::steal<nb::kwargs>(PyDict_Copy(options.ptr()));  // the caller keeps its own
  one["device"] = nb::str(("cuda:" + std::to_string(list[0])).c_str());
  options = one;
  return list;
}

bool is_same(const EncodeParams& a, const EncodeParams& b) {
  const auto fields = [](const EncodeParams& p) {
    return std::tie(p.quality, p.tune, p.effort, p.tables, p.luma_table, p.chroma_table,
                    p.subsampling, p.huffman, p.restart.kind, p.restart.count, p.jfif_header,
                    p.pixel_aspect_x, p.pixel_aspect_y, p.backend, p.device, p.threads,
                    p.instruction_set, p.size);
  };
  return fields(a) == fields(b) &&
         std::ranges::equal(a.segments, b.segments, [](const auto& one, const auto& other) {
           return one.marker == other.marker && one.payload == other.payload;
         });
}

bool is_same(const DecodeParams& a, const DecodeParams& b) {
  const auto fields = [](const DecodeParams& p) {
    return std::tie(p.upsampling, p.strict, p.limits.max_pixels, p.limits.max_scans,
                    p.limits.max_header_bytes, p.backend, p.device, p.threads, p.instruction_set);
  };
  return fields(a) == fields(b);
}

}  // namespace zerorun::python
