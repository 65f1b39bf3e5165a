# What zerorun keeps, as other programs read it: every fact by every reader that knows it.
# SPDX-License-Identifier: MIT
import hashlib
import json
import pathlib
import shutil
import subprocess
import unittest

from metadata_test import exiftool, swapped_profile, tags_of
from support import HAS_FFMPEG, ProgramTest, ffmpeg, make_ppm, needs_containers, needs_opencv

READERS = {"exiftool": shutil.which("exiftool"), "identify": shutil.which("identify"),
           "ffprobe": HAS_FFMPEG}
MISSING = [name for name, found in READERS.items() if not found]
needs_readers = unittest.skipIf(MISSING, "not installed: " + ", ".join(MISSING))

# None: the reader does not know the fact in this kind of file. The libraries of Debian 12:
# ImageMagick 6.9.11 and FFmpeg 5.1 read EXIF of some kinds alone.
PICTURES = {  # kind: readers of the maker, readers of the profile
    "jpg": ({"exiftool", "identify", "ffprobe"}, {"exiftool", "identify", "ffprobe"}),
    "png": ({"exiftool"}, {"exiftool", "identify", "ffprobe"}),
    "tif": ({"exiftool", "ffprobe"}, {"exiftool", "identify", "ffprobe"}),
    "webp": ({"exiftool", "ffprobe"}, {"exiftool", "identify", "ffprobe"})}


def frame_of(path):
    done = subprocess.run(["ffprobe", "-v", "error", "-show_frames", "-of", "json", str(path)],
                          capture_output=True, check=True)
    return json.loads(done.stdout)["frames"][0]


def maker_by(reader, path):
    if reader == "exiftool":
        return tags_of(path, "EXIF:Make")["EXIF:Make"]
    if reader == "identify":
        return subprocess.run(["identify", "-quiet", "-format", "%[EXIF:Make]", path],
                              capture_output=True, text=True).stdout.strip()
    tags = {key.lower(): value for key, value in frame_of(path).get("tags", {}).items()}
    return tags.get("make", "").strip()


def profile_by(reader, path, scratch):
    """The bytes of the profile; of ffprobe only that there is one, and FFmpeg copies it to a PNG."""
    if reader == "exiftool":
        return subprocess.run(["exiftool", "-b", "-icc_profile", path], capture_output=True).stdout
    if reader == "identify":
        return subprocess.run(["convert", path, "icc:-"], capture_output=True).stdout
    kinds = [data["side_data_type"] for data in frame_of(path).get("side_data_list", [])]
    if "ICC profile" not in kinds:
        return b""
    ffmpeg("-i", path, scratch)
    return profile_by("exiftool", scratch, None)


