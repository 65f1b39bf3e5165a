# Every class of error: its exit code, one sentence, and nothing half-written.
# SPDX-License-Identifier: MIT
import os
import pathlib
import subprocess

from support import PROGRAM, ProgramTest, make_y4m, needs_containers


class UsageTest(ProgramTest):
    def test_bad_command_lines(self):
        y4m = make_y4m(self.path("in.y4m"), frames=1)
        out = self.path("out.mjpeg")
        cases = [
            ["foo"], ["help", "foo"], ["encode"], ["encode", y4m], ["encode", y4m, "-o"],
            ["encode", y4m, "-o", out, "--foo"],
            ["encode", y4m, "extra", "-o", out],
        ]
        for option, words in {
                "-q": ("0", "101", "x"), "--subsampling": ("421", "4:2:1", ""), "--huffman": ("best",),
                "--restart": ("0", "65536", "rows", "-1", "5cols"),
                "--fps": ("0", "-25", "25/0", "a", "1/2/3"),
                "--frames": ("0", "-5", "5:5", "6:5", "-1:3", "a:b"), "--missing": ("black",),
                "--threads": ("-1", "x", "5000"), "--device": ("gpu", "cuda:x", "cuda:-1"),
                "--audio": ("mix",), "--progress": ("bar",), "--start-number": ("x",),
                "--format": ("mov",), "--stats": (self.path("stats.txt"),)}.items():
            cases += [["encode", y4m, "-o", out, option, word] for word in words]
        cases += [
            ["encode", y4m, "-o", out, "--format", "y4m"],        # neither is "-"
            ["encode", y4m, "-o", self.path("out.png")],          # not for encode
            ["encode", y4m, "-o", "-", "--verify"],
            ["encode", y4m, "-o", out, "--quiet", "--verbose"],
            ["decode", y4m, "-o", self.path("o.y4m"), "--upsampling", "x"],
        ]
        for arguments in cases:
            with self.subTest(arguments=arguments[2:]):
                done = self.zerorun(*arguments, code=2)
                self.assert_sentence(done)
                self.assertEqual(done.stdout, b"")
                self.assert_nothing_left("out.mjpeg")

    def test_the_sentence_names_what_is_wrong(self):
        for arguments, words in ((["encode"], "INPUT is required"),
                                 (["encode", "--foo"], "--foo")):
            with self.subTest(arguments=arguments):
                done = self.zerorun(*arguments, code=2)
                self.assertIn(words, done.stderr.decode())

    def test_help_in_all_its_forms(self):
        whole = self.zerorun("--help").stdout
        for arguments in ([], ["help"], ["help", "--help"]):
            self.assertEqual(self.zerorun(*arguments).stdout, whole)
        self.assertEqual(self.zerorun("help", "encode").stdout, self.zerorun("encode", "--help").stdout)

    def test_help_and_version_are_no_errors(self):
        for arguments in (["--help"], ["--version"], ["encode", "--help"], ["decode", "-h"],
                          ["info", "--help"], ["devices", "--help"]):
            done = self.zerorun(*arguments)
            self.assertEqual(done.stderr, b"")
            self.assertGreater(len(done.stdout), 10)
        for option in ("--quality", "--restart", "--missing", "--verify", "--icc"):
            self.assertIn(option, self.zerorun("encode", "--help-all").stdout.decode())


