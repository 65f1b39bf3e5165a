# Every class of error: its exit code, one sentence, and nothing half-written.
# SPDX-License-Identifier: MIT
import json
import os
import pathlib
import subprocess

from support import PROGRAM, ProgramTest, make_y4m, needs_containers


class UsageTest(ProgramTest):
    def test_bad_command_lines(self):
        y4m = make_y4m("in.y4m", frames=1)
        out = "out.mjpeg"
        cases = [
            ["foo"], ["help", "foo"], ["encode"], ["encode", y4m], ["encode", y4m, "-o"],
            ["encode", y4m, "-o", out, "--foo"],
            ["encode", y4m, "extra", "-o", out],
        ]
        for option, words in {
                "-q": ("0", "101", "x"), "--subsampling": ("421", "4:2:1", ""), "--huffman": ("best",),
                "--restart": ("0", "65536", "rows", "-1", "5cols"), "--fps": ("0", "-25", "25/0", "a", "1/2/3"),
                "--frames": ("0", "-5", "5:5", "6:5", "-1:3", "a:b"), "--missing": ("black",),
                "--threads": ("-1", "x", "5000"), "--device": ("gpu", "cuda:x", "cuda:-1"), "--audio": ("mix",),
                "--progress": ("bar",), "--start-number": ("x",), "--format": ("mov",), "--stats": ("stats.txt",)}.items():
            cases += [["encode", y4m, "-o", out, option, word] for word in words]
        cases += [
            ["encode", y4m, "-o", out, "--format", "y4m"],        # neither is "-"
            ["encode", y4m, "-o", "out.png"],          # not for encode
            ["encode", y4m, "-o", "-", "--verify"],
            ["encode", y4m, "-o", out, "--quiet", "--verbose"],
            ["decode", y4m, "-o", "o.y4m", "--upsampling", "x"],
        ]
        for arguments in cases:
            with self.subTest(arguments=arguments[2:]):
                done = self.zerorun(*arguments, code=2)
                self.assert_sentence(done)
                self.assertEqual(done.stdout, b"")
                self.assert_nothing_left("out.mjpeg")


