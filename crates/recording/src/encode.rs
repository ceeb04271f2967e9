//! Tables as Parquet files, written here: the `parquet` crate's writer takes longer to set up than most runs to step.
//!
//! One row group a file, one page a column. Names are dictionary-encoded, and so are numbers that stay the same; others are plain. Large files are compressed by
//! Snappy; for small ones that takes longer than it is worth. Numbers and names of fields are those of `parquet.thrift`
//! in the format's specification.

use crate::table::{Column, Kind, Rows, Values};

/// Rows from which on files are compressed.
const LARGE: usize = 1 << 15;
/// Rows from which on a dictionary of one number is worth it.
const MANY: usize = 64;
const MAGIC: &[u8] = b"PAR1";
/// Before the names of columns whose unit is told.
const UNIT: &[u8] = b"unit.";

// encodings
const PLAIN: i64 = 0;
const RLE: i64 = 3;
const RLE_DICTIONARY: i64 = 8;
// types of Thrift's compact protocol
const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// A whole file in memory, in place of what the buffer held.
pub(crate) fn encode(rows: &Rows, file: &mut Vec<u8>) -> Result<(), snap::Error> {
    file.clear();
    // with what is beside the values; memory that is not filled costs nothing
    file.reserve(rows.columns().len() * (8 * rows.len() + 128));
    file.extend_from_slice(MAGIC);
    let mut chunks = vec![];
    if !rows.is_empty() {
        let mut pages = Pages { file, body: vec![], snappy: rows.len() >= LARGE };
        for values in &rows.values {
            chunks.push(pages.chunk(values, rows.words.list())?);
        }
    }
    let at = file.len();
    footer(rows, &chunks, &mut Thrift { bytes: file, last: 0 });
    let length = (file.len() - at) as u32;
    file.extend_from_slice(&length.to_le_bytes());
    file.extend_from_slice(MAGIC);
    Ok(())
}

/// Where a column's pages are, and their bytes with headers, before and after compression.
struct Chunk {
    dictionary: Option<usize>,
    data: usize,
    plain: usize,
    packed: usize,
}

struct Pages<'a> {
    file: &'a mut Vec<u8>,
    /// Of the page that is made.
    body: Vec<u8>,
    snappy: bool,
}

impl Pages<'_> {
    fn chunk(&mut self, values: &Values, words: &[String]) -> Result<Chunk, snap::Error> {
        let mut chunk = Chunk { dictionary: None, data: 0, plain: 0, packed: 0 };
        self.body.clear();
        match values {
            Values::Numbers(list) => self.numbers(list, f64::to_le_bytes, &mut chunk)?,
            Values::Counts(list) => self.numbers(list, i64::to_le_bytes, &mut chunk)?,
            Values::Words(list) => {
                // this column's words, numbered as they come
                let (mut numbers, mut known) = (vec![u32::MAX; words.len()], 0);
                for &code in list {
                    if numbers[code as usize] == u32::MAX {
                        let word = words[code as usize].as_bytes();
                        self.body.extend_from_slice(&(word.len() as u32).to_le_bytes());
                        self.body.extend_from_slice(word);
                        numbers[code as usize] = known;
                        known += 1;
                    }
                }
                self.coded(known, list.iter().map(|code| numbers[*code as usize]), list.len(), &mut chunk)?;
            }
        }
        Ok(chunk)
    }

    fn numbers<T: Copy>(
        &mut self,
        list: &[T],
        bytes_of: impl Fn(T) -> [u8; 8],
        chunk: &mut Chunk,
    ) -> Result<(), snap::Error> {
        let first = bytes_of(list[0]);
        if list.len() >= MANY && list.iter().all(|x| bytes_of(*x) == first) {
            self.body.extend_from_slice(&first);
            return self.coded(1, list.iter().map(|_| 0), list.len(), chunk);
        }
        plain(list, bytes_of, &mut self.body);
        self.data(list.len(), PLAIN, chunk)
    }

    /// A dictionary of `known` values, which are in the body, and a page of their numbers.
    fn coded(
        &mut self,
        known: u32,
        numbers: impl Iterator<Item = u32>,
        count: usize,
        chunk: &mut Chunk,
    ) -> Result<(), snap::Error> {
        chunk.dictionary = Some(self.file.len());
        self.page(2, chunk, |t| {
            t.structure(7, |t| {
                t.int(1, I32, i64::from(known));
                t.int(2, I32, PLAIN);
            });
        })?;
        self.body.clear();
        pack(numbers, known, count, &mut self.body);
        self.data(count, RLE_DICTIONARY, chunk)
    }

    fn data(&mut self, values: usize, encoding: i64, chunk: &mut Chunk) -> Result<(), snap::Error> {
        chunk.data = self.file.len();
        self.page(0, chunk, |t| {
            t.structure(5, |t| {
                t.int(1, I32, values as i64);
                t.int(2, I32, encoding);
                // levels, of which there are none
                t.int(3, I32, RLE);
                t.int(4, I32, RLE);
            });
        })
    }

    /// Adds the body as a page of a kind, with a header that ends in what `kind_header` writes.
    fn page(
        &mut self,
        kind: i64,
        chunk: &mut Chunk,
        kind_header: impl FnOnce(&mut Thrift),
    ) -> Result<(), snap::Error> {
        let from = self.file.len();
        let plain = self.body.len();
        if self.snappy {
            self.body = snap::raw::Encoder::new().compress_vec(&self.body)?;
        }
        Thrift { bytes: self.file, last: 0 }.element(|t| {
            t.int(1, I32, kind);
            t.int(2, I32, plain as i64);
            t.int(3, I32, self.body.len() as i64);
            kind_header(t);
        });
        chunk.plain += self.file.len() - from + plain;
        self.file.extend_from_slice(&self.body);
        chunk.packed += self.file.len() - from;
        Ok(())
    }
}

