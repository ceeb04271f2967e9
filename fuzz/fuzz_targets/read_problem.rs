//! Any bytes at all are a problem whose sizes agree, or an error of one line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use problem_files::{Problem, read_bytes};
use std::borrow::Cow;

fuzz_target!(|bytes: &[u8]| {
    let problem = match read_bytes("fuzzed", bytes) {
        Ok(problem) => problem,
        Err(e) => {
            let line = e.to_string();
            assert!(line.starts_with("fuzzed: ") && !line.chars().any(char::is_control), "{line:?}");
            return;
        }
    };
    let n = problem.size();
    let (matrix, vector) = match &problem {
        Problem::Lcp(p) => (Cow::Borrowed(p.matrix()), p.vector()),
        Problem::Boxed(p) => {
            assert_eq!((p.lower().len(), p.upper().len()), (n, n));
            (Cow::Borrowed(p.matrix()), p.vector())
        }
        Problem::Mixed(p) => {
            assert_eq!(p.complementary().len(), n);
            (Cow::Borrowed(p.matrix()), p.vector())
        }
        Problem::Friction(p) => {
            assert_eq!(p.elements().iter().map(|e| e.rows()).sum::<usize>(), n);
            assert_eq!(p.mu().len(), p.contacts());
            (p.matrix(), p.vector())
        }
    };
    assert_eq!((matrix.rows(), matrix.columns(), vector.len()), (n, n, n));
    assert!(matrix.data().iter().chain(vector).all(|x| x.is_finite()));
});
