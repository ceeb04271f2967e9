"""A thousand boxes pushed at random speeds slide to rest on all cores; v^2 / (2 mu g) is where."""

import numpy as np

import stiction as st


def main(count: int = 1000) -> None:
    scene = st.Scene("sliding block")
    scene.add_material("wood", friction=0.4)
    scene.add_world("floor", shape="half_space", material="wood")
    scene.add_body("block", shape={"box": {"half": [0.1, 0.1, 0.02]}}, mass=2, material="wood", position=[0, 0, 0.02])
    batch = st.Batch(scene, count)

    speed = np.random.default_rng(1).uniform(0.2, 1.5, count)
    v = batch.v
    v[:, 0] = speed
    batch.v = v
    report = batch.step(n=600)
    print(report)

    distance, theory = batch.q[:, 0], speed**2 / (2 * 0.4 * 9.81)
    h = batch.model.h
    print(f"still moving: {np.count_nonzero(np.abs(batch.v).max(axis=1) > 1e-9)} of {count}")
    far, late = np.abs(distance - theory).max(), h * speed.max() / 2
    print(f"largest difference from theory: {far:.2e} m, h v / 2 is {late:.2e} m")


if __name__ == "__main__":
    main()
