//! `scheme = "event"` at all scales: the same scenes with other units of length, mass and time move alike, and nothing depends on what else is in a scene.

use std::sync::Arc;
use stiction::dynamics::Joint;
use stiction::model::Model;
use stiction::run::{Ended, Fault, Observer, Options, View, run};
use stiction::scene::Scene;
use stiction::state::State;

/// Factors of length, mass and time.
#[derive(Debug, Clone, Copy)]
struct Units {
    l: f64,
    m: f64,
    t: f64,
}

impl Units {
    /// Replaces `<x U>` by `x` in units of U: L, M, T, or their combinations V, A, W, F, N (N m).
    fn write(self, text: &str) -> String {
        let mut out = String::new();
        for (k, part) in text.split('<').enumerate() {
            let Some((inside, rest)) = part.split_once('>').filter(|_| k > 0) else {
                out.push_str(part);
                continue;
            };
            let (value, unit) = inside.rsplit_once(' ').expect("a unit");
            let value: f64 = value.parse().expect("a number");
            out.push_str(&format!("{:e}{rest}", value * self.of(unit)));
        }
        out
    }

    fn of(self, unit: &str) -> f64 {
        let Self { l, m, t } = self;
        match unit {
            "L" => l,
            "M" => m,
            "T" => t,
            "V" => l / t,
            "A" => l / t / t,
            "W" => 1.0 / t,
            "F" => m * l / t / t,
            _ => m * l * l / t / t,
        }
    }
}

/// Places and normal forces at the end, in the units of the scene.
#[derive(Default)]
struct Seen {
    normal: Vec<f64>,
}

impl Observer for Seen {
    fn step(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        self.normal = view.elements().iter().map(|e| e.force[0]).collect();
        Ok(())
    }
}

fn end(text: &str, units: Units) -> Result<(Vec<f64>, Vec<f64>), String> {
    let scene = Scene::from_toml("scene", &units.write(text)).map_err(|e| e.to_string())?;
    let model = Arc::new(Model::new(&scene).map_err(|e| format!("{e:?}"))?);
    let (mut seen, mut state) = (Seen::default(), model.initial());
    match run(&model, &mut state, &Options::default(), &mut [&mut seen]).expect("no fault") {
        Ended::Finished => {}
        other => return Err(format!("{other:?}")),
    }
    let forces = seen.normal.iter().map(|n| n / units.of("F")).collect();
    Ok((places(&model, &state, units), forces))
}

fn places(model: &Model, state: &State, units: Units) -> Vec<f64> {
    let mut q = state.position.clone();
    for (i, body) in model.scene().bodies.iter().enumerate() {
        let own = model.system().coordinates(i);
        let linear = match body.link.joint {
            Joint::Free => 3,
            Joint::Prismatic { .. } => 1,
            _ => 0,
        };
        q[own][..linear].iter_mut().for_each(|x| *x /= units.l);
    }
    q
}

const HEAD: &str = "
gravity = [<0 A>, 0, <-9.81 A>]
[[material]]
name = 'm'
friction = 0.4
[[world]]
name = 'ground'
shape = 'half_space'
material = 'm'
[step]
scheme = 'event'
h = <0.02 T>
duration = <0.4 T>
bounce_threshold = <1e-3 V>
";

fn body(name: &str, mass: f64, rest: &str) -> String {
    format!("[[body]]\nname = '{name}'\nmaterial = 'm'\nmass = <{mass} M>\n{rest}\n")
}

fn a_box(name: &str, mass: f64, [x, y, z]: [f64; 3], rest: &str) -> String {
    let rest = format!(
        "shape = {{ box = {{ half = [<0.1 L>, <0.1 L>, <0.1 L>] }} }}\nposition = [<{x} L>, <{y} L>, <{z} L>]\n{rest}"
    );
    body(name, mass, &rest)
}

