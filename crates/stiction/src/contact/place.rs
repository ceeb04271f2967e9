//! Where between two undeformed surfaces their contact force acts.
//!
//! Surfaces in contact overlap by the deformation of both. The deformed surfaces meet between them: each body takes a share of the overlap, in the ratio of
//! the compliances (chakraborty2007 (11), Figure 2: on the rigid body's own surface where only the other deforms).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where between the two undeformed surfaces a contact force acts, along the normal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContactPoint {
    /// Where the deformed surfaces meet, by the compliance of each side: on the surface of the rigid one where only the other is soft. In the
    /// middle where nothing says how the two share the overlap: between rigid bodies, and where a pair gives the law.
    #[default]
    Compliance,
    /// In the middle of the overlap.
    Middle,
    /// On the surface of the first of a pair's two bodies or materials.
    First,
    /// On the surface of the second.
    Second,
}

/// Share of the overlap that the first of two sides takes, from the compliances of both; half where they are the same.
pub fn share_of_first([first, second]: [f64; 2]) -> f64 {
    match (first, second) {
        (a, b) if a == b => 0.5,
        (a, b) if a.is_infinite() || b == 0.0 => 1.0,
        (a, b) if b.is_infinite() || a == 0.0 => 0.0,
        (a, b) => a / (a + b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_follow_compliances() {
        let cases = [
            ([0.0, 0.0], 0.5),
            ([2.0, 2.0], 0.5),
            ([f64::INFINITY; 2], 0.5),
            ([1e-9, 0.0], 1.0),
            ([0.0, 1e-9], 0.0),
            ([f64::INFINITY, 1.0], 1.0),
            ([1.0, f64::INFINITY], 0.0),
            ([3.0, 1.0], 0.75),
        ];
        for (compliances, share) in cases {
            assert_eq!(share_of_first(compliances), share, "{compliances:?}");
        }
    }
}
