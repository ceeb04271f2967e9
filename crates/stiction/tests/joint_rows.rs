//! Limits of joints and friction in them: rows of the contact problem that are no contacts.

use stiction::record::{read_state, save_state};
use stiction::state::{RowId, State};
use stiction::step::Status;
use stiction::stepper::Stepper;

const G: f64 = 9.81;

fn start(text: &str) -> (Stepper, State) {
    let stepper =
        Stepper::new(stiction::from_toml("joint.toml", text).expect("a valid scene")).expect("a valid model");
    let state = stepper.initial();
    (stepper, state)
}

/// A rod of 1 kg, 1 m, on a hinge at its end, held by its limit.
fn rod(joint: &str, step: &str) -> (Stepper, State) {
    start(&format!(
        "planar = true\n[[body]]\nname = \"rod\"\nmass = 1\ncenter = [0.5, 0]\ninertia = {}\n\
         joint = {{ revolute = {{ {joint} }} }}\n[step]\n{step}\n",
        1.0 / 12.0
    ))
}

#[test]
fn a_rod_rests_on_its_limit_with_the_moment_of_its_weight() {
    for step in ["", "explicit_share = 0.25", "gap = \"velocity\"", "solver = \"velocity_newton\""] {
        let (mut stepper, mut state) = rod("limits_deg = [-30, 10]", step);
        for _ in 0..3000 {
            assert!(stepper.step(&mut state).expect("no step fails").residual.relative <= 1e-10);
            // gaps at velocity level are closed once they are negative
            let beyond = if step.contains("velocity") { 5e-3 } else { 1e-9 };
            assert!(state.position[0] >= -30f64.to_radians() - beyond, "{step}: {}", state.position[0]);
        }
        let rows = &stepper.workspace().standing;
        let [lower] = rows[..] else { panic!("{step}: {rows:?}") };
        let angle = state.position[0];
        assert!(
            (lower.effort - 0.5 * G * angle.cos()).abs() < 1e-6 && lower.status == Status::Stick,
            "{step}: {lower:?}"
        );
        assert!(state.velocity[0].abs() < 1e-9);
        assert_eq!(state.memory.iter().map(|m| m.id).collect::<Vec<_>>(), [RowId::Limit(0)]);
    }
}

/// A slide on a joint with friction F that starts with v stops after m v^2 / 2F, and holds against less than F.
#[test]
fn friction_in_a_joint_stops_a_slide_where_coulomb_s_law_says_and_holds_it() {
    let (mass, v, friction) = (2.0, 3.0, 4.0);
    let text = |force: f64, v: f64| {
        format!(
            "[[body]]\nname = \"slide\"\nmass = {mass}\ninertia = [1, 1, 1]\nvelocity = {v}\n\
             joint = {{ prismatic = {{ axis = [1, 0, 0], friction = {friction} }} }}\n\
             [[load]]\nbody = \"slide\"\nforce = {{ constant = [{force}, 0, 0] }}\n"
        )
    };
    let (mut stepper, mut state) = start(&text(0.0, v));
    let (mut lost, h) = (0.0, 1e-3);
    for _ in 0..2000 {
        lost += stepper.step(&mut state).expect("no step fails").friction_loss;
    }
    // backward Euler stops half a step's way early
    let way = mass * v * v / (2.0 * friction);
    assert!((state.position[0] - way).abs() <= 0.51 * h * v, "{} of {way}", state.position[0]);
    assert!((lost - 0.5 * mass * v * v).abs() <= friction * 0.51 * h * v && state.velocity[0] == 0.0);

    for (force, moves) in [(0.999 * friction, false), (1.001 * friction, true)] {
        let (mut stepper, mut state) = start(&text(force, 0.0));
        for _ in 0..100 {
            let _ = stepper.step(&mut state).expect("no step fails");
        }
        assert_eq!(state.position[0].abs() > 1e-9, moves, "{force}");
        if moves {
            let expected = (force - friction) / mass * 0.1;
            assert!((state.velocity[0] - expected).abs() < 1e-9 * expected.max(1.0), "{:?}", state.velocity);
        }
        let [row] = stepper.workspace().standing[..] else { panic!("one row") };
        let held = if moves { -friction } else { -force };
        assert!((row.effort - held).abs() < 1e-9, "{row:?}");
    }
}

/// A joint at its limit carries what a contact presses on it: a ball that drops on an arm which rests on its limit.
#[test]
fn limits_and_contacts_share_one_problem() {
    let (mut stepper, mut state) = start(
        "planar = true\n[[body]]\nname = \"arm\"\nshape = { box = { half = [0.5, 0.05] } }\nmass = 1\n\
         joint = { revolute = { limits = [0, 0.5] } }\n\
         [[body]]\nname = \"ball\"\nshape = { sphere = { radius = 0.1 } }\nmass = 2\nposition = [0.3, 0.16]\n",
    );
    for _ in 0..2000 {
        let report = stepper.step(&mut state).expect("no step fails");
        assert!(report.residual.relative <= 1e-10);
    }
    // the arm is held about its middle: a ball on its right would turn it down, against the lower limit
    assert!(state.position[0].abs() < 1e-9, "{:?}", state.position);
    // the upper limit is far
    let [lower] = stepper.workspace().standing[..] else { panic!("one row") };
    let x = state.position[1];
    assert!((lower.effort - 2.0 * G * x).abs() < 1e-6, "{lower:?} at x = {x}");
}

#[test]
fn a_state_with_rows_goes_to_a_file_and_back() {
    let (mut stepper, mut state) = rod("limits_deg = [-30, 10], friction = 0.1", "");
    for _ in 0..1000 {
        let _ = stepper.step(&mut state).expect("no step fails");
    }
    let path = std::env::temp_dir().join(format!("stiction-joint-rows-{}.json", std::process::id()));
    save_state(&path, stepper.model(), &state).expect("saved");
    assert_eq!(read_state(&path, stepper.model()).expect("read"), state);
    assert_eq!(state.memory.len(), 2);
    let (other, _) = rod("friction = 0.1", "");
    let why = read_state(&path, other.model()).expect_err("another scene").to_string();
    assert!(why.contains("rod (joint lower limit)"), "{why}");
    std::fs::remove_file(&path).expect("removed");
}

#[test]
fn wrong_limits_are_refused_by_name() {
    let fault = |joint: &str, start: &str| {
        let text = format!(
            "planar = true\n[[body]]\nname = \"rod\"\nmass = 1\ninertia = 1\n{start}\njoint = {{ revolute = {{ {joint} }} }}\n"
        );
        stiction::from_toml("joint.toml", &text).expect_err("refused").to_string()
    };
    for (joint, start, words) in [
        ("limits = [1, -1]", "", "limits are [1, -1], expected the lower one first"),
        ("limits = [1, 2]", "", "the joint starts at 0, expected a start from 1 to 2"),
        ("limits = [-1, 1]", "angle = 1.5", "the joint starts at 1.5, expected a start from -1 to 1"),
        ("limits = [-1, 1], limits_deg = [-5, 5]", "", "limits_deg beside limits"),
        ("friction = -1", "", "friction is -1, expected 0 or more"),
        (
            "friction = 1 } }\n[step]\nsolver = \"lemke\"\n[[world]]\nname = \"w\"\nshape = { sphere = { radius = 1",
            "",
            "lemke is for contacts alone",
        ),
    ] {
        let told = fault(joint, start);
        assert!(told.contains(words) && told.contains("joint.toml:"), "{told}");
    }
}
