#!/usr/bin/env python3
"""Trains quantisation tables, one quality after another: multiplies the tables of a start file by
smooth functions of the frequency and keeps what makes files smaller at equal quality.

    train_tables.py --rd build/release/tests/rd/zerorun_rd --start tables.json --out trained.json \\
        --sampling 420 photo1.png photo2.png ...

The goal is the mean of SSIMULACRA2 with a part of PSNR, MS-SSIM and PSNR-HVS-M, less what each
picture loses by any of them beyond a limit, so that the tables are not made for one metric or one
picture. A picture has at least 256 pixels on both sides: SSIMULACRA2 means something else below.
The training pictures should not be those that the result is judged by. tests/rd/write_tables.py
makes the source of the codec from the result; its text describes the file format."""
# SPDX-License-Identifier: MIT
import argparse
import csv
import json
import math
import subprocess
import tempfile

METRICS = ("psnr_y", "ms_ssim", "psnr_hvs_m", "ssimulacra2")
BASE_QUALITIES = (25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 84, 88, 90, 92, 94, 96, 97, 98)
NODES = (0, 1, 2, 3, 5, 7, 10, 14)  # of u + v: a hat function stands on each


def basis(u, v):
    """Functions of the frequency (u, v), from 0 to 1."""
    out = {}
    for i, node in enumerate(NODES):
        below = NODES[i - 1] if i > 0 else node - 1
        above = NODES[i + 1] if i + 1 < len(NODES) else node + 1
        side = (u + v - below) / (node - below), (above - u - v) / (above - node)
        out[f"sum {node}"] = max(0.0, min(1.0, *side))
    out["diagonal"] = 0.0 if u + v == 0 else 2.0 * min(u, v) / (u + v)
    out["all"] = 1.0
    return out


