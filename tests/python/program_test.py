# Python and the program write the same bytes and decode the same samples.
# SPDX-License-Identifier: MIT
import itertools

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
