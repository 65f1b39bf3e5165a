# Arrays in the memory of a GPU: no copies, the caller's stream, other libraries' tensors.
# SPDX-License-Identifier: MIT
import ctypes
import glob
import multiprocessing
import os
import signal
import time

import numpy as np
import pytest
import zerorun

from support import picture, planes, run_threads, same

REQUIRED = os.environ.get("ZERORUN_REQUIRE_GPU") == "1"
if not REQUIRED and not (zerorun.built_with_cuda and any(d.usable for d in zerorun.devices())):
    pytest.skip("this build or this machine has no CUDA device", allow_module_level=True)


def load_runtime():
    names = ["libcudart.so", "libcudart.so.13", "libcudart.so.12"] + sorted(
        glob.glob("/usr/local/cuda*/lib64/libcudart.so*"))
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    pytest.skip("no CUDA runtime to make arrays with")


cudart = load_runtime()


def cuda(name, *arguments):
    error = getattr(cudart, name)(*arguments)
    assert error == 0, f"{name}: {error}"


class CudaArray:
    """Memory of the CUDA runtime with __cuda_array_interface__ alone."""

    def __init__(self, shape, stream=None):
        self.shape = tuple(shape)
        self.size = int(np.prod(shape))
        pointer = ctypes.c_void_p()
        cuda("cudaMalloc", ctypes.byref(pointer), ctypes.c_size_t(self.size))
        self.pointer = pointer.value
        self.stream = stream
        self.strides = None
        self.read_only = False

    @classmethod
    def of(cls, host, **options):
        host = np.ascontiguousarray(host)
        array = cls(host.shape, **options)
        cuda("cudaMemcpy", ctypes.c_void_p(array.pointer), ctypes.c_void_p(host.ctypes.data),
             ctypes.c_size_t(array.size), 1)
        return array

    def numpy(self):
        host = np.empty(self.shape, np.uint8)
        cuda("cudaDeviceSynchronize")
        cuda("cudaMemcpy", ctypes.c_void_p(host.ctypes.data), ctypes.c_void_p(self.pointer),
             ctypes.c_size_t(self.size), 2)
        return host

    def free(self):
        cuda("cudaFree", ctypes.c_void_p(self.pointer))

    @property
    def __cuda_array_interface__(self):
        return {"shape": self.shape, "typestr": "|u1", "data": (self.pointer, self.read_only),
                "strides": self.strides, "stream": self.stream, "version": 3}


def on_gpu(image):
    arrays = tuple(CudaArray.of(plane) for plane in planes(image))
    return arrays if isinstance(image, tuple) else arrays[0]


def to_host(value):
    return tuple(p.numpy() for p in value) if isinstance(value, tuple) else value.numpy()


@pytest.mark.parametrize("form", [form for form in zerorun.FORMATS if form != "cmyk32"])
@pytest.mark.parametrize("options", [{}, {"huffman": "optimal", "quality": 50},
                                     {"subsampling": "444"}])
def test_bytes_and_samples_of_the_cpu(form, options):
    image = picture(form, 83, 45) if form[:4] not in ("yuyv", "uyvy") else picture(form, 84, 45)
    wanted = zerorun.encode(image, format=form, device="cpu", **options)
    assert zerorun.encode(image, format=form, device="cuda", **options) == wanted
    assert zerorun.encode(on_gpu(image), format=form, **options) == wanted
    encoder = zerorun.Encoder(**options)
    assert encoder.encode(on_gpu(image), format=form) == wanted
    pixels = zerorun.decode(wanted, form, device="cpu")
    assert same(to_host(zerorun.decode(wanted, form, device="cuda")), pixels)
    assert same(zerorun.decode(wanted, form, device="cuda", to="host"), pixels)
    out = on_gpu(pixels)
    assert zerorun.decode(wanted, form, out=out) is out
    assert same(to_host(out), pixels)
    assert same(to_host(zerorun.Decoder().decode(wanted, form, to="device")), pixels)


