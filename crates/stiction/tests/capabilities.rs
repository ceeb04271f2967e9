//! Every cell of the table of capabilities, tried on a small scene in both directions: what is supported runs, what is not is refused by name. And the page
//! `docs/capabilities.md`, which is the table. After a change of the table: `UPDATE_CAPABILITIES=1 cargo test --release -p stiction capabilities::`.

use stiction::boundary::{NotDifferentiable, Parameters, step_with_derivatives};
use stiction::inputs::Inputs;
use stiction::scene::capabilities::{CAPABILITIES, Capability, Condition, Support, Thing, Use};
use stiction::stepper::Stepper;

/// Keys of the materials, of the step, of the ball and of the world, and tables besides; `planar` scenes have circles.
#[derive(Default)]
struct Parts {
    planar: bool,
    law: String,
    material: String,
    step: String,
    ball: String,
    shape: Option<&'static str>,
    ground: String,
    rest: String,
}

impl Parts {
    fn text(&self, in_use: Use) -> String {
        let scheme = match in_use {
            Use::Implicit => "implicit",
            Use::Compliant => "compliant",
            Use::Event => "event",
            Use::Theta | Use::Auto | Use::Derivatives => "theta",
        };
        let shape = self.shape.unwrap_or("{ sphere = { radius = 0.1 } }");
        let gravity = if self.planar { "[0, -9.81]" } else { "[0, 0, -9.81]" };
        let (at, v) = if self.planar { ("[0, 0.1]", "[0.1, 0]") } else { ("[0, 0, 0.1]", "[0.1, 0, 0]") };
        format!(
            "planar = {}\ngravity = {gravity}\n[[material]]\nname = 'default'\nfriction = 0.5\n{}\n{}\n\
             [[world]]\nname = 'ground'\nshape = 'half_space'\n{}\n\
             [[body]]\nname = 'ball'\nshape = {shape}\nmass = 1\nposition = {at}\nvelocity = {v}\n{}\n{}\n\
             [step]\nscheme = '{scheme}'\nh = 1e-3\nduration = 0.02\n{}\n",
            self.planar, self.law, self.material, self.ground, self.ball, self.rest, self.step
        )
    }
}

/// A law with which contacts are supported in a use.
fn plain_law(in_use: Use) -> &'static str {
    match in_use {
        Use::Compliant => SOFT,
        Use::Auto => "law = 'auto'",
        _ => "",
    }
}

const SOFT: &str = "law = { kelvin_voigt = { stiffness = 1e4, damping = 50 } }";
const ARM: &str =
    "[[body]]\nname = 'arm'\nmass = 1\ninertia = [1, 1, 1]\njoint = { revolute = { axis = [0, 1, 0]";
const FORK: &str = "[[body]]\nname = 'fork'\nmass = 1\ninertia = [1, 1, 1]\nmount = { position = [3, 0, 3] }\njoint = { revolute = { axis = [0, 1, 0] } }\n";

/// An arm on a hinge far from the ground, with more keys in the joint, and more tables.
fn arm(joint: &str, tables: &str) -> String {
    format!("{ARM}{joint} }} }}\nmount = {{ position = [2, 0, 3] }}\n{tables}")
}

