//! Problem files: NumPy archives (`.npz`) and FCLIB's HDF5, read and written.

mod error;
mod write;

pub use error::{At, Fault, ReadError};
pub use write::{WriteError, write_lcp, write_mixed};
