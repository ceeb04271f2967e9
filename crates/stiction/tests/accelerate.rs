//! Accelerations at an instant against closed forms: trinkle1995's problem with stick and slip, several solutions and none, soft
//! fingers, given joint accelerations, and equilibrium without mass.

use complementarity::report::Status;
use complementarity::solver::decide;
use stiction::analysis::accelerate::{Answer, Given, Jam, Question, Transition, accelerate};
use stiction::analysis::instant::Instant;
use stiction::inputs::Inputs;
use stiction::model::Model;
use stiction::step::Trust;

const G: f64 = 9.81;
const SCENES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes");

fn model(text: &str) -> Model {
    Model::new(&stiction::from_toml("scene", text).unwrap_or_else(|e| panic!("{e}\n{text}")))
        .expect("a valid scene")
}

fn file(name: &str, set: &[(&str, &str)]) -> Model {
    let set: Vec<(String, String)> = set.iter().map(|(p, v)| ((*p).to_owned(), (*v).to_owned())).collect();
    let scene = stiction::read_with(format!("{SCENES}/{name}"), &set).unwrap_or_else(|e| panic!("{e}"));
    Model::new(&scene).expect("a valid scene")
}

fn ask(model: &Model, question: &Question) -> Answer {
    accelerate(model, &model.initial(), question).unwrap_or_else(|e| panic!("{e}"))
}

fn all() -> Question {
    Question { all: true, ..Question::default() }
}

fn near(found: f64, expected: f64, share: f64) {
    assert!((found - expected).abs() <= share * expected.abs().max(1.0), "{found}, expected {expected}");
}

/// Wall and floor with friction leave one force open; its range is W / (2 (tan + mu)) to W / (2 (tan - mu)).
#[test]
fn a_ladder_stands_with_a_range_of_forces() {
    let model = file("trinkle1995/ladder.toml", &[]);
    let answer = ask(&model, &all());
    assert_eq!(answer.status(), Status::Several);
    assert!(answer.pyramid.complete);
    assert_eq!(answer.trust(), Trust::ForcesNotUnique);
    let [only] = &answer.pyramid.list[..] else { panic!("{:?}", answer.pyramid) };
    assert_eq!((only.dimension, only.unbounded), (1, false));
    assert!(only.accelerations.iter().all(|a| a.abs() < 1e-12));
    let (weight, tan, mu) = (10.0 * G, 3f64.sqrt(), 0.5);
    let [low, high] = answer.ranges[1];
    near(low, weight / (2.0 * (tan + mu)), 1e-9);
    near(high, weight / (2.0 * (tan - mu)), 1e-9);
    let [low, high] = answer.ranges[0];
    near(low, weight / 2.0 + tan * weight / (2.0 * (tan + mu)), 1e-9);
    near(high, weight / 2.0 + tan * weight / (2.0 * (tan - mu)), 1e-9);
    let conditions = answer.conditions.unwrap();
    assert_eq!((conditions.rows, conditions.rank, conditions.jam), (4, 3, Jam::None));
    assert!(conditions.exists);
}

/// Without friction a ladder of length L slips with theta'' = -3 g cos(theta) / (2 L); with friction it slips below (1 - mu^2) / (2 mu).
#[test]
fn a_ladder_slips_below_its_friction_limit() {
    let smooth = ask(&file("trinkle1995/ladder.toml", &[("material[default].friction", "0")]), &all());
    assert_eq!(smooth.status(), Status::Solved);
    // the ladder leans to the left: its angle grows in size
    near(smooth.pyramid.list[0].accelerations[2], 1.5 * G * 0.5 / 4.0, 1e-12);
    // tan 60 = (1 - mu^2) / (2 mu)
    let limit = -(3f64.sqrt()) + 2.0;
    for (mu, stands) in [(limit * 1.001, true), (limit * 0.999, false)] {
        let model = file("trinkle1995/ladder.toml", &[("material[default].friction", &format!("{mu}"))]);
        let answer = ask(&model, &Question::default());
        assert_eq!(answer.status(), Status::Solved);
        let moves = answer.pyramid.list[0].accelerations.iter().any(|a| a.abs() > 1e-9);
        assert_eq!(moves, !stands, "mu = {mu}");
    }
}

