# zerorun copy: the same JPEG streams, in every direction; containers that are cut, change their rate or have no header.
# SPDX-License-Identifier: MIT
import hashlib
import json
import pathlib

from support import ProgramTest, ffmpeg, make_y4m, needs_containers, probe, stream_sums, video_stream, y4m_frames

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
        self.assertAlmostEqual(float(probe(out)["format"]["duration"]), 0.8, delta=0.05)
        self.zerorun("copy", sound, "-o", "mute.mov", "--audio", "none")
        self.assertEqual(len(probe("mute.mov")["streams"]), 1)
        self.assertIn(b"no place for the sound (pcm_s16le", self.zerorun("copy", sound, "-o", "s%02d.jpg").stderr)
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
        self.assertIn(b"\xff\xc4", self.read("whole.jpg"))
        self.assertEqual(self.decode("whole.jpg", "-o", "-", "--quiet").stdout,
                         self.decode("01.jpg", "-o", "-", "--quiet").stdout)

    def test_what_is_refused(self):
        y4m = make_y4m("in.y4m")
        self.assert_sentence(self.zerorun("copy", y4m, "-o", "out.mjpeg", code=3), "is not JPEG", "zerorun encode")
        self.assert_nothing_left("out.mjpeg")
        self.jpegs(2)
        self.assert_sentence(self.zerorun("copy", "%02d.jpg", "-o", "out.png", code=2), "copy writes", "zerorun decode")
        self.assert_sentence(self.decode("%02d.jpg", "-o", "x%d.jpg", code=2), "zerorun copy")
        self.zerorun("copy", "01.jpg", "-o", "02.jpg", code=4)


@needs_containers
class ContainersTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.y4m = make_y4m("in.y4m", 65, 47, 10, rate="30000:1001")

    def test_a_file_that_was_cut(self):
        for kind in ("mkv", "avi"):
            with self.subTest(kind=kind):
                out, cut = "whole." + kind, "cut." + kind
                self.encode(self.y4m, "-o", out)
                self.assertEqual(self.info(out)["missing_bytes"], 0)
                whole = self.read(out)
                self.write(cut, whole[:len(whole) // 2])
                missing = len(whole) - len(whole) // 2
                self.assertEqual(self.info(cut)["missing_bytes"], missing)
                self.assertIn(b"cut short", self.zerorun("info", cut).stdout)
                pictures = kind + ".y4m"
                sentence = f"cut short: {missing:,} bytes are missing"
                self.assertIn(sentence, self.decode(cut, "-o", pictures).stderr.decode())
                frames = y4m_frames(self.read(pictures))
                self.assertTrue(2 <= len(frames) < 10)
                self.assertIn(sentence, self.encode(cut, "-o", "again." + kind).stderr.decode())
                refused = self.decode(cut, "-o", "strict.y4m", "--strict", code=3)
                # An AVI file's last frame may be cut too, which comes first.
                self.assert_sentence(refused, sentence if kind == "mkv" else "cut.avi")
                self.assertFalse(pathlib.Path("strict.y4m").exists())

    def test_a_rate_that_changes_late_is_kept(self):
        """Matroska has no index of all frames, and its first frames have an even rate."""
        source, out = "late.mkv", "late.mov"
        ffmpeg("-f", "lavfi", "-i", "testsrc2=s=64x48:r=50", "-vf", "select='gte(n,150)+not(mod(n,2))'",
               "-t", "4", "-fps_mode", "vfr", "-c:v", "mjpeg", source)
        for command in ("copy", "encode"):
            self.zerorun(command, source, "-o", out, "-y")
            times = [[float(frame["pts_time"]) for frame in
                      probe(path, "-show_frames", "-select_streams", "v")["frames"]]
                     for path in (source, out)]
            self.assertEqual(len(times[1]), 125)
            self.assertLess(max(times[0]), 4)
            for before, after in zip(*times):
                self.assertAlmostEqual(before - times[0][0], after - times[1][0], delta=0.0011)

    def test_streams_that_packets_alone_show(self):
        """MPEG program streams and FLV have no header that lists streams: no frame is lost while they are found."""
        sound = ["-f", "lavfi", "-i", "sine=d=1", "-c:a", "mp2", "-ar", "48000"]
        for name, frames, extra in (("silent.mpg", 25, []), ("sound.mpg", 25, sound), ("one.flv", 1, []), ("sound.flv", 25, [])):
            codec = "flv1" if name.endswith("flv") else "mpeg2video"
            if name == "sound.flv":
                extra = ["-f", "lavfi", "-i", "sine=d=1", "-c:a", "adpcm_swf", "-ar", "44100"]
            ffmpeg("-f", "lavfi", "-i", "testsrc2=s=192x128:r=25:d=1", *extra, "-frames:v", str(frames), "-c:v", codec,
                   name)
            info = json.loads(self.zerorun("info", name, "--json").stdout)
            self.assertEqual((info["width"], info["height"]), (192, 128), name)
            self.zerorun("decode", name, "-o", "out.y4m", "-y")
            size = (self.dir / "out.y4m").stat().st_size
            self.assertEqual(size // (192 * 128 * 3 // 2), frames, name)
