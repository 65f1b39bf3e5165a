# bench --curves: streams, scores and savings are real, and can be read again.
# SPDX-License-Identifier: MIT
import csv
import json
import math
import pathlib
import re
import unittest

from browser import CHROMIUM, drawn
from support import ProgramTest, make_ppm

PICTURE = "synthetic:320x256:photo"
METRICS = ("psnr_y", "ssim", "ms_ssim", "psnr_hvs_m", "ssimulacra2")


def log_bytes(points, metric, score):
    """Logarithm of the bytes at a score, linear between points."""
    for a, b in zip(points, points[1:]):
        if b[metric] >= score or b is points[-1]:
            part = (score - a[metric]) / (b[metric] - a[metric])
            return math.log(a["scan_bytes"]) + part * math.log(b["scan_bytes"] / a["scan_bytes"])
    return None


def saved(base, other, metric):
    """Percent saved at equal score, by many steps between the scores that both reach."""
    low = max(base[0][metric], other[0][metric])
    high = min(base[-1][metric], other[-1][metric])
    scores = [low + (high - low) * i / 2000 for i in range(2001)]
    mean = sum(log_bytes(other, metric, s) - log_bytes(base, metric, s) for s in scores) / 2001
    return 100 * (1 - math.exp(mean))


def scan_bytes(jpeg):
    at = 2
    while jpeg[at + 1] != 0xDA:
        at += 2 + int.from_bytes(jpeg[at + 2:at + 4], "big")
    return len(jpeg) - 2 - (at + 2 + int.from_bytes(jpeg[at + 2:at + 4], "big"))


