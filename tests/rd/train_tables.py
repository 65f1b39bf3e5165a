#!/usr/bin/env python3
"""Trains quantisation tables, one quality after another: multiplies the tables of a start file by
smooth functions of the frequency and follows what makes files smaller at equal quality.

    train_tables.py --rd build/release/tests/rd/zerorun_rd --start tables.json --out trained.json \\
        --sampling 420 --cache scores photo1.png photo2.png ...

The goal is the mean of what SSIMULACRA2 and butteraugli's 3-norm say is saved, with a small part of
MS-SSIM and PSNR-HVS-M, less what each picture loses beyond a limit, so that the tables are not made
for one metric or one picture. In a round each function is tried up and down; the parabola through
the three goals gives its step, and all steps together are taken as far as they help. Then the table
is scaled to the bytes that the start has at this quality, so that qualities keep their meaning. A
picture has at least 256 pixels on both sides: SSIMULACRA2 means something else below. With --cache a
run that was stopped goes on soon: it measures nothing twice. The training pictures should not be
those that the result is judged by. tests/rd/write_tables.py makes the source of the codec from the
result; its text describes the file format."""
# SPDX-License-Identifier: MIT
import argparse
import csv
import json
import math
import os
import subprocess
import tempfile

METRICS = ("ms_ssim", "psnr_hvs_m", "ssimulacra2", "butteraugli")
BASE_QUALITIES = (20, 27, 34, 40, 45, 50, 55, 60, 65, 70, 75, 80, 84, 88, 90, 92, 94, 96, 97, 98, 99)
NODES = {"luma": (0, 1, 2, 4, 7, 11), "chroma": (0, 1, 2, 4, 8)}  # of u + v: a hat stands on each


def basis(component, u, v):
    """Functions of the frequency (u, v), from 0 to 1."""
    out, nodes = {}, NODES[component]
    for i, node in enumerate(nodes):
        below = nodes[i - 1] if i > 0 else node - 1
        above = nodes[i + 1] if i + 1 < len(nodes) else 99
        side = (u + v - below) / (node - below), (above - u - v) / (above - node)
        last = u + v >= node and i + 1 == len(nodes)
        out[f"sum {node}"] = 1.0 if last else max(0.0, min(1.0, *side))
    out["diagonal"] = 0.0 if u + v == 0 else 2.0 * min(u, v) / (u + v)
    return out


