//! Bodies with flat sides that are given by functions, on a half-space: they come to rest on a side, at its height, with their weight, and stay there.

use stiction::scene::Scene;
use stiction::space::{length, sub};
use stiction::stepper::Stepper;

const G: f64 = 9.81;

/// Six half-spaces, 0.1 m from the middle.
const BOX: &str = "intersection = { members = [
    { shape = 'half_space', position = [0, 0, 0.1] },
    { shape = 'half_space', position = [0, 0, -0.1], quaternion = [0, 1, 0, 0] },
    { shape = 'half_space', position = [0.1, 0, 0], quaternion = [0.7071067811865476, 0, 0.7071067811865476, 0] },
    { shape = 'half_space', position = [-0.1, 0, 0], quaternion = [0.7071067811865476, 0, -0.7071067811865476, 0] },
    { shape = 'half_space', position = [0, 0.1, 0], quaternion = [0.7071067811865476, -0.7071067811865476, 0, 0] },
    { shape = 'half_space', position = [0, -0.1, 0], quaternion = [0.7071067811865476, 0.7071067811865476, 0, 0] }] }";
const HALF_ELLIPSOID: &str = "intersection = { members = [{ shape = { ellipsoid = { semi_axes = [0.12, 0.1, 0.1] } } }, { shape = 'half_space' }] }";
const HALF_CYLINDER: &str = "intersection = { members = [{ shape = { cylinder = { radius = 0.1, half_length = 0.15 } } }, { shape = 'half_space' }] }";

/// Dropped as it turns over, or near its flat side at 20 degrees to it.
const TUMBLES: &str = "position = [0, 0, 0.3]\nvelocity = [1, 0.3, 0]\nangular_velocity = [3, -5, 2]";
const TILTED: &str = "position = [0, 0, 0.1]\norientation = { axis = [1, 0.3, 0.2], angle_deg = 160 }\nangular_velocity = [0.2, 0.3, 1]";

fn falling(shape: &str, start: &str, scheme: &str, h: f64) -> Scene {
    stiction::from_toml(
        "flat",
        &format!(
            "[[material]]\nname = 'default'\nfriction = 0.5\n
            [[world]]\nname = 'ground'\nshape = 'half_space'\n
            [[body]]\nname = 'body'\nshape = {{ {shape} }}\nmass = 2\ninertia = [0.01, 0.012, 0.014]\ncenter = [0, 0, 0]\n{start}
            [step]\nscheme = '{scheme}'\nh = {h}"
        ),
    )
    .unwrap()
}

/// Runs to rest for 6 s, and then for as long again.
fn rests(name: &str, shape: &str, start: &str, scheme: &str, h: f64) {
    let (mut stepper, steps) =
        (Stepper::new(falling(shape, start, scheme, h)).unwrap(), (6.0 / h).round() as usize);
    let mut state = stepper.initial();
    let mut run = |stepper: &mut Stepper| {
        let mut cut = 0;
        for _ in 0..steps {
            let report =
                stepper.step(&mut state).unwrap_or_else(|e| panic!("{name}, {scheme}, h = {h}: {e}"));
            cut += usize::from(report.parts > 1);
        }
        let pose = stepper.kinematics(&state).pose(0);
        (pose, stepper.energy(&state).kinetic, cut)
    };
    let (first, _, cut) = run(&mut stepper);
    let (last, kinetic, again) = run(&mut stepper);
    let elements = stepper.elements();
    let force: f64 = elements.iter().map(|e| e.force[0]).sum();
    let up = last.attitude.inverse().apply([0.0, 0.0, 1.0]);
    let creep = length(sub(last.position, first.position));
    let turned = length(sub(first.attitude.inverse().apply([0.0, 0.0, 1.0]), up));
    println!(
        "{name}, {scheme}, h = {h}: {kinetic:.1e} J, {cut} + {again} cut, up {up:?}, height {}, {} touches, creep {creep:.1e} m, {turned:.1e} rad, gap {:.1e}",
        last.position[2],
        elements.len(),
        elements.iter().map(|e| e.gap).fold(f64::INFINITY, f64::min)
    );
    assert!((force - 2.0 * G).abs() < 1e-8 * 2.0 * G, "{force}");
    assert!(kinetic < 1e-18 && creep < 1e-9 && turned < 1e-9);
    // it lies on a flat side: the direction of the ground is one of a side, in the shape
    let side = up.iter().any(|x| (x.abs() - 1.0).abs() < 1e-9);
    assert!(side, "{up:?}");
}

#[test]
fn a_box_of_half_spaces_comes_to_rest() {
    for (scheme, h) in [("theta", 1e-3), ("implicit", 1e-2), ("implicit", 1e-3)] {
        rests("box", BOX, TUMBLES, scheme, h);
    }
}

#[test]
fn a_half_ellipsoid_comes_to_rest() {
    for (scheme, h) in [("theta", 1e-3), ("implicit", 1e-2), ("implicit", 1e-3)] {
        rests("half-ellipsoid", HALF_ELLIPSOID, TUMBLES, scheme, h);
        rests("half-ellipsoid", HALF_ELLIPSOID, TILTED, scheme, h);
    }
}

#[test]
fn a_half_cylinder_comes_to_rest() {
    for (scheme, h) in [("theta", 1e-3), ("implicit", 1e-2), ("implicit", 1e-3)] {
        rests("half-cylinder", HALF_CYLINDER, TILTED, scheme, h);
    }
}
