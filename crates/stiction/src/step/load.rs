//! Applied forces: loads, springs and dampers, motors. Springs keep energy; all others do work from outside.

use crate::dynamics::Kinematics;
use crate::inputs::Inputs;
use crate::model::Resolved;
use crate::model::resolved::{End, Spring};
use crate::scene::Axes;
use crate::space::{Vector, dot, length, scale, sub};

/// Adds the forces of loads, motors, the dampers of springs and inputs at `time` to the generalised force `f`.
pub(super) fn add_outside(
    scene: &Resolved,
    kinematics: &Kinematics,
    inputs: &Inputs,
    time: f64,
    f: &mut [f64],
) {
    for load in &scene.loads {
        let pose = kinematics.pose(load.body);
        let (mut force, mut torque) = (load.force.at(time), load.torque.at(time));
        if load.axes == Axes::Body {
            (force, torque) = (pose.attitude.apply(force), pose.attitude.apply(torque));
        }
        kinematics.add_wrench(load.body, pose.point(load.point), force, torque, f);
    }
    for spring in scene.springs.iter().filter(|s| s.damping != 0.0) {
        add_along(kinematics, spring, |_, rate| spring.damping * rate, f);
    }
    for (k, motor) in scene.motors.iter().enumerate() {
        let target = inputs.targets.get(k).copied().flatten();
        f[kinematics.system().dofs(motor.body).start] += target.unwrap_or_else(|| motor.effort.at(time));
    }
    for w in &inputs.wrenches {
        kinematics.add_wrench(w.body, kinematics.pose(w.body).point(w.point), w.force, w.torque, f);
    }
    f.iter_mut().zip(&inputs.efforts).for_each(|(f, effort)| *f += effort);
}

/// Adds the forces of springs to the generalised force `f`.
pub(super) fn add_springs(scene: &Resolved, kinematics: &Kinematics, f: &mut [f64]) {
    for spring in &scene.springs {
        add_along(kinematics, spring, |l, _| spring.stiffness * (l - spring.rest_length), f);
    }
}

/// Adds a pull, given length and its rate, along a spring.
fn add_along(kinematics: &Kinematics, spring: &Spring, pull: impl Fn(f64, f64) -> f64, f: &mut [f64]) {
    let [(p, v), (q, w)] = spring.ends.map(|end| place(kinematics, end));
    let across = sub(q, p);
    let l = length(across);
    if l > 0.0 {
        let axis = scale(1.0 / l, across);
        let pull = pull(l, dot(axis, sub(w, v)));
        for (end, at, sign) in [(spring.ends[0], p, 1.0), (spring.ends[1], q, -1.0)] {
            if let Some(body) = end.body {
                kinematics.add_wrench(body, at, scale(sign * pull, axis), [0.0; 3], f);
            }
        }
    }
}

/// Energy in the springs, J.
pub(super) fn spring_energy(scene: &Resolved, kinematics: &Kinematics) -> f64 {
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
