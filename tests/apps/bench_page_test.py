# bench --html: one file without network that a browser draws, in light and in dark.
# SPDX-License-Identifier: MIT
import json
import pathlib
import re
import os
import subprocess
import tempfile
import unittest

from browser import CHROMIUM, Browser
from support import PROGRAM, ProgramTest

WIDTH, HEIGHT = 1200, 1600
QUICK = ("--time", "0.005", "--warm-up", "0", "--repetitions", "3", "--device", "cpu", "--threads", "1", "-y")
class BenchPageTest(ProgramTest):
    def page(self, *arguments):
        name = self.path("report.html")
        self.zerorun("bench", *arguments, *QUICK, "--html", name)
        return name

    def test_the_file_stands_alone(self):
        text = pathlib.Path(self.page("synthetic:64x48:photo")).read_text()
        for address in re.findall(r"\w+://[^\s\"']+", text):
            self.assertEqual(address, "http://www.w3.org/2000/svg")  # a name, nothing is loaded
        self.assertNotIn("src=", text)
        self.assertNotIn("@import", text)
        data = re.search(r'id="data">(.*?)</script>', text, re.S).group(1)
        self.assertEqual(len(json.loads(data)["cases"]), 2)

    def test_a_name_cannot_leave_the_data(self):
        name = self.path("</script><b>.ppm")
        pathlib.Path(name).parent.mkdir()
        pathlib.Path(name).write_bytes(b"P6 8 8 255 " + bytes(192))
        text = pathlib.Path(self.page(name)).read_text()
        self.assertNotIn("</script><b>", text)

    def test_a_page_says_what_it_says_to_a_screen_reader(self):
        text = pathlib.Path(self.page("synthetic:64x48:photo")).read_text()
        page = text[:text.index('<script type="application/json"')]
        for part in ('<html lang="en">', '<label for="case">', 'role="status"', '<main id="main"',
                     '<nav aria-label="Cases">'):
            self.assertIn(part, page)


KEEP = os.environ.get("ZERORUN_SCREENSHOTS")  # a folder that gets all screenshots
TWO_QUALITIES = ("synthetic:320x240:photo", "-q", "75,90")


