//! `scheme = "event"`: coins on a floor. One that strikes its face comes to rest on it; one that rolls on its rim keeps its energy.

use std::sync::Arc;
use stiction::model::Model;
use stiction::run::{Ended, Fault, Observer, Options, View, run};
use stiction::state::State;

const G: f64 = 9.81;
const RADIUS: f64 = 0.1;
const HALF: f64 = 0.005;

#[derive(Default)]
struct Seen {
    states: Vec<State>,
    energies: Vec<f64>,
    /// Slip of the first contact after each step, m/s.
    slips: Vec<f64>,
}

impl Observer for Seen {
    fn step(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        let [kinetic, potential, ..] = view.balance();
        self.energies.push(kinetic + potential);
        self.states.push(view.state.clone());
        self.slips.push(view.elements().first().map_or(f64::NAN, |e| e.speed[1].hypot(e.speed[2])));
        Ok(())
    }
}

struct Coin {
    height: f64,
    tilt: f64,
    axis: [f64; 3],
    velocity: [f64; 3],
    spin: [f64; 3],
}

fn see(coin: &Coin, friction: f64, restitution: f64, step: &str) -> Seen {
    let Coin { height, tilt, axis, velocity, spin } = coin;
    let text = format!(
        "[[material]]\n name = 'default'\n friction = {friction}\n restitution = {restitution}\n [[world]]\n name = 'floor'\n shape = 'half_space'
        [[body]]\n name = 'coin'\n shape = {{ cylinder = {{ radius = {RADIUS}, half_length = {HALF} }} }}\n mass = 1\n position = [0, 0, {height:e}]
        orientation = {{ axis = {axis:?}, angle = {tilt} }}\n velocity = {velocity:?}\n angular_velocity = {spin:?}\n [step]\n scheme = 'event'\n {step}"
    );
    let scene = stiction::from_toml("scene", &text).expect("a scene");
    let model = Arc::new(Model::new(&scene).expect("a model"));
    let (mut seen, mut state) = (Seen::default(), model.initial());
    let ended = run(&model, &mut state, &Options::default(), &mut [&mut seen]).expect("no fault");
    assert_eq!(
        ended,
        Ended::Finished,
        "friction {friction}, restitution {restitution}: after {} s",
        state.time
    );
    for pair in seen.energies.windows(2) {
        assert!(pair[1] <= pair[0] + 1e-9, "energy grows by {:e} J", pair[1] - pair[0]);
    }
    seen
}

/// A coin that touches the floor.
fn touching(tilt: f64, spin: [f64; 3]) -> Coin {
    let height = RADIUS * tilt.sin() + HALF * tilt.cos();
    Coin { height, tilt, axis: [0.0, 1.0, 0.0], velocity: [0.0; 3], spin }
}

#[test]
fn a_coin_dropped_tilted_comes_to_rest_on_its_face() {
    for (tilt, axis) in [(0.5f64, [0.0, 1.0, 0.0]), (0.02, [1.0, 0.3, 0.0]), (1.2, [0.6, -0.8, 0.0])] {
        for friction in [0.0, 0.05, 0.3, 1.0] {
            for restitution in [0.0, 0.5, 0.9] {
                let coin = Coin { height: 0.12, tilt, axis, velocity: [0.0; 3], spin: [0.0; 3] };
                let seen = see(&coin, friction, restitution, "h = 0.05\n duration = 6");
                let end = seen.states.last().expect("steps");
                let name = format!("tilt {tilt}, friction {friction}, restitution {restitution}: {end:?}");
                assert!((end.position[2] - HALF).abs() < 1e-11, "{name}");
                // the axis is vertical
                assert!(end.position[4].hypot(end.position[5]) < 1e-9, "{name}");
                assert!(end.velocity[2].abs() < 1e-12, "{name}");
                assert!(end.velocity[3].hypot(end.velocity[4]) < 1e-12, "{name}");
                assert!(friction == 0.0 || end.velocity.iter().all(|v| v.abs() < 1e-12), "{name}");
            }
        }
    }
}

