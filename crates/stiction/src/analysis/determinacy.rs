//! Whether the contact forces of a step are the only ones with its motion.
//!
//! Rigid contacts can share a load in more than one way: four legs of a table, a box on a plane, boxes stacked. The motion
//! `v+` is then the same for all shares, and a solver picks one. A change `d` of the forces `lambda` goes unseen by the
//! bodies if `W' d = 0`: the speeds `s = A lambda + b` stay, and so does the contact law, as long as `lambda + d` is allowed
//! where the contact sticks, slips or touches without force. Per element, `d` may lie in
//!
//! - the span of n, t, o where it sticks within its friction cone `K` (with torsion or rolling friction: of moments over the axes of the ellipsoid, too);
//! - `K` plus the line of `lambda`, where it sticks on the boundary of `K`; `K`, where it touches without force;
//! - the same with the face of `K` on which friction opposes the slip, where it slips.
//!
//! Compliant elements have no such freedom: their force follows from their deformation.
//!
//! All those `d` are a polyhedral cone. Which of its one-sided directions can be taken at all is asked one by one (least squares
//! with signs); those that cannot are dropped, and what remains spans the set: a null space.

use crate::dynamics::{Kinematics, MassMatrix};
use crate::model::{Model, Owner, Resolved};
use crate::scene::FrictionKind;
use crate::state::State;
use crate::step::{ElementReport, Status, Stepper};
use complementarity::eigen::symmetric_eigen;
use complementarity::matrix::{Matrix, dot, norm};
use std::f64::consts::PI;

/// Other forces with the same motion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Determinacy {
    /// Dimension of the set of forces about the step's own that give the same motion; 0: they are determined.
    pub freedom: usize,
    /// Rank of the directions that were looked at, as motions of the bodies.
    pub rank: usize,
    /// Elements whose force is not determined: places in [`Stepper::elements`].
    pub undetermined: Vec<usize>,
    /// Those of them whose normal force is not.
    pub undetermined_normal: Vec<usize>,
}

/// Directions are dependent if an eigenvalue of their Gram matrix (diagonal 1) is below this share of the largest.
const NULL: f64 = 1e-12;
/// Lengths of unit directions below this are rounding; gaps, and slips in a step, too (m); normal forces, as a share of the largest.
const SMALL: f64 = 1e-9;
/// Share of an element in a null vector above which its force is not determined.
const PART: f64 = 1e-6;

/// Asks about the last step of `stepper`, which began at `start`. `None` if the mass matrix is singular or numbers are not finite.
pub fn determinacy(stepper: &mut Stepper, start: &State) -> Option<Determinacy> {
    let model = stepper.model().clone();
    let elements = stepper.elements().to_vec();
    let laws: Vec<Option<Law>> = elements.iter().map(|e| Law::of(&model, e)).collect();
    let contacts = Contacts::new(&elements, &laws, stepper.kinematics(start))?;
    let no_force = SMALL * elements.iter().fold(0.0f64, |m, e| m.max(e.force[0]));
    let directions: Vec<Direction> = (0..elements.len())
        .flat_map(|k| laws[k].map_or(vec![], |law| of_element(model.scene(), k, &elements[k], law, no_force)))
        .collect();
    let taken = contacts.possible(&directions)?;
    let kept: Vec<Direction> =
        directions.into_iter().zip(taken).filter(|(_, t)| *t).map(|(d, _)| d).collect();
    let basis = orthonormal(&kept);
    let (gram, size) = contacts.between(&basis);
    let (values, vectors) = symmetric_eigen(&gram)?;
    let largest = values.last().copied().unwrap_or(0.0);
    let null: Vec<usize> = (0..values.len()).filter(|&i| values[i] <= NULL * largest.max(1.0)).collect();
    // back to forces, in units that make the largest of a null vector at most 1
    let least = size.iter().copied().fold(f64::INFINITY, f64::min);
    let moved = |element: usize, rows: usize| {
        null.iter().any(|&i| {
            let mut sum = [0.0; ROWS];
            for (k, d) in basis.iter().enumerate().filter(|(_, d)| d.element == element) {
                add(&mut sum[..rows], vectors[(k, i)] * least / size[k], &d.force);
            }
            norm(&sum) > PART
        })
    };
    Some(Determinacy {
        freedom: null.len(),
        rank: basis.len() - null.len(),
        undetermined: (0..elements.len()).filter(|&k| moved(k, ROWS)).collect(),
        undetermined_normal: (0..elements.len()).filter(|&k| moved(k, 1)).collect(),
    })
}

/// Rows of an element: a force along n, t, o, and moments about them over the axes of the ellipsoid, N.
const ROWS: usize = 6;
type Row = [f64; ROWS];

