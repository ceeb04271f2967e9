//! Loops and gears closed where a scene begins.

use super::{Model, StandingKind, StandingRow};
use crate::dynamics::{Kinematics, MassMatrix, PivotedCholesky};
use crate::state::State;
use complementarity::problem::Element;

/// Newton's steps on the rows; each squares what is open.
const MOST_ROUNDS: usize = 20;

/// Closes loops and gears at a state without motion: `q := q - M^-1 J' (J M^-1 J')^-1 g`, as often as needed.
pub(super) fn close(model: &Model, state: &mut State) {
    let system = model.system();
    let rows: Vec<_> = model
        .standing()
        .iter()
        .filter(|row| row.is_projected(model.scene()) && !matches!(row.kind, StandingKind::Drive(_)))
        .collect();
    if rows.is_empty() {
        return;
    }
    let (mut kinematics, mut mass) = (Kinematics::new(system), MassMatrix::new(system));
    let (mut gram, mut last, mut next) = (PivotedCholesky::default(), f64::INFINITY, state.position.clone());
    for _ in 0..MOST_ROUNDS {
        kinematics.update(&next, &state.velocity);
        let gap = |row: &&&StandingRow| row.gap(model.scene(), &kinematics, &next, &[]).unwrap_or(0.0);
        let open: Vec<(f64, _)> = rows.iter().map(|row| (gap(&row), *row)).collect();
        // slack ropes are left alone
        let open: Vec<_> =
            open.into_iter().filter(|(g, row)| row.element != Element::Unilateral || *g < 0.0).collect();
        let worst = open.iter().fold(0.0f64, |m, (g, _)| m.max(g.abs()));
        if worst >= last || worst.is_nan() || mass.update(&kinematics).is_err() {
            return;
        }
        state.position.copy_from_slice(&next);
        if worst <= 1e-15 {
            return;
        }
        last = worst;
        let mut w: Vec<Vec<f64>> = vec![];
        for (_, row) in &open {
            let mut own = vec![0.0; system.velocity_size()];
            row.add_row(model.scene(), &kinematics, &mut own);
            for (t, dofs) in mass.trees() {
                mass.solve_root_transposed(t, &mut own[dofs]);
            }
            w.push(own);
        }
        gram.factor(open.len(), |i, j| w[i].iter().zip(&w[j]).map(|(a, b)| a * b).sum());
        let mut p: Vec<f64> = open.iter().map(|(g, _)| -g).collect();
        gram.solve(&mut p);
        let mut shift = vec![0.0; system.velocity_size()];
        for (p, w) in p.iter().zip(&w) {
            shift.iter_mut().zip(w).for_each(|(s, w)| *s += p * w);
        }
        for (t, dofs) in mass.trees() {
            mass.solve_root(t, &mut shift[dofs]);
        }
        let from = next.clone();
        system.advance(&from, &shift, 1.0, &mut next);
    }
}
