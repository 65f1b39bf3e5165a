# What goes in comes out, or is named: every fact of an input is in the output, or a line says that it is not.
# SPDX-License-Identifier: MIT
import itertools
import json
import os
import pathlib
import re
import shlex
import shutil
import struct
import subprocess

from support import (BUILT_WITH_FFMPEG, BUILT_WITH_OPENCV, ProgramTest, ffmpeg, make_ppm, make_y4m, needs_containers,
                     needs_djpeg, needs_opencv, probe, stream_sums, video_stream)

SRT = "1\n00:00:00,000 --> 00:00:00,400\nHello\n\n2\n00:00:00,400 --> 00:00:00,800\nWorld\n"
CHAPTERS = (";FFMETADATA1\ntitle=A film\ncomment=For all\ncreation_time=2020-01-02T03:04:05.000000Z\n"
            "com.apple.quicktime.make=Maker\n"
            "[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=400\ntitle=one\n"
            "[CHAPTER]\nTIMEBASE=1/1000\nSTART=400\nEND=800\ntitle=two\n")


def facts_in(path):
    """The facts that a file has by FFmpeg, which the program's own table knows nothing of."""
    seen = probe(path, "-show_chapters")
    video = next(s for s in seen["streams"] if s["codec_type"] == "video")
    others = [s for s in seen["streams"] if s is not video]
    kinds = [s["codec_type"] for s in others]
    tags = {key.lower(): value for key, value in seen["format"].get("tags", {}).items()}
    handlers = [s.get("tags", {}).get("handler_name") for s in seen["streams"]]
    titles = [s.get("tags", {}).get("title") for s in seen["streams"]]
    audio = next((s for s in others if s["codec_type"] == "audio"), {})
    facts = set()
    if "audio" in kinds:
        facts.add("sound")
    if "video" in kinds:
        facts.add("further_video")
    if "subtitle" in kinds:
        facts.add("subtitles")
    if "attachment" in kinds:
        facts.add("attachments")
    if len(seen["chapters"]) == 2:
        facts.add("chapters")
    if "Main view" in handlers + titles:
        facts.add("titles")
    if audio.get("tags", {}).get("language") in ("ger", "deu"):
        facts.add("languages")
    for key in ("title", "comment", "creation_time", "com.apple.quicktime.make"):
        if key in tags:
            facts.add("tags " + key)
    if video.get("color_transfer") == "arib-std-b67":
        facts.add("transfer")
    if video.get("color_primaries") == "bt2020":
        facts.add("primaries")
    return facts


