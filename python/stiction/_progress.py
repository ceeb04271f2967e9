"""The line that shows how far a run is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import monotonic
from typing import Any


class Line:
    """A line on standard error that is written over."""

    def __init__(self) -> None:
        self._begin = monotonic()
        self._width = 0

    def __call__(self, time: float, made: int, asked: int) -> None:
        share = made / asked if asked else 1.0
        spent = monotonic() - self._begin
        left = f", {spent * (1 - share) / share:.0f} s left" if 0 < share < 1 else ""
        text = f"t = {time:.4f} s, {100 * share:.0f} % in {spent:.1f} s{left}"
        print("\r" + text.ljust(self._width), end="", file=sys.stderr, flush=True)
        self._width = len(text)

    def close(self) -> None:
        """Ends the line."""
        print(file=sys.stderr, flush=True)


def display(progress: Any) -> Callable[[float, int, int], Any] | None:
    """What is called with the progress; None if nothing is."""
    if progress is None or progress is False:
        return None
    if progress is True:
        return Line()
    if callable(progress):
        return progress  # type: ignore[no-any-return]
    raise TypeError(f"progress: {type(progress).__name__}, expected True or a function of (time, made, asked)")
