# The exceptions of the package.
# SPDX-License-Identifier: MIT
"""Exceptions: every one is an `Error`; subclasses say what kind."""
from __future__ import annotations

from typing import Any, Optional


class Error(Exception):
    """What went wrong, as one sentence (`str(error)`), and for programs as attributes.

    code              stable lower-case name, for example "bad_huffman_code"
    number            its number, as in the C++ library (hundreds are groups)
    group             "argument", "corrupt", "unsupported", "capacity", "device" or "io"
    byte_offset       bytes from the start of the stream, or None if unknown
    restart_interval  restart interval of the scan, counted from 0, or None
    detail            the part of the sentence that belongs to this case; may be empty
    """

    group = "none"

    def __init__(self, message: str, code: str = "", number: int = 0,
                 byte_offset: Optional[int] = None, restart_interval: Optional[int] = None,
                 detail: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.number = number
        self.byte_offset = byte_offset
        self.restart_interval = restart_interval
        self.detail = detail

    def __reduce__(self) -> Any:  # so that errors come back from worker processes
        return (type(self), (str(self), self.code, self.number, self.byte_offset,
                             self.restart_interval, self.detail))


class ArgumentError(Error, ValueError):
    """An argument is outside its documented range, or an array does not describe a picture."""

    group = "argument"


class CorruptError(Error):
    """The stream breaks ITU-T T.81."""

    group = "corrupt"


class UnsupportedError(Error):
    """The stream is legal, but zerorun does not decode it (arithmetic coding, 12 bits, ...)."""

    group = "unsupported"


class CapacityError(Error):
    """A limit was exceeded, or memory ran out."""

    group = "capacity"


class DeviceError(Error, RuntimeError):
    """CUDA was asked for and cannot be used, or a CUDA call failed."""

    group = "device"


class FileError(Error, OSError):
    """A file cannot be read or written."""

    group = "io"

    def __str__(self) -> str:
        return str(self.args[0])


# In the order of the library's ErrorGroup.
KINDS = (Error, ArgumentError, CorruptError, UnsupportedError, CapacityError, DeviceError, FileError)
