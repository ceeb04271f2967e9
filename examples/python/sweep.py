"""A sweep over processes: how high a ball bounces for each coefficient of restitution."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

import stiction as st


def drop() -> st.Scene:
    scene = st.Scene("drop", h=1e-4, duration=1.0)
    scene.add_material("rubber", friction=0.5, restitution=0.5)
    scene.add_world("ground", shape="half_space", material="rubber")
    scene.add_body("ball", shape={"sphere": {"radius": 0.05}}, mass=0.1, material="rubber", position=[0, 0, 1.05])
    return scene


def bounce(scene: st.Scene) -> float:
    """Height of the first bounce above the ground, m."""
    sim = st.Simulation(scene)
    while sim.v["ball"][2] <= 0:
        sim.step()
    while sim.v["ball"][2] > 0:
        sim.step()
    return float(sim.q["ball"][2] - 0.05)


def main() -> None:
    values = np.linspace(0.3, 0.9, 4)
    scenes = []
    for restitution in values:
        scene = drop()
        scene.set("material[rubber].restitution", restitution)
        scenes.append(scene)
    with ProcessPoolExecutor(2, mp_context=get_context("forkserver")) as pool:
        heights = list(pool.map(bounce, scenes))
    for restitution, height in zip(values, heights):
        print(f"restitution {restitution:.1f}: {height:.4f} m (theory {restitution**2:.4f})")


if __name__ == "__main__":
    main()
