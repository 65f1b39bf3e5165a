# bench --target-size and --scans: every row codes to the size, or progressive streams, and what cannot is left out.
# SPDX-License-Identifier: MIT
import json
import pathlib

from support import ProgramTest, make_y4m

QUICK = ["--time", "0.02", "--warm-up", "0", "--repetitions", "3", "--device", "cpu", "--threads", "1"]


class BenchSizeTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.source = make_y4m("in.y4m", 160, 120, 3)

    def bench(self, *arguments, source=None):
        report = "report.json"
        done = self.zerorun("bench", source or self.source, *arguments, *QUICK, "--json", report, "-y")
        return json.loads(self.read(report)), done.stdout.decode()

    def test_the_bytes_are_those_of_encode(self):
        out = "out.mjpeg"
        self.encode(self.source, "-o", out, "--target-size", "5k", "--huffman", "optimal")
        report, text = self.bench("--target-size", "5k", "--huffman", "optimal")
        self.assertEqual([(c["operation"], c["target_size"]) for c in report["cases"]], [("encode", 5000)])
        rows = report["cases"][0]["rows"]
        self.assertIn("zerorun/cpu/host>host/throughput/1", [row["id"] for row in rows])
        for row in rows:
            self.assertTrue(row["coder"].startswith("zerorun"), row["id"])
            self.assertNotEqual(row["mode"], "stages")
            self.assertAlmostEqual(row["stream_bytes"] * 3, pathlib.Path(out).stat().st_size, 3)
        self.assertIn("5,000 bytes a frame", text)
        self.assertNotIn("quality", text)

    def test_what_is_left_out_is_said_once(self):
        notes = self.bench("--target-size", "5k")[0]["cases"][0]["notes"]
        named = [note.split(":")[0] for note in notes]
        self.assertEqual(named, ["libjpeg-turbo", "FFmpeg", "stages", "decode"])
        notes = self.bench("--target-size", "5k", "--no-peers", "--operation", "encode")[0]["cases"][0]["notes"]
        self.assertEqual([note.split(":")[0] for note in notes], ["stages"])

    def test_compare_keeps_sizes_apart(self):
        names = []
        for size in ("5000", "6000"):
            self.bench("--target-size", size)
            names.append(size + ".json")
            pathlib.Path("report.json").rename(names[-1])
        text = self.zerorun("bench", "--compare", *names).stdout.decode()
        self.assertIn(" 5000 bytes ", text)
        self.assertIn(" 6000 bytes ", text)
        self.assertIn(" 0 the same", text)

    def test_progressive_streams_are_those_of_encode(self):
        out = "out.mjpeg"
        self.encode(self.source, "-o", out, "--progressive")
        report, text = self.bench("--scans", "baseline,progressive", "--operation", "encode", "--restart", "none")
        self.assertEqual([c["progressive"] for c in report["cases"]], [False, True])
        case = report["cases"][1]
        for row in case["rows"]:
            self.assertTrue(row["coder"].startswith(("zerorun", "libjpeg-turbo")), row["id"])
        self.assertEqual([note.split(":")[0] for note in case["notes"]], ["FFmpeg", "stages"])
        sizes = {row["coder"].split()[0]: row["stream_bytes"] for row in case["rows"]}
        self.assertAlmostEqual(sizes["zerorun"] * 3, pathlib.Path(out).stat().st_size, 3)
        self.assertLess(sizes["zerorun"], sizes.get("libjpeg-turbo", 1 << 30))
        self.assertIn("progressive, optimal tables", text)
        for options in (["--scans", "interlaced"], ["--scans", "progressive", "--files"]):
            self.assert_sentence(self.zerorun("bench", self.source, *QUICK, *options, code=2), "--scans")

    def test_a_frame_that_cannot_be_so_small_ends_the_command(self):
        done = self.zerorun("bench", self.source, *QUICK, "--target-size", "100", code=4)
        self.assert_sentence(done, "frame ", "the smallest stream of this picture has ", "100 were asked for")

    def test_what_does_not_go_with_it_is_refused(self):
        for options in (["--operation", "decode"], ["--files"], ["--primitives"], ["--mixed"], ["--megapixels", "0.01-0.02"],
                        ["--compare", "a.json", "b.json"]):
            with self.subTest(options=options):
                done = self.zerorun("bench", self.source, *QUICK, "--target-size", "5k", *options, code=2)
                self.assert_sentence(done, "--target-size")
        done = self.zerorun("bench", self.source, "--target-size", "5x", code=2)
        self.assert_sentence(done, "'5x' is not a number from 1 on")
