#!/usr/bin/env python3
"""Writes codec/syntax/tuned_tables.cpp from a file of trained tables (train_tables.py).

The file is JSON: "qualities", a rising list, and for luma_420, chroma_420, luma_444 and chroma_444
a list of 64 numbers for each of these qualities: 16ths of a quantiser step, in row order. Tables
are symmetric, so the source has the numbers from the diagonal to the right alone."""
# SPDX-License-Identifier: MIT
import json
import sys

NAMES = ("luma_420", "chroma_420", "luma_444", "chroma_444")

HEAD = """// Trained quantisation tables: written by tests/rd/write_tables.py, not by hand. The training
// (tests/rd/train_tables.py) began with the tables that jpegli publishes (lib/jpegli/quant.cc,
// BSD-3-Clause), with those of Cr for both chroma components.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>

#include "codec/syntax/tables.hpp"

namespace zerorun {
namespace {

"""

TAIL = """
/// Entry i of a table in row order, at one of the qualities.
int trained(const Tables& tables, std::size_t quality, std::size_t i) {
  const std::size_t row = std::min(i / 8, i % 8), column = std::max(i / 8, i % 8);
  return tables[quality][row * (15 - row) / 2 + column];
}

int entry_of(const Tables& tables, std::size_t upper, int quality, std::size_t i) {
  const int low = kQualities[upper - 1], high = kQualities[upper];
  const int sum = trained(tables, upper - 1, i) * (high - quality) +
                  trained(tables, upper, i) * (quality - low);
  const int unit = 16 * (high - low);
  return std::clamp((sum + unit / 2) / unit, 1, 255);
}

/// Linear between two of the qualities.
QuantTable table_at(const Tables& tables, int quality) {
  std::size_t upper = 1;
  while (kQualities[upper] < quality) ++upper;
  QuantTable out;
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<std::uint16_t>(entry_of(tables, upper, quality, i));
  return out;
}

}  // namespace

std::array<QuantTable, 2> tuned_quant_tables(bool is_420, int quality) {
  if (is_420) return {table_at(kLuma420, quality), table_at(kChroma420, quality)};
  return {table_at(kLuma444, quality), table_at(kChroma444, quality)};
}

}  // namespace zerorun
"""


def wrapped(numbers, indent):
    lines, line = [], indent
    for i, number in enumerate(numbers):
        text = str(number) + ("," if i + 1 < len(numbers) else "")
        if len(line) + 1 + len(text) > 99:
            lines.append(line)
            line = indent
        line += ("" if line == indent else " ") + text
    return "\n".join(lines + [line])


def triangle(table):
    if any(table[8 * y + x] != table[8 * x + y] for y in range(8) for x in range(8)):
        raise ValueError("a table is not symmetric")
    return [table[8 * y + x] for y in range(8) for x in range(y, 8)]


def source(tables):
    qualities = tables["qualities"]
    text = HEAD
    text += "constexpr std::array<int, %d> kQualities{%s};\n" % (
        len(qualities), ", ".join(map(str, qualities)))
    text += "/// 16ths of a step for each of them. Tables are symmetric: rows from the diagonal to the right.\n"
    text += "using Tables = std::array<std::array<std::uint16_t, 36>, kQualities.size()>;\n\n"
    for name in NAMES:
        rows = ",\n".join("    {" + wrapped(triangle(row), "     ").strip() + "}" for row in tables[name])
        text += "constexpr Tables k%s{{\n%s}};\n" % (name.title().replace("_", ""), rows)
    return text + TAIL


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: write_tables.py TABLES.json codec/syntax/tuned_tables.cpp")
    with open(sys.argv[1], encoding="utf-8") as file:
        text = source(json.load(file))
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write(text)
