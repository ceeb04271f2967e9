#!/usr/bin/env python3
"""Random friction problems in odd units, solved by `stiction solve` and checked by code that shares nothing with it.

    python3 -m venv venv && venv/bin/pip install numpy h5py
    cargo build --release
    venv/bin/python scripts/check_rescaled.py [--count 2000] [--seed 0] [--program target/release/stiction]

Each problem has one to three islands of rigid bodies that touch each other and the ground, a third of them with more contacts than their bodies have
freedoms. The masses of each island are scaled by a power of ten from 1e-12 to 1e12, and the whole problem is in units of force and velocity from 1e-6 to
1e6. A method in turn solves it. What it calls solved is held against Coulomb's law, contact by contact, in units of the island: forces pull nothing and lie in
their cones, gaps do not close, loaded contacts do not open, sticking ones do not slip, friction opposes slip with all it has. Exit code 1 if one is wrong.
"""
import argparse, collections, json, os, subprocess, sys, tempfile

import h5py
import numpy as np

METHODS = ["auto", "gauss-seidel", "newton", "proximal-newton", "cone-interior-point"]
WRONG = 1e-6  # relative to the island's largest force or velocity, in units in which A's blocks are near 1


def island(rng):
    """A = J M^-1 J', b = J v of some bodies with random frames."""
    bodies, redundant = rng.integers(1, 4), rng.random() < 1 / 3
    contacts = int(rng.integers(1, 4 * bodies + 1)) if redundant else int(rng.integers(1, 2 * bodies + 1))
    jacobian = np.zeros((3 * contacts, 6 * bodies))
    for c in range(contacts):
        frame = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        first = rng.integers(0, bodies)
        ends = [(first, 1.0)]
        if bodies > 1 and rng.random() < 0.5:
            ends.append(((first + 1) % bodies, -1.0))
        for body, sign in ends:
            arm = rng.normal(size=3)
            cross = np.array([[0, -arm[2], arm[1]], [arm[2], 0, -arm[0]], [-arm[1], arm[0], 0]])
            jacobian[3 * c : 3 * c + 3, 6 * body : 6 * body + 6] = sign * np.hstack([frame, -frame @ cross])
    mass = np.repeat(10.0 ** rng.uniform(-1, 1, size=bodies), 6)
    a = jacobian @ np.diag(1 / mass) @ jacobian.T
    # velocities of bodies that contacts can bring to rest, so that a solution exists
    return a, jacobian @ rng.normal(size=6 * bodies), rng.choice([0.0, 0.1, 0.3, 0.7], size=contacts)


def problem(rng):
    parts = [island(rng) for _ in range(rng.integers(1, 4))]
    force, velocity = 10.0 ** rng.uniform(-6, 6, size=2)
    size = sum(len(b) for _, b, _ in parts)
    a, b, at = np.zeros((size, size)), np.zeros(size), 0
    spans = []
    for own, own_b, _ in parts:
        n, masses = len(own_b), 10.0 ** rng.uniform(-12, 12)
        a[at : at + n, at : at + n] = own * velocity / force / masses
        b[at : at + n] = own_b * velocity
        spans.append((at, at + n))
        at += n
    return a, b, np.concatenate([mu for _, _, mu in parts]), spans


def write(path, a, b, mu):
    rows, columns = np.nonzero(a)
    with h5py.File(path, "w") as f:
        g = f.create_group("fclib_local")
        g["spacedim"] = np.int32(3)
        w = g.create_group("W")
        w["m"], w["n"], w["nz"] = np.int32(len(b)), np.int32(len(b)), np.int32(len(rows))
        w["nzmax"] = np.int32(len(rows))
        w["p"], w["i"], w["x"] = columns.astype(np.int32), rows.astype(np.int32), a[rows, columns]
        g["vectors/q"], g["vectors/mu"] = b, mu


def worst(a, b, mu, spans, forces):
    """The largest violation of Coulomb's law, relative to the island, over all contacts."""
    s, found = a @ forces + b, 0.0
    for first, last in spans:
        blocks = range(first, last, 3)
        scale = {k: np.sqrt(np.trace(a[k : k + 3, k : k + 3]) / 3) for k in blocks}
        size = max(max(np.linalg.norm(forces[k : k + 3]) * scale[k], np.linalg.norm(b[k : k + 3]) / scale[k]) for k in blocks)
        if size == 0.0:
            continue
        for k in blocks:
            normal, tangent = forces[k] * scale[k] / size, forces[k + 1 : k + 3] * scale[k] / size
            opening, slip = s[k] / scale[k] / size, s[k + 1 : k + 3] / scale[k] / size
            bound = mu[k // 3] * max(normal, 0.0)
            faults = [
                -normal,
                -opening,
                min(normal, opening),
                np.linalg.norm(tangent) - bound,
                # friction takes all the power it can: t . slip = -bound |slip|
                np.sqrt(max(bound * np.linalg.norm(slip) + tangent @ slip, 0.0)) ** 2 / max(bound, np.linalg.norm(slip), 1e-300),
            ]
            found = max(found, *faults)
    return found


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--count", type=int, default=2000)
    ap.add_argument("--seed", type=int, default=0)
    ap.add_argument("--program", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "target", "release", "stiction"))
    o = ap.parse_args()
    words, wrong, largest = collections.Counter(), [], 0.0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "problem.hdf5")
        for seed in range(o.seed, o.seed + o.count):
            method = METHODS[seed % len(METHODS)]
            a, b, mu, spans = problem(np.random.default_rng(seed))
            write(path, a, b, mu)
            out = subprocess.run([o.program, "solve", path, "--json", "--quiet", "--solver", method], capture_output=True, text=True)
            answer = json.loads(out.stdout)
            words[method, answer["status"]] += 1
            if answer["status"] == "solved":
                fault = worst(a, b, mu, spans, np.array(answer["solution"]))
                largest = max(largest, fault)
                if fault > WRONG:
                    wrong.append(seed)
                    print(f"seed {seed}, {method}: called solved at {answer['residual']['relative']:.1e}, off by {fault:.1e}")
    for method in METHODS:
        print(f"{method:20s} " + ", ".join(f"{n} {status}" for (m, status), n in sorted(words.items()) if m == method))
    print(f"{len(wrong)} of {o.count} wrong; the largest violation of what was called solved is {largest:.1e}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
