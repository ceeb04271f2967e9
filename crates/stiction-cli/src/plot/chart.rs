//! Lines over time: panels above each other with one time axis, and a legend beside them.

use super::axis::Axis;
use super::svg::{Anchor, GREY, INK, Svg, width_of};

/// Okabe and Ito's colours, told apart by the colour-blind; without the yellow, which is faint on white.
pub const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];
const DASHES: [&str; 4] = ["", "6 3", "2 2.5", "8 3 2 3"];

const WIDTH: f64 = 640.0;
const PANEL: f64 = 150.0;
const BETWEEN: f64 = 16.0;
pub const LEFT: f64 = 76.0;
pub const TOP: f64 = 40.0;
pub const BOTTOM: f64 = 46.0;
pub const SMALL: f64 = 11.0;
pub const NORMAL: f64 = 12.0;
pub const LARGE: f64 = 14.0;
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

/// Values over time; a value that is no number breaks the line.
#[derive(Debug, Clone)]
pub struct Line {
    pub style: Style,
    pub points: Vec<[f64; 2]>,
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

    pub fn draw(&self) -> Svg {
        let times = self.panels.iter().flat_map(|p| &p.lines).flat_map(|l| &l.points).map(|p| p[0]);
        let time = Axis::new(from_zero(range(times)), "s", 8.0);
        let styles = self.styles();
        let n = self.panels.len() as f64;
        let least = 18.0 * styles.len().min(24) as f64;
        let panel = PANEL.max((least - BETWEEN * (n - 1.0)) / n);
        let height = TOP + n * panel + (n - 1.0) * BETWEEN + BOTTOM;
        let mut svg = Svg::new(LEFT + WIDTH + legend_width(&styles, height), height);
        svg.text([LEFT, 24.0], LARGE, Anchor::Start, &self.title);
        for (k, p) in self.panels.iter().enumerate() {
            let frame = [LEFT, TOP + k as f64 * (panel + BETWEEN), WIDTH, panel];
            p.draw(&mut svg, frame, &time, k + 1 == self.panels.len());
        }
        draw_legend(&mut svg, &styles, LEFT + WIDTH + 14.0);
        svg
    }

    fn styles(&self) -> Vec<&Style> {
        let mut list: Vec<&Style> = vec![];
        for line in self.panels.iter().flat_map(|p| &p.lines) {
            if !list.contains(&&line.style) {
                list.push(&line.style);
            }
        }
        list
    }
}

impl Panel {
    fn draw(&self, svg: &mut Svg, frame: [f64; 4], time: &Axis, last: bool) {
        let [x0, y0, w, h] = frame;
        let values = self.lines.iter().flat_map(|l| &l.points).map(|p| p[1]);
        let axis = Axis::padded(range(values), self.unit, 5.0);
        for (value, label) in &axis.ticks {
            let y = y0 + h * (1.0 - axis.share(*value));
            svg.line([x0, y], [x0 + w, y], GREY, if *value == 0.0 { 1.2 } else { 0.6 });
            svg.text([x0 - 6.0, y + 4.0], SMALL, Anchor::End, label);
        }
        draw_times(svg, frame, time, last);
        svg.turned([18.0, y0 + h / 2.0], -90.0, NORMAL, Anchor::Middle, &axis.label(&self.what));
        svg.clip(frame);
        for line in &self.lines {
            let place = |p: &[f64; 2]| [x0 + w * time.share(p[0]), y0 + h * (1.0 - axis.share(p[1]))];
            let runs: Vec<Vec<[f64; 2]>> =
                runs(&line.points).map(|run| thin(run).iter().map(place).collect()).collect();
            let style = &line.style;
            svg.path(&runs, COLOURS[style.colour % COLOURS.len()], DASHES[style.dash % DASHES.len()]);
        }
        svg.unclip();
        svg.frame(frame);
    }
}

/// Lines at round times, and their numbers below the last panel.
pub fn draw_times(svg: &mut Svg, [x0, y0, w, h]: [f64; 4], time: &Axis, last: bool) {
    for (t, label) in &time.ticks {
        let x = x0 + w * time.share(*t);
        svg.line([x, y0], [x, y0 + h], GREY, 0.6);
        if last {
            svg.line([x, y0 + h], [x, y0 + h + 4.0], INK, 0.8);
            svg.text([x, y0 + h + 17.0], SMALL, Anchor::Middle, label);
        }
    }
    if last {
        svg.text([x0 + w / 2.0, y0 + h + 36.0], NORMAL, Anchor::Middle, &time.label("time"));
    }
}

/// How many lines a legend has room for, and what stands below them if that is not all.
fn legend_lines(styles: &[&Style], height: f64) -> (usize, Option<String>) {
    let room = ((height - TOP - BOTTOM) / 18.0) as usize;
    if styles.len() <= room {
        return (styles.len(), None);
    }
    let shown = room.saturating_sub(1);
    (shown, Some(format!("and {} more", styles.len() - shown)))
}

fn legend_width(styles: &[&Style], height: f64) -> f64 {
    let (_, more) = legend_lines(styles, height);
    let names = styles.iter().map(|s| short(&s.label)).chain(more);
    let widest = names.map(|name| width_of(&name, NORMAL)).fold(0.0, f64::max);
    14.0 + 34.0 + widest + 10.0
}

fn draw_legend(svg: &mut Svg, styles: &[&Style], x: f64) {
    let (shown, more) = legend_lines(styles, svg.height);
    for (k, style) in styles.iter().take(shown).enumerate() {
        let y = TOP + 9.0 + 18.0 * k as f64;
        let dash = DASHES[style.dash % DASHES.len()];
        svg.path(&[vec![[x, y], [x + 24.0, y]]], COLOURS[style.colour % COLOURS.len()], dash);
        svg.text([x + 31.0, y + 4.0], NORMAL, Anchor::Start, &short(&style.label));
    }
    if let Some(more) = more {
        let y = TOP + 9.0 + 18.0 * shown as f64;
        svg.text([x + 31.0, y + 4.0], NORMAL, Anchor::Start, &more);
    }
}

/// The name, or what fits of it.
pub fn short(name: &str) -> String {
    if name.chars().count() <= LONGEST {
        return name.to_owned();
    }
    name.chars().take(LONGEST - 1).chain(['…']).collect()
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
        let all: Vec<&Style> = styles.iter().collect();
        assert_eq!(legend_lines(&all[..10], 10.0 * 18.0 + TOP + BOTTOM), (10, None));
        let height = 20.0 * 18.0 + TOP + BOTTOM;
        assert_eq!(legend_lines(&all, height), (19, Some("and 181 more".to_owned())));
        // the text begins 14 + 31 right of the panels
        assert!(legend_width(&all, height) > 45.0 + width_of("and 181 more", NORMAL));
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
    fn lines_break_where_there_is_no_value() {
        let points = [[0.0, 1.0], [1.0, f64::NAN], [2.0, 1.0], [3.0, 1.0], [4.0, f64::NAN]];
        assert_eq!(runs(&points).map(<[_]>::len).collect::<Vec<_>>(), [1, 2]);
    }
}
