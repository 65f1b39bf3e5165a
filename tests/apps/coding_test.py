# encode: the coding options, seen in the streams they make; --progressive; --target-size, --max-frame-size and
# --bitrate: the sizes of the files, and what is said where there are none.
# SPDX-License-Identifier: MIT
import csv
import json
import os
import pathlib
import re
import subprocess
from random import Random

from pictures import exif_of
from support import BUILT_WITH_FFMPEG, HAS_DJPEG, ProgramTest, make_ppm, make_y4m


class CodingTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.y4m = make_y4m("in.y4m", 65, 47, 3)
        self.ppm = make_ppm("in.ppm", 65, 47)

    def jpeg(self, *options, source=None, name="out.jpg"):
        self.encode(source or self.ppm, "-o", name, "-y", *options)
        return self.info(name)["jpeg"]

    def test_subsampling_of_every_kind(self):
        for source in (self.ppm, make_y4m("one.y4m", 65, 47, 1, tag="444")):
            for sampling in ("420", "422", "444", "440", "411", "gray"):
                with self.subTest(source=source, sampling=sampling):
                    jpeg = self.jpeg("--subsampling", sampling, source=source)
                    self.assertEqual(jpeg["subsampling"], sampling)
                    self.assertEqual(len(jpeg["components"]), 1 if sampling == "gray" else 3)

    def test_subsampling_auto_keeps_what_the_input_has(self):
        self.assertEqual(self.jpeg()["subsampling"], "420")  # RGB
        for tag in ("422", "444"):
            source = make_y4m(tag + ".y4m", 64, 48, 1, tag=tag)
            self.assertEqual(self.jpeg(source=source)["subsampling"], tag)
        source = make_y4m("mono.y4m", 64, 48, 1, tag="mono")
        self.assertEqual(self.jpeg(source=source)["subsampling"], "gray")

    def test_quality_is_read_back_and_orders_the_sizes(self):
        sizes = []
        for quality in (1, 50, 90, 100):
            jpeg = self.jpeg("-q", str(quality))
            self.assertEqual(jpeg["quality"], quality)
            sizes.append(jpeg["bytes"])
        self.assertEqual(sizes, sorted(set(sizes)))
        self.assertEqual(self.jpeg()["quality"], 90)

    def test_restart_intervals(self):
        # 4:2:0 at 65x47: 5 MCUs a row.
        for word, interval in (("none", 0), ("7", 7), ("1rows", 5), ("2rows", 10)):
            with self.subTest(word=word):
                self.assertEqual(self.jpeg("--restart", word)["restart_interval_mcus"], interval)
        self.jpeg("--restart", "auto")

    def test_quantisation_tables_of_a_file(self):
        tables = pathlib.Path("tables.txt")
        ones, threes = " ".join(["1"] * 64), "\n".join(["3 " * 8] * 8)
        tables.write_text(f"# luma\n{ones}\n# chroma\n{threes}\n")
        self.assertIsNone(self.jpeg("--qtables", str(tables))["quality"])
        data = self.read("out.jpg")
        at = data.index(b"\xff\xdb")
        self.assertIn(bytes([1] * 64), data[at:at + 200])
        self.assertIn(bytes([3] * 64), data[at:at + 200])

    def test_bad_tables_are_refused(self):
        tables = pathlib.Path("tables.txt")
        for text in ("1 2 3", "0 " * 64, "256 " * 64, "x " * 64, "1 " * 129, ""):
            with self.subTest(text=text[:10]):
                tables.write_text(text)
                self.assert_sentence(self.encode(self.ppm, "-o", "no.jpg", "--qtables", tables, code=3), "tables.txt")
                self.assert_nothing_left("no.jpg")
        self.encode(self.ppm, "-o", "no.jpg", "--qtables", tables, "-q", "5", code=2)

    def test_comment_exif_and_profile(self):
        exif = self.write("exif.bin", exif_of(6))
        icc = self.write("profile.icc", bytes(36) + b"acsp" + bytes(70000 - 40))  # needs two segments
        jpeg = self.jpeg("--comment", "made by a test", "--exif", exif, "--icc", icc)
        self.assertEqual(jpeg["exif_orientation"], 6)
        found = [(s["marker"], s["bytes"], s["text"]) for s in jpeg["segments"]]
        self.assertIn(("COM", 14, "made by a test"), found)
        self.assertIn(("APP1", 6 + 26, "Exif"), found)
        self.assertEqual([bytes_ for marker, bytes_, _ in found if marker == "APP2"],
                         [14 + 65519, 14 + 70000 - 65519])
        # And from a JPEG file that has them.
        self.assertEqual(self.jpeg("--exif", "out.jpg", "--icc", "out.jpg", name="again.jpg")["exif_orientation"], 6)
        for option in ("--exif", "--icc"):
            self.assert_sentence(self.encode(self.ppm, "-o", "no.jpg", option, self.ppm, code=3), "in.ppm")


class TuneTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.source = make_y4m("in.y4m", 160, 96, 1)

    def jpeg(self, *options):
        self.encode(self.source, "-o", "out.jpg", "-y", "--restart", "none", *options)
        with open("out.jpg", "rb") as file:
            return file.read()

    def test_exact_is_the_default_and_effort_changes_nothing_in_it(self):
        plain = self.jpeg()
        self.assertEqual(self.jpeg("--tune", "exact"), plain)
        self.assertEqual(self.jpeg("--tune", "exact", "--effort", "best"), plain)
        self.assertEqual(self.jpeg("--tables", "annex-k"), plain)
        self.assertEqual(self.jpeg("--tables", "auto"), plain)

    def test_tuned_modes_differ_from_each_other(self):
        streams = {self.jpeg("--tune", tune, "--effort", effort)
                   for tune in ("photo", "text", "psnr") for effort in ("fast", "best")}
        streams.add(self.jpeg())
        self.assertEqual(len(streams), 7)

    def test_tuned_modes_have_tables_of_their_effort_unless_others_are_asked_for(self):
        def stream(*options):
            return self.jpeg("--tune", "photo", *options)
        for effort, huffman in (("fast", "trained"), ("best", "optimal")):
            unnamed = stream("--effort", effort)
            self.assertEqual(self.info("out.jpg")["jpeg"]["huffman"], "own")
            others = [other for other in ("standard", "optimal", "trained") if other != huffman]
            self.assertEqual(stream("--effort", effort, "--huffman", huffman), unnamed)
            for other in others:
                self.assertNotEqual(stream("--effort", effort, "--huffman", other), unnamed)
        self.jpeg("--tune", "photo", "--effort", "best", "--huffman", "standard")
        self.assertEqual(self.info("out.jpg")["jpeg"]["huffman"], "standard")
        self.jpeg("--effort", "best")
        self.assertEqual(self.info("out.jpg")["jpeg"]["huffman"], "standard")

    def test_each_table_has_its_name(self):
        streams = {self.jpeg("--tables", name) for name in ("annex-k", "flat", "ffmpeg", "tuned")}
        self.assertEqual(len(streams), 4)
        with open("tables.txt", "w", encoding="ascii") as file:
            file.write("7 " * 64)
        self.assertEqual(self.jpeg("--tables", "tables.txt"), self.jpeg("--qtables", "tables.txt"))
        flat = self.jpeg("--tables", "flat", "-q", "60")
        self.assertEqual(self.info("out.jpg")["jpeg"]["quality"], None)
        self.assertNotEqual(flat, self.jpeg("--tables", "flat", "-q", "61"))

    def test_wrong_words(self):
        for options in (("--tune", "best"), ("--tune", ""), ("--effort", "slow"),
                        ("--tables", "flat", "--qtables", "x")):
            self.assert_sentence(self.encode(self.source, "-o", "no.jpg", *options, code=2), options[0])
        self.assert_sentence(self.encode(self.source, "-o", "no.jpg", "--tables", "missing.txt", code=3), "missing.txt")


SOF2, DRI = b"\xff\xc2", b"\xff\xdd"


class ProgressiveTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.source = make_y4m("in.y4m", 320, 240, 3)

    def still(self, *options):
        self.encode(self.source, "-o", "out.jpg", "-y", "--frames", "0:1", *options)
        return self.read("out.jpg")

    def pixels(self, jpeg):
        done = subprocess.run(["djpeg"], input=jpeg, capture_output=True)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout

    def test_the_samples_of_the_baseline_stream_in_fewer_bytes(self):
        for tune in ([], ["--tune", "photo"], ["--tune", "photo", "--effort", "best"], ["--tune", "text"]):
            scans = self.still("--progressive", *tune)
            plain = self.still("--huffman", "optimal", "--restart", "none", *tune)
            self.assertIn(SOF2, scans)
            self.assertNotIn(DRI, scans)
            self.assertLess(len(scans), len(plain))
            if HAS_DJPEG:
                self.assertEqual(self.pixels(scans), self.pixels(plain))

    def test_it_goes_with_sizes_restart_markers_and_optimal_tables(self):
        self.assertEqual(self.still("--progressive", "--huffman", "optimal"), self.still("--progressive"))
        self.assertIn(DRI, self.still("--progressive", "--restart", "1rows"))
        for target in (9000, 20000):
            sized = self.still("--progressive", "--target-size", str(target), "--note-setting")
            self.assertIn(SOF2, sized)
            self.assertLessEqual(len(sized), target)
            self.assertGreaterEqual(len(sized), target - target // 200)
        self.assertLessEqual(len(self.still("--progressive", "--max-frame-size", "8k")), 8000)

    def test_what_it_does_not_go_with(self):
        for options, message in ((["--huffman", "standard"], "every scan has tables of its own"),
                                 (["--huffman", "trained"], "every scan has tables of its own"),
                                 (["--compat", "rtp"], "RFC 2435 carries no progressive streams")):
            self.assert_sentence(self.encode(self.source, "-o", "x.jpg", "--progressive", *options, code=2), message)

    def test_videos_are_written_and_noted(self):
        for kind in ["mjpeg"] + ["avi"] * BUILT_WITH_FFMPEG:
            done = self.encode(self.source, "-o", "out." + kind, "--progressive", "--verify")
            self.assertEqual(b"do not show progressive frames" in done.stderr, kind == "avi")
            self.assertEqual(self.read("out." + kind).count(SOF2), 3)

    def test_the_statistics_say_so(self):
        for options in ([], ["--progressive"]):
            self.still("--stats", "s.json", *options)
            self.assertIs(json.loads(self.read("s.json"))["progressive"], options != [])
            (self.dir / "s.json").unlink()


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
        self.assert_sentence(self.encode(self.source, *out, "--target-psnr", "120", code=4), "frame 0",
                             "at quality 100 this picture has a PSNR of", "120.000 dB was asked for; ask for less")
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
