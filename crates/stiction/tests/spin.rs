//! Velocity products (Coriolis, centrifugal, gyroscopic) with the default settings: momentum, energy, closed forms, order in h.
#![allow(missing_docs)]

#[allow(dead_code)]
mod orders;
#[allow(dead_code)]
mod running;

use orders::{DOUBLE_PENDULUM, apart, order};
use running::{G, start};
use std::f64::consts::PI;
use stiction::dynamics::{Kinematics, MassMatrix, System};
use stiction::scene::Scene;
use stiction::space::{Vector, cross, dot, length, scale, sub, unit};
use stiction::state::State;
use stiction::stepper::Stepper;

/// A disc that spins and wobbles, without forces.
const DISC: &str = "
gravity = [0, 0, 0]
[[body]]
name = 'disc'
mass = 1
inertia = [0.01, 0.01, 0.019]
angular_velocity = [20, 0, 100]
";

/// A light link on a hinge of a tumbling part.
const LINK: &str = "
gravity = [0, 0, 0]
[[body]]
name = 'part'
shape = { box = { half = [0.05, 0.03, 0.02] } }
mass = 1
angular_velocity = [30, 20, 10]
[[body]]
name = 'link'
parent = 'part'
joint = { revolute = { axis = [0, 1, 0] } }
mount = { position = [0.09, 0, 0] }
shape = { capsule = { radius = 0.015, half_length = 0.04 } }
mass = 0.33
";

/// Every kind of joint, in two branches on a free base whose centre is not its origin.
const BRANCHES: &str = "
gravity = [0, 0, 0]
[[body]]
name = 'hub'
mass = 2
inertia = [0.02, 0.03, 0.04]
center = [0.03, 0.01, -0.02]
velocity = [1, -2, 0.5]
angular_velocity = [3, -2, 4]
[[body]]
name = 'arm'
parent = 'hub'
joint = 'spherical'
mount = { position = [0.2, 0, 0.1] }
mass = 1
inertia = [0.01, 0.012, 0.004]
center = [0.1, 0.05, 0]
angular_velocity = [1, 2, -3]
[[body]]
name = 'rod'
parent = 'arm'
joint = { revolute = { axis = [0, 1, 1] } }
mount = { position = [0.2, 0, 0] }
mass = 0.5
inertia = [0.002, 0.003, 0.002]
center = [0, 0.1, 0]
angular_velocity = 5
[[body]]
name = 'plate'
parent = 'hub'
joint = 'planar'
mount = { position = [-0.2, 0.1, 0] }
mass = 1
inertia = [0.01, 0.02, 0.02]
center = [0, 0.1, 0.05]
velocity = [0.3, -0.2]
angular_velocity = -4
[[body]]
name = 'slider'
parent = 'plate'
joint = { prismatic = { axis = [1, 1, 0] } }
mount = { position = [0, 0, 0.1] }
mass = 0.4
inertia = [0.001, 0.001, 0.001]
velocity = 0.5
";

/// Mass, distance from the tip to the centre, moments about the tip and the axis of the heavy top.
const TOP: [f64; 4] = [1.0, 0.1, 0.012, 1e-3];

/// A top on a ball joint at the world's origin, tilted by `angle` about x.
fn top(angle: f64, angular_velocity: Vector) -> String {
    let [m, l, across, along] = TOP;
    let own = across - m * l * l;
    format!(
        "[[body]]\nname = 'top'\njoint = 'spherical'\nmass = {m}\ncenter = [0, 0, {l}]\ninertia = [{own}, {own}, {along}]\n\
         orientation = {{ axis = [1, 0, 0], angle = {angle} }}\nangular_velocity = {angular_velocity:?}\n"
    )
}

fn begin(text: &str, h: f64) -> (Stepper, State) {
    start(Scene::from_toml("spin", text).expect("a valid scene"), h)
}

fn step(stepper: &mut Stepper, state: &mut State, steps: usize) {
    for _ in 0..steps {
        let report = stepper.step(state).expect("no step fails");
        assert!(report.parts <= 1, "a step was cut");
    }
}

fn energy(stepper: &mut Stepper, state: &State) -> f64 {
    let energy = stepper.energy(state);
    energy.kinetic + energy.potential + energy.elastic
}

/// Angular velocity of the first body in its own axes.
fn body_spin(stepper: &mut Stepper, state: &State) -> Vector {
    let now = stepper.kinematics(state);
    now.pose(0).attitude.inverse().apply(now.angular_velocity(0))
}

