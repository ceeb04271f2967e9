//! The derivative of a step, and its products.
//!
//! A step of the theta rule, with `a = v' - v` and `v_theta = theta v + (1-theta) v'`, is
//!
//! ```text
//! M(q) a = h (f + J' lambda)      s = J v_theta + g/h + E^-1 (lambda - K delta)      (lambda, s) keep to the laws
//! ```
//!
//! followed by the drift to `q+`, `v+`. With all that is explicit in `x = (q, v, delta)` and the parameters on the right,
//!
//! ```text
//! M~ dv' = M dv + d(h f + h J' lambda - M a) + h J' dlambda        M~: M, less the derivatives of implicit forces
//! ds = dJ v_theta + dg/h + J dv_theta + E^-1 dlambda - E^-1 K ddelta
//! dlambda = C y + f      R ds + T y = 0                            the linearised laws
//! ```
//!
//! are linear; eliminating gives `(R A C + T) y = -R ds_0`, island by island. Contact points, normals and gaps move with
//! the bodies by `geometry/feature.rs`. Positions are projected on rigid loops, gears and drives by a further impulse
//! `h J' pi`, such that their gaps `g(q+)` are zero: one more linear equation for `dpi`. The adjoint product is the same maps transposed, in reverse order.

use super::linear::{Factor, Sparse};
use super::trees::{DriftMap, InertiaMap};
use super::{Parameters, linearise};
use crate::dynamics::MassMatrix;
use crate::inputs::Inputs;
use crate::state::State;
use crate::step::{Failed, StepReport};
use crate::stepper::Stepper;

/// Why a step has no derivative here.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NotDifferentiable {
    /// The step itself failed.
    #[error(transparent)]
    Failed(#[from] Failed),
    /// Something of the scene that derivatives do not know.
    #[error("{what}: not differentiated")]
    Unknown {
        /// What it is.
        what: String,
    },
    /// A patch of several elements.
    #[error("{contact} at t = {time} s: half_space patches are not differentiated")]
    Patch {
        /// Name of the contact.
        contact: String,
        /// s.
        time: f64,
    },
    /// An impact whose velocities are computed apart from its positions.
    #[error(
        "at t = {time} s: impacts with restitution (or with explicit_share > 0 between rigid bodies) are not differentiated"
    )]
    Impact {
        /// s.
        time: f64,
    },
    /// A matrix is singular.
    #[error("at t = {time} s: the equations of the step's derivative are singular")]
    Singular {
        /// s.
        time: f64,
    },
}

/// Where a derivative is one of several, and which one was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Note {
    /// Start of the step, s.
    pub time: f64,
    /// Contact or row.
    pub name: String,
    /// What was chosen.
    pub choice: &'static str,
}

/// A group of velocities that share a mass matrix.
#[derive(Debug, Clone)]
pub(super) struct Group {
    pub dofs: Vec<usize>,
    pub factor: Factor,
}

/// Connected contacts: their unknowns `y`, and the factors of `R A C + T`.
#[derive(Debug, Clone)]
pub(super) struct Island {
    pub unknowns: Vec<usize>,
    pub factor: Factor,
}

/// What a parameter does, explicitly, to the parts of a step.
#[derive(Debug, Clone, Default)]
pub(super) struct Column {
    /// To `h f - M a`.
    pub force: Vec<f64>,
    /// To `h J' pi - M w` of the projection, with `w` the velocity that it adds.
    pub push: Vec<f64>,
    /// To the gaps at the end of the rows that positions are projected on.
    pub gap: Vec<f64>,
    /// To `s`.
    pub slip: Vec<f64>,
    /// To `lambda`.
    pub lambda: Vec<f64>,
    /// To the configuration and velocities after the drift.
    pub drift: Vec<f64>,
    /// To the deformations after the step.
    pub memory: Vec<f64>,
}

impl Column {
    /// Scalar product with the gradients of its parts.
    fn dot(&self, of: &Column) -> f64 {
        let pairs = [
            (&self.force, &of.force),
            (&self.push, &of.push),
            (&self.gap, &of.gap),
            (&self.slip, &of.slip),
            (&self.lambda, &of.lambda),
            (&self.drift, &of.drift),
            (&self.memory, &of.memory),
        ];
        pairs.iter().flat_map(|(a, b)| a.iter().zip(*b)).map(|(a, b)| a * b).sum()
    }
}

