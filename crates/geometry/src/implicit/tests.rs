//! Closest points by functions against those by support functions, closed forms and the equations themselves.

use super::super::shape::{Member, Term};
use super::super::{Workspace, mass_properties, touches};
use super::*;
use crate::space::Quaternion;
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

fn half_ellipsoid(semi_axes: Vector) -> Shape {
    let member = |shape: Shape| Member { shape, position: [0.0; 3], quaternion: [1.0, 0.0, 0.0, 0.0] };
    Shape::Intersection { members: vec![member(Shape::Ellipsoid { semi_axes }), member(Shape::HalfSpace)] }
}

/// A half-ellipsoid with its flat side down, at any tilt: its lowest point is on the rim, at `z - sqrt(a^2 dx^2 + b^2 dy^2)` for the direction `d` of the ground.
#[test]
fn a_flat_side_over_a_plane_has_the_gap_of_its_rim() {
    let (a, b) = (0.12, 0.1);
    let own = solid(&half_ellipsoid([a, b, 0.1]));
    let plane = solid(&Shape::HalfSpace);
    let mut seed = 8;
    for k in 0..=26 {
        // 1e-13 to 1 rad
        let tilt = 10f64.powf(-13.0 + 0.5 * f64::from(k));
        for _ in 0..20 {
            let [x, y, _] = unit([vector(&mut seed)[0], vector(&mut seed)[1], 0.0]);
            let over = Quaternion::turn([std::f64::consts::PI, 0.0, 0.0]);
            let attitude = Quaternion::turn(scale(tilt, [x, y, 0.0])).after(over);
            let height = [0.3, 1e-3, 1e-9, 0.0, -1e-9, -1e-3][(6.0 * random(&mut seed)) as usize];
            let d = attitude.inverse().apply([0.0, 0.0, -1.0]);
            assert!(d[2] > 0.0);
            let reach = (a * d[0]).hypot(b * d[1]);
            let pose = Pose { position: [0.1, 0.2, height + reach], attitude };
            let found = touch_of(&plane, &Pose::IDENTITY, &own, &pose);
            // a point of the rim as near as 1e-12 of the size stands for the nearest
            assert!((found.gap - height).abs() < 1e-12 * 0.2, "tilt {tilt:e}, {height:e}: {:e}", found.gap);
        }
    }
}

/// The rim of a half-ellipsoid is its ellipse.
#[test]
fn points_of_flat_sides_lie_on_their_rims() {
    let own = solid(&half_ellipsoid([0.12, 0.1, 0.1]));
    assert_eq!(own.rims.len(), 12);
    for [x, y, z] in &own.rims {
        let off = (x / 0.12).hypot(y / 0.1) - 1.0;
        assert!(off.abs() < 1e-13 && z.abs() < 1e-15, "{x} {y} {z}");
    }
}

/// More than three planes in a corner: an octahedron and a cone of twelve sides, inside a ball that does not touch them. Their rims are their corners, and their gaps
/// those of the polytopes.
#[test]
fn corners_of_many_planes_are_found() {
    let mut cone: Vec<Vector> = (0..12)
        .map(|k| (std::f64::consts::TAU * f64::from(k) / 12.0).sin_cos())
        .map(|(s, c)| [0.1 * c, 0.1 * s, 0.0])
        .collect();
    cone.push([0.0, 0.0, 0.15]);
    let mut octahedron = vec![];
    for i in 0..3 {
        for sign in [-0.1, 0.1] {
            let mut v = [0.0; 3];
            v[i] = sign;
            octahedron.push(v);
        }
    }
    let mut seed = 11;
    let plane = solid(&Shape::HalfSpace);
    for vertices in [octahedron, cone] {
        let plain = solid(&Shape::Polytope { vertices: vertices.clone() });
        let member = |shape: Shape| Member { shape, position: [0.0; 3], quaternion: [1.0, 0.0, 0.0, 0.0] };
        let members = vec![member(plain.shape().clone()), member(Shape::Sphere { radius: 0.3 })];
        let made = solid(&Shape::Intersection { members });
        for v in &vertices {
            assert!(made.rims.iter().any(|p| length(sub(*p, *v)) < 1e-12), "{v:?} of {:?}", made.rims);
        }
        assert_eq!(made.rims.len(), vertices.len());
        for _ in 0..50 {
            let pose =
                Pose { position: [0.1, 0.2, 0.1], attitude: Quaternion::turn(scale(3.0, vector(&mut seed))) };
            let [found, known] = [&made, &plain].map(|s| touch_of(&plane, &Pose::IDENTITY, s, &pose));
            assert!((found.gap - known.gap).abs() < 1e-12, "{found:?} {known:?}");
        }
    }
}