class InputTest(ProgramTest):
    def refuse(self, name, *options):
        for command, out in (("encode", "out.mjpeg"), ("decode", "out.y4m")):
            with self.subTest(name=name, command=command):
                done = self.zerorun(command, name, "-o", out, *options, code=3)
                self.assert_sentence(done, os.path.basename(name))
                self.assert_nothing_left(out)
        done = self.zerorun("info", name, code=3)
        self.assert_sentence(done, os.path.basename(name))

    def test_absent_empty_and_foreign_files(self):
        self.write("empty.mjpeg", b"")
        for name in ("text.mov", "text.jpg", "text.png"):  # names alone make no pictures
            self.write(name, "This is neither video nor picture. " * 100)
        os.mkdir("folder")
        for name in ("absent.y4m", "absent%d.png", "absent*.png", "empty.mjpeg", "text.mov", "text.jpg", "text.png", "folder"):
            self.refuse(name)

    def test_a_stream_that_breaks_off_leaves_no_output(self):
        y4m = pathlib.Path(make_y4m("in.y4m", frames=5))
        y4m.write_bytes(y4m.read_bytes()[:-100])
        for command, out in (("encode", "out.mjpeg"), ("decode", "out.y4m")):
            self.zerorun(command, y4m, "-o", out, "--stats", "s.json", code=3)
            self.assert_nothing_left(out)
            self.assert_nothing_left("s.json")

    @needs_containers
    def test_a_movie_that_is_cut_short(self):
        self.encode(make_y4m("in.y4m", frames=5), "-o", "whole.mov")
        data = self.read("whole.mov")
        self.refuse(self.write("half.mov", data[:len(data) // 2]))
        self.assert_sentence(self.zerorun("info", "half.mov", code=3), "half.mov", "without an index")


class OutputTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.y4m = make_y4m("in.y4m", frames=3)

    def test_existing_files_stay_without_y(self):
        """Also a link to one, which -y replaces, and what --stats would write."""
        for name in ("keep.y4m", "stats.csv", "target"):
            self.write(name, "keep me")
        os.symlink("target", "link.mjpeg")
        os.symlink("nowhere.jpg", "loose.mjpeg")
        for command, *words in (("decode", "-o", "keep.y4m"), ("encode", "-o", "other.mjpeg", "--stats", "stats.csv"),
                                ("encode", "-o", "link.mjpeg"), ("encode", "-o", "loose.mjpeg")):
            self.assert_sentence(self.zerorun(command, self.y4m, *words, code=4), "exists already; use -y")
        for name in ("other.mjpeg", "nowhere.jpg"):
            self.assert_nothing_left(name)
        for name in ("link.mjpeg", "loose.mjpeg"):
            self.encode(self.y4m, "-o", name, "-y")
            self.assertFalse(os.path.islink(name))
            self.assertTrue(self.read(name).startswith(b"\xff\xd8"))
        for name in ("keep.y4m", "stats.csv", "target"):
            self.assertEqual(self.read(name), b"keep me")

    def test_places_that_cannot_be_written(self):
        os.mkdir("folder.mjpeg")
        self.encode(self.y4m, "-o", "folder.mjpeg", code=4)
        for name in ("no/such/folder/out.mjpeg", "/dev/full"):
            for command, kind in (("encode", "mjpeg"), ("decode", "y4m")):
                done = self.zerorun(command, self.y4m, "-o", name, "--output-format", kind, "--device", "cpu", code=4)
                self.assert_sentence(done, name)

    def test_sentences_stay_whole(self):
        done = self.encode(self.y4m, "-o", "out.jpg", code=4)
        self.assert_sentence(done, "out.jpg: the output format cannot hold this: it holds one")
        done = self.zerorun("decode", self.y4m, "-o", "out.xyz", code=2)
        self.assert_sentence(done, "out.xyz: decode writes .y4m")

    def test_closed_pipe_is_a_write_error(self):
        large = make_y4m("large.y4m", 320, 240, 20)
        for command in ("encode", "decode"):
            process = subprocess.Popen([PROGRAM, command, large, "-o", "-", "--device", "cpu"],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            process.stdout.read(10)
            process.stdout.close()
            error = process.stderr.read().decode()
            process.stderr.close()
            self.assertEqual(process.wait(300), 4, error)
            self.assertIn("zerorun: ", error)

    def test_facts_into_a_closed_pipe_or_a_full_disk(self):
        """`zerorun --help | head` has read enough."""
        for arguments, code in ((["--help"], 0), (["help", "encode"], 0), (["devices"], 4)):
            read_end, write_end = os.pipe()
            os.close(read_end)
            done = subprocess.run([PROGRAM, *arguments], stdout=write_end, stderr=subprocess.PIPE)
            os.close(write_end)
            self.assertEqual((done.returncode, done.stderr == b""), (code, code == 0), done.stderr)
        with open("/dev/full", "wb") as full:
            done = subprocess.run([PROGRAM, "devices"], stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 4, done.stderr)


class DeviceTest(ProgramTest):
    def test_unknown_instruction_set(self):
        y4m, mmx = make_y4m("in.y4m", 32, 16, 1), {**os.environ, "ZERORUN_CPU": "mmx"}
        self.assert_sentence(self.zerorun("devices", code=2, env=mmx), 'ZERORUN_CPU is "mmx"')
        self.assert_sentence(self.zerorun("encode", y4m, "-o", "out.mjpeg", "--cpu", "mmx", code=2),
                             "--cpu: 'mmx' is not one of best, scalar")
        self.assert_nothing_left("out.mjpeg")
        self.assert_sentence(self.zerorun("bench", "synthetic:64x64:ramp", "--cpu", "mmx", code=2),
                             "--cpu: 'mmx' is not one of scalar")

    def without_a_gpu(self):
        devices = json.loads(self.zerorun("devices", "--json").stdout)["devices"]
        self.assertEqual(devices[0]["device"], "cpu")
        if any(d["usable"] for d in devices[1:]):
            self.skipTest("this machine has a usable GPU")
        return make_y4m("in.y4m", frames=1)

    def test_cuda_without_a_usable_device(self):
        y4m = self.without_a_gpu()
        for command, *words in (("encode", "-o", "out.mjpeg"), ("decode", "-o", "out.y4m"), ("play",),
                                ("play", "--no-window"), ("play", "--no-window", "--json")):
            for device in ("cuda", "cuda:7", "cuda:all"):
                done = self.zerorun(command, y4m, *words, "--device", device, code=5)
                self.assert_sentence(done, "CUDA")
                self.assertEqual((done.stdout, os.listdir()), (b"", ["in.y4m"]))

    def test_auto_falls_back_and_says_so_once(self):
        y4m = self.without_a_gpu()
        done = self.zerorun("encode", y4m, "-o", "out.mjpeg")
        self.assertNotIn("CUDA", done.stderr.decode())  # nobody asked for it
        done = self.zerorun("encode", y4m, "-o", "out.mjpeg", "-y", "-v")
        self.assertIn("--device auto takes the CPU, because ", done.stderr.decode())
        done = self.zerorun("encode", y4m, "-o", "out.mjpeg", "-y", "--quiet")
        self.assertEqual(done.stderr, b"")


class VerifyTest(ProgramTest):
    def test_what_lies_there_beside_the_output_is_a_mismatch(self):
        # A fourth file of an older run makes the sequence longer than what was coded.
        y4m = make_y4m("in.y4m", frames=3)
        os.mkdir("out")
        self.encode(y4m, "-o", "out/%d.jpg", "--verify")
        self.write("out/4.jpg", self.read("out/1.jpg"))
        done = self.encode(y4m, "-o", "out/%d.jpg", "-y", "--verify", code=6)
        self.assertIn("verification failed", done.stderr.decode())
