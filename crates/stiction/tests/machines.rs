//! Joints and drives against closed forms: springs, stops, armature, screw, universal and cylindrical joints,
//! servos, prescribed motion, moving surfaces.

use stiction::inputs::Inputs;
use stiction::scene::Scene;
use stiction::state::State;
use stiction::step::{Status, StepReport};
use stiction::stepper::Stepper;

const G: f64 = 9.81;

fn start(text: &str) -> (Stepper, State) {
    let scene = stiction::from_toml("machine.toml", text).unwrap_or_else(|e| panic!("{e}"));
    let stepper = Stepper::new(scene).expect("a valid model");
    let state = stepper.initial();
    (stepper, state)
}

/// Steps until a time; every residual is small. Returns the sums of the reports.
fn go(stepper: &mut Stepper, state: &mut State, until: f64) -> StepReport {
    let mut sum = StepReport::default();
    while state.time < until - 1e-9 {
        let report = stepper.step(state).unwrap_or_else(|e| panic!("{e}"));
        assert!(report.residual.relative <= 1e-9, "{report:?}");
        sum.work += report.work;
        sum.damping_loss += report.damping_loss;
        sum.friction_loss += report.friction_loss;
        sum.constraint_work += report.constraint_work;
        sum.violation = sum.violation.max(report.violation);
    }
    sum
}

/// A slide of 2 kg along x, without weight along it.
fn slide(joint: &str, rest: &str) -> String {
    format!(
        "[[body]]\nname = \"slide\"\nmass = 2\ninertia = [1, 1, 1]\n\
         joint = {{ prismatic = {{ axis = [1, 0, 0]{joint} }} }}\n{rest}\n"
    )
}

/// Damped oscillation about the rest position: x = rest - rest e^(-d t) (cos w t + d/w sin w t).
#[test]
fn a_spring_in_a_joint_oscillates_about_its_rest() {
    let (k, c, rest, m, h) = (50.0, 4.0, 0.3, 2.0, 1e-5);
    let text = slide(
        &format!(", stiffness = {k}, damping = {c}, rest = {rest}"),
        &format!("[step]\nh = {h}\nduration = 1"),
    );
    let (mut stepper, mut state) = start(&text);
    let begin = stepper.energy(&state).potential;
    assert!((begin - 0.5 * k * rest * rest).abs() < 1e-12);
    let sum = go(&mut stepper, &mut state, 0.5);
    let (d, t): (f64, f64) = (c / (2.0 * m), 0.5);
    let w = (k / m - d * d).sqrt();
    let x = rest - rest * (-d * t).exp() * ((w * t).cos() + d / w * (w * t).sin());
    assert!((state.position[0] - x).abs() < 2e-4 * rest, "{} for {x}", state.position[0]);
    let end = stepper.energy(&state);
    let balance = end.kinetic + end.potential + sum.damping_loss - begin;
    assert!(balance.abs() < 1e-9 * begin, "{balance}");
}

/// A motor of constant effort moves a slide with armature as one of more mass: a = F / (m + armature).
#[test]
fn armature_adds_to_the_inertia_of_the_joint() {
    let drive = "[[motor]]\nbody = \"slide\"\neffort = { constant = 10 }";
    let (mut stepper, mut state) = start(&slide(", armature = 3", drive));
    let _ = go(&mut stepper, &mut state, 1.0);
    assert!((state.velocity[0] - 2.0).abs() < 1e-12, "{:?}", state.velocity);
    assert!((stepper.energy(&state).kinetic - 0.5 * 5.0 * 4.0).abs() < 1e-11);
    // the centre of mass of a root with armature is not free: a pendulum on a heavy drive keeps its energy
    let (mut stepper, mut state) = start(
        "[[body]]\nname = \"cart\"\nmass = 1\ninertia = [1, 1, 1]\nvelocity = 0.5\n\
         joint = { prismatic = { axis = [1, 0, 0], armature = 4 } }\n\
         [[body]]\nname = \"rod\"\nparent = \"cart\"\nmass = 1\ncenter = [0, 0, -1]\ninertia = [0.1, 0.1, 0.1]\n\
         angle = 1\nangular_velocity = 2\njoint = { revolute = { axis = [0, 1, 0], armature = 0.3 } }\n\
         [step]\nh = 1e-4\n",
    );
    let total = |stepper: &mut Stepper, state: &State| {
        let e = stepper.energy(state);
        e.kinetic + e.potential
    };
    let begin = total(&mut stepper, &state);
    for _ in 0..20_000 {
        let _ = stepper.step(&mut state).expect("no step fails");
        let now = total(&mut stepper, &state);
        assert!((now - begin).abs() < 2e-3, "{} at {}", now - begin, state.time);
    }
}