/// The projection of positions on rigid loops, gears and drives: `M w = h J' pi` such that `g(q+) = 0`.
#[derive(Debug, Clone, Default)]
pub(super) struct Closing {
    pub rows: usize,
    /// `d(h J' pi - M w)` with the configuration: of `h J' pi`, and of the rest.
    pub push_q: Sparse,
    pub inertia: Option<InertiaMap>,
    /// `J` where the step begins, and the gradient of `g` at its end.
    pub jacobian: Sparse,
    pub gaps: Sparse,
    /// Of `dg / dpi`.
    pub factor: Factor,
}

impl Closing {
    /// Velocity that forces `pi` add.
    pub fn push(&self, part: &Part, pi: &[f64]) -> Vec<f64> {
        let mut v = vec![0.0; part.n];
        self.jacobian.transpose_times(part.h, pi, &mut v);
        part.kick().solve(&mut v);
        v
    }
}

/// The derivative of one part of a step; a step that was cut has several.
#[derive(Debug, Clone, Default)]
pub(crate) struct Part {
    pub(super) n: usize,
    pub(super) h: f64,
    pub(super) theta: f64,
    /// Deformations before and after.
    pub(super) memory: [usize; 2],
    /// `M`, and `M` with eliminated springs and servos.
    pub(super) mass: Option<MassMatrix>,
    pub(super) kick: Option<MassMatrix>,
    /// With implicit forces: `M~`, of trees that springs connect together.
    pub(super) groups: Vec<Group>,
    /// `d(h f + h J' lambda - M a)` with the configuration, of which weight (unless implicit) and `M a` are apart, and
    /// with the velocities.
    pub(super) inertia: Option<InertiaMap>,
    pub(super) force_q: Sparse,
    pub(super) force_v: Sparse,
    /// `h df` with `v_theta`, of implicit forces.
    pub(super) implicit: Sparse,
    /// `h df` with the logarithm of `h`, where implicit forces see farther.
    pub(super) longer: Vec<f64>,
    /// Rows of loaded elements: `J`, and explicit changes of `s`.
    pub(super) rows: usize,
    pub(super) jacobian: Sparse,
    pub(super) slip_q: Sparse,
    pub(super) slip_v: Sparse,
    /// What velocities `v_theta` do to the rows by the turning of bodies that carry others.
    pub(super) turning: Sparse,
    pub(super) slip_memory: Sparse,
    pub(super) compliance: Sparse,
    /// `C` and `R`.
    pub(super) unknowns: usize,
    pub(super) columns: Sparse,
    pub(super) equations: Sparse,
    pub(super) islands: Vec<Island>,
    /// From `xi`, `v_theta`, `v'`.
    pub(super) drift: DriftMap,
    /// Deformations after the step, from `xi`, deformations and `lambda`.
    pub(super) memory_q: Sparse,
    pub(super) memory_v: Sparse,
    pub(super) memory_memory: Sparse,
    pub(super) memory_lambda: Sparse,
    pub(super) closing: Option<Closing>,
    pub(super) parameters: Vec<Column>,
    /// Of the targets of motors.
    pub(super) targets: Vec<Column>,
    pub(super) notes: Vec<Note>,
}

/// The derivative of a step with the state, the efforts and the parameters at hand.
#[derive(Debug, Clone, Default)]
pub struct StepDerivative {
    pub(crate) parts: Vec<Part>,
}

/// An adjoint product: the gradient of a function of the step's result.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Adjoint {
    /// With the state before the step (or at the start of a run).
    pub state: Vec<f64>,
    /// With efforts on the degrees of freedom, constant in the step; N or N m.
    pub efforts: Vec<f64>,
    /// With the targets of the motors at the end of the step, see [`Inputs::targets`].
    pub targets: Vec<f64>,
    /// With the parameters.
    pub parameters: Vec<f64>,
}

/// Makes a step of length `h` and gives its derivative. Nothing is solved or stepped for the derivative.
///
/// # Errors
/// If the step fails, or has no derivative here; the state is then the one before the step, or after it.
pub fn step_with_derivatives(
    stepper: &mut Stepper,
    state: &mut State,
    inputs: &Inputs,
    h: f64,
    parameters: &Parameters,
) -> Result<(StepReport, StepDerivative), NotDifferentiable> {
    let mut parts: Vec<Result<Part, NotDifferentiable>> = vec![];
    let model = stepper.model().clone();
    let mut before = State::default();
    let report = stepper.step_watched(state, inputs, h, &mut |moment| match moment {
        crate::step::Moment::Before(state) => before.copy_from(state),
        crate::step::Moment::After(work) => {
            parts.push(linearise(&model, &before, inputs, work, parameters));
        }
    })?;
    let parts = parts.into_iter().collect::<Result<Vec<Part>, _>>()?;
    Ok((report, StepDerivative { parts }))
}

