# zerorun beside torchvision and nvImageCodec in one process: lists of pictures on a GPU to streams and
# back, and single calls. What each returns is checked before it is timed.
# SPDX-License-Identifier: MIT
"""usage: python tests/python/gpu_benchmark.py [--rounds 9] [--small] PHOTO.jpg...

Needs PyTorch with CUDA. Prints medians in microseconds a picture, all contestants taking turns, then
every way into the package with the time of its kernels beside it, and exits with 1 if one of them
returned something wrong. Photos of 4K are used as they are; smaller ones are repeated side by side.
--small: a tenth of the pictures, to see that it runs."""
from __future__ import annotations

import argparse
import datetime
import os
import pathlib
import random
import statistics
import sys
import tempfile
import time

import numpy as np
import torch
import zerorun

try:
    import torchvision
    from torchvision.io import ImageReadMode, decode_jpeg, encode_jpeg
except ImportError:
    torchvision = None
try:
    from nvidia import nvimgcodec
except ImportError:
    nvimgcodec = None

QUALITY = 90
NAMES = ["zerorun"] + ["torchvision"] * bool(torchvision) + ["nvImageCodec"] * bool(nvimgcodec)
SHAPES = {"500x375": (375, 500), "1920x1080": (1080, 1920), "3840x2160": (2160, 3840)}
# What a peer may differ by in luma, on average: other rounding of colours and of the inverse DCT.
# Chroma is not compared, because a peer may repeat samples where zerorun interpolates as libjpeg does.
MOST_DIFFERENCE = 1.0
# A peer's stream may be so much farther from its picture than zerorun's.
MOST_DECIBELS = 1.0
# Calls before those that count. Decoders of pictures of many sizes take memory in the first ones.
WARM = 5
wrong = []


def nv_parameters():
    """Quality 90 and 4:2:0, in the words of this version."""
    sampling = {"chroma_subsampling": nvimgcodec.ChromaSubsampling.CSS_420}
    try:
        return nvimgcodec.EncodeParams(quality_type=nvimgcodec.QualityType.QUALITY,
                                       quality_value=QUALITY, **sampling)
    except (AttributeError, TypeError):
        return nvimgcodec.EncodeParams(quality=QUALITY, **sampling)


def encoders(tensors):
    """For each contestant a call that encodes all tensors (height, width, 3)."""
    one = len(tensors) == 1
    calls = {"zerorun": (lambda: [zerorun.encode(tensors[0], quality=QUALITY)]) if one else
             (lambda: zerorun.encode_batch(tensors, quality=QUALITY))}
    if torchvision:
        planar = [tensor.permute(2, 0, 1).contiguous() for tensor in tensors]
        calls["torchvision"] = (lambda: [encode_jpeg(planar[0], quality=QUALITY)]) if one else (
            lambda: encode_jpeg(planar, quality=QUALITY))
    if nvimgcodec:
        encoder, parameters = nvimgcodec.Encoder(device_id=0), nv_parameters()
        images = [nvimgcodec.as_image(tensor) for tensor in tensors]
        calls["nvImageCodec"] = (lambda: [encoder.encode(images[0], "jpeg", params=parameters)]) if one else (
            lambda: encoder.encode(images, "jpeg", params=parameters))
    return calls


def decoders(streams):
    """For each contestant a call that decodes all streams to RGB on the GPU."""
    one = len(streams) == 1
    calls = {"zerorun": (lambda: [zerorun.decode(streams[0], device="cuda")]) if one else
             (lambda: zerorun.decode_batch(streams, device="cuda"))}
    if torchvision:
        data = [torch.frombuffer(bytearray(stream), dtype=torch.uint8) for stream in streams]
        calls["torchvision"] = lambda: decode_jpeg(data, device="cuda", mode=ImageReadMode.RGB)
        if one:
            calls["torchvision"] = lambda: [decode_jpeg(data[0], device="cuda", mode=ImageReadMode.RGB)]
    if nvimgcodec:
        decoder = nvimgcodec.Decoder(device_id=0)
        calls["nvImageCodec"] = (lambda: [decoder.decode(streams[0])]) if one else (
            lambda: decoder.decode(streams))
    return calls


