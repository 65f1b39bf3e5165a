# Nothing leaks: memory after many calls is what it was after some. ZERORUN_LONG_TESTS=1 makes a
# million calls; pytest -s shows the growth.
# SPDX-License-Identifier: MIT
import gc
import os
import resource
import tracemalloc

import numpy as np
import pytest
import zerorun

from support import picture

LONG = os.environ.get("ZERORUN_LONG_TESTS") == "1"
ROUNDS = 1_000_000 if LONG else 30_000
SMALL = picture("rgb24", 16, 16)
JPEG = zerorun.encode(SMALL, device="cpu")


def resident_bytes():
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize()


def grows_by(call, rounds, warm_up):
    """Bytes of growth after the warm-up, and Python's own part of it."""
    for _ in range(warm_up):
        call()
    tracemalloc.start()
    objects = tracemalloc.get_traced_memory()[0]
    resident = resident_bytes()
    for _ in range(rounds):
        call()
    gc.collect()
    found = resident_bytes() - resident, tracemalloc.get_traced_memory()[0] - objects
    tracemalloc.stop()
    return found


def fail_both():
    for call in (lambda: zerorun.decode(JPEG[:50]), lambda: zerorun.encode(SMALL.astype(float)),
                 lambda: zerorun.encode(SMALL, quality=0)):
        with pytest.raises(zerorun.Error):
            call()


encoder = zerorun.Encoder(device="cpu", threads=1)
decoder = zerorun.Decoder(device="cpu", threads=1)
OUT = np.empty(SMALL.shape, np.uint8)
CALLS = {
    "encode": (lambda: zerorun.encode(SMALL, device="cpu", threads=1), 1),
    "decode": (lambda: zerorun.decode(JPEG, device="cpu", threads=1), 1),
    "there and back": (lambda: decoder.decode(encoder.encode(SMALL), out=OUT), 1),
    "strided planes": (lambda: encoder.encode(
        tuple(p[::-1, ::-1] for p in zerorun.decode(JPEG, "yuv444p", threads=1))), 2),
    "inspect": (lambda: zerorun.inspect(JPEG), 1),
    "report": (lambda: (decoder.decode(JPEG[:-30]), decoder.report), 2),
    "coefficients": (lambda: (decoder.decode_coefficients(JPEG), decoder.decode_planes(JPEG)), 2),
    "errors": (fail_both, 10),
    "batch": (lambda: zerorun.decode_batch(zerorun.encode_batch(
        [SMALL] * 8 + [None], device="cpu")[:8] + [b""], device="cpu"), 100),
    "objects": (lambda: (zerorun.Encoder(device="cpu", threads=1),
                         zerorun.Decoder(device="cpu", threads=1)), 20),
    "flights": (lambda: list(zerorun.AsyncDecoder(device="cpu", lanes=1).map(
        zerorun.AsyncEncoder(device="cpu", lanes=1).map([SMALL] * 8))), 100),
}


@pytest.mark.parametrize("name", CALLS)
def test_memory_stays(name):
    call, cost = CALLS[name]
    rounds = ROUNDS // cost
    resident, objects = grows_by(call, rounds, max(rounds // 10, 50))
    print(f"{name}: {resident:+} bytes of resident memory after {rounds} calls")
    # Less than 16 bytes a call would hide in this; the smallest object of malloc has 32.
    allowed = max(8 * rounds, 2 << 20)
    assert resident < allowed and objects < max(rounds, 20000), (resident, objects, rounds)
