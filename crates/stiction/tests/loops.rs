//! Loops and gears against closed forms: four-bar, slider-crank, Stewart platform, a chain closed to a ring, ropes,
//! welds, redundant hinges.

use stiction::inputs::Inputs;
use stiction::space::{Pose, Quaternion, Vector, length, sub};
use stiction::state::State;
use stiction::step::StepReport;
use stiction::stepper::Stepper;

const G: f64 = 9.81;

fn start(text: &str) -> (Stepper, State) {
    let scene = stiction::from_toml("loop.toml", text).unwrap_or_else(|e| panic!("{e}"));
    let stepper = Stepper::new(scene).expect("a valid model");
    let state = stepper.initial();
    (stepper, state)
}

fn one(stepper: &mut Stepper, state: &mut State) -> StepReport {
    let report = stepper.step(state).unwrap_or_else(|e| panic!("{e}"));
    assert!(report.residual.relative <= 1e-9 && report.violation <= 1e-9, "t = {}: {report:?}", state.time);
    report
}

fn energy(stepper: &mut Stepper, state: &State) -> f64 {
    let e = stepper.energy(state);
    e.kinetic + e.potential
}

/// Crank a, coupler b, rocker c, ground d: angle of coupler and rocker at a crank angle.
fn four_bar([a, b, c, d]: [f64; 4], crank: f64) -> (f64, f64) {
    let tip = [a * crank.cos(), a * crank.sin()];
    let (x, y) = (d - tip[0], -tip[1]);
    let far = x.hypot(y);
    // the triangle of coupler, rocker and the diagonal, on the upper side
    let at_tip = ((b * b + far * far - c * c) / (2.0 * b * far)).acos();
    let coupler = y.atan2(x) + at_tip;
    let joint = [tip[0] + b * coupler.cos(), tip[1] + b * coupler.sin()];
    (coupler, joint[1].atan2(joint[0] - d))
}

fn four_bar_scene(bars: [f64; 4], crank: f64, more: &str) -> String {
    let [a, b, c, d] = bars;
    let (coupler, rocker) = four_bar(bars, crank);
    let bar = |name: &str, long: f64, angle: f64, mount: &str| {
        format!(
            "[[body]]\nname = \"{name}\"\nmass = {long}\ncenter = [{}, 0]\ninertia = {}\nangle = {angle}\n\
             joint = {{ revolute = {{}} }}\n{mount}\n",
            0.5 * long,
            long.powi(3) / 12.0
        )
    };
    format!(
        "planar = true\n{}{}{}[[loop]]\nname = \"pin\"\nkind = \"point\"\nfrom = {{ body = \"coupler\", point = [{b}, 0] }}\n\
         to = {{ body = \"rocker\", point = [{c}, 0] }}\n{more}\n",
        bar("crank", a, crank, ""),
        bar("coupler", b, coupler - crank, &format!("parent = \"crank\"\nmount = {{ position = [{a}, 0] }}")),
        bar("rocker", c, rocker, &format!("mount = {{ position = [{d}, 0] }}")),
    )
}

const BARS: [f64; 4] = [0.2, 0.6, 0.5, 0.7];

/// A rope between two bodies that are fixed to each other does nothing.
#[test]
fn a_loop_between_bodies_that_move_as_one_does_nothing() {
    let arm = "[[body]]\nname = \"arm\"\nmass = 1\ninertia = [0.1, 0.1, 0.1]\nangular_velocity = 1\n\
               joint = { revolute = { axis = [0.3, 0.7, 0.2] } }\n\
               [[body]]\nname = \"hand\"\nparent = \"arm\"\njoint = \"fixed\"\nmount = { position = [0.1, 0.2, 0.7] }\n\
               mass = 1\ninertia = [0.1, 0.1, 0.1]\n[step]\nduration = 0.2\n";
    let rope = "[[loop]]\nkind = \"rope\"\nfrom = { body = \"arm\", point = [0.043, -0.062, 0.11] }\n\
                to = { body = \"hand\", point = [0.17, 0.08, 0.1] }\n";
    let end = |text: String| {
        let scene = stiction::from_toml("loop.toml", &text).expect("a valid scene");
        let mut stepper = Stepper::new(scene).expect("a valid model");
        let mut state = stepper.initial();
        for _ in 0..200 {
            let _ = stepper.step(&mut state).expect("no step fails");
        }
        state.velocity
    };
    assert_eq!(end(format!("{arm}{rope}")), end(arm.to_owned()));
}

