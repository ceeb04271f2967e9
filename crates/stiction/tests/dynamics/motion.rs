//! Motions with known equations, and what motion conserves.

use stiction::dynamics::{Joint, Kinematics, MassMatrix, System};
use stiction::space::{Vector, cross, length, scale, sub};

use crate::dynamics::scenes::{Random, acceleration, advanced, assert_near, at, cases, link, mass_at, plus};

const DOWN: Vector = [0.0, -9.81, 0.0];
const HINGE: Joint = Joint::Revolute { axis: [0.0, 0.0, 1.0] };

#[test]
fn pendulum_accelerates_by_its_closed_form() {
    let (mass, arm, moment) = (1.3, 0.7, 0.2);
    let rod = link(None, [0.5, 2.0, 0.0], HINGE, mass, [0.0, -arm, 0.0], [0.3, 0.1, moment]);
    let system = System::new(vec![rod]).unwrap();
    let mut random = Random::new(1);
    for _ in 0..50 {
        let (q, v) = (3.0 * random.between(-1.0, 1.0), 5.0 * random.between(-1.0, 1.0));
        let expected = -mass * 9.81 * arm * q.sin() / (moment + mass * arm * arm);
        assert_near(&acceleration(&system, &[q], &[v], DOWN), &[expected], 1e-12);
    }
}

/// Two rods on hinges: lengths to the joint and to the centres, masses, moments about the centres.
struct DoublePendulum {
    reach: f64,
    arms: [f64; 2],
    masses: [f64; 2],
    moments: [f64; 2],
}

const DOUBLE: DoublePendulum =
    DoublePendulum { reach: 0.9, arms: [0.4, 0.6], masses: [1.5, 0.8], moments: [0.11, 0.07] };

impl DoublePendulum {
    fn system(&self) -> System {
        let rod = |i: usize, parent, at| {
            let center = [0.0, -self.arms[i], 0.0];
            link(parent, at, HINGE, self.masses[i], center, [0.2, 0.2, self.moments[i]])
        };
        System::new(vec![rod(0, None, [0.0; 3]), rod(1, Some(0), [0.0, -self.reach, 0.0])]).unwrap()
    }

    /// Lagrange's equations in the joint angles.
    fn acceleration(&self, q: &[f64], v: &[f64]) -> Vec<f64> {
        let ([m1, m2], [i1, i2], [a1, a2], l) = (self.masses, self.moments, self.arms, self.reach);
        let g = 9.81;
        let m22 = i2 + m2 * a2 * a2;
        let m12 = m22 + m2 * l * a2 * q[1].cos();
        let m11 = i1 + m1 * a1 * a1 + m2 * l * l + 2.0 * m12 - m22;
        let k = m2 * l * a2 * q[1].sin();
        let weight = m2 * a2 * g * (q[0] + q[1]).sin();
        let f1 = k * (2.0 * v[0] * v[1] + v[1] * v[1]) - (m1 * a1 + m2 * l) * g * q[0].sin() - weight;
        let f2 = -k * v[0] * v[0] - weight;
        let determinant = m11 * m22 - m12 * m12;
        vec![(m22 * f1 - m12 * f2) / determinant, (m11 * f2 - m12 * f1) / determinant]
    }
}

#[test]
fn double_pendulum_accelerates_by_lagranges_equations() {
    let system = DOUBLE.system();
    let mut random = Random::new(2);
    for _ in 0..200 {
        let q = random.values(2).iter().map(|x| 3.0 * x).collect::<Vec<_>>();
        let v = random.values(2).iter().map(|x| 4.0 * x).collect::<Vec<_>>();
        assert_near(&acceleration(&system, &q, &v, DOWN), &DOUBLE.acceleration(&q, &v), 1e-12);
    }
}

/// Steps `v+ = v + h M^-1 f`, `q+ = q + h G v+` until `end`.
fn stepped(system: &System, q: &[f64], v: &[f64], gravity: Vector, h: f64, end: f64) -> Kinematics {
    let (mut q, mut v, mut f) = (q.to_vec(), v.to_vec(), vec![0.0; v.len()]);
    let (mut kinematics, mut mass) = (Kinematics::new(system), MassMatrix::new(system));
    for _ in 0..(end / h).round() as usize {
        kinematics.update(&q, &v);
        mass.update(&kinematics).unwrap();
        kinematics.bias(gravity, &mut f);
        mass.solve(&mut f);
        v = plus(&v, h, &f);
        q = advanced(system, &q, &v, h);
    }
    kinematics.update(&q, &v);
    kinematics
}

