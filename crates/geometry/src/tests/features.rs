//! Curvatures and derivatives of touches, against central differences of the detected touches and closed forms.

use super::*;
use crate::space::{Frame, cross};
use crate::{Feature, Rates, Velocity, feature};

/// Step of the differences, in metres and radians.
const STEP: f64 = 1e-5;

fn at(position: Vector) -> Pose {
    Pose { position, ..Pose::IDENTITY }
}

fn features_of(a: &Solid, p: &Pose, b: &Solid, q: &Pose, t: &Touch) -> Option<Feature> {
    feature(a, p, b, q, t, &mut Workspace::default())
}

fn moved(pose: &Pose, v: &Velocity, by: f64) -> Pose {
    let attitude = Quaternion::turn(scale(by, v.angular)).after(pose.attitude).unit();
    Pose { position: add(pose.position, scale(by, v.linear)), attitude }
}

/// Twelve unit motions; in a planar scene six.
fn motions(planar: bool) -> impl Iterator<Item = (usize, [Velocity; 2])> {
    (0..12).filter(move |k| !planar || matches!(k % 6, 0 | 1 | 5)).map(|k| {
        let mut v = [Velocity::default(); 2];
        let part = if k % 6 < 3 { &mut v[k / 6].linear } else { &mut v[k / 6].angular };
        part[k % 3] = 1.0;
        (k, v)
    })
}

/// Difference quotients of point, normal and gap: 7 numbers.
fn quotient(s: &Touch, t: &Touch, by: f64) -> [f64; 7] {
    let [p, n] = [sub(t.point, s.point), sub(t.normal, s.normal)];
    [p[0], p[1], p[2], n[0], n[1], n[2], t.gap - s.gap].map(|x| x / by)
}

fn numbers(r: &Rates) -> [f64; 7] {
    let ([x, y, z], [a, b, c]) = (r.point(), r.normal);
    [x, y, z, a, b, c, r.gap]
}

fn off(a: &[f64; 7], b: &[f64; 7]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}

/// How many touches and motions were compared, and how many could not be: the touch was lost on one side, or the
/// detected touch has a kink there (differences forward and backward disagree).
#[derive(Debug, Default, Clone, Copy)]
struct Count {
    compared: usize,
    skipped: usize,
}

/// Compares all touches of a pair, for all motions, with central differences of what is detected.
fn compare(a: &Solid, p: &Pose, b: &Solid, q: &Pose, margin: f64, tolerance: f64) -> Count {
    let mut count = Count::default();
    let found = find(a, p, b, q, margin);
    let wide = margin + 1e-3;
    for t in &found {
        let Some(f) = features_of(a, p, b, q, t) else {
            count.skipped += 12;
            continue;
        };
        let all = f.derivatives();
        let n = t.normal;
        for (k, v) in motions(a.planar()) {
            assert_eq!(f.rates(&v), all[k]);
            assert!(dot(all[k].normal, n).abs() < 1e-9 * (1.0 + length(all[k].normal)));
            let side = |by: f64| {
                let (p, q) = (moved(p, &v[0], by), moved(q, &v[1], by));
                find(a, &p, b, &q, wide).into_iter().find(|s| s.feature == t.feature)
            };
            let (Some(before), Some(after)) = (side(-STEP), side(STEP)) else {
                count.skipped += 1;
                continue;
            };
            let kink = off(&quotient(t, &after, STEP), &quotient(&before, t, STEP));
            let central = quotient(&before, &after, 2.0 * STEP);
            let size = 1.0 + central.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            if kink > 1e-2 * size * size {
                count.skipped += 1;
                continue;
            }
            let error = off(&central, &numbers(&all[k]));
            assert!(
                error < tolerance * size * size,
                "{:?} {p:?}\n{:?} {q:?}\n{t:?} motion {k}: {error:e} kink {kink:e}\n{central:?}\n{:?}\n{f:?}",
                a.shape(),
                b.shape(),
                numbers(&all[k])
            );
            count.compared += 1;
        }
    }
    count
}

const KINDS: usize = 6;

