//! What users write by mistake or at the edge of what is possible: it runs, or what is wrong is said.

use stiction::analysis::warnings::warnings;
use stiction::dynamics::{Kinematics, MassMatrix};
use stiction::model::{Model, Owner};
use stiction::scene::Scene;
use stiction::stepper::Stepper;

fn scene(text: &str) -> Scene {
    stiction::from_toml("robust", text).unwrap_or_else(|e| panic!("{e}"))
}

fn model(text: &str) -> Model {
    Model::new(&scene(text)).unwrap()
}

/// Coordinates and velocities at the end of the scene.
fn run(text: &str) -> (Vec<f64>, Vec<f64>) {
    let mut stepper = Stepper::new(scene(text)).unwrap();
    let mut state = stepper.initial();
    for _ in 0..stepper.scene().step.count() {
        let _ = stepper.step(&mut state).unwrap_or_else(|e| panic!("{e}"));
    }
    (state.position, state.velocity)
}

fn said(text: &str) -> Vec<String> {
    let model = model(text);
    warnings(&model, &model.initial()).iter().map(ToString::to_string).collect()
}

const PARCEL: &str = "
    [[world]]
    name = 'belt'
    shape = { box = { half = [1, 0.2, 0.05] } }
    position = [0, 0, -0.05]
    surface_velocity = { constant = [0.5, 0, 0] }
    [[body]]
    name = 'parcel'
    shape = { box = { half = [0.05, 0.05, 0.05] } }
    mass = 1
    position = [0, 0, 0.05]
    ";

/// A parcel on a belt, beside machines with rows of every kind: friction 0.5 speeds it up by mu g until it has the belt's velocity.
#[test]
fn moving_surfaces_and_rows_of_machines_stand_side_by_side() {
    let wheel = |joint: &str, motor: &str| {
        format!(
            "{PARCEL}
            [[body]]
            name = 'wheel'
            shape = {{ sphere = {{ radius = 0.05 }} }}
            mass = 1
            joint = {{ revolute = {{ axis = [0, 1, 0], {joint} }} }}
            mount = {{ position = [0, 0, 2] }}
            {motor}
            [step]
            duration = 0.5"
        )
    };
    for (joint, motor) in [
        ("", "[[motor]]\nbody = 'wheel'\nvelocity = { constant = 1 }"),
        ("limits = [-1, 1]", "[[motor]]\nbody = 'wheel'\nvelocity = { constant = 1 }"),
        (
            "",
            "[[motor]]\nbody = 'wheel'\nposition = { points = [{ time = 0, value = 0 }, { time = 1, value = 1 }] }",
        ),
        ("", "[[motor]]\nbody = 'wheel'\nposition = { constant = 1 }\nstiffness = 10\ndamping = 1"),
        ("friction = 0.1", ""),
        ("stiffness = 3", "[[motor]]\nbody = 'wheel'\nvelocity = { constant = 1 }\nmax_effort = 5"),
    ] {
        for scheme in ["theta", "implicit"] {
            let (q, v) = run(&(wheel(joint, motor) + &format!("\nscheme = '{scheme}'")));
            assert!((v[0] - 0.5).abs() < 1e-9 && (q[2] - 0.05).abs() < 1e-6, "{joint} {motor}: {v:?}");
            // it slips for v / (mu g) and then goes with the belt
            let slips = 0.5 / (0.5 * 9.81);
            assert!((q[0] - 0.5 * (0.5 - 0.5 * slips)).abs() < 1e-3, "{q:?}");
            if motor.contains("velocity") {
                assert!((v[6] - 1.0).abs() < 1e-9, "{v:?}");
            }
        }
    }
}

/// Two massless links on crossing axes are a universal joint.
#[test]
fn massless_links_carry_jointed_children() {
    let bob = "mass = 1\ninertia = [0.1, 0.12, 0.05]\ncenter = [0.02, 0.01, -0.5]\n";
    let pair = format!(
        "[[body]]\nname = 'cross'\njoint = {{ revolute = {{ axis = [1, 0, 0] }} }}\nmass = 0\nangle = 0.4\n\
         [[body]]\nname = 'bob'\nparent = 'cross'\njoint = {{ revolute = {{ axis = [0, 1, 0] }} }}\nangle = 0.3\nangular_velocity = 2\n{bob}\
         [step]\nduration = 0.5"
    );
    let one = format!(
        "[[body]]\nname = 'bob'\njoint = {{ universal = {{}} }}\nangles = [0.4, 0.3]\nangular_velocity = [0, 2]\n{bob}[step]\nduration = 0.5"
    );
    let (found, expected) = (run(&pair), run(&one));
    for (a, b) in found.0.iter().chain(&found.1).zip(expected.0.iter().chain(&expected.1)) {
        assert!((a - b).abs() < 1e-9, "{found:?} {expected:?}");
    }
}

