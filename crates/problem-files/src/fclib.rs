//! FCLIB's HDF5 files -> friction problem: group `fclib_local`, 2 or 3 rows a contact.

use crate::MOST_ROWS;
use crate::error::{At, Fault};
use crate::sparse::Sparse;
use crate::tree_guard;
use complementarity::operator::Operator;
use complementarity::problem::{Friction, FrictionProblem};
use hdf5_pure::{DType, Dataset, Error, File, FormatError, Group, Layout};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Compressed chunks may hold more than the file: deflate packs 1032 bytes into one at the most.
const MOST_PACKED: u64 = 1032;

/// What is read from the file, before anyone asks what it means.
struct Raw {
    spacedim: i64,
    rows: i64,
    columns: i64,
    nz: i64,
    p: Vec<i64>,
    i: Vec<i64>,
    x: Vec<f64>,
    q: Vec<f64>,
    mu: Vec<f64>,
    rolling: bool,
}

pub(crate) fn read(bytes: Vec<u8>) -> Result<FrictionProblem, Fault> {
    tree_guard::check(&bytes)?;
    // hdf5-pure means to answer damaged files with errors, but makes no promise. A panic of its becomes an
    // error here; the panic hook of the program, if it prints, is left alone.
    let raw = catch_unwind(AssertUnwindSafe(|| Raw::read(bytes)))
        .unwrap_or_else(|_| Err(Fault::damaged("HDF5 file", "its structure makes no sense")))?;
    raw.problem()
}

impl Raw {
    fn read(bytes: Vec<u8>) -> Result<Self, Fault> {
        let held = bytes.len() as u64;
        let file = File::from_bytes(bytes).map_err(damaged)?;
        let Some(root) = group(file.group("fclib_local"))? else {
            for (name, what) in [
                ("fclib_global", "global problems (group 'fclib_global') are"),
                ("fclib_global_rolling", "rolling friction (group 'fclib_global_rolling') is"),
                ("fclib_local_rolling", "rolling friction (group 'fclib_local_rolling') is"),
            ] {
                if group(file.group(name))?.is_some() {
                    return Err(Fault::NotSupported(what));
                }
            }
            return Err(Fault::missing("group", "fclib_local"));
        };
        let source = Source { root, held };
        Ok(Self {
            spacedim: source.integer("spacedim")?,
            rows: source.integer("W/m")?,
            columns: source.integer("W/n")?,
            nz: source.integer("W/nz")?,
            p: source.integers("W/p")?,
            i: source.integers("W/i")?,
            x: source.numbers("W/x")?,
            q: source.numbers("vectors/q")?,
            mu: source.numbers("vectors/mu")?,
            rolling: source.dataset("vectors/mu_r")?.is_some(),
        })
    }

    fn problem(self) -> Result<FrictionProblem, Fault> {
        if self.rolling || self.spacedim == 5 {
            return Err(Fault::NotSupported("rolling friction (5 rows a contact) is"));
        }
        if !matches!(self.spacedim, 2 | 3) {
            return Err(Fault::entry("spacedim", At::Scalar, self.spacedim as f64, "2 or 3"));
        }
        let dim = self.spacedim as usize;
        let order = usize::try_from(self.rows)
            .map_err(|_| Fault::entry("W/m", At::Scalar, self.rows as f64, "a number of rows"))?;
        if self.columns != self.rows {
            let expected = format!("{order} as W/m: a square matrix");
            return Err(Fault::entry("W/n", At::Scalar, self.columns as f64, expected));
        }
        if order > MOST_ROWS {
            return Err(Fault::too_large("W", format!("{order} rows"), MOST_ROWS.to_string()));
        }
        if order % dim != 0 {
            let expected = format!("a multiple of {dim} (spacedim)");
            return Err(Fault::entry("W/m", At::Scalar, order as f64, expected));
        }
        if self.q.len() != order {
            return Err(Fault::entries("vectors/q", self.q.len(), order));
        }
        if self.mu.len() != order / dim {
            return Err(Fault::entries("vectors/mu", self.mu.len(), order / dim));
        }
        if let Some(k) = self.q.iter().position(|x| !x.is_finite()) {
            return Err(Fault::entry("vectors/q", At::Vector(k), self.q[k], "a finite number"));
        }
        if let Some(k) = self.mu.iter().position(|x| !(x.is_finite() && *x >= 0.0)) {
            return Err(Fault::entry("vectors/mu", At::Vector(k), self.mu[k], "a finite number >= 0"));
        }
        let w = Sparse { order, nz: self.nz, p: self.p, i: self.i, x: self.x }.to_blocks(dim)?;
        Ok(FrictionProblem::new(Operator::Blocks(w), self.q, self.mu, dim, Friction::Cone)?)
    }
}

/// The group `fclib_local`, and how many bytes the file has.
struct Source {
    root: Group,
    held: u64,
}

impl Source {
    /// `None`: there is no such dataset.
    fn dataset(&self, part: &str) -> Result<Option<Dataset>, Fault> {
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

    fn integers(&self, part: &str) -> Result<Vec<i64>, Fault> {
        self.vector(part, "integers", is_integer)?.read_i64().map_err(|e| within(part, &e))
    }

    fn integer(&self, part: &str) -> Result<i64, Fault> {
        match self.integers(part)?[..] {
            [x] => Ok(x),
            ref more => Err(Fault::entries(part, more.len(), 1)),
        }
    }

    fn numbers(&self, part: &str) -> Result<Vec<f64>, Fault> {
        let is_number = |t: &DType| matches!(t, DType::F32 | DType::F64) || is_integer(t);
        self.vector(part, "floating-point numbers", is_number)?.read_f64().map_err(|e| within(part, &e))
    }
}

fn is_integer(t: &DType) -> bool {
    use DType::{I8, I16, I32, I64, U8, U16, U32};
    matches!(t, I8 | I16 | I32 | I64 | U8 | U16 | U32)
}

/// `None`: there is no such group.
fn group(found: Result<Group, Error>) -> Result<Option<Group>, Fault> {
    match found {
        Ok(group) => Ok(Some(group)),
        Err(Error::Format(FormatError::PathNotFound(_)) | Error::NotAGroup(_)) => Ok(None),
        Err(e) => Err(damaged(e)),
    }
}

fn damaged(e: Error) -> Fault {
    Fault::damaged("HDF5 file", e)
}

fn within(part: &str, e: &Error) -> Fault {
    Fault::damaged(format!("dataset '{part}'"), e)
}
