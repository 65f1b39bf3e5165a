# info and devices; --stats, --psnr, --progress, --quiet, --verbose: facts as text and JSON.
# SPDX-License-Identifier: MIT
import csv
import json
import math
import os
import pathlib
import pty
import re
import subprocess
import time

from support import PROGRAM, ProgramTest, ffmpeg, make_ppm, make_y4m, needs_containers, needs_ffmpeg, needs_terminal


class InfoTest(ProgramTest):
    def test_raw_stream(self):
        y4m = make_y4m("in.y4m", 65, 47, 5)
        out = "out.mjpeg"
        self.encode(y4m, "-o", out, "-q", "77", "--restart", "9", "--comment", "hello")
        info = self.info(out)
        size = pathlib.Path(out).stat().st_size
        self.assertEqual((info["frames"], info["file_bytes"]), (5, size))
        self.assertEqual(info["packets"]["count"], 5)
        self.assertEqual(info["packets"]["bytes"], size)
        self.assertLessEqual(info["packets"]["smallest"], size / 5)
        self.assertGreaterEqual(info["packets"]["largest"], size / 5)
        jpeg = info["jpeg"]
        self.assertEqual((jpeg["width"], jpeg["height"]), (65, 47))
        self.assertEqual((jpeg["process"], jpeg["color"], jpeg["subsampling"]),
                         ("baseline", "YCbCr", "420"))
        self.assertEqual((jpeg["quality"], jpeg["huffman"]), (77, "standard"))
        self.assertEqual(jpeg["restart_interval_mcus"], 9)
        self.assertIn("hello", [segment["text"] for segment in jpeg["segments"]])
        text = self.zerorun("info", out).stdout.decode()
        for word in ("65x47", "77", "every 9 MCUs", "hello"):
            self.assertIn(word, text)

    def test_names_and_tags_are_any_bytes(self):
        y4m, odd = make_y4m("in.y4m", frames=2), b"caf\xe9.mjpeg"
        json.loads(self.encode(y4m, "-o", odd, "--progress", "json", "--stats", "s.json").stderr.splitlines()[-1])
        json.loads(self.read("s.json"))
        self.assertIn("caf\ufffd", self.zerorun("info", odd, "--json").stdout.decode())
        for name, options in ((b"shard\xe9.mjpeg", ["--shard", "0/2"]), (b"whole\xe9.mjpeg", ["--resume"])):
            self.encode(y4m, "-o", name, *options)

    def test_other_inputs(self):
        info = self.info(make_y4m("in.y4m", 32, 16, 3, rate="30000:1001"))
        self.assertEqual((info["width"], info["height"]), (32, 16))
        self.assertEqual(info["frame_rate"], "30000/1001")
        self.assertNotIn("jpeg", info)
        info = self.info(make_ppm("in.ppm", 40, 30))
        self.assertEqual((info["width"], info["height"]), (40, 30))

    def test_packet_sizes_of_a_sequence(self):
        self.encode(make_y4m("in.y4m", frames=4), "-o", "%d.jpg")
        done = self.zerorun("info", "%d.jpg", "--json", "--packets")
        self.assertEqual(json.loads(done.stdout)["packets"]["count"], 4)

    @needs_containers
    def test_numbers_by_an_index_are_called_that(self):
        """An index of AVI that lists 3 of 5 frames is not believed; what MOV says is said to be its word."""
        self.encode(make_y4m("in.y4m", frames=5), "-o", "in.avi")
        self.zerorun("copy", "in.avi", "-o", "in.mov")
        data = self.read("in.avi")
        at = data.index(b"idx1")
        self.assertEqual(int.from_bytes(data[at + 4:at + 8], "little"), 5 * 16)
        cut = data[:at] + b"idx1" + (3 * 16).to_bytes(4, "little") + data[at + 8:at + 8 + 3 * 16]
        self.write("lies.avi", cut[:4] + (len(cut) - 8).to_bytes(4, "little") + cut[8:])
        self.decode("lies.avi", "-o", "%d.ppm")
        self.assertTrue(pathlib.Path("5.ppm").exists())
        for name, by_index in (("lies.avi", False), ("in.mov", True), ("in.y4m", False), ("%d.ppm", False)):
            info = self.info(name)
            self.assertEqual((info["frames"], info["frames_by_index"]), (5, by_index), name)
            said = self.zerorun("info", name).stdout
            self.assertEqual(b"(by its index; --packets counts)" in said, by_index, name)
        counted = json.loads(self.zerorun("info", "in.mov", "--json", "--packets").stdout)
        self.assertEqual((counted["frames"], counted["frames_by_index"]), (5, False))

    def test_stdin(self):
        y4m = pathlib.Path(make_y4m("in.y4m", 32, 16, 3))
        self.encode(y4m, "-o", "out.mjpeg")
        for name, width in (("out.mjpeg", 32), (y4m, 32)):
            with open(name, "rb") as stream:
                done = self.zerorun("info", "-", "--json", stdin=stream)
            self.assertEqual(json.loads(done.stdout)["width"], width)
            done = self.zerorun("info", "-", "--json", input=self.read(name))
            self.assertEqual(json.loads(done.stdout)["width"], width)

    def test_devices(self):
        self.assertIn("cpu", self.zerorun("devices").stdout.decode())
        devices = json.loads(self.zerorun("devices", "--json").stdout)["devices"]
        self.assertGreaterEqual(devices[0]["threads"], 1)
        self.assertIn(devices[0]["instruction_set"], devices[0]["instruction_sets"])
        self.assertEqual(devices[0]["instruction_sets"][0], "scalar")


class StatsTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.y4m = make_y4m("in.y4m", 65, 47, 6)

    def read_csv(self, name):
        """The facts of the run, which lie beside the table, and the table's rows."""
        facts = json.loads(self.read(name + ".json"))
        with open(name, newline="") as table:
            return facts, list(csv.DictReader(table))

    def test_csv_of_encode(self):
        self.encode(self.y4m, "-o", "o.mjpeg", "--stats", "s.csv", "--psnr", "--frames", "1:5")
        header, rows = self.read_csv("s.csv")
        self.assertEqual((header["format"], header["version"], header["command"]),
                         ("zerorun-stats", 2, "encode"))
        self.assertEqual(header["summary"]["frames"], 4)
        self.assertEqual(list(rows[0]), ["index", "pts", "bytes", "encode_us", "psnr", "psnr_0",
                                         "psnr_1", "psnr_2", "gpu_us", "quality", "thrift", "codings",
                                         "reached"])
        self.assertEqual([int(row["index"]) for row in rows], [1, 2, 3, 4])
        self.assertEqual(sum(int(row["bytes"]) for row in rows), pathlib.Path("o.mjpeg").stat().st_size)
        for row in rows:
            self.assertGreater(float(row["encode_us"]), 0)
            self.assertGreaterEqual(float(row["encode_us"]), float(row["gpu_us"]))
            self.assertGreater(float(row["psnr"]), 25)

    def test_json_of_encode(self):
        self.encode(self.y4m, "-o", "o.mjpeg", "--stats", "s.json")
        stats = json.loads(self.read("s.json"))
        self.assertEqual((stats["format"], stats["version"], stats["command"]),
                         ("zerorun-stats", 2, "encode"))
        self.assertEqual((stats["width"], stats["height"], stats["quality"]), (65, 47, 90))
        self.assertEqual(stats["time_base"], "1/25")
        self.assertEqual([f["pts"] for f in stats["frames"]], list(range(6)))
        self.assertNotIn("psnr", stats["frames"][0])
        summary = stats["summary"]
        self.assertEqual(summary["frames"], 6)
        self.assertEqual(summary["bytes"], sum(f["bytes"] for f in stats["frames"]))
        times = sorted(f["encode_us"] / 1000 for f in stats["frames"][1:])
        self.assertAlmostEqual(summary["encode_ms"]["first"],
                               stats["frames"][0]["encode_us"] / 1000, places=3)
        for name, value in (("min", times[0]), ("max", times[-1]), ("median", times[2]),
                            ("mean", sum(times) / 5), ("p95", times[-1]), ("p99", times[-1])):
            self.assertAlmostEqual(summary["encode_ms"][name], value, places=3)

    def test_decode(self):
        self.encode(self.y4m, "-o", "o.mjpeg")
        self.decode("o.mjpeg", "-o", "o.y4m", "--stats", "d.csv")
        facts, rows = self.read_csv("d.csv")
        self.assertEqual((facts["version"], facts["command"]), (2, "decode"))
        self.assertEqual(list(rows[0]), ["index", "pts", "bytes", "decode_us",
                                         "concealed_intervals", "cpu_scans"])
        self.assertEqual(len(rows), 6)

    @needs_ffmpeg
    def test_psnr_is_what_ffmpeg_measures(self):
        for tag in ("420jpeg", "422", "444"):
            with self.subTest(tag=tag):
                source = make_y4m(tag + ".y4m", 66, 48, 4, tag=tag)
                self.encode(source, "-o", "o.mjpeg", "-y", "-q", "40", "--psnr", "--stats", "s.json")
                self.decode("o.mjpeg", "-o", "o.y4m", "-y")
                ffmpeg("-i", "o.y4m", "-i", source, "-lavfi", "psnr=stats_file=" + "psnr.log", "-f", "null", "-")
                stats = json.loads(self.read("s.json"))
                log = self.read("psnr.log").decode().splitlines()
                for frame, line in zip(stats["frames"], log, strict=True):
                    theirs = dict(re.findall(r"(\w+):(\S+)", line))
                    self.assertAlmostEqual(frame["psnr"], float(theirs["psnr_avg"]), delta=0.0051)
                    for ours, name in zip(frame["psnr_components"], ("y", "u", "v"), strict=True):
                        self.assertAlmostEqual(ours, float(theirs["psnr_" + name]), delta=0.0051)

    def test_psnr_of_rgb_and_of_equal_pictures(self):
        ppm = pathlib.Path(make_ppm("in.ppm", 33, 31))
        self.encode(ppm, "-o", "o.jpg", "--psnr", "--stats", "s.json")
        self.decode("o.jpg", "-o", "o.ppm")
        start = len(b"P6\n33 31\n255\n")
        pairs = list(zip(ppm.read_bytes()[start:], self.read("o.ppm")[start:], strict=True))
        mean = sum((a - b) ** 2 for a, b in pairs) / len(pairs)
        frame = json.loads(self.read("s.json"))["frames"][0]
        self.assertAlmostEqual(frame["psnr"], 10 * math.log10(255 ** 2 / mean), places=3)
        self.write("flat.pgm", b"P5\n16 16\n255\n" + bytes([128]) * 256)
        self.encode("flat.pgm", "-o", "flat.jpg", "--psnr", "--stats", "flat.csv")
        self.assertEqual(self.read_csv("flat.csv")[1][0]["psnr"], "inf")


class ProgressTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.y4m = make_y4m("in.y4m", 65, 47, 6)

    def test_json_lines_end_with_an_end(self):
        done = self.encode(self.y4m, "-o", "o.mjpeg", "--progress", "json")
        events = [json.loads(line) for line in done.stderr.splitlines()]
        self.assertEqual({e["progress"] for e in events[:-1]} | {"continue"}, {"continue"})
        last = events[-1]
        self.assertEqual((last["progress"], last["outcome"]), ("end", "done"))
        self.assertEqual((last["frames"], last["summary"]["frames"]), (6, 6))
        broken = pathlib.Path("broken.y4m")
        broken.write_bytes(self.read(self.y4m)[:-10])
        done = self.encode(broken, "-o", "b.mjpeg", "--progress", "json", code=3)
        last = json.loads(done.stderr.splitlines()[-1])
        self.assertEqual((last["progress"], last["outcome"], last["exit_code"]), ("end", "failed", 3))
        self.assertIn("broken.y4m", last["error"])

    def test_json_ends_every_failure(self):
        for arguments, code in ((["encode", "absent.y4m", "-o", "x.mjpeg"], 3), (["encode", self.y4m], 2),
                                (["decode", self.y4m, "--nonsense"], 2)):
            for option in (["--progress", "json"], ["--progress=json"]):
                done = self.zerorun(*arguments, *option, code=code)
                last = json.loads(done.stderr.splitlines()[-1])
                self.assertEqual((last["progress"], last["outcome"], last["exit_code"]),
                                 ("end", "failed", code))
                self.assertTrue(last["error"])
        self.assert_sentence(self.zerorun("encode", "absent.y4m", "-o", "x.mjpeg", code=3), "absent.y4m")

    def check_steps(self, summary):
        """Shares within bounds, and the wall is the busiest step of the busiest threads."""
        steps = summary["steps"]["steps"]
        self.assertTrue(steps)
        for step in steps:
            self.assertTrue(0 <= step["percent"] <= step["pool_percent"] <= 100, step)
            self.assertGreaterEqual(step["threads"], 1)
            self.assertLessEqual(step["busy_seconds"],
                                 step["threads"] * summary["seconds"] * 1.01 + 0.01)
        wall = max(steps, key=lambda step: (step["pool_percent"], step["percent"]))
        self.assertEqual(summary["steps"]["wall"], wall["step"])
        self.assertTrue(summary["steps"]["sentence"].endswith("."))
        self.assertGreaterEqual(summary["start_seconds"], 0)
        return {step["step"] for step in steps}

    def test_the_end_names_the_slowest_step(self):
        coded, back = "o.mjpeg", "o.y4m"
        for command, source, out in (("encode", self.y4m, coded), ("decode", coded, back)):
            for threads in ("1", "3"):
                done = self.zerorun(command, source, "-o", out, "-y", "--device", "cpu", "--threads", threads,
                                    "--progress", "json", "--stats", "s.json", "-v")
                end = json.loads(done.stderr.splitlines()[-1])
                self.assertIn("code", self.check_steps(end["summary"]))
                self.assertEqual(json.loads(self.read("s.json"))["summary"]["steps"], end["summary"]["steps"])
            text = self.zerorun(command, source, "-o", out, "-y", "--device",
                                "cpu").stderr.decode()
            self.assertRegex(text, r"\n  steps +(\w+ \d+ %(, )?)+ of the time; [\d.]+ s to start\n")
            self.assertRegex(text, r"\n  slowest  [A-Z].*\.\n")

    def steps_of(self, *arguments):
        done = self.zerorun(*arguments, "-y", "--device", "cpu", "--progress", "json")
        return self.check_steps(json.loads(done.stderr.splitlines()[-1])["summary"])

    def test_converting_samples_is_a_step_where_it_is_a_pass_of_its_own(self):
        """The first frame is loaded before the clocks start, so each input has several."""
        self.write("limited.y4m", self.read(self.y4m).replace(b"XCOLORRANGE=FULL", b"XCOLORRANGE=LIMITED"))
        coded, pictures = "o.mjpeg", "%d.ppm"
        self.assertNotIn("convert", self.steps_of("encode", self.y4m, "-o", coded))
        self.assertIn("convert", self.steps_of("encode", "limited.y4m", "-o", coded))
        # The decoder writes the format that is asked for; what is no JPEG is converted.
        self.assertNotIn("convert", self.steps_of("decode", coded, "-o", "o.y4m"))
        self.assertNotIn("convert", self.steps_of("decode", coded, "-o", pictures))
        self.assertIn("convert", self.steps_of("decode", self.y4m, "-o", pictures))
        self.assertIn("convert", self.steps_of("decode", coded, "-o", "o.yuv", "--pix-fmt", "yuv420p10le"))
        self.assertNotIn("convert", self.steps_of("encode", pictures, "-o", coded))
        for number in range(4):
            self.write("deep-%d.pgm" % number, b"P5 64 48 1000 " + bytes(2 * 64 * 48))
        self.assertIn("convert", self.steps_of("encode", "deep-%d.pgm", "-o", coded))

    @needs_containers
    def test_video_is_decoded_while_it_is_read_and_then_converted(self):
        """Lanes did nothing but convert its samples, and that was called decoding."""
        ffmpeg("-i", self.y4m, "-c:v", "mpeg4", "-pix_fmt", "yuv420p", "-s", "64x48", "v.mp4")
        self.assertLessEqual({"read", "convert", "code"}, self.steps_of("encode", "v.mp4", "-o", "o.mjpeg"))

    def test_plain_lines(self):
        done = self.encode(self.y4m, "-o", "o.mjpeg", "--progress", "plain")
        line = next(l for l in done.stderr.decode().splitlines() if " fps " in l and "|" in l)
        self.assertRegex(line, r"^ *\d+/\d+ +[\d.]+% \| [\d.]+ fps [\d.]+x \| [\d.]+ Mb/s \| "
                               r"[\d.]+ ms/f \| ETA \d+:\d\d$|^ *\d+ frames \| ")

    @needs_terminal
    def test_on_a_terminal_the_line_is_rewritten_at_most_ten_times_a_second(self):
        large = make_y4m("large.y4m", 320, 240, 60)
        master, terminal = pty.openpty()
        start = time.monotonic()
        process = subprocess.Popen([PROGRAM, "encode", large, "-o", "l.mjpeg", "--device", "cpu", "--psnr"],
                                   stderr=terminal, stdout=subprocess.DEVNULL)
        os.close(terminal)
        text = b""
        while True:
            try:
                part = os.read(master, 4096)
            except OSError:  # EIO: the other side is closed
                break
            if not part:
                break
            text += part
        os.close(master)
        self.assertEqual(process.wait(300), 0)
        seconds = time.monotonic() - start
        lines = text.count(b" ms/f")
        self.assertGreaterEqual(lines, 1)
        self.assertLessEqual(lines, 10 * seconds + 2)
        self.assertIn(b"\r", text)
        self.assertIn(b"60 frames", text)

    def test_one_frame_has_no_percentile(self):
        one = self.encode(self.y4m, "-o", "o.jpg", "--frames", "1", "--psnr").stderr.decode()
        self.assertIn("1 frame,", one)
        for word in ("p95", "p99", "median"):
            self.assertNotIn(word, one)
        self.assertRegex(one, r"PSNR +[0-9.]+ dB \(Y [0-9.]+, Cb [0-9.]+, Cr [0-9.]+\)")
        six = self.encode(self.y4m, "-o", "o.mjpeg").stderr.decode()
        self.assertIn("p95", six)
        self.assertNotIn("p99", six)
        ppm = make_ppm("in.ppm")
        rgb = self.encode(ppm, "-o", "rgb.jpg", "--psnr").stderr.decode()
        self.assertRegex(rgb, r"\(R [0-9.]+, G [0-9.]+, B [0-9.]+\)")

    def test_quiet_and_verbose(self):
        done = self.encode(self.y4m, "-o", "o.mjpeg", "--quiet")
        self.assertEqual((done.stdout, done.stderr), (b"", b""))
        normal = self.encode(self.y4m, "-o", "o.mjpeg", "-y").stderr.decode()
        for word in ("6 frames", "65x47", "bits per pixel", "median", "p95", "first", "fps", "cpu"):
            self.assertIn(word, normal)
        self.assertIn("quality 90", self.encode(self.y4m, "-o", "o.mjpeg", "-y", "-v").stderr.decode())
        self.assertNotIn("quality 90", normal)
