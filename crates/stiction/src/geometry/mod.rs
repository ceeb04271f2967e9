//! Shapes, closest points, contact points.

mod shape;

pub use shape::Shape;
