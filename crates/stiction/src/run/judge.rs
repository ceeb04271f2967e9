//! Energy is a judge: what contacts, limits, loops and gears made in a run, place by place, and what is to be done about it.
//!
//! A place made energy where its forces did more work than its law allows ([`crate::step::Books`]). Errors of time steps come with both signs. What counts is
//! therefore the largest rise of the sum from any earlier time: a loss before does not hide a gain, and a gain that is given back at once is none.

use super::{Balance, ENTRIES, Entry, Summary};
use crate::model::Model;
use crate::scene::Scheme;
use crate::space::length;
use crate::state::RowId;
use crate::step::Made;

/// Share of the largest energy of a run above which energy that was made is reported.
const MADE: f64 = 0.01;
/// Share of the energies of a run that is rounding.
const ROUNDING: f64 = 1e-9;
/// Energy made is reported from this share of the kinetic energy on.
const SMALL: f64 = 1e-4;
/// A place explains what a run made if it made more than this share of it.
const MOSTLY: f64 = 0.5;
/// Velocity at which bodies rest, m/s: the energy of that is none to speak of.
const REST: f64 = 1e-4;
/// Most places that are reported one by one.
const MOST: usize = 5;
/// Rows of a loop, see [`RowId::Loop`].
const LOOP_ROWS: u32 = 8;

/// Where energy was made: all contacts of a pair of parts, or all rows of a loop, are one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Pair(u32, u32),
    Loop(u32),
    Row(RowId),
}

impl Place {
    fn of(id: RowId) -> Self {
        match id {
            RowId::Contact(c) => Self::Pair(c.part_a, c.part_b),
            RowId::Loop(row) => Self::Loop(row / LOOP_ROWS),
            row => Self::Row(row),
        }
    }
}

/// What a place made in a run.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Gain {
    place: Place,
    /// What was made in the step at hand, J.
    step: f64,
    /// What was made so far, and the least that this ever was, J.
    sum: f64,
    least: f64,
    /// Largest rise, J.
    made: f64,
    /// End of the first step that made some, s.
    first: f64,
    /// The step that made most: its end, s, and its energy, J.
    worst: (f64, f64),
}

/// The judge of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Judge {
    /// In order of places.
    gains: Vec<Gain>,
    /// Largest kinetic and elastic energy at a record, least and largest potential energy, J.
    moving: f64,
    potential: [f64; 2],
    /// Largest work of loads and motors at a record, J.
    supplied: f64,
}

/// Energy that was made, or booked without a cause: see [`Summary::energy_warnings`].
#[derive(Debug, Clone, PartialEq)]
pub struct EnergyWarning {
    /// Names of the pair of parts, the limit, loop or gear, or of the entry of the balance; empty for the run as a whole.
    pub place: String,
    /// J.
    pub energy: f64,
    /// When it was first made, s.
    pub first: f64,
    /// When most of it was made, s.
    pub worst: f64,
    /// What happened, where, when and how much, and what to do about it.
    pub message: String,
}

impl Judge {
    /// Takes note of what places made in a step that ended at a time: of each first the sum, since rows of a place may work against each other.
    #[inline]
    pub(super) fn step(&mut self, time: f64, made: &[Made]) {
        for m in made {
            let place = Place::of(m.place);
            match self.gains.binary_search_by_key(&place, |g| g.place) {
                Ok(k) => self.gains[k].step += m.energy,
                Err(k) => self.gains.insert(k, Gain { step: m.energy, ..Gain::new(place) }),
            }
        }
        for m in made {
            let place = Place::of(m.place);
            if let Ok(k) = self.gains.binary_search_by_key(&place, |g| g.place) {
                self.gains[k].end_step(time);
            }
        }
    }

    /// Takes note of the energies at a record.
    pub(super) fn balance(&mut self, balance: &Balance, is_first: bool) {
        let of = |name: &str| ENTRIES.iter().position(|e| e.name == name).map_or(0.0, |k| balance[k]);
        let potential = of("potential");
        if is_first {
            self.potential = [potential; 2];
        }
        self.moving = self.moving.max(of("kinetic") + of("elastic"));
        self.potential = [self.potential[0].min(potential), self.potential[1].max(potential)];
        self.supplied = self.supplied.max(of("work"));
    }