/// Moves b along the normal of the deepest touch to the given gap.
fn at_gap(a: &Solid, p: &Pose, b: &Solid, q: &mut Pose, gap: f64) {
    for _ in 0..3 {
        let t = deepest(&find(a, p, b, q, 100.0));
        q.position = add(q.position, scale(gap - t.gap, t.normal));
    }
}

#[test]
fn derivatives_at_random_poses_are_those_of_the_detected_touches() {
    let mut chance = Chance(31);
    for i in 0..KINDS {
        for j in 0..KINDS {
            for gap in [0.2, -0.002] {
                let mut sum = Count::default();
                for _ in 0..12 {
                    let (a, b) = (solid(&chance.shape(i)), solid(&chance.shape(j)));
                    let (p, mut q) = (chance.pose(1.0), chance.pose(1.0));
                    at_gap(&a, &p, &b, &mut q, gap);
                    let one = compare(&a, &p, &b, &q, gap + 1e-3, 2e-6);
                    sum.compared += one.compared;
                    sum.skipped += one.skipped;
                }
                assert!(sum.compared > 3 * sum.skipped, "{i} {j} {gap}: {sum:?}");
            }
        }
    }
}

#[test]
fn derivatives_on_a_half_space_are_those_of_the_detected_touches() {
    let mut chance = Chance(32);
    let ground = solid(&Shape::HalfSpace);
    for kind in 0..KINDS {
        let mut sum = Count::default();
        for k in 0..20 {
            let (b, p, q) = (solid(&chance.shape(kind)), chance.pose(1.0), chance.pose(1.0));
            let one = match k % 2 {
                0 => compare(&ground, &p, &b, &q, 2.0, 1e-7),
                _ => compare(&b, &q, &ground, &p, 2.0, 1e-7),
            };
            sum.compared += one.compared;
            sum.skipped += one.skipped;
        }
        assert!(sum.compared > 20 * sum.skipped && sum.compared > 100, "{kind}: {sum:?}");
    }
}

#[test]
fn planar_derivatives_are_those_of_the_detected_touches() {
    let mut chance = Chance(33);
    let ground = Solid::new(&Shape::HalfSpace, true).unwrap();
    for i in 0..4 {
        for j in 0..5 {
            for gap in [0.2, -0.002] {
                let mut sum = Count::default();
                for _ in 0..20 {
                    let a = Solid::new(&chance.planar_shape(i), true).unwrap();
                    let b = if j < 4 {
                        Solid::new(&chance.planar_shape(j), true).unwrap()
                    } else {
                        ground.clone()
                    };
                    let (p, mut q) = (chance.planar_pose(1.0), chance.planar_pose(1.0));
                    at_gap(&a, &p, &b, &mut q, gap);
                    let one = compare(&a, &p, &b, &q, gap + 0.3, 1e-6);
                    sum.compared += one.compared;
                    sum.skipped += one.skipped;
                }
                assert!(sum.compared > 3 * sum.skipped, "{i} {j} {gap}: {sum:?}");
            }
        }
    }
}

