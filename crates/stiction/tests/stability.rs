//! Which rigid solution is stable: song2001 Table 1, Theorems 5.1 and 5.2, (41), section 5.3 and case 2; song2004 (20).

use complementarity::eigen::eigenvalues;
use complementarity::matrix::Matrix;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::f64::consts::PI;
use std::sync::Arc;
use stiction::analysis::instant::Given;
use stiction::analysis::stability::{
    Analysis, Branch, Cluster, Dependence, Finite, Preferred, Question, Verdict, examine, outlook,
};
use stiction::model::Model;
use stiction::run::timeline::Timeline;
use stiction::run::{Ended, Fault, Observer, Options, View, run};
use stiction::step::{Status, Trust};

fn model(text: &str) -> Model {
    Model::new(&stiction::from_toml("test", text).unwrap()).unwrap()
}

fn at_start(model: &Model) -> Analysis {
    examine(model, &model.initial(), &Question::default()).unwrap()
}

fn only(analysis: &Analysis) -> &Cluster {
    assert_eq!(analysis.clusters.len(), 1);
    &analysis.clusters[0]
}

/// A rod on the ground, in the variables of song2001 section 5: half its length `l`, mass `m`, moment of inertia `i`, its lower end below and to the left
/// of the centre (`theta` above the horizontal), sliding at `slip`, loaded by `fy` beside nothing else.
#[derive(Debug, Clone, Copy)]
struct Rod {
    l: f64,
    m: f64,
    i: f64,
    theta: f64,
    mu: f64,
    slip: f64,
    fy: f64,
    torque: f64,
    omega: f64,
}

impl Rod {
    fn text(&self, law: &str, step: &str) -> String {
        let Self { l, m, i, theta, mu, slip, fy, torque, omega } = *self;
        let (x, y) = (l * theta.cos(), l * theta.sin());
        // the lower end moves along the ground at `slip`
        let velocity = [slip - omega * y, omega * x];
        format!(
            "planar = true\ngravity = [0, 0]\n[[material]]\nname = 'default'\nfriction = {mu:?}\nlaw = {law}\n\
             [[world]]\nname = 'ground'\nshape = 'half_space'\n[[body]]\nname = 'rod'\n\
             shape = {{ polygon = {{ vertices = [[{a:?}, 0], [0, {b:?}], [{l:?}, 0], [0, {c:?}]] }} }}\n\
             mass = {m:?}\ninertia = {i:?}\nposition = [{x:?}, {y:?}]\nangle = {theta:?}\nvelocity = {velocity:?}\nangular_velocity = {omega:?}\n\
             [[load]]\nbody = 'rod'\nforce = {{ constant = [0, {fy:?}] }}\ntorque = {{ constant = {torque:?} }}\n{step}",
            a = -l,
            b = -1e-3 * l,
            c = 1e-3 * l,
        )
    }

    /// (29) as the paper writes it, in its own units.
    fn closed_form(&self) -> [f64; 2] {
        let Self { l, m, i, theta, mu, slip, fy, torque, omega } = *self;
        let mu_s = -mu * slip.signum();
        let a = 1.0 / m + l * l * theta.cos() / i * (theta.cos() - mu_s * theta.sin());
        let b = l * omega * omega * theta.sin() + fy / m - l * theta.cos() * torque / i;
        [a, b]
    }
}

const CASE_2: Rod = Rod {
    l: 0.5,
    m: 1.0,
    i: 1.0 / 144.0,
    theta: 70.0 * PI / 180.0,
    mu: 1.0,
    slip: -0.3,
    fy: -9.81,
    torque: -1.0,
    omega: 0.0,
};

fn kinds(cluster: &Cluster) -> Vec<(&'static str, Verdict)> {
    let mut kinds: Vec<_> = cluster.branches.iter().map(|b| (b.kind(), b.verdict().unwrap())).collect();
    kinds.sort_by_key(|k| k.0);
    kinds
}

/// Rod, B times its mass, kinds and verdicts of the solutions, model, trust.
type Row = (Rod, f64, &'static [(&'static str, Verdict)], Preferred, Trust);

