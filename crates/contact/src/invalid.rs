//! Why numbers do not make a contact.

/// Which quantity of a material or law is wrong, and what it is.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum InvalidContact {
    /// A number out of its range.
    #[error("{field} is {value}, expected {expected}")]
    Value {
        /// Name of the quantity.
        field: &'static str,
        /// What was given.
        value: f64,
        /// What may be given.
        expected: &'static str,
    },
    /// A patch of no elements, or of more than fit.
    #[error("elements is {elements}: {rows} rows of deformation, expected 1 to {most}")]
    Elements {
        /// Elements along an edge.
        elements: usize,
        /// Rows that would make.
        rows: usize,
        /// Most rows of a patch.
        most: usize,
    },
    /// A law that needs an elastic material, between two that do not deform.
    #[error("young is infinite for both materials of an elastic contact, expected one finite at least")]
    NeitherDeforms,
    /// The compliance matrix is not positive definite to working precision.
    #[error("compliance has eigenvalues from {smallest} to {largest}, expected all positive")]
    NotPositive {
        /// Smallest eigenvalue, m/N (NaN if the decomposition failed).
        smallest: f64,
        /// Largest eigenvalue, m/N.
        largest: f64,
    },
}

/// `Ok` if `value` passes `test`; else an error that names the field.
pub(super) fn check(
    field: &'static str,
    value: f64,
    expected: &'static str,
    test: impl Fn(f64) -> bool,
) -> Result<(), InvalidContact> {
    if test(value) { Ok(()) } else { Err(InvalidContact::Value { field, value, expected }) }
}
