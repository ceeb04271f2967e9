//! `scheme = "compliant"` (song2001 section 3) against closed forms and the rigid model.

use std::sync::Arc;
use stiction::model::Model;
use stiction::run::{Ended, Event, EventKind, Fault, Observer, Options, View, run};
use stiction::state::State;
use stiction::stepper::Stepper;

/// What a run shows: events, the largest imbalance of energy, states after every step.
#[derive(Default)]
struct Seen {
    events: Vec<Event>,
    first: Option<f64>,
    imbalance: f64,
    states: Vec<State>,
    forces: Vec<[f64; 3]>,
}

impl Observer for Seen {
    fn start(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        self.first = Some(total(view));
        Ok(())
    }

    fn step(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        self.events.extend_from_slice(view.events);
        self.imbalance = self.imbalance.max((total(view) - self.first.expect("a start")).abs());
        self.states.push(view.state.clone());
        let sum = |k: usize| view.elements().iter().map(|e| e.force[k]).sum::<f64>();
        self.forces.push([sum(0), sum(1), sum(2)]);
        Ok(())
    }
}

/// Energies and losses less the works: constant.
fn total(view: &mut View<'_>) -> f64 {
    stiction::run::ENTRIES.iter().zip(view.balance()).map(|(e, x)| e.sign() * x).sum()
}

fn see(text: &str) -> Seen {
    let model = Arc::new(Model::new(&stiction::from_toml("scene", text).expect("a scene")).expect("a model"));
    let (mut seen, mut state) = (Seen::default(), model.initial());
    assert_eq!(
        run(&model, &mut state, &Options::default(), &mut [&mut seen]).expect("no fault"),
        Ended::Finished
    );
    seen
}

fn time_of(seen: &Seen, kind: EventKind, after: f64) -> f64 {
    seen.events.iter().find(|e| e.kind == kind && e.time > after).unwrap_or_else(|| panic!("{kind:?}")).time
}

const BALL: &str = "
    [[world]]
    name = 'ground'
    shape = 'half_space'
    [[body]]
    name = 'ball'
    shape = { sphere = { radius = 0.1 } }
    mass = 2
    ";

#[test]
fn a_ball_on_an_undamped_spring_bounces_by_the_closed_form() {
    let (k, m, g, height) = (2e5f64, 2.0f64, 9.81f64, 0.05f64);
    let text = format!(
        "{BALL} position = [0, 0, {}]\n [[material]]\n name = 'default'\n friction = 0\n law = {{ kelvin_voigt = {{ stiffness = {k} }} }}
        [step]\n scheme = 'compliant'\n duration = 0.5\n h = 1e-2",
        0.1 + height
    );
    let seen = see(&text);
    // falls, then d = g/w^2 (1 - cos w t) + v/w sin w t until d = 0 again, which is symmetric about the deepest point
    let (fall, v, w) = ((2.0 * height / g).sqrt(), (2.0 * g * height).sqrt(), (k / m).sqrt());
    // deepest where g/w sin + v cos = 0
    let deepest = (std::f64::consts::PI - (v * w / g).atan()) / w;
    let leaves = fall + 2.0 * deepest;
    let (close, open) = (time_of(&seen, EventKind::Close, 0.0), time_of(&seen, EventKind::Open, 0.0));
    assert!((close - fall).abs() < 1e-10, "{:e}", close - fall);
    assert!((open - leaves).abs() < 1e-9, "{:e}", open - leaves);
    let again = time_of(&seen, EventKind::Close, open);
    assert!((again - leaves - 2.0 * fall).abs() < 1e-9, "{:e}", again - leaves - 2.0 * fall);
    assert!(seen.imbalance < 1e-9, "{:e} of {} J", seen.imbalance, m * g * height);
}

