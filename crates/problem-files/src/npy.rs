//! One array of a NumPy archive: `.npy`, versions 1 to 3.

use crate::error::{Fault, one_line};
use std::io::{ErrorKind, Read};

pub(crate) const MAGIC: &[u8] = b"\x93NUMPY";

/// Longest header that is read; NumPy itself stops at 10,000 characters.
const MOST_HEADER: usize = 10_000;

/// What the entries are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Bool,
    Signed,
    Unsigned,
    Float,
}

/// What stands before the entries.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Header {
    pub kind: Kind,
    pub shape: Vec<usize>,
    /// First index runs fastest.
    pub fortran: bool,
    width: usize,
    big_endian: bool,
    /// Bytes up to the first entry.
    length: u64,
}

impl Header {
    /// Reads up to the first entry.
    pub fn read(part: &str, from: &mut impl Read) -> Result<Self, Fault> {
        let array = || format!("array '{part}'");
        let mut fixed = [0; 8];
        fill(part, from, &mut fixed)?;
        if !fixed.starts_with(MAGIC) {
            return Err(Fault::damaged(array(), "no NumPy signature"));
        }
        let mut length = [0; 4];
        let digits = match fixed[6] {
            1 => 2,
            2 | 3 => 4,
            version => return Err(Fault::damaged(array(), format!("unknown format version {version}"))),
        };
        fill(part, from, &mut length[..digits])?;
        let length = u32::from_le_bytes(length) as usize;
        if length > MOST_HEADER {
            return Err(Fault::damaged(array(), format!("a header of {length} bytes")));
        }
        let mut text = vec![0; length];
        fill(part, from, &mut text)?;
        let text = String::from_utf8_lossy(&text);
        let fields = Fields::parse(&text)
            .ok_or_else(|| Fault::damaged(array(), format!("header {}", one_line(text.trim()))))?;
        let (kind, width, big_endian) = parse_type(&fields.descr).ok_or_else(|| Fault::Type {
            part: part.to_owned(),
            found: format!("entries of type {}", one_line(&fields.descr)),
            expected: "booleans, integers or floating-point numbers of 4 or 8 bytes",
        })?;
        let length = (fixed.len() + digits + length) as u64;
        Ok(Self { kind, shape: fields.shape, fortran: fields.fortran, width, big_endian, length })
    }

    /// The entries in the order of the file. `told`: bytes of the array, header and all, as the archive
    /// tells; `there`: bytes that are certain to be there.
    pub fn entries(
        &self,
        part: &str,
        from: &mut impl Read,
        told: u64,
        there: usize,
    ) -> Result<Vec<f64>, Fault> {
        let held = told.saturating_sub(self.length);
        let short = |claimed| Fault::Short { part: part.to_owned(), claimed, held };
        let count = self.shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d));
        let bytes = count.and_then(|n| n.checked_mul(self.width)).ok_or_else(|| short(u64::MAX))?;
        if bytes as u64 > held {
            return Err(short(bytes as u64));
        }
        let mut out = Vec::with_capacity(bytes.min(there) / self.width);
        let mut block = vec![0; (BLOCK / self.width * self.width).min(bytes)];
        let mut left = bytes;
        while left > 0 {
            let now = left.min(block.len());
            fill(part, from, &mut block[..now])?;
            out.extend(block[..now].chunks_exact(self.width).map(|raw| self.decode(raw)));
            left -= now;
        }
        // the archive's check sum is compared at the end of the data
        match from.read(&mut [0]) {
            Ok(0) => Ok(out),
            Ok(_) => Err(Fault::damaged(format!("array '{part}'"), "data beyond the last entry")),
            Err(e) => Err(Fault::damaged(format!("array '{part}'"), e)),
        }
    }

    fn decode(&self, raw: &[u8]) -> f64 {
        let mut bits = 0u64;
        for k in 0..raw.len() {
            let byte = if self.big_endian { raw[k] } else { raw[raw.len() - 1 - k] };
            bits = bits << 8 | u64::from(byte);
        }
        match (self.kind, self.width) {
            (Kind::Float, 4) => f64::from(f32::from_bits(bits as u32)),
            (Kind::Float, _) => f64::from_bits(bits),
            (Kind::Signed, width) => {
                let unused = 64 - 8 * width as u32;
                (((bits << unused) as i64) >> unused) as f64
            }
            (Kind::Bool | Kind::Unsigned, _) => bits as f64,
        }
    }
}

