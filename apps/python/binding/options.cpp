// SPDX-License-Identifier: MIT
#include "apps/python/binding/frames.hpp"

#include "codec/base/choices.hpp"
#include "codec/base/cuda_device.hpp"

namespace zerorun::python {
namespace {

[[noreturn]] void fail_kind(const char* name, nb::handle got, const char* wanted) {
  fail_type(std::string(name) + " is " + type_of(got) + ", but must be " + wanted);
}

[[noreturn]] void fail_choice(const char* name, const std::string& got,
                              const std::string& choices) {
  fail_argument(name, " is '", got, "', but must be ", choices);
}

/// What a text means, of which `choices` tells all.
template <typename T>
T chosen(const std::optional<T>& choice, const char* name, const std::string& got,
         const std::string& choices) {
  if (!choice) fail_choice(name, got, choices);
  return *choice;
}

template <typename Int>
Int parse_integer(nb::handle number, const char* name) {
  PyObject* index = PyBool_Check(number.ptr()) ? nullptr : PyNumber_Index(number.ptr());
  if (index == nullptr) {
    PyErr_Clear();
    fail_kind(name, number, "an integer");
  }
  const nb::object owner = nb::steal(index);
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(index, &overflow);
  if (overflow != 0 || !std::in_range<Int>(value))
    fail_argument(name, " has more than ", 8 * sizeof(Int), " bits");
  return static_cast<Int>(value);
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

template <typename T>
T parse_word(nb::handle value, const char* key) {
  const std::string text = parse_text(value, key);
  return chosen(parse_choice<T>(text), key, text, list_choices<T>());
}

/// Bytes; None: no such size.
std::size_t parse_size(nb::handle value, const char* name) {
  if (value.is_none()) return 0;
  const auto bytes = parse_integer<std::int64_t>(value, name);
  if (bytes < 1) fail_argument(name, " is not a number of bytes");
  return static_cast<std::size_t>(bytes);
}

/// None: no such target.
double parse_target(nb::handle value, const char* name) {
  if (value.is_none()) return 0;
  double number = 0;
  if (PyBool_Check(value.ptr()) || !nb::try_cast(value, number)) fail_kind(name, value, "a number");
  if (number == 0) fail_argument(name, " is 0, but must be above 0");
  return number;
}

std::optional<QuantTable> parse_table(nb::handle table, const char* name) {
  if (table.is_none()) return {};
  QuantTable entries{};
  std::size_t count = 0;
  const nb::object flat = nb::hasattr(table, "ravel") ? table.attr("ravel")() : nb::borrow(table);
  for (nb::handle entry : flat) {
    const auto value = parse_integer<std::int64_t>(entry, name);
    if (count == 64 || value < 1 || value > 255) break;
    entries[count++] = static_cast<std::uint16_t>(value);
  }
  if (count != 64 || nb::len(flat) != 64)
    fail_argument(name, " must have 64 entries from 1 to 255 in row order");
  return entries;
}

std::optional<Subsampling> parse_subsampling(nb::handle value, const char* key) {
  const std::string text = value.is_none() ? "auto" : text_of(value);
  if (text == "auto") return {};
  return chosen(parse_choice<Subsampling>(text), key, text, "auto, " + list_choices<Subsampling>());
}

/// A number may also be an int, and None means none.
RestartPolicy restart_of(nb::handle value, const char* key) {
  const std::string text = value.is_none() ? "none" : text_of(value);
  return chosen(parse_restart(text), key, text,
                "auto, none, a number of MCUs from 1 to 65535, or '1rows'");
}

std::vector<MarkerSegment> parse_segments(nb::handle value, const char*) {
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

/// None or "auto", "cpu", "cuda", "cuda:1"; anything whose str() is one of these.
DeviceName parse_device(nb::handle device) {
  const std::string text = device.is_none() ? "auto" : text_of(device);
  const std::optional<DeviceName> named = parse_device_names(text);
  if (!named || !named->list.empty() || named->all_devices)
    fail_choice("device", text, "None, 'cpu', 'cuda' or 'cuda:N'");
  return *named;
}

/// An option of a call: its keyword, and how its value gets into the parameters.
template <typename Params>
struct Option {
  std::string_view key;
  void (*set)(Params& params, nb::handle value, const char* key);
};

/// Sets a member of the parameters, or a member of that.
template <auto kParse, auto... kMember, typename Params>
void set(Params& params, nb::handle value, const char* key) {
  (params.*....*kMember) = kParse(value, key);
}

/// Degrees may also be a number.
Rotation parse_rotation(nb::handle value, const char* key) {
  return parse_word<Rotation>(nb::str(value), key);
}

/// 'keep', None for no markers, or a number of MCUs.
std::optional<int> parse_interval(nb::handle value, const char* key) {
  if (nb::isinstance<nb::str>(value) && utf8_of(value) == "keep") return std::nullopt;
  return value.is_none() ? 0 : parse_int(value, key);
}

void set_aspect(EncodeParams& params, nb::handle value, const char* key) {
  if (!nb::isinstance<nb::tuple>(value) || nb::len(value) != 2)
    fail_type("pixel_aspect must be a tuple (x, y)");
  params.pixel_aspect_x = parse_int(value[0], key);
  params.pixel_aspect_y = parse_int(value[1], key);
}

template <typename Params>
void set_device(Params& params, nb::handle value, const char*) {
  const DeviceName device = parse_device(value);
  params.backend = device.backend;
  params.device = device.index;
}

using E = EncodeParams;
constexpr Option<E> kEncodeOptions[] = {
    {"quality", set<parse_int, &E::quality>},
    {"subsampling", set<parse_subsampling, &E::subsampling>},
    {"tune", set<parse_word<Tune>, &E::tune>},
    {"effort", set<parse_word<Effort>, &E::effort>},
    {"tables", set<parse_word<QuantTables>, &E::tables>},
    {"huffman", set<parse_word<HuffmanTables>, &E::huffman>},
    {"restart", set<restart_of, &E::restart>},
    {"progressive", set<parse_bool, &E::progressive>},
    {"target_size", set<parse_size, &E::size, &SizeGoal::target_bytes>},
    {"max_size", set<parse_size, &E::size, &SizeGoal::max_bytes>},
    {"target_psnr", set<parse_target, &E::size, &SizeGoal::target_psnr>},
    {"target_ssim", set<parse_target, &E::size, &SizeGoal::target_ssim>},
    {"luma_table", set<parse_table, &E::luma_table>},
    {"chroma_table", set<parse_table, &E::chroma_table>},
    {"jfif_header", set<parse_bool, &E::jfif_header>},
    {"pixel_aspect", set_aspect},
    {"segments", set<parse_segments, &E::segments>},
    {"device", set_device<E>},
    {"threads", set<parse_int, &E::threads>},
    {"instruction_set", set<parse_word<InstructionSet>, &E::instruction_set>},
};

using D = DecodeParams;
constexpr Option<D> kDecodeOptions[] = {
    {"upsampling", set<parse_word<ChromaUpsampling>, &D::upsampling>},
    {"scale", set<parse_int, &D::scale>},
    {"region", set<parse_region, &D::region>},
    {"strict", set<parse_bool, &D::strict>},
    {"max_pixels", set<parse_integer<std::int64_t>, &D::limits, &StreamLimits::max_pixels>},
    {"max_scans", set<parse_int, &D::limits, &StreamLimits::max_scans>},
    {"max_header_bytes",
     set<parse_integer<std::int64_t>, &D::limits, &StreamLimits::max_header_bytes>},
    {"device", set_device<D>},
    {"threads", set<parse_int, &D::threads>},
    {"instruction_set", set<parse_word<InstructionSet>, &D::instruction_set>},
};

using T = TranscodeParams;
using L = LosslessTransform;
constexpr Option<T> kTranscodeOptions[] = {
    {"optimize", set<parse_bool, &T::optimize>},
    {"scans", set<parse_word<ScanChoice>, &T::scans>},
    {"restart", set<parse_interval, &T::restart_interval>},
    {"rotate", set<parse_rotation, &T::transform, &L::rotate>},
    {"flip", set<parse_word<Flip>, &T::transform, &L::flip>},
    {"crop", set<parse_region, &T::transform, &L::crop>},
    {"gray", set<parse_bool, &T::transform, &L::gray>},
    {"edges", set<parse_word<Edges>, &T::transform, &L::edges>},
    {"verify", set<parse_bool, &T::verify>},
    {"strict", set<parse_bool, &T::strict>},
    {"max_pixels", set<parse_integer<std::int64_t>, &T::limits, &StreamLimits::max_pixels>},
    {"max_scans", set<parse_int, &T::limits, &StreamLimits::max_scans>},
    {"max_header_bytes",
     set<parse_integer<std::int64_t>, &T::limits, &StreamLimits::max_header_bytes>},
    {"threads", set<parse_int, &T::threads>},
    {"instruction_set", set<parse_word<InstructionSet>, &T::instruction_set>},
};

template <typename Params, std::size_t N>
Params params_of(const nb::kwargs& options, const Option<Params> (&all)[N]) {
  Params params;
  for (const auto& [name, value] : options) {
    const std::string key = utf8_of(name);
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
    const DeviceName choice = parse_device(each);
    if (choice.backend != Backend::cuda)
      fail_choice("device", text_of(each), "a GPU; a list is of GPUs alone");
    list.push_back(choice.index);
  }
  return list;
}

}  // namespace

EncodeParams encode_params(const nb::kwargs& options) { return params_of(options, kEncodeOptions); }
DecodeParams decode_params(const nb::kwargs& options) { return params_of(options, kDecodeOptions); }
TranscodeParams transcode_params(const nb::kwargs& options) {
  return params_of(options, kTranscodeOptions);
}

int parse_int(nb::handle number, const char* name) { return parse_integer<int>(number, name); }

Region parse_region(nb::handle value, const char* key) {
  if (value.is_none()) return {};
  if (!is_sequence(value) || nb::len(value) != 4)
    fail_type("region must be a tuple (x, y, width, height)");
  const Region region{parse_int(value[0], key), parse_int(value[1], key), parse_int(value[2], key),
                      parse_int(value[3], key)};
  if (region == Region()) fail_argument("region has no pixels");
  return region;
}

PixelFormat parse_format(nb::handle format) {
  const std::string text = parse_text(format, "format");
  constexpr std::pair<std::string_view, PixelFormat> kUsual[] = {
      {"gray", PixelFormat::gray8},  {"rgb", PixelFormat::rgb24},    {"bgr", PixelFormat::bgr24},
      {"rgba", PixelFormat::rgbx32}, {"bgra", PixelFormat::bgrx32},  {"yuyv", PixelFormat::yuyv},
      {"uyvy", PixelFormat::uyvy},   {"cmyk32", PixelFormat::cmyk32}};
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
  DeviceName named;
  if (is_sequence(device)) {
    named.list = indices_of(device);
    if (named.list.empty()) fail_choice("device", "[]", "a list of at least one GPU");
    named.index = named.list[0];
  } else {
    named = parse_device_names(text_of(device)).value_or(DeviceName());
    if (named.list.empty() && !named.all_devices) return {};
    check(find_all_devices(named));
  }
  nb::kwargs one = nb::steal<nb::kwargs>(PyDict_Copy(options.ptr()));  // the caller keeps its own
  one["device"] = nb::str(("cuda:" + std::to_string(named.index)).c_str());
  options = one;
  return named.list;
}

}  // namespace zerorun::python
