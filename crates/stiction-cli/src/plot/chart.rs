//! Lines over time: panels above each other with one time axis, and a legend beside them.

use super::axis::{Axis, in_unit, shown_range};
use super::drawing::{Anchor, Drawing, GREY, INK, width_of};

/// Okabe and Ito's colours, told apart by the colour-blind; without the yellow, which is faint on white.
pub const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];
const DASHES: [&[f64]; 4] = [&[], &[6.0, 3.0], &[2.0, 2.5], &[8.0, 3.0, 2.0, 3.0]];

const WIDTH: f64 = 640.0;
const PANEL: f64 = 150.0;
const BETWEEN: f64 = 16.0;
pub const LEFT: f64 = 76.0;
pub const TOP: f64 = 40.0;
pub const BOTTOM: f64 = 46.0;
pub const SMALL: f64 = 11.0;
pub const NORMAL: f64 = 12.0;
pub const LARGE: f64 = 14.0;
/// Most entries of a legend; the last says how many more there are.
const ENTRIES: usize = 10;
/// Lines nearer to each other than this share of their range lie on each other.
const SAME: f64 = 3e-3;
/// Longest name in a legend, in letters.
const LONGEST: usize = 36;
/// Pieces of a line in which the least and the greatest are kept.
const PIECES: usize = 1000;

/// What a line stands for. The same label looks the same in all panels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Style {
    pub label: String,
    pub colour: usize,
    pub dash: usize,
}

impl Style {
    /// Goes through the colours, then through the dashes.
    pub fn number(label: impl Into<String>, k: usize) -> Self {
        Self { label: label.into(), colour: k % COLOURS.len(), dash: k / COLOURS.len() }
    }
}

impl Style {
    /// The same label among others, or itself.
    fn among<'a>(&'a self, others: &'a [Self]) -> &'a Self {
        others.iter().find(|s| s.label == self.label).unwrap_or(self)
    }
}

/// Values over time; a value that is no number breaks the line.
#[derive(Debug, Clone)]
pub struct Line {
    pub style: Style,
    pub points: Vec<[f64; 2]>,
}

impl Line {
    /// Whether it is nowhere farther than `near` from another line with the same times.
    fn lies_on(&self, other: &Self, near: f64) -> bool {
        let near = |a: f64, b: f64| (a.is_nan() && b.is_nan()) || (a - b).abs() <= near;
        let same = |(a, b): (&[f64; 2], &[f64; 2])| a[0] == b[0] && near(a[1], b[1]);
        self.points.len() == other.points.len() && self.points.iter().zip(&other.points).all(same)
    }
}

/// Lines that share an axis of values.
#[derive(Debug, Clone)]
pub struct Panel {
    pub what: String,
    pub unit: &'static str,
    pub lines: Vec<Line>,
}

/// A figure.
#[derive(Debug, Clone)]
pub struct Chart {
    pub title: String,
    pub panels: Vec<Panel>,
}

impl Chart {
    /// Whether there is nothing to see.
    pub fn is_empty(&self) -> bool {
        self.panels.iter().all(|p| p.lines.iter().all(|l| l.points.is_empty()))
    }

    pub fn draw(&self) -> Drawing {
        let times = self.panels.iter().flat_map(|p| &p.lines).flat_map(|l| &l.points).map(|p| p[0]);
        let time = Axis::new(from_zero(range(times)), "s", 8.0);
        let dashed = self.dashed();
        let styles = self.styles(&dashed);
        let n = self.panels.len() as f64;
        let least = 18.0 * styles.len().min(ENTRIES) as f64;
        let panel = PANEL.max((least - BETWEEN * (n - 1.0)) / n);
        let height = TOP + n * panel + (n - 1.0) * BETWEEN + BOTTOM;
        let mut drawing = Drawing::new(LEFT + WIDTH + legend_width(&styles, height), height);
        drawing.text([LEFT, 24.0], LARGE, Anchor::Start, &self.title);
        for (k, p) in self.panels.iter().enumerate() {
            let frame = [LEFT, TOP + k as f64 * (panel + BETWEEN), WIDTH, panel];
            p.draw(&mut drawing, frame, &time, self.scale(p.unit), &dashed, k + 1 == self.panels.len());
        }
        draw_legend(&mut drawing, &styles, LEFT + WIDTH + 14.0);
        drawing
    }

