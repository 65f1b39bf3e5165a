# A random walk over the package: any call may fail, none may end the interpreter, and sound calls
# between give the right bytes. ZERORUN_WALK_SECONDS sets how long each walk is (3), ZERORUN_WALK_SEED
# repeats one; -s shows the seed, and with ZERORUN_WALK_LOG=FILE the last line is the call that crashed.
# SPDX-License-Identifier: MIT
import gc
import os
import random
import threading
import time

import numpy as np
import pytest
import zerorun

from support import picture, same

FORMATS = [*zerorun.FORMATS, "rgb", "bgra", "", "rgb48", "\ud800", None, 7, b"rgb24"]
SMALL = picture("rgb24", 40, 24)
SMALL.flags.writeable = False  # else a call takes it for its output
JPEG = zerorun.encode(SMALL, device="cpu")
PIXELS = zerorun.decode(JPEG, device="cpu")


class Closer:
    """An argument that ends its coder while it is looked at, by whatever protocol."""

    def __init__(self, coder):
        self.coder = coder

    def __index__(self):
        self.coder.close()
        return 50

    def __str__(self):
        self.coder.close()
        return "rgb24"

    def __iter__(self):
        self.coder.close()
        return iter([JPEG, SMALL])

    @property
    def __cuda_array_interface__(self):
        self.coder.close()
        raise AttributeError

    def __dlpack__(self, **options):
        return np.frombuffer(bytearray(JPEG), np.uint8).__dlpack__(**options)

    def __dlpack_device__(self):
        return (1, 0)


class Lying:
    """Speaks the protocols and does not keep them."""

    def __init__(self, choose):
        self.__cuda_array_interface__ = choose([None, 5, {}, {"shape": (4, 4), "typestr": "|u1", "data": (64, False)}])
        self.place = choose([(1, 0), (2, 0), (2, 99), (13, 0), (7, 1), (1,), None, ("a", "b"), (1 << 80, 0)])
        self.capsule = choose([None, 5, b"", np.zeros(3), SMALL.copy().__dlpack__()])

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return self.place


class Arguments:
    """Chooses by `random`. `shared` has the coders and arrays that all threads use, `folder` the files."""

    def __init__(self, random, shared, folder):
        self.random, self.shared, self.folder = random, shared, folder

    def choose(self, values):
        return self.random.choice(values)

    def plane(self):
        height, width = (self.choose([0, 1, 2, 7, 8, 16, 33, 64]) for _ in range(2))
        channels = self.choose([(), (), (1,), (2,), (3,), (3,), (4,), (5,), (3, 1)])
        array = np.zeros((height, width, *channels), self.choose([np.uint8] * 8 + [np.int8, np.uint16, float, bool, object]))
        for _ in range(self.random.randrange(3)):
            array = self.twisted(array)
        return array

    def twisted(self, array):
        """Another view of the memory of the array."""
        step = self.choose([1, 1, 2, 3, -1, -2])
        views = [lambda: array[::step], lambda: array[:, ::step], lambda: array[..., ::step], lambda: array.T,
                 lambda: np.broadcast_to(array[:1], array.shape), lambda: np.broadcast_to(array, (2, *array.shape)),
                 lambda: array.ravel(), lambda: np.asfortranarray(array), lambda: array[None], lambda: array[:0],
                 lambda: np.lib.stride_tricks.sliding_window_view(array.ravel(), min(9, array.size)),
                 lambda: array.reshape(-1, 3), lambda: np.broadcast_to(np.uint8(9), (70000, 2))]
        try:
            view = self.choose(views)()
        except (ValueError, IndexError):
            return array
        if self.random.random() < 0.1:
            view = view.view()
            view.flags.writeable = False
        return view

    def image(self):
        """A picture, or what is none."""
        form = self.choose(zerorun.FORMATS[:-1])  # cmyk32 is for decoding
        return self.choose([
            lambda: SMALL, lambda: picture(form, self.choose([1, 2, 17, 64]), self.choose([1, 3, 16])),
            self.plane, self.plane, lambda: (self.plane(), self.plane(), self.plane()), lambda: [self.plane()],
            lambda: tuple(self.plane() for _ in range(self.random.randrange(5))), lambda: memoryview(SMALL),
            lambda: bytes(self.random.randrange(3000)), lambda: bytearray(2304), self.released, lambda: Lying(self.choose),
            lambda: Closer(self.coder()), lambda: None, lambda: 5, lambda: "photo.jpg", object])()

    def data(self):
        """A stream, sound or damaged, or what is none."""
        damaged = bytearray(JPEG)
        for _ in range(self.random.randrange(4)):
            damaged[self.random.randrange(len(JPEG))] = self.random.randrange(256)
        return self.choose([
            lambda: JPEG, lambda: damaged, lambda: bytes(damaged), lambda: JPEG[:self.random.randrange(len(JPEG))],
            lambda: memoryview(JPEG), lambda: np.frombuffer(JPEG, np.uint8)[::self.choose([1, 1, 2, -1])], lambda: b"",
            self.plane, self.released, lambda: Lying(self.choose), lambda: Closer(self.coder()), lambda: None,
            lambda: "no/such/file.jpg", lambda: self.folder, lambda: os.path.join(self.folder, "1.mjpeg")])()

    @staticmethod
    def released():
        view = memoryview(bytearray(100))
        view.release()
        return view

    def number(self):
        return self.choose([0, 1, 2, 50, 100, -1, 101, 1 << 31, -(1 << 63), 1 << 63, 1 << 70, True, None, 2.5, "3",
                            Closer(self.coder())])

    def size(self):
        return self.choose([None, None, (40, 24), (32, 24), (0, 0), (-1, 5), (65535, 65535), (65536, 1), (1, 2, 3), "ab",
                            (1 << 70, 1), (self.number(), self.number())])

    def options(self, menu):
        """A few options, most of them sound."""
        wild = self.random.random() < 0.2
        return {key: self.number() if wild and self.random.random() < 0.5 else self.choose(values)
                for key, values in menu.items() if self.random.random() < 0.15}

    def encode_options(self):
        return self.options({
            "quality": [1, 50, 100, 0], "subsampling": ["420", 444, "gray", None, "9"], "huffman": ["optimal", "x"],
            "progressive": [True, False, 1],
            "restart": ["auto", 1, "2rows", "0rows"], "tune": ["photo", "text"], "effort": ["best"],
            "luma_table": [range(1, 65), [1] * 64, [0] * 64, 5, (255 for _ in range(64))], "target_size": [500, 1 << 50],
            "segments": [[(0xE1, b"x" * 999)], [(0xFE, bytes(65534))], 5], "pixel_aspect": [(1, 2), (0, 0)],
            "device": ["cpu", "cuda:99", "\ud800", None], "threads": [1, 2, 1 << 20], "instruction_set": ["scalar", "best"]})

    def decode_options(self):
        return self.options({
            "upsampling": ["nearest", "best"], "strict": [True, False], "max_pixels": [1, 1 << 60], "max_scans": [0, 1],
            "max_header_bytes": [1, 1 << 60], "device": ["cpu", "cuda:0,99", ["cuda:7"]], "threads": [1, 2],
            "instruction_set": ["scalar", "sse4"]})

    def coder(self):
        return self.choose(self.shared["coders"])

    def out(self):
        return self.choose([lambda: None, lambda: None, lambda: np.empty(SMALL.shape, np.uint8), self.image,
                            lambda: self.shared["canvas"], lambda: self.shared["canvas"][::-1], lambda: bytes(2880)])()


