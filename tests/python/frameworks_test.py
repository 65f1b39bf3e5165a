# Tensors in host memory, in and out: PyTorch's, JAX's and TensorFlow's. A framework that is not installed
# skips; apps/python/README.md says how to run these tests with each.
# SPDX-License-Identifier: MIT
import gc

import numpy as np
import pytest
import zerorun

from support import noise, picture, same

RGB, GRAY, YCC = (picture(form, 50, 40) for form in ("rgb24", "gray8", "yuv420p"))


class PyTorch:
    is_mutable = True

    def __init__(self):
        self.torch = pytest.importorskip("torch", reason="PyTorch is not installed")

    def tensor(self, array):
        return self.torch.from_numpy(np.array(array))

    def transpose(self, tensor, axes):
        return tensor.permute(axes)

    def take(self, array):
        return self.torch.from_dlpack(array)


class Jax:
    is_mutable = False

    def __init__(self):
        self.jax = pytest.importorskip("jax", reason="JAX is not installed")

    def tensor(self, array):
        return self.jax.device_put(array, self.jax.devices("cpu")[0])

    def transpose(self, tensor, axes):
        return tensor.transpose(axes)

    def take(self, array):
        return self.jax.dlpack.from_dlpack(array)


class TensorFlow:
    is_mutable = False

    def __init__(self):
        self.tf = pytest.importorskip("tensorflow", reason="TensorFlow is not installed")

    def tensor(self, array):
        with self.tf.device("cpu:0"):
            return self.tf.constant(array)

    def transpose(self, tensor, axes):
        return self.tf.transpose(tensor, axes)

    def take(self, array):
        return self.tf.experimental.dlpack.from_dlpack(array.__dlpack__())


@pytest.fixture(params=[PyTorch, Jax, TensorFlow], ids=lambda kind: kind.__name__, scope="module")
def framework(request):
    return request.param()


@pytest.fixture(scope="module")
def torch():
    return PyTorch().torch


def views(framework, image):
    """Tensors with the samples of `image`. Most of PyTorch's are views of memory that looks otherwise."""
    yield framework.tensor(image)
    axes = (1, 0, *range(2, image.ndim))
    yield framework.transpose(framework.tensor(image.transpose(axes)), axes)
    wide = np.zeros((image.shape[0] + 4, image.shape[1] + 5, *image.shape[2:]), np.uint8)
    wide[1:-3, 2:-3] = image
    yield framework.tensor(wide)[1:-3, 2:-3]
    every = np.zeros((image.shape[0] * 2, image.shape[1] * 3, *image.shape[2:]), np.uint8)
    every[::2, ::3] = image
    yield framework.tensor(every)[::2, ::3]
    if image.ndim == 3:
        yield framework.transpose(framework.tensor(image.transpose(2, 0, 1)), (1, 2, 0))


@pytest.mark.parametrize("image", [RGB, GRAY], ids=["rgb", "gray"])
def test_encode(framework, image):
    wanted = zerorun.encode(image)
    for tensor in views(framework, image):
        assert zerorun.encode(tensor) == wanted
        assert zerorun.encode_batch([tensor, tensor]) == [wanted, wanted]
        with zerorun.Encoder() as encoder:
            assert encoder.encode(tensor) == wanted


def test_encode_planes(framework):
    wanted = zerorun.encode(YCC)
    assert zerorun.encode(tuple(map(framework.tensor, YCC))) == wanted
    assert zerorun.encode(list(map(framework.tensor, YCC)), format="yuv420p") == wanted


def test_a_tensor_in_flight_is_kept(framework):
    """The encoder is the last that holds the tensors, and other tensors want their memory."""
    images = [noise((300, 400, 3), seed) for seed in range(12)]
    encoder = zerorun.AsyncEncoder(lanes=2, depth=12)
    for image in images:
        encoder.submit(framework.tensor(image))
        gc.collect()
    others = [framework.tensor(np.zeros_like(image)) for image in images]
    assert [encoder.receive().value for _ in images] == [zerorun.encode(image) for image in images]
    del others


@pytest.mark.parametrize("image", [RGB, GRAY], ids=["rgb", "gray"])
def test_decoded_pictures_become_tensors(framework, image):
    jpeg, form = zerorun.encode(image), "rgb24" if image.ndim == 3 else "gray8"
    wanted = zerorun.decode(jpeg, form).copy()
    tensor = framework.take(zerorun.decode(jpeg, form))
    gc.collect()
    for _ in range(8):  # would take the memory if it was given back
        zerorun.decode(zerorun.encode(np.zeros_like(image)), form)
    assert same(np.asarray(tensor), wanted)


def test_decode_into_tensors(torch):
    jpeg = zerorun.encode(RGB)
    wanted = zerorun.decode(jpeg)
    for memory, view in ((torch.zeros(40, 50, 3), slice(None)), (torch.zeros(80, 50, 3), slice(None, None, 2)),
                         (torch.zeros(46, 50, 3), slice(5, -1))):
        memory = memory.to(torch.uint8)
        out = memory[view]
        assert zerorun.decode(jpeg, out=out) is out
        assert same(out.numpy(), wanted)
        out[:] = 0
        assert not memory.any()  # nothing was written beside it
    out = tuple(torch.zeros(plane.shape, dtype=torch.uint8) for plane in YCC)
    with zerorun.Decoder() as decoder:
        assert decoder.decode(jpeg, "yuv420p", out=out) is out
    assert same(tuple(plane.numpy() for plane in out), zerorun.decode(jpeg, "yuv420p"))


def test_no_copy_into_pytorch(torch):
    array = zerorun.decode(zerorun.encode(RGB))
    torch.from_dlpack(array)[3, 4] = torch.tensor([1, 2, 3], dtype=torch.uint8)
    assert list(array[3, 4]) == [1, 2, 3]


def test_tensors_that_never_change_are_no_outputs(framework):
    if framework.is_mutable:
        pytest.skip("its tensors may be written")
    out = framework.tensor(np.zeros_like(RGB))
    with pytest.raises(zerorun.ArgumentError, match="read-only"):
        zerorun.decode(zerorun.encode(RGB), out=out)
    assert not np.asarray(out).any()
