#!/usr/bin/env python3
"""Random kills of zerorun's shards: encode, decode, concat and --resume, with SIGKILL, SIGTERM, power
cuts, full and read-only and failing disks, and clocks that jump. Whatever happens, the result is the
file of one run, and what a kill cost is counted from the log of a preloaded disk (fault_disk.cpp):
never more than 64 frames or 2 s of work.

    tests/cluster/kills.py build/release/bin/zerorun build/release/tests/apps/libfault_disk.so --count 500

The same line with --state FILE goes on where it was ended. Prints a table at the end.
SPDX-License-Identifier: MIT"""
import argparse
import collections
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from disk_log import DiskLog, MOST_FRAMES, MOST_SECONDS

FAULTS = ("kill", "kill", "power cut", "power cut", "SIGTERM", "full disk", "read-only", "I/O error", "clock")
ERRORS = {"full disk": "ENOSPC", "read-only": "EROFS", "I/O error": "EIO"}
# For delays of the scheduler between the look at the clock and the write that follows it.
SLACK_SECONDS = 0.5
FRAMES = 240
PICTURES = 90


class Failure(Exception):
    pass


def check(condition, *words):
    if not condition:
        raise Failure(" ".join(map(str, words)))


class Job:
    """One output: made by one run for comparison, and made in shards that are killed."""
    def __init__(self, name, verb, source, output, shards, options=()):
        self.name, self.verb, self.source, self.output = name, verb, source, output
        self.shards, self.options = shards, list(options)

    def command(self, output, shard):
        split = [] if self.shards == 0 else ["--shard", f"{shard}/{self.shards}"]
        return [self.verb, self.source, "-o", output, "--resume", "--device", "cpu", "--threads", "1",
                *split, *self.options]


