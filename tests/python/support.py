# What the tests of the Python package share: pictures, and runs of the program.
# SPDX-License-Identifier: MIT
import os
import pathlib
import subprocess
import threading

import numpy as np
import pytest

PROGRAM = os.environ.get("ZERORUN_PROGRAM", "")
needs_program = pytest.mark.skipif(not PROGRAM, reason="ZERORUN_PROGRAM is not set")
ROOT = pathlib.Path(__file__).resolve().parents[2]
PHOTOS = sorted((ROOT / "samples" / "media").glob("*.jpg"))

CHROMA = {  # luma samples for one of chroma, along a row and a column
    "yuv420p": (2, 2), "yuv422p": (2, 1), "yuv444p": (1, 1), "yuv440p": (1, 2), "yuv411p": (4, 1)}


def noise(shape, seed=1):
    """Gradients with noise: neither flat nor incompressible."""
    generator = np.random.default_rng(seed)
    rows = np.arange(shape[0]).reshape((-1,) + (1,) * (len(shape) - 1))
    columns = np.arange(shape[1]).reshape((1, -1) + (1,) * (len(shape) - 2))
    return ((2 * rows + 3 * columns + generator.integers(0, 24, shape)) % 256).astype(np.uint8)


def picture(form, width, height, seed=1):
    """A picture of the format as encode() takes it."""
    if form == "gray8":
        return noise((height, width), seed)
    if form in ("rgb24", "bgr24"):
        return noise((height, width, 3), seed)
    if form in ("rgb0", "bgr0", "0rgb", "0bgr"):
        return noise((height, width, 4), seed)
    if form in ("yuyv422", "uyvy422"):
        return noise((height, (width + 1) // 2 * 2, 2), seed)
    if form in ("nv12", "nv21"):
        return (noise((height, width), seed),
                noise(((height + 1) // 2, (width + 1) // 2, 2), seed + 1))
    h, v = CHROMA[form]
    chroma = (-(-height // v), -(-width // h))
    return noise((height, width), seed), noise(chroma, seed + 1), noise(chroma, seed + 2)


def planes(image):
    return image if isinstance(image, tuple) else (image,)


def same(a, b):
    """True if two pictures have the same samples."""
    return len(planes(a)) == len(planes(b)) and all(
        x.shape == y.shape and (x == y).all() for x, y in zip(planes(a), planes(b)))


def run_threads(count, work):
    """Calls work(number) in so many threads; this one raises what one of them raised."""
    failures = []

    def guarded(number):
        try:
            work(number)
        except BaseException as error:  # noqa: B902 - the main thread raises it
            failures.append(error)
    threads = [threading.Thread(target=guarded, args=(i,), daemon=True) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    assert not failures, failures
    assert not any(thread.is_alive() for thread in threads)


def run_program(*arguments):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done


def write_input(path, form, image):
    """A file that the program reads as this format."""
    if form in ("rgb24", "gray8"):
        kind = b"P6" if form == "rgb24" else b"P5"
        size = b"%d %d" % (image.shape[1], image.shape[0])
        path.write_bytes(kind + b"\n" + size + b"\n255\n" + image.tobytes())
        return
    tag = {"yuv420p": "420jpeg", "yuv422p": "422", "yuv444p": "444", "yuv440p": "440",
           "yuv411p": "411"}[form]
    height, width = image[0].shape
    head = f"YUV4MPEG2 W{width} H{height} F25:1 Ip A1:1 C{tag} XCOLORRANGE=FULL\nFRAME\n"
    path.write_bytes(head.encode() + b"".join(plane.tobytes() for plane in image))


def read_pnm(path):
    data = path.read_bytes()
    kind, width, height = data.split(maxsplit=4)[:3]
    channels = 3 if kind == b"P6" else 1
    count = int(width) * int(height) * channels
    pixels = np.frombuffer(data[-count:], np.uint8)
    return pixels.reshape((int(height), int(width), 3) if channels == 3
                          else (int(height), int(width)))
