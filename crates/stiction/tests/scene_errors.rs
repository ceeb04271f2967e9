//! Faults point at the line and column, say what was expected, and name the nearest known name.

use stiction::model::Owner;
use stiction::scene::{Fault, FrictionKind, Scene, SceneError};

fn faults(text: &str) -> Vec<Fault> {
    match Scene::from_toml("s.toml", text) {
        Err(SceneError::Invalid { faults, .. }) => faults,
        other => panic!("{other:?}\n{text}"),
    }
}

/// `text` has a fault exactly where the mark `§` stands (which is taken out), and it prints as `expected`.
#[track_caller]
fn check(text: &str, expected: &str) {
    let offset = text.find('§').expect("a mark");
    let clean = text.replacen('§', "", 1);
    let faults = faults(&clean);
    let line = clean[..offset].matches('\n').count() + 1;
    let column = offset - clean[..offset].rfind('\n').map_or(0, |i| i + 1) + 1;
    let place = faults[0].place.expect("a place");
    assert_eq!((place.line, place.column, place.offset), (line, column, offset), "{faults:?}");
    assert_eq!(faults[0].to_string(), format!("{line}:{column}: {expected}"));
    assert_eq!(faults.len(), 1, "{faults:?}");
}

/// A valid planar scene to break.
fn planar(rest: &str) -> String {
    format!("planar = true\n[[world]]\nname = \"ground\"\nshape = \"half_space\"\n{rest}")
}

const BALL: &str = "[[body]]\nname = \"ball\"\nmass = 1\nshape = { sphere = { radius = 0.1 } }\n";

#[test]
fn unknown_keys_are_answered_with_the_nearest_one() {
    check(
        "[[body]]\nname = 'b'\nmass = 1\nshape = { sphere = { §raduis = 0.1 } }",
        "unknown key 'raduis', did you mean 'radius'?",
    );
    check(
        "[[body]]\nname = 'b'\nmass = 1\nshape = { §spere = { radius = 0.1 } }",
        "unknown key 'spere', did you mean 'sphere'?",
    );
    check("§gravitiy = [0, 0, -1]", "unknown key 'gravitiy', did you mean 'gravity'?");
    check(
        "[§bodies]\nx = 1",
        "unknown key 'bodies', expected one of body, boundary, contact_point, friction_rule, gear, gravity, include, let, load, loop, material, motor, name, pair, planar, record, spring, step, world",
    );
    check("§includ = []", "unknown key 'includ', did you mean 'include'?");
    check("[step]\n§duratoin = 3", "unknown key 'duratoin', did you mean 'duration'?");
    check("[step]\nfriction = { polygon = { §side = 8 } }", "unknown key 'side', did you mean 'sides'?");
}

#[test]
fn the_error_prints_as_one_line_a_fault_in_the_order_of_the_file() {
    let text = format!("{BALL}masss = 2\n[step]\nhh = 1\n");
    let error = Scene::from_toml("dir/scene.toml", &text).unwrap_err();
    assert_eq!(
        error.to_string(),
        "dir/scene.toml:5:1: unknown key 'masss', did you mean 'mass'?\ndir/scene.toml:7:1: unknown key 'hh', did you mean 'h'?"
    );
    let missing = Scene::read("no/such/file.toml").unwrap_err();
    assert!(missing.to_string().starts_with("no/such/file.toml: "), "{missing}");
}

#[test]
fn unknown_choices_are_answered_with_the_nearest_one() {
    check("[step]\ngap = §'positon'", "unknown choice 'positon', did you mean 'position'?");
    check(
        "[[world]]\nname = 'g'\nshape = §'halfspace'",
        "unknown choice 'halfspace', did you mean 'half_space'?",
    );
    check("[record]\ntables = ['bodies', §'contact']", "unknown choice 'contact', did you mean 'contacts'?");
    check(
        "friction_rule = §'xyz'",
        "unknown choice 'xyz', expected one of geometric_mean, average, product, minimum, maximum",
    );
}

#[test]
fn syntax_wrong_types_and_missing_keys_have_their_place() {
    let place = faults("planar = true\nname = \n")[0].place.expect("a place");
    assert_eq!((place.line, place.column), (2, 8));
    check("[step]\nh = §'small'", "text, expected a number");
    check("planar = §1", "a whole number, expected true or false");
    check("gravity = §'down'", "text, expected a number or a list");
    check("[step]\nretries = §1.5", "a number, expected a whole number");
    check("[[body]]\nname = 'b'\nshape = { sphere = §{} }", "missing key 'radius'");
    check("§[[body]]\nmass = 1", "missing key 'name'");
    check("a = 1\n§a = 2", "duplicate key");
}