/// Three slides across one another, of which the last has mass: F = m a in each direction.
#[test]
fn several_massless_links_follow_one_another() {
    let text = "
        gravity = [0, 0, 0]
        [[body]]\n name = 'a'\n mass = 0\n inertia = [0, 0, 0]\n joint = { prismatic = { axis = [1, 0, 0] } }
        [[body]]\n name = 'b'\n mass = 0\n joint = { prismatic = { axis = [0, 1, 0] } }\n parent = 'a'
        [[body]]\n name = 'c'\n mass = 2\n inertia = [1, 1, 1]\n joint = { prismatic = { axis = [0, 0, 1] } }\n parent = 'b'
        [[load]]\n body = 'c'\n force = { constant = [1, -2, 3] }
        [step]\n duration = 0.5";
    let (_, v) = run(text);
    for (v, force) in v.iter().zip([1.0, -2.0, 3.0]) {
        assert!((v - force / 2.0 * 0.5).abs() < 1e-12, "{v}");
    }
}

#[test]
fn a_link_that_moves_no_mass_is_named() {
    let refused = |text: &str| {
        let e = stiction::from_toml("massless", text).unwrap_err().to_string();
        assert!(e.contains("can move without moving any mass"), "{e}");
        e
    };
    assert!(
        refused("[[body]]\nname = 'ball'\nmass = 0\nshape = { sphere = { radius = 1 } }").contains("'ball'")
    );
    let last = "[[body]]\nname = 'a'\nmass = 1\ninertia = [1, 1, 1]\njoint = { revolute = {} }\n\
        [[body]]\nname = 'flag'\nparent = 'a'\nmass = 0\njoint = { revolute = {} }";
    assert!(refused(last).contains("'flag'"));
    // twice about one axis: the first may turn one way and the second back
    let twice = "[[body]]\nname = 'ring'\nmass = 0\njoint = { revolute = {} }\n\
        [[body]]\nname = 'disc'\nparent = 'ring'\nmass = 1\ninertia = [1, 1, 1]\njoint = { revolute = {} }";
    assert!(refused(twice).contains("'ring'"));
    let drive = twice.replace(
        "joint = { revolute = {} }\n[[body]]",
        "joint = { revolute = { armature = 0.1 } }\n[[body]]",
    );
    assert!(drive != twice && stiction::from_toml("drive", &drive).is_ok());
}

/// The door of a cupboard: its centre of mass is where its shape is, and it starts to turn at m g c / (I + m c^2).
#[test]
fn an_inertia_without_center_is_about_the_center_of_the_shapes() {
    let door = |more: &str| {
        format!(
            "[[body]]\nname = 'door'\njoint = {{ revolute = {{ axis = [0, 1, 0] }} }}\nmass = 20\ninertia = [1, 1, 1]\n{more}\
             [[body.part]]\nshape = {{ box = {{ half = [0.45, 0.02, 1] }} }}\nposition = [0.45, 0, 0]\n[step]\nh = 1e-6\nduration = 1e-6"
        )
    };
    let expected = 20.0 * 9.81 * 0.45 / (1.0 + 20.0 * 0.45f64.powi(2));
    assert!((expected - 17.48).abs() < 5e-3);
    let (_, v) = run(&door(""));
    assert!((v[0] / 1e-6 - expected).abs() < 1e-6 * expected, "{v:?}");
    assert!(said(&door("")).iter().any(|w| w.contains("[0.45, 0, 0]")), "{:?}", said(&door("")));
    // given, it is what it is, and nothing is said
    assert_eq!(run(&door("center = [0.45, 0, 0]\n")), run(&door("")));
    assert_eq!(run(&door("center = [0, 0, 0]\n")).1, [0.0]);
    for center in ["center = [0.45, 0, 0]\n", "center = [0, 0, 0]\n"] {
        assert_eq!(said(&door(center)), Vec::<String>::new());
    }
}

const GROUND: &str = "[[world]]\nname = 'ground'\nshape = 'half_space'\n";

