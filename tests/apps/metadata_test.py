# Nothing is lost in silence: orientation, ICC, EXIF, XMP, tags, time code, fields; alpha and depth.
# FFmpeg and exiftool read what zerorun writes, turned and mirrored pictures in containers among it.
# SPDX-License-Identifier: MIT
import base64
import json
import pathlib
import shutil
import struct
import subprocess
import unittest

from pictures import exif_of, png, ppm_pixels, quarters, segment, turned, with_segments
from support import ProgramTest, ffmpeg, make_ppm, make_y4m, needs_containers, needs_opencv, probe, video_stream

needs_exiftool = unittest.skipUnless(shutil.which("exiftool"), "exiftool is not installed")


def exiftool(*arguments):
    done = subprocess.run(["exiftool", "-q", *map(str, arguments)], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def tags_of(path, *names):
    """As exiftool reads them, numbers as stored."""
    found = json.loads(exiftool("-j", "-n", "-b", *("-" + name for name in names), path))[0]
    return {name: found.get(name.split(":")[-1]) for name in names}


def black_profile():
    """An ICC profile of CMYK in which black alone makes a colour: L* falls from 100 to 0 with it, a* = b* = 0."""
    ramp = bytes(range(256))
    corners = b"".join(bytes([0 if corner & 1 else 255, 128, 128]) for corner in range(16))  # K is the last input
    identity = b"".join(struct.pack(">i", 65536 * (i % 4 == 0)) for i in range(9))
    lut = b"mft1\0\0\0\0" + bytes([4, 3, 2, 0]) + identity + 4 * ramp + corners + 3 * ramp
    desc = b"desc\0\0\0\0\0\0\0\x06black\0" + b"\0" * 78
    blocks = [(b"desc", desc), (b"A2B0", lut), (b"A2B1", lut), (b"cprt", desc)]
    return profile_file(b"prtrCMYKLab ", blocks)


def profile_file(kind, blocks):
    table, body, at = b"", b"", 128 + 4 + 12 * len(blocks)
    for name, data in blocks:
        data += b"\0" * (-len(data) % 4)
        table += name + struct.pack(">2I", at + len(body), len(data))
        body += data
    white = b"".join(struct.pack(">i", round(value * 65536)) for value in (0.9642, 1.0, 0.8249))
    header = (struct.pack(">I", at + len(body)) + b"\0" * 4 + struct.pack(">I", 0x02400000) + kind +
              b"\0" * 12 + b"acsp" + b"\0" * 28 + white)
    return header.ljust(128, b"\0") + struct.pack(">I", len(blocks)) + table + body


def swapped_profile():
    """An ICC matrix profile whose red and green primaries are those of sRGB, swapped."""
    def fixed(value):
        return struct.pack(">i", round(value * 65536))

    def xyz(*values):
        return b"XYZ \0\0\0\0" + b"".join(map(fixed, values))
    red, green = (0.43607, 0.22249, 0.01392), (0.38515, 0.71687, 0.09708)
    curve = b"para\0\0\0\0\0\3\0\0" + b"".join(
        map(fixed, (2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045)))
    text = b"swapped red and green"
    desc = b"desc\0\0\0\0" + struct.pack(">I", len(text) + 1) + text + b"\0" * 79
    blocks = [(b"desc", desc), (b"wtpt", xyz(0.9642, 1.0, 0.8249)), (b"rXYZ", xyz(*green)),
              (b"gXYZ", xyz(*red)), (b"bXYZ", xyz(0.14307, 0.06061, 0.71410)),
              (b"rTRC", curve), (b"gTRC", curve), (b"bTRC", curve), (b"cprt", desc)]
    return profile_file(b"mntrRGB XYZ ", blocks)


HOSTILE = pathlib.Path(__file__).resolve().parents[1] / "hostile"


class OrientationTest(ProgramTest):
    def portrait(self, orientation):
        self.write("exif", exif_of(orientation))
        name = f"o{orientation}.jpg"
        self.encode(self.ppm, "-o", name, "-q", 100, "--subsampling", "444", "--exif", "exif", "-y")
        return name

    def setUp(self):
        super().setUp()
        self.ppm = make_ppm("in.ppm", 43, 30)

    def test_all_eight(self):
        stored = None
        for orientation in range(1, 9):
            jpeg = self.portrait(orientation)
            self.decode(jpeg, "-o", "out.ppm", "-y")
            shown = ppm_pixels(self.read("out.ppm"))
            stored = stored or shown
            self.assertEqual(shown, turned(stored, orientation), orientation)
            self.decode(jpeg, "-o", "out.ppm", "-y", "--no-autorotate")
            self.assertEqual(ppm_pixels(self.read("out.ppm")), stored)

    def test_planes_stay_as_stored(self):
        jpeg = self.portrait(6)
        done = self.decode(jpeg, "-o", "out.y4m", "-v")
        self.assertIn(b"W43 H30", self.read("out.y4m")[:40])
        self.assertIn(b"as they are stored", done.stderr)

    @needs_opencv
    @needs_exiftool
    def test_orientation_is_true_everywhere(self):
        jpeg = self.portrait(6)
        self.decode(jpeg, "-o", "up.png")
        self.decode(jpeg, "-o", "as.png", "--no-autorotate")
        self.assertEqual(tags_of("up.png", "ImageWidth", "Orientation"), {"ImageWidth": 30, "Orientation": 1})
        self.assertEqual(tags_of("as.png", "ImageWidth", "Orientation"), {"ImageWidth": 43, "Orientation": 6})
        for name in (jpeg, "as.png"):
            self.encode(name, "-o", "again.jpg", "-y")
            self.assertEqual(tags_of("again.jpg", "Orientation"), {"Orientation": 6})
            self.encode(name, "-o", "bare.jpg", "-y", "--metadata", "none")
            self.assertEqual(tags_of("bare.jpg", "Orientation"), {"Orientation": 6})


@needs_exiftool
class PictureTest(ProgramTest):
    def tagged(self, name):
        """A picture with EXIF, XMP and a profile, by exiftool."""
        self.write("p.icc", swapped_profile())
        exiftool("-overwrite_original", "-EXIF:Make=Maker", "-EXIF:Model=M 1", "-ISO=320", "-EXIF:Artist=Someone",
                 "-ExposureTime=0.004", "-EXIF:Orientation#=1", "-GPSLatitude=12.5", "-GPSLatitudeRef=N",
                 "-XMP-dc:Title=A title", f"-icc_profile<={self.path('p.icc')}", name)
        return name

    WANTED = {"EXIF:Make": "Maker", "EXIF:Model": "M 1", "EXIF:ISO": 320,
              "EXIF:Artist": "Someone", "EXIF:ExposureTime": 0.004, "XMP-dc:Title": "A title"}

    def check(self, path):
        found = tags_of(path, *self.WANTED, "GPSLatitude", "ICC_Profile")
        self.assertEqual({name: found[name] for name in self.WANTED}, self.WANTED, path)
        self.assertEqual(base64.b64decode(found["ICC_Profile"].removeprefix("base64:")), swapped_profile(), path)
        self.assertAlmostEqual(found["GPSLatitude"], 12.5, places=4)

    @needs_opencv
    def test_round_trip_of_every_format(self):
        ppm = make_ppm("in.ppm", 40, 30)
        for kind in ("png", "tif", "webp"):
            self.decode(ppm, "-o", "in." + kind)
        self.encode(ppm, "-o", "in.jpg")
        for kind in ("jpg", "png", "tif", "webp"):
            source = self.tagged("in." + kind) if kind != "webp" else "in.webp"
            if kind == "webp":  # exiftool 12.57 does not write WebP: zerorun's own is read
                self.decode("in.jpg", "-o", source, "-y")
                self.check(source)
            jpeg = f"from_{kind}.jpg"
            self.encode(source, "-o", jpeg)
            self.check(jpeg)
            for other in ("png", "tif", "webp"):
                out = f"from_{kind}.{other}"
                self.decode(jpeg, "-o", out)
                self.check(out)
        self.encode("in.jpg", "-o", "none.jpg", "--metadata", "none")
        self.assertEqual(tags_of("none.jpg", "EXIF:Make", "XMP-dc:Title"), {"EXIF:Make": None, "XMP-dc:Title": None})

    @needs_opencv
    def test_each_picture_of_a_sequence_keeps_its_own(self):
        for i in (1, 2, 3):
            self.encode(make_ppm("in.ppm", 40, 30, i), "-o", f"s{i}.jpg")
        exiftool(*(word for i in (1, 2, 3) for word in
                   ("-overwrite_original", f"-EXIF:Artist=Number {i}", f"s{i}.jpg", "-execute")))
        self.encode("s%d.jpg", "-o", "t%d.jpg", "--verify")
        self.decode("s%d.jpg", "-o", "t%d.png")
        found = json.loads(exiftool("-j", "-EXIF:Artist", *(f"t{i}.{kind}" for i in (1, 2, 3) for kind in ("jpg", "png"))))
        self.assertEqual([tags.get("Artist") for tags in found], [f"Number {i}" for i in (1, 1, 2, 2, 3, 3)])

    @needs_opencv
    def test_conversion_to_srgb(self):
        source = self.write("in.png", png(16, 16, (b"\0" + bytes([250, 30, 40]) * 16) * 16))
        self.tagged("in.png")
        for jpeg, options in (("a.jpg", ()), ("b.jpg", ("--icc", "convert"))):
            self.encode(source, "-o", jpeg, "-q", 100, "--subsampling", "444", *options)
        shown = []
        for name in ("a.jpg", "b.jpg"):
            self.decode(name, "-o", "o.ppm", "-y")
            shown.append(ppm_pixels(self.read("o.ppm"))[8][8])
        for want, got in zip((250, 30, 40), shown[0]):
            self.assertAlmostEqual(got, want, delta=2)
        for want, got in zip((30, 250, 40), shown[1]):
            self.assertAlmostEqual(got, want, delta=3)
        self.assertEqual(subprocess.run(["exiftool", "-b", "-icc_profile", "b.jpg"], capture_output=True).stdout, b"")

    def test_conversion_of_inks_to_srgb(self):
        """With a profile that knows black alone; without it, the other inks count too."""
        profile = black_profile()
        inks = segment(0xE2, b"ICC_PROFILE\0\1\1" + profile)

        def srgb(lightness):  # CIE 1976, then IEC 61966-2-1
            y = ((lightness + 16) / 116) ** 3 if lightness > 8 else lightness * 27 / 24389
            return 255 * (1.055 * y ** (1 / 2.4) - 0.055 if y > 0.0031308 else 12.92 * y)
        for name, inverted in (("cmyk_ok.jpg", True), ("cmyk_adobe_missing.jpg", False), ("cmyk_prog_ok.jpg", True)):
            self.write("in.jpg", with_segments(self.read(HOSTILE / name), inks))
            self.decode("in.jpg", "-o", "inks.raw", "-y", "--pix-fmt", "cmyk32")
            black = self.read("inks.raw")[3::4]
            want = [srgb((k if inverted else 255 - k) / 2.55) for k in black]
            self.decode("in.jpg", "-o", "plain.ppm", "-y")
            done = self.decode("in.jpg", "-o", "out.ppm", "-y", "--icc", "convert", code=None)
            if b"needs lcms2" in done.stderr:
                self.skipTest("this build has no lcms2")
            for command in ("decode", "encode"):
                out = "out.ppm" if command == "decode" else "out.jpg"
                options = () if command == "decode" else ("-q", "100", "--subsampling", "444")
                self.zerorun(command, "in.jpg", "-o", out, "-y", "--icc", "convert", *options)
                if command == "encode":
                    self.decode(out, "-o", "out.ppm", "-y")
                got = self.read("out.ppm")[-3 * len(want):]
                for c in range(3):
                    self.assertLessEqual(max(abs(a - b) for a, b in zip(got[c::3], want)), 4, (name, command, c))
            self.assertNotEqual(self.read("plain.ppm"), got)

    def test_info_tells(self):
        self.encode(make_ppm("in.ppm", 40, 30), "-o", "in.jpg")
        info = self.info(self.tagged("in.jpg"))
        self.assertEqual((info["bits"], info["range"], info["matrix"]), (8, "full", "bt601"))
        self.assertEqual(info["icc"]["name"], "swapped red and green")
        self.assertEqual((info["exif"]["make"], info["exif"]["iso"], info["exif"]["exposure"]),
                         ("Maker", "320", "1/250"))
        text = self.zerorun("info", "in.jpg").stdout.decode()
        for word in ("swapped red and green", "Maker", "8 bits", "XMP"):
            self.assertIn(word, text)


@needs_containers
class ContainerTest(ProgramTest):
    def source(self, name, *options):
        ffmpeg("-f", "lavfi", "-i", "testsrc=s=64x48:d=1:r=25", "-c:v", "mjpeg", "-pix_fmt", "yuvj420p", "-metadata",
               "title=The title", "-metadata", "artist=Someone", "-metadata", "creation_time=2020-02-03T04:05:06Z",
               "-timecode", "01:02:03:04", *options, name)
        return name

    def test_tags_and_time_code(self):
        source = self.source("in.mov")
        for command in ("copy", "encode"):
            for kind in ("mov", "mp4", "mkv"):
                out = "out." + kind
                self.zerorun(command, source, "-o", out, "-y")
                found = probe(out)
                tags = {k.lower(): v for k, v in found["format"]["tags"].items()}
                self.assertEqual(tags["title"], "The title", f"{command} {kind}")
                self.assertEqual(tags["artist"], "Someone")
                self.assertTrue(tags["creation_time"].startswith("2020-02-03T04:05:06"), tags)
                codes = [v for s in (found["format"], *found["streams"])
                         for k, v in s.get("tags", {}).items() if k.lower() == "timecode"]
                self.assertEqual(set(codes), {"01:02:03:04"}, f"{command} {kind}")
                self.assertEqual(video_stream(out)["nb_read_frames"], "25")
                ffmpeg("-xerror", "-i", out, "-map", "0:v", "-f", "null", "-")
                self.assertEqual(self.info(out)["timecode"], "01:02:03:04")
        self.zerorun("copy", source, "-o", "part.mov", "--frames", "21:")
        self.assertEqual(self.info("part.mov")["timecode"], "01:02:04:00")
        self.zerorun("copy", source, "-o", "bare.mov", "--metadata", "none")
        self.assertIsNone(self.info("bare.mov")["timecode"])
        self.assertEqual(self.info("bare.mov")["tags"], {})

    def test_stereo(self):
        source = self.source("in.mkv", "-metadata:s:v:0", "stereo_mode=left_right")
        self.assertEqual(self.info(source)["stereo_mode"], "left_right")
        self.zerorun("copy", source, "-o", "out.mkv")
        self.assertEqual(video_stream("out.mkv")["tags"].get("stereo_mode"),
                         video_stream(source)["tags"].get("stereo_mode"))

    def interlaced(self, order):
        """An interlaced picture: its fields are two different greys."""
        y4m = f"{order}.y4m"
        with open(y4m, "wb") as out:
            out.write(f"YUV4MPEG2 W32 H16 F25:1 I{order} A1:1 C444 XCOLORRANGE=FULL\n".encode())
            for _ in range(3):
                rows = b"".join(bytes([40 if y % 2 == 0 else 200]) * 32 for y in range(16))
                out.write(b"FRAME\n" + rows + bytes([128]) * 32 * 16 * 2)
        return y4m

    def test_field_order(self):
        for order, word in (("t", "tt"), ("b", "bb")):
            self.encode(self.interlaced(order), "-o", "out.mov", "-y")
            self.assertEqual(video_stream("out.mov")["field_order"], word)
            self.assertEqual(self.info("out.mov")["field_order"], word)
            self.decode("out.mov", "-o", "back.y4m", "-y")
            head = self.read("back.y4m")[:80]
            self.assertIn(f" I{order} ".encode(), head)
        self.encode(make_y4m("p.y4m"), "-o", "p.mov")
        self.assertEqual(self.info("p.mov")["field_order"], "progressive")

    def test_deinterlace(self):
        for order, grey in (("t", 40), ("b", 200)):
            out = f"{order}.mov"
            self.encode(self.interlaced(order), "-o", out, "--deinterlace", "-q", "100")
            self.assertEqual(self.info(out)["field_order"], "progressive")
            data = self.decode(out, "-o", "-", "--quiet").stdout
            luma = data[data.index(b"FRAME\n") + 6:][:32 * 16]
            self.assertLessEqual(max(abs(v - grey) for v in luma), 2, order)


class LossTest(ProgramTest):

    @unittest.skipUnless(shutil.which("cjpeg"), "cjpeg is not installed")
    def test_info_of_refused_kinds(self):
        subprocess.run(["cjpeg", "-arithmetic", "-outfile", "p.jpg", make_ppm("in.ppm", 40, 30)], check=True)
        info = self.info("p.jpg")
        self.assertEqual((info["jpeg_kind"]["process"], info["jpeg_kind"]["width"],
                          info["jpeg_kind"]["height"], info["width"]),
                         ("arithmetic", 40, 30, 40))
        self.assertIn(b"arithmetic, YCbCr, 40x30, 8 bits", self.zerorun("info", "p.jpg").stdout)


# Exif 2.32, 4.6.4, as mirroring left to right followed by a clockwise turn.
TURNS = {1: (False, 0), 2: (True, 0), 3: (False, 180), 4: (True, 180), 5: (True, 270),
         6: (False, 90), 7: (True, 90), 8: (False, 270)}


@needs_containers
class TurnedVideoTest(ProgramTest):
    def portrait(self, orientation):
        out = f"o{orientation}.jpg"
        self.encode(quarters("in.ppm"), "-o", out, "-q", 95, "--exif", self.write("exif", exif_of(orientation)), "-y")
        return out

    def shown(self, video):
        self.decode(video, "-o", "shown.ppm", "-y")
        return self.read("shown.ppm")

    def check_facts(self, video, orientation):
        info = self.info(video)
        self.assertEqual((info["mirrored"], info["rotation_degrees"]), TURNS[orientation])

    def check_video(self, video, orientation):
        self.check_facts(video, orientation)
        want = turned(ppm_pixels(self.read("in.ppm")), orientation)
        theirs = ffmpeg("-i", video, "-frames:v", 1, "-f", "image2pipe", "-c:v", "ppm", "-").stdout
        ours = self.shown(video)
        for rows in map(ppm_pixels, (ours, theirs)):
            for y, x in ((3, 3), (3, -4), (-4, 3), (-4, -4)):
                self.assertLess(max(abs(a - b) for a, b in zip(rows[y][x], want[y][x])), 40, (orientation, y, x))
        return ours

    def test_every_orientation_in_mov_and_mp4(self):
        for orientation in range(1, 9):
            jpeg = self.portrait(orientation)
            kinds = [("encode", "mov" if orientation % 2 else "mp4"), ("copy", "mov")]
            if orientation == 6:
                kinds += [("encode", "mov"), ("encode", "qt"), ("copy", "qt")]  # another name of MOV
            for command, kind in kinds:
                video = f"{command}.{kind}"
                self.zerorun(command, jpeg, "-o", video, "-y", "--quiet")
                ours = self.check_video(video, orientation)
                # From a container on to the next one, and back to a picture.
                self.zerorun("copy", video, "-o", "again.mov", "-y", "--quiet")
                self.check_facts("again.mov", orientation)
                self.zerorun("copy", video, "-o", "back.jpg", "-y", "--quiet")
                self.assertEqual(self.info("back.jpg")["jpeg"]["exif_orientation"], orientation, command)
                self.assertEqual(self.shown("back.jpg"), ours)
            # The stream that was copied is the picture's, byte for byte.
            self.zerorun("copy", "copy.mov", "-o", "same.jpg", "-y", "--quiet")
            self.assertEqual(self.read("same.jpg"), self.read(jpeg))

    def test_what_cannot_say_it_is_noted(self):
        self.zerorun("copy", self.portrait(7), "-o", "turned.mov", "--quiet")
        for kind in ("mkv", "avi", "mjpeg"):
            done = self.zerorun("copy", "turned.mov", "-o", "out." + kind)
            if kind == "mkv" and b".mov" not in done.stderr:  # Matroska by FFmpeg 7 says it
                self.check_video("out.mkv", 7)
            else:
                self.assertIn(b".mov", done.stderr, kind)

    def test_other_video_mirrored(self):
        """Not JPEG: its matrix is the display matrix of a MOV made by FFmpeg's muxer."""
        self.portrait(1)
        ffmpeg("-i", "in.ppm", "-c:v", "png", "bare.mov")
        data = bytearray(self.read("bare.mov"))
        unit = (65536).to_bytes(4, "big")
        at = data.index(b"tkhd") + 4 + 40  # the matrix of the track header: version 0
        self.assertEqual(data[at:at + 4], unit)
        data[at:at + 4] = (-65536 & 0xFFFFFFFF).to_bytes(4, "big")  # x' = -x
        self.write("png.mov", bytes(data))
        info = self.info("png.mov")
        self.assertEqual((info["mirrored"], info["rotation_degrees"]), (True, 0))
        want = turned(ppm_pixels(self.shown("bare.mov")), 2)
        self.assertEqual(ppm_pixels(self.shown("png.mov")), want)

    def test_a_sequence_keeps_what_differs_from_the_first(self):
        """The display matrix says it for the first picture; EXIF still says what is not the same."""
        for i, orientation in enumerate((6, 6, 3), 1):
            self.zerorun("copy", self.portrait(orientation), "-o", f"s{i}.jpg", "--quiet")
        self.encode("s%d.jpg", "-o", "mixed.mov", "--quiet")
        self.assertEqual(self.info("mixed.mov")["rotation_degrees"], 90)
        data = self.zerorun("copy", "mixed.mov", "-o", "-", "--quiet").stdout
        orientations = [picture[picture.index(b"Exif\0\0") + 24] for picture in data.split(b"\xff\xd8")[1:]]
        self.assertEqual(orientations, [1, 1, 3])
