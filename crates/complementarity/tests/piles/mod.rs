//! Contact problems of bodies made in code, through bodies.

use complementarity::matrix::Matrix;
use complementarity::operator::{Factored, Operator};
use complementarity::problem::{ContactProblem, Element, Friction};

/// A problem that owns its parts.
#[derive(Debug, Clone)]
pub struct Owned {
    pub a: Operator,
    pub b: Vec<f64>,
    pub elements: Vec<Element>,
}

impl Owned {
    /// Contacts under Coulomb's cone.
    pub fn new(a: Operator, b: Vec<f64>, mu: &[f64], rows: usize) -> Self {
        Self { a, b, elements: mu.iter().map(|&mu| Element::contact(rows, mu, Friction::Cone)).collect() }
    }

    /// The same under another set.
    pub fn with(&self, friction: Friction) -> Self {
        let elements = self.elements.iter().map(|e| Element::contact(e.rows(), e.mu(), friction)).collect();
        Self { elements, ..self.clone() }
    }

    pub fn problem(&self) -> ContactProblem<'_> {
        ContactProblem::new(&self.a, &self.b, &self.elements)
    }
}

/// Uniform in [0, 1) (splitmix64).
pub fn uniform(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut x = *state;
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// Uniform in [-1, 1).
pub fn signed(state: &mut u64) -> f64 {
    2.0 * uniform(state) - 1.0
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn unit(a: [f64; 3]) -> [f64; 3] {
    let length = (a[0] * a[0] + a[1] * a[1] + a[2] * a[2]).sqrt();
    a.map(|x| x / length)
}

/// Normal and two tangents.
fn frame(n: [f64; 3]) -> [[f64; 3]; 3] {
    let n = unit(n);
    let other = if n[0].abs() < 0.7 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
    let t = unit(cross(n, other));
    [n, t, cross(n, t)]
}

/// A body's part of a contact: it is at `r` from the body's centre, pushed by `sign` times the force.
fn push_on(
    f: &mut Factored,
    body: usize,
    sign: f64,
    r: [f64; 3],
    frame: [[f64; 3]; 3],
    mass: f64,
    inertia: f64,
) {
    let w = f.segment(6 * body, 6);
    for (k, d) in frame.iter().enumerate() {
        let turn = cross(r, *d);
        for j in 0..3 {
            (w[6 * k + j], w[6 * k + 3 + j]) =
                (sign * d[j] / f64::sqrt(mass), sign * turn[j] / f64::sqrt(inertia));
        }
    }
}

/// Bodies of this mass and inertia with speeds `v`.
fn with_speeds(f: Factored, v: &[f64], (mass, inertia): (f64, f64), mu: f64) -> Owned {
    let n = f.elements();
    let mut b = vec![0.0; 3 * n];
    let v: Vec<f64> =
        v.iter().enumerate().map(|(k, v)| v * if k % 6 < 3 { mass } else { inertia }.sqrt()).collect();
    for c in 0..n {
        f.pull(c, &v, &mut b[3 * c..][..3]);
    }
    Owned::new(Operator::Factored(f), b, &vec![mu; n], 3)
}

/// Cubes on each other, four contacts a face: forces are not unique. All fall at `fall`, the top one is pushed sideways at `push`.
pub fn boxes(count: usize, mu: f64, fall: f64, push: f64) -> Owned {
    let mut f = Factored::default();
    f.clear(6 * count, 1.0);
    let up = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    for k in 0..count {
        for (x, y) in [(0.5, 0.5), (-0.5, 0.5), (0.5, -0.5), (-0.5, -0.5)] {
            f.begin(3);
            push_on(&mut f, k, 1.0, [x, y, -0.5], up, 1.0, 1.0 / 6.0);
            if k > 0 {
                push_on(&mut f, k - 1, -1.0, [x, y, 0.5], up, 1.0, 1.0 / 6.0);
            }
        }
    }
    let mut v = vec![0.0; 6 * count];
    (0..count).for_each(|k| v[6 * k + 2] = -fall);
    v[6 * (count - 1)] = push;
    with_speeds(f, &v, (1.0, 1.0 / 6.0), mu)
}

/// Bricks at random: each rests with `points` points of one face, the normal within about 40 degrees of the vertical, on
/// an earlier brick or the ground, every third one also leans on a wall. They move at random, mostly downwards, so that
/// forces are far from unique.
pub fn bricks(count: usize, points: usize, mu: f64, seed: u64) -> Owned {
    let mut random = seed;
    let mut f = Factored::default();
    f.clear(6 * count, 1.0);
    let (mass, inertia) = (1.0, 1.0 / 6.0);
    for k in 0..count {
        for face in 0..if k % 3 == 2 { 2 } else { 1 } {
            let below = (face == 0 && k > 0).then(|| (uniform(&mut random) * k as f64) as usize);
            let tilt = [signed(&mut random), signed(&mut random)].map(|x| 0.6 * x);
            let frame = frame(if face == 0 { [tilt[0], tilt[1], 1.0] } else { [1.0, tilt[0], 0.2] });
            for _ in 0..points {
                f.begin(3);
                let (x, y) = (0.5 * signed(&mut random), 0.5 * signed(&mut random));
                let at =
                    |side: f64| [0, 1, 2].map(|i| side * frame[0][i] + x * frame[1][i] + y * frame[2][i]);
                push_on(&mut f, k, 1.0, at(-0.5), frame, mass, inertia);
                if let Some(below) = below {
                    push_on(&mut f, below, -1.0, at(0.5), frame, mass, inertia);
                }
            }
        }
    }
    let fall = |k: usize| if k % 6 == 2 { 0.5 } else { 0.0 };
    let v: Vec<f64> = (0..6 * count).map(|k| 0.3 * signed(&mut random) - fall(k)).collect();
    with_speeds(f, &v, (mass, inertia), mu)
}

/// Groups of velocities of these lengths, of which one alone or two share each of `contacts` contacts with `rows` rows; all
/// entries at random.
pub fn trees(lengths: &[usize], contacts: usize, rows: usize, mu: f64, seed: u64) -> Owned {
    let mut random = seed;
    let starts: Vec<usize> = (0..lengths.len()).map(|k| lengths[..k].iter().sum()).collect();
    let velocities: usize = lengths.iter().sum();
    let mut f = Factored::default();
    f.clear(velocities, 0.5);
    for _ in 0..contacts {
        f.begin(rows);
        let one = (uniform(&mut random) * lengths.len() as f64) as usize;
        let two = (uniform(&mut random) * lengths.len() as f64) as usize;
        for k in [one, two].into_iter().take(if one == two { 1 } else { 2 }) {
            f.segment(starts[k], lengths[k]).iter_mut().for_each(|w| *w = signed(&mut random));
        }
    }
    let v: Vec<f64> = (0..velocities).map(|_| signed(&mut random)).collect();
    let mut b = vec![0.0; rows * contacts];
    (0..contacts).for_each(|c| f.pull(c, &v, &mut b[rows * c..][..rows]));
    Owned::new(Operator::Factored(f), b, &vec![mu; contacts], rows)
}

/// A pyramid of spheres on the ground, `side` along its lowest layer, each of the others on four: `side^2 + 4 (1 + 4 + ... + (side - 1)^2)`
/// contacts. They fall, and move a little at random.
pub fn spheres(side: usize, mu: f64, seed: u64) -> Owned {
    let mut random = seed;
    let mut f = Factored::default();
    let count: usize = (1..=side).map(|k| k * k).sum();
    f.clear(6 * count, 1.0);
    let (mass, inertia) = (1.0, 0.1);
    // layers from below; `below` is the first sphere of the layer under this one
    let (mut own, mut below) = (0, 0);
    for layer in (1..=side).rev() {
        let first = own;
        for y in 0..layer {
            for x in 0..layer {
                let mut touch = |other: Option<usize>, n: [f64; 3]| {
                    let n = unit(n);
                    f.begin(3);
                    push_on(&mut f, own, 1.0, n.map(|n| -0.5 * n), frame(n), mass, inertia);
                    if let Some(other) = other {
                        push_on(&mut f, other, -1.0, n.map(|n| 0.5 * n), frame(n), mass, inertia);
                    }
                };
                if layer == side {
                    touch(None, [0.0, 0.0, 1.0]);
                } else {
                    for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                        let other = below + (y + dy) * (layer + 1) + x + dx;
                        touch(Some(other), [1.0 - 2.0 * dx as f64, 1.0 - 2.0 * dy as f64, 2.0f64.sqrt()]);
                    }
                }
                own += 1;
            }
        }
        below = first;
    }
    let fall = |k: usize| if k % 6 == 2 { 0.01 } else { 0.0 };
    let v: Vec<f64> = (0..6 * count).map(|k| 0.001 * signed(&mut random) - fall(k)).collect();
    with_speeds(f, &v, (mass, inertia), mu)
}

/// A pyramid as of [`spheres`], of rocks: normals and points at random, every contact with a twin `apart` from it, inertias that are not quite symmetric,
/// `mu` = 1. `apart` = 1e-6 makes singular values of about that size, and which twin carries the force depends on speeds as small.
pub fn rocks(side: usize, apart: f64, seed: u64) -> Owned {
    let mut random = seed;
    let count: usize = (1..=side).map(|k| k * k).sum();
    let mut f = Skew::default();
    let (mut own, mut below) = (0, 0);
    for layer in (1..=side).rev() {
        let first = own;
        for k in 0..layer * layer {
            let (x, y) = (k % layer, k / layer);
            let touching: &[(usize, usize)] =
                if layer == side { &[(0, 0)] } else { &[(0, 0), (1, 0), (0, 1), (1, 1)] };
            for &(dx, dy) in touching {
                let n = match layer == side {
                    true => [0.0, 0.0, 1.0],
                    false => [1.0 - 2.0 * dx as f64, 1.0 - 2.0 * dy as f64, 2.0f64.sqrt()],
                };
                let n = unit(unit(n).map(|n| n + 0.2 * signed(&mut random)));
                let r = [-0.5, 0.5].map(|arm| n.map(|n| arm * n + 0.1 * signed(&mut random)));
                for twin in [0.0, apart] {
                    let n = unit(n.map(|n| n + twin * signed(&mut random)));
                    let r = r.map(|r| r.map(|r| r + twin * signed(&mut random)));
                    f.begin_contact(6 * count);
                    f.rock(own, 1.0, r[0], frame(n));
                    if layer < side {
                        f.rock(below + (y + dy) * (layer + 1) + x + dx, -1.0, r[1], frame(n));
                    }
                }
            }
            own += 1;
        }
        below = first;
    }
    let fall = |k: usize| if k % 6 == 2 { 1.0 } else { 0.0 };
    let v: Vec<f64> = (0..6 * count).map(|k| signed(&mut random) - fall(k)).collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let a = Matrix::from_fn(f.w.len(), f.w.len(), |i, j| dot(&f.w[i], &f.y[j]));
    let b = f.w.iter().map(|w| dot(w, &v)).collect();
    Owned::new(Operator::Dense(a), b, &vec![1.0; f.w.len() / 3], 3)
}

/// `A = W Y`, not quite symmetric: rows of `W` and columns of `Y`.
#[derive(Default)]
struct Skew {
    w: Vec<Vec<f64>>,
    y: Vec<Vec<f64>>,
}

impl Skew {
    fn begin_contact(&mut self, speeds: usize) {
        self.w.extend(vec![vec![0.0; speeds]; 3]);
        self.y.extend(vec![vec![0.0; speeds]; 3]);
    }

    /// As [`push_on`], mass 1 and inertia 0.1, of which a part of 1e-3 is not symmetric.
    fn rock(&mut self, body: usize, sign: f64, r: [f64; 3], frame: [[f64; 3]; 3]) {
        let first = self.w.len() - 3;
        for (k, d) in frame.iter().enumerate() {
            let turn = cross(r, *d);
            let skew = cross([0.001, -0.002, 0.001], turn);
            let (w, y) = (&mut self.w[first + k][6 * body..], &mut self.y[first + k][6 * body..]);
            for j in 0..3 {
                (w[j], w[3 + j]) = (sign * d[j], sign * turn[j]);
                (y[j], y[3 + j]) = (sign * d[j], 10.0 * sign * (turn[j] + skew[j]));
            }
        }
    }
}
