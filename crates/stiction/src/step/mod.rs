//! One step of time: scene, state -> detect -> assemble -> solve -> advance.
//!
//! The theta rule of pang2005 (15)-(16) with forces at the old state; theta = 0 is song2004. With `W` the contacts'
//! Jacobian, `E = h K + C` (absent for rigid contacts) and `delta` the deformations,
//!
//! ```text
//! s = A lambda + b      A = (1-theta) h W M^-1 W' + E^-1      b = W (v + (1-theta) h M^-1 f) - E^-1 K delta
//! ```
//!
//! is closed by `0 <= lambda_n _|_ g/h + s_n >= 0` with `g = psi + delta_n`, and by friction as pyramid or polygon. The normal
//! points from the first body to the second; `lambda` acts on the second.

mod assemble;
mod detect;
mod load;

use crate::dynamics::{Kinematics, MassMatrix, SingularMass, System};
use crate::scene::{FrictionKind, GapLevel, Owner, Scene};
use crate::space::{Frame, Vector, length};
use crate::state::{ContactId, Memory, State};
use assemble::Rows;
use complementarity::problem::{Friction, FrictionProblem};
use complementarity::residual::{self, Residual};
use complementarity::solver::interior_point;
use complementarity::solver::lemke::{End, Lemke};
use detect::Detector;

/// Why a scene cannot be stepped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidModel(pub String);

/// Why a step did not happen. The state is as it was.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Failed {
    /// The contact problem was not solved, whatever the step.
    #[error(
        "contact problem at t = {time} s not solved, down to a step of {h:e} s: {end:?}, relative residual {residual:e}"
    )]
    Unsolved {
        /// s.
        time: f64,
        /// Smallest step tried, s.
        h: f64,
        /// How Lemke's method ended.
        end: End,
        /// Of the best answer.
        residual: f64,
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
    /// Force, no slip.
    Stick,
    /// Force and slip.
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
    /// `s`, along n, t, o, m/s.
    pub speed: Vector,
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
    /// Pivots and Newton steps, all parts of the step together.
    pub iterations: usize,
    /// Contact problems that Lemke's method did not solve and the interior-point method did.
    pub by_interior_point: usize,
    /// Worst residual of its parts, by the judge.
    pub residual: Residual,
    /// Contact problems solved: 0 if nothing was near, 1, or the parts the step was cut into after failed attempts.
    pub parts: usize,
    /// Work lost to friction, J.
    pub friction_loss: f64,
    /// Work lost in contact dampers, J.
    pub damping_loss: f64,
}

/// Steps a scene. Owns all memory that steps use.
#[derive(Debug)]
pub struct Stepper {
    scene: Scene,
    kinematics: Kinematics,
    mass: MassMatrix,
    detector: Detector,
    reaches: Vec<f64>,
    lemke: Lemke,
    rows: Rows,
    /// Contacts of the last solved problem and the basis it ended on.
    warm: (Vec<ContactId>, Vec<usize>),
    elements: Vec<ElementReport>,
    /// Deformation and force of all elements, row by row.
    delta: Vec<f64>,
    after: Vec<f64>,
}

/// Covering vectors of Lemke's method before the interior point is asked.
const STARTS: usize = 2;

/// Gaps up to this are closed where the law is about speeds, m.
const CLOSED: f64 = 1e-9;

/// Elements whose slip is below this share of the fastest free speed are said to stick.
const STILL: f64 = 1e-9;

