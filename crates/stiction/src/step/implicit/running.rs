//! Contact points that run: unknowns of the step where surfaces are nearly flat.
//!
//! On a nearly flat spot the closest point runs far for a small turn, up to where no turn determines it: the middle of a superellipsoid's face with the
//! exponent `p` is at `x ~ turn^(1/(p-1))`. Eliminated, it has no derivative there, and rounding of an angle moves it by micrometres. As an unknown of the step,
//! as in chakraborty2007 (9), (14), it is determined by the balance of moments, and the turn by it.
//!
//! Let `P` be the point on one body (the follower), `x` its foot on the other (the leader), `n` the leader's outward normal at `x`, `g` the follower's at `P`, and
//! `S` the sum of both shape operators. The surfaces are parallel if `m = n + g` vanishes. When the follower turns by `phi` and `P` moves by `tau`,
//!
//! ```text
//! S tau = phi x n - m            hence, with L = S^-1 and phi = h (w - w_k),      tau = L (h (w - w_k) x n - m)                         (1)
//! M (v - v_k) = h W' lambda - p_k + h J_w' (tau x lambda_k n)                     p_k: momentum of the contact forces at v_k            (2)
//! (M + h^2 J_w' K J_w) (v - v_k) = h W' lambda - p_k - h J_w' (L m x lambda_k n)  K w = lambda_k n x L (w x n)                          (3)
//! ```
//!
//! (3) is the contact problem of an iteration, with a rotational inertia `h^2 K` added; (1) then moves the point, and (2) gives the momentum there. The end is accepted
//! where surfaces are parallel ([`PARALLEL`]). The follower is the body with less inertia. That the leader turns, and the moment that a moved point has on it, enter in the next
//! iteration; a step is only accepted once that moment is nothing, too.

use super::super::detect::Detection;
use super::secant::DEPTH;
use crate::contact::set::{Contact, ContactSet};
use crate::dynamics::Kinematics;
use crate::formulation::ContactProblem;
use crate::geometry::Solid;
use crate::geometry::implicit::{feature, sheet};
use crate::model::{Model, Owner};
use crate::space::{Frame, Pose, Tensor, Vector, add, cross, dot, length, scale, sub, unit};
use crate::state::ContactId;

/// A point is an unknown from this radius of curvature on, over the follower's size, and from this `h^2 lambda L` over its inertia; radii count up to [`FLATTEST`] of
/// that.
const FLAT: f64 = 5.0;
const RUNS: f64 = 0.2;
const FLATTEST: f64 = 1e3;
/// Angle between surfaces that touch at the end of a step, rad.
const PARALLEL: f64 = 1e-12;
/// A point moves at most by this share of the follower's size in an iteration.
const FARTHEST: f64 = 0.2;
/// Share of a closest point's way by which its prediction from the curvatures may be off, for surfaces to count as regular.
const REGULAR: f64 = 0.1;
/// Iterations of a foot, and of a point that is brought back to its surface.
const FEET: usize = 20;

/// A contact of two smooth surfaces.
#[derive(Debug, Clone, Copy)]
struct Running {
    id: ContactId,
    /// 0: the first part follows, 1: the second.
    follower: usize,
    active: [u32; 2],
    /// `P` in the coordinates of its part.
    local: Vector,
    /// `P` after the iteration before, and how it changed from iteration to iteration, the newest first.
    last: Vector,
    changes: [Vector; DEPTH],
    /// Whether it is an unknown.
    runs: bool,
    /// `lambda_k`, N; bodies of follower and leader.
    force: f64,
    owners: [Owner; 2],
    /// `P`, halfway to `x`, `n`, `m` and the distance, at the last place of the bodies.
    point: Vector,
    middle: Vector,
    normal: Vector,
    mismatch: Vector,
    gap: f64,
    /// `L` by its directions and radii.
    directions: [Vector; 2],
    radii: [f64; 2],
}

impl Running {
    /// Where the force acts, for the share of the overlap that the first part takes.
    fn place(&self, share: f64) -> Vector {
        // the leader's normal points to the follower
        let out = [-1.0, 1.0][self.follower];
        add(self.middle, scale((share - 0.5) * self.gap * out, self.normal))
    }

    /// `L a`.
    fn roll(&self, a: Vector) -> Vector {
        let [d, e] = self.directions;
        add(scale(self.radii[0] * dot(d, a), d), scale(self.radii[1] * dot(e, a), e))
    }
}

