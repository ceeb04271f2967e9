//! What rolls and turns: balls, wheels, gears.

use crate::bench::{COMPLIANT, G, IMPLICIT, RIGID, STEPS, THETA, scene};

/// The schemes of Kelvin and Voigt's law.
const SOFT: &[&str] = &[THETA, IMPLICIT, COMPLIANT];

#[test]
fn a_ball_that_slides_begins_to_roll() {
    scene("ball-slides-then-rolls").under(RIGID, |run| {
        let rolls = 2.0 * 2.0 / (7.0 * 0.2 * G);
        run.to(1.0);
        run.near("speed", run.body("ball").velocity[0], 10.0 / 7.0, 1e-9);
        run.near("spin", run.body("ball").spin[1], 100.0 / 7.0, 1e-8);
        let way = 2.0 * rolls - 0.1 * G * rolls * rolls + 10.0 / 7.0 * (1.0 - rolls);
        run.near("way", run.body("ball").position[0], way, 2e-3);
    });
}

#[test]
fn round_bodies_roll_down_by_their_inertia() {
    let s = 20f64.to_radians().sin();
    scene("roll-down").under(RIGID, |run| {
        run.to(1.0);
        for (body, share) in [("ball", 0.4), ("cylinder", 0.5), ("pipe", 1.0)] {
            let v = run.body(body).velocity;
            run.near("speed", v[0].hypot(v[2]), G * s / (1.0 + share), 1e-6);
        }
    });
}

#[test]
fn rolling_resistance_brings_a_ball_to_rest() {
    scene("ball-rolls-out").under(STEPS, |run| {
        let brake = 5.0 / 7.0 * G * 1e-3 / 0.05;
        run.to(1.0);
        // the bound is one for force and moment: friction takes a share of (2/7 ..)^2 of it
        run.near("speed", run.body("ball").velocity[0], 0.4 - brake, 0.01 * brake);
        run.to(3.5);
        run.near("place", run.body("ball").position[0], 0.08 / brake, 0.01 * 0.08 / brake);
        run.near("speed", run.body("ball").velocity[0], 0.0, 1e-9);
    });
}

#[test]
fn driven_wheels_grip_or_spin() {
    let wheel = 0.15 / (0.25 * 0.25);
    scene("four-wheel-drive").under(RIGID, |run| {
        run.to(0.5);
        let a = 2.0 * 20.0 / 0.25 / (110.0 + 2.0 * wheel);
        run.near("speed", run.body("car").velocity[0], 0.5 * a, 1e-6);
        run.near("spin", run.body("wheel0").spin[2], -0.5 * a / 0.25, 1e-5);
    });
    scene("four-wheel-drive").set("let.torque", 120.0).under(RIGID, |run| {
        run.to(0.5);
        run.near("speed", run.body("car").velocity[0], 0.5 * 0.5 * G, 1e-6);
        run.assert(run.body("wheel0").spin[2] < -0.5 * 0.5 * G / 0.25 - 1.0, "spinning wheels");
    });
}

#[test]
fn a_wheel_climbs_a_kerb_from_its_force_on() {
    let least = 20.0 * G * (0.09f64 - 0.04).sqrt() / 0.2;
    for (share, climbs) in [(0.98, false), (1.05, true)] {
        scene("kerb").set("let.force", share * least).under(RIGID, |run| {
            run.to(0.5);
            let y = run.body("wheel").position[1];
            run.assert((y > 0.31) == climbs, if climbs { "climbing" } else { "held" });
        });
    }
}

#[test]
fn a_motor_turns_two_shafts_through_a_gear() {
    let a = 2.0 / (0.01 + 0.08 / 16.0);
    scene("gear-train").under(RIGID, |run| {
        run.to(1.0);
        run.near("fast", run.joint("fast")[1], a, 1e-9 * a);
        run.near("slow", run.joint("slow")[1], -a / 4.0, 1e-9 * a);
    });
}

#[test]
fn a_worm_locks_itself_by_its_friction() {
    scene("worm").under(RIGID, |run| {
        run.to(1.0);
        run.near("turn", run.joint("worm")[0], 0.0, 1e-9);
    });
    scene("worm").set("let.friction", 0.2).under(RIGID, |run| {
        run.to(1.0);
        run.near("speed", run.joint("worm")[1], 0.05 / (1e-3 + 0.16 / 1600.0), 1e-6);
    });
}

#[test]
fn a_screw_jack_lifts_and_holds() {
    let p = 5e-3 / std::f64::consts::TAU;
    scene("screw-jack").under(RIGID, |run| {
        run.to(1.0);
        let a = (4.0 - 2.0 - 200.0 * G * p) / (1.0 + 200.0 * p * p);
        run.near("speed", run.joint("nut")[1], a, 1e-6);
        run.near("lift", run.body("nut").position[2], p * run.joint("nut")[0], 1e-12);
    });
    scene("screw-jack").set("let.torque", 0.0).under(RIGID, |run| {
        run.to(1.0);
        run.near("turn", run.joint("nut")[0], 0.0, 1e-9);
    });
}

#[test]
fn what_rolls_on_soft_ground_rolls_about_the_place_where_surfaces_meet() {
    // the arm and the share of the moment of inertia
    let rolls = |run: &crate::bench::Run, body: &str, r: f64, k: f64| {
        let speed = 1.0 / (1.0 + k * 0.01 / (r * r));
        // the arm of the others changes as they sink in
        run.near(body, run.body(body).velocity[0], speed, if r == 0.1 { 1e-5 } else { 0.02 });
        let turned = run.body(body).velocity[0] / run.body(body).spin[1];
        run.near(body, turned, r, 1e-6);
    };
    scene("soft-rollers").under(SOFT, |run| {
        run.to(1.0);
        rolls(run, "marble", 0.1, 0.4);
        rolls(run, "drum", 0.1, 0.5);
        rolls(run, "tyre", 0.09, 0.4);
        rolls(run, "eraser", 0.095, 0.4);
    });
    // where the pair says so, on the ground
    let paired =
        scene("soft-rollers").choose("contact_point", "middle").choose("pair[0].contact_point", "second");
    paired.under(SOFT, |run| {
        run.to(1.0);
        rolls(run, "marble", 0.09, 0.4);
        rolls(run, "tyre", 0.095, 0.4);
    });
}

#[test]
fn a_hard_ball_rolls_down_a_soft_ramp_as_down_a_hard_one() {
    let (sin, cos) = 20f64.to_radians().sin_cos();
    let along = |v: [f64; 3]| v[0] * cos - v[2] * sin;
    scene("soft-ramp").under(SOFT, |run| {
        run.to(0.5);
        let first = ["ball", "box"].map(|b| along(run.body(b).velocity));
        run.to(1.0);
        let gain = ["ball", "box"].map(|b| along(run.body(b).velocity));
        let expected = [5.0 / 7.0 * G * sin, G * (sin - 0.2 * cos)];
        for k in 0..2 {
            run.near("acceleration", (gain[k] - first[k]) / 0.5, expected[k], 1e-5);
        }
        run.near("turn", along(run.body("ball").velocity) / run.body("ball").spin[1], 0.1, 1e-4);
    });
}
