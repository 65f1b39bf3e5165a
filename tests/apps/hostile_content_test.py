# Metadata that lies: EXIF that loops or repeats, half profiles, packed bombs, bytes that are no text.
# SPDX-License-Identifier: MIT
import json
import os
import pathlib
import resource
import struct
import subprocess
import zlib

from metadata_test import swapped_profile
from pictures import png, segment, with_segments
from support import PROGRAM, ProgramTest, ffmpeg, make_ppm, make_y4m, needs_containers, needs_opencv

TIFF = b"II*\0\x08\0\0\0"
ROWS = bytes(2 * (1 + 6))  # of a PNG of 2x2


def directory(entries):
    """(tag, type, count, value or offset); at offset 8 of TIFF data, at the end if none follows."""
    return struct.pack("<H", len(entries)) + b"".join(
        struct.pack("<HHII", *entry) for entry in entries) + bytes(4)


class HostileTest(ProgramTest):
    MEGABYTES = 900  # of address space; libraries map about half of it

    def setUp(self):
        super().setUp()
        self.encode(make_ppm("in.ppm", 16, 16), "-o", "plain.jpg")
        self.plain = self.read("plain.jpg")

    def jpeg(self, *segments):
        return self.write("in.jpg", with_segments(self.plain, *segments))

    def exif(self, entries, extra=b""):
        return self.jpeg(segment(0xE1, b"Exif\0\0" + TIFF + directory(entries) + extra))

    def icc_of(self, path):
        self.decode(path, "-o", "icc.png", "-y", "--quiet")
        return self.read("icc.png").count(b"iCCP")

    @staticmethod
    def is_sanitized():
        program = pathlib.Path(PROGRAM).read_bytes()
        return b"__asan_" in program or b"__tsan_" in program

    def limit_memory(self):
        # The shadow memory of sanitizers is larger than any limit.
        most = resource.RLIM_INFINITY if self.is_sanitized() else self.MEGABYTES << 20
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        self.limit_time()

    @staticmethod
    def limit_time():
        """Of the processor, which does not depend on what else the machine does."""
        resource.setrlimit(resource.RLIMIT_CPU, (30, 60))

    def limited(self, *arguments):
        """A run that may not take much memory or time. Each of its threads has room for a stack."""
        return self.zerorun(*arguments, preexec_fn=self.limit_memory)


