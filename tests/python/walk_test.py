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

from hostile import FORMATS, JPEG, PIXELS, SMALL, Arguments
from support import same

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
