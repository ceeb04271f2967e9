"""A two-link arm under a PD law with gravity compensation: control in the loop."""

import numpy as np

import stiction as st


def arm() -> st.Scene:
    scene = st.Scene("arm", planar=True, h=1e-3)
    link = {"joint": {"revolute": {}}, "mass": 1.0, "center": [0, -0.5], "inertia": 1 / 12}
    scene.add_body("shoulder", **link)
    scene.add_body("elbow", parent="shoulder", mount={"position": [0, -1]}, **link)
    return scene


def gravity_effort(q: np.ndarray, g: float = 9.81) -> np.ndarray:
    """Effort that holds the links against gravity: the gradient of the potential energy."""
    elbow = 0.5 * g * np.sin(q[0] + q[1])
    return np.array([1.5 * g * np.sin(q[0]) + elbow, elbow])


def main() -> None:
    sim = st.Simulation(arm())
    target = {"shoulder": 0.8, "elbow": -1.2}
    for _ in range(3000):
        sim.effort = gravity_effort(np.asarray(sim.q))
        for joint, angle in target.items():
            sim.effort[joint] += 40 * (angle - sim.q[joint]) - 12 * sim.v[joint]
        report = sim.step()
    for joint, angle in target.items():
        print(f"{joint}: {sim.q[joint]:.6f} rad, target {angle}")
    print(report)
    print(f"tip of the arm: {sim.position('elbow') + [np.sin(sim.q.sum()), -np.cos(sim.q.sum()), 0]}")


if __name__ == "__main__":
    main()
