# Python and the program write the same bytes and decode the same samples, of pictures and of Motion JPEG files.
# SPDX-License-Identifier: MIT
import itertools
import json
import shutil
import subprocess

import numpy as np
import pytest
import zerorun

from support import CHROMA, needs_program, picture, read_pnm, run_program, same, write_input

READABLE = ["rgb24", "gray8", "yuv420p", "yuv422p", "yuv444p", "yuv411p"]
SAMPLINGS = ["auto", "420", "422", "444", "440", "411", "gray"]
QUALITIES = itertools.cycle([90, 1, 50, 100, 75])


@needs_program
@pytest.mark.parametrize("form", READABLE)
@pytest.mark.parametrize("subsampling", SAMPLINGS)
def test_encodes_as_the_program(form, subsampling, tmp_path):
    image = picture(form, 83, 45)
    source = tmp_path / ("in.y4m" if form in CHROMA else "in.pnm")
    write_input(source, form, image)
    for huffman, restart in itertools.product(["standard", "optimal"], ["auto", "none", "7", "1rows"]):
        quality = next(QUALITIES)
        words = ["--subsampling", subsampling, "--huffman", huffman, "--restart", restart,
                 "-q", quality]
        target = tmp_path / "out.jpg"
        run_program("encode", source, "-o", target, "-y", "--device", "cpu", *words)
        jpeg = zerorun.encode(image, format=form, quality=quality, subsampling=subsampling,
                              huffman=huffman, restart=restart)
        assert jpeg == target.read_bytes(), words


@needs_program
@pytest.mark.parametrize("option, value", [("target_psnr", 33), ("target_psnr", 30.5), ("target_ssim", 0.93)])
def test_targets_of_quality_as_the_program(option, value, tmp_path):
    image = picture("rgb24", 83, 45)
    source, target = tmp_path / "in.pnm", tmp_path / "out.jpg"
    write_input(source, "rgb24", image)
    run_program("encode", source, "-o", target, "-y", "--device", "cpu", "--subsampling", "444",
                "--" + option.replace("_", "-"), value)

    def encode(wanted):
        return zerorun.encode(image, subsampling="444", **{option: wanted})
    jpeg = encode(value)
    assert jpeg == target.read_bytes()
    assert encode(None) == zerorun.encode(image, subsampling="444")
    assert encode(value * 0.9) != jpeg  # coders are kept by their options


@needs_program
@pytest.mark.parametrize("subsampling", SAMPLINGS[1:])
@pytest.mark.parametrize("upsampling", ["fancy", "nearest"])
def test_decodes_as_the_program(subsampling, upsampling, tmp_path):
    jpeg = zerorun.encode(picture("rgb24", 83, 45), subsampling=subsampling)
    source = tmp_path / "in.jpg"
    source.write_bytes(jpeg)
    target = tmp_path / "out.ppm"
    run_program("decode", source, "-o", target, "-y", "--device", "cpu", "--upsampling", upsampling)
    form = "gray8" if target.read_bytes()[:2] == b"P5" else "rgb24"
    assert same(zerorun.decode(jpeg, form, upsampling=upsampling), read_pnm(target))


@pytest.mark.parametrize("form", [form for form in zerorun.FORMATS if form != "cmyk32"])
@pytest.mark.parametrize("size", [(1, 1), (17, 9), (64, 48)])
def test_all_formats_there_and_back(form, size):
    width, height = size
    image = picture(form, width, height)
    jpeg = zerorun.encode(image, format=form, size=size, quality=100)
    info = zerorun.inspect(jpeg)
    assert (info.width, info.height) == size
    decoded = zerorun.decode(jpeg, form)
    shapes = [p.shape for p in (image if isinstance(image, tuple) else (image,))]
    found = [p.shape for p in (decoded if isinstance(decoded, tuple) else (decoded,))]
    assert found == shapes
    assert zerorun.Decoder().decode(jpeg, form) is not None
    if form in CHROMA or form in ("gray8", "nv12", "nv21"):  # no loss by colour
        for plane, original in zip(decoded if isinstance(decoded, tuple) else (decoded,),
                                   image if isinstance(image, tuple) else (image,)):
            assert np.abs(plane.astype(int) - original).max() <= 3


def test_content_options():
    image = picture("rgb24", 40, 30)
    jpeg = zerorun.encode(image, segments=[(0xFE, b"a comment"), (0xE5, b"five")],
                          pixel_aspect=(4, 3))
    info = zerorun.inspect(jpeg)
    assert (0xFE, b"a comment") in info.segments and (0xE5, b"five") in info.segments
    assert info.pixel_aspect == (4, 3) and info.has_jfif and info.quality == 90
    assert not zerorun.inspect(zerorun.encode(image, jfif_header=False)).has_jfif
    flat = np.full(64, 16)
    table = zerorun.encode(image, luma_table=flat, chroma_table=list(flat))
    assert zerorun.inspect(table).quality is None
    assert table == zerorun.encode(image, luma_table=flat.reshape(8, 8), chroma_table=flat)


