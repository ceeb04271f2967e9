//! Bodies at an instant, held against results found by hand (trinkle1995 sections 2 and 3).

use complementarity::matrix::Matrix;
use complementarity::problem::{Friction, FrictionProblem, Mode};
use complementarity::residual;
use stiction::analysis::bodies::Surface;
use stiction::analysis::bodies::{Bodies, Body, Contact, Drive, InvalidBodies, Link};
use stiction::space::{
    Frame, Tensor, Vector, add, cross, dot, length, scale, sub, times, transpose_times, turned, unit,
};

const G: f64 = 9.81;

fn diagonal(d: Vector) -> Tensor {
    [[d[0], 0.0, 0.0], [0.0, d[1], 0.0], [0.0, 0.0, d[2]]]
}

fn body(mass: f64, inertia: Tensor, position: Vector) -> Body {
    let zero = [0.0; 3];
    Body { mass, inertia, position, velocity: zero, angular_velocity: zero, force: zero, torque: zero }
}

fn on_world(point: Vector, surfaces: [Surface; 2]) -> Contact {
    let frame = Frame::new([0.0, 0.0, 1.0], [1.0, 0.0, 0.0]);
    Contact { a: 0, b: None, point, frame, surfaces }
}

fn pyramid(instant: &Bodies, mu: f64) -> FrictionProblem {
    instant
        .instant()
        .problem_with(vec![mu; instant.contacts().len()], Friction::Pyramid)
        .expect("a valid problem")
}

/// A block of half sides 0.3, 0.2, 0.1 on a slope; x points downhill, z off the slope.
fn block_on_slope(angle: f64, downhill: f64) -> Bodies {
    let (mass, half) = (4.0, [0.3, 0.2, 0.1]);
    let square = half.map(|x: f64| x * x);
    let inertia = diagonal(
        [square[1] + square[2], square[0] + square[2], square[0] + square[1]].map(|x| mass / 3.0 * x),
    );
    let mut block = body(mass, inertia, [0.0, 0.0, half[2]]);
    block.velocity = [downhill, 0.0, 0.0];
    block.force = [mass * G * angle.sin(), 0.0, -mass * G * angle.cos()];
    let corner =
        |sx: f64, sy: f64| on_world([sx * half[0], sy * half[1], 0.0], [Surface::Point, Surface::FLAT]);
    let contacts = vec![corner(1.0, 1.0), corner(1.0, -1.0), corner(-1.0, 1.0), corner(-1.0, -1.0)];
    Bodies::new(vec![block], contacts).expect("a valid block")
}

/// Corner forces that balance the moment of a friction force `pull` (uphill), shared as the normal forces are.
fn block_forces(angle: f64, pull: f64) -> Vec<f64> {
    let press = 4.0 * G * angle.cos();
    let shift = pull * 0.1 / 0.3;
    let normal = [press + shift, press + shift, press - shift, press - shift].map(|x| x / 4.0);
    normal.iter().flat_map(|n| [*n, -pull * n / press, 0.0]).collect()
}

#[test]
fn block_below_the_friction_angle_rests() {
    let angle = 20f64.to_radians();
    let instant = block_on_slope(angle, 0.0);
    let forces = block_forces(angle, 4.0 * G * angle.sin());
    assert!(residual::friction(&pyramid(&instant, 0.5), &forces).relative < 1e-14);
    assert!(residual::friction(&pyramid(&instant, 0.3), &forces).relative > 1e-2, "tan 20 deg = 0.36");
    let [linear, angular] = instant.accelerations(&forces).unwrap()[0];
    assert!(length(linear) < 1e-14 && length(angular) < 1e-13);
}

