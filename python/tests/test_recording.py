"""Recordings: written by runs and steps, read as tables."""

from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest
from conftest import SCENES

import stiction as st


def test_a_recorded_run_is_read_as_every_kind_of_table(sphere: st.Simulation, tmp_path: Path) -> None:
    recording = sphere.run(0.1, record=tmp_path / "r").recording
    assert recording is not None and recording.tables == ["bodies", "contacts", "steps", "events"]
    columns = recording["bodies"]
    assert columns["time"].shape == (101,) and columns["body"].tolist() == ["ball"] * 101
    assert columns["vx"][-1] == sphere.v[0] and columns["x"][-1] == sphere.q[0]
    arrow, pandas, polars = (f("contacts") for f in (recording.to_arrow, recording.to_pandas, recording.to_polars))
    stored = pyarrow.parquet.read_table(tmp_path / "r" / "contacts.parquet")
    assert arrow.column_names == stored.column_names == list(pandas.columns) == polars.columns
    for name in ("time", "force_n", "fx", "status", "element"):
        values = stored[name].to_pylist()
        assert arrow[name].to_pylist() == pandas[name].tolist() == polars[name].to_list() == values
    assert arrow.schema.field("force_n").metadata == {b"unit": b"N"} and recording.units("contacts")["gap"] == "m"
    assert pandas["status"].dtype == "category"
    assert recording.scene == sphere.model.scene and recording.state() == sphere.state
    assert st.Recording(recording).path == tmp_path / "r"


def test_steps_are_recorded_in_a_with_block(sphere: st.Simulation, tmp_path: Path) -> None:
    whole = st.Simulation(sphere.model)
    expected = whole.run(0.05, record=tmp_path / "whole").recording
    with sphere.record(tmp_path / "single", format="csv") as recording:
        for _ in range(50):
            sphere.step()
    assert expected is not None
    for table in expected.tables:
        for name, values in expected[table].items():
            np.testing.assert_array_equal(recording[table][name], values, err_msg=f"{table}.{name}")


def test_recordings_are_protected_and_faults_are_told(sphere: st.Simulation, tmp_path: Path) -> None:
    sphere.run(0.01, record=tmp_path / "r")
    with pytest.raises(st.RecordingError, match="there is a recording already"):
        sphere.run(0.01, record=tmp_path / "r")
    assert sphere.time == pytest.approx(0.01)
    sphere.run(0.01, record=tmp_path / "r", replace=True)
    with pytest.raises(OSError, match="nowhere"):
        st.Recording(tmp_path / "nowhere")
    recording = st.Recording(tmp_path / "r")
    with pytest.raises(KeyError, match="unknown table 'body', did you mean|expected one of"):
        recording.read("body")
    with pytest.raises(ValueError, match="format = 'xml', expected 'parquet' or 'csv'"):
        recording.export(tmp_path / "x", "xml")  # type: ignore[arg-type]
    exported = recording.export(tmp_path / "csv")
    np.testing.assert_array_equal(exported["bodies"]["x"], recording["bodies"]["x"])
    sphere.start_recording(tmp_path / "s")
    with pytest.raises(RuntimeError, match="already recording to"):
        sphere.start_recording(tmp_path / "t")
    sphere.stop_recording()
    with pytest.raises(RuntimeError, match="not recording"):
        sphere.stop_recording()
    for file in (tmp_path / "r").glob("*"):
        file.unlink()
    with pytest.raises(st.RecordingError, match="no recording"):
        recording.read("bodies")
    assert "no recording" in repr(recording)


def test_joints_have_a_table(tmp_path: Path) -> None:
    sim = st.Simulation(SCENES / "double-pendulum.toml")
    recording = sim.run(0.1, record=tmp_path / "p").recording
    assert recording is not None and "joints" in recording.tables
    assert set(recording["joints"]["joint"].tolist()) == {"upper", "lower"}


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch, sphere: st.Simulation, tmp_path: Path) -> None:
    recording = sphere.run(0.01, record=tmp_path / "r").recording
    assert recording is not None
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    with pytest.raises(ImportError, match="polars is not installed.*pip install polars"):
        recording.to_polars("bodies")
