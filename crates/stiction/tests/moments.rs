//! Torsion and rolling friction: balls that spin, roll, slide and stand. Expectations are closed forms, roots of one equation, or an
//! integration that shares nothing with the stepper.
//!
//! Symbols: `m`, `r`, `i` mass, radius and inertia of the ball, `mu`, `tau`, `rho` friction, torsion and rolling, `w` its spin or turn, `u` the
//! speed of its contact point. With `N` the normal force, maximum dissipation over the ellipsoid says
//! `f = -mu^2 u N / D`, `M = -tau^2 w N / D` (rolling: `rho`), `D = sqrt(mu^2 u^2 + tau^2 w^2)`.

use crate::running;

use complementarity::residual;
use running::{G, go, run, scene, start};
use stiction::contact::Law;
use stiction::model::Owner;
use stiction::record::{read_state, save_state};
use stiction::scene::{Material, Method, Scene};
use stiction::state::State;
use stiction::step::{ElementReport, Status};
use stiction::stepper::Stepper;

const M: f64 = 1.0;
const R: f64 = 0.1;
const I: f64 = 0.4 * M * R * R;

fn only(stepper: &Stepper) -> ElementReport {
    assert_eq!(stepper.elements().len(), 1);
    stepper.elements()[0]
}

/// The ball of a scene, with its friction, torsion and rolling.
fn ball(name: &str, [mu, tau, rho]: [f64; 3]) -> Scene {
    let mut scene = scene(name);
    assert_eq!(scene.materials.len(), 1);
    let given = &mut scene.materials[0];
    *given = Material { friction: mu, torsion: tau, rolling: rho, ..given.clone() };
    scene
}

/// Every step takes tau m g h / i off the spin, the last the rest, whatever the coefficient of friction: nothing slides.
#[test]
fn a_spinning_ball_stops_after_its_spin_over_its_deceleration() {
    for (h, mu) in [(1e-2, 0.3), (1e-3, 0.3), (1e-3, 1e-3), (1e-3, 10.0)] {
        let (mut stepper, mut state) = start(ball("spinning-sphere.toml", [mu, 0.01, 0.0]), h);
        let (w, slowing) = (20.0, 0.01 * M * G / I);
        let mut stopped = f64::INFINITY;
        go(&mut stepper, &mut state, (0.9 / h) as usize, |stepper, state| {
            let expected = (w - slowing * state.time).max(0.0);
            assert!(
                (state.velocity[5] - expected).abs() < 1e-7,
                "{}, expected {expected}",
                state.velocity[5]
            );
            let (e, spins) = (only(stepper), expected > 0.0);
            assert_eq!(e.status, if spins { Status::Slip } else { Status::Stick }, "t = {}", state.time);
            if spins {
                assert!((e.moment[0] + 0.01 * M * G).abs() < 1e-8, "{:?}", e.moment);
            } else {
                stopped = stopped.min(state.time);
            }
            assert!(e.moment[1] == 0.0 && e.moment[2] == 0.0 && e.force[1].hypot(e.force[2]) < 1e-8);
        });
        assert!((w / slowing..w / slowing + h).contains(&stopped), "h = {h}: {stopped} s");
        assert!(state.velocity.iter().all(|v| v.abs() < 1e-9), "{:?}", state.velocity);
    }
}

/// Rolling by itself under the pull `a` (m/s^2) along the way: accelerations of the centre and of the turn, and `x = u / w`, for a ball whose
/// speeds are in that ratio (or that starts from rest). Friction's force and moment then stay as they are: their ratio is that of
/// `mu^2 x` to `rho^2`, and `x` is the root of `v' - (r + x) w' = 0`. So a ball with rolling friction creeps: `x` is about
/// `rho^2 / (mu^2 r) 5/7` on level ground.
fn rolling(mu: f64, rho: f64, normal: f64, a: f64) -> [f64; 3] {
    let accelerations = |x: f64| {
        let d = (mu * x).hypot(rho);
        let (f, moment) = (-mu * mu * x * normal / d, -rho * rho * normal / d);
        (a + f / M, (moment - R * f) / I)
    };
    let off = |x: f64| {
        let (v, w) = accelerations(x);
        v - (R + x) * w
    };
    let (mut low, mut high) = (0.0, 1.0);
    assert!(off(low) > 0.0 && off(high) < 0.0, "{} {}", off(low), off(high));
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        *(if off(middle) > 0.0 { &mut low } else { &mut high }) = middle;
    }
    let (v, w) = accelerations(low);
    [v, w, low]
}

