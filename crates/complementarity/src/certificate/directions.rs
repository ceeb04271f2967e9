//! How the force and the speed of a contact may change at a solution.

use crate::element::law::Law;
use crate::element::linear::Regime;
use crate::element::polygon::Polygon;
use crate::islands::Islands;
use crate::matrix::{dot, norm};
use crate::operator::MOST_ROWS;
use crate::problem::{Contact, Element, FrictionProblem, Mode};

/// A contact's rows.
pub(super) type Row = [f64; MOST_ROWS];

/// The law of a contact, linearised: forces move along the `columns`, and for each of them the speeds keep to an equation `row . ds + weight y = 0`.
#[derive(Debug, Clone, Default)]
pub(super) struct Freedom {
    pub columns: Vec<Row>,
    pub equations: Vec<Row>,
    /// `weight` of each column.
    pub weights: Vec<f64>,
    /// Whether each column leaves all speeds alone.
    pub still: Vec<bool>,
    /// At an edge: all directions are listed, though only a part of them can be taken.
    pub edge: bool,
    /// There is a normal force.
    pub loaded: bool,
    /// No slip, with friction.
    pub sticks: bool,
    /// At the end of a polygon's side: the way beyond it.
    pub end: Option<Row>,
}

impl Freedom {
    /// Without what is nothing in units of which some are zero.
    pub fn keep_real(&mut self, scale: &[f64]) {
        for k in (0..self.columns.len()).rev() {
            let real = self.columns[k].iter().zip(scale).any(|(x, e)| x * e != 0.0);
            if self.still[k] && !real {
                self.columns.remove(k);
                self.equations.remove(k);
                self.weights.remove(k);
                self.still.remove(k);
            }
        }
    }

    /// With the directions of a regime.
    fn with(mut self, regime: Regime<MOST_ROWS>, mu: f64, rows: usize) -> Self {
        let law = regime.linearise(mu, rows);
        for k in 0..law.count {
            self.columns.push(unit(law.columns[k]));
            self.equations.push(law.equations[k]);
            self.weights.push(law.weights[k]);
            self.still.push(law.weights[k] == 0.0);
        }
        self
    }

    /// Any force, no velocity.
    fn stick(rows: usize, edge: bool) -> Self {
        Self { edge, sticks: true, ..Self::default() }.with(Regime::Stick, 0.0, rows)
    }
}

/// Corners of a friction polygon that oppose the slip most, within `tolerance`: two if the slip is across a side.
fn active_corners(polygon: Polygon, s: &[f64], tolerance: f64) -> Vec<[f64; 2]> {
    let corners = || (0..polygon.sides()).map(|k| polygon.corner(k));
    let reach = |p: &[f64; 2]| -(p[0] * s[1] + p[1] * s[2]);
    let best = corners().map(|p| reach(&p)).fold(f64::NEG_INFINITY, f64::max);
    corners().filter(|p| reach(p) >= best - tolerance).collect()
}

/// The way beyond the end of the side between two corners, if the force is there.
fn end_of_side([p, q]: [[f64; 2]; 2], mu: f64, l: &[f64], tolerance: f64) -> Option<Row> {
    let side = [q[0] - p[0], q[1] - p[1]];
    let from = [l[1] - mu * l[0] * p[0], l[2] - mu * l[0] * p[1]];
    // share of the side that the force has behind it
    let share = dot(&from, &side) / (mu * l[0] * dot(&side, &side));
    let (corner, sign) = match share {
        share if share < tolerance => (p, -1.0),
        share if share > 1.0 - tolerance => (q, 1.0),
        _ => return None,
    };
    let mut row = Row::default();
    row[0] = -sign * mu * dot(&corner, &side);
    (row[1], row[2]) = (sign * side[0], sign * side[1]);
    Some(row)
}

