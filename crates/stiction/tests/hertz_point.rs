//! One point with the stiffness of Hertz' and Mindlin's contact: `K(q)` and `C(q)` at the start of a step.

// helpers of tests
#![allow(clippy::unwrap_used)]

use crate::running;

use running::{G, go, scene, start};
use std::sync::Arc;
use stiction::contact::{Compliance, Directions, FrictionRule, InvalidContact, Law, Material, Pair, Patch};
use stiction::scene::Scene;
use stiction::space::{length, sub};
use stiction::step::Energy;

/// Of `hertz-impact.toml`: radius m, moduli Pa, speed m/s.
const RADIUS: f64 = 0.05;
const YOUNG: f64 = 2e9;
const POISSON: f64 = 0.3;
const MODULUS: f64 = YOUNG / (2.0 * (1.0 - POISSON * POISSON));
const SPEED: f64 = 1.0;

fn ball() -> Scene {
    scene("hertz-impact.toml")
}

fn damped(mut scene: Scene, time: f64) -> Scene {
    scene.materials[0].law = Law::HertzMindlin { radius: RADIUS, time }.into();
    scene
}

fn mass(scene: &Scene) -> f64 {
    scene.resolve().expect("valid").bodies[0].link.inertia.mass
}

/// Hertz' force at an overlap, N.
fn hertz(overlap: f64) -> f64 {
    4.0 / 3.0 * MODULUS * RADIUS.sqrt() * overlap.powf(1.5)
}

/// What happens within 1.5 ms.
#[derive(Debug)]
struct Impact {
    /// Greatest normal force, N.
    force: f64,
    /// Greatest deformation, m.
    overlap: f64,
    /// Time with force, s.
    time: f64,
    /// Speed after over speed before.
    restitution: f64,
    /// Energy at the end and all losses, over the energy at the start.
    balance: f64,
    /// Share of the energy lost in the damper.
    damping: f64,
}

fn impact(scene: Scene, h: f64) -> Impact {
    let (mut stepper, mut state) = start(scene, h);
    let total = |e: Energy| e.kinetic + e.potential + e.elastic;
    let first = total(stepper.energy(&state));
    let (mut force, mut overlap, mut time, mut damping, mut friction) = (0.0f64, 0.0f64, 0.0, 0.0, 0.0);
    for _ in 0..(1.5e-3 / h).round() as usize {
        let report = stepper.step(&mut state).unwrap();
        assert!(report.residual.relative <= 1e-9, "t = {}: {:?}", state.time, report.residual);
        damping += report.damping_loss / first;
        friction += report.friction_loss / first;
        for e in stepper.elements() {
            force = force.max(e.force[0]);
            overlap = overlap.max(e.deformation[0]);
            time += if e.force[0] > 0.0 { h } else { 0.0 };
        }
    }
    let balance = total(stepper.energy(&state)) / first + damping + friction;
    Impact { force, overlap, time, restitution: state.velocity[2] / SPEED, balance, damping }
}

/// The first of each error is below `most`, and each next one, with half the step, about half of it.
fn first_order(errors: &[f64], most: f64, what: &str) {
    assert!(errors[0].abs() < most, "{what}: {errors:?}");
    for two in errors.windows(2) {
        let ratio = two[0] / two[1];
        assert!(ratio > 1.8 && ratio < 2.2, "{what}: {errors:?}");
    }
}

#[test]
fn an_impact_is_hertz_s_to_first_order_in_the_step() {
    let overlap = (15.0 * mass(&ball()) * SPEED.powi(2) / (16.0 * MODULUS * RADIUS.sqrt())).powf(0.4);
    let (force, time) = (hertz(overlap), 2.9432 * overlap / SPEED);
    println!("Hertz: {overlap:e} m, {force} N, {time:e} s");
    let [mut overlaps, mut forces, mut speeds, mut energies] = [const { vec![] }; 4];
    for h in [8e-6, 4e-6, 2e-6, 1e-6, 5e-7] {
        let found = impact(ball(), h);
        println!("h {h:e}: {found:?}, time over Hertz' {}", found.time / time);
        overlaps.push(1.0 - found.overlap / overlap);
        forces.push(1.0 - found.force / force);
        speeds.push(1.0 - found.restitution);
        energies.push(1.0 - found.balance);
        assert!((found.time - time).abs() <= 2.0 * h, "contact for {:e} s of {time:e}", found.time);
        assert_eq!(found.damping, 0.0);
    }
    first_order(&overlaps, 0.02, "greatest overlap");
    first_order(&forces, 0.03, "greatest force");
    first_order(&speeds, 0.05, "restitution");
    first_order(&energies, 0.08, "energy");
}

#[test]
fn the_energy_of_a_damped_impact_adds_up_to_first_order() {
    let mut energies = vec![];
    for h in [4e-6, 2e-6, 1e-6, 5e-7] {
        let found = impact(damped(ball(), 2e-5), h);
        println!("h {h:e}: {found:?}");
        assert!(found.damping > 0.1 && found.damping < 0.2, "{found:?}");
        energies.push(1.0 - found.balance);
    }
    first_order(&energies, 0.04, "energy");
}

