//! Interior point and ADMM for cones allocate nothing once they have solved a problem of the size.
#![allow(missing_docs)]

mod allocations;
mod families;

use allocations::count;
use complementarity::matrix::{Matrix, dot};
use complementarity::operator::{BlockMatrix, Operator};
use complementarity::problem::{ConeProblem, Friction, Sets};
use complementarity::solver::admm::Admm;
use complementarity::solver::cone_interior_point::ConeInteriorPoint;
use families::Uniform;

#[test]
fn a_second_solve_of_a_size_allocates_nothing() {
    for contacts in [4, 30] {
        let mut u = Uniform(contacts as u64);
        let n = 3 * contacts;
        let j = Matrix::from_fn(n, n / 2, |_, _| u.signed());
        let a = Matrix::from_fn(n, n, |r, c| dot(j.row(r), j.row(c)));
        let a = Operator::Blocks(BlockMatrix::from_dense(&a, 3));
        let mu = vec![0.5; contacts];
        let loads = [0, 1].map(|_| j.times(&(0..n / 2).map(|_| u.signed()).collect::<Vec<_>>()));
        let (mut interior_point, mut admm) = (ConeInteriorPoint::default(), Admm::default());
        let mut lambda = vec![0.0; n];
        let mixed: Vec<Friction> =
            (0..contacts).map(|c| [Friction::Cone, Friction::Polygon { sides: 8 }][c % 2]).collect();
        let mut before = 0;
        for round in 0..2 {
            if round == 1 {
                before = count();
            }
            let sets = [Sets::All(Friction::Cone), Sets::Each(&mixed)];
            for (b, sets) in loads.iter().flat_map(|b| sets.map(|sets| (b, sets))) {
                let problem = ConeProblem { a: &a, b, mu: &mu, rows: 3, sets };
                lambda.fill(0.0);
                assert!(interior_point.solve(problem, &mut lambda).is_solved());
                lambda.fill(0.0);
                assert!(admm.solve(problem, &mut lambda).is_solved());
            }
        }
        assert_eq!(count() - before, 0, "{contacts} contacts");
    }
}