/// Values one after the other; in one go, for byte by byte takes ten times as long.
fn plain<T: Copy>(list: &[T], bytes_of: impl Fn(T) -> [u8; 8], bytes: &mut Vec<u8>) {
    bytes.resize(8 * list.len(), 0);
    for (place, x) in bytes.chunks_exact_mut(8).zip(list) {
        place.copy_from_slice(&bytes_of(*x));
    }
}

/// Numbers below `known` in as few bits as that takes, at least one: the width, then one run, of groups of eight or of one number.
fn pack(numbers: impl Iterator<Item = u32>, known: u32, count: usize, bytes: &mut Vec<u8>) {
    let width = (u32::BITS - known.saturating_sub(1).leading_zeros()).max(1);
    bytes.push(width as u8);
    if known == 1 {
        varint((count as u64) << 1, bytes);
        bytes.push(0);
        return;
    }
    let groups = count.div_ceil(8);
    varint((groups as u64) << 1 | 1, bytes);
    let end = bytes.len() + groups * width as usize;
    let (mut bits, mut held) = (0_u64, 0);
    for number in numbers {
        bits |= u64::from(number) << held;
        held += width;
        while held >= 8 {
            bytes.push(bits as u8);
            bits >>= 8;
            held -= 8;
        }
    }
    bytes.push(bits as u8);
    bytes.resize(end, 0);
}

fn footer(rows: &Rows, chunks: &[Chunk], t: &mut Thrift) {
    let columns = rows.columns();
    t.int(1, I32, 1);
    t.list(2, STRUCT, columns.len() + 1);
    t.element(|t| {
        t.text(4, b"schema");
        t.int(5, I32, columns.len() as i64);
    });
    for column in columns {
        t.element(|t| {
            t.int(1, I32, physical(column));
            // required
            t.int(3, I32, 0);
            t.text(4, column.name.as_bytes());
            if column.kind == Kind::Word {
                // UTF-8, in the old way and the new
                t.int(6, I32, 0);
                t.structure(10, |t| t.structure(1, |_| ()));
            }
        });
    }
    t.int(3, I64, rows.len() as i64);
    t.list(4, STRUCT, usize::from(!chunks.is_empty()));
    if !chunks.is_empty() {
        t.element(|t| {
            t.list(1, STRUCT, chunks.len());
            for (k, chunk) in chunks.iter().enumerate() {
                t.element(|t| {
                    t.int(2, I64, 0);
                    t.structure(3, |t| chunk_metadata(rows, k, chunk, t));
                });
            }
            t.int(2, I64, chunks.iter().map(|c| c.plain as i64).sum());
            t.int(3, I64, rows.len() as i64);
        });
    }
    let units = columns.iter().filter(|c| !c.unit.is_empty());
    t.list(5, STRUCT, units.clone().count());
    for column in units {
        t.element(|t| {
            t.field(1, BINARY);
            varint((UNIT.len() + column.name.len()) as u64, t.bytes);
            t.bytes.extend_from_slice(UNIT);
            t.bytes.extend_from_slice(column.name.as_bytes());
            t.text(2, column.unit.as_bytes());
        });
    }
    t.text(6, concat!("stiction ", env!("CARGO_PKG_VERSION")).as_bytes());
    // statistics are in the order of the type
    t.list(7, STRUCT, columns.len());
    for _ in columns {
        t.element(|t| t.structure(1, |_| ()));
    }
    t.bytes.push(0);
}

