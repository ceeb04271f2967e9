//! Patches at a time, seen along their normal: pressure, traction, stick and slip.

use super::axis::Axis;
use super::chart::{LARGE, NORMAL, SMALL, TOP};
use super::data::{Source, contact_names, group, natural, wanted};
use super::drawing::{Anchor, Drawing, INK};
use super::status::{OPEN, SLIP, STICK};
use crate::InputError;
use stiction::record::Rows;
use stiction::scene::Table;
use stiction::space::{Frame, Vector, dot, length, sub};

const MAP: f64 = 220.0;
const LEFT: f64 = 66.0;
const RIGHT: f64 = 92.0;
const BELOW: f64 = 70.0;
/// Friction below this share of the greatest pressure is not shown.
const ROUNDING: f64 = 1e-6;

/// An element in the plane of its patch, m from the patch's middle.
struct Cell {
    at: [f64; 2],
    /// Along n, t, o, Pa.
    traction: [f64; 3],
    status: &'static str,
}

struct Patch {
    name: String,
    time: f64,
    spacing: f64,
    cells: Vec<Cell>,
}

/// `None` if no contact has elements side by side in both directions.
pub fn draw(sources: &[Source], contacts: &[String], at: Option<f64>) -> Result<Option<Drawing>, InputError> {
    let mut patches = vec![];
    for source in sources {
        let rows = source.read(Table::Contacts)?;
        for mut patch in find(source, &rows, contacts, at) {
            if sources.len() > 1 {
                patch.name = format!("{}: {}", source.label, patch.name);
            }
            patches.push(patch);
        }
    }
    if patches.is_empty() {
        return Ok(None);
    }
    let row = TOP + MAP + BELOW;
    let mut drawing = Drawing::new(3.0 * (LEFT + MAP + RIGHT), row * patches.len() as f64);
    for (k, patch) in patches.iter().enumerate() {
        patch.draw(&mut drawing, row * k as f64);
    }
    Ok(Some(drawing))
}

/// Each contact's patch at the record nearest to the time; by default its last.
fn find(source: &Source, rows: &Rows, contacts: &[String], at: Option<f64>) -> Vec<Patch> {
    let (names, time): (Vec<&str>, _) = (rows.words("contact").collect(), rows.numbers("time"));
    let of = |k: usize| (source.shows(time[k]) && wanted(contacts, names[k])).then_some((names[k], 0));
    let mut patches = vec![];
    let mut groups = group(rows.len(), of);
    groups.sort_by(|a, b| natural(&a.0.0, &b.0.0));
    let shown = contact_names(groups.iter().map(|g| g.0.0.as_str()));
    for ((name, _), track) in groups {
        let away = |k: &usize| at.map_or(-time[*k], |t| (time[*k] - t).abs());
        let Some(&nearest) = track.iter().min_by(|a, b| away(a).total_cmp(&away(b))) else { continue };
        let now: Vec<usize> = track.into_iter().filter(|k| time[*k] == time[nearest]).collect();
        patches.extend(flat(rows, shown[&name].clone(), &now));
    }
    patches
}

/// The elements in the plane of the first one's normal; `None` if they lie on a line.
fn flat(rows: &Rows, name: String, now: &[usize]) -> Option<Patch> {
    let vector = |columns: [&str; 3], k: usize| -> Vector { columns.map(|c| rows.numbers(c)[k]) };
    let first = *now.first()?;
    let frame = Frame::new(vector(["nx", "ny", "nz"], first), [1.0, 0.0, 0.0]);
    let points: Vec<Vector> = now.iter().map(|k| vector(["px", "py", "pz"], *k)).collect();
    let n = points.len() as f64;
    let middle = [0, 1, 2].map(|i| points.iter().map(|p| p[i]).sum::<f64>() / n);
    let place = |p: &Vector| [dot(sub(*p, middle), frame.t), dot(sub(*p, middle), frame.o)];
    let places: Vec<[f64; 2]> = points.iter().map(place).collect();
    let spacing = points[1..].iter().map(|p| length(sub(*p, points[0]))).fold(f64::INFINITY, f64::min);
    let extent = |i: usize| places.iter().map(|p| p[i].abs()).fold(0.0, f64::max);
    if !(spacing > 0.0 && spacing.is_finite()) || extent(0).min(extent(1)) < 0.25 * spacing {
        return None;
    }
    let status: Vec<&str> = rows.words("status").collect();
    let cells = now.iter().zip(places).map(|(k, at)| Cell {
        at,
        traction: vector(["force_n", "force_t", "force_o"], *k).map(|f| f / (spacing * spacing)),
        status: match status[*k] {
            "stick" => STICK,
            "slip" => SLIP,
            _ => OPEN,
        },
    });
    Some(Patch { name, time: rows.numbers("time")[first], spacing, cells: cells.collect() })
}