/// From the creep that belongs to it the deceleration is constant, to the end.
#[test]
fn a_ball_rolls_to_rest_under_the_ellipsoids_force_and_moment() {
    for (mu, rho) in [(0.3, 0.002), (0.3, 0.03), (0.05, 0.01)] {
        let [v_rate, w_rate, x] = rolling(mu, rho, M * G, 0.0);
        // to first order in rho / mu there is no creep, and the force keeps the contact point at rest:
        // f = k M with k = m r / (i + m r^2), and M from the ellipsoid
        let k = M * R / (I + M * R * R);
        let pure = -rho * M * G * R / (I + M * R * R) / (1.0 + (rho * k / mu).powi(2)).sqrt();
        assert!((v_rate / pure - 1.0).abs() < 2.0 * (rho / (mu * R)).powi(2), "{v_rate}, expected {pure}");
        for h in [1e-2, 1e-3] {
            let mut scene = ball("rolling-resistance.toml", [mu, 0.0, rho]);
            let w = 10.0;
            scene.bodies[0].velocity = Some([w * (R + x), 0.0, 0.0].into());
            let (mut stepper, mut state) = start(scene, h);
            let end = -w / w_rate;
            go(&mut stepper, &mut state, (1.1 * end / h) as usize, |stepper, state| {
                if state.time < end {
                    let expected = [w * (R + x) + v_rate * state.time, w + w_rate * state.time];
                    let off =
                        (state.velocity[0] - expected[0]).abs() + R * (state.velocity[4] - expected[1]).abs();
                    assert!(off < 1e-7, "h = {h}, t = {}: off by {off:e}", state.time);
                    let e = only(stepper);
                    let size =
                        (e.force[1].hypot(e.force[2]) / mu).hypot(e.moment[1].hypot(e.moment[2]) / rho);
                    assert!((size / e.force[0] - 1.0).abs() < 1e-9, "on the ellipsoid");
                } else if state.time > end + h {
                    assert!(state.velocity.iter().all(|v| v.abs() < 1e-7), "{:?}", state.velocity);
                }
            });
        }
    }
}

