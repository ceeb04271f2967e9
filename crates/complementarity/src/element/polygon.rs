//! Regular polygons of friction forces: `K = { (n, t) : t in mu n P }`, `P` with a finite number of sides.

use super::{Friction, SIDES};
use std::f64::consts::PI;
use std::sync::LazyLock;

/// A force within this share of half a side from its end counts as being at the corner.
const AT_CORNER: f64 = 1e-9;

/// A regular polygon about the origin, for `mu n = 1`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Polygon {
    sides: usize,
    apothem: f64,
    half_side: f64,
    /// Unit vectors, half a sector from one to the next, the first on the t axis.
    units: &'static [[f64; 2]],
    /// Angle of the normal of side 0, in half sectors: 1 if a corner is on the t axis, 0 if a side is across
    /// it.
    first: usize,
}

/// Where on the boundary of the polygon a force is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Face {
    /// On a side, given by its outward normal.
    Side([f64; 2]),
    /// At a corner.
    Corner([f64; 2]),
}

impl Polygon {
    /// The polygon of a friction set; `None` for discs and ellipsoids, and unless there are exactly two
    /// tangent directions.
    #[inline]
    pub fn of(friction: Friction, rows: usize) -> Option<Self> {
        match friction {
            _ if rows != 3 => None,
            Friction::Cone | Friction::Ellipsoid => None,
            Friction::Pyramid => {
                Some(Self { sides: 4, apothem: 1.0, half_side: 1.0, units: circle(4)?, first: 0 })
            }
            Friction::Polygon { sides } => {
                let units = circle(sides)?;
                let [apothem, half_side] = units[1];
                Some(Self { sides, apothem, half_side, units, first: 1 })
            }
        }
    }

    /// Number of sides.
    pub fn sides(&self) -> usize {
        self.sides
    }

    /// Distance of the sides from the centre.
    pub fn apothem(&self) -> f64 {
        self.apothem
    }

    /// Half the length of a side.
    pub fn half_side(&self) -> f64 {
        self.half_side
    }

    /// Outward normal of side `k`.
    pub fn normal(&self, k: usize) -> [f64; 2] {
        self.units[(2 * k + self.first) % self.units.len()]
    }

    /// Corner between sides `k - 1` and `k`.
    pub fn corner(&self, k: usize) -> [f64; 2] {
        let [t, o] = self.normal(k);
        match self.first {
            0 => [self.apothem * t + self.half_side * o, self.apothem * o - self.half_side * t],
            _ => self.units[2 * k % self.units.len()],
        }
    }

    /// The side whose sector (the wedge between its ends) contains a point.
    pub fn sector(&self, [t, o]: [f64; 2]) -> usize {
        let half_sectors = o.atan2(t) * self.sides as f64 / PI;
        let k = (0.5 * (half_sectors - self.first as f64)).round() as isize;
        k.rem_euclid(self.sides as isize) as usize
    }

    /// The corner that is farthest along a direction.
    pub fn farthest(&self, [t, o]: [f64; 2]) -> [f64; 2] {
        let half_sectors = o.atan2(t) * self.sides as f64 / PI;
        let k = (0.5 * (half_sectors + 1.0 - self.first as f64)).round() as isize;
        self.corner(k.rem_euclid(self.sides as isize) as usize)
    }

    /// Support function: the largest `x . p` over `p` in `P`.
    pub fn support(&self, x: [f64; 2]) -> f64 {
        let [t, o] = self.farthest(x);
        t * x[0] + o * x[1]
    }

    /// Gauge of a friction force for `mu n = 1`: at most 1 inside.
    pub fn gauge(&self, x: [f64; 2]) -> f64 {
        let [t, o] = self.normal(self.sector(x));
        ((t * x[0] + o * x[1]) / self.apothem).max(0.0)
    }

    /// Where on the boundary of `mu n P` the friction force of `l` is, or its radial projection on that
    /// boundary.
    pub fn face(&self, [_, t, o]: [f64; 3]) -> Face {
        let k = self.sector([t, o]);
        let normal @ [cos, sin] = self.normal(k);
        let (x, y) = (cos * t + sin * o, cos * o - sin * t);
        if y.abs() * self.apothem < (1.0 - AT_CORNER) * self.half_side * x {
            Face::Side(normal)
        } else {
            Face::Corner(self.corner(if y < 0.0 { k } else { k + 1 }))
        }
    }