    /// Size of a quantity in all panels of its unit, and at least what a body, a motion and a rotation of ordinary size have.
    fn scale(&self, unit: &str) -> f64 {
        let least = match unit {
            "m" | "m/s" => 0.1,
            "rad/s" => 1.0,
            "°" => 1f64.to_degrees(),
            "" => 1.0,
            _ => 0.0,
        };
        let lines = self.panels.iter().filter(|p| p.unit == unit).flat_map(|p| &p.lines);
        let sizes = lines.flat_map(|l| &l.points).map(|p| p[1].abs()).filter(|x| x.is_finite());
        sizes.fold(least, f64::max)
    }

    /// The looks of all lines, as they are drawn.
    fn styles(&self, dashed: &[Style]) -> Vec<Style> {
        let mut list: Vec<Style> = vec![];
        for line in self.panels.iter().flat_map(|p| &p.lines) {
            let style = line.style.among(dashed);
            if !list.contains(style) {
                list.push(style.clone());
            }
        }
        list
    }

    /// New looks for lines that lie on another one in a panel: dashes, through which that can be seen.
    fn dashed(&self) -> Vec<Style> {
        let mut dashed: Vec<Style> = vec![];
        for panel in &self.panels {
            let values = panel.lines.iter().flat_map(|l| &l.points).map(|p| p[1]);
            let [low, high] = shown_range(values, (self.scale(panel.unit), panel.unit), panel.clips()).0;
            for (k, line) in panel.lines.iter().enumerate() {
                let before = panel.lines[..k].iter();
                let below: Vec<usize> = before
                    .filter(|other| other.style != line.style && other.lies_on(line, SAME * (high - low)))
                    .map(|other| other.style.among(&dashed).dash)
                    .collect();
                let style = line.style.among(&dashed);
                if below.contains(&style.dash) {
                    let free = (0..DASHES.len()).find(|d| !below.contains(d)).unwrap_or(style.dash);
                    let style = Style { dash: free, ..style.clone() };
                    dashed.retain(|s| s.label != style.label);
                    dashed.push(style);
                }
            }
        }
        dashed
    }
}

impl Panel {
    /// Whether spikes may stick out of the frame: only those of impacts, in forces.
    fn clips(&self) -> bool {
        self.unit == "N"
    }

    fn draw(
        &self,
        drawing: &mut Drawing,
        frame: [f64; 4],
        time: &Axis,
        scale: f64,
        dashed: &[Style],
        last: bool,
    ) {
        let [x0, y0, w, h] = frame;
        let values = || self.lines.iter().flat_map(|l| &l.points).map(|p| p[1]);
        let (shown, clipped) = shown_range(values(), (scale, self.unit), self.clips());
        let axis = Axis::padded(shown, self.unit, 5.0);
        for (value, label) in &axis.ticks {
            let y = y0 + h * (1.0 - axis.share(*value));
            drawing.line([x0, y], [x0 + w, y], GREY, if *value == 0.0 { 1.2 } else { 0.6 });
            drawing.text([x0 - 6.0, y + 4.0], SMALL, Anchor::End, label);
        }
        draw_times(drawing, frame, time, last);
        drawing.turned([18.0, y0 + h / 2.0], -90.0, NORMAL, Anchor::Middle, &axis.label(&self.what));
        drawing.clip(frame);
        for line in &self.lines {
            let place = |p: &[f64; 2]| [x0 + w * time.share(p[0]), y0 + h * (1.0 - axis.share(p[1]))];
            let runs: Vec<Vec<[f64; 2]>> =
                runs(&line.points).map(|run| thin(run).iter().map(place).collect()).collect();
            let style = line.style.among(dashed);
            let colour = COLOURS[style.colour % COLOURS.len()];
            // points alone are seen among lines
            runs.iter()
                .filter(|r| r.len() == 1)
                .for_each(|r| drawing.rect([r[0][0] - 1.2, r[0][1] - 1.2, 2.4, 2.4], colour));
            drawing.path(&runs, colour, DASHES[style.dash % DASHES.len()]);
        }
        drawing.unclip();
        drawing.frame(frame);
        if clipped {
            self.draw_spikes(drawing, frame, time, &axis);
            let [low, high] = range(values());
            let mut said = "spikes".to_owned();
            if low < axis.low {
                said += &format!(" down to {}", in_unit(low, self.unit));
            }
            if high > axis.high {
                said += &format!(" up to {}", in_unit(high, self.unit));
            }
            // above the frame, where no line is
            drawing.text([x0 + w, y0 - 3.5], SMALL, Anchor::End, &said);
        }
    }

