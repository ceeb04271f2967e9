//! chakraborty2007, the examples: a disc on a layer of finite thickness, and a spinning ellipsoid.

use crate::running;

use running::{G, scene};
use std::sync::Arc;
use stiction::model::Model;
use stiction::run::{EventKind, Options, Summary, run};
use stiction::step::Status;
use stiction::stepper::Stepper;

/// What the contact and the body do after a step.
#[derive(Clone, Copy)]
struct Frame {
    time: f64,
    energy: f64,
    force: f64,
    core: f64,
    depth: f64,
    spin: [f64; 3],
    velocity: [f64; 3],
    position: [f64; 3],
    status: Status,
}

fn frames(name: &str) -> Vec<Frame> {
    let scene = scene(&format!("chakraborty2007/{name}.toml"));
    let steps = scene.step.count();
    let mut stepper = Stepper::new(scene).expect("a valid model");
    let mut state = stepper.initial();
    let mut out = vec![];
    for _ in 0..steps {
        let report = stepper.step(&mut state).expect("no step fails");
        assert!(
            report.residual.relative < 1e-9 && report.parts <= 1 && report.rounds < 20,
            "{name}, t = {}: {report:?}",
            state.time
        );
        let e = stepper.energy(&state);
        let element = stepper.elements().first().copied();
        let kinematics = stepper.kinematics(&state);
        let (velocity, spin) = kinematics.velocity(0);
        let position = kinematics.pose(0).position;
        out.push(Frame {
            time: state.time,
            energy: e.kinetic + e.potential + e.elastic,
            force: element.map_or(0.0, |e| e.force[0]),
            core: element.map_or(0.0, |e| e.core),
            depth: element.map_or(0.0, |e| e.deformation[0]),
            spin,
            velocity,
            position,
            status: element.map_or(Status::Open, |e| e.status),
        });
        // never below the core
        let lowest = if name.starts_with("disc") { position[1] - 1.0 } else { f64::INFINITY };
        assert!(lowest >= -1.0 - 1e-9, "{name}");
    }
    out
}

fn first(frames: &[Frame], is: impl Fn(&Frame) -> bool) -> Option<f64> {
    frames.iter().find(|f| is(f)).map(|f| f.time)
}

/// Example 1: contact at sqrt(2 0.5 / g) = 0.3193 s; on the undamped spring the core at 0.05 m is met at 0.3360 s; the core takes the velocity away.
#[test]
fn a_disc_meets_the_core_of_a_thin_layer() {
    let frames = frames("disc");
    let touch = first(&frames, |f| f.force > 0.0).unwrap();
    assert!((touch - (1.0 / G).sqrt()).abs() < 2e-4, "{touch}");
    let core = first(&frames, |f| f.core > 0.0).unwrap();
    // x = g/k (1 - cos w t) + v0/w sin w t = 0.05
    let (w, v0) = (1000f64.sqrt(), (2.0 * G * 0.5).sqrt());
    let depth = |t: f64| G / 1000.0 * (1.0 - (w * t).cos()) + v0 / w * (w * t).sin();
    let (mut low, mut high) = (0.0, 0.03);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if depth(middle) < 0.05 { low = middle } else { high = middle }
    }
    assert!((core - (1.0 / G).sqrt() - low).abs() < 3e-4, "{core} {}", (1.0 / G).sqrt() + low);
    // never deeper, and at rest there once
    assert!(frames.iter().all(|f| f.depth <= 0.05 + 1e-12));
    // the energy of the impact is lost within two steps, then about 1e-5 J a step in contact
    let k = frames.iter().position(|f| f.core > 0.0).unwrap() + 2;
    let after: Vec<f64> = frames[k..].windows(2).map(|w| w[0].energy - w[1].energy).collect();
    let (worst, total) =
        (after.iter().fold(0.0f64, |m, x| m.max(*x)), frames[k].energy - frames.last().unwrap().energy);
    println!("disc: touch {touch} core {core} largest loss {worst:e}, mean {:e}", total / after.len() as f64);
    assert!(after.iter().all(|x| *x > -1e-12), "no energy is made");
    assert!(worst < 3e-5, "{worst:e}");
    assert!(frames[k..].iter().all(|f| f.core == 0.0), "met once");
}