/// Table 1 with the corrected last rows, for the rod with loads that make every sign of A and B.
#[test]
fn table_1_comes_out_for_one_slipping_contact() {
    use Verdict::{Marginal, Stable, Unstable};
    // A > 0: slides the other way; A = 0 by mu; A < 0
    let positive = Rod { slip: 0.3, ..CASE_2 };
    let c = CASE_2.theta.cos();
    let critical = (1.0 + 36.0 * c * c) / (36.0 * c * CASE_2.theta.sin());
    let zero = Rod { mu: critical, ..CASE_2 };
    let signs = |rod: Rod, wanted: f64| {
        // B = 0: the force that balances the torque
        let balance = rod.l * rod.theta.cos() * rod.torque / rod.i * rod.m;
        Rod { fy: balance + wanted, ..rod }
    };
    let table: [Row; 9] = [
        (positive, 1.0, &[("open", Stable)], Preferred::Rigid, Trust::Unique),
        (positive, 0.0, &[("open", Stable)], Preferred::Rigid, Trust::Unique),
        (positive, -1.0, &[("slip", Stable)], Preferred::Rigid, Trust::Unique),
        (zero, 1.0, &[("open", Stable)], Preferred::Rigid, Trust::Unique),
        (zero, 0.0, &[("slip", Marginal)], Preferred::Compliant, Trust::MotionNotUnique),
        (zero, -1.0, &[], Preferred::Compliant, Trust::NoRigidSolution),
        (
            CASE_2,
            1.0,
            &[("open", Stable), ("slip", Unstable)],
            Preferred::StableBranch,
            Trust::MotionNotUnique,
        ),
        (CASE_2, 0.0, &[("open", Stable)], Preferred::Rigid, Trust::Unique),
        (CASE_2, -1.0, &[], Preferred::Compliant, Trust::NoRigidSolution),
    ];
    for (row, (rod, load, wanted, preferred, trust)) in table.into_iter().enumerate() {
        let rod = signs(rod, load);
        let [a, b] = rod.closed_form();
        let found = at_start(&model(&rod.text("'rigid'", "")));
        let cluster = only(&found);
        assert_eq!(kinds(cluster), wanted, "row {row}, A = {a}, B = {b}: {:?}", cluster.branches);
        assert_eq!((cluster.preferred, cluster.trust), (preferred, trust), "row {row}");
        let normalised = a / (1.0 / rod.m + (rod.l * rod.theta.cos()).powi(2) / rod.i);
        assert!(
            (cluster.margin.value - normalised).abs() < 1e-12,
            "row {row}: {:?} {normalised}",
            cluster.margin
        );
    }
}

fn random_rod(rng: &mut Pcg64Mcg) -> Rod {
    let (l, m): (f64, f64) = (rng.random_range(0.2..2.0), rng.random_range(0.1..10.0));
    Rod {
        l,
        m,
        // from a dumbbell to mass near the centre
        i: m * l * l * rng.random_range(0.02..0.6),
        theta: rng.random_range(0.2..1.4),
        mu: rng.random_range(0.0..3.0),
        slip: rng.random_range(0.1..1.0) * if rng.random_bool(0.5) { 1.0 } else { -1.0 },
        fy: rng.random_range(-20.0..20.0),
        torque: rng.random_range(-10.0..10.0),
        omega: rng.random_range(-2.0..2.0),
    }
}

fn laws(rod: &Rod, rng: &mut Pcg64Mcg) -> [String; 3] {
    let k = rod.m * 10f64.powf(rng.random_range(4.0..8.0));
    let c = 2.0 * (k * rod.m).sqrt() * rng.random_range(0.1..3.0);
    let alpha = rng.random_range(0.1..10.0);
    let beta = rng.random_range(1.0..3.0);
    [
        "'rigid'".to_owned(),
        format!("{{ kelvin_voigt = {{ stiffness = [{k:?}, {k:?}], damping = [{c:?}, {c:?}] }} }}"),
        format!(
            "{{ hunt_crossley = {{ stiffness = {k:?}, exponent = {beta:?}, dissipation = {alpha:?}, tangential_stiffness = {k:?}, \
             tangential_damping = {c:?} }} }}"
        ),
    ]
}

