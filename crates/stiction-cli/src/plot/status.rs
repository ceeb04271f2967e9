//! When elements are open, stick and slip: a band each.

use super::Undrawn;
use super::axis::Axis;
use super::chart::{BOTTOM, LARGE, NORMAL, SMALL, TOP, draw_times, from_zero, short};
use super::data::{Source, contact_names, group, natural, wanted};
use super::drawing::{Anchor, Drawing, GREY, width_of};
use stiction::scene::Table;

pub const STICK: &str = "#0072b2";
pub const SLIP: &str = "#e69f00";
pub const OPEN: &str = "#eeeeee";

const WIDTH: f64 = 640.0;
/// Height of a band, and of one where there are many.
const BAND: f64 = 18.0;
const THIN: f64 = 6.0;
const MANY: usize = 40;
/// Bands beyond which a figure is of no use.
pub const MOST: usize = 400;
/// Pieces of time in a band; each shows what prevails.
const PIECES: usize = 1600;

/// What an element does from a time on.
type Changes = Vec<(f64, Option<&'static str>)>;

struct Band {
    name: String,
    changes: Changes,
}

/// `None` if nothing ever touches.
pub fn draw(sources: &[Source], contacts: &[String]) -> Result<Option<Drawing>, Undrawn> {
    let (mut bands, mut span) = (vec![], [f64::INFINITY, f64::NEG_INFINITY]);
    for source in sources {
        let rows = source.read(Table::Events)?;
        let time = rows.numbers("time");
        let other = [Table::Steps, Table::Bodies].into_iter().find(|t| source.has(*t));
        let records = other.map(|t| source.read(t)).transpose()?;
        let all = records.as_ref().map_or(&[][..], |r| r.numbers("time")).iter().chain(time);
        let ends = all.fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], t| [a.min(*t), b.max(*t)]);
        let [from, to] = source.within(ends);
        span = [span[0].min(from), span[1].max(to)];
        let (names, what): (Vec<&str>, Vec<&str>) =
            (rows.words("contact").collect(), rows.words("event").collect());
        let element = rows.counts("element");
        let mut groups = group(rows.len(), |k| wanted(contacts, names[k]).then_some((names[k], element[k])));
        groups.sort_by(|a, b| natural(&a.0.0, &b.0.0).then(a.0.1.cmp(&b.0.1)));
        let shown = contact_names(groups.iter().map(|g| g.0.0.as_str()));
        let one_element = groups.iter().all(|g| g.0.1 == 0);
        for ((contact, element), track) in groups {
            let contact = &shown[&contact];
            let mut name = if one_element { contact.clone() } else { format!("{contact}, {element}") };
            if sources.len() > 1 {
                name = format!("{}: {name}", source.label);
            }
            let mut changes: Changes = vec![(f64::NEG_INFINITY, None)];
            changes.extend(track.iter().filter_map(|k| match what[*k] {
                "stick" => Some((time[*k], Some(STICK))),
                "slip" => Some((time[*k], Some(SLIP))),
                "open" => Some((time[*k], None)),
                _ => None,
            }));
            changes.push((ends[1], changes[changes.len() - 1].1));
            bands.push(Band { name, changes });
        }
    }
    if bands.is_empty() || span[0] >= span[1] {
        return Ok(None);
    }
    if bands.len() > MOST {
        return Err(Undrawn::TooMany(format!(
            "status: {} elements are too many for bands, at most {MOST} (--contact chooses)",
            bands.len()
        )));
    }
    let title = match sources {
        [one] => format!("{}: stick and slip of the elements", one.label),
        _ => "stick and slip of the elements".to_owned(),
    };
    Ok(Some(figure(&title, &bands, from_zero(span))))
}