/// The wedge is driven out by m g tan(a) / (M + m tan(a)^2) without friction, and locks itself by m tan(a - phi) <= mu (m + M).
#[test]
fn a_wedge_moves_as_computed_by_hand_and_locks_at_its_limit() {
    let (m, wedge, tan) = (3.0, 2.0, 1.0 / 3f64.sqrt());
    let answer = ask(&file("trinkle1995/wedge.toml", &[]), &all());
    assert_eq!(answer.status(), Status::Solved);
    let out = m * G * tan / (wedge + m * tan * tan);
    near(answer.pyramid.list[0].accelerations[0], out, 1e-12);
    near(answer.pyramid.list[0].accelerations[3], -out * tan, 1e-12);
    let excess = |mu: f64| m * (tan - mu) / (1.0 + mu * tan) - mu * (m + wedge);
    let (mut low, mut high) = (0.0, 1.0);
    while high - low > 1e-12 {
        let middle = 0.5 * (low + high);
        if excess(middle) > 0.0 { low = middle } else { high = middle }
    }
    for (mu, locks) in [(low * 1.001, true), (low * 0.999, false)] {
        let model = file("trinkle1995/wedge.toml", &[("material[default].friction", &format!("{mu}"))]);
        let answer = ask(&model, &Question::default());
        assert_eq!(answer.status(), Status::Solved, "mu = {mu}");
        let moves = answer.pyramid.list[0].accelerations.iter().any(|a| a.abs() > 1e-9);
        assert_eq!(moves, !locks, "mu = {mu}");
    }
}

/// Two fingers that are held leave the squeeze open: from m g / (2 mu) on the disc is held, below it falls with g - 2 mu N / m.
#[test]
fn a_grasp_has_its_null_space_and_two_motions() {
    let model = file("trinkle1995/grasp.toml", &[]);
    let held = Given { accelerations: vec![(0, 0.0), (1, 0.0)], ..Given::default() };
    let answer = ask(&model, &Question { given: held, ..all() });
    assert_eq!((answer.status(), answer.pyramid.complete), (Status::Several, true));
    assert_eq!((answer.pyramid.list.len(), answer.trust()), (2, Trust::MotionNotUnique));
    let least = G / (2.0 * 0.4);
    for possible in &answer.pyramid.list {
        assert_eq!(possible.dimension, 1);
        let [low, high] = possible.ranges[0];
        let normal = possible.contacts[0].force[0];
        near(normal, possible.contacts[1].force[0], 1e-12);
        near(possible.efforts[0], normal, 1e-12);
        near(possible.efforts[1] + 20.0, normal, 1e-12);
        if possible.unbounded {
            near(low, least, 1e-9);
            assert_eq!(high, f64::INFINITY);
            assert!(possible.accelerations[3].abs() < 1e-12);
            assert!(possible.contacts.iter().all(|c| c.transition == Transition::StickToStick));
        } else {
            near(low, 0.0, 1e-9);
            near(high, least, 1e-9);
            near(possible.accelerations[3], -G + 2.0 * 0.4 * normal, 1e-12);
            assert!(possible.contacts.iter().all(|c| c.transition == Transition::StickToSlip));
        }
    }
    let conditions = answer.conditions.unwrap();
    assert_eq!((conditions.rank, conditions.rows, conditions.jam), (3, 4, Jam::Holds));
    // one finger held, the other pushes with 20 N
    let held = Given { accelerations: vec![(0, 0.0)], ..Given::default() };
    let answer = ask(&model, &Question { given: held, ..all() });
    assert_eq!((answer.status(), answer.trust()), (Status::Solved, Trust::Unique));
    let only = &answer.pyramid.list[0];
    near(only.efforts[0], 20.0, 1e-12);
    near(only.contacts[0].force[0], 20.0, 1e-12);
    near(only.contacts[0].force[1].abs(), G / 2.0, 1e-12);
}

