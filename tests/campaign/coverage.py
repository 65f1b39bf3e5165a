# Adds up by folder which lines of the code that reads bytes of others were run, from gcovr's JSON report.
#
#   coverage.py REPORT.json UNREACHABLE.txt GOAL [--list]
#
# UNREACHABLE.txt names lines that no test can reach: "FILE: TEXT OF THE LINE  # reason". They do not count, and a
# line there that no longer exists, or that was run, is an error. The last line of the output is the result; exit
# code 1 if a folder has less than GOAL per cent. --list prints the lines that were not run.
# SPDX-License-Identifier: MIT
import collections
import json
import pathlib
import re
import sys

FOLDERS = {
    "codec/syntax": r"codec/syntax/",
    "codec/decode": r"codec/decode/",
    "codec/capi": r"codec/capi/",
    "io's parsers": r"io/(base/(byte_reader|location|name_gaps|sequence)|input/input_size|metadata/|"
                    r"mjpeg/jpeg_splitter|pictures/(image_file|image_png)|"
                    r"raw/(frame_pnm|frame_y4m|raw_video)|samples/samples|"
                    r"ffmpeg/(container_bytes|container_content|demuxer|muxer))",
}


def lines_of(report):
    """{(file, number): was it run}. A line of a template or an inline function counts once."""
    run = collections.defaultdict(bool)
    for file in report["files"]:
        for line in file["lines"]:
            if not line.get("gcovr/noncode"):
                run[file["file"], line["line_number"]] |= line["count"] > 0
    return run


def unreachable(path, run):
    """The lines of the list, and what is wrong with it."""
    named, problems = set(), []
    for entry in pathlib.Path(path).read_text().splitlines():
        if not entry or entry.startswith("#"):
            continue
        file, text = re.fullmatch(r"([^:]+): (.*?)\s+# .+", entry).groups()
        source = pathlib.Path(file).read_text().splitlines() if pathlib.Path(file).exists() else []
        found = [(file, number) for number, line in enumerate(source, 1)
                 if line.strip() == text and (file, number) in run]
        if not found:
            problems.append(f"there is no such line: {entry}")
        if found and all(run[place] for place in found):
            problems.append(f"it was run: {entry}")
        named.update(place for place in found if not run[place])
    return named, problems


def ranges(numbers):
    out = []
    for number in sorted(numbers):
        if out and out[-1][1] == number - 1:
            out[-1][1] = number
        else:
            out.append([number, number])
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in out)


def main(report, list_of_unreachable, goal, *options):
    run = lines_of(json.loads(pathlib.Path(report).read_text()))
    named, problems = unreachable(list_of_unreachable, run)
    results, is_reached = [], not problems
    for folder, pattern in FOLDERS.items():
        places = [place for place in run if re.match(pattern, place[0]) and place not in named]
        missed = [place for place in places if not run[place]]
        percent = 100 * (1 - len(missed) / len(places)) if places else 0
        is_reached &= percent >= float(goal)
        results.append(f"{folder} {percent:.1f} % of {len(places)} lines")
        if "--list" in options:
            for file in sorted({file for file, _ in missed}):
                print(f"{file}: {ranges(number for name, number in missed if name == file)}")
    print(*problems, sep="\n", end="\n" if problems else "")
    print("; ".join(results) + (f"; without {len(named)} lines that cannot be reached" if named else ""))
    return 0 if is_reached else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
