//! Closest points by functions against those by support functions, closed forms and the equations themselves.

use super::super::shape::{Member, Term};
use super::super::{Workspace, mass_properties, touches};
use super::*;
use crate::space::{cross, length, unit};

pub(super) fn random(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut x = *state;
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

pub(super) fn vector(state: &mut u64) -> Vector {
    [0, 1, 2].map(|_| 2.0 * random(state) - 1.0)
}

fn solid(shape: &Shape) -> Solid {
    Solid::new(shape, false).expect("a valid shape")
}

fn touch_of(a: &Solid, pa: &Pose, b: &Solid, pb: &Pose) -> Touch {
    let mut out = vec![];
    touches(a, pa, b, pb, 10.0, &mut Workspace::default(), &mut out).expect("a pair");
    *out.iter().min_by(|x, y| x.gap.total_cmp(&y.gap)).expect("within the margin")
}

/// Poses of two bodies whose gap is about this share of their size.
fn poses(seed: &mut u64, apart: f64) -> [Pose; 2] {
    let turn = |seed: &mut u64| Quaternion::turn(scale(3.0, vector(seed)));
    let (a, b) = (turn(seed), turn(seed));
    let away = scale(apart, unit(vector(seed)));
    [
        Pose { position: [0.3, -0.2, 0.1], attitude: a },
        Pose { position: add([0.3, -0.2, 0.1], away), attitude: b },
    ]
}

#[test]
fn ellipsoids_by_functions_are_those_by_support_functions() {
    let mut seed = 1;
    let (one, two) = ([0.3, 0.2, 0.15], [0.25, 0.1, 0.2]);
    let [a, b] = [one, two].map(|semi_axes| solid(&Shape::Ellipsoid { semi_axes }));
    for apart in [1.5, 0.6, 0.45] {
        for _ in 0..100 {
            let [pa, pb] = poses(&mut seed, apart);
            let known = touch_of(&a, &pa, &b, &pb);
            // deep overlaps have several local least depths
            if known.gap < -0.02 {
                continue;
            }
            let found = closest(&body(&a, &pa), &body(&b, &pb), 0.6).expect("found");
            assert!((found.gap - known.gap).abs() < 1e-9, "{} {}", found.gap, known.gap);
            assert!(length(sub(found.normal, known.normal)) < 1e-6, "{:?} {:?}", found.normal, known.normal);
            let middle = scale(0.5, add(found.points[0], found.points[1]));
            assert!(length(sub(middle, known.point)) < 1e-6);
        }
    }
}

/// Height over a half-space: the support function of the dual exponent.
#[test]
fn a_superellipsoid_over_a_plane_has_the_gap_of_its_support_function() {
    let mut seed = 5;
    let plane = solid(&Shape::HalfSpace);
    for exponent in [2.0, 2.5, 4.0, 8.0] {
        let semi_axes = [0.3, 0.2, 0.5];
        let own = solid(&Shape::Superellipsoid { semi_axes, exponent });
        for _ in 0..50 {
            let attitude = Quaternion::turn(scale(3.0, vector(&mut seed)));
            let pose = Pose { position: [0.1, 0.2, 0.6 * random(&mut seed)], attitude };
            let down = attitude.inverse().apply([0.0, 0.0, -1.0]);
            let q = exponent / (exponent - 1.0);
            let reach = (0..3).map(|i| (semi_axes[i] * down[i].abs()).powf(q)).sum::<f64>().powf(1.0 / q);
            let found = touch_of(&plane, &Pose::IDENTITY, &own, &pose);
            assert!(
                (found.gap - (pose.position[2] - reach)).abs() < 1e-8,
                "p = {exponent}: {} {}",
                found.gap,
                pose.position[2] - reach
            );
            assert!(length(sub(found.normal, [0.0, 0.0, 1.0])) < 1e-8);
        }
    }
}

/// Apart or in shallow overlap, both points lie on their surfaces, opposite each other along both normals, and the roles can be exchanged.
#[test]
fn superellipsoids_satisfy_the_equations() {
    let mut seed = 9;
    let a = solid(&Shape::Superellipsoid { semi_axes: [0.3, 0.2, 0.25], exponent: 4.0 });
    let b = solid(&Shape::Superellipsoid { semi_axes: [0.2, 0.25, 0.1], exponent: 3.0 });
    let mut overlaps = 0;
    for apart in [1.0, 0.5, 0.4] {
        for _ in 0..60 {
            let [pa, pb] = poses(&mut seed, apart);
            let (one, two) = (body(&a, &pa), body(&b, &pb));
            let found = closest(&one, &two, 0.7).expect("found");
            overlaps += usize::from(found.gap < 0.0);
            let values = [
                one.surfaces[0].0.placed(&pa, found.points[0]),
                two.surfaces[0].0.placed(&pb, found.points[1]),
            ];
            assert!(found.residual <= GOOD && values.iter().all(|v| v.f.abs() < 1e-8), "{values:?}");
            for (v, sign) in values.iter().zip([1.0, -1.0]) {
                assert!(length(sub(unit(v.gradient), scale(sign, found.normal))) < 1e-6);
            }
            let across = cross(sub(found.points[1], found.points[0]), found.normal);
            assert!(length(across) < 1e-8 && found.gap > -0.3);
            let back = closest(&two, &one, 0.7).expect("found");
            // deep overlaps have several local least depths
            assert!(found.gap < -0.05 || (back.gap - found.gap).abs() < 1e-7, "{} {}", back.gap, found.gap);
        }
    }
    assert!(overlaps > 10, "{overlaps}");
}

#[test]
fn a_box_of_six_planes_is_the_box() {
    let mut seed = 3;
    let half = [0.3, 0.2, 0.25];
    let planes = [0, 1, 2, 3, 4, 5].map(|k: usize| {
        let (axis, sign) = (k / 2, if k.is_multiple_of(2) { 1.0 } else { -1.0 });
        let mut n = [0.0; 3];
        n[axis] = sign;
        // a half-space's outward normal is z
        let turn = cross([0.0, 0.0, 1.0], n);
        let quaternion = match (axis, sign < 0.0) {
            (2, false) => [1.0, 0.0, 0.0, 0.0],
            (2, true) => [0.0, 1.0, 0.0, 0.0],
            _ => [0.5f64.sqrt(), turn[0] * 0.5f64.sqrt(), turn[1] * 0.5f64.sqrt(), 0.0],
        };
        Member { shape: Shape::HalfSpace, position: scale(half[axis], n), quaternion }
    });
    let made = solid(&Shape::Intersection { members: planes.to_vec() });
    let plain = solid(&Shape::Box { half });
    let ball = solid(&Shape::Sphere { radius: 0.1 });
    for _ in 0..60 {
        let [pa, pb] = poses(&mut seed, 0.5);
        let (found, known) = (touch_of(&made, &pa, &ball, &pb), touch_of(&plain, &pa, &ball, &pb));
        if known.gap > -0.05 {
            assert!((found.gap - known.gap).abs() < 1e-8, "{found:?} {known:?}");
            assert!(length(sub(found.normal, known.normal)) < 1e-6);
        }
    }
}

#[test]
fn a_polynomial_ellipsoid_is_one() {
    let semi_axes = [0.3, 0.2, 0.5];
    let term = |coefficient: f64, powers: [u32; 3]| Term { coefficient, powers };
    let mut terms = vec![term(-1.0, [0; 3])];
    for i in 0..3 {
        let mut powers = [0; 3];
        powers[i] = 2;
        terms.push(term(1.0 / (semi_axes[i] * semi_axes[i]), powers));
    }
    let made = solid(&Shape::Polynomial { terms, within: [semi_axes.map(|a| -a), semi_axes] });
    let plain = solid(&Shape::Ellipsoid { semi_axes });
    let other = solid(&Shape::Box { half: [0.2, 0.1, 0.1] });
    let mut seed = 4;
    for _ in 0..40 {
        let [pa, pb] = poses(&mut seed, 0.9);
        let (found, known) = (touch_of(&made, &pa, &other, &pb), touch_of(&plain, &pa, &other, &pb));
        assert!((found.gap - known.gap).abs() < 1e-8, "{found:?} {known:?}");
    }
}

#[test]
fn quadrics_without_bounds_and_bad_ones_are_known() {
    // z >= x^2 + y^2 turned over: a bowl's inside is not convex, its outside below is: z <= -(x^2 + y^2)
    let hill = solid(&Shape::Quadric {
        matrix: [1.0, 1.0, 0.0, 0.0, 0.0, 0.0],
        vector: [0.0, 0.0, 0.5],
        constant: 0.0,
    });
    let ball = solid(&Shape::Sphere { radius: 0.1 });
    let pose = Pose { position: [0.0, 0.0, 0.25], ..Pose::IDENTITY };
    let found = touch_of(&hill, &Pose::IDENTITY, &ball, &pose);
    assert!(
        (found.gap - 0.15).abs() < 1e-9 && length(sub(found.normal, [0.0, 0.0, 1.0])) < 1e-7,
        "{found:?}"
    );
    let saddle = Shape::Quadric { matrix: [1.0, -1.0, 0.0, 0.0, 0.0, 0.0], vector: [0.0; 3], constant: -1.0 };
    assert!(Solid::new(&saddle, false).unwrap_err().to_string().contains("not convex"));
    let empty = Shape::Quadric { matrix: [1.0, 1.0, 1.0, 0.0, 0.0, 0.0], vector: [0.0; 3], constant: 1.0 };
    assert!(Solid::new(&empty, false).unwrap_err().to_string().contains("no points inside"));
}

/// Exponent 2 is the ellipsoid; as it grows the box comes near.
#[test]
fn mass_of_superellipsoids_lies_between_ellipsoid_and_box() {
    let semi_axes = [0.3, 0.2, 0.5];
    let of = |shape: Shape| mass_properties(&shape, 1000.0, false).expect("a mass");
    let two = of(Shape::Superellipsoid { semi_axes, exponent: 2.0 });
    let plain = of(Shape::Ellipsoid { semi_axes });
    assert!((two.mass / plain.mass - 1.0).abs() < 1e-12);
    (0..3).for_each(|i| assert!((two.tensor[i][i] / plain.tensor[i][i] - 1.0).abs() < 1e-12));
    // exponent 4 by a sum over a grid
    let four = of(Shape::Superellipsoid { semi_axes, exponent: 4.0 });
    let (n, mut inside, mut square) = (80, 0.0, 0.0);
    for k in 0..n * n * n {
        let x = [k % n, k / n % n, k / n / n].map(|i| (i as f64 + 0.5) / n as f64);
        if x.iter().map(|x| x.powi(4)).sum::<f64>() <= 1.0 {
            inside += 1.0;
            square += x[0] * x[0];
        }
    }
    let volume = 8.0 * semi_axes.iter().product::<f64>() * inside / (n * n * n) as f64;
    assert!((four.mass / (1000.0 * volume) - 1.0).abs() < 3e-3);
    let x2 = square / inside * semi_axes[0].powi(2);
    let found = 0.5 * (four.tensor[1][1] + four.tensor[2][2] - four.tensor[0][0]) / four.mass;
    assert!((found / x2 - 1.0).abs() < 3e-3);
}
