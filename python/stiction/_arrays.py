"""Arrays with names, structured arrays, and checks of what users pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._core import _unknown

if TYPE_CHECKING:
    from ._core import StepReport


class NamedArray(np.ndarray):
    """Array of doubles whose entries (or rows) also have the names of the scene.

    It is a NumPy array in every way; text as an index gives the entry or the part of that name. Slices, copies and
    results of arithmetic are plain arrays.

    Examples
    --------
    >>> sim.q["elbow"]              # a number, for a joint with one coordinate
    >>> sim.q["box"][:3] = 0        # a view, for others
    >>> sim.q + 1                   # a plain array
    """

    _index: Mapping[str, int | slice | list[int]] | None
    _what: str

    def __new__(cls, array: NDArray[np.float64], index: Mapping[str, Any], what: str) -> NamedArray:
        """View of an array with names; ``what`` is what the names stand for."""
        self = array.view(cls)
        self._index = index
        self._what = what
        return self

    def __array_finalize__(self, obj: object) -> None:
        # order and length may differ from those of the names
        self._index = None
        self._what = "name"

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        plain = np.asarray(array)
        return plain[()] if return_scalar else plain

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        found = super().__array_function__(func, types, args, kwargs)
        return found.view(np.ndarray) if isinstance(found, NamedArray) and found._index is None else found

    def _place(self, name: str) -> Any:
        index = self._index
        if index is None:
            raise KeyError(f"'{name}': this array has no names")
        try:
            return index[name]
        except KeyError:
            raise _unknown(self._what, name, list(index)) from None

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            key = self._place(key)
        found = super().__getitem__(key)
        return found.view(np.ndarray) if isinstance(found, np.ndarray) else found

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, str):
            name, key = key, self._place(key)
            try:
                super().__setitem__(key, value)
            except (ValueError, TypeError) as error:
                expected = np.shape(super().__getitem__(key))
                raise type(error)(_misfit(f"[{name!r}]", value, expected)) from None
            return
        super().__setitem__(key, value)

    def __setattr__(self, name: str, value: Any) -> None:
        # arrays of a class of one's own take any attribute, and nothing would happen
        if name not in ("_index", "_what") and not hasattr(type(self), name):
            raise AttributeError(f"'{name}' is no attribute; entries have their names in brackets: [{name!r}]")
        super().__setattr__(name, value)

    def copy(self, order: Any = "C") -> NDArray[np.float64]:  # type: ignore[override]
        """Plain copy, without names."""
        return np.array(self, order=order, subok=False)

    def keys(self) -> list[str]:
        """Names, in order."""
        return list(self._index or {})

    def items(self) -> Iterator[tuple[str, Any]]:
        """Names and values, in order."""
        return ((name, self[name]) for name in self.keys())

    def __contains__(self, key: object) -> bool:
        if isinstance(key, str):
            return key in (self._index or {})
        return bool(super().__contains__(key))

    def _ipython_key_completions_(self) -> list[str]:
        return self.keys()

    def __reduce__(self) -> Any:
        return np.asarray(self).copy().__reduce__()

    def __repr__(self) -> str:
        if not self._index:
            return repr(np.asarray(self))
        width = max(len(name) for name in self._index)
        shown = list(self.items())
        lines = [f"  {name:<{width}}  {np.array2string(np.asarray(value), precision=6)}" for name, value in shown[:20]]
        if len(shown) > 20:
            lines.append(f"  ... {len(shown) - 20} more")
        return "NamedArray, shape {}:\n{}".format(self.shape, "\n".join(lines))


class ContactProblem(NamedTuple):
    """Contact problem ``s = A lambda + b`` of a step, as ``solve_friction`` takes it."""

    A: NDArray[np.float64]
    """Matrix, rows contact by contact, the normal first."""
    b: NDArray[np.float64]
    """Vector."""
    mu: NDArray[np.float64]
    """Coefficient of friction of each contact."""


class StepDerivative(NamedTuple):
    """Derivative of a step; rows are those of the tangent after it.

    A tangent lists the displacement of the configuration in the coordinates of ``v`` (``model.v_names``), the change
    of ``v``, and the change of the deformations that contacts remember.
    """

    report: StepReport
    """Report of the step."""
    state: NDArray[np.float64]
    """dx+/dx: with the tangent before the step."""
    effort: NDArray[np.float64]
    """dx+/du: with the efforts on the degrees of freedom, constant in the step."""
    parameters: NDArray[np.float64]
    """dx+/dp: with the parameters asked for, for the same state before the step."""
    exact: bool
    """Whether there is one derivative only: no contact is between sticking and slipping, open and closed."""
    notes: list[tuple[float, str, str]]
    """Where one was chosen of several: time, contact, choice."""


def _misfit(name: str, value: Any, expected: tuple[int, ...]) -> str:
    try:
        found = np.asarray(value)
    except ValueError:
        return f"{name}: rows of different lengths, expected an array of shape {expected}"
    if found.dtype.kind not in "biuf":
        return f"{name}: dtype {found.dtype}, expected real numbers"
    return f"{name}: shape {found.shape}, expected {expected}"


def floats(
    value: Any, name: str, dimensions: int, shape: tuple[int, ...] | None = None, nan: bool = False
) -> NDArray[np.float64]:
    """A contiguous array of finite doubles (or NaN, if allowed) with so many dimensions, or broadcast to a shape."""
    try:
        array = np.asarray(value)
    except ValueError:
        raise ValueError(f"{name}: rows of different lengths, expected an array") from None
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name}: dtype {array.dtype}, expected real numbers")
    if shape is not None:
        shape = tuple(shape)
        # a missing first dimension stands for all states of a batch
        if array.shape not in (shape, shape[1:]) or not array.shape:
            raise ValueError(f"{name}: shape {array.shape}, expected {shape}")
        array = np.broadcast_to(array, shape)
    elif array.ndim != dimensions:
        raise ValueError(f"{name}: shape {array.shape}, expected {dimensions} dimension{'s' * (dimensions > 1)}")
    array = np.ascontiguousarray(array, dtype=np.float64)
    wrong = np.isinf(array) if nan else ~np.isfinite(array)
    if wrong.any():
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise ValueError(f"{name}[{', '.join(map(str, place))}] = {array[place]}, expected a finite number")
    return array


def assign(target: NDArray[np.float64], value: Any, name: str, nan: bool = False) -> None:
    """Copies a value of the right shape into an array; a mapping sets the named parts."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            target[key] = part
        return
    target[...] = floats(value, name, target.ndim, target.shape, nan)


