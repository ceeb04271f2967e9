//! Parts on what moves: feeders, shakers, belts, rollers, turntables.

use crate::bench::{G, STEPS, scene};
use std::f64::consts::TAU;

/// Share by which 100 steps to a period are off: first order.
const FIRST: f64 = 0.06;

/// A point with friction on a plate that shakes: along it by `along`, as `lift` lifts, both sinusoids; its way over the plate after a time.
fn creep(friction: f64, along: f64, lift: f64, frequency: f64, time: f64) -> f64 {
    let (w, h) = (TAU * frequency, 1e-6);
    let (mut slip, mut way) = (-w * along, 0.0f64);
    for n in 0..(time / h).round() as usize {
        let wave = w * w * (w * (n as f64 + 0.5) * h).sin();
        let normal = G - lift * wave;
        assert!(normal > 0.0, "the part is not thrown");
        let (drive, bound) = (along * wave, friction * normal);
        if slip != 0.0 || drive.abs() > bound {
            let next = slip + h * (drive - if slip == 0.0 { drive.signum() } else { slip.signum() } * bound);
            slip = if slip * next < 0.0 { 0.0 } else { next };
        }
        way += h * slip;
    }
    way
}

#[test]
fn a_vibratory_feeder_carries_its_part_forward() {
    let way = creep(0.3, 4e-3, 1.5e-3, 10.0, 1.0);
    scene("vibratory-feeder").under(STEPS, |run| {
        run.to(1.0);
        run.near("way", run.body("part").position[0], way, FIRST * way.abs());
        // the plate is at 0 after whole periods
        run.near("height", run.body("part").position[2], 5e-3, 1e-9);
    });
}

/// The same on a plate that turns to and fro: polar angle and radius of the point at the end.
fn round(friction: f64, turn: f64, lift: f64, frequency: f64, time: f64) -> [f64; 2] {
    let (w, h) = (TAU * frequency, 1e-6);
    let (mut x, mut v) = ([0.2f64, 0.0], [0.0f64, 0.0]);
    for n in 0..(time / h).round() as usize {
        let t = (n as f64 + 0.5) * h;
        let (rate, normal) = (turn * w * (w * t).cos(), G - lift * w * w * (w * t).sin());
        let slip = [v[0] + rate * x[1], v[1] - rate * x[0]];
        let size = slip[0].hypot(slip[1]);
        // the stick of a point: friction takes at most all slip of a step
        let most = (friction * normal * h).min(size);
        if size > 0.0 {
            v = [v[0] - most * slip[0] / size, v[1] - most * slip[1] / size];
        }
        x = [x[0] + h * v[0], x[1] + h * v[1]];
    }
    [x[1].atan2(x[0]), x[0].hypot(x[1])]
}

#[test]
fn a_bowl_feeder_carries_its_part_round() {
    let [angle, radius] = round(0.3, 0.02, 1.5e-3, 10.0, 1.0);
    assert!(angle > 0.1, "{angle}");
    scene("bowl-feeder").under(STEPS, |run| {
        run.to(1.0);
        let [x, y, z] = run.body("part").position;
        run.near("angle", y.atan2(x), angle, FIRST * angle);
        run.near("radius", x.hypot(y), radius, 1e-3);
        run.near("height", z, 0.01, 1e-9);
    });
}

#[test]
fn a_step_feeder_lifts_its_part_onto_the_next_step() {
    let (s, c) = 15f64.to_radians().sin_cos();
    scene("step-feeder").under(STEPS, |run| {
        run.to(1.5);
        let part = run.body("part");
        // its upper front corner is at the stop
        let x = 0.2 - 0.02 * c - 0.01 * s;
        run.near("x", part.position[0], x, 1e-6);
        run.near("y", part.position[1], (0.2 - x) * s / c - 0.000166 + 0.01 / c, 1e-5);
        run.near("speed", part.velocity[0].hypot(part.velocity[1]), 0.0, 1e-9);
    });
}

#[test]
fn a_shaker_throws_a_box_where_its_acceleration_passes_g() {
    let (a, w): (f64, f64) = (0.02, TAU * 5.0);
    let leaves = (G / (a * w * w)).asin();
    let speed = a * w * leaves.cos();
    let top = a * leaves.sin() + speed * speed / (2.0 * G);
    scene("shaker-throws").under(STEPS, |run| {
        let mut highest = 0.0f64;
        run.until(0.12, |run| highest = highest.max(run.body("box").position[2] - 0.05));
        run.near("height of flight", highest, top, 0.03 * top);
    });
}

