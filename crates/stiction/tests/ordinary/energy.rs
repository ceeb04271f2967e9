//! Energy is a judge: impacts are booked, what places make is told, and ordinary scenes make none.

use std::sync::Arc;
use stiction::model::Model;
use stiction::run::{ENTRIES, Ended, EnergyWarning, Options, Summary, run};
use stiction::scene::Scene;

const G: f64 = 9.81;

/// Runs a scene under a scheme to its end.
fn ran(text: &str, scheme: &str) -> (Arc<Model>, Summary) {
    let text = format!("{text}\n[step]\nscheme = \"{scheme}\"\n{STEP}");
    let scene = Scene::from_toml("energy.toml", &text).unwrap_or_else(|e| panic!("{e}"));
    let model = Arc::new(Model::new(&scene).unwrap_or_else(|e| panic!("{e:?}")));
    let (mut state, mut summary) = (model.initial(), Summary::default());
    let ended = run(&model, &mut state, &Options::default(), &mut [&mut summary]).expect("no observer fails");
    assert_eq!(ended, Ended::Finished, "{scheme}");
    (model, summary)
}

const STEP: &str = "h = 1e-3\nduration = 1\n";

fn entry(summary: &Summary, name: &str) -> f64 {
    summary.now[ENTRIES.iter().position(|e| e.name == name).expect("an entry")]
}

fn warned(text: &str, scheme: &str) -> Vec<EnergyWarning> {
    let (model, summary) = ran(text, scheme);
    summary.energy_warnings(&model)
}

fn near(found: f64, expected: f64, share: f64, what: &str) {
    assert!((found - expected).abs() <= share * expected.abs(), "{what}: {found} instead of {expected}");
}

const FLOOR: &str = "[[world]]\nname = \"floor\"\nshape = \"half_space\"\n";

/// A ball that falls on the floor and stays there: the impact takes `m g H`, whatever scheme it is.
#[test]
fn a_plastic_impact_takes_the_energy_of_the_fall() {
    let ball = "[[body]]\nname = \"ball\"\nshape = { sphere = { radius = 0.1 } }\nmass = 2\nposition = [0, 0, 0.6]\n";
    for scheme in ["theta", "implicit", "event"] {
        let (model, summary) = ran(&format!("{FLOOR}{ball}"), scheme);
        near(entry(&summary, "impact_loss"), 2.0 * G * 0.5, 0.01, scheme);
        // m g h v / 2 is what a step of first order may be off
        assert!(
            summary.balance_error().abs() <= 0.01 * 2.0 * G * 0.5,
            "{scheme}: {}",
            summary.balance_error()
        );
        assert_eq!(summary.energy_warnings(&model), vec![], "{scheme}");
    }
}

/// A hinged bar that swings against its limit, with Newton's coefficient `e`: each impact takes `1 - e^2` of the energy there, the first within 1 s.
#[test]
fn a_limit_takes_what_its_restitution_leaves() {
    // no weight: w = 2 rad/s about a hinge, 0.5 rad to the limit at 0.25 s, back to the other limit at -2 rad not within 1 s
    let bar = "gravity = [0, 0, 0]\n[[body]]\nname = \"bar\"\nmass = 1\ninertia = [0.1, 0.1, 0.1]\n\
        joint = { revolute = { axis = [0, 0, 1], limits = [-2, 0.5], stop = { restitution = 0.5 } } }\nangular_velocity = 2\n";
    for scheme in ["theta", "event"] {
        let (_, summary) = ran(bar, scheme);
        near(entry(&summary, "impact_loss"), 0.75 * 0.5 * 0.1 * 4.0, 1e-6, scheme);
        assert!(summary.balance_error().abs() <= 1e-9, "{scheme}: {}", summary.balance_error());
    }
}

/// A plate that falls on its corners one after the other, with restitution and friction: Newton's law could make energy here; the run makes none.
#[test]
fn a_plate_with_restitution_makes_no_energy() {
    for (seed, [w, x, y]) in [[3.0, 1.0, 0.0], [0.0, -4.0, 2.0], [6.0, 2.0, -3.0]].into_iter().enumerate() {
        let plate = format!(
            "[[material]]\nname = \"default\"\nfriction = 0.8\nrestitution = 0.7\n{FLOOR}[[body]]\nname = \"plate\"\n\
             shape = {{ box = {{ half = [0.2, 0.15, 0.01] }} }}\nmass = 1\nposition = [0, 0, 0.4]\nvelocity = [1, 0.5, 0]\nangular_velocity = [{w}, {x}, {y}]\n"
        );
        for scheme in ["theta", "event"] {
            let (model, summary) = ran(&plate, scheme);
            assert!(
                summary.relative_balance_error() <= 0.01,
                "{seed}, {scheme}: {}",
                summary.relative_balance_error()
            );
            assert_eq!(summary.energy_warnings(&model), vec![], "{seed}, {scheme}");
            assert!(
                entry(&summary, "impact_loss") > 0.0,
                "{seed}, {scheme}: {}",
                entry(&summary, "impact_loss")
            );
        }
    }
}

