//! The scenes of `scenes/` hold what they say, and the schema is the reader's.

use stiction::contact::{Influence, Law, PatchDamping};
use stiction::dynamics::Joint;
use stiction::model::resolved::PairOf;
use stiction::model::summary;
use stiction::model::{Model, Owner, Resolved};
use stiction::scene::{Axes, Course, FrictionKind, FrictionRule, GapLevel, Method, Table, schema};
use stiction::space::{length, sub};

const SCENES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes");

fn scene(file: &str) -> Resolved {
    let scene = stiction::read(format!("{SCENES}/{file}")).unwrap_or_else(|e| panic!("{e}"));
    scene.resolve().expect("valid")
}

fn model(text: &str) -> Model {
    Model::new(&stiction::from_toml("test.toml", text).unwrap_or_else(|e| panic!("{e}\n{text}")))
        .expect("valid")
}

fn from(text: &str) -> Resolved {
    model(text).scene().clone()
}

/// After a change of the format: `UPDATE_SCHEMA=1 cargo test --release -p stiction scene_files::`.
#[test]
fn the_committed_schema_is_up_to_date() {
    let path = format!("{SCENES}/scene.schema.json");
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&path, schema()).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == schema(), "{path} is out of date: run this test with UPDATE_SCHEMA=1");
}

#[test]
fn the_ellipses_of_song2004_are_as_printed() {
    let rigid = scene("song2004/ellipse-rigid.toml");
    assert_eq!((rigid.planar, rigid.gravity, rigid.step.count()), (true, [0.0, -9.81, 0.0], 20_000));
    assert_eq!(rigid.name, "ellipse-rigid");
    let body = &rigid.bodies[0];
    assert_eq!(body.position, [0.0, 0.09745561, 75_f64.to_radians()]);
    assert_eq!((body.link.inertia.mass, body.link.inertia.tensor[2][2]), (0.05, 1.5e-4));
    let contact = |s: &Resolved| {
        let materials = [s.bodies[0].parts[0].material, s.world[0].part.material];
        s.contact_rule((Owner::Body(0), materials[0]), (Owner::World(0), materials[1])).unwrap()
    };
    assert_eq!((contact(&rigid).friction, contact(&rigid).law), (0.2, Law::Rigid));
    for (file, young) in [("1e-9", 1e9), ("1e-10", 1e10), ("1e-11", 1e11)] {
        let patch = scene(&format!("song2004/ellipse-{file}.toml"));
        let law = Law::HalfSpace {
            elements: 3,
            spacing: 1e-6,
            influence: Influence::PointForce,
            damping: PatchDamping::Root,
            transport: false,
        };
        assert_eq!((contact(&patch).friction, contact(&patch).law), (0.2, law));
        assert_eq!(patch.materials.iter().filter_map(|m| m.young).collect::<Vec<_>>(), [young]);
        assert_eq!((&patch.bodies[0].position, patch.step.h), (&body.position, 1e-4));
    }
}

#[test]
fn wedges_of_the_arch_share_their_corners_and_the_feet_are_on_the_ground() {
    let arch = scene("arch.toml");
    let poses = arch.initial_poses();
    let corner = |wedge: usize, i: usize| {
        let stiction::geometry::Shape::Polygon { vertices } = &arch.bodies[wedge].parts[0].shape else {
            panic!("not a polygon")
        };
        poses[wedge].point([vertices[i][0], vertices[i][1], 0.0])
    };
    for k in 0..10 {
        assert!(length(sub(corner(k, 0), corner(k + 1, 1))) < 1e-15, "inner corner after {k}");
        assert!(length(sub(corner(k, 3), corner(k + 1, 2))) < 1e-15, "outer corner after {k}");
    }
    for foot in [corner(0, 1), corner(0, 2), corner(10, 0), corner(10, 3)] {
        assert!(foot[1].abs() < 1e-15, "{foot:?}");
    }
}

#[test]
fn chains_hang_together_and_tables_stand() {
    let chain = scene("chain.toml");
    assert_eq!(chain.bodies.iter().map(|b| b.velocity.len()).sum::<usize>(), 20);
    // let go level: the last link's origin 1.9 m from the first joint
    let last = chain.initial_poses()[19].position;
    assert!(length(sub(last, [-1.9, 0.0, 0.0])) < 1e-14, "{last:?}");
    let table = scene("four-legged-table-elastic.toml");
    assert_eq!(table.bodies[0].parts.len(), 5);
    let Course::Constant(force) = &table.loads[0].force else { panic!("not constant") };
    assert_eq!((*force, table.loads[0].axes), ([0.0, 0.0, -100.0], Axes::World));
    let law = &table.laws[1];
    let Law::KelvinVoigt { damping, .. } = law else { panic!("{law:?}") };
    assert!((damping[0] - 2.0 * (1e6_f64 * 8.0).sqrt()).abs() < 1e-9);
}