#[test]
fn choices_say_how_they_are_written() {
    check(
        "[[body]]\nname = 'b'\njoint = §'revolute'",
        "'revolute' alone, expected it with its settings: { revolute = { ... } }",
    );
    check(
        "[[world]]\nname = 'b'\nshape = { §half_space = {} }",
        "'half_space' has no settings, expected \"half_space\" alone",
    );
    check(
        "[[body]]\nname = 'b'\njoint = §3",
        "a whole number, expected one of free, planar, spherical, fixed, revolute, prismatic, screw, cylindrical, universal",
    );
    check("[[body]]\nname = 'b'\nshape = { sphere = §3 }", "a whole number, expected a table");
    check("[[body]]\nname = 'b'\nshape = §{}", "nothing chosen, expected one choice");
    check(
        "[[load]]\nbody = 'b'\nforce = §[0, 0, 1]",
        "a list, expected { constant = ... } or { points = ... } or { spline = ... } or { sinusoid = ... }",
    );
    check("[[load]]\nbody = 'b'\nforce = §{ constant = 1, points = [] }", "several choices, expected one");
    check("§[body]\nname = 'b'", "a table, expected a list");
    check("§[[step]]\nh = 1", "a list, expected a table");
    check("[step]\nretries = §-1", "invalid value: integer '-1', expected a whole number, 0 or more");
}

#[test]
fn numbers_must_be_finite() {
    let message = "not a finite number, expected a finite one";
    check("[step]\nh = §nan", message);
    check("gravity = [0, §-inf, 0]", message);
    check("[step]\nduration = §1e999", message);
}

#[test]
fn numbers_out_of_range_say_what_was_expected() {
    check("[[body]]\nname = 'b'\nmass = §-1\ninertia = [1, 1, 1]", "mass is -1, expected a number above 0");
    check("[[body]]\nname = 'b'\nmass = §0\ninertia = [1, 1, 1]", "mass is 0, expected a number above 0");
    check("[step]\nduration = §0", "duration is 0, expected a number above 0");
    check("[step]\nh = §-1e-3", "h is -0.001, expected a number above 0");
    check("[step]\nh = §1e-300", "duration / h is 1.0e300 steps, expected at most 1e12");
    check("[step]\nexplicit_share = §1.5", "explicit_share is 1.5, expected a number from 0 to 1");
    check("[step]\ntolerance = §1", "tolerance is 1, expected a number above 0 and below 1");
    check(
        "[step]\nfriction = { polygon = { sides = §5 } }",
        "sides is 5, expected an even number from 4 to 64",
    );
    check("[record]\ninterval = §1e-4", "interval is 0.0001, expected at least the step, 0.001");
    check("[[material]]\nname = 'm'\npoisson = §0.6", "poisson is 0.6, expected above -1 and at most 0.5");
    check("[[material]]\nname = 'm'\nfriction = §-0.1", "friction is -0.1, expected at least 0 and finite");
    check(
        "[[body]]\nname = 'b'\nmass = 1\nshape = { box = { half = §[1, 0, 1] } }",
        "half[1] must be positive and finite, but is 0",
    );
    check("gravity = §[0, -9.81]", "gravity has 2 numbers, expected a list of 3");
    check("planar = true\ngravity = §[0, 0, -9.81]", "gravity has 3 numbers, expected a list of 2");
    check(
        "[[material]]\nname = 'm'\nlaw = { half_space = { elements = §0, spacing = 1 } }",
        "elements is 0: 0 rows of deformation, expected 1 to 5000",
    );
    check(
        "[[material]]\nname = 'm'\nlaw = { kelvin_voigt = { stiffness = §-1 } }",
        "normal stiffness is -1, expected at least 0 and finite",
    );
    for (law, expected) in [
        ("§damping_ratio = 1", "damping_ratio without mass, expected both"),
        ("§mass = 1", "mass without damping_ratio, expected both"),
        ("damping = 1, §damping_ratio = 1", "damping_ratio beside damping, expected damping alone"),
        ("damping = 1, §mass = 1", "mass beside damping, expected damping alone"),
    ] {
        // the place is that of the value
        let (key, value) = law.split_at(law.rfind('1').unwrap());
        let law = format!("{}§{value}", key.replace('§', ""));
        let text = format!("[[material]]\nname = 'm'\nlaw = {{ kelvin_voigt = {{ stiffness = 1, {law} }} }}");
        check(&text, expected);
    }
}

