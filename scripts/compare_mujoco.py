#!/usr/bin/env python3
"""Steps of this engine and of MuJoCo on the same scenes, in one run.

    python3 -m venv venv && venv/bin/pip install mujoco numpy
    venv/bin/python scripts/compare_mujoco.py            # two minutes once all is built; --rigid: 1000 rigid spheres too, some minutes more

SI, g = 9.81, h = 1e-3, mu = 0.5. One sphere, one box, ten boxes on each other and a chain of 20 links after 1 s: ours rigid, with Coulomb's cone and a residual
of 1e-10, beside MuJoCo's default (soft contacts, pyramid, Newton) and an accurate setting (elliptic cone, stiff contacts, tolerance 1e-12). Then 200 and 1000
spheres in a box after 1 s, from the same places, beside MuJoCo's conjugate gradients with its default contacts: ours at 1e-6 with contacts as soft as MuJoCo's, much
stiffer, and rigid; the fastest of five batches of ten steps. Softness is the compliance of a contact in a step, as a share of what the bodies yield there: MuJoCo's is its
regularisation `R / A` (median), ours `1 / (h (h k + c))` over 2 / m, with `c` critical. MuJoCo's times are those of the processor, ours of the wall clock, both on one thread.
"""
import argparse, math, os, subprocess, sys, tempfile, time

try:
    import mujoco, numpy as np
except ImportError:
    sys.exit("compare_mujoco.py wants MuJoCo: python3 -m venv venv && venv/bin/pip install mujoco numpy, then venv/bin/python scripts/compare_mujoco.py")

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
RADIUS, MASS, H = 0.05, 0.5, 1e-3
DEFAULT, GRADIENTS = ("", ""), ('solver="CG"', "")
ACCURATE = ('cone="elliptic" impratio="100" tolerance="1e-12" iterations="200" noslip_iterations="20"', 'solref="0.002 1" solimp="0.999 0.9999 0.001"')


def free(shape, x, y, z, mass=1.0):
    return f'<body pos="{x} {y} {z}"><freejoint/><geom {shape} mass="{mass}"/></body>'


def box(height):
    return free('type="box" size="0.1 0.1 0.1"', 0, 0, height)


def chain(links):
    link = '<joint type="hinge" axis="0 1 0"/><geom type="capsule" size="0.01" fromto="0 0 0 0 0 -0.1" mass="0.1" contype="0" conaffinity="0"/>'
    return f'<body pos="0 0 3">{link}' + f'<body pos="0 0 -0.1">{link}' * (links - 1) + "</body>" * links


def pile(count):
    """Half the width of the box, and where its spheres start."""
    side, random = math.ceil(count ** (1 / 3) - 1e-9), np.random.default_rng(1)
    apart = 2.1 * RADIUS
    spots = []
    for i in range(count):
        x, y = (float(apart * (k - (side - 1) / 2) + random.normal(0, 1e-3)) for k in (i % side, i // side % side))
        spots.append((x, y, RADIUS + apart * (i // side**2)))
    return side * apart / 2 + RADIUS, spots


WALLS = ((1, 0), (-1, 0), (0, 1), (0, -1))


def as_mujoco(wall, spots):
    planes = (f'<geom type="plane" size="5 5 1" pos="{x * wall} {y * wall} 0" zaxis="{-x} {-y} 0"/>' for x, y in WALLS)
    return "".join(planes) + "".join(free(f'type="sphere" size="{RADIUS}"', x, y, z, MASS) for x, y, z in spots)


def as_scene(wall, spots, stiffness):
    law = f"{{ kelvin_voigt = {{ stiffness = [{stiffness}, {0.8 * stiffness}], damping_ratio = 1, mass = {MASS / 2} }} }}" if stiffness < math.inf else '"rigid"'
    out = [f'[[material]]\nname = "default"\nfriction = 0.5\nlaw = {law}\n[[world]]\nname = "ground"\nshape = "half_space"\n']
    for x, y in WALLS:
        place, turn = f"[{x * wall}, {y * wall}, 0]", f"{{ axis = [{abs(y)}, {abs(x)}, 0], angle_deg = {90 * (y - x)} }}"
        out.append(f'[[world]]\nname = "wall {x} {y}"\nshape = "half_space"\nposition = {place}\norientation = {turn}\n')
    for i, (x, y, z) in enumerate(spots):
        out.append(f'[[body]]\nname = "ball {i}"\nshape = {{ sphere = {{ radius = {RADIUS} }} }}\nmass = {MASS}\nposition = [{x}, {y}, {z}]\n')
    return "".join(out) + f"[step]\nh = {H}\nduration = 1\ntolerance = 1e-6\n"


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


def stiffness(softness):
    """N/m at which contacts with critical damping are so soft in a step."""
    # h^2 k + 2 h sqrt(k m / 2) = (m / 2) / softness
    root = math.sqrt(MASS / 2) * (math.sqrt(1 + 1 / softness) - 1) / H
    return root**2


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
    print(f"\n{'spheres':>8} {'contacts':>12} {'softness':>9} {'ms':>8} {'of CG':>6}")
    for count in (200, 1000):
        places = pile(count)
        gradients, soft = theirs(as_mujoco(*places), GRADIENTS, 10)
        print(f"{count:8} {'MuJoCo CG':>12} {soft:9.2g} {gradients:8.2f} {1:6.2f}", flush=True)
        for softness in (soft, 0.0023, 0.0) if count == 200 or asked.rigid else (soft, 0.0023):
            k = stiffness(softness) if softness else math.inf
            with tempfile.TemporaryDirectory() as folder:
                scene = os.path.join(folder, "pile.toml")
                with open(scene, "w") as file:
                    file.write(as_scene(*places, k))
                line = cargo("run", "-q", "--release", "-p", "stiction", "--example", "piles", "--", "scenes", scene)[-1]
            each = float(line.split()[3])
            print(f"{count:8} {f'{k:.1e} N/m' if softness else 'rigid':>12} {softness:9.2g} {each:8.2f} {each / gradients:6.2f}", flush=True)


if __name__ == "__main__":
    main()
