# What the tests of the program share: running it, making input, asking FFmpeg.
# SPDX-License-Identifier: MIT
import array
import fcntl
import json
import os
import pathlib
import pty
import random
import shutil
import subprocess
import tempfile
import termios
import time
import unittest

PROGRAM = os.environ["ZERORUN_PROGRAM"]
# The same with the variables of tests/support/test_variables.cpp.
PRETENDING_PROGRAM = os.environ.get("ZERORUN_PRETENDING_PROGRAM", PROGRAM)
PLAYER = os.environ.get("ZERORUN_PLAYER", PROGRAM)  # under a sanitizer the player is a program of its own
SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "samples" / "media"
HAS_FFMPEG = bool(shutil.which("ffmpeg") and shutil.which("ffprobe"))
HAS_DJPEG = bool(shutil.which("djpeg"))

VERSION = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True).stdout
BUILT_WITH_FFMPEG = "+ffmpeg" in VERSION
BUILT_WITH_OPENCV = "+opencv" in VERSION

needs_ffmpeg = unittest.skipUnless(HAS_FFMPEG, "ffmpeg and ffprobe are not installed")
needs_djpeg = unittest.skipUnless(HAS_DJPEG, "djpeg is not installed")
needs_containers = unittest.skipUnless(
    BUILT_WITH_FFMPEG and HAS_FFMPEG, "this build or this machine has no FFmpeg")
needs_opencv = unittest.skipUnless(BUILT_WITH_OPENCV, "this build has no OpenCV")


def _has_terminals():
    try:
        for end in pty.openpty():
            os.close(end)
    except OSError:
        return False
    return True


needs_terminal = unittest.skipUnless(
    _has_terminals(), "this machine has no pseudo-terminals: /dev/pts is not mounted, as in a chroot")

