# stdin and stdout: nothing but data, in every format, from and to other programs.
# SPDX-License-Identifier: MIT
import os
import pathlib
import subprocess

from support import (PROGRAM, ProgramTest, bytes_in, make_ppm, make_y4m, needs_ffmpeg, video_stream,
                     y4m_frames)


class PipesTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.y4m = pathlib.Path(make_y4m("in.y4m", 65, 47, 5))
        self.encode(self.y4m, "-o", "in.mjpeg")
        self.mjpeg = self.read("in.mjpeg")

    def test_stdout_holds_the_stream_and_nothing_else(self):
        done = self.encode(self.y4m, "-o", "-", "--verbose", "--progress", "json")
        self.assertEqual(done.stdout, self.mjpeg)
        done = self.encode(self.y4m, "-o", "file.mjpeg", "--verbose")
        self.assertEqual(done.stdout, b"")
        self.decode("in.mjpeg", "-o", "file.y4m")
        done = self.decode("in.mjpeg", "-o", "-", "--verbose")
        self.assertEqual(done.stdout, self.read("file.y4m"))

    def test_every_format_on_stdin(self):
        for word in ([], ["--format", "y4m"], ["--input-format", "y4m"]):
            done = self.encode("-", "-o", "-", *word, input=self.y4m.read_bytes())
            self.assertEqual(done.stdout, self.mjpeg)
        ppm = self.read(make_ppm("in.ppm"))
        for word in ([], ["--format", "pnm"]):
            self.encode("-", "-o", "out.mjpeg", "-y", *word, input=ppm * 3)
            self.assertEqual(self.info("out.mjpeg")["frames"], 3)
        for word in ([], ["--format", "mjpeg"]):
            done = self.decode("-", "-o", "-", *word, input=self.mjpeg)
            self.assertEqual(len(y4m_frames(done.stdout)), 5)
            self.encode("-", "-o", "again.mjpeg", "-y", *word, input=self.mjpeg)
            self.assertEqual(self.info("again.mjpeg")["frames"], 5)

    def test_pnm_on_stdout(self):
        done = self.decode("in.mjpeg", "-o", "-", "--format", "pnm")
        self.decode("in.mjpeg", "-o", "%d.ppm")
        files = b"".join(self.read(f"{n}.ppm") for n in range(1, 6))
        self.assertEqual(done.stdout, files)
        done = self.decode("-", "-o", "-", "--format", "pnm", input=self.mjpeg)
        self.assertEqual(done.stdout, files)

    def test_y4m_to_pnm_through_both_pipes(self):
        done = self.decode("-", "-o", "-", "--format", "pnm", input=self.y4m.read_bytes())
        self.assertEqual(done.stdout.count(b"P6\n65 47\n255\n"), 5)

    def test_slow_bytes_on_stdin(self):
        # A pipe that gives single bytes first must not confuse what looks ahead.
        reading, writing = os.pipe()
        process = subprocess.Popen([PROGRAM, "decode", "-", "-o", "-", "--quiet"], stdin=reading,
                                   stdout=subprocess.PIPE)
        os.close(reading)
        with os.fdopen(writing, "wb", buffering=0) as pipe:
            pipe.write(self.mjpeg[:1])
            self.wait_until(lambda: bytes_in(pipe) == 0, "the byte was read")
            self.wait_until_done(process)
            pipe.write(self.mjpeg[1:])
        output = process.communicate(timeout=300)[0]
        self.assertEqual(process.returncode, 0)
        self.assertEqual(len(y4m_frames(output)), 5)

    @needs_ffmpeg
    def test_from_and_to_ffmpeg(self):
        source = subprocess.Popen(
            ["ffmpeg", "-loglevel", "error", "-f", "lavfi", "-i", "testsrc2=s=96x64:r=25:d=1",
             "-pix_fmt", "yuv420p", "-f", "yuv4mpegpipe", "-"], stdout=subprocess.PIPE)
        self.encode("-", "-o", "out.mjpeg", stdin=source.stdout)
        source.stdout.close()
        self.assertEqual(source.wait(300), 0)
        self.assertEqual(self.info("out.mjpeg")["frames"], 25)
        ours = subprocess.Popen([PROGRAM, "decode", "out.mjpeg", "-o", "-", "--quiet"], stdout=subprocess.PIPE)
        subprocess.run(["ffmpeg", "-loglevel", "error", "-y", "-i", "-", "-c:v", "ffv1", "back.mkv"], stdin=ours.stdout,
                       check=True)
        ours.stdout.close()
        self.assertEqual(ours.wait(300), 0)
        self.assertEqual(int(video_stream("back.mkv")["nb_read_frames"]), 25)
