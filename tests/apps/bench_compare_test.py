# bench --compare: a slower row is found, noise is not.
# SPDX-License-Identifier: MIT
import copy
import json

from support import ProgramTest


class BenchCompareTest(ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.report = None

    def setUp(self):
        super().setUp()
        if BenchCompareTest.report is None:
            self.zerorun("bench", "synthetic:64x48:photo", "--device", "cpu", "--threads", "1",
                         "--time", "0.02", "--no-peers", "--operation", "encode", "--json", "first.json")
            BenchCompareTest.report = json.loads(self.read("first.json"))

    def write_report(self, name, report):
        path = name
        self.write(path, json.dumps(report))
        return path

    def scaled(self, factor, row_id="zerorun/cpu/host>host/latency/1"):
        report = copy.deepcopy(self.report)
        for row in report["cases"][0]["rows"]:
            if row["id"] == row_id:
                for key in ("median_us", "median_low_us", "median_high_us"):
                    row[key] *= factor
        return report

    def compare(self, old, new, *options, code=0):
        done = self.zerorun("bench", "--compare", self.write_report("old.json", old),
                            self.write_report("new.json", new), *options, code=code)
        return done.stdout.decode()

    def same(self, others):
        """The words for all rows but `others`: a machine has rows for each of its instruction sets."""
        return f"{len(self.report['cases'][0]['rows']) - others} the same"

    def test_slower_and_faster_rows(self):
        for factor, slower, faster in ((1, 0, 0), (2, 1, 0), (0.5, 0, 1)):
            text = self.compare(self.report, self.scaled(factor), code=slower)
            self.assertIn(f"{slower} slower, {faster} faster, " + self.same(slower + faster), text)
        line = next(line for line in self.compare(self.report, self.scaled(2), code=1).splitlines() if "SLOWER" in line)
        self.assertIn("latency/1", line)
        self.assertIn("+100.0%", line)
        self.assertIn("0 slower", self.compare(self.report, self.scaled(2), "--threshold", "150"))

    def test_noise_is_no_regression(self):
        noisy = self.scaled(1.5)
        row = noisy["cases"][0]["rows"][0]
        row["median_low_us"] = self.report["cases"][0]["rows"][0]["median_low_us"] * 0.9
        self.assertIn("0 slower", self.compare(self.report, noisy))

    def test_rows_that_come_and_go(self):
        fewer = copy.deepcopy(self.report)
        del fewer["cases"][0]["rows"][0]
        self.assertIn("1 only in the old report", self.compare(self.report, fewer))
        self.assertIn("1 only in the new one", self.compare(fewer, self.report))

    def test_errors(self):
        good = self.write_report("good.json", self.report)
        other = self.write_report("other.json", {"format": "something"})
        self.write("text.json", "no json")
        for bad in (other, "text.json", "missing.json"):
            self.assert_sentence(self.zerorun("bench", "--compare", good, bad, code=3))
        self.assert_sentence(self.zerorun("bench", "--compare", good, code=2))
