"""Accelerations at an instant, derivatives of steps, boundary-value problems, convergence, surfaces that run."""

import json
import math
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import SCENES
from test_program import PROGRAM

import stiction as st

GRASP = SCENES / "trinkle1995" / "grasp.toml"
BELT = SCENES / "machines" / "conveyor.toml"
VELOCITY = SCENES / "pang2005" / "sphere-velocity.toml"
needs_program = pytest.mark.skipif(not PROGRAM.exists(), reason="the program is not built: scripts/test-python builds it")


def printed(*command: object, folder: Path) -> Any:
    done = subprocess.run([str(c) for c in (PROGRAM, *command, "--json")], cwd=folder, capture_output=True, check=False)
    return json.loads(done.stdout)


def test_a_sliding_sphere_is_slowed_by_friction_and_spun(sphere: st.Simulation) -> None:
    before = sphere.state
    answer = sphere.accelerate()
    assert (answer["status"], answer["trust"], sphere.state == before) == ("solved", "unique", True)
    (solution,) = answer["solutions"]
    mu_g = 0.3 * 9.81
    theory = [-mu_g, 0, 0, 0, 2.5 * mu_g / 0.1, 0]
    np.testing.assert_allclose(solution["accelerations"]["ball"], theory, atol=1e-9)
    (contact,) = solution["contacts"]
    assert contact["transition"] == "slip-to-slip" and "ball" in contact["name"]
    np.testing.assert_allclose(contact["force_world"], [-mu_g, 0, 9.81], atol=1e-9)
    # inputs take part, also those of the next step alone, which remain
    sphere.force["ball"] = [0, 0, 2]
    sphere.apply("ball", [1, 0, 0])
    for _ in range(2):
        pushed = sphere.accelerate()["solutions"][0]["accelerations"]["ball"]
        assert pushed[0] == pytest.approx(1 - 0.3 * (9.81 - 2), rel=1e-9)
    # after steps the ball still touches the ground
    sphere.reset()
    sphere.step(20)
    later = st.accelerate(sphere.model, sphere.state)["solutions"][0]["accelerations"]["ball"]
    np.testing.assert_allclose(later, theory, atol=1e-6)


def test_held_fingers_grasp_with_a_force_that_is_open() -> None:
    sim = st.Simulation(GRASP)
    answer = sim.accelerate(joint={"left": 0})
    assert answer["solutions"][0]["efforts"]["left"] == pytest.approx(20)
    assert [c["force"][0] for c in answer["solutions"][0]["contacts"]] == pytest.approx([20, 20])
    sim.target["right"] = 30
    assert sim.accelerate(joint={"left": 0})["solutions"][0]["efforts"]["left"] == pytest.approx(30)
    sim.effort["right"] = 5
    assert sim.accelerate(joint={"left": 0})["solutions"][0]["efforts"]["left"] == pytest.approx(35)
    # both held: any squeeze of m g / (2 mu) and more holds the disc, and less lets it fall
    both = st.accelerate(GRASP, joint={"left": 0, "right": 0}, all=True)
    assert (both["status"], both["trust"]) == ("several", "motion-not-unique")
    assert all(r["normal"][1] is None for r in both["ranges"]) and any(s["unbounded"] for s in both["solutions"])
    held = [s for s in both["solutions"] if s["unbounded"]]
    assert held[0]["ranges"][0][0] == pytest.approx(9.81 / (2 * 0.4))


def test_painleves_rod_has_no_accelerations_and_wrong_questions_are_refused(sphere: st.Simulation) -> None:
    answer = st.accelerate(SCENES / "painleve-rod.toml", all=True)
    assert (answer["status"], answer["solutions"], answer["proof"]["verified"]) == ("no-solution", [], True)
    sphere.v["ball"][2] = -1
    with pytest.raises(ValueError, match="normal velocity -1"):
        sphere.accelerate()
    with pytest.raises(KeyError, match="did you mean 'left'"):
        st.accelerate(GRASP, joint={"lift": 0})
    with pytest.raises(ValueError, match=r"effort\[0\] = inf"):
        st.accelerate(GRASP, effort=[math.inf, 0, 0, 0, 0])
    with pytest.raises(ValueError, match="effort: shape"):
        st.accelerate(GRASP, effort=[0, 0])
    with pytest.raises(ValueError, match="gap = -1"):
        st.accelerate(GRASP, gap=-1)
    with pytest.raises(ValueError, match="quasistatic=True"):
        st.accelerate(GRASP, stiffness={"left": 10})