def stream_of(result):
    """The bytes of what an encoder returned."""
    if isinstance(result, torch.Tensor):
        return result.cpu().numpy().tobytes()
    return result if isinstance(result, bytes) else bytes(memoryview(result))


def pixels_of(name, result):
    """What a decoder returned as an array (height, width, 3) in host memory."""
    if name == "zerorun":
        return result.numpy()
    if name == "torchvision":
        return result.permute(1, 2, 0).cpu().numpy()
    return torch.as_tensor(result, device="cuda").cpu().numpy()


def luma(pixels):
    return pixels.astype(np.float64) @ [0.299, 0.587, 0.114]


def decibels(stream, picture):
    error = np.mean((luma(zerorun.decode(stream, device="cpu")) - luma(picture)) ** 2)
    return 10 * np.log10(255 ** 2 / max(error, 1e-9))


def check_streams(results, tensors):
    """Streams of the first, a middle and the last picture decode to the picture."""
    for at in sorted({0, len(tensors) // 2, len(tensors) - 1}):
        picture = tensors[at].cpu().numpy()
        own = decibels(zerorun.encode(picture, quality=QUALITY, device="cpu"), picture)
        for name, found in results.items():
            if len(found) != len(tensors) or isinstance(found[at], Exception):
                return f"{name}: {found[at] if len(found) > at else 'too few streams'}"
            reached = decibels(stream_of(found[at]), picture)
            if reached < own - MOST_DECIBELS:
                return f"{name}: {reached:.1f} dB from the picture, and zerorun's CPU {own:.1f}"
    if results["zerorun"][0] != zerorun.encode(tensors[0].cpu().numpy(), quality=QUALITY, device="cpu"):
        return "zerorun: not the bytes of its CPU"
    return ""


def check_pixels(results, streams):
    for at in sorted({0, len(streams) // 2, len(streams) - 1}):
        wanted = zerorun.decode(streams[at], device="cpu")
        for name, found in results.items():
            if len(found) != len(streams) or isinstance(found[at], Exception):
                return f"{name}: {found[at] if len(found) > at else 'too few pictures'}"
            pixels = pixels_of(name, found[at])
            if pixels.shape != wanted.shape:
                return f"{name}: a picture of the shape {pixels.shape}, not {wanted.shape}"
            if name == "zerorun" and not np.array_equal(pixels, wanted):
                return "zerorun: not the samples of its CPU"
            difference = np.abs(luma(pixels) - luma(wanted)).mean()
            if difference > MOST_DIFFERENCE:
                return f"{name}: luma differs by {difference:.2f} on average"
    return ""


def timed(call):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    result = call()
    torch.cuda.synchronize()
    seconds = time.perf_counter() - begin
    del result
    return seconds


def row(title, calls, count, check, rounds):
    """Prints a row. A contestant that fails has no time; the others go on."""
    results, failures = {}, []
    for name in list(calls):
        try:
            results[name] = calls[name]()
        except Exception as error:  # noqa: B902 - a peer may raise anything
            failures.append(f"{name}: {str(error).splitlines()[0] if str(error) else type(error).__name__}")
            del calls[name]
    torch.cuda.synchronize()
    found = check(results)
    failures += [found] * bool(found)
    results.clear()
    times = {name: [] for name in calls}
    for turn in range(rounds + WARM):
        names = list(calls)
        for name in names[turn % len(names):] + names[:turn % len(names)]:
            seconds = timed(calls[name])
            if turn >= WARM:
                times[name].append(seconds)
    cells = [f"{statistics.median(times[name]) / count * 1e6:.1f}" if name in times else "-" for name in NAMES]
    print(f"| {title} | " + " | ".join(cells) + " |" + "".join(f" WRONG: {f}" for f in failures), flush=True)
    wrong.extend(f"{title}: {failure}" for failure in failures)


def kernel_seconds(call):
    """The time in which kernels ran in one call, by the profiler of CUDA; copies do not count."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        call()
        torch.cuda.synchronize()
    spans = sorted((event.time_range.start, event.time_range.end) for event in profile.events()
                   if event.device_type == torch.autograd.DeviceType.CUDA
                   and not event.name.startswith(("Memcpy", "Memset")))
    busy = end = 0
    for start, stop in spans:  # kernels of several streams run at the same time
        busy += max(0, stop - max(start, end))
        end = max(end, stop)
    return busy / 1e6


def ways(tensor, folder, count):
    """Every public way: its pictures, and a call that returns streams or pictures."""
    picture = tensor.cpu().numpy()
    on_gpu = {"quality": QUALITY, "device": "cuda"}
    jpeg = zerorun.encode(picture, quality=QUALITY, device="cpu")
    encoder, decoder = zerorun.Encoder(**on_gpu), zerorun.Decoder(device="cuda")
    encoders, decoders = zerorun.AsyncEncoder(**on_gpu), zerorun.AsyncDecoder(device="cuda")
    out, size = torch.empty_like(tensor), torch.empty(8, dtype=torch.uint8, device="cuda")
    room = torch.empty(zerorun.max_encoded_bytes("rgb24", picture.shape[1::-1]), dtype=torch.uint8, device="cuda")
    memory = bytearray(picture.size)
    data = torch.frombuffer(bytearray(jpeg), dtype=torch.uint8)
    file, video = pathlib.Path(folder, "one.jpg"), pathlib.Path(folder, "many.mjpeg")
    file.write_bytes(jpeg)

    def encode_into():
        encoder.encode_into(tensor, room, size)
        return [room[:int(size.view(torch.int64).item())].cpu().numpy().tobytes()]

    def write_video():
        with zerorun.VideoWriter(video, overwrite=True, **on_gpu) as writer:
            for _ in range(count):
                writer.write(picture)
        return []
    write_video()
    return jpeg, {
        "encode(tensor)": (1, lambda: [zerorun.encode(tensor, quality=QUALITY)]),
        "encode(array)": (1, lambda: [zerorun.encode(picture, **on_gpu)]),
        "Encoder.encode(tensor)": (1, lambda: [encoder.encode(tensor)]),
        "Encoder.encode_into(tensor), and its bytes": (1, encode_into),
        "Encoder.encode_into(array)": (1, lambda: [bytes(memory[:encoder.encode_into(picture, memory)])]),
        "encode_batch(tensors)": (count, lambda: zerorun.encode_batch([tensor] * count, quality=QUALITY)),
        "encode_batch(arrays)": (count, lambda: zerorun.encode_batch([picture] * count, **on_gpu)),
        "AsyncEncoder.map(arrays)": (count, lambda: list(encoders.map([picture] * count))),
        "VideoWriter.write(array)": (count, write_video),
        "decode(bytes) to the GPU": (1, lambda: [zerorun.decode(jpeg, device="cuda")]),
        "decode(bytes, out=tensor)": (1, lambda: [zerorun.decode(jpeg, out=out)]),
        "decode(bytes, to='host')": (1, lambda: [zerorun.decode(jpeg, device="cuda", to="host")]),
        "Decoder.decode(bytes)": (1, lambda: [decoder.decode(jpeg, to="device")]),
        "decode_batch(bytes) to the GPU": (count, lambda: zerorun.decode_batch([jpeg] * count, device="cuda")),
        "decode(tensor of bytes) to the GPU": (1, lambda: [zerorun.decode(data, device="cuda")]),
        "decode_batch(tensors of bytes) to the GPU": (
            count, lambda: zerorun.decode_batch([data] * count, device="cuda")),
        "decode_batch(files) to the GPU": (count, lambda: zerorun.decode_batch([file] * count, device="cuda")),
        "decode_batch(bytes, to='host')": (count, lambda: zerorun.decode_batch([jpeg] * count, device="cuda", to="host")),
        "AsyncDecoder.map(bytes)": (count, lambda: list(decoders.map([jpeg] * count))),
        "VideoReader": (count, lambda: list(zerorun.VideoReader(video, device="cuda"))),
        "inspect(bytes)": (1, lambda: zerorun.inspect(jpeg) and []),
    }


def on_host(picture):
    return picture.cpu().numpy() if isinstance(picture, torch.Tensor) else np.asarray(
        picture.numpy() if hasattr(picture, "numpy") else picture)


def print_ways(title, tensor, count, rounds):
    print(f"\n| {title}: us a picture, median of {rounds} | call | kernels |\n| --- | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        jpeg, calls = ways(tensor, folder, count)
        pixels = zerorun.decode(jpeg, device="cpu")
        for name, (pictures, call) in calls.items():
            results = call()
            if any(r != jpeg if isinstance(r, bytes) else not np.array_equal(on_host(r), pixels) for r in results):
                wrong.append(f"{name}: not the bytes or samples of the CPU")
            del results
            seconds = statistics.median([timed(call) for _ in range(rounds + WARM)][WARM:])
            print(f"| `{name}` | {seconds / pictures * 1e6:.1f} | {kernel_seconds(call) / pictures * 1e6:.1f} |",
                  flush=True)


def canvases(photos):
    """The photos in at least 3840x2160, repeated side by side where they are smaller."""
    result = []
    for photo in photos:
        pixels = zerorun.decode(pathlib.Path(photo).read_bytes(), device="cpu")
        times = (-(-2160 // pixels.shape[0]), -(-3840 // pixels.shape[1]), 1)
        result.append(np.tile(pixels, times) if times != (1, 1, 1) else pixels)
    return result


def piece(canvas, height, width, generator):
    height, width = min(height, canvas.shape[0]), min(width, canvas.shape[1])
    y, x = generator.randint(0, canvas.shape[0] - height), generator.randint(0, canvas.shape[1] - width)
    return np.ascontiguousarray(canvas[y:y + height, x:x + width])


def streams_of_area(pictures, count, area, generator):
    """Streams as libjpeg writes them, without restart markers."""
    found = []
    for i in range(count):
        pixels = area()
        width = int((pixels * generator.uniform(0.8, 1.6)) ** 0.5)
        found.append(zerorun.encode(piece(pictures[i % len(pictures)], int(pixels / width), width, generator),
                                    quality=QUALITY, restart=None, device="cpu"))
    return found


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("photos", nargs="+")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--small", action="store_true")
    options = parser.parse_args()
    generator = random.Random(5)
    pictures = canvases(options.photos)
    part = 10 if options.small else 1
    versions = {"torchvision": torchvision and torchvision.__version__,
                "nvImageCodec": nvimgcodec and nvimgcodec.__version__}
    print(f"{torch.cuda.get_device_name()}, {len(os.sched_getaffinity(0))} cores, "
          f"{datetime.date.today()}, zerorun {zerorun.__version__}, torch {torch.__version__}, "
          + ", ".join(f"{name} {version or 'not installed'}" for name, version in versions.items()))
    print(f"\n| us a picture, median of {options.rounds} | " + " | ".join(NAMES) + " |")
    print("| --- |" + " ---: |" * len(NAMES))

    def tensors_of(name, count):
        return [torch.from_numpy(piece(pictures[i % len(pictures)], *SHAPES[name], generator)).cuda()
                for i in range(count)]

    def encode_row(title, tensors, rounds):
        row(title, encoders(tensors), len(tensors), lambda found: check_streams(found, tensors), rounds)

    def decode_row(title, streams, rounds):
        row(title, decoders(streams), len(streams), lambda found: check_pixels(found, streams), rounds)
    for name, count in (("500x375", 64), ("1920x1080", 64), ("3840x2160", 64), ("1920x1080", 8)):
        count = max(2, count // part)
        encode_row(f"`encode_batch`, {count} RGB tensors of {name}", tensors_of(name, count), options.rounds)
    for name in SHAPES:
        encode_row(f"`encode(tensor)`, {name}", tensors_of(name, 1), 5 * options.rounds)
    for title, count, area in (("0.19 MP", 1024, lambda: 190_000),
                               ("0.1 to 8 MP", 256, lambda: 10 ** generator.uniform(5, 6.9)),
                               ("8.3 MP", 64, lambda: 3840 * 2160)):
        count = max(2, count // part)
        decode_row(f"`decode_batch`, {count} of {title}", streams_of_area(pictures, count, area, generator),
                   options.rounds)
    for name in SHAPES:
        stream = zerorun.encode(piece(pictures[0], *SHAPES[name], generator), quality=QUALITY, restart=None,
                                device="cpu")
        decode_row(f"`decode(bytes, device=\"cuda\")`, {name}", [stream], 5 * options.rounds)
    for name in SHAPES:
        print_ways(name, tensors_of(name, 1)[0], max(2, 32 // part), options.rounds)
    for failure in wrong:
        print(failure, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
