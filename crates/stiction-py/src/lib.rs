//! The Python package `stiction`: conversion between Python and the Rust crates, and nothing else.
//!
//! One class per file. `convert` turns Python values into scenes and reports into dictionaries, `memory`
//! holds the NumPy arrays that a simulation shares with its user, `interrupt` keeps Ctrl-C alive while Rust
//! computes. Structured arrays, names and data frames are made by the Python part (`python/stiction`).

#![allow(
    clippy::needless_pass_by_value,
    clippy::type_complexity,
    reason = "arguments are extracted from Python, tuples are built for it"
)]

mod accelerate;
mod batch;
mod boundary;
mod convert;
mod errors;
mod history;
mod interrupt;
mod memory;
mod model;
mod recording;
mod report;
mod scene;
mod simulation;
mod solve;
mod state;
mod tables;

use pyo3::prelude::*;

/// Compiled part of the package `stiction`; import `stiction` instead.
#[pymodule]
mod _core {
    #[pymodule_export]
    use crate::accelerate::accelerate;
    #[pymodule_export]
    use crate::batch::{Batch, BatchReport};
    #[pymodule_export]
    use crate::boundary::{converge, shoot};
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::recording::Recording;
    #[pymodule_export]
    use crate::report::{Run, StepReport};
    #[pymodule_export]
    use crate::scene::{Scene, capabilities, nearest, schema};
    #[pymodule_export]
    use crate::simulation::Simulation;
    #[pymodule_export]
    use crate::solve::{SolveReport, decide, solve_friction, solve_lcp, solve_mixed};
    #[pymodule_export]
    use crate::state::State;

    #[pymodule_init]
    fn init(m: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        use pyo3::types::PyModuleMethods;
        m.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