SECONDS = float(os.environ.get("ZERORUN_WALK_SECONDS", "3"))
SEED = int(os.environ.get("ZERORUN_WALK_SEED", random.SystemRandom().randrange(1 << 32)))
LOG = os.environ.get("ZERORUN_WALK_LOG")

# What a wrong call may raise. SystemError, RuntimeError and others would be faults of the binding.
USUAL = (zerorun.Error, TypeError, ValueError, OverflowError, BufferError, MemoryError, StopIteration)


class Walk(Arguments):
    """Calls in a random order, on objects that all walkers share."""

    def __init__(self, seed, shared, folder):
        super().__init__(random.Random(seed), shared, folder)
        self.calls = 0

    def new_coder(self):
        small = {"lanes": self.choose([0, 1, 2, 3]), "depth": self.choose([0, 1, 4, 9])}
        make = self.choose([
            lambda: zerorun.Encoder(**self.encode_options()), lambda: zerorun.Decoder(**self.decode_options()),
            lambda: zerorun.AsyncEncoder(**small, **self.encode_options()),
            lambda: zerorun.AsyncDecoder(self.choose(FORMATS), **small, **self.decode_options()),
            lambda: zerorun.AsyncEncoder(lanes=self.number(), depth=self.number())])
        self.shared["coders"][self.random.randrange(len(self.shared["coders"]))] = make()

    def use_coder(self):
        coder = self.coder()
        calls = {
            zerorun.Encoder: [
                lambda: coder.encode(self.image(), format=self.choose(FORMATS), size=self.size()),
                lambda: coder.encode(self.image()),
                lambda: coder.encode_into(self.image(), self.choose([bytearray(9000), SMALL.copy().ravel(), self.image()])),
                lambda: setattr(coder, "quality", self.number()), lambda: coder.backend],
            zerorun.Decoder: [
                lambda: coder.decode(self.data(), self.choose(FORMATS), out=self.out()), lambda: coder.decode(self.data()),
                lambda: coder.decode_planes(self.data()), lambda: coder.decode_coefficients(self.data()),
                lambda: coder.report, lambda: coder.backend],
            zerorun.AsyncEncoder: [
                lambda: coder.submit(self.image(), tag=self.number(), quality=self.number()),
                lambda: coder.submit(SMALL), lambda: coder.set_quality(self.number()),
                lambda: next(coder.map([self.image()]))],
            zerorun.AsyncDecoder: [
                lambda: coder.submit(self.data(), format=self.choose(FORMATS), out=self.out()),
                lambda: coder.submit(JPEG), lambda: next(coder.map([self.data()]))]}[type(coder)]
        if type(coder) in (zerorun.AsyncEncoder, zerorun.AsyncDecoder):
            calls += [lambda: coder.receive(wait=False), lambda: coder.receive(wait=False), lambda: coder.discard(),
                      lambda: coder.in_flight, lambda: coder.lost_devices]
            if self.random.random() < 0.1:
                calls.append(coder.finish)
        if self.random.random() < 0.1:
            calls.append(coder.close)
        self.choose(calls)()

    def once(self):
        self.choose([
            lambda: zerorun.encode(self.image(), format=self.choose(FORMATS), size=self.size(), **self.encode_options()),
            lambda: zerorun.encode(self.image(), stream=self.choose([None, 0, self.number(), object()])),
            lambda: zerorun.decode(self.data(), self.choose(FORMATS), out=self.out(), **self.decode_options()),
            lambda: zerorun.decode(self.data(), to=self.choose(["host", "device", None, 5])),
            lambda: zerorun.inspect(self.data(), **self.decode_options()),
            lambda: zerorun.max_encoded_bytes(self.choose(FORMATS), self.size()),
            lambda: zerorun.release_memory()])()

    def batch(self):
        count, workers = self.random.randrange(6), self.choose([0, 1, 3, 3, -1, 1 << 40])
        self.choose([
            lambda: zerorun.encode_batch([self.image() for _ in range(count)], workers=workers, **self.encode_options()),
            lambda: zerorun.decode_batch([self.data() for _ in range(count)], workers=workers, **self.decode_options())])()

    def video(self):
        path = os.path.join(self.folder, self.choose(["1.mjpeg", "2%d.jpg", "x.mkv", "", "a\0b", "."]))

        def write():
            with zerorun.VideoWriter(path, self.choose([25, "30000/1001", self.number()]), overwrite=True) as video:
                for _ in range(3):
                    self.choose([lambda: video.write(SMALL), lambda: video.write(self.image()), video.close,
                                 lambda: video.write_packet(self.data())])()

        def read():
            video = zerorun.VideoReader(path, self.choose(FORMATS), lanes=1)
            for _ in range(4):
                self.choose([lambda: next(video), lambda: video.seek(self.number()), lambda: video.info,
                             lambda: next(video.packets()), video.close])()
        self.choose([write, read])()

    def sound(self):
        """What is right stays right."""
        assert zerorun.encode(SMALL, device="cpu") == JPEG
        assert same(zerorun.decode(JPEG, device="cpu"), PIXELS)

    def step(self):
        self.calls += 1
        calls = [self.once, self.use_coder, self.new_coder, self.batch, self.video, self.sound, gc.collect]
        call = self.random.choices(calls, [8, 12, 3, 2, 1, 1, 0.3])[0]
        if LOG:
            with open(LOG, "a", encoding="ascii") as log:
                log.write(f"{threading.current_thread().name} {self.calls} {call.__name__}\n")
        try:
            call()
        except USUAL:
            pass