/// The end of the rod on a Kelvin-Voigt layer, full equations of motion, and whether a small deviation from the deformation that carries the solution's
/// force grows within a few times of the layer.
fn deviation_grows(rod: &Rod, k: f64, c: f64) -> bool {
    let [a, b] = rod.closed_form();
    let force = -b / a;
    let (mu_s, ratio) = (-rod.mu * rod.slip.signum(), 1.01);
    let depth = force / k;
    // y of the centre, theta and their rates; friction is that of the slip throughout
    let height = |theta: f64, y: f64| y - rod.l * theta.sin();
    let rate = |s: [f64; 4]| {
        let [y, theta, vy, omega] = s;
        let gap = height(theta, y);
        let closing = vy - rod.l * theta.cos() * omega;
        let n = (-k * gap - c * closing).max(0.0);
        let moment = rod.torque - n * rod.l * theta.cos() + mu_s * n * rod.l * theta.sin();
        [vy, omega, (rod.fy + n) / rod.m, moment / rod.i]
    };
    let start = |depth: f64| {
        [rod.l * rod.theta.sin() - depth, rod.theta, rod.l * rod.theta.cos() * rod.omega, rod.omega]
    };
    let gap = |s: [f64; 4]| height(s[1], s[0]);
    // two motions that begin with nearly the same deformation: the slow motion cancels in their difference
    let (mut one, mut other) = (start(depth), start(ratio * depth));
    let before = gap(one) - gap(other);
    let unit = (1.0 / (k * a.abs())).sqrt().max(c / k);
    let h = 0.005 * (1.0 / (k * a.abs())).sqrt().min(1.0 / (c * a.abs()));
    let step = |s: [f64; 4]| {
        let add = |s: [f64; 4], by: f64, r: [f64; 4]| [0, 1, 2, 3].map(|i| s[i] + by * r[i]);
        let k1 = rate(s);
        let k2 = rate(add(s, h / 2.0, k1));
        let k3 = rate(add(s, h / 2.0, k2));
        let k4 = rate(add(s, h, k3));
        [0, 1, 2, 3].map(|i| s[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]))
    };
    let steps = (8.0 * unit / h) as usize;
    for _ in 0..steps {
        (one, other) = (step(one), step(other));
    }
    ((gap(one) - gap(other)) / before).abs() > 1.0
}

/// Theorem 5.1: the solution that keeps contact is stable if and only if the sliding problem has one solution for every load (A > 0), whatever the
/// law; and of the solutions of one load at most one is stable. The deviation of a compliant rod, integrated, does the same.
#[test]
fn theorem_5_1_holds_for_random_rods_and_laws() {
    let mut rng = Pcg64Mcg::seed_from_u64(51);
    let (mut seen, mut integrated) = ([0; 4], [0; 2]);
    for _ in 0..300 {
        let rod = random_rod(&mut rng);
        let [a, b] = rod.closed_form();
        if a.abs() * rod.m < 1e-3 || b.abs() < 1e-3 {
            continue;
        }
        for (law, text) in laws(&rod, &mut rng).into_iter().enumerate() {
            let step = if law == 0 { "" } else { "[step]\nscheme = 'compliant'\n" };
            let found = at_start(&model(&rod.text(&text, step)));
            let cluster = only(&found);
            let kept = cluster.branches.iter().find(|b| b.kind() == "slip");
            assert_eq!(kept.is_some(), -b / a > 0.0, "{rod:?}");
            assert_eq!(cluster.trust == Trust::Unique, a > 0.0, "{rod:?}");
            let stable = cluster.branches.iter().filter(|b| b.verdict() == Some(Verdict::Stable)).count();
            assert!(stable <= 1);
            if let Some(kept) = kept {
                assert!((kept.contacts[0].force[0] * a / -b - 1.0).abs() < 1e-9);
                assert_eq!(kept.verdict() == Some(Verdict::Stable), a > 0.0, "{rod:?} {text}");
                assert_eq!(kept.verdict() == Some(Verdict::Unstable), a < 0.0, "{rod:?} {text}");
                let wanted = if law == 0 { Dependence::Proved } else { Dependence::Given };
                assert_eq!(kept.depends, Some(wanted));
            }
            seen[usize::from(a > 0.0) + 2 * usize::from(b > 0.0)] += 1;
        }
        if -b / a > 0.0 && integrated[usize::from(a > 0.0)] < 10 {
            integrated[usize::from(a > 0.0)] += 1;
            let k = 1e9 * rod.m;
            assert_eq!(deviation_grows(&rod, k, 2.0 * rod.m * 1e9f64.sqrt()), a < 0.0, "{rod:?}");
        }
    }
    assert!(seen.iter().all(|n| *n > 30) && integrated == [10, 10], "{seen:?} {integrated:?}");
}

/// Theorem 5.2: where a rod at rest goes on sticking as the only solution, that is stable, whatever the law.
#[test]
fn theorem_5_2_holds_for_random_rods_at_rest() {
    let mut rng = Pcg64Mcg::seed_from_u64(52);
    let (mut unique, mut several) = (0, 0);
    for _ in 0..200 {
        let rod = Rod { slip: 0.0, omega: 0.0, ..random_rod(&mut rng) };
        for (law, text) in laws(&rod, &mut rng).into_iter().enumerate() {
            let step = if law == 0 { "" } else { "[step]\nscheme = 'compliant'\n" };
            let found = at_start(&model(&rod.text(&text, step)));
            let cluster = only(&found);
            let stick = cluster.branches.iter().find(|b| b.kind() == "stick");
            if let Some(stick) = stick {
                assert_eq!(stick.verdict(), Some(Verdict::Stable), "{rod:?} {text}");
                assert!(!stick.transition);
                let alone = cluster.trust == Trust::Unique;
                unique += usize::from(alone);
                several += usize::from(!alone);
                assert_eq!(alone, cluster.preferred == Preferred::Rigid);
            }
            // the friction law is (9) in each solution
            for branch in &cluster.branches {
                let [n, t, _] = branch.contacts[0].force;
                assert!(n >= 0.0 && t.abs() <= rod.mu * n * (1.0 + 1e-9) + 1e-9);
            }
        }
    }
    assert!(unique > 50 && several > 3, "{unique} {several}");
}