fn ball(more: &str) -> String {
    format!(
        "[[body]]\nname = 'ball'\nshape = {{ sphere = {{ radius = 0.1 }} }}\nmass = 1\nposition = [0, 0, 0.1]\n{more}\n"
    )
}

/// What is most likely not meant, each with a neighbour that is, of which nothing is said.
#[test]
fn what_is_most_likely_not_meant_is_said() {
    let arm = |limits: &str, motor: &str| {
        format!(
            "[[body]]\nname = 'arm'\nmass = 1\ninertia = [1, 1, 1]\njoint = {{ revolute = {{ {limits} }} }}\n{motor}"
        )
    };
    let turned =
        |angle: &str| ball("orientation = { axis = [0, 0, 1], angle = ANGLE }").replace("ANGLE", angle);
    let inertia = |size: f64| ball(&format!("inertia = [{size}, {size}, {size}]"));
    let material = |friction: f64| {
        format!("{GROUND}[[material]]\nname = 'default'\nfriction = {friction}\n{}", ball(""))
    };
    let soft = |k: f64| {
        format!(
            "{GROUND}[[material]]\nname = 'default'\nlaw = {{ kelvin_voigt = {{ stiffness = {k} }} }}\n{}",
            ball("")
        )
    };
    let slide = |to: f64| {
        format!(
            "[[world]]\nname = 'wall'\nshape = {{ box = {{ half = [0.1, 1, 1] }} }}\nposition = [1, 0, 0]\n[[world]]\nname = 'ram'\n\
             shape = {{ box = {{ half = [0.1, 0.1, 0.1] }} }}\nmotion = {{ position = {{ points = [{{ time = 0, value = [0, 0, 0] }}, {{ time = 1, value = [{to}, 0, 0] }}] }} }}\n"
        )
    };
    let deep = |z: f64| {
        GROUND.to_owned() + &ball("").replace("position = [0, 0, 0.1]", &format!("position = [0, 0, {z}]"))
    };
    let step = |h: f64| format!("{GROUND}{}[step]\nh = {h}\nduration = 1\n", ball(""));
    let cases = [
        (arm("limits = [-90, 90]", ""), "limits_deg", arm("limits = [-1.57, 1.57]", "")),
        (arm("", "angle = 45"), "looks like degrees", arm("", "angle = 0.785")),
        (turned("90"), "looks like degrees", turned("1.5")),
        (
            arm("", "[[motor]]\nbody = 'arm'\nposition = { constant = 90 }\nstiffness = 10"),
            "looks like degrees",
            arm("", "[[motor]]\nbody = 'arm'\nposition = { constant = 1.5 }\nstiffness = 10"),
        ),
        (material(30.0), "friction is 30", material(0.9)),
        (inertia(10.0), "the shapes end at", inertia(0.004)),
        (inertia(4e-7), "times smaller", inertia(0.001)),
        (step(0.5), "contacts are not resolved", step(0.01)),
        (soft(1e8), "lasts", soft(1e5)),
        (slide(2.0), "nothing holds it there", slide(0.5)),
        (deep(-0.05), "more than half", deep(0.1)),
    ];
    for (wrong, words, right) in cases {
        let found = said(&wrong);
        assert!(found.iter().any(|line| line.contains(words)), "{wrong}\n{found:?}");
        assert_eq!(said(&right), Vec::<String>::new(), "{right}");
    }
}

/// A drive that prescribes its motion meets a wall: the run ends there, and names both.
#[test]
fn a_prescribed_motion_that_meets_a_wall_is_named() {
    let text = "
        [[world]]
        name = 'wall'
        shape = { box = { half = [0.1, 1, 1] } }
        position = [0.6, 0, 0]
        [[body]]
        name = 'cart'
        shape = { box = { half = [0.1, 0.1, 0.1] } }
        mass = 1
        joint = { prismatic = { axis = [1, 0, 0] } }
        [[motor]]
        body = 'cart'
        velocity = { constant = 1 }";
    let mut stepper = Stepper::new(scene(text)).unwrap();
    let mut state = stepper.initial();
    let why = loop {
        match stepper.step(&mut state) {
            Ok(_) => assert!(state.time < 0.41, "it went on"),
            Err(why) => break why.to_string(),
        }
    };
    assert!((state.position[0] - 0.4).abs() < 2e-3, "{:?}", state.position);
    for words in ["a prescribed motion (cart (joint motor))", "wall/cart", "max_effort"] {
        assert!(why.contains(words), "{why}");
    }
}