/// A nut on a vertical screw: (I + m p^2) w' = -m g p, p = pitch / 2 pi.
#[test]
fn a_nut_turns_down_its_screw() {
    let (m, i, pitch): (f64, f64, f64) = (0.5, 0.02, 0.4);
    let (mut stepper, mut state) = start(&format!(
        "[[body]]\nname = \"nut\"\nmass = {m}\ninertia = [0.03, 0.03, {i}]\n\
         joint = {{ screw = {{ pitch = {pitch} }} }}\n"
    ));
    let _ = go(&mut stepper, &mut state, 1.0);
    let p = pitch / std::f64::consts::TAU;
    let spin = -m * G * p / (i + m * p * p);
    assert!((state.velocity[0] - spin).abs() < 1e-11, "{:?} for {spin}", state.velocity);
    let height = stepper.kinematics(&state).pose(0).position[2];
    assert!((height - p * state.position[0]).abs() < 1e-14 && state.position[0] < -1.0);
}

/// A universal joint is two hinges one after the other; the body between them has no mass.
#[test]
fn a_universal_joint_moves_as_two_hinges() {
    let rod = "mass = 1\ncenter = [0.2, 0.1, -0.5]\ninertia = [0.1, 0.12, 0.05]\n";
    let (mut one, mut a) = start(&format!(
        "[[body]]\nname = \"rod\"\n{rod}angles = [0.5, -0.3]\nangular_velocity = [1, 2]\n\
         joint = {{ universal = {{}} }}\n"
    ));
    let (mut two, mut b) = start(&format!(
        "[[body]]\nname = \"cross\"\nmass = 1e-9\ninertia = [1e-9, 1e-9, 1e-9]\nangle = 0.5\nangular_velocity = 1\n\
         joint = {{ revolute = {{ axis = [1, 0, 0] }} }}\n\
         [[body]]\nname = \"rod\"\nparent = \"cross\"\n{rod}angle = -0.3\nangular_velocity = 2\n\
         joint = {{ revolute = {{ axis = [0, 1, 0] }} }}\n"
    ));
    let _ = go(&mut one, &mut a, 1.0);
    let _ = go(&mut two, &mut b, 1.0);
    for k in 0..2 {
        assert!((a.position[k] - b.position[k]).abs() < 1e-6, "{:?} {:?}", a.position, b.position);
    }
    let placed = |s: &mut Stepper, state: &State, body: usize| s.kinematics(state).pose(body);
    let (p, q) = (placed(&mut one, &a, 0), placed(&mut two, &b, 1));
    assert!(p.attitude.0.iter().zip(q.attitude.0).all(|(x, y)| (x - y).abs() < 1e-6));
}

/// A free cylinder on a cylindrical joint falls along it and keeps its spin; limits and friction act on each motion alone.
#[test]
fn a_cylindrical_joint_slides_and_turns_independently() {
    let (mut stepper, mut state) = start(
        "[[body]]\nname = \"sleeve\"\nmass = 2\ninertia = [0.1, 0.1, 0.05]\nangular_velocity = 3\n\
         joint = { cylindrical = { rotation = { friction = 0.1 }, translation = { limits = [-0.5, 1] } } }\n",
    );
    let _ = go(&mut stepper, &mut state, 0.2);
    let slowed = 3.0 - 0.1 / 0.05 * 0.2;
    assert!((state.velocity[0] + G * 0.2).abs() < 1e-12 && (state.velocity[1] - slowed).abs() < 1e-9);
    let _ = go(&mut stepper, &mut state, 2.0);
    assert!((state.position[0] + 0.5).abs() < 1e-9, "{state:?}");
    assert!(state.velocity.iter().all(|v| v.abs() < 1e-12), "{state:?}");
    let names: Vec<String> = stepper.model().standing().iter().map(|r| r.name(stepper.scene())).collect();
    assert_eq!(names.len(), 3);
    assert!(names.iter().all(|name| name.starts_with("sleeve (joint ")), "{names:?}");
}

