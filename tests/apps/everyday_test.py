# What people do on any day: TIFF files of scanners, files cut short by a full card, comments, mistyped words.
# SPDX-License-Identifier: MIT
import os
import pathlib
import struct
import subprocess
import zlib

from pictures import exif_of, png, segment, with_segments
from support import (BUILT_WITH_OPENCV, ProgramTest, ffmpeg, make_ppm, make_y4m,
                     needs_containers, needs_opencv, probe, y4m_frames)

WIDTH, HEIGHT = 6, 4


def tiff(pages, order="<", thumbnails=0):
    """Uncompressed strips. A page is samples a pixel, bits, photometric interpretation, ExtraSamples or None,
    and its bytes; the last ones are `thumbnails`. The file ends with the place of the next directory."""
    data = bytearray({"<": b"II", ">": b"MM"}[order] + struct.pack(order + "HI", 42, 0))
    link = 4
    for left, (samples, bits, photometric, extra, pixels) in zip(range(len(pages), 0, -1), pages):
        strip = len(data)
        data += pixels + b"\0" * (len(pixels) % 2)
        depths = len(data)
        data += struct.pack(order + f"{samples}H", *[bits] * samples)
        tags = [(254, 4, 1, 1)] * (left <= thumbnails) + [
                (256, 4, 1, WIDTH), (257, 4, 1, HEIGHT), (258, 3, samples, bits if samples == 1 else depths),
                (259, 3, 1, 1), (262, 3, 1, photometric), (273, 4, 1, strip), (277, 3, 1, samples),
                (278, 4, 1, HEIGHT), (279, 4, 1, len(pixels))] + [(338, 3, 1, extra)] * (extra is not None)
        if bits == 32:
            tags.append((339, 3, 1, 3))  # floating point
        struct.pack_into(order + "I", data, link, len(data))
        data += struct.pack(order + "H", len(tags))
        for tag, kind, count, value in tags:
            packed = struct.pack(order + ("H" if kind == 3 and count < 3 else "I"), value).ljust(4, b"\0")
            data += struct.pack(order + "HHI", tag, kind, count) + packed
        link = len(data)
        data += bytes(4)
    return bytes(data)


GREY = bytes(range(10, 10 + WIDTH * HEIGHT))
WIDE = struct.pack(f"<{len(GREY)}H", *(257 * value for value in GREY))
COLOUR = bytes((7 * i) % 251 for i in range(3 * WIDTH * HEIGHT))
HALF = b"".join(COLOUR[i:i + 3] + b"\x80" for i in range(0, len(COLOUR), 3))  # half transparent


