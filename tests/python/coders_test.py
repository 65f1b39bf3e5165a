# Options, errors, threads, frames in flight, fork(), Ctrl-C, and what happens after close().
# SPDX-License-Identifier: MIT
import gc
import io
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
import zerorun

from support import ROOT, picture, run_threads, same

RGB = picture("rgb24", 200, 120)
JPEG = zerorun.encode(RGB, device="cpu")
DAMAGED = JPEG[:len(JPEG) // 2] + b"\x00\x11\x22" * 9 + JPEG[len(JPEG) // 2 + 27:]


def test_errors_have_code_offset_and_sentence():
    with pytest.raises(zerorun.CorruptError) as caught:
        zerorun.decode(JPEG[:100])
    error = caught.value
    assert (error.code, error.number, error.group) == ("bad_segment_length", 203, "corrupt")
    assert error.byte_offset == 89 and error.restart_interval is None
    assert "byte 89" in str(error)
    assert isinstance(error, zerorun.Error) and not isinstance(error, OSError)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and vars(again) == vars(error) and str(again) == str(error)
    with pytest.raises(zerorun.CorruptError) as caught:
        zerorun.decode(DAMAGED, strict=True)
    assert caught.value.restart_interval >= 0 and caught.value.byte_offset > 600


def test_close_ends_a_receiver_that_waits():
    coder = zerorun.AsyncEncoder(device="cpu", lanes=1)
    ended = []

    def receive():
        with pytest.raises(zerorun.Error) as caught:
            coder.receive(wait=True)
        ended.append(caught.value.code)

    receiver = threading.Thread(target=receive)
    receiver.start()
    coder.close()
    receiver.join(30)
    assert ended == ["already_finished"]


@pytest.mark.parametrize("name, color", [("cmyk_ok", "inverted cmyk"), ("cmyk_adobe_ycck", "ycck"),
                                         ("cmyk_adobe_missing", "cmyk")])
def test_inks(name, color):
    stream = (ROOT / "tests" / "hostile" / f"{name}.jpg").read_bytes()
    info = zerorun.inspect(stream)
    assert info.color == color and len(info.components) == 4
    inks = zerorun.decode(stream, format="cmyk32")
    assert inks.shape == (info.height, info.width, 4)
    light = inks.astype(int) if color != "cmyk" else 255 - inks.astype(int)
    assert np.array_equal(zerorun.decode(stream), (2 * light[..., :3] * light[..., 3:] + 255) // 510)
    with pytest.raises(zerorun.UnsupportedError):
        zerorun.decode(JPEG, format="cmyk32")
    with pytest.raises(ValueError):
        zerorun.encode(inks, format="cmyk32")


@pytest.mark.parametrize("scale", (1, 2, 8))
def test_a_batch_has_progressive_frames_and_inks(scale):
    names = ("prog_ok", "cmyk_ok", "cmyk_prog_ok", "cmyk_adobe_ycck")
    streams = [JPEG, *((ROOT / "tests" / "hostile" / f"{name}.jpg").read_bytes() for name in names)]
    pictures = zerorun.decode_batch(streams, format="rgb24", scale=scale)
    assert len(pictures) == len(streams)
    for stream, decoded in zip(streams, pictures):
        info = zerorun.inspect(stream)
        assert decoded.shape == (-(-info.height // scale), -(-info.width // scale), 3)
        assert np.array_equal(decoded, zerorun.decode(stream, format="rgb24", scale=scale))


def test_kinds_of_errors():
    lossless = bytearray(JPEG)
    lossless[lossless.index(b"\xff\xc0") + 1] = 0xC3
    cases = [(lambda: zerorun.decode(b""), zerorun.CorruptError),
             (lambda: zerorun.decode(lossless), zerorun.UnsupportedError),
             (lambda: zerorun.decode(JPEG, max_pixels=100), zerorun.CapacityError),
             (lambda: zerorun.decode(JPEG, max_header_bytes=100), zerorun.CapacityError),
             (lambda: zerorun.encode(RGB, device="cuda:999"), zerorun.DeviceError),
             (lambda: zerorun.VideoReader("/no/such/file.mjpeg"), zerorun.FileError),
             (lambda: zerorun.VideoReader("/no/such/file.mjpeg"), OSError)]
    for call, kind in cases:
        with pytest.raises(kind):
            call()


@pytest.mark.parametrize("options", [
    {"quality": 0}, {"quality": 101}, {"quality": 10**20}, {"subsampling": "421"},
    {"huffman": "best"}, {"tune": "best"}, {"effort": ""}, {"tables": "x"}, {"restart": "sometimes"}, {"restart": 0}, {"restart": 65536},
    {"restart": "0rows"}, {"restart": "1e3"}, {"luma_table": [1] * 63}, {"luma_table": [1] * 65},
    {"luma_table": [0] * 64}, {"chroma_table": [256] * 64}, {"pixel_aspect": (0, 1)},
    {"segments": [(0xDB, b"")]}, {"segments": [(0xE1, bytes(65534))]}, {"device": "gpu"},
    {"device": "cuda:x"}, {"device": "cuda:-1"}, {"threads": -1},
    {"instruction_set": "mmx"}])
def test_values_that_are_refused(options):
    for call in (zerorun.encode, zerorun.encode_batch):
        with pytest.raises(zerorun.ArgumentError):
            call(RGB if call is zerorun.encode else [RGB], **options)
    for kind in (zerorun.Encoder, zerorun.AsyncEncoder):
        with pytest.raises(zerorun.ArgumentError):
            kind(**options)


@pytest.mark.parametrize("options", [
    {"quality": "90"}, {"quality": 90.0}, {"quality": None}, {"quality": True}, {"huffman": 1},
    {"luma_table": 5}, {"pixel_aspect": 1}, {"segments": [b"x"]},
    {"segments": [(0xFE, "text")]}, {"segments": 5}, {"no_such_option": 1}, {"strict": True}])
def test_types_that_are_refused(options):
    for call in (lambda: zerorun.encode(RGB, **options), lambda: zerorun.Encoder(**options)):
        with pytest.raises(TypeError):
            call()


def test_options_of_decoders_that_are_refused():
    for options, kind in [({"upsampling": "best"}, ValueError), ({"upsampling": 1}, TypeError),
                          ({"strict": 1}, TypeError), ({"max_pixels": "9"}, TypeError),
                          ({"max_scans": 1 << 40}, ValueError), ({"quality": 1}, TypeError),
                          ({"to": "gpu"}, ValueError)]:
        with pytest.raises(kind):
            zerorun.decode(JPEG, **options)
    for form, kind in (("rgb48", zerorun.ArgumentError), ("", zerorun.ArgumentError), ("RGB24", zerorun.ArgumentError),
                       (None, TypeError)):
        with pytest.raises(kind):
            zerorun.decode(JPEG, form)


def test_encoder_and_decoder_objects():
    with zerorun.Encoder(quality=70, device="cpu") as encoder:
        assert encoder.backend == "cpu" and encoder.quality == 70
        assert encoder.encode(RGB) == zerorun.encode(RGB, quality=70)
        encoder.quality = 30
        assert encoder.encode(RGB) == zerorun.encode(RGB, quality=30)
        with pytest.raises(zerorun.ArgumentError):
            encoder.quality = 0
        room = bytearray(zerorun.max_encoded_bytes("rgb24", (200, 120)))
        length = encoder.encode_into(RGB, room)
        assert bytes(room[:length]) == encoder.encode(RGB)
        with pytest.raises(zerorun.CapacityError):
            encoder.encode_into(RGB, bytearray(100))
        for bad in (bytes(1000), np.zeros((10, 10), np.uint8), np.zeros(99, np.uint8)[::2]):
            with pytest.raises(zerorun.ArgumentError):
                encoder.encode_into(RGB, bad)
    decoder = zerorun.Decoder(device="cpu")
    assert decoder.report is None
    assert same(decoder.decode(JPEG), zerorun.decode(JPEG))
    report = decoder.report
    assert report.bytes_consumed == len(JPEG) and report.concealed_intervals == 0
    assert report.first_problem is None and report.cpu_scans == 0
    decoder.decode(DAMAGED)
    assert decoder.report.concealed_intervals > 0
    assert isinstance(decoder.report.first_problem, zerorun.CorruptError)
    planes = decoder.decode_planes(JPEG)
    assert [p.shape for p in planes] == [(120, 200), (60, 100), (60, 100)]
    assert same(tuple(planes), zerorun.decode(JPEG, "yuv420p"))
    blocks = decoder.decode_coefficients(JPEG)
    assert [b.shape for b in blocks] == [(15, 25, 64), (8, 13, 64), (8, 13, 64)]
    assert blocks[0].dtype == np.int16 and blocks[0].any()


def test_after_close():
    calls = []
    for kind in (zerorun.Encoder, zerorun.Decoder, zerorun.AsyncEncoder, zerorun.AsyncDecoder):
        coder = kind(device="cpu")
        coder.close()
        coder.close()
        if hasattr(coder, "encode"):
            calls += [lambda c=coder: c.encode(RGB), lambda c=coder: c.backend,
                      lambda c=coder: c.encode_into(RGB, bytearray(9))]
        elif hasattr(coder, "decode"):
            calls += [lambda c=coder: c.decode(JPEG), lambda c=coder: c.decode_planes(JPEG)]
        else:
            image = RGB if kind is zerorun.AsyncEncoder else JPEG
            calls += [lambda c=coder, i=image: c.submit(i), lambda c=coder: c.receive(),
                      lambda c=coder: c.finish(), lambda c=coder: c.in_flight,
                      lambda c=coder: next(c), lambda c=coder, i=image: next(c.map([i]))]
    for call in calls:
        with pytest.raises(zerorun.ArgumentError, match="closed") as caught:
            call()
        assert caught.value.code == "already_finished"


def test_batches():
    images = [picture("rgb24", 20 + 7 * i, 100 - 3 * i, i) for i in range(25)]
    wanted = [zerorun.encode(image) for image in images]
    assert zerorun.encode_batch(iter(images)) == wanted
    assert zerorun.encode_batch(images, workers=1) == zerorun.encode_batch(images, workers=7) == wanted
    assert zerorun.encode_batch([]) == [] and zerorun.decode_batch([]) == []
    mixed = wanted[:5] + [b"", None, wanted[5][:90]] + wanted[5:]
    found = zerorun.decode_batch(mixed)
    kinds = [type(r) for r in found[5:8]]
    assert kinds == [zerorun.CorruptError, TypeError, zerorun.CorruptError]
    assert all(same(a, zerorun.decode(b)) for a, b in zip(found[:5] + found[8:], wanted))
    strict = zerorun.decode_batch([JPEG, DAMAGED], strict=True)
    assert same(strict[0], zerorun.decode(JPEG)) and isinstance(strict[1], zerorun.CorruptError)
    for workers in (-1, 1000):
        with pytest.raises(zerorun.ArgumentError):
            zerorun.encode_batch(images, workers=workers)
    for call in (lambda: zerorun.encode_batch(5), lambda: zerorun.decode_batch(None)):
        with pytest.raises(TypeError):
            call()
    for single in ("x.jpg", pathlib.Path("x.jpg"), JPEG, bytearray(JPEG), memoryview(JPEG), np.frombuffer(JPEG, np.uint8)):
        with pytest.raises(TypeError, match="put it into a list"):
            zerorun.decode_batch(single)
    assert same(zerorun.decode_batch(np.array([JPEG], dtype=object))[0], zerorun.decode(JPEG))

    writable = [bytearray(stream) for stream in wanted]  # each worker copies those that it decodes
    assert all(same(a, zerorun.decode(b)) for a, b in zip(zerorun.decode_batch(writable, workers=2), wanted))

    def broken():
        yield RGB
        raise KeyError("mine")
    with pytest.raises(KeyError):
        zerorun.encode_batch(broken())


def test_scaled_pictures_and_regions():
    jpegs = [zerorun.encode(picture("rgb24", 70, 50 + i, i)) for i in range(3)]
    whole = zerorun.decode(jpegs[0])
    half = zerorun.decode(jpegs[0], scale=2)
    assert half.shape == ((whole.shape[0] + 1) // 2, (whole.shape[1] + 1) // 2, 3)
    means = whole.reshape(25, 2, 35, 2, 3).mean((1, 3))
    assert np.abs(half - means).mean() < 0.1 * np.abs(whole[:25, :35] - means).mean()
    assert same(zerorun.decode(jpegs[0], region=(11, 7, 30, 20)), whole[7:27, 11:41])
    assert same(zerorun.decode(jpegs[0], scale=2, region=(3, 5, 9, 8)), half[5:13, 3:12])
    with zerorun.Decoder(scale=2, region=(3, 5, 9, 8)) as decoder:
        assert same(decoder.decode(jpegs[0]), half[5:13, 3:12])
    out = np.zeros((8, 9, 3), np.uint8)
    zerorun.decode(jpegs[0], out=out, scale=2, region=(3, 5, 9, 8))
    assert same(out, half[5:13, 3:12])
    with zerorun.AsyncDecoder(scale=2, region=(3, 5, 9, 8)) as decoder:
        out[:] = 0
        decoder.submit(jpegs[0], out=out)
        decoder.submit(jpegs[0])
        for coded in decoder:
            assert same(coded.value, half[5:13, 3:12])
        assert same(out, half[5:13, 3:12])
    # The next call without options is of the whole picture.
    assert same(zerorun.decode(jpegs[0]), whole)
    scales, regions = [1, 2, 8], [(7, 9, 8, 6), None, (2, 1, 3, 4)]
    batch = zerorun.decode_batch(jpegs, scale=scales, region=regions)
    for got, jpeg, scale, region in zip(batch, jpegs, scales, regions):
        assert same(got, zerorun.decode(jpeg, scale=scale, region=region))
    for got, jpeg in zip(zerorun.decode_batch(jpegs, region=(5, 6, 7, 8)), jpegs):
        assert same(got, zerorun.decode(jpeg)[6:14, 5:12])
    with pytest.raises(zerorun.ArgumentError, match="one entry for each of the 3 streams"):
        zerorun.decode_batch(jpegs, scale=[1, 2])
    with pytest.raises(zerorun.ArgumentError, match="goes beyond the picture"):
        zerorun.decode(jpegs[0], region=(0, 0, 1000, 1))
    with pytest.raises(zerorun.ArgumentError, match="1/2, 1/4 and 1/8"):
        zerorun.decode(jpegs[0], scale=3)


def test_batches_of_files(tmp_path):
    wanted = [zerorun.encode(picture("rgb24", 20 + 7 * i, 60, i)) for i in range(12)]
    paths = [tmp_path / f"{i}.jpg" for i in range(12)]
    for path, jpeg in zip(paths, wanted):
        path.write_bytes(jpeg)
    odd = os.path.join(os.fsencode(tmp_path), b"\xff \xe4.jpg")
    with open(odd, "wb") as file:
        file.write(wanted[0])
    (tmp_path / "empty.jpg").touch()
    with open(tmp_path / "sparse.jpg", "wb") as file:
        file.truncate(1 << 40)
    os.mkfifo(tmp_path / "pipe.jpg")
    inputs = [*paths[:6], wanted[6], *map(str, paths[7:]), os.fsdecode(odd)]
    for workers in (0, 1, 5):
        found = zerorun.decode_batch(inputs, device="cpu", workers=workers)
        assert all(same(a, zerorun.decode(b)) for a, b in zip(found, [*wanted, wanted[0]]))
    bad = [tmp_path / "absent.jpg", tmp_path, tmp_path / "empty.jpg", tmp_path / "pipe.jpg",
           tmp_path / "sparse.jpg", "a\0b", ""]
    found = zerorun.decode_batch([*bad, paths[3]], device="cpu")
    assert same(found.pop(), zerorun.decode(wanted[3]))
    assert [type(error) for error in found] == [
        zerorun.FileError, zerorun.FileError, zerorun.CorruptError, zerorun.FileError,
        zerorun.CapacityError, ValueError, zerorun.FileError]
    assert f"{bad[0]}: No such file or directory" in str(found[0])
    assert "regular file" in str(found[3]) and "2 GiB" in str(found[4])


def test_a_batch_holds_as_many_files_as_it_has_workers(tmp_path):
    """A process of its own: the most memory that this one had says nothing about a call."""
    size, count = 8 << 20, 40
    for i in range(count):
        with open(tmp_path / f"{i}.jpg", "wb") as file:
            file.write(JPEG)
            file.truncate(size)  # zeros behind the picture, which are read with it
    code = """if True:
        import pathlib, resource, sys
        import zerorun
        most = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
        paths = sorted(pathlib.Path(sys.argv[1]).iterdir())
        first = zerorun.decode(paths[0].read_bytes(), device="cpu")
        before = most()
        found = zerorun.decode_batch(paths, device="cpu", workers=2)
        assert len(found) == len(paths) and all((array == first).all() for array in found)
        print(most() - before)
    """
    done = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # Two workers with a file each, of which one is in `before` already; all together have 40.
    assert int(done.stdout) < 5 * size, done.stdout


def test_arrays_of_a_batch_stay_when_the_rest_is_gone():
    """Planes of one picture share memory, which lives as long as the last of them."""
    for form in ("rgb24", "gray8", "yuv420p", "nv12"):
        array = zerorun.decode_batch([JPEG] * 3, form, device="cpu")[1]
        if isinstance(array, tuple):
            array = array[1]
        gc.collect()
        zerorun.decode_batch([DAMAGED] * 9, form, device="cpu")  # would take freed memory
        wanted = zerorun.decode(JPEG, form, device="cpu")
        assert same(array, wanted[1] if isinstance(wanted, tuple) else wanted)
        assert array.flags.writeable and array.flags.c_contiguous and array.dtype == np.uint8


@pytest.fixture
def three_gpus():
    """The CPU pretends to be three GPUs, of which number 1 fails after three frames.

    Memory of a real GPU must not be freed meanwhile, nor theirs afterwards."""
    zerorun.release_memory()
    zerorun._zerorun._pretend_devices(3, failing=1, frames=3)
    yield
    zerorun.release_memory()
    zerorun._zerorun._pretend_devices(0)


def test_several_gpus_code_frames_and_one_fails(three_gpus):
    images = [picture("rgb24", 64, 48, i) for i in range(60)]
    wanted = [zerorun.encode(image, device="cpu") for image in images]
    for device in ("cuda:0,2", ["cuda:2", "cuda:0"], ("cuda:2",)):
        with zerorun.AsyncEncoder(device=device) as encoder:
            assert list(encoder.map(images)) == wanted and encoder.lost_devices == []
    with zerorun.AsyncEncoder(device="cuda:all") as encoder:
        while not encoder.lost_devices:  # until lanes of that device have had so many frames
            assert encoder.backend == "cuda" and list(encoder.map(images)) == wanted
        (name, error), = encoder.lost_devices
        assert name == "cuda:1" and error.code == "device_failure"
    with zerorun.AsyncDecoder(device="cuda:0,1") as decoder:
        while not decoder.lost_devices:
            for found, jpeg in zip(decoder.map(wanted), wanted):
                assert (found == zerorun.decode(jpeg, device="cpu")).all()
        assert [name for name, _ in decoder.lost_devices] == ["cuda:1"]
    for wrong in ("cuda:0,", "cuda:0,x", ["cpu", "cuda:0"], [], "cuda:0,0"):
        with pytest.raises(zerorun.ArgumentError):
            zerorun.AsyncEncoder(device=wrong)
    with pytest.raises(zerorun.DeviceError):
        zerorun.AsyncEncoder(device="cuda:0,5")
    with pytest.raises(zerorun.ArgumentError):
        zerorun.Encoder(device="cuda:0,1")


def test_frames_in_flight_come_in_order():
    images = [picture("rgb24", 64, 48, i) for i in range(20)]
    wanted = [zerorun.encode(image) for image in images]
    with zerorun.AsyncEncoder(lanes=3, depth=5) as encoder:
        assert (encoder.lanes, encoder.depth, encoder.in_flight) == (3, 5, 0)
        assert list(encoder) == [] and encoder.receive(wait=False) is None
        for number, image in enumerate(images[:5]):
            encoder.submit(image, tag=f"frame {number}")
        with pytest.raises(zerorun.CapacityError) as caught:
            encoder.submit(images[5])
        assert caught.value.code == "queue_full" and encoder.in_flight == 5
        for number, coded in enumerate(encoder):
            assert coded == (number, f"frame {number}", wanted[number], None)
        encoder.submit(images[0], quality=10)
        assert encoder.receive().value == zerorun.encode(images[0], quality=10)
        encoder.submit(images[0])
        encoder.discard()
        assert encoder.in_flight == 0 and list(encoder.map(images)) == wanted
        encoder.finish()
        assert encoder.receive() is None
        with pytest.raises(zerorun.ArgumentError):
            encoder.submit(images[0])


def test_decoded_frames_in_flight():
    images = [picture("rgb24", 64 + i, 48, i) for i in range(12)]
    streams = [zerorun.encode(image) for image in images]
    wanted = [zerorun.decode(stream) for stream in streams]
    decoder = zerorun.AsyncDecoder("rgb24")
    assert all(same(a, b) for a, b in zip(decoder.map(streams), wanted))
    out = np.empty(images[0].shape, np.uint8)
    decoder.submit(streams[0], tag=7, out=out)
    decoder.submit(b"nothing")
    decoder.submit(streams[1], format="gray8")
    results = list(decoder)
    assert results[0].value is out and results[0].tag == 7 and same(out, wanted[0])
    assert results[1].value is None and isinstance(results[1].error, zerorun.CorruptError)
    assert same(results[2].value, zerorun.decode(streams[1], "gray8"))
    pictures = decoder.map([streams[0], b"nothing", streams[1]])
    assert same(next(pictures), wanted[0])
    with pytest.raises(zerorun.CorruptError):
        next(pictures)
    assert same(next(pictures), wanted[1])
    with pytest.raises(StopIteration):
        next(pictures)


def test_a_frame_lives_while_it_is_in_flight():
    encoder = zerorun.AsyncEncoder(lanes=1, depth=64)
    wanted = [zerorun.encode(picture("rgb24", 300, 200, i)) for i in range(30)]
    for i in range(30):
        encoder.submit(picture("rgb24", 300, 200, i))
        gc.collect()
    assert [coded.value for coded in encoder] == wanted
    for i in range(30):
        encoder.submit(picture("rgb24", 300, 200, i))
    del encoder  # drops the others without touching freed memory
    gc.collect()


def test_threads_share_coders():
    images = [picture("rgb24", 80 + i, 60, i) for i in range(8)]
    wanted = [zerorun.encode(image) for image in images]
    pixels = [zerorun.decode(stream) for stream in wanted]
    encoder, decoder = zerorun.Encoder(), zerorun.Decoder()

    def work(number):
        for _ in range(25):
            assert encoder.encode(images[number]) == wanted[number]
            assert zerorun.encode(images[number]) == wanted[number]
            assert same(decoder.decode(wanted[number]), pixels[number])
            assert same(zerorun.decode(wanted[number]), pixels[number])
            assert decoder.report is not None
    run_threads(8, work)


def test_changed_while_it_is_coded():
    """Other bytes may come out, but nothing breaks."""
    image = picture("rgb24", 640, 480)
    stream = bytearray(JPEG)
    done = threading.Event()

    def scribble():
        generator = np.random.default_rng(1)
        while not done.is_set():
            image[:] = generator.integers(0, 256, 3, np.uint8)
            stream[700:] = bytes(generator.integers(0, 256, len(stream) - 700, np.uint8))
    thread = threading.Thread(target=scribble)
    thread.start()
    try:
        for huffman in ["standard", "optimal"] * 30:
            assert zerorun.decode(zerorun.encode(image, huffman=huffman)).shape == image.shape
            zerorun.decode(stream)
    finally:
        done.set()
        thread.join()


def in_child(body):
    """Runs the function in a fork; its answer is the exit code 0."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            body()
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_fork():
    encoder, decoder = zerorun.Encoder(device="cpu"), zerorun.Decoder(device="cpu")
    flight = zerorun.AsyncEncoder(device="cpu")
    flight.submit(RGB)
    assert encoder.encode(RGB) == JPEG and same(decoder.decode(JPEG), zerorun.decode(JPEG))
    pixels = zerorun.decode(JPEG)

    def body():
        assert zerorun.encode(RGB, device="cpu") == JPEG
        assert encoder.encode(RGB) == JPEG
        assert same(decoder.decode(JPEG), pixels)
        assert zerorun.encode_batch([RGB] * 4, device="cpu") == [JPEG] * 4
        assert list(zerorun.AsyncEncoder(device="cpu").map([RGB] * 4)) == [JPEG] * 4
        with pytest.raises(zerorun.ArgumentError, match="fork"):
            flight.receive()
        in_child(lambda: encoder.encode(RGB))
    in_child(body)
    held = [zerorun.Encoder(device="cpu"), zerorun.AsyncDecoder(device="cpu")]
    in_child(lambda: (held.clear(), gc.collect()))  # a child ends them without their threads
    assert flight.receive().value == JPEG and encoder.encode(RGB) == JPEG


def test_fork_while_threads_code():
    stop = threading.Event()

    def work():
        while not stop.is_set():
            zerorun.encode(RGB, device="cpu")
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(10):
            in_child(lambda: zerorun.encode(RGB, device="cpu") == JPEG or os._exit(2))
    finally:
        stop.set()
        for thread in threads:
            thread.join()


@pytest.mark.parametrize("call", [
    "zerorun.encode_batch(many())", "zerorun.encode_batch(endless())",
    "for jpeg in zerorun.AsyncEncoder().map(endless()): pass",
    "zerorun.AsyncEncoder().receive()",
    "while True: zerorun.encode(images[0])"])
def test_keyboard_interrupt(call):
    """Ctrl-C ends long calls; the interpreter goes on and ends well."""
    program = textwrap.dedent(f"""
        import signal
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's job in the background ignores it
        import numpy as np, zerorun
        images = [np.zeros((2000, 2000, 3), np.uint8)]
        def many():
            "Work for more than the test's patience; the threads begin when it ends."
            for _ in range(100000):
                yield images[0]
            print('begun', flush=True)
        def endless():
            while True:
                yield images[0]
        try:
            if 'many' not in {call!r}:
                print('begun', flush=True)
            {call}
            print('ended')
        except KeyboardInterrupt:
            print('interrupted', len(zerorun.encode(images[0])) > 0)
    """)
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "begun\n"
    child.send_signal(signal.SIGINT)
    try:
        assert child.communicate(timeout=120)[0] == "interrupted True\n"
        assert child.returncode == 0
    finally:
        child.kill()


def test_help_and_names():
    for name in zerorun.__all__:
        value = getattr(zerorun, name)
        assert name.startswith("__") or not callable(value) or value.__doc__, name
    assert "subsampling" in zerorun.encode.__doc__ and "(height, width, 3)" in zerorun.decode.__doc__
    assert zerorun.__version__.count(".") == 2
    for name in zerorun.instruction_sets():
        assert zerorun.encode(RGB, instruction_set=name, device="cpu") == JPEG
        assert same(zerorun.decode(JPEG, instruction_set=name, device="cpu"), zerorun.decode(JPEG))
    zerorun.release_memory()


def test_progressive_streams():
    image = np.add.outer(np.arange(480), np.arange(640) ** 2 // 900).astype(np.uint8)[..., None] * np.uint8([1, 2, 3])
    jpeg = zerorun.encode(image, quality=80, progressive=True)
    assert zerorun.inspect(jpeg).progressive and len(jpeg) <= zerorun.max_encoded_bytes("rgb24", (640, 480), progressive=True)
    assert jpeg == zerorun.encode(image, quality=80, progressive=True, huffman="trained")
    plain = zerorun.encode(image, quality=80, huffman="optimal", restart=None)
    assert len(jpeg) < len(plain) and not zerorun.inspect(plain).progressive
    assert same(zerorun.decode(jpeg), zerorun.decode(plain))
    with pytest.raises(TypeError):
        zerorun.encode(image, progressive=1)
    pillow = pytest.importorskip("PIL.Image")
    assert pillow.open(io.BytesIO(jpeg)).info["progressive"]
    opened = [np.asarray(pillow.open(io.BytesIO(stream))) for stream in (jpeg, plain)]
    assert same(*opened)


def test_targets_of_quality_that_cannot_be():
    image = np.random.default_rng(1).integers(0, 256, (48, 64, 3), np.uint8)
    for options in ({"target_psnr": 99}, {"target_ssim": 1}):
        with pytest.raises(zerorun.CapacityError, match="at quality 100 this picture has"):
            zerorun.encode(image, **options)
    for options in ({"target_psnr": 0}, {"target_psnr": -1.5}, {"target_psnr": float("nan")}, {"target_ssim": 1.5},
                    {"target_psnr": 30, "target_ssim": 0.9}, {"target_psnr": 30, "target_size": 5000}):
        with pytest.raises(zerorun.ArgumentError):
            zerorun.encode(image, **options)
    for value in ("40", True, [40]):
        with pytest.raises(TypeError, match="target_psnr"):
            zerorun.encode(image, target_psnr=value)


def test_transcode_keeps_the_samples():
    small = zerorun.transcode(JPEG, optimize=True, verify=True)
    assert len(small) < len(JPEG) and same(zerorun.decode(small), zerorun.decode(JPEG))
    turned = zerorun.transcode(JPEG, rotate=90, scans="progressive", restart=4)
    assert zerorun.inspect(turned).progressive and zerorun.inspect(turned).width == 120
    assert zerorun.inspect(turned).restart_interval == 4
    gray = zerorun.transcode(JPEG, crop=(16, 16, 32, 32), gray=True, edges="trim", flip="h")
    assert zerorun.inspect(gray).color == "gray" and zerorun.inspect(gray).height == 32
    assert zerorun.transcode(JPEG) == JPEG
    trimmed = zerorun.inspect(zerorun.transcode(JPEG, flip="v", edges="trim"))
    assert trimmed.width == 200 and trimmed.height == 112
    flipped = zerorun.transcode(JPEG, flip="h")
    assert not same(zerorun.decode(flipped), zerorun.decode(JPEG))
    assert same(zerorun.decode(zerorun.transcode(flipped, flip="h")), zerorun.decode(JPEG))
    for stream, options, kind in ((JPEG, {"flip": "v", "edges": "refuse"}, zerorun.ArgumentError),
                                  (DAMAGED, {"optimize": True}, zerorun.CorruptError),
                                  (JPEG, {"rotate": 45}, zerorun.ArgumentError)):
        with pytest.raises(kind):
            zerorun.transcode(stream, **options)
