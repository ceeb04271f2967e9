//! The implicit scheme where surfaces are nearly flat: superellipsoids on the middles of their faces, whose contact point is an unknown of the step.
//! Ends of steps are checked against the equations themselves, written here from the formulas of the shape and of rigid bodies.

use stiction::scene::Scene;
use stiction::space::{Vector, add, cross, length, scale, sub, times, unit};
use stiction::stepper::Stepper;

const G: f64 = 9.81;

/// A superellipsoid over the floor, turned by `tilt` degrees about an axis in the floor.
fn over_floor(exponent: f64, law: &str, tilt: f64, spin: Vector) -> Scene {
    let height = 0.034 + 0.001 * tilt;
    stiction::from_toml(
        "flat",
        &format!(
            "[[material]]\nname = 'default'\nfriction = 0.4\ntorsion = 0.005\ndensity = 1000\n{law}\n
            [[world]]\nname = 'floor'\nshape = 'half_space'\n
            [[body]]\nname = 'body'\nshape = {{ superellipsoid = {{ semi_axes = [0.05, 0.04, 0.03], exponent = {exponent} }} }}\nposition = [0, 0, {height}]
            orientation = {{ axis = [1, 0.6, 0], angle_deg = {tilt} }}\nangular_velocity = {spin:?}
            [step]\nscheme = 'implicit'\nh = 2e-3"
        ),
    )
    .unwrap()
}

/// Outward normal of the superellipsoid at a point of its own coordinates.
fn normal([x, y, z]: Vector, exponent: f64) -> Vector {
    let part = |x: f64, a: f64| (x.abs() / a).powf(exponent - 1.0) * x.signum() / a;
    unit([part(x, 0.05), part(y, 0.04), part(z, 0.03)])
}

/// The largest defects of the steps of a body: momentum over `h m g` and `h m g` times its size, and the angle between the surfaces where it touches.
struct Defects {
    momentum: f64,
    moment: f64,
    angle: f64,
    parts: usize,
    rounds: usize,
}

fn follow(scene: Scene, exponent: f64, steps: usize) -> (Stepper, stiction::state::State, Defects) {
    let mut stepper = Stepper::new(scene).unwrap();
    let mut state = stepper.initial();
    let inertia = stepper.model().system().links()[0].inertia;
    let h = 2e-3;
    let mut worst = Defects { momentum: 0.0, moment: 0.0, angle: 0.0, parts: 0, rounds: 0 };
    // momentum and angular momentum about the centre of mass, which is the body's origin
    let momenta = |stepper: &mut Stepper, state: &stiction::state::State| {
        let kinematics = stepper.kinematics(state);
        let (pose, (v, omega)) = (kinematics.pose(0), kinematics.velocity(0));
        let own = times(&inertia.tensor, pose.attitude.inverse().apply(omega));
        (scale(inertia.mass, v), pose.attitude.apply(own), pose)
    };
    for _ in 0..steps {
        let (p, l, _) = momenta(&mut stepper, &state);
        let report = stepper.step(&mut state).expect("no step fails");
        worst.rounds += report.rounds;
        worst.parts = worst.parts.max(report.parts);
        let elements = stepper.elements().to_vec();
        let (p_end, l_end, pose) = momenta(&mut stepper, &state);
        if report.parts > 1 {
            continue;
        }
        let (mut force, mut moment) = ([0.0, 0.0, -inertia.mass * G], [0.0; 3]);
        for e in &elements {
            let own = e.frame.world(e.force);
            force = add(force, own);
            moment = add(moment, cross(sub(e.point, pose.position), own));
            moment = add(moment, scale(e.moment[0], e.frame.n));
            if e.force[0] > 0.0 {
                // e.point lies halfway between the surfaces
                let at = pose.local(e.point);
                let out = pose.attitude.apply(normal(at, exponent));
                worst.angle = worst.angle.max(length(cross(out, e.frame.n)));
            }
        }
        let unit = h * inertia.mass * G;
        worst.momentum = worst.momentum.max(length(sub(sub(p_end, p), scale(h, force))) / unit);
        worst.moment = worst.moment.max(length(sub(sub(l_end, l), scale(h, moment))) / (0.05 * unit));
    }
    (stepper, state, worst)
}

