//! What a simulation says of its instant and its next step, surfaces that run, and how it shows itself.

use super::Simulation;
use crate::accelerate::{Asked, answer};
use crate::boundary::derivative;
use crate::convert::helper;
use crate::errors;
use crate::interrupt::guarded;
use crate::report::StepReport;
use pyo3::prelude::*;
use stiction::boundary::{NotDifferentiable, Parameters};

#[pymethods]
impl Simulation {
    /// Velocity of each surface that runs, in the axes of its body or world part, m/s, of shape (n, 3) and by
    /// name; NaN lets it follow its course in the scene. It holds in all steps until it is changed.
    ///
    /// Examples
    /// --------
    /// >>> sim.surface["belt"] = [0.2, 0, 0]
    /// >>> sim.surface["belt"] = np.nan      # as the scene says
    #[getter]
    fn surface(&self, py: Python<'_>) -> Py<PyAny> {
        self.surface.named.clone_ref(py)
    }

    #[setter]
    fn set_surface(&mut self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        helper(py, "_arrays", "assign")?.call1((&self.surface.named, value, "surface", true)).map(drop)
    }

    /// Accelerations and contact forces at the current state and inputs, and whether they are the only
    /// possible ones; nothing moves. Parameters and result are those of ``stiction.accelerate``.
    #[pyo3(signature = (*, all = false, joint = None, quasistatic = false, stiffness = None, gap = None, rest = None, rigid = false, limit = None))]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python")]
    fn accelerate<'py>(
        &mut self,
        py: Python<'py>,
        all: bool,
        joint: Option<&Bound<'py, PyAny>>,
        quasistatic: bool,
        stiffness: Option<&Bound<'py, PyAny>>,
        gap: Option<f64>,
        rest: Option<f64>,
        rigid: bool,
        limit: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.pull(py)?;
        // forces for the next step take part, and remain
        let once = self.once.clone();
        let read = self.read_inputs(py);
        self.once = once;
        read?;
        let asked = Asked { all, joint, quasistatic, stiffness, gap, rest, rigid, limit };
        answer(py, self.model.get(), &self.state, self.inputs.clone(), &asked)
    }

    /// Make one step, as ``step`` does, and differentiate it through its contacts.
    ///
    /// The tangent ``x`` of a state lists the displacement of the configuration in the coordinates of ``v``
    /// (``model.v_names``; a free body's rotation is a rotation vector in world axes), the change of ``v``,
    /// and the change of the deformations that contacts remember: ``2 nv`` numbers where all of them are rigid.
    ///
    /// Parameters
    /// ----------
    /// parameters : sequence of str
    ///     Paths of numbers in the scene to differentiate by as well, for example "material[wood].friction".
    ///
    /// Returns
    /// -------
    /// StepDerivative
    ///     Named tuple ``(report, state, effort, parameters, exact, notes)``: matrices of dx+/dx, dx+/du with
    ///     the efforts ``u``, dx+/dp; where several derivatives meet one is chosen, and ``notes`` says so.
    ///
    /// Raises
    /// ------
    /// StepError
    ///     If the step fails.
    /// Error
    ///     If the step has no derivative here (patches, restitution, ...); the state is the one before it.
    #[pyo3(signature = (parameters = vec![]))]
    fn step_with_derivatives<'py>(
        &mut self,
        py: Python<'py>,
        parameters: Vec<String>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.pull(py)?;
        if self.parameters.as_ref().is_none_or(|(known, _)| *known != parameters) {
            let made = Parameters::new(&self.model.get().scene, &parameters);
            let made = made.map_err(|faults| errors::faults(py, &faults))?;
            self.parameters = Some((parameters, made));
        }
        self.read_inputs(py)?;
        self.history.begin(&mut self.steps.view(&self.state)).map_err(|e| errors::observer(py, &e))?;
        let Self { steps, state, inputs, parameters, .. } = self;
        let none = Parameters::default();
        let parameters = parameters.as_ref().map_or(&none, |(_, list)| list);
        let count = parameters.len();
        let made = guarded(py, || Ok(py.detach(|| steps.step_with_derivatives(state, inputs, parameters))))?;
        let failed = match &made {
            Err(NotDifferentiable::Failed(why)) => Some(why),
            _ => None,
        };
        if made.is_ok() || failed.is_some() {
            self.observe(failed).map_err(|e| errors::observer(py, &e))?;
        }
        self.coordinates.push(py, &self.state)?;
        let (report, made) = made.map_err(|why| match why {
            NotDifferentiable::Failed(why) => errors::step(py, &why, self.state.time),
            other => errors::plain(py, &other.to_string()),
        })?;
        let report = StepReport { inner: report, time: self.state.time };
        derivative(py, report, &made, (self.state.velocity.len(), count))
    }

    /// The viewer with the steps made since the start, or with the present state, for Jupyter. Where there
    /// are many steps, every 2nd, 4th, ... is kept.
    fn _repr_html_(&mut self, py: Python<'_>) -> PyResult<String> {
        self.pull(py)?;
        let text = self.model.get().scene.to_toml();
        let Self { steps, state, history, .. } = self;
        Ok(py.detach(|| history.html(&mut steps.view(state), &text)))
    }
}
