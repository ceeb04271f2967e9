"""Problems given as arrays."""

import numpy as np
import pytest

import stiction as st


def test_a_linear_complementarity_problem() -> None:
    M, q = np.array([[2.0, 1], [1, 2]]), np.array([-5.0, -6])
    report = st.solve_lcp(M, q)
    assert report and report.status == "solved" and report.residual < 1e-12
    np.testing.assert_allclose(report.solution, [4 / 3, 7 / 3])
    np.testing.assert_allclose(report.slack, 0, atol=1e-12)
    for solver in ("lemke", "interior-point", "interior_point", "decide"):
        np.testing.assert_allclose(st.solve_lcp(M, q, solver=solver).solution, [4 / 3, 7 / 3])


def test_all_solutions_are_listed() -> None:
    report = st.solve_lcp([[1, 2], [2, 1]], [-1, -1], all=True)
    assert report.status == "several" and report.solutions is not None
    points = sorted(tuple(np.round(piece["point"], 9)) for piece in report.solutions)
    assert points == [(0, 1), (0.333333333, 0.333333333), (1, 0)]


def test_no_solution_is_proved() -> None:
    report = st.decide([[-1]], [-1])
    assert (report.status, report.solution, report.solutions) == ("no-solution", None, [])
    assert not report and report.residual == np.inf and report.certificate["kind"] == "no-solution"


def test_a_mixed_problem_has_equalities() -> None:
    # z0 free with z0 + z1 = 3; 0 <= z1 _|_ z1 - z0 - 1 >= 0: z1 = 2, z0 = 1
    M, q = [[1, 1], [-1, 1]], [-3, -1]
    for report in (st.solve_mixed(M, q, [False, True]), st.decide(M, q, [0, 1])):
        np.testing.assert_allclose(report.solution, [1, 2])
    with pytest.raises(TypeError, match="complementary"):
        st.solve_mixed(M, q, ["a", "b"])
    with pytest.raises(ValueError, match="comp has 3 entries, expected 2"):
        st.solve_mixed(M, q, [True] * 3)


def test_friction_slips_sticks_and_opens() -> None:
    slip = st.solve_friction(np.eye(3), [-1, 0.5, 0], 0.3)
    np.testing.assert_allclose(slip.solution, [1, -0.3, 0], atol=1e-12)
    np.testing.assert_allclose(slip.slack, [0, 0.2, 0], atol=1e-12)
    stick = st.solve_friction(np.eye(3), [-1, 0.5, 0], [0.6])
    np.testing.assert_allclose(stick.solution, [1, -0.5, 0], atol=1e-12)
    np.testing.assert_allclose(st.solve_friction(np.eye(3), [1, 0.5, 0], 0.3).solution, 0, atol=1e-12)
    plane = st.solve_friction(np.eye(4), [-1, 0.5, -2, 3], [0.3, 0.3])
    np.testing.assert_allclose(plane.solution, [1, -0.3, 2, -0.6], atol=1e-9)
    # the square about the disc reaches further along the diagonal
    cone = st.solve_friction(np.eye(3), [-1, 5, 5], 0.3)
    square = st.solve_friction(np.eye(3), [-1, 5, 5], 0.3, friction="pyramid")
    assert cone.solution is not None and square.solution is not None
    assert np.linalg.norm(cone.solution[1:]) == pytest.approx(0.3)
    assert np.linalg.norm(square.solution[1:]) == pytest.approx(0.3 * 2**0.5)
    assert slip.known is not None and slip.known["rank"]["rank"] == 3


@pytest.mark.parametrize(
    ("wrong", "kind", "message"),
    [
        (lambda: st.solve_lcp([[1, 2]], [1]), ValueError, "M is 1 x 2, expected a square matrix"),
        (lambda: st.solve_lcp(np.eye(2), [1]), ValueError, "q has 1 entries, expected 2"),
        (lambda: st.solve_lcp([1, 2], [1]), ValueError, r"M: shape \(2,\), expected 2 dimensions"),
        (lambda: st.solve_lcp([[1, 2], [3]], [1]), ValueError, "M: rows of different lengths"),
        (lambda: st.solve_lcp([["a"]], [1]), TypeError, "M: dtype <U1, expected real numbers"),
        (lambda: st.solve_lcp([[1]], [np.nan]), ValueError, r"q\[0\] = nan, expected a finite number"),
        (lambda: st.solve_lcp([[1]], [1], solver="lemki"), ValueError, "unknown solver 'lemki', did you mean 'lemke'"),
        (lambda: st.solve_lcp([[1]], [1], tolerance=0), ValueError, "tolerance = 0"),
        (lambda: st.solve_lcp([[1]], [1], solver="lemke", all=True), ValueError, "all = True needs"),
        (lambda: st.solve_friction(np.eye(3), [1, 0, 0], [0.1, 0.2]), ValueError, "whole number of rows per contact"),
        (lambda: st.solve_friction(np.eye(3), [1, 0, 0], -1), ValueError, r"mu\[0\] = -1"),
        (lambda: st.solve_friction(np.eye(3), [1, 0, 0], 1, friction="cube"), ValueError, "friction = 'cube'"),
        (lambda: st.solve_friction(np.eye(3), [1, 0, 0], 1, friction="cone", all=True), ValueError, "needs solver"),
    ],
)
def test_wrong_problems_are_refused(wrong, kind: type, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(kind, match=message):
        wrong()


def test_arrays_of_any_layout_and_type_are_taken() -> None:
    big = np.zeros((4, 4), order="F")
    big[::2, ::2] = [[2, 1], [1, 2]]
    for M in (big[::2, ::2], big[::2, ::2].astype(np.float32), big[::2, ::2].astype(int), big[::2, ::2].tolist()):
        np.testing.assert_allclose(st.solve_lcp(M, np.array([-5, -6])).solution, [4 / 3, 7 / 3])