class LedgerTest(ProgramTest):
    FILM = b""

    def film(self):
        """Motion JPEG with all that Matroska holds, made once."""
        if LedgerTest.FILM:
            return self.write("film.mkv", LedgerTest.FILM)
        self.write("meta.txt", CHAPTERS)
        self.write("words.srt", SRT)
        self.write("notes.txt", "a note")
        film = "film.mkv"
        ffmpeg("-f", "lavfi", "-i", "testsrc=s=64x48:d=0.8:r=25", "-f", "lavfi", "-i", "testsrc2=s=32x32:d=0.8:r=25",
               "-f", "lavfi", "-i", "sine=d=0.8", "-i", "words.srt", "-i", "meta.txt", "-map", "0:v", "-map", "1:v",
               "-map", "2:a", "-map", "3:s", "-map_metadata", "4", "-map_chapters", "4", "-attach", "notes.txt",
               "-metadata:s:t", "mimetype=text/plain", "-c:v", "mjpeg", "-pix_fmt", "yuvj420p", "-c:a", "pcm_s16le",
               "-c:s", "srt", "-vf",
               "format=yuvj420p,setparams=color_primaries=bt2020:color_trc=arib-std-b67:colorspace=bt470bg",
               "-color_primaries", "bt2020", "-color_trc", "arib-std-b67", "-colorspace", "bt470bg", "-metadata:s:v:0",
               "title=Main view", "-metadata:s:a:0", "language=ger", "-y", film)
        self.assertEqual(len(facts_in(film)), 13, facts_in(film))
        LedgerTest.FILM = self.read(film)
        return film

    def ledger(self, done):
        """The ledger of the last event of --progress json."""
        lines = [json.loads(line) for line in done.stderr.decode().splitlines() if line.startswith("{")]
        return lines[-1]["summary"]["ledger"]

    @needs_containers
    def test_every_fact_in_every_output(self):
        """The ledger and FFmpeg agree about each fact; what is lost stands in one line."""
        film = self.film()
        before = facts_in(film)
        containers = ("mkv", "mov", "mp4", "avi")
        outputs = {"copy": (*containers, "mjpeg", "%d.jpg"), "encode": (*containers, "mjpeg", "%d.jpg"),
                   "decode": ("y4m", "yuv", "%d.png", "%d.ppm")}
        for command, kinds in outputs.items():
            for kind in kinds:
                with self.subTest(f"{command} to {kind}"):
                    out = f"{command}.{kind}"
                    device = () if command == "copy" else ("--device", "cpu")
                    done = self.zerorun(command, film, "-o", out, "--progress", "json", *device)
                    after, lines = facts_in(out) if kind in containers else set(), done.stderr.decode()
                    ledger = self.ledger(done)
                    for fact in before:
                        word, _, key = fact.partition(" ")
                        fates = {e["fate"] for e in ledger
                                 if e["fact"] == word and key in e["what"].lower()}
                        if fact == "languages" and "sound" not in after:
                            continue  # it goes with its stream, whose line has it
                        self.assertTrue(fates, f"{fact} is not in the ledger")
                        self.assertEqual("left out" not in fates, fact in after, f"{fact}: {fates}, {after}")
                        if fact not in after:
                            line = next(text for text in lines.splitlines() if "no place for" in text)
                            what = next(e["what"] for e in ledger
                                        if e["fact"] == word and e["fate"] == "left out")
                            self.assertTrue(what in line or (key and key in line.lower()), f"{fact}: {line}")

    @needs_containers
    def test_default_flags(self):
        """Matroska keeps which streams players choose."""
        film, other = self.film(), "other.mkv"
        ffmpeg("-i", film, "-map", "0:v:0", "-map", "0:a", "-c", "copy", "-disposition:v:0", "0", "-disposition:a:0",
               "default", other)
        for name, want in ((film, [1, 0]), (other, [0, 1])):
            self.zerorun("copy", name, "-o", "out.mkv", "-y")
            streams = probe("out.mkv")["streams"]
            self.assertEqual([s["disposition"]["default"] for s in streams if s["codec_type"] in ("video", "audio")], want)

    @needs_containers
    def test_cover_pictures(self):
        """They are named, and never taken for the video; what has nothing else has no video."""
        ffmpeg("-f", "lavfi", "-i", "testsrc2=s=96x96:d=0.04:r=25", "-frames:v", "1", "cover.jpg")
        ffmpeg("-f", "lavfi", "-i", "testsrc=s=64x48:d=0.2:r=25", "-c:v", "mjpeg", "-pix_fmt", "yuvj420p", "plain.mov")
        ffmpeg("-i", "plain.mov", "-i", "cover.jpg", "-map", "1", "-map", "0", "-c", "copy", "-disposition:v:0",
               "attached_pic", "cover.mp4")
        ffmpeg("-i", "plain.mov", "-c", "copy", "-attach", "cover.jpg", "-metadata:s:t", "mimetype=image/jpeg",
               "-metadata:s:t", "filename=cover.jpg", "cover.mkv")
        for name, command in itertools.product(("cover.mp4", "cover.mkv"), ("copy", "encode")):
            for kind in ("mov", "mkv", "avi", "mjpeg"):
                out = "out." + kind
                done = self.zerorun(command, name, "-o", out, "-y")
                self.assertIn(b"the cover picture (mjpeg)", done.stderr, (name, command, kind))
                streams = [s for s in probe(out)["streams"] if s["codec_type"] == "video"]
                self.assertEqual([(s["width"], s["height"]) for s in streams], [(64, 48)])
            self.assertNotIn(b"cover", self.zerorun(command, name, "-o", out, "-y", "--streams", "none").stderr)
        self.assertEqual(self.info("cover.mkv")["width"], 64)
        for kind, codec in (("m4a", "aac"), ("mka", "pcm_s16le")):
            cover = ("-attach", "cover.jpg", "-metadata:s:t", "mimetype=image/jpeg")
            if kind == "m4a":
                cover = ("-i", "cover.jpg", "-map", "0", "-map", "1", "-c:v", "copy", "-disposition:v:0",
                         "attached_pic", "-f", "mp4")
            ffmpeg("-f", "lavfi", "-i", "sine=d=0.2", *cover, "-c:a", codec, "song." + kind)
            for command in ("copy", "encode"):
                self.assert_sentence(self.zerorun(command, "song." + kind, "-o", "x.jpg", code=3), "no video")

    @needs_containers
    def test_sound_beside_subtitles_is_untouched(self):
        """Subtitles of MOV are named: FFmpeg's own samples between them would move those of the sound."""
        self.write("words.srt", SRT.replace("00,000", "00,200"))
        film = "film.mov"
        ffmpeg("-f", "lavfi", "-i", "testsrc=s=64x48:d=0.8:r=25", "-f", "lavfi", "-i", "sine=d=0.8", "-i", "words.srt",
               "-map", "0", "-map", "1", "-map", "2", "-c:v", "mjpeg", "-pix_fmt", "yuvj420p", "-c:a", "aac", "-c:s",
               "mov_text", film)
        pictures, sound = (stream_sums(film, stream, "-c", "copy") for stream in "va")
        for kind in ("mov", "mp4", "mkv"):
            out = "copy." + kind
            done = self.zerorun("copy", film, "-o", out)
            self.assertEqual(stream_sums(out, "v", "-c", "copy"), pictures, kind)
            kept = stream_sums(out, "a", "-c", "copy")
            self.assertEqual(kept, [packet for packet in sound if packet in kept], kind)
            self.assertGreater(len(kept), 30, kind)
            self.assertIn(b"the subtitles (mov_text", done.stderr)

    @needs_containers
    def test_advice_works(self):
        """The container that the line names keeps what is lost, and the options silence it."""
        film = self.film()
        done = self.zerorun("copy", film, "-o", "a.avi", "--streams", "none", "--metadata", "none")
        self.assertIn(b"primaries", done.stderr)
        self.assertNotIn(b"subtitles", done.stderr)
        self.assertNotIn(b"chapters", done.stderr)
        listed = self.zerorun("copy", film, "-o", "b.avi", "--streams", "none", "-v").stderr
        self.assertIn(b"the subtitles (subrip): left out (--streams)", listed)
        self.assertIn(b"no place for", self.zerorun("copy", film, "-o", "c.avi", "--losses", "stop", code=4).stderr)
        self.assertFalse(pathlib.Path("c.avi").exists())

    @needs_containers
    def test_range_moves_chapters_and_subtitles(self):
        film = self.film()
        self.zerorun("copy", film, "-o", "part.mov", "--frames", "5:15")
        chapters = [(float(c["start_time"]), float(c["end_time"])) for c in
                    probe("part.mov", "-show_chapters")["chapters"]]
        self.assertEqual(chapters, [(0.0, 0.2), (0.2, 0.4)])
        self.zerorun("copy", film, "-o", "part.mkv", "--frames", "10:20")
        chapters = probe("part.mkv", "-show_chapters")["chapters"]
        self.assertEqual([c["tags"]["title"] for c in chapters], ["two"])

    @needs_containers
    def test_chapters_leave_a_plain_movie(self):
        """Titles of chapters lie between the media and the index, inside of the media data."""
        film = self.film()
        for container in ("mov", "mp4"):
            out = "plain." + container
            self.zerorun("copy", film, "-o", out)
            self.assertEqual(len(probe(out, "-show_chapters")["chapters"]), 2)
            data = self.read(out)
            boxes, at = [], 0
            while at < len(data):
                size = int.from_bytes(data[at:at + 4], "big")
                self.assertGreaterEqual(size, 8, f"{container}: a box at {at}")
                boxes.append(data[at + 4:at + 8])
                at += size
            self.assertEqual(at, len(data))
            self.assertNotIn(b"moof", boxes)
            self.assertEqual(boxes[-1], b"moov")

    @needs_containers
    def test_delay_of_the_sound(self):
        """AVI has no delay: silence is in front. Compressed sound loses it with a line."""
        late = "late.mkv"
        ffmpeg("-f", "lavfi", "-i", "testsrc=s=64x48:d=1:r=25", "-itsoffset", "0.5", "-f", "lavfi", "-i",
               "sine=d=0.5", "-map", "0", "-map", "1", "-c:v", "mjpeg", "-pix_fmt", "yuvj420p",
               "-c:a", "pcm_s16le", late)
        out = "late.avi"
        self.zerorun("copy", late, "-o", out)
        raw = ffmpeg("-i", out, "-map", "0:a", "-f", "s16le", "-").stdout
        rate = int(next(s for s in probe(out)["streams"] if s["codec_type"] == "audio")["sample_rate"])
        silent = next(i for i in range(0, len(raw), 2) if raw[i:i + 2] != b"\0\0") // 2
        self.assertAlmostEqual(silent / rate, 0.5, delta=0.01)
        ffmpeg("-i", late, "-c:v", "copy", "-c:a", "mp3", "mp3.mkv")
        self.assertIn(b"the delay of the sound", self.zerorun("copy", "mp3.mkv", "-o", "mp3.avi").stderr)

    @needs_containers
    def test_a_pipe_has_no_other_streams(self):
        film = self.read(self.film())
        done = self.zerorun("copy", "-", "-o", "piped.mkv", input=film)
        self.assertIn(b"a pipe is read once", done.stderr)
        self.assertIn(b"the sound (pcm_s16le", done.stderr)

    @needs_containers
    def test_info_declares(self):
        facts = json.loads(self.zerorun("info", "--json", self.film()).stdout)["facts"]
        words = {fact["fact"] for fact in facts}
        self.assertLessEqual({"further_video", "sound", "subtitles", "attachments", "chapters", "tags",
                              "titles", "languages", "transfer", "primaries"}, words)

    @needs_containers
    def test_colour_of_encode(self):
        ffmpeg("-f", "lavfi", "-i", "testsrc=s=64x48:d=0.2:r=25", "-c:v", "rawvideo", "-pix_fmt", "uyvy422", "-vf",
               "format=uyvy422,setparams=color_primaries=bt2020:color_trc=smpte2084:colorspace=bt2020nc:range=tv",
               "-color_primaries", "bt2020", "-color_trc", "smpte2084", "-colorspace", "bt2020nc",
               "-color_range", "tv", "hdr.mov")
        self.assertIn(b"high dynamic range (PQ)", self.encode("hdr.mov", "-o", "out.mov").stderr)
        video = video_stream("out.mov")
        self.assertEqual((video["color_primaries"], video["color_transfer"], video["color_space"]),
                         ("bt2020", "smpte2084", "bt470bg"))

    @needs_containers
    def test_pipelines_of_gstreamer(self):
        """What GStreamer's own elements bring from file to file, decoding and coding between them keeps."""
        if not shutil.which("gst-launch-1.0") or "ZERORUN_GST_PLUGIN" not in os.environ:
            self.skipTest("gst-launch-1.0 or zerorun's elements are missing")
        environment = {**os.environ, "GST_PLUGIN_PATH": os.environ["ZERORUN_GST_PLUGIN"], "GST_REGISTRY": "registry"}
        facts = []
        for name, between in (("copied.mkv", ()), ("coded.mkv", ("zerorundec", "!", "zerorunenc", "!"))):
            subprocess.run(["gst-launch-1.0", "-q", "filesrc", "location=" + self.film(), "!", "matroskademux",
                            "name=d", "d.video_0", "!", *between, "matroskamux", "!", "filesink", "location=" + name],
                           check=True, capture_output=True, timeout=120, env=environment)
            facts.append(facts_in(name))
        self.assertLessEqual({"transfer", "primaries", "tags title"}, facts[0])
        self.assertEqual(facts[0], facts[1])