/// Two boxes that overlap by a centimetre where the run begins are pushed apart: that is told, with both names and what to do.
#[test]
fn overlap_at_the_start_is_told_as_energy_made() {
    let boxes = "gravity = [0, 0, 0]\n[[body]]\nname = \"left\"\nshape = { box = { half = [0.1, 0.1, 0.1] } }\nmass = 1\n\
        [[body]]\nname = \"right\"\nshape = { box = { half = [0.1, 0.1, 0.1] } }\nmass = 1\nposition = [0.19, 0, 0]\n";
    let found = warned(boxes, "theta");
    let told = found.iter().find(|w| w.place.contains("left") && w.place.contains("right"));
    let told = told.unwrap_or_else(|| panic!("nothing is said of the pair: {found:?}"));
    assert!(told.message.contains("move them apart"), "{}", told.message);
    // they leave each other at 0.1 m/s (`recovery_velocity`): two bodies of 0.05 m/s
    near(told.energy, 2.0 * 0.5 * 0.05 * 0.05, 1e-3, "energy");
    assert!((told.first - 1e-3).abs() < 1e-9);
}

/// A soft ball that is 1 mm deep in the floor where the run begins leaves it as its spring and damper throw it: `m x'' = -K x - C x'` until the force is 0. It may not
/// depend on the step, and the springs' energy is booked.
#[test]
fn soft_overlap_at_the_start_is_that_of_a_spring() {
    let (mass, stiffness, damping, depth) = (0.5, 2e4, 20.0, 1e-3);
    let ball = format!(
        "gravity = [0, 0, 0]\n[[material]]\nname = \"default\"\nfriction = 0\nlaw = {{ kelvin_voigt = {{ stiffness = {stiffness}, damping = {damping} }} }}\n{FLOOR}\
         [[body]]\nname = \"ball\"\nshape = {{ sphere = {{ radius = 0.1 }} }}\nmass = {mass}\nposition = [0, 0, {}]\n",
        0.1 - depth
    );
    // an independent integration of the overlap, by steps of 1e-8 s
    let (mut x, mut v, by) = (depth, 0.0, 1e-8);
    while stiffness * x + damping * v > 0.0 {
        v -= by * (stiffness * x + damping * v) / mass;
        x += by * v;
    }
    let left = 0.5 * mass * v * v;
    let (_, summary) = ran(&ball, "implicit");
    // of first order: w h pi / 2 with w = 200 rad/s
    near(entry(&summary, "kinetic"), left, 0.3, "1 ms");
    let worked = 0.5 * stiffness * depth * depth;
    near(entry(&summary, "recovery_work"), worked, 1e-6, "spring");
    assert!(entry(&summary, "damping_loss") <= worked, "{}", entry(&summary, "damping_loss"));
    let text = ball.clone() + "\n[step]\nscheme = \"implicit\"\nh = 1e-5\nduration = 0.05\n";
    let model = Arc::new(Model::new(&Scene::from_toml("a.toml", &text).expect("a scene")).expect("a model"));
    let (mut state, mut summary) = (model.initial(), Summary::default());
    let ended = run(&model, &mut state, &Options::default(), &mut [&mut summary]).expect("no observer fails");
    assert_eq!(ended, Ended::Finished);
    near(entry(&summary, "kinetic"), left, 5e-3, "10 us");
}

/// A cradle of three: the last ball takes all of the blow. Impacts pass it on in rounds, and take nothing of it.
#[test]
fn elastic_impacts_in_a_row_take_nothing() {
    let ball = |k: usize, x: f64, v: f64| {
        format!(
            "[[body]]\nname = \"ball {k}\"\nshape = {{ sphere = {{ radius = 0.1 }} }}\nmass = 1\nposition = [{x}, 0, 0]\nvelocity = [{v}, 0, 0]\n"
        )
    };
    let cradle = "gravity = [0, 0, 0]\n[[material]]\nname = \"default\"\nrestitution = 1\nfriction = 0\n"
        .to_owned()
        + &ball(0, -0.3, 1.0)
        + &ball(1, 0.0, 0.0)
        + &ball(2, 0.2, 0.0);
    for scheme in ["theta", "event"] {
        let (model, summary) = ran(&cradle, scheme);
        assert!(entry(&summary, "impact_loss").abs() < 1e-9, "{scheme}: {}", entry(&summary, "impact_loss"));
        assert!((entry(&summary, "kinetic") - 0.5).abs() < 1e-9);
        assert_eq!(summary.energy_warnings(&model), vec![], "{scheme}");
    }
}

