# Arrays of all kinds, in and out: those that work, and the sentence for those that cannot.
# SPDX-License-Identifier: MIT
import array
import ctypes
import mmap
import pathlib
import re

import numpy as np
import pytest
import zerorun

from support import noise, picture, same

RGB = picture("rgb24", 50, 40)
JPEG = zerorun.encode(RGB)


def strided(image):
    """Views with the samples of `image` whose memory looks otherwise."""
    wide = np.zeros((image.shape[0], image.shape[1] + 5, 3), np.uint8)
    wide[:, :-5] = image
    yield "gap after rows", wide[:, :-5]
    yield "rows upside down", np.ascontiguousarray(image[::-1])[::-1]
    yield "mirrored", np.ascontiguousarray(image[:, ::-1])[:, ::-1]
    yield "channels backwards", np.ascontiguousarray(image[..., ::-1])[..., ::-1]
    yield "planar", np.ascontiguousarray(image.transpose(2, 0, 1)).transpose(1, 2, 0)
    yield "columns first", np.asfortranarray(image)
    every = np.zeros((image.shape[0] * 2, image.shape[1] * 3, 3), np.uint8)
    every[::2, ::3] = image
    yield "every other", every[::2, ::3]
    odd = np.zeros(image.size + 1, np.uint8)[1:].reshape(image.shape)
    odd[:] = image
    yield "odd address", odd
    frozen = image.copy()
    frozen.flags.writeable = False
    yield "read-only", frozen
    yield "memoryview", memoryview(image)


@pytest.mark.parametrize("name,view", list(strided(RGB)), ids=lambda x: x if isinstance(x, str) else "")
def test_strides_of_images(name, view):
    assert zerorun.encode(view) == JPEG
    with zerorun.Encoder() as encoder:
        assert encoder.encode(view) == JPEG
    assert list(zerorun.AsyncEncoder().map([view])) == [JPEG]
    assert zerorun.encode_batch([view]) == [JPEG]


def test_repeated_and_overlapping_rows_are_copied():
    row = noise((1, 50, 3))
    assert zerorun.encode(np.broadcast_to(row, (40, 50, 3))) == zerorun.encode(
        np.repeat(row, 40, axis=0))
    flat = noise((1, 400)).ravel()
    sliding = np.lib.stride_tricks.as_strided(flat, (100, 64), (3, 1))
    assert zerorun.encode(sliding) == zerorun.encode(sliding.copy())
    point = np.lib.stride_tricks.as_strided(flat, (16, 16, 3), (0, 0, 0))
    assert zerorun.encode(point) == zerorun.encode(point.copy())


def test_planes_in_one_array():
    y, cb, cr = picture("yuv420p", 32, 16)
    wanted = zerorun.encode((y, cb, cr))
    i420 = np.concatenate([y.ravel(), cb.ravel(), cr.ravel()])
    nv12 = np.concatenate([y, np.dstack([cb, cr]).reshape(8, 32)])
    assert zerorun.encode(i420.reshape(24, 32), format="yuv420p") == wanted
    assert zerorun.encode(nv12, format="nv12") == wanted
    gap = np.zeros((24, 40), np.uint8)
    gap[:, :32] = i420.reshape(24, 32)
    assert zerorun.encode(gap[:, :32], format="yuv420p") == wanted
    gap[:, :32] = nv12
    assert zerorun.encode(gap[:, :32], format="nv12") == wanted
    assert zerorun.encode(i420, format="yuv420p", size=(32, 16)) == wanted
    assert zerorun.encode(bytes(i420), format="yuv420p", size=(32, 16)) == wanted
    assert zerorun.encode(np.repeat(i420, 2)[::2], format="yuv420p", size=(32, 16)) == wanted
    assert zerorun.encode((y, np.concatenate([cb, cr], 1).reshape(8, 2, 16)
                           .transpose(0, 2, 1).reshape(8, 32)), format="nv12") == wanted
    assert zerorun.encode([y, cb, cr]) == wanted