/// The table of rules against the rule of each pair by itself, in scenes with parents, fixed bodies, several parts and exceptions.
#[test]
fn the_contact_table_is_the_rule_of_each_pair() {
    for seed in 0..40u64 {
        let mut number = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut below = |n: u64| {
            number ^= number << 13;
            number ^= number >> 7;
            number ^= number << 17;
            (number % n) as usize
        };
        let mut text = String::new();
        for m in 0..3 {
            text += &format!("[[material]]\nname = 'm{m}'\nfriction = 0.{}\n", m + 1);
        }
        for w in 0..3 {
            text += &format!(
                "[[world]]\nname = 'w{w}'\nmaterial = 'm{}'\nshape = {{ box = {{ half = [1, 1, 1] }} }}\n",
                below(3)
            );
        }
        for b in 0..8 {
            text += &format!("[[body]]\nname = 'b{b}'\nmaterial = 'm{}'\nmass = 1\n", below(3));
            match below(4) {
                0 if b > 0 => {
                    text += &format!("parent = 'b{}'\njoint = {{ revolute = {{}} }}\n", below(b as u64));
                }
                1 => text += "joint = 'fixed'\n",
                2 if b > 0 => text += &format!("parent = 'b{}'\njoint = 'fixed'\n", below(b as u64)),
                _ => {}
            }
            for _ in 0..=below(2) {
                text += &format!(
                    "[[body.part]]\nmaterial = 'm{}'\nshape = {{ sphere = {{ radius = 1 }} }}\n",
                    below(3)
                );
            }
        }
        text += &format!(
            "[[pair]]\nmaterials = ['m0', 'm{}']\n{}\n",
            below(3),
            ["collide = false", "friction = 0.7"][below(2)]
        );
        for k in 0..3 {
            let (a, b) = (below(3), 2 * below(2) + k);
            text += &format!(
                "[[pair]]\nbodies = ['w{a}', 'b{b}']\n{}\n",
                ["collide = false", "friction = 0.8"][below(2)]
            );
        }
        text += "[[pair]]\nbodies = ['b6', 'b7']\nfriction = 0.9\n";
        let Ok(scene) = stiction::from_toml("table", &text) else { continue };
        let model = Model::new(&scene).unwrap();
        let (parts, mut seen) = (model.parts(), 0);
        for i in 0..parts.len() {
            for j in i + 1..parts.len() {
                let [a, b] = [i, j].map(|k| (parts[k].owner, parts[k].material));
                let moves = parts[i].moves || parts[j].moves;
                let rule = model.scene().contact_rule(a, b).filter(|_| moves && a.0 != b.0);
                let found = model.contacts().find([i as u32, j as u32]);
                assert_eq!(
                    found.map(|(_, k)| &model.contacts().rules()[k].given),
                    rule.as_ref(),
                    "{text}\n{i} {j}"
                );
                if let Some((order, _)) = found {
                    let of_world = matches!(b.0, Owner::World(_));
                    assert_eq!(order, if of_world { (j as u32, i as u32) } else { (i as u32, j as u32) });
                }
                seen += usize::from(found.is_some());
            }
        }
        assert!(seen > 0);
    }
}

