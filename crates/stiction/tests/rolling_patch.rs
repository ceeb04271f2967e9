//! Patches that roll: free rolling, Kalker's linear theory, saturation; half-spaces on bodies that turn; Hertz without delay.

use crate::running;

use running::{go, run, scene, start};
use stiction::space::{Vector, length, scale, sub};
use stiction::stepper::Stepper;

const YOUNG: f64 = 2e9;
const RADIUS: f64 = 0.05;
const LOAD: f64 = 500.0;

/// Radius and approach of Hertz' contact for two bodies of one material (Johnson (4.22), (4.23)).
fn hertz(poisson: f64) -> [f64; 2] {
    let modulus = YOUNG / (2.0 * (1.0 - poisson * poisson));
    let a = (3.0 * LOAD * RADIUS / (4.0 * modulus)).cbrt();
    [a, a * a / RADIUS]
}

#[test]
fn a_ball_rolls_freely_on_a_patch_along_any_heading() {
    for heading in [0.0f64, 0.5, 2.2] {
        for h in [1e-3, 2.5e-4] {
            let mut ball = scene("rolling-patch.toml");
            let (s, c) = heading.sin_cos();
            let w = 20.026_545_922_536_954;
            ball.set("body[ball].velocity", &format!("[{c}, {s}, 0]")).expect("a valid value");
            let turn = format!("[{}, {}, 0]", -w * s, w * c);
            ball.set("body[ball].angular_velocity", &turn).expect("a valid value");
            ball.loads.remove(0);
            let press = "[[load]]\nbody = 'ball'\nforce = { constant = [0, 0, -500] }\n";
            let ball = stiction::from_toml("free", &(ball.to_toml() + press)).expect("a valid scene");
            let (mut stepper, state) = run(ball, h, 0.06);
            let v = stepper.kinematics(&state).velocity(0).0;
            let off = length(sub(v, [c, s, v[2]]));
            // a moment P h v would take 7.8 m/s^2, 0.47 m/s, at h = 1e-3
            assert!(off < 0.3 * h, "heading {heading}, h = {h}: {off:e} m/s");
        }
    }
}

/// Creep under traction takes energy: what leaves with the material at the trailing edge is booked, and the balance closes whatever the step.
#[test]
fn the_energy_of_a_rolling_patch_adds_up() {
    let mut lost = vec![];
    for h in [1e-3, 2e-4] {
        let (mut stepper, mut state) = start(scene("rolling-patch.toml"), h);
        // the ball begins at Hertz' depth without deformation
        go(&mut stepper, &mut state, (0.005 / h).round() as usize, |_, _| ());
        let total = |stepper: &mut Stepper, state: &_| {
            let e = stepper.energy(state);
            e.kinetic + e.potential + e.elastic
        };
        let (before, mut booked, mut travel, mut friction) = (total(&mut stepper, &state), 0.0, 0.0, 0.0);
        for _ in 0..(0.055 / h).round() as usize {
            let r = stepper.step(&mut state).expect("no step fails");
            booked += r.friction_loss + r.damping_loss + r.release_loss + r.transport_loss
                - r.work
                - r.recovery_work;
            travel += r.transport_loss;
            friction += r.friction_loss;
        }
        let error = total(&mut stepper, &state) - before + booked;
        println!("h = {h}: {error:e} J of {travel:e} J lost in travel, {friction:e} J to friction");
        assert!(error.abs() < 1e-3 * travel && travel > 1e-3, "h = {h}: {error:e} of {travel:e} J");
        lost.push(travel + friction);
    }
    assert!((lost[0] / lost[1] - 1.0).abs() < 0.15, "{lost:?} J");
}

/// Forces on a ball that rolls steadily along x at 1 m/s, in space and for long: its mass holds velocities and approach. Creepages along
/// and across, and spin in 1/m, over `transits` times the diameter of the contact, which is 0.86 of the patch.
fn creep(elements: usize, friction: f64, [along, across, spin]: Vector, transits: f64) -> Vector {
    let [a, approach] = hertz(0.25);
    let (spacing, lever) = (2.0 * a / 0.86 / elements as f64, RADIUS - 0.5 * approach);
    let (v, w) = (1.0 + 0.5 * along, (1.0 - 0.5 * along) / lever);
    let text = format!(
        "gravity = [0, 0, 0]\n[[material]]\nname = 'p'\nyoung = {YOUNG}\npoisson = 0.25\nfriction = {friction}\n\
         law = {{ half_space = {{ elements = {elements}, spacing = {spacing} }} }}\n\
         [[world]]\nname = 'block'\nshape = 'half_space'\nmaterial = 'p'\n\
         [[body]]\nname = 'ball'\nmass = 1e7\ninertia = [1e7, 1e7, 1e7]\nmaterial = 'p'\n\
         shape = {{ sphere = {{ radius = {RADIUS} }} }}\nposition = [0, 0, {}]\n\
         velocity = [{v}, {across}, 0]\nangular_velocity = [0, {w}, {spin}]\n",
        RADIUS - approach
    );
    let (mut stepper, mut state) =
        start(stiction::from_toml("creep", &text).expect("a valid scene"), spacing);
    go(&mut stepper, &mut state, (transits * 2.0 * a / spacing).round() as usize, |_, _| ());
    total(&stepper)
}