def test_rows_with_gaps_and_other_strides():
    image = picture("rgb24", 40, 30)
    wide = np.zeros((30, 48, 3), np.uint8)
    wide[:, :40] = image
    array = CudaArray.of(wide)
    array.shape, array.strides = (30, 40, 3), (144, 3, 1)
    assert zerorun.encode(array) == zerorun.encode(image, device="cpu")
    for strides in [(3, 3, 1), (0, 3, 1), (144, 6, 1), (144, 3, -1), (1 << 40, 3, 1)]:
        array.strides = strides
        with pytest.raises(zerorun.ArgumentError):
            zerorun.encode(array)


class LateArray(CudaArray):
    """Valid when DLPack asked for it, on the stream that it names, as JAX's arrays are."""

    def __init__(self, host, failure):
        super().__init__(host.shape)
        self.failure = failure
        self.host = np.ascontiguousarray(host)
        self.streams = []
        cuda("cudaMemset", ctypes.c_void_p(self.pointer), 0, ctypes.c_size_t(self.size))

    @property
    def __cuda_array_interface__(self):
        return {"shape": self.shape, "typestr": "|u1", "data": (self.pointer, False), "version": 2}

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        cuda("cudaMemcpyAsync", ctypes.c_void_p(self.pointer), ctypes.c_void_p(self.host.ctypes.data),
             ctypes.c_size_t(self.size), 1, ctypes.c_void_p(0 if stream == 1 else stream))
        raise self.failure("made valid, but not to be exported")


@pytest.mark.parametrize("failure", [BufferError, RuntimeError])
def test_arrays_that_become_valid_when_asked(failure):
    image = picture("rgb24", 640, 480)
    wanted = zerorun.encode(image, device="cpu")
    late = LateArray(image, failure)
    assert zerorun.encode(late) == wanted and late.streams == [1]
    stream = ctypes.c_void_p()
    cuda("cudaStreamCreate", ctypes.byref(stream))
    late = LateArray(image, failure)
    assert zerorun.encode(late, stream=stream.value) == wanted and late.streams == [stream.value]
    cuda("cudaStreamDestroy", stream)
    with pytest.raises(KeyboardInterrupt):
        zerorun.encode(LateArray(image, KeyboardInterrupt))


def test_stream_in_device_memory():
    jpeg = zerorun.encode(picture("rgb24", 80, 60), device="cpu")
    # The second has a header longer than what is read of it first.
    segment = b"\xff\xed\xff\xf0" + bytes(0xffee)
    for stream in (jpeg, jpeg[:2] + segment * 2 + jpeg[2:]):
        data = CudaArray.of(np.frombuffer(stream, np.uint8))
        assert same(zerorun.decode(data).numpy(), zerorun.decode(jpeg, device="cpu"))
    with pytest.raises(zerorun.CorruptError):
        zerorun.decode(CudaArray.of(np.frombuffer(b"no stream" * 9999, np.uint8)))
    with pytest.raises(zerorun.ArgumentError):
        zerorun.decode(data, to="host")


def test_no_packet_lies_in_device_memory(tmp_path):
    jpeg = zerorun.encode(picture("rgb24", 80, 60), device="cpu")
    data = CudaArray.of(np.frombuffer(jpeg, np.uint8))
    video = zerorun.VideoWriter(tmp_path / "a.mjpeg")
    with pytest.raises(zerorun.ArgumentError):
        video.write_packet(data)
    video.write_packet(jpeg)
    with pytest.raises(zerorun.ArgumentError):
        video.write_packet(data)
    video.close()
    assert (tmp_path / "a.mjpeg").read_bytes() == jpeg


