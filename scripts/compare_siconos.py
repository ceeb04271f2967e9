#!/usr/bin/python3
"""Lemke's method here and in Siconos on the same LCP files, in one run.

    apt-get install -y python3-siconos                     # Debian; its own system Python
    cargo build --release
    cargo run --release --example trinkle1995_table1 -- --write problems
    /usr/bin/python3 scripts/compare_siconos.py problems/*.npz

Times are processor milliseconds (ours: the program's own clock, one thread), the best of 1000 runs (20 from size 50 on). An answer counts if
|min(z, M z + q)| / |q| <= 1e-8. Ratios are ours over Siconos', over the files that both solve.
"""
import json, os, subprocess, sys, time
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
import numpy as np
import siconos.numerics as sn

repeat = lambda n: 1000 if n < 50 else 20
PROGRAM = os.path.join(os.path.dirname(__file__), "..", "target", "release", "stiction")


def residual(m, q, z):
    if z is None or not np.all(np.isfinite(z)):
        return np.inf
    return np.linalg.norm(np.minimum(z, m @ z + q)) / (np.linalg.norm(q) or 1.0)


def siconos(m, q):
    best = np.inf
    for _ in range(repeat(len(q))):
        options = sn.SolverOptions(sn.SICONOS_LCP_LEMKE)
        options.iparam[0] = 100000
        problem, z, w = sn.LCP(m, q), np.zeros(len(q)), np.zeros(len(q))
        start = time.process_time()
        sn.linearComplementarity_driver(problem, z, w, options)
        best = min(best, time.process_time() - start)
    return 1e3 * best, residual(m, q, z)


def ours(path, m, q):
    out = subprocess.run([PROGRAM, "solve", path, "--solver", "lemke", "--json", "--repeat", str(repeat(len(q)))], capture_output=True, text=True)
    answer = json.loads(out.stdout)
    return 1e3 * answer["seconds"], residual(m, q, np.array(answer["solution"]) if answer["solution"] else None)


def main():
    rows = []
    for path in sys.argv[1:]:
        data = np.load(path)
        m, q = data["M"], data["q"]
        rows.append((len(q), path, *ours(path, m, q), *siconos(m, q)))
    print(" size  files  ours solved  Siconos solved   ours ms  Siconos ms (medians)  ratio (geometric mean)  worst ratio")
    both = lambda chosen: [r for r in chosen if r[3] <= 1e-8 and r[5] <= 1e-8]
    for size in sorted({r[0] for r in rows}):
        chosen = [r for r in rows if r[0] == size]
        ratios = np.array([r[2] / r[4] for r in both(chosen)])
        solved = [sum(r[k] <= 1e-8 for r in chosen) for k in (3, 5)]
        times = [np.median([r[k] for r in both(chosen)]) for k in (2, 4)]
        print(f"{size:5d} {len(chosen):6d} {solved[0]:12d} {solved[1]:15d} {times[0]:9.4f} {times[1]:11.4f} {np.exp(np.mean(np.log(ratios))):33.3f} {ratios.max():12.3f}")
    for low, high in ((10, 10**9), (30, 170)):
        ratios = np.array([r[2] / r[4] for r in both(rows) if low <= r[0] <= high])
        print(f"sizes {low} to {min(high, max(r[0] for r in rows))}: geometric mean {np.exp(np.mean(np.log(ratios))):.3f}, worst {ratios.max():.3f}, {len(ratios)} files")
    print("solved here only:", sum(r[3] <= 1e-8 < r[5] for r in rows), "  by Siconos only:", sum(r[5] <= 1e-8 < r[3] for r in rows))


if __name__ == "__main__":
    main()
