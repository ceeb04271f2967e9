//! The command line as it is typed; what it means is told by each subcommand.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use complementarity::problem::SIDES_EXPECTED;
use complementarity::solver::Method;
use std::ffi::OsStr;
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
    Plot(Plot),
    Export(Export),
    Solve(Solve),
    Accelerate(Accelerate),
    Analyze(Analyze),
    Check(Check),
    Shoot(Shoot),
    Converge(Converge),
    Fit(Fit),
    View(View),
    Report(Report),
    Render(Render),
}

/// A scene, of every subcommand that takes one.
#[derive(Debug, Args)]
pub struct SceneArguments {
    /// The scene (TOML).
    #[arg(value_name = "SCENE")]
    pub file: PathBuf,

    /// Set a value of the scene before it is checked: `step.h=1e-4`, `body[box].mass=2`, `step.solver=newton`. The value is in TOML's
    /// syntax; a bare word is text. May be given several times.
    #[arg(long, value_name = "PATH=VALUE", value_parser = assignment)]
    pub set: Vec<(String, String)>,
}

/// Run a scene and record what happens.
///
/// The recording is a folder of Parquet tables (or CSV): bodies, contacts, steps, events; the last state and a copy of
/// the scene. Exit code: 0 all steps were made, 1 a step failed (what came before is recorded), 2 wrong scene or
/// folder, 130 interrupted by Ctrl-C, 143 by SIGTERM (what came before is recorded).
#[derive(Debug, Args)]
pub struct Run {
    #[command(flatten)]
    pub scene: SceneArguments,

    /// Folder of the recording [default: the scene's name and .recording].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Write the tables as CSV instead of Parquet.
    #[arg(long)]
    pub csv: bool,

    /// Go on from the last state of a recording, or from a state's file, into a new recording.
    #[arg(long, value_name = "RECORDING")]
    pub resume: Option<PathBuf>,

    /// Time at which the run ends, s [default: the scene's].
    #[arg(long, value_name = "S", value_parser = positive, allow_negative_numbers = true)]
    pub duration: Option<f64>,

    /// Write the N hardest contact problems into the recording, as FCLIB files that solve reads.
    #[arg(long, value_name = "N", value_parser = at_least_one, allow_negative_numbers = true)]
    pub dump_problems: Option<usize>,

    /// Replace a recording that is there.
    #[arg(long)]
    pub force: bool,

    /// Add every term of the energy balance and the first events to the summary.
    #[arg(long)]
    pub verbose: bool,

    /// No progress, and only the line with the outcome.
    #[arg(long)]
    pub quiet: bool,

    /// Print one JSON object instead of the summary.
    #[arg(long)]
    pub json: bool,
}

/// Show a scene or a recording in the browser.
///
/// Prints the address of a local page and serves it until Ctrl-C: a recording is played, also while it is still being recorded; a
/// scene is run live, can be paused, and its bodies can be dragged. Example: stiction view scenes/heap.toml. Exit code: 0 ended by Ctrl-C or SIGTERM, 2
/// nothing to show, or the port is taken.
#[derive(Debug, Args)]
pub struct View {
    /// A scene (TOML) or a recording (folder).
    #[arg(value_name = "SCENE|RECORDING")]
    pub thing: PathBuf,

    /// Set a value of the scene before it is run, as in run.
    #[arg(long, value_name = "PATH=VALUE", value_parser = assignment)]
    pub set: Vec<(String, String)>,

    /// Port of the page on 127.0.0.1 [default: a free one].
    #[arg(long, value_name = "PORT")]
    pub port: Option<u16>,

    /// Start a live run paused.
    #[arg(long)]
    pub paused: bool,

    /// Seconds of the scene per second of a live run; 0: as fast as possible.
    #[arg(long, value_name = "X", default_value = "1", value_parser = not_negative, allow_negative_numbers = true)]
    pub speed: f64,

    /// Time at which a live run ends, s [default: the scene's].
    #[arg(long, value_name = "S", value_parser = positive, allow_negative_numbers = true)]
    pub duration: Option<f64>,

