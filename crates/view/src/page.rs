//! The page: one HTML file, built from `viewer/` and committed, which shows a clip that is put into it, or asks its server for one.

use crate::clip::Clip;
use crate::encode::Have;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;
use std::io::Write;

/// The page without a clip.
pub const PAGE: &str = include_str!("../page/viewer.html");
/// Where a clip goes.
const PLACE: &str = "<!--CLIP-->";
/// Most numbers of a page in one file: it then has less than 5 MB.
pub const MOST_NUMBERS: usize = 1_800_000;

/// One HTML file with the viewer and the clip: it needs no server, no network and no other file. Frames are left out where the clip has
/// more than [`MOST_NUMBERS`]; the page says so.
pub fn page(clip: &Clip) -> String {
    let thinned;
    let clip = if clip.numbers() > MOST_NUMBERS {
        let mut copy = clip.clone();
        copy.thin(MOST_NUMBERS);
        thinned = copy;
        &thinned
    } else {
        clip
    };
    let data = STANDARD.encode(compressed(&clip.encode(Have::default(), &json!({"mode": "report"}))));
    PAGE.replacen(PLACE, &format!("<script type=\"text/plain\" id=\"clip\">{data}</script>"), 1)
}

/// Gzip; nothing if memory cannot be written to, which does not happen.
pub(crate) fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let written = encoder.write_all(bytes);
    written.and_then(|()| encoder.finish()).unwrap_or_default()
}