#[test]
fn block_above_the_friction_angle_slides_from_rest_and_in_motion() {
    let (angle, mu) = (20f64.to_radians(), 0.2);
    let forces = block_forces(angle, mu * 4.0 * G * angle.cos());
    for (speed, rolling) in [(0.0, true), (1.5, false)] {
        let instant = block_on_slope(angle, speed);
        let problem = pyramid(&instant, mu);
        let expected = if rolling { Mode::Rolling } else { Mode::Sliding { direction: [1.0, 0.0] } };
        assert_eq!(problem.modes(), [expected; 4]);
        assert!(residual::friction(&problem, &forces).relative < 1e-14);
        let [linear, angular] = instant.accelerations(&forces).unwrap()[0];
        assert!((linear[0] - G * (angle.sin() - mu * angle.cos())).abs() < 1e-13);
        assert!(linear[2].abs() < 1e-14 && length(angular) < 1e-13);
    }
}

#[test]
fn ball_rolls_down_at_five_sevenths_at_any_speed() {
    let (angle, mass, radius) = (0.3f64, 2.0, 0.15);
    for speed in [0.0, 0.4, 30.0] {
        let mut ball = body(mass, diagonal([0.4 * mass * radius * radius; 3]), [0.0, 0.0, radius]);
        ball.velocity = [speed, 0.0, 0.0];
        // rolls, and spins about the normal
        ball.angular_velocity = [0.0, speed / radius, 2.0 * speed];
        ball.force = [mass * G * angle.sin(), 0.0, -mass * G * angle.cos()];
        let contact = on_world([0.0; 3], [Surface::sphere(radius), Surface::FLAT]);
        let instant = Bodies::new(vec![ball], vec![contact]).unwrap();
        let forces = [mass * G * angle.cos(), -2.0 / 7.0 * mass * G * angle.sin(), 0.0];
        let problem = pyramid(&instant, 0.4);
        assert_eq!(problem.modes(), [Mode::Rolling]);
        assert!(residual::friction(&problem, &forces).relative < 1e-12, "speed {speed}");
        let [linear, _] = instant.accelerations(&forces).unwrap()[0];
        assert!((linear[0] - 5.0 / 7.0 * G * angle.sin()).abs() < 1e-13);
    }
}

#[test]
fn ball_rolling_through_a_bowl_presses_with_its_weight_and_the_centrifugal_force() {
    let (mass, radius, bowl, speed) = (2.0, 0.1, 0.5, 1.3);
    let mut ball = body(mass, diagonal([0.4 * mass * radius * radius; 3]), [0.0, 0.0, radius]);
    ball.velocity = [speed, 0.0, 0.0];
    ball.angular_velocity = [0.0, speed / radius, 0.0];
    ball.force = [0.0, 0.0, -mass * G];
    let contact = on_world([0.0; 3], [Surface::sphere(radius), Surface::sphere(-bowl)]);
    let instant = Bodies::new(vec![ball], vec![contact]).unwrap();
    let forces = [mass * (G + speed * speed / (bowl - radius)), 0.0, 0.0];
    assert!(residual::friction(&pyramid(&instant, 0.4), &forces).relative < 1e-13);
}

/// trinkle1995 section 1 and song2001 (29): the LCP of a sliding rod has one unknown,
/// `a_n = (1 + 3 cos th (cos th - mu s sin th)) c_n / m + omega^2 l sin th - g`, `s` = 1 when the lower end leads.
#[test]
fn sliding_rod_has_painleve_s_closed_form() {
    let (mass, half, omega): (f64, f64, f64) = (1.2, 0.5, -1.7);
    for (angle, mu, leads) in [(0.9f64, 0.5, 1.0), (0.95, 2.0, 1.0), (0.95, 2.0, -1.0), (1.2, 3.0, 1.0)] {
        let tip = [-half * angle.cos(), 0.0, -half * angle.sin()];
        // the inertia about the rod's axis never enters: any positive value
        let across = mass * half * half / 3.0;
        let along = unit(tip);
        let inertia = [0, 1, 2].map(|i| {
            [0, 1, 2].map(|j| if i == j { across } else { 0.0 } - 0.999 * across * along[i] * along[j])
        });
        let mut rod = body(mass, inertia, scale(-1.0, tip));
        rod.force = [0.0, 0.0, -mass * G];
        rod.angular_velocity = [0.0, omega, 0.0];
        // the tip moves along x alone
        rod.velocity = sub([-0.8 * leads, 0.0, 0.0], cross(rod.angular_velocity, tip));
        let instant =
            Bodies::new(vec![rod], vec![on_world([0.0; 3], [Surface::Point, Surface::FLAT])]).unwrap();
        let lcp = pyramid(&instant, mu).as_slack_lcp().unwrap().problem;
        let m = (1.0 + 3.0 * angle.cos() * (angle.cos() - mu * leads * angle.sin())) / mass;
        let q = omega * omega * half * angle.sin() - G;
        assert!((lcp.matrix()[(0, 0)] - m).abs() < 1e-12, "{} for {m}", lcp.matrix()[(0, 0)]);
        assert!((lcp.vector()[0] - q).abs() < 1e-12);
    }
}

