# What a program may do to the package that has no good answer: the interpreter lives on.
# SPDX-License-Identifier: MIT
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
import zerorun

from support import picture, run_threads, same
from walk_test import Closer

RGB = picture("rgb24", 200, 120)
JPEG = zerorun.encode(RGB, device="cpu")


@pytest.mark.parametrize("call", [
    "zerorun.encode(image, device='cpu')", "zerorun.decode(jpeg, device='cpu')", "encoder.encode(image)",
    "decoder.decode(jpeg)", "zerorun.encode_batch([image] * 8, device='cpu')", "zerorun.decode_batch([jpeg] * 8, device='cpu')",
    "list(zerorun.AsyncEncoder(device='cpu').map([image] * 8))", "zerorun.AsyncEncoder(device='cpu').receive()",
    "flight.submit(image, wait=True)", "zerorun.inspect(jpeg)"])
def test_the_program_ends_while_daemon_threads_call(call):
    """CPython ends such threads by unwinding their stacks, which C++ does not survive."""
    program = textwrap.dedent(f"""
        import threading, time
        import numpy as np, zerorun
        image = np.zeros((200, 300, 3), np.uint8)
        jpeg = zerorun.encode(image, device="cpu")
        encoder, decoder = zerorun.Encoder(device="cpu"), zerorun.Decoder(device="cpu")
        flight = zerorun.AsyncEncoder(device="cpu", depth=2)
        begun = threading.Barrier(5)
        def work():
            begun.wait()
            while True:
                {call}
        for _ in range(4):
            threading.Thread(target=work, daemon=True).start()
        begun.wait()
        time.sleep(0.05)
    """)
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("call", ["zerorun.encode_batch([image] * 8, device='cpu', workers=2)",
                                  "zerorun.decode_batch([jpeg] * 8, device='cpu', workers=2)"])
def test_a_batch_may_outlive_the_interpreter(call):
    """The batch is held up in sleep(SIGHUP), one second, while the interpreter goes; then exit calls sleep(2)."""
    program = textwrap.dedent(f"""
        import ctypes, os, signal, sys, threading
        import numpy as np, zerorun
        image = np.zeros((4000, 4000, 3), np.uint8)
        jpeg = zerorun.encode(image, device="cpu")
        c = ctypes.CDLL(None)
        sleep = ctypes.cast(c.sleep, ctypes.c_void_p)
        c.signal(signal.SIGHUP, sleep)
        assert c.on_exit(sleep, None) == 0
        before = os.listdir("/proc/self/task")
        threading.Thread(target=lambda: {call}, daemon=True).start()
        while len(batch := set(os.listdir("/proc/self/task")).difference(before)) < 2:
            pass
        for thread in batch:
            assert c.tgkill(os.getpid(), int(thread), signal.SIGHUP) == 0
        sys.exit(2)
    """)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (2, "")


@pytest.mark.parametrize("make, call", [
    (zerorun.Encoder, lambda c, x: setattr(c, "quality", x)),
    (zerorun.Encoder, lambda c, x: c.encode(x, format="gray8", size=(1, len(JPEG)))),
    (zerorun.Encoder, lambda c, x: c.encode_into(RGB, x)),
    (zerorun.Decoder, lambda c, x: c.decode(x)),
    (zerorun.Decoder, lambda c, x: c.decode(JPEG, out=x)),
    (zerorun.Decoder, lambda c, x: c.decode_planes(x)),
    (zerorun.AsyncEncoder, lambda c, x: c.set_quality(x)),
    (zerorun.AsyncEncoder, lambda c, x: c.submit(x, format="gray8", size=(1, len(JPEG)))),
    (zerorun.AsyncEncoder, lambda c, x: c.submit(RGB, quality=x)),
    (zerorun.AsyncEncoder, lambda c, x: next(c.map([RGB, x]))),
    (zerorun.AsyncDecoder, lambda c, x: c.submit(x)),
    (zerorun.AsyncDecoder, lambda c, x: c.submit(JPEG, out=x)),
    (zerorun.AsyncDecoder, lambda c, x: next(c.map([JPEG, x]))),
])
def test_an_argument_closes_the_coder(make, call):
    """AddressSanitizer tells if memory of the closed coder is used."""
    for _ in range(20):
        coder = make(device="cpu")
        try:
            call(coder, Closer(coder))
        except zerorun.Error:
            pass
        with pytest.raises(zerorun.ArgumentError, match="closed"):
            coder.backend


def test_threads_iterate_over_one_coder():
    """Each frame goes to one of them, and all come to an end."""
    for _ in range(20):
        encoder = zerorun.AsyncEncoder(device="cpu", lanes=2, depth=7)
        for _ in range(7):
            encoder.submit(RGB)
        found, begun = [], threading.Barrier(4)

        def take(_):
            begun.wait()
            found.extend(coded.value == JPEG for coded in encoder)
        run_threads(4, take)
        assert found == [True] * 7


