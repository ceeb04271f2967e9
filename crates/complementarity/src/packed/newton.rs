//! Newton's method on Alart and Curnier's equations, solved for the speeds of bodies.
//!
//! With a proximal term and its own compliance, `e l` in all, `e > 0`, each contact answers a change of the speeds by `dl = -g - D W dv`: `D` is zero if it is open, `1 / e`
//! if it sticks, and has a normal-tangential coupling if it slips. In speeds whose masses are one that leaves `(1 + W' D W) dv = -W' g`, which has blocks where
//! bodies touch: a few million operations for hundreds of bodies, where `A` multiplied out takes a hundred times as many.

use super::block_lu::{Blocks, Factor, Pattern};
use super::lanes::Arithmetic;
use super::{Forces, Group, LANES, Lanes, SPEEDS, add_proximal, gather, speed_of};
use pulp::f64x4;

/// How a contact answers: `g`, `D`.
#[derive(Debug, Clone, Copy, Default)]
struct Answer {
    constant: [f64; 3],
    slope: [[f64; 3]; 3],
}

/// Memory of Newton steps.
#[derive(Debug, Clone, Default)]
pub(crate) struct Newton {
    pattern: Pattern,
    blocks: Blocks,
    /// By group and lane.
    answers: Vec<[Answer; LANES]>,
    x: Vec<[f64; SPEEDS]>,
}

impl Newton {
    /// To be called for every island anew.
    pub fn begin(&mut self) {
        self.pattern.clear();
    }

    /// One full step from the forces as they are; what it leaves is within the cones. False if the system is singular.
    pub fn step(&mut self, lanes: &mut Lanes<'_, 3, 1>) -> bool {
        let x = Arithmetic(lanes.simd);
        let packed = &mut *lanes.packed;
        let still = packed.speeds.at.len() as u32 - 1;
        self.answers.clear();
        for ((g, force), centre) in packed.groups.iter().zip(&packed.forces.at).zip(&packed.centre) {
            let own = g.bodies.map(|bodies| gather(x, &packed.speeds.at, &bodies));
            let mut speed = speed_of(x, g, force, &own[0], &own[1]);
            add_proximal(x, lanes.weight, g, force, centre, &mut speed);
            self.answers.push(std::array::from_fn(|lane| linearise(g, lanes.weight, force, &speed, lane)));
        }
        self.assemble(&packed.groups, still);
        let factor = Factor { blocks: &mut self.blocks, pattern: &self.pattern, x };
        if !lanes.simd.vectorize(factor) {
            return false;
        }
        self.x.clear();
        self.x.resize(still as usize + 1, [0.0; SPEEDS]);
        for (g, answers) in packed.groups.iter().zip(&self.answers) {
            for (lane, answer) in answers.iter().enumerate() {
                for (k, bodies) in g.bodies.iter().enumerate() {
                    let own = &mut self.x[bodies[lane] as usize];
                    for j in 0..SPEEDS {
                        let push = |i: usize| get(&g.w[i][SPEEDS * k + j], lane) * answer.constant[i];
                        own[j] -= push(0) + push(1) + push(2);
                    }
                }
            }
        }
        self.blocks.solve(&self.pattern, &mut self.x[..still as usize]);
        self.x[still as usize] = [0.0; SPEEDS];
        for ((g, held), answers) in packed.groups.iter().zip(&mut packed.forces.at).zip(&self.answers) {
            for (lane, Answer { constant, slope }) in answers.iter().enumerate() {
                let mut change = [0.0; 3];
                for (k, bodies) in g.bodies.iter().enumerate() {
                    let own = &self.x[bodies[lane] as usize];
                    for (change, row) in change.iter_mut().zip(&g.w) {
                        *change += (0..SPEEDS).map(|j| get(&row[SPEEDS * k + j], lane) * own[j]).sum::<f64>();
                    }
                }
                let mut force: [f64; 3] = std::array::from_fn(|i| {
                    let answer = (0..3).map(|j| slope[i][j] * change[j]).sum::<f64>();
                    get(&held[i], lane) - constant[i] - answer
                });
                into_cone(get(&g.mu, lane), &mut force);
                (0..3).for_each(|i| *super::lane_of(&mut held[i], lane) = force[i]);
            }
        }
        lanes.begin();
        true
    }

