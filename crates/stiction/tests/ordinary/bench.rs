//! Runs a scene file under every scheme that supports it, and holds every step to what all runs promise.

use std::cell::RefCell;
use std::sync::Arc;
use stiction::dynamics::Kinematics;
use stiction::inputs::Inputs;
use stiction::model::{Model, Owner};
use stiction::run::{ENTRIES, Observer, Options, Stepwise, Summary};
use stiction::scene::Scene;
use stiction::space::{Quaternion, Vector, add, scale};
use stiction::state::State;

/// m/s^2.
pub const G: f64 = 9.81;
/// Energy that a run may gain, as a share of the largest change of any energy in it: steps of 1 ms are of first order, as where a drive lifts a load
/// (`m g h v / 2`).
const GAIN: f64 = 5e-3;

pub const THETA: &str = "theta";
pub const IMPLICIT: &str = "implicit";
pub const EVENT: &str = "event";
pub const COMPLIANT: &str = "compliant";
const ALL: [&str; 4] = [THETA, IMPLICIT, EVENT, COMPLIANT];
/// The schemes of rigid contacts.
pub const RIGID: &[&str] = &[THETA, IMPLICIT, EVENT];
/// Those that step through events, and so support moving surfaces and prescribed motion.
pub const STEPS: &[&str] = &[THETA, IMPLICIT];

/// A scene file, and what is changed in it.
pub struct Bench {
    file: &'static str,
    set: Vec<(String, String)>,
    but: Vec<&'static str>,
}

/// The file of this name in this folder.
pub fn scene(file: &'static str) -> Bench {
    Bench { file, set: vec![], but: vec![] }
}

impl Bench {
    /// Sets a value by its path.
    pub fn set(mut self, path: &str, value: f64) -> Self {
        self.set.push((path.to_owned(), format!("{value:e}")));
        self
    }

    /// Sets a text by its path.
    pub fn choose(mut self, path: &str, text: &str) -> Self {
        self.set.push((path.to_owned(), format!("\"{text}\"")));
        self
    }

    /// A scheme that accepts the scene but is not held to the expectation, and why.
    pub fn but(mut self, scheme: &'static str, _why: &str) -> Self {
        self.but.push(scheme);
        self
    }

    /// Runs the scene under these schemes, which must be all that support it.
    pub fn under(self, schemes: &[&'static str], mut check: impl FnMut(&mut Run)) {
        for scheme in ALL {
            let listed = schemes.contains(&scheme);
            match self.model(scheme) {
                Ok(model) if listed => {
                    println!("{} under {scheme}", self.file);
                    let mut run = Run::new(self.file, scheme, Arc::new(model));
                    check(&mut run);
                    run.end();
                }
                Ok(_) => assert!(self.but.contains(&scheme), "{}: {scheme} supports it, too", self.file),
                Err(why) => assert!(!listed, "{}: {scheme}: {why}", self.file),
            }
        }
    }

    fn model(&self, scheme: &str) -> Result<Model, String> {
        let path = format!("{}/tests/ordinary/{}.toml", env!("CARGO_MANIFEST_DIR"), self.file);
        let mut set = self.set.clone();
        set.push(("step.scheme".to_owned(), scheme.to_owned()));
        let scene = Scene::read_with(path, &set).map_err(|e| e.to_string())?;
        assert!(scene.warnings.is_empty(), "{}: {:?}", self.file, scene.warnings);
        let plain = |faults: Vec<stiction::scene::Fault>| {
            faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
        };
        Model::new(&scene).map_err(plain)
    }
}

/// A body at a time.
#[derive(Debug, Clone, Copy)]
pub struct Motion {
    pub position: Vector,
    pub attitude: Quaternion,
    pub velocity: Vector,
    pub spin: Vector,
}

impl Motion {
    /// Angle between an axis of the body and where it was when the attitude was 1, rad.
    pub fn tilt(&self, axis: Vector) -> f64 {
        let now = self.attitude.apply(axis);
        (0..3).map(|i| now[i] * axis[i]).sum::<f64>().clamp(-1.0, 1.0).acos()
    }

    /// Angle about z, rad.
    pub fn heading(&self) -> f64 {
        let x = self.attitude.apply([1.0, 0.0, 0.0]);
        x[1].atan2(x[0])
    }
}

/// A run under a scheme.
pub struct Run {
    pub scheme: &'static str,
    file: &'static str,
    model: Arc<Model>,
    steps: RefCell<Stepwise>,
    state: State,
    summary: Summary,
}

impl Run {
    fn new(file: &'static str, scheme: &'static str, model: Arc<Model>) -> Self {
        let state = model.initial();
        let mut steps = Stepwise::new(&model, &state, &Options::default());
        let mut summary = Summary::default();
        summary.start(&mut steps.view(&state)).expect("a summary does not fail");
        Self { scheme, file, model, steps: RefCell::new(steps), state, summary }
    }

