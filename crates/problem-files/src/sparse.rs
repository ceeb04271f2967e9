//! FCLIB's sparse matrices -> entries, and block sparse.
//!
//! `nz >= 0`: triplets, `i` the row and `p` the column (FCLIB's header file says the opposite; its files
//! do not). `nz = -1`: compressed columns, `p` the column pointers and `i` the rows. `nz = -2`: compressed
//! rows, `p` the row pointers and `i` the columns. Entries named twice add up.

use crate::error::{At, Fault};
use complementarity::operator::BlockMatrix;

/// As it stands in the file, with its name and its shape.
pub(crate) struct Sparse {
    pub name: &'static str,
    pub rows: usize,
    pub columns: usize,
    pub nz: i64,
    pub p: Vec<i64>,
    pub i: Vec<i64>,
    pub x: Vec<f64>,
}

impl Sparse {
    /// Row, column and value of the entries that are not zero.
    pub fn entries(&self) -> Result<Vec<(usize, usize, f64)>, Fault> {
        let mut entries = Vec::with_capacity(self.x.len());
        let mut keep = |row, column, x| {
            if x != 0.0 {
                entries.push((row, column, x));
            }
        };
        match self.nz {
            -2 => self.compressed(self.rows, &mut keep)?,
            -1 => self.compressed(self.columns, |line, other, x| keep(other, line, x))?,
            _ => self.triplets(&mut keep)?,
        }
        Ok(entries)
    }

    fn part(&self, part: &str) -> String {
        format!("{}/{part}", self.name)
    }

    fn triplets(&self, mut add: impl FnMut(usize, usize, f64)) -> Result<(), Fault> {
        let expected = "-2 (compressed rows), -1 (compressed columns) or a number of triplets";
        let count = usize::try_from(self.nz)
            .map_err(|_| Fault::entry(&self.part("nz"), At::Scalar, self.nz as f64, expected))?;
        for (part, found) in [("p", self.p.len()), ("i", self.i.len()), ("x", self.x.len())] {
            if found < count {
                let expected = format!("{count} ({})", self.part("nz"));
                return Err(Fault::size(&self.part(part), format!("{found} entries"), expected));
            }
        }
        for k in 0..count {
            let row = self.index("i", "row", self.rows, &self.i, k)?;
            let column = self.index("p", "column", self.columns, &self.p, k)?;
            add(row, column, self.value(k)?);
        }
        Ok(())
    }

    /// `add(line, other, x)`; lines are the rows or columns that `p` points at.
    fn compressed(&self, lines: usize, mut add: impl FnMut(usize, usize, f64)) -> Result<(), Fault> {
        if self.p.len() != lines + 1 {
            return Err(Fault::entries(&self.part("p"), self.p.len(), lines + 1));
        }
        let (other_is, others) = if self.nz == -2 { ("column", self.columns) } else { ("row", self.rows) };
        let most = self.i.len().min(self.x.len());
        let mut start = 0;
        for line in 0..=lines {
            let from = start;
            // p[0] is 0
            let allowed = if line == 0 { 0..=0 } else { from..=most };
            let end = usize::try_from(self.p[line]).ok().filter(|end| allowed.contains(end));
            start = end.ok_or_else(|| {
                let expected = match line {
                    0 => "0".to_owned(),
                    _ => format!("a number from {from} to {most}"),
                };
                Fault::entry(&self.part("p"), At::Vector(line), self.p[line] as f64, expected)
            })?;
            for k in from..start {
                add(line - 1, self.index("i", other_is, others, &self.i, k)?, self.value(k)?);
            }
        }
        Ok(())
    }

    fn index(&self, part: &str, what: &str, most: usize, of: &[i64], k: usize) -> Result<usize, Fault> {
        usize::try_from(of[k]).ok().filter(|&at| at < most).ok_or_else(|| {
            let expected = match most {
                0 => format!("no {what}: the matrix is empty"),
                n => format!("a {what} from 0 to {}", n - 1),
            };
            Fault::entry(&self.part(part), At::Vector(k), of[k] as f64, expected)
        })
    }

    fn value(&self, k: usize) -> Result<f64, Fault> {
        match self.x[k] {
            x if x.is_finite() => Ok(x),
            x => Err(Fault::entry(&self.part("x"), At::Vector(k), x, "a finite number")),
        }
    }
}

/// Entries of a square matrix, added up in blocks of `rows`, which divides the order. The sums are finite.
pub(crate) fn blocks(
    rows: usize,
    order: usize,
    entries: &[(usize, usize, f64)],
) -> Result<BlockMatrix, Fault> {
    let blocks = BlockMatrix::from_entries(rows, order / rows, entries);
    for c in 0..blocks.elements() {
        let (columns, data) = blocks.row(c);
        if let Some(k) = data.iter().position(|x| !x.is_finite()) {
            let within = k % (rows * rows);
            let at = At::Matrix(rows * c + within / rows, rows * columns[k / (rows * rows)] + within % rows);
            return Err(Fault::entry("W", at, data[k], "a finite sum of its entries"));
        }
    }
    Ok(blocks)
}
