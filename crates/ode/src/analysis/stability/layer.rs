//! The boundary layer of contacts in given modes (song2001 section 4): how deformations near an equilibrium move.
//!
//! With `z` the rows that deform (of a slipping contact the normal one, of a sticking one all), `S = J M^-1 J'` over them and `A` the same with
//! the friction of slip in its columns, forces `-(K z + C z')` give (25) in the time of the layer, `tau = t / unit`:
//!
//! ```text
//! z'' + P z' + Q z = 0      P = unit A C      Q = unit^2 A K      unit = 1 / sqrt(largest S_ii K_i)
//! ```
//!
//! in units of each row in which `S_ii = 1`. Where rows are redundant `z` stays in the range of `S`: with `U` an orthonormal basis of it
//! `P = unit U' A C U` and `Q = unit^2 U' A K U`, which leaves out modes that no body can move in. Rows that hold without
//! deformation (rigid gears, joint friction that sticks) are eliminated from `S` and `A` first.

use crate::contact::{Law, RowSpring};
use crate::model::Model;
use complementarity::eigen::{eigenvalues, symmetric_eigen};
use complementarity::matrix::Matrix;

/// Tangent stiffness and damping of a contact's law along n, t, o at a steady normal force: `None` if the contact is rigid, an error for laws without
/// a force of a point.
pub fn springs_of(model: &Model, rule: usize, force: f64) -> Result<Option<[RowSpring; 3]>, &'static str> {
    let rule = &model.contacts().rules()[rule];
    // the layer of law = "auto" is known, though the contact may be rigid
    let Some(patch) = rule.patch() else {
        return match rule.layers.is_empty() {
            true => Ok(None),
            false => Err(
                "expected a rigid, Kelvin-Voigt, Hunt-Crossley or Hertz-Mindlin contact, not a layer over a core",
            ),
        };
    };
    let entry =
        |i: usize| RowSpring { stiffness: patch.stiffness()[(i, i)], damping: patch.damping()[(i, i)] };
    let last = patch.rows() - 1;
    let constant = [entry(0), entry(1.min(last)), entry(2.min(last))];
    let force = force.max(0.0);
    let law = match &rule.given.law {
        Law::Auto(Some(law)) => law,
        law => law,
    };
    Ok(Some(match *law {
        Law::HuntCrossley { stiffness, exponent, dissipation, tangential } => {
            // song2001 (38): the slope of K d^beta and 3/2 alpha K d^beta at the overlap that carries the force
            let overlap = (force / stiffness).powf(1.0 / exponent);
            let normal = RowSpring {
                stiffness: exponent * stiffness * overlap.powf(exponent - 1.0),
                damping: 1.5 * dissipation * force,
            };
            let along = RowSpring { stiffness: tangential[0], damping: tangential[1] };
            [normal, along, along]
        }
        Law::HertzMindlin { radius, .. } => {
            // F = K d sqrt(d/R), its slope 3/2 F/d; the rest in proportion to sqrt(d/R)
            let overlap = (force * radius.sqrt() / constant[0].stiffness).powf(2.0 / 3.0);
            let share = (overlap / radius).sqrt();
            let scaled =
                constant.map(|s| RowSpring { stiffness: share * s.stiffness, damping: share * s.damping });
            let normal = RowSpring { stiffness: 1.5 * scaled[0].stiffness, ..scaled[0] };
            [normal, scaled[1], scaled[2]]
        }
        _ => constant,
    }))
}

/// Rows that deform, and the forces that their deformations make.
#[derive(Debug, Clone, Default)]
pub struct Deforming {
    /// Rows of the problem.
    pub rows: Vec<usize>,
    /// Force of each of them, by row of the problem: 1 in its own, and the friction of slip.
    pub forces: Vec<Vec<(usize, f64)>>,
    /// Contact (or joint limit) that each belongs to.
    pub contact: Vec<usize>,
    /// Whether some slip with friction: `A` is not symmetric then.
    pub slips: bool,
}

impl Deforming {
    /// Adds a contact whose force is its normal force times `ray`.
    pub fn slip(&mut self, contact: usize, first: usize, ray: &[f64]) {
        self.rows.push(first);
        self.forces.push(ray.iter().enumerate().map(|(k, x)| (first + k, *x)).collect());
        self.contact.push(contact);
        self.slips |= ray[1..].iter().any(|x| *x != 0.0);
    }

    /// Adds a row with a force of its own.
    pub fn hold(&mut self, contact: usize, row: usize) {
        self.rows.push(row);
        self.forces.push(vec![(row, 1.0)]);
        self.contact.push(contact);
    }
}

/// Directions of `S` with less than this share of the largest are none: redundant rows.
const REDUNDANT: f64 = 1e-10;

/// Matrices of rows that deform, in units in which `S_ii = 1`.
#[derive(Debug, Clone)]
pub struct Restricted {
    /// `S_ii`: reciprocals of effective masses.
    pub mobility: Vec<f64>,
    /// Orthonormal basis of the range of `S`, one column for each direction.
    pub basis: Matrix,
    /// `A`, friction of slip included.
    pub a: Matrix,
    /// Determinant of `U' S U`.
    pub without_friction: f64,
}

