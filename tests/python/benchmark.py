# Times the Python package beside Pillow, simplejpeg and PyTurboJPEG on the CPU, where all take turns, and a
# folder of small files. gpu_benchmark.py times pictures on a GPU.
# SPDX-License-Identifier: MIT
"""usage: python tests/python/benchmark.py [--size 3840x2160] [--quality 90] [--rounds 15] PHOTO...
       python tests/python/benchmark.py --folder 10000 [--device cuda] PHOTO..."""
from __future__ import annotations

import argparse
import io
import os
import pathlib
import statistics
import sys
import tempfile
import time

import numpy as np
import zerorun


def paired(contestants, rounds, clock=time.perf_counter):
    """Median and least seconds of each, and the median of its ratios to the first."""
    times = {name: [] for name in contestants}
    for name, call in contestants.items():
        call()
    for turn in range(rounds):
        names = list(contestants)
        for name in names[turn % len(names):] + names[:turn % len(names)]:
            begin = clock()
            contestants[name]()
            times[name].append(clock() - begin)
    first = next(iter(times))
    return {name: (statistics.median(own), min(own),
                   statistics.median(b / a for a, b in zip(times[first], own)))
            for name, own in times.items()}


def show(title, results):
    print(f"\n{title}")
    for name, (seconds, least, ratio) in results.items():
        print(f"  {name:34} {seconds * 1e3:9.2f} ms  {least * 1e3:9.2f} ms   {ratio:5.2f}")


def resized(path, size):
    """The photo, tiled or cut to the size."""
    pixels = zerorun.decode(pathlib.Path(path).read_bytes())
    width, height = size
    times = (-(-height // pixels.shape[0]), -(-width // pixels.shape[1]), 1)
    return np.ascontiguousarray(np.tile(pixels, times)[:height, :width])


def add(calls, name, make):
    """Leaves out what is not installed."""
    try:
        calls[name] = make()
    except (ImportError, RuntimeError):
        pass


def encoders(pixels, quality):
    one, cores = zerorun.Encoder(quality=quality, device="cpu", threads=1), zerorun.Encoder(
        quality=quality, device="cpu")
    room = bytearray(pixels.size)
    calls = {"zerorun, one thread": lambda: one.encode(pixels),
             "zerorun, all cores": lambda: cores.encode(pixels),
             "zerorun.encode(), all cores": lambda: zerorun.encode(pixels, quality=quality,
                                                                   device="cpu"),
             "zerorun, one thread, encode_into": lambda: one.encode_into(pixels, room)}

    def pillow():
        from PIL import Image
        picture = Image.fromarray(pixels)
        return lambda: picture.save(io.BytesIO(), "JPEG", quality=quality, subsampling="4:2:0")

    def simple():
        import simplejpeg
        return lambda: simplejpeg.encode_jpeg(pixels, quality=quality, colorsubsampling="420", fastdct=False)

    def turbo():
        import turbojpeg
        coder = turbojpeg.TurboJPEG()
        return lambda: coder.encode(pixels, quality=quality, pixel_format=turbojpeg.TJPF_RGB,
                                    jpeg_subsample=turbojpeg.TJSAMP_420)
    for name, make in (("Pillow", pillow), ("simplejpeg", simple), ("PyTurboJPEG", turbo)):
        add(calls, name, make)
    return calls


def decoders(jpeg):
    one, cores = zerorun.Decoder(device="cpu", threads=1), zerorun.Decoder(device="cpu")
    out = zerorun.decode(jpeg)
    calls = {"zerorun, one thread": lambda: one.decode(jpeg),
             "zerorun, all cores": lambda: cores.decode(jpeg),
             "zerorun.decode(), all cores": lambda: zerorun.decode(jpeg, device="cpu"),
             "zerorun, one thread, out=": lambda: one.decode(jpeg, out=out)}

    def pillow():
        from PIL import Image
        return lambda: np.asarray(Image.open(io.BytesIO(jpeg)))

    def simple():
        import simplejpeg
        return lambda: simplejpeg.decode_jpeg(jpeg, fastdct=False)

    def turbo():
        import turbojpeg
        coder = turbojpeg.TurboJPEG()
        return lambda: coder.decode(jpeg, pixel_format=turbojpeg.TJPF_RGB)
    for name, make in (("Pillow", pillow), ("simplejpeg", simple), ("PyTurboJPEG", turbo)):
        add(calls, name, make)
    return calls


def libjpeg_stream(pixels, quality):
    """A stream without restart markers, as cameras write it."""
    return zerorun.encode(pixels, quality=quality, restart=None)


def single(options, photos):
    width, height = map(int, options.size.split("x"))
    pixels = resized(photos[0], (width, height))
    jpeg = libjpeg_stream(pixels, options.quality)
    print(f"{photos[0]} as {width}x{height}, quality {options.quality}, 4:2:0, RGB in host memory; "
          f"{os.cpu_count()} cores; {options.rounds} rounds; median, least, and the "
          f"median ratio to the first row")
    encode, decode = encoders(pixels, options.quality), decoders(jpeg)
    clock = time.process_time if options.cpu_time else time.perf_counter
    show("encode", paired(encode, options.rounds, clock))
    show("decode (a stream without restart markers)", paired(decode, options.rounds, clock))


def pieces(photos, count, least, most, seed=1):
    """Streams whose areas are spread evenly over the logarithm, as `zerorun bench --mixed`."""
    side = int((most * 1e6 * 4 / 3) ** 0.5) + 64  # the width of the largest piece, and some play
    canvases = [resized(path, (side, side)) for path in photos]
    streams = []
    generator = np.random.default_rng(seed)
    for i in range(count):
        area = np.exp(np.log(least) + (np.log(most) - np.log(least)) * i / max(count - 1, 1)) * 1e6
        width, height = int((area * 4 / 3) ** 0.5), int((area * 3 / 4) ** 0.5)
        y = int(generator.integers(0, side - height + 1))
        x = int(generator.integers(0, side - width + 1))
        piece = canvases[i % len(canvases)][y:y + height, x:x + width]
        streams.append(libjpeg_stream(np.ascontiguousarray(piece), 90))
    return streams


def folder(options, photos):
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as at:
        streams = pieces(photos, 200, 0.1, 0.5)
        for i in range(options.folder):
            pathlib.Path(at, f"{i:05}.jpg").write_bytes(streams[i % len(streams)])
        sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "samples" / "python"))
        import loader
        for size in (64, 256, 1024):
            rates = []
            for _ in range(5):
                begin = time.perf_counter()
                count = sum(map(len, loader.batches(at, size, device=options.device)))
                rates.append(count / (time.perf_counter() - begin))
            print(f"folder of {options.folder} files of 0.1 to 0.5 megapixels to tensors, batches of "
                  f"{size}: {statistics.median(rates[1:]):.0f} images/s (device {options.device})")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("photos", nargs="+")
    parser.add_argument("--size", default="3840x2160")
    parser.add_argument("--quality", type=int, default=90)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--folder", type=int, default=0)
    parser.add_argument("--cpu-time", action="store_true",
                        help="seconds of all threads: for machines where others work, too")
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    (folder if options.folder else single)(options, options.photos)


if __name__ == "__main__":
    main()