/// A stop gives back e times the velocity, wherever in a step the impact falls.
#[test]
fn a_rigid_stop_returns_its_restitution() {
    for place in [0.1, 0.1003, 0.1007] {
        let text = slide(
            &format!(", limits = [-1, {place}], stop = {{ restitution = 0.6 }}, friction = 1e-9"),
            "velocity = 2",
        );
        let (mut stepper, mut state) = start(&text);
        let _ = go(&mut stepper, &mut state, 0.2);
        assert!((state.velocity[0] + 1.2).abs() < 1e-8, "{:?}", state.velocity);
    }
    // two links: the impact at the knee goes through the hip too, and makes no energy
    let (mut stepper, mut state) = start(
        "planar = true\ngravity = [0, 0]\n[[body]]\nname = \"thigh\"\nmass = 1\ncenter = [0.5, 0]\ninertia = 0.1\n\
         joint = { revolute = {} }\n\
         [[body]]\nname = \"shank\"\nparent = \"thigh\"\nmass = 1\ncenter = [0.5, 0]\ninertia = 0.1\n\
         mount = { position = [1, 0] }\nangular_velocity = 3\n\
         joint = { revolute = { limits = [-1, 0.2], stop = { restitution = 1 } } }\n",
    );
    let begin = stepper.energy(&state).kinetic;
    let _ = go(&mut stepper, &mut state, 0.3);
    let end = stepper.energy(&state).kinetic;
    assert!(state.velocity[1] < -0.5 && (end - begin).abs() < 0.01 * begin, "{end} of {begin}");
}

/// A compliant stop yields F/K under a steady force, and returns a slide by half an oscillation: peak force v sqrt(K m).
#[test]
fn a_compliant_stop_is_the_spring_it_says() {
    let push = "[[motor]]\nbody = \"slide\"\neffort = { constant = 10 }";
    let stop = ", limits = [-1, 0.1], stop = { stiffness = 1e4, damping = 300 }";
    let (mut stepper, mut state) = start(&slide(stop, push));
    let _ = go(&mut stepper, &mut state, 2.0);
    assert!((state.position[0] - 0.101).abs() < 1e-9, "{:?}", state.position);

    let stop = ", limits = [-1, 0.1], stop = { stiffness = 1e4 }";
    let (mut stepper, mut state) = start(&slide(stop, "velocity = 1\n[step]\nh = 1e-5"));
    let mut most = 0.0f64;
    while state.time < 0.2 {
        let _ = stepper.step(&mut state).expect("no step fails");
        most = stepper.workspace().standing.iter().fold(most, |m, row| m.max(-row.effort));
    }
    let peak = (1e4f64 * 2.0).sqrt();
    assert!((most - peak).abs() < 2e-3 * peak, "{most} for {peak}");
    assert!((state.velocity[0] + 1.0).abs() < 5e-3, "{:?}", state.velocity);
}