impl Restricted {
    /// `None` if a row cannot move at all, or numbers are not finite.
    pub fn new(matrix: &Matrix, deforming: &Deforming) -> Option<Self> {
        let rows = &deforming.rows;
        let k = rows.len();
        let mobility: Vec<f64> = rows.iter().map(|&i| matrix[(i, i)]).collect();
        if mobility.iter().any(|s| !(s.is_finite() && *s > 0.0)) {
            return None;
        }
        let unit = |i: usize, j: usize| 1.0 / (mobility[i] * mobility[j]).sqrt();
        let s = Matrix::from_fn(k, k, |i, j| matrix[(rows[i], rows[j])] * unit(i, j));
        let a = Matrix::from_fn(k, k, |i, j| {
            let sum: f64 = deforming.forces[j].iter().map(|(row, f)| matrix[(rows[i], *row)] * f).sum();
            sum * unit(i, j)
        });
        let (values, vectors) = symmetric_eigen(&s)?;
        let least = REDUNDANT * values.last()?;
        let kept: Vec<usize> = (0..k).filter(|i| values[*i] > least).collect();
        let basis = Matrix::from_fn(k, kept.len(), |i, j| vectors[(i, kept[j])]);
        let without_friction = kept.iter().map(|i| values[*i]).product();
        Some(Self { mobility, basis, a, without_friction })
    }

    /// `U' A D U` with a diagonal `D`.
    pub fn times(&self, diagonal: impl Fn(usize) -> f64) -> Matrix {
        let (k, r) = (self.basis.rows(), self.basis.columns());
        let right = Matrix::from_fn(k, r, |i, j| {
            (0..k).map(|l| self.a[(i, l)] * diagonal(l) * self.basis[(l, j)]).sum()
        });
        Matrix::from_fn(r, r, |i, j| (0..k).map(|l| self.basis[(l, i)] * right[(l, j)]).sum())
    }

    /// Determinant of `U' A U` over that of `U' S U`: 1 without friction; of independent rows the quotient of the principal minors of `A` and `S`.
    pub fn minor(&self) -> Option<f64> {
        let values = eigenvalues(&self.times(|_| 1.0))?;
        let [product, _] = values.iter().fold([1.0, 0.0], |[a, b], [x, y]| [a * x - b * y, a * y + b * x]);
        Some(product / self.without_friction)
    }
}

/// What becomes of small deformations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// They decay: the motion of compliant contacts converges to that of the rigid solution (Theorem 4.1).
    Stable,
    /// They neither decay nor grow, to rounding.
    Marginal,
    /// They grow: compliant contacts leave the rigid solution.
    Unstable,
}

impl Verdict {
    /// As it is written in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stable => "stable",
            Self::Marginal => "marginal",
            Self::Unstable => "unstable",
        }
    }
}

/// Rates up to this, in units of the layer (or of its fastest rate, if that is larger), are zero.
const MARGINAL: f64 = 1e-7;

/// The boundary layer (25) about a solution.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundaryLayer {
    /// Time of the layer in seconds; `sqrt(eps) T` for [`crate::contact::StatedLayer`].
    pub unit: f64,
    /// `P`, in the time of the layer.
    pub p: Matrix,
    /// `Q`.
    pub q: Matrix,
    /// Eigenvalues of (25), real and imaginary parts, in the time of the layer, those that decay most slowly (or grow) first.
    pub eigenvalues: Vec<[f64; 2]>,
    /// Verdict; stable where nothing deforms: free flight.
    pub verdict: Verdict,
}

impl BoundaryLayer {
    /// No deformations.
    pub fn none() -> Self {
        let (p, q, eigenvalues) = (Matrix::zeros(0, 0), Matrix::zeros(0, 0), vec![]);
        Self { unit: 1.0, p, q, eigenvalues, verdict: Verdict::Stable }
    }

    /// Of restricted rows with springs. `None` if numbers are not finite.
    pub fn new(restricted: &Restricted, springs: &[RowSpring]) -> Option<Self> {
        let stiffness = |i: usize| springs[i].stiffness * restricted.mobility[i];
        let damping = |i: usize| springs[i].damping * restricted.mobility[i];
        let most = |of: &dyn Fn(usize) -> f64| (0..springs.len()).map(of).fold(0.0f64, f64::max);
        // without springs dampers set the time
        let rate = match most(&stiffness) {
            0.0 => most(&damping),
            k => k.sqrt(),
        };
        let unit = if rate > 0.0 { 1.0 / rate } else { 1.0 };
        let p = restricted.times(|i| unit * damping(i));
        let q = restricted.times(|i| unit * unit * stiffness(i));
        let r = p.rows();
        let companion = Matrix::from_fn(2 * r, 2 * r, |i, j| match (i < r, j < r) {
            (true, _) => f64::from(j == i + r),
            (false, true) => -q[(i - r, j)],
            (false, false) => -p[(i - r, j - r)],
        });
        let mut eigenvalues = eigenvalues(&companion)?;
        eigenvalues.sort_by(|x, y| y[0].total_cmp(&x[0]).then(y[1].total_cmp(&x[1])));
        let mut found = Self { unit, p, q, eigenvalues, verdict: Verdict::Stable };
        let zero = found.rounding();
        found.verdict = match found.eigenvalues.first() {
            Some([x, _]) if *x > zero => Verdict::Unstable,
            Some([x, _]) if *x >= -zero => Verdict::Marginal,
            _ => Verdict::Stable,
        };
        Some(found)
    }

