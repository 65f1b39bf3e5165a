# The package's signatures as mypy sees them.
# SPDX-License-Identifier: MIT
import pathlib
import shutil
import subprocess
import sys

import pytest
import zerorun

pytest.importorskip("mypy")
FOLDER = pathlib.Path(zerorun.__file__).parent

GOOD = """
import zerorun
jpeg: bytes = zerorun.encode([[0]], quality=3, subsampling="420", restart=None, device="cpu")
with zerorun.Encoder(huffman="optimal", tune="photo") as encoder:
    jpeg = encoder.encode(None, format="nv12", size=(2, 2))
    encoder.quality = 4
report = zerorun.Decoder(strict=True).report
if report is not None and report.first_problem is not None:
    offset = report.first_problem.byte_offset
    assert offset is None or offset + 1
for coded in zerorun.AsyncEncoder(lanes=2, quality=80):
    print(coded.number, coded.error)
width: int = zerorun.inspect(jpeg).width
with zerorun.VideoWriter("a.mjpeg", fps=25, quality=5) as video:
    video.write(None)
results = zerorun.encode_batch([1, 2], workers=2)
"""
BAD = ["import zerorun\nzerorun.encode(1, quality='high')", "import zerorun\nzerorun.encode(1, qual=1)",
       "import zerorun\nx: int = zerorun.encode(1)", "import zerorun\nzerorun.Encoder(strict=True)",
       "import zerorun\nzerorun.inspect(b'').widht", "import zerorun\nzerorun.decode(b'', 5)"]


def mypy(*arguments, **options):
    return subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir=/dev/null",
                           *map(str, arguments)], capture_output=True, text=True, **options)


def test_the_package(tmp_path):
    assert (FOLDER / "py.typed").exists() and (FOLDER / "_zerorun.pyi").exists()
    shutil.copytree(FOLDER, tmp_path / "zerorun")  # mypy takes no folder of site-packages
    done = mypy("zerorun", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_right_uses(tmp_path):
    (tmp_path / "good.py").write_text(GOOD)
    done = mypy(tmp_path / "good.py")
    assert done.returncode == 0, done.stdout + done.stderr


def test_wrong_uses(tmp_path):
    for number, text in enumerate(BAD):
        (tmp_path / f"bad{number}.py").write_text(text)
    done = mypy(*sorted(tmp_path.glob("bad*.py")))
    assert {line.split(":")[0].split("/")[-1] for line in done.stdout.splitlines()
            if ": error:" in line} == {f"bad{i}.py" for i in range(len(BAD))}, done.stdout