#[test]
fn a_damped_spring_parts_where_its_damper_would_pull() {
    // d'' = -w^2 d - 2 z w d' without weight; it parts where d'' = 0
    let (k, m, z, v) = (1e5f64, 2.0f64, 0.3f64, 0.5f64);
    let w = (k / m).sqrt();
    let c = 2.0 * z * w * m;
    let text = format!(
        "gravity = [0, 0, 0]\n {BALL} position = [0, 0, 0.1]\n velocity = [0, 0, {}]\n [[material]]\n name = 'default'\n friction = 0\n law = {{ kelvin_voigt = {{ stiffness = {k}, damping = {c} }} }}
        [step]\n scheme = 'compliant'\n duration = 0.05\n h = 1e-3",
        -v
    );
    let seen = see(&text);
    // d = v/wd exp(-zwt) sin(wd t); force 0: d'' = 0: tan(wd t) = 2 z sqrt(1-z^2)/(2 z^2 - 1)
    let wd = w * (1.0 - z * z).sqrt();
    let t = (2.0 * z * (1.0 - z * z).sqrt()).atan2(2.0 * z * z - 1.0) / wd;
    let e = (-z * w * t).exp();
    let rate = v * e * ((wd * t).cos() - z * w / wd * (wd * t).sin());
    let parts = time_of(&seen, EventKind::Open, 0.0);
    assert!((parts - t).abs() < 1e-9, "{:e}", parts - t);
    let end = seen.states.last().unwrap().velocity[2];
    assert!((end + rate).abs() < 1e-9, "{end} not {}", -rate);
    assert!(seen.imbalance < 1e-10, "{:e}", seen.imbalance);
}

#[test]
fn a_hunt_crossley_ball_returns_the_velocity_of_the_closed_form() {
    // K d^p (1 + c d') against a mass: v0 + v1 + (ln((1 - c v1)/(1 + c v0)))/c = 0 for any exponent
    let (v0, alpha) = (0.7f64, 0.4f64);
    let c = 1.5 * alpha;
    for exponent in [1.5, 2.0, 3.0] {
        let text = format!(
            "gravity = [0, 0, 0]\n {BALL} position = [0, 0, 0.11]\n velocity = [0, 0, {}]\n [[material]]\n name = 'default'\n friction = 0
            law = {{ hunt_crossley = {{ stiffness = 1e7, exponent = {exponent}, dissipation = {alpha} }} }}
            [step]\n scheme = 'compliant'\n duration = 0.2\n h = 1e-2",
            -v0
        );
        let seen = see(&text);
        let v1 = seen.states.last().unwrap().velocity[2];
        // on the way in d'' = -K/m d^p (1 + c d'): u du / (1 + c u) is the same on both ways
        let way = |u: f64| u / c - (1.0 + c * u).ln() / (c * c);
        assert!((way(v0) - way(-v1)).abs() < 1e-9, "p {exponent}: {v1}, {:e}", way(v0) - way(-v1));
        assert!(v1 > 0.3 && v1 < v0 && seen.imbalance < 1e-10, "{v1}, {:e}", seen.imbalance);
    }
}

#[test]
fn a_sliding_ball_ends_rolling_at_five_sevenths_along_any_heading() {
    let (mu, g, v, m, k) = (0.3f64, 9.81f64, 1.0f64, 2.0f64, 1e7f64);
    let sunk = 0.1 - m * g / k;
    let mut ends = vec![];
    for heading in [0.0f64, 0.7, 2.4] {
        let text = format!(
            "{BALL} position = [0, 0, {sunk}]\n velocity = [{}, {}, 0]\n [[material]]\n name = 'default'\n friction = {mu}
            law = {{ kelvin_voigt = {{ stiffness = {k}, damping = 2e3 }} }}\n [step]\n scheme = 'compliant'\n duration = 0.2\n h = 1e-2",
            v * heading.cos(),
            v * heading.sin()
        );
        let seen = see(&text);
        let sticks = time_of(&seen, EventKind::Stick, 0.01);
        assert!((sticks - 2.0 * v / (7.0 * mu * g)).abs() < 1e-4, "{sticks}");
        let end = seen.states.last().unwrap();
        let speed = end.velocity[0].hypot(end.velocity[1]);
        assert!((speed - 5.0 / 7.0 * v).abs() < 1e-5, "{speed}");
        assert!((end.velocity[1].atan2(end.velocity[0]) - heading).abs() < 1e-9);
        assert!(seen.imbalance < 1e-9, "{:e}", seen.imbalance);
        ends.push(speed);
    }
    assert!((ends[0] - ends[1]).abs() < 1e-9 && (ends[0] - ends[2]).abs() < 1e-9, "{ends:?}");
}

