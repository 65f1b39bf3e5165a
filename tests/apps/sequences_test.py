# Patterns, globs, directories, lists, ranges and gaps.
# SPDX-License-Identifier: MIT
import pathlib
import unittest

from support import ProgramTest, make_ppm, make_y4m


class SequencesTest(ProgramTest):
    def setUp(self):
        super().setUp()
        (self.dir / "in").mkdir()
        (self.dir / "out").mkdir()
        self.pictures = {}
        for number in (8, 9, 10, 11):
            name = self.path(f"in/f{number}.ppm")
            make_ppm(name, 24, 16, number)
            self.encode(name, "-o", self.path("one.jpg"), "-y", "--quiet")
            self.pictures[number] = pathlib.Path(self.path("one.jpg")).read_bytes()

    def coded(self, source, *options):
        """The numbers of the pictures that are in the encoded stream, in order."""
        self.encode(source, "-o", self.path("seq.mjpeg"), "-y", *options)
        data = pathlib.Path(self.path("seq.mjpeg")).read_bytes()
        numbers, at = [], 0
        while at < len(data):
            number = next(n for n, jpeg in self.pictures.items() if data.startswith(jpeg, at))
            numbers.append(number)
            at += len(self.pictures[number])
        return numbers

    def test_every_way_to_name_a_sequence(self):
        self.assertEqual(self.coded(self.path("in/f%d.ppm")), [8, 9, 10, 11])
        self.assertEqual(self.coded(self.path("in/*.ppm")), [8, 9, 10, 11])  # natural order
        self.assertEqual(self.coded(self.path("in")), [8, 9, 10, 11])
        pathlib.Path(self.path("list.txt")).write_text("in/f10.ppm\nin/f8.ppm\n")
        self.assertEqual(self.coded("@" + self.path("list.txt")), [10, 8])

    def test_start_number_and_ranges(self):
        pattern = self.path("in/f%d.ppm")
        self.assertEqual(self.coded(pattern, "--start-number", "10"), [10, 11])
        self.assertEqual(self.coded(pattern, "--frames", "1:3"), [9, 10])
        self.assertEqual(self.coded(pattern, "--frames", ":1"), [8])
        self.assertEqual(self.coded(pattern, "--frames", "3:"), [11])
        self.encode(pattern, "-o", self.path("out/%04d.jpg"), "--start-number", "9")
        self.assertEqual(sorted(p.name for p in (self.dir / "out").iterdir()),
                         ["0009.jpg", "0010.jpg", "0011.jpg"])
        self.assertEqual((self.dir / "out/0009.jpg").read_bytes(), self.pictures[9])
        done = self.encode(pattern, "-o", self.path("no.mjpeg"), "--frames", "4:", code=3)
        self.assert_sentence(done, "no frames")
        self.assert_nothing_left("no.mjpeg")

    def test_gaps(self):
        (self.dir / "in/f10.ppm").unlink()
        pattern = self.path("in/f%d.ppm")
        done = self.encode(pattern, "-o", self.path("no.mjpeg"), code=3)
        self.assertIn("f10.ppm", done.stderr.decode())
        self.assertIn("--missing", done.stderr.decode())
        self.assert_nothing_left("no.mjpeg")
        self.assertEqual(self.coded(pattern, "--missing", "skip"), [8, 9, 11])
        self.assertEqual(self.coded(pattern, "--missing", "hold"), [8, 9, 9, 11])

    def test_gaps_when_decoding(self):
        self.encode(self.path("in/f%d.ppm"), "-o", self.path("out/%d.jpg"))
        (self.dir / "out/2.jpg").unlink()
        self.decode(self.path("out/%d.jpg"), "-o", self.path("a.y4m"), code=3)
        for word, frames in (("skip", 3), ("hold", 4)):
            out = pathlib.Path(self.path(word + ".y4m"))
            self.decode(self.path("out/%d.jpg"), "-o", out, "--missing", word)
            self.assertEqual(out.read_bytes().count(b"FRAME\n"), frames)

    def test_ranges_of_a_stream(self):
        y4m = make_y4m(self.path("in.y4m"), frames=6)
        (self.dir / "all").mkdir()
        (self.dir / "some").mkdir()
        self.encode(y4m, "-o", self.path("all/%d.jpg"))
        self.encode(y4m, "-o", self.path("some/%d.jpg"), "--frames", "2:5")
        for i in range(3):
            self.assertEqual((self.dir / f"some/{i + 1}.jpg").read_bytes(),
                             (self.dir / f"all/{i + 3}.jpg").read_bytes())
        self.assertEqual(len(list((self.dir / "some").iterdir())), 3)


if __name__ == "__main__":
    unittest.main()
