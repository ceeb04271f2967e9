//! Bodies with joints that carry others round: driven turntables, arms.

use crate::ordinary::bench::{COMPLIANT, EVENT, IMPLICIT, RIGID, Run, STEPS, THETA, scene};
use stiction::space::sub;

/// The schemes of compliant contacts.
const SOFT: &[&str] = &[THETA, IMPLICIT, COMPLIANT];
/// Rates in rad/s and steps in s at which tables turn by up to half a radian in a step.
const FAST: [(f64, f64); 6] =
    [(1.0, 1e-2), (10.0, 1e-3), (50.0, 1e-3), (50.0, 1e-2), (500.0, 1e-4), (500.0, 1e-3)];

/// Place of a body in the coordinates of another, and its heading beside that of the other, rad.
fn place(run: &Run, body: &str, on: &str) -> ([f64; 3], f64) {
    let (carrier, own) = (run.body(on), run.body(body));
    let place = carrier.attitude.inverse().apply(sub(own.position, carrier.position));
    (place, (own.heading() - carrier.heading()).sin())
}

fn keeps_its_place(run: &Run) {
    // events are located within their own accuracy
    let near = if run.scheme == EVENT { 1e-8 } else { 1e-9 };
    let (place, heading) = place(run, "box", "table");
    run.near("place along the radius", place[0], 0.3, near);
    run.near("place across it", place[1], 0.0, near);
    run.near("height", place[2], 0.03, near);
    run.near("heading", heading, 0.0, near);
}

#[test]
fn a_box_that_sticks_to_a_driven_turntable_keeps_its_place_on_it() {
    for (rate, h) in FAST {
        scene("driven-turntable").set("let.rate", rate).set("step.h", h).under(STEPS, |run| {
            run.until(1.0, |run| keeps_its_place(run));
            let ([x, y, _], [fx, fy, fz]) = (run.body("box").position, run.force("box", None));
            // the velocities of a step are those along chords
            let sinc = (0.5 * rate * h).sin() / (0.5 * rate * h);
            let pull = rate * rate * 0.3 * sinc * sinc;
            run.near("pull", fx.hypot(fy), pull, 1e-6 * pull);
            // along the radius at the beginning of the step
            let turned = ((x * fy - y * fx) / (0.3 * pull)).asin();
            run.near("its direction", turned, rate * h, 1e-6);
            run.near("weight", fz, 0.5 * rate * rate + 2.0 * rate, 1e-6 * rate * rate);
        });
    }
}

#[test]
fn a_turntable_that_turns_freely_keeps_its_rate_and_its_load() {
    for (rate, h) in FAST {
        scene("coasting-turntable").set("let.rate", rate).set("step.h", h).under(RIGID, |run| {
            run.until(1.0, |run| {
                keeps_its_place(run);
                let found = run.joint("table")[1];
                match run.scheme {
                    // all of the torque's time
                    EVENT if run.time() > 0.6 => run.near("rate", found, 0.999_91 * rate, 1e-6 * rate),
                    THETA if run.time() > 0.6 => {
                        let off = 2e-2 * (rate * h).powi(2) + 1e-9;
                        run.near("rate", found, rate, off * rate);
                    }
                    // its forces act at the end of the step, which takes h w^3 m r^2 of momentum a second: of first order
                    IMPLICIT if run.time() > 0.6 && rate * h <= 0.01 => {
                        let lost = rate * h * 0.0909 * rate * rate * (run.time() - 0.375);
                        run.near("rate", found, rate - lost, 0.1 * lost);
                    }
                    _ => {}
                }
            });
        });
    }
}

#[test]
fn a_ball_rolls_on_a_driven_turntable_in_circles() {
    for (rate, h) in [(10.0, 1e-3), (10.0, 1e-2), (50.0, 1e-3)] {
        scene("ball-on-driven-turntable").set("let.rate", rate).set("step.h", h).under(STEPS, |run| {
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
fn a_part_keeps_its_place_on_the_tray_of_an_arm() {
    for h in [1e-4, 1e-3, 1e-2] {
        scene("arm-carries").set("step.h", h).under(STEPS, |run| {
            run.until(2.0, |run| {
                let (place, heading) = place(run, "part", "tray");
                run.near("place along the tray", place[0], 0.21, 1e-8);
                run.near("place across it", place[1], 0.02, 1e-8);
                run.near("heading on it", heading, 0.0, 1e-8);
            });
        });
    }
}

#[test]
fn springs_that_hold_a_box_on_a_turntable_turn_with_it() {
    for rate in [0.5, 2.0] {
        scene("soft-turntable").set("let.rate", rate).set("step.h", 1e-3).under(SOFT, |run| {
            let mut first = None;
            run.until(5.0, |run| {
                if run.time() < 0.5 {
                    return;
                }
                let (own, [fx, fy, _]) = (run.body("box"), run.force("box", None));
                let [x, y, _] = own.position;
                let radius = x.hypot(y);
                let pull = rate * rate * radius;
                // along the radius where the step begins
                let off = rate * 1e-3;
                run.near("pull", -(fx * x + fy * y) / radius, pull, off * pull);
                run.near("pull aside", (fy * x - fx * y) / radius, 0.0, 2.0 * off * pull);
                // stretched by the pull over the stiffness of four feet
                run.near("radius", radius, 0.3 / (1.0 - rate * rate / 8e4), 3e-6);
                let (place, _) = place(run, "box", "table");
                let first = *first.get_or_insert(place);
                run.near("place along the radius", place[0], first[0], 1e-8);
                run.near("place across it", place[1], first[1], 1e-8);
            });
        });
    }
}