#[test]
fn a_driven_four_bar_follows_freudenstein() {
    let motor = "[[motor]]\nbody = \"crank\"\nposition = { points = [{ time = 0, value = 0.4 }, { time = 10, value = 60.4 }] }\n";
    let (mut stepper, mut state) = start(&four_bar_scene(BARS, 0.4, motor));
    for _ in 0..2000 {
        let _ = one(&mut stepper, &mut state);
        let crank = 0.4 + 6.0 * state.time;
        let (coupler, rocker) = four_bar(BARS, crank);
        assert!((state.position[0] - crank).abs() < 1e-9, "{}", state.time);
        let angles = [state.position[0] + state.position[1], state.position[2]];
        for (found, expected) in angles.into_iter().zip([coupler, rocker]) {
            let off = (found - expected).sin();
            assert!(off.abs() < 1e-8, "{off} at {}", state.time);
        }
    }
}

/// A four-bar without forces keeps its energy: what the solve takes the projection gives back, and both are booked.
#[test]
fn a_free_four_bar_keeps_its_energy() {
    let spin = 12.0;
    let step = "gravity = [0, 0]\n[step]\nh = 1e-4\n";
    let (mut stepper, mut state) = start(
        &(format!("{}\n", "gravity = [0, 0]")
            + &four_bar_scene(BARS, 0.4, &step.replace("gravity = [0, 0]\n", ""))),
    );
    let d = 1e-6;
    let (before, after) = (four_bar(BARS, 0.4 - d), four_bar(BARS, 0.4 + d));
    let rate = |a: f64, b: f64| (b - a) / (2.0 * d) * spin;
    state.velocity = vec![spin, rate(before.0, after.0) - spin, rate(before.1, after.1)];
    let begin = energy(&mut stepper, &state);
    let (mut booked, mut farthest, mut missing) = (0.0, 0.0f64, 0.0f64);
    for _ in 0..20_000 {
        booked += one(&mut stepper, &mut state).constraint_work;
        let now = energy(&mut stepper, &state);
        farthest = farthest.max((now - begin).abs());
        missing = missing.max((now - begin - booked).abs());
    }
    assert!(farthest < 5e-3 * begin, "{farthest} of {begin}");
    assert!(missing < 1e-4 * begin, "{missing} of {begin}");
}

/// The moment on a crank that holds a force F on the slider is F dx/dtheta (virtual work); the slider is at
/// r cos + sqrt(l^2 - r^2 sin^2).
#[test]
fn a_slider_crank_obeys_virtual_work() {
    let (r, l, force): (f64, f64, f64) = (0.3, 0.8, 25.0);
    let text = |angle: f64, motor: &str| {
        let x = r * angle.cos() + (l * l - (r * angle.sin()).powi(2)).sqrt();
        let rod = (-r * angle.sin() / l).asin();
        format!(
            "planar = true\ngravity = [0, 0]\n[[body]]\nname = \"crank\"\nmass = 1\ninertia = 0.01\nangle = {angle}\njoint = {{ revolute = {{}} }}\n\
             [[body]]\nname = \"rod\"\nparent = \"crank\"\nmount = {{ position = [{r}, 0] }}\nmass = 0.5\ncenter = [{}, 0]\ninertia = 0.02\n\
             angle = {}\njoint = {{ revolute = {{}} }}\n\
             [[body]]\nname = \"slider\"\nmass = 2\ninertia = 0.1\nposition = {x}\njoint = {{ prismatic = {{ axis = [1, 0] }} }}\n\
             [[loop]]\nkind = \"point\"\nfrom = {{ body = \"rod\", point = [{l}, 0] }}\nto = {{ body = \"slider\" }}\n\
             [[load]]\nbody = \"slider\"\nforce = {{ constant = [{force}, 0] }}\n[[motor]]\nbody = \"crank\"\n{motor}\n",
            0.5 * l,
            rod - angle,
        )
    };
    for angle in [0.3f64, 1.0, 2.0, 2.9] {
        let (mut stepper, mut state) = start(&text(angle, &format!("position = {{ constant = {angle} }}")));
        for _ in 0..20 {
            let _ = one(&mut stepper, &mut state);
        }
        let root = (l * l - (r * angle.sin()).powi(2)).sqrt();
        let slope = -r * angle.sin() - r * r * angle.sin() * angle.cos() / root;
        let drive = stepper.workspace().standing.iter().find(|row| {
            matches!(stepper.model().standing()[row.row].kind, stiction::model::StandingKind::Drive(_))
        });
        let effort = drive.expect("a drive").effort;
        assert!((effort + force * slope).abs() < 1e-6 * force, "{angle}: {effort} for {}", -force * slope);
    }
    let (mut stepper, mut state) = start(&text(
        0.3,
        "position = { points = [{ time = 0, value = 0.3 }, { time = 10, value = 100.3 }] }",
    ));
    for _ in 0..2000 {
        let _ = one(&mut stepper, &mut state);
        let angle = 0.3 + 10.0 * state.time;
        let x = r * angle.cos() + (l * l - (r * angle.sin()).powi(2)).sqrt();
        assert!((state.position[2] - x).abs() < 2e-9, "{}", state.position[2] - x);
    }
}

