//! Stiffness, damping and the step's blocks of every contact law, held to their definitions.

// helpers of tests
#![allow(clippy::unwrap_used)]

use complementarity::matrix::{Matrix, dot};
use std::sync::Arc;
use stiction::contact::half_space::compliance_matrix;
use stiction::contact::{
    Compliance, Directions, FrictionRule, Influence, InvalidContact, Law, Material, Pair, Patch,
    PatchDamping, damping_of_ratio,
};

fn pair(young: f64) -> Pair {
    let soft = Material { young, poisson: 0.3, friction: 0.5 };
    Pair::new(&soft, &Material::rigid(0.5), FrictionRule::default()).unwrap()
}

fn half_space(elements: usize, damping: PatchDamping) -> Law {
    Law::HalfSpace { elements, spacing: 1e-6, influence: Influence::Rectangle, damping, transport: true }
}

fn compliance(law: &Law, young: f64, directions: Directions, h: f64) -> Compliance {
    Compliance::new(Arc::new(Patch::new(law, &pair(young), directions).unwrap()), h).unwrap()
}

fn multiply(a: &Matrix, b: &Matrix) -> Matrix {
    Matrix::from_fn(a.rows(), b.columns(), |i, j| (0..a.columns()).map(|k| a[(i, k)] * b[(k, j)]).sum())
}

/// `|a - b|` at most `tolerance` times the largest entry of `b`.
fn assert_near(a: &Matrix, b: &Matrix, tolerance: f64) {
    let size = b.data().iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let error = a.data().iter().zip(b.data()).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
    assert!(error <= tolerance * size, "error {error:e}, size {size:e}");
}

/// The laws the products below are checked for; moduli from jelly to song2004's `eps = 1e-11`.
fn each_law(check: impl Fn(&Law, f64, Directions)) {
    let dampings = [PatchDamping::Root, PatchDamping::Proportional { time: 1e-3 }];
    for young in [1e3, 1e9, 1e11] {
        for damping in dampings {
            check(&half_space(3, damping), young, Directions::Planar);
            check(&half_space(4, damping), young, Directions::Spatial);
        }
        let kv = Law::KelvinVoigt { stiffness: [young, 0.5 * young], damping: [3.0, 0.0] };
        check(&kv, young, Directions::Planar);
        check(&kv, young, Directions::Spatial);
    }
}

#[test]
fn the_blocks_are_the_inverse_of_h_k_plus_c_and_that_times_k() {
    each_law(|law, young, directions| {
        for h in [1e-6, 1e-4, 1e-2] {
            let c = compliance(law, young, directions, h);
            let (k, d) = (c.patch().stiffness(), c.patch().damping());
            let e = Matrix::from_fn(c.rows(), c.rows(), |i, j| h * k[(i, j)] + d[(i, j)]);
            assert_near(&multiply(c.e_inv(), &e), &Matrix::identity(c.rows()), 1e-12);
            assert_near(&multiply(c.e_inv(), k), c.e_inv_k(), 1e-12);
        }
    });
}

#[test]
fn stiffness_inverts_the_compliance_and_root_damping_squares_to_four_times_it() {
    for young in [1e3, 1e11] {
        for (n, directions) in [(3, Directions::Planar), (5, Directions::Spatial)] {
            let patch = Patch::new(&half_space(n, PatchDamping::Root), &pair(young), directions).unwrap();
            let xi = compliance_matrix(patch.grid(), &pair(young), Influence::Rectangle);
            assert_near(&multiply(patch.stiffness(), &xi), &Matrix::identity(xi.rows()), 1e-12);
            let four = Matrix::from_fn(xi.rows(), xi.rows(), |i, j| 4.0 * patch.stiffness()[(i, j)]);
            assert_near(&multiply(patch.damping(), patch.damping()), &four, 1e-12);
        }
    }
}

#[test]
fn a_step_of_deformation_obeys_the_law_and_a_steady_force_ends_at_its_static_deformation() {
    each_law(|law, young, directions| {
        let h = 1e-3;
        let mut c = compliance(law, young, directions, h);
        let n = c.rows();
        let lambda: Vec<f64> = (0..n).map(|i| 1.0 + (i * 7 % 5) as f64).collect();
        let (mut delta, mut after) = (vec![0.0; n], vec![0.0; n]);
        let (mut elastic, mut viscous) = (vec![0.0; n], vec![0.0; n]);
        for _ in 0..3 {
            c.deformation_after(1.0, &lambda, &delta, &mut after);
            let rate: Vec<f64> = after.iter().zip(&delta).map(|(a, d)| (a - d) / h).collect();
            c.stiffness_times(&after, &mut elastic);
            c.damping_times(&rate, &mut viscous);
            for i in 0..n {
                let law = elastic[i] + viscous[i];
                assert!((law - lambda[i]).abs() < 1e-9, "row {i}: {law}, {}", lambda[i]);
            }
            delta.copy_from_slice(&after);
        }
        // soft elements under root damping need minutes to settle
        c.update(100.0).unwrap();
        for _ in 0..200 {
            c.deformation_after(1.0, &lambda, &delta, &mut after);
            delta.copy_from_slice(&after);
        }
        c.stiffness_times(&delta, &mut elastic);
        for i in 0..n {
            assert!((elastic[i] - lambda[i]).abs() < 1e-8, "row {i}: {}, {}", elastic[i], lambda[i]);
        }
        // the work of a force that grows slowly
        let work = 0.5 * dot(&lambda, &delta);
        assert!((c.elastic_energy(&delta) / work - 1.0).abs() < 1e-8);
    });
}

