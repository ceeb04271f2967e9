//! Where in a scene a check is.

use std::fmt;

/// Position of a check in a scene, by list indices: a path as it grows.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    up: Option<&'a At<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Root,
    Key(&'a str),
    Index(usize),
}

impl<'a> At<'a> {
    pub const ROOT: At<'static> = At { up: None, step: Step::Root };

    pub fn key(&'a self, name: &'a str) -> At<'a> {
        At { up: Some(self), step: Step::Key(name) }
    }

    pub fn index(&'a self, i: usize) -> At<'a> {
        At { up: Some(self), step: Step::Index(i) }
    }

    /// Name of the value in messages: the last key of its path that describes it, not `constant`, `value` or
    /// `points`.
    pub fn name(&self) -> &'a str {
        match (self.step, self.up) {
            (Step::Key(name), _) if name != "constant" && name != "value" && name != "points" => name,
            (_, Some(up)) => up.name(),
            (_, None) => "the scene",
        }
    }
}

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(up) = self.up else { return Ok(()) };
        up.fmt(f)?;
        match self.step {
            Step::Key(name) if up.up.is_none() => f.write_str(name),
            Step::Key(name) => write!(f, ".{name}"),
            Step::Index(i) => write!(f, "[{i}]"),
            Step::Root => Ok(()),
        }
    }
}