@needs_program
@pytest.mark.parametrize("case", ["grasp", "rod", "held", "quasistatic"])
def test_accelerate_says_what_the_program_prints(case: str, tmp_path: Path) -> None:
    options, keys = {
        "grasp": ([GRASP, "--effort", "left=3"], {"effort": {"left": 3}}),
        "rod": ([SCENES / "painleve-rod.toml", "--all"], {"all": True}),
        "held": ([GRASP, "--joint", "left=0", "--joint", "right=0", "--all"], {"joint": {"left": 0, "right": 0}, "all": True}),
        "quasistatic": (
            [GRASP, "--quasistatic", "--joint", "left=0", "--stiffness", "right=1000"],
            {"quasistatic": True, "joint": {"left": 0}, "stiffness": {"right": 1000}},
        ),
    }[case]
    theirs = printed("accelerate", *options, folder=tmp_path)
    assert theirs.pop("warnings") == []
    assert st.accelerate(options[0], **keys) == theirs  # type: ignore[arg-type]


def test_a_ball_in_flight_keeps_what_it_has(sphere: st.Simulation) -> None:
    sphere.q["ball"][2] = 5
    made = sphere.step_with_derivatives()
    h, n = sphere.model.h, 6
    assert (made.exact, made.notes, made.report.time) == (True, [], sphere.time) and sphere.time == h
    assert made.state.shape == (12, 12) and made.effort.shape == (12, 6) and made.parameters.shape == (12, 0)
    theory = np.eye(2 * n)
    theory[:3, n : n + 3] = h * np.eye(3)
    np.testing.assert_allclose(made.state[[0, 1, 2, 6, 7, 8]], theory[[0, 1, 2, 6, 7, 8]], atol=1e-12)
    np.testing.assert_allclose(np.diag(made.effort[n:])[:3], h, rtol=1e-12)
    np.testing.assert_allclose(np.diag(made.effort[n:])[3:], h / (0.4 * 0.1**2), rtol=1e-12)


def test_derivatives_of_a_sliding_ball_are_those_of_coulomb_and_of_differences(sphere: st.Simulation) -> None:
    start, twin = sphere.state, st.Simulation(sphere.model)
    made = sphere.step_with_derivatives(["material[default].friction"])
    twin.step()
    assert sphere.state == twin.state and sphere.contacts()["status"][0] == "slip"
    # m v' = -mu m g, 2/5 m r^2 w' = r mu m g
    h, n = 1e-3, 6
    np.testing.assert_allclose(made.parameters[n:, 0], [-9.81 * h, 0, 0, 0, 2.5 * 9.81 * h / 0.1, 0], atol=1e-9)
    e = 1e-5
    for j in range(n):
        ends = []
        for sign in (1, -1):
            twin.state = start
            twin.v[j] += sign * e
            # the ball must stay on the ground
            twin.step()
            ends.append(twin.v.copy())
        if j != 2:
            np.testing.assert_allclose(made.state[n:, n + j], (ends[0] - ends[1]) / (2 * e), atol=1e-7)
    with pytest.raises(st.SceneError, match="material"):
        sphere.step_with_derivatives(["material[defauld].friction"])


def test_steps_without_a_derivative_say_so_and_leave_the_state() -> None:
    sim = st.Simulation(BELT)
    before = sim.state
    with pytest.raises(st.Error, match="not differentiated"):
        sim.step_with_derivatives()
    assert sim.state == before
    sim.step()


