#!/usr/bin/env python3
"""A walking machine with 20 joints: steps of this engine and of MuJoCo, in one run.

    python3 -m venv venv && venv/bin/pip install mujoco numpy
    venv/bin/python scripts/compare_mujoco_machine.py

A trunk of 10 kg on four legs with five joints each (hip yaw, roll and pitch, knee, ankle) and servos on all of them, with the same masses, joints, gains and targets on both sides. It
steps in place: diagonal legs are lifted in turn at 1 Hz. SI, h = 1e-3, mu = 0.8, spherical feet. Both run one second and then 2000 steps that are timed, in batches of
100; the fastest and the median batch count. Ours: rigid contacts, Coulomb's cone, residual 1e-10. MuJoCo: its default, and an accurate setting (elliptic cone, stiff contacts, tolerance
1e-12, implicit integration of the gains).
"""
import math, os, subprocess, sys, tempfile, time

try:
    import mujoco, numpy as np
except ImportError:
    sys.exit("compare_mujoco_machine.py wants MuJoCo: python3 -m venv venv && venv/bin/pip install mujoco numpy, then venv/bin/python scripts/compare_mujoco_machine.py")

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
H, KP, KD, FMAX, RADIUS, MU = 1e-3, 400.0, 8.0, 80.0, 0.025, 0.8
# name, axis, place in the parent, mass, centre, diagonal of the inertia, angle of the stand
JOINTS = [
    ("yaw", (0, 0, 1), None, 0.3, (0, 0, 0), (4e-4, 4e-4, 4e-4), 0.0),
    ("roll", (1, 0, 0), (0, 0, 0), 0.3, (0, 0, 0), (4e-4, 4e-4, 4e-4), 0.0),
    ("pitch", (0, 1, 0), (0, 0, 0), 0.8, (0, 0, -0.1), (3e-3, 3e-3, 5e-4), -0.4),
    ("knee", (0, 1, 0), (0, 0, -0.2), 0.4, (0, 0, -0.1), (1.5e-3, 1.5e-3, 2e-4), 0.8),
    ("ankle", (0, 1, 0), (0, 0, -0.2), 0.1, (0, 0, -0.02), (1e-4, 1e-4, 1e-4), -0.4),
]
LEGS = [("lf", 0.25, 0.15, 0), ("rf", 0.25, -0.15, 1), ("lh", -0.25, 0.15, 1), ("rh", -0.25, -0.15, 0)]
HEIGHT = 0.2 * math.cos(0.4) + 0.2 * math.cos(0.4) + 0.04 + RADIUS
LIFT = {"pitch": -0.25, "knee": 0.5, "ankle": -0.25}


def phase(group):
    return math.pi * group


def vec(v):
    return "[" + ", ".join(f"{x:g}" for x in v) + "]"


def ours():
    out = [f'[[material]]\nname = "default"\nfriction = {MU}\n[[world]]\nname = "ground"\nshape = "half_space"\n']
    out.append(f'[[body]]\nname = "trunk"\nmass = 10\ncenter = [0, 0, 0]\ninertia = [0.12, 0.35, 0.4]\nposition = [0, 0, {HEIGHT!r}]\n')
    for leg, x, y, group in LEGS:
        parent = "trunk"
        for name, axis, place, mass, center, inertia, angle in JOINTS:
            at = (x, y, 0) if place is None else place
            body = f"{leg} {name}"
            out.append(
                f'[[body]]\nname = "{body}"\nparent = "{parent}"\nmount = {{ position = {vec(at)} }}\nmass = {mass}\ncenter = {vec(center)}\ninertia = {vec(inertia)}\n'
                f'angle = {angle}\njoint = {{ revolute = {{ axis = {vec(axis)}, damping = 0.05, armature = 0.01 }} }}\n'
            )
            if name == "ankle":
                out.append(f"part = [{{ shape = {{ sphere = {{ radius = {RADIUS} }} }}, position = [0, 0, -0.04] }}]\n")
            lift = LIFT.get(name, 0.0)
            course = f"{{ sinusoid = {{ amplitude = {lift / 2}, frequency = 1, phase = {phase(group)!r}, offset = {angle} }} }}" if lift else f"{{ constant = {angle} }}"
            out.append(f'[[motor]]\nbody = "{body}"\nposition = {course}\nvelocity = {{ constant = 0 }}\nstiffness = {KP}\ndamping = {KD}\nmax_effort = {FMAX}\n')
            parent = body
    out.append(f"[step]\nh = {H}\nduration = 10\n")
    return "".join(out)


