//! A place where two solids touch.

use crate::space::Vector;

/// A place where two bodies touch or nearly do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Touch {
    /// In the world, midway between the surfaces.
    pub point: Vector,
    /// Unit, in the world, from body a towards body b.
    pub normal: Vector,
    /// Distance of the surfaces along the normal: positive apart, negative overlapping.
    pub gap: f64,
    /// Names the features that meet: the same while they do, and different from those of the pair's other touches.
    /// Corners of a, corners of b and pairs of edges are told apart by the two highest bits.
    pub feature: u32,
}