class HostileContentTest(HostileTest):
    @needs_opencv
    def test_exif_that_points_at_itself(self):
        loops = self.exif([(0x0112, 3, 1, 6), (0x8769, 4, 1, 8), (0x8825, 4, 1, 8)])
        self.assertEqual(self.info(loops)["jpeg"]["exif_orientation"], 6)
        for kind in ("png", "tif", "webp", "jpg"):
            command = "encode" if kind == "jpg" else "decode"
            self.limited(command, loops, "-o", "out." + kind, "-y", "--threads", "2")
            self.assertLess((self.dir / ("out." + kind)).stat().st_size, 20000)

    @needs_opencv
    def test_exif_that_repeats_a_value(self):
        """5000 entries of 59000 bytes would be 295 MB in a TIFF file."""
        many = [(i, 7, 59000, 0) for i in range(0x9000, 0x9000 + 5000)]
        inner = struct.pack("<HHII", 0x8769, 4, 1, 8 + 2 + 12 + 4)
        data = TIFF + struct.pack("<H", 1) + inner + bytes(4) + directory(many)
        for payload in (data, TIFF + directory([(270, 7, 59000, 0)] * 5000)):
            path = self.jpeg(segment(0xE1, b"Exif\0\0" + payload[:65000]))
            self.limited("decode", path, "-o", "out.tif", "-y", "--quiet", "--threads", "2")
            self.assertLess((self.dir / "out.tif").stat().st_size, 3 << 20)
            tiff = self.dir / "in.tif"
            self.decode("plain.jpg", "-o", tiff, "-y", "--quiet")

    def test_values_outside_of_the_data(self):
        for entries in ([(271, 2, 0xFFFFFFFF, 0xFFFFFFF0), (0x0112, 3, 0xFFFFFFFF, 9)],
                        [(271, 2, 0, 0), (33434, 5, 1, 0xFFFFFFFF), (0x0112, 3, 1, 0)],
                        [(0x0112, 3, 1, 9)], [(0x8769, 4, 1, 0xFFFFFFFF)]):
            path = self.exif(entries)
            self.assertEqual(self.info(path)["rotation_degrees"], 0)
            self.decode(path, "-o", "o.ppm", "-y", "--quiet")

    def test_bytes_that_are_no_text(self):
        path = self.exif([(271, 2, 20, 8 + 2 + 12 + 4)], b"\xff\xfe\x80bad\x1b[31m" + bytes(20))
        self.assertIn("bad", self.info(path)["exif"]["make"])
        text = self.zerorun("info", path).stdout
        self.assertNotIn(b"\x1b", text)

    @needs_containers
    def test_tags_and_time_codes_that_are_no_text(self):
        self.encode(make_y4m("in.y4m", frames=2), "-o", "a.mkv")
        outputs = ["o.mov", "o.mkv", "o.mp4", "o.avi"]
        for code in ("99:99:99:99", "-1:00:00:00", "x", "01:02:03:04:05", "\x1b[31m"):
            ffmpeg("-i", "a.mkv", "-c", "copy", "-metadata", f"timecode={code}", "-metadata", "title=t\x1b[31m", "t.mkv")
            for out in outputs:
                self.zerorun("copy", "t.mkv", "-o", out, "-y")
            ffmpeg("-xerror", *(word for out in outputs for word in ("-i", out)), *(
                word for i in range(len(outputs)) for word in ("-map", i)), "-f", "null", "-")
            self.assertNotIn(b"\x1b", self.zerorun("info", "t.mkv").stdout)
            self.info("t.mkv")

    @needs_opencv
    def test_profiles_that_are_not_whole(self):
        icc = swapped_profile()
        half = len(icc) // 2

        def part(number, count, data):
            return segment(0xE2, b"ICC_PROFILE\0" + bytes([number, count]) + data)
        first, second = icc[:half], icc[half:]
        whole = [[part(1, 1, icc)], [part(1, 2, first), part(2, 2, second)],
                 [part(2, 2, second), part(1, 2, first)],
                 [part(1, 2, first), part(1, 2, first), part(2, 2, second)]]
        broken = [[part(1, 3, first), part(2, 3, second)], [part(2, 2, second)], [part(0, 0, icc)],
                  [part(1, 2, first), part(3, 2, second)]]
        for parts in whole:
            self.assertEqual(self.icc_of(self.jpeg(*parts)), 1)
        for parts in broken:
            path = self.jpeg(*parts)
            self.assertEqual(self.icc_of(path), 0)
            self.assertIsNone(self.info(path).get("icc"))

    @needs_opencv
    def test_profile_of_a_megabyte_and_damaged_profile(self):
        icc = swapped_profile() + bytes(1 << 20)
        count = (len(icc) + 64999) // 65000
        path = self.jpeg(*[segment(0xE2, b"ICC_PROFILE\0" + bytes([i + 1, count]) +
                                   icc[65000 * i:65000 * (i + 1)]) for i in range(count)])
        self.encode(path, "-o", "o.jpg", "--quiet")
        self.assertEqual(self.icc_of("o.jpg"), 1)
        junk = self.jpeg(segment(0xE2, b"ICC_PROFILE\0\1\1" + bytes(range(200))))
        self.assert_sentence(self.decode(junk, "-o", "x.png", "--icc", "convert", code=3), "in.jpg", "ICC profile")
        self.encode(junk, "-o", "x.jpg", "--icc", "convert", code=3)
        self.assert_nothing_left("x.png")

    @needs_opencv
    def test_packed_bombs_in_png(self):
        """Hundreds of chunks that unpack to 15 MB each: one profile and one text are enough."""
        bomb = zlib.compress(bytes(15 << 20), 9)
        path = self.dir / "bomb.png"
        for kind, head in ((b"iTXt", b"XML:com.adobe.xmp\0\1\0\0\0"), (b"iCCP", b"x\0\0")):
            path.write_bytes(png(2, 2, ROWS, [(kind, head + bomb)] * 400))
            json.loads(self.limited("info", path, "--json").stdout)

    @needs_opencv
    def test_texts_that_nobody_reads(self):
        """To unpack 30 GB of them took 16 s of a core. Of texts above 16 MiB not even the first is taken."""
        path = self.dir / "texts.png"
        for kind, head, size in ((b"zTXt", b"Comment\0\0", 15), (b"iTXt", b"Comment\0\1\0\0\0", 15),
                                 (b"iTXt", b"XML:com.adobe.xmp\0\1\0\0\0", 17), (b"iCCP", b"x\0\0", 17)):
            path.write_bytes(png(2, 2, ROWS, [(kind, head + zlib.compress(bytes(size << 20), 9))] * 2000))
            for command in (["info", path], ["encode", path, "-o", "o.jpg", "-y", "--device", "cpu"]):
                with self.subTest(kind=kind, size=size, command=command[0]):
                    self.zerorun(*command, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (5, 5)))

    @needs_opencv
    def test_fill_bytes_before_exif(self):
        """T.81 B.1.1.2: any number of FF may stand before a marker."""
        exif = segment(0xE1, b"Exif\0\0" + TIFF + directory([(0x0112, 3, 1, 6)]))
        path = self.jpeg(b"\xff" * 9 + exif)
        self.assertEqual(self.info(path)["rotation_degrees"], 90)
        self.decode(path, "-o", "o.png")
        self.assertEqual(self.info("o.png")["rotation_degrees"], 0)

    @needs_containers
    def test_zeros_behind_an_avi_file(self):
        """An index that forgets frames makes zerorun count them: zeros are not chunks."""
        self.encode(make_y4m("in.y4m", frames=12), "-o", "in.avi")
        data = bytearray(self.read("in.avi"))
        index = data.rindex(b"idx1")
        struct.pack_into("<I", data, index + 4, 16 * 4)
        del data[index + 8 + 16 * 4:]
        with open("lie.avi", "wb") as out:
            out.write(data)
            out.truncate(len(data) + (300 << 20))
        done = self.zerorun("copy", "lie.avi", "-o", "o.mjpeg", preexec_fn=self.limit_time)
        self.assertIn(b"12 frames", done.stdout + done.stderr)


