# encode: the coding options, seen in the streams they make; --progressive and what it goes with.
# SPDX-License-Identifier: MIT
import json
import pathlib
import subprocess

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
        jpeg = self.jpeg("--qtables", str(tables))
        self.assertIsNone(jpeg["quality"])
        data = self.read("out.jpg")
        at = data.index(b"\xff\xdb")
        self.assertIn(bytes([1] * 64), data[at:at + 200])
        self.assertIn(bytes([3] * 64), data[at:at + 200])

    def test_bad_tables_are_refused(self):
        tables = pathlib.Path("tables.txt")
        for text in ("1 2 3", "0 " * 64, "256 " * 64, "x " * 64, "1 " * 129, ""):
            with self.subTest(text=text[:10]):
                tables.write_text(text)
                done = self.encode(self.ppm, "-o", "no.jpg", "--qtables", tables, code=3)
                self.assert_sentence(done, "tables.txt")
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
        again = self.jpeg("--exif", "out.jpg", "--icc", "out.jpg", name="again.jpg")
        self.assertEqual(again["exif_orientation"], 6)
        for option in ("--exif", "--icc"):
            done = self.encode(self.ppm, "-o", "no.jpg", option, self.ppm, code=3)
            self.assert_sentence(done, "in.ppm")


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
            done = self.encode(self.source, "-o", "no.jpg", *options, code=2)
            self.assert_sentence(done, options[0])
        done = self.encode(self.source, "-o", "no.jpg", "--tables", "missing.txt", code=3)
        self.assert_sentence(done, "missing.txt")


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
        scans = self.still("--progressive")
        self.assertEqual(self.still("--progressive", "--huffman", "optimal"), scans)
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
            done = self.encode(self.source, "-o", "x.jpg", "--progressive", *options, code=2)
            self.assert_sentence(done, message)

    def test_videos_are_written_and_noted(self):
        for kind in ["mjpeg"] + ["avi"] * BUILT_WITH_FFMPEG:
            done = self.encode(self.source, "-o", "out." + kind, "--progressive", "--verify")
            self.assertEqual(b"do not show progressive frames" in done.stderr, kind == "avi")
            self.assertEqual(self.read("out." + kind).count(SOF2), 3)

    def test_the_statistics_say_so(self):
        for options in ([], ["--progressive"]):
            self.still("--stats", "s.json", *options)
            stats = json.loads(self.read("s.json"))
            self.assertIs(stats["progressive"], options != [])
            (self.dir / "s.json").unlink()
