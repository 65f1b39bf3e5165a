# Runs play in a real window on a virtual display: sends keys and looks at screenshots.
# SPDX-License-Identifier: MIT
import array
import ctypes.util
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from display import MISSING, VirtualDisplay
from pictures import exif_of, ppm_pixels, quarters, turned
from support import (BUILT_WITH_FFMPEG, PLAYER, PROGRAM, ProgramTest, ffmpeg, make_y4m,
                     needs_containers, needs_opencv)

WIDTH, HEIGHT, RATE = 480, 272, 25
YCC, RGB = (200, 90, 160), (245, 190, 132)  # full range; limited range would give 255, 204, 139
BAR_TRACK, BAR_AHEAD, BAR_PLAYED = (90, 90, 90), (170, 170, 170), (64, 150, 255)  # seek_bar.cpp
GRAPH_LINE, GRAPH_DECODE = (255, 70, 70), (64, 150, 255)  # frame_graph.cpp
BETWEEN = (60, WIDTH, HEIGHT - 120)  # top, width, height: no text of a comparison is there
BARS = 10  # the bits of the frame's index, the lowest at the left

HAS_WINDOW = "no window" not in subprocess.run(
    [PLAYER, "play", "/dev/null"], capture_output=True, text=True,
    env={k: v for k, v in os.environ.items() if "DISPLAY" not in k}).stderr.split(";")[0].replace(
        "no window can be opened", "")
needs_x11 = unittest.skipUnless(ctypes.util.find_library("X11"), "libX11 is not installed")
KEEP = os.environ.get("ZERORUN_SCREENSHOTS")  # a folder that gets all screenshots

# The player shows its text in whatever font fontconfig calls monospace; here that is always the font
# of .ci/packages.txt, whatever else is installed and configured.
FONTS = """<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  <dir>/usr/share/fonts</dir><dir>/usr/local/share/fonts</dir>
  <cachedir>/var/cache/fontconfig</cachedir><cachedir>{cache}</cachedir>
  <match target="pattern"><edit name="family" mode="assign" binding="strong">
    <string>DejaVu Sans Mono</string></edit></match>
</fontconfig>
"""