/// One on the other, tilted a little, so that faces, caps and rods meet in several points: vertices on faces,
/// crossings of outlines, points of rims, faces that are not across the normal.
#[test]
fn derivatives_of_manifolds_are_those_of_the_detected_touches() {
    let mut chance = Chance(34);
    let wedge = Shape::Polytope {
        vertices: vec![
            [-0.6, -0.5, -0.3],
            [0.7, -0.4, -0.3],
            [0.5, 0.6, -0.3],
            [-0.4, 0.5, -0.3],
            [0.1, 0.0, 0.4],
        ],
    };
    let lower = [
        Shape::Box { half: [0.8, 0.6, 0.3] },
        Shape::cylinder(0.7, 0.3),
        Shape::Box { half: [0.3, 0.25, 0.3] },
    ];
    let lying = Quaternion::turn([0.0, std::f64::consts::FRAC_PI_2, 0.0]);
    let upper = [
        (Shape::Box { half: [0.4, 0.5, 0.3] }, Quaternion::IDENTITY, 0.3),
        (wedge, Quaternion::IDENTITY, 0.3),
        (Shape::cylinder(0.5, 0.3), Quaternion::IDENTITY, 0.3),
        (Shape::cylinder(0.2, 0.6), lying, 0.2),
        (Shape::Capsule { radius: 0.2, half_length: 0.6 }, lying, 0.2),
    ];
    let mut several = 0;
    for (i, low) in lower.iter().enumerate() {
        for (j, (high, attitude, half)) in upper.iter().enumerate() {
            let mut sum = Count::default();
            for k in 0..30 {
                let tilt = Quaternion::turn(chance.vector(0.15));
                let spin = Quaternion::turn([0.0, 0.0, chance.between(-3.0, 3.0)]);
                let [x, y, _] = chance.vector(0.3);
                let world = chance.pose(1.0);
                let (a, b) = (solid(low), solid(high));
                let p = world;
                let attitude = tilt.after(spin).after(*attitude);
                let mut q = world.then(&Pose { position: [x, y, 0.3 + half], attitude });
                at_gap(&a, &p, &b, &mut q, if k % 4 < 2 { 1e-3 } else { -1e-3 });
                several += usize::from(find(&a, &p, &b, &q, 0.3).len() > 1);
                let one = match k % 2 {
                    0 => compare(&a, &p, &b, &q, 0.3, 2e-6),
                    _ => compare(&b, &q, &a, &p, 0.3, 2e-6),
                };
                sum.compared += one.compared;
                sum.skipped += one.skipped;
            }
            assert!(sum.compared > 5 * sum.skipped && sum.compared >= 360, "{i} {j}: {sum:?}");
        }
    }
    assert!(several > 200, "{several} of 450 with several touches");
}

/// Exactly parallel faces, edges and rods: the motions under which the detected touches have no kink. (Rods side by side
/// have their middles together: about another place relative spin keeps the normal, for they cross there.)
#[test]
fn derivatives_of_parallel_features_are_those_of_the_detected_touches() {
    let (big, small) = (Shape::Box { half: [1.0, 1.0, 0.3] }, Shape::Box { half: [0.3, 0.4, 0.2] });
    let cylinder = Shape::cylinder(0.3, 0.2);
    let rod = Shape::Capsule { radius: 0.1, half_length: 0.5 };
    let short_rod = Shape::Capsule { radius: 0.15, half_length: 0.3 };
    let long_cylinder = Shape::cylinder(0.2, 0.5);
    let spin = |angle: f64| Quaternion::turn([0.0, 0.0, angle]);
    let turned = |position: Vector, angle: f64| Pose { position, attitude: spin(angle) };
    let lying = |position: Vector| {
        let down = Quaternion::turn([0.0, std::f64::consts::FRAC_PI_2, 0.0]);
        Pose { position, attitude: spin(0.4).after(down) }
    };
    let cases = [
        (&big, &small, turned([0.1, 0.2, 0.5 + 1e-3], 0.4), 48),
        (&big, &small, turned([0.9, 0.1, 0.5 + 1e-3], 0.0), 40),
        (&big, &small, turned([0.9, 0.1, 0.5 + 1e-3], 0.4), 32),
        (&big, &cylinder, turned([0.1, 0.2, 0.5 + 1e-3], 0.4), 48),
        (&big, &cylinder, turned([0.9, 0.1, 0.5 + 1e-3], 0.4), 40),
        (&cylinder, &cylinder, turned([0.25, 0.1, 0.4 + 1e-3], 0.4), 32),
        (&big, &rod, lying([0.1, 0.2, 0.4 + 1e-3]), 24),
        (&small, &rod, lying([0.1, 0.2, 0.3 + 1e-3]), 16),
        (&big, &cylinder, lying([0.1, 0.2, 0.6 + 1e-3]), 24),
        (&rod, &short_rod, at([0.3, 0.0, 0.0]), 20),
        (&cylinder, &short_rod, at([0.45, 0.0, 0.0]), 20),
        (&cylinder, &long_cylinder, at([0.55, 0.0, 0.0]), 20),
    ];
    for (a, b, q, least) in cases {
        let (a, b) = (solid(a), solid(b));
        let one = compare(&a, &Pose::IDENTITY, &b, &q, 0.1, 2e-6);
        let other = compare(&b, &q, &a, &Pose::IDENTITY, 0.1, 2e-6);
        assert!(
            one.compared >= least && other.compared >= least,
            "{:?} {:?}: {one:?} {other:?}",
            a.shape(),
            b.shape()
        );
    }
}

