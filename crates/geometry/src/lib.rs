//! Shapes, closest points, contact points, mass. What the other crates call space (vectors, rotations, poses) is here, too.
//!
//! It knows no forces, no velocities and no scenes. Start reading in [`Solid`] and [`touches`].
//!
//! A [`Shape`] is checked and prepared once as a [`Solid`]; [`touches`] finds where two placed solids meet,
//! [`feature`] gives the curvatures of both surfaces there and the derivatives of point, normal and gap with the poses,
//! [`height`] and [`gap_along`] give the gap along a line beside a touch, [`BroadPhase`] the pairs worth asking about,
//! [`mass_properties`] and [`combined`] the mass.
//!
//! Of the pairs, all with a half-space and all separated pairs are exact to rounding; so are overlaps of polytopes,
//! of spheres and capsules with them and with each other, and shallow overlaps of ellipsoids and cylinders. Limits:
//!
//! - the gap of separated cylinders is exact, but the point where a rim meets an edge may be off by 1e-8 of the size;
//! - cylinders overlapping by less than 1e-4 of the size along a face or cap keep that normal, even if a rim or edge
//!   elsewhere overlaps less;
//! - pairs with a superellipsoid, quadric, polynomial or intersection touch in one point, the closest ([`implicit`]), also where they are flat: give
//!   flat bodies as boxes and polytopes. Polynomials must be convex where they touch;
//! - deep overlaps of ellipsoids and cylinders (depth near the least radius of curvature) give a local least depth;
//! - edges within 1e-3 rad of parallel touch at two points whose gaps are taken along one normal;
//! - a cylinder's cap that lies on its face (to 1e-3 rad) is known by the points of [`Shape::Cylinder`] fixed to it, by the
//!   lowest of its rim if it is tilted at all, and by crossings with edges and other rims (of other rims if the caps are
//!   parallel to 1e-6 rad); a tilted cap by the lowest point of its rim and those at quarter turns from there;
//! - manifolds of more than eight points are thinned to eight, the deepest among them, unless a face was refined beyond that.

pub mod space;

mod ascent;
mod broad;
mod build;
mod closest;
mod curvature;
mod distance;
mod feature;
mod height;
mod hull;
pub mod implicit;
mod manifold;
mod mass;
mod outline;
mod placed;
mod plane;
mod reach;
mod resolve;
mod shape;
mod solid;
mod surface;
#[cfg(test)]
mod tests;
mod touch;
mod touches;

pub use broad::{Aabb, BroadPhase, bounding_box};
pub use curvature::ShapeOperator;
pub use distance::distance;
pub use feature::{Feature, Rates, Velocity, feature};
pub use height::{gap_along, height};
pub use hull::convex_hull;
pub use hull::{Edge, Face};
pub use mass::{MassProperties, combined, mass_properties};
pub use reach::{reaches, separates};
pub use shape::{InvalidShape, MOST_VERTICES, Member, Shape, Term};
pub use solid::Solid;
pub use touch::Touch;
pub use touches::{Unknown, Unsupported, Workspace, supported, touches};
