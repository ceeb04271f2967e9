//! Contact laws. Rigid and compliant contacts are one problem with and without the block
//! `E^-1 = (h K + C)^-1`; a law says what `K` and `C` are.

/// What a contact's elements do under force.
#[derive(Debug, Clone, PartialEq)]
pub enum Law {
    /// No deformation.
    Rigid,
    /// One spring and damper a direction: `lambda = K delta + C delta'` (song2004 with `n_s = 1`).
    KelvinVoigt {
        /// Normal and tangential stiffness, N/m.
        stiffness: [f64; 2],
        /// Normal and tangential damping, N s/m.
        damping: [f64; 2],
    },
    /// A patch of elements on the elastic half-space (song2004 2.2 and Appendix A).
    HalfSpace {
        /// Elements along an edge: `n_s` (planar: in all).
        elements: usize,
        /// Distance between neighbouring elements, `rho_0`, m.
        spacing: f64,
        /// Which influence functions.
        influence: Influence,
        /// Damping.
        damping: PatchDamping,
    },
}

/// Influence functions of the elastic half-space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Influence {
    /// Uniformly loaded rectangles, exactly (Love; Boussinesq and Cerruti).
    Rectangle,
    /// Point forces off the diagonal, song2004 Appendix A as corrected.
    PointForce,
}

/// Damping of a patch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PatchDamping {
    /// `C = 2 sqrt(K)`, by the matrix root (song2004 2.2; units as in the paper).
    Root,
    /// `C = time K`: a relaxation time in seconds.
    Proportional {
        /// s.
        time: f64,
    },
}
