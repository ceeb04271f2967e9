//! Estimation of a scene's values from a measured trajectory, by nonlinear least squares over runs.
//!
//! - [`Data`]: what was measured, from arrays or a CSV file; [`Quantity`]: what its columns are.
//! - [`Problem`]: the values to estimate, by path, and the data.
//! - [`fit`]: the estimates with confidence intervals, the combinations that the data do not determine, residuals.
//!
//! The sum over all measured values of `((run - measured)/sigma)^2` is minimised, with `sigma` the standard deviation
//! of the errors of a column, given or estimated from its residuals. With `J` the derivative of these residuals at
//! the minimum, the covariance of the estimates is `(J' J)^-1`, to first order; intervals are Student's, with as many
//! degrees of freedom as there are values less estimates, or normal if every `sigma` is given. Combinations of
//! parameters along which `J` vanishes, or which 100 % of the parameters' values do not move the run out of the noise,
//! are listed as not determined.

mod data;
mod problem;
mod quantile;
mod quantity;
mod search;
mod statistics;
mod trajectory;

pub use data::{Data, DataFault};
pub use problem::{Derivatives, Invalid, Parameter, Problem};
pub use quantity::Quantity;
pub use search::{Progress, fit};

/// How an estimation ended.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// At a minimum of the sum of squares.
    Solved,
    /// At a minimum that is one of a family: some combination of parameters is not determined.
    Several,
    /// No step came nearer, but the minimum is farther away than a tenth of a standard error; or the limit of
    /// iterations was met.
    Undecided,
    /// The stop flag was raised.
    Interrupted,
    /// The first run, or a derivative, failed.
    Failed(String),
}

impl End {
    /// The word for it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Solved => "solved",
            Self::Several => "several",
            Self::Undecided => "undecided",
            Self::Interrupted => "interrupted",
            Self::Failed(_) => "failed",
        }
    }
}

/// An estimated value.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// Path of the value.
    pub path: String,
    /// Value in the scene, from which the search started.
    pub guess: f64,
    /// Estimate.
    pub value: f64,
    /// Standard error; `None` if the value is not determined, or at a bound.
    pub standard_error: Option<f64>,
    /// Confidence interval, cut at the bounds.
    pub interval: Option<[f64; 2]>,
    /// Whether the estimate is at a bound that keeps it from a smaller sum of squares.
    pub at_bound: bool,
    /// Change of the estimate with half the step (theta, implicit) or a tenth of the allowed error (event, compliant),
    /// to first order.
    pub refinement: Option<f64>,
    /// How much runs one standard error above and below the estimate deviate from a line through both, over their
    /// difference: 0 for a linear dependence. Large values are curvature or a kink, and the interval is then rough.
    pub nonlinearity: Option<f64>,
}

/// A combination of parameters that the data do not determine.
#[derive(Debug, Clone, PartialEq)]
pub struct Combination {
    /// Index of each parameter in it, and its change over its value (as it is, if that is 0); the largest is 1.
    pub changes: Vec<(usize, f64)>,
    /// The same in words.
    pub words: String,
}

/// Residuals of a column.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnFit {
    /// Name of the quantity.
    pub name: String,
    /// Unit.
    pub unit: &'static str,
    /// Measured times, s.
    pub times: Vec<f64>,
    /// Measured values.
    pub measured: Vec<f64>,
    /// Values of the fitted run at these times.
    pub fitted: Vec<f64>,
    /// Root mean square of the residuals.
    pub rms: f64,
    /// Standard deviation of the errors, given or estimated.
    pub sigma: f64,
    /// Whether it was given.
    pub given: bool,
    /// Correlation of neighbouring residuals: 0 for independent errors.
    pub autocorrelation: f64,
}

/// The result of an estimation.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// How it ended.
    pub end: End,
    /// The estimates.
    pub parameters: Vec<Estimate>,
    /// Combinations that the data do not determine.
    pub undetermined: Vec<Combination>,
    /// Residuals by column.
    pub columns: Vec<ColumnFit>,
    /// Level of the intervals.
    pub level: f64,
    /// Sum of squares of the residuals over their standard deviations.
    pub sum: f64,
    /// Measured values less determined combinations.
    pub degrees: usize,
    /// Distance from the minimum, to first order, in standard errors.
    pub distance: f64,
    /// Ratio of the largest to the smallest singular value of the derivative, parameters over their sizes.
    pub condition: f64,
    /// Correlations of the estimates; zero with parameters that are not determined.
    pub correlation: Vec<Vec<f64>>,
    /// Iterations.
    pub iterations: usize,
    /// Runs.
    pub runs: usize,
    /// Runs that failed, and why the first of them did.
    pub failed_runs: usize,
    /// Cause of the first failed run.
    pub first_failure: Option<String>,
    /// Whether the search used derivatives by the chain rule. Intervals are from differences over one standard error in
    /// any case.
    pub exact: bool,
    /// Why it did not, if it tried.
    pub not_exact: Option<String>,
    /// What makes the result less trustworthy, in words.
    pub warnings: Vec<String>,
}
