//! Symmetric scenes move symmetrically, though rigid redundant contacts leave their forces open.

use complementarity::solver::Choice;
use stiction::random::bin::bin;
use stiction::scene::{GapLevel, Method};
use stiction::state::State;
use stiction::step::ElementReport;
use stiction::stepper::Stepper;

/// The scene's state after so many seconds.
fn after(file: &str, duration: f64) -> (Stepper, State) {
    let path = format!("{}/../../scenes/{file}", env!("CARGO_MANIFEST_DIR"));
    let scene = stiction::read(path).expect("a valid scene");
    let steps = (duration / scene.step.h).round() as usize;
    let mut stepper = Stepper::new(scene).expect("a valid model");
    let mut state = stepper.initial();
    for _ in 0..steps {
        _ = stepper.step(&mut state).expect("no step fails");
    }
    (stepper, state)
}

/// Friction of both fingers and the weight act on the box from t = 0.3 s on: v_z = (2 mu F - m g) (0.1 s) / m.
#[test]
fn a_slipping_box_rises_by_friction_and_does_not_turn() {
    let (_, state) = after("gripper-slips.toml", 0.4);
    // palm and fingers have three velocities; those of the box come last: linear, then angular or the reverse
    let box_velocity = &state.velocity[3..9];
    let expected = (2.0 * 0.5 * 20.0 - 9.81) * 0.1;
    let mut sorted: Vec<f64> = box_velocity.to_vec();
    sorted.sort_by(|a, b| b.abs().total_cmp(&a.abs()));
    assert!((sorted[0] - expected).abs() < 0.01 * expected, "{box_velocity:?}");
    assert!(sorted[1].abs() < 1e-6, "{box_velocity:?}");
}

/// A table on four legs stays where it is, and does not turn.
#[test]
fn a_symmetric_table_stays_symmetric() {
    let (_, state) = after("four-legged-table.toml", 10.0);
    assert!(state.velocity.iter().all(|v| v.abs() < 1e-9), "{:?}", state.velocity);
}

/// Ten boxes stand on each other for 10 s: each corner carries a quarter of the weight above it.
#[test]
fn corners_of_a_stack_carry_equal_forces() {
    let (stepper, state) = after("stack-of-ten.toml", 10.0);
    assert!(state.velocity.iter().all(|v| v.abs() < 1e-9), "{:?}", state.velocity);
    let elements = stepper.elements();
    assert_eq!(elements.len(), 40);
    for four in elements.chunks(4) {
        let mean = four.iter().map(|e| e.force[0]).sum::<f64>() / 4.0;
        for e in four {
            assert!(
                (e.force[0] - mean).abs() < 1e-6 * mean && e.force[1].hypot(e.force[2]) < 1e-6 * mean,
                "{e:?}"
            );
        }
    }
}

/// An arch of eleven wedges stands for 10 s with forces that its mirror image has too.
#[test]
fn an_arch_stays_symmetric() {
    let (stepper, state) = after("arch.toml", 10.0);
    for k in 0..11 {
        let (own, other) = (&state.position[3 * k..][..3], &state.position[3 * (10 - k)..][..3]);
        for (a, b) in own.iter().zip([-other[0], other[1], -other[2]]) {
            assert!((a - b).abs() < 1e-9, "wedge {k}: {own:?} and {other:?}");
        }
    }
    // normal forces at x and -x are the same
    let of = |left: bool| stepper.elements().iter().filter(move |e| (e.point[0] < 0.0) == left);
    assert_eq!(of(true).count(), of(false).count());
    for e in of(true) {
        let far = |f: &ElementReport| (f.point[0] + e.point[0]).hypot(f.point[1] - e.point[1]);
        let mirrored = of(false).min_by(|a, b| far(a).total_cmp(&far(b))).expect("as many");
        assert!((e.force[0] - mirrored.force[0]).abs() < 1e-5 * (1.0 + e.force[0]), "{e:?} {mirrored:?}");
    }
}

