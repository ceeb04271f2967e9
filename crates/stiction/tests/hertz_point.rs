//! One point with the stiffness of Hertz' and Mindlin's contact: `K(q)` and `C(q)` at the start of a step.

// helpers of tests
#![allow(clippy::unwrap_used)]

mod running;

use running::{G, go, scene, start};
use stiction::contact::{
    Compliance, Directions, FrictionRule, InvalidContact, Law, Material, Pair, Patch,
};
use stiction::scene::{Scene, SceneError};
use std::sync::Arc;

/// Of `hertz-impact.toml`: radius m, effective modulus Pa, speed m/s, when the ball touches s.
const RADIUS: f64 = 0.05;
const MODULUS: f64 = 2e9 / (2.0 * (1.0 - 0.09));
const SPEED: f64 = 1.0;
const TOUCH: f64 = 2e-4;

fn mass(scene: &Scene) -> f64 {
    scene.bodies[0].link.inertia.mass
}

/// Hertz' force at an overlap, N.
fn hertz(overlap: f64) -> f64 {
    4.0 / 3.0 * MODULUS * RADIUS.sqrt() * overlap.powf(1.5)
}

fn damped(mut scene: Scene, time: f64) -> Scene {
    scene.materials[0].law = Law::HertzMindlin { radius: RADIUS, time };
    scene
}

#[derive(Debug)]
struct Impact {
    force: f64,
    overlap: f64,
    time: f64,
    /// Speed after over speed before.
    restitution: f64,
    /// Largest change of energy, losses counted in, over the energy at the start.
    energy: f64,
}

fn impact(scene: Scene, h: f64) -> Impact {
    let mut far = Impact { force: 0.0, overlap: 0.0, time: 0.0, restitution: 0.0, energy: 0.0 };
    let (mut stepper, mut state) = start(scene, h);
    let total = |e: stiction::step::Energy| e.kinetic + e.potential + e.elastic;
    let (first, mut lost) = (total(stepper.energy(&state)), 0.0);
    for _ in 0..(1.5e-3 / h).round() as usize {
        let report = stepper.step(&mut state).unwrap();
        assert!(report.residual.relative <= 1e-9);
        lost += report.damping_loss + report.friction_loss;
        if let Some(e) = stepper.elements().first() {
            far.force = far.force.max(e.force[0]);
            far.time += if e.force[0] > 0.0 { h } else { 0.0 };
            far.overlap = far.overlap.max(e.deformation[0]);
        }
        let energy = total(stepper.energy(&state)) + lost;
        far.energy = far.energy.max((energy / first - 1.0).abs());
    }
    far.restitution = state.velocity[2..].iter().chain(&state.velocity).fold(0.0f64, |m, x| m.max(*x)) / SPEED;
    far
}

#[test]
fn an_impact_is_hertz_s_and_closer_with_every_smaller_step() {
    let m = mass(&scene("hertz-impact.toml"));
    let overlap = (15.0 * m * SPEED * SPEED / (16.0 * MODULUS * RADIUS.sqrt())).powf(0.4);
    let (force, time) = (hertz(overlap), 2.9432 * overlap / SPEED);
    println!("Hertz: {overlap:e} m, {force} N, {time:e} s");
    let mut last: Option<[f64; 5]> = None;
    for h in [8e-6, 4e-6, 2e-6, 1e-6] {
        let found = impact(scene("hertz-impact.toml"), h);
        let errors = [
            (found.overlap / overlap - 1.0).abs(),
            (found.force / force - 1.0).abs(),
            (found.time / time - 1.0).abs(),
            1.0 - found.restitution,
            found.energy,
        ];
        println!("h {h:e}: {found:?}, errors {errors:?}");
        if let Some(last) = last { println!("   ratios {:?}", [0,1,2,3,4].map(|i| last[i] / errors[i])); }
        last = Some(errors);
    }
    for h in [1e-7, 2e-5, 5e-5, 1e-4, 2e-4, 1e-3] {
        println!("h {h:e}: {:?}", impact(scene("hertz-impact.toml"), h));
    }
}

#[test]
fn the_energy_of_a_damped_impact_adds_up() {
    for h in [4e-6, 2e-6, 1e-6] {
        println!("damped, h {h:e}: {:?}", impact(damped(scene("hertz-impact.toml"), 2e-5), h));
        let mut oblique = scene("hertz-impact.toml");
        println!("{:?}", oblique.bodies[0].velocity);
        oblique.bodies[0].velocity[3] = 0.3;
        oblique.bodies[0].velocity[0] = 0.3;
        println!("oblique, h {h:e}: {:?}", impact(oblique, h));
    }
}

#[test]
fn at_rest_the_overlap_is_hertz_s_whatever_the_step() {
    for h in [1e-2, 1e-3, 1e-4, 1e-5] {
        let mut rest = damped(scene("hertz-impact.toml"), 1e-3);
        rest.gravity = [0.0, 0.0, -G];
        rest.bodies[0].velocity.fill(0.0);
        rest.bodies[0].position[2] = RADIUS;
        let weight = mass(&rest) * G;
        let expected = (weight / hertz(1.0)).powf(2.0 / 3.0);
        let (mut stepper, mut state) = start(rest, h);
        go(&mut stepper, &mut state, ((0.3 / h) as usize).max(300), |_, _| ());
        let e = stepper.elements()[0];
        println!("h {h:e}: {:e} {:e} of {expected:e}, force {} of {weight}", -stepper.kinematics(&state).pose(0).position[2] + RADIUS, e.deformation[0], e.force[0]);
    }
}

#[test]
fn a_box_on_a_slope_does_not_creep() {
    for (h, time) in [(1e-3, 0.0), (1e-3, 1e-3), (1e-4, 1e-3), (1e-4, 0.0)] {
        let mut slope = scene("box-on-slope.toml");
        for m in &mut slope.materials {
            (m.young, m.law) = (Some(2e9), Law::HertzMindlin { radius: RADIUS, time });
        }
        let (mut stepper, mut state) = start(slope, h);
        let from = stepper.kinematics(&state).pose(0).position;
        let mut at = vec![];
        for k in 0..5 {
            go(&mut stepper, &mut state, (1.0 / h) as usize, |_, _| ());
            let now = stepper.kinematics(&state).pose(0).position;
            at.push([0, 1, 2].map(|i| now[i] - from[i]));
            let _ = k;
        }
        println!("h {h:e} time {time:e}: {at:?}");
    }
}
