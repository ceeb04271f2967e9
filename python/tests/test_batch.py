"""Batches: the same results as simulations, shapes, failures."""

import numpy as np
import pytest
from conftest import SCENES

import stiction as st


def test_each_state_has_the_future_of_a_simulation_bitwise() -> None:
    model = st.Model(SCENES / "gripper-slips.toml")
    batch, single = st.Batch(model, 6), st.Batch(model, 6, threads=1)
    efforts = np.random.default_rng(0).uniform(-1, 1, (6, model.nv))
    for b in (batch, single):
        b.step(efforts, n=20)
        b.step(n=15)
    for i in range(6):
        sim = st.Simulation(model)
        sim.effort = efforts[i]
        sim.step(20)
        sim.effort[:] = 0
        sim.step(15)
        assert sim.state == batch[i] == single[i]
    np.testing.assert_array_equal(batch.q, np.stack([batch[i].q for i in range(6)]))


def test_arrays_are_copied_in_and_out() -> None:
    batch = st.Batch(SCENES / "sliding-sphere.toml", 4)
    assert (batch.q.shape, batch.v.shape, batch.time.shape, len(batch)) == ((4, 7), (4, 6), (4,), 4)
    v = batch.v
    v[:, 0] = [0, 1, 2, 3]
    assert batch.v[3, 0] == 1
    batch.v = v
    report = batch.step(force=np.zeros((1, 3)), n=1000)
    np.testing.assert_allclose(batch.v[:, 0], 5 / 7 * v[:, 0], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(batch.time, 1.0)
    assert (report.residual <= 1e-10).all() and report.steps.tolist() == [1000] * 4 and not report.failed.any()
    batch.reset([True, False, False, True])
    assert batch.time.tolist() == [0, 1, 1, 0]
    batch.reset(-2, state=batch[1])
    assert batch[2] == batch[1]
    batch[0] = batch[1]
    assert batch[0] == batch[-4] == batch[1]
    assert repr(report).startswith("<BatchReport: 4 states, 1000 steps each")
    assert repr(batch).startswith("<Batch of 'sliding-sphere': 4 states, nq = 7, nv = 6")


def test_forces_reach_their_state_and_body() -> None:
    batch = st.Batch(SCENES / "sliding-sphere.toml", 3)
    q = batch.q
    q[:, 2] = 9
    batch.q, batch.v = q, np.zeros((3, 6))
    force = np.zeros((3, 1, 3))
    force[1, 0, 1] = 4
    batch.step(force=force, n=50)
    np.testing.assert_allclose(batch.v[:, 1], [0, 4 * 0.05, 0])


def test_a_state_that_fails_stays_and_the_others_go_on() -> None:
    scene = st.Scene.from_file(SCENES / "sliding-sphere.toml")
    scene.add_spring(from_={"body": "ball"}, to={"point": [5, 0, 0.1]}, rest_length=5, stiffness=1e9)
    batch = st.Batch(scene, 2)
    q, v = batch.q, batch.v
    q[:, 0], v[:] = 0, 0
    v[1, 0] = 1
    batch.q, batch.v = q, v
    report = batch.step(n=300)
    assert report.failed.tolist() == [False, True] and list(report.failures) == [1]
    assert report.steps[0] == 300 and report.steps[1] < 300 and np.isfinite(batch.q).all()
    assert batch.time[1] == pytest.approx(report.steps[1] * 1e-3)


def test_wrong_shapes_and_numbers_are_refused() -> None:
    batch = st.Batch(SCENES / "sliding-sphere.toml", 3)
    with pytest.raises(ValueError, match=r"effort: shape \(2, 6\), expected \(3, 6\)"):
        batch.step(np.zeros((2, 6)))
    with pytest.raises(ValueError, match=r"q\[1, 2\] = nan"):
        q = batch.q
        q[1, 2] = np.nan
        batch.q = q
    with pytest.raises(TypeError, match="v: dtype"):
        batch.v = [["a"] * 6] * 3
    with pytest.raises(IndexError, match="state 3 of a batch of 3"):
        batch[3]
    with pytest.raises(ValueError, match="which: a mask of shape"):
        batch.reset([True])
    with pytest.raises(ValueError, match="threads = 0"):
        st.Batch(batch.model, 3, threads=0)
    with pytest.raises(ValueError, match="expected at most"):
        st.Batch(batch.model, 10**12)
    assert len(st.Batch(batch.model, 0)) == 0
    assert st.Batch(batch.model, 0).step().residual.shape == (0,)
