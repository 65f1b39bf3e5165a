# --sandbox: what an input cannot do once it has taken the program over, and that nothing else changes.
# SPDX-License-Identifier: MIT
import contextlib
import json
import os
import pathlib
import pty
import select
import shutil
import signal
import subprocess
import time
import unittest

from support import (PROGRAM, VERSION, ProgramTest, ffmpeg, make_ppm, make_y4m, needs_containers,
                     needs_opencv, needs_terminal)

INTRUDER = os.environ.get("ZERORUN_INTRUDER", "")
CONTAINERS = ["mov", "mp4", "mkv", "avi", "mjpeg"]


def kernel_has_landlock():
    import ctypes
    return ctypes.CDLL(None).syscall(444, None, 0, 1) >= 1


@unittest.skipUnless("+sandbox" in VERSION, "this build has no sandbox")
@unittest.skipUnless(kernel_has_landlock(), "this kernel has no Landlock")
class SandboxTest(ProgramTest):
    def setUp(self):
        super().setUp()
        # The secret lies beside the folders of input and output, and is no file of the system.
        for name in ("in", "out"):
            (self.dir / name).mkdir()
        self.secret = self.dir / "secret"
        self.secret.write_text("secret")

    def both(self, *arguments):
        """The same with and without a sandbox: exit code, stdout, stderr."""
        plain, boxed = (self.zerorun(*arguments, *more, code=None) for more in ([], ["--sandbox"]))
        self.assertEqual((plain.returncode, plain.stdout, plain.stderr),
                         (boxed.returncode, boxed.stdout, boxed.stderr), arguments)
        return boxed

    def same_file(self, *arguments, output):
        """OUTPUT has the same bytes with and without a sandbox."""
        results = []
        for more in ([], ["--sandbox"]):
            self.zerorun(*arguments, "-o", output, "-y", "--quiet", *more)
            results.append(self.read(output))
        self.assertEqual(results[0], results[1], arguments)

    def test_a_sandbox_that_start_does_not_see_is_refused(self):
        y4m, out = make_y4m(self.path("in/a.y4m")), self.path("out/a.mjpeg")
        for words, environment in ((["--sandbox=true"], {}), (["--sandbox=1"], {}),
                                   ([], {"ZERORUN_SANDBOX": "yes"})):
            with self.subTest(words=words, environment=environment):
                done = self.zerorun("encode", y4m, "-o", out, *words, code=2, env={**os.environ, **environment})
                self.assertIn("sandbox", done.stderr.decode().lower())
                self.assertFalse(os.path.exists(out))

    def test_a_parent_that_waits_for_no_child_is_answered(self):
        y4m = make_y4m(self.path("in/a.y4m"))
        self.zerorun("info", y4m, "--sandbox", preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))

    @unittest.skipUnless(INTRUDER, "there is no intruder")
    def test_descriptors_of_the_caller_are_closed_unless_they_are_named(self):
        with open(self.secret, "rb") as secret, open(make_y4m(self.path("in/intrude.y4m")), "rb") as named:
            environment = {**os.environ, "LD_PRELOAD": INTRUDER, "INTRUDER_DOES": "inherit",
                           "INTRUDER_FILE": str(secret.fileno())}
            for extra, answer in (([], b"intruder: done"), (["--sandbox"], b"intruder: refused")):
                self.assertIn(answer, self.encode(self.path("in/intrude.y4m"), "-o", "null:", "-v", *extra,
                                                  env=environment, pass_fds=[secret.fileno()]).stderr)
            boxed, plain = (self.zerorun("info", f"/dev/fd/{named.fileno()}", *more, pass_fds=[named.fileno()]).stdout
                            for more in (["--sandbox"], []))
            self.assertEqual(boxed, plain)

    @unittest.skipUnless(INTRUDER, "there is no intruder")
    def test_no_name_opens_the_folder_beside(self):
        """Of OUTPUT in a folder of its own name, of words that options take instead of files, and of null:."""
        make_y4m(self.path("intrude.y4m"))
        (self.dir / "a.mjpeg").mkdir()
        environment = {**os.environ, "LD_PRELOAD": INTRUDER, "INTRUDER_DOES": "write", "INTRUDER_FILE": "new"}
        for what, words in (("write", ["-o", "a.mjpeg/a.mjpeg", "-y"]), ("write", ["-o", "null:"]),
                            ("read", ["-o", "a.mjpeg/a.mjpeg", "-y", "--tables", "flat"])):
            with self.subTest(what=what, words=words):
                environment["INTRUDER_DOES"] = what
                environment["INTRUDER_FILE"] = "secret" if what == "read" else "new"
                done = self.encode("intrude.y4m", *words, "-v", "--sandbox", env=environment)
                self.assertIn(b"intruder: refused", done.stderr)

    @needs_containers
    def test_containers_have_the_same_bytes(self):
        y4m = make_y4m(self.path("in/a.y4m"))
        for kind in CONTAINERS:
            with self.subTest(kind):
                self.same_file("encode", y4m, output=self.path(f"out/a.{kind}"))
                self.same_file("decode", self.path(f"out/a.{kind}"),
                               output=self.path(f"out/{kind}.y4m"))
                self.same_file("copy", self.path(f"out/a.{kind}"),
                               output=self.path(f"out/copy_{kind}.mov"))
                for command in ("info", "verify"):
                    self.assertEqual(self.both(command, self.path(f"out/a.{kind}")).returncode, 0)

    @needs_containers
    def test_video_of_other_codecs_with_sound(self):
        video = self.path("in/a.mp4")
        ffmpeg("-f", "lavfi", "-i", "testsrc=size=64x48:rate=25:duration=0.4", "-f", "lavfi", "-i",
               "sine=duration=0.4", "-c:v", "mpeg4", "-c:a", "aac", video)
        self.same_file("encode", video, output=self.path("out/a.mov"))

    @needs_opencv
    def test_pictures(self):
        for number in range(3):
            make_ppm(self.path(f"in/p{number}.ppm"), frame=number)
        for kind in ("png", "tiff", "bmp", "webp"):
            pattern = self.path(f"out/p%d.{kind}")
            self.zerorun("encode", self.path("in/p%d.ppm"), "-o", self.path("in/p.mov"), "-y")
            self.zerorun("decode", self.path("in/p.mov"), "-o", pattern, "--sandbox")
            self.same_file("encode", pattern, output=self.path("out/p.mjpeg"))

    def test_lists_globs_folders_and_stdin(self):
        for number in range(3):
            make_ppm(self.path(f"in/p{number}.ppm"), frame=number)
        (self.dir / "list").mkdir()
        (self.dir / "list" / "l.txt").write_text("../in/p0.ppm\n" + self.path("in/p2.ppm") + "\n")
        for source in ("in", "in/*.ppm", "in/p%d.ppm", "@list/l.txt"):
            source = "@" + self.path(source[1:]) if source[0] == "@" else self.path(source)
            self.same_file("encode", source, output=self.path("out/p.mjpeg"))
        with open(self.path("in/p0.ppm"), "rb") as source:
            done = self.zerorun("encode", "-", "--format", "pnm", "-o", "-", "--sandbox", stdin=source)
        self.assertEqual(done.stdout, self.zerorun("encode", self.path("in/p0.ppm"), "-o", "-").stdout)

    def test_names_in_the_folder_where_the_program_runs(self):
        self.zerorun("encode", make_y4m("a.y4m"), "-o", "a.mjpeg", "--sandbox")

    def test_errors_are_the_same(self):
        broken = self.path("in/broken.y4m")
        self.write(broken, b"YUV4MPEG2 W64 H48\nFRAME\nshort")
        self.assertEqual(self.both("encode", broken, "-o", self.path("out/a.mjpeg")).returncode, 3)
        self.assertEqual(self.both("info", self.path("in/none.mov")).returncode, 3)
        self.assertEqual(self.both("verify", broken).returncode, 3)
        self.assertEqual(self.both("encode", broken, "--nonsense").returncode, 2)
        self.encode(make_y4m("in/a.y4m"), "-o", "in/a.mjpeg")
        data = self.read("in/a.mjpeg")
        self.write("in/cut.mjpeg", data[:len(data) * 2 // 3])
        self.both("verify", self.path("in/cut.mjpeg"))

    def intrude(self, what, target=None, *options, code=0):
        """Without -v the program hides what others write to stderr."""
        source = make_y4m(self.path("in/intrude.y4m"))
        environment = {**os.environ, "LD_PRELOAD": INTRUDER, "INTRUDER_DOES": what,
                       "INTRUDER_FILE": str(target or self.secret)}
        return self.encode(source, "-o", self.path("out/a.mjpeg"), "-y", *options, code=code, env=environment)

    @unittest.skipUnless(INTRUDER, "there is no intruder")
    def test_what_an_intruder_cannot_do(self):
        for what, target in (("read", None), ("read", "/etc/passwd"), ("write", None),
                             ("write", self.dir / "new"), ("write", self.dir / "in" / "new"),
                             ("truncate", None), ("truncate", self.dir / "in" / "intrude.y4m"),
                             ("remove", None), ("chmod", None), ("socket", None), ("fork", None),
                             ("signal", None), ("empty", self.dir / "in" / "intrude.y4m"), ("device", None),
                             ("owner", None), ("limit", None)):
            with self.subTest(what, target=target):
                self.assertIn(b"intruder: refused", self.intrude(what, target, "-v", "--sandbox").stderr)
                self.assertEqual(self.secret.read_text(), "secret")

    @unittest.skipUnless(INTRUDER, "there is no intruder")
    def test_without_a_sandbox_an_intruder_can(self):
        for what, target in (("read", "/etc/passwd"), ("socket", None), ("fork", None),
                             ("signal", None), ("chmod", None), ("device", None), ("owner", None), ("limit", None)):
            with self.subTest(what, target=target):
                self.assertIn(b"intruder: done", self.intrude(what, target, "-v", code=None).stderr)

    @unittest.skipUnless(INTRUDER, "there is no intruder")
    def test_an_intruder_that_goes_too_far_is_killed(self):
        program = shutil.which("true")
        for what, words in (("exec", ("SIGSYS", "forbids")), ("trace", ("SIGSYS", "forbids")),
                            ("crash", ("SIGSEGV", "crashed")), ("killed", ("SIGKILL", "memory"))):
            with self.subTest(what):
                done = self.intrude(what, program, "--sandbox", code=3)
                number = getattr(signal, words[0])
                self.assert_sentence(done, f"signal {int(number)} ", words[1])
                self.assertFalse(os.path.exists(self.path("out/a.mjpeg")))

    @unittest.skipUnless(INTRUDER, "there is no intruder")
    def test_a_kill_is_the_last_event_of_json_progress(self):
        done = self.intrude("crash", None, "--progress", "json", "--sandbox", code=3)
        last = json.loads(done.stderr.decode().splitlines()[-1])
        self.assertEqual((last["outcome"], last["exit_code"]), ("failed", 3))

    def at_terminal(self, *arguments, **variables):
        """What was printed, with a terminal for all three, as in a shell's foreground."""
        child, terminal = pty.fork()
        if child == 0:
            os.execve(PROGRAM, [PROGRAM, *map(str, arguments)], {**os.environ, **variables})
        text, end = b"", time.monotonic() + 120
        while os.waitpid(child, os.WNOHANG) == (0, 0):
            if time.monotonic() > end:
                os.kill(child, signal.SIGKILL)
            if select.select([terminal], [], [], 0.1)[0]:
                with contextlib.suppress(OSError):  # nobody has the other end any more
                    text += os.read(terminal, 4096)
        self.assertLess(time.monotonic(), end, text)
        while select.select([terminal], [], [], 0)[0]:
            try:
                text += os.read(terminal, 4096)
            except OSError:
                break
        os.close(terminal)
        return text

    @needs_terminal
    def test_reading_from_a_terminal_does_not_stop_it(self):
        """The child is no foreground process. It would get SIGTTIN and stop, and its parent would wait."""
        text = self.at_terminal("encode", "-", "--format", "y4m", "-o", self.path("out/a.mjpeg"), "--sandbox")
        self.assertIn(b"zerorun: ", text)
        self.assertFalse(os.path.exists(self.path("out/a.mjpeg")))

    @needs_terminal
    @unittest.skipUnless(INTRUDER, "there is no intruder")
    def test_a_terminal_cannot_be_changed(self):
        source = make_y4m(self.path("in/intrude.y4m"))
        for more, answer in ((["--device", "cpu"], b"intruder: done"), (["--device", "cpu", "--sandbox"], b"intruder: refused"),
                             (["--device", "cuda", "--sandbox"], b"intruder: refused")):
            with self.subTest(more):
                text = self.at_terminal("encode", source, "-o", self.path("out/a.mjpeg"), "-y", "-v", *more,
                                        LD_PRELOAD=INTRUDER, INTRUDER_DOES="terminal")
                self.assertIn(answer, text)

    def test_signals_reach_the_process_in_the_sandbox_once(self):
        """One signal ends the file, as without a sandbox; its frames are all there."""
        frames = make_y4m(self.path("in/a.y4m"), frames=4)
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number), subprocess.Popen(
                    [PROGRAM, "encode", "-", "--format", "y4m", "-o", self.path("out/a.mjpeg"), "-y",
                     "--sandbox", "--device", "cpu"], stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                process.stdin.write(self.read(frames))
                process.stdin.flush()
                part = self.path("out/a.mjpeg.part")
                self.wait_until(lambda: os.path.exists(part) and os.path.getsize(part) > 0,
                                "the first frame")
                process.send_signal(number)
                self.assertEqual(process.wait(timeout=300), 128 + number)
                self.assertTrue(os.path.exists(self.path("out/a.mjpeg")), process.stderr.read())
            self.zerorun("verify", self.path("out/a.mjpeg"))

    def test_the_child_ends_with_its_parent(self):
        make_y4m(self.path("in/a.y4m"))
        with subprocess.Popen([PROGRAM, "encode", "-", "--format", "y4m", "-o", "-", "--sandbox"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
            self.wait_until(lambda: children.read_text().strip(), "the child")
            child = children.read_text().strip()
            process.kill()
            process.wait(timeout=300)
            self.wait_until(lambda: not os.path.exists(f"/proc/{child}/exe"), "the end of the child")

    def test_the_environment_asks_for_it(self):
        make_y4m(self.path("in/a.y4m"))
        with subprocess.Popen([PROGRAM, "encode", "-", "--format", "y4m", "-o", "-"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              env={**os.environ, "ZERORUN_SANDBOX": "1"}) as process:
            tasks = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
            self.wait_until(lambda: tasks.read_text().strip(), "the child")
            child = tasks.read_text().strip()
            filters = lambda: [line for line in self.read(f"/proc/{child}/status").decode() .splitlines() if line ==
                               "Seccomp:\t2"]
            self.wait_until(filters, "a filter of system calls")
            process.stdin.close()
            process.wait(timeout=300)


@unittest.skipIf("+sandbox" in VERSION, "this build has a sandbox")
class NoSandboxTest(ProgramTest):
    def test_it_is_refused(self):
        make_y4m(self.path("a.y4m"))
        done = self.encode(self.path("a.y4m"), "-o", self.path("a.mjpeg"), "--sandbox", code=1)
        self.assert_sentence(done, "--sandbox", "libseccomp")
        self.assert_nothing_left("a.mjpeg")
