# Shards on GPUs: a killed run goes on, and a rank takes the GPU that it sees.
# ZERORUN_TEST_DEVICES=2 tries these tests without a GPU.
# SPDX-License-Identifier: MIT
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

import support
from support import ProgramTest, make_y4m

LONG_FRAMES = 1000
PRETENDED = int(os.environ.get("ZERORUN_TEST_DEVICES", "0"))
PROGRAM = support.PRETENDING_PROGRAM if PRETENDED else support.PROGRAM
MAKE_INPUT = pathlib.Path(__file__).parents[1] / "cluster" / "make_input.py"


def gpu_count():
    said = json.loads(subprocess.run([PROGRAM, "devices", "--json"], capture_output=True).stdout)
    return sum(device["usable"] for device in said["devices"] if device["device"] != "cpu")


def setUpModule():
    if PRETENDED or gpu_count():
        return
    if os.environ.get("ZERORUN_REQUIRE_GPU") == "1":
        raise AssertionError("ZERORUN_REQUIRE_GPU=1, but there is no usable GPU")
    raise unittest.SkipTest("no usable GPU")


class DeviceTest(ProgramTest):
    program = PROGRAM


class DeviceOfARankTest(DeviceTest):
    def device_of(self, source, **environment):
        done = self.zerorun("encode", source, "-o", "out.mjpeg", "--shard", "0/1", "-y", "--device", "cuda",
                            "--progress", "json", env={**os.environ, **environment})
        text = done.stderr.decode().splitlines()[-1]
        devices = [number for number in range(16) if f'"cuda:{number} ' in text]
        self.assertEqual(len(devices), 1, text)
        return devices[0]

    def test_a_gpu_that_is_the_only_visible_one_is_number_0(self):
        if PRETENDED:
            self.skipTest("CUDA_VISIBLE_DEVICES is CUDA's own")
        source, last = make_y4m("in.y4m", frames=2), str(gpu_count() - 1)
        self.assertEqual(self.device_of(source, CUDA_VISIBLE_DEVICES=last, SLURM_LOCALID=last), 0)


class KilledOnGpuTest(DeviceTest):
    def setUp(self):
        super().setUp()
        self.source, self.out = "in.y4m", "out.mjpeg"
        subprocess.run([sys.executable, MAKE_INPUT, self.source, "640", "480", str(LONG_FRAMES)], check=True)

    def end_amid_work(self, number, *options):
        """Returns the exit code of a run that is sent the signal after some frames of its own."""
        journal = pathlib.Path(self.out + ".shards", "000-of-001.journal")
        before = journal.read_bytes().count(b"\n") if journal.exists() else 0
        process = subprocess.Popen([PROGRAM, "encode", self.source, "-o", self.out, "--device", "cuda", *options],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        while process.poll() is None:
            if journal.exists() and journal.read_bytes().count(b"\n") > before + 40:
                process.send_signal(number)
                break
            time.sleep(0.001)
        text = process.communicate()[1].decode()
        self.assertNotEqual(process.returncode, 0, "the run ended before the signal: " + text)
        return process.returncode

    def test_a_run_goes_on_after_signals(self):
        self.assertEqual(self.end_amid_work(signal.SIGKILL, "--resume"), -signal.SIGKILL)
        self.assertEqual(self.end_amid_work(signal.SIGTERM, "--resume"), 75)
        done = self.zerorun("encode", self.source, "-o", self.out, "--resume", "--device", "cuda")
        self.assertIn(f"of {LONG_FRAMES} frames are there already", done.stderr.decode())
        for device in ("cpu", "cuda"):
            self.zerorun("encode", self.source, "-o", "one.mjpeg", "-y", "--device", device)
            self.assertTrue(self.read("one.mjpeg") == self.read(self.out), device)


del ProgramTest