impl Patch {
    fn draw(&self, drawing: &mut Drawing, y: f64) {
        let title = format!("{} at t = {:.6} s", self.name, self.time);
        drawing.text([LEFT, y + 18.0], LARGE, Anchor::Start, &title);
        let pressure: Vec<f64> = self.cells.iter().map(|c| c.traction[0]).collect();
        // friction that is rounding alone is none
        let most = |list: &[f64]| list.iter().copied().fold(0.0, f64::max);
        let least = ROUNDING * most(&pressure);
        let friction = self.cells.iter().map(|c| c.traction[1].hypot(c.traction[2]));
        let friction: Vec<f64> = friction.map(|f| if f > least { f } else { 0.0 }).collect();
        let top = y + TOP;
        let column = |k: f64| k * (LEFT + MAP + RIGHT) + LEFT;
        // without friction its scale is that of the pressure
        let scales = [most(&pressure), if most(&friction) > 0.0 { most(&friction) } else { most(&pressure) }];
        self.map(drawing, [column(0.0), top], "pressure", &pressure, scales[0]);
        self.map(drawing, [column(1.0), top], "friction", &friction, scales[1]);
        self.arrows(drawing, [column(1.0), top], &friction);
        self.cells(drawing, [column(2.0), top], |k| self.cells[k].status.to_owned());
        for (k, (name, colour)) in [("stick", STICK), ("slip", SLIP), ("open", OPEN)].into_iter().enumerate()
        {
            let (x, y) = (column(2.0) + MAP + 12.0, top + 18.0 * k as f64);
            drawing.rect([x, y + 3.0, 14.0, 12.0], colour);
            drawing.text([x + 22.0, y + 13.0], NORMAL, Anchor::Start, name);
        }
    }

    /// Half the side of the square that holds the patch, m.
    fn half(&self) -> f64 {
        let farthest = self.cells.iter().flat_map(|c| c.at).fold(0.0, |m: f64, x| m.max(x.abs()));
        farthest + 0.5 * self.spacing
    }

    fn place(&self, [x, y]: [f64; 2], at: [f64; 2]) -> [f64; 2] {
        let scale = MAP / (2.0 * self.half());
        [x + MAP / 2.0 + scale * at[0], y + MAP / 2.0 - scale * at[1]]
    }

    fn cells(&self, drawing: &mut Drawing, corner: [f64; 2], colour: impl Fn(usize) -> String) {
        let side = MAP / (2.0 * self.half()) * self.spacing;
        for (k, cell) in self.cells.iter().enumerate() {
            let [x, y] = self.place(corner, cell.at);
            drawing.tile([x - side / 2.0, y - side / 2.0, side, side], &colour(k));
        }
        let [x, y] = corner;
        let axis = Axis::new([-self.half(), self.half()], "m", 4.0);
        for (value, label) in &axis.ticks {
            let along = MAP * axis.share(*value);
            drawing.line([x + along, y + MAP], [x + along, y + MAP + 4.0], INK, 0.8);
            drawing.text([x + along, y + MAP + 17.0], SMALL, Anchor::Middle, label);
            drawing.line([x - 4.0, y + MAP - along], [x, y + MAP - along], INK, 0.8);
            drawing.text([x - 7.0, y + MAP - along + 4.0], SMALL, Anchor::End, label);
        }
        drawing.text([x + MAP / 2.0, y + MAP + 35.0], NORMAL, Anchor::Middle, &axis.label("t"));
        drawing.turned([x - 44.0, y + MAP / 2.0], -90.0, NORMAL, Anchor::Middle, &axis.label("o"));
        drawing.frame([x, y, MAP, MAP]);
    }

