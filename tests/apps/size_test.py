# encode --target-size, --max-frame-size and --bitrate: the sizes of the files, and what is said where there are none.
# SPDX-License-Identifier: MIT
import csv
import json
import os
import pathlib
import subprocess
import unittest

from support import ProgramTest, HAS_DJPEG, make_y4m


def split_jpegs(data):
    """The images of a raw Motion JPEG stream; FF D8 begins nothing else."""
    starts = [at for at in range(len(data) - 1) if data[at] == 0xFF and data[at + 1] == 0xD8]
    return [data[a:b] for a, b in zip(starts, starts[1:] + [len(data)])]


class SizeTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.source = make_y4m(self.path("in.y4m"), 320, 240, 60)

    def frames(self, *options):
        self.encode(self.source, "-o", self.path("out.mjpeg"), "-y", *options)
        return split_jpegs(pathlib.Path(self.path("out.mjpeg")).read_bytes())

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

    def test_bytes_do_not_depend_on_threads(self):
        for options in (["--target-size", "9000"], ["--bitrate", "3M"]):
            one = self.frames("--threads", "1", *options)
            self.assertEqual(self.frames("--threads", "4", *options), one)

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

    def test_stats_say_what_each_frame_was_coded_with(self):
        self.frames("--target-size", "12k", "--stats", self.path("s.csv"))
        with open(self.path("s.csv"), newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 60)
        for row in rows:
            self.assertTrue(1 <= float(row["quality"]) <= 100)
            self.assertTrue(0 <= int(row["thrift"]) <= 1024)
            self.assertGreaterEqual(int(row["codings"]), 1)
        self.frames("-q", "77", "--stats", self.path("s.json"))
        with open(self.path("s.json")) as file:
            frame = json.load(file)["frames"][0]
        self.assertEqual((frame["quality"], frame["thrift"], frame["codings"]), (77, 0, 1))

    def test_what_cannot_be_is_said(self):
        out = ("-o", self.path("no.mjpeg"))
        done = self.encode(self.source, *out, "--target-size", "800", code=4)
        self.assert_sentence(done, "frame 0", "800 were asked for; ask for more, or scale the picture down")
        self.assertFalse(os.path.exists(self.path("no.mjpeg")))
        for options, words in ((["--target-size", "0"], "--target-size"),
                               (["--target-size", "1.2345k"], "--target-size"),
                               (["--bitrate", "1M", "--target-size", "9k"], "--target-size"),
                               (["--bucket", "9k"], "--bitrate"),
                               (["--bitrate", "1M", "--bucket", "9k"], "does not hold two frames"),
                               (["--bitrate", "1M", "--shard", "0/2"], "--bitrate does not go with shards")):
            with self.subTest(options=options):
                self.assertIn(words, self.encode(self.source, *out, *options, code=2).stderr.decode())

    def test_shards_join_to_what_one_run_writes(self):
        self.encode(self.source, "-o", self.path("one.mjpeg"), "--target-size", "9k")
        for part in ("0/2", "1/2"):
            self.encode(self.source, "-o", self.path("two.mjpeg"), "--target-size", "9k", "--shard", part)
        self.zerorun("concat", self.path("two.mjpeg"))
        self.assertEqual(pathlib.Path(self.path("two.mjpeg")).read_bytes(),
                         pathlib.Path(self.path("one.mjpeg")).read_bytes())


if __name__ == "__main__":
    unittest.main()
