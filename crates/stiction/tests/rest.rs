//! Rest is a candidate first: what begins at rest and can stay there does, although the step's problem has other solutions, and the run
//! says that there are. Expectations are equilibria of statics: closed forms, or linear programs over the forces (scipy), named with the scene.

use crate::capstan::capstan;
use std::fmt::Write as _;
use std::sync::Arc;
use stiction::inputs::Inputs;
use stiction::model::Model;
use stiction::run::{Observer, Options, Stepwise, Summary};
use stiction::scene::{Branch, Scene, Scheme};
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
        assert!(self.fastest < 1e-6, "{what}: moves at {:e}", self.fastest);
        assert!(self.residual <= 1e-10, "{what}: residual {:e}", self.residual);
    }
}

fn run(text: &str, change: impl FnOnce(&mut Scene), steps: usize) -> Run {
    let mut scene = stiction::from_toml("scene", text).unwrap_or_else(|e| panic!("{e}"));
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

/// Links, and the largest ratio by a linear program over the forces of pins and contacts, weight included.
const LIMITS: [(u32, f64); 2] = [(20, 2.481_721_877), (40, 2.529_533_747)];

#[test]
fn a_capstan_holds_up_to_its_limit_and_no_further() {
    for (links, limit) in LIMITS {
        for h in [1e-2, 1e-3, 1e-4] {
            for share in [0.5, 0.8, 0.886, 0.95, 0.99] {
                let found = run(&capstan(links, share * limit), |s| s.step.h = h, 10);
                assert!(
                    found.fastest < 1e-6,
                    "{links} links, {share} of the limit, h = {h}: {:e}",
                    found.fastest
                );
                assert!(found.residual <= 1e-10);
            }
            let found = run(&capstan(links, 1.01 * limit), |s| s.step.h = h, 10);
            assert!(found.last > h, "{links} links beyond the limit, h = {h}: {:e}", found.last);
            assert_eq!(found.summary.rested.steps, 0);
        }
    }
    for share in [0.5, 0.99, 1.01] {
        let set = |s: &mut Scene| s.step.scheme = Scheme::Implicit;
        let found = run(&capstan(20, share * LIMITS[0].1), set, 10);
        assert_eq!(found.fastest < 1e-6, share < 1.0, "implicit, {share} of the limit: {:e}", found.fastest);
    }
}

#[test]
fn the_run_says_that_another_motion_is_known() {
    let scene = capstan(20, 2.2);
    let found = run(&scene, |_| (), 50);
    found.rests("a capstan at 2.2");
    assert_eq!(found.steps(Trust::MotionNotUnique), 50);
    assert!(found.summary.rested.steps > 0 && found.summary.rested.first > 0.0);
    assert!(found.summary.first_without_motion.as_ref().is_some_and(|(_, rows)| !rows.is_empty()));
    let model = Model::new(&stiction::from_toml("scene", &scene).unwrap()).unwrap();
    let warnings = found.summary.motion_warnings(&model);
    assert!(warnings.len() == 1 && warnings[0].message.contains("drum"), "{warnings:?}");
    // the motion that the solver finds
    let other = run(&scene, |s| s.step.branch = Branch::Nearest, 10);
    assert!(other.fastest > 1e-3 && other.summary.rested.steps == 0, "{:e}", other.fastest);
}

/// A wedge in a groove without weight, of this angle to the middle, pulled out with so many newtons.
fn wedge(angle_deg: f64, pull: f64) -> String {
    let tan = angle_deg.to_radians().tan();
    let (low, high) = (0.03 - 0.02 * tan, 0.03 + 0.02 * tan);
    format!(
        "planar = true\ngravity = [0, 0]\n[[material]]\nname = \"default\"\nfriction = 0.3\n\
         [[world]]\nname = \"right\"\nshape = \"half_space\"\nposition = [0.03, 0]\nangle_deg = {}\n\
         [[world]]\nname = \"left\"\nshape = \"half_space\"\nposition = [-0.03, 0]\nangle_deg = {}\n\
         [[body]]\nname = \"wedge\"\nmass = 0.5\n\
         shape = {{ polygon = {{ vertices = [[{}, -0.02], [{low}, -0.02], [{high}, 0.02], [{}, 0.02]] }} }}\n\
         [[load]]\nbody = \"wedge\"\nforce = {{ constant = [0, {pull}] }}\n",
        90.0 - angle_deg,
        angle_deg - 90.0,
        -low,
        -high
    )
}

/// The friction angle is 16.7 degrees. Below it friction could hold the wedge against any pull, if its faces were pressed; nothing presses them.
#[test]
fn a_wedge_that_nothing_presses_leaves_and_one_that_is_pushed_stays() {
    for scheme in [Scheme::Theta, Scheme::Implicit] {
        for h in [1e-2, 1e-3, 1e-4] {
            let set = |s: &mut Scene| (s.step.scheme, s.step.h) = (scheme, h);
            for (angle, holds_itself) in [(10.0, true), (20.0, false)] {
                let found = run(&wedge(angle, 5.0), set, 10);
                assert!((found.last - 10.0 * h * 5.0 / 0.5).abs() < 1e-9, "{scheme:?}: {}", found.last);
                // gaps of rounding over shorter steps are above the tolerance, for walls that cannot give way
                let known = holds_itself && h >= 1e-3;
                assert_eq!(found.summary.left_rest.steps, usize::from(known), "{angle}, {scheme:?}, {h}");
                assert_eq!(found.steps(Trust::MotionNotUnique) > 0, known, "{:?}", found.summary.trust);
                let found = run(&wedge(angle, -5.0), set, 10);
                found.rests("a wedge that is pushed");
                assert_eq!(found.summary.left_rest.steps + found.summary.rested.steps, 0);
            }
        }
    }
}

/// A block of 4.905 N between walls at these places.
fn slot(walls: &str) -> String {
    format!(
        "planar = true\n[[material]]\nname = \"default\"\nfriction = 0.5\n{walls}\
         [[body]]\nname = \"block\"\nmass = 0.5\nshape = {{ box = {{ half = [0.05, 0.05] }} }}\n"
    )
}

/// Walls that could press on the block as hard as holding it takes, and jaws that do press.
#[test]
fn a_block_falls_from_an_exact_slot_and_is_held_by_jaws() {
    let walls = "[[world]]\nname = \"right\"\nshape = \"half_space\"\nposition = [0.05, 0]\nangle_deg = 90\n\
                 [[world]]\nname = \"left\"\nshape = \"half_space\"\nposition = [-0.05, 0]\nangle_deg = -90\n";
    let jaws = |force: f64| {
        let jaw = |name: &str, sign: f64| {
            format!(
                "[[body]]\nname = \"{name}\"\nmass = 1\njoint = {{ prismatic = {{ axis = [1, 0] }} }}\nmount = {{ position = [{}, 0] }}\n\
                 shape = {{ box = {{ half = [0.05, 0.08] }} }}\n[[load]]\nbody = \"{name}\"\nforce = {{ constant = [{}, 0] }}\n",
                0.1 * sign,
                -force * sign
            )
        };
        jaw("right", 1.0) + &jaw("left", -1.0)
    };
    for scheme in [Scheme::Theta, Scheme::Implicit] {
        for h in [1e-2, 1e-3, 1e-4] {
            let set = |s: &mut Scene| (s.step.scheme, s.step.h) = (scheme, h);
            // over shorter steps gaps of rounding, which walls cannot give way to, let them brake it
            if h >= 1e-3 {
                let found = run(&slot(walls), set, 10);
                assert!(
                    (found.last - 9.81 * 10.0 * h).abs() < 1e-4 * h,
                    "{scheme:?}, h = {h}: {:e}",
                    found.last
                );
                // the walls could brake it at any time
                let steps = (found.steps(Trust::MotionNotUnique), found.summary.left_rest.steps);
                assert_eq!(steps, (10, 1), "{:?}", found.summary.trust);
            }
            let found = run(&slot(&jaws(5.0)), set, 20);
            found.rests("a block between jaws of 5 N");
            assert_eq!(found.summary.left_rest.steps, 0);
            // 4.8 N of friction hold it back
            let found = run(&slot(&jaws(4.8)), set, 10);
            assert!(
                (found.last - (9.81 - 4.8 / 0.5) * 10.0 * h).abs() < 1e-8,
                "{scheme:?}, h = {h}: {:e}",
                found.last
            );
        }
    }
}

/// One cylinder on two: it stands if friction between cylinders is above tan(15 degrees) = 0.268, and on the ground above a third of that.
#[test]
fn a_pile_of_three_cylinders_stands_with_enough_friction() {
    for (friction, stands) in [(0.28, true), (0.26, false)] {
        let mut text = format!(
            "planar = true\n[[material]]\nname = \"default\"\nfriction = {friction}\n[[world]]\nname = \"ground\"\nshape = \"half_space\"\n"
        );
        for (k, at) in [[-0.1, 0.1], [0.1, 0.1], [0.0, 0.1 + 0.03f64.sqrt()]].iter().enumerate() {
            write!(text, "[[body]]\nname = \"c{k}\"\ndensity = 100\nshape = {{ sphere = {{ radius = 0.1 }} }}\nposition = {at:?}\n")
                .unwrap();
        }
        for h in [1e-2, 1e-3] {
            let found = run(&text, |s| s.step.h = h, 20);
            assert_eq!(found.last < 1e-6, stands, "{friction}, h = {h}: {:e}", found.last);
            assert_eq!(found.summary.left_rest.steps, 0);
        }
    }
}

/// A uniform ladder with friction 0.4 at both ends stands above atan((1 - 0.16) / 0.8) = 46.4 degrees.
#[test]
fn a_ladder_stands_above_its_angle() {
    for scheme in [Scheme::Theta, Scheme::Implicit, Scheme::Event] {
        for (angle, stands) in [(60.0f64, true), (46.6, true), (46.2, false), (30.0, false)] {
            let (sin, cos) = angle.to_radians().sin_cos();
            let text = format!(
                "planar = true\n[[material]]\nname = \"default\"\nfriction = 0.4\n\
                 [[world]]\nname = \"floor\"\nshape = \"half_space\"\n\
                 [[world]]\nname = \"wall\"\nshape = \"half_space\"\nangle_deg = -90\n\
                 [[body]]\nname = \"ladder\"\nmass = 8\ninertia = 0.6667\nposition = [{}, {}]\nangle_deg = {}\n\
                 shape = {{ polygon = {{ vertices = [[-0.5, 0], [0, -0.001], [0.5, 0], [0, 0.001]] }} }}\n",
                0.5 * cos,
                0.5 * sin,
                180.0 - angle
            );
            let found = run(&text, |s| s.step.scheme = scheme, 50);
            assert_eq!(found.last < 1e-6, stands, "{scheme:?}, {angle} degrees: {:e}", found.last);
        }
    }
}

/// Half a ring of stones stands on its own if it is thicker than 0.1075 of its mean radius (Milankovitch 1907), with friction enough.
#[test]
fn an_arch_stands_if_it_is_thick_enough() {
    const STONES: u32 = 12;
    for (thick, stands) in [(0.15f64, true), (0.12, true), (0.09, false)] {
        let mut text = String::from(
            "planar = true\n[[material]]\nname = \"default\"\nfriction = 0.7\n[[world]]\nname = \"ground\"\nshape = \"half_space\"\n",
        );
        let half = 0.5 * std::f64::consts::PI / f64::from(STONES);
        // in the stone's own axes, x along its radius
        let corner = |r: f64, sign: f64| [r * half.cos(), sign * r * half.sin()];
        let (inner, outer) = (1.0 - 0.5 * thick, 1.0 + 0.5 * thick);
        let vertices = [corner(inner, -1.0), corner(outer, -1.0), corner(outer, 1.0), corner(inner, 1.0)];
        for k in 0..STONES {
            let at = half * (2.0 * f64::from(k) + 1.0);
            write!(
                text,
                "[[body]]\nname = \"s{k}\"\ndensity = 1000\nangle = {at}\nshape = {{ polygon = {{ vertices = {vertices:?} }} }}\n"
            )
            .unwrap();
        }
        let found = run(&text, |_| (), 100);
        assert_eq!(found.last < 1e-5, stands, "thickness {thick}: {:e}", found.last);
    }
}

/// song2001's second case from rest: three motions, of which the one with the end at rest is taken. About the end
/// `(I + m l^2) alpha = M - m g x`.
#[test]
fn of_the_motions_of_a_rod_the_one_whose_end_rests_is_taken() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/song2001/analyze-case2-rest.toml");
    let text = std::fs::read_to_string(path).unwrap();
    let x: f64 = 0.171_010_071_662_834;
    let alpha = (-1.0 - 9.81 * x) / (0.006_944_444_444_44 + 0.25);
    let found = run(&text, |_| (), 1);
    assert!((found.last - 1e-4 * alpha.abs()).abs() < 1e-7, "{} {alpha}", found.last / 1e-4);
    assert_eq!(found.summary.rested.steps, 1);
    // the other branch leaves the ground: I alpha = M
    let found = run(&text, |s| s.step.branch = Branch::Nearest, 1);
    assert!((found.last - 1e-4 / 0.006_944_444_444_44).abs() < 1e-7, "{}", found.last / 1e-4);
}

#[test]
fn rest_is_relative_to_what_bodies_touch() {
    let moves = "motion = { position = { points = [{ time = 0, value = [0, 0] }, { time = 1, value = [0.2, 0] }] } }\n";
    let mut text = capstan(20, 2.2).replace("name = \"drum\"\n", &format!("name = \"drum\"\n{moves}"));
    text = text.replace("name = \"l0\"\n", "name = \"l0\"\nvelocity = [0.2, 0]\n");
    let found = run(&text, |_| (), 20);
    assert!((found.last - 0.2).abs() < 1e-6 && (found.fastest - 0.2).abs() < 1e-6, "{}", found.fastest);
    assert!(found.summary.rested.steps > 0);
}
