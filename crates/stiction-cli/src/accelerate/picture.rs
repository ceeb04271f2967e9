//! Bodies, contact forces and accelerations as a drawing, one panel per solution.

use super::Found;
use crate::InputError;
use crate::args::ViewPlane;
use crate::plot::drawing::{Anchor, Drawing, GREY, INK};
use crate::plot::write_drawing;
use std::path::Path;
use stiction::analysis::accelerate::Possible;
use stiction::dynamics::Kinematics;
use stiction::geometry::{Shape, bounding_box};
use stiction::model::Owner;
use stiction::space::{Pose, Quaternion, Vector, add, dot, length, scale, sub};

const PANEL: f64 = 360.0;
const MARGIN: f64 = 24.0;
const TITLE: f64 = 46.0;
const MOST_PANELS: usize = 6;
/// Directions in which outlines are sampled.
const DIRECTIONS: usize = 180;
const FORCE: &str = "#c0392b";
const MOTION: &str = "#1f5fa8";
const FILL: &str = "#e8edf2";
/// Length of the longest arrow, as a share of the panel.
const ARROW: f64 = 0.28;

/// Right and up in the picture.
type Plane = [Vector; 2];

pub fn write(found: &Found, file: &Path, view: ViewPlane) -> Result<(), InputError> {
    let (x, y, z) = ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]);
    let plane = match view {
        _ if found.model.scene().planar => [x, y],
        ViewPlane::Xz => [x, z],
        ViewPlane::Xy => [x, y],
        ViewPlane::Yz => [y, z],
    };
    let drawing = draw(found, plane);
    write_drawing(file, &drawing)
}

fn draw(found: &Found, plane: Plane) -> Drawing {
    let mut kinematics = Kinematics::new(found.model.system());
    kinematics.update(&found.state.position, &found.state.velocity);
    let list = &found.answer.pyramid.list;
    let cone = found.answer.cone.as_ref().map_or(&[][..], |c| &c.list);
    let shown = if list.is_empty() { cone } else { list };
    let shown = &shown[..shown.len().min(MOST_PANELS)];
    let panels = shown.len().max(1);
    let columns = panels.min(3);
    let mut drawing = Drawing::new(columns as f64 * PANEL, panels.div_ceil(columns) as f64 * (PANEL + TITLE));
    let outlines = outlines(found, &kinematics, plane);
    let fit = Fit::new(found, &outlines, plane);
    for k in 0..panels {
        let corner = [(k % columns) as f64 * PANEL, (k / columns) as f64 * (PANEL + TITLE) + TITLE];
        let name = &found.model.scene().name;
        let title = match shown.len() {
            0 => format!("{name}: {}", found.answer.status()),
            1 => name.clone(),
            of => format!("{name}: solution {} of {of}", k + 1),
        };
        drawing.text([corner[0] + MARGIN, corner[1] - 26.0], 13.0, Anchor::Start, &title);
        let fit = Fit { corner, ..fit };
        drawing.clip([corner[0], corner[1], PANEL, PANEL]);
        for (outline, _) in &outlines {
            let points: Vec<[f64; 2]> = outline.iter().map(|p| fit.place(*p)).collect();
            drawing.polygon(&points, FILL);
            let closed: Vec<[f64; 2]> = points.iter().chain(points.first()).copied().collect();
            drawing.path(&[closed], INK, &[]);
        }
        drawing.unclip();
        if let Some(possible) = shown.get(k) {
            arrows(&mut drawing, found, &kinematics, possible, &fit, plane);
        }
        drawing.frame([corner[0] + 2.0, corner[1] + 2.0, PANEL - 4.0, PANEL - 4.0]);
    }
    drawing
}

/// Where metres are in a panel.
#[derive(Clone, Copy)]
struct Fit {
    corner: [f64; 2],
    middle: [f64; 2],
    scale: f64,
}

