# decode: pictures equal djpeg's, damage is reported, other input is converted; alpha, depth, matrix and range of video,
# raw video and YUV4MPEG2 are kept, converted or said.
# SPDX-License-Identifier: MIT
import json
import os
import pathlib
import shutil
import struct
import subprocess

from pictures import ppm_pixels
from support import (BUILT_WITH_FFMPEG, ProgramTest, damage_second_image, ffmpeg, make_ppm, make_y4m, md5_lines,
                     needs_containers, needs_djpeg, needs_ffmpeg, y4m_frames)

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
            self.assertNotIn(b"--alpha", self.decode(source, "-o", "null:", "--alpha", word, *options).stderr)
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
            self.assertIn(b"full range", self.decode("o.mjpeg", "-o", raw, "--pix-fmt", name, "-y").stderr)
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


HOSTILE = pathlib.Path(__file__).resolve().parents[1] / "hostile"


class DecodeTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.y4m = make_y4m("in.y4m", 65, 47, 4)
        self.mjpeg = "in.mjpeg"
        self.encode(self.y4m, "-o", self.mjpeg)
        (self.dir / "jpg").mkdir()
        self.encode(self.y4m, "-o", "jpg/%d.jpg")
        (self.dir / "out").mkdir()

    @needs_djpeg
    def test_rgb_equals_djpeg(self):
        for word, options in (("fancy", []), ("nearest", ["-nosmooth"])):
            self.decode(self.mjpeg, "-o", "out/%d.ppm", "-y", "--upsampling", word)
            for number in range(1, 5):
                want = subprocess.run(["djpeg", "-dct", "int", "-ppm", *options, f"jpg/{number}.jpg"],
                                      capture_output=True, check=True).stdout
                self.assertEqual(self.read(f"out/{number}.ppm"), want)

    @needs_djpeg
    def test_scaled_pictures_equal_djpegs_and_regions_are_parts_of_them(self):
        for scale in ("1/2", "1/4", "1/8"):
            self.decode(self.mjpeg, "-o", "out/%d.ppm", "-y", "--scale", scale)
            want = subprocess.run(["djpeg", "-dct", "int", "-ppm", "-scale", scale, "jpg/2.jpg"], capture_output=True,
                                  check=True).stdout
            self.assertEqual(self.read("out/2.ppm"), want)
        self.decode("jpg/1.jpg", "-o", "half.ppm", "--scale", "1/2")
        self.decode("jpg/1.jpg", "-o", "part.ppm", "--scale", "1/2", "--crop", "20x9+7+11")
        half = self.read("half.ppm")
        head = b"P6\n33 24\n255\n"
        self.assertTrue(half.startswith(head))
        rows = [half[len(head) + 3 * (33 * y + 7):][:60] for y in range(11, 20)]
        self.assertEqual(self.read("part.ppm"), b"P6\n20 9\n255\n" + b"".join(rows))

    def test_regions_that_no_picture_has(self):
        for crop, sentence in (("20x9", "is not WxH+X+Y"), ("20x9+60+0", "goes beyond the picture of 65x47")):
            self.assertIn(sentence, self.decode("jpg/1.jpg", "-o", "x.ppm", "--crop", crop, code=2).stderr.decode())
        result = self.decode(self.y4m, "-o", "x.ppm", "--scale", "1/2", code=2)
        self.assertIn("are for JPEG and Motion JPEG alone", result.stderr.decode())

    @needs_djpeg
    def test_progressive_frames(self):
        for number in (1, 2):
            name = f"p{number}.jpg"
            subprocess.run(["jpegtran", "-progressive", "-outfile", name, f"jpg/{number}.jpg"], check=True)
            info = self.info(name)["jpeg"]
            self.assertEqual(info["process"], "progressive")
            self.assertEqual(info["quality"], self.info(f"jpg/{number}.jpg")["jpeg"]["quality"])
            self.assertEqual((info["scans"], info["subsampling"]), (10, "420"))  # libjpeg's default script
            self.assertIn("  scans        10\n", self.zerorun("info", name).stdout.decode())
            self.assertEqual(self.info(f"jpg/{number}.jpg")["jpeg"]["scans"], 1)
        for name, out in (("jpg/%d.jpg", "want.y4m"), ("p%d.jpg", "got.y4m")):
            self.decode(name, "-o", out, "--frames", "0:2")
        self.assertEqual(*(y4m_frames(self.read(out)) for out in ("want.y4m", "got.y4m")))

    def test_cmyk_and_ycck(self):
        for name, color, told in (("cmyk_ok.jpg", "inverted CMYK", "CMYK"), ("cmyk_adobe_ycck.jpg", "YCCK", "YCCK"),
                                  ("cmyk_adobe_missing.jpg", "CMYK", "CMYK"), ("cmyk_prog_ok.jpg", "YCCK", "YCCK")):
            source = str(HOSTILE / name)
            info = self.info(source)["jpeg"]
            self.assertEqual((info["color"], info["subsampling"], len(info["components"])), (color, "444", 4))
            if told == "CMYK":  # the YCCK files have CMYK's single table
                self.assertEqual(info["quality"], 50)
            self.assertEqual(info["scans"], 18 if "prog" in name else 1)
            self.decode(source, "-o", "inks.raw", "-y", "--pix-fmt", "cmyk32")
            self.assertIn(f"{told} becomes RGB", self.decode(source, "-o", "rgb.ppm", "-y").stderr.decode())
            inks = self.read("inks.raw")
            flip = 255 if color == "CMYK" else 0
            light = [byte ^ flip for byte in inks]
            want = bytes((2 * light[at + c] * light[at + 3] + 255) // 510 for at in range(0, len(light), 4)
                         for c in range(3))
            self.assertEqual(self.read("rgb.ppm"), b"P6\n24 20\n255\n" + want, name)
            # copy changes no byte.
            self.zerorun("copy", source, "-o", "same.jpg", "-y")
            self.assertEqual(self.read("same.jpg"), self.read(source))
            self.decode(source, "-o", "inks.y4m", "-y")
        self.decode("jpg/1.jpg", "-o", "no.raw", "--pix-fmt", "cmyk32", code=3)

    def test_inks_and_progressive_frames_come_in_by_every_way(self):
        """As one file, sequence, folder, list, pipe, stream and container: the same samples."""
        for name in ("cmyk_ok.jpg", "cmyk_prog_ok.jpg", "prog_ok.jpg"):
            jpeg = self.read(HOSTILE / name)
            self.decode(HOSTILE / name, "-o", "want.ppm", "-y")
            want = self.read("want.ppm")
            self.encode("want.ppm", "-o", "one.mjpeg", "-y", "-q", "95",
                        *(("--subsampling", "gray") if name == "prog_ok.jpg" else ()))
            folder = pathlib.Path("in")
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            for number in (1, 2):
                folder.joinpath(f"{number}.jpg").write_bytes(jpeg)
            folder.joinpath("list.txt").write_text("1.jpg\n2.jpg\n")
            folder.joinpath("two").write_bytes(jpeg + jpeg)  # content tells what it is
            shutil.copy(folder / "two", folder / "two.mjpeg")
            ways = [f"{folder}/%d.jpg", f"{folder}/*.jpg", f"@{folder}/list.txt", folder / "two", folder / "two.mjpeg",
                    "-"]
            for kind in ("mov", "mkv", "avi") if BUILT_WITH_FFMPEG else ():
                self.zerorun("copy", f"{folder}/%d.jpg", "-o", folder / f"two.{kind}")
                ways.append(folder / f"two.{kind}")
            for way in map(str, ways):
                piped = jpeg + jpeg if way == "-" else None
                with self.subTest(f"{name} by {way}"):
                    self.decode(way, "-o", "out%d.ppm", "-y", input=piped)
                    for number in (1, 2):
                        self.assertEqual(self.read(f"out{number}.ppm"), want)
                        os.remove(f"out{number}.ppm")
                    report = self.zerorun("play", way, "--no-window", "--json", "--device", "cpu", input=piped)
                    report = json.loads(report.stdout)
                    self.assertEqual([report[key] for key in ("decoded", "broken_frames", "concealed_frames")],
                                     [2, 0, 0])
                    self.zerorun("verify", way, input=piped)
                    self.encode(way, "-o", "out.mjpeg", "-y", "-q", "95", input=piped)
                    self.assertEqual(self.read("out.mjpeg"), 2 * self.read("one.mjpeg"))

    def test_y4m_is_close_to_the_source_and_the_same_with_any_threads(self):
        streams = []
        for threads in ("1", "3"):
            out = threads + ".y4m"
            self.decode(self.mjpeg, "-o", out, "--threads", threads)
            streams.append(self.read(out))
        self.assertEqual(streams[0], streams[1])
        source = y4m_frames(self.read(self.y4m))
        for ours, original in zip(y4m_frames(streams[0]), source, strict=True):
            error = sum((a - b) ** 2 for a, b in zip(ours, original)) / len(original)
            self.assertLess(error, 60)

    def damaged(self):
        return damage_second_image(self.mjpeg, "damaged.mjpeg")

    def test_damage_is_concealed_counted_and_told_once(self):
        source = self.damaged()
        text = self.decode(source, "-o", "out.y4m", "--stats", "d.json").stderr.decode()
        self.assertEqual(text.count("concealed"), 1, text)
        self.assertIn("1 of 4 frames", text)
        stats = json.loads(self.read("d.json"))
        self.assertEqual([row["concealed_intervals"] > 0 for row in stats["frames"]], [False, True, False, False])
        self.assertEqual((stats["summary"]["cpu_frames"], [row["cpu_scans"] for row in stats["frames"]]), (0, [0] * 4))
        self.assertNotIn("decoded by the CPU", text)
        self.assertEqual(len(y4m_frames(self.read("out.y4m"))), 4)

    def test_strict_stops_at_damage(self):
        self.assertIn("frame 1", self.decode(self.damaged(), "-o", "out.y4m", "--strict", code=3).stderr.decode())
        self.assert_nothing_left("out.y4m")
        self.decode(self.mjpeg, "-o", "out.y4m", "--strict")

    def test_converts_what_is_no_jpeg(self):
        self.decode(self.y4m, "-o", "copy.y4m")
        self.assertEqual(y4m_frames(self.read("copy.y4m")), y4m_frames(self.read(self.y4m)))
        self.decode(self.y4m, "-o", "out/%d.ppm")
        self.assertEqual(len(list((self.dir / "out").iterdir())), 4)
        ppm = make_ppm("x.ppm")
        self.decode(ppm, "-o", "y.ppm")
        self.assertEqual(self.read(ppm), self.read("y.ppm"))

    def test_does_not_write_jpeg(self):
        for name in ("out.jpg", "out.mov", "out.mjpeg"):
            self.assert_sentence(self.decode(self.mjpeg, "-o", name, code=2), "zerorun encode")


