# stdin and stdout: nothing but data, in every format, from and to other programs; streams of cameras.
# SPDX-License-Identifier: MIT
import os
import pathlib
import struct
import subprocess
import threading

from support import (PROGRAM, ProgramTest, bytes_in, ffmpeg, make_ppm, make_y4m, needs_containers, needs_ffmpeg,
                     probe, video_stream, y4m_frames)


class PipesTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.y4m = pathlib.Path(make_y4m("in.y4m", 65, 47, 5))
        self.encode(self.y4m, "-o", "in.mjpeg")
        self.mjpeg = self.read("in.mjpeg")

    def test_stdout_holds_the_stream_and_nothing_else(self):
        self.assertEqual(self.encode(self.y4m, "-o", "-", "--verbose", "--progress", "json").stdout, self.mjpeg)
        self.assertEqual(self.encode(self.y4m, "-o", "file.mjpeg", "--verbose").stdout, b"")
        self.decode("in.mjpeg", "-o", "file.y4m")
        self.assertEqual(self.decode("in.mjpeg", "-o", "-", "--verbose").stdout, self.read("file.y4m"))

    def test_every_format_on_stdin(self):
        for word in ([], ["--format", "y4m"], ["--input-format", "y4m"]):
            self.assertEqual(self.encode("-", "-o", "-", *word, input=self.y4m.read_bytes()).stdout, self.mjpeg)
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
        self.assertEqual(self.decode("-", "-o", "-", "--format", "pnm", input=self.mjpeg).stdout, files)

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


BOUNDARY = b"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n%s\r\n"
HTTP = b"HTTP/1.0 200 OK\r\nServer: camera\r\nContent-Type: multipart/x-mixed-replace; boundary=frame\r\n\r\n"