/// The contacts of smooth surfaces in a step.
#[derive(Debug, Clone, Default)]
pub(super) struct Points {
    list: Vec<Running>,
    inertia: Vec<(usize, Tensor)>,
    /// Whether points have become unknowns, or are none any more, since the iteration before.
    pub changed: bool,
}

impl Points {
    /// Forgets all points.
    pub fn clear(&mut self) {
        self.list.clear();
        self.changed = false;
    }

    /// Whether a point is an unknown.
    pub fn any(&self) -> bool {
        self.list.iter().any(|r| r.runs)
    }

    /// Whether all surfaces are parallel where they touch.
    pub fn are_parallel(&self) -> bool {
        self.list.iter().filter(|r| r.runs).all(|r| length(r.mismatch) <= PARALLEL)
    }

    /// Follows the contacts that are found to where the bodies are now. `last` are those of the iteration before, with their forces.
    pub fn place(
        &mut self,
        model: &Model,
        detection: &Detection,
        found: &ContactSet,
        last: Option<(&ContactSet, &ContactProblem, &[f64])>,
        h: f64,
    ) {
        self.changed = false;
        self.list.retain(|r| found.contacts.binary_search_by_key(&r.id, |c| c.id).is_ok());
        for c in &found.contacts {
            let Some(closest) = detection.closest((c.id.part_a, c.id.part_b)) else { continue };
            // points of flat sides stay where they are on their bodies
            if feature(closest) != c.id.feature {
                continue;
            }
            let at = match self.list.iter().position(|r| r.id == c.id) {
                Some(at) => at,
                None => {
                    let Some(new) = start(model, c, closest.active) else { continue };
                    self.list.push(new);
                    self.list.len() - 1
                }
            };
            let own = &mut self.list[at];
            let part = [c.id.part_a, c.id.part_b][own.follower] as usize;
            let exact = detection.pose(part).local(closest.points[own.follower]);
            own.force = last.map_or(0.0, |(contacts, problem, lambda)| {
                let before = contacts.contacts.binary_search_by_key(&c.id, |c| c.id);
                before.map_or(0.0, |k| lambda[problem.rows_of(contacts.contacts[k].first).start].max(0.0))
            });
            if last.is_none() {
                own.local = exact;
            }
            let inertia = inertia_of(model, own.owners[0]);
            let longest = inertia / (h * h * own.force).max(f64::MIN_POSITIVE);
            let before = own.runs;
            own.runs = own.force > 0.0
                && evaluate(model, detection, own, FLATTEST * longest)
                && own.radii[0].max(own.radii[1])
                    > (RUNS * longest).max(FLAT * reach_of(model, own.owners[0]));
            if own.runs && !before {
                // where the surfaces are regular, the closest points of the bodies' new place are nearer to the end
                let way = sub(closest.points[own.follower], own.point);
                if length(add(way, own.roll(own.mismatch))) <= REGULAR * length(way) {
                    own.local = exact;
                    own.runs = evaluate(model, detection, own, FLATTEST * longest);
                }
            }
            if !own.runs {
                own.local = exact;
            }
            self.changed |= own.runs != before;
        }
    }

    /// Replaces the closest points of contacts whose points are unknowns.
    pub fn apply(&self, model: &Model, contacts: &mut ContactSet) {
        for r in self.list.iter().filter(|r| r.runs) {
            let Ok(k) = contacts.contacts.binary_search_by_key(&r.id, |c| c.id) else { continue };
            let c = &mut contacts.contacts[k];
            let n = scale([-1.0, 1.0][r.follower], r.normal);
            if !model.contacts().rules()[c.rule].is_anisotropic() {
                c.frame = Frame::new(n, [1.0, 0.0, 0.0]);
            }
            let element = &mut contacts.elements[c.first];
            (element.point, element.gap) = (r.place(c.share), r.gap);
        }
    }

    /// Replaces the points alone, in contacts of the iteration that led here.
    pub fn apply_points(&self, contacts: &mut ContactSet) {
        for r in self.list.iter().filter(|r| r.runs) {
            if let Ok(k) = contacts.contacts.binary_search_by_key(&r.id, |c| c.id) {
                let c = &contacts.contacts[k];
                contacts.elements[c.first].point = r.place(c.share);
            }
        }
    }

