// Python objects as values of the library.
// SPDX-License-Identifier: MIT
#include "apps/python/binding/values.hpp"

#include <nanobind/stl/string.h>

#include <limits>
#include <string_view>

#include "apps/python/binding/failure.hpp"

namespace zerorun::python {

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

std::size_t parse_size(nb::handle value, const char* name) {
  if (value.is_none()) return 0;
  const std::int64_t bytes = parse_int64(value, name);
  if (bytes < 1) fail(Errc::invalid_argument, std::string(name) + " is not a number of bytes");
  return static_cast<std::size_t>(bytes);
}

double parse_target(nb::handle value, const char* name) {
  if (value.is_none()) return 0;
  if (PyBool_Check(value.ptr()) || PyNumber_Check(value.ptr()) == 0)
    fail_type(std::string(name) + " is " + type_of(value) + ", but must be a number");
  const double number = PyFloat_AsDouble(value.ptr());
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    fail_type(std::string(name) + " is " + type_of(value) + ", but must be a number");
  }
  if (number == 0) fail(Errc::invalid_argument, std::string(name) + " is 0, but must be above 0");
  return number;
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

}  // namespace zerorun::python