/// `exp([w])` by Rodrigues, times `r`.
fn rotate(w: Vector, r: &Tensor) -> Tensor {
    let angle = length(w);
    let turn = |x: Vector| {
        let axis = scale(1.0 / angle, w);
        let (sin, cos) = angle.sin_cos();
        let along = scale((1.0 - cos) * dot(axis, x), axis);
        add(add(scale(cos, x), scale(sin, cross(axis, x))), along)
    };
    let columns = [0, 1, 2].map(|j| turn([r[0][j], r[1][j], r[2][j]]));
    [0, 1, 2].map(|i| [0, 1, 2].map(|j| columns[j][i]))
}

/// Second derivative of `gap(positions, turns)` along free motion, by central differences.
fn second_derivative(instant: &Bodies, gap: &dyn Fn(&[Vector], &[Tensor]) -> f64) -> f64 {
    let free =
        instant.accelerations(&vec![0.0; 3 * instant.contacts().len()]).expect("three forces a contact");
    let identity = diagonal([1.0; 3]);
    let at = |t: f64| {
        let moved = |v: Vector, a: Vector| add(scale(t, v), scale(0.5 * t * t, a));
        let bodies = || instant.bodies().iter().zip(&free);
        let positions: Vec<Vector> =
            bodies().map(|(b, a)| add(b.position, moved(b.velocity, a[0]))).collect();
        let turns: Vec<Tensor> = bodies()
            .map(
                |(b, a)| if t == 0.0 { identity } else { rotate(moved(b.angular_velocity, a[1]), &identity) },
            )
            .collect();
        gap(&positions, &turns)
    };
    let h = 2e-4;
    (at(h) - 2.0 * at(0.0) + at(-h)) / (h * h)
}