/// A velocity drive with bounded effort accelerates at F/m until its velocity, then holds it against a load.
#[test]
fn a_velocity_drive_reaches_its_velocity_with_its_largest_effort() {
    let drive = "[[motor]]\nbody = \"slide\"\nvelocity = { constant = 1 }\nmax_effort = 8\n\
                 [[load]]\nbody = \"slide\"\nforce = { constant = [-2, 0, 0] }";
    let (mut stepper, mut state) = start(&slide("", drive));
    let mut sum = go(&mut stepper, &mut state, 0.2);
    // (8 - 2) / 2 kg
    assert!((state.velocity[0] - 0.6).abs() < 1e-9, "{:?}", state.velocity);
    assert_eq!(stepper.workspace().standing[0].status, Status::Slip);
    sum.work += go(&mut stepper, &mut state, 1.0).work;
    let row = stepper.workspace().standing[0];
    assert!(
        (state.velocity[0] - 1.0).abs() < 1e-12
            && (row.effort - 2.0).abs() < 1e-9
            && row.status == Status::Stick
    );
    // work of drive and load together is the kinetic energy, to the order of h
    assert!((sum.work - 1.0).abs() < 5e-3, "{}", sum.work);
    // with a gain: v = target - F / damping
    let drive = drive.replace("max_effort = 8", "damping = 20");
    let (mut stepper, mut state) = start(&slide("", &drive));
    let _ = go(&mut stepper, &mut state, 5.0);
    assert!((state.velocity[0] - 0.9).abs() < 1e-9, "{:?}", state.velocity);
}

/// A position servo holds a load at F/k from its target, stiff gains and long steps included, and gives way at its bound.
#[test]
fn a_position_servo_is_its_spring_and_its_bound() {
    let servo = |k: f64, d: f64, most: &str, load: f64| {
        let text = slide(
            "",
            &format!(
                "[[motor]]\nbody = \"slide\"\nposition = {{ constant = 0.2 }}\nstiffness = {k}\ndamping = {d}\n{most}\n\
                 [[load]]\nbody = \"slide\"\nforce = {{ constant = [{load}, 0, 0] }}\n[step]\nh = 0.01\nduration = 5"
            ),
        );
        let (mut stepper, mut state) = start(&text);
        let _ = go(&mut stepper, &mut state, 5.0);
        (state.position[0], stepper.workspace().standing[0])
    };
    for (k, d) in [(100.0, 30.0), (1e6, 1e4), (1e9, 0.0)] {
        let (x, row) = servo(k, d, "", -5.0);
        assert!((x - (0.2 - 5.0 / k)).abs() < 1e-9 && (row.effort - 5.0).abs() < 1e-6, "{k}: {x} {row:?}");
    }
    let (x, row) = servo(1e6, 1e4, "max_effort = 4", -5.0);
    // (4 - 5) / 2 kg over 5 s
    assert!(
        (x + 0.5 * 0.5 * 25.0).abs() < 0.2 && row.effort == 4.0 && row.status == Status::Slip,
        "{x} {row:?}"
    );
}

/// Prescribed joints of an arm with two links: positions are exact in every step, and the effort is that of the inverse
/// dynamics of one link, I q'' + m g l cos q.
#[test]
fn prescribed_joints_are_where_they_are_told() {
    let text = |second: &str| {
        format!(
            "planar = true\n[[body]]\nname = \"upper\"\nmass = 2\ncenter = [0.3, 0]\ninertia = 0.05\n\
             joint = {{ revolute = {{}} }}\n\
             [[body]]\nname = \"fore\"\nparent = \"upper\"\nmass = 1\ncenter = [0.2, 0]\ninertia = 0.01\n\
             mount = {{ position = [0.6, 0] }}\njoint = {{ {second} }}\n\
             [[motor]]\nbody = \"upper\"\nposition = {{ sinusoid = {{ amplitude = 0.8, frequency = 2 }} }}\n[step]\nh = 1e-4\n"
        )
    };
    let (mut stepper, mut state) = start(&text("revolute = {}"));
    let w = std::f64::consts::TAU * 2.0;
    state.velocity[0] = 0.8 * w;
    let mut sum = 0.0;
    for _ in 0..5000 {
        let report = stepper.step(&mut state).unwrap_or_else(|e| panic!("{e}"));
        assert!((state.position[0] - 0.8 * (w * state.time).sin()).abs() < 1e-11, "{}", state.time);
        assert!(report.violation < 1e-11);
        sum += report.work;
    }
    let end = stepper.energy(&state);
    let (mut again, first) = start(&text("revolute = {}"));
    let begin = again.energy(&State { velocity: vec![0.8 * w, 0.0], ..first });
    let gained = end.kinetic + end.potential - begin.kinetic - begin.potential;
    assert!((sum - gained).abs() < 0.02 * end.kinetic, "{sum} for {gained}");

    let (mut stepper, mut state) = start(&text("\"fixed\"").replace("{ \"fixed\" }", "\"fixed\""));
    state.velocity[0] = 0.8 * w;
    let (i, moment) = (0.05 + 2.0 * 0.09 + 0.01 + 0.64, 2.0 * 0.3 + 0.8);
    let mut worst = 0.0f64;
    for k in 0..5000 {
        let _ = stepper.step(&mut state).unwrap_or_else(|e| panic!("{e}"));
        let t = state.time - 1e-4;
        let (q, a) = (0.8 * (w * t).sin(), -0.8 * w * w * (w * t).sin());
        let expected = i * a + G * moment * q.cos();
        if k > 2 {
            worst = worst.max((stepper.workspace().standing[0].effort - expected).abs());
        }
    }
    assert!(worst < 2e-3 * i * 0.8 * w * w, "{worst}");
}

