//! Motions that cannot be: each is told, none is hidden.

use complementarity::certificate::{Diagnosis, Settings, examine};
use complementarity::problem::FrictionProblem;
use complementarity::solver::Budget;
use stiction::contact::set::ContactSet;
use stiction::formulation::{ContactProblem, Laws, assemble};
use stiction::inputs::Inputs;
use stiction::model::Model;
use stiction::scene::{Material, Scene};
use stiction::state::State;
use stiction::step::{Detection, Failed, Motion, detect, place};
use stiction::stepper::Stepper;

fn scene(text: &str) -> Scene {
    stiction::from_toml("hostile.toml", text).expect("a valid scene")
}

/// An explicit spring that is too stiff for the step doubles its swing until nothing is finite.
#[test]
fn a_motion_that_overflows_fails_and_leaves_the_state_as_it_was() {
    let mut stepper = Stepper::new(scene(
        "[[body]]\nname = \"b\"\nmass = 1\ninertia = [1, 1, 1]\nposition = [0, 0, 1]\n\
         [[spring]]\nstiffness = 1e9\nrest_length = 0.5\nfrom = { point = [0, 0, 2] }\nto = { body = \"b\" }\n",
    ))
    .expect("a valid model");
    let mut state = stepper.initial();
    for _ in 0..10_000 {
        let before = state.clone();
        match stepper.step(&mut state) {
            Ok(_) => assert!(state.velocity.iter().all(|v| v.is_finite())),
            Err(why) => {
                assert!(matches!(why, Failed::NotFinite { .. }), "{why}");
                assert_eq!(state, before);
                return;
            }
        }
    }
    panic!("never failed");
}

const BOX: &str = "[[world]]\nname = \"ground\"\nshape = \"half_space\"\n\
                   [[body]]\nname = \"b\"\nshape = { box = { half = [0.1, 0.1, 0.1] } }\nmass = 1\n";

/// A load that drives a box into the ground within one step is seen by the detection.
#[test]
fn a_box_driven_into_the_ground_by_a_load_meets_it_in_time() {
    let text = format!(
        "{BOX}position = [0, 0, 0.1005]\n[[load]]\nbody = \"b\"\nforce = {{ constant = [0, 0, -1e4] }}\n"
    );
    let mut stepper = Stepper::new(scene(&text)).expect("a valid model");
    let mut state = stepper.initial();
    for _ in 0..20 {
        let _ = stepper.step(&mut state).expect("no step fails");
        assert!(state.position[2] >= 0.1 - 1e-12 && state.velocity[2] <= 1e-9, "{state:?}");
    }
}

/// The square of a speed overflows before the speed: who can meet whom is not known then.
#[test]
fn a_weight_that_overflows_does_not_fall_through_the_ground() {
    let text = format!("gravity = [0, 0, -1e200]\n{BOX}position = [0, 0, 0.1]\n");
    let mut stepper = Stepper::new(scene(&text)).expect("a valid model");
    let mut state = stepper.initial();
    let why = stepper.step(&mut state).expect_err("refused");
    assert!(matches!(why, Failed::NotFinite { .. }), "{why}");
}

/// A fast body far from the ground, with a long step, feels nothing before it is there.
#[test]
fn a_fast_body_feels_no_force_in_mid_air() {
    let text = format!(
        "gravity = [0, 0, 0]\n{BOX}position = [0, 0, 3.6]\nvelocity = [0, 0, -20]\n[step]\nh = 0.1\n"
    );
    let mut stepper = Stepper::new(scene(&text)).expect("a valid model");
    let mut state = stepper.initial();
    let _ = stepper.step(&mut state).expect("no step fails");
    assert!((state.velocity[2] + 20.0).abs() < 1e-9, "{state:?}");
    let _ = stepper.step(&mut state).expect("no step fails");
    assert!((state.position[2] - 0.1).abs() < 1e-9, "{state:?}");
}

