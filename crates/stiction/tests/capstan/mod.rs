//! A capstan: a chain of links over half of a drum.

use std::fmt::Write as _;

/// Links of 1 g on pins, over half of a drum of 0.5 m with friction 0.3; at the first end hang 10 N, at the last `ratio` times as much.
pub fn capstan(links: u32, ratio: f64) -> String {
    let (turn, thick) = (std::f64::consts::PI / f64::from(links), 0.005);
    let (radius, half) = (0.5 + thick, (0.5 + thick) * (0.5 * turn).tan());
    let mut out = String::from(
        "planar = true\n[[material]]\nname = \"default\"\nfriction = 0.3\n[[world]]\nname = \"drum\"\nshape = { sphere = { radius = 0.5 } }\n",
    );
    let (sin, cos) = (std::f64::consts::PI - 0.5 * turn).sin_cos();
    let inertia = 1e-3 / 3.0 * (half * half + thick * thick);
    write!(
        out,
        "[[body]]\nname = \"l0\"\nshape = {{ box = {{ half = [{half}, {thick}] }} }}\nmass = 1e-3\ninertia = {inertia}\nposition = [{}, {}]\nangle = {}\n",
        radius * cos,
        radius * sin,
        std::f64::consts::FRAC_PI_2 - 0.5 * turn
    )
    .unwrap();
    for k in 1..links {
        let mount = if k == 1 { half } else { 2.0 * half };
        write!(
            out,
            "[[body]]\nname = \"l{k}\"\nparent = \"l{}\"\njoint = {{ revolute = {{}} }}\nmount = {{ position = [{mount}, 0] }}\nmass = 1e-3\ncenter = [{half}, 0]\ninertia = {inertia}\nangle = {}\n[[body.part]]\nshape = {{ box = {{ half = [{half}, {thick}] }} }}\nposition = [{half}, 0]\n",
            k - 1,
            -turn
        )
        .unwrap();
    }
    write!(
        out,
        "[[load]]\nbody = \"l0\"\npoint = [{}, 0]\nforce = {{ constant = [0, -10] }}\n[[load]]\nbody = \"l{}\"\npoint = [{}, 0]\nforce = {{ constant = [0, {}] }}\n",
        -half,
        links - 1,
        2.0 * half,
        -10.0 * ratio
    )
    .unwrap();
    out
}
