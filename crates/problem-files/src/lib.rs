//! Problem files: NumPy archives (`.npz`) and FCLIB's HDF5, read and written.
//!
//! | file | arrays |
//! | --- | --- |
//! | `.npz`, LCP | `M` (square), `q` |
//! | `.npz`, mixed LCP | the same, and `comp`: one boolean per row, true for a complementarity, false for an equality with `z` free; the counts `n` of equalities and `m` of complementarities may stand beside it |
//! | `.npz`, boxed mixed LCP | `M`, `q`, and `l`, `u`: lower and upper bounds of `z`, which may be infinite; one of the two may be absent (no such bounds). Not beside `comp` |
//! | FCLIB, `fclib_local` | `spacedim`, `W` as triplets, by columns or by rows, `vectors/q`, `vectors/mu` |
//! | FCLIB, `fclib_global` | `spacedim`, `M`, `H`, optional `G`; `vectors/f`, `w`, `mu`, and `b` with `G`: the velocities are eliminated |
//!
//! It does not know how problems are solved. Start reading here, then in `npz.rs` and `fclib.rs`.
//!
//! Files are not trusted: no memory is allocated because a header asks for it, and every fault becomes a [`ReadError`]
//! of one line.

mod error;
mod fclib;
mod npy;
mod npz;
mod sparse;
mod tree_guard;
mod write;

pub use error::{At, Fault, ReadError};
pub use write::{Info, WriteError, write_boxed, write_friction, write_friction_with, write_lcp, write_mixed};

use complementarity::problem::{BoxedLcp, FrictionProblem, Lcp, MixedLcp};
use error::one_line;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Most rows of a problem that is read: its dense matrix takes 2 GiB.
pub const MOST_ROWS: usize = 1 << 14;

/// Largest file that is read.
pub const MOST_BYTES: u64 = 1 << 32;

/// What a file holds.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "one a file, and moved but once")]
pub enum Problem {
    /// A linear complementarity problem.
    Lcp(Lcp),
    /// A mixed linear complementarity problem.
    Mixed(MixedLcp),
    /// A mixed linear complementarity problem with box bounds.
    Boxed(BoxedLcp),
    /// A frictional contact problem; under Coulomb's cone unless the file says otherwise, see [`FrictionProblem::with_friction`].
    Friction(FrictionProblem),
}

impl Problem {
    /// Number of rows.
    pub fn size(&self) -> usize {
        match self {
            Self::Lcp(p) => p.size(),
            Self::Mixed(p) => p.size(),
            Self::Boxed(p) => p.size(),
            Self::Friction(p) => p.size(),
        }
    }
}

/// Reads a problem; its kind is known by the content, not by the name.
pub fn read(path: &Path) -> Result<Problem, ReadError> {
    let load = || {
        let mut file = File::open(path)?;
        let mut bytes = Vec::new();
        (&mut file).take(SIGNATURES_END).read_to_end(&mut bytes)?;
        let format = recognise(&bytes)?;
        let claimed = file.metadata()?.len();
        if claimed <= MOST_BYTES {
            (&mut file).take(MOST_BYTES - bytes.len() as u64 + 1).read_to_end(&mut bytes)?;
        }
        let found = claimed.max(bytes.len() as u64);
        if found > MOST_BYTES {
            return Err(Fault::too_large("the file", format!("{found} bytes"), MOST_BYTES.to_string()));
        }
        parse(format, bytes)
    };
    load().map_err(|fault| ReadError { file: one_line(&path.display().to_string()), fault })
}

/// Reads a problem from the content of a file; `name` stands in errors.
pub fn read_bytes(name: &str, bytes: &[u8]) -> Result<Problem, ReadError> {
    recognise(bytes)
        .and_then(|format| parse(format, bytes.to_vec()))
        .map_err(|fault| ReadError { file: one_line(name), fault })
}

fn parse(format: Format, bytes: Vec<u8>) -> Result<Problem, Fault> {
    match format {
        Format::Npz => npz::read(&bytes),
        Format::Hdf5 => fclib::read(bytes).map(Problem::Friction),
    }
}

#[derive(Debug, Clone, Copy)]
enum Format {
    Npz,
    Hdf5,
}

/// Bytes that settle the format: HDF5's signature stands at 0, 512, 1024 or, at the last, 2048 here.
const SIGNATURES_END: u64 = 2048 + 8;

fn recognise(bytes: &[u8]) -> Result<Format, Fault> {
    const HDF5: &[u8] = b"\x89HDF\r\n\x1a\n";
    if bytes.is_empty() {
        return Err(Fault::Empty);
    }
    // an archive without entries starts with its end record
    if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06") {
        return Ok(Format::Npz);
    }
    if [0, 512, 1024, 2048].iter().any(|&at| bytes.get(at..).is_some_and(|b| b.starts_with(HDF5))) {
        return Ok(Format::Hdf5);
    }
    Err(Fault::Unrecognised(if bytes.starts_with(npy::MAGIC) {
        "a single NumPy array (.npy)"
    } else if HDF5.starts_with(bytes) || b"PK\x03\x04".starts_with(bytes) {
        "truncated within its first bytes"
    } else {
        "an unknown kind of file"
    }))
}