fn figure(title: &str, bands: &[Band], span: [f64; 2]) -> Drawing {
    let time = Axis::new(span, "s", 8.0);
    let height = if bands.len() > MANY { THIN } else { BAND };
    let left = bands.iter().map(|b| width_of(&short(&b.name), SMALL)).fold(60.0, f64::max) + 20.0;
    let tall = height * bands.len() as f64;
    let mut drawing = Drawing::new(left + WIDTH + 90.0, TOP + tall.max(54.0) + BOTTOM);
    drawing.text([left, 24.0], LARGE, Anchor::Start, title);
    // where bands are thin, a name now and then
    let every = (13.0 / height).ceil() as usize;
    for (k, band) in bands.iter().enumerate() {
        let y = TOP + height * k as f64;
        if k % every == 0 {
            drawing.text([left - 8.0, y + 0.5 * height + 4.0], SMALL, Anchor::End, &short(&band.name));
        }
        let gap = if height > THIN { 2.0 } else { 0.5 };
        drawing.rect([left, y + gap, WIDTH, height - 2.0 * gap], OPEN);
        for (from, to, colour) in runs(&band.changes, span) {
            let x = left + WIDTH * from as f64 / PIECES as f64;
            let w = WIDTH * (to - from) as f64 / PIECES as f64;
            drawing.rect([x, y + gap, w, height - 2.0 * gap], colour);
        }
    }
    let frame = [left, TOP, WIDTH, tall];
    draw_ticks(&mut drawing, frame, &time);
    drawing.frame(frame);
    for (k, (name, colour)) in [("stick", STICK), ("slip", SLIP), ("open", OPEN)].into_iter().enumerate() {
        let y = TOP + 18.0 * k as f64;
        drawing.rect([left + WIDTH + 14.0, y + 3.0, 14.0, 12.0], colour);
        drawing.text([left + WIDTH + 36.0, y + 13.0], NORMAL, Anchor::Start, name);
    }
    drawing
}

/// The numbers of the time axis, without lines through the bands.
fn draw_ticks(drawing: &mut Drawing, frame: [f64; 4], time: &Axis) {
    draw_times(drawing, [frame[0], frame[1] + frame[3], frame[2], 0.0], time, true);
    drawing.line([frame[0], frame[1] + frame[3]], [frame[0] + frame[2], frame[1] + frame[3]], GREY, 0.6);
}

/// Runs of pieces that share a colour: in each piece what lasts longest.
fn runs(changes: &Changes, span: [f64; 2]) -> Vec<(usize, usize, &'static str)> {
    let kinds = [None, Some(STICK), Some(SLIP)];
    let mut lasts = vec![[0.0; 3]; PIECES];
    let width = (span[1] - span[0]) / PIECES as f64;
    for pair in changes.windows(2) {
        let (from, to) = (pair[0].0.max(span[0]), pair[1].0.min(span[1]));
        if from >= to {
            continue;
        }
        let kind = kinds.iter().position(|k| *k == pair[0].1).unwrap_or(0);
        let first = (((from - span[0]) / width) as usize).min(PIECES - 1);
        let last = (((to - span[0]) / width) as usize).min(PIECES - 1);
        for piece in first..=last {
            let begin = span[0] + piece as f64 * width;
            lasts[piece][kind] += (to.min(begin + width) - from.max(begin)).max(0.0);
        }
    }
    let mut runs: Vec<(usize, usize, &'static str)> = vec![];
    for (piece, times) in lasts.iter().enumerate() {
        let longest = (0..3).max_by(|a, b| times[*a].total_cmp(&times[*b])).unwrap_or(0);
        let Some(colour) = kinds[longest].filter(|_| times[longest] > 0.0) else { continue };
        match runs.last_mut() {
            Some(run) if run.1 == piece && run.2 == colour => run.1 = piece + 1,
            _ => runs.push((piece, piece + 1, colour)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_change_when_elements_do() {
        let changes =
            vec![(f64::NEG_INFINITY, None), (0.5, Some(SLIP)), (0.75, Some(STICK)), (1.0, None), (2.0, None)];
        let n = PIECES;
        assert_eq!(runs(&changes, [0.0, 2.0]), [(n / 4, n * 3 / 8, SLIP), (n * 3 / 8, n / 2, STICK)]);
        assert_eq!(runs(&changes, [0.8, 0.9]), [(0, n, STICK)]);
    }
}
