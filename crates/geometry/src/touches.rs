//! Where two solids touch.

use super::closest::separation;
use super::implicit::{self, Closest};
use super::manifold::Manifold;
use super::outline::Outline;
use super::placed::Placed;
use super::plane;
use super::reach::separates;
use super::shape::Shape;
use super::solid::Solid;
use super::touch::Touch;
use crate::space::{Frame, Pose, Vector, add, dot, length, scale, sub};

/// Two solids that are not compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("contact of a {a} with a {b} is not supported{}", if *.mixed { ": one is planar, the other is not" } else { "" })]
pub struct Unsupported {
    /// Shape of the first.
    pub a: &'static str,
    /// Shape of the second.
    pub b: &'static str,
    /// Whether they were made for different kinds of scene.
    pub mixed: bool,
}

/// Touches that are not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unknown {
    /// Such pairs are not compared.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// The closest points of shapes given by functions were not found.
    #[error("the closest points of a {a} and a {b} were not found")]
    NotFound {
        /// Shape of the first.
        a: &'static str,
        /// Shape of the second.
        b: &'static str,
    },
}

/// Whether [`touches`] handles the pair: all but two half-spaces (or other shapes without bounds), and solids of different kinds of scene.
pub fn supported(a: &Solid, b: &Solid) -> bool {
    a.planar() == b.planar() && !(a.is_unbounded() && b.is_unbounded())
}

/// Memory that [`touches`] uses again and again.
#[derive(Debug, Clone, Default)]
pub struct Workspace {
    pub(super) memory: [[Vec<Vector>; 2]; 2],
    pub(super) outlines: [Outline; 2],
    /// Along gravity, of any length; 0 without. Round faces on a slope touch with the point of their rim farthest along it, too.
    pub down: Vector,
    /// Sine of the tilt up to which a round face touches with its own points alone, and above which with the lowest point of its rim alone;
    /// `None`: both take part while the face lies nearly flat, as a step of finite length needs them.
    pub flat: Option<f64>,
    implicit: implicit::Memory,
    /// Closest points from which the next pair given by functions starts, such as those of an earlier place of the bodies.
    pub start: Option<Closest>,
    /// Closest points of the last pair given by functions, if it touches.
    pub found: Option<Closest>,
    /// Normal from a to b along which the next pair meets, if that is not the one of its signed distance; not for half-spaces, two spheres and shapes given by functions.
    pub along: Option<Vector>,
}

/// Adds to `out` the touches of a pair whose gap is at most `margin` metres.
///
/// # Errors
/// If the pair is not supported, or its closest points are not found.
///
/// With overlaps the normal is that of the least depth (for curved shapes: the nearest local least).
pub fn touches(
    a: &Solid,
    pose_a: &Pose,
    b: &Solid,
    pose_b: &Pose,
    margin: f64,
    workspace: &mut Workspace,
    out: &mut Vec<Touch>,
) -> Result<(), Unknown> {
    if !supported(a, b) {
        let mixed = a.planar() != b.planar();
        return Err(Unsupported { a: a.shape().name(), b: b.shape().name(), mixed }.into());
    }
    if a.implicit || b.implicit {
        let Workspace { implicit: memory, start, found, .. } = workspace;
        let not_found = |()| Unknown::NotFound { a: a.shape().name(), b: b.shape().name() };
        let (start, pair) = (start.take(), ((a, pose_a), (b, pose_b)));
        *found = implicit::touch(pair.0, pair.1, margin, start.as_ref(), memory, out).map_err(not_found)?;
        return Ok(());
    }
    if a.is_half_space() {
        plane::touches(pose_a, b, pose_b, margin, (1.0, workspace.down, workspace.flat), out);
        return Ok(());
    }
    if b.is_half_space() {
        plane::touches(pose_b, a, pose_a, margin, (-1.0, workspace.down, workspace.flat), out);
        return Ok(());
    }
    let apart = sub(pose_b.position, pose_a.position);
    let reach = a.reach + b.reach + margin;
    if dot(apart, apart) > reach * reach {
        return Ok(());
    }
    if let (Shape::Sphere { radius: r }, Shape::Sphere { radius: s }) = (a.shape(), b.shape()) {
        spheres(pose_a.position, apart, *r, *s, margin, out);
        return Ok(());
    }
    let along = workspace.along.take().and_then(|n| Some((n, separates((a, pose_a), (b, pose_b), n)?)));
    let Workspace { memory: [memory_a, memory_b], outlines, down, flat, .. } = workspace;
    outlines.iter_mut().for_each(|o| (o.down, o.flat) = (*down, *flat));
    let origin = pose_a.position;
    let pair = [Placed::new(a, pose_a, origin, memory_a), Placed::new(b, pose_b, origin, memory_b)];
    let (n, gap) = along.unwrap_or_else(|| {
        let (n, core) = separation(&pair);
        (n, core - a.radius - b.radius)
    });
    if gap > margin {
        return Ok(());
    }
    let size = a.reach + b.reach;
    let first = out.len();
    let frame = Frame::new(n, [1.0, 0.0, 0.0]);
    Manifold { frame, origin, margin, tolerance: 1e-12 * size, first, out }.find(&pair, gap, outlines);
    Ok(())
}

fn spheres(from: Vector, apart: Vector, r: f64, s: f64, margin: f64, out: &mut Vec<Touch>) {
    let distance = length(apart);
    let gap = distance - r - s;
    if gap > margin {
        return;
    }
    // concentric spheres leave each other any way
    let normal = if distance > 0.0 { scale(1.0 / distance, apart) } else { [1.0, 0.0, 0.0] };
    out.push(Touch { point: add(from, scale(r + 0.5 * gap, normal)), normal, gap, feature: 0 });
}
