# AVI in builds without FFmpeg: every command reads and writes it.
# SPDX-License-Identifier: MIT
import os
import pathlib
import subprocess
import unittest

from support import BUILT_WITH_FFMPEG, ProgramTest, make_y4m


@unittest.skipIf(BUILT_WITH_FFMPEG, "in this build FFmpeg reads and writes AVI")
class AviTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.y4m = make_y4m(self.path("in.y4m"), frames=9, rate="30000:1001")
        self.avi, self.mjpeg = self.path("a.avi"), self.path("a.mjpeg")
        self.encode(self.y4m, "-o", self.avi, "--verify")
        self.encode(self.y4m, "-o", self.mjpeg)

    def test_info(self):
        info = self.info(self.avi)
        self.assertEqual((info["container"], info["frames"], info["frame_rate"]),
                         ("avi", 9, "30000/1001"))
        self.assertEqual((info["width"], info["height"]), (64, 48))

    def test_the_pictures_are_those_of_raw_motion_jpeg(self):
        pictures = []
        for name in (self.avi, self.mjpeg):
            self.zerorun("decode", name, "-o", self.path("b.y4m"), "-y", "--fps", "25")
            pictures.append(pathlib.Path(self.path("b.y4m")).read_bytes())
        self.assertEqual(*pictures)
        self.zerorun("decode", self.avi, "-o", self.path("%03d.ppm"), "--frames", "4:6")
        self.assertEqual(len(list(pathlib.Path(self.dir).glob("*.ppm"))), 2)

    def test_copies_and_joins(self):
        self.zerorun("copy", self.avi, "-o", self.path("b.mjpeg"))
        self.assertEqual(pathlib.Path(self.path("b.mjpeg")).read_bytes(),
                         pathlib.Path(self.mjpeg).read_bytes())
        self.zerorun("copy", self.mjpeg, "-o", self.path("b.avi"), "--fps", "30000/1001")
        self.assertEqual(pathlib.Path(self.path("b.avi")).read_bytes(),
                         pathlib.Path(self.avi).read_bytes())
        for shard in range(3):
            self.encode(self.y4m, "-o", self.path("s.avi"), "--shard", f"{shard}/3")
        self.zerorun("concat", self.path("s.avi"))
        self.assertEqual(pathlib.Path(self.path("s.avi")).read_bytes(),
                         pathlib.Path(self.avi).read_bytes())

    def test_pipes(self):
        pipe = self.path("pipe.avi")
        os.mkfifo(pipe)
        with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as cat:
            self.encode(self.y4m, "-o", pipe)
            through = cat.communicate(timeout=300)[0]
        pathlib.Path(self.path("through.avi")).write_bytes(through)
        self.zerorun("copy", self.path("through.avi"), "-o", self.path("through.mjpeg"))
        self.assertEqual(pathlib.Path(self.path("through.mjpeg")).read_bytes(),
                         pathlib.Path(self.mjpeg).read_bytes())
        with open(self.avi, "rb") as stream:
            done = self.zerorun("decode", "-", "-o", "md5:", stdin=stream)
        self.assertEqual(done.stdout, self.zerorun("decode", self.avi, "-o", "md5:").stdout)

    def test_plays(self):
        done = self.zerorun("play", self.avi, "--no-window")
        self.assertIn(b"9 frames", done.stdout + done.stderr)

    def test_sound_is_named_where_it_is_left_out(self):
        data = bytearray(pathlib.Path(self.avi).read_bytes())
        stream = (b"LIST" + (68).to_bytes(4, "little") + b"strlstrh" + (56).to_bytes(4, "little") +
                  b"auds" + bytes(52))
        end = data.index(b"LIST", data.index(b"strl"))  # of the headers of the video
        data[end:end] = stream
        for size in (4, 16):  # of RIFF and of hdrl
            longer = int.from_bytes(data[size:size + 4], "little") + len(stream)
            data[size:size + 4] = longer.to_bytes(4, "little")
        pathlib.Path(self.path("sound.avi")).write_bytes(data)
        self.assertTrue(self.info(self.path("sound.avi"))["audio"])
        done = self.zerorun("encode", self.path("sound.avi"), "-o", self.path("x.avi"), "--device", "cpu")
        self.assertIn(b"audio is left out", done.stderr)
        self.assertEqual(self.info(self.path("x.avi"))["frames"], 9)


if __name__ == "__main__":
    unittest.main()
