//! Lemke's method allocates nothing once it has solved a problem of the size.
#![allow(missing_docs)]

mod families;

use complementarity::solver::lemke::{End, Lemke};
use families::{Family, build};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;

static CALLS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: hands everything on to the system's allocator.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn a_second_solve_of_a_size_allocates_nothing() {
    for n in [5, 20, 60] {
        let problems = [1, 2, 3].map(|seed| build(Family::Degenerate, n, seed).lcp);
        let mut lemke = Lemke::default();
        for lcp in &problems {
            assert_eq!(lemke.solve(lcp, None, &mut |_| ()).end, End::Solved);
        }
        let before = CALLS.load(Ordering::Relaxed);
        for lcp in &problems {
            assert_eq!(lemke.solve(lcp, None, &mut |_| ()).end, End::Solved);
        }
        assert_eq!(CALLS.load(Ordering::Relaxed) - before, 0, "n = {n}");
    }
}
