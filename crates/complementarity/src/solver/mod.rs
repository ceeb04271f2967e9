//! Who answers: one algorithm a file. Only `portfolio` knows the others.

pub mod decide;
pub mod interior_point;
pub mod lemke;
pub mod portfolio;
