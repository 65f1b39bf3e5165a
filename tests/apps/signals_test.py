# SIGINT and SIGTERM finish the file; a second one ends at once.
# SPDX-License-Identifier: MIT
import json
import os
import pathlib
import signal
import subprocess

from support import (BUILT_WITH_FFMPEG, HAS_FFMPEG, PLAYER, PROGRAM, ProgramTest, bytes_in, make_y4m,
                     video_stream)


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
        out = "out.mjpeg"
        process = self.start("encode", out, "--progress", "json", "--stats", "s.json")
        self.feed(process, 4, out + ".part")
        code, text = self.end(process, signal.SIGINT)
        self.assertEqual(code, 130)
        events = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
        self.assertEqual((events[-1]["progress"], events[-1]["outcome"]), ("end", "interrupted"))
        stats = json.loads(self.read("s.json"))
        self.assertEqual(len(stats["frames"]), 4)
