//! What joints transmit, held to closed forms.

// helpers of tests
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use stiction::analysis::joints::{JointReport, Scratch, joints};
use stiction::dynamics::Kinematics;
use stiction::model::Model;
use stiction::stepper::Stepper;

const G: f64 = 9.81;

/// Joints after so many steps of a scene, and how far the first of them has turned.
fn after(text: &str, steps: usize) -> Vec<JointReport> {
    let model = Arc::new(Model::new(&stiction::from_toml("scene", text).unwrap()).unwrap());
    let (mut stepper, mut state) = (Stepper::of(model.clone()), model.initial());
    for _ in 0..steps {
        let _ = stepper.step(&mut state).unwrap();
    }
    let mut kinematics = Kinematics::new(model.system());
    kinematics.update(&state.position, &state.velocity);
    let mut list = vec![];
    joints(&model, stepper.workspace(), &state, &kinematics, &mut Scratch::default(), &mut list);
    list
}

fn assert_near(found: [f64; 3], expected: [f64; 3], tolerance: f64, what: &str) {
    let error = (0..3).fold(0.0f64, |m, k| m.max((found[k] - expected[k]).abs()));
    assert!(error <= tolerance, "{what}: {found:?}, expected {expected:?}");
}

/// A pendulum with a moment of inertia of its own, let go at the side. With the angle a from below, Newton's law for its centre gives
/// m g cos a + m L w^2 along the rod and m g sin a (1 - m L^2 / J) across, and energy gives w.
#[test]
fn a_pendulum_pulls_at_its_joint_as_newton_and_energy_say() {
    let (m, l, i) = (2.0, 0.5, 0.1);
    let j = i + m * l * l;
    let mut errors = vec![];
    for h in [1e-3, 1e-4] {
        let text = format!(
            "planar = true
            [[body]]
            name = 'rod'
            joint = {{ revolute = {{}} }}
            mass = {m}
            center = [0, -{l}]
            inertia = {i}
            angle_deg = 90
            [step]
            h = {h}
            "
        );
        let found = after(&text, (0.25 / h) as usize)[0];
        // forces are means over the step: compare in its middle
        let a = found.position - 0.5 * h * found.velocity;
        let w2 = 2.0 * m * G * l * a.cos() / j;
        let (along, across) = (m * G * a.cos() + m * l * w2, m * G * a.sin() * (1.0 - m * l * l / j));
        let expected = [across * a.cos() - along * a.sin(), along * a.cos() + across * a.sin(), 0.0];
        let size = expected[0].hypot(expected[1]);
        errors.push((found.force[0] - expected[0]).hypot(found.force[1] - expected[1]) / size);
        assert!(found.effort == 0.0 && found.moment[2].abs() < 0.3 * h, "no moment: {:?}", found.moment);
    }
    assert!(errors[0] < 5e-3 && errors[1] < 0.2 * errors[0], "{errors:?}");
}

/// Links that hang from each other carry the weight of all that is below; a bracket that is welded on carries its moment too.
#[test]
fn a_chain_at_rest_carries_what_hangs_on_it() {
    let mut text = String::new();
    for k in 0..3 {
        let parent = if k > 0 { format!("parent = 'link {}'\n", k - 1) } else { String::new() };
        let mount = if k > 0 { "mount = { position = [0, 0, -0.4] }\n" } else { "" };
        text += &format!(
            "[[body]]\nname = 'link {k}'\n{parent}{mount}joint = {{ revolute = {{ axis = [0, 1, 0] }} }}
            mass = {}\ncenter = [0, 0, -0.2]\ninertia = [0.01, 0.01, 0.01]\n",
            k + 1
        );
    }
    text +=
        "[[body]]\nname = 'bracket'\nparent = 'link 2'\njoint = 'fixed'\nmount = { position = [0, 0, -0.4] }
            mass = 0.5\ncenter = [0.1, 0, 0]\ninertia = [0.001, 0.001, 0.001]
            [[body]]\nname = 'weight'\nparent = 'link 2'\njoint = 'fixed'\nmount = { position = [0, 0, -0.4] }
            mass = 0.5\ncenter = [-0.1, 0, 0]\ninertia = [0.001, 0.001, 0.001]\n";
    let found = after(&text, 10);
    let kinds: Vec<&str> = found.iter().map(|j| j.kind).collect();
    assert_eq!(kinds, ["revolute", "revolute", "revolute", "fixed", "fixed"]);
    for (k, carried) in [7.0, 6.0, 4.0, 0.5, 0.5].into_iter().enumerate() {
        let moment = [0.0, [0.0, 0.0, 0.0, -0.05 * G, 0.05 * G][k], 0.0];
        assert_near(found[k].force, [0.0, 0.0, carried * G], 1e-9, "force");
        assert_near(found[k].moment, moment, 1e-9, "moment");
    }
}