/// From rolling without creep, against Runge and Kutta's method on the law above.
#[test]
fn a_ball_set_rolling_without_creep_follows_the_law() {
    let (mu, rho) = (0.3, 0.002);
    let rate = |[v, w]: [f64; 2]| {
        let u = v - R * w;
        let d = (mu * u).hypot(rho * w);
        let (f, moment) = (-mu * mu * u * M * G / d, -rho * rho * w * M * G / d);
        [f / M, (moment - R * f) / I]
    };
    let (mut y, dt) = ([1.0, 10.0], 1e-5);
    for _ in 0..100_000 {
        let add = |y: [f64; 2], k: [f64; 2], by: f64| [y[0] + by * k[0], y[1] + by * k[1]];
        let k1 = rate(y);
        let k2 = rate(add(y, k1, 0.5 * dt));
        let k3 = rate(add(y, k2, 0.5 * dt));
        let k4 = rate(add(y, k3, dt));
        y = [0, 1].map(|i| y[i] + dt / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
    }
    for h in [1e-2, 1e-3] {
        let (_, state) = run(scene("rolling-resistance.toml"), h, 1.0);
        let off = (state.velocity[0] - y[0]).abs() + R * (state.velocity[4] - y[1]).abs();
        assert!(off < 1e-2 * h, "h = {h}: {off:e} m/s");
    }
}

/// At rest the force is m g sin and its moment about the contact point r m g sin: within the ellipsoid while
/// tan <= 1 / sqrt(1 / mu^2 + r^2 / rho^2). Beyond, the ball rolls down, from rest at constant acceleration.
#[test]
fn a_ball_on_a_slope_stands_up_to_the_ellipsoids_angle_and_rolls_beyond() {
    for (mu, rho) in [(0.3, 0.002), (0.2, 0.02)] {
        let limit = 1.0 / (1.0 / (mu * mu) + (R / rho) * (R / rho)).sqrt();
        for (share, h) in [(0.99, 1e-2), (0.99, 1e-3), (1.01, 1e-3), (2.0, 1e-2), (2.0, 1e-3)] {
            let mut scene = ball("rolling-resistance.toml", [mu, 0.0, rho]);
            (scene.bodies[0].velocity, scene.bodies[0].angular_velocity) = (None, None);
            let (sin, cos) = (share * limit).atan().sin_cos();
            scene.gravity = Some([G * sin, 0.0, -G * cos].into());
            let (mut stepper, mut state) = start(scene, h);
            go(&mut stepper, &mut state, (1.0 / h) as usize, |_, _| ());
            if share < 1.0 {
                assert!(state.velocity.iter().all(|v| v.abs() < 1e-12), "{:?}", state.velocity);
                assert!(state.position[0].abs() < 1e-12);
                let e = only(&stepper);
                assert_eq!(e.status, Status::Stick);
                assert!((e.moment[1].hypot(e.moment[2]) - R * M * G * sin).abs() < 1e-8);
                assert!(e.moment[0] == 0.0);
            } else {
                let [v, w, _] = rolling(mu, rho, M * G * cos, G * sin);
                let off = (state.velocity[0] - v).abs() + R * (state.velocity[4] - w).abs();
                assert!(off < 1e-7, "{share}, h = {h}: {:?}, expected {v} {w}", state.velocity);
            }
        }
    }
}

/// Sliding and spinning at once. In the units (mu u, tau w) friction opposes the motion; where the two directions are equally heavy,
/// `mu^2 (1/m + r^2/i) = tau^2/i`, the motion stays in proportion and ends after its length over that number times the normal force.
/// Otherwise `d ln u = p d ln w`, with `p` the ratio of the two.
#[test]
fn a_ball_that_slides_and_spins_stops_both_at_once_with_force_and_moment_in_the_ellipsoids_ratio() {
    let mu = 0.3;
    let equal = mu * (I / M + R * R).sqrt();
    for (tau, u, w) in
        [(equal, 1.0, 10.0), (equal, 0.3, -40.0), (0.5 * equal, 1.0, 10.0), (2.0 * equal, 1.0, 10.0)]
    {
        for h in [2e-3, 5e-4] {
            let mut scene = ball("spinning-sphere.toml", [mu, tau, 0.0]);
            // 0.6 u along x and 0.8 u along y; rolling speed would add to the speeds but not to friction
            scene.bodies[0].velocity = Some([0.6 * u, 0.8 * u, 0.0].into());
            scene.bodies[0].angular_velocity = Some([0.0, 0.0, w].into());
            let (mut stepper, mut state) = start(scene, h);
            let end = (mu * u).hypot(tau * w) / (mu * mu * (1.0 / M + R * R / I) * M * G);
            let (mut slides, mut spins, mut later) = (0.0, 0.0, (0.0, 0.0));
            go(&mut stepper, &mut state, (2.5 / h) as usize, |stepper, state| {
                let (e, v) = (only(stepper), &state.velocity);
                let contact = [v[0] - R * v[4], v[1] + R * v[3]];
                let [speed, spin] = [contact[0].hypot(contact[1]), v[5]];
                if spin.abs() > 0.7 * w.abs() {
                    later = (speed, spin);
                }
                if speed > 1e-7 {
                    slides = state.time;
                }
                if spin.abs() > 1e-6 {
                    spins = state.time;
                }
                if speed > 1e-4 && spin.abs() > 1e-3 {
                    let force = [e.force[1], e.force[2]];
                    for (f, u) in force.iter().zip(contact) {
                        let [a, b] = [f * tau * tau * spin, e.moment[0] * mu * mu * u];
                        assert!((a - b).abs() < 1e-6 * (f * tau * tau * spin).abs().max(1e-6), "{a} {b}");
                    }
                    assert!(e.moment[0] * spin < 0.0 && e.status == Status::Slip);
                }
            });
            if tau == equal {
                assert!((slides - spins).abs() <= 1.5 * h, "h = {h}: {slides} s, {spins} s");
                assert!((end - h..end + h).contains(&slides), "h = {h}: {slides} s, expected {end}");
            } else {
                let (u1, w1) = later;
                let expected = (w1 / w).powf((equal / tau).powi(2));
                assert!(
                    (u1 / u / expected - 1.0).abs() < 20.0 * h,
                    "h = {h}: {}, expected {expected}",
                    u1 / u
                );
            }
        }
    }
}

/// With theta = 0 and weight alone a step on level ground cannot add energy, and what friction takes is told: kinetic energy goes there
/// and into 1/2 |v+ - v|^2, nowhere else.
#[test]
fn moments_take_energy_and_the_report_says_how_much() {
    for h in [1e-2, 1e-3] {
        let mut scene = ball("rolling-resistance.toml", [0.3, 0.01, 0.004]);
        scene.bodies[0].velocity = Some([1.0, 0.4, 0.0].into());
        scene.bodies[0].angular_velocity = Some([-3.0, 20.0, 15.0].into());
        let (mut stepper, mut state) = start(scene, h);
        for _ in 0..(3.0 / h) as usize {
            let (before, v) = (stepper.energy(&state).kinetic, state.velocity.clone());
            let report = stepper.step(&mut state).expect("no step fails");
            let after = stepper.energy(&state).kinetic;
            let change: f64 =
                (0..6).map(|k| 0.5 * if k < 3 { M } else { I } * (state.velocity[k] - v[k]).powi(2)).sum();
            assert!(after <= before + 1e-12, "t = {}: {before} {after}", state.time);
            let off = before - after - report.friction_loss - change;
            assert!(off.abs() < 1e-9 * h.max(before), "t = {}: {off:e} J", state.time);
        }
    }
}

/// Two boxes and four balls that fall on each other, of two materials with these lines.
fn heap([plain, felt]: [&str; 2]) -> Scene {
    let mut text = format!(
        "[[material]]\nname = 'plain'\nfriction = 0.4\n{plain}\n[[material]]\nname = 'felt'\nfriction = 0.4\n{felt}\n\
         [[world]]\nname = 'ground'\nshape = 'half_space'\nmaterial = 'felt'\n"
    );
    let bodies = [
        ("box = { half = [0.2, 0.1, 0.1] }", [0.0, 0.0, 0.1], "felt"),
        ("box = { half = [0.1, 0.1, 0.1] }", [0.02, 0.01, 0.31], "plain"),
        ("sphere = { radius = 0.1 }", [0.05, 0.03, 0.52], "felt"),
        ("sphere = { radius = 0.1 }", [0.33, 0.02, 0.15], "felt"),
        ("sphere = { radius = 0.08 }", [-0.31, 0.0, 0.1], "plain"),
        ("sphere = { radius = 0.05 }", [0.06, 0.02, 0.7], "plain"),
    ];
    for (k, (shape, [x, y, z], material)) in bodies.into_iter().enumerate() {
        text += &format!(
            "[[body]]\nname = 'b{k}'\ndensity = 500\nshape = {{ {shape} }}\nposition = [{x}, {y}, {z}]\n\
             angular_velocity = [1, {k}, -3]\nmaterial = '{material}'\n"
        );
    }
    stiction::from_toml("heap.toml", &text).unwrap_or_else(|e| panic!("{e}"))
}

const TORSION: &str = "torsion = 0.004";
const BOTH: &str = "torsion = 0.004\nrolling = 0.002";

/// Contacts without moments among others with, whoever solves it: every force and moment is within its ellipsoid. Plain Newton steps and
/// sweeps alone do not solve all heaps with rolling friction to 1e-10, and the proximal methods alone end at 1e-9 on some with torsion.
#[test]
fn a_heap_with_moments_here_and_there_is_solved() {
    use Method::{Auto, GaussSeidel, Newton};
    let all = [Auto, GaussSeidel, Newton];
    let best = [Auto];
    for (materials, solvers) in
        [(["", TORSION], &all[..]), ([TORSION, TORSION], &all), (["", BOTH], &best), ([TORSION, BOTH], &best)]
    {
        for &solver in solvers {
            let mut scene = heap(materials);
            scene.step.solver = solver;
            let (mut stepper, mut state) = start(scene, 2e-3);
            let mut with = 0;
            for _ in 0..400 {
                let _ = stepper.step(&mut state).unwrap_or_else(|e| panic!("{materials:?} {solver:?}: {e}"));
                for e in stepper.elements() {
                    let material = |o| stepper.scene().parts(o)[0].material;
                    let (a, b) = (material(e.body_a), material(e.body_b));
                    let rule =
                        stepper.scene().contact_rule((e.body_a, a), (e.body_b, b)).expect("they touch");
                    let over = |x: f64, limit: f64| if x == 0.0 { 0.0 } else { x / limit };
                    let size = over(e.force[1].hypot(e.force[2]), rule.friction)
                        .hypot(over(e.moment[0], rule.torsion))
                        .hypot(over(e.moment[1].hypot(e.moment[2]), rule.rolling));
                    assert!(size <= e.force[0] * (1.0 + 1e-6) + 1e-6, "{size}, {}", e.force[0]);
                    with += usize::from(e.moment != [0.0; 3]);
                }
            }
            assert!(with > 100, "{with}");
            // the problem as solvers saw it, judged with the forces that are remembered
            let problem = stepper.problem().expect("something touches");
            let forces: Vec<f64> = state.memory.iter().flat_map(|m| m.forces.iter().copied()).collect();
            let most = problem.elements().iter().map(|e| e.rows()).max();
            assert_eq!(most, Some(stepper.model().contacts().rows()));
            assert!(residual::friction(&problem, &forces).relative <= 1e-9);
        }
    }
}

/// A force in the spring alone, moments rigid: the ball rests on its spring, and its spin stops as on rigid ground.
#[test]
fn compliant_contacts_have_moments_too() {
    let stiff = Law::KelvinVoigt { stiffness: [1e5, 8e4], damping: [600.0, 600.0] };
    let hertz = Law::HertzMindlin { radius: R, time: 1e-3 };
    for law in [stiff, hertz] {
        let mut scene = scene("spinning-sphere.toml");
        scene.materials[0].young = Some(1e7);
        scene.materials[0].law = law.clone().into();
        scene.bodies[0].angular_velocity = None;
        // settle, then spin
        let (mut stepper, mut state) = start(scene, 1e-3);
        go(&mut stepper, &mut state, 1000, |_, _| ());
        state.velocity[5] = 20.0;
        let begin = state.time;
        let slowing = 0.01 * M * G / I;
        go(&mut stepper, &mut state, 900, |_, state| {
            let expected = (20.0 - slowing * (state.time - begin)).max(0.0);
            assert!(
                (state.velocity[5] - expected).abs() < 1e-5,
                "{law:?}: {}, {expected}",
                state.velocity[5]
            );
        });
        let e = only(&stepper);
        assert!(
            e.deformation[0] > 1e-6 && state.memory.iter().next().is_some_and(|m| m.deformations.len() == 3)
        );
        assert!(state.memory.iter().next().is_some_and(|m| m.forces.len() == 4));
    }
}

#[test]
fn a_saved_state_goes_on_bitwise() {
    let (mut stepper, mut state) = start(heap(["", BOTH]), 2e-3);
    for _ in 0..250 {
        let _ = stepper.step(&mut state).expect("no step fails");
    }
    let path = std::env::temp_dir().join(format!("stiction-moments-{}.json", std::process::id()));
    save_state(&path, stepper.model(), &state).expect("a file");
    let mut again = Stepper::of(stepper.model().clone());
    let mut resumed = read_state(&path, again.model()).expect("a state of the scene");
    std::fs::remove_file(path).expect("it was there");
    for _ in 0..100 {
        let _ = stepper.step(&mut state).expect("no step fails");
        let _ = again.step(&mut resumed).expect("no step fails");
    }
    let bits = |s: &State| s.position.iter().chain(&s.velocity).map(|x| x.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&state), bits(&resumed));
    assert!(state.memory.iter().any(|m| m.forces.len() == 6), "something touches");
}