/// Scenes of files are refused by their reader; these were changed after it.
#[test]
fn models_that_would_gain_energy_or_hide_overlaps_are_refused() {
    let (mut gaining, mut rough) = (scene(BOX), scene(BOX));
    gaining.step.explicit_share = 0.6;
    rough.materials.push(Material { name: "default".into(), friction: 1e6, ..Default::default() });
    for (scene, words) in [
        (gaining, "explicit_share is 0.6"),
        (
            rough,
            "material[default].friction: friction is 1000000.0 between 'default' and 'default', expected at most 1000",
        ),
    ] {
        let why = Stepper::new(scene).expect_err("refused").to_string();
        assert!(why.contains(words), "{why}");
    }
}

/// Bodies fixed to the world do not contact each other.
#[test]
fn overlapping_bodies_that_cannot_move_make_no_contact() {
    let fixed = |name: &str| {
        format!(
            "[[body]]\nname = \"{name}\"\njoint = \"fixed\"\nshape = {{ box = {{ half = [1, 1, 1] }} }}\nmass = 1\n"
        )
    };
    let mut stepper = Stepper::new(scene(&format!("{}{}", fixed("a"), fixed("c")))).expect("a valid model");
    let mut state = stepper.initial();
    let report = stepper.step(&mut state).expect("no step fails");
    assert_eq!((report.parts, stepper.elements().len()), (0, 0));
}

/// A ball between two planes that are nearer than its diameter: no motion undoes both overlaps, however large the forces. The step as
/// posed has no solution, which is proved; it is made with the overlap relaxed, and the report lists it.
#[test]
fn overlap_that_no_motion_undoes_is_relaxed_and_listed() {
    let text = "[[world]]\nname = \"below\"\nshape = \"half_space\"\n\
                [[world]]\nname = \"above\"\nshape = \"half_space\"\nposition = [0, 0, 0.1999]\n\
                orientation = { quaternion = [0, 1, 0, 0] }\n\
                [[body]]\nname = \"b\"\nshape = { sphere = { radius = 0.1 } }\nmass = 1\nposition = [0, 0, 0.09995]\n\
                velocity = [0.5, 0, 0]\n";
    for solver in ["auto", "gauss_seidel", "newton", "proximal_newton", "velocity_newton", "interior_point"] {
        let text = format!("{text}[step]\nsolver = \"{solver}\"\nretries = 2\n");
        let mut stepper = Stepper::new(scene(&text)).expect("a valid model");
        let model = stepper.model().clone();
        let mut state = stepper.initial();
        let problem = problem_as_posed(&model, &state);
        let known = examine(&problem, None, &Settings::default());
        let told = Diagnosis::of_friction(&problem, Some(&[0.0; 6]), &known, &mut Budget::default())
            .lines(|_| String::new())
            .join("; ");
        assert!(told.contains("there is no solution with normal forces up to"), "{told}");

        let report = stepper.step(&mut state).expect(solver);
        let names: Vec<String> = stepper.workspace().relaxed.iter().map(|id| model.row_name(*id)).collect();
        assert_eq!((report.relaxed, report.parts), (2, 1), "{solver}");
        assert_eq!(names, ["below/b#0", "above/b#0"], "{solver}");
        assert!(report.residual.relative <= 1e-10 && state.velocity[2].abs() < 1e-9, "{solver}: {report:?}");
        assert!(state.velocity[0] < 0.5, "{solver}: weight alone presses it, and friction brakes it");
    }
}

/// The contact problem of a step from a state, nothing relaxed.
fn problem_as_posed(model: &Model, state: &State) -> FrictionProblem {
    let (mut motion, mut contacts) = (Motion::new(model), ContactSet::default());
    place(model, state, &Inputs::default(), model.scene().step.h, &mut motion).expect("places");
    detect(model, &motion, motion.margin, &mut Detection::default(), &mut contacts).expect("found");
    let mut problem = ContactProblem::new(model);
    assemble(model, &Laws::default(), state, &motion, &contacts, &mut problem);
    problem.to_friction().expect("contacts")
}
