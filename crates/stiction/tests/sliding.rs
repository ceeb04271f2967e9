//! Bodies that slide: how far, how long, whatever the heading, with the friction of two materials. Expectations are closed forms.

use crate::running;

use running::{G, SOLVERS, go, run, scene, start};
use std::f64::consts::PI;
use stiction::contact::FrictionRule;
use stiction::scene::{FrictionKind, Method, Pair};
use stiction::space::{length, sub};
use stiction::step::Status;

/// At rest after v / (mu g), v^2 / (2 mu g) away. Every step takes mu g h off the speed before it moves the box, the last step
/// the rest: n = v / (mu g h) of them, rounded up, and h v n - mu g h^2 n (n + 1) / 2 up to the last but one.
#[test]
fn a_sliding_box_stops_where_and_when_coulomb_says() {
    for h in [1e-2, 3e-3, 1e-3] {
        let (mut stepper, mut state) = start(scene("sliding-box.toml"), h);
        let (v, a) = (2.0, 0.3 * G);
        let mut stopped = f64::INFINITY;
        go(&mut stepper, &mut state, (0.8 / h) as usize, |_, state| {
            if state.velocity[0].abs() < 1e-9 {
                stopped = stopped.min(state.time);
            }
        });
        assert!((v / a..v / a + h).contains(&stopped), "h = {h}: {stopped} s, expected {}", v / a);
        let n = (v / (a * h)).floor();
        let expected = h * v * n - a * h * h * n * (n + 1.0) / 2.0;
        assert!(
            (state.position[0] - expected).abs() < 1e-9,
            "h = {h}: {} m, expected {expected}",
            state.position[0]
        );
        assert!(
            (state.position[0] - v * v / (2.0 * a)).abs() < 0.51 * v * h,
            "h = {h}: {} m",
            state.position[0]
        );
        assert!(
            state.position[1].abs() < 1e-9 && (state.position[2] - 0.05).abs() < 1e-9,
            "{:?}",
            state.position
        );
    }
}

/// Each box stops where its own friction set says (closed forms in the scene), to half a step at the first speed (the 4-gon, whose box slides in two ways one after the
/// other, to three quarters); polygons of many sides near the disc.
/// Every solver gives the same motion.
#[test]
fn every_pair_may_have_a_friction_set_of_its_own() {
    for (solver, h) in SOLVERS.map(|s| (s, 1e-3)).into_iter().chain([(Method::Auto, 3e-3)]) {
        let mut given = scene("friction-sets.toml");
        given.step.solver = solver;
        let (stepper, state) = run(given, h, 1.0);
        assert!(stepper.elements().len() == 20, "{}", stepper.elements().len());
        let a = 0.3 * G;
        let expected = [[5f64.sqrt() / a, 0.5 * 5f64.sqrt() / a], [2.0 / a, 0.5 / a], [2.5 / a, 2.0 / a]];
        for (k, [x, y]) in expected.into_iter().enumerate() {
            let at = &state.position[7 * k..];
            let off = [at[0] - x, at[1] - k as f64 - y];
            let most = if k < 2 { 0.51 } else { 0.75 } * 5f64.sqrt() * h;
            assert!(off[0].hypot(off[1]) < most, "{solver:?} {k}: off by {off:?} m");
        }
        let (disc, near) = (&state.position[..2], &state.position[21..23]);
        let apart = (near[0] - disc[0]).hypot(near[1] - 3.0 - disc[1]);
        // a side of the 16-gon is 22.5 degrees long
        assert!(apart > 1e-3 && apart < 0.39 * disc[0], "{solver:?}: {apart}");
        let free = &state.velocity[24..26];
        assert!((free[0] - 2.0).abs() < 1e-12 && (free[1] - 1.0).abs() < 1e-12, "{solver:?}: {free:?}");
    }
}

/// Sliding at mu g until the contact point is at rest: the centre then moves at 5/7 of the first speed, from 2 v / (7 mu g) on.
#[test]
fn a_sliding_sphere_ends_rolling_at_five_sevenths() {
    for h in [2e-3, 1e-3, 5e-4] {
        let (mut stepper, mut state) = start(scene("sliding-sphere.toml"), h);
        let v = state.velocity[0];
        let mut rolls = f64::INFINITY;
        go(&mut stepper, &mut state, (0.5 / h) as usize, |stepper, state| {
            if stepper.elements().iter().all(|e| e.status == Status::Stick) {
                rolls = rolls.min(state.time);
            }
        });
        let expected = 2.0 * v / (7.0 * 0.3 * G);
        assert!(
            (expected..expected + h).contains(&rolls),
            "h = {h}: rolls from {rolls} s, expected {expected}"
        );
        assert!((state.velocity[0] / v - 5.0 / 7.0).abs() < 1e-12, "h = {h}: {}", state.velocity[0] / v);
        // the normal force is the weight
        let force: f64 = stepper.elements().iter().map(|e| e.force[0]).sum();
        assert!((force / (stepper.scene().bodies[0].link.inertia.mass * G) - 1.0).abs() < 1e-9);
    }
}

/// Where a point stops that slides at 1 m/s, `phi` off a corner of the polygon, in time and space. Friction points to that corner:
/// the heading turns away from it until it is midway to the next, then stays, and friction is cos(pi / K) of its largest.
fn stop_on_polygon(sides: usize, phi: f64, a: f64) -> (f64, [f64; 2]) {
    let half = PI / sides as f64;
    let (sin, cos) = phi.sin_cos();
    let first = (cos - sin / half.tan()) / a;
    let speed = sin / half.sin();
    let second = speed / (a * half.cos());
    let x = cos * first - 0.5 * a * first * first + 0.5 * speed * half.cos() * second;
    (first + second, [x, sin * first + 0.5 * speed * half.sin() * second])
}

