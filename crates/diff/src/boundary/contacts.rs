//! How the rows and the force of a contact move with its bodies.

use super::derivative::Part;
use super::linearise::{Active, Step};
use crate::contact::Directions;
use crate::contact::set::Contact;
use crate::dynamics::{LinkChange, combine};
use crate::formulation::relative_row;
use crate::geometry::{self, Feature, Touch, Velocity, feature};
use crate::model::Owner;
use crate::space::{Frame, Vector, add, cross, dot, length, scale, sub};
use crate::step::carrier::added;

/// How far apart values are differentiated, m, rad, m/s or rad/s.
const NEAR: f64 = 1e-3;

impl Step<'_> {
    /// Rows of a contact, and how they and its force move with the bodies; false if its features have no derivative.
    pub(super) fn contact(
        &self,
        part: &mut Part,
        c: &Contact,
        own: &Active,
        work: &mut geometry::Workspace,
    ) -> bool {
        let (problem, system) = (&self.work.problem, self.model.system());
        let element = &self.work.contacts.elements[own.element];
        let at = element.point;
        let touch =
            Touch { point: c.middle(element), normal: c.frame.n, gap: element.gap, feature: c.id.feature };
        let sides = [c.id.part_a, c.id.part_b].map(|k| &self.model.parts()[k as usize]);
        let poses = sides.map(|p| match p.owner {
            Owner::Body(i) => self.middle.pose(i).then(&p.local),
            Owner::World(_) => p.local,
        });
        let found = feature(&sides[0].solid, &poses[0], &sides[1].solid, &poses[1], &touch, work);
        let links = c.owners.map(|o| match o {
            Owner::Body(i) => system.tree_of(i).map(|t| (i, t)),
            Owner::World(_) => None,
        });
        let axes = [c.frame.n, c.frame.t, c.frame.o];
        // velocities that the rows see: v_theta, or those at the end of the step
        let seen = [(&self.middle, &self.directions), (&self.ending.0, &self.ending.1)];
        let motions = seen.map(|(kinematics, _)| {
            links.map(|l| {
                l.map_or(([0.0; 3], [0.0; 3]), |(i, _)| {
                    (kinematics.point_velocity(i, at), kinematics.angular_velocity(i))
                })
            })
        });
        let rows = problem.rows_of(own.element);
        let late: Vec<usize> = rows.clone().map(|row| usize::from(problem.is_at_end(row))).collect();
        let lambda = &self.work.forces.lambda[problem.rows_of(own.element)];
        let mut wrench = [[0.0; 3]; 2];
        for (i, x) in lambda.iter().enumerate() {
            wrench[i / 3] = add(wrench[i / 3], scale(*x, axes[i % 3]));
        }
        let mut row = vec![0.0; part.n];
        for i in 0..own.rows {
            relative_row(&self.middle, c, at, (axes[i % 3], i >= 3), &mut row);
            for (_, t) in links.iter().flatten() {
                for j in system.trees()[*t].dofs.clone() {
                    let x = std::mem::take(&mut row[j]);
                    part.jacobian.add(own.first + i, j, x);
                    if late[i] == 1 {
                        part.slip_v.add(own.first + i, j, -part.theta * x);
                    }
                }
            }
        }
        let scaling = self.scaling(c, own);
        let mut trees: Vec<usize> = links.iter().flatten().map(|(_, t)| *t).collect();
        trees.dedup();
        for &t in &trees {
            let start = system.trees()[t].dofs.start;
            for (j, by) in self.directions.place(&self.middle, t).iter().enumerate() {
                let moves = |link: &Option<(usize, usize)>, point: Vector| match link {
                    Some((i, tree)) if *tree == t => self.middle.vary_link(*i, by, point),
                    _ => LinkChange::default(),
                };
                let solids = [0, 1].map(|k| {
                    let moved = moves(&links[k], poses[k].position);
                    Velocity { linear: moved.shift, angular: moved.turn }
                });
                let here = [0, 1].map(|k| moves(&links[k], at));
                let change = Moved::new(found.as_ref(), &solids, &here, c);
                let daxes = self.turn_frame(c, &change.normal, &solids);
                self.carried(part, (c, own), start + j, (at, change.point), &daxes);
                // velocities of the materials at the point, which moves too, with their changes: linear, angular
                let speeds = [0, 1].map(|which| {
                    if !late.contains(&which) {
                        return [([0.0; 3], [0.0; 3]); 2];
                    }
                    let (kinematics, directions) = seen[which];
                    let by = &directions.place(kinematics, t)[j];
                    let here = [0, 1].map(|k| match links[k] {
                        Some((i, tree)) if tree == t => kinematics.vary_link(i, by, at),
                        _ => LinkChange::default(),
                    });
                    let motion = motions[which];
                    let faster = [0, 1].map(|k| add(here[k].linear, cross(motion[k].1, change.point)));
                    [
                        (sub(motion[1].0, motion[0].0), sub(faster[1], faster[0])),
                        (sub(motion[1].1, motion[0].1), sub(here[1].angular, here[0].angular)),
                    ]
                });
                for i in 0..own.rows {
                    let (value, dvalue) = speeds[late[i]][usize::from(i >= 3)];
                    let mut ds = dot(daxes[i % 3], value) + dot(axes[i % 3], dvalue);
                    if i == 0 && own.free {
                        ds += problem.gap_share(rows.start) * change.gap / problem.h;
                    }
                    ds += scaling.get(i).map_or(0.0, |x| x * change.gap);
                    part.slip_q.add(own.first + i, start + j, ds);
                }
                let mut dwrench = [[0.0; 3]; 2];
                for (i, x) in lambda.iter().enumerate() {
                    dwrench[i / 3] = add(dwrench[i / 3], scale(*x, daxes[i % 3]));
                }
                for (k, sign) in [(0, -1.0), (1, 1.0)] {
                    let Some((link, tree)) = links[k] else { continue };
                    let dofs = system.trees()[tree].dofs.clone();
                    let mut out = vec![0.0; dofs.len()];
                    let by = if tree == t { by } else { self.directions.none(&self.middle, tree) };
                    let [acting, changed] = [wrench, dwrench].map(|w| w.map(|x| scale(sign, x)));
                    self.middle.vary_wrench(link, by, (at, change.point), acting, changed, &mut out);
                    for (x, i) in out.iter().zip(dofs) {
                        part.force_q.add(i, start + j, part.h * x);
                    }
                }
            }
        }
        found.is_some()
    }

    /// How what the turning of a carrier adds to the rows of a contact changes with one degree of freedom, as the point and the axes move with it.
    fn carried(
        &self,
        part: &mut Part,
        (c, own): (&Contact, &Active),
        dof: usize,
        (point, moved): (Vector, Vector),
        daxes: &[Vector; 3],
    ) {
        let (system, h) = (self.model.system(), part.h);
        let begin = (&self.before.position[..], &self.theta[..]);
        let Some(now) = added(self.model, c, point, begin, h) else { return };
        let mut unit = vec![0.0; part.n];
        unit[dof] = 1.0;
        let beside = |k: f64, velocity: bool| {
            let (e, mut place, mut fast) = (k * NEAR, begin.0.to_vec(), begin.1.to_vec());
            if velocity {
                fast[dof] += e;
                return added(self.model, c, point, (&place, &fast), h).unwrap_or(now);
            }
            system.advance(begin.0, &unit, e, &mut place);
            added(self.model, c, add(point, scale(e, moved)), (&place, &fast), h).unwrap_or(now)
        };
        let [by_place, by_velocity] = [false, true].map(|velocity| {
            let values = [-2.0, -1.0, 1.0, 2.0].map(|k| beside(k, velocity));
            [0, 1, 2].map(|i| combine(values.map(|v| v[i]), NEAR))
        });
        let axes = [c.frame.n, c.frame.t, c.frame.o];
        for i in 1..own.rows.min(self.work.problem.linear_rows) {
            part.slip_q.add(own.first + i, dof, dot(daxes[i], now) + dot(axes[i], by_place));
            part.turning.add(own.first + i, dof, dot(axes[i], by_velocity));
        }
    }

    /// Changes of the axes n, t, o of a contact whose normal changes.
    pub(super) fn turn_frame(&self, c: &Contact, dn: &Vector, solids: &[Velocity; 2]) -> [Vector; 3] {
        let contacts = self.model.contacts();
        if contacts.directions() == Directions::Planar {
            let dt = [dn[1], -dn[0], 0.0];
            return [*dn, dt, add(cross(*dn, c.frame.t), cross(c.frame.n, dt))];
        }
        let along = contacts.rules()[c.rule].given.grain.map(|grain| {
            let side = usize::from(grain.of != c.owners[0]);
            let direction = match grain.of {
                Owner::Body(i) => self.middle.pose(i).attitude.apply(grain.along),
                Owner::World(i) => self.model.scene().world[i].part.pose.attitude.apply(grain.along),
            };
            (direction, cross(solids[side].angular, direction))
        });
        frame_change(&c.frame, *dn, along)
    }

    /// Where the stiffness varies with the gap: changes of the rows of `s` per gap.
    pub(super) fn scaling(&self, c: &Contact, own: &Active) -> Vec<f64> {
        let Some(slope) = self.scale_slope(c) else { return vec![] };
        let (problem, work) = (&self.work.problem, self.work);
        let Some((_, e)) = problem.factors().patch(own.element) else { return vec![] };
        let lambda = &work.forces.lambda[problem.rows_of(own.element)];
        let rows = lambda.len();
        // E^-1 = E0^-1 / scale
        (0..rows).map(|i| -slope * (0..rows).map(|j| e[rows * i + j] * lambda[j]).sum::<f64>()).collect()
    }

    /// `d scale / d gap` over the scale, of a contact whose stiffness varies and is not at its least.
    pub(super) fn scale_slope(&self, c: &Contact) -> Option<f64> {
        let law = self.work.laws().of(self.model, c.rule).filter(|law| law.varies())?;
        let index = self.work.contacts.contacts.iter().position(|other| other.id == c.id)?;
        let gap = self.work.contacts.elements[c.first].gap;
        // an infinite mobility: no least stiffness
        let by_overlap = law.scale(-gap, f64::INFINITY);
        (gap < 0.0 && by_overlap == self.work.problem.scale[index]).then(|| 0.5 / gap)
    }
}