/// A scene that has a thing, and where the cell has a condition, meets it or not.
fn scene(thing: Thing, in_use: Use, meets: bool) -> Parts {
    let law = plain_law(in_use).to_owned();
    let mut parts = Parts { law, ..Parts::default() };
    let soft = SOFT.to_owned();
    let condition = match thing.support(in_use) {
        Support::If(condition) => Some(condition),
        _ => None,
    };
    match thing {
        Thing::Rigid => parts.law = String::new(),
        Thing::KelvinVoigt if !meets => parts.law = "law = { kelvin_voigt = { stiffness = 1e4 } }".to_owned(),
        Thing::KelvinVoigt => parts.law = soft,
        Thing::HuntCrossley => {
            let tangential = if meets { ", tangential_stiffness = 1e4, tangential_damping = 50" } else { "" };
            parts.law = format!("law = {{ hunt_crossley = {{ stiffness = 1e5{tangential} }} }}");
        }
        Thing::Layer => {
            "law = { layer = { stiffness = 1e4, damping = 10, thickness = 0.01 } }"
                .clone_into(&mut parts.law);
        }
        Thing::HalfSpace => {
            let elements = if meets { 1 } else { 3 };
            parts.law = format!(
                "young = 1e7\npoisson = 0.3\nlaw = {{ half_space = {{ elements = {elements}, spacing = 1e-3 }} }}"
            );
        }
        Thing::HertzMindlin => {
            "young = 1e7\npoisson = 0.3\nlaw = { hertz_mindlin = { radius = 0.1, damping_time = 1e-4 } }"
                .clone_into(&mut parts.law);
        }
        Thing::Auto => "law = 'auto'".clone_into(&mut parts.law),
        Thing::Frictionless => "friction = 'frictionless'".clone_into(&mut parts.step),
        Thing::Cone => "friction = 'cone'".clone_into(&mut parts.step),
        Thing::Polygon => {
            "friction = 'pyramid'".clone_into(&mut parts.step);
            parts.planar = meets && condition == Some(Condition::Planar);
        }
        Thing::Smooth => {
            "friction = { smooth = { velocity = 1e-3 } }".clone_into(&mut parts.step);
            if meets && in_use == Use::Theta {
                parts.law = soft;
            }
        }
        Thing::Moments => "torsion = 0.01\nrolling = 0.01".clone_into(&mut parts.material),
        Thing::Grain => {
            "[[pair]]\nbodies = ['ball', 'ground']\ngrain = { body = 'ground', along = [1, 0, 0], across = 0.2 }".clone_into(&mut parts.rest);
            if !meets {
                parts.law = soft;
            }
        }
        Thing::Restitution => "restitution = 0.5".clone_into(&mut parts.material),
        Thing::Limit => parts.rest = arm(", limits = [-1, 1]", ""),
        Thing::SoftLimit => {
            parts.rest = arm(", limits = [-1, 1], stop = { stiffness = 1e3, damping = 1 }", "");
        }
        Thing::BouncingLimit => parts.rest = arm(", limits = [-1, 1], stop = { restitution = 0.5 }", ""),
        Thing::JointFriction => parts.rest = arm(", friction = 0.1", ""),
        Thing::JointSpring => parts.rest = arm(", stiffness = 10, damping = 1", ""),
        Thing::Motion => parts.rest = arm("", "[[motor]]\nbody = 'arm'\nvelocity = { constant = 1 }"),
        Thing::Servo => {
            parts.rest =
                arm("", "[[motor]]\nbody = 'arm'\nposition = { constant = 1 }\nstiffness = 10\ndamping = 1");
        }
        Thing::Effort => parts.rest = arm("", "[[motor]]\nbody = 'arm'\neffort = { constant = 1 }"),
        Thing::Gear | Thing::SoftGear => {
            let soft = if thing == Thing::SoftGear { "\nstiffness = 1e3\ndamping = 1" } else { "" };
            parts.rest = arm("", &format!("{FORK}[[gear]]\njoints = ['arm', 'fork']\nratio = 2{soft}"));
        }
        Thing::Loop | Thing::SoftLoop => {
            let soft = if thing == Thing::SoftLoop { "\nstiffness = 1e3\ndamping = 1" } else { "" };
            let ends =
                "from = { body = 'arm', point = [0, 0, 1] }\nto = { body = 'fork', point = [0, 0, 1] }";
            parts.rest = arm("", &format!("{FORK}[[loop]]\nkind = 'distance'\n{ends}{soft}"));
        }
        Thing::Load => {
            "[[load]]\nbody = 'ball'\nforce = { constant = [0.1, 0, 0] }".clone_into(&mut parts.rest);
        }
        Thing::MovingSurface => "surface_velocity = { constant = [0.1, 0, 0] }".clone_into(&mut parts.ground),
        Thing::Plain => parts.shape = Some("{ box = { half = [0.1, 0.1, 0.1] } }"),
        Thing::Functions => {
            "inertia = [0.004, 0.004, 0.004]".clone_into(&mut parts.ball);
            parts.shape =
                Some("{ quadric = { matrix = [1, 1, 1, 0, 0, 0], vector = [0, 0, 0], constant = -0.01 } }");
        }
        Thing::VelocityGap => "gap = 'velocity'".clone_into(&mut parts.step),
        Thing::LateForces => "forces = 'theta'".clone_into(&mut parts.step),
        Thing::Resume => {}
    }
    if condition == Some(Condition::EndOfStep) && !meets {
        parts.step.push_str("\nexplicit_share = 0.5");
    }
    parts
}

