//! `stiction fit`: values of a scene from a measured trajectory.

use crate::args::Fit as Arguments;
use crate::plot::chart::{Chart, Line, Panel, Style};
use crate::plot::write_drawing;
use crate::progress::Display;
use crate::{InputError, print, read_scene, signals, tell, write_file};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;
use stiction::fit::{ColumnFit, Data, DataFault, Derivatives, End, Fit, Invalid, Problem, fit};

/// Columns that a figure shows.
const MOST_COLUMNS: usize = 6;

pub fn run(arguments: &Arguments) -> Result<ExitCode, InputError> {
    let Some(scene) = read_scene(&arguments.scene) else { return Ok(ExitCode::from(2)) };
    let data = match Data::read(&arguments.data) {
        Ok(data) => data,
        Err(faults) => return Ok(refused(&arguments.data, &faults)),
    };
    let mut problem = match Problem::new(&scene, data, &arguments.vary) {
        Ok(problem) => problem,
        Err(Invalid::Data(faults)) => return Ok(refused(&arguments.data, &faults)),
        Err(Invalid::Scene(faults)) => {
            let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
            return Err(InputError(format!("{}: {}", arguments.scene.file.display(), lines.join("; "))));
        }
    };
    for (column, sigma) in &arguments.sigma {
        problem.set_sigma(column, *sigma).map_err(|e| InputError(format!("--sigma: {e}")))?;
    }
    problem.level = arguments.level;
    (problem.iterations, problem.starts) = (arguments.iterations, arguments.starts);
    if arguments.differences {
        problem.derivatives = Derivatives::Differences;
    }
    for path in arguments.figure.iter().chain(&arguments.out) {
        if path.exists() && !arguments.force {
            return Err(InputError(format!("{}: is there already (--force replaces it)", path.display())));
        }
    }
    if let Some(path) = &arguments.figure
        && !path.extension().is_some_and(|e| e == "svg" || e == "png")
    {
        return Err(InputError(format!("--figure: {}, expected .svg or .png", path.display())));
    }
    let signals = signals::listen(&problem.stop);
    let mut display = Display::new(!arguments.json);
    let begin = Instant::now();
    let found = fit(&problem, &mut |progress| {
        display.show(format!("{} runs, residual {:.3e}", progress.runs, progress.rms), None);
    });
    display.finish();
    let seconds = begin.elapsed().as_secs_f64();
    let mut written = vec![];
    if let Some(path) =
        arguments.figure.as_ref().filter(|_| found.columns.iter().any(|c| !c.times.is_empty()))
    {
        let drawing = chart(&found, &scene.name).draw();
        write_drawing(path, &drawing)?;
        written.push(("figure", path.display().to_string()));
    }
    let reached = matches!(found.end, End::Solved | End::Several | End::Undecided);
    if let Some(path) = arguments.out.as_ref().filter(|_| reached) {
        let values: Vec<f64> = found.parameters.iter().map(|e| e.value).collect();
        let fitted = problem.scene_at(&values).map_err(|faults| InputError::model(path, faults))?;
        write_file(path, fitted.to_toml().as_bytes())?;
        written.push(("scene", path.display().to_string()));
    }
    print(&match arguments.json {
        true => to_json(&found, &written),
        false => to_text(&found, &written, seconds),
    })?;
    Ok(match found.end {
        End::Solved | End::Several => ExitCode::SUCCESS,
        End::Undecided | End::Failed(_) => ExitCode::from(1),
        End::Interrupted => ExitCode::from(signals.code()),
    })
}

/// Prints the faults of data, one line each.
fn refused(file: &Path, faults: &[DataFault]) -> ExitCode {
    for fault in faults {
        tell(&format!("{}: {fault}", file.display()));
    }
    ExitCode::from(2)
}

/// A number that JSON can hold.
fn number(x: f64) -> Value {
    if x.is_finite() { json!(x) } else { Value::Null }
}

fn to_json(found: &Fit, written: &[(&str, String)]) -> String {
    let parameters = found.parameters.iter().map(|e| {
        json!({
            "path": e.path,
            "value": number(e.value),
            "interval": e.interval.map(|i| i.map(number)),
            "standard_error": e.standard_error.map(number),
            "guess": number(e.guess),
            "at_bound": e.at_bound,
            "refinement": e.refinement.map(number),
            "nonlinearity": e.nonlinearity.map(number),
        })
    });
    let undetermined = found.undetermined.iter().map(|c| {
        let changes: Map<String, Value> =
            c.changes.iter().map(|(j, x)| (found.parameters[*j].path.clone(), number(*x))).collect();
        json!({ "changes": changes, "words": c.words })
    });
    let rms: Map<String, Value> = found.columns.iter().map(|c| (c.name.clone(), number(c.rms))).collect();
    let columns = found.columns.iter().map(|c| {
        json!({
            "name": c.name, "unit": c.unit, "values": c.times.len(), "rms": number(c.rms),
            "sigma": number(c.sigma), "sigma_given": c.given, "autocorrelation": number(c.autocorrelation),
        })
    });
    let cause = if let End::Failed(why) = &found.end { Some(why) } else { None };
    let mut object = json!({
        "status": found.end.name(),
        "cause": cause,
        "parameters": parameters.collect::<Vec<_>>(),
        "level": found.level,
        "undetermined": undetermined.collect::<Vec<_>>(),
        "residual": number(found.sum.sqrt()),
        "rms": rms,
        "columns": columns.collect::<Vec<_>>(),
        "degrees_of_freedom": found.degrees,
        "distance": number(found.distance),
        "condition_number": number(found.condition),
        "correlation": found.correlation,
        "iterations": found.iterations,
        "runs": found.runs,
        "failed_runs": found.failed_runs,
        "first_failure": found.first_failure,
        "derivatives": if found.exact { "exact" } else { "differences" },
        "not_exact": found.not_exact,
        "warnings": found.warnings,
    });
    for (what, path) in written {
        object[*what] = json!(path);
    }
    format!("{object}\n")
}

