//! Numbers packed for the page: columns of whole numbers, each coded by its difference to the one before, seven bits to a byte.

use serde::Serialize;

/// Bits of a float's mantissa that are dropped where three decimals suffice for a picture: 16 of 24 stay, 4 to 5 digits.
pub const COARSE: u32 = 8;

/// A column as the page reads it.
#[derive(Debug, Serialize)]
pub struct Packed {
    name: &'static str,
    /// `f64`: raw; `fixed`: times the quantum; `float`: bits of a float, shifted; `int`.
    kind: &'static str,
    /// Quantum of `fixed`, dropped bits of `float`.
    parameter: f64,
    count: usize,
    bytes: usize,
}

/// Columns one after the other.
#[derive(Debug, Default)]
pub struct Columns {
    heads: Vec<Packed>,
    bytes: Vec<u8>,
}

impl Columns {
    /// Doubles to the last bit.
    pub fn doubles(&mut self, name: &'static str, list: impl Iterator<Item = f64>) {
        self.push(name, "f64", 0.0, |bytes| {
            list.fold(0, |n, x| {
                bytes.extend(x.to_le_bytes());
                n + 1
            })
        });
    }

    /// Numbers to a multiple of a quantum.
    pub fn fixed(&mut self, name: &'static str, quantum: f64, list: impl Iterator<Item = f64>) {
        self.differences(name, "fixed", quantum, list.map(|x| (x / quantum).round() as i64));
    }

    /// Floats without the last `dropped` bits of their mantissa.
    pub fn floats(&mut self, name: &'static str, dropped: u32, list: impl Iterator<Item = f64>) {
        self.differences(name, "float", f64::from(dropped), list.map(|x| float_key(x, dropped)));
    }

    /// Whole numbers.
    pub fn ints(&mut self, name: &'static str, list: impl Iterator<Item = i64>) {
        self.differences(name, "int", 0.0, list);
    }

    fn differences(
        &mut self,
        name: &'static str,
        kind: &'static str,
        parameter: f64,
        list: impl Iterator<Item = i64>,
    ) {
        self.push(name, kind, parameter, |bytes| {
            let (mut before, mut n) = (0i64, 0);
            for x in list {
                varint(x.wrapping_sub(before), bytes);
                (before, n) = (x, n + 1);
            }
            n
        });
    }

    fn push(
        &mut self,
        name: &'static str,
        kind: &'static str,
        parameter: f64,
        write: impl FnOnce(&mut Vec<u8>) -> usize,
    ) {
        let from = self.bytes.len();
        let count = write(&mut self.bytes);
        self.heads.push(Packed { name, kind, parameter, count, bytes: self.bytes.len() - from });
    }

    /// The whole: length of the header (u32), the header as JSON, with the columns under `columns`, and their bytes.
    pub fn finish(self, mut header: serde_json::Value) -> Vec<u8> {
        header["columns"] = serde_json::to_value(&self.heads).unwrap_or_default();
        let header = header.to_string();
        let mut all = (header.len() as u32).to_le_bytes().to_vec();
        all.extend(header.as_bytes());
        all.extend(self.bytes);
        all
    }
}

/// Zigzag, then seven bits to a byte, the least first.
fn varint(x: i64, bytes: &mut Vec<u8>) {
    let mut rest = ((x << 1) ^ (x >> 63)) as u64;
    while rest >= 0x80 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
}

/// A whole number that grows with the float; infinities become the largest float, and what is no number 0.
fn float_key(x: f64, dropped: u32) -> i64 {
    let x = if x.is_nan() { 0.0 } else { (x as f32).clamp(f32::MIN, f32::MAX) };
    let magnitude = i64::from(x.abs().to_bits());
    // rounded, but not into infinity
    let key = (magnitude + ((1 << dropped) >> 1)).min(i64::from(f32::MAX.to_bits())) >> dropped;
    if x < 0.0 { -key } else { key }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_keep_their_digits_and_order() {
        let back = |x: f64, dropped: u32| {
            let key = float_key(x, dropped);
            let magnitude = f32::from_bits((key.unsigned_abs() << dropped) as u32);
            f64::from(if key < 0 { -magnitude } else { magnitude })
        };
        for x in [0.0, 1.0, -9.81, 3.3e-12, -7.7e20, 123456.789] {
            assert!((back(x, 0) - x).abs() <= 6e-8 * x.abs());
            assert!((back(x, COARSE) - x).abs() <= 2e-5 * x.abs());
        }
        assert!(back(f64::INFINITY, COARSE).is_finite() && back(f64::NEG_INFINITY, 0) == f64::from(f32::MIN));
        assert_eq!(back(f64::NAN, 0), 0.0);
        let keys: Vec<i64> = [-1e9, -1.0, -1e-9, 0.0, 1e-9, 1.0, 1e9].map(|x| float_key(x, 8)).to_vec();
        assert!(keys.windows(2).all(|w| w[0] < w[1]));
    }

    #[test]
    fn differences_are_short() {
        let mut columns = Columns::default();
        columns.ints("k", [0, 1, 2, 3, 2, 1000, -1000, i64::MIN / 4].into_iter());
        assert_eq!(columns.heads[0].count, 8);
        assert_eq!(columns.bytes[..5], [0, 2, 2, 2, 1]);
    }
}
