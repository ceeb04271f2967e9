//! The one list of methods, their names, and solvers of contact problems by method.

use super::auto::Auto;
use super::cone_interior_point::ConeInteriorPoint;
use super::gauss_seidel::GaussSeidel;
use super::newton::Newton;
use super::newton::proximal::ProximalNewton;
use super::polyhedral::Polyhedral;
use super::velocity_newton::{Chooser, VelocityNewton};
use super::{Budget, Outcome};
use crate::problem::{ContactProblem, NotConvertible};
use crate::residual::Evaluation;
use std::fmt;
use std::str::FromStr;

/// Which algorithm to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// Picks and escalates ([`super::auto`]).
    #[default]
    Auto,
    /// Block Gauss-Seidel alone.
    GaussSeidel,
    /// Semismooth Newton alone.
    Newton,
    /// Proximal point with semismooth Newton inside.
    ProximalNewton,
    /// Proximal point with Newton in the velocities of bodies inside.
    VelocityNewton,
    /// Interior point for cones alone.
    ConeInteriorPoint,
    /// Lemke's method alone.
    Lemke,
    /// The interior-point method for LCPs alone; contact problems with circular friction go to that for cones.
    InteriorPoint,
    /// Branch and bound to a solution or a proof.
    Decide,
}

/// A name that is not one of a method.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no method has the name {0}")]
pub struct UnknownMethod(pub String);

impl Method {
    /// All methods.
    pub const ALL: [Self; 9] = [
        Self::Auto,
        Self::Lemke,
        Self::InteriorPoint,
        Self::Decide,
        Self::GaussSeidel,
        Self::Newton,
        Self::ProximalNewton,
        Self::VelocityNewton,
        Self::ConeInteriorPoint,
    ];

