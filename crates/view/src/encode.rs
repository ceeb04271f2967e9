//! A clip as the page reads it.

use crate::clip::{Clip, Ending, Happening, Placed, Touch};
use crate::codec::{COARSE, Columns};
use serde_json::{Value, json};
use stiction::run::{ENTRIES, EventKind, UNIT};
use stiction::step::{Status, Trust};

/// Version of the format; page and program are built together, so others do not meet.
const VERSION: u32 = 1;
/// Quantum of positions, as a share of the largest coordinate, and those of attitudes and normals.
const POSITION: f64 = 1.0 / (1 << 24) as f64;
const ATTITUDE: f64 = 1.0 / (1 << 20) as f64;
const NORMAL: f64 = 1.0 / (1 << 15) as f64;

/// What a page has already: it gets what comes after.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Have {
    /// Frames.
    pub frames: usize,
    /// Contacts.
    pub contacts: usize,
    /// Events.
    pub events: usize,
}

impl Clip {
    /// The bytes that the page reads: all that is new, and with nothing known also the scene, its text and the summary.
    /// `more` is put beside it in the header.
    pub fn encode(&self, have: Have, more: &Value) -> Vec<u8> {
        let from = have.frames.min(self.len());
        let mut columns = Columns::default();
        columns.doubles("time", self.times[from..].iter().copied());
        let largest = |m: f64, x: &f64| m.max(x.abs());
        let reach = self.placed.iter().flat_map(|p| &p.pose.position).fold(self.scenery.radius, largest);
        // a power of two, so that round numbers stay round
        let quantum = (reach * POSITION).log2().ceil().exp2();
        self.encode_bodies(from, quantum, &mut columns);
        self.encode_touches(from, quantum, &mut columns);
        let steps = &self.steps[from..];
        columns.floats("residual", 0, steps.iter().map(|s| s.residual));
        columns.ints("trust", steps.iter().map(|s| s.trust as i64));
        columns.ints("ending", steps.iter().map(|s| s.ending as i64));
        columns.ints("iterations", steps.iter().map(|s| s.iterations as i64));
        for (k, entry) in ENTRIES.iter().enumerate() {
            columns.floats(entry.name, 0, steps.iter().map(|s| s.balance[k]));
        }
        let events: &[Happening] = &self.events[have.events.min(self.events.len())..];
        columns.doubles("event_time", events.iter().map(|e| e.time));
        columns.ints("event_contact", events.iter().map(|e| e.contact as i64));
        columns.ints("event_kind", events.iter().map(|e| e.kind as i64));
        columns.ints("event_count", events.iter().map(|e| e.count as i64));
        columns.floats("event_impulse", 0, events.iter().map(|e| e.impulse));
        let mut header = json!({
            "version": VERSION,
            "from": from,
            "contacts": &self.contacts[have.contacts.min(self.contacts.len())..],
            "warnings": self.warnings,
        });
        if have == Have::default() {
            header["scene"] = serde_json::to_value(&self.scenery).unwrap_or_default();
            header["directions"] = json!(self.scenery.directions());
            header["text"] = self.text.as_str().into();
            header["summary"] = json!(self.summary());
            header["trust_words"] = json!(Trust::ALL.map(Trust::name));
            header["event_words"] = json!(EventKind::ALL.map(EventKind::name));
            header["ending_words"] = json!(Ending::ALL.map(Ending::name));
            let entries = ENTRIES.iter().map(|e| {
                json!({"name": e.name, "label": e.label, "sign": e.sign(), "stored": e.is_stored(), "unit": UNIT})
            });
            header["energies"] = entries.collect();
        }
        if let (Some(header), Some(more)) = (header.as_object_mut(), more.as_object()) {
            header.extend(more.clone());
        }
        columns.finish(header)
    }

    /// Body by body, each through all frames.
    fn encode_bodies(&self, from: usize, quantum: f64, columns: &mut Columns) {
        let n = self.scenery.bodies();
        let each = |value: fn(&Placed) -> f64| {
            (0..n).flat_map(move |body| {
                (from..self.len()).map(move |frame| value(&self.placed[frame * n + body]))
            })
        };
        columns.fixed("x", quantum, each(|p| p.pose.position[0]));
        columns.fixed("y", quantum, each(|p| p.pose.position[1]));
        columns.fixed("z", quantum, each(|p| p.pose.position[2]));
        columns.fixed("qw", ATTITUDE, each(|p| p.pose.attitude.0[0]));
        columns.fixed("qx", ATTITUDE, each(|p| p.pose.attitude.0[1]));
        columns.fixed("qy", ATTITUDE, each(|p| p.pose.attitude.0[2]));
        columns.fixed("qz", ATTITUDE, each(|p| p.pose.attitude.0[3]));
        columns.floats("vx", COARSE, each(|p| p.velocity[0]));
        columns.floats("vy", COARSE, each(|p| p.velocity[1]));
        columns.floats("vz", COARSE, each(|p| p.velocity[2]));
        columns.floats("wx", COARSE, each(|p| p.angular_velocity[0]));
        columns.floats("wy", COARSE, each(|p| p.angular_velocity[1]));
        columns.floats("wz", COARSE, each(|p| p.angular_velocity[2]));
    }

