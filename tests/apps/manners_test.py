# What people type and what disks do: names, numbers, words, broken pictures, full disks; outputs with the names of the
# inputs, and pictures whose names lie.
# SPDX-License-Identifier: MIT
import os
import pathlib
import resource
import shutil

from support import (BUILT_WITH_OPENCV, ProgramTest, ffmpeg, make_ppm, make_y4m, needs_containers, needs_ffmpeg,
                     needs_opencv, video_stream, y4m_frames)


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
            numbers.append(next((n for n, jpeg in self.pictures.items() if data.startswith(jpeg, at)), 0))
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
        self.assertIn("write %04d", self.encode("shot.%05d.exr", "-o", "x.mov", code=3).stderr.decode())

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
        self.assertIn("f0010.ppm", self.coded("in/f%04d.ppm", code=3))
        for word, wanted in (("skip", [8, 9, 11, 12]), ("hold", [8, 9, 9, 11, 12]), ("black", [8, 9, 0, 11, 12])):
            with self.subTest(word=word):
                self.assertEqual(self.coded("in/f%04d.ppm", "--on-error", word), wanted)
                self.assertEqual(self.said.count("f0010.ppm"), 1, self.said)

    def test_a_range_counts_broken_pictures(self):
        self.write("in/f0010.ppm", b"P6\n24 16\n255\nshort")
        for frames, wanted in (("0:4", [8, 9, 11]), ("0:3", [8, 9]), ("1:4", [9, 11]), ("4", [8, 9, 11])):
            self.assertEqual(self.coded("in/f%04d.ppm", "--on-error", "skip", "--frames", frames), wanted, frames)
        # A shard does not know how many pictures before it were left out, or which one is held.
        for option in (["--shard", "0/2"], ["--range", "0:2"], ["--resume"]):
            for word in ("skip", "hold"):
                done = self.zerorun("encode", "in/f%04d.ppm", "-o", "s.mjpeg", "--on-error", word, *option, code=2)
                self.assertIn(b"--on-error", done.stderr)

    def test_a_broken_picture_when_decoding(self):
        (self.dir / "jpg").mkdir()
        for number, jpeg in self.pictures.items():
            self.write(f"jpg/{number:02}.jpg", jpeg if number != 10 else b"\xff\xd8\xff\xc0short")
        self.decode("jpg/%02d.jpg", "-o", "stop.y4m", code=3)
        frames = {}
        for word in ("skip", "hold", "black"):
            self.decode("jpg/%02d.jpg", "-o", f"{word}.y4m", "--on-error", word)
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
        self.assertNotIn("libpng", self.encode("odd.png", "-o", "odd.jpg").stderr.decode())
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
        self.assertEqual(self.encode("-", "--size", "64x48", "-o", "-", input=frames).stdout.count(b"\xff\xd8\xff"), 3)
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