/// Ten scenes of tasks that users have.
fn scenes() -> Vec<(&'static str, String)> {
    let with = |text: String| format!("{HEAD}{text}");
    let tilted = HEAD.replace("<0 A>", "<5.5 A>");
    let bouncing = HEAD.replace("friction = 0.4", "friction = 0.4\nrestitution = 0.6");
    let finger = |name: &str, y: f64, sign: f64| {
        let rest = format!(
            "shape = {{ box = {{ half = [<0.05 L>, <0.02 L>, <0.05 L>] }} }}\nmount = {{ position = [0, <{y} L>, <0.5 L>] }}\n\
             joint = {{ prismatic = {{ axis = [0, {sign}, 0] }} }}"
        );
        format!("{}[[motor]]\nbody = '{name}'\neffort = {{ constant = <30 F> }}\n", body(name, 0.2, &rest))
    };
    let leg = |x: f64, y: f64| {
        format!(
            "[[body.part]]\nmaterial = 'm'\nshape = {{ box = {{ half = [<0.02 L>, <0.02 L>, <0.2 L>] }} }}\nposition = [<{x} L>, <{y} L>, <-0.2 L>]\n"
        )
    };
    let legs = [leg(0.2, 0.3), leg(-0.2, 0.3), leg(-0.2, -0.3), leg(0.2, -0.3)].concat();
    vec![
        ("box on floor", with(a_box("a", 1.0, [0.0, 0.0, 0.1], ""))),
        ("slope", format!("{tilted}{}", a_box("a", 1.0, [0.0, 0.0, 0.1], "velocity = [<-0.5 V>, 0, 0]"))),
        (
            "stack",
            with(
                a_box("a", 1.0, [0.0, 0.0, 0.1], "")
                    + &a_box("b", 5.0, [0.03, 0.0, 0.3], "")
                    + &a_box("c", 0.3, [0.0, 0.02, 0.5], "velocity = [<0.4 V>, 0, 0]"),
            ),
        ),
        (
            "pendulum with limit",
            with(body(
                "p",
                0.7,
                "mount = { position = [0, 0, <1 L>] }\njoint = { revolute = { axis = [0, 1, 0], limits = [-0.5, 0.75] } }\n\
                 angular_velocity = <4 W>\n\
                 [[body.part]]\nshape = { box = { half = [<0.02 L>, <0.02 L>, <0.2 L>] } }\nposition = [0, 0, <-0.2 L>]",
            )),
        ),
        (
            "ball bouncing",
            format!(
                "{bouncing}{}",
                body(
                    "b",
                    0.5,
                    "shape = { sphere = { radius = <0.1 L> } }\nposition = [0, 0, <0.2 L>]\nvelocity = [<1 V>, 0, 0]"
                )
            ),
        ),
        (
            "rod",
            with(body(
                "r",
                0.5,
                "shape = { capsule = { radius = <0.02 L>, half_length = <0.2 L> } }\nposition = [0, 0, <0.2 L>]\n\
                 orientation = { axis = [0, 1, 0], angle = 0.7 }",
            )),
        ),
        (
            "gripper",
            with(
                body(
                    "part",
                    1.0,
                    "shape = { box = { half = [<0.05 L>, <0.05 L>, <0.05 L>] } }\nposition = [0, 0, <0.5 L>]",
                ) + &finger("left", -0.07, 1.0)
                    + &finger("right", 0.07, -1.0),
            ),
        ),
        (
            "table",
            with(body(
                "t",
                4.0,
                &format!("position = [0, 0, <0.4 L>]\nvelocity = [<0.3 V>, <0.2 V>, 0]\n{legs}"),
            )),
        ),
        (
            "two islands",
            with(
                a_box("heavy", 1e6, [0.0, 0.0, 0.1], "velocity = [<0.5 V>, 0, 0]")
                    + &a_box("light", 1e-6, [3.0, 0.0, 0.1], "velocity = [0, <0.7 V>, 0]"),
            ),
        ),
        (
            "box slides and spins",
            with(a_box(
                "a",
                1.0,
                [0.0, 0.0, 0.1],
                "velocity = [<0.8 V>, 0, 0]\nangular_velocity = [0, 0, <3 W>]",
            )),
        ),
    ]
}

const ONE: Units = Units { l: 1.0, m: 1.0, t: 1.0 };