    pub fn time(&self) -> f64 {
        self.state.time
    }

    /// Steps once.
    pub fn step(&mut self) {
        let report = self.steps.get_mut().step(&mut self.state, &Inputs::default());
        let report = report.unwrap_or_else(|why| panic!("{} under {}: {why}", self.file, self.scheme));
        let good = report.residual.relative <= 1e-10 && report.loose == 0 && report.violation <= 1e-9;
        assert!(good, "{} under {}: {report:?}", self.file, self.scheme);
        self.summary.step(&mut self.steps.get_mut().view(&self.state)).expect("a summary does not fail");
    }

    /// Steps up to a time.
    pub fn to(&mut self, time: f64) {
        self.until(time, |_| {});
    }

    /// Steps up to a time, and looks after each step.
    pub fn until(&mut self, time: f64, mut look: impl FnMut(&mut Self)) {
        while self.state.time < time - 1e-9 {
            self.step();
            look(self);
        }
    }

    fn index(&self, body: &str) -> usize {
        self.model.body(body).unwrap_or_else(|| panic!("{} has no body {body}", self.file))
    }

    pub fn body(&self, body: &str) -> Motion {
        let index = self.index(body);
        let mut kinematics = Kinematics::new(self.model.system());
        kinematics.go_to(&self.state.position, &self.state.velocity);
        let (pose, (velocity, spin)) = (kinematics.pose(index), kinematics.velocity(index));
        Motion { position: pose.position, attitude: pose.attitude, velocity, spin }
    }

    /// Coordinate and velocity of a joint with one degree of freedom.
    pub fn joint(&self, body: &str) -> [f64; 2] {
        let index = self.index(body);
        let system = self.model.system();
        [self.state.position[system.coordinates(index).start], self.state.velocity[system.dofs(index).start]]
    }

    /// Sum of the contact forces on a body (of one other part, if that is named) in the last step, N.
    pub fn force(&self, body: &str, of: Option<&str>) -> Vector {
        let owner = Owner::Body(self.index(body));
        let mut steps = self.steps.borrow_mut();
        let view = steps.view(&self.state);
        let (mut sum, named) = ([0.0; 3], |o: Owner| of.is_none_or(|of| view.scene().name_of(o) == of));
        for e in view.elements() {
            let sign = match (e.body_a == owner && named(e.body_b), e.body_b == owner && named(e.body_a)) {
                (_, true) => 1.0,
                (true, _) => -1.0,
                _ => continue,
            };
            let axes = [e.frame.n, e.frame.t, e.frame.o];
            sum = axes.iter().zip(e.force).fold(sum, |sum, (axis, f)| add(sum, scale(sign * f, *axis)));
        }
        sum
    }

    /// Largest speed at which a contact of a body that carries force slips in the last step, m/s.
    pub fn slip(&self, body: &str) -> f64 {
        let owner = Owner::Body(self.index(body));
        let mut steps = self.steps.borrow_mut();
        let view = steps.view(&self.state);
        let of = view.elements().iter().filter(|e| [e.body_a, e.body_b].contains(&owner) && e.force[0] > 0.0);
        of.map(|e| e.speed[1].hypot(e.speed[2])).fold(0.0, f64::max)
    }

    /// A value is within a tolerance of what is expected.
    pub fn near(&self, what: &str, found: f64, expected: f64, tolerance: f64) {
        assert!(
            (found - expected).abs() <= tolerance,
            "{} under {}, t = {:.3} s: {what} is {found}, expected {expected} within {tolerance:e}",
            self.file,
            self.scheme,
            self.state.time
        );
    }

    pub fn assert(&self, holds: bool, what: &str) {
        assert!(holds, "{} under {}, t = {:.3} s: not {what}", self.file, self.scheme, self.state.time);
    }

    /// No run makes energy.
    fn end(&mut self) {
        self.summary.finish(&mut self.steps.get_mut().view(&self.state)).expect("a summary does not fail");
        let (gain, most) = (self.summary.balance_error(), self.summary.largest_change);
        let book: Vec<String> = ENTRIES
            .iter()
            .zip(self.summary.now.iter().zip(&self.summary.start))
            .map(|(e, (now, start))| format!("{} {:.3e}", e.name, now - start))
            .collect();
        assert!(
            gain <= GAIN * most + 1e-12,
            "{} under {}: {gain:e} J of {most:e} J made: {book:?}",
            self.file,
            self.scheme
        );
    }
}
