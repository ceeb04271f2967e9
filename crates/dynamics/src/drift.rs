//! Drift: the motion of a system without forces over a time `h`, governed by velocity products (Coriolis,
//! centrifugal, gyroscopic).
//!
//! A step applies its forces at the old configuration, which changes the velocities from `v` to `v'`, and
//! then lets the bodies drift. Without velocity products positions advance with the velocity
//! `v_theta = theta v + (1-theta) v'`.
//!
//! **Trees.** With `P_i` the momentum of all that body `i` carries, `p_i = S_i' P_i` is the momentum of joint
//! `i` (`p = M v`), and since joint forces are all that changes `P_i`,
//!
//! ```text
//! p_i' = g_i := (dS_i/dt)' P_i      dS_i/dt = V_parent x S_i
//! ```
//!
//! (`V_i` for the axis of a planar joint, which its own shifts carry along; 0 for roots). The drift is the
//! implicit midpoint rule of these equations, with `u` the mean velocity and `q_m = q + h/2 G u`:
//!
//! ```text
//! M(q_m) u - h/2 g(q_m, u) = M(q) v_theta      q+ = q + h G u      M(q+) v+ = M(q) v' + h g(q_m, u)
//! ```
//!
//! It is symmetric in time and of second order, symplectic for revolute and prismatic joints, and conserves
//! the momentum of a tree on a free joint, where `g` is 0. A root that can translate is seen from the frame
//! in which the centre of mass of its tree is at rest; the root's origin moves such that the centre of mass
//! stays exactly, so that angular momentum is conserved too. The iteration `u := u - M(q)^-1 r`, with `r` the
//! residual, computes `u`; it contracts as `h` times the angular velocities. Where it does not, the drift is
//! split into 2, 4, 8... parts.
//!
//! **Free bodies.** The centre of mass keeps its velocity. The angular momentum `L` is constant; in body axes
//! it is `Pi = R' L`, and changes as the body rotates by `exp(h Omega)`:
//!
//! ```text
//! I Omega = (Pi + Pi+)/2      Pi+ = exp(-h Omega) Pi      R+ = R exp(h Omega)
//! ```
//!
//! `Pi+ - Pi` is parallel to `(Pi + Pi+) x Omega`, so the energy `Pi' I^-1 Pi / 2` is constant too, for every
//! `h`, and rotations about principal axes are exact. (The implicit midpoint rule of Euler's equations, with
//! the exponential map instead of Cayley's.) `Pi` is that of `v_theta`; `L` at the end is that of `v'`.

use std::ops::Range;

use super::joint::{attitude, three};
use super::kinematics::{State, rotation};
use super::spatial::Spatial;
use super::system::Body;
use super::{Joint, Kinematics, MassMatrix, SingularMass, System, Tree};
use crate::space::{Quaternion, Tensor, Vector, add, cross, dot, length, scale, sub, times, transpose_times};

/// Trees slower than this over `h` (1/s or m/s times s) drift without velocity products, which would change
/// them by no more than this share.
pub(super) const SLOW: f64 = 1e-10;

/// Largest relative error of the iteration for a mean velocity, in the metric `M`.
const SETTLED: f64 = 1e-8;

/// Where the changes do not decrease any more, changes up to this share count as rounding.
const ROUNDED: f64 = 1e-8;

/// Largest number of iterations for a mean velocity.
const ROUNDS: usize = 30;

/// Largest number of parts of the drift of a tree.
const MOST_PARTS: usize = 256;

/// Relative residual of the angular momentum of a free body.
const ROUNDING: f64 = 1e-15;

/// Largest rotation of a free body in one part, rad, and largest number of parts.
const TURN: f64 = 1.0;
const MOST_TURNS: f64 = 100.0;

/// Moves a system without forces, in memory that is reused.
#[derive(Debug, Clone)]
pub struct Drift {
    /// Kinematics of a tree at the middle or the end of its motion.
    kinematics: Kinematics,
    /// Mass matrix at the end, for the trees that are not free bodies.
    mass: MassMatrix,
    middle: Vec<f64>,
    start: Vec<f64>,
    /// Velocity `v` at the start of a part, mean velocity `u`, and momenta.
    velocity: Vec<f64>,
    mean: Vec<f64>,
    momentum: Vec<f64>,
    rate: Vec<f64>,
    /// Momentum at the start of a part, then at its end.
    end: Vec<f64>,
    residual: Vec<f64>,
    /// Momentum `M(q) (v' - v_theta)` of the velocities that positions do not follow.
    surplus: Vec<f64>,
    /// Number of parts of each tree's last drift.
    parts: Vec<usize>,
}