def test_other_buffers():
    assert zerorun.encode(memoryview(RGB)) == JPEG
    gray = array.array("B", bytes(range(200)))
    assert zerorun.encode(gray, format="gray8", size=(20, 10)) == zerorun.encode(
        np.frombuffer(gray, np.uint8).reshape(10, 20))
    block = ((ctypes.c_ubyte * 20) * 10)()
    assert zerorun.encode(block) == zerorun.encode(np.zeros((10, 20), np.uint8))
    with mmap.mmap(-1, len(JPEG)) as mapped:
        mapped[:] = JPEG
        assert same(zerorun.decode(mapped), zerorun.decode(JPEG))


class OnlyDlpack:
    """Hides every protocol but DLPack, as PyTorch's tensors do."""

    def __init__(self, inner):
        self.inner = inner

    def __dlpack__(self, **options):
        return self.inner.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.inner.__dlpack_device__()


def test_dlpack():
    assert zerorun.encode(OnlyDlpack(RGB)) == JPEG
    assert zerorun.encode(OnlyDlpack(RGB[::2, ::-1])) == zerorun.encode(RGB[::2, ::-1].copy())
    assert zerorun.encode(tuple(map(OnlyDlpack, picture("yuv444p", 20, 20)))) == zerorun.encode(
        picture("yuv444p", 20, 20))
    with pytest.raises(zerorun.ArgumentError, match="uint8"):
        zerorun.encode(OnlyDlpack(np.zeros((4, 4), np.int16)))
    with pytest.raises(zerorun.ArgumentError, match="dimensions"):
        zerorun.encode(OnlyDlpack(np.zeros((1, 4, 4, 3), np.uint8)))
    assert np.from_dlpack(zerorun.decode(JPEG)).shape == RGB.shape


