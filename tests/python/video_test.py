# Motion JPEG files by Python, read by the program, and the other way round.
# SPDX-License-Identifier: MIT
import json
import shutil
import subprocess

import pytest
import zerorun

from support import needs_program, picture, run_program, same

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
    for name in ("q.gif", "q", "q.png", "no/such/folder/a.mjpeg"):
        with pytest.raises(zerorun.FileError, match=name):
            zerorun.VideoWriter(tmp_path / name)
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