impl Stepper {
    /// Checks what the scene's reader does not: masses, shapes and laws.
    pub fn new(scene: Scene) -> Result<Self, InvalidModel> {
        let system = System::new(scene.links()).map_err(|e| InvalidModel(e.to_string()))?;
        let detector = Detector::new(&scene)?;
        let mut lemke = Lemke::default();
        lemke.settings.tolerance = scene.step.tolerance;
        lemke.settings.starts = STARTS;
        Ok(Self {
            kinematics: Kinematics::new(&system),
            mass: MassMatrix::new(&system),
            reaches: detector.reaches(scene.bodies.len()),
            detector,
            lemke,
            rows: Rows::default(),
            warm: (vec![], vec![]),
            elements: vec![],
            delta: vec![],
            after: vec![],
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
        self.kinematics.update(&state.position, &state.velocity);
        &self.kinematics
    }

    /// Elements of the last step, in order of their contacts' ids.
    pub fn elements(&self) -> &[ElementReport] {
        &self.elements
    }

    /// Energies at a state.
    pub fn energy(&mut self, state: &State) -> Energy {
        self.kinematics.update(&state.position, &state.velocity);
        let elastic = state.memory.iter().map(|m| {
            let rule = self.detector.rule_of(m.id);
            rule.and_then(|r| r.compliance.as_ref()).map_or(0.0, |c| c.elastic_energy(&m.deformation))
        });
        Energy {
            elastic: elastic.sum(),
            kinetic: self.kinematics.kinetic_energy(),
            potential: self.kinematics.potential_energy(self.scene.gravity)
                + load::spring_energy(&self.scene, &self.kinematics),
        }
    }

    /// One step of the scene's `h`. A contact problem that Lemke's method does not solve goes to the interior-point
    /// method; one that neither solves is tried again with half the step,
    /// as often as the scene allows; the report says so.
    pub fn step(&mut self, state: &mut State) -> Result<StepReport, Failed> {
        let (h, start) = (self.scene.step.h, state.clone());
        let none = Residual { absolute: 0.0, relative: 0.0 };
        let mut report = StepReport {
            iterations: 0,
            by_interior_point: 0,
            residual: none,
            parts: 0,
            friction_loss: 0.0,
            damping_loss: 0.0,
        };
        // time left, in units of the smallest part 2^-level h
        let (mut level, mut left) = (0, 1u64);
        while left > 0 {
            let part = h / (1u64 << level) as f64;
            match self.attempt(state, part, &mut report) {
                Ok(()) => left -= 1,
                Err(Failed::Unsolved { .. }) if level < self.scene.step.retries.min(50) => {
                    level += 1;
                    left *= 2;
                }
                Err(why) => {
                    *state = start;
                    return Err(why);
                }
            }
        }
        state.time = start.time + h;
        Ok(report)
    }

    fn attempt(&mut self, state: &mut State, h: f64, report: &mut StepReport) -> Result<(), Failed> {
        let explicit = self.scene.step.explicit_share;
        self.detector.set_step(h)?;
        self.kinematics.update(&state.position, &state.velocity);
        self.mass.update(&self.kinematics)?;
        let margin = self.margin(h);
        self.detector.detect(&self.kinematics, margin);
        if self.scene.step.gap == GapLevel::Velocity {
            self.detector.keep_closed(state, CLOSED);
        }

        // v + h M^-1 f: what happens without contact
        let rows = &mut self.rows;
        rows.force.resize(state.velocity.len(), 0.0);
        self.kinematics.bias(self.scene.gravity, &mut rows.force);
        load::add_applied(&self.scene, &self.kinematics, state.time, &mut rows.force);
        self.mass.solve(&mut rows.force);
        rows.free.clear();
        rows.free.extend(state.velocity.iter().zip(&rows.force).map(|(v, a)| v + h * a));

        self.remember(state);
        self.rows.assemble(&self.scene, &self.detector, &self.kinematics, &self.mass, state, &self.delta, h);
        let lambda = self.solve(state.time, h, report)?;

        // v+ = v + M^-1 (h f + h W' lambda)
        let rows = &mut self.rows;
        rows.push_back(&lambda, h);
        let v_theta: Vec<f64> =
            state.velocity.iter().zip(&rows.free).map(|(v, w)| explicit * v + (1.0 - explicit) * w).collect();
        let mut position = vec![0.0; state.position.len()];
        self.kinematics.system().advance(&state.position, &v_theta, h, &mut position);
        self.advance_deformation(state, &lambda, h, report);
        self.tell(&lambda, h, report);
        state.position = position;
        state.velocity.copy_from_slice(&self.rows.free);
        state.time += h;
        Ok(())
    }

    /// How far apart shapes can be and still meet within a step.
    fn margin(&self, h: f64) -> f64 {
        let fall = h * length(self.scene.gravity);
        let fastest = (0..self.scene.bodies.len()).map(|i| {
            let (v, omega) = self.kinematics.velocity(i);
            length(v) + length(omega) * self.reaches[i]
        });
        4.0 * h * (fastest.fold(0.0, f64::max) + fall) + CLOSED
    }

    /// Deformations of all elements before the step; new contacts are undeformed.
    fn remember(&mut self, state: &State) {
        self.delta.clear();
        let per = self.rows.per_element(&self.scene);
        for c in &self.detector.contacts {
            match state.deformation(c.id) {
                Some(known) if known.len() == per * c.count => self.delta.extend_from_slice(known),
                _ => self.delta.resize(self.delta.len() + per * c.count, 0.0),
            }
        }
    }

    /// The contact forces, by Lemke from the last basis where the contacts are the same.
    fn solve(&mut self, time: f64, h: f64, report: &mut StepReport) -> Result<Vec<f64>, Failed> {
        if self.rows.b.is_empty() {
            self.warm.0.clear();
            return Ok(vec![]);
        }
        let friction = match self.scene.step.friction {
            FrictionKind::Polygon { sides } => Friction::Polygon { sides },
            _ => Friction::Pyramid,
        };
        let invalid = |e: String| Failed::Model(InvalidModel(format!("t = {time} s: {e}")));
        let problem = FrictionProblem::new(
            self.rows.a.clone(),
            self.rows.b.clone(),
            self.rows.mu.clone(),
            self.rows.per_element(&self.scene),
            friction,
        )
        .map_err(|e| invalid(e.to_string()))?;
        let converted = match friction {
            Friction::Pyramid => problem.as_slack_lcp(),
            _ => problem.as_polygon_lcp(),
        }
        .map_err(|e| invalid(e.to_string()))?;
        let same = self.detector.contacts.iter().map(|c| c.id).eq(self.warm.0.iter().copied());
        let warm = same.then_some(&self.warm.1[..]);
        let outcome = self.lemke.solve(&converted.problem, warm, &mut |_| ());
        report.iterations += outcome.pivots;
        let mut lambda = converted.forces(self.lemke.solution());
        let mut judged = residual::friction(&problem, &lambda);
        let tolerance = self.scene.step.tolerance;
        let by_lemke = outcome.end == End::Solved && judged.relative <= tolerance;
        if !by_lemke {
            let settings = interior_point::Settings { tolerance, ..Default::default() };
            let second = interior_point::solve(&converted.problem, &settings, &mut |_| ());
            report.iterations += second.iterations;
            if second.solution.len() == converted.problem.size() {
                lambda = converted.forces(&second.solution);
                judged = residual::friction(&problem, &lambda);
            }
            if judged.relative > tolerance {
                return Err(Failed::Unsolved { time, h, end: outcome.end, residual: judged.relative });
            }
            report.by_interior_point += 1;
        }
        if judged.relative > report.residual.relative {
            report.residual = judged;
        }
        self.warm.0.clear();
        self.warm.1.clear();
        if by_lemke {
            self.warm.0.extend(self.detector.contacts.iter().map(|c| c.id));
            self.warm.1.extend_from_slice(self.lemke.active());
        }
        report.parts += 1;
        Ok(lambda)
    }

    /// Deformations after the step, kept in the state for compliant contacts.
    fn advance_deformation(&mut self, state: &mut State, lambda: &[f64], h: f64, report: &mut StepReport) {
        let per = self.rows.per_element(&self.scene);
        self.after.clear();
        self.after.resize(self.delta.len(), 0.0);
        state.memory.clear();
        for c in &self.detector.contacts {
            let Some(compliance) = &self.detector.rules[c.rule].compliance else { continue };
            let rows = per * c.first..per * (c.first + c.count);
            compliance.deformation_after(
                &lambda[rows.clone()],
                &self.delta[rows.clone()],
                &mut self.after[rows.clone()],
            );
            let rate: Vec<f64> = rows.clone().map(|i| (self.after[i] - self.delta[i]) / h).collect();
            let mut damping = vec![0.0; rate.len()];
            compliance.damping_times(&rate, &mut damping);
            report.damping_loss += h * rate.iter().zip(&damping).map(|(a, b)| a * b).sum::<f64>();
            state.memory.push(Memory { id: c.id, deformation: self.after[rows].to_vec() });
        }
    }

    /// What the elements did.
    fn tell(&mut self, lambda: &[f64], h: f64, report: &mut StepReport) {
        self.elements.clear();
        let per = self.rows.per_element(&self.scene);
        let s = self.rows.speed(lambda);
        let still = STILL * self.rows.fastest;
        let pick = |v: &[f64], at: usize| [v[at], v[at + 1], if per == 3 { v[at + 2] } else { 0.0 }];
        for c in &self.detector.contacts {
            for k in c.first..c.first + c.count {
                let (force, mut speed) = (pick(lambda, per * k), pick(&s, per * k));
                speed[0] -= self.rows.gap[k] / h;
                report.friction_loss -= h * (force[1] * speed[1] + force[2] * speed[2]);
                let status = match () {
                    () if force[0] <= 0.0 => Status::Open,
                    () if speed[1].hypot(speed[2]) <= still => Status::Stick,
                    () => Status::Slip,
                };
                self.elements.push(ElementReport {
                    id: c.id,
                    element: k - c.first,
                    body_a: self.detector.parts[c.id.part_a as usize].owner,
                    body_b: self.detector.parts[c.id.part_b as usize].owner,
                    point: self.detector.elements[k].point,
                    frame: c.frame,
                    gap: self.rows.gap[k],
                    force,
                    speed,
                    deformation: pick(&self.after, per * k),
                    status,
                });
            }
        }
    }
}
