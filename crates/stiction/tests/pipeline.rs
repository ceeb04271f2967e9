//! A step as a pipeline of values: shared models, saved arrows, inputs.

use crate::running;

use running::{G, scene};
use std::sync::Arc;
use stiction::contact::set::ContactSet;
use stiction::formulation::{ContactProblem, Laws, assemble};
use stiction::inputs::{Inputs, Wrench};
use stiction::model::Model;
use stiction::scene::Scene;
use stiction::state::State;
use stiction::step::{
    ContactSolver, Detection, Forces, Motion, Scratch, Solved, StepReport, advance, detect, elements, place,
};
use stiction::stepper::Stepper;

fn model(name: &str) -> Arc<Model> {
    Arc::new(Model::new(&scene(name)).expect("a valid scene"))
}

fn after(stepper: &mut Stepper, steps: usize) -> State {
    let mut state = stepper.initial();
    for _ in 0..steps {
        let _ = stepper.step(&mut state).expect("no step fails");
    }
    state
}

#[test]
fn eight_threads_step_one_model_and_end_bitwise_alike() {
    for name in ["heap.toml", "chain.toml", "four-legged-table-elastic.toml"] {
        let model = model(name);
        let alone = after(&mut Stepper::of(model.clone()), 200);
        let ends: Vec<State> = std::thread::scope(|scope| {
            let run = || scope.spawn(|| after(&mut Stepper::of(model.clone()), 200));
            let threads: Vec<_> = (0..8).map(|_| run()).collect();
            threads.into_iter().map(|t| t.join().expect("no panic")).collect()
        });
        assert!(ends.iter().all(|end| *end == alone), "{name}");
    }
}

#[test]
fn a_workspace_can_be_copied_in_the_middle_of_a_run() {
    let mut stepper = Stepper::new(scene("heap.toml")).expect("a valid scene");
    let state = after(&mut stepper, 100);
    let mut ends = [stepper.clone(), stepper].map(|mut stepper| {
        let mut state = state.clone();
        for _ in 0..50 {
            let _ = stepper.step(&mut state).expect("no step fails");
        }
        state
    });
    assert!(ends[0] == ends[1] && std::mem::take(&mut ends[0]).time > state.time);
}

/// Every arrow of a step, each from a copy of the value before it, in memory that has never been used.
#[test]
fn each_arrow_starts_from_a_saved_value() {
    for (name, steps) in
        [("stack-of-ten.toml", 20), ("four-legged-table-elastic.toml", 50), ("grain.toml", 30)]
    {
        let model = model(name);
        let mut stepper = Stepper::of(model.clone());
        let start = after(&mut stepper, steps);
        let mut expected = start.clone();
        let report = stepper.step(&mut expected).expect("no step fails");
        assert!(!stepper.elements().is_empty(), "{name}: something touches");

        let (inputs, h) = (Inputs::default(), model.scene().step.h);
        let mut motion = Motion::new(&model);
        place(&model, &start, &inputs, h, &mut motion).expect("a regular mass matrix");
        let motion = motion.clone();

        let mut contacts = ContactSet::default();
        detect(&model, &motion, motion.margin, &mut Detection::default(), &mut contacts).expect("found");
        assert_eq!(contacts, stepper.workspace().contacts, "{name}");
        let contacts = contacts.clone();

        let (mut laws, mut problem) = (Laws::default(), ContactProblem::new(&model));
        laws.set_step(&model, h).expect("a step above 0");
        assemble(&model, &laws, &start, &motion, &contacts, &mut problem);
        let problem = problem.clone();

        let memory = start.solver.clone();
        let mut forces = Forces { lambda: problem.start.clone(), memory, ..Forces::default() };
        let mut again = StepReport::default();
        ContactSolver::new(&model).solve(&problem, start.time, &mut forces, &mut again).expect("a solution");
        assert_eq!(forces.lambda, stepper.workspace().forces.lambda, "{name}");
        let forces = forces.clone();

        let (mut state, mut scratch) = (start.clone(), Scratch::default());
        let solved =
            Solved { laws: &laws, motion: &motion, contacts: &contacts, problem: &problem, forces: &forces };
        advance(&model, solved, &mut scratch, &mut state, &mut again).expect("a finite motion");
        let mut told = vec![];
        elements(&model, solved, scratch.deformation(), &mut told, &mut again);
        assert_eq!((&state, &told[..], again), (&expected, stepper.elements(), report), "{name}");
        assert!(
            format!("{motion:?}{contacts:?}{problem:?}{forces:?}{state:?}").len() > 1000,
            "all can be printed"
        );
    }
}

