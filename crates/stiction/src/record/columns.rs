//! The tables of a recording: each column with its name, unit and value together. `docs/run.md` says what they mean.

use super::names::{Name, Names};
use super::saved::is_state;
use crate::analysis::joints::JointReport;
use crate::model::Owner;
use crate::run::{ENTRIES, Event, FIRST_ENTRIES, UNIT};
use crate::scene::Table;
use crate::space::{Pose, Vector};
use crate::step::{ElementReport, Status};
use recording::{Kind, Layout, Rows};
use std::iter::repeat_n;
use std::sync::{Arc, LazyLock};

/// Name of the scene in a recording: the text that was run.
pub const SCENE_FILE: &str = "scene.toml";
/// Name of the state's file in a recording.
pub const STATE_FILE: &str = "state.json";

/// A column of a table whose rows are made from an `R`.
pub(super) struct Column<R> {
    name: &'static str,
    unit: &'static str,
    value: Value<R>,
}

enum Value<R> {
    /// Time of the record.
    Time,
    Number(fn(&R) -> f64),
    Count(fn(&R) -> usize),
    Word(fn(&R) -> Name),
}

const fn time<R>() -> Column<R> {
    Column { name: "time", unit: "s", value: Value::Time }
}

const fn number<R>(name: &'static str, unit: &'static str, value: fn(&R) -> f64) -> Column<R> {
    Column { name, unit, value: Value::Number(value) }
}

const fn count<R>(name: &'static str, value: fn(&R) -> usize) -> Column<R> {
    Column { name, unit: "", value: Value::Count(value) }
}

const fn word<R>(name: &'static str, value: fn(&R) -> Name) -> Column<R> {
    Column { name, unit: "", value: Value::Word(value) }
}

/// A body at a record.
#[derive(Debug)]
pub(super) struct Body {
    pub body: usize,
    pub pose: Pose,
    pub velocity: Vector,
    pub angular_velocity: Vector,
}

pub(super) const BODIES: &[Column<Body>] = &[
    time(),
    word("body", |b| Name::Owner(Owner::Body(b.body))),
    number("x", "m", |b| b.pose.position[0]),
    number("y", "m", |b| b.pose.position[1]),
    number("z", "m", |b| b.pose.position[2]),
    number("qw", "", |b| b.pose.attitude.0[0]),
    number("qx", "", |b| b.pose.attitude.0[1]),
    number("qy", "", |b| b.pose.attitude.0[2]),
    number("qz", "", |b| b.pose.attitude.0[3]),
    number("vx", "m/s", |b| b.velocity[0]),
    number("vy", "m/s", |b| b.velocity[1]),
    number("vz", "m/s", |b| b.velocity[2]),
    number("wx", "rad/s", |b| b.angular_velocity[0]),
    number("wy", "rad/s", |b| b.angular_velocity[1]),
    number("wz", "rad/s", |b| b.angular_velocity[2]),
];

/// Elements; t is near the world's x axis, whatever the anisotropy of friction.
pub(super) const CONTACTS: &[Column<ElementReport>] = &[
    time(),
    word("contact", |e| Name::Contact(e.id)),
    count("element", |e| e.element),
    word("body_a", |e| Name::Owner(e.body_a)),
    word("body_b", |e| Name::Owner(e.body_b)),
    number("px", "m", |e| e.point[0]),
    number("py", "m", |e| e.point[1]),
    number("pz", "m", |e| e.point[2]),
    number("nx", "", |e| e.frame.n[0]),
    number("ny", "", |e| e.frame.n[1]),
    number("nz", "", |e| e.frame.n[2]),
    number("gap", "m", |e| e.gap),
    number("force_n", "N", |e| e.force[0]),
    number("force_t", "N", |e| e.force[1]),
    number("force_o", "N", |e| e.force[2]),
    number("slip_t", "m/s", |e| e.speed[1]),
    number("slip_o", "m/s", |e| e.speed[2]),
    number("deformation_n", "m", |e| e.deformation[0]),
    number("deformation_t", "m", |e| e.deformation[1]),
    number("deformation_o", "m", |e| e.deformation[2]),
    word("status", |e| {
        Name::Word(match e.status {
            Status::Open => "open",
            Status::Stick => "stick",
            Status::Slip => "slip",
        })
    }),
];

/// Columns of contacts that recordings of version 0.1.0 do not have: the tangent t, the force on body b in world axes, and the
/// part of the normal force that rigid cores carry.
pub(super) const WORLD: &[Column<ElementReport>] = &[
    number("tx", "", |e| e.frame.t[0]),
    number("ty", "", |e| e.frame.t[1]),
    number("tz", "", |e| e.frame.t[2]),
    number("fx", "N", |e| e.frame.world(e.force)[0]),
    number("fy", "N", |e| e.frame.world(e.force)[1]),
    number("fz", "N", |e| e.frame.world(e.force)[2]),
    number("core_n", "N", |e| e.core),
];

/// Further columns of contacts, where the scene has torsion or rolling friction.
pub(super) const MOMENTS: &[Column<ElementReport>] = &[
    number("moment_n", "N m", |e| e.moment[0]),
    number("moment_t", "N m", |e| e.moment[1]),
    number("moment_o", "N m", |e| e.moment[2]),
];

