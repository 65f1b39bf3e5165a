# zerorun copy, coding again without loss: optimal tables, progressive, restart markers, and
# pictures that are turned, mirrored, cut and grey, as jpegtran makes them.
# SPDX-License-Identifier: MIT
import hashlib
import pathlib
import shutil
import struct
import subprocess
import unittest

from pictures import segment, with_segments
from support import ProgramTest, ffmpeg, make_y4m, needs_containers, probe, stream_sums

needs_jpegtran = unittest.skipUnless(shutil.which("jpegtran"), "jpegtran is not installed")
TURNS = {2: ["-flip", "horizontal"], 3: ["-rotate", "180"], 4: ["-flip", "vertical"],
         5: ["-transpose"], 6: ["-rotate", "90"], 7: ["-transverse"], 8: ["-rotate", "270"]}


def jpegtran(path, *options):
    return subprocess.run(["jpegtran", *options, str(path)], capture_output=True, check=True).stdout


def normal_form(path):
    """Two streams have the same one if size, tables and coefficients are equal."""
    return jpegtran(path, "-copy", "none", "-optimize")


def exif(orientation, width, height):
    """With the pixel dimensions of the picture."""
    entry = struct.Struct(">HHIHH")
    directory = (struct.pack(">H", 2) + entry.pack(0x0112, 3, 1, orientation, 0) +
                 struct.pack(">HHII", 0x8769, 4, 1, 38) + bytes(4))
    sizes = (struct.pack(">H", 2) + struct.pack(">HHII", 0xA002, 4, 1, width) +
             struct.pack(">HHII", 0xA003, 4, 1, height) + bytes(4))
    return b"MM\0*\0\0\0\x08" + directory + sizes


def exif_numbers(data):
    """Orientation, width and height of exif()."""
    at = data.index(b"Exif\0\0") + 6
    return (struct.unpack_from(">H", data, at + 18)[0], struct.unpack_from(">I", data, at + 48)[0],
            struct.unpack_from(">I", data, at + 60)[0])