const BLOCK: usize = 1 << 16;

fn fill(part: &str, from: &mut impl Read, to: &mut [u8]) -> Result<(), Fault> {
    from.read_exact(to).map_err(|e| {
        let array = format!("array '{part}'");
        match e.kind() {
            ErrorKind::UnexpectedEof => Fault::damaged(array, "the data ends early"),
            _ => Fault::damaged(array, e),
        }
    })
}

/// `<f8` and its like: byte order, kind, width.
fn parse_type(descr: &str) -> Option<(Kind, usize, bool)> {
    let mut chars = descr.chars();
    let big_endian = match chars.next()? {
        '<' | '|' => false,
        '>' => true,
        '=' => cfg!(target_endian = "big"),
        _ => return None,
    };
    let (kind, widths): (Kind, &[usize]) = match chars.next()? {
        'b' => (Kind::Bool, &[1]),
        'i' => (Kind::Signed, &[1, 2, 4, 8]),
        'u' => (Kind::Unsigned, &[1, 2, 4, 8]),
        'f' => (Kind::Float, &[4, 8]),
        _ => return None,
    };
    let width = chars.as_str().parse().ok()?;
    widths.contains(&width).then_some((kind, width, big_endian))
}

/// The header's Python dictionary.
struct Fields {
    descr: String,
    fortran: bool,
    shape: Vec<usize>,
}

impl Fields {
    fn parse(text: &str) -> Option<Self> {
        let mut at = Cursor(text);
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        at.eat("{")?;
        while at.eat("}").is_none() {
            let key = at.string()?;
            at.eat(":")?;
            match key {
                "descr" => descr = Some(at.descr()?),
                "fortran_order" => fortran = Some(at.boolean()?),
                "shape" => shape = Some(at.shape()?),
                _ => return None,
            }
            if at.eat(",").is_none() {
                at.eat("}")?;
                break;
            }
        }
        at.0.trim().is_empty().then_some(Self { descr: descr?, fortran: fortran?, shape: shape? })
    }
}

/// What is left of the text.
struct Cursor<'a>(&'a str);

impl<'a> Cursor<'a> {
    fn eat(&mut self, token: &str) -> Option<()> {
        self.0 = self.0.trim_start().strip_prefix(token)?;
        Some(())
    }

    fn string(&mut self) -> Option<&'a str> {
        let quote = if self.eat("'").is_some() { '\'' } else { self.eat("\"").map(|()| '"')? };
        let (inside, rest) = self.0.split_once(quote)?;
        self.0 = rest;
        Some(inside)
    }

    /// A record type is a list: kept as it stands, for the error.
    fn descr(&mut self) -> Option<String> {
        if !self.0.trim_start().starts_with('[') {
            return self.string().map(str::to_owned);
        }
        let end = self.0.rfind(']')? + 1;
        let (list, rest) = self.0.split_at(end);
        self.0 = rest;
        Some(list.trim().to_owned())
    }

    fn boolean(&mut self) -> Option<bool> {
        if self.eat("True").is_some() { Some(true) } else { self.eat("False").map(|()| false) }
    }

    fn shape(&mut self) -> Option<Vec<usize>> {
        let mut shape = vec![];
        self.eat("(")?;
        while self.eat(")").is_none() {
            let text = self.0.trim_start();
            let end = text.find(|c: char| !c.is_ascii_digit())?;
            shape.push(text[..end].parse().ok()?);
            self.0 = &text[end..];
            // Python 2 wrote long integers so
            let _ = self.eat("L");
            if self.eat(",").is_none() {
                self.eat(")")?;
                break;
            }
        }
        Some(shape)
    }
}
