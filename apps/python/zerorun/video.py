# Motion JPEG files: pictures in, pictures out.
# SPDX-License-Identifier: MIT
"""VideoWriter and VideoReader."""
from __future__ import annotations

import os
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Iterator, List, Optional, Tuple, Union

from . import _zerorun
from ._errors import ArgumentError
from ._types import VideoInfo

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._types import DecodeOptions, EncodeOptions


def _rate(fps: Any) -> Fraction:
    """An exact rate: 25, '30000/1001', Fraction; 29.97 and 23.976 mean the fractions of video."""
    rate = Fraction(fps) if not isinstance(fps, float) else Fraction(fps).limit_denominator(1001)
    if not 0 < rate <= 1000000:
        raise ArgumentError(f"fps is {fps}, but must be from 0 to 1000000", "invalid_argument",
                            100)
    return rate


class VideoWriter:
    """Writes pictures as a Motion JPEG file; several are coded at a time.

        with zerorun.VideoWriter('shot.mjpeg', fps=25, quality=90) as video:
            for frame in frames:
                video.write(frame)

    path ends in .mjpeg, or is a pattern '%05d.jpg'; with a build that has FFmpeg also .mov, .mkv,
    .avi, .mp4. The file is written as NAME.part and gets its name in close(); without
    close(), or after an error inside `with`, nothing is left. Options are those of encode().
    """

    def __init__(self, path: Union[str, "os.PathLike[str]"], fps: Any = 25, *,
                 overwrite: bool = False, lanes: int = 0, depth: int = 0,
                 **options: Unpack[EncodeOptions]) -> None:
        rate = _rate(fps)
        self._file = _zerorun.PacketWriter(os.fspath(path), rate.numerator, rate.denominator,
                                           overwrite)
        self._encoder = _zerorun.AsyncEncoder(lanes=lanes, depth=depth, **options)
        self._is_closed = False

    def write(self, image: Any, *, format: Optional[str] = None,
              size: Optional[tuple[int, int]] = None) -> None:
        """Adds a picture; see zerorun.encode() for what it may be. It may be changed and used
        again when the call returns only if a copy was given: frames are coded later."""
        self._write_oldest(self._encoder.depth - 1)
        self._encoder.submit(image, format=format, size=size)

    def write_packet(self, jpeg: Any) -> None:
        """Adds a JPEG stream as it is, after the pictures given before."""
        self._write_oldest(0)
        self._file.write(jpeg)

    @property
    def frames(self) -> int:
        """Pictures that are in the file so far."""
        return self._file.frames

    def close(self) -> None:
        """Writes the end of the file and gives it its name."""
        if self._is_closed:
            return
        try:
            self._write_oldest(0)
            self._file.finish()
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Removes what was written."""
        self._is_closed = True
        self._encoder.close()
        self._file.abandon()

    def __enter__(self) -> VideoWriter:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()

    def _write_oldest(self, left: int) -> None:
        """Until so many pictures are in flight."""
        if self._is_closed:
            raise ArgumentError("the video is closed", "already_finished", 102)
        while self._encoder.in_flight > left:
            done = self._encoder.receive()
            if done is None:
                return
            if done.error is not None:
                raise done.error
            self._file.write(done.value)


class VideoReader:
    """Reads a Motion JPEG file as pictures; several are decoded at a time.

        for rgb in zerorun.VideoReader('shot.mjpeg'):
            ...

    Reads .mjpeg, .jpg and patterns of .jpg; with a build that has FFmpeg also .mov, .mkv, .avi,
    .mp4. `format` and the options are those of decode().
    """

    def __init__(self, path: Union[str, "os.PathLike[str]"], format: str = "rgb24", *,
                 lanes: int = 0, depth: int = 0, **options: Unpack[DecodeOptions]) -> None:
        self._file = _zerorun.PacketReader(os.fspath(path))
        self._decoder = _zerorun.AsyncDecoder(format, lanes=lanes, depth=depth, **options)
        self._pictures = self._decoder.map(self.packets())

    @property
    def info(self) -> VideoInfo:
        """Size, rate and number of the frames, as far as the file tells them."""
        width, height, num, den, count, container = self._file.info()
        return VideoInfo(width, height, Fraction(num, den) if num > 0 else None, count, container)

    @property
    def facts(self) -> List[Tuple[str, str]]:
        """What the file has beside its pictures, as `zerorun info` lists it; none of it is read.

        Pairs of a word and a text, such as ("sound", "the sound (aac)").
        """
        return self._file.facts()

    def packets(self) -> Iterator[bytes]:
        """The JPEG streams from here on, as they are."""
        yield from iter(self._file.read, None)

    def seek(self, frame: int) -> int:
        """The next picture is number `frame`, counted from 0 by the rate. Returns its number."""
        found = self._file.seek(frame)
        self._decoder.discard()
        self._pictures = self._decoder.map(self.packets())
        return found

    def close(self) -> None:
        """Gives up file and decoder."""
        self._decoder.close()
        self._file.close()

    def __iter__(self) -> VideoReader:
        return self

    def __next__(self) -> Any:
        return next(self._pictures)

    def __enter__(self) -> VideoReader:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.close()
