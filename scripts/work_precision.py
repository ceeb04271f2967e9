#!/usr/bin/env python3
"""Error against cost of the schemes, with MuJoCo's integrators where a scene can be said there: docs/work-precision.md.

    cargo run --release --example work_precision > work-precision.csv
    python3 -m venv venv && venv/bin/pip install mujoco numpy matplotlib
    venv/bin/python scripts/work_precision.py work-precision.csv docs/figures/work-precision.png

Processor time of one core in both. MuJoCo has an elliptic cone, stiff contacts (solref 0.002 s, where the step allows) and a tolerance of 1e-12.
"""
import csv, math, sys, time

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import mujoco, numpy as np

CONTACT = 'solref="0.002 1" solimp="0.999 0.9999 0.001"'
OPTION = 'cone="elliptic" impratio="100" tolerance="1e-12" iterations="200"'
STEPS = [1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5]
TITLES = {
    "ball": "ball: slides, then rolls",
    "box": "box: slides to rest on four corners",
    "bounces": "ball: bounces (restitution 0.6)",
    "ellipse": "song2004: ellipse rolls and slips",
    "rod": "song2001, case 1: rod slides",
}
COLOURS = {"theta": "C0", "event": "C3", "compliant": "C2", "MuJoCo Euler": "0.2", "MuJoCo implicitfast": "0.45", "MuJoCo RK4": "0.7"}


def model(body, friction):
    return f"""<mujoco><option gravity="0 0 -9.81" {OPTION}/>
      <default><geom friction="{friction} 0 0" condim="3" {CONTACT}/></default>
      <worldbody><geom type="plane" size="5 5 1"/>{body}</worldbody></mujoco>"""


def free(shape, z, mass):
    return f'<body pos="0 0 {z}"><freejoint/><geom {shape} mass="{mass}"/></body>'


ANGLE = math.radians(75)
ELLIPSE = """<body><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/><joint type="hinge" axis="0 -1 0"/>
  <inertial pos="0 0 0" mass="0.05" diaginertia="1.5e-4 1.5e-4 1.5e-4"/><geom type="ellipsoid" size="0.1 0.1 0.05"/></body>"""

# text, start of q and v, end, what is compared
CASES = {
    "ball": (model(free('type="sphere" size="0.1"', 0.1, 2), 0.3), None, [1, 0, 0, 0, 0, 0], 0.2, lambda q, v: [q[0], v[0], v[4]]),
    "box": (model(free('type="box" size="0.1 0.1 0.1"', 0.1, 1), 0.4), None, [0.6, 0.8, 0, 0, 0, 0], 0.4, lambda q, v: [q[0], q[1], v[0], v[1]]),
    "ellipse": (
        model(ELLIPSE, 0.2),
        [0, math.hypot(0.1 * math.sin(ANGLE), 0.05 * math.cos(ANGLE)), ANGLE],
        [0, 0, 0],
        0.5,
        lambda q, v: list(q) + list(v),
    ),
}


def mujoco_lines(references):
    integrators = {"Euler": mujoco.mjtIntegrator.mjINT_EULER, "implicitfast": mujoco.mjtIntegrator.mjINT_IMPLICITFAST, "RK4": mujoco.mjtIntegrator.mjINT_RK4}
    for name, (text, q, v, end, read) in CASES.items():
        for word, integrator in integrators.items():
            for h in STEPS:
                steps = round(end / h)
                m = mujoco.MjModel.from_xml_string(text)
                m.opt.integrator, m.opt.timestep = integrator, end / steps
                least = math.inf
                for _ in range(3):
                    d = mujoco.MjData(m)
                    if q is not None:
                        d.qpos[:] = q
                    d.qvel[:] = v
                    begin = time.process_time()
                    mujoco.mj_step(m, d, steps)
                    least = min(least, time.process_time() - begin)
                error = max(abs(a - b) for a, b in zip(read(d.qpos, d.qvel), references[name]))
                yield [name, f"MuJoCo {word}", f"h={end / steps:.1e}", error, least]


def main():
    source, target = sys.argv[1:3]
    references, lines = {}, []
    for line in csv.DictReader(open(source)):
        if line["scheme"] == "reference":
            references[line["scene"]] = [float(x) for x in line["setting"].split()]
        else:
            lines.append([line["scene"], line["scheme"], line["setting"], float(line["error"]), float(line["seconds"])])
    lines += mujoco_lines(references)
    with open(target.rsplit(".", 1)[0] + ".csv", "w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["scene", "scheme", "setting", "error", "seconds"])
        writer.writerows([scene, scheme, setting, f"{error:.2e}", f"{seconds:.2e}"] for scene, scheme, setting, error, seconds in lines)
    figure, axes = plt.subplots(2, 3, figsize=(13, 8))
    for axis, (scene, title) in zip(axes.flat, TITLES.items()):
        for scheme, colour in COLOURS.items():
            own = [(seconds, max(error, 1e-16)) for s, k, _, error, seconds in lines if (s, k) == (scene, scheme)]
            if own:
                style = "s--" if scheme.startswith("MuJoCo") else "o-"
                axis.loglog([x for x, _ in own], [y for _, y in own], style, color=colour, ms=4, lw=1.2, label=scheme)
        axis.set_title(title, fontsize=10)
        axis.set_xlabel("processor time, s")
        axis.set_ylabel("error at the end")
        axis.grid(alpha=0.3)
    handles = {}
    for axis in axes.flat:
        for handle, label in zip(*axis.get_legend_handles_labels()):
            handles.setdefault(label, handle)
    axes.flat[-1].axis("off")
    axes.flat[-1].legend(handles.values(), handles.keys(), loc="center", frameon=False)
    figure.tight_layout()
    figure.savefig(target, dpi=110)


main()
