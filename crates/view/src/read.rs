//! Clips of recordings, also of those that still grow, were cut short or were made by an older version.

use crate::clip::{Clip, Ending, Happening, Placed, Steps, Touch};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use stiction::model::{Model, Owner};
use stiction::record::{RecordError, Recording, Rows};
use stiction::run::{ENTRIES, EventKind};
use stiction::scene::Table;
use stiction::space::{Frame, Pose, Quaternion};
use stiction::state::ContactId;
use stiction::step::{Status, Trust};

impl Clip {
    /// Reads a recording. Tables that are missing or cannot be read are left out, with a warning each; only the scene and the
    /// bodies are needed.
    ///
    /// # Errors
    /// There is no recording, or its scene or its bodies cannot be read.
    pub fn read(folder: &Path) -> Result<Self, RecordError> {
        let recording = Recording::open(folder)?;
        let scene = recording.scene()?;
        let model = Arc::new(recording.model()?);
        let mut clip = Self::new(&model, &scene.to_toml());
        let names = Names::new(&model);
        let tables = recording.tables();
        clip.read_bodies(&recording.read(Table::Bodies)?, &names)
            .map_err(|message| RecordError::malformed(&folder.join("bodies"), message))?;
        let mut optional = |table: Table, what: &str| -> Option<Rows> {
            if !tables.contains(&table) {
                clip.warnings.push(format!("no table {what:?}: the scene does not record it"));
                return None;
            }
            recording.read(table).map_err(|e| clip.warnings.push(format!("left out: {e}"))).ok()
        };
        let contacts = optional(Table::Contacts, "contacts");
        let steps = optional(Table::Steps, "steps");
        let events = optional(Table::Events, "events");
        if let Some(rows) = contacts {
            clip.read_contacts(&rows, &names);
        }
        if let Some(rows) = steps {
            clip.read_steps(&rows);
        }
        if let Some(rows) = events {
            clip.read_events(&rows, &names);
        }
        clip.look();
        Ok(clip)
    }

    fn read_bodies(&mut self, rows: &Rows, names: &Names) -> Result<(), String> {
        let n = self.scenery.bodies();
        let (time, at) = (rows.numbers("time"), |c: &str| rows.numbers(c));
        let columns = ["x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz"].map(at);
        let found: Vec<Option<usize>> = rows.words("body").map(|name| names.body(name)).collect();
        // records whose bodies are not all there yet are not shown
        for (k, chunk) in found.chunks_exact(n.max(1)).enumerate() {
            let first = k * n;
            let mut placed = vec![None; n];
            for (i, body) in chunk.iter().enumerate() {
                let row = first + i;
                let body = body.ok_or("a body that the scene does not have")?;
                if time[row] != time[first] {
                    return Err(format!("row {row}: not all bodies are recorded at t = {} s", time[first]));
                }
                let [x, y, z, qw, qx, qy, qz, vx, vy, vz, wx, wy, wz] = columns.map(|c| c[row]);
                placed[body] = Some(Placed {
                    pose: Pose { position: [x, y, z], attitude: Quaternion([qw, qx, qy, qz]) },
                    velocity: [vx, vy, vz],
                    angular_velocity: [wx, wy, wz],
                });
            }
            let placed: Option<Vec<Placed>> = placed.into_iter().collect();
            self.placed.extend(placed.ok_or_else(|| format!("a body is twice at t = {} s", time[first]))?);
            self.times.push(time[first]);
        }
        self.ends = vec![0; self.len()];
        self.steps = vec![Steps::NONE; self.len()];
        Ok(())
    }

    fn read_contacts(&mut self, rows: &Rows, names: &Names) {
        let at = |c: &str| rows.numbers(c);
        let (time, gap) = (at("time"), at("gap"));
        let points = ["px", "py", "pz"].map(at);
        let normals = ["nx", "ny", "nz"].map(at);
        let forces = ["force_n", "force_t", "force_o"].map(at);
        let slips = ["slip_t", "slip_o"].map(at);
        let elements = rows.counts("element");
        let words = |c: &str| rows.words(c).map(str::to_owned).collect::<Vec<_>>();
        let (contacts, bodies_a, bodies_b) = (words("contact"), words("body_a"), words("body_b"));
        let status = words("status");
        let mut known: HashMap<String, Option<usize>> = HashMap::new();
        let (mut row, mut unknown) = (0, 0);
        for frame in 0..self.len() {
            while row < rows.len() && time[row] <= self.times[frame] {
                let r = row;
                row += 1;
                if time[r] != self.times[frame] {
                    continue;
                }
                let contact = *known
                    .entry(contacts[r].clone())
                    .or_insert_with(|| self.contact_named(&contacts[r], [&bodies_a[r], &bodies_b[r]], names));
                let Some(contact) = contact else {
                    unknown += 1;
                    continue;
                };
                let normal = normals.map(|c| c[r]);
                // t is near the world's x axis in every recording
                let axes = Frame::new(normal, [1.0, 0.0, 0.0]);
                self.touches.push(Touch {
                    contact,
                    element: elements[r].max(0) as usize,
                    status: match status[r].as_str() {
                        "stick" => Status::Stick,
                        "slip" => Status::Slip,
                        _ => Status::Open,
                    },
                    point: points.map(|c| c[r]),
                    normal,
                    force: axes.world(forces.map(|c| c[r])),
                    slip: axes.in_plane(slips.map(|c| c[r])),
                    gap: gap[r],
                });
            }
            self.ends[frame] = self.touches.len();
        }
        if unknown > 0 {
            self.warnings
                .push(format!("{unknown} rows of contacts are between bodies that the scene does not have"));
        }
    }