    /// Values as colours, and a bar that says which is which.
    fn map(&self, drawing: &mut Drawing, corner: [f64; 2], what: &str, values: &[f64], most: f64) {
        let axis = Axis::new([0.0, if most > 0.0 { most } else { 1.0 }], "Pa", 4.0);
        self.cells(drawing, corner, |k| colour(axis.share(values[k])));
        let (x, y) = (corner[0] + MAP + 12.0, corner[1]);
        const BARS: usize = 64;
        for k in 0..BARS {
            let h = MAP / BARS as f64;
            let share = (k as f64 + 0.5) / BARS as f64;
            drawing.tile([x, y + MAP - h * (k + 1) as f64, 12.0, h], &colour(share));
        }
        drawing.frame([x, y, 12.0, MAP]);
        for (value, label) in &axis.ticks {
            let at = y + MAP * (1.0 - axis.share(*value));
            drawing.line([x + 12.0, at], [x + 16.0, at], INK, 0.8);
            drawing.text([x + 19.0, at + 4.0], SMALL, Anchor::Start, label);
        }
        drawing.turned([x + 66.0, y + MAP / 2.0], -90.0, NORMAL, Anchor::Middle, &axis.label(what));
    }

    /// Where friction points, and how strong it is.
    fn arrows(&self, drawing: &mut Drawing, corner: [f64; 2], friction: &[f64]) {
        let most = friction.iter().copied().fold(0.0, f64::max);
        let side = MAP / (2.0 * self.half()) * self.spacing;
        if most <= 0.0 || side < 6.0 {
            return;
        }
        for (cell, size) in self.cells.iter().zip(friction).filter(|(_, size)| **size > 0.02 * most) {
            let [x, y] = self.place(corner, cell.at);
            let (u, v) = (cell.traction[1] / most, -cell.traction[2] / most);
            let long = 0.42 * side;
            let shade = if *size > 0.6 * most { "#000000" } else { "#ffffff" };
            let tip = [x + long * u, y + long * v];
            drawing.line([x - long * u, y - long * v], tip, shade, 1.0);
            let wing = |turn: f64| {
                let (s, c) = turn.sin_cos();
                [tip[0] + 0.4 * long * (c * u - s * v), tip[1] + 0.4 * long * (s * u + c * v)]
            };
            drawing.line(tip, wing(2.6), shade, 1.0);
            drawing.line(tip, wing(-2.6), shade, 1.0);
        }
    }
}

/// A scale from dark blue to yellow that rises evenly in lightness (viridis).
fn colour(share: f64) -> String {
    const STOPS: [[f64; 3]; 9] = [
        [68.0, 1.0, 84.0],
        [71.0, 44.0, 122.0],
        [59.0, 81.0, 139.0],
        [44.0, 113.0, 142.0],
        [33.0, 144.0, 141.0],
        [39.0, 173.0, 129.0],
        [92.0, 200.0, 99.0],
        [170.0, 220.0, 50.0],
        [253.0, 231.0, 37.0],
    ];
    let place = share.clamp(0.0, 1.0) * 8.0;
    let k = (place as usize).min(7);
    let [r, g, b] = [0, 1, 2].map(|i| {
        let mixed = STOPS[k][i] + (place - k as f64) * (STOPS[k + 1][i] - STOPS[k][i]);
        mixed.round() as u8
    });
    format!("#{r:02x}{g:02x}{b:02x}")
}
