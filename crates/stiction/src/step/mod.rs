//! One step of time: scene, state -> detect -> assemble -> solve -> advance.
//!
//! The theta rule of pang2005 (15)-(16), with the forces f at the old state or implicit (`settle`); theta = 0 with the
//! former is song2004. With `W` the contacts' Jacobian, `E = h K + C` (absent for rigid contacts) and `delta` the deformations,
//!
//! ```text
//! s = A lambda + b      A = (1-theta) h W M^-1 W' + E^-1      b = W (v + (1-theta) h M^-1 f) - E^-1 K delta
//! ```
//!
//! is closed by `0 <= lambda_n _|_ g/h + s_n >= 0` with `g = psi + delta_n`, and by friction as cone, pyramid or polygon. The normal
//! points from the first body to the second; `lambda` acts on the second. `K` and `C` may depend on the overlap `-psi` at the start of the step.

mod assemble;
mod detect;
mod load;
mod settle;
mod solve;
mod tell;

use crate::dynamics::{Kinematics, MassMatrix, SingularMass, System};
use crate::scene::{ForceTime, GapLevel, Owner, Scene, SolverKind};
use crate::space::{Frame, Vector, length};
use crate::state::{ContactId, Memory, State};
use assemble::{Rows, Speeds};
use complementarity::certificate::{Diagnosis, Settings, examine};
use complementarity::matrix::dot;
use complementarity::problem::FrictionProblem;
use complementarity::residual::Residual;
use detect::Detector;
use solve::ContactSolver;
use std::borrow::Cow;

/// Why a scene cannot be stepped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidModel(pub String);

/// Why a step did not happen. The state is as it was.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Failed {
    /// The contact problem was not solved, whatever the step.
    #[error(
        "contact problem at t = {time} s not solved, down to a step of {h:e} s: {solver} {end}, relative residual {residual:e}{cause}"
    )]
    Unsolved {
        /// s.
        time: f64,
        /// Smallest step tried, s.
        h: f64,
        /// Who tried last.
        solver: &'static str,
        /// How that ended.
        end: Cow<'static, str>,
        /// Of the best answer.
        residual: f64,
        /// What is wrong with it, and whether there is a solution; begins with a colon, or is empty.
        cause: String,
    },
    /// The forces at the middle of the step, which depend on its end, were not found, whatever the step.
    #[error(
        "forces at t = {time} s did not settle, down to a step of {h:e} s: they still change v by {change:e}"
    )]
    Unsettled {
        /// s.
        time: f64,
        /// Smallest step tried, s.
        h: f64,
        /// Last change of a velocity, m/s or rad/s.
        change: f64,
    },
    /// Positions or velocities overflow: the step is too long for the stiffest spring or the fastest motion.
    #[error("the motion is not finite after t = {time} s: a smaller step may help")]
    NotFinite {
        /// s.
        time: f64,
    },
    /// The mass matrix cannot be factored.
    #[error(transparent)]
    Mass(#[from] SingularMass),
    /// A law cannot be evaluated at this step.
    #[error(transparent)]
    Model(#[from] InvalidModel),
}

/// What an element does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// No force.
    Open,
    /// Force, no slip; nor spin or turn where friction resists them.
    Stick,
    /// Force and slip, spin or turn.
    Slip,
}

/// An element of a contact after a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ElementReport {
    /// Whose.
    pub id: ContactId,
    /// Number within the contact.
    pub element: usize,
    /// First body: the force on it is the opposite.
    pub body_a: Owner,
    /// Second body.
    pub body_b: Owner,
    /// World, m.
    pub point: Vector,
    /// Axes n (from the first body to the second), t, o.
    pub frame: Frame,
    /// `psi + delta_n` before the step, m.
    pub gap: f64,
    /// On the second body, along n, t, o, N.
    pub force: Vector,
    /// Of friction, on the second body, about n, t, o through `point`, N m; 0 without torsion and rolling friction.
    pub moment: Vector,
    /// `s`, along n, t, o, m/s.
    pub speed: Vector,
    /// How fast the second body turns against the first, about n, t, o, rad/s, where torsion or rolling friction resists; else 0.
    pub turn: Vector,
    /// `delta` after the step, m.
    pub deformation: Vector,
    /// What it does.
    pub status: Status,
}

