# bench --html: one file without network that a browser draws, in light and in dark.
# SPDX-License-Identifier: MIT
import json
import pathlib
import re
import shutil
import struct
import subprocess
import unittest
import zlib

from support import ProgramTest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
WIDTH, HEIGHT = 1200, 1600
OURS = {"light": (0x0b, 0x63, 0xc5), "dark": (0x63, 0xa9, 0xff)}  # --ours in page.html
PAGE = {"light": (0xff, 0xff, 0xff), "dark": (0x14, 0x18, 0x1e)}


def png_pixels(data):
    """Width, height and rows of (r, g, b) bytes of a PNG with 8 bits a channel."""
    width, height, depth, colour = struct.unpack(">IIBB", data[16:26])
    assert depth == 8 and colour in (2, 6), (depth, colour)
    step, at, packed = 3 if colour == 2 else 4, 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        packed += data[at + 8:at + 8 + length] if kind == b"IDAT" else b""
        at += length + 12
    raw, stride, rows, above = zlib.decompress(packed), width * step, [], bytes(width * step)
    for y in range(height):
        kind, line = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:][:stride])
        for x in range(stride):
            left = line[x - step] if x >= step else 0
            corner = above[x - step] if x >= step else 0
            up = above[x]
            if kind == 1:
                line[x] = line[x] + left & 255
            elif kind == 2:
                line[x] = line[x] + up & 255
            elif kind == 3:
                line[x] = line[x] + (left + up) // 2 & 255
            elif kind == 4:
                guess = min((left, up, corner), key=lambda v: abs(left + up - corner - v))
                line[x] = line[x] + guess & 255
        rows.append([tuple(line[x:x + 3]) for x in range(0, stride, step)])
        above = bytes(line)
    return width, height, rows


class BenchPageTest(ProgramTest):
    def page(self, *arguments):
        name = self.path("report.html")
        self.zerorun("bench", *arguments, "--device", "cpu", "--threads", "1", "--time", "0.02",
                     "--html", name, "-y")
        return name

    def browse(self, page, *options):
        return subprocess.run(
            [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             f"--user-data-dir={self.path('profile')}", f"--window-size={WIDTH},{HEIGHT}",
             "--virtual-time-budget=3000", *options, f"file://{page}"],
            capture_output=True, timeout=120, check=True).stdout.decode()

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

    @unittest.skipUnless(CHROMIUM, "chromium is not installed")
    def test_a_browser_draws_it(self):
        page = self.page("synthetic:320x240:photo", "-q", "75,90")
        dom = self.browse(page, "--dump-dom")
        self.assertIn('data-ready="4"', dom)
        self.assertEqual(dom.count("<option "), 4)
        for heading in ("One frame at a time", "Several frames at once", "Frame by frame", "Stages",
                        "All rows"):
            self.assertIn(f"<h2>{heading}</h2>", dom)
        self.assertGreaterEqual(dom.count("<polyline"), 2)
        self.assertNotIn("NaN", dom)
        self.assertNotIn("undefined", dom.split("<script>")[0])

    @unittest.skipUnless(CHROMIUM, "chromium is not installed")
    def test_light_and_dark(self):
        page = self.page("synthetic:320x240:photo", "--operation", "encode")
        for scheme, setting in (("light", 1), ("dark", 0)):
            shot = self.path(f"{scheme}.png")
            self.browse(page, f"--blink-settings=preferredColorScheme={setting}",
                        f"--screenshot={shot}")
            width, height, rows = png_pixels(pathlib.Path(shot).read_bytes())
            self.assertEqual((width, height), (WIDTH, HEIGHT))
            self.assertEqual(rows[0][0], PAGE[scheme])
            ours = sum(row.count(OURS[scheme]) for row in rows)
            self.assertGreater(ours, 500, scheme)


if __name__ == "__main__":
    unittest.main()