/// Sum of the forces of all elements, along n, t, o.
fn total(stepper: &Stepper) -> Vector {
    stepper.elements().iter().fold([0.0; 3], |sum, e| [0, 1, 2].map(|i| sum[i] + e.force[i]))
}

/// `G c^2` of Kalker's linear theory, and c.
fn scales() -> [f64; 2] {
    let [a, _] = hertz(0.25);
    [YOUNG / 2.5 * a * a, a]
}

/// Kalker's coefficients of a circular contact at nu = 0.25: C11 = 4.12, C22 = 3.67, C23 = 1.47.
#[test]
fn small_longitudinal_creepage_and_spin_have_kalker_s_forces() {
    let ([unit, c], xi, phi) = (scales(), 2e-5, 1e-2);
    let [p, along, across] = creep(21, 1.0, [xi, 0.0, phi], 3.5);
    let (c11, c23) = (-along / (unit * xi), -across / (unit * c * phi));
    println!("P = {p}, C11 = {c11}, C23 = {c23}");
    assert!((p / LOAD - 1.0).abs() < 0.01, "{p}");
    assert!((c11 / 4.12 - 1.0).abs() < 0.05 && (c23 / 1.47 - 1.0).abs() < 0.05, "{c11}, {c23}");
}

#[test]
fn small_lateral_creepage_has_kalker_s_force() {
    let ([unit, _], xi) = (scales(), 2e-5);
    let [_, along, across] = creep(21, 1.0, [0.0, xi, 0.0], 3.5);
    let c22 = -across / (unit * xi);
    println!("C22 = {c22}");
    assert!((c22 / 3.67 - 1.0).abs() < 0.05 && along.abs() < 0.01 * across.abs(), "{c22}, {along}");
}

/// Vermeulen and Johnson: `F / (mu P) = 1 - (1 - tau)^3`, `tau = G c^2 C11 xi / (3 mu P)`, an approximation to some 10 %.
#[test]
fn the_force_saturates_towards_gross_slip() {
    let ([unit, _], mu) = (scales(), 0.3);
    let mut last = 0.0;
    for tau in [0.1, 0.3, 0.6, 1.5, 5.0f64] {
        let xi = tau * 3.0 * mu * LOAD / (unit * 4.12);
        let [p, along, _] = creep(11, mu, [xi, 0.0, 0.0], 4.0);
        let (share, expected) = (-along / (mu * p), 1.0 - (1.0 - tau.min(1.0)).powi(3));
        println!("tau = {tau}: {share}, {expected} by Vermeulen and Johnson");
        assert!(
            (share / expected - 1.0).abs() < 0.1 && share > last && share <= 1.0 + 1e-9,
            "{tau}: {share}"
        );
        last = share;
    }
    assert!(last > 0.999, "{last}");
}

/// Complete elliptic integrals `K` and `E` by the arithmetic-geometric mean, modulus `k`.
fn elliptic(k: f64) -> [f64; 2] {
    let (mut a, mut b, mut sum, mut power) = (1.0, (1.0 - k * k).sqrt(), 0.5 * k * k, 1.0);
    for _ in 0..8 {
        let c = 0.5 * (a - b);
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
        sum += power * c * c;
        power *= 2.0;
    }
    let whole = std::f64::consts::FRAC_PI_2 / a;
    [whole, whole * (1.0 - sum)]
}

