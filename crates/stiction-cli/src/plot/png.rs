//! SVG to pixels, with the typeface built in: the same on every machine.

use super::svg::{FONT, Svg};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};

/// DejaVu Sans; licence beside it.
const TYPEFACE: &[u8] = include_bytes!("../../fonts/DejaVuSans.ttf");
/// Pixels of the picture for one of the drawing.
const SCALE: f64 = 2.0;

pub fn png(svg: &Svg) -> Result<Vec<u8>, String> {
    let mut options = Options { font_family: FONT.to_owned(), ..Options::default() };
    options.fontdb_mut().load_font_data(TYPEFACE.to_vec());
    let tree = Tree::from_str(&svg.finish(), &options).map_err(|e| e.to_string())?;
    let size = |x: f64| (SCALE * x).ceil() as u32;
    let mut picture = Pixmap::new(size(svg.width), size(svg.height)).ok_or("too large a figure")?;
    resvg::render(&tree, Transform::from_scale(SCALE as f32, SCALE as f32), &mut picture.as_mut());
    picture.encode_png().map_err(|e| e.to_string())
}