    /// The inertia `h^2 K` of (3), by bodies.
    pub fn inertia(&mut self, h: f64) -> &[(usize, Tensor)] {
        self.inertia.clear();
        for r in self.list.iter().filter(|r| r.runs) {
            let Owner::Body(body) = r.owners[0] else { continue };
            // K = lambda sum l (n x d)(n x d)'
            let mut k = [[0.0; 3]; 3];
            for (d, l) in r.directions.iter().zip(r.radii) {
                let a = cross(r.normal, *d);
                for i in 0..3 {
                    (0..3).for_each(|j| k[i][j] += h * h * r.force * l * a[i] * a[j]);
                }
            }
            self.inertia.push((body, k));
        }
        &self.inertia
    }

    /// Adds `h J_w' (L m x lambda_k n)` of (3) to a momentum.
    pub fn lean(&self, kinematics: &Kinematics, h: f64, momentum: &mut [f64]) {
        for r in self.list.iter().filter(|r| r.runs) {
            let moment = scale(h, cross(r.roll(r.mismatch), scale(r.force, r.normal)));
            add_moment(kinematics, r, moment, momentum);
        }
    }

    /// Moves the points by (1), where `change` has the velocities `v - v_k`, and adds their moments (2) to a momentum. Returns the velocity that the opposite moments
    /// would give to points of leaders, m/s.
    pub fn run(
        &mut self,
        model: &Model,
        detection: &Detection,
        (change, kinematics): (&Kinematics, &Kinematics),
        h: f64,
        momentum: &mut [f64],
    ) -> f64 {
        let mut left = 0.0f64;
        for r in self.list.iter_mut().filter(|r| r.runs) {
            let Owner::Body(body) = r.owners[0] else { continue };
            let turned = scale(h, change.velocity(body).1);
            let mut tau = r.roll(sub(cross(turned, r.normal), r.mismatch));
            let most = FARTHEST * reach_of(model, r.owners[0]);
            let far = length(tau);
            if far > most {
                tau = scale(most / far, tau);
            }
            let moment = scale(h, cross(tau, scale(r.force, r.normal)));
            add_moment(kinematics, r, moment, momentum);
            left = left.max(length(moment) * reach_of(model, r.owners[1]) / inertia_of(model, r.owners[1]));
            let part = [r.id.part_a, r.id.part_b][r.follower] as usize;
            let (solid, pose) = (&model.parts()[part].solid, detection.pose(part));
            r.local = on_surface(solid, r.active[r.follower], pose.local(add(r.point, tau)), most);
            r.changes.rotate_right(1);
            r.changes[0] = sub(r.local, r.last);
            r.last = r.local;
        }
        left
    }

    /// Extrapolates the points of a tree with the coefficients of its velocities ([`super::secant`]).
    pub fn extrapolate(&mut self, model: &Model, tree: usize, gamma: &[f64]) {
        for r in self.list.iter_mut().filter(|r| r.runs) {
            let Owner::Body(body) = r.owners[0] else { continue };
            if model.system().tree_of(body) == Some(tree) {
                let by = r.changes.iter().zip(gamma).fold([0.0; 3], |sum, (d, g)| add(sum, scale(*g, *d)));
                let part = [r.id.part_a, r.id.part_b][r.follower] as usize;
                let most = FARTHEST * reach_of(model, r.owners[0]);
                let solid = &model.parts()[part].solid;
                r.local = on_surface(solid, r.active[r.follower], sub(r.local, by), most);
            }
        }
    }
}

/// Brings a point near a surface back to it, both in coordinates of the part.
fn on_surface(solid: &Solid, active: u32, mut point: Vector, size: f64) -> Vector {
    for _ in 0..FEET {
        let Some(s) = sheet(solid, &Pose::IDENTITY, active, point) else { break };
        point = sub(point, scale(s.distance, s.normal));
        if s.distance.abs() <= f64::EPSILON * size {
            break;
        }
    }
    point
}

/// Adds a moment on the follower.
fn add_moment(kinematics: &Kinematics, r: &Running, moment: Vector, momentum: &mut [f64]) {
    if let Owner::Body(body) = r.owners[0] {
        kinematics.add_wrench(body, [0.0; 3], [0.0; 3], moment, momentum);
    }
}