/// A_nn + mu A_nt is negative above mu = 1.75 / 1.299: with a load that lifts the end two solutions, with one that presses it none.
#[test]
fn a_sliding_rod_has_two_solutions_or_none() {
    let (sin, cos) = (60f64.to_radians().sin(), 0.5);
    // 1/m + (l^2 / I) cos^2 and (l^2 / I) sin cos
    let (nn, nt) = (1.0 + 3.0 * cos * cos, 3.0 * sin * cos);
    let answer = ask(&file("trinkle1995/rod.toml", &[]), &all());
    assert_eq!((answer.status(), answer.pyramid.complete), (Status::Several, true));
    let lift = -G + 0.5 * cos * 4.0 * 12.0;
    let forces: Vec<f64> = answer.pyramid.list.iter().map(|p| p.contacts[0].force[0]).collect();
    assert_eq!(forces.len(), 2);
    near(forces[0].max(forces[1]), -lift / (nn - 3.0 * nt), 1e-12);
    near(forces[0].min(forces[1]), 0.0, 1e-12);
    let transitions: Vec<Transition> = answer.pyramid.list.iter().map(|p| p.contacts[0].transition).collect();
    assert!(transitions.contains(&Transition::SlipToSlip) && transitions.contains(&Transition::SlipToOpen));
    let conditions = answer.conditions.clone().unwrap();
    assert_eq!((conditions.p_matrix, conditions.exists, conditions.unique), (Some(false), false, false));
    near(conditions.mu_bar_existence.unwrap(), nn / nt, 1e-9);
    // below mu-bar there is one
    let mu = format!("{}", 0.999 * nn / nt);
    let answer = ask(&file("trinkle1995/rod.toml", &[("material[default].friction", &mu)]), &all());
    let conditions = answer.conditions.clone().unwrap();
    assert_eq!((answer.status(), conditions.p_matrix, conditions.unique), (Status::Solved, Some(true), true));

    let model = file("painleve-rod.toml", &[]);
    let answer = ask(&model, &Question::default());
    assert_eq!((answer.status(), answer.trust()), (Status::NoSolution, Trust::NoRigidSolution));
    let proof = answer.pyramid.proof.clone().unwrap();
    let instant = Instant::at(&model, &model.initial(), &Inputs::default()).unwrap();
    let problem = instant.instant_problem().unwrap().as_pyramid().unwrap().problem;
    assert!(decide::verify(&problem, &proof).is_ok());
    assert!(answer.words().iter().any(|w| w.contains("proved by")));
}

/// A box pushed along the diagonal: the cone brakes it with mu m g, the pyramid with sqrt(2) mu m g.
#[test]
fn cone_and_pyramid_differ_along_the_diagonal() {
    let (mu, mass, push) = (0.3, 2.0, 10.0);
    let model = model(&format!(
        "[[material]]\nname = 'default'\nfriction = {mu}\n[[world]]\nname = 'ground'\nshape = 'half_space'\n\
         [[body]]\nname = 'box'\nshape = {{ box = {{ half = [0.5, 0.5, 0.01] }} }}\nmass = {mass}\nposition = [0, 0, 0.01]\n\
         [[load]]\nbody = 'box'\npoint = [0, 0, -0.01]\nforce = {{ constant = [{push}, {push}, 0] }}\n"
    ));
    let answer = ask(&model, &Question::default());
    let along = |p: &[f64]| (p[0] + p[1]) / 2f64.sqrt();
    let cone = &answer.cone.as_ref().unwrap().list[0];
    near(along(&cone.accelerations), 2f64.sqrt() * push / mass - mu * G, 1e-9);
    let pyramid = &answer.pyramid.list[0];
    near(along(&pyramid.accelerations), 2f64.sqrt() * (push / mass - mu * G), 1e-9);
    assert!(cone.within_cone && !pyramid.within_cone);
    assert!(answer.words().iter().any(|w| w.contains("violate")));
}