#[test]
fn double_pendulum_stepped_approaches_the_runge_kutta_solution_of_its_equations() {
    let (mut q, mut v) = (vec![1.2, -0.4], vec![0.0, 0.5]);
    let start = (q.clone(), v.clone());
    let h = 1e-3;
    for _ in 0..1000 {
        let stage = |dq: &[f64], dv: &[f64], s: f64| {
            let (q, v) = (plus(&q, s, dq), plus(&v, s, dv));
            let a = DOUBLE.acceleration(&q, &v);
            (v, a)
        };
        let a = stage(&[0.0; 2], &[0.0; 2], 0.0);
        let b = stage(&a.0, &a.1, 0.5 * h);
        let c = stage(&b.0, &b.1, 0.5 * h);
        let d = stage(&c.0, &c.1, h);
        for k in 0..2 {
            q[k] += h / 6.0 * (a.0[k] + 2.0 * b.0[k] + 2.0 * c.0[k] + d.0[k]);
            v[k] += h / 6.0 * (a.1[k] + 2.0 * b.1[k] + 2.0 * c.1[k] + d.1[k]);
        }
    }
    let system = DOUBLE.system();
    let tip = at(&system, &q, &v).center(1);
    let errors = [4e-4, 2e-4, 1e-4]
        .map(|h| length(sub(stepped(&system, &start.0, &start.1, DOWN, h, 1.0).center(1), tip)));
    assert!(errors[2] < 1e-3, "{errors:?}");
    for (coarse, fine) in errors.iter().zip(&errors[1..]) {
        assert!((1.8..2.2).contains(&(coarse / fine)), "first order: {errors:?}");
    }
}

/// A body with three moments, set spinning about the middle one.
#[test]
fn tumbling_body_keeps_energy_and_angular_momentum_as_the_step_shrinks() {
    for center in [[0.0; 3], [0.3, -0.2, 0.1]] {
        let body = link(None, [0.0; 3], Joint::Free, 2.0, center, [0.1, 0.2, 0.4]);
        let system = System::new(vec![body]).unwrap();
        let q = system.neutral_configuration();
        let spin = [0.01, 3.0, 0.02];
        // the centre at rest
        let v = [scale(-1.0, cross(spin, center)), spin].concat();
        let start = at(&system, &q, &v);
        let (linear, angular) = start.momentum();
        let errors = [2e-3, 1e-3, 5e-4].map(|h| {
            let end = stepped(&system, &q, &v, [0.0; 3], h, 4.0);
            let (p, l) = end.momentum();
            let tumble = end.pose(0).attitude.inverse().apply(end.velocity(0).1)[1];
            assert!(tumble < 0.0, "turned over: {tumble}");
            [
                (end.kinetic_energy() - start.kinetic_energy()).abs(),
                length(sub(l, angular)),
                length(sub(p, linear)),
            ]
        });
        for k in 0..2 {
            for (coarse, fine) in errors.iter().zip(&errors[1..]) {
                assert!((1.7..2.4).contains(&(coarse[k] / fine[k])), "first order: {errors:?}");
            }
        }
        assert!(errors.iter().all(|e| e[2] < 2e-2), "{errors:?}");
    }
}

#[test]
fn sphere_feels_no_moment_at_all() {
    let ball = link(None, [0.0; 3], Joint::Free, 2.0, [0.0; 3], [0.3, 0.3, 0.3]);
    let system = System::new(vec![ball]).unwrap();
    let mut random = Random::new(3);
    let q = random.configuration(&system);
    let mut f = vec![0.0; 6];
    at(&system, &q, &random.values(6)).bias(DOWN, &mut f);
    assert_eq!(f, [0.0, 2.0 * DOWN[1], 0.0, 0.0, 0.0, 0.0]);
}

