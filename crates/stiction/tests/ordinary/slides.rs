//! Bodies that slide, stick, tip and spin on a plane.

use crate::ordinary::bench::{G, RIGID, STEPS, scene};

#[test]
fn a_box_on_a_slope_slides_below_its_friction_and_does_not_creep_above() {
    let (s, c) = 20f64.to_radians().sin_cos();
    scene("box-on-slope").under(RIGID, |run| {
        run.to(1.0);
        let v = run.body("box").velocity;
        run.near("speed", v[0].hypot(v[2]), G * (s - 0.3 * c), 1e-9);
    });
    scene("box-on-slope").set("let.friction", 0.37).under(RIGID, |run| {
        let begin = run.body("box").position;
        run.to(1.0);
        let end = run.body("box").position;
        run.near("way", (end[0] - begin[0]).hypot(end[2] - begin[2]), 0.0, 1e-10);
    });
}

#[test]
fn a_tall_box_tips_where_the_slope_is_steeper_than_its_diagonal() {
    scene("tall-box-tips").set("let.angle", 18.3).under(RIGID, |run| {
        run.to(0.5);
        run.near("tilt", run.body("box").tilt([0.0, 1.0, 0.0]), 0.0, 1e-9);
        run.near("speed", run.body("box").spin[1], 0.0, 1e-9);
    });
    // about its edge: (4/3) m (a^2 + b^2) w' = m g (b sin - a cos), which grows as it tips
    scene("tall-box-tips").under(RIGID, |run| {
        let (a, b, angle): (f64, f64, f64) = (0.05, 0.15, 20f64.to_radians());
        let (mut tilt, mut w, h) = (0.0f64, 0.0f64, 1e-5);
        for _ in 0..40_000 {
            let turn = angle + tilt;
            w += h * G * (b * turn.sin() - a * turn.cos()) / (4.0 / 3.0 * (a * a + b * b));
            tilt += h * w;
        }
        run.to(0.4);
        run.near("rate", run.body("box").spin[1], w, 0.02 * w);
    });
}

#[test]
fn a_pushed_crate_slides_or_tips() {
    scene("crate-is-pushed").under(RIGID, |run| {
        run.to(0.5);
        let crate_ = run.body("crate");
        run.near("speed", crate_.velocity[0], 0.5 * (3.5 - 0.3 * G), 1e-9);
        run.near("tilt", crate_.tilt([0.0, 0.0, 1.0]), 0.0, 1e-9);
    });
    scene("crate-is-pushed").set("let.force", 45.0).under(RIGID, |run| {
        run.to(0.5);
        run.assert(run.body("crate").tilt([0.0, 0.0, 1.0]) > 0.1, "tipping");
    });
}

#[test]
fn the_crate_meets_the_headboard_of_a_truck_that_brakes() {
    scene("truck-brakes").under(STEPS, |run| {
        let slide = 6.0 - 0.4 * G;
        run.to(0.6);
        let ahead = run.body("crate").position[0] - run.joint("truck")[0];
        run.near("way on the bed", ahead, 0.5 * slide * 0.36, 2e-3);
        let meets = (2.0 * 0.5 / slide).sqrt();
        run.to((meets * 1e3).ceil() * 1e-3 + 3e-3);
        let behind = run.body("crate").velocity[0] - run.joint("truck")[1];
        run.near("speed on the bed", behind, 0.0, 1e-6);
        run.near("force of the headboard", run.force("crate", None)[0], -50.0 * 6.0, 1e-3);
    });
}

#[test]
fn a_disc_on_its_face_stops_spinning() {
    let stops = 20.0 * 0.1 / (2.0 * 0.2 * G);
    scene("disc-spins-down").under(RIGID, |run| {
        run.to(0.5 * (stops * 1e3).round() * 1e-3);
        run.near("spin", run.body("disc").spin[2], 20.0 - run.time() / stops * 20.0, 1e-6);
        run.to(stops + 2e-3);
        run.near("spin", run.body("disc").spin[2], 0.0, 1e-9);
    });
}

#[test]
fn torsional_friction_stops_a_ball_that_spins_on_the_spot() {
    scene("ball-spins-down").under(STEPS, |run| {
        let brakes = 1e-3 * G / (0.4 * 0.05 * 0.05);
        run.to(0.5);
        run.near("spin", run.body("ball").spin[2], 10.0 - 0.5 * brakes, 1e-6);
        run.to(1.0);
        run.near("spin", run.body("ball").spin[2], 10.0 - brakes, 1e-6);
        run.near("way", run.body("ball").position[0], 0.0, 1e-9);
    });
}

#[test]
fn a_cloth_is_pulled_from_under_a_plate() {
    scene("cloth-is-pulled").under(STEPS, |run| {
        run.to(0.1);
        run.near("way of the plate", run.body("plate").position[0] - 0.5, 0.5 * 0.2 * G * 0.01, 2e-4);
        run.near("its speed", run.body("plate").velocity[0], 0.2 * G * 0.1, 1e-6);
        run.near("friction on it", run.force("plate", None)[0], 0.2 * 0.5 * G, 1e-6);
    });
}