#[test]
fn four_feet_of_a_box_rest_below_the_friction_angle_and_slide_above() {
    for (tan, slides) in [(0.25, false), (0.35, true)] {
        let (mu, g, time) = (0.3f64, 9.81f64, 0.3f64);
        let angle = f64::atan(tan);
        let text = format!(
            "gravity = [{}, 0, {}]\n [[world]]\n name = 'ground'\n shape = 'half_space'\n [[body]]\n name = 'box'\n shape = {{ box = {{ half = [0.1, 0.1, 0.05] }} }}
            mass = 1\n position = [0, 0, 0.05]\n [[material]]\n name = 'default'\n friction = {mu}
            law = {{ kelvin_voigt = {{ stiffness = 1e6, damping = 300 }} }}\n [step]\n scheme = 'compliant'\n duration = {time}\n h = 1e-2",
            g * angle.sin(),
            -g * angle.cos()
        );
        let seen = see(&text);
        let end = seen.states.last().unwrap();
        if slides {
            let expected = g * (angle.sin() - mu * angle.cos()) * time;
            assert!(
                (end.velocity[0] - expected).abs() < 1e-3 * expected,
                "{} not {expected}",
                end.velocity[0]
            );
        } else {
            // it rests: the springs hold it, without creep
            let before = &seen.states[seen.states.len() / 2];
            assert!((end.position[0] - before.position[0]).abs() < 1e-9, "{:?}", end.position);
            let [_, t, _] = seen.forces.last().unwrap();
            assert!((t + g * angle.sin()).abs() < 1e-6, "{t}");
        }
        assert!(seen.imbalance < 1e-9, "{:e}", seen.imbalance);
    }
}

#[test]
fn a_run_goes_on_bitwise_from_a_saved_state() {
    let text = format!(
        "{BALL} position = [0, 0, 0.12]\n velocity = [1, 0, 0]\n [[material]]\n name = 'default'\n friction = 0.4
        law = {{ kelvin_voigt = {{ stiffness = 1e5, damping = 100 }} }}\n [step]\n scheme = 'compliant'\n h = 2e-3"
    );
    let scene = stiction::from_toml("scene", &text).unwrap();
    let mut stepper = Stepper::new(scene.clone()).unwrap();
    let mut state = stepper.initial();
    let mut kept = None;
    for k in 0..100 {
        if k == 47 {
            kept = Some(state.clone());
        }
        let _ = stepper.step(&mut state).unwrap();
    }
    let (mut other, mut again) = (Stepper::new(scene).unwrap(), kept.unwrap());
    for _ in 47..100 {
        let _ = other.step(&mut again).unwrap();
    }
    assert_eq!(state, again);
}

#[test]
fn what_the_scheme_does_not_know_is_refused_by_name() {
    let faults = |law: &str| {
        let text =
            format!("{BALL}\n [[material]]\n name = 'default'\n {law}\n [step]\n scheme = 'compliant'");
        stiction::from_toml("scene", &text).map(|_| ()).map_err(|e| e.to_string())
    };
    let rigid = faults("").unwrap_err();
    assert!(rigid.contains("expected kelvin_voigt, hunt_crossley or auto"), "{rigid}");
    let undamped = faults("law = { kelvin_voigt = { stiffness = 1e5 } }").unwrap_err();
    assert!(undamped.contains("tangential damping above 0"), "{undamped}");
    let torsion =
        faults("torsion = 0.01\n law = { kelvin_voigt = { stiffness = 1e5, damping = 1 } }").unwrap_err();
    assert!(torsion.contains("torsion"), "{torsion}");
    let text =
        format!("{BALL} [[material]]\n name = 'default'\n law = {{ hunt_crossley = {{ stiffness = 1e5 }} }}");
    let theta = stiction::from_toml("scene", &text).unwrap_err().to_string();
    assert!(
        theta.contains("hunt_crossley with scheme = \"theta\": expected tangential_stiffness"),
        "{theta}"
    );
    let text = format!("{BALL} [step]\n friction = {{ smooth = {{ velocity = 1e-3 }} }}");
    let theta = stiction::from_toml("scene", &text).unwrap_err().to_string();
    assert!(
        theta.contains("smooth friction with scheme = \"theta\": expected kelvin_voigt or hunt_crossley"),
        "{theta}"
    );
}

/// song2001's rod on its lower end: half length, mass, inertia, angle, friction, moment.
#[derive(Clone, Copy)]
struct Rod {
    l: f64,
    m: f64,
    i: f64,
    angle: f64,
    mu: f64,
    moment: f64,
}

const CASE_1: Rod =
    Rod { l: 0.234, m: 0.088, i: 0.088 * 0.468 * 0.468 / 12.0, angle: 42.3, mu: 0.27, moment: 0.0 };
/// As formulation of the described behaviour needs it: L is half the length, and I is 1/144.
const CASE_2: Rod = Rod { l: 0.5, m: 1.0, i: 1.0 / 144.0, angle: 70.0, mu: 1.0, moment: -1.0 };
const G: f64 = 9.81;