#[test]
fn motion_does_not_depend_on_units() {
    // with gravity as it is times go as the root of lengths
    let root = |l: f64, m: f64| Units { l, m, t: l.sqrt() };
    let all = [
        root(1e-5, 1.0),
        root(1e3, 1.0),
        root(1.0, 1e-10),
        root(1.0, 1e6),
        root(1e-5, 1e-10),
        root(1e3, 1e6),
        Units { l: 1.0, m: 1.0, t: 1e3 },
        Units { l: 3e-3, m: 7.0, t: 1e-3 },
    ];
    let mut wrong = vec![];
    for (name, text) in scenes() {
        let (places, forces) = end(&text, ONE).unwrap_or_else(|e| panic!("{name}: {e}"));
        for units in all {
            let (q, f) = match end(&text, units) {
                Ok(found) => found,
                Err(why) => {
                    wrong.push(format!("{name} {units:?}: {why}"));
                    continue;
                }
            };
            let far = |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
            let weight = 1e-6 * forces.iter().fold(10.0f64, |m, f| m.max(*f));
            if q.len() != places.len() || far(&q, &places) > 1e-6 {
                wrong.push(format!("{name} {units:?}: places off by {:.1e}", far(&q, &places)));
            }
            if f.len() != forces.len() || far(&f, &forces) > weight {
                wrong.push(format!("{name} {units:?}: {} forces off by {:.1e}", f.len(), far(&f, &forces)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn islands_do_not_influence_each_other() {
    let alone = format!(
        "{HEAD}{}",
        a_box("a", 1.0, [0.0, 0.0, 0.1], "velocity = [<0.8 V>, 0, 0]\nangular_velocity = [0, 0, <2 W>]")
    );
    let (places, _) = end(&alone, ONE).expect("alone");
    let ball = |mass: f64, radius: f64| {
        body(
            "b",
            mass,
            &format!(
                "shape = {{ sphere = {{ radius = <{radius} L> }} }}\nposition = [3, 0, <{} L>]\nvelocity = [<1 V>, 0, 0]",
                1.5 * radius
            ),
        )
    };
    for (mass, radius) in [(1e-10, 0.01), (1e10, 0.5), (1e-3, 1e-4)] {
        let (q, _) = end(&format!("{alone}{}", ball(mass, radius)), ONE).expect("beside a ball");
        for (a, b) in q.iter().zip(&places) {
            assert!((a - b).abs() < 1e-9, "{mass:e} kg, {radius} m: {a} instead of {b}");
        }
    }
}

#[test]
fn a_box_carries_what_is_on_it_at_any_ratio_of_masses() {
    for ratio in [1.0, 1e2, 1e4, 1e6, 1e8] {
        let text = format!(
            "{HEAD}{}{}",
            a_box("low", 1.0, [0.0, 0.0, 0.1], ""),
            a_box("top", ratio, [0.0, 0.0, 0.3], "")
        );
        // rounding of 1e8 times the weight makes the integrator's steps short
        let text = if ratio > 1e6 { text.replace("<0.4 T>", "<0.02 T>") } else { text };
        let (q, normal) = end(&text, ONE).expect("a run");
        assert!((q[2] - 0.1).abs() < 1e-9 && (q[9] - 0.3).abs() < 1e-9, "{ratio:e}: {q:?}");
        let (each, foot) = (0.25 * 9.81 * (1.0 + ratio), 0.25 * 9.81 * ratio);
        // between the boxes first, as the world's parts come last
        for (k, n) in normal.iter().enumerate() {
            let wanted = if (n - each).abs() < (n - foot).abs() { each } else { foot };
            assert!((n - wanted).abs() < 1e-6 * wanted, "{ratio:e}, contact {k}: {n} instead of {wanted}");
        }
        assert_eq!(normal.len(), 8, "{ratio:e}");
        let sum: f64 = normal.iter().sum();
        assert!((sum - 4.0 * (each + foot)).abs() < 1e-6 * sum, "{ratio:e}: {sum}");
    }
}

#[test]
fn a_limit_is_met_far_from_the_origin() {
    let slider = |far: f64| {
        format!(
            "gravity = [0, 0, 0]\n[[body]]\nname = 's'\nmass = 1\nshape = {{ sphere = {{ radius = 0.1 }} }}\n\
             joint = {{ prismatic = {{ axis = [1, 0, 0], limits = [-1, {far}] }} }}\nposition = {}\nvelocity = 3\n\
             [step]\nscheme = 'event'\nh = 0.01\nduration = 1\n",
            far - 1.0
        )
    };
    for far in [10.0, 1e3, 1e6] {
        let (q, _) = end(&slider(far), ONE).expect("a run");
        assert!((q[0] - far).abs() < 1e-9 * far.max(1.0), "{far:e}: {}", q[0]);
    }
}

#[test]
#[ignore = "takes minutes: located events crowd (scripts/test-long)"]
fn a_plate_slides_over_a_row_of_blocks_to_the_end() {
    // fixed by their weight, the blocks are a floor: v^2 / (2 mu g)
    let text = "
[[material]]
name = 'default'
friction = 0.3
[[world]]
name = 'floor'
shape = 'half_space'
[[body]]
repeat = { i = 6 }
name = 'block{i}'
shape = { box = { half = [0.1, 0.1, 0.05] } }
mass = 100
position = ['= 0.2*i', 0, 0.05]
[[body]]
name = 'box'
shape = { box = { half = [0.06, 0.05, 0.02] } }
mass = 1
position = [0, 0, 0.12]
velocity = [2, 0, 0]
[step]
scheme = 'event'
h = 0.02
duration = 0.7
";
    let (q, _) = end(text, ONE).expect("a run");
    let wanted = 4.0 / (2.0 * 0.3 * 9.81);
    let x = q[6 * 7];
    assert!((x - wanted).abs() < 1e-6, "{x} instead of {wanted}");
}
