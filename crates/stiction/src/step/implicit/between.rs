//! Whether a pair of parts passed through each other within a step whose end is good.
//!
//! Points of the two bodies approach each other at most at a velocity `L`, so that a pair with the gaps `g0` and `g1` at the ends of the step cannot have met if
//! `g0 + g1 >= L h`. Else the way is followed: from a time at which the gap is `g` nothing happens for `g / L` (conservative advancement).

use super::super::detect::Undetected;
use super::super::{Failed, Workspace};
use super::{Scratch, size};
use crate::dynamics::Kinematics;
use crate::geometry::touches;
use crate::inputs::Inputs;
use crate::model::{Model, Owner};
use crate::motion::CLOSED;
use crate::state::{ContactId, State};

/// Overlap on the way, over the size of the smaller body, that is let pass: contacts that graze.
const GRAZE: f64 = 1e-3;
/// Gap, over the size of the smaller body, up to which a pair touches.
const TOUCHING: f64 = 1e-6;
/// Evaluations of a pair at the most; the shortest way between two is this share of the step.
const MOST: usize = 64;

/// # Errors
/// If a pair overlaps on the way: a shorter step meets it at its end.
pub(super) fn check(
    model: &Model,
    state: &State,
    inputs: &Inputs,
    work: &mut Workspace,
) -> Result<(), Failed> {
    let h = work.motion.h;
    let scratch = &mut work.implicit;
    let Scratch { surfaces, touching, found, path, half, .. } = scratch;
    surfaces.clone_from(&work.motion.surfaces);
    let carried = surfaces.fastest(&work.motion.kinematics, model.reaches());
    for pair in scratch.begin.chunk_by(|a, b| parts(a.0) == parts(b.0)) {
        let numbers = parts(pair[0].0);
        let [a, b] = numbers.map(|k| &model.parts()[k as usize]);
        let owners = [a.owner, b.owner];
        let begin = pair.iter().map(|b| b.1).fold(f64::INFINITY, f64::min);
        // a pair that touches when the step begins is kept apart there
        if begin <= TOUCHING * size(model, owners) {
            continue;
        }
        let layers = scratch
            .soft
            .iter()
            .filter(|s| parts(s.id) == numbers)
            .map(|s| s.before.iter().map(|d| d[0]).sum::<f64>().max(s.compression()))
            .fold(0.0, f64::max);
        let velocity = |owner: Owner| match owner {
            Owner::Body(i) => work.motion.fastest[i],
            Owner::World(_) => carried,
        };
        let fastest = 1.5 * (velocity(owners[0]) + velocity(owners[1]))
            + h * crate::space::length(model.scene().gravity);
        if begin >= fastest * h || fastest <= 0.0 {
            continue;
        }
        let graze = GRAZE * size(model, owners);
        let path = path.get_or_insert_with(|| Kinematics::new(model.system()));
        let (mut time, mut gap) = (0.0, begin);
        for _ in 0..MOST {
            time += (gap.max(0.0) / fastest).max(h / MOST as f64);
            if time >= h {
                break;
            }
            half.resize(state.position.len(), 0.0);
            model.system().advance(&state.position, &scratch.mean, time, half);
            path.go_to(half, &scratch.mean);
            surfaces.place(model, inputs, state.time + time, time / h);
            let pose = |part: &crate::model::Part| match part.owner {
                Owner::Body(i) => path.pose(i).then(&part.local),
                Owner::World(_) => surfaces.pose(part.owner).unwrap_or(part.local),
            };
            found.clear();
            let margin = fastest * h + CLOSED;
            if touches(&a.solid, &pose(a), &b.solid, &pose(b), margin, touching, found).is_err() {
                let names = [a.name.clone(), b.name.clone()];
                return Err(Undetected { time: state.time + time, names }.into());
            }
            gap = found.iter().map(|t| t.gap).fold(margin, f64::min);
            if gap < -(graze + layers) {
                let names = format!("'{}' and '{}'", a.name, b.name);
                return Err(Failed::Passes { time: state.time, h, names, depth: -gap });
            }
        }
    }
    Ok(())
}

/// The two parts that a contact is between.
fn parts(id: ContactId) -> [u32; 2] {
    [id.part_a, id.part_b]
}
