//! Time of the parts of a step of the dynamics: `cargo run --release -p stiction --example dynamics_speed`.

use std::hint::black_box;
use std::time::Instant;

use stiction::dynamics::{Inertia, InvalidSystem, Joint, Kinematics, Link, MassMatrix, System};
use stiction::space::{Pose, Quaternion};

const GRAVITY: [f64; 3] = [0.0, 0.0, -9.81];
const PARTS: [&str; 7] =
    ["update", "mass matrix", "bias", "solve", "advance", "Jacobian row", "all but the row"];

fn link(parent: Option<usize>, joint: Joint) -> Link {
    let tensor = [[0.1, 0.0, 0.0], [0.0, 0.2, 0.0], [0.0, 0.0, 0.25]];
    let mount = Pose { position: [0.3, 0.0, 0.1], attitude: Quaternion::turn([0.3, 0.2, 0.1]).unit() };
    Link { parent, mount, joint, inertia: Inertia { mass: 1.0, center: [0.1, 0.0, 0.0], tensor } }
}

fn chain(root: Joint, joint: Joint, links: usize) -> Vec<Link> {
    (0..links).map(|i| link(i.checked_sub(1), if i == 0 { root } else { joint })).collect()
}

/// Nanoseconds of one run, the least of several batches.
fn time(mut run: impl FnMut()) -> f64 {
    let batch = 2000;
    let mut least = f64::INFINITY;
    for _ in 0..40 {
        let start = Instant::now();
        for _ in 0..batch {
            run();
        }
        least = least.min(start.elapsed().as_secs_f64() / f64::from(batch));
    }
    1e9 * least
}

fn main() -> Result<(), InvalidSystem> {
    let revolute = Joint::Revolute { axis: [0.0, 1.0, 0.0] };
    let cases = [
        ("free body", vec![link(None, Joint::Free)]),
        ("planar body", vec![link(None, Joint::Planar)]),
        ("100 free bodies", (0..100).map(|_| link(None, Joint::Free)).collect()),
        ("chain of 20 revolute links", chain(revolute, revolute, 20)),
        ("20 revolute links on a free base", chain(Joint::Free, revolute, 21)),
        ("chain of 20 spherical links", chain(Joint::Spherical, Joint::Spherical, 20)),
        ("chain of 200 revolute links", chain(revolute, revolute, 200)),
    ];
    for (name, links) in cases {
        let last = links.len() - 1;
        let system = System::new(links)?;
        let (mut kinematics, mut mass) = (Kinematics::new(&system), MassMatrix::new(&system));
        let (rest, n) = (system.neutral_configuration(), system.velocity_size());
        let v: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
        let (mut q, mut f, mut x, mut row) = (rest.clone(), v.clone(), v.clone(), v.clone());
        system.advance(&rest, &v, 0.5, &mut q);
        let mut next = q.clone();
        let mut singular = false;
        let times = [
            time(|| kinematics.update(black_box(&q), black_box(&v))),
            time(|| singular |= mass.update(black_box(&kinematics)).is_err()),
            time(|| kinematics.bias(black_box(GRAVITY), black_box(&mut f))),
            time(|| {
                x.copy_from_slice(&f);
                mass.solve(black_box(&mut x));
            }),
            time(|| system.advance(black_box(&q), black_box(&v), 1e-3, black_box(&mut next))),
            time(|| kinematics.jacobian_row(last, black_box([0.1; 3]), [0.0, 0.0, 1.0], 1.0, &mut row)),
            time(|| {
                kinematics.update(black_box(&q), black_box(&v));
                singular |= mass.update(&kinematics).is_err();
                kinematics.bias(black_box(GRAVITY), &mut f);
                mass.solve(&mut f);
                system.advance(&q, &f, 1e-3, black_box(&mut next));
            }),
        ];
        let note = if singular { ", singular mass matrix" } else { "" };
        println!("{name} ({n} dofs), nanoseconds{note}");
        for (part, time) in PARTS.iter().zip(times) {
            println!("  {part:16} {time:10.0}");
        }
    }
    Ok(())
}