/// (41): with smooth friction the rod always slips, with `mu tanh(v/gamma)`, and Theorem 5.1 holds at rest too.
#[test]
fn theorem_5_1_holds_with_smooth_friction_at_every_velocity() {
    let mut rng = Pcg64Mcg::seed_from_u64(41);
    let (mut stable, mut unstable) = (0, 0);
    for k in 0..200 {
        let gamma = 1e-2;
        let slip = [0.0, 1e-3, -1e-3, 1e-2, -1e-2, 0.3, -0.3][k % 7] * rng.random_range(0.5..2.0);
        let rod = Rod { slip, ..random_rod(&mut rng) };
        let law = &laws(&rod, &mut rng)[1];
        let step =
            format!("[step]\nscheme = 'compliant'\nfriction = {{ smooth = {{ velocity = {gamma:?} }} }}\n");
        let found = at_start(&model(&rod.text(law, &step)));
        let cluster = only(&found);
        let effective = Rod { mu: rod.mu * (slip.abs() / gamma).tanh(), ..rod };
        let [a, b] = effective.closed_form();
        if a.abs() * rod.m < 1e-3 || b.abs() < 1e-3 {
            continue;
        }
        assert_eq!(cluster.trust == Trust::Unique, a > 0.0, "{rod:?}");
        let kept: Vec<&Branch> =
            cluster.branches.iter().filter(|b| b.contacts[0].status != Status::Open).collect();
        assert_eq!(kept.len(), usize::from(-b / a > 0.0));
        for branch in kept {
            assert!((branch.contacts[0].force[0] * a / -b - 1.0).abs() < 1e-9);
            let creeps = branch.contacts[0].status == Status::Stick;
            assert_eq!(creeps, slip.abs() <= gamma);
            assert_eq!(branch.verdict(), Some(if a > 0.0 { Verdict::Stable } else { Verdict::Unstable }));
            (stable, unstable) = (stable + usize::from(a > 0.0), unstable + usize::from(a < 0.0));
        }
    }
    assert!(stable > 40 && unstable > 5, "{stable} {unstable}");
}

/// Section 5.3: an arm of two links with one contact; `A` from the arm's mass matrix in closed form.
#[test]
fn one_contact_on_jointed_bodies_is_decided_by_the_sign_of_a() {
    let mut rng = Pcg64Mcg::seed_from_u64(53);
    let (mut stable, mut unstable) = (0, 0);
    for _ in 0..200 {
        let (l, m): (f64, f64) = (1.0, 1.0);
        let [q1, q2] = [rng.random_range(-2.8..-0.3), rng.random_range(-2.8..-0.3)];
        let mu = rng.random_range(0.5..3.0);
        // point masses at the ends of the links, absolute angles
        let (c, i) = (f64::cos(q1 - q2), 1e-2);
        let mass = [[2.0 * m * l * l + i, m * l * l * c], [m * l * l * c, m * l * l + i]];
        let [down, along] = [[l * q1.cos(), l * q2.cos()], [-l * q1.sin(), -l * q2.sin()]];
        let determinant = mass[0][0] * mass[1][1] - mass[0][1] * mass[1][0];
        let product = |x: [f64; 2], y: [f64; 2]| {
            let solved = [mass[1][1] * y[0] - mass[0][1] * y[1], mass[0][0] * y[1] - mass[1][0] * y[0]];
            (x[0] * solved[0] + x[1] * solved[1]) / determinant
        };
        // rates with no normal velocity
        let size = rng.random_range(0.2..1.0);
        let w = [size * q2.cos(), -size * q1.cos()];
        let slip = along[0] * w[0] + along[1] * w[1];
        if slip.abs() < 1e-2 {
            continue;
        }
        let free = product(down, down);
        let a = (free - mu * slip.signum() * product(down, along)) / free;
        if a.abs() < 1e-3 {
            continue;
        }
        let ground = l * (q1.sin() + q2.sin());
        let arm = format!(
            "planar = true\ngravity = [0, -9.81]\n[[material]]\nname = 'default'\nfriction = {mu:?}\n\
             [[world]]\nname = 'ground'\nshape = 'half_space'\nposition = [0, {ground:?}]\n\
             [[body]]\nname = 'upper'\njoint = {{ revolute = {{}} }}\nmass = 1\ncenter = [1, 0]\ninertia = {i:?}\nangle = {q1:?}\n\
             angular_velocity = {w1:?}\n\
             [[body]]\nname = 'lower'\nparent = 'upper'\njoint = {{ revolute = {{}} }}\nmount = {{ position = [1, 0] }}\nmass = 1\n\
             center = [1, 0]\ninertia = {i:?}\nangle = {bend:?}\nangular_velocity = {turns:?}\n\
             shape = {{ polygon = {{ vertices = [[0.9, -0.001], [1, 0], [0.9, 0.001]] }} }}\n\
             [[load]]\nbody = 'lower'\ntorque = {{ constant = {torque:?} }}\n",
            torque = rng.random_range(-60.0..60.0),
            w1 = w[0],
            bend = q2 - q1,
            turns = w[1] - w[0],
        );
        let found = at_start(&model(&arm));
        let cluster = only(&found);
        assert!((cluster.margin.value - a).abs() < 1e-9 * (1.0 + a.abs()), "{a} {:?}", cluster.margin);
        assert_eq!(cluster.trust == Trust::Unique, a > 0.0);
        if let Some(kept) = cluster.branches.iter().find(|b| b.kind() == "slip") {
            assert_eq!(
                kept.verdict(),
                Some(if a > 0.0 { Verdict::Stable } else { Verdict::Unstable }),
                "{a}"
            );
            (stable, unstable) = (stable + usize::from(a > 0.0), unstable + usize::from(a < 0.0));
        }
    }
    assert!(stable > 20 && unstable > 3, "{stable} {unstable}");
}

