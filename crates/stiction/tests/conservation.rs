//! What contacts must leave alone: momentum, the sum of energies, mirror symmetry.

use crate::running;

use rand::{RngExt, SeedableRng};
use running::{go, scene, start};
use stiction::contact::Law;
use stiction::model::Owner;
use stiction::scene::{GapLevel, Scene};
use stiction::space::{length, sub};
use stiction::step::Status;

#[test]
fn balls_that_rub_without_gravity_keep_their_momentum() {
    for h in [2e-3, 1e-3, 3e-4] {
        let (mut stepper, mut state) = start(scene("collision.toml"), h);
        let (linear, angular) = stepper.kinematics(&state).momentum();
        let before = state.velocity.clone();
        let (mut far, mut slipped) = ([0.0f64; 2], false);
        go(&mut stepper, &mut state, (0.5 / h) as usize, |stepper, state| {
            slipped |= stepper.elements().iter().any(|e| e.status == Status::Slip && e.force[1] != 0.0);
            let (l, a) = stepper.kinematics(state).momentum();
            far = [far[0].max(length(sub(l, linear))), far[1].max(length(sub(a, angular)))];
        });
        assert!(slipped && before != state.velocity, "they never met");
        assert!(far[0] < 1e-13 * length(linear) && far[1] < 1e-12 * length(angular), "h = {h}: {far:?}");
    }
}

#[test]
fn tumbling_boxes_that_meet_keep_momentum_and_angular_momentum() {
    for h in [2e-3, 1e-3, 5e-4] {
        let mut boxes = scene("collision.toml");
        for (body, half) in boxes.bodies.iter_mut().zip([[0.1, 0.06, 0.04], [0.15, 0.1, 0.08]]) {
            assert!(body.mass.is_some());
            body.shape = Some(stiction::geometry::Shape::Box { half });
        }
        let (mut stepper, mut state) = start(boxes, h);
        let (linear, angular) = stepper.kinematics(&state).momentum();
        let (mut far, mut met) = ([0.0f64; 2], false);
        go(&mut stepper, &mut state, (0.5 / h) as usize, |stepper, state| {
            met |= stepper.elements().iter().any(|e| e.status != Status::Open);
            let (l, a) = stepper.kinematics(state).momentum();
            far = [far[0].max(length(sub(l, linear))), far[1].max(length(sub(a, angular)))];
        });
        assert!(met, "they never met");
        assert!(far[0] < 1e-13 * length(linear) && far[1] < 1e-12 * length(angular), "h = {h}: {far:?}");
    }
}

/// A heap with other starts.
fn shaken(seed: u64, law: &Law, gap: GapLevel) -> Scene {
    let mut rng = rand_pcg::Pcg64::seed_from_u64(seed);
    let mut scene = scene("heap.toml");
    scene.step.gap = gap;
    scene.materials[0].law = law.clone().into();
    for body in &mut scene.bodies {
        body.position.as_mut().expect("given")[0] += rng.random_range(-0.03..0.03);
        body.angle = Some(rng.random_range(0.0..6.0));
        let [x, y, spin] = [0; 3].map(|_| rng.random_range(-1.0..1.0));
        (body.velocity, body.angular_velocity) = (Some([x, y].into()), Some(spin.into()));
    }
    scene
}

/// With theta = 0, constant masses and weight as the only load, a step changes the sum of energies by
///
/// ```text
/// h lambda_t . s_t - lambda_n . g - (losses: dampers, 1/2 |v+ - v|^2 in M, 1/2 |delta+ - delta|^2 in K)
/// ```
///
/// The first term is never above 0. The second is only where elements overlap when the step begins (g < 0) and are pushed
/// apart; where the law is about speeds, there is no such term.
#[test]
fn contacts_create_no_energy() {
    let soft = Law::kelvin_voigt([2e4, 1e4], 0.3, 2.0).expect("valid");
    for (law, gap) in
        [(&Law::Rigid, GapLevel::Position), (&Law::Rigid, GapLevel::Velocity), (&soft, GapLevel::Position)]
    {
        let (mut met, mut pushed_in_all, mut lost) = (0, 0.0f64, 0.0f64);
        for seed in 0..8 {
            let h = [4e-3, 2e-3, 1e-3][seed as usize % 3];
            let (mut stepper, mut state) = start(shaken(seed, law, gap), h);
            let sum = |stepper: &mut stiction::stepper::Stepper, state: &stiction::state::State| {
                let e = stepper.energy(state);
                e.kinetic + e.potential + e.elastic
            };
            let first = sum(&mut stepper, &state);
            let mut before = first;
            for _ in 0..(1.0 / h) as usize {
                let report = stepper.step(&mut state).expect("no step fails");
                assert!(report.parts <= 1, "a step was cut");
                let after = sum(&mut stepper, &state);
                let pushed: f64 = stepper.elements().iter().map(|e| e.force[0] * (-e.gap).max(0.0)).sum();
                met += stepper.elements().iter().filter(|e| e.status != Status::Open).count();
                pushed_in_all += pushed;
                assert!(
                    after <= before + pushed + 1e-12 * first,
                    "{law:?}, {gap:?}, seed {seed}, t = {}: {:e} J made, {pushed:e} by pushing",
                    state.time,
                    after - before
                );
                before = after;
            }
            lost += first - before;
        }
        println!("{law:?}, {gap:?}: {met} contacts, {lost} J lost, {pushed_in_all:e} J by pushing apart");
        assert!(met > 1000 && lost > 0.0 && pushed_in_all < 0.05 * lost, "{met} {lost} {pushed_in_all}");
        assert!(gap == GapLevel::Position || pushed_in_all == 0.0);
    }
}

#[test]
fn mirrored_bodies_move_mirrored() {
    for h in [4e-3, 2e-3, 1e-3] {
        let (mut stepper, mut state) = start(scene("mirror.toml"), h);
        let (mut off, mut met) = (0.0f64, [false; 2]);
        go(&mut stepper, &mut state, (1.5 / h) as usize, |stepper, state| {
            for x in [&state.position, &state.velocity] {
                off = off.max(length([x[0] + x[3], x[1] - x[4], x[2] + x[5]]));
            }
            for e in stepper.elements().iter().filter(|e| e.status != Status::Open) {
                met[usize::from(matches!(e.body_a, Owner::World(_)))] = true;
            }
        });
        println!("h = {h}: {off:e} apart");
        assert!(met == [true; 2], "they met neither the ground nor each other");
        assert!(off < 1e-9, "h = {h}: {off:e}");
    }
}
