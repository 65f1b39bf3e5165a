# Every class of error: its exit code, one sentence, and nothing half-written; signals, too.
# SPDX-License-Identifier: MIT
import json
import os
import pathlib
import signal
import subprocess

from support import (BUILT_WITH_FFMPEG, HAS_FFMPEG, PLAYER, PROGRAM, ProgramTest, bytes_in, make_y4m,
                     needs_containers, video_stream)


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
        self.assert_sentence(self.zerorun("decode", self.y4m, "-o", "out.xyz", code=2), "out.xyz: decode writes .y4m")

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
        self.assertNotIn("CUDA", self.zerorun("encode", y4m, "-o", "out.mjpeg").stderr.decode())  # nobody asked for it
        done = self.zerorun("encode", y4m, "-o", "out.mjpeg", "-y", "-v")
        self.assertIn("--device auto takes the CPU, because ", done.stderr.decode())
        self.assertEqual(self.zerorun("encode", y4m, "-o", "out.mjpeg", "-y", "--quiet").stderr, b"")


class VerifyTest(ProgramTest):
    def test_what_lies_there_beside_the_output_is_a_mismatch(self):
        # A fourth file of an older run makes the sequence longer than what was coded.
        y4m = make_y4m("in.y4m", frames=3)
        os.mkdir("out")
        self.encode(y4m, "-o", "out/%d.jpg", "--verify")
        self.write("out/4.jpg", self.read("out/1.jpg"))
        done = self.encode(y4m, "-o", "out/%d.jpg", "-y", "--verify", code=6)
        self.assertIn("verification failed", done.stderr.decode())


class SignalsTest(ProgramTest):
    def setUp(self):
        super().setUp()
        y4m = self.read(make_y4m("in.y4m", 64, 48, 6))
        head = y4m.index(b"\n") + 1
        frame = (len(y4m) - head) // 6
        self.header = y4m[:head]
        self.frames = [y4m[head + i * frame:head + (i + 1) * frame] for i in range(6)]

    def start(self, command, *arguments):
        return subprocess.Popen([PROGRAM, command, "-", "-o", *map(str, arguments), "--device",
                                 "cpu"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE)

    def feed(self, process, count, until):
        """Gives some frames and waits until all are coded: the program then waits for more on a pipe
        that stays open."""
        process.stdin.write(self.header + b"".join(self.frames[:count]))
        process.stdin.flush()
        self.wait_until(lambda: os.path.exists(until) and os.path.getsize(until) > 0, "output")
        self.wait_until(lambda: bytes_in(process.stdin) == 0, "an empty pipe")
        self.wait_until_done(process)

    @staticmethod
    def takes_signals(pid):
        """The program blocks the signals that its own thread waits for."""
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        blocked = int(next(line for line in status.splitlines() if line.startswith("SigBlk:"))
                      .split()[1], 16)
        return blocked & 1 << signal.SIGINT - 1 != 0

    def end(self, process, number):
        process.send_signal(number)
        code = process.wait(300)
        process.stdin.close()
        text = process.stderr.read().decode()
        process.stderr.close()
        return code, text

    def test_the_file_is_finished(self):
        kinds = ["mjpeg"] + (["mov", "mkv", "avi"] if BUILT_WITH_FFMPEG and HAS_FFMPEG else [])
        for kind in kinds:
            for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
                with self.subTest(kind=kind, code=code):
                    out = "out." + kind
                    process = self.start("encode", out, "-y")
                    self.feed(process, 4, out + ".part")
                    self.assertEqual(self.end(process, number)[0], code)
                    self.assertFalse(os.path.exists(out + ".part"))
                    self.assertEqual(self.info(out)["frames"], 4)
                    if kind != "mjpeg":
                        self.assertEqual(int(video_stream(out)["nb_read_frames"]), 4)
                    os.remove(out)

    def test_decode_is_finished_too(self):
        out = "out.y4m"
        process = self.start("decode", out)
        self.feed(process, 3, out + ".part")
        code, text = self.end(process, signal.SIGINT)
        self.assertEqual(code, 130)
        self.assertIn("interrupted", text)
        self.assertEqual(self.read(out).count(b"FRAME\n"), 3)

    def test_commands_without_an_output_speak_of_none(self):
        video = "a.mjpeg"
        process = self.start("encode", video)
        self.feed(process, 6, video + ".part")
        process.stdin.close()
        self.assertEqual(process.wait(300), 0)
        process.stderr.close()
        first = self.read(video)
        play = subprocess.Popen([PLAYER, "play", "-", "--no-window", "--device", "cpu"], stdin=subprocess.PIPE,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        play.stdin.write(first)
        play.stdin.flush()
        bench = subprocess.Popen([PROGRAM, "bench", "synthetic:1920x1080:photo", "--time", "60", "--no-peers", "--device",
                                  "cpu"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.wait_until(lambda: bytes_in(play.stdin) == 0, "an empty pipe")
        self.wait_until_done(play)
        text = self.end(play, signal.SIGINT)[1]
        self.assertIn("interrupted; ending", text)
        self.assertNotIn("end of the file", text)
        self.wait_until(lambda: self.takes_signals(bench.pid), "bench that takes signals")
        self.assertNotIn("end of the file", self.end(bench, signal.SIGINT)[1])

    def test_before_the_first_frame_nothing_is_written(self):
        process = self.start("encode", "out.mjpeg")
        self.wait_until(lambda: self.takes_signals(process.pid))
        self.assertEqual(self.end(process, signal.SIGINT)[0], 130)
        self.assert_nothing_left("out.mjpeg")

    def test_a_second_signal_ends_what_would_never_end(self):
        # The output is a pipe that nobody reads: the end of the file cannot be written.
        fifo = "out.fifo"
        os.mkfifo(fifo)
        reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        large = make_y4m("large.y4m", 320, 240, 30)
        process = subprocess.Popen([PROGRAM, "encode", large, "-o", fifo, "--output-format",
                                    "mjpeg", "-q", "100", "--device", "cpu"],
                                   stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        self.wait_until(lambda: bytes_in(reader) > 60000, "a full pipe, but for less than a page")
        process.send_signal(signal.SIGINT)
        self.assertIn(b"interrupt again to stop at once", process.stderr.readline())
        self.wait_until_done(process)  # it would wait for ever
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(300), 130)

    def test_two_signals_leave_no_part(self):
        out = "out.mjpeg"
        process = self.start("encode", out)
        self.feed(process, 4, out + ".part")
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGTERM)
        code, _ = self.end(process, signal.SIGTERM)
        self.assertEqual(code, 143)
        self.assertFalse(os.path.exists(out + ".part"))
        if os.path.exists(out):  # the first one was seen to before the second came
            self.assertEqual(self.info(out)["frames"], 4)

    def test_progress_ends_with_interrupted(self):
        process = self.start("encode", "out.mjpeg", "--progress", "json", "--stats", "s.json")
        self.feed(process, 4, "out.mjpeg" + ".part")
        code, text = self.end(process, signal.SIGINT)
        self.assertEqual(code, 130)
        events = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
        self.assertEqual((events[-1]["progress"], events[-1]["outcome"]), ("end", "interrupted"))
        stats = json.loads(self.read("s.json"))
        self.assertEqual(len(stats["frames"]), 4)