/// A Stewart platform whose legs are told the lengths of a path of the platform follows that path; the legs carry its weight.
#[test]
fn a_stewart_platform_follows_the_inverse_kinematics() {
    let corner = |radius: f64, angle: f64, z: f64| [radius * angle.cos(), radius * angle.sin(), z];
    let third = std::f64::consts::TAU / 3.0;
    let feet: Vec<Vector> = (0..6)
        .map(|k| corner(0.5, third * f64::from(k / 2) + 0.2 * f64::from(2 * (k % 2) - 1), 0.0))
        .collect();
    let tops: Vec<Vector> = (0..6)
        .map(|k| {
            corner(0.3, third * f64::from(k / 2) + (third / 2.0 - 0.25) * f64::from(2 * (k % 2) - 1), 0.0)
        })
        .collect();
    let pose = |t: f64| Pose {
        position: [0.05 * (3.0 * t).sin(), 0.04 * (2.0 * t).sin(), 0.6 + 0.05 * (1.0 - (4.0 * t).cos())],
        attitude: Quaternion::turn([0.1 * (2.0 * t).sin(), 0.15 * (3.0 * t).sin(), 0.2 * t * t]),
    };
    let mut text =
        "[[body]]\nname = \"platform\"\nmass = 4\ninertia = [0.1, 0.1, 0.2]\nposition = [0, 0, 0.6]\n"
            .to_owned();
    for k in 0..6 {
        // the leg along z of a mount that turns about x, then y, by the angles that point it to its top
        let along = sub(pose(0.0).point(tops[k]), feet[k]);
        let long = length(along);
        let (x, y, z) = (along[0] / long, along[1] / long, along[2] / long);
        // R_x(a) R_y(b) e_z = (sin b, -sin a cos b, cos a cos b)
        let (a, b) = ((-y).atan2(z), x.asin());
        text += &format!(
            "[[body]]\nname = \"lower {k}\"\nmass = 0.2\ninertia = [0.01, 0.01, 0.001]\nangles = [{a}, {b}]\n\
             mount = {{ position = [{}, {}, 0] }}\njoint = {{ universal = {{}} }}\n\
             [[body]]\nname = \"upper {k}\"\nparent = \"lower {k}\"\nmass = 0.1\ninertia = [0.01, 0.01, 0.001]\nposition = {long}\n\
             joint = {{ prismatic = {{ axis = [0, 0, 1] }} }}\n\
             [[motor]]\nbody = \"upper {k}\"\nposition = {{ constant = {long} }}\n\
             [[loop]]\nname = \"top {k}\"\nkind = \"point\"\nfrom = {{ body = \"upper {k}\" }}\nto = {{ body = \"platform\", point = [{}, {}, 0] }}\n",
            feet[k][0], feet[k][1], tops[k][0], tops[k][1]
        );
    }
    let (mut stepper, mut state) = start(&text);
    let (model, mut inputs, h) = (stepper.model().clone(), Inputs::default(), 1e-3);
    for n in 1..=300 {
        let goal = pose(f64::from(n) * h);
        for k in 0..6 {
            let long = length(sub(goal.point(tops[k]), feet[k]));
            inputs.set_target(&model, &format!("upper {k}"), 0, long).expect("a motor");
        }
        let report = stepper.step_by(&mut state, &inputs, h).unwrap_or_else(|e| panic!("{e}"));
        assert!(report.violation < 1e-9);
        let found = stepper.kinematics(&state).pose(0);
        assert!(length(sub(found.position, goal.position)) < 1e-8, "{found:?} for {goal:?}");
        let turned = found.attitude.after(goal.attitude.inverse()).0;
        assert!(turned[1].abs().max(turned[2].abs()).max(turned[3].abs()) < 1e-8, "{turned:?}");
    }
    // at rest the legs carry the platform
    let (mut stepper, mut state) = start(&text);
    for _ in 0..50 {
        let _ = one(&mut stepper, &mut state);
    }
    let names = |row: usize| stepper.model().standing()[row].name(stepper.scene());
    let up: f64 = stepper
        .workspace()
        .standing
        .iter()
        .filter(|r| names(r.row).contains("row 2"))
        .map(|r| r.effort)
        .sum();
    assert!((up - 4.0 * G).abs() < 1e-6, "{up}");
}