impl Fit {
    fn new(found: &Found, outlines: &[(Vec<[f64; 2]>, bool)], plane: Plane) -> Self {
        let points = found.answer.contacts.iter().map(|c| flat(c.point, plane));
        let bodies = outlines.iter().filter(|(_, bounded)| *bounded).flat_map(|(o, _)| o.iter().copied());
        let all: Vec<[f64; 2]> = points.chain(bodies).collect();
        let bound = |i: usize| {
            let values = all.iter().map(|p| p[i]);
            values.fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], x| [a.min(x), b.max(x)])
        };
        let [[left, right], [low, high]] = [bound(0), bound(1)];
        let size = (right - left).max(high - low);
        let size = if size.is_finite() && size > 0.0 { size } else { 1.0 };
        let middle = if left.is_finite() { [0.5 * (left + right), 0.5 * (low + high)] } else { [0.0; 2] };
        Self { corner: [0.0; 2], middle, scale: (PANEL - 2.0 * MARGIN) * (1.0 - ARROW) / size }
    }

    fn place(&self, p: [f64; 2]) -> [f64; 2] {
        let [x, y] = self.corner;
        [
            x + 0.5 * PANEL + self.scale * (p[0] - self.middle[0]),
            y + 0.5 * PANEL - self.scale * (p[1] - self.middle[1]),
        ]
    }
}

fn flat(p: Vector, plane: Plane) -> [f64; 2] {
    plane.map(|axis| dot(p, axis))
}

/// Outlines of all parts in the plane, and whether each is bounded.
fn outlines(found: &Found, kinematics: &Kinematics, plane: Plane) -> Vec<(Vec<[f64; 2]>, bool)> {
    let mut all = vec![];
    for part in found.model.parts() {
        let pose = match part.owner {
            Owner::Body(i) => kinematics.pose(i).then(&part.local),
            Owner::World(_) => part.local,
        };
        if *part.solid.shape() == Shape::HalfSpace {
            let up = if found.model.scene().planar { [0.0, 1.0, 0.0] } else { [0.0, 0.0, 1.0] };
            all.push((half_plane(&pose, pose.attitude.apply(up), plane), false));
            continue;
        }
        // support of the part along a direction of the plane: the extent of its box in turned axes
        let support = |angle: f64| {
            let (sin, cos) = angle.sin_cos();
            let d = add(scale(cos, plane[0]), scale(sin, plane[1]));
            let turn = onto_x(d);
            let turned = Pose { position: turn.apply(pose.position), attitude: turn.after(pose.attitude) };
            bounding_box(&part.solid, &turned, 0.0).max[0]
        };
        let angle = |k: usize| std::f64::consts::TAU * (k % DIRECTIONS) as f64 / DIRECTIONS as f64;
        let supports: Vec<f64> = (0..DIRECTIONS).map(|k| support(angle(k))).collect();
        let corner = |k: usize| {
            let ((s, c), (t, d)) = (angle(k).sin_cos(), angle(k + 1).sin_cos());
            let (p, q) = (supports[k], supports[(k + 1) % DIRECTIONS]);
            let determinant = c * t - s * d;
            [(p * t - q * s) / determinant, (q * c - p * d) / determinant]
        };
        all.push(((0..DIRECTIONS).map(corner).collect(), true));
    }
    // what is unbounded lies behind
    all.sort_by_key(|(_, bounded)| *bounded);
    all
}

/// Rotation that takes a unit vector to the x axis.
fn onto_x(d: Vector) -> Quaternion {
    let axis = [0.0, d[2], -d[1]];
    let sin = length(axis);
    match sin > 1e-12 {
        true => Quaternion::turn(scale(sin.atan2(d[0]) / sin, axis)),
        false if d[0] > 0.0 => Quaternion([1.0, 0.0, 0.0, 0.0]),
        false => Quaternion([0.0, 0.0, 0.0, 1.0]),
    }
}