/// What each contact may do at a solution. What counts as zero: `tolerance` times the largest force or speed of its island.
pub(super) fn states(p: &FrictionProblem, islands: &Islands, lambda: &[f64], tolerance: f64) -> Vec<Freedom> {
    let s = p.speed(lambda);
    let state = |c: usize, no_force: f64, no_speed: f64| {
        let (l, s, element) = (&lambda[p.rows_of(c)], &s[p.rows_of(c)], &p.elements()[c]);
        let (mu, law, rows) = (element.mu(), element.law(), l.len());
        if let Law::Row { limit } = law {
            let at_bound = l[0].abs() >= limit * (1.0 - tolerance);
            return match at_bound && s[0].abs() > no_speed {
                true => Freedom::default(),
                false => Freedom { loaded: true, ..Freedom::stick(1, at_bound) },
            };
        }
        let loaded = l[0] > no_force;
        if !loaded && s[0] > no_speed {
            return Freedom::default();
        }
        let mut out = Freedom { edge: !loaded, loaded, ..Freedom::default() };
        let mut along = Row::default();
        if let Element::Contact(Contact { mode: Mode::Sliding { direction }, .. }) = element {
            (0..rows - 1).for_each(|k| along[1 + k] = -direction[k]);
            return out.with(Regime::Slip { along, across: None }, mu, rows);
        }
        if mu == 0.0 {
            return out.with(Regime::Slip { along, across: None }, mu, rows);
        }
        let slip = norm(&s[1..]);
        let on_surface = law.gauge(l) >= (1.0 - tolerance) * mu * l[0];
        if slip <= no_speed {
            return Freedom { loaded, ..Freedom::stick(rows, !loaded || on_surface) };
        }
        let across = match law {
            Law::Polygon(polygon) => {
                let active = active_corners(polygon, s, tolerance * slip);
                if let ([p, q], true) = (&active[..], loaded) {
                    out.end = end_of_side([*p, *q], mu, l, tolerance);
                    out.edge = out.end.is_some();
                }
                // the middle of the corners: of a side its nearest point, across which the force is free
                let count = active.len() as f64;
                (0..2).for_each(|i| along[1 + i] = active.iter().map(|p| p[i]).sum::<f64>() / count);
                (active.len() > 1).then_some(0.0)
            }
            _ => {
                (1..rows).for_each(|k| along[k] = -s[k] / slip);
                loaded.then(|| slip / (mu * l[0]))
            }
        };
        out.with(Regime::Slip { along, across }, mu, rows)
    };
    let mut out = vec![Freedom::default(); p.elements().len()];
    for contacts in (0..islands.count()).map(|k| islands.island(k)) {
        let largest = |v: &[f64]| {
            let rows = contacts.iter().flat_map(|&c| &v[p.rows_of(c)]);
            rows.fold(0.0f64, |m, x| m.max(x.abs()))
        };
        let no_force = tolerance * largest(lambda);
        let no_speed = tolerance * largest(&s).max(largest(p.vector()));
        contacts.iter().for_each(|&c| out[c] = state(c, no_force, no_speed));
    }
    out
}

/// Whether a contact at an edge can take a small step along `v` within its cone. Its force may be off the cone by `tolerance` of itself.
pub(super) fn enters(
    p: &FrictionProblem,
    c: usize,
    loaded: bool,
    lambda: &[f64],
    v: &[f64],
    tolerance: f64,
) -> bool {
    let (l, element) = (&lambda[p.rows_of(c)], &p.elements()[c]);
    let size = norm(v);
    if size == 0.0 {
        return true;
    }
    if let Law::Row { .. } = element.law() {
        return v[0] * l[0] <= 0.0;
    }
    // a contact without force steps from the apex
    let from = if loaded { 1.0 } else { 0.0 };
    let step = if from > 0.0 { 0.01 * l[0] / size } else { 1.0 };
    let force: Vec<f64> = l.iter().zip(v).map(|(l, v)| from * l + step * v).collect();
    force[0] > 0.0 && element.law().gauge(&force) <= (element.mu() + tolerance) * force[0]
}

fn unit(mut row: Row) -> Row {
    let length = norm(&row);
    row.iter_mut().for_each(|x| *x /= length);
    row
}
