//! Tables to charts of lines over time.

use super::chart::{Chart, Line, Panel, Style};
use super::data::{Source, group, pair, wanted};
use crate::InputError;
use std::collections::HashMap;
use stiction::record::Rows;
use stiction::scene::Table;

/// Elements beyond which lines cannot be told apart.
pub const MOST_ELEMENTS: usize = 24;

/// Lines of all recordings, named by whom they are about.
struct Lines<'a> {
    sources: &'a [Source],
    names: Vec<String>,
}

impl<'a> Lines<'a> {
    fn new(sources: &'a [Source], names: impl IntoIterator<Item = String>) -> Self {
        let mut list: Vec<String> = vec![];
        for name in names {
            if !list.contains(&name) {
                list.push(name);
            }
        }
        Self { sources, names: list }
    }

    /// One recording: a colour for each name. One name: a colour for each recording, and dashes, for the lines may lie
    /// on each other. Else names by colour and recordings by dashes.
    fn style(&self, source: usize, name: &str) -> Style {
        let k = self.names.iter().position(|n| n == name).unwrap_or_default();
        let label = &self.sources[source].label;
        match (self.sources.len(), self.names.len()) {
            (1, _) => Style::number(name, k),
            (_, 1) => Style { label: label.clone(), colour: source, dash: source },
            _ => Style { label: format!("{name}, {label}"), colour: k, dash: source },
        }
    }
}