#[test]
fn forces_between_two_free_bodies_leave_momentum_alone() {
    let mut random = Random::new(4);
    let free = |random: &mut Random| {
        let mut body = link(None, [0.0; 3], Joint::Free, 1.0, [0.0; 3], [1.0; 3]);
        body.inertia = random.inertia();
        body.mount = random.pose();
        body
    };
    let system = System::new(vec![free(&mut random), free(&mut random)]).unwrap();
    for _ in 0..20 {
        let q = random.configuration(&system);
        let mut v = vec![0.0; 12];
        let kinematics = at(&system, &q, &v);
        let (point, force, torque) = (random.vector(), random.vector(), random.vector());
        kinematics.add_wrench(0, point, force, torque, &mut v);
        kinematics.add_wrench(1, point, scale(-1.0, force), scale(-1.0, torque), &mut v);
        mass_at(&kinematics).solve(&mut v);
        let (linear, angular) = at(&system, &q, &v).momentum();
        assert!(length(linear) < 1e-14 && length(angular) < 1e-14, "{linear:?} {angular:?}");
    }
}

#[test]
fn joint_torques_leave_the_momentum_of_a_free_tree_alone_and_weight_changes_it_by_itself() {
    let mut seen = 0;
    for (system, q, _) in cases() {
        let n = system.velocity_size();
        let mass = mass_at(&at(&system, &q, &vec![0.0; n]));
        // only trees on free roots may be pushed: the world takes up what acts on the others
        let mut torques = vec![0.0; n];
        let mut weight = vec![0.0; n];
        at(&system, &q, &vec![0.0; n]).bias(DOWN, &mut weight);
        let mut total = 0.0;
        for tree in system.trees() {
            if system.links()[tree.links[0]].joint == Joint::Free {
                torques[tree.dofs.start + 6..tree.dofs.end].fill(1.0);
                total += tree.links.iter().map(|&l| system.links()[l].inertia.mass).sum::<f64>();
                seen += usize::from(tree.dofs.len() > 6);
            } else {
                weight[tree.dofs.clone()].fill(0.0);
            }
        }
        mass.solve(&mut torques);
        let (linear, angular) = at(&system, &q, &torques).momentum();
        assert!(length(linear) < 1e-12 && length(angular) < 1e-12, "{linear:?} {angular:?}");
        mass.solve(&mut weight);
        let (linear, _) = at(&system, &q, &weight).momentum();
        assert_near(&linear, &scale(total, DOWN), 1e-12);
    }
    assert!(seen >= 3, "free trees with joints: {seen}");
}

#[test]
fn neither_distance_nor_uniform_flight_changes_the_forces() {
    let mut random = Random::new(5);
    let base = link(None, [0.0; 3], Joint::Free, 1.0, [0.1, 0.0, 0.0], [0.2, 0.3, 0.4]);
    let arm = link(Some(0), [0.5, 0.0, 0.0], HINGE, 0.5, [0.3, 0.1, 0.0], [0.1, 0.1, 0.1]);
    let hand = link(Some(1), [0.5, 0.0, 0.0], Joint::Planar, 0.5, [0.3, 0.1, 0.0], [0.1, 0.1, 0.1]);
    let system = System::new(vec![base, arm, hand]).unwrap();
    let (mut q, mut v) = (random.configuration(&system), random.values(10));
    let near = acceleration(&system, &q, &v, DOWN);
    q[0] += 1e6;
    v[1] += 1e4;
    assert_near(&acceleration(&system, &q, &v, DOWN), &near, 1e-8);
    v[1] -= 1e4;
    assert_near(&acceleration(&system, &q, &v, DOWN), &near, 1e-8);
}

/// Central differences of a material point's velocity while `v` is held.
#[test]
fn bias_acceleration_is_the_rate_of_a_points_velocity_at_constant_speeds() {
    let (h, local) = (1e-5, [0.3, -0.2, 0.4]);
    for (system, q, v) in cases() {
        let [before, after] = [-h, h].map(|h| at(&system, &advanced(&system, &q, &v, h), &v));
        let now = at(&system, &q, &v);
        for link in 0..system.links().len() {
            let velocity = |k: &Kinematics| k.point_velocity(link, k.pose(link).point(local));
            let (linear, angular) = now.bias_acceleration(link, now.pose(link).point(local));
            let turning = sub(after.angular_velocity(link), before.angular_velocity(link));
            assert_near(&linear, &scale(0.5 / h, sub(velocity(&after), velocity(&before))), 1e-7);
            assert_near(&angular, &scale(0.5 / h, turning), 1e-7);
        }
    }
}
