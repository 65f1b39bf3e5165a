# What needs a GPU: the program with --device cuda against --device cpu, killed runs of it, and the CUDA samples.
# SPDX-License-Identifier: MIT
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

from support import (PROGRAM, SAMPLES, ProgramTest, damage_second_image, make_y4m,
                     y4m_frames)

MAKE_INPUT = pathlib.Path(__file__).parents[1] / "cluster" / "make_input.py"
LONG_FRAMES = 1000
PROGRAMS = pathlib.Path(os.environ["ZERORUN_SAMPLES"])


def gpus():
    said = json.loads(subprocess.run([PROGRAM, "devices", "--json"], capture_output=True).stdout)
    return [device for device in said["devices"] if device["device"] != "cpu" and device["usable"]]


def setUpModule():
    if gpus():
        return
    if os.environ.get("ZERORUN_REQUIRE_GPU") == "1":
        raise AssertionError("ZERORUN_REQUIRE_GPU=1, but there is no usable GPU")
    raise unittest.SkipTest("no usable GPU")


class ProgramOnGpuTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.y4m = make_y4m("in.y4m", 131, 77, 9)

    def both(self, command, source, ending, *options):
        """What the CPU and the GPU write."""
        written = []
        for device in ("cpu", "cuda"):
            out = device + ending
            self.zerorun(command, source, "-o", out, "-y", "--device", device, *options)
            written.append(self.read(out))
        return written

    def test_encode_writes_the_bytes_of_the_cpu(self):
        for options in ((), ("-q", "35", "--huffman", "optimal"), ("--subsampling", "gray"),
                        ("--restart", "3"), ("--verify", "--threads", "3"),
                        ("--comment", "hello", "--restart", "none")):
            cpu, cuda = self.both("encode", self.y4m, ".mjpeg", *options)
            self.assertEqual(cpu, cuda, options)

    def test_decode_writes_the_samples_of_the_cpu(self):
        self.encode(self.y4m, "-o", "in.mjpeg")
        cpu, cuda = self.both("decode", "in.mjpeg", ".y4m")
        self.assertEqual(len(y4m_frames(cpu)), 9)
        self.assertEqual(cpu, cuda)
        cpu, cuda = self.both("decode", SAMPLES / "raccoon.jpg", ".ppm")
        self.assertEqual(cpu, cuda)

    def test_copy_codes_again_to_the_bytes_of_the_cpu(self):
        source = self.path("in.mjpeg")
        for options in ((), ("--restart", "3", "--subsampling", "444")):
            self.encode(self.y4m, "-o", source, "-y", *options)
            cpu, cuda = self.both("copy", source, ".mjpeg", "--optimize", "--verify")
            self.assertEqual(cpu, cuda)
            self.assertLess(len(cuda), pathlib.Path(source).stat().st_size)

    def test_damaged_frames_are_decoded_stage_by_stage_and_counted(self):
        self.encode(self.y4m, "-o", "in.mjpeg")
        source = damage_second_image("in.mjpeg", "damaged.mjpeg")
        cpu, cuda = self.both("decode", source, ".y4m")
        self.assertEqual(cpu, cuda)
        done = self.zerorun("decode", source, "-o", "out.y4m", "--device", "cuda", "--stats", "d.json")
        stats = json.loads(self.read("d.json"))
        self.assertEqual(stats["summary"]["cpu_frames"], 1)
        self.assertEqual([row["cpu_scans"] for row in stats["frames"]], [0, 1] + [0] * 7)
        self.assertIn("1 damaged or unusual frame decoded", done.stderr.decode())

    def test_the_copies_and_the_kernels_are_steps_of_their_own(self):
        for command, source, out in (("encode", self.y4m, "in.mjpeg"), ("decode", "in.mjpeg", "null:")):
            done = self.zerorun(command, source, "-o", out, "--device", "cuda", "--progress",
                                "json")
            steps = json.loads(done.stderr.splitlines()[-1])["summary"]["steps"]["steps"]
            busy = {step["step"]: step["busy_seconds"] for step in steps}
            for step in ("upload", "kernels", "download"):
                self.assertGreater(busy[step], 0)

    def test_bench_shows_the_kernels_of_the_fused_decoder(self):
        self.zerorun("bench", "synthetic:256x144:photo", "--operation", "decode", "--device", "cuda", "--frames", "5",
                     "--only", "zerorun-fused/*", "--json", "bench.json")
        report = json.loads(self.read("bench.json"))
        [row] = report["cases"][0]["rows"]
        self.assertEqual([stage["stage"] for stage in row["stages"]][:4],
                         ["upload", "unstuff_scan", "sync_subsequences", "transform_blocks"])

    def test_bench_encodes_batches(self):
        self.zerorun("bench", "synthetic:256x144:photo", "--operation", "encode", "--device", "cuda", "--batch", "3,8",
                     "--no-peers", "--frames", "24", "--repetitions", "1", "--only", "zerorun-batch/*", "--json",
                     "bench.json")
        report = json.loads(self.read("bench.json"))
        rows = report["cases"][0]["rows"]
        self.assertEqual([row["at_once"] for row in rows], [3, 8])
        for row in rows:
            self.assertTrue(row["check"].startswith("same bytes as the CPU"))
            self.assertIn("--batch 3,8", row["command"])

    def test_play_decodes_on_the_device_that_was_asked_for(self):
        self.encode(self.y4m, "-o", "in.mjpeg")
        reports = {}
        for device in ("cpu", "cuda", "cuda:0", "auto"):
            done = self.zerorun("play", "in.mjpeg", "--no-window", "--json", "--compare", self.y4m,
                                "--device", device)
            reports[device] = json.loads(done.stdout)
            self.assertEqual(reports[device]["decoded"], 9)
            self.assertEqual(reports[device]["psnr_components"],
                             reports["cpu"]["psnr_components"])
        self.assertTrue(reports["cpu"]["device"].startswith("cpu"))
        for device in ("cuda", "cuda:0", "auto"):
            self.assertTrue(reports[device]["device"].startswith("cuda:0 "), reports[device])

    def test_a_device_that_is_not_there(self):
        for command, *more in (("encode", "-o", "out.mjpeg"), ("decode", "-o", "out.ppm"), ("play", "--no-window")):
            done = self.zerorun(command, self.y4m, *more, "--device", "cuda:99", code=5)
            self.assert_sentence(done, "there is no device 99")


