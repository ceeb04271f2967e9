//! Who answers: one algorithm a file. Only `portfolio` knows the others.

pub mod interior_point;
pub mod portfolio;