/// Inputs replace the targets of motors step by step, by name.
#[test]
fn inputs_drive_joints_by_name() {
    let drive = "[[motor]]\nbody = \"slide\"\nposition = { constant = 0 }\n";
    let (mut stepper, mut state) = start(&slide("", drive));
    let (model, mut inputs, h) = (stepper.model().clone(), Inputs::default(), 1e-3);
    for k in 1..=100 {
        let x = 1e-4 * f64::from(k);
        inputs.set_target(&model, "slide", 0, x).expect("a motor");
        let _ = stepper.step_by(&mut state, &inputs, h).expect("no step fails");
        assert!((state.position[0] - x).abs() < 1e-13);
    }
    assert!(inputs.set_target(&model, "slid", 0, 0.0).expect_err("no body").to_string().contains("slid"));
    assert!(
        inputs.set_effort(&model, "slide", 1, 0.0).expect_err("one dof").to_string().contains("1 degrees")
    );
    inputs.clear();
    let (mut stepper, mut state) = start(&slide("", ""));
    inputs.set_effort(&model, "slide", 0, 4.0).expect("a joint");
    inputs.push(&model, "slide", [2.0, 0.0, 0.0], [0.0; 3]).expect("a body");
    for _ in 0..100 {
        let _ = stepper.step_by(&mut state, &inputs, h).expect("no step fails");
    }
    assert!((state.velocity[0] - 0.3).abs() < 1e-12, "{:?}", state.velocity);
}

/// A box dropped on a belt slides at mu g until it has the belt's velocity; the belt does twice the work the box gets.
#[test]
fn a_conveyor_takes_a_box_along() {
    let (mut stepper, mut state) = start(
        "[[material]]\nname = \"default\"\nfriction = 0.4\n\
         [[world]]\nname = \"belt\"\nshape = \"half_space\"\nsurface_velocity = { constant = [1.5, 0, 0] }\n\
         [[body]]\nname = \"box\"\nshape = { box = { half = [0.2, 0.1, 0.05] } }\nmass = 3\nposition = [0, 0, 0.05]\n",
    );
    let mut sum = go(&mut stepper, &mut state, 0.2);
    assert!((state.velocity[0] - 0.4 * G * 0.2).abs() < 1e-9, "{:?}", state.velocity);
    let more = go(&mut stepper, &mut state, 1.0);
    (sum.work, sum.friction_loss) = (sum.work + more.work, sum.friction_loss + more.friction_loss);
    assert!((state.velocity[0] - 1.5).abs() < 1e-9, "{:?}", state.velocity);
    let kinetic = 0.5 * 3.0 * 1.5 * 1.5;
    assert!((sum.work - 2.0 * kinetic).abs() < 0.01 * kinetic, "{}", sum.work);
    assert!((sum.friction_loss - kinetic).abs() < 0.01 * kinetic, "{}", sum.friction_loss);
    // a belt that is driven by inputs
    let (model, mut inputs) = (stepper.model().clone(), Inputs::default());
    inputs.set_surface(&model, "belt", [0.0; 3]).expect("a belt");
    for _ in 0..1000 {
        let _ = stepper.step_by(&mut state, &inputs, 1e-3).expect("no step fails");
    }
    assert!(state.velocity[0].abs() < 1e-12, "{:?}", state.velocity);
}

