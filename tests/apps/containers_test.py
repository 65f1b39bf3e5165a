from support import ProgramTest, ffmpeg, make_y4m, needs_containers, probe, y4m_frames# encode: every container, as FFmpeg sees it.
# SPDX-License-Identifier: MIT
import json
import pathlib

from support import ProgramTest, ffmpeg, make_y4m, needs_containers, probe, y4m_frames

KINDS = ("mov", "mp4", "mkv", "avi")


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
                again = self.encode(cut, "-o", "again." + kind)
                self.assertIn(sentence, again.stderr.decode())
                strict = "strict.y4m"
                refused = self.decode(cut, "-o", strict, "--strict", code=3)
                # An AVI file's last frame may be cut too, which comes first.
                self.assert_sentence(refused, sentence if kind == "mkv" else "cut.avi")
                self.assertFalse(pathlib.Path(strict).exists())

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
