# The keywords of the coders, for type checkers.
# SPDX-License-Identifier: MIT
"""EncodeOptions, DecodeOptions, TranscodeOptions, and names for what arguments may be."""
from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple, TypedDict, Union


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
