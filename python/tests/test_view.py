"""What notebooks show: the viewer with a recording or with the steps of a simulation, in one piece."""

import base64
import gzip
import html
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import SCENES
from numpy.typing import NDArray

import stiction as st


def page_of(shown: st.Recording | st.Simulation) -> str:
    """The page in the frame that a notebook shows."""
    frame = re.fullmatch(r'<iframe srcdoc="([^"]*)" [^<>]*></iframe>', shown._repr_html_())
    assert frame
    return html.unescape(frame[1])


def clip_of(page: str) -> tuple[dict[str, Any], NDArray[np.float64]]:
    """The head of the clip in a page, and the times of its frames."""
    data = re.search(r'<script type="text/plain" id="clip">([^<]+)</script>', page)
    assert data
    whole = gzip.decompress(base64.b64decode(data[1]))
    size = int.from_bytes(whole[:4], "little")
    head = json.loads(whole[4 : 4 + size])
    assert head["columns"][0]["name"] == "time"
    return head, np.frombuffer(whole, "<f8", head["columns"][0]["count"], 4 + size)


def test_a_recording_shows_itself_without_any_address(sphere: st.Simulation, tmp_path: Path) -> None:
    recording = sphere.run(0.05, record=tmp_path / "r").recording
    assert recording
    page = page_of(recording)
    assert page.lstrip().lower().startswith("<!doctype html") and page.rstrip().endswith("</html>")
    # names of XML are no addresses
    addresses = set(re.findall(r"(?:https?|wss?):?//[\w.]+", page)) - {"http://www.w3.org"}
    assert not addresses and not re.search(r"<(?:link|script|img)[^>]+(?:src|href)\s*=\s*[\"'](?!data:)", page)
    head, times = clip_of(page)
    np.testing.assert_array_equal(times, np.unique(recording["bodies"]["time"]))
    assert head["contacts"] and 'name = "ball"' in head["text"]


def test_a_simulation_shows_the_steps_that_it_made(sphere: st.Simulation) -> None:
    assert list(clip_of(page_of(sphere))[1]) == [0.0]
    sphere.step(5)
    sphere.run(steps=5)
    sphere.step_with_derivatives()
    head, times = clip_of(page_of(sphere))
    np.testing.assert_allclose(times, 1e-3 * np.arange(12), atol=1e-15)
    # one contact in every frame but the first
    assert next(c["count"] for c in head["columns"] if c["name"] == "fx") == 11
    # what the user moves is one more frame, another state another motion
    sphere.q["ball"][0] = 7
    assert len(clip_of(page_of(sphere))[1]) == 13
    assert len(clip_of(page_of(sphere))[1]) == 13
    sphere.step()
    assert clip_of(page_of(sphere))[1][-1] == sphere.time
    sphere.reset()
    assert list(clip_of(page_of(sphere))[1]) == [0.0]


@pytest.mark.parametrize(("name", "steps"), [("sliding-sphere", 5000), ("balls-200", 500)])
def test_long_runs_show_frames_evenly_spaced(name: str, steps: int) -> None:
    sim = st.Simulation(SCENES / f"{name}.toml")
    sim.step(steps)
    page = page_of(sim)
    head, times = clip_of(page)
    apart = np.diff(times[:-1]) / sim.model.h
    assert times[0] == 0 and times[-1] == sim.time and len(page) < 6e6
    np.testing.assert_allclose(apart, apart[0], rtol=1e-9)
    assert 20 < len(times) < 1002
    assert head["warnings"] == [f"a frame every {round(apart[0])} steps"]
