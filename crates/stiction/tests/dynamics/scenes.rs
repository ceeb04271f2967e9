//! Systems and states for the tests.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use stiction::dynamics::{Inertia, Joint, Kinematics, Link, MassMatrix, System};
use stiction::space::{Pose, Quaternion, Tensor, Vector, turned, unit};

pub const GRAVITY: Vector = [0.3, -0.2, -9.81];

pub struct Random(Pcg64Mcg);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(Pcg64Mcg::seed_from_u64(seed))
    }

    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        self.0.random_range(low..high)
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.0.random_range(0..n)
    }

    pub fn vector(&mut self) -> Vector {
        [(); 3].map(|()| self.between(-1.0, 1.0))
    }

    pub fn values(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.between(-1.0, 1.0)).collect()
    }

    pub fn attitude(&mut self) -> Quaternion {
        let turn = self.vector();
        Quaternion::turn(turn.map(|x| 2.0 * x)).unit()
    }

    pub fn pose(&mut self) -> Pose {
        Pose { position: self.vector(), attitude: self.attitude() }
    }

    pub fn inertia(&mut self) -> Inertia {
        let moments = [0.4, 0.5, 0.7].map(|m| m * self.between(0.8, 1.2));
        Inertia {
            mass: self.between(0.5, 2.0),
            center: self.vector().map(|x| 0.4 * x),
            tensor: symmetric(turned(&self.attitude().matrix(), moments)),
        }
    }

    /// `kind` 0 to 5.
    pub fn joint(&mut self, kind: usize) -> Joint {
        match kind {
            0 => Joint::Revolute { axis: unit(self.vector()) },
            1 => Joint::Prismatic { axis: unit(self.vector()) },
            2 => Joint::Planar,
            3 => Joint::Spherical,
            4 => Joint::Fixed,
            _ => Joint::Free,
        }
    }

    /// Trees of all joints with branches, links in any order; free joints on the world.
    pub fn system(&mut self, links: usize) -> System {
        let links = (0..links)
            .map(|i| {
                let parent = Some(self.below(i + 1)).filter(|&p| p < i && self.below(8) > 0);
                let kind = self.below(if parent.is_none() { 6 } else { 5 });
                Link { parent, mount: self.pose(), joint: self.joint(kind), inertia: self.inertia() }
            })
            .collect();
        System::new(links).unwrap()
    }

    pub fn configuration(&mut self, system: &System) -> Vec<f64> {
        let speeds = self.values(system.velocity_size());
        advanced(system, &system.neutral_configuration(), &speeds, 1.5)
    }
}

fn symmetric(t: Tensor) -> Tensor {
    [0, 1, 2].map(|i| [0, 1, 2].map(|j| if i < j { t[i][j] } else { t[j][i] }))
}

/// Twenty random systems with a state each.
pub fn cases() -> impl Iterator<Item = (System, Vec<f64>, Vec<f64>)> {
    (0..20).map(|seed| {
        let mut random = Random::new(seed);
        let system = random.system(3 + seed as usize / 2);
        let q = random.configuration(&system);
        let v = random.values(system.velocity_size());
        (system, q, v)
    })
}

pub fn advanced(system: &System, q: &[f64], v: &[f64], h: f64) -> Vec<f64> {
    let mut out = vec![0.0; q.len()];
    system.advance(q, v, h, &mut out);
    out
}

pub fn at(system: &System, q: &[f64], v: &[f64]) -> Kinematics {
    let mut kinematics = Kinematics::new(system);
    kinematics.update(q, v);
    kinematics
}

pub fn mass_at(kinematics: &Kinematics) -> MassMatrix {
    let mut mass = MassMatrix::new(kinematics.system());
    mass.update(kinematics).unwrap();
    mass
}

/// `M^-1 f`.
pub fn acceleration(system: &System, q: &[f64], v: &[f64], gravity: Vector) -> Vec<f64> {
    let mut kinematics = at(system, q, v);
    let mut f = vec![0.0; v.len()];
    kinematics.bias(gravity, &mut f);
    mass_at(&kinematics).solve(&mut f);
    f
}

pub fn link(
    parent: Option<usize>,
    at: Vector,
    joint: Joint,
    mass: f64,
    center: Vector,
    moments: Vector,
) -> Link {
    let [x, y, z] = moments;
    let tensor = [[x, 0.0, 0.0], [0.0, y, 0.0], [0.0, 0.0, z]];
    let mount = Pose { position: at, attitude: Quaternion::IDENTITY };
    Link { parent, mount, joint, inertia: Inertia { mass, center, tensor } }
}

pub fn plus(x: &[f64], s: f64, y: &[f64]) -> Vec<f64> {
    x.iter().zip(y).map(|(a, b)| a + s * b).collect()
}

#[track_caller]
pub fn assert_near(a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len());
    for (i, (x, y)) in a.iter().zip(b).enumerate() {
        assert!((x - y).abs() <= tolerance * (1.0 + y.abs()), "entry {i}: {x} and {y} of {a:?} and {b:?}");
    }
}