/// `to + factor from`.
fn add(to: &mut [f64], factor: f64, from: &[f64]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += factor * from);
}

fn unit(mut row: Row) -> Row {
    let length = norm(&row);
    row.iter_mut().for_each(|x| *x /= length);
    row
}

/// A change of an element's force.
#[derive(Debug, Clone, Copy)]
struct Direction {
    element: usize,
    force: Row,
    /// Only forwards.
    one_sided: bool,
}

/// `W M^-1 W'` of all elements, of each the first `rows`.
struct Contacts {
    gram: Matrix,
    rows: usize,
}

impl Contacts {
    fn new(elements: &[ElementReport], laws: &[Option<Law>], kinematics: &Kinematics) -> Option<Self> {
        let system = kinematics.system();
        let mut mass = MassMatrix::new(system);
        mass.update(kinematics).ok()?;
        let rows = if laws.iter().flatten().any(|l| l.axes[2..] != [0.0; 3]) { ROWS } else { 3 };
        let (mut w, mut m_inv_w) = (vec![], vec![]);
        for (e, law) in elements.iter().zip(laws) {
            let (frame, axes) = ([e.frame.n, e.frame.t, e.frame.o], law.map_or(NO_MOMENTS, |l| l.axes));
            for k in 0..rows {
                let axis = if k == 0 { 1.0 } else { axes[k - 1] };
                let mut row = vec![0.0; system.velocity_size()];
                for (owner, sign) in [(e.body_a, -1.0), (e.body_b, 1.0)] {
                    if let Owner::Body(link) = owner
                        && system.tree_of(link).is_some()
                    {
                        match k.checked_sub(3) {
                            None => kinematics.jacobian_row(link, e.point, frame[k], sign * axis, &mut row),
                            Some(k) => kinematics.angular_row(link, frame[k], sign * axis, &mut row),
                        }
                    }
                }
                w.push(row.clone());
                mass.solve(&mut row);
                m_inv_w.push(row);
            }
        }
        let along = |i: usize, j: usize| w[i].iter().zip(&m_inv_w[j]).map(|(a, b)| a * b).sum();
        Some(Self { gram: Matrix::from_fn(w.len(), w.len(), along), rows })
    }

    /// Gram matrix of directions scaled to length 1, and their lengths (1 for a direction that moves nothing).
    fn between(&self, directions: &[Direction]) -> (Matrix, Vec<f64>) {
        let raw = |p: &Direction, q: &Direction| -> f64 {
            let row =
                |i: usize| &self.gram.row(self.rows * p.element + i)[self.rows * q.element..][..self.rows];
            (0..self.rows).map(|i| p.force[i] * dot(row(i), &q.force[..self.rows])).sum()
        };
        let length = |d: &Direction| Some(raw(d, d).max(0.0).sqrt()).filter(|&l| l > 0.0).unwrap_or(1.0);
        let size: Vec<f64> = directions.iter().map(length).collect();
        let entry = |i: usize, j: usize| raw(&directions[i], &directions[j]) / (size[i] * size[j]);
        (Matrix::from_fn(directions.len(), directions.len(), entry), size)
    }

    /// Which directions can be taken, in whole or as part of a change that moves nothing.
    fn possible(&self, directions: &[Direction]) -> Option<Vec<bool>> {
        let one_sided: Vec<usize> = (0..directions.len()).filter(|&i| directions[i].one_sided).collect();
        let mut possible: Vec<bool> = directions.iter().map(|d| !d.one_sided).collect();
        if one_sided.is_empty() {
            return Some(possible);
        }
        let free: Vec<usize> = (0..directions.len()).filter(|&i| !directions[i].one_sided).collect();
        let ordered: Vec<Direction> = free.iter().chain(&one_sided).map(|&i| directions[i]).collect();
        let left = without_free(&self.between(&ordered).0, free.len())?;
        let n = one_sided.len();
        for i in 0..n {
            if possible[one_sided[i]] {
                continue;
            }
            let (least, with) = least_squares(&left, i);
            if least <= SMALL {
                for j in 0..n {
                    possible[one_sided[j]] |= with[j] > SMALL;
                }
            }
        }
        Some(possible)
    }
}