FRAMES = [picture("rgb24", 64, 48, i) for i in range(9)]
STREAMS = [zerorun.encode(frame) for frame in FRAMES]


def write(path, **options):
    with zerorun.VideoWriter(path, **options) as video:
        for frame in FRAMES:
            video.write(frame)


@pytest.mark.parametrize("name", ["a.mjpeg", "%03d.jpg"])
def test_there_and_back(name, tmp_path):
    path = tmp_path / name
    write(path)
    with zerorun.VideoReader(path) as video:
        assert (video.info.width, video.info.height) == (64, 48)
        pictures = list(video)
        assert len(pictures) == 9
        assert all(same(a, zerorun.decode(b)) for a, b in zip(pictures, STREAMS))
        assert video.seek(4) == 4
        assert list(video.packets()) == STREAMS[4:]
    assert not list(tmp_path.glob("*.part"))


def test_names_that_cannot_be_written(tmp_path):
    """They fail before the first picture is coded, and leave nothing."""
    for name in ("q.gif", "q", "q.png"):
        with pytest.raises(zerorun.FileError, match=name):
            zerorun.VideoWriter(tmp_path / name)
    with pytest.raises(zerorun.FileError):
        write(tmp_path / "no/such/folder/a.mjpeg")
    for name in ("q.mp4", "q.MOV", "q.mkv", "q.avi") * (not zerorun.built_with_ffmpeg):
        with pytest.raises(zerorun.FileError, match="FFmpeg"):
            zerorun.VideoWriter(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_files_are_whole_or_not_there(tmp_path):
    path = tmp_path / "a.mjpeg"
    write(path)
    with pytest.raises(zerorun.FileError):
        write(path)
    write(path, overwrite=True)
    with pytest.raises(KeyError):
        with zerorun.VideoWriter(tmp_path / "b.mjpeg") as video:
            video.write(FRAMES[0])
            raise KeyError
    with pytest.raises(zerorun.ArgumentError):
        with zerorun.VideoWriter(tmp_path / "c.mjpeg") as video:
            video.write(FRAMES[0].astype(float))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.mjpeg"]
    video = zerorun.VideoWriter(tmp_path / "d.mjpeg")
    video.write_packet(STREAMS[0])
    video.write(FRAMES[1])
    video.write_packet(STREAMS[2])
    assert video.frames == 3
    video.close()
    video.close()
    assert (tmp_path / "d.mjpeg").read_bytes() == b"".join(STREAMS[:3])
    with pytest.raises(zerorun.ArgumentError):
        video.write(FRAMES[0])
    for fps in (0, -1, float("inf"), "x"):
        with pytest.raises((zerorun.ArgumentError, ValueError, OverflowError)):
            zerorun.VideoWriter(tmp_path / "e.mjpeg", fps)


def test_files_that_are_no_video(tmp_path):
    for data in (b"", b"no video", b"\xff\xd8"):
        (tmp_path / "bad.mjpeg").write_bytes(data)
        with pytest.raises(zerorun.Error):
            list(zerorun.VideoReader(tmp_path / "bad.mjpeg"))


@needs_program
def test_what_a_file_has_beside_its_pictures_is_named(tmp_path):
    """An orientation in a build without FFmpeg; with it the sound and the title of a film, too."""
    exif = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0"
    segment = b"Exif\0\0" + exif
    jpeg = STREAMS[0][:2] + b"\xff\xe1" + (len(segment) + 2).to_bytes(2, "big") + segment + STREAMS[0][2:]
    (tmp_path / "turned.jpg").write_bytes(jpeg)
    files = {tmp_path / "turned.jpg": {"rotation"}}
    if zerorun.built_with_ffmpeg and shutil.which("ffmpeg"):
        film = tmp_path / "film.mkv"
        subprocess.run(["ffmpeg", "-loglevel", "error", "-f", "lavfi", "-i", "testsrc=s=64x48:d=0.4", "-f", "lavfi",
                        "-i", "sine=d=0.4", "-c:v", "mjpeg", "-pix_fmt", "yuvj420p", "-c:a", "pcm_s16le", "-metadata",
                        "title=A film", film], check=True)
        files[film] = {"sound", "tags"}
    for path, least in files.items():
        with zerorun.VideoReader(path) as video:
            assert {fact for fact, _ in video.facts} >= least
            told = json.loads(run_program("info", "--json", path).stdout)["facts"]
            assert video.facts == [(entry["fact"], entry["what"]) for entry in told]
