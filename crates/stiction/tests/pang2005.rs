//! pang2005: boundary-value problems with answers in closed form, the step as a quadratic program, convergence.

use std::sync::Arc;
use stiction::boundary::{Answer, End, Problem, converge, converge_against, shoot};
use stiction::model::Model;
use stiction::scene::{Scene, Scheme, ShootMethod};
use stiction::state::State;
use stiction::stepper::Stepper;

const SCENES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/pang2005");

fn read(name: &str) -> Scene {
    stiction::read(format!("{SCENES}/{name}.toml")).unwrap()
}

fn solve(scene: &Scene) -> Answer {
    shoot(&Problem::new(scene).unwrap())
}

fn boundary(scene: &mut Scene) -> &mut stiction::scene::Boundary {
    scene.boundary.as_mut().unwrap()
}

#[test]
fn a_sphere_rolls_with_five_sevenths_of_its_velocity_and_the_map_has_slope_two_sevenths() {
    for duration in [0.1, 0.5] {
        let mut scene = read("sphere-velocity");
        scene.step.duration = duration;
        for method in [ShootMethod::Newton, ShootMethod::FixedPoint] {
            boundary(&mut scene).method = method;
            let answer = solve(&scene);
            let found = &answer.solutions[0];
            assert!(found.is_isolated() && found.miss() <= 1e-9, "{found:?}");
            // lever arms differ from the radius by the depth of the contact
            for (z, wanted) in found.unknowns.iter().zip([1.12, 0.42]) {
                assert!((z - wanted).abs() < 2e-3 * wanted, "T = {duration}, {method:?}: {z} {wanted}");
            }
            if let Some(map) = found.fixed_point {
                assert!((map.rate - 2.0 / 7.0).abs() < 5e-3 && !map.shifted, "{map:?}");
            }
        }
    }
}

#[test]
fn a_sphere_reaches_a_place_by_sliding_and_then_rolling() {
    let mut scene = read("sphere-position");
    let answer = solve(&scene);
    let v = &answer.solutions[0].unknowns;
    let (speed, mu, g, t) = (v[0].hypot(v[1]), 0.5, 9.81, 0.5);
    let reached = 5.0 / 7.0 * speed * t + 2.0 / 49.0 * speed * speed / (mu * g);
    assert!((reached - 0.1f64.hypot(0.3)).abs() < 1e-3, "{reached}");
    assert!((v[1] / v[0] - 1.0 / 3.0).abs() < 1e-4, "{v:?}");
    // M_v + N_v is zero for positions: the map of free flight converges too
    boundary(&mut scene).method = ShootMethod::FixedPoint;
    let other = solve(&scene);
    let found = &other.solutions[0];
    assert!(found.fixed_point.is_some_and(|f| f.shifted && f.rate < 0.35), "{:?}", found.fixed_point);
    assert!((found.unknowns[0] - v[0]).abs() < 1e-7);
}

#[test]
fn a_box_comes_to_rest_where_it_is_wanted_by_single_and_by_multiple_shooting() {
    let mut scene = read("box-at-rest");
    let single = solve(&scene);
    let found = &single.solutions[0];
    let end = &found.states.as_ref().unwrap()[1];
    assert!(end.velocity.iter().all(|v| v.abs() < 1e-5), "{:?}", end.velocity);
    assert!((end.position[0] - 0.3).abs() < 1e-8 && (end.position[1] - 0.1).abs() < 1e-8);
    assert!(found.is_isolated());
    boundary(&mut scene).method = ShootMethod::MultipleShooting;
    let multiple = solve(&scene);
    let other = &multiple.solutions[0];
    for (a, b) in found.unknowns.iter().zip(&other.unknowns) {
        assert!((a - b).abs() < 1e-6, "{:?} {:?}", found.unknowns, other.unknowns);
    }
}

/// The throw without contact, step by step: y(T) = y0 + v T - g h^2 N (N+1)/2.
fn throw(scene: &Scene) -> f64 {
    9.81 * (scene.step.duration + scene.step.h) / 2.0
}

#[test]
fn a_bouncing_sphere_has_two_answers_and_the_map_repels_from_one() {
    let mut scene = read("bouncing-sphere");
    let answer = solve(&scene);
    let mut found: Vec<f64> = answer.solutions.iter().map(|s| s.unknowns[0]).collect();
    found.sort_by(f64::total_cmp);
    let up = throw(&scene);
    assert!(found.iter().any(|v| (v - up).abs() < 1e-9), "{found:?}, {up}");
    let down: Vec<f64> = found.iter().copied().filter(|v| *v < 0.0).collect();
    assert!(!down.is_empty() && answer.solutions.iter().all(|s| s.is_isolated()), "{found:?}");
    // from beside the bounce: Newton returns to it, the fixed-point map leaves it
    boundary(&mut scene).starts = Some(1);
    for (method, stays) in [(ShootMethod::Newton, true), (ShootMethod::FixedPoint, false)] {
        let given = boundary(&mut scene);
        given.method = method;
        given.unknowns[0].guess = Some(down[0] + 1e-3);
        let one = solve(&scene);
        let there = one.solutions.first().is_some_and(|s| (s.unknowns[0] - down[0]).abs() < 1e-6);
        assert_eq!(there, stays, "{method:?} from {}: {:?}", down[0], one.nearest.map(|n| n.end));
    }
}