/// Three boxes that slide, turn and rest on each other, in this order of bodies; `side` is -1 for the mirror image in `x = 0`.
fn sliding_boxes(order: [usize; 3], side: f64) -> Stepper {
    let mut text = "[[world]]\nname = \"ground\"\nshape = \"half_space\"\n".to_owned();
    for k in order {
        let (x, z, speed) = [(0.0, 0.05, 0.6), (0.02, 0.15, 0.4), (-0.03, 0.25, 0.0)][k];
        text += &format!(
            "[[body]]\nname = \"{k}\"\nshape = {{ box = {{ half = [0.1, 0.08, 0.05] }} }}\nmass = {}\n\
             position = [{}, 0.01, {z}]\nvelocity = [{}, 0.2, 0]\nangular_velocity = [0, 0, {}]\n",
            1.0 + k as f64,
            side * x,
            side * speed,
            side * 0.7
        );
    }
    Stepper::new(stiction::from_toml("boxes", &text).expect("a valid scene")).expect("a valid model")
}

/// Largest difference of the forces of two steps, as a share of the largest; points are mirrored if `side` is -1.
fn difference(one: &[ElementReport], other: &[ElementReport], side: f64) -> f64 {
    let loaded = |all: &[ElementReport]| {
        let largest = all.iter().map(|e| e.force[0]).fold(0.0, f64::max);
        all.iter().filter(|e| e.force[0] > 1e-6 * largest).cloned().collect::<Vec<_>>()
    };
    let (one, other) = (loaded(one), loaded(other));
    assert_eq!(one.len(), other.len());
    let most = one.iter().map(|e| e.force[0]).fold(f64::MIN_POSITIVE, f64::max);
    let far = |a: &ElementReport, b: &ElementReport| {
        (side * a.point[0] - b.point[0]).hypot(a.point[1] - b.point[1]).hypot(a.point[2] - b.point[2])
    };
    one.iter()
        .map(|e| {
            let twin = other.iter().min_by(|a, b| far(e, a).total_cmp(&far(e, b))).expect("as many");
            assert!(far(e, twin) < 1e-6, "{e:?} {twin:?}");
            let friction = e.force[1].hypot(e.force[2]) - twin.force[1].hypot(twin.force[2]);
            (e.force[0] - twin.force[0]).abs().max(friction.abs()) / most
        })
        .fold(0.0, f64::max)
}

/// Boxes in another order, or mirrored, or started afresh in every step have the same forces in every step.
#[test]
fn order_reflection_and_history_do_not_matter_in_any_step() {
    let order = [0, 1, 2];
    let mut own = sliding_boxes(order, 1.0);
    let mut others = [(sliding_boxes([2, 0, 1], 1.0), 1.0), (sliding_boxes(order, -1.0), -1.0)];
    let mut fresh = sliding_boxes(order, 1.0);
    let mut state = own.initial();
    let mut states: Vec<State> = others.iter().map(|(s, _)| s.initial()).collect();
    let mut fresh_state = fresh.initial();
    let mut loads = 0;
    for step in 0..400 {
        _ = own.step(&mut state).expect("no step fails");
        loads += usize::from(own.elements().iter().filter(|e| e.force[0] > 0.0).count() >= 8);
        for ((stepper, side), state) in others.iter_mut().zip(&mut states) {
            _ = stepper.step(state).expect("no step fails");
            let off = difference(own.elements(), stepper.elements(), *side);
            assert!(off < 1e-5, "step {step}, side {side}: {off:e}");
        }
        fresh_state.memory.clear();
        fresh_state.solver = stiction::state::SolverMemory::default();
        _ = fresh.step(&mut fresh_state).expect("no step fails");
        let off = difference(own.elements(), fresh.elements(), 1.0);
        assert!(off < 1e-5, "step {step}, started afresh: {off:e}");
    }
    assert!(loads > 300, "{loads} steps with redundant contacts");
}