/// A ball that is turned about the vertical: torsional friction holds up to mu e m g, and brakes beyond; while it spins already it brakes at once.
#[test]
fn a_soft_finger_holds_a_moment() {
    let (torsion, mass, radius) = (0.01, 2.0, 0.1);
    let inertia = 0.4 * mass * radius * radius;
    // torsion is the moment for a normal force of 1 N
    let most = torsion * mass * G;
    for (torque, spin) in [(0.9 * most, 0.0), (1.5 * most, 0.0), (0.0, 3.0)] {
        let model = model(&format!(
            "[[material]]\nname = 'default'\nfriction = 0.5\ntorsion = {torsion}\n[[world]]\nname = 'ground'\nshape = 'half_space'\n\
             [[body]]\nname = 'ball'\nshape = {{ sphere = {{ radius = {radius} }} }}\nmass = {mass}\nposition = [0, 0, {radius}]\n\
             angular_velocity = [0, 0, {spin:?}]\n[[load]]\nbody = 'ball'\ntorque = {{ constant = [0, 0, {torque:?}] }}\n"
        ));
        let answer = ask(&model, &all());
        assert_eq!(answer.status(), Status::Solved);
        let (held, transition) = match (spin > 0.0, torque < most) {
            (true, _) => (-most, Transition::SlipToSlip),
            (false, true) => (-torque, Transition::StickToStick),
            (false, false) => (-most, Transition::StickToSlip),
        };
        let cone = answer.cone.clone().unwrap();
        for possible in [&answer.pyramid.list[0], &cone.list[0]] {
            near(possible.contacts[0].moment[0], held, 1e-9);
            near(possible.accelerations[5], (torque + held) / inertia, 1e-9);
            assert_eq!(possible.contacts[0].transition, transition);
        }
    }
}

/// A cart whose acceleration is given carries a pendulum: theta'' = (g sin - a cos) / l, and the effort that takes.
#[test]
fn joints_have_effort_or_acceleration_given() {
    let (cart, bob, l, theta, rate, a) = (3.0, 0.7, 0.8, 0.4f64, 1.1, 2.3);
    let model = model(&format!(
        "planar = true\n[[body]]\nname = 'cart'\nmass = {cart}\ninertia = 1\njoint = {{ prismatic = {{ axis = [1, 0] }} }}\n\
         [[body]]\nname = 'bob'\nparent = 'cart'\nmass = {bob}\ninertia = 1e-30\ncenter = [0, {l}]\njoint = {{ revolute = {{}} }}\n\
         angle = {}\nangular_velocity = {}\n",
        -theta, -rate
    ));
    // the angle is counted clockwise from above
    let turning = (G * theta.sin() - a * theta.cos()) / l;
    let effort = (cart + bob) * a + bob * l * (turning * theta.cos() - rate * rate * theta.sin());
    let given = Given { accelerations: vec![(0, a)], ..Given::default() };
    let answer = ask(&model, &Question { given, ..Question::default() });
    let only = &answer.pyramid.list[0];
    near(only.accelerations[1], -turning, 1e-12);
    near(only.efforts[0], effort, 1e-12);
    // and the other way round
    let inputs = Inputs { efforts: vec![effort, 0.0], ..Inputs::default() };
    let answer =
        ask(&model, &Question { given: Given { inputs, ..Given::default() }, ..Question::default() });
    near(answer.pyramid.list[0].accelerations[0], a, 1e-12);
    let twice = Given { accelerations: vec![(0, a), (0, a)], ..Given::default() };
    let question = Question { given: twice, ..Question::default() };
    assert!(
        accelerate(&model, &model.initial(), &question)
            .unwrap_err()
            .to_string()
            .contains("degree of freedom 0")
    );
}