def test_iterables_that_misbehave():
    """An input that uses the coder which reads it."""
    encoder = zerorun.AsyncEncoder(device="cpu", depth=4)

    def greedy():
        for _ in range(3):
            yield RGB
            encoder.discard()
        yield RGB
        encoder.close()
        yield RGB
    with pytest.raises(zerorun.ArgumentError, match="closed"):
        for jpeg in encoder.map(greedy()):
            assert jpeg == JPEG

    class Own:
        def __iter__(self):
            return self

        def __next__(self):
            return next(own)
    own = zerorun.AsyncEncoder(device="cpu").map(Own())
    with pytest.raises(RecursionError):
        next(own)
    images = [RGB, RGB]

    def shrinking():
        images.clear()
        yield RGB
    assert zerorun.encode_batch(shrinking(), device="cpu") == [JPEG]


def test_planes_that_change_the_list_they_stand_in():
    planes = [np.zeros((8, 8), np.uint8)] * 3

    class Clears:
        def __dlpack__(self, **options):
            planes.clear()
            return np.zeros((8, 8), np.uint8).__dlpack__(**options)

        def __dlpack_device__(self):
            return (1, 0)
    planes[0] = Clears()
    with pytest.raises(IndexError):
        zerorun.encode(planes)


class Capsule:
    """Gives the same DLPack capsule again, or a thing that is none."""

    def __init__(self, capsule, place=(1, 0)):
        self.capsule, self.place = capsule, place

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return self.place


def test_dlpack_that_is_broken():
    once = Capsule(RGB.__dlpack__())
    assert zerorun.encode(once, device="cpu") == JPEG
    for _ in range(3):
        with pytest.raises(ValueError):  # it is consumed
            zerorun.encode(once)
    for thing in (None, 5, b"dltensor", RGB, {}):
        with pytest.raises((ValueError, TypeError)):
            zerorun.encode(Capsule(thing))
    for place in (None, (), (1,), (1, 2, 3), 5):
        assert zerorun.encode(Capsule(RGB.__dlpack__(), place), device="cpu") == JPEG
    for place in ((2, 0), (13, 5)):  # says that it is on a GPU; what counts is the capsule
        assert zerorun.encode(Capsule(RGB.__dlpack__(), place), device="cpu") == JPEG
    for place in (("a", 0), (1 << 80, 0), (None, None)):
        with pytest.raises((TypeError, ValueError, OverflowError, zerorun.Error)):
            zerorun.encode(Capsule(RGB.__dlpack__(), place))


def test_output_memory_that_is_also_input():
    """The bytes may be any, but no memory outside is touched."""
    for huffman in ("standard", "optimal"):
        image = RGB.copy()
        with zerorun.Encoder(device="cpu", huffman=huffman) as encoder:
            length = encoder.encode_into(image, image.reshape(-1))
            assert 0 < length <= image.size
    room = bytearray(RGB.size)
    room[-len(JPEG):] = JPEG
    out = np.frombuffer(room, np.uint8).reshape(RGB.shape)
    stream = memoryview(room)[-len(JPEG):]
    assert same(zerorun.decode(stream, out=out, device="cpu"), zerorun.decode(JPEG, device="cpu"))
    room[-len(JPEG):] = JPEG
    zerorun.decode(stream.toreadonly(), out=out, device="cpu")  # read in place: any pixels
    two = zerorun.AsyncDecoder(device="cpu", lanes=2)
    two.submit(JPEG, out=out)
    two.submit(JPEG, out=out[::-1])
    assert [done.error for done in two] == [None, None]


def test_videos_after_close_and_far_away(tmp_path):
    path = tmp_path / "a.mjpeg"
    with zerorun.VideoWriter(path) as video:
        for _ in range(4):
            video.write_packet(JPEG)
    video = zerorun.VideoReader(path, device="cpu")
    for frame in (-1, -1 << 63, 1 << 62, (1 << 63) - 1):
        with pytest.raises((zerorun.Error, StopIteration)):
            video.seek(frame)
            next(video)
    for frame in (1 << 63, 2.5, "1", None):
        with pytest.raises(TypeError):
            video.seek(frame)
    assert video.seek(3) == 3 and next(video).shape == RGB.shape
    packets = video.packets()
    video.close()
    video.close()
    for call in (lambda: next(video), lambda: next(packets), lambda: video.info, lambda: video.seek(0)):
        with pytest.raises(zerorun.ArgumentError):
            call()


def test_threads_share_a_video(tmp_path):
    path = tmp_path / "a.mjpeg"
    with zerorun.VideoWriter(path) as video:
        for _ in range(200):
            video.write_packet(JPEG)
    video = zerorun.VideoReader(path, device="cpu")
    found = []

    def read(_):
        while (jpeg := video._file.read()) is not None:
            assert jpeg == JPEG and video.info.width == 200
            found.append(1)
    run_threads(4, read)
    assert len(found) == 200
