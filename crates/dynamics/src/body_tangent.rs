//! Derivative of a free body's drift (`drift.rs`).

use super::Kinematics;
use super::drift_tangent::{Stencil, combine};
use super::joint::{attitude, three};
use super::kinematics::rotation;
use super::tangent::left_jacobian;
use crate::space::{Quaternion, Tensor, Vector, add, cross, length, scale, sub, times, transpose_times};
use complementarity::matrix::Matrix;

/// Derivative of the drift of one free body, over `h` from the state of `begin` with `theta` for `v_theta` and `after` for `v'`.
/// Rows: `xi`, `v`. Columns: `xi`, `v_theta`, `v'`, parameters of the inertias.
pub fn body_derivative(
    begin: &Kinematics,
    t: usize,
    h: f64,
    (theta, after): (&[f64], &[f64]),
    parameters: &[Stencil<'_>],
) -> Matrix {
    let system = begin.system();
    let tree = &system.model.trees[t];
    let (body, state) = (&system.model.bodies[tree.bodies.start], &begin.states[tree.bodies.start]);
    let tensor = body.inertia.tensor;
    // the motion itself, with what its derivative needs
    let (c, spin_world, turned_world) = (state.center, three(theta, 3), three(after, 3));
    let momentum = state.central.times(turned_world);
    let spin = transpose_times(&state.rotation, spin_world);
    let parts = super::drift::turns(h, spin);
    let part = h / parts as f64;
    let mut own = times(&tensor, spin);
    let mut omega = spin;
    let mut turned = attitude(&begin.configuration()[body.coordinates()], 3);
    let mut pieces = vec![];
    for _ in 0..parts {
        let before = rotation(body.mount.attitude.after(turned));
        let next;
        (omega, next) = super::drift::mean_spin(&tensor, part, own, omega);
        pieces.push((before, own, omega, next));
        turned = turned.after(Quaternion::turn(scale(part, omega)));
        own = next;
    }
    let end = rotation(body.mount.attitude.after(turned.unit()));
    let center = times(&end, body.inertia.center);
    let inverse = |x: Vector| transpose_times(&body.root, times(&body.root, x));
    let inverse_world = |x: Vector| times(&end, inverse(transpose_times(&end, x)));
    let angular = inverse_world(momentum);

    let columns = 18 + parameters.len();
    let mut out = Matrix::zeros(12, columns);
    for j in 0..columns {
        let unit = |block: usize| -> ([f64; 3], [f64; 3]) {
            let at = |k: usize| f64::from(u8::from(j == 6 * block + k));
            ([at(0), at(1), at(2)], [at(3), at(4), at(5)])
        };
        let ((shift, turn), (dtheta, dspin), (dafter, dturned)) = (unit(0), unit(1), unit(2));
        let (mut dtensor, mut doffset): (Tensor, Vector) = ([[0.0; 3]; 3], [0.0; 3]);
        if let Some((systems, e)) = j.checked_sub(18).map(|k| parameters[k]) {
            let inertia = systems.each_ref().map(|s| s.model.bodies[tree.bodies.start].inertia);
            let of = |f: &dyn Fn(usize) -> f64| combine(std::array::from_fn(f), e);
            dtensor = std::array::from_fn(|r| std::array::from_fn(|s| of(&|k| inertia[k].tensor[r][s])));
            doffset = std::array::from_fn(|r| of(&|k| inertia[k].center[r]));
        }
        let in_world = |m: &Tensor, r: &Tensor, x: Vector| times(r, times(m, transpose_times(r, x)));
        let dc = add(cross(turn, c), times(&state.rotation, doffset));
        let dmomentum = add(
            add(cross(turn, momentum), state.central.times(sub(dturned, cross(turn, turned_world)))),
            in_world(&dtensor, &state.rotation, turned_world),
        );
        let body_spin = transpose_times(&state.rotation, sub(dspin, cross(turn, spin_world)));
        let mut down = add(times(&tensor, body_spin), times(&dtensor, spin));
        let mut rotated = turn;
        for (before, _, omega, next) in &pieces {
            let back = Quaternion::turn(scale(-part, *omega));
            let carried = back.apply(down);
            // (I - h/2 [Pi+]x J(-h Omega)) dOmega = (dPi + E dPi)/2 - dI Omega
            let right = sub(scale(0.5, add(down, carried)), times(&dtensor, *omega));
            let matrix = [0, 1, 2].map(|k| {
                let axis: Vector = std::array::from_fn(|i| f64::from(u8::from(i == k)));
                let turning = cross(*next, left_jacobian(scale(-part, *omega), axis));
                sub([tensor[0][k], tensor[1][k], tensor[2][k]], scale(0.5 * part, turning))
            });
            let domega = super::drift::solve(matrix, right);
            down = add(carried, scale(part, cross(*next, left_jacobian(scale(-part, *omega), domega))));
            let moved = left_jacobian(scale(part, *omega), domega);
            rotated = add(rotated, scale(part, times(before, moved)));
        }
        let dcenter = add(cross(rotated, center), times(&end, doffset));
        let drifted = add(dtheta, add(cross(dspin, c), cross(spin_world, dc)));
        let place = add(shift, add(scale(h, drifted), sub(dc, dcenter)));
        let dangular = add(
            cross(rotated, angular),
            inverse_world(sub(sub(dmomentum, cross(rotated, momentum)), in_world(&dtensor, &end, angular))),
        );
        let dgoing = add(dafter, add(cross(dturned, c), cross(turned_world, dc)));
        let linear = sub(sub(dgoing, cross(dangular, center)), cross(angular, dcenter));
        for k in 0..3 {
            out[(k, j)] = place[k];
            out[(3 + k, j)] = rotated[k];
            out[(6 + k, j)] = linear[k];
            out[(9 + k, j)] = dangular[k];
        }
    }
    debug_assert!(length(angular).is_finite() || !length(momentum).is_finite());
    out
}