#[test]
fn going_to_a_step_and_back_gives_the_same_blocks() {
    let law = half_space(3, PatchDamping::Root);
    let mut c = compliance(&law, 1e10, Directions::Spatial, 1e-4);
    let before = c.clone();
    c.update(1e-3).unwrap();
    assert_eq!(c, compliance(&law, 1e10, Directions::Spatial, 1e-3));
    c.update(1e-4).unwrap();
    assert_eq!(c, before);
    assert!(c.update(0.0).is_err() && c.update(f64::NAN).is_err());
    assert_eq!(c, before);
}

#[test]
fn a_rigid_contact_has_no_rows_and_a_stiff_one_comes_near_it() {
    let rigid = compliance(&Law::Rigid, 1e10, Directions::Spatial, 1e-3);
    assert_eq!((rigid.rows(), rigid.e_inv().rows(), rigid.patch().grid().count()), (0, 0, 1));
    assert_eq!(rigid.elastic_energy(&[]), 0.0);
    let stiff = Law::KelvinVoigt { stiffness: [1e15; 2], damping: [0.0; 2] };
    let stiff = compliance(&stiff, 1e10, Directions::Planar, 1e-3);
    assert!(stiff.e_inv()[(0, 0)] < 1.001e-12 && stiff.e_inv()[(0, 1)] == 0.0);
}

#[test]
fn damping_ratio_one_is_the_border_of_oscillation() {
    let (k, m) = (4e4, 2.5);
    for ratio in [0.1, 0.999, 1.001, 3.0] {
        let c = damping_of_ratio(k, ratio, m);
        // discriminant of m s^2 + c s + k
        assert_eq!(c * c - 4.0 * m * k < 0.0, ratio < 1.0);
    }
    let law = Law::kelvin_voigt([k, k], 0.5, m).unwrap();
    let half = 0.5 * damping_of_ratio(k, 1.0, m);
    assert_eq!(law, Law::KelvinVoigt { stiffness: [k; 2], damping: [half; 2] });
    assert!(Law::kelvin_voigt([k, k], 0.5, 0.0).is_err() && Law::kelvin_voigt([k, -k], 0.5, m).is_err());
}

#[test]
fn bad_laws_are_errors_that_name_the_field_and_the_value() {
    let kv = |stiffness, damping| Law::KelvinVoigt { stiffness, damping };
    let spaced = |spacing| Law::HalfSpace {
        elements: 3,
        spacing,
        influence: Influence::Rectangle,
        damping: PatchDamping::Root,
        transport: true,
    };
    let cases = [
        (kv([-1.0, 1.0], [0.0; 2]), "normal stiffness is -1, expected at least 0 and finite"),
        (kv([1.0, 0.0], [1.0, 0.0]), "tangential stiffness is 0, expected above 0 where the damping is 0"),
        (kv([1.0, 1.0], [0.0, f64::INFINITY]), "tangential damping is inf, expected at least 0 and finite"),
        (spaced(0.0), "spacing is 0, expected above 0 and finite"),
        (half_space(0, PatchDamping::Root), "elements is 0: 0 rows of deformation, expected 1 to 5000"),
        (
            half_space(100, PatchDamping::Root),
            "elements is 100: 30000 rows of deformation, expected 1 to 5000",
        ),
        (
            half_space(3, PatchDamping::Proportional { time: -1.0 }),
            "damping time is -1, expected at least 0 and finite",
        ),
    ];
    for (law, message) in cases {
        let error = Patch::new(&law, &pair(1e9), Directions::Spatial).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
    let none = Pair::new(&Material::rigid(0.5), &Material::rigid(0.5), FrictionRule::default()).unwrap();
    let law = half_space(usize::MAX, PatchDamping::Root);
    assert!(matches!(
        Patch::new(&law, &none, Directions::Spatial),
        Err(InvalidContact::Elements { rows: usize::MAX, .. })
    ));
    assert_eq!(
        Patch::new(&half_space(3, PatchDamping::Root), &none, Directions::Spatial),
        Err(InvalidContact::NeitherDeforms)
    );
}
