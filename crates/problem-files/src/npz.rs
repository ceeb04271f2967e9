//! NumPy archives -> LCP, mixed LCP or boxed mixed LCP.

use crate::error::{At, Fault};
use crate::npy::{Header, Kind};
use crate::{MOST_ROWS, Problem};
use complementarity::matrix::Matrix;
use complementarity::problem::{BoxedLcp, Lcp, MixedLcp};
use std::io::Cursor;
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

/// An array whose shape has been found good.
struct Array {
    header: Header,
    entries: Vec<f64>,
}

struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    bytes: usize,
}

pub(crate) fn read(bytes: &[u8]) -> Result<Problem, Fault> {
    let zip = ZipArchive::new(Cursor::new(bytes)).map_err(|e| Fault::damaged("archive", e))?;
    let mut archive = Archive { zip, bytes: bytes.len() };

    let m = archive.require("M", square)?;
    let rows = m.header.shape[0];
    let q = archive.require("q", |part, header| vector(part, header, rows))?;
    let comp = archive.array("comp", |part, header| vector(part, header, rows))?;

    let [lower, upper] =
        ["l", "u"].map(|part| archive.array(part, |part, header| vector(part, header, rows)));
    let (lower, upper) = (lower?, upper?);

    let m = matrix(m);
    if lower.is_some() || upper.is_some() {
        if comp.is_some() {
            return Err(Fault::size(
                "comp",
                "an array beside 'l' or 'u'",
                "bounds alone: -inf and inf make a row an equality",
            ));
        }
        let bound = |array: Option<Array>, none: f64| array.map_or_else(|| vec![none; rows], |a| a.entries);
        let (l, u) = (bound(lower, f64::NEG_INFINITY), bound(upper, f64::INFINITY));
        return Ok(Problem::Boxed(BoxedLcp::new(m, q.entries, l, u)?));
    }
    let Some(comp) = comp else { return Ok(Problem::Lcp(Lcp::new(m, q.entries)?)) };
    let complementary = booleans(&comp)?;
    let pairs = complementary.iter().filter(|&&c| c).count();
    archive.count("n", rows - pairs, "equalities")?;
    archive.count("m", pairs, "complementarities")?;
    Ok(Problem::Mixed(MixedLcp::new(m, q.entries, complementary)?))
}

impl Archive<'_> {
    fn require(
        &mut self,
        part: &str,
        check: impl FnOnce(&str, &Header) -> Result<(), Fault>,
    ) -> Result<Array, Fault> {
        self.array(part, check)?.ok_or_else(|| Fault::missing("array", part))
    }

    /// `None`: there is no such array.
    fn array(
        &mut self,
        part: &str,
        check: impl FnOnce(&str, &Header) -> Result<(), Fault>,
    ) -> Result<Option<Array>, Fault> {
        let mut file = match self.zip.by_name(&format!("{part}.npy")) {
            Ok(file) => file,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(ZipError::UnsupportedArchive(_)) => {
                return Err(Fault::NotSupported("encrypted archives are"));
            }
            Err(e) => return Err(Fault::damaged(format!("array '{part}'"), e)),
        };
        if !matches!(file.compression(), CompressionMethod::Stored | CompressionMethod::Deflated) {
            return Err(Fault::NotSupported("compression other than deflate is"));
        }
        let held = file.size();
        let header = Header::read(part, &mut file)?;
        check(part, &header)?;
        let entries = header.entries(part, &mut file, held, self.bytes)?;
        Ok(Some(Array { header, entries }))
    }

    /// A count that may be absent, but not wrong.
    fn count(&mut self, part: &str, expected: usize, of: &str) -> Result<(), Fault> {
        let single = |part: &str, header: &Header| match header.shape.iter().all(|&d| d == 1) {
            true => Ok(()),
            false => Err(Fault::size(part, format!("shape {}", shape(header)), "a single number")),
        };
        match self.array(part, single)? {
            Some(array) if array.entries != [expected as f64] => {
                let value = array.entries.first().copied().unwrap_or(f64::NAN);
                Err(Fault::entry(part, At::Scalar, value, format!("{expected}, the {of} in 'comp'")))
            }
            _ => Ok(()),
        }
    }
}

fn square(part: &str, header: &Header) -> Result<(), Fault> {
    match header.shape[..] {
        [rows, columns] if rows == columns && rows > MOST_ROWS => {
            Err(Fault::too_large(part, format!("{rows} rows"), MOST_ROWS.to_string()))
        }
        [rows, columns] if rows == columns => Ok(()),
        _ => Err(Fault::size(part, format!("shape {}", shape(header)), "a square matrix")),
    }
}

fn vector(part: &str, header: &Header, expected: usize) -> Result<(), Fault> {
    match header.shape[..] {
        [found] if found == expected => Ok(()),
        [found] => Err(Fault::entries(part, found, expected)),
        _ => Err(Fault::size(part, format!("shape {}", shape(header)), format!("({expected},)"))),
    }
}

fn matrix(array: Array) -> Matrix {
    let (rows, columns) = (array.header.shape[0], array.header.shape[1]);
    if array.header.fortran {
        return Matrix::from_fn(rows, columns, |i, j| array.entries[j * rows + i]);
    }
    Matrix::from_data(rows, columns, array.entries).expect("as many entries as the shape says")
}

fn booleans(comp: &Array) -> Result<Vec<bool>, Fault> {
    if comp.header.kind == Kind::Float {
        return Err(Fault::Type {
            part: "comp".to_owned(),
            found: "floating-point numbers".to_owned(),
            expected: "booleans (true: complementarity, false: equality)",
        });
    }
    let truth = |(k, &x): (usize, &f64)| match x {
        0.0 => Ok(false),
        1.0 => Ok(true),
        _ => Err(Fault::entry("comp", At::Vector(k), x, "0 (equality) or 1 (complementarity)")),
    };
    comp.entries.iter().enumerate().map(truth).collect()
}

/// As Python prints it.
fn shape(header: &Header) -> String {
    match header.shape[..] {
        [n] => format!("({n},)"),
        _ => format!("({})", header.shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    }
}
