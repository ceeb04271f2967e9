//! Table 1 of trinkle1995 beside ours: 35 random contact problems x 10 friction coefficients.
//!
//! ```text
//! cargo run --release --example trinkle1995_table1 -- [--sizes 2,10] [--all-to 60] [--seed N] [--joints] [--write DIR] [--json]
//! ```
//!
//! The paper's 328 problems are not published; ours are drawn as `stiction::random` says, so the columns show the
//! same trial on problems of the same kind and size, not the same problems.

use clap::Parser;
use complementarity::report::{Report, Status};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;
use stiction::random::{Case, table1, table1_with_links};

/// The solvers, one function a column.
mod columns {
    use complementarity::report::Report;
    use complementarity::solver::portfolio::{self, solve_lcp};
    use complementarity::solver::{Budget, interior_point, lemke};
    use stiction::random::Case;

    /// Lemke's method under the paper's limit of 100 pivots a start.
    pub fn lemke_100(case: &Case) -> Report {
        lemke::solve(&case.lcp.problem, &lemke::Settings { max_pivots: Some(100), ..Default::default() })
    }

    /// Lemke's method without a limit that binds.
    pub fn lemke(case: &Case) -> Report {
        lemke::solve(&case.lcp.problem, &lemke::Settings::default())
    }

    /// The paper's feasible interior-point method.
    pub fn feasible(case: &Case) -> Report {
        let settings =
            interior_point::Settings { variant: interior_point::Variant::Feasible, ..Default::default() };
        interior_point::solve(&case.lcp.problem, &settings, &mut Budget::default(), &mut |_| {})
    }

    /// The interior-point method as it comes.
    pub fn interior_point(case: &Case) -> Report {
        interior_point::solve(
            &case.lcp.problem,
            &interior_point::Settings::default(),
            &mut Budget::default(),
            &mut |_| {},
        )
    }

    /// Auto: a solution, or a proof that there is none.
    pub fn auto(case: &Case) -> Report {
        solve_lcp(&case.lcp.problem, &portfolio::Settings::default(), &mut |_| {})
    }

    /// Branch and bound for all solutions: one, several or none, told apart by their contact forces.
    pub fn all(case: &Case) -> Report {
        let settings = portfolio::Settings { all: true, max_nodes: 20_000, ..Default::default() };
        portfolio::solve_friction(&case.friction, &settings, &mut |_| {})
    }
}

/// A row of the paper's table; `None` where it prints a dash.
struct Printed {
    size: usize,
    sets: usize,
    lemke: (f64, Option<f64>, Option<f64>),
    interior_point: (f64, Option<f64>),
}

const fn printed(
    size: usize,
    sets: usize,
    lemke: (f64, Option<f64>, Option<f64>),
    interior_point: (f64, Option<f64>),
) -> Printed {
    Printed { size, sets, lemke, interior_point }
}

/// At size 120 the paper says "< 100" and "< 300" for the iterations.
const PAPER: [Printed; 9] = [
    printed(2, 20, (1.00, Some(1.0), Some(2.0)), (0.50, Some(8.4))),
    printed(10, 60, (0.92, Some(1.3), Some(8.9)), (0.35, Some(10.4))),
    printed(16, 10, (1.00, Some(1.4), Some(20.0)), (1.00, Some(17.2))),
    printed(30, 26, (0.62, Some(1.7), Some(44.1)), (0.42, Some(19.6))),
    printed(50, 20, (0.35, Some(2.0), Some(107.4)), (0.30, Some(61.1))),
    printed(90, 23, (0.00, None, None), (0.35, Some(30.4))),
    printed(120, 10, (0.10, Some(1.0), None), (0.70, None)),
    printed(150, 6, (0.00, None, None), (0.50, Some(46.3))),
    printed(170, 10, (0.00, None, None), (0.00, None)),
];

/// Answers count as solutions up to this relative residual.
const TOLERANCE: f64 = 1e-8;

