//! What combines with what: the one table from which checks, messages, documentation and programs take it.
//!
//! A row is something that a scene can have, a column a way in which scenes are used: the schemes, `law = "auto"` (which changes between rigid and
//! compliant contacts) and derivatives of steps. `tests/capabilities.rs` tries every cell in both directions.

use crate::Scheme;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// What a scene can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Thing {
    /// Rigid contacts.
    Rigid,
    /// `law = { kelvin_voigt = .. }`.
    KelvinVoigt,
    /// `law = { hunt_crossley = .. }`.
    HuntCrossley,
    /// `law = { layer = .. }`.
    Layer,
    /// `law = { half_space = .. }`.
    HalfSpace,
    /// `law = { hertz_mindlin = .. }`.
    HertzMindlin,
    /// `law = "auto"`.
    Auto,
    /// Contacts without friction.
    Frictionless,
    /// Coulomb's cone.
    Cone,
    /// Pyramids and polygons.
    Polygon,
    /// Smooth friction.
    Smooth,
    /// Torsional and rolling friction.
    Moments,
    /// Friction that depends on the direction.
    Grain,
    /// Restitution of contacts.
    Restitution,
    /// Limits of joints without spring.
    Limit,
    /// Limits with spring and damper.
    SoftLimit,
    /// Limits with restitution.
    BouncingLimit,
    /// Coulomb friction in joints.
    JointFriction,
    /// Springs and dampers in joints.
    JointSpring,
    /// Motors that prescribe a motion.
    Motion,
    /// Motors with gains.
    Servo,
    /// Motors with a given effort.
    Effort,
    /// Rigid gears.
    Gear,
    /// Gears with spring and damper.
    SoftGear,
    /// Rigid loops.
    Loop,
    /// Loops with spring and damper.
    SoftLoop,
    /// Loads and springs between bodies.
    Load,
    /// Surfaces that move by themselves: belts, rollers, shakers.
    MovingSurface,
    /// Shapes known by corners and radii.
    Plain,
    /// Shapes given by functions.
    Functions,
    /// `step.gap = "velocity"`.
    VelocityGap,
    /// `step.forces = "theta"`.
    LateForces,
    /// A run continued from a saved state, to the bit.
    Resume,
}

/// How a scene is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Use {
    /// `step.scheme = "theta"`.
    Theta,
    /// `step.scheme = "implicit"`.
    Implicit,
    /// `step.scheme = "compliant"`.
    Compliant,
    /// `step.scheme = "event"`.
    Event,
    /// `law = "auto"`, whatever the scheme.
    Auto,
    /// Derivatives of steps, by which boundary-value problems and fits are solved.
    Derivatives,
}

impl Use {
    /// All of them, in the order of [`Capability::support`].
    pub const ALL: [Self; 6] =
        [Self::Theta, Self::Implicit, Self::Compliant, Self::Event, Self::Auto, Self::Derivatives];

    /// As users write it.
    pub fn words(self) -> &'static str {
        match self {
            Self::Theta => "scheme = \"theta\"",
            Self::Implicit => "scheme = \"implicit\"",
            Self::Compliant => "scheme = \"compliant\"",
            Self::Event => "scheme = \"event\"",
            Self::Auto => "law = \"auto\"",
            Self::Derivatives => "derivatives",
        }
    }
}

impl From<Scheme> for Use {
    fn from(scheme: Scheme) -> Self {
        match scheme {
            Scheme::Theta => Self::Theta,
            Scheme::Implicit => Self::Implicit,
            Scheme::Compliant => Self::Compliant,
            Scheme::Event => Self::Event,
        }
    }
}

/// What a scene needs besides, for something to be supported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// Everything happens in the plane.
    Planar,
    /// Slip is found from a damper.
    TangentialDamping,
    /// Friction needs a spring or damper that it acts through.
    Tangential,
    /// Friction that depends on the compression.
    CompliantLaw,
    /// Rigid contacts.
    RigidContacts,
    /// The end of the step is what is posed.
    EndOfStep,
    /// Patches of one element.
    OneElement,
}

impl Condition {
    /// What is expected, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Planar => "a planar scene",
            Self::TangentialDamping => {
                "tangential damping above 0, by which slip is found (song2001 (16)), or smooth friction"
            }
            Self::Tangential => {
                "tangential_stiffness or tangential_damping above 0 where there is friction, or smooth friction"
            }
            Self::CompliantLaw => "kelvin_voigt or hunt_crossley",
            Self::RigidContacts => "rigid contacts",
            Self::EndOfStep => "explicit_share = 0",
            Self::OneElement => "patches of one element",
        }
    }
}

