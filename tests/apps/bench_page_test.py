# bench --html: one file without network that a browser draws, in light and in dark.
# SPDX-License-Identifier: MIT
import html
import json
import pathlib
import re
import shutil
import subprocess
import unittest

from support import ProgramTest

QUICK = ("--time", "0.005", "--warm-up", "0", "--repetitions", "3", "--device", "cpu", "--threads", "1", "-y")


class BenchPageTest(ProgramTest):
    def page(self, *arguments):
        self.zerorun("bench", *arguments, *QUICK, "--html", "report.html")
        return "report.html"

    def test_the_file_stands_alone(self):
        text = self.read(self.page("synthetic:64x48:photo")).decode()
        for address in re.findall(r"\w+://[^\s\"']+", text):
            self.assertEqual(address, "http://www.w3.org/2000/svg")  # a name, nothing is loaded
        self.assertNotIn("src=", text)
        self.assertNotIn("@import", text)
        data = re.search(r'id="data">(.*?)</script>', text, re.S).group(1)
        self.assertEqual(len(json.loads(data)["cases"]), 2)

    def test_a_name_cannot_leave_the_data(self):
        name = "</script><b>.ppm"
        pathlib.Path(name).parent.mkdir()
        self.write(name, b"P6 8 8 255 " + bytes(192))
        self.assertNotIn("</script><b>", self.read(self.page(name)).decode())

    def test_a_page_says_what_it_says_to_a_screen_reader(self):
        text = self.read(self.page("synthetic:64x48:photo")).decode()
        page = text[:text.index('<script type="application/json"')]
        for part in ('<html lang="en">', '<label for="case">', 'role="status"', '<main id="main"',
                     '<nav aria-label="Cases">'):
            self.assertIn(part, page)

    @unittest.skipUnless(shutil.which("chromium"), "chromium is not installed")
    def test_a_browser_draws_every_row_of_a_case(self):
        name = self.page("synthetic:64x48:photo")
        data = re.search(r'id="data">(.*?)</script>', self.read(name).decode(), re.S).group(1)
        drawn = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
                                f"--user-data-dir={self.path('profile')}", "file://" + self.path(name)],
                               capture_output=True, text=True, timeout=300).stdout
        main = html.unescape(drawn[drawn.index("<main"):drawn.index("</main>")])
        missing = [row["id"] for row in json.loads(data)["cases"][0]["rows"] if row["id"] not in main]
        self.assertEqual(missing, [])
        self.assertGreater(main.count('role="img"'), 3)
