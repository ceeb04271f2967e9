//! Shapes and text as SVG.

use std::fmt::Write;

/// The figures' typeface; the same is built in for PNG.
pub const FONT: &str = "DejaVu Sans";
pub const INK: &str = "#222222";
pub const GREY: &str = "#d9d9d9";

/// Where text is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// A drawing that grows, in pixels.
#[derive(Debug)]
pub struct Svg {
    pub width: f64,
    pub height: f64,
    body: String,
    clips: usize,
}

impl Svg {
    pub fn new(width: f64, height: f64) -> Self {
        Self { width, height, body: String::new(), clips: 0 }
    }

    pub fn rect(&mut self, [x, y, w, h]: [f64; 4], fill: &str) {
        self.tag(format_args!(
            r#"<rect x="{x:.2}" y="{y:.2}" width="{w:.2}" height="{h:.2}" fill="{fill}"/>"#
        ));
    }

    /// Filled.
    pub fn polygon(&mut self, corners: &[[f64; 2]], fill: &str) {
        let corners: Vec<String> = corners.iter().map(|[x, y]| format!("{x:.2},{y:.2}")).collect();
        self.tag(format_args!(r#"<polygon points="{}" fill="{fill}"/>"#, corners.join(" ")));
    }

    /// A rectangle that joins others without a seam: its edges lie on whole pixels of a picture of twice the size, and are not smoothed.
    pub fn tile(&mut self, [x, y, w, h]: [f64; 4], fill: &str) {
        let edge = |x: f64| 0.5 * (2.0 * x).round();
        let ([left, right], [top, bottom]) = ([edge(x), edge(x + w)], [edge(y), edge(y + h)]);
        self.tag(format_args!(
            r#"<rect x="{left:.1}" y="{top:.1}" width="{:.1}" height="{:.1}" fill="{fill}" shape-rendering="crispEdges"/>"#,
            right - left,
            bottom - top
        ));
    }

    /// The outline alone.
    pub fn frame(&mut self, [x, y, w, h]: [f64; 4]) {
        self.tag(format_args!(
            r#"<rect x="{x:.2}" y="{y:.2}" width="{w:.2}" height="{h:.2}" fill="none" stroke="{INK}" stroke-width="0.8"/>"#
        ));
    }

    pub fn line(&mut self, [x, y]: [f64; 2], [u, v]: [f64; 2], colour: &str, width: f64) {
        self.tag(format_args!(
            r#"<line x1="{x:.2}" y1="{y:.2}" x2="{u:.2}" y2="{v:.2}" stroke="{colour}" stroke-width="{width}"/>"#
        ));
    }

    /// Runs of points, each a line; one point alone is a dot.
    pub fn path(&mut self, runs: &[Vec<[f64; 2]>], colour: &str, dash: &str) {
        let mut d = String::new();
        for run in runs {
            for (k, [x, y]) in run.iter().enumerate() {
                let _ = write!(d, "{}{x:.2} {y:.2}", if k == 0 { 'M' } else { 'L' });
            }
            if run.len() == 1 {
                d.push_str("h0.01");
            }
        }
        let dash = if dash.is_empty() { String::new() } else { format!(r#" stroke-dasharray="{dash}""#) };
        self.tag(format_args!(
            r#"<path d="{d}" fill="none" stroke="{colour}" stroke-width="1.3" stroke-linejoin="round" stroke-linecap="round"{dash}/>"#
        ));
    }

    pub fn text(&mut self, at: [f64; 2], size: f64, anchor: Anchor, text: &str) {
        self.turned(at, 0.0, size, anchor, text);
    }

    /// Text turned by degrees, clockwise.
    pub fn turned(&mut self, [x, y]: [f64; 2], turn: f64, size: f64, anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let turn =
            if turn == 0.0 { String::new() } else { format!(r#" transform="rotate({turn} {x:.2} {y:.2})""#) };
        let text = escape(text);
        self.tag(format_args!(
            r#"<text x="{x:.2}" y="{y:.2}" font-size="{size}" text-anchor="{anchor}" fill="{INK}"{turn}>{text}</text>"#
        ));
    }

    /// What is drawn until [`Svg::unclip`] shows only inside.
    pub fn clip(&mut self, [x, y, w, h]: [f64; 4]) {
        self.clips += 1;
        let id = self.clips;
        self.tag(format_args!(
            r#"<clipPath id="c{id}"><rect x="{x:.2}" y="{y:.2}" width="{w:.2}" height="{h:.2}"/></clipPath><g clip-path="url(#c{id})">"#
        ));
    }

    pub fn unclip(&mut self) {
        self.tag(format_args!("</g>"));
    }

    pub fn finish(&self) -> String {
        let (w, h, body) = (self.width, self.height, &self.body);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w:.0}\" height=\"{h:.0}\" viewBox=\"0 0 {w:.0} {h:.0}\" \
             font-family=\"{FONT}, Verdana, Arial, sans-serif\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{body}</svg>\n"
        )
    }

    fn tag(&mut self, tag: std::fmt::Arguments) {
        // writing to a String cannot fail
        let _ = writeln!(self.body, "{tag}");
    }
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Roughly how wide text is; names may be long, so that it matters only roughly.
pub fn width_of(text: &str, size: f64) -> f64 {
    0.6 * size * text.chars().count() as f64
}
