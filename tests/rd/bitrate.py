#!/usr/bin/env python3
"""Encodes a clip by `zerorun encode --bitrate` and says what was reached: the rate of all frames beside the one that was
asked for, and how full the bucket (RateControl) was at most, by a bucket of its own with exact fractions.
usage: bitrate.py PROGRAM CLIP RATE... [-- OPTIONS OF encode]
Exit code 1: the bucket has overflown, or the rate is more than 1 % off."""
# SPDX-License-Identifier: MIT
import csv
import json
import subprocess
import sys
import tempfile
from fractions import Fraction


def encode(program, clip, rate, options):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "encode", clip, "-o", "null:", "--bitrate", str(rate), "--stats",
                        folder + "/s.csv", "--quiet", *options], check=True)
        with open(folder + "/s.csv", newline="") as file:
            return list(csv.DictReader(file))


def frame_rate(program, clip):
    done = subprocess.run([program, "info", clip, "--json"], check=True, capture_output=True)
    return Fraction(json.loads(done.stdout)["frame_rate"])


def main():
    words = sys.argv[1:]
    options = words[words.index("--") + 1:] if "--" in words else []
    program, clip, *rates = words[:len(words) - len(options) - (1 if "--" in words else 0)]
    fps, bad = frame_rate(program, clip), False
    for rate in map(int, rates):
        frames = encode(program, clip, rate, options)
        leak = Fraction(rate, 8) / fps
        bucket = max(Fraction(rate, 8), 4 * leak)
        level = fullest = bucket / 2
        for frame in frames:
            fullest = max(fullest, level + int(frame["bytes"]))
            level = max(Fraction(0), level + int(frame["bytes"]) - leak)
        reached = sum(int(frame["bytes"]) for frame in frames) / (leak * len(frames))
        qualities = [float(frame["quality"]) for frame in frames]
        print(f"{clip}: {len(frames)} frames ({float(len(frames) / fps):.1f} s), {rate} bits/s: "
              f"{float(100 * reached):.2f} % of the rate, bucket at most {float(100 * fullest / bucket):.1f} % full, "
              f"quality {min(qualities):.1f} to {max(qualities):.1f}", flush=True)
        bad |= fullest > bucket + 1 or abs(reached - 1) > Fraction(1, 100)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
