#!/usr/bin/env python3
"""How fast `zerorun concat` joins shards, against `cat` of the same shards to the same disk. Both end
when the file is on the disk. They run in turns, A B B A, so that whatever else the machine does hits
both. Prints medians: the time of `cat` over that of concat (1.00: the same speed), MB/s and CPU seconds.

    tests/cluster/concat_speed.py build/release/bin/zerorun --folder /on/the/disk

Ends with 1 if a container is below --least (default 0.8).
SPDX-License-Identifier: MIT"""
import argparse
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

CONTAINERS = ("mov", "mp4", "mkv", "avi", "mjpeg")
SHARDS = 4


class Timed:
    def __init__(self, seconds, cpu):
        self.seconds, self.cpu = seconds, cpu


def timed(command, output):
    """Runs the command with nothing to be written before it."""
    output.unlink(missing_ok=True)
    os.sync()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    done = subprocess.run(command, shell=isinstance(command, str), capture_output=True, text=True)
    seconds = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{command}: {done.stderr}")
    return Timed(seconds, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def make_shards(program, folder, frames):
    make = pathlib.Path(__file__).with_name("make_input.py")
    source, output = folder / "in.y4m", folder / "shot.mjpeg"
    subprocess.run([sys.executable, make, source, "1920", "1080", str(frames)], check=True)
    for shard in range(SHARDS):
        subprocess.run([program, "encode", source, "-o", output, "-q", "97", "--shard", f"{shard}/{SHARDS}",
                        "--device", "cpu", "--quiet"], check=True)
    source.unlink()
    return folder / "shot.mjpeg.shards"


def compare(program, shards, container, rounds):
    joined, copy = shards.with_name("out." + container), shards.with_name("out.cat")
    concat = [program, "concat", shards, "-o", joined, "-y", "--quiet"]
    cat = f"cat '{shards}'/*.mjpeg >'{copy}' && sync '{copy}'"
    pairs = []
    for turn in range(rounds):
        if turn % 2 == 0:
            ours, theirs = timed(concat, joined), timed(cat, copy)
        else:
            theirs, ours = timed(cat, copy), timed(concat, joined)
        pairs.append((ours, theirs))
    size = joined.stat().st_size
    joined.unlink()
    copy.unlink()
    return size, pairs


def median(values):
    return statistics.median(list(values))


def report(container, size, pairs):
    ratios = sorted(theirs.seconds / ours.seconds for ours, theirs in pairs)
    megabytes = size * 1e-6
    ours, theirs = zip(*pairs)
    print(f"{container:9}{median(ratios):8.2f}{ratios[0]:9.2f} to{ratios[-1]:5.2f}"
          f"{megabytes / median(o.seconds for o in ours):10.0f}{megabytes / median(t.seconds for t in theirs):9.0f}"
          f"{median(o.cpu for o in ours):10.2f}{median(t.cpu for t in theirs):9.2f}", flush=True)
    return median(ratios)


def main(options):
    load = os.getloadavg()[0]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="zerorun-concat-", dir=options.folder))
    program = os.path.realpath(options.program)
    has_ffmpeg = "+ffmpeg" in subprocess.run([program, "--version"], capture_output=True, text=True).stdout
    containers = [c for c in options.containers.split(",") if has_ffmpeg or c == "mjpeg"]
    try:
        shards = make_shards(program, folder, options.frames)
        print(f"{options.rounds} pairs, {SHARDS} shards, {os.cpu_count()} cores, load {load:.1f}\n"
              "         cat/concat        range      MB/s  of cat     CPU s   of cat", flush=True)
        reached = [report(c, *compare(program, shards, c, options.rounds)) for c in containers]
    finally:
        shutil.rmtree(folder)
    return 0 if min(reached) >= options.least else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--folder", default=".", help="a folder on the disk that is measured")
    parser.add_argument("--frames", type=int, default=500, help="1080p frames of about 2 MB each")
    parser.add_argument("--rounds", type=int, default=7, help="pairs a container")
    parser.add_argument("--containers", default=",".join(CONTAINERS))
    parser.add_argument("--least", type=float, default=0.8)
    sys.exit(main(parser.parse_args()))
