"""What the tests share."""

from pathlib import Path

import pytest

import stiction as st

ROOT = Path(__file__).parents[2]
SCENES = ROOT / "scenes"


@pytest.fixture
def sphere() -> st.Simulation:
    """A ball set sliding at 1 m/s."""
    return st.Simulation(SCENES / "sliding-sphere.toml")


@pytest.fixture
def pendulum() -> st.Simulation:
    """Two rods on hinges, let go level."""
    return st.Simulation(SCENES / "double-pendulum.toml")
