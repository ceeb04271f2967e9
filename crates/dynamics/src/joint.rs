//! Joints: their coordinates, how these advance, where a joint places its link and how it moves it.

use super::spatial::Spatial;
use crate::space::{Pose, Quaternion, Vector, cross, scale, unit};

/// How a link moves relative to its parent's mount; each kind defines its coordinates `q` and velocities `v`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Joint {
    /// `q` = position (3), quaternion (4, scalar first); `v` = velocity of the link's origin in world axes,
    /// angular velocity in world axes.
    Free,
    /// `q` = x, y, angle about z; `v` their rates. The plane is the mount's x-y plane.
    Planar,
    /// `q` = angle about the unit `axis` (mount coordinates); `v` its rate.
    Revolute {
        /// Unit vector.
        axis: Vector,
    },
    /// `q` = displacement along the unit `axis` (mount coordinates); `v` its rate.
    Prismatic {
        /// Unit vector.
        axis: Vector,
    },
    /// `q` = angle about the unit `axis` (mount coordinates), along which the link moves by `pitch` times the
    /// angle; `v` its rate.
    Screw {
        /// Unit vector.
        axis: Vector,
        /// Translation per angle, m/rad.
        pitch: f64,
    },
    /// `q` = displacement along the unit `axis` (mount coordinates), angle about it; `v` their rates.
    Cylindrical {
        /// Unit vector.
        axis: Vector,
    },
    /// `q` = angles about two unit axes (mount coordinates), of which the first rotation carries the second
    /// along; `v` their rates.
    Universal {
        /// Unit vectors.
        axes: [Vector; 2],
    },
    /// `q` = quaternion (4, scalar first); `v` = angular velocity in mount axes.
    Spherical,
    /// No motion.
    Fixed,
}

