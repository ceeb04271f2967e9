//! The command line as it is typed; what it means is told by each subcommand.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Frictional contact: problems solved, decided and explained.
#[derive(Debug, Parser)]
#[command(name = "stiction", version, arg_required_else_help = false)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Run(Run),
    Solve(Solve),
    Check(Check),
}

/// Run a scene and record what happens.
///
/// The recording is a folder of CSV tables: bodies, contacts, steps, events, and a copy of the scene. Exit code: 0
/// all steps were made, 1 a step failed (what came before is recorded), 2 wrong scene or output folder.
#[derive(Debug, Args)]
pub struct Run {
    /// The scene (TOML).
    pub scene: PathBuf,

    /// Folder of the recording [default: the scene's name and .recording].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Replace a recording that is there.
    #[arg(long)]
    pub force: bool,

    /// No progress, and only the line with the outcome.
    #[arg(long)]
    pub quiet: bool,

    /// Print one JSON object instead of the summary.
    #[arg(long)]
    pub json: bool,
}

/// Solve a complementarity or friction problem from a file.
///
/// FILE is a NumPy archive (.npz: M, q; mixed problems also comp) or an FCLIB file (HDF5, group
/// fclib_local). Exit code: 0 solved or proved to have no solution, 1 not decided, 2 wrong input.
#[derive(Debug, Args)]
pub struct Solve {
    /// The problem.
    pub file: PathBuf,

    /// Print one JSON object instead of the report.
    #[arg(long)]
    pub json: bool,

    /// Who solves it.
    #[arg(long, value_enum, default_value_t = Solver::Auto)]
    pub solver: Solver,

    /// A solution counts when its residual, relative to the constant vector, is at most this.
    #[arg(long, value_name = "X", default_value = "1e-8", value_parser = positive, allow_negative_numbers = true)]
    pub tol: f64,

    /// Friction set of an FCLIB problem: cone (the default), pyramid (the default with --all and the solvers of LCPs), or polygon:K with K
    /// corners inscribed in the disc (even, 4 to 64).
    #[arg(long, value_name = "SET", value_parser = friction)]
    pub friction: Option<FrictionSet>,

    /// Find all solutions (solver auto or decide).
    #[arg(long)]
    pub all: bool,

    /// Nodes after which the search for a decision gives up (solver auto or decide).
    #[arg(long, value_name = "NODES", value_parser = at_least_one, allow_negative_numbers = true)]
    pub limit: Option<usize>,
    /// Solve this often and tell the fastest time (for benchmarks)
    #[arg(long, value_name = "TIMES", default_value_t = 1, value_parser = at_least_one, allow_negative_numbers = true)]
    pub repeat: usize,

    /// No progress, and only the line with the outcome.
    #[arg(long)]
    pub quiet: bool,
}

/// Check a scene file and say what it holds.
///
/// Faults are one line each, file:line:column: message. Exit code: 0 the scene is valid, 2 it is not.
#[derive(Debug, Args)]
pub struct Check {
    /// The scene, TOML.
    pub scene: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Solver {
    /// Picks and escalates. Cone: Gauss-Seidel, Newton, proximal Newton; else Lemke, the interior point if large, decide
    Auto,
    /// Lemke's method alone
    Lemke,
    /// The interior-point method alone
    InteriorPoint,
    /// Branch and bound, to a solution or a proof that there is none
    Decide,
    /// Block Gauss-Seidel alone (Coulomb's cone)
    GaussSeidel,
    /// Semismooth Newton alone (Coulomb's cone)
    Newton,
    /// Proximal point with semismooth Newton inside (Coulomb's cone)
    ProximalNewton,
    /// Interior point for cones alone (Coulomb's cone)
    ConeInteriorPoint,
    /// ADMM alone (Coulomb's cone)
    Admm,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrictionSet {
    Cone,
    Pyramid,
    Polygon(usize),
}

fn friction(text: &str) -> Result<FrictionSet, String> {
    let sides = || text.strip_prefix("polygon:")?.parse().ok();
    match sides() {
        _ if text == "cone" => Ok(FrictionSet::Cone),
        _ if text == "pyramid" => Ok(FrictionSet::Pyramid),
        Some(sides) => Ok(FrictionSet::Polygon(sides)),
        None => Err("expected cone, pyramid, or polygon:K with K even, 4 to 64".to_owned()),
    }
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if f64::is_finite(x) && x > 0.0 => Ok(x),
        _ => Err("expected a positive number".to_owned()),
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if n > 0 => Ok(n),
        _ => Err("expected a number of at least 1".to_owned()),
    }
}
