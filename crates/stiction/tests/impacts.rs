//! Impacts with restitution against closed forms.

use stiction::state::State;
use stiction::stepper::Stepper;

const G: f64 = 9.81;

fn start(text: &str) -> (Stepper, State) {
    let scene = stiction::from_toml("impact.toml", text).expect("a valid scene");
    let stepper = Stepper::new(scene).expect("a valid model");
    let state = stepper.initial();
    (stepper, state)
}

fn ball(drop: f64, e: f64, step: &str) -> (Stepper, State) {
    start(&format!(
        "[[world]]\nname = \"ground\"\nshape = \"half_space\"\n[[material]]\nname = \"default\"\nrestitution = {e}\n\
         [[body]]\nname = \"ball\"\nshape = {{ sphere = {{ radius = 0.05 }} }}\nmass = 1\nposition = [0, 0, {}]\n[step]\n{step}\n",
        drop + 0.05
    ))
}

/// Apexes of a bouncing ball are `e^(2k)` times its drop, wherever in a step it lands, for gaps at both levels and any theta.
#[test]
fn apexes_of_a_bouncing_ball_fall_by_the_square_of_restitution() {
    for step in [
        "",
        "h = 1e-2\n[record]\ninterval = 0.02",
        "explicit_share = 0.3",
        "explicit_share = 0.5",
        "gap = \"velocity\"",
    ] {
        for (e, phase) in (0..10).flat_map(|k| [(1.0, k), (0.8, k), (0.5, k)]) {
            let drop = 0.5 + 3.1e-4 * f64::from(phase);
            let (mut stepper, mut state) = ball(drop, e, step);
            let h = stepper.scene().step.h;
            let (mut top, mut apexes, mut rising) = (0.0f64, vec![], false);
            while apexes.len() < 3 && state.time < 3.0 {
                let _ = stepper.step(&mut state).expect("no step fails");
                top = if rising { top.max(state.position[2] - 0.05) } else { 0.0 };
                if rising && state.velocity[2] < 0.0 {
                    apexes.push(top);
                }
                rising = state.velocity[2] > 0.0;
            }
            for (k, apex) in apexes.iter().enumerate() {
                let expected = drop * e.powi(2 * (k as i32 + 1));
                // each impact errs by the order of g h / v
                let error = 4.0 * (k + 1) as f64 * G * h / (2.0 * G * expected).sqrt() + 2.0 * h;
                assert!(
                    (apex / expected - 1.0).abs() < error,
                    "{step} e = {e}: apex {k} is {apex}, not {expected}"
                );
            }
            assert_eq!(apexes.len(), 3, "{step} {e}");
        }
    }
}

/// Energy is never gained, and bouncing ends.
#[test]
fn energy_falls_and_the_ball_comes_to_rest() {
    for (e, step) in [(0.9, ""), (0.9, "explicit_share = 0.5"), (1.0, "")] {
        let (mut stepper, mut state) = ball(0.5, e, step);
        let start = stepper.energy(&state);
        let whole = start.kinetic + start.potential;
        for _ in 0..8000 {
            let _ = stepper.step(&mut state).expect("no step fails");
            let energy = stepper.energy(&state);
            assert!(energy.kinetic + energy.potential <= whole * (1.0 + 1e-9), "t = {}", state.time);
        }
        if e < 1.0 {
            // at theta = 1/2 the velocity of bodies at rest changes its sign from step to step
            let least = if step.is_empty() { 1e-9 } else { G * 1e-3 };
            assert!(state.velocity[2].abs() < least && (state.position[2] - 0.05).abs() < 1e-6, "{state:?}");
        }
    }
}

/// Without restitution nothing bounces, whatever theta.
#[test]
fn without_restitution_nothing_bounces() {
    for step in ["", "explicit_share = 0.3", "explicit_share = 0.5", "gap = \"velocity\""] {
        let (mut stepper, mut state) = ball(0.5, 0.0, step);
        for _ in 0..1000 {
            let _ = stepper.step(&mut state).expect("no step fails");
            assert!(
                state.velocity[2] < 2.0 * G * 1e-3,
                "{step}: {} at t = {}",
                state.velocity[2],
                state.time
            );
        }
    }
}

