# bench: what it measures is real, checked and can be read again.
# SPDX-License-Identifier: MIT
import csv
import json
import pathlib
import shlex
import unittest

from support import ProgramTest, make_ppm, make_y4m

QUICK = ["--time", "0.02", "--warm-up", "0", "--repetitions", "3", "--device", "cpu"]


class BenchTest(ProgramTest):
    def bench(self, *arguments):
        """The report of a short run."""
        report = self.path("report.json")
        result = self.zerorun("bench", *arguments, *QUICK, "--json", report, "-y")
        return json.loads(pathlib.Path(report).read_text()), result.stdout.decode()

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

    def test_the_bytes_are_those_of_encode(self):
        y4m = make_y4m(self.path("in.y4m"), 65, 47, 3)
        report, _ = self.bench(y4m, "-q", "55", "--huffman", "optimal", "--restart", "2")
        out = self.path("out.mjpeg")
        self.encode(y4m, "-o", out, "-q", "55", "--huffman", "optimal", "--restart", "2")
        row = self.rows(report)["zerorun/cpu/host>host/latency/1"]
        self.assertEqual(report["cases"][0]["frames"], 3)
        self.assertEqual([case["operation"] for case in report["cases"]], ["encode", "decode"])
        self.assertAlmostEqual(row["stream_bytes"] * 3, pathlib.Path(out).stat().st_size, 3)

    def test_every_combination_is_a_case(self):
        report, text = self.bench("synthetic:40x24:ramp", make_ppm(self.path("in.ppm"), 40, 30),
                                  "-q", "50,90", "--subsampling", "444,gray", "--huffman",
                                  "standard,optimal", "--no-peers", "--threads", "1",
                                  "--operation", "encode")
        self.assertEqual(len(report["cases"]), 2 * 2 * 2 * 2)
        self.assertEqual(text.count("\nagain: "), 16)

    def test_the_command_of_a_row_measures_that_row(self):
        report, _ = self.bench("synthetic:40x24:text", "--threads", "1,2")
        row = self.rows(report)["zerorun/cpu/host>host/throughput/2"]
        words = shlex.split(row["command"])
        self.assertEqual(words[0], "zerorun")
        again = self.path("again.json")
        self.zerorun(*words[1:], "--json", again)
        case = json.loads(pathlib.Path(again).read_text())["cases"][0]
        self.assertEqual([r["id"] for r in case["rows"]], [row["id"]])
        self.assertEqual(case["rows"][0]["stream_bytes"], row["stream_bytes"])

    def test_peers(self):
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
            self.assertEqual(named, {"zerorun", "libjpeg-turbo"} | peers)

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
        table = self.path("samples.csv")
        report, _ = self.bench("synthetic:64x48:photo", "--threads", "1", "--csv", table)
        with open(table, newline="") as file:
            lines = list(csv.DictReader(file))
        rows = [row for case in report["cases"] for row in case["rows"]]
        self.assertEqual(len(lines), sum(len(row["samples_us"]) for row in rows))
        self.assertEqual({line["coder"] for line in lines}, {row["coder"] for row in rows})
        first = rows[0]["samples_us"]
        self.assertAlmostEqual(float(lines[0]["sample_us"]), first[0], 2)
        self.assertAlmostEqual(float(lines[0]["median_us"]), rows[0]["median_us"], 2)

    def test_frames_of_one_size(self):
        for number, (width, height) in enumerate([(40, 30), (30, 40), (40, 30)]):
            make_ppm(self.path(f"{number}.ppm"), width, height, number)
        report = self.path("report.json")
        done = self.zerorun("bench", self.path("*.ppm"), *QUICK, "--json", report)
        self.assert_sentence(done, "1 frame is of another size")
        case = json.loads(pathlib.Path(report).read_text())["cases"][0]
        self.assertEqual((case["width"], case["height"], case["frames"]), (40, 30, 2))

    def test_primitives_need_a_gpu(self):
        devices = json.loads(self.zerorun("devices", "--json").stdout)["devices"]
        if any(device["usable"] for device in devices if device["device"] != "cpu"):
            self.skipTest("there is a GPU")
        self.assert_sentence(self.zerorun("bench", "--primitives", code=5))

    def test_errors(self):
        for arguments, code in [(["synthetic:10x10:cat"], 2), (["synthetic:0x10:photo"], 2),
                                (["--device", "gpu"], 2), (["--huffman", "best"], 2),
                                (["--subsampling", "999"], 2), (["--restart", "x"], 2),
                                (["--threads", "0"], 2), (["-q", "0"], 2),
                                ([self.path("missing.ppm")], 3)]:
            self.assert_sentence(self.zerorun("bench", *arguments, code=code))


if __name__ == "__main__":
    unittest.main()