def avi(frames, width=64, height=48, rate=25):
    """Motion JPEG in AVI with these packets, with an index."""
    def chunk(name, data):
        return name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)

    def listed(name, data):
        return chunk(b"LIST", name + data)
    head = struct.pack("<10I", 1000000 // rate, 0, 0, 0x10, len(frames), 0, 1, 0, width, height) + bytes(16)
    stream = b"vidsMJPG" + struct.pack("<10I", 0, 0, 0, 1, rate, 0, len(frames), 0, 0xFFFFFFFF, 0) + bytes(8)
    bitmap = struct.pack("<IIIHH4sIIIII", 40, width, height, 1, 24, b"MJPG", width * height * 3, 0, 0, 0, 0)
    movie, index = b"", b""
    for data in frames:
        index += b"00dc" + struct.pack("<III", 0x10 if data else 0, 4 + len(movie), len(data))
        movie += chunk(b"00dc", data)
    header = listed(b"hdrl", chunk(b"avih", head) + listed(b"strl", chunk(b"strh", stream) +
                                                           chunk(b"strf", bitmap)))
    body = b"AVI " + header + listed(b"movi", movie) + chunk(b"idx1", index)
    return b"RIFF" + struct.pack("<I", len(body)) + body


class StreamsTest(ProgramTest):
    def jpegs(self, count=4):
        self.encode(make_y4m("in.y4m", frames=count), "-o", "in%d.jpg")
        return [self.read(f"in{i + 1}.jpg") for i in range(count)]

    def copied(self, name, **options):
        """The packets that copy makes of an input."""
        done = self.zerorun("copy", name, "-o", "out%d.jpg", "-y", **options)
        packets = []
        while pathlib.Path(path := f"out{len(packets) + 1}.jpg").exists():
            packets.append(self.read(path))
            os.remove(path)
        return packets, done.stderr.decode()

    @needs_containers
    def test_multipart(self):
        """With and without the head of HTTP, on stdin and in a file, for all commands."""
        jpegs = self.jpegs()
        parts = b"".join(BOUNDARY % (len(data), data) for data in jpegs)
        for head in (b"", HTTP, HTTP + b"\r\n"):
            with self.subTest(head=head):
                self.write("camera", head + parts)
                for name, options in (("-", {"input": head + parts}), ("camera", {})):
                    self.assertEqual(self.copied(name, **options)[0], jpegs, name)
                    self.decode(name, "-o", "out.y4m", "-y", **options)
                    self.assertEqual(len(y4m_frames(self.read("out.y4m"))), 4)
                    self.encode(name, "-o", "out.mjpeg", "-y", **options)

    def test_doubled_soi_and_junk(self):
        jpegs = self.jpegs()
        self.write("two.mjpeg", b"".join(b"\xff\xd8" * (i % 2) + data for i, data in enumerate(jpegs)))
        packets, said = self.copied("two.mjpeg")
        self.assertEqual(packets, jpegs)
        self.assertIn("4 bytes between the images", said)

    @needs_containers
    def test_packets_begin_with_one_soi(self):
        jpegs = self.jpegs()
        fronts = (b"\0\0\0", b"\xff\xd8", b"", b"\0" * 64)
        self.write("odd.avi", avi([f + j for f, j in zip(fronts, jpegs)]))
        packets, said = self.copied("odd.avi")
        self.assertEqual(packets, jpegs)
        self.assertIn("69 bytes between the images", said)
        for kind in ("mov", "avi", "mkv"):
            self.zerorun("copy", "odd.avi", "-o", "odd2." + kind, "-y")
            self.assertEqual(self.copied("odd2." + kind)[0], jpegs)
        self.decode("odd.avi", "-o", "odd.y4m")

    def test_capture_without_suffix(self):
        jpegs = self.jpegs()
        self.write("capture", b"".join(jpegs))
        self.assertEqual(self.copied("capture")[0], jpegs)
        self.assertIn(b"4 frames", self.zerorun("verify", "capture").stderr)
        self.write("single", jpegs[0])
        self.zerorun("copy", "single", "-o", "single.jpg")
        self.assertEqual(self.read("single.jpg"), jpegs[0])

    def through_pipe(self, name, data):
        """A named pipe into which a thread writes once."""
        path = name
        os.mkfifo(path)

        def write():
            with open(path, "wb", buffering=0) as pipe:
                try:
                    pipe.write(data)
                except BrokenPipeError:
                    pass
        thread = threading.Thread(target=write, daemon=True)
        thread.start()
        self.addCleanup(thread.join, 10)
        return path

    @needs_containers
    def test_named_pipes_are_opened_once(self):
        jpegs = self.jpegs()
        raw = b"".join(jpegs)
        parts = b"".join(BOUNDARY % (len(data), data) for data in jpegs)
        ffmpeg("-i", "in.y4m", "-c:v", "ffv1", "film.mkv")
        for name, data in (("a.jpg", raw), ("b", raw), ("c.mjpg", raw), ("d", parts), ("e", self.read("in.y4m")),
                           ("f.png", self.read("film.mkv"))):
            with self.subTest(name):
                pipe = self.through_pipe(name, data)
                self.decode(pipe, "-o", "piped.y4m", "-y", timeout=60)
                self.assertEqual(len(y4m_frames(self.read("piped.y4m"))), 4)
                os.remove(pipe)

    @needs_containers
    def test_dropped_frames_keep_time(self):
        """Empty chunks of AVI repeat the frame before, or the times show them where the container has times."""
        a, b, c = self.jpegs(3)
        self.write("drops.avi", avi([a, b"", b, b"", b"", c]))
        shown = [a, a, b, b, b, c]
        self.assertEqual(self.copied("drops.avi")[0], shown)
        self.zerorun("copy", "drops.avi", "-o", "kept.avi")
        self.assertEqual(self.copied("kept.avi")[0], shown)
        self.zerorun("copy", "drops.avi", "-o", "kept.mov")
        times = [float(p["pts_time"]) for p in probe("kept.mov", "-show_packets")["packets"]]
        self.assertEqual([round(25 * t) for t in times], [0, 2, 5])
        self.decode("drops.avi", "-o", "d.y4m")
        self.assertEqual(len(y4m_frames(self.read("d.y4m"))), 6)

    @needs_containers
    def test_frames_that_are_two_ticks_apart(self):
        """AVI of 50 ticks a second with a picture at each second one is a constant rate."""
        a, b, c = self.jpegs(3)
        self.write("two.avi", avi([a, b"", b, b"", c, b""], rate=50))
        self.decode("two.avi", "-o", "two.y4m")
        video = self.read("two.y4m")
        rate = int(video.split(b" F", 1)[1].split(b":")[0])
        self.assertIn((rate, len(y4m_frames(video))), ((25, 3), (50, 6)))
        for kind in ("mov", "mkv", "avi"):
            self.zerorun("copy", "two.avi", "-o", "copied." + kind)
            shown = [p for p in probe("copied." + kind, "-show_packets")["packets"] if p["size"] != "0"]
            times = [round(50 * (float(p["pts_time"]) - float(shown[0]["pts_time"]))) for p in shown]
            self.assertEqual(times[:3] if len(times) == 3 else times[::2], [0, 2, 4], kind)


class NamesTest(ProgramTest):
    def test_byte_order_mark_of_a_list(self):
        self.encode(make_y4m("a.y4m", frames=2), "-o", "p%d.jpg")
        self.write("list.txt", b"\xef\xbb\xbfp1.jpg\r\np2.jpg\r\n")
        self.zerorun("copy", "@" + "list.txt", "-o", "out.mjpeg")
        self.assertEqual(self.read("out.mjpeg"), b"".join(self.read(f"p{i}.jpg") for i in (1, 2)))

    def test_negative_numbers(self):
        """In order of their values, by a glob and by a pattern; a dash between words is no sign."""
        self.encode(make_y4m("a.y4m", frames=5), "-o", "p%d.jpg")
        pictures = [self.read(f"p{i}.jpg") for i in range(1, 6)]
        for number, data in zip((-2, -1, 0, 1, 10), pictures):
            self.write(f"shot.{number}.jpg", data)
            self.write(f"take-{number + 3}.jpg", data)
        for name in ("shot.*.jpg", "take-*.jpg"):
            self.zerorun("copy", name, "-o", "out.mjpeg", "-y")
            self.assertEqual(self.read("out.mjpeg"), b"".join(pictures), name)
        self.zerorun("copy", "shot.%d.jpg", "-o", "out.mjpeg", "-y", "--missing", "skip")
        self.assertEqual(self.read("out.mjpeg"), b"".join(pictures))
