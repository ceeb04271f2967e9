//! Energies over time.

use super::chart::{Chart, Line, Panel, Style};
use super::data::Source;
use super::legend::title;
use crate::InputError;
use stiction::run::{ENTRIES, Entry};
use stiction::scene::Table;

/// The energy whose zero means nothing.
const FROM_START: &str = "potential";

fn label(entry: &Entry) -> String {
    if entry.name == FROM_START { format!("{}, from start", entry.label) } else { entry.label.to_owned() }
}

/// Energies whose spread is below this share of the largest energy at a state are equal but for rounding.
const NOISE: f64 = 1e-10;

/// Points as they are drawn: those that differ by rounding alone have the value of the first.
fn without_rounding(mut points: Vec<[f64; 2]>, noise: f64) -> Vec<[f64; 2]> {
    let first = points.first().map_or(0.0, |p| p[1]);
    if points.iter().all(|p| (p[1] - first).abs() <= noise) {
        points.iter_mut().for_each(|p| p[1] = first);
    }
    points
}

/// Energies, losses, the work of applied forces, and what became of their balance, as the run's summary has it: the sum less
/// the work.
pub fn energy(sources: &[Source]) -> Result<Chart, InputError> {
    let mut read = vec![];
    for source in sources {
        let rows = source.read(Table::Steps)?;
        let time = rows.numbers("time");
        let shown: Vec<usize> = (0..rows.len()).filter(|k| source.shows(time[*k])).collect();
        let points = |value: &dyn Fn(usize) -> f64| shown.iter().map(|k| [time[*k], value(*k)]).collect();
        // older recordings have fewer entries
        let none = vec![0.0; rows.len()];
        let column =
            |k: usize| Some(rows.numbers(ENTRIES[k].name)).filter(|x| !x.is_empty()).unwrap_or(&none);
        let from = |k: usize| if FROM_START == ENTRIES[k].name { column(k).first().copied() } else { None };
        let kind = |i: usize| points(&|k| column(i)[k] - from(i).unwrap_or(0.0));
        let kinds: Vec<Vec<[f64; 2]>> = (0..ENTRIES.len()).map(kind).collect();
        let sum = |n: usize| (0..kinds.len()).map(|i| ENTRIES[i].sign() * kinds[i][n][1]).sum::<f64>();
        let sums: Vec<[f64; 2]> = shown.iter().enumerate().map(|(n, k)| [time[*k], sum(n)]).collect();
        let start = sums.first().map_or(0.0, |s| s[1]);
        let change: Vec<[f64; 2]> = sums.iter().map(|[t, s]| [*t, s - start]).collect();
        let stored = (0..ENTRIES.len()).filter(|k| ENTRIES[*k].is_stored()).flat_map(column);
        let noise = NOISE * stored.fold(0.0f64, |m, x| m.max(x.abs()));
        let kinds = kinds.into_iter().map(|points| without_rounding(points, noise)).collect::<Vec<_>>();
        read.push((kinds, [sums, change].map(|points| without_rounding(points, noise))));
    }
    let panel = |what: &str, lines: Vec<Line>| Panel { what: what.to_owned(), unit: "J", lines };
    let line = |style: Style, points: &Vec<[f64; 2]>| Line { style, points: points.clone() };
    let panels = match &read[..] {
        [(kinds, [sum, change])] => {
            // kinetic energy always, others where there are any
            let is_shown = |k: &usize| *k == 0 || kinds[*k].iter().any(|x| x[1] != 0.0);
            let worked = (0..kinds.len()).any(|k| ENTRIES[k].is_supplied() && is_shown(&k));
            let shown = (0..kinds.len()).filter(is_shown);
            let mut lines: Vec<Line> =
                shown.map(|k| line(Style::number(label(&ENTRIES[k]), k), &kinds[k])).collect();
            let label = if worked { "sum, less work" } else { "sum" }.to_owned();
            let style = Style { label, colour: ENTRIES.len(), dash: 1 };
            lines.push(line(style.clone(), sum));
            vec![panel("energy", lines), panel("change of sum", vec![line(style, change)])]
        }
        _ => {
            let of = |what: &str, pick: &dyn Fn(usize) -> Vec<[f64; 2]>| {
                let lines = sources.iter().enumerate();
                let style = |s: usize, label: &str| Style { label: label.to_owned(), colour: s, dash: s };
                panel(what, lines.map(|(s, r)| line(style(s, &r.label), &pick(s))).collect())
            };
            let kinds = ENTRIES.iter().enumerate();
            let mut panels: Vec<Panel> =
                kinds.map(|(k, entry)| of(entry.name, &|s| read[s].0[k].clone())).collect();
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
