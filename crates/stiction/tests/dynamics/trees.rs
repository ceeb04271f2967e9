//! Properties of random trees with all joints and branches.

use stiction::dynamics::{Kinematics, System};
use stiction::space::{Vector, add, cross, dot, scale, sub, times, transpose_times};

use crate::dynamics::scenes::{
    GRAVITY, Random, acceleration, advanced, assert_near, at, cases, mass_at, plus,
};

const AXES: [Vector; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// Derivative of `x` at 0, to sixth order.
fn derivative(h: f64, x: impl Fn(f64) -> Vector) -> Vector {
    let term = |k: f64, weight: f64| scale(weight / h, sub(x(k * h), x(-k * h)));
    add(add(term(1.0, 0.75), term(2.0, -0.15)), term(3.0, 1.0 / 60.0))
}

/// Second derivative of `x` at 0, to sixth order.
fn second_derivative(h: f64, x: impl Fn(f64) -> Vector) -> Vector {
    let middle = x(0.0);
    let term =
        |k: f64, weight: f64| scale(weight / (h * h), add(sub(x(k * h), middle), sub(x(-k * h), middle)));
    add(add(term(1.0, 1.5), term(2.0, -0.15)), term(3.0, 1.0 / 90.0))
}

/// Place of a link's point, given in its coordinates, after a time `t` of the motion with constant speeds `v`.
fn place(system: &System, q: &[f64], v: &[f64], t: f64, link: usize, local: Vector) -> Vector {
    at(system, &advanced(system, q, v, t), v).pose(link).point(local)
}

#[test]
fn velocities_are_rates_of_poses() {
    for (system, q, v) in cases() {
        let kinematics = at(&system, &q, &v);
        for link in 0..system.links().len() {
            let pose = kinematics.pose(link);
            let rate = |local| derivative(1e-2, |t| place(&system, &q, &v, t, link, local));
            let local = [0.3, -0.7, 0.5];
            assert_near(&kinematics.point_velocity(link, pose.point(local)), &rate(local), 1e-9);
            let (linear, angular) = kinematics.velocity(link);
            assert_near(&linear, &rate([0.0; 3]), 1e-9);
            for e in AXES {
                assert_near(&cross(angular, pose.attitude.apply(e)), &sub(rate(e), rate([0.0; 3])), 1e-9);
            }
        }
    }
}

#[test]
fn jacobian_columns_are_rates_of_poses_along_each_dof() {
    for (system, q, _) in cases() {
        let n = system.velocity_size();
        let kinematics = at(&system, &q, &vec![0.0; n]);
        let local = [0.3, -0.7, 0.5];
        for link in 0..system.links().len() {
            let point = kinematics.pose(link).point(local);
            let mut rows = AXES.map(|_| vec![0.0; n]);
            for (row, e) in rows.iter_mut().zip(AXES) {
                kinematics.jacobian_row(link, point, e, 2.0, row);
            }
            for j in 0..n {
                let mut v = vec![0.0; n];
                v[j] = 1.0;
                let rate = derivative(1e-2, |t| place(&system, &q, &v, t, link, local));
                assert_near(&[0, 1, 2].map(|k| 0.5 * rows[k][j]), &rate, 1e-10);
                assert!(system.chain(link).contains(&j) || rate == [0.0; 3], "dof {j} moves link {link}");
            }
        }
    }
}

#[test]
fn rows_times_speeds_are_velocities_and_chains_are_their_entries() {
    for (system, q, v) in cases() {
        let kinematics = at(&system, &q, &v);
        let (direction, point) = ([0.2, -1.3, 0.4], [0.1, 0.9, -0.3]);
        for link in 0..system.links().len() {
            let (mut row, mut angular) = (vec![0.0; v.len()], vec![0.0; v.len()]);
            kinematics.jacobian_row(link, point, direction, 1.0, &mut row);
            kinematics.angular_row(link, direction, 1.0, &mut angular);
            let product = |row: &[f64]| row.iter().zip(&v).map(|(a, b)| a * b).sum::<f64>();
            let expected = dot(direction, kinematics.point_velocity(link, point));
            assert_near(&[product(&row)], &[expected], 1e-13);
            let expected = dot(direction, kinematics.velocity(link).1);
            assert_near(&[product(&angular)], &[expected], 1e-13);

            let chain = system.chain(link);
            assert!(chain.is_sorted());
            let mut short = vec![0.0; chain.len()];
            kinematics.jacobian_chain(link, point, direction, 1.0, &mut short);
            assert_eq!(short, chain.iter().map(|&j| row[j]).collect::<Vec<_>>());
            short.fill(0.0);
            kinematics.angular_chain(link, direction, 1.0, &mut short);
            assert_eq!(short, chain.iter().map(|&j| angular[j]).collect::<Vec<_>>());
        }
    }
}

/// Rows of the velocity of a link's centre of mass and of its angular velocity in link axes.
fn link_rows(kinematics: &Kinematics, link: usize) -> ([Vec<f64>; 3], [Vec<f64>; 3]) {
    let n = kinematics.system().velocity_size();
    let (pose, center) = (kinematics.pose(link), kinematics.center(link));
    let linear = AXES.map(|e| {
        let mut row = vec![0.0; n];
        kinematics.jacobian_row(link, center, e, 1.0, &mut row);
        row
    });
    let angular = AXES.map(|e| {
        let mut row = vec![0.0; n];
        kinematics.angular_row(link, pose.attitude.apply(e), 1.0, &mut row);
        row
    });
    (linear, angular)
}

#[test]
fn mass_matrix_is_the_sum_over_links_of_their_jacobians() {
    for (system, q, v) in cases() {
        let (n, kinematics) = (v.len(), at(&system, &q, &v));
        let mut expected = vec![vec![0.0; n]; n];
        for (i, link) in system.links().iter().enumerate() {
            let (linear, angular) = link_rows(&kinematics, i);
            for (a, b) in (0..n).flat_map(|a| (0..n).map(move |b| (a, b))) {
                let column = |rows: &[Vec<f64>; 3], j: usize| [rows[0][j], rows[1][j], rows[2][j]];
                expected[a][b] += link.inertia.mass * dot(column(&linear, a), column(&linear, b))
                    + dot(column(&angular, a), times(&link.inertia.tensor, column(&angular, b)));
            }
        }
        let mass = mass_at(&kinematics);
        for (i, row) in expected.iter().enumerate() {
            let entries: Vec<f64> = (0..n).map(|j| mass.entry(i, j)).collect();
            assert_near(&entries, row, 1e-13);
            let mut unit = vec![0.0; n];
            unit[i] = 1.0;
            let mut product = vec![0.0; n];
            mass.multiply(&unit, &mut product);
            assert_near(&product, row, 1e-13);
        }
    }
}

#[test]
fn a_point_of_a_free_body_has_the_rows_of_any_link() {
    let point = [0.1, 0.9, -0.3];
    let along = [[0.2, -1.3, 0.4], [1.0, 0.0, 0.0], [0.0, -0.6, 0.8]];
    let mut seen = 0;
    for (system, q, v) in cases() {
        let kinematics = at(&system, &q, &v);
        let mass = mass_at(&kinematics);
        for link in 0..system.links().len() {
            let Some(t) = system.tree_of(link) else { continue };
            let dofs = system.trees()[t].dofs.clone();
            let Some(free) = mass.free_point(t, point, &v[dofs.clone()], along) else { continue };
            for (k, direction) in along.into_iter().enumerate() {
                let mut row = vec![0.0; v.len()];
                kinematics.jacobian_row(link, point, direction, 1.0, &mut row);
                let own = &mut row[dofs.clone()];
                let speed = own.iter().zip(&v[dofs.clone()]).map(|(a, b)| a * b).sum::<f64>();
                mass.solve_root_transposed(t, own);
                assert_near(&free.w[k], own, 1e-12);
                assert_near(&[free.speed[k]], &[speed], 1e-12);
            }
            seen += 1;
        }
    }
    assert!(seen > 3, "{seen} free bodies");
}

#[test]
fn solving_undoes_multiplying_and_energy_is_half_the_product() {
    for (system, q, v) in cases() {
        let kinematics = at(&system, &q, &v);
        let mass = mass_at(&kinematics);
        let mut x = vec![0.0; v.len()];
        mass.multiply(&v, &mut x);
        let energy = 0.5 * x.iter().zip(&v).map(|(a, b)| a * b).sum::<f64>();
        assert!(energy > 0.0 || v.is_empty(), "positive definite");
        assert_near(&[kinematics.kinetic_energy()], &[energy], 1e-12);
        // M = H' H
        let (mut rooted, mut forces) = (v.clone(), x.clone());
        for (t, dofs) in mass.trees() {
            mass.times_root(t, &mut rooted[dofs.clone()]);
            mass.solve_root_transposed(t, &mut forces[dofs]);
        }
        assert_near(&[0.5 * rooted.iter().map(|x| x * x).sum::<f64>()], &[energy], 1e-12);
        assert_near(&forces, &rooted, 1e-11);
        for (t, dofs) in mass.trees() {
            mass.solve_root(t, &mut rooted[dofs]);
        }
        assert_near(&rooted, &v, 1e-11);
        mass.solve(&mut x);
        assert_near(&x, &v, 1e-11);
    }
}

/// Kane's equations: with `v' = 0`, `f = sum over links of J' (m g - m c'') - J_w' (I w)'`,
/// the accelerations being differences of poses.
#[test]
fn bias_is_the_virtual_power_of_weight_less_inertia() {
    for (system, q, v) in cases() {
        let mut kinematics = at(&system, &q, &v);
        let mut expected = vec![0.0; v.len()];
        for (i, link) in system.links().iter().enumerate() {
            let inertia = &link.inertia;
            let center = second_derivative(1e-2, |t| place(&system, &q, &v, t, i, inertia.center));
            let force = scale(inertia.mass, sub(GRAVITY, center));
            let turning = derivative(1e-2, |t| {
                let moved = at(&system, &advanced(&system, &q, &v, t), &v);
                let r = moved.pose(i).attitude.matrix();
                times(&r, times(&inertia.tensor, transpose_times(&r, moved.velocity(i).1)))
            });
            kinematics.add_wrench(i, kinematics.center(i), force, scale(-1.0, turning), &mut expected);
        }
        let mut f = vec![0.0; v.len()];
        kinematics.bias(GRAVITY, &mut f);
        assert_near(&f, &expected, 1e-7);
    }
}

#[test]
fn energy_does_not_change_when_no_force_acts_but_weight() {
    for (system, q, v) in cases() {
        let rates = acceleration(&system, &q, &v, GRAVITY);
        let energy = |t: f64| {
            let moved = advanced(&system, &q, &plus(&v, 0.5 * t, &rates), t);
            let kinematics = at(&system, &moved, &plus(&v, t, &rates));
            kinematics.kinetic_energy() + kinematics.potential_energy(GRAVITY)
        };
        let h = 1e-4;
        let rate = (energy(h) - energy(-h)) / (2.0 * h);
        let scale = rates.iter().fold(1.0f64, |m, x| m.max(x.abs())).powi(2);
        assert!(rate.abs() < 1e-6 * scale, "{rate}");
    }
}

#[test]
fn advancing_keeps_quaternions_on_the_sphere_and_goes_back() {
    for (system, q, v) in cases() {
        let (mut there, mut back) = (q.clone(), q.clone());
        for _ in 0..50 {
            there = advanced(&system, &there, &v, 0.1);
        }
        for (i, link) in system.links().iter().enumerate() {
            use stiction::dynamics::Joint;
            let range = system.coordinates(i);
            let quaternion = match link.joint {
                Joint::Free => &there[range.start + 3..range.end],
                Joint::Spherical => &there[range],
                _ => continue,
            };
            let length = quaternion.iter().map(|x| x * x).sum::<f64>();
            assert!((length - 1.0).abs() < 4e-16, "{length}");
        }
        for _ in 0..50 {
            there = advanced(&system, &there, &v, -0.1);
        }
        back.iter_mut().zip(&there).for_each(|(a, b)| *a -= b);
        assert_near(&back, &vec![0.0; q.len()], 1e-13);
    }
}

#[test]
fn trees_share_no_entry_and_their_dofs_lie_together() {
    for (system, q, v) in cases() {
        let mass = mass_at(&at(&system, &q, &v));
        let ends: Vec<_> = system.trees().iter().flat_map(|t| t.dofs.clone()).collect();
        assert_eq!(ends, (0..system.velocity_size()).collect::<Vec<_>>());
        for (a, b) in system.trees().iter().zip(system.trees().iter().skip(1)) {
            assert_eq!(mass.entry(a.dofs.start, b.dofs.start), 0.0);
        }
        for (t, tree) in system.trees().iter().enumerate() {
            assert!(tree.links.iter().all(|&l| system.tree_of(l) == Some(t)));
            assert!(tree.links.iter().all(|&l| system.chain(l).iter().all(|d| tree.dofs.contains(d))));
            let mut x = Random::new(1).values(v.len());
            let mut part = x[tree.dofs.clone()].to_vec();
            mass.solve(&mut x);
            mass.solve_tree(t, &mut part);
            assert_eq!(part, x[tree.dofs.clone()]);
        }
    }
}
