# Every number of shards with every container and kind of input: concat gives the file of one run, and
# decoded shards its pictures. A part that covers all pairs, or all with ZERORUN_MATRIX=full.
# SPDX-License-Identifier: MIT
import concurrent.futures
import itertools
import os
import pathlib
import shutil
import subprocess
import unittest

from support import (BUILT_WITH_FFMPEG, HAS_FFMPEG, PROGRAM, ProgramTest, ffmpeg, make_ppm, make_y4m,
                     needs_containers)

COUNTS = (1, 2, 3, 7, 16, 45)  # the last: some have no frame
HAS_CONTAINERS = BUILT_WITH_FFMPEG and HAS_FFMPEG
CONTAINERS = ("mov", "mkv", "avi", "mp4", "mjpeg") if HAS_CONTAINERS else ("mjpeg",)
INPUTS = ("gaps", "mov", "avi", "y4m", "vfr.mkv") if HAS_CONTAINERS else ("gaps", "mjpeg", "y4m")
DECODED = (*CONTAINERS, "jpg")
FRAMES = 41
FULL = os.environ.get("ZERORUN_MATRIX") == "full"
WORKERS = 2


def covering(*lists):
    """All, or small counts with each pair of the others, turn by turn, and each of the two large ones with one."""
    counts, *others = lists
    pairs = list(itertools.product(*others))
    if FULL:
        return [(count, *pair) for count in counts for pair in pairs]
    return [(counts[i % 4], *pair) for i, pair in enumerate(pairs)] + [
        (counts[4 + i], *pairs[i * len(pairs) // 2]) for i in range(2)]


class Matrix(ProgramTest):
    BACKENDS = (("--device", "cpu", "--threads", "1"),)

    def make_inputs(self):
        y4m = make_y4m("in.y4m", frames=FRAMES)
        os.mkdir("seq")
        for frame in range(FRAMES):
            if frame not in (5, 20, 21):
                make_ppm(f"seq/{frame:04}.ppm", frame=frame)
        if not HAS_CONTAINERS:
            self.encode(y4m, "-o", "in.mjpeg")
            return
        ffmpeg("-i", y4m, "-vf", "select='not(eq(mod(n,7),3))'", "-fps_mode", "vfr", "-c:v", "mjpeg", "in.vfr.mkv")
        ffmpeg("-i", y4m, "-f", "lavfi", "-i", "sine=d=1.64", "-c:v", "mjpeg", "-c:a", "pcm_s16le", "in.avi")
        self.encode("in.avi", "-o", "in.mov")

    def source(self, kind):
        return "seq/%04d.ppm" if kind == "gaps" else ("in." + kind)

    def run_all(self, commands):
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            list(pool.map(lambda command: self.zerorun(*command), commands))

    def shards(self, verb, source, output, count, options, backend):
        self.run_all([[verb, source, "-o", output, "--shard", f"{index}/{count}", "--quiet", *options,
                       *backend] for index in range(count)])

    def options(self, kind, extension):
        if kind == "gaps":
            return ["--missing", "hold"]
        return ["--fps", "25"] if kind == "vfr.mkv" and extension in ("avi", "mjpeg") else []

    def test_encode(self):
        self.make_inputs()
        for kind, extension in itertools.product(INPUTS, CONTAINERS):
            self.encode(self.source(kind), "-o", f"{kind}.one.{extension}", "--quiet", *self.options(kind, extension))
        for count, kind, extension in covering(COUNTS, INPUTS, CONTAINERS):
            for backend in self.BACKENDS:
                with self.subTest(count=count, kind=kind, extension=extension, backend=backend):
                    out, source = "out." + extension, self.source(kind)
                    self.shards("encode", source, out, count, self.options(kind, extension), backend)
                    self.zerorun("concat", out, "--audio", source, "--delete-shards", "--quiet")
                    one = f"{kind}.one.{extension}"
                    self.assertTrue(self.read(one) == self.read(out))
                    os.remove(out)

    def test_decode(self):
        self.make_inputs()
        for extension in DECODED[:-1]:
            self.encode("in.y4m", "-o", "coded." + extension, "--quiet")
        os.mkdir("jpg")
        self.encode("in.y4m", "-o", "jpg/%03d.jpg", "--quiet")
        for target in ("y4m", "ppm"):
            for count, extension in covering(COUNTS, DECODED):
                with self.subTest(target=target, count=count, extension=extension):
                    source = "jpg/%03d.jpg" if extension == "jpg" else "coded." + extension
                    self.compare_decoded(source, target, count)

    def compare_decoded(self, source, target, count):
        for name in ("one", "out"):
            shutil.rmtree(name, ignore_errors=True)
            os.mkdir(name)
        name = "shot.y4m" if target == "y4m" else "%03d.ppm"
        self.decode(source, "-o", "one/" + name, "--quiet")
        for backend in self.BACKENDS:
            self.shards("decode", source, "out/" + name, count, (), backend)
            self.zerorun("concat", "out/" + name, "-y", "--delete-shards", "--quiet")
            names = sorted(os.listdir("one"))
            self.assertEqual(names, sorted(os.listdir("out")))
            for name in names:
                one, out = (pathlib.Path(f"{folder}/{name}") for folder in ("one", "out"))
                self.assertTrue(one.read_bytes() == out.read_bytes(), name)


@unittest.skipUnless(BUILT_WITH_FFMPEG, "this build has no FFmpeg")
class BytesRead(ProgramTest):
    """A late shard enters its input by the index: it does not read what lies before."""
    def bytes_read(self, *arguments):
        process = subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        with process.stderr:
            text = process.stderr.read()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        try:
            with open(f"/proc/{process.pid}/io") as file:
                count = int(file.read().split()[1])
        except OSError:
            process.wait()
            self.skipTest("this machine does not tell what a process read")
        self.assertEqual(process.wait(), 0, text.decode())
        return count

    @needs_containers
    def test_the_last_shard_reads_its_part(self):
        y4m = make_y4m("in.y4m", 320, 240, frames=32)
        for turn in range(20):  # 640 frames: what is read to describe the input hardly counts
            with open("long.y4m", "ab") as out:
                data = self.read(y4m)
                out.write(data if turn == 0 else data[data.index(b"\n") + 1:])
        start = self.bytes_read("--version")
        for extension in ("mov", "mp4", "mkv", "avi", "y4m", "mjpeg"):
            source = "long." + extension
            if extension != "y4m":
                self.encode("long.y4m", "-o", source)
            size = os.path.getsize(source)
            verb, output = ("encode", "out.mov") if extension == "y4m" else ("decode", "out.y4m")
            with self.subTest(extension=extension, bytes=size):
                one = self.bytes_read(verb, source, "-o", "null:", "--frames", "0:1", "--device", "cpu")
                last = self.bytes_read(verb, source, "-o", output, "--shard", "15/16", "--device", "cpu", "--threads",
                                       "1")
                shutil.rmtree(output + ".shards")
                print(f"{extension}: {size} bytes, first frame {one - start}, last of 16 shards {last - start}")
                # Raw Motion JPEG has no index: it is searched for its frames, to count them and to
                # come to the first.
                most = (2.2 if extension == "mjpeg" else 0.3) * size
                self.assertLess(last - start, most)


del ProgramTest
