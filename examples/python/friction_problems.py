"""Complementarity and friction problems as arrays: solutions, all solutions, proofs, and which forces are unique."""

import numpy as np

import stiction as st


def main() -> None:
    # a linear complementarity problem with three solutions
    report = st.solve_lcp([[1, 2], [2, 1]], [-1, -1], all=True)
    assert report.solutions is not None
    print(f"{report.status}: {[np.round(piece['point'], 6).tolist() for piece in report.solutions]}")

    # one without a solution, with a proof
    report = st.decide([[0, 1], [-1, 0]], [-1, -1])
    print(f"{report.status}: {report.certificate['kind']}")

    # one contact pushed sideways: it slips, and friction is mu times the normal force
    report = st.solve_friction(np.eye(3), [-1, 0.5, 0], mu=0.3)
    print(report.solution, report.slack, report)

    # a table with four legs on the floor: one normal force is redundant
    legs = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]], dtype=float)
    normal = np.column_stack([np.ones(4), legs])  # lift, and the two tilts
    jacobian = np.zeros((12, 6))
    jacobian[0::3, :3] = normal
    jacobian[1::3, 3] = jacobian[2::3, 4] = 1  # sliding along t and o
    jacobian[1::3, 5], jacobian[2::3, 5] = -legs[:, 1], legs[:, 0]  # spin
    report = st.solve_friction(jacobian @ jacobian.T, jacobian @ [-9.81, 0, 0, 0, 0, 0], mu=np.full(4, 0.5))
    assert report.solution is not None and report.known is not None
    print(f"table: normal forces {np.round(report.solution[0::3], 4)}, residual {report.residual:.1e}")
    print(f"forces undetermined: {report.known['forces']['dimension']} dimensions")


if __name__ == "__main__":
    main()
