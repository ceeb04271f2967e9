//! Rigid bodies that overlap: how fast they are pushed apart, and what is said of it.

use stiction::model::Model;
use stiction::scene::Scene;
use stiction::step::overlaps;
use stiction::stepper::Stepper;

fn scene(text: &str) -> Scene {
    stiction::from_toml("overlap.toml", text).expect("a valid scene")
}

const SUNK: &str = "[[world]]\nname = \"ground\"\nshape = \"half_space\"\n\
                    [[body]]\nname = \"box\"\nshape = { box = { half = [0.1, 0.1, 0.1] } }\nmass = 1\nposition = [0, 0, 0.05]\n";

#[test]
fn a_box_that_starts_in_the_ground_rises_at_the_recovery_velocity_and_rests() {
    for (h, velocity) in [(1e-3, 0.1), (1e-4, 0.1), (1e-3, 0.5), (1e-2, 0.1)] {
        let text =
            format!("{SUNK}[step]\nh = {h}\nrecovery_velocity = {velocity}\n[record]\ninterval = 0.1\n");
        let model = Model::new(&scene(&text)).expect("a valid model");
        let found = overlaps(&model, &model.initial()).expect("placed");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].parts, ["ground", "box"]);
        assert!((found[0].depth - 0.05).abs() < 1e-12, "{found:?}");

        let mut stepper = Stepper::of(std::sync::Arc::new(model));
        let (mut state, mut work, mut fastest) = (stepper.initial(), 0.0, 0.0f64);
        for _ in 0..(1.0 / h) as usize {
            work += stepper.step(&mut state).expect("no step fails").recovery_work;
            fastest = fastest.max(state.velocity[2]);
        }
        assert!(fastest <= velocity * (1.0 + 1e-9), "{fastest}");
        // once it is out it may hop by v^2 / 2g; it rests on the ground
        assert!((state.position[2] - 0.1).abs() < 1e-9 && state.velocity[2].abs() < 1e-9, "{state:?}");
        // it was raised by 5 cm, and brought to its velocity in one step at twice the mean work
        let raised = 9.81 * 0.05 + velocity * velocity;
        assert!((work - raised).abs() < 0.02 * raised, "{work} of {raised}");
    }
}

/// A ball that runs round in a hollow leaves what its steps are too long for to the next: it must not sink, however fast it is.
#[test]
fn what_motion_leaves_is_undone_in_full() {
    // a ring of 48 planes about a circle of 1 m
    let mut text =
        String::from("planar = true\ngravity = [0, 0]\n[[material]]\nname = \"default\"\nfriction = 0\n");
    for k in 0..48 {
        let (sin, cos) = (std::f64::consts::TAU * f64::from(k) / 48.0).sin_cos();
        let angle = std::f64::consts::TAU * f64::from(k) / 48.0 + 0.5 * std::f64::consts::PI;
        text += &format!(
            "[[world]]\nname = \"w{k}\"\nshape = \"half_space\"\nposition = [{cos}, {sin}]\nangle = {angle}\n"
        );
    }
    text += "[[body]]\nname = \"ball\"\nshape = { sphere = { radius = 0.1 } }\nmass = 1\nposition = [0.9, 0]\nvelocity = [0, 20]\n";
    let mut stepper = Stepper::new(scene(&text)).expect("a valid model");
    let mut state = stepper.initial();
    for _ in 0..2000 {
        let _ = stepper.step(&mut state).expect("no step fails");
        let far = state.position[0].hypot(state.position[1]);
        // corners of the ring are 2 mm farther than its sides
        assert!(far < 0.903, "{far} at t = {}", state.time);
    }
}

#[test]
fn bodies_that_do_not_overlap_are_not_said_to() {
    let above = SUNK.replace("0, 0, 0.05", "0, 0, 0.1");
    let model = Model::new(&scene(&above)).expect("a valid model");
    assert_eq!(overlaps(&model, &model.initial()).expect("placed"), []);
    // compliant bodies that touch overlap by right
    let soft = SUNK.to_owned()
        + "[[material]]\nname = \"default\"\nlaw = { kelvin_voigt = { stiffness = [1e4, 1e4], damping = [10, 10] } }\n";
    let model = Model::new(&scene(&soft)).expect("a valid model");
    assert_eq!(overlaps(&model, &model.initial()).expect("placed"), []);
}

/// On a guide that rises by 1 in 200 the ball must go 200 times as far to leave the ground as it is deep in it. It goes at the recovery velocity, not 200 times as fast.
#[test]
fn a_body_that_can_hardly_give_way_leaves_slowly() {
    let text = "gravity = [0, 0, 0]\n[[world]]\nname = \"ground\"\nshape = \"half_space\"\n\
                [[body]]\nname = \"ball\"\nshape = { sphere = { radius = 0.1 } }\nmass = 1\nmount = { position = [0, 0, 0.0995] }\n\
                joint = { prismatic = { axis = [1, 0, 0.005] } }\n[[material]]\nname = \"default\"\nfriction = 0\n";
    let mut stepper = Stepper::new(scene(text)).expect("a valid model");
    let (mut state, mut fastest) = (stepper.initial(), 0.0f64);
    for _ in 0..2000 {
        let _ = stepper.step(&mut state).expect("no step fails");
        fastest = fastest.max(state.velocity[0]);
    }
    assert!(fastest < 0.1 * (1.0 + 1e-4), "{fastest}");
    assert!(state.position[0] > 0.1 * (1.0 - 1e-4), "{state:?}");
}