#[test]
fn without_friction_a_spinning_coin_never_strikes_its_face_and_keeps_its_energy() {
    // vertical momentum and that about the axis are kept: 1/2 (m (R cos - b sin)^2 + A) tilt'^2 + (L_z - L_3 cos)^2/(2 A sin^2) + L_3^2/(2 C) + m g z = E
    let (tilt, w) = (0.5f64, 5.0f64);
    let seen = see(&touching(tilt, [0.0, 0.0, w]), 0.0, 0.0, "h = 0.02\n duration = 2\n accuracy = 1e-12");
    let (a, c) = (RADIUS * RADIUS / 4.0 + HALF * HALF / 3.0, RADIUS * RADIUS / 2.0);
    let (along, vertical) = (c * w * tilt.cos(), w * (c * tilt.cos().powi(2) + a * tilt.sin().powi(2)));
    let height = |t: f64| RADIUS * t.sin() + HALF * t.cos();
    let barrier = |t: f64| {
        (vertical - along * t.cos()).powi(2) / (2.0 * a * t.sin().powi(2))
            + along * along / (2.0 * c)
            + G * height(t)
    };
    let energy = barrier(tilt);
    // where it turns
    let (mut low, mut high) = (1e-6, tilt - 1e-3);
    while high - low > 1e-14 {
        let middle = 0.5 * (low + high);
        if barrier(middle) > energy { low = middle } else { high = middle }
    }
    let mut least = f64::INFINITY;
    for (state, found) in seen.states.iter().zip(&seen.energies) {
        assert!((found - energy).abs() < 1e-9, "{:e}", found - energy);
        let q = &state.position[3..7];
        let now = 2.0 * (q[1].hypot(q[2])).asin();
        least = least.min(now);
        let rate = (state.velocity[2] / (RADIUS * now.cos() - HALF * now.sin())).powi(2);
        let mass = (RADIUS * now.cos() - HALF * now.sin()).powi(2) + a;
        assert!((0.5 * mass * rate + barrier(now) - energy).abs() < 1e-8, "at {}", state.time);
    }
    assert!(least >= low - 1e-9 && least < low + 0.1, "{least} {low}");
}

#[test]
fn a_coin_spun_upright_ends_rolling_with_its_energy_kept() {
    for friction in [0.05, 0.3, 1.0] {
        for restitution in [0.0, 0.5] {
            let seen =
                see(&touching(1.5, [0.0, 0.0, 20.0]), friction, restitution, "h = 0.02\n duration = 2");
            let last = *seen.energies.last().expect("steps");
            assert!(last > 0.1, "{last}");
            // while it rolls without slip, energy stays
            let mut rolls = 0;
            for k in 1..seen.energies.len() {
                if seen.slips[k - 1] < 1e-9 && seen.slips[k] < 1e-9 {
                    rolls += 1;
                    assert!(
                        (seen.energies[k] - seen.energies[k - 1]).abs() < 1e-8,
                        "at {}",
                        seen.states[k].time
                    );
                }
            }
            assert!(friction < 0.3 || rolls > 50, "{rolls}");
        }
    }
}

#[test]
fn tumbling_coins_lose_energy_and_stay_above_the_floor() {
    for friction in [0.05, 0.3, 1.0] {
        for restitution in [0.0, 0.5] {
            let coin = Coin {
                height: 0.15,
                tilt: 0.5,
                axis: [0.3, 1.0, 0.2],
                velocity: [0.3, 0.1, 0.0],
                spin: [3.0, -2.0, 1.0],
            };
            let seen = see(&coin, friction, restitution, "h = 0.02\n duration = 2");
            for state in &seen.states {
                let q = &state.position[3..7];
                let axis = 1.0 - 2.0 * (q[1] * q[1] + q[2] * q[2]);
                let lowest =
                    state.position[2] - HALF * axis.abs() - RADIUS * (1.0 - axis * axis).max(0.0).sqrt();
                assert!(lowest > -1e-8, "{lowest} at {}", state.time);
            }
        }
    }
}
