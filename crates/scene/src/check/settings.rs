//! Step and recording.

use super::{At, Checker};
use crate::capabilities::{Thing, Use};
use crate::{Branch, ForceTime, FrictionKind, GapLevel, Scheme, Table};
use complementarity::problem::{SIDES, SIDES_EXPECTED};

impl Checker<'_> {
    pub fn step(&mut self) {
        let (step, at) = (&self.scene.step, At::ROOT.key("step"));
        let both = [self.positive(step.h, at.key("h")), self.positive(step.duration, at.key("duration"))];
        if let Some(message) = step.excess().filter(|_| both == [step.h, step.duration]) {
            self.fault(at.key("h"), message);
        }
        if step.scheme == Scheme::Implicit {
            let expected = "0, or 0.5 (midpoint), with scheme = \"implicit\"";
            self.number(step.explicit_share, at.key("explicit_share"), |x| x == 0.0 || x == 0.5, expected);
        }
        let things = [
            (step.gap == GapLevel::Velocity, Thing::VelocityGap, "gap"),
            (step.forces == Some(ForceTime::Theta), Thing::LateForces, "forces"),
        ];
        for (_, thing, key) in things.into_iter().filter(|(has, ..)| *has) {
            if let Some(message) = thing.refusal(Use::from(step.scheme), |_| true) {
                self.fault(at.key(key), message);
            }
        }
        self.friction_kind(step.friction, at.key("friction"));
        let share = at.key("explicit_share");
        self.number(step.explicit_share, share, |x| (0.0..=1.0).contains(&x), "a number from 0 to 1");
        // no forces at all have a residual of about 1
        let tolerance = |x| x > 0.0 && x < 1.0;
        self.number(step.tolerance, at.key("tolerance"), tolerance, "a number above 0 and below 1");
        self.positive(step.recovery_velocity, at.key("recovery_velocity"));
        self.not_negative(step.bounce_threshold, at.key("bounce_threshold"));
        let accuracy = |x| (1e-13..=1e-2).contains(&x);
        self.number(step.accuracy, at.key("accuracy"), accuracy, "a number from 1e-13 to 0.01");
        let follows = match step.branch {
            Branch::Rest => true,
            Branch::Nearest => step.scheme != Scheme::Compliant,
            _ => step.scheme == Scheme::Event,
        };
        if !follows {
            let message = match step.branch {
                Branch::Nearest => "branch is nearest, but the motion of scheme = \"compliant\" is unique",
                _ => "branch names a kind of motion, expected scheme = \"event\", which alone follows one",
            };
            self.fault(at.key("branch"), message);
        }
        if step.retries > 60 {
            self.fault(at.key("retries"), format!("retries is {}, expected at most 60", step.retries));
        }
    }

    pub(super) fn friction_kind(&mut self, kind: FrictionKind, at: At<'_>) {
        if let FrictionKind::Smooth { velocity } = kind {
            self.positive(velocity, at.key("smooth").key("velocity"));
        }
        if let FrictionKind::Polygon { sides } = kind
            && (sides % 2 == 1 || !SIDES.contains(&sides))
        {
            let message = format!("sides is {sides}, expected {SIDES_EXPECTED}");
            self.fault(at.key("polygon").key("sides"), message);
        }
    }

    /// Time between records.
    pub fn interval(&mut self) -> f64 {
        let h = self.scene.step.h;
        let Some(interval) = self.scene.record.interval else { return h.max(0.02) };
        let expected = format!("at least the step, {h}");
        let at = At::ROOT.key("record");
        self.number(interval, at.key("interval"), |x| x >= h * (1.0 - 1e-9), &expected)
    }

    pub fn tables(&mut self) -> Vec<Table> {
        let tables = &self.scene.record.tables;
        let at = At::ROOT.key("record");
        for (i, table) in tables.iter().enumerate() {
            if tables[..i].contains(table) {
                self.fault(at.key("tables").index(i), "duplicate table");
            }
        }
        tables.clone()
    }
}