/// `K_t` changes while its spring is deformed: an oblique impact loses some energy to that, however short the step, and never gains any.
#[test]
fn a_changing_tangential_spring_loses_little_and_makes_nothing() {
    for (friction, across) in [(0.3, 0.1), (0.3, 0.3), (0.3, 1.0), (0.8, 0.3), (0.8, 1.0), (0.8, 3.0)] {
        let found = [1e-6, 5e-7].map(|h| {
            let mut scene = ball();
            scene.materials[0].friction = friction;
            scene.bodies[0].velocity.as_mut().expect("given")[0] = across;
            impact(scene, h).balance - 1.0
        });
        let limit = 2.0 * found[1] - found[0];
        println!("friction {friction}, {across} m/s across: {found:?}, limit {limit:.4}");
        assert!(found.iter().all(|x| *x < 0.0) && limit < 0.0 && limit > -0.1, "{found:?}");
    }
}

#[test]
fn an_impact_never_has_more_energy_than_it_came_with() {
    // an impact that falls between few steps is not resolved, but no step of it has more kinetic and elastic energy, nor with theta = 1/2
    for (h, theta) in
        [2e-6, 2e-5, 5e-5, 1e-4, 3e-4, 1e-3, 1e-2].into_iter().flat_map(|h| [(h, 0.0), (h, 0.5)])
    {
        let (mut least, mut most) = (f64::INFINITY, 0.0f64);
        for k in 0..20 {
            let mut scene = ball();
            scene.bodies[0].position.as_mut().expect("given")[2] =
                RADIUS + SPEED * h * (1.0 + f64::from(k) / 20.0);
            scene.step.explicit_share = theta;
            let (mut stepper, mut state) = start(scene, h);
            let whole = stepper.energy(&state).kinetic;
            for _ in 0..(2e-3 / h) as usize + 10 {
                let _ = stepper.step(&mut state).unwrap();
                let energy = stepper.energy(&state);
                let share = (energy.kinetic + energy.elastic) / whole;
                assert!(share <= 1.0 + 1e-12, "h {h:e}, theta {theta}, phase {k}: {share}");
            }
            let after = state.velocity[2] / SPEED;
            assert!(after > 0.0, "h {h:e}, theta {theta}, phase {k}: {after}");
            (least, most) = (least.min(after), most.max(after));
        }
        println!("h {h:e}, theta {theta}: speed after {least} to {most}");
    }
}

#[test]
fn at_rest_the_overlap_is_hertz_s_whatever_the_step() {
    for h in [1e-2, 1e-3, 1e-4] {
        let mut scene = damped(ball(), 1e-3);
        // forces of bodies at rest are kept to half the tolerance, which leaves some 50 times that in the overlap
        scene.step.tolerance = 1e-12;
        scene.gravity = Some([0.0, 0.0, -G].into());
        scene.bodies[0].velocity = None;
        scene.bodies[0].position = Some([0.0, 0.0, RADIUS].into());
        let weight = mass(&scene) * G;
        let expected = (weight / hertz(1.0)).powf(2.0 / 3.0);
        let (mut stepper, mut state) = start(scene, h);
        go(&mut stepper, &mut state, ((0.3 / h) as usize).max(300), |_, _| ());
        let element = stepper.elements()[0];
        let overlap = RADIUS - stepper.kinematics(&state).pose(0).position[2];
        println!("h {h:e}: {overlap:e} m of {expected:e}, {element:?}");
        assert!((overlap / expected - 1.0).abs() < 1e-8, "{overlap:e} of {expected:e}");
        assert!((element.deformation[0] / expected - 1.0).abs() < 1e-8);
        assert!((element.force[0] / weight - 1.0).abs() < 1e-8);
        // the integral of Hertz' force
        let elastic = stepper.energy(&state).elastic;
        assert!((elastic / (0.4 * weight * expected) - 1.0).abs() < 1e-8, "{elastic:e} J");
    }
}

#[test]
fn a_box_on_a_slope_does_not_creep() {
    for (h, time) in [(1e-3, 0.0), (1e-3, 1e-3), (1e-4, 1e-3)] {
        let mut slope = scene("box-on-slope.toml");
        for m in &mut slope.materials {
            (m.young, m.poisson) = (Some(YOUNG), POISSON);
            m.law = Law::HertzMindlin { radius: RADIUS, time }.into();
        }
        let weight = mass(&slope) * G;
        let (mut stepper, mut state) = start(slope, h);
        let mut place = |steps: f64| {
            go(&mut stepper, &mut state, (steps / h).round() as usize, |_, _| ());
            stepper.kinematics(&state).pose(0).position
        };
        let places = [place(0.0), place(1.0), place(4.0)];
        // a corner downhill carries 1/4 of the weight's normal and tangential part (edges are as long as it is high)
        let (sine, cosine) = 15_f64.to_radians().sin_cos();
        let elastic = (0.25 * weight * (sine + cosine) / hertz(1.0)).powf(2.0 / 3.0);
        let (shift, creep) = (length(sub(places[2], places[0])), length(sub(places[2], places[1])));
        println!("h {h:e}, time {time}: shift {shift:e} m, elastic {elastic:e} m, creep in 4 s {creep:e} m");
        // while the load grows, tangential springs keep their force and give way
        assert!(shift < 4.0 * elastic, "{shift:e} of {elastic:e}");
        assert!(creep < 1e-12, "{creep:e}");
    }
}

