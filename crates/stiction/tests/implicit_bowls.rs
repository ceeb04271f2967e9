//! Random bowls under the implicit scheme: ten bodies of all kinds, with and without layers, fall into a bowl of planes. `STICTION_BOWLS=100` runs more of them, from `STICTION_FIRST` on.

use std::fmt::Write;
use stiction::stepper::Stepper;

/// splitmix64, in [0, 1).
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    fn three(&mut self, low: f64, high: f64) -> [f64; 3] {
        [0; 3].map(|_| self.between(low, high))
    }
}

/// A scene of ten bodies; mixtures, materials, places and spins follow from the seed.
fn bowl(seed: u64) -> String {
    let mut random = Random(seed);
    let r = &mut random;
    let mut text = String::new();
    let friction = r.between(0.2, 0.8);
    let [torsion, rolling] = if r.unit() < 0.5 { [0.002, 0.001] } else { [0.0; 2] };
    for name in ["hard", "soft", "thin"] {
        writeln!(text, "[[material]]\nname = '{name}'\nfriction = {friction}\ntorsion = {torsion}\nrolling = {rolling}\ndensity = 1000").unwrap();
        if name != "hard" {
            let (k, c) = (r.between(1e4, 4e4), r.between(20.0, 80.0));
            let thickness = if name == "soft" { 0.003 } else { 0.001 };
            writeln!(
                text,
                "law = {{ layer = {{ stiffness = [{k}, {}], damping = [{c}, {}], thickness = {thickness} }} }}",
                0.5 * k,
                0.7 * c
            )
            .unwrap();
        }
    }
    let ground = ["hard", "hard", "thin"][(3.0 * r.unit()) as usize];
    writeln!(text, "[[world]]\nname = 'floor'\nshape = 'half_space'\nmaterial = '{ground}'").unwrap();
    for (name, x, y) in [("east", 1.0, 0.0), ("west", -1.0, 0.0), ("north", 0.0, 1.0), ("south", 0.0, -1.0)] {
        writeln!(
            text,
            "[[world]]\nname = '{name}'\nshape = 'half_space'\nmaterial = '{ground}'\nposition = [{}, {}, 0]\norientation = {{ axis = [{y}, {}, 0], angle_deg = 60 }}",
            0.25 * x, 0.25 * y, -x
        )
        .unwrap();
    }
    for k in 0..10 {
        let [a, b, c] = r.three(0.03, 0.06);
        let shape = match (8.0 * r.unit()) as usize {
            0 => format!("sphere = {{ radius = {a} }}"),
            1 => format!("ellipsoid = {{ semi_axes = [{a}, {b}, {c}] }}"),
            2 | 3 => format!(
                "superellipsoid = {{ semi_axes = [{a}, {b}, {c}], exponent = {} }}",
                r.between(2.1, 4.0)
            ),
            4 => format!("box = {{ half = [{}, {}, {}] }}", 0.8 * a, 0.8 * b, 0.8 * c),
            5 => format!("capsule = {{ radius = {}, half_length = {b} }}", 0.6 * a),
            6 => format!(
                "intersection = {{ members = [ {{ shape = {{ sphere = {{ radius = 0.1 }} }}, position = [0, 0, {}] }}, {{ shape = {{ sphere = {{ radius = 0.1 }} }}, position = [0, 0, {}] }} ] }}",
                b + 0.01,
                -b - 0.01
            ),
            _ => format!(
                "quadric = {{ matrix = [{}, {}, {}, 0, 0, 0], constant = -1 }}",
                a.powi(-2),
                b.powi(-2),
                c.powi(-2)
            ),
        };
        let material = ["hard", "soft", "thin"][(3.0 * r.unit()) as usize];
        let [dx, dy, dz] = r.three(-0.005, 0.005);
        let place = [
            if k % 2 == 0 { -0.1 } else { 0.1 } + dx,
            if k / 2 % 2 == 0 { -0.1 } else { 0.1 } + dy,
            0.12 + 0.2 * f64::from(k / 4) + dz,
        ];
        let (axis, angle, spin) = (r.three(-1.0, 1.0), r.between(0.0, 180.0), r.three(-4.0, 4.0));
        writeln!(
            text,
            "[[body]]\nname = 'body{k}'\nshape = {{ {shape} }}\nmaterial = '{material}'\nposition = {place:?}\norientation = {{ axis = {axis:?}, angle_deg = {angle} }}\nangular_velocity = {spin:?}"
        )
        .unwrap();
        if shape.starts_with("inter") || shape.starts_with("quadric") {
            writeln!(text, "mass = 0.4\ninertia = [4e-4, 4e-4, 5e-4]").unwrap();
        }
    }
    text + "[step]\nscheme = 'implicit'\nh = 2e-3\n"
}

#[test]
fn random_bowls_run_without_a_loose_step() {
    let count = std::env::var("STICTION_BOWLS").ok().and_then(|n| n.parse().ok()).unwrap_or(5);
    let first = std::env::var("STICTION_FIRST").ok().and_then(|n| n.parse().ok()).unwrap_or(17);
    println!("| seed | kinetic energy, J | cut | loose | rounds per step | deepest, m | residual |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    let mut faults = vec![];
    for seed in first..first + count {
        let scene = stiction::from_toml("bowl", &bowl(seed)).unwrap();
        let mut stepper = Stepper::new(scene).unwrap();
        let mut state = stepper.initial();
        let (mut cut, mut rounds, mut loose, mut deepest, mut residual) = (0, 0, 0, 0.0f64, 0.0f64);
        let mut steps = 0;
        for _ in 0..1300 {
            match stepper.step(&mut state) {
                Ok(report) => {
                    steps += 1;
                    cut += usize::from(report.parts > 1);
                    rounds += report.rounds;
                    loose += report.loose;
                    residual = residual.max(report.residual.relative);
                }
                Err(why) => {
                    faults.push(format!("seed {seed}: {why}"));
                    break;
                }
            }
            for e in stepper.elements() {
                deepest = deepest.max(-e.gap);
            }
        }
        let kinetic = stepper.energy(&state).kinetic;
        println!(
            "| {seed} | {kinetic:.1e} | {cut} | {loose} | {:.1} | {deepest:.1e} | {residual:.1e} |",
            rounds as f64 / f64::from(steps.max(1))
        );
        if loose > 0 || deepest > 1e-8 {
            faults.push(format!("seed {seed}: {loose} loose, deepest {deepest:e}"));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}