def test_encode_into_waits_for_nothing():
    image = picture("rgb24", 640, 480)
    wanted = zerorun.encode(image, device="cpu")
    room = zerorun.max_encoded_bytes("rgb24", (640, 480))
    out, size = CudaArray((room,)), CudaArray((8,))
    encoder = zerorun.Encoder(device="cuda")
    assert encoder.encode_into(on_gpu(image), out, size) is None
    length = int(size.numpy().view(np.uint64)[0])
    assert bytes(out.numpy()[:length]) == wanted
    for bad_out, bad_size in [(np.empty(room, np.uint8), size), (out, np.empty(8, np.uint8)),
                              (out, CudaArray((9,))), (out, None), (on_gpu(image), size)]:
        with pytest.raises(zerorun.ArgumentError):
            encoder.encode_into(on_gpu(image), bad_out, bad_size)
    frozen = CudaArray((room,))
    frozen.read_only = True
    with pytest.raises(zerorun.ArgumentError):
        encoder.encode_into(on_gpu(image), frozen, size)


def test_sizes_are_reached_on_the_gpu():
    images = [picture("rgb24", 320, 240, i) for i in range(3)] + [picture("rgb24", 1024, 768)]
    noise = np.random.default_rng(7).integers(0, 256, (240, 320, 3), np.uint8)
    for options in ({"target_size": 20000}, {"max_size": 9000, "quality": 95, "huffman": "optimal"}):
        wanted = [zerorun.encode(image, device="cpu", **options) for image in images]
        assert [zerorun.encode(on_gpu(image), **options) for image in images] == wanted
        assert zerorun.encode_batch([on_gpu(image) for image in images], **options) == wanted
    encoder = zerorun.Encoder(device="cuda", target_size=1500)
    with pytest.raises(zerorun.CapacityError, match="has more than the 1500 bytes that were asked for") as error:
        encoder.encode(on_gpu(noise))
    assert error.value.code == "size_not_reached"
    small = np.zeros((48, 64, 3), np.uint8)
    wanted = zerorun.encode(small, target_size=1500, device="cpu")
    flat, failed = zerorun.encode_batch([on_gpu(small), on_gpu(noise)], target_size=1500)
    assert flat == wanted and isinstance(failed, zerorun.CapacityError) and str(failed) == str(error.value)
    out, size = CudaArray((1500,)), CudaArray((8,))
    encoder.encode_into(on_gpu(noise), out, size)
    assert int(size.numpy().view(np.uint64)[0]) == 0


def test_freed_and_foreign_memory_is_refused():
    array = on_gpu(picture("rgb24", 1000, 1000))
    array.free()
    with pytest.raises(zerorun.ArgumentError):
        zerorun.encode(array)
    host = np.zeros((16, 16), np.uint8)

    class Liar:
        __cuda_array_interface__ = {"shape": (16, 16), "typestr": "|u1", "version": 3,
                                    "data": (host.ctypes.data, False)}
    with pytest.raises(zerorun.ArgumentError):
        zerorun.encode(Liar())
    small = CudaArray((16, 16))
    small.shape = (60000, 60000)
    with pytest.raises(zerorun.ArgumentError):
        zerorun.encode(small)
    with pytest.raises(zerorun.ArgumentError):
        zerorun.encode(CudaArray((16, 16)), device="cpu")
    with pytest.raises((zerorun.ArgumentError, zerorun.DeviceError)):
        zerorun.encode(CudaArray((16, 16)), device="cuda:99")


def test_batches():
    images = [picture("rgb24", 16 + 31 * i, 200 - 9 * i, i) for i in range(20)]
    wanted = [zerorun.encode(image, device="cpu") for image in images]
    assert zerorun.encode_batch(images, device="cuda") == wanted
    assert zerorun.encode_batch([on_gpu(image) for image in images]) == wanted
    noisy = [np.random.default_rng(i).integers(0, 256, (99, 99, 3), np.uint8) for i in range(4)]
    assert zerorun.encode_batch([on_gpu(image) for image in noisy], quality=100) == [
        zerorun.encode(image, quality=100, device="cpu") for image in noisy]
    streams = wanted[:7] + [b"no stream", wanted[7][:300]] + wanted[8:]
    found = zerorun.decode_batch(streams, device="cuda")
    for stream, result in zip(streams, found):
        try:
            picture_of_cpu = zerorun.decode(stream, device="cpu")
        except zerorun.Error as error:
            assert isinstance(result, zerorun.Error) and str(result) == str(error)
        else:
            assert same(result.numpy(), picture_of_cpu)
    assert zerorun.decode_batch([], device="cuda") == []
    on_host = zerorun.decode_batch(wanted, "nv12", device="cuda", to="host")
    assert all(same(a, zerorun.decode(s, "nv12", device="cpu")) for a, s in zip(on_host, wanted))


