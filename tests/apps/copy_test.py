# zerorun copy: the same JPEG streams, in every direction.
# SPDX-License-Identifier: MIT
import hashlib

from support import ProgramTest, ffmpeg, make_y4m, needs_containers, probe, stream_sums, video_stream

CONTAINERS = ("mov", "mp4", "mkv", "avi")


def packets_of(path):
    return stream_sums(path, "v", "-c", "copy")


class CopyTest(ProgramTest):
    def jpegs(self, frames=6):
        self.encode(make_y4m("in.y4m", frames=frames), "-o", "%02d.jpg")
        return [self.read(f"{i + 1:02}.jpg") for i in range(frames)]

    @needs_containers
    def test_every_direction(self):
        streams = self.jpegs()
        sums = [hashlib.md5(stream).hexdigest() for stream in streams]
        for first in (*CONTAINERS, "mjpeg"):
            there = "there." + first
            self.zerorun("copy", "%02d.jpg", "-o", there, "--fps", "30000/1001", "-y")
            if first != "mjpeg":
                self.assertEqual(packets_of(there), sums, first)
                self.assertEqual(video_stream(there)["r_frame_rate"], "30000/1001", first)
            for second in (*CONTAINERS, "mjpeg"):
                onwards = "onwards." + second
                self.zerorun("copy", there, "-o", onwards, "-y")
                self.assertEqual(packets_of(onwards), sums, f"{first} to {second}")
            self.zerorun("copy", there, "-o", "back%02d.jpg", "-y")
            back = [self.read(f"back{i + 1:02}.jpg") for i in range(6)]
            self.assertEqual(back, streams, first)

    def test_without_containers(self):
        streams = self.jpegs()
        self.zerorun("copy", "%02d.jpg", "-o", "out.mjpeg")
        self.assertEqual(self.read("out.mjpeg"), b"".join(streams))
        done = self.zerorun("copy", "-", "-o", "-", "--frames", "2:5",
                            input=b"".join(streams))
        self.assertEqual(done.stdout, b"".join(streams[2:5]))
        self.zerorun("copy", "01.jpg", "-o", "one.jpg")
        self.assertEqual(self.read("one.jpg"), streams[0])

    @needs_containers
    def test_range_sound_and_times(self):
        sound = "sound.mov"
        ffmpeg("-f", "lavfi", "-i", "testsrc=s=64x48:d=2:r=25", "-f", "lavfi", "-i",
               "sine=d=2", "-c:v", "mjpeg", "-pix_fmt", "yuvj420p", "-c:a", "pcm_s16le", sound)
        out = "part.mkv"
        self.zerorun("copy", sound, "-o", out, "--frames", "10:30")
        self.assertEqual(packets_of(out), packets_of(sound)[10:30])
        streams = probe(out)["streams"]
        self.assertEqual([s["codec_type"] for s in streams], ["video", "audio"])
        seconds = float(probe(out)["format"]["duration"])
        self.assertAlmostEqual(seconds, 0.8, delta=0.05)
        self.zerorun("copy", sound, "-o", "mute.mov", "--audio", "none")
        self.assertEqual(len(probe("mute.mov")["streams"]), 1)
        done = self.zerorun("copy", sound, "-o", "s%02d.jpg")
        self.assertIn(b"no place for the sound (pcm_s16le", done.stderr)
        # Another name of MOV.
        self.zerorun("copy", sound, "-o", "same.qt")
        self.assertEqual([s["codec_type"] for s in probe("same.qt")["streams"]], ["video", "audio"])

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
        self.write("bare.mjpeg", bare)
        self.zerorun("copy", "bare.mjpeg", "-o", "whole.jpg")
        whole = self.read("whole.jpg")
        self.assertIn(b"\xff\xc4", whole)
        self.assertEqual(self.decode("whole.jpg", "-o", "-", "--quiet").stdout,
                         self.decode("01.jpg", "-o", "-", "--quiet").stdout)

    def test_what_is_refused(self):
        y4m = make_y4m("in.y4m")
        done = self.zerorun("copy", y4m, "-o", "out.mjpeg", code=3)
        self.assert_sentence(done, "is not JPEG", "zerorun encode")
        self.assert_nothing_left("out.mjpeg")
        self.jpegs(2)
        done = self.zerorun("copy", "%02d.jpg", "-o", "out.png", code=2)
        self.assert_sentence(done, "copy writes", "zerorun decode")
        done = self.decode("%02d.jpg", "-o", "x%d.jpg", code=2)
        self.assert_sentence(done, "zerorun copy")
        self.zerorun("copy", "01.jpg", "-o", "02.jpg", code=4)