/// Every solver by name has the forces that `auto` has, or says that it has not.
#[test]
fn solvers_by_name_choose_the_same_forces() {
    let solvers = [
        Method::VelocityNewton,
        Method::GaussSeidel,
        Method::Newton,
        Method::ProximalNewton,
        Method::ConeInteriorPoint,
    ];
    for (file, steps) in [
        ("four-legged-table.toml", 50),
        ("stack-of-ten.toml", 20),
        ("gripper-slips.toml", 350),
        ("arch.toml", 20),
    ] {
        let path = format!("{}/../../scenes/{file}", env!("CARGO_MANIFEST_DIR"));
        let scene = stiction::read(&path).expect("a valid scene");
        for solver in solvers {
            let mut named = scene.clone();
            named.step.solver = solver;
            let [mut auto, mut named] =
                [scene.clone(), named].map(|s| Stepper::new(s).expect("a valid model"));
            let (mut state, mut other) = (auto.initial(), named.initial());
            let mut compared = 0;
            for step in 0..steps {
                _ = auto.step(&mut state).expect("no step fails");
                // from the same state, so that what a method leaves of its tolerance does not add up; of few contacts without
                // the last forces
                other.copy_from(&state);
                if file == "gripper-slips.toml" {
                    other.memory.clear();
                    other.solver = stiction::state::SolverMemory::default();
                }
                let before = state.clone();
                _ = auto.step(&mut state).expect("no step fails");
                let Ok(report) = named.step(&mut other) else { continue };
                if report.choice.is_made() {
                    let off = difference(auto.elements(), named.elements(), 1.0);
                    assert!(off < 1e-5, "{file}, {solver}, step {step}: {off:e}");
                    compared += 1;
                }
                state = before;
            }
            assert!(10 * compared >= 9 * steps, "{file}, {solver}: {compared} of {steps} steps chosen");
        }
    }
}

/// Parts that tumble in a bin, many of them on each other: a step from the last forces and one without them have the same forces, where
/// the reports of both say that the start does not matter.
#[test]
fn forces_of_moving_parts_do_not_depend_on_the_last_ones() {
    let (mut compared, mut redundant) = (0, 0);
    for seed in 0..30 {
        // whose rows do not depend on which pairs carried a force
        let mut scene = bin(seed, 1.0);
        scene.step.gap = GapLevel::Position;
        let mut stepper = Stepper::new(scene).expect("a valid model");
        let mut afresh = stepper.clone();
        let mut state = stepper.initial();
        for step in 0..600 {
            let mut start = (step % 20 == 0).then(|| state.clone());
            let report = stepper.step(&mut state).expect("no step fails");
            let Some(other) = &mut start else { continue };
            other.memory.clear();
            other.solver = stiction::state::SolverMemory::default();
            let Ok(own) = afresh.step(other) else { continue };
            let open = report.choice.max(own.choice);
            redundant += usize::from(open > Choice::Unique);
            if open == Choice::Unique || !open.is_made() {
                continue;
            }
            compared += 1;
            let forces = |s: &Stepper| s.elements().iter().flat_map(|e| e.force).collect::<Vec<f64>>();
            let (one, two) = (forces(&stepper), forces(&afresh));
            let norm = |x: &mut dyn Iterator<Item = f64>| x.map(|x| x * x).sum::<f64>().sqrt();
            let off = norm(&mut one.iter().zip(&two).map(|(a, b)| a - b));
            assert!(off <= 1e-4 * norm(&mut one.iter().copied()), "seed {seed}, step {step}: {off:e} N");
        }
    }
    assert!(redundant > 200 && 10 * compared > 9 * redundant, "{compared} of {redundant} steps compared");
}

/// Compliant contacts have one force each, however many there are: nothing is left to choose, and no step counts as not examined.
#[test]
fn compliant_parts_leave_nothing_to_choose() {
    let (mut scene, mut most) = (bin(8, 1.0), 0);
    scene
        .set("material[default].law", "{ kelvin_voigt = { stiffness = [1e6, 8e5], damping = 1e3 } }")
        .expect("a valid law");
    scene.step.gap = GapLevel::Position;
    let mut stepper = Stepper::new(scene).expect("a valid model");
    let mut state = stepper.initial();
    for _ in 0..1500 {
        let report = stepper.step(&mut state).expect("no step fails");
        assert_eq!(report.choice, Choice::Unique);
        most = most.max(stepper.elements().len());
    }
    assert!(most > 100, "{most} elements");
}