class Kills:
    def __init__(self, arguments):
        self.program, self.library = (os.path.realpath(p) for p in (arguments.program, arguments.faults))
        self.seed, self.count = arguments.seed, arguments.count
        self.state = arguments.state
        self.dir = os.path.realpath(arguments.folder or tempfile.mkdtemp(prefix="zerorun-kills-"))
        self.keep = bool(arguments.folder)
        self.kills = collections.Counter()
        self.cost = collections.defaultdict(lambda: [0, 0.0])
        self.lengths = collections.defaultdict(lambda: 100)  # lines of the log of a run
        self.rounds = 0

    def path(self, *names):
        return os.path.join(self.dir, *names)

    def run(self, *arguments, code=0):
        done = subprocess.run([self.program, *arguments], capture_output=True, text=True, timeout=300)
        check(done.returncode == code, arguments, done.returncode, done.stderr)
        return done

    def prepare(self):
        os.makedirs(self.path("one"), exist_ok=True)
        make = pathlib.Path(__file__).with_name("make_input.py")
        for name, frames in (("in.y4m", FRAMES), ("few.y4m", PICTURES)):
            subprocess.run([sys.executable, make, self.path(name), "320", "240", str(frames)], check=True)
        self.run("encode", self.path("in.y4m"), "-o", self.path("in.mjpeg"), "-y")
        self.run("encode", self.path("few.y4m"), "-o", self.path("few.mjpeg"), "-y")
        y4m, mjpeg, few = self.path("in.y4m"), self.path("in.mjpeg"), self.path("few.mjpeg")
        self.jobs = [Job("encode", "encode", y4m, "shot.mjpeg", 3),
                     Job("encode --resume", "encode", y4m, "shot.mjpeg", 0),
                     Job("decode", "decode", mjpeg, "shot.y4m", 2),
                     Job("decode --resume", "decode", mjpeg, "shot.y4m", 0),
                     Job("pictures", "decode", few, "%03d.ppm", 2)]
        if "+ffmpeg" in self.run("--version").stdout:
            self.jobs += [Job("encode " + e, "encode", y4m, "shot." + e, 2) for e in ("mov", "mkv", "avi")]
        for job in self.jobs:
            folder = self.path("one", job.name)
            os.makedirs(folder, exist_ok=True)
            self.run(job.verb, job.source, "-o", os.path.join(folder, job.output), "-y", *job.options)

    # A round: an output with one to four kills, then its end without any.

    def play(self, number):
        chance = random.Random(f"{self.seed} {number}")
        job = chance.choice(self.jobs)
        out = self.path("out")
        shutil.rmtree(out, ignore_errors=True)
        shutil.rmtree(self.path("grave"), ignore_errors=True)
        os.makedirs(out)
        os.makedirs(self.path("grave"))
        self.log = DiskLog(self.path("log"), out, self.path("grave"))
        output = os.path.join(out, job.output)
        for _ in range(chance.randint(1, 4)):
            shard = chance.randrange(max(job.shards, 1))
            if self.is_done(job, output):
                break
            self.hit(job.name, job.command(output, shard), chance)
        for shard in range(max(job.shards, 1)):
            self.finish_shard(job, output, shard)
        if job.shards > 0:
            if job.name != "pictures" and chance.random() < 0.5:  # concat only reads those
                self.hit("concat", ["concat", output, "-y"], chance)
            self.run("concat", output, "-y", "--delete-shards")
        self.compare(job)

    def compare(self, job):
        one, out = (pathlib.Path(self.path(*parts)) for parts in (("one", job.name), ("out",)))
        names = [sorted(p.name for p in folder.iterdir()) for folder in (one, out)]
        check(names[0] == names[1], "files differ:", *names)
        for name in names[0]:
            check((one / name).read_bytes() == (out / name).read_bytes(), name, "is not the file of one run")

    def is_done(self, job, output):
        """A whole output has its name when all of it is durable; only the shards' folder may be left."""
        return job.shards == 0 and os.path.exists(output) and not os.path.exists(
            f"{output}.shards/000-of-001.json")

    def finish_shard(self, job, output, shard):
        if self.is_done(job, output):
            shutil.rmtree(output + ".shards", ignore_errors=True)
            return
        done = self.run(*job.command(output, shard))
        self.log.compare_kept(output, shard, job.shards, done.stderr)

    def hit(self, name, command, chance):
        """Starts the command, waits for a random moment of its work, and strikes."""
        fault = chance.choice(FAULTS)
        environment = {**os.environ, "LD_PRELOAD": self.library, "FAULT_ROOT": self.path("out"),
                       "FAULT_LOG": self.path("log"), "FAULT_GRAVE": self.path("grave"),
                       "FAULT_SYNC_MS": str(chance.choice((0, 0, 3) if name == "pictures" else (0, 0, 0, 20, 300, 1500)))}
        moment = chance.randint(1, self.lengths[name])
        if fault in ERRORS:
            environment["FAULT_ERROR"] = f"{moment} {ERRORS[fault]}"
        if fault == "clock":
            environment["FAULT_CLOCK"] = "40000000"
        before = self.log.lines()
        process = subprocess.Popen([self.program, *command], env=environment, text=True,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        struck = fault in ERRORS
        while process.poll() is None and not struck:
            if self.log.lines() - before >= moment:
                process.send_signal(signal.SIGTERM if fault == "SIGTERM" else signal.SIGKILL)
                struck = True
            time.sleep(0.001)
        text = process.communicate(timeout=300)[1]
        check(self.log.lines() > before or process.returncode != 0, name, "wrote nothing to the log of", self.library)
        self.lengths[name] = max(self.lengths[name], self.log.lines() - before)
        self.judge(name, fault, process.returncode, text)
        if process.returncode == 0:
            return  # it had ended before
        frames, seconds = self.log.cost()
        check(frames <= MOST_FRAMES, name, fault, "cost", frames, "frames")
        check(seconds <= MOST_SECONDS + SLACK_SECONDS, name, fault, "cost", seconds, "s")
        self.kills[name, fault] += 1
        worst = self.cost[name]
        worst[0], worst[1] = max(worst[0], frames), max(worst[1], seconds)
        if fault == "power cut":
            self.log.cut_power(chance)

    def judge(self, name, fault, code, text):
        good = {"SIGTERM": (0, 75, 143, 1), **{error: (0, 4) for error in ERRORS}}.get(fault, (0, -9))
        check(code in good, name, fault, "ended with", code, text)
        if code == 4:
            check(text.splitlines()[-1].startswith("zerorun: "), text)

    def record(self, number, kills):
        if self.state:
            with open(self.state, "a") as out:
                out.write(json.dumps({"seed": self.seed, "round": number, "kills": kills,
                                      "cost": {k: v for k, v in self.cost.items()}}) + "\n")

    def recall(self):
        if not self.state or not os.path.exists(self.state):
            return
        for line in open(self.state):
            entry = json.loads(line)
            if entry["seed"] != self.seed:
                continue
            self.rounds = max(self.rounds, entry["round"] + 1)
            self.kills.update({tuple(key.split("|")): n for key, n in entry["kills"].items()})
            for name, (frames, seconds) in entry["cost"].items():
                worst = self.cost[name]
                worst[0], worst[1] = max(worst[0], frames), max(worst[1], seconds)

    def main(self):
        print(f"seed {self.seed}, {self.count} kills, in {self.dir}", flush=True)
        self.recall()
        self.prepare()
        while sum(self.kills.values()) < self.count:
            before = self.kills.copy()
            try:
                self.play(self.rounds)
            except (Failure, AssertionError) as error:
                print(f"FAILED: round {self.rounds} of seed {self.seed}: {error}; see {self.dir}")
                return 1
            new = {"|".join(key): n - before[key] for key, n in self.kills.items() if n > before[key]}
            self.record(self.rounds, new)
            self.rounds += 1
        self.table()
        if not self.keep:
            shutil.rmtree(self.dir)
        return 0

    def table(self):
        faults = sorted(set(FAULTS))
        print("kills of".ljust(18) + "".join(f.rjust(11) for f in faults) + "   at most lost")
        for name in sorted({name for name, _ in self.kills}):
            counts = "".join(str(self.kills[name, fault]).rjust(11) for fault in faults)
            frames, seconds = self.cost[name]
            print(f"{name:18}{counts}   {frames} frames, {seconds:.2f} s of work")
        print(f"{sum(self.kills.values())} kills in {self.rounds} rounds; every result is the file of one run")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("faults", help="the library that fault_disk.cpp becomes")
    parser.add_argument("--count", type=int, default=24)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--state", help="a file that the rounds are written to, to go on later")
    parser.add_argument("--folder", help="where to work, on the disk that is to be tested; it is kept")
    sys.exit(Kills(parser.parse_args()).main())