#[test]
fn a_law_without_damping_has_none() {
    let text = "[[material]]\nname = 'm'\nlaw = { kelvin_voigt = { stiffness = [2, 1] } }";
    let resolved = Scene::from_toml("s.toml", text).unwrap().resolve().unwrap();
    let expected = stiction::contact::Law::KelvinVoigt { stiffness: [2.0, 1.0], damping: [0.0, 0.0] };
    assert_eq!(resolved.laws, [expected]);
}

#[test]
fn names_are_not_empty_and_one_fault_is_told_once() {
    check("name = §'  '", "the name of the scene is blank");
    check("[[material]]\nname = §' '", "the name of a material is empty or has control characters");
    let parts = "[[body.part]]\nshape = { sphere = { radius = 1 } }\n".repeat(2);
    check(
        &format!("[[body]]\nname = 'b'\nmass = 1\nmaterial = §'woood'\n{parts}"),
        "unknown material 'woood': there are none here",
    );
}

#[test]
fn steps_that_do_not_fit_the_duration_are_told() {
    let said = |h: f64, duration: f64| {
        stiction::scene::StepSettings { h, duration, ..Default::default() }.misfit().unwrap_or_default()
    };
    assert_eq!(said(0.1, 0.3), "");
    assert_eq!(said(1e-3, 1e4), "");
    assert_eq!(said(2.0, 1.0), "step.h = 2 s is longer than the duration of 1 s: the run is one step");
    let expected = "the duration of 1 s is no multiple of step.h = 0.3 s: the run ends at 1.2 s";
    assert_eq!(said(0.3, 1.0), expected);
}

#[test]
fn names_must_be_known_and_unique() {
    check(
        &format!("{BALL}[[body]]\nname = §\"ball\"\nmass = 1\nshape = {{ sphere = {{ radius = 1 }} }}"),
        "duplicate name 'ball', expected one that is not taken",
    );
    check(
        &format!("[[world]]\nname = 'ball'\nshape = 'half_space'\n{}", BALL.replace("name = ", "name = §")),
        "duplicate name 'ball', expected one that is not taken",
    );
    check(
        "[[material]]\nname = 'm'\n[[material]]\nname = §'m'",
        "duplicate name 'm', expected one that is not taken",
    );
    check(&BALL.replace("\"ball\"", "§'world'"), "the name 'world' is the world's own");
    check(&BALL.replace("\"ball\"", "§''"), "the name of a body is empty or has control characters");
    check(
        &format!("{BALL}material = §'stel'\n[[material]]\nname = 'steel'"),
        "unknown material 'stel', did you mean 'steel'?",
    );
    check(&format!("{BALL}material = §'steel'\n"), "unknown material 'steel': there are none here");
    check(
        "[[material]]\nname = 'steel'\n[[pair]]\nmaterials = ['steel', §'steal']\nfriction = 1",
        "unknown material 'steal', did you mean 'steel'?",
    );
    check(
        &format!(
            "{BALL}[[pair]]\nbodies = ['ball', §'grund']\nfriction = 1\n[[world]]\nname = 'ground'\nshape = 'half_space'"
        ),
        "unknown body 'grund', did you mean 'ground'?",
    );
    check(
        &format!("{BALL}[[load]]\nbody = §'bal'\nforce = {{ constant = [0, 0, 1] }}"),
        "unknown body 'bal', did you mean 'ball'?",
    );
    check(
        &format!(
            "{BALL}[[spring]]\nfrom = {{ body = §'Ball' }}\nto = {{ point = [1, 0, 0] }}\nstiffness = 1"
        ),
        "unknown body 'Ball', did you mean 'ball'?",
    );
}

#[test]
fn all_unknown_names_are_reported_at_once() {
    let text = format!(
        "{BALL}material = 'x'\nparent = 'y'\njoint = 'fixed'\n[[motor]]\nbody = 'z'\neffort = {{ constant = 1 }}"
    );
    let lines: Vec<usize> = faults(&text).iter().map(|f| f.place.map_or(0, |p| p.line)).collect();
    assert_eq!(lines, [5, 6, 9]);
}