class NamedTest(ProgramTest):
    @needs_ffmpeg
    def test_ffmpegs_422_by_ratios(self):
        jpeg = "in.jpg"
        ffmpeg("-f", "lavfi", "-i", "testsrc=s=65x47:d=0.04:r=25", "-pix_fmt", "yuvj422p",
               "-frames:v", 1, jpeg)
        factors = [(c["h"], c["v"]) for c in self.info(jpeg)["jpeg"]["components"]]
        self.assertEqual(factors, [(2, 2), (1, 2), (1, 2)])  # that FFmpeg still writes them so
        self.assertEqual(self.info(jpeg)["jpeg"]["subsampling"], "422")
        self.assertEqual(self.info(jpeg)["pixel_format"], "yuv422p")
        self.decode(jpeg, "-o", "out.y4m")
        data = self.read("out.y4m")
        self.assertIn(b" C422 ", data[:data.index(b"\n")])
        # The samples of FFmpeg's decoder differ by its IDCT alone.
        ffmpeg("-i", jpeg, "-pix_fmt", "yuvj422p", "-f", "rawvideo", "raw")
        raw = self.read("raw")
        samples = data[data.index(b"FRAME\n") + 6:]
        self.assertEqual(len(raw), len(samples))
        self.assertLessEqual(max(abs(a - b) for a, b in zip(raw, samples)), 4)

    def stray(self, name, source):
        data = self.read(source)
        self.write(name, data[:2] + bytes(40) + data[2:])
        return name

    def test_other_bytes_than_ff_after_soi(self):
        self.encode(make_y4m("in.y4m", frames=1), "-o", "in.jpg")
        jpeg = self.stray("stray.jpg", "in.jpg")
        self.assertEqual(self.info(jpeg)["container"], "image")
        want = self.decode("in.jpg", "-o", "-", "--quiet").stdout
        self.assertEqual(self.decode(jpeg, "-o", "-", "--quiet").stdout, want)
        with open(jpeg, "rb") as stream:
            self.assertEqual(self.decode("-", "-o", "-", "--quiet", stdin=stream).stdout, want)
        self.assertIn(b"40 bytes", self.decode(jpeg, "-o", "null:", "-v").stderr)
        deep = self.stray("deep.jpg", HOSTILE / "sof_prec12.jpg")
        self.assertIn(b"12 bits", self.decode(deep, "-o", "o.y4m", code=3).stderr)

    def test_data_behind_the_last_interval(self):
        done = self.decode(HOSTILE / "rst_extra.jpg", "-o", "null:", "-v")
        self.assertIn(b"24 bytes from a restart marker behind the last interval", done.stderr)
        self.assertNotIn(b"lost", done.stderr)

    def test_component_that_was_never_sent(self):
        stream = HOSTILE / "sos_two_of_three.jpg"
        self.assertIn(b"1 of 1 frame is damaged and concealed", self.decode(stream, "-o", "null:").stderr)
        self.decode(stream, "-o", "null:", "--strict", code=3)
