//! Step and recording.

use super::Reader;
use crate::scene::raw;
use crate::scene::{ForceTime, FrictionKind, GapLevel, RecordSettings, SolverKind, StepSettings, Table};
use complementarity::problem::{SIDES, SIDES_EXPECTED};

impl Reader<'_> {
    pub fn step(&mut self, raw: &raw::Step) -> StepSettings {
        let default = StepSettings::default();
        let h = raw.h.as_ref().map_or(default.h, |x| self.positive(x, "h"));
        let duration = raw.duration.as_ref().map_or(default.duration, |x| self.positive(x, "duration"));
        let excess = StepSettings { h, duration, ..default.clone() }.excess();
        if let (Some(x), Some(message)) = (raw.h.as_ref().or(raw.duration.as_ref()), excess) {
            self.fault(&x.span(), message);
        }
        let friction = raw.friction.as_ref().map_or(default.friction, |kind| self.friction_kind(kind.get()));
        let explicit_share = raw.explicit_share.as_ref().map_or(default.explicit_share, |x| {
            self.number(x, "explicit_share", |x| (0.0..=1.0).contains(&x), "a number from 0 to 1")
        });
        StepSettings {
            h,
            duration,
            explicit_share,
            forces: match raw.forces {
                Some(raw::ForceTime::Start) => ForceTime::Start,
                Some(raw::ForceTime::Theta) => ForceTime::Theta,
                None if explicit_share == 0.0 => ForceTime::Start,
                None => ForceTime::Theta,
            },
            friction,
            solver: raw.solver.as_ref().map_or(default.solver, |named| solver_kind(*named.get())),
            gap: match raw.gap {
                Some(raw::GapLevel::Velocity) => GapLevel::Velocity,
                Some(raw::GapLevel::Position) => GapLevel::Position,
                None => default.gap,
            },
            // no forces at all have a residual of about 1
            tolerance: raw.tolerance.as_ref().map_or(default.tolerance, |x| {
                self.number(x, "tolerance", |x| x > 0.0 && x < 1.0, "a number above 0 and below 1")
            }),
            retries: raw.retries.as_ref().map_or(default.retries, |x| {
                if *x.get() > 60 {
                    self.fault(&x.span(), format!("retries is {}, expected at most 60", x.get()));
                }
                *x.get()
            }),
        }
    }

    pub(super) fn friction_kind(&mut self, raw: &raw::FrictionKind) -> FrictionKind {
        match raw {
            raw::FrictionKind::Frictionless => FrictionKind::Frictionless,
            raw::FrictionKind::Cone => FrictionKind::Cone,
            raw::FrictionKind::Pyramid => FrictionKind::Pyramid,
            raw::FrictionKind::Polygon { sides } => {
                if sides.get() % 2 == 1 || !SIDES.contains(sides.get()) {
                    let message = format!("sides is {}, expected {SIDES_EXPECTED}", sides.get());
                    self.fault(&sides.span(), message);
                }
                FrictionKind::Polygon { sides: *sides.get() }
            }
        }
    }

    pub fn record(&mut self, raw: &raw::Record, step: &StepSettings) -> RecordSettings {
        let interval = raw.interval.as_ref().map_or(step.h.max(0.02), |x| {
            let least = step.h * (1.0 - 1e-9);
            self.number(x, "interval", |x| x >= least, &format!("at least the step, {}", step.h))
        });
        let tables = raw.tables.as_ref().map_or(Table::ALL.to_vec(), |list| {
            let mut tables = Vec::new();
            for raw in list {
                let table = match raw.get() {
                    raw::Table::Bodies => Table::Bodies,
                    raw::Table::Contacts => Table::Contacts,
                    raw::Table::Steps => Table::Steps,
                    raw::Table::Events => Table::Events,
                };
                if tables.contains(&table) {
                    self.fault(&raw.span(), "duplicate table");
                }
                tables.push(table);
            }
            tables
        });
        RecordSettings { interval, tables }
    }
}

fn solver_kind(raw: raw::SolverKind) -> SolverKind {
    match raw {
        raw::SolverKind::Auto => SolverKind::Auto,
        raw::SolverKind::Lemke => SolverKind::Lemke,
        raw::SolverKind::GaussSeidel => SolverKind::GaussSeidel,
        raw::SolverKind::Newton => SolverKind::Newton,
        raw::SolverKind::ProximalNewton => SolverKind::ProximalNewton,
        raw::SolverKind::ExactProximal => SolverKind::ExactProximal,
        raw::SolverKind::InteriorPoint => SolverKind::InteriorPoint,
        raw::SolverKind::Admm => SolverKind::Admm,
    }
}