fn physical(column: &Column) -> i64 {
    match column.kind {
        Kind::Count => 2,
        Kind::Number => 5,
        Kind::Word => 6,
    }
}

fn chunk_metadata(rows: &Rows, k: usize, chunk: &Chunk, t: &mut Thrift) {
    let column = &rows.columns()[k];
    t.int(1, I32, physical(column));
    let encodings: &[i64] =
        if chunk.dictionary.is_some() { &[PLAIN, RLE, RLE_DICTIONARY] } else { &[PLAIN, RLE] };
    t.list(2, I32, encodings.len());
    encodings.iter().for_each(|e| t.zigzag(*e));
    t.list(3, BINARY, 1);
    t.raw_text(column.name.as_bytes());
    t.int(4, I32, i64::from(rows.len() >= LARGE));
    t.int(5, I64, rows.len() as i64);
    t.int(6, I64, chunk.plain as i64);
    t.int(7, I64, chunk.packed as i64);
    t.int(9, I64, chunk.data as i64);
    if let Some(at) = chunk.dictionary {
        t.int(11, I64, at as i64);
    }
    // of the first column alone: readers that look for an interval of time can leave parts out
    if let (Values::Numbers(list), 0) = (&rows.values[k], k) {
        // the least zero is the negative one
        let least = list.iter().fold(f64::INFINITY, |m, x| m.min(*x));
        let least = if least == 0.0 { -0.0 } else { least };
        let most = list.iter().fold(f64::NEG_INFINITY, |m, x| m.max(*x)) + 0.0;
        if least <= most {
            t.structure(12, |t| {
                t.text(5, &most.to_le_bytes());
                t.text(6, &least.to_le_bytes());
            });
        }
    }
}

/// Thrift's compact protocol: a field is a number and a type, numbers counted from the field before; structures end in 0.
struct Thrift<'a> {
    bytes: &'a mut Vec<u8>,
    /// Number of the last field.
    last: u8,
}

impl Thrift<'_> {
    fn field(&mut self, number: u8, kind: u8) {
        self.bytes.push((number - self.last) << 4 | kind);
        self.last = number;
    }

    fn int(&mut self, number: u8, kind: u8, value: i64) {
        self.field(number, kind);
        self.zigzag(value);
    }

    fn zigzag(&mut self, value: i64) {
        varint((value << 1 ^ value >> 63) as u64, self.bytes);
    }

    fn text(&mut self, number: u8, text: &[u8]) {
        self.field(number, BINARY);
        self.raw_text(text);
    }

    fn raw_text(&mut self, text: &[u8]) {
        varint(text.len() as u64, self.bytes);
        self.bytes.extend_from_slice(text);
    }

    /// The head of a list, whose elements follow.
    fn list(&mut self, number: u8, kind: u8, length: usize) {
        self.field(number, LIST);
        if length < 15 {
            self.bytes.push((length as u8) << 4 | kind);
        } else {
            self.bytes.push(0xf0 | kind);
            varint(length as u64, self.bytes);
        }
    }

    fn structure(&mut self, number: u8, fields: impl FnOnce(&mut Self)) {
        self.field(number, STRUCT);
        self.element(fields);
    }

    /// A structure in a list.
    fn element(&mut self, fields: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.last, 0);
        fields(self);
        self.bytes.push(0);
        self.last = outer;
    }
}

/// Seven bits a byte, the lowest first.
fn varint(mut x: u64, bytes: &mut Vec<u8>) {
    while x >= 0x80 {
        bytes.push(x as u8 | 0x80);
        x >>= 7;
    }
    bytes.push(x as u8);
}
