#!/usr/bin/env python3
"""Random convex parts in a bin: processor time of this engine and of MuJoCo on the same scenes.

    python3 -m venv venv && venv/bin/pip install mujoco numpy
    cargo build --release --example bins --bin stiction
    venv/bin/python scripts/compare_bins.py [FIRST COUNT SECONDS]

The scenes are those of `cargo run --release --example bins -- write SEED`: 1 to 30 parts, some linked, some overlapping at the start. Ours are rigid with Coulomb's
cone and a residual of 1e-10; MuJoCo's are soft, with its default solver and pyramid. Joints of linked parts are balls and hinges in both.
"""
import os, resource, subprocess, sys, tempfile, time, tomllib

try:
    import mujoco
except ImportError:
    sys.exit("compare_bins.py needs MuJoCo: python3 -m venv venv && venv/bin/pip install mujoco numpy")

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
BUILT = os.path.join(os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target")), "release")


def numbers(list_):
    return " ".join(f"{x:.17g}" for x in list_)


def geom(shape, material, assets, name):
    """A shape as a geom; polytopes become meshes."""
    (kind, size), = shape.items()
    common = f'density="{material["density"]:.17g}" friction="{max(material["friction"], 1e-5):.17g} 1e-5 1e-5"'
    if kind == "polytope":
        flat = numbers(x for vertex in size["vertices"] for x in vertex)
        assets.append(f'<mesh name="{name}" vertex="{flat}" inertia="convex"/>')
        return f'<geom type="mesh" mesh="{name}" {common}/>'
    sizes = {
        "sphere": lambda: [size["radius"]],
        "box": lambda: size["half"],
        "ellipsoid": lambda: size["semi_axes"],
        "capsule": lambda: [size["radius"], size["half_length"]],
        "cylinder": lambda: [size["radius"], size["half_length"]],
    }[kind]()
    return f'<geom type="{kind}" size="{numbers(sizes)}" {common}/>'


def mjcf(scene):
    """The scene for MuJoCo, and the velocities of its free bodies by name."""
    material, assets, velocities = scene["material"][0], [], {}
    children = {}
    for body in scene["body"]:
        children.setdefault(body.get("parent"), []).append(body)

    def write(body):
        name, out = body["name"], []
        if body.get("parent"):
            out.append(f'<body name="{name}" pos="{numbers(body["mount"]["position"])}">')
            joint = body["joint"]
            if joint == "spherical":
                out.append('<joint type="ball"/>')
            else:
                out.append(f'<joint type="hinge" axis="{numbers(joint["revolute"]["axis"])}"/>')
        else:
            turn = numbers(body["orientation"]["quaternion"])
            out.append(f'<body name="{name}" pos="{numbers(body["position"])}" quat="{turn}"><freejoint/>')
            velocities[name] = body["velocity"], body["angular_velocity"]
        out.append(geom(body["shape"], material, assets, name))
        out += [line for child in children.get(name, []) for line in write(child)]
        return out + ["</body>"]

    bodies = [line for body in children.get(None, []) for line in write(body)]
    friction = f'friction="{max(material["friction"], 1e-5):.17g} 1e-5 1e-5"'
    world = [f'<geom type="plane" size="2 2 1" {friction}/>']
    for part in scene["world"][1:]:
        world.append(f'<geom type="box" size="{numbers(part["shape"]["box"]["half"])}" pos="{numbers(part["position"])}" {friction}/>')
    text = (f'<mujoco><option timestep="0.001" gravity="0 0 -9.81"/><asset>{"".join(assets)}</asset>'
            f'<worldbody>{"".join(world)}{"".join(bodies)}</worldbody></mujoco>')
    return text, velocities


def theirs(scene, seconds):
    text, velocities = mjcf(scene)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    for name, (v, w) in velocities.items():
        body = model.body(name)
        at = model.jnt_dofadr[model.body_jntadr[body.id]]
        # MuJoCo's angular velocity is in the body's axes
        mujoco.mj_forward(model, data)
        turn = data.xmat[body.id].reshape(3, 3)
        data.qvel[at:at + 3], data.qvel[at + 3:at + 6] = v, turn.T @ w
    begin = time.process_time()
    for _ in range(round(seconds / 1e-3)):
        mujoco.mj_step(model, data)
    return time.process_time() - begin


def ours(path, seconds, out):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([f"{BUILT}/stiction", "run", path, "--duration", str(seconds), "--out", out, "--force", "--quiet"],
                   check=True, stdout=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def main():
    first, count, seconds = [float(a) for a in sys.argv[1:4]] if len(sys.argv) > 3 else (0, 30, 2)
    totals = [0.0, 0.0]
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(int(first), int(first + count)):
            text = subprocess.run([f"{BUILT}/examples/bins", "write", str(seed)], check=True, capture_output=True, text=True).stdout
            path = os.path.join(folder, f"bin-{seed}.toml")
            with open(path, "w") as file:
                file.write(text)
            scene = tomllib.loads(text)
            pair = ours(path, seconds, os.path.join(folder, "recording")), theirs(scene, seconds)
            totals = [a + b for a, b in zip(totals, pair)]
            print(f"seed {seed:4d}  {len(scene['body']):2d} parts  ours {pair[0]:7.3f} s  MuJoCo {pair[1]:7.3f} s")
    print(f"{int(count)} scenes of {seconds} s: ours {totals[0]:.2f} s, MuJoCo {totals[1]:.2f} s, ratio {totals[0] / totals[1]:.2f}")


main()
