#!/usr/bin/env python3
# The program whose CUDA runtime is the stand-in (stand_in_cudart.cpp): each CUDA call fails once, or is the
# last that works. What the stand-in codes has no meaning, but differs from what the CPU codes:
# --device auto   codes all; each frame is the CPU's or the stand-in's, and the CPU's once the device is dead
# --device cuda   either ends with the code of a device or of memory, a sentence and no output, or the error
#                 has cost nothing: all frames are the stand-in's
# SPDX-License-Identifier: MIT
import os
import subprocess
import sys

from faults import make_y4m, require, run_all

FRAMES = 5
DEVICE, MEMORY = 5, 1  # exit codes (zerorun encode --help-all)
HOWS = ("call", "memory", "fault")
# Calls without which a frame has no result.
# When all is done, coders only wait before they free.
WORK = ("Memcpy", "Launch", "EventRecord", "EventQuery", "WaitEvent")


def is_work(name):
    return any(part in name for part in WORK)


class Command:
    """encode or decode on a device."""

    def __init__(self, program, folder, data, command, device):
        self.program, self.folder, self.data, self.command = program, folder, data, command
        self.name = f"{command}-{device}"
        _, text, self.cpu, calls = self.run("cpu")
        require(self.cpu is not None and len(self.cpu) == FRAMES and not calls, text)
        self.device = device
        code, text, self.stand_in, self.calls = self.run(device)
        require(code == 0 and self.stand_in is not None and len(self.calls) > 50, f"{self.name}: {code}, {text}")
        require(all(a != b for a, b in zip(self.cpu, self.stand_in)), "the stand-in was not used")

    def run(self, device, number=0, how="call"):
        """Exit code, standard error, MD5 of each frame (None: no output), names of the CUDA calls."""
        out, log = self.folder / "out.md5", self.folder / "calls.log"
        for path in self.folder.iterdir():
            path.unlink()
        # A pipe: of its length nothing is known, so auto takes the GPU.
        done = subprocess.run([self.program, self.command, "-", "-o", f"md5:{out}", "--device", device, "--threads", "2",
                               "--quiet"], input=self.data, capture_output=True, timeout=120,
                              env={**os.environ, "ZERORUN_FAULT_AT": str(number), "ZERORUN_FAULT_HOW": how,
                                   "ZERORUN_FAULT_LOG": str(log)})
        frames = out.read_text().splitlines() if out.exists() else None
        if frames is not None:
            frames = [line.split(",")[-1].strip() for line in frames if not line.startswith("#")]
        left = [path.name for path in self.folder.iterdir() if path not in (out, log)]
        require(not left, f"left behind: {left}")
        return done.returncode, done.stderr.decode(), frames, log.read_text().splitlines() if log.exists() else []

    def faults(self):
        for how in HOWS:
            for number in range(1, len(self.calls) + 3):
                yield f"{self.name}/{number}/{how}", (number, how)

    def check(self, fault):
        number, how = fault
        code, text, frames, calls = self.run(self.device, number, how)
        if code != 0:
            require(self.device != "auto" and code in (DEVICE, MEMORY), f"exit code {code}: {text}")
            require(frames is None, "an output after an error")
            return require(text.startswith("zerorun: ") and text.count("\n") == 1, f"no sentence: {text!r}")
        require(frames is not None and len(frames) == FRAMES, f"exit code 0 and {frames}")
        require(self.device == "auto" or frames == self.stand_in, "exit code 0 and other frames")
        for i, frame in enumerate(frames):
            require(frame in (self.cpu[i], self.stand_in[i]), f"frame {i} is nobody's")
        # A dead device ends nothing: of a frame that it coded, the last wait came before.
        if how == "fault" and any(is_work(name) for name in calls[number - 1:]):
            waits = sum("Synchronize" in name or "EventQuery" in name for name in calls[:number - 1])
            require(sum(frame == other for frame, other in zip(frames, self.stand_in)) <= waits,
                    "more frames by the device than it was asked for before it died")
            require(self.device == "auto", "exit code 0 after a device that is dead has lost work")


def cases(options, folder):
    make_y4m(folder / "in.y4m", 96, 64, FRAMES)
    program = os.path.abspath(options.program)
    coded = subprocess.run([program, "encode", folder / "in.y4m", "-o", "-", "--output-format", "mjpeg", "--device", "cpu",
                            "--quiet"], capture_output=True, check=True).stdout
    runs = folder / "runs"
    runs.mkdir()
    for command, data in (("encode", (folder / "in.y4m").read_bytes()), ("decode", coded)):
        for device in ("auto", "cuda"):
            yield Command(program, runs, data, command, device)


if __name__ == "__main__":
    sys.exit(run_all(cases))