    /// A mark at the edge for each value beyond it.
    fn draw_spikes(&self, drawing: &mut Drawing, [x0, y0, w, h]: [f64; 4], time: &Axis, axis: &Axis) {
        for line in &self.lines {
            let colour = COLOURS[line.style.colour % COLOURS.len()];
            for [t, value] in &line.points {
                let x = x0 + w * time.share(*t);
                // the tip lies on the frame, and the rest within
                let (tip, base) = match () {
                    () if *value > axis.high => (y0, y0 + 7.0),
                    () if *value < axis.low => (y0 + h, y0 + h - 7.0),
                    () => continue,
                };
                drawing.polygon(&[[x, tip], [x - 4.0, base], [x + 4.0, base]], colour);
            }
        }
    }
}

/// Lines at round times, and their numbers below the last panel.
pub fn draw_times(drawing: &mut Drawing, [x0, y0, w, h]: [f64; 4], time: &Axis, last: bool) {
    for (t, label) in &time.ticks {
        let x = x0 + w * time.share(*t);
        drawing.line([x, y0], [x, y0 + h], GREY, 0.6);
        if last {
            drawing.line([x, y0 + h], [x, y0 + h + 4.0], INK, 0.8);
            drawing.text([x, y0 + h + 17.0], SMALL, Anchor::Middle, label);
        }
    }
    if last {
        drawing.text([x0 + w / 2.0, y0 + h + 36.0], NORMAL, Anchor::Middle, &time.label("time"));
    }
}

/// How many lines a legend has room for, and what stands below them if that is not all.
fn legend_lines(styles: &[Style], height: f64) -> (usize, Option<String>) {
    let room = (((height - TOP - BOTTOM) / 18.0) as usize).min(ENTRIES);
    if styles.len() <= room {
        return (styles.len(), None);
    }
    let shown = room.saturating_sub(1);
    (shown, Some(format!("and {} more", styles.len() - shown)))
}

fn legend_width(styles: &[Style], height: f64) -> f64 {
    let (_, more) = legend_lines(styles, height);
    let names = styles.iter().map(|s| short(&s.label)).chain(more);
    let widest = names.map(|name| width_of(&name, NORMAL)).fold(0.0, f64::max);
    14.0 + 34.0 + widest + 10.0
}

fn draw_legend(drawing: &mut Drawing, styles: &[Style], x: f64) {
    let (shown, more) = legend_lines(styles, drawing.height);
    for (k, style) in styles.iter().take(shown).enumerate() {
        let y = TOP + 9.0 + 18.0 * k as f64;
        let dash = DASHES[style.dash % DASHES.len()];
        drawing.path(&[vec![[x, y], [x + 24.0, y]]], COLOURS[style.colour % COLOURS.len()], dash);
        drawing.text([x + 31.0, y + 4.0], NORMAL, Anchor::Start, &short(&style.label));
    }
    if let Some(more) = more {
        let y = TOP + 9.0 + 18.0 * shown as f64;
        drawing.text([x + 31.0, y + 4.0], NORMAL, Anchor::Start, &more);
    }
}

/// The name, or its beginning and its end, by which long ones are told apart.
pub fn short(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= LONGEST {
        return name.to_owned();
    }
    let end = LONGEST / 2;
    let begin = LONGEST - 1 - end;
    letters[..begin].iter().chain(&['…']).chain(&letters[letters.len() - end..]).collect()
}

/// Least and greatest, without what is no number.
pub fn range(list: impl Iterator<Item = f64>) -> [f64; 2] {
    let finite = list.filter(|x| x.is_finite());
    finite.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| [low.min(x), high.max(x)])
}