class KindTest(ProgramTest):
    """Each picture has its own kind."""

    def mixed(self):
        for i, tag in enumerate(("mono", "420jpeg", "mono", "444"), 1):
            self.encode(make_y4m("one.y4m", frames=1, tag=tag), "-o", f"in{i}.jpg")
        return "in*.jpg"

    def components(self, path):
        """Of a binary PNM: P5 is grey."""
        return {b"P5": 1, b"P6": 3}[self.read(path)[:2]]

    def test_pictures_keep_theirs(self):
        """As a sequence, as a stream, and with colour first."""
        source = self.mixed()
        self.write("in.mjpeg", b"".join(self.read(f"in{i}.jpg") for i in range(1, 5)))
        self.write("list.txt", "\n".join(f"in{i}.jpg" for i in (2, 1, 4, 3)))
        for name, kinds in ((source, [1, 3, 1, 3]), ("in.mjpeg", [1, 3, 1, 3]), ("@list.txt", [3, 1, 3, 1])):
            self.decode(name, "-o", "out%d.pnm", "-y")
            self.assertEqual([self.components(f"out{i}.pnm") for i in range(1, 5)], kinds)
        for kind, components in (("pgm", 1), ("ppm", 3)):
            self.decode(source, "-o", "g%d." + kind)
            self.assertEqual([self.components(f"g{i}.{kind}") for i in range(1, 5)], [components] * 4)

    def test_shards_equal_one_run(self):
        """Each shard begins with another kind. Pictures keep theirs; a stream has that of its first frame."""
        source = self.mixed()
        self.decode(source, "-o", "whole%d.pnm")
        for shard in ("0/4", "1/4", "2/4", "3/4"):
            self.decode(source, "-o", "out%d.pnm", "--shard", shard)
        self.zerorun("concat", "out%d.pnm")
        for i in range(1, 5):
            self.assertEqual(self.read(f"out{i}.pnm"), self.read(f"whole{i}.pnm"), i)
        self.stream_equals_one_run(source)

    def stream_equals_one_run(self, source):
        """In one shard, in shards of a frame each, in shards that lie within each other, and from the second frame on."""
        for i, (range_, parts) in enumerate(((None, ["0/1"]), (None, ["0/4", "1/4", "2/4", "3/4"]), (None, ["0:4:2", "1:4:2"]),
                                             ("1:4", ["0/3", "1/3", "2/3"]))):
            of = ("--frames", range_) if range_ else ()
            self.decode(source, "-o", f"one{i}.y4m", *of, "-y")
            for part in parts:
                self.decode(source, "-o", f"out{i}.y4m", *of, "--range" if ":" in part else "--shard", part, "-y")
            self.zerorun("concat", f"out{i}.y4m", "-y", "--delete-shards")
            self.assertEqual(self.read(f"out{i}.y4m"), self.read(f"one{i}.y4m"), (source, range_, parts))

    def test_shards_of_one_stream(self):
        """Motion JPEG and pictures of other formats, with grey first and with colour first."""
        self.mixed()
        for order in ((1, 2, 3, 4), (2, 1, 4, 3)):
            self.write("in.mjpeg", b"".join(self.read(f"in{i}.jpg") for i in order))
            self.stream_equals_one_run("in.mjpeg")
            if BUILT_WITH_OPENCV:
                self.decode("in.mjpeg", "-o", "p%d.png", "-y")
                self.stream_equals_one_run("p%d.png")

    def test_one_stream_names_the_change(self):
        done = self.decode(self.mixed(), "-o", "out.y4m")
        self.assertIn(b"2 frames are in colour, unlike the first one", done.stderr)
        for command, out in (("copy", "out.mov"), ("copy", "out.mjpeg"), ("encode", "out.avi")):
            if BUILT_WITH_FFMPEG or out == "out.mjpeg":
                done = self.zerorun(command, "in*.jpg", "-o", out)
                self.assertIn(b"2 frames are in colour, unlike the first one; each stays as it is", done.stderr)
        self.assertNotIn(b"unlike", self.zerorun("copy", "in*.jpg", "-o", "c%d.jpg").stderr)
        if BUILT_WITH_OPENCV:
            self.decode("in*.jpg", "-o", "p%d.png")
            done = self.decode("p%d.png", "-o", "p.y4m")
            self.assertIn(b"2 are grey and 2 in colour; all were converted to gray8", done.stderr)


