//! What is to be estimated, from what.

use super::data::Faults;
use super::trajectory::{self, Fault as RunFault, Plan};
use super::{Data, DataFault, Quantity};
use crate::boundary::Parameters;
use crate::model::Model;
use crate::scene::{Fault, Scene, Scheme};
use complementarity::matrix::Matrix;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A value of the scene that is estimated.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Path of the value.
    pub path: String,
    /// Value from which the search starts: that of the scene.
    pub guess: f64,
    /// Least and largest value.
    pub bounds: [f64; 2],
}

/// How the derivatives of runs are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Derivatives {
    /// By the chain rule over steps where that is known ([`crate::boundary`]), otherwise by differences.
    #[default]
    Auto,
    /// By central differences of runs.
    Differences,
}

/// An estimation problem: values of a scene, and a measured trajectory.
#[derive(Debug, Clone)]
pub struct Problem {
    /// The scene.
    pub scene: Scene,
    /// What is estimated.
    pub parameters: Vec<Parameter>,
    /// What was measured.
    pub data: Data,
    /// The quantities of the data's columns.
    pub quantities: Vec<Quantity>,
    /// Standard deviation of the errors of each column; estimated from the residuals where it is `None`.
    pub sigma: Vec<Option<f64>>,
    /// Level of the confidence intervals; 0.95 by default.
    pub level: f64,
    /// Largest number of iterations of a search; 50 by default.
    pub iterations: usize,
    /// Points, the scene's values and others spread over the bounds, of which the best is where the search starts; 1 by
    /// default.
    pub starts: usize,
    /// How derivatives are computed.
    pub derivatives: Derivatives,
    /// Once this is true the search ends.
    pub stop: Arc<AtomicBool>,
    /// Measured times and quantities, in order of time.
    pub(super) samples: Vec<(f64, usize)>,
    /// The measured values.
    pub(super) measured: Vec<f64>,
}

/// Why there is no estimation problem.
#[derive(Debug, Clone, PartialEq)]
pub enum Invalid {
    /// The scene or the paths of parameters are wrong.
    Scene(Vec<Fault>),
    /// The data are wrong.
    Data(Vec<DataFault>),
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = match self {
            Self::Scene(faults) => faults.iter().map(ToString::to_string).collect(),
            Self::Data(faults) => faults.iter().map(ToString::to_string).collect(),
        };
        f.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for Invalid {}

impl Problem {
    /// The problem of estimating the values at paths, each with bounds or with those that the scene's check has. Without
    /// paths the friction coefficients of all materials are estimated.
    ///
    /// # Errors
    /// Paths that are unknown or no numbers, bounds without the scene's value; columns that are unknown, times outside
    /// the run, fewer values than parameters.
    pub fn new(scene: &Scene, data: Data, vary: &[(String, Option<[f64; 2]>)]) -> Result<Self, Invalid> {
        let model = Model::new(scene).map_err(Invalid::Scene)?;
        let parameters = parameters(scene, vary).map_err(Invalid::Scene)?;
        let quantities = quantities(&model, &data).map_err(Invalid::Data)?;
        let places = data.samples();
        let mut faults = Faults::default();
        // a gap-free column may still have fewer values than there are parameters
        if places.len() <= parameters.len() {
            let why = format!("{} values for {} parameters, expected more", places.len(), parameters.len());
            faults.add(None, None, why);
        }
        faults.or(()).map_err(Invalid::Data)?;
        let measured = places.iter().map(|&(i, k)| data.values[k][i]).collect();
        let samples = places.iter().map(|&(i, k)| (data.times[i], k)).collect();
        let sigma = vec![None; quantities.len()];
        Ok(Self {
            scene: scene.clone(),
            parameters,
            data,
            quantities,
            sigma,
            level: 0.95,
            iterations: 50,
            starts: 1,
            derivatives: Derivatives::Auto,
            stop: Arc::default(),
            samples,
            measured,
        })
    }

    /// Sets the standard deviation of the errors of a column, in its unit.
    ///
    /// # Errors
    /// If there is no such column, or the value is not above 0.
    pub fn set_sigma(&mut self, column: &str, sigma: f64) -> Result<(), String> {
        let found =
            self.data.names.iter().zip(&self.quantities).position(|(n, q)| n == column || q.name == column);
        let k = found.ok_or_else(|| {
            format!("unknown column '{column}', expected one of {}", self.data.names.join(", "))
        })?;
        if !(sigma > 0.0 && sigma.is_finite()) {
            return Err(format!("standard deviation of '{column}' is {sigma}, expected above 0"));
        }
        self.sigma[k] = Some(sigma);
        Ok(())
    }

    /// The scene with other values of the parameters.
    ///
    /// # Errors
    /// If the scene does not take one of them.
    pub fn scene_at(&self, z: &[f64]) -> Result<Scene, Vec<Fault>> {
        let mut scene = self.scene.clone();
        for (parameter, value) in self.parameters.iter().zip(z) {
            scene.set(&parameter.path, &format!("{value:e}"))?;
        }
        Ok(scene)
    }

    /// Sizes of the parameters: their values, or the width of their bounds where these are zero, or 1.
    pub(super) fn sizes(&self) -> Vec<f64> {
        let of = |p: &Parameter| match p.bounds[1] - p.bounds[0] {
            _ if p.guess != 0.0 => p.guess.abs(),
            width if width.is_finite() => width,
            _ => 1.0,
        };
        self.parameters.iter().map(of).collect()
    }

