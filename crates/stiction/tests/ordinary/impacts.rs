//! Bodies that meet: bounces, cradles, pendulums, feet, dominoes.

use crate::ordinary::bench::{EVENT, G, RIGID, STEPS, THETA, scene};
use std::f64::consts::PI;

/// Schemes that know restitution.
const BOUNCE: &[&str] = &[THETA, EVENT];

#[test]
fn a_pendulum_bounces_off_a_wall() {
    scene("pendulum-meets-wall").under(BOUNCE, |run| {
        let mut back = 0.0f64;
        run.until(1.2, |run| {
            let [angle, speed] = run.joint("bob");
            run.assert(angle < 1e-6, "on its side of the wall");
            if run.time() > 0.6 && speed.abs() < 0.2 {
                back = back.max(-angle);
            }
        });
        let law = (1.0f64 - 0.36 * 0.5).acos();
        run.near("angle of return", back, law, 0.01 * law);
    });
}

#[test]
fn the_last_ball_of_a_cradle_swings_out() {
    scene("cradle").under(BOUNCE, |run| {
        let (mut first, mut last, mut others) = (0.0f64, 0.0f64, 0.0f64);
        run.until(0.8, |run| {
            if run.time() > 0.5 {
                first = first.max(run.joint("ball0")[0].abs());
                last = last.max(-run.joint("ball4")[0]);
                (1..4).for_each(|i| others = others.max(run.joint(&format!("ball{i}"))[0].abs()));
            }
        });
        let swing = 30f64.to_radians();
        run.near("swing of the last", last, swing, 0.01 * swing);
        run.near("swing of the others", others.max(first), 0.0, 0.01);
    });
}

#[test]
fn a_ball_bounces_to_rest() {
    scene("bounces").under(BOUNCE, |run| {
        let fall = (2.0 / G).sqrt();
        let mut tops = [0.0f64; 2];
        run.until(4.3, |run| {
            let (t, z) = (run.time() / fall, run.body("ball").position[2] - 0.05);
            // flights last 2 e and 2 e^2 falls
            if (1.0..2.6).contains(&t) {
                tops[0] = tops[0].max(z);
            } else if (2.6..3.88).contains(&t) {
                tops[1] = tops[1].max(z);
            }
        });
        run.near("first top", tops[0], 0.64, 0.01);
        run.near("second top", tops[1], 0.4096, 0.01);
        run.near("height", run.body("ball").position[2], 0.05, 1e-6);
        run.near("speed", run.body("ball").velocity[2], 0.0, 1e-9);
    });
}

#[test]
fn billiard_balls_part_at_right_angles() {
    scene("billiard").under(BOUNCE, |run| {
        run.to(0.3);
        let (cue, object) = (run.body("cue").velocity, run.body("object").velocity);
        run.near("speed of the object", object[0].hypot(object[1]), 2.0 * (PI / 6.0).cos(), 0.01);
        run.near("speed of the cue", cue[0].hypot(cue[1]), 2.0 * (PI / 6.0).sin(), 0.02);
        run.near("scalar product", cue[0] * object[0] + cue[1] * object[1], 0.0, 1e-9);
    });
}

#[test]
fn a_wheel_without_a_rim_walks_down_a_slope() {
    let (m, r, inertia, slope, half): (f64, f64, f64, f64, f64) =
        (2.0, 0.3, 0.09, 10f64.to_radians(), PI / 8.0);
    let about = inertia + m * r * r;
    // rate just after each foot: a swing from -half to half about the vertical of the slope, then the impact
    let keep = (inertia + m * r * r * (2.0 * half).cos()) / about;
    let lift = |w: f64| w * w + 2.0 * m * G * r * ((slope + half).cos() - (slope - half).cos()).abs() / about;
    let fall = |w: f64| lift(w).sqrt();
    scene("walker-foot").under(RIGID, |run| {
        let (mut feet, mut before, mut last) = (vec![], 4.0f64, 0.0f64);
        run.until(1.5, |run| {
            let now = -run.body("wheel").spin[2];
            // an impact may take two steps
            if now < 0.95 * before {
                if run.time() - last < 0.01 {
                    feet.pop();
                }
                feet.push(now);
                last = run.time();
            }
            before = now;
        });
        run.assert(feet.len() >= 3, "walking");
        let mut w = 4.0;
        for (k, foot) in feet.iter().enumerate() {
            w = keep * fall(w);
            run.near(&format!("rate after foot {k}"), *foot, w, 0.03 * w);
        }
    });
}

#[test]
fn dominoes_fall_one_after_the_other() {
    scene("dominoes").but(EVENT, "takes minutes").under(STEPS, |run| {
        let mut fell = vec![];
        run.until(1.0, |run| {
            let next = fell.len();
            if next < 10 && run.body(&format!("d{next}")).tilt([0.0, 0.0, 1.0]) > 0.5 {
                fell.push(run.time());
            }
        });
        run.assert(fell.len() == 10, "all fallen");
        run.assert(fell.windows(2).all(|w| w[0] < w[1]), "in order");
    });
}