def camera_raw(below=False):
    """A DNG of 64x48 samples under Bayer's filters; with `below` as NEF and ARW are: a small picture, which has the
    directory of those samples below its own."""
    def directory(at, entries):
        """The directory of (tag, type, values), whose long values follow it."""
        head, tail = struct.pack("<H", len(entries)), b""
        for tag, kind, values in entries:
            data = struct.pack(f"<{len(values)}{' BBHI     i'[kind]}", *values)
            if len(data) > 4:
                data, tail = struct.pack("<I", at + 6 + 12 * len(entries) + len(tail)), tail + data
            count = len(values) // (2 if kind == 10 else 1)
            head += struct.pack("<HHI", tag, kind, count) + data.ljust(4, b"\0")
        return head + bytes(4) + tail

    def picture(width, height, bits, photometric, samples, at):
        return [(256, 4, [width]), (257, 4, [height]), (258, 3, [bits] * samples), (259, 3, [1]), (262, 3, [photometric]),
                (273, 4, [at]), (277, 3, [samples]), (278, 4, [height]), (279, 4, [width * height * samples * bits // 8])]
    raw = lambda at: sorted(picture(64, 48, 16, 32803, 1, at) + [(33421, 3, [2, 2]), (33422, 1, [0, 1, 1, 2])])
    samples = b"".join(struct.pack("<H", x * 512 + y * 256) for y in range(48) for x in range(64))
    if below:
        small, data = bytes(range(192)), 1024
        first = directory(8, sorted(picture(8, 8, 8, 2, 3, data + len(samples)) + [(330, 4, [512])]))
        return (b"II*\0\x08\0\0\0" + first).ljust(512, b"\0") + directory(512, raw(data)).ljust(512, b"\0") + samples + small
    matrix = [n for i in range(9) for n in (int(i % 4 == 0), 1)]
    entries = raw(1024) + [(50706, 1, [1, 4, 0, 0]), (50708, 2, b"Maker Model\0"), (50717, 4, [65535]), (50721, 10, matrix)]
    return (b"II*\0\x08\0\0\0" + directory(8, entries)).ljust(1024, b"\0") + samples


class ForeignTest(ProgramTest):
    """What is not supported is named as that, with the program that converts it."""

    HEADS = {
        "a.heic": (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", "HEIC", "heif-convert"),
        "b.tif": (b"II+\0\x08\0\0\0\x10\0\0\0\0\0\0\0", "BigTIFF", "tiffcp"),
        "d.cr2": (b"II*\0\x10\0\0\0CR\2\0\0\0\0\0", "camera RAW", "dcraw_emu"),
        "e.webp": (b"RIFF\x40\0\0\0WEBPVP8X\x0a\0\0\0\x02\0\0\0\x0f\0\0\x0f\0\0", "animated WebP", "webpmux"),
    }

    @needs_containers
    def test_named(self):
        for name, (head, what, program) in self.HEADS.items():
            self.write(name, head + bytes(64))
            for command in ("encode", "info"):
                out = ("-o", "out.jpg") if command == "encode" else ()
                done = self.zerorun(command, name, *out, code=3)
                self.assertIn(what, done.stderr.decode(), name)
                self.assertIn(program, done.stderr.decode(), name)
                self.assertNotIn("cut short", done.stderr.decode(), name)

    @needs_opencv
    def test_camera_raw_in_tiff(self):
        """Also where another picture, which OpenCV would read, comes first."""
        for name, below in (("a.dng", False), ("b.nef", True), ("c.tif", True)):
            self.write(name, camera_raw(below))
            for command in (("info",), ("encode", "-o", "out.jpg")):
                done = self.zerorun(command[0], name, *command[1:], code=3)
                self.assert_sentence(done, f"it is camera RAW, which is not supported; `dcraw_emu -T {name}`")


class AdviceTest(ProgramTest):
    """What a message tells the user to do works."""

    MAKERS = {  # of a file of that kind from a picture, where the program is installed
        "a.heic": "heif-enc a.png -o a.heic",
        "a.jxl": "cjxl a.png a.jxl",
        "a.jp2": "opj_compress -i a.png -o a.jp2",
        "a.j2k": "opj_compress -i a.png -o a.j2k",
        "big.tif": "tiffcp -8 a.tif big.tif",
        "a.webp": "img2webp -lossless a.png -d 100 b.png -o a.webp",
    }

    @needs_opencv
    def test_converters(self):
        """The command of the message makes pictures that are read, of the size of the file."""
        for name, frame in (("a", 0), ("b", 1)):
            make_ppm("a.ppm", 64, 48, frame)
            for kind in (".png", ".tif"):
                self.decode("a.ppm", "-o", name + kind)
        tried = []
        if shutil.which("dcraw_emu"):
            self.write("a camera's.dng", camera_raw())
        for name, maker in {**self.MAKERS, "a camera's.dng": "true"}.items():
            if not shutil.which(maker.split()[0]) or subprocess.run(
                    maker.split(), cwd=self.dir, capture_output=True).returncode != 0 or not (self.dir / name).exists():
                continue  # heif-enc may have no encoder
            done = self.zerorun("encode", name, "-o", "x.jpg", "-y", code=None, cwd=self.dir)
            if done.returncode == 0:  # this FFmpeg reads it
                tried.append(name)
                continue
            said = done.stderr.decode()
            advice = re.search(r"`([^`]+)`", said)
            self.assertTrue(advice, said)
            command = shlex.split(advice[1])
            self.assertIn(name, command)
            before = {path.name for path in self.dir.iterdir()}
            done = subprocess.run(command, cwd=self.dir, capture_output=True)
            self.assertEqual(done.returncode, 0, (advice[1], done.stderr))
            made = sorted({path.name for path in self.dir.iterdir()} - before)
            self.assertTrue(made, advice[1])
            for picture in made:
                info = self.info(picture)
                self.assertEqual((info["width"], info["height"]), (64, 48), (advice[1], picture))
                (self.dir / picture).unlink()
            tried.append(name)
        if len(tried) <= len(self.MAKERS):
            self.skipTest(f"tried: {', '.join(tried)}; the others need their programs")

    def test_options_in_messages_exist(self):
        """Every option that a string of the program or the libraries names is in the help of a command."""
        root = pathlib.Path(__file__).resolve().parents[2]
        helped = set(re.findall(r"--[a-z][a-z0-9-]*", "".join(
            self.zerorun(*command, "--help-all").stdout.decode() for command in (
                ["encode"], ["decode"], ["copy"], ["concat"], ["verify"], ["info"], ["play"], ["bench"], ["devices"],
                []))))
        self.assertGreater(len(helped), 100)
        for path in (path for room in ("apps", "io", "codec", "cuda") for path in root.joinpath(room).rglob("*.?pp")):
            for line in path.read_text().splitlines():
                for text in re.findall(r'"((?:[^"\\]|\\.)*)"', line):
                    for option in re.findall(r"(?<![\w-])--[a-z][a-z0-9]+(?:-[a-z0-9]+)*(?![\w-])", text):
                        self.assertIn(option, helped, f"{path.relative_to(root)}: {text}")


class PagesTest(ProgramTest):
    @needs_containers
    def test_delays_of_animations_are_times(self):
        """Frames of 0.2, 0.4 and 0.2 s in APNG and GIF."""
        select = "testsrc=s=64x48:r=5:d=0.8,select='not(eq(n,2))'"
        for name in ("a.gif", "a.apng"):
            ffmpeg("-f", "lavfi", "-i", select, "-vsync", "vfr", "-f", name[2:], name)
            self.encode(name, "-o", "a.mov", "-y")
            times = [float(p["pts_time"]) for p in probe("a.mov", "-show_packets")["packets"]]
            self.assertEqual([round(t - times[0], 2) for t in times], [0.0, 0.2, 0.6], name)
            self.decode(name, "-o", "two.png", "--page", "2", "-y")

    @needs_containers
    def test_animated_png_is_a_sequence(self):
        ffmpeg("-f", "lavfi", "-i", "testsrc=s=64x48:d=0.4:r=10", "-f", "apng", "a.png")
        self.encode("a.png", "-o", "a.mov")
        self.assertEqual(video_stream("a.mov")["nb_read_frames"], "4")


@needs_containers
class ToneMapTest(ProgramTest):
    def make(self, transfer, name):
        """A grey ramp whose brightest part is far above SDR's white in PQ."""
        ffmpeg("-f", "lavfi", "-i", "gradients=s=320x64:c0=black:c1=white:x0=0:x1=319:y0=0:y1=0:d=0.2:r=10", "-vf",
               f"format=yuv420p10le,setparams=color_trc={transfer}:color_primaries=bt2020:colorspace=bt2020nc:range=tv",
               "-c:v", "ffv1", "-color_trc", transfer, "-color_primaries", "bt2020", "-colorspace", "bt2020nc",
               "-color_range", "tv", name)
        return name

    def test_hdr_becomes_sdr(self):
        filters = subprocess.run(["ffmpeg", "-hide_banner", "-filters"], capture_output=True, text=True).stdout
        if " zscale " not in filters:
            self.skipTest("this FFmpeg has no zscale")
        for transfer in ("smpte2084", "arib-std-b67"):
            source = self.make(transfer, transfer + ".mkv")
            self.assertIn(b"--tonemap", self.encode(source, "-o", "plain.mov", "-y", "--dither", "none").stderr)
            done = self.encode(source, "-o", "sdr.mov", "-y", "--dither", "none", "--tonemap", "hable", "-q", "100",
                               "--subsampling", "420")
            self.assertNotIn(b"dynamic range", done.stderr)
            stream = video_stream("sdr.mov")
            self.assertEqual((stream.get("color_transfer"), stream.get("color_primaries")), ("bt709", "bt709"))
            ffmpeg("-i", source, "-vf", "zscale=t=linear:npl=100,format=gbrpf32le,zscale=p=bt709,tonemap=hable:desat=0,"
                   "zscale=t=bt709:m=bt709:r=tv,format=yuv420p,scale=in_range=tv:out_range=pc,format=gray", "-f",
                   "rawvideo", "want")
            ffmpeg("-i", "sdr.mov", "-vf", "format=gray", "-f", "rawvideo", "got")
            want, got = (self.read(name) for name in ("want", "got"))
            self.assertEqual(len(want), len(got))
            self.assertGreater(max(want), 100)
            self.assertLessEqual(max(abs(a - b) for a, b in zip(want, got)), 3)

    def test_eight_bits_of_hlg_are_named(self):
        ffmpeg("-f", "lavfi", "-i", "testsrc=s=64x48:d=0.2:r=25", "-vf",
               "format=yuvj420p,setparams=color_trc=arib-std-b67:color_primaries=bt2020:colorspace=bt470bg", "-c:v",
               "mjpeg", "-color_trc", "arib-std-b67", "-color_primaries", "bt2020", "-colorspace", "bt470bg", "hlg.mov")
        self.assertIn(b"high dynamic range (HLG)", self.encode("hlg.mov", "-o", "out.mov").stderr)
        self.assertEqual(video_stream("out.mov").get("color_transfer"), "arib-std-b67")

    def test_sdr_stays(self):
        self.encode(make_y4m("a.y4m"), "-o", "a.mjpeg")
        ffmpeg("-i", "a.y4m", "-c:v", "ffv1", "a.mkv")
        for name, options in (("x", ()), ("y", ("--tonemap", "hable"))):
            self.encode("a.mkv", "-o", name + ".mjpeg", *options)
        self.assertEqual(self.read("x.mjpeg"), self.read("y.mjpeg"))


class OtherSizesTest(ProgramTest):
    @needs_containers
    def test_are_left_out(self):
        """--on-error skip covers a change of size, for encode and copy; without it, both end with 3."""
        for i, width in enumerate((40, 40, 56, 40)):
            self.encode(make_ppm("a.ppm", width=width, frame=i), "-o", f"in{i}.jpg")
        for command in ("encode", "copy"):
            done = self.zerorun(command, "in%d.jpg", "-o", "a.mov", "-y", code=3)
            self.assert_sentence(done, "56x30", "--on-error skip")
            for kind in (".mov", ".avi"):
                done = self.zerorun(command, "in%d.jpg", "-o", "a" + kind, "--on-error", "skip", "-y")
                self.assertIn(b"left out", done.stderr)
                self.assertEqual(video_stream("a" + kind)["nb_read_frames"], "3")
                times = [float(p["pts_time"]) for p in probe("a" + kind, "-show_packets")["packets"]]
                self.assertEqual([round(t, 2) for t in times], [0.0, 0.04, 0.08])

    @needs_djpeg
    def test_an_empty_segment(self):
        """APP1 and COM of length 0, as djpeg and Pillow read them; a table of length 0 stays an error."""
        self.encode(make_ppm("a.ppm"), "-o", "a.jpg")
        data = self.read("a.jpg")
        for marker in (b"\xff\xe1", b"\xff\xfe"):
            for length in (b"\0\0", b"\0\1"):
                self.write("b.jpg", data[:2] + marker + length + data[2:])
                self.decode("b.jpg", "-o", "b.ppm", "-y")
                want = subprocess.run(["djpeg", "-dct", "int", "b.jpg"], capture_output=True, check=True)
                self.assertEqual(self.read("b.ppm"), want.stdout)
                self.decode("b.jpg", "-o", "c.ppm", "--strict", code=3)
        self.write("b.jpg", data[:2] + b"\xff\xdb\0\0" + data[2:])
        self.decode("b.jpg", "-o", "c.ppm", code=3)


class PixelLimitTest(ProgramTest):
    """--max-pixels, which the message advises, lowers and raises the limit of every command and kind of picture."""

    def test_of_every_command(self):
        self.encode(make_y4m("in.y4m", 65, 47, 3), "-o", "in.mjpeg")
        self.encode("in.y4m", "-o", "in.jpg", "--frames", "1")
        quick = ("--no-peers", "--threads", "1", "--frames", "1", "--time", "0.001", "--warm-up", "0", "--repetitions", "1")
        commands = (("encode", "-o", "out.mjpeg", "--psnr", "--verify", "-y"), ("decode", "-o", "out.y4m", "-y"),
                    ("play", "--no-window"), ("bench", *quick))
        for command, *words in (*commands, ("bench", "--streams", "input", "--operation", "decode", *quick)):
            for name in ("in.mjpeg", "in.jpg"):
                arguments = (command, name, *words, "--device", "cpu", "--max-pixels")
                self.assert_sentence(self.zerorun(*arguments, "3054", code=3), "65x47", "limit 3054", "max-pixels")
                self.assertFalse(list(self.dir.glob("out*")))
                self.zerorun(*arguments, "3055")
                for out in self.dir.glob("out*"):
                    out.unlink()
        for command, *words in commands:
            for number in ("0", "-1", "many", "4294836226"):
                self.zerorun(command, "in.jpg", *words, "--max-pixels", number, code=2)
            self.assert_sentence(self.zerorun(command, "in.y4m", *words, "--max-pixels", "3055", code=2), "in.y4m",
                                 "--max-pixels is for JPEG")
        self.zerorun("play", "in.y4m", "--compare", "in.mjpeg", "--no-window", "--max-pixels", "3055")

    def test_of_pictures(self):
        make_ppm("a.ppm")
        names = ["a.ppm"]
        if BUILT_WITH_OPENCV:
            for kind in ("png", "tiff", "bmp", "webp"):
                self.decode("a.ppm", "-o", "a." + kind)
                names.append("a." + kind)
        for name in names:
            self.assertIn(b"40x30", self.decode(name, "-o", "null:", "--max-pixels", "1199", code=3).stderr, name)
            self.decode(name, "-o", "null:", "--max-pixels", "1200")
        with open("big.pbm", "wb") as big:
            big.write(b"P4\n12000 12000\n")
            big.truncate(big.tell() + 1500 * 12000)
        self.assertIn(b"raise max_pixels", self.decode("big.pbm", "-o", "null:", code=3).stderr)
        self.decode("big.pbm", "-o", "null:", "--max-pixels", "144000000")