/// A cradle of five: the blow leaves at the other end, whether the balls touch or not.
#[test]
fn a_cradle_passes_the_blow_on() {
    for (gap, e) in [(0.0, 1.0), (1e-4, 1.0), (0.01, 1.0), (0.0, 0.5)] {
        let mut text = String::from(
            "gravity = [0, 0, 0]\n[[material]]\nname = \"default\"\nfriction = 0\nrestitution = ",
        ) + &format!("{e}\n");
        for k in 0..5 {
            let x = f64::from(k) * (0.1 + gap) - if k == 0 { 0.05 } else { 0.0 };
            let v = if k == 0 { 1.0 } else { 0.0 };
            text += &format!(
                "[[body]]\nname = \"b{k}\"\nshape = {{ sphere = {{ radius = 0.05 }} }}\nmass = 1\nposition = [{x}, 0, 0]\nvelocity = [{v}, 0, 0]\n"
            );
        }
        let (mut stepper, mut state) = start(&text);
        for _ in 0..300 {
            let _ = stepper.step(&mut state).expect("no step fails");
        }
        let v: Vec<f64> = (0..5).map(|k| state.velocity[6 * k]).collect();
        assert!((v.iter().sum::<f64>() - 1.0).abs() < 1e-9, "momentum: {v:?}");
        if e == 1.0 {
            assert!((v[4] - 1.0).abs() < 1e-9 && v[..4].iter().all(|v| v.abs() < 1e-9), "gap {gap}: {v:?}");
        } else {
            // each impact passes (1 + e) / 2 on and keeps (1 - e) / 2
            assert!((v[4] - 0.75f64.powi(4)).abs() < 1e-9, "{v:?}");
        }
    }
}

/// A rod falls on its end at an angle: the impulse solves `A p = -(1 + e) s_n` with friction that sticks or slips.
#[test]
fn a_dropped_rod_bounces_with_friction_as_newton_and_coulomb_say() {
    let (length, angle, inertia, fall) = (1.0f64, 0.6f64, 1.0 / 12.0, 2.0);
    // from the centre to the lower end
    let r = [-0.5 * length * angle.cos(), -0.5 * length * angle.sin()];
    let (nn, nt, tt) = (1.0 + r[0] * r[0] / inertia, -r[0] * r[1] / inertia, 1.0 + r[1] * r[1] / inertia);
    for (mu, e) in [(0.0, 0.7), (0.1, 0.7), (2.0, 0.7), (2.0, 0.0001), (0.3, 1.0)] {
        let text = format!(
            "planar = true\ngravity = [0, 0]\n[[material]]\nname = \"default\"\nfriction = {mu}\nrestitution = {e}\n\
             [[world]]\nname = \"ground\"\nshape = \"half_space\"\n\
             [[body]]\nname = \"rod\"\nmass = 1\ninertia = {inertia}\nposition = [0, {}]\nangle = {angle}\nvelocity = [0, {}]\n\
             shape = {{ polygon = {{ vertices = [[-0.5, 0], [0, -0.001], [0.5, 0], [0, 0.001]] }} }}\n",
            0.0123 - r[1],
            -fall
        );
        let (mut stepper, mut state) = start(&text);
        for _ in 0..8 {
            let _ = stepper.step(&mut state).expect("no step fails");
        }
        // sticking: the end has velocity (0, e v); else friction is at its limit against the slip that the normal impulse alone would cause
        let det = nn * tt - nt * nt;
        let (mut p_n, mut p_t) = ((1.0 + e) * fall * tt / det, -(1.0 + e) * fall * nt / det);
        if p_t.abs() > mu * p_n {
            let sign = -f64::signum(nt);
            p_n = (1.0 + e) * fall / (nn + sign * mu * nt);
            p_t = sign * mu * p_n;
        }
        let expected = [p_t, -fall + p_n, (r[0] * p_n - r[1] * p_t) / inertia];
        for (v, expected) in state.velocity.iter().zip(expected) {
            assert!(
                (v - expected).abs() < 0.02,
                "mu = {mu}, e = {e}: {:?}, not {expected:?}",
                state.velocity
            );
        }
        let kinetic = 0.5 * (state.velocity[0].powi(2) + state.velocity[1].powi(2))
            + 0.5 * inertia * state.velocity[2].powi(2);
        assert!(kinetic <= 0.5 * fall * fall * (1.0 + 1e-12), "mu = {mu}, e = {e}");
    }
}

#[test]
fn a_pair_has_restitution_of_its_own_and_wrong_ones_are_refused() {
    let text = |e: &str| {
        format!(
            "[[world]]\nname = \"ground\"\nshape = \"half_space\"\n[[material]]\nname = \"default\"\nrestitution = 0.9\n\
             [[pair]]\nbodies = [\"ground\", \"ball\"]\nrestitution = {e}\n\
             [[body]]\nname = \"ball\"\nshape = {{ sphere = {{ radius = 0.05 }} }}\nmass = 1\nposition = [0, 0, 0.06]\nvelocity = [0, 0, -1]\n"
        )
    };
    let (mut stepper, mut state) = start(&text("0.25"));
    for _ in 0..20 {
        let _ = stepper.step(&mut state).expect("no step fails");
    }
    assert!((state.velocity[2] - 0.25).abs() < 0.11, "{:?}", state.velocity);
    let told = stiction::from_toml("impact.toml", &text("1.5")).expect_err("refused").to_string();
    assert!(told.contains("restitution is 1.5, expected a number from 0 to 1"), "{told}");
}