/// Least `d' G d` with `d_i = 1` and the others at least 0, and that `d`: Lawson and Hanson's active-set method (Solving Least
/// Squares Problems, 1974, algorithm NNLS) on the Gram matrix.
fn least_squares(gram: &Matrix, i: usize) -> (f64, Vec<f64>) {
    let n = gram.rows();
    let mut d = vec![0.0; n];
    d[i] = 1.0;
    let mut passive: Vec<usize> = vec![];
    for _ in 0..3 * n {
        let down = |j: usize| -> f64 { -(0..n).map(|k| gram[(j, k)] * d[k]).sum::<f64>() };
        let enters = (0..n).filter(|j| *j != i && !passive.contains(j));
        let Some(best) = enters.max_by(|&a, &b| down(a).total_cmp(&down(b))).filter(|&j| down(j) > NULL)
        else {
            break;
        };
        passive.push(best);
        while !passive.is_empty() {
            let Some(target) = minimum(gram, &passive, i) else {
                // dependent on the others up to rounding
                passive.pop();
                break;
            };
            // as far towards the target as signs allow
            let ratio = |(&k, &t): (&usize, &f64)| if t > 0.0 { 1.0 } else { d[k] / (d[k] - t) };
            let share = passive.iter().zip(&target).map(ratio).fold(1.0, f64::min);
            for (&k, t) in passive.iter().zip(&target) {
                d[k] += share * (t - d[k]);
            }
            if target.iter().all(|&t| t > 0.0) {
                break;
            }
            passive.retain(|&k| d[k] > NULL);
            (0..n).filter(|k| *k != i && !passive.contains(k)).for_each(|k| d[k] = 0.0);
        }
    }
    let value = (0..n).map(|j| d[j] * (0..n).map(|k| gram[(j, k)] * d[k]).sum::<f64>()).sum();
    (value, d)
}

/// `G_PP x = -G_Pi` by Cholesky's factor; `None` if `G_PP` is singular.
fn minimum(gram: &Matrix, passive: &[usize], i: usize) -> Option<Vec<f64>> {
    let n = passive.len();
    let mut l = Matrix::zeros(n, n);
    for r in 0..n {
        for c in 0..=r {
            let rest = gram[(passive[r], passive[c])] - (0..c).map(|k| l[(r, k)] * l[(c, k)]).sum::<f64>();
            if r == c && rest <= NULL {
                return None;
            }
            l[(r, c)] = if r == c { rest.sqrt() } else { rest / l[(c, c)] };
        }
    }
    let mut x: Vec<f64> = passive.iter().map(|&p| -gram[(p, i)]).collect();
    for r in 0..n {
        x[r] = (x[r] - (0..r).map(|k| l[(r, k)] * x[k]).sum::<f64>()) / l[(r, r)];
    }
    for r in (0..n).rev() {
        x[r] = (x[r] - (r + 1..n).map(|k| l[(k, r)] * x[k]).sum::<f64>()) / l[(r, r)];
    }
    Some(x)
}

/// Schur complement of the first `free` rows, which may be dependent.
fn without_free(gram: &Matrix, free: usize) -> Option<Matrix> {
    let (values, vectors) = symmetric_eigen(&Matrix::from_fn(free, free, |i, j| gram[(i, j)]))?;
    let n = gram.rows() - free;
    let kept: Vec<usize> = (0..free).filter(|&k| values[k] > NULL * values[free - 1]).collect();
    // component of each one-sided direction along each eigenvector
    let along = Matrix::from_fn(n, kept.len(), |i, k| {
        let sum: f64 = (0..free).map(|f| vectors[(f, kept[k])] * gram[(f, free + i)]).sum();
        sum / values[kept[k]].sqrt()
    });
    Some(Matrix::from_fn(n, n, |i, j| {
        let inside: f64 = (0..kept.len()).map(|k| along[(i, k)] * along[(j, k)]).sum();
        gram[(free + i, free + j)] - inside
    }))
}

