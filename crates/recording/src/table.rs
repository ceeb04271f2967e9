//! What tables are: columns, and rows in memory.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Doubles.
    Number,
    /// Whole numbers.
    Count,
    /// Names, of which there are few.
    Word,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its head.
    pub name: Cow<'static, str>,
    /// What it holds.
    pub kind: Kind,
    /// Empty without.
    pub unit: Cow<'static, str>,
    /// Whether tables without it can be read too.
    pub optional: bool,
}

/// A table as its owner defines it. Columns are found by name; a file may have columns that the definition does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// Its name, and that of its files.
    pub name: Cow<'static, str>,
    /// Its columns, in order.
    pub columns: Vec<Column>,
}

impl Table {
    /// The table that a file holds whose columns have these names. A column that the definition does not know is what
    /// `unknown` makes of its place and name. Refused if a column is missing that is not optional.
    pub(crate) fn found(
        &self,
        names: &[&str],
        unknown: impl Fn(usize, &str) -> Result<Column, String>,
    ) -> Result<Arc<Self>, String> {
        let has = |c: &Column| names.contains(&&*c.name);
        if let Some(missing) = self.columns.iter().find(|c| !c.optional && !has(c)) {
            return Err(format!("expected a column {:?}, found {:?}", missing.name, names.join(",")));
        }
        let known = |name: &str| self.columns.iter().find(|c| c.name == name).cloned();
        let column = |(k, name): (usize, &&str)| known(name).map_or_else(|| unknown(k, name), Ok);
        let columns = names.iter().enumerate().map(column).collect::<Result<_, _>>()?;
        Ok(Arc::new(Self { name: self.name.clone(), columns }))
    }
}

/// The values of a column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Values {
    Numbers(Vec<f64>),
    Counts(Vec<i64>),
    /// Codes of [`Words`].
    Words(Vec<u32>),
}

/// Words by number.
#[derive(Debug, Clone, Default)]
pub(crate) struct Words {
    list: Vec<String>,
    codes: HashMap<String, u32>,
}

impl Words {
    /// The word's number, a new one if need be.
    pub fn code(&mut self, text: &str) -> u32 {
        if let Some(&code) = self.codes.get(text) {
            return code;
        }
        let code = self.list.len() as u32;
        self.list.push(text.to_owned());
        self.codes.insert(text.to_owned(), code);
        code
    }

    pub fn list(&self) -> &[String] {
        &self.list
    }
}

/// Rows of a table, column by column. They are filled cell by cell in the order of the columns, or column by column.
#[derive(Debug, Clone)]
pub struct Rows {
    table: Arc<Table>,
    pub(crate) values: Vec<Values>,
    pub(crate) words: Words,
    /// Column of the next cell.
    next: usize,
    /// For each word, in the order of their codes, the one that followed it in a column.
    follower: Vec<u32>,
}

impl Rows {
    /// No rows yet.
    pub fn new(table: &Arc<Table>) -> Self {
        let values = table.columns.iter().map(|c| match c.kind {
            Kind::Number => Values::Numbers(vec![]),
            Kind::Count => Values::Counts(vec![]),
            Kind::Word => Values::Words(vec![]),
        });
        let (table, values) = (table.clone(), values.collect());
        Self { table, values, words: Words::default(), next: 0, follower: vec![] }
    }

    /// Which table.
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// Its columns.
    pub fn columns(&self) -> &[Column] {
        &self.table.columns
    }