fn text_of(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes").join(name);
    std::fs::read_to_string(path).unwrap()
}

/// Case 2 on its own Hunt-Crossley layer: separation is stable; keeping contact is not, and its rates solve `x^2 + A c x + A k = 0` with the slopes of
/// the law at the solution's force (38). From rest the end may stick too, which is stable.
#[test]
fn case_2_separates_and_from_rest_may_stick() {
    let text = text_of("song2001/case2-separates.toml");
    let found = at_start(&model(&text));
    let cluster = only(&found);
    assert_eq!(kinds(cluster), [("open", Verdict::Stable), ("slip", Verdict::Unstable)]);
    assert_eq!(cluster.preferred, Preferred::StableBranch);
    let [a, b] = CASE_2.closed_form();
    let kept = cluster.branches.iter().find(|b| b.kind() == "slip").unwrap();
    let force = kept.contacts[0].force[0];
    // it starts with an overlap, a little lower than the closed form has it
    assert!((force + b / a).abs() < 1e-3 && (force - 2.33).abs() < 0.01, "{force} {}", -b / a);
    let (stiffness, alpha) = (2e8, 133.333333);
    let depth = (force / stiffness).sqrt();
    let (k, c) = (2.0 * stiffness * depth, 1.5 * alpha * force);
    let layer = kept.layer.as_ref().unwrap();
    let root = ((a * c).powi(2) - 4.0 * a * k).sqrt();
    let wanted = [(-a * c + root) / 2.0, (-a * c - root) / 2.0];
    for (found, wanted) in layer.eigenvalues.iter().zip(wanted) {
        assert!((found[0] / layer.unit / wanted - 1.0).abs() < 1e-3 && found[1].abs() < 1e-9);
    }
    assert!((layer.time_constant().unwrap() * wanted[0] - 1.0).abs() < 1e-3);
    assert!(((cluster.margin.value * (1.0 + 36.0 * CASE_2.theta.cos().powi(2))) - a).abs() < 1e-2);

    let at_rest = text.replace("velocity = [-0.3, 0]", "velocity = [0, 0]");
    let found = at_start(&model(&at_rest));
    let cluster = only(&found);
    let wanted = [("open", Verdict::Stable), ("slip", Verdict::Unstable), ("stick", Verdict::Stable)];
    assert_eq!(kinds(cluster), wanted);
    assert_eq!((cluster.preferred, cluster.complete), (Preferred::Compliant, true));
    let begins: Vec<bool> = cluster.branches.iter().map(|b| b.transition).collect();
    assert_eq!(begins.iter().filter(|x| **x).count(), 2);
}

/// A box of 2 w by 2 h on its two lower corners, sliding or at rest, with a torque.
fn box_text(mu: f64, slip: f64, torque: f64, law: &str) -> String {
    format!(
        "planar = true\ngravity = [0, -9.81]\n[[material]]\nname = 'default'\nfriction = {mu:?}\nlaw = {law}\n\
         [[world]]\nname = 'ground'\nshape = 'half_space'\n[[body]]\nname = 'box'\n\
         shape = {{ polygon = {{ vertices = [[-{W:?}, -{H:?}], [{W:?}, -{H:?}], [{W:?}, {H:?}], [-{W:?}, {H:?}]] }} }}\n\
         mass = {M:?}\ninertia = {I:?}\nposition = [0, {H:?}]\nvelocity = [{slip:?}, 0]\n\
         [[load]]\nbody = 'box'\ntorque = {{ constant = {torque:?} }}\n[step]\nscheme = 'compliant'\n"
    )
}

