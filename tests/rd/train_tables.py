#!/usr/bin/env python3
"""Trains quantisation tables: multiplies the tables of a start file by smooth functions of the
frequency, one after another, and keeps what makes files smaller at equal quality.

    train_tables.py --rd build/release/tests/rd/zerorun_rd --start tables.json --out trained.json \\
        --sampling 420 photo1.png photo2.png ...

The goal is the mean of SSIMULACRA2, with a part of PSNR, MS-SSIM and PSNR-HVS-M and a penalty where
one of these loses, so that the tables are not made for one metric. The training pictures should not
be those that the result is judged by. tests/rd/write_tables.py makes the source of the codec from
the result; its text describes the file format."""
# SPDX-License-Identifier: MIT
import argparse
import json
import math
import subprocess
import tempfile

QUALITIES = (50, 65, 80, 90, 95)


def basis(u, v):
    """Functions of the frequency (u, v), from 0 to 1 or -1 to 1."""
    radius = math.hypot(u, v) / math.hypot(7, 7)
    return {
        "slope": radius - 0.4,
        "dc": 1.0 if u + v == 0 else 0.0,
        "lowest": 1.0 if u + v == 1 else 0.0,
        "low": 1.0 if 2 <= u + v <= 3 else 0.0,
        "high": max(0.0, radius - 0.5) * 2,
        "diagonal": 0.0 if u + v == 0 else 2.0 * min(u, v) / (u + v),
    }


PARAMETERS = [("luma", name) for name in basis(0, 0)] + [("chroma", name) for name in basis(0, 0)]
PARAMETERS.append(("chroma", "all"))


def changed(tables, sampling, parameters):
    """The tables times exp(sum of parameter * function)."""
    out = dict(tables)
    for component in ("luma", "chroma"):
        factors = []
        for i in range(64):
            functions = basis(i % 8, i // 8)
            functions["all"] = 1.0
            factors.append(math.exp(sum(parameters.get((component, name), 0.0) * value
                                        for name, value in functions.items())))
        name = f"{component}_{sampling}"
        out[name] = [[min(255 * 16, max(1, round(entry * factor)))
                      for entry, factor in zip(row, factors)] for row in tables[name]]
    return out


def table_at(tables, name, quality):
    """As tuned_quant_tables() of the codec."""
    qualities = tables["qualities"]
    upper = next(i for i in range(1, len(qualities)) if qualities[i] >= quality)
    low, high = qualities[upper - 1], qualities[upper]
    unit = 16 * (high - low)
    return [min(255, max(1, (a * (high - quality) + b * (quality - low) + unit // 2) // unit))
            for a, b in zip(tables[name][upper - 1], tables[name][upper])]


class Judge:
    def __init__(self, options):
        self.options = options
        self.calls = 0

    def savings(self, tables):
        """Percent saved by each metric, mean of the pictures."""
        options = self.options
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            for quality in QUALITIES:
                numbers = [n for component in ("luma", "chroma") for n in
                           table_at(tables, f"{component}_{options.sampling}", quality)]
                print(options.sampling, quality, *numbers, file=file)
            file.flush()
            text = subprocess.run(
                [options.rd, *options.pictures, "--modes", "turbo:huffman=optimal",
                 f"zerorun:tune=photo,effort=best,huffman=optimal,file={file.name}",
                 "--samplings", options.sampling, "--qualities", ",".join(map(str, QUALITIES)),
                 "--threads", str(options.threads)],
                check=True, capture_output=True, text=True).stdout
        self.calls += 1
        lines = [line.split("\t") for line in text.splitlines()]
        return dict(zip(lines[0][3:], map(float, lines[-1][3:])))

    def goal(self, tables):
        saved = self.savings(tables)
        goal = saved["ssimulacra2"] + self.options.others * (
            saved["psnr_y"] + 1.5 * saved["ms_ssim"] + saved["psnr_hvs_m"])
        goal -= 0.5 * max(0.0, 2.0 - saved["ms_ssim"]) + 0.5 * max(0.0, 2.0 - saved["psnr_y"])
        goal -= 0.3 * max(0.0, -4.0 - saved["psnr_hvs_m"])
        return goal, saved


def train(options):
    with open(options.start, encoding="utf-8") as file:
        start = json.load(file)
    judge = Judge(options)
    parameters = {}
    best, saved = judge.goal(start)
    print("start", round(best, 3), saved, flush=True)
    step = options.step
    for _ in range(options.rounds):
        for parameter in PARAMETERS:
            for sign in (1, -1):
                trial = dict(parameters)
                trial[parameter] = trial.get(parameter, 0.0) + sign * step
                goal, saved = judge.goal(changed(start, options.sampling, trial))
                if goal > best + 0.01:
                    best, parameters = goal, trial
                    print(judge.calls, parameter, round(trial[parameter], 3), round(best, 3), saved,
                          flush=True)
                    with open(options.out, "w", encoding="utf-8") as file:
                        json.dump(changed(start, options.sampling, parameters), file)
                    break
        step *= 0.6


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rd", required=True, help="the program zerorun_rd")
    parser.add_argument("--start", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--sampling", choices=("420", "444"), required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--step", type=float, default=0.15)
    parser.add_argument("--others", type=float, default=0.1,
                        help="what the other metrics count beside SSIMULACRA2")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("pictures", nargs="+")
    train(parser.parse_args())
