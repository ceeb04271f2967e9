"""The angle at which a box begins to slide is the friction angle: found by bisection over scenes."""

import math

import stiction as st


def slides(angle: float, friction: float) -> bool:
    """Whether a box at rest on a slope moves within 0.2 s."""
    turn = {"axis": [0, 1, 0], "angle": angle}
    scene = st.Scene("slope", duration=0.2)
    scene.add_material("wood", friction=friction)
    scene.add_world("slope", shape="half_space", material="wood", orientation=turn)
    scene.add_body(
        "box",
        shape={"box": {"half": [0.1, 0.1, 0.1]}},
        mass=1,
        material="wood",
        position=[0.1 * math.sin(angle), 0, 0.1 * math.cos(angle)],
        orientation=turn,
    )
    sim = st.Simulation(scene)
    sim.run()
    return float((sim.v**2).sum()) > 1e-12


def main() -> None:
    for friction in (0.2, 0.3, 0.5):
        low, high = 0.0, math.radians(40)
        for _ in range(20):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if slides(middle, friction) else (middle, high)
        angle = math.degrees(high)
        print(f"mu = {friction}: slides from {angle:.4f} degrees on (theory {math.degrees(math.atan(friction)):.4f})")


if __name__ == "__main__":
    main()