/// The height of a surface above the plane across the normal falls by `k e^2 / 2`.
#[test]
fn curvatures_are_second_differences_of_heights() {
    let mut chance = Chance(35);
    for kind in [0, 1, 2, 3] {
        for _ in 0..20 {
            let (a, b) = (solid(&chance.shape(kind)), solid(&Shape::Sphere { radius: 0.3 }));
            let p = chance.pose(1.0);
            // beside the middle, where cylinders and capsules have their sides
            let q = Pose { position: p.point([3.0, 1.0, 0.02]), ..Pose::IDENTITY };
            let t = deepest(&find(&a, &p, &b, &q, 10.0));
            let f = features_of(&a, &p, &b, &q, &t).unwrap();
            let frame = Frame::new(t.normal, chance.vector(1.0));
            let s = f.curvature()[0].matrix(&frame).unwrap();
            let e = 1e-4 * f.curvature()[0].radii[1].min(1.0);
            let level =
                |u: Vector| crate::height(&a, &p, add(f.points()[0], scale(e, u)), t.normal) / (e * e);
            for (u, k) in [(frame.t, s[0][0]), (frame.o, s[1][1])] {
                let second = level(u) + level(scale(-1.0, u)) - 2.0 * level([0.0; 3]);
                assert!((second + k).abs() < 2e-4 * (1.0 + k), "{a:?}: {second} {k}");
            }
            let both = 0.5f64.sqrt();
            let [diagonal, other] = [1.0, -1.0].map(|sign| {
                let u = frame.in_plane([both, sign * both]);
                level(u) + level(scale(-1.0, u)) - 2.0 * level([0.0; 3])
            });
            assert!((0.5 * (other - diagonal) - s[0][1]).abs() < 2e-4 * (1.0 + s[0][0].max(s[1][1])));
            assert_eq!(f.curvature()[1].radii, [0.3; 2]);
        }
    }
}

fn only(a: &Solid, p: &Pose, b: &Solid, q: &Pose) -> (Touch, Feature) {
    let t = deepest(&find(a, p, b, q, 1.0));
    (t, features_of(a, p, b, q, &t).unwrap())
}

fn near(a: Vector, b: Vector) -> bool {
    length(sub(a, b)) < 1e-12
}

fn of_b(linear: Vector, angular: Vector) -> [Velocity; 2] {
    [Velocity::default(), Velocity { linear, angular }]
}

#[test]
fn a_ball_on_a_plane_and_on_a_ball_has_the_closed_forms() {
    let (ground, ball) = (solid(&Shape::HalfSpace), solid(&Shape::Sphere { radius: 0.2 }));
    let q = at([1.0, 2.0, 0.25]);
    let (_, f) = only(&ground, &Pose::IDENTITY, &ball, &q);
    assert_eq!(f.curvature().map(|c| c.curvatures()), [[0.0; 2], [5.0; 2]]);
    let r = f.rates(&of_b([0.3, -0.4, 0.1], [5.0, 6.0, 7.0]));
    assert!(near(r.normal, [0.0; 3]) && near(r.points[0], [0.3, -0.4, 0.0]) && (r.gap - 0.1).abs() < 1e-15);
    assert!(near(r.points[1], [0.3, -0.4, 0.1]));
    // the plane tilts about y through the origin: the normal turns towards x, and the ball's lowest point with it
    let r = f.rates(&[Velocity { linear: [0.0; 3], angular: [0.0, 1.0, 0.0] }, Velocity::default()]);
    assert!(
        near(r.normal, [1.0, 0.0, 0.0]) && near(r.points[1], [-0.2, 0.0, 0.0]) && (r.gap - 1.0).abs() < 1e-15
    );

    let q = at([0.0, 0.0, 0.5]);
    let small = solid(&Shape::Sphere { radius: 0.1 });
    let (_, f) = only(&ball, &Pose::IDENTITY, &small, &q);
    let r = f.rates(&of_b([1.0, 0.0, 0.0], [3.0, 2.0, 1.0]));
    assert!(near(r.normal, [2.0, 0.0, 0.0]) && near(r.points[0], [0.4, 0.0, 0.0]));
    assert!(near(r.points[1], [0.8, 0.0, 0.0]) && r.gap == 0.0);
    let t = find(&ball, &Pose::IDENTITY, &ball, &Pose::IDENTITY, 0.0)[0];
    assert_eq!(features_of(&ball, &Pose::IDENTITY, &ball, &Pose::IDENTITY, &t), None, "concentric");
}

