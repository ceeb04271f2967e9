//! The steps of a simulation as the viewer shows them in a notebook.

use stiction::run::{Fault, Observer, View};
use stiction::step::Failed;
use stiction_view::{Clip, page};

/// Frames and numbers above which every second frame is forgotten.
const FRAMES: usize = 1000;
const NUMBERS: usize = 1_000_000;

/// Frames of the steps made, evenly spaced and bounded in number.
#[derive(Default)]
pub struct History {
    clip: Option<Box<Clip>>,
    /// Steps from a frame to the next, as a power of 2; and steps since the last.
    doubled: u32,
    since: usize,
    /// Whether the user moved something after the last step.
    pub moved: bool,
}

impl History {
    /// Before a step: the frame of the start, if there is none yet.
    #[inline]
    pub fn begin(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        match (&mut self.clip, std::mem::take(&mut self.moved)) {
            (None, _) => self.clip = Some(Box::new(present(view))),
            (Some(clip), true) => clip.add(view),
            (Some(_), false) => {}
        }
        Ok(())
    }

    /// After a step.
    pub fn step(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        let Some(clip) = &mut self.clip else { return Ok(()) };
        self.since += 1;
        view.is_record = self.since >> self.doubled > 0;
        clip.step(view)?;
        if view.is_record {
            self.since = 0;
            // with an odd number of frames the last one is kept too, and they stay evenly spaced
            if (clip.len() > FRAMES || clip.numbers() > NUMBERS) && clip.len() % 2 == 1 {
                let before = clip.len();
                clip.warnings.retain(|w| !w.starts_with(EVERY));
                clip.thin(clip.numbers().div_ceil(2));
                if clip.len() < before {
                    // it says how many frames are left
                    clip.warnings.pop();
                }
                self.doubled += 1;
                clip.warnings.push(format!("{EVERY} {} steps", 1_u64 << self.doubled));
            }
        }
        Ok(())
    }

    /// A step that failed.
    pub fn failed(&mut self, view: &mut View<'_>, why: &Failed) -> Result<(), Fault> {
        self.clip.as_mut().map_or(Ok(()), |clip| clip.failed(view, why))
    }

    /// The viewer with the steps made and the present state.
    pub fn html(&self, view: &mut View<'_>, text: &str) -> String {
        let mut clip = match &self.clip {
            None => present(view),
            Some(clip) => {
                let mut clip = (**clip).clone();
                if self.moved || clip.times.last() != Some(&view.state.time) {
                    clip.add(view);
                }
                clip
            }
        };
        text.clone_into(&mut clip.text);
        clip.look();
        frame(&clip)
    }
}

/// Begins a warning about frames left out.
const EVERY: &str = "a frame every";

fn present(view: &mut View<'_>) -> Clip {
    let mut clip = Clip::new(view.model(), "");
    clip.add(view);
    clip
}

/// The viewer's page with a clip, in a frame of its own: it needs no server and no network.
pub fn frame(clip: &Clip) -> String {
    let page = page(clip).replace('&', "&amp;").replace('"', "&quot;");
    format!(
        "<iframe srcdoc=\"{page}\" title=\"Stiction\" width=\"100%\" height=\"520\" style=\"border: 0\"></iframe>"
    )
}
