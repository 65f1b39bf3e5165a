# bench: what it measures is real, checked and can be read again; --target-size and --scans.
# SPDX-License-Identifier: MIT
import csv
import json
import pathlib
import shlex

from support import ProgramTest, make_ppm, make_y4m

QUICK = ["--time", "0.005", "--warm-up", "0", "--repetitions", "3", "--device", "cpu"]


class BenchTest(ProgramTest):
    def bench(self, *arguments):
        """The report of a short run."""
        result = self.zerorun("bench", *arguments, *QUICK, "--json", "report.json", "-y")
        return json.loads(self.read("report.json")), result.stdout.decode()

    def rows(self, report, case=0):
        return {row["id"]: row for row in report["cases"][case]["rows"]}

    def test_report(self):
        report, text = self.bench("synthetic:96x64:photo", "--threads", "1,2")
        self.assertEqual((report["format"], report["version"]), ("zerorun-bench", 1))
        self.assertTrue(report["machine"]["zerorun"])
        case = report["cases"][0]
        self.assertEqual((case["width"], case["height"], case["quality"]), (96, 64, 90))
        rows = self.rows(report)
        for mode in ("latency", "throughput"):
            for threads in (1, 2):
                row = rows[f"zerorun/cpu/host>host/{mode}/{threads}"]
                times = sorted(row["samples_us"])
                self.assertEqual(row["min_us"], times[0])
                self.assertEqual(row["max_us"], times[-1])
                self.assertEqual(row["median_us"], times[(len(times) + 1) // 2 - 1])
                self.assertLessEqual(row["median_low_us"], row["median_us"])
                self.assertGreaterEqual(row["median_high_us"], row["median_us"])
                self.assertIn("same bytes as the CPU", row["check"])
                decoded = self.rows(report, 1)[row["id"]]
                self.assertEqual(decoded["check"], "same samples as the CPU")
                self.assertEqual(decoded["psnr_db"], row["psnr_db"])
                self.assertGreater(row["psnr_db"], 30)
                self.assertIn(row["id"].rsplit("/", 1)[0], text)
        latency = self.rows(report, 1)["zerorun/cpu/host>host/latency/1"]
        for count in (1, 2):
            row = self.rows(report, 1)[f"zerorun-async/cpu/host>host/throughput/{count}"]
            self.assertEqual(row["check"], "same samples as the CPU")
            self.assertEqual(row["psnr_db"], latency["psnr_db"])
            self.assertEqual(len(row["samples_us"]), 3)

    def test_every_instruction_set_has_a_row(self):
        devices = json.loads(self.zerorun("devices", "--json").stdout)["devices"]
        others = [s for s in devices[0]["instruction_sets"] if s != devices[0]["instruction_set"]]
        report, text = self.bench("synthetic:96x64:photo", "--threads", "1")
        for at in (0, 1):
            rows = self.rows(report, at)
            best = rows["zerorun/cpu/host>host/latency/1"]
            for name in others:
                row = rows[f"zerorun-{name}/cpu/host>host/latency/1"]
                self.assertEqual(row["check"], best["check"])
                self.assertIn(f"zerorun-{name}/cpu", text)
        report, _ = self.bench("synthetic:96x64:photo", "--threads", "1", "--cpu", "best")
        self.assertEqual([id for id in self.rows(report) if id.startswith("zerorun-")], [])

    def test_the_bytes_are_those_of_encode(self):
        y4m = make_y4m("in.y4m", 65, 47, 3)
        report, _ = self.bench(y4m, "-q", "55", "--huffman", "optimal", "--restart", "2")
        self.encode(y4m, "-o", "out.mjpeg", "-q", "55", "--huffman", "optimal", "--restart", "2")
        row = self.rows(report)["zerorun/cpu/host>host/latency/1"]
        self.assertEqual(report["cases"][0]["frames"], 3)
        self.assertEqual([case["operation"] for case in report["cases"]], ["encode", "decode"])
        self.assertAlmostEqual(row["stream_bytes"] * 3, pathlib.Path("out.mjpeg").stat().st_size, 3)

    def test_every_combination_is_a_case(self):
        report, text = self.bench("synthetic:40x24:ramp", make_ppm("in.ppm", 40, 30), "-q", "50,90", "--subsampling",
                                  "444,gray", "--huffman", "standard,optimal", "--no-peers", "--threads", "1",
                                  "--operation", "encode")
        self.assertEqual(len(report["cases"]), 2 * 2 * 2 * 2)
        self.assertEqual(text.count("\nagain: "), 16)

    def test_the_command_of_a_row_measures_that_row(self):
        report, _ = self.bench("synthetic:40x24:text", "--threads", "1,2")
        row = self.rows(report)["zerorun/cpu/host>host/throughput/2"]
        words = shlex.split(row["command"])
        self.assertEqual(words[0], "zerorun")
        self.zerorun(*words[1:], "--json", "again.json")
        case = json.loads(self.read("again.json"))["cases"][0]
        self.assertEqual([r["id"] for r in case["rows"]], [row["id"]])
        self.assertEqual(case["rows"][0]["stream_bytes"], row["stream_bytes"])

    def test_peers(self):
        cpu = json.loads(self.zerorun("devices", "--json").stdout)["devices"][0]
        tables = {"zerorun-" + name for name in cpu["instruction_sets"]
                  if name != cpu["instruction_set"]}
        report, _ = self.bench("synthetic:97x65:photo", "--pixels", "planar,bgr24", "--subsampling",
                               "420", "-q", "80", "--threads", "1")
        self.assertEqual(len(report["cases"]), 4)
        for at, case in enumerate(report["cases"]):
            ours = self.rows(report, at)["zerorun/cpu/host>host/latency/1"]
            for row in case["rows"]:
                if row["mode"] == "stages":
                    continue
                self.assertGreater(row["psnr_db"], ours["psnr_db"] - 1, row["id"])
            named = {row["coder"].split()[0] for row in case["rows"]}
            named |= {note.split(":")[0].split()[0] for note in case["notes"]}
            peers = {"FFmpeg", "OpenCV"} if case["pixels"] == "bgr24" else {"FFmpeg"}
            ours = {"zerorun", "zerorun-async"} if case["operation"] == "decode" else {"zerorun"}
            self.assertEqual(named, ours | tables | {"libjpeg-turbo"} | peers)

    def test_stages(self):
        report, text = self.bench("synthetic:256x256:photo", "--huffman", "optimal", "--only",
                                  "*/stages/*")
        encode, decode = (case["rows"][0] for case in report["cases"])
        names = [stage["stage"] for stage in encode["stages"]]
        self.assertEqual(names, ["fdct_quant", "dc_diff", "zero_run", "symbol_histogram",
                                 "huffman_encode", "bit_pack", "byte_stuff", "between stages"])
        names = [stage["stage"] for stage in decode["stages"]]
        self.assertEqual(names, ["byte_unstuff", "huffman_decode", "zero_run_expand", "dc_predict",
                                 "dequant_idct", "between stages"])
        for row in (encode, decode):
            for stage in row["stages"]:
                self.assertGreater(stage["median_us"], 0)
        self.assertIn("fdct_quant", text)

    def test_csv(self):
        report, _ = self.bench("synthetic:64x48:photo", "--threads", "1", "--csv", "samples.csv")
        with open("samples.csv", newline="") as file:
            lines = list(csv.DictReader(file))
        rows = [row for case in report["cases"] for row in case["rows"]]
        self.assertEqual(len(lines), sum(len(row["samples_us"]) for row in rows))
        self.assertEqual({line["coder"] for line in lines}, {row["coder"] for row in rows})
        first = rows[0]["samples_us"]
        self.assertAlmostEqual(float(lines[0]["sample_us"]), first[0], 2)
        self.assertAlmostEqual(float(lines[0]["median_us"]), rows[0]["median_us"], 2)

    def test_frames_of_one_size(self):
        for number, (width, height) in enumerate([(40, 30), (30, 40), (40, 30)]):
            make_ppm(f"{number}.ppm", width, height, number)
        report = "report.json"
        self.assert_sentence(self.zerorun("bench", "*.ppm", *QUICK, "--json", report), "1 frame is of another size")
        case = json.loads(self.read(report))["cases"][0]
        self.assertEqual((case["width"], case["height"], case["frames"]), (40, 30, 2))

    def test_streams(self):
        y4m, mjpeg = make_y4m("in.y4m", 65, 47, 3), "in.mjpeg"
        self.encode(y4m, "-o", mjpeg, "-q", "70", "--restart", "3", "--huffman", "optimal")
        report, text = self.bench(mjpeg, "--streams", "input,libjpeg,zerorun", "--restart", "5,1",
                                  "-q", "60", "--operation", "encode,decode", "--threads", "1")
        told = [(case["operation"], case["streams"], case["quality"], case["restart"])
                for case in report["cases"]]
        self.assertEqual(told, [("encode", "zerorun", 60, "5"), ("encode", "zerorun", 60, "1"),
                                ("decode", "input", 70, "3"), ("decode", "libjpeg", 60, "none"),
                                ("decode", "zerorun", 60, "5"), ("decode", "zerorun", 60, "1")])
        self.assertIn("the input's own streams, sampling 420, restart 3", " ".join(text.split()))
        own = self.rows(report, 2)
        ours = own["zerorun/cpu/host>host/latency/1"]
        self.assertAlmostEqual(ours["stream_bytes"] * 3, pathlib.Path(mjpeg).stat().st_size, 3)
        self.assertEqual((ours["check"], ours["psnr_db"]), ("same samples as the CPU", 99.99))
        peer = own["libjpeg-turbo/cpu/host>host/latency/1"]
        self.assertEqual((peer["check"], peer["psnr_db"]),
                         ("compared with the CPU's picture", 99.99))
        # Markers are all that tells zerorun's streams from libjpeg-turbo's.
        sizes = [self.rows(report, at)["zerorun/cpu/host>host/latency/1"]["stream_bytes"]
                 for at in (3, 4, 5)]
        self.assertEqual(sizes, sorted(sizes))
        self.assertLess(sizes[0], sizes[2])

    def test_files_of_many_sizes_as_one_batch(self):
        for number, (width, height, sampling) in enumerate([(40, 30, "420"), (70, 50, "444"),
                                                            (33, 90, "gray"), (9, 5, "422")]):
            ppm = make_ppm(f"{number}.ppm", width, height, number)
            self.encode(ppm, "-o", f"{number}.jpg", "--subsampling", sampling)
        self.write("4.jpg", self.read("1.jpg")[:400])
        for pixels in ("planar", "bgr24"):
            done = self.zerorun("bench", "*.jpg", "--mixed", "--streams", "input", "--threads", "1,2", "--pixels",
                                pixels, *QUICK, "--json", "report.json", "-y")
            self.assert_sentence(done, "1 image is left out", "4.jpg")
            case = json.loads(self.read("report.json"))["cases"][0]
            self.assertEqual((case["operation"], case["mixed"], case["frames"]), ("decode", True, 4))
            self.assertAlmostEqual(case["least_megapixels"], 45e-6)
            self.assertAlmostEqual(case["most_megapixels"], 3500e-6)
            self.assertEqual({row["mode"] for row in case["rows"]}, {"throughput"})
            peers = {"libjpeg-turbo", "FFmpeg" if pixels == "planar" else "OpenCV"}
            left_out = {note.split(":")[0] for note in case["notes"]}  # by builds without them
            self.assertEqual({row["coder"].split()[0] for row in case["rows"]} | peers & left_out,
                             {"zerorun", "zerorun-async"} | peers)
            for row in case["rows"]:
                self.assertEqual(row["frames_per_sample"] % 4, 0)
                self.assertGreater(row["psnr_db"], 40)

    def test_nothing_is_told_before_inputs_are_open(self):
        good = make_ppm("good.ppm")
        for inputs in (["missing.ppm"], [good, "missing.ppm"]):
            done = self.zerorun("bench", *inputs, *QUICK, code=3)
            self.assert_sentence(done, "missing.ppm")
            self.assertEqual(done.stdout, b"")

    def test_primitives_need_a_gpu(self):
        devices = json.loads(self.zerorun("devices", "--json").stdout)["devices"]
        if any(device["usable"] for device in devices if device["device"] != "cpu"):
            self.skipTest("there is a GPU")
        self.assert_sentence(self.zerorun("bench", "--primitives", code=5))

    def test_errors(self):
        for arguments, code in [(["synthetic:10x10:cat"], 2), (["synthetic:0x10:photo"], 2), (["--device", "gpu"], 2),
                                (["--huffman", "best"], 2), (["--subsampling", "999"], 2), (["--restart", "x"], 2),
                                (["--threads", "0"], 2), (["-q", "0"], 2), (["--streams", "mine"], 2),
                                (["--streams", "input"], 2), (["--streams", "libjpeg", "--pixels", "nv12"], 2),
                                (["--subsampling", "444", "--pixels", "yuv420p"], 2),
                                (["synthetic:16x16:photo", "--only", "none"], 2), (["--megapixels", "5"], 2),
                                (["--megapixels", "2-1"], 2), (["--mixed", "--operation", "encode"], 2),
                                ([make_ppm("in.ppm"), "--streams", "input"], 3), (["missing.ppm"], 3)]:
            self.assert_sentence(self.zerorun("bench", *arguments, code=code))


class EnergyTest(ProgramTest):
    def test_energy_is_measured_or_missed_with_a_reason(self):
        done = self.zerorun("bench", "synthetic:64x48:photo", "--operation", "encode", "--device",
                            "cpu", "--threads", "1", "--frames", "20", "--repetitions", "1",
                            "--energy", "--only", "zerorun/cpu/*/throughput/1", "--json", "r.json",
                            timeout=120)
        text = done.stdout.decode()
        rows = json.loads(self.read("r.json"))["cases"][0]["rows"]
        self.assertEqual(len(rows), 1)
        if "energy" in rows[0]:
            energy = rows[0]["energy"]
            self.assertGreater(energy["joules"], 0)
            self.assertGreaterEqual(energy["joules"], energy["above_idle_joules"])
            self.assertIn("mJ a frame", text)
        else:
            self.assertRegex(text, r"left out: energy of cpu: the (system|energy counter).*RAPL")


class BenchSizeTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.source = make_y4m("in.y4m", 160, 120, 3)

    def bench(self, *arguments, source=None):
        report = "report.json"
        done = self.zerorun("bench", source or self.source, *arguments, *QUICK, "--threads", "1", "--json", report, "-y")
        return json.loads(self.read(report)), done.stdout.decode()

    def test_the_bytes_are_those_of_encode(self):
        self.encode(self.source, "-o", "out.mjpeg", "--target-size", "5k", "--huffman", "optimal")
        report, text = self.bench("--target-size", "5k", "--huffman", "optimal")
        self.assertEqual([(c["operation"], c["target_size"]) for c in report["cases"]], [("encode", 5000)])
        rows = report["cases"][0]["rows"]
        self.assertIn("zerorun/cpu/host>host/throughput/1", [row["id"] for row in rows])
        for row in rows:
            self.assertTrue(row["coder"].startswith("zerorun"), row["id"])
            self.assertNotEqual(row["mode"], "stages")
            self.assertAlmostEqual(row["stream_bytes"] * 3, pathlib.Path("out.mjpeg").stat().st_size, 3)
        self.assertIn("5,000 bytes a frame", text)
        self.assertNotIn("quality", text)

    def test_what_is_left_out_is_said_once(self):
        notes = self.bench("--target-size", "5k")[0]["cases"][0]["notes"]
        named = [note.split(":")[0] for note in notes]
        self.assertEqual(named, ["libjpeg-turbo", "FFmpeg", "stages", "decode"])
        notes = self.bench("--target-size", "5k", "--no-peers", "--operation", "encode")[0]["cases"][0]["notes"]
        self.assertEqual([note.split(":")[0] for note in notes], ["stages"])

    def test_compare_keeps_sizes_apart(self):
        names = []
        for size in ("5000", "6000"):
            self.bench("--target-size", size)
            names.append(size + ".json")
            pathlib.Path("report.json").rename(names[-1])
        text = self.zerorun("bench", "--compare", *names).stdout.decode()
        self.assertIn(" 5000 bytes ", text)
        self.assertIn(" 6000 bytes ", text)
        self.assertIn(" 0 the same", text)

    def test_progressive_streams_are_those_of_encode(self):
        self.encode(self.source, "-o", "out.mjpeg", "--progressive")
        report, text = self.bench("--scans", "baseline,progressive", "--operation", "encode", "--restart", "none")
        self.assertEqual([c["progressive"] for c in report["cases"]], [False, True])
        case = report["cases"][1]
        for row in case["rows"]:
            self.assertTrue(row["coder"].startswith(("zerorun", "libjpeg-turbo")), row["id"])
        self.assertEqual([note.split(":")[0] for note in case["notes"]], ["FFmpeg", "stages"])
        sizes = {row["coder"].split()[0]: row["stream_bytes"] for row in case["rows"]}
        self.assertAlmostEqual(sizes["zerorun"] * 3, pathlib.Path("out.mjpeg").stat().st_size, 3)
        self.assertLess(sizes["zerorun"], sizes.get("libjpeg-turbo", 1 << 30))
        self.assertIn("progressive, optimal tables", text)
        for options in (["--scans", "interlaced"], ["--scans", "progressive", "--files"]):
            self.assert_sentence(self.zerorun("bench", self.source, *QUICK, "--threads", "1", *options, code=2), "--scans")

    def test_a_frame_that_cannot_be_so_small_ends_the_command(self):
        done = self.zerorun("bench", self.source, *QUICK, "--threads", "1", "--target-size", "100", code=4)
        self.assert_sentence(done, "frame ", "the smallest stream of this picture has ", "100 were asked for")

    def test_what_does_not_go_with_it_is_refused(self):
        for options in (["--operation", "decode"], ["--files"], ["--primitives"], ["--mixed"], ["--megapixels", "0.01-0.02"],
                        ["--compare", "a.json", "b.json"]):
            with self.subTest(options=options):
                done = self.zerorun("bench", self.source, *QUICK, "--threads", "1", "--target-size", "5k", *options, code=2)
                self.assert_sentence(done, "--target-size")
        done = self.zerorun("bench", self.source, "--target-size", "5x", code=2)
        self.assert_sentence(done, "'5x' is not a number from 1 on")
