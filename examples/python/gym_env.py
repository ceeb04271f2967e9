"""A Gymnasium environment: push a block with a limited force so that it stops at a target in spite of friction."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

import stiction as st


class PushBlock(gym.Env[NDArray[np.float64], NDArray[np.float64]]):
    """A block on a rough floor; the action is a horizontal force, the observation position, velocity and target."""

    metadata = {"render_modes": []}

    def __init__(self, friction: float = 0.3, strength: float = 12.0, seconds: float = 2.0) -> None:
        scene = st.Scene("push", h=2e-3)
        scene.add_material("wood", friction=friction)
        scene.add_world("floor", shape="half_space", material="wood")
        scene.add_body(
            "block", shape={"box": {"half": [0.1, 0.1, 0.05]}}, mass=1, material="wood", position=[0, 0, 0.05]
        )
        self._sim = st.Simulation(scene)
        self._substeps, self._strength, self._seconds = 10, strength, seconds
        self._target = 0.0
        high = np.array([10.0, 20.0, 1.0])
        self.observation_space = gym.spaces.Box(-high, high, dtype=np.float64)
        self.action_space = gym.spaces.Box(-1.0, 1.0, (1,), dtype=np.float64)

    def _observation(self) -> NDArray[np.float64]:
        return np.array([self._sim.q["block"][0], self._sim.v["block"][0], self._target])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self._sim.reset()
        self._target = float(self.np_random.uniform(-0.5, 0.5))
        return self._observation(), {}

    def step(self, action: NDArray[np.float64]) -> Any:
        self._sim.force["block"] = [self._strength * float(np.clip(action[0], -1, 1)), 0, 0]
        report = self._sim.step(self._substeps)
        x, v, target = self._observation()
        done = bool(abs(x - target) < 0.01 and abs(v) < 1e-6)
        reward = -abs(x - target) + (1.0 if done else 0.0)
        info = {"residual": report.residual, "trust": report.trust}
        return self._observation(), reward, done, self._sim.time >= self._seconds, info


def policy(observation: NDArray[np.float64]) -> NDArray[np.float64]:
    """Push while the block would stop short of the target by friction alone, else let it slide."""
    x, v, target = observation
    way = np.sign(target - x)
    short = abs(target - x) - 0.5 * v**2 / (0.3 * 9.81) * np.sign(v * way) > 0.004
    return np.array([way if short else 0.0])


def main() -> None:
    env = PushBlock()
    reached = 0
    for episode in range(5):
        observation, _ = env.reset(seed=episode)
        steps, done, out_of_time = 0, False, False
        while not (done or out_of_time):
            observation, _, done, out_of_time, info = env.step(policy(observation))
            steps += 1
        reached += done
        miss = 1e3 * abs(observation[0] - observation[2])
        print(f"episode {episode}: {'reached' if done else 'missed'} by {miss:.1f} mm after {steps} actions, {info}")
    print(f"{reached} of 5 targets reached")


if __name__ == "__main__":
    main()
