//! Every pair of shapes in space.

use super::*;
use crate::space::{Frame, cross};
use crate::supported;

const KINDS: usize = 6;

/// A separated random pair with its touch.
fn separated(chance: &mut Chance, i: usize, j: usize) -> (Shape, Pose, Shape, Pose) {
    loop {
        let (a, b) = (chance.shape(i), chance.shape(j));
        let (p, q) = (chance.pose(1.5), chance.pose(1.5));
        if deepest(&find(&solid(&a), &p, &solid(&b), &q, 10.0)).gap > 1e-3 {
            return (a, p, b, q);
        }
    }
}

fn check_certificate(a: &Shape, p: &Pose, b: &Shape, q: &Pose) {
    let (sa, sb) = (solid(a), solid(b));
    let t = deepest(&find(&sa, p, &sb, q, 10.0));
    let bound = apart(a, p, b, q, t.normal);
    assert!((t.gap - bound).abs() < 1e-12, "{a:?} {b:?}: gap {} but bound {bound}", t.gap);
    let half = scale(0.5 * t.gap, t.normal);
    let (out_a, out_b) = (outside(&sa, p, sub(t.point, half)), outside(&sb, q, add(t.point, half)));
    // where a rim meets an edge at a small angle, the point is known less well than the gap
    let rim = [a, b].iter().any(|s| matches!(s, Shape::Cylinder { .. }));
    let tolerance = if rim { 1e-7 } else { 2e-11 };
    assert!(
        out_a < tolerance && out_b < tolerance,
        "{a:?} {p:?} {b:?} {q:?}: outside by {out_a:e} {out_b:e}"
    );
}

/// By duality: a normal bounds the distance from below, two points of the bodies bound it from above.
#[test]
fn distances_of_separated_pairs_are_proved_by_a_normal_and_two_points() {
    let mut chance = Chance(1);
    for i in 0..KINDS {
        for j in 0..KINDS {
            for _ in 0..300 {
                let (a, p, b, q) = separated(&mut chance, i, j);
                check_certificate(&a, &p, &b, &q);
            }
        }
    }
}

#[test]
fn distances_are_proved_down_to_gaps_of_a_nanometre() {
    let mut chance = Chance(2);
    for (i, j) in [(1, 1), (1, 0), (1, 4), (1, 2), (4, 4), (5, 5), (3, 3), (3, 4), (2, 2), (2, 4)] {
        for _ in 0..60 {
            let (a, p, b, mut q) = separated(&mut chance, i, j);
            let t = deepest(&find(&solid(&a), &p, &solid(&b), &q, 10.0));
            q.position = add(q.position, scale(1e-9 - t.gap, t.normal));
            let near = deepest(&find(&solid(&a), &p, &solid(&b), &q, 1.0));
            // the normal between two corners a nanometre apart is known to 1e-7 only, the gap better
            let tolerance = if i == 1 { 1e-14 } else { 1e-11 };
            assert!((near.gap - 1e-9).abs() < tolerance, "{a:?} {b:?} {}", near.gap);
            if i == 1 {
                assert!(length(sub(near.normal, t.normal)) < 1e-6);
            }
        }
    }
}

#[test]
fn depths_of_shallow_overlaps_are_the_greatest_separation_of_a_search() {
    let mut chance = Chance(3);
    for i in 0..KINDS {
        for j in i..KINDS {
            for _ in 0..8 {
                let (a, p, b, mut q) = separated(&mut chance, i, j);
                let t = deepest(&find(&solid(&a), &p, &solid(&b), &q, 10.0));
                q.position = add(q.position, scale(-0.01 - t.gap, t.normal));
                let found = deepest(&find(&solid(&a), &p, &solid(&b), &q, 1.0));
                let bound = apart(&a, &p, &b, &q, found.normal);
                assert!((found.gap - bound).abs() < 1e-12, "{a:?} {b:?}: {} {bound}", found.gap);
                let searched = searched(|n| apart(&a, &p, &b, &q, n), false);
                assert!(searched < found.gap + 1e-10, "{a:?} {b:?}: {} but {searched}", found.gap);
            }
        }
    }
}