fn ball() -> Scene {
    let text = "[[body]]\nname = 'ball'\nmass = 2\nshape = { sphere = { radius = 0.1 } }\n";
    stiction::from_toml("ball", text).expect("a valid scene")
}

#[test]
fn inputs_act_during_their_step_alone() {
    let mut stepper = Stepper::new(ball()).expect("a valid scene");
    let (mut state, h) = (stepper.initial(), 1e-3);
    // at a point beside the centre: a force and its moment, I = 2/5 m r^2 = 8e-3 kg m^2
    let wrench = Wrench { body: 0, point: [0.0, 0.1, 0.0], force: [4.0, 0.0, 2.0 * G], torque: [0.0; 3] };
    let inputs = Inputs { wrenches: vec![wrench], ..Inputs::default() };
    let report = stepper.step_by(&mut state, &inputs, h).expect("no contact");
    let expected = [2.0 * h, 0.0, 0.0, 0.1 * 2.0 * G / 8e-3 * h, 0.0, -0.1 * 4.0 / 8e-3 * h];
    for (v, expected) in state.velocity.iter().zip(expected) {
        assert!((v - expected).abs() < 1e-14, "{:?}", state.velocity);
    }
    assert!((state.time - h).abs() < 1e-18 && report.work > 0.0);
    let efforts = vec![0.0, 0.0, 0.0, 0.0, 0.0, 5.0];
    let before = state.velocity.clone();
    let inputs = Inputs { efforts, ..Inputs::default() };
    let _ = stepper.step_by(&mut state, &inputs, 0.5 * h).expect("no contact");
    assert!((state.velocity[5] - before[5] - 0.5 * h * 5.0 / 8e-3).abs() < 1e-14);
    assert!((state.velocity[2] - before[2] + 0.5 * h * G).abs() < 1e-15, "weight goes on");
}

#[test]
fn a_target_stands_in_for_the_course_of_its_motor() {
    let text = "gravity = [0, 0, 0]\n[[body]]\nname = 'arm'\nmass = 1\ninertia = [1, 1, 0.5]\njoint = { revolute = {} }\n\
                [[motor]]\nbody = 'arm'\neffort = { constant = 2 }\n";
    let mut stepper =
        Stepper::new(stiction::from_toml("arm", text).expect("a scene")).expect("a valid scene");
    for (target, effort) in [(None, 2.0), (Some(-3.0), -3.0)] {
        let mut state = stepper.initial();
        let inputs = Inputs { targets: vec![target], ..Inputs::default() };
        let _ = stepper.step_by(&mut state, &inputs, 1e-3).expect("no contact");
        assert!((state.velocity[0] - effort / 0.5 * 1e-3).abs() < 1e-15, "{target:?}");
    }
}

#[test]
fn a_step_of_another_length_is_that_of_a_scene_with_it() {
    for name in ["four-legged-table-elastic.toml", "box-on-slope.toml", "hertz-impact.toml"] {
        let mut short = scene(name);
        let h = short.step.h;
        short.step.h = 0.3 * h;
        let (mut one, mut other) =
            (Stepper::new(scene(name)).expect("valid"), Stepper::new(short).expect("valid"));
        let (mut state, mut expected) = (one.initial(), other.initial());
        for _ in 0..40 {
            let a = one.step_by(&mut state, &Inputs::default(), 0.3 * h).expect("no step fails");
            let b = other.step(&mut expected).expect("no step fails");
            assert_eq!((a, &state), (b, &expected), "{name}");
        }
    }
}
