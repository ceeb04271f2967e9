//! Closest points of random pairs, checked by code of its own: surfaces are sampled by bisection on formulas written here, and no sample may lie beyond the planes through
//! the points, which for convex bodies is what makes them closest (and, where bodies overlap, what makes the depth one along the normal).

use super::tests::{random, vector};
use super::*;
use crate::space::Quaternion;
use crate::space::{length, unit};

/// A shape, and whether a point of its own coordinates is inside.
type Sampled = (Vec<(Surface, Pose)>, Box<dyn Fn(Vector) -> bool>);

fn superellipsoid(a: Vector, p: f64) -> Sampled {
    let inside = move |x: Vector| (0..3).map(|i| (x[i] / a[i]).abs().powf(p)).sum::<f64>() <= 1.0;
    (vec![(Surface::Superellipsoid { semi_axes: a, exponent: p }, Pose::IDENTITY)], Box::new(inside))
}

fn at(pose: Pose, (surfaces, inside): Sampled) -> Sampled {
    let surfaces = surfaces.into_iter().map(|(s, p)| (s, pose.then(&p))).collect();
    (surfaces, Box::new(move |x| inside(pose.local(x))))
}

fn common(members: Vec<Sampled>) -> Sampled {
    let (surfaces, tests): (Vec<_>, Vec<_>) = members.into_iter().unzip();
    (surfaces.into_iter().flatten().collect(), Box::new(move |x| tests.iter().all(|t| t(x))))
}

fn half_space(normal: Vector, offset: f64) -> Sampled {
    let inside = move |x: Vector| (0..3).map(|i| normal[i] * x[i]).sum::<f64>() <= offset;
    (vec![(Surface::Plane { normal, offset }, Pose::IDENTITY)], Box::new(inside))
}

fn shape(seed: &mut u64) -> Sampled {
    let a = [0, 1, 2].map(|_| 0.1 + 0.4 * random(seed));
    let turn = |seed: &mut u64| Quaternion::turn(scale(3.0, vector(seed)));
    let near = |seed: &mut u64| Pose {
        position: scale(0.05, vector(seed)),
        attitude: Quaternion::turn(vector(seed)),
    };
    match (6.0 * random(seed)) as usize {
        0 => superellipsoid(a, [2.0, 2.5, 3.0, 4.0, 6.0, 8.0][(6.0 * random(seed)) as usize]),
        1 => {
            let pose = Pose { position: scale(0.02, vector(seed)), attitude: turn(seed) };
            let inside = move |x: Vector| (0..3).map(|i| (x[i] / a[i]).powi(2)).sum::<f64>() <= 1.0;
            at(pose, (vec![(Surface::ellipsoid(a), Pose::IDENTITY)], Box::new(inside)))
        }
        2 => {
            let planes = 1 + (4.0 * random(seed)) as usize;
            let mut members = vec![at(near(seed), superellipsoid(a, 2.0))];
            members.extend((0..planes).map(|_| half_space(unit(vector(seed)), 0.05 + 0.15 * random(seed))));
            common(members)
        }
        3 => common(
            (0..6)
                .map(|k| {
                    let mut n = [0.0; 3];
                    n[k / 2] = if k % 2 == 0 { 1.0 } else { -1.0 };
                    half_space(n, a[k / 2])
                })
                .collect(),
        ),
        4 => {
            let b = [0, 1, 2].map(|_| 0.1 + 0.4 * random(seed));
            common(vec![at(near(seed), superellipsoid(a, 3.0)), at(near(seed), superellipsoid(b, 2.0))])
        }
        _ => {
            let mut terms = vec![(-1.0, [0; 3]), (0.2 / (a[0] * a[1]), [1, 1, 0])];
            for i in 0..3 {
                let mut powers = [0; 3];
                powers[i] = 4;
                terms.push((0.7 / a[i].powi(4), powers));
                powers[i] = 2;
                terms.push((0.3 / a[i].powi(2), powers));
            }
            let inside = move |x: Vector| {
                let u = [0, 1, 2].map(|i| x[i] / a[i]);
                0.2 * u[0] * u[1] + u.iter().map(|u| 0.7 * u.powi(4) + 0.3 * u * u).sum::<f64>() <= 1.0
            };
            (vec![(Surface::Polynomial(terms), Pose::IDENTITY)], Box::new(inside))
        }
    }
}

