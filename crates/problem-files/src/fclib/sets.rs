//! Friction sets in FCLIB files, one a contact: which one as an integer, and the semi-axes of ellipsoids.

use crate::error::{At, Fault};
use complementarity::problem::{Friction, FrictionProblem, SIDES};

/// The dataset of sets, and what it says.
pub(crate) const SETS: &str = "vectors/friction_sets";
const DISC: i64 = 0;
const ELLIPSOID: i64 = 1;
const SQUARE: i64 = -4;
const EXPECTED: &str =
    "0 (disc), 1 (ellipsoid), -4 (square about the disc), or an even number of corners from 4 to 64";
/// The dataset of semi-axes, one for each row but the first of each contact.
pub(crate) const AXES: &str = "vectors/friction_axes";

/// Of a set.
pub(crate) fn code(set: Friction) -> i32 {
    match set {
        Friction::Cone => DISC as i32,
        Friction::Ellipsoid => ELLIPSOID as i32,
        Friction::Pyramid => SQUARE as i32,
        Friction::Polygon { sides } => sides as i32,
    }
}

/// Gives the contacts their sets.
pub(super) fn give(
    problem: FrictionProblem,
    codes: Option<Vec<i64>>,
    axes: Option<Vec<f64>>,
) -> Result<FrictionProblem, Fault> {
    if codes.is_none() && axes.is_some() {
        return Err(Fault::missing("dataset", SETS));
    }
    let Some(codes) = codes else { return Ok(problem) };
    if codes.len() != problem.contacts() {
        return Err(Fault::entries(SETS, codes.len(), problem.contacts()));
    }
    let mut sets = Vec::with_capacity(codes.len());
    for (k, &code) in codes.iter().enumerate() {
        sets.push(match code {
            DISC => Friction::Cone,
            ELLIPSOID => Friction::Ellipsoid,
            SQUARE => Friction::Pyramid,
            sides if sides % 2 == 0 && usize::try_from(sides).is_ok_and(|n| SIDES.contains(&n)) => {
                Friction::Polygon { sides: sides as usize }
            }
            other => return Err(Fault::entry(SETS, At::Vector(k), other as f64, EXPECTED)),
        });
    }
    let ellipsoids = sets.contains(&Friction::Ellipsoid);
    if ellipsoids && axes.is_none() {
        return Err(Fault::missing("dataset", AXES));
    }
    let problem = problem.with_frictions(sets)?;
    let Some(axes) = axes else { return Ok(problem) };
    let expected = problem.size() - problem.contacts();
    if axes.len() != expected {
        return Err(Fault::entries(AXES, axes.len(), expected));
    }
    if let Some(k) = axes.iter().position(|e| !(e.is_finite() && *e >= 0.0)) {
        return Err(Fault::entry(AXES, At::Vector(k), axes[k], "a finite number >= 0"));
    }
    let rows = problem.rows_per_contact().map_or(1, |rows| rows - 1);
    let unused = |k: &usize| problem.friction_of(k / rows) != Friction::Ellipsoid && axes[*k] != 1.0;
    if let Some(k) = (0..axes.len()).find(unused) {
        return Err(Fault::entry(AXES, At::Vector(k), axes[k], "1 at a contact whose set is no ellipsoid"));
    }
    if ellipsoids { Ok(problem.with_axes(axes)?) } else { Ok(problem) }
}
