# A virtual display: sends key and mouse events by XTest and takes screenshots.
# SPDX-License-Identifier: MIT
import os
import shutil
import struct
import subprocess
import sys
import time
import zlib

MISSING = [name for name in ("Xvfb", "xdotool", "xwd") if not shutil.which(name)]

KEYS = {" ": "space", ".": "period", ",": "comma", "[": "bracketleft", "]": "bracketright",
        "-": "minus", "+": "plus", "=": "equal"}


class Screenshot:
    """Pixels as (red, green, blue)."""

    def __init__(self, width, height, bgrx):
        self.width, self.height, self.bgrx = width, height, bgrx

    def __eq__(self, other):
        return self.bgrx == other.bgrx

    def pixel(self, x, y):
        at = 4 * (y * self.width + x)
        return self.bgrx[at + 2], self.bgrx[at + 1], self.bgrx[at]

    def crop(self, left, top, width, height):
        rows = (self.bgrx[4 * (y * self.width + left):4 * (y * self.width + left + width)]
                for y in range(top, top + height))
        return Screenshot(width, height, b"".join(rows))

    def mean(self):
        return tuple(sum(self.bgrx[c::4]) / (self.width * self.height) for c in (2, 1, 0))

    def share(self, test):
        """Of the pixels for which test(red, green, blue) holds."""
        hits = sum(test(r, g, b) for b, g, r in
                   zip(self.bgrx[0::4], self.bgrx[1::4], self.bgrx[2::4]))
        return hits / (self.width * self.height)

    def write_png(self, path):
        raw = bytearray()
        for y in range(self.height):
            row = self.bgrx[4 * y * self.width:4 * (y + 1) * self.width]
            rgb = bytearray(3 * self.width)
            rgb[0::3], rgb[1::3], rgb[2::3] = row[2::4], row[1::4], row[0::4]
            raw += b"\0" + rgb

        def chunk(name, data):
            return (struct.pack(">I", len(data)) + name + data +
                    struct.pack(">I", zlib.crc32(name + data)))
        header = struct.pack(">IIBBBBB", self.width, self.height, 8, 2, 0, 0, 0)
        with open(path, "wb") as out:
            out.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) +
                      chunk(b"IDAT", zlib.compress(bytes(raw), 1)) + chunk(b"IEND", b""))


def read_xwd(data):
    """Reads a screenshot with 24 bits a pixel in 32 (XWDFile.h; all numbers big-endian)."""
    fields = struct.unpack(">25I", data[:100])
    header_bytes, width, height, order = fields[0], fields[4], fields[5], fields[7]
    row_bytes, colors = fields[12], fields[19]
    # bits_per_pixel is no help: while a window changes its size xwd may say 24 for rows of 32.
    assert row_bytes >= 4 * width and order == 0, fields
    at = header_bytes + 12 * colors
    rows = (data[at + y * row_bytes:at + y * row_bytes + 4 * width] for y in range(height))
    return Screenshot(width, height, b"".join(rows))


class VirtualDisplay:
    def __init__(self, width=1280, height=800):
        # -r: no auto-repeat. On a busy machine a key may be down for a second.
        read_end, write_end = os.pipe()
        self.server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write_end), "-screen", "0", f"{width}x{height}x24",
             "-nolisten", "tcp", "-noreset", "-r"],
            pass_fds=[write_end], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(write_end)
        with os.fdopen(read_end) as number:  # written when the server is ready
            self.name = ":" + number.readline().strip()
        self.environment = {**os.environ, "DISPLAY": self.name}
        self.environment.pop("WAYLAND_DISPLAY", None)
        self.environment.pop("SDL_VIDEODRIVER", None)

    def close(self):
        self.server.terminate()
        self.server.wait(300)

    def xdotool(self, *arguments):
        return subprocess.run(["xdotool", *map(str, arguments)], env=self.environment, check=True,
                              capture_output=True, text=True).stdout

    def window(self, title, seconds=30):
        """The visible window whose title has this in it, once it has the keyboard."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = subprocess.run(["xdotool", "search", "--onlyvisible", "--name", title],
                                   env=self.environment, capture_output=True, text=True)
            if found.stdout.split():
                window = found.stdout.split()[0]
                self.xdotool("windowfocus", window)
                if self.xdotool("getwindowfocus").strip() == window:
                    return window
            time.sleep(0.05)
        raise AssertionError(f"no window named {title}")

    def is_managed(self):
        """A window manager runs: only then is there a number of desktops."""
        return subprocess.run(["xdotool", "get_num_desktops"], env=self.environment,
                              capture_output=True).returncode == 0

    def screenshot(self, window, seconds=30):
        """Tries again while xwd fails: X may have no picture of a window that changes its size."""
        end = time.monotonic() + seconds
        while True:
            done = subprocess.run(["xwd", "-silent", "-id", window], env=self.environment,
                                  capture_output=True)
            if done.returncode == 0:
                return read_xwd(done.stdout)
            if time.monotonic() > end:
                raise AssertionError("no screenshot: " + done.stderr.decode())
            time.sleep(0.05)

    def key(self, key, shift=False):
        """By the XTest extension, as from a keyboard."""
        self.xdotool("key", ("shift+" if shift else "") + KEYS.get(key, key))

    def mouse(self, action):
        """"down" or "up": the left button."""
        self.xdotool("mouse" + action, 1)

    def drop(self, window, x, y, *files):
        """By a process of its own, because an error of X ends a process."""
        corner = dict(line.split("=") for line in self.xdotool(
            "getwindowgeometry", "--shell", window).split())
        subprocess.run([sys.executable, "-B", os.path.join(os.path.dirname(__file__), "drop.py"),
                        self.name, window, str(int(corner["X"]) + x), str(int(corner["Y"]) + y),
                        *map(os.path.abspath, files)], check=True, timeout=300)

    def move_mouse(self, window, x, y):
        self.xdotool("mousemove", "--window", window, x, y)