/// On a turntable a small body stays where w^2 r is below mu g, and leaves where it is above.
#[test]
fn a_turntable_holds_what_friction_holds() {
    let stays = |r: f64| {
        let (mut stepper, mut state) = start(&format!(
            "[[material]]\nname = \"default\"\nfriction = 0.5\n\
             [[world]]\nname = \"table\"\nshape = \"half_space\"\n\
             motion = {{ angle = {{ spline = [{{ time = 0, value = 0 }}, {{ time = 2, value = 5 }}, {{ time = 3, value = 10 }}, {{ time = 4, value = 15 }}, {{ time = 6, value = 20 }}] }} }}\n\
             [[body]]\nname = \"box\"\nshape = {{ box = {{ half = [0.02, 0.02, 0.01] }} }}\nmass = 1\nposition = [{r}, 0, 0.01]\n"
        ));
        let _ = go(&mut stepper, &mut state, 6.0);
        let moved = (state.position[0] - r * 20f64.cos()).hypot(state.position[1] - r * 20f64.sin());
        (moved, state.velocity.iter().fold(0.0f64, |m, v| m.max(v.abs())))
    };
    // the largest angular velocity is near 5.5 rad/s: 0.5 g / 5.5^2 = 0.16 m
    let (moved, fastest) = stays(0.1);
    assert!(moved < 1e-6 && fastest < 0.01, "{moved} {fastest}");
    assert!(stays(0.3).0 > 0.05);
}

/// A floor that shakes up and down throws a ball off where its acceleration exceeds g, not below; a wall that moves
/// strikes a ball with restitution.
#[test]
fn moving_floors_carry_and_strike() {
    let floor = |amplitude: f64| {
        let (mut stepper, mut state) = start(&format!(
            "[[world]]\nname = \"floor\"\nshape = \"half_space\"\n\
             motion = {{ position = {{ sinusoid = {{ amplitude = [0, 0, {amplitude}], frequency = 5, phase = 1.5707963267948966 }} }} }}\n\
             [[body]]\nname = \"ball\"\nshape = {{ sphere = {{ radius = 0.1 }} }}\nmass = 1\nposition = [0, 0, {}]\n[step]\nh = 2e-4\n",
            0.1 + amplitude
        ));
        let w = 10.0 * std::f64::consts::PI;
        let mut off = 0.0f64;
        while state.time < 1.0 {
            let _ = stepper.step(&mut state).unwrap_or_else(|e| panic!("{e}"));
            off = off.max(state.position[2] - 0.1 - amplitude * (w * state.time).cos());
        }
        off
    };
    let limit = G / (10.0 * std::f64::consts::PI).powi(2);
    assert!(floor(0.95 * limit) < 1e-6);
    assert!(floor(1.3 * limit) > 2e-4);
    let (mut stepper, mut state) = start(
        "gravity = [0, 0, 0]\n[[material]]\nname = \"default\"\nrestitution = 0.5\n\
         [[world]]\nname = \"bat\"\nshape = \"half_space\"\n\
         motion = { position = { points = [{ time = 0, value = [0, 0, 0] }, { time = 1, value = [0, 0, 2] }] } }\n\
         [[body]]\nname = \"ball\"\nshape = { sphere = { radius = 0.1 } }\nmass = 1\nposition = [0, 0, 0.3]\n",
    );
    let sum = go(&mut stepper, &mut state, 0.3);
    // v+ = u + e u
    assert!((state.velocity[2] - 3.0).abs() < 1e-9, "{:?}", state.velocity);
    assert!((sum.work - 6.0).abs() < 1e-6, "{}: impulse times velocity of the bat", sum.work);
    // the same with a bat on a driven joint: the drive does not give way to the blow
    let (mut stepper, mut state) = start(
        "gravity = [0, 0, 0]\n[[material]]\nname = \"default\"\nrestitution = 0.5\n\
         [[body]]\nname = \"bat\"\nshape = { box = { half = [0.2, 0.2, 0.1] } }\nmass = 0.1\nvelocity = 2\n\
         joint = { prismatic = { axis = [0, 0, 1] } }\n\
         [[motor]]\nbody = \"bat\"\nposition = { points = [{ time = 0, value = 0 }, { time = 1, value = 2 }] }\n\
         [[body]]\nname = \"ball\"\nshape = { sphere = { radius = 0.1 } }\nmass = 1\nposition = [0, 0, 0.4]\n",
    );
    let _ = go(&mut stepper, &mut state, 0.3);
    assert!((state.position[0] - 0.6).abs() < 1e-9 && (state.velocity[3] - 3.0).abs() < 1e-9, "{state:?}");
}

