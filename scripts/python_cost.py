#!/usr/bin/env python3
"""What Python costs: CPU time of a step from Python and in Rust, of one sphere at rest, and of what a control loop reads.

Run it with the package installed: target/python/bin/python scripts/python_cost.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import stiction as st

SCENES = Path(__file__).parents[1] / "scenes"
ROUNDS = 9


def cost(work: Callable[[], object], count: int) -> float:
    """CPU time of one of `count` things that `work` does, us."""
    begin = time.process_time()
    work()
    return 1e6 * (time.process_time() - begin) / count


def repeat(call: Callable[[], object], count: int) -> Callable[[], None]:
    def loop() -> None:
        for _ in range(count):
            call()

    return loop


def overhead(steps: int, scene: str = "sphere-on-plane.toml") -> tuple[float, float]:
    """CPU time of a step from Python and in Rust (a batch of one state on one thread), us: the least of interleaved rounds."""
    model = st.Model(SCENES / scene)
    sim, batch = st.Simulation(model), st.Batch(model, 1, threads=1)
    sim.step(steps)
    batch.step(n=steps)
    loop = repeat(sim.step, steps)
    rounds = [(cost(loop, steps), cost(lambda: batch.step(n=steps), steps)) for _ in range(ROUNDS)]
    return min(python for python, _ in rounds), min(rust for _, rust in rounds)


def main() -> None:
    for scene, steps in (("sphere-on-plane.toml", 50_000), ("box-on-plane.toml", 20_000), ("stack-of-ten.toml", 1000)):
        python, rust = overhead(steps, scene)
        print(f"{scene}: {python:.3f} us a step from Python, {rust:.3f} in Rust: {python - rust:.3f} us more")
    sim = st.Simulation(SCENES / "double-pendulum.toml")
    sim.step()

    def control() -> None:
        sim.effort["lower"] = 2.0 * (1.0 - sim.q["lower"]) - sim.v["lower"]

    sphere = st.Simulation(SCENES / "sphere-on-plane.toml")
    sphere.step()
    for name, call in (("a PD law by name", control), ("sim.contacts()", sphere.contacts), ("sim.state", lambda: sim.state)):
        print(f"{name}: {min(cost(repeat(call, 2000), 2000) for _ in range(ROUNDS)):.2f} us")


if __name__ == "__main__":
    main()
