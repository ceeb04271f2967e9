"""A recorded run as tables: where the energy of a sliding ball goes."""

import tempfile
from pathlib import Path

import stiction as st

SCENE = Path(__file__).parents[2] / "scenes" / "sliding-sphere.toml"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        sim = st.Simulation(SCENE)
        recording = sim.run(0.3, record=Path(folder) / "ball.recording").recording
        assert recording is not None
        print(recording.tables)

        steps = recording.to_pandas("steps")
        start, end = steps.iloc[0], steps.iloc[-1]
        print(f"kinetic energy {start.kinetic:.4f} -> {end.kinetic:.4f} J, lost to friction {end.friction_loss:.4f} J")
        print(f"unit of friction_loss: {recording.units('steps')['friction_loss']}")

        bodies = recording.to_polars("bodies")
        print(bodies.select("time", "x", "vx").tail(1))

        events = recording.to_arrow("events")
        for time, contact, event in zip(*(events[c].to_pylist() for c in ("time", "contact", "event"))):
            print(f"t = {time:.3f} s: {contact} {event}")

        again = st.Simulation(recording.scene, recording.state())
        print(f"continued from the recording: {again}")


if __name__ == "__main__":
    main()