#[test]
fn wrong_machines_are_refused_with_their_path() {
    let arm =
        "planar = true\n[[body]]\nname = \"arm\"\nmass = 1\ninertia = 1\njoint = { revolute = {JOINT} }\n";
    let motor = "[[motor]]\nbody = \"arm\"\n";
    for (joint, rest, path, words) in [
        ("{ limits = [1, -1] }", String::new(), "body[arm].joint.revolute.limits", "expected the lower one first"),
        ("{ limits = [1, 2] }", String::new(), "body[arm].joint.revolute.limits", "the joint starts at 0"),
        ("{ stop = { restitution = 1 } }", String::new(), "body[arm].joint.revolute.stop", "stop without limits"),
        ("{ rest = 1 }", String::new(), "body[arm].joint.revolute.rest", "rest without stiffness"),
        ("{ damping = -1 }", String::new(), "body[arm].joint.revolute.damping", "0 or more"),
        ("{ limits = [-1, 1], stop = { restitution = 2 } }", String::new(), "body[arm].joint.revolute.stop.restitution", "from 0 to 1"),
        ("{ limits = [-1, 1], stop = { damping = 2 } }", String::new(), "body[arm].joint.revolute.stop.damping", "damping without stiffness"),
        ("{}", format!("{motor}effort = {{ constant = 1 }}\n{motor}velocity = {{ constant = 1 }}"), "motor[1].body", "two motors on one joint"),
        ("{}", format!("{motor}effort = {{ constant = 1 }}\nvelocity = {{ constant = 1 }}"), "motor[0].velocity", "velocity beside effort"),
        ("{}", motor.to_owned(), "motor[0].body", "a motor without a course"),
        ("{}", format!("{motor}position = {{ constant = 0 }}\ndamping = 1"), "motor[0].position", "without stiffness"),
        ("{}", format!("{motor}position = {{ constant = 1 }}"), "motor[0].position", "the motor starts at 1, but the joint at 0"),
        ("{}", format!("{motor}position = {{ constant = 0 }}\ndof = 1"), "motor[0].dof", "expected a number below 1"),
        ("{}", format!("{motor}position = {{ constant = 1 }}\nmax_effort = 0"), "motor[0].max_effort", "above 0"),
        ("{}", format!("{motor}position = {{ spline = [{{ time = 1, value = 0 }}, {{ time = 1, value = 2 }}] }}"), "motor[0].position.spline[1].time", "expected more"),
        ("{}", format!("{motor}position = {{ constant = 0 }}\n[step]\nexplicit_share = 0.5"), "step.explicit_share", "expected 0"),
        ("{}", "[[loop]]\nkind = \"point\"\nfrom = { body = \"arm\", point = [1, 0] }\nto = { point = [1, 0.25] }".to_owned(), "loop[0].to", "open by 2.500e-1 m"),
        ("{}", "[[loop]]\nkind = \"point\"\nfrom = { body = \"arm\" }\nto = { body = \"arm\" }".to_owned(), "loop[0].to", "same body"),
        ("{}", "[[gear]]\njoints = [\"arm\", \"arm\"]".to_owned(), "gear[0].joints", "same joint"),
    ] {
        let text = arm.replace("{JOINT}", joint) + &rest;
        let told = stiction::from_toml("m.toml", &text).expect_err(words);
        let told = told.to_string();
        assert!(told.contains(words), "{told}");
        let scene: Scene = toml::from_str(&text).expect("plain data");
        let faults = stiction::check(&scene);
        assert!(faults.iter().any(|f| f.path == path), "{path}: {faults:?}");
        assert_eq!(faults.len(), 1, "{faults:?}");
    }
}

