//! Mass, heights, boxes and checks of shapes.

use super::*;
use crate::space::{Tensor, dot};
use crate::{
    Aabb, BroadPhase, InvalidShape, MassProperties, bounding_box, combined, gap_along, height,
    mass_properties,
};

/// Midpoint quadrature of mass, centre and inertia over the points the shape holds.
fn by_quadrature(s: &Solid, cells: usize) -> MassProperties {
    let planar = s.planar();
    let Aabb { min, max } = bounding_box(s, &Pose::IDENTITY, 0.0);
    let step = [0, 1, 2].map(|a| (max[a] - min[a]) / cells as f64);
    let at = |a: usize, i: usize| min[a] + (i as f64 + 0.5) * step[a];
    let (mut mass, mut first, mut second) = (0.0, [0.0; 3], [[0.0; 3]; 3]);
    for i in 0..cells {
        for j in 0..cells {
            for k in 0..if planar { 1 } else { cells } {
                let x = [at(0, i), at(1, j), if planar { 0.0 } else { at(2, k) }];
                if outside(s, &Pose::IDENTITY, x) <= 0.0 {
                    mass += 1.0;
                    first = add(first, x);
                    for p in 0..3 {
                        for q in 0..3 {
                            second[p][q] += x[p] * x[q];
                        }
                    }
                }
            }
        }
    }
    let cell = step[0] * step[1] * if planar { 1.0 } else { step[2] };
    let center = scale(1.0 / mass, first);
    let about = |p: usize, q: usize| cell * (second[p][q] - mass * center[p] * center[q]);
    let trace = about(0, 0) + about(1, 1) + about(2, 2);
    let tensor: Tensor =
        [0, 1, 2].map(|p| [0, 1, 2].map(|q| if p == q { trace - about(p, q) } else { -about(p, q) }));
    MassProperties { mass: cell * mass, center, tensor }
}

fn differ(a: &MassProperties, b: &MassProperties) -> f64 {
    let size = (a.tensor[0][0] + a.tensor[1][1] + a.tensor[2][2]) / a.mass;
    let tensor = (0..3).flat_map(|i| (0..3).map(move |j| (i, j)));
    let worst = tensor.map(|(i, j)| (a.tensor[i][j] - b.tensor[i][j]).abs()).fold(0.0, f64::max);
    ((a.mass - b.mass).abs() / a.mass)
        .max(length(sub(a.center, b.center)) / size.sqrt())
        .max(worst / (a.mass * size))
}

#[test]
fn mass_properties_agree_with_quadrature() {
    let mut chance = Chance(31);
    for kind in 0..6 {
        let s = solid(&chance.shape(kind));
        let found = mass_properties(s.shape(), 1.0, false).unwrap();
        let d = differ(&found, &by_quadrature(&s, 120));
        assert!(d < 3e-3, "{:?} {d}", s.shape());
    }
    for kind in 0..4 {
        let s = Solid::new(&chance.planar_shape(kind), true).unwrap();
        let found = mass_properties(s.shape(), 1.0, true).unwrap();
        let d = differ(&found, &by_quadrature(&s, 1000));
        assert!(d < 3e-3, "{:?} {d}", s.shape());
    }
    assert!(mass_properties(&Shape::HalfSpace, 1.0, false).is_none());
}

#[test]
fn a_box_as_polytope_polygon_or_two_halves_has_the_closed_form() {
    let half = [0.3, 0.5, 0.7];
    let whole = mass_properties(&Shape::Box { half }, 2.0, false).unwrap();
    assert!((whole.mass - 2.0 * 8.0 * 0.105).abs() < 1e-15);
    assert!((whole.tensor[2][2] - whole.mass * (0.09 + 0.25) / 3.0).abs() < 1e-15);
    let shift = [5.0, -3.0, 2.0];
    let corner = |k: usize| add(shift, [0, 1, 2].map(|i| if k >> i & 1 == 1 { half[i] } else { -half[i] }));
    let polytope = Shape::Polytope { vertices: (0..8).map(corner).collect() };
    let mut found = mass_properties(&polytope, 2.0, false).unwrap();
    assert!(length(sub(found.center, shift)) < 1e-14);
    found.center = [0.0; 3];
    assert!(differ(&whole, &found) < 1e-14);
    // two halves, one of them turned by half a circle about x
    let part = mass_properties(&Shape::Box { half: [0.3, 0.25, 0.7] }, 2.0, false).unwrap();
    let turn = Quaternion::turn([std::f64::consts::PI, 0.0, 0.0]);
    let right = Pose { position: [0.0, 0.25, 0.0], ..Pose::IDENTITY };
    let left = Pose { position: [0.0, -0.25, 0.0], attitude: turn };
    assert!(differ(&whole, &combined(&[(part, right), (part, left)]).unwrap()) < 1e-14);
    assert!(combined(&[]).is_none());
    let sheet = mass_properties(&Shape::Box { half }, 1.0, true).unwrap();
    let polygon = Shape::Polygon { vertices: vec![[-0.3, -0.5], [0.3, -0.5], [0.3, 0.5], [-0.3, 0.5]] };
    assert!(differ(&sheet, &mass_properties(&polygon, 1.0, true).unwrap()) < 1e-14);
}