fn to_text(found: &Fit, written: &[(&str, String)], seconds: f64) -> String {
    let mut text = String::new();
    let outcome = match &found.end {
        End::Failed(why) => format!("failed: {why}"),
        End::Several => "solved, but not all parameters are determined".to_owned(),
        end => end.name().to_owned(),
    };
    // writing to a String cannot fail
    let _ =
        writeln!(text, "{outcome} ({} iterations, {} runs, {seconds:.2} s)", found.iterations, found.runs);
    let width = found.parameters.iter().map(|e| e.path.len()).max().unwrap_or(0);
    for e in &found.parameters {
        let known = match (e.interval, e.standard_error) {
            (Some([low, high]), Some(error)) => {
                format!("{} %: {low:.6} to {high:.6}, standard error {error:.2e}", 100.0 * found.level)
            }
            _ if e.at_bound => "at its bound".to_owned(),
            _ if found.degrees > 0 => "not determined".to_owned(),
            _ => String::new(),
        };
        let _ = writeln!(text, "  {:<width$}  {:>14.8}  {known}", e.path, e.value);
        if let (Some(x), Some(error)) = (e.refinement, e.standard_error) {
            let _ = writeln!(
                text,
                "  {:width$}  a finer run moves it by {x:.1e} ({:.2} standard errors)",
                "",
                x.abs() / error
            );
        }
    }
    for c in &found.undetermined {
        let _ = writeln!(text, "not determined: {}", c.words);
    }
    for (i, row) in found.correlation.iter().enumerate() {
        for (j, x) in row.iter().enumerate().take(i).filter(|(_, x)| x.abs() > 0.9) {
            let [a, b] = [i, j].map(|k| &found.parameters[k].path);
            let _ = writeln!(text, "correlation {x:.3} of {a} and {b}");
        }
    }
    for c in found.columns.iter().filter(|c| !c.times.is_empty()) {
        let given = if c.given { "given" } else { "estimated" };
        let _ = writeln!(
            text,
            "{}: {} values, rms of residuals {:.3e} {}, standard deviation {:.3e} ({given})",
            c.name,
            c.times.len(),
            c.rms,
            c.unit,
            c.sigma
        );
    }
    if found.degrees > 0 {
        let _ = writeln!(
            text,
            "{} degrees of freedom, {:.1e} standard errors from the minimum, condition number {:.2e}",
            found.degrees, found.distance, found.condition
        );
    }
    let how = match (found.exact, &found.not_exact) {
        (true, _) => "derivatives of steps".to_owned(),
        (false, None) => "differences of runs".to_owned(),
        (false, Some(why)) => format!("differences of runs ({why})"),
    };
    let _ = writeln!(text, "searched by {how}; intervals by differences of runs over one standard error");
    if let Some(why) = &found.first_failure {
        let _ = writeln!(text, "{} runs failed, the first {why}", found.failed_runs);
    }
    for warning in &found.warnings {
        let _ = writeln!(text, "warning: {warning}");
    }
    for (what, path) in written {
        let _ = writeln!(text, "{what} {path}");
    }
    text
}

/// Data and fit above residuals, column by column.
fn chart(found: &Fit, title: &str) -> Chart {
    let line = |label: &str, colour: usize, points: Vec<[f64; 2]>| Line {
        style: Style { label: label.to_owned(), colour, dash: 0 },
        points,
    };
    // one point alone is a dot
    let dots = |times: &[f64], values: &[f64]| -> Vec<[f64; 2]> {
        times.iter().zip(values).flat_map(|(t, x)| [[*t, *x], [*t, f64::NAN]]).collect()
    };
    let panels =
        found.columns.iter().filter(|c| !c.times.is_empty()).take(MOST_COLUMNS).flat_map(|c: &ColumnFit| {
            let residual: Vec<f64> = c.measured.iter().zip(&c.fitted).map(|(a, b)| a - b).collect();
            let fitted = c.times.iter().zip(&c.fitted).map(|(t, x)| [*t, *x]).collect();
            let above = vec![line("fitted", 0, fitted), line("measured", 1, dots(&c.times, &c.measured))];
            let below = vec![line("measured less fitted", 2, dots(&c.times, &residual))];
            [
                Panel { what: c.name.clone(), unit: c.unit, lines: above },
                Panel { what: "residual".to_owned(), unit: c.unit, lines: below },
            ]
        });
    let left_out = match found.columns.len().saturating_sub(MOST_COLUMNS) {
        0 => String::new(),
        more => format!(" ({more} more columns)"),
    };
    Chart { title: format!("{title}: measured and fitted{left_out}"), panels: panels.collect() }
}
