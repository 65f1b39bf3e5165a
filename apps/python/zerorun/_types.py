# Values that the package returns.
# SPDX-License-Identifier: MIT
"""Headers of streams, reports of decoders, results of frames in flight, and the iterator over these."""
from __future__ import annotations

from typing import Any, Iterable, Iterator, NamedTuple, Optional, Tuple

from ._errors import Error


class Component(NamedTuple):
    """A component of a stream."""

    id: int
    h: int  # Horizontal sampling factor
    v: int  # Vertical sampling factor
    quant_table: int
    width: int  # Samples in a row
    height: int


class StreamInfo(NamedTuple):
    """What the headers of a stream say."""

    width: int
    height: int
    color: str  # 'gray', 'ycbcr', 'rgb', 'cmyk', 'inverted cmyk' (255 is no ink: Adobe's) or 'ycck' (Adobe's)
    subsampling: Optional[str]  # '420', ... or None for factors without such a name
    components: Tuple[Component, ...]
    quality: Optional[int]  # On libjpeg's scale, if the tables are the usual ones
    restart_interval: int  # MCUs between restart markers; 0: none
    extended: bool
    has_jfif: bool
    standard_huffman: bool
    pixel_aspect: Tuple[int, int]
    exif_orientation: int  # 1 to 8; 1 where there is none. Decoders do not apply it
    segments: Tuple[Tuple[int, bytes], ...]  # APPn and COM segments in order: (marker, payload)
    header_bytes: int
    progressive: bool


class Report(NamedTuple):
    """What a decoder found in a stream."""

    bytes_consumed: int  # To the end of the image; the next one starts here or later
    intervals: int
    concealed_intervals: int  # Damaged parts that were concealed; 0 for a sound stream
    cpu_scans: int  # Scans that the CUDA backend left to the CPU: damaged ones, and those of progressive streams
    first_problem: Optional[Error]


class Device(NamedTuple):
    """A CUDA device."""

    name: str  # As for device=: 'cuda:0'
    model: str
    compute_capability: Tuple[int, int]
    memory_bytes: int
    multiprocessors: int
    usable: bool
    reason: str  # Why it is not usable; empty if it is


class Coded(NamedTuple):
    """A frame that comes back from AsyncEncoder or AsyncDecoder."""

    number: int  # Counted from 0 in the order of submit()
    tag: Any  # As given to submit()
    value: Any  # The bytes or the array(s); None after an error
    error: Optional[Error]  # None if all is well


class Mapped:
    """Inputs into a coder and its results out, in order. An error leaves next(), which may be called again."""

    def __init__(self, coder: Any, inputs: Iterable[Any]) -> None:
        self._coder = coder
        self._inputs = iter(inputs)
        self._ended = False

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        coder = self._coder
        while not self._ended and coder.in_flight < coder.depth:
            for item in self._inputs:
                coder.submit(item)
                break
            else:
                self._ended = True
        coded = next(coder)
        if coded.error is not None:
            raise coded.error
        return coded.value


class VideoInfo(NamedTuple):
    """What a video file says."""

    width: int
    height: int
    fps: Any  # A fractions.Fraction, or None where the file has no rate (raw MJPEG)
    frame_count: int  # -1 if it is not known before reading
    container: str