def test_shooting_finds_the_start_that_ends_as_wanted() -> None:
    answer = st.shoot(VELOCITY)
    assert (answer["status"], answer["nearest_miss"]) == ("solved", None)
    (solution,) = answer["solutions"]
    # it rolls with 5/7 of the velocity with which it slid
    assert solution["initial"] == pytest.approx({"sphere.vx": 1.12, "sphere.vy": 0.42}, rel=1e-3)
    assert solution["isolated"] and solution["residual"] < 1e-6
    assert solution["h"] == pytest.approx(1e-3, rel=1e-12)
    sim = st.Simulation(VELOCITY, solution["start"])
    sim.step(answer["steps"])
    np.testing.assert_allclose(sim.v["sphere"][:2], [0.8, 0.3], atol=1e-7)
    np.testing.assert_allclose(sim.q, solution["end"].q, atol=1e-12)
    with pytest.raises(st.SceneError, match="no \\[boundary\\]"):
        st.shoot(SCENES / "sliding-sphere.toml")


@needs_program
@pytest.mark.parametrize("name", ["sphere-velocity", "puck"])
def test_shoot_says_what_the_program_prints(name: str, tmp_path: Path) -> None:
    scene = SCENES / "pang2005" / f"{name}.toml"
    theirs, ours = printed("shoot", scene, "--dry", folder=tmp_path), st.shoot(scene)
    assert theirs.pop("figure") is None
    for solution in [*theirs["solutions"], *filter(None, [theirs["nearest_miss"]])]:
        assert solution.pop("recording") is None
    for solution in [*ours["solutions"], *filter(None, [ours["nearest_miss"]])]:
        assert solution.pop("h") > 0
        assert isinstance(solution.pop("start"), st.State) and isinstance(solution.pop("end"), st.State)
    assert ours == theirs


@needs_program
def test_converge_says_what_the_program_prints(tmp_path: Path) -> None:
    scene = st.Scene.from_file(SCENES / "sliding-sphere.toml", set={"step.duration": 0.05})
    scene.save(tmp_path / "slide.toml")
    theirs = printed("converge", tmp_path / "slide.toml", "--steps", "4e-3,2e-3,1e-3", "--thetas", "0,0.5", folder=tmp_path)
    theirs.pop("figure")
    ours = st.converge(tmp_path / "slide.toml", [4e-3, 2e-3, 1e-3], [0, 0.5])
    assert ours == theirs and len(ours["levels"]) == 6 and ours["levels"][2]["errors"] is None
    for steps, thetas, words in [([1e-3], None, "at least two"), ([1e-3, 0], None, "more than 0"), ([1e-3, 2e-3], [2], "share")]:
        with pytest.raises(ValueError, match=words):
            st.converge(scene, steps, thetas)


def test_a_belt_runs_as_it_is_told() -> None:
    sim = st.Simulation(BELT)
    assert sim.model.surfaces == ["belt"] and sim.surface.shape == (1, 3) and np.isnan(sim.surface).all()
    sim.surface["belt"] = [0.2, 0, 0]
    sim.run(0.1)
    # mu g t > 0.2: what lies on the belt moves as it does
    assert sim.v["flat"][0] == pytest.approx(0.2, abs=1e-9)
    assert np.array_equal(sim.copy().surface, sim.surface)
    sim.surface["belt"] = np.nan
    sim.run(0.1)
    assert sim.v["flat"][0] == pytest.approx(0.5, abs=1e-9)
    sim.surface = [[0, 0, 0]]
    sim.run(0.15)
    assert sim.v["flat"][0] == pytest.approx(0, abs=1e-9)
    sim.surface["belt"] = [0.2, np.nan, 0]
    with pytest.raises(ValueError, match="three finite numbers"):
        sim.step()
    with pytest.raises(KeyError, match="did you mean 'belt'"):
        sim.surface["bell"] = [0, 0, 0]
    sim.reset()
    assert np.isnan(sim.surface).all()