/// A drive that a limit opposes fails with the names of both.
#[test]
fn a_drive_against_a_limit_fails_with_its_cause() {
    let drive = "[[motor]]\nbody = \"slide\"\nposition = { points = [{ time = 0, value = 0 }, { time = 1, value = 1 }] }\n";
    let (mut stepper, mut state) = start(&slide(", limits = [-0.01, 0.01]", drive));
    let why = loop {
        if let Err(why) = stepper.step(&mut state) {
            break why.to_string();
        }
        assert!(state.time < 0.011, "{state:?}");
    };
    assert!(why.contains("slide (joint upper limit)") && why.contains("need max_effort"), "{why}");
    // with a largest effort it stops there
    let (mut stepper, mut state) =
        start(&slide(", limits = [-0.01, 0.01]", &format!("{drive}max_effort = 5\n")));
    let _ = go(&mut stepper, &mut state, 0.1);
    assert!((state.position[0] - 0.01).abs() < 1e-9 && state.velocity[0].abs() < 1e-9, "{state:?}");
}

/// A plate that inputs lift and turn carries a box as the same course does, steps that are cut included.
#[test]
fn inputs_move_world_parts() {
    let text = |motion: &str| {
        format!(
            "[[material]]\nname = \"default\"\nfriction = 0.6\n[[world]]\nname = \"plate\"\nshape = {{ box = {{ half = [0.5, 0.5, 0.05] }} }}\nposition = [0, 0, -0.05]\n\
             motion = {{ axis = [0, 0, 1]{motion} }}\n\
             [[body]]\nname = \"box\"\nshape = {{ box = {{ half = [0.05, 0.05, 0.05] }} }}\nmass = 1\nposition = [0.2, 0, 0.05]\n"
        )
    };
    let course = ", position = { points = [{ time = 0, value = [0, 0, 0] }, { time = 0.5, value = [0.1, 0, 0.05] }] }, angle = { points = [{ time = 0, value = 0 }, { time = 0.5, value = 0.4 }] }";
    let (mut stepper, mut state) = start(&text(course));
    let _ = go(&mut stepper, &mut state, 0.5);
    let (mut other, mut driven) = start(&text(", angle = { constant = 0 }"));
    let (model, h, mut inputs) = (other.model().clone(), 1e-3, Inputs::default());
    let at = |t: f64| ([0.2 * t, 0.0, 0.1 * t], 0.8 * t);
    for k in 0..500 {
        let [begin, end] = [f64::from(k) * h, f64::from(k + 1) * h];
        let ((p, a), (q, b)) = (at(begin), at(end));
        inputs.set_motion(&model, "plate", [begin, end], [p, q], [a, b]).expect("a part that moves");
        let _ = other.step_by(&mut driven, &inputs, h).expect("no step fails");
    }
    for (a, b) in state.position.iter().zip(&driven.position) {
        assert!((a - b).abs() < 1e-9, "{:?} {:?}", state.position, driven.position);
    }
    // it was lifted, moved along and turned with the plate, but for the slip as that starts with a jerk: v^2 / (2 mu g)
    let (x, z) = (driven.position[0], driven.position[2]);
    let slip = 0.26f64.powi(2) / (2.0 * 0.6 * G);
    assert!((z - 0.1).abs() < 1e-6 && (x - 0.1 - 0.2 * 0.4f64.cos()).abs() < 1.1 * slip, "{x} {z}");
    let why = inputs.set_motion(&model, "box", [0.0, 1.0], [[0.0; 3]; 2], [0.0; 2]).unwrap_err();
    assert_eq!(why.to_string(), "no world part 'box' with a motion");
}