/// A motor turns a link about a vertical axis: the moment about the axis is its effort, the force holds the centre of mass on its circle, and
/// the weight tilts the joint.
#[test]
fn a_driven_link_takes_its_effort_through_the_joint() {
    let (m, l, torque, h) = (2.0, 0.5, 3.0, 1e-4);
    let j = 0.1 + m * l * l;
    let text = format!(
        "[[body]]\nname = 'arm'\njoint = {{ revolute = {{}} }}\nmass = {m}\ncenter = [{l}, 0, 0]\ninertia = [0.1, 0.1, 0.1]
        [[motor]]\nbody = 'arm'\neffort = {{ constant = {torque} }}\n[step]\nh = {h}\n"
    );
    let found = after(&text, 5000)[0];
    let time = 0.5 - 0.5 * h;
    let (a, w, turn): (f64, f64, f64) = (torque / j, torque / j * time, 0.5 * torque / j * time * time);
    let (sin, cos) = turn.sin_cos();
    assert!((found.effort - torque).abs() < 1e-12 && (found.velocity - torque / j * 0.5).abs() < 1e-9);
    assert!((found.position - turn).abs() < 1e-3);
    let (inward, along) = (m * l * w * w, m * l * a);
    let force = [-inward * cos - along * sin, -inward * sin + along * cos, m * G];
    assert_near(found.force, force, 5e-3, "force");
    assert_near(found.moment, [m * G * l * sin, -m * G * l * cos, torque], 5e-3, "moment");
}

/// A level arm on its stop, or held by friction: the effort bears the weight's moment, and so does the joint.
#[test]
fn limits_and_friction_of_a_joint_are_efforts() {
    for joint in ["limits = [0, 1]", "friction = 50"] {
        let text = format!(
            "[[body]]\nname = 'arm'\njoint = {{ revolute = {{ axis = [0, -1, 0], {joint} }} }}
            mass = 2\ncenter = [0.5, 0, 0]\ninertia = [0.1, 0.1, 0.1]\n"
        );
        let found = after(&text, 10)[0];
        assert!((found.effort - G).abs() < 1e-6, "{joint}: {}", found.effort);
        assert_near(found.force, [0.0, 0.0, 2.0 * G], 1e-6, joint);
        assert_near(found.moment, [0.0, -G, 0.0], 1e-6, joint);
    }
}

/// What carries a link from outside is not carried by its joint: a contact at the far end takes half of a level beam's weight, a load all of it.
#[test]
fn contacts_and_loads_relieve_a_joint() {
    let beam =
        "[[body]]\nname = 'beam'\njoint = { revolute = { axis = [0, 1, 0] } }\nmass = 2\ncenter = [0.5, 0, 0]
        inertia = [0.1, 0.1, 0.1]\n";
    let foot = "[[body.part]]\nshape = { sphere = { radius = 0.1 } }\nposition = [1, 0, 0]
        [[material]]\nname = 'default'\nfriction = 0\n[[world]]\nname = 'ground'\nshape = 'half_space'\nposition = [0, 0, -0.1]\n";
    let found = after(&format!("{beam}{foot}"), 10)[0];
    assert_near(found.force, [0.0, 0.0, G], 1e-6, "on a foot");
    assert_near(found.moment, [0.0; 3], 1e-6, "on a foot");
    let found =
        after(&format!("{beam}[[load]]\nbody = 'beam'\nforce = {{ constant = [0, 0, {}] }}\n", 2.0 * G), 10)
            [0];
    assert_near(found.force, [0.0; 3], 1e-9, "held by a load");
}

/// Free bodies have no joint.
#[test]
fn free_bodies_are_not_listed() {
    let ball = "[[body]]\nname = 'ball'\nmass = 1\nshape = { sphere = { radius = 0.1 } }\n";
    assert_eq!(after(ball, 1), []);
    assert_eq!(after(&format!("planar = true\n{ball}"), 1), []);
}
