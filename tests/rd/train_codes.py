#!/usr/bin/env python3
"""Trains Huffman tables on counts of symbols (zerorun_symbols), for one pass.

    zerorun_symbols 420,444 30,45,...,99 exact,photo,psnr PHOTO... >photos.tsv
    zerorun_symbols 420,444 30,45,...,99 text TEXT... PHOTO... >text.tsv
    train_codes.py photos.tsv text.tsv --out codec/syntax/trained_codes.cpp
    train_codes.py photos.tsv text.tsv --judge others.tsv

A set of tables is for a tune, for 4:2:0 or all other samplings, and for a band of qualities. Every picture counts as
much as every other. Every symbol that baseline JPEG can have gets a code: AC symbols of at most 16 bits, DC symbols of
at most 11, as the tables of T.81 Annex K. --judge prints the percent of entropy-coded bits that the trained tables and
those of each picture (optimal) save against Annex K's on other pictures."""
# SPDX-License-Identifier: MIT
import argparse
import collections
import sys

DC_SYMBOLS = list(range(12))
AC_SYMBOLS = [0x00, 0xF0] + [run << 4 | size for run in range(16) for size in range(1, 11)]
DC_BITS, AC_BITS = 11, 16
TUNES = ("exact", "photo", "text", "psnr")
SAMPLINGS = ("420", "444")


def read_counts(paths):
    """{(picture, tune, sampling, quality): [4 lists of 256 counts]}, and the lengths of Annex K's tables"""
    out = collections.defaultdict(lambda: [None] * 4)
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for line in file:
                words = line.rstrip("\n").split("\t")
                out[(words[0], words[1], words[2], int(words[3]))][int(words[4])] = [int(n) for n in words[5:]]
    return out, out.pop(("annex-k", "exact", "420", 0))


def code_lengths(weights, most):
    """Lengths of the best prefix code with codes of at most `most` bits, by package-merge. A symbol without weight
    that is left out at the end takes the codeword of ones alone."""
    items = sorted([(weight, (symbol,)) for symbol, weight in weights.items()] + [(0.0, (-1,))])
    packages = []
    for _ in range(most):
        merged = sorted(items + packages)
        packages = [(a[0] + b[0], a[1] + b[1]) for a, b in zip(merged[::2], merged[1::2])]
    lengths = collections.Counter()
    for _, symbols in packages[:len(items) - 1]:
        lengths.update(symbols)
    longest = max(lengths.values())
    if lengths[-1] != longest:  # of the same weight: any of the longest will do
        raise ValueError("the reserved symbol is not the rarest one")
    del lengths[-1]
    return dict(lengths)


def train(samples, table):
    symbols = DC_SYMBOLS if table < 2 else AC_SYMBOLS
    weights = dict.fromkeys(symbols, 0.0)
    for counts in samples:
        total = sum(map(sum, counts))
        for symbol in symbols:
            weights[symbol] += counts[table][symbol] / total
    least = sum(weights.values()) / 1e6  # of what has not been seen
    return code_lengths({symbol: weight + least for symbol, weight in weights.items()},
                        DC_BITS if table < 2 else AC_BITS)


def band_of(quality, bands):
    return next(i for i, top in enumerate(bands) if quality <= top)


def train_sets(counts, bands):
    """{(tune, sampling, band): [4 tables as {symbol: length}]}"""
    grouped = collections.defaultdict(list)
    for (_, tune, sampling, quality), tables in counts.items():
        grouped[(tune, sampling, band_of(quality, bands))].append(tables)
    return {key: [train(samples, table) for table in range(4)] for key, samples in grouped.items()}


def bits_of(counts, lengths):
    """Codes and appended bits."""
    return sum(n * (lengths[symbol] + (symbol & 15)) for symbol, n in enumerate(counts) if n)


