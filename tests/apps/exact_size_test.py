# bench --exact-size: the counts are those of streams that encode makes.
# SPDX-License-Identifier: MIT
import csv
import json
import os
import pathlib
import unittest

from support import ProgramTest, make_ppm


class ExactSizeTest(ProgramTest):
    def report(self, *arguments):
        name = self.path("sizes.json")
        done = self.zerorun("bench", "--exact-size", *arguments, "--device", "cpu", "--json", name, "-y")
        return json.loads(pathlib.Path(name).read_text()), done.stdout.decode()

    def size(self, *options):
        out = self.path("one.jpg")
        self.encode(*options, "-o", out, "--subsampling", "420", "--stats", self.path("s.csv"), "-y")
        with open(self.path("s.csv"), newline="") as file:
            return os.path.getsize(out), int(next(csv.DictReader(file))["codings"])

    def test_counts_are_those_of_encode(self):
        ppm = make_ppm(self.path("in.ppm"), 128, 96)
        low, high = (self.size(ppm, "-q", quality)[0] for quality in ("30", "90"))
        targets = [int(low * (high / low) ** ((n + 0.5) / 20)) for n in range(20)]
        report, text = self.report(ppm, "--quality", "30,90", "--tunes", "exact", "--huffman", "standard",
                                   "--every-row")
        self.assertEqual((report["format"], report["pictures"], len(report["rows"])), ("zerorun-sizes", 1, 1))
        row = report["rows"][0]
        made = [self.size(ppm, "--target-size", str(target)) for target in targets]
        within = [target - target // 200 <= size <= target for target, (size, _) in zip(targets, made)]
        self.assertEqual([t["within"] for t in row["targets"]], [int(one) for one in within])
        self.assertEqual([t["codings"] for t in row["targets"]], [codings for _, codings in made])
        self.assertEqual((row["streams"], row["above"], row["within"]), (20, 0, sum(within)))
        self.assertAlmostEqual(row["codings"], sum(codings for _, codings in made) / 20, delta=1e-9)
        self.assertEqual(row["most_codings"], max(codings for _, codings in made))
        self.assertGreater(row["milliseconds"], 0)
        for target, one in zip(targets, row["targets"]):
            self.assertAlmostEqual(one["bits_per_pixel"], 8 * target / (128 * 96), delta=1e-9)
        self.assertEqual(len(text.splitlines()[-21:]), 21)
        self.assertIn(f"{100 * sum(within) / 20:.2f} %", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 100)

    def test_modes_and_pictures_have_rows(self):
        for n in range(2):
            make_ppm(self.path(f"p{n}.ppm"), 64, 48, n)
        table = self.path("sizes.csv")
        report, text = self.report(self.path("p?.ppm"), "--csv", table)
        modes = [(r["tune"], r["tables"]) for r in report["rows"]]
        self.assertEqual(sorted(modes), [(t, h) for t in ("exact", "photo") for h in ("optimal", "standard")])
        self.assertEqual([r["streams"] for r in report["rows"]], [40] * 4)
        self.assertIn("2 pictures, 20 sizes each, in equal ratios from that of quality 20 to that of 97", text)
        with open(table, newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([int(r["target"]) for r in rows], list(range(1, 21)) * 4)
        self.assertEqual(sum(int(r["within"]) for r in rows), sum(r["within"] for r in report["rows"]))

    def test_what_cannot_be_is_said(self):
        ppm = make_ppm(self.path("in.ppm"))
        for options in (["--quality", "50"], ["--quality", "50,50"], ["--pixels", "bgr24"], ["--html", self.path("x")],
                        ["--curves"]):
            with self.subTest(options=options):
                self.assert_sentence(self.zerorun("bench", "--exact-size", ppm, *options, code=2))
        self.assert_sentence(self.zerorun("bench", "--exact-size", self.path("none.ppm"), code=3))


if __name__ == "__main__":
    unittest.main()
