//! The interior point for cones allocates nothing once it has solved a problem of the size.
#![allow(missing_docs)]

mod allocations;
mod families;

use allocations::count;
use complementarity::matrix::{Matrix, dot};
use complementarity::operator::{BlockMatrix, Operator};
use complementarity::problem::{ContactProblem, Element, Friction};
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
        let loads = [0, 1].map(|_| j.times(&(0..n / 2).map(|_| u.signed()).collect::<Vec<_>>()));
        let mut interior_point = ConeInteriorPoint::default();
        let mut lambda = vec![0.0; n];
        let with = |sets: [Friction; 2]| -> Vec<Element> {
            (0..contacts).map(|c| Element::contact(3, 0.5, sets[c % 2])).collect()
        };
        let kinds = [with([Friction::Cone; 2]), with([Friction::Cone, Friction::Polygon { sides: 8 }])];
        let mut before = 0;
        for round in 0..2 {
            if round == 1 {
                before = count();
            }
            for (b, elements) in loads.iter().flat_map(|b| kinds.each_ref().map(|elements| (b, elements))) {
                let problem = ContactProblem::new(&a, b, elements);
                lambda.fill(0.0);
                assert!(interior_point.solve(problem, &mut lambda).is_solved());
            }
        }
        assert_eq!(count() - before, 0, "{contacts} contacts");
    }
}