def frame(index):
    """The upper half is one flat colour; the lower half shows the index as black and white bars."""
    bar = WIDTH // BARS
    bits = b"".join(bytes([235 if index >> i & 1 else 20]) * bar for i in range(BARS))
    half = HEIGHT // 2
    luma = bytes([YCC[0]]) * (WIDTH * half) + bits * half
    chroma = [bytes([c]) * (WIDTH // 2 * half // 2) + bytes([128]) * (WIDTH // 2 * half // 2)
              for c in YCC[1:]]
    return b"FRAME\n" + luma + chroma[0] + chroma[1]


def large_frame(index, times=4):
    """The same, each sample `times` x `times`, with stripes of two samples above its middle."""
    small, at, planes = frame(index)[6:], 0, []
    for width, height in ((WIDTH, HEIGHT), (WIDTH // 2, HEIGHT // 2), (WIDTH // 2, HEIGHT // 2)):
        rows = [small[at + y * width:at + (y + 1) * width] for y in range(height)]
        at += width * height
        planes.append(b"".join(b"".join(bytes([s]) * times for s in row) * times for row in rows))
    band, middle = 64 * WIDTH * times, WIDTH * times * HEIGHT * times // 2
    stripes = (bytes([20]) * 2 + bytes([235]) * 2) * (band // 4)
    planes[0] = planes[0][:middle - band] + stripes + planes[0][middle:]
    return b"FRAME\n" + b"".join(planes)


def index_of(shot):
    """The index that a screenshot shows; None where it shows something else."""
    bar = WIDTH // BARS
    index = 0
    for i in range(BARS):
        level = shot.pixel(i * bar + bar // 2, HEIGHT * 5 // 8)[1]
        if 80 <= level <= 180:
            return None
        index |= (level > 180) << i
    return index


VIDEOS = {}  # those that were made already


def make_video(path, frames, *options, times=1):
    kind = pathlib.Path(path).suffix, frames, options, times
    if kind in VIDEOS:
        pathlib.Path(path).write_bytes(VIDEOS[kind])
        return path
    header = f"YUV4MPEG2 W{times * WIDTH} H{times * HEIGHT} F{RATE}:1 Ip A1:1 C420jpeg XCOLORRANGE=FULL\n"
    encoder = subprocess.Popen([PROGRAM, "encode", "-", "-o", path, "-q", "90", "--quiet",
                                "--device", "cpu", *options], stdin=subprocess.PIPE)
    encoder.stdin.write(header.encode())
    for index in range(frames):
        encoder.stdin.write(frame(index) if times == 1 else large_frame(index, times))
    encoder.stdin.close()
    assert encoder.wait() == 0
    VIDEOS[kind] = pathlib.Path(path).read_bytes()
    return path


def is_dark(r, g, b):
    return r + g + b < 330


def is_letter(r, g, b):
    return min(r, g, b) > 225


class Player(ProgramTest):
    """Starts the player on a virtual display, and looks at it."""
    FRAMES = 600

    @classmethod
    def setUpClass(cls):
        cls.display = VirtualDisplay()
        cls.addClassCleanup(cls.display.close)
        folder = tempfile.TemporaryDirectory(prefix="zerorun-fonts-")
        cls.addClassCleanup(folder.cleanup)
        fonts = pathlib.Path(folder.name, "fonts.conf")
        fonts.write_text(FONTS.format(cache=folder.name))
        cls.display.environment["FONTCONFIG_FILE"] = str(fonts)
        # Neither sizes that were remembered nor the scale of the user's desktop.
        cls.display.environment["HOME"] = folder.name
        for name in ("GDK_SCALE", "QT_SCALE_FACTOR", "SDL_AUDIODRIVER"):
            cls.display.environment.pop(name, None)

    def setUp(self):
        super().setUp()
        self.player = self.window = None
        self.shots = 0
        self.addCleanup(self.stop)

    def video(self, frames=FRAMES):
        return make_video("clip.mjpeg", frames)

    def play(self, *arguments, environment={}, **options):
        # A size that one player remembers must not be the next one's.
        self.player = subprocess.Popen(
            [PLAYER, "play", *map(str, arguments), "--device", "cpu", "--json", "--save-to",
             str(self.dir)], env={**self.display.environment, **environment},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        self.window = self.display.window("zerorun")
        self.wait_for("the first picture", lambda: self.shot().mean()[0] > 20)

    def stop(self):
        if self.player and self.player.poll() is None:
            self.player.kill()
        if self.player:
            self.player.communicate()

    def finish(self, key="q", code=0):
        """Closes the window and returns the report."""
        if key:
            self.display.key(key)
        out, errors = self.player.communicate(timeout=300)
        self.assertEqual(self.player.returncode, code, errors.decode())
        return json.loads(out) if out else {}

    def played(self, *arguments, **options):
        """The report of a run that ends by itself, and the number of its frames."""
        self.play(*arguments, "--autoexit", **options)
        report = self.finish(None)
        return report, report["shown"] + report["dropped"] + report["late"]

    def shot(self):
        shot = self.display.screenshot(self.window)
        if KEEP:
            self.shots += 1
            shot.write_png(os.path.join(KEEP, f"{self.id().split('.')[-1]}-{self.shots:03}.png"))
        return shot

    def still(self, seconds=0.3):
        """A screenshot that equals the one before it, so that no picture is half drawn."""
        shots = [self.shot()]
        self.wait_for("a picture that stands still", lambda: time.sleep(seconds) or shots.append(self.shot()) or
                      shots[-1] == shots[-2])
        return shots[-1]

    def index(self):
        found = []
        # A picture may be half drawn when the screenshot is taken.
        self.wait_for("a picture with an index",
                      lambda: found.append(index_of(self.shot())) or found[-1] is not None)
        return found[-1]

    def wait_for(self, what, test, seconds=30, seen=""):
        """`seen` is named if it does not come."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if test():
                return
            time.sleep(0.03)
        self.fail(f"not within {seconds} s: {what}, but {seen}" if seen else f"not within {seconds} s: {what}")

    def wait_for_colour(self, want, *places):
        """Waits until these pixels have the colour: the window may only just have been mapped."""
        found = []

        def is_there():
            shot = self.shot()
            found[:] = [shot.pixel(x, y) for x, y in places]
            return all(abs(a - b) <= 3 for pixel in found for a, b in zip(pixel, want))
        self.wait_for(f"the colour {want} at {places}", is_there, seen=found)

    def press(self, key, index):
        """Presses a key that leads to this frame."""
        self.display.key(key)
        self.wait_for_frame(index, f" after {key}")

    def wait_for_frame(self, index, when=""):
        seen = []

        def is_there():
            seen[:] = [self.index()]
            return seen[0] == index
        self.wait_for(f"the frame {index}{when}", is_there, seen=seen)

    def wait_for_speed(self, seconds, is_right):
        """Waits until a span of so many seconds has shown a number of frames that is_right(frames,
        seconds) accepts: on a busy machine one screenshot may come late."""
        def is_so():
            first, begin = self.index(), time.monotonic()
            time.sleep(seconds)
            return is_right(self.index() - first, time.monotonic() - begin)
        self.wait_for("the right speed", is_so)


class Weston:
    """A Wayland compositor in a window of the virtual display, with one screen of 640x360 units:
    in it no line of the information is so long that it is broken."""

    def __init__(self, display, scale, folder):
        folder = os.path.abspath(folder)
        os.mkdir(folder, 0o700)
        self.display = display
        self.environment = {k: v for k, v in display.environment.items() if k != "DISPLAY"}
        self.environment.update(XDG_RUNTIME_DIR=folder, WAYLAND_DISPLAY="screen",
                                SDL_VIDEODRIVER="wayland")
        settings = pathlib.Path(folder, "weston.ini")
        settings.write_text("[core]\nidle-time=0\n[shell]\npanel-position=none\nlocking=false\n")
        self.server = subprocess.Popen(
            ["weston", "--backend=x11-backend.so", "--use-pixman", "--width=640", "--height=360",
             f"--scale={scale}", "--socket=screen", f"--config={settings}"],
            env={**display.environment, "XDG_RUNTIME_DIR": folder},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.socket = pathlib.Path(folder, "screen")

    def __enter__(self):
        end = time.monotonic() + 30
        while time.monotonic() < end:
            self.window = next(filter(self.is_mine, self.windows()), None)
            if self.window and self.socket.exists():
                return self
            time.sleep(0.05)
        self.__exit__()
        raise AssertionError("weston does not start")

    def windows(self):
        return subprocess.run(["xdotool", "search", "--onlyvisible", "--name", ""], text=True,
                              env=self.display.environment, capture_output=True).stdout.split()

    def is_mine(self, window):  # its name is not where `search` looks
        name = subprocess.run(["xdotool", "getwindowname", window], text=True,
                              env=self.display.environment, capture_output=True).stdout
        return name.startswith("Weston Compositor")

    def __exit__(self, *error):
        self.server.terminate()
        self.server.wait(30)


@unittest.skipUnless(HAS_WINDOW, "this build has no window (SDL)")
@unittest.skipIf(MISSING, "not installed: " + ", ".join(MISSING))
class WindowTest(Player):
    def test_shows_the_picture_in_its_colours_and_in_time(self):
        self.play(self.video())
        shot = self.shot()
        self.assertEqual((shot.width, shot.height), (WIDTH, HEIGHT))
        self.wait_for_colour(RGB, (470, 10), (240, 60), (20, 120))
        self.wait_for_speed(2, lambda frames, seconds: abs(frames - seconds * RATE) < 5)
        report = self.finish()
        self.assertGreater(report["shown"], 20)
        self.assertEqual(report["broken_frames"], 0)

    def test_turned_and_mirrored_pictures_stand_upright(self):
        """Four colours in the corners: as EXIF says, and as the display matrix of a MOV says."""
        stored = ppm_pixels(self.read(quarters("q.ppm", 640, 480)))
        video = "mov" if BUILT_WITH_FFMPEG else "jpg"
        for orientation, kind in ((2, "jpg"), (5, "jpg"), (6, video), (7, video)):
            clip = f"{orientation}.{kind}"
            self.encode("q.ppm", "-o", "o.jpg", "--exif", self.write("exif", exif_of(orientation)), "-y")
            self.zerorun("copy", "o.jpg", "-o", clip)
            rows = turned(stored, orientation)
            self.play(clip, "--pause")

            def is_upright():
                shot = self.shot()
                if (shot.width, shot.height) != (len(rows[0]), len(rows)):
                    return False
                return all(abs(a - b) < 40 for x in (20, shot.width - 20) for y in (20, shot.height - 20)
                           for a, b in zip(shot.pixel(x, y), rows[y][x]))
            self.wait_for(f"orientation {orientation}", is_upright)
            self.finish()

    def test_information_comes_and_goes(self):
        self.play(self.video(), "--pause")
        corner = lambda: self.shot().crop(0, 0, 260, 60)
        # The window is black until it shows its first picture.
        self.wait_for("the picture", lambda: corner().share(is_dark) == 0)
        plain = self.still().crop(0, 0, 260, 60)
        self.display.key("o")
        self.wait_for("information", lambda: corner().share(is_dark) > 0.3)
        # Neither the picture nor its shade is that blue: these are the letters, thin or bold.
        self.assertGreater(corner().share(lambda r, g, b: b > RGB[2] + 10), 0.01)
        self.display.key("o")
        self.wait_for("the picture alone", lambda: corner() == plain)
        self.display.key("h")
        middle = lambda: self.shot().crop(100, 60, 280, 70)
        self.wait_for("the keys", lambda: middle().share(is_dark) > 0.3)
        self.display.key("h")
        self.wait_for("the picture again", lambda: middle().share(is_dark) == 0)
        self.finish("Escape")

    def test_steps_and_seeks(self):
        self.play(self.video(), "--pause")
        self.assertEqual(self.index(), 0)
        for key, index in ((".", 1), (".", 2), (".", 3), (",", 2), ("Right", 27), ("Right", 52),
                           ("Left", 27), ("Up", 277), ("Up", 527), ("Down", 277), (",", 276),
                           ("End", 599), (",", 598), (".", 599), ("Home", 0), ("Left", 0)):
            self.press(key, index)
        self.press(".", 1)  # so the last key led nowhere
        for index in (27, 53, 79):
            self.display.key("Right")
            self.press(".", index)  # a step is not lost while a seek is on its way
        self.finish()

    def test_loops_from_a_to_b(self):
        self.play(self.video(), "--start", "4", "--pause")
        self.wait_for_frame(100)
        self.display.key("a")
        for index in range(101, 106):
            self.press(".", index)
        self.display.key("b")
        self.display.key(" ")
        seen = set()
        end = time.monotonic() + 1
        self.wait_for("three frames of the loop", lambda: seen.add(self.index()) or
                      time.monotonic() > end and len(seen) >= 3)
        self.assertLessEqual(seen, set(range(100, 106)))
        self.display.key("a", shift=True)
        self.wait_for("what is behind B", lambda: self.index() > 110)
        self.finish()

    def test_begins_again_with_loop_and_stays_at_the_end_without(self):
        video = self.video(20)
        self.play(video)
        self.wait_for("the last frame", lambda: self.index() == 19)
        self.assertEqual(index_of(self.still()), 19)
        self.display.key(" ")
        self.wait_for("the start again", lambda: self.index() < 15)
        self.finish()
        self.play(video, "--loop")
        seen = [0]

        def begins_again():
            seen.append(self.index())
            return seen[-1] < seen[-2]
        self.wait_for("the start again", begins_again)
        self.wait_for("the start once more", begins_again)
        report = self.finish()
        self.assertGreater(report["shown"] + report["dropped"] + report["late"], 30)
        self.assertEqual(self.played(video)[1], 20)

    def test_speed_and_late_frames_keep_the_time(self):
        video = self.video()

        def is_in_time():  # a busy machine may hold it up once
            report, frames = self.played(video, "--speed", "20")
            self.assertEqual(frames, 600)
            return abs(report["seconds"] - 600 / RATE / 20) < 0.6
        self.wait_for("1.2 s for 24 s at 20 times the speed", is_in_time)

    def test_saves_the_bytes_of_the_stream(self):
        video = self.video(30)
        self.play(video, "--pause")
        for index in range(1, 4):
            self.press(".", index)
        for name in ("clip-000003.jpg", "clip-000003-2.jpg"):
            self.display.key("s")
            self.wait_for(name, lambda: os.path.exists(name))
        self.finish()
        saved = self.read("clip-000003.jpg")
        self.assertEqual(saved, b"\xff\xd8\xff" + self.read(video).split(b"\xff\xd8\xff")[4])

    @needs_opencv
    def test_saves_the_picture(self):
        video = self.video(5)
        self.play(video, "--pause")
        self.press(".", 1)
        self.display.key("s", shift=True)
        self.wait_for("a PNG", lambda: os.path.exists("clip-000001.png"))
        self.finish()
        self.decode("clip-000001.png", "-o", "png.ppm")
        self.decode(video, "-o", "%d.ppm", "--frames", "1:2")
        self.assertEqual(self.read("png.ppm"), self.read("1.ppm"))

    def test_plays_a_pipe_and_y4m(self):
        video = self.video(50)
        with open(video, "rb") as pipe:
            cat = subprocess.Popen(["cat"], stdin=pipe, stdout=subprocess.PIPE)
        self.play("-", stdin=cat.stdout)
        self.wait_for("the last frame", lambda: self.index() == 49)
        self.assertIsNone(self.bar_track(self.shot()))  # a pipe cannot seek
        self.display.key("Home")
        corner = lambda: self.shot().crop(0, 0, 260, 60)
        for is_there in (True, False):  # what comes after that key is done after it
            self.display.key("o")
            self.wait_for("information", lambda: (corner().share(is_dark) > 0.3) == is_there)
        self.assertEqual(self.index(), 49)
        self.finish()
        cat.wait()
        cat.stdout.close()
        self.decode(video, "-o", "clip.y4m")
        self.play("clip.y4m", "--pause")
        self.press("Right", 25)
        self.press(",", 24)
        self.finish()

    def test_other_samplings_have_the_same_colours(self):
        for sampling in ("422", "444", "gray"):
            self.play(make_video(sampling + ".mjpeg", 2, "--subsampling", sampling), "--pause")
            self.wait_for_colour(RGB if sampling != "gray" else (YCC[0],) * 3, (460, 30))
            self.assertEqual(self.index(), 0)
            self.finish()

    def test_zoom_shows_pixels_and_their_values(self):
        self.encode(make_y4m("big.y4m", 1600, 900, 1), "-o", "big.mjpeg")
        self.play("big.mjpeg", "--pause")
        fitted = self.still()
        self.display.key("z")
        self.display.move_mouse(self.window, fitted.width // 2, fitted.height // 2)
        self.wait_for("another picture", lambda: self.shot() != fitted)
        bottom = lambda: self.shot().crop(0, fitted.height - 60, 300, 50)
        self.wait_for("the probe", lambda: bottom().share(is_letter) > 0.01)
        self.decode("big.mjpeg", "-o", "big.ppm")
        data = self.read("big.ppm")
        pixels = data[len(data) - 3 * 1600 * 900:]
        x, y = 700, 400  # a pixel of the picture; its middle is the middle of the window
        shown = self.shot().pixel(x - 800 + fitted.width // 2, y - 450 + fitted.height // 2)
        at = 3 * (y * 1600 + x)
        for got, want in zip(shown, pixels[at:at + 3]):
            self.assertLess(abs(got - want), 40)  # the screen repeats chroma
        self.display.key("z")
        self.wait_for("the whole picture", lambda: self.shot().crop(0, 0, 200, 100) ==
                      fitted.crop(0, 0, 200, 100))
        self.finish()

    def test_compares_two(self):
        video = self.video(40)
        worse = make_video("worse.mjpeg", 40, "--subsampling", "gray")
        self.play(video, "--compare", video, "--pause")
        shot = self.shot()
        self.assertEqual((shot.width, shot.height), (2 * WIDTH, HEIGHT))
        # The names stand above, the numbers below.
        self.wait_for("two pictures", lambda: self.shot().crop(0, *BETWEEN) ==
                      self.shot().crop(WIDTH, *BETWEEN))
        for key, index in (("Right", 25), (",", 24), (".", 25)):
            self.press(key, index)
            self.wait_for("the same frame beside it", lambda: index_of(
                self.shot().crop(WIDTH, 0, WIDTH, HEIGHT)) == index)
        self.display.key("c")
        self.wait_for("no difference", lambda: max(self.shot().crop(0, *BETWEEN).mean()) < 1)
        report = self.finish()
        self.assertIsNone(report["psnr"])
        self.assertEqual(report["ssim"], 1)
        self.play(video, "--compare", worse, "--view", "difference", "--pause")
        self.wait_for("a difference in colour above",
                      lambda: max(self.shot().crop(300, 20, 400, 80).mean()) > 30)
        self.assertLess(self.finish()["psnr"], 30)

    def test_another_device_that_is_not_there(self):
        self.play(self.video())
        self.display.key("d")
        first = self.index()
        self.wait_for("more frames", lambda: self.index() > first + 10)
        self.finish()

    def test_full_screen(self):
        if not shutil.which("blackbox"):
            self.skipTest("no window manager (blackbox) is installed")
        self.play(self.video())  # without a window manager
        self.finish()
        manager = subprocess.Popen(["blackbox", "-rc", "/dev/null"],
                                   env=self.display.environment, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        self.addCleanup(manager.wait)
        self.addCleanup(manager.terminate)
        self.wait_for("the window manager", self.display.is_managed)
        self.play("clip.mjpeg")
        self.display.key("f")
        self.wait_for("the size of the screen", lambda: self.shot().width == 1280)
        self.display.key("f")
        self.wait_for("the size of the picture", lambda: self.shot().width == WIDTH)
        self.finish()

    def test_damage_is_shown_and_counted(self):
        video = self.video(20)
        data = bytearray(self.read(video))
        starts = [i for i in range(len(data)) if data.startswith(b"\xff\xd8\xff", i)]
        data[starts[5] + 3] = 0xC2 ^ data[starts[5] + 3]  # another marker
        scan = data.index(b"\xff\xda", starts[9])
        data[scan + 40:scan + 44] = b"\x12\x34\x56\x78"
        self.write(video, bytes(data))
        report, _ = self.played(video, "--speed", "0.5")
        self.assertEqual(report["broken_frames"] + report["concealed_frames"], 2, report)

    def test_an_input_without_a_single_picture_is_an_error(self):
        self.write("x.jpg", b"\xff\xd8\xff\xd9" * 3)
        self.assertIn(b"x.jpg", self.zerorun("play", "x.jpg", code=3, env=self.display.environment).stderr)

    def test_ends_by_a_signal(self):
        self.play(self.video())
        self.player.send_signal(signal.SIGINT)
        self.assertGreater(self.finish(None, 130)["shown"], 0)

    def test_closes_while_it_decodes(self):
        """More threads than processors, and pictures so large that some are always being decoded."""
        self.encode(make_y4m("one.y4m", 1280, 720, 1), "-o", "one.jpg")
        clip = pathlib.Path("clip.mjpeg")
        clip.write_bytes(self.read("one.jpg") * 60)
        for arguments in (["--threads", "8", "--speed", "20", "--loop"], ["--threads", "8", "--compare", clip]):
            self.play(clip, *arguments)
            for key in ("Right", "Home"):  # what is in flight is dropped
                self.display.key(key)
            self.assertGreater(self.finish()["shown"], 0)

    def test_closes_while_a_pipe_gives_nothing(self):
        """Nobody can end a read from a pipe: the reader is left behind."""
        data = self.read(self.video(3))
        read_end, write_end = os.pipe()
        self.addCleanup(os.close, write_end)
        os.write(write_end, data)
        self.play("-", stdin=read_end)
        os.close(read_end)
        self.assertGreater(self.finish()["shown"], 0)

    def bar_track(self, shot):
        """Left and right end of the track of the seek bar, and its row; None without a bar."""
        for y in range(shot.height - 1, shot.height * 3 // 4, -1):
            ends = [x for x in range(shot.width)
                    if shot.pixel(x, y) in (BAR_TRACK, BAR_AHEAD, BAR_PLAYED)]
            if len(ends) > shot.width // 4:
                return ends[0], ends[-1], y
        return None

    def show_bar(self):
        """Moves the mouse until the bar is there; returns its track."""
        found = []

        def is_there():
            self.display.move_mouse(self.window, 30 + 10 * (len(found) % 7), HEIGHT // 2)
            found.append(self.bar_track(self.shot()))
            # Twice the same: a picture may be half drawn when the screenshot is taken.
            return found[-1] is not None and found[-1] == (found[-2:-1] or [None])[0]
        self.wait_for("the bar", is_there)
        return found[-1]

    @needs_containers
    def test_seek_bar_is_dragged_and_shows_what_is_decoded(self):
        self.play(make_video("clip.mov", 200), "--pause", "--threads", "2")  # with 64 threads half of it is decoded ahead
        left, right, row = self.show_bar()
        at = lambda frame: round(left + (right - left) * (frame + 0.5) / 200)
        self.wait_for("decoded frames", lambda: BAR_AHEAD in [
            self.shot().pixel(x, row) for x in range(left, right)])
        self.display.move_mouse(self.window, at(50), row)
        self.display.mouse("down")
        for frame in (50, 80, 120, 150):
            self.display.move_mouse(self.window, at(frame), row)
            self.wait_for(f"a frame near {frame} while the knob is held",
                          lambda: abs(self.index() - frame) <= 2)
        self.display.move_mouse(self.window, WIDTH - 2, 5)  # beside the bar: the end
        self.wait_for("the last frame", lambda: self.index() >= 198)
        self.display.move_mouse(self.window, at(100), row)
        self.display.mouse("up")
        self.wait_for("a frame near 100", lambda: abs(self.index() - 100) <= 2)
        shot = self.shot()
        self.assertEqual(shot.pixel(at(40), row), BAR_PLAYED)
        self.assertEqual(shot.pixel(at(190), row), BAR_TRACK)
        last = self.index()
        self.wait_for("no bar any more", lambda: self.bar_track(self.shot()) is None)
        self.display.mouse("down")  # where the bar was: it is there for the mouse
        self.display.mouse("up")
        self.wait_for("the bar", lambda: self.bar_track(self.shot()) is not None)
        self.assertLessEqual(abs(self.index() - last), 2)
        self.finish()

    def test_letters_follow_the_scale_of_the_system(self):
        """The box of one line of text is twice as high at twice the scale."""
        self.play(self.video(30), "--pause")
        plain = self.still()
        self.finish()

        def height_of_box(**environment):
            self.play("clip.mjpeg", "--pause", environment=environment)
            self.display.key("]")  # "speed 1.10" at the lower left
            shade = []

            def is_there():
                shot = self.shot()
                shade[:] = [y for y in range(HEIGHT) if shot.pixel(8, y) != plain.pixel(8, y)]
                # A window that has just been mapped has no picture yet: all of its rows differ.
                return bool(shade) and shade[0] > HEIGHT // 2
            self.wait_for("a message", is_there)
            self.finish()
            return len(shade)
        once = height_of_box()
        self.assertGreater(once, 12)
        self.assertAlmostEqual(height_of_box(GDK_SCALE="2"), 2 * once, delta=4)
        self.assertAlmostEqual(height_of_box(QT_SCALE_FACTOR="1.5"), 1.5 * once, delta=4)
        self.assertEqual(height_of_box(GDK_SCALE="-3", QT_SCALE_FACTOR="nan"), once)

    @unittest.skipUnless(shutil.which("weston"), "weston is not installed")
    def test_wayland_scale_gives_more_pixels_and_larger_letters(self):
        """Stripes of one pixel each fill the window: at scale 2 each has a pixel of the screen. A
        window that knew nothing of the scale would be enlarged and show them mixed."""
        self.write("stripes.pgm", b"P5 1280 720 255\n" + bytes([20, 190]) * (640 * 720))
        self.encode("stripes.pgm", "-o", "stripes.jpg", "-q", "95")
        contrast, heights = {}, {}
        for scale in (1, 2):
            with Weston(self.display, scale, f"run{scale}") as weston:
                self.window = weston.window
                # The pointer is as white as letters. Weston adds up the ways that it goes.
                for place in ((1, 1), (600 * scale, 350 * scale)):
                    self.display.move_mouse(self.window, *place)
                self.player = subprocess.Popen([PLAYER, "play", "stripes.jpg", "--device", "cpu", "--json", "--osd"],
                                               env=weston.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                self.wait_for("letters", lambda: self.shot().share(is_letter) > 0.001 and
                              self.player.poll() is None)
                self.wait_for("the pointer", lambda: self.shot().crop(
                    596 * scale, 346 * scale, 44 * scale, 14 * scale).share(is_letter) > 0)
                shot = self.still()
                self.stop()
            middle = [shot.pixel(x, shot.height // 2)[1] for x in range(shot.width)]
            contrast[scale] = sum(abs(a - b) for a, b in zip(middle, middle[1:])) / shot.width
            rows = [y for y in range(shot.height)
                    if any(is_letter(*shot.pixel(x, y)) for x in range(shot.width // 2))]
            heights[scale] = rows[-1] - rows[0]
        self.assertGreater(contrast[2], 60, contrast)
        self.assertAlmostEqual(heights[2] / heights[1], 2, delta=0.3, msg=heights)

    def test_clipped_samples_in_false_colours(self):
        half = HEIGHT // 2
        planes = (bytes([255]) * (WIDTH * half) + bytes([0]) * (WIDTH * half) +
                  bytes([128]) * (WIDTH * half))
        y4m = (f"YUV4MPEG2 W{WIDTH} H{HEIGHT} F25:1 Ip A1:1 C420jpeg XCOLORRANGE=FULL\nFRAME\n"
               .encode() + planes)
        self.write("clip.y4m", y4m)
        self.play("clip.y4m", "--pause")
        self.wait_for_colour((255, 255, 255), (40, 20))
        self.display.key("w")
        self.wait_for_colour((255, 40, 40), (40, half - 20))
        self.wait_for_colour((40, 60, 255), (40, half + 20))
        self.wait_for("the histogram", lambda: is_dark(*self.shot().pixel(WIDTH - 30, 40)) or
                      self.shot().crop(WIDTH // 2, 0, WIDTH // 2, 80).share(is_letter) > 0.005)
        self.display.key("w")
        self.wait_for_colour((255, 255, 255), (40, half - 20), (WIDTH - 30, 40))
        self.finish()

    def test_a_small_window_decodes_smaller(self):
        video = make_video("big.mjpeg", 6, times=4)

        def stripes():  # of the pixels above the middle
            band = self.shot().crop(WIDTH // 4, HEIGHT // 2 - 12, WIDTH // 2, 8)
            return band.share(lambda r, g, b: r > 200 or r < 80)
        self.play(video, "--pause")
        self.display.xdotool("windowsize", self.window, WIDTH, HEIGHT)
        self.wait_for("the small size", lambda: self.shot().width == WIDTH)
        self.press(".", 1)
        self.wait_for_colour(RGB, (40, 40), (WIDTH - 40, 60))
        self.assertLess(stripes(), 0.01, "at 1/4 they are one grey")
        self.display.key("z")
        self.wait_for("each pixel as it is stored", lambda: stripes() > 0.9)
        self.display.key("z")
        self.wait_for("the whole picture", lambda: index_of(self.shot()) == 1)
        self.press(".", 2)
        self.assertEqual(self.finish()["scale"], 4)
        self.play(video, "--pause")
        self.display.xdotool("windowsize", self.window, 800, 453)
        self.wait_for("the new size", lambda: self.shot().width == 800)
        self.display.key(".")
        self.wait_for_colour(RGB, (40, 40), (760, 60))
        report = self.finish()
        self.assertEqual((report["scale"], report["width"]), (2, 4 * WIDTH))
        self.play(video, "--pause", "--compare", video)
        self.assertEqual(self.finish()["scale"], 1, "pairs are compared as they are stored")

    @needs_x11
    def test_files_are_dropped_on_the_window(self):
        first, second = self.video(5), make_video("a b%41é.mjpeg", 40)
        gray = make_video("gray.mjpeg", 2, "--subsampling", "gray")
        self.play(first, "--pause")
        self.display.drop(self.window, 50, 50, second)
        self.press("End", 39)  # the first one has only 5
        self.assertIn("a b%41é", self.display.xdotool("getwindowname", self.window))
        self.write("broken.mjpeg", b"no video at all")
        self.display.drop(self.window, 50, 50, "broken.mjpeg")
        self.wait_for("a sentence", lambda: self.shot().crop(0, HEIGHT - 40, WIDTH, 36).share(
            is_letter) > 0.005)
        self.press("Home", 0)  # the second one goes on
        self.press("End", 39)
        self.display.drop(self.window, 50, 50, gray)
        self.wait_for_colour((YCC[0],) * 3, (460, 30))
        self.assertTrue(self.finish()["input"].endswith("gray.mjpeg"))

    @needs_x11
    def test_several_dropped_videos_are_played_one_after_the_other(self):
        first, second = make_video("one.mjpeg", 3), make_video("two.mjpeg", 4)
        self.write("broken.mjpeg", b"no video at all")
        self.play(self.video(5))
        self.display.drop(self.window, 50, 50, first, "broken.mjpeg", second)
        self.wait_for("the last one", lambda: "two.mjpeg" in self.display.xdotool(
            "getwindowname", self.window))
        self.wait_for("its end", lambda: self.index() == 3)
        self.assertTrue(self.finish()["input"].endswith("two.mjpeg"))

    @needs_x11
    def test_several_dropped_pictures_are_a_sequence(self):
        pictures = [make_video(f"{i}.jpg", i + 1, "--frames", f"{i}:{i + 1}") for i in range(4)]
        self.play(self.video(5), "--pause")
        self.display.drop(self.window, 50, 50, *pictures)
        self.press("End", 3)
        self.press("Home", 0)
        self.finish()


RATE_OF_SOUND = 48000


@needs_containers
@unittest.skipUnless(HAS_WINDOW, "this build has no window (SDL)")
@unittest.skipIf(MISSING, "not installed: " + ", ".join(MISSING))
class SoundTest(Player):
    """SDL's driver "disk" writes the samples that a device would get into a file, one buffer each
    21 ms, or slower if it is told."""
    SECONDS = 5

    def setUp(self):
        super().setUp()
        self.heard = "heard.raw"
        self.quiet = make_video("quiet.mov", self.SECONDS * RATE)
        # A tone that tells the second: 400 Hz, 600 Hz, 800 Hz, ...
        tones = "|".join(2 * [f"0.5*sin(2*PI*t*(400+200*floor(t)))"])
        ffmpeg("-i", self.quiet, "-f", "lavfi", "-i", f"aevalsrc={tones}:s={RATE_OF_SOUND}:d={self.SECONDS}", "-map",
               "0:v", "-map", "1:a", "-c:v", "copy", "-c:a", "pcm_s16le", "loud.mov")

    def disk(self, delay):
        return {"SDL_AUDIODRIVER": "disk", "SDL_DISKAUDIOFILE": self.heard, "SDL_DISKAUDIODELAY": str(delay)}

    def listen(self, *arguments):
        self.play("loud.mov", *arguments, environment=self.disk(21))

    def newest(self, seconds=0.2):
        """Samples of the left channel, the last ones that the device got."""
        data = array.array("f")
        with open(self.heard, "rb") as file:
            whole = os.fstat(file.fileno()).st_size // 8
            count = min(whole, int(seconds * RATE_OF_SOUND))
            file.seek(8 * (whole - count))
            data.frombytes(file.read(8 * count))
        return data[0::2]

    def tone(self, samples):
        """Hz, by the changes of the sign; silence is what a busy machine puts between the samples."""
        heard = [b for a, b, c in zip(samples, samples[1:], samples[2:]) if (a, b, c) != (0, 0, 0)]
        changes = sum((a < 0) != (b < 0) for a, b in zip(heard, heard[1:]))
        return changes / 2 / (len(heard) / RATE_OF_SOUND) if heard else 0

    def test_sound_is_in_step_with_the_picture(self):
        self.listen()
        self.wait_for("the second second", lambda: self.index() >= RATE + 5)
        seen = []
        while self.index() < self.SECONDS * RATE - 8 or not seen:
            before = self.index()
            tone = self.tone(self.newest(0.1))
            after = self.index()
            if before // RATE == after // RATE and before % RATE >= 5:
                seen.append((tone, 400 + 200 * (before // RATE)))
            time.sleep(0.05)  # the player needs the processor, too
        right = [tone for tone, expected in seen if abs(tone - expected) < 30]
        # A busy machine stops one of the two now and then. Out of step most would be wrong.
        self.assertGreater(len(right), 0.7 * len(seen), seen)
        report = self.finish()
        self.assertEqual(report["sound"]["driver"], "disk")
        self.assertGreater(report["sound"]["seconds"], 2)

    def test_pictures_follow_the_sound(self):
        """A device that takes a third longer for its samples makes the video take longer, too."""
        for _ in range(5):  # a busy machine leaves gaps in the sound
            report, frames = self.played("loud.mov", environment=self.disk(28))
            self.assertEqual(frames, self.SECONDS * RATE)
            self.assertGreater(report["seconds"], 1.2 * self.SECONDS)
            heard = report["sound"]["seconds"]
            if heard > 0.7 * self.SECONDS:
                break
        self.assertGreater(heard, 0.7 * self.SECONDS)

    def test_seeking_takes_the_sound_along(self):
        self.listen()
        self.wait_for("sound", lambda: os.path.exists(self.heard) and max(self.newest()) > 0.1)
        self.display.key("Home")
        for _ in range(4):
            self.display.key("Right")
        self.wait_for("the tone of the fifth second or a later one",
                      lambda: self.tone(self.newest(0.1)) > 1170)
        self.display.key(" ")
        self.wait_for("silence", lambda: max(map(abs, self.newest(0.1))) == 0)
        self.display.key("Home")
        self.display.key(" ")
        self.wait_for("the tone of the first second", lambda: abs(self.tone(self.newest(0.1)) -
                                                                  400) < 30)
        self.finish()

    def test_mute_and_volume(self):
        self.listen("--volume", "50", "--loop")
        loudest = lambda: max(map(abs, self.newest(0.1))) if os.path.exists(self.heard) else 0
        self.wait_for("half the volume", lambda: abs(loudest() - 0.5 * 0.25) < 0.01)
        for _ in range(4):
            self.display.key("0")
        self.wait_for("a higher volume", lambda: abs(loudest() - 0.5 * 0.49) < 0.01)
        self.display.key("m")
        self.wait_for("no sound", lambda: loudest() == 0)
        self.display.key("m")
        self.wait_for("sound again", lambda: abs(loudest() - 0.5 * 0.49) < 0.01)
        self.display.key("9")
        self.wait_for("a lower volume", lambda: abs(loudest() - 0.5 * 0.4225) < 0.01)
        self.finish()

    def test_no_device_is_no_error(self):
        self.play("loud.mov", "--pause", environment={"SDL_AUDIODRIVER": "nonsense"})
        self.press("Right", RATE)
        self.display.key("q")
        out, errors = self.player.communicate(timeout=300)
        self.assertEqual(self.player.returncode, 0)
        self.assertIn(b"the sound cannot be played", errors)
        self.assertNotIn("sound", json.loads(out))