/// What the contact law lets an element's force do.
fn of_element(
    scene: &Resolved,
    element: usize,
    e: &ElementReport,
    law: Law,
    no_force: f64,
) -> Vec<Direction> {
    let Law { mu, rigid, axes, set } = law;
    let touches = e.gap <= SMALL && scene.step.h * e.speed[0] <= SMALL;
    if !rigid || (e.status == Status::Open && !touches) {
        return vec![];
    }
    let friction = [e.force[1], e.force[2], e.moment[0], e.moment[1], e.moment[2]];
    let speeds = [e.speed[1], e.speed[2], e.turn[0], e.turn[1], e.turn[2]];
    let slip: [f64; 5] = std::array::from_fn(|i| axes[i] * speeds[i]);
    let still = match e.status {
        Status::Stick => true,
        Status::Slip => false,
        Status::Open => scene.step.h * norm(&slip) <= SMALL,
    };
    let loaded = e.force[0] > no_force;
    let direction = |force: Row, one_sided: bool| Direction { element, force, one_sided };
    let along = |k: usize| std::array::from_fn(|i| if i == k { 1.0 } else { 0.0 });
    if mu == 0.0 {
        return vec![direction(along(0), !loaded)];
    }
    let over = |i: usize| if axes[i] > 0.0 { friction[i] / axes[i] } else { 0.0 };
    let force: Row = std::array::from_fn(|i| if i == 0 { 1.0 } else { over(i - 1) / e.force[0] });
    let corners = corners(set, scene.planar);
    let round = set == FrictionKind::Cone && !scene.planar;
    let within = match round {
        true => norm(&force[1..]) < mu * (1.0 - SMALL),
        false => inside(&corners, [force[1] / mu, force[2] / mu]),
    };
    let turns = (3..ROWS).filter(|&k| axes[k - 1] > 0.0);
    if loaded && still && within {
        let all = (0..if scene.planar { 2 } else { 3 }).chain(turns);
        return all.map(|k| direction(along(k), false)).collect();
    }
    // friction that opposes the slip most
    let fast = norm(&slip);
    let edge: Vec<[f64; 5]> = match round && !still {
        true => vec![slip.map(|s| -s / fast)],
        false => {
            let ends = turns.flat_map(|k| [1.0, -1.0].map(|x| (k - 1, x)));
            let turned = ends.map(|(k, x)| std::array::from_fn(|i| if i == k { x } else { 0.0 }));
            corners.iter().map(|&[t, o]| [t, o, 0.0, 0.0, 0.0]).chain(turned).collect()
        }
    };
    let least = edge.iter().map(|c| dot(c, &slip)).fold(f64::INFINITY, f64::min);
    let face = edge.iter().filter(|c| still || dot(*c, &slip) <= least + SMALL * fast);
    let mut directions: Vec<Direction> = face
        .map(|c| direction(std::array::from_fn(|i| if i == 0 { 1.0 } else { mu * c[i - 1] }), true))
        .collect();
    if loaded {
        let apart = |d: &Direction| (0..ROWS).map(|i| (d.force[i] - force[i]).powi(2)).sum::<f64>().sqrt();
        directions.retain(|d| apart(d) > SMALL);
        directions.push(direction(force, false));
    }
    directions
}

/// Corners of the set of friction forces for `mu lambda_n = 1`, in order about the middle; of the disc, some points of
/// its edge, which span the same.
fn corners(set: FrictionKind, planar: bool) -> Vec<[f64; 2]> {
    match set {
        _ if planar => vec![[1.0, 0.0], [-1.0, 0.0]],
        FrictionKind::Polygon { sides } => regular(sides),
        FrictionKind::Cone => regular(16),
        FrictionKind::Pyramid | FrictionKind::Frictionless => {
            vec![[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]]
        }
    }
}

fn regular(sides: usize) -> Vec<[f64; 2]> {
    let corner = |k: usize| {
        let (sin, cos) = (2.0 * PI * k as f64 / sides as f64).sin_cos();
        [cos, sin]
    };
    (0..sides).map(corner).collect()
}

/// Whether a friction force is within the set, not on its boundary.
fn inside(corners: &[[f64; 2]], [t, o]: [f64; 2]) -> bool {
    if corners.len() == 2 {
        return t.abs() < 1.0 - SMALL;
    }
    (0..corners.len()).all(|k| {
        let (p, q) = (corners[k], corners[(k + 1) % corners.len()]);
        (q[0] - p[0]) * (o - p[1]) - (q[1] - p[1]) * (t - p[0]) > SMALL
    })
}

/// Axes of an element whose law is not known.
const NO_MOMENTS: [f64; 5] = [1.0, 1.0, 0.0, 0.0, 0.0];

/// How an element may push.
#[derive(Debug, Clone, Copy)]
struct Law {
    mu: f64,
    rigid: bool,
    /// Of the ellipsoid of force and moments over `mu`: along t and o, and about n, t, o (m).
    axes: [f64; 5],
    set: FrictionKind,
}

impl Law {
    fn of(model: &Model, e: &ElementReport) -> Option<Self> {
        let rule = model.contacts().rule_of(e.id)?;
        let [t, o, torsion, rolling] = rule.axes;
        let axes = [t, o, torsion, rolling, rolling];
        Some(Self { mu: rule.friction, rigid: rule.compliance.is_none(), axes, set: rule.given.friction_set })
    }
}

/// Orthonormal directions with the same span, element by element.
fn orthonormal(directions: &[Direction]) -> Vec<Direction> {
    let mut basis: Vec<Direction> = vec![];
    for d in directions {
        let mut rest = unit(d.force);
        for _ in 0..2 {
            for b in basis.iter().filter(|b| b.element == d.element) {
                let along = dot(&b.force, &rest);
                add(&mut rest, -along, &b.force);
            }
        }
        if norm(&rest) > PART {
            basis.push(Direction { force: unit(rest), ..*d });
        }
    }
    basis
}