const AXES: [Vector; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// The first three entries from `at` on.
pub(super) fn three(x: &[f64], at: usize) -> Vector {
    [x[at], x[at + 1], x[at + 2]]
}

/// The attitude in `q`, scaled to length 1.
pub(super) fn attitude(q: &[f64], at: usize) -> Quaternion {
    Quaternion([q[at], q[at + 1], q[at + 2], q[at + 3]]).unit()
}

impl Joint {
    /// Name of the joint in scene files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Planar => "planar",
            Self::Revolute { .. } => "revolute",
            Self::Prismatic { .. } => "prismatic",
            Self::Screw { .. } => "screw",
            Self::Cylindrical { .. } => "cylindrical",
            Self::Universal { .. } => "universal",
            Self::Spherical => "spherical",
            Self::Fixed => "fixed",
        }
    }

    /// Number of coordinates in `q`.
    pub fn configuration_size(&self) -> usize {
        self.velocity_size() + usize::from(self.quaternion().is_some())
    }

    /// Number of velocities in `v`: the degrees of freedom.
    pub fn velocity_size(&self) -> usize {
        match self {
            Self::Free => 6,
            Self::Planar | Self::Spherical => 3,
            Self::Cylindrical { .. } | Self::Universal { .. } => 2,
            Self::Revolute { .. } | Self::Prismatic { .. } | Self::Screw { .. } => 1,
            Self::Fixed => 0,
        }
    }

    /// Number of velocities that translate a link as a whole; they come first.
    pub(super) fn shifts(&self) -> usize {
        match self {
            Self::Free => 3,
            Self::Planar => 2,
            Self::Prismatic { .. } => 1,
            // of which a screw cannot be free; the others consist of two joints, see `split`
            Self::Screw { .. } | Self::Cylindrical { .. } | Self::Universal { .. } => 0,
            Self::Revolute { .. } | Self::Spherical | Self::Fixed => 0,
        }
    }

    /// Offset of the quaternion in the coordinates, if the joint has one.
    pub fn quaternion(&self) -> Option<usize> {
        match self {
            Self::Free => Some(3),
            Self::Spherical => Some(0),
            _ => None,
        }
    }

    /// The joint with its axis, if any, scaled to length 1.
    pub(super) fn with_unit_axis(self) -> Self {
        match self {
            Self::Revolute { axis } => Self::Revolute { axis: unit(axis) },
            Self::Prismatic { axis } => Self::Prismatic { axis: unit(axis) },
            Self::Screw { axis, pitch } => Self::Screw { axis: unit(axis), pitch },
            Self::Cylindrical { axis } => Self::Cylindrical { axis: unit(axis) },
            Self::Universal { axes } => Self::Universal { axes: axes.map(unit) },
            other => other,
        }
    }

    /// A joint as one or two joints in a row, with a body without mass between them.
    pub(super) fn split(self) -> (Option<Self>, Self) {
        match self {
            Self::Cylindrical { axis } => (Some(Self::Prismatic { axis }), Self::Revolute { axis }),
            Self::Universal { axes: [a, b] } => {
                (Some(Self::Revolute { axis: a }), Self::Revolute { axis: b })
            }
            one => (None, one),
        }
    }

    /// Pose of the link at coordinates `q`, given that of the mount.
    pub fn place(&self, mount: &Pose, q: &[f64]) -> Pose {
        let rotated = |turn| Pose { position: mount.position, attitude: mount.attitude.after(turn) };
        match *self {
            Self::Free => mount.then(&Pose { position: three(q, 0), attitude: attitude(q, 3) }),
            Self::Planar => {
                let (sin, cos) = (0.5 * q[2]).sin_cos();
                let attitude = Quaternion([cos, 0.0, 0.0, sin]);
                mount.then(&Pose { position: [q[0], q[1], 0.0], attitude })
            }
            Self::Revolute { axis } => {
                let (sin, cos) = (0.5 * q[0]).sin_cos();
                rotated(Quaternion([cos, sin * axis[0], sin * axis[1], sin * axis[2]]))
            }
            Self::Prismatic { axis } => {
                Pose { position: mount.point(scale(q[0], axis)), attitude: mount.attitude }
            }
            Self::Screw { axis, pitch } => {
                let turned = Self::Revolute { axis }.place(mount, q);
                Pose { position: mount.point(scale(pitch * q[0], axis)), ..turned }
            }
            Self::Cylindrical { .. } | Self::Universal { .. } => match self.split() {
                (Some(first), second) => second.place(&first.place(mount, &q[..1]), &q[1..]),
                (None, _) => *mount,
            },
            Self::Spherical => rotated(attitude(q, 0)),
            Self::Fixed => *mount,
        }
    }

    /// Advances the coordinates: `q+ = q + h G(q) v`. Attitudes rotate by the exponential map of `h` times
    /// the angular velocity, and are scaled to length 1.
    pub(super) fn advance(&self, mount: &Pose, q: &[f64], v: &[f64], h: f64, out: &mut [f64]) {
        let turn = |at: usize, w: Vector, out: &mut [f64]| {
            let next = Quaternion::turn(w.map(|x| h * x)).after(attitude(q, at)).unit();
            out[at..at + 4].copy_from_slice(&next.0);
        };
        match self {
            Self::Free => {
                // v is in world axes, q against the mount
                let to_mount = mount.attitude.inverse();
                let velocity = to_mount.apply(three(v, 0));
                (0..3).for_each(|k| out[k] = q[k] + h * velocity[k]);
                turn(3, to_mount.apply(three(v, 3)), out);
            }
            Self::Spherical => turn(0, three(v, 0), out),
            _ => {
                out.iter_mut().zip(q).zip(v).for_each(|((out, q), v)| *out = q + h * v);
            }
        }
    }

    /// Rate of the coordinates: `q' = G(q) v`, of a quaternion `p` rotating at `w` the product `(0, w) p / 2`.
    pub(super) fn rate(&self, mount: &Pose, q: &[f64], v: &[f64], out: &mut [f64]) {
        let turn = |at: usize, w: Vector, out: &mut [f64]| {
            let [x, y, z] = w.map(|x| 0.5 * x);
            let next = Quaternion([0.0, x, y, z]).after(Quaternion([q[at], q[at + 1], q[at + 2], q[at + 3]]));
            out[at..at + 4].copy_from_slice(&next.0);
        };
        match self {
            Self::Free => {
                let to_mount = mount.attitude.inverse();
                out[..3].copy_from_slice(&to_mount.apply(three(v, 0)));
                turn(3, to_mount.apply(three(v, 3)), out);
            }
            Self::Spherical => turn(0, three(v, 0), out),
            _ => out.copy_from_slice(v),
        }
    }

    /// Columns `S` of the motion subspace of a free joint.
    pub(super) fn free_columns() -> [Spatial; 6] {
        let shift = |axis| Spatial { angular: [0.0; 3], linear: axis };
        let turn = |axis| Spatial { angular: axis, linear: [0.0; 3] };
        let [x, y, z] = AXES;
        [shift(x), shift(y), shift(z), turn(x), turn(y), turn(z)]
    }

    /// Sets the columns `S` of a joint, with `arm` from the link's origin to the reference. Those of a free
    /// joint never change ([`Self::free_columns`]).
    pub(super) fn set_columns(&self, mount: &Pose, arm: Vector, columns: &mut [Spatial]) {
        let shift = |axis| Spatial { angular: [0.0; 3], linear: axis };
        let turn = |axis| Spatial { angular: axis, linear: cross(axis, arm) };
        match *self {
            Self::Revolute { axis } => columns[0] = turn(mount.attitude.apply(axis)),
            Self::Prismatic { axis } => columns[0] = shift(mount.attitude.apply(axis)),
            Self::Spherical => columns.copy_from_slice(&AXES.map(|e| turn(mount.attitude.apply(e)))),
            Self::Planar => {
                let [x, y, z] = AXES.map(|e| mount.attitude.apply(e));
                columns.copy_from_slice(&[shift(x), shift(y), turn(z)]);
            }
            Self::Screw { axis, pitch } => {
                let axis = mount.attitude.apply(axis);
                columns[0] = turn(axis).plus(shift(scale(pitch, axis)));
            }
            Self::Free | Self::Fixed | Self::Cylindrical { .. } | Self::Universal { .. } => {}
        }
    }

    /// Velocity of a joint and `zeta`, the rate of its columns times `v`, on a moving parent.
    #[inline]
    pub(super) fn velocity(&self, parent: Spatial, columns: &[Spatial], v: &[f64]) -> (Spatial, Spatial) {
        match *self {
            Self::Revolute { .. } | Self::Prismatic { .. } | Self::Screw { .. } => {
                let joint = columns[0].times(v[0]);
                (joint, parent.cross_motion(joint))
            }
            Self::Spherical => {
                // the columns are fixed to the mount
                let joint = columns[0].times(v[0]).plus(columns[1].times(v[1])).plus(columns[2].times(v[2]));
                (joint, parent.cross_motion(joint))
            }
            Self::Planar => {
                // the translations are fixed to the mount; the axis of rotation moves along with them
                let slide = columns[0].times(v[0]).plus(columns[1].times(v[1]));
                let spin = columns[2].times(v[2]);
                let carried = parent.plus(slide);
                (slide.plus(spin), parent.cross_motion(slide).plus(carried.cross_motion(spin)))
            }
            // free joints are always roots
            Self::Free => (Spatial { linear: three(v, 0), angular: three(v, 3) }, Spatial::default()),
            // the last two are split
            Self::Fixed | Self::Cylindrical { .. } | Self::Universal { .. } => {
                (Spatial::default(), Spatial::default())
            }
        }
    }
}