#[test]
fn a_free_body_keeps_energy_and_angular_momentum_to_rounding() {
    // the last one turns by 40 rad a step
    for (h, spin) in [(1e-3, [20.0, 0.0, 100.0]), (1e-2, [20.0, 0.0, 100.0]), (1e-2, [800.0, 100.0, 4000.0])]
    {
        for inertia in ["[0.01, 0.01, 0.019]", "[0.01, 0.015, 0.02]"] {
            let text = DISC.replace("[20, 0, 100]", &format!("{spin:?}"));
            let text = text.replace("[0.01, 0.01, 0.019]", inertia) + "center = [0.1, 0.2, 0.3]\n";
            let (mut stepper, mut state) = begin(&text, h);
            let first = energy(&mut stepper, &state);
            let (p, l) = stepper.kinematics(&state).momentum();
            step(&mut stepper, &mut state, (60.0 / h) as usize);
            let (p_end, l_end) = stepper.kinematics(&state).momentum();
            let far = length(stepper.kinematics(&state).pose(0).position);
            let off = [
                energy(&mut stepper, &state) / first - 1.0,
                length(sub(p_end, p)) / length(p),
                length(sub(l_end, l)) / (length(l) + far * length(p)),
            ];
            println!("h = {h}, {spin:?}, {inertia}: {off:?}");
            // a free body turns by at most 1 rad at once
            let rounding = 1e-15 * 60.0 * (1.0 / h).max(length(spin));
            assert!(off.iter().all(|x| x.abs() < rounding), "h = {h}, {spin:?}, {inertia}: {off:?}");
        }
    }
}

#[test]
fn a_symmetric_body_precesses_at_l_over_its_transverse_moment() {
    // the axis goes round L at |L| / I1, and L stays
    let hs = [2e-3, 1e-3, 5e-4];
    let errors = hs.map(|h| {
        let (mut stepper, mut state) = begin(DISC, h);
        let l = stepper.kinematics(&state).momentum().1;
        let axis = |stepper: &mut Stepper, state: &State| {
            let axis = stepper.kinematics(state).pose(0).attitude.apply([0.0, 0.0, 1.0]);
            unit(sub(axis, scale(dot(axis, l) / dot(l, l), l)))
        };
        let first = axis(&mut stepper, &state);
        step(&mut stepper, &mut state, (0.1 / h).round() as usize);
        let last = axis(&mut stepper, &state);
        let turned = dot(cross(first, last), unit(l)).atan2(dot(first, last));
        let expected = length(l) / 0.01 * 0.1;
        (turned - expected + PI).rem_euclid(2.0 * PI) - PI
    });
    let found = order(&hs, &errors.map(f64::abs));
    println!("{errors:?} rad of 19.1, order {found}");
    assert!(errors[2].abs() < 0.02 && (found - 2.0).abs() < 0.1, "{errors:?}, order {found}");
}

#[test]
fn a_body_flips_about_its_middle_axis_as_elliptic_functions_say() {
    // Landau and Lifshitz, Mechanics, section 37: the middle component is sn of p t, with the period 4 K(m) / p
    let [a, b, c] = [0.01, 0.02, 0.03f64];
    let text =
        DISC.replace("[0.01, 0.01, 0.019]", "[0.01, 0.02, 0.03]").replace("[20, 0, 100]", "[0.1, 20, 0.2]");
    let (mut stepper, mut state) = begin(&text, 1e-3);
    let twice = 2.0 * energy(&mut stepper, &state);
    let l = stepper.kinematics(&state).momentum().1;
    let square = dot(l, l);
    assert!(square > twice * b, "the case of the formulas below");
    let p = ((c - b) * (square - twice * a) / (a * b * c)).sqrt();
    let m = (b - a) * (twice * c - square) / ((c - b) * (square - twice * a));
    let (mut x, mut y) = (1.0f64, (1.0 - m).sqrt());
    for _ in 0..40 {
        (x, y) = (0.5 * (x + y), (x * y).sqrt());
    }
    let expected = 2.0 * (0.5 * PI / x) / p;

    let mut flips = vec![];
    let mut last = body_spin(&mut stepper, &state)[1];
    for _ in 0..20_000 {
        step(&mut stepper, &mut state, 1);
        let now = body_spin(&mut stepper, &state)[1];
        if now * last < 0.0 {
            flips.push(state.time - 1e-3 * now / (now - last));
        }
        last = now;
    }
    let interval = (flips[flips.len() - 1] - flips[0]) / (flips.len() - 1) as f64;
    println!("{} flips, {interval} s apart, {expected} expected", flips.len());
    assert!((interval / expected - 1.0).abs() < 2e-3, "{interval} against {expected}");
    let off = length(sub(stepper.kinematics(&state).momentum().1, l)) / length(l);
    let made = 2.0 * energy(&mut stepper, &state) / twice - 1.0;
    assert!(off < 2e-11 && made.abs() < 4e-11, "angular momentum {off:e}, energy {made:e}");
}