/// Members without bounds that have a bounded part in common: the box around a quadric that is no ellipsoid between planes, and corners of a turned prism.
#[test]
fn bodies_of_members_without_bounds_are_bounded() {
    let about = |axis: Vector, angle: f64| Quaternion::turn(scale(angle, axis)).0;
    let member =
        |shape: Shape, position: Vector, quaternion: [f64; 4]| Member { shape, position, quaternion };
    let pi = std::f64::consts::PI;
    // z >= x^2 / 0.4 + y^2 / 0.1 (a bowl of paraboloids) up to z = 0.9
    let bowl =
        Shape::Quadric { matrix: [2.5, 10.0, 0.0, 0.0, 0.0, 0.0], vector: [0.0, 0.0, -0.5], constant: 0.0 };
    let lid = member(Shape::HalfSpace, [0.0, 0.0, 0.9], [1.0, 0.0, 0.0, 0.0]);
    let cup = [member(bowl, [0.0; 3], [1.0, 0.0, 0.0, 0.0]), lid.clone()];
    let made = solid(&Shape::Intersection { members: cup.to_vec() });
    let half = [0.6, 0.3];
    for c in made.corners() {
        let off = [c[0].abs() - half[0], c[1].abs() - half[1], (c[2] - 0.45).abs() - 0.45];
        assert!(off.iter().all(|x| x.abs() < 1e-12), "{c:?}");
    }
    // without its lid it is not
    assert!(solid(&Shape::Intersection { members: cup[..1].to_vec() }).is_unbounded());

    // a prism over an equilateral triangle with inner radius 0.1, turned: six corners
    let turn = Quaternion::turn([0.3, -0.7, 1.1]);
    let mut sides = vec![([0.0, 0.0, 1.0], 0.2), ([0.0, 0.0, -1.0], 0.2)];
    sides.extend([0, 1, 2].map(|k| {
        let (sin, cos) = (2.0 * pi / 3.0 * f64::from(k)).sin_cos();
        ([cos, sin, 0.0], 0.1)
    }));
    let members: Vec<_> = sides
        .iter()
        .map(|(n, d)| {
            let tip = if n[2] < 0.0 {
                about([1.0, 0.0, 0.0], pi)
            } else {
                about(cross([0.0, 0.0, 1.0], *n), pi / 2.0)
            };
            let tip = if n[2] > 0.0 { [1.0, 0.0, 0.0, 0.0] } else { tip };
            member(Shape::HalfSpace, turn.apply(scale(*d, *n)), turn.after(Quaternion(tip)).0)
        })
        .collect();
    let made = solid(&Shape::Intersection { members: members.clone() });
    assert_eq!(made.rims.len(), 6, "{:?}", made.rims);
    for p in &made.rims {
        let [x, y, z] = turn.inverse().apply(*p);
        assert!((x.hypot(y) - 0.2).abs() < 1e-12 && (z.abs() - 0.2).abs() < 1e-12, "{x} {y} {z}");
    }
    // three sides and one end: open
    assert!(solid(&Shape::Intersection { members: members[1..].to_vec() }).is_unbounded());
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

/// Shapes cut by random half-spaces, at random places and flat on their sides to angles down to 1e-14: all are made, all lowest points are found, and no point of a rim is
/// outside or lower than they are.
#[test]
fn random_intersections_touch_a_half_space() {
    let mut seed = 77;
    let plane = solid(&Shape::HalfSpace);
    for _ in 0..300 {
        let a = [0, 1, 2].map(|_| 0.1 + 0.4 * random(&mut seed));
        let exponent = 2.0 + 6.0 * random(&mut seed);
        let base = match (5.0 * random(&mut seed)) as usize {
            0 => Shape::Ellipsoid { semi_axes: a },
            1 => Shape::Box { half: a },
            2 => Shape::cylinder(a[0], a[1]),
            3 => Shape::Superellipsoid { semi_axes: a, exponent },
            _ => Shape::Capsule { radius: a[0], half_length: a[1] },
        };
        let quaternion = Quaternion::turn(scale(3.0, vector(&mut seed))).0;
        let mut members = vec![Member { shape: base, position: scale(0.02, vector(&mut seed)), quaternion }];
        let mut normals = vec![];
        for _ in 0..1 + (9.0 * random(&mut seed)) as usize {
            let n = unit(vector(&mut seed));
            let turn = scale(n[2].acos(), unit(cross([0.0, 0.0, 1.0], n)));
            let position = scale(0.05 + 0.3 * random(&mut seed), n);
            members.push(Member { shape: Shape::HalfSpace, position, quaternion: Quaternion::turn(turn).0 });
            normals.push(n);
        }
        let own = solid(&Shape::Intersection { members });
        let here = body(&own, &Pose::IDENTITY);
        assert!(own.rims.iter().all(|p| here.depth(*p) < 1e-9));
        for k in 0..5 {
            let tilt = 10f64.powf(-14.0 * random(&mut seed));
            let near = add(normals[0], scale(tilt, vector(&mut seed)));
            let down = unit(if k < 3 { near } else { vector(&mut seed) });
            let t = cross(down, [0.0, 0.0, -1.0]);
            let attitude = Quaternion::turn(scale((-down[2]).acos() / length(t), t));
            let pose = Pose { position: [0.1, 0.0, 0.2], attitude };
            let found =
                closest(&body(&plane, &Pose::IDENTITY), &body(&own, &pose), own.reach).expect("found");
            let lowest = own.rims.iter().map(|p| pose.point(*p)[2]).fold(f64::INFINITY, f64::min);
            assert!(found.gap < lowest + 1e-9, "{} {lowest}", found.gap);
        }
    }
}
