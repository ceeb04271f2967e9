//! Who answers: one algorithm a file. Only `portfolio` knows the others.

pub mod lemke;
pub mod portfolio;
