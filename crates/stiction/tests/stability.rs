//! Which rigid solution is stable: song2001 Table 1, Theorems 5.1 and 5.2, (41), section 5.3 and case 2; song2004 (20).

use complementarity::eigen::eigenvalues;
use complementarity::matrix::Matrix;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::f64::consts::PI;
use stiction::analysis::instant::Given;
use stiction::analysis::stability::{
    Analysis, Branch, Cluster, Dependence, Finite, Layer, Preferred, Question, Verdict, examine, outlook,
};
use stiction::model::Model;
use stiction::scene::Scene;
use stiction::step::{Status, Trust};

fn model(text: &str) -> Model {
    Model::new(&Scene::from_toml(text).unwrap()).unwrap()
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
    let table: [(Rod, f64, &[(&str, Verdict)], Preferred, Trust); 9] = [
        (positive, 1.0, &[("open", Stable)], Preferred::Rigid, Trust::Unique),
        (positive, 0.0, &[("open", Stable)], Preferred::Rigid, Trust::Unique),
        (positive, -1.0, &[("slip", Stable)], Preferred::Rigid, Trust::Unique),
        (zero, 1.0, &[("open", Stable)], Preferred::Rigid, Trust::Unique),
        (zero, 0.0, &[("slip", Marginal)], Preferred::Compliant, Trust::MotionNotUnique),
        (zero, -1.0, &[], Preferred::Compliant, Trust::NoRigidSolution),
        (CASE_2, 1.0, &[("open", Stable), ("slip", Unstable)], Preferred::StableBranch, Trust::MotionNotUnique),
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
        assert!((cluster.margin.value - normalised).abs() < 1e-12, "row {row}: {:?} {normalised}", cluster.margin);
    }
}