#[test]
fn an_empty_scene_has_defaults_that_work() {
    let scene = from("");
    assert_eq!((scene.name.as_str(), scene.planar, scene.gravity), ("test", false, [0.0, 0.0, -9.81]));
    assert_eq!((scene.step.h, scene.step.duration, scene.step.count()), (1e-3, 1.0, 1000));
    assert_eq!((scene.step.explicit_share, scene.step.gap), (0.0, GapLevel::Distance));
    assert_eq!((scene.step.friction, scene.step.retries), (FrictionKind::Cone, 10));
    assert_eq!((scene.record.interval, scene.record.tables.len()), (0.02, Table::ALL.len()));
    assert_eq!(scene.friction_rule, FrictionRule::GeometricMean);
    let ball = from("[[body]]\nname = 'b'\nmass = 2\nshape = { sphere = { radius = 0.5 } }\n");
    assert_eq!((ball.bodies[0].link.joint, ball.bodies[0].position.len()), (Joint::Free, 7));
    assert_eq!((ball.materials[0].name.as_str(), ball.materials[0].friction), ("default", 0.5));
    assert!((ball.bodies[0].link.inertia.tensor[0][0] - 0.2).abs() < 1e-15);
}

/// As on the command line, whether with underscores, like all words of scenes, or with hyphens; names of methods that were merged into others are read.
#[test]
fn solvers_have_the_names_of_the_command_line() {
    for (name, kind) in [
        ("auto", Method::Auto),
        ("lemke", Method::Lemke),
        ("gauss_seidel", Method::GaussSeidel),
        ("newton", Method::Newton),
        ("proximal_newton", Method::ProximalNewton),
        ("exact_proximal", Method::ProximalNewton),
        ("interior_point", Method::InteriorPoint),
        ("admm", Method::ProximalNewton),
    ] {
        let text = format!("planar = true\n[step]\nsolver = '{name}'\n");
        assert_eq!(from(&text).step.solver, kind, "{name}");
        assert_eq!(from(&text.replace('_', "-")).step.solver, kind, "{name}");
    }
    let fault =
        stiction::from_toml("s.toml", "[step]\nsolver = 'newtom'\n").expect_err("a typing error").to_string();
    assert!(fault.ends_with("did you mean 'newton'?"), "{fault}");
}

