//! The cone solvers allocate nothing once they have solved a problem of the size.
#![allow(missing_docs)]

mod allocations;
#[allow(dead_code)]
mod piles;

use allocations::count;
use complementarity::solver::auto::Auto;
use complementarity::solver::gauss_seidel::GaussSeidel;
use complementarity::solver::newton::Newton;
use complementarity::solver::newton::proximal::ProximalNewton;
use complementarity::solver::velocity_newton::VelocityNewton;

#[test]
fn a_second_solve_of_a_size_allocates_nothing() {
    let problems =
        [piles::boxes(1, 0.5, 0.01, 0.001), piles::boxes(4, 0.5, 0.01, 0.001), piles::spheres(3, 0.5, 3)];
    for p in &problems {
        let mut lambda = vec![0.0; p.b.len()];
        let (mut auto, mut sweeps) = (Auto::default(), GaussSeidel::default());
        let mut newton = Newton::default();
        let mut proximal = ProximalNewton::default();
        let mut velocity = VelocityNewton::default();
        velocity.settings.choose_forces = true;
        let mut before = 0;
        for round in 0..3 {
            if round == 1 {
                before = count();
            }
            lambda.fill(0.0);
            assert!(auto.solve(p.problem(), &mut lambda).is_solved());
            lambda.fill(0.0);
            _ = sweeps.solve(p.problem(), &mut lambda);
            lambda.fill(0.0);
            assert!(newton.solve(p.problem(), &mut lambda).is_solved());
            lambda.fill(0.0);
            assert!(proximal.solve(p.problem(), &mut lambda).is_solved());
            lambda.fill(0.0);
            assert!(velocity.solve(p.problem(), &mut lambda).is_solved());
        }
        assert_eq!(count() - before, 0, "{} contacts", p.elements.len());
    }
}
