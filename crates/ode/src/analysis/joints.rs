//! Joints after a step: coordinates, velocities, efforts, and the force and moment that each transmits.
//!
//! Newton's and Euler's laws for what a joint carries, over one step of length h: with the momentum `p` and the angular momentum `L`
//! of each link (about its own centre of mass) at both ends of the step,
//!
//! ```text
//! F = sum of (p+ - p)/h - forces applied from outside
//! N = sum of (L+ - L)/h + r x (p+ - p)/h - their moments
//! ```
//!
//! over the link and all that it carries. `r` leads from the joint to the centre of mass, both in the middle of the step; what is applied from
//! outside, weight, loads, springs and contacts, acts where the step began, as it does in the step itself. What motors, limits, friction and springs of a
//! joint do is transmitted by the joint. Momenta are those that the step reached, so velocity products are in them.

use crate::dynamics::{Joint, Kinematics};
use crate::model::{Model, Owner, StandingKind};
use crate::motion::each_load;
use crate::scene::resolved::{Body, Drive};
use crate::space::{Vector, add, cross, dot, length, scale, sub, times, transpose_times};
use crate::state::State;
use crate::step::{StandingReport, Workspace};

/// A degree of freedom of a joint after a step; a fixed joint has one report without motion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JointReport {
    /// Body whose joint it is; of a loop the second body, or the first if that is the world.
    pub body: usize,
    /// Index of the loop, if it is one of its rows.
    pub loop_index: Option<usize>,
    /// Kind of the joint or loop.
    pub kind: &'static str,
    /// Number of the degree of freedom in the joint, or of the row in the loop.
    pub dof: usize,
    /// Coordinate at the end of the step, m or rad (of a loop what the row is open by); of a spherical joint a component of the rotation vector, in the axes of the mount.
    pub position: f64,
    /// Its rate at the end of the step, m/s or rad/s; of a spherical joint a component of the angular velocity, in the axes of the mount.
    pub velocity: f64,
    /// Effort of motors, limits, friction, springs and gears of the joint over the step, N or N m.
    pub effort: f64,
    /// Force that the joint transmits to the body, in world axes, mean over the step, N.
    pub force: Vector,
    /// Moment that it transmits, about the joint's mount point, in world axes, N m.
    pub moment: Vector,
}

/// Memory of [`joints`].
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    /// For each body, force and moment about the joint's mount point.
    transmitted: Vec<(Vector, Vector)>,
    applied: Vec<(Vector, Vector)>,
    /// Mount point of each body.
    mounts: Vec<Vector>,
}

/// Whether a body hangs on a joint that transmits anything.
pub fn has_joint(model: &Model, body: usize) -> bool {
    match model.scene().bodies[body].link.joint {
        Joint::Free => false,
        Joint::Planar => !model.scene().planar,
        _ => true,
    }
}

/// The joints after the step whose values `work` holds (of its last part, if it was cut), which ended at `state`, where `after` is.
/// Free bodies have none.
pub fn joints(
    model: &Model,
    work: &Workspace,
    state: &State,
    after: &Kinematics,
    scratch: &mut Scratch,
    out: &mut Vec<JointReport>,
) {
    transmit(model, work, after, scratch);
    out.clear();
    for (body, given) in model.scene().bodies.iter().enumerate().filter(|(i, _)| has_joint(model, *i)) {
        let (force, moment) = scratch.transmitted[body];
        let dofs = model.system().dofs(body);
        let (q, v) = (&state.position[model.system().coordinates(body)], &state.velocity[dofs.clone()]);
        let turn = if given.link.joint == Joint::Spherical { rotation_vector(q) } else { [0.0; 3] };
        let kind = given.link.joint.name();
        for dof in 0..dofs.len().max(1) {
            let position = if q.len() > v.len() { turn[dof] } else { q.get(dof).copied().unwrap_or(0.0) };
            let velocity = v.get(dof).copied().unwrap_or(0.0);
            let effort = effort(model, work, body, dof);
            let loop_index = None;
            out.push(JointReport { body, loop_index, kind, dof, position, velocity, effort, force, moment });
        }
    }
    add_loops(model, work, after, out);
}

/// Adds the rows of loops, with the force and moment of each loop on its second body.
fn add_loops(model: &Model, work: &Workspace, after: &Kinematics, out: &mut Vec<JointReport>) {
    let row_of = |row: &StandingReport| match model.standing()[row.row].kind {
        StandingKind::Loop { index, row } => Some((index, row)),
        _ => None,
    };
    for row in &work.standing {
        let Some((index, dof)) = row_of(row) else { continue };
        let given = &model.scene().loops[index];
        let (mut force, mut moment) = ([0.0; 3], [0.0; 3]);
        for other in work.standing.iter().filter(|r| row_of(r).is_some_and(|(i, _)| i == index)) {
            let Some((_, k)) = row_of(other) else { continue };
            let (axis, turns) = given.axis(&work.motion.kinematics, k);
            let sum = if turns { &mut moment } else { &mut force };
            *sum = add(*sum, scale(other.effort, axis));
        }
        let (position, velocity, effort) = (given.gap(after, dof), row.velocity, row.effort);
        let body = given.ends[1].body.or(given.ends[0].body).unwrap_or(0);
        let (loop_index, kind) = (Some(index), given.kind.name());
        out.push(JointReport { body, loop_index, kind, dof, position, velocity, effort, force, moment });
    }
}

