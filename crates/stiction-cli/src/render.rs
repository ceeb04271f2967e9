//! `stiction render`: a recording as an image or an animation.

use crate::args::{Render, Theme};
use crate::report::{beside, warn, write};
use crate::{InputError, print};
use serde_json::json;
use std::process::ExitCode;
use stiction_view::Clip;
use stiction_view::render::{Look, animation, image};

pub fn run(arguments: &Render) -> Result<ExitCode, InputError> {
    let clip = Clip::read(&arguments.recording).map_err(|e| InputError::record(&e))?;
    let out = arguments.out.clone().unwrap_or_else(|| beside(&arguments.recording, "png"));
    let (Some(first), Some(last)) = (clip.times.first().copied(), clip.times.last().copied()) else {
        return Err(InputError(format!("{}: no records yet", arguments.recording.display())));
    };
    let look =
        Look { size: arguments.size, dark: arguments.theme == Theme::Dark, contacts: !arguments.plain };
    let frames: Vec<usize> = match arguments.at {
        Some(time) if time < first || time > last => {
            return Err(InputError(format!(
                "--at: the recording is from {first} s to {last} s, not at {time} s"
            )));
        }
        Some(time) => vec![clip.frame_at(time)],
        None => {
            let from = arguments.from.unwrap_or(first).max(first);
            let to = arguments.to.unwrap_or(last).min(last);
            if from > to {
                return Err(InputError(format!("nothing is recorded from {from} s to {to} s")));
            }
            let interval = arguments.speed / arguments.fps;
            let count = ((to - from) / interval + 1e-9) as usize;
            (0..=count).map(|k| clip.frame_at(from + k as f64 * interval)).collect()
        }
    };
    let bytes = match arguments.at {
        Some(_) => image(&clip, frames[0], &look),
        None => animation(&clip, &frames, arguments.fps, &look),
    };
    let bytes = bytes.map_err(|e| InputError(format!("{}: {e}", out.display())))?;
    write(&out, &bytes, arguments.force)?;
    warn(&clip);
    let (n, [w, h]) = (frames.len(), arguments.size);
    print(&match arguments.json {
        true => format!(
            "{}\n",
            json!({"image": out, "frames": n, "bytes": bytes.len(), "warnings": clip.warnings})
        ),
        false => {
            format!("image     {}, {w} x {h}, {n} frame{}\n", out.display(), if n == 1 { "" } else { "s" })
        }
    })
    .map(|()| ExitCode::SUCCESS)
}
