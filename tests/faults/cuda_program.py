#!/usr/bin/env python3
# The program whose CUDA runtime is the stand-in (stand_in_cudart.cpp): each CUDA call fails once, or is the
# last that works. What the stand-in codes has no meaning, but differs from what the CPU codes:
# --device auto   codes all; each frame is the CPU's or the stand-in's, and the CPU's once the device is dead
# --device cuda   either ends with the code of a device or of memory, a sentence and no output, or the error
#                 has cost nothing: all frames are the stand-in's
# SPDX-License-Identifier: MIT
import argparse
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

FRAMES = 5
DEVICE, MEMORY = 5, 1  # exit codes (zerorun encode --help-all)
HOWS = ("call", "memory", "fault")
# Calls without which a frame has no result.
# When all is done, coders only wait before they free.
WORK = ("Memcpy", "Launch", "EventRecord", "EventQuery", "WaitEvent")


def picture(width, height, frame):
    noise = random.Random(frame).randbytes(width * height * 3 // 2)
    return b"FRAME\n" + bytes((i * (frame + 3) + (noise[i] >> 3)) & 0xFF for i in range(len(noise)))


class Program:
    def __init__(self, path, folder):
        self.path, self.folder = path, pathlib.Path(folder)
        y4m = b"YUV4MPEG2 W96 H64 F25:1 Ip A1:1 C420jpeg XCOLORRANGE=FULL\n" + b"".join(
            picture(96, 64, frame) for frame in range(FRAMES))
        coded = self.run(["encode", "-", "-o", "-", "--output-format", "mjpeg", "--device", "cpu"], y4m)
        assert coded.returncode == 0, coded.stderr
        self.inputs = {"encode": y4m, "decode": coded.stdout}

    def run(self, arguments, data, **environment):
        return subprocess.run([self.path, *arguments, "--quiet"], input=data, capture_output=True, timeout=120,
                              env={**os.environ, **environment})

    def code(self, command, device, number=0, how="call"):
        """Exit code, standard error, MD5 of each frame (None: no output), names of the CUDA calls."""
        out, log = self.folder / "out.md5", self.folder / "calls.log"
        for path in self.folder.iterdir():
            path.unlink()
        # A pipe: of its length nothing is known, so auto takes the GPU.
        done = self.run([command, "-", "-o", f"md5:{out}", "--device", device, "--threads", "2"],
                        self.inputs[command], ZERORUN_FAULT_AT=str(number), ZERORUN_FAULT_HOW=how,
                        ZERORUN_FAULT_LOG=str(log))
        frames = out.read_text().splitlines() if out.exists() else None
        if frames is not None:
            frames = [line.split(",")[-1].strip() for line in frames if not line.startswith("#")]
        left = [path.name for path in self.folder.iterdir() if path not in (out, log)]
        calls = log.read_text().splitlines() if log.exists() else []
        return done.returncode, done.stderr.decode(), frames, calls, left


def is_work(name):
    return any(part in name for part in WORK)


def judge(run, device, number, how, cpu, stand_in):
    """What is wrong with a run; empty: nothing."""
    code, text, frames, calls, left = run
    if left:
        return f"left behind: {left}"
    if code != 0:
        if device == "auto":
            return f"exit code {code}: {text}"
        if code not in (DEVICE, MEMORY):
            return f"exit code {code}: {text}"
        if frames is not None:
            return "an output after an error"
        return "" if text.startswith("zerorun: ") and text.count("\n") == 1 else f"no sentence: {text!r}"
    if frames is None or len(frames) != FRAMES:
        return f"exit code 0 and {frames}"
    if device == "cuda" and frames != stand_in:
        return "exit code 0 and other frames"
    for i, frame in enumerate(frames):
        if frame not in (cpu[i], stand_in[i]):
            return f"frame {i} is nobody's"
    # A dead device ends nothing: of a frame that it coded, the last wait came before.
    lost = how == "fault" and any(is_work(name) for name in calls[number - 1:])
    waits = sum("Synchronize" in name or "EventQuery" in name for name in calls[:number - 1])
    if lost and sum(frame == other for frame, other in zip(frames, stand_in)) > waits:
        return "more frames by the device than it was asked for before it died"
    if lost and device == "cuda":
        return "exit code 0 after a device that is dead has lost work"
    return ""


def plan(program):
    """All runs, and what they are compared with."""
    runs, expected = [], {}
    for command in ("encode", "decode"):
        _, text, cpu, calls, _ = program.code(command, "cpu")
        assert cpu is not None and len(cpu) == FRAMES and not calls, text
        for device in ("auto", "cuda"):
            code, text, frames, calls, _ = program.code(command, device)
            assert code == 0 and frames is not None and len(calls) > 50, (command, device, code, text, len(calls))
            assert all(a != b for a, b in zip(cpu, frames)), "the stand-in was not used"
            expected[command, device] = (cpu, frames)
            runs += [(command, device, number, how) for how in HOWS for number in range(1, len(calls) + 3)]
    return runs, expected


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--sample", type=int, help="so many of the runs, evenly")
    parser.add_argument("--minutes", type=float, default=1e9)
    options = parser.parse_args()
    end = time.monotonic() + 60 * options.minutes
    with tempfile.TemporaryDirectory(prefix="zerorun-cuda-") as folder:
        program = Program(options.program, folder)
        runs, expected = plan(program)
        every = max(1, len(runs) // options.sample) if options.sample else 1
        chosen, done, wrong = runs[::every], 0, 0
        for command, device, number, how in chosen:
            if time.monotonic() > end:
                break
            run = program.code(command, device, number, how)
            problem = judge(run, device, number, how, *expected[command, device])
            done += 1
            if problem:
                wrong += 1
                print(f"{command} --device {device}, call {number} ({how}): {problem}", flush=True)
    print(f"{done} of {len(runs)} runs, {wrong} wrong")
    return 1 if wrong else 0 if done == len(chosen) else 3


if __name__ == "__main__":
    sys.exit(main())
