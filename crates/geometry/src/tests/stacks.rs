//! Manifolds: flat faces, stacks, lines, caps, and their ids.

use super::*;

fn at(position: Vector) -> Pose {
    Pose { position, ..Pose::IDENTITY }
}

fn sorted_points(touches: &[Touch]) -> Vec<Vector> {
    let mut points: Vec<Vector> = touches.iter().map(|t| t.point.map(|x| (x * 1e9).round() / 1e9)).collect();
    points.sort_by(|a, b| a.partial_cmp(b).unwrap());
    points
}

#[test]
fn a_box_flat_on_a_half_space_touches_with_four_corners_of_equal_gap() {
    let (ground, cube) = (solid(&Shape::HalfSpace), solid(&Shape::Box { half: [0.5, 0.3, 0.2] }));
    for angle in [0.0, 0.3, 1.1] {
        let p = Pose { position: [3.0, -2.0, 0.2 + 1e-4], attitude: Quaternion::turn([0.0, 0.0, angle]) };
        let t = find(&ground, &Pose::IDENTITY, &cube, &p, 1e-2);
        assert_eq!(t.len(), 4);
        assert!(t.iter().all(|t| (t.gap - 1e-4).abs() < 1e-15 && t.normal == [0.0, 0.0, 1.0]));
    }
}

#[test]
fn ten_stacked_boxes_touch_with_the_four_corners_of_each_common_face() {
    for half in [[0.5, 0.5, 0.5], [0.3, 0.4, 0.1]] {
        let cube = solid(&Shape::Box { half });
        let polytope = solid(&Shape::Polytope {
            vertices: (0..8)
                .map(|k| [0, 1, 2].map(|i| if k >> i & 1 == 1 { half[i] } else { -half[i] }))
                .collect(),
        });
        for (a, b) in [(&cube, &cube), (&cube, &polytope), (&polytope, &polytope)] {
            for k in 0..9 {
                let (low, high) = (2.0 * half[2] * f64::from(k), 2.0 * half[2] * f64::from(k + 1));
                let t = find(a, &at([0.0, 0.0, low]), b, &at([0.0, 0.0, high]), 1e-3);
                assert_eq!(t.len(), 4);
                for t in &t {
                    assert!(t.gap.abs() < 2e-15 && length(sub(t.normal, [0.0, 0.0, 1.0])) < 1e-15);
                    assert!((t.point[0].abs() - half[0]).abs() < 1e-15);
                    assert!((t.point[1].abs() - half[1]).abs() < 1e-15);
                }
            }
        }
    }
}

#[test]
fn a_shifted_box_touches_at_the_corners_of_the_common_rectangle() {
    let (big, small) = (solid(&Shape::Box { half: [1.0; 3] }), solid(&Shape::Box { half: [0.5; 3] }));
    let t = find(&big, &Pose::IDENTITY, &small, &at([0.75, 0.8, 1.5 - 1e-3]), 0.0);
    let z = 1.0 - 0.5e-3;
    let expected = [[0.25, 0.3, z], [0.25, 1.0, z], [1.0, 0.3, z], [1.0, 1.0, z]];
    assert_eq!(sorted_points(&t), expected);
    assert!(t.iter().all(|t| (t.gap + 1e-3).abs() < 1e-15));
}

/// A square on a square, turned by an eighth of a circle, makes an octagon.
#[test]
fn a_turned_box_touches_at_eight_crossings_of_edges() {
    let cube = solid(&Shape::Box { half: [1.0; 3] });
    let q = Pose {
        position: [0.0, 0.0, 2.0],
        attitude: Quaternion::turn([0.0, 0.0, std::f64::consts::FRAC_PI_4]),
    };
    let t = find(&cube, &Pose::IDENTITY, &cube, &q, 1e-6);
    assert_eq!(t.len(), 8);
    let radius = 1.0 / (std::f64::consts::PI / 8.0).cos();
    assert!(t.iter().all(|t| (t.point[0].hypot(t.point[1]) - radius).abs() < 1e-14 && t.gap.abs() < 1e-14));
}

#[test]
fn crossed_edges_touch_at_one_point() {
    let cube = solid(&Shape::Box { half: [1.0; 3] });
    let quarter = std::f64::consts::FRAC_PI_4;
    let p = Pose { position: [0.0; 3], attitude: Quaternion::turn([quarter, 0.0, 0.0]) };
    let q = Pose {
        position: [0.0, 0.0, 2.0 * 2f64.sqrt() - 0.01],
        attitude: Quaternion::turn([0.0, quarter, 0.0]),
    };
    let t = find(&cube, &p, &cube, &q, 0.0);
    assert_eq!(t.len(), 1);
    assert!((t[0].gap + 0.01).abs() < 1e-14 && (t[0].normal[2] - 1.0).abs() < 1e-14);
    assert!(length(sub(t[0].point, [0.0, 0.0, 2f64.sqrt() - 0.005])) < 1e-14);
}

