"""A gripper pulls up faster than friction can hold its box: finger forces, and how fast the box falls behind."""

from pathlib import Path

import stiction as st

SCENE = Path(__file__).parents[2] / "scenes" / "gripper-slips.toml"


def main() -> None:
    sim = st.Simulation(SCENE)
    sim.run(until=0.3)
    weight = 9.81 * sim.model.masses["box"]
    carried = sim.contact_force("box", "table")[2]
    print(f"before the pull the table carries the box: {carried:.4f} N (theory {weight:.4f} N)")

    before = sim.v["box"][2]
    sim.run(until=0.4)
    lifted = (sim.v["box"][2] - before) / 0.1
    squeeze, friction, mass = 20.0, 0.5, 1.0
    print(f"pulled: the box accelerates by {lifted:.4f} (theory {2 * friction * squeeze / mass - 9.81:.4f}) m/s^2")
    contacts = sim.contacts()
    for finger in ("left finger", "right finger"):
        touching = contacts[(contacts["body_a"] == finger) | (contacts["body_b"] == finger)]
        print(f"{finger}: {len(touching)} elements, {set(touching['status'].tolist())}, "
              f"normal force {touching['force_n'].sum():.4f} N")


if __name__ == "__main__":
    main()