/// A chain of n rods closed to a regular polygon that spins: tension m w^2 r / (2 sin(pi/n)) in every hinge, r the apothem.
#[test]
fn a_spinning_ring_carries_its_hoop_tension() {
    let (n, l, m, w, h) = (12, 0.3, 0.5, 4.0, 1e-3);
    let turn = std::f64::consts::TAU / f64::from(n);
    let apothem = 0.5 * l / (0.5 * turn).tan();
    let mut text = String::from("planar = true\ngravity = [0, 0]\n");
    for k in 0..n {
        let rod = format!("mass = {m}\ncenter = [{}, 0]\ninertia = {}\n", 0.5 * l, m * l * l / 12.0);
        text += &match k {
            // the first rod lies below the centre, along x; its origin moves with w x r
            0 => format!(
                "[[body]]\nname = \"rod 0\"\n{rod}position = [{}, {}]\nvelocity = [{}, {}]\nangular_velocity = {w}\n",
                -0.5 * l,
                -apothem,
                w * apothem,
                -w * 0.5 * l
            ),
            _ => format!(
                "[[body]]\nname = \"rod {k}\"\nparent = \"rod {}\"\n{rod}mount = {{ position = [{l}, 0] }}\nangle = {turn}\n\
                 joint = {{ revolute = {{}} }}\n",
                k - 1
            ),
        };
    }
    text += &format!(
        "[[loop]]\nname = \"lock\"\nkind = \"point\"\nfrom = {{ body = \"rod {}\", point = [{l}, 0] }}\nto = {{ body = \"rod 0\" }}\n[step]\nh = {h}\n",
        n - 1
    );
    let (mut stepper, mut state) = start(&text);
    let begin = energy(&mut stepper, &state);
    let tension = m * w * w * apothem / (2.0 * (0.5 * turn).sin());
    // the first step begins with the velocity of the arc, all others with that of the chord before
    let _ = one(&mut stepper, &mut state);
    for _ in 0..1000 {
        let _ = one(&mut stepper, &mut state);
        let rows = &stepper.workspace().standing;
        let found = rows[0].effort.hypot(rows[1].effort);
        assert!((found - tension).abs() < 0.01 * tension, "{found} for {tension} at {}", state.time);
    }
    let end = energy(&mut stepper, &state);
    assert!((end - begin).abs() < 1e-4 * begin, "{end} of {begin}");
}