#[test]
fn links_form_trees() {
    let link = |name: &str, parent: &str| {
        format!(
            "[[body]]\nname = '{name}'\nparent = {parent}\njoint = {{ revolute = {{}} }}\nmass = 1\ninertia = 1\n"
        )
    };
    check(
        &planar(&(link("upper", "'world'") + &link("lower", "§'uper'"))),
        "unknown body 'uper', did you mean 'upper'?",
    );
    check(&planar(&(link("a", "§'b'") + &link("b", "'a'"))), "'a' is its own ancestor, expected a tree");
    check(&planar(&link("a", "§'a'")), "'a' is its own ancestor, expected a tree");
    check(
        &planar(&(link("c", "'a'") + &link("a", "§'b'") + &link("b", "'a'"))),
        "'a' is its own ancestor, expected a tree",
    );
    check(
        &format!("{BALL}parent = §'base'\n{}", BALL.replace("ball", "base")),
        "a free body has no parent, expected another joint, or no parent",
    );
    check(
        &format!("{BALL}mount = §{{ position = [0, 0, 1] }}"),
        "a free body has no mount, expected position and orientation of the body",
    );
}

#[test]
fn planar_scenes_have_planar_shapes_and_joints_and_others_do_not() {
    check(
        &planar(
            "[[body]]\nname = 'b'\nmass = 1\ninertia = 1\nshape = §{ capsule = { radius = 1, half_length = 1 } }",
        ),
        "shape capsule cannot be used in a planar scene",
    );
    check(
        "[[body]]\nname = 'b'\nmass = 1\ninertia = [1, 1, 1]\nshape = §{ ellipse = { semi_axes = [1, 2] } }",
        "shape ellipse cannot be used in a spatial scene",
    );
    check(
        &planar("[[body]]\nname = 'b'\njoint = §'free'\nmass = 1\ninertia = 1"),
        "this joint leaves the plane of a planar scene, expected planar, revolute, prismatic or fixed",
    );
    check(
        &planar("[[body]]\nname = 'b'\njoint = { revolute = { axis = §[0, 0, 1] } }\nmass = 1\ninertia = 1"),
        "axis of a revolute joint in a planar scene, expected none: it is z",
    );
    let polygon = |corners: &str| {
        planar(&format!(
            "[[body]]\nname = 'b'\nmass = 1\nshape = {{ polygon = {{ vertices = §{corners} }} }}"
        ))
    };
    for (corners, message) in [
        ("[]", ": 0 given, but 3 to 5000 are needed"),
        ("[[0, 0], [1, 0]]", ": 2 given, but 3 to 5000 are needed"),
        ("[[0, 0], [0, 1], [1, 0]]", "[1] is not a corner of a convex polygon given counter-clockwise"),
        (
            "[[0, 0], [1, 0], [2, 0], [0, 1]]",
            "[1] is not a corner of a convex polygon given counter-clockwise",
        ),
        (
            "[[0, 0], [2, 0], [1, 0.1], [0, 2]]",
            "[2] is not a corner of a convex polygon given counter-clockwise",
        ),
        (
            "[[0, 0], [0, 0], [1, 0], [0, 1]]",
            "[1] is not a corner of a convex polygon given counter-clockwise",
        ),
    ] {
        check(&polygon(corners), &format!("vertices{message}"));
    }
    check(
        "[[body]]\nname = 'b'\nmass = 1\ninertia = [1, 1, 1]\nshape = { polytope = { vertices = §[[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]] } }",
        "vertices: all within 0 of a plane; a polytope needs a volume",
    );
}

#[test]
fn mass_and_inertia_must_be_possible() {
    check(
        "[[body]]\nname = §'b'\nshape = { sphere = { radius = 1 } }",
        "body 'b' has no mass, expected mass, or density of it or its material 'default'",
    );
    check(
        "[[body]]\nname = §'b'\nmass = 1",
        "body 'b' has no shape to take its inertia from, expected mass and inertia",
    );
    check(
        "[[body]]\nname = 'b'\nmass = 1\ninertia = §[1, 1, 3]",
        "no body has such an inertia: a moment is above the sum of the two others",
    );
    check(
        "[[body]]\nname = 'b'\nmass = 1\ninertia = §[1, 1, 0]",
        "inertia is not positive definite, expected moments above 0",
    );
    check(
        "[[body]]\nname = 'b'\nmass = 1\ninertia = §[1, 1]",
        "inertia has 2 numbers, expected 3 ([xx, yy, zz]) or 6 ([xx, yy, zz, xy, xz, yz])",
    );
    check("[[body]]\nname = 'b'\ninertia = §[1, 1, 1]", "inertia without mass, expected both");
    check(&format!("{BALL}density = §3"), "density beside mass, expected one of them");
    check(&format!("{BALL}center = §[0, 0, 1]"), "center without inertia, expected both");
}

