//! Accelerations at an instant of models: trees, and shapes with their own curvature (trinkle1995 sections 2 and 3).

use complementarity::problem::{Friction, Mode};
use complementarity::residual;
use stiction::analysis::instant::{Instant, InvalidInstant};
use stiction::inputs::Inputs;
use stiction::model::Model;

const G: f64 = 9.81;

fn model(text: &str) -> Model {
    let scene = stiction::from_toml("scene", text).unwrap_or_else(|e| panic!("{e}"));
    Model::new(&scene).expect("a valid scene")
}

fn at_start(text: &str) -> Result<Instant, InvalidInstant> {
    let model = model(text);
    Instant::at(&model, &model.initial(), &Inputs::default())
}

/// Rolling without slip accelerates a ball by 5/7 g sin, at any speed, and presses it down by m g cos.
#[test]
fn ball_rolls_down_a_slope_at_five_sevenths() {
    let (angle, radius, mass) = (0.3f64, 0.1, 2.0);
    for speed in [0.0, 3.0] {
        let (sin, cos) = angle.sin_cos();
        let instant = at_start(&format!(
            "gravity = [{}, 0, {}]\n[[world]]\nname = 'slope'\nshape = 'half_space'\n[[body]]\nname = 'ball'\nmass = {mass}\n\
             shape = {{ sphere = {{ radius = {radius} }} }}\nposition = [0, 0, {radius}]\nvelocity = [{speed:?}, 0, 0]\n\
             angular_velocity = [0, {:?}, 0]\n",
            G * sin,
            -G * cos,
            speed / radius
        ))
        .unwrap();
        assert_eq!(instant.modes(), [Mode::Rolling]);
        let forces = [mass * G * cos, -2.0 / 7.0 * mass * G * sin, 0.0];
        let problem = instant.problem().unwrap();
        assert!(residual::friction(&problem, &forces).relative < 1e-12);
        let q = instant.accelerations(&forces).unwrap();
        assert!((q[0] - 5.0 / 7.0 * G * sin).abs() < 1e-12 && q[2].abs() < 1e-12, "{q:?}");
        assert!((q[4] - 5.0 / 7.0 * G * sin / radius).abs() < 1e-10, "{q:?}");
    }
}

/// Over the top of a fixed ball, the centrifugal force of the path of the centre lightens the press: N = m (g - v^2 / (R + r)).
#[test]
fn ball_rolling_over_a_ball_presses_less() {
    let (below, radius, mass, speed) = (0.7, 0.2, 1.5, 1.1);
    let instant = at_start(&format!(
        "[[world]]\nname = 'dome'\nshape = {{ sphere = {{ radius = {below} }} }}\n[[body]]\nname = 'ball'\nmass = {mass}\n\
         shape = {{ sphere = {{ radius = {radius} }} }}\nposition = [0, 0, {}]\nvelocity = [{speed}, 0, 0]\n\
         angular_velocity = [0, {}, 0]\n",
        below + radius,
        speed / radius
    ))
    .unwrap();
    let press = mass * (G - speed * speed / (below + radius));
    let problem = instant.problem().unwrap();
    assert!(residual::friction(&problem, &[press, 0.0, 0.0]).relative < 1e-12);
}

/// Two links on hinges with a disc at the end that touches the ground and slides: gap and slip rate twice differentiated by hand.
#[test]
fn a_chain_that_touches_has_the_second_derivative_of_its_gap() {
    let ([l1, l2, r], [a, b]) = ([0.8, 0.5, 0.1], [-0.4f64, -0.7f64]);
    let ab = a + b;
    let height = r - l1 * a.sin() - l2 * ab.sin();
    // the disc keeps its height: l1 cos(a) u + l2 cos(a+b) (u + w) = 0
    let u = 1.3;
    let both = -l1 * a.cos() * u / (l2 * ab.cos());
    let text = format!(
        "planar = true\n[[world]]\nname = 'ground'\nshape = 'half_space'\n\
         [[body]]\nname = 'upper'\nmass = 1.2\ninertia = 0.07\njoint = {{ revolute = {{}} }}\nmount = {{ position = [0, {height:?}] }}\n\
         angle = {a}\nangular_velocity = {u}\n\
         [[body]]\nname = 'lower'\nparent = 'upper'\nmass = 0.6\ncenter = [0.3, 0.02]\ninertia = 0.02\njoint = {{ revolute = {{}} }}\n\
         mount = {{ position = [{l1}, 0] }}\nangle = {b}\nangular_velocity = {:?}\n\
         [[body.part]]\nshape = {{ sphere = {{ radius = {r} }} }}\nposition = [{l2}, 0]\n",
        both - u
    );
    let instant = at_start(&text).unwrap();
    let q = instant.accelerations(&[0.0, 0.0]).unwrap();
    let (first, second) = (q[0], q[0] + q[1]);
    let rise = l1 * (a.cos() * first - a.sin() * u * u) + l2 * (ab.cos() * second - ab.sin() * both * both);
    let along = -l1 * (a.sin() * first + a.cos() * u * u) - l2 * (ab.sin() * second + ab.cos() * both * both);
    let (matrix, vector) = instant.system();
    assert!((vector[0] - rise).abs() < 1e-12 && (vector[1] - along - r * second).abs() < 1e-12);
    assert!(rise.abs() > 0.1 && matrix[(0, 0)] > 0.0, "{rise}");
    let slip = -l1 * a.sin() * u - l2 * ab.sin() * both + r * both;
    assert_eq!(instant.modes(), [Mode::Sliding { direction: [slip.signum(), 0.0] }]);
    // what the forces do to the relative acceleration is A c
    let pushed = instant.accelerations(&[2.0, -0.7]).unwrap();
    let moved = instant.jacobian().times(&[pushed[0] - q[0], pushed[1] - q[1]]);
    let expected = matrix.times(&[2.0, -0.7]);
    assert!(moved.iter().zip(&expected).all(|(x, y)| (x - y).abs() < 1e-12));
    assert!(instant.problem_with(vec![0.3], Friction::Pyramid).is_ok());
}

#[test]
fn bodies_that_part_are_left_out_and_bodies_that_meet_are_refused() {
    let ball = |velocity: f64| {
        format!(
            "[[world]]\nname = 'ground'\nshape = 'half_space'\n[[body]]\nname = 'ball'\nmass = 1\n\
             shape = {{ sphere = {{ radius = 0.5 }} }}\nposition = [0, 0, 0.5]\nvelocity = [0, 0, {velocity:?}]\n"
        )
    };
    assert!(at_start(&ball(0.1)).unwrap().contacts().contacts.is_empty());
    let refused = at_start(&ball(-0.1)).unwrap_err();
    let words = "contact ground/ball#0: normal velocity -0.1 m/s, expected 0 or more (trinkle1995 (5))";
    assert_eq!(refused.to_string(), words);
}

#[test]
fn inputs_and_motors_are_part_of_the_applied_forces() {
    let text = "gravity = [0, 0, 0]\n[[body]]\nname = 'arm'\nmass = 1\ninertia = [1, 1, 0.5]\njoint = { revolute = {} }\n\
                [[motor]]\nbody = 'arm'\neffort = { constant = 2 }\n";
    let model = model(text);
    for (efforts, expected) in [(vec![], 4.0), (vec![1.5], 7.0)] {
        let inputs = Inputs { efforts, ..Inputs::default() };
        let instant = Instant::at(&model, &model.initial(), &inputs).unwrap();
        assert!((instant.accelerations(&[]).unwrap()[0] - expected).abs() < 1e-14);
    }
}
