//! Bodies over random flush tilings and tracks move as over one part.

use crate::contact_truth::{over_seeds, read, run};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::fmt::Write;

/// Deepest overlap at the end of a step, m: that of bodies that rock, of second order in the step.
const DEEP: f64 = 1e-3;

/// Boxes between cuts in x and y, their tops at z = 0 but for what `off` adds, as world parts (or of one body fixed to the world).
fn tiles(cuts: [&[f64]; 2], mut off: impl FnMut() -> f64) -> String {
    let (mut text, mut count) = (String::new(), 0);
    for x in cuts[0].windows(2) {
        for y in cuts[1].windows(2) {
            let half = [0.5 * (x[1] - x[0]), 0.5 * (y[1] - y[0])];
            let at = [0.5 * (x[1] + x[0]), 0.5 * (y[1] + y[0])];
            let _ = writeln!(
                text,
                "[[world]]\nname = \"tile {count}\"\nshape = {{ box = {{ half = [{}, {}, 0.05] }} }}\nposition = [{}, {}, {}]",
                half[0],
                half[1],
                at[0],
                at[1],
                off() - 0.05
            );
            count += 1;
        }
    }
    text
}

/// Kinds of bodies: the last ones consist of several parts.
const KINDS: std::ops::Range<u32> = 0..9;
const OF_PARTS: std::ops::Range<u32> = 8..11;

/// A body that lies on z = 0 at the origin, its shape turned about z: what comes after its name.
fn lying(random: &mut Pcg64, kinds: std::ops::Range<u32>) -> String {
    let s = 0.02 * 5f64.powf(random.random::<f64>());
    let [a, b, c] = [0, 1, 2].map(|_| s * (0.5 + random.random::<f64>()));
    let yaw = random.random_range(0..4) as f64 * 0.25 * std::f64::consts::PI + 0.3 * random.random::<f64>();
    let turned =
        |z: f64| format!("position = [0, 0, {z}]\norientation = {{ axis = [0, 0, 1], angle = {yaw} }}\n");
    let quarter = |axis: [f64; 3], z: f64| {
        format!("position = [0, 0, {z}]\norientation = {{ axis = {axis:?}, angle = 1.5707963267948966 }}\n")
    };
    let boxes = |list: &[([f64; 3], [f64; 3])]| -> String {
        let part = |(half, at): &([f64; 3], [f64; 3])| {
            format!("[[body.part]]\nshape = {{ box = {{ half = {half:?} }} }}\nposition = {at:?}\n")
        };
        list.iter().map(part).collect()
    };
    match random.random_range(kinds) {
        0 | 1 => format!("shape = {{ box = {{ half = [{a}, {b}, {c}] }} }}\n{}", turned(c)),
        2 => format!("shape = {{ sphere = {{ radius = {a} }} }}\n{}", turned(a)),
        3 => format!("shape = {{ cylinder = {{ radius = {a}, half_length = {b} }} }}\n{}", turned(b)),
        4 => format!(
            "shape = {{ cylinder = {{ radius = {a}, half_length = {b} }} }}\n{}",
            quarter([1.0, 0.0, 0.0], a)
        ),
        5 => format!(
            "shape = {{ capsule = {{ radius = {a}, half_length = {b} }} }}\n{}",
            quarter([1.0, 0.0, 0.0], a)
        ),
        6 => format!("shape = {{ ellipsoid = {{ semi_axes = [{a}, {b}, {c}] }} }}\n{}", turned(c)),
        7 => {
            // a prism on an irregular pentagon
            let corner = |k: usize, z: f64| {
                let angle = 1.2566 * k as f64 + 0.2 * (k * k % 5) as f64;
                format!("[{},{},{z}]", a * angle.cos(), b * angle.sin())
            };
            let list: Vec<String> = (0..5).flat_map(|k| [corner(k, -c), corner(k, c)]).collect();
            format!("shape = {{ polytope = {{ vertices = [{}] }} }}\n{}", list.join(","), turned(c))
        }
        // two boxes beside each other
        8 => turned(c) + &boxes(&[([a, b, c], [-a, 0.0, 0.0]), ([a, b, c], [a, 0.0, 0.0])]),
        // three boxes in an angle
        9 => {
            let places = [[0.0, 0.0, 0.0], [2.0 * a, 0.0, 0.0], [0.0, 2.0 * b, 0.0]];
            turned(c) + &boxes(&places.map(|at| ([a, b, c], at)))
        }
        // a table of four legs
        _ => {
            let legs = [[-a, -b], [-a, b], [a, -b], [a, b]];
            let mut parts: Vec<_> =
                legs.iter().map(|l| ([0.2 * a, 0.2 * b, 0.5 * c], [l[0], l[1], -0.5 * c])).collect();
            parts.push(([1.2 * a, 1.2 * b, 0.1 * c], [0.0, 0.0, 0.1 * c]));
            turned(c) + &boxes(&parts)
        }
    }
}

