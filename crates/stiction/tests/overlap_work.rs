//! Work of the elastic forces of compliant point contacts round closed paths of one body in another: zero if the forces have a potential.

use stiction::geometry::{Shape, Solid, Touch, Workspace, touches};
use stiction::space::{Pose, Quaternion, Vector, add, dot, scale};

fn found(a: &Solid, b: &Solid, pose: &Pose) -> Vec<Touch> {
    let mut out = vec![];
    touches(a, &Pose::IDENTITY, b, pose, 0.0, &mut Workspace::default(), &mut out).expect("supported");
    out
}

/// Force on b of unit springs.
fn force(touches: &[Touch]) -> Vector {
    touches.iter().fold([0.0; 3], |sum, t| add(sum, scale((-t.gap).max(0.0), t.normal)))
}

/// Work round a square of this side in the plane of two axes, and whether the same features met with the same normal all the way.
fn round(a: &Solid, b: &Solid, at: Pose, side: f64, [u, v]: [Vector; 2]) -> (f64, bool) {
    const PARTS: usize = 400;
    let (mut work, mut same, first) = (0.0, true, found(a, b, &at));
    let mut position = at.position;
    for edge in [u, v, scale(-1.0, u), scale(-1.0, v)] {
        let step = scale(side / PARTS as f64, edge);
        for _ in 0..PARTS {
            let middle = add(position, scale(0.5, step));
            let now = found(a, b, &Pose { position: middle, ..at });
            same &= now.len() == first.len()
                && now
                    .iter()
                    .zip(&first)
                    .all(|(s, t)| s.feature == t.feature && dot(s.normal, t.normal) > 1.0 - 1e-12);
            work += dot(force(&now), step);
            position = add(position, step);
        }
    }
    (work, same)
}

/// Two boxes, one above the other: turned by 0.3 rad about z and tilted by `1.17 tilt`, at places over the middle of the lower one's face, its edge and its corner.
fn each(mut look: impl FnMut(f64, &str, &[Touch], f64, bool)) {
    const SIDE: f64 = 2e-3;
    let [a, b] = [[0.06, 0.03, 0.07], [0.04, 0.04, 0.03]]
        .map(|half| Solid::new(&Shape::Box { half }, false).expect("a box"));
    let [x, y, z] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for tilt in [0.0, 0.01, 0.03, 0.1, 0.3] {
        let attitude = Quaternion::turn([0.6 * tilt, tilt, 0.3]);
        // between the faces that meet
        let angle = dot(attitude.apply(z), z).min(1.0).acos();
        for (name, at) in
            [("middle", [0.0, 0.0, 0.098]), ("edge", [0.09, 0.0, 0.098]), ("corner", [0.085, 0.06, 0.092])]
        {
            for depth in [0.0, 1e-3, 3e-3] {
                let pose = Pose { position: add(at, [0.0, 0.0, -depth]), attitude };
                for axes in [[x, y], [x, z], [y, z]] {
                    let (work, same) = round(&a, &b, pose, SIDE, axes);
                    look(angle, name, &found(&a, &b, &pose), work / (SIDE * SIDE), same);
                }
            }
        }
    }
}

/// Forces of points push along one normal for the pair. That is the gradient of a point's gap where the faces that meet are parallel, or a corner meets the face that gives the normal. A point
/// measured on a face that is tilted by `x` beside the normal has a gap whose gradient is along that face's own: of a square path of area `A` the springs of `n` points give or take at most `n k A tan x`.
#[test]
fn work_round_a_closed_path_is_bounded_by_the_tilt_of_the_faces() {
    let (mut parallel, mut tilted) = (0, 0);
    each(|angle, name, touches, work, same| {
        if !same || touches.is_empty() {
            return;
        }
        let single = touches.len() == 1;
        let most = if single { 0.0 } else { touches.len() as f64 * angle.tan() };
        assert!(work.abs() <= most + 1e-11, "{name}, {angle} rad, {} points: {work:e}", touches.len());
        if angle < 1e-6 { parallel += 1 } else { tilted += 1 }
    });
    assert!(parallel > 5 && tilted > 20, "{parallel} {tilted}");
}
