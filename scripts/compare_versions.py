#!/usr/bin/env python3
"""Compare two builds of stiction on scenes: one step from the same states, and whole runs until they part.

    scripts/compare_versions.py OLD NEW [SCENE ...] [--duration S] [--states N]

OLD and NEW are programs. OLD runs each scene to N times, spread over its duration, and saves the state; from there both make
one step. The change of velocity in that step must be the same to the solver's tolerance. Then both run the scene from its start; the
time at which bodies are farther apart than 1e-6 of how far they have moved is printed (chaotic scenes part sooner or later).

Exit code: 0 all single steps agree, 1 some do not, 2 a program failed. Without scenes: all in scenes/.
"""

import argparse
import csv
import json
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile

# velocities after one step agree to this share of the largest, beside what weight changes in a step
STEP = 1e-8
# runs have parted when bodies differ by this share of the largest displacement, m
PARTED = 1e-6


def run(program, scene, out, *arguments):
    command = [program, "run", str(scene), "--out", str(out), "--force", "--json", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{program}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def state(folder):
    return json.loads((folder / "state.json").read_text())


def one_step(old, new, scene, start, h, folder):
    """Largest difference of velocities after one step, over the largest velocity; and the new build's word on the forces."""
    until = start["time"] + h
    ends = []
    for name, program in (("old", old), ("new", new)):
        report = run(program, scene, folder / name, "--resume", folder / "start", "--duration", repr(until))
        ends.append((state(folder / name), report))
    (a, _), (b, report) = ends
    largest = max([abs(x) for x in a["velocity"]] + [9.81 * h])
    differ = max((abs(x - y) for x, y in zip(a["velocity"], b["velocity"])), default=0.0) / largest
    forces = report.get("forces") or {}
    return differ, forces.get("freedom")


def bodies(folder):
    with open(folder / "bodies.csv", newline="") as file:
        return [(float(r["time"]), r["body"], [float(r[k]) for k in "xyz"]) for r in csv.DictReader(file)]


def parted(a, b):
    """Time from which on the bodies of two runs are farther apart than they should be; None if they stay together."""
    first = {}
    moved = 0.0
    for (t, body, p), (u, other, q) in zip(a, b):
        if body != other or not math.isclose(t, u, abs_tol=1e-9):
            return min(t, u)
        moved = max(moved, math.dist(p, first.setdefault(body, p)))
        if math.dist(p, q) > PARTED * moved + 1e-12:
            return t
    return None if len(a) == len(b) else min(a[-1][0], b[-1][0])


def compare(old, new, scene, duration, states, folder):
    probe = run(old, scene, folder / "probe", "--duration", "1e-9")
    h = probe["h"]
    end = min(duration, whole_duration(scene))
    worst, unique = 0.0, True
    for k in range(states):
        until = max(h, end * (k + 1) / (states + 1))
        run(old, scene, folder / "start", "--duration", repr(until))
        differ, freedom = one_step(old, new, scene, state(folder / "start"), h, folder)
        unique &= freedom in (None, 0)
        worst = max(worst, differ)
    for name, program in (("old", old), ("new", new)):
        run(program, scene, folder / f"whole-{name}", "--duration", repr(end), "--csv")
    when = parted(bodies(folder / "whole-old"), bodies(folder / "whole-new"))
    return worst, unique, when, end


def whole_duration(scene):
    import tomllib

    return tomllib.loads(scene.read_text()).get("step", {}).get("duration", 1.0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("scenes", nargs="*", type=pathlib.Path)
    parser.add_argument("--duration", type=float, default=0.5, help="longest run, s")
    parser.add_argument("--states", type=int, default=4, help="states from which one step is made")
    arguments = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parent.parent / "scenes"
    scenes = arguments.scenes or sorted(root.rglob("*.toml"))
    print(f"{'scene':34} {'one step':>9}  forces      runs")
    failed = False
    for scene in scenes:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="stiction-compare-"))
        try:
            worst, unique, when, end = compare(
                arguments.old, arguments.new, scene, arguments.duration, arguments.states, folder
            )
        except RuntimeError as error:
            print(f"{scene.stem:34} {error}")
            return 2
        finally:
            shutil.rmtree(folder)
        bad = worst > STEP
        failed |= bad
        runs = f"together to {end} s" if when is None else f"part at {when} s"
        print(f"{scene.stem:34} {worst:9.1e}  {'unique' if unique else 'not unique':10}  {runs}{'  !' if bad else ''}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
