# Times the Python package: beside C++ (zerorun bench), Pillow, simplejpeg and PyTurboJPEG on the CPU;
# a mixed batch and a folder of small files on a GPU. Paired: all contestants take turns.
# SPDX-License-Identifier: MIT
"""usage: python tests/python/benchmark.py [--size 3840x2160] [--quality 90] [--rounds 15] PHOTO...
       python tests/python/benchmark.py --batch 256 [--folder 10000] [--threads N] PHOTO...
       python tests/python/benchmark.py --tensors [--size 3840x2160] PHOTO..."""
from __future__ import annotations

import argparse
import ctypes
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


def encoders(pixels, quality):
    one, cores = zerorun.Encoder(quality=quality, device="cpu", threads=1), zerorun.Encoder(
        quality=quality, device="cpu")
    room = bytearray(pixels.size)
    calls = {"zerorun, one thread": lambda: one.encode(pixels),
             "zerorun, all cores": lambda: cores.encode(pixels),
             "zerorun.encode(), all cores": lambda: zerorun.encode(pixels, quality=quality,
                                                                   device="cpu"),
             "zerorun, one thread, encode_into": lambda: one.encode_into(pixels, room)}
    try:
        from PIL import Image
        picture = Image.fromarray(pixels)

        def pillow():
            picture.save(io.BytesIO(), "JPEG", quality=quality, subsampling="4:2:0")
        calls["Pillow"] = pillow
    except ImportError:
        pass
    try:
        import simplejpeg
        calls["simplejpeg"] = lambda: simplejpeg.encode_jpeg(
            pixels, quality=quality, colorsubsampling="420", fastdct=False)
    except ImportError:
        pass
    try:
        import turbojpeg
        turbo = turbojpeg.TurboJPEG()
        calls["PyTurboJPEG"] = lambda: turbo.encode(
            pixels, quality=quality, pixel_format=turbojpeg.TJPF_RGB,
            jpeg_subsample=turbojpeg.TJSAMP_420)
    except (ImportError, RuntimeError):
        pass
    return calls


def decoders(jpeg):
    one, cores = zerorun.Decoder(device="cpu", threads=1), zerorun.Decoder(device="cpu")
    out = zerorun.decode(jpeg)
    calls = {"zerorun, one thread": lambda: one.decode(jpeg),
             "zerorun, all cores": lambda: cores.decode(jpeg),
             "zerorun.decode(), all cores": lambda: zerorun.decode(jpeg, device="cpu"),
             "zerorun, one thread, out=": lambda: one.decode(jpeg, out=out)}
    try:
        from PIL import Image
        calls["Pillow"] = lambda: np.asarray(Image.open(io.BytesIO(jpeg)))
    except ImportError:
        pass
    try:
        import simplejpeg
        calls["simplejpeg"] = lambda: simplejpeg.decode_jpeg(jpeg, fastdct=False)
    except ImportError:
        pass
    try:
        import turbojpeg
        turbo = turbojpeg.TurboJPEG()
        calls["PyTurboJPEG"] = lambda: turbo.decode(jpeg, pixel_format=turbojpeg.TJPF_RGB)
    except (ImportError, RuntimeError):
        pass
    return calls


class CFrame(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("format", ctypes.c_int32),
                ("width", ctypes.c_int32), ("height", ctypes.c_int32),
                ("data", ctypes.c_void_p * 3), ("stride", ctypes.c_ssize_t * 3)]


class CParams(ctypes.Structure):
    """Fields that both kinds of parameters have at these places; the rest is 0."""
    _fields_ = [("struct_size", ctypes.c_size_t), ("fields", ctypes.c_int32 * 64)]