/// Energies, J.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Energy {
    /// Kinetic.
    pub kinetic: f64,
    /// Gravity and springs.
    pub potential: f64,
    /// In deformed contacts.
    pub elastic: f64,
}

/// What a step did.
#[must_use]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepReport {
    /// Pivots, sweeps or Newton steps of those who answered, all parts of the step together.
    pub iterations: usize,
    /// Those of others who did not, or of attempts that were given up.
    pub wasted: usize,
    /// Who answered, where the residual is worst.
    pub solver: &'static str,
    /// Worst residual of its parts, by the judge.
    pub residual: Residual,
    /// 0 if nothing was near, 1, or the parts the step was cut into after failed attempts.
    pub parts: usize,
    /// Evaluations of forces that depend on the end of the step; 0 with `forces = "start"`.
    pub rounds: usize,
    /// Work lost to friction, J.
    pub friction_loss: f64,
    /// Work lost in contact dampers, J.
    pub damping_loss: f64,
    /// Work of loads, motors and the dampers of springs, J.
    pub work: f64,
}

/// Rows of contacts that influence each other up to which a failed step is examined.
const EXAMINED: usize = 600;

/// Halvings of a step at most, whatever the scene allows.
const MOST_RETRIES: usize = 50;

/// Steps a scene. Owns all memory that steps use.
#[derive(Debug)]
pub struct Stepper {
    scene: Scene,
    kinematics: Kinematics,
    mass: MassMatrix,
    detector: Detector,
    reaches: Vec<f64>,
    rows: Rows,
    solver: ContactSolver,
    elements: Vec<ElementReport>,
    /// `v + h M^-1 f`, then the deformations' rates and the forces of their dampers.
    scratch: Vec<f64>,
    /// Generalised force of what does work from outside.
    outside: Vec<f64>,
    /// `v + h M^-1 f`, then with the contact forces: `v+`.
    velocity: Vec<f64>,
    /// `v_theta` where the forces depend on it.
    middle: Vec<f64>,
    /// Position after the step.
    position: Vec<f64>,
    /// Deformation of all elements, row by row, before and after the step.
    delta: Vec<f64>,
    after: Vec<f64>,
    /// Memory of contacts that are no more.
    spare: Vec<Memory>,
    /// Where a step that is cut began.
    start: State,
    /// What the solver remembered before an attempt.
    basis: Vec<usize>,
    /// The first contact problem of the last step that was not solved.
    unsolved: Option<FrictionProblem>,
    keep_unsolved: bool,
}

/// Gaps up to this are closed where the law is about speeds, m.
const CLOSED: f64 = 1e-9;

/// Elements whose slip is below this share of the fastest free speed are said to stick.
const STILL: f64 = 1e-9;

impl Stepper {
    /// Checks what the scene's reader does not: masses, shapes and laws.
    pub fn new(scene: Scene) -> Result<Self, InvalidModel> {
        let system = System::new(scene.links()).map_err(|e| InvalidModel(e.to_string()))?;
        let detector = Detector::new(&scene, &system)?;
        if scene.step.explicit_share > 0.5 && detector.rules.iter().any(|r| r.compliance.is_none()) {
            let share = scene.step.explicit_share;
            return Err(InvalidModel(format!(
                "explicit_share is {share}: above 0.5 rigid contacts give back more speed than they take; use at most 0.5, or \
                 compliant laws"
            )));
        }
        Ok(Self {
            kinematics: Kinematics::new(&system),
            mass: MassMatrix::new(&system),
            reaches: detector.reaches(scene.bodies.len()),
            detector,
            rows: Rows::new(&scene),
            solver: ContactSolver::new(&scene),
            elements: vec![],
            scratch: vec![],
            outside: vec![],
            velocity: vec![],
            middle: vec![],
            position: vec![],
            delta: vec![],
            after: vec![],
            spare: vec![],
            start: State::initial(&scene, &system),
            // one entry: whether bodies are calm
            basis: Vec::with_capacity(1),
            unsolved: None,
            keep_unsolved: false,
            scene,
        })
    }

    /// The scene.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// The scene's start.
    pub fn initial(&self) -> State {
        State::initial(&self.scene, self.kinematics.system())
    }

