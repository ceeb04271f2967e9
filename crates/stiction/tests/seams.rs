//! Contacts act where bodies touch, and nowhere else: bodies over seams move as over one plate, bodies that miss an edge fly on, bodies that do not are met.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use stiction::geometry::{Shape, Solid, reaches};
use stiction::space::{Pose, Quaternion, Vector, add, cross, dot, length, scale, sub, unit};
use stiction::state::State;
use stiction::stepper::Stepper;

fn run(text: &str) -> (Stepper, State) {
    let scene = stiction::from_toml("seams.toml", text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let (duration, mut stepper) = (scene.step.duration, Stepper::new(scene).expect("a valid model"));
    let (mut state, h) = (stepper.initial(), stepper.scene().step.h);
    for _ in 0..(duration / h).round() as usize {
        let report = stepper.step(&mut state).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert!(report.residual.relative <= 1e-10, "{report:?}\n{text}");
    }
    (stepper, state)
}

/// Boxes between these cuts in x and y, of the given heights of their tops.
fn tiles(cuts: [&[f64]; 2], height: impl Fn(usize) -> f64) -> String {
    let (mut text, mut count) = (String::new(), 0);
    for x in cuts[0].windows(2) {
        for y in cuts[1].windows(2) {
            text += &format!(
                "[[world]]\nname = \"tile {count}\"\nshape = {{ box = {{ half = [{}, {}, 0.05] }} }}\nposition = [{}, {}, {}]\n",
                0.5 * (x[1] - x[0]),
                0.5 * (y[1] - y[0]),
                0.5 * (x[1] + x[0]),
                0.5 * (y[1] + y[0]),
                height(count) - 0.05
            );
            count += 1;
        }
    }
    text
}

const BODIES: [(&str, &str); 7] = [
    ("{ box = { half = [0.06, 0.05, 0.02] } }", "position = [0.1, 0, 0.02]"),
    ("{ sphere = { radius = 0.05 } }", "position = [0.1, 0, 0.05]"),
    ("{ cylinder = { radius = 0.05, half_length = 0.03 } }", "position = [0.1, 0, 0.03]"),
    (
        "{ cylinder = { radius = 0.05, half_length = 0.08 } }",
        "position = [0.1, 0, 0.05]\norientation = { axis = [1, 0, 0], angle = 1.5707963267948966 }",
    ),
    (
        "{ capsule = { radius = 0.03, half_length = 0.05 } }",
        "position = [0.1, 0, 0.03]\norientation = { axis = [0, 1, 0], angle = 1.5707963267948966 }",
    ),
    ("{ ellipsoid = { semi_axes = [0.06, 0.05, 0.02] } }", "position = [0.1, 0, 0.02]"),
    (
        "{ polytope = { vertices = [[0.06,0.03,-0.02],[-0.06,0.03,-0.02],[0.06,-0.03,-0.02],[-0.06,-0.03,-0.02],[0,0,0.03]] } }",
        "position = [0.1, 0, 0.02]",
    ),
];

fn slides(floor: &str, body: (&str, &str), velocity: [f64; 2], step: &str, law: &str) -> Vec<f64> {
    let (shape, place) = body;
    let [x, y] = velocity;
    let text = format!(
        "[[material]]\nname = \"default\"\nfriction = 0.3\n{law}\n{floor}[[body]]\nname = \"body\"\nshape = {shape}\ndensity = 1000\n\
         {place}\nvelocity = [{x}, {y}, 0]\n[step]\n{step}\n"
    );
    run(&text).1.position
}

fn farthest(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// The motion over random tiles is that over one plate, for steps of any length and both schemes, and for tiles that are off by up to 1e-6 m
/// (then to what that lifts and delays them).
#[test]
fn bodies_slide_and_roll_over_flush_tiles_as_over_one_plate() {
    let plate = tiles([&[-1.0, 2.0], &[-1.0, 1.0]], |_| 0.0);
    let mut random = Pcg64::seed_from_u64(1);
    for (k, step) in [
        "duration = 0.5\nh = 1e-2",
        "duration = 0.5",
        "duration = 0.3\nh = 1e-4",
        "duration = 0.5\nscheme = \"implicit\"",
    ]
    .into_iter()
    .enumerate()
    {
        for body in BODIES {
            // a lying cylinder that slides askew spins, and its friction depends on which of its points carry
            let askew = if body.1.contains("angle") { 0.0 } else { 0.4 * random.random::<f64>() - 0.2 };
            let velocity = [2.0 * random.random::<f64>() + 0.2, askew];
            let one = slides(&plate, body, velocity, step, "");
            // the implicit scheme refuses bodies that begin deeper than 1e-6 of their size in each other
            let offsets: &[f64] = if k == 3 { &[0.0, 1e-9] } else { &[0.0, 1e-9, 1e-6] };
            for &off in offsets {
                let cut = [0, 1, 2].map(|i| 0.2 + 0.2 * f64::from(i) + 0.1 * random.random::<f64>());
                let across = 0.1 * random.random::<f64>() - 0.05;
                let heights: Vec<f64> = (0..8).map(|_| off * (random.random::<f64>() - 0.5)).collect();
                let floor =
                    tiles([&[-1.0, cut[0], cut[1], cut[2], 2.0], &[-1.0, across, 1.0]], |i| heights[i]);
                let many = slides(&floor, body, velocity, step, "");
                let apart = farthest(&one, &many);
                let most = if off > 0.0 { 1e-4 } else { 1e-6 };
                assert!(
                    apart <= most,
                    "step {k}, {body:?} at {velocity:?}, tiles off by {off}: {apart:.2e} m"
                );
            }
        }
    }
}

/// Compliant contacts on tiles carry as on one plate: settlement and way to 1e-4.
#[test]
fn compliant_bodies_slide_over_flush_tiles_as_over_one_plate() {
    let plate = tiles([&[-1.0, 2.0], &[-1.0, 1.0]], |_| 0.0);
    let law = "law = { kelvin_voigt = { stiffness = 1e5, damping_ratio = 1, mass = 0.5 } }";
    for step in ["duration = 0.5", "duration = 0.3\nh = 1e-4"] {
        for body in BODIES.into_iter().take(4) {
            let velocity = [1.3, if body.1.contains("angle") { 0.0 } else { 0.1 }];
            let one = slides(&plate, body, velocity, step, law);
            let floor = tiles([&[-1.0, 0.25, 0.4, 2.0], &[-1.0, 0.013, 1.0]], |_| 0.0);
            let many = slides(&floor, body, velocity, step, law);
            let apart = farthest(&one, &many);
            assert!(apart <= 1e-4, "{body:?}, {step}: {apart:.2e} m\n{one:?}\n{many:?}");
        }
    }
}

/// Shapes that fly past an edge or corner.
fn flying(random: &mut Pcg64) -> (Shape, String) {
    let mut size = || 0.02 + 0.04 * random.random::<f64>();
    let [a, b, c] = [size(), size(), size()];
    let corners =
        [[a, 0.0, 0.0], [-a, 0.0, 0.0], [0.0, b, 0.0], [0.0, -b, 0.0], [0.0, 0.0, c], [0.0, 0.0, -c]];
    match random.random_range(0..6) {
        0 => (Shape::Sphere { radius: a }, format!("{{ sphere = {{ radius = {a} }} }}")),
        1 => (Shape::Box { half: [a, b, c] }, format!("{{ box = {{ half = [{a}, {b}, {c}] }} }}")),
        2 => (
            Shape::Capsule { radius: a, half_length: b },
            format!("{{ capsule = {{ radius = {a}, half_length = {b} }} }}"),
        ),
        3 => (Shape::cylinder(a, b), format!("{{ cylinder = {{ radius = {a}, half_length = {b} }} }}")),
        4 => (
            Shape::Ellipsoid { semi_axes: [a, b, c] },
            format!("{{ ellipsoid = {{ semi_axes = [{a}, {b}, {c}] }} }}"),
        ),
        _ => (
            Shape::Polytope { vertices: corners.to_vec() },
            format!("{{ polytope = {{ vertices = {corners:?} }} }}"),
        ),
    }
}

/// A body that flies past a corner of a block at 10 m/s along a plane that is tangent to the block there, `clearance` above it, and its scene.
fn flight(seed: u64, clearance: f64) -> (String, Vector) {
    let mut random = Pcg64::seed_from_u64(seed);
    let mut direction = || unit([0, 1, 2].map(|_| random.random::<f64>() - 0.5));
    let (n, w, axis) = (direction(), direction(), direction());
    let along = unit(cross(n, w));
    let angle = 3.0 * random.random::<f64>();
    let (shape, text) = flying(&mut random);
    let block = [0.5, 0.4, 0.05];
    let corner = [0, 1, 2].map(|i| block[i] * n[i].signum());
    let attitude = Quaternion::turn(scale(angle, axis));
    let solid = Solid::new(&shape, false).expect("a shape");
    let pose = Pose { position: [0.0; 3], attitude };
    // its lowest point along n, found by support in nearby directions
    let low = reaches(&solid, &pose, scale(-1.0, n)).expect("a bounded shape");
    let lowest = support(&solid, &pose, scale(-1.0, n));
    assert!((dot(lowest, n) + low).abs() < 1e-9);
    let over = add(sub(corner, lowest), scale(clearance, n));
    let start = sub(over, scale(0.9 + 0.01 * random.random::<f64>(), along));
    let v = scale(10.0, along);
    (
        format!(
            "gravity = [0, 0, 0]\n[[world]]\nname = \"block\"\nshape = {{ box = {{ half = {block:?} }} }}\n[[body]]\nname = \"body\"\nshape = {text}\n\
             mass = 1\nposition = {start:?}\norientation = {{ axis = {axis:?}, angle = {angle} }}\nvelocity = {v:?}\n[step]\nduration = 0.2\n"
        ),
        v,
    )
}

/// The point of a solid farthest along a direction, by differences of its support function.
fn support(solid: &Solid, pose: &Pose, n: Vector) -> Vector {
    let e = 1e-6;
    [0, 1, 2].map(|i| {
        let [mut more, mut less] = [n, n];
        more[i] += e;
        less[i] -= e;
        let at = |x: Vector| length(x) * reaches(solid, pose, unit(x)).expect("a bounded shape");
        (at(more) - at(less)) / (2.0 * e)
    })
}

/// 0.1 mm above the corner nothing is touched; 0.1 mm below it is hit.
#[test]
fn flights_past_a_corner_touch_it_if_and_only_if_it_is_in_the_way() {
    for scheme in ["", "scheme = \"implicit\"\n"] {
        for seed in 0..60 {
            let (text, v) = flight(seed, 1e-4);
            let text = text + scheme;
            let (_, state) = run(&text);
            let change = farthest(&state.velocity[..3], &v);
            assert!(change <= 1e-12, "{scheme} seed {seed} is thrown off by {change:.2e} m/s\n{text}");
            // the implicit scheme lets grazing bodies pass
            let (text, v) = flight(seed, if scheme.is_empty() { -1e-4 } else { -2e-3 });
            let (_, state) = run(&(text + scheme));
            let change = farthest(&state.velocity[..3], &v);
            assert!(change >= 1e-9, "{scheme} seed {seed} flies through the corner");
        }
    }
}

/// A step of 0.1 mm stops a box, a slot catches a ball, walls of 1 mm and 1 cm hold at 40 m/s.
#[test]
fn steps_slots_and_thin_walls_are_met() {
    let low = tiles([&[-1.0, 0.4, 1.0], &[-1.0, 1.0]], |i| 1e-4 * i as f64);
    let x = slides(&low, BODIES[0], [2.0, 0.0], "duration = 0.5", "");
    assert!((x[0] - 0.34).abs() < 2e-3 || x[2] > 0.0201, "{x:?}");
    let slot = tiles([&[-1.0, 0.4], &[-1.0, 1.0]], |_| 0.0)
        + &tiles([&[0.46, 1.0], &[-1.0, 1.0]], |_| 0.0).replace("tile", "far");
    let ball = ("{ sphere = { radius = 0.02 } }", "position = [0.3, 0, 0.02]");
    let x = slides(&slot, ball, [0.3, 0.0], "duration = 1", "");
    assert!(x[2] < 0.0 && x[0] < 0.46, "{x:?}");
    for (half, shape) in
        [(0.0005, "{ sphere = { radius = 0.002 } }"), (0.005, "{ box = { half = [0.01, 0.01, 0.01] } }")]
    {
        for k in 0..20 {
            let from = 0.5 + 0.0021 * f64::from(k);
            let text = format!(
                "gravity = [0, 0, 0]\n[[world]]\nname = \"wall\"\nshape = {{ box = {{ half = [{half}, 1, 1] }} }}\n[[body]]\nname = \"body\"\nshape = {shape}\n\
                 mass = 1\nposition = [-{from}, 0, 0]\nvelocity = [40, 0.3, 0]\n[step]\nduration = 0.05\n"
            );
            let x = run(&text).1.position;
            assert!(x[0] < 0.0, "{shape} from {from} is at {x:?}");
        }
    }
}

/// A flat landing on four corners stays symmetric.
#[test]
fn a_box_that_lands_flat_stays_level() {
    for (k, drop) in [1e-3, 3.3e-3, 0.05, 0.2].into_iter().enumerate() {
        let text = format!(
            "{}[[body]]\nname = \"body\"\nshape = {{ box = {{ half = [0.06, 0.05, 0.02] }} }}\nmass = 1\nposition = [0, 0, {}]\n[step]\nduration = 0.4\n",
            tiles([&[-1.0, 0.01 * k as f64, 1.0], &[-1.0, 0.0, 1.0]], |_| 0.0),
            0.02 + drop
        );
        let (_, state) = run(&text);
        assert!(state.velocity.iter().all(|v| v.abs() < 1e-9), "{:?}", state.velocity);
        let tilt = length([state.position[4], state.position[5], state.position[6]]);
        assert!(tilt < 1e-9 && (state.position[2] - 0.02).abs() < 1e-9, "{:?}", state.position);
    }
}
