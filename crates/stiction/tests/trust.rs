//! What a run knows of its solutions beside their residual.

use std::sync::Arc;
use stiction::model::Model;
use stiction::run::{Ended, EventKind, Options, Summary, run};
use stiction::step::Trust;

fn summary(text: &str) -> Summary {
    let scene = stiction::from_toml("trust.toml", text).expect("a valid scene");
    let model = Arc::new(Model::new(&scene).expect("a valid model"));
    let (mut state, mut summary) = (model.initial(), Summary::default());
    let ended = run(&model, &mut state, &Options::default(), &mut [&mut summary]).expect("no observer fails");
    assert_eq!(ended, Ended::Finished);
    summary
}

/// A rod of 1 kg and 1 m slides on its lower end at 60 degrees with friction 3.
fn rod(velocity: f64) -> String {
    format!(
        "planar = true\n[[material]]\nname = \"default\"\nfriction = 3\n\
         [[world]]\nname = \"ground\"\nshape = \"half_space\"\n\
         [[body]]\nname = \"rod\"\nmass = 1\ninertia = {}\nposition = [0.25, {}]\nangle_deg = 60\nvelocity = [{velocity}, 0]\n\
         shape = {{ polygon = {{ vertices = [[-0.5, 0], [0, -0.001], [0.5, 0], [0, 0.001]] }} }}\n\
         [step]\nduration = 0.01\n",
        1.0 / 12.0,
        0.75f64.sqrt() / 2.0
    )
}

/// Painleve: with `A_nn = 7/4`, `A_nt = -sqrt(27)/4`, `A_tt = 13/4` a slip to the left has no finite forces for mu above 4/3 (the normal force accelerates the
/// end downwards); the rod is stopped by the impulse that solves `A p = (g h, 2)`.
#[test]
fn slip_without_a_rigid_solution_is_an_impact() {
    let found = summary(&rod(-2.0));
    assert_eq!(found.count(EventKind::ImpactWithoutCollision), 1);
    assert_eq!(found.trust[Trust::NoRigidSolution as usize], 1);
    let impact = found.first_impact.expect("an impact");
    let (nn, nt, tt) = (1.75, -27f64.sqrt() / 4.0, 3.25);
    let impulse = (tt * 9.81e-3 - nt * 2.0) / (nn * tt - nt * nt);
    assert!((impact.impulse - impulse).abs() < 1e-9, "{} of {impulse}", impact.impulse);
    // to the right the rod is dragged, and slips on
    let found = summary(&rod(2.0));
    assert_eq!(
        (found.count(EventKind::ImpactWithoutCollision), found.trust[Trust::NoRigidSolution as usize]),
        (0, 0)
    );
}

/// The same rod as wide as a plank: it stands on two points, which share the impulse.
#[test]
fn a_plank_on_its_edge_jams_like_the_rod() {
    let plank = |velocity: f64| {
        let ridge = |x: f64, z: f64| format!("[{x}, 0.1, {z}], [{x}, -0.1, {z}]");
        let vertices = [ridge(-0.5, 0.0), ridge(0.5, 0.0), ridge(0.0, 0.001), ridge(0.0, -0.001)].join(", ");
        format!(
            "[[material]]\nname = \"default\"\nfriction = 3\n{GROUND}\
             [[body]]\nname = \"plank\"\nmass = 1\ninertia = [1, {}, 1]\nposition = [0.25, 0, {}]\n\
             orientation = {{ axis = [0, -1, 0], angle_deg = 60 }}\nvelocity = [{velocity}, 0, 0]\n\
             shape = {{ polytope = {{ vertices = [{vertices}] }} }}\n[step]\nduration = 0.01\n",
            1.0 / 12.0,
            0.75f64.sqrt() / 2.0
        )
    };
    let found = summary(&plank(-2.0));
    assert_eq!(found.count(EventKind::ImpactWithoutCollision), 2);
    assert_eq!(found.trust[Trust::NoRigidSolution as usize], 1);
    let impulse = found.first_impact.expect("an impact").impulse;
    let (nn, nt, tt) = (1.75, -27f64.sqrt() / 4.0, 3.25);
    let both = (tt * 9.81e-3 - nt * 2.0) / (nn * tt - nt * nt);
    assert!((impulse - both / 2.0).abs() < 1e-8, "{impulse} of {both}");
    let found = summary(&plank(2.0));
    assert_eq!(
        (found.count(EventKind::ImpactWithoutCollision), found.trust[Trust::NoRigidSolution as usize]),
        (0, 0)
    );
}

const GROUND: &str = "[[world]]\nname = \"ground\"\nshape = \"half_space\"\n";

#[test]
fn what_is_known_is_what_the_textbook_says() {
    // in the air nothing else can happen
    let ball = "[[body]]\nname = \"b\"\nshape = { sphere = { radius = 0.1 } }\nmass = 1\n";
    let found = summary(&format!("{ball}[step]\nduration = 0.1\n"));
    assert_eq!(found.trust[Trust::Unique as usize], 100);
    // one contact at rest
    let found = summary(&format!("{GROUND}{ball}position = [0, 0, 0.1]\n"));
    let good = found.trust[Trust::Unique as usize] + found.trust[Trust::LocallyUnique as usize];
    assert!(good > 0 && good + found.trust[Trust::NotExamined as usize] == found.steps, "{:?}", found.trust);
    // four legs are one too many, whether they stand or slide
    for velocity in [0.0, 1.0] {
        let table = "[[body]]\nname = \"b\"\nshape = { box = { half = [0.5, 0.5, 0.1] } }\nmass = 1\nposition = [0, 0, 0.1]\n";
        let found = summary(&format!("{GROUND}{table}velocity = [{velocity}, 0, 0]\n"));
        assert!(found.trust[Trust::ForcesNotUnique as usize] > 0, "{:?}", found.trust);
        for bad in [Trust::Unique, Trust::LocallyUnique, Trust::MotionNotUnique, Trust::NoRigidSolution] {
            assert_eq!(found.trust[bad as usize], 0, "{bad:?}");
        }
        assert_eq!(found.unchosen, 0);
    }
}