/// Of a chain of hundreds of links the mass matrix is not written out. What is done with it agrees with the kinetic energy `v' M v / 2`, which is summed link by link.
#[test]
fn operations_with_the_mass_matrix_of_a_long_chain_agree() {
    let mut text = String::new();
    for k in 0..400 {
        let (parent, joint) = match k {
            0 => (String::new(), "joint = 'free'\n"),
            // two branches, and joints of several kinds
            200 => {
                ("parent = 'l20'\n".to_owned(), "joint = 'spherical'\nmount = { position = [0.02, 0, 0] }\n")
            }
            _ if k % 7 == 0 => (
                format!("parent = 'l{}'\n", k - 1),
                "joint = { prismatic = { axis = [0, 1, 1], armature = 0.01 } }\nmount = { position = [0, 0.01, -0.05] }\n",
            ),
            _ => (
                format!("parent = 'l{}'\n", k - 1),
                "joint = { revolute = { axis = [1, 2, 0.5] } }\nmount = { position = [0, 0, -0.05] }\n",
            ),
        };
        let joint = if k == 0 { "" } else { joint };
        text += &format!(
            "[[body]]\nname = 'l{k}'\n{parent}{joint}mass = 0.{}\ninertia = [1e-4, 2e-4, 2e-4]\ncenter = [0.01, 0, -0.02]\n",
            1 + k % 9
        );
    }
    let model = model(&text);
    let system = model.system();
    let n = system.velocity_size();
    let wave = |a: f64| (0..n).map(|k| (a + 1.7 * a * k as f64).sin()).collect::<Vec<f64>>();
    let mut q = model.initial().position;
    let start = q.clone();
    system.advance(&start, &wave(0.9), 0.4, &mut q);
    let (v, f) = (wave(0.3), wave(0.7));
    let mut kinematics = Kinematics::new(system);
    kinematics.update(&q, &v);
    let mut mass = MassMatrix::new(system);
    mass.update(&kinematics).unwrap();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let near = |a: f64, b: f64, size: f64| assert!((a - b).abs() < 1e-9 * size.abs(), "{a} {b}");
    let (energy, mut momentum) = (kinematics.kinetic_energy(), vec![0.0; n]);
    mass.multiply(&v, &mut momentum);
    near(0.5 * dot(&momentum, &v), energy, energy);
    let mut root = v.clone();
    mass.times_root(0, &mut root);
    near(0.5 * dot(&root, &root), energy, energy);
    // the inverse, and the transpose of the factor
    let mut back = momentum.clone();
    mass.solve(&mut back);
    back.iter().zip(&v).for_each(|(a, b)| near(*a, *b, 1e3));
    let mut pulled = f.clone();
    mass.solve_root_transposed(0, &mut pulled);
    near(dot(&pulled, &root), dot(&f, &v), dot(&f, &f).sqrt() * dot(&v, &v).sqrt());
    mass.solve_root(0, &mut root);
    root.iter().zip(&v).for_each(|(a, b)| near(*a, *b, 1e3));
    // single entries: by the polarisation of the kinetic energy
    for (i, j) in [(0, 0), (3, 3), (n - 1, n - 1), (n - 1, n - 2), (n - 1, 4), (120, 7), (n - 1, 150)] {
        let mut unit = vec![0.0; n];
        unit[j] = 1.0;
        mass.multiply(&unit, &mut momentum);
        near(mass.entry(i, j), momentum[i], mass.entry(i, i).max(mass.entry(j, j)));
    }
}

/// A chain of 4,000 links hangs, and one that starts level falls: the first step of its free end is g h.
#[test]
fn a_chain_of_thousands_of_links_steps() {
    let chain = |n: usize, axis: &str| -> String {
        let link = |k: usize| {
            let parent = if k == 0 {
                String::new()
            } else {
                format!("parent = 'l{}'\nmount = {{ position = {axis} }}\n", k - 1)
            };
            format!(
                "[[body]]\nname = 'l{k}'\n{parent}joint = {{ revolute = {{ axis = [0, 1, 0] }} }}\nshape = {{ sphere = {{ radius = 0.01 }} }}\nmass = 0.01\n"
            )
        };
        (0..n).map(link).collect()
    };
    let (q, v) = run(&(chain(4000, "[0, 0, -0.03]") + "[step]\nduration = 2e-3"));
    assert!(q.iter().chain(&v).all(|x| x.abs() < 1e-9));
    let falling = model(&(chain(600, "[0.03, 0, 0]") + "[step]\nduration = 1e-3"));
    let mut stepper = Stepper::of(falling.into());
    let mut state = stepper.initial();
    let _ = stepper.step(&mut state).unwrap_or_else(|e| panic!("{e}"));
    // what is far from the hinge falls freely
    let (speed, _) = stepper.kinematics(&state).velocity(500);
    assert!((speed[2] + 9.81e-3).abs() < 1e-6, "{speed:?}");
}

/// Memory and time of a model grow with its bodies: 32 million pairs are not looked at one by one.
#[test]
fn many_bodies_and_long_chains_are_compiled_at_once() {
    let begin = std::time::Instant::now();
    let many: String = (0..8000)
        .map(|k| {
            ball("")
                .replace("'ball'", &format!("'ball {k}'"))
                .replace("[0, 0, 0.1]", &format!("[{k}, 0, 0.1]"))
        })
        .collect();
    let model = model(&(GROUND.to_owned() + &many));
    assert_eq!(model.contacts().rules().len(), 1);
    assert!(model.contacts().find([17, 7999]).is_some() && model.contacts().find([3, 8000]).is_some());
    // some hundred times what it takes
    assert!(begin.elapsed().as_secs() < 60, "{:?}", begin.elapsed());
}