const W: f64 = 0.1;
const H: f64 = 0.2;
const M: f64 = 2.0;
const I: f64 = M * (W * W + H * H) / 3.0;

/// Eigenvalues of the box on springs by central differences of its equations of motion, written out with sines and cosines.
fn box_rates(k: [f64; 2], c: [f64; 2], mu: f64, sticks: bool) -> Vec<[f64; 2]> {
    let field = |s: &[f64]| -> [f64; 6] {
        let (mut force, mut moment) = ([0.0, 0.0], 0.0);
        for corner in [[-W, -H], [W, -H]] {
            let (sin, cos) = s[2].sin_cos();
            let arm = [cos * corner[0] - sin * corner[1], sin * corner[0] + cos * corner[1]];
            let place = [s[0] + arm[0], s[1] + arm[1]];
            let velocity = [s[3] - s[5] * arm[1], s[4] + s[5] * arm[0]];
            let n = -k[0] * (place[1] + H) - c[0] * velocity[1];
            let t = match sticks {
                true => -k[1] * (place[0] - corner[0]) - c[1] * velocity[0],
                false => -mu * n,
            };
            force = [force[0] + t, force[1] + n];
            moment += arm[0] * n - arm[1] * t;
        }
        [s[3], s[4], s[5], force[0] / M, force[1] / M, moment / I]
    };
    let step = 1e-6;
    let jacobian = Matrix::from_fn(6, 6, |i, j| {
        let at = |by: f64| {
            let mut s = [0.0; 6];
            s[j] += by;
            field(&s)[i]
        };
        (at(step) - at(-step)) / (2.0 * step)
    });
    let mut rates = eigenvalues(&jacobian).unwrap();
    // what springs do not hold drifts
    rates.retain(|x| x[0].hypot(x[1]) > 1e-3 * (k[0] / M).sqrt());
    rates
}

fn sorted(mut rates: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    rates.sort_by(|x, y| x[0].total_cmp(&y[0]).then(x[1].total_cmp(&y[1])));
    rates
}

/// Two contacts, redundant where they stick (four rows, three directions): the eigenvalues are those of the full equations of motion.
#[test]
fn eigenvalues_are_those_of_the_full_equations_linearised() {
    let (k, c) = ([1e6, 7e5], [900.0, 400.0]);
    let law = format!(
        "{{ kelvin_voigt = {{ stiffness = [{:?}, {:?}], damping = [{:?}, {:?}] }} }}",
        k[0], k[1], c[0], c[1]
    );
    for (mu, slip, torque, kind, count) in
        [(0.3, 0.0, 0.0, "stick", 6), (0.3, 0.5, 0.0, "slip", 4), (1.5, 0.5, 1.5 * M * 9.81 * H, "slip", 4)]
    {
        let found = at_start(&model(&box_text(mu, slip, torque, &law)));
        let cluster = only(&found);
        let loaded = |b: &&Branch| b.kind() == kind && b.contacts.iter().all(|c| c.status != Status::Open);
        let branch = cluster.branches.iter().find(loaded).unwrap();
        let layer = branch.layer.as_ref().unwrap();
        let ours: Vec<[f64; 2]> = layer.eigenvalues.iter().map(|e| e.map(|x| x / layer.unit)).collect();
        let theirs = box_rates(k, c, mu, kind == "stick");
        assert_eq!((ours.len(), theirs.len()), (count, count), "{kind}: {ours:?} {theirs:?}");
        for (x, y) in sorted(ours).iter().zip(sorted(theirs)) {
            let size = y[0].hypot(y[1]);
            assert!((x[0] - y[0]).hypot(x[1] - y[1]) < 1e-5 * size, "{kind}: {x:?} {y:?}");
        }
        assert_eq!(branch.depends, Some(Dependence::Given));
    }
}