#[test]
fn a_tumbling_tree_keeps_momentum_to_rounding_and_its_energy() {
    // the slider and the plate of the last one fly far off
    for (text, h, end, bound) in
        [(LINK, 1e-3, 60.0, 1e-3), (LINK, 1e-2, 60.0, 1e-2), (BRANCHES, 1e-3, 60.0, 1e-3)]
    {
        let (mut stepper, mut state) = begin(text, h);
        let first = energy(&mut stepper, &state);
        let (p, l) = stepper.kinematics(&state).momentum();
        let mut off = [0.0f64; 3];
        for _ in 0..(end / h) as usize {
            step(&mut stepper, &mut state, 1);
            let (p_now, l_now) = stepper.kinematics(&state).momentum();
            let size = length(l) + length(p) * length(stepper.kinematics(&state).pose(0).position);
            off[0] = off[0].max((energy(&mut stepper, &state) / first - 1.0).abs());
            off[1] = off[1].max(length(sub(p_now, p)) / (length(p) + 1e-3));
            off[2] = off[2].max(length(sub(l_now, l)) / size);
        }
        println!("h = {h}: energy {:e}, momentum {:e}, angular momentum {:e}", off[0], off[1], off[2]);
        assert!(off[0] < bound && off[1] < 1e-10 && off[2] < 1e-10, "h = {h}: {off:?}");
    }
}

/// The motion without forces by the explicit midpoint rule of `v' = M^-1 f`, `f` being Newton and Euler's.
fn reference(system: &System, state: &State, h: f64, steps: usize) -> Vec<f64> {
    let (mut kinematics, mut mass) = (Kinematics::new(system), MassMatrix::new(system));
    let (mut q, mut v) = (state.position.clone(), state.velocity.clone());
    let (mut next, mut a, mut middle) = (q.clone(), v.clone(), v.clone());
    let mut accelerate = |q: &[f64], v: &[f64], a: &mut [f64]| {
        kinematics.update(q, v);
        mass.update(&kinematics).expect("regular");
        kinematics.bias([0.0; 3], a);
        mass.solve(a);
    };
    for _ in 0..steps {
        accelerate(&q, &v, &mut a);
        middle.iter_mut().zip(&v).zip(&a).for_each(|((m, v), a)| *m = v + 0.5 * h * a);
        system.advance(&q, &v, 0.5 * h, &mut next);
        accelerate(&next, &middle, &mut a);
        system.advance(&q, &middle, h, &mut next);
        q.copy_from_slice(&next);
        v.iter_mut().zip(&a).for_each(|(v, a)| *v += h * a);
    }
    q
}

#[test]
fn free_motion_is_of_second_order() {
    for text in [LINK, BRANCHES] {
        let (stepper, state) = begin(text, 1e-3);
        let exact = reference(stepper.model().system(), &state, 1e-5, 20_000);
        let hs = [4e-3, 2e-3, 1e-3];
        let errors = hs.map(|h| {
            let (mut stepper, mut state) = begin(text, h);
            step(&mut stepper, &mut state, (0.2 / h).round() as usize);
            apart(&state.position, &exact)
        });
        let found = order(&hs, &errors);
        println!("{errors:?}, order {found}");
        assert!((found - 2.0).abs() < 0.15, "{errors:?}, order {found}");
    }
}

#[test]
fn a_steady_top_precesses_as_lagrange_says() {
    // I3 w3 W - I1 W^2 cos a = m g l
    let ([m, l, across, along], angle, spin) = (TOP, 0.5f64, 400.0);
    let (moment, torque, cos) = (along * spin, m * G * l, angle.cos());
    let rate = (moment - (moment * moment - 4.0 * across * cos * torque).sqrt()) / (2.0 * across * cos);
    let axis = [0.0, -angle.sin(), cos];
    let own = scale(spin - rate * cos, axis);
    let text = top(angle, [own[0], own[1], own[2] + rate]);
    let errors = [1e-3, 5e-4].map(|h| {
        let (mut stepper, mut state) = begin(&text, h);
        let mut tilted = 0.0f64;
        for _ in 0..(0.5 / h) as usize {
            step(&mut stepper, &mut state, 1);
            let z = stepper.kinematics(&state).pose(0).attitude.apply([0.0, 0.0, 1.0])[2];
            tilted = tilted.max((z.acos() - angle).abs());
        }
        let now = stepper.kinematics(&state).pose(0).attitude.apply([0.0, 0.0, 1.0]);
        let turned = now[0].atan2(-now[1]).rem_euclid(2.0 * PI);
        let expected = (rate * state.time).rem_euclid(2.0 * PI);
        println!("h = {h}: turned by {turned}, {expected} expected, nutation {tilted}");
        assert!(tilted < 0.02, "h = {h}: {tilted} rad of nutation");
        (turned - expected).abs()
    });
    assert!(errors[0] < 0.03 && errors[1] < 0.6 * errors[0] + 1e-6, "{errors:?}");
}