FUNCTIONS = [basis(i % 8, i // 8) for i in range(64)]
PARAMETERS = [("chroma", "all")] + [(component, name) for component in ("luma", "chroma")
                                    for name in FUNCTIONS[0] if name != "all"]


def at_quality(tables, name, quality):
    """As tuned_quant_tables() of the codec, in 16ths of a step and not rounded."""
    qualities = tables["qualities"]
    upper = next(i for i in range(1, len(qualities)) if qualities[i] >= quality)
    low, high = qualities[upper - 1], qualities[upper]
    return [(a * (high - quality) + b * (quality - low)) / (high - low)
            for a, b in zip(tables[name][upper - 1], tables[name][upper])]


def changed(row, component, parameters):
    """A table times exp(sum of parameter * function)."""
    return [min(255 * 16, max(16, entry * math.exp(
        sum(parameters.get((component, name), 0.0) * value for name, value in functions.items()))))
            for entry, functions in zip(row, FUNCTIONS)]


def falling(rows):
    """Entries that do not rise with quality: those of lower qualities are raised."""
    out = [rows[-1]]
    for row in reversed(rows[:-1]):
        out.insert(0, [max(a, b) for a, b in zip(row, out[0])])
    return out


class Judge:
    """What tables save at one quality, against libjpeg-turbo."""

    def __init__(self, options):
        self.options = options
        self.calls = 0
        self.base = self.curves(["turbo:huffman=optimal"], BASE_QUALITIES)

    def curves(self, modes, qualities):
        options = self.options
        with tempfile.NamedTemporaryFile("r", suffix=".tsv") as points:
            subprocess.run(
                [options.rd, *options.pictures, "--modes", *modes, "--samplings", options.sampling,
                 "--qualities", ",".join(map(str, qualities)), "--threads", str(options.threads),
                 "--points", points.name], check=True, stdout=subprocess.DEVNULL)
            out = {}
            for row in csv.DictReader(points, delimiter="\t"):
                out.setdefault(row["image"], []).append(
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

    def savings(self, quality, luma, chroma):
        """Percent saved by each metric, for each picture."""
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            numbers = [min(255, max(1, round(n / 16))) for n in luma + chroma]
            print(self.options.sampling, quality, *numbers, file=file)
            file.flush()
            found = self.curves(
                [f"zerorun:tune=photo,effort=best,huffman=optimal,file={file.name}"], [quality])
        self.calls += 1
        return [{metric: 100 * (1 - math.exp(math.log(points[0]["scan_bytes"]) -
                                             self.base_bytes(image, metric, points[0][metric])))
                 for metric in METRICS} for image, points in found.items()]

    def goal(self, quality, luma, chroma):
        limits = {"psnr_y": (0.25, 0), "ms_ssim": (0.7, 1), "psnr_hvs_m": (0.4, -4),
                  "ssimulacra2": (0.5, 10 if self.options.sampling == "420" else 8)}
        saved = self.savings(quality, luma, chroma)
        mean = {m: sum(s[m] for s in saved) / len(saved) for m in METRICS}
        goal = mean["ssimulacra2"] + self.options.others * (
            mean["psnr_y"] + 1.5 * mean["ms_ssim"] + mean["psnr_hvs_m"])
        for metric, (weight, limit) in limits.items():
            goal -= weight * sum(max(0.0, limit - s[metric]) for s in saved) / len(saved)
        worst = {m: round(min(s[m] for s in saved), 1) for m in METRICS}
        return goal, {m: round(x, 2) for m, x in mean.items()}, worst


def train_quality(judge, rows, quality, steps):
    """Returns parameters from which no step leads to a better goal, as far as `steps` go."""
    def tried(trial):
        return judge.goal(quality, *(changed(rows[c], c, trial) for c in ("luma", "chroma")))

    parameters = {}
    best, mean, worst = tried(parameters)
    print("quality", quality, "start", round(best, 3), mean, worst, flush=True)
    for step in steps:
        for parameter in PARAMETERS:
            for sign in (1, -1):
                trial = dict(parameters)
                trial[parameter] = trial.get(parameter, 0.0) + sign * step
                goal, mean, worst = tried(trial)
                if goal > best + 0.01:
                    best, parameters = goal, trial
                    print(judge.calls, quality, parameter, round(trial[parameter], 3),
                          round(best, 3), mean, worst, flush=True)
                    break
    return parameters


def train(options):
    with open(options.start, encoding="utf-8") as file:
        start = json.load(file)
    judge = Judge(options)
    names = {component: f"{component}_{options.sampling}" for component in ("luma", "chroma")}
    order = [int(q) for q in options.qualities.split(",")]
    found = {}
    for quality in order:
        rows = {c: at_quality(start, name, quality) for c, name in names.items()}
        found[quality] = train_quality(judge, rows, quality, options.steps)
        out = {"qualities": [q for q in start["qualities"] if q < min(found)] + sorted(found) +
                            [q for q in start["qualities"] if q > max(found)]}
        for name in (n for n in start if n != "qualities"):
            out[name] = [at_quality(start, name, q) for q in out["qualities"]]
        for component, name in names.items():
            nearest = [found[min(found, key=lambda f: abs(f - q))] for q in out["qualities"]]
            out[name] = falling([changed(row, component, parameters)
                                 for row, parameters in zip(out[name], nearest)])
        for name in (n for n in start if n != "qualities"):
            out[name] = [[round(entry) for entry in row] for row in out[name]]
        with open(options.out, "w", encoding="utf-8") as file:
            json.dump(out, file)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rd", required=True, help="the program zerorun_rd")
    parser.add_argument("--start", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--sampling", choices=("420", "444"), required=True)
    parser.add_argument("--qualities", default="80,65,50,90,95",
                        help="where tables are trained")
    parser.add_argument("--steps", type=lambda text: [float(x) for x in text.split(",")],
                        default=[0.16, 0.1], help="how far a parameter goes, one round each")
    parser.add_argument("--others", type=float, default=0.1,
                        help="what the other metrics count beside SSIMULACRA2")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("pictures", nargs="+")
    train(parser.parse_args())