    /// Open the page in the browser.
    #[arg(long)]
    pub browser: bool,

    /// Print one JSON object with the address.
    #[arg(long)]
    pub json: bool,
}

/// Write a recording as one HTML file: viewer, summary, plots and scene.
///
/// The file needs no network and no other file. Example: stiction report heap.recording. Exit code: 0 written, 2 no recording, or the file is
/// there already.
#[derive(Debug, Args)]
pub struct Report {
    /// The recording.
    pub recording: PathBuf,

    /// The file [default: the recording's name and .html, in the working folder].
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// Replace a file that is there.
    #[arg(long)]
    pub force: bool,

    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// Draw a recording as an image or an animation, without a screen and a browser.
///
/// Writes PNG: one image with --at, or an animated PNG of the whole recording. Examples: stiction render heap.recording --at 1.5; stiction render
/// heap.recording --to 2 --fps 25. Exit code: 0 written, 2 no recording, or the file is there already.
#[derive(Debug, Args)]
pub struct Render {
    /// The recording.
    pub recording: PathBuf,

    /// The file [default: the recording's name and .png, in the working folder].
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// One image of this time, s.
    #[arg(long, value_name = "S", value_parser = finite, allow_negative_numbers = true, conflicts_with_all = ["from", "to", "fps"])]
    pub at: Option<f64>,

    /// An animation from this time, s [default: the first record].
    #[arg(long, value_name = "S", value_parser = finite, allow_negative_numbers = true)]
    pub from: Option<f64>,

    /// An animation until this time, s [default: the last record].
    #[arg(long, value_name = "S", value_parser = finite, allow_negative_numbers = true)]
    pub to: Option<f64>,

    /// Images per second of an animation.
    #[arg(long, value_name = "N", default_value = "20", value_parser = positive, allow_negative_numbers = true)]
    pub fps: f64,

    /// Seconds of the recording per second of an animation.
    #[arg(long, value_name = "X", default_value = "1", value_parser = positive, allow_negative_numbers = true)]
    pub speed: f64,

    /// Width and height in pixels.
    #[arg(long, value_name = "WxH", default_value = "960x600", value_parser = pixels)]
    pub size: [usize; 2],

    /// Light or dark background.
    #[arg(long, value_enum, default_value_t = Theme::Light)]
    pub theme: Theme,

    /// Draw no contact points and forces.
    #[arg(long)]
    pub plain: bool,

    /// Replace a file that is there.
    #[arg(long)]
    pub force: bool,

    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Theme {
    /// Dark on light
    Light,
    /// Light on dark
    Dark,
}

/// Convert a recording to CSV, or back to Parquet.
///
/// Exit code: 0 converted, 2 no recording, or wrong output folder.
#[derive(Debug, Args)]
pub struct Export {
    /// The recording.
    pub recording: PathBuf,

    /// Format of the tables.
    #[arg(long, value_enum, default_value_t = TableFormat::Csv)]
    pub format: TableFormat,

    /// Folder of the new recording [default: the recording's name with the format in it].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Replace a recording that is there.
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    /// Text
    Csv,
    /// Columns, compressed
    Parquet,
}

/// Draw figures of one recording, or of several in comparison.
///
/// Exit code: 0 drawn, 2 no recording, or nothing to draw.
#[derive(Debug, Args)]
pub struct Plot {
    /// The recordings.
    #[arg(required = true)]
    pub recordings: Vec<PathBuf>,

    /// Folder of the figures [default: the first recording, or the working folder for several].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Format of the figures; may be given twice.
    #[arg(long, value_enum, default_values_t = [FigureFormat::Png])]
    pub format: Vec<FigureFormat>,

    /// What to draw, a comma between [default: all that the recording has].
    #[arg(long, value_enum, value_delimiter = ',')]
    pub what: Vec<Figure>,

    /// Only from this time, s.
    #[arg(long, value_name = "S", value_parser = finite, allow_negative_numbers = true)]
    pub from: Option<f64>,

