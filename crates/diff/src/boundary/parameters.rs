//! Parameters of a scene by path, and how a compiled model changes with them.
//!
//! A scene is compiled at four values beside the given one, and what a step takes from a model (masses, inertias,
//! loads, gravity, friction, stiffness, start values) is differentiated by the central formula of fourth order. These
//! are smooth functions of one number, most of them linear; the relative error is below 1e-10. No step is made.

use crate::dynamics::{Kinematics, System, combine, difference};
use crate::model::Model;
use crate::scene::{Fault, Scene};
use std::sync::Arc;

/// Relative distance of the values at which a scene is compiled.
const APART: f64 = 1e-3;

/// Parameters of a scene, ready to be differentiated by.
#[derive(Debug, Clone, Default)]
pub struct Parameters {
    pub(super) list: Vec<Parameter>,
    /// Whether the logarithm of the step's length is one more, the last.
    pub(super) duration: bool,
}

/// One parameter.
#[derive(Debug, Clone)]
pub(super) struct Parameter {
    pub path: String,
    pub value: f64,
    /// Distance of neighbouring values.
    pub e: f64,
    /// The models at `p - 2e, p - e, p + e, p + 2e`.
    pub models: Arc<[Model; 4]>,
    pub systems: [System; 4],
    /// Whether inertias change.
    pub inertia: bool,
    /// Change of the state at the start: configuration and velocities.
    pub start: Vec<f64>,
}

impl Parameters {
    /// The parameters of a scene at these paths, each a number. Step settings, shapes, poses of shapes and joints, and
    /// restitution are not differentiated.
    ///
    /// # Errors
    /// Every path that is unknown, not a number or not differentiated, with the reason.
    pub fn new(scene: &Scene, paths: &[String]) -> Result<Self, Vec<Fault>> {
        let base = Model::new(scene)?;
        let (mut list, mut faults) = (vec![], vec![]);
        for path in paths {
            match Parameter::new(scene, &base, path) {
                Ok(parameter) => list.push(parameter),
                Err(mut wrong) => faults.append(&mut wrong),
            }
        }
        if faults.is_empty() { Ok(Self { list, duration: false }) } else { Err(faults) }
    }

    /// The same, and the logarithm of the step's length as the last parameter. Times are scaled with it, from zero on, so
    /// that loads and targets that change with time are those of a run whose steps are all scaled.
    #[must_use]
    pub fn with_duration(mut self) -> Self {
        self.duration = true;
        self
    }

    /// Number of parameters.
    pub fn len(&self) -> usize {
        self.list.len() + usize::from(self.duration)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Path of a parameter; empty for the length of the step.
    pub fn path(&self, k: usize) -> &str {
        self.list.get(k).map_or("", |p| &p.path)
    }

    /// Value of a parameter; `None` for the length of the step.
    pub fn value(&self, k: usize) -> Option<f64> {
        self.list.get(k).map(|p| p.value)
    }

    /// Derivative of the state at the start with a parameter: configuration, then velocities; empty where it is zero.
    pub fn start(&self, k: usize) -> &[f64] {
        self.list.get(k).map_or(&[], |p| &p.start)
    }
}

impl Parameter {
    fn new(scene: &Scene, base: &Model, path: &str) -> Result<Self, Vec<Fault>> {
        let fault = |message: String| vec![Fault::new(path.to_owned(), message)];
        let value = scene.get(path).map_err(|f| vec![f])?;
        let value = value.as_float().or_else(|| value.as_integer().map(|x| x as f64));
        let value = value.ok_or_else(|| fault(format!("'{path}' is not a number")))?;
        let e = APART * if value == 0.0 { 1.0 } else { value.abs() };
        let at = |k: f64| {
            let mut other = scene.clone();
            other.set(path, &format!("{:e}", value + k * e))?;
            Model::new(&other)
        };
        let models = [at(-2.0)?, at(-1.0)?, at(1.0)?, at(2.0)?];
        for model in &models {
            if let Some(what) = fixed(base, model) {
                return Err(fault(format!("'{path}' changes {what}, which is not differentiated")));
            }
        }
        let inertia = models.iter().any(|m| {
            let (a, b) = (m.system().links(), base.system().links());
            a.iter().zip(b).any(|(a, b)| a.inertia != b.inertia)
                || m.system().armature() != base.system().armature()
        });
        let (n, origin) = (base.system().velocity_size(), base.initial());
        let ends = models.each_ref().map(|m| {
            let (state, mut out) = (m.initial(), vec![0.0; 2 * n]);
            difference(base.system(), &state.position, &origin.position, &mut out[..n]);
            (0..n).for_each(|i| out[n + i] = state.velocity[i] - origin.velocity[i]);
            out
        });
        let start = (0..2 * n).map(|i| combine(ends.each_ref().map(|x| x[i]), e)).collect();
        let systems = models.each_ref().map(|m| m.system().clone());
        Ok(Self { path: path.to_owned(), value, e, models: Arc::new(models), systems, inertia, start })
    }

    /// Derivative of a vector that each of the four models gives.
    pub fn derivative(&self, n: usize, mut of: impl FnMut(&Model, &mut [f64])) -> Vec<f64> {
        let values = self.models.each_ref().map(|m| {
            let mut out = vec![0.0; n];
            of(m, &mut out);
            out
        });
        (0..n).map(|i| combine(values.each_ref().map(|x| x[i]), self.e)).collect()
    }

    /// Derivative of `M(q) a`.
    pub fn momentum(&self, q: &[f64], a: &[f64]) -> Vec<f64> {
        self.derivative(a.len(), |model, out| {
            let mut kinematics = Kinematics::new(model.system());
            kinematics.go_to(q, a);
            kinematics.momentum_of_joints(out);
        })
    }
}

/// What differs between two models that must not, in words.
fn fixed(a: &Model, b: &Model) -> Option<&'static str> {
    let (x, y) = (a.scene(), b.scene());
    let shapes = x.bodies.iter().zip(&y.bodies).all(|(a, b)| a.parts == b.parts);
    let joints = x
        .bodies
        .iter()
        .zip(&y.bodies)
        .all(|(a, b)| a.link.mount == b.link.mount && a.link.joint == b.link.joint);
    let rules = a.contacts().rules().iter().zip(b.contacts().rules());
    let same_rules = a.contacts().rules().len() == b.contacts().rules().len();
    match () {
        () if !shapes || x.world != y.world => Some("a shape or its pose, and with it contact features"),
        () if !joints => Some("a joint or its mount, and with it contact features"),
        () if x.step != y.step => Some("the step"),
        () if !same_rules || rules.clone().any(|(a, b)| a.given.restitution != b.given.restitution) => {
            Some("restitution")
        }
        () => None,
    }
}