#[test]
fn a_parent_may_stand_after_its_child() {
    let rod = "joint = { revolute = {} }\nmass = 1\ninertia = 1\n";
    let scene = from(&format!(
        "planar = true\n[[body]]\nname = 'c'\nparent = 'b'\n{rod}[[body]]\nname = 'a'\n{rod}[[body]]\nname = 'b'\nparent = 'a'\n{rod}[[motor]]\nbody = 'c'\neffort = {{ constant = 2 }}\n"
    ));
    let names: Vec<&str> = scene.bodies.iter().map(|b| b.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    let parents: Vec<Option<usize>> = scene.bodies.iter().map(|b| b.link.parent).collect();
    assert_eq!((parents, scene.motors[0].body), (vec![None, Some(0), Some(1)], 2));
}

#[test]
fn bodies_go_before_materials_and_compliant_laws_before_rigid_ones() {
    let model = model(
        r#"
friction_rule = "minimum"
[[material]]
name = "soft"
friction = 0.9
law = { kelvin_voigt = { stiffness = [1e5, 8e4], damping = 10 } }
[[material]]
name = "hard"
friction = 0.4
[[world]]
name = "ground"
shape = "half_space"
material = "hard"
[[body]]
name = "a"
mass = 1
material = "soft"
shape = { sphere = { radius = 1 } }
[[body]]
name = "b"
mass = 1
material = "soft"
shape = { sphere = { radius = 1 } }
[[body]]
name = "c"
mass = 1
material = "hard"
shape = { sphere = { radius = 1 } }
[[pair]]
materials = ["hard", "soft"]
friction_rule = "maximum"
[[pair]]
bodies = ["ground", "b"]
friction = 0.1
law = "rigid"
[[pair]]
bodies = ["a", "c"]
collide = false
"#,
    );
    let scene = model.scene();
    let [a, b, c] = [0, 1, 2].map(|i| (Owner::Body(i), scene.bodies[i].parts[0].material));
    let ground = (Owner::World(0), scene.world[0].part.material);
    let soft = Law::KelvinVoigt { stiffness: [1e5, 8e4], damping: [10.0, 10.0] };
    let rule = |x, y| scene.contact_rule(x, y).map(|r| (r.friction, r.law));
    assert_eq!(rule(a, ground), Some((0.9, soft.clone())));
    assert_eq!(rule(ground, b), Some((0.1, Law::Rigid)));
    assert_eq!(rule(c, ground), Some((0.4, Law::Rigid)));
    assert_eq!(rule(a, b), Some((0.9, soft)));
    assert_eq!(rule(c, a), None);
    assert_eq!(scene.pairs[1].of, PairOf::Owners([Owner::World(0), Owner::Body(1)]));
    let text = summary(&model);
    assert!(text.contains("3 bodies in 3 trees, 18 degrees of freedom"), "{text}");
    assert!(text.contains("5 pairs can touch"), "{text}");
    assert!(text.contains("hard on soft: rigid, friction 0.1"), "{text}");
    assert!(text.contains("1000 steps of 0.001 s"), "{text}");
}

/// By the same rule as friction; a pair's own values go first, each for itself; elements have rows for what can arise.
#[test]
fn torsion_and_rolling_combine_as_friction_does() {
    let two = |rest: &str| {
        model(&format!(
            "[[material]]\nname = 'a'\nfriction = 0.4\ntorsion = 0.01\nrolling = 0.001\n\
             [[material]]\nname = 'b'\nfriction = 0.9\ntorsion = 0.04\n\
             [[world]]\nname = 'ground'\nshape = 'half_space'\nmaterial = 'a'\n\
             [[body]]\nname = 'ball'\nmass = 1\nshape = {{ sphere = {{ radius = 1 }} }}\nmaterial = 'b'\n{rest}"
        ))
    };
    let rule = |model: &Model| {
        let scene = model.scene();
        let of = |owner| (owner, scene.parts(owner)[0].material);
        let rule = scene.contact_rule(of(Owner::Body(0)), of(Owner::World(0))).unwrap();
        [rule.friction, rule.torsion, rule.rolling]
    };
    let near = |model: &Model, expected: [f64; 3]| {
        let found = rule(model);
        assert!((0..3).all(|k| (found[k] - expected[k]).abs() < 1e-15), "{found:?}, expected {expected:?}");
    };
    let mean = two("");
    near(&mean, [0.6, 0.02, 0.0]);
    assert_eq!(mean.contacts().rows(), 4);
    let text = summary(&mean);
    assert!(text.contains("a on b: rigid, friction 0.6, torsion 0.02 m\n"), "{text}");
    let pair = two("[[pair]]\nmaterials = ['a', 'b']\nrolling = 0.003\nfriction_rule = 'maximum'\n");
    near(&pair, [0.9, 0.04, 0.003]);
    assert_eq!(pair.contacts().rows(), 6);
    assert!(summary(&pair).contains("friction 0.9, torsion 0.04 m, rolling 0.003 m\n"));
    let none = two("[[pair]]\nmaterials = ['a', 'b']\nfriction_rule = 'maximum'\n\
         [[pair]]\nbodies = ['ball', 'ground']\ntorsion = 0\nrolling = 0\n");
    near(&none, [0.9, 0.0, 0.0]);
    assert_eq!(none.contacts().rows(), 3);
    assert!(!summary(&none).contains("torsion"));
}

#[test]
fn springs_rest_at_their_first_length_and_courses_follow_their_points() {
    let scene = from(
        r#"
[[body]]
name = "a"
mass = 1
shape = { box = { half = [1, 1, 1] } }
position = [3, 0, 0]
orientation = { quaternion = [2, 0, 0, 2] }
[[spring]]
from = { body = "a", point = [0, 1, 0] }
to = { point = [0, 0, 0] }
stiffness = 10
[[load]]
body = "a"
axes = "body"
torque = { points = [{ time = 0, value = [0, 0, 0] }, { time = 2, value = [0, 4, 0] }] }
"#,
    );
    // a quarter turn about z takes y to -x
    assert!((scene.springs[0].rest_length - 2.0).abs() < 1e-15);
    assert_eq!(scene.loads[0].torque.at(1.0), [0.0, 2.0, 0.0]);
    assert_eq!(scene.loads[0].axes, Axes::Body);
}

#[test]
fn polytopes_and_planar_boxes_have_the_mass_of_their_shape() {
    let scene = from(
        "[[body]]\nname = 'p'\ndensity = 6\nshape = { polytope = { vertices = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]] } }\n",
    );
    let inertia = &scene.bodies[0].link.inertia;
    assert!((inertia.mass - 1.0).abs() < 1e-14 && (inertia.center[2] - 0.25).abs() < 1e-14, "{inertia:?}");
    let flat =
        from("planar = true\n[[body]]\nname = 'b'\ndensity = 3\nshape = { box = { half = [1, 0.5] } }\n");
    let inertia = &flat.bodies[0].link.inertia;
    assert!((inertia.mass - 6.0).abs() < 1e-14 && (inertia.tensor[2][2] - 2.5).abs() < 1e-14, "{inertia:?}");
}
