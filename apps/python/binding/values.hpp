// Python objects as values of the library. Errors name the keyword that has the object.
// SPDX-License-Identifier: MIT
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"
#include "zerorun/frame.hpp"

namespace zerorun::python {

namespace nb = nanobind;

/// Errors of all: TypeError for an object of another type, ArgumentError for an impossible value.
int parse_int(nb::handle number, const char* name);
bool parse_bool(nb::handle flag, const char* name);
std::int64_t parse_int64(nb::handle number, const char* name);
std::string parse_text(nb::handle text, const char* name);
/// Bytes; None: no such size.
std::size_t parse_size(nb::handle value, const char* name);
/// None: no such target.
double parse_target(nb::handle value, const char* name);

/// "rgb24", "nv12", ...; the library's names and a few usual ones ("rgb", "bgr", "gray").
PixelFormat parse_format(nb::handle name);

QuantTable parse_table(nb::handle table, const char* name);
std::optional<Subsampling> parse_subsampling(nb::handle value);
HuffmanTables parse_huffman(nb::handle value);
/// The words of the program's --restart; a number may also be an int, and None means none.
RestartPolicy parse_restart(nb::handle value);
std::vector<MarkerSegment> parse_segments(nb::handle value);
std::pair<int, int> parse_aspect(nb::handle value);
ChromaUpsampling parse_upsampling(nb::handle value);
InstructionSet parse_instruction_set(nb::handle value);

[[noreturn]] void fail_choice(const char* name, const std::string& got, const char* choices);

/// One of the values of an enumeration, by its name.
template <typename T, std::size_t N>
T parse_name(nb::handle value, const char* key, const T (&all)[N], const char* choices) {
  const std::string text = parse_text(value, key);
  for (const T one : all)
    if (name(one) == text) return one;
  fail_choice(key, text, choices);
}

}  // namespace zerorun::python