    /// The measured quantities along a run; with half the step or a tenth of the allowed error if it is to be finer.
    pub(super) fn run(&self, z: &[f64], finer: bool) -> Result<Vec<f64>, RunFault> {
        let mut scene = self.scene_at(z).map_err(|faults| in_words(&faults))?;
        if finer {
            match scene.step.scheme {
                Scheme::Theta | Scheme::Implicit => scene.step.h *= 0.5,
                Scheme::Compliant | Scheme::Event => scene.step.accuracy *= 0.1,
            }
        }
        let model = Model::new(&scene).map_err(|faults| in_words(&faults))?;
        trajectory::run(Arc::new(model), &self.plan())
    }

    /// The same with the derivatives by the chain rule.
    pub(super) fn run_with_derivatives(&self, z: &[f64]) -> Result<Matrix, RunFault> {
        if self.scene.step.scheme != Scheme::Theta {
            let why = "derivatives by the chain rule are known for scheme = \"theta\"";
            return Err(RunFault::NotDifferentiated(why.to_owned()));
        }
        let scene = self.scene_at(z).map_err(|faults| in_words(&faults))?;
        let paths: Vec<String> = self.parameters.iter().map(|p| p.path.clone()).collect();
        let parameters = Parameters::new(&scene, &paths).map_err(|faults| match in_words(&faults) {
            RunFault::Failed(why) => RunFault::NotDifferentiated(why),
            other => other,
        })?;
        let model = Model::new(&scene).map_err(|faults| in_words(&faults))?;
        trajectory::run_with_derivatives(&Arc::new(model), &self.plan(), &parameters).map(|(_, j)| j)
    }

    fn plan(&self) -> Plan<'_> {
        Plan { quantities: &self.quantities, samples: &self.samples, stop: &self.stop }
    }
}

fn in_words(faults: &[Fault]) -> RunFault {
    RunFault::Failed(faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
}

/// The parameters at the paths given; by default all friction coefficients.
fn parameters(scene: &Scene, vary: &[(String, Option<[f64; 2]>)]) -> Result<Vec<Parameter>, Vec<Fault>> {
    let default: Vec<(String, Option<[f64; 2]>)>;
    let mut vary = vary;
    if vary.is_empty() {
        default = scene.materials.iter().map(|m| (format!("material[{}].friction", m.name), None)).collect();
        vary = &default;
    }
    if vary.is_empty() {
        let why = "nothing to estimate: the scene has no material, and no path is given";
        return Err(vec![Fault::new(String::new(), why)]);
    }
    let (mut list, mut faults): (Vec<Parameter>, Vec<Fault>) = (vec![], vec![]);
    for (path, bounds) in vary {
        match parameter(scene, path, *bounds) {
            Ok(p) if list.iter().any(|other| other.path == p.path) => {
                faults.push(Fault::new(path.clone(), format!("'{path}' is given twice")));
            }
            Ok(parameter) => list.push(parameter),
            Err(fault) => faults.push(fault),
        }
    }
    if faults.is_empty() { Ok(list) } else { Err(faults) }
}

fn parameter(scene: &Scene, path: &str, bounds: Option<[f64; 2]>) -> Result<Parameter, Fault> {
    let value = scene.get(path)?;
    let value = value.as_float().or_else(|| value.as_integer().map(|x| x as f64));
    let guess = value.ok_or_else(|| Fault::new(path.to_owned(), format!("'{path}' is not a number")))?;
    let bounds = match bounds {
        Some([a, b]) if a.is_nan() || b.is_nan() || a >= b => {
            let why = format!("bounds are {a} and {b}, expected the least value first");
            return Err(Fault::new(path.to_owned(), why));
        }
        Some([a, b]) if !(a..=b).contains(&guess) => {
            let why =
                format!("the scene's value {guess} is outside the bounds {a} and {b} (--set changes it)");
            return Err(Fault::new(path.to_owned(), why));
        }
        Some(bounds) => bounds,
        None => natural_bounds(scene, path, guess),
    };
    Ok(Parameter { path: path.to_owned(), guess, bounds })
}

/// The bounds that the scene's own check has: 0 below and 1 above, where values beyond are refused.
fn natural_bounds(scene: &Scene, path: &str, guess: f64) -> [f64; 2] {
    let valid = |x: f64| {
        let mut other = scene.clone();
        other.set(path, &format!("{x:e}")).is_ok() && Model::new(&other).is_ok()
    };
    let size = if guess == 0.0 { 1e-3 } else { guess.abs() };
    let low = match () {
        () if guess < 0.0 || valid(-size) => f64::NEG_INFINITY,
        () if valid(0.0) => 0.0,
        () => 1e-6 * size,
    };
    let high = if guess <= 1.0 && valid(1.0) && !valid(1.0 + 1e-6) { 1.0 } else { f64::INFINITY };
    [low, high]
}

/// The quantities of the columns; times must be within the run.
fn quantities(model: &Model, data: &Data) -> Result<Vec<Quantity>, Vec<DataFault>> {
    let mut faults = Faults::default();
    let mut list: Vec<Quantity> = vec![];
    for (k, name) in data.names.iter().enumerate() {
        match Quantity::new(model, name) {
            Ok(q) if list.contains(&q) => {
                faults.add(None, Some(data.column(k)), format!("'{name}' is a column already"));
            }
            Ok(quantity) => list.push(quantity),
            Err(why) => faults.add(None, Some(data.column(k)), why),
        }
    }
    let end = model.scene().step.duration;
    for (i, time) in data.times.iter().enumerate() {
        if *time < 0.0 || *time > end + 1e-9 * end.abs() {
            let why = format!("time {time} s is outside the run, from 0 to {end} s (--set step.duration=S)");
            faults.add(data.line(i), Some(1), why);
        }
    }
    faults.or(list)
}