def test_streams_that_could_be_written():
    """They are copied: one by one to memory that is kept, in a batch by each thread."""
    sizes = [(64, 48), (1920, 1080), (500, 375), (2600, 2100), (64, 48), (1280, 720)]
    streams = [zerorun.encode(picture("rgb24", *size, i), device="cpu") for i, size in enumerate(sizes)]
    wanted = [zerorun.decode(stream, device="cpu") for stream in streams]
    for _ in range(3):
        for kind in (bytearray, lambda stream: np.frombuffer(bytearray(stream), np.uint8)):
            inputs = [kind(stream) for stream in streams]
            found = zerorun.decode_batch(inputs, device="cuda")
            single = [zerorun.decode(data, device="cuda") for data in inputs]
            for data in inputs:
                memoryview(data)[:] = bytes(len(data))
            assert all(same(a.numpy(), b) for a, b in zip(found + single, wanted * 2))
        zerorun.release_memory()


def noisy(width, height, seed=1):
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_batches_of_mixed_sizes(workers):
    """Several groups: large and small pictures, and noise that needs more room than photos."""
    sizes = [(64, 48)] * 40 + [(1920, 1080)] * 12 + [(3840, 2160), (1, 1), (2600, 2100)]
    images = [picture("rgb24", *size, i) for i, size in enumerate(sizes)]
    images[3:3], images[45:45], images[50:50] = [noisy(64, 48)], [noisy(1500, 1100)], [noisy(2100, 2100)]
    for options in ({"quality": 100, "subsampling": "444"}, {"quality": 60, "huffman": "optimal"}):
        wanted = [zerorun.encode(image, device="cpu", **options) for image in images]
        assert max(len(w) / i.size * 3 for w, i in zip(wanted, images) if i.size > 1 << 20) > (
            0.8 if options["quality"] == 100 else 0)
        tensors = [on_gpu(image) for image in images]
        for _ in range(2):
            found = zerorun.encode_batch(tensors, workers=workers, **options)
            assert found == wanted and all(type(stream) is bytes for stream in found)
        assert [zerorun.encode(tensor, **options) for tensor in tensors[-3:]] == wanted[-3:]


def used_memory():
    """Bytes of the GPU, and of this process."""
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    cuda("cudaDeviceSynchronize")
    cuda("cudaMemGetInfo", ctypes.byref(free), ctypes.byref(total))
    with open("/proc/self/statm", encoding="ascii") as statm:
        return total.value - free.value, int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def soon(condition):
    """Whether it holds within a minute: other programs use the memory of the GPU, too."""
    for _ in range(300):
        if condition():
            return True
        time.sleep(0.2)
    return False


def test_memory_of_batches_is_bounded_and_released():
    tensors = [on_gpu(picture("rgb24", 1920, 1080, i)) for i in range(12)] + [on_gpu(noisy(640, 480))]
    wanted = zerorun.encode_batch(tensors)
    zerorun.release_memory()
    released, _ = used_memory()
    for _ in range(5):
        zerorun.encode_batch(tensors)
    assert soon(lambda: (8 << 20) <= used_memory()[0] - released <= (256 << 20))
    device, host = used_memory()
    for turn in range(200):
        assert zerorun.encode_batch(tensors[turn % 5:]) == wanted[turn % 5:]
    for quality in range(20, 60):  # a coder for each, of which four are kept
        zerorun.encode_batch(tensors, quality=quality)
    assert used_memory()[1] - host <= 4 * (96 << 20)
    assert soon(lambda: used_memory()[0] - device <= 4 * (128 << 20))
    zerorun.release_memory()
    assert soon(lambda: used_memory()[0] - released < 8 << 20)
    assert zerorun.encode_batch(tensors) == wanted