    /// `1 + W' D W`. The pattern is that of the contacts that were closed when it was last found; it is found anew if there is no room.
    fn assemble(&mut self, groups: &[Group<3, 1>], still: u32) {
        let closed = |answer: &Answer| answer.slope[0][0] != 0.0;
        let pair = |g: &Group<3, 1>, lane: usize| g.bodies.map(|bodies| bodies[lane]);
        let pairs = || {
            groups.iter().zip(&self.answers).flat_map(move |(g, answers)| {
                (0..LANES).filter(move |&lane| closed(&answers[lane])).map(move |lane| pair(g, lane))
            })
        };
        let between = || pairs().filter(|[a, b]| *a != still && *b != still);
        if !between().all(|pair| self.pattern.holds(pair)) {
            // two names for what is read and written
            let mut pattern = std::mem::take(&mut self.pattern);
            pattern.find(still as usize, between());
            self.pattern = pattern;
        }
        self.blocks.reset(&self.pattern);
        for (g, answers) in groups.iter().zip(&self.answers) {
            for lane in (0..LANES).filter(|&lane| closed(&answers[lane])) {
                let slope = &answers[lane].slope;
                let w: [[f64; 2 * SPEEDS]; 3] =
                    std::array::from_fn(|i| std::array::from_fn(|j| get(&g.w[i][j], lane)));
                let product: [[f64; 2 * SPEEDS]; 3] = std::array::from_fn(|i| {
                    std::array::from_fn(|j| (0..3).map(|k| slope[i][k] * w[k][j]).sum())
                });
                let pair = pair(g, lane);
                for (row, column) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                    if pair[row] == still || pair[column] == still {
                        continue;
                    }
                    let block = self.blocks.block(&self.pattern, pair[row], pair[column]);
                    for (i, block) in block.iter_mut().enumerate() {
                        for j in 0..SPEEDS {
                            let entry = |k: usize| w[k][SPEEDS * row + i] * product[k][SPEEDS * column + j];
                            block[j] += entry(0) + entry(1) + entry(2);
                        }
                    }
                }
            }
        }
    }
}

fn get(v: &f64x4, lane: usize) -> f64 {
    [v.0, v.1, v.2, v.3][lane]
}

/// The answer of a contact that has this force and speed, proximal term included.
fn linearise(g: &Group<3, 1>, weight: f64, force: &Forces<3>, speed: &[f64x4; 3], lane: usize) -> Answer {
    let of = |v: &[f64x4; 3]| v.map(|v| get(&v, lane));
    let (force, speed) = (of(force), of(speed));
    let (mu, normal) = (get(&g.mu, lane), get(&g.column[0], lane));
    let unit = normal.recip();
    let [e, e_t] = [g.yields, g.compliance[0]].map(|own| get(&own, lane) + weight * normal);
    let aim: [f64; 3] = std::array::from_fn(|i| force[i] - unit * speed[i]);
    let length = aim[1].hypot(aim[2]);
    let mut slope = [[0.0; 3]; 3];
    if aim[0] <= 0.0 {
        return Answer { constant: force, slope };
    }
    if length <= mu * aim[0] {
        let each = [e, e_t, e_t];
        (0..3).for_each(|i| slope[i][i] = 1.0 / each[i]);
        return Answer { constant: std::array::from_fn(|i| speed[i] / each[i]), slope };
    }
    // the normal speed vanishes; along t the friction force is on its limit; across, it turns with the aim
    let t = [aim[1] / length, aim[2] / length];
    let across = [-t[1], t[0]];
    let kappa = (mu * force[0].max(0.0) / length).min(1.0);
    let turn = 1.0 / (1.0 - kappa * (1.0 - unit * e_t));
    let normal = speed[0] / e;
    let along = force[1] * t[0] + force[2] * t[1] + mu * (normal - force[0]);
    let turned = (force[1] * across[0] + force[2] * across[1]) * turn;
    slope[0][0] = 1.0 / e;
    for i in 0..2 {
        slope[1 + i][0] = mu / e * t[i];
        for j in 0..2 {
            slope[1 + i][1 + j] = kappa * unit * turn * across[i] * across[j];
        }
    }
    let friction = |i: usize| along * t[i] + turned * across[i];
    Answer { constant: [normal, friction(0), friction(1)], slope }
}

/// The normal force at least zero, the friction force at most its limit.
fn into_cone(mu: f64, force: &mut [f64; 3]) {
    force[0] = force[0].max(0.0);
    let (length, limit) = (force[1].hypot(force[2]), mu * force[0]);
    if length > limit {
        force[1] *= limit / length;
        force[2] *= limit / length;
    }
}