#[test]
fn two_ellipsoids_along_an_axis_have_the_gap_of_their_semi_axes() {
    let a = solid(&Shape::Ellipsoid { semi_axes: [1.0, 2.0, 0.5] });
    let b = solid(&Shape::Ellipsoid { semi_axes: [0.3, 0.7, 0.25] });
    for gap in [0.5, 1e-3, 0.0, -1e-3, -0.05] {
        let q = Pose { position: [0.0, 0.0, 0.75 + gap], ..Pose::IDENTITY };
        let t = find(&a, &Pose::IDENTITY, &b, &q, 1.0)[0];
        assert!((t.gap - gap).abs() < 1e-15);
        assert!(length(sub(t.point, [0.0, 0.0, 0.5 + 0.5 * gap])) < 1e-15);
    }
}

#[test]
fn swapping_the_bodies_flips_the_normal_and_keeps_gap_and_point() {
    let mut chance = Chance(4);
    for i in 0..KINDS {
        for j in 0..KINDS {
            for _ in 0..30 {
                let (a, b) = (chance.shape(i), chance.shape(j));
                let (p, q) = (chance.pose(0.8), chance.pose(0.8));
                let (sa, sb) = (solid(&a), solid(&b));
                let (s, t) = (find(&sa, &p, &sb, &q, 0.1), find(&sb, &q, &sa, &p, 0.1));
                assert_eq!(s.len(), t.len(), "{a:?} {p:?} {b:?} {q:?}");
                if s.is_empty() || deepest(&s).gap < -0.05 {
                    continue;
                }
                for x in &s {
                    let miss = |y: &Touch| {
                        length(sub(x.point, y.point))
                            + length(add(x.normal, y.normal))
                            + (x.gap - y.gap).abs()
                    };
                    let least = t.iter().map(miss).fold(f64::INFINITY, f64::min);
                    assert!(least < 1e-8, "{a:?} {p:?} {b:?} {q:?}: {least}");
                }
            }
        }
    }
}

#[test]
fn moving_both_bodies_moves_the_touches() {
    let mut chance = Chance(5);
    for i in 0..KINDS {
        for j in 0..KINDS {
            for _ in 0..20 {
                let (a, p, b, q) = separated(&mut chance, i, j);
                let (sa, sb) = (solid(&a), solid(&b));
                let by = chance.pose(2.0);
                let s = find(&sa, &p, &sb, &q, 10.0);
                let t = find(&sa, &by.then(&p), &sb, &by.then(&q), 10.0);
                let (s, t) = (deepest(&s), deepest(&t));
                assert!((s.gap - t.gap).abs() < 1e-12, "{a:?} {p:?} {b:?} {q:?} {} {}", s.gap, t.gap);
                assert!((length(t.normal) - 1.0).abs() < 1e-14);
                assert!(length(sub(by.attitude.apply(s.normal), t.normal)) < 1e-7, "{a:?} {b:?}");
                assert!(length(sub(by.point(s.point), t.point)) < 1e-6, "{a:?} {b:?}");
            }
        }
    }
}

