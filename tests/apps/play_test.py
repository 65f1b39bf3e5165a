# play without a window: counts, ranges, damage, pipes, comparison, memory; and no display.
# SPDX-License-Identifier: MIT
import json
import os
import pathlib
import subprocess

from support import ProgramTest, ffmpeg, make_y4m, needs_containers, needs_ffmpeg


class PlayTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.y4m = make_y4m("in.y4m", 65, 47, 9)
        self.mjpeg = "in.mjpeg"
        self.encode(self.y4m, "-o", self.mjpeg)

    def play(self, *arguments, **options):
        done = self.zerorun("play", *arguments, "--no-window", "--json", "--device", "cpu",
                            **options)
        return json.loads(done.stdout)

    def test_reports_what_it_decoded(self):
        report = self.play(self.mjpeg)
        self.assertEqual(report["decoded"], 9)
        self.assertEqual(report["bytes"], os.path.getsize(self.mjpeg))
        self.assertEqual((report["width"], report["height"]), (65, 47))
        self.assertGreater(report["decode_ms"]["median"], 0)
        self.assertEqual([report[k] for k in ("dropped", "concealed_frames", "broken_frames")],
                         [0, 0, 0])
        text = self.zerorun("play", self.mjpeg, "--no-window", "--device", "cpu")
        self.assertEqual(text.stdout, b"")
        self.assertIn(b"9 frames, 65x47", text.stderr)

    def test_ranges_and_start(self):
        self.assertEqual(self.play(self.mjpeg, "--frames", "2:5")["decoded"], 3)
        self.assertEqual(self.play(self.mjpeg, "--start", "0.2")["decoded"], 4)
        self.assertEqual(self.play(self.mjpeg, "--start", "0:00.2", "--fps", "10")["decoded"], 7)
        self.assertEqual(self.play(self.mjpeg, "--threads", "1")["decoded"], 9)

    def test_pipes(self):
        for name in (self.mjpeg, self.y4m):
            with open(name, "rb") as pipe:
                cat = subprocess.Popen(["cat"], stdin=pipe, stdout=subprocess.PIPE)
            self.assertEqual(self.play("-", stdin=cat.stdout)["decoded"], 9)
            cat.stdout.close()
            cat.wait()
        with open(self.mjpeg, "rb") as pipe:
            cat = subprocess.Popen(["cat"], stdin=pipe, stdout=subprocess.PIPE)
        done = self.zerorun("play", "-", "--no-window", "--start", "1", code=2, stdin=cat.stdout)
        self.assertIn(b"pipe", done.stderr)
        cat.stdout.close()
        cat.wait()

    @needs_containers
    def test_containers(self):
        for ending in ("mov", "mkv", "avi", "mp4"):
            out = "in." + ending
            self.encode(self.y4m, "-o", out)
            self.assertEqual(self.play(out)["decoded"], 9)
            self.assertEqual(self.play(out, "--start", "0.2")["decoded"], 4)

    @needs_ffmpeg
    def test_ssim_is_that_of_ffmpeg(self):
        y4m = make_y4m("big.y4m", 131, 77, 3)  # blocks at the edges are left out
        worse = "worse.mjpeg"
        self.encode(y4m, "-o", worse, "-q", "30")
        self.decode(worse, "-o", "worse.y4m")
        found = ffmpeg("-i", "worse.y4m", "-i", y4m, "-lavfi", "ssim=stats_file=-", "-f", "null", "-").stdout.decode()
        of_frames = [float(line.split("Y:")[1].split()[0]) for line in found.splitlines()]
        report = self.play(worse, "--compare", y4m)
        self.assertEqual(len(of_frames), 3)
        self.assertLess(report["ssim"], 0.99)
        self.assertAlmostEqual(report["ssim"], sum(of_frames) / 3, delta=2e-6)
        self.assertEqual(self.play(worse, "--compare", worse)["ssim"], 1)
        self.assertIn(b"SSIM", self.zerorun("play", worse, "--compare", y4m, "--no-window", "--device", "cpu").stderr)

    def test_damage_is_counted_and_not_the_end(self):
        data = bytearray(self.read(self.mjpeg))
        starts = [i for i in range(len(data)) if data.startswith(b"\xff\xd8\xff", i)]
        frame_header = data.index(b"\xff\xc0", starts[3])
        data[frame_header + 5:frame_header + 9] = bytes(4)  # no lines, no columns
        scan = data.index(b"\xff\xda", starts[6])
        for at in range(scan + 60, scan + 90):
            data[at] = 0xFE if data[at - 1] != 0xFF else 0
        damaged = pathlib.Path("damaged.mjpeg")
        damaged.write_bytes(bytes(data))
        report = self.play(damaged)
        self.assertEqual(report["decoded"], 8)
        self.assertEqual(report["broken_frames"], 1)
        self.assertEqual(report["concealed_frames"], 1)
        damaged.write_bytes(bytes(data[starts[3]:starts[4]]))
        self.zerorun("play", damaged, "--no-window", code=3)

    def test_compares(self):
        self.assertIsNone(self.play(self.mjpeg, "--compare", self.mjpeg)["psnr"])
        report = self.play(self.mjpeg, "--compare", self.y4m)
        self.assertEqual(report["compared"], 9)
        self.assertEqual(report["psnr_of"], "Y Cb Cr")
        self.encode(self.y4m, "-o", "again.mjpeg", "--stats", "s.json", "--psnr")
        want = json.loads(self.read("s.json"))["summary"]
        self.assertAlmostEqual(report["psnr"], want["psnr"], places=3)
        for got, wanted in zip(report["psnr_components"], want["psnr_components"], strict=True):
            self.assertAlmostEqual(got, wanted, places=3)
        self.encode(self.y4m, "-o", "444.mjpeg", "--subsampling", "444")
        report = self.play("444.mjpeg", "--compare", self.y4m)
        self.assertEqual(report["psnr_of"], "RGB")
        self.assertGreater(report["psnr"], 20)
        other = make_y4m("other.y4m", 64, 48, 9)
        done = self.zerorun("play", self.mjpeg, "--compare", other, "--no-window", code=3)
        self.assertIn(b"differ in size", done.stderr)
        broken = pathlib.Path("broken.mjpeg")
        data = bytearray(self.read(self.mjpeg))
        at = data.index(b"\xff\xc0") + 2
        data[at:at + 2] = b"\0\3"  # the length of the first frame header
        broken.write_bytes(data[:data.index(b"\xff\xd9") + 2])
        done = self.zerorun("play", self.mjpeg, "--compare", broken, "--no-window", code=3)
        self.assert_sentence(done, "broken.mjpeg", "wrong length")

    def test_no_display_is_an_error(self):
        bare = {k: v for k, v in os.environ.items()
                if k not in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER")}
        self.assert_sentence(self.zerorun("play", self.mjpeg, code=5, env=bare), "--no-window")
        self.assert_sentence(self.zerorun("play", self.mjpeg, code=5, env={**bare, "DISPLAY": ":4711"}), "--no-window")

    def test_bad_words(self):
        for words in (["--speed", "0"], ["--speed", "1e3"], ["--start", "1:70"], ["--start", "x"], ["--view", "up"],
                      ["--save-to", "none"]):
            self.zerorun("play", self.mjpeg, *words, code=2)
        self.zerorun("play", "none.mov", "--no-window", code=3)
        self.zerorun("play", "-", "--compare", "-", "--no-window", code=2, input=self.read(self.mjpeg))