    /// Projects a point on `K`. The polygon's symmetries map `K` to itself, so that a point projects within
    /// its own sector: it stays inside, or goes to the side's plane, to the side's nearer end, or to the
    /// apex.
    pub fn project(&self, mu: f64, x: [f64; 3]) -> [f64; 3] {
        let near = self.near(mu, x);
        let steep = mu * self.apothem;
        match near.part {
            Part::Inside => x,
            Part::Plane => near.back(near.along, steep * near.along, near.y),
            Part::End(end) => near.back(near.along, steep * near.along, end * near.along),
            Part::Apex => [0.0; 3],
        }
    }

    /// `x` minus its projection on `K`: its projection on the polar cone (Moreau), accurate also where
    /// `x_n > 0` is large and `x` is near `K`.
    pub fn polar(&self, mu: f64, x: [f64; 3]) -> [f64; 3] {
        let near = self.near(mu, x);
        let steep = mu * self.apothem;
        // how far x is beyond the point (1, steep, end) x_n
        let beyond = near.x - steep * x[0];
        match near.part {
            Part::Inside => [0.0; 3],
            Part::Plane => {
                let across = beyond / (1.0 + steep * steep);
                near.back(-steep * across, across, 0.0)
            }
            Part::End(end) => {
                let size = 1.0 + steep * steep + end * end;
                let [x, y] = [beyond / size, (near.y - end * x[0]) / size];
                let [rise, turn] = [steep * x + end * y, steep * end];
                near.back(-rise, (1.0 + end * end) * x - turn * y, (1.0 + steep * steep) * y - turn * x)
            }
            Part::Apex => x,
        }
    }

    /// Derivative of the projection; `None` if it is zero.
    pub fn slope(&self, mu: f64, x: [f64; 3]) -> Option<[[f64; 3]; 3]> {
        let near = self.near(mu, x);
        let ([cos, sin], steep) = (near.normal, mu * self.apothem);
        let outer = |v: [f64; 3], share: f64| v.map(|a| v.map(|b| share * a * b));
        let identity = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        match near.part {
            Part::Inside => Some(identity),
            Part::Plane => {
                let mut out = outer([-steep, cos, sin], -1.0 / (1.0 + steep * steep));
                (0..3).for_each(|i| out[i][i] += 1.0);
                Some(out)
            }
            Part::End(end) => {
                let ray = [1.0, cos * steep - sin * end, sin * steep + cos * end];
                Some(outer(ray, 1.0 / ray.iter().map(|x| x * x).sum::<f64>()))
            }
            Part::Apex => None,
        }
    }

    fn near(&self, mu: f64, [n, t, o]: [f64; 3]) -> Near {
        let normal @ [cos, sin] = self.normal(self.sector([t, o]));
        let (x, y) = (cos * t + sin * o, cos * o - sin * t);
        let steep = mu * self.apothem;
        let found = |part: Part, along: f64| Near { part, normal, along, x, y };
        if x <= steep * n && n >= 0.0 {
            return found(Part::Inside, n);
        }
        let on_plane = (n + steep * x) / (1.0 + steep * steep);
        if on_plane > 0.0 && y.abs() < mu * on_plane * self.half_side {
            return found(Part::Plane, on_plane);
        }
        let end = mu * self.half_side * y.signum();
        let along = (n + steep * x + end * y) / (1.0 + steep * steep + end * end);
        found(if along > 0.0 { Part::End(end) } else { Part::Apex }, along)
    }
}

/// Unit vectors at multiples of half a sector, exact at multiples of 90 degrees; `None` if there is no such
/// polygon.
fn circle(sides: usize) -> Option<&'static [[f64; 2]]> {
    static CIRCLES: LazyLock<Vec<Vec<[f64; 2]>>> = LazyLock::new(|| {
        let unit = |sides: usize, step: usize| {
            if (2 * step).is_multiple_of(sides) {
                return [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]][2 * step / sides];
            }
            let (sin, cos) = (PI * step as f64 / sides as f64).sin_cos();
            [cos, sin]
        };
        SIDES.map(|sides| (0..2 * sides).map(|step| unit(sides, step)).collect()).collect()
    });
    CIRCLES.get(sides.checked_sub(*SIDES.start())?).map(Vec::as_slice)
}

/// The face of `K` that contains a point's projection.
#[derive(Debug, Clone, Copy)]
enum Part {
    Inside,
    Plane,
    /// Position of the side's end along it, for a normal force of 1.
    End(f64),
    Apex,
}

struct Near {
    part: Part,
    /// Outward normal of the sector's side.
    normal: [f64; 2],
    /// Normal force of the projection.
    along: f64,
    /// Coordinates of the point across the side and along it.
    x: f64,
    y: f64,
}

impl Near {
    /// Transforms from the axes of the sector's side to t and o.
    fn back(&self, n: f64, x: f64, y: f64) -> [f64; 3] {
        let [cos, sin] = self.normal;
        [n, cos * x - sin * y, sin * x + cos * y]
    }
}