fn title(sources: &[Source], what: &str) -> String {
    match sources {
        [one] => format!("{}: {what}", one.label),
        _ => what.to_owned(),
    }
}

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
    let lines = Lines::new(sources, read.iter().flat_map(|(_, t)| t.iter().map(|t| t.0.clone())));
    let panels = columns.iter().map(|(column, what, unit)| Panel {
        what: (*what).to_owned(),
        unit,
        lines: read
            .iter()
            .enumerate()
            .flat_map(|(s, (rows, tracks))| {
                let lines = &lines;
                tracks.iter().map(move |(name, track)| {
                    let time = rows.numbers("time");
                    let values = values(rows, track, column);
                    let points = track.iter().zip(values).map(|(k, x)| [time[*k], x]).collect();
                    Line { style: lines.style(s, name), points }
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

/// Forces of every element: normal, friction, and their ratio.
pub fn forces(sources: &[Source], contacts: &[String]) -> Result<Chart, InputError> {
    let mut read = vec![];
    for source in sources {
        let rows = source.read(Table::Contacts)?;
        let (names, time): (Vec<&str>, _) = (rows.words("contact").collect(), rows.numbers("time"));
        let element = rows.counts("element");
        let of = |k: usize| {
            (source.shows(time[k]) && wanted(contacts, names[k])).then_some((names[k], element[k]))
        };
        let groups = group(rows.len(), of);
        let times = source.times(&rows)?;
        read.push((rows, groups, times));
    }
    let keys: Vec<&(String, i64)> = read.iter().flat_map(|r| r.1.iter().map(|g| &g.0)).collect();
    let one_contact = keys.windows(2).all(|w| w[0].0 == w[1].0);
    let one_element = keys.iter().all(|k| k.1 == 0);
    let name = |(contact, element): &(String, i64)| match (one_contact, one_element) {
        (_, true) => contact.clone(),
        (true, false) => format!("element {element}"),
        (false, false) => format!("{contact}, element {element}"),
    };
    let lines = Lines::new(sources, keys.iter().map(|k| name(k)));
    if lines.names.len() > MOST_ELEMENTS {
        return Err(InputError(format!(
            "forces: {} elements are too many for lines, at most {MOST_ELEMENTS} (--contact chooses; --what \
             totals,status,patch shows them all)",
            lines.names.len()
        )));
    }
    let planar = read.iter().all(|(rows, ..)| rows.numbers("force_o").iter().all(|f| *f == 0.0));
    let ratio = if planar { "friction / normal" } else { "|friction| / normal" };
    let mut wanted =
        vec![("force_n", "normal force", "N"), ("force_t", "friction", "N"), ("ratio", ratio, "")];
    if !planar {
        wanted[1].1 = "friction t";
        wanted.insert(2, ("force_o", "friction o", "N"));
    }
    let panels = wanted.into_iter().map(|(column, what, unit)| {
        let draw = |(s, (rows, groups, times)): (usize, &(Rows, Vec<_>, Vec<f64>))| {
            let line = |(key, track): &((String, i64), Vec<usize>)| Line {
                style: lines.style(s, &name(key)),
                points: broken(rows, track, times, |k| force(rows, k, column, planar)),
            };
            groups.iter().map(line).collect::<Vec<_>>()
        };
        Panel { what: what.to_owned(), unit, lines: read.iter().enumerate().flat_map(draw).collect() }
    });
    let panels = panels.collect();
    Ok(Chart { title: title(sources, "forces on the second body, by element"), panels })
}

fn force(rows: &Rows, k: usize, column: &str, planar: bool) -> f64 {
    let [n, t, o] = ["force_n", "force_t", "force_o"].map(|c| rows.numbers(c)[k]);
    match column {
        "force_n" => n,
        "force_t" => t,
        "force_o" => o,
        // without a normal force there is no ratio
        _ if n <= 0.0 => f64::NAN,
        _ if planar => t / n,
        _ => t.hypot(o) / n,
    }
}

/// Points of some rows; where records lie between two of them, the line breaks.
fn broken(rows: &Rows, track: &[usize], times: &[f64], value: impl Fn(usize) -> f64) -> Vec<[f64; 2]> {
    let time = rows.numbers("time");
    let place = |t: f64| times.partition_point(|x| *x < t);
    let mut points: Vec<[f64; 2]> = vec![];
    let mut before = None;
    for &k in track {
        let at = place(time[k]);
        if before.is_some_and(|b| at > b + 1) {
            points.push([time[k], f64::NAN]);
        }
        before = Some(at);
        points.push([time[k], value(k)]);
    }
    points
}

/// Forces of every pair in contact: sums over features and elements.
pub fn totals(sources: &[Source], contacts: &[String]) -> Result<Chart, InputError> {
    let columns = ["force_n", "force_t", "force_o"];
    let mut read = vec![];
    for source in sources {
        let rows = source.read(Table::Contacts)?;
        let (names, time): (Vec<&str>, _) = (rows.words("contact").collect(), rows.numbers("time"));
        let of =
            |k: usize| (source.shows(time[k]) && wanted(contacts, names[k])).then_some((pair(names[k]), 0));
        let times = source.times(&rows)?;
        let place: HashMap<u64, usize> = times.iter().enumerate().map(|(i, t)| (t.to_bits(), i)).collect();
        let sums = group(rows.len(), of).into_iter().map(|((name, _), track)| {
            let mut sums = vec![[0.0; 3]; times.len()];
            for k in track {
                if let Some(&at) = place.get(&time[k].to_bits()) {
                    for (sum, column) in sums[at].iter_mut().zip(columns) {
                        *sum += rows.numbers(column)[k];
                    }
                }
            }
            (name, sums)
        });
        let sums: Vec<(String, Vec<[f64; 3]>)> = sums.collect();
        // nothing is known of contacts at the start of a run
        let first = time.iter().copied().filter(|t| source.shows(*t)).fold(f64::INFINITY, f64::min);
        read.push((times, sums, first));
    }
    let lines = Lines::new(sources, read.iter().flat_map(|r| r.1.iter().map(|s| s.0.clone())));
    let planar = read.iter().flat_map(|r| &r.1).all(|(_, sums)| sums.iter().all(|f| f[2] == 0.0));
    let wanted: &[&str] =
        if planar { &["normal force", "friction"] } else { &["normal force", "friction t", "friction o"] };
    let panels = wanted.iter().enumerate().map(|(c, what)| {
        let draw = |(s, (times, sums, first)): (usize, &(Vec<f64>, Vec<(String, Vec<[f64; 3]>)>, f64))| {
            let line = |(name, sums): &(String, Vec<[f64; 3]>)| {
                let points = times.iter().zip(sums).filter(|(t, _)| *t >= first);
                Line { style: lines.style(s, name), points: points.map(|(t, f)| [*t, f[c]]).collect() }
            };
            sums.iter().map(line).collect::<Vec<_>>()
        };
        let lines = read.iter().enumerate().flat_map(draw).collect();
        Panel { what: (*what).to_owned(), unit: "N", lines }
    });
    let panels = panels.collect();
    Ok(Chart { title: title(sources, "forces on the second body, by contact"), panels })
}

/// Energies, losses, and what became of their sum.
pub fn energy(sources: &[Source]) -> Result<Chart, InputError> {
    const KINDS: [(&str, &str); 5] = [
        ("kinetic", "kinetic"),
        ("potential", "potential, from start"),
        ("elastic", "elastic, in contacts"),
        ("friction_loss", "lost to friction"),
        ("damping_loss", "lost in dampers"),
    ];
    let mut read = vec![];
    for source in sources {
        let rows = source.read(Table::Steps)?;
        let time = rows.numbers("time");
        let shown: Vec<usize> = (0..rows.len()).filter(|k| source.shows(time[*k])).collect();
        let mut kinds = KINDS.map(|(column, _)| {
            let from = if column == "potential" { rows.numbers(column).first().copied() } else { None };
            shown.iter().map(|k| rows.numbers(column)[*k] - from.unwrap_or(0.0)).collect::<Vec<f64>>()
        });
        let sum: Vec<f64> = (0..shown.len()).map(|k| kinds.iter().map(|e| e[k]).sum()).collect();
        let times: Vec<f64> = shown.iter().map(|k| time[*k]).collect();
        let points = |list: &[f64]| times.iter().zip(list).map(|(t, e)| [*t, *e]).collect::<Vec<_>>();
        let start = sum.first().copied().unwrap_or_default();
        let change: Vec<f64> = sum.iter().map(|e| e - start).collect();
        let all = [points(&sum), points(&change)];
        read.push((kinds.each_mut().map(|e| points(e)), all));
    }
    let panel = |what: &str, lines: Vec<Line>| Panel { what: what.to_owned(), unit: "J", lines };
    let line = |style: Style, points: &Vec<[f64; 2]>| Line { style, points: points.clone() };
    let panels = match &read[..] {
        [(kinds, [sum, change])] => {
            let mut lines: Vec<Line> =
                (0..5).map(|k| line(Style::number(KINDS[k].1, k), &kinds[k])).collect();
            let style = Style { label: "sum".to_owned(), colour: 6, dash: 1 };
            lines.push(line(style.clone(), sum));
            vec![panel("energy", lines), panel("change of sum", vec![line(style, change)])]
        }
        _ => {
            let of = |what: &str, pick: &dyn Fn(usize) -> Vec<[f64; 2]>| {
                let lines = sources.iter().enumerate();
                let style = |s: usize, label: &str| Style { label: label.to_owned(), colour: s, dash: s };
                panel(what, lines.map(|(s, r)| line(style(s, &r.label), &pick(s))).collect())
            };
            let mut panels: Vec<Panel> = (0..5).map(|k| of(KINDS[k].0, &|s| read[s].0[k].clone())).collect();
            panels.retain(|p| p.lines.iter().any(|l| l.points.iter().any(|x| x[1] != 0.0)));
            for p in &mut panels {
                p.what = p.what.replace("_loss", " loss");
            }
            panels.push(of("change of sum", &|s| read[s].1[1].clone()));
            panels
        }
    };
    Ok(Chart { title: title(sources, "energy"), panels })
}
