# The programs in samples/ do what their first lines say.
# SPDX-License-Identifier: MIT
import hashlib
import os
import pathlib
import subprocess
import unittest

from support import (SAMPLES, ProgramTest, ffmpeg, make_y4m, needs_containers, needs_djpeg,
                     probe)

PROGRAMS = pathlib.Path(os.environ["ZERORUN_SAMPLES"])


class SamplesTest(ProgramTest):
    def sample(self, name, *arguments, code=0):
        done = subprocess.run([PROGRAMS / name, *arguments], capture_output=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stderr.decode())
        return done

    def test_encode_minimal(self):
        y4m = make_y4m(self.path("in.y4m"), 65, 47, 3)
        self.sample("encode_minimal", y4m, self.path("out"))
        for number in (1, 2, 3):
            jpeg = self.info(self.path(f"out{number}.jpg"))["jpeg"]
            self.assertEqual((jpeg["width"], jpeg["height"], jpeg["quality"]), (65, 47, 85))
        self.sample("encode_minimal", self.path("absent.y4m"), self.path("out"), code=1)
        self.sample("encode_minimal", code=2)

    @needs_djpeg
    def test_decode_minimal(self):
        photo = str(SAMPLES / "raccoon.jpg")
        self.sample("decode_minimal", photo, self.path("out.ppm"))
        want = subprocess.run(["djpeg", "-dct", "int", "-ppm", photo], capture_output=True,
                              check=True).stdout
        self.assertEqual(pathlib.Path(self.path("out.ppm")).read_bytes(), want)
        self.sample("decode_minimal", __file__, self.path("no.ppm"), code=1)

    def test_pan_zoom_moves_smoothly(self):
        self.sample("pan_zoom", self.path("%d.ppm"), "96x54", "40", str(SAMPLES / "raccoon.jpg"))
        frames = [pathlib.Path(self.path(f"{n}.ppm")).read_bytes()[-3 * 96 * 54:]
                  for n in range(1, 41)]
        self.assertEqual(len(set(frames)), 40)
        for before, after in zip(frames, frames[1:]):
            difference = sum(abs(a - b) for a, b in zip(before, after)) / len(before)
            self.assertLess(difference, 25)

    @needs_containers
    def test_mux_mov_has_picture_and_sound(self):
        movie = self.path("out.mov")
        self.sample("mux_mov", movie)
        streams = {s["codec_type"]: s for s in probe(movie)["streams"]}
        video, audio = streams["video"], streams["audio"]
        self.assertEqual((video["codec_name"], video["width"], video["height"], video["pix_fmt"],
                          video["nb_read_frames"], video["r_frame_rate"], video["color_range"]),
                         ("mjpeg", 640, 360, "yuvj420p", "250", "25/1", "pc"))
        self.assertEqual((audio["codec_name"], audio["sample_rate"]), ("pcm_s16le", "48000"))
        for stream in (video, audio):
            self.assertAlmostEqual(float(stream["duration"]), 10)
        ffmpeg("-xerror", "-i", movie, "-f", "null", "-")
        self.sample("mux_mov", self.path("no/folder.mov"), code=1)
        self.sample("mux_mov", code=2)

    def test_photos_are_those_of_the_list(self):
        for line in (SAMPLES / "SHA256SUMS").read_text().splitlines():
            digest, name = line.split()
            self.assertEqual(hashlib.sha256((SAMPLES / name).read_bytes()).hexdigest(), digest)


if __name__ == "__main__":
    unittest.main()