#[test]
fn an_ellipsoid_and_cylinders_on_a_plane_have_their_principal_curvatures() {
    let ground = solid(&Shape::HalfSpace);
    let ellipsoid = solid(&Shape::Ellipsoid { semi_axes: [0.4, 0.3, 0.2] });
    let (_, f) = only(&ground, &Pose::IDENTITY, &ellipsoid, &at([0.0, 0.0, 0.2]));
    let c = f.curvature()[1];
    assert!((c.radii[0] - 0.8).abs() < 1e-15 && (c.radii[1] - 0.45).abs() < 1e-15);
    assert!((c.directions[0][0].abs() - 1.0).abs() < 1e-15);
    // rolling about y by 1 rad/s: the point of contact travels at R_x = 0.8 on the plane
    let r = f.rates(&of_b([0.2, 0.0, 0.0], [0.0, 1.0, 0.0]));
    assert!(near(r.points[0], [0.8, 0.0, 0.0]) && r.gap.abs() < 1e-15);

    let cylinder = solid(&Shape::cylinder(0.3, 0.5));
    let lying = |angle: f64| Quaternion::turn([angle, 0.0, 0.0]);
    let half = std::f64::consts::FRAC_PI_2;
    // an end of the line of contact: around the axis, and the rim's edge
    let (_, f) =
        only(&ground, &Pose::IDENTITY, &cylinder, &Pose { position: [0.0, 0.0, 0.3], attitude: lying(half) });
    let c = f.curvature()[1];
    assert!((c.radii[0] - 0.3).abs() < 1e-15 && c.curvatures()[1] == f64::INFINITY);
    assert!((c.directions[0][0].abs() - 1.0).abs() < 1e-15);
    assert!(c.matrix(&Frame::new([0.0, 0.0, 1.0], [1.0, 0.0, 0.0])).is_none());
    // the rim of a tilted one
    let (_, f) =
        only(&ground, &Pose::IDENTITY, &cylinder, &Pose { position: [0.0, 0.0, 0.6], attitude: lying(0.4) });
    assert!(
        (f.curvature()[1].radii[0] - 0.3 / 0.4f64.sin()).abs() < 1e-14 && f.curvature()[1].radii[1] == 0.0
    );
    // a ball on the side
    let ball = solid(&Shape::Sphere { radius: 0.1 });
    let (_, f) = only(&cylinder, &Pose::IDENTITY, &ball, &at([0.45, 0.0, 0.1]));
    let c = f.curvature()[0];
    assert!(c.radii[0] == f64::INFINITY && (c.radii[1] - 0.3).abs() < 1e-15);
    let r = f.rates(&of_b([0.0, 0.9, 0.5], [0.0; 3]));
    assert!(near(r.normal, [0.0, 2.0, 0.0]) && near(r.points[0], [0.0, 0.6, 0.5]));
}