/// A cell of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Support {
    /// Supported.
    Yes,
    /// Supported under a condition.
    If(Condition),
    /// Refused by name.
    No,
}

/// A row of the table.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Capability {
    /// What a scene can have.
    pub thing: Thing,
    /// Heading under which it stands.
    pub group: &'static str,
    /// Its name in documentation and messages.
    pub name: &'static str,
    /// By [`Use::ALL`].
    pub support: [Support; 6],
}

use Condition::{CompliantLaw, EndOfStep, OneElement, Planar, RigidContacts, Tangential, TangentialDamping};
use Support::{If, No, Yes};
use Thing as T;

const fn row(thing: Thing, group: &'static str, name: &'static str, support: [Support; 6]) -> Capability {
    Capability { thing, group, name, support }
}

/// The table. Columns: theta, implicit, compliant, event, law = "auto", derivatives.
#[rustfmt::skip]
pub const CAPABILITIES: [Capability; 33] = [
    row(T::Rigid, "law", "rigid", [Yes, Yes, No, Yes, No, Yes]),
    row(T::KelvinVoigt, "law", "kelvin_voigt", [Yes, Yes, If(TangentialDamping), No, No, Yes]),
    row(T::HuntCrossley, "law", "hunt_crossley", [If(Tangential), No, If(TangentialDamping), No, No, No]),
    row(T::Layer, "law", "layer", [No, Yes, No, No, No, No]),
    row(T::HalfSpace, "law", "half_space", [Yes, No, No, No, No, If(OneElement)]),
    row(T::HertzMindlin, "law", "hertz_mindlin", [Yes, No, No, No, No, Yes]),
    row(T::Auto, "law", "auto", [Yes, No, Yes, Yes, Yes, No]),
    row(T::Frictionless, "friction", "frictionless", [Yes, Yes, Yes, Yes, Yes, Yes]),
    row(T::Cone, "friction", "cone", [Yes, Yes, Yes, Yes, Yes, Yes]),
    row(T::Polygon, "friction", "polygonal friction", [Yes, Yes, If(Planar), If(Planar), If(Planar), Yes]),
    row(T::Smooth, "friction", "smooth friction", [If(CompliantLaw), No, Yes, No, No, No]),
    row(T::Moments, "friction", "torsion and rolling friction", [Yes, Yes, No, No, No, Yes]),
    row(T::Grain, "friction", "anisotropic friction", [Yes, If(RigidContacts), No, No, No, Yes]),
    row(T::Restitution, "contact", "restitution of rigid contacts", [Yes, No, No, Yes, Yes, Yes]),
    row(T::Limit, "joint", "rigid limits", [Yes, Yes, No, Yes, No, Yes]),
    row(T::SoftLimit, "joint", "limits with stiffness", [Yes, If(EndOfStep), Yes, Yes, No, Yes]),
    row(T::BouncingLimit, "joint", "limits with restitution", [Yes, No, No, Yes, No, Yes]),
    row(T::JointFriction, "joint", "friction in joints", [Yes, Yes, No, Yes, No, Yes]),
    row(T::JointSpring, "joint", "springs in joints", [Yes, Yes, Yes, Yes, No, Yes]),
    row(T::Motion, "motor", "motors that prescribe a motion", [Yes, If(EndOfStep), No, No, No, Yes]),
    row(T::Servo, "motor", "motors with gains", [Yes, If(EndOfStep), Yes, Yes, No, Yes]),
    row(T::Effort, "motor", "motors with an effort", [Yes, Yes, Yes, Yes, Yes, Yes]),
    row(T::Gear, "machine", "rigid gears", [Yes, If(EndOfStep), No, Yes, No, Yes]),
    row(T::SoftGear, "machine", "gears with stiffness", [Yes, If(EndOfStep), Yes, Yes, No, Yes]),
    row(T::Loop, "machine", "rigid loops and ropes", [Yes, If(EndOfStep), No, Yes, No, Yes]),
    row(T::SoftLoop, "machine", "loops and ropes with stiffness", [Yes, If(EndOfStep), Yes, Yes, No, Yes]),
    row(T::Load, "load", "loads and springs", [Yes, Yes, Yes, Yes, Yes, Yes]),
    row(T::MovingSurface, "surface", "surfaces that move by themselves", [Yes, If(EndOfStep), No, No, No, No]),
    row(T::Plain, "shape", "half-spaces, spheres, capsules, cylinders, ellipsoids, boxes, polytopes, polygons", [Yes, Yes, Yes, Yes, Yes, Yes]),
    row(T::Functions, "shape", "superellipsoids, quadrics, polynomials, intersections", [Yes, Yes, Yes, No, Yes, Yes]),
    row(T::VelocityGap, "step", "gap = \"velocity\"", [Yes, No, Yes, Yes, Yes, Yes]),
    row(T::LateForces, "step", "forces = \"theta\"", [Yes, No, Yes, Yes, Yes, Yes]),
    row(T::Resume, "run", "resumed runs", [Yes, Yes, Yes, Yes, Yes, Yes]),
];

