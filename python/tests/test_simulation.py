"""Simulations: physics against closed forms, state as arrays, inputs in the loop, reports."""

import gc
import math
import pickle
import threading

import numpy as np
import pytest
from conftest import SCENES

import stiction as st


def test_a_sliding_sphere_ends_rolling_at_five_sevenths(sphere: st.Simulation) -> None:
    run = sphere.run(0.3)
    assert (run.status, run.steps, run.time) == ("finished", 300, pytest.approx(0.3))
    assert sphere.v["ball"][0] == pytest.approx(5 / 7, rel=1e-12)
    # friction took m v^2 / 7, less half a step of its power at the start
    assert run.energy["friction_loss"] == pytest.approx(1 / 7 - 0.5 * 1e-3 * 0.3 * 9.81, rel=1e-4)
    assert run.residual <= 1e-10 and run.events["stick"] == 1
    assert sum(run.trust.values()) == 300 and run.solvers.keys() <= {"gauss-seidel", "warm-start", "none"}


@pytest.mark.parametrize(("degrees", "slides"), [(16.0, False), (17.4, True)])
def test_a_box_slides_beyond_the_friction_angle_alone(degrees: float, slides: bool) -> None:
    scene = st.Scene.from_file(SCENES / "box-on-slope.toml")
    angle = math.radians(degrees)
    scene.set("world[slope].orientation.angle_deg", degrees)
    scene.set("body[box].orientation.angle_deg", degrees)
    scene.set("body[box].position", [0.1 * math.sin(angle), 0, 0.1 * math.cos(angle)])
    sim = st.Simulation(scene)
    sim.run(0.5)
    speed = float(np.linalg.norm(sim.v["box"][:3]))
    theory = 0.5 * 9.81 * (math.sin(angle) - 0.3 * math.cos(angle))
    assert speed == pytest.approx(theory if slides else 0.0, rel=1e-6, abs=1e-9)


def test_a_gripper_loses_its_box_as_fast_as_friction_allows() -> None:
    sim = st.Simulation(SCENES / "gripper-slips.toml")
    sim.run(until=0.3)
    assert sim.contact_force("box", "table")[2] == pytest.approx(9.81, rel=1e-6)
    before = float(sim.v["box"][2])
    sim.run(until=0.4)
    assert (sim.v["box"][2] - before) / 0.1 == pytest.approx(2 * 0.5 * 20 - 9.81, rel=1e-6)
    contacts = sim.contacts()
    fingers = contacts[contacts["body_a"] == "left finger"]
    assert set(fingers["status"].tolist()) == {"slip"}
    assert fingers["force_n"].sum() == pytest.approx(20, rel=1e-6)
    # Coulomb: friction opposes the slip with mu times the normal force, in world axes
    tangential = fingers["force"] - fingers["force_n"][:, None] * fingers["normal"]
    np.testing.assert_allclose(np.linalg.norm(tangential, axis=1), 0.5 * fingers["force_n"], rtol=1e-9)
    assert (np.einsum("ij,ij->i", tangential, fingers["slip"]) < 0).all()
    np.testing.assert_allclose(np.linalg.norm(fingers["normal"], axis=1), 1, rtol=1e-14)