    /// All the energy that there ever was, J: the largest in motion and in deformed contacts, the change of the potential energy, and the work of loads and motors;
    /// not less than what weight gives to all bodies in a step, or than a motion that counts as rest.
    fn all(&self, model: &Model) -> f64 {
        let scene = model.scene();
        let mass: f64 = scene.bodies.iter().map(|b| b.link.inertia.mass).sum();
        let fall = (scene.step.h * length(scene.gravity)).max(REST);
        let known = self.moving + self.potential[1] - self.potential[0] + self.supplied;
        known.max(0.5 * mass * fall * fall)
    }
}

impl Gain {
    fn new(place: Place) -> Self {
        Self { place, step: 0.0, sum: 0.0, least: 0.0, made: 0.0, first: f64::INFINITY, worst: (0.0, 0.0) }
    }

    /// Takes what was made in the step into the sum; nothing the second time.
    fn end_step(&mut self, time: f64) {
        let energy = std::mem::take(&mut self.step);
        self.sum += energy;
        self.least = self.least.min(self.sum);
        self.made = self.made.max(self.sum - self.least);
        if energy > 0.0 && self.first.is_infinite() {
            self.first = time;
        }
        if energy > self.worst.1 {
            self.worst = (time, energy);
        }
    }

    fn name(&self, model: &Model) -> String {
        match self.place {
            Place::Pair(a, b) => {
                let name = |k: u32| &model.parts()[k as usize].name;
                format!("'{}' and '{}'", name(a), name(b))
            }
            Place::Loop(k) => {
                let row = model.standing().iter().find(|row| Place::of(row.id) == Place::Loop(k));
                let name = row.map_or_else(String::new, |row| row.name(model.scene()));
                // without the row
                format!("the {}", name.split(" (").next().unwrap_or_default())
            }
            Place::Row(id) => format!("the {}", model.row_name(id)),
        }
    }

    /// What causes this, and what to do about it.
    fn advice(&self, model: &Model, start: f64) -> &'static str {
        let step = &model.scene().step;
        match self.place {
            Place::Pair(..) => {
                let overlap = self.worst.0 <= start + 1.5 * step.h;
                let compliant = step.scheme == Scheme::Compliant || self.is_compliant(model);
                match () {
                    () if overlap => "they overlap where the run begins: move them apart",
                    () if step.scheme == Scheme::Compliant => {
                        "they overlap as deep as their edges are, where contact points jump and turn; no accuracy mends that, a stiffer law does"
                    }
                    () if compliant => {
                        "they were in each other before the law could act: a smaller step.h helps"
                    }
                    () => {
                        "they turned into each other within a step and were pushed apart: a smaller step.h helps"
                    }
                }
            }
            Place::Loop(_) | Place::Row(RowId::Gear(_)) => {
                "a smaller step.h helps where the mechanism turns fast; where it can hardly move at all, give the loop or a joint of it room, or a stiffness"
            }
            Place::Row(_) => {
                "the joint passed the limit within a step and was pushed back: a smaller step.h helps"
            }
        }
    }

    fn is_compliant(&self, model: &Model) -> bool {
        let Place::Pair(a, b) = self.place else { return false };
        let id = crate::state::ContactId { part_a: a, part_b: b, feature: 0 };
        let rule = model.contacts().rule_of(id);
        rule.is_some_and(|rule| rule.compliance.is_some() || !rule.layers.is_empty())
    }
}