/// A tall box that slides with both corners loaded and `A < 0` at the leading one: whether that is stable depends on the layer, and the report says so.
#[test]
fn with_two_slipping_contacts_the_verdict_can_depend_on_the_layer() {
    let mu = 2.5;
    // the torque that leaves the load even
    let text = box_text(mu, 0.5, mu * M * 9.81 * H, "'rigid'").replace("scheme = 'compliant'", "h = 1e-3");
    let found = at_start(&model(&text));
    let cluster = only(&found);
    let leading = (1.0 / M + (W * W - mu * W * H) / I) / (1.0 / M + W * W / I);
    assert!(leading < 0.0 && (cluster.margin.value - leading).abs() < 1e-9, "{leading} {:?}", cluster.margin);
    let both = cluster.branches.iter().find(|b| b.contacts.iter().all(|c| c.status == Status::Slip)).unwrap();
    assert!(matches!(both.depends, Some(Dependence::Varies { .. })), "{both:?}");
    // what was tried, written out: the leading corner's spring softer or stiffer
    let soft = |k: [f64; 2]| {
        let friction = -mu * H / I;
        let a = |x: f64, y: f64| 1.0 / M + x * y / I + friction * x;
        // trace of A K decides the sign of the sum of the eigenvalues' squares
        k[0] * a(-W, -W) + k[1] * a(W, W)
    };
    assert!(soft([1.0, 10.0]) * soft([10.0, 1.0]) < 0.0);
    // low friction: the same for all that were tried
    let calm = box_text(0.2, 0.5, 0.0, "'rigid'").replace("scheme = 'compliant'", "h = 1e-3");
    let found = at_start(&model(&calm));
    let cluster = only(&found);
    assert_eq!(kinds(cluster), [("slip", Verdict::Stable)]);
    assert!(matches!(cluster.branches[0].depends, Some(Dependence::Tried(_))));
    assert_eq!(cluster.preferred, Preferred::Rigid);
}

/// song2004 (20): a ball between walls at rest can be wedged; one that slides along them cannot, for friction then adds up; on the ground nothing
/// balances.
#[test]
fn condition_20_fails_where_contacts_are_wedged() {
    let channel = |speed: f64| {
        format!(
            "planar = true\ngravity = [0, -9.81]\n[[material]]\nname = 'default'\nfriction = 0.5\n\
             [[world]]\nname = 'left'\nshape = {{ polygon = {{ vertices = [[-0.5, -1], [0.5, -1], [0.5, 1], [-0.5, 1]] }} }}\nposition = [-0.6, 0]\n\
             [[world]]\nname = 'right'\nshape = {{ polygon = {{ vertices = [[-0.5, -1], [0.5, -1], [0.5, 1], [-0.5, 1]] }} }}\nposition = [0.6, 0]\n\
             [[body]]\nname = 'ball'\nshape = {{ sphere = {{ radius = 0.1 }} }}\nmass = 1\nvelocity = [0, {speed:?}]\n"
        )
    };
    let found = at_start(&model(&channel(0.0)));
    assert_eq!(only(&found).wedged, Some(vec![0, 1]));
    assert_eq!(only(&found).finite, Finite::No);
    let found = at_start(&model(&channel(-1.0)));
    assert_eq!(only(&found).wedged, Some(vec![]));
    let resting = box_text(0.5, 0.0, 0.0, "'rigid'").replace("scheme = 'compliant'", "h = 1e-3");
    let found = at_start(&model(&resting));
    let cluster = only(&found);
    assert_eq!((cluster.wedged.as_deref(), cluster.trust), (Some(&[][..]), Trust::ForcesNotUnique));
    assert_eq!(cluster.preferred, Preferred::Rigid);
}

/// Bodies that do not touch each other are clusters of their own, in space too: a table on four legs, a sliding ball and one in the air.
#[test]
fn clusters_are_examined_apart_and_the_outlook_sums_them_up() {
    let text = "[[material]]\nname = 'default'\nfriction = 0.4\n[[world]]\nname = 'ground'\nshape = 'half_space'\n\
        [[body]]\nname = 'box'\nshape = { box = { half = [0.5, 0.5, 0.1] } }\nmass = 1\nposition = [0, 0, 0.1]\n\
        [[body]]\nname = 'ball'\nshape = { sphere = { radius = 0.1 } }\nmass = 1\nposition = [3, 0, 0.1]\nvelocity = [1, 0, 0]\n\
        [[body]]\nname = 'bird'\nshape = { sphere = { radius = 0.1 } }\nmass = 1\nposition = [6, 0, 2]\n";
    let model = model(text);
    let found = at_start(&model);
    let sizes: Vec<usize> = found.clusters.iter().map(|c| c.contacts.len()).collect();
    assert_eq!(sizes, [4, 1]);
    assert!(found.clusters.iter().all(|c| c.preferred == Preferred::Rigid), "{:?}", found.clusters);
    // four contacts of three rows each in six directions
    let layer = found.clusters[0].branches[0].layer.as_ref().unwrap();
    assert_eq!((layer.q.rows(), layer.eigenvalues.len(), layer.verdict), (6, 12, Verdict::Stable));
    assert_eq!(found.clusters[1].trust, Trust::Unique);
    let look = outlook(&model, &model.initial(), &Question::default()).unwrap();
    assert_eq!((look.contacts, look.stable), (5, look.unique));
    // a ball: the force through its centre turns it, but does not lift it
    assert!((look.margin - 1.0).abs() < 1e-12);
    // the stated layer
    let spring = stiction::contact::StatedLayer::default().spring(2.0);
    assert!((spring.stiffness - 2e6).abs() < 1e-3 && (spring.damping - 4e3).abs() < 1e-6);
}

