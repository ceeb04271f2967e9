//! A recording on its way to disk.

use crate::sink::{Sink, hidden, replace, show, write};
use crate::table::Rows;
use crate::{Error, Format, Layout};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// At most so much is lost in a crash, unless writing itself is slow.
const SEAL: Duration = Duration::from_secs(2);
/// When the tables are sealed first. Nothing is on disk before, so that short recordings are written once.
const FIRST: Duration = Duration::from_millis(100);
/// Sealing takes at most this share of the time.
const SEAL_SHARE: u32 = 30;

/// Writes a recording. To seal is to put everything so far on disk, so that it can be read.
#[derive(Debug)]
pub struct Writer {
    folder: PathBuf,
    layout: Arc<Layout>,
    /// The files of the layout, until they are on disk; and whether another recording is to go then.
    files: Option<Vec<Vec<u8>>>,
    replaces: bool,
    sinks: Vec<Sink>,
    /// Files in the making.
    bytes: Vec<u8>,
    /// When the tables were last sealed, and how long until they are again.
    sealed: Instant,
    wait: Duration,
}

impl Writer {
    /// `tables`: no rows yet, some of the layout's tables, maybe without their optional columns. `files`: the bytes of the layout's
    /// files. A folder with something in it is refused, unless that is a recording and `replace` is true. The folder is
    /// made, and what it held replaced, at the first seal. Other files in it stay.
    pub fn create(
        folder: &Path,
        layout: &Arc<Layout>,
        tables: Vec<Rows>,
        files: Vec<Vec<u8>>,
        format: Format,
        replace: bool,
    ) -> Result<Self, Error> {
        let replaces = layout.check(folder, replace)?;
        Ok(Self {
            folder: folder.to_owned(),
            layout: layout.clone(),
            files: Some(files),
            replaces,
            sinks: tables.into_iter().map(|rows| Sink::new(folder, rows, format)).collect(),
            bytes: vec![],
            sealed: Instant::now(),
            wait: FIRST,
        })
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The rows of a table that are not in a finished file yet, by its place in the list given to [`Self::create`].
    pub fn rows(&mut self, table: usize) -> &mut Rows {
        &mut self.sinks[table].rows
    }

    /// Whether it is time to seal.
    pub fn is_due(&self, now: Instant) -> bool {
        now - self.sealed >= self.wait
    }

    /// Whether a table has more rows than should be in memory.
    pub fn is_full(&self) -> bool {
        self.sinks.iter().any(Sink::full)
    }

    /// Writes the full tables alone; everything if nothing is on disk yet. `mark` gives the bytes of the layout's mark.
    pub fn seal_full(&mut self, mark: impl FnOnce() -> Result<Vec<u8>, Error>) -> Result<(), Error> {
        if self.files.is_some() { self.seal(&mark()?) } else { self.seal_tables(Sink::full) }
    }

    /// Puts everything so far on disk.
    pub fn seal(&mut self, mark: &[u8]) -> Result<(), Error> {
        let begin = Instant::now();
        let path = self.folder.join(self.layout.mark);
        if let Some(files) = self.files.take() {
            // the mark is hidden until all is there: that shows whose the folder is if this is cut short
            std::fs::create_dir_all(&self.folder).map_err(|e| Error::io(&self.folder, e))?;
            write(&hidden(&path), mark)?;
            if self.replaces {
                self.layout.remove(&self.folder)?;
            }
            for (name, bytes) in self.layout.files.iter().zip(&files) {
                write(&self.folder.join(name), bytes)?;
            }
            self.seal_tables(|_| true)?;
            show(&path)?;
        } else {
            self.seal_tables(|_| true)?;
            replace(&path, mark)?;
        }
        self.sealed = Instant::now();
        self.wait = SEAL.max(SEAL_SHARE * (self.sealed - begin));
        Ok(())
    }

    fn seal_tables(&mut self, which: impl Fn(&Sink) -> bool) -> Result<(), Error> {
        let Self { sinks, bytes, .. } = self;
        sinks.iter_mut().filter(|s| which(s)).try_for_each(|s| s.seal(bytes))
    }
}