def test_batches_on_threads_with_streams():
    images = [picture("rgb24", 500 + 40 * i, 375, i) for i in range(24)]
    wanted = zerorun.encode_batch(images, device="cpu")

    def work(_):
        stream = ctypes.c_void_p()
        cuda("cudaStreamCreate", ctypes.byref(stream))
        tensors = [on_gpu(image) for image in images]
        for _ in range(20):
            assert zerorun.encode_batch(tensors, stream=stream.value) == wanted
    run_threads(6, work)


def test_a_signal_ends_a_batch():
    class Interrupted(Exception):
        pass

    def interrupt(*_):
        raise Interrupted
    tensors = [on_gpu(picture("rgb24", 1920, 1080, i % 3)) for i in range(3)] * 50
    wanted = zerorun.encode_batch(tensors)
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with pytest.raises(Interrupted):
            signal.setitimer(signal.ITIMER_REAL, 0.002)
            while True:
                zerorun.encode_batch(tensors)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert zerorun.encode_batch(tensors) == wanted


class DlDevice(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("index", ctypes.c_int32)]


class DlTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", DlDevice), ("dimensions", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.c_void_p),
                ("offset", ctypes.c_uint64)]


def test_dlpack_by_functions_in_c():
    """An array that has DLPack's functions and no other protocol, as PyTorch's tensors have them."""
    asked = []

    class Exchanged:
        def __init__(self, host):
            self.memory = CudaArray.of(host)
            self.shape = (ctypes.c_int64 * host.ndim)(*host.shape)

    @ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(DlTensor))
    def tensor_from_object(array, out):
        out[0] = DlTensor(array.memory.pointer, DlDevice(2, 0), len(array.shape), 1, 8, 1, array.shape,
                          None, 0)
        return 0

    @ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))
    def current_stream(kind, device, out):
        asked.append((kind, device))
        out[0] = None
        return 0

    class Functions(ctypes.Structure):
        _fields_ = [("version", ctypes.c_uint32 * 2), ("older", ctypes.c_void_p),
                    ("unused", ctypes.c_void_p * 3), ("tensor_from_object", ctypes.c_void_p),
                    ("current_stream", ctypes.c_void_p)]
    functions = Functions((ctypes.c_uint32 * 2)(1, 3), None, (ctypes.c_void_p * 3)(),
                          ctypes.cast(tensor_from_object, ctypes.c_void_p),
                          ctypes.cast(current_stream, ctypes.c_void_p))
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    Exchanged.__dlpack_c_exchange_api__ = make(ctypes.addressof(functions), b"dlpack_exchange_api", None)
    images = [picture("rgb24", 80, 60), picture("rgb24", 30, 20)]
    arrays = [Exchanged(image) for image in images]
    assert zerorun.encode_batch(arrays) == [zerorun.encode(image, device="cpu") for image in images]
    assert asked == [(2, 0)] * 2
    functions.version[0] = 2
    with pytest.raises(TypeError):
        zerorun.encode(arrays[0])