/// The table as a list of objects: `thing`, `group`, `name`, and for each use whether it is supported: `true`, `false`, or the condition in words.
pub fn table() -> Value {
    let rows = CAPABILITIES.iter().map(|row| {
        let mut object = Map::new();
        object.insert("thing".to_owned(), json!(row.thing));
        object.insert("group".to_owned(), json!(row.group));
        object.insert("name".to_owned(), json!(row.name));
        for (in_use, support) in Use::ALL.iter().zip(row.support) {
            let key = json!(in_use).as_str().unwrap_or_default().to_owned();
            let value = match support {
                Yes => json!(true),
                No => json!(false),
                If(condition) => json!(condition.words()),
            };
            object.insert(key, value);
        }
        Value::Object(object)
    });
    rows.collect()
}

impl Thing {
    /// Its row of the table.
    pub fn row(self) -> &'static Capability {
        // a test finds every one
        CAPABILITIES.iter().find(|row| row.thing == self).unwrap_or(&CAPABILITIES[0])
    }

    /// Whether it is supported in a use.
    pub fn support(self, in_use: Use) -> Support {
        Use::ALL.iter().zip(self.row().support).find(|(u, _)| **u == in_use).map_or(No, |(_, s)| s)
    }

    /// What is wrong with it in a use, `met` being whether a condition holds: in words, with what supports it.
    pub fn refusal(self, in_use: Use, met: impl Fn(Condition) -> bool) -> Option<String> {
        let (name, words) = (self.row().name, in_use.words());
        match self.support(in_use) {
            Yes => None,
            If(condition) if met(condition) => None,
            If(condition) => {
                let others = listed(&self.others(in_use));
                let or = if others.is_empty() { String::new() } else { format!(", or {others}") };
                Some(format!("{name} with {words}: expected {}{or}", condition.words()))
            }
            No => Some(format!("{name} with {words}: not supported{}", self.instead(in_use))),
        }
    }

    /// What to take where something is not supported: others of its kind, or schemes that support it.
    fn instead(self, in_use: Use) -> String {
        let known = |row: &&Capability| self.may_be(row) && row.thing.support(in_use) != No;
        let alike: Vec<&str> = match in_use {
            Use::Derivatives => vec![],
            _ => CAPABILITIES.iter().filter(known).map(|row| row.name).collect(),
        };
        let others = match in_use {
            Use::Derivatives => vec![],
            Use::Auto => vec!["a law without choice"],
            _ => self.others(in_use),
        };
        let found = [listed(&alike), listed(&others)].into_iter().filter(|words| !words.is_empty());
        let found = found.collect::<Vec<_>>().join(", or ");
        if found.is_empty() { found } else { format!(", expected {found}") }
    }

    /// Whether a row may stand in its place: another law or friction set, a spring for a rigid row.
    fn may_be(self, row: &Capability) -> bool {
        match self {
            T::Limit | T::BouncingLimit => row.thing == T::SoftLimit,
            T::Gear => row.thing == T::SoftGear,
            T::Loop => row.thing == T::SoftLoop,
            T::Motion => matches!(row.thing, T::Servo | T::Effort),
            _ => matches!(row.group, "law" | "friction") && row.group == self.row().group,
        }
    }

    /// The schemes other than `but` that support it without a condition; with one, if none do.
    fn others(self, but: Use) -> Vec<&'static str> {
        let schemes = |wanted: fn(Support) -> bool| -> Vec<&str> {
            let found =
                Use::ALL[..4].iter().zip(self.row().support).filter(|(u, s)| **u != but && wanted(*s));
            found.map(|(u, _)| u.words()).collect()
        };
        let found = schemes(|s| s == Yes);
        if found.is_empty() { schemes(|s| s != No) } else { found }
    }
}

/// `a, b or c`; the key of schemes only once.
fn listed(words: &[&str]) -> String {
    let short: Vec<&str> = words
        .iter()
        .enumerate()
        .map(|(k, word)| if k == 0 { word } else { word.trim_start_matches("scheme = ") })
        .collect();
    match short.split_last() {
        None => String::new(),
        Some((last, [])) => (*last).to_owned(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}