#[test]
fn lengths_of_zero_change_nothing() {
    let with = |lengths: &str| {
        let text = format!(
            "[[material]]\nname = 'default'\n{lengths}\n[[world]]\nname = 'ground'\nshape = 'half_space'\n\
             [[body]]\nname = 'a'\nmass = 1\nshape = {{ box = {{ half = [0.1, 0.1, 0.1] }} }}\nposition = [0, 0, 0.1]\n\
             [[body]]\nname = 'b'\nmass = 1\nshape = {{ sphere = {{ radius = 0.1 }} }}\nposition = [0.05, 0.03, 0.32]\n"
        );
        let mut scene = stiction::from_toml("two.toml", &text).expect("a valid scene");
        scene.materials[0].law = Law::KelvinVoigt { stiffness: [1e5, 8e4], damping: [100.0, 100.0] }.into();
        let (stepper, state) = run(scene, 2e-3, 1.0);
        assert!(stepper.elements().iter().all(|e| e.moment == [0.0; 3]));
        (state, stepper.elements().to_vec())
    };
    assert_eq!(with(""), with("torsion = 0\nrolling = 0.0"));
}

/// A ball on a spindle that slides up and down: the ground carries both, and torsion acts on the ball's spin alone.
#[test]
fn links_of_a_tree_have_moments_too() {
    let text = "[[material]]\nname = 'default'\nfriction = 0.3\ntorsion = 0.01\nrolling = 0.002\n\
         [[world]]\nname = 'ground'\nshape = 'half_space'\n\
         [[body]]\nname = 'spindle'\nmass = 2\ninertia = [1, 1, 1]\njoint = { prismatic = { axis = [0, 0, 1] } }\nposition = 0.1\n\
         [[body]]\nname = 'ball'\nparent = 'spindle'\njoint = { revolute = { axis = [0, 0, 1] } }\nmass = 1\n\
         shape = { sphere = { radius = 0.1 } }\n";
    let scene = stiction::from_toml("spindle.toml", text).unwrap_or_else(|e| panic!("{e}"));
    let (mut stepper, mut state) = start(scene, 1e-3);
    state.velocity[1] = -20.0;
    let slowing = 0.01 * 3.0 * G / I;
    go(&mut stepper, &mut state, 300, |stepper, state| {
        let expected = (slowing * state.time - 20.0).min(0.0);
        assert!((state.velocity[1] - expected).abs() < 1e-8, "{}, {expected}", state.velocity[1]);
        assert!((only(stepper).force[0] - 3.0 * G).abs() < 1e-7);
    });
}