/// Soft parts that overlap as deep as their edges are make energy whatever the accuracy: the run names the pair.
#[test]
fn energy_made_at_soft_edges_is_told() {
    let path = format!("{}/tests/ordinary/soft-edges.toml", env!("CARGO_MANIFEST_DIR"));
    let scene = Scene::read(path).unwrap_or_else(|e| panic!("{e}"));
    let model = Arc::new(Model::new(&scene).expect("a valid model"));
    let (mut state, mut summary) = (model.initial(), Summary::default());
    let ended = run(&model, &mut state, &Options::default(), &mut [&mut summary]).expect("no observer fails");
    assert_eq!(ended, Ended::Finished);
    let found = summary.energy_warnings(&model);
    assert!(summary.relative_balance_error() > 0.01);
    let told = found.iter().find(|w| w.place.contains("part 0") && w.place.contains("part 2"));
    let told = told.unwrap_or_else(|| panic!("nothing is said of the pair: {found:?}"));
    assert!(told.first > 0.3 && told.energy > 1.0 && told.message.contains("stiffer"), "{told:?}");
}

/// Machines whose energy is known to be kept: none of their parts is said to make any.
#[test]
fn machines_make_no_energy() {
    let gears = "gravity = [0, 0, 0]\n[[body]]\nname = \"small\"\nmass = 1\ninertia = [0.01, 0.01, 0.01]\njoint = { revolute = { axis = [0, 0, 1] } }\n\
        [[body]]\nname = \"large\"\nmass = 2\ninertia = [0.08, 0.08, 0.08]\nmount = { position = [1, 0, 0] }\njoint = { revolute = { axis = [0, 0, 1], friction = 0.05 } }\n\
        [[gear]]\njoints = [\"small\", \"large\"]\nratio = -2\n[[motor]]\nbody = \"small\"\nvelocity = { sinusoid = { amplitude = 5, frequency = 2 } }\ndamping = 2\n";
    let belt = format!(
        "{FLOOR}[[world]]\nname = \"belt\"\nshape = {{ box = {{ half = [1, 0.2, 0.05] }} }}\nposition = [0, 0, 0.05]\nsurface_velocity = {{ constant = [1, 0, 0] }}\n\
         [[body]]\nname = \"crate\"\nshape = {{ box = {{ half = [0.05, 0.05, 0.05] }} }}\nmass = 1\nposition = [-0.5, 0, 0.15]\n"
    );
    let bars = "[[body]]\nname = \"crank\"\nmass = 1\ninertia = [0.01, 0.01, 0.01]\ncenter = [0, 0, 0.1]\njoint = { revolute = { axis = [0, 1, 0] } }\n\
        [[body]]\nname = \"coupler\"\nparent = \"crank\"\nmass = 1\ninertia = [0.02, 0.02, 0.02]\ncenter = [0.2, 0, 0]\nmount = { position = [0, 0, 0.2] }\njoint = { revolute = { axis = [0, 1, 0] } }\n\
        [[body]]\nname = \"rocker\"\nmass = 1\ninertia = [0.02, 0.02, 0.02]\ncenter = [0, 0, 0.15]\nmount = { position = [0.4, 0, -0.1] }\njoint = { revolute = { axis = [0, 1, 0] } }\n\
        [[loop]]\nkind = \"hinge\"\nfrom = { body = \"coupler\", point = [0.4, 0, 0] }\nto = { body = \"rocker\", point = [0, 0, 0.3] }\naxis = [0, 1, 0]\n";
    for (name, text) in [("gears", gears), ("belt", &belt), ("four bars", bars)] {
        for scheme in ["theta", "implicit"] {
            let (model, summary) = ran(text, scheme);
            assert_eq!(summary.energy_warnings(&model), vec![], "{name}, {scheme}");
            assert!(
                summary.relative_balance_error().abs() <= 0.03,
                "{name}, {scheme}: {}",
                summary.relative_balance_error()
            );
        }
    }
}