@unittest.skipUnless(CHROMIUM, "chromium is not installed")
class BrowsedPageTest(ProgramTest):
    """One page in a browser that is clicked, reloaded and printed."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="zerorun-page-")
        cls.addClassCleanup(folder.cleanup)
        cls.name = os.path.join(folder.name, "report.html")
        subprocess.run([PROGRAM, "bench", *TWO_QUALITIES, *QUICK, "--html", cls.name], check=True,
                       capture_output=True)
        cls.browser = Browser(os.path.join(folder.name, "profile"))
        cls.addClassCleanup(cls.browser.close)
        text = pathlib.Path(cls.name).read_text()
        cls.report = json.loads(re.search(r'id="data">(.*?)</script>', text, re.S).group(1))

    def setUp(self):
        super().setUp()
        self.browser.resize(WIDTH, HEIGHT)
        self.browser.open(f"file://{self.name}?{self.id()}")  # not yet open: no state is left

    def run_script(self, script):
        return self.browser.run(script)

    def keep(self, name):
        if KEEP:
            pathlib.Path(KEEP, f"page-{name}.png").write_bytes(self.browser.screenshot())

    def column(self, number, table=0):
        return self.run_script(f"""[...document.querySelectorAll("main table")[{table}]
            .querySelectorAll("tbody tr")].map(row => row.children[{number}].textContent)""")

    def headings(self, table=0):
        return f'document.querySelectorAll("main table")[{table}].querySelectorAll("thead button")'

    def medians(self, case=0):
        """The ids of the rows of a case, the fastest first."""
        return [r["id"] for r in sorted(self.report["cases"][case]["rows"],
                                        key=lambda r: r["median_us"])]

    def test_encode_and_decode_stand_side_by_side(self):
        boxes = self.run_script("""[...document.querySelectorAll(".pair.two")[1].children].map(
            e => [e.querySelector("h3").textContent, e.getBoundingClientRect().x,
                  e.getBoundingClientRect().y])""")
        self.assertEqual([box[0] for box in boxes], ["encode", "decode"])
        self.assertEqual(boxes[0][2], boxes[1][2])
        self.assertGreater(boxes[1][1], boxes[0][1] + 300)
        self.browser.resize(480, 900)
        boxes = self.run_script("""[...document.querySelectorAll(".pair.two")[1].children].map(
            e => e.getBoundingClientRect().x)""")
        self.assertEqual(boxes[0], boxes[1], "one below the other on a narrow screen")
        self.assertLessEqual(self.run_script("document.documentElement.scrollWidth"), 480)
        self.keep("narrow")

    def test_a_click_sorts(self):
        order = [r["id"] for r in self.report["cases"][0]["rows"]]
        self.assertEqual(self.column(0), order)
        self.browser.click(self.headings() + "[2]")
        self.assertEqual(self.column(0), self.medians())
        self.assertEqual(self.run_script(self.headings() + "[2].parentElement.ariaSort"),
                         "ascending")
        self.assertIn("median", self.run_script('document.getElementById("status").textContent'))
        self.run_script(self.headings() + "[2].focus()")
        self.browser.key("Enter")
        self.assertEqual(self.column(0), self.medians()[::-1])
        self.assertEqual(self.run_script(self.headings() + "[2].parentElement.ariaSort"),
                         "descending")

    def test_a_click_leaves_out_a_coder(self):
        of = lambda name: f"""[...document.querySelectorAll(".filters button")].find(
            b => b.textContent === "{name}")"""
        before = self.column(0)
        self.assertTrue(any(name.startswith("zerorun-scalar/") for name in before))
        self.browser.click(of("zerorun-scalar"))
        self.assertEqual(self.column(0), [name for name in before
                                          if not name.startswith("zerorun-scalar/")])
        self.assertEqual(self.run_script(of("zerorun-scalar") + ".ariaPressed"), "false")
        self.assertNotIn("zerorun-scalar", self.run_script(
            'document.querySelector("main svg[role=img]").getAttribute("aria-label")'))
        # The filter was drawn anew and still has the keyboard.
        self.assertEqual(self.run_script("document.activeElement.textContent"), "zerorun-scalar")
        self.browser.key(" ")
        self.assertEqual(self.column(0), before)

    def test_a_link_finds_its_case_again(self):
        self.assertEqual(self.run_script('document.getElementById("case").value'), "0")
        self.run_script("""(() => {
            const chooser = document.getElementById("case");
            chooser.value = 3;
            chooser.dispatchEvent(new Event("change"));
        })()""")
        link = self.browser.wait_for("location.hash")
        self.assertEqual(link, "#decode-synthetic:320x240:photo-yuv420p-420-q90-standard-restart-auto")
        chosen = 'document.getElementById("case").value'
        self.browser.wait_for(f'{chosen} === "3"')
        self.browser.reload()
        self.assertEqual(self.run_script(chosen), "3")
        self.assertIn("quality 90", self.run_script('document.querySelector("main h3").textContent'))
        self.run_script('document.getElementById("overview").open = true')
        self.browser.click('document.querySelectorAll("#overview tbody a")[1]')
        self.browser.wait_for(f'{chosen} === "1"')
        self.assertIn("encode-", self.run_script("location.hash"))
        self.run_script('location.hash = "case2"')  # links of older pages
        self.browser.wait_for(f'{chosen} === "2"')
        self.run_script('location.hash = "no-such-case"')
        self.browser.wait_for(f'{chosen} === "0"')

    def test_verdicts_and_warnings_are_those_of_the_report(self):
        shown = self.run_script('document.getElementById("main").innerText')
        for case in (0, 2):  # quality 75
            for sentence in (self.report["cases"][case]["verdict"] +
                             self.report["cases"][case]["warnings"]):
                self.assertIn(sentence, shown)
        for sentence in self.report["warnings"]:
            self.assertIn(sentence, self.run_script("document.body.innerText"))
        self.assertRegex(self.report["machine"]["memory"], r"^\d+\.\d GiB$")

    def test_axes_begin_at_zero_and_size_stands_beside_time(self):
        firsts = self.run_script("""[...document.querySelectorAll("main .pair svg[role=img]")]
            .filter(svg => svg.querySelector(".grid"))
            .map(svg => [...svg.querySelectorAll("text.quiet")].map(t => t.textContent))""")
        self.assertGreater(len(firsts), 6)
        for texts in firsts:
            self.assertIn("0", texts)
        labels = self.run_script("""[...document.querySelectorAll("svg[role=img]")].map(
            svg => svg.getAttribute("aria-label"))""")
        for name in ("PSNR over bytes of a stream", "PSNR over time of one frame"):
            self.assertEqual(sum(label.startswith(name) for label in labels), 2)
        joined = self.run_script("""document.querySelector("polyline.joined")
            .getAttribute("points").split(" ").length""")
        self.assertEqual(joined, 2, "a point for each quality")
        self.assertTrue(all(labels))

    def test_no_label_of_a_chart_is_cut_off(self):
        """With many coders, long names, axes of half decibels and a tick at the end of an axis, too."""
        report = json.loads(json.dumps(self.report))
        for case in report["cases"]:
            model = next(row for row in case["rows"] if row["mode"] == "latency" and row.get("psnr_db"))
            for row in case["rows"]:
                if row.get("psnr_db"):
                    row["psnr_db"] = 42.8
                    row["median_us"] = 1500 / 1.08  # a tick, 1.50 ms, at the end of the axis
            for number in range(12):
                row = {**model, "coder": f"nvJPEG-hardware-{number} 13.0.1"}
                case["rows"].append({**row, "id": row["id"].replace(model["coder"].split()[0],
                                                                     row["coder"].split()[0])})
        text = pathlib.Path(self.name).read_text()
        data = re.search(r'id="data">(.*?)</script>', text, re.S)
        many = pathlib.Path(self.name).with_name("many.html")
        many.write_text(text[:data.start(1)] + json.dumps(report).replace("<", "\\u003c") +
                        text[data.end(1):])
        self.browser.open(f"file://{many}")
        self.addCleanup(self.browser.call, "Emulation.setEmulatedMedia", media="")
        for width, media in ((WIDTH, "screen"), (400, "screen"), (703, "print")):
            self.browser.call("Emulation.setEmulatedMedia", media=media)
            self.browser.resize(width, 1000)
            with self.subTest(width=width, media=media):
                self.check_labels()

    def check_labels(self):
        self.browser.wait_for("chartWidth === columnWidth(sideBySide(shownCase).length)")
        cut = self.run_script("""[...document.querySelectorAll("svg text")].filter(text => {
            const box = text.getBBox(), all = text.ownerSVGElement.viewBox.baseVal;
            return box.x < -0.5 || box.x + box.width > all.width + 0.5 ||
                box.y < -0.5 || box.y + box.height > all.height + 0.5;
        }).map(text => text.textContent)""")
        self.assertEqual(cut, [])
        self.assertGreater(self.run_script("""[...document.querySelectorAll("svg text")].filter(
            text => text.textContent.endsWith(".5 dB")).length"""), 0)

    def test_everything_is_reached_by_the_keyboard_and_has_a_name(self):
        tree = self.browser.call("Accessibility.getFullAXTree")["nodes"]
        named = [(n["role"]["value"], n.get("name", {}).get("value", "")) for n in tree
                 if not n["ignored"] and n.get("role", {}).get("value") in
                 ("button", "link", "combobox", "image", "table", "region", "group", "navigation")]
        roles = {role for role, _ in named}
        self.assertLessEqual({"button", "link", "combobox", "image", "table"}, roles)
        for role, name in named:
            self.assertTrue(name or role == "group", (role, name))
        self.browser.key("Tab")
        self.assertEqual(self.run_script("document.activeElement.id"), "skip")
        seen = []
        for _ in range(12):
            self.browser.key("Tab")
            seen.append(self.run_script("document.activeElement.tagName"))
        self.assertIn("SELECT", seen)
        self.assertIn("BUTTON", seen)

    def test_it_prints_on_a4(self):
        paper = self.browser.paper()
        boxes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", paper)
        self.assertGreater(len(boxes), 1)
        for width, height in boxes:
            self.assertAlmostEqual(float(width), 595, delta=1)
            self.assertAlmostEqual(float(height), 842, delta=1)
        # Nothing is wider than the paper: in 96 pixels an inch the text is 186 mm wide.
        self.browser.resize(703, 1000)
        self.browser.call("Emulation.setEmulatedMedia", media="print")
        try:
            self.assertLessEqual(self.run_script("document.documentElement.scrollWidth"), 703)
            self.assertEqual(self.run_script(
                'getComputedStyle(document.querySelector(".filters")).display'), "none")
        finally:
            self.browser.call("Emulation.setEmulatedMedia", media="")
        if KEEP:
            pathlib.Path(KEEP, "page.pdf").write_bytes(paper)

    def test_text_has_contrast_in_light_and_dark(self):
        def luminance(colour):
            channels = [int(v) / 255 for v in re.findall(r"\d+", colour)[:3]]
            linear = [c / 12.92 if c <= .04045 else ((c + .055) / 1.055) ** 2.4 for c in channels]
            return .2126 * linear[0] + .7152 * linear[1] + .0722 * linear[2]
        for scheme in ("light", "dark"):
            self.browser.prefer(scheme)
            page = luminance(self.run_script("getComputedStyle(document.body).backgroundColor"))
            for selector in ("body", ".quiet", "a", "main th", ".filters button", "svg text"):
                words = luminance(self.run_script(f"""(() => {{
                    const s = getComputedStyle(document.querySelector("{selector}"));
                    return "{selector}".startsWith("svg") ? s.fill : s.color; }})()"""))
                ratio = (max(page, words) + .05) / (min(page, words) + .05)
                self.assertGreaterEqual(ratio, 4.5, (scheme, selector))
            self.keep(scheme)
        self.browser.prefer("light")
