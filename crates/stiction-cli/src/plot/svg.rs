//! Drawings as SVG.

use super::drawing::{Anchor, Drawing, INK, Shape};
use std::fmt::Write;

/// The figures' typeface; the same is built in for PNG.
const FONT: &str = "DejaVu Sans";

pub fn svg(drawing: &Drawing) -> String {
    let (w, h) = (drawing.width, drawing.height);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w:.0}\" height=\"{h:.0}\" viewBox=\"0 0 {w:.0} {h:.0}\" \
         font-family=\"{FONT}, Verdana, Arial, sans-serif\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    let mut clips = 0;
    for shape in &drawing.shapes {
        write_shape(&mut out, shape, &mut clips);
    }
    out + "</svg>\n"
}

fn write_shape(out: &mut String, shape: &Shape, clips: &mut usize) {
    let mut tag = |tag: std::fmt::Arguments| {
        // writing to a String cannot fail
        let _ = writeln!(out, "{tag}");
    };
    match shape {
        Shape::Rect { at: [x, y, w, h], fill } => {
            tag(format_args!(
                r#"<rect x="{x:.2}" y="{y:.2}" width="{w:.2}" height="{h:.2}" fill="{fill}"/>"#
            ));
        }
        Shape::Tile { at: [x, y, w, h], fill } => tag(format_args!(
            r#"<rect x="{x:.1}" y="{y:.1}" width="{w:.1}" height="{h:.1}" fill="{fill}" shape-rendering="crispEdges"/>"#
        )),
        Shape::Polygon { corners, fill } => {
            let corners: Vec<String> = corners.iter().map(|[x, y]| format!("{x:.2},{y:.2}")).collect();
            tag(format_args!(r#"<polygon points="{}" fill="{fill}"/>"#, corners.join(" ")));
        }
        Shape::Frame { at: [x, y, w, h] } => tag(format_args!(
            r#"<rect x="{x:.2}" y="{y:.2}" width="{w:.2}" height="{h:.2}" fill="none" stroke="{INK}" stroke-width="0.8"/>"#
        )),
        Shape::Line { from: [x, y], to: [u, v], colour, width } => tag(format_args!(
            r#"<line x1="{x:.2}" y1="{y:.2}" x2="{u:.2}" y2="{v:.2}" stroke="{colour}" stroke-width="{width}"/>"#
        )),
        Shape::Path { runs, colour, dash } => {
            let mut d = String::new();
            for run in runs {
                for (k, [x, y]) in run.iter().enumerate() {
                    let _ = write!(d, "{}{x:.2} {y:.2}", if k == 0 { 'M' } else { 'L' });
                }
                if run.len() == 1 {
                    d.push_str("h0.01");
                }
            }
            let lengths: Vec<String> = dash.iter().map(f64::to_string).collect();
            let dash = match dash.is_empty() {
                true => String::new(),
                false => format!(r#" stroke-dasharray="{}""#, lengths.join(" ")),
            };
            tag(format_args!(
                r#"<path d="{d}" fill="none" stroke="{colour}" stroke-width="1.3" stroke-linejoin="round" stroke-linecap="round"{dash}/>"#
            ));
        }
        Shape::Text { at: [x, y], turn, size, anchor, text } => {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let turn = match *turn == 0.0 {
                true => String::new(),
                false => format!(r#" transform="rotate({turn} {x:.2} {y:.2})""#),
            };
            let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            tag(format_args!(
                r#"<text x="{x:.2}" y="{y:.2}" font-size="{size}" text-anchor="{anchor}" fill="{INK}"{turn}>{text}</text>"#
            ));
        }
        Shape::Clip { at: [x, y, w, h] } => {
            *clips += 1;
            tag(format_args!(
                r#"<clipPath id="c{clips}"><rect x="{x:.2}" y="{y:.2}" width="{w:.2}" height="{h:.2}"/></clipPath><g clip-path="url(#c{clips})">"#
            ));
        }
        Shape::Unclip => tag(format_args!("</g>")),
    }
}
