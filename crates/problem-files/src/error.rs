//! Why a file could not be read: one line that names the file, the part and the entry.

use complementarity::problem::InvalidProblem;
use std::fmt;
use std::io;

/// Why a file could not be read. Prints as one line.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {fault}")]
pub struct ReadError {
    /// The file, as it was named.
    pub file: String,
    /// What is wrong with it.
    #[source]
    pub fault: Fault,
}

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The operating system says no.
    #[error("{}", one_line(&.0.to_string()))]
    Io(#[from] io::Error),
    /// Nothing in it.
    #[error("the file is empty")]
    Empty,
    /// Neither kind of file that is read here.
    #[error("{0}, expected a NumPy archive (.npz) or an FCLIB file (HDF5)")]
    Unrecognised(&'static str),
    /// Of the right kind, but its container cannot be made sense of: truncated or altered.
    #[error("truncated or damaged {container}: {reason}")]
    Damaged {
        /// Archive, array or HDF5 file.
        container: String,
        /// In the words of whoever tripped over it.
        reason: String,
    },
    /// A part that must be there is not.
    #[error("missing {kind} '{part}'")]
    Missing {
        /// Array, group or dataset.
        kind: &'static str,
        /// Its name.
        part: String,
    },
    /// Entries of a type that means nothing here.
    #[error("{part} holds {found}, expected {expected}")]
    Type {
        /// Which part.
        part: String,
        /// The type found.
        found: String,
        /// What would be read.
        expected: &'static str,
    },
    /// A number of dimensions, or of entries, that does not fit.
    #[error("{part} has {found}, expected {expected}")]
    Size {
        /// Which part.
        part: String,
        /// What it has.
        found: String,
        /// What it should have.
        expected: String,
    },
    /// An entry outside what is allowed.
    #[error("{part}{index} = {value}, expected {expected}")]
    Entry {
        /// Which part.
        part: String,
        /// Which entry.
        index: At,
        /// What stands there.
        value: f64,
        /// What would be allowed.
        expected: String,
    },
    /// Beyond the limits of [`crate::MOST_ROWS`] and [`crate::MOST_BYTES`].
    #[error("{part} has {found}, too large: at most {limit} are read")]
    TooLarge {
        /// Which part.
        part: String,
        /// What it claims to have.
        found: String,
        /// What would be read.
        limit: String,
    },
    /// A header that promises more data than there is.
    #[error("{part} claims {claimed} bytes, the file holds {held}")]
    Short {
        /// Which part.
        part: String,
        /// Bytes by the header.
        claimed: u64,
        /// Bytes there.
        held: u64,
    },
    /// A global problem whose velocities cannot be eliminated.
    #[error("M, with the constraints of G, is singular: its velocities cannot be eliminated")]
    Singular,
    /// Well formed, but of a kind that is not read yet.
    #[error("{0} not supported yet")]
    NotSupported(&'static str),
    /// The numbers make no problem.
    #[error(transparent)]
    Invalid(#[from] InvalidProblem),
}

/// Where an entry stands; prints as `[3]`, `[3, 4]` or nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// The part is a single number.
    Scalar,
    /// Index into a vector.
    Vector(usize),
    /// Row and column.
    Matrix(usize, usize),
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar => Ok(()),
            Self::Vector(i) => write!(f, "[{i}]"),
            Self::Matrix(i, j) => write!(f, "[{i}, {j}]"),
        }
    }
}

impl Fault {
    pub(crate) fn damaged(container: impl Into<String>, reason: impl fmt::Display) -> Self {
        Self::Damaged { container: container.into(), reason: one_line(&reason.to_string()) }
    }

    pub(crate) fn missing(kind: &'static str, part: &str) -> Self {
        Self::Missing { kind, part: part.to_owned() }
    }

    pub(crate) fn size(part: &str, found: impl Into<String>, expected: impl Into<String>) -> Self {
        Self::Size { part: part.to_owned(), found: found.into(), expected: expected.into() }
    }

    pub(crate) fn entries(part: &str, found: usize, expected: usize) -> Self {
        Self::size(part, format!("{found} entries"), expected.to_string())
    }

    pub(crate) fn entry(part: &str, index: At, value: f64, expected: impl Into<String>) -> Self {
        Self::Entry { part: part.to_owned(), index, value, expected: expected.into() }
    }

    pub(crate) fn too_large(part: &str, found: impl Into<String>, limit: impl Into<String>) -> Self {
        Self::TooLarge { part: part.to_owned(), found: found.into(), limit: limit.into() }
    }
}

/// Text out of a file or a path, fit to stand in a line.
pub(crate) fn one_line(text: &str) -> String {
    const MOST: usize = 300;
    let mut out = String::new();
    for c in text.chars() {
        if out.len() >= MOST {
            out.push_str("...");
            break;
        }
        if c.is_control() || c == '\u{2028}' || c == '\u{2029}' {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}