#[test]
fn the_start_fits_the_joint() {
    check(
        &format!("{BALL}joint = {{ revolute = {{ axis = [0, 1, 0] }} }}\nposition = §[0, 0, 1]"),
        "position of a body on a revolute joint, expected angle, angle_deg, angular_velocity",
    );
    check(&format!("{BALL}joint = 'fixed'\nangle = §1"), "angle of a body on a fixed joint, expected none");
    check(&format!("{BALL}velocity = §[1, 0]"), "velocity has 2 numbers, expected a list of 3");
    check(
        &format!("{BALL}joint = {{ prismatic = {{ axis = §[0, 0, 0] }} }}"),
        "axis has no direction, expected a vector that is not zero",
    );
    check(
        &format!("{BALL}orientation = §{{ axis = [0, 0, 1] }}"),
        "orientation not clear, expected quaternion, or axis and angle (angle_deg)",
    );
    check(
        &format!("{BALL}orientation = {{ quaternion = §[0, 0, 0, 0] }}"),
        "quaternion is zero, expected [w, x, y, z] of any other length",
    );
    check(
        &planar("[[body]]\nname = 'b'\nmass = 1\ninertia = 1\nangle = 1\nangle_deg = §2"),
        "angle_deg beside angle, expected one of them",
    );
    check(
        &format!(
            "{BALL}[[body.part]]\nshape = {{ sphere = {{ radius = 1 }} }}\nangle = 1\norientation = §{{ quaternion = [1, 0, 0, 0] }}"
        ),
        "orientation beside angle, expected one of them",
    );
}

#[test]
fn forces_springs_and_motors_are_complete() {
    check(&format!("{BALL}[[load]]\nbody = §'ball'"), "a load without force or torque, expected one of them");
    check(
        &format!("{BALL}[[motor]]\nbody = §'ball'\neffort = {{ constant = 1 }}"),
        "'ball' is not on a joint with axes, expected one that is revolute, prismatic, screw, cylindrical or universal",
    );
    check(
        &format!(
            "{BALL}[[load]]\nbody = 'ball'\nforce = {{ points = [{{ time = 1, value = [0, 0, 0] }}, {{ time = §1, value = [0, 0, 0] }}] }}"
        ),
        "time is 1, expected more than at the point before",
    );
    check(
        &format!("{BALL}[[load]]\nbody = 'ball'\nforce = {{ points = §[] }}"),
        "no points, expected at least one",
    );
    check(
        &format!("{BALL}[[spring]]\nfrom = §{{ body = 'ball' }}\nto = {{}}"),
        "a spring without stiffness or damping, expected one of them",
    );
    check(
        &format!("{BALL}[[spring]]\nfrom = {{ body = 'ball' }}\nto = §{{ body = 'ball' }}\nstiffness = 1"),
        "both ends are the same point, expected two",
    );
    check(
        &format!("{BALL}[[spring]]\nfrom = {{ body = 'ball' }}\nto = {{}}\nstiffness = §-1"),
        "stiffness is -1, expected 0 or more",
    );
}