#[derive(Parser)]
#[command(about = "Table 1 of trinkle1995 beside ours")]
struct Arguments {
    /// Only these sizes of the LCP, e.g. 2,10
    #[arg(long, value_delimiter = ',')]
    sizes: Vec<usize>,
    /// Search for all solutions up to this size (redundant contacts make this slow for large ones)
    #[arg(long, default_value_t = 60, value_name = "SIZE")]
    all_to: usize,
    /// Seed of the problems
    #[arg(long, default_value_t = 1995)]
    seed: u64,
    /// Some contacts with the world are with fingers of manipulators, whose efforts or accelerations are given
    #[arg(long)]
    joints: bool,
    /// Write each LCP to DIR as a NumPy archive (M, q) instead of solving it
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,
    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,
}

/// One solver on one problem.
#[derive(Serialize)]
struct Trial {
    status: Status,
    solver: &'static str,
    iterations: usize,
    /// Relative; `None` without an answer.
    residual: Option<f64>,
    milliseconds: f64,
}

impl Trial {
    fn run(column: fn(&Case) -> Report, case: &Case) -> Self {
        let clock = Instant::now();
        let report = column(case);
        let milliseconds = 1e3 * clock.elapsed().as_secs_f64();
        let residual = Some(report.residual.relative).filter(|r| r.is_finite());
        Self {
            status: report.status,
            solver: report.solver,
            iterations: report.iterations,
            residual,
            milliseconds,
        }
    }

    fn solved(&self) -> bool {
        matches!(self.status, Status::Solved | Status::Several)
            && self.residual.is_some_and(|r| r <= TOLERANCE)
    }
}

/// All solvers on one problem.
#[derive(Serialize)]
struct Row {
    problem: usize,
    size: usize,
    mu: f64,
    lemke_100: Trial,
    lemke: Trial,
    feasible: Trial,
    interior_point: Trial,
    auto: Trial,
    all: Option<Trial>,
}