#[test]
fn a_parcel_passes_from_belt_to_belt() {
    scene("belts-in-series").under(STEPS, |run| {
        let (gain, slow, fast) = (0.4 * G, 0.5, 1.0);
        run.to(1.0);
        let start = 0.5 * slow * slow / gain;
        run.near("place on the first belt", run.body("parcel").position[0], 0.2 + slow - start, 2e-3);
        run.to(2.5);
        let parcel = run.body("parcel");
        // where it would be had it gained its speed at once as its middle passed the seam, and the latest: its back has passed
        let passes = (1.0 - 0.2 + start) / slow;
        let at_once = 1.0 + fast * (2.5 - passes);
        let latest = 1.1 + fast * (2.5 - passes - 0.1 / slow - (fast - slow) / gain);
        run.assert((latest..at_once).contains(&parcel.position[0]), "between the earliest and the latest");
        run.near("speed", parcel.velocity[0], fast, 1e-9);
        run.near("aside", parcel.position[1], 0.0, 1e-6);
        run.near("height", parcel.position[2], 0.05, 1e-9);
        run.near("heading", parcel.heading(), 0.0, 1e-6);
    });
}

#[test]
fn a_stop_holds_a_box_on_a_running_belt() {
    scene("belt-stop").under(STEPS, |run| {
        run.to(1.5);
        run.near("force of the stop", run.force("box", Some("stop"))[0], -0.3 * 2.0 * G, 1e-6);
        run.near("place", run.body("box").position[0], 0.4, 1e-6);
        run.near("tilt", run.body("box").tilt([0.0, 0.0, 1.0]), 0.0, 1e-6);
    });
}

#[test]
fn a_belt_takes_a_parcel_uphill() {
    let (s, c) = 15f64.to_radians().sin_cos();
    let gain = G * (0.5 * c - s);
    scene("belt-climbs").under(STEPS, |run| {
        run.to(1.0);
        run.near("speed", run.body("parcel").velocity[0], 0.6, 1e-9);
        run.near("place", run.body("parcel").position[0], 0.6 - 0.5 * 0.36 / gain, 1e-3);
    });
}

#[test]
fn a_diverter_guides_a_parcel_off_its_belt() {
    scene("diverter").under(STEPS, |run| {
        run.to(1.5);
        let (parcel, half) = (run.body("parcel"), 0.3);
        run.near("speed along x", parcel.velocity[0], half, 1e-4);
        run.near("speed along y", parcel.velocity[1], half, 1e-4);
        let [x, y, _] = run.force("parcel", Some("bar"));
        run.near("force of the bar", x.hypot(y), 0.4 * G, 1e-3);
    });
}

/// Rates in rad/s and steps in s at which parts turn by up to half a radian in a step.
const FAST: [(f64, f64); 6] =
    [(1.0, 1e-2), (10.0, 1e-3), (50.0, 1e-3), (50.0, 1e-2), (500.0, 1e-4), (500.0, 1e-3)];

#[test]
fn a_slab_stays_on_a_roller_that_turns_fast() {
    for (rate, h) in FAST {
        scene("roller").set("let.rate", rate).set("step.h", h).under(STEPS, |run| {
            run.to(1.0);
            run.near("height", run.body("slab").position[1], 0.02, 1e-9);
            let [x, y, _] = run.force("slab", Some("roller"));
            run.near("load", y, 3.0 * G, 1e-6);
            run.near("friction", x.abs(), 0.25 * 3.0 * G, 1e-6);
            run.near("slip", run.slip("slab"), 0.1 * rate, 1e-9 * rate);
        });
    }
}

#[test]
fn a_slab_swings_on_two_rollers() {
    // x'' = -mu g x / (L - mu b)
    let rate = (0.25 * G / (0.3 - 0.25 * 0.02)).sqrt();
    for (spin, h) in [(50.0, 1e-3), (500.0, 1e-4), (500.0, 1e-3)] {
        scene("slab-on-rollers").set("let.rate", spin).set("step.h", h).under(STEPS, |run| {
            run.until(2.0, |run| {
                let slab = run.body("slab");
                run.near("height", slab.position[1], 0.02, 1e-11);
                // of first order: v+ moves the slab
                let (x, t) = (0.1 * (rate * run.time()).cos(), run.time());
                run.near("place", slab.position[0], x, 0.1 * (rate * h + rate * rate * h * t));
            });
        });
    }
}