/// Euler's equations of a free body, which the contacts of a model must see too.
#[test]
fn velocity_products_are_part_of_the_accelerations() {
    let (i, w) = ([2.0, 3.0, 4.0], [0.7, -1.3, 2.1]);
    let model = model(&format!(
        "gravity = [0, 0, 0]\n[[body]]\nname = 'top'\nmass = 1\ninertia = {i:?}\nangular_velocity = {w:?}\n"
    ));
    let answer = ask(&model, &Question::default());
    let turning = &answer.pyramid.list[0].accelerations[3..];
    for k in 0..3 {
        let (p, q) = ((k + 1) % 3, (k + 2) % 3);
        near(turning[k], (i[p] - i[q]) * w[p] * w[q] / i[k], 1e-12);
    }
}

/// A joint at its limit carries the load; a joint with friction holds up to its limit, and brakes while it moves.
#[test]
fn joint_limits_and_joint_friction_take_part() {
    let joint = |settings: &str, angle: f64, rate: f64| {
        model(&format!(
            "planar = true\n[[body]]\nname = 'arm'\nmass = 2\ninertia = 0.5\ncenter = [0.5, 0]\n\
             joint = {{ revolute = {{ {settings} }} }}\nangle = {angle:?}\nangular_velocity = {rate:?}\n"
        ))
    };
    let (load, inertia) = (2.0 * G * 0.5, 0.5 + 2.0 * 0.25);
    let stopped = ask(&joint("limits = [0, 1]", 0.0, 0.0), &all());
    near(stopped.pyramid.list[0].standing[0], load, 1e-12);
    assert!(stopped.pyramid.list[0].accelerations[0].abs() < 1e-12);
    let held = ask(&joint("friction = 20", 0.0, 0.0), &all());
    near(held.pyramid.list[0].standing[0], load, 1e-12);
    let weak = ask(&joint("friction = 4", 0.0, 0.0), &all());
    near(weak.pyramid.list[0].accelerations[0], (4.0 - load) / inertia, 1e-12);
    let moving = ask(&joint("friction = 4", 0.0, 1.5), &all());
    assert!(moving.standing.is_empty());
    near(moving.pyramid.list[0].accelerations[0], (-4.0 - load) / inertia, 1e-12);
}

/// Equilibrium without mass: a block on a spring-held slide is pushed against a wall; stiffness and given displacements close it.
#[test]
fn the_quasistatic_problem_is_an_equilibrium() {
    let text = "planar = true\ngravity = [0, 0]\n[[material]]\nname = 'default'\nfriction = 0\n\
                [[world]]\nname = 'wall'\nshape = 'half_space'\nangle_deg = -90\n\
                [[body]]\nname = 'slide'\njoint = { prismatic = { axis = [1, 0] } }\nmount = { position = [0.1, 0] }\nmass = 1\n\
                shape = { sphere = { radius = 0.1 } }\n\
                [[body]]\nname = 'pusher'\njoint = { prismatic = { axis = [1, 0] } }\nmount = { position = [0.3, 0] }\nmass = 1\n\
                shape = { sphere = { radius = 0.1 } }\n[[load]]\nbody = 'pusher'\nforce = { constant = [FORCE, 0] }\n";
    // pulled away from the other, the pusher moves by F / k
    let question = |stiffness: &[(usize, f64)], given: &[(usize, f64)]| Question {
        quasistatic: Some(stiffness.to_vec()),
        given: Given { accelerations: given.to_vec(), ..Given::default() },
        ..all()
    };
    let away = model(&text.replace("FORCE", "3"));
    let answer = ask(&away, &question(&[(0, 50.0), (1, 200.0)], &[]));
    assert_eq!(answer.status(), Status::Solved);
    near(answer.pyramid.list[0].accelerations[1], 3.0 / 200.0, 1e-12);
    // pressed, it hands the force on to the wall, with nothing but the wall to hold it
    let pressed = model(&text.replace("FORCE", "-3"));
    let answer = ask(&pressed, &question(&[], &[]));
    assert_eq!(answer.status(), Status::Solved);
    assert!(answer.pyramid.list[0].contacts.iter().all(|c| (c.force[0] - 3.0).abs() < 1e-12));
    // moved by a given displacement, it takes the slide along a spring of 50 N/m
    let mut free = text.replace("FORCE", "0");
    free = free.replace("angle_deg = -90", "angle_deg = -90\nposition = [-1, 0]");
    let answer = ask(&model(&free), &question(&[(0, 50.0)], &[(1, -0.01)]));
    near(answer.pyramid.list[0].accelerations[0], -0.01, 1e-12);
    near(answer.pyramid.list[0].efforts[0], -0.5, 1e-12);
    let wrong = accelerate(&away, &away.initial(), &question(&[(0, -1.0)], &[])).unwrap_err();
    assert!(wrong.to_string().contains("stiffness of degree of freedom 0 is -1"));
}