class CurvesTest(ProgramTest):
    def curves(self, *arguments):
        report = self.path("curves.json")
        done = self.zerorun("bench", *arguments, "--threads", "2", "--json", report, "-y")
        return json.loads(pathlib.Path(report).read_text()), done.stdout.decode()

    def encoders(self, report, part=0):
        return {(e["encoder"].split(" ")[0] if "zerorun" not in e["encoder"] else e["encoder"],
                 e["tables"]): e for e in report["parts"][part]["encoders"]}

    def test_savings_are_those_of_the_points(self):
        report, text = self.curves("--curves", PICTURE, "--quality", "50,75,90", "--rotate", "2")
        self.assertEqual((report["format"], report["version"]), ("zerorun-quality", 1))
        self.assertEqual([p["subsampling"] for p in report["parts"]], ["420", "444"])
        self.assertEqual([(p["width"], p["height"]) for p in report["pictures"]], [(320, 256)] * 2)
        for part in range(2):
            encoders = self.encoders(report, part)
            best = encoders["zerorun --tune photo --effort best", "optimal"]
            base = next(e for e in report["parts"][part]["encoders"]
                        if (e["encoder"], e["tables"]) == (best["beside"], best["beside_tables"]))
            self.assertEqual(best["beside_tables"], "optimal")
            for metric in METRICS:
                found = [saved(base["pictures"][i]["points"], best["pictures"][i]["points"], metric)
                         for i in range(2)]
                for i in range(2):
                    self.assertAlmostEqual(best["pictures"][i]["saved_percent"][metric], found[i],
                                           delta=0.05)
                self.assertAlmostEqual(best["saved_percent"][metric], sum(found) / 2, delta=0.05)
            self.assertGreater(best["saved_percent"]["ssimulacra2"], 5)
            shown = f"{best['saved_percent']['ssimulacra2']:.1f}"
            lines = [line for line in text.splitlines() if line.startswith(best["encoder"])]
            self.assertIn(shown, lines[part].split())
        self.assertLessEqual(max(map(len, text.splitlines())), 100)

    def test_a_point_is_what_encode_makes(self):
        ppm = make_ppm(self.path("in.ppm"), 320, 256)
        report, _ = self.curves("--curves", ppm, "--quality", "60,80", "--subsampling", "420",
                                "--no-peers")
        for tables in ("standard", "trained"):
            row = self.encoders(report)["zerorun --tune photo", tables]
            self.assertEqual(row["beside_tables"], "standard")
            for quality, point in zip((60, 80), row["pictures"][0]["points"]):
                jpeg = self.path("out.jpg")
                self.zerorun("encode", ppm, "-o", jpeg, "-q", quality, "--tune", "photo",
                             "--huffman", tables, "--subsampling", "420", "--restart", "none", "-y")
                self.assertEqual(point["scan_bytes"], scan_bytes(pathlib.Path(jpeg).read_bytes()))

    def test_no_name_is_cut(self):
        name = "a_picture_whose_name_is_longer_than_the_column_of_names_is_wide"
        ppm = make_ppm(self.path(name + ".ppm"), 320, 256)
        _, text = self.curves("--curves", ppm, "--quality", "60,80", "--subsampling", "420",
                              "--no-peers", "--every-row")
        rows = text.split("\n\n")[1].splitlines()
        self.assertEqual(len({len(row) for row in rows}), 2)  # rows of pictures have no "least"
        self.assertEqual(sum(row.startswith("  " + name + " ") for row in rows), 6)
        kinds = [row.split()[3] for row in rows if row.startswith("zerorun --tune photo  ")]
        self.assertEqual(kinds, ["standard", "trained"])

    def test_libraries_with_libjpegs_bytes_save_nothing(self):
        report, _ = self.curves("--curves", PICTURE, "--quality", "50,90", "--subsampling", "420")
        encoders = self.encoders(report)
        if ("OpenCV", "standard") not in encoders or \
                not encoders["OpenCV", "standard"]["pictures"][0]["points"]:
            self.skipTest("no OpenCV")
        for metric in METRICS:
            self.assertEqual(encoders["OpenCV", "standard"]["saved_percent"][metric], 0)
            self.assertEqual(encoders["OpenCV", "optimal"]["saved_percent"][metric], 0)

    def test_quality_without_a_number_is_the_same(self):
        report, text = self.curves(PICTURE, "--subsampling", "444", "--no-peers", "--quality")
        self.assertEqual(report["qualities"], [50, 65, 75, 85, 90, 95])
        self.assertIn("quality 50 to 95", text)
        self.assertIn("--curves", report["command"])

    def test_csv_has_every_point(self):
        name = self.path("points.csv")
        report, _ = self.curves("--curves", PICTURE, "--quality", "50,90", "--subsampling", "420",
                                "--no-peers", "--csv", name)
        rows = list(csv.DictReader(pathlib.Path(name).read_text().splitlines()))
        points = [(e["encoder"], p["scan_bytes"]) for e in report["parts"][0]["encoders"]
                  for p in e["pictures"][0]["points"]]
        self.assertEqual([(r["encoder"], float(r["scan_bytes"])) for r in rows], points)

    def table(self, report, header="image\tsampling\tencoder\tq\tscan_bytes\tssimulacra2"):
        """A table with the report's own libjpeg-turbo, and an encoder with half its bytes."""
        lines = [header]
        points = report["parts"][0]["encoders"][1]["pictures"][0]["points"]
        for encoder, part in (("turbo_opt", 1), ("half", 2)):
            for q, p in zip(report["qualities"], points):
                lines.append(f"any\t420\t{encoder}\t{q}\t{p['scan_bytes'] / part}\t{p['ssimulacra2']}")
        name = self.path("points.tsv")
        pathlib.Path(name).write_text("\n".join(lines) + "\n")
        return name

    def test_the_metrics_are_measured_where_they_are_wanted(self):
        what = ("--curves", PICTURE, "--quality", "50,90", "--subsampling", "420", "--no-peers")
        report, text = self.curves(*what, "--device", "cpu")
        self.assertIn(" --device cpu ", report["command"] + " ")
        meter, = report["meters"]
        points = sum(len(e["pictures"][0]["points"]) for e in report["parts"][0]["encoders"])
        self.assertEqual((meter["device"], meter["pictures"]), ("cpu", points))
        self.assertGreater(meter["median_ms"], 0)
        self.assertIn(f"metrics on cpu: {meter['median_ms']:.2f} ms", text)
        without, _ = self.curves(*what)
        self.assertNotIn("--device", without["command"])
        self.assertEqual(len(without["meters"]), 1)

    def test_a_gpu_that_is_not_there_is_an_error(self):
        said = json.loads(self.zerorun("devices", "--json").stdout)
        if any(device["usable"] for device in said["devices"] if device["device"] != "cpu"):
            self.skipTest("there is a GPU; device_test measures on it")
        for device in ("cuda", "cpu,cuda"):
            self.assert_sentence(self.zerorun("bench", "--curves", PICTURE, "--quality", "50,90",
                                              "--device", device, code=5))

    def test_points_of_others(self):
        what = ("--curves", PICTURE, "--quality", "50,75,90", "--subsampling", "420", "--no-peers")
        report, _ = self.curves(*what)
        with_points, text = self.curves(*what, "--points", self.table(report))
        half = self.encoders(with_points)["half", "file"]
        self.assertAlmostEqual(half["saved_percent"]["ssimulacra2"], 50, delta=1e-6)
        self.assertIsNone(half["saved_percent"]["psnr_y"])
        self.assertRegex(text, r"half +file +- +- +- +- +50\.0")
        other = self.curves("--curves", "synthetic:320x256:text", *what[2:], "--points",
                            self.path("points.tsv"))[1]
        self.assertIn("it has none of these pictures", other)

    def test_what_cannot_be_is_said(self):
        report, _ = self.curves("--curves", PICTURE, "--quality", "50,75", "--subsampling", "420",
                                "--no-peers")
        what = ("bench", "--curves", PICTURE, "--quality", "50,75", "--no-peers", "--subsampling",
                "420")
        table = self.table(report, header="image\tsampling\tencoder\tq\tbytes\tssimulacra2")
        self.assert_sentence(self.zerorun(*what, "--points", table, code=3))
        pathlib.Path(table).write_text("image\tsampling\tencoder\tq\tscan_bytes\na\t420\tb\tx\t5\n")
        self.assert_sentence(self.zerorun(*what, "--points", table, code=3))
        self.assert_sentence(self.zerorun(*what, "--points", self.path("no.tsv"), code=3))
        self.assert_sentence(self.zerorun("bench", "--curves", PICTURE, "--quality", "50", code=2))
        self.assert_sentence(self.zerorun("bench", "--points", table, PICTURE, code=2))
        self.assert_sentence(self.zerorun("bench", "--curves", PICTURE, "--tunes", "text", code=2))
        small = self.curves("--curves", "synthetic:96x80:photo", *what[3:])[1]
        self.assertIn("shorter than 256", small)

    def test_the_page_stands_alone_and_draws(self):
        page = self.path("curves.html")
        self.curves("--curves", PICTURE, "--quality", "50,75,90", "--subsampling", "420",
                    "--no-peers", "--html", page)
        text = pathlib.Path(page).read_text()
        for address in re.findall(r"\w+://[^\s\"']+", text):
            self.assertEqual(address, "http://www.w3.org/2000/svg")
        self.assertNotIn("src=", text)
        if CHROMIUM is None:
            self.skipTest("no chromium")
        dom = drawn(page, self.path("profile"))
        self.assertEqual(dom.count("<polyline"), 8)  # libjpeg-turbo twice, six modes
        self.assertIn("zerorun --tune photo --effort best, optimal", dom)


if __name__ == "__main__":
    unittest.main()