#[test]
fn normal_acceleration_is_the_second_derivative_of_the_gap() {
    // an ellipsoid a on a half-space b; both translate and turn, and the contact slides
    let r = rotate([0.4, -0.7, 1.1], &diagonal([1.0; 3]));
    let axes: Vector = [0.3, 0.2, 0.12];
    let n = unit([0.2, -0.3, 1.0]);
    let reach = |turn: &Tensor, n: Vector| {
        let body_axes = transpose_times(&r, transpose_times(turn, n));
        length([0, 1, 2].map(|k| axes[k] * body_axes[k]))
    };
    let squares = turned(&r, axes.map(|x| x * x));
    let foot = scale(-1.0 / reach(&diagonal([1.0; 3]), n), times(&squares, n));
    let point = [0.5, -0.2, 0.3];
    let frame = Frame::new(n, [1.0, 0.3, 0.0]);
    let q = turned(&r, axes.map(|x| 1.0 / (x * x)));
    let steep = length(times(&q, foot));
    let bend = |x: Vector, y: Vector| dot(x, times(&q, y)) / steep;
    let curvature =
        [[bend(frame.t, frame.t), bend(frame.t, frame.o)], [bend(frame.o, frame.t), bend(frame.o, frame.o)]];
    let mut a = body(3.0, turned(&r, [0.02, 0.05, 0.06]), sub(point, foot));
    let mut b = body(5.0, turned(&r, [0.3, 0.2, 0.4]), [0.1, 0.4, -0.5]);
    (a.angular_velocity, b.angular_velocity) = ([1.0, -2.0, 0.7], [-0.6, 0.9, 1.5]);
    b.velocity = [0.3, 0.5, -0.2];
    (a.force, b.torque) = ([1.0, 2.0, -30.0], [0.3, -0.2, 0.5]);
    let slip = frame.in_plane([0.7, -0.4]);
    a.velocity = sub(add(b.velocity_at(point), slip), cross(a.angular_velocity, foot));
    let from_b = sub(point, b.position);

    for swapped in [false, true] {
        let (bodies, ia, ib) =
            if swapped { (vec![b.clone(), a.clone()], 1, 0) } else { (vec![a.clone(), b.clone()], 0, 1) };
        let smooth = Surface::Smooth { curvature };
        let contact = if swapped {
            let frame = Frame { n: scale(-1.0, frame.n), t: frame.t, o: scale(-1.0, frame.o) };
            let curvature = [[curvature[0][0], -curvature[0][1]], [-curvature[1][0], curvature[1][1]]];
            let surfaces = [Surface::FLAT, Surface::Smooth { curvature }];
            Contact { a: 0, b: Some(1), point, frame, surfaces }
        } else {
            Contact { a: 0, b: Some(1), point, frame, surfaces: [smooth, Surface::FLAT] }
        };
        let instant = Bodies::new(bodies, vec![contact]).unwrap();
        let gap = |x: &[Vector], turns: &[Tensor]| {
            let normal = times(&turns[ib], n);
            let on_plane = add(x[ib], times(&turns[ib], from_b));
            dot(normal, sub(x[ia], on_plane)) - reach(&turns[ia], normal)
        };
        let expected = second_derivative(&instant, &gap);
        let found = instant.instant().system().1[0];
        assert!((found - expected).abs() < 1e-5, "{found} for {expected}, swapped: {swapped}");
    }

    // a foot of a on a ball b, and the other way round
    for foot_on_a in [true, false] {
        let radius = length(from_b);
        let normal = scale(if foot_on_a { 1.0 } else { -1.0 }, unit(from_b));
        let frame = Frame::new(normal, [1.0, 0.0, 0.0]);
        let mut foot_body = a.clone();
        foot_body.velocity =
            sub(add(b.velocity_at(point), frame.in_plane([0.7, -0.4])), cross(a.angular_velocity, foot));
        let (bodies, surfaces, ia, ib) = if foot_on_a {
            (vec![foot_body, b.clone()], [Surface::Point, Surface::sphere(radius)], 0, 1)
        } else {
            (vec![b.clone(), foot_body], [Surface::sphere(radius), Surface::Point], 1, 0)
        };
        let instant =
            Bodies::new(bodies, vec![Contact { a: 0, b: Some(1), point, frame, surfaces }]).unwrap();
        let gap =
            |x: &[Vector], turns: &[Tensor]| length(sub(add(x[ia], times(&turns[ia], foot)), x[ib])) - radius;
        let expected = second_derivative(&instant, &gap);
        let found = instant.instant().system().1[0];
        assert!((found - expected).abs() < 1e-5, "{found} for {expected}, foot on a: {foot_on_a}");
    }
}

#[test]
fn contact_forces_do_work_on_the_relative_velocity_alone() {
    let mut instants = stiction::random::instants(7);
    instants.truncate(12);
    for instant in &instants {
        // any forces will do
        let forces: Vec<f64> =
            (0..3 * instant.contacts().len()).map(|k| (k as f64 * 1.7).sin() * 20.0).collect();
        let gained: f64 = (instant.bodies().iter().zip(instant.accelerations(&forces).unwrap()))
            .map(|(b, [linear, angular])| {
                b.mass * dot(b.velocity, linear) + dot(b.angular_velocity, times(&b.inertia, angular))
            })
            .sum();
        let external: f64 = (instant.bodies().iter())
            .map(|b| dot(b.velocity, b.force) + dot(b.angular_velocity, b.torque))
            .sum();
        let contact: f64 = (0..instant.contacts().len())
            .map(|i| {
                dot(
                    instant.instant().relative_velocity(i),
                    [forces[3 * i], forces[3 * i + 1], forces[3 * i + 2]],
                )
            })
            .sum();
        let scale = external.abs() + contact.abs() + 1.0;
        assert!((gained - external - contact).abs() < 1e-11 * scale);
    }
}

