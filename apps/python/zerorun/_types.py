# What the package takes, for type checkers, and what it returns.
# SPDX-License-Identifier: MIT
"""EncodeOptions, DecodeOptions, TranscodeOptions and names for what arguments may be; headers of
streams, reports of decoders, results of frames in flight, and the iterator over these."""
from __future__ import annotations

from typing import (Any, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple, TypedDict,
                    Union)

from ._errors import Error

Image = Any
"""An array of uint8, or a tuple of planes: numpy, the buffer protocol, DLPack, CUDA arrays."""
Data = Any
"""A JPEG stream: bytes, or anything with the buffer protocol; uint8 arrays on a GPU."""
Stream = Any
"""A CUDA stream: None, a number, or a stream of PyTorch, CuPy or Numba."""


class EncodeOptions(TypedDict, total=False):
    """Options of encode(); its help explains them."""

    quality: int
    subsampling: Union[str, int, None]
    huffman: str
    tune: str
    effort: str
    tables: str
    target_size: Optional[int]
    max_size: Optional[int]
    target_psnr: Optional[float]
    target_ssim: Optional[float]
    restart: Union[str, int, None]
    progressive: bool
    luma_table: Optional[Sequence[Any]]
    chroma_table: Optional[Sequence[Any]]
    jfif_header: bool
    pixel_aspect: Tuple[int, int]
    segments: List[Tuple[int, bytes]]
    device: Any
    threads: int
    instruction_set: str


class ReadOptions(TypedDict, total=False):
    """Options of decode() and transcode()."""

    strict: bool
    max_pixels: int
    max_scans: int
    max_header_bytes: int
    threads: int
    instruction_set: str


class DecodeOptions(ReadOptions, total=False):
    """Options of decode(); its help explains them."""

    scale: Any
    region: Any
    upsampling: str
    device: Any


class TranscodeOptions(ReadOptions, total=False):
    """Options of transcode(); its help explains them."""

    optimize: bool
    scans: str
    restart: Union[str, int, None]
    rotate: Union[str, int]
    flip: str
    crop: Tuple[int, int, int, int]
    gray: bool
    edges: str
    verify: bool


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
