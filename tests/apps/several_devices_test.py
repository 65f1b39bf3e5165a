# Several GPUs for one stream: the CPU pretends to be three of them, and one of them fails.
# SPDX-License-Identifier: MIT
import json
import os
import subprocess

from support import PRETENDING_PROGRAM, PROGRAM, ProgramTest, make_y4m

FRAMES = 60
RUNS = 50


class SeveralDevicesTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.source = make_y4m("in.y4m", frames=FRAMES)

    def run_on(self, *arguments, devices="3", failing="", code=0):
        environment = {**os.environ, "ZERORUN_TEST_DEVICES": devices,
                       "ZERORUN_TEST_FAILING_DEVICE": failing}
        done = subprocess.run([PRETENDING_PROGRAM, *map(str, arguments)], capture_output=True,
                              env=environment, timeout=120)
        self.assertEqual(done.returncode, code, done.stderr.decode())
        return done

    def run_until_told(self, told, *arguments, **more):
        """Frames go to the device that is free, so on a busy machine the failing one may get too
        few of them to fail: then the run is made again."""
        for _ in range(RUNS):
            done = self.run_on(*arguments, **more)
            if told in (done.stdout + done.stderr).decode():
                return done
        self.fail(f"{RUNS} runs, and none said {told!r}: {done.stderr.decode()}")

    def reference(self):
        self.run_on("encode", self.source, "-o", "cpu.mjpeg", "--device", "cpu")
        return self.read("cpu.mjpeg")

    def test_the_stream_is_that_of_one_device(self):
        wanted = self.reference()
        for device in ("cuda:0,2", "cuda:all", "cuda:1", "cuda:2,1,0"):
            out = "a.mjpeg"
            self.run_on("encode", self.source, "-o", out, "-y", "--device", device)
            self.assertEqual(self.read(out), wanted, device)
            self.run_on("decode", out, "-o", "a.y4m", "-y", "--device", device)
            self.run_on("decode", out, "-o", "b.y4m", "-y", "--device", "cpu")
            self.assertEqual(self.read("a.y4m"), self.read("b.y4m"), device)

    def test_a_device_that_fails_loses_no_frame_and_is_named(self):
        wanted = self.reference()
        out = "a.mjpeg"
        done = self.run_until_told("cuda:1 failed and is not used any more", "encode", self.source,
                                   "-o", out, "-y", "--device", "cuda:all", "--progress", "json",
                                   failing="1@3")
        self.assertEqual(self.read(out), wanted)
        summary = json.loads(done.stderr.decode().splitlines()[-1])["summary"]
        self.assertEqual([lost["device"] for lost in summary["lost_devices"]], ["cuda:1"])
        done = self.run_until_told("cuda:0 failed", "decode", out, "-o", "md5:", "--device",
                                   "cuda:0,1", failing="0@3")
        alone = self.run_on("decode", out, "-o", "md5:", "--device", "cpu")
        self.assertEqual(done.stdout, alone.stdout)

    def test_the_run_fails_when_none_is_left(self):
        done = self.run_on("encode", self.source, "-o", "a.mjpeg", "--device", "cuda:1", failing="1@3", code=5)
        self.assertIn(b"device 1 fails for a test", done.stderr)
        self.assertEqual(sorted(os.listdir(self.dir)), ["in.y4m"])

    def test_play_goes_on_without_a_device(self):
        self.run_on("encode", self.source, "-o", "a.mjpeg", "--device", "cpu")
        done = self.run_until_told("cuda:1 failed, the others went on", "play", "a.mjpeg", "--no-window", "--device",
                                   "cuda:0,1", failing="1@4")
        text = (done.stdout + done.stderr).decode()
        self.assertIn(f"{FRAMES} frames", text)
        self.assertNotIn("broken", text)

    def test_the_program_itself_pretends_nothing(self):
        environment = {**os.environ, "ZERORUN_TEST_DEVICES": "3"}
        said = [subprocess.run([program, "devices", "--json"], capture_output=True, env=environment,
                               check=True).stdout.decode() for program in (PROGRAM, PRETENDING_PROGRAM)]
        self.assertNotIn("for a test", said[0])
        self.assertIn("for a test", said[1])