/// Why the drift of a system could not be computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NotDrifted {
    /// The mass matrix at the end cannot be factored.
    Mass(SingularMass),
    /// The iteration for the mean velocity of a tree did not converge.
    Unsettled {
        /// Last change of a velocity in the iteration, m/s or rad/s.
        change: f64,
    },
}

impl From<SingularMass> for NotDrifted {
    fn from(e: SingularMass) -> Self {
        Self::Mass(e)
    }
}

impl Drift {
    /// Allocates the memory for a system.
    pub fn new(system: &System) -> Self {
        let (q, v) = (vec![0.0; system.configuration_size()], vec![0.0; system.velocity_size()]);
        Self {
            kinematics: Kinematics::new(system),
            mass: MassMatrix::new(system),
            middle: q.clone(),
            start: q,
            velocity: v.clone(),
            mean: v.clone(),
            momentum: v.clone(),
            rate: v.clone(),
            end: v.clone(),
            residual: v.clone(),
            surplus: v,
            parts: vec![1; system.trees().len()],
        }
    }

    /// Number of parts of the last drift of a tree; free bodies count theirs by themselves.
    pub fn parts(&self, tree: usize) -> usize {
        self.parts[tree]
    }

    /// Mean velocity of the last part of a tree's drift, over its dofs.
    pub fn mean(&self, tree: usize) -> &[f64] {
        &self.mean[self.kinematics.system().trees()[tree].dofs.clone()]
    }

    /// Exchanges kinematics and mass matrix with those at the end of the last drift, for the next step that
    /// begins there. Kinematics that are at `q` already are left alone.
    pub fn hand_over(&mut self, q: &[f64], kinematics: &mut Kinematics, mass: &mut MassMatrix) {
        if !kinematics.is_at(q) {
            std::mem::swap(kinematics, &mut self.kinematics);
        }
        std::mem::swap(mass, &mut self.mass);
    }

    /// Moves all trees from the state of `kinematics` and `mass` over the time `h`: the configuration `q`
    /// with the velocities `theta`, and the velocities `v` with it. The slices are over all trees.
    ///
    /// # Errors
    /// If the mass matrix at the end is singular, or the iteration for a mean velocity does not converge.
    pub fn advance(
        &mut self,
        kinematics: &Kinematics,
        mass: &MassMatrix,
        h: f64,
        theta: &[f64],
        (q, v): (&mut [f64], &mut [f64]),
    ) -> Result<(), NotDrifted> {
        let system = kinematics.system();
        self.start.copy_from_slice(kinematics.configuration());
        for (t, tree) in system.trees().iter().enumerate() {
            let slow = || theta[tree.dofs.clone()].iter().all(|v| (h * v).abs() <= SLOW);
            if tree.even || slow() {
                advance_tree(system, t, &self.start, theta, h, q);
            } else if tree.is_free_body() {
                let b = tree.bodies.start;
                let (body, state) = (&system.model.bodies[b], &kinematics.states[b]);
                let (own, dofs) = (body.coordinates(), body.dofs());
                let out = (&mut q[own.clone()], &mut v[dofs.clone()]);
                turn_body(body, state, h, &self.start[own], &theta[dofs], out);
            } else {
                self.tree(kinematics, t, mass, h, theta, (q, v))?;
            }
        }
        Ok(())
    }

    /// Moves one tree, in as many parts as are needed.
    fn tree(
        &mut self,
        begin: &Kinematics,
        t: usize,
        mass: &MassMatrix,
        h: f64,
        theta: &[f64],
        (q, v): (&mut [f64], &mut [f64]),
    ) -> Result<(), NotDrifted> {
        let Tree { dofs, coordinates: own, .. } = &begin.system().trees()[t];
        for i in dofs.clone() {
            self.rate[i] = v[i] - theta[i];
        }
        mass.multiply_tree(t, &self.rate[dofs.clone()], &mut self.surplus[dofs.clone()]);
        let (mut parts, mut change) = (1, f64::INFINITY);
        while parts <= MOST_PARTS {
            q[own.clone()].copy_from_slice(&self.start[own.clone()]);
            self.velocity[dofs.clone()].copy_from_slice(&theta[dofs.clone()]);
            self.kinematics.copy_tree(t, begin);
            let mut settled = true;
            for k in 0..parts {
                let from = (k == 0).then_some(mass);
                let part = self.begin(t, from, h / parts as f64);
                (settled, change) = self.settle(&part, from, q);
                if !settled {
                    break;
                }
                self.finish(&part, q, k + 1 == parts)?;
            }
            if settled {
                v[dofs.clone()].copy_from_slice(&self.velocity[dofs.clone()]);
                self.parts[t] = parts;
                return Ok(());
            }
            parts *= 2;
        }
        Err(NotDrifted::Unsettled { change })
    }

