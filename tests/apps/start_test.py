# A run opens the libraries that its input and output need, and no others.
# SPDX-License-Identifier: MIT
import os
import pathlib
import re
import subprocess
import unittest

from support import PROGRAM, ProgramTest, make_ppm, make_y4m, needs_containers, needs_opencv

MEDIA = ("libavformat", "libavcodec", "libswscale")
PICTURES = ("libopencv_core", "libopencv_imgcodecs")
WINDOW = ("libSDL2-2", "libSDL2_ttf")  # libfontconfig serves others, too


class StartTest(ProgramTest):
    def libraries(self, *arguments):
        """The libraries that a run opened, by the dynamic linker's own report."""
        report = self.dir / "report"
        done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, timeout=300,
                              env={**os.environ, "LD_DEBUG": "libs", "LD_DEBUG_OUTPUT": str(report)})
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        names = set()
        for file in self.dir.glob("report.*"):
            names |= set(re.findall(r"calling init: .*/([^/\n]+)\.so", file.read_text()))
            file.unlink()
        self.assertIn("libc", names)
        return names

    def assert_opens(self, wanted, unwanted, *arguments):
        names = self.libraries(*arguments)
        self.assertTrue(names.issuperset(wanted), names)
        self.assertFalse(names & set(unwanted), names & set(unwanted))
        return names

    def test_what_needs_no_library_opens_none(self):
        y4m = make_y4m(self.path("in.y4m"), frames=2)
        for arguments in (["--version"], ["encode", "--help"],
                          ["encode", y4m, "-o", self.path("out.mjpeg"), "--device", "cpu"],
                          ["decode", self.path("out.mjpeg"), "-o", self.path("out.y4m"), "--device", "cpu"],
                          ["info", self.path("out.mjpeg")],
                          ["play", self.path("out.mjpeg"), "--no-window", "--device", "cpu"]):
            with self.subTest(arguments=arguments[:1]):
                names = self.assert_opens((), MEDIA + PICTURES + WINDOW, *arguments)
                self.assertLess(len(names), 20, names)  # 8 of Debian 12; sanitizers bring more

    @needs_containers
    def test_a_container_opens_ffmpeg_alone(self):
        y4m = make_y4m(self.path("in.y4m"), frames=2)
        self.assert_opens(MEDIA, PICTURES + WINDOW, "encode", y4m, "-o", self.path("out.mov"), "--device", "cpu")

    @needs_opencv
    def test_png_needs_libpng_alone(self):
        ppm = pathlib.Path(make_ppm(self.path("in.ppm")))
        self.assert_opens(("libpng16",), MEDIA + WINDOW, "decode", ppm, "-o", self.path("out.png"), "--device", "cpu")
        names = self.assert_opens((), MEDIA + WINDOW, "encode", self.path("out.png"), "-o", self.path("out.jpg"),
                                  "--device", "cpu")
        self.assertFalse(names & set(PICTURES))

    @needs_opencv
    def test_a_picture_opens_opencv_alone(self):
        ppm = pathlib.Path(make_ppm(self.path("in.ppm")))
        self.assert_opens(PICTURES, MEDIA + WINDOW, "decode", ppm, "-o", self.path("out.tiff"), "--device", "cpu")


if __name__ == "__main__":
    unittest.main()
