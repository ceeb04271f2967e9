//! Random bodies that fly past and at random obstacles, turning or not: they are thrown off if and only if they are in each other's way.

use crate::contact_truth::truth::{Flight, least_distance};
use crate::contact_truth::{Ran, over_seeds, read, run};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use stiction::model::{Model, Owner};
use stiction::space::{Vector, add, cross, length, scale, sub, unit};

/// Distance within which neither a hit nor a miss is asked for: theta, and the implicit scheme, over the smaller size (docs/physics.md).
const UNCLEAR: f64 = 6e-6;
const UNCLEAR_IMPLICIT: f64 = 1.5e-3;

pub fn direction(random: &mut Pcg64) -> Vector {
    loop {
        let x = [0, 1, 2].map(|_| 2.0 * random.random::<f64>() - 1.0);
        if length(x) > 0.1 && length(x) < 1.0 {
            return unit(x);
        }
    }
}

/// A random shape of about a size, as written in a scene.
pub fn shape(random: &mut Pcg64, size: f64) -> String {
    let [a, b, c] = [0, 1, 2].map(|_| size * (0.4 + 0.6 * random.random::<f64>()));
    match random.random_range(0..8) {
        0 => format!("{{ sphere = {{ radius = {a} }} }}"),
        1 => format!("{{ box = {{ half = [{a}, {b}, {c}] }} }}"),
        2 => format!("{{ capsule = {{ radius = {a}, half_length = {b} }} }}"),
        3 => format!("{{ cylinder = {{ radius = {a}, half_length = {b} }} }}"),
        4 => format!("{{ ellipsoid = {{ semi_axes = [{a}, {b}, {c}] }} }}"),
        5 => format!("{{ superellipsoid = {{ semi_axes = [{a}, {b}, {c}], exponent = 4 }} }}"),
        6 => format!(
            "{{ polytope = {{ vertices = [[{a},0,0],[-{a},0,0],[0,{b},0],[0,-{b},0],[0,0,{c}],[0,0,-{c}]] }} }}"
        ),
        _ => {
            let corners: Vec<Vector> = (0..12).map(|_| scale(a, direction(random))).collect();
            format!("{{ polytope = {{ vertices = {corners:?} }} }}")
        }
    }
}

/// A plate, bar, peg, block or random shape.
fn obstacle(random: &mut Pcg64) -> String {
    let thin = [5e-4, 2e-3, 1e-2][random.random_range(0..3)];
    match random.random_range(0..6) {
        0 => format!("{{ box = {{ half = [0.3, 0.3, {thin}] }} }}"),
        1 => format!("{{ box = {{ half = [0.3, {thin}, {thin}] }} }}"),
        2 => format!("{{ capsule = {{ radius = {thin}, half_length = 0.2 }} }}"),
        3 => format!("{{ cylinder = {{ radius = 0.2, half_length = {thin} }} }}"),
        4 => "{ box = { half = [0.2, 0.1, 0.05] } }".to_owned(),
        _ => shape(random, 0.1),
    }
}

/// A flight: the scene, the largest velocity of a point, and the size of the smaller body.
fn flight(seed: u64, h: f64, spins: bool, scheme: &str) -> (String, f64) {
    let mut random = Pcg64::seed_from_u64(seed);
    let size = 0.01 + 0.05 * random.random::<f64>();
    let (own, other) = (shape(&mut random, size), obstacle(&mut random));
    let speed = 1.0 * 50f64.powf(random.random::<f64>());
    let both = random.random::<f64>() < 0.3;
    let along = direction(&mut random);
    let aside = unit(cross(along, direction(&mut random)));
    // aimed at a place near the obstacle's surface
    let aim = add(
        scale(0.2 * random.random::<f64>(), aside),
        scale(0.3 * (random.random::<f64>() - 0.5), direction(&mut random)),
    );
    let way = 0.7 + 0.1 * random.random::<f64>();
    let start = sub(aim, scale(way, along));
    let mut spin = |most: f64| {
        let rate = if spins { most * random.random::<f64>() } else { 0.0 };
        scale(rate, direction(&mut random))
    };
    let (w, w2) = (spin(0.3 / h), spin(0.1 / h));
    let v = scale(speed, along);
    let mut random = Pcg64::seed_from_u64(seed ^ 0xabcd);
    let turn = |random: &mut Pcg64| {
        format!(
            "orientation = {{ axis = {:?}, angle = {} }}\n",
            direction(random),
            3.0 * random.random::<f64>()
        )
    };
    let mut text = format!(
        "gravity = [0, 0, 0]\n[[body]]\nname = \"body\"\nshape = {own}\nmass = 1\ninertia = [1e-3, 1e-3, 1e-3]\ncenter = [0, 0, 0]\nposition = {start:?}\n{}velocity = {v:?}\nangular_velocity = {w:?}\n",
        turn(&mut random)
    );
    text += &match both {
        true => format!(
            "[[body]]\nname = \"other\"\nshape = {other}\nmass = 2\ninertia = [1e-2, 1e-2, 1e-2]\ncenter = [0, 0, 0]\nposition = [0, 0, 0]\n{}velocity = {:?}\nangular_velocity = {w2:?}\n",
            turn(&mut random),
            scale(0.1 * speed, direction(&mut random)),
        ),
        false => format!(
            "[[world]]\nname = \"other\"\nshape = {other}\nposition = [0, 0, 0]\n{}",
            turn(&mut random)
        ),
    };
    text += &format!("[step]\nduration = {}\nh = {h}\n{scheme}", 1.4 / speed);
    (text, size)
}