FUNCTIONS = {c: [basis(c, i % 8, i // 8) for i in range(64)] for c in NODES}
PARAMETERS = [(c, name) for c in NODES for name in FUNCTIONS[c][0]]


def at_quality(tables, name, quality):
    """As tuned_quant_tables() of the codec, in 16ths of a step and not rounded."""
    qualities = tables["qualities"]
    upper = next(i for i in range(1, len(qualities)) if qualities[i] >= quality)
    low, high = qualities[upper - 1], qualities[upper]
    return [(a * (high - quality) + b * (quality - low)) / (high - low)
            for a, b in zip(tables[name][upper - 1], tables[name][upper])]


def changed(rows, parameters):
    """Tables of both components times exp(sum of parameter * function); "all" is a function too."""
    return {c: [min(255 * 16, max(16, entry * math.exp(parameters.get("all", 0.0) + sum(
        parameters.get((c, name), 0.0) * value for name, value in functions.items()))))
                for entry, functions in zip(rows[c], FUNCTIONS[c])] for c in rows}


def falling(rows):
    """Entries that do not rise with quality: those of lower qualities are raised."""
    out = [rows[-1]]
    for row in reversed(rows[:-1]):
        out.insert(0, [max(a, b) for a, b in zip(row, out[0])])
    return out


class Judge:
    """What tables save, against libjpeg-turbo."""

    def __init__(self, options):
        self.options = options
        self.base = self.curves(["turbo:huffman=optimal"], BASE_QUALITIES)["turbo:huffman=optimal"]

    def curves(self, modes, qualities):
        """By mode and picture."""
        options = self.options
        with tempfile.NamedTemporaryFile("r", suffix=".tsv") as points:
            subprocess.run(
                [options.rd, *options.pictures, "--modes", *modes, "--samplings", options.sampling,
                 "--qualities", ",".join(map(str, qualities)), "--threads", str(options.threads),
                 "--cache", options.cache, "--points", points.name],
                check=True, stdout=subprocess.DEVNULL)
            out = {}
            for row in csv.DictReader(points, delimiter="\t"):
                out.setdefault(row["mode"], {}).setdefault(row["image"], []).append(
                    {name: float(row[name]) for name in ("scan_bytes", *METRICS)})
        return out

    def base_bytes(self, image, metric, score):
        """Logarithm of libjpeg-turbo's bytes at a score; beyond the ends along the last line."""
        curve = self.base[image]
        upper = 1
        while upper + 1 < len(curve) and curve[upper][metric] < score:
            upper += 1
        a, b = curve[upper - 1], curve[upper]
        part = (score - a[metric]) / max(1e-9, b[metric] - a[metric])
        low, high = math.log(a["scan_bytes"]), math.log(b["scan_bytes"])
        return low + part * (high - low)

    def goals(self, quality, trials):
        """Of each pair of tables: the goal, the mean of each metric, and of the bytes' logarithm."""
        with tempfile.TemporaryDirectory() as folder:
            modes = []
            for i, tables in enumerate(trials):
                numbers = [min(255, max(1, round(n / 16)))
                           for n in tables["luma"] + tables["chroma"]]
                with open(f"{folder}/{i}", "w", encoding="utf-8") as file:
                    print(self.options.sampling, quality, *numbers, file=file)
                modes.append(f"{self.options.mode},huffman=optimal,file={folder}/{i}")
            found = self.curves(modes, [quality])
        return [self.goal(found[mode]) for mode in modes]

    def goal(self, found):
        options = self.options
        saved = [{m: 100 * (1 - math.exp(math.log(points[0]["scan_bytes"]) -
                                         self.base_bytes(image, m, points[0][m])))
                  for m in METRICS} for image, points in found.items()]
        mean = {m: sum(s[m] for s in saved) / len(saved) for m in METRICS}
        part = options.ssimulacra2
        goal = part * mean["ssimulacra2"] + (1 - part) * mean["butteraugli"] + options.others * (
            mean["ms_ssim"] + mean["psnr_hvs_m"])
        for metric in ("ssimulacra2", "butteraugli"):
            goal -= 0.3 * sum(max(0.0, options.least - s[metric]) for s in saved) / len(saved)
        mean = {m: round(x, 2) for m, x in mean.items()}
        size = sum(math.log(points[0]["scan_bytes"]) for points in found.values()) / len(saved)
        return goal, mean, size


def train_quality(judge, rows, quality, nearest):
    """Parameters that change the tables `rows` for a better goal, with the bytes that they have.
    `nearest`: those of another quality, taken as the first ones if they help."""
    options = judge.options
    found = judge.goals(quality, [rows, changed(rows, {"all": 0.1}), changed(rows, nearest)])
    first_size = found[0][2]
    trend = (found[1][0] - found[0][0]) / (found[1][2] - first_size)

    def tried(trials):
        """Goals as they would be with the first bytes: what is saved goes with quality too."""
        return [(goal - trend * (size - first_size), mean, size) for goal, mean, size in
                judge.goals(quality, [changed(rows, trial) for trial in trials])]

    found = tried([{}, nearest])
    parameters = dict(nearest) if found[1][0] > found[0][0] else {}
    best, mean, _ = max(found, key=lambda f: f[0])
    print("quality", quality, "start", round(best, 3), mean, flush=True)
    for step in options.steps:
        probes = [{**parameters, p: parameters.get(p, 0.0) + sign * step}
                  for p in PARAMETERS for sign in (1, -1)]
        found = tried(probes)
        steps = {}
        for i, p in enumerate(PARAMETERS):
            up, down = found[2 * i][0] - best, found[2 * i + 1][0] - best
            bend = up + down  # twice the parabola's height at one step
            wanted = (up - down) / (-2 * bend) if bend < -0.02 else (up > down) * 4 - 2
            steps[p] = step * max(-2.0, min(2.0, wanted)) if max(up, down) > 0.01 else 0.0
        parts = (0.4, 0.7, 1.0)
        trials = [{p: parameters.get(p, 0.0) + part * steps[p] for p in PARAMETERS}
                  for part in parts]
        found = tried(trials)
        at = max(range(len(parts)), key=lambda i: found[i][0])
        if found[at][0] > best:
            (best, mean, size), parameters = found[at], trials[at]
            slope = 0.75  # of bytes by steps, about
            parameters = {**parameters, "all": parameters.get("all", 0.0) + (size - first_size) / slope}
            best, mean, size = tried([parameters])[0]
        print(quality, step, parts[at], round(best, 3), mean, round(size - first_size, 4),
              {" ".join(p) if isinstance(p, tuple) else p: round(x, 2)
               for p, x in parameters.items()}, flush=True)
    return parameters


def train(options):
    os.makedirs(options.cache, exist_ok=True)
    with open(options.start, encoding="utf-8") as file:
        out = json.load(file)
    judge = Judge(options)
    names = {component: f"{component}_{options.sampling}" for component in NODES}
    found = {}
    for quality in (int(q) for q in options.qualities.split(",")):
        rows = {c: at_quality(out, name, quality) for c, name in names.items()}
        nearest = found[min(found, key=lambda f: abs(f - quality))] if found else {}
        found[quality] = train_quality(judge, rows, quality, nearest)
        at = out["qualities"].index(quality)
        for component, row in changed(rows, found[quality]).items():
            out[names[component]][at] = [round(entry) for entry in row]
        with open(options.out, "w", encoding="utf-8") as file:
            json.dump({**out, **{name: falling(out[name]) for name in names.values()}}, file)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rd", required=True, help="the program zerorun_rd")
    parser.add_argument("--start", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--sampling", choices=("420", "444"), required=True)
    parser.add_argument("--cache", required=True, help="a folder for scores")
    parser.add_argument("--mode", default="zerorun:tune=photo,effort=best")
    parser.add_argument("--qualities", default="80,90,95,65,50,98",
                        help="where tables are trained: qualities of the start")
    parser.add_argument("--steps", type=lambda text: [float(x) for x in text.split(",")],
                        default=[0.15, 0.12], help="how far a parameter goes, one round each")
    parser.add_argument("--ssimulacra2", type=float, default=0.5,
                        help="what SSIMULACRA2 counts, beside butteraugli")
    parser.add_argument("--others", type=float, default=0.05,
                        help="what MS-SSIM and PSNR-HVS-M count")
    parser.add_argument("--least", type=float, default=12.0,
                        help="percent that each picture should save by both")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("pictures", nargs="+")
    train(parser.parse_args())
