//! A step allocates nothing once its memory has grown.
#![allow(missing_docs)]

#[path = "../../complementarity/tests/allocations/mod.rs"]
mod allocations;

use allocations::count;
use std::path::Path;
use stiction::contact::Law;
use stiction::scene::{ForceTime, FrictionKind, Scene};
use stiction::step::Stepper;

#[test]
fn steps_allocate_nothing_after_the_first_ones() {
    // first ones: the ellipse slips and lifts elements until its memory has grown to all it needs
    let pyramid = FrictionKind::Pyramid;
    for (name, friction, first, counted) in [
        ("song2004/ellipse-1e-10.toml", pyramid, 2000, 5000),
        ("song2004/ellipse-1e-10.toml", FrictionKind::Cone, 2000, 5000),
        ("song2004/ellipse-rigid.toml", pyramid, 2000, 5000),
        ("song2004/ellipse-rigid.toml", FrictionKind::Cone, 2000, 5000),
        ("sphere-on-plane.toml", pyramid, 5, 500),
        ("sphere-on-plane.toml", FrictionKind::Cone, 5, 500),
        ("box-on-slope.toml", pyramid, 5, 500),
        ("box-on-slope.toml", FrictionKind::Cone, 5, 500),
        ("sliding-sphere.toml", pyramid, 5, 900),
        ("sliding-sphere.toml", FrictionKind::Cone, 5, 900),
        ("chain.toml", FrictionKind::Cone, 5, 500),
        ("stack-of-ten.toml", FrictionKind::Cone, 100, 500),
        ("four-legged-table-elastic.toml", FrictionKind::Cone, 100, 500),
    ] {
        allocates_nothing(name, (first, counted), |s| s.step.friction = friction);
    }
}

#[test]
fn a_law_that_varies_allocates_nothing_either() {
    let hertz = |s: &mut Scene| {
        for m in &mut s.materials {
            (m.young, m.law) = (Some(2e9), Law::HertzMindlin { radius: 0.05, time: 1e-4 });
        }
    };
    allocates_nothing("box-on-slope.toml", (100, 1000), hertz);
    // while it is in contact: steps 200 to 1250
    for friction in [FrictionKind::Cone, FrictionKind::Pyramid] {
        allocates_nothing("hertz-impact.toml", (210, 1000), |s| s.step.friction = friction);
    }
}

#[test]
fn implicit_forces_allocate_nothing_either() {
    for name in ["box-on-slope.toml", "sliding-sphere.toml", "chain.toml"] {
        for theta in [0.0, 0.5] {
            let implicit = |s: &mut Scene| (s.step.explicit_share, s.step.forces) = (theta, ForceTime::Theta);
            allocates_nothing(name, (5, 500), implicit);
        }
    }
}

#[test]
fn moments_of_friction_allocate_nothing_either() {
    allocates_nothing("spinning-sphere.toml", (5, 900), |_| ());
    allocates_nothing("rolling-resistance.toml", (5, 900), |_| ());
    for law in [Law::Rigid, Law::KelvinVoigt { stiffness: [1e6, 8e5], damping: [100.0, 100.0] }] {
        let with = |s: &mut Scene| {
            s.materials.iter_mut().for_each(|m| {
                (m.torsion, m.rolling, m.law) = (0.01, 0.001, law.clone());
            });
        };
        allocates_nothing("sliding-sphere.toml", (5, 900), with);
        // one step in the first ones is left to the proximal method
        allocates_nothing("box-on-slope.toml", (400, 500), with);
    }
}

fn allocates_nothing(name: &str, (first, counted): (usize, usize), change: impl Fn(&mut Scene)) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes").join(name);
    let mut scene = Scene::read(&path).expect("a valid scene");
    change(&mut scene);
    let mut stepper = Stepper::new(scene).expect("a valid model");
    let mut state = stepper.initial();
    for _ in 0..first {
        let _ = stepper.step(&mut state).expect("no step fails");
    }
    let before = count();
    for _ in 0..counted {
        let _ = stepper.step(&mut state).expect("no step fails");
    }
    assert_eq!(count() - before, 0, "allocations in {name}");
}