    /// Number of whole rows.
    pub fn len(&self) -> usize {
        // the last column is filled last
        match self.values.last() {
            Some(Values::Numbers(v)) => v.len(),
            Some(Values::Counts(v)) => v.len(),
            Some(Values::Words(v)) => v.len(),
            None => 0,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A column of numbers; empty if the table has none of this name.
    pub fn numbers(&self, column: &str) -> &[f64] {
        match self.find(column) {
            Some(Values::Numbers(list)) => list,
            _ => &[],
        }
    }

    /// A column of whole numbers; empty if the table has none of this name.
    pub fn counts(&self, column: &str) -> &[i64] {
        match self.find(column) {
            Some(Values::Counts(list)) => list,
            _ => &[],
        }
    }

    /// A column of words; empty if the table has none of this name.
    pub fn words(&self, column: &str) -> impl ExactSizeIterator<Item = &str> + Clone {
        let codes: &[u32] = match self.find(column) {
            Some(Values::Words(list)) => list,
            _ => &[],
        };
        codes.iter().map(|c| self.words.list[*c as usize].as_str())
    }

    fn find(&self, column: &str) -> Option<&Values> {
        self.table.columns.iter().position(|c| c.name == column).map(|at| &self.values[at])
    }

    /// Makes room for so many rows.
    pub fn reserve(&mut self, rows: usize) {
        for values in &mut self.values {
            match values {
                Values::Numbers(list) => list.reserve_exact(rows),
                Values::Counts(list) => list.reserve_exact(rows),
                Values::Words(list) => list.reserve_exact(rows),
            }
        }
    }

    /// Forgets all rows and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.next = 0;
        for values in &mut self.values {
            match values {
                Values::Numbers(list) => list.clear(),
                Values::Counts(list) => list.clear(),
                Values::Words(list) => list.clear(),
            }
        }
    }

    fn cell(&mut self) -> &mut Values {
        let at = self.next;
        self.go_on(at + 1);
        &mut self.values[at]
    }

    /// The next cell is in this column, or in the first after the last. Without a division, which takes longer than the rest.
    fn go_on(&mut self, next: usize) {
        self.next = if next < self.values.len() { next } else { 0 };
    }

    /// The next cell, which is in a column of numbers.
    pub fn push_number(&mut self, x: f64) -> &mut Self {
        match self.cell() {
            Values::Numbers(list) => list.push(x),
            other => debug_assert!(false, "a number for {other:?}"),
        }
        self
    }

    /// The next cell, which is in a column of whole numbers.
    pub fn push_count(&mut self, n: usize) -> &mut Self {
        match self.cell() {
            Values::Counts(list) => list.push(n as i64),
            other => debug_assert!(false, "a count for {other:?}"),
        }
        self
    }

    /// The next cell, which is in a column of words.
    pub fn push_word(&mut self, text: &str) -> &mut Self {
        let at = self.next;
        self.go_on(at + 1);
        self.add_word(at, text);
        self
    }

    /// Adds to a column of numbers alone; the others are to be filled alike.
    pub fn extend_numbers(&mut self, column: usize, list: impl Iterator<Item = f64>) {
        match &mut self.values[column] {
            Values::Numbers(all) => all.extend(list),
            other => debug_assert!(false, "numbers for {other:?}"),
        }
    }

    /// Adds to a column of whole numbers alone; the others are to be filled alike.
    pub fn extend_counts(&mut self, column: usize, list: impl Iterator<Item = usize>) {
        match &mut self.values[column] {
            Values::Counts(all) => all.extend(list.map(|n| n as i64)),
            other => debug_assert!(false, "counts for {other:?}"),
        }
    }

    /// Adds to a column of words alone; the others are to be filled alike.
    #[inline]
    pub fn add_word(&mut self, column: usize, text: &str) {
        let above = match &self.values[column] {
            Values::Words(list) => list.last().copied(),
            other => return debug_assert!(false, "a word for {other:?}"),
        };
        let code = self.guess(above, text);
        if let Values::Words(list) = &mut self.values[column] {
            list.push(code);
        }
    }

    /// The word's code: likely the one above, or the one that followed that before.
    #[inline]
    fn guess(&mut self, above: Option<u32>, text: &str) -> u32 {
        let Some(above) = above else { return self.words.code(text) };
        let is = |code: u32| self.words.list[code as usize] == text;
        if is(above) {
            return above;
        }
        match self.follower.get(above as usize) {
            Some(&code) if is(code) => code,
            _ => {
                let code = self.words.code(text);
                self.follower.resize(self.words.list.len(), 0);
                self.follower[above as usize] = code;
                code
            }
        }
    }

    /// Adds rows of a table of the same columns.
    pub(crate) fn append(&mut self, other: &Self, range: Range<usize>) {
        let codes: Vec<u32> = other.words.list().iter().map(|w| self.words.code(w)).collect();
        for (mine, theirs) in self.values.iter_mut().zip(&other.values) {
            match (mine, theirs) {
                (Values::Numbers(a), Values::Numbers(b)) => a.extend_from_slice(&b[range.clone()]),
                (Values::Counts(a), Values::Counts(b)) => a.extend_from_slice(&b[range.clone()]),
                (Values::Words(a), Values::Words(b)) => {
                    a.extend(b[range.clone()].iter().map(|c| codes[*c as usize]));
                }
                _ => debug_assert!(false, "tables of two kinds"),
            }
        }
    }
}

/// Equal in all rows, numbers bit by bit.
impl PartialEq for Rows {
    fn eq(&self, other: &Self) -> bool {
        let same = |(a, b): (&Values, &Values)| match (a, b) {
            (Values::Numbers(a), Values::Numbers(b)) => {
                a.iter().map(|x| x.to_bits()).eq(b.iter().map(|x| x.to_bits()))
            }
            (Values::Counts(a), Values::Counts(b)) => a == b,
            (Values::Words(a), Values::Words(b)) => {
                let a = a.iter().map(|c| &self.words.list[*c as usize]);
                a.eq(b.iter().map(|c| &other.words.list[*c as usize]))
            }
            _ => false,
        };
        self.table == other.table && self.values.iter().zip(&other.values).all(same)
    }
}