    /// Begins a part of a tree's drift at the state of `self.kinematics`: `self.velocity` becomes relative to
    /// the part's frame, and `self.end` its momentum. `from` is the mass matrix at the start; `None` means
    /// the one at the end of the last part.
    fn begin(&mut self, t: usize, from: Option<&MassMatrix>, h: f64) -> Part {
        let Self { kinematics, mass, velocity, end, .. } = self;
        let (from, system) = (from.unwrap_or(mass), kinematics.system().clone());
        let tree = &system.model.trees[t];
        let root = &system.model.bodies[tree.bodies.start];
        // a drive on a sliding root holds its centre of mass back
        let driven = root.dofs().any(|i| system.model.armature[i] > 0.0);
        let shifts = if driven { 0 } else { root.joint.shifts() };
        let (dofs, shifts) = (tree.dofs.clone(), tree.dofs.start..tree.dofs.start + shifts);
        let (m, center) = kinematics.center_of_tree(t);
        from.multiply_tree(t, &velocity[dofs.clone()], &mut end[dofs.clone()]);
        let mut frame = [0.0; 3];
        if !shifts.is_empty() {
            for (frame, i) in frame.iter_mut().zip(shifts.clone()) {
                *frame = end[i] / m;
                velocity[i] -= *frame;
            }
            from.multiply_tree(t, &velocity[dofs.clone()], &mut end[dofs.clone()]);
        }
        Part { t, h, dofs, shifts, frame, center, system }
    }

    /// Computes the mean velocity `u` of a part; returns whether the iteration converged, and its last
    /// change.
    fn settle(&mut self, part: &Part, from: Option<&MassMatrix>, q: &[f64]) -> (bool, f64) {
        let Self { kinematics, mass, middle, velocity, mean, momentum, rate, end, residual, .. } = self;
        let (from, &Part { t, h, ref dofs, ref system, .. }) = (from.unwrap_or(mass), part);
        // initial guess: v_theta + h/2 M^-1 f
        kinematics.set_velocity(t, velocity);
        kinematics.bias_tree(t, [0.0; 3], rate);
        mean[dofs.clone()].copy_from_slice(&rate[dofs.clone()]);
        from.solve_tree(t, &mut mean[dofs.clone()]);
        // lengths in the metric M, whatever the units of the joints
        let (mut last, mut size) = (0.0, 0.0);
        for i in dofs.clone() {
            last += rate[i] * mean[i];
            size += end[i] * velocity[i];
            mean[i] = velocity[i] + 0.5 * h * mean[i];
        }
        (last, size) = (0.5 * h * f64::abs(last).sqrt(), f64::abs(size).sqrt());
        let mut farthest = 0.0f64;
        for _ in 0..ROUNDS {
            advance_tree(system, t, q, mean, 0.5 * h, middle);
            kinematics.update_tree(t, middle, mean);
            kinematics.momenta(t, momentum, rate);
            for i in dofs.clone() {
                residual[i] = end[i] + 0.5 * h * rate[i] - momentum[i];
                momentum[i] = residual[i];
            }
            from.solve_tree(t, &mut momentum[dofs.clone()]);
            let mut change = 0.0;
            farthest = 0.0;
            for i in dofs.clone() {
                mean[i] += momentum[i];
                change += residual[i] * momentum[i];
                farthest = farthest.max(momentum[i].abs());
            }
            change = change.abs().sqrt();
            // errors fall by this factor from round to round
            let factor = if change > 0.0 { change / last } else { 0.0 };
            if change * factor <= SETTLED * size || (factor >= 1.0 && change <= ROUNDED * size) {
                return (true, farthest);
            }
            if !change.is_finite() || factor >= 1.0 {
                return (false, farthest);
            }
            last = change;
        }
        (false, farthest)
    }