REFUSED = {
    "a str": ("x.jpg", TypeError, "is a str"),
    "a path": (pathlib.Path("x.jpg"), TypeError, "pass the bytes"),
    "None": (None, TypeError, "must be an array"),
    "int": (3, TypeError, "must be an array"),
    "list of lists": ([[1, 2], [3, 4]], TypeError, "plane 0 is list"),
    "nothing": ((), zerorun.ArgumentError, "0 planes"),
    "four planes": ((RGB[..., 0],) * 4, zerorun.ArgumentError, "4 planes"),
    "float": (RGB / 255.0, zerorun.ArgumentError, "uint8"),
    "int8": (RGB.view(np.int8), zerorun.ArgumentError, "uint8"),
    "bool": (RGB > 4, zerorun.ArgumentError, "uint8"),
    "uint16": (RGB.astype(np.uint16), zerorun.ArgumentError, "uint8"),
    "objects": (np.array([[None]]), zerorun.ArgumentError, "uint8"),
    "text": (np.array([["a"]]), zerorun.ArgumentError, "uint8"),
    "scalar": (np.array(3, np.uint8), zerorun.ArgumentError, "height and width"),
    "four dimensions": (RGB[None], zerorun.ArgumentError, "4 dimensions"),
    "two channels": (RGB[..., :2], zerorun.ArgumentError, "format="),
    "five channels": (noise((4, 4, 5)), zerorun.ArgumentError, "format="),
    "no rows": (RGB[:0], zerorun.ArgumentError, "50x0"),
    "no columns": (RGB[:, :0], zerorun.ArgumentError, "0x40"),
    "too wide": (np.zeros((1, 65536), np.uint8), zerorun.ArgumentError, "65536x1"),
    "flat": (RGB.ravel(), zerorun.ArgumentError, "size="),
    "unlike planes": ((RGB[..., 0], RGB[:7, :9, 0], RGB[..., 1]), zerorun.ArgumentError, "fit no"),
    "unlike chroma": ((RGB[..., 0], RGB[:20, :25, 0], RGB[:20, :24, 0]), zerorun.ArgumentError,
                      "plane 2"),
    "ambiguous": ((RGB[:1, :1, 0],) * 3, zerorun.ArgumentError, "several formats"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_images_that_are_refused(case):
    image, kind, sentence = REFUSED[case]
    for call in (zerorun.encode, zerorun.Encoder().encode, zerorun.AsyncEncoder().submit):
        with pytest.raises(kind, match=re.escape(sentence)):
            call(image)
    results = zerorun.encode_batch([RGB, image, RGB])
    assert results[0] == results[2] == JPEG and isinstance(results[1], kind)


def test_sizes_and_formats_that_do_not_fit():
    for form, size, image in [("yuv420p", (32, 16), np.zeros(767, np.uint8)),
                              ("yuv420p", (32, 16), np.zeros(769, np.uint8)),
                              ("rgb24", (65535, 65535), np.zeros(9, np.uint8)),
                              ("rgb24", None, RGB[..., 0]), ("gray8", None, RGB),
                              ("nv12", None, np.zeros((10, 8), np.uint8)),
                              ("yuv420p", None, np.zeros((9, 7), np.uint8)),
                              ("yuv422p", None, np.zeros((9, 8), np.uint8)),
                              ("yuyv422", None, np.zeros((9, 7, 2), np.uint8)),
                              ("rgb24", (49, 40), RGB), ("yuyv422", (5, 9), RGB[..., :2])]:
        with pytest.raises(zerorun.ArgumentError):
            zerorun.encode(image, format=form, size=size)
    for size in [(0, 5), (5, -1), (70000, 1), (10**30, 1)]:
        with pytest.raises(zerorun.ArgumentError):
            zerorun.encode(RGB.ravel(), format="rgb24", size=size)
    for size in ["ab", 5, (1,), (1, 2, 3), (1.5, 2), ("a", 2)]:
        with pytest.raises(TypeError):
            zerorun.encode(RGB.ravel(), format="rgb24", size=size)


def outputs(shape):
    """Arrays to decode into."""
    yield np.empty(shape, np.uint8)
    yield np.empty((shape[0], shape[1] + 3, shape[2]), np.uint8)[:, :-3]
    yield np.empty(shape, np.uint8)[::-1]
    yield np.empty((2 * shape[0],) + shape[1:], np.uint8)[::2]


def test_decode_into():
    wanted = zerorun.decode(JPEG)
    for out in outputs(RGB.shape):
        assert zerorun.decode(JPEG, out=out) is out
        assert same(out, wanted)
    wanted = zerorun.decode(JPEG, "yuv420p")
    out = tuple(np.empty(plane.shape, np.uint8) for plane in wanted)
    assert zerorun.Decoder().decode(JPEG, "yuv420p", out=out) is out
    assert same(out, wanted)
    target = bytearray(RGB.size)
    zerorun.decode(JPEG, out=memoryview(target).cast("B", RGB.shape))
    assert bytes(target) == zerorun.decode(JPEG).tobytes()


def test_outputs_that_are_refused():
    frozen = np.empty(RGB.shape, np.uint8)
    frozen.flags.writeable = False
    plane = np.empty((40, 50), np.uint8)
    chroma = np.empty((20, 25), np.uint8)
    cases = [("rgb24", frozen, "read-only"), ("rgb24", bytes(RGB.size), "read-only"),
             ("rgb24", np.empty((40, 50), np.uint8), "shape"),
             ("rgb24", np.empty((41, 50, 3), np.uint8), "shape"),
             ("rgb24", np.empty((40, 50, 4), np.uint8), "shape"),
             ("rgb24", np.empty(RGB.size, np.uint8), "shape"),
             ("rgb24", np.empty(RGB.shape, np.int8), "uint8"),
             ("rgb24", np.empty((40, 50, 3), np.uint8)[:, ::-1], "side by side"),
             ("rgb24", np.asfortranarray(np.empty(RGB.shape, np.uint8)), "side by side"),
             ("rgb24", np.lib.stride_tricks.as_strided(plane, RGB.shape, (3, 3, 1)), "overlap"),
             ("rgb24", np.lib.stride_tricks.as_strided(plane, RGB.shape, (0, 3, 1)), "overlap"),
             ("rgb24", (plane, chroma, chroma), "planes"),
             ("yuv420p", plane, "planes"), ("yuv420p", (plane, chroma, chroma), "share memory"),
             ("yuv420p", (plane, chroma, plane[:20, :25]), "share memory")]
    for form, out, sentence in cases:
        for decode in (zerorun.decode, zerorun.Decoder().decode):
            with pytest.raises(zerorun.ArgumentError, match=sentence):
                decode(JPEG, form, out=out)
        with pytest.raises(zerorun.ArgumentError, match=sentence):
            zerorun.AsyncDecoder(form).submit(JPEG, out=out)
    with pytest.raises(TypeError):
        zerorun.decode(JPEG, out=5)


def test_streams_that_are_refused():
    for data in ("a.jpg", None, 5, [1, 2], [JPEG]):
        for call in (zerorun.decode, zerorun.inspect, zerorun.Decoder().decode,
                     zerorun.AsyncDecoder().submit):
            with pytest.raises(TypeError):
                call(data)
    twice = np.frombuffer(bytes(b for b in JPEG for _ in (0, 1)), np.uint8)
    for data in (twice[::2], np.frombuffer(JPEG, np.uint8)[None], np.array(3, np.uint8),
                 np.frombuffer(JPEG[:len(JPEG) // 2 * 2], np.uint16)):
        with pytest.raises(zerorun.ArgumentError):
            zerorun.decode(data)
    assert same(zerorun.decode(bytearray(JPEG)), zerorun.decode(memoryview(JPEG)))


def test_an_array_in_use_cannot_be_resized():
    """A frame in flight holds its buffer, so its memory cannot go away."""
    frame = bytearray(RGB.tobytes())
    encoder = zerorun.AsyncEncoder(lanes=1)
    encoder.submit(frame, format="rgb24", size=(50, 40))
    with pytest.raises(BufferError):
        frame.extend(b"more")
    assert encoder.receive().value == JPEG
    frame.extend(b"more")
    released = memoryview(bytearray(300))
    released.release()
    with pytest.raises(ValueError):
        zerorun.encode(released, format="gray8", size=(20, 15))


class Described:
    """Speaks __cuda_array_interface__."""

    def __init__(self, **description):
        self.__cuda_array_interface__ = description


@pytest.mark.parametrize("description", [
    {}, {"shape": (4, 4)}, {"shape": (4, 4), "typestr": "|u1"},
    {"shape": (4, 4), "typestr": "<f4", "data": (1 << 20, False)},
    {"shape": (4, 4), "typestr": "|u1", "data": (1 << 20, False), "mask": 1},
    {"shape": (4, -4), "typestr": "|u1", "data": (1 << 20, False)},
    {"shape": (4, 4), "typestr": "|u1", "data": 5},
    {"shape": (4, 4), "typestr": "|u1", "data": ("a", False)},
    {"shape": ("a", 4), "typestr": "|u1", "data": (1 << 20, False)},
    {"shape": (4, 4, 3, 1), "typestr": "|u1", "data": (1 << 20, False)},
    {"shape": (1 << 40, 1 << 40), "typestr": "|u1", "data": (1 << 20, False)},
    {"shape": (4, 4), "strides": (1,), "typestr": "|u1", "data": (1 << 20, False)},
    {"shape": (4, 4), "strides": (1 << 62, 1 << 62), "typestr": "|u1", "data": (1 << 20, False)},
    {"shape": (0, 4), "typestr": "|u1", "data": (1 << 20, False)},
    {"shape": (4, 4), "typestr": "|u1", "data": (0, False)},
    {"shape": (4, 4), "typestr": "|u1", "data": ((1 << 64) - 4, False)},
    {"shape": (4, 4), "strides": (-4, 1), "typestr": "|u1", "data": (4, False)},
    {"shape": (4, 4), "typestr": "|u1", "data": (1 << 20, False)},
])
def test_device_arrays_that_are_refused(description):
    with pytest.raises((zerorun.ArgumentError, zerorun.DeviceError)):
        zerorun.encode(Described(**description))