/// A half-space seen in the plane: a large rectangle below its surface; nothing if it is seen from above.
fn half_plane(pose: &Pose, normal: Vector, plane: Plane) -> Vec<[f64; 2]> {
    let (n, at) = (flat(normal, plane), flat(pose.position, plane));
    let size = n[0].hypot(n[1]);
    if size < 1e-6 {
        return vec![];
    }
    let (n, far) = ([n[0] / size, n[1] / size], 1e3);
    let t = [n[1], -n[0]];
    let corner = |a: f64, b: f64| [at[0] + far * (a * t[0] + b * n[0]), at[1] + far * (a * t[1] + b * n[1])];
    vec![corner(-1.0, 0.0), corner(1.0, 0.0), corner(1.0, -1.0), corner(-1.0, -1.0)]
}

fn arrows(
    drawing: &mut Drawing,
    found: &Found,
    kinematics: &Kinematics,
    p: &Possible,
    fit: &Fit,
    plane: Plane,
) {
    let contacts = found.answer.contacts.iter().zip(&p.contacts);
    let forces: Vec<(Vector, Vector)> = contacts.map(|(at, c)| (at.point, at.frame.world(c.force))).collect();
    let strongest = forces.iter().fold(0.0f64, |m, (_, f)| m.max(length(*f)));
    let long = ARROW * (PANEL - 2.0 * MARGIN);
    for (point, force) in &forces {
        if length(*force) > 1e-9 * strongest {
            arrow(
                drawing,
                fit.place(flat(*point, plane)),
                flat(scale(long / strongest, *force), plane),
                FORCE,
            );
        }
    }
    let motions = motions(found, kinematics, p);
    let fastest = motions.iter().fold(0.0f64, |m, (_, a)| m.max(length(*a)));
    for (point, motion) in &motions {
        if length(*motion) > 1e-6 * fastest && fastest > 1e-12 {
            arrow(
                drawing,
                fit.place(flat(*point, plane)),
                flat(scale(0.7 * long / fastest, *motion), plane),
                MOTION,
            );
        }
    }
    let [x, y] = fit.corner;
    let (what, unit) =
        if found.answer.quasistatic { ("displacement", "m") } else { ("acceleration", "m/s^2") };
    let words = format!("red: forces to {strongest:.3} N; blue: {what} to {fastest:.3} {unit}");
    drawing.text([x + MARGIN, y - 9.0], 10.0, Anchor::Start, &words);
}

/// Centre of each body that moves, and its acceleration (displacement).
fn motions(found: &Found, kinematics: &Kinematics, p: &Possible) -> Vec<(Vector, Vector)> {
    let bodies = 0..found.model.scene().bodies.len();
    bodies
        .map(|i| {
            let center = kinematics.center(i);
            let bias = kinematics.bias_acceleration(i, center).0;
            let along = |direction: Vector| {
                let mut row = vec![0.0; p.accelerations.len()];
                kinematics.jacobian_row(i, center, direction, 1.0, &mut row);
                row.iter().zip(&p.accelerations).map(|(r, a)| r * a).sum::<f64>()
            };
            let linear = [along([1.0, 0.0, 0.0]), along([0.0, 1.0, 0.0]), along([0.0, 0.0, 1.0])];
            (center, if found.answer.quasistatic { linear } else { add(linear, bias) })
        })
        .collect()
}

/// An arrow from a point by a vector with y up, in pixels.
fn arrow(drawing: &mut Drawing, from: [f64; 2], [u, v]: [f64; 2], colour: &str) {
    let size = u.hypot(v);
    if size < 1.0 {
        return drawing.polygon(
            &[[from[0] - 2.0, from[1]], [from[0], from[1] - 2.0], [from[0] + 2.0, from[1]]],
            colour,
        );
    }
    let tip = [from[0] + u, from[1] - v];
    drawing.line(from, tip, colour, 2.0);
    let (d, head) = ([u / size, -v / size], 9.0f64.min(0.5 * size));
    let base = sub([tip[0], tip[1], 0.0], scale(head, [d[0], d[1], 0.0]));
    let wing = |s: f64| [base[0] - s * 0.42 * head * d[1], base[1] + s * 0.42 * head * d[0]];
    drawing.polygon(&[tip, wing(1.0), wing(-1.0)], colour);
    drawing.line([from[0] - 1.5, from[1]], [from[0] + 1.5, from[1]], GREY, 3.0);
}