@needs_readers
class ReadersTest(ProgramTest):
    @needs_opencv
    def test_pictures(self):
        pathlib.Path(self.path("p.icc")).write_bytes(swapped_profile())
        self.encode(make_ppm(self.path("in.ppm"), 40, 30), "-o", self.path("in.jpg"))
        exiftool("-overwrite_original", "-EXIF:Make=Maker", f"-icc_profile<={self.path('p.icc')}",
                 self.path("in.jpg"))
        self.encode(self.path("in.jpg"), "-o", self.path("out.jpg"))
        for kind in ("png", "tif", "webp"):
            self.decode(self.path("in.jpg"), "-o", self.path("out." + kind))
        for kind, (makers, profiles) in PICTURES.items():
            path = self.path("out." + kind)
            for reader in READERS:
                with self.subTest(kind=kind, reader=reader):
                    if reader in makers:
                        self.assertEqual(maker_by(reader, path), "Maker")
                    if reader in profiles:
                        self.assertEqual(profile_by(reader, path, self.path("copy.png")),
                                         swapped_profile())

    def source(self):
        out = self.path("in.mov")
        ffmpeg("-f", "lavfi", "-i", "testsrc=s=64x48:d=1:r=25", "-f", "lavfi", "-i", "sine=d=1",
               "-c:v", "mjpeg", "-pix_fmt", "yuvj420p", "-c:a", "pcm_s16le", "-metadata",
               "title=The title", "-timecode", "01:02:03:04", out)
        return out

    def sound(self, path):
        raw = ffmpeg("-i", path, "-map", "0:a", "-f", "s16le", "-c:a", "pcm_s16le", "-").stdout
        return hashlib.md5(raw).hexdigest(), len(raw)

    @needs_containers
    def test_containers(self):
        source = self.source()
        sound = self.sound(source)
        self.assertGreater(sound[1], 80000)
        for command in ("copy", "encode"):
            for kind in ("mov", "mkv", "avi"):
                with self.subTest(command=command, kind=kind):
                    out = self.path("out." + kind)
                    self.zerorun(command, source, "-o", out, "-y")
                    self.assertEqual(self.sound(out), sound)  # FFmpeg; exiftool names its kind
                    tags = tags_of(out, "Title", "AudioChannels", "TimeCode", "ImageWidth")
                    self.assertEqual((tags["Title"], tags["ImageWidth"]), ("The title", 64))
                    if kind != "avi":
                        self.assertEqual(tags["AudioChannels"], 1)
                    if kind != "mov":  # of a MOV exiftool shows the number of the track
                        code = exiftool("-s3", "-TimeCode", out).decode().strip()
                        self.assertEqual(code, "01:02:03:04")
                    shown = json.loads(subprocess.run(
                        ["ffprobe", "-v", "error", "-show_format", "-show_streams", "-of", "json", out],
                        capture_output=True, check=True).stdout)
                    texts = [v for part in (shown["format"], *shown["streams"])
                             for v in part.get("tags", {}).values()]
                    self.assertIn("The title", texts)
                    self.assertIn("01:02:03:04", texts)
                    self.assertEqual(self.info(out)["timecode"], "01:02:03:04")
                    # ImageMagick hands containers to FFmpeg: it sees the frames.
                    frames = subprocess.run(["identify", "-quiet", "-format", "%w ", out],
                                            capture_output=True, text=True)
                    if frames.returncode == 0:
                        self.assertEqual(set(frames.stdout.split()), {"64"})

    @needs_containers
    def test_streams_that_packets_alone_show(self):
        """MPEG program streams and FLV have no header that lists streams: no frame is lost while they are found."""
        sound = ["-f", "lavfi", "-i", "sine=d=1", "-c:a", "mp2", "-ar", "48000"]
        for name, frames, extra in (("silent.mpg", 25, []), ("sound.mpg", 25, sound), ("one.flv", 1, []), ("sound.flv", 25, [])):
            codec = "flv1" if name.endswith("flv") else "mpeg2video"
            if name == "sound.flv":
                extra = ["-f", "lavfi", "-i", "sine=d=1", "-c:a", "adpcm_swf", "-ar", "44100"]
            ffmpeg("-f", "lavfi", "-i", "testsrc2=s=192x128:r=25:d=1", *extra, "-frames:v", str(frames), "-c:v", codec,
                   self.path(name))
            info = json.loads(self.zerorun("info", self.path(name), "--json").stdout)
            self.assertEqual((info["width"], info["height"]), (192, 128), name)
            self.zerorun("decode", self.path(name), "-o", self.path("out.y4m"), "-y")
            size = (self.dir / "out.y4m").stat().st_size
            self.assertEqual(size // (192 * 128 * 3 // 2), frames, name)

    @needs_containers
    def test_field_order(self):
        y4m = self.path("in.y4m")
        for tag, word in (("t", "tt"), ("b", "bb")):
            pathlib.Path(y4m).write_bytes(
                f"YUV4MPEG2 W32 H16 F25:1 I{tag} A1:1 C444 XCOLORRANGE=FULL\nFRAME\n".encode() +
                bytes(range(256)) * 6)
            for kind in ("mov", "mkv"):
                first, second = self.path("1." + kind), self.path("2." + kind)
                self.encode(y4m, "-o", first, "-y")
                self.zerorun("copy", first, "-o", second, "-y")
                for name in (first, second):
                    stream = json.loads(subprocess.run(
                        ["ffprobe", "-v", "error", "-show_streams", "-of", "json", name],
                        capture_output=True, check=True).stdout)["streams"][0]
                    self.assertEqual(stream["field_order"], word, name)
                    self.assertEqual(self.info(name)["field_order"], word)


if __name__ == "__main__":
    unittest.main()
