# Which CUDA stream a call uses.
# SPDX-License-Identifier: MIT
"""Handles of CUDA streams: of PyTorch, CuPy, Numba, and plain numbers."""
from __future__ import annotations

import sys
from typing import Any


def handle(stream: Any, array: Any) -> int:
    """The cudaStream_t of `stream`, or of the library that made `array`; 0 is the default one."""
    if stream is None:
        return _current(array[0] if isinstance(array, (tuple, list)) and array else array)
    if isinstance(stream, int):
        return stream
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        pair = protocol() if callable(protocol) else protocol
        return int(pair[1])
    for name in ("cuda_stream", "ptr", "handle"):
        value = getattr(stream, name, None)
        if isinstance(value, int):
            return value
    raise TypeError(f"stream is {type(stream).__name__}, but must be an int, or a stream of "
                    "PyTorch, CuPy or Numba")


def _current(array: Any) -> int:
    library = type(array).__module__.partition(".")[0]
    module = sys.modules.get(library)
    if library == "torch" and module is not None:
        return module.cuda.current_stream(array.device).cuda_stream if array.is_cuda else 0
    if library == "cupy" and module is not None:
        return int(module.cuda.get_current_stream().ptr)
    interface = getattr(array, "__cuda_array_interface__", None)
    if isinstance(interface, dict) and isinstance(interface.get("stream"), int):
        return int(interface["stream"])
    return 0