/// What became of a scene: `Err` where it is refused before the first step.
fn tried(thing: Thing, in_use: Use, text: &str) -> Result<(), String> {
    let scene = stiction::from_toml("scene", text).map_err(|e| e.to_string())?;
    let mut stepper = Stepper::new(scene).map_err(|e| e.to_string())?;
    let mut state = stepper.initial();
    for k in 0..10 {
        if in_use == Use::Derivatives {
            let h = stepper.scene().step.h;
            let made = step_with_derivatives(
                &mut stepper,
                &mut state,
                &Inputs::default(),
                h,
                &Parameters::default(),
            );
            match made {
                Err(NotDifferentiable::Unknown { what }) => return Err(what),
                Err(NotDifferentiable::Patch { contact, .. }) => return Err(contact),
                other => drop(other.unwrap_or_else(|e| panic!("{text}\n{e}"))),
            }
            continue;
        }
        let _ = stepper.step(&mut state).map_err(|e| e.to_string())?;
        if thing == Thing::Resume && k == 5 {
            let mut other = Stepper::of(stepper.model().clone());
            let mut again = state.clone();
            let _ = (stepper.step(&mut state).unwrap(), other.step(&mut again).unwrap());
            assert_eq!(state, again, "{text}");
        }
    }
    assert!(state.position.iter().chain(&state.velocity).all(|x| x.is_finite()), "{text}");
    Ok(())
}

#[test]
fn every_cell_says_what_happens() {
    let mut wrong = vec![];
    for Capability { thing, name, support, .. } in &CAPABILITIES {
        for (in_use, support) in Use::ALL.into_iter().zip(support) {
            // other laws stand beside auto in no scene, and runs are resumed and not differentiated
            let is_law = thing.row().group == "law" && *thing != Thing::Auto;
            let nothing =
                in_use == Use::Auto && is_law || in_use == Use::Derivatives && *thing == Thing::Resume;
            // without rigid contacts there are none that rebound
            if nothing || in_use == Use::Compliant && *thing == Thing::Restitution {
                continue;
            }
            let cases = match support {
                Support::Yes => vec![(true, true)],
                Support::No => vec![(true, false)],
                Support::If(_) => vec![(true, true), (false, false)],
            };
            for (meets, expected) in cases {
                let text = scene(*thing, in_use, meets).text(in_use);
                let found = tried(*thing, in_use, &text);
                let named = |e: &String| e.contains(name) || e.contains("explicit_share");
                let said = found.as_ref().err().is_none_or(|e| named(e) || in_use == Use::Derivatives);
                if found.is_ok() != expected || !said {
                    wrong.push(format!(
                        "{name}, {}, meets: {meets}: expected {expected}, {found:?}",
                        in_use.words()
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_thing_has_one_row() {
    for (k, row) in CAPABILITIES.iter().enumerate() {
        assert_eq!(row.thing.row().thing, row.thing);
        assert!(CAPABILITIES[..k].iter().all(|other| other.thing != row.thing && other.name != row.name));
    }
}

/// The page of the documentation.
fn page() -> String {
    let mut out = String::from(
        "# What combines with what\n\nMade from the table by which scenes are checked; a test tries every cell. `yes`: supported. Words: supported if that holds. Empty: refused, with what \
         supports it. `law = \"auto\"` is a column, for it limits what else a scene may have, whatever the scheme.\n\n",
    );
    let heads: Vec<String> = Use::ALL
        .iter()
        .map(|u| {
            u.words()
                .trim_start_matches("scheme = ")
                .replace('"', "`")
                .replace("law = `auto`", "`law = \"auto\"`")
        })
        .collect();
    out += &format!("| | {} |\n|{}\n", heads.join(" | "), " --- |".repeat(heads.len() + 1));
    for row in &CAPABILITIES {
        let cell = |support: &Support| match support {
            Support::Yes => "yes".to_owned(),
            Support::If(condition) => condition.words().to_owned(),
            Support::No => String::new(),
        };
        let cells: Vec<String> = row.support.iter().map(cell).collect();
        out += &format!("| {}: {} | {} |\n", row.group, row.name, cells.join(" | "));
    }
    out
}

#[test]
fn the_page_is_the_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/capabilities.md");
    if std::env::var_os("UPDATE_CAPABILITIES").is_some() {
        std::fs::write(path, page()).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), page());
}
