//! What is asked. Constructors validate; conversions are explicit and know the way back.

mod boxed;
mod conversion;
mod elimination;
mod friction;
mod instant;
mod lcp;
mod mixed;
mod nonlinear;
mod rolling;

pub use crate::element::{Contact, Element, Friction, Mode, SIDES, SIDES_EXPECTED};
pub use boxed::{BoxedLcp, Unboxed};
pub use conversion::{Converted, NotConvertible};
pub use elimination::{Elimination, NotEliminable};
pub use friction::{ContactProblem, FrictionProblem};
pub use instant::{Border, Group, InstantProblem, Reduced};
pub use lcp::Lcp;
pub use mixed::MixedLcp;
pub use nonlinear::{Nonlinear, SparseRows, check as check_nonlinear, derivative_error};
pub use rolling::{LcpForm, RollingLcp};

use crate::matrix::Matrix;

/// Why numbers do not make a problem: which entry of which part, and what it is.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum InvalidProblem {
    /// A matrix that must be square is not.
    #[error("{part} is {rows} x {columns}, expected a square matrix")]
    NotSquare {
        /// Name of the matrix.
        part: &'static str,
        /// Rows found.
        rows: usize,
        /// Columns found.
        columns: usize,
    },
    /// A vector of the wrong length.
    #[error("{part} has {found} entries, expected {expected}")]
    Size {
        /// Name of the vector.
        part: &'static str,
        /// Length found.
        found: usize,
        /// Length needed.
        expected: usize,
    },
    /// NaN or infinite entry of a matrix.
    #[error("{part}[{row}, {column}] = {value}, expected a finite number")]
    MatrixEntry {
        /// Name of the matrix.
        part: &'static str,
        /// Row, from 0.
        row: usize,
        /// Column, from 0.
        column: usize,
        /// What stands there.
        value: f64,
    },
    /// A vector entry outside what is allowed.
    #[error("{part}[{index}] = {value}, expected {expected}")]
    VectorEntry {
        /// Name of the vector.
        part: &'static str,
        /// Index, from 0.
        index: usize,
        /// What stands there.
        value: f64,
        /// What would be allowed.
        expected: &'static str,
    },
    /// A setting outside what is allowed.
    #[error("{part} = {value}, expected {expected}")]
    Setting {
        /// Name of the setting.
        part: &'static str,
        /// What was given.
        value: f64,
        /// What would be allowed.
        expected: &'static str,
    },
}

fn check_square(part: &'static str, m: &Matrix) -> Result<(), InvalidProblem> {
    if m.rows() != m.columns() {
        return Err(InvalidProblem::NotSquare { part, rows: m.rows(), columns: m.columns() });
    }
    match m.data().iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(k) => Err(InvalidProblem::MatrixEntry {
            part,
            row: k / m.columns(),
            column: k % m.columns(),
            value: m.data()[k],
        }),
    }
}

fn check_vector(part: &'static str, v: &[f64], expected: usize) -> Result<(), InvalidProblem> {
    if v.len() != expected {
        return Err(InvalidProblem::Size { part, found: v.len(), expected });
    }
    match v.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(index) => {
            Err(InvalidProblem::VectorEntry { part, index, value: v[index], expected: "a finite number" })
        }
    }
}
