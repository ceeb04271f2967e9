//! Stiffness and damping stated for rigid contacts, where their limit is asked for.

/// Stiffness and damping that stand for those of a rigid contact: with `m = 1/S_ii` the effective mass of a row and the time `T` = 1 s,
///
/// ```text
/// K = m / (eps T^2)      C = 2 zeta m / (sqrt(eps) T)
/// ```
///
/// song2001 (33), (34) with the nondimensional stiffness 1, along normals and tangents alike. Under its weight a body then
/// overlaps by `eps T^2 g`, and deformations decay within about `sqrt(eps) T`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StatedLayer {
    /// `eps`.
    pub eps: f64,
    /// Damping ratio `zeta`; 1 is critical for a contact alone, without friction.
    pub damping_ratio: f64,
}

impl Default for StatedLayer {
    /// `eps = 1e-6`, critical damping: 0.01 mm under weight, 1 ms.
    fn default() -> Self {
        Self { eps: 1e-6, damping_ratio: 1.0 }
    }
}

impl StatedLayer {
    /// RowSpring and damper of a row with this effective mass, kg (kg m^2 for rotations).
    pub fn spring(&self, mass: f64) -> RowSpring {
        RowSpring { stiffness: mass / self.eps, damping: 2.0 * self.damping_ratio * mass / self.eps.sqrt() }
    }
}

/// RowSpring and damper of one row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowSpring {
    /// N/m, or N m/rad.
    pub stiffness: f64,
    /// N s/m, or N m s/rad.
    pub damping: f64,
}