#[test]
fn every_contact_has_one_law() {
    let two = "[[body]]\nname = 'b'\nmass = 1\nmaterial = 'b'\nshape = { sphere = { radius = 1 } }\n[[world]]\nname = 'g'\nshape = 'half_space'\nmaterial = 'a'\n[[material]]\nname = 'a'\nyoung = 1\nlaw = { half_space = { elements = 3, spacing = 1 } }\n[[material]]\nname = 'b'\nlaw = §{ kelvin_voigt = { stiffness = 1, damping = 1 } }\n";
    check(two, "'a' and 'b' have different compliant laws, expected a pair with a law");
    let settled = two.replace('§', "") + "[[pair]]\nmaterials = ['a', 'b']\nlaw = 'rigid'\n";
    assert!(Scene::from_toml("s.toml", &settled).is_ok());
    let no_young = BALL.to_owned()
        + "material = 'a'\n[[world]]\nname = 'g'\nshape = 'half_space'\nmaterial = 'a'\n[[material]]\nname = 'a'\nlaw = §{ half_space = { elements = 3, spacing = 1 } }\n";
    check(&no_young, "half_space between 'a' and 'a', expected young of one of them");
    check(
        "[[material]]\nname = 'a'\n[[pair]]\nmaterials = ['a', 'a']\nfriction = 1\nfriction_rule = §'minimum'",
        "friction_rule beside friction, expected one of them",
    );
    check(
        "[[material]]\nname = 'a'\n[[pair]]\nmaterials = ['a', 'a']\n[[pair]]\nmaterials = §['a', 'a']",
        "duplicate pair, expected each once",
    );
    check("[[material]]\nname = 'a'\n[[pair]]\nmaterials = §['a']", "a pair of 1, expected two names");
    check("[[pair]]\nfriction = §1", "a pair of nothing, expected materials or bodies");
    check("[[pair]]\ncontact_point = §'first'", "a pair of nothing, expected materials or bodies");
    check(
        "[[material]]\nname = 'a'\n[[pair]]\nmaterials = ['a', 'a']\ncontact_point = §'first'",
        "first and second of one material, expected \"compliance\", \"middle\" or a pair of bodies",
    );
    check(
        "contact_point = §'second'",
        "expected \"compliance\" or \"middle\": first and second are those of a pair",
    );
}

#[test]
fn shapes_that_cannot_be_compared_must_not_meet() {
    let text = "[[world]]\nname = 'g'\nshape = 'half_space'\n[[body]]\nname = §'b'\nmass = 1\ninertia = [1, 1, 1]\nshape = 'half_space'\n";
    check(
        text,
        "'b' and 'g': contact of a half_space with a half_space is not supported, expected a pair with collide = false",
    );
    let apart = text.replace('§', "") + "[[pair]]\nbodies = ['b', 'g']\ncollide = false\n";
    assert!(Scene::from_toml("s.toml", &apart).is_ok());
}

#[test]
fn what_is_read_is_finite_even_from_extreme_numbers() {
    let text = "[[body]]\nname = 'b'\nmass = 1e-300\ninertia = [1, 1, 1]\njoint = { revolute = { axis = [0, 1e-320, 0] } }\nmount = { orientation = { quaternion = [0, 1e-310, 0, 0] } }\n";
    let scene = Scene::from_toml("s.toml", text).unwrap().resolve().unwrap();
    let stiction::dynamics::Joint::Revolute { axis } = scene.bodies[0].link.joint else {
        panic!("{scene:?}")
    };
    assert_eq!((axis, scene.bodies[0].link.mount.attitude.0), ([0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0]));
    check(
        "[[body]]\nname = §'b'\nmass = 1\nshape = { sphere = { radius = 1e-200 } }",
        "body 'b' is too small or too large: its inertia is out of range",
    );
    check(
        &format!(
            "{BALL}position = [1e200, 0, 0]\n[[spring]]\nfrom = §{{ body = 'ball' }}\nto = {{}}\nstiffness = 1"
        ),
        "the ends are too far apart, expected a finite length",
    );
}

