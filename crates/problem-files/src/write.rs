//! Problems as NumPy archives, stored without compression, as `numpy.savez` does it; friction problems as FCLIB files.

use crate::error::one_line;
use crate::fclib::sets;
use complementarity::matrix::Matrix;
use complementarity::operator::Operator;
use complementarity::problem::{BoxedLcp, Element, Friction, FrictionProblem, Lcp, MixedLcp};
use hdf5_pure::FileBuilder;
use std::fs;
use std::io::{self, BufWriter, Seek, Write};
use std::path::Path;
use zip::write::{SimpleFileOptions, ZipWriter};

/// Why a file was not written, in one line.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {source}")]
pub struct WriteError {
    /// The file, as it was named.
    pub file: String,
    /// What went wrong.
    #[source]
    pub source: io::Error,
}

/// Writes `M` and `q`.
pub fn write_lcp(path: &Path, problem: &Lcp) -> Result<(), WriteError> {
    save(path, |archive| {
        archive.matrix("M", problem.matrix())?;
        archive.vector("q", problem.vector())
    })
}

/// Writes `M`, `q`, `comp` (which rows are complementarities) and the counts `n` of equalities and `m` of
/// complementarities.
pub fn write_mixed(path: &Path, problem: &MixedLcp) -> Result<(), WriteError> {
    let pairs = problem.complementary().iter().filter(|&&c| c).count();
    save(path, |archive| {
        archive.matrix("M", problem.matrix())?;
        archive.vector("q", problem.vector())?;
        let comp = problem.complementary();
        archive.array("comp", "|b1", &[comp.len()], comp.iter().map(|&c| [u8::from(c)]))?;
        archive.count("n", problem.size() - pairs)?;
        archive.count("m", pairs)
    })
}

/// Writes `M`, `q` and the bounds `l` and `u`.
pub fn write_boxed(path: &Path, problem: &BoxedLcp) -> Result<(), WriteError> {
    save(path, |archive| {
        archive.matrix("M", problem.matrix())?;
        archive.vector("q", problem.vector())?;
        archive.vector("l", problem.lower())?;
        archive.vector("u", problem.upper())
    })
}

/// What a problem is about, as FCLIB keeps it beside the numbers: group `info`. Empty strings are left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Info {
    /// Name.
    pub title: String,
    /// Where it comes from.
    pub description: String,
    /// Its mathematics.
    pub math_info: String,
}

/// Writes `W` (by rows), `q` and `mu` as FCLIB does, group `fclib_local`. The format knows Coulomb's cone with 2 or 3 rows per contact, all
/// rolling; other friction sets are written beside it for our own reader (others see discs), and what it cannot hold (rows that are no contacts, contacts of different rows) is refused by name.
pub fn write_friction(path: &Path, problem: &FrictionProblem) -> Result<(), WriteError> {
    write_friction_with(path, problem, &Info::default())
}

/// The same, with words about it.
pub fn write_friction_with(path: &Path, problem: &FrictionProblem, info: &Info) -> Result<(), WriteError> {
    let write = || fs::write(path, fclib(problem, info)?);
    write().map_err(|source| WriteError { file: one_line(&path.display().to_string()), source })
}

/// An error that names what FCLIB files cannot hold.
fn refuse(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("FCLIB files cannot hold {why}"))
}

/// Rows per contact of a problem that FCLIB files can hold.
fn rows_per_contact(problem: &FrictionProblem) -> io::Result<usize> {
    let elements = problem.elements();
    let rows = elements.first().map_or(3, Element::rows);
    if elements.iter().any(|e| e.as_contact().is_none()) {
        return Err(refuse("rows that are no contacts (unilateral, bounded or bilateral)"));
    }
    if elements.iter().any(|e| e.rows() > 3) {
        return Err(refuse("more than 3 rows per contact"));
    }
    if elements.iter().any(|e| e.rows() != rows) {
        return Err(refuse("contacts with different numbers of rows"));
    }
    if problem.slides() {
        return Err(refuse("contacts that slide already"));
    }
    Ok(rows)
}

