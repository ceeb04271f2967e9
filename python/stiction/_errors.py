"""Exceptions of the package."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ._core import Run


class Fault(NamedTuple):
    """One fault of a scene."""

    path: str
    """Path of the value, as ``Scene.set`` takes it; empty if the fault is about the whole scene."""
    message: str
    """What is wrong, and what was expected."""
    suggestion: str | None = None
    """The nearest known name, if a name is unknown."""
    place: tuple[int, int] | None = None
    """Line and column in the file, if the scene was read from one."""


class Error(Exception):
    """Base of the package's own exceptions."""


class SceneError(Error, ValueError):
    """A scene is not valid; ``faults`` lists everything that is wrong."""

    faults: tuple[Fault, ...] = ()


class SceneWarning(UserWarning):
    """Something in a scene is allowed and most likely not meant."""


class RunWarning(UserWarning):
    """A run made energy, booked some without a cause, or had steps with two motions: ``Run.warnings``."""


class StepError(Error, RuntimeError):
    """A step failed; the state is the one before it, at ``time``. A run adds its summary as ``run``."""

    time: float
    run: Run | None = None

    def __init__(self, message: str, time: float = 0.0) -> None:
        super().__init__(message)
        self.time = time


class RecordingError(Error, OSError):
    """A recording or a saved state cannot be written or read."""


def scene_error(message: str, faults: list[tuple[str, str, str | None, tuple[int, int] | None]]) -> SceneError:
    """The exception with its faults."""
    error = SceneError(message)
    error.faults = tuple(Fault(*fault) for fault in faults)
    return error
