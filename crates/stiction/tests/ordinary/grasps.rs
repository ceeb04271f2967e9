//! Fingers that hold by friction, and a peg.

use crate::ordinary::bench::{G, RIGID, STEPS, scene};

#[test]
fn a_parallel_gripper_holds_what_friction_carries() {
    scene("parallel-gripper").under(RIGID, |run| {
        run.to(0.1);
        run.near("height", run.body("box").position[2], 0.0, 1e-9);
        run.near("friction of a finger", run.force("box", Some("finger0"))[2], 0.75 * G, 1e-6);
    });
    scene("parallel-gripper").set("let.mass", 2.0).under(RIGID, |run| {
        run.to(0.1);
        run.near("speed", run.body("box").velocity[2], -0.1 * (G - 8.0), 1e-6);
    });
}

#[test]
fn three_fingers_hold_a_can() {
    scene("three-fingers").under(RIGID, |run| {
        run.to(0.1);
        run.near("height", run.body("can").position[2], 0.0, 1e-9);
    });
    scene("three-fingers").set("let.mass", 1.6).under(RIGID, |run| {
        run.to(0.1);
        run.near("speed", run.body("can").velocity[2], -0.1 * (G - 15.0 / 1.6), 1e-6);
    });
}

#[test]
fn a_hand_that_is_pulled_up_keeps_or_loses_its_box() {
    scene("hand-lifts").under(STEPS, |run| {
        run.to(0.4);
        run.near("speed", run.body("box").velocity[2], 0.8, 1e-6);
        run.near("height", run.body("box").position[2] - run.joint("hand")[0], 0.05, 1e-6);
    });
    scene("hand-lifts").set("let.lift", 7.0).under(STEPS, |run| {
        run.to(0.4);
        run.near("speed", run.body("box").velocity[2], 0.2 * (2.0 * 0.4 * 10.0 / 0.5 - G), 1e-3);
    });
}

#[test]
fn a_peg_falls_through_a_tight_hole() {
    scene("peg-in-square-hole").under(RIGID, |run| {
        run.to(0.1);
        // the first order of time stepping: g h t / 2
        run.near("depth", 0.165 - run.body("peg").position[2], 0.5 * G * 0.01, 5e-4);
        run.near("speed", run.body("peg").velocity[2], -0.1 * G, 1e-9);
        run.to(0.3);
        run.near("height", run.body("peg").position[2], 0.06, 1e-6);
        run.near("aside", run.body("peg").position[0].hypot(run.body("peg").position[1]), 0.0, 1e-9);
    });
}