fn pair(young: f64) -> Pair {
    let material = Material { young, poisson: POISSON, friction: 0.3 };
    Pair::new(&material, &material, FrictionRule::default()).unwrap()
}

#[test]
fn stiffness_is_hertz_s_and_mindlin_s_and_its_floor_lies_below_what_a_step_sees() {
    let (h, time, m) = (1e-4, 1e-3, 0.5);
    let pair = pair(YOUNG);
    let law = Law::HertzMindlin { radius: RADIUS, time };
    let patch = Patch::new(&law, &pair, Directions::Spatial).unwrap();
    let compliance = Compliance::new(Arc::new(patch), h).unwrap();
    for overlap in [1e-9, 1e-6, 1e-3] {
        let scale = compliance.scale(overlap, 1.0 / m);
        let k = compliance.patch().stiffness()[(0, 0)] * scale;
        assert!((k * overlap / hertz(overlap) - 1.0).abs() < 1e-14);
        // Mindlin: 8 a G* with a = sqrt(R d), 1/G* = 2 (2 - nu)/G, G = E / (2 (1 + nu))
        let shear = YOUNG / (2.0 * (1.0 + POISSON)) / (2.0 * (2.0 - POISSON));
        let kt = compliance.patch().stiffness()[(2, 2)] * scale;
        assert!((kt / (8.0 * (RADIUS * overlap).sqrt() * shear) - 1.0).abs() < 1e-14);
        assert!((compliance.patch().damping()[(0, 0)] * scale / (time * k) - 1.0).abs() < 1e-14);
        let e_inv = compliance.e_inv()[(0, 0)] / scale;
        assert!((e_inv * (h + time) * k - 1.0).abs() < 1e-14);
    }
    for apart in [0.0, -1e-3] {
        let k = compliance.patch().stiffness()[(0, 0)] * compliance.scale(apart, 1.0 / m);
        assert!((k * h * h / (1e-8 * m) - 1.0).abs() < 1e-14, "{k}");
    }
    // what nothing can move has a stiffness all the same
    assert_eq!(compliance.scale(0.0, 0.0), 1e-3);
    let rigid = Patch::new(&Law::Rigid, &pair, Directions::Planar).unwrap();
    assert_eq!(Compliance::new(Arc::new(rigid), h).unwrap().scale(1e-6, 1.0), 1.0);
}

#[test]
fn bad_laws_are_errors_that_name_the_place_and_the_value() {
    let bad = |radius, time, young| {
        let law = Law::HertzMindlin { radius, time };
        Patch::new(&law, &pair(young), Directions::Spatial).unwrap_err()
    };
    assert_eq!(bad(0.0, 0.0, 1e9).to_string(), "radius is 0, expected above 0 and finite");
    assert_eq!(bad(1.0, f64::NAN, 1e9).to_string(), "damping time is NaN, expected at least 0 and finite");
    assert_eq!(bad(1.0, 0.0, f64::INFINITY), InvalidContact::NeitherDeforms);
    let large = "normal stiffness at an overlap of the radius is inf, expected above 0 and finite";
    assert_eq!(bad(1e200, 0.0, 1e200).to_string(), large);

    let read = |law: &str, young: &str| {
        let text = format!(
            "[[material]]\nname = 'm'\n{young}law = {law}\n[[world]]\nname = 'g'\nshape = 'half_space'\nmaterial = 'm'\n\
             [[body]]\nname = 'b'\nmass = 1\nmaterial = 'm'\nshape = {{ sphere = {{ radius = 1 }} }}\n"
        );
        stiction::from_toml("s.toml", &text).unwrap_err().to_string()
    };
    for (law, young, message) in [
        (
            "{ hertz_mindlin = { radius = -1 } }",
            "young = 1\n",
            "s.toml:4:36: radius is -1, expected above 0 and finite",
        ),
        (
            "{ hertz_mindlin = { radius = 1, damping_time = -2 } }",
            "young = 1\n",
            "s.toml:4:54: damping time is -2, expected at least 0 and finite",
        ),
        (
            "{ hertz_mindlin = { radius = 1 } }",
            "",
            "s.toml:3:7: hertz_mindlin between 'm' and 'm', expected young of one of them",
        ),
        (
            "{ hertz_mindlin = { radius = 1, time = 1 } }",
            "young = 1\n",
            "s.toml:4:39: unknown key 'time', expected one of damping_time, radius",
        ),
    ] {
        assert_eq!(read(law, young), message);
    }
}
