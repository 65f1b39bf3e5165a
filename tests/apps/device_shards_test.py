# Shards on GPUs: those of both backends join to the file of one run, and a killed run goes on.
# ZERORUN_TEST_DEVICES=2 tries these tests without a GPU.
# SPDX-License-Identifier: MIT
import concurrent.futures
import itertools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import unittest

import support
from support import ProgramTest, make_ppm, make_y4m

COUNTS = (1, 2, 3, 7, 16, 64)
FRAMES = 41
LONG_FRAMES = 1000
WORKERS = 4
PRETENDED = int(os.environ.get("ZERORUN_TEST_DEVICES", "0"))
PROGRAM = support.PRETENDING_PROGRAM if PRETENDED else support.PROGRAM
VIDEOS = ("in.avi", "in.mjpeg") if support.BUILT_WITH_FFMPEG else ("in.mjpeg",)
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


class DeviceMatrixTest(DeviceTest):
    """Even shards are made by the GPU, odd ones by the CPU: a farm may have both."""
    def shards(self, verb, source, output, count, *options):
        commands = [[PROGRAM, verb, source, "-o", output, "--shard", f"{index}/{count}", "--quiet",
                     "--device", "cpu" if index % 2 else "cuda", *options] for index in range(count)]
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            for done in pool.map(lambda c: subprocess.run(c, capture_output=True, timeout=300), commands):
                self.assertEqual(done.returncode, 0, f"{done.args}: {done.stderr.decode()}")
        self.zerorun("concat", output, "--delete-shards", "--quiet")

    def compare_folders(self, one, out):
        names = sorted(os.listdir(self.path(one)))
        self.assertEqual(names, sorted(os.listdir(self.path(out))))
        for name in names:
            self.assertTrue(pathlib.Path(self.path(one), name).read_bytes() ==
                            pathlib.Path(self.path(out), name).read_bytes(), f"{one} and {out}: {name}")

    def check(self, verb, source, name, count, *options):
        """The shards, and one run by each backend."""
        for folder in ("cpu", "cuda", "out"):
            shutil.rmtree(self.path(folder), ignore_errors=True)
            os.mkdir(self.path(folder))
        for device in ("cpu", "cuda"):
            self.zerorun(verb, source, "-o", self.path(f"{device}/{name}"), "--device", device, *options)
        self.compare_folders("cpu", "cuda")
        self.shards(verb, source, self.path(f"out/{name}"), count, *options)
        self.compare_folders("cuda", "out")

    def make_inputs(self):
        y4m = make_y4m(self.path("in.y4m"), frames=FRAMES)
        os.mkdir(self.path("seq"))
        for frame in range(FRAMES):
            if frame not in (5, 20, 21):
                make_ppm(self.path(f"seq/{frame:04}.ppm"), frame=frame)
        os.mkdir(self.path("jpg"))
        for name in (*VIDEOS, "jpg/%03d.jpg"):
            self.encode(y4m, "-o", self.path(name))

    def test_encode(self):
        self.make_inputs()
        kinds = itertools.product(("in.y4m", "seq/%04d.ppm", *VIDEOS), [video[3:] for video in VIDEOS])
        for count, (source, extension) in zip(itertools.cycle(COUNTS), kinds):
            with self.subTest(count=count, source=source, extension=extension):
                options = ["--missing", "hold"] if "%" in source else []
                self.check("encode", self.path(source), "shot." + extension, count, *options)

    def test_decode(self):
        self.make_inputs()
        kinds = itertools.product((*VIDEOS, "jpg/%03d.jpg"), ("shot.y4m", "%03d.ppm"))
        for count, (source, name) in zip(COUNTS, kinds):
            with self.subTest(count=count, source=source, name=name):
                self.check("decode", self.path(source), name, count)


class DeviceOfARankTest(DeviceTest):
    def device_of(self, source, **environment):
        done = self.zerorun("encode", source, "-o", self.path("out.mjpeg"), "--shard", "0/1", "-y", "--device",
                            "cuda", "--progress", "json", env={**os.environ, **environment})
        text = done.stderr.decode().splitlines()[-1]
        devices = [number for number in range(16) if f'"cuda:{number} ' in text]
        self.assertEqual(len(devices), 1, text)
        return devices[0]

    def test_a_gpu_that_is_the_only_visible_one_is_number_0(self):
        if PRETENDED:
            self.skipTest("CUDA_VISIBLE_DEVICES is CUDA's own")
        source, last = make_y4m(self.path("in.y4m"), frames=2), str(gpu_count() - 1)
        self.assertEqual(self.device_of(source, CUDA_VISIBLE_DEVICES=last, SLURM_LOCALID=last), 0)


class KilledOnGpuTest(DeviceTest):
    def setUp(self):
        super().setUp()
        self.source, self.out = self.path("in.y4m"), self.path("out.mjpeg")
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
            self.zerorun("encode", self.source, "-o", self.path("one.mjpeg"), "-y", "--device", device)
            self.assertTrue(pathlib.Path(self.path("one.mjpeg")).read_bytes() == pathlib.Path(self.out).read_bytes(),
                            device)


del ProgramTest
