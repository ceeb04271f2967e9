"""The package and the program give the same results to the bit; Ctrl-C; the cost of a step."""

import json
import os
import runpy
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT, SCENES

import stiction as st

PROGRAM = Path(os.environ.get("STICTION", ROOT / "target" / "release" / "stiction"))


@pytest.mark.skipif(not PROGRAM.exists(), reason="the program is not built: scripts/test-python builds it")
@pytest.mark.parametrize("name", ["sliding-sphere", "gripper-slips", "double-pendulum", "joint-limits", "stack-of-ten"])
def test_results_are_the_programs_to_the_bit(name: str, tmp_path: Path) -> None:
    scene = SCENES / f"{name}.toml"
    command = [PROGRAM, "run", scene, "--out", tmp_path / "r", "--duration", "0.2", "--quiet"]
    subprocess.run(command, check=True, capture_output=True)
    sim = st.Simulation(scene)
    sim.run(0.2)
    assert sim.state == st.State.load(tmp_path / "r", sim.model)
    ours = tmp_path / "state.json"
    sim.state.save(ours)
    assert json.loads(ours.read_text()) == json.loads((tmp_path / "r" / "state.json").read_text())


def interrupted(code: str, wait: float = 0.7) -> str:
    """What a script prints that is interrupted while it works."""
    head = f"import numpy as np, stiction as st, sys\nSCENES = {str(SCENES)!r}\n"
    process = subprocess.Popen(
        [sys.executable, "-c", head + code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    time.sleep(wait)
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert time.monotonic() - begin < 15, "takes long to end"
    assert process.returncode == 0, err
    return out


def test_ctrl_c_ends_a_run_which_can_go_on() -> None:
    code = """
sim = st.Simulation(SCENES + "/sliding-sphere.toml")
print("ready", flush=True)
try:
    sim.run(1e6)
except KeyboardInterrupt:
    before = sim.time
    run = sim.run(steps=10)
    print(0 < before < sim.time, run.steps, sim.q[0] > 0)
"""
    assert interrupted(code) == "True 10 True\n"


def test_ctrl_c_ends_a_batch_a_loop_and_a_search() -> None:
    code = """
sim, batch = st.Simulation(SCENES + "/sliding-sphere.toml"), st.Batch(SCENES + "/sliding-sphere.toml", 100)
# each of 20 pairs has three solutions of its own: 3^20 in all
many = np.kron(np.eye(20), [[1, 2], [2, 1]])
search = lambda: st.decide(many, -np.ones(40), all=True, limit=10**9)
works = [lambda: batch.step(n=10**7), lambda: sim.step(10**9), search]
print("ready", flush=True)
try:
    works[WHICH]()
except KeyboardInterrupt:
    print("ended")
"""
    for which in range(3):
        assert interrupted(code.replace("WHICH", str(which)), 0.4) == "ended\n"


def test_a_step_of_one_sphere_costs_at_most_a_microsecond_more_than_in_rust() -> None:
    overhead = runpy.run_path(str(ROOT / "scripts" / "python_cost.py"))["overhead"]
    python, rust = overhead(20_000)
    assert python - rust < 1.0, f"{python:.3f} us from Python, {rust:.3f} us in Rust"