    /// Name, as it is typed and reported.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::GaussSeidel => super::gauss_seidel::NAME,
            Self::Newton => super::newton::NAME,
            Self::ProximalNewton => super::newton::proximal::NAME,
            Self::VelocityNewton => super::velocity_newton::NAME,
            Self::ConeInteriorPoint => super::cone_interior_point::NAME,
            Self::Lemke => super::lemke::NAME,
            Self::InteriorPoint => "interior-point",
            Self::Decide => "decide",
        }
    }

    /// What it does, in a line.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Auto => {
                "Picks and escalates: sweeps, Newton, proximal Newton, then Lemke or an interior point"
            }
            Self::GaussSeidel => "Block Gauss-Seidel alone (contact problems)",
            Self::Newton => "Semismooth Newton alone (contact problems)",
            Self::ProximalNewton => {
                "Proximal point with semismooth Newton inside: slow and robust (contact problems)"
            }
            Self::VelocityNewton => {
                "Proximal point with Newton in the velocities of bodies: redundant contacts (scenes only)"
            }
            Self::ConeInteriorPoint => "Interior point for cones alone (contacts only)",
            Self::Lemke => "Lemke's method alone (LCPs, polygonal friction)",
            Self::InteriorPoint => "The interior-point method alone; for circular friction that for cones",
            Self::Decide => {
                "Branch and bound, to a solution or a proof that there is none (LCPs, polygonal friction)"
            }
        }
    }

    /// Whether it works on contact problems only, as they are.
    pub fn wants_contacts(self) -> bool {
        matches!(
            self,
            Self::GaussSeidel
                | Self::Newton
                | Self::ProximalNewton
                | Self::VelocityNewton
                | Self::ConeInteriorPoint
        )
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Method {
    type Err = UnknownMethod;

    /// Accepts hyphens and underscores, and the names of methods that were merged into others.
    fn from_str(text: &str) -> Result<Self, UnknownMethod> {
        let name = text.replace('_', "-");
        match &name[..] {
            "exact-proximal" | "admm" => Ok(Self::ProximalNewton),
            name => {
                Self::ALL.into_iter().find(|m| m.name() == name).ok_or_else(|| UnknownMethod(text.to_owned()))
            }
        }
    }
}

/// A solver of contact problems with its memory.
#[derive(Debug, Clone)]
pub struct Solver {
    tolerance: f64,
    kind: Kind,
    /// Chooses forces after methods that do not, if the last solve was by one of them.
    chooser: Box<Chooser>,
    chose: bool,
}

#[derive(Debug, Clone)]
enum Kind {
    Auto(Box<Auto>),
    GaussSeidel(Box<GaussSeidel>),
    Newton(Box<Newton>),
    ProximalNewton(Box<ProximalNewton>),
    VelocityNewton(Box<VelocityNewton>),
    ConeInteriorPoint(Box<ConeInteriorPoint>),
    Lemke(Box<Polyhedral>),
}

/// Calls the same on each kind of solver that has a bench.
macro_rules! each {
    ($kind:expr, $solver:ident => $do:expr, $lemke:ident => $other:expr) => {
        match $kind {
            Kind::Auto($solver) => $do,
            Kind::GaussSeidel($solver) => $do,
            Kind::Newton($solver) => $do,
            Kind::ProximalNewton($solver) => $do,
            Kind::VelocityNewton($solver) => $do,
            Kind::ConeInteriorPoint($solver) => $do,
            Kind::Lemke($lemke) => $other,
        }
    };
}

impl Solver {
    /// Of a method; [`Method::InteriorPoint`] is that for cones here, and [`Method::Decide`] is Lemke's method, for a proof is no force.
    pub fn new(method: Method, tolerance: f64) -> Self {
        let kind = match method {
            Method::Auto => Kind::Auto(Box::default()),
            Method::GaussSeidel => Kind::GaussSeidel(Box::default()),
            Method::Newton => Kind::Newton(Box::default()),
            Method::ProximalNewton => Kind::ProximalNewton(Box::default()),
            Method::VelocityNewton => {
                let mut solver = VelocityNewton::default();
                solver.settings.choose_forces = true;
                Kind::VelocityNewton(Box::new(solver))
            }
            Method::ConeInteriorPoint | Method::InteriorPoint => Kind::ConeInteriorPoint(Box::default()),
            Method::Lemke | Method::Decide => Kind::Lemke(Box::default()),
        };
        let mut solver = Self { tolerance, kind, chooser: Box::default(), chose: false };
        solver.set_tolerance(tolerance);
        solver
    }

    /// Relative residual of a solution.
    pub fn tolerance(&self) -> f64 {
        self.tolerance
    }

    /// Sets the relative residual of a solution.
    pub fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
        each!(&mut self.kind, s => s.settings.tolerance = tolerance, l => l.tolerance = tolerance);
    }

    /// Work that the next solves may do.
    pub fn set_budget(&mut self, budget: Budget) {
        each!(&mut self.kind, s => s.bench.sweeper.budget = budget, l => l.budget = budget);
    }

    /// What is left of the budget.
    pub fn budget(&self) -> &Budget {
        each!(&self.kind, s => &s.bench.sweeper.budget, l => &l.budget)
    }

    /// The escalation policy, if that is the method.
    pub fn as_auto(&mut self) -> Option<&mut Auto> {
        if let Kind::Auto(auto) = &mut self.kind { Some(auto) } else { None }
    }

    /// Whether its memory of the last solve is a basis of an LCP.
    pub fn is_lemke(&self) -> bool {
        matches!(self.kind, Kind::Lemke(_))
    }

    /// `s = A lambda + b` of the last result.
    pub fn speed(&self) -> &[f64] {
        &self.evaluation().speed
    }

    /// Residual and velocities of the last result.
    fn evaluation(&self) -> &Evaluation {
        match self.chose {
            true => self.chooser.evaluation(),
            false => each!(&self.kind, s => &s.bench.evaluation, l => &l.evaluation),
        }
    }

    /// Writes the speed up to which each element rests at the tolerance, with the forces of the last result: m/s, for a rotational row rad/s.
    pub fn write_rest(&self, problem: ContactProblem<'_>, lambda: &[f64], out: &mut Vec<f64>) {
        self.evaluation().write_rest(problem, lambda, self.tolerance, out);
    }

    /// Whether an element belongs to an island that the last solve left above the tolerance.
    pub fn left_unsolved(&self, element: usize) -> bool {
        self.evaluation()
            .of_element(element)
            .is_none_or(|relative| relative.is_nan() || relative > self.tolerance)
    }

    /// Solves from the warm start `lambda`, which takes the result. `basis` is where Lemke's method starts and then where it ended.
    ///
    /// Where several forces are a solution, those of equal vanishing compliance are chosen, whatever the method, if `A` is given by its
    /// factors; [`Outcome::choice`] says whether they are.
    ///
    /// # Errors
    /// If the method does not know an element's law.
    pub fn solve(
        &mut self,
        problem: ContactProblem<'_>,
        lambda: &mut [f64],
        basis: &mut Vec<usize>,
    ) -> Result<Outcome, NotConvertible> {
        self.chose = false;
        let by = each!(&mut self.kind, s => s.solve(problem, lambda), l => l.solve(problem, lambda, basis)?);
        if matches!(self.kind, Kind::Auto(_) | Kind::VelocityNewton(_)) {
            return Ok(by);
        }
        let budget = each!(&mut self.kind, s => &mut s.bench.sweeper.budget, l => &mut l.budget);
        let chosen = self.chooser.choose(problem, lambda, (by, self.tolerance), budget);
        self.chose = chosen.is_some();
        Ok(chosen.unwrap_or(by))
    }
}
