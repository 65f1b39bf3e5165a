# What a run opens: a picture once, so that a named pipe can be one, and the libraries that it needs alone.
# SPDX-License-Identifier: MIT
import ctypes
import os
import re
import struct
import subprocess
import threading
import unittest

from support import PROGRAM, ProgramTest, make_ppm, make_y4m, needs_containers, needs_opencv

MEDIA = ("libavformat", "libavcodec", "libswscale")
PICTURES = ("libopencv_core", "libopencv_imgcodecs")
WINDOW = ("libSDL2-2", "libSDL2_ttf")  # libfontconfig serves others, too

IN_ACCESS, IN_CLOSE_NOWRITE, IN_OPEN = 0x1, 0x10, 0x20
IN_NONBLOCK = os.O_NONBLOCK


class Opens:
    """Counts how often a file is opened, by inotify. Reads and closes are watched, too: the kernel joins events that
    are equal and follow each other."""

    def __init__(self, path):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.queue = self.libc.inotify_init1(IN_NONBLOCK)
        if self.queue < 0:
            raise unittest.SkipTest("there is no inotify here")
        watch = self.libc.inotify_add_watch(self.queue, os.fsencode(path), IN_OPEN | IN_ACCESS | IN_CLOSE_NOWRITE)
        if watch < 0:
            raise unittest.SkipTest("inotify watches no file here")

    def count(self):
        opens = 0
        while True:
            try:
                events = os.read(self.queue, 65536)
            except BlockingIOError:
                break
            while events:
                _, mask, _, name_bytes = struct.unpack_from("iIII", events)
                opens += bool(mask & IN_OPEN)
                events = events[16 + name_bytes:]
        os.close(self.queue)
        return opens


class OpensTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.kinds = {"ppm": make_ppm("in.ppm", frame=1)}
        self.encode(self.kinds["ppm"], "-o", "in.jpg")
        self.kinds["jpg"] = "in.jpg"
        for kind in ("png", "tiff", "bmp", "webp"):
            path = "in." + kind
            done = subprocess.run([PROGRAM, "decode", self.kinds["ppm"], "-o", path], capture_output=True)
            if done.returncode == 0:  # this build has its library
                self.kinds[kind] = path

    def opens(self, watched, *command):
        opens = Opens(watched)
        self.zerorun(*command)
        return opens.count()

    def test_the_count_is_true(self):
        path = self.kinds["ppm"]
        opens = Opens(path)
        for _ in range(3):
            self.read(path)
        self.assertEqual(opens.count(), 3)

    def test_one_picture(self):
        for kind, path in self.kinds.items():
            for command in (["encode", path, "-o", "o.jpg", "--device", "cpu", "-y"],
                            ["encode", path, "-o", "o.jpg", "--device", "auto", "-y"],
                            ["decode", path, "-o", "o.ppm", "--device", "cpu", "-y"],
                            ["decode", path, "-o", "o.y4m", "--device", "cpu", "-y"], ["info", path],
                            ["info", path, "--json"]):
                # A PNM file is a stream of pictures, and is opened again to be read in another format.
                again = kind == "ppm" and "o.y4m" in command
                with self.subTest(kind=kind, command=command):
                    self.assertEqual(self.opens(path, *command), 2 if again else 1)

    def test_a_sequence(self):
        for frame in range(3):
            make_ppm(f"{frame}.ppm", frame=frame)
        self.zerorun("decode", "%d.ppm", "-o", "%d.png" if "png" in self.kinds else "%d.pgm")
        for pattern in ("%d.ppm", "%d.png") if "png" in self.kinds else ("%d.ppm",):
            for frame in range(3):
                path = pattern % (frame if pattern.endswith("ppm") else frame + 1)
                with self.subTest(path=path):
                    self.assertEqual(self.opens(path, "encode", pattern, "-o", "o.mjpeg", "-y"), 1)

    def test_a_named_pipe(self):
        for kind, path in self.kinds.items():
            pipe = "pipe." + kind
            os.mkfifo(pipe)
            for command in (["encode", "-o", "o.jpg"], ["decode", "-o", "o.ppm"], ["info"]):
                with self.subTest(kind=kind, command=command):
                    data = self.read(path)
                    writer = threading.Thread(target=lambda: self.write(pipe, data), daemon=True)
                    writer.start()
                    self.zerorun(command[0], pipe, *command[1:], *([] if command == ["info"] else ["-y"]), timeout=60)
                    writer.join()
                    if command[0] == "info":
                        continue
                    got = self.read(command[2])
                    self.zerorun(command[0], path, *command[1:], "-y")
                    self.assertEqual(got, self.read(command[2]))


class StartTest(ProgramTest):
    def libraries(self, *arguments):
        """The libraries that a run opened, by the dynamic linker's own report."""
        report = self.dir / "report"
        self.zerorun(*arguments, env={**os.environ, "LD_DEBUG": "libs", "LD_DEBUG_OUTPUT": str(report)})
        names = set()
        for file in self.dir.glob("report.*"):
            names |= set(re.findall(r"calling init: .*/([^/\n]+)\.so", file.read_text()))
            file.unlink()
        self.assertIn("libc", names)
        return names

    def assert_opens(self, wanted, unwanted, *arguments):
        names = self.libraries(*arguments)
        self.assertTrue(names.issuperset(wanted), names)
        self.assertFalse(names & set(unwanted), names & set(unwanted))
        return names

    def test_what_needs_no_library_opens_none(self):
        y4m = make_y4m("in.y4m", frames=2)
        for arguments in (["--version"], ["encode", "--help"], ["encode", y4m, "-o", "out.mjpeg", "--device", "cpu"],
                          ["decode", "out.mjpeg", "-o", "out.y4m", "--device", "cpu"], ["info", "out.mjpeg"],
                          ["play", "out.mjpeg", "--no-window", "--device", "cpu"]):
            with self.subTest(arguments=arguments[:1]):
                names = self.assert_opens((), MEDIA + PICTURES + WINDOW, *arguments)
                self.assertLess(len(names), 20, names)  # 8 of Debian 12; sanitizers bring more

    @needs_containers
    def test_a_container_opens_ffmpeg_alone(self):
        y4m = make_y4m("in.y4m", frames=2)
        self.assert_opens(MEDIA, PICTURES + WINDOW, "encode", y4m, "-o", "out.mov", "--device", "cpu")

    @needs_opencv
    def test_pictures_open_what_reads_their_kind_alone(self):
        for command, source, out, wanted, others in (
                ("decode", make_ppm("in.ppm"), "out.png", ("libpng16",), ()), ("encode", "out.png", "out.jpg", (), PICTURES),
                ("decode", "in.ppm", "out.tiff", PICTURES, ())):
            self.assert_opens(wanted, MEDIA + WINDOW + others, command, source, "-o", out, "--device", "cpu")
