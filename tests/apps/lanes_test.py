# Frames side by side: order, failures and memory with many lanes and with several GPUs; the null and MD5 outputs.
# SPDX-License-Identifier: MIT
import hashlib
import json
import os
import subprocess

from support import (PRETENDING_PROGRAM, PROGRAM, ProgramTest, ffmpeg, make_ppm, make_y4m, md5_lines, needs_ffmpeg,
                     y4m_frames)


class LanesTest(ProgramTest):
    def y4m(self, **shape):
        return make_y4m("in.y4m", **shape)

    def ppms(self, count):
        (self.dir / "in").mkdir()
        (self.dir / "out").mkdir()
        for number in range(1, count + 1):
            make_ppm(f"in/f{number}.ppm", 24, 16, number)
        return "in/f%d.ppm"

    def outputs(self):
        return sorted(p.name for p in (self.dir / "out").iterdir())

    def test_md5_is_that_of_the_bytes_whatever_the_lanes(self):
        source = self.y4m(frames=13)
        self.encode(source, "-o", "p%d.jpg")
        packets = [hashlib.md5(self.read(f"p{n}.jpg")).hexdigest() for n in range(1, 14)]
        self.encode(source, "-o", "a.mjpeg")
        self.decode("a.mjpeg", "-o", "a.y4m")
        frames = [hashlib.md5(frame).hexdigest() for frame in y4m_frames(self.read("a.y4m"))]
        for threads in (1, 2, 7):
            encoded = self.encode(source, "-o", "md5:", "--quiet", "--threads", threads)
            self.assertEqual(md5_lines(encoded.stdout), packets, threads)
            decoded = self.decode("a.mjpeg", "-o", "md5:" + "a.txt", "-y", "--threads", threads)
            self.assertEqual(md5_lines(self.read("a.txt")), frames, threads)
            self.assertEqual(decoded.stdout, b"")

    @needs_ffmpeg
    def test_md5_lines_are_those_of_ffmpeg(self):
        self.encode(self.y4m(frames=4, rate="30000:1001"), "-o", "a.mjpeg", "--quiet")
        self.decode("a.mjpeg", "-o", "a.y4m", "--fps", "30000/1001")
        ours = self.decode("a.mjpeg", "-o", "md5:", "--fps", "30000/1001").stdout
        theirs = ffmpeg("-i", "a.y4m", "-f", "framemd5", "-").stdout
        kept = [line for line in theirs.decode().splitlines() if not line.startswith("#software")]
        self.assertEqual(ours.decode().splitlines(), kept)

    def test_null_writes_nothing(self):
        source = self.y4m()
        self.encode(source, "-o", "a.mjpeg")
        before = sorted(os.listdir(self.dir))
        for done in (self.encode(source, "-o", "null:", cwd=self.dir),
                     self.decode("a.mjpeg", "-o", "null:", cwd=self.dir)):
            self.assertEqual(done.stdout, b"")
            self.assertIn(b"8 frames", done.stderr)
        self.assertEqual(sorted(os.listdir(self.dir)), before)
        self.assert_sentence(self.encode(source, "-o", "null:", "--verify", code=2), "--verify")

    def test_a_bad_picture_ends_the_sequence_before_it(self):
        source = self.ppms(24)
        self.write("in/f7.ppm", b"P6 24 16 255\ncut")
        for threads in (1, 3, 16):
            done = self.encode(source, "-o", "out/%02d.jpg", "-y", "--threads", threads, code=3)
            self.assertIn("f7.ppm", done.stderr.decode())
            self.assertEqual(self.outputs(), [f"{n:02}.jpg" for n in range(1, 7)], threads)

    def test_a_picture_that_cannot_be_written_ends_the_sequence_before_it(self):
        self.encode(self.ppms(24), "-o", "a.mjpeg")
        (self.dir / "out/07.ppm.part").mkdir()  # the seventh cannot be opened
        for threads in (1, 16):
            self.decode("a.mjpeg", "-o", "out/%02d.ppm", "-y", "--threads", threads, code=4)
            self.assertEqual(self.outputs(), [f"{n:02}.ppm" for n in range(1, 7)] + ["07.ppm.part"],
                             threads)

    def test_nothing_is_left_of_a_video_that_failed(self):
        self.encode(self.y4m(frames=9), "-o", "a.mjpeg")
        self.encode(make_ppm("b.ppm"), "-o", "b.jpg")
        joined = self.read("a.mjpeg") + self.read("b.jpg")
        self.write("c.mjpeg", joined)
        for threads in (1, 16):
            done = self.decode("c.mjpeg", "-o", "c.y4m", "--threads", threads, code=4)
            self.assert_sentence(done, "cannot change its size")
            self.assertFalse(list(self.dir.glob("c.y4m*")))

    def peak_bytes(self, *arguments):
        process = subprocess.Popen([PROGRAM, *map(str, arguments), "--device", "cpu", "--quiet"],
                                   stdout=subprocess.DEVNULL, env={**os.environ,
                                                                   "MALLOC_ARENA_MAX": "1"})
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        return usage.ru_maxrss * 1024

    def test_memory_is_that_of_the_lanes_whatever_the_length(self):
        lanes, width, height = 3, 2048, 1024
        frame = width * height * 3 // 2
        header = f"YUV4MPEG2 W{width} H{height} F25:1 Ip A1:1 C420jpeg XCOLORRANGE=FULL\n".encode()
        picture = bytes(range(256)) * (frame // 256)
        with open("long.y4m", "wb") as out:
            out.write(header + (b"FRAME\n" + picture) * 60)
        small = self.y4m()
        base = self.peak_bytes("encode", small, "-o", "null:", "--threads", lanes)
        peak = self.peak_bytes("encode", "long.y4m", "-o", "a.mjpeg", "--threads", lanes)
        streams = os.path.getsize("a.mjpeg") // 60 * 2 * (lanes + 4)
        self.assertLess(peak, base + (lanes + 4) * frame + streams)
        peak = self.peak_bytes("decode", "a.mjpeg", "-o", "a.y4m", "--threads", lanes)
        self.assertLess(peak, base + (lanes + 4) * frame + streams)


FRAMES = 60
RUNS = 50


class SeveralDevicesTest(ProgramTest):
    program = PRETENDING_PROGRAM

    def setUp(self):
        super().setUp()
        self.source = make_y4m("in.y4m", frames=FRAMES)

    def run_on(self, *arguments, devices="3", failing="", code=0):
        return self.zerorun(*arguments, code=code, env={**os.environ, "ZERORUN_TEST_DEVICES": devices,
                                                        "ZERORUN_TEST_FAILING_DEVICE": failing})

    def run_until_told(self, told, *arguments, **more):
        """Frames go to the device that is free, so on a busy machine the failing one may get too
        few of them to fail: then the run is made again."""
        for _ in range(RUNS):
            done = self.run_on(*arguments, **more)
            if told in (done.stdout + done.stderr).decode():
                return done
        self.fail(f"{RUNS} runs, and none said {told!r}: {done.stderr.decode()}")

    def reference(self):
        self.run_on("encode", self.source, "-o", "cpu.mjpeg", "--device", "cpu")
        return self.read("cpu.mjpeg")

    def test_the_stream_is_that_of_one_device(self):
        wanted = self.reference()
        for device in ("cuda:0,2", "cuda:all", "cuda:1", "cuda:2,1,0"):
            out = "a.mjpeg"
            self.run_on("encode", self.source, "-o", out, "-y", "--device", device)
            self.assertEqual(self.read(out), wanted, device)
            self.run_on("decode", out, "-o", "a.y4m", "-y", "--device", device)
            self.run_on("decode", out, "-o", "b.y4m", "-y", "--device", "cpu")
            self.assertEqual(self.read("a.y4m"), self.read("b.y4m"), device)

    def test_a_device_that_fails_loses_no_frame_and_is_named(self):
        wanted = self.reference()
        out = "a.mjpeg"
        done = self.run_until_told("cuda:1 failed and is not used any more", "encode", self.source,
                                   "-o", out, "-y", "--device", "cuda:all", "--progress", "json",
                                   failing="1@3")
        self.assertEqual(self.read(out), wanted)
        summary = json.loads(done.stderr.decode().splitlines()[-1])["summary"]
        self.assertEqual([lost["device"] for lost in summary["lost_devices"]], ["cuda:1"])
        done = self.run_until_told("cuda:0 failed", "decode", out, "-o", "md5:", "--device",
                                   "cuda:0,1", failing="0@3")
        self.assertEqual(done.stdout, self.run_on("decode", out, "-o", "md5:", "--device", "cpu").stdout)

    def test_the_run_fails_when_none_is_left(self):
        done = self.run_on("encode", self.source, "-o", "a.mjpeg", "--device", "cuda:1", failing="1@3", code=5)
        self.assertIn(b"device 1 fails for a test", done.stderr)
        self.assertEqual(sorted(os.listdir(self.dir)), ["in.y4m"])

    def test_play_goes_on_without_a_device(self):
        self.run_on("encode", self.source, "-o", "a.mjpeg", "--device", "cpu")
        done = self.run_until_told("cuda:1 failed, the others went on", "play", "a.mjpeg", "--no-window", "--device",
                                   "cuda:0,1", failing="1@4")
        text = (done.stdout + done.stderr).decode()
        self.assertIn(f"{FRAMES} frames", text)
        self.assertNotIn("broken", text)

    def test_the_program_itself_pretends_nothing(self):
        environment = {**os.environ, "ZERORUN_TEST_DEVICES": "3"}
        said = [subprocess.run([program, "devices", "--json"], capture_output=True, env=environment,
                               check=True).stdout.decode() for program in (PROGRAM, PRETENDING_PROGRAM)]
        self.assertNotIn("for a test", said[0])
        self.assertIn("for a test", said[1])
