//! Which contact forces rigid bodies leave open. Expectations are counted by hand.

use crate::running;

use complementarity::certificate::Settings;
use complementarity::matrix::Matrix;
use complementarity::problem::{Lcp, MixedLcp};
use complementarity::report::Certificate;
use complementarity::solver::{Budget, decide};
use running::{G, go, scene, start};
use stiction::scene::{FrictionKind, Scene};

/// Which forces the last step leaves open; `rank` is that of `A`, over all rows.
#[derive(Debug)]
struct Determinacy {
    freedom: usize,
    rank: usize,
    undetermined: Vec<usize>,
    undetermined_normal: Vec<usize>,
}

/// After `steps` steps and one more.
fn after(scene: Scene, steps: usize) -> Determinacy {
    let (mut stepper, mut state) = start(scene, 1e-3);
    go(&mut stepper, &mut state, steps + 1, |_, _| ());
    let work = stepper.workspace();
    let known =
        work.problem.certificate(&work.forces.lambda, &Settings::default()).expect("something touches");
    let (rank, forces) = (known.rank.expect("small enough"), known.forces.expect("a solution"));
    assert_eq!(forces.dimension, forces.dimension_at_most, "{forces:?}");
    let undetermined_normal = forces.undetermined_normal().expect("a small basis");
    Determinacy {
        freedom: forces.dimension,
        rank: rank.rank,
        undetermined: forces.undetermined,
        undetermined_normal,
    }
}

fn frictionless(mut scene: Scene) -> Scene {
    scene.step.friction = FrictionKind::Frictionless;
    scene
}

/// Four normal forces, three equations: height, and tilt about x and y. With friction twelve forces and six equations.
#[test]
fn shares_of_four_rigid_legs_are_not_unique() {
    let table = || scene("four-legged-table.toml");
    let smooth = after(frictionless(table()), 20);
    assert_eq!((smooth.freedom, smooth.rank), (1, 6));
    assert_eq!(smooth.undetermined_normal, [0, 1, 2, 3]);
    let rough = after(table(), 20);
    assert_eq!((rough.freedom, rough.rank), (6, 6));
    assert_eq!(rough.undetermined_normal, [0, 1, 2, 3]);
}

/// Torsion adds a moment a foot, rolling friction two more; six equations all the same.
#[test]
fn moments_of_feet_are_not_unique_either() {
    for (torsion, rolling, freedom) in [(1e-3, 0.0, 16 - 6), (1e-3, 1e-3, 24 - 6), (0.0, 1e-3, 20 - 6)] {
        let mut table = scene("four-legged-table.toml");
        table.materials.iter_mut().for_each(|m| (m.torsion, m.rolling) = (torsion, rolling));
        let found = after(table, 20);
        assert_eq!((found.freedom, found.rank), (freedom, 6), "{torsion} {rolling}");
        assert_eq!(found.undetermined, [0, 1, 2, 3]);
        assert_eq!(found.undetermined_normal, [0, 1, 2, 3]);
    }
}

/// One point and six speeds: force and moment of a ball that rests, rolls or spins on the ground follow from its motion.
#[test]
fn force_and_moment_of_a_ball_are_unique() {
    for name in ["spinning-sphere.toml", "rolling-resistance.toml"] {
        for steps in [20, 3000] {
            let found = after(scene(name), steps);
            assert_eq!((found.freedom, found.undetermined.len()), (0, 0), "{name} after {steps}");
            assert!(found.rank > 0);
        }
    }
}

#[test]
fn shares_of_three_legs_are_unique_and_so_are_those_of_four_elastic_ones() {
    let mut three = scene("four-legged-table.toml");
    let inertia = three.resolve().expect("valid").bodies[0].link.inertia;
    three.bodies[0].parts.pop();
    three.loads.clear();
    // over the middle of the three feet
    let table = &mut three.bodies[0];
    table.center = Some([0.1, -0.1, -0.1].into());
    let moments = inertia.tensor;
    table.inertia = Some([moments[0][0], moments[1][1], moments[2][2]].into());
    table.mass = Some(inertia.mass);
    assert_eq!(after(frictionless(three.clone()), 20).freedom, 0);
    let rough = after(three, 20);
    // along the ground nine forces less six equations: the normal ones follow from three of these
    assert_eq!((rough.freedom, rough.undetermined_normal.len(), rough.undetermined.len()), (3, 0, 3));
    let elastic = after(scene("four-legged-table-elastic.toml"), 500);
    assert_eq!((elastic.freedom, elastic.rank), (0, 12));
}

