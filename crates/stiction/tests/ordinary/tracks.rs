//! Bodies that pass seams, edges, sills and slots.

use crate::ordinary::bench::{EVENT, G, RIGID, STEPS, THETA, scene};

/// The first order of time stepping: a step of 1 ms at 2 m/s.
const STEP: f64 = 2e-3;

#[test]
fn a_box_does_not_notice_the_seam_between_two_tiles() {
    scene("tiles").under(RIGID, |run| {
        run.to(1.0);
        let box_ = run.body("box");
        run.near("place", box_.position[0], 0.3 + 4.0 / (2.0 * 0.3 * G), STEP);
        run.near("tilt", box_.tilt([0.0, 0.0, 1.0]), 0.0, 1e-9);
        run.near("heading", box_.heading(), 0.0, 1e-9);
    });
}

#[test]
fn a_plate_slides_over_a_row_of_free_blocks() {
    scene("row-of-blocks").but(EVENT, "blocks in rows end its steps").under(STEPS, |run| {
        run.to(1.0);
        run.near("place", run.body("box").position[0], 4.0 / (2.0 * 0.3 * G), STEP);
        run.near("place of a block", run.body("block3").position[0], 0.6, 1e-9);
    });
}

#[test]
fn bodies_that_miss_an_edge_fly_on_and_those_that_do_not_hit_it() {
    scene("near-misses").under(RIGID, |run| {
        run.to(0.2);
        for body in ["ball", "box", "die"] {
            let motion = run.body(body);
            run.near("speed", motion.velocity[0], 10.0, 1e-12);
            run.near("lift", motion.velocity[2], 0.0, 1e-12);
        }
    });
    scene("near-misses").set("let.height", 0.0499).under(RIGID, |run| {
        run.to(0.2);
        for body in ["ball", "box", "die"] {
            run.assert(run.body(body).velocity[2] > 0.05, "thrown upwards by the edge");
        }
    });
}

#[test]
fn a_thin_wall_stops_a_fast_ball() {
    scene("thin-wall").under(&[THETA, EVENT], |run| {
        run.to(0.05);
        run.near("speed", run.body("ball").velocity[0], -20.0, 1e-9);
        // it meets the wall after 0.975 m
        run.near("place", run.body("ball").position[0], -0.025 - 20.0 * (0.05 - 0.975 / 40.0), 0.04);
    });
}

#[test]
fn a_crate_on_runners_slides_down_a_chute_of_planks() {
    let a = G * (30f64.to_radians().sin() - 0.2 * 30f64.to_radians().cos());
    scene("plank-chute").under(RIGID, |run| {
        run.to(1.0);
        let crate_ = run.body("crate");
        run.near("speed", crate_.velocity[0], a, 1e-6);
        run.near("place", crate_.position[0], 0.5 * a, 2.0 * STEP);
        run.near("height", crate_.position[2], 0.0, 1e-9);
        run.near("heading", crate_.heading(), 0.0, 1e-6);
    });
}

#[test]
fn the_sides_of_a_v_shaped_chute_press_harder_than_a_floor() {
    let (s, c) = 30f64.to_radians().sin_cos();
    let a = G * (s - 2f64.sqrt() * 0.2 * c);
    scene("v-chute").under(RIGID, |run| {
        run.to(0.8);
        run.near("speed", run.body("bar").velocity[0], 0.8 * a, 1e-6);
        run.near("place", run.body("bar").position[1], 0.0, 1e-9);
    });
}

#[test]
fn a_box_trips_over_a_low_sill() {
    let (a, b) = (0.06f64, 0.02f64);
    for sill in [1e-3, 1e-4] {
        // the top of the sill stops the front, the floor its lower edge
        let about = (a * a + b * b) / 3.0 + (b - sill).powi(2) + a * a;
        let w = (b - sill) / about;
        let rise = 0.5 * about * w * w / G;
        scene("box-trips").set("let.sill", sill).under(RIGID, |run| {
            let mut highest = 0.0f64;
            run.until(0.3, |run| highest = highest.max(run.body("box").position[2]));
            run.near("rise", highest - 0.02, rise, 0.04 * rise);
            run.assert(run.body("box").position[0] < 0.14 + 1e-6, "before the sill");
        });
    }
}

#[test]
fn a_slot_sorts_balls_by_size() {
    scene("slot-sorts").under(RIGID, |run| {
        run.to(0.5);
        run.assert(run.body("small").position[2] < -0.5, "through the slot");
        let rest = (0.0501f64.powi(2) - 0.05f64.powi(2)).sqrt();
        run.near("height", run.body("large").position[2], rest, 1e-6);
    });
}

#[test]
fn a_wheel_rolls_askew_over_tiles() {
    scene("wheel-over-tiles").under(RIGID, |run| {
        run.to(1.0);
        let (wheel, (s, c)) = (run.body("wheel"), 30f64.to_radians().sin_cos());
        run.near("x", wheel.position[0], 0.013 + 2.0 * c, 1e-6);
        run.near("y", wheel.position[1], 0.017 + 2.0 * s, 1e-6);
        run.near("height", wheel.position[2], 0.1, 1e-6);
        run.near("spin", wheel.spin[1], 20.0 * c, 1e-6);
    });
}

#[test]
fn a_ball_rolls_over_a_hump_of_planks() {
    let radius = 0.05 / 1.5f64.to_radians().tan() + 0.1;
    scene("ball-over-hump").under(RIGID, |run| {
        let begin = run.body("ball").position;
        let mut least = f64::INFINITY;
        run.until(0.9, |run| {
            let ball = run.body("ball");
            let speed = ball.velocity[0].hypot(ball.velocity[1]);
            let law = (6.25 - 10.0 / 7.0 * G * (ball.position[1] - begin[1])).sqrt();
            run.near("speed", speed, law, 0.02 * law);
            least = least.min(speed);
        });
        let top = (6.25f64 - 10.0 / 7.0 * G * (radius - begin[1])).sqrt();
        run.near("least speed", least, top, 0.02 * top);
    });
}