    /// Time within which the slowest deformation decays by the factor e, or the fastest one that grows does so, s; infinite if its rate is zero to
    /// rounding. `None`
    /// if nothing deforms.
    pub fn time_constant(&self) -> Option<f64> {
        let [slowest, _] = self.eigenvalues.first()?;
        // a rate within rounding of 0 is not known
        Some(if slowest.abs() <= self.rounding() { f64::INFINITY } else { self.unit / slowest.abs() })
    }

    /// Rates up to this are zero, in the time of the layer.
    fn rounding(&self) -> f64 {
        MARGINAL * self.eigenvalues.iter().fold(1.0f64, |m, x| m.max(x[0].hypot(x[1])))
    }
}

/// Whether the verdict is that of every layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dependence {
    /// The springs are those of the scene's laws.
    Given,
    /// It is the same for all positive stiffnesses and dampings: proved.
    Proved,
    /// It is the same for this number of layers that were tried.
    Tried(usize),
    /// It is another one in some of the layers that were tried.
    Varies {
        /// Layers in which the solution is stable.
        stable: usize,
        /// Layers tried.
        of: usize,
    },
}

/// Factor by which stiffnesses and damping ratios are varied.
const FACTOR: f64 = 10.0;

/// Tries other layers: stiffness and damping ratio of each contact alone, of all together (damping), and of all friction rows together, ten times
/// smaller and larger. `friction` says which rows are no normals.
///
/// Proofs: with symmetric `A` (nothing slips) (25) is that of masses, springs and dampers, stable for all; one direction has
/// `z'' + A C z' + A K z = 0`, decided by the sign of `A`; with independent rows `det Q = det A det K`, so that `det A < 0` leaves an
/// eigenvalue above 0 whatever the layer.
pub fn dependence(
    restricted: &Restricted,
    deforming: &Deforming,
    friction: &[bool],
    springs: &[RowSpring],
    verdict: Verdict,
) -> Option<Dependence> {
    let (k, r) = (restricted.basis.rows(), restricted.basis.columns());
    if !deforming.slips || k == 1 || (k == r && restricted.minor()? < -MARGINAL) {
        return Some(Dependence::Proved);
    }
    let mut contacts = deforming.contact.clone();
    contacts.dedup();
    // which rows change, and whether in stiffness or in damping
    let all: Vec<usize> = (0..k).collect();
    let rows_of = |c: usize| all.iter().copied().filter(|i| deforming.contact[*i] == c).collect::<Vec<_>>();
    let mut family: Vec<(Vec<usize>, bool)> = vec![];
    for &c in &contacts {
        family.push((rows_of(c), true));
        family.push((rows_of(c), false));
    }
    family.push((all.clone(), false));
    if friction.iter().any(|f| *f) {
        family.push((all.iter().copied().filter(|i| friction[*i]).collect(), true));
    }
    let (mut stable, mut same, mut of) = (usize::from(verdict == Verdict::Stable), 1, 1);
    for (chosen, stiffer) in &family {
        for factor in [1.0 / FACTOR, FACTOR] {
            let spring = |(i, s): (usize, &RowSpring)| match (chosen.contains(&i), stiffer) {
                (false, _) => *s,
                // the damping ratio stays
                (true, true) => {
                    RowSpring { stiffness: factor * s.stiffness, damping: factor.sqrt() * s.damping }
                }
                (true, false) => RowSpring { damping: factor * s.damping, ..*s },
            };
            let other: Vec<RowSpring> = springs.iter().enumerate().map(spring).collect();
            let found = BoundaryLayer::new(restricted, &other)?.verdict;
            of += 1;
            stable += usize::from(found == Verdict::Stable);
            same += usize::from(found == verdict);
        }
    }
    Some(if same == of { Dependence::Tried(of) } else { Dependence::Varies { stable, of } })
}

/// Eliminates rows that hold without deformation.
pub fn eliminate(matrix: &mut Matrix, rows: &[usize]) {
    let n = matrix.rows();
    for &e in rows {
        let (pivot, own) = (matrix[(e, e)], matrix.row(e).to_vec());
        let largest = own.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        // a redundant row holds nothing more
        if pivot <= REDUNDANT * largest || pivot <= 0.0 {
            continue;
        }
        for i in 0..n {
            let factor = matrix[(i, e)] / pivot;
            matrix.row_mut(i).iter_mut().zip(&own).for_each(|(x, y)| *x -= factor * y);
        }
    }
}