impl Rod {
    /// The compliant model at `eps`: (36), (37) with unit coefficients and T = 1 s, its lower end `deep` in the ground.
    fn scene(&self, eps: f64, deep: f64, velocity: f64, step: &str) -> String {
        let Self { l, m, i, angle, mu, moment } = *self;
        let (sin, cos) = angle.to_radians().sin_cos();
        let (k, alpha) = (m * l / (eps * l).powi(2), 2.0 / (3.0 * eps.sqrt() * l));
        format!(
            "planar = true\n gravity = [0, -{G}]\n [[world]]\n name = 'ground'\n shape = 'half_space'
            [[material]]\n name = 'default'\n friction = {mu}
            law = {{ hunt_crossley = {{ stiffness = {k:e}, exponent = 2, dissipation = {alpha:e}, tangential_stiffness = {:e}, tangential_damping = {:e} }} }}
            [[body]]\n name = 'rod'\n shape = {{ polygon = {{ vertices = [[-{l}, 0], [0, -0.001], [{l}, 0], [0, 0.001]] }} }}
            mass = {m}\n inertia = {i:e}\n position = [{}, {}]\n angle_deg = {angle}\n velocity = [{velocity}, 0]
            [[load]]\n body = 'rod'\n torque = {{ constant = {moment} }}
            [step]\n scheme = 'compliant'\n {step}",
            // stiffer than along the normal: the transient of the slip, of the order of the root of this compliance, must not hide that of the normal
            m / (eps * eps),
            2.0 * m / eps,
            l * cos,
            l * sin - deep
        )
    }

    /// A and B of (29) at an angle, its rate and a direction of friction mu_s.
    fn lcp(&self, (angle, rate): (f64, f64), mu: f64) -> (f64, f64) {
        let Self { l, m, i, .. } = *self;
        let (sin, cos) = angle.sin_cos();
        (1.0 / m + l * l / i * cos * (cos - mu * sin), l * rate * rate * sin - G - l * cos * self.moment / i)
    }

    /// The rigid rod that slides on its end, by (29) and Runge and Kutta's rule: angle, its rate, x of the centre and its rate at the time at which
    /// the slip vanishes or the force does, and that time.
    fn slides(&self, mu: f64, until: f64, velocity: f64) -> ([f64; 4], f64) {
        let Self { l, m, i, .. } = *self;
        let rate = |y: [f64; 4]| {
            let (a, b) = self.lcp((y[0], y[1]), mu);
            let (sin, cos) = y[0].sin_cos();
            let n = (-b / a).max(0.0);
            [y[1], (l * (mu * sin - cos) * n + self.moment) / i, y[3], mu * n / m]
        };
        let h = 1e-5;
        let start = self.angle.to_radians();
        let (mut y, mut t) = ([start, 0.0, l * start.cos(), velocity], 0.0);
        while t < until - 0.5 * h {
            let plus = |y: [f64; 4], k: [f64; 4], by: f64| std::array::from_fn(|j| y[j] + by * k[j]);
            let k1 = rate(y);
            let k2 = rate(plus(y, k1, 0.5 * h));
            let k3 = rate(plus(y, k2, 0.5 * h));
            let k4 = rate(plus(y, k3, h));
            y = std::array::from_fn(|j| y[j] + h / 6.0 * (k1[j] + 2.0 * k2[j] + 2.0 * k3[j] + k4[j]));
            t += h;
            let slip = y[3] + l * y[1] * y[0].sin();
            let (a, b) = self.lcp((y[0], y[1]), mu);
            if t > 1e-3 && (slip * mu > 0.0 || -b / a <= 0.0) {
                break;
            }
        }
        (y, t)
    }
}

#[test]
fn the_compliant_rod_tends_to_the_rigid_one_in_case_1() {
    // the lower end slides left, friction acts to the right
    let (_, reverses) = CASE_1.slides(CASE_1.mu, 1.0, 0.0);
    assert!((reverses - 0.2031).abs() < 1e-4, "{reverses}");
    let (exact, _) = CASE_1.slides(CASE_1.mu, 0.2, 0.0);
    let mut errors = vec![];
    for eps in [1e-2, 1e-3, 1e-4, 1e-5] {
        let seen = see(&CASE_1.scene(eps, 0.0, 0.0, "h = 1e-3\n duration = 0.25"));
        let at = &seen.states[199];
        let error = (at.position[2] - exact[0]).abs().max((at.position[0] - exact[2]).abs());
        let sticks = time_of(&seen, EventKind::Stick, 0.1);
        assert!((sticks - reverses).abs() < 0.3 * eps.sqrt(), "eps {eps}: {sticks} not {reverses}");
        assert!(seen.imbalance < 1e-9, "{:e}", seen.imbalance);
        errors.push(error);
    }
    // about linearly in eps
    for pair in errors.windows(2) {
        assert!((4.0..30.0).contains(&(pair[0] / pair[1])), "{errors:?}");
    }
}

