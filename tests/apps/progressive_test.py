# encode --progressive: what is written, with what it goes together, and what is said about videos.
# SPDX-License-Identifier: MIT
import json
import subprocess

from support import BUILT_WITH_FFMPEG, HAS_DJPEG, ProgramTest, make_y4m

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