impl StepDerivative {
    /// Size of tangents before the step.
    pub fn size_before(&self) -> usize {
        self.parts.first().map_or(0, |p| 2 * p.n + p.memory[0])
    }

    /// Size of tangents after the step.
    pub fn size_after(&self) -> usize {
        self.parts.last().map_or(0, |p| 2 * p.n + p.memory[1])
    }

    /// Elements where regimes meet or contact features have no derivative, and the choice made.
    pub fn notes(&self) -> impl Iterator<Item = &Note> {
        self.parts.iter().flat_map(|p| &p.notes)
    }

    /// Whether the derivative is exact: no element is at a point where one was chosen of several.
    pub fn is_exact(&self) -> bool {
        self.notes().next().is_none()
    }

    /// Directional derivative: the tangent after the step, from the tangent before it, changes of the controls (efforts
    /// on all degrees of freedom, and after them the targets of the motors) and of the parameters (empty: none).
    pub fn forward(&self, tangent: &[f64], controls: &[f64], parameters: &[f64]) -> Vec<f64> {
        let mut x = tangent.to_vec();
        for part in &self.parts {
            x = part.forward(&x, controls, parameters);
        }
        x
    }

    /// Adjoint product: the gradient of `y . x+` for `y` given.
    pub fn adjoint(&self, y: &[f64]) -> Adjoint {
        let mut out = Adjoint { state: y.to_vec(), ..Adjoint::default() };
        for part in self.parts.iter().rev() {
            part.adjoint(&mut out);
        }
        out
    }

    /// The whole matrix `d x+ / d x`, row by row.
    pub fn matrix(&self) -> Vec<Vec<f64>> {
        let columns = self.size_before();
        let mut out = vec![vec![0.0; columns]; self.size_after()];
        let mut unit = vec![0.0; columns];
        for j in 0..columns {
            unit[j] = 1.0;
            for (row, x) in out.iter_mut().zip(self.forward(&unit, &[], &[])) {
                row[j] = x;
            }
            unit[j] = 0.0;
        }
        out
    }

    /// Memory that it holds, bytes, roughly.
    pub(crate) fn bytes(&self) -> usize {
        self.parts.iter().map(Part::bytes).sum()
    }
}

impl Part {
    /// `M` with eliminated springs and servos.
    fn kick(&self) -> &MassMatrix {
        match self.kick.as_ref().or(self.mass.as_ref()) {
            Some(mass) => mass,
            None => unreachable!("a part has its mass matrix"),
        }
    }

    /// `y += M x`.
    fn times_mass(&self, x: &[f64], y: &mut [f64]) {
        let mut own = vec![0.0; x.len()];
        if let Some(mass) = &self.mass {
            mass.multiply(x, &mut own);
        }
        add(y, 1.0, &own);
    }

    /// Change of configuration and velocities after the drift where `v'` changes by `dv`.
    pub(super) fn drifted(&self, dv: &[f64]) -> Vec<f64> {
        let n = self.n;
        let middle: Vec<f64> = dv.iter().map(|x| (1.0 - self.theta) * x).collect();
        let mut out = vec![0.0; 2 * n];
        self.drift.times(&[&vec![0.0; n], &middle[..], dv].concat(), &mut out);
        out
    }

    /// `x := M~^-1 x`.
    fn solve_mass(&self, x: &mut [f64], transposed: bool) {
        if self.groups.is_empty() {
            return self.kick().solve(x);
        }
        let mut own = vec![];
        for group in &self.groups {
            own.clear();
            own.extend(group.dofs.iter().map(|&i| x[i]));
            if transposed {
                group.factor.solve_transposed(&mut own);
            } else {
                group.factor.solve(&mut own);
            }
            group.dofs.iter().zip(&own).for_each(|(&i, y)| x[i] = *y);
        }
    }

    /// `x := (R A C + T)^-1 x`.
    fn solve_contacts(&self, x: &mut [f64], transposed: bool) {
        let mut own = vec![];
        for island in &self.islands {
            own.clear();
            own.extend(island.unknowns.iter().map(|&i| x[i]));
            if transposed {
                island.factor.solve_transposed(&mut own);
            } else {
                island.factor.solve(&mut own);
            }
            island.unknowns.iter().zip(&own).for_each(|(&i, y)| x[i] = *y);
        }
    }

    /// `h M~^-1 J' lambda`.
    pub(super) fn response(&self, lambda: &[f64]) -> Vec<f64> {
        let mut v = vec![0.0; self.n];
        self.jacobian.transpose_times(self.h, lambda, &mut v);
        self.solve_mass(&mut v, false);
        v
    }

