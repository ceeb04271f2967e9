//! Random multi-rigid-body contact problems, after the experiment of trinkle1995 section 6.
//!
//! The paper's own 35 problems are not published. These have its sizes, its number of problems and friction
//! coefficients, and its ingredients: passive bodies, rolling and sliding contacts, initial velocities that
//! satisfy (5), (6).
//!
//! A problem is a scene of ellipsoids and boxes of random extents, densities and attitudes under gravity and
//! a random external force. Each body is placed on sloping ground or on the upper side of an earlier body,
//! and relative to it rests, rolls (rotates about the contact) or slides. Then further contacts are added
//! until the counts are reached: feet (massless pegs that end in a point) between bodies or on facets of the
//! fixed world, flanks of bodies on facets and pegs of the world. Feet on bodies that move as one, and boxes
//! on their four corners, make redundant contacts; feet that slide and flanks that wedge make problems
//! without a solution and with several, as in Painleve's rod. The surfaces are exact to second order at each
//! contact. Whether bodies overlap elsewhere is not checked: the problem at an instant does not depend on it.

pub mod bin;
mod links;
pub mod machine;
mod scene;
mod shape;

use crate::analysis::bodies::Bodies;
use complementarity::problem::{Converted, Friction, FrictionProblem, Lcp};
use rand_pcg::Pcg64;
use scene::Counts;

/// Friction coefficients of each problem, equal at all its contacts.
pub const COEFFICIENTS: [f64; 10] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];

/// Bodies, sliding and rolling contacts of the 35 problems. The LCP (32) has `sliding + 5 rolling` unknowns.
const PROBLEMS: [[usize; 3]; 35] = [
    // 2
    [1, 2, 0],
    [1, 2, 0],
    [2, 2, 0],
    // 10
    [1, 0, 2],
    [2, 0, 2],
    [2, 5, 1],
    [2, 5, 1],
    [4, 5, 1],
    [2, 10, 0],
    [3, 10, 0],
    [6, 10, 0],
    // 16
    [3, 1, 3],
    [3, 6, 2],
    [3, 11, 1],
    // 30
    [5, 0, 6],
    [3, 5, 5],
    [4, 10, 4],
    [8, 10, 4],
    [4, 15, 3],
    // 50
    [4, 0, 10],
    [5, 5, 9],
    [6, 10, 8],
    [7, 15, 7],
    // 90
    [6, 0, 18],
    [8, 10, 16],
    [16, 15, 15],
    [10, 20, 14],
    // 120
    [8, 5, 23],
    [10, 15, 21],
    [12, 20, 20],
    // 150
    [11, 15, 27],
    [14, 25, 25],
    // 170
    [10, 5, 33],
    [13, 20, 30],
    [16, 30, 28],
];

/// A problem with one friction coefficient.
#[derive(Debug, Clone)]
pub struct Case {
    /// Index of the scene among the 35, from 0.
    pub problem: usize,
    /// Number of unknowns of the LCP.
    pub size: usize,
    /// Coefficient of friction at all contacts.
    pub mu: f64,
    /// The contact problem, trinkle1995 (21).
    pub friction: FrictionProblem,
    /// Slack LCP of the problem, trinkle1995 (32)-(33).
    pub lcp: Converted<Lcp>,
}

/// The 35 scenes of a seed. Each scene is drawn independently of the others.
pub fn instants(seed: u64) -> Vec<Bodies> {
    let scene = |(index, &[bodies, sliding, rolling]): (usize, &[usize; 3])| {
        let mut rng = Pcg64::new(seed.into(), index as u128);
        let counts = Counts { bodies, sliding, rolling };
        loop {
            if let Some(instant) = scene::draw(&mut rng, counts) {
                return instant;
            }
        }
    };
    PROBLEMS.iter().enumerate().map(scene).collect()
}

/// The same scenes with links of manipulators where some contacts are with the world: fingers on hinges of their own, with their efforts or
/// their accelerations given.
pub fn instants_with_links(seed: u64) -> Vec<Bodies> {
    let with = |(index, bodies): (usize, Bodies)| {
        let mut rng = Pcg64::new(seed.into(), (PROBLEMS.len() + index) as u128);
        links::with_fingers(&mut rng, &bodies).expect("fingers at rest are valid links")
    };
    instants(seed).into_iter().enumerate().map(with).collect()
}

/// The 350 problems in order of size: every scene of [`instants`] with every one of [`COEFFICIENTS`].
pub fn table1(seed: u64) -> Vec<Case> {
    cases(&instants(seed))
}

/// The same of [`instants_with_links`].
pub fn table1_with_links(seed: u64) -> Vec<Case> {
    cases(&instants_with_links(seed))
}

fn cases(instants: &[Bodies]) -> Vec<Case> {
    let mut cases = Vec::with_capacity(PROBLEMS.len() * COEFFICIENTS.len());
    for (problem, instant) in instants.iter().enumerate() {
        for mu in COEFFICIENTS {
            let friction =
                instant.instant().problem_with(vec![mu; instant.contacts().len()], Friction::Pyramid);
            let friction = friction.expect("a valid instant and coefficients >= 0 make a valid problem");
            let lcp = friction.as_slack_lcp().expect("pyramid friction has a slack form");
            cases.push(Case { problem, size: lcp.problem.size(), mu, friction, lcp });
        }
    }
    cases
}
