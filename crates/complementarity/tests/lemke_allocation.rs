//! Lemke's method allocates nothing once it has solved a problem of the size.
#![allow(missing_docs)]

mod allocations;
mod families;

use allocations::count;
use complementarity::solver::End;
use complementarity::solver::lemke::Lemke;
use families::{Family, build};

#[test]
fn a_second_solve_of_a_size_allocates_nothing() {
    for n in [5, 20, 60] {
        let problems = [1, 2, 3].map(|seed| build(Family::Degenerate, n, seed).lcp);
        let mut lemke = Lemke::default();
        for lcp in &problems {
            assert_eq!(lemke.solve(lcp, None, &mut |_| ()).end, End::Solved);
        }
        let before = count();
        for lcp in &problems {
            assert_eq!(lemke.solve(lcp, None, &mut |_| ()).end, End::Solved);
        }
        assert_eq!(count() - before, 0, "n = {n}");
    }
}