def test_contacts_are_a_structured_array_with_the_scenes_names(sphere: st.Simulation) -> None:
    assert sphere.contacts().shape == (0,)
    sphere.step()
    (contact,) = sphere.contacts()
    assert (contact["contact"], contact["body_a"], contact["body_b"]) == ("ground/ball#0", "ground", "ball")
    np.testing.assert_allclose(contact["force"], [-0.3 * 9.81, 0, 9.81], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(sphere.contact_force("ball"), contact["force"])
    np.testing.assert_allclose(sphere.contact_force("ground", "ball"), -contact["force"])
    assert contact["status"] == "slip" and contact["point"].shape == (3,)
    assert sphere.events()["event"].tolist() == ["close", "slip"]
    with pytest.raises(KeyError, match="did you mean 'ball'"):
        sphere.contact_force("bal")


def test_arrays_show_the_state_and_change_it(sphere: st.Simulation) -> None:
    q, v = sphere.q, sphere.v
    assert q is sphere.q and isinstance(q, np.ndarray) and q.shape == (7,) and "ball" in q
    x = q["ball"]
    sphere.step()
    assert x[0] == q[0] == sphere.position("ball")[0] > 0
    v["ball"][:] = 0
    q[2] = 5
    sphere.step(10)
    assert v[2] == pytest.approx(-9.81 * 0.01) and v[0] == 0
    sphere.v = np.arange(6, dtype=np.float32)
    assert sphere.v.tolist() == [0, 1, 2, 3, 4, 5]
    sphere.v = {"ball": [0, 0, 0, 0, 0, 7]}
    assert sphere.v[5] == 7
    # quaternions are scaled to length 1
    q[3:] = [2, 0, 0, 0]
    sphere.step()
    assert np.linalg.norm(q[3:]) == pytest.approx(1)
    assert type(q + 1) is np.ndarray and type(q[1:3]) is np.ndarray and type(q.copy()) is np.ndarray
    assert isinstance(q.sum(), float) and np.asarray(q).shape == (7,) and type(np.concatenate([q, v])) is np.ndarray


def test_arrays_outlive_their_simulation() -> None:
    sim = st.Simulation(SCENES / "sliding-sphere.toml")
    q, part = sim.q, sim.q["ball"]
    sim.step()
    del sim
    gc.collect()
    assert q[0] == part[0] > 0
    q[0] = 3
    assert part[0] == 3


def test_wrong_arrays_are_refused_with_place_and_value(sphere: st.Simulation) -> None:
    for name in ("q", "v", "effort", "force", "torque"):
        with pytest.raises(ValueError, match=rf"{name}: shape \(2,\), expected"):
            setattr(sphere, name, [1, 2])
        with pytest.raises(TypeError, match=f"{name}: dtype complex128, expected real numbers"):
            setattr(sphere, name, np.zeros(getattr(sphere, name).shape, dtype=complex))
    with pytest.raises(ValueError, match=r"q\[1\] = nan, expected a finite number"):
        sphere.q = [0, np.nan, 0, 1, 0, 0, 0]
    sphere.q[1] = np.inf
    with pytest.raises(ValueError, match=r"q\['ball'\] holds inf, expected finite numbers"):
        sphere.step()
    sphere.q[1] = 0
    sphere.effort[0] = np.nan
    with pytest.raises(ValueError, match="effort holds a number that is not finite"):
        sphere.step()
    sphere.effort[0] = 0
    sphere.force["ball"][0] = np.nan
    with pytest.raises(ValueError, match="force or torque of 'ball'"):
        sphere.step()
    sphere.force[:] = 0
    sphere.q[3:] = 0
    with pytest.raises(ValueError, match="quaternion of length 0"):
        sphere.step()
    sphere.reset()
    with pytest.raises(ValueError, match=r"\['ball'\]: shape \(2,\), expected \(3,\)"):
        sphere.force["ball"] = [1, 2]
    with pytest.raises(KeyError, match="unknown body 'bal', did you mean 'ball'?"):
        sphere.force["bal"] = 0
    # arrays that are not contiguous are taken over by value
    sphere.v = np.arange(12.0)[::2]
    assert sphere.v.tolist() == [0, 2, 4, 6, 8, 10]


def test_forces_and_efforts_push(sphere: st.Simulation) -> None:
    sphere.q[2] = 10
    sphere.v[:] = 0
    sphere.force["ball"] = [3, 0, 0]
    sphere.step(100)
    assert sphere.v[0] == pytest.approx(3 * 0.1)
    sphere.force[:] = 0
    sphere.effort["ball"][1] = 2
    sphere.torque["ball"] = [0, 0, 0.4 * 0.01]  # inertia of a solid ball: 2/5 m r^2
    sphere.step(100)
    assert sphere.v[1] == pytest.approx(2 * 0.1) and sphere.v[5] == pytest.approx(0.1)
    sphere.effort[:] = 0
    sphere.torque[:] = 0
    sphere.apply("ball", [0, 5, 0])
    sphere.step(2)
    assert sphere.v[1] == pytest.approx(0.2 + 5 * 2e-3)
    sphere.step()
    assert sphere.v[1] == pytest.approx(0.2 + 5 * 2e-3)
    before = sphere.v[4]
    sphere.apply("ball", [1, 0, 0], point=[0, 0, 0.1])
    sphere.step()
    assert sphere.v[4] - before == pytest.approx(1 * 0.1 * 1e-3 / (0.4 * 0.01), rel=1e-3)


def test_targets_replace_the_course_of_a_motor() -> None:
    sim = st.Simulation(SCENES / "gripper-slips.toml")
    assert sim.model.motors == ["left finger", "right finger", "palm"] and sim.model.nmotor == 3
    assert set(sim.target.keys()) == set(sim.model.motors) and np.isnan(sim.target).all()
    sim.target["left finger"] = sim.target["right finger"] = 30
    sim.target["palm"] = 1.4 * 9.81 + 60  # the hand's weight, and more than friction can hand on
    sim.step(50)  # until the fingers have closed on the box
    before = float(sim.v["box"][2])
    sim.step(50)
    # the fingers squeeze with 30 N, so friction lifts the box with 2 mu 30 N
    squeeze = sim.contacts()["force_n"][sim.contacts()["body_a"] == "left finger"].sum()
    assert squeeze == pytest.approx(30, rel=1e-6)
    assert (sim.v["box"][2] - before) / 0.05 == pytest.approx(2 * 0.5 * 30 - 9.81, rel=1e-6)
    sim.target["palm"] = np.inf
    with pytest.raises(ValueError, match="target holds an infinite number"):
        sim.step()
    sim.target = [1, np.nan, 2]
    assert np.isnan(sim.target["right finger"])
    sim.reset()
    assert np.isnan(sim.target).all()


def test_a_pendulum_is_held_by_its_effort(pendulum: st.Simulation) -> None:
    # level: both rods to the side, moments of their weights about the hinges
    upper, lower = 9.81 * 0.5 + 9.81 * 1.5, 9.81 * 0.5
    assert math.degrees(pendulum.q["upper"]) == pytest.approx(90)
    for _ in range(100):
        pendulum.effort["upper"] = upper
        pendulum.effort["lower"] = lower
        pendulum.step()
    assert abs(pendulum.v["upper"]) < 1e-9 and abs(pendulum.v["lower"]) < 1e-9
    joints = pendulum.joints()
    assert joints["joint"].tolist() == ["upper", "lower"]
    np.testing.assert_allclose(joints["force"][:, 1], [2 * 9.81, 9.81], rtol=1e-9)
    assert pendulum.model.q_names == ["upper", "lower"] and pendulum.model.joints["lower"] == "revolute"


def test_energy_is_kept_by_a_frictionless_pendulum(pendulum: st.Simulation) -> None:
    start = sum(pendulum.energy[k] for k in ("kinetic", "potential"))
    run = pendulum.run(1.0)
    end = sum(pendulum.energy[k] for k in ("kinetic", "potential"))
    assert end == pytest.approx(start, abs=2e-2 * run.energy["kinetic"])
    assert run.energy == pendulum.energy


def test_step_reports(sphere: st.Simulation) -> None:
    report = sphere.step()
    assert report.residual <= 1e-10 and report.time == 1e-3 and report.parts == 1
    assert report.trust in ("unique", "locally-unique") and report.iterations >= 1
    assert report.solver == "gauss-seidel" and report.within_tolerance
    assert report.friction_loss == pytest.approx(0.3 * 9.81 * 1e-3 * sphere.contacts()["slip"][0, 0], abs=1e-4)
    assert repr(report).startswith("StepReport(time=0.001, residual=")


def test_a_failed_step_raises_and_keeps_the_state(sphere: st.Simulation) -> None:
    scene = sphere.model.scene
    scene.add_spring(from_={"body": "ball"}, to={"point": [1, 0, 0.1]}, rest_length=0.5, stiffness=1e9)
    sim = st.Simulation(scene)
    with pytest.raises(st.StepError, match="t = ") as caught:
        sim.run()
    error = caught.value
    assert error.run is not None and error.run.status == "failed" and error.time == sim.time
    assert np.isfinite(sim.q).all() and error.run.steps == round(sim.time / 1e-3)


def test_runs_end_where_they_are_asked_to(sphere: st.Simulation) -> None:
    assert sphere.run(0.01).steps == 10
    assert sphere.run(until=0.05).steps == 40
    assert sphere.run(steps=3).steps == 3 and sphere.time == pytest.approx(0.053)
    assert sphere.run().time == pytest.approx(1.0) and sphere.run().steps == 0
    for wrong in ({"duration": -1}, {"until": float("nan")}):
        with pytest.raises(ValueError, match="expected 0 or more"):
            sphere.run(**wrong)
    with pytest.raises(TypeError, match="expected one of duration, until and steps"):
        sphere.run(1, steps=3)


def test_progress_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    sim = st.Simulation(SCENES / "balls-200.toml")
    told: list[tuple[float, int, int]] = []
    sim.run(steps=40, progress=lambda *now: told.append(now))
    assert told[-1] == (pytest.approx(sim.time), 40, 40)
    sim.run(steps=2, progress=True)
    assert "100 %" in capsys.readouterr().err
    with pytest.raises(TypeError, match="progress: int"):
        sim.run(steps=2, progress=3)  # type: ignore[arg-type]


def test_copies_and_pickles_have_bitwise_the_same_future() -> None:
    sim = st.Simulation(SCENES / "stack-of-ten.toml")
    sim.run(steps=20)
    state = sim.state
    twin, copied = sim.copy(), st.Simulation(sim.model, pickle.loads(pickle.dumps(state)))
    pickled = pickle.loads(pickle.dumps(sim))
    assert state == sim.state and state.copy() == state
    for other in (sim, twin, copied, pickled):
        other.run(steps=20)
    assert sim.state == twin.state == copied.state == pickled.state != state
    sim.state = state
    sim.run(steps=20)
    assert sim.state == twin.state


def test_states_are_saved_and_belong_to_their_model(sphere: st.Simulation, tmp_path: object) -> None:
    sphere.step(5)
    path = f"{tmp_path}/state.json"
    sphere.state.save(path)
    assert st.State.load(path, sphere.model) == sphere.state
    other = st.Model(SCENES / "double-pendulum.toml")
    with pytest.raises(st.RecordingError, match="positions, but the scene"):
        st.State.load(path, other)
    with pytest.raises(ValueError, match="positions, but the scene"):
        st.Simulation(other).state = sphere.state
    with pytest.raises(TypeError, match="int, expected a State"):
        sphere.state = 3  # type: ignore[assignment]
    state = st.State(sphere.model, v=[1, 2, 3, 4, 5, 6], time=0.5)
    assert (state.time, state.v["ball"][0]) == (0.5, 1)
    state.q["ball"][0] = 7
    assert state.copy().q[0] == 7
    with pytest.raises(ValueError, match="time = -1"):
        state.time = -1


def test_reset_goes_back_and_clears_the_inputs(sphere: st.Simulation) -> None:
    start = sphere.state
    sphere.force["ball"] = [1, 1, 1]
    sphere.run(0.1)
    sphere.reset()
    assert sphere.state == start and sphere.time == 0 and not sphere.force.any()
    assert sphere.energy["friction_loss"] == 0


def test_threads_share_a_model_and_not_a_simulation() -> None:
    model = st.Model(SCENES / "stack-of-ten.toml")
    sims = [st.Simulation(model) for _ in range(2)]
    threads = [threading.Thread(target=sim.run, kwargs={"steps": 30}) for sim in sims]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert sims[0].state == sims[1].state and sims[0].time == pytest.approx(30 * model.h)


def test_the_contact_problem_is_solved_again_to_the_same_forces(sphere: st.Simulation) -> None:
    assert sphere.contact_problem() is None
    sphere.step()
    problem = sphere.contact_problem()
    assert problem is not None and problem.A.shape == (3, 3)
    report = st.solve_friction(*problem)
    assert report.solution is not None
    np.testing.assert_allclose(report.solution[0], 9.81, rtol=1e-9)
    limits = st.Simulation(SCENES / "joint-limits.toml")
    limits.step()
    with pytest.raises(ValueError, match="rows of joints"):
        limits.contact_problem()


def test_overlaps_are_listed() -> None:
    scene = st.Scene.from_file(SCENES / "sphere-on-plane.toml")
    sim = st.Simulation(scene)
    assert sim.overlaps() == []
    sim.q[2] -= 0.01
    ((a, b, depth),) = sim.overlaps()
    assert b != a and depth == pytest.approx(0.01, rel=1e-6)


def test_reprs_and_completion(sphere: st.Simulation) -> None:
    assert repr(sphere) == "<Simulation of 'sliding-sphere' at t = 0 s>"
    sphere.step()
    assert "1 step, 1 closed contact, residual" in repr(sphere)
    assert repr(sphere.q).startswith("NamedArray, shape (7,):\n  ball")
    assert repr(sphere.state).startswith("<State of 'sliding-sphere' at t = 0.001 s")
    assert sphere.q._ipython_key_completions_() == ["ball"] == sphere.force.keys()
    assert repr(sphere.run(steps=2)).startswith("<Run finished: 2 of 2 steps, t = 0.003000 s")
    assert {"contacts", "step", "run", "effort"} <= set(dir(sphere))
    assert sphere.model.q_names[:2] == ["ball.x", "ball.y"] and sphere.model.v_names[-1] == "ball.wz"


def test_attributes_that_do_nothing_are_refused(sphere: st.Simulation) -> None:
    for name in ("friction", "duration", "h"):
        with pytest.raises(AttributeError):
            setattr(sphere, name, 0)
        with pytest.raises(AttributeError):
            setattr(sphere.model, name, 0)
    with pytest.raises(AttributeError, match=r"\['ball'\]"):
        sphere.q.ball = 1
    with pytest.raises(AttributeError):
        st.Scene("a").gravity = [0, 0, 0]  # type: ignore[attr-defined]


def test_a_class_of_ones_own_keeps_its_attributes(sphere: st.Simulation) -> None:
    class Mine(st.Simulation):
        pass

    mine = Mine(sphere.model)
    mine.note = "kept"  # type: ignore[attr-defined]
    assert mine.note == "kept"  # type: ignore[attr-defined]