@needs_opencv
class TiffTest(ProgramTest):
    def pnm(self, name, *options):
        """The samples of a TIFF file as the program decodes it."""
        self.decode(name, "-o", "out.ppm", "-y", *options)
        return self.read("out.ppm").split(b"\n", 3)[-1][-3 * WIDTH * HEIGHT:]

    def test_samples_are_those_that_are_stored(self):
        inverted = bytes(255 - value for value in GREY)
        grey = b"".join(bytes([value]) * 3 for value in GREY)
        dark = b"".join(bytes([255 - value]) * 3 for value in GREY)
        black = bytes((value * 128 * 2 + 255) // 510 for value in COLOUR)
        for name, page, order, options, wanted in (
                ("unassociated alpha", (4, 8, 2, 2, HALF), "<", (), COLOUR),
                ("unassociated alpha, big-endian", (4, 8, 2, 2, HALF), ">", (), COLOUR),
                ("unassociated alpha over black", (4, 8, 2, 2, HALF), "<", ("--alpha", "black"), black),
                ("0 is white, 8 bits", (1, 8, 0, None, inverted), "<", (), grey),
                ("0 is white, 16 bits", (1, 16, 0, None, WIDE), "<", (), dark),
                ("0 is black, 16 bits", (1, 16, 1, None, WIDE), "<", (), grey)):
            with self.subTest(name=name):
                self.write("in.tif", tiff([page], order))
                self.assertEqual(self.pnm("in.tif", *options), wanted)

    def test_pages_are_read_again(self):
        """The first page is loaded twice: when the input is opened, and as the first frame."""
        self.write("in.tif", tiff([(1, 16, 0, None, WIDE)] * 2))
        self.decode("in.tif", "-o", "%d.pgm")
        for page in "12":
            self.assertEqual(self.read(page + ".pgm")[-len(GREY):], bytes(255 - value for value in GREY))

    def pages_of(self, name, count):
        """The samples of `count` decoded pages; there are no more."""
        self.decode(name, "-o", "page%d.ppm", "-y")
        self.assertFalse(os.path.exists(f"page{count + 1}.ppm"))
        return [self.read(f"page{i + 1}.ppm")[-len(COLOUR):] for i in range(count)]

    def test_pages_are_a_sequence(self):
        """Or one of them is chosen; what is left out is named. Thumbnails are no pages, and a circle has an end."""
        pages = [(3, 8, 2, None, bytes((i + value) % 256 for value in COLOUR)) for i in range(3)]
        stack = self.write("in.tif", tiff(pages))
        self.assertEqual(self.pages_of(stack, 3), [page[-1] for page in pages])
        self.assertEqual(self.pnm(stack, "--page", "2"), pages[1][-1])
        said = self.decode(stack, "-o", "first.ppm").stderr
        self.assertIn(b"2 further pictures", said)
        self.assertIn(b"--page", said)
        self.assert_sentence(self.encode(stack, "-o", "x.jpg", "--page", "4", code=3), "no page 4")
        self.assert_sentence(self.encode(self.dir, "-o", "x.jpg", "--page", "1", code=2), "--page")
        os.remove("page3.ppm")
        small = self.write("small.tif", tiff(pages[:2], thumbnails=1))
        self.assertNotIn(b"further", self.encode(small, "-o", "x.jpg").stderr)
        data = tiff(pages[:2])
        self.assertEqual(len(self.pages_of(self.write("circle.tif", data[:-4] + data[4:8]), 2)), 2)

    def test_through_pipes(self):
        one, three = tiff([(3, 8, 2, None, COLOUR)]), tiff([(3, 8, 2, None, COLOUR)] * 3)
        for data, pages in ((one, 1), (three, 3)):
            self.decode("-", "-o", "in%d.ppm", "-y", input=data)
            os.mkfifo("fifo")
            with subprocess.Popen(["cp", "/dev/stdin", "fifo"], stdin=subprocess.PIPE) as writer:
                writer.stdin.write(data)
                writer.stdin.close()
                self.decode("fifo", "-o", "fifo%d.ppm", "-y")
            os.remove("fifo")
            for name in ("in", "fifo"):
                self.assertEqual(self.read(f"{name}{pages}.ppm")[-len(COLOUR):], COLOUR)
        self.decode("-", "-o", "two.ppm", "--page", "2", input=three)

    def test_what_is_not_supported_is_not_called_damaged(self):
        wide = png(65536, 1, bytes(65537), colour=0)
        floats = tiff([(1, 32, 1, None, bytes(4 * WIDTH * HEIGHT))])
        for name, data, word in (("wide.png", wide, "1x1 to 65535x65535"), ("f.tif", floats, "not known")):
            self.write(name, data)
            done = self.encode(name, "-o", "x.jpg", code=3)
            self.assert_sentence(done, word)
            self.assertNotIn(b"damaged", done.stderr)

    def test_directories_that_lead_to_themselves(self):
        """65,535 entries, each with 16 places of the directory that they are in: who follows them all never ends."""
        entries = struct.pack("<HHII", 330, 4, 16, 10 + 12 * 65535) * 65535
        data = b"II*\0\x08\0\0\0\xff\xff" + entries + struct.pack("<I", 8) * 16
        self.write("a.tif", data)
        self.assert_sentence(self.encode("a.tif", "-o", "x.jpg", code=3), "a.tif")


class CutShortTest(ProgramTest):
    @needs_containers
    def test_movies(self):
        source = make_y4m("in.y4m", frames=12)
        ffmpeg("-i", source, "-c:v", "mjpeg", "-movflags", "faststart", "whole.mov")
        ffmpeg("-i", source, "-c:v", "mjpeg", "-movflags", "frag_keyframe+empty_moov", "parts.mp4")
        for name in ("whole.mov", "parts.mp4"):
            data = self.read(name)
            self.assertNotIn("cut short", self.zerorun("copy", name, "-o", "o.mkv", "-y").stderr.decode())
            # In the middle of a frame, and in the header of one: a packet without a scan is none.
            begins = [at for at in range(len(data)) if data.startswith(b"\xff\xd8\xff", at)]
            for cut in (begins[7] - 300, begins[7] + 100):
                path = pathlib.Path("cut_" + name)
                path.write_bytes(data[:cut])
                said = self.zerorun("copy", path, "-o", "o.mkv", "-y").stderr.decode()
                self.assertIn("bytes are missing at its end", said, (name, cut))
                self.assertEqual(probe("o.mkv")["streams"][0]["nb_read_frames"], "7")
                self.decode(path, "-o", "o.y4m", "-y")
                self.assertEqual(len(y4m_frames(self.read("o.y4m"))), 7)
                self.assertIn(b"missing", self.zerorun("verify", path, code=3).stderr)

    def test_pictures_and_streams(self):
        source = make_y4m("in.y4m", frames=3)
        for name in ("one.jpg", "all.mjpeg"):
            self.encode(source, "-o", name, "--frames", "1" if name == "one.jpg" else "3")
            data = self.read(name)
            for end, is_cut in ((len(data), False), (len(data) - 100, True)):
                self.write("in_" + name, data[:end])
                said = self.zerorun("copy", "in_" + name, "-o", "out_" + name, "-y").stderr
                self.assertEqual(b"may be cut short" in said, is_cut, said)
        self.decode("all.mjpeg", "-o", "p%d.ppm")
        self.encode("p%d.ppm", "-o", "p%d.jpg")
        os.truncate("p2.jpg", os.path.getsize("p2.jpg") - 100)
        said = self.zerorun("copy", "p%d.jpg", "-o", "q%d.jpg").stderr
        self.assertIn(b"1 image has no end (EOI) and may be cut short", said)


def png_file(path, *chunks):
    """A PNG of WIDTH x HEIGHT with chunks before its samples."""
    rows = b"".join(b"\0" + COLOUR[3 * WIDTH * y:3 * WIDTH * (y + 1)] for y in range(HEIGHT))
    pathlib.Path(path).write_bytes(png(WIDTH, HEIGHT, rows, chunks))
    return path


def png_chunks(path):
    data, found, at = pathlib.Path(path).read_bytes(), [], 8
    while at < len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        body = data[at + 8:at + 8 + size]
        assert struct.unpack_from(">I", data, at + 8 + size)[0] == zlib.crc32(kind + body)
        found.append((kind, body))
        at += size + 12
    return found


def tiff_tags(path):
    """Numbers of the first directory: SHORT, LONG, RATIONAL."""
    data = pathlib.Path(path).read_bytes()
    order = "<" if data[:2] == b"II" else ">"
    at = struct.unpack_from(order + "I", data, 4)[0]
    found = {}
    for i in range(struct.unpack_from(order + "H", data, at)[0]):
        tag, kind, _, value = struct.unpack_from(order + "HHII", data, at + 2 + 12 * i)
        if kind == 3:
            value = struct.unpack_from(order + "H", data, at + 2 + 12 * i + 8)[0]
        if kind == 5:
            top, bottom = struct.unpack_from(order + "II", data, value)
            value = top / bottom
        found[tag] = value
    return found


def jfif(path):
    """Unit, X and Y of JFIF's APP0."""
    return struct.unpack_from(">BHH", pathlib.Path(path).read_bytes(), 13)


class DensityTest(ProgramTest):
    def jpeg(self, name, unit, x, y):
        self.encode(make_ppm("in.ppm"), "-o", name, "-y")
        data = bytearray(self.read(name))
        self.assertEqual(data[6:11], b"JFIF\0")
        struct.pack_into(">BHH", data, 13, unit, x, y)
        self.write(name, data)
        return name

    def test_jpeg_to_jpeg(self):
        for density in ((1, 300, 300), (2, 118, 118), (1, 204, 98), (0, 1, 1), (0, 4, 3)):
            source = self.jpeg("in.jpg", *density)
            for command in ("encode", "copy"):
                self.zerorun(command, source, "-o", "out.jpg", "-y")
                self.assertEqual(jfif("out.jpg"), density, command)
        source = self.jpeg("in.jpg", 1, 300, 300)
        self.encode(source, "-o", "out.jpg", "-y", "--metadata", "none")
        self.assertEqual(jfif("out.jpg"), (0, 1, 1))
        info = self.info(source)
        self.assertEqual((info["sample_aspect"], info["jpeg"]["pixel_aspect"]), ("1:1", "1:1"))
        self.assertEqual(info["density"], {"x": 300, "y": 300, "unit": "inch"})
        self.assertEqual(self.info(self.jpeg("fax.jpg", 1, 204, 98))["sample_aspect"], "49:102")
        self.assertIsNone(self.info(self.jpeg("none.jpg", 0, 1, 1))["density"])

    @needs_containers
    def test_video(self):
        """Its streams keep it, and where it says the shape of pixels, the shape alone."""
        for density, want in (((1, 300, 300), (1, 300, 300)), ((1, 204, 98), (0, 49, 102))):
            self.encode(self.jpeg("in.jpg", *density), "-o", "out.mov", "-y", "--fps", "25")
            self.zerorun("copy", "out.mov", "-o", "out.jpg", "-y")
            self.assertEqual(jfif("out.jpg"), want)

    @needs_opencv
    def test_pictures(self):
        """By PNG's pHYs and TIFF's tags; what has no place for it says so in one line."""
        for density, phys, tags in (((1, 300, 300), (11811, 11811, 1), (300, 300, 2)),
                                    ((2, 100, 50), (10000, 5000, 1), (100, 50, 3)), ((1, 72, 72), (2835, 2835, 1), (72, 72, 2))):
            source = self.jpeg("in.jpg", *density)
            for name in ("out.png", "out.tif"):
                self.assertNotIn(b"density", self.decode(source, "-o", name, "-y").stderr)
            chunks = dict(png_chunks("out.png"))
            self.assertEqual(struct.unpack(">IIB", chunks[b"pHYs"]), phys)
            found = tiff_tags("out.tif")
            self.assertEqual((found[282], found[283], found[296]), tags)
            for name in ("out.png", "out.tif"):
                self.encode(name, "-o", "back.jpg", "-y")
                unit, x, y = jfif("back.jpg")
                scale = {1: 1, 2: 2.54}
                self.assertAlmostEqual(x * scale[unit], density[1] * scale[density[0]], delta=0.01)
                self.assertAlmostEqual(y * scale[unit], density[2] * scale[density[0]], delta=0.01)
        for name in ("out.ppm", "out.webp", "out.bmp", "out.y4m"):
            said = self.decode(source, "-o", name).stderr
            self.assertEqual(said.count(b"no place for the density of 72 dpi"), 1, said)
        self.decode(source, "-o", "bare.png", "--metadata", "none")
        self.assertNotIn(b"pHYs", dict(png_chunks("bare.png")))
        plain = self.jpeg("plain.jpg", 0, 1, 1)
        self.assertNotIn(b"zerorun: ", self.decode(plain, "-o", "plain.ppm").stderr)
        self.decode(plain, "-o", "plain.png")
        self.assertEqual([kind for kind, _ in png_chunks("plain.png") if kind != b"IDAT"], [b"IHDR", b"IEND"])

    @needs_opencv
    def test_turned(self):
        """A picture that is turned by 90 degrees has the two numbers the other way round."""
        source = self.jpeg("in.jpg", 1, 300, 150)
        data = self.read(source)
        self.write(source, with_segments(data, segment(0xE1, b"Exif\0\0" + exif_of(6)), at=20))
        self.decode(source, "-o", "up.png")
        self.assertEqual(struct.unpack(">IIB", dict(png_chunks("up.png"))[b"pHYs"]), (5906, 11811, 1))

    def test_what_jfif_cannot_hold(self):
        """A microscope's density has more than 16 bits."""
        if not BUILT_WITH_OPENCV:
            self.skipTest("this build reads no PNG")
        png_file("in.png", (b"pHYs", struct.pack(">IIB", 10 ** 7, 10 ** 7, 1)))
        said = self.encode("in.png", "-o", "out.jpg").stderr
        self.assertIn(b"no place for the density of 254000 dpi", said)
        self.assertEqual(jfif("out.jpg"), (0, 1, 1))


@needs_opencv
class PngChunksTest(ProgramTest):
    def comments(self, path):
        return [segment["text"] for segment in self.info(path)["jpeg"]["segments"] if segment["marker"] == "COM"]

    def test_texts(self):
        """They become comments, and those of PNG stay as they are; packed ones are named."""
        texts = ((b"tEXt", b"Comment\0by the river"), (b"tEXt", b"Title\0Otters"),
                 (b"iTXt", b"Author\0\0\0de\0Autor\0Someone"))
        png_file("in.png", *texts)
        self.assertNotIn(b"no place", self.encode("in.png", "-o", "out.jpg").stderr)
        self.assertEqual(self.comments("out.jpg"), ["by the river", "Title: Otters", "Author: Someone"])
        self.assertNotIn(b"no place", self.decode("in.png", "-o", "out.png").stderr)
        self.assertEqual([chunk for chunk in png_chunks("out.png") if chunk[0] in (b"tEXt", b"iTXt")], list(texts))
        said = self.decode("in.png", "-o", "out.ppm").stderr
        self.assertIn(b"no place for the texts 'Comment', 'Title' and 'Author'", said)
        self.encode("in.png", "-o", "bare.jpg", "--metadata", "none")
        self.assertEqual(self.comments("bare.jpg"), [])
        png_file("packed.png", (b"zTXt", b"Title\0\0" + zlib.compress(b"Otters")))
        said = self.encode("packed.png", "-o", "packed.jpg").stderr
        self.assertIn(b"no place for the text 'Title'", said)
        self.assertNotIn(b"Title", self.decode("packed.png", "-o", "again.png").stderr)
        self.assertIn(b"zTXt", dict(png_chunks("again.png")))

    def test_colours(self):
        """cICP is what videos have; gamma and primaries that no profile tells are named."""
        for transfer, word, name in ((16, "smpte2084", b"PQ"), (18, "arib-std-b67", b"HLG")):
            png_file("in.png", (b"cICP", bytes([9, transfer, 0, 1])))
            info = self.info("in.png")
            self.assertEqual((info["primaries"], info["transfer"], info["matrix"], info["range"]), ("bt2020", word, "gbr", "full"))
            said = self.encode("in.png", "-o", "out.jpg", "-y").stderr
            self.assertIn(b"high dynamic range (" + name + b")", said)
            self.assertNotIn(b"--tonemap", said)  # which is for video
            self.assertIn(b"no place for the colour primaries bt2020 and the colour transfer", said)
            self.assertNotIn(b"no place", self.decode("in.png", "-o", "out.png", "-y").stderr)
            self.assertEqual(dict(png_chunks("out.png"))[b"cICP"], bytes([9, transfer, 0, 1]))
        gamma, primaries = struct.pack(">I", 100000), struct.pack(">8I", 31270, 32900, 68000, 32000, 26500, 69000, 15000, 6000)
        srgb = struct.pack(">8I", 31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000)
        for chunks, is_named in ((((b"gAMA", gamma),), True), (((b"cHRM", primaries),), True),
                                 (((b"gAMA", struct.pack(">I", 45455)), (b"cHRM", srgb)), False),
                                 (((b"gAMA", gamma), (b"sRGB", b"\0")), False)):
            png_file("in.png", *chunks)
            said = self.encode("in.png", "-o", "out.jpg", "-y").stderr
            self.assertEqual(b"no place for the gamma and the primaries" in said, is_named, (chunks, said))
            self.assertNotIn(b"no place", self.decode("in.png", "-o", "out.png", "-y").stderr)
            found = dict(png_chunks("out.png"))
            self.assertTrue(all(found[kind] == data for kind, data in chunks))

    @needs_containers
    def test_colours_in_a_video(self):
        png_file("in.png", (b"cICP", bytes([9, 16, 0, 1])))
        self.encode("in.png", "-o", "out.mov", "--fps", "25")
        stream = probe("out.mov")["streams"][0]
        self.assertEqual((stream["color_primaries"], stream["color_transfer"], stream["color_space"]),
                         ("bt2020", "smpte2084", "bt470bg"))


class NotesTest(ProgramTest):
    def test_comments_and_iptc(self):
        iptc = b"Photoshop 3.0\x008BIM\x04\x04\0\0\0\0\0\x0a\x1c\x02\x19\0\x05otter"
        jpeg = self.read(self.encode(make_ppm("in.ppm"), "-o", "in.jpg") and "in.jpg")
        self.write("in.jpg", with_segments(jpeg, segment(0xFE, b"by the river"), segment(0xED, iptc),
                                           segment(0xFE, b"CS=ITU601"), segment(0xFE, b"Lavc59.37.100"), at=20))
        for options, kept in (((), True), (("--metadata", "none"), False)):
            self.encode("in.jpg", "-o", "out.jpg", "-y", *options)
            data = self.read("out.jpg")
            for text in (b"by the river", iptc):
                self.assertEqual(data.count(text), kept, text)
            self.assertNotIn(b"CS=ITU601", data)
            self.assertNotIn(b"Lavc", data)
            name = "out.png" if BUILT_WITH_OPENCV else "out.ppm"
            said = self.decode("in.jpg", "-o", name, "-y", *options).stderr
            self.assertEqual(b"comments and IPTC data" in said, kept, said)

    @needs_containers
    def test_gif(self):
        """Only one that uses transparency has alpha to lose."""
        make_ppm("in.ppm")
        ffmpeg("-i", "in.ppm", "opaque.gif")
        ffmpeg("-i", "in.ppm", "-vf", "format=rgba,geq=r=9:g=9:b=9:a=255*gt(X\\,9),"
               "split[a][b];[a]palettegen[p];[b][p]paletteuse", "clear.gif")
        for name, is_named in (("opaque.gif", False), ("clear.gif", True)):
            said = self.encode(name, "-o", "out.jpg", "-y").stderr
            self.assertEqual(b"alpha" in said, is_named, said)

    def test_outputs_of_no_known_kind(self):
        source = make_ppm("in.ppm")
        for command in ("encode", "decode"):
            for name in ("x.gif", "x", "x.xyz", "x.pbm"):
                self.assert_sentence(self.zerorun(command, source, "-o", name, code=2), f"{name}: {command} writes .")

    @needs_containers
    def test_decode_advises_what_it_writes(self):
        """Or the command that writes it."""
        ffmpeg("-f", "lavfi", "-i", "testsrc=s=64x48:d=0.2:r=25", "-vf", "select=not(eq(n\\,2))", "-c:v", "mjpeg",
               "-fps_mode", "passthrough", "vfr.mov")
        said = self.decode("vfr.mov", "-o", "out.y4m", code=4).stderr.decode()
        self.assertIn("or `zerorun encode` to .mov, .mkv or .mp4", said)
        png_file("in.png", (b"cICP", bytes([9, 16, 0, 1])))
        said = self.decode("in.png", "-o", "out.ppm").stderr.decode()
        self.assertIn("(`zerorun encode` to .mov, .mp4 and .mkv keeps it", said)
        png_file("in.png", (b"tEXt", b"Title\0Otters"))
        self.assertIn(b"(.png keeps it)", self.decode("in.png", "-o", "out.ppm", "-y").stderr)


class WordsTest(ProgramTest):
    def test_mistyped_words(self):
        for words, said, not_said in (
                (["encode", "--qualty", "80", "a.ppm", "-o", "b.jpg"], "did you mean --quality?", "INPUT"),
                (["encode", "a.ppm", "-o", "b.jpg", "--huffmann=optimal"], "did you mean --huffman?", "optimal"),
                (["encode", "a.ppm", "-o", "b.jpg", "--qual", "80"], "did you mean --quality?", "INPUT"),
                (["info", "--jsn", "a.ppm"], "did you mean --json?", "expected"),
                (["decode", "a.ppm", "-o", "b.png", "--zzz"], "there is no option '--zzz'", "did you mean"),
                (["encod", "a.ppm"], "did you mean encode?", "decode"),
                (["convert", "a.ppm"], "there is no command 'convert'", "did you mean"),
                (["--verbose"], "there is no option '--verbose'", "did you mean")):
            with self.subTest(words=words):
                done = self.zerorun(*words, code=2)
                self.assert_sentence(done, said)
                self.assertNotIn(not_said, done.stderr.decode())

    @needs_containers
    def test_folders_have_what_patterns_have(self):
        (self.dir / "in").mkdir()
        for suffix in ("gif", "pam", "pcx", "png"):
            ffmpeg("-i", make_ppm("one.ppm"), f"in/{suffix}.{suffix}")
        self.encode("in", "-o", "out/")
        self.assertEqual(sorted(os.listdir("out")), ["gif.jpg", "pam.jpg", "pcx.jpg", "png.jpg"])

    @needs_containers
    def test_advice_names_no_container_that_loses_it_too(self):
        ffmpeg("-i", make_y4m("in.y4m"), "-c:v", "mjpeg", "plain.mov")
        data = bytearray(self.read("plain.mov"))
        at = data.index(b"tkhd") + 44
        data[at:at + 36] = struct.pack(">9i", 0, 65536, 0, -65536, 0, 0, 0, 0, 1 << 30)
        self.write("turned.mov", data)
        said = self.decode("turned.mov", "-o", "o.y4m").stderr.decode()
        self.assertIn("rotation", said)
        self.assertIn(".mov and .mp4", said)
        self.assertNotIn(".mkv", said)