/// A contact of two smooth surfaces, of which one is curved; `None` for edges and corners, and for two planes.
fn start(model: &Model, c: &Contact, active: [u32; 2]) -> Option<Running> {
    if active.iter().any(|a| a.count_ones() != 1) {
        return None;
    }
    let solids = [c.id.part_a, c.id.part_b].map(|k| &model.parts()[k as usize].solid);
    if solids.iter().any(|s| s.surfaces().len() > 32 || s.planar()) {
        return None;
    }
    let follower = usize::from(inertia_of(model, c.owners[0]) >= inertia_of(model, c.owners[1]));
    let zero = [0.0; 3];
    Some(Running {
        id: c.id,
        follower,
        active,
        local: zero,
        last: zero,
        changes: [zero; DEPTH],
        runs: false,
        force: 0.0,
        owners: [c.owners[follower], c.owners[1 - follower]],
        point: zero,
        middle: zero,
        normal: zero,
        mismatch: zero,
        gap: 0.0,
        directions: [zero; 2],
        radii: [0.0; 2],
    })
}

/// Moment of inertia that a body has at least, roughly, kg m^2; infinite for the world.
fn inertia_of(model: &Model, owner: Owner) -> f64 {
    let Owner::Body(body) = owner else { return f64::INFINITY };
    let tensor = &model.system().links()[body].inertia.tensor;
    0.5 * tensor[0][0].min(tensor[1][1]).min(tensor[2][2])
}

fn reach_of(model: &Model, owner: Owner) -> f64 {
    match owner {
        Owner::Body(body) if model.reaches()[body].is_finite() => model.reaches()[body],
        _ => 1.0,
    }
}

/// Foot, normal, mismatch and radii of a point where the bodies are now; false if there is none, or if both surfaces are planes. Radii are at most `longest`.
fn evaluate(model: &Model, detection: &Detection, r: &mut Running, longest: f64) -> bool {
    let parts = [r.id.part_a, r.id.part_b];
    let [(own, own_pose), (other, other_pose)] = [r.follower, 1 - r.follower].map(|side| {
        let part = parts[side] as usize;
        (&model.parts()[part].solid, detection.pose(part))
    });
    r.point = own_pose.point(r.local);
    let Some(follower) = sheet(own, &own_pose, r.active[r.follower], r.point) else { return false };
    let mut x = r.point;
    let Some(mut leader) = sheet(other, &other_pose, r.active[1 - r.follower], x) else { return false };
    let size = reach_of(model, r.owners[0]);
    for _ in 0..FEET {
        // on the surface, then below P along the normal there
        let foot = sub(x, scale(leader.distance, leader.normal));
        let aside = sub(r.point, foot);
        let next = sub(r.point, scale(dot(aside, leader.normal), leader.normal));
        let Some(found) = sheet(other, &other_pose, r.active[1 - r.follower], next) else { return false };
        let moved = length(sub(next, x));
        (x, leader) = (next, found);
        if moved <= 4.0 * f64::EPSILON * size {
            break;
        }
    }
    x = sub(x, scale(leader.distance, leader.normal));
    let n = leader.normal;
    r.normal = n;
    r.gap = dot(n, sub(r.point, x));
    r.middle = scale(0.5, add(r.point, x));
    let m = add(n, follower.normal);
    r.mismatch = sub(m, scale(dot(m, n), n));
    let frame = Frame::new(n, [1.0, 0.0, 0.0]);
    let entry = |a: Vector, b: Vector| {
        let of = |s: &Tensor| (0..3).map(|i| a[i] * dot(s[i], b)).sum::<f64>();
        of(&leader.curvature) + of(&follower.curvature)
    };
    let [a, b, c] = [entry(frame.t, frame.t), entry(frame.t, frame.o), entry(frame.o, frame.o)];
    let (middle, apart) = (0.5 * (a + c), (0.25 * (a - c) * (a - c) + b * b).sqrt());
    let (sin, cos) = (0.5 * (2.0 * b).atan2(a - c)).sin_cos();
    r.directions = [frame.in_plane([cos, sin]), frame.in_plane([-sin, cos])].map(unit);
    r.radii = [middle + apart, middle - apart].map(|s| (1.0 / s.max(f64::MIN_POSITIVE)).min(longest));
    !(leader.is_plane && follower.is_plane)
}