    /// Positions and velocities of the bodies at a state.
    pub fn kinematics(&mut self, state: &State) -> &Kinematics {
        self.kinematics.go_to(&state.position, &state.velocity);
        &self.kinematics
    }

    /// Elements of the last step, in order of their contacts' ids.
    pub fn elements(&self) -> &[ElementReport] {
        &self.elements
    }

    /// The contact problem of the last step (of its last part, if it was cut), as it was solved: elements in the order of
    /// [`Self::elements`], rows n, t(, o). Where the scene has torsion or rolling friction turns about n (and t, o) follow, in m/s, times an axis
    /// of the ellipsoid, torsion or rolling over friction, and their unknowns are moments over that axis, N. Elements with a grain have an ellipsoid. `None` if nothing was near.
    pub fn problem(&self) -> Option<FrictionProblem> {
        self.rows.to_friction()
    }

    /// Whether steps that are cut keep their problem for [`Self::unsolved`]: a copy.
    pub fn set_keep_unsolved(&mut self, keep: bool) {
        self.keep_unsolved = keep;
    }

    /// The first contact problem of the last step that was not solved or given up, before the step was cut. Of a step that was cut it is kept on
    /// demand ([`Self::set_keep_unsolved`]).
    pub fn unsolved(&self) -> Option<&FrictionProblem> {
        self.unsolved.as_ref()
    }

    /// What is wrong with the forces of the last attempt, in words.
    fn cause(&self) -> String {
        let Some(problem) = self.problem() else { return String::new() };
        let known = examine(&problem, None, &Settings { most_rows: EXAMINED, ..Settings::default() });
        let forces = self.rows.forces(&self.solver.lambda);
        let found = Diagnosis::of_friction(&problem, Some(&forces), &known);
        let owner = |o: &Owner| match *o {
            Owner::Body(i) => &self.scene.bodies[i].name,
            Owner::World(i) => &self.scene.world[i].name,
        };
        let name = |k: usize| {
            let contact = self.detector.contacts.iter().find(|c| (c.first..c.first + c.count).contains(&k));
            contact.map_or_else(String::new, |c| format!("{}/{}", owner(&c.owners[0]), owner(&c.owners[1])))
        };
        let help = match found.impossible {
            Some(_) => "bodies between fixed parts must have room, or compliant contacts",
            None if self.scene.step.solver != SolverKind::Auto => "solver = \"auto\" may help",
            None => "a smaller step, more retries, a larger tolerance or compliant contacts may help",
        };
        let mut lines = found.lines(name);
        lines.push(help.to_owned());
        format!(": {}", lines.join("; "))
    }

    /// Energies at a state.
    pub fn energy(&mut self, state: &State) -> Energy {
        self.kinematics.go_to(&state.position, &state.velocity);
        let elastic = state.memory.iter().map(|m| {
            let rule = self.detector.rule_of(m.id);
            let compliance = rule.and_then(|r| r.compliance.as_ref());
            compliance
                .filter(|c| c.rows() == m.deformation.len())
                .map_or(0.0, |c| c.elastic_energy(&m.deformation))
        });
        Energy {
            elastic: elastic.sum(),
            kinetic: self.kinematics.kinetic_energy(),
            potential: self.kinematics.potential_energy(self.scene.gravity)
                + load::spring_energy(&self.scene, &self.kinematics),
        }
    }

