//! Linkages, cams, latches, brakes, doors.

use crate::ordinary::bench::{EVENT, G, RIGID, STEPS, scene};
use std::f64::consts::{FRAC_PI_2, PI, TAU};

#[test]
fn a_slider_follows_its_crank() {
    scene("slider-crank").under(STEPS, |run| {
        run.until(1.0, |run| {
            let (s, c) = run.joint("crank")[0].sin_cos();
            let x = 0.1 * c + (0.09 - 0.01 * s * s).sqrt();
            run.near("crank", run.joint("crank")[0], 10.0 * run.time(), 5e-3);
            run.near("slider", run.body("slider").position[0], x, 1e-8);
        });
    });
}

#[test]
fn a_flat_follower_keeps_to_its_cam() {
    scene("cam-follower").under(STEPS, |run| {
        run.until(1.0, |run| {
            let lift = 0.01 * run.joint("cam")[0].sin();
            run.near("lift", run.joint("follower")[0], lift, 1e-5);
        });
        let push = 0.3 * (G - 0.01 * 64.0 * 8f64.sin());
        run.near("force of the cam", run.force("follower", None)[1], push, 0.02 * push);
    });
}

#[test]
fn a_geneva_drive_turns_by_quarters() {
    scene("geneva").under(STEPS, |run| {
        // clearance of 0.1 mm at the pin, which is 29 to 71 mm from the wheel's axis
        let slack = 0.0001 / 0.029 + 1e-3;
        run.until(2.0, |run| {
            let (crank, turns) = (FRAC_PI_2 - TAU * run.time(), run.time().floor());
            let crank = crank + TAU * turns;
            let wheel = run.joint("wheel")[0] - PI / 4.0 - FRAC_PI_2 * turns;
            let (r, d) = (0.1 / 2f64.sqrt(), 0.1);
            let law = match crank {
                a if a > PI / 4.0 => 0.0,
                a if a < -PI / 4.0 => FRAC_PI_2,
                a => PI / 4.0 - (r * a.sin()).atan2(d - r * a.cos()),
            };
            run.near("wheel", wheel, law, slack);
        });
    });
}

#[test]
fn a_ratchet_turns_one_way() {
    scene("ratchet").under(RIGID, |run| {
        run.to(0.6);
        let turned = run.joint("wheel")[0];
        run.assert(turned > 1.0, "turning forward");
        run.to(1.5);
        let [angle, speed] = run.joint("wheel");
        run.near("speed", speed, 0.0, 1e-6);
        run.assert(angle > turned - TAU / 12.0 && angle < turned + 0.1, "within a tooth");
    });
}

#[test]
fn a_latch_snaps_in_above_its_force_and_holds() {
    scene("latch").set("let.push", 9.5).under(RIGID, |run| {
        run.to(0.6);
        run.assert(run.joint("drawer")[0] < 1e-3, "outside");
    });
    scene("latch").under(RIGID, |run| {
        run.to(0.6);
        run.assert(run.joint("drawer")[0] > 0.0291, "past the bolt");
        run.to(1.2);
        run.near("drawer", run.joint("drawer")[0], 0.0291, 1e-6);
        run.near("bolt", run.joint("bolt")[0], 0.0, 1e-6);
    });
}

#[test]
fn a_toggle_clamp_multiplies_its_force() {
    scene("toggle").under(RIGID, |run| {
        run.to(0.1);
        let force = 50.0 / (2.0 * 5f64.to_radians().tan());
        run.near("force on the work", run.force("ram", Some("work"))[0], -force, 1e-4 * force);
    });
}

#[test]
fn a_drum_brake_helps_itself_one_way() {
    for sign in [1.0, -1.0] {
        scene("drum-brake").set("let.spin", sign * 20.0).under(RIGID, |run| {
            let normal = 30.0 * 0.5 / (0.2 - sign * 0.4 * 0.05);
            let brake = 0.4 * normal * 0.15 / 0.3;
            run.to(1.0);
            run.near("spin", run.joint("drum")[1], sign * (20.0 - brake).max(0.0), 1e-3 * brake);
            run.near("force of the shoe", run.force("lever", None)[1], normal, 1e-3 * normal);
        });
    }
}

#[test]
fn a_door_closes_against_its_frame() {
    scene("door").under(RIGID, |run| {
        let (d, w0) = (12.0 / 24.0, 8.0f64 / 12.0);
        let w = (w0 - d * d).sqrt();
        let law = |t: f64| -0.2 + 1.4 * (-d * t).exp() * ((w * t).cos() + d / w * (w * t).sin());
        run.to(2.0);
        run.near("angle", run.joint("door")[0], law(2.0), 1e-3);
        run.to(4.0);
        run.near("angle", run.joint("door")[0], 0.0, 1e-6);
        // the contact is on the frame, 0.96 to 1 m from the hinge
        let force = run.force("door", Some("frame"))[1];
        run.assert(force > 1.6 / 1.0 - 1e-3 && force < 1.6 / 0.96 + 1e-3, "carrying 1.6 N m");
    });
}

#[test]
fn a_see_saw_turns_to_the_heavier_side() {
    let boxes = 55.0 * (1.5 * 1.5 + 0.18 * 0.18) + 55.0 / 3.0 * 2.0 * 0.15 * 0.15;
    let inertia = boxes + 20.0 / 3.0 * (4.0 + 9e-4);
    let (mut angle, mut w, h) = (0.0f64, 0.0f64, 1e-5);
    for _ in 0..30_000 {
        w += h * G * (5.0 * 1.5 * angle.cos() + 55.0 * 0.18 * angle.sin()) / inertia;
        angle += h * w;
    }
    scene("see-saw").under(RIGID, |run| {
        run.to(0.3);
        run.near("rate", run.joint("plank")[1], -w, 1e-3 * w);
    });
}

#[test]
fn a_spring_gun_shoots_its_ball() {
    scene("spring-gun").under(RIGID, |run| {
        run.to(0.1);
        let speed = 0.05 * (400.0 / 0.15f64).sqrt();
        // the spring is implicit: a quarter of a period loses pi / 4 w h of its speed
        let lost = if run.scheme == EVENT { 1e-9 } else { 0.05 };
        run.near("speed", run.body("ball").velocity[0], speed, lost * speed);
    });
}
