//! The timeline: a band for the model to prefer of each cluster, and the margins below.

use super::Found;
use crate::InputError;
use crate::plot::axis::Axis;
use crate::plot::chart::{BOTTOM, COLOURS, LARGE, NORMAL, SMALL, TOP, draw_times, from_zero, range, short};
use crate::plot::drawing::{Anchor, Drawing, GREY, INK, width_of};
use crate::plot::write_drawing;
use std::path::Path;
use stiction::analysis::stability::Preferred;
use stiction::run::timeline::Episode;

const WIDTH: f64 = 640.0;
const BAND: f64 = 22.0;
const PANEL: f64 = 170.0;
const BETWEEN: f64 = 18.0;
/// Clusters that are drawn; the legend says how many are not.
const MOST: usize = 20;
/// Margins beyond this are cut off.
const FAR: f64 = 3.0;
const NOTHING: &str = "#eeeeee";
const UNKNOWN: &str = "#999999";

fn colour(preferred: Preferred) -> &'static str {
    match preferred {
        Preferred::Rigid => "#0072b2",
        Preferred::StableBranch => "#e69f00",
        Preferred::Undecided => UNKNOWN,
        Preferred::Compliant => "#d55e00",
    }
}

/// Draws into a file, `.svg` or `.png`.
pub fn write(found: &Found, file: &Path) -> Result<(), InputError> {
    let drawing = draw(found);
    write_drawing(file, &drawing)
}

fn draw(found: &Found) -> Drawing {
    let (moments, model) = (&found.timeline.moments, &found.model);
    let episodes = found.timeline.episodes(model);
    let mut names: Vec<&str> = episodes.iter().map(|e| e.name.as_str()).collect();
    names.dedup();
    let hidden = names.len().saturating_sub(MOST);
    names.truncate(MOST);
    let [low, high] = from_zero(range(moments.iter().map(|m| m.time)));
    let time = Axis::new([low, if high > low { high } else { low + 1.0 }], "s", 8.0);
    // what was found at an instant stands for the time halfway to its neighbours
    let times: Vec<f64> = moments.iter().map(|m| m.time).collect();
    let edge = |k: usize| match k {
        0 => time.low,
        k if k >= times.len() => time.high,
        k => 0.5 * (times[k - 1] + times[k]),
    };
    let widest = names.iter().map(|n| width_of(&short(n), SMALL)).fold(40.0, f64::max);
    let left = widest + 20.0;
    let bands = BAND * names.len().max(1) as f64;
    let below = TOP + bands + BETWEEN;
    let mut drawing = Drawing::new(left + WIDTH + 170.0, below + PANEL + BOTTOM);
    let title = format!("{}: model to prefer, and margin of slip", model.scene().name);
    drawing.text([left, 24.0], LARGE, Anchor::Start, &title);
    let place = |t: f64| left + WIDTH * time.share(t);
    for (row, name) in names.iter().enumerate() {
        let y = TOP + BAND * row as f64;
        drawing.text([left - 8.0, y + 0.5 * BAND + 4.0], SMALL, Anchor::End, &short(name));
        drawing.rect([left, y + 2.0, WIDTH, BAND - 4.0], NOTHING);
        let fill = |k: usize| match &moments[k].found {
            Err(_) => Some(UNKNOWN),
            Ok(analysis) => {
                let own = analysis.clusters.iter().filter(|c| c.name(model) == **name);
                own.map(|c| c.preferred).max().map(colour)
            }
        };
        // neighbours of one colour are one piece
        let mut first = 0;
        for k in 0..moments.len() {
            if k + 1 < moments.len() && fill(k + 1) == fill(k) {
                continue;
            }
            let (from, to) = (place(edge(first)), place(edge(k + 1)));
            fill(k).into_iter().for_each(|fill| drawing.rect([from, y + 2.0, to - from, BAND - 4.0], fill));
            first = k + 1;
        }
    }
    for (at, jammed) in &found.timeline.jams {
        if let Some(row) = names.iter().position(|n| n == jammed) {
            let y = TOP + BAND * row as f64;
            drawing.rect([place(*at) - 1.5, y, 3.0, BAND], colour(Preferred::Compliant));
        }
    }
    drawing.frame([left, TOP, WIDTH, bands]);
    let frame = [left, below, WIDTH, PANEL];
    margins(&mut drawing, found, &names, &episodes, frame, &time);
    legend(&mut drawing, [left + WIDTH + 14.0, TOP], hidden);
    drawing
}

fn margins(
    drawing: &mut Drawing,
    found: &Found,
    names: &[&str],
    episodes: &[Episode],
    frame: [f64; 4],
    time: &Axis,
) {
    let [x0, y0, w, h] = frame;
    let clip = |x: f64| x.clamp(-FAR, FAR);
    let [low, high] = range(episodes.iter().map(|e| clip(e.margin)).chain([0.0, 1.0]));
    let axis = Axis::padded([low, high], "", 5.0);
    let place = |t: f64, x: f64| [x0 + w * time.share(t), y0 + h * (1.0 - axis.share(clip(x)))];
    draw_times(drawing, frame, time, true);
    for (x, label) in &axis.ticks {
        let [_, y] = place(time.low, *x);
        drawing.line([x0, y], [x0 + w, y], GREY, 0.6);
        drawing.text([x0 - 6.0, y + 4.0], SMALL, Anchor::End, label);
    }
    let [_, zero] = place(time.low, 0.0);
    drawing.line([x0, zero], [x0 + w, zero], INK, 1.2);
    drawing.turned([x0 - 44.0, y0 + h / 2.0], -90.0, NORMAL, Anchor::Middle, "margin");
    for (k, name) in names.iter().enumerate() {
        let mut runs: Vec<Vec<[f64; 2]>> = vec![vec![]];
        for moment in &found.timeline.moments {
            let own = moment.found.iter().flat_map(|a| &a.clusters).filter(|c| c.name(&found.model) == *name);
            match own.map(|c| c.margin.value).reduce(f64::min) {
                Some(margin) => runs.last_mut().into_iter().for_each(|r| r.push(place(moment.time, margin))),
                None => runs.push(vec![]),
            }
        }
        let colour = COLOURS[k % COLOURS.len()];
        for run in runs.iter().filter(|r| r.len() == 1) {
            drawing.rect([run[0][0] - 2.0, run[0][1] - 2.0, 4.0, 4.0], colour);
        }
        runs.retain(|r| r.len() > 1);
        drawing.path(&runs, colour, &[]);
    }
    drawing.frame(frame);
}

fn legend(drawing: &mut Drawing, [x, y]: [f64; 2], hidden: usize) {
    let entries = [
        (Preferred::Rigid.name(), colour(Preferred::Rigid)),
        (Preferred::StableBranch.name(), colour(Preferred::StableBranch)),
        (Preferred::Compliant.name(), colour(Preferred::Compliant)),
        ("not examined", UNKNOWN),
        ("no contact", NOTHING),
    ];
    for (k, (name, fill)) in entries.iter().enumerate() {
        let at = y + 18.0 * k as f64;
        drawing.rect([x, at + 3.0, 14.0, 12.0], fill);
        drawing.text([x + 22.0, at + 13.0], NORMAL, Anchor::Start, name);
    }
    if hidden > 0 {
        let at = y + 18.0 * entries.len() as f64;
        drawing.text([x, at + 13.0], NORMAL, Anchor::Start, &format!("and {hidden} more clusters"));
    }
}