impl Summary {
    /// Where contacts, limits, loops and gears made energy, which by their laws they cannot; entries of the balance above all energy that there ever was; and energy
    /// that was made without such a place. Each with its amount and what to do about it; the largest first.
    pub fn energy_warnings(&self, model: &Model) -> Vec<EnergyWarning> {
        let all = self.judge.all(model);
        let mut gains: Vec<&Gain> = self.judge.gains.iter().filter(|g| g.made > MADE * all).collect();
        gains.sort_by(|a, b| b.made.total_cmp(&a.made));
        let mut found: Vec<EnergyWarning> =
            gains.iter().take(MOST).map(|g| self.of_place(model, g)).collect();
        if gains.len() > MOST {
            let rest: f64 = gains[MOST..].iter().map(|g| g.made).sum();
            let (n, first) = (gains.len() - MOST, gains[MOST].first);
            let message = format!("{n} more places made energy, {} together", joules(rest));
            found.push(EnergyWarning { place: String::new(), energy: rest, first, worst: first, message });
        }
        found.extend(self.of_entries(all));
        if found.is_empty()
            && let Some(warning) = self.of_run(model)
        {
            // the place that made most of it, though it is little beside all energy
            let most = self.judge.gains.iter().max_by(|a, b| a.made.total_cmp(&b.made));
            let most = most.filter(|g| g.made > MOSTLY * warning.energy);
            found.push(most.map_or(warning, |g| self.of_place(model, g)));
        }
        found
    }

    fn of_place(&self, model: &Model, gain: &Gain) -> EnergyWarning {
        let (place, all) = (gain.name(model), self.judge.all(model));
        let Gain { made: energy, first, worst: (worst, most), .. } = *gain;
        let share = 100.0 * energy / all;
        let message = format!(
            "{place} made {} ({share:.1} % of all energy in the run), first at t = {first:.6} s, most at t = {worst:.6} s ({} in a step): {}",
            joules(energy),
            joules(most),
            gain.advice(model, self.began)
        );
        EnergyWarning { place, energy, first, worst, message }
    }

    /// Entries that are larger than all energy there ever was; for a loss that includes the work that other entries say was done.
    fn of_entries(&self, all: f64) -> impl Iterator<Item = EnergyWarning> + '_ {
        let supplied = ENTRIES.iter().zip(self.now).filter(|(e, _)| e.is_supplied() && e.name != "work");
        let more: f64 = supplied.map(|(_, x)| x.max(0.0)).sum();
        let entries = ENTRIES.iter().zip(self.now).filter(|(e, _)| !e.is_stored() && e.name != "work");
        let most = move |e: &Entry| (1.0 + MADE) * if e.is_supplied() { all } else { all + more };
        entries.filter(move |(e, x)| all > 0.0 && x.abs() > most(e)).map(move |(entry, energy)| {
            let message = format!(
                "{} are booked as '{}' ({}), more than all energy there ever was ({}): forces worked against each other within steps, and the books do not say where energy went",
                joules(energy), entry.name, entry.label, joules(all)
            );
            EnergyWarning { place: entry.name.to_owned(), energy, first: self.began, worst: self.began, message }
        })
    }

    /// Energy that was made without a place: springs, velocity products or prescribed forces, in steps that are too long for them.
    fn of_run(&self, model: &Model) -> Option<EnergyWarning> {
        let stored = |b: &Balance| -> f64 {
            ENTRIES.iter().zip(b).filter(|(entry, _)| entry.is_stored()).map(|(_, x)| x.abs()).sum()
        };
        let largest = stored(&self.start).max(stored(&self.now));
        let energy = self.balance_error();
        let least = (ROUNDING * largest).max(SMALL * self.judge.moving);
        if self.relative_balance_error() <= MADE || energy <= least {
            return None;
        }
        let explicit = model.scene().step.explicit_share > 0.0;
        let help = match model.scene().step.scheme {
            Scheme::Compliant | Scheme::Event => "a smaller step.accuracy may help",
            _ if explicit => "a smaller step.h may help, or explicit_share = 0, which damps",
            _ => "a smaller step.h may help",
        };
        let share = 100.0 * self.relative_balance_error();
        let message = format!(
            "energy was made: {} ({share:.1} % of the largest change of any energy) that no contact, limit or loop accounts for, so springs, dampers, loads or rotations in steps too long for them: {help}",
            joules(energy)
        );
        Some(EnergyWarning { place: String::new(), energy, first: self.began, worst: self.began, message })
    }
}

/// An energy for people: three digits.
fn joules(x: f64) -> String {
    // at least 1e-30 J, whose logarithm is finite
    match 2 - x.abs().max(1e-30).log10().floor() as i32 {
        digits @ 0..=5 => format!("{x:.*} J", digits as usize),
        -2..=-1 => format!("{x:.0} J"),
        _ => format!("{x:.2e} J"),
    }
}
