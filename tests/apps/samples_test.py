# The programs in samples/ do what their first lines say.
# SPDX-License-Identifier: MIT
import hashlib
import os
import pathlib
import shutil
import subprocess
import unittest
import urllib.request

from support import (SAMPLES, ProgramTest, ffmpeg, make_y4m, needs_containers, needs_djpeg,
                     needs_ffmpeg, needs_opencv, probe)

PROGRAMS = pathlib.Path(os.environ["ZERORUN_SAMPLES"])


class SamplesTest(ProgramTest):
    def sample(self, name, *arguments, code=0):
        done = subprocess.run([PROGRAMS / name, *arguments], capture_output=True, timeout=300)
        self.assertEqual(done.returncode, code, done.stderr.decode())
        return done

    def test_encode_minimal(self):
        self.sample("encode_minimal", make_y4m("in.y4m", 65, 47, 3), "out")
        for number in (1, 2, 3):
            jpeg = self.info(f"out{number}.jpg")["jpeg"]
            self.assertEqual((jpeg["width"], jpeg["height"], jpeg["quality"]), (65, 47, 85))
        self.sample("encode_minimal", "absent.y4m", "out", code=1)
        self.sample("encode_minimal", code=2)

    def test_encode_minimal_in_c(self):
        self.sample("encode_minimal_c", "out.jpg")
        jpeg = self.info("out.jpg")["jpeg"]
        self.assertEqual((jpeg["width"], jpeg["height"], jpeg["quality"]), (640, 480, 85))
        self.sample("encode_minimal_c", "no/folder.jpg", code=1)
        self.sample("encode_minimal_c", code=2)

    @needs_djpeg
    def test_decode_minimal(self):
        photo = str(SAMPLES / "raccoon.jpg")
        self.sample("decode_minimal", photo, "out.ppm")
        want = subprocess.run(["djpeg", "-dct", "int", "-ppm", photo], capture_output=True,
                              check=True).stdout
        self.assertEqual(self.read("out.ppm"), want)
        self.sample("decode_minimal", __file__, "no.ppm", code=1)

    def test_pan_zoom_moves_smoothly(self):
        self.sample("pan_zoom", "%d.ppm", "96x54", "40", str(SAMPLES / "raccoon.jpg"))
        frames = [self.read(f"{n}.ppm")[-3 * 96 * 54:] for n in range(1, 41)]
        self.assertEqual(len(set(frames)), 40)
        for before, after in zip(frames, frames[1:]):
            difference = sum(abs(a - b) for a, b in zip(before, after)) / len(before)
            self.assertLess(difference, 25)

    @needs_containers
    def test_mux_mov_has_picture_and_sound(self):
        movie = "out.mov"
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
        self.sample("mux_mov", "no/folder.mov", code=1)
        self.sample("mux_mov", code=2)

    @unittest.skipUnless((PROGRAMS / "opencv_camera").exists(), "no OpenCV videoio")
    @needs_ffmpeg
    def test_opencv_camera(self):
        ffmpeg("-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25:duration=2", "-c:v", "ffv1",
               "in.mkv")
        for limit, frames in ((), 50), (("7",), 7):
            self.sample("opencv_camera", "in.mkv", "out.mjpeg", *limit)
            self.assertEqual(self.read("out.mjpeg").count(b"\xff\xd8\xff\xe0"), frames)
            self.assertEqual(probe("out.mjpeg")["streams"][0]["nb_read_frames"], str(frames))
        self.sample("opencv_camera", "absent.mkv", "out.mjpeg", code=1)
        self.sample("opencv_camera", code=2)

    def serve(self, *arguments):
        server = subprocess.Popen([PROGRAMS / "live_server", "0", *arguments],
                                  stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        return server.stdout.readline().strip()

    def test_live_server_sends_parts(self):
        directly = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with directly.open(self.serve("5"), timeout=300) as answer:
            self.assertEqual(answer.headers["Content-Type"],
                             "multipart/x-mixed-replace; boundary=frame")
            parts = answer.read().split(b"--frame\r\n")[1:]
        self.assertEqual(len(parts), 5)
        pictures = [part.partition(b"\r\n\r\n")[2][:-2] for part in parts]
        self.assertEqual(len(set(pictures)), 5)
        for part, picture in zip(parts, pictures):
            self.assertIn(b"Content-Length: %d\r\n" % len(picture), part)
            self.assertEqual((picture[:2], picture[-2:]), (b"\xff\xd8", b"\xff\xd9"))

    @unittest.skipUnless(shutil.which("chromium"), "no chromium")
    @needs_opencv
    def test_live_server_in_a_browser(self):
        page = self.dir / "page.html"
        page.write_text(f'<body style="margin:0"><img src="{self.serve()}"></body>')
        shot = "shot.png"
        subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu",
                        f"--user-data-dir={self.path('profile')}", f"--screenshot={shot}",
                        "--window-size=640,360", "--virtual-time-budget=2000", page.as_uri()],
                       capture_output=True, check=True, timeout=120)
        self.decode(shot, "-o", "shot.ppm")
        pixels = self.read("shot.ppm")[-3 * 640 * 360:]
        bar = sum(r > 220 and g > 220 and b < 80
                  for r, g, b in zip(pixels[0::3], pixels[1::3], pixels[2::3]))
        self.assertAlmostEqual(bar / (640 * 360), 0.25, delta=0.02)  # 40 of 160 columns

    def test_photos_are_those_of_the_list(self):
        for line in (SAMPLES / "SHA256SUMS").read_text().splitlines():
            digest, name = line.split()
            self.assertEqual(hashlib.sha256((SAMPLES / name).read_bytes()).hexdigest(), digest)