#[test]
fn a_disc_on_a_thick_layer_swings_for_ever() {
    let frames = frames("disc-thick");
    assert!(frames.iter().all(|f| f.core == 0.0));
    let in_contact: Vec<f64> =
        frames.windows(2).filter(|w| w[1].force > 0.0).map(|w| w[0].energy - w[1].energy).collect();
    let (worst, mean) = (
        in_contact.iter().fold(0.0f64, |m, x| m.max(*x)),
        in_contact.iter().sum::<f64>() / in_contact.len() as f64,
    );
    println!("disc-thick: {} steps in contact, largest loss {worst:e}, mean {mean:e}", in_contact.len());
    assert!(worst < 1e-4 && mean < 6e-5 && mean > 0.0, "{worst:e} {mean:e}");
    // deepest: g/k + sqrt((g/k)^2 + v0^2/w^2)
    let deepest = frames.iter().fold(0.0f64, |m, f| m.max(f.depth));
    let (s, v0) = (G / 1000.0, (G).sqrt());
    assert!((deepest - s - s.hypot(v0 / 1000f64.sqrt())).abs() < 3e-4, "{deepest}");
}

/// Example 2, first experiment. The moment of friction is mu e_r times the normal force, whose impulse is that of the weight once the ellipsoid rests:
/// spin stops when I w0 = mu e_r m g t.
#[test]
fn a_level_ellipsoid_stops_spinning_when_the_friction_moment_has_used_up_its_momentum() {
    let stops = 0.2 * (0.25f64.powi(2) + 0.005f64.powi(2)) * 5.0 / (0.016 * G);
    assert!((stops - 0.398).abs() < 5e-4);
    for (name, meets) in [("ellipsoid", false), ("ellipsoid-core", true)] {
        let frames = frames(name);
        let touch = first(&frames, |f| f.force > 0.0).unwrap();
        // 0.145 m of free fall
        assert!((touch - (2.0 * 0.145 / G).sqrt()).abs() < 2e-4 && touch < 0.2, "{touch}");
        let still = first(&frames, |f| f.spin[2].abs() < 1e-6).unwrap();
        let deepest = frames.iter().fold(0.0f64, |m, f| m.max(f.depth));
        println!(
            "{name}: touch {touch}, spin stops {still}, deepest {deepest:.5}, core {:?}",
            first(&frames, |f| f.core > 0.0)
        );
        assert!((still - stops).abs() < 1e-3, "{name}: {still} {stops}");
        assert_eq!(frames.iter().any(|f| f.core > 0.0), meets, "{name}");
        let last = frames.last().unwrap();
        assert!((last.force - G).abs() < 1e-4 * G && last.status == Status::Stick, "{name}: {}", last.force);
        // printed damping: 3.3 mm of 5
        assert!(meets || (deepest - 0.0033).abs() < 2e-4, "{deepest}");
    }
}

/// Example 2, second experiment: it slides, then rolls, and goes on doing so.
#[test]
fn a_tilted_ellipsoid_slides_and_then_rolls() {
    for name in ["ellipsoid-tilted", "ellipsoid-tilted-core"] {
        let frames = frames(name);
        let rolls = frames.iter().rposition(|f| f.status == Status::Slip).map(|k| frames[k].time).unwrap();
        let last = frames.last().unwrap();
        println!(
            "{name}: slips last at {rolls}, then v = {:?} w = {:?} at {:?}",
            last.velocity, last.spin, last.position
        );
        assert!(last.force > 0.0);
    }
}

/// (16)-(22) as they stand, but for the gap as a signed multiplier and the normals' condition projected on the tangent:
/// z = vx, vy, w, a1x, a1y, a2x, a2y, delta, p_ns, p_nr, for the disc of example 1 from a state.
struct Mixed {
    q: [f64; 2],
    v: [f64; 3],
    thickness: f64,
    lower: [f64; 10],
    upper: [f64; 10],
}

const H: f64 = 1e-4;

impl complementarity::problem::Nonlinear for Mixed {
    fn lower(&self) -> &[f64] {
        &self.lower
    }

    fn upper(&self) -> &[f64] {
        &self.upper
    }

    fn value(&self, z: &[f64], f: &mut [f64]) {
        let c = [self.q[0] + H * z[0], self.q[1] + H * z[1]];
        // the force acts along (0, 1) at a1
        f[0] = z[0] - self.v[0];
        f[1] = z[1] - self.v[1] + H * G - z[8] - z[9];
        f[2] = 0.5 * (z[2] - self.v[2]) - (z[3] - c[0]) * (z[8] + z[9]);
        f[3] = z[3] - c[0];
        f[4] = (z[3] - c[0]).powi(2) + (z[4] - c[1]).powi(2) - 1.0;
        f[5] = z[5] - z[3];
        f[6] = z[6] + z[7];
        f[7] = z[8] - H * 1000.0 * z[7];
        f[8] = z[4] + z[7];
        f[9] = self.thickness - z[7];
    }