    /// Element by element, each through the frames in which it occurs.
    fn encode_touches(&self, from: usize, quantum: f64, columns: &mut Columns) {
        let mut rows: Vec<(usize, &Touch)> = vec![];
        for frame in from..self.len() {
            rows.extend(self.touches(frame).iter().map(|t| (frame, t)));
        }
        rows.sort_by_key(|(frame, t)| (t.contact, t.element, *frame));
        let each = |value: fn(&Touch) -> f64| rows.iter().map(move |(_, t)| value(t));
        columns.ints("contact", rows.iter().map(|(_, t)| t.contact as i64));
        columns.ints("element", rows.iter().map(|(_, t)| t.element as i64));
        columns.ints("frame", rows.iter().map(|(frame, _)| *frame as i64));
        columns.ints(
            "status",
            rows.iter().map(|(_, t)| match t.status {
                Status::Open => 0,
                Status::Stick => 1,
                Status::Slip => 2,
            }),
        );
        columns.fixed("px", quantum, each(|t| t.point[0]));
        columns.fixed("py", quantum, each(|t| t.point[1]));
        columns.fixed("pz", quantum, each(|t| t.point[2]));
        columns.fixed("nx", NORMAL, each(|t| t.normal[0]));
        columns.fixed("ny", NORMAL, each(|t| t.normal[1]));
        columns.fixed("nz", NORMAL, each(|t| t.normal[2]));
        columns.floats("fx", COARSE, each(|t| t.force[0]));
        columns.floats("fy", COARSE, each(|t| t.force[1]));
        columns.floats("fz", COARSE, each(|t| t.force[2]));
        columns.floats("sx", COARSE, each(|t| t.slip[0]));
        columns.floats("sy", COARSE, each(|t| t.slip[1]));
        columns.floats("sz", COARSE, each(|t| t.slip[2]));
        columns.floats("gap", COARSE, each(|t| t.gap));
    }

    /// A few lines on the whole clip: what, and its value.
    pub fn summary(&self) -> Vec<[String; 2]> {
        let mut lines = vec![];
        let mut line = |head: &str, text: String| lines.push([head.to_owned(), text]);
        let world = self.scenery.owners.len() - self.scenery.bodies();
        let bodies = self.scenery.bodies();
        line("bodies", format!("{bodies}, and {world} of the world"));
        if let (Some(first), Some(last)) = (self.times.first(), self.times.last()) {
            line(
                "time",
                format!("{first} s to {last} s in {} records, step {} s", self.len(), self.scenery.h),
            );
        }
        let worst =
            (0..self.len()).max_by(|a, b| self.steps[*a].residual.total_cmp(&self.steps[*b].residual));
        if let Some(worst) = worst {
            let (residual, time) = (self.steps[worst].residual, self.times[worst]);
            line("residual", format!("worst {residual:.1e} relative, by t = {time} s"));
        }
        let count =
            |which: &dyn Fn(&crate::clip::Steps) -> bool| self.steps.iter().filter(|s| which(s)).count();
        let trust: Vec<String> = Trust::ALL
            .iter()
            .map(|t| (t.name(), count(&|s| s.trust == *t)))
            .filter(|(_, n)| *n > 0)
            .map(|(name, n)| format!("{name} {n}"))
            .collect();
        line("trust", format!("{} (records)", trust.join(", ")));
        let endings = Ending::ALL[1..].iter().map(|e| (e.name(), count(&|s| s.ending == *e)));
        let endings: Vec<String> =
            endings.filter(|(_, n)| *n > 0).map(|(name, n)| format!("{name} {n}")).collect();
        if !endings.is_empty() {
            line("steps", format!("{} (records)", endings.join(", ")));
        }
        let events: Vec<String> = EventKind::ALL
            .iter()
            .map(|k| (k.name(), self.events.iter().filter(|e| e.kind == *k).map(|e| e.count).sum::<usize>()))
            .filter(|(_, n)| *n > 0)
            .map(|(name, n)| format!("{name} {n}"))
            .collect();
        line("events", if events.is_empty() { "none".to_owned() } else { events.join(", ") });
        if let (Some(first), Some(last)) = (self.steps.first(), self.steps.last()) {
            for (k, entry) in ENTRIES.iter().enumerate() {
                let (a, b) = (first.balance[k], last.balance[k]);
                if entry.is_stored() {
                    line(entry.label, format!("{} {UNIT} at first, {} {UNIT} at last", short(a), short(b)));
                } else if b != 0.0 {
                    line(entry.label, format!("{} {UNIT}", short(b)));
                }
            }
        }
        lines
    }
}

/// Some five digits, with a power of ten only where it is needed.
fn short(x: f64) -> String {
    match x.abs() {
        0.0 => "0".to_owned(),
        1e-3..1e6 => format!("{x:.5}"),
        _ => format!("{x:.4e}"),
    }
}