pub(super) const JOINTS: &[Column<JointReport>] = &[
    time(),
    word("joint", |j| j.loop_index.map_or(Name::Owner(Owner::Body(j.body)), Name::Loop)),
    word("kind", |j| Name::Word(j.kind)),
    count("dof", |j| j.dof),
    number("position", "m or rad", |j| j.position),
    number("velocity", "m/s or rad/s", |j| j.velocity),
    number("effort", "N or N m", |j| j.effort),
    number("fx", "N", |j| j.force[0]),
    number("fy", "N", |j| j.force[1]),
    number("fz", "N", |j| j.force[2]),
    number("mx", "N m", |j| j.moment[0]),
    number("my", "N m", |j| j.moment[1]),
    number("mz", "N m", |j| j.moment[2]),
];

/// A row of `steps`, without the energy balance.
pub(super) struct Step {
    pub h: f64,
    pub status: &'static str,
    pub solver: &'static str,
    pub iterations: usize,
    pub wasted: usize,
    pub residual: f64,
}

/// What is known of a step beside its solution; these columns come after the energy balance.
pub(super) struct Known {
    pub relaxed: usize,
    pub trust: &'static str,
    pub violation: f64,
}

pub(super) const KNOWN: &[Column<Known>] = &[
    count("relaxed", |k| k.relaxed),
    word("trust", |k| Name::Word(k.trust)),
    number("violation", "m or rad", |k| k.violation),
];

/// The columns of [`ENTRIES`] follow, then [`KNOWN`].
pub(super) const STEPS: &[Column<Step>] = &[
    time(),
    number("h", "s", |s| s.h),
    word("status", |s| Name::Word(s.status)),
    word("solver", |s| Name::Word(s.solver)),
    count("iterations", |s| s.iterations),
    count("wasted", |s| s.wasted),
    number("residual", "", |s| s.residual),
];

pub(super) const EVENTS: &[Column<Event>] = &[
    time(),
    word("contact", |e| Name::Contact(e.contact)),
    count("element", |e| e.element),
    word("body_a", |e| Name::Owner(e.body_a)),
    word("body_b", |e| Name::Owner(e.body_b)),
    word("event", |e| Name::Word(e.kind.name())),
];

/// A column of events that recordings of version 0.1.0 do not have.
pub(super) const IMPULSES: &[Column<Event>] = &[number("impulse", "N s", |e| e.impulse)];

/// Adds a row for each of a list at a time, to the columns from `first` on.
pub(super) fn extend<R>(
    (rows, names): (&mut Rows, &mut Names),
    first: usize,
    columns: &[Column<R>],
    time: f64,
    list: &[R],
) {
    for (k, column) in columns.iter().enumerate() {
        match column.value {
            Value::Time => rows.extend_numbers(first + k, repeat_n(time, list.len())),
            Value::Number(value) => rows.extend_numbers(first + k, list.iter().map(value)),
            Value::Count(value) => rows.extend_counts(first + k, list.iter().map(value)),
            Value::Word(value) => list.iter().for_each(|r| rows.add_word(first + k, names.get(value(r)))),
        }
    }
}

fn stored<R>(columns: &[Column<R>], optional: bool) -> impl Iterator<Item = recording::Column> {
    columns.iter().map(move |c| {
        let kind = match c.value {
            Value::Time | Value::Number(_) => Kind::Number,
            Value::Count(_) => Kind::Count,
            Value::Word(_) => Kind::Word,
        };
        recording::Column { name: c.name.into(), kind, unit: c.unit.into(), optional }
    })
}

/// Name of a table, and of its file.
pub fn table_name(table: Table) -> &'static str {
    match table {
        Table::Bodies => "bodies",
        Table::Contacts => "contacts",
        Table::Steps => "steps",
        Table::Events => "events",
        Table::Joints => "joints",
    }
}

/// The columns of a table, those included that a recording has only where its scene has torsion or rolling friction.
pub fn columns(table: Table) -> &'static [recording::Column] {
    &LAYOUT.tables[table as usize].columns
}

/// A table as recordings of a scene have it, with the moments of contacts or without.
pub(super) fn table(table: Table, moments: bool) -> Arc<recording::Table> {
    let balance = ENTRIES.iter().enumerate().map(|(k, entry)| recording::Column {
        name: entry.name.into(),
        kind: Kind::Number,
        unit: UNIT.into(),
        optional: k >= FIRST_ENTRIES,
    });
    let columns = match table {
        Table::Bodies => stored(BODIES, false).collect(),
        Table::Contacts => {
            let moments = if moments { MOMENTS } else { &[] };
            stored(CONTACTS, false).chain(stored(moments, true)).chain(stored(WORLD, true)).collect()
        }
        Table::Steps => stored(STEPS, false).chain(balance).chain(stored(KNOWN, true)).collect(),
        Table::Events => stored(EVENTS, false).chain(stored(IMPULSES, true)).collect(),
        Table::Joints => stored(JOINTS, false).collect(),
    };
    Arc::new(recording::Table { name: table_name(table).into(), columns })
}

/// What recordings consist of.
pub(super) static LAYOUT: LazyLock<Arc<Layout>> = LazyLock::new(|| {
    let tables = Table::ALL.map(|t| table(t, true)).to_vec();
    let files = vec![SCENE_FILE];
    Arc::new(Layout { tables, files, mark: STATE_FILE, program: "stiction", is_mark: is_state })
});
