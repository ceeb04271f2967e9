//! Bodies: positions, angles and velocities over time.

use super::chart::{Chart, Line, Panel};
use super::data::{Source, group, wanted};
use super::legend::{Legend, title};
use crate::InputError;
use stiction::record::Rows;
use stiction::scene::Table;

/// Rows of each body.
type Tracks = Vec<(String, Vec<usize>)>;

fn tracks(source: &Source, rows: &Rows, bodies: &[String]) -> Tracks {
    let names: Vec<&str> = rows.words("body").collect();
    let time = rows.numbers("time");
    let of = |k: usize| (source.shows(time[k]) && wanted(bodies, names[k])).then_some((names[k], 0));
    group(rows.len(), of).into_iter().map(|((name, _), rows)| (name, rows)).collect()
}

/// Positions and angles of bodies, or their velocities.
pub fn motion(sources: &[Source], bodies: &[String], velocity: bool) -> Result<Chart, InputError> {
    let mut read = vec![];
    for source in sources {
        let rows = source.read(Table::Bodies)?;
        let tracks = tracks(source, &rows, bodies);
        read.push((rows, tracks));
    }
    let zero = |rows: &Rows, c: &str| rows.numbers(c).iter().all(|x| *x == 0.0);
    let planar = read.iter().all(|(rows, _)| ["z", "qx", "qy", "vz"].iter().all(|c| zero(rows, c)));
    let columns: &[(&str, &str, &'static str)] = match (velocity, planar) {
        (false, true) => &[("x", "x", "m"), ("y", "y", "m"), ("angle", "angle", "°")],
        (false, false) => {
            &[("x", "x", "m"), ("y", "y", "m"), ("z", "z", "m"), ("turn", "turn from start", "°")]
        }
        (true, true) => {
            &[("vx", "velocity x", "m/s"), ("vy", "velocity y", "m/s"), ("wz", "turning", "rad/s")]
        }
        (true, false) => &[
            ("vx", "velocity x", "m/s"),
            ("vy", "velocity y", "m/s"),
            ("vz", "velocity z", "m/s"),
            ("w", "turning", "rad/s"),
        ],
    };
    let legend = Legend::new(sources, read.iter().flat_map(|(_, t)| t.iter().map(|t| t.0.clone())));
    let panels = columns.iter().map(|(column, what, unit)| Panel {
        what: (*what).to_owned(),
        unit,
        lines: read
            .iter()
            .enumerate()
            .flat_map(|(s, (rows, tracks))| {
                let legend = &legend;
                tracks.iter().map(move |(name, track)| {
                    let time = rows.numbers("time");
                    let values = values(rows, track, column);
                    let points = track.iter().zip(values).map(|(k, x)| [time[*k], x]).collect();
                    Line { style: legend.style(s, name), points }
                })
            })
            .collect(),
    });
    let what = if velocity { "velocities" } else { "positions" };
    Ok(Chart { title: title(sources, what), panels: panels.collect() })
}

fn values(rows: &Rows, track: &[usize], column: &str) -> Vec<f64> {
    let pick = |c: &str| -> Vec<f64> { track.iter().map(|k| rows.numbers(c)[*k]).collect() };
    let q = || ["qw", "qx", "qy", "qz"].map(pick);
    match column {
        "angle" => {
            let [w, _, _, z] = q();
            let mut turns = 0.0;
            let mut before: Option<f64> = None;
            let angle = w.iter().zip(&z).map(|(w, z)| {
                let mut angle = 2.0 * z.atan2(*w).to_degrees() + turns;
                if let Some(before) = before {
                    let whole = 360.0 * ((before - angle) / 360.0).round();
                    turns += whole;
                    angle += whole;
                }
                before = Some(angle);
                angle
            });
            angle.collect()
        }
        "turn" => {
            let [w, x, y, z] = q();
            let cos = |k: usize| w[0] * w[k] + x[0] * x[k] + y[0] * y[k] + z[0] * z[k];
            // the vector part of the turn between: exact where it is small
            let sin = |k: usize| {
                let a = w[0] * x[k] - x[0] * w[k] - y[0] * z[k] + z[0] * y[k];
                let b = w[0] * y[k] - y[0] * w[k] - z[0] * x[k] + x[0] * z[k];
                let c = w[0] * z[k] - z[0] * w[k] - x[0] * y[k] + y[0] * x[k];
                a.hypot(b).hypot(c)
            };
            (0..track.len()).map(|k| 2.0 * sin(k).atan2(cos(k).abs()).to_degrees()).collect()
        }
        "w" => {
            let [x, y, z] = ["wx", "wy", "wz"].map(pick);
            (0..track.len()).map(|k| x[k].hypot(y[k]).hypot(z[k])).collect()
        }
        _ => pick(column),
    }
}