#[test]
fn ids_persist_under_small_motion_and_differ_within_a_pair() {
    let mut chance = Chance(11);
    let (big, small) = (solid(&Shape::Box { half: [1.0; 3] }), solid(&Shape::Box { half: [0.5; 3] }));
    for _ in 0..50 {
        let turn = Quaternion::turn([0.0, 0.0, chance.between(0.1, 0.7)]);
        let x = chance.between(-1.2, 1.2);
        let q = Pose { position: [x, 0.1, 1.5], attitude: turn };
        let nudge = Pose { position: chance.vector(1e-5), attitude: Quaternion::turn(chance.vector(1e-5)) };
        let ids = |q: &Pose| {
            let mut ids: Vec<u32> =
                find(&big, &Pose::IDENTITY, &small, q, 1e-3).iter().map(|t| t.feature).collect();
            ids.sort_unstable();
            ids
        };
        let before = ids(&q);
        let mut unique = before.clone();
        unique.dedup();
        assert_eq!(before, unique);
        assert!(before.len() >= 3 && before == ids(&nudge.then(&q)));
    }
}

#[test]
fn a_capsule_lies_on_a_box_and_on_a_parallel_capsule_with_two_points() {
    let rod = solid(&Shape::Capsule { radius: 0.1, half_length: 0.5 });
    let cube = solid(&Shape::Box { half: [1.0; 3] });
    let lying = Quaternion::turn([std::f64::consts::FRAC_PI_2, 0.0, 0.0]);
    let q = Pose { position: [0.0, 0.8, 1.1], attitude: lying };
    let t = find(&cube, &Pose::IDENTITY, &rod, &q, 1e-6);
    assert_eq!(sorted_points(&t), [[0.0, 0.3, 1.0], [0.0, 1.0, 1.0]]);
    assert!(t.iter().all(|t| t.gap.abs() < 1e-14));
    let p = Pose { position: [0.0; 3], attitude: lying };
    let q = Pose { position: [0.0, 0.3, 0.2], attitude: lying };
    let t = find(&rod, &p, &rod, &q, 1e-6);
    assert_eq!(sorted_points(&t), [[0.0, -0.2, 0.1], [0.0, 0.5, 0.1]]);
    assert!(t.iter().all(|t| t.gap.abs() < 1e-14));
}

#[test]
fn a_cylinder_stands_on_eight_points_lies_on_two_and_leans_on_one() {
    let ground = solid(&Shape::HalfSpace);
    let slab = solid(&Shape::Box { half: [2.0, 2.0, 1.0] });
    let rod = solid(&Shape::cylinder(0.3, 0.5));
    let turn = |angle: f64| Quaternion::turn([0.0, angle, 0.0]);
    for (angle, height, count) in [
        (0.0, 0.5, 8),
        (std::f64::consts::FRAC_PI_2, 0.3, 2),
        (0.4, 0.5 * 0.4f64.cos() + 0.3 * 0.4f64.sin(), 1),
    ] {
        let q = Pose { position: [0.1, 0.2, height], attitude: turn(angle) };
        for (base, p) in [(&ground, Pose::IDENTITY), (&slab, at([0.0, 0.0, -1.0]))] {
            let t = find(base, &p, &rod, &q, 1e-9);
            assert_eq!(t.len(), count, "{angle} {t:?}");
            assert!(t.iter().all(|t| t.gap.abs() < 1e-14 && (t.normal[2] - 1.0).abs() < 1e-14));
        }
    }
}

#[test]
fn a_wide_cylinder_carries_a_box_by_its_corners_and_a_cylinder_by_its_rim() {
    let disc = solid(&Shape::cylinder(1.0, 0.1));
    let cube = solid(&Shape::Box { half: [0.2; 3] });
    let t = find(&disc, &Pose::IDENTITY, &cube, &at([0.3, 0.0, 0.3]), 1e-9);
    assert_eq!(sorted_points(&t), [[0.1, -0.2, 0.1], [0.1, 0.2, 0.1], [0.5, -0.2, 0.1], [0.5, 0.2, 0.1]]);
    // a box half over the rim: two corners and two crossings
    let t = find(&disc, &Pose::IDENTITY, &cube, &at([1.0, 0.0, 0.3]), 1e-9);
    let x = (1.0f64 - 0.04).sqrt();
    assert!(t.iter().filter(|t| (t.point[0] - x).abs() < 1e-14).count() == 2 && t.len() >= 4);
    let can = solid(&Shape::cylinder(0.4, 0.5));
    let t = find(&disc, &Pose::IDENTITY, &can, &at([0.1, 0.2, 0.6]), 1e-9);
    assert_eq!(t.len(), 8);
    assert!(t.iter().all(|t| ((t.point[0] - 0.1).hypot(t.point[1] - 0.2) - 0.4).abs() < 1e-14));
    // rims that cross at (0.5, +-sqrt(3)/2)
    let t = find(&disc, &Pose::IDENTITY, &disc, &at([1.0, 0.0, 0.2]), 1e-9);
    let cross =
        |t: &&Touch| (t.point[0] - 0.5).abs() < 1e-14 && (t.point[1].abs() - 0.75f64.sqrt()).abs() < 1e-14;
    assert_eq!(t.iter().filter(cross).count(), 2);
    assert!(t.iter().all(|t| t.gap.abs() < 1e-14));
}