/// A turned and moved body's tensor, against the sum over its turned mass points.
#[test]
fn combining_turns_the_tensor_with_the_part() {
    let part = mass_properties(&Shape::Box { half: [0.1, 0.2, 0.3] }, 1.0, false).unwrap();
    let pose = Pose { position: [1.0, 2.0, 3.0], attitude: Quaternion::turn([0.4, -0.8, 0.3]) };
    let body = combined(&[(part, pose)]).unwrap();
    for axis in 0..3 {
        let mut e = [0.0; 3];
        e[axis] = 1.0;
        let u = pose.attitude.apply(e);
        let about = dot(u, crate::space::times(&body.tensor, u));
        assert!((about - part.tensor[axis][axis]).abs() < 1e-15);
    }
    assert!(length(sub(body.center, pose.position)) < 1e-15);
}

#[test]
fn gaps_along_the_normal_at_a_touch_are_the_touches_gaps() {
    let mut chance = Chance(32);
    for planar in [false, true] {
        let kinds = if planar { 4 } else { 6 };
        for i in 0..kinds {
            for j in 0..kinds {
                for _ in 0..20 {
                    let [a, b] = [i, j].map(|k| {
                        let shape = if planar { chance.planar_shape(k) } else { chance.shape(k) };
                        Solid::new(&shape, planar).unwrap()
                    });
                    let mut pose = || if planar { chance.planar_pose(1.5) } else { chance.pose(1.5) };
                    let (p, q) = (pose(), pose());
                    let t = deepest(&find(&a, &p, &b, &q, 10.0));
                    // a line through a corner may just miss it; a step of rounding is steep on a rim
                    let gap = gap_along(&a, &p, &b, &q, t.point, t.normal);
                    let sharp =
                        |s: &Solid| s.corners().len() > 2 || matches!(s.shape(), Shape::Cylinder { .. });
                    if t.gap > 0.0 && !sharp(&a) && !sharp(&b) {
                        assert!(
                            (gap - t.gap).abs() < 1e-11,
                            "{:?} {:?} {gap} {}",
                            a.shape(),
                            b.shape(),
                            t.gap
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn heights_are_where_the_line_leaves_the_shape() {
    let mut chance = Chance(33);
    for kind in 0..6 {
        let mut hit = 0;
        while hit < 200 {
            let (s, p) = (solid(&chance.shape(kind)), chance.pose(1.0));
            let (x, d) = (chance.vector(1.5), crate::space::unit(chance.vector(1.0)));
            let h = height(&s, &p, x, d);
            if h == f64::NEG_INFINITY {
                continue;
            }
            hit += 1;
            let at = |h: f64| outside(&s, &p, add(x, scale(h, d)));
            assert!(at(h).abs() < 1e-12 && at(h + 1e-3) > 0.0, "{:?} {}", s.shape(), at(h));
        }
    }
    let ground = solid(&Shape::HalfSpace);
    assert_eq!(height(&ground, &Pose::IDENTITY, [1.0, 2.0, 3.0], [0.0, 0.0, 1.0]), -3.0);
    let ball = solid(&Shape::Sphere { radius: 1.0 });
    assert_eq!(height(&ball, &Pose::IDENTITY, [2.0, 0.0, 0.0], [0.0, 0.0, 1.0]), f64::NEG_INFINITY);
    let beside = Pose { position: [0.0, 0.0, 1.0], ..Pose::IDENTITY };
    let gap = gap_along(&ground, &Pose::IDENTITY, &ball, &beside, [0.1, 0.0, 0.0], [0.0, 0.0, 1.0]);
    assert!((gap - (1.0 - 0.99f64.sqrt())).abs() < 1e-15);
}

#[test]
fn boxes_around_shapes_are_tight() {
    let mut chance = Chance(34);
    for kind in 0..6 {
        for _ in 0..20 {
            let (shape, p) = (chance.shape(kind), chance.pose(1.0));
            let found = bounding_box(&solid(&shape), &p, 0.1);
            for i in 0..3 {
                let mut n = [0.0; 3];
                n[i] = 1.0;
                assert!((found.max[i] - reach(&shape, &p, n) - 0.1).abs() < 1e-14);
                n[i] = -1.0;
                assert!((found.min[i] + reach(&shape, &p, n) + 0.1).abs() < 1e-14);
            }
        }
    }
}

#[test]
fn the_broad_phase_finds_the_pairs_of_an_all_pairs_test_while_bodies_move() {
    let mut chance = Chance(35);
    let mut broad = BroadPhase::default();
    let mut shapes: Vec<Solid> = (0..80).map(|k| solid(&chance.shape(k % 6))).collect();
    shapes.insert(3, solid(&Shape::HalfSpace));
    shapes.push(solid(&Shape::HalfSpace));
    let mut poses: Vec<Pose> = shapes.iter().map(|_| chance.pose(4.0)).collect();
    for round in 0..60 {
        if round == 30 {
            shapes.truncate(50);
            poses.truncate(50);
        }
        let boxes: Vec<Aabb> = shapes.iter().zip(&poses).map(|(s, p)| bounding_box(s, p, 0.01)).collect();
        let mut expected = Vec::new();
        for i in 0..boxes.len() {
            for j in i + 1..boxes.len() {
                let planes = *shapes[i].shape() == Shape::HalfSpace && *shapes[j].shape() == Shape::HalfSpace;
                if boxes[i].meets(&boxes[j]) && !planes {
                    expected.push([i as u32, j as u32]);
                }
            }
        }
        let mut found = Vec::new();
        broad.pairs(&boxes, &mut found);
        assert!(!expected.is_empty() && found == expected);
        // mostly so little that pairs need not be sought again
        let far = if round % 5 == 0 { 0.3 } else { 0.003 };
        for p in &mut poses {
            p.position = add(p.position, chance.vector(far));
        }
    }
}

#[test]
fn invalid_shapes_name_the_parameter_and_its_value() {
    let bad = Shape::Capsule { radius: 1.0, half_length: -2.0 };
    assert_eq!(bad.validate().unwrap_err().to_string(), "half_length must be positive and finite, but is -2");
    let bad = Shape::Ellipsoid { semi_axes: [1.0, f64::NAN, 1.0] };
    assert!(matches!(bad.validate(), Err(InvalidShape::Size { parameter: "semi_axes[1]", .. })));
    let square = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
    assert!(matches!(Shape::Polytope { vertices: square }.validate(), Err(InvalidShape::Flat { .. })));
    let few = Shape::Polytope { vertices: vec![[0.0; 3]; 3] };
    assert!(matches!(few.validate(), Err(InvalidShape::Count { count: 3, .. })));
    let clockwise = Shape::Polygon { vertices: vec![[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]] };
    assert!(matches!(clockwise.validate(), Err(InvalidShape::NotConvex { .. })));
    let dented = vec![[0.0, 0.0], [1.0, 0.0], [0.2, 0.2], [0.0, 1.0]];
    let refused = Shape::Polygon { vertices: dented }.validate();
    assert_eq!(refused.unwrap_err(), InvalidShape::NotConvex { vertex: 2 });
    let star: Vec<[f64; 2]> =
        (0..5).map(|k| (f64::from(k) * 2.513_274).sin_cos()).map(|(s, c)| [c, s]).collect();
    assert!(Shape::Polygon { vertices: star }.validate().is_err());
    let lost = Shape::Polygon { vertices: vec![[0.0, 0.0], [1.0, f64::INFINITY], [0.0, 1.0]] };
    assert!(matches!(lost.validate(), Err(InvalidShape::Coordinate { vertex: 1, axis: 1, .. })));
}
