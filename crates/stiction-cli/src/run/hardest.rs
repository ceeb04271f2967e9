//! The hardest contact problems of a run, as FCLIB files in its recording.

use complementarity::problem::{Friction, FrictionProblem};
use problem_files::{Info, write_friction_with};
use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::{fs, io};
use stiction::model::Resolved;
use stiction::run::{Fault, Observer, View};
use stiction::step::Failed;

/// Keeps so many problems and no more: those that nobody solved first, then those that took the most iterations.
pub struct Hardest {
    most: usize,
    kept: Vec<Kept>,
}

/// A problem with what became of it.
pub struct Kept {
    /// End of its step, s; of one that failed, the beginning.
    pub time: f64,
    /// Iterations, wasted ones included.
    pub work: usize,
    /// Who solved it, and the relative residual; `None` if nobody did.
    pub answer: Option<(&'static str, f64)>,
    pub file: PathBuf,
    problem: FrictionProblem,
}

impl Kept {
    fn rank(&self) -> (bool, usize) {
        (self.answer.is_none(), self.work)
    }
}

impl Hardest {
    pub fn new(most: usize) -> Self {
        Self { most, kept: vec![] }
    }

    /// Takes notice of a step that was made, or failed.
    fn notice(&mut self, view: &View<'_>, failed: bool) {
        let (report, unsolved) = (view.report, view.unsolved());
        let work = if failed { usize::MAX } else { report.iterations + report.wasted };
        let rank = (unsolved.is_some(), work);
        let full = self.kept.len() >= self.most;
        if full && self.kept.last().is_some_and(|least| rank <= least.rank()) {
            return;
        }
        let (problem, answer) = match unsolved {
            Some(problem) => (Some(problem.clone()), None),
            None if failed || report.parts == 0 => return,
            None => (view.workspace().problem.to_friction(), Some((report.solver, report.residual.relative))),
        };
        let Some(problem) = problem else { return };
        self.kept.truncate(self.most - 1);
        self.kept.push(Kept { time: view.state.time, work, answer, file: PathBuf::new(), problem });
        // stable: of equals the first stays
        self.kept.sort_by_key(|k| Reverse(k.rank()));
    }

    /// Writes them into `folder/problems`, which loses those of a run before; the hardest first.
    pub fn write(mut self, folder: &Path, scene: &Resolved) -> Result<Vec<Kept>, String> {
        let folder = folder.join("problems");
        let io = |e: io::Error| format!("{}: {e}", folder.display());
        if folder.is_symlink() {
            return Err(format!("{}: a link, which is not followed", folder.display()));
        }
        if folder.is_dir() {
            for entry in fs::read_dir(&folder).map_err(io)? {
                let path = entry.map_err(io)?.path();
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                if name.starts_with("t-") && name.ends_with(".hdf5") {
                    fs::remove_file(&path).map_err(io)?;
                }
            }
            // stays if there is something else in it
            let _ = fs::remove_dir(&folder);
        }
        if self.kept.is_empty() {
            return Ok(vec![]);
        }
        fs::create_dir_all(&folder).map_err(io)?;
        let step = &scene.step;
        // digits that tell steps apart
        let digits = (1.0 - step.h.log10().floor()).clamp(4.0, 15.0) as usize;
        for kept in &mut self.kept {
            kept.file = folder.join(format!("t-{:.digits$}.hdf5", kept.time));
            let info = about(&scene.name, step.h, kept);
            write_friction_with(&kept.file, &kept.problem, &info).map_err(|e| e.to_string())?;
        }
        Ok(self.kept)
    }
}

impl Observer for Hardest {
    fn step(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        self.notice(view, false);
        Ok(())
    }

    fn failed(&mut self, view: &mut View<'_>, _: &Failed) -> Result<(), Fault> {
        self.notice(view, true);
        Ok(())
    }
}

/// Scene, time, who solved it and how well.
fn about(scene: &str, h: f64, kept: &Kept) -> Info {
    let friction = match kept.problem.friction() {
        Some(Friction::Pyramid) => "the pyramid".to_owned(),
        Some(Friction::Polygon { sides }) => format!("a polygon of {sides} sides"),
        Some(Friction::Cone) => "Coulomb's cone".to_owned(),
        Some(Friction::Ellipsoid) => "an ellipse".to_owned(),
        None => "of different sets by contact".to_owned(),
    };
    let answer = match kept.answer {
        Some((solver, residual)) => format!("solved by {solver}, relative residual {residual:e}"),
        None => "not solved, or abandoned".to_owned(),
    };
    Info {
        title: format!("{scene}, t = {} s", kept.time),
        description: format!(
            "contact problem of the scene {scene}, in the step of {h} s that {} t = {} s; friction was {friction}; {answer}",
            if kept.work == usize::MAX { "failed at" } else { "ends at" },
            kept.time
        ),
        math_info: "forces in N; velocities in m/s, with gap/h on normal rows".to_owned(),
    }
}
