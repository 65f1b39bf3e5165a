# zerorun copy: the same JPEG streams, in every direction.
# SPDX-License-Identifier: MIT
import hashlib
import pathlib

from support import (ProgramTest, ffmpeg, make_y4m, needs_containers, probe, video_stream)

CONTAINERS = ("mov", "mp4", "mkv", "avi")


def packets_of(path):
    """The MD5 of each video packet, as FFmpeg reads them."""
    text = ffmpeg("-i", path, "-map", "0:v", "-c", "copy", "-f", "framemd5", "-").stdout.decode()
    return [line.split(",")[-1].strip() for line in text.splitlines() if not line.startswith("#")]


class CopyTest(ProgramTest):
    def jpegs(self, frames=6, rate="25:1", *options):
        y4m = make_y4m(self.path("in.y4m"), frames=frames, rate=rate)
        self.encode(y4m, "-o", self.path("%02d.jpg"), *options)
        return [pathlib.Path(self.path(f"{i + 1:02}.jpg")).read_bytes() for i in range(frames)]

    def sums(self, streams):
        return [hashlib.md5(stream).hexdigest() for stream in streams]

    @needs_containers
    def test_every_direction(self):
        streams = self.jpegs()
        sums = self.sums(streams)
        for first in (*CONTAINERS, "mjpeg"):
            there = self.path("there." + first)
            self.zerorun("copy", self.path("%02d.jpg"), "-o", there, "--fps", "30000/1001", "-y")
            if first != "mjpeg":
                self.assertEqual(packets_of(there), sums, first)
                self.assertEqual(video_stream(there)["r_frame_rate"], "30000/1001", first)
            for second in (*CONTAINERS, "mjpeg"):
                onwards = self.path("onwards." + second)
                self.zerorun("copy", there, "-o", onwards, "-y")
                self.assertEqual(packets_of(onwards), sums, f"{first} to {second}")
            self.zerorun("copy", there, "-o", self.path("back%02d.jpg"), "-y")
            back = [pathlib.Path(self.path(f"back{i + 1:02}.jpg")).read_bytes() for i in range(6)]
            self.assertEqual(back, streams, first)

    def test_without_containers(self):
        streams = self.jpegs()
        self.zerorun("copy", self.path("%02d.jpg"), "-o", self.path("out.mjpeg"))
        self.assertEqual(pathlib.Path(self.path("out.mjpeg")).read_bytes(), b"".join(streams))
        done = self.zerorun("copy", "-", "-o", "-", "--frames", "2:5",
                            input=b"".join(streams))
        self.assertEqual(done.stdout, b"".join(streams[2:5]))
        self.zerorun("copy", self.path("01.jpg"), "-o", self.path("one.jpg"))
        self.assertEqual(pathlib.Path(self.path("one.jpg")).read_bytes(), streams[0])

    @needs_containers
    def test_range_sound_and_times(self):
        sound = self.path("sound.mov")
        ffmpeg("-f", "lavfi", "-i", "testsrc=s=64x48:d=2:r=25", "-f", "lavfi", "-i",
               "sine=d=2", "-c:v", "mjpeg", "-pix_fmt", "yuvj420p", "-c:a", "pcm_s16le", sound)
        out = self.path("part.mkv")
        self.zerorun("copy", sound, "-o", out, "--frames", "10:30")
        self.assertEqual(packets_of(out), packets_of(sound)[10:30])
        streams = probe(out)["streams"]
        self.assertEqual([s["codec_type"] for s in streams], ["video", "audio"])
        seconds = float(probe(out)["format"]["duration"])
        self.assertAlmostEqual(seconds, 0.8, delta=0.05)
        self.zerorun("copy", sound, "-o", self.path("mute.mov"), "--audio", "none")
        self.assertEqual(len(probe(self.path("mute.mov"))["streams"]), 1)
        done = self.zerorun("copy", sound, "-o", self.path("s%02d.jpg"))
        self.assertIn(b"no place for the sound (pcm_s16le", done.stderr)
        # Another name of MOV.
        self.zerorun("copy", sound, "-o", self.path("same.qt"))
        self.assertEqual([s["codec_type"] for s in probe(self.path("same.qt"))["streams"]],
                         ["video", "audio"])

    def test_tables_of_motion_jpeg(self):
        """A JPEG without DHT is good in AVI; a picture of its own gets the tables."""
        stream = self.jpegs(1)[0]
        at, bare = 2, stream[:2]
        while stream[at + 1] != 0xDA:
            size = 2 + int.from_bytes(stream[at + 2:at + 4], "big")
            if stream[at + 1] != 0xC4:
                bare += stream[at:at + size]
            at += size
        bare += stream[at:]
        pathlib.Path(self.path("bare.mjpeg")).write_bytes(bare)
        self.zerorun("copy", self.path("bare.mjpeg"), "-o", self.path("whole.jpg"))
        whole = pathlib.Path(self.path("whole.jpg")).read_bytes()
        self.assertIn(b"\xff\xc4", whole)
        self.assertEqual(self.decode(self.path("whole.jpg"), "-o", "-", "--quiet").stdout,
                         self.decode(self.path("01.jpg"), "-o", "-", "--quiet").stdout)

    def test_what_is_refused(self):
        y4m = make_y4m(self.path("in.y4m"))
        done = self.zerorun("copy", y4m, "-o", self.path("out.mjpeg"), code=3)
        self.assert_sentence(done, "is not JPEG", "zerorun encode")
        self.assert_nothing_left("out.mjpeg")
        self.jpegs(2)
        done = self.zerorun("copy", self.path("%02d.jpg"), "-o", self.path("out.png"), code=2)
        self.assert_sentence(done, "copy writes", "zerorun decode")
        done = self.decode(self.path("%02d.jpg"), "-o", self.path("x%d.jpg"), code=2)
        self.assert_sentence(done, "zerorun copy")
        self.zerorun("copy", self.path("01.jpg"), "-o", self.path("02.jpg"), code=4)