def test_batches_of_files(tmp_path):
    wanted = [zerorun.encode(picture("rgb24", 16 + 31 * i, 300 - 9 * i, i), device="cpu")
              for i in range(30)]
    paths = [tmp_path / f"{i}.jpg" for i in range(len(wanted))]
    for path, jpeg in zip(paths, wanted):
        path.write_bytes(jpeg)
    inputs = [paths[i] if i % 3 else wanted[i] for i in range(len(wanted))]
    pixels = [zerorun.decode(jpeg, device="cpu") for jpeg in wanted]
    for workers in (0, 1, 3, 40):
        found = zerorun.decode_batch([*inputs, tmp_path / "absent.jpg", tmp_path], device="cuda",
                                     workers=workers)
        assert all(same(a.numpy(), b) for a, b in zip(found, pixels))
        assert [type(error) for error in found[-2:]] == [zerorun.FileError] * 2
    on_host = zerorun.decode_batch(inputs, device="cuda", to="host")
    assert all(same(a, b) for a, b in zip(on_host, pixels))


def test_frames_in_flight():
    images = [picture("rgb24", 200, 100, i) for i in range(30)]
    wanted = [zerorun.encode(image, device="cpu") for image in images]
    assert list(zerorun.AsyncEncoder(device="cuda").map(images)) == wanted
    decoded = zerorun.AsyncDecoder(device="cuda").map(wanted)
    assert all(same(a, zerorun.decode(s, device="cpu")) for a, s in zip(decoded, wanted))


def in_child(queue):
    try:
        jpeg = zerorun.encode(np.zeros((20, 20, 3), np.uint8))
        try:
            zerorun.encode(np.zeros((20, 20, 3), np.uint8), device="cuda")
            queue.put("no error")
        except zerorun.DeviceError as error:
            queue.put((jpeg, str(error)))
    except BaseException as error:  # noqa: B902
        queue.put(repr(error))


def test_fork_says_why_cuda_is_gone():
    jpeg = zerorun.encode(np.zeros((20, 20, 3), np.uint8), device="cuda")
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=in_child, args=(queue,))
    child.start()
    answer = queue.get()
    child.join()
    assert child.exitcode == 0
    assert answer[0] == jpeg and "fork" in answer[1] and "spawn" in answer[1]


def test_memory_of_decoded_arrays_comes_back():
    jpeg = zerorun.encode(picture("rgb24", 2000, 1500), device="cpu")

    def used():
        zerorun.release_memory()
        return used_memory()[0]
    zerorun.decode(jpeg, device="cuda")
    before = used()
    for _ in range(300):
        zerorun.decode(jpeg, device="cuda")
        zerorun.decode_batch([jpeg] * 4, device="cuda")
    assert soon(lambda: used() - before < 256 << 20)


def test_memory_of_dropped_arrays_is_used_again():
    """By the next calls alone, and never that of an array that is still there."""
    images = [picture("rgb24", 100 + 90 * i, 300, i) for i in range(12)]
    jpegs = [zerorun.encode(image, device="cpu") for image in images]
    wanted = [zerorun.decode(jpeg, device="cpu") for jpeg in jpegs]

    def places(arrays):
        return {array.__cuda_array_interface__["data"][0] for array in arrays}

    def decoded(**options):
        arrays = zerorun.decode_batch(jpegs, device="cuda", **options)
        assert all(same(array.numpy(), pixels) for array, pixels in zip(arrays, wanted))
        return arrays
    zerorun.release_memory()
    first = decoded()
    used = places(first)
    assert len(used) == len(first)
    del first
    for workers in (0, 1, 5):
        held = decoded(workers=workers)
        assert places(held) == used
        others = [decoded(), [zerorun.decode(jpeg, device="cuda") for jpeg in jpegs]]
        assert not any(places(arrays) & used for arrays in others)
        assert all(same(array.numpy(), pixels) for array, pixels in zip(held, wanted))
        del held, others
        zerorun.release_memory()
        used = places(decoded())
    stream = ctypes.c_void_p()
    cuda("cudaStreamCreate", ctypes.byref(stream))
    decoded(stream=stream.value)
    cuda("cudaStreamDestroy", stream)