    /// Ends a part: advances the tree with the computed mean velocity, to `q` and `self.velocity`.
    fn finish(&mut self, part: &Part, q: &mut [f64], last: bool) -> Result<(), SingularMass> {
        let Self { kinematics, mass, middle, velocity, mean, end, rate, surplus, .. } = self;
        let &Part { t, h, ref dofs, ref shifts, frame, center, ref system } = part;
        advance_tree(system, t, q, mean, h, middle);
        for i in dofs.clone() {
            end[i] += h * rate[i] + if last { surplus[i] } else { 0.0 };
        }
        if !shifts.is_empty() {
            kinematics.update_tree(t, middle, mean);
            // the centre of mass stays where it is in the part's frame; the root's origin moves about it
            let moved = sub(center, kinematics.center_of_tree(t).1);
            let columns = &kinematics.columns;
            let mut lever = [0.0; 3];
            for (frame, i) in frame.iter().zip(shifts.clone()) {
                mean[i] = frame + dot(columns[i].linear, moved) / h;
                lever = add(lever, scale(if last { surplus[i] } else { 0.0 }, columns[i].linear));
            }
            let root = &system.model.bodies[system.model.trees[t].bodies.start];
            for i in shifts.end..root.dofs().end {
                end[i] -= dot(columns[i].angular, cross(moved, lever));
            }
            let own = root.coordinates();
            // its rotation stays as computed
            root.joint.advance(&root.mount, &q[own.clone()], &mean[root.dofs()], h, &mut middle[own]);
        }
        let own = system.trees()[t].coordinates.clone();
        q[own.clone()].copy_from_slice(&middle[own]);
        kinematics.update_tree(t, q, mean);
        mass.update_tree(t, kinematics)?;
        mass.solve_tree(t, &mut end[dofs.clone()]);
        velocity[dofs.clone()].copy_from_slice(&end[dofs.clone()]);
        for (frame, i) in frame.iter().zip(shifts.clone()) {
            velocity[i] += frame;
        }
        Ok(())
    }
}

/// A part of a tree's drift in time.
struct Part {
    t: usize,
    /// Duration, s.
    h: f64,
    dofs: Range<usize>,
    /// Degrees of freedom that translate the root.
    shifts: Range<usize>,
    /// Velocity of the centre of mass along these: that of the frame in which momenta are taken.
    frame: [f64; 3],
    /// Centre of mass at the start, relative to the root's origin.
    center: Vector,
    system: System,
}

/// Advances one tree: `q+ = q + h G v`.
fn advance_tree(system: &System, t: usize, q: &[f64], v: &[f64], h: f64, out: &mut [f64]) {
    for body in &system.model.bodies[system.model.trees[t].bodies.clone()] {
        let own = body.coordinates();
        body.joint.advance(&body.mount, &q[own.clone()], &v[body.dofs()], h, &mut out[own]);
    }
}

impl Kinematics {
    /// Mass of a tree, and its centre of mass relative to the root's origin.
    pub(super) fn center_of_tree(&self, t: usize) -> (f64, Vector) {
        let states = &self.states[self.system.model.trees[t].bodies.clone()];
        let (m, first) = states.iter().fold((0.0, [0.0; 3]), |(m, first), state| {
            (m + state.inertia.mass, add(first, state.inertia.first))
        });
        (m, scale(1.0 / m, first))
    }

    /// Computes the momenta `p = M v` of a tree's joints and their rates `g` without forces; the slices are
    /// over all dofs.
    pub(super) fn momenta(&mut self, t: usize, p: &mut [f64], g: &mut [f64]) {
        let model = &*self.system.model;
        let bodies = model.trees[t].bodies.clone();
        let shift = Spatial { angular: [0.0; 3], linear: self.references[t].velocity };
        for b in bodies.clone() {
            self.force[b] = self.states[b].inertia.times(self.states[b].velocity.plus(shift));
        }
        for b in bodies.rev() {
            let (body, carried) = (&model.bodies[b], self.force[b]);
            // (V x S)' P = -S' (V x* P)
            let turned = |by: Spatial| by.plus(shift).cross_force(carried);
            let by_parent = body.parent.map_or(Spatial::default(), |p| turned(self.states[p].velocity));
            for i in body.dofs() {
                p[i] = self.columns[i].dot(carried) + model.armature[i] * self.at.1[i];
                g[i] = -self.columns[i].dot(by_parent);
            }
            if let Some(parent) = body.parent {
                if body.joint == Joint::Planar {
                    let axis = body.dofs().end - 1;
                    g[axis] = -self.columns[axis].dot(turned(self.states[b].velocity));
                }
                self.force[parent] = self.force[parent].plus(carried);
            }
        }
    }
}