PIXELS = {  # y4m tag: chroma size of a luma size
    "420jpeg": lambda w, h: ((w + 1) // 2, (h + 1) // 2),
    "422": lambda w, h: ((w + 1) // 2, h),
    "444": lambda w, h: (w, h),
    "mono": lambda w, h: (0, 0),
}


def plane(width, height, frame, seed):
    """Moving gradients with a little noise: neither flat nor incompressible. The sample at x and y is
    2 x + 3 y + 7 frame + 50 seed + noise, modulo 256. All are added at once, as bytes of long numbers:
    one by one a second of small video takes seconds."""
    count = width * height
    noise = random.Random(seed * 1000003 + frame).randbytes(count)
    ramps = [bytes((2 * x + odd) & 0xFF for x in range(128)) * (width // 128 + 2) for odd in (0, 1)]
    begins = ((3 * y + 7 * frame + 50 * seed) & 0xFF for y in range(height))
    rows = b"".join(ramps[begin & 1][begin // 2:begin // 2 + width] for begin in begins)
    gradient, high = int.from_bytes(rows, "little"), int.from_bytes(b"\x80" * count, "little")
    bits = int.from_bytes(noise.translate(bytes(value >> 4 for value in range(256))), "little")
    return (((gradient & ~high) + bits) ^ (gradient & high)).to_bytes(count, "little")


def damage_second_image(source, path):
    """A copy of a Motion JPEG stream with wrong bits in the scan of its second image."""
    data = bytearray(pathlib.Path(source).read_bytes())
    second = data.index(b"\xff\xd8", 2)
    scan = data.index(b"\xff\xda", second)
    for at in range(scan + 60, scan + 90):
        data[at] = 0x11 if data[at - 1] != 0xFF else 0
    pathlib.Path(path).write_bytes(bytes(data))
    return str(path)


def make_y4m(path, width=64, height=48, frames=8, tag="420jpeg", rate="25:1"):
    chroma = PIXELS[tag](width, height)
    with open(path, "wb") as out:
        out.write(f"YUV4MPEG2 W{width} H{height} F{rate} Ip A1:1 C{tag} "
                  "XCOLORRANGE=FULL\n".encode())
        for frame in range(frames):
            out.write(b"FRAME\n" + plane(width, height, frame, 0))
            for seed in (1, 2):
                if chroma[0]:
                    out.write(plane(*chroma, frame, seed))
    return str(path)


def make_ppm(path, width=40, height=30, frame=0):
    red, green, blue = (plane(width, height, frame, seed) for seed in range(3))
    pixels = bytearray(3 * width * height)
    pixels[0::3], pixels[1::3], pixels[2::3] = red, green, blue
    pathlib.Path(path).write_bytes(f"P6\n{width} {height}\n255\n".encode() + bytes(pixels))
    return str(path)


def y4m_frames(data):
    """The frames of a y4m stream as bytes."""
    end = data.index(b"\n")
    words = data[:end].decode().split()
    width, height = (int(next(w[1:] for w in words if w[0] == key)) for key in "WH")
    tag = next((w[1:] for w in words if w[0] == "C"), "420jpeg")
    chroma = PIXELS[tag](width, height)
    size = width * height + 2 * chroma[0] * chroma[1]
    frames, at = [], end + 1
    while at < len(data):
        assert data[at:at + 5] == b"FRAME", data[at:at + 16]
        at = data.index(b"\n", at) + 1
        frames.append(data[at:at + size])
        at += size
    return frames


def probe(path, *options):
    done = subprocess.run(["ffprobe", "-v", "error", "-of", "json", "-show_streams",
                           "-show_format", "-count_frames", *options, str(path)],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def video_stream(path):
    return next(s for s in probe(path)["streams"] if s["codec_type"] == "video")


def ffmpeg(*arguments, **options):
    done = subprocess.run(["ffmpeg", "-hide_banner", "-nostdin", "-loglevel", "error", "-y",
                           *map(str, arguments)], capture_output=True, **options)
    assert done.returncode == 0, done.stderr.decode()
    return done


def md5_lines(text):
    """The MD5 column of a framemd5 text."""
    return [line.split()[-1] for line in text.decode().splitlines() if not line.startswith("#")]


def stream_sums(path, stream="v", *options):
    """The MD5 of each frame as FFmpeg decodes it; of each packet with -c copy."""
    return md5_lines(ffmpeg("-i", path, "-map", "0:" + stream, *options, "-f", "framemd5", "-").stdout)


def bytes_in(pipe):
    """What a pipe holds that nobody has read yet."""
    count = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return count[0]


def threads_at_rest(pid):
    """How often each thread of a process has run, if none wants to run now; else None. The same
    answer twice: nothing has happened in between, so all that could be done is done."""
    switches = {}
    try:
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            status = dict(line.split(":\t", 1) for line in
                          (task / "status").read_text().splitlines() if ":\t" in line)
            if status["State"][0] != "S":
                return None
            switches[task.name] = (status["voluntary_ctxt_switches"],
                                   status["nonvoluntary_ctxt_switches"])
    except FileNotFoundError:  # a thread that ends
        return None
    return switches


class ProgramTest(unittest.TestCase):
    def setUp(self):
        """Names without a folder are those of files in a folder of the test."""
        folder = tempfile.TemporaryDirectory(prefix="zerorun-cli-")
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.dir)

    def path(self, name):
        return str(self.dir / name)

    def read(self, name):
        return pathlib.Path(name).read_bytes()

    def write(self, name, content):
        """Bytes, or text as UTF-8; returns the name."""
        pathlib.Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
        return name

    def wait_until(self, is_so, what=""):
        """Asks again and again. The time is not part of a test: it only ends one that hangs."""
        end = time.monotonic() + 60
        while not is_so():
            self.assertLess(time.monotonic(), end, f"never: {what}")
            time.sleep(0.01)

    def wait_until_done(self, process):
        """Waits until a process has done all it can with its input so far. Its input stays open."""
        seen = [None]

        def rests():
            self.assertIsNone(process.poll(), "the process has ended")
            seen.append(threads_at_rest(process.pid))
            return seen[-1] is not None and seen[-1] == seen[-2]
        self.wait_until(rests, "a process that waits for input")

    program = PROGRAM

    def zerorun(self, *arguments, code=0, **options):
        """Runs the program and checks its exit code, unless that is None."""
        options.setdefault("timeout", 300)
        program = PLAYER if arguments[:1] == ("play",) and self.program == PROGRAM else self.program
        words = (word if isinstance(word, bytes) else str(word) for word in arguments)
        done = subprocess.run([program, *words], capture_output=True, **options)
        if code is not None:
            self.assertEqual(done.returncode, code, f"{arguments}: {done.stderr.decode(errors='replace')}")
        return done

    def encode(self, *arguments, code=0, **options):
        return self.zerorun("encode", *arguments, "--device", "cpu", code=code, **options)

    def decode(self, *arguments, code=0, **options):
        return self.zerorun("decode", *arguments, "--device", "cpu", code=code, **options)

    def info(self, name):
        return json.loads(self.zerorun("info", name, "--json").stdout)

    def assert_sentence(self, done, *words):
        """One line on stderr that begins as all do and says what it is about."""
        text = done.stderr.decode()
        lines = [line for line in text.splitlines() if line]
        self.assertEqual(len(lines), 1, text)
        self.assertTrue(lines[0].startswith("zerorun: "), text)
        for word in words:
            self.assertIn(word, lines[0])

    def assert_nothing_left(self, name):
        self.assertFalse(os.path.lexists(name), name)
        self.assertFalse(os.path.lexists(name + ".part"), name + ".part")
