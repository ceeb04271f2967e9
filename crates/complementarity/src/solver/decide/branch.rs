//! Which pair to split.

use super::{Search, Side};
use crate::linear_program::{FEASIBLE, Feasibility, Kind};

/// Pairs probed at a node.
const PROBES: usize = 12;

/// What to do at a node.
#[derive(Debug)]
pub(super) enum Choice {
    /// Settled.
    Done,
    /// Neither a solution nor a proof, and nothing left to split.
    Doubtful,
    /// Both sides are open.
    Split { pair: usize, first: Side },
    /// One side is empty, with its vector (scaled).
    Forced { pair: usize, empty: Side, y: Vec<f64> },
}

impl Search<'_> {
    /// Picks among the candidates (the most promising first): a pair with an empty side, if the probes meet one;
    /// else the pair whose split changes most on both sides.
    pub(super) fn choose(&mut self, level: usize, mut candidates: Vec<(usize, f64)>) -> Choice {
        let probes: usize = std::env::var("PROBES").ok().and_then(|s| s.parse().ok()).unwrap_or(PROBES);
        let rule: usize = std::env::var("RULE").ok().and_then(|s| s.parse().ok()).unwrap_or(0);
        candidates.truncate(probes.max(1));
        let mut best = (f64::NEG_INFINITY, candidates[0].0, Side::W);
        if probes == 0 {
            return Choice::Split { pair: best.1, first: Side::W };
        }
        for &(pair, _) in &candidates {
            let mut gain = [0.0; 2];
            let mut left = [0.0; 2];
            for (k, side) in [Side::Z, Side::W].into_iter().enumerate() {
                let variable = self.variable(pair, side);
                self.probe.copy_from(&self.levels[level]);
                self.probe.kind[variable] = Kind::Fixed;
                match self.probe.dual(&self.system, usize::MAX) {
                    Feasibility::Infeasible { row } => {
                        let y = self.probe.farkas(row);
                        return Choice::Forced { pair, empty: side, y };
                    }
                    Feasibility::Feasible => {
                        let cost = self.probe.rows();
                        gain[k] = self.probe.table.constant(cost) - self.levels[level].table.constant(cost);
                        for &i in &self.pairs {
                            let z = self.probe.value(self.variable(i, Side::Z));
                            let w = self.probe.value(self.variable(i, Side::W));
                            if z.min(w) > FEASIBLE {
                                left[k] += if rule & 1 == 0 { 1.0 } else { z.min(w) };
                            }
                        }
                        if left[k] == 0.0 && !self.settings.all {
                            let program = std::mem::take(&mut self.probe);
                            self.answer = self.polish(&program);
                            self.probe = program;
                            if self.answer.is_some() {
                                return Choice::Done;
                            }
                        }
                    }
                    Feasibility::Unclear => {}
                }
            }
            let score = match rule / 2 {
                0 => gain[0].max(1e-6) * gain[1].max(1e-6),
                1 => -(left[0] + left[1]),
                2 => -left[0].min(left[1]),
                3 => left[0].min(left[1]),
                _ => gain[0].min(gain[1]),
            };
            if score > best.0 {
                best = (score, pair, if left[0] < left[1] { Side::Z } else { Side::W });
            }
        }
        Choice::Split { pair: best.1, first: best.2 }
    }
}