    fn jacobian(&self, z: &[f64], j: &mut complementarity::problem::SparseRows) {
        let c = [self.q[0] + H * z[0], self.q[1] + H * z[1]];
        let (x, y) = (z[3] - c[0], z[4] - c[1]);
        j.clear();
        let rows: [&[(usize, f64)]; 10] = [
            &[(0, 1.0)],
            &[(1, 1.0), (8, -1.0), (9, -1.0)],
            &[(2, 0.5), (3, -z[8] - z[9]), (0, H * (z[8] + z[9])), (8, -x), (9, -x)],
            &[(3, 1.0), (0, -H)],
            &[(3, 2.0 * x), (4, 2.0 * y), (0, -2.0 * x * H), (1, -2.0 * y * H)],
            &[(5, 1.0), (3, -1.0)],
            &[(6, 1.0), (7, 1.0)],
            &[(8, 1.0), (7, -H * 1000.0)],
            &[(4, 1.0), (7, 1.0)],
            &[(7, -1.0)],
        ];
        for row in rows {
            j.begin();
            row.iter().for_each(|(k, x)| j.add(*k, *x));
        }
    }

    // impulses of 1e-3 N s and lengths of a millimetre matter
    fn typical(&self, i: usize) -> f64 {
        [1e-2, 1e-2, 1e-2, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-4, 1e-4][i]
    }
}

/// A step of the scheme solves the paper's mixed NCP: flight, spring, core.
#[test]
fn the_scheme_solves_the_mixed_ncp_of_the_paper() {
    use complementarity::problem::derivative_error;
    use complementarity::report::Status as Ended;
    use complementarity::solver::newton_lemke::{Settings, solve};
    let mut stepper = Stepper::new(scene("chakraborty2007/disc.toml")).expect("a valid model");
    let mut state = stepper.initial();
    let (mut compared, mut cores) = (0, 0);
    for k in 0..4000 {
        let (q, v) = (
            [state.position[0], state.position[1]],
            [state.velocity[0], state.velocity[1], state.velocity[2]],
        );
        let _ = stepper.step(&mut state).expect("no step fails");
        let element = stepper.elements().first().copied();
        let core = element.is_some_and(|e| e.core > 0.0);
        if !(core || k % 97 == 0) {
            continue;
        }
        let (mut lower, upper) = ([f64::NEG_INFINITY; 10], [f64::INFINITY; 10]);
        (lower[8], lower[9]) = (0.0, 0.0);
        let problem = Mixed { q, v, thickness: 0.05, lower, upper };
        let start = [v[0], v[1], v[2], q[0], q[1] - 1.0, q[0], 0.0, 0.0, 0.0, 0.0];
        assert!(derivative_error(&problem, &start.map(|x| x + 0.01)) < 1e-6);
        let report = solve(&problem, &start, &Settings::default()).unwrap();
        assert_eq!(report.status, Ended::Solved, "t = {}: {report:?}", state.time);
        let z = &report.solution;
        for i in 0..3 {
            assert!(
                (z[i] - state.velocity[i]).abs() < 1e-7,
                "t = {}: {z:?} {:?}",
                state.time,
                state.velocity
            );
        }
        if let Some(e) = element {
            assert!(
                (z[7] - e.deformation[0]).abs() < 1e-9
                    && ((z[8] + z[9]) / H - e.force[0]).abs() < 1e-3 * (1.0 + e.force[0].abs()),
                "{z:?} {e:?}"
            );
        }
        compared += 1;
        cores += usize::from(core);
    }
    assert!(compared > 30 && cores >= 1, "{compared} {cores}");
}

/// The disc of example 1 closes at sqrt(2 0.5 / g) = 0.3193 s, within a step, and opens again: the run's events say so.
#[test]
fn events_of_a_run_tell_when_the_disc_touches() {
    let scene = scene("chakraborty2007/disc.toml");
    let h = scene.step.h;
    let model = Arc::new(Model::new(&scene).expect("a valid model"));
    let (mut state, mut summary) = (model.initial(), Summary::default());
    _ = run(&model, &mut state, &Options::default(), &mut [&mut summary]).expect("no observer fails");
    let first =
        |kind: EventKind| summary.first_events.iter().find(|e| e.kind == kind).expect("an event").time;
    let close = first(EventKind::Close);
    assert!((close - (1.0 / G).sqrt()).abs() <= h + 1e-12, "{close}");
    assert!(first(EventKind::Open) > close);
}