class RecodeTest(ProgramTest):
    def picture(self, name="in.jpg", width=53, height=41, orientation=0, options=()):
        y4m = make_y4m("one.y4m", width, height, frames=1)
        if orientation:
            self.write("exif", exif(orientation, width, height))
            options = (*options, "--exif", "exif")
        self.encode(y4m, "-o", name, "-y", "--comment", "kept", *options)
        return name

    def copy(self, source, out, *options, **more):
        self.zerorun("copy", source, "-o", out, "-y", *options, **more)
        return out

    def assert_same(self, path, theirs):
        self.write("theirs.jpg", theirs)
        self.assertEqual(normal_form(path), normal_form("theirs.jpg"))

    @needs_jpegtran
    def test_smaller_progressive_and_back(self):
        source = self.picture(width=200, height=120, options=("--restart", "4"))
        before = self.read(source)
        small = self.copy(source, "small.jpg", "--optimize", "--verify")
        self.assertLess(len(self.read(small)), len(before))
        self.assertEqual(self.info(small)["jpeg"]["restart_interval_mcus"], 4)
        other = self.copy(source, "other.jpg", "--progressive", "--restart", "none", "--verify")
        self.assertEqual(self.info(other)["jpeg"]["process"], "progressive")
        back = self.copy(other, "back.jpg", "--baseline", "--restart", "7")
        self.assertEqual(self.info(back)["jpeg"]["process"], "baseline")
        self.assertEqual(self.info(back)["jpeg"]["restart_interval_mcus"], 7)
        for made in (small, other, back):
            self.assertEqual(normal_form(made), normal_form(source))
            self.assertIn(b"kept", self.read(made))
        self.assertEqual(self.read(self.copy(small, "again.jpg", "--optimize")), self.read(small))

    def test_a_device_that_is_not_there(self):
        source = self.picture()
        for options, code in (("--optimize",), 5), (("--rotate", "90"), 2), (("--optimize", "--progressive"), 2), ((), 2):
            done = self.zerorun("copy", source, "-o", self.path("no.jpg"), *options, "--device", "cuda:99", code=code)
            self.assertFalse(pathlib.Path(self.path("no.jpg")).exists(), done.stderr)

    @needs_jpegtran
    def test_auto_follows_exif_and_resets_it(self):
        for orientation, options in TURNS.items():
            source = self.picture(orientation=orientation)
            out = self.copy(source, "upright.jpg", "--rotate", "auto", "--verify")
            self.assert_same(out, jpegtran(source, "-copy", "none", *options))
            size = (41, 53) if orientation > 4 else (53, 41)
            self.assertEqual(exif_numbers(self.read(out)), (1, *size))
        source = self.picture(orientation=1)
        self.assertEqual(self.read(self.copy(source, "same.jpg", "--rotate", "auto")), self.read(source))
        out = self.copy(self.picture(orientation=6), "mirrored.jpg", "--rotate", "auto", "--flip", "h")
        self.assert_same(out, jpegtran("in.jpg", "-copy", "none", "-transpose"))

    @needs_jpegtran
    def test_edges_crop_and_gray(self):
        source = self.picture()
        for edges, options in (("keep", ()), ("trim", ("-trim",))):
            out = self.copy(source, "turned.jpg", "--rotate", "90", "--edges", edges)
            self.assert_same(out, jpegtran(source, "-rotate", "90", *options))
        done = self.zerorun("copy", source, "-o", "no.jpg", "--rotate", "90", "--edges", "refuse", code=None)
        self.assertNotEqual(done.returncode, 0)
        self.assert_sentence(done, "no whole MCU")
        self.assert_nothing_left("no.jpg")
        out = self.copy(source, "cut.jpg", "--crop", "20x10+18+5", "--gray")
        self.assert_same(out, jpegtran(source, "-crop", "20x10+18+5", "-grayscale"))
        self.zerorun("copy", source, "-o", "no.jpg", "--crop", "60x10+0+0", code=None)
        self.assert_nothing_left("no.jpg")

    @needs_jpegtran
    def test_folder_keeps_names(self):
        (self.dir / "photos").mkdir()
        for name, orientation in (("b", 6), ("a", 1), ("c", 8)):
            self.picture(f"photos/{name}.jpg", orientation=orientation)
        self.zerorun("copy", "photos", "-o", "upright/", "--rotate", "auto")
        for name, options in (("a", ()), ("b", TURNS[6]), ("c", TURNS[8])):
            self.assert_same(f"upright/{name}.jpg", jpegtran(f"photos/{name}.jpg", "-copy", "none", *options))
        for threads in ("1", "3"):
            self.zerorun("copy", "photos", "-o", f"t{threads}" + "/", "--progressive", "--threads", threads)
        for name in "abc":
            self.assertEqual((self.dir / "t1" / f"{name}.jpg").read_bytes(),
                             (self.dir / "t3" / f"{name}.jpg").read_bytes())

    def video(self, name="in.mov"):
        ffmpeg("-f", "lavfi", "-i", "testsrc=s=64x48:d=1:r=12", "-f", "lavfi", "-i", "sine=d=1", "-c:v", "mjpeg",
               "-pix_fmt", "yuvj444p", "-huffman", "default", "-c:a", "pcm_s16le", "-metadata", "title=a title", name)
        return name

    @needs_containers
    def test_video_keeps_sound_and_samples(self):
        source = self.video()
        for name, options in (("small.mov", ["--optimize"]), ("small.mkv", ["--optimize"]),
                              ("progressive.mov", ["--progressive"])):
            done = self.zerorun("copy", source, "-o", name, *options, "--verify")
            self.assertEqual(b"progressive frames" in done.stderr, options == ["--progressive"])
            self.assertNotIn(b"no place", done.stderr)
            self.assertIn(b"coefficients verified", done.stderr + done.stdout)
            out = name
            self.assertEqual(stream_sums(out, "v"), stream_sums(source, "v"))
            self.assertEqual(stream_sums(out, "a", "-c", "copy"), stream_sums(source, "a", "-c", "copy"))
            tags = probe(out)["format"]["tags"]
            self.assertEqual({k.lower(): v for k, v in tags.items()}["title"], "a title")
        self.assertLess((self.dir / "small.mov").stat().st_size, (self.dir / "in.mov").stat().st_size)
        self.zerorun("copy", source, "-o", "one.mov", "--optimize", "--threads", "1")
        self.assertEqual(self.read("one.mov"), self.read("small.mov"))

    @needs_containers
    def test_auto_turns_by_the_container(self):
        tagged = self.copy(self.picture(width=64, height=48, orientation=6), "tagged.mov")
        self.assertEqual(self.info(tagged)["rotation_degrees"], 90)
        for name in ("upright.mov", "upright.avi"):
            self.assertNotIn(b"rotation", self.zerorun("copy", tagged, "-o", name, "--rotate", "auto").stderr)
            info = self.info(name)
            self.assertEqual((info["width"], info["height"], info["rotation_degrees"]), (48, 64, 0))
        self.zerorun("copy", "upright.mov", "-o", "frame.jpg")
        self.assertEqual(exif_numbers(self.read("frame.jpg")), (1, 48, 64))

    def test_damage_is_refused(self):
        self.encode(make_y4m("in.y4m", frames=3), "-o", "good.mjpeg")
        data = self.read("good.mjpeg")
        scan = data.index(b"\xff\xda", data.index(b"\xff\xd8", 2))
        self.write("bad.mjpeg", data[:scan + 100] + data[scan + 300:])
        damaged = "bad.mjpeg"
        done = self.zerorun("copy", damaged, "-o", "no.mjpeg", "--optimize", code=3)
        self.assert_sentence(done, "could not be the same")
        self.assert_nothing_left("no.mjpeg")
        done = self.zerorun("copy", damaged, "-o", "two.mjpeg", "--optimize", "--on-error", "skip")
        self.assertIn(b"left out", done.stderr)
        self.assertEqual(self.read("two.mjpeg").count(b"\xff\xd8\xff"), 2)
        self.copy(damaged, "same.mjpeg")
        self.assertEqual(self.read("same.mjpeg"), self.read("bad.mjpeg"))

    def test_a_bad_first_picture_is_skipped_too(self):
        """One that cannot be read, one without a frame header, and one that cannot be coded again."""
        (self.dir / "photos").mkdir()
        for name in "abcd":
            self.picture(f"photos/{name}.jpg", width=64, height=48)
        self.write("list.txt", "".join(f"photos/{name}.jpg\n" for name in "abcd"))
        good = self.read("photos/a.jpg")
        scan = good.index(b"\xff\xda")
        damaged = good[:scan + 100] + good[scan + 300:]
        for bad in (b"no picture", b"\xff\xd8\xff\xc0short", damaged):
            self.write("photos/a.jpg", bad)
            for source in ("photos", "photos/*.jpg", "@" + "list.txt"):
                self.zerorun("copy", source, "-o", "no/", "--optimize", code=3)
                shutil.rmtree("no", ignore_errors=True)
                done = self.zerorun("copy", source, "-o", "out/", "--optimize", "--on-error", "skip")
                self.assertEqual(done.stderr.count(b"left out"), 1, done.stderr)
                self.assertEqual(sorted(p.name for p in (self.dir / "out").iterdir()), ["b.jpg", "c.jpg", "d.jpg"])
                shutil.rmtree("out")
        self.zerorun("copy", "photos", "-o", "out.mjpeg", "--on-error", "skip", "--optimize")
        self.assertEqual(self.read("out.mjpeg").count(b"\xff\xd8\xff"), 3)
        for name in "bcd":
            self.write(f"photos/{name}.jpg", damaged)
        self.zerorun("copy", "photos", "-o", "none.mjpeg", "--on-error", "skip", "--optimize", code=3)
        self.assert_nothing_left("none.mjpeg")

    def ultra_hdr(self, main, further, name="hdr.jpg"):
        """A file with an index of two pictures, and XMP with the size of the second one."""
        main, further = self.read(main), self.read(further)
        xmp = b'http://ns.adobe.com/xap/1.0/\0<x Item:Semantic="GainMap" Item:Length="%d"/>' % len(further)
        head = segment(0xE1, xmp)
        directory = struct.pack(">H", 3) + struct.pack(">HHI4s", 0xB000, 7, 4, b"0100")
        directory += struct.pack(">HHII", 0xB001, 4, 1, 2) + struct.pack(">HHII", 0xB002, 7, 32, 50) + bytes(4)
        size = len(main) + len(head) + 4 + 4 + 82
        entries = struct.pack(">IIIHH", 0x030000, size, 0, 0, 0)
        entries += struct.pack(">IIIHH", 0, len(further), size - (2 + len(head) + 8), 0, 0)
        index = b"MPF\0MM\0*\0\0\0\x08" + directory + entries
        return self.write(name, with_segments(main, head, segment(0xE2, index)) + further + b"a trailer")

    def further(self, path):
        """The second picture by the index, which XMP and the first size have to agree with."""
        data = self.read(path)
        header = data.index(b"MPF\0") + 4
        first, size, offset = (struct.unpack_from(">I", data, header + 50 + at)[0] for at in (4, 20, 24))
        self.assertEqual(header + offset, first)
        self.assertIn(b'Item:Length="%d"' % size, data)
        self.assertEqual(data[first + size:], b"a trailer")
        self.write("further.jpg", data[first:first + size])
        return "further.jpg"

    @needs_jpegtran
    def test_further_pictures_are_turned_and_found(self):
        for orientation in (0, 6):
            main = self.picture("main.jpg", 128, 96, orientation)
            gain = self.picture("gain.jpg", 32, 24, options=("--subsampling", "444"))
            source = self.ultra_hdr(main, gain)
            self.assertEqual(normal_form(self.further(source)), normal_form(gain))
            for options, turn in ((["--optimize"], []), (["--progressive"], []), (["--rotate", "90"], TURNS[6]),
                                  (["--flip", "h"], TURNS[2]), (["--rotate", "auto"], TURNS[6] if orientation else [])):
                done = self.zerorun("copy", source, "-o", "out.jpg", "-y", *options, "--losses", "stop")
                self.assertNotIn(b"no place", done.stderr)
                self.assert_same(self.further("out.jpg"), jpegtran(gain, "-copy", "none", *turn))
                self.assert_same("out.jpg", jpegtran(source, "-copy", "none", *turn))

    def test_further_pictures_that_would_not_fit_are_named(self):
        main, gain = self.picture("main.jpg", 128, 96), self.picture("gain.jpg", 34, 24)
        (self.dir / "photos").mkdir()
        source = self.ultra_hdr(main, gain, "photos/a.jpg")
        for options in (["--rotate", "180"], ["--crop", "64x48+16+16"]):
            done = self.zerorun("copy", source, "-o", "out.jpg", "-y", *options)
            self.assertIn(b"no place for 1 further picture (a gain map, a preview)", done.stderr)
            data = self.read("out.jpg")
            self.assertNotIn(b"MPF\0", data)
            self.assertEqual(data.count(b"\xff\xd8\xff"), 1)
            self.assertTrue(data.endswith(b"\xff\xd9a trailer"))
            self.zerorun("copy", source, "-o", "no.jpg", *options, "--losses", "stop", code=4)
            self.assert_nothing_left("no.jpg")
        shutil.copy(source, "photos/b.jpg")
        self.assertIn(b"1 more lost", self.zerorun("copy", "photos", "-o", "turned/", "--rotate", "180").stderr)
        self.assertIn(b"1 further picture", self.zerorun("encode", source, "-o", "coded.jpg").stderr)

    def test_a_thumbnail_that_is_not_turned_is_named(self):
        data = self.read(self.picture("main.jpg", 128, 96))
        exif = b"Exif\0\0II*\0\x08\0\0\0" + bytes(6) + b"\xff\xd8\xff\xdb a thumbnail"
        self.write("small.jpg", with_segments(data, segment(0xE1, exif)))
        for options, is_named in ((["--rotate", "90"], True), (["--crop", "64x48+16+16"], True), (["--flip", "v"], True),
                                  (["--rotate", "auto"], False), (["--optimize"], False)):
            done = self.zerorun("copy", "small.jpg", "-o", "out.jpg", "-y", *options)
            self.assertEqual(b"thumbnail" in done.stderr, is_named, options)

    def test_no_index_points_nowhere(self):
        """One that is wrong already stays in a copy, and is left out of what was coded again."""
        source = pathlib.Path(self.ultra_hdr(self.picture("main.jpg", 128, 96), self.picture("gain.jpg", 32, 24)))
        data = bytearray(source.read_bytes())
        header = data.index(b"MPF\0") + 4
        for place, form, value in ((24, ">I", 0xFFFFFFF0), (24, ">I", 0), (20, ">I", 0xFFFFFFFF), (-14, ">H", 0xFF)):
            wrong = bytearray(data)
            struct.pack_into(form, wrong, header + 50 + place, value)
            source.write_bytes(wrong)
            self.zerorun("copy", source, "-o", "same.jpg", "-y")
            self.assertEqual(self.read("same.jpg"), wrong)
            done = self.zerorun("copy", source, "-o", "out.jpg", "-y", "--optimize")
            self.assertIn(b"no place for 1 further picture", done.stderr)
            made = self.read("out.jpg")
            self.assertNotIn(b"MPF\0", made)
            self.assertTrue(made.endswith(b"a trailer"))

    def test_options_that_ask_for_nothing(self):
        source = self.picture()
        for options in (["--verify"], ["--progressive", "--baseline"], ["--restart", "0"],
                        ["--rotate", "45"], ["--crop", "1x1"]):
            self.zerorun("copy", source, "-o", "no.jpg", *options, code=2)
        self.assert_nothing_left("no.jpg")
        same = self.copy(source, "same.jpg", "--baseline")
        self.assertEqual(hashlib.md5(self.read(same)).hexdigest(), hashlib.md5(self.read(source)).hexdigest())