class InputTest(ProgramTest):
    def refuse(self, name, *options):
        for command, out in (("encode", "out.mjpeg"), ("decode", "out.y4m")):
            with self.subTest(name=name, command=command):
                done = self.zerorun(command, name, "-o", self.path(out), *options, code=3)
                self.assert_sentence(done, os.path.basename(name))
                self.assert_nothing_left(out)
        done = self.zerorun("info", name, code=3)
        self.assert_sentence(done, os.path.basename(name))

    def test_absent_empty_and_foreign_files(self):
        self.refuse(self.path("absent.y4m"))
        self.refuse(self.path("absent%d.png"))
        self.refuse(self.path("absent*.png"))
        empty = pathlib.Path(self.path("empty.mjpeg"))
        empty.touch()
        self.refuse(str(empty))
        text = pathlib.Path(self.path("text.mov"))
        text.write_text("This is no video at all. " * 100)
        self.refuse(str(text))
        for name in ("text.jpg", "text.png"):  # names alone make no pictures
            path = pathlib.Path(self.path(name))
            path.write_text("This is no picture at all. " * 100)
            self.refuse(str(path))
        (self.dir / "folder").mkdir()
        self.refuse(self.path("folder"))

    def test_damaged_headers(self):
        path = pathlib.Path(self.path("bad.y4m"))
        for header in (b"YUV4MPEG2\n", b"YUV4MPEG2 W0 H8 F25:1\nFRAME\n",
                       b"YUV4MPEG2 W99999999999 H8 F25:1\nFRAME\n", b"YUV4MPEG2 W16 H16"):
            path.write_bytes(header)
            self.refuse(str(path))

    def test_a_stream_that_breaks_off_leaves_no_output(self):
        y4m = pathlib.Path(make_y4m(self.path("in.y4m"), frames=5))
        y4m.write_bytes(y4m.read_bytes()[:-100])
        for command, out in (("encode", "out.mjpeg"), ("decode", "out.y4m")):
            self.zerorun(command, y4m, "-o", self.path(out), "--stats", self.path("s.json"), code=3)
            self.assert_nothing_left(out)
            self.assert_nothing_left("s.json")

    @needs_containers
    def test_a_movie_that_is_cut_short(self):
        self.encode(make_y4m(self.path("in.y4m"), frames=5), "-o", self.path("whole.mov"))
        data = pathlib.Path(self.path("whole.mov")).read_bytes()
        half = pathlib.Path(self.path("half.mov"))
        half.write_bytes(data[:len(data) // 2])
        self.refuse(str(half))
        self.assert_sentence(self.zerorun("info", half, code=3), "half.mov", "without an index")


class OutputTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.y4m = make_y4m(self.path("in.y4m"), frames=3)

    def test_existing_files_stay_without_y(self):
        keep = pathlib.Path(self.path("keep.mjpeg"))
        keep.write_text("keep me")
        done = self.encode(self.y4m, "-o", keep, code=4)
        self.assertIn("-y", done.stderr.decode())
        self.assertEqual(keep.read_text(), "keep me")
        self.encode(self.y4m, "-o", keep, "-y")
        self.assertTrue(keep.read_bytes().startswith(b"\xff\xd8"))
        for out, command in (("keep.y4m", "decode"), ("stats.csv", "encode")):
            pathlib.Path(self.path(out)).write_text("keep me")
            more = ["-o", self.path(out)] if command == "decode" else [
                "-o", self.path("other.mjpeg"), "--stats", self.path(out)]
            self.zerorun(command, self.y4m, *more, code=4)
            self.assertEqual(pathlib.Path(self.path(out)).read_text(), "keep me")
        self.assert_nothing_left("other.mjpeg")

    def test_a_link_is_replaced_and_its_target_stays(self):
        target, link = pathlib.Path(self.path("target")), pathlib.Path(self.path("link.mjpeg"))
        target.write_text("keep me")
        link.symlink_to(target)
        self.encode(self.y4m, "-o", link, code=4)
        self.encode(self.y4m, "-o", link, "-y")
        self.assertFalse(link.is_symlink())
        self.assertTrue(link.read_bytes().startswith(b"\xff\xd8"))
        self.assertEqual(target.read_text(), "keep me")

    def test_places_that_cannot_be_written(self):
        for name in (self.path("no/such/folder/out.mjpeg"), "/dev/full"):
            for command, kind in (("encode", "mjpeg"), ("decode", "y4m")):
                done = self.zerorun(command, self.y4m, "-o", name, "--output-format", kind,
                                    "--device", "cpu", code=4)
                self.assert_sentence(done, name)
        (self.dir / "folder.mjpeg").mkdir()
        self.encode(self.y4m, "-o", self.path("folder.mjpeg"), code=4)

    def test_sentences_stay_whole(self):
        done = self.encode(self.y4m, "-o", self.path("out.jpg"), code=4)
        self.assert_sentence(done, "out.jpg: the output format cannot hold this: it holds one")
        done = self.zerorun("decode", self.y4m, "-o", self.path("out.xyz"), code=2)
        self.assert_sentence(done, "out.xyz: decode writes .y4m")

    def test_closed_pipe_is_a_write_error(self):
        large = make_y4m(self.path("large.y4m"), 320, 240, 20)
        for command in ("encode", "decode"):
            process = subprocess.Popen([PROGRAM, command, large, "-o", "-", "--device", "cpu"],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            process.stdout.read(10)
            process.stdout.close()
            error = process.stderr.read().decode()
            process.stderr.close()
            self.assertEqual(process.wait(300), 4, error)
            self.assertIn("zerorun: ", error)

    def test_help_into_a_closed_pipe_is_no_error(self):
        """`zerorun --help | head` has read enough."""
        for arguments, code in ((["--help"], 0), (["help", "encode"], 0), (["devices"], 4)):
            read_end, write_end = os.pipe()
            os.close(read_end)
            done = subprocess.run([PROGRAM, *arguments], stdout=write_end, stderr=subprocess.PIPE)
            os.close(write_end)
            self.assertEqual((done.returncode, done.stderr == b""), (code, code == 0), done.stderr)

    def test_full_disk_under_info(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([PROGRAM, "devices"], stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 4, done.stderr)


class DeviceTest(ProgramTest):
    def test_unknown_instruction_set(self):
        done = subprocess.run([PROGRAM, "devices"], capture_output=True, text=True,
                              env={**os.environ, "ZERORUN_CPU": "mmx"})
        self.assertEqual(done.returncode, 2)
        self.assertIn('ZERORUN_CPU is "mmx"', done.stderr)
        y4m = make_y4m(self.path("in.y4m"), 32, 16, 1)
        done = subprocess.run([PROGRAM, "encode", y4m, "-o", self.path("out.mjpeg"), "--cpu", "mmx"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--cpu: 'mmx' is not one of best, scalar", done.stderr)
        self.assertFalse(pathlib.Path(self.path("out.mjpeg")).exists())
        done = subprocess.run([PROGRAM, "bench", "synthetic:64x64:ramp", "--cpu", "mmx"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--cpu: 'mmx' is not one of scalar", done.stderr)

    def test_cuda_without_a_usable_device(self):
        import json
        devices = json.loads(self.zerorun("devices", "--json").stdout)["devices"]
        self.assertEqual(devices[0]["device"], "cpu")
        if any(d["usable"] for d in devices[1:]):
            self.skipTest("this machine has a usable GPU")
        y4m = make_y4m(self.path("in.y4m"), frames=1)
        for command, out in (("encode", "out.mjpeg"), ("decode", "out.y4m")):
            for device in ("cuda", "cuda:7"):
                done = self.zerorun(command, y4m, "-o", self.path(out), "--device", device, code=5)
                self.assert_sentence(done, "CUDA")
                self.assert_nothing_left(out)
        for device in ("cuda", "cuda:7"):
            for options in ((), ("--no-window",), ("--no-window", "--json")):
                done = self.zerorun("play", y4m, "--device", device, *options, code=5)
                self.assert_sentence(done, "CUDA")
                self.assertEqual(done.stdout, b"")

    def test_auto_falls_back_and_says_so_once(self):
        import json
        devices = json.loads(self.zerorun("devices", "--json").stdout)["devices"]
        if any(d["usable"] for d in devices[1:]):
            self.skipTest("this machine has a usable GPU")
        y4m = make_y4m(self.path("in.y4m"), frames=1)
        done = self.zerorun("encode", y4m, "-o", self.path("out.mjpeg"))
        self.assertNotIn("CUDA", done.stderr.decode())  # nobody asked for it
        done = self.zerorun("encode", y4m, "-o", self.path("out.mjpeg"), "-y", "-v")
        self.assertIn("--device auto takes the CPU, because ", done.stderr.decode())
        done = self.zerorun("encode", y4m, "-o", self.path("out.mjpeg"), "-y", "--quiet")
        self.assertEqual(done.stderr, b"")


class VerifyTest(ProgramTest):
    def test_what_lies_there_beside_the_output_is_a_mismatch(self):
        # A fourth file of an older run makes the sequence longer than what was coded.
        y4m = make_y4m(self.path("in.y4m"), frames=3)
        (self.dir / "out").mkdir()
        self.encode(y4m, "-o", self.path("out/%d.jpg"), "--verify")
        old = (self.dir / "out" / "1.jpg").read_bytes()
        (self.dir / "out" / "4.jpg").write_bytes(old)
        done = self.encode(y4m, "-o", self.path("out/%d.jpg"), "-y", "--verify", code=6)
        self.assertIn("verification failed", done.stderr.decode())