/// Moves one free body from `q` to `out`, whose second part holds `v'` on entry and `v+` on return.
fn turn_body(
    body: &Body,
    state: &State,
    h: f64,
    q: &[f64],
    theta: &[f64],
    (out, v): (&mut [f64], &mut [f64]),
) {
    let c = state.center;
    let momentum = state.central.times(three(v, 3));
    let [drift, after] = [theta, &*v].map(|v| add(three(v, 0), cross(three(v, 3), c)));
    let mut spin = transpose_times(&state.rotation, three(theta, 3));
    let mut own = times(&body.inertia.tensor, spin);
    let parts = turns(h, spin);
    let part = h / parts as f64;
    let mut turned = attitude(q, 3);
    for _ in 0..parts {
        (spin, own) = mean_spin(&body.inertia.tensor, part, own, spin);
        turned = turned.after(Quaternion::turn(scale(part, spin)));
    }
    turned = turned.unit();
    out[3..].copy_from_slice(&turned.0);
    let rotation = rotation(body.mount.attitude.after(turned));
    let center = times(&rotation, body.inertia.center);
    let shift = body.mount.attitude.inverse().apply(add(scale(h, drift), sub(c, center)));
    (0..3).for_each(|k| out[k] = q[k] + shift[k]);
    // I^-1 = K K', and K' is the body's root
    let inverse = |x: Vector| transpose_times(&body.root, times(&body.root, x));
    let in_body = transpose_times(&rotation, momentum);
    let mut angular = inverse(in_body);
    // rounding of I^-1 I would add up
    angular = add(angular, inverse(sub(in_body, times(&body.inertia.tensor, angular))));
    let angular = times(&rotation, angular);
    v[..3].copy_from_slice(&sub(after, cross(angular, center)));
    v[3..].copy_from_slice(&angular);
}

/// Number of parts of a free body's rotation over `h`; 1 also where the spin is not a number.
pub(super) fn turns(h: f64, spin: Vector) -> usize {
    (h * length(spin) / TURN).ceil().clamp(1.0, MOST_TURNS).max(1.0) as usize
}

/// Solves `I Omega = (Pi + Pi+)/2`, `Pi+ = exp(-h Omega) Pi` for `Omega` and `Pi+` by Newton's method from
/// `start`, with the derivative of the exponential map to first order in `h Omega`. The matrix is the inertia
/// plus a skew one, and never singular for small `h`.
pub(super) fn mean_spin(inertia: &Tensor, h: f64, momentum: Vector, start: Vector) -> (Vector, Vector) {
    let (mut spin, half) = (start, 0.5 * h);
    let size = inertia[0][0] + inertia[1][1] + inertia[2][2];
    let mut last = f64::INFINITY;
    for _ in 0..ROUNDS {
        let after = Quaternion::turn(scale(-h, spin)).apply(momentum);
        let off = sub(times(inertia, spin), scale(0.5, add(momentum, after)));
        let far = length(off);
        if far <= ROUNDING * length(momentum) || far.is_nan() || far >= last {
            return (spin, after);
        }
        last = far;
        let columns = [0, 1, 2].map(|k| {
            let axis: Vector = std::array::from_fn(|i| f64::from(u8::from(i == k)));
            let turned = sub(axis, scale(half, cross(spin, axis)));
            scale(1.0 / size, sub(inertia[k], scale(half, cross(after, turned))))
        });
        spin = sub(spin, solve(columns, scale(1.0 / size, off)));
    }
    (spin, Quaternion::turn(scale(-h, spin)).apply(momentum))
}

/// Solves three linear equations by Cramer's rule, from the columns of their matrix.
pub(super) fn solve([a, b, c]: [Vector; 3], r: Vector) -> Vector {
    let determinant = dot(a, cross(b, c));
    [dot(r, cross(b, c)), dot(a, cross(r, c)), dot(a, cross(b, r))].map(|x| x / determinant)
}