/// The frictionless feet's forces as an LCP written down by hand: height and tilts of a plate of unit mass and moments, under a
/// unit load at `x`, `y`. The dimension of the largest piece of its solution set.
fn dimension_of_all_solutions(x: f64, y: f64) -> usize {
    let feet = [[-0.5, -0.3], [0.5, -0.3], [0.5, 0.3], [-0.5, 0.3]];
    let row = |[x, y]: [f64; 2]| [1.0, y, -x];
    let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let m = Matrix::from_fn(4, 4, |i, j| dot(row(feet[i]), row(feet[j])));
    let q = feet.map(|foot| -dot(row(foot), row([x, y])));
    let lcp = Lcp::new(m, q.to_vec()).expect("finite");
    let settings = decide::Settings { all: true, ..Default::default() };
    let report = decide::solve(&MixedLcp::from(&lcp), &settings, &mut Budget::default(), &mut |_| ());
    let Certificate::Solutions { pieces, .. } = report.certificate else { panic!("{report:?}") };
    pieces.iter().map(|p| p.dimension).max().expect("a solution")
}

/// Four forces and three equations; yet with the load over an edge between two feet or over a foot, the others carry
/// nothing, for forces cannot pull, and the shares are unique.
#[test]
fn shares_are_unique_where_all_solutions_of_the_lcp_are_one_point() {
    let mut counts = [0; 2];
    for (x, y) in [(0.0, 0.0), (0.2, 0.1), (-0.45, 0.25), (0.5, 0.1), (0.5, -0.2), (0.1, 0.3), (0.5, 0.3)] {
        let mut table = scene("four-legged-table.toml");
        let share = 1.0 + table.resolve().expect("valid").bodies[0].link.inertia.mass * G / 100.0;
        table.loads[0].point = Some([x * share, y * share, 0.02].into());
        let found = after(frictionless(table), 0);
        let expected = dimension_of_all_solutions(x, y);
        assert_eq!(found.freedom, expected, "load at {x}, {y}: {found:?}");
        assert_eq!(found.undetermined_normal.len(), 4 * expected);
        counts[expected] += 1;
    }
    assert_eq!(counts, [4, 3]);
}

/// Forty elements, 120 forces; the motion of ten boxes has 60 coordinates, none of which is free.
#[test]
fn a_stack_s_forces_are_open_by_what_its_equations_leave() {
    let found = after(scene("stack-of-ten.toml"), 3);
    assert_eq!((found.freedom, found.rank, found.undetermined_normal.len()), (60, 60, 40));
}

#[test]
fn a_ball_is_determined_beside_a_box_that_is_not() {
    let ball = after(scene("sphere-on-plane.toml"), 5);
    assert_eq!((ball.freedom, ball.rank), (0, 3));
    let mut both = scene("box-on-plane.toml");
    let mut ball = scene("sphere-on-plane.toml").bodies[0].clone();
    ball.position.as_mut().expect("given")[0] = 1.0;
    ball.density = Some(1000.0);
    both.bodies.push(ball);
    let found = after(both, 5);
    // elements are in order of the bodies: four of the box, one of the ball
    assert_eq!((found.freedom, found.rank, found.undetermined), (6, 9, vec![0, 1, 2, 3]));
}

/// Sliding along t, each corner's friction along t is tied to its normal force. The pyramid leaves friction along o open: eight
/// forces, and all equations but one, for height and x go together. A polygon with a corner along t does not, nor does the cone.
#[test]
fn a_sliding_box_leaves_open_what_its_friction_does() {
    for (friction, freedom, rank) in [
        (FrictionKind::Pyramid, 3, 6),
        (FrictionKind::Polygon { sides: 8 }, 1, 6),
        (FrictionKind::Cone, 1, 6),
    ] {
        let mut scene = scene("sliding-box.toml");
        scene.step.friction = friction;
        let found = after(scene, 20);
        assert_eq!(
            (found.freedom, found.rank, found.undetermined_normal.len()),
            (freedom, rank, 4),
            "{friction:?}"
        );
    }
}