#[test]
fn a_disc_turns_with_the_rollers_it_lies_on() {
    for (rate, h) in FAST {
        scene("disc-on-rollers").set("let.rate", rate).set("step.h", h).under(STEPS, |run| {
            run.to(1.0);
            let disc = run.body("disc");
            run.near("aside", disc.position[0], 0.0, 1e-9);
            run.near("height", disc.position[1], 0.16, 1e-9);
            run.near("spin", disc.spin[2], -rate, 1e-9 * rate);
            // what the two press each other with is open: forces of rigid wedges are not unique
            let [x, y, _] = run.force("disc", None);
            run.near("weight", y, 2.0 * G, 1e-6);
            run.near("side force", x, 0.0, 1e-6);
        });
    }
}

#[test]
fn a_box_that_sticks_to_a_turntable_keeps_its_place_on_it() {
    for (rate, h) in FAST {
        scene("turntable-grips").set("let.rate", rate).set("step.h", h).under(STEPS, |run| {
            run.until(1.0, |run| {
                let (own, turned) = (run.body("box"), rate * run.time());
                let [x, y, z] = own.position;
                let (s, c) = turned.sin_cos();
                run.near("place along the radius", x * c + y * s, 0.3, 1e-9);
                run.near("place across it", y * c - x * s, 0.0, 1e-9 * rate);
                run.near("height", z, 0.01, 1e-9);
                run.near("heading", (own.heading() - turned).sin(), 0.0, 1e-9 * rate);
            });
        });
    }
}

#[test]
fn a_ball_rolls_on_a_turntable_in_circles() {
    for (rate, h) in [(10.0, 1e-3), (10.0, 1e-2), (50.0, 1e-3)] {
        scene("ball-on-turntable").set("let.rate", rate).set("step.h", h).under(STEPS, |run| {
            run.until(1.0, |run| {
                let [x, y, z] = run.body("ball").position;
                run.near("radius", x.hypot(y), 0.2, 1e-11);
                run.near("height", z, 0.05, 1e-9);
                let (s, c) = (2.0 / 7.0 * rate * run.time()).sin_cos();
                // of second order
                let late = 1e-2 * (rate * h).powi(2) * rate * run.time() + 1e-12;
                run.near("angle", (y * c - x * s) / 0.2, 0.0, late);
            });
        });
    }
}

#[test]
fn a_box_keeps_its_place_on_a_table_that_rocks() {
    for h in [1e-4, 1e-3, 1e-2] {
        scene("rocking-table").set("step.h", h).under(STEPS, |run| {
            run.until(1.0, |run| {
                let own = run.body("box").position;
                let (s, c) = (0.2 * (TAU * run.time()).sin()).sin_cos();
                run.near("place along the table", own[0] * c + own[1] * s, 0.2, 1e-6);
                run.near("height over it", own[1] * c - own[0] * s, 0.35, 1e-8);
            });
        });
    }
}

#[test]
fn a_box_turns_with_a_slow_turntable_and_leaves_a_fast_one() {
    scene("turntable").under(STEPS, |run| {
        run.to(1.0);
        let [x, y, _] = run.body("box").position;
        run.near("radius", x.hypot(y), 0.3, 1e-9);
        run.near("angle", y.atan2(x), 2.0, 1e-9);
    });
    let (mut x, mut v, h) = ([0.3f64, 0.0], [0.0f64, 1.2], 1e-6);
    for _ in 0..500_000 {
        let slip = [v[0] + 4.0 * x[1], v[1] - 4.0 * x[0]];
        let size = slip[0].hypot(slip[1]);
        let most = (0.3 * G * h).min(size) / size.max(1e-300);
        v = [v[0] - most * slip[0], v[1] - most * slip[1]];
        x = [x[0] + h * v[0], x[1] + h * v[1]];
    }
    scene("turntable").set("let.rate", 4.0).under(STEPS, |run| {
        run.to(0.5);
        let own = run.body("box").position;
        run.near("radius", own[0].hypot(own[1]), x[0].hypot(x[1]), 2e-3);
        run.near("angle", own[1].atan2(own[0]), x[1].atan2(x[0]), 5e-3);
        run.near("height", own[2], 0.02, 1e-7);
    });
}