#[test]
fn a_puck_stops_on_the_mark() {
    let mut scene = read("puck");
    let answer = solve(&scene);
    let v = answer.solutions[0].unknowns[0];
    // as the steps go: v falls by mu g h, and x grows by h v
    let (h, mu) = (scene.step.h, 0.2);
    let (mut speed, mut x) = (v, 0.0);
    while speed > 0.0 {
        speed = (speed - mu * 9.81 * h).max(0.0);
        x += h * speed;
    }
    assert!((x - 0.5).abs() < 1e-8, "{x}");
    assert!((v - (2.0 * mu * 9.81 * 0.5f64).sqrt()).abs() < mu * 9.81 * h, "{v}");
    // too slow by its bounds: the nearest miss is at the bound
    let unknown = &mut boundary(&mut scene).unknowns[0];
    (unknown.bounds, unknown.guess) = (Some([0.1, 0.8]), Some(0.5));
    let answer = solve(&scene);
    let miss = answer.nearest.unwrap();
    assert!(answer.solutions.is_empty() && miss.end == End::Miss);
    assert!((miss.unknowns[0] - 0.8).abs() < 1e-9 && miss.miss() > 0.1, "{miss:?}");
}

#[test]
fn a_fence_aligns_for_a_family_of_spins() {
    let answer = solve(&read("fence"));
    let found = &answer.solutions[0];
    assert_eq!(found.family, 1, "{found:?}");
    let end = &found.states.as_ref().unwrap()[1];
    assert!(end.position[2].abs() < 1e-6 && (end.position[0] - 0.3).abs() < 1e-6, "{:?}", end.position);
}

#[test]
fn a_peg_enters_its_hole() {
    let answer = solve(&read("peg"));
    assert!(!answer.solutions.is_empty(), "{:?}", answer.nearest.map(|n| (n.end, n.unknowns, n.residual)));
    let inside = answer.solutions.iter().filter(|s| {
        let end = &s.states.as_ref().unwrap()[1];
        (end.position[1] - 0.08).abs() < 1e-3
    });
    assert!(inside.count() > 0);
}

#[test]
fn an_unknown_time_is_found_too() {
    let mut scene = read("bouncing-sphere");
    scene.bodies[0].velocity = Some(stiction::scene::Numbers(vec![0.0, 1.0]));
    let given = boundary(&mut scene);
    (given.time, given.time_bounds, given.starts) = (Some(0.2), Some([0.05, 0.25]), Some(1));
    given.unknowns.clear();
    given.conditions[0].value = 0.45;
    let answer = solve(&scene);
    let found = &answer.solutions[0];
    // 0.5 + T - g T (T + h)/2 with T = N h
    let t = found.unknowns[0];
    let steps = (0.2f64 / scene.step.h).round();
    let y = 0.5 + t - 9.81 * t * (t + t / steps) / 2.0;
    assert!((y - 0.45).abs() < 1e-9 && found.iterations < 12, "{t}: {y}, {}", found.iterations);
}

#[test]
fn wrong_problems_are_refused_by_name() {
    let with = |change: &dyn Fn(&mut stiction::scene::Boundary)| {
        let mut scene = read("puck");
        change(boundary(&mut scene));
        let lines: Vec<String> = stiction::check(&scene).iter().map(ToString::to_string).collect();
        lines.join("\n")
    };
    let text = with(&|b| b.unknowns[0].body = "pluck".to_owned());
    assert!(text.contains("boundary.unknown[0].body") && text.contains("'pluck'"), "{text}");
    let text = with(&|b| b.unknowns[0].component = "vz".to_owned());
    assert!(text.contains("'vz'") && text.contains("planar"), "{text}");
    let text = with(&|b| b.conditions.push(b.conditions[0].clone()));
    assert!(text.contains("2 conditions for 1 unknowns") && text.contains("least_squares"), "{text}");
    let text = with(&|b| {
        let term = stiction::scene::Term {
            body: Some("puck".to_owned()),
            component: "vy".to_owned(),
            at: stiction::scene::When::Start,
            ..Default::default()
        };
        b.conditions[0] = stiction::scene::Condition { terms: vec![term], ..Default::default() };
    });
    assert!(text.contains("puck.vy(0) is prescribed"), "{text}");
    assert_eq!(with(&|_| {}), "");
}

