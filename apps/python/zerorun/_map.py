# The iterator of AsyncEncoder.map() and AsyncDecoder.map().
# SPDX-License-Identifier: MIT
"""The class Mapped."""
from typing import Any, Iterable, Iterator


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
