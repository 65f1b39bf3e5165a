# bench --files: the program itself from file to file, its floors, FFmpeg beside it.
# SPDX-License-Identifier: MIT
import json
import os
import signal
import subprocess
import time

from support import (BUILT_WITH_FFMPEG, BUILT_WITH_OPENCV, HAS_FFMPEG, PROGRAM, ProgramTest,
                     make_ppm, make_y4m)


class BenchFilesTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.work = self.dir / "work"
        self.work.mkdir()

    def bench(self, *arguments):
        done = self.zerorun("bench", "--files", *arguments, "--folder", self.work, "--device",
                            "cpu", "--threads", "2", "--repetitions", "2", "--json", "report.json", "-y",
                            timeout=300)
        return json.loads(self.read("report.json")), done.stdout.decode()

    def rows(self, report, case):
        return {row["id"]: row for row in report["cases"][case]["rows"]}

    def assert_whole(self, row, frames):
        self.assertEqual((row["mode"], row["frames_per_sample"]), ("whole", frames))
        self.assertEqual(len(row["samples_us"]), 2)
        self.assertGreater(min(row["samples_us"]), 0)
        whole = row["whole"]
        self.assertGreater(whole["cpu_seconds"], 0)
        self.assertAlmostEqual(whole["floor_percent"],
                               100 * whole["floor_us"] / row["median_us"], 6)
        if not row["coder"].startswith("FFmpeg"):
            self.assertIn(whole["wall"], whole["steps"])
            self.assertTrue(whole["sentence"].endswith("."), whole)
            for percent in whole["steps"].values():
                self.assertTrue(0 <= percent <= 100, whole)

    def test_encode_and_decode_with_floors(self):
        y4m = make_y4m("in.y4m", 96, 64, 6)
        report, text = self.bench(y4m, "-q", "70")
        encode, decode = self.rows(report, 0), self.rows(report, 1)
        ours = ["y4m>null", "y4m>mjpeg"] + (["y4m>mov"] if BUILT_WITH_FFMPEG else [])
        for path in ours:
            self.assert_whole(encode[f"zerorun/cpu/{path}/whole/2"], 6)
        for path in ("null", "y4m", "png" if BUILT_WITH_OPENCV else "ppm"):
            self.assert_whole(decode[f"zerorun/cpu/mjpeg>{path}/whole/2"], 6)
        self.encode(y4m, "-o", "o.mjpeg", "-q", "70")
        self.assertAlmostEqual(encode["zerorun/cpu/y4m>mjpeg/whole/2"]["stream_bytes"] * 6, os.path.getsize("o.mjpeg"))
        floors = {row["path"] for rows in (encode, decode) for row in rows.values()
                  if row["coder"] == "floor"}
        self.assertLessEqual({"page-cache>memory", "memory>mjpeg", "memory>y4m"}, floors)
        self.assertIn("from file to file", text)
        self.assertEqual(list(self.work.iterdir()), [], "the folder was not removed")
        peers = [row for row in encode.values() if row["coder"].startswith("FFmpeg")]
        if HAS_FFMPEG:
            self.assertEqual({row["path"] for row in peers}, {"y4m>null", "y4m>mjpeg", "y4m>mov"})
            for row in peers:
                self.assertRegex(row["coder"], r"^FFmpeg \S+ -q:v \d+$")
                self.assert_whole(row, 6)
        else:
            self.assertIn("FFmpeg", " ".join(report["cases"][0]["notes"]))

    def test_sequences_and_generated_frames(self):
        for number in range(1, 4):
            make_ppm(f"{number}.ppm", 40, 30, number)
        for source, frames in (("%d.ppm", 3), ("synthetic:64x48:photo", 4)):
            report, _ = self.bench(source, "--operation", "encode", "--no-peers", "--frames", "4")
            [case] = report["cases"]
            self.assertEqual(case["frames"], frames)
            for row in case["rows"]:
                if row["coder"] == "zerorun":
                    self.assert_whole(row, frames)

    def test_what_cannot_be_read_is_an_error_and_leaves_nothing(self):
        for source, code in (("absent.y4m", 3), ("-", 2)):
            self.assertIn("zerorun: ", self.zerorun("bench", "--files", source, "--folder", self.work, "--device",
                                                    "cpu", code=code).stderr.decode())
            self.assertEqual(list(self.work.iterdir()), [])
        done = self.zerorun("bench", "--files", "--folder", "no", "--device", "cpu", code=4)
        self.assert_sentence(done, "no folder can be made there")
        self.assert_sentence(self.zerorun("bench", "--start-alone", "--device", "cpu", code=5), "no GPU to start")

    def test_an_interruption_removes_the_folder(self):
        y4m = make_y4m("in.y4m", 96, 64, 6)
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            process = subprocess.Popen(
                [PROGRAM, "bench", "--files", y4m, "--folder", str(self.work), "--device", "cpu",
                 "--repetitions", "1000"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.addCleanup(process.kill)
            deadline = time.monotonic() + 60
            while not list(self.work.glob("zerorun-bench-*/stream.mjpeg")):
                self.assertIsNone(process.poll())
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.01)
            process.send_signal(number)
            self.assertEqual(process.wait(300), code)
            self.assertEqual(list(self.work.iterdir()), [])