class NamesTest(ProgramTest):
    def folder(self, *names):
        """A folder `in` with a JPEG file for each name."""
        for i, name in enumerate(names):
            path = pathlib.Path("in") / name
            path.parent.mkdir(parents=True, exist_ok=True)
            self.encode(make_ppm("one.ppm", frame=i), "-o", "one.jpg", "-y")
            shutil.copy("one.jpg", path)
        return "in"

    def written(self, name="out"):
        root = pathlib.Path(name)
        return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())

    def test_a_folder_keeps_the_names(self):
        source = self.folder("IMG_1.jpg", "IMG_2.jpg", "a b.JPG", "100%.jpg", "x%05d.jpg", "y##.jpg")
        names = ["100%", "IMG_1", "IMG_2", "a b", "x%05d", "y##"]
        for command, suffix in (("decode", ".png" if BUILT_WITH_OPENCV else ".ppm"), ("copy", ".jpg"), ("encode", ".jpg")):
            with self.subTest(command=command):
                self.zerorun(command, source, "-o", "out/")
                self.assertEqual(self.written(), sorted(name + suffix for name in names))
                for name in names:  # each has its own picture
                    one = self.zerorun(command, f"{source}/{name}." + ("JPG" if name == "a b" else "jpg"), "-o",
                                       "single/")
                    path = pathlib.Path("single") / (name + suffix)
                    self.assertEqual(path.read_bytes(), (pathlib.Path("out") / path.name).read_bytes(), one)
                shutil.rmtree("out")
                shutil.rmtree("single")

    @needs_opencv
    def test_words_of_a_pattern(self):
        source = self.folder("b.jpg", "c.jpg")
        os.mkdir("out")
        self.decode(source, "-o", "out/{name}_{number}.ppm")
        self.decode(source, "-o", "out/%03d-{name}.pgm", "--start-number", "7")
        self.decode(source, "-o", "out", "--output-format", "BMP", "--frames", "1:2")
        self.decode(make_y4m("clip.y4m", frames=2), "-o", "out/{name}{number}.png")
        self.assertEqual(self.written(), ["007-b.pgm", "008-c.pgm", "b_1.ppm", "c.bmp", "c_2.ppm", "clip1.png",
                                          "clip2.png"])
        self.encode(source, "-o", "out/{name}.jpg", "--verify")
        self.assert_sentence(self.decode(source, "-o", "{name}/{name}.png", code=4), "{name}")
        self.assert_sentence(self.decode(source, "-o", "out", "--missing", "hold", code=2), "--missing hold")
        self.assert_sentence(self.decode(source, "-o", "a.y4m", "--keep-tree", code=2), "--keep-tree")
        self.assert_sentence(self.encode(source, "-o", "out", "--shard", "0/2", code=2), "pattern")
        # One frame too many for one name.
        self.assert_sentence(self.decode("clip.y4m", "-o", "new/", code=4), "{name}_")
        self.assertEqual(self.written("new"), [])

    @needs_opencv
    def test_sub_folders(self):
        source = self.folder("x/1.jpg", "y/1.jpg", "top.jpg", ".hidden/1.jpg")
        os.symlink("..", "in/x/loop")
        self.decode(source, "-o", "out/", "--keep-tree")
        self.assertEqual(self.written(), ["top.png", "x/1.png", "y/1.png"])
        self.zerorun("copy", "in/*/1.jpg", "-o", "globbed/", "--keep-tree")
        self.assertEqual(self.written("globbed"), ["x/1.jpg", "y/1.jpg"])
        self.encode("in/x/1.jpg", "in/y/1.jpg", "-o", "listed/{name}.jpg", "--keep-tree")
        self.assertEqual(self.written("listed"), ["x/1.jpg", "y/1.jpg"])
        self.decode(source, "-o", "flat/")
        self.assertEqual(self.written("flat"), ["top.png"])

    @needs_opencv
    def test_collisions_are_refused_before_anything_is_written(self):
        source = self.folder("a.jpg", "b.jpg", "sub/a.jpg")
        shutil.copy("in/b.jpg", "in/a.jpeg")
        refused = self.decode(source, "-o", "out/", code=4)
        self.assert_sentence(refused, "a.jpeg", "a.jpg", "would both become", "{name}_{number}")
        self.assertFalse(os.path.exists("out"))
        os.remove("in/a.jpeg")
        refused = self.decode("in/a.jpg", "in/sub/a.jpg", "-o", "out/", code=4)
        self.assert_sentence(refused, "would both become", "--keep-tree")
        os.mkdir("out")
        self.write("out/b.png", b"mine")
        self.assert_sentence(self.decode(source, "-o", "out", code=4), "out/b.png")
        self.assertEqual(self.written(), ["b.png"])
        self.decode(source, "-o", "out", "-y")
        self.assertNotEqual(self.read("out/b.png"), b"mine")
        # Another input would be replaced.
        self.zerorun("copy", "in/a.jpg", "in/b.jpg", "-o", "in/{name}.jpg", "-y")
        clash = self.folder("n_1.jpg", "n.jpg")
        self.assert_sentence(self.zerorun("copy", f"{clash}/n.jpg", f"{clash}/n_1.jpg", "-o",
                                          f"{clash}/{{name}}_{{number}}.jpg", "-y", code=4), "another input")

    @needs_opencv
    def test_long_names(self):
        """A name of 255 bytes leaves no room for '.part'."""
        longest = os.pathconf(".", "PC_NAME_MAX")
        if longest < 255:
            self.skipTest("this file system has shorter names")
        for length in (250, 251, 255):
            stem = "n" * (length - 5)
            self.decode(self.folder(stem + "1.jpg", stem + "2.jpg"), "-o", "out/", "--threads", "2")
            self.assertEqual(self.written(), [stem + "1.png", stem + "2.png"])
            self.encode(make_y4m("in.y4m", frames=2), "-o", "m" * (length - 6) + ".mjpeg")
            for name in ("in", "out"):
                shutil.rmtree(name)

    @needs_opencv
    def test_pictures_are_judged_by_their_bytes(self):
        """PNG and PPM files named .jpg among JPEG files."""
        source = self.folder("1.jpg", "2.jpg", "3.jpg", "4.jpg")
        self.decode("in/2.jpg", "-o", "two.png")
        shutil.copy("two.png", "in/2.jpg")
        make_ppm("in/4.jpg", frame=3)
        for first in ("1.jpg", "2.jpg"):
            files = [f"{source}/{first}"] + [f"{source}/{name}" for name in ("1.jpg", "2.jpg", "3.jpg", "4.jpg")
                                            if name != first]
            self.decode(*files, "-o", "out/")
            self.assertEqual(self.read("out/2.png"), self.read("two.png"))
            self.assertEqual(self.written(), ["1.png", "2.png", "3.png", "4.png"])
            self.decode(*files, "-o", "out.y4m", "-y")
            self.encode(*files, "-o", "coded/", "-y")
            shutil.rmtree("out")
        self.assert_sentence(self.zerorun("copy", source, "-o", "out/", code=3), "2.jpg", "not JPEG")
