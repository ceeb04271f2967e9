//! `stiction shoot`: the start from which a scene ends as wanted.

use crate::args::Shoot;
use crate::plot::axis::Axis;
use crate::plot::chart::{BOTTOM, COLOURS, LARGE, LEFT, NORMAL, SMALL, TOP};
use crate::plot::drawing::{Anchor, Drawing, GREY};
use crate::plot::write_drawing;
use crate::{InputError, print, read_scene};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;
use stiction::boundary::{Answer, End, Found, Problem, residual_map, shoot};
use stiction::model::Model;
use stiction::record::{Format, Recorder};
use stiction::run::{Ended, Options, Until, run as drive};
use stiction::scene::Scene;

/// Seconds that a figure may take, roughly.
const FIGURE_TIME: f64 = 5.0;
/// Points of a figure along an axis: with one unknown, and at least and most with two.
const POINTS: usize = 201;
const GRID: [usize; 2] = [9, 41];

pub fn run(arguments: &Shoot) -> Result<ExitCode, InputError> {
    let Some(scene) = read_scene(&arguments.scene) else { return Ok(ExitCode::from(2)) };
    let file = arguments.scene.file.display();
    let problem = Problem::new(&scene).map_err(|faults| {
        InputError(faults.iter().map(|f| format!("{file}: {f}")).collect::<Vec<_>>().join("; "))
    })?;
    let begin = Instant::now();
    let answer = shoot(&problem);
    let seconds = begin.elapsed().as_secs_f64();
    let shots: usize = answer.solutions.iter().chain(&answer.nearest).map(|f| f.shots).sum();
    let folder = arguments.out.clone().unwrap_or_else(|| PathBuf::from(format!("{}.shoot", scene.name)));
    let (mut recordings, mut figure) = (vec![], None);
    if !arguments.dry {
        std::fs::create_dir_all(&folder).map_err(|e| InputError(format!("{}: {e}", folder.display())))?;
        for (k, found) in answer.solutions.iter().enumerate() {
            let path = folder.join(format!("solution-{}.recording", k + 1));
            record(&scene, &problem, found, &path, arguments.force)?;
            recordings.push(path);
        }
        if let Some(drawing) = draw(&problem, &answer, seconds / shots.max(1) as f64) {
            let path = folder.join("residual.svg");
            write_drawing(&path, &drawing)?;
            figure = Some(path);
        }
    }
    let text = match arguments.json {
        true => to_json(&problem, &answer, &recordings, figure.as_deref()),
        false => to_text(&problem, &answer, &recordings, figure.as_deref(), seconds),
    };
    print(&text)?;
    Ok(if answer.solutions.is_empty() { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Runs a solution again and records it.
fn record(
    scene: &Scene,
    problem: &Problem,
    found: &Found,
    path: &Path,
    force: bool,
) -> Result<(), InputError> {
    let mut scene = scene.clone();
    scene.step.h = problem.step(&found.unknowns);
    scene.step.duration = scene.step.h * problem.steps as f64;
    let model = Arc::new(Model::new(&scene).map_err(|faults| InputError::model(path, faults))?);
    let mut state = problem.start(&found.unknowns);
    let mut recorder = Recorder::create(path, &model, &scene.to_toml(), Format::Parquet, force)
        .map_err(|e| InputError::record(&e))?;
    let options = Options { until: Until::Steps(problem.steps), unexamined: true, ..Options::default() };
    match drive(&model, &mut state, &options, &mut [&mut recorder]) {
        Ok(Ended::Finished | Ended::Interrupted) => Ok(()),
        Ok(Ended::Failed(why)) => Err(InputError(why.to_string())),
        Err(e) => Err(InputError(e.to_string())),
    }
}

/// The shared word for how it ended.
fn status(answer: &Answer) -> &'static str {
    match (&answer.solutions[..], &answer.nearest) {
        ([], Some(Found { end: End::Failed(_), .. })) => "failed",
        ([], _) => "undecided",
        ([_], _) => "solved",
        _ => "several",
    }
}

/// How one search ended, in words.
fn ended(found: &Found) -> String {
    match &found.end {
        End::Solved => "solved".to_owned(),
        End::Miss => "no change of the unknowns within their bounds comes nearer".to_owned(),
        End::Limit => "the limit of iterations was met".to_owned(),
        End::Repelled => "the fixed-point map repels here".to_owned(),
        End::Failed(why) => why.clone(),
    }
}

fn initial(problem: &Problem, found: &Found) -> Vec<(String, f64)> {
    found.unknowns.iter().enumerate().map(|(k, z)| (problem.name(k).to_owned(), *z)).collect()
}

/// The conditions as they came out.
fn reached(problem: &Problem, found: &Found) -> Vec<(String, f64, f64)> {
    let both = problem.conditions.iter().zip(&found.residual);
    both.map(|(c, r)| (c.name.clone(), c.value + r * c.scale, c.value)).collect()
}

/// A number that JSON can hold.
fn number(x: f64) -> Value {
    if x.is_finite() { json!(x) } else { Value::Null }
}

fn one_json(problem: &Problem, found: &Found, recording: Option<&Path>) -> Value {
    let map = |list: Vec<(String, f64)>| -> Value {
        list.into_iter().map(|(name, x)| (name, number(x))).collect::<serde_json::Map<_, _>>().into()
    };
    let finals = reached(problem, found).into_iter().map(|(name, x, _)| (name, x)).collect();
    let mut out = json!({
        "initial": map(initial(problem, found)),
        "final": map(finals),
        "residual": number(found.miss()),
        "isolated": found.is_isolated(),
        "family": found.family,
        "condition_number": number(found.condition),
        "iterations": found.iterations,
        "shots": found.shots,
        "bracketed": found.bracketed,
        "one_sided_steps": found.noted,
        "ended": ended(found),
        "recording": recording.map(|p| p.display().to_string()),
    });
    if let Some(f) = found.fixed_point {
        out["fixed_point"] = json!({ "rate": number(f.rate), "shifted": f.shifted });
    }
    out
}

fn to_json(problem: &Problem, answer: &Answer, recordings: &[PathBuf], figure: Option<&Path>) -> String {
    let solutions: Vec<Value> = answer
        .solutions
        .iter()
        .enumerate()
        .map(|(k, f)| one_json(problem, f, recordings.get(k).map(PathBuf::as_path)))
        .collect();
    let object = json!({
        "status": status(answer),
        "solutions": solutions,
        "nearest_miss": answer.nearest.as_ref().map(|f| one_json(problem, f, None)),
        "starts": answer.starts,
        "starts_without_solution": answer.unsolved,
        "steps": problem.steps,
        "figure": figure.map(|p| p.display().to_string()),
    });
    format!("{object}\n")
}

fn describe(text: &mut String, problem: &Problem, found: &Found) {
    // writing to a String cannot fail
    for (name, z) in initial(problem, found) {
        let _ = writeln!(text, "  {name:<24} {z:>16.9}");
    }
    for (name, x, wanted) in reached(problem, found) {
        let _ = writeln!(text, "  {name:<24} {x:>16.9}  wanted {wanted}");
    }
    let kind = match found.family {
        0 => "isolated".to_owned(),
        d => format!("one of a family of dimension {d}"),
    };
    let _ = writeln!(
        text,
        "  {} iterations, {} runs, residual {:.1e}, condition number {:.3e}, {kind}",
        found.iterations,
        found.shots,
        found.miss(),
        found.condition
    );
    if let Some(f) = found.fixed_point {
        let map = if f.shifted { "shifted fixed-point map" } else { "fixed-point map" };
        let _ = writeln!(text, "  {map}: steps shrink by {:.4} per iteration", f.rate);
    }
    if found.bracketed {
        let _ = writeln!(text, "  found by halving an interval: the search by derivatives had stalled");
    }
    if found.noted > 0 {
        let _ = writeln!(text, "  {} elements at points where the derivative is one-sided", found.noted);
    }
}

fn to_text(
    problem: &Problem,
    answer: &Answer,
    recordings: &[PathBuf],
    figure: Option<&Path>,
    seconds: f64,
) -> String {
    let mut text = String::new();
    let count = answer.solutions.len();
    let _ = match count {
        0 => writeln!(text, "not reached from {} starts ({seconds:.2} s)", answer.starts),
        1 => writeln!(text, "solved ({seconds:.2} s)"),
        _ => writeln!(text, "{count} solutions from {} starts ({seconds:.2} s)", answer.starts),
    };
    for (k, found) in answer.solutions.iter().enumerate() {
        let _ = writeln!(text, "solution {}", k + 1);
        describe(&mut text, problem, found);
        if let Some(path) = recordings.get(k) {
            let _ = writeln!(text, "  recording {}", path.display());
        }
    }
    if let Some(miss) = &answer.nearest {
        let _ = writeln!(text, "nearest miss: {}", ended(miss));
        describe(&mut text, problem, miss);
    }
    if let Some(path) = figure {
        let _ = writeln!(text, "figure {}", path.display());
    }
    text
}

/// Range of an unknown in a figure.
fn range(problem: &Problem, answer: &Answer, k: usize) -> [f64; 2] {
    let [a, b] = problem.bounds()[k];
    if (b - a).is_finite() {
        return [a, b];
    }
    let mut low = problem.guess()[k];
    let mut high = low;
    for found in answer.solutions.iter().chain(&answer.nearest) {
        (low, high) = (low.min(found.unknowns[k]), high.max(found.unknowns[k]));
    }
    let more = (high - low).max(0.5 * low.abs().max(high.abs())).max(0.1);
    [(low - more).max(a), (high + more).min(b)]
}

/// The residual over one or two unknowns; `None` for more, or if it would take too long.
fn draw(problem: &Problem, answer: &Answer, shot: f64) -> Option<Drawing> {
    let threads = std::thread::available_parallelism().map_or(1.0, |n| usize::from(n) as f64);
    let affordable = (FIGURE_TIME * threads / shot.max(1e-6)) as usize;
    match problem.size() {
        1 => Some(curve(problem, answer, POINTS.min(affordable.max(21)))),
        2 => {
            let n = (affordable as f64).sqrt() as usize;
            Some(grid(problem, answer, n.clamp(GRID[0], GRID[1])))
        }
        _ => None,
    }
}

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 360.0;

/// Residuals of all conditions over one unknown.
fn curve(problem: &Problem, answer: &Answer, count: usize) -> Drawing {
    let [a, b] = range(problem, answer, 0);
    let points: Vec<Vec<f64>> =
        (0..count).map(|i| vec![a + (b - a) * i as f64 / (count - 1) as f64]).collect();
    let values = residual_map(problem, &points);
    let all = values.iter().flatten().flatten().copied().filter(|x| x.is_finite());
    let (low, high) = all.fold((0.0f64, 0.0f64), |(l, h), x| (l.min(x), h.max(x)));
    let (x, y) = (Axis::new([a, b], "", 8.0), Axis::padded([low, high], "", 6.0));
    let mut drawing = Drawing::new(LEFT + WIDTH + 30.0, TOP + HEIGHT + BOTTOM);
    let frame = [LEFT, TOP, WIDTH, HEIGHT];
    axes(&mut drawing, frame, (&x, problem.name(0)), (&y, "residual"), &problem.model.scene().name);
    let place = |p: f64, r: f64| [LEFT + WIDTH * x.share(p), TOP + HEIGHT * (1.0 - y.share(r))];
    drawing.clip(frame);
    for c in 0..problem.conditions.len().max(1) {
        let mut runs: Vec<Vec<[f64; 2]>> = vec![vec![]];
        for (p, r) in points.iter().zip(&values) {
            match r.as_ref().and_then(|r| r.get(c)) {
                Some(r) => runs.iter_mut().next_back().into_iter().for_each(|run| run.push(place(p[0], *r))),
                None => runs.push(vec![]),
            }
        }
        drawing.path(&runs, COLOURS[c % COLOURS.len()], &[]);
    }
    drawing.unclip();
    for found in &answer.solutions {
        mark(&mut drawing, place(found.unknowns[0], 0.0));
    }
    drawing.frame(frame);
    drawing
}

/// The norm of the residual over two unknowns, in tiles: dark is near zero.
fn grid(problem: &Problem, answer: &Answer, count: usize) -> Drawing {
    let [[a, b], [c, d]] = [0, 1].map(|k| range(problem, answer, k));
    let at = |i: usize, low: f64, high: f64| low + (high - low) * (i as f64 + 0.5) / count as f64;
    let points: Vec<Vec<f64>> =
        (0..count * count).map(|k| vec![at(k % count, a, b), at(k / count, c, d)]).collect();
    let values = residual_map(problem, &points);
    let sizes: Vec<Option<f64>> = values
        .iter()
        .map(|r| r.as_ref().map(|r| r.iter().map(|x| x * x).sum::<f64>().sqrt().max(1e-12).log10()))
        .collect();
    let known = sizes.iter().flatten().copied();
    let (low, high) = known.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
    let (x, y) = (Axis::new([a, b], "", 8.0), Axis::new([c, d], "", 6.0));
    let mut drawing = Drawing::new(LEFT + WIDTH + 30.0, TOP + HEIGHT + BOTTOM);
    let frame = [LEFT, TOP, WIDTH, HEIGHT];
    let place = |p: f64, q: f64| [LEFT + WIDTH * x.share(p), TOP + HEIGHT * (1.0 - y.share(q))];
    drawing.clip(frame);
    for (k, size) in sizes.iter().enumerate() {
        let Some(size) = size else { continue };
        let share = if high > low { (size - low) / (high - low) } else { 0.0 };
        let level = (60.0 + 190.0 * share) as u8;
        let [left, top] = place(
            a + (b - a) * (k % count) as f64 / count as f64,
            c + (d - c) * (k / count + 1) as f64 / count as f64,
        );
        let [right, bottom] = place(
            a + (b - a) * (k % count + 1) as f64 / count as f64,
            c + (d - c) * (k / count) as f64 / count as f64,
        );
        drawing.tile([left, top, right - left, bottom - top], &format!("#{level:02x}{level:02x}ff"));
    }
    drawing.unclip();
    axes(&mut drawing, frame, (&x, problem.name(0)), (&y, problem.name(1)), &problem.model.scene().name);
    for found in &answer.solutions {
        mark(&mut drawing, place(found.unknowns[0], found.unknowns[1]));
    }
    drawing.frame(frame);
    drawing
}

/// Ticks, names and title.
pub fn axes(
    drawing: &mut Drawing,
    [x0, y0, w, h]: [f64; 4],
    x: (&Axis, &str),
    y: (&Axis, &str),
    title: &str,
) {
    for (value, label) in &x.0.ticks {
        let at = x0 + w * x.0.share(*value);
        drawing.line([at, y0 + h], [at, y0 + h + 4.0], GREY, 1.0);
        drawing.text([at, y0 + h + 17.0], SMALL, Anchor::Middle, label);
    }
    for (value, label) in &y.0.ticks {
        let at = y0 + h * (1.0 - y.0.share(*value));
        drawing.line([x0, at], [x0 + w, at], GREY, if *value == 0.0 { 1.2 } else { 0.5 });
        drawing.text([x0 - 6.0, at + 4.0], SMALL, Anchor::End, label);
    }
    drawing.text([x0 + w / 2.0, y0 + h + 36.0], NORMAL, Anchor::Middle, &x.0.label(x.1));
    drawing.turned([18.0, y0 + h / 2.0], -90.0, NORMAL, Anchor::Middle, &y.0.label(y.1));
    drawing.text([x0, 24.0], LARGE, Anchor::Start, title);
}

/// A cross.
pub fn mark(drawing: &mut Drawing, [x, y]: [f64; 2]) {
    for (dx, dy) in [(5.0, 5.0), (5.0, -5.0)] {
        drawing.line([x - dx, y - dy], [x + dx, y + dy], "#d55e00", 2.0);
    }
}