/// The two bodies as they fly without contacts, and the least distance on the way.
fn least(model: &Model, until: f64) -> f64 {
    let mut kinematics = stiction::dynamics::Kinematics::new(model.system());
    let state = model.initial();
    kinematics.go_to(&state.position, &state.velocity);
    let flights = [0, 1].map(|k| {
        let part = &model.parts()[k];
        match part.owner {
            Owner::Body(i) => {
                let (velocity, spin) = kinematics.velocity(i);
                Flight { part, from: kinematics.pose(i), velocity, spin }
            }
            Owner::World(_) => Flight {
                part,
                from: stiction::space::Pose {
                    position: [0.0; 3],
                    attitude: stiction::space::Quaternion::IDENTITY,
                },
                velocity: [0.0; 3],
                spin: [0.0; 3],
            },
        }
    });
    let speed: f64 = flights
        .iter()
        .map(|f| match f.part.owner {
            Owner::Body(i) => length(f.velocity) + length(f.spin) * model.reaches()[i],
            Owner::World(_) => 0.0,
        })
        .sum();
    least_distance([&flights[0], &flights[1]], speed, until)
}

fn check(seed: u64, h: f64, spins: bool, scheme: &str) -> Result<(), String> {
    let (text, size) = flight(seed, h, spins, scheme);
    let stepper = read(&text)?;
    let until = (stepper.scene().step.duration / h).round() * h;
    let least = least(stepper.model(), until);
    let start = stepper.initial();
    let unclear = if scheme.is_empty() { UNCLEAR } else { UNCLEAR_IMPLICIT * size.min(5e-4 / 0.4) + UNCLEAR };
    if least.is_nan() || least.abs() <= unclear {
        return Ok(());
    }
    let Ran { state, truth, .. } = run(stepper).map_err(|e| format!("{e} (least {least:.2e})\n{text}"))?;
    let speed = start.velocity.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let change = state.velocity.iter().zip(&start.velocity).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let hit = change > 1e-9 * speed;
    if hit != (least < 0.0) {
        return Err(format!(
            "hit: {hit}, but the least distance is {least:.3e} m (h = {h}, spins {spins}, {scheme})\n{text}"
        ));
    }
    let deep = truth.missed.iter().map(|w| w.gap).fold(0.0, f64::min);
    if deep < -1e-4 * 10.0 {
        return Err(format!(
            "{deep:.2e} m deep after a hit (h = {h}, spins {spins}, {scheme}): {:?}\n{text}",
            truth.missed[0]
        ));
    }
    Ok(())
}

#[test]
fn flights_meet_if_and_only_if_they_are_in_the_way() {
    over_seeds("flights", 0..100, |seed| check(seed, 1e-3, false, ""));
}

#[test]
fn flights_in_long_steps_meet_if_and_only_if_they_are_in_the_way() {
    over_seeds("flights, h = 5e-3", 0..60, |seed| check(seed, 5e-3, false, ""));
}

#[test]
fn bodies_that_turn_meet_if_and_only_if_they_are_in_the_way() {
    over_seeds("turning flights", 0..60, |seed| check(seed, 1e-3, true, ""));
}

