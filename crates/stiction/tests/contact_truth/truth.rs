//! The true signed distance of every pair, taken anew from where bodies are: at the end of steps, and all along free flights.

use stiction::dynamics::Kinematics;
use stiction::geometry::{Touch, Workspace, bounding_box, distance};
use stiction::model::{Model, Owner, Part};
use stiction::space::{Pose, Quaternion, Vector, add, length, scale};
use stiction::state::State;
use stiction::step::ElementReport;

/// Force below which nothing pushes, over the largest in the step.
const PUSHES: f64 = 1e-9;

/// What is wrong in a step.
#[derive(Debug, Clone)]
pub struct Wrong {
    pub time: f64,
    pub pair: [String; 2],
    /// Distance at the end of the step, m.
    pub gap: f64,
    /// Distance at its start.
    pub before: f64,
    /// Force, N; 0 if there is none.
    pub force: f64,
    /// Way of the two past each other in the step, at the most, m.
    pub way: f64,
}

/// Distances of all pairs of a model at a state.
pub struct Truth {
    kinematics: Kinematics,
    touching: Workspace,
    found: Vec<Touch>,
    poses: Vec<Pose>,
    fastest: Vec<f64>,
    last: Vec<((u32, u32), f64)>,
    now: Vec<((u32, u32), f64)>,
    pub pushes: Vec<Wrong>,
    pub missed: Vec<Wrong>,
    pub steps: usize,
}

impl Truth {
    pub fn new(model: &Model) -> Self {
        Self {
            kinematics: Kinematics::new(model.system()),
            touching: Workspace::default(),
            found: vec![],
            poses: vec![],
            fastest: vec![],
            last: vec![],
            now: vec![],
            pushes: vec![],
            missed: vec![],
            steps: 0,
        }
    }

    /// Distances up to `near` of all pairs that can touch.
    fn measure(&mut self, model: &Model, state: &State, near: f64) {
        self.kinematics.go_to(&state.position, &state.velocity);
        self.poses.clear();
        self.fastest.clear();
        for part in model.parts() {
            let (pose, fastest) = match part.owner {
                Owner::Body(i) => {
                    let (v, w) = self.kinematics.velocity(i);
                    (
                        self.kinematics.pose(i).then(&part.local),
                        length(v) + length(w) * model.reaches()[i].min(1e3),
                    )
                }
                Owner::World(i) if model.scene().world[i].motion.is_some() => {
                    (model.scene().world[i].pose(state.time), 0.0)
                }
                Owner::World(_) => (part.local, 0.0),
            };
            self.poses.push(pose);
            self.fastest.push(fastest);
        }
        let boxes: Vec<_> = model
            .parts()
            .iter()
            .zip(&self.poses)
            .map(|(p, pose)| bounding_box(&p.solid, pose, near))
            .collect();
        self.now.clear();
        for i in 0..boxes.len() {
            for j in i + 1..boxes.len() {
                if !boxes[i].meets(&boxes[j]) {
                    continue;
                }
                let Some(((a, b), _)) = model.contacts().find([i as u32, j as u32]) else { continue };
                let side = |k: u32| (&model.parts()[k as usize].solid, &self.poses[k as usize]);
                if let Some((_, gap)) = distance(side(a), side(b), near, &mut self.touching, &mut self.found)
                {
                    self.now.push(((a, b), gap));
                }
            }
        }
        self.now.sort_unstable_by_key(|k| k.0);
    }

    /// Begins at a state.
    pub fn begin(&mut self, model: &Model, state: &State) {
        self.measure(model, state, 0.1);
        std::mem::swap(&mut self.now, &mut self.last);
    }

    /// After a step: rigid contacts that push where nothing touches, and pairs that overlap more than before.
    pub fn after(&mut self, model: &Model, elements: &[ElementReport], state: &State, tolerance: f64) {
        self.steps += 1;
        self.measure(model, state, 0.1);
        let h = model.scene().step.h;
        let most = elements.iter().fold(0.0f64, |m, e| m.max(e.force[0]));
        let wrong = |parts: (u32, u32), gap: f64, before: f64, force: f64| Wrong {
            time: state.time,
            pair: [parts.0, parts.1].map(|p| model.parts()[p as usize].name.clone()),
            gap,
            before,
            force,
            way: h * (self.fastest[parts.0 as usize] + self.fastest[parts.1 as usize]),
        };
        let is_rigid = |parts: (u32, u32)| {
            let found = model.contacts().find([parts.0.min(parts.1), parts.0.max(parts.1)]);
            let rule = found.map(|f| &model.contacts().rules()[f.1]);
            rule.is_some_and(|r| r.compliance.is_none() && r.layers.is_empty() && r.auto.is_none())
        };
        let at = |list: &[((u32, u32), f64)], parts: (u32, u32)| {
            list.binary_search_by_key(&parts, |k| k.0).map_or(f64::INFINITY, |k| list[k].1)
        };
        let mut known: Vec<((u32, u32), f64)> = vec![];
        for e in elements.iter().filter(|e| e.force[0] > PUSHES * most) {
            let parts = (e.id.part_a, e.id.part_b);
            match known.iter_mut().find(|k| k.0 == parts) {
                Some(k) => k.1 += e.force[0],
                None => known.push((parts, e.force[0])),
            }
        }
        for &(parts, force) in &known {
            let gap = at(&self.now, parts);
            if is_rigid(parts) && gap > tolerance {
                self.pushes.push(wrong(parts, gap, at(&self.last, parts), force));
            }
        }
        for &(parts, gap) in &self.now {
            let before = at(&self.last, parts);
            if is_rigid(parts) && gap < -tolerance && gap < before.min(0.0) - 0.1 * tolerance {
                let force = known.iter().find(|k| k.0 == parts).map_or(0.0, |k| k.1);
                self.missed.push(wrong(parts, gap, before, force));
            }
        }
        std::mem::swap(&mut self.now, &mut self.last);
    }
}

/// A body in free flight: from a pose, with a velocity and an angular velocity that stay.
pub struct Flight<'m> {
    pub part: &'m Part,
    pub from: Pose,
    pub velocity: Vector,
    pub spin: Vector,
}

impl Flight<'_> {
    fn at(&self, time: f64) -> Pose {
        let attitude = Quaternion::turn(scale(time, self.spin)).after(self.from.attitude).unit();
        let own = Pose { position: add(self.from.position, scale(time, self.velocity)), attitude };
        own.then(&self.part.local)
    }
}

/// The least distance of two bodies in free flight up to a time, by conservative advancement: nothing happens for a gap over the largest velocity of approach.
pub fn least_distance(flights: [&Flight<'_>; 2], speed: f64, until: f64) -> f64 {
    let (mut work, mut found) = (Workspace::default(), vec![]);
    let (mut time, mut least) = (0.0, f64::INFINITY);
    let finest = 1e-7 / speed;
    while time < until {
        let poses = flights.map(|f| f.at(time));
        let [a, b] = flights.map(|f| &f.part.solid);
        let Some((_, gap)) = distance((a, &poses[0]), (b, &poses[1]), f64::MAX, &mut work, &mut found) else {
            return f64::NAN;
        };
        least = least.min(gap);
        if gap < -1e-3 {
            break;
        }
        time += (0.9 * gap.abs() / speed).max(finest);
    }
    least
}