fn fclib(problem: &FrictionProblem, info: &Info) -> io::Result<Vec<u8>> {
    let (elements, rows) = (problem.elements(), rows_per_contact(problem)?);
    let (mut starts, mut columns, mut values) = (vec![0], vec![], vec![]);
    let mut keep = |column: usize, x: f64| {
        if x != 0.0 {
            columns.push(column as i32);
            values.push(x);
        }
        values.len()
    };
    let count = |n: usize| i32::try_from(n).map_err(|_| refuse("so many entries"));
    for i in 0..problem.size() {
        let mut end = *starts.last().unwrap_or(&0) as usize;
        match problem.operator() {
            Operator::Blocks(a) => {
                let (blocks, data) = a.row(i / rows);
                for (k, block) in blocks.iter().zip(data.chunks_exact(rows * rows)) {
                    for j in 0..rows {
                        end = keep(rows * k + j, block[rows * (i % rows) + j]);
                    }
                }
            }
            _ => {
                for (j, x) in problem.matrix().row(i).iter().enumerate() {
                    end = keep(j, *x);
                }
            }
        }
        starts.push(count(end)?);
    }
    let order = count(problem.size())?;
    let mut file = FileBuilder::new();
    let mut root = file.create_group("fclib_local");
    root.create_dataset("spacedim").with_i32_data(&[rows as i32]);
    let mut w = root.create_group("W");
    for (name, data) in [("m", order), ("n", order), ("nz", BY_ROWS), ("nzmax", count(values.len())?)] {
        w.create_dataset(name).with_i32_data(&[data]);
    }
    w.create_dataset("p").with_i32_data(&starts);
    w.create_dataset("i").with_i32_data(&columns);
    w.create_dataset("x").with_f64_data(&values);
    root.add_group(w.finish());
    let mut vectors = root.create_group("vectors");
    vectors.create_dataset("q").with_f64_data(problem.vector());
    vectors.create_dataset("mu").with_f64_data(&problem.mu());
    let name = |path: &'static str| path.trim_start_matches("vectors/");
    if !elements.is_empty() && problem.friction() != Some(Friction::Cone) {
        let codes: Vec<i32> = (0..elements.len()).map(|c| sets::code(problem.friction_of(c))).collect();
        vectors.create_dataset(name(sets::SETS)).with_i32_data(&codes);
    }
    if !problem.axes().is_empty() {
        vectors.create_dataset(name(sets::AXES)).with_f64_data(&problem.axes());
    }
    root.add_group(vectors.finish());
    let words = [("title", &info.title), ("description", &info.description), ("math_info", &info.math_info)];
    if words.iter().any(|(_, text)| !text.is_empty()) {
        let mut group = root.create_group("info");
        for (name, text) in words.iter().filter(|(_, text)| !text.is_empty()) {
            // C reads up to a zero
            let width = u32::try_from(text.len() + 1).map_err(|_| refuse("so long a text"))?;
            group.create_dataset(name).with_strings_sized(&[text], width).map_err(io::Error::other)?;
        }
        root.add_group(group.finish());
    }
    file.add_group(root.finish());
    file.finish().map_err(io::Error::other)
}

/// FCLIB's mark of a matrix compressed by rows.
const BY_ROWS: i32 = -2;

fn save(
    path: &Path,
    fill: impl FnOnce(&mut Archive<BufWriter<fs::File>>) -> io::Result<()>,
) -> Result<(), WriteError> {
    let write = || {
        let mut archive = Archive(ZipWriter::new(BufWriter::new(fs::File::create(path)?)));
        fill(&mut archive)?;
        archive.0.finish()?.flush()
    };
    write().map_err(|source| WriteError { file: one_line(&path.display().to_string()), source })
}

struct Archive<W: Write + Seek>(ZipWriter<W>);

impl<W: Write + Seek> Archive<W> {
    fn matrix(&mut self, name: &str, m: &Matrix) -> io::Result<()> {
        self.array(name, "<f8", &[m.rows(), m.columns()], m.data().iter().map(|x| x.to_le_bytes()))
    }

    fn vector(&mut self, name: &str, v: &[f64]) -> io::Result<()> {
        self.array(name, "<f8", &[v.len()], v.iter().map(|x| x.to_le_bytes()))
    }

    fn count(&mut self, name: &str, count: usize) -> io::Result<()> {
        self.array(name, "<i8", &[], [(count as u64).to_le_bytes()])
    }

    fn array<const BYTES: usize>(
        &mut self,
        name: &str,
        dtype: &str,
        shape: &[usize],
        entries: impl IntoIterator<Item = [u8; BYTES]>,
    ) -> io::Result<()> {
        let options =
            SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored).large_file(true);
        self.0.start_file(format!("{name}.npy"), options)?;
        self.0.write_all(&header(dtype, shape))?;
        // the zip writer sums and counts call by call: hand it blocks
        let mut block = Vec::with_capacity(BLOCK + BYTES);
        for entry in entries {
            block.extend_from_slice(&entry);
            if block.len() >= BLOCK {
                self.0.write_all(&block)?;
                block.clear();
            }
        }
        self.0.write_all(&block)
    }
}

const BLOCK: usize = 1 << 16;

/// Format version 1.0: magic, version, length, and a Python dictionary padded to a multiple of 64 bytes.
fn header(dtype: &str, shape: &[usize]) -> Vec<u8> {
    let shape: String = shape.iter().map(|n| format!("{n}, ")).collect();
    let text = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({}), }}", shape.trim_end());
    let preamble = 10;
    let length = (preamble + text.len() + 1).next_multiple_of(64) - preamble;
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend_from_slice(&(length as u16).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
    out.resize(preamble + length - 1, b' ');
    out.push(b'\n');
    out
}