/// A ball on a rope: slack it falls freely, taut it is a pendulum with tension m (g + v^2 / l) at the bottom.
#[test]
fn a_rope_is_slack_or_taut() {
    let (mut stepper, mut state) = start(
        "[[body]]\nname = \"ball\"\nmass = 2\ninertia = [0.01, 0.01, 0.01]\nposition = [1, 0, 0]\n\
         [[loop]]\nkind = \"rope\"\nfrom = {}\nto = { body = \"ball\" }\nlength = 1\n[step]\nh = 1e-4\n",
    );
    let mut bottom = 0.0;
    while bottom == 0.0 {
        let before = state.position[0];
        let _ = one(&mut stepper, &mut state);
        let far = length([state.position[0], state.position[1], state.position[2]]);
        assert!(far < 1.0 + 1e-9, "{far}");
        if before > 0.0 && state.position[0] <= 0.0 {
            bottom = stepper.workspace().standing[0].effort;
        }
    }
    assert!((bottom - 3.0 * 2.0 * G).abs() < 0.01 * G, "{bottom}");
    // slack: free fall for a while, then caught
    let (mut stepper, mut state) = start(
        "[[body]]\nname = \"ball\"\nmass = 2\ninertia = [0.01, 0.01, 0.01]\nposition = [0, 0, -0.5]\n\
         [[loop]]\nkind = \"rope\"\nfrom = {}\nto = { body = \"ball\" }\nlength = 1\n",
    );
    for _ in 0..300 {
        let _ = one(&mut stepper, &mut state);
    }
    assert!((state.velocity[2] + 0.3 * G).abs() < 1e-12 && stepper.workspace().standing[0].effort == 0.0);
    for _ in 0..300 {
        let _ = one(&mut stepper, &mut state);
    }
    assert!((state.position[2] + 1.0).abs() < 1e-9 && state.velocity[2].abs() < 1e-9, "{state:?}");
    assert!((stepper.workspace().standing[0].effort - 2.0 * G).abs() < 1e-6);
}

/// A door on two hinges is held twice as often as it needs: the forces are shared evenly, as equal compliances would.
#[test]
fn a_door_on_two_hinges_shares_its_weight() {
    let (mut stepper, mut state) = start(
        "[[body]]\nname = \"door\"\nmass = 10\ncenter = [0.5, 0, 0]\ninertia = [3, 4, 1]\nangular_velocity = [0, 0, 1]\n\
         [[loop]]\nname = \"low\"\nkind = \"hinge\"\nfrom = { point = [0, 0, -1] }\nto = { body = \"door\", point = [0, 0, -1] }\n\
         [[loop]]\nname = \"high\"\nkind = \"hinge\"\nfrom = { point = [0, 0, 1] }\nto = { body = \"door\", point = [0, 0, 1] }\n",
    );
    for _ in 0..1000 {
        let _ = one(&mut stepper, &mut state);
    }
    let axis = stepper.kinematics(&state).pose(0).attitude.apply([0.0, 0.0, 1.0]);
    assert!((axis[2] - 1.0).abs() < 1e-12);
    // kinetic energy about the hinge: (1 + 10/4) w^2 / 2
    assert!((stepper.energy(&state).kinetic - 1.75).abs() < 1e-3, "{}", stepper.energy(&state).kinetic);
    let effort = |name: &str| {
        let rows = &stepper.workspace().standing;
        let found = rows.iter().find(|r| stepper.model().standing()[r.row].name(stepper.scene()) == name);
        found.expect("a row").effort
    };
    let [low, high] = ["low", "high"].map(|hinge| effort(&format!("{hinge} (loop, row 2)")));
    assert!((low + high - 10.0 * G).abs() < 1e-6 && (low - high).abs() < 1e-6 * G, "{low} {high}");
}

/// Gears: q1 = -2 q2. A moment on the first turns both, with I1 + I2 / 4.
#[test]
fn gears_couple_joints() {
    let wheel = |name: &str, i: f64| {
        format!(
            "[[body]]\nname = \"{name}\"\nmass = 1\ninertia = [1, 1, {i}]\njoint = {{ revolute = {{}} }}\n"
        )
    };
    let text = wheel("pinion", 0.2)
        + &wheel("wheel", 1.6)
        + "[[gear]]\njoints = [\"pinion\", \"wheel\"]\nratio = -2\n[[motor]]\nbody = \"pinion\"\neffort = { constant = 0.3 }\n";
    let (mut stepper, mut state) = start(&text);
    for _ in 0..1000 {
        let _ = one(&mut stepper, &mut state);
        assert!((state.position[0] + 2.0 * state.position[1]).abs() < 1e-11);
    }
    assert!((state.velocity[0] - 0.5).abs() < 1e-9, "{:?}", state.velocity);
    // a compliant one: the pinion runs ahead of the wheel by the moment over the stiffness
    let text = text.replace("ratio = -2\n", "ratio = -2\nstiffness = 1000\ndamping = 5\n");
    let (mut stepper, mut state) = start(&text);
    for _ in 0..2000 {
        let _ = one(&mut stepper, &mut state);
    }
    let ahead = state.position[0] + 2.0 * state.position[1];
    // moment on the wheel 2 x: 1.6 * 0.25 rad/s^2
    assert!((ahead - 0.2 / 1000.0).abs() < 1e-7, "{ahead}");
}