/// pang2005 Proposition 1 for a step: given the normal forces, friction minimises the quadratic program (11), with E^-1 for C^-1.
#[test]
fn friction_of_a_step_solves_the_quadratic_program() {
    let scene = read("box-at-rest");
    let model = Arc::new(Model::new(&scene).unwrap());
    let (mut stepper, mut state) = (Stepper::of(model.clone()), model.initial());
    state.velocity[0] = 1.0;
    state.velocity[5] = 4.0;
    let (mut seen, mut slipping) = (0, 0);
    for _ in 0..700 {
        let _ = stepper.step(&mut state).unwrap();
        let work = stepper.workspace();
        for k in 0..work.problem.elements.len() {
            let rows = work.problem.rows_of(k);
            let (l, s) = (&work.forces.lambda[rows.clone()], &work.forces.velocity[rows]);
            let Some((_, e)) = work.problem.factors().patch(k) else { panic!("compliant") };
            // s_t = E^-1 lambda_t + c: projected gradient steps on 1/2 x E^-1 x + c x from zero
            let (compliance, limit) = (e[4], 0.3 * l[0]);
            let c = [s[1] - compliance * l[1], s[2] - e[8] * l[2]];
            let mut x = [0.0; 2];
            for _ in 0..200 {
                let y = [0, 1].map(|i| x[i] - 0.5 / compliance * (compliance * x[i] + c[i]));
                let size = y[0].hypot(y[1]);
                x = if size > limit { y.map(|y| y * limit / size) } else { y };
            }
            assert!((x[0] - l[1]).abs() < 1e-6 && (x[1] - l[2]).abs() < 1e-6, "{x:?} {l:?}");
            seen += 1;
            slipping += usize::from(s[1].hypot(s[2]) > 1e-3);
        }
    }
    assert!(seen > 1000 && slipping > 100 && slipping < seen, "{seen} {slipping}");
}

#[test]
fn weak_solution_conditions_go_to_zero_with_the_step() {
    let mut scene = read("sphere-velocity");
    scene.bodies[0].velocity = Some(stiction::scene::Numbers(vec![1.0, 0.3, 0.0]));
    let steps = [2e-3, 1e-3, 5e-4, 2.5e-4, 6.25e-5];
    let study = converge(&scene, &steps, &[0.0, 0.5]).unwrap();
    for theta in [0.0, 0.5] {
        let own: Vec<_> = study.levels.iter().filter(|l| l.theta == theta).collect();
        let (long, short) = (own[0].weak, own[own.len() - 1].weak);
        for (name, a, b) in [
            ("dynamics", long.dynamics, short.dynamics),
            ("kinematics", long.kinematics, short.kinematics),
            ("deformation", long.deformation, short.deformation),
            ("complementarity", long.complementarity, short.complementarity),
            ("friction", long.friction, short.friction),
        ] {
            assert!(b < 0.2 * a || b < 1e-9, "theta {theta}, {name}: {a:e} -> {b:e}");
        }
        // (24), (26): constants stay as steps get shorter
        assert!(short.growth < 3.0 * long.growth && short.force < 2.0 * long.force, "{long:?} {short:?}");
        assert!(own.iter().all(|l| l.weak.state_bound <= 1.0));
    }
    for (theta, [q, v, _]) in &study.orders {
        assert!(*q > 0.8 && *v > 0.7, "theta {theta}: {q} {v}");
    }
}

/// A residual of one's own: the ball is to end at a distance from the origin, in whatever direction.
#[test]
fn a_nonlinear_residual_is_solved_through_the_library() {
    let scene = read("sphere-position");
    let problem = Problem::new(&scene).unwrap();
    let residual = |_: &State, end: &State| vec![end.position[0].hypot(end.position[1]) - 0.2];
    let slope = |[_, end]: [&State; 2], [_, tangent]: [&[f64]; 2]| {
        let r = end.position[0].hypot(end.position[1]);
        vec![(end.position[0] * tangent[0] + end.position[1] * tangent[1]) / r]
    };
    let answer = shoot(&problem.with_residual(Arc::new(residual), Arc::new(slope)));
    let found = &answer.solutions[0];
    assert!(found.miss() < 1e-9 && found.family == 1, "{found:?}");
}

/// A puck that slides: with theta = 0 its place is behind by `mu g t h / 2`, which errors against the event scheme show.
#[test]
fn errors_against_the_event_scheme_are_those_of_the_step() {
    let mut scene = read("puck");
    scene.boundary = None;
    scene.step.duration = 0.5;
    scene.set("body[puck].velocity", "[1.4, 0]").unwrap();
    let steps = [4e-3, 2e-3, 1e-3];
    let study = converge_against(&scene, &steps, &[0.0], Some(Scheme::Event)).unwrap();
    assert_eq!(study.levels.len(), 3);
    for (level, h) in study.levels.iter().zip(steps) {
        let errors = level.errors.unwrap();
        assert!((errors.position - 0.5 * 0.2 * 9.81 * 0.5 * h).abs() < 1e-7, "{errors:?} at {h}");
        assert!(errors.impulse.is_nan());
    }
    assert!((study.orders[0].1[0] - 1.0).abs() < 1e-3, "{:?}", study.orders);
}