    /// Only until this time, s.
    #[arg(long, value_name = "S", value_parser = finite, allow_negative_numbers = true)]
    pub to: Option<f64>,

    /// Only this body; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub body: Vec<String>,

    /// Only this contact, as the tables call it, or all contacts of this pair (the part before #); may be repeated.
    #[arg(long, value_name = "NAME")]
    pub contact: Vec<String>,

    /// Time of the patch's map, s [default: the last record].
    #[arg(long, value_name = "S", value_parser = finite, allow_negative_numbers = true)]
    pub at: Option<f64>,

    /// Names of the recordings in the legend, in their order, a comma between [default: their folders].
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub label: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FigureFormat {
    /// Pixels
    Png,
    /// Vectors
    Svg,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Figure {
    /// Coordinates and angle of each body
    Positions,
    /// Velocity and angular velocity of each body
    Velocities,
    /// Normal force, friction and their ratio of each element
    Forces,
    /// Normal force and friction of each contact: sums over its elements
    Totals,
    /// Where each element touches; on request alone
    Points,
    /// When each element is open, sticks and slips
    Status,
    /// Energies, losses and their sum
    Energy,
    /// A patch at a time: normal force, friction, stick and slip zones
    Patch,
}

/// Solve a complementarity or friction problem from a file.
///
/// FILE is a NumPy archive (.npz: M, q; mixed problems also comp, boxed ones l and u) or an FCLIB file (HDF5, group
/// fclib_local or fclib_global). Exit code: 0 solved or proved to have no solution, 1 not decided, 2 wrong input.
#[derive(Debug, Args)]
pub struct Solve {
    /// The problem.
    pub file: PathBuf,

    /// Print one JSON object instead of the report.
    #[arg(long)]
    pub json: bool,

    /// Method that solves it.
    #[arg(long, value_name = "METHOD", default_value_t = Method::Auto, value_parser = MethodParser)]
    pub solver: Method,

    /// A solution counts when its relative residual (without units for friction problems) is at most this.
    #[arg(long, value_name = "X", default_value = "1e-8", value_parser = positive, allow_negative_numbers = true)]
    pub tol: f64,

    /// Friction set of all contacts of an FCLIB problem: cone (the default, unless the file says what each contact has), pyramid (the default with
    /// --all and the solvers of LCPs), or polygon:K with K corners inscribed in the disc (even, 4 to 64).
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

    /// No progress, no examination of the forces, and only the line with the outcome.
    #[arg(long)]
    pub quiet: bool,
}

/// Check a scene file and say what it holds.
///
/// Faults are one line each, file:line:column: message. Exit code: 0 the scene is valid, 2 it is not.
#[derive(Debug, Args)]
pub struct Check {
    #[command(flatten)]
    pub scene: SceneArguments,
}

/// Accelerations and contact forces at an instant: one solution, all of them, or a proof that there is none.
///
/// THING is a scene (at its start, or at --at, up to which it is run) or a recording (at its end, or at the record nearest to
/// --at). Friction is the pyramid of trinkle1995 (32)-(35), and Coulomb's cone beside it. Exit code: 0 decided, 1 not decided,
/// 2 wrong input. Example: stiction accelerate scenes/trinkle1995/rod.toml --all --picture rod.svg
#[derive(Debug, Args)]
pub struct Accelerate {
    /// The scene (TOML) or the folder of a recording.
    #[arg(value_name = "SCENE|RECORDING")]
    pub thing: PathBuf,

    /// Set a value of the scene first, as run does; may be given several times.
    #[arg(long, value_name = "PATH=VALUE", value_parser = assignment)]
    pub set: Vec<(String, String)>,

    /// Time of the instant, s.
    #[arg(long, value_name = "TIME", value_parser = finite, allow_negative_numbers = true)]
    pub at: Option<f64>,

    /// Find every solution under friction pyramids, with the range of each normal force.
    #[arg(long)]
    pub all: bool,

    /// The joint of a body has this acceleration (quasistatic: displacement), and its effort is unknown: arm=2.5, or arm:1=2.5 for its
    /// second degree of freedom. May be given several times.
    #[arg(long, value_name = "BODY=VALUE", value_parser = assignment)]
    pub joint: Vec<(String, String)>,

    /// Effort on the joint of a body beside its motor, N or N m; may be given several times.
    #[arg(long, value_name = "BODY=VALUE", value_parser = assignment)]
    pub effort: Vec<(String, String)>,

    /// Drop mass and velocity products: equilibrium and displacements instead of accelerations.
    #[arg(long)]
    pub quasistatic: bool,

    /// Stiffness of the joint of a body, N/m or N m/rad, with --quasistatic; may be given several times.
    #[arg(long, value_name = "BODY=VALUE", value_parser = assignment, requires = "quasistatic")]
    pub stiffness: Vec<(String, String)>,

    /// Contacts with gaps up to this are closed, m [default: 1e-9 for scenes, 1e-6 for recordings and with --at].
    #[arg(long, value_name = "M", value_parser = positive, allow_negative_numbers = true)]
    pub gap: Option<f64>,

    /// Relative velocities up to this are zero, m/s [default: rounding for scenes, weight times one step otherwise].
    #[arg(long, value_name = "V", value_parser = positive, allow_negative_numbers = true)]
    pub rest: Option<f64>,

    /// Treat compliant point contacts as rigid.
    #[arg(long)]
    pub rigid: bool,

    /// Nodes after which the search for a decision ends.
    #[arg(long, value_name = "NODES", value_parser = at_least_one, allow_negative_numbers = true)]
    pub limit: Option<usize>,

    /// Draw bodies, contact forces and accelerations into this file (.svg or .png).
    #[arg(long, value_name = "FILE")]
    pub picture: Option<PathBuf>,

    /// Plane of the picture.
    #[arg(long, value_enum, default_value_t = ViewPlane::Xz)]
    pub view: ViewPlane,

    /// Print one JSON object instead of the report.
    #[arg(long)]
    pub json: bool,
}

/// Which rigid solutions there are, which of them are stable, and which model to prefer: at an instant or along a run.
///
/// THING is a scene (it is run, and examined at instants of even distance, or at --at) or a recording (examined at its records). For each cluster of connected
/// contacts: the solutions of the rigid problem, the boundary layer of each (song2001), how far slipping contacts are from the loss of theirs, and
/// song2004's condition (20). Exit code: 0 decided, 1 not decided or the run failed, 2 wrong input. Example: stiction analyze
/// scenes/song2001/analyze-case2-rest.toml --at 0
#[derive(Debug, Args)]
pub struct Analyze {
    /// The scene (TOML) or the folder of a recording.
    #[arg(value_name = "SCENE|RECORDING")]
    pub thing: PathBuf,

    /// Set a value of the scene first, as run does; may be given several times.
    #[arg(long, value_name = "PATH=VALUE", value_parser = assignment)]
    pub set: Vec<(String, String)>,

    /// One instant, s: of a scene it is run up to, of a recording the nearest record.
    #[arg(long, value_name = "TIME", value_parser = finite, allow_negative_numbers = true)]
    pub at: Option<f64>,

    /// Most instants along a run, at even distances.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = at_least_one, allow_negative_numbers = true, conflicts_with = "at")]
    pub samples: usize,

    /// Time at which the run ends, s [default: the scene's].
    #[arg(long, value_name = "S", value_parser = positive, allow_negative_numbers = true, conflicts_with = "at")]
    pub duration: Option<f64>,

    /// Parameter eps of the layer that stands for rigid contacts [default: 1e-6].
    #[arg(long, value_name = "EPS", value_parser = positive, allow_negative_numbers = true)]
    pub eps: Option<f64>,

    /// Damping ratio of that layer [default: 1].
    #[arg(long, value_name = "ZETA", value_parser = not_negative, allow_negative_numbers = true)]
    pub damping_ratio: Option<f64>,

    /// Nodes after which the search for all solutions of a cluster ends.
    #[arg(long, value_name = "NODES", value_parser = at_least_one, allow_negative_numbers = true)]
    pub limit: Option<usize>,

    /// Draw the timeline into this file (.svg or .png).
    #[arg(long, value_name = "FILE")]
    pub figure: Option<PathBuf>,

    /// Print one JSON object instead of the report.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ViewPlane {
    /// x to the right, z up (planar scenes: y up)
    Xz,
    /// x to the right, y up
    Xy,
    /// y to the right, z up
    Yz,
}

/// Find the start from which a scene ends as wanted: its table `boundary`.
///
/// Prints the initial values, and writes a recording of each solution and, for one or two unknowns, a figure of the
/// residual over them. Example: stiction shoot scenes/pang2005/sphere-velocity.toml. Exit code: 0 solved, 1 not reached
/// (the nearest miss is printed), 2 wrong scene or folder.
#[derive(Debug, Args)]
pub struct Shoot {
    #[command(flatten)]
    pub scene: SceneArguments,

    /// Folder of recordings and figure [default: the scene's name and .shoot].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Replace recordings that are there.
    #[arg(long)]
    pub force: bool,

    /// Write neither recordings nor a figure.
    #[arg(long)]
    pub dry: bool,

    /// Print one JSON object instead of the report.
    #[arg(long)]
    pub json: bool,
}

/// Run a scene with several step lengths, and show how its motion converges.
///
/// Example: stiction converge scenes/sliding-sphere.toml --steps 4e-3,2e-3,1e-3,5e-4 --thetas 0,0.5. Exit code: 0 all
/// runs were made, 1 one of them failed, 2 wrong scene or step lengths.
#[derive(Debug, Args)]
pub struct Converge {
    #[command(flatten)]
    pub scene: SceneArguments,

    /// Step lengths, s, a comma between; the shortest is the reference, unless another scheme is.
    #[arg(long, value_name = "H1,H2,...", value_delimiter = ',', required = true, value_parser = positive)]
    pub steps: Vec<f64>,

    /// Explicit shares theta, a comma between [default: the scene's].
    #[arg(long, value_name = "T1,T2,...", value_delimiter = ',', value_parser = finite)]
    pub thetas: Vec<f64>,

    /// Take errors against another scheme: `event` (rigid) or `compliant` (soft contacts as differential equations).
    #[arg(long, value_name = "SCHEME", value_parser = ["event", "compliant"])]
    pub reference: Option<String>,

    /// File of the figure, .svg or .png [default: the scene's name and -convergence.svg].
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// Print one JSON object instead of the table.
    #[arg(long)]
    pub json: bool,
}

/// Estimate values of a scene from a measured trajectory, with confidence intervals.
///
/// DATA has a column `time` (s) and columns named by paths, `body[rod].x`; empty cells are gaps. Prints the estimates, the combinations of
/// parameters that the data do not determine, and how far the result can be trusted. Example: stiction fit scenes/song2001/fit-case1.toml
/// scenes/song2001/fit-case1.csv --figure fit.png. Exit code: 0 estimated, 1 no minimum was reached, 2 wrong scene or data, 130 interrupted.
#[derive(Debug, Args)]
pub struct Fit {
    #[command(flatten)]
    pub scene: SceneArguments,

    /// The measured trajectory (CSV).
    #[arg(value_name = "DATA")]
    pub data: PathBuf,

    /// Estimate the value at this path, within bounds if they are given; may be given several times [default: the friction coefficients of
    /// all materials].
    #[arg(long, value_name = "PATH[=LOW..HIGH]", value_parser = varied)]
    pub vary: Vec<(String, Option<[f64; 2]>)>,

    /// Standard deviation of the errors of a column, in its unit [default: estimated from the residuals]; may be given several times.
    #[arg(long, value_name = "COLUMN=S", value_parser = column_sigma)]
    pub sigma: Vec<(String, f64)>,

    /// Level of the confidence intervals.
    #[arg(long, value_name = "X", default_value = "0.95", value_parser = level)]
    pub level: f64,

    /// Largest number of iterations of a search.
    #[arg(long, value_name = "N", default_value = "50", value_parser = at_least_one, allow_negative_numbers = true)]
    pub iterations: usize,

    /// Start at the best of N points: the scene's values, and others spread over the bounds.
    #[arg(long, value_name = "N", default_value = "1", value_parser = at_least_one, allow_negative_numbers = true)]
    pub starts: usize,

    /// Use differences of runs, also where derivatives of steps are known.
    #[arg(long)]
    pub differences: bool,

    /// Draw data, fit and residuals into this file (.svg or .png).
    #[arg(long, value_name = "FILE")]
    pub figure: Option<PathBuf>,

    /// Write the scene with the estimates into this file.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// Replace files that are there.
    #[arg(long)]
    pub force: bool,

    /// Print one JSON object instead of the report.
    #[arg(long)]
    pub json: bool,
}

/// Methods by their names, with a line on each.
#[derive(Debug, Clone)]
struct MethodParser;

impl TypedValueParser for MethodParser {
    type Value = Method;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Method, clap::Error> {
        let names = PossibleValuesParser::new(Method::ALL.map(Method::name));
        match value.to_str().and_then(|text| text.parse().ok()) {
            Some(method) => Ok(method),
            None => names.parse_ref(command, argument, value).map(|_| Method::Auto),
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Method::ALL.into_iter().map(|m| PossibleValue::new(m.name()).help(m.about()))))
    }
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
        None => Err(format!("expected cone, pyramid, or polygon:K, K {SIDES_EXPECTED}")),
    }
}

/// A path and a value; a name in brackets may have a '=' too.
fn assignment(text: &str) -> Result<(String, String), String> {
    let outside = |i: &usize| text[..*i].matches('[').count() == text[..*i].matches(']').count();
    let at = text.match_indices('=').map(|(i, _)| i).find(outside).filter(|i| *i > 0);
    let at = at.ok_or("expected PATH=VALUE, as in step.h=1e-4")?;
    Ok((text[..at].trim().to_owned(), text[at + 1..].trim().to_owned()))
}

/// A path, and bounds behind it.
fn varied(text: &str) -> Result<(String, Option<[f64; 2]>), String> {
    let Ok((path, bounds)) = assignment(text) else { return Ok((text.trim().to_owned(), None)) };
    let number = |t: &str| t.trim().parse::<f64>().ok().filter(|x| !x.is_nan());
    let ends = bounds.split_once("..").and_then(|(a, b)| Some([number(a)?, number(b)?]));
    let ends = ends.ok_or("expected PATH or PATH=LOW..HIGH, as in material[steel].friction=0..1")?;
    Ok((path, Some(ends)))
}

fn column_sigma(text: &str) -> Result<(String, f64), String> {
    let (column, value) = assignment(text).map_err(|_| "expected COLUMN=S, as in body[rod].x=1e-4")?;
    Ok((column, positive(&value)?))
}

fn level(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if 0.0 < x && x < 1.0 => Ok(x),
        _ => Err("expected a number between 0 and 1".to_owned()),
    }
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if f64::is_finite(x) && x > 0.0 => Ok(x),
        _ => Err("expected a positive number".to_owned()),
    }
}

fn not_negative(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if f64::is_finite(x) && x >= 0.0 => Ok(x),
        _ => Err("expected a number of at least 0".to_owned()),
    }
}

fn pixels(text: &str) -> Result<[usize; 2], String> {
    let side = |t: &str| t.parse().ok().filter(|n| (16..=4096).contains(n));
    let sides = text.split_once('x').and_then(|(w, h)| Some([side(w)?, side(h)?]));
    sides.ok_or_else(|| "expected WIDTHxHEIGHT, each 16 to 4096, as in 960x600".to_owned())
}

fn finite(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if f64::is_finite(x) => Ok(x),
        _ => Err("expected a number".to_owned()),
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if n > 0 => Ok(n),
        _ => Err("expected a number of at least 1".to_owned()),
    }
}
