//! Applied forces: loads, springs and dampers, motors. Springs keep energy; all others do work from outside.

use crate::Resolved;
use crate::dynamics::Kinematics;
use crate::inputs::Inputs;
use crate::scene::Axes;
use crate::scene::resolved::{Drive, End, Spring};
use crate::space::{Vector, dot, length, scale, sub};

/// Adds the forces of loads, motors, the dampers of springs and inputs at `time` to the generalised force `f`.
pub fn add_outside(scene: &Resolved, kinematics: &Kinematics, inputs: &Inputs, time: f64, f: &mut [f64]) {
    each_applied(scene, kinematics, time, &mut |body, point, force, torque| {
        kinematics.add_wrench(body, point, force, torque, f);
    });
    for spring in scene.springs.iter().filter(|s| s.damping != 0.0) {
        along(kinematics, spring, |_, rate| spring.damping * rate, &mut |body, point, force, torque| {
            kinematics.add_wrench(body, point, force, torque, f);
        });
    }
    for (k, motor) in scene.motors.iter().enumerate() {
        let Drive::Effort(effort) = &motor.drive else { continue };
        let target = inputs.targets.get(k).copied().flatten();
        let dof = kinematics.system().dofs(motor.body).start + motor.dof;
        f[dof] += target.unwrap_or_else(|| effort.at(time));
    }
    for w in &inputs.wrenches {
        kinematics.add_wrench(w.body, kinematics.pose(w.body).point(w.point), w.force, w.torque, f);
    }
    f.iter_mut().zip(&inputs.efforts).for_each(|(f, effort)| *f += effort);
}

/// Adds the forces of springs to the generalised force `f`.
pub fn add_springs(scene: &Resolved, kinematics: &Kinematics, f: &mut [f64]) {
    for spring in &scene.springs {
        along(
            kinematics,
            spring,
            |l, _| spring.stiffness * (l - spring.rest_length),
            &mut |body, at, force, torque| {
                kinematics.add_wrench(body, at, force, torque, f);
            },
        );
    }
}

/// Shows every force and torque of loads and springs at `time`: the body, the point in the world, force and torque in world axes.
pub fn each_load(
    scene: &Resolved,
    kinematics: &Kinematics,
    time: f64,
    each: &mut impl FnMut(usize, Vector, Vector, Vector),
) {
    each_applied(scene, kinematics, time, each);
    for spring in &scene.springs {
        let pull = |l: f64, rate: f64| spring.stiffness * (l - spring.rest_length) + spring.damping * rate;
        along(kinematics, spring, pull, each);
    }
}

/// The same of loads alone.
fn each_applied(
    scene: &Resolved,
    kinematics: &Kinematics,
    time: f64,
    each: &mut impl FnMut(usize, Vector, Vector, Vector),
) {
    for load in &scene.loads {
        let pose = kinematics.pose(load.body);
        let (mut force, mut torque) = (load.force.at(time), load.torque.at(time));
        if load.axes == Axes::Body {
            (force, torque) = (pose.attitude.apply(force), pose.attitude.apply(torque));
        }
        each(load.body, pose.point(load.point), force, torque);
    }
}

/// Shows the forces of a pull along a spring, given its length and the rate of that.
fn along(
    kinematics: &Kinematics,
    spring: &Spring,
    pull: impl Fn(f64, f64) -> f64,
    each: &mut impl FnMut(usize, Vector, Vector, Vector),
) {
    let [(p, v), (q, w)] = spring.ends.map(|end| place(kinematics, end));
    let across = sub(q, p);
    let l = length(across);
    if l > 0.0 {
        let axis = scale(1.0 / l, across);
        let pull = pull(l, dot(axis, sub(w, v)));
        for (end, at, sign) in [(spring.ends[0], p, 1.0), (spring.ends[1], q, -1.0)] {
            if let Some(body) = end.body {
                each(body, at, scale(sign * pull, axis), [0.0; 3]);
            }
        }
    }
}

/// Energy in the springs, J.
pub fn spring_energy(scene: &Resolved, kinematics: &Kinematics) -> f64 {
    let energy = |spring: &Spring| {
        let [(p, _), (q, _)] = spring.ends.map(|end| place(kinematics, end));
        0.5 * spring.stiffness * (length(sub(q, p)) - spring.rest_length).powi(2)
    };
    scene.springs.iter().map(energy).sum()
}

fn place(kinematics: &Kinematics, end: End) -> (Vector, Vector) {
    match end.body {
        None => (end.point, [0.0; 3]),
        Some(body) => {
            let at = kinematics.pose(body).point(end.point);
            (at, kinematics.point_velocity(body, at))
        }
    }
}