/// How a body slides over a floor: the end of its motion.
fn slides(floor: &str, body: &str, rest: &str) -> Result<Vec<f64>, String> {
    let text = format!("{floor}[[body]]\nname = \"body\"\ndensity = 1000\n{body}{rest}");
    let ran = run(read(&text)?).map_err(|e| format!("{e}\n{text}"))?;
    if let Some(w) = ran.truth.missed.iter().find(|w| w.gap < -DEEP) {
        return Err(format!("missed {w:?}\n{text}"));
    }
    Ok(ran.state.position)
}

fn farthest(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

fn random_cuts(random: &mut Pcg64, from: f64, to: f64, least: f64) -> Vec<f64> {
    let mut cuts = vec![-3.0];
    let mut at = from;
    while at < to {
        at += least + 3.0 * least * random.random::<f64>();
        cuts.push(at);
    }
    cuts.push(4.0);
    cuts
}

/// A body over tiles, against the same over one plate.
fn check(seed: u64, scheme: &str, law: &str, h: Option<f64>, off: f64) -> Result<(), String> {
    check_kinds(KINDS, seed, (scheme, law, h), off)
}

/// The same of some kinds of bodies.
fn check_kinds(
    kinds: std::ops::Range<u32>,
    seed: u64,
    (scheme, law, h): (&str, &str, Option<f64>),
    off: f64,
) -> Result<(), String> {
    let mut random = Pcg64::seed_from_u64(seed);
    let body = lying(&mut random, kinds);
    let h = h.unwrap_or_else(|| 1e-2 * 0.1f64.powf(2.0 * random.random::<f64>()));
    let speed = 0.3 + 2.5 * random.random::<f64>();
    let askew = if random.random::<f64>() < 0.5 { 0.0 } else { 0.5 * (random.random::<f64>() - 0.5) };
    let steps = (0.4 / h).min(1500.0).round();
    let friction = [0.0, 0.2, 0.5][random.random_range(0..3)];
    let rest = format!("[step]\nh = {h}\nduration = {}\n{scheme}", steps * h);
    let velocity = format!("velocity = [{speed}, {}, 0]\n", askew * speed);
    let body = match body.split_once("[[body.part]]") {
        Some((own, parts)) => format!("{own}{velocity}[[body.part]]{parts}"),
        None => body + &velocity,
    };
    let material = format!("[[material]]\nname = \"default\"\nfriction = {friction}\n{law}\n");
    let floor = |cuts: [&[f64]; 2], off: &mut dyn FnMut() -> f64| material.clone() + &tiles(cuts, off);
    let plate = slides(&floor([&[-3.0, 4.0], &[-3.0, 4.0]], &mut || 0.0), &body, &rest)?;
    // what moves by less than a tile begins on seams
    let from = if steps * h * speed < 0.1 { -0.2 } else { 0.01 };
    let x = random_cuts(&mut random, from, 1.0, 0.05);
    let y = if random.random::<f64>() < 0.5 {
        vec![-3.0, 4.0]
    } else {
        random_cuts(&mut random, -0.25, 0.25, 0.04)
    };
    let mut noise = Pcg64::seed_from_u64(seed);
    let mut height = || off * (noise.random::<f64>() - 0.5);
    let text = floor([&x, &y], &mut height);
    let many = slides(&text, &body, &rest)?;
    let apart = farthest(&plate, &many);
    // bodies that spin, soft laws and offsets change which points carry
    let spins = askew != 0.0 || body.contains("angle") || body.contains("body.part");
    let most = match (off > 0.0, !law.is_empty() || spins && friction > 0.0) {
        (true, _) => 2e-4,
        (_, true) => 1e-4,
        _ => 1e-6 * speed.max(1.0),
    };
    if apart > most {
        return Err(format!(
            "{apart:.2e} m apart (h = {h:.2e}, mu {friction}, off {off}, {speed:.2} m/s askew {askew:.2}) {}\n{plate:?}\n{many:?}\n{text}{body}{rest}",
            body.lines().next().unwrap_or_default()
        ));
    }
    Ok(())
}

#[test]
fn bodies_move_over_random_tilings_as_over_one_plate() {
    over_seeds("tilings", 8..40, |seed| check(seed, "", "", None, 0.0));
}

#[test]
fn bodies_move_over_tilings_that_are_a_little_off_as_over_one_plate() {
    over_seeds("tilings off by 1e-9", 8..28, |seed| check(seed, "", "", None, 1e-9));
    over_seeds("tilings off by 1e-6", 8..28, |seed| check(seed, "", "", None, 1e-6));
}

#[test]
fn implicit_bodies_move_over_random_tilings_as_over_one_plate() {
    over_seeds("implicit tilings", 0..20, |seed| check(seed, "scheme = \"implicit\"\n", "", Some(2e-3), 0.0));
}

const SOFT: &str = "law = { kelvin_voigt = { stiffness = 1e5, damping_ratio = 1, mass = 0.5 } }";
const HUNT_CROSSLEY: &str = "law = { hunt_crossley = { stiffness = 1e7, exponent = 1.5, dissipation = 0.4, tangential_stiffness = 1e5, tangential_damping = 200 } }";

#[test]
fn soft_bodies_move_over_random_tilings_as_over_one_plate() {
    over_seeds("soft tilings", 9..50, |seed| check(seed, "", SOFT, None, 0.0));
    over_seeds("Hunt-Crossley tilings", 0..20, |seed| check(seed, "", HUNT_CROSSLEY, Some(5e-4), 0.0));
}

#[test]
fn soft_bodies_move_over_tilings_that_are_a_little_off_as_over_one_plate() {
    for (law, name) in [(SOFT, "soft"), (HUNT_CROSSLEY, "Hunt-Crossley")] {
        for off in [1e-9, 1e-6] {
            over_seeds(&format!("{name} tilings off by {off}"), 0..12, |seed| {
                check(seed, "", law, Some(1e-3), off)
            });
        }
    }
}

#[test]
fn bodies_of_several_parts_move_over_random_tilings_as_over_one_plate() {
    for (name, law) in [("rigid", ""), ("soft", SOFT)] {
        over_seeds(&format!("{name} bodies of parts"), 0..20, |seed| {
            check_kinds(OF_PARTS, seed, ("", law, None), 0.0)
        });
    }
    over_seeds("implicit bodies of parts", 0..6, |seed| {
        check_kinds(OF_PARTS, seed, ("scheme = \"implicit\"\n", "", Some(2e-3)), 0.0)
    });
}

#[test]
fn bodies_move_over_random_tilings_in_long_and_short_steps() {
    over_seeds("tilings, h = 1e-2", 0..30, |seed| check(seed, "", "", Some(1e-2), 0.0));
    over_seeds("tilings, h = 1e-5", 0..9, |seed| check(seed, "", "", Some(1e-5), 0.0));
    over_seeds("soft tilings, h = 1e-5", 0..9, |seed| check(seed, "", SOFT, Some(1e-5), 0.0));
}

/// Closed forms over seams, for steps of h, h/2 and h/4: a rigid box stops after the discrete sum of its slide, which converges with the step. A soft one comes as near as that,
/// and then lies `m g / (4 k)` deep.
#[test]
fn boxes_over_seams_follow_closed_forms_at_every_step_length() {
    let (mu, g, speed, k): (f64, f64, f64, f64) = (0.3, 9.81, 1.0, 1e5);
    let floor = tiles([&[-3.0, 0.11, 0.13, 0.21, 0.3, 4.0], &[-3.0, -0.011, 0.02, 4.0]], || 0.0);
    for h in [4e-3, 2e-3, 1e-3] {
        for soft in [false, true] {
            let law = if soft { SOFT } else { "" };
            let text = format!("[[material]]\nname = \"default\"\nfriction = {mu}\n{law}\n{floor}");
            let body = format!(
                "shape = {{ box = {{ half = [0.06, 0.05, 0.02] }} }}\nposition = [0, 0, 0.02]\nvelocity = [{speed}, 0, 0]\n"
            );
            let end = slides(&text, &body, &format!("[step]\nh = {h}\nduration = 1\n")).expect("a run");
            // v_n = v - n mu g h down to 0, at the end of each step
            let steps = (speed / (mu * g * h)).floor();
            let sum = h * (steps * speed - 0.5 * steps * (steps + 1.0) * mu * g * h);
            let mass = 1000.0 * 0.12 * 0.1 * 0.04;
            // soft contacts carry late at first: of first order in the step
            let (deep, way, most) = match soft {
                true => (mass * g / (4.0 * k), speed * speed / (2.0 * mu * g), 2.0 * h * speed),
                false => (0.0, sum, 1e-9),
            };
            assert!((end[0] - way).abs() <= most, "h = {h}, soft {soft}: {} of {way}", end[0]);
            assert!(end[1].abs() <= 1e-6, "{end:?}");
            assert!(
                (0.02 - end[2] - deep).abs() <= 1e-9,
                "h = {h}, soft {soft}: {:e} of {deep:e}",
                0.02 - end[2]
            );
        }
    }
}

/// A ball without friction that goes round a valley of segments loses at each what the corner takes, `v cos(angle)`, and no more.
fn valley(seed: u64) -> Result<(), String> {
    let mut random = Pcg64::seed_from_u64(seed);
    let count = 3 + random.random_range(0..5);
    let r = 0.02;
    let (mut at, mut angle, mut track, mut expected) = ([0.0f64, 0.0f64], 0.0f64, String::new(), 1.0f64);
    for k in 0..count {
        let long = if k + 1 == count { 3.0 } else { 0.1 + 0.2 * random.random::<f64>() };
        let end = [at[0] + long * angle.cos(), at[1] + long * angle.sin()];
        let n = [-angle.sin(), angle.cos()];
        let under = |p: [f64; 2]| [p[0] - 0.05 * n[0], p[1] - 0.05 * n[1]];
        let corners = [at, under(at), under(end), end];
        let _ = writeln!(
            track,
            "[[world]]\nname = \"piece {k}\"\nshape = {{ polygon = {{ vertices = {corners:?} }} }}"
        );
        let turn = 0.02 + 0.2 * random.random::<f64>();
        if k + 1 < count {
            expected *= turn.cos();
            angle += turn;
        }
        at = end;
    }
    let speed = 1.0 + 2.0 * random.random::<f64>();
    let h = 1e-2 * 0.1f64.powf(1.0 + random.random::<f64>());
    let text = format!(
        "planar = true\ngravity = [0, 0]\n[[material]]\nname = \"default\"\nfriction = 0\n{track}[[body]]\nname = \"body\"\nshape = {{ sphere = {{ radius = {r} }} }}\nmass = 1\nposition = [0.02, {r}]\nvelocity = [{speed}, 0]\n[step]\nh = {h}\nduration = {}\n",
        2.0 / speed
    );
    let ran = run(read(&text)?).map_err(|e| format!("{e}\n{text}"))?;
    let v = ran.state.velocity[0].hypot(ran.state.velocity[1]) / speed;
    if (v - expected).abs() > 5e-5 {
        return Err(format!("speed {v} of {expected}, h = {h:.2e}\n{text}"));
    }
    Ok(())
}

#[test]
fn balls_keep_what_corners_of_valleys_leave() {
    over_seeds("valleys", 0..40, valley);
}
