//! Flat round faces: cylinders that stand, tip, spin on a face and roll on a rim.
#![allow(missing_docs)]

#[allow(dead_code)]
mod running;

use running::{G, farthest, go, scene, start};
use stiction::scene::Scene;
use stiction::space::{Quaternion, length};

/// The standing cylinder on a slope of `slope` degrees, turned by `turn` degrees about its axis.
fn standing(slope: f64, turn: f64) -> Scene {
    let mut standing = scene("standing-cylinder.toml");
    let tilt = Quaternion::turn([0.0, slope.to_radians(), 0.0]);
    let attitude = tilt.after(Quaternion::turn([0.0, 0.0, turn.to_radians()]));
    let mut set = |path: &str, value: String| standing.set(path, &value).expect("a valid value");
    set("world[slope].orientation.angle_deg", slope.to_string());
    set("body[cylinder].position", format!("{:?}", tilt.apply([0.0, 0.0, 0.2])));
    set("body[cylinder].orientation", format!("{{ quaternion = {:?} }}", attitude.0));
    standing
}

#[test]
fn a_cylinder_stands_on_a_slope_without_creeping() {
    // eight points hold up to atan(cos(pi/8) R/L) = 13.0 degrees, wherever they are, and the point farthest downhill beyond
    for (slope, turn) in [(12.0, 15.0), (12.0, 0.0), (12.9, 22.5), (12.9, 5.0)] {
        let far = farthest(standing(slope, turn), 1e-3, 10_000);
        assert!(far < 1e-12, "{slope} degrees, turned by {turn}: {far:e} m");
    }
}

#[test]
fn a_cylinder_tips_at_the_slope_at_which_its_weight_leaves_the_face() {
    let limit = (0.05f64 / 0.2).atan().to_degrees();
    for turn in [0.0, 15.0, 22.5] {
        for share in [0.95, 0.99, 0.999] {
            let far = farthest(standing(share * limit, turn), 1e-3, 3_000);
            println!("{share} of the limit, turned by {turn}: {far:e} m");
            assert!(far < 1e-11, "{share} of the limit, turned by {turn}: moves by {far:e} m");
        }
        let far = farthest(standing(1.01 * limit, turn), 1e-3, 3_000);
        assert!(far > 0.1, "turned by {turn}: moves by {far:e} m only");
    }
}

/// Time after which a spinning disc stops, s.
fn stops(rings: u32, law: &str) -> f64 {
    let mut disc = scene("spinning-disc.toml");
    disc.set("body[disc].shape.cylinder.rings", &rings.to_string()).expect("a valid value");
    disc.set("material[default].law", law).expect("a valid value");
    let (mut stepper, mut state) = start(disc, 1e-3);
    let mut stopped = f64::INFINITY;
    go(&mut stepper, &mut state, 700, |stepper, state| {
        let spin = length(stepper.kinematics(state).velocity(0).1);
        if spin < 1e-3 {
            stopped = stopped.min(state.time);
        }
    });
    stopped
}

#[test]
fn a_spinning_disc_stops_after_the_time_of_its_rim_or_of_uniform_pressure() {
    // I omega = M t with I = m R^2 / 2
    let after = |moment: f64| 0.5 * 20.0 * 0.1 / (moment * 0.3 * G);
    let springs = "{ kelvin_voigt = { stiffness = [1e6, 1e6], damping = [1e3, 1e3] } }";
    for (rings, law, moment) in [
        // however rigid points share the weight, on the rim all have the same lever
        (1, "rigid", 1.0),
        (1, springs, 1.0),
        // forces are chosen as the limit of equal compliance
        (2, "rigid", 2.0 / 3.0),
        (3, "rigid", 2.0 / 3.0),
        (4, "rigid", 2.0 / 3.0),
        (2, springs, 2.0 / 3.0),
        (4, springs, 2.0 / 3.0),
    ] {
        let (stopped, expected) = (stops(rings, law), after(moment));
        assert!((stopped - expected).abs() < 2.5e-3, "{rings} rings, {law}: {stopped} s, not {expected}");
    }
}

/// Energy that a rolling coin of radius 0.1 m, leant over by `lean`, loses in 5 s, as a share of its kinetic energy.
fn lost(lean: f64, h: f64) -> f64 {
    rolled(lean, h, "gap = 'position'")
}

/// The same with other settings of the step.
fn rolled(lean: f64, h: f64, settings: &str) -> f64 {
    let (radius, half, v) = (0.1, 0.01, 1.5);
    let attitude = Quaternion::turn([lean - std::f64::consts::FRAC_PI_2, 0.0, 0.0]);
    let axis = attitude.apply([0.0, 0.0, 1.0]);
    let height = radius * axis[1] + half * axis[2].abs();
    let [_, wy, wz] = axis.map(|a| v / radius * a);
    let text = format!(
        "[[material]]\nname = 'default'\nfriction = 1\n[[world]]\nname = 'floor'\nshape = 'half_space'\n\
         [[body]]\nname = 'coin'\nshape = {{ cylinder = {{ radius = {radius}, half_length = {half} }} }}\nmass = 1\n\
         position = [0, 0, {height}]\norientation = {{ quaternion = {:?} }}\n\
         velocity = [{v}, 0, 0]\nangular_velocity = [0, {wy}, {wz}]\n\
         [step]\n{settings}\n",
        attitude.0
    );
    let (mut stepper, mut state) = start(Scene::from_toml("coin", &text).expect("a valid scene"), h);
    let kinetic = stepper.energy(&state).kinetic;
    let before = kinetic + stepper.energy(&state).potential;
    go(&mut stepper, &mut state, (5.0 / h) as usize, |_, _| ());
    let after = stepper.energy(&state);
    (before - after.kinetic - after.potential) / kinetic
}

#[test]
fn coins_roll_on() {
    // upright they run straight on two points of their rims
    let upright = lost(0.0, 1e-3);
    assert!(upright.abs() < 1e-10, "{upright:e}");
    // leant over they nod on one; undoing overlap changes the energy in proportion to h
    // with gaps at velocity level nothing is gained
    let slow = rolled(30f64.to_radians(), 1e-3, "gap = 'velocity'");
    assert!(slow > 0.0 && slow < 5e-2, "{slow:e}");
    for lean in [5f64, 30.0] {
        let [coarse, fine] = [1e-3, 2.5e-4].map(|h| lost(lean.to_radians(), h));
        println!("lean {lean}: {coarse:e} and {fine:e} lost");
        assert!(coarse.abs() < 2e-2 && fine.abs() < 0.5 * coarse.abs(), "{lean}: {coarse:e}, {fine:e}");
    }
    // the midpoint rule with the geometry of the end of the step is of second order
    let midpoint = "scheme = 'implicit'\nexplicit_share = 0.5";
    let [coarse, fine] = [1e-3, 5e-4].map(|h| rolled(30f64.to_radians(), h, midpoint));
    println!("implicit midpoint: {coarse:e} and {fine:e} lost");
    assert!(coarse.abs() < 2e-6 && coarse / fine > 3.0, "{coarse:e}, {fine:e}");
}
