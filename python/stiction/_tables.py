"""Tables of recordings as NumPy columns, Arrow, pandas and polars; and recording in a with block."""

from __future__ import annotations

import importlib
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._core import Recording, Simulation

Columns = list[tuple[str, str, Any]]
"""Name, unit, and values or (codes, words)."""


def _library(name: str, table: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ImportError(
            f"{name} is not installed, which the table '{table}' was asked for: pip install {name}, "
            "or recording.read(table) for NumPy arrays"
        ) from None


def columns(table: Columns, _name: str) -> dict[str, Any]:
    """NumPy arrays by name."""
    return {
        name: np.asarray(values[1], dtype=str)[values[0]] if isinstance(values, tuple) and values[1] else _plain(values)
        for name, _, values in table
    }


def _plain(values: Any) -> Any:
    return np.empty(0, dtype="U1") if isinstance(values, tuple) else values


def to_arrow(table: Columns, name: str) -> Any:
    """A ``pyarrow.Table``."""
    pa = _library("pyarrow", name)
    arrays, fields = [], []
    for column, unit, values in table:
        if isinstance(values, tuple):
            codes, words = values
            array = pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(words, type=pa.string()))
        else:
            array = pa.array(values)
        arrays.append(array)
        fields.append(pa.field(column, array.type, metadata={"unit": unit} if unit else None))
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def to_pandas(table: Columns, name: str) -> Any:
    """A ``pandas.DataFrame``."""
    pd = _library("pandas", name)
    return pd.DataFrame(
        {
            column: pd.Categorical.from_codes(*values) if isinstance(values, tuple) else values
            for column, _, values in table
        }
    )


def to_polars(table: Columns, name: str) -> Any:
    """A ``polars.DataFrame``."""
    pl = _library("polars", name)
    series = []
    for column, _, values in table:
        if isinstance(values, tuple):
            codes, words = values
            text = [words[code] for code in codes]
            series.append(pl.Series(column, text, dtype=pl.String).cast(pl.Categorical))
        else:
            series.append(pl.Series(column, values))
    return pl.DataFrame(series)


class Recorded:
    """Records the steps of a with block; entered, it gives the recording."""

    def __init__(self, simulation: Simulation, path: str | PathLike[str], format: str, replace: bool) -> None:
        self._simulation = simulation
        self._path = path
        self._settings: dict[str, Any] = {"format": format, "replace": replace}

    def __enter__(self) -> Recording:
        from ._core import Recording

        self._simulation.start_recording(self._path, **self._settings)
        return Recording._at(self._path)

    def __exit__(self, *_: object) -> None:
        self._simulation.stop_recording()

    def __repr__(self) -> str:
        return f"<recording of {self._simulation!r} to {str(self._path)!r}: use it in a with statement>"