    fn forward(&self, tangent: &[f64], controls: &[f64], parameters: &[f64]) -> Vec<f64> {
        let n = self.n;
        let (efforts, targets) = controls.split_at(controls.len().min(n));
        let (xi, rest) = tangent.split_at(n);
        let (dv, memory) = rest.split_at(n);
        let explicit = self.theta;
        let mut after = vec![0.0; n];
        self.inertia.iter().for_each(|inertia| inertia.times(xi, &mut after));
        self.force_q.times(1.0, xi, &mut after);
        self.force_v.times(1.0, dv, &mut after);
        self.times_mass(dv, &mut after);
        after.iter_mut().zip(efforts).for_each(|(r, e)| *r += self.h * e);
        let columns = self.parameters.iter().zip(parameters).chain(self.targets.iter().zip(targets));
        let with: Vec<(&Column, f64)> = columns.filter(|(_, p)| **p != 0.0).map(|(c, p)| (c, *p)).collect();
        for (column, p) in &with {
            add(&mut after, *p, &column.force);
        }
        self.solve_mass(&mut after, false);
        let middle = |after: &[f64]| -> Vec<f64> {
            dv.iter().zip(after).map(|(v, a)| explicit * v + (1.0 - explicit) * a).collect()
        };
        let (mut lambda, mut slip) = (vec![0.0; self.rows], vec![0.0; self.rows]);
        if self.rows > 0 {
            self.slip_q.times(1.0, xi, &mut slip);
            self.slip_v.times(1.0, dv, &mut slip);
            self.slip_memory.times(1.0, memory, &mut slip);
            self.jacobian.times(1.0, &middle(&after), &mut slip);
            self.turning.times(1.0, &middle(&after), &mut slip);
            for (column, p) in &with {
                add(&mut slip, *p, &column.slip);
                add(&mut lambda, *p, &column.lambda);
            }
            if lambda.iter().any(|x| *x != 0.0) {
                let answer = self.response(&lambda);
                self.jacobian.times(1.0 - explicit, &answer, &mut slip);
                self.turning.times(1.0 - explicit, &answer, &mut slip);
                self.compliance.times(1.0, &lambda, &mut slip);
            }
            let mut y = vec![0.0; self.unknowns];
            self.equations.times(-1.0, &slip, &mut y);
            self.solve_contacts(&mut y, false);
            self.columns.times(1.0, &y, &mut lambda);
            add(&mut after, 1.0, &self.response(&lambda));
        }
        if let Some(closing) = &self.closing {
            let mut added = vec![0.0; n];
            closing.push_q.times(1.0, xi, &mut added);
            closing.inertia.iter().for_each(|inertia| inertia.times(xi, &mut added));
            with.iter().for_each(|(column, p)| add(&mut added, *p, &column.push));
            self.kick().solve(&mut added);
            add(&mut after, 1.0, &added);
        }
        let input: Vec<f64> = [xi, &middle(&after), &after].concat();
        let mut out = vec![0.0; 2 * n + self.memory[1]];
        let (state, remembered) = out.split_at_mut(2 * n);
        self.drift.times(&input, state);
        self.memory_q.times(1.0, xi, remembered);
        self.memory_v.times(1.0, dv, remembered);
        self.memory_memory.times(1.0, memory, remembered);
        self.memory_lambda.times(1.0, &lambda, remembered);
        for (column, p) in &with {
            add(state, *p, &column.drift);
            add(remembered, *p, &column.memory);
        }
        if let Some(closing) = &self.closing {
            let mut gap = vec![0.0; closing.rows];
            closing.gaps.times(-1.0, &state[..n], &mut gap);
            with.iter().for_each(|(column, p)| add(&mut gap, -p, &column.gap));
            closing.factor.solve(&mut gap);
            add(state, 1.0, &self.drifted(&closing.push(self, &gap)));
        }
        out
    }

