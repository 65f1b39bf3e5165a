#!/usr/bin/env python3
"""Decodes one frame of every kind of content by zerorun and by its peers, and prints a line for each: the bytes, the
times, and the time for a byte beside that of the first stream, a photo. `zerorun bench` checks and measures.
usage: contents.py ZERORUN FOLDER [OPTIONS OF bench]
FOLDER has the streams of contents_bench, or any .jpg files. Without --device the fastest device is measured: a GPU where
there is one. With --json FILE the report is kept."""
# SPDX-License-Identifier: MIT
import json
import pathlib
import subprocess
import sys
import tempfile

WANTED = ["zerorun/cuda*/pinned>device/*", "zerorun/cpu/*", "nvJPEG*/pinned>device/latency/*",
          "libjpeg-turbo/*/latency/*"]
HEADING = ("content", "bytes", "one us", "many us", "one/byte", "many/byte", "peer us", "fastest peer")


def measured(program, files, options):
    with tempfile.TemporaryDirectory() as folder:
        report = options[options.index("--json") + 1] if "--json" in options else folder + "/report.json"
        if "--json" not in options:
            options = [*options, "--json", report]
        for option, value in (("--in-flight", "8"), ("--time", "0.1")):
            if option not in options:
                options = [*options, option, value]
        only = [word for glob in WANTED for word in ("--only", glob)]
        done = subprocess.run([program, "bench", *files, "--operation", "decode", "--streams", "input", "--rotate", "1",
                               *only, *options], stdout=subprocess.DEVNULL)
        if done.returncode != 0:
            sys.exit(done.returncode)
        return json.loads(pathlib.Path(report).read_text())["cases"]


def least(rows):
    return min(rows, key=lambda row: row["median_us"], default=None)


def line_of(case, first):
    def times(of):
        gpu = any(row["device"] != "cpu" for row in of["rows"])
        rows = [row for row in of["rows"] if (row["device"] != "cpu") == gpu]
        ours = [row for row in rows if row["coder"] == "zerorun"]
        one = least([row for row in ours if row["mode"] == "latency"])
        many = least([row for row in ours if row["mode"] == "throughput"])
        peer = least([row for row in rows if not row["coder"].startswith("zerorun") and row["mode"] == "latency"])
        return one, many, peer

    def ratio(row, base):
        if row is None or base is None:
            return "-"
        return f"{row['median_us'] / row['stream_bytes'] / (base['median_us'] / base['stream_bytes']):.2f}"

    def us(row):
        return "-" if row is None else f"{row['median_us']:.1f}"

    (one, many, peer), (photo_one, photo_many, _) = times(case), times(first)
    size = "-" if one is None else f"{one['stream_bytes']:,.0f}"
    return (pathlib.Path(case["input"]).stem, size, us(one), us(many), ratio(one, photo_one),
            ratio(many, photo_many), us(peer), "" if peer is None else peer["coder"].split(" ")[0])


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    program, folder, *options = sys.argv[1:]
    files = sorted(map(str, pathlib.Path(folder).glob("*.jpg")),
                   key=lambda f: (not f.endswith("/photo-q90-420-standard-none.jpg"), "/photo-" not in f, f))
    if not files:
        sys.exit(f"contents.py: {folder} has no .jpg files")
    cases = measured(program, files, options)
    lines = [HEADING, *(line_of(case, cases[0]) for case in cases)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEADING))]
    for line in lines:
        print("  ".join(cell.ljust(width) if i in (0, 7) else cell.rjust(width)
                        for i, (cell, width) in enumerate(zip(line, widths))).rstrip())
    for note in sorted({note for case in cases for note in case["notes"]}):
        print("left out:", note)


if __name__ == "__main__":
    main()
