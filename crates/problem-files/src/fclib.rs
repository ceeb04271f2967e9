//! FCLIB's HDF5 files -> friction problem: groups `fclib_local` and `fclib_global`, 2 or 3 rows a contact. Friction sets other than Coulomb's disc are an
//! addition of ours, which other readers leave alone ([`sets`]).

mod global;
pub(crate) mod sets;
mod source;

use crate::error::{At, Fault};
use crate::sparse::{Sparse, blocks};
use crate::tree_guard;
use complementarity::operator::{BlockMatrix, Operator};
use complementarity::problem::{Friction, FrictionProblem};
use global::Global;
use hdf5_pure::File;
use source::{Source, damaged, group};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What is read from the file, before anyone asks what it means.
enum Raw {
    Local(Box<Local>),
    Global(Box<Global>),
}

/// Rows a contact, coefficients of friction and, where FCLIB's own law is not meant, friction sets.
struct Contacts {
    spacedim: i64,
    mu: Vec<f64>,
    rolling: bool,
    sets: Option<Vec<i64>>,
    axes: Option<Vec<f64>>,
}

struct Local {
    contacts: Contacts,
    w: Sparse,
    q: Vec<f64>,
}

pub(crate) fn read(bytes: Vec<u8>) -> Result<FrictionProblem, Fault> {
    tree_guard::check(&bytes)?;
    // hdf5-pure means to answer damaged files with errors, but makes no promise. A panic of its becomes an
    // error here; the panic hook of the program, if it prints, is left alone.
    let raw = catch_unwind(AssertUnwindSafe(|| Raw::read(bytes)))
        .unwrap_or_else(|_| Err(Fault::damaged("HDF5 file", "its structure makes no sense")))?;
    match raw {
        Raw::Local(local) => local.problem(),
        Raw::Global(global) => global.problem(),
    }
}

impl Raw {
    fn read(bytes: Vec<u8>) -> Result<Self, Fault> {
        let held = bytes.len() as u64;
        let file = File::from_bytes(bytes).map_err(damaged)?;
        if let Some(root) = group(file.group("fclib_local"))? {
            let source = Source { root, held };
            let contacts = Contacts::read(&source)?;
            let (w, q) = (source.matrix("W")?, source.numbers("vectors/q")?);
            return Ok(Self::Local(Box::new(Local { contacts, w, q })));
        }
        if let Some(root) = group(file.group("fclib_global"))? {
            return Global::read(&Source { root, held }).map(|g| Self::Global(Box::new(g)));
        }
        for (name, what) in [
            ("fclib_global_rolling", "rolling friction (group 'fclib_global_rolling') is"),
            ("fclib_local_rolling", "rolling friction (group 'fclib_local_rolling') is"),
        ] {
            if group(file.group(name))?.is_some() {
                return Err(Fault::NotSupported(what));
            }
        }
        Err(Fault::missing("group", "fclib_local"))
    }
}

impl Contacts {
    fn read(source: &Source) -> Result<Self, Fault> {
        let given = |part: &str| Ok::<bool, Fault>(source.dataset(part)?.is_some());
        Ok(Self {
            spacedim: source.integer("spacedim")?,
            mu: source.numbers("vectors/mu")?,
            rolling: given("vectors/mu_r")?,
            sets: given(sets::SETS)?.then(|| source.integers(sets::SETS)).transpose()?,
            axes: given(sets::AXES)?.then(|| source.numbers(sets::AXES)).transpose()?,
        })
    }

    /// Rows a contact, where `count` of them are named by `part`.
    fn rows(&self, part: &str, count: usize) -> Result<usize, Fault> {
        if self.rolling || self.spacedim == 5 {
            return Err(Fault::NotSupported(
                "rolling friction (5 rows a contact: a disc of forces and one of moments; the sets here are ellipsoids of both together) is",
            ));
        }
        let dim = match self.spacedim {
            2 => 2,
            3 => 3,
            other => return Err(Fault::entry("spacedim", At::Scalar, other as f64, "2 or 3")),
        };
        if !count.is_multiple_of(dim) {
            let expected = format!("a multiple of {dim} (spacedim)");
            return Err(Fault::entry(part, At::Scalar, count as f64, expected));
        }
        if self.mu.len() != count / dim {
            return Err(Fault::entries("vectors/mu", self.mu.len(), count / dim));
        }
        if let Some(k) = self.mu.iter().position(|x| !(x.is_finite() && *x >= 0.0)) {
            return Err(Fault::entry("vectors/mu", At::Vector(k), self.mu[k], "a finite number >= 0"));
        }
        Ok(dim)
    }

    fn problem(self, w: BlockMatrix, q: Vec<f64>, dim: usize) -> Result<FrictionProblem, Fault> {
        let problem = FrictionProblem::new(Operator::Blocks(w), q, self.mu, dim, Friction::Cone)?;
        sets::give(problem, self.sets, self.axes)
    }
}

/// A vector of finite numbers, as many as expected.
fn check_vector(part: &str, v: &[f64], expected: usize) -> Result<(), Fault> {
    if v.len() != expected {
        return Err(Fault::entries(part, v.len(), expected));
    }
    match v.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(k) => Err(Fault::entry(part, At::Vector(k), v[k], "a finite number")),
    }
}

fn check_square(m: &Sparse) -> Result<(), Fault> {
    if m.columns == m.rows {
        return Ok(());
    }
    let name = m.name;
    let expected = format!("{} as {name}/m: a square matrix", m.rows);
    Err(Fault::entry(&format!("{name}/n"), At::Scalar, m.columns as f64, expected))
}

impl Local {
    fn problem(self) -> Result<FrictionProblem, Fault> {
        let Self { contacts, w, q } = self;
        // what is no problem at all is reported first
        if contacts.rolling || !matches!(contacts.spacedim, 2 | 3) {
            contacts.rows("W/m", 0)?;
        }
        check_square(&w)?;
        let dim = contacts.rows("W/m", w.rows)?;
        check_vector("vectors/q", &q, w.rows)?;
        let w = blocks(dim, w.rows, &w.entries()?)?;
        contacts.problem(w, q, dim)
    }
}
