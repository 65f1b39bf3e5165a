# The time that each frame takes to encode, as a live plot (matplotlib) or as lines of text.
# SPDX-License-Identifier: MIT
"""usage: python live_plot.py [--frames 500] [--size 1920x1080] [--device cuda] [--text]"""
import argparse
import collections
import time

import numpy as np
import zerorun


def frames(width, height, count):
    """A noisy picture that moves."""
    noise = np.random.default_rng(1).integers(0, 40, (height, 2 * width, 3), np.uint8)
    noise += (np.arange(2 * width, dtype=np.uint32) * 200 // (2 * width)).astype(np.uint8)[:, None]
    for number in range(count):
        at = number * 4 % width
        yield np.ascontiguousarray(noise[:, at:at + width])


def timed(options):
    """(milliseconds, bytes) of each frame."""
    width, height = map(int, options.size.split("x"))
    encoder = zerorun.Encoder(quality=options.quality, device=options.device)
    for frame in frames(width, height, options.frames):
        begin = time.perf_counter()
        jpeg = encoder.encode(frame)
        yield (time.perf_counter() - begin) * 1e3, len(jpeg)


def text(options):
    for number, (ms, size) in enumerate(timed(options)):
        print(f"{number:6} {ms:8.2f} ms {size:9} bytes {'#' * min(int(ms * 2), 80)}")


def plot(options):
    import matplotlib.pyplot as plt
    history = collections.deque(maxlen=300)
    figure, axes = plt.subplots()
    line, = axes.plot([], [])
    axes.axhline(1000 / 60, linestyle=":", color="gray", label="16.7 ms: 60 frames/s")
    axes.set(xlabel="frame", ylabel="ms to encode", title=f"{options.size}, q{options.quality}")
    axes.legend()
    for number, (ms, _) in enumerate(timed(options)):
        history.append(ms)
        if number % 10:
            continue
        line.set_data(range(number + 1 - len(history), number + 1), history)
        axes.set_xlim(max(0, number - 300), max(300, number))
        axes.set_ylim(0, max(max(history), 20))
        plt.pause(0.001)
        if not plt.fignum_exists(figure.number):
            return


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("--frames", type=int, default=500)
    parser.add_argument("--size", default="1920x1080")
    parser.add_argument("--quality", type=int, default=90)
    parser.add_argument("--device", help="cpu, cuda, cuda:1; a GPU if there is one")
    parser.add_argument("--text", action="store_true", help="lines instead of a plot")
    options = parser.parse_args()
    (text if options.text else plot)(options)


if __name__ == "__main__":
    main()
