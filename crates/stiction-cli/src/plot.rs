//! `stiction plot`: figures of recordings.

pub mod axis;
pub mod chart;
mod data;
pub mod drawing;
mod energy;
mod forces;
mod legend;
mod motion;
mod patch;
mod png;
mod status;
mod svg;

use crate::args::{Figure, FigureFormat, Plot};
use crate::{InputError, print, write_file};
use clap::ValueEnum;
use data::Source;
use drawing::Drawing;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use stiction::scene::Table;

pub fn run(arguments: &Plot) -> Result<ExitCode, InputError> {
    let sources = Source::open(arguments)?;
    data::check_names(&sources, "body", &arguments.body, &[Table::Bodies])?;
    data::check_names(&sources, "contact", &arguments.contact, &[Table::Contacts, Table::Events])?;
    let folder = arguments.out.clone().unwrap_or_else(|| match &arguments.recordings[..] {
        [one] => one.join("figures"),
        _ => PathBuf::from("figures"),
    });
    // what is not asked for by name is left out where there is nothing to draw
    let asked = !arguments.what.is_empty();
    let list = if asked { &arguments.what[..] } else { Figure::value_variants() };
    let (mut drawn, mut left_out) = (vec![], String::new());
    for figure in list {
        let name = name(*figure);
        // points are drawn on request alone
        if !asked && *figure == Figure::Points {
            continue;
        }
        if !asked && !sources.iter().all(|s| s.has(table(*figure))) {
            continue;
        }
        match draw(*figure, &sources, arguments) {
            Ok(Some(drawing)) => drawn.push((name, drawing)),
            Ok(None) if asked => {
                return Err(InputError(format!("{name}: nothing to draw{}", hint(*figure))));
            }
            Err(Undrawn::TooMany(why)) if !asked => left_out += &format!("left out  {why}\n"),
            Err(Undrawn::TooMany(why)) => return Err(InputError(why)),
            Err(Undrawn::Wrong(e)) => return Err(e),
            Ok(None) => {}
        }
    }
    if drawn.is_empty() {
        return Err(InputError("nothing to draw (are --from, --to, --body, --contact right?)".to_owned()));
    }
    std::fs::create_dir_all(&folder).map_err(|e| InputError(format!("{}: {e}", folder.display())))?;
    let mut said = String::new();
    for (name, drawing) in drawn {
        for format in &arguments.format {
            let path = write(&folder, &name, &drawing, *format)?;
            said += &format!("figure    {}\n", path.display());
        }
    }
    print(&(said + &left_out)).map(|()| ExitCode::SUCCESS)
}

/// Why there is no figure.
enum Undrawn {
    /// More than it has room for.
    TooMany(String),
    Wrong(InputError),
}

impl From<InputError> for Undrawn {
    fn from(e: InputError) -> Self {
        Self::Wrong(e)
    }
}

/// What a figure is drawn from.
fn table(figure: Figure) -> Table {
    match figure {
        Figure::Status => Table::Events,
        Figure::Patch | Figure::Forces | Figure::Totals | Figure::Points => Table::Contacts,
        Figure::Positions | Figure::Velocities => Table::Bodies,
        Figure::Energy => Table::Steps,
    }
}

fn draw(figure: Figure, sources: &[Source], arguments: &Plot) -> Result<Option<Drawing>, Undrawn> {
    let (bodies, contacts) = (&arguments.body, &arguments.contact);
    let chart = match figure {
        Figure::Status => return status::draw(sources, contacts),
        Figure::Patch => return Ok(patch::draw(sources, contacts, arguments.at)?),
        Figure::Positions => motion::motion(sources, bodies, false)?,
        Figure::Velocities => motion::motion(sources, bodies, true)?,
        Figure::Forces => forces::by_element(sources, contacts)?,
        Figure::Totals => forces::by_pair(sources, contacts)?,
        Figure::Points => forces::points(sources, contacts)?,
        Figure::Energy => energy::energy(sources)?,
    };
    Ok((!chart.is_empty()).then(|| chart.draw()))
}

fn hint(figure: Figure) -> &'static str {
    match figure {
        Figure::Patch => ": no contact here has elements side by side in two directions",
        Figure::Status | Figure::Forces | Figure::Totals | Figure::Points => {
            " (nothing touches; or are --contact, --from, --to right?)"
        }
        _ => " (are --body, --from, --to right?)",
    }
}

fn name(figure: Figure) -> String {
    figure.to_possible_value().map(|v| v.get_name().to_owned()).unwrap_or_default()
}

fn write(folder: &Path, name: &str, drawing: &Drawing, format: FigureFormat) -> Result<PathBuf, InputError> {
    let ending = match format {
        FigureFormat::Svg => "svg",
        FigureFormat::Png => "png",
    };
    let path = folder.join(format!("{name}.{ending}"));
    write_drawing(&path, drawing)?;
    Ok(path)
}

/// Writes a drawing in the format that the file's name asks for.
pub fn write_drawing(file: &Path, drawing: &Drawing) -> Result<(), InputError> {
    let wrong = |e: String| InputError(format!("{}: {e}", file.display()));
    let ending = file.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    let bytes = match ending.as_str() {
        "svg" => svg::svg(drawing).into_bytes(),
        "png" => png::png(drawing).map_err(wrong)?,
        _ => return Err(wrong("expected a name that ends in .svg or .png".to_owned())),
    };
    write_file(file, &bytes)
}
