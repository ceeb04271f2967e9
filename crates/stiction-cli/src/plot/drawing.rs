//! A drawing of a few shapes and text, in pixels. It is written as SVG (svg.rs) or PNG (png.rs).

pub const INK: &str = "#222222";
pub const GREY: &str = "#d9d9d9";

/// Where text is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// One shape; colours are `#rrggbb`.
#[derive(Debug)]
pub enum Shape {
    Rect {
        at: [f64; 4],
        fill: String,
    },
    /// A rectangle that joins others without a seam: its edges are not smoothed.
    Tile {
        at: [f64; 4],
        fill: String,
    },
    Polygon {
        corners: Vec<[f64; 2]>,
        fill: String,
    },
    Frame {
        at: [f64; 4],
    },
    Line {
        from: [f64; 2],
        to: [f64; 2],
        colour: String,
        width: f64,
    },
    /// Runs of points, each a line; lengths of dashes and gaps.
    Path {
        runs: Vec<Vec<[f64; 2]>>,
        colour: String,
        dash: &'static [f64],
    },
    /// Turned by degrees, clockwise.
    Text {
        at: [f64; 2],
        turn: f64,
        size: f64,
        anchor: Anchor,
        text: String,
    },
    /// What follows shows only inside.
    Clip {
        at: [f64; 4],
    },
    Unclip,
}

/// A drawing that grows.
#[derive(Debug)]
pub struct Drawing {
    pub width: f64,
    pub height: f64,
    pub shapes: Vec<Shape>,
}

impl Drawing {
    pub fn new(width: f64, height: f64) -> Self {
        Self { width, height, shapes: vec![] }
    }

    pub fn rect(&mut self, at: [f64; 4], fill: &str) {
        self.shapes.push(Shape::Rect { at, fill: fill.to_owned() });
    }

    /// Filled.
    pub fn polygon(&mut self, corners: &[[f64; 2]], fill: &str) {
        self.shapes.push(Shape::Polygon { corners: corners.to_vec(), fill: fill.to_owned() });
    }

    /// A rectangle that joins others without a seam: its edges lie on whole pixels of a picture of twice the size.
    pub fn tile(&mut self, [x, y, w, h]: [f64; 4], fill: &str) {
        let edge = |x: f64| 0.5 * (2.0 * x).round();
        let ([left, right], [top, bottom]) = ([edge(x), edge(x + w)], [edge(y), edge(y + h)]);
        let at = [left, top, right - left, bottom - top];
        self.shapes.push(Shape::Tile { at, fill: fill.to_owned() });
    }

    /// The outline alone.
    pub fn frame(&mut self, at: [f64; 4]) {
        self.shapes.push(Shape::Frame { at });
    }

    pub fn line(&mut self, from: [f64; 2], to: [f64; 2], colour: &str, width: f64) {
        self.shapes.push(Shape::Line { from, to, colour: colour.to_owned(), width });
    }

    /// Runs of points, each a line; one point alone is a dot.
    pub fn path(&mut self, runs: &[Vec<[f64; 2]>], colour: &str, dash: &'static [f64]) {
        self.shapes.push(Shape::Path { runs: runs.to_vec(), colour: colour.to_owned(), dash });
    }

    pub fn text(&mut self, at: [f64; 2], size: f64, anchor: Anchor, text: &str) {
        self.turned(at, 0.0, size, anchor, text);
    }

    /// Text turned by degrees, clockwise.
    pub fn turned(&mut self, at: [f64; 2], turn: f64, size: f64, anchor: Anchor, text: &str) {
        // control characters would end or hide text
        let text = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        self.shapes.push(Shape::Text { at, turn, size, anchor, text });
    }

    /// What is drawn until [`Drawing::unclip`] shows only inside.
    pub fn clip(&mut self, at: [f64; 4]) {
        self.shapes.push(Shape::Clip { at });
    }

    pub fn unclip(&mut self) {
        self.shapes.push(Shape::Unclip);
    }
}

/// Roughly how wide text is; names may be long, so that it matters only roughly.
pub fn width_of(text: &str, size: f64) -> f64 {
    0.6 * size * text.chars().count() as f64
}
