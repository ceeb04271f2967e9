//! What stands on what.

use crate::ordinary::bench::{EVENT, G, RIGID, STEPS, scene};

#[test]
fn a_stack_stands_and_carries() {
    scene("stack").under(RIGID, |run| {
        run.to(1.0);
        for i in 0..10 {
            let body = run.body(&format!("box{i}"));
            run.near("height", body.position[2], 0.05 + 0.1 * f64::from(i), 1e-7);
            run.near("speed", body.velocity[2], 0.0, 1e-9);
        }
        run.near("load of the floor", run.force("box0", Some("floor"))[2], 20.0 * G, 1e-6);
        run.near("load on the fifth", run.force("box5", Some("box4"))[2], 10.0 * G, 1e-6);
    });
}

#[test]
fn bricks_overhang_as_far_as_they_balance() {
    scene("overhang").under(RIGID, |run| {
        run.to(0.6);
        run.near("height of the top", run.body("b4").position[2], 0.21, 1e-7);
    });
    scene("overhang").set("let.share", 1.02).but(EVENT, "slow slips of falling piles").under(STEPS, |run| {
        run.to(0.6);
        run.assert(run.body("b4").position[2] < 0.2, "falling");
    });
}

#[test]
fn three_pipes_stand_by_their_friction() {
    scene("three-pipes").under(RIGID, |run| {
        run.to(0.3);
        run.near("height of the top", run.body("top").position[1], 0.1 + 0.1 * 3f64.sqrt(), 1e-6);
    });
    scene("three-pipes").set("let.friction", 0.2).under(RIGID, |run| {
        run.to(0.3);
        run.assert(run.body("top").position[1] < 0.262, "falling");
    });
}
