//! Drawings as pixels, with the typeface built in: the same on every machine.

use super::drawing::{Anchor, Drawing, INK, Shape};
use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Mask, Paint, PathBuilder, Pixmap, Rect, Stroke, StrokeDash, Transform,
};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// DejaVu Sans; licence beside it.
const TYPEFACE: &[u8] = include_bytes!("../../fonts/DejaVuSans.ttf");
/// Pixels of the picture for one of the drawing.
const SCALE: f32 = 2.0;

pub fn png(drawing: &Drawing) -> Result<Vec<u8>, String> {
    let face = Face::parse(TYPEFACE, 0).map_err(|e| e.to_string())?;
    let size = |x: f64| (SCALE * x as f32).ceil() as u32;
    let pixels = Pixmap::new(size(drawing.width), size(drawing.height)).ok_or("too large a figure")?;
    let mut picture = Picture { pixels, face, clip: None };
    picture.pixels.fill(Color::WHITE);
    for shape in &drawing.shapes {
        picture.draw(shape);
    }
    picture.pixels.encode_png().map_err(|e| e.to_string())
}

struct Picture {
    pixels: Pixmap,
    face: Face<'static>,
    clip: Option<Mask>,
}

impl Picture {
    fn draw(&mut self, shape: &Shape) {
        match shape {
            Shape::Rect { at, fill } => self.fill(rectangle(*at), &paint(fill, true), scaled()),
            Shape::Tile { at, fill } => self.fill(rectangle(*at), &paint(fill, false), scaled()),
            Shape::Polygon { corners, fill } => {
                self.fill(through(corners, true), &paint(fill, true), scaled());
            }
            Shape::Frame { at } => self.stroke(rectangle(*at), INK, &stroke(0.8)),
            Shape::Line { from, to, colour, width } => {
                self.stroke(through(&[*from, *to], false), colour, &stroke(*width));
            }
            Shape::Path { runs, colour, dash } => {
                let dash = dash.iter().map(|d| *d as f32).collect();
                let round = Stroke {
                    line_cap: LineCap::Round,
                    line_join: LineJoin::Round,
                    dash: StrokeDash::new(dash, 0.0),
                    ..stroke(1.3)
                };
                for run in runs {
                    match run[..] {
                        [[x, y]] => self.stroke(through(&[[x, y], [x + 0.01, y]], false), colour, &round),
                        _ => self.stroke(through(run, false), colour, &round),
                    }
                }
            }
            Shape::Text { at, turn, size, anchor, text } => self.text(*at, *turn, *size, *anchor, text),
            Shape::Clip { at } => {
                self.clip = Mask::new(self.pixels.width(), self.pixels.height());
                if let (Some(mask), Some(path)) = (&mut self.clip, rectangle(*at)) {
                    mask.fill_path(&path, FillRule::Winding, true, scaled());
                }
            }
            Shape::Unclip => self.clip = None,
        }
    }

    fn fill(&mut self, path: Option<tiny_skia::Path>, paint: &Paint, transform: Transform) {
        if let Some(path) = path {
            self.pixels.fill_path(&path, paint, FillRule::Winding, transform, self.clip.as_ref());
        }
    }

    fn stroke(&mut self, path: Option<tiny_skia::Path>, colour: &str, stroke: &Stroke) {
        if let Some(path) = path {
            self.pixels.stroke_path(&path, &paint(colour, true), stroke, scaled(), self.clip.as_ref());
        }
    }

    /// Glyphs side by side; what the typeface lacks is its box for missing characters.
    fn text(&mut self, [x, y]: [f64; 2], turn: f64, size: f64, anchor: Anchor, text: &str) {
        let glyphs: Vec<GlyphId> =
            text.chars().map(|c| self.face.glyph_index(c).unwrap_or_default()).collect();
        let advance = |g: &GlyphId| f32::from(self.face.glyph_hor_advance(*g).unwrap_or(0));
        let width: f32 = glyphs.iter().map(advance).sum();
        let mut pen = match anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => -0.5 * width,
            Anchor::End => -width,
        };
        let mut outline = Outline { path: PathBuilder::new(), pen };
        for glyph in &glyphs {
            outline.pen = pen;
            self.face.outline_glyph(*glyph, &mut outline);
            pen += advance(glyph);
        }
        let unit = size as f32 / f32::from(self.face.units_per_em());
        let place = Transform::from_row(unit, 0.0, 0.0, -unit, 0.0, 0.0)
            .post_concat(Transform::from_rotate(turn as f32))
            .post_translate(x as f32, y as f32)
            .post_scale(SCALE, SCALE);
        self.fill(outline.path.finish(), &paint(INK, true), place);
    }
}

/// Outlines of glyphs, in the typeface's units, y up.
struct Outline {
    path: PathBuilder,
    pen: f32,
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        self.path.move_to(self.pen + x, y);
    }
    fn line_to(&mut self, x: f32, y: f32) {
        self.path.line_to(self.pen + x, y);
    }
    fn quad_to(&mut self, a: f32, b: f32, x: f32, y: f32) {
        self.path.quad_to(self.pen + a, b, self.pen + x, y);
    }
    fn curve_to(&mut self, a: f32, b: f32, c: f32, d: f32, x: f32, y: f32) {
        self.path.cubic_to(self.pen + a, b, self.pen + c, d, self.pen + x, y);
    }
    fn close(&mut self) {
        self.path.close();
    }
}

fn scaled() -> Transform {
    Transform::from_scale(SCALE, SCALE)
}

fn stroke(width: f64) -> Stroke {
    Stroke { width: width as f32, ..Stroke::default() }
}

fn rectangle([x, y, w, h]: [f64; 4]) -> Option<tiny_skia::Path> {
    Rect::from_xywh(x as f32, y as f32, w as f32, h as f32).map(PathBuilder::from_rect)
}

fn through(points: &[[f64; 2]], closed: bool) -> Option<tiny_skia::Path> {
    let mut path = PathBuilder::new();
    for (k, [x, y]) in points.iter().map(|p| p.map(|v| v as f32)).enumerate() {
        if k == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
    }
    if closed {
        path.close();
    }
    path.finish()
}

/// `#rrggbb`; anything else is ink.
fn paint(colour: &str, smooth: bool) -> Paint<'static> {
    let part = |k: usize| colour.get(2 * k + 1..2 * k + 3).and_then(|s| u8::from_str_radix(s, 16).ok());
    let mut paint = Paint { anti_alias: smooth, ..Paint::default() };
    match (part(0), part(1), part(2)) {
        (Some(r), Some(g), Some(b)) => paint.set_color_rgba8(r, g, b, 255),
        _ => paint.set_color_rgba8(0x22, 0x22, 0x22, 255),
    }
    paint
}