    /// One step of the scene's `h`. Where the contact problem is not solved, or given up because it makes no progress, the step is tried again in halves, as often as
    /// the scene allows; the report says so.
    pub fn step(&mut self, state: &mut State) -> Result<StepReport, Failed> {
        let h = self.scene.step.h;
        let none = Residual::ZERO;
        let mut report = StepReport {
            iterations: 0,
            wasted: 0,
            solver: "none",
            residual: none,
            parts: 0,
            rounds: 0,
            friction_loss: 0.0,
            damping_loss: 0.0,
            work: 0.0,
        };
        // time left, in units of the smallest part 2^-level h; the start is kept only once a part has failed
        let (mut level, mut left, mut made) = (0, 1u64, 0);
        let time = state.time;
        self.unsolved = None;
        while left > 0 {
            let part = h / (1u64 << level) as f64;
            // as much memory as the state's: it may need it in a later step
            self.basis.clear();
            self.basis.reserve(state.basis.capacity());
            self.basis.extend_from_slice(&state.basis);
            // two short steps are mostly easier than one that is hard; where they are not, they are pursued
            self.solver.stubborn = level > 0 || self.scene.step.retries == 0;
            match self.attempt(state, part, &mut report) {
                Ok(()) => (left, made) = (left - 1, made + 1),
                Err(mut why) => {
                    state.basis.clone_from(&self.basis);
                    let again = matches!(why, Failed::Unsolved { .. } | Failed::Unsettled { .. })
                        && level < self.scene.step.retries.min(MOST_RETRIES);
                    let keep = self.keep_unsolved || !again;
                    if keep && matches!(why, Failed::Unsolved { .. }) && self.unsolved.is_none() {
                        self.unsolved = self.problem();
                    }
                    if again {
                        if level == 0 {
                            self.start.copy_from(state, &mut self.spare);
                        }
                        level += 1;
                        left *= 2;
                        continue;
                    }
                    if level > 0 {
                        std::mem::swap(state, &mut self.start);
                    }
                    if let Failed::Unsolved { cause, .. } = &mut why {
                        *cause = self.cause();
                    }
                    return Err(why);
                }
            }
        }
        state.time = time + h;
        if level > 0 {
            report.parts = report.parts.max(made);
        }
        Ok(report)
    }

    fn attempt(&mut self, state: &mut State, h: f64, report: &mut StepReport) -> Result<(), Failed> {
        self.detector.set_step(h)?;
        self.kinematics.go_to(&state.position, &state.velocity);
        self.mass.update(&self.kinematics)?;
        self.fall(state, state.time, h);
        std::mem::swap(&mut self.velocity, &mut self.scratch);
        let margin = self.margin(state, h);
        if !margin.is_finite() {
            return Err(Failed::NotFinite { time: state.time });
        }
        self.detector.detect(&self.kinematics, margin);
        if self.scene.step.gap == GapLevel::Velocity {
            self.detector.keep_closed(state, CLOSED);
        }
        self.remember(state);
        let dynamics = (&self.kinematics, &self.mass);
        let speeds = Speeds { now: &state.velocity, free: &self.velocity };
        self.rows.assemble(&self.scene, &self.detector, dynamics, speeds, &self.delta, (h, margin));
        let same = self.detector.contacts.iter().map(|c| c.id).eq(state.memory.iter().map(|m| m.id));
        if !same {
            state.basis.clear();
        }
        let before = (report.parts, report.iterations);
        self.solver.solve(&self.rows, state.time, h, &mut state.basis, report)?;
        if self.scene.step.forces == ForceTime::Theta {
            self.settle(state, h, before, report)?;
        }
        self.advance(state, h, report)?;
        self.advance_contacts(state, h, report);
        self.tell(h, report);
        state.time += h;
        Ok(())
    }

    /// `v+ = v + M^-1 (h f + h W' lambda)`, `q+ = q + h G v_theta`.
    fn advance(&mut self, state: &mut State, h: f64, report: &mut StepReport) -> Result<(), Failed> {
        let theta = self.scene.step.explicit_share;
        self.rows.push_back(&self.mass, h, &self.solver.lambda, &mut self.velocity);
        let v_theta = &mut self.scratch;
        v_theta.clear();
        v_theta.extend(
            state.velocity.iter().zip(&self.velocity).map(|(v, after)| theta * v + (1.0 - theta) * after),
        );
        self.position.resize(state.position.len(), 0.0);
        self.kinematics.system().advance(&state.position, v_theta, h, &mut self.position);
        if !self.position.iter().chain(&self.velocity).all(|x| x.is_finite()) {
            return Err(Failed::NotFinite { time: state.time });
        }
        report.work += h * dot(&self.outside, v_theta);
        state.position.copy_from_slice(&self.position);
        state.velocity.copy_from_slice(&self.velocity);
        Ok(())
    }

