# encode --target-size, --max-frame-size and --bitrate: the sizes of the files, and what is said where there are none.
# SPDX-License-Identifier: MIT
import csv
import json
import os
import re
import subprocess
from random import Random

from support import ProgramTest, HAS_DJPEG, make_y4m


def split_jpegs(data):
    """The images of a raw Motion JPEG stream; FF D8 begins nothing else."""
    starts = [at for at in range(len(data) - 1) if data[at] == 0xFF and data[at + 1] == 0xD8]
    return [data[a:b] for a, b in zip(starts, starts[1:] + [len(data)])]


class SizeTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.source = make_y4m("in.y4m", 320, 240, 60)

    def frames(self, *options):
        self.encode(self.source, "-o", "out.mjpeg", "-y", *options)
        return split_jpegs(self.read("out.mjpeg"))

    def assert_fills(self, size, target):
        self.assertLessEqual(size, target)
        self.assertGreaterEqual(size, target - target // 200)

    def test_target_size_is_that_of_each_frame(self):
        for options in ([], ["--huffman", "optimal"], ["--tune", "photo", "--effort", "best"]):
            for frame in self.frames("--target-size", "12k", *options):
                self.assert_fills(len(frame), 12000)
                if HAS_DJPEG:
                    done = subprocess.run(["djpeg", "-outfile", os.devnull], input=frame, capture_output=True)
                    self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_max_frame_size_leaves_smaller_frames_alone(self):
        plain = self.frames("-q", "80")
        largest = max(map(len, plain))
        self.assertEqual(self.frames("-q", "80", "--max-frame-size", str(largest)), plain)
        limit = largest * 3 // 4
        for frame in self.frames("-q", "80", "--max-frame-size", str(limit)):
            self.assert_fills(len(frame), limit)

    def test_metadata_counts(self):
        comment = "x" * 3000
        for frame in self.frames("--target-size", "12k", "--comment", comment, "--note-setting"):
            self.assertIn(comment.encode(), frame)
            self.assertIn(b"zerorun: quality ", frame)
            self.assert_fills(len(frame), 12000)

    def test_bitrate_is_kept_and_the_bucket_never_overflows(self):
        rate = 2400000  # bits a second; 25 frames a second, so 12,000 bytes a frame
        sizes = [len(frame) for frame in self.frames("--bitrate", "2.4M")]
        bucket = level = rate / 8 / 2
        for size in sizes:
            level += size
            self.assertLessEqual(level, 2 * bucket + 1)
            level = max(0, level - rate / 8 / 25)
        self.assertAlmostEqual(sum(sizes) * 8 * 25 / len(sizes) / rate, 1, delta=0.01)

    def smallest(self, source, frame):
        refused = self.encode(source, "-o", "no.mjpeg", "--target-size", "1", "--huffman", "optimal", "--frames",
                              f"{frame}:{frame + 1}", code=4)
        return int(re.search(r"has (\d+) bytes, and 1 were asked for", refused.stderr.decode())[1])

    def noisy_source(self):
        """Three frames of noise among 60 of one colour."""
        name, random, size = "noisy.y4m", Random(1), 320 * 240 * 3 // 2
        frames = [random.randbytes(size) if n in (20, 21, 40) else b"\x80" * size for n in range(60)]
        self.write(name, b"YUV4MPEG2 W320 H240 F25:1 C420jpeg XCOLORRANGE=FULL\n" +
                   b"".join(b"FRAME\n" + frame for frame in frames))
        return name

    def test_a_frame_above_its_budget_takes_what_the_bucket_has(self):
        self.source = self.noisy_source()
        noise, grey = self.smallest(self.source, 20), self.smallest(self.source, 0)
        share = (noise + grey) // 2
        rate = ("--bitrate", str(share * 8 * 25), "--huffman", "optimal")
        made = self.frames(*rate, "--threads", "4")
        self.assertEqual(self.frames(*rate, "--threads", "1"), made)
        sizes = [len(frame) for frame in made]
        self.assertEqual([sizes[n] for n in (20, 21)], [noise, self.smallest(self.source, 21)])
        bucket = level = share * 25 / 2
        for size in sizes:
            level += size
            self.assertLessEqual(level, 2 * bucket + 1)
            level = max(0, level - share)
        # Half of 2 shares is less than such a frame has; half of 2.5 has room for one, and not for two.
        self.assertGreater(noise, 1.13 * share)
        self.assertLess(noise, 1.25 * share)
        for bucket, frame in ((2 * share, 20), (5 * share // 2, 21)):
            done = self.encode(self.source, "-o", "no.mjpeg", *rate, "--bucket", str(bucket), "--frames", "20:22",
                               code=4)
            self.assert_sentence(done, f"frame {frame}", "bytes, and there is room for",
                                 f"--bitrate {rate[1]} and its bucket leave no more for this frame")
            self.assertFalse(os.path.exists("no.mjpeg"))

    def stats(self, *options):
        self.frames(*options, "--stats", "s.csv")
        with open("s.csv", newline="") as file:
            return list(csv.DictReader(file))

    def test_target_psnr_is_what_psnr_measures_and_a_16th_less_has_it_not(self):
        for options in ([], ["--tune", "photo", "--effort", "best"], ["--subsampling", "gray", "--huffman", "optimal"]):
            target = "15.5" if "gray" in options else "36.25"
            rows = self.stats("--target-psnr", target, "--psnr", "--frames", "0:6", *options)
            self.assertEqual(len(rows), 6)
            for row in rows:
                self.assertGreaterEqual(float(row["psnr"]), float(target) - 0.0005)  # printed with 3 digits
                self.assertAlmostEqual(float(row["reached"]), float(row["psnr"]), delta=0.0006)
                self.assertTrue(1 <= float(row["quality"]) <= 100 and float(row["quality"]) * 16 % 1 == 0)
                self.assertEqual(row["thrift"], "0")
                self.assertTrue(1 <= int(row["codings"]) <= 23)
            if float(rows[0]["quality"]) > 1:  # whole qualities below have less
                lower = int(float(rows[0]["quality"]) - 1 / 16)
                plain = self.stats("-q", str(lower), "--psnr", "--frames", "0:1", *options)
                self.assertLess(float(plain[0]["psnr"]), float(target))
                self.assertEqual(plain[0]["reached"], "")

    def test_one_colour_reaches_everything_with_the_lowest_quality(self):
        grey = "grey.y4m"
        self.write(grey, b"YUV4MPEG2 W64 H48 F25:1 C420jpeg XCOLORRANGE=FULL\nFRAME\n" + b"\x80" * (64 * 48 * 3 // 2))
        done = self.encode(grey, "-o", "g.mjpeg", "--target-psnr", "200", "-v", "--stats", "g.json")
        with open("g.json") as file:
            stats = json.load(file)
        self.assertEqual(stats["frames"][0]["quality"], 1)
        self.assertIsNone(stats["frames"][0]["reached"])  # no error: infinity
        self.assertIsNone(stats["quality"])
        self.assertIn("200 dB a frame", done.stderr.decode())

    def test_qualities_that_cannot_be_are_said(self):
        out = ("-o", "no.mjpeg")
        done = self.encode(self.source, *out, "--target-psnr", "120", code=4)
        self.assert_sentence(done, "frame 0", "at quality 100 this picture has a PSNR of",
                             "120.000 dB was asked for; ask for less")
        self.assertFalse(os.path.exists("no.mjpeg"))
        for options, words in ((["--target-psnr", "0"], "above 0, up to 200"), (["--target-psnr", "nan"], "above 0"),
                               (["--target-psnr", "inf"], "above 0"), (["--target-psnr", "40dB"], "above 0"),
                               (["--target-psnr", "-3"], "above 0"), (["--target-psnr", "201"], "up to 200"),
                               (["--target-ssim", "1.01"], "up to 1"), (["--target-ssim", ""], "up to 1"),
                               (["--target-psnr", "40", "--target-ssim", "0.9"], "--target-ssim"),
                               (["--target-psnr", "40", "--target-size", "9k"], "--target-size"),
                               (["--target-ssim", "0.9", "--max-frame-size", "9k"], "--max-frame-size"),
                               (["--target-ssim", "0.9", "--bitrate", "1M"], "--bitrate")):
            with self.subTest(options=options):
                self.assertIn(words, self.encode(self.source, *out, *options, code=2).stderr.decode())

    def test_stats_say_what_each_frame_was_coded_with(self):
        self.frames("--target-size", "12k", "--stats", "s.csv")
        with open("s.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 60)
        for row in rows:
            self.assertTrue(1 <= float(row["quality"]) <= 100)
            self.assertTrue(0 <= int(row["thrift"]) <= 1024)
            self.assertGreaterEqual(int(row["codings"]), 1)
        self.frames("-q", "77", "--stats", "s.json")
        with open("s.json") as file:
            frame = json.load(file)["frames"][0]
        self.assertEqual((frame["quality"], frame["thrift"], frame["codings"]), (77, 0, 1))

    def test_what_cannot_be_is_said(self):
        out = ("-o", "no.mjpeg")
        done = self.encode(self.source, *out, "--target-size", "800", code=4)
        self.assert_sentence(done, "frame 0", "800 were asked for; ask for more, or scale the picture down")
        self.assertFalse(os.path.exists("no.mjpeg"))
        for options, words in ((["--target-size", "0"], "--target-size"),
                               (["--target-size", "1.2345k"], "--target-size"),
                               (["--target-size", "-0.5M"], "--target-size"),
                               (["--bitrate", "1M", "--qtables", self.source], "--qtables"),
                               (["--bitrate", "1M", "--target-size", "9k"], "--target-size"),
                               (["--bucket", "9k"], "--bitrate"),
                               (["--bitrate", "1M", "--bucket", "9k"], "does not hold two frames"),
                               (["--bitrate", "1M", "--shard", "0/2"], "--bitrate does not go with shards")):
            with self.subTest(options=options):
                self.assertIn(words, self.encode(self.source, *out, *options, code=2).stderr.decode())

    def test_shards_join_to_what_one_run_writes(self):
        self.encode(self.source, "-o", "one.mjpeg", "--target-size", "9k")
        for part in ("0/2", "1/2"):
            self.encode(self.source, "-o", "two.mjpeg", "--target-size", "9k", "--shard", part)
        self.zerorun("concat", "two.mjpeg")
        self.assertEqual(self.read("two.mjpeg"), self.read("one.mjpeg"))