/// Effort of motors and standing rows on a degree of freedom of a joint.
fn effort(model: &Model, work: &Workspace, body: usize, dof: usize) -> f64 {
    let motors = model.scene().motors.iter().zip(&work.motion.targets).filter(|(m, target)| {
        (m.body, m.dof) == (body, dof) && matches!(m.drive, Drive::Effort(_)) && target.end != 0.0
    });
    let place = model.system().dofs(body).start + dof;
    let rows = work.standing.iter().map(|row| {
        let standing = &model.standing()[row.row];
        let own = standing.joint.filter(|j| j.dof == place).map_or(0.0, |_| row.effort);
        own + standing.other.filter(|(j, _)| j.dof == place).map_or(0.0, |(_, factor)| factor * row.effort)
    });
    motors.map(|(_, target)| target.end).sum::<f64>() + rows.sum::<f64>()
}

/// Sets the forces and moments that the joints transmit.
fn transmit(model: &Model, work: &Workspace, after: &Kinematics, scratch: &mut Scratch) {
    let (scene, before, h) = (model.scene(), &work.motion.kinematics, work.motion.h);
    let Scratch { transmitted, applied, mounts } = scratch;
    let mount = |at: &Kinematics, body: &Body| {
        body.link.parent.map_or(body.link.mount.position, |p| at.pose(p).point(body.link.mount.position))
    };
    // applied from outside, where the step began
    mounts.clear();
    mounts.extend(scene.bodies.iter().map(|body| mount(before, body)));
    applied.clear();
    applied.resize(scene.bodies.len(), ([0.0; 3], [0.0; 3]));
    let mut apply = |body: usize, point: Vector, force: Vector, torque: Vector| {
        let (f, n) = &mut applied[body];
        *f = add(*f, force);
        *n = add(*n, add(torque, cross(sub(point, mounts[body]), force)));
    };
    for (i, body) in scene.bodies.iter().enumerate() {
        apply(i, before.center(i), scale(body.link.inertia.mass, scene.gravity), [0.0; 3]);
    }
    each_load(scene, before, work.motion.time, &mut apply);
    for row in &work.standing {
        if let StandingKind::Loop { index, row: k } = model.standing()[row.row].kind {
            scene.loops[index].each(before, k, row.effort, &mut apply);
        }
    }
    for e in &work.elements {
        let (force, moment) = (e.frame.world(e.force), e.frame.world(e.moment));
        for (owner, sign) in [(e.body_a, -1.0), (e.body_b, 1.0)] {
            if let Owner::Body(body) = owner {
                apply(body, e.point, scale(sign, force), scale(sign, moment));
            }
        }
    }
    carry(&scene.bodies, mounts, applied);
    // rates of momentum, in the middle of the step
    transmitted.clear();
    for (i, body) in scene.bodies.iter().enumerate() {
        mounts[i] = middle(mounts[i], mount(after, body));
        let [(p, l), (p_after, l_after)] = [before, after].map(|k| momentum(model, k, i));
        let force = scale(1.0 / h, sub(p_after, p));
        let arm = sub(middle(before.center(i), after.center(i)), mounts[i]);
        transmitted.push((force, add(scale(1.0 / h, sub(l_after, l)), cross(arm, force))));
    }
    carry(&scene.bodies, mounts, transmitted);
    for ((f, n), (force, moment)) in transmitted.iter_mut().zip(applied) {
        (*f, *n) = (sub(*f, *force), sub(*n, *moment));
    }
}

/// Adds force and moment of each body to those of the body it is mounted on, which comes before it.
fn carry(bodies: &[Body], mounts: &[Vector], wrenches: &mut [(Vector, Vector)]) {
    for (i, body) in bodies.iter().enumerate().rev() {
        if let Some(parent) = body.link.parent {
            let ((force, moment), arm) = (wrenches[i], sub(mounts[i], mounts[parent]));
            let (f, n) = &mut wrenches[parent];
            (*f, *n) = (add(*f, force), add(*n, add(moment, cross(arm, force))));
        }
    }
}

/// Momentum of a body, and its angular momentum about its centre of mass, in world axes.
fn momentum(model: &Model, kinematics: &Kinematics, body: usize) -> (Vector, Vector) {
    let inertia = &model.scene().bodies[body].link.inertia;
    let velocity = kinematics.point_velocity(body, kinematics.center(body));
    let rotation = kinematics.pose(body).attitude.matrix();
    let turning = transpose_times(&rotation, kinematics.angular_velocity(body));
    (scale(inertia.mass, velocity), times(&rotation, times(&inertia.tensor, turning)))
}

fn middle(a: Vector, b: Vector) -> Vector {
    scale(0.5, add(a, b))
}

/// Axis times angle of a unit quaternion, the angle from 0 to pi.
fn rotation_vector(q: &[f64]) -> Vector {
    let axis = [q[1], q[2], q[3]];
    let sin = length(axis);
    if dot(axis, axis) == 0.0 {
        return [0.0; 3];
    }
    scale(q[0].signum() * 2.0 * sin.atan2(q[0].abs()) / sin, axis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotation_vectors_are_those_of_the_quaternions() {
        for angle in [1e-9, 0.5, 3.0] {
            let q = crate::space::Quaternion::turn([0.0, angle, 0.0]).0;
            let found = rotation_vector(&q);
            assert!((found[1] - angle).abs() < 1e-15 * angle.max(1.0) && found[0] == 0.0, "{found:?}");
            // the same rotation
            assert_eq!(rotation_vector(&q.map(|x| -x)), found);
        }
        assert_eq!(rotation_vector(&[1.0, 0.0, 0.0, 0.0]), [0.0; 3]);
    }
}