    /// How far apart shapes can be and still meet within a step, by the speeds now and those were there no contact.
    fn margin(&mut self, state: &State, h: f64) -> f64 {
        if self.detector.rules.is_empty() {
            return 0.0;
        }
        let mut fastest = self.fastest() + h * length(self.scene.gravity);
        // weight alone adds no more than that; other forces may
        if !(self.scene.loads.is_empty() && self.scene.springs.is_empty() && self.scene.motors.is_empty()) {
            self.kinematics.go_to(&state.position, &self.velocity);
            fastest = fastest.max(self.fastest());
            self.kinematics.go_to(&state.position, &state.velocity);
        }
        4.0 * h * fastest + CLOSED
    }

    /// Largest speed of any point of a body, m/s.
    fn fastest(&self) -> f64 {
        let speed = |i: usize| {
            let (v, omega) = self.kinematics.velocity(i);
            length(v) + length(omega) * self.reaches[i]
        };
        (0..self.scene.bodies.len()).map(speed).fold(0.0, f64::max)
    }

    /// Deformations of all elements before the step and the last forces; new contacts are undeformed and carry none.
    fn remember(&mut self, state: &State) {
        self.delta.clear();
        let forces = &mut self.solver.lambda;
        forces.clear();
        // both are in order of ids
        let mut memory = state.memory.iter().peekable();
        for c in &self.detector.contacts {
            let (size, deforms) = (self.rows.per * c.count, self.rows.along * c.count);
            while memory.next_if(|m| m.id < c.id).is_some() {}
            let known = memory.next_if(|m| m.id == c.id);
            match known {
                Some(known) if known.force.len() == size => forces.extend_from_slice(&known.force),
                _ => forces.resize(forces.len() + size, 0.0),
            }
            match known {
                Some(known) if known.deformation.len() == deforms => {
                    let first = self.delta.len();
                    self.delta.extend_from_slice(&known.deformation);
                    if self.detector.turns(c) {
                        let from = c.frame.along_x();
                        self.delta[first..]
                            .as_chunks_mut()
                            .0
                            .iter_mut()
                            .for_each(|d| *d = c.frame.from(&from, *d));
                    }
                }
                _ => self.delta.resize(self.delta.len() + deforms, 0.0),
            }
        }
    }

    /// What the contacts remember after the step.
    fn advance_contacts(&mut self, state: &mut State, h: f64, report: &mut StepReport) {
        let (per, along, lambda) = (self.rows.per, self.rows.along, &self.solver.lambda);
        self.after.clear();
        self.after.resize(self.delta.len(), 0.0);
        let memory = &mut state.memory;
        for (k, c) in self.detector.contacts.iter().enumerate() {
            if k == memory.len() {
                memory.push(self.spare.pop().unwrap_or_else(|| Memory::blank(c.id)));
            }
            let own = &mut memory[k];
            let rows = along * c.first..along * (c.first + c.count);
            own.id = c.id;
            own.deformation.clear();
            own.force.clear();
            own.force.extend_from_slice(&lambda[per * c.first..per * (c.first + c.count)]);
            let Some(compliance) = &self.detector.rules[c.rule].compliance else { continue };
            let (delta, after) = (&self.delta[rows.clone()], &mut self.after[rows]);
            let scale = self.rows.scale[k];
            // turns are rigid
            self.scratch.clear();
            let rule = &self.detector.rules[c.rule];
            let physical = |f: &[f64]| [0, 1, 2].map(|i| if i < along { rule.axis(i) * f[i] } else { 0.0 });
            self.scratch
                .extend(own.force.chunks_exact(per).flat_map(|f| physical(f).into_iter().take(along)));
            compliance.deformation_after(scale, &self.scratch, delta, after);
            own.deformation.extend_from_slice(after);
            if self.detector.turns(c) {
                let to = c.frame.along_x();
                own.deformation.as_chunks_mut().0.iter_mut().for_each(|d| *d = to.from(&c.frame, *d));
            }
            self.scratch.clear();
            self.scratch.extend(after.iter().zip(delta).map(|(a, d)| (a - d) / h));
            self.scratch.resize(2 * after.len(), 0.0);
            let (rate, damping) = self.scratch.split_at_mut(after.len());
            compliance.damping_times(rate, damping);
            report.damping_loss += h * scale * rate.iter().zip(damping).map(|(a, b)| *a * *b).sum::<f64>();
        }
        self.spare.extend(memory.drain(self.detector.contacts.len()..));
    }
}