#[test]
fn impossible_input_is_refused_with_its_place() {
    let contact = on_world([0.0; 3], [Surface::Point, Surface::FLAT]);
    let good = body(1.0, diagonal([1.0; 3]), [0.0, 0.0, 1.0]);
    let refused = |body: Body, contact: Contact| Bodies::new(vec![body], vec![contact]).unwrap_err();
    let weightless = Body { mass: 0.0, ..good.clone() };
    assert!(matches!(refused(weightless, contact.clone()), InvalidBodies::Body { body: 0, .. }));
    let thin = Body { inertia: diagonal([1.0, 1.0, -1.0]), ..good.clone() };
    assert!(matches!(refused(thin, contact.clone()), InvalidBodies::Body { body: 0, .. }));
    let falling = Body { velocity: [0.0, 0.0, -1.0], ..good.clone() };
    assert_eq!(
        refused(falling, contact.clone()),
        InvalidBodies::NormalVelocity { contact: 0, velocity: -1.0 }
    );
    for surfaces in [[Surface::Point; 2], [Surface::FLAT; 2], [Surface::sphere(0.5), Surface::sphere(-0.4)]] {
        let contact = Contact { surfaces, ..contact.clone() };
        assert!(matches!(refused(good.clone(), contact), InvalidBodies::Contact { contact: 0, .. }));
    }
    let alone = Contact { b: Some(3), ..contact };
    assert!(matches!(refused(good, alone), InvalidBodies::Contact { contact: 0, .. }));
    assert!(Bodies::new(vec![], vec![]).unwrap().instant().system().0 == Matrix::zeros(0, 0));
}

/// A pendulum on a hinge: the effort of the hinge and the weight turn it, and its centre has the centripetal acceleration too; with the acceleration
/// of the hinge given, loads do not matter.
#[test]
fn links_accelerate_along_their_joints() {
    let (mass, l, theta, rate, effort) = (2.0, 0.7, 0.4f64, 1.3, 0.9);
    let arm = [l * theta.sin(), 0.0, -l * theta.cos()];
    let axis = [0.0, 1.0, 0.0];
    let mut bob = body(mass, diagonal([0.1, 0.2, 0.3]), arm);
    bob.angular_velocity = scale(rate, axis);
    bob.velocity = cross(bob.angular_velocity, arm);
    bob.force = [0.0, 0.0, -mass * G];
    let link = |drive| Link { body: 0, twist: [cross(axis, arm), axis], drive };
    let with = |drive| Bodies::new(vec![bob.clone()], vec![]).unwrap().with_links(&[link(drive)]);
    let turning = (effort + dot(axis, cross(arm, bob.force))) / (0.2 + mass * l * l);
    for (drive, expected) in [(Drive::Effort(effort), turning), (Drive::Acceleration(5.0), 5.0)] {
        let [[linear, angular]] = with(drive).unwrap().accelerations(&[]).unwrap()[..] else {
            panic!("one body")
        };
        let expected_linear = add(scale(expected, cross(axis, arm)), scale(-rate * rate, arm));
        assert!(length(sub(linear, expected_linear)) < 1e-14, "{linear:?}");
        assert!(length(sub(angular, scale(expected, axis))) < 1e-14);
    }
    let aside = Link { twist: [axis, [0.0; 3]], ..link(Drive::Effort(0.0)) };
    assert!(Bodies::new(vec![bob], vec![]).unwrap().with_links(&[aside]).is_err());
}