/// A barrel rolls on a contact 3.3 times as long across as along. Each strip along x is in Carter's state: `Q' / (mu P') = 1 - (1 - xi/xi_s)^2` with
/// `xi_s = 2 mu p(y) / E*` (Haines and Ollerton's strips; Carter's plane solution, Johnson (8.11)). Strips are Carter's in the limit of a long ellipse: at
/// this ratio Kalker's C11 is 3.46, strips have 3.29.
#[test]
fn on_a_long_ellipse_the_force_saturates_as_carter_s() {
    let (ratio, mu, elements, poisson) = (0.3f64, 0.3, 21, 0.25);
    let modulus = YOUNG / (2.0 * (1.0 - poisson * poisson));
    // Johnson (4.26): semi-axes a along x, b across
    let e2 = 1.0 - ratio * ratio;
    let [k, e] = elliptic(e2.sqrt());
    let (a, radius) = (1.2e-3, RADIUS);
    let b = a / ratio;
    let slender = e / (ratio * ratio) - k;
    let peak = modulus * e2 * b * b / (2.0 * radius * a * slender);
    let across = (radius * radius * slender / (k - e)).sqrt();
    let (approach, load) = (peak / modulus * a * k, 2.0 / 3.0 * peak * std::f64::consts::PI * a * b);
    let (spacing, lever) = (2.0 * b / 0.9 / f64::from(elements), radius - 0.5 * approach);
    let mut last = 0.0;
    for tau in [0.2, 0.5, 2.0] {
        let xi = tau * 2.0 * mu * peak / modulus;
        let text = format!(
            "gravity = [0, 0, 0]\n[[material]]\nname = 'p'\nyoung = {YOUNG}\npoisson = {poisson}\nfriction = {mu}\n\
             law = {{ half_space = {{ elements = {elements}, spacing = {spacing} }} }}\n\
             [[world]]\nname = 'block'\nshape = 'half_space'\nmaterial = 'p'\n\
             [[body]]\nname = 'barrel'\nmass = 1e7\ninertia = [1e7, 1e7, 1e7]\nmaterial = 'p'\n\
             shape = {{ ellipsoid = {{ semi_axes = [{radius}, {across}, {radius}] }} }}\nposition = [0, 0, {}]\n\
             velocity = [{}, 0, 0]\nangular_velocity = [0, {}, 0]\n",
            radius - approach,
            1.0 + 0.5 * xi,
            (1.0 - 0.5 * xi) / lever
        );
        let (mut stepper, mut state) =
            start(stiction::from_toml("carter", &text).expect("a valid scene"), spacing);
        go(&mut stepper, &mut state, (4.0 * 2.0 * a / spacing).round() as usize, |_, _| ());
        let [p, along, _] = total(&stepper);
        let strip = |eta: f64| {
            let local = tau / (1.0 - eta * eta).sqrt();
            0.75 * (1.0 - eta * eta) * (1.0 - (1.0 - local.min(1.0)).powi(2))
        };
        let expected = (0..2000).map(|i| strip((f64::from(i) + 0.5) / 1000.0 - 1.0)).sum::<f64>() / 1000.0;
        let share = -along / (mu * p);
        println!("tau = {tau}: {share}, {expected} by Carter's strips; P {p} of {load}");
        assert!((p / load - 1.0).abs() < 0.05, "{p} of {load}");
        assert!(
            (share / expected - 1.0).abs() < 0.1 && share > last && share <= 1.0 + 1e-9,
            "{tau}: {share} of {expected}"
        );
        last = share;
    }
    assert!(last > 0.999, "{last}");
}

#[test]
fn a_patch_follows_a_sudden_load_within_a_few_steps() {
    let (mut stepper, state) = run(scene("hertz.toml"), 1e-3, 0.02);
    let sunk = RADIUS - stepper.kinematics(&state).pose(0).position[2];
    let [_, approach] = hertz(0.3);
    assert!((sunk / approach - 1.0).abs() < 0.04, "{sunk:e} m, Hertz: {approach:e} m");
}

#[test]
fn a_half_space_may_turn_on_a_hinge_and_carry_a_box() {
    let text = "[[body]]\nname = 'table'\njoint = { revolute = { axis = [0, 1, 0] } }\nshape = 'half_space'\nmass = 10\n\
                inertia = [1, 1, 1]\n[[body]]\nname = 'box'\nshape = { box = { half = [0.1, 0.1, 0.1] } }\nmass = 1\n\
                position = [0, 0, 0.5]\n[[motor]]\nbody = 'table'\neffort = { constant = 0.1 }\n";
    let (mut stepper, mut state) = start(stiction::from_toml("table", text).expect("a valid scene"), 1e-3);
    go(&mut stepper, &mut state, 250, |_, _| ());
    // the box still falls: effort / inertia t^2 / 2, and h v / 2 by the rule
    let turned = 0.5 * 0.1 * 0.25 * 0.25;
    assert!((state.position[0] - turned).abs() < 2e-5, "{} rad, not {turned}", state.position[0]);
    go(&mut stepper, &mut state, 250, |_, _| ());
    let kinematics = stepper.kinematics(&state);
    let up = [0, 1].map(|i| kinematics.pose(i).attitude.apply([0.0, 0.0, 1.0]));
    let bottom = sub(kinematics.pose(1).position, scale(0.1, up[1]));
    let above: f64 = (0..3).map(|i| bottom[i] * up[0][i]).sum();
    assert!(length(sub(up[0], up[1])) < 1e-9 && above.abs() < 1e-6, "{up:?}, {above:e} m above the table");
}