/// A welded bracket carries weight and moment; a compliant weld yields by F/K.
#[test]
fn welds_hold_what_they_carry() {
    let text = "[[body]]\nname = \"bracket\"\nmass = 3\ncenter = [0.4, 0, 0]\ninertia = [0.1, 0.2, 0.2]\n\
                [[loop]]\nname = \"weld\"\nkind = \"weld\"\nfrom = {}\nto = { body = \"bracket\" }\n";
    let (mut stepper, mut state) = start(text);
    for _ in 0..100 {
        let _ = one(&mut stepper, &mut state);
    }
    let efforts: Vec<f64> = stepper.workspace().standing.iter().map(|r| r.effort).collect();
    let expected = [0.0, 0.0, 3.0 * G, 0.0, -3.0 * G * 0.4, 0.0];
    assert!(efforts.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-7), "{efforts:?}");
    assert!(
        state.position.iter().zip([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]).all(|(a, b)| (a - b).abs() < 1e-9)
    );
    let (mut stepper, mut state) = start(&format!("{text}stiffness = 2e5\ndamping = 2e3\n"));
    for _ in 0..3000 {
        let _ = one(&mut stepper, &mut state);
    }
    assert!((state.position[2] + 3.0 * G / 2e5).abs() < 1e-8, "{:?}", state.position);
}

/// Loops and contacts share one problem: a box rides on the tray of a parallelogram linkage that swings by 0.5 rad at 1 Hz; it stays where
/// friction carries it, and slides where it does not. The tray stays level.
#[test]
fn a_box_rides_on_a_parallelogram() {
    let ride = |mu: f64| {
        let start_angle = std::f64::consts::FRAC_PI_2 + 0.5;
        let (l, tip) = (0.3, [0.3 * start_angle.cos(), 0.3 * start_angle.sin()]);
        let crank = |name: &str, x: f64| {
            format!(
                "[[body]]\nname = \"{name}\"\nmass = 0.5\ncenter = [{}, 0]\ninertia = 0.004\nangle = {start_angle}\n\
                 mount = {{ position = [{x}, 0] }}\njoint = {{ revolute = {{}} }}\n",
                0.5 * l
            )
        };
        let (mut stepper, mut state) = start(&format!(
            "planar = true\n[[material]]\nname = \"default\"\nfriction = {mu}\n{}{}\
             [[body]]\nname = \"tray\"\nparent = \"left\"\nmass = 1\nshape = {{ polygon = {{ vertices = [[-0.1, 0], [0.5, 0], [0.5, 0.02], [-0.1, 0.02]] }} }}\n\
             mount = {{ position = [{l}, 0] }}\nangle = {}\njoint = {{ revolute = {{}} }}\n\
             [[body]]\nname = \"box\"\nmass = 1\nshape = {{ box = {{ half = [0.05, 0.05] }} }}\nposition = [{}, {}]\n\
             [[loop]]\nkind = \"point\"\nfrom = {{ body = \"tray\", point = [0.4, 0] }}\nto = {{ body = \"right\", point = [{l}, 0] }}\n\
             [[motor]]\nbody = \"left\"\nposition = {{ sinusoid = {{ amplitude = 0.5, frequency = 1, phase = {}, offset = {} }} }}\n",
            crank("left", 0.0),
            crank("right", 0.4),
            -start_angle,
            tip[0] + 0.2,
            tip[1] + 0.07,
            std::f64::consts::FRAC_PI_2,
            std::f64::consts::FRAC_PI_2,
        ));
        let mut worst = 0.0f64;
        for _ in 0..2000 {
            let _ = one(&mut stepper, &mut state);
            let (model, k) = (stepper.model().clone(), stepper.kinematics(&state));
            let [tray, body] = ["tray", "box"].map(|name| k.pose(model.body(name).expect("a body")));
            assert!(tray.attitude.0[3].abs() < 1e-9, "the tray is level");
            worst = worst.max((body.position[0] - tray.position[0] - 0.2).abs());
        }
        worst
    };
    // the largest acceleration across is 0.3 m * 0.5 (2 pi)^2 = 5.9 m/s^2
    let held = ride(0.9);
    assert!(held < 1e-4, "{held}");
    let slid = ride(0.2);
    assert!(slid > 1e-2, "{slid}");
}
