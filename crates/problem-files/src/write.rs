//! Problems as NumPy archives, stored without compression, as `numpy.savez` does it.

use crate::error::one_line;
use complementarity::matrix::Matrix;
use complementarity::problem::{Lcp, MixedLcp};
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
