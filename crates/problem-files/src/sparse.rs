//! FCLIB's sparse matrices -> block sparse.
//!
//! `nz >= 0`: triplets, `i` the row and `p` the column (FCLIB's header file says the opposite; its files
//! do not). `nz = -1`: compressed columns, `p` the column pointers and `i` the rows. `nz = -2`: compressed
//! rows, `p` the row pointers and `i` the columns. Entries named twice add up.

use crate::error::{At, Fault};
use complementarity::operator::BlockMatrix;

/// As it stands in the file; square, of `order` rows.
pub(crate) struct Sparse {
    pub order: usize,
    pub nz: i64,
    pub p: Vec<i64>,
    pub i: Vec<i64>,
    pub x: Vec<f64>,
}

impl Sparse {
    /// In blocks of `rows`, which divides the order; blocks of zeros are left out.
    pub fn to_blocks(&self, rows: usize) -> Result<BlockMatrix, Fault> {
        let mut entries = Vec::with_capacity(self.x.len());
        let mut keep = |row, column, x| {
            if x != 0.0 {
                entries.push((row, column, x));
            }
        };
        match self.nz {
            -2 => self.compressed("column", &mut keep)?,
            -1 => self.compressed("row", |line, other, x| keep(other, line, x))?,
            _ => self.triplets(&mut keep)?,
        }
        let blocks = BlockMatrix::from_entries(rows, self.order / rows, &entries);
        for c in 0..blocks.contacts() {
            let (columns, data) = blocks.row(c);
            if let Some(k) = data.iter().position(|x| !x.is_finite()) {
                let within = k % (rows * rows);
                let at =
                    At::Matrix(rows * c + within / rows, rows * columns[k / (rows * rows)] + within % rows);
                return Err(Fault::entry("W", at, data[k], "a finite sum of its entries"));
            }
        }
        Ok(blocks)
    }

    fn triplets(&self, mut add: impl FnMut(usize, usize, f64)) -> Result<(), Fault> {
        let expected = "-2 (compressed rows), -1 (compressed columns) or a number of triplets";
        let count = usize::try_from(self.nz)
            .map_err(|_| Fault::entry("W/nz", At::Scalar, self.nz as f64, expected))?;
        for (part, found) in [("W/p", self.p.len()), ("W/i", self.i.len()), ("W/x", self.x.len())] {
            if found < count {
                let expected = format!("{count} (W/nz)");
                return Err(Fault::size(part, format!("{found} entries"), expected));
            }
        }
        for k in 0..count {
            let row = self.index("W/i", "row", &self.i, k)?;
            let column = self.index("W/p", "column", &self.p, k)?;
            add(row, column, self.value(k)?);
        }
        Ok(())
    }

    /// `add(line, other, x)`; lines are the rows or columns that `p` points at.
    fn compressed(&self, other_is: &str, mut add: impl FnMut(usize, usize, f64)) -> Result<(), Fault> {
        if self.p.len() != self.order + 1 {
            return Err(Fault::entries("W/p", self.p.len(), self.order + 1));
        }
        let most = self.i.len().min(self.x.len());
        let mut start = 0;
        for line in 0..=self.order {
            let from = start;
            // p[0] is 0
            let allowed = if line == 0 { 0..=0 } else { from..=most };
            let end = usize::try_from(self.p[line]).ok().filter(|end| allowed.contains(end));
            start = end.ok_or_else(|| {
                let expected = match line {
                    0 => "0".to_owned(),
                    _ => format!("a number from {from} to {most}"),
                };
                Fault::entry("W/p", At::Vector(line), self.p[line] as f64, expected)
            })?;
            for k in from..start {
                add(line - 1, self.index("W/i", other_is, &self.i, k)?, self.value(k)?);
            }
        }
        Ok(())
    }

    fn index(&self, part: &str, what: &str, of: &[i64], k: usize) -> Result<usize, Fault> {
        usize::try_from(of[k]).ok().filter(|&at| at < self.order).ok_or_else(|| {
            let expected = match self.order {
                0 => format!("no {what}: the matrix is empty"),
                n => format!("a {what} from 0 to {}", n - 1),
            };
            Fault::entry(part, At::Vector(k), of[k] as f64, expected)
        })
    }

    fn value(&self, k: usize) -> Result<f64, Fault> {
        match self.x[k] {
            x if x.is_finite() => Ok(x),
            x => Err(Fault::entry("W/x", At::Vector(k), x, "a finite number")),
        }
    }
}