class ShardsOnGpuTest(ProgramTest):
    def test_a_gpu_that_is_the_only_visible_one_is_number_0(self):
        source, last = make_y4m("in.y4m", frames=2), str(len(gpus()) - 1)
        done = self.zerorun("encode", source, "-o", "out.mjpeg", "--shard", "0/1", "--device", "cuda", "--progress", "json",
                            env={**os.environ, "CUDA_VISIBLE_DEVICES": last, "SLURM_LOCALID": last})
        self.assertIn('"cuda:0 ', done.stderr.decode().splitlines()[-1])

    def make_input(self):
        self.source, self.out = "in.y4m", "out.mjpeg"
        subprocess.run([sys.executable, MAKE_INPUT, self.source, "640", "480", str(LONG_FRAMES)], check=True)

    def end_amid_work(self, number, *options):
        """Returns the exit code of a run that is sent the signal after some frames of its own."""
        journal = pathlib.Path(self.out + ".shards", "000-of-001.journal")
        before = journal.read_bytes().count(b"\n") if journal.exists() else 0
        process = subprocess.Popen([PROGRAM, "encode", self.source, "-o", self.out, "--device", "cuda", *options],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        while process.poll() is None:
            if journal.exists() and journal.read_bytes().count(b"\n") > before + 40:
                process.send_signal(number)
                break
            time.sleep(0.001)
        text = process.communicate()[1].decode()
        self.assertNotEqual(process.returncode, 0, "the run ended before the signal: " + text)
        return process.returncode

    def test_a_run_goes_on_after_signals(self):
        self.make_input()
        self.assertEqual(self.end_amid_work(signal.SIGKILL, "--resume"), -signal.SIGKILL)
        self.assertEqual(self.end_amid_work(signal.SIGTERM, "--resume"), 75)
        done = self.zerorun("encode", self.source, "-o", self.out, "--resume", "--device", "cuda")
        self.assertIn(f"of {LONG_FRAMES} frames are there already", done.stderr.decode())
        for device in ("cpu", "cuda"):
            self.zerorun("encode", self.source, "-o", "one.mjpeg", "-y", "--device", device)
            self.assertTrue(self.read("one.mjpeg") == self.read(self.out), device)


class CudaSamplesTest(ProgramTest):
    def sample(self, name, *arguments):
        done = subprocess.run([PROGRAMS / name, *arguments], capture_output=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout.decode()

    def test_device_encode(self):
        width, height, frames = 640, 360, 25
        rgb = bytearray(3 * width * height)  # as the sample's kernel draws them
        rgb[1::3] = b"".join(bytes([y & 255]) * width for y in range(height))
        rgb[2::3] = bytes(x * y // 256 & 255 for y in range(height) for x in range(width))
        for frame in range(frames):
            rgb[0::3] = bytes((x + 10 * frame) & 255 for x in range(width)) * height
            self.write(f"{frame:02}.ppm", b"P6\n%d %d\n255\n" % (width, height) + rgb)
        self.encode("%02d.ppm", "-o", "want.mjpeg")
        self.sample("device_encode", "out.mjpeg")
        self.assertEqual(self.read("out.mjpeg"), self.read("want.mjpeg"))

    def test_device_decode(self):
        photo = SAMPLES / "raccoon.jpg"
        self.decode(photo, "-o", "want.y4m")
        size = self.info(photo)["jpeg"]
        (frame,) = y4m_frames(self.read("want.y4m"))
        luma = size["width"] * size["height"]
        chroma = (len(frame) - luma) // 2
        planes = [frame[:luma], frame[luma:luma + chroma], frame[luma + chroma:]]
        said = self.sample("device_decode", photo)
        self.assertEqual(said, "".join(f"plane {p}: mean {sum(plane) / len(plane):.2f}\n"
                                       for p, plane in enumerate(planes)))

    def test_scan_compaction(self):
        lines = self.sample("scan_compaction").splitlines()
        self.assertEqual(len(lines), 5 * 5)  # five ways, five sizes
        for line in lines:
            self.assertTrue(line.endswith(" right"), line)
