# Alpha, depth, matrix and range of video, raw video and YUV4MPEG2: kept, converted or said.
# SPDX-License-Identifier: MIT
import struct

from pictures import ppm_pixels
from support import ProgramTest, ffmpeg, make_y4m, md5_lines, needs_containers, needs_ffmpeg, y4m_frames

SIZE = 32 * 32


class AlphaTest(ProgramTest):
    WANT = {"ignore": (200, 100, 50), "black": (100, 50, 25), "premultiply": (100, 50, 25),
            "white": (227, 177, 152)}

    def middle(self, source, *options):
        self.decode(source, "-o", "o%d.ppm", "-y", *options)
        return ppm_pixels(self.read("o1.ppm"))[16][16]

    def check(self, source, delta, *options):
        note = self.decode(source, "-o", "null:", *options).stderr
        self.assertEqual(note.count(b"--alpha"), 1, note)
        for word, want in self.WANT.items():
            done = self.decode(source, "-o", "null:", "--alpha", word, *options)
            self.assertNotIn(b"--alpha", done.stderr)
            got = self.middle(source, "--alpha", word, *options)
            for a, b in zip(want, got):
                self.assertAlmostEqual(a, b, delta=delta, msg=f"{source} {word}: {got}")

    @needs_containers
    def test_video(self):
        colour = ("-f", "lavfi", "-i", "color=0xC86432@0.502:s=32x32:d=0.2,format=rgba")
        for codec, pixels, kind, delta in (("png", "rgba", "mov", 2), ("qtrle", "argb", "mov", 2),
                                           ("ffv1", "yuva420p", "mkv", 5),
                                           ("ffv1", "yuva444p10le", "mkv", 5)):
            name = f"{codec}-{pixels}.{kind}"
            ffmpeg(*colour, "-c:v", codec, "-pix_fmt", pixels, name)
            self.check(name, delta)

    @needs_ffmpeg
    def test_y4m_with_alpha(self):
        ffmpeg("-f", "lavfi", "-i", "color=0xC86432@0.502:s=32x32:d=0.2,format=rgba", "-pix_fmt", "yuva444p", "-strict",
               "-1", "-f", "yuv4mpegpipe", "a.y4m")
        self.assertIn(b"C444alpha", self.read("a.y4m")[:100])
        self.check("a.y4m", 3)
        want = self.middle("a.y4m", "--alpha", "white")
        data = self.read("a.y4m")
        piped = self.decode("-", "-o", "-", "--format", "pnm", "--alpha", "white", input=data)
        self.assertEqual(ppm_pixels(piped.stdout[:len(piped.stdout) // 5])[16][16], want)

    def test_raw_video_with_alpha(self):
        """`encode` reads raw video; `black` of a pixel is its colour times its alpha."""
        for name, pixel in (("rgba", (200, 100, 50, 128)), ("argb", (128, 200, 100, 50)),
                            ("bgra", (50, 100, 200, 128)), ("abgr", (128, 50, 100, 200))):
            raw = self.dir / "in.raw"
            raw.write_bytes(bytes(pixel) * SIZE)
            options = ("--size", "32x32", "--pix-fmt", name, "-q", 100, "--subsampling", "444", "-y")
            note = self.encode(raw, "-o", "o.jpg", *options).stderr
            self.assertEqual(note.count(b"--alpha"), 1, note)
            for word, want in self.WANT.items():
                self.encode(raw, "-o", "o.jpg", *options, "--alpha", word)
                for a, b in zip(want, self.middle("o.jpg")):
                    self.assertAlmostEqual(a, b, delta=3, msg=f"{name} {word}")


class DepthTest(ProgramTest):
    """A grey between two of 8 bits: rounding gives one of them, dithering both, in the right parts."""

    VALUE = 401  # of 10 bits, full range: 99.96 of 255; limited: 98.1

    def means(self, run):
        plain, dithered = run(), run("--dither", "ordered")
        return set(plain[:SIZE]), sum(dithered[:SIZE]) / SIZE, set(dithered[:SIZE])

    def check(self, run, exact):
        levels, mean, dithered = self.means(run)
        self.assertEqual(levels, {round(exact)})
        self.assertEqual(dithered, {int(exact), int(exact) + 1})
        self.assertAlmostEqual(mean, exact, delta=0.02)

    def plane(self, value):
        return struct.pack("<H", value) * SIZE

    def y4m(self, colour_range):
        path = self.dir / "in.y4m"
        path.write_bytes(f"YUV4MPEG2 W32 H32 F25:1 Ip A1:1 C444p10 XCOLORRANGE={colour_range}\n"
                         "FRAME\n".encode() + self.plane(self.VALUE) + 2 * self.plane(512))
        return path

    def decoded(self, source):
        def run(*options):
            done = self.decode(source, "-o", "-", *options)
            self.assertEqual(done.stderr.count(b"--dither"), 0 if options else 1, done.stderr)
            frame = y4m_frames(done.stdout)[0]
            self.assertEqual(set(frame[SIZE:]), {128})  # exact values stay, whatever the pattern
            return frame
        return run

    def test_y4m(self):
        self.check(self.decoded(self.y4m("FULL")), self.VALUE * 255 / 1023)
        self.check(self.decoded(self.y4m("LIMITED")), (self.VALUE - 64) * 255 / 876)

    @needs_containers
    def test_video(self):
        ffmpeg("-i", self.y4m("LIMITED"), "-c:v", "ffv1", "in.mkv")
        self.check(self.decoded("in.mkv"), (self.VALUE - 64) * 255 / 876)


class RawRulesTest(ProgramTest):
    def raw(self, y, cb, cr):
        path = self.dir / "in.raw"
        path.write_bytes(bytes([y]) * SIZE + bytes([cb]) * SIZE + bytes([cr]) * SIZE)
        return path

    def coded(self, path, *options):
        self.encode(path, "-o", "o.jpg", "-q", 100, "-y", *options)
        frame = y4m_frames(self.decode("o.jpg", "-o", "-", "--quiet").stdout)[0]
        return frame[SIZE // 2], frame[SIZE + SIZE // 2], frame[2 * SIZE + SIZE // 2]

    def test_matrix_and_range_of_raw_video_and_y4m(self):
        raw = self.raw(120, 90, 170)
        y4m = self.dir / "in.y4m"
        y4m.write_bytes(b"YUV4MPEG2 W32 H32 F25:1 Ip A1:1 C444 XCOLORRANGE=LIMITED\nFRAME\n" +
                        raw.read_bytes())
        for source, options in ((raw, ("--size", "32x32", "--pix-fmt", "yuv444p")), (y4m, ())):
            found = {extra: self.coded(source, *options, *extra)
                     for extra in ((), ("--matrix", "601"), ("--matrix", "709"), ("--range", "full"),
                                   ("--range", "limited"))}
            limited = tuple(round(v) for v in ((120 - 16) * 255 / 219, 128 - 38 * 255 / 224,
                                               128 + 42 * 255 / 224))
            for extra in ((), ("--matrix", "601"), ("--range", "limited")):
                for a, b in zip(found[extra], limited):
                    self.assertAlmostEqual(a, b, delta=1)
            for a, b in zip(found[("--range", "full")], (120, 90, 170)):
                self.assertAlmostEqual(a, b, delta=1)
            # By way of R'G'B' with the luma weights of BT.709 (ITU-T H.273).
            y, cb, cr = (120 - 16) / 219, -38 / 224, 42 / 224
            r, b = y + 1.5748 * cr, y + 1.8556 * cb
            g = (y - 0.2126 * r - 0.0722 * b) / 0.7152
            luma = 0.299 * r + 0.587 * g + 0.114 * b
            for got, want in zip(found[("--matrix", "709")],
                                 (255 * luma, 128 + 255 * (b - luma) / 1.772,
                                  128 + 255 * (r - luma) / 1.402)):
                self.assertAlmostEqual(got, want, delta=1.5)
        note = self.encode(raw, "-o", "null:", "--size", "32x32", "--pix-fmt", "yuv444p").stderr
        self.assertEqual(note.count(b"taken as BT.601 (--matrix)"), 1, note)
        note = self.encode(raw, "-o", "null:", "--size", "32x32", "--pix-fmt", "yuvj444p").stderr
        self.assertNotIn(b"--matrix", note)

    def test_more_than_eight_bits_out(self):
        self.encode(make_y4m("in.y4m", 66, 48, 2), "-o", "o.mjpeg")
        frames = y4m_frames(self.decode("o.mjpeg", "-o", "-", "--quiet").stdout)
        luma = 66 * 48
        for name, bits in (("yuv420p10le", 10), ("yuv420p12le", 12), ("yuv420p16le", 16)):
            raw = self.dir / "o.yuv"
            done = self.decode("o.mjpeg", "-o", raw, "--pix-fmt", name, "-y")
            self.assertIn(b"full range", done.stderr)
            words = struct.unpack(f"<{2 * len(frames[0])}H", raw.read_bytes())
            top, middle = (1 << bits) - 1, 128 << (bits - 8)
            for i, frame in enumerate(frames):
                part = words[i * len(frame):(i + 1) * len(frame)]
                for j in range(0, len(frame), 13):
                    want = (frame[j] * top / 255 if j < luma else
                            middle + (frame[j] - 128) * top / 255)
                    self.assertLessEqual(abs(part[j] - min(max(want, 0), top)), 0.5 + 1e-9)
            # Back to the same 8 bits, by the option that the note names.
            self.encode(raw, "--size", "66x48", "--pix-fmt", name, "--range", "full", "-o", "md5:" + "again.md5", "-y")
            self.encode(self.y4m_of(frames), "-o", "md5:" + "want.md5", "-y")
            self.assertEqual(md5_lines(self.read("again.md5")), md5_lines(self.read("want.md5")), name)

    def y4m_of(self, frames):
        path = self.dir / "frames.y4m"
        path.write_bytes(b"YUV4MPEG2 W66 H48 F25:1 Ip A1:1 C420jpeg XCOLORRANGE=FULL\n" +
                         b"".join(b"FRAME\n" + frame for frame in frames))
        return path