/// Where an instant has no accelerations the reason is told.
#[test]
fn impacts_and_belts_are_refused_by_name() {
    let falls = CASE_2.text("'rigid'", "").replace("velocity = [-0.3, 0.0]", "velocity = [-0.3, -1.0]");
    let m = model(&falls);
    let why = examine(&m, &m.initial(), &Question::default()).unwrap_err().to_string();
    assert!(why.contains("ground/rod#0") && why.contains("normal velocity -1"), "{why}");
    let given = Given { gap: 1e-3, ..Given::default() };
    assert!(examine(&m, &m.initial(), &Question { given, ..Question::default() }).is_err());
}

/// Compares the margin of a rod that a cart pushes ahead with `A` from their mass matrix, at the records of a run.
#[derive(Default)]
struct Along {
    compared: usize,
    least: f64,
}

impl Observer for Along {
    fn step(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        let [x, angle] = view.state.position[..] else { unreachable!() };
        let [v, omega] = view.state.velocity[..] else { unreachable!() };
        let (sin, cos) = angle.sin_cos();
        let (normal, along) = ([10f64.to_radians().sin(), 10f64.to_radians().cos()], [1.0, 0.0]);
        let along = [along[0] * normal[1], -along[0] * normal[0]];
        // rows over the velocities of cart and rod
        let row = |d: [f64; 2]| [d[0], 0.5 * (d[1] * cos - d[0] * sin)];
        let (n, t) = (row(normal), row(along));
        let slip = t[0] * v + t[1] * omega;
        let start = [0.5 * 40f64.to_radians().cos(), -0.5 * 40f64.to_radians().sin()];
        let gap = normal[0] * (x + 0.5 * cos - start[0]) + normal[1] * (0.5 * sin - start[1]);
        if !view.is_record || slip < 0.1 || gap.abs() > 1e-7 {
            return Ok(());
        }
        let model = view.model().clone();
        let found = outlook(&model, view.state, &Question::default().after_steps(&model))?;
        let mass = [[101.0, -0.25 * sin], [-0.25 * sin, 1.0 / 48.0 + 1.0 / 16.0]];
        let determinant = mass[0][0] * mass[1][1] - mass[0][1] * mass[1][0];
        let product = |x: [f64; 2], y: [f64; 2]| {
            let solved = [mass[1][1] * y[0] - mass[0][1] * y[1], mass[0][0] * y[1] - mass[1][0] * y[0]];
            (x[0] * solved[0] + x[1] * solved[1]) / determinant
        };
        let a = 1.0 - product(n, t) / product(n, n);
        assert_eq!(found.contacts, 1);
        assert!((found.margin - a).abs() < 1e-9, "{} {a}", found.margin);
        assert_eq!((found.unique, found.stable), (Some(a > 0.0), Some(a > 0.0)), "{a}");
        (self.compared, self.least) = (self.compared + 1, self.least.min(a));
        Ok(())
    }
}

/// The margin falls with `A` until it is near 0; then the slip is stopped.
#[test]
fn along_a_run_the_margin_falls_before_the_solution_is_lost() {
    let scene = stiction::from_toml("painleve", &text_of("song2001/analyze-painleve.toml")).unwrap();
    let model = Arc::new(Model::new(&scene).unwrap());
    let (mut along, mut timeline) =
        (Along { least: 1.0, ..Along::default() }, Timeline::new(Question::default(), [0.0, 0.8], 41));
    let mut observers: [&mut dyn Observer; 2] = [&mut along, &mut timeline];
    let ended = run(&model, &mut model.initial(), &Options::default(), &mut observers).unwrap();
    assert_eq!(ended, Ended::Finished);
    assert!(along.compared > 300 && along.least < 0.05, "{} {}", along.compared, along.least);
    assert_eq!(timeline.moments.len(), 41);
    let episodes = timeline.episodes(&model);
    assert_eq!((episodes[0].name.as_str(), episodes[0].preferred), ("slope, rod", Preferred::Rigid));
    assert_eq!(episodes[0].solutions, [("slip", Some(Verdict::Stable))]);
    assert!(episodes[0].span[1] > 0.4 && episodes[0].margin > 0.0);
}