impl Row {
    fn run(case: &Case, all_to: usize) -> Self {
        Self {
            problem: case.problem,
            size: case.size,
            mu: case.mu,
            lemke_100: Trial::run(columns::lemke_100, case),
            lemke: Trial::run(columns::lemke, case),
            feasible: Trial::run(columns::feasible, case),
            interior_point: Trial::run(columns::interior_point, case),
            auto: Trial::run(columns::auto, case),
            all: (case.size <= all_to).then(|| Trial::run(columns::all, case)),
        }
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let wanted = |case: &Case| arguments.sizes.is_empty() || arguments.sizes.contains(&case.size);
    let drawn = if arguments.joints { table1_with_links(arguments.seed) } else { table1(arguments.seed) };
    let cases: Vec<Case> = drawn.into_iter().filter(wanted).collect();
    let bar = ProgressBar::new(cases.len() as u64).with_style(
        ProgressStyle::with_template("{bar:40} {pos}/{len}  {elapsed} of about {duration}  {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    if let Some(directory) = &arguments.write {
        return match write(directory, &cases, &bar) {
            Ok(()) => ExitCode::SUCCESS,
            Err(message) => {
                eprintln!("error: {message}");
                ExitCode::FAILURE
            }
        };
    }
    let rows: Vec<Row> = (cases.iter())
        .map(|case| {
            bar.set_message(format!("size {}, mu = {}", case.size, case.mu));
            let row = Row::run(case, arguments.all_to);
            bar.inc(1);
            row
        })
        .collect();
    bar.finish_and_clear();
    if arguments.json {
        match serde_json::to_string(&serde_json::json!({ "seed": arguments.seed, "rows": rows })) {
            Ok(text) => println!("{text}"),
            Err(error) => {
                eprintln!("error: {error}");
                return ExitCode::FAILURE;
            }
        }
    } else {
        print_table(&rows);
    }
    ExitCode::SUCCESS
}

fn write(directory: &std::path::Path, cases: &[Case], bar: &ProgressBar) -> Result<(), String> {
    std::fs::create_dir_all(directory).map_err(|e| format!("{}: {e}", directory.display()))?;
    for case in cases {
        let name = format!("size{:03}_problem{:02}_mu{:.1}.npz", case.size, case.problem, case.mu);
        problem_files::write_lcp(&directory.join(name), &case.lcp.problem).map_err(|e| e.to_string())?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    println!("{} problems written to {}", cases.len(), directory.display());
    Ok(())
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0), |(s, n), x| (s + x, n + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// A number with one digit after the point, or the paper's dash.
fn dash(x: Option<f64>) -> String {
    x.map_or("-".into(), |x| format!("{x:.1}"))
}

fn print_table(rows: &[Row]) {
    println!(
        "     | {:36} | {:68} | {:43} | all: problems",
        "trinkle1995, Table 1", "ours: share solved, mean iterations", "auto: problems"
    );
    println!(
        "size | sets Lemke start  iter.   FIP  iter. | sets   Lemke 100  iter.   Lemke  iter.    FIP  iter. int.point iter. \
         | solved none undecided  worst res.   mean ms | one several"
    );
    for paper in &PAPER {
        let of_size: Vec<&Row> = rows.iter().filter(|r| r.size == paper.size).collect();
        if !of_size.is_empty() {
            print_row(paper, &of_size);
        }
    }
    let count = |test: fn(&Row) -> bool| rows.iter().filter(|r| test(r)).count();
    println!(
        "\n{} problems. Solved: Lemke to 100 pivots a start {}, Lemke {}, FIP {}, interior point {}, auto {}; \
         auto proves {} to have no solution and leaves {} undecided.",
        rows.len(),
        count(|r| r.lemke_100.solved()),
        count(|r| r.lemke.solved()),
        count(|r| r.feasible.solved()),
        count(|r| r.interior_point.solved()),
        count(|r| r.auto.solved()),
        count(|r| r.auto.status == Status::NoSolution),
        count(|r| !r.auto.status.is_decided()),
    );
    println!(
        "Paper: Lemke or FIP solves 229 of 328 problems of the same kind, not the same problems; at 120 its iterations \
         are given as \"< 100\" and \"< 300\"."
    );
}

fn print_row(paper: &Printed, rows: &[&Row]) {
    let sets = rows.len() as f64;
    let solved = |pick: fn(&Row) -> &Trial| {
        let solved: Vec<&Trial> = rows.iter().map(|r| pick(r)).filter(|t| t.solved()).collect();
        let iterations = mean(solved.iter().map(|t| t.iterations as f64));
        format!("{:.2} {:>6}", solved.len() as f64 / sets, dash(iterations))
    };
    let auto = |test: fn(&Trial) -> bool| rows.iter().filter(|r| test(&r.auto)).count();
    let worst = rows.iter().filter(|r| r.auto.solved()).filter_map(|r| r.auto.residual).fold(0.0, f64::max);
    let all: Vec<&Trial> = rows.iter().filter_map(|r| r.all.as_ref()).collect();
    let found = |status: Status| match all.iter().filter(|t| t.status == status).count() {
        _ if all.is_empty() => "-".into(),
        count => count.to_string(),
    };
    println!(
        "{:4} | {:4} {:5.2} {:>5} {:>6} {:5.2} {:>6} | {:4} {:>17} {:>14} {:>13} {:>16} | {:6} {:4} {:9} {:11.1e} {:9.3} | {:>3} {:>7}",
        paper.size,
        paper.sets,
        paper.lemke.0,
        dash(paper.lemke.1),
        dash(paper.lemke.2),
        paper.interior_point.0,
        dash(paper.interior_point.1),
        rows.len(),
        solved(|r| &r.lemke_100),
        solved(|r| &r.lemke),
        solved(|r| &r.feasible),
        solved(|r| &r.interior_point),
        auto(Trial::solved),
        auto(|t| t.status == Status::NoSolution),
        auto(|t| !t.status.is_decided()),
        worst,
        mean(rows.iter().map(|r| r.auto.milliseconds)).unwrap_or(0.0),
        found(Status::Solved),
        found(Status::Several),
    );
}
