//! Figures (the best of many rounds), not claims: `cargo test --release -p stiction --lib geometry::tests::measure -- --ignored --nocapture`.

use super::*;
use crate::{Aabb, BroadPhase, bounding_box};
use std::hint::black_box;
use std::time::Instant;

fn nanoseconds(name: &str, a: &Shape, b: &Shape, between: f64, spread: f64) {
    let mut chance = Chance(41);
    let (sa, sb) = (solid(a), solid(b));
    let flat = spread == 0.0;
    let poses: Vec<(Pose, Pose)> = (0..64)
        .map(|_| {
            let turn =
                |c: &mut Chance| if flat { Quaternion::IDENTITY } else { Quaternion::turn(c.vector(3.0)) };
            let ground = *a == Shape::HalfSpace;
            let p = Pose {
                position: [0.0; 3],
                attitude: if ground { Quaternion::IDENTITY } else { turn(&mut chance) },
            };
            let q = Pose { position: [0.0, 0.0, between], attitude: turn(&mut chance) };
            (p, q)
        })
        .collect();
    let (mut workspace, mut out) = (Workspace::default(), Vec::new());
    let (mut points, rounds) = (0, 300);
    let mut least = f64::INFINITY;
    for _ in 0..rounds {
        let start = Instant::now();
        for (p, q) in &poses {
            out.clear();
            touches(&sa, black_box(p), &sb, black_box(q), 0.1, &mut workspace, &mut out).unwrap();
            points += out.len();
        }
        least = least.min(start.elapsed().as_nanos() as f64 / poses.len() as f64);
    }
    let count = (rounds * poses.len()) as f64;
    println!("{name:44} {least:9.0} ns, {:.2} points", points as f64 / count);
}

#[test]
#[ignore = "measures, claims nothing"]
fn times_of_pairs_and_of_the_broad_phase() {
    let (ground, sphere) = (Shape::HalfSpace, Shape::Sphere { radius: 0.5 });
    let cube = Shape::Box { half: [0.5; 3] };
    let egg = Shape::Ellipsoid { semi_axes: [0.5, 0.4, 0.3] };
    let rod = Shape::Capsule { radius: 0.3, half_length: 0.3 };
    let can = Shape::cylinder(0.4, 0.4);
    let rock = Chance(42).shape(5);
    nanoseconds("sphere - half-space", &ground, &sphere, 0.5, 0.0);
    nanoseconds("box - half-space, flat", &ground, &cube, 0.5, 0.0);
    nanoseconds("sphere - sphere", &sphere, &sphere, 1.0, 0.0);
    nanoseconds("box - box, stacked", &cube, &cube, 1.0, 0.0);
    nanoseconds("box - box, any attitude, overlapping", &cube, &cube, 1.0, 1.0);
    nanoseconds("box - box, any attitude, mostly apart", &cube, &cube, 1.4, 1.0);
    nanoseconds("polytope (12 points) - polytope, overlapping", &rock, &rock, 1.2, 1.0);
    nanoseconds("ellipsoid - ellipsoid, overlapping", &egg, &egg, 0.7, 1.0);
    nanoseconds("ellipsoid - ellipsoid, apart", &egg, &egg, 0.9, 1.0);
    nanoseconds("ellipsoid - box, on a face", &egg, &cube, 0.8 - 1e-5, 0.0);
    nanoseconds("ellipsoid - box, any attitude", &egg, &cube, 0.9, 1.0);
    nanoseconds("sphere - box", &sphere, &cube, 1.05, 1.0);
    nanoseconds("capsule - box", &rod, &cube, 1.0, 1.0);
    nanoseconds("capsule - capsule", &rod, &rod, 0.7, 1.0);
    nanoseconds("cylinder - box, flat", &can, &cube, 0.9, 0.0);
    nanoseconds("cylinder - box, any attitude", &can, &cube, 0.95, 1.0);
    nanoseconds("cylinder - cylinder, any attitude", &can, &can, 0.9, 1.0);
    for count in [200, 1000, 4000] {
        // as dense as a heap: about six neighbours each
        let mut chance = Chance(43);
        let half = 0.5 * (f64::from(count) / 1.1).cbrt();
        let ball = solid(&sphere);
        let mut boxes: Vec<Aabb> =
            (0..count).map(|_| bounding_box(&ball, &chance.pose(half), 0.01)).collect();
        boxes.push(bounding_box(&solid(&ground), &Pose::IDENTITY, 0.01));
        let (mut broad, mut pairs) = (BroadPhase::default(), Vec::new());
        broad.pairs(&boxes, &mut pairs);
        let mut least = f64::INFINITY;
        for _ in 0..100 {
            let start = Instant::now();
            broad.pairs(black_box(&boxes), &mut pairs);
            least = least.min(start.elapsed().as_secs_f64() * 1e6);
        }
        println!("broad phase, {count} spheres: {least:.1} us, {} pairs", pairs.len());
    }
}
