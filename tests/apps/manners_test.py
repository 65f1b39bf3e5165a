# What people type and what disks do: names, numbers, words, broken pictures, full disks.
# SPDX-License-Identifier: MIT
import pathlib
import resource

from support import (ProgramTest, ffmpeg, make_ppm, make_y4m, needs_containers, needs_ffmpeg, needs_opencv,
                     video_stream, y4m_frames)


class SequenceTest(ProgramTest):
    def setUp(self):
        super().setUp()
        (self.dir / "in").mkdir()
        self.pictures = {}
        for number in (8, 9, 10, 11, 12):
            make_ppm(f"in/f{number:04}.ppm", 24, 16, number)
            self.encode(f"in/f{number:04}.ppm", "-o", "one.jpg", "-y")
            self.pictures[number] = self.read("one.jpg")

    def coded(self, *arguments, code=0):
        """The numbers of the pictures in the encoded stream in order; 0 for another picture."""
        done = self.encode(*arguments, "-o", "seq.mjpeg", "-y", code=code)
        if code != 0:
            return done.stderr.decode()
        self.said = done.stderr.decode()
        data = self.read("seq.mjpeg")
        numbers, at = [], 0
        while at < len(data):
            number = next((n for n, jpeg in self.pictures.items() if data.startswith(jpeg, at)), 0)
            numbers.append(number)
            at = data.index(b"\xff\xd9", at) + 2
        return numbers

    @needs_containers
    def test_pictures_that_ffmpeg_alone_reads(self):
        """Render engines write OpenEXR."""
        done = ffmpeg("-encoders").stdout
        if b" exr " not in done:
            self.skipTest("this FFmpeg writes no OpenEXR")
        for n in (8, 9, 11):
            ffmpeg("-i", f"in/f{n:04}.ppm", f"shot.{n:04}.exr")
        self.encode("shot.%04d.exr", "-o", "o.mov", "--missing", "hold")
        self.assertEqual(video_stream("o.mov")["nb_read_frames"], "4")
        text = self.encode("shot.%05d.exr", "-o", "x.mov", code=3).stderr.decode()
        self.assertIn("write %04d", text)

    def test_several_inputs_in_the_shells_order(self):
        names = [f"in/f{n:04}.ppm" for n in (11, 8, 9)]
        self.assertEqual(self.coded(*names), [11, 8, 9])
        self.assertIn("absent.ppm", self.coded(names[0], "absent.ppm", code=2))

    def test_the_message_says_what_is_there(self):
        text = self.coded("in/f%06d.ppm", code=3)
        for word in ("f0008.ppm", "f0012.ppm", "%04d"):
            self.assertIn(word, text)

    def test_ranges_by_index_and_by_number(self):
        for source in ("in/f%04d.ppm", "in/*.ppm", "in"):
            self.assertEqual(self.coded(source, "--frames", "2"), [8, 9])
            self.assertEqual(self.coded(source, "--file-numbers", "9:11"), [9, 10, 11])
            self.assertEqual(self.coded(source, "--file-numbers", "11:"), [11, 12])
            self.assertEqual(self.coded(source, "--file-numbers", "9:11", "--frames", "1:2"), [10])
            self.assertIn("50", self.coded(source, "--file-numbers", "50:60", code=3))

    def test_gaps_of_globs_and_directories_are_told(self):
        (self.dir / "in/f0010.ppm").unlink()
        for source in ("in/*.ppm", "in"):
            self.assertEqual(self.coded(source), [8, 9, 11, 12])
            self.assertIn("1 file is missing", self.said)
            self.assertIn("f0010.ppm", self.said)
            self.assertEqual(self.coded(source, "--missing", "hold"), [8, 9, 9, 11, 12])
        (self.dir / "in/f0011.ppm").unlink()
        self.coded("in")
        self.assertIn("2 files are missing", self.said)
        make_ppm("in/other.ppm", 24, 16, 8)  # no series any more
        self.coded("in")
        self.assertNotIn("missing", self.said)

    def test_a_broken_picture_in_the_middle(self):
        self.write("in/f0010.ppm", b"P6\n24 16\n255\nshort")
        source = "in/f%04d.ppm"
        self.assertIn("f0010.ppm", self.coded(source, code=3))
        for word, wanted in (("skip", [8, 9, 11, 12]), ("hold", [8, 9, 9, 11, 12]), ("black", [8, 9, 0, 11, 12])):
            with self.subTest(word=word):
                self.assertEqual(self.coded(source, "--on-error", word), wanted)
                self.assertEqual(self.said.count("f0010.ppm"), 1, self.said)

    def test_a_range_counts_broken_pictures(self):
        self.write("in/f0010.ppm", b"P6\n24 16\n255\nshort")
        source = "in/f%04d.ppm"
        for frames, wanted in (("0:4", [8, 9, 11]), ("0:3", [8, 9]), ("1:4", [9, 11]), ("4", [8, 9, 11])):
            self.assertEqual(self.coded(source, "--on-error", "skip", "--frames", frames), wanted, frames)
        # A shard does not know how many pictures before it were left out, or which one is held.
        for option in (["--shard", "0/2"], ["--range", "0:2"], ["--resume"]):
            for word in ("skip", "hold"):
                done = self.zerorun("encode", source, "-o", "s.mjpeg", "--on-error", word, *option, code=2)
                self.assertIn(b"--on-error", done.stderr)

    def test_a_broken_picture_when_decoding(self):
        (self.dir / "jpg").mkdir()
        for number, jpeg in self.pictures.items():
            self.write(f"jpg/{number:02}.jpg", jpeg if number != 10 else b"\xff\xd8\xff\xc0short")
        source = "jpg/%02d.jpg"
        self.decode(source, "-o", "stop.y4m", code=3)
        frames = {}
        for word in ("skip", "hold", "black"):
            self.decode(source, "-o", f"{word}.y4m", "--on-error", word)
            frames[word] = y4m_frames(self.read(f"{word}.y4m"))
        self.assertEqual([len(frames[word]) for word in ("skip", "hold", "black")], [4, 5, 5])
        self.assertEqual(frames["hold"][2], frames["hold"][1])
        self.assertEqual(frames["black"][2], bytes(24 * 16) + bytes([128]) * (2 * 12 * 8))
        self.assertEqual(frames["skip"], [f for i, f in enumerate(frames["hold"]) if i != 2])