/// Motion of a contact's point, normal and gap.
pub(super) struct Moved {
    pub point: Vector,
    pub normal: Vector,
    pub gap: f64,
}

impl Moved {
    pub fn new(found: Option<&Feature>, solids: &[Velocity; 2], here: &[LinkChange; 2], c: &Contact) -> Self {
        match found {
            Some(feature) => {
                let rates = feature.rates(solids);
                Self { point: rates.point_at(c.share), normal: rates.normal, gap: rates.gap }
            }
            // carried along by both bodies alike
            None => {
                let (turn, n) = (scale(0.5, add(here[0].turn, here[1].turn)), c.frame.n);
                Self {
                    point: add(scale(1.0 - c.share, here[0].shift), scale(c.share, here[1].shift)),
                    normal: cross(turn, n),
                    gap: dot(n, sub(here[1].shift, here[0].shift)),
                }
            }
        }
    }
}

/// Changes of the axes of a frame with its normal; `along`: the direction of t, which may turn, and its change.
/// Without it t follows the world's x axis as `Frame::along_x` does.
pub(super) fn frame_change(frame: &Frame, dn: Vector, along: Option<(Vector, Vector)>) -> [Vector; 3] {
    let n = frame.n;
    let (axis, daxis) = along.unwrap_or_else(|| {
        let x = [1.0, 0.0, 0.0];
        let flat = sub(x, scale(dot(x, n), n));
        let chosen = if length(flat) > 1e-6 || n[0].abs() < 0.6 { x } else { [0.0, 1.0, 0.0] };
        (chosen, [0.0; 3])
    });
    let flat = sub(axis, scale(dot(axis, n), n));
    let dflat = sub(sub(daxis, scale(dot(daxis, n) + dot(axis, dn), n)), scale(dot(axis, n), dn));
    let dt = scale(1.0 / length(flat), sub(dflat, scale(dot(frame.t, dflat), frame.t)));
    [dn, dt, add(cross(dn, frame.t), cross(n, dt))]
}