#[test]
fn a_pair_may_have_a_friction_set_where_its_contacts_allow_it() {
    let pair = |set: &str| {
        of_material("", &format!("[[pair]]\nbodies = ['ball', 'ground']\nfriction_set = {set}\n"))
    };
    for (set, kind) in [
        ("'cone'", FrictionKind::Cone),
        ("'pyramid'", FrictionKind::Pyramid),
        ("'frictionless'", FrictionKind::Frictionless),
        ("{ polygon = { sides = 6 } }", FrictionKind::Polygon { sides: 6 }),
    ] {
        let scene = Scene::from_toml("s.toml", &pair(set)).expect("valid").resolve().expect("valid");
        assert_eq!(scene.pairs[0].given.friction_set, Some(kind));
        let rule = scene.contact_rule((Owner::Body(0), 0), (Owner::World(0), 0)).expect("they can touch");
        assert_eq!((rule.friction_set, rule.friction > 0.0), (kind, kind != FrictionKind::Frictionless));
    }
    check(&pair("{ polygon = { sides = §7 } }"), "sides is 7, expected an even number from 4 to 64");
    check("[[pair]]\nfriction_set = §'pyramid'", "a pair of nothing, expected materials or bodies");
    let lemke = |set: &str| format!("{}[step]\nfriction = 'pyramid'\nsolver = §'lemke'\n", pair(set));
    let why = "lemke is for friction = \"pyramid\" or a polygon, of all pairs, and for planar scenes";
    check(&lemke("'cone'"), why);
    assert!(Scene::from_toml("s.toml", &lemke("'frictionless'").replace('§', "")).is_ok());
    // under the cone by default, where no contact has it
    let only = format!("{}[step]\nsolver = 'lemke'\n", pair("'pyramid'"));
    assert!(Scene::from_toml("s.toml", &only).is_ok());
    check(&of_material("", "[step]\nsolver = §'lemke'\n"), why);
    // a second ball rolls on the ground with friction of its own: then all contacts have rows for moments
    let second = BALL.replace("ball", "other");
    let rolls = "[[pair]]\nbodies = ['other', 'ground']\nrolling = 0.01\n";
    let set = "[[pair]]\nbodies = ['ball', 'ground']\nfriction_set = §'pyramid'\n";
    let text = of_material("", &format!("{second}material = 'm'\n{rolls}{set}"));
    check(
        &text,
        "friction set of 'm' and 'm': expected \"cone\", for other contacts of the scene have torsion or rolling friction",
    );
}

#[test]
fn a_grain_is_a_direction_of_one_of_two_bodies() {
    let with = |grain: &str, more: &str| {
        of_material(
            "friction = 0.3",
            &format!("[[pair]]\nbodies = ['ball', 'ground']\ngrain = {grain}\n{more}"),
        )
    };
    let pair = |grain: &str| with(grain, "");
    let good = "{ body = 'ball', along = [0, 0, 2], across = 0.6 }";
    let scene = Scene::from_toml("s.toml", &pair(good)).expect("valid").resolve().expect("valid");
    let grain = scene.pairs[0].grain.expect("given");
    assert_eq!((grain.of, grain.along, grain.across), (Owner::Body(0), [0.0, 0.0, 1.0], 0.6));
    check(
        &pair("{ body = §'bal', along = [1, 0, 0], across = 0.6 }"),
        "unknown body of the pair 'bal', did you mean 'ball'?",
    );
    check(
        &pair("{ body = 'ball', along = §[0, 0, 0], across = 0.6 }"),
        "along is no direction, expected a vector that is not 0",
    );
    check(
        &pair("{ body = 'ball', along = [1, 0, 0], across = §0 }"),
        "across is 0, expected a number above 0",
    );
    let range = "grain: friction is 0.3 along and 1000.0 across, expected at most 1000, and neither below 0.001 of the other";
    check(&pair("§{ body = 'ball', along = [1, 0, 0], across = 1000.0 }"), range);
    let flat = "friction_set = 'pyramid'\n";
    check(&with(&format!("§{good}"), flat), "grain: expected Coulomb's cone, not another friction set");
    let patch = "young = 1e7\nlaw = { half_space = { elements = 3, spacing = 1e-3 } }";
    let moving = format!("[[pair]]\nbodies = ['ball', 'ground']\ngrain = §{good}\n");
    check(
        &of_material(patch, &moving),
        "grain: the elements of a half_space patch lie along it: expected one of the world, or of a body that is fixed to it",
    );
    let materials = format!("[[pair]]\nmaterials = ['m', 'm']\ngrain = §{good}\n");
    check(
        &of_material("", &materials),
        "grain of materials, expected it in a pair of bodies: it is a direction of one of them",
    );
    let planar = pair("§{ body = 'ball', along = [1, 0], across = 0.6 }");
    check(
        &format!("planar = true\n{planar}"),
        "grain: contacts of a planar scene have one direction of friction",
    );
    check(&format!("[[pair]]\ngrain = §{good}"), "a pair of nothing, expected materials or bodies");
}

/// A ball on the ground, of one material with these lines, and the rest of the file.
fn of_material(lines: &str, rest: &str) -> String {
    format!(
        "[[material]]\nname = 'm'\n{lines}\n[[world]]\nname = 'ground'\nshape = 'half_space'\nmaterial = 'm'\n{BALL}material = 'm'\n{rest}"
    )
}

