#!/usr/bin/python3
"""Coulomb's cone here and in Siconos on the same FCLIB files, in one run.

    apt-get install -y python3-siconos python3-h5py        # Debian; its own system Python
    cargo build --release
    /usr/bin/python3 scripts/compare_siconos_friction.py --peer siconos_peer.py FILE.hdf5...

The peer is a program that runs Siconos' solvers on one file each, checks their answers by our residual and prints the fastest (`--json`: a list of
objects with file, best, cpu_ms). Ours is `auto`. All times are processor time on one thread: ours that of the program with many repetitions less that
with one, over their number. An answer counts at relative residual 1e-8.
"""
import argparse, json, math, os, resource, subprocess, sys

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "target", "release", "stiction")
ENOUGH = 0.3  # processor seconds of repetitions


def run(path, times):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run([PROGRAM, "solve", path, "--json", "--quiet", "--repeat", str(times)], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return json.loads(out.stdout), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ours(path):
    answer, _ = run(path, 5)  # its seconds are the fastest: one preempted run would leave too few repetitions
    _, once = run(path, 1)
    times = max(2, min(200_000, int(ENOUGH / max(answer["seconds"], 1e-7))))
    _, many = run(path, times + 1)
    return answer, 1e3 * max(many - once, 1e-9) / times


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("files", nargs="+")
    ap.add_argument("--peer", required=True)
    ap.add_argument("--cap", default="5", help="wall seconds a Siconos solver")
    a = ap.parse_args()
    print(f"{'file':46s} contacts  ours ms  who              residual   Siconos ms  who          ratio")
    ratios = []
    for path in a.files:
        answer, cpu = ours(path)
        out = subprocess.run([sys.executable, a.peer, path, "--json", "--cap", a.cap], capture_output=True, text=True)
        peer = json.loads(out.stdout)[0]
        good = answer["residual"]["relative"] is not None and answer["residual"]["relative"] <= 1e-8
        ratio = cpu / peer["cpu_ms"] if peer["best"] and good else math.nan
        if ratio == ratio:
            ratios.append(ratio)
        them = f"{peer['cpu_ms']:10.4f}  {peer['best']:11s}" if peer["best"] else f"{'-':>10s}  {'unsolved':11s}"
        print(f"{os.path.basename(path):46s} {answer['problem']['contacts']:8d} {cpu:8.4f}  {answer['solver']:16s} {answer['residual']['relative']:.1e}{' ' if good else '!'}  {them} {ratio:7.3f}", flush=True)
    if ratios:
        print(f"{len(ratios)} solved by both: geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.3f}, worst {max(ratios):.3f}")


if __name__ == "__main__":
    main()
