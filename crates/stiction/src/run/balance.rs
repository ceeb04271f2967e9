//! The energy balance of a run: one list of all energies, losses and works.

use crate::step::{Energy, StepReport};

/// Unit of all entries.
pub const UNIT: &str = "J";

/// An entry of the energy balance. Recordings, summaries, reports and figures go through [`ENTRIES`] and know none by name.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Name of its column and key.
    pub name: &'static str,
    /// In figures and reports.
    pub label: &'static str,
    /// What it is, and its value.
    pub account: Account,
}

/// Entries that recordings of version 0.1.0 have; later ones are missing there.
pub(crate) const FIRST_ENTRIES: usize = 6;

/// What an entry of the energy balance is.
#[derive(Debug, Clone, Copy)]
pub enum Account {
    /// Energy at a state.
    Stored(fn(&Energy) -> f64),
    /// Energy that a step dissipates.
    Lost(fn(&StepReport) -> f64),
    /// Work that acts on the system from outside in a step.
    Supplied(fn(&StepReport) -> f64),
}

/// All entries: energies, losses, works.
pub const ENTRIES: [Entry; 12] = [
    Entry { name: "kinetic", label: "kinetic", account: Account::Stored(|e| e.kinetic) },
    Entry { name: "potential", label: "potential", account: Account::Stored(|e| e.potential) },
    Entry { name: "elastic", label: "elastic, in contacts", account: Account::Stored(|e| e.elastic) },
    Entry { name: "friction_loss", label: "lost to friction", account: Account::Lost(|r| r.friction_loss) },
    Entry { name: "damping_loss", label: "lost in dampers", account: Account::Lost(|r| r.damping_loss) },
    Entry { name: "work", label: "work of loads, motors", account: Account::Supplied(|r| r.work) },
    Entry {
        name: "recovery_work",
        label: "work of undoing overlap",
        account: Account::Supplied(|r| r.recovery_work),
    },
    Entry {
        name: "release_loss",
        label: "lost in contacts that end",
        account: Account::Lost(|r| r.release_loss),
    },
    Entry {
        name: "transport_loss",
        label: "lost as patches travel",
        account: Account::Lost(|r| r.transport_loss),
    },
    Entry {
        name: "constraint_work",
        label: "work of rigid loops and gears",
        account: Account::Supplied(|r| r.constraint_work),
    },
    Entry {
        name: "handover_work",
        label: "work of changes between rigid and compliant contacts",
        account: Account::Supplied(|r| r.handover_work),
    },
    Entry { name: "impact_loss", label: "lost in rigid impacts", account: Account::Lost(|r| r.impact_loss) },
];

/// Values of [`ENTRIES`] at a state: energies there, losses and works since the run began, J.
pub type Balance = [f64; ENTRIES.len()];

impl Entry {
    /// Its sign in the sum that stays the same where energy neither appears nor disappears.
    pub fn sign(&self) -> f64 {
        if self.is_supplied() { -1.0 } else { 1.0 }
    }

    /// Whether it is an energy at a state.
    pub fn is_stored(&self) -> bool {
        matches!(self.account, Account::Stored(_))
    }

    /// Whether it is work from outside.
    pub fn is_supplied(&self) -> bool {
        matches!(self.account, Account::Supplied(_))
    }
}

/// Adds the losses and works of a step.
#[inline]
pub(super) fn add(report: &StepReport, balance: &mut Balance) {
    for (entry, sum) in ENTRIES.iter().zip(balance) {
        match entry.account {
            Account::Stored(_) => {}
            Account::Lost(value) | Account::Supplied(value) => *sum += value(report),
        }
    }
}

/// Sets the energies at a state, without negative zeros: sums of nothing are such.
pub(super) fn store(energy: &Energy, balance: &mut Balance) {
    for (entry, stored) in ENTRIES.iter().zip(balance) {
        if let Account::Stored(value) = entry.account {
            *stored = value(energy) + 0.0;
        }
    }
}
