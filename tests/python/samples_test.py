# The programs in samples/python, as users run them.
# SPDX-License-Identifier: MIT
import re
import subprocess
import sys

import numpy as np
import pytest
import zerorun

from support import ROOT

SAMPLES = ROOT / "samples" / "python"


def run(name, *arguments):
    return subprocess.run([sys.executable, "-B", SAMPLES / name, *map(str, arguments)], capture_output=True, text=True)


@pytest.mark.parametrize("words", [
    ["there_and_back.py"], ["loader.py", ROOT / "samples" / "media"],
    ["live_plot.py", "--text", "--frames", "3", "--size", "320x240"]], ids=lambda words: words[0])
def test_runs(words):
    done = run(*words)
    assert done.returncode == 0 and done.stdout and not done.stderr, done.stderr


def write_class(folder, colour, count, seed):
    """Noisy pictures of all sizes around a colour."""
    folder.mkdir()
    generator = np.random.default_rng(seed)
    for number in range(count):
        height, width = generator.integers(9, 200, 2)
        pixels = np.clip(generator.normal(colour, 60, (height, width, 3)), 0, 255).astype(np.uint8)
        (folder / f"{number}.jpg").write_bytes(zerorun.encode(pixels, quality=70, device="cpu"))


@pytest.fixture
def photos(tmp_path):
    for seed, (name, colour) in enumerate({"sea": (100, 120, 140), "wood": (120, 140, 100), "sun": (140, 120, 100)}.items()):
        write_class(tmp_path / name, colour, 40, seed)
    return tmp_path


def test_a_training_loop_learns_from_the_loader(photos):
    (photos / "sea" / "broken.jpg").write_bytes(b"\xff\xd8 no picture")
    (photos / "sea" / "notes.txt").write_text("no picture either", encoding="ascii")
    done = run("train.py", photos, "--epochs", "4", "--batch", "16")
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert sum(str(photos / "sea" / "broken.jpg") in line for line in done.stdout.splitlines()) == 4
    found = re.findall(r"^epoch \d: loss ([\d.]+), (\d+) % right, \d+ pictures/s, waited \d+ ms$", done.stdout, re.MULTILINE)
    losses, right = [float(loss) for loss, _ in found], [int(share) for _, share in found]
    assert len(found) == 4 and losses[3] < losses[0] / 2, done.stdout
    assert right[0] < right[3] and right[3] >= 95, done.stdout


def test_what_cannot_be_trained(tmp_path, photos):
    for folder in (tmp_path / "sea", tmp_path / "absent"):
        done = run("train.py", folder)
        assert done.returncode == 1, done.stdout
    for file in photos.glob("*/*.jpg"):
        file.write_bytes(b"broken")
    done = run("train.py", photos, "--epochs", "1")
    assert done.returncode == 1 and "none of the files" in done.stderr


def test_the_loader_decodes_ahead(photos, monkeypatch):
    """While the caller holds a batch, the next ones are decoded."""
    monkeypatch.syspath_prepend(str(SAMPLES))
    import threading

    import loader
    paths = loader.jpegs(photos / "sea")
    assert len(paths) == 40
    begun, decode_batch = [], zerorun.decode_batch
    third = threading.Event()

    def counted(chunk, *arguments, **options):
        begun.append(len(chunk))
        if len(begun) == 3:
            third.set()
        return decode_batch(chunk, *arguments, **options)
    monkeypatch.setattr(zerorun, "decode_batch", counted)
    batches = loader.named_batches(paths, 9, device="cpu", ahead=2)
    names = [path for path, _ in next(batches)]
    assert third.wait(60)  # it needs no call of next()
    names += [path for batch in batches for path, _ in batch]
    assert names == paths and begun == [9, 9, 9, 9, 4]
    pictures = [picture for batch in loader.batches(photos / "sea", 9, device="cpu") for picture in batch]
    assert len(pictures) == 40 and pictures[3].shape == zerorun.decode(open(paths[3], "rb").read()).shape