/// The point where a ray from the middle leaves the shape, in the world.
fn leaves(inside: &dyn Fn(Vector) -> bool, pose: &Pose, d: Vector) -> Vector {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..30 {
        let middle = 0.5 * (low + high);
        if inside(scale(middle, d)) { low = middle } else { high = middle }
    }
    pose.point(scale(low, d))
}

/// Pairs that are not found may only be deep in each other.
#[test]
fn random_pairs_have_closest_points() {
    let count = std::env::var("STICTION_PAIRS").ok().and_then(|n| n.parse().ok()).unwrap_or(4000);
    let (mut seed, mut memory) = (7, Memory::default());
    let (mut apart, mut overlapping, mut missed) = (0, 0, 0);
    for pair in 0..count {
        let (a, b) = (shape(&mut seed), shape(&mut seed));
        let turn = |seed: &mut u64| Quaternion::turn(scale(3.0, vector(seed)));
        let pa = Pose { position: [0.3, -0.2, 0.1], attitude: turn(&mut seed) };
        let away = scale(0.15 + 1.2 * random(&mut seed), unit(vector(&mut seed)));
        let pb = Pose { position: add(pa.position, away), attitude: turn(&mut seed) };
        let one = Body { surfaces: &a.0, pose: &pa, inside: pa.position };
        let two = Body { surfaces: &b.0, pose: &pb, inside: pb.position };
        let mut samples = [vec![], vec![]];
        for _ in 0..200 {
            let d = unit(vector(&mut seed));
            samples[0].push(leaves(&a.1, &pa, d));
            samples[1].push(leaves(&b.1, &pb, d));
        }
        let Some(found) = closest_from(None, &one, &two, 0.8, &mut memory) else {
            // a sample of one of them lies deep in the other: 0.05 m in every direction
            let deep = |x: Vector, (inside, pose): (&dyn Fn(Vector) -> bool, &Pose)| {
                let around = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
                around.iter().all(|d| [0.03, -0.03].iter().all(|s| inside(pose.local(add(x, scale(*s, *d))))))
            };
            let any = samples[0].iter().any(|x| deep(*x, (&b.1, &pb)))
                || samples[1].iter().any(|x| deep(*x, (&a.1, &pa)));
            assert!(any, "pair {pair} was not found, and is not deep");
            missed += 1;
            continue;
        };
        let [x, y] = found.points;
        let off = length(sub(sub(y, x), scale(found.gap, found.normal)));
        assert!(found.residual <= GOOD && off < 1e-8, "pair {pair}: {found:?}");
        for (of, sign, list) in [(x, 1.0, &samples[0]), (y, -1.0, &samples[1])] {
            let beyond =
                list.iter().map(|p| sign * dot(found.normal, sub(*p, of))).fold(f64::NEG_INFINITY, f64::max);
            assert!(beyond < 1e-7, "pair {pair}: a point lies {beyond:e} beyond, {found:?}");
        }
        // both points are on their surfaces: a little nearer to the middle they are inside, a little farther out they are not
        for (of, (inside, pose)) in [(x, (&a.1, &pa)), (y, (&b.1, &pb))] {
            let own = pose.local(of);
            assert!(
                inside(scale(1.0 - 1e-6, own)) && !inside(scale(1.0 + 1e-6, own)),
                "pair {pair}: {found:?}"
            );
        }
        if found.gap > 0.0 { apart += 1 } else { overlapping += 1 }
    }
    println!("{apart} pairs apart, {overlapping} overlapping, {missed} not found");
    assert!(apart > count / 4 && overlapping > count / 4 && missed * 1000 <= count);
}