def judge(counts, sets, bands, standard):
    rows = collections.defaultdict(list)
    for (_, tune, sampling, quality), tables in counts.items():
        fixed = sets.get((tune, sampling, band_of(quality, bands)))
        if fixed is None:
            continue
        base = sum(bits_of(c, s) for c, s in zip(tables, standard))
        trained = sum(bits_of(c, s) for c, s in zip(tables, fixed))
        best = 0
        for table, c in enumerate(tables):
            used = {symbol: n for symbol, n in enumerate(c) if n}
            best += bits_of(c, code_lengths(used, 16)) if used else 0
        rows[(tune, sampling, quality)].append((100 * (1 - trained / base), 100 * (1 - best / base)))
    print("tune\tsampling\tquality\ttrained saves\tworst\toptimal saves")
    for key, saved in sorted(rows.items()):
        mean = [sum(column) / len(saved) for column in zip(*saved)]
        print(*key, f"{mean[0]:.2f}", f"{min(saved)[0]:.2f}", f"{mean[1]:.2f}", sep="\t")


def spec_text(lengths, table):
    """As spec_of_lengths() of codec/syntax/tables.hpp reads it."""
    def letters(symbols):
        return "".join(chr(ord("a") + lengths[symbol] - 1) for symbol in symbols)
    if table < 2:
        return f'"{letters(DC_SYMBOLS)}"'
    rows = [letters([0x00])]
    for run in range(16):
        rows.append(letters(symbol for symbol in sorted(AC_SYMBOLS) if symbol > 0 and symbol >> 4 == run).rstrip("p"))
    return '"' + ",".join(rows) + '"'


HEAD = """// Trained Huffman tables: written by tests/rd/train_codes.py, not by hand.
// SPDX-License-Identifier: MIT
#include "codec/syntax/tables.hpp"

#include <cstddef>
#include <string_view>

namespace zerorun {
namespace {

/// Of DC luma, DC chroma, AC luma, AC chroma: for spec_of_lengths().
using Lengths = std::array<std::string_view, 4>;
using Bands = std::array<std::array<HuffmanSpec, 4>, kTrainedBands.size()>;

constexpr Bands bands_of(const std::array<Lengths, kTrainedBands.size()>& lengths) {
  Bands bands;
  for (std::size_t band = 0; band < bands.size(); ++band)
    for (std::size_t table = 0; table < 4; ++table)
      bands[band][table] = spec_of_lengths(lengths[band][table]);
  return bands;
}

"""

TAIL = """
constexpr const Bands* kAll[][2] = {%s};

}  // namespace

const std::array<HuffmanSpec, 4>& trained_huffman_specs(Tune tune, bool is_420,
                                                        int quality_16ths) noexcept {
  std::size_t band = 0;
  while (band + 1 < kTrainedBands.size() && quality_16ths > 16 * kTrainedBands[band]) ++band;
  return (*kAll[static_cast<std::size_t>(tune)][is_420 ? 0 : 1])[band];
}

}  // namespace zerorun
"""


def source(sets, bands):
    """The text of the file, which clang-format then lays out; kTrainedBands in its header are the bands."""
    text, names = HEAD, []
    for tune in TUNES:
        for sampling in SAMPLINGS:
            name = f"k{tune.title()}{sampling}"
            names.append(name)
            parts = ["{" + ", ".join(spec_text(table, i) for i, table in enumerate(sets[(tune, sampling, band)])) + "}"
                     for band in range(len(bands))]
            text += f"constexpr Bands {name} = bands_of({{{{{', '.join(parts)}}}}});\n"
    pairs = ", ".join(f"{{&{a}, &{b}}}" for a, b in zip(names[::2], names[1::2]))
    return text + TAIL % pairs


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bands", default="60,82,92,100", help="the highest quality of each band")
    parser.add_argument("--out", help="write the source of the codec")
    parser.add_argument("--judge", nargs="+", default=[], help="counts of other pictures")
    parser.add_argument("--like", default="", help="with --judge: use the sets of this tune for all")
    parser.add_argument("counts", nargs="+")
    options = parser.parse_args()
    limits = [int(n) for n in options.bands.split(",")]
    trained_sets = train_sets(read_counts(options.counts)[0], limits)
    if options.out:
        with open(options.out, "w", encoding="utf-8") as out_file:
            out_file.write(source(trained_sets, limits))
    if options.judge:
        if options.like:
            trained_sets = {(tune, s, b): tables for (t, s, b), tables in trained_sets.items() if t == options.like
                            for tune in TUNES}
        others, annex_k = read_counts(options.judge)
        judge(others, trained_sets, limits, annex_k)
    sys.exit(0)
