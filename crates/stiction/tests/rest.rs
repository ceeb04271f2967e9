//! Rest is a candidate first: what begins at rest and can stay there does, although the step's problem has other solutions, and the run
//! says that there are. Expectations are equilibria of statics: closed forms, or linear programs over the forces (scipy), named with the scene.
#![allow(missing_docs)]

use std::fmt::Write as _;
use std::sync::Arc;
use stiction::inputs::Inputs;
use stiction::model::Model;
use stiction::run::{Observer, Options, Stepwise, Summary};
use stiction::scene::{Scene, Scheme};
use stiction::state::Trust;

/// What a run came to.
struct Run {
    /// Largest velocity after any step, and at the end.
    fastest: f64,
    last: f64,
    /// Largest residual.
    residual: f64,
    summary: Summary,
}

impl Run {
    fn steps(&self, trust: Trust) -> usize {
        self.summary.trust[trust as usize]
    }

    fn rests(&self, what: &str) {
        assert!(self.fastest < 1e-7, "{what}: moves at {:e}", self.fastest);
        assert!(self.residual <= 1e-10, "{what}: residual {:e}", self.residual);
    }
}

fn run(text: &str, change: impl FnOnce(&mut Scene), steps: usize) -> Run {
    let mut scene = Scene::from_toml("scene", text).unwrap_or_else(|e| panic!("{e}"));
    change(&mut scene);
    let model = Arc::new(Model::new(&scene).unwrap_or_else(|e| panic!("{e:?}")));
    let mut state = model.initial();
    let mut stepwise = Stepwise::new(&model, &state, &Options::default());
    let mut run = Run { fastest: 0.0, last: 0.0, residual: 0.0, summary: Summary::default() };
    run.summary.start(&mut stepwise.view(&state)).unwrap();
    for _ in 0..steps {
        let report = stepwise.step(&mut state, &Inputs::default()).unwrap_or_else(|why| panic!("{why}"));
        run.residual = run.residual.max(report.residual.relative);
        run.last = state.velocity.iter().fold(0.0, |m, v| m.max(v.abs()));
        run.fastest = run.fastest.max(run.last);
        run.summary.step(&mut stepwise.view(&state)).unwrap();
    }
    run
}

/// Links of 1 g on pins, over half of a drum of 0.5 m with friction 0.3; at the first end hang 10 N, at the last `ratio` times as much.
fn capstan(links: u32, ratio: f64) -> String {
    let (turn, thick) = (std::f64::consts::PI / f64::from(links), 0.005);
    let (radius, half) = (0.5 + thick, (0.5 + thick) * (0.5 * turn).tan());
    let mut out = String::from(
        "planar = true\n[[material]]\nname = \"default\"\nfriction = 0.3\n[[world]]\nname = \"drum\"\nshape = { sphere = { radius = 0.5 } }\n",
    );
    let (sin, cos) = (std::f64::consts::PI - 0.5 * turn).sin_cos();
    let inertia = 1e-3 / 3.0 * (half * half + thick * thick);
    write!(
        out,
        "[[body]]\nname = \"l0\"\nshape = {{ box = {{ half = [{half}, {thick}] }} }}\nmass = 1e-3\ninertia = {inertia}\nposition = [{}, {}]\nangle = {}\n",
        radius * cos,
        radius * sin,
        std::f64::consts::FRAC_PI_2 - 0.5 * turn
    )
    .unwrap();
    for k in 1..links {
        let mount = if k == 1 { half } else { 2.0 * half };
        write!(
            out,
            "[[body]]\nname = \"l{k}\"\nparent = \"l{}\"\njoint = {{ revolute = {{}} }}\nmount = {{ position = [{mount}, 0] }}\nmass = 1e-3\ncenter = [{half}, 0]\ninertia = {inertia}\nangle = {}\n[[body.part]]\nshape = {{ box = {{ half = [{half}, {thick}] }} }}\nposition = [{half}, 0]\n",
            k - 1,
            -turn
        )
        .unwrap();
    }
    write!(
        out,
        "[[load]]\nbody = \"l0\"\npoint = [{}, 0]\nforce = {{ constant = [0, -10] }}\n[[load]]\nbody = \"l{}\"\npoint = [{}, 0]\nforce = {{ constant = [0, {}] }}\n",
        -half,
        links - 1,
        2.0 * half,
        -10.0 * ratio
    )
    .unwrap();
    out
}

#[test]
fn a_capstan_holds_up_to_its_limit() {
    for scheme in [Scheme::Theta, Scheme::Implicit] {
        for (links, limit) in LIMITS {
            for share in [0.5, 0.8, 0.886, 0.95, 0.99] {
                for h in [1e-2, 1e-3, 1e-4] {
                    let set = |s: &mut Scene| (s.step.scheme, s.step.h) = (scheme, h);
                    let clock = std::time::Instant::now();
                    let found = run(&capstan(links, share * limit), set, 10);
                    eprintln!(
                        "{scheme:?} {links} links at {share} of the limit, h = {h}: {:e}, trust {:?}, rested {}, {:?}",
                        found.fastest,
                        found.summary.trust,
                        found.summary.rested,
                        clock.elapsed()
                    );
                }
            }
        }
    }
}

/// Links, and the largest ratio by a linear program over the forces of pins and contacts.
const LIMITS: [(u32, f64); 2] = [(20, 2.481_721_877), (40, 2.529_533_747)];