#[test]
fn a_slide_depends_on_its_heading_as_the_polygon_says_and_no_more() {
    let a = 0.3 * G;
    let cone = 0.5 / a;
    for (sides, h) in [(4, 1e-3), (8, 2e-3), (8, 1e-3), (8, 5e-4), (32, 1e-3)] {
        let half = PI / sides as f64;
        for share in [0.0, 0.3, 0.8, 1.0] {
            // to the side of any corner
            let (corner, phi) = (2.0 * half * 3.0, share * half);
            let mut scene = scene("heading.toml");
            scene.step.friction = FrictionKind::Polygon { sides };
            let (sin, cos) = (corner + phi).sin_cos();
            scene.bodies[0].velocity = Some([cos, sin, 0.0].into());
            let (_, state) = run(scene, h, 0.5);
            let (sin, cos) = corner.sin_cos();
            let [x, y] = [state.position[0], state.position[1]];
            let along = [cos * x + sin * y, cos * y - sin * x];
            let (_, expected) = stop_on_polygon(sides, phi, a);
            let off = (along[0] - expected[0]).hypot(along[1] - expected[1]);
            assert!(off < 0.51 * h, "{sides} sides, h = {h}, {share}: {along:?}, expected {expected:?}");
            // between the cone's distance and 1 / cos(pi / K) times it, but for half a step at the first speed
            let distance = x.hypot(y) + 0.5 * h;
            let bounds = cone - 2.0 * a * h * h..cone / half.cos() + 2.0 * a * h * h;
            assert!(bounds.contains(&distance), "{sides} sides, h = {h}, {share}: {distance}, {bounds:?}");
        }
    }
}

/// After N steps with the cone the sled stands, whatever its heading: v - mu g h a step, and the last step takes what is left.
#[test]
fn a_slide_under_the_cone_does_not_depend_on_its_heading() {
    for h in [2e-3, 1e-3] {
        let slowing = 0.3 * G * h;
        let steps = (1.0 / slowing).floor();
        let expected = h * (steps - slowing * steps * (steps + 1.0) / 2.0);
        for k in 0..12 {
            let (sin, cos) = (0.1 + f64::from(k) * PI / 6.0).sin_cos();
            let mut scene = scene("heading.toml");
            scene.bodies[0].velocity = Some([cos, sin, 0.0].into());
            let (_, state) = run(scene, h, 0.5);
            let along = cos * state.position[0] + sin * state.position[1];
            let across = cos * state.position[1] - sin * state.position[0];
            assert!((along / expected - 1.0).abs() < 1e-9, "h = {h}, {k}: {along}, expected {expected}");
            assert!(across.abs() < 1e-9, "h = {h}, {k}: {across:e} m aside");
        }
    }
}

/// The box's deceleration over g is the coefficient.
#[test]
fn friction_of_two_materials_combines_by_the_rule_and_a_pair_overrides_it() {
    use FrictionRule::{Average, GeometricMean, Maximum, Minimum, Product};
    let mut two = scene("sliding-box.toml");
    two.materials[0].friction = 0.2;
    two.materials.push(two.materials[0].clone());
    two.materials[1].name = "second".into();
    two.materials[1].friction = 0.8;
    two.world[0].material = Some("second".into());
    // residuals are relative to the speed of 2 m/s, of which a step takes a thousandth
    let coefficient = |scene: &stiction::scene::Scene| {
        let (_, state) = run(scene.clone(), 1e-3, 1e-3);
        (2.0 - state.velocity[0]) / (1e-3 * G)
    };
    assert_eq!(two.friction_rule, GeometricMean);
    for (rule, mu) in [(Product, 0.16), (Minimum, 0.2), (GeometricMean, 0.4), (Average, 0.5), (Maximum, 0.8)]
    {
        two.friction_rule = rule;
        two.pairs.clear();
        assert!((coefficient(&two) - mu).abs() < 1e-7, "{rule:?}: {}", coefficient(&two));
        let names = |a: &str, b: &str| Some(vec![a.to_owned(), b.to_owned()]);
        let materials = names("second", &two.materials[0].name);
        two.pairs.push(Pair { materials, friction_rule: Some(Average), ..Pair::default() });
        assert!((coefficient(&two) - 0.5).abs() < 1e-7, "{rule:?}, by the pair of materials");
        let bodies = names(&two.bodies[0].name, &two.world[0].name);
        two.pairs.push(Pair { bodies, friction: Some(0.3), ..Pair::default() });
        assert!((coefficient(&two) - 0.3).abs() < 1e-7, "{rule:?}, by the pair of bodies");
    }
}

#[test]
fn a_rolling_ball_keeps_its_energy() {
    for h in [1e-2, 1e-3] {
        let (mut stepper, mut state) = start(scene("rolling-sphere.toml"), h);
        let first = stepper.energy(&state).kinetic;
        let mut worst = 0.0f64;
        go(&mut stepper, &mut state, (30.0 / h).round() as usize, |stepper, state| {
            worst = worst.max((stepper.energy(state).kinetic / first - 1.0).abs());
        });
        assert!(worst <= 1e-12, "h = {h}: {worst:e}");
        let rolled = length(sub([state.position[0], state.position[1], 0.0], [30.0, 0.0, 0.0]));
        assert!(rolled < 1e-7, "h = {h}: {rolled:e} m from 30 m");
    }
}