#[test]
fn a_corner_on_a_plane_and_two_edges_have_the_closed_forms() {
    let (ground, cube) = (solid(&Shape::HalfSpace), solid(&Shape::Box { half: [0.5; 3] }));
    let q = Pose { position: [0.0, 0.0, 1.0], attitude: Quaternion::turn([0.5, 0.3, 0.0]) };
    let (t, f) = only(&ground, &Pose::IDENTITY, &cube, &q);
    assert_eq!(f.curvature().map(|c| c.curvatures()), [[0.0; 2], [f64::INFINITY; 2]]);
    let (v, w) = ([0.1, 0.2, 0.3], [1.0, -2.0, 0.5]);
    let corner = add(t.point, [0.0, 0.0, 0.5 * t.gap]);
    let velocity = add(v, cross(w, sub(corner, q.position)));
    let r = f.rates(&of_b(v, w));
    assert!(near(r.points[1], velocity) && near(r.points[0], [velocity[0], velocity[1], 0.0]));
    assert!((r.gap - velocity[2]).abs() < 1e-14 && near(r.normal, [0.0; 3]));

    // an edge of a along x on top, an edge of b along y below
    let eighth = std::f64::consts::FRAC_PI_4;
    let p = Pose { position: [0.0; 3], attitude: Quaternion::turn([eighth, 0.0, 0.0]) };
    let top = 0.5 * 2.0f64.sqrt();
    for gap in [0.01, -0.01] {
        let q =
            Pose { position: [0.1, 0.2, 2.0 * top + gap], attitude: Quaternion::turn([0.0, eighth, 0.0]) };
        let (t, f) = only(&cube, &p, &cube, &q);
        assert!(near(t.point, [0.1, 0.0, top + 0.5 * gap]) && (t.gap - gap).abs() < 1e-14);
        for (c, along) in f.curvature().into_iter().zip([0, 1]) {
            assert_eq!(c.radii, [f64::INFINITY, 0.0]);
            assert!((c.directions[0][along].abs() - 1.0).abs() < 1e-12);
        }
        // b's edge rises towards y: the normal leans back, and the crossing follows b's motion along x only
        let about_x = f.rates(&of_b([0.0; 3], [1.0, 0.0, 0.0]));
        assert!(near(about_x.normal, [0.0, -1.0, 0.0]) && (about_x.gap + 0.2).abs() < 1e-12);
        let about_y = f.rates(&of_b([0.0; 3], [0.0, 1.0, 0.0]));
        assert!(near(about_y.normal, [0.0; 3]) && about_y.gap.abs() < 1e-12);
        let slides = f.rates(&of_b([0.3, 0.7, -0.2], [0.0; 3]));
        assert!(near(slides.normal, [0.0; 3]) && near(slides.points[0], [0.3, 0.0, 0.0]));
        assert!(near(slides.points[1], [0.3, 0.0, -0.2]) && (slides.gap + 0.2).abs() < 1e-12);
    }
}

/// (2) and Montana's equations, with shape operators instead of radii.
#[test]
fn gaps_close_at_the_normal_relative_velocity_and_normals_turn_with_the_curvature() {
    let mut chance = Chance(36);
    for i in 0..KINDS {
        for j in 0..KINDS {
            for gap in [0.3, -0.005] {
                let (a, b) = (solid(&chance.shape(i)), solid(&chance.shape(j)));
                let (p, mut q) = (chance.pose(1.0), chance.pose(1.0));
                at_gap(&a, &p, &b, &mut q, gap);
                let t = deepest(&find(&a, &p, &b, &q, 1.0));
                let Some(f) = features_of(&a, &p, &b, &q, &t) else { continue };
                let v = [0, 1].map(|_| Velocity { linear: chance.vector(1.0), angular: chance.vector(1.0) });
                let r = f.rates(&v);
                let material = [(0, p), (1, q)].map(|(s, pose): (usize, Pose)| {
                    add(v[s].linear, cross(v[s].angular, sub(f.points()[s], pose.position)))
                });
                let closing = dot(t.normal, sub(material[1], material[0]));
                assert!((r.gap - closing).abs() < 1e-9 * (1.0 + length(r.normal)), "{a:?} {b:?} {t:?}");
                let frame = Frame::new(t.normal, [1.0, 0.0, 0.0]);
                for (s, sign) in [(0, 1.0), (1, -1.0)] {
                    let Some(k) = f.curvature()[s].matrix(&frame) else { continue };
                    let [_, x, y] = frame.components(sub(r.points[s], material[s]));
                    let turned = scale(sign, sub(r.normal, cross(v[s].angular, t.normal)));
                    let [_, u, w] = frame.components(turned);
                    let error = (k[0][0] * x + k[0][1] * y - u).hypot(k[1][0] * x + k[1][1] * y - w);
                    assert!(error < 1e-8 * (1.0 + length(r.normal)), "{a:?} {b:?} {error:e}");
                }
            }
        }
    }
}