def test_torch():
    torch = pytest.importorskip("torch")
    image = picture("rgb24", 333, 222)
    wanted = zerorun.encode(image, device="cpu")
    pixels = zerorun.decode(wanted, device="cpu")
    tensor = torch.from_numpy(image).cuda()
    assert zerorun.encode(tensor) == wanted
    assert zerorun.encode(torch.from_numpy(image), device="cpu") == wanted
    with pytest.raises(zerorun.ArgumentError, match="contiguous"):
        zerorun.encode(tensor.permute(2, 0, 1).contiguous().permute(1, 2, 0))
    with pytest.raises(zerorun.ArgumentError, match="uint8"):
        zerorun.encode(tensor.float())
    decoded = torch.from_dlpack(zerorun.decode(wanted, device="cuda"))
    assert decoded.is_cuda and same(decoded.cpu().numpy(), pixels)
    out = torch.empty((222, 333, 3), dtype=torch.uint8, device="cuda")
    assert zerorun.decode(wanted, out=out) is out
    assert same(out.cpu().numpy(), pixels)


def test_torch_stream_orders_the_work():
    """The kernels that fill a tensor and those that encode it run on torch's current stream."""
    torch = pytest.importorskip("torch")
    image = picture("rgb24", 1920, 1080)
    wanted = zerorun.encode(image, device="cpu")
    source = torch.from_numpy(image).cuda()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(20):
            tensor = torch.zeros_like(source)
            torch.cuda._sleep(2_000_000)
            tensor.copy_(source)
            assert zerorun.encode(tensor) == wanted
            tensor.zero_()
            torch.cuda._sleep(2_000_000)
            tensor.copy_(source)
            assert zerorun.encode(tensor, stream=stream) == wanted


def test_cupy():
    cupy = pytest.importorskip("cupy")
    image = picture("rgb24", 333, 222)
    wanted = zerorun.encode(image, device="cpu")
    with cupy.cuda.Stream(non_blocking=True):
        assert zerorun.encode(cupy.asarray(image)) == wanted
    decoded = zerorun.decode(wanted, device="cuda")
    assert same(cupy.asnumpy(cupy.asarray(decoded)), zerorun.decode(wanted, device="cpu"))
    assert same(cupy.asnumpy(cupy.from_dlpack(decoded)), zerorun.decode(wanted, device="cpu"))


def test_jax():
    jax = pytest.importorskip("jax")
    if not any(device.platform == "gpu" for device in jax.devices()):
        pytest.skip("this JAX has no GPU")
    image = picture("rgb24", 333, 222)
    wanted = zerorun.encode(image, device="cpu")
    pixels = zerorun.decode(wanted, device="cpu")
    array = jax.device_put(image, jax.devices("gpu")[0])
    pointer = array.unsafe_buffer_pointer()
    assert zerorun.encode(array) == wanted
    assert zerorun.encode(255 - array) == zerorun.encode(255 - image, device="cpu")
    decoded = zerorun.decode(wanted, device="cuda")
    taken = jax.dlpack.from_dlpack(decoded)
    assert taken.unsafe_buffer_pointer() == decoded.__cuda_array_interface__["data"][0]
    assert same(np.asarray(taken), pixels) and pointer == array.unsafe_buffer_pointer()
    with pytest.raises(zerorun.ArgumentError):  # arrays of JAX never change
        zerorun.decode(wanted, out=jax.numpy.zeros_like(array))


def test_tensors_are_not_copied():
    """Decoded arrays and tensors share memory, and encoding allocates none in PyTorch's pool."""
    torch = pytest.importorskip("torch")
    image = picture("rgb24", 640, 480)
    jpeg = zerorun.encode(image, device="cpu")
    decoded = zerorun.decode(jpeg, device="cuda")
    assert torch.from_dlpack(decoded).data_ptr() == decoded.__cuda_array_interface__["data"][0]
    tensor = torch.from_numpy(image).cuda()
    before = torch.cuda.memory_stats()["allocation.all.allocated"]
    assert zerorun.encode(tensor) == jpeg
    assert torch.cuda.memory_stats()["allocation.all.allocated"] == before