def library_calls(path, pixels, jpeg, quality):
    """The same calls of libzerorun.so by its C interface, on one thread: what the binding adds."""
    library = ctypes.CDLL(path)
    encode_params, decode_params = CParams(ctypes.sizeof(CParams)), CParams(ctypes.sizeof(CParams))
    encode_params.fields[0] = quality
    encode_params.fields[5], encode_params.fields[7] = 1, 1  # CPU, one thread
    decode_params.fields[2], decode_params.fields[4] = 1, 1
    encoder, decoder = ctypes.c_void_p(), ctypes.c_void_p()
    assert library.zerorun_encoder_create(ctypes.byref(encode_params), ctypes.byref(encoder), None) == 0
    assert library.zerorun_decoder_create(ctypes.byref(decode_params), ctypes.byref(decoder), None) == 0

    def frame_of(array):
        height, width, _ = array.shape
        rgb24 = 10
        return CFrame(ctypes.sizeof(CFrame), rgb24, width, height,
                      (ctypes.c_void_p * 3)(array.ctypes.data), (ctypes.c_ssize_t * 3)(array.strides[0]))
    source, out, target = frame_of(pixels), np.empty_like(pixels), ctypes.c_void_p()
    into, size = frame_of(out), ctypes.c_size_t()

    def encode():
        assert library.zerorun_encoder_encode(encoder, ctypes.byref(source), ctypes.byref(target),
                                              ctypes.byref(size)) == 0

    def decode(kept=out):  # `into` has its address alone
        assert kept is not None
        assert library.zerorun_decoder_decode_to(decoder, jpeg, ctypes.c_size_t(len(jpeg)),
                                                 ctypes.byref(into), None) == 0
    return encode, decode


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
    if options.library:
        encode["libzerorun.so, one thread"], decode["libzerorun.so, one thread"] = library_calls(
            options.library, pixels, jpeg, options.quality)
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


def batches(options, photos):
    """All contestants take turns: samples and colours, and numbers of threads."""
    streams = pieces(photos, options.batch, 0.1, 12)

    def contestant(form, workers):
        def call():
            results = zerorun.decode_batch(streams, form, device=options.device, workers=workers)
            assert not any(isinstance(result, Exception) for result in results)
            if options.device != "cpu":
                # Waits for all; the smallest, so that hardly anything is copied.
                small = results[0][0] if isinstance(results[0], tuple) else results[0]
                small.numpy()
        return call
    calls = {f"decode_batch to {form}, {workers or 'automatic'} workers": contestant(form, workers)
             for form in ("yuv420p", "rgb24") for workers in map(int, options.threads.split(","))}
    print(f"{len(streams)} photos of 0.1 to 12 megapixels, {sum(map(len, streams)) >> 20} MiB of JPEG "
          f"in pageable memory, to {options.device}")
    for title, (seconds, _, _) in paired(calls, options.rounds).items():
        print(f"  {title:44} {seconds / len(streams) * 1e6:8.1f} us an image")


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


def tensors(options, photos):
    """Single pictures in the memory of a GPU, by PyTorch; the host waits at the end alone."""
    import torch
    width, height = map(int, options.size.split("x"))
    tensor = torch.from_numpy(resized(photos[0], (width, height))).cuda()
    encoder, decoder = zerorun.Encoder(device="cuda"), zerorun.Decoder(device="cuda")
    jpeg = libjpeg_stream(tensor, 90)
    out = torch.empty_like(tensor)
    room = torch.empty(zerorun.max_encoded_bytes("rgb24", (width, height)), dtype=torch.uint8,
                       device="cuda")
    size = torch.empty(8, dtype=torch.uint8, device="cuda")
    calls = {"encode() to bytes": lambda: encoder.encode(tensor),
             "encode_into() device memory": lambda: encoder.encode_into(tensor, room, size),
             "decode(out=tensor)": lambda: decoder.decode(jpeg, out=out),
             "decode() to a new array": lambda: decoder.decode(jpeg)}
    for name, call in calls.items():
        for _ in range(20):
            call()
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(300):
            call()
        torch.cuda.synchronize()
        print(f"{width}x{height} RGB, {len(jpeg)} bytes: {name:28} "
              f"{(time.perf_counter() - begin) / 300 * 1e6:8.1f} us")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("photos", nargs="+")
    parser.add_argument("--size", default="3840x2160")
    parser.add_argument("--quality", type=int, default=90)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--batch", type=int, default=0)
    parser.add_argument("--folder", type=int, default=0)
    parser.add_argument("--threads", default="0", help="of --batch; a list: 0,8,16")
    parser.add_argument("--cpu-time", action="store_true",
                        help="seconds of all threads: for machines where others work, too")
    parser.add_argument("--library", help="libzerorun.so, whose C interface is timed, too")
    parser.add_argument("--tensors", action="store_true")
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    if options.batch:
        batches(options, options.photos)
    if options.folder:
        folder(options, options.photos)
    if options.tensors:
        tensors(options, options.photos)
    if not (options.batch or options.folder or options.tensors):
        single(options, options.photos)


if __name__ == "__main__":
    main()