#[test]
fn torsion_and_rolling_are_only_where_contacts_can_have_them() {
    for what in ["torsion", "rolling"] {
        let given = |value: &str| format!("{what} = {value}");
        let wrong = |more: &str, rest: &str, why: &str| {
            let text = of_material(&format!("{}\n{more}", given("§0.01")), rest);
            check(&text, &format!("{what} is 0.01 between 'm' and 'm', {why}"));
        };
        check(&of_material(&given("§-0.01"), ""), &format!("{what} is -0.01, expected 0 or more"));
        check(&of_material(&given("§inf"), ""), "not a finite number, expected a finite one");
        check(&of_material(&given("§nan"), ""), "not a finite number, expected a finite one");
        wrong("friction = 0", "", "needs friction above 0");
        wrong(
            "young = 1e6\nlaw = { half_space = { elements = 3, spacing = 1e-3 } }",
            "",
            "expected 0: a half_space patch has its torsion from its elements",
        );
        for friction in ["'pyramid'", "'frictionless'", "{ polygon = { sides = 8 } }"] {
            let step = format!("[step]\nfriction = {friction}\n");
            wrong("", &step, "expected 0: such a moment needs Coulomb's cone, not another friction set");
        }
        let planar = format!("planar = true\n{}", of_material(&given("§0.01"), ""));
        let why = "expected 0: contacts of a planar scene have no such moment";
        check(&planar, &format!("{what} is 0.01 between 'm' and 'm', {why}"));
        let own = "[[pair]]\nbodies = ['ball', 'ground']\nfriction_set = 'pyramid'\n";
        wrong("", own, "expected 0: such a moment needs Coulomb's cone, not another friction set");
        // by a pair; of 0 it says nothing
        let pair = |value: &str| format!("[[pair]]\nbodies = ['ball', 'ground']\n{what} = {value}\n");
        let own = of_material("friction = 0", &pair("§0.02"));
        check(&own, &format!("{what} is 0.02 between 'm' and 'm', needs friction above 0"));
        check(&of_material("", &pair("§-1")), &format!("{what} is -1, expected 0 or more"));
        let rest = pair("0") + "[step]\nfriction = 'pyramid'\n";
        assert!(Scene::from_toml("s.toml", &of_material(&given("0.01"), &rest)).is_ok());
        check(&format!("[[pair]]\n{what} = §1"), "a pair of nothing, expected materials or bodies");
    }
}

#[test]
fn no_input_panics() {
    let base = planar(
        "[[body]]\nname = 'b'\nmass = 1\nshape = { polygon = { vertices = [[0, 0], [1, 0], [0, 1]] } }\n[[pair]]\nbodies = ['b', 'ground']\nfriction = 0.1\n[step]\nh = 1e-3\n",
    );
    for cut in 0..base.len() {
        let _ = Scene::from_toml("s.toml", &base[..cut]);
        for with in ["", "[", "'", "nan", "-1e300", "\u{e9}", "[[]]", "1e-320"] {
            let text = format!("{}{with}{}", &base[..cut], &base[cut + 1..]);
            let _ = Scene::from_toml("s.toml", &text).map_err(|e| e.to_string());
        }
    }
}

/// What only two shapes that can touch make wrong.
#[test]
fn rough_and_rigid_contacts_are_refused_where_they_are_given() {
    let ground = "[[world]]\nname = 'ground'\nshape = 'half_space'\n";
    let rest = format!("{ground}{BALL}");
    let rigid = "explicit_share is 0.7, expected at most 0.5 where contacts are rigid: above, they rebound \
                 faster than they approach";
    check(&format!("{rest}[step]\nexplicit_share = §0.7"), rigid);
    check(
        &format!("{rest}[[pair]]\nbodies = ['ball', 'ground']\nfriction = §1e300"),
        "friction is 1e300 between 'default' and 'default', expected at most 1000",
    );
    let material = |rule: &str, mark: &str| {
        format!(
            "friction_rule = '{rule}'\n[[material]]\nname = 'm'\nfriction = {mark}1e6\n{rest}material = 'm'\n"
        )
    };
    check(
        &material("average", "§"),
        "friction is 500000.25 between 'm' and 'default', expected at most 1000",
    );
    // it does not come to that
    Scene::from_toml("s.toml", &material("minimum", "")).expect("a valid scene");
}