#[test]
fn implicit_flights_meet_if_and_only_if_they_are_in_the_way() {
    over_seeds("implicit flights", 0..60, |seed| check(seed, 1e-3, seed % 2 == 0, "scheme = \"implicit\"\n"));
}

/// Bodies through a slot that is 0.1 mm wider or narrower than they are on either side; the walls stand, or come towards the body.
fn slot(seed: u64, scheme: &str) -> Result<(), String> {
    let mut random = Pcg64::seed_from_u64(seed);
    let size = 0.01 + 0.04 * random.random::<f64>();
    let [a, b, c] = [0, 1, 2].map(|_| size * (0.4 + 0.6 * random.random::<f64>()));
    let shape = [
        format!("{{ sphere = {{ radius = {a} }} }}"),
        format!("{{ box = {{ half = [{a}, {b}, {c}] }} }}"),
        format!("{{ capsule = {{ radius = {a}, half_length = {b} }} }}"),
        format!("{{ cylinder = {{ radius = {a}, half_length = {b} }} }}"),
        format!("{{ ellipsoid = {{ semi_axes = [{a}, {b}, {c}] }} }}"),
    ][random.random_range(0..5)]
    .clone();
    let (axis, angle) = (
        direction(&mut random),
        if random.random::<f64>() < 0.3 { 0.0 } else { 3.0 * random.random::<f64>() },
    );
    let thick = [5e-4, 5e-3, 0.1][random.random_range(0..3)];
    let speed = [1.0, 10.0, 40.0][random.random_range(0..3)];
    let moves = random.random::<f64>() < 0.3;
    let clearance = if scheme.is_empty() { 1e-4 } else { 1e-3 };
    for (passes, clear) in [(true, clearance), (false, -clearance)] {
        let wall = |name: &str, side: f64, half_gap: f64| {
            let motion = match moves {
                true => format!(
                    "motion = {{ position = {{ points = [{{ time = 0, value = [0, 0, 0] }}, {{ time = 1, value = [{}, 0, 0] }}] }} }}\n",
                    -0.5 * speed
                ),
                false => String::new(),
            };
            format!(
                "[[world]]\nname = \"{name}\"\nshape = {{ box = {{ half = [{thick}, 0.3, 0.3] }} }}\nposition = [0, {}, 0]\n{motion}",
                side * (0.3 + half_gap)
            )
        };
        let scene = |half_gap: f64| {
            format!(
                "gravity = [0, 0, 0]\n[[material]]\nname = \"default\"\nfriction = 0.3\n{}{}[[body]]\nname = \"body\"\nshape = {shape}\nmass = 1\nposition = [-0.3, 0, 0]\n\
                 orientation = {{ axis = {axis:?}, angle = {angle} }}\nvelocity = [{}, 0, 0]\n[step]\nduration = {}\n{scheme}",
                wall("left", 1.0, half_gap),
                wall("right", -1.0, half_gap),
                if moves { 0.5 * speed } else { speed },
                0.6 / speed
            )
        };
        // half the width of the body, from its shape
        let stepper = read(&scene(1.0))?;
        let model = stepper.model();
        let own = model.parts().iter().find(|p| matches!(p.owner, Owner::Body(_))).expect("a body");
        let turn = stiction::space::Quaternion::turn(scale(angle, axis));
        let pose = stiction::space::Pose { position: [0.0; 3], attitude: turn };
        let half = stiction::geometry::reaches(&own.solid, &pose, [0.0, 1.0, 0.0]).expect("a bounded shape");
        let text = scene(half + clear);
        let Ran { state, stepper, truth } = run(read(&text)?).map_err(|e| format!("{e}\n{text}"))?;
        let start = stepper.initial();
        let change =
            state.velocity.iter().zip(&start.velocity).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        if passes != (change <= 1e-12 * speed) {
            return Err(format!(
                "passes: {passes}, velocity changes by {change:.2e} ({shape}, moves {moves}, {speed} m/s)\n{text}"
            ));
        }
        if let Some(w) = truth.missed.iter().find(|w| w.gap < -2e-2 * size) {
            return Err(format!("{w:?}\n{text}"));
        }
    }
    Ok(())
}

#[test]
fn slots_let_through_what_is_narrower() {
    over_seeds("slots", 0..100, |seed| slot(seed, ""));
}

#[test]
fn implicit_slots_let_through_what_is_narrower() {
    over_seeds("implicit slots", 0..40, |seed| slot(seed, "scheme = \"implicit\"\n"));
}
