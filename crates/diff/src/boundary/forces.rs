//! Derivatives of the applied forces f with configuration and velocities: weight, loads, springs, wrenches of inputs.

use super::linear::Sparse;
use crate::dynamics::{Kinematics, LinkChange, System, Variation};
use crate::inputs::Inputs;
use crate::model::Model;
use crate::scene::Axes;
use crate::scene::resolved::{End, Spring};
use crate::space::{Vector, add, cross, dot, length, scale, sub};
use std::cell::OnceCell;

/// All directions of the configuration of all trees, at one state; computed where they are needed.
pub(super) struct Directions {
    /// By tree and dof within it.
    place: Vec<OnceCell<Vec<Variation>>>,
    /// No change, by tree.
    none: Vec<OnceCell<Variation>>,
}

impl Directions {
    pub fn new(system: &System) -> Self {
        let trees = system.trees().len();
        Self { place: vec![OnceCell::new(); trees], none: vec![OnceCell::new(); trees] }
    }

    /// Changes of a tree along each of its directions, at the state of `kinematics`, which must be the same each time.
    pub fn place(&self, kinematics: &Kinematics, t: usize) -> &[Variation] {
        self.place[t].get_or_init(|| {
            let n = kinematics.system().trees()[t].dofs.len();
            let (mut unit, zero) = (vec![0.0; n], vec![0.0; n]);
            let mut own = vec![];
            for j in 0..n {
                unit[j] = 1.0;
                own.push(kinematics.vary(t, &unit, &zero));
                unit[j] = 0.0;
            }
            own
        })
    }

    /// No change of a tree.
    pub fn none(&self, kinematics: &Kinematics, t: usize) -> &Variation {
        self.none[t].get_or_init(|| {
            let zero = vec![0.0; kinematics.system().trees()[t].dofs.len()];
            kinematics.vary(t, &zero, &zero)
        })
    }
}

/// Adds `df/dq` and `df/dv` at the state of `kinematics`, with `f` evaluated at `time`, with weight or without. Returns
/// the trees that springs connect.
pub(super) fn forces(
    model: &Model,
    (kinematics, directions): (&Kinematics, &Directions),
    inputs: &Inputs,
    (time, weight): (f64, bool),
    (by_place, by_velocity): (&mut Sparse, &mut Sparse),
) -> Vec<[usize; 2]> {
    let (system, scene) = (model.system(), model.scene());
    for (t, tree) in system.trees().iter().enumerate() {
        let start = tree.dofs.start;
        let mut out = vec![0.0; tree.dofs.len()];
        let acts = |link: usize| system.tree_of(link) == Some(t);
        let loaded = scene.loads.iter().any(|l| acts(l.body)) || inputs.wrenches.iter().any(|w| acts(w.body));
        if !weight && !loaded {
            continue;
        }
        for (j, by) in directions.place(kinematics, t).iter().enumerate() {
            out.fill(0.0);
            if weight {
                kinematics.vary_weight(t, by, scene.gravity, &mut out);
            }
            let mut wrench = |link: usize, local: Vector, [force, torque]: [Vector; 2], turns: bool| {
                if system.tree_of(link) != Some(t) {
                    return;
                }
                let pose = kinematics.pose(link);
                let point = pose.point(local);
                let moved = kinematics.vary_link(link, by, point);
                let mut acting = [force, torque];
                let mut change = [[0.0; 3]; 2];
                if turns {
                    acting = acting.map(|x| pose.attitude.apply(x));
                    change = acting.map(|x| cross(moved.turn, x));
                }
                kinematics.vary_wrench(link, by, (point, moved.shift), acting, change, &mut out);
            };
            for load in &scene.loads {
                let both = [load.force.at(time), load.torque.at(time)];
                wrench(load.body, load.point, both, load.axes == Axes::Body);
            }
            for w in &inputs.wrenches {
                wrench(w.body, w.point, [w.force, w.torque], false);
            }
            out.iter().enumerate().for_each(|(i, x)| by_place.add(start + i, start + j, *x));
        }
    }
    let mut joined = vec![];
    for spring in &scene.springs {
        let trees = spring.ends.map(|e| e.body.and_then(|b| system.tree_of(b)));
        // directions of one tree that holds both ends move both
        let moved = if trees[0] == trees[1] { &trees[..1] } else { &trees[..] };
        for t in moved.iter().copied().flatten() {
            let start = system.trees()[t].dofs.start;
            let n = system.trees()[t].dofs.len();
            let (mut unit, zero) = (vec![0.0; n], vec![0.0; n]);
            for j in 0..n {
                let by = (t, &directions.place(kinematics, t)[j]);
                spring_column(kinematics, spring, trees, by, directions, |i, x| {
                    by_place.add(i, start + j, x);
                });
                if spring.damping != 0.0 {
                    unit[j] = 1.0;
                    let faster = kinematics.vary(t, &zero, &unit);
                    unit[j] = 0.0;
                    spring_column(kinematics, spring, trees, (t, &faster), directions, |i, x| {
                        by_velocity.add(i, start + j, x);
                    });
                }
            }
        }
        if let [Some(a), Some(b)] = trees {
            joined.push([a, b]);
        }
    }
    joined
}

/// Change of the forces of a spring along one direction of one tree.
fn spring_column(
    kinematics: &Kinematics,
    spring: &Spring,
    trees: [Option<usize>; 2],
    (t, by): (usize, &Variation),
    directions: &Directions,
    mut put: impl FnMut(usize, f64),
) {
    let place = |end: End| match end.body {
        None => (end.point, [0.0; 3], [0.0; 3]),
        Some(body) => {
            let at = kinematics.pose(body).point(end.point);
            (at, kinematics.point_velocity(body, at), kinematics.angular_velocity(body))
        }
    };
    let ends = spring.ends.map(place);
    let across = sub(ends[1].0, ends[0].0);
    let l = length(across);
    if l == 0.0 {
        return;
    }
    let axis = scale(1.0 / l, across);
    let changes: [LinkChange; 2] = [0, 1].map(|k| match (spring.ends[k].body, trees[k]) {
        (Some(body), Some(tree)) if tree == t => kinematics.vary_link(body, by, ends[k].0),
        _ => LinkChange::default(),
    });
    // velocities of the attachment points, which move
    let faster = [0, 1].map(|k| add(changes[k].linear, cross(ends[k].2, changes[k].shift)));
    let apart = sub(changes[1].shift, changes[0].shift);
    let longer = dot(axis, apart);
    let daxis = scale(1.0 / l, sub(apart, scale(longer, axis)));
    let relative = sub(ends[1].1, ends[0].1);
    let rate = dot(axis, relative);
    let drate = dot(daxis, relative) + dot(axis, sub(faster[1], faster[0]));
    let pull = spring.stiffness * (l - spring.rest_length) + spring.damping * rate;
    let dpull = spring.stiffness * longer + spring.damping * drate;
    let change = add(scale(dpull, axis), scale(pull, daxis));
    for (k, sign) in [(0, 1.0), (1, -1.0)] {
        let (Some(body), Some(tree)) = (spring.ends[k].body, trees[k]) else { continue };
        let dofs = kinematics.system().trees()[tree].dofs.clone();
        let mut out = vec![0.0; dofs.len()];
        let by = if tree == t { by } else { directions.none(kinematics, tree) };
        let force = [scale(sign * pull, axis), [0.0; 3]];
        let changed = [scale(sign, change), [0.0; 3]];
        kinematics.vary_wrench(body, by, (ends[k].0, changes[k].shift), force, changed, &mut out);
        out.iter().zip(dofs).for_each(|(x, i)| put(i, *x));
    }
}