def booleans(value: Any, name: str) -> list[bool]:
    """A list of booleans."""
    array = np.asarray(value)
    if array.ndim != 1 or array.dtype.kind not in "b" and not np.isin(array, (0, 1)).all():
        raise TypeError(f"{name}: {array.dtype} of shape {array.shape}, expected a list of booleans")
    return [bool(x) for x in array]


def indices(which: Any, length: int) -> list[int]:
    """Indices of a mask, of indices, or of one index."""
    array = np.asarray(which)
    if array.dtype.kind not in "bi" and array.size > 0:
        raise TypeError(f"which: dtype {array.dtype}, expected booleans or integers")
    if array.dtype.kind == "b" and array.shape != (length,):
        raise ValueError(f"which: a mask of shape {array.shape}, expected ({length},)")
    try:
        return [int(i) for i in np.atleast_1d(np.arange(length)[array.astype(int) if array.size == 0 else array])]
    except IndexError as error:
        raise IndexError(f"which: {error}") from None


def structured(columns: Sequence[tuple[str, Any]]) -> NDArray[np.void]:
    """A structured array from columns: lists of text, or arrays whose first dimension counts the records."""
    arrays = [(name, np.asarray(values, dtype=str) if isinstance(values, list) else values) for name, values in columns]
    length = len(arrays[0][1])
    dtype = [(name, values.dtype if values.dtype.itemsize else "U1", values.shape[1:]) for name, values in arrays]
    records = np.empty(length, dtype=dtype)
    for name, values in arrays:
        records[name] = values
    return records
