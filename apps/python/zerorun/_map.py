# The iterator of AsyncEncoder.map() and AsyncDecoder.map().
# SPDX-License-Identifier: MIT
"""Inputs into a coder and its results out, in order."""
from __future__ import annotations

from typing import Any, Iterable, Iterator


class Mapped:
    """An error of an input leaves next(); a further next() goes on behind it."""

    def __init__(self, coder: Any, inputs: Iterable[Any]) -> None:
        self._coder = coder
        self._inputs = iter(inputs)
        self._ended = False

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        coder = self._coder
        while not self._ended and coder.in_flight < coder.depth:
            try:
                item = next(self._inputs)
            except StopIteration:
                self._ended = True
                break
            coder.submit(item)
        coded = next(coder)
        if coded.error is not None:
            raise coded.error
        return coded.value
