#!/usr/bin/env python3
"""Steps of this engine and of MuJoCo on the same scenes, in one run.

    python3 -m venv venv && venv/bin/pip install mujoco numpy
    venv/bin/python scripts/compare_mujoco.py            # two minutes once all is built; --rigid: 1000 rigid spheres too, some minutes more

SI, g = 9.81, h = 1e-3, mu = 0.5. One sphere, one box, ten boxes on each other and a chain of 20 links after 1 s: ours rigid, with Coulomb's cone and a residual
of 1e-10, beside MuJoCo's default (soft contacts, pyramid, Newton) and an accurate setting (elliptic cone, stiff contacts, tolerance 1e-12). Then 200 and 1000
spheres in a box after 1 s, ours at 1e-6 with contacts from soft to rigid, beside MuJoCo's conjugate gradients: the fastest of five batches of ten steps. Softness is the
compliance of a contact in a step, as a share of what the bodies yield there: MuJoCo's is its regularisation `R / A` (median), ours `1 / (h (h k + c))` over 2 / m, with
`c` critical. MuJoCo's times are those of the processor, ours of the wall clock, both on one thread.
"""
import argparse, math, os, re, subprocess, sys, time

try:
    import mujoco, numpy as np
except ImportError:
    sys.exit("compare_mujoco.py wants MuJoCo: python3 -m venv venv && venv/bin/pip install mujoco numpy, then venv/bin/python scripts/compare_mujoco.py")

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
RADIUS, MASS, H = 0.05, 0.5, 1e-3
DEFAULT, GRADIENTS = ("", ""), ('solver="CG"', "")
ACCURATE = ('cone="elliptic" impratio="100" tolerance="1e-12" iterations="200" noslip_iterations="20"', 'solref="0.002 1" solimp="0.999 0.9999 0.001"')
LAWS = {"1e5 N/m": 1e5, "1e6 N/m": 1e6, "1e8 N/m": 1e8, "rigid": math.inf}


def free(shape, x, y, z, mass=1.0):
    return f'<body pos="{x} {y} {z}"><freejoint/><geom {shape} mass="{mass}"/></body>'


def box(height):
    return free('type="box" size="0.1 0.1 0.1"', 0, 0, height)


def chain(links):
    link = '<joint type="hinge" axis="0 1 0"/><geom type="capsule" size="0.01" fromto="0 0 0 0 0 -0.1" mass="0.1" contype="0" conaffinity="0"/>'
    return f'<body pos="0 0 3">{link}' + f'<body pos="0 0 -0.1">{link}' * (links - 1) + "</body>" * links


def pile(count):
    side, random = math.ceil(count ** (1 / 3)), np.random.default_rng(1)
    apart = 2.1 * RADIUS
    wall = side * apart / 2 + RADIUS
    out = [f'<geom type="plane" size="5 5 1" pos="{x * wall} {y * wall} 0" zaxis="{-x} {-y} 0"/>' for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1))]
    for i in range(count):
        x, y = (apart * (k - (side - 1) / 2) + random.normal(0, 1e-3) for k in (i % side, i // side % side))
        out.append(free(f'type="sphere" size="{RADIUS}"', x, y, RADIUS + apart * (i // side**2), MASS))
    return "".join(out)


def theirs(bodies, setting, steps, swing=None):
    """Milliseconds a step, the fastest of five batches, and the softness of contacts."""
    option, geom = setting
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{H}" gravity="0 0 -9.81" {option}/><default><geom friction="0.5 0 0" {geom}/></default>'
        f'<worldbody><geom type="plane" size="50 50 1"/>{bodies}</worldbody></mujoco>')
    data = mujoco.MjData(model)
    if swing:
        data.qpos[0] = swing
    mujoco.mj_step(model, data, 1000)
    best = math.inf
    for _ in range(5):
        begin = time.process_time()
        mujoco.mj_step(model, data, steps)
        best = min(best, (time.process_time() - begin) / steps)
    known = data.efc_diagA[: data.nefc] > 0
    softness = np.median(data.efc_R[: data.nefc][known] / data.efc_diagA[: data.nefc][known]) if known.any() else math.nan
    return 1e3 * best, softness


def cargo(*arguments):
    done = subprocess.run(["cargo", *arguments], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout.splitlines()


def softness(stiffness):
    damping = 2 * math.sqrt(stiffness * MASS / 2)
    return 1 / (H * (H * stiffness + damping)) / (2 / MASS)


def main():
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--rigid", action="store_true", help="1000 rigid spheres too")
    asked = asked.parse_args()
    single = {"one_sphere": free('type="sphere" size="0.1"', 0, 0, 0.1), "one_box": box(0.1), "stack_10": "".join(box(0.1 + 0.2 * i) for i in range(10)), "chain_20": chain(20)}
    lines = cargo("bench", "-q", "-p", "stiction", "--bench", "step", "--", *single)
    ours = {line.split()[0]: 1e-3 * float(line.split()[4]) for line in lines if line.split()[0] in single}
    print(f"{'':12} {'ours, ms':>10} {'default':>10} {'ratio':>6} {'accurate':>10} {'ratio':>6}")
    for name, bodies in single.items():
        swing = 0.5 if name == "chain_20" else None
        default, accurate = (theirs(bodies, setting, 2000, swing)[0] for setting in (DEFAULT, ACCURATE))
        print(f"{name:12} {ours[name]:10.5f} {default:10.5f} {ours[name] / default:6.2f} {accurate:10.5f} {ours[name] / accurate:6.2f}", flush=True)
    print(f"\n{'spheres':>8} {'contacts':>9} {'softness':>9} {'ms':>8} {'of CG':>6}")
    for count in (200, 1000):
        gradients, soft = theirs(pile(count), GRADIENTS, 10)
        print(f"{count:8} {'MuJoCo CG':>9} {soft:9.2g} {gradients:8.2f} {1:6.2f}", flush=True)
        laws = [law for law in LAWS if law != "rigid" or count == 200 or asked.rigid]
        lines = cargo("run", "-q", "--release", "-p", "stiction", "--example", "piles", "--", "laws", str(count), *(law.split()[0] for law in laws))
        for line in lines:
            found = re.match(r"\s*(\S+ N/m|rigid)\s+\d+\s+\d+\s+(\S+)", line)
            if found:
                print(f"{count:8} {found[1]:>9} {softness(LAWS[found[1]]):9.2g} {float(found[2]):8.2f} {float(found[2]) / gradients:6.2f}", flush=True)


if __name__ == "__main__":
    main()
