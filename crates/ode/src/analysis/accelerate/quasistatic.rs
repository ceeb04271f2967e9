//! The quasistatic problem (trinkle1995 2.5): mass and velocity products are dropped, stiffness or given displacements of joints
//! close the problem.
//!
//! Unknown are the displacements `u` of the degrees of freedom whose displacement is not given, and the forces `c` after them:
//!
//! ```text
//! K_uu u = W_u c + g_u - K_up d_p       equilibrium after the displacement (K = 0: of a body that nothing holds)
//! s = W_u' u + W_p' d_p                 displacement at the contacts: 0 <= c_n _|_ s_n >= 0, friction against s_t
//! tau_p = K_pu u + K_pp d_p - g_p - (W c)_p
//! ```
//!
//! `K` has the given stiffnesses on its diagonal and `k r r'` of each spring of the scene, `r` the row of its axis.

use super::{NotAccelerated, Posed, Question, contacts};
use crate::analysis::instant::Instant;
use crate::dynamics::Kinematics;
use crate::model::Model;
use crate::space::{Vector, length, scale, sub};
use crate::state::State;
use complementarity::matrix::{Matrix, dot};
use complementarity::problem::{Border, InstantProblem};

/// Degrees of freedom that move without inertia.
#[derive(Debug)]
pub(super) struct Still {
    unknown: Vec<usize>,
    /// Given displacements, over all degrees of freedom.
    known: Vec<f64>,
    stiffness: Matrix,
}

pub(super) fn pose(
    model: &Model,
    state: &State,
    question: &Question,
    stiffness: &[(usize, f64)],
) -> Result<Posed, NotAccelerated> {
    let count = model.system().velocity_size();
    let mut k = Matrix::zeros(count, count);
    for &(dof, value) in stiffness {
        if dof >= count || !(value >= 0.0 && value.is_finite()) || k[(dof, dof)] > 0.0 {
            return Err(NotAccelerated::Stiffness { dof, value, count });
        }
        k[(dof, dof)] = value;
    }
    let still = State { velocity: vec![0.0; count], ..state.clone() };
    add_springs(model, &still, &mut k);
    let instant = Instant::with(model, &still, &question.given)?;
    let mut known = vec![0.0; count];
    instant.given().iter().for_each(|&(dof, value)| known[dof] = value);
    let unknown: Vec<usize> =
        (0..count).filter(|i| instant.given().iter().all(|(dof, _)| dof != i)).collect();
    let jacobian = instant.jacobian();
    let (rows, n) = (jacobian.rows(), unknown.len());
    let held = k.times(&known);
    let border = Border {
        jacobian: Matrix::from_fn(rows, n, |i, j| jacobian[(i, unknown[j])]),
        stiffness: Matrix::from_fn(n, n, |i, j| k[(unknown[i], unknown[j])]),
        load: unknown.iter().map(|&i| instant.applied()[i] - held[i]).collect(),
    };
    let moved = jacobian.times(&known);
    let problem =
        InstantProblem::new(Matrix::zeros(rows, rows), moved, instant.groups())?.with_border(border)?;
    let contacts = contacts(&instant, &problem);
    Ok(Posed { contacts, instant, problem, still: Some(Still { unknown, known, stiffness: k }) })
}

impl Still {
    /// Displacements of all degrees of freedom, and the efforts of those that are given.
    pub fn read(&self, instant: &Instant, forces: &[f64], displacements: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut all = self.known.clone();
        self.unknown.iter().zip(displacements).for_each(|(i, u)| all[*i] = *u);
        let pushed = instant.jacobian().transpose_times(forces);
        let effort = |dof: usize| dot(self.stiffness.row(dof), &all) - instant.applied()[dof] - pushed[dof];
        let efforts = instant.given().iter().map(|(dof, _)| effort(*dof)).collect();
        (all, efforts)
    }
}

/// Adds the stiffness of the scene's springs along their axes.
fn add_springs(model: &Model, state: &State, k: &mut Matrix) {
    let mut kinematics = Kinematics::new(model.system());
    kinematics.update(&state.position, &state.velocity);
    for spring in &model.scene().springs {
        let ends: [Vector; 2] =
            spring.ends.map(|e| e.body.map_or(e.point, |b| kinematics.pose(b).point(e.point)));
        let across = sub(ends[1], ends[0]);
        let l = length(across);
        if l == 0.0 {
            continue;
        }
        let mut row = vec![0.0; k.rows()];
        for ((end, point), sign) in spring.ends.iter().zip(ends).zip([-1.0, 1.0]) {
            if let Some(body) = end.body {
                kinematics.jacobian_row(body, point, scale(1.0 / l, across), sign, &mut row);
            }
        }
        for i in 0..row.len() {
            for j in 0..row.len() {
                k[(i, j)] += spring.stiffness * row[i] * row[j];
            }
        }
    }
}
