//! Energies over time.

use super::chart::{Chart, Line, Panel, Style};
use super::data::Source;
use super::legend::title;
use crate::InputError;
use stiction::scene::Table;

/// Energies, losses, the work of applied forces, and what became of their balance, as the run's summary has it: the sum less
/// the work.
pub fn energy(sources: &[Source]) -> Result<Chart, InputError> {
    const KINDS: [(&str, &str); 6] = [
        ("kinetic", "kinetic"),
        ("potential", "potential, from start"),
        ("elastic", "elastic, in contacts"),
        ("friction_loss", "lost to friction"),
        ("damping_loss", "lost in dampers"),
        ("work", "work of loads, motors"),
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
        let sum: Vec<f64> =
            (0..shown.len()).map(|k| kinds[..5].iter().map(|e| e[k]).sum::<f64>() - kinds[5][k]).collect();
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
            let worked = kinds[5].iter().any(|x| x[1] != 0.0);
            let mut lines: Vec<Line> = (0..if worked { 6 } else { 5 })
                .map(|k| line(Style::number(KINDS[k].1, k), &kinds[k]))
                .collect();
            let label = if worked { "sum, less work" } else { "sum" }.to_owned();
            let style = Style { label, colour: 6, dash: 1 };
            lines.push(line(style.clone(), sum));
            vec![panel("energy", lines), panel("change of sum", vec![line(style, change)])]
        }
        _ => {
            let of = |what: &str, pick: &dyn Fn(usize) -> Vec<[f64; 2]>| {
                let lines = sources.iter().enumerate();
                let style = |s: usize, label: &str| Style { label: label.to_owned(), colour: s, dash: s };
                panel(what, lines.map(|(s, r)| line(style(s, &r.label), &pick(s))).collect())
            };
            let mut panels: Vec<Panel> = (0..6).map(|k| of(KINDS[k].0, &|s| read[s].0[k].clone())).collect();
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