/// Bodies that rock, roll and spin on a flat spot: momenta change by what the forces at the reported points give, and the surfaces are parallel there.
#[test]
fn ends_on_flat_spots_satisfy_the_equations_of_motion() {
    for exponent in [2.5, 3.0, 4.0, 6.0] {
        for (tilt, spin) in [(2.0, [0.0; 3]), (8.0, [0.5, -0.3, 3.0]), (25.0, [-2.0, 1.0, 6.0])] {
            let (_, _, worst) = follow(over_floor(exponent, "", tilt, spin), exponent, 500);
            println!(
                "exponent {exponent}, tilt {tilt}: momentum {:.1e}, moment {:.1e}, angle {:.1e}, parts {}, {} rounds",
                worst.momentum, worst.moment, worst.angle, worst.parts, worst.rounds
            );
            assert!(
                worst.momentum < 1e-12 && worst.moment < 1e-10,
                "{:e} {:e}",
                worst.momentum,
                worst.moment
            );
            assert!(worst.angle < 1e-11, "{:e}", worst.angle);
            assert!(worst.rounds < 10 * 500, "{} iterations", worst.rounds);
        }
    }
}

/// The point ends under the centre, although no turn of the body determines it there, and carries the weight.
#[test]
fn bodies_come_to_rest_on_the_middles_of_their_faces() {
    let layer = "law = { layer = { stiffness = [2e4, 1e4], damping = [40, 30], thickness = 0.002 } }";
    for (law, exponent) in [("", 3.0), ("", 4.0), (layer, 4.0)] {
        let (mut stepper, state, _) = follow(over_floor(exponent, law, 6.0, [0.4, 0.0, 0.0]), exponent, 1500);
        let kinetic = stepper.energy(&state).kinetic;
        let loaded: Vec<_> = stepper.elements().iter().filter(|e| e.force[0] > 0.0).copied().collect();
        let weight = stepper.model().system().links()[0].inertia.mass * G;
        let pose = stepper.kinematics(&state).pose(0);
        println!(
            "exponent {exponent}: {kinetic:e} J, {:?}",
            loaded.iter().map(|e| e.point).collect::<Vec<_>>()
        );
        assert!(kinetic < 1e-20, "{kinetic:e}");
        assert_eq!(loaded.len(), 1);
        assert!((loaded[0].force[0] - weight).abs() < 1e-8 * weight, "{:e}", loaded[0].force[0] - weight);
        let arm = sub(loaded[0].point, pose.position);
        assert!(arm[0].hypot(arm[1]) < 1e-9, "{arm:?}");
    }
}

/// Flat spots on flat spots that move: a body on a box, and one body on another.
#[test]
fn bodies_rest_on_bodies_by_their_flat_spots() {
    for below in [
        "box = { half = [0.06, 0.05, 0.03] }",
        "superellipsoid = { semi_axes = [0.06, 0.05, 0.03], exponent = 4 }",
    ] {
        let text = format!(
            "[[material]]\nname = 'default'\nfriction = 0.4\ntorsion = 0.005\ndensity = 1000\n
            [[world]]\nname = 'floor'\nshape = 'half_space'\n
            [[body]]\nname = 'below'\nshape = {{ {below} }}\nposition = [0, 0, 0.03]
            [[body]]\nname = 'above'\nshape = {{ superellipsoid = {{ semi_axes = [0.04, 0.05, 0.02], exponent = 3.5 }} }}\nposition = [0.003, 0.002, 0.083]
            orientation = {{ axis = [0.3, 1, 0], angle_deg = 3 }}\nangular_velocity = [0.1, 0.2, 0.5]
            [step]\nscheme = 'implicit'\nh = 2e-3"
        );
        let mut stepper = Stepper::new(stiction::from_toml("two", &text).unwrap()).unwrap();
        let mut state = stepper.initial();
        let (mut rounds, mut cut, mut residual) = (0, 0, 0.0f64);
        for _ in 0..1500 {
            let report = stepper.step(&mut state).unwrap_or_else(|e| panic!("{below}: {e}"));
            rounds += report.rounds;
            cut += usize::from(report.parts > 1);
            residual = residual.max(report.residual.relative);
        }
        let kinetic = stepper.energy(&state).kinetic;
        let up = stepper.kinematics(&state).pose(1).attitude.apply([0.0, 0.0, 1.0]);
        println!("{below}: {kinetic:e} J, {rounds} rounds, {cut} cut, residual {residual:e}, up {up:?}");
        assert!(kinetic < 1e-12, "{below}: {kinetic:e} J");
        assert!(up[2] > 0.999, "{below}: it lies on its flat side, {up:?}");
    }
}