#[test]
fn half_spaces_meet_every_shape_at_its_lowest_points() {
    let mut chance = Chance(6);
    let ground = solid(&Shape::HalfSpace);
    for kind in 0..KINDS {
        for _ in 0..50 {
            let (b, p, q) = (chance.shape(kind), chance.pose(1.0), chance.pose(1.0));
            let n = p.attitude.apply([0.0, 0.0, 1.0]);
            let low = -reach(&b, &q, scale(-1.0, n)) - dot(n, p.position);
            let s = solid(&b);
            let found = find(&ground, &p, &s, &q, 10.0);
            assert!((deepest(&found).gap - low).abs() < 1e-13);
            for t in &found {
                let (down, up) = (scale(-0.5 * t.gap, n), scale(0.5 * t.gap, n));
                assert!(outside(&ground, &p, add(t.point, down)).abs() < 1e-13);
                assert!(outside(&s, &q, add(t.point, up)) < 1e-12);
            }
            let other = find(&s, &q, &ground, &p, 10.0);
            assert_eq!(found.len(), other.len());
            assert!(found.iter().zip(&other).all(|(x, y)| x.point == y.point && x.gap == y.gap));
        }
    }
}

#[test]
fn every_pair_is_supported_but_two_half_spaces_and_mixed_scenes() {
    let ground = solid(&Shape::HalfSpace);
    let disc = Solid::new(&Shape::Sphere { radius: 1.0 }, true).unwrap();
    let ball = solid(&Shape::Sphere { radius: 1.0 });
    assert!(!supported(&ground, &ground) && !supported(&disc, &ball) && supported(&ground, &ball));
    let mut out = Vec::new();
    let p = Pose::IDENTITY;
    let refused = touches(&disc, &p, &ball, &p, 1.0, &mut Workspace::default(), &mut out);
    let mixed = matches!(refused, Err(crate::Unknown::Unsupported(crate::Unsupported { mixed: true, .. })));
    assert!(mixed && out.is_empty());
}

#[test]
fn concentric_and_collinear_cores_still_give_unit_normals() {
    let mut chance = Chance(7);
    for i in 0..KINDS {
        for j in 0..KINDS {
            let (a, b) = (chance.shape(i), chance.shape(j));
            for z in [0.0, 0.1] {
                let q = Pose { position: [0.0, 0.0, z], ..Pose::IDENTITY };
                let found = find(&solid(&a), &Pose::IDENTITY, &solid(&b), &q, 0.0);
                assert!(!found.is_empty(), "{a:?} {b:?}");
                for t in found {
                    assert!((length(t.normal) - 1.0).abs() < 1e-12 && t.gap.is_finite());
                    assert!(t.point.iter().all(|x| x.is_finite()));
                }
            }
        }
    }
}

/// The face that looks down most need not hold the lowest corner.
#[test]
fn a_pointed_polytope_touches_a_cap_with_its_lowest_corner() {
    let cap = solid(&Shape::cylinder(1.0, 0.5));
    let spike = vec![[0.0, 0.0, 0.0], [0.3, 0.1, 1.0], [-0.2, 0.3, 1.0], [-0.1, -0.3, 1.0], [2.0, 0.0, 0.9]];
    let spike = solid(&Shape::Polytope { vertices: spike });
    let q = Pose { position: [0.2, 0.1, 0.51], ..Pose::IDENTITY };
    let t = find(&cap, &Pose::IDENTITY, &spike, &q, 0.02);
    assert_eq!(t.len(), 1);
    assert!((t[0].gap - 0.01).abs() < 1e-15 && length(sub(t[0].point, [0.2, 0.1, 0.505])) < 1e-15);
}

#[test]
fn crossing_capsules_touch_on_the_common_perpendicular() {
    let a = solid(&Shape::Capsule { radius: 0.1, half_length: 1.0 });
    let turn = Quaternion::turn([0.7, 0.0, 0.0]);
    let q = Pose { position: [0.25, 0.0, 0.0], attitude: turn };
    let t = find(&a, &Pose::IDENTITY, &a, &q, 1.0);
    assert_eq!(t.len(), 1);
    let u = turn.apply([0.0, 0.0, 1.0]);
    let frame = Frame::new(crate::space::unit(cross([0.0, 0.0, 1.0], u)), u);
    assert!((dot(t[0].normal, frame.n).abs() - 1.0).abs() < 1e-14);
    assert!((t[0].gap - 0.05).abs() < 1e-15);
}