def theirs(accurate):
    option = '<option timestep="0.001" integrator="implicitfast"/>'
    contact = ""
    if accurate:
        option = '<option timestep="0.001" integrator="implicitfast" cone="elliptic" impratio="100" tolerance="1e-12" iterations="200" noslip_iterations="20"/>'
        contact = 'solref="0.002 1" solimp="0.999 0.9999 0.001"'
    legs, motors = [], []
    for leg, x, y, group in LEGS:
        text, end = "", ""
        for name, axis, place, mass, center, inertia, angle in JOINTS:
            at = (x, y, 0) if place is None else place
            sp = lambda v: " ".join(f"{c:g}" for c in v)
            text += f'<body name="{leg}{name}" pos="{sp(at)}"><inertial pos="{sp(center)}" mass="{mass}" diaginertia="{sp(inertia)}"/><joint name="{leg}{name}" axis="{sp(axis)}" damping="0.05" armature="0.01"/>'
            if name == "ankle":
                text += f'<geom type="sphere" size="{RADIUS}" pos="0 0 -0.04" friction="{MU} 0 0" {contact}/>'
            end += "</body>"
            motors.append(f'<position joint="{leg}{name}" kp="{KP}" kv="{KD}" forcerange="{-FMAX} {FMAX}"/>')
        legs.append(text + end)
    return (
        f'<mujoco>{option}<worldbody><geom type="plane" size="5 5 1" friction="{MU} 0 0" {contact}/><body pos="0 0 {HEIGHT!r}"><freejoint/>'
        f'<inertial pos="0 0 0" mass="10" diaginertia="0.12 0.35 0.4"/>{"".join(legs)}</body></worldbody><actuator>{"".join(motors)}</actuator></mujoco>'
    )


def targets(t):
    out = []
    for _, _, _, group in LEGS:
        for name, *_, angle in JOINTS:
            out.append(angle + LIFT.get(name, 0.0) / 2 * math.sin(2 * math.pi * t + phase(group)))
    return out


def time_mujoco(accurate):
    model = mujoco.MjModel.from_xml_string(theirs(accurate))
    data = mujoco.MjData(model)
    data.qpos[7:] = [a for _ in LEGS for *_, a in JOINTS]
    control = np.array([targets(k * H) for k in range(3001)])
    for k in range(1000):
        data.ctrl[:] = control[k + 1]
        mujoco.mj_step(model, data)
    each = []
    for batch in range(20):
        begin = time.process_time()
        for k in range(100):
            data.ctrl[:] = control[1000 + 100 * batch + k + 1]
            mujoco.mj_step(model, data)
        each.append((time.process_time() - begin) / 100)
    # what the copy of targets takes
    begin = time.process_time()
    for k in range(2000):
        data.ctrl[:] = control[k]
    copy = (time.process_time() - begin) / 2000
    return np.array(each) - copy, data.qpos[2], data.ncon


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "walker-20.toml")
        open(path, "w").write(ours())
        command = ["cargo", "run", "--release", "-q", "-p", "stiction", "--example", "machine_speed", "--", path]
        print(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout, end="")
    for name, accurate in (("MuJoCo, default", False), ("MuJoCo, accurate", True)):
        each, height, contacts = time_mujoco(accurate)
        print(f"{name}: {1e6 * each.min():.1f} us per step (fastest batch), {1e6 * np.median(each):.1f} (median); trunk at {height:.4f} m, {contacts} contacts at the end")


main()