#[test]
fn smooth_friction_has_no_jump_where_the_rod_reverses() {
    let step = "h = 1e-4\n duration = 0.22\n friction = ";
    let largest_jump = |text: &str| {
        let seen = see(text);
        let late = &seen.forces[1900..];
        late.windows(2).map(|w| (w[1][1] - w[0][1]).abs()).fold(0.0, f64::max)
    };
    let text = CASE_1.scene(1e-4, 0.0, 0.0, &format!("{step}{{ smooth = {{ velocity = 1e-2 }} }}"));
    let smooth = largest_jump(&text);
    let law = text.split("law = ").nth(1).unwrap().lines().next().unwrap();
    let rigid = text.replace(&format!("law = {law}"), "").replace("scheme = 'compliant'", "");
    let rigid = largest_jump(&rigid.replace("{ smooth = { velocity = 1e-2 } }", "'cone'"));
    // friction turns from + mu N to - mu N, about 0.2 N each
    assert!(rigid > 0.08 && smooth < 0.1 * rigid, "{rigid} {smooth}");
}

#[test]
fn the_contact_that_the_rod_keeps_in_case_2_is_unstable() {
    let (angle, mu) = (CASE_2.angle.to_radians(), CASE_2.mu);
    let (a, b) = CASE_2.lcp((angle, 0.0), mu);
    // two solutions: no contact, and the force -B/A (Table 1)
    assert!(a < 0.0 && b > 0.0, "{a} {b}");
    let force = -b / a;
    // from rest, the branch that keeps contact ends where the slip reverses: then A > 0, B > 0, and the rod leaves
    let (_, ends) = CASE_2.slides(mu, 1.0, 0.0);
    assert!((ends - 0.163).abs() < 2e-3, "{ends}");
    let mut before = f64::INFINITY;
    // at 1e-3 the branch itself moves by more than a thousandth within the transient
    for eps in [1e-4, 1e-5, 1e-6] {
        // (36) without rate
        let depth = eps * CASE_2.l * (force / (CASE_2.m * CASE_2.l)).sqrt();
        let step = "h = 1e-4\n duration = 0.05";
        let leaves = see(&CASE_2.scene(eps, 0.999 * depth, -0.3, step));
        let opens = time_of(&leaves, EventKind::Open, 0.0);
        assert!(opens < 0.5 * before, "eps {eps}: {opens} after {before}");
        before = opens;
        let stays = see(&CASE_2.scene(eps, 1.001 * depth, -0.3, step));
        // it does not separate: it jams, which is the rigid model's impact without collision
        assert_eq!(stays.events.first().map(|e| e.kind), Some(EventKind::Stick), "eps {eps}");
        let most = |s: &Seen| s.forces.iter().map(|f| f[0]).fold(0.0, f64::max);
        assert!(
            most(&leaves) < 1.01 * force && most(&stays) > 10.0 * force,
            "eps {eps}: {} {}",
            most(&leaves),
            most(&stays)
        );
    }
}

#[test]
fn the_balance_closes_where_a_contact_s_features_give_way_to_others() {
    // a cylinder that tumbles onto the edge of a box: the contact jumps from edge to edge while it carries force
    let text = "[[material]]\n name = 'default'\n friction = 0.5\n law = { kelvin_voigt = { stiffness = 9e5, damping = 140 } }
        [[world]]\n name = 'block'\n shape = { box = { half = [0.05, 0.05, 0.05] } }
        [[body]]\n name = 'cylinder'\n shape = { cylinder = { radius = 0.05, half_length = 0.06 } }\n mass = 1.5\n position = [0.055, 0.05, 0.155]
        velocity = [0, 0, -2.5]\n angular_velocity = [15, -25, 10]\n orientation = { quaternion = [0.8, 0.4, 0.2, 0.1] }
        [step]\n scheme = 'compliant'\n h = 1e-3\n duration = 0.1";
    let seen = see(text);
    let jumps = seen.events.windows(2).filter(|w| w[0].time == w[1].time && w[0].kind == EventKind::Open);
    assert!(jumps.count() > 0, "no contact jumps: {:?}", seen.events);
    assert!(seen.imbalance < 1e-8, "{:e}", seen.imbalance);
}