def shared_objects():
    return {"coders": [zerorun.Encoder(device="cpu"), zerorun.Decoder(device="cpu"), zerorun.AsyncEncoder(device="cpu", lanes=2),
                       zerorun.AsyncDecoder(device="cpu", lanes=2)] * 2, "canvas": np.empty(SMALL.shape, np.uint8)}


@pytest.mark.parametrize("walkers", [1, 4])
def test_any_calls_in_any_order(walkers, tmp_path):
    print(f"ZERORUN_WALK_SEED={SEED}")
    shared, failures, end = shared_objects(), [], time.monotonic() + SECONDS
    with zerorun.VideoWriter(tmp_path / "1.mjpeg") as video:
        for _ in range(5):
            video.write_packet(JPEG)

    def work(walk):
        try:
            while (time.monotonic() < end or walk.calls <= 20) and not failures:
                walk.step()
        except BaseException as error:  # noqa: B902 - the main thread raises it
            failures.append((walk.calls, error))
    walks = [Walk(SEED + number, shared, str(tmp_path)) for number in range(walkers)]
    threads = [threading.Thread(target=work, args=(walk,)) for walk in walks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{sum(walk.calls for walk in walks)} calls")
    if failures:
        raise AssertionError(f"seed {SEED}, call {failures[0][0]}") from failures[0][1]
    walks[0].sound()
    assert all(walk.calls > 20 for walk in walks), [walk.calls for walk in walks]