#[test]
fn a_heavy_top_keeps_its_three_integrals_in_a_million_steps() {
    let angle = 0.5f64;
    let (mut stepper, mut state) = begin(&top(angle, [0.0, -100.0 * angle.sin(), 100.0 * angle.cos()]), 1e-3);
    let integrals = |stepper: &mut Stepper, state: &State| {
        let e = energy(stepper, state);
        let now = stepper.kinematics(state);
        let l = now.momentum().1;
        [e, l[2], dot(l, now.pose(0).attitude.apply([0.0, 0.0, 1.0]))]
    };
    let first = integrals(&mut stepper, &state);
    let mut off = [0.0f64; 3];
    for _ in 0..10_000 {
        step(&mut stepper, &mut state, 100);
        let now = integrals(&mut stepper, &state);
        (0..3).for_each(|k| off[k] = off[k].max((now[k] / first[k] - 1.0).abs()));
    }
    println!("energy {:e}, vertical {:e}, axial {:e}", off[0], off[1], off[2]);
    assert!(off.iter().all(|x| *x < 1e-2), "{off:?}");
}

#[test]
fn a_double_pendulum_keeps_its_energy_in_a_million_steps() {
    let (mut stepper, mut state) = begin(DOUBLE_PENDULUM.scene, 1e-3);
    // above the lowest place: both rods hanging
    let lowest = -G * (0.5 + 1.5);
    let first = energy(&mut stepper, &state) - lowest;
    let mut off = 0.0f64;
    for _ in 0..10_000 {
        step(&mut stepper, &mut state, 100);
        off = off.max(((energy(&mut stepper, &state) - lowest) / first - 1.0).abs());
    }
    println!("{off:e} of the energy");
    assert!(off < 1e-2, "{off:e}");
}

#[test]
fn a_step_depends_on_its_state_alone() {
    for text in [DISC, LINK, BRANCHES, DOUBLE_PENDULUM.scene] {
        let (mut stepper, mut state) = begin(text, 1e-3);
        step(&mut stepper, &mut state, 50);
        let mut fresh = state.clone();
        step(&mut stepper, &mut state, 50);
        step(&mut begin(text, 1e-3).0, &mut fresh, 50);
        assert_eq!(state, fresh);
    }
}

/// Energy above the start's at most, as a share, in 10 s of a body on a plane.
fn gained(body: &str, h: f64) -> (f64, Stepper, State) {
    let text = format!("[[world]]\nname = 'ground'\nshape = 'half_space'\n[[body]]\nname = 'body'\n{body}");
    let (mut stepper, mut state) = begin(&text, h);
    let first = energy(&mut stepper, &state);
    let mut most = f64::NEG_INFINITY;
    for _ in 0..(10.0 / h) as usize {
        let _ = stepper.step(&mut state).expect("no step fails");
        most = most.max(energy(&mut stepper, &state) / first - 1.0);
    }
    (most, stepper, state)
}

#[test]
fn a_fast_top_on_its_tip_stays_up_and_gains_no_energy() {
    let body = "mass = 0.1\ninertia = [6e-5, 6e-5, 4e-5]\ncenter = [0, 0, 0]\nposition = [0, 0, 0.045]\n\
                orientation = { axis = [1, 0, 0], angle_deg = 5 }\nangular_velocity = [0, 0, 300]\n\
                [[body.part]]\nshape = { sphere = { radius = 5e-3 } }\nposition = [0, 0, -0.04]\n";
    for h in [1e-3, 5e-4] {
        let (most, stepper, state) = gained(body, h);
        let up = state.position[2];
        println!("h = {h}: {most:e} gained, {up} m high at the end, {} contacts", stepper.elements().len());
        assert!(most < 1e-3 && up > 0.04, "h = {h}: {most:e} gained, {up} m high");
    }
}

#[test]
fn a_spinning_coin_gains_no_energy() {
    let body = "mass = 0.01\nshape = { cylinder = { radius = 0.02, half_length = 1e-3 } }\nposition = [0, 0, 0.0203]\n\
                orientation = { axis = [1, 0, 0], angle_deg = 80 }\nangular_velocity = [0, 0, 100]\n";
    for h in [1e-3, 5e-4] {
        let (most, mut stepper, state) = gained(body, h);
        let kinetic = stepper.energy(&state).kinetic;
        println!("h = {h}: {most:e} gained, {kinetic:e} J left");
        assert!(most < 1e-3, "h = {h}: {most:e} gained");
    }
}