    fn contact_named(&mut self, name: &str, bodies: [&str; 2], names: &Names) -> Option<usize> {
        if let Some(known) = self.contacts.iter().position(|c| c.name == name) {
            return Some(known);
        }
        let owners = [names.owner(bodies[0])?, names.owner(bodies[1])?];
        let info = self.scenery.contact(&self.model, name.to_owned(), owners, names.parts(name));
        self.contacts.push(info);
        Some(self.contacts.len() - 1)
    }

    fn read_steps(&mut self, rows: &Rows) {
        let (time, residual) = (rows.numbers("time"), rows.numbers("residual"));
        let (status, iterations) = (rows.words("status").collect::<Vec<_>>(), rows.counts("iterations"));
        // version 0.1.0 has no trust, and fewer entries
        let trust: Vec<&str> = rows.words("trust").collect();
        let balance = ENTRIES.map(|e| rows.numbers(e.name));
        for row in 0..rows.len() {
            let frame = self.times.partition_point(|t| *t < time[row]).min(self.len().saturating_sub(1));
            let Some(steps) = self.steps.get_mut(frame) else { return };
            let word = trust.get(row).copied().unwrap_or_default();
            steps.add(&Steps {
                residual: residual[row],
                trust: Trust::ALL.into_iter().find(|t| t.name() == word).unwrap_or_default(),
                ending: Ending::ALL.into_iter().find(|e| e.name() == status[row]).unwrap_or(Ending::Solved),
                iterations: iterations[row].max(0) as usize,
                balance: balance.map(|b| b.get(row).copied().unwrap_or_default()),
            });
        }
    }

    fn read_events(&mut self, rows: &Rows, names: &Names) {
        let time = rows.numbers("time");
        let impulse = rows.numbers("impulse");
        let words = |c: &str| rows.words(c).map(str::to_owned).collect::<Vec<_>>();
        let (contacts, kinds) = (words("contact"), words("event"));
        let (a, b) = (words("body_a"), words("body_b"));
        let mut known: HashMap<String, Option<usize>> = HashMap::new();
        for row in 0..rows.len() {
            let contact = *known
                .entry(contacts[row].clone())
                .or_insert_with(|| self.contact_named(&contacts[row], [&a[row], &b[row]], names));
            let kind = EventKind::ALL.into_iter().find(|k| k.name() == kinds[row]);
            if let (Some(contact), Some(kind)) = (contact, kind) {
                let impulse = impulse.get(row).copied().unwrap_or_default();
                self.add_event(Happening { time: time[row], contact, kind, count: 1, impulse });
            }
        }
    }
}

/// Bodies, world parts and parts by name.
struct Names {
    owners: HashMap<String, Owner>,
    parts: HashMap<String, u32>,
}

impl Names {
    fn new(model: &Model) -> Self {
        let scene = model.scene();
        let owners = (0..scene.bodies.len()).map(Owner::Body).chain((0..scene.world.len()).map(Owner::World));
        Self {
            owners: owners.map(|o| (scene.name_of(o).to_owned(), o)).collect(),
            parts: model.parts().iter().enumerate().map(|(k, p)| (p.name.clone(), k as u32)).collect(),
        }
    }

    fn owner(&self, name: &str) -> Option<Owner> {
        self.owners.get(name).copied()
    }

    fn body(&self, name: &str) -> Option<usize> {
        match self.owner(name)? {
            Owner::Body(i) => Some(i),
            Owner::World(_) => None,
        }
    }

    /// The parts of a contact, `a/b#feature`; names may have slashes too. Of others the rule is not known.
    fn parts(&self, name: &str) -> ContactId {
        let none = ContactId { part_a: u32::MAX, part_b: u32::MAX, feature: 0 };
        let Some((pair, _)) = name.rsplit_once('#') else { return none };
        let split = |(at, _): (usize, &str)| {
            let (a, b) = (self.parts.get(&pair[..at])?, self.parts.get(&pair[at + 1..])?);
            Some(ContactId { part_a: *a, part_b: *b, feature: 0 })
        };
        pair.match_indices('/').find_map(split).unwrap_or(none)
    }
}