#[test]
fn points_of_a_face_are_fixed_to_the_body_while_its_tilt_wanders() {
    let ground = solid(&Shape::HalfSpace);
    let slab = solid(&Shape::Box { half: [2.0, 2.0, 1.0] });
    let can = solid(&Shape::Cylinder { radius: 0.3, half_length: 0.5, rim_points: 5, rings: 2 });
    for (base, p) in [(&ground, Pose::IDENTITY), (&slab, at([0.0, 0.0, -1.0]))] {
        for k in 0..12 {
            let angle = f64::from(k) * 0.5;
            let attitude = Quaternion::turn([1e-5 * angle.cos(), 1e-5 * angle.sin(), 0.0]);
            let q = Pose { position: [0.1, 0.2, 0.5], attitude };
            let t = find(base, &p, &can, &q, 1e-3);
            // beside them there is the lowest point of the rim, which tips
            assert_eq!(t.len(), 11);
            let lowest = t.iter().map(|t| t.gap).fold(f64::INFINITY, f64::min);
            assert!((lowest + 0.3 * 1e-5).abs() < 1e-9, "{lowest:e}");
            for ring in [0.3, 0.1] {
                let fixed = (0..5).filter(|i| {
                    let turn = f64::from(*i) + if ring == 0.3 { 0.0 } else { 0.5 };
                    let (y, x) = (turn * std::f64::consts::TAU / 5.0).sin_cos();
                    let local = |t: &Touch| sub(q.local(t.point), [ring * x, ring * y, -0.5]);
                    t.iter().any(|t| length(local(t)) < 1e-5)
                });
                assert_eq!(fixed.count(), 5);
            }
        }
    }
}

#[test]
fn rings_of_a_face_have_the_mean_radius_of_uniform_pressure() {
    let ground = solid(&Shape::HalfSpace);
    for rings in [2, 3, 7, 16] {
        let disc = solid(&Shape::Cylinder { radius: 1.0, half_length: 0.1, rim_points: 6, rings });
        let t = find(&ground, &Pose::IDENTITY, &disc, &at([0.0, 0.0, 0.1]), 1e-9);
        let radii = t.iter().map(|t| t.point[0].hypot(t.point[1]));
        assert_eq!(t.len(), 6 * rings as usize);
        assert!((radii.clone().sum::<f64>() / t.len() as f64 - 2.0 / 3.0).abs() < 1e-14);
        assert!((radii.fold(0.0, f64::max) - 1.0).abs() < 1e-15);
    }
}

/// At `v = omega R` uniform pressure has the friction force 8/(3 pi) and the moment 8/(9 pi) R, in `mu N`.
#[test]
fn friction_of_a_disc_that_slides_and_spins_tends_to_that_of_uniform_pressure() {
    let ground = solid(&Shape::HalfSpace);
    let errors = [2, 4, 8].map(|rings| {
        let disc = solid(&Shape::Cylinder { radius: 1.0, half_length: 0.1, rim_points: 16, rings });
        let t = find(&ground, &Pose::IDENTITY, &disc, &at([0.0, 0.0, 0.1]), 1e-9);
        let mean = |part: &dyn Fn([f64; 4]) -> f64| {
            let each = t.iter().map(|t| {
                let [x, y, _] = t.point;
                let slip = (1.0 - y).hypot(x).max(1e-9);
                part([x, y, (1.0 - y) / slip, x / slip])
            });
            each.sum::<f64>() / t.len() as f64 * std::f64::consts::PI
        };
        let force = mean(&|[_, _, u, _]| u) * 3.0 / 8.0 - 1.0;
        let moment = mean(&|[x, y, u, v]| x * v - y * u) * 9.0 / 8.0 - 1.0;
        [force.abs(), moment.abs()]
    });
    println!("{errors:?}");
    assert!(errors[0][0] < 0.06 && errors[0][1] < 0.23);
    assert!(errors.windows(2).all(|e| e[1][0] < 0.35 * e[0][0] && e[1][1] < 0.35 * e[0][1]));
}

#[test]
fn a_tilted_box_keeps_its_lowest_edge_with_the_right_gaps() {
    let slab = solid(&Shape::Box { half: [2.0, 2.0, 1.0] });
    let cube = solid(&Shape::Box { half: [0.5; 3] });
    let tilt = 1e-3f64;
    let q = Pose { position: [0.0, 0.0, 1.5], attitude: Quaternion::turn([0.0, tilt, 0.0]) };
    let t = find(&slab, &Pose::IDENTITY, &cube, &q, 0.01);
    assert_eq!(t.len(), 4);
    for t in t {
        let side = -t.point[0].signum();
        let expected = 0.5 - 0.5 * tilt.cos() + side * 0.5 * tilt.sin();
        assert!((t.gap - expected).abs() < 1e-14);
    }
}
