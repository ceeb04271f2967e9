//! Datasets of an FCLIB file, read with suspicion.

use crate::MOST_ROWS;
use crate::error::{At, Fault};
use crate::sparse::Sparse;
use hdf5_pure::{DType, Dataset, Error, FormatError, Group, Layout};

/// Compressed chunks may hold more than the file: deflate packs 1032 bytes into one at the most.
const MOST_PACKED: u64 = 1032;

/// The group of a problem, and how many bytes the file has.
pub(super) struct Source {
    pub root: Group,
    pub held: u64,
}

impl Source {
    /// `None`: there is no such dataset.
    pub fn dataset(&self, part: &str) -> Result<Option<Dataset>, Fault> {
        match self.root.dataset(part) {
            Ok(dataset) => Ok(Some(dataset)),
            Err(
                Error::Format(FormatError::PathNotFound(_)) | Error::NotADataset(_) | Error::NotAGroup(_),
            ) => Ok(None),
            Err(e) => Err(damaged(e)),
        }
    }

    /// A vector of some numeric type, small enough to read.
    fn vector(&self, part: &str, expected: &'static str, of: fn(&DType) -> bool) -> Result<Dataset, Fault> {
        let dataset = self.dataset(part)?.ok_or_else(|| Fault::missing("dataset", part))?;
        let dtype = dataset.dtype().map_err(damaged)?;
        if !of(&dtype) {
            // names of compound members come from the file and may be long
            let found = match dtype {
                DType::Compound(_) => "compound entries".to_owned(),
                DType::Enum(_) => "an enumeration".to_owned(),
                DType::Array(..) | DType::Other(_) => "entries of another type".to_owned(),
                simple => format!("entries of type {simple}"),
            };
            return Err(Fault::Type { part: part.to_owned(), found, expected });
        }
        self.check_size(part, &dataset)?;
        Ok(dataset)
    }

    /// No more entries than the file can hold, and never more than a full matrix has.
    fn check_size(&self, part: &str, dataset: &Dataset) -> Result<(), Fault> {
        let shape = dataset.shape().map_err(damaged)?;
        if shape.len() > 1 {
            let found = format!("{} dimensions", shape.len());
            return Err(Fault::size(part, found, "a vector"));
        }
        let width = dataset.element_size().map_err(damaged)?;
        let product = |shape: &[u64]| shape.iter().fold(1u64, |n, &d| n.saturating_mul(d));
        let count = product(&shape);
        let most = (MOST_ROWS * MOST_ROWS) as u64;
        if count > most {
            return Err(Fault::too_large(part, format!("{count} entries"), most.to_string()));
        }
        let (claimed, held) = match dataset.layout().map_err(damaged)? {
            Layout::Chunked { chunk_shape, .. } => {
                (count.max(product(&chunk_shape)), self.held.saturating_mul(MOST_PACKED))
            }
            Layout::Virtual => return Err(Fault::NotSupported("virtual datasets are")),
            _ => (count, self.held),
        };
        let claimed = claimed.saturating_mul(width);
        if claimed > held {
            return Err(Fault::Short { part: part.to_owned(), claimed, held: self.held });
        }
        Ok(())
    }

    pub fn integers(&self, part: &str) -> Result<Vec<i64>, Fault> {
        self.vector(part, "integers", is_integer)?.read_i64().map_err(|e| within(part, &e))
    }

    pub fn integer(&self, part: &str) -> Result<i64, Fault> {
        match self.integers(part)?[..] {
            [x] => Ok(x),
            ref more => Err(Fault::entries(part, more.len(), 1)),
        }
    }

    /// A group with a matrix in it.
    pub fn matrix(&self, name: &'static str) -> Result<Sparse, Fault> {
        let part = |part: &str| format!("{name}/{part}");
        let count = |of: &str| {
            let found = self.integer(&part(of))?;
            let what = if of == "m" { "a number of rows" } else { "a number of columns" };
            let count = usize::try_from(found)
                .map_err(|_| Fault::entry(&part(of), At::Scalar, found as f64, what))?;
            match count {
                count if count > MOST_ROWS => {
                    let what = if of == "m" { "rows" } else { "columns" };
                    Err(Fault::too_large(name, format!("{count} {what}"), MOST_ROWS.to_string()))
                }
                count => Ok(count),
            }
        };
        Ok(Sparse {
            name,
            rows: count("m")?,
            columns: count("n")?,
            nz: self.integer(&part("nz"))?,
            p: self.integers(&part("p"))?,
            i: self.integers(&part("i"))?,
            x: self.numbers(&part("x"))?,
        })
    }

    pub fn numbers(&self, part: &str) -> Result<Vec<f64>, Fault> {
        let is_number = |t: &DType| matches!(t, DType::F32 | DType::F64) || is_integer(t);
        self.vector(part, "floating-point numbers", is_number)?.read_f64().map_err(|e| within(part, &e))
    }
}

fn is_integer(t: &DType) -> bool {
    use DType::{I8, I16, I32, I64, U8, U16, U32};
    matches!(t, I8 | I16 | I32 | I64 | U8 | U16 | U32)
}

/// `None`: there is no such group.
pub(super) fn group(found: Result<Group, Error>) -> Result<Option<Group>, Fault> {
    match found {
        Ok(group) => Ok(Some(group)),
        Err(Error::Format(FormatError::PathNotFound(_)) | Error::NotAGroup(_)) => Ok(None),
        Err(e) => Err(damaged(e)),
    }
}

pub(super) fn damaged(e: Error) -> Fault {
    Fault::damaged("HDF5 file", e)
}

fn within(part: &str, e: &Error) -> Fault {
    Fault::damaged(format!("dataset '{part}'"), e)
}
