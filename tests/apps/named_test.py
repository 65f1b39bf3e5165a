# Streams are called what they are: sampling, damage, formats.
# SPDX-License-Identifier: MIT
import pathlib
import unittest

from support import ProgramTest, ffmpeg, make_y4m, needs_ffmpeg

HOSTILE = pathlib.Path(__file__).resolve().parents[1] / "hostile"


class NamedTest(ProgramTest):
    @needs_ffmpeg
    def test_ffmpegs_422_by_ratios(self):
        jpeg = self.path("in.jpg")
        ffmpeg("-f", "lavfi", "-i", "testsrc=s=65x47:d=0.04:r=25", "-pix_fmt", "yuvj422p",
               "-frames:v", 1, jpeg)
        factors = [(c["h"], c["v"]) for c in self.info(jpeg)["jpeg"]["components"]]
        self.assertEqual(factors, [(2, 2), (1, 2), (1, 2)])  # that FFmpeg still writes them so
        self.assertEqual(self.info(jpeg)["jpeg"]["subsampling"], "422")
        self.assertEqual(self.info(jpeg)["pixel_format"], "yuv422p")
        self.decode(jpeg, "-o", self.path("out.y4m"))
        data = pathlib.Path(self.path("out.y4m")).read_bytes()
        self.assertIn(b" C422 ", data[:data.index(b"\n")])
        # The samples of FFmpeg's decoder differ by its IDCT alone.
        ffmpeg("-i", jpeg, "-pix_fmt", "yuvj422p", "-f", "rawvideo", self.path("raw"))
        raw = pathlib.Path(self.path("raw")).read_bytes()
        samples = data[data.index(b"FRAME\n") + 6:]
        self.assertEqual(len(raw), len(samples))
        self.assertLessEqual(max(abs(a - b) for a, b in zip(raw, samples)), 4)

    def stray(self, name, source):
        data = pathlib.Path(source).read_bytes()
        pathlib.Path(self.path(name)).write_bytes(data[:2] + bytes(40) + data[2:])
        return self.path(name)

    def test_other_bytes_than_ff_after_soi(self):
        self.encode(make_y4m(self.path("in.y4m"), frames=1), "-o", self.path("in.jpg"))
        jpeg = self.stray("stray.jpg", self.path("in.jpg"))
        self.assertEqual(self.info(jpeg)["container"], "image")
        want = self.decode(self.path("in.jpg"), "-o", "-", "--quiet").stdout
        self.assertEqual(self.decode(jpeg, "-o", "-", "--quiet").stdout, want)
        with open(jpeg, "rb") as stream:
            self.assertEqual(self.decode("-", "-o", "-", "--quiet", stdin=stream).stdout, want)
        self.assertIn(b"40 bytes", self.decode(jpeg, "-o", "null:", "-v").stderr)
        deep = self.stray("deep.jpg", HOSTILE / "sof_prec12.jpg")
        self.assertIn(b"12 bits", self.decode(deep, "-o", self.path("o.y4m"), code=3).stderr)

    def test_data_behind_the_last_interval(self):
        done = self.decode(HOSTILE / "rst_extra.jpg", "-o", "null:", "-v")
        self.assertIn(b"24 bytes from a restart marker behind the last interval", done.stderr)
        self.assertNotIn(b"lost", done.stderr)

    def test_component_that_was_never_sent(self):
        stream = HOSTILE / "sos_two_of_three.jpg"
        done = self.decode(stream, "-o", "null:")
        self.assertIn(b"1 of 1 frame is damaged and concealed", done.stderr)
        self.decode(stream, "-o", "null:", "--strict", code=3)


if __name__ == "__main__":
    unittest.main()