class LibraryLinesTest(ProgramTest):
    @needs_opencv
    def test_only_the_programs_own_lines_reach_stderr(self):
        """libpng warns of a wrong checksum and complains about a file that is cut short."""
        self.decode(make_ppm("in.ppm"), "-o", "good.png")
        good = self.read("good.png")
        after_header = 8 + 25
        chunk = (4).to_bytes(4, "big") + b"tEXta\0bc" + bytes(4)
        self.write("odd.png", good[:after_header] + chunk + good[after_header:])
        done = self.encode("odd.png", "-o", "odd.jpg")
        self.assertNotIn("libpng", done.stderr.decode())
        self.encode("good.png", "-o", "good.jpg")
        self.assertEqual(self.read("odd.jpg"), self.read("good.jpg"))
        self.write("short.png", good[:len(good) // 2])
        self.assert_sentence(self.encode("short.png", "-o", "s.jpg", code=3), "short.png")


class WordsTest(ProgramTest):
    def test_samplings_as_people_write_them(self):
        y4m = make_y4m("in.y4m", frames=1)
        for words in (("422", "4:2:2"), ("gray", "grey"), ("411", "4:1:1")):
            for word in words:
                self.encode(y4m, "-o", word.replace(":", "") + "x.jpg", "-y", "--subsampling", word)
            first, second = (self.read(w.replace(":", "") + "x.jpg") for w in words)
            self.assertEqual(first, second)

    @needs_containers
    def test_rates_of_broadcast(self):
        y4m = make_y4m("in.y4m", frames=2)
        for word, rate in (("23.976", "24000/1001"), ("23.98", "24000/1001"), ("29.97", "30000/1001"),
                           ("59.94", "60000/1001"), ("12.5", "25/2"), ("24", "24/1"), ("25.0", "25/1")):
            self.encode(y4m, "-o", "o.mov", "-y", "--fps", word)
            self.assertEqual(video_stream("o.mov")["r_frame_rate"], rate, word)


class RawVideoTest(ProgramTest):
    @needs_ffmpeg
    def test_raw_video_is_what_y4m_would_be(self):
        y4m = make_y4m("in.y4m", 66, 48, 3)
        for name in ("yuvj420p", "yuvj422p", "yuvj444p", "nv12", "yuv420p", "yuyv422", "uyvy422", "gray", "rgb24",
                     "bgra", "yuv420p10le", "yuv422p10le"):
            with self.subTest(name=name):
                raw = f"{name}.yuv"
                ffmpeg("-i", y4m, "-f", "rawvideo", "-pix_fmt", name, raw)
                self.encode(raw, "--size", "66x48", "--pix-fmt", name, "--fps", "25", "-o", "o.mjpeg", "-y",
                            "--subsampling", "444", "-q", "100")
                self.decode("o.mjpeg", "-o", "o.y4m", "-y")
                # FFmpeg's own reading of the same file, as full-range 4:4:4.
                ffmpeg("-f", "rawvideo", "-pix_fmt", name, "-s", "66x48", "-i", raw, "-pix_fmt", "yuvj444p",
                       "-sws_flags", "neighbor+accurate_rnd", "-f", "rawvideo", "want.yuv")
                ours = b"".join(y4m_frames(self.read("o.y4m")))
                want = self.read("want.yuv")
                self.assertEqual(len(ours), len(want))
                luma = [abs(ours[f * 66 * 48 * 3 + i] - want[f * 66 * 48 * 3 + i])
                        for f in range(3) for i in range(0, 66 * 48, 7)]
                self.assertLessEqual(sum(luma) / len(luma), 1.5)
                self.assertLessEqual(max(luma), 6)

    def test_back_to_raw(self):
        self.encode(make_y4m("in.y4m", 64, 48, 2), "-o", "o.mjpeg")
        self.decode("o.mjpeg", "-o", "o.y4m")
        frames = y4m_frames(self.read("o.y4m"))
        self.decode("o.mjpeg", "-o", "o.yuv")
        self.assertEqual(self.read("o.yuv"), b"".join(frames))
        self.decode("o.mjpeg", "-o", "n.yuv", "--pix-fmt", "nv12")
        luma, half = 64 * 48, 64 * 48 // 4
        want = b"".join(f[:luma] + bytes(b for pair in zip(f[luma:luma + half], f[luma + half:]) for b in pair)
                        for f in frames)
        self.assertEqual(self.read("n.yuv"), want)
        done = self.decode("o.mjpeg", "-o", "-", "--format", "raw")
        self.assertEqual(done.stdout, b"".join(frames))

    def test_what_does_not_fit_is_refused(self):
        raw = pathlib.Path("in.yuv")
        raw.write_bytes(bytes(64 * 48 * 3 // 2 * 2 - 1))
        out = "o.mjpeg"
        self.assert_sentence(self.encode(raw, "--size", "64x48", "-o", out, code=3), "whole frames")
        self.assert_sentence(self.encode(raw, "--size", "64x48", "--pix-fmt", "yuv999", "-o", out, code=3), "yuv999")
        self.assert_sentence(self.encode(raw, "--size", "64", "-o", out, code=2), "--size")
        self.assert_nothing_left("o.mjpeg")

    def test_raw_video_from_a_pipe(self):
        frames = bytes(range(256)) * (64 * 48 * 3 // 2 // 256) * 3
        done = self.encode("-", "--size", "64x48", "-o", "-", input=frames)
        self.assertEqual(done.stdout.count(b"\xff\xd8\xff"), 3)
        self.encode("-", "--size", "64x48", "-o", "x.mjpeg", input=frames[:-5], code=3)


class FullDiskTest(ProgramTest):
    def test_what_was_written_stays_and_plays(self):
        """A limit on the size of files stands for the end of the disk."""
        y4m = make_y4m("in.y4m", 160, 120, 40)
        done = self.encode(y4m, "-o", "o.mjpeg", code=4, restore_signals=False,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000)))
        self.assertFalse((self.dir / "o.mjpeg").exists())
        self.assertIn(b"o.mjpeg.part", done.stderr)
        done = self.decode("o.mjpeg.part", "--input-format", "mjpeg", "-o", "o.y4m")
        self.assertNotIn("concealed", done.stderr.decode())
        self.assertGreater(len(y4m_frames(self.read("o.y4m"))), 2)
