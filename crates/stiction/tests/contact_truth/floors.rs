//! Bodies over random flush tilings and tracks move as over one part.

use crate::{over_seeds, read, run};
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

/// A body that lies on z = 0 at the origin, its shape turned about z: what comes after its name; and whether it is flat.
fn lying(random: &mut Pcg64) -> (String, bool) {
    let s = 0.02 * 5f64.powf(random.random::<f64>());
    let [a, b, c] = [0, 1, 2].map(|_| s * (0.5 + random.random::<f64>()));
    let yaw = random.random_range(0..4) as f64 * 0.25 * std::f64::consts::PI + 0.3 * random.random::<f64>();
    let turned =
        |z: f64| format!("position = [0, 0, {z}]\norientation = {{ axis = [0, 0, 1], angle = {yaw} }}\n");
    let quarter = |axis: [f64; 3], z: f64| {
        format!("position = [0, 0, {z}]\norientation = {{ axis = {axis:?}, angle = 1.5707963267948966 }}\n")
    };
    match random.random_range(0..9) {
        0 | 1 => (format!("shape = {{ box = {{ half = [{a}, {b}, {c}] }} }}\n{}", turned(c)), true),
        2 => (format!("shape = {{ sphere = {{ radius = {a} }} }}\n{}", turned(a)), false),
        3 => (format!("shape = {{ cylinder = {{ radius = {a}, half_length = {b} }} }}\n{}", turned(b)), true),
        4 => (
            format!(
                "shape = {{ cylinder = {{ radius = {a}, half_length = {b} }} }}\n{}",
                quarter([1.0, 0.0, 0.0], a)
            ),
            false,
        ),
        5 => (
            format!(
                "shape = {{ capsule = {{ radius = {a}, half_length = {b} }} }}\n{}",
                quarter([1.0, 0.0, 0.0], a)
            ),
            false,
        ),
        6 => (format!("shape = {{ ellipsoid = {{ semi_axes = [{a}, {b}, {c}] }} }}\n{}", turned(c)), false),
        7 => {
            // a prism on an irregular pentagon
            let corner = |k: usize, z: f64| {
                let angle = 1.2566 * k as f64 + 0.2 * (k * k % 5) as f64;
                format!("[{},{},{z}]", a * angle.cos(), b * angle.sin())
            };
            let list: Vec<String> = (0..5).flat_map(|k| [corner(k, -c), corner(k, c)]).collect();
            (format!("shape = {{ polytope = {{ vertices = [{}] }} }}\n{}", list.join(","), turned(c)), true)
        }
        _ => {
            // two boxes beside each other are one body
            let parts = [-1.0, 1.0].map(|side| {
                format!("[[body.part]]\nshape = {{ box = {{ half = [{a}, {b}, {c}] }} }}\nposition = [{}, 0, 0]\n", side * a)
            });
            (format!("{}{}", turned(c), parts.concat()), true)
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
    let mut random = Pcg64::seed_from_u64(seed);
    let (body, _) = lying(&mut random);
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
    let x = random_cuts(&mut random, 0.01, 1.0, 0.05);
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
