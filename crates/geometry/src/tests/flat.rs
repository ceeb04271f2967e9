//! Planar scenes.

use super::*;

const KINDS: usize = 4;

fn sheet(shape: &Shape) -> Solid {
    Solid::new(shape, true).unwrap()
}

#[test]
fn planar_distances_are_proved_by_a_normal_and_two_points() {
    let mut chance = Chance(21);
    for i in 0..KINDS {
        for j in 0..KINDS {
            let mut checked = 0;
            while checked < 100 {
                let (a, b) = (chance.planar_shape(i), chance.planar_shape(j));
                let (p, q) = (chance.planar_pose(1.5), chance.planar_pose(1.5));
                let (sa, sb) = (sheet(&a), sheet(&b));
                let t = deepest(&find(&sa, &p, &sb, &q, 10.0));
                assert!(t.normal[2] == 0.0 && t.point[2] == 0.0 && (length(t.normal) - 1.0).abs() < 1e-14);
                let bound = planar_apart(&a, &p, &b, &q, t.normal);
                assert!((t.gap - bound).abs() < 1e-12, "{a:?} {b:?} {} {bound}", t.gap);
                if t.gap > 1e-3 {
                    let half = scale(0.5 * t.gap, t.normal);
                    assert!(outside(&sa, &p, sub(t.point, half)) < 1e-11);
                    assert!(outside(&sb, &q, add(t.point, half)) < 1e-11);
                    checked += 1;
                } else if t.gap > -0.03 {
                    let most = searched(|n| planar_apart(&a, &p, &b, &q, n), true);
                    assert!(most < t.gap + 1e-10, "{a:?} {p:?} {b:?} {q:?}: {} {most}", t.gap);
                }
            }
        }
    }
}

fn planar_apart(a: &Shape, p: &Pose, b: &Shape, q: &Pose, n: Vector) -> f64 {
    apart(a, p, b, q, n)
}

#[test]
fn polygons_meet_in_an_edge_of_two_points() {
    let square = sheet(&Shape::Box { half: [0.5, 0.5, 1.0] });
    let triangle = sheet(&Shape::Polygon { vertices: vec![[-1.0, 0.0], [1.0, 0.0], [0.0, 1.0]] });
    let q = Pose { position: [0.25, 0.5 + 1e-4, 0.0], ..Pose::IDENTITY };
    let mut t = find(&square, &Pose::IDENTITY, &triangle, &q, 1e-3);
    t.sort_by(|s, t| s.point[0].total_cmp(&t.point[0]));
    assert_eq!(t.len(), 2);
    for (t, x) in t.iter().zip([-0.5, 0.5]) {
        assert!((t.gap - 1e-4).abs() < 1e-15 && length(sub(t.point, [x, 0.5 + 0.5e-4, 0.0])) < 1e-15);
        assert!(length(sub(t.normal, [0.0, 1.0, 0.0])) < 1e-15);
    }
}

#[test]
fn a_tilted_ellipse_on_the_half_plane_has_the_closed_form_gap_and_point() {
    let (ground, ellipse) = (sheet(&Shape::HalfSpace), sheet(&Shape::Ellipse { semi_axes: [0.4, 0.1] }));
    for k in 0..20 {
        let angle = 0.3 * f64::from(k);
        let q = Pose { position: [1.0, 0.35, 0.0], attitude: Quaternion::turn([0.0, 0.0, angle]) };
        let t = find(&ground, &Pose::IDENTITY, &ellipse, &q, 1.0);
        let depth = (0.4 * angle.sin()).hypot(0.1 * angle.cos());
        let x = (0.1f64.powi(2) - 0.4f64.powi(2)) * angle.sin() * angle.cos() / depth;
        assert_eq!(t.len(), 1);
        assert!((t[0].gap - (0.35 - depth)).abs() < 1e-15, "{}", t[0].gap);
        assert!((t[0].point[0] - (1.0 + x)).abs() < 1e-15);
    }
}

#[test]
fn polygons_touch_the_half_plane_with_every_corner_within_the_margin() {
    let (ground, square) = (sheet(&Shape::HalfSpace), sheet(&Shape::Box { half: [0.5, 0.5, 1.0] }));
    let q = Pose { position: [0.0, 0.5, 0.0], ..Pose::IDENTITY };
    assert_eq!(find(&ground, &Pose::IDENTITY, &square, &q, 1e-3).len(), 2);
    assert_eq!(find(&square, &q, &ground, &Pose::IDENTITY, 2.0).len(), 4);
}

#[test]
fn shapes_of_space_are_refused_in_the_plane() {
    let shape = Shape::Capsule { radius: 1.0, half_length: 1.0 };
    let error = Solid::new(&shape, true).unwrap_err();
    assert_eq!(error.to_string(), "shape capsule cannot be used in a planar scene");
    assert!(Solid::new(&Shape::Ellipse { semi_axes: [1.0, 1.0] }, false).is_err());
}