    /// From the gradient after the part to that before it; efforts and parameters add up.
    fn adjoint(&self, out: &mut Adjoint) {
        let n = self.n;
        let explicit = self.theta;
        let (state, remembered) = out.state.split_at(2 * n);
        out.efforts.resize(n, 0.0);
        out.parameters.resize(self.parameters.len(), 0.0);
        out.targets.resize(self.targets.len(), 0.0);
        // gradients of what parameters change explicitly
        let mut of = Column { drift: state.to_vec(), memory: remembered.to_vec(), ..Column::default() };
        let mut input = vec![0.0; 3 * n];
        self.drift.transpose_times(state, &mut input);
        let spread = |middle: &[f64], dv: &mut [f64], after: &mut [f64]| {
            add(dv, explicit, middle);
            add(after, 1.0 - explicit, middle);
        };
        if let Some(closing) = &self.closing {
            let (mut pushed, mut pi) = (input[2 * n..].to_vec(), vec![0.0; closing.rows]);
            add(&mut pushed, 1.0 - explicit, &input[n..2 * n]);
            self.kick().solve(&mut pushed);
            closing.jacobian.times(-self.h, &pushed, &mut pi);
            closing.factor.solve_transposed(&mut pi);
            let mut place = vec![0.0; 2 * n];
            closing.gaps.transpose_times(1.0, &pi, &mut place[..n]);
            self.drift.transpose_times(&place, &mut input);
            add(&mut of.drift, 1.0, &place);
            of.gap = pi;
        }
        let mut before = vec![0.0; 2 * n + self.memory[0]];
        let (head, memory) = before.split_at_mut(2 * n);
        let (xi, dv) = head.split_at_mut(n);
        xi.copy_from_slice(&input[..n]);
        self.memory_q.transpose_times(1.0, remembered, xi);
        self.memory_v.transpose_times(1.0, remembered, dv);
        self.memory_memory.transpose_times(1.0, remembered, memory);
        let mut lambda = vec![0.0; self.rows];
        self.memory_lambda.transpose_times(1.0, remembered, &mut lambda);
        let mut after: Vec<f64> = input[2 * n..].to_vec();
        spread(&input[n..2 * n], dv, &mut after);
        if let Some(closing) = &self.closing {
            of.push = after.clone();
            self.kick().solve(&mut of.push);
            closing.push_q.transpose_times(1.0, &of.push, xi);
            closing.inertia.iter().for_each(|inertia| inertia.transpose_times(&of.push, xi));
        }
        let mut slip = vec![0.0; self.rows];
        if self.rows > 0 {
            let mut pushed = after.clone();
            self.solve_mass(&mut pushed, true);
            self.jacobian.times(self.h, &pushed, &mut lambda);
            let mut y = vec![0.0; self.unknowns];
            self.columns.transpose_times(1.0, &lambda, &mut y);
            self.solve_contacts(&mut y, true);
            self.equations.transpose_times(-1.0, &y, &mut slip);
            self.slip_q.transpose_times(1.0, &slip, xi);
            self.slip_v.transpose_times(1.0, &slip, dv);
            self.slip_memory.transpose_times(1.0, &slip, memory);
            let mut middle = vec![0.0; n];
            self.jacobian.transpose_times(1.0, &slip, &mut middle);
            self.turning.transpose_times(1.0, &slip, &mut middle);
            if !self.parameters.is_empty() {
                // explicit changes of lambda act on s by A
                let mut back = middle.clone();
                self.solve_mass(&mut back, true);
                self.jacobian.times(self.h * (1.0 - explicit), &back, &mut lambda);
                self.compliance.transpose_times(1.0, &slip, &mut lambda);
            }
            spread(&middle, dv, &mut after);
        }
        self.solve_mass(&mut after, true);
        self.inertia.iter().for_each(|inertia| inertia.transpose_times(&after, xi));
        self.force_q.transpose_times(1.0, &after, xi);
        self.force_v.transpose_times(1.0, &after, dv);
        self.times_mass(&after, dv);
        add(&mut out.efforts, self.h, &after);
        (of.force, of.slip, of.lambda) = (after, slip, lambda);
        for (column, p) in self.parameters.iter().zip(&mut out.parameters) {
            *p += column.dot(&of);
        }
        for (column, p) in self.targets.iter().zip(&mut out.targets) {
            *p += column.dot(&of);
        }
        out.state = before;
    }

    fn bytes(&self) -> usize {
        let maps = [
            &self.force_q,
            &self.force_v,
            &self.jacobian,
            &self.slip_q,
            &self.slip_v,
            &self.turning,
            &self.columns,
            &self.equations,
        ];
        let factors = self.groups.iter().map(|g| &g.factor).chain(self.islands.iter().map(|i| &i.factor));
        let trees = self.drift.bytes()
            + [&self.mass, &self.kick].iter().copied().flatten().map(MassMatrix::bytes).sum::<usize>();
        trees + maps.iter().map(|m| m.bytes()).sum::<usize>() + factors.map(Factor::bytes).sum::<usize>()
    }
}

/// `y += s x`, as far as `x` goes.
fn add(y: &mut [f64], s: f64, x: &[f64]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y += s * x);
}
