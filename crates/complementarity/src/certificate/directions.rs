//! How the force and the speed of a contact may change at a solution.

use super::basis::complement;
use crate::element::law::Law;
use crate::islands::Islands;
use crate::matrix::{Matrix, dot, norm};
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
    fn add(&mut self, column: Row, equation: Row, weight: f64, still: bool) {
        self.columns.push(column);
        self.equations.push(equation);
        self.weights.push(weight);
        self.still.push(still);
    }

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

    /// Any force, no speed.
    fn stick(rows: usize, edge: bool) -> Self {
        let mut out = Self { edge, sticks: true, ..Self::default() };
        for k in 0..rows {
            let mut unit = Row::default();
            unit[k] = 1.0;
            out.add(unit, unit, 0.0, true);
        }
        out
    }
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
        let mut ray = Row::default();
        ray[0] = 1.0;
        let mut normal = Row::default();
        normal[0] = 1.0;
        let mut out = Freedom { edge: !loaded, loaded, ..Freedom::default() };
        if let Element::Contact(Contact { mode: Mode::Sliding { direction }, .. }) = element {
            (0..rows - 1).for_each(|k| ray[1 + k] = -mu * direction[k]);
            out.add(unit(ray), normal, 0.0, true);
            return out;
        }
        if mu == 0.0 {
            out.add(ray, normal, 0.0, true);
            return out;
        }
        let slip = norm(&s[1..]);
        let on_surface = law.gauge(l) >= (1.0 - tolerance) * mu * l[0];
        if slip <= no_speed {
            return Freedom { loaded, ..Freedom::stick(rows, !loaded || on_surface) };
        }
        match law {
            Law::Row { .. } => {}
            Law::Disc => {
                (1..rows).for_each(|k| ray[k] = -mu * s[k] / slip);
                out.add(unit(ray), normal, 0.0, true);
                let direction: Vec<f64> = s[1..].iter().map(|s| s / slip).collect();
                for across in across(&direction).into_iter().filter(|_| loaded) {
                    // the friction force turns with the slip: dl_f = -(mu l_n / |s_t|) ds_f
                    out.add(across, across, slip / (mu * l[0]), false);
                }
            }
            Law::Polygon(polygon) => {
                let corners: Vec<[f64; 2]> = (0..polygon.sides()).map(|k| polygon.corner(k)).collect();
                let reach = |p: &[f64; 2]| -(p[0] * s[1] + p[1] * s[2]);
                let best = corners.iter().map(reach).fold(f64::NEG_INFINITY, f64::max);
                let active: Vec<[f64; 2]> =
                    corners.into_iter().filter(|p| reach(p) >= best - tolerance * slip).collect();
                if let ([p, q], true) = (&active[..], loaded) {
                    // share of the side that the force has behind it
                    let side = [q[0] - p[0], q[1] - p[1]];
                    let from = [l[1] - mu * l[0] * p[0], l[2] - mu * l[0] * p[1]];
                    let share = dot(&from, &side) / (mu * l[0] * dot(&side, &side));
                    let mut beyond = |corner: &[f64; 2], sign: f64| {
                        let mut row = Row::default();
                        row[0] = -sign * mu * dot(corner, &side);
                        (row[1], row[2]) = (sign * side[0], sign * side[1]);
                        out.end = Some(row);
                    };
                    if share < tolerance {
                        beyond(p, -1.0);
                    } else if share > 1.0 - tolerance {
                        beyond(q, 1.0);
                    }
                    out.edge = out.end.is_some();
                }
                for (k, p) in active.iter().enumerate() {
                    let mut column = ray;
                    (column[1], column[2]) = (mu * p[0], mu * p[1]);
                    let mut equation = normal;
                    if k > 0 {
                        // along a side the slip must stay across it
                        equation = Row::default();
                        (equation[1], equation[2]) = (p[0] - active[0][0], p[1] - active[0][1]);
                    }
                    out.add(unit(column), unit(equation), 0.0, true);
                }
            }
        }
        out
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

/// Orthonormal tangential directions across a unit one.
fn across(direction: &[f64]) -> Vec<Row> {
    let along = Matrix::from_fn(direction.len(), 1, |k, _| direction[k]);
    let row = |v: Vec<f64>| {
        let mut row = Row::default();
        row[1..=v.len()].copy_from_slice(&v);
        row
    };
    complement(&along, 1, direction.len() - 1).into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_across_are_orthonormal_and_complete() {
        for direction in
            [vec![1.0], vec![0.6, -0.8], vec![0.48, 0.6, -0.64], vec![0.5; 4], vec![0.0, 0.0, 1.0, 0.0, 0.0]]
        {
            let found = across(&direction);
            assert_eq!(found.len(), direction.len() - 1, "{direction:?}");
            for (i, a) in found.iter().enumerate() {
                assert!(dot(&a[1..], &direction).abs() < 1e-14);
                for (j, b) in found.iter().enumerate() {
                    assert!((dot(a, b) - if i == j { 1.0 } else { 0.0 }).abs() < 1e-14);
                }
            }
        }
    }
}