/// A span that all but begins at zero, as records do, begins there.
pub fn from_zero([low, high]: [f64; 2]) -> [f64; 2] {
    [if low > 0.0 && low < 0.02 * high { 0.0 } else { low }, high]
}

/// Between the breaks.
fn runs(points: &[[f64; 2]]) -> impl Iterator<Item = &[[f64; 2]]> {
    points.split(|p| !p[1].is_finite()).filter(|run| !run.is_empty())
}

/// At most four points a piece: the ends, the least and the greatest, in order.
fn thin(run: &[[f64; 2]]) -> Vec<[f64; 2]> {
    if run.len() <= 4 * PIECES {
        return run.to_vec();
    }
    let mut kept = vec![];
    for piece in run.chunks(run.len().div_ceil(PIECES)) {
        let by_value = |a: &usize, b: &usize| piece[*a][1].total_cmp(&piece[*b][1]);
        let mut picks = vec![0, piece.len() - 1];
        picks.extend((0..piece.len()).min_by(by_value));
        picks.extend((0..piece.len()).max_by(by_value));
        picks.sort_unstable();
        picks.dedup();
        kept.extend(picks.into_iter().map(|k| piece[k]));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_legend_has_room_for_the_words_on_what_it_leaves_out() {
        let styles: Vec<Style> = (0..200).map(|k| Style::number("b", k)).collect();
        assert_eq!(legend_lines(&styles[..10], 10.0 * 18.0 + TOP + BOTTOM), (10, None));
        let height = 20.0 * 18.0 + TOP + BOTTOM;
        assert_eq!(legend_lines(&styles, height), (9, Some("and 191 more".to_owned())));
        assert_eq!(short("a name that is longer than most others#7"), "a name that is lo…than most others#7");
        // the text begins 14 + 31 right of the panels
        assert!(legend_width(&styles, height) > 45.0 + width_of("and 191 more", NORMAL));
    }

    #[test]
    fn long_lines_are_thinned_and_keep_their_peaks() {
        let mut points: Vec<[f64; 2]> = (0..1_000_000).map(|k| [k as f64, 0.0]).collect();
        points[123_456][1] = 7.0;
        points[654_321][1] = -7.0;
        let kept = thin(&points);
        assert!(kept.len() <= 4 * PIECES);
        assert!(kept.contains(&[123_456.0, 7.0]) && kept.contains(&[654_321.0, -7.0]));
        assert_eq!((kept[0], kept[kept.len() - 1]), (points[0], points[999_999]));
        assert!(kept.windows(2).all(|w| w[0][0] < w[1][0]));
    }

    #[test]
    fn a_line_on_another_is_dashed_in_all_panels() {
        let line = |label: &str, k: usize, by: f64| {
            let points = (0..10).map(|t| [f64::from(t), f64::from(t) + by]).collect();
            Line { style: Style::number(label, k), points }
        };
        let panel = |lines| Panel { what: String::new(), unit: "m", lines };
        let apart = panel(vec![line("a", 0, 0.0), line("b", 1, 5.0), line("c", 2, 9.0)]);
        let same = panel(vec![line("a", 0, 0.0), line("b", 1, 1e-6), line("c", 2, 9.0)]);
        let looks = |panels: Vec<Panel>| {
            let chart = Chart { title: String::new(), panels };
            chart.styles(&chart.dashed()).iter().map(|s| (s.colour, s.dash)).collect::<Vec<_>>()
        };
        assert_eq!(looks(vec![apart.clone()]), [(0, 0), (1, 0), (2, 0)]);
        assert_eq!(looks(vec![apart, same]), [(0, 0), (1, 1), (2, 0)]);
        let all = panel(vec![line("a", 0, 0.0), line("b", 1, 0.0), line("c", 2, 0.0)]);
        assert_eq!(looks(vec![all]), [(0, 0), (1, 1), (2, 2)]);
    }

    #[test]
    fn lines_break_where_there_is_no_value() {
        let points = [[0.0, 1.0], [1.0, f64::NAN], [2.0, 1.0], [3.0, 1.0], [4.0, f64::NAN]];
        assert_eq!(runs(&points).map(<[_]>::len).collect::<Vec<_>>(), [1, 2]);
    }
}