/// Sliding and rolling contacts together, in space: residuals of both laws, and Proposition 1.
#[test]
fn sliding_and_rolling_contacts_are_solved_under_both_laws() {
    // a disc spins about one foot that rests: two others slide
    let (mu, spin) = (0.4, 2.0);
    let model = model(&format!(
        "[[material]]\nname = 'default'\nfriction = {mu}\n[[world]]\nname = 'ground'\nshape = 'half_space'\n\
         [[body]]\nname = 'stool'\nmass = 3\ninertia = [0.1, 0.1, 0.2]\ncenter = [0.05, 0.01, 0.2]\n\
         position = [0, 0, 0.02]\nangular_velocity = [0, 0, {spin}]\n\
         [[body.part]]\nshape = {{ sphere = {{ radius = 0.02 }} }}\n\
         [[body.part]]\nshape = {{ sphere = {{ radius = 0.02 }} }}\nposition = [0.3, 0.2, 0]\n\
         [[body.part]]\nshape = {{ sphere = {{ radius = 0.02 }} }}\nposition = [0.2, -0.3, 0]\n"
    ));
    let answer = ask(&model, &all());
    assert_eq!(answer.contacts.iter().map(|c| c.slips).collect::<Vec<_>>(), [false, true, true]);
    let cone = answer.cone.as_ref().unwrap();
    assert_eq!((answer.status(), cone.status), (Status::Solved, Status::Solved));
    for p in answer.pyramid.list.iter().chain(&cone.list) {
        assert!(p.residual.relative < 1e-10, "{:?}", p.residual);
        // friction of the sliding feet is against their velocity
        for (at, c) in answer.contacts.iter().zip(&p.contacts).skip(1) {
            let speed = at.velocity[1].hypot(at.velocity[2]);
            for k in 1..3 {
                near(c.force[k], -mu * c.force[0] * at.velocity[k] / speed, 1e-9);
            }
        }
        // the vertical forces carry the weight, and the moments of all forces are the change of the angular momentum
        near(p.contacts.iter().map(|c| c.force[0]).sum::<f64>(), 3.0 * G, 1e-9);
    }
    let first = &cone.list[0].contacts[0];
    assert!(first.force[1].hypot(first.force[2]) <= mu * first.force[0] * (1.0 + 1e-9));
}

/// Forces of compliant contacts follow from their deformation.
#[test]
fn compliant_contacts_are_refused_unless_they_count_as_rigid() {
    let model = model(
        "[[material]]\nname = 'default'\nlaw = { kelvin_voigt = { stiffness = [1e6, 8e5], damping = [10, 10] } }\n\
         [[world]]\nname = 'ground'\nshape = 'half_space'\n[[body]]\nname = 'ball'\nmass = 1\n\
         shape = { sphere = { radius = 0.1 } }\nposition = [0, 0, 0.1]\n",
    );
    let refused = accelerate(&model, &model.initial(), &Question::default()).unwrap_err();
    assert!(refused.to_string().contains("expected a rigid contact"), "{refused}");
    let given = Given { rigid: true, ..Given::default() };
    let answer = ask(&model, &Question { given, ..Question::default() });
    near(answer.pyramid.list[0].contacts[0].force[0], G, 1e-12);
}
