//! What the tables of a recording hold: columns, and rows in memory.

use crate::scene::Table;
use std::collections::HashMap;

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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Its head.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// SI; empty without.
    pub unit: &'static str,
}

const fn number(name: &'static str, unit: &'static str) -> Column {
    Column { name, kind: Kind::Number, unit }
}

const fn count(name: &'static str) -> Column {
    Column { name, kind: Kind::Count, unit: "" }
}

const fn word(name: &'static str) -> Column {
    Column { name, kind: Kind::Word, unit: "" }
}

const BODIES: &[Column] = &[
    number("time", "s"),
    word("body"),
    number("x", "m"),
    number("y", "m"),
    number("z", "m"),
    number("qw", ""),
    number("qx", ""),
    number("qy", ""),
    number("qz", ""),
    number("vx", "m/s"),
    number("vy", "m/s"),
    number("vz", "m/s"),
    number("wx", "rad/s"),
    number("wy", "rad/s"),
    number("wz", "rad/s"),
];

const CONTACTS_WITH_MOMENTS: &[Column] = &[
    number("time", "s"),
    word("contact"),
    count("element"),
    word("body_a"),
    word("body_b"),
    number("px", "m"),
    number("py", "m"),
    number("pz", "m"),
    number("nx", ""),
    number("ny", ""),
    number("nz", ""),
    number("gap", "m"),
    number("force_n", "N"),
    number("force_t", "N"),
    number("force_o", "N"),
    number("slip_t", "m/s"),
    number("slip_o", "m/s"),
    number("deformation_n", "m"),
    number("deformation_t", "m"),
    number("deformation_o", "m"),
    word("status"),
    number("moment_n", "N m"),
    number("moment_t", "N m"),
    number("moment_o", "N m"),
];

const STEPS: &[Column] = &[
    number("time", "s"),
    number("h", "s"),
    word("status"),
    word("solver"),
    count("iterations"),
    count("wasted"),
    number("residual", ""),
    number("kinetic", "J"),
    number("potential", "J"),
    number("elastic", "J"),
    number("friction_loss", "J"),
    number("damping_loss", "J"),
    number("work", "J"),
];

const EVENTS: &[Column] =
    &[number("time", "s"), word("contact"), count("element"), word("body_a"), word("body_b"), word("event")];

/// The columns of a table; what they mean is told in `docs/run.md`. Contacts in scenes with torsion or rolling friction have more
/// ([`Rows::columns`]).
pub fn columns(table: Table) -> &'static [Column] {
    match table {
        Table::Bodies => BODIES,
        Table::Contacts => &CONTACTS_WITH_MOMENTS[..CONTACTS_WITH_MOMENTS.len() - 3],
        Table::Steps => STEPS,
        Table::Events => EVENTS,
    }
}

/// Name of a table, and of its file or folder.
pub fn table_name(table: Table) -> &'static str {
    match table {
        Table::Bodies => "bodies",
        Table::Contacts => "contacts",
        Table::Steps => "steps",
        Table::Events => "events",
    }
}

/// The values of a column.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Values {
    Numbers(Vec<f64>),
    Counts(Vec<i64>),
    /// Codes of [`Words`].
    Words(Vec<u32>),
}

/// Words by number.
#[derive(Debug, Clone, Default)]
pub(super) struct Words {
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

/// Rows of a table, column by column. Filled cell by cell, in the order of the columns.
#[derive(Debug, Clone)]
pub struct Rows {
    table: Table,
    columns: &'static [Column],
    pub(super) values: Vec<Values>,
    pub(super) words: Words,
    /// Column of the next cell.
    next: usize,
    /// For each word, in the order of their codes, the one that followed it in a column.
    follower: Vec<u32>,
}

impl Rows {
    /// No rows yet.
    pub fn new(table: Table) -> Self {
        Self::of(table, columns(table))
    }

    /// As [`new`](Self::new), with the moments of contacts.
    pub fn with_moments(table: Table) -> Self {
        match table {
            Table::Contacts => Self::of(table, CONTACTS_WITH_MOMENTS),
            _ => Self::new(table),
        }
    }

    fn of(table: Table, columns: &'static [Column]) -> Self {
        let values = columns.iter().map(|c| match c.kind {
            Kind::Number => Values::Numbers(vec![]),
            Kind::Count => Values::Counts(vec![]),
            Kind::Word => Values::Words(vec![]),
        });
        Self { table, columns, values: values.collect(), words: Words::default(), next: 0, follower: vec![] }
    }

    /// Which table.
    pub fn table(&self) -> Table {
        self.table
    }

    /// A table of the same columns without rows.
    pub(super) fn none(&self) -> Self {
        Self::of(self.table, self.columns)
    }

    /// Its columns.
    pub fn columns(&self) -> &'static [Column] {
        self.columns
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
        self.columns.iter().position(|c| c.name == column).map(|at| &self.values[at])
    }

    /// Makes room for so many rows.
    pub(super) fn reserve(&mut self, rows: usize) {
        for values in &mut self.values {
            match values {
                Values::Numbers(list) => list.reserve_exact(rows),
                Values::Counts(list) => list.reserve_exact(rows),
                Values::Words(list) => list.reserve_exact(rows),
            }
        }
    }

    /// Forgets all rows and keeps the memory.
    pub(super) fn clear(&mut self) {
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

    pub(super) fn push_number(&mut self, x: f64) -> &mut Self {
        match self.cell() {
            Values::Numbers(list) => list.push(x),
            other => debug_assert!(false, "a number for {other:?}"),
        }
        self
    }

    /// Numbers of neighbouring columns.
    pub(super) fn push_numbers(&mut self, list: &[f64]) -> &mut Self {
        let end = self.next + list.len();
        for (values, x) in self.values[self.next..end].iter_mut().zip(list) {
            match values {
                Values::Numbers(list) => list.push(*x),
                other => debug_assert!(false, "a number for {other:?}"),
            }
        }
        self.go_on(end);
        self
    }

    pub(super) fn push_count(&mut self, n: usize) -> &mut Self {
        match self.cell() {
            Values::Counts(list) => list.push(n as i64),
            other => debug_assert!(false, "a count for {other:?}"),
        }
        self
    }

    /// The word's code: likely the one above, or the one that followed that before.
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

    pub(super) fn push_word(&mut self, text: &str) -> &mut Self {
        let above = match &self.values[self.next] {
            Values::Words(list) => list.last().copied(),
            _ => None,
        };
        let code = self.guess(above, text);
        match self.cell() {
            Values::Words(list) => list.push(code),
            other => debug_assert!(false, "a word for {other:?}"),
        }
        self
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
        self.table == other.table
            && self.columns == other.columns
            && self.values.iter().zip(&other.values).all(same)
    }
}