/// A patch in a scene where another ball has moments: its elements have more rows, and do what they did.
#[test]
fn a_patch_beside_a_spinning_ball_is_as_it_was() {
    let pressed = |other: &str| {
        let text = format!(
            "[[material]]\nname = 'polymer'\nyoung = 2e9\nfriction = 0.3\nlaw = {{ half_space = {{ elements = 3, spacing = 1e-3 }} }}\n\
             [[material]]\nname = 'felt'\nfriction = 0.3\ntorsion = 0.01\n\
             [[world]]\nname = 'ground'\nshape = 'half_space'\nmaterial = 'felt'\n\
             [[body]]\nname = 'ball'\nmass = 1\nmaterial = 'polymer'\nshape = {{ sphere = {{ radius = 0.05 }} }}\nposition = [0, 0, 0.05]\n\
             [[load]]\nbody = 'ball'\nforce = {{ constant = [60, 0, -500] }}\n{other}"
        );
        let scene = stiction::from_toml("patch.toml", &text).unwrap_or_else(|e| panic!("{e}"));
        let (stepper, state) = run(scene, 1e-3, 0.05);
        let patch: Vec<ElementReport> =
            stepper.elements().iter().filter(|e| e.body_b == Owner::Body(0)).copied().collect();
        (state, patch, stepper.model().contacts().rows())
    };
    let (alone, elements, rows) = pressed("");
    let other = "[[body]]\nname = 'other'\nmass = 1\nmaterial = 'felt'\nshape = { sphere = { radius = 0.1 } }\nposition = [1, 0, 0.1]\n\
         angular_velocity = [0, 0, 20]\n";
    let (beside, wide, more) = pressed(other);
    assert_eq!((rows, more, elements.len()), (3, 4, 9));
    assert_eq!(wide.len(), 9);
    for (a, b) in elements.iter().zip(&wide) {
        for k in 0..3 {
            assert!((a.force[k] - b.force[k]).abs() < 1e-4, "{a:?}\n{b:?}");
            assert!((a.deformation[k] - b.deformation[k]).abs() < 1e-11, "{a:?}\n{b:?}");
        }
        assert!(a.deformation[0] != 0.0 && b.moment == [0.0; 3]);
    }
    assert!((0..6).all(|k| (alone.velocity[k] - beside.velocity[k]).abs() < 1e-8));
}