def tiff(*entries):
    """A TIFF file of a few bytes with these (tag, value)s, of one sample of 8 bits."""
    rest = [(258, 8), (259, 1), (262, 1), (277, 1)]
    return TIFF + directory([(tag, 4, 1, value) for tag, value in sorted([*entries, *rest])])


class HostileSizeTest(HostileTest):
    """Pictures and videos that say they are huge, for FFmpeg and OpenCV."""
    def refused(self, path, *words):
        """One sentence, code 3, no output, and little memory."""
        done = self.zerorun("decode", path, "-o", "out.ppm", code=3, preexec_fn=self.limit_memory)
        self.assert_sentence(done, path.name, *words)
        self.assert_nothing_left("out.ppm")

    @needs_opencv
    def test_pictures(self):
        tiles = ((322, 30000), (323, 30000), (324, 8), (325, 100))
        strips = ((273, 8), (278, 99999), (279, 100))
        vp8l = b"VP8L" + struct.pack("<IBI", 25, 0x2F, 0x3FFF | 0x3FFF << 14) + bytes(21)
        vp8x = b"VP8X" + struct.pack("<II", 10, 0) + 2 * (20000).to_bytes(3, "little") + vp8l
        vp8 = b"VP8 " + struct.pack("<I3B3BHH", 22, 0, 0, 0, 0x9D, 1, 0x2A, 0x3FFF, 0x3FFF) + bytes(12)
        webp = lambda chunks: b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WEBP" + chunks
        for name, data, words in (
                ("tall.tif", tiff((256, 30000), (257, 30000), *strips), ["30000x30000", "limit 134217728"]),
                ("twice.tif", tiff((256, 16), (256, 30000), (257, 30000), *strips), ["30000x30000"]),
                ("tiles.tif", tiff((256, 16), (257, 16), *tiles), ["tiles of 30000x30000"]),
                ("wide.tif", tiff((256, 16), (257, 16), *tiles).replace(
                    struct.pack("<HH", 322, 4), struct.pack("<HH", 322, 9)), ["its size is not a number"]),
                ("l.webp", webp(vp8l), ["16384x16384"]), ("x.webp", webp(vp8x), ["20001x20001"]),
                ("p.webp", webp(vp8), ["16383x16383"])):
            with self.subTest(name=name):
                self.write(name, data)
                self.refused(self.dir / name, *words)

    @needs_containers
    def test_video(self):
        """An AVI whose header says 15000x15000 (FFmpeg refuses twice that itself), and MOVs with many tracks."""
        ffmpeg("-f", "lavfi", "-i", "testsrc2=s=64x48:d=0.1", "-c:v", "ffv1", "in.avi")
        data = self.read("in.avi")
        at = data.index(b"strf") + 8
        data = data[:at + 4] + struct.pack("<2i", 15000, 15000) + data[at + 12:]
        self.write("huge.avi", data)
        self.refused(self.dir / "huge.avi", "15000x15000", "limit 134217728")
        ffmpeg("-f", "lavfi", "-i", "testsrc2=s=64x48:d=0.1", "-c:v", "png", "in.mov")
        data = self.read("in.mov")
        moov = data.index(b"moov") - 4
        track = data.index(b"trak") - 4
        track = data[track:track + struct.unpack_from(">I", data, track)[0]]
        for tracks in (300, 5000):
            size = struct.unpack_from(">I", data, moov)[0] + tracks * len(track)
            self.write("many.mov", data[:moov] + struct.pack(">I", size) + data[moov + 4:] + tracks * track)
            self.refused(self.dir / "many.mov", "301 streams, limit 256" if tracks == 300 else "too many streams")

    @needs_containers
    def test_video_without_a_header(self):
        """An FLV file has the size in its pictures alone. FFmpeg's probe would take memory for one of 15000x15000."""
        ffmpeg("-f", "lavfi", "-i", "testsrc2=s=304x112:d=0.2", "-c:v", "flv1", "in.flv")
        self.zerorun("decode", "in.flv", "-o", "in.y4m")
        data = bytearray(self.read("in.flv"))
        tag = 13
        while data[tag] != 9:  # video
            tag += 11 + int.from_bytes(data[tag + 1:tag + 4], "big") + 4
        at = tag + 12  # 33 bits of Sorenson's header are before the size of two times 16
        bits = int.from_bytes(data[at:at + 9], "big")
        self.assertEqual(bits >> 7 & 0xFFFFFFFF, 304 << 16 | 112)
        bits += ((15000 - 304) << 16 | (15000 - 112)) << 7
        data[at:at + 9] = bits.to_bytes(9, "big")
        self.write("huge.flv", data)
        self.refused(self.dir / "huge.flv", "limit of 134217728")
        if not self.is_sanitized():
            self.assertLess(self.megabytes("info", self.dir / "huge.flv"), self.megabytes("info", self.dir / "in.flv") + 60)

    @staticmethod
    def megabytes(*arguments):
        """The most memory that the program had resident."""
        child = subprocess.Popen([PROGRAM, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        used = os.wait4(child.pid, 0)[2]
        child.returncode = 0
        return used.ru_maxrss / 1024
